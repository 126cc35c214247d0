/**
 * Reads the metalayer of an array, as b2nd_deserialize_meta() does, without the library.
 *
 * shape, chunkshape and blockshape need room for B2ND_MAX_DIM numbers; the first ndim are written.
 * dtype and dtype_format may be NULL; the caller frees dtype. Gives the bytes read or an error code; after
 * an error *ndim is 0 and *dtype NULL.
 */
static inline int b2nd_deserialize_meta_inline(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim,
                                               int64_t *shape, int32_t *chunkshape,
                                               int32_t *blockshape, char **dtype,
                                               int8_t *dtype_format) {
  /* Positions of the fixed parts; every number is a marker byte and a big-endian integer. */
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

  /* Old arrays end here. */
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
