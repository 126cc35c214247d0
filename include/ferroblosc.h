/*
 * ferroblosc.h: functions beyond the C interfaces of C-Blosc and C-Blosc2.
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
 * The id of the I/O backend whose files are changed durably: set it as `id` of the `blosc2_io` of
 * a `blosc2_storage` instead of BLOSC2_IO_FILESYSTEM; the parameters are the same.
 */
#define FERROBLOSC_IO_DURABLE 157

/** The id of the I/O backend whose files have checksums. */
#define FERROBLOSC_IO_CHECKSUMS 158

/** The id of the I/O backend whose files are changed durably and have checksums. */
#define FERROBLOSC_IO_DURABLE_CHECKSUMS 159

/** The super-chunk has no fingerprint of its header, index, checksums and metalayers. */
#define FERROBLOSC_FINGERPRINT_NONE 0

/** Header, index, checksums and metalayers match the fingerprint. */
#define FERROBLOSC_FINGERPRINT_RIGHT 1

/** Header, index, checksums or metalayers do not match the fingerprint. */
#define FERROBLOSC_FINGERPRINT_WRONG 2

/** The result of ferroblosc_verify(). */
typedef struct ferroblosc_report {
  /** The number of chunks. */
  int64_t nchunks;
  /** The number of chunks whose checksum was compared. */
  int64_t compared;
  /** The number of chunks without a checksum, which were decompressed. */
  int64_t decompressed;
  /** The number of corrupt chunks. */
  int64_t bad_chunks;
  /** The number of corrupt variable-length metalayers. */
  int64_t bad_vlmetalayers;
  /**
   * FERROBLOSC_FINGERPRINT_NONE, FERROBLOSC_FINGERPRINT_RIGHT or FERROBLOSC_FINGERPRINT_WRONG.
   */
  int32_t fingerprint;
} ferroblosc_report;

/**
 * Returns the version of the library as text. FERROBLOSC_VERSION_STRING is the version of the
 * headers. The library owns the text.
 */
FERROBLOSC_EXPORT const char *ferroblosc_version(void);

/**
 * Returns the text of an error code, or "Unknown error" for other values. The library owns the
 * text.
 *
 * @param error_code a code returned by a function of this library. The codes are the BLOSC2_ERROR_
 *   constants of blosc2.h.
 */
FERROBLOSC_EXPORT const char *ferroblosc_error_string(int error_code);

/**
 * Returns the message of this thread's last call if it failed, otherwise NULL. The message is one
 * line of text with the operation, the path or chunk, and the reason of the system.
 *
 * Calls are those of the functions of libblosc2 and of this library, except this one and
 * ferroblosc_last_errno(). Functions of libblosc (Blosc 1.x) and user callbacks are not included.
 * The library owns the text: it is valid until the next call of the same thread.
 *
 * Calls of libblosc2 are included if it is Ferroblosc's and its symbols are visible in the
 * process: a library opened with RTLD_LOCAL, as Python does, is not visible.
 */
FERROBLOSC_EXPORT const char *ferroblosc_last_error(void);

/**
 * Returns the `errno` of this thread's last call if the system made it fail, otherwise 0. Calls
 * are those of ferroblosc_last_error().
 */
FERROBLOSC_EXPORT int ferroblosc_last_errno(void);

/**
 * Reads a whole super-chunk and verifies it. Chunks with a checksum are compared with it, others
 * are decompressed.
 *
 * @param urlpath the path of the file or directory.
 * @param offset the offset of the frame in the file, in bytes.
 * @param report receives the counts; may be NULL.
 * @param bad_chunks receives the indices of the first corrupt chunks; may be NULL if `room` is 0.
 * @param room the capacity of `bad_chunks` in items.
 *
 * @return The number of faults, or a negative error code if the super-chunk cannot be opened.
 * Faults are corrupt chunks, corrupt variable-length metalayers and a wrong fingerprint.
 */
FERROBLOSC_EXPORT
int64_t ferroblosc_verify(const char *urlpath,
                          int64_t offset,
                          ferroblosc_report *report,
                          int64_t *bad_chunks,
                          int64_t room);

/**
 * Reads a whole contiguous frame in memory and verifies it, as ferroblosc_verify().
 *
 * @param cframe the frame.
 * @param size the size of the frame in bytes.
 * @param report receives the counts; may be NULL.
 * @param bad_chunks receives the indices of the first corrupt chunks; may be NULL if `room` is 0.
 * @param room the capacity of `bad_chunks` in items.
 *
 * @return The number of faults, or a negative error code if the frame cannot be opened.
 */
FERROBLOSC_EXPORT
int64_t ferroblosc_verify_buffer(const void *cframe,
                                 size_t size,
                                 ferroblosc_report *report,
                                 int64_t *bad_chunks,
                                 int64_t room);

/**
 * Begins a transaction of a super-chunk, or a nested one in its open transaction.
 *
 * ferroblosc_commit() applies all changes at once: other handles, and readers after a crash, see
 * all of them or none. With locks, other handles wait until the end of the transaction.
 *
 * Super-chunks in durable files and directories (FERROBLOSC_IO_DURABLE, FERROBLOSC_DURABLE)
 * support transactions. Appending many chunks in one transaction is much faster than without one.
 * Freeing the super-chunk rolls an open transaction back. A transaction belongs to the process
 * that began it: in a forked child, calls with this super-chunk fail until ferroblosc_rollback().
 *
 * @param schunk the super-chunk, a `blosc2_schunk`.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM if the super-chunk has no
 * transactions or is not one of Ferroblosc's libblosc2; BLOSC2_ERROR_LOCK; or the code of a file
 * error.
 */
FERROBLOSC_EXPORT int ferroblosc_begin(void *schunk);

/**
 * Commits the innermost transaction. Committing the outermost one applies all changes and writes
 * them to disk.
 *
 * @param schunk the super-chunk, a `blosc2_schunk`.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM without a transaction. After
 * other errors all changes are rolled back, and the super-chunk remains usable.
 */
FERROBLOSC_EXPORT int ferroblosc_commit(void *schunk);

/**
 * Rolls the innermost transaction back: the super-chunk returns to its state at the begin.
 *
 * For a super-chunk inside a file (`offset` > 0), an inner rollback rolls everything back, and the
 * outer transactions can no longer be committed.
 *
 * @param schunk the super-chunk, a `blosc2_schunk`.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM without a transaction.
 */
FERROBLOSC_EXPORT int ferroblosc_rollback(void *schunk);

/**
 * Begins a transaction of an array, as ferroblosc_begin() does for a super-chunk.
 *
 * @param array the array, a `b2nd_array_t`.
 *
 * @return 0, or a negative error code, as ferroblosc_begin().
 */
FERROBLOSC_EXPORT int ferroblosc_begin_array(void *array);

/**
 * Commits the innermost transaction of an array, as ferroblosc_commit(). If that fails, the struct
 * has its previous shape.
 *
 * @param array the array, a `b2nd_array_t`.
 *
 * @return 0, or a negative error code, as ferroblosc_commit().
 */
FERROBLOSC_EXPORT int ferroblosc_commit_array(void *array);

/**
 * Rolls the innermost transaction of an array back, as ferroblosc_rollback(), and restores the
 * shape in the struct.
 *
 * @param array the array, a `b2nd_array_t`.
 *
 * @return 0, or a negative error code, as ferroblosc_rollback().
 */
FERROBLOSC_EXPORT int ferroblosc_rollback_array(void *array);


#ifdef __cplusplus
}
#endif

#endif /* FERROBLOSC_H */
