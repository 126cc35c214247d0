/*
 * blosc2-export.h: marks of exported functions.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_EXPORT_H
#define BLOSC2_EXPORT_H

/* A function of the library's interface. */
#if defined(__GNUC__)
#define BLOSC_EXPORT __attribute__((visibility("default")))
#else
#define BLOSC_EXPORT
#endif

/* A function that the library keeps to itself. */
#if defined(__GNUC__)
#define BLOSC_NO_EXPORT __attribute__((visibility("hidden")))
#else
#define BLOSC_NO_EXPORT
#endif

#endif /* BLOSC2_EXPORT_H */
