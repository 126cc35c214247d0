/*
 * ferroblosc-export.h: visibility of exported functions.
 *
 * Part of Ferroblosc.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef FERROBLOSC_EXPORT_H
#define FERROBLOSC_EXPORT_H

/* Marks a function of the public interface. */
#ifndef FERROBLOSC_EXPORT
#if defined(__GNUC__)
#define FERROBLOSC_EXPORT __attribute__((visibility("default")))
#else
#define FERROBLOSC_EXPORT
#endif
#endif

#endif /* FERROBLOSC_EXPORT_H */
