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
