/*
 * filters-registry.h: the filters of the global plugin registry.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_FILTERS_REGISTRY_H
#define BLOSC2_FILTERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

/* `blosc2/filters-registry.h`. */
enum {
  /** Groups the items of each multidimensional cell. */
  BLOSC_FILTER_NDCELL = 32,
  /** Replaces the items of each multidimensional cell by their mean (lossy). */
  BLOSC_FILTER_NDMEAN = 33,
  /** Byte differences of the first, faulty version; for reading only. */
  BLOSC_FILTER_BYTEDELTA_BUGGY = 34,
  /** Byte differences within each stream of a shuffled block. */
  BLOSC_FILTER_BYTEDELTA = 35,
  /** Truncates integers to a number of significant bits (lossy). */
  BLOSC_FILTER_INT_TRUNC = 36
};

/** The object `info` of a filter's plugin library: the names of its functions. */
typedef struct filter_info {
  /** The function that compression calls. */
  char *forward;
  /** The function that decompression calls. */
  char *backward;
} filter_info;

#ifdef __cplusplus
}
#endif

#endif
