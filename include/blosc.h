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

/* The version of C-Blosc whose interface this is. Build scripts parse these lines, and some
   (FindBlosc.cmake of OpenVDB) only match a number that is followed by a blank. */
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

/* Names of the compressors' libraries. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"


/** The version of the chunk format. */
#define BLOSC_VERSION_FORMAT 2

/** The size of a chunk's header in bytes. */
#define BLOSC_MIN_HEADER_LENGTH 16

/** The maximum number of bytes by which a chunk exceeds its data. */
#define BLOSC_MAX_OVERHEAD 16

/** The maximum size of the data of a chunk in bytes: INT_MAX - BLOSC_MAX_OVERHEAD. */
#define BLOSC_MAX_BUFFERSIZE 2147483631

/** The maximum typesize a chunk can represent; larger ones are stored as 1. */
#define BLOSC_MAX_TYPESIZE 255

/** The maximum size of a block in bytes. */
#define BLOSC_MAX_BLOCKSIZE 715827542

/** The maximum number of threads. */
#define BLOSC_MAX_THREADS 256

/** No shuffle. */
#define BLOSC_NOSHUFFLE 0

/** Byte-wise shuffle. */
#define BLOSC_SHUFFLE 1

/** Bit-wise shuffle. */
#define BLOSC_BITSHUFFLE 2

/** Chunk flag: byte-wise shuffle. */
#define BLOSC_DOSHUFFLE 1

/** Chunk flag: the data is stored uncompressed. */
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

/** Code of the LZ4HC format in the flags of a chunk, the same as that of LZ4. */
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

/** Blocks are split into one stream per byte of an item whenever possible. */
#define BLOSC_ALWAYS_SPLIT 1

/** Blocks are never split. */
#define BLOSC_NEVER_SPLIT 2

/** Blocks are split if that tends to improve compression with the compressor. */
#define BLOSC_AUTO_SPLIT 3

/** Blocks are split such that old versions of the library can read them (default). */
#define BLOSC_FORWARD_COMPAT_SPLIT 4

/**
 * Compresses nbytes bytes at src, items of typesize bytes, into a chunk at dest.
 *
 * clevel is from 0 (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or
 * BLOSC_BITSHUFFLE; a typesize above BLOSC_MAX_TYPESIZE is treated as 1. Returns the size of the
 * chunk, 0 if it is larger than destsize, or a negative number. A destination that is
 * BLOSC_MAX_OVERHEAD bytes larger than the source is always large enough.
 *
 * Environment variables override the arguments and the settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
 * BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE; the last
 * four change the settings permanently. With BLOSC_NOLOCK, calls in different threads do not wait
 * for one another. With BLOSC_WARN above 0, messages on stderr explain why a call is refused.
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
 * blosc_compress() without global state: it depends only on the arguments and the split mode.
 * Calls in different threads do not wait for one another.
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
 * Decompresses the chunk at src to dest. The size in the header of the chunk is trusted: check
 * chunks from other sources with blosc_cbuffer_validate() first.
 *
 * @return The size of the data in bytes, or a negative number. The environment variables
 * BLOSC_NTHREADS and BLOSC_NOLOCK apply as in blosc_compress().
 */
BLOSC_EXPORT int blosc_decompress(const void *src, void *dest, size_t destsize);

/**
 * blosc_decompress() without global state. Calls in different threads do not wait for one another.
 *
 * numinternalthreads is the number of threads of this call.
 */
BLOSC_EXPORT
int blosc_decompress_ctx(const void *src,
                         void *dest,
                         size_t destsize,
                         int numinternalthreads);

/**
 * Decompresses nitems items of the chunk at src, from item start on, to dest. Returns the number
 * of bytes written, or a negative number.
 */
BLOSC_EXPORT int blosc_getitem(const void *src, int start, int nitems, void *dest);

/** Initialises the library. Calling it is optional for all functions. */
BLOSC_EXPORT void blosc_init(void);

/**
 * Stops the threads of the library and frees its working memory. The settings are kept, and all
 * functions continue to work.
 */
BLOSC_EXPORT void blosc_destroy(void);

/**
 * Stops the threads of the library and frees its working memory until they are needed again.
 * Returns 0, or -1 if the library is not initialised.
 */
BLOSC_EXPORT int blosc_free_resources(void);

/** Returns the number of threads, initially 1. */
BLOSC_EXPORT int blosc_get_nthreads(void);

/** Sets the number of threads, from 1 to BLOSC_MAX_THREADS. Returns the previous number. */
BLOSC_EXPORT int blosc_set_nthreads(int nthreads);

/** Returns the name of the compressor, or NULL after an unknown one was set. */
BLOSC_EXPORT const char *blosc_get_compressor(void);

/**
 * Sets the compressor. Returns its code, or -1 for an unknown one; compression then fails until
 * another one is set.
 */
BLOSC_EXPORT int blosc_set_compressor(const char *compname);

/** Returns the block size in bytes, or 0 if it is automatic. */
BLOSC_EXPORT int blosc_get_blocksize(void);

/** Sets the block size in bytes; 0 is automatic. */
BLOSC_EXPORT void blosc_set_blocksize(size_t blocksize);

/**
 * Sets how blocks are split into one stream per byte of an item: BLOSC_FORWARD_COMPAT_SPLIT
 * (default) or another split mode. It applies to the calls with _ctx, too.
 */
BLOSC_EXPORT void blosc_set_splitmode(int splitmode);

/**
 * Stores the name of a compressor, or NULL for an unknown code. Returns the code, or -1. The name
 * is static: do not free it.
 */
BLOSC_EXPORT int blosc_compcode_to_compname(int compcode, const char **compname);

/** Returns the code of a compressor, or -1 for an unknown name. */
BLOSC_EXPORT int blosc_compname_to_compcode(const char *compname);

/** Returns the names of all compressors, separated by commas. Do not free it. */
BLOSC_EXPORT const char *blosc_list_compressors(void);

/** Returns the version of the library, BLOSC_VERSION_STRING. Do not free it. */
BLOSC_EXPORT const char *blosc_get_version_string(void);

/**
 * Stores the name and the version of a compressor's library, both to be freed by the caller.
 * Returns the code of the library, or -1 for an unknown compressor; both are NULL then.
 */
BLOSC_EXPORT int blosc_get_complib_info(const char *compname, char **complib, char **version);

/**
 * Stores the sizes in the header of a chunk: of its data, of the chunk and of a block, in bytes.
 * They are 0 for an invalid chunk.
 */
BLOSC_EXPORT
void blosc_cbuffer_sizes(const void *cbuffer,
                         size_t *nbytes,
                         size_t *cbytes,
                         size_t *blocksize);

/**
 * Checks that the cbytes bytes at cbuffer can be a chunk and stores the size of its data, or 0.
 *
 * @return 0, or -1 for an invalid chunk. The compressed data is not checked.
 */
BLOSC_EXPORT int blosc_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/**
 * Stores the typesize and the flags in the header of a chunk: BLOSC_DOSHUFFLE, BLOSC_MEMCPYED,
 * BLOSC_DOBITSHUFFLE. They are 0 for an invalid chunk.
 */
BLOSC_EXPORT void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/**
 * Stores the versions in the header of a chunk: of the chunk format and of the compressor's
 * format.
 */
BLOSC_EXPORT void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);

/** Returns the name of the library that decompresses a chunk, or NULL if it is unknown. */
BLOSC_EXPORT const char *blosc_cbuffer_complib(const void *cbuffer);


#ifdef __cplusplus
}
#endif

#endif /* BLOSC_H */
