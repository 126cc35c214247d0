/* ---- Inline functions and macros ---- */

/**
 * Returns the text of an error code, like blosc2_error_string(). The library owns the text, which
 * must not be modified.
 *
 * @param rc the error code.
 */
static inline char *print_error(int rc) {
  return (char *)blosc2_error_string(rc);
}

/* Prints a message of a plugin on standard error if the environment variable BLOSC_TRACE is set. */
#define BLOSC_TRACE(cat, ...)                                \
  do {                                                       \
    if (getenv("BLOSC_TRACE") != NULL) {                     \
      fprintf(stderr, "[%s] - ", #cat);                      \
      fprintf(stderr, __VA_ARGS__);                          \
      fprintf(stderr, " (%s:%d)\n", __FILE__, __LINE__);     \
    }                                                        \
  } while (0)
#define BLOSC_TRACE_ERROR(...) BLOSC_TRACE(error, __VA_ARGS__)
#define BLOSC_TRACE_WARNING(...) BLOSC_TRACE(warning, __VA_ARGS__)
#define BLOSC_TRACE_INFO(...) BLOSC_TRACE(info, __VA_ARGS__)

/* Prints a message on standard error if the environment variable BLOSC_INFO is set. */
#define BLOSC_INFO(...)                                      \
  do {                                                       \
    if (getenv("BLOSC_INFO") != NULL) {                      \
      fprintf(stderr, "[INFO] - ");                          \
      fprintf(stderr, __VA_ARGS__);                          \
      fprintf(stderr, "\n");                                 \
    }                                                        \
  } while (0)

/* Returns rc from the enclosing function if it is an error code. */
#define BLOSC_ERROR(rc)                                      \
  do {                                                       \
    int rc_ = (rc);                                          \
    if (rc_ < BLOSC2_ERROR_SUCCESS) {                        \
      BLOSC_TRACE_ERROR("%s", print_error(rc_));             \
      return rc_;                                            \
    }                                                        \
  } while (0)

/* Returns rc from the enclosing function if pointer is NULL. */
#define BLOSC_ERROR_NULL(pointer, rc)                        \
  do {                                                       \
    if ((pointer) == NULL) {                                 \
      BLOSC_TRACE_ERROR("Pointer is null");                  \
      return (rc);                                           \
    }                                                        \
  } while (0)

/**
 * Copies a number between big-endian and native byte order.
 *
 * @param dest the destination, `size` bytes, owned by the caller.
 * @param pa the number.
 * @param size the size of the number in bytes: 1, 2, 4 or 8.
 */
static inline void swap_store(void *dest, const void *pa, int size) {
  const uint8_t *from = (const uint8_t *)pa;
  uint8_t swapped[8];
  const uint16_t probe = 1;
  int i;

  if (size != 1 && size != 2 && size != 4 && size != 8) {
    fprintf(stderr, "swap_store: numbers of %d bytes are not supported\n", size);
    return;
  }
  if (*(const uint8_t *)&probe == 0) {
    memmove(dest, pa, (size_t)size);
    return;
  }
  for (i = 0; i < size; i++) {
    swapped[i] = from[size - 1 - i];
  }
  memcpy(dest, swapped, (size_t)size);
}

/**
 * Finds a fixed metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 *
 * @return The index of the metalayer, or a negative error code.
 */
static inline int blosc2_meta_exists(blosc2_schunk *schunk, const char *name) {
  int i;

  if (schunk == NULL || name == NULL || strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  for (i = 0; i < schunk->nmetalayers; i++) {
    if (strcmp(name, schunk->metalayers[i]->name) == 0) {
      return i;
    }
  }
  return BLOSC2_ERROR_NOT_FOUND;
}

/**
 * Copies the content of a fixed metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content receives the content, which the caller releases with free(), or NULL if it is
 *   empty or on error.
 * @param content_len receives the size of the content in bytes.
 *
 * @return The index of the metalayer, or a negative error code.
 */
static inline int blosc2_meta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
                                  int32_t *content_len) {
  const blosc2_metalayer *found;
  int index;

  if (content != NULL) {
    *content = NULL;
  }
  if (content_len != NULL) {
    *content_len = 0;
  }
  if (schunk == NULL || name == NULL || content == NULL || content_len == NULL) {
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  index = blosc2_meta_exists(schunk, name);
  if (index < 0) {
    return index;
  }
  found = schunk->metalayers[index];
  if (found->content_len < 0 || (found->content_len > 0 && found->content == NULL)) {
    return BLOSC2_ERROR_DATA;
  }
  if (found->content_len > 0) {
    *content = (uint8_t *)malloc((size_t)found->content_len);
    if (*content == NULL) {
      return BLOSC2_ERROR_MEMORY_ALLOC;
    }
    memcpy(*content, found->content, (size_t)found->content_len);
    *content_len = found->content_len;
  }
  return index;
}

/* ---- Names of C-Blosc 1.x, for programs that define BLOSC1_COMPAT ---- */

#ifdef BLOSC1_COMPAT
#define BLOSC_MAX_BUFFERSIZE BLOSC2_MAX_BUFFERSIZE
#define BLOSC_MAX_OVERHEAD BLOSC2_MAX_OVERHEAD
#define BLOSC_VERSION_DATE BLOSC2_VERSION_DATE
#define BLOSC_VERSION_MAJOR BLOSC2_VERSION_MAJOR
#define BLOSC_VERSION_MINOR BLOSC2_VERSION_MINOR
#define BLOSC_VERSION_RELEASE BLOSC2_VERSION_RELEASE
#define BLOSC_VERSION_STRING BLOSC2_VERSION_STRING
#define blosc_cbuffer_complib blosc2_cbuffer_complib
#define blosc_cbuffer_metainfo blosc1_cbuffer_metainfo
#define blosc_cbuffer_sizes blosc1_cbuffer_sizes
#define blosc_cbuffer_validate blosc1_cbuffer_validate
#define blosc_cbuffer_versions blosc2_cbuffer_versions
#define blosc_compcode_to_compname blosc2_compcode_to_compname
#define blosc_compname_to_compcode blosc2_compname_to_compcode
#define blosc_compress blosc1_compress
#define blosc_decompress blosc1_decompress
#define blosc_destroy blosc2_destroy
#define blosc_free_resources blosc2_free_resources
#define blosc_get_blocksize blosc1_get_blocksize
#define blosc_get_complib_info blosc2_get_complib_info
#define blosc_get_compressor blosc1_get_compressor
#define blosc_get_nthreads blosc2_get_nthreads
#define blosc_get_version_string blosc2_get_version_string
#define blosc_getitem blosc1_getitem
#define blosc_init blosc2_init
#define blosc_list_compressors blosc2_list_compressors
#define blosc_set_blocksize blosc1_set_blocksize
#define blosc_set_compressor blosc1_set_compressor
#define blosc_set_nthreads blosc2_set_nthreads
#define blosc_set_splitmode blosc1_set_splitmode
#endif /* BLOSC1_COMPAT */

#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_H */
