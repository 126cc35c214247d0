/*
 * bloscpack.h: Bloscpack containers in files and in memory.
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


/**
 * The properties of a new container; bloscpack_args_default() fills in the defaults. NULL in a
 * field selects its default.
 */
typedef struct bloscpack_args {
  /** The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd". */
  const char *codec;
  /**
   * The checksum of each chunk: "None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256",
   * "sha384" or "sha512".
   */
  const char *checksum;
  /** The metadata as a JSON value; NULL for none. */
  const char *metadata;
  /** The size of a chunk in bytes. */
  uint64_t chunk_size;
  /**
   * The number of appended chunks to reserve space for; negative for ten times the number of
   * chunks.
   */
  int64_t max_app_chunks;
  /** The number of bytes to reserve for the metadata; negative for ten times its size. */
  int64_t max_meta_size;
  /** The size of an item in bytes. When appending, 0 selects the typesize of the container. */
  int32_t typesize;
  /** The compression level: 0 (no compression) to 9 (smallest). */
  int32_t clevel;
  /** The shuffle filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle. */
  int32_t shuffle;
  /** Whether to store the offsets of the chunks; appending requires them. */
  int32_t offsets;
  /** The number of threads. */
  int32_t nthreads;
} bloscpack_args;

/** The properties of a container. Numbers that its header does not contain are -1. */
typedef struct bloscpack_info {
  /** The size of the data in bytes. */
  int64_t nbytes;
  /** The size of the file in bytes. */
  int64_t file_size;
  /** The number of chunks. */
  int64_t nchunks;
  /** The number of appended chunks that the container has reserved space for. */
  int64_t max_app_chunks;
  /** The size of the data of each chunk but the last, in bytes. */
  int32_t chunk_size;
  /** The size of the data of the last chunk in bytes. */
  int32_t last_chunk;
  /** The version of the format: 1 to 3. */
  int32_t format_version;
  /** The size of an item in bytes. */
  int32_t typesize;
  /**
   * The checksum of each chunk: 0 for none, 1 adler32, 2 crc32, 3 md5, 4 sha1, 5 sha224, 6
   * sha256, 7 sha384, 8 sha512.
   */
  int32_t checksum;
  /** Whether the container stores the offsets of the chunks. */
  int32_t offsets;
  /** Whether the container has metadata. */
  int32_t metadata;
} bloscpack_info;

/**
 * Fills in the default arguments: BloscLZ at level 7, byte shuffle, items of 8 bytes, chunks of 1
 * MiB, Adler-32, offsets with space for ten times the number of chunks, no metadata, one thread.
 *
 * @param args the arguments.
 *
 * @return 0, or BLOSC2_ERROR_INVALID_PARAM if `args` is NULL.
 */
FERROBLOSC_EXPORT int bloscpack_args_default(bloscpack_args *args);

/**
 * Packs a file into a container. The container appears at its path when it is complete.
 *
 * @param in_file the path of the file.
 * @param out_file the path of the container.
 * @param args the arguments, or NULL for the defaults.
 *
 * @return The size of the container in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_file(const char *in_file,
                            const char *out_file,
                            const bloscpack_args *args);

/**
 * Unpacks a container into a file. The file appears at its path when it is complete.
 *
 * @param in_file the path of the container.
 * @param out_file the path of the file.
 * @param nthreads the number of threads.
 * @param metadata receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
 *   releases the text with free().
 *
 * @return The size of the data in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_file(const char *in_file,
                              const char *out_file,
                              int nthreads,
                              char **metadata);

/**
 * Packs a buffer into a container. The container appears at its path when it is complete.
 *
 * @param src the data.
 * @param nbytes the size of the data in bytes.
 * @param out_file the path of the container.
 * @param args the arguments, or NULL for the defaults.
 *
 * @return The size of the container in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_bytes_to_file(const void *src,
                                     size_t nbytes,
                                     const char *out_file,
                                     const bloscpack_args *args);

/**
 * Unpacks a container in a file into memory.
 *
 * @param in_file the path of the container.
 * @param nthreads the number of threads.
 * @param dest receives the data, which the caller releases with free().
 * @param metadata receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
 *   releases the text with free().
 *
 * @return The size of the data in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_bytes_from_file(const char *in_file,
                                         int nthreads,
                                         void **dest,
                                         char **metadata);

/**
 * Packs a buffer into a container in memory.
 *
 * @param src the data.
 * @param nbytes the size of the data in bytes.
 * @param args the arguments, or NULL for the defaults.
 * @param dest receives the container, which the caller releases with free().
 *
 * @return The size of the container in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_bytes(const void *src,
                             size_t nbytes,
                             const bloscpack_args *args,
                             void **dest);

/**
 * Unpacks a container in memory into memory.
 *
 * @param src the container.
 * @param nbytes the size of the container in bytes.
 * @param nthreads the number of threads.
 * @param dest receives the data, which the caller releases with free().
 * @param metadata receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
 *   releases the text with free().
 *
 * @return The size of the data in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_bytes(const void *src,
                               size_t nbytes,
                               int nthreads,
                               void **dest,
                               char **metadata);

/**
 * Reads a range of the data in a container. Only the chunks of the range are read.
 *
 * @param in_file the path of the container.
 * @param start the offset of the range in the data, in bytes.
 * @param nbytes the size of the range in bytes.
 * @param dest the destination, `nbytes` bytes, owned by the caller.
 *
 * @return `nbytes`, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_read_range(const char *in_file,
                             uint64_t start,
                             size_t nbytes,
                             void *dest);

/**
 * Appends the data of a file to a container in place.
 *
 * On failure the container keeps its previous contents; bloscpack_recover() restores them after an
 * interruption. Metadata in `args` replaces the metadata of the container. The chunk size, the
 * checksum and the reserved chunks are those of the container: `args` does not change them.
 *
 * @param original the path of the container.
 * @param new_file the path of the file.
 * @param args the arguments, or NULL for the defaults.
 *
 * @return The number of appended bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_append_file(const char *original,
                              const char *new_file,
                              const bloscpack_args *args);

/**
 * Appends a buffer to a container in place, as bloscpack_append_file().
 *
 * @param original the path of the container.
 * @param src the data.
 * @param nbytes the size of the data in bytes.
 * @param args the arguments, or NULL for the defaults.
 *
 * @return The number of appended bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_append_bytes(const char *original,
                               const void *src,
                               size_t nbytes,
                               const bloscpack_args *args);

/**
 * Undoes an interrupted change of a container.
 *
 * @param file the path of the container.
 *
 * @return 1 if a change was undone, 0 if there was none, or a negative error code.
 */
FERROBLOSC_EXPORT int bloscpack_recover(const char *file);

/**
 * Reads a whole container and verifies it. bloscpack_last_error() returns the message of the first
 * fault.
 *
 * @param file the path of the container.
 * @param nthreads the number of threads.
 *
 * @return The number of faults, or a negative error code if the container cannot be read.
 */
FERROBLOSC_EXPORT int64_t bloscpack_verify(const char *file, int nthreads);

/**
 * Stores the properties of a container.
 *
 * @param file the path of the container.
 * @param info the destination; may be NULL.
 * @param metadata receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
 *   releases the text with free().
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bloscpack_get_info(const char *file, bloscpack_info *info, char **metadata);

/**
 * Packs the array of a `.npy` file into a container.
 *
 * @param npy_file the path of the `.npy` file.
 * @param out_file the path of the container.
 * @param args the arguments, or NULL for the defaults.
 *
 * @return The size of the container in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_pack_npy(const char *npy_file,
                           const char *out_file,
                           const bloscpack_args *args);

/**
 * Unpacks the array in a container into a `.npy` file.
 *
 * @param in_file the path of the container.
 * @param npy_file the path of the `.npy` file.
 * @param nthreads the number of threads.
 *
 * @return The size of the items in bytes, or a negative error code.
 */
FERROBLOSC_EXPORT
int64_t bloscpack_unpack_npy(const char *in_file,
                             const char *npy_file,
                             int nthreads);

/**
 * Returns the message of the last failed call of a function of `bloscpack.h` or `bcolz.h` in this
 * thread, or "" if none failed.
 *
 * The library owns the text: it is valid until the next such call fails in this thread.
 */
FERROBLOSC_EXPORT const char *bloscpack_last_error(void);


#ifdef __cplusplus
}
#endif

#endif /* BLOSCPACK_H */
