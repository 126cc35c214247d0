/*
 * bloscpack.h: Bloscpack's containers of Blosc chunks, in files and in memory.
 *
 * Part of Ferroblosc.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSCPACK_H
#define BLOSCPACK_H

#include <stddef.h>
#include <stdint.h>

#include "ferroblosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif


/** How containers are made; bloscpack_args_default() gives the usual. What is NULL is as usual. */
typedef struct bloscpack_args {
  /** The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd". */
  const char *codec;
  /**
   * What follows each chunk: "None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256",
   * "sha384" or "sha512".
   */
  const char *checksum;
  /** Metadata: a value as JSON; none unless it is given. */
  const char *metadata;
  /** Bytes of a chunk. */
  uint64_t chunk_size;
  /** Room for so many chunks to be appended; negative: ten times those there are. */
  int64_t max_app_chunks;
  /** Bytes reserved for metadata; negative: ten times those they have. */
  int64_t max_meta_size;
  /** Bytes of an item. Of calls that append, 0 takes that of the container. */
  int32_t typesize;
  /** 0 (store) to 9 (smallest). */
  int32_t clevel;
  /** 0 none, 1 bytes, 2 bits. */
  int32_t shuffle;
  /** Whether there are offsets: without them nothing can be appended. */
  int32_t offsets;
  /** Threads. */
  int32_t nthreads;
} bloscpack_args;

/** What a container is. Numbers that it doesn't tell are -1. */
typedef struct bloscpack_info {
  /** Bytes of the data in it. */
  int64_t nbytes;
  /** Bytes of its file. */
  int64_t file_size;
  /** Chunks. */
  int64_t nchunks;
  /** Room for so many chunks to be appended. */
  int64_t max_app_chunks;
  /** Bytes of data in each chunk but the last. */
  int32_t chunk_size;
  /** Bytes of data in the last chunk. */
  int32_t last_chunk;
  /** Version of the format: 1 to 3. */
  int32_t format_version;
  /** Bytes of an item. */
  int32_t typesize;
  /**
   * Number of the checksum: 0 none, 1 adler32, 2 crc32, 3 md5, 4 sha1, 5 sha224, 6 sha256,
   * 7 sha384, 8 sha512.
   */
  int32_t checksum;
  /** Whether there are offsets. */
  int32_t offsets;
  /** Whether there are metadata. */
  int32_t metadata;
} bloscpack_info;

/**
 * The usual: blosclz at level 7, byte shuffle, items of 8 bytes, chunks of 1 MiB, adler32, offsets
 * with room for ten times as many chunks, no metadata, one thread.
 */
FERROBLOSC_EXPORT int bloscpack_args_default(bloscpack_args *args);

/**
 * Packs a file into a file, which appears when it is complete. Gives the bytes of the new file, or a
 * negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_file(const char *in_file,
                            const char *out_file,
                            const bloscpack_args *args);

/**
 * Unpacks a file into a file, which appears when it is complete. Gives the bytes of data, or a
 * negative error code. The metadata, when there are any, are stored as JSON in what metadata points
 * to, unless it is NULL: free() them.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_file(const char *in_file,
                              const char *out_file,
                              int nthreads,
                              char **metadata);

/**
 * Packs nbytes bytes at src into a file, which appears when it is complete. Gives the bytes of the
 * file, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_bytes_to_file(const void *src,
                                     size_t nbytes,
                                     const char *out_file,
                                     const bloscpack_args *args);

/**
 * Unpacks a file into memory: the data are stored in what dest points to, and the metadata as with
 * bloscpack_unpack_file(); free() both. Gives the bytes of data, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_bytes_from_file(const char *in_file,
                                         int nthreads,
                                         void **dest,
                                         char **metadata);

/**
 * Packs nbytes bytes at src into memory: the container is stored in what dest points to; free() it.
 * Gives its bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_bytes(const void *src,
                             size_t nbytes,
                             const bloscpack_args *args,
                             void **dest);

/**
 * Unpacks the container of nbytes bytes at src into memory, as bloscpack_unpack_bytes_from_file().
 * The caller frees both by free().
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_bytes(const void *src,
                               size_t nbytes,
                               int nthreads,
                               void **dest,
                               char **metadata);

/**
 * Reads nbytes bytes of data of a file, from byte start on, into dest. Only the chunks they are in
 * are read. Gives nbytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_read_range(const char *in_file,
                             uint64_t start,
                             size_t nbytes,
                             void *dest);

/**
 * Appends a file to a container in place. When it fails, the container is what it was; when it is
 * interrupted, bloscpack_recover() makes it so. Gives the bytes that were appended, or a negative
 * error code. Metadata in args replace those there are; args that say how a container is laid out
 * are not looked at.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_append_file(const char *original,
                              const char *new_file,
                              const bloscpack_args *args);

/** Appends nbytes bytes at src to a container in place, as bloscpack_append_file(). */
FERROBLOSC_EXPORT
int64_t bloscpack_append_bytes(const char *original,
                               const void *src,
                               size_t nbytes,
                               const bloscpack_args *args);

/**
 * Undoes a change of a container that was interrupted. Gives 1 when there was one, 0 when not, or a
 * negative error code.
 */
FERROBLOSC_EXPORT int bloscpack_recover(const char *file);

/**
 * Reads all of a container and checks everything in it. Gives the number of faults, or a negative
 * error code when it can't be read at all; bloscpack_last_error() tells the first fault.
 */
FERROBLOSC_EXPORT int64_t bloscpack_verify(const char *file, int nthreads);

/**
 * Tells what a container is. Gives 0, or a negative error code. The metadata are stored as with
 * bloscpack_unpack_file(). The caller frees them by free().
 */
FERROBLOSC_EXPORT int bloscpack_get_info(const char *file, bloscpack_info *info, char **metadata);

/**
 * Packs the array of a .npy file into a file. Gives the bytes of the new file, or a negative error
 * code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_npy(const char *npy_file,
                           const char *out_file,
                           const bloscpack_args *args);

/**
 * Unpacks the array in a file into a .npy file. Gives the bytes of its items, or a negative error
 * code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_npy(const char *in_file,
                             const char *npy_file,
                             int nthreads);

/**
 * What the last bloscpack_ call of this thread that failed had to say; "" before there was one. It
 * lasts until the next one fails. Don't free it.
 */
FERROBLOSC_EXPORT const char *bloscpack_last_error(void);


#ifdef __cplusplus
}
#endif

#endif /* BLOSCPACK_H */
