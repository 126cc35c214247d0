/*
 * blosc2.h: chunks, contexts, super-chunks.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_H
#define BLOSC2_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blosc2/blosc2-common.h"
#include "blosc2/blosc2-export.h"
#include "blosc2/blosc2-stdio.h"

/* The implemented version of C-Blosc2. Build scripts parse these lines; that of PyTables searches
   for "major", "minor" and "tweaks". */
#define BLOSC2_VERSION_MAJOR 3   /* major: the interface may break */
#define BLOSC2_VERSION_MINOR 3   /* minor: the interface may grow */
#define BLOSC2_VERSION_RELEASE 5 /* tweaks */
#define BLOSC2_VERSION_STRING "3.3.5"
#define BLOSC2_VERSION_DATE "$Date:: 2026-09-24 #$"

#ifdef __cplusplus
extern "C" {
#endif

/* These are omitted if blosc.h of C-Blosc 1.x has defined them. */
#ifndef BLOSC_H

/* Names of the codecs. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Names of the libraries of the codecs. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"
