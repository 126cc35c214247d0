/*
 * blosc-export.h: the export macro.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc 1.21.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC_EXPORT_H
#define BLOSC_EXPORT_H

/* Marks a function of the library's interface. */
#ifndef BLOSC_EXPORT
#if defined(__GNUC__)
#define BLOSC_EXPORT __attribute__((visibility("default")))
#else
#define BLOSC_EXPORT
#endif
#endif

#endif /* BLOSC_EXPORT_H */
