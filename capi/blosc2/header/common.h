/*
 * blosc2-common.h: helper macros for clients and plugins.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_COMMON_H
#define BLOSC2_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blosc2-export.h"

/* Marks a parameter as intentionally unused. */
#define BLOSC_UNUSED_PARAM(x) ((void)(x))

#endif /* BLOSC2_COMMON_H */
