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
 * Compresses a buffer into a chunk, with the global settings.
 *
 * Environment variables override the arguments and the settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
 * BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE; the last
 * four change the settings permanently. With BLOSC_NOLOCK, calls in different threads do not wait
 * for one another. With BLOSC_WARN above 0, messages on stderr explain why a call is refused.
 *
 * @param clevel the compression level: 0 (no compression) to 9 (smallest).
 * @param doshuffle BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
 * @param typesize the size of an item in bytes; sizes above BLOSC_MAX_TYPESIZE are treated as 1.
 * @param nbytes the size of the data in bytes, at most BLOSC_MAX_BUFFERSIZE.
 * @param src the data.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes; `nbytes` + BLOSC_MAX_OVERHEAD is always
 *   sufficient.
 *
 * @return The size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative
 * number.
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
 * Compresses a buffer into a chunk, as blosc_compress(), without global state: the call depends
 * only on the arguments and the split mode. Calls in different threads do not wait for one
 * another.
 *
 * @param clevel the compression level: 0 (no compression) to 9 (smallest).
 * @param doshuffle BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
 * @param typesize the size of an item in bytes; sizes above BLOSC_MAX_TYPESIZE are treated as 1.
 * @param nbytes the size of the data in bytes, at most BLOSC_MAX_BUFFERSIZE.
 * @param src the data.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes; `nbytes` + BLOSC_MAX_OVERHEAD is always
 *   sufficient.
 * @param compressor the name of the compressor.
 * @param blocksize the block size in bytes, or 0 for an automatic one.
 * @param numinternalthreads the number of threads of this call.
 *
 * @return The size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative
 * number.
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
 * Decompresses a chunk. The size in the header of the chunk is trusted: check chunks from other
 * sources with blosc_cbuffer_validate() first. The environment variables BLOSC_NTHREADS and
 * BLOSC_NOLOCK apply as in blosc_compress().
 *
 * @param src the chunk.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the data in bytes, or a negative number.
 */
BLOSC_EXPORT int blosc_decompress(const void *src, void *dest, size_t destsize);

/**
 * Decompresses a chunk, as blosc_decompress(), without global state. Calls in different threads do
 * not wait for one another.
 *
 * @param src the chunk.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 * @param numinternalthreads the number of threads of this call.
 *
 * @return The size of the data in bytes, or a negative number.
 */
BLOSC_EXPORT
int blosc_decompress_ctx(const void *src,
                         void *dest,
                         size_t destsize,
                         int numinternalthreads);

/**
 * Decompresses a range of items of a chunk. The size in the header of the chunk is trusted.
 *
 * @param src the chunk.
 * @param start the index of the first item.
 * @param nitems the number of items.
 * @param dest the destination, `nitems` * typesize bytes, owned by the caller.
 *
 * @return The number of bytes written, or a negative number.
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
 *
 * @return 0, or -1 if the library is not initialised.
 */
BLOSC_EXPORT int blosc_free_resources(void);

/** Returns the number of threads, initially 1. */
BLOSC_EXPORT int blosc_get_nthreads(void);

/**
 * Sets the number of threads. An invalid number makes calls that need threads fail.
 *
 * @param nthreads the number of threads: 1 to BLOSC_MAX_THREADS.
 *
 * @return The previous number.
 */
BLOSC_EXPORT int blosc_set_nthreads(int nthreads);

/**
 * Returns the name of the compressor, or NULL after an unknown one was set. The library owns the
 * name.
 */
BLOSC_EXPORT const char *blosc_get_compressor(void);

/**
 * Sets the compressor.
 *
 * @param compname the name of the compressor.
 *
 * @return The code of the compressor, or -1 for an unknown one; compression then fails until
 * another one is set.
 */
BLOSC_EXPORT int blosc_set_compressor(const char *compname);

/** Returns the block size in bytes, or 0 if it is automatic. */
BLOSC_EXPORT int blosc_get_blocksize(void);

/**
 * Sets the block size.
 *
 * @param blocksize the block size in bytes, or 0 for an automatic one.
 */
BLOSC_EXPORT void blosc_set_blocksize(size_t blocksize);

/**
 * Sets the mode in which blocks are split into one stream per byte of an item. It applies to the
 * functions with `_ctx`, too.
 *
 * @param splitmode BLOSC_FORWARD_COMPAT_SPLIT (default), BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT or
 *   BLOSC_AUTO_SPLIT.
 */
BLOSC_EXPORT void blosc_set_splitmode(int splitmode);

/**
 * Stores the name of a compressor. The library owns the name.
 *
 * @param compcode the code of the compressor.
 * @param compname receives the name, or NULL for an unknown code; may be NULL.
 *
 * @return The code, or -1 for an unknown code.
 */
BLOSC_EXPORT int blosc_compcode_to_compname(int compcode, const char **compname);

/**
 * Returns the code of a compressor, or -1 for an unknown name.
 *
 * @param compname the name of the compressor.
 */
BLOSC_EXPORT int blosc_compname_to_compcode(const char *compname);

/** Returns the names of all compressors, separated by commas. The library owns the text. */
BLOSC_EXPORT const char *blosc_list_compressors(void);

/** Returns the version of the library, BLOSC_VERSION_STRING. The library owns the text. */
BLOSC_EXPORT const char *blosc_get_version_string(void);

/**
 * Stores the name and the version of the library of a compressor.
 *
 * @param compname the name of the compressor.
 * @param complib receives the name, which the caller releases with free(), or NULL for an unknown
 *   compressor; may be NULL.
 * @param version receives the version, which the caller releases with free(), or NULL for an unknown
 *   compressor; may be NULL.
 *
 * @return The code of the library, or -1 for an unknown compressor.
 */
BLOSC_EXPORT int blosc_get_complib_info(const char *compname, char **complib, char **version);

/**
 * Stores the sizes in the header of a chunk. They are 0 for an invalid chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param nbytes receives the size of the data in bytes; may be NULL.
 * @param cbytes receives the size of the chunk in bytes; may be NULL.
 * @param blocksize receives the size of a block in bytes; may be NULL.
 */
BLOSC_EXPORT
void blosc_cbuffer_sizes(const void *cbuffer,
                         size_t *nbytes,
                         size_t *cbytes,
                         size_t *blocksize);

/**
 * Validates the header of a chunk. The compressed data is not checked.
 *
 * @param cbuffer the chunk.
 * @param cbytes the size of the chunk in bytes.
 * @param nbytes receives the size of the data in bytes, or 0 on error; may be NULL.
 *
 * @return 0, or -1 for an invalid chunk.
 */
BLOSC_EXPORT int blosc_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/**
 * Stores the typesize and the flags in the header of a chunk. They are 0 for an invalid chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param typesize receives the size of an item in bytes; may be NULL.
 * @param flags receives the flags BLOSC_DOSHUFFLE, BLOSC_MEMCPYED and BLOSC_DOBITSHUFFLE; may be
 *   NULL.
 */
BLOSC_EXPORT void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/**
 * Stores the versions in the header of a chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param version receives the version of the chunk format; may be NULL.
 * @param compversion receives the version of the compressor's format; may be NULL.
 */
BLOSC_EXPORT void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);

/**
 * Returns the name of the library that decompresses a chunk, or NULL if it is unknown. The library
 * owns the name.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 */
BLOSC_EXPORT const char *blosc_cbuffer_complib(const void *cbuffer);


#ifdef __cplusplus
}
#endif

#endif /* BLOSC_H */
