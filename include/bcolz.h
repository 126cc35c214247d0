/*
 * bcolz.h: the directories of bcolz, carrays and ctables.
 *
 * Part of Ferroblosc.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BCOLZ_H
#define BCOLZ_H

#include <stddef.h>
#include <stdint.h>

#include "ferroblosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif


/** A carray or a ctable that is open. One thread at a time may use it. */
typedef struct bcolz_object bcolz_object;

/**
 * Opens the carray or ctable in the directory `path`. `mode` is "r" to read, "a" to read and write, or
 * "w", which takes all rows of a carray away. Returns NULL when it can't be opened.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_open(const char *path,
                                const char *mode);

/**
 * Makes a carray without rows in the directory `path`, of items of NumPy's type `dtype`, and of rows with
 * the `ndim` dimensions in `row_shape` (0 and NULL for single items). `chunklen` is the rows of a chunk, or 0
 * to choose them by `expectedlen`. `mode` is "a", or "w" to replace what is there if it is bcolz's. Returns
 * NULL when it can't be made.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_create(const char *path,
                                  const char *mode,
                                  const char *dtype,
                                  const int64_t *row_shape,
                                  int ndim,
                                  int64_t chunklen,
                                  int64_t expectedlen);

/**
 * Writes what is only in memory and closes; `object` is gone afterwards, also when that fails. Returns 0, or
 * an error code. NULL is nothing to close.
 */
FERROBLOSC_EXPORT
int bcolz_close(struct bcolz_object *object);

/** 1 for a ctable, 0 for a carray, or an error code. */
FERROBLOSC_EXPORT int bcolz_is_ctable(const struct bcolz_object *object);

/**
 * The number of columns of a ctable, 1 for a carray, or an error code. The columns of other functions count
 * from 0.
 */
FERROBLOSC_EXPORT
int bcolz_ncolumns(const struct bcolz_object *object);

/** The name of a column of a ctable, or NULL. It lasts as long as the object. */
FERROBLOSC_EXPORT const char *bcolz_column_name(const struct bcolz_object *object, int column);

/**
 * The type of the items of a carray or a column, as NumPy writes it, or NULL. It lasts as long as the object.
 */
FERROBLOSC_EXPORT
const char *bcolz_dtype(const struct bcolz_object *object,
                        int column);

/**
 * Fills in the first `room` lengths of the dimensions of a carray or a column; returns the number of its
 * dimensions, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_shape(const struct bcolz_object *object,
                int column,
                int64_t *shape,
                int room);

/** The bytes of a row of a carray or a column, or an error code. */
FERROBLOSC_EXPORT int64_t bcolz_row_bytes(const struct bcolz_object *object, int column);

/**
 * The attributes of a carray or a ctable as the text of a JSON object, for the caller to free, or NULL.
 */
FERROBLOSC_EXPORT
char *bcolz_attrs(const struct bcolz_object *object);

/**
 * Reads rows of a carray or a column, from row `start` on (a negative number counts from the end), as many as
 * `size` bytes are. Returns 0, or an error code: -33 when there are not so many.
 */
FERROBLOSC_EXPORT
int bcolz_read(struct bcolz_object *object,
               int column,
               int64_t start,
               void *dest,
               int32_t size);

/**
 * Appends rows to a carray: `size` bytes. They are on the disk when bcolz_flush or bcolz_close returned 0.
 * Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_append(struct bcolz_object *object,
                 const void *rows,
                 int32_t size);

/**
 * Writes what is only in memory; nothing for what was opened to be read. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_flush(struct bcolz_object *object);


#ifdef __cplusplus
}
#endif

#endif /* BCOLZ_H */
