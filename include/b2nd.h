/*
 * b2nd.h: N-dimensional arrays.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef B2ND_H
#define B2ND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blosc2.h"
#include "blosc2/blosc2-export.h"

/* Marks a function that new programs shouldn't call. */
#if defined(__GNUC__)
#define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
#define B2ND_DEPRECATED(msg)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The dtype of an array when none is given. */
#define B2ND_DEFAULT_DTYPE "|u1"

/* The name B2ND_MAX_DIM had before C-Blosc2 3.0. */
#define BLOSC2_MAX_DIM B2ND_MAX_DIM

/** Dimensions an array can have. */
#define B2ND_MAX_DIM 16

/** Metalayers a user can add to an array: one is the array's own. */
#define B2ND_MAX_METALAYERS 15

/** Version of the array's metalayer. */
#define B2ND_METALAYER_VERSION 0

/** Format of the dtype string: NumPy's. */
#define DTYPE_NUMPY_FORMAT 0

/** Format of the dtype string when none is given. */
#define B2ND_DEFAULT_DTYPE_FORMAT 0

/** What an array is created with. */
typedef struct b2nd_context_s b2nd_context_t;

/** The chunk an array decompressed last. */
typedef struct chunk_cache_s {
  /** The data, or NULL. */
  uint8_t *data;
  /** The number of the chunk. */
  int64_t nchunk;
} chunk_cache_s;

/**
 * An N-dimensional array. Its chunks are N-dimensional too, and so are their blocks. Several threads may use
 * one as they may use a super-chunk; b2nd_free() comes after all other calls.
 */
typedef struct b2nd_array_t {
  /** The super-chunk with the data. */
  blosc2_schunk *sc;
  /** Items of the array in each dimension. */
  int64_t shape[B2ND_MAX_DIM];
  /** Items of a chunk in each dimension. */
  int32_t chunkshape[B2ND_MAX_DIM];
  /** The shape, padded to whole chunks. */
  int64_t extshape[B2ND_MAX_DIM];
  /** Items of a block in each dimension. */
  int32_t blockshape[B2ND_MAX_DIM];
  /** The chunk's shape, padded to whole blocks. */
  int64_t extchunkshape[B2ND_MAX_DIM];
  /** Items of the array. */
  int64_t nitems;
  /** Items of a chunk. */
  int32_t chunknitems;
  /** Items of the padded array. */
  int64_t extnitems;
  /** Items of a block. */
  int32_t blocknitems;
  /** Items of a padded chunk. */
  int64_t extchunknitems;
  /** Dimensions. */
  int8_t ndim;
  /** The chunk decompressed last. */
  struct chunk_cache_s chunk_cache;
  /** Strides of items in the array. */
  int64_t item_array_strides[B2ND_MAX_DIM];
  /** Strides of items in a chunk. */
  int64_t item_chunk_strides[B2ND_MAX_DIM];
  /** Strides of items in a padded chunk. */
  int64_t item_extchunk_strides[B2ND_MAX_DIM];
  /** Strides of items in a block. */
  int64_t item_block_strides[B2ND_MAX_DIM];
  /** Strides of blocks in a chunk. */
  int64_t block_chunk_strides[B2ND_MAX_DIM];
  /** Strides of chunks in the array. */
  int64_t chunk_array_strides[B2ND_MAX_DIM];
  /** The type of an item, or NULL. */
  char *dtype;
  /** The format of dtype. */
  int8_t dtype_format;
  /** The change_tick of the super-chunk this struct was filled from. */
  int64_t last_tick;
} b2nd_array_t;

/** Frees an array with its super-chunk, unless sc is NULL. Gives 0, or an error code. */
BLOSC_EXPORT int b2nd_free(b2nd_array_t *array);

/**
 * Takes up the shape that another handle or process has given the array in its file. Gives 1 when there
 * was something, 0 when not, or an error code: BLOSC2_ERROR_DATA when more than the shape has changed.
 */
BLOSC_EXPORT
int b2nd_refresh(b2nd_array_t *array);

/**
 * Copies the items from src_start to before src_stop of a buffer of the shape src_pad_shape to dst_start
 * and on in a buffer of the shape dst_pad_shape, rows first. That they are there is not checked. The
 * buffers may overlap. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_copy_buffer2(int8_t ndim,
                      int32_t itemsize,
                      const void *src,
                      const int64_t *src_pad_shape,
                      const int64_t *src_start,
                      const int64_t *src_stop,
                      void *dst,
                      const int64_t *dst_pad_shape,
                      const int64_t *dst_start);

/**
 * Copies as b2nd_copy_buffer2() does, for items of at most 255 bytes. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_copy_buffer(int8_t ndim,
                     uint8_t itemsize,
                     const void *src,
                     const int64_t *src_pad_shape,
                     const int64_t *src_start,
                     const int64_t *src_stop,
                     void *dst,
                     const int64_t *dst_pad_shape,
                     const int64_t *dst_start);

/**
 * Makes what arrays are created with: where and how they are stored, the shapes of the array, its chunks
 * and its blocks, the type of its items in NumPy's spelling, and metalayers to add. NULL for storage or
 * dtype means the default. What storage and metalayers point to stays the caller's and must outlive the
 * context; one context can create several arrays. Gives NULL for shapes that can't be. Free it with
 * b2nd_free_ctx().
 */
BLOSC_EXPORT
b2nd_context_t *b2nd_create_ctx(const blosc2_storage *b2_storage,
                                int8_t ndim,
                                const int64_t *shape,
                                const int32_t *chunkshape,
                                const int32_t *blockshape,
                                const char *dtype,
                                int8_t dtype_format,
                                const blosc2_metalayer *metalayers,
                                int32_t nmetalayers);

/** Frees a context. The arrays made with it stay. Gives 0, or an error code. */
BLOSC_EXPORT int b2nd_free_ctx(b2nd_context_t *ctx);

/**
 * Makes an array of zeros. Gives 0, or an error code. The caller frees the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_empty(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array whose items are whatever they are. Gives 0, or an error code. The caller frees
 * the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_uninit(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array of NaNs, of items of 4 or 8 bytes. Gives 0, or an error code. The caller frees
 * the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_nans(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array of zeros. Gives 0, or an error code. The caller frees the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_zeros(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Makes an array whose items are all the one at fill_value. Gives 0, or an error code. The caller
 * frees the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_full(b2nd_context_t *ctx, b2nd_array_t **array, const void *fill_value);

/**
 * Makes an array of the items in buffer, which come rows first. Gives 0, or an error code. The
 * caller frees the array by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_from_cbuffer(b2nd_context_t *ctx,
                      b2nd_array_t **array,
                      const void *buffer,
                      int64_t buffersize);

/**
 * Stores the metalayer of an array of these shapes in *smeta, in memory that the caller frees. A dtype of
 * NULL is B2ND_DEFAULT_DTYPE. Gives its bytes, or an error code.
 */
BLOSC_EXPORT
int b2nd_serialize_meta(int8_t ndim,
                        const int64_t *shape,
                        const int32_t *chunkshape,
                        const int32_t *blockshape,
                        const char *dtype,
                        int8_t dtype_format,
                        uint8_t **smeta);

/**
 * Reads the metalayer of an array. shape, chunkshape and blockshape need room for B2ND_MAX_DIM numbers;
 * the first ndim are written. dtype and dtype_format may be NULL; the caller frees dtype. Gives the bytes
 * read, or an error code.
 */
BLOSC_EXPORT
int b2nd_deserialize_meta(const uint8_t *smeta,
                          int32_t smeta_len,
                          int8_t *ndim,
                          int64_t *shape,
                          int32_t *chunkshape,
                          int32_t *blockshape,
                          char **dtype,
                          int8_t *dtype_format);

/** Prints what the metalayer of an array says. Gives 0, or an error code. */
BLOSC_EXPORT int b2nd_print_meta(const b2nd_array_t *array);

/**
 * Makes an array of a super-chunk that has the metalayer of one. The array owns the super-chunk when the
 * call succeeds. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_from_schunk(blosc2_schunk *schunk,
                     b2nd_array_t **array);

/**
 * Opens the array in a contiguous frame of cframe_len bytes. With copy the data are copied; without, the
 * bytes stay the caller's and must outlive the array, which never writes to them. Gives 0, or an error
 * code.
 */
BLOSC_EXPORT
int b2nd_from_cframe(uint8_t *cframe,
                     int64_t cframe_len,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Opens the array in a file or directory. Gives 0, or an error code: BLOSC2_ERROR_NULL_POINTER when there
 * is no frame. The caller frees the array by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_open(const char *urlpath,
              b2nd_array_t **array);

/**
 * Opens the array in the frame that begins at a byte of a file. Gives 0, or an error code, as
 * b2nd_open(). The caller frees the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_open_offset(const char *urlpath, b2nd_array_t **array, int64_t offset);

/**
 * Stores where the array is as a contiguous frame in *cframe, its bytes in *cframe_len, and in *needs_free
 * whether the caller must free() it. What needs no free is valid until the array changes. Gives 0, or an
 * error code.
 */
BLOSC_EXPORT
int b2nd_to_cframe(const b2nd_array_t *array,
                   uint8_t **cframe,
                   int64_t *cframe_len,
                   bool *needs_free);

/**
 * Copies the array to a file or directory, whichever its storage is, where nothing may be yet. Gives 0, or
 * an error code.
 */
BLOSC_EXPORT
int b2nd_save(const b2nd_array_t *array,
              char *urlpath);

/**
 * Writes the array as a contiguous frame behind what is in a file, which is made if it isn't there. Gives
 * where in the file the frame begins, for b2nd_open_offset(), or an error code.
 */
BLOSC_EXPORT
int64_t b2nd_save_append(const b2nd_array_t *array,
                         const char *urlpath);

/**
 * Makes an array of the items of src from start to before stop, with the partitions and the storage of
 * ctx, whose shape becomes that of the slice. Gives 0, or an error code. The caller frees the
 * array by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_get_slice(b2nd_context_t *ctx,
                   b2nd_array_t **array,
                   const b2nd_array_t *src,
                   const int64_t *start,
                   const int64_t *stop);

/**
 * Copies an array, with the partitions and the storage of ctx, whose shape becomes that of src. All
 * metalayers are copied too. Gives 0, or an error code. The caller frees the array by b2nd_free().
 */
BLOSC_EXPORT int b2nd_copy(b2nd_context_t *ctx, const b2nd_array_t *src, b2nd_array_t **array);

/**
 * Reads the items of ncoords numbers, counted rows first, to buffer, one after the other. Gives 0, or an
 * error code.
 */
BLOSC_EXPORT
int b2nd_get_sparse_cbuffer(const b2nd_array_t *array,
                            int64_t ncoords,
                            const int64_t *coords,
                            void *buffer,
                            int64_t buffersize);

/**
 * Reads the items at all combinations of indices, to a buffer of the shape buffershape, rows first.
 * selection holds the indices along each dimension, selection_size how many there are; buffersize is the
 * bytes of the items. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_get_orthogonal_selection(const b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Writes the items at all combinations of indices along each dimension, as
 * b2nd_get_orthogonal_selection() reads them. Of items that are selected twice the last one stays. Gives
 * 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_set_orthogonal_selection(b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  const void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Gives the array another shape. Along each dimension items come or go at start, or at the end for a start
 * of NULL; inside of the array that is only for whole chunks. What comes is zero, unless it was cut off
 * before inside a chunk. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_resize(b2nd_array_t *array,
                const int64_t *new_shape,
                const int64_t *start);

/**
 * Inserts the items in buffer in front of those at insert_start along an axis; inside of the array that is
 * only for whole chunks. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_insert(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis,
                int64_t insert_start);

/** Adds the items in buffer behind all others along an axis. Gives 0, or an error code. */
BLOSC_EXPORT
int b2nd_append(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis);

/**
 * Removes delete_len items along an axis from delete_start on; inside of the array that is only for whole
 * chunks. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_delete(b2nd_array_t *array,
                int8_t axis,
                int64_t delete_start,
                int64_t delete_len);

/**
 * Puts src2 behind src1 along an axis. With copy that is a new array, with the partitions and the storage
 * of ctx; without, src1 itself is enlarged and given, and ctx may be NULL. Gives 0, or an error
 * code. The caller frees a new array by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_concatenate(b2nd_context_t *ctx,
                     const b2nd_array_t *src1,
                     const b2nd_array_t *src2,
                     int8_t axis,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Reads all items to a buffer of buffersize bytes, rows first; the rest of the buffer becomes zeros. Gives
 * 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_to_cbuffer(const b2nd_array_t *array,
                    void *buffer,
                    int64_t buffersize);

/**
 * Reads the items from start to before stop to the origin of a buffer of the shape buffershape; all else
 * in its first buffersize bytes becomes zeros, as do items outside of the array. A slice that reaches a
 * chunk behind the last one is an error. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_get_slice_cbuffer(const b2nd_array_t *array,
                           const int64_t *start,
                           const int64_t *stop,
                           void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize);

/**
 * Writes the items from start to before stop, all of them inside of the array, from the origin of a buffer
 * of the shape buffershape. Gives 0, or an error code.
 */
BLOSC_EXPORT
int b2nd_set_slice_cbuffer(const void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize,
                           const int64_t *start,
                           const int64_t *stop,
                           b2nd_array_t *array);

/**
 * Stores a view of an array that has a dimension of one item for each true of the final_dims entries of
 * axis, and those of the array for the others. The array must outlive the view. Gives 0, or an
 * error code. The caller frees the view by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_expand_dims(const b2nd_array_t *array,
                     b2nd_array_t **view,
                     const bool *axis,
                     uint8_t final_dims);

/**
 * Stores a view of an array without its dimensions of one item. The array must outlive the view. Gives 0,
 * or an error code. The caller frees the view by b2nd_free().
 */
BLOSC_EXPORT
int b2nd_squeeze(b2nd_array_t *array,
                 b2nd_array_t **view);

/**
 * Stores a view of an array without the dimensions that are true in index, which must have one item. The
 * array must outlive the view. Gives 0, or an error code. The caller frees the view by
 * b2nd_free().
 */
BLOSC_EXPORT
int b2nd_squeeze_index(b2nd_array_t *array,
                       b2nd_array_t **view,
                       const bool *index);

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
