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
 * The id of files whose super-chunks are changed durably: put into `id` of the `blosc2_io` of a
 * `blosc2_storage`, in place of BLOSC2_IO_FILESYSTEM and with its parameters.
 */
#define FERROBLOSC_IO_DURABLE 157

/** The id of files whose super-chunks have checksums. */
#define FERROBLOSC_IO_CHECKSUMS 158

/** The id of files whose super-chunks are changed durably and have checksums. */
#define FERROBLOSC_IO_DURABLE_CHECKSUMS 159

/** Nothing says whether what leads to the chunks is as it was written. */
#define FERROBLOSC_FINGERPRINT_NONE 0

/** Header, index, checksums and metalayers are as they were written. */
#define FERROBLOSC_FINGERPRINT_RIGHT 1

/** One of them is not. */
#define FERROBLOSC_FINGERPRINT_WRONG 2

/** What ferroblosc_verify() found in a super-chunk. */
typedef struct ferroblosc_report {
  /** Chunks there are. */
  int64_t nchunks;
  /** Chunks that were compared with a checksum. */
  int64_t compared;
  /** Chunks without a checksum, which were decompressed. */
  int64_t decompressed;
  /** Chunks that are broken. */
  int64_t bad_chunks;
  /** Variable-length metalayers that are broken. */
  int64_t bad_vlmetalayers;
  /**
   * One of FERROBLOSC_FINGERPRINT_NONE, FERROBLOSC_FINGERPRINT_RIGHT and
   * FERROBLOSC_FINGERPRINT_WRONG.
   */
  int32_t fingerprint;
} ferroblosc_report;

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

/**
 * Why the last call of this thread failed, as one line of text: the operation, the path or chunk, and
 * the reason of the system. NULL when the call succeeded, and before the first one.
 *
 * The call is one of a function of libblosc2 or of this library; functions of libblosc (Blosc 1.x),
 * and callbacks that you wrote, don't count. Each thread has its own last error. The text stays in
 * place until the next such call of the same thread; don't free it. Asking changes nothing.
 *
 * Of calls of libblosc2 it is known if that is the one of Ferroblosc, and if the process can see it: a
 * library that was opened with RTLD_LOCAL, as Python does, is not seen.
 */
FERROBLOSC_EXPORT
const char *ferroblosc_last_error(void);

/**
 * The error number of the system (`errno`) that made the last call of this thread fail; 0 when it
 * succeeded, and when it failed for another reason. Calls are those of ferroblosc_last_error().
 */
FERROBLOSC_EXPORT int ferroblosc_last_errno(void);

/**
 * Reads all of the super-chunk in a file, from a byte on, or in a directory, and tells what is
 * broken. Chunks that have a checksum are compared with it, the others are decompressed.
 *
 * Gives the number of faults, 0 when all is well: broken chunks and variable-length metalayers,
 * and one more for a wrong fingerprint. A negative error code means that it can't be opened. A
 * `report` is filled in unless it is NULL. The numbers of the first broken chunks go to
 * `bad_chunks`, up to `room` of them; it may be NULL if `room` is 0.
 */
FERROBLOSC_EXPORT
int64_t ferroblosc_verify(const char *urlpath,
                          int64_t offset,
                          ferroblosc_report *report,
                          int64_t *bad_chunks,
                          int64_t room);

/**
 * Reads all of the contiguous frame in a buffer and tells what is broken, as ferroblosc_verify()
 * does.
 */
FERROBLOSC_EXPORT
int64_t ferroblosc_verify_buffer(const void *cframe,
                                 size_t size,
                                 ferroblosc_report *report,
                                 int64_t *bad_chunks,
                                 int64_t room);

/**
 * Begins a transaction of a `blosc2_schunk`, or one within its open transaction. All changes until
 * ferroblosc_commit() become one: other handles, and whoever opens the super-chunk after a crash,
 * find all of them or none. With locks, others wait until the end of the transaction.
 *
 * Super-chunks in durable files and directories have transactions (FERROBLOSC_IO_DURABLE,
 * FERROBLOSC_DURABLE); appending many chunks in one is much faster than one by one. Freeing the
 * super-chunk rolls an open transaction back. A transaction belongs to the process that began it: in
 * a forked child, calls with this super-chunk fail until ferroblosc_rollback().
 *
 * Gives 0; BLOSC2_ERROR_INVALID_PARAM for super-chunks that have no transactions, and when the
 * super-chunk is not one of Ferroblosc's libblosc2; BLOSC2_ERROR_LOCK and the errors of files.
 */
FERROBLOSC_EXPORT
int ferroblosc_begin(void *schunk);

/**
 * Commits the last transaction that was begun; with the first one, all changes become part of the
 * super-chunk, and have reached the disk.
 *
 * Gives 0; BLOSC2_ERROR_INVALID_PARAM without a transaction; other errors when the commit failed: all
 * changes are rolled back then, and the super-chunk can be used on.
 */
FERROBLOSC_EXPORT
int ferroblosc_commit(void *schunk);

/**
 * Rolls the last transaction that was begun back: the super-chunk is as it was then. Of a super-chunk
 * within a file (`offset` > 0), an inner rollback rolls everything back, and the outer transactions
 * can't be committed any more.
 *
 * Gives 0; BLOSC2_ERROR_INVALID_PARAM without a transaction.
 */
FERROBLOSC_EXPORT
int ferroblosc_rollback(void *schunk);

/** Begins a transaction of a `b2nd_array_t`, as ferroblosc_begin() does of its super-chunk. */
FERROBLOSC_EXPORT int ferroblosc_begin_array(void *array);

/**
 * Commits the last transaction that was begun, as ferroblosc_commit() does. If that fails, the struct
 * has the old shape again.
 */
FERROBLOSC_EXPORT
int ferroblosc_commit_array(void *array);

/**
 * Rolls the last transaction that was begun back, as ferroblosc_rollback() does, and restores the shape
 * in the struct.
 */
FERROBLOSC_EXPORT
int ferroblosc_rollback_array(void *array);


#ifdef __cplusplus
}
#endif

#endif /* FERROBLOSC_H */
