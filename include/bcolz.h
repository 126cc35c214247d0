/*
 * bcolz.h: bcolz's carrays and ctables.
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


/** An open carray or ctable. Calls with the same object must not run concurrently. */
typedef struct bcolz_object bcolz_object;

/** The properties of a new carray or column; bcolz_spec_default() fills in the defaults. */
typedef struct bcolz_spec {
  /** The type of an item as NumPy writes it, such as "int64", "|S3" or "datetime64[ns]". */
  const char *dtype;
  /** The shape of a row, `ndim` items; NULL if rows are single items. */
  const int64_t *row_shape;
  /** The fill value of rows that bcolz_resize() adds, as JSON; NULL for zeros. */
  const char *dflt;
  /** The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd"; NULL for "lz4". */
  const char *cname;
  /** The number of rows of a chunk; 0 to derive it from `expectedlen`. */
  int64_t chunklen;
  /** The expected number of rows. */
  int64_t expectedlen;
  /** The number of dimensions of a row; 0 if rows are single items. */
  int ndim;
  /** The compression level: 0 (no compression) to 9 (smallest). */
  int clevel;
  /** The shuffle filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle. */
  int shuffle;
  /** The number of decimal digits of floating-point values to keep; 0 for all. */
  int quantize;
} bcolz_spec;

/**
 * Opens the carray or ctable in a directory.
 *
 * @param path the directory.
 * @param mode "r" to read, "a" to read and write, or, for carrays only, "w" to read and write after
 *   removing all rows.
 *
 * @return The object, which the caller closes with bcolz_close(), or NULL on error.
 */
FERROBLOSC_EXPORT struct bcolz_object *bcolz_open(const char *path, const char *mode);

/**
 * Fills in the default description of a carray: single items, compressed with LZ4 at level 5 after
 * a byte shuffle, in chunks of bcolz's default size.
 *
 * @param spec the description.
 * @param dtype the type of an item as NumPy writes it. It is not copied: it must be valid while the
 *   description is in use.
 *
 * @return 0, or BLOSC2_ERROR_INVALID_PARAM if an argument is NULL.
 */
FERROBLOSC_EXPORT int bcolz_spec_default(bcolz_spec *spec, const char *dtype);

/**
 * Creates a carray without rows.
 *
 * @param path the directory to create; its parent must exist.
 * @param mode "a" to fail if it exists, or "w" to replace an existing carray or ctable.
 * @param spec the description of the array.
 *
 * @return The object, which the caller closes with bcolz_close(), or NULL on error.
 */
FERROBLOSC_EXPORT
struct bcolz_object *bcolz_create(const char *path,
                                  const char *mode,
                                  const bcolz_spec *spec);

/**
 * Creates a ctable without columns. bcolz_add_column() adds columns.
 *
 * @param path the directory to create; its parent must exist.
 * @param mode "a" to fail if it exists, or "w" to replace an existing carray or ctable.
 *
 * @return The object, which the caller closes with bcolz_close(), or NULL on error.
 */
FERROBLOSC_EXPORT struct bcolz_object *bcolz_create_ctable(const char *path, const char *mode);

/**
 * Writes buffered rows, closes an object and frees it, even if writing fails.
 *
 * @param object the object, or NULL to do nothing.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_close(struct bcolz_object *object);

/**
 * Sets the number of threads that read and write the chunks of a carray or of each column of a
 * ctable. It is initially 1.
 *
 * @param object the object.
 * @param nthreads the number of threads, at least 1.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_set_threads(struct bcolz_object *object, int nthreads);

/**
 * Checks whether an object is a ctable.
 *
 * @param object the object.
 *
 * @return 1 for a ctable, 0 for a carray, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_is_ctable(const struct bcolz_object *object);

/**
 * Returns the number of columns of a ctable, 1 for a carray, or a negative error code. The columns
 * are numbered from 0.
 *
 * @param object the object.
 */
FERROBLOSC_EXPORT int bcolz_ncolumns(const struct bcolz_object *object);

/**
 * Returns the name of a column of a ctable, or NULL on error. The object owns it: it is valid
 * until the object is closed or its columns change.
 *
 * @param object the object.
 * @param column the number of the column.
 */
FERROBLOSC_EXPORT const char *bcolz_column_name(const struct bcolz_object *object, int column);

/**
 * Returns the type of the items of a carray or a column as NumPy writes it, or NULL on error. The
 * object owns it: it is valid until the object is closed or its columns change.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 */
FERROBLOSC_EXPORT const char *bcolz_dtype(const struct bcolz_object *object, int column);

/**
 * Stores the shape of a carray or a column. The first dimension is the number of rows.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 * @param shape the destination, or NULL to only get the number of dimensions.
 * @param room the capacity of `shape` in items. Further dimensions are not stored.
 *
 * @return The number of dimensions, or a negative error code.
 */
FERROBLOSC_EXPORT
int bcolz_shape(const struct bcolz_object *object,
                int column,
                int64_t *shape,
                int room);

/**
 * Returns the size of a row of a carray or a column in bytes, or a negative error code.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 */
FERROBLOSC_EXPORT int64_t bcolz_row_bytes(const struct bcolz_object *object, int column);

/**
 * Returns the number of rows, or a negative error code.
 *
 * @param object the object.
 */
FERROBLOSC_EXPORT int64_t bcolz_len(const struct bcolz_object *object);

/**
 * Returns the properties of a carray or a column as a JSON object, or NULL on error. The caller
 * releases the text with free().
 *
 * The properties are "shape", "dtype", "itemsize", "chunklen", "expectedlen", "nbytes", "cbytes"
 * (the size of its files), "cparams" with "clevel", "shuffle", "cname" and "quantize", and "dflt",
 * the fill value of added rows.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 */
FERROBLOSC_EXPORT char *bcolz_info(const struct bcolz_object *object, int column);

/**
 * Returns the attributes as a JSON object, or NULL on error. The caller releases the text with
 * free().
 *
 * @param object the object.
 * @param column the number of the column, or -1 for the attributes of the carray or ctable itself.
 */
FERROBLOSC_EXPORT char *bcolz_attrs(const struct bcolz_object *object, int column);

/**
 * Returns the message of the last failed call of a function of `bcolz.h` or `bloscpack.h` in this
 * thread, or "" if none failed.
 *
 * The library owns the text: it is valid until the next such call fails in this thread.
 */
FERROBLOSC_EXPORT const char *bcolz_last_error(void);

/**
 * Reads consecutive rows of a carray or a column.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 * @param start the index of the first row. Negative indices count from the end.
 * @param dest the destination, owned by the caller.
 * @param size the size of `dest` in bytes, a multiple of bcolz_row_bytes().
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX (-33) if the rows are out of
 * range.
 */
FERROBLOSC_EXPORT
int bcolz_read(struct bcolz_object *object,
               int column,
               int64_t start,
               void *dest,
               size_t size);

/**
 * Appends rows to a carray. They are on disk after bcolz_flush() or bcolz_close() returned 0.
 *
 * @param object the carray.
 * @param rows the rows.
 * @param size the size of `rows` in bytes, a multiple of bcolz_row_bytes().
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_append(struct bcolz_object *object, const void *rows, size_t size);

/**
 * Appends rows to a ctable and writes them to disk. On failure all columns keep their previous
 * rows.
 *
 * @param object the ctable.
 * @param columns one pointer per column, in the order of the columns, to `nrows` rows of that
 *   column.
 * @param nrows the number of rows.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT
int bcolz_append_columns(struct bcolz_object *object,
                         const void *const *columns,
                         int64_t nrows);

/**
 * Overwrites consecutive rows of a carray or a column.
 *
 * @param object the object.
 * @param column the number of the column, 0 for a carray.
 * @param start the index of the first row. Negative indices count from the end.
 * @param rows the new rows.
 * @param size the size of `rows` in bytes, a multiple of bcolz_row_bytes().
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX (-33) if the rows are out of
 * range.
 */
FERROBLOSC_EXPORT
int bcolz_set(struct bcolz_object *object,
              int column,
              int64_t start,
              const void *rows,
              size_t size);

/**
 * Removes rows from the end.
 *
 * @param object the object.
 * @param nrows the number of rows to remove.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_trim(struct bcolz_object *object, int64_t nrows);

/**
 * Changes the number of rows. Added rows have the fill value.
 *
 * @param object the object.
 * @param nrows the new number of rows.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_resize(struct bcolz_object *object, int64_t nrows);

/**
 * Writes buffered rows to disk. Does nothing for objects opened for reading.
 *
 * @param object the object.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_flush(struct bcolz_object *object);

/**
 * Adds a column to a ctable. Invalidates the texts returned by bcolz_column_name() and
 * bcolz_dtype().
 *
 * @param object the ctable.
 * @param name the name of the column.
 * @param spec the description of the column.
 * @param at the number of the existing column to insert before, or -1 to add the column at the end.
 * @param rows the rows of the column, as many as the ctable has (any number for its first column),
 *   or NULL to fill the column with the fill value.
 * @param size the size of `rows` in bytes.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT
int bcolz_add_column(struct bcolz_object *object,
                     const char *name,
                     const bcolz_spec *spec,
                     int at,
                     const void *rows,
                     size_t size);

/**
 * Removes a column from a ctable. Invalidates the texts returned by bcolz_column_name() and
 * bcolz_dtype().
 *
 * @param object the ctable.
 * @param name the name of the column.
 * @param keep 0 to delete the directory of the column; otherwise it is kept.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_remove_column(struct bcolz_object *object, const char *name, int keep);

/**
 * Renames a column of a ctable. Invalidates the texts returned by bcolz_column_name() and
 * bcolz_dtype().
 *
 * @param object the ctable.
 * @param from the current name.
 * @param to the new name.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT
int bcolz_rename_column(struct bcolz_object *object,
                        const char *from,
                        const char *to);

/**
 * Sets an attribute and writes it to disk.
 *
 * @param object the object.
 * @param column the number of the column, or -1 for an attribute of the carray or ctable itself.
 * @param name the name of the attribute.
 * @param json the value as JSON.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT
int bcolz_set_attr(struct bcolz_object *object,
                   int column,
                   const char *name,
                   const char *json);

/**
 * Removes an attribute.
 *
 * @param object the object.
 * @param column the number of the column, or -1 for an attribute of the carray or ctable itself.
 * @param name the name of the attribute.
 *
 * @return 1, 0 if there was no such attribute, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_remove_attr(struct bcolz_object *object, int column, const char *name);

/**
 * Verifies all files and chunks of a carray or ctable.
 *
 * @param root the directory.
 * @param report receives a JSON list, which the caller releases with free(), or NULL. Its items are
 *   objects with the "path", the "fault" as text, and whether it is only a "note", which does not
 *   count as a fault.
 *
 * @return The number of faults, or a negative error code if there is no carray or ctable.
 */
FERROBLOSC_EXPORT int bcolz_verify(const char *root, char **report);

/**
 * Repairs a carray or ctable as far as possible. No file is deleted: `.broken` is appended to the
 * names of replaced files.
 *
 * @param root the directory.
 * @param report receives a JSON object, which the caller releases with free(), or NULL. Its members
 *   "mended" and "left" are lists as of bcolz_verify(); "lost" is a list of objects with the
 *   "path" of an array and the range of lost rows from "start" to before "stop".
 *
 * @return The number of remaining faults, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_repair(const char *root, char **report);

/**
 * Writes a carray into a `.npy` file.
 *
 * @param root the directory of the carray.
 * @param npy the path of the file.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_to_npy(const char *root, const char *npy);

/**
 * Creates a carray from a `.npy` file.
 *
 * @param npy the path of the file.
 * @param root the directory to create; its parent must exist.
 * @param mode "a" to fail if it exists, or "w" to replace an existing carray or ctable.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_from_npy(const char *npy, const char *root, const char *mode);

/**
 * Writes a carray into a Bloscpack container with Adler-32 checksums. Its chunks are copied
 * without recompression.
 *
 * @param root the directory of the carray.
 * @param blp the path of the container.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_to_bloscpack(const char *root, const char *blp);

/**
 * Creates a carray from the array in a Bloscpack container. Chunks of whole rows are copied
 * without recompression.
 *
 * @param blp the path of the container.
 * @param root the directory to create; its parent must exist.
 * @param mode "a" to fail if it exists, or "w" to replace an existing carray or ctable.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_from_bloscpack(const char *blp, const char *root, const char *mode);

/**
 * Writes a carray into a frame with a b2nd array, or each column of a ctable into a frame
 * NAME.b2nd of a directory. Attributes become variable-length metalayers.
 *
 * @param root the directory of the carray or ctable.
 * @param output the path of the frame, or of the directory to create.
 *
 * @return 0, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_to_b2nd(const char *root, const char *output);

/**
 * Creates a carray from a frame with a b2nd array, or a ctable from a directory of such frames.
 * MessagePack metalayers become attributes if JSON can represent them.
 *
 * @param input the path of the frame or directory.
 * @param root the directory to create; its parent must exist.
 * @param mode "a" to fail if it exists, or "w" to replace an existing carray or ctable.
 *
 * @return The number of metalayers that were not converted, or a negative error code.
 */
FERROBLOSC_EXPORT int bcolz_from_b2nd(const char *input, const char *root, const char *mode);


#ifdef __cplusplus
}
#endif

#endif /* BCOLZ_H */
