/*
 * tuners-registry.h: the tuners of the global plugin registry.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_TUNERS_REGISTRY_H
#define BLOSC2_TUNERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

/* `blosc2/tuners-registry.h`. */
enum {
  /** The Btune tuner (a plugin library). */
  BLOSC_BTUNE = 32
};

/** The object `info` of a tuner's plugin library: the names of its functions. */
typedef struct tuner_info {
  /** Called once per context. */
  char *init;
  /** Called to set the block size. */
  char *next_blocksize;
  /** Called to set the compression parameters. */
  char *next_cparams;
  /** Called with the time of a compression. */
  char *update;
  /** Called when the context is freed. */
  char *free;
} tuner_info;

#ifdef __cplusplus
}
#endif

#endif
