/*
 * blosc.h: compression of buffers.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc 1.21.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC_H
#define BLOSC_H

#include <limits.h>
#include <stdlib.h>

#include "blosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of C-Blosc whose interface this is. Build scripts parse these lines, and some
   (FindBlosc.cmake of OpenVDB) only match a number that is followed by a blank. */
#define BLOSC_VERSION_MAJOR 1   /* major: the interface may break */
#define BLOSC_VERSION_MINOR 21  /* minor: the interface may grow */
#define BLOSC_VERSION_RELEASE 6 /* tweaks */
#define BLOSC_VERSION_STRING "1.21.6"
#define BLOSC_VERSION_REVISION "$Rev$"
#define BLOSC_VERSION_DATE "$Date:: 2024-06-24 #$"

/* Names of the compressors. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_SNAPPY_COMPNAME "snappy"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Names of the compressors' libraries. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

