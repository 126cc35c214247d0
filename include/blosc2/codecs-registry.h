/*
 * codecs-registry.h: the codecs of the global plugin registry.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_CODECS_REGISTRY_H
#define BLOSC2_CODECS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

/* `blosc2/codecs-registry.h`. */
enum {
  /** Lempel-Ziv over the cells of two-dimensional arrays. */
  BLOSC_CODEC_NDLZ = 32,
  /** ZFP with a maximum absolute error. */
  BLOSC_CODEC_ZFP_FIXED_ACCURACY = 33,
  /** ZFP with a fixed number of bit planes. */
  BLOSC_CODEC_ZFP_FIXED_PRECISION = 34,
  /** ZFP with a fixed number of bits per value. */
  BLOSC_CODEC_ZFP_FIXED_RATE = 35,
  /** High-throughput JPEG 2000 by OpenHTJ2K (a plugin library). */
  BLOSC_CODEC_OPENHTJ2K = 36,
  /** JPEG 2000 by Grok (a plugin library). */
  BLOSC_CODEC_GROK = 37,
  /** OpenZL (a plugin library). */
  BLOSC_CODEC_OPENZL = 38,
  /** JPEG 2000 (a plugin library). */
  BLOSC_CODEC_J2K = 39,
  /** High-throughput JPEG 2000 (a plugin library). */
  BLOSC_CODEC_HTJ2K = 40
};

/** The object `info` of a codec's plugin library: the names of its functions. */
typedef struct codec_info {
  /** The encoder. */
  char *encoder;
  /** The decoder. */
  char *decoder;
} codec_info;

#ifdef __cplusplus
}
#endif

#endif
