/*
 * ferroblosc.h: what Ferroblosc has beyond the C interfaces of C-Blosc and C-Blosc2.
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


/**
 * The version of the library, as text: that of the headers is FERROBLOSC_VERSION_STRING. Don't
 * free it.
 */
FERROBLOSC_EXPORT const char *ferroblosc_version(void);

/**
 * The text for an error code of a function of this library; "Unknown error" for values that are
 * none. The codes are the BLOSC2_ERROR_ ones of blosc2.h. Don't free it.
 */
FERROBLOSC_EXPORT const char *ferroblosc_error_string(int error_code);


#ifdef __cplusplus
}
#endif

#endif /* FERROBLOSC_H */
