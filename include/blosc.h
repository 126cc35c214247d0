/*
 * blosc.h: compression of buffers.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc 1.21.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC_H
#define BLOSC_H

#include <limits.h>
#include <stdlib.h>

#include "blosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of C-Blosc whose interface this is. Build scripts read these lines, and some (FindBlosc.cmake of
   OpenVDB) only match a number that is followed by a blank. */
#define BLOSC_VERSION_MAJOR 1   /* major: the interface may break */
#define BLOSC_VERSION_MINOR 21  /* minor: the interface may grow */
#define BLOSC_VERSION_RELEASE 6 /* tweaks */
#define BLOSC_VERSION_STRING "1.21.6"
#define BLOSC_VERSION_REVISION "$Rev$"
#define BLOSC_VERSION_DATE "$Date:: 2024-06-24 #$"

/* Names of the compressors. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_SNAPPY_COMPNAME "snappy"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Names of the libraries they come from. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"


/** Version of the chunk format. */
#define BLOSC_VERSION_FORMAT 2

/** Size of the header of a chunk, in bytes. */
#define BLOSC_MIN_HEADER_LENGTH 16

/** How many bytes a chunk can be larger than its data. */
#define BLOSC_MAX_OVERHEAD 16

/** The most bytes a chunk can hold: INT_MAX - BLOSC_MAX_OVERHEAD. */
#define BLOSC_MAX_BUFFERSIZE 2147483631

/** The largest typesize a chunk can hold; larger ones are stored as 1. */
#define BLOSC_MAX_TYPESIZE 255

/** The largest block, in bytes. */
#define BLOSC_MAX_BLOCKSIZE 715827542

/** The most threads. */
#define BLOSC_MAX_THREADS 256

/** No shuffle. */
#define BLOSC_NOSHUFFLE 0

/** Byte-wise shuffle. */
#define BLOSC_SHUFFLE 1

/** Bit-wise shuffle. */
#define BLOSC_BITSHUFFLE 2

/** Chunk flag: byte-wise shuffle. */
#define BLOSC_DOSHUFFLE 1

/** Chunk flag: the data is stored as it is. */
#define BLOSC_MEMCPYED 2

/** Chunk flag: bit-wise shuffle. */
#define BLOSC_DOBITSHUFFLE 4

/** Code of the BloscLZ compressor. */
#define BLOSC_BLOSCLZ 0

/** Code of the LZ4 compressor. */
#define BLOSC_LZ4 1

/** Code of the LZ4HC compressor. */
#define BLOSC_LZ4HC 2

/** Code of the Snappy compressor. */
#define BLOSC_SNAPPY 3

/** Code of the Zlib compressor. */
#define BLOSC_ZLIB 4

/** Code of the Zstd compressor. */
#define BLOSC_ZSTD 5

/** Code of the BloscLZ library. */
#define BLOSC_BLOSCLZ_LIB 0

/** Code of the LZ4 library. */
#define BLOSC_LZ4_LIB 1

/** Code of the Snappy library. */
#define BLOSC_SNAPPY_LIB 2

/** Code of the Zlib library. */
#define BLOSC_ZLIB_LIB 3

/** Code of the Zstd library. */
#define BLOSC_ZSTD_LIB 4

/** Code of the BloscLZ format in the flags of a chunk. */
#define BLOSC_BLOSCLZ_FORMAT 0

/** Code of the LZ4 format in the flags of a chunk. */
#define BLOSC_LZ4_FORMAT 1

/** Code of the LZ4HC format in the flags of a chunk: it is that of LZ4. */
#define BLOSC_LZ4HC_FORMAT 1

/** Code of the Snappy format in the flags of a chunk. */
#define BLOSC_SNAPPY_FORMAT 2

/** Code of the Zlib format in the flags of a chunk. */
#define BLOSC_ZLIB_FORMAT 3

/** Code of the Zstd format in the flags of a chunk. */
#define BLOSC_ZSTD_FORMAT 4

/** Version of the BloscLZ format. */
#define BLOSC_BLOSCLZ_VERSION_FORMAT 1

/** Version of the LZ4 format. */
#define BLOSC_LZ4_VERSION_FORMAT 1

/** Version of the LZ4HC format. */
#define BLOSC_LZ4HC_VERSION_FORMAT 1

/** Version of the Snappy format. */
#define BLOSC_SNAPPY_VERSION_FORMAT 1

/** Version of the Zlib format. */
#define BLOSC_ZLIB_VERSION_FORMAT 1

/** Version of the Zstd format. */
#define BLOSC_ZSTD_VERSION_FORMAT 1

/** Blocks are split into one stream per byte of an item wherever they can be. */
#define BLOSC_ALWAYS_SPLIT 1

/** Blocks are never split. */
#define BLOSC_NEVER_SPLIT 2

/** Blocks are split where it pays with the compressor. */
#define BLOSC_AUTO_SPLIT 3

/** Blocks are split so that old versions of the library can read them (default). */
#define BLOSC_FORWARD_COMPAT_SPLIT 4

/**
 * Compresses nbytes bytes at src, items of typesize bytes, into a chunk at dest.
 *
 * clevel is from 0 (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or
 * BLOSC_BITSHUFFLE; a typesize above BLOSC_MAX_TYPESIZE counts as 1. Gives the size of the chunk,
 * 0 when it is larger than destsize, or a negative number. A destination that is
 * BLOSC_MAX_OVERHEAD bytes larger than the source is always large enough.
 *
 * Environment variables take precedence over the arguments and over what was set before:
 * BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS,
 * BLOSC_SPLITMODE; the last four for good. With BLOSC_NOLOCK, calls in different threads don't
 * wait for one another. With BLOSC_WARN above 0, messages on stderr say why a call is refused.
 */
BLOSC_EXPORT
int blosc_compress(int clevel,
                   int doshuffle,
                   size_t typesize,
                   size_t nbytes,
                   const void *src,
                   void *dest,
                   size_t destsize);

/**
 * blosc_compress() without global state: nothing counts but the arguments and the split mode that
 * was set. Calls in different threads don't wait for one another.
 *
 * blocksize 0 is automatic; numinternalthreads is the number of threads of this call.
 */
BLOSC_EXPORT
int blosc_compress_ctx(int clevel,
                       int doshuffle,
                       size_t typesize,
                       size_t nbytes,
                       const void *src,
                       void *dest,
                       size_t destsize,
                       const char *compressor,
                       size_t blocksize,
                       int numinternalthreads);

/**
 * Decompresses the chunk at src to dest. The chunk is believed to be as long as its header says:
 * ask blosc_cbuffer_validate() first when it may not be.
 *
 * Gives the bytes the chunk holds, or a negative number. The environment variables BLOSC_NTHREADS
 * and BLOSC_NOLOCK count as for blosc_compress().
 */
BLOSC_EXPORT int blosc_decompress(const void *src, void *dest, size_t destsize);

/**
 * blosc_decompress() without global state. Calls in different threads don't wait for one another.
 *
 * numinternalthreads is the number of threads of this call.
 */
BLOSC_EXPORT
int blosc_decompress_ctx(const void *src,
                         void *dest,
                         size_t destsize,
                         int numinternalthreads);

/**
 * Decompresses nitems items of the chunk at src, from item start on, to dest. Gives the bytes
 * written, or a negative number.
 */
BLOSC_EXPORT int blosc_getitem(const void *src, int start, int nitems, void *dest);

/** Initialises the library. All functions work without. */
BLOSC_EXPORT void blosc_init(void);

/**
 * Ends the threads of the library and frees its working memory. Settings stay, and all functions
 * go on working.
 */
BLOSC_EXPORT void blosc_destroy(void);

/**
 * Ends the threads of the library and frees its working memory, until the next call that needs
 * them. Gives 0, or -1 when the library is not initialised.
 */
BLOSC_EXPORT int blosc_free_resources(void);

/** The number of threads. 1 at first. */
BLOSC_EXPORT int blosc_get_nthreads(void);

/** Sets the number of threads, from 1 to BLOSC_MAX_THREADS. Gives the number before. */
BLOSC_EXPORT int blosc_set_nthreads(int nthreads);

/** The name of the compressor; NULL after an unknown one was set. */
BLOSC_EXPORT const char *blosc_get_compressor(void);

/**
 * Chooses the compressor. Gives its code; -1 for an unknown one, and compressing fails then until
 * another one is chosen.
 */
BLOSC_EXPORT int blosc_set_compressor(const char *compname);

/** The block size; 0 when it is automatic. */
BLOSC_EXPORT int blosc_get_blocksize(void);

/** Sets the block size; 0 is automatic. */
BLOSC_EXPORT void blosc_set_blocksize(size_t blocksize);

/**
 * Chooses whether blocks are split into one stream per byte of an item: BLOSC_FORWARD_COMPAT_SPLIT
 * (default) or one of its siblings. Counts for the calls with _ctx too.
 */
BLOSC_EXPORT void blosc_set_splitmode(int splitmode);

/**
 * Stores the name of a compressor; NULL for a code that none has. Gives the code, or -1. The name
 * is static: don't free it.
 */
BLOSC_EXPORT int blosc_compcode_to_compname(int compcode, const char **compname);

/** The code of a compressor, or -1 for a name that none has. */
BLOSC_EXPORT int blosc_compname_to_compcode(const char *compname);

/** The names of all compressors, separated by commas. Don't free it. */
BLOSC_EXPORT const char *blosc_list_compressors(void);

/** The version of the library: BLOSC_VERSION_STRING. Don't free it. */
BLOSC_EXPORT const char *blosc_get_version_string(void);

/**
 * Stores the name and the version of the library behind a compressor, both to be freed by the
 * caller. Gives the code of the library; -1 for an unknown compressor, and both are NULL then.
 */
BLOSC_EXPORT int blosc_get_complib_info(const char *compname, char **complib, char **version);

/**
 * Stores the sizes in the header of a chunk: of its data, of itself, of a block. They are 0 for
 * what is no chunk.
 */
BLOSC_EXPORT
void blosc_cbuffer_sizes(const void *cbuffer,
                         size_t *nbytes,
                         size_t *cbytes,
                         size_t *blocksize);

/**
 * Tells whether the cbytes bytes at cbuffer can be a chunk; stores the size of its data, 0 when not.
 *
 * Gives 0, or -1 when not. The data itself is not looked at.
 */
BLOSC_EXPORT
int blosc_cbuffer_validate(const void *cbuffer,
                           size_t cbytes,
                           size_t *nbytes);

/**
 * Stores the typesize and the flags in the header of a chunk: BLOSC_DOSHUFFLE, BLOSC_MEMCPYED,
 * BLOSC_DOBITSHUFFLE; 0 for what is no chunk.
 */
BLOSC_EXPORT void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/** Stores the versions in the header of a chunk: of its own format and of the compressor's. */
BLOSC_EXPORT void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);

/** The name of the library that decompresses a chunk; NULL for an unknown one. */
BLOSC_EXPORT const char *blosc_cbuffer_complib(const void *cbuffer);


#ifdef __cplusplus
}
#endif

#endif /* BLOSC_H */
