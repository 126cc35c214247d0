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

/** A stream of the file-system backend. */
typedef struct blosc2_stdio_file {
  /** The open file. */
  FILE *file;
} blosc2_stdio_file;

/** Parameters of the file-system backend. */
typedef struct blosc2_stdio_params {
  /** Whether processes that share a frame lock it. */
  bool locking;
} blosc2_stdio_params;

/** Parameters and stream of the mapped-file backend. Start from BLOSC2_STDIO_MMAP_DEFAULTS. */
typedef struct blosc2_stdio_mmap {
  /** "r", "r+", "w+" or "c" (changes stay in memory). */
  const char *mode;
  /** Bytes to map at first. */
  size_t initial_mapping_size;
  /** Whether the library frees the struct. */
  bool needs_free;
  /** Start of the mapping. */
  char *addr;
  /** The file. */
  char *urlpath;
  /** Its size. */
  size_t file_size;
  /** Bytes mapped. */
  size_t mapping_size;
  /** Whether changes stay in memory. */
  bool is_memory_only;
  /** The open file. */
  FILE *file;
  /** Its descriptor. */
  int fd;
  /** Protection of the mapping. */
  int64_t access_flags;
  /** Flags of the mapping. */
  int64_t map_flags;
} blosc2_stdio_mmap;

/** The default parameters of the file-system backend. */
static const blosc2_stdio_params BLOSC2_STDIO_PARAMS_DEFAULTS = {false};

/** The default parameters of the mapped-file backend: read only, 1 GiB mapped at first. */
static const blosc2_stdio_mmap BLOSC2_STDIO_MMAP_DEFAULTS = {
    "r", (size_t)1 << 30, false, NULL, NULL, 0, 0, false, NULL, -1, -1, -1};

/** Opens a file. mode is as for fopen(); params is not used. Gives a blosc2_stdio_file, or NULL. */
BLOSC_EXPORT void *blosc2_stdio_open(const char *urlpath, const char *mode, void *_params);

/** Closes a stream of blosc2_stdio_open() and frees it. Gives 0 when it worked. */
BLOSC_EXPORT int blosc2_stdio_close(void *stream);

/** The size of a file in bytes, or -1. */
BLOSC_EXPORT int64_t blosc2_stdio_size(void *stream);

/** Writes nitems items of size bytes at a position. Gives the whole items written. */
BLOSC_EXPORT
int64_t blosc2_stdio_write(const void *ptr,
                           int64_t size,
                           int64_t nitems,
                           int64_t position,
                           void *stream);

/** Reads nitems items of size bytes at a position into *ptr. Gives the whole items read. */
BLOSC_EXPORT
int64_t blosc2_stdio_read(void **ptr,
                          int64_t size,
                          int64_t nitems,
                          int64_t position,
                          void *stream);

/** Makes a file size bytes long. Gives 0, or -1. */
BLOSC_EXPORT int blosc2_stdio_truncate(void *stream, int64_t size);

/** Frees the parameters, which have nothing to be freed. Gives 0. */
BLOSC_EXPORT int blosc2_stdio_destroy(void *_params);

/**
 * Maps a file as params, a blosc2_stdio_mmap, says; mode is not used. Gives params as the stream,
 * also when the file is mapped already; NULL for another file.
 */
BLOSC_EXPORT void *blosc2_stdio_mmap_open(const char *urlpath, const char *_mode, void *params);

/** Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy(). Gives 0. */
BLOSC_EXPORT int blosc2_stdio_mmap_close(void *_stream);

/** The size of a mapped file in bytes, or -1. */
BLOSC_EXPORT int64_t blosc2_stdio_mmap_size(void *stream);

/**
 * Writes nitems items of size bytes at a position of a mapped file, which may move pointers that
 * blosc2_stdio_mmap_read() gave. Gives the items written, all or none; none when the file is mapped
 * to be read.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_write(const void *ptr,
                                int64_t size,
                                int64_t nitems,
                                int64_t position,
                                void *stream);

/**
 * Sets *ptr to nitems items of size bytes at a position of a mapped file. They may be read until
 * the file is next written or cut. Gives nitems; 0, with *ptr NULL, when the file hasn't so many now.
 * To read bytes that another process cuts off afterwards ends the process with SIGBUS.
 */
BLOSC_EXPORT
int64_t blosc2_stdio_mmap_read(void **ptr,
                               int64_t size,
                               int64_t nitems,
                               int64_t position,
                               void *stream);

/** Makes a mapped file size bytes long. Gives 0, or -1, also when it is mapped to be read. */
BLOSC_EXPORT int blosc2_stdio_mmap_truncate(void *stream, int64_t size);

/**
 * Ends the mapping of a file after writing its changes to the disk, and frees params when they say
 * so. Gives 0, or -1 when nothing is mapped.
 */
BLOSC_EXPORT int blosc2_stdio_mmap_destroy(void *params);

#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_STDIO_H */
