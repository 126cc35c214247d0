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
