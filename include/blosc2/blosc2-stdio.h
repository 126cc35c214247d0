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

#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_STDIO_H */
