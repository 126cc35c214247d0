/*
 * blosc2-stdio.h: the two built-in I/O backends.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_STDIO_H
#define BLOSC2_STDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "blosc2-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A stream of the file system backend. */
typedef struct blosc2_stdio_file {
  /** The open file. */
  FILE *file;
} blosc2_stdio_file;

/** Parameters of the file system backend. */
typedef struct blosc2_stdio_params {
  /** Whether processes lock the frames that they share. */
  bool locking;
} blosc2_stdio_params;

/**
 * Parameters and stream of the memory-mapped file backend. Start from BLOSC2_STDIO_MMAP_DEFAULTS.
 */
typedef struct blosc2_stdio_mmap {
  /** The mode: "r", "r+", "w+" or "c" (changes stay in memory). */
  const char *mode;
  /** The initial size of the mapping in bytes. */
  size_t initial_mapping_size;
  /** Whether the library frees the struct. */
  bool needs_free;
  /** The start of the mapping. */
  char *addr;
  /** The path of the file. */
  char *urlpath;
  /** The size of the file in bytes. */
  size_t file_size;
  /** The size of the mapping in bytes. */
  size_t mapping_size;
  /** Whether changes stay in memory. */
  bool is_memory_only;
  /** The open file. */
  FILE *file;
  /** The file descriptor. */
  int fd;
  /** The protection of the mapping. */
  int64_t access_flags;
  /** The flags of the mapping. */
  int64_t map_flags;
} blosc2_stdio_mmap;

/** The default parameters of the file system backend. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS = {false};

/** The default parameters of the memory-mapped file backend: read-only, with an
    initial mapping of 1 GiB. */
static const blosc2_stdio_mmap BLOSC2_STDIO_MMAP_DEFAULTS = {
    "r", (size_t)1 << 30, false, NULL, NULL, 0, 0, false, NULL, -1, -1, -1};

/**
 * Opens a file with the C library.
 *
 * @param urlpath the path of the file.
 * @param mode the mode of fopen().
 * @param _params not used.
 *
 * @return A blosc2_stdio_file, which blosc2_stdio_close() frees, or NULL on error.
 */
BLOSC_EXPORT void *blosc2_stdio_open(const char *urlpath, const char *mode, void *_params);

/**
 * Closes and frees a stream.
 *
 * @param stream the stream of blosc2_stdio_open().
 *
 * @return 0, or a non-zero value on error.
 */
BLOSC_EXPORT int blosc2_stdio_close(void *stream);

/**
 * Returns the size of a file.
 *
 * @param stream the stream of blosc2_stdio_open().
 *
 * @return The size in bytes, or -1.
 */
BLOSC_EXPORT int64_t blosc2_stdio_size(void *stream);

/**
 * Writes items at an offset of a file.
 *
 * @param ptr the items.
 * @param size the size of an item in bytes.
 * @param nitems the number of items.
 * @param position the offset in the file in bytes.
 * @param stream the stream of blosc2_stdio_open().
 *
 * @return The number of whole items written.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_write(const void *ptr,
                           int64_t size,
                           int64_t nitems,
                           int64_t position,
                           void *stream);

/**
 * Reads items at an offset of a file.
 *
 * @param ptr points to the address of the destination, a buffer of the caller for all items.
 * @param size the size of an item in bytes.
 * @param nitems the number of items.
 * @param position the offset in the file in bytes.
 * @param stream the stream of blosc2_stdio_open().
 *
 * @return The number of whole items read.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_read(void **ptr,
                          int64_t size,
                          int64_t nitems,
                          int64_t position,
                          void *stream);

/**
 * Sets the size of a file.
 *
 * @param stream the stream of blosc2_stdio_open().
 * @param size the new size in bytes.
 *
 * @return 0, or -1.
 */
BLOSC_EXPORT int blosc2_stdio_truncate(void *stream, int64_t size);

/**
 * Does nothing: the parameters of this backend own no resources.
 *
 * @param _params not used.
 *
 * @return 0.
 */
BLOSC_EXPORT int blosc2_stdio_destroy(void *_params);

/**
 * Maps a file.
 *
 * @param urlpath the path of the file.
 * @param _mode not used.
 * @param params a blosc2_stdio_mmap with the mode and the initial size of the mapping, owned by the
 *   caller. If it has a mapping already, `urlpath` must be the mapped file.
 *
 * @return `params` as the stream, or NULL on error. blosc2_stdio_mmap_destroy() removes the
 * mapping.
 */
BLOSC_EXPORT void *blosc2_stdio_mmap_open(const char *urlpath, const char *_mode, void *params);

/**
 * Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy().
 *
 * @param _stream the stream of blosc2_stdio_mmap_open().
 *
 * @return 0.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_close(void *_stream);

/**
 * Returns the size of a mapped file.
 *
 * @param stream the stream of blosc2_stdio_mmap_open().
 *
 * @return The size in bytes, or -1.
 */
BLOSC_EXPORT int64_t blosc2_stdio_mmap_size(void *stream);

/**
 * Writes items at an offset of a mapped file.
 *
 * The file grows if necessary; the mapping may move then.
 *
 * @param ptr the items.
 * @param size the size of an item in bytes.
 * @param nitems the number of items.
 * @param position the offset in the file in bytes.
 * @param stream the stream of blosc2_stdio_mmap_open().
 *
 * @return `nitems`, or 0 on error and for a read-only mapping.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_write(const void *ptr,
                                int64_t size,
                                int64_t nitems,
                                int64_t position,
                                void *stream);

/**
 * Returns the address of items at an offset of a mapped file.
 *
 * The items belong to the mapping and must not be freed. They may be read until the file is next
 * written or truncated. If another process truncates the file, reading them raises SIGBUS.
 *
 * @param ptr receives the address of the items, NULL on error.
 * @param size the size of an item in bytes.
 * @param nitems the number of items.
 * @param position the offset in the file in bytes.
 * @param stream the stream of blosc2_stdio_mmap_open().
 *
 * @return `nitems`, or 0 if the file is too short.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_read(void **ptr,
                               int64_t size,
                               int64_t nitems,
                               int64_t position,
                               void *stream);

/**
 * Sets the size of a mapped file.
 *
 * @param stream the stream of blosc2_stdio_mmap_open().
 * @param size the new size in bytes.
 *
 * @return 0, or -1 on error and for a read-only mapping.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_truncate(void *stream, int64_t size);

/**
 * Removes the mapping of a file after writing its changes to disk.
 *
 * @param params the blosc2_stdio_mmap, which is freed if its `needs_free` is true.
 *
 * @return 0, or -1 on error and if no file is mapped.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_destroy(void *params);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_STDIO_H */
