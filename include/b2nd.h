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

/* Marks a deprecated function. */
#if defined(__GNUC__)
#define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
#define B2ND_DEPRECATED(msg)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The default dtype of an array. */
#define B2ND_DEFAULT_DTYPE "|u1"

/* The name of B2ND_MAX_DIM before C-Blosc2 3.0. */
#define BLOSC2_MAX_DIM B2ND_MAX_DIM

/** The maximum number of dimensions of an array. */
#define B2ND_MAX_DIM 16

/** The maximum number of metalayers a user can add to an array, which has one of its own. */
#define B2ND_MAX_METALAYERS 15

/** The version of the array's metalayer. */
#define B2ND_METALAYER_VERSION 0

/** The format of NumPy dtype strings. */
#define DTYPE_NUMPY_FORMAT 0

/** The default format of the dtype string. */
#define B2ND_DEFAULT_DTYPE_FORMAT 0

/** The parameters of a new array. */
typedef struct b2nd_context_s b2nd_context_t;

/** The chunk that an array decompressed last. */
typedef struct chunk_cache_s {
  /** The data, or NULL. */
  uint8_t *data;
  /** The index of the chunk. */
  int64_t nchunk;
} chunk_cache_s;

/**
 * An N-dimensional array with N-dimensional chunks and blocks.
 *
 * Several threads may use an array concurrently, as a super-chunk. b2nd_free() must not run
 * concurrently with other calls.
 */
typedef struct b2nd_array_t {
  /** The super-chunk with the data. */
  blosc2_schunk *sc;
  /** The shape of the array in items. */
  int64_t shape[B2ND_MAX_DIM];
  /** The shape of a chunk in items. */
  int32_t chunkshape[B2ND_MAX_DIM];
  /** The shape of the array, padded to whole chunks. */
  int64_t extshape[B2ND_MAX_DIM];
  /** The shape of a block in items. */
  int32_t blockshape[B2ND_MAX_DIM];
  /** The shape of a chunk, padded to whole blocks. */
  int64_t extchunkshape[B2ND_MAX_DIM];
  /** The number of items of the array. */
  int64_t nitems;
  /** The number of items of a chunk. */
  int32_t chunknitems;
  /** The number of items of the padded array. */
  int64_t extnitems;
  /** The number of items of a block. */
  int32_t blocknitems;
  /** The number of items of a padded chunk. */
  int64_t extchunknitems;
  /** The number of dimensions. */
  int8_t ndim;
  /** The chunk that was decompressed last. */
  struct chunk_cache_s chunk_cache;
  /** The strides of items in the array. */
  int64_t item_array_strides[B2ND_MAX_DIM];
  /** The strides of items in a chunk. */
  int64_t item_chunk_strides[B2ND_MAX_DIM];
  /** The strides of items in a padded chunk. */
  int64_t item_extchunk_strides[B2ND_MAX_DIM];
  /** The strides of items in a block. */
  int64_t item_block_strides[B2ND_MAX_DIM];
  /** The strides of blocks in a chunk. */
  int64_t block_chunk_strides[B2ND_MAX_DIM];
  /** The strides of chunks in the array. */
  int64_t chunk_array_strides[B2ND_MAX_DIM];
  /** The type of an item, or NULL. */
  char *dtype;
  /** The format of `dtype`. */
  int8_t dtype_format;
  /** The `change_tick` of the super-chunk when this struct was updated. */
  int64_t last_tick;
} b2nd_array_t;

/**
 * Frees an array with its super-chunk. Files stay.
 *
 * @param array the array. If its `sc` is NULL, only the array is freed.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_free(b2nd_array_t *array);

/**
 * Reloads the shape of an array if another handle or process has changed it in the file.
 *
 * @param array the array.
 *
 * @return 1 if the shape had changed, 0 if not, or a negative error code: BLOSC2_ERROR_DATA if
 * more than the shape has changed.
 */
BLOSC_EXPORT int b2nd_refresh(b2nd_array_t *array);

/**
 * Copies an N-dimensional box of items between two buffers in row-major order.
 *
 * The bounds of the buffers are not checked. The buffers may overlap.
 *
 * @param ndim the number of dimensions, 0 to B2ND_MAX_DIM.
 * @param itemsize the size of an item in bytes.
 * @param src the source.
 * @param src_pad_shape the items of the source in each dimension.
 * @param src_start the first index of the box in the source.
 * @param src_stop the index after the last one in the source.
 * @param dst the destination.
 * @param dst_pad_shape the items of the destination in each dimension.
 * @param dst_start the first index of the box in the destination.
 *
 * @return 0, or a negative error code.
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
 * Copies as b2nd_copy_buffer2() does, for items of at most 255 bytes.
 *
 * @param ndim the number of dimensions, 0 to B2ND_MAX_DIM.
 * @param itemsize the size of an item in bytes.
 * @param src the source.
 * @param src_pad_shape the items of the source in each dimension.
 * @param src_start the first index of the box in the source.
 * @param src_stop the index after the last one in the source.
 * @param dst the destination.
 * @param dst_pad_shape the items of the destination in each dimension.
 * @param dst_start the first index of the box in the destination.
 *
 * @return 0, or a negative error code.
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
 * Creates a context that describes new arrays.
 *
 * A context can create any number of arrays.
 *
 * @param b2_storage the storage of the arrays, or NULL for the defaults. The struct is copied; the
 *   memory it points to belongs to the caller and must outlive the context.
 * @param ndim the number of dimensions, 0 to B2ND_MAX_DIM.
 * @param shape the items of the array in each dimension.
 * @param chunkshape the items of a chunk in each dimension.
 * @param blockshape the items of a block in each dimension.
 * @param dtype the type of an item as a string, which is copied; NULL for the bytes dtype of the
 *   item size.
 * @param dtype_format the format of `dtype`, such as DTYPE_NUMPY_FORMAT.
 * @param metalayers the metalayers to add, or NULL for none. Their names and contents belong to the
 *   caller and must outlive the context.
 * @param nmetalayers the number of metalayers, at most B2ND_MAX_METALAYERS.
 *
 * @return A context, which the caller frees with b2nd_free_ctx(), or NULL for invalid arguments.
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

/**
 * Frees a context. The arrays created with it stay.
 *
 * @param ctx the context.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_free_ctx(b2nd_context_t *ctx);

/**
 * Creates an array of zeros.
 *
 * @param ctx the context that describes the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_empty(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Creates an array of uninitialised items.
 *
 * @param ctx the context that describes the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_uninit(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Creates an array of NaNs.
 *
 * @param ctx the context that describes the array, with items of 4 or 8 bytes.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_nans(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Creates an array of zeros.
 *
 * @param ctx the context that describes the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_zeros(b2nd_context_t *ctx, b2nd_array_t **array);

/**
 * Creates an array whose items all have one value.
 *
 * @param ctx the context that describes the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 * @param fill_value the value, one item.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_full(b2nd_context_t *ctx, b2nd_array_t **array, const void *fill_value);

/**
 * Creates an array from a buffer.
 *
 * @param ctx the context that describes the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 * @param buffer all items in row-major order, owned by the caller.
 * @param buffersize the size of the buffer in bytes, at least that of the items.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_from_cbuffer(b2nd_context_t *ctx,
                      b2nd_array_t **array,
                      const void *buffer,
                      int64_t buffersize);

/**
 * Serialises the b2nd metalayer of an array.
 *
 * @param ndim the number of dimensions, 0 to B2ND_MAX_DIM.
 * @param shape the items of the array in each dimension.
 * @param chunkshape the items of a chunk in each dimension.
 * @param blockshape the items of a block in each dimension.
 * @param dtype the type of an item, or NULL for B2ND_DEFAULT_DTYPE.
 * @param dtype_format the format of `dtype`.
 * @param smeta receives a new buffer, which the caller must free(); NULL on error.
 *
 * @return The size of the metalayer in bytes, or a negative error code.
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
 * Parses the b2nd metalayer of an array.
 *
 * @param smeta the metalayer.
 * @param smeta_len the size of the metalayer in bytes.
 * @param ndim receives the number of dimensions.
 * @param shape an array of B2ND_MAX_DIM numbers; receives the items of the array in each dimension.
 * @param chunkshape an array of B2ND_MAX_DIM numbers; receives the items of a chunk.
 * @param blockshape an array of B2ND_MAX_DIM numbers; receives the items of a block.
 * @param dtype receives a new string, which the caller must free(), or NULL if there is none. May be
 *   NULL.
 * @param dtype_format receives the format of the dtype. May be NULL; then no dtype is returned.
 *
 * @return The number of bytes parsed, or a negative error code.
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

/**
 * Prints the b2nd metalayer of an array to the standard output.
 *
 * @param array the array.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_print_meta(const b2nd_array_t *array);

/**
 * Makes an array from a super-chunk with a b2nd metalayer.
 *
 * @param schunk the super-chunk. The array owns it if the call succeeds; otherwise the caller still
 *   owns it.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_from_schunk(blosc2_schunk *schunk, b2nd_array_t **array);

/**
 * Opens the array in a contiguous frame in memory.
 *
 * @param cframe the frame. Without `copy` it belongs to the caller and must outlive the array, which
 *   does not write to it.
 * @param cframe_len the size of the frame in bytes.
 * @param copy whether to copy the chunks into the array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_from_cframe(uint8_t *cframe,
                     int64_t cframe_len,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Opens the array in a file or directory.
 *
 * @param urlpath the path of the file or directory.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_NULL_POINTER if no frame can be opened.
 */
BLOSC_EXPORT int b2nd_open(const char *urlpath, b2nd_array_t **array);

/**
 * Opens the array whose frame starts at an offset in a file.
 *
 * @param urlpath the path of the file.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 * @param offset the offset of the frame in bytes.
 *
 * @return 0, or a negative error code, as b2nd_open().
 */
BLOSC_EXPORT int b2nd_open_offset(const char *urlpath, b2nd_array_t **array, int64_t offset);

/**
 * Returns an array as a contiguous frame in memory.
 *
 * A frame that needs no free belongs to the array and is valid until the array changes.
 *
 * @param array the array.
 * @param cframe receives the address of the frame, NULL on error.
 * @param cframe_len receives the size of the frame in bytes, 0 on error.
 * @param needs_free receives whether the caller must free() the frame.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_to_cframe(const b2nd_array_t *array,
                   uint8_t **cframe,
                   int64_t *cframe_len,
                   bool *needs_free);

/**
 * Copies an array to a path, in the layout of its storage: a file or a directory.
 *
 * @param array the array.
 * @param urlpath the path, which must not exist.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_save(const b2nd_array_t *array, char *urlpath);

/**
 * Appends an array to a file, as a contiguous frame.
 *
 * The file is created if it does not exist. b2nd_open_offset() opens the array.
 *
 * @param array the array.
 * @param urlpath the path of the file.
 *
 * @return The offset of the frame in the file in bytes, or a negative error code.
 */
BLOSC_EXPORT int64_t b2nd_save_append(const b2nd_array_t *array, const char *urlpath);

/**
 * Creates an array from a slice of another array.
 *
 * @param ctx the chunk shape, block shape and storage of the new array; its shape becomes that of
 *   the slice.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 * @param src the source array.
 * @param start the first index in each dimension.
 * @param stop the index after the last one in each dimension.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_get_slice(b2nd_context_t *ctx,
                   b2nd_array_t **array,
                   const b2nd_array_t *src,
                   const int64_t *start,
                   const int64_t *stop);

/**
 * Copies an array with all its metalayers.
 *
 * @param ctx the chunk shape, block shape and storage of the copy; its shape becomes that of `src`.
 * @param src the source array.
 * @param array receives the array, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_copy(b2nd_context_t *ctx, const b2nd_array_t *src, b2nd_array_t **array);

/**
 * Decompresses the items at a list of flat indices into a buffer.
 *
 * @param array the array.
 * @param ncoords the number of indices.
 * @param coords the indices of the items in row-major order, in any order.
 * @param buffer the destination, outside the memory of the array; receives the items in the order of
 *   `coords`.
 * @param buffersize the size of the buffer in bytes, at least that of the items.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_get_sparse_cbuffer(const b2nd_array_t *array,
                            int64_t ncoords,
                            const int64_t *coords,
                            void *buffer,
                            int64_t buffersize);

/**
 * Decompresses the items at all combinations of indices along each dimension into a buffer.
 *
 * @param array the array.
 * @param selection one list of indices for each dimension.
 * @param selection_size the number of indices of each list.
 * @param buffer the destination, outside the memory of the array; receives the items in row-major
 *   order.
 * @param buffershape the items of the buffer in each dimension, at least those selected.
 * @param buffersize the size of the selected items in bytes.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX for an index outside the array.
 */
BLOSC_EXPORT
int b2nd_get_orthogonal_selection(const b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Overwrites the items at all combinations of indices along each dimension from a buffer.
 *
 * If an item is selected more than once, its last value in the buffer is stored.
 *
 * @param array the array.
 * @param selection one list of indices for each dimension.
 * @param selection_size the number of indices of each list.
 * @param buffer the new items in row-major order, owned by the caller.
 * @param buffershape the items of the buffer in each dimension, at least those selected.
 * @param buffersize the size of the selected items in bytes.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX for an index outside the array.
 */
BLOSC_EXPORT
int b2nd_set_orthogonal_selection(b2nd_array_t *array,
                                  int64_t **selection,
                                  int64_t *selection_size,
                                  const void *buffer,
                                  int64_t *buffershape,
                                  int64_t buffersize);

/**
 * Changes the shape of an array.
 *
 * Along each dimension, items are added or removed at `start`. Inside the array, only whole chunks
 * can be added or removed. New items are 0, except where a chunk still holds items that an earlier
 * call cut off.
 *
 * @param array the array.
 * @param new_shape the new number of items in each dimension.
 * @param start the index of the first added or removed item in each dimension, or NULL for the end.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_resize(b2nd_array_t *array, const int64_t *new_shape, const int64_t *start);

/**
 * Inserts items into an array along an axis.
 *
 * Inside the array, only whole chunks can be inserted.
 *
 * @param array the array.
 * @param buffer the items to insert in row-major order, owned by the caller.
 * @param buffersize the size of the buffer in bytes, a whole number of indices along `axis`.
 * @param axis the dimension, counted from 0.
 * @param insert_start the index of the first new item along the axis.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_insert(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis,
                int64_t insert_start);

/**
 * Appends items to an array along an axis.
 *
 * @param array the array.
 * @param buffer the items to append in row-major order, owned by the caller.
 * @param buffersize the size of the buffer in bytes, a whole number of indices along `axis`.
 * @param axis the dimension, counted from 0.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_append(b2nd_array_t *array,
                const void *buffer,
                int64_t buffersize,
                int8_t axis);

/**
 * Removes items of an array along an axis.
 *
 * Inside the array, only whole chunks can be removed.
 *
 * @param array the array.
 * @param axis the dimension, counted from 0.
 * @param delete_start the first index to remove.
 * @param delete_len the number of indices to remove.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_delete(b2nd_array_t *array,
                int8_t axis,
                int64_t delete_start,
                int64_t delete_len);

/**
 * Concatenates two arrays along an axis.
 *
 * @param ctx the chunk shape, block shape and storage of a new array; its shape is changed. It may
 *   be NULL without `copy`.
 * @param src1 the first array.
 * @param src2 the second array, with the item size of the first, and its shape except along the
 *   axis.
 * @param axis the dimension, counted from 0.
 * @param copy whether to create a new array. Otherwise the items of `src2` are appended to `src1`.
 * @param array receives the result: a new array, which the caller frees with b2nd_free(), or `src1`.
 *   NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_concatenate(b2nd_context_t *ctx,
                     const b2nd_array_t *src1,
                     const b2nd_array_t *src2,
                     int8_t axis,
                     bool copy,
                     b2nd_array_t **array);

/**
 * Decompresses all items of an array into a buffer.
 *
 * @param array the array.
 * @param buffer the destination, outside the memory of the array; receives the items in row-major
 *   order. Bytes after the items are set to 0.
 * @param buffersize the size of the buffer in bytes, at least that of the items.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_to_cbuffer(const b2nd_array_t *array, void *buffer, int64_t buffersize);

/**
 * Decompresses a slice of an array into a buffer.
 *
 * Items of the slice outside the array, and all other bytes of the buffer, are set to 0. A slice
 * that reaches a chunk after the last one is an error.
 *
 * @param array the array.
 * @param start the first index in each dimension.
 * @param stop the index after the last one in each dimension.
 * @param buffer the destination, outside the memory of the array; the slice starts at its origin.
 * @param buffershape the items of the buffer in each dimension, at least those of the slice.
 * @param buffersize the size of the buffer in bytes.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_get_slice_cbuffer(const b2nd_array_t *array,
                           const int64_t *start,
                           const int64_t *stop,
                           void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize);

/**
 * Overwrites a slice of an array from a buffer.
 *
 * @param buffer the new items, owned by the caller; the slice starts at its origin.
 * @param buffershape the items of the buffer in each dimension, at least those of the slice.
 * @param buffersize the size of the buffer in bytes.
 * @param start the first index in each dimension.
 * @param stop the index after the last one in each dimension, inside the array.
 * @param array the array.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_set_slice_cbuffer(const void *buffer,
                           const int64_t *buffershape,
                           int64_t buffersize,
                           const int64_t *start,
                           const int64_t *stop,
                           b2nd_array_t *array);

/**
 * Creates a view of an array with additional dimensions of one item.
 *
 * The view shares the chunks of the array, which must outlive it.
 *
 * @param array the array.
 * @param view receives the view, which the caller frees with b2nd_free(); NULL on error.
 * @param axis one entry for each dimension of the view, true for a new dimension.
 * @param final_dims the number of dimensions of the view, at most B2ND_MAX_DIM.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int b2nd_expand_dims(const b2nd_array_t *array,
                     b2nd_array_t **view,
                     const bool *axis,
                     uint8_t final_dims);

/**
 * Creates a view of an array without its dimensions of one item.
 *
 * The view shares the chunks of the array, which must outlive it.
 *
 * @param array the array.
 * @param view receives the view, which the caller frees with b2nd_free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_squeeze(b2nd_array_t *array, b2nd_array_t **view);

/**
 * Creates a view of an array without the given dimensions of one item.
 *
 * The view shares the chunks of the array, which must outlive it.
 *
 * @param array the array.
 * @param view receives the view, which the caller frees with b2nd_free(); NULL on error.
 * @param index one entry for each dimension of the array, true for a dimension to remove, which must
 *   have one item.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int b2nd_squeeze_index(b2nd_array_t *array, b2nd_array_t **view, const bool *index);

/**
 * Parses the metalayer of an array, as b2nd_deserialize_meta(), without calling the library.
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
