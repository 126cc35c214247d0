/**
 * Parses the metalayer of an array like b2nd_deserialize_meta(), without calling the library.
 *
 * @param smeta the content of the metalayer.
 * @param smeta_len the size of the content in bytes.
 * @param ndim receives the number of dimensions, or 0 on error.
 * @param shape receives the shape; B2ND_MAX_DIM items, the first `ndim` are written.
 * @param chunkshape receives the chunk shape; B2ND_MAX_DIM items, the first `ndim` are written.
 * @param blockshape receives the block shape; B2ND_MAX_DIM items, the first `ndim` are written.
 * @param dtype receives the dtype, which the caller releases with free(), or NULL if there is none
 *   or on error; may be NULL.
 * @param dtype_format receives the format of the dtype; may be NULL.
 *
 * @return The number of bytes read, or a negative error code.
 */
static inline int b2nd_deserialize_meta_inline(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim,
                                               int64_t *shape, int32_t *chunkshape,
                                               int32_t *blockshape, char **dtype,
                                               int8_t *dtype_format) {
  /* Offsets and sizes; every number is a marker byte and a big-endian integer. */
  enum { NDIM_AT = 2, SHAPE_AT = 3, SHAPE_ITEM = 9, PARTITION_ITEM = 5, DTYPE_HEAD = 6 };
  int32_t at, from, i, dtype_len;
  int8_t dims;

  if (ndim != NULL) {
    *ndim = 0;
  }
  if (dtype != NULL) {
    *dtype = NULL;
  }
  if (dtype_format != NULL) {
    *dtype_format = 0;
  }
  if (smeta == NULL || ndim == NULL || shape == NULL || chunkshape == NULL || blockshape == NULL) {
    return BLOSC2_ERROR_NULL_POINTER;
  }
  if (smeta_len <= NDIM_AT) {
    return BLOSC2_ERROR_FAILURE;
  }
  dims = (int8_t)smeta[NDIM_AT];
  if (dims < 0 || dims > B2ND_MAX_DIM) {
    return BLOSC2_ERROR_FAILURE;
  }
  for (i = 0; i < dims; i++) {
    shape[i] = 0;
    chunkshape[i] = blockshape[i] = 0;
  }
  if (smeta_len < SHAPE_AT + 1 + SHAPE_ITEM * dims + 2 * (1 + PARTITION_ITEM * dims)) {
    return BLOSC2_ERROR_FAILURE;
  }

  at = SHAPE_AT + 1 + SHAPE_ITEM * dims + 2 * (1 + PARTITION_ITEM * dims);

  /* The metalayer of old arrays ends here. */
  if (dtype != NULL && dtype_format != NULL && at != smeta_len) {
    if (smeta_len - at < DTYPE_HEAD || smeta[at + 1] != 0xdb) {
      return BLOSC2_ERROR_FAILURE;
    }
    swap_store(&dtype_len, smeta + at + 2, (int)sizeof(int32_t));
    if (dtype_len < 0 || dtype_len > smeta_len - at - DTYPE_HEAD) {
      return BLOSC2_ERROR_FAILURE;
    }
    *dtype = (char *)malloc((size_t)dtype_len + 1);
    if (*dtype == NULL) {
      return BLOSC2_ERROR_MEMORY_ALLOC;
    }
    *dtype_format = (int8_t)smeta[at];
    at += DTYPE_HEAD;
    memcpy(*dtype, smeta + at, (size_t)dtype_len);
    (*dtype)[dtype_len] = '\0';
    at += dtype_len;
  }

  *ndim = dims;
  from = SHAPE_AT + 1;
  for (i = 0; i < dims; i++, from += SHAPE_ITEM) {
    swap_store(&shape[i], smeta + from + 1, (int)sizeof(int64_t));
  }
  from += 1;
  for (i = 0; i < dims; i++, from += PARTITION_ITEM) {
    swap_store(&chunkshape[i], smeta + from + 1, (int)sizeof(int32_t));
  }
  from += 1;
  for (i = 0; i < dims; i++, from += PARTITION_ITEM) {
    swap_store(&blockshape[i], smeta + from + 1, (int)sizeof(int32_t));
  }
  return at;
}

#ifdef __cplusplus
}
#endif

#endif /* B2ND_H */
