/*
 * ferroblosc.h: functions beyond the C interfaces of C-Blosc and C-Blosc2.
 *
 * Part of Ferroblosc.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef FERROBLOSC_H
#define FERROBLOSC_H

#include <stddef.h>
#include <stdint.h>

#include "ferroblosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of Ferroblosc. */
#define FERROBLOSC_VERSION_MAJOR 0
#define FERROBLOSC_VERSION_MINOR 1
#define FERROBLOSC_VERSION_RELEASE 0
#define FERROBLOSC_VERSION_STRING "0.1.0"

