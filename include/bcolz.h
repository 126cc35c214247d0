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

/** What a carray or a column is made with; bcolz_spec_default() gives the usual. */
typedef struct bcolz_spec {
  /** The type of an item, as NumPy writes it, such as "int64", "|S3" or "datetime64[ns]". */
  const char *dtype;
  /** The lengths of a row's dimensions, `ndim` of them; NULL for single items. */
  const int64_t *row_shape;
  /** What growth fills with, as JSON; NULL for zeros. */
  const char *dflt;
  /** The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd"; NULL for "lz4". */
  const char *cname;
  /** Rows of a chunk; 0 to choose by `expectedlen`. */
  int64_t chunklen;
  /** How many rows there will be, about. */
  int64_t expectedlen;
  /** Dimensions of a row, 0 for single items. */
  int ndim;
  /** 0 (store) to 9 (smallest). */
  int clevel;
  /** 0 none, 1 bytes, 2 bits. */
  int shuffle;
  /** Decimal digits that are kept of floats; 0 for all. */
  int quantize;
} bcolz_spec;

/**
 * Opens the carray or ctable in the directory `path`. `mode` is "r" to read, "a" to read and write, or
 * "w", which takes all rows of a carray away. Returns NULL when it can't be opened. bcolz_close()
 * frees what is returned.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_open(const char *path,
                                const char *mode);

/**
 * Fills in a description: single items of NumPy's type `dtype`, compressed by LZ4 at level 5 behind a byte
 * shuffle, in chunks as bcolz chooses them. `dtype` has to last as long as the description is used.
 */
FERROBLOSC_EXPORT
int bcolz_spec_default(bcolz_spec *spec,
                       const char *dtype);

/**
 * Makes a carray without rows in the directory `path`. `mode` is "a", or "w" to replace what is there if it is
 * bcolz's. Returns NULL when it can't be made. bcolz_close() frees what is returned.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_create(const char *path,
                                  const char *mode,
                                  const bcolz_spec *spec);

/**
 * Makes a ctable without columns in the directory `path`; bcolz_add_column() adds them. `mode` is "a", or "w" to
 * replace what is there if it is bcolz's. Returns NULL when it can't be made. bcolz_close() frees
 * what is returned.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_create_ctable(const char *path,
                                         const char *mode);

/**
 * Writes what is only in memory and closes; `object` is gone afterwards, also when that fails. Returns 0, or
 * an error code. NULL is nothing to close.
 */
FERROBLOSC_EXPORT
int bcolz_close(struct bcolz_object *object);

/**
 * Lets up to `nthreads` threads read and write the chunks of a carray, or of all columns; one if nobody says so. Returns
 * 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_set_threads(struct bcolz_object *object,
                      int nthreads);

/** 1 for a ctable, 0 for a carray, or an error code. */
FERROBLOSC_EXPORT int bcolz_is_ctable(const struct bcolz_object *object);

/**
 * The number of columns of a ctable, 1 for a carray, or an error code. The columns of other functions count
 * from 0.
 */
FERROBLOSC_EXPORT
int bcolz_ncolumns(const struct bcolz_object *object);

/**
 * The name of a column of a ctable, or NULL. It lasts until the object is closed or
 * its columns change. Don't free it.
 */
FERROBLOSC_EXPORT const char *bcolz_column_name(const struct bcolz_object *object, int column);

/**
 * The type of the items of a carray or a column, as NumPy writes it, or NULL. It lasts until the
 * object is closed or its columns change. Don't free it.
 */
FERROBLOSC_EXPORT const char *bcolz_dtype(const struct bcolz_object *object, int column);

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

/** The number of rows, or an error code. */
FERROBLOSC_EXPORT int64_t bcolz_len(const struct bcolz_object *object);

/**
 * What there is to know about a carray or a column, as the text of a JSON object for the caller to free, or NULL:
 * "shape", "dtype", "itemsize", "chunklen", "expectedlen", "nbytes", "cbytes" (of its files), "cparams" with "clevel",
 * "shuffle", "cname" and "quantize", and "dflt", which growth fills with.
 */
FERROBLOSC_EXPORT
char *bcolz_info(const struct bcolz_object *object,
                 int column);

/**
 * The attributes as the text of a JSON object, for the caller to free, or NULL: those of a column, or of the carray or
 * ctable itself if `column` is -1.
 */
FERROBLOSC_EXPORT
char *bcolz_attrs(const struct bcolz_object *object,
                  int column);

/**
 * What the last call of this thread failed with, in words: of a function of `bcolz.h` or `bloscpack.h`. The text lasts
 * until the next failure. Don't free it.
 */
FERROBLOSC_EXPORT
const char *bcolz_last_error(void);

/**
 * Reads rows of a carray or a column, from row `start` on (a negative number counts from the end), as many as
 * `size` bytes are. Returns 0, or an error code: -33 when there are not so many.
 */
FERROBLOSC_EXPORT
int bcolz_read(struct bcolz_object *object,
               int column,
               int64_t start,
               void *dest,
               size_t size);

/**
 * Appends rows to a carray: `size` bytes. They are on the disk when bcolz_flush() or bcolz_close() returned 0.
 * Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_append(struct bcolz_object *object,
                 const void *rows,
                 size_t size);

/**
 * Appends `nrows` rows to a ctable, given as a pointer to the rows of each column, in the order of the columns. They
 * are on the disk afterwards. A failure leaves the rows there were in all columns. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_append_columns(struct bcolz_object *object,
                         const void *const *columns,
                         int64_t nrows);

/**
 * Writes over rows of a carray or a column, from row `start` on (a negative number counts from the end): `size` bytes.
 * Returns 0, or an error code: -33 when there are not so many.
 */
FERROBLOSC_EXPORT
int bcolz_set(struct bcolz_object *object,
              int column,
              int64_t start,
              const void *rows,
              size_t size);

/** Takes `nrows` rows away from the end. Returns 0, or an error code. */
FERROBLOSC_EXPORT int bcolz_trim(struct bcolz_object *object, int64_t nrows);

/**
 * Makes it `nrows` rows long: takes rows away, or fills new ones with the fill value. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_resize(struct bcolz_object *object,
                 int64_t nrows);

/**
 * Writes what is only in memory; nothing for what was opened to be read. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_flush(struct bcolz_object *object);

/**
 * Adds a column to a ctable, in front of column `at`, or behind all if that is -1. Its rows are the `size` bytes at `rows`, as
 * many as the table has unless it is the first column; or, if `rows` is NULL, the fill value. What bcolz_column_name()
 * and bcolz_dtype() returned is gone then. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_add_column(struct bcolz_object *object,
                     const char *name,
                     const bcolz_spec *spec,
                     int at,
                     const void *rows,
                     size_t size);

/**
 * Takes a column out of a ctable, and removes its directory unless `keep` is not 0. What bcolz_column_name() and
 * bcolz_dtype() returned is gone then. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_remove_column(struct bcolz_object *object,
                        const char *name,
                        int keep);

/**
 * Gives a column of a ctable another name. What bcolz_column_name() and bcolz_dtype() returned is gone then. Returns 0,
 * or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_rename_column(struct bcolz_object *object,
                        const char *from,
                        const char *to);

/**
 * Puts a value, the text of any JSON, under a name among the attributes: of a column, or of the carray or ctable itself
 * if `column` is -1. It is on the disk afterwards. Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_set_attr(struct bcolz_object *object,
                   int column,
                   const char *name,
                   const char *json);

/**
 * Takes an attribute away: of a column, or of the carray or ctable itself if `column` is -1. Returns 1, or 0 when there
 * was none, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_remove_attr(struct bcolz_object *object,
                      int column,
                      const char *name);

/**
 * Looks at everything in the carray or ctable at `root`: all files, all chunks. Returns the number of faults, or an error
 * code when there is nothing to look at. What `report` points to, unless it is NULL, becomes the text of a JSON list for
 * the caller to free: objects with the "path", the "fault" in words, and whether it is only a "note", which is not
 * counted.
 */
FERROBLOSC_EXPORT
int bcolz_verify(const char *root,
                 char **report);

/**
 * Mends what can be mended of the carray or ctable at `root`. No file is deleted: one that is replaced gets `.broken`
 * behind its name. Returns the number of faults that are left, or an error code. What `report` points to, unless it is
 * NULL, becomes the text of a JSON object for the caller to free: "mended" and "left" are lists as those of
 * bcolz_verify(), "lost" is one of objects with the "path" of an array and the rows from "start" to before "stop".
 */
FERROBLOSC_EXPORT
int bcolz_repair(const char *root,
                 char **report);

/** Writes the carray at `root` into a `.npy` file. Returns 0, or an error code. */
FERROBLOSC_EXPORT int bcolz_to_npy(const char *root, const char *npy);

/**
 * Makes the carray of a `.npy` file at `root`. `mode` is "a" or "w". Returns 0, or an error code.
 */
FERROBLOSC_EXPORT int bcolz_from_npy(const char *npy, const char *root, const char *mode);

/**
 * Writes the carray at `root` into a Bloscpack container with Adler-32 checksums; its chunks are copied. Returns 0, or
 * an error code.
 */
FERROBLOSC_EXPORT
int bcolz_to_bloscpack(const char *root,
                       const char *blp);

/**
 * Makes the carray of the array in a Bloscpack container at `root`; chunks of whole rows are copied. `mode` is "a" or
 * "w". Returns 0, or an error code.
 */
FERROBLOSC_EXPORT
int bcolz_from_bloscpack(const char *blp,
                         const char *root,
                         const char *mode);

/**
 * Writes the carray at `root` into the frame of an array of Blosc2, or each column of the ctable there into a frame
 * NAME.b2nd in the folder `output`, which is made. Attributes become variable-length metalayers. Returns 0, or an error
 * code.
 */
FERROBLOSC_EXPORT
int bcolz_to_b2nd(const char *root,
                  const char *output);

/**
 * Makes the carray of the frame of an array of Blosc2 at `root`, or the ctable of a folder of such frames. Metalayers in
 * MessagePack become attributes where JSON can say what is in them; returns the number of the others, or an error code.
 * `mode` is "a" or "w".
 */
FERROBLOSC_EXPORT
int bcolz_from_b2nd(const char *input,
                    const char *root,
                    const char *mode);


#ifdef __cplusplus
}
#endif

#endif /* BCOLZ_H */
