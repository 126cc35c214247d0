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
typedef struct b2nd_context_t b2nd_context_t;

/** The chunk an array decompressed last. */
typedef struct chunk_cache_s {
  /** The data, or NULL. */
  uint8_t *data;
  /** The number of the chunk. */
  int64_t nchunk;
} chunk_cache_s;

/** An N-dimensional array. Its chunks are N-dimensional too, and so are their blocks. */
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

/**
 * Reads the metalayer of an array, as b2nd_deserialize_meta() does, without the library.
 *
 * shape, chunkshape and blockshape need room for B2ND_MAX_DIM numbers; the first ndim are written.
 * dtype and dtype_format may be NULL; the caller frees dtype. Gives the bytes read or an error code.
 */
static inline int b2nd_deserialize_meta_inline(const uint8_t *smeta, int32_t smeta_len, int8_t *ndim,
                                               int64_t *shape, int32_t *chunkshape,
                                               int32_t *blockshape, char **dtype,
                                               int8_t *dtype_format) {
  /* Positions of the fixed parts; every number is a marker byte and a big-endian integer. */
  enum { NDIM_AT = 2, SHAPE_AT = 3, SHAPE_ITEM = 9, PARTITION_ITEM = 5, DTYPE_HEAD = 6 };
  int32_t at, i, dtype_len;
  int8_t dims;

  if (smeta == NULL || ndim == NULL || shape == NULL || chunkshape == NULL || blockshape == NULL) {
    return BLOSC2_ERROR_NULL_POINTER;
  }
  if (dtype != NULL && dtype_format != NULL) {
    *dtype = NULL;
    *dtype_format = 0;
  }
  if (smeta_len <= NDIM_AT) {
    return BLOSC2_ERROR_FAILURE;
  }
  dims = (int8_t)smeta[NDIM_AT];
  *ndim = dims;
  if (dims < 0 || dims > B2ND_MAX_DIM) {
    return BLOSC2_ERROR_FAILURE;
  }
  if (smeta_len < SHAPE_AT + 1 + SHAPE_ITEM * dims + 2 * (1 + PARTITION_ITEM * dims)) {
    return BLOSC2_ERROR_FAILURE;
  }

  at = SHAPE_AT + 1;
  for (i = 0; i < dims; i++, at += SHAPE_ITEM) {
    swap_store(&shape[i], smeta + at + 1, (int)sizeof(int64_t));
  }
  at += 1;
  for (i = 0; i < dims; i++, at += PARTITION_ITEM) {
    swap_store(&chunkshape[i], smeta + at + 1, (int)sizeof(int32_t));
  }
  at += 1;
  for (i = 0; i < dims; i++, at += PARTITION_ITEM) {
    swap_store(&blockshape[i], smeta + at + 1, (int)sizeof(int32_t));
  }

  /* Old arrays end here. */
  if (dtype == NULL || dtype_format == NULL || at == smeta_len) {
    return at;
  }
  if (smeta_len - at < DTYPE_HEAD || smeta[at + 1] != 0xdb) {
    return BLOSC2_ERROR_FAILURE;
  }
  *dtype_format = (int8_t)smeta[at];
  swap_store(&dtype_len, smeta + at + 2, (int)sizeof(int32_t));
  at += DTYPE_HEAD;
  if (dtype_len < 0 || dtype_len > smeta_len - at) {
    return BLOSC2_ERROR_FAILURE;
  }
  *dtype = (char *)malloc((size_t)dtype_len + 1);
  if (*dtype == NULL) {
    return BLOSC2_ERROR_MEMORY_ALLOC;
  }
  memcpy(*dtype, smeta + at, (size_t)dtype_len);
  (*dtype)[dtype_len] = '\0';
  return at + dtype_len;
}

#ifdef __cplusplus
}
#endif

#endif /* B2ND_H */
