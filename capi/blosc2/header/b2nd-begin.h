/*
 * b2nd.h: N-dimensional arrays.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef B2ND_H
#define B2ND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "blosc2.h"
#include "blosc2/blosc2-export.h"

/* Marks a deprecated function. */
#if defined(__GNUC__)
#define B2ND_DEPRECATED(msg) __attribute__((deprecated(msg)))
#else
#define B2ND_DEPRECATED(msg)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The default dtype of an array. */
#define B2ND_DEFAULT_DTYPE "|u1"

/* The name of B2ND_MAX_DIM before C-Blosc2 3.0. */
#define BLOSC2_MAX_DIM B2ND_MAX_DIM
