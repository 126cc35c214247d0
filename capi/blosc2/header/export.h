/*
 * blosc2-export.h: visibility of functions.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_EXPORT_H
#define BLOSC2_EXPORT_H

/* Marks a function of the public interface. */
#if defined(__GNUC__)
#define BLOSC_EXPORT __attribute__((visibility("default")))
#else
#define BLOSC_EXPORT
#endif

/* Marks an internal function of the library. */
#if defined(__GNUC__)
#define BLOSC_NO_EXPORT __attribute__((visibility("hidden")))
#else
#define BLOSC_NO_EXPORT
#endif

#endif /* BLOSC2_EXPORT_H */
