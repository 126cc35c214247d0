/*
 * blosc2.h: chunks, contexts, super-chunks.
 *
 * Part of Ferroblosc, which has the C interface of C-Blosc2 3.3.5.
 * Copyright (c) 2026, The Ferroblosc developers. SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by `cargo run -p ferroblosc-headers`: don't edit.
 */

#ifndef BLOSC2_H
#define BLOSC2_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blosc2/blosc2-common.h"
#include "blosc2/blosc2-export.h"
#include "blosc2/blosc2-stdio.h"

/* The implemented version of C-Blosc2. Build scripts parse these lines; that of PyTables searches
   for "major", "minor" and "tweaks". */
#define BLOSC2_VERSION_MAJOR 3   /* major: the interface may break */
#define BLOSC2_VERSION_MINOR 3   /* minor: the interface may grow */
#define BLOSC2_VERSION_RELEASE 5 /* tweaks */
#define BLOSC2_VERSION_STRING "3.3.5"
#define BLOSC2_VERSION_DATE "$Date:: 2026-09-24 #$"

#ifdef __cplusplus
extern "C" {
#endif

/* These are omitted if blosc.h of C-Blosc 1.x has defined them. */
#ifndef BLOSC_H

/* Names of the codecs. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Names of the libraries of the codecs. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* Constants that C-Blosc 1.x's `blosc.h` defines, too, with the same values. */
enum {
  /** The size of the header of a Blosc1 chunk in bytes, and the minimum size of any chunk. */
  BLOSC_MIN_HEADER_LENGTH = 16,
  /** The maximum typesize a chunk header can represent; larger ones are stored as 1. */
  BLOSC_MAX_TYPESIZE = 255,
  /** No shuffle. */
  BLOSC_NOSHUFFLE = 0,
  /** Byte-wise shuffle. */
  BLOSC_SHUFFLE = 1,
  /** Bit-wise shuffle. */
  BLOSC_BITSHUFFLE = 2,
  /** Chunk flag: byte-wise shuffle. */
  BLOSC_DOSHUFFLE = 1,
  /** Chunk flag: the data is stored uncompressed. */
  BLOSC_MEMCPYED = 2,
  /** Chunk flag: bit-wise shuffle. */
  BLOSC_DOBITSHUFFLE = 4,
  /** Code of the BloscLZ codec. */
  BLOSC_BLOSCLZ = 0,
  /** Code of the LZ4 codec. */
  BLOSC_LZ4 = 1,
  /** Code of the LZ4HC codec. */
  BLOSC_LZ4HC = 2,
  /** Code of the Zlib codec. */
  BLOSC_ZLIB = 4,
  /** Code of the Zstd codec. */
  BLOSC_ZSTD = 5,
  /** Code of the BloscLZ library. */
  BLOSC_BLOSCLZ_LIB = 0,
  /** Code of the LZ4 library. */
  BLOSC_LZ4_LIB = 1,
  /** Code of the Zlib library. */
  BLOSC_ZLIB_LIB = 3,
  /** Code of the Zstd library. */
  BLOSC_ZSTD_LIB = 4,
  /** Format code of BloscLZ in the chunk flags. */
  BLOSC_BLOSCLZ_FORMAT = 0,
  /** Format code of LZ4 in the chunk flags. */
  BLOSC_LZ4_FORMAT = 1,
  /** Format code of LZ4HC in the chunk flags: it writes the LZ4 format. */
  BLOSC_LZ4HC_FORMAT = 1,
  /** Format code of Zlib in the chunk flags. */
  BLOSC_ZLIB_FORMAT = 3,
  /** Format code of Zstd in the chunk flags. */
  BLOSC_ZSTD_FORMAT = 4,
  /** Version of the BloscLZ format. */
  BLOSC_BLOSCLZ_VERSION_FORMAT = 1,
  /** Version of the LZ4 format. */
  BLOSC_LZ4_VERSION_FORMAT = 1,
  /** Version of the LZ4 format as LZ4HC writes it. */
  BLOSC_LZ4HC_VERSION_FORMAT = 1,
  /** Version of the Zlib format. */
  BLOSC_ZLIB_VERSION_FORMAT = 1,
  /** Version of the Zstd format. */
  BLOSC_ZSTD_VERSION_FORMAT = 1,
  /** Blocks are always split into one stream per byte of the typesize. */
  BLOSC_ALWAYS_SPLIT = 1,
  /** Blocks are never split. */
  BLOSC_NEVER_SPLIT = 2,
  /** Blocks are split if that improves compression with the codec and level. */
  BLOSC_AUTO_SPLIT = 3,
  /** Blocks are split in the mode that older versions of the library expect (default). */
  BLOSC_FORWARD_COMPAT_SPLIT = 4
};

#endif /* BLOSC_H */

/* The chunk format: versions, offsets in the header, flags, special values. */
enum {
  /** Chunks of Blosc before 1.0. */
  BLOSC1_VERSION_FORMAT_PRE1 = 1,
  /** Chunks of Blosc 1.x. */
  BLOSC1_VERSION_FORMAT = 2,
  /** Chunks of the Blosc2 alphas. */
  BLOSC2_VERSION_FORMAT_ALPHA = 3,
  /** Chunks of the first Blosc2 beta. */
  BLOSC2_VERSION_FORMAT_BETA1 = 4,
  /** Chunks of the stable Blosc2. */
  BLOSC2_VERSION_FORMAT_STABLE = 5,
  /** Chunks with variable-length blocks. */
  BLOSC2_VERSION_FORMAT_VL_BLOCKS = 6,
  /** The newest chunk version this library reads and writes. */
  BLOSC2_VERSION_FORMAT = 6,
  /** Frames of the second Blosc2 beta. */
  BLOSC2_VERSION_FRAME_FORMAT_BETA2 = 1,
  /** Frames of the first release candidate and later. */
  BLOSC2_VERSION_FRAME_FORMAT_RC1 = 2,
  /** Frames that may contain chunks with variable-length blocks. */
  BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS = 3,
  /** The newest frame version this library reads and writes. */
  BLOSC2_VERSION_FRAME_FORMAT = 3,
  /** Offset of the chunk version (1 byte). */
  BLOSC2_CHUNK_VERSION = 0,
  /** Offset of the version of the codec's format (1 byte). */
  BLOSC2_CHUNK_VERSIONLZ = 1,
  /** Offset of the flags and the codec's format code (1 byte). */
  BLOSC2_CHUNK_FLAGS = 2,
  /** Offset of the typesize (1 byte). */
  BLOSC2_CHUNK_TYPESIZE = 3,
  /** Offset of the uncompressed size (4 bytes). */
  BLOSC2_CHUNK_NBYTES = 4,
  /** Offset of the block size (4 bytes). */
  BLOSC2_CHUNK_BLOCKSIZE = 8,
  /** Offset of the compressed size including the header (4 bytes). */
  BLOSC2_CHUNK_CBYTES = 12,
  /** Offset of the filter codes (6 bytes). */
  BLOSC2_CHUNK_FILTER_CODES = 16,
  /** Offset of the meta bytes of the filters (6 bytes). */
  BLOSC2_CHUNK_FILTER_META = 24,
  /** Offset of the second Blosc2 flags (1 byte). */
  BLOSC2_CHUNK_BLOSC2_FLAGS2 = 30,
  /** Offset of the Blosc2 flags (1 byte). */
  BLOSC2_CHUNK_BLOSC2_FLAGS = 31,
  /** Chunk flag: delta filter. */
  BLOSC_DODELTA = 8,
  /** Blosc2 flag: the chunk contains a dictionary. */
  BLOSC2_USEDICT = 1,
  /** Blosc2 flag: the data is big-endian. */
  BLOSC2_BIGENDIAN = 2,
  /** Blosc2 flag: the blocks contain measurements of the codec instead of data. */
  BLOSC2_INSTR_CODEC = 128,
  /** Second Blosc2 flag: the blocks have variable lengths. */
  BLOSC2_VL_BLOCKS = 1,
  /** A regular chunk without special value. */
  BLOSC2_NO_SPECIAL = 0,
  /** All bytes are zero. */
  BLOSC2_SPECIAL_ZERO = 1,
  /** All items are NaN (typesize 4 or 8). */
  BLOSC2_SPECIAL_NAN = 2,
  /** All items equal the value after the header. */
  BLOSC2_SPECIAL_VALUE = 3,
  /** The items are uninitialised. */
  BLOSC2_SPECIAL_UNINIT = 4,
  /** The last special value. */
  BLOSC2_SPECIAL_LASTID = 4,
  /** Mask of the special value in the Blosc2 flags after a right shift by 4. */
  BLOSC2_SPECIAL_MASK = 7
};

/* Limits of sizes and numbers. */
enum {
  /**
   * The minimum size of data that is compressed, in bytes; smaller data is stored uncompressed.
   */
  BLOSC_MIN_BUFFERSIZE = 32,
  /** The size of the header of a Blosc2 chunk in bytes. */
  BLOSC_EXTENDED_HEADER_LENGTH = 32,
  /** The maximum number of bytes by which a chunk exceeds its data. */
  BLOSC2_MAX_OVERHEAD = 32,
  /** The maximum size of the data of a chunk in bytes: INT_MAX - BLOSC2_MAX_OVERHEAD. */
  BLOSC2_MAX_BUFFERSIZE = 2147483615,
  /** The maximum size of a block in bytes. */
  BLOSC2_MAXBLOCKSIZE = 536866816,
  /** The maximum typesize in bytes. */
  BLOSC2_MAXTYPESIZE = 536866816,
  /** The maximum size of a dictionary in bytes. */
  BLOSC2_MAXDICTSIZE = 32768,
  /** The minimum size of a dictionary that is stored, in bytes. */
  BLOSC2_MINUSEFULDICT = 256,
  /** The number of slots of the filter pipeline. */
  BLOSC2_MAX_FILTERS = 6,
  /**
   * The former maximum number of registered filters. All ids from
   * BLOSC2_USER_REGISTERED_FILTERS_START to BLOSC2_USER_REGISTERED_FILTERS_STOP can be registered.
   */
  BLOSC2_MAX_UDFILTERS = 16
};

/* Codes and id ranges of the filters. */
enum {
  /** No filter. */
  BLOSC_NOFILTER = 0,
  /** XOR with the first block of the chunk. */
  BLOSC_DELTA = 3,
  /** Truncation of mantissa bits of floating-point items (lossy). */
  BLOSC_TRUNC_PREC = 4,
  /** The id after the last built-in filter. */
  BLOSC_LAST_FILTER = 5,
  /** The last filter of the global registry, see `blosc2/filters-registry.h`. */
  BLOSC_LAST_REGISTERED_FILTER = 36,
  /** First id of the built-in filters. */
  BLOSC2_DEFINED_FILTERS_START = 0,
  /** Last id of the built-in filters. */
  BLOSC2_DEFINED_FILTERS_STOP = 31,
  /** First id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_START = 32,
  /** Last id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP = 159,
  /** The number of filters in the global registry. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS = 5,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_FILTERS_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_FILTERS_STOP = 255
};

/* Codes and id ranges of the codecs. */
enum {
  /** The code after the last built-in codec. */
  BLOSC_LAST_CODEC = 6,
  /** The last codec of the first global registry, see `blosc2/codecs-registry.h`. */
  BLOSC_LAST_REGISTERED_CODEC = 36,
  /** First id of the built-in codecs. */
  BLOSC2_DEFINED_CODECS_START = 0,
  /** Last id of the built-in codecs. */
  BLOSC2_DEFINED_CODECS_STOP = 31,
  /** First id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_START = 32,
  /** Last id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_CODECS_STOP = 159,
  /** The number of codecs of the first global registry. */
  BLOSC2_GLOBAL_REGISTERED_CODECS = 5,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_CODECS_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_CODECS_STOP = 255,
  /** Library code of registered codecs. */
  BLOSC_UDCODEC_LIB = 6,
  /** Library code of data stored in the super-chunk. */
  BLOSC_SCHUNK_LIB = 7,
  /** Format code of registered codecs in the chunk flags. */
  BLOSC_UDCODEC_FORMAT = 6,
  /** Version of the format of registered codecs without a version of their own. */
  BLOSC_UDCODEC_VERSION_FORMAT = 1
};

/* Codes and id ranges of the tuners. */
enum {
  /** The built-in tuner. */
  BLOSC_STUNE = 0,
  /** The id after the last built-in tuner. */
  BLOSC_LAST_TUNER = 1,
  /** The last tuner before the global registry, see `blosc2/tuners-registry.h`. */
  BLOSC_LAST_REGISTERED_TUNE = 31,
  /** First id of the built-in tuners. */
  BLOSC2_DEFINED_TUNER_START = 0,
  /** Last id of the built-in tuners. */
  BLOSC2_DEFINED_TUNER_STOP = 31,
  /** First id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_START = 32,
  /** Last id of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_TUNER_STOP = 159,
  /** The number of built-in tuners of the global registry. */
  BLOSC2_GLOBAL_REGISTERED_TUNERS = 0,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_TUNER_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_TUNER_STOP = 255
};

/* Ids of I/O backends. */
enum {
  /** Files accessed by system calls. */
  BLOSC2_IO_FILESYSTEM = 0,
  /** Memory-mapped files. */
  BLOSC2_IO_FILESYSTEM_MMAP = 1,
  /** The id after the last built-in backend. */
  BLOSC_IO_LAST_BLOSC_DEFINED = 2,
  /** The end of the ids of built-in backends (exclusive). */
  BLOSC2_IO_BLOSC_DEFINED = 32,
  /** The id after the last backend of the global registry. */
  BLOSC_IO_LAST_REGISTERED = 32,
  /** The first id for users, the end of the global registry (exclusive). */
  BLOSC2_IO_REGISTERED = 160,
  /** The end of the ids for users (exclusive). */
  BLOSC2_IO_USER_DEFINED = 256
};

/* Error codes. `blosc2_error_string` returns their texts. */
enum {
  /** Success. */
  BLOSC2_ERROR_SUCCESS = 0,
  /** Generic failure. */
  BLOSC2_ERROR_FAILURE = -1,
  /** Bad stream. */
  BLOSC2_ERROR_STREAM = -2,
  /** Invalid data. */
  BLOSC2_ERROR_DATA = -3,
  /** Memory allocation failed. */
  BLOSC2_ERROR_MEMORY_ALLOC = -4,
  /** The source buffer is too small. */
  BLOSC2_ERROR_READ_BUFFER = -5,
  /** The destination buffer is too small. */
  BLOSC2_ERROR_WRITE_BUFFER = -6,
  /** Codec not supported. */
  BLOSC2_ERROR_CODEC_SUPPORT = -7,
  /** Invalid parameter of a codec. */
  BLOSC2_ERROR_CODEC_PARAM = -8,
  /** Dictionary error of a codec. */
  BLOSC2_ERROR_CODEC_DICT = -9,
  /** Version not supported. */
  BLOSC2_ERROR_VERSION_SUPPORT = -10,
  /** Invalid value in a header. */
  BLOSC2_ERROR_INVALID_HEADER = -11,
  /** Invalid parameter of a function. */
  BLOSC2_ERROR_INVALID_PARAM = -12,
  /** Reading a file failed. */
  BLOSC2_ERROR_FILE_READ = -13,
  /** Writing a file failed. */
  BLOSC2_ERROR_FILE_WRITE = -14,
  /** Opening a file failed. */
  BLOSC2_ERROR_FILE_OPEN = -15,
  /** Not found. */
  BLOSC2_ERROR_NOT_FOUND = -16,
  /** Bad run-length encoding. */
  BLOSC2_ERROR_RUN_LENGTH = -17,
  /** A filter failed. */
  BLOSC2_ERROR_FILTER_PIPELINE = -18,
  /** Inserting a chunk failed. */
  BLOSC2_ERROR_CHUNK_INSERT = -19,
  /** Appending a chunk failed. */
  BLOSC2_ERROR_CHUNK_APPEND = -20,
  /** Updating a chunk failed. */
  BLOSC2_ERROR_CHUNK_UPDATE = -21,
  /** Sizes above 2 GB are not supported. */
  BLOSC2_ERROR_2GB_LIMIT = -22,
  /** Copying a super-chunk failed. */
  BLOSC2_ERROR_SCHUNK_COPY = -23,
  /** Wrong type of frame. */
  BLOSC2_ERROR_FRAME_TYPE = -24,
  /** Truncating a file failed. */
  BLOSC2_ERROR_FILE_TRUNCATE = -25,
  /** Starting a thread failed. */
  BLOSC2_ERROR_THREAD_CREATE = -26,
  /** A postfilter failed. */
  BLOSC2_ERROR_POSTFILTER = -27,
  /** A special value of a frame failed. */
  BLOSC2_ERROR_FRAME_SPECIAL = -28,
  /** A special value of a super-chunk failed. */
  BLOSC2_ERROR_SCHUNK_SPECIAL = -29,
  /** Error of an I/O plugin. */
  BLOSC2_ERROR_PLUGIN_IO = -30,
  /** Removing a file failed. */
  BLOSC2_ERROR_FILE_REMOVE = -31,
  /** A pointer is NULL. */
  BLOSC2_ERROR_NULL_POINTER = -32,
  /** Invalid index. */
  BLOSC2_ERROR_INVALID_INDEX = -33,
  /** The metalayer does not exist. */
  BLOSC2_ERROR_METALAYER_NOT_FOUND = -34,
  /** The buffer is larger than the maximum. */
  BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED = -35,
  /** A tuner failed. */
  BLOSC2_ERROR_TUNER = -36,
  /** Locking a frame failed. */
  BLOSC2_ERROR_LOCK = -37
};

/** The maximum number of fixed metalayers of a super-chunk. */
#define BLOSC2_MAX_METALAYERS 16

/** The maximum length of the name of a fixed metalayer in bytes, without its NUL. */
#define BLOSC2_METALAYER_NAME_MAXLEN 31

/** The maximum number of variable-length metalayers of a super-chunk. */
#define BLOSC2_MAX_VLMETALAYERS 8192

/** The maximum length of the name of a variable-length metalayer in bytes, without its NUL. */
#define BLOSC2_VLMETALAYERS_NAME_MAXLEN 31

/* Forward declarations for the types of callbacks. */
struct blosc2_cparams;
struct blosc2_dparams;
struct blosc2_prefilter_params;
struct blosc2_postfilter_params;

/** A point in time of a monotonic clock. */
typedef struct timespec blosc_timestamp_t;

/**
 * The parameters and working memory of compression or decompression. A context serves one call at
 * a time: a concurrent call from another thread returns BLOSC2_ERROR_INVALID_PARAM.
 */
typedef struct blosc2_context_s blosc2_context;

/** A frame: a super-chunk as one buffer, file or directory. */
typedef struct blosc2_frame_s blosc2_frame;

/**
 * The arguments of a prefilter: one block, before the filters.
 *
 * The callback may modify the struct, which is valid during the call.
 */
typedef struct blosc2_prefilter_params {
  /** The pointer set by the user. */
  void *user_data;
  /** The block in the source buffer. */
  const uint8_t *input;
  /** The destination of the filtered block. */
  uint8_t *output;
  /** The size of `output` in bytes. */
  int32_t output_size;
  /** The size of an item of `output` in bytes. */
  int32_t output_typesize;
  /** The offset of the block in the data of the chunk, in bytes. */
  int32_t output_offset;
  /** The index of the chunk in its super-chunk, or -1. */
  int64_t nchunk;
  /** The index of the block in its chunk. */
  int32_t nblock;
  /** The index of the worker thread, 0 in serial runs. */
  int32_t tid;
  /** Scratch memory. */
  uint8_t *ttmp;
  /** The size of `ttmp` in bytes. */
  size_t ttmp_nbytes;
  /** The context for compression. */
  struct blosc2_context_s *ctx;
  /** Whether the output will not be stored. */
  bool output_is_disposable;
} blosc2_prefilter_params;

/** A prefilter. Returns 0 on success; other values make the compression fail. */
typedef int (*blosc2_prefilter_fn)(struct blosc2_prefilter_params *params);

/** The compression parameters. Start from BLOSC2_CPARAMS_DEFAULTS. */
typedef struct blosc2_cparams {
  /** The code of the codec. */
  uint8_t compcode;
  /** The metadata byte of the codec. */
  uint8_t compcode_meta;
  /** The compression level: 0 (no compression) to 9 (smallest). */
  uint8_t clevel;
  /** Whether the blocks of a chunk share a dictionary. */
  int use_dict;
  /** The size of an item in bytes. */
  int32_t typesize;
  /** The number of threads. */
  int16_t nthreads;
  /** The size of a block in bytes; 0 for an automatic one. */
  int32_t blocksize;
  /** The mode in which blocks are split into streams, such as BLOSC_ALWAYS_SPLIT. */
  int32_t splitmode;
  /** The super-chunk of the chunks, or NULL. */
  void *schunk;
  /** The ids of the filters, applied from first to last. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** The metadata byte of each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Called for each block before the filters; may be NULL. */
  blosc2_prefilter_fn prefilter;
  /** The parameters of the prefilter; copied. */
  struct blosc2_prefilter_params *preparams;
  /** The parameters of the tuner. */
  void *tuner_params;
  /** The id of the tuner. */
  int tuner_id;
  /** Whether to store measurements of the codec instead of its output. */
  bool instr_codec;
  /** The parameters of the codec. */
  void *codec_params;
  /** The parameters of each filter. */
  void *filter_params[BLOSC2_MAX_FILTERS];
} blosc2_cparams;

/**
 * The arguments of a postfilter: one block, after the filters were reversed.
 *
 * The callback may modify the struct, which is valid during the call.
 */
typedef struct blosc2_postfilter_params {
  /** The pointer set by the user. */
  void *user_data;
  /** The decoded block. */
  const uint8_t *input;
  /** The destination of the block. */
  uint8_t *output;
  /** The size of `output` in bytes. */
  int32_t size;
  /** The size of an item in bytes. */
  int32_t typesize;
  /** The offset of the block in the data of the chunk, in bytes. */
  int32_t offset;
  /** The index of the chunk in its super-chunk, or -1. */
  int64_t nchunk;
  /** The index of the block in its chunk. */
  int32_t nblock;
  /** The index of the worker thread, 0 in serial runs. */
  int32_t tid;
  /** Scratch memory. */
  uint8_t *ttmp;
  /** The size of `ttmp` in bytes. */
  size_t ttmp_nbytes;
  /** The context for decompression. */
  struct blosc2_context_s *ctx;
} blosc2_postfilter_params;

/** A postfilter. Returns 0 on success; other values make the decompression fail. */
typedef int (*blosc2_postfilter_fn)(struct blosc2_postfilter_params *params);

/** The decompression parameters. Start from BLOSC2_DPARAMS_DEFAULTS. */
typedef struct blosc2_dparams {
  /** The number of threads. */
  int16_t nthreads;
  /** The super-chunk of the chunks, or NULL. */
  void *schunk;
  /** Called for each block after the filters were reversed; may be NULL. */
  blosc2_postfilter_fn postfilter;
  /** The parameters of the postfilter; copied. */
  struct blosc2_postfilter_params *postparams;
  /** The size of an item in bytes. */
  int32_t typesize;
} blosc2_dparams;

/** The contents of each stream of an instrumented chunk. */
typedef struct blosc2_instr {
  /** The compression ratio. */
  float cratio;
  /** The speed of the codec in bytes per second. */
  float cspeed;
  /** The speed of the filters in bytes per second. */
  float filter_speed;
  /** Bit 0 of the first byte is set if the stream was incompressible. */
  uint8_t flags[4];
} blosc2_instr;

/**
 * The encoder of a codec. Returns the number of bytes written to `output`, 0 if they do not fit,
 * or a negative error code.
 *
 * `cparams` are those of the context and valid during the call; `chunk` is the buffer being
 * compressed. Several threads may call it concurrently.
 */
typedef int (*blosc2_codec_encoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       struct blosc2_cparams *cparams,
                                       const void *chunk);

/**
 * The decoder of a codec. Returns the number of bytes written to `output`, which must be
 * `output_len`, or a negative error code.
 *
 * `dparams` are those of the context and valid during the call; `chunk` is the chunk being
 * decompressed. Several threads may call it concurrently.
 */
typedef int (*blosc2_codec_decoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       struct blosc2_dparams *dparams,
                                       const void *chunk);

/** A user-registered codec. */
typedef struct blosc2_codec {
  /** The code, at least BLOSC2_USER_REGISTERED_CODECS_START. */
  uint8_t compcode;
  /** The name; it must outlive the library. */
  char *compname;
  /** The code of its library. */
  uint8_t complib;
  /** The version of its format, which is stored in chunks. */
  uint8_t version;
  /**
   * The encoder. If encoder and decoder are NULL, they are loaded from the plugin library of
   * this name.
   */
  blosc2_codec_encoder_cb encoder;
  /** The decoder. */
  blosc2_codec_decoder_cb decoder;
} blosc2_codec;

/**
 * The forward function of a filter. Returns 0 on success.
 *
 * `input` and `output` have `size` bytes and do not overlap. Several threads may call it
 * concurrently.
 */
typedef int (*blosc2_filter_forward_cb)(const uint8_t *input,
                                        uint8_t *output,
                                        int32_t size,
                                        uint8_t meta,
                                        struct blosc2_cparams *cparams,
                                        uint8_t id);

/**
 * The backward function of a filter. Returns 0 on success.
 *
 * `input` and `output` have `size` bytes and do not overlap. Several threads may call it
 * concurrently.
 */
typedef int (*blosc2_filter_backward_cb)(const uint8_t *input,
                                         uint8_t *output,
                                         int32_t size,
                                         uint8_t meta,
                                         struct blosc2_dparams *dparams,
                                         uint8_t id);

/** A user-registered filter. */
typedef struct blosc2_filter {
  /** The id, at least BLOSC2_USER_REGISTERED_FILTERS_START. */
  uint8_t id;
  /** The name; it must outlive the library. */
  char *name;
  /** Its version, for people. */
  uint8_t version;
  /**
   * Called by compression. If forward and backward are NULL, they are loaded from the plugin
   * library of this name.
   */
  blosc2_filter_forward_cb forward;
  /** Called by decompression. */
  blosc2_filter_backward_cb backward;
} blosc2_filter;

/** A user-registered tuner. Its functions return 0, or a negative value on error. */
typedef struct blosc2_tuner {
  /** Called when a compression context is created with this tuner. */
  int (*init)(void *config, struct blosc2_context_s *cctx, struct blosc2_context_s *dctx);
  /** Called before each compression. */
  int (*next_blocksize)(struct blosc2_context_s *context);
  /** For tuners with state in the context, which requires the private layout. */
  int (*next_cparams)(struct blosc2_context_s *context);
  /** For tuners with state in the context, which requires the private layout. */
  int (*update)(struct blosc2_context_s *context, double ctime);
  /** For tuners with state in the context, which requires the private layout. */
  int (*free)(struct blosc2_context_s *context);
  /** The id, at least BLOSC2_USER_REGISTERED_TUNER_START. */
  int id;
  /** Its name; must outlive the library. */
  char *name;
} blosc2_tuner;

/**
 * Calls `dojob(jobdata + i * jobdata_elsize)` once for each i below `numjobs`, in any threads and
 * order, and returns after all calls have returned.
 */
typedef void (*blosc_threads_callback)(void *callback_data,
                                       void (*dojob)(void *job),
                                       int numjobs,
                                       size_t jobdata_elsize,
                                       void *jobdata);

/** Opens a file. Returns a stream, or NULL on error. */
typedef void *(*blosc2_open_cb)(const char *urlpath, const char *mode, void *params);

/** Closes a stream. Returns 0 on success. */
typedef int (*blosc2_close_cb)(void *stream);

/** Returns the size of a stream in bytes, or a negative value on error. */
typedef int64_t (*blosc2_size_cb)(void *stream);

/** Writes `nitems` items of `size` bytes at an offset. Returns the number of items written. */
typedef int64_t (*blosc2_write_cb)(const void *ptr,
                                   int64_t size,
                                   int64_t nitems,
                                   int64_t position,
                                   void *stream);

/**
 * Reads `nitems` items of `size` bytes at an offset. Returns the number of items read.
 *
 * With `is_allocation_necessary`, `*ptr` is the buffer to fill; otherwise the backend stores a
 * pointer to memory that it owns there.
 */
typedef int64_t (*blosc2_read_cb)(void **ptr,
                                  int64_t size,
                                  int64_t nitems,
                                  int64_t position,
                                  void *stream);

/** Sets the size of a stream in bytes. Returns 0 on success. */
typedef int (*blosc2_truncate_cb)(void *stream, int64_t size);

/** Frees the resources of the parameters of a backend. Returns a negative value on error. */
typedef int (*blosc2_destroy_cb)(void *params);

/** An I/O backend. */
typedef struct blosc2_io_cb {
  /** The id, at least BLOSC2_IO_REGISTERED. */
  uint8_t id;
  /** The name; it must outlive the library. */
  char *name;
  /**
   * Whether `read` fills a buffer of the library instead of returning a pointer to its own
   * memory.
   */
  bool is_allocation_necessary;
  /** Opens a file. */
  blosc2_open_cb open;
  /** Closes a stream. */
  blosc2_close_cb close;
  /** Returns the size of a stream. */
  blosc2_size_cb size;
  /** Writes to a stream. */
  blosc2_write_cb write;
  /** Reads from a stream. */
  blosc2_read_cb read;
  /** Sets the size of a stream. */
  blosc2_truncate_cb truncate;
  /** Frees the resources of the parameters. */
  blosc2_destroy_cb destroy;
} blosc2_io_cb;

/** The I/O backend of a storage. */
typedef struct blosc2_io {
  /** The id of the backend. */
  uint8_t id;
  /** The name of the backend. */
  const char *name;
  /** The parameters of the backend, or NULL. */
  void *params;
} blosc2_io;

/** The storage of a super-chunk. Start from BLOSC2_STORAGE_DEFAULTS. */
typedef struct blosc2_storage {
  /** Whether the chunks are stored in one frame instead of separately. */
  bool contiguous;
  /** The path of the file or directory; NULL for memory. */
  char *urlpath;
  /** The compression parameters; NULL for the defaults. */
  struct blosc2_cparams *cparams;
  /** The decompression parameters; NULL for the defaults. */
  struct blosc2_dparams *dparams;
  /** The I/O backend; NULL for the file system. */
  struct blosc2_io *io;
} blosc2_storage;

/** A metalayer: named content. */
typedef struct blosc2_metalayer {
  /** The name. */
  char *name;
  /** The content. */
  uint8_t *content;
  /** The size of the content in bytes. */
  int32_t content_len;
} blosc2_metalayer;

/**
 * A super-chunk: a sequence of chunks with parameters and metadata.
 *
 * Several threads may read a super-chunk concurrently; calls that change it wait for their turn. A
 * call that would have to wait for a prefilter, postfilter or tuner of the program returns
 * BLOSC2_ERROR_INVALID_PARAM. These functions must not run concurrently with other calls:
 * blosc2_schunk_free(); the inline functions blosc2_meta_get() and blosc2_meta_exists(), if the
 * other call changes metalayers; the functions of contexts with `cctx` or `dctx`. Fields may only
 * be read and replaced between calls.
 */
typedef struct blosc2_schunk {
  /** The version of the format. */
  uint8_t version;
  /** The code of the codec. */
  uint8_t compcode;
  /** The metadata byte of the codec. */
  uint8_t compcode_meta;
  /** The compression level. */
  uint8_t clevel;
  /** The split mode. */
  uint8_t splitmode;
  /** The size of an item in bytes. */
  int32_t typesize;
  /** The size of a block in bytes; 0 for an automatic one. */
  int32_t blocksize;
  /** The size of the data of a chunk in bytes; 0 if the chunks differ. */
  int32_t chunksize;
  /** The flags of the chunks. */
  uint8_t flags2;
  /** Whether the chunks have a dictionary. */
  uint8_t use_dict;
  /** The ids of the filters. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** The metadata byte of each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** The number of chunks. */
  int64_t nchunks;
  /** The index of the chunk in use. */
  int64_t current_nchunk;
  /** The size of the data in bytes. */
  int64_t nbytes;
  /** The size of the chunks in bytes. */
  int64_t cbytes;
  /** The chunks, if they are in memory and separate. */
  uint8_t **data;
  /** The size of the array `data` in bytes. */
  size_t data_len;
  /** The storage. */
  struct blosc2_storage *storage;
  /** The frame, or NULL. */
  struct blosc2_frame_s *frame;
  /** The context for compression. */
  struct blosc2_context_s *cctx;
  /** The context for decompression. */
  struct blosc2_context_s *dctx;
  /** The fixed metalayers. */
  struct blosc2_metalayer *metalayers[BLOSC2_MAX_METALAYERS];
  /** The number of fixed metalayers. */
  uint16_t nmetalayers;
  /** The variable-length metalayers. */
  struct blosc2_metalayer *vlmetalayers[BLOSC2_MAX_VLMETALAYERS];
  /** The number of variable-length metalayers. */
  int16_t nvlmetalayers;
  /** The parameters of the tuner. */
  void *tuner_params;
  /** The id of the tuner. */
  int tuner_id;
  /** The number of dimensions of the array, or 0. */
  int8_t ndim;
  /** The shape of a block of the array. */
  int64_t *blockshape;
  /** Whether another super-chunk owns the chunks. */
  bool view;
  /** The number of changes of the metadata. */
  int64_t change_tick;
} blosc2_schunk;

/** The default I/O backend: the file system. */
static const blosc2_io BLOSC2_IO_DEFAULTS = {BLOSC2_IO_FILESYSTEM, "filesystem", NULL};

/** The default compression parameters: BloscLZ at level 5 after a byte shuffle of
    8-byte items. */
static const blosc2_cparams BLOSC2_CPARAMS_DEFAULTS = {
    BLOSC_BLOSCLZ, 0, 5, 0, 8, 1, 0, BLOSC_FORWARD_COMPAT_SPLIT, NULL,
    {0, 0, 0, 0, 0, BLOSC_SHUFFLE}, {0, 0, 0, 0, 0, 0},
    NULL, NULL, NULL, BLOSC_STUNE, false, NULL, {NULL, NULL, NULL, NULL, NULL, NULL}};

/** The default decompression parameters: one thread. */
static const blosc2_dparams BLOSC2_DPARAMS_DEFAULTS = {1, NULL, NULL, NULL, 8};

/** The default storage: separate chunks in memory with default parameters. */
static const blosc2_storage BLOSC2_STORAGE_DEFAULTS = {false, NULL, NULL, NULL, NULL};

/**
 * Returns the implemented version of C-Blosc2, BLOSC2_VERSION_STRING. The library owns the text.
 */
BLOSC_EXPORT const char *blosc2_get_version_string(void);

/**
 * Returns the text of an error code, or "Unknown error" for other values. The library owns the
 * text.
 *
 * @param error_code the code, a BLOSC2_ERROR_ constant.
 */
BLOSC_EXPORT const char *blosc2_error_string(int error_code);

/**
 * Stores the time of a monotonic clock.
 *
 * @param timestamp the destination.
 */
BLOSC_EXPORT void blosc_set_timestamp(blosc_timestamp_t *timestamp);

/**
 * Returns the time between two timestamps in nanoseconds.
 *
 * @param start_time the first timestamp.
 * @param end_time the second timestamp.
 */
BLOSC_EXPORT double blosc_elapsed_nsecs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/**
 * Returns the time between two timestamps in seconds.
 *
 * @param start_time the first timestamp.
 * @param end_time the second timestamp.
 */
BLOSC_EXPORT double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/**
 * Initialises the library. Calling it is optional, but after blosc2_destroy() it removes the
 * codecs, filters and tuners that were registered.
 */
BLOSC_EXPORT void blosc2_init(void);

/**
 * Stops the threads of the library and frees its working memory. Settings are kept, and contexts
 * remain usable.
 */
BLOSC_EXPORT void blosc2_destroy(void);

/**
 * Frees the threads and working memory of the functions without context until they are needed
 * again.
 *
 * @return 0, or -1 if the library is not initialised.
 */
BLOSC_EXPORT int blosc2_free_resources(void);

/**
 * Compresses a buffer into a chunk, with the global settings.
 *
 * Environment variables override the arguments and the settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
 * BLOSC_DELTA, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE.
 * With BLOSC_NOLOCK, calls in different threads do not wait for one another. With
 * BLOSC_BLOSC1_COMPAT, the chunk has the header of Blosc 1.x.
 *
 * @param clevel the compression level: 0 (no compression) to 9 (smallest).
 * @param doshuffle BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
 * @param typesize the size of an item in bytes.
 * @param src the data.
 * @param srcsize the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes; `srcsize` + BLOSC2_MAX_OVERHEAD is always
 *   sufficient.
 *
 * @return The size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
 * code.
 */
BLOSC_EXPORT
int blosc2_compress(int clevel,
                    int doshuffle,
                    int32_t typesize,
                    const void *src,
                    int32_t srcsize,
                    void *dest,
                    int32_t destsize);

/**
 * Compresses a buffer into a chunk, as blosc2_compress(), with the signature of Blosc 1.x.
 *
 * @param clevel the compression level: 0 (no compression) to 9 (smallest).
 * @param doshuffle BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
 * @param typesize the size of an item in bytes.
 * @param nbytes the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
 * @param src the data.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes; `nbytes` + BLOSC2_MAX_OVERHEAD is always
 *   sufficient.
 *
 * @return The size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
 * code.
 */
BLOSC_EXPORT
int blosc1_compress(int clevel,
                    int doshuffle,
                    size_t typesize,
                    size_t nbytes,
                    const void *src,
                    void *dest,
                    size_t destsize);

/**
 * Decompresses a chunk. The environment variables BLOSC_NTHREADS and BLOSC_NOLOCK apply as in
 * blosc2_compress().
 *
 * @param src the chunk.
 * @param srcsize the size of the buffer with the chunk in bytes, at least the size of the chunk.
 * @param dest the destination, owned by the caller; may be NULL if the chunk has no data.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT int blosc2_decompress(const void *src, int32_t srcsize, void *dest, int32_t destsize);

/**
 * Decompresses a chunk, as blosc2_decompress(), with the signature of Blosc 1.x. The size in the
 * header of the chunk is trusted.
 *
 * @param src the chunk.
 * @param dest the destination, owned by the caller; may be NULL if the chunk has no data.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT int blosc1_decompress(const void *src, void *dest, size_t destsize);

/**
 * Decompresses a range of items of a chunk.
 *
 * @param src the chunk.
 * @param srcsize the size of the buffer with the chunk in bytes, at least the size of the chunk.
 * @param start the index of the first item.
 * @param nitems the number of items.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The number of bytes written, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_getitem(const void *src,
                   int32_t srcsize,
                   int start,
                   int nitems,
                   void *dest,
                   int32_t destsize);

/**
 * Decompresses a range of items of a chunk, as blosc2_getitem(), with the signature of Blosc 1.x.
 * The size in the header of the chunk is trusted.
 *
 * @param src the chunk.
 * @param start the index of the first item.
 * @param nitems the number of items.
 * @param dest the destination, `nitems` * typesize bytes, owned by the caller.
 *
 * @return The number of bytes written, or a negative error code.
 */
BLOSC_EXPORT int blosc1_getitem(const void *src, int start, int nitems, void *dest);

/** Returns the number of threads of the functions without context. */
BLOSC_EXPORT int16_t blosc2_get_nthreads(void);

/**
 * Sets the number of threads of the functions without context.
 *
 * @param nthreads the number of threads, at least 1.
 *
 * @return The previous number, or a negative error code.
 */
BLOSC_EXPORT int16_t blosc2_set_nthreads(int16_t nthreads);

/**
 * Returns the name of the codec of the functions without context, or NULL after an unknown one was
 * set. The library owns the name.
 */
BLOSC_EXPORT const char *blosc1_get_compressor(void);

/**
 * Sets the codec of the functions without context.
 *
 * @param compname the name of the codec.
 *
 * @return The code of the codec, or -1 for an unknown one; compression then fails until another
 * one is set.
 */
BLOSC_EXPORT int blosc1_set_compressor(const char *compname);

/** Returns the block size of the functions without context in bytes, or 0 if it is automatic. */
BLOSC_EXPORT int blosc1_get_blocksize(void);

/**
 * Sets the block size of the functions without context.
 *
 * @param blocksize the block size in bytes, or 0 for an automatic one.
 */
BLOSC_EXPORT void blosc1_set_blocksize(size_t blocksize);

/**
 * Sets the mode in which the functions without context split blocks into streams.
 *
 * @param splitmode BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_AUTO_SPLIT or
 *   BLOSC_FORWARD_COMPAT_SPLIT.
 */
BLOSC_EXPORT void blosc1_set_splitmode(int splitmode);

/**
 * Enables or disables the delta filter of the functions without context.
 *
 * @param dodelta 0 to disable it; otherwise it is enabled.
 */
BLOSC_EXPORT void blosc2_set_delta(int dodelta);

/**
 * Stores the sizes in the header of a chunk. They are 0 on error.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param nbytes receives the size of the data in bytes; may be NULL.
 * @param cbytes receives the size of the chunk in bytes; may be NULL.
 * @param blocksize receives the size of a block in bytes; may be NULL.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_cbuffer_sizes(const void *cbuffer,
                         int32_t *nbytes,
                         int32_t *cbytes,
                         int32_t *blocksize);

/**
 * Stores the sizes in the header of a chunk. They are 0 for an invalid chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param nbytes receives the size of the data in bytes; may be NULL.
 * @param cbytes receives the size of the chunk in bytes; may be NULL.
 * @param blocksize receives the size of a block in bytes; may be NULL.
 */
BLOSC_EXPORT
void blosc1_cbuffer_sizes(const void *cbuffer,
                          size_t *nbytes,
                          size_t *cbytes,
                          size_t *blocksize);

/**
 * Validates the header of a chunk, including its size. The compressed data is not checked.
 *
 * @param cbuffer the chunk.
 * @param cbytes the size of the chunk in bytes.
 * @param nbytes receives the size of the data in bytes, or 0 on error; may be NULL.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc1_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/**
 * Stores the typesize and the flags in the header of a chunk. They are 0 for an invalid chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param typesize receives the size of an item in bytes; may be NULL.
 * @param flags receives the flags; may be NULL.
 */
BLOSC_EXPORT void blosc1_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/**
 * Stores the versions in the header of a chunk. They are 0 for an invalid chunk.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 * @param version receives the version of the chunk format; may be NULL.
 * @param versionlz receives the version of the codec's format; may be NULL.
 */
BLOSC_EXPORT void blosc2_cbuffer_versions(const void *cbuffer, int *version, int *versionlz);

/**
 * Returns the name of the library that compressed a chunk according to its header, or NULL for an
 * invalid chunk or a registered codec. The library owns the name.
 *
 * @param cbuffer the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
 */
BLOSC_EXPORT const char *blosc2_cbuffer_complib(const void *cbuffer);

/**
 * Makes a chunk of zeros. It has BLOSC_EXTENDED_HEADER_LENGTH bytes.
 *
 * @param cparams the compression parameters.
 * @param nbytes the size of the data in bytes, a multiple of the typesize.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_chunk_zeros(blosc2_cparams cparams,
                       int32_t nbytes,
                       void *dest,
                       int32_t destsize);

/**
 * Makes a chunk of NaNs of 4 or 8 bytes. It has BLOSC_EXTENDED_HEADER_LENGTH bytes.
 *
 * @param cparams the compression parameters; the typesize is 4 or 8.
 * @param nbytes the size of the data in bytes, a multiple of the typesize.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_chunk_nans(blosc2_cparams cparams,
                      int32_t nbytes,
                      void *dest,
                      int32_t destsize);

/**
 * Makes a chunk of uninitialised data. It has BLOSC_EXTENDED_HEADER_LENGTH bytes. Decompressing it
 * does not write to the destination.
 *
 * @param cparams the compression parameters.
 * @param nbytes the size of the data in bytes, a multiple of the typesize.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_chunk_uninit(blosc2_cparams cparams,
                        int32_t nbytes,
                        void *dest,
                        int32_t destsize);

/**
 * Makes a chunk that repeats one item. It has BLOSC_EXTENDED_HEADER_LENGTH + typesize bytes.
 *
 * @param cparams the compression parameters.
 * @param nbytes the size of the data in bytes, a multiple of the typesize.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 * @param repeatval the item, typesize bytes.
 *
 * @return The size of the chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_chunk_repeatval(blosc2_cparams cparams,
                           int32_t nbytes,
                           void *dest,
                           int32_t destsize,
                           const void *repeatval);

/** Returns the names of the built-in codecs, separated by commas. The library owns the text. */
BLOSC_EXPORT const char *blosc2_list_compressors(void);

/**
 * Returns the code of a built-in or registered codec, or -1 for an unknown one.
 *
 * @param compname the name of the codec.
 */
BLOSC_EXPORT int blosc2_compname_to_compcode(const char *compname);

/**
 * Stores the name of a built-in or registered codec. The library owns the name.
 *
 * @param compcode the code of the codec.
 * @param compname receives the name, or NULL for an unknown codec; may be NULL.
 *
 * @return The code, or -1 for an unknown codec.
 */
BLOSC_EXPORT int blosc2_compcode_to_compname(int compcode, const char **compname);

/**
 * Stores the name and the version of the library of a codec.
 *
 * @param compname the name of the codec.
 * @param complib receives the name, which the caller releases with free(), or NULL for an unknown
 *   codec; may be NULL.
 * @param version receives the version, which the caller releases with free(), or NULL for an unknown
 *   codec; may be NULL.
 *
 * @return The code of the library, or -1 for an unknown codec.
 */
BLOSC_EXPORT int blosc2_get_complib_info(const char *compname, char **complib, char **version);

/**
 * Registers a codec. Registering the same code and name again has no effect.
 *
 * @param codec the codec. The struct is copied; the name is not and must outlive the library.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_CODEC_PARAM if the code is below
 * BLOSC2_USER_REGISTERED_CODECS_START or registered with another name.
 */
BLOSC_EXPORT int blosc2_register_codec(blosc2_codec *codec);

/**
 * Registers a filter. Registering the same id and name again has no effect.
 *
 * @param filter the filter. The struct is copied; the name is not and must outlive the library.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_FAILURE if the id is below
 * BLOSC2_USER_REGISTERED_FILTERS_START or registered with another name.
 */
BLOSC_EXPORT int blosc2_register_filter(blosc2_filter *filter);

/**
 * Shuffles bytes: the first bytes of all items, then their second bytes, and so on.
 *
 * @param typesize the size of an item in bytes: 1 to 256.
 * @param blocksize the size of the data in bytes.
 * @param src the data; may overlap `dest`.
 * @param dest the destination, `blocksize` bytes, owned by the caller.
 *
 * @return `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
 */
BLOSC_EXPORT
int32_t blosc2_shuffle(int32_t typesize,
                       int32_t blocksize,
                       const void *src,
                       void *dest);

/**
 * Reverses blosc2_shuffle().
 *
 * @param typesize the size of an item in bytes: 1 to 256.
 * @param blocksize the size of the data in bytes.
 * @param src the data; may overlap `dest`.
 * @param dest the destination, `blocksize` bytes, owned by the caller.
 *
 * @return `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
 */
BLOSC_EXPORT
int32_t blosc2_unshuffle(int32_t typesize,
                         int32_t blocksize,
                         const void *src,
                         void *dest);

/**
 * Shuffles bits: the first bits of all items, then their second bits, and so on.
 *
 * @param typesize the size of an item in bytes: 1 to 256.
 * @param blocksize the size of the data in bytes.
 * @param src the data; may overlap `dest`.
 * @param dest the destination, `blocksize` bytes, owned by the caller.
 *
 * @return `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
 */
BLOSC_EXPORT
int32_t blosc2_bitshuffle(int32_t typesize,
                          int32_t blocksize,
                          const void *src,
                          void *dest);

/**
 * Reverses blosc2_bitshuffle().
 *
 * @param typesize the size of an item in bytes, at least 1; unlike in blosc2_bitshuffle(), it may
 *   exceed 256.
 * @param blocksize the size of the data in bytes.
 * @param src the data; may overlap `dest`.
 * @param dest the destination, `blocksize` bytes, owned by the caller.
 *
 * @return `blocksize`, or BLOSC2_ERROR_INVALID_PARAM for an invalid size.
 */
BLOSC_EXPORT
int32_t blosc2_bitunshuffle(int32_t typesize,
                            int32_t blocksize,
                            const void *src,
                            void *dest);

/**
 * Registers a tuner for the contexts created afterwards. Registering the same id and name again
 * has no effect.
 *
 * @param tuner the tuner. The struct is copied; the name is not and must outlive the library.
 *
 * @return 0, or a negative error code: BLOSC2_ERROR_FAILURE if the id is below
 * BLOSC2_USER_REGISTERED_TUNER_START or registered with another name.
 */
BLOSC_EXPORT int blosc2_register_tuner(blosc2_tuner *tuner);

/**
 * Sets a callback that runs the parallel jobs of all contexts instead of the library's threads. It
 * must not be called while a context is in use.
 *
 * @param callback the callback, or NULL to use the library's threads again.
 * @param callback_data the first argument of the callback, owned by the caller.
 */
BLOSC_EXPORT void blosc2_set_threads_callback(blosc_threads_callback callback, void *callback_data);

/** Returns BLOSC2_CPARAMS_DEFAULTS: BloscLZ at level 5 after a byte shuffle of 8-byte items. */
BLOSC_EXPORT blosc2_cparams blosc2_get_blosc2_cparams_defaults(void);

/** Returns BLOSC2_DPARAMS_DEFAULTS: one thread. */
BLOSC_EXPORT blosc2_dparams blosc2_get_blosc2_dparams_defaults(void);

/** Returns BLOSC2_IO_DEFAULTS: the file system. */
BLOSC_EXPORT blosc2_io blosc2_get_blosc2_io_defaults(void);

/** Returns BLOSC2_STORAGE_DEFAULTS: separate chunks in memory with default parameters. */
BLOSC_EXPORT blosc2_storage blosc2_get_blosc2_storage_defaults(void);

/** Returns BLOSC2_STDIO_MMAP_DEFAULTS: read-only, with an initial mapping of 1 GiB. */
BLOSC_EXPORT blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults(void);

/**
 * Creates a context for compression.
 *
 * The parameters are copied, including the struct at `preparams`. Environment variables override
 * them: BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_DELTA,
 * BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE.
 *
 * @param cparams the compression parameters. An unknown filter or tuner is an error here; most other
 *   invalid values make the compression fail.
 *
 * @return The context, which the caller frees with blosc2_free_ctx(), or NULL on error.
 */
BLOSC_EXPORT struct blosc2_context_s *blosc2_create_cctx(blosc2_cparams cparams);

/**
 * Creates a context for decompression.
 *
 * The parameters are copied, including the struct at `postparams`. The environment variable
 * BLOSC_NTHREADS overrides them.
 *
 * @param dparams the decompression parameters.
 *
 * @return The context, which the caller frees with blosc2_free_ctx(), or NULL on error.
 */
BLOSC_EXPORT struct blosc2_context_s *blosc2_create_dctx(blosc2_dparams dparams);

/**
 * Frees a context and everything it owns.
 *
 * @param context the context, or NULL to do nothing.
 */
BLOSC_EXPORT void blosc2_free_ctx(struct blosc2_context_s *context);

/**
 * Stores the parameters of a context for compression. The block size is that of the last
 * compression.
 *
 * @param ctx the context.
 * @param cparams the destination. Its `tuner_params` and `filter_params` are not changed.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_ctx_get_cparams(struct blosc2_context_s *ctx, blosc2_cparams *cparams);

/**
 * Stores the parameters of a context for decompression.
 *
 * @param ctx the context.
 * @param dparams the destination.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_ctx_get_dparams(struct blosc2_context_s *ctx, blosc2_dparams *dparams);

/**
 * Sets blocks to skip in the next decompression with a context. Their bytes in the destination are
 * not changed. Only the next decompression uses the mask.
 *
 * @param ctx the context.
 * @param maskout one entry per block, true to skip it; copied.
 * @param nblocks the number of blocks of the chunk.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_set_maskout(struct blosc2_context_s *ctx, bool *maskout, int nblocks);

/**
 * Compresses a buffer into a chunk.
 *
 * @param context the context.
 * @param src the data; may be NULL if the context has a prefilter.
 * @param srcsize the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes; `srcsize` + BLOSC2_MAX_OVERHEAD is always
 *   sufficient.
 *
 * @return The size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
 * code.
 */
BLOSC_EXPORT
int blosc2_compress_ctx(struct blosc2_context_s *context,
                        const void *src,
                        int32_t srcsize,
                        void *dest,
                        int32_t destsize);

/**
 * Decompresses a chunk.
 *
 * @param context the context.
 * @param src the chunk.
 * @param srcsize the size of the buffer with the chunk in bytes, at least the size of the chunk.
 * @param dest the destination, owned by the caller; may be NULL if the chunk has no data.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_decompress_ctx(struct blosc2_context_s *context,
                          const void *src,
                          int32_t srcsize,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses a range of items of a chunk.
 *
 * @param context a context for compression or decompression.
 * @param src the chunk.
 * @param srcsize the size of the buffer with the chunk in bytes, at least the size of the chunk.
 * @param start the index of the first item.
 * @param nitems the number of items.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The number of bytes written, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_getitem_ctx(struct blosc2_context_s *context,
                       const void *src,
                       int32_t srcsize,
                       int start,
                       int nitems,
                       void *dest,
                       int32_t destsize);

/**
 * Decompresses a range of bytes of a chunk.
 *
 * @param context a context for compression or decompression.
 * @param src the chunk.
 * @param srcsize the size of the buffer with the chunk in bytes, at least the size of the chunk.
 * @param start the offset of the first byte, a multiple of the typesize.
 * @param nbytes the number of bytes, a multiple of the typesize.
 * @param dest the destination, owned by the caller.
 * @param destsize the size of the destination in bytes.
 *
 * @return The number of bytes written, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_getitem_bytes_ctx(struct blosc2_context_s *context,
                             const void *src,
                             int32_t srcsize,
                             int32_t start,
                             int32_t nbytes,
                             void *dest,
                             int32_t destsize);

/**
 * Compresses buffers into one chunk, each into a block of its own.
 *
 * @param context the compression context.
 * @param srcs the buffers, owned by the caller; none may be NULL or empty.
 * @param srcsizes the sizes of the buffers in bytes.
 * @param nblocks the number of buffers.
 * @param dest the destination.
 * @param destsize the size of the destination in bytes.
 *
 * @return The size of the chunk in bytes, 0 if it exceeds `destsize`, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vlcompress_ctx(struct blosc2_context_s *context,
                          const void *const *srcs,
                          const int32_t *srcsizes,
                          int32_t nblocks,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses all blocks of a chunk with variable-length blocks, each into a new buffer.
 *
 * @param context the decompression context.
 * @param src the chunk.
 * @param srcsize the size of the chunk in bytes.
 * @param dests an array of `maxblocks` pointers; receives the buffers, which the caller must free().
 *   The remaining entries are NULL, and all are NULL on error.
 * @param destsizes an array of `maxblocks` numbers; receives the sizes of the buffers in bytes.
 * @param maxblocks the length of both arrays, at least the number of blocks.
 *
 * @return The number of blocks, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vldecompress_ctx(struct blosc2_context_s *context,
                            const void *src,
                            int32_t srcsize,
                            void **dests,
                            int32_t *destsizes,
                            int32_t maxblocks);

/**
 * Decompresses one block of a chunk with variable-length blocks into a new buffer.
 *
 * @param context the decompression context.
 * @param src the chunk.
 * @param srcsize the size of the chunk in bytes.
 * @param nblock the index of the block.
 * @param dest receives the buffer, which the caller must free(); NULL on error.
 * @param destsize receives the size of the data in bytes, 0 on error.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vldecompress_block_ctx(struct blosc2_context_s *context,
                                  const void *src,
                                  int32_t srcsize,
                                  int32_t nblock,
                                  uint8_t **dest,
                                  int32_t *destsize);

/**
 * Returns the number of blocks of a chunk with variable-length blocks.
 *
 * @param src the chunk.
 * @param srcsize the size of the chunk in bytes.
 * @param nblocks receives the number of blocks, 0 on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_vlchunk_get_nblocks(const void *src, int32_t srcsize, int32_t *nblocks);

/**
 * Registers an I/O backend for the lifetime of the process.
 *
 * Registering the same id and name again has no effect.
 *
 * @param io the backend. The struct is copied; its name belongs to the caller and must outlive the
 *   process. Its id is at least BLOSC2_IO_REGISTERED.
 *
 * @return 0, or BLOSC2_ERROR_PLUGIN_IO if the id is too small or registered with another name.
 */
BLOSC_EXPORT int blosc2_register_io_cb(const blosc2_io_cb *io);

/**
 * Returns the I/O backend with an id.
 *
 * @param id the id of the backend.
 *
 * @return The backend, which the library owns for the lifetime of the process, or NULL if the id
 * is not registered.
 */
BLOSC_EXPORT blosc2_io_cb *blosc2_get_io_cb(uint8_t id);

/**
 * Removes a directory and the files in it. Subdirectories are not removed.
 *
 * @param path the path of the directory.
 *
 * @return 0; BLOSC2_ERROR_INVALID_PARAM for NULL or an empty path, BLOSC2_ERROR_NOT_FOUND if the
 * path is not a directory, or BLOSC2_ERROR_FAILURE if an entry cannot be removed.
 */
BLOSC_EXPORT int blosc2_remove_dir(const char *path);

/**
 * Removes a super-chunk from disk: a file with its lock and journal, or a directory.
 *
 * @param path the path of the super-chunk. NULL or a missing path is not an error.
 *
 * @return 0, BLOSC2_ERROR_FILE_REMOVE if the file cannot be removed, or an error of
 * blosc2_remove_dir().
 */
BLOSC_EXPORT int blosc2_remove_urlpath(const char *path);

/**
 * Renames a super-chunk on disk, a file or a directory.
 *
 * An interrupted change of the super-chunk is rolled back first. An existing file with the new
 * name is replaced.
 *
 * @param old_urlpath the current path. With NULL, the call has no effect.
 * @param new_path the new path. With NULL, the call has no effect.
 *
 * @return 0, or BLOSC2_ERROR_FAILURE.
 */
BLOSC_EXPORT int blosc2_rename_urlpath(char *old_urlpath, char *new_path);

/**
 * Creates an empty super-chunk in memory or at a path.
 *
 * @param storage the storage, which is copied. NULL, or a NULL member, selects the defaults. With a
 *   `urlpath`, the path must not exist.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_new(blosc2_storage *storage);

/**
 * Copies a super-chunk to another storage, with its metalayers.
 *
 * The chunks are recompressed if the compression parameters of the storage differ from those of
 * the super-chunk.
 *
 * @param schunk the super-chunk.
 * @param storage the storage of the copy. NULL compression parameters select those of the
 *   super-chunk.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_copy(blosc2_schunk *schunk, blosc2_storage *storage);

/**
 * Frees a super-chunk. Files stay.
 *
 * The views of the super-chunk must be freed before.
 *
 * @param schunk the super-chunk; NULL is allowed.
 *
 * @return 0, or 1 if the I/O backend could not free its parameters.
 */
BLOSC_EXPORT int blosc2_schunk_free(blosc2_schunk *schunk);

/**
 * Opens the super-chunk in a file or directory.
 *
 * @param urlpath the path of the file or directory.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open(const char *urlpath);

/**
 * Opens the super-chunk whose frame starts at an offset in a file.
 *
 * @param urlpath the path of the file.
 * @param offset the offset of the frame in bytes.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_offset(const char *urlpath, int64_t offset);

/**
 * Opens a super-chunk through an I/O backend.
 *
 * @param urlpath the path of the file or directory.
 * @param udio the backend, or NULL for the file system. The struct is copied; its `params` must
 *   outlive the super-chunk. The backend destroys them with the super-chunk, and also if opening
 *   fails.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_udio(const char *urlpath, const blosc2_io *udio);

/**
 * Opens the super-chunk whose frame starts at an offset in a file, through an I/O backend.
 *
 * @param urlpath the path of the file.
 * @param offset the offset of the frame in bytes.
 * @param udio the backend, as for blosc2_schunk_open_udio().
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT
blosc2_schunk *blosc2_schunk_open_offset_udio(const char *urlpath,
                                              int64_t offset,
                                              const blosc2_io *udio);

/**
 * Reloads a super-chunk if another handle or process has changed its file.
 *
 * @param schunk the super-chunk.
 *
 * @return 1 if the file had changed, 0 if not, or a negative error code.
 */
BLOSC_EXPORT int blosc2_schunk_refresh(blosc2_schunk *schunk);

/**
 * Locks the file of a super-chunk against other handles and processes.
 *
 * Calls may be nested; each needs a blosc2_schunk_unlock(). Without locking enabled, or without a
 * file, the call has no effect.
 *
 * @param schunk the super-chunk.
 *
 * @return 0, or BLOSC2_ERROR_LOCK.
 */
BLOSC_EXPORT int blosc2_schunk_lock(blosc2_schunk *schunk);

/**
 * Releases a lock of blosc2_schunk_lock().
 *
 * @param schunk the super-chunk.
 *
 * @return 0.
 */
BLOSC_EXPORT int blosc2_schunk_unlock(blosc2_schunk *schunk);

/**
 * Appends a compressed chunk to a super-chunk.
 *
 * A chunk whose memory the super-chunk lent is copied even without `copy`.
 *
 * @param schunk the super-chunk.
 * @param chunk the chunk, of the length in its header. Without `copy` it must be a block of
 *   `malloc()`, which the super-chunk owns if the call succeeds; otherwise the caller still owns
 *   it.
 * @param copy whether to copy the chunk.
 *
 * @return The new number of chunks, or a negative error code.
 */
BLOSC_EXPORT int64_t blosc2_schunk_append_chunk(blosc2_schunk *schunk, uint8_t *chunk, bool copy);

/**
 * Compresses a buffer and appends it as a chunk.
 *
 * @param schunk the super-chunk.
 * @param src the data, owned by the caller.
 * @param nbytes the size of the data in bytes.
 *
 * @return The new number of chunks, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_append_buffer(blosc2_schunk *schunk,
                                    const void *src,
                                    int32_t nbytes);

/**
 * Inserts a compressed chunk before the chunk with a given index.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the new chunk, from 0 to the number of chunks.
 * @param chunk the chunk, with the ownership rules of blosc2_schunk_append_chunk().
 * @param copy whether to copy the chunk.
 *
 * @return The new number of chunks, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_insert_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Replaces a chunk by another compressed chunk.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk to replace.
 * @param chunk the new chunk, with the ownership rules of blosc2_schunk_append_chunk().
 * @param copy whether to copy the chunk.
 *
 * @return The number of chunks, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_update_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   uint8_t *chunk,
                                   bool copy);

/**
 * Removes a chunk.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk.
 *
 * @return The new number of chunks, or a negative error code.
 */
BLOSC_EXPORT int64_t blosc2_schunk_delete_chunk(blosc2_schunk *schunk, int64_t nchunk);

/**
 * Reorders the chunks of a super-chunk.
 *
 * @param schunk the super-chunk.
 * @param offsets_order one entry for each chunk; entry i is the current index of the chunk that gets
 *   index i. Each index must occur once.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_schunk_reorder_offsets(blosc2_schunk *schunk, int64_t *offsets_order);

/**
 * Fills an empty super-chunk with chunks of one special value.
 *
 * @param schunk the super-chunk, without chunks.
 * @param nitems the number of items.
 * @param special_value BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or BLOSC2_SPECIAL_UNINIT.
 * @param chunksize the size of a chunk in bytes, a multiple of the size of an item.
 *
 * @return The number of chunks, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_fill_special(blosc2_schunk *schunk,
                                   int64_t nitems,
                                   int special_value,
                                   int32_t chunksize);

/**
 * Decompresses a chunk.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk.
 * @param dest the destination, outside the memory of the super-chunk.
 * @param nbytes the size of the destination in bytes, at least the size of the data.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_decompress_chunk(blosc2_schunk *schunk,
                                   int64_t nchunk,
                                   void *dest,
                                   int32_t nbytes);

/**
 * Returns a compressed chunk.
 *
 * A chunk that needs no free belongs to the super-chunk. It is valid until a call in any thread
 * changes or frees the super-chunk.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk.
 * @param chunk receives the address of the chunk, NULL on error.
 * @param needs_free receives whether the caller must free() the chunk.
 *
 * @return The length of the chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_get_chunk(blosc2_schunk *schunk,
                            int64_t nchunk,
                            uint8_t **chunk,
                            bool *needs_free);

/**
 * Returns a chunk, or a lazy chunk if the super-chunk is in a file.
 *
 * A lazy chunk holds the header, the block offsets and the location of the chunk in the file. Only
 * contexts of this super-chunk can decompress it; their source size is the length returned here. A
 * chunk that needs no free is valid as in blosc2_schunk_get_chunk().
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk.
 * @param chunk receives the address of the chunk, NULL on error.
 * @param needs_free receives whether the caller must free() the chunk.
 *
 * @return The length of the chunk or lazy chunk in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_get_lazychunk(blosc2_schunk *schunk,
                                int64_t nchunk,
                                uint8_t **chunk,
                                bool *needs_free);

/**
 * Decompresses one block of a chunk with variable-length blocks.
 *
 * @param schunk the super-chunk.
 * @param nchunk the index of the chunk.
 * @param nblock the index of the block in the chunk.
 * @param dest receives a new buffer with the data, which the caller must free(); NULL on error.
 * @param destsize receives the size of the data in bytes, 0 on error.
 *
 * @return The size of the data in bytes, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_get_vlblock(blosc2_schunk *schunk,
                              int64_t nchunk,
                              int32_t nblock,
                              uint8_t **dest,
                              int32_t *destsize);

/**
 * Returns the chunk offsets that a frame stores, one for each chunk.
 *
 * @param schunk the super-chunk.
 *
 * @return A new array, which the caller must free(). It is NULL on error, and for a super-chunk
 * without frame or chunks.
 */
BLOSC_EXPORT int64_t *blosc2_frame_get_offsets(blosc2_schunk *schunk);

/**
 * Opens a contiguous frame in memory as a super-chunk.
 *
 * @param cframe the frame. Without `copy` it must outlive the super-chunk, which does not write to
 *   it or free it; see blosc2_schunk_avoid_cframe_free().
 * @param len the size of the frame in bytes.
 * @param copy whether to copy the chunks into the super-chunk.
 *
 * @return A super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
 */
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_from_buffer(uint8_t *cframe, int64_t len, bool copy);

/**
 * Sets the owner of the buffer of an in-memory frame.
 *
 * @param schunk the super-chunk. Without an in-memory frame the call has no effect.
 * @param avoid_cframe_free with true, the buffer that blosc2_schunk_from_buffer() received or
 *   blosc2_schunk_to_buffer() returned belongs to the caller and outlives the super-chunk. With
 *   false, the super-chunk owns the buffer, a block of malloc(), and frees it.
 */
BLOSC_EXPORT void blosc2_schunk_avoid_cframe_free(blosc2_schunk *schunk, bool avoid_cframe_free);

/**
 * Returns a super-chunk as a contiguous frame in memory.
 *
 * A frame that needs no free belongs to the super-chunk and is valid until the super-chunk
 * changes.
 *
 * @param schunk the super-chunk.
 * @param cframe receives the address of the frame, NULL on error.
 * @param needs_free receives whether the caller must free() the frame.
 *
 * @return The size of the frame in bytes, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_schunk_to_buffer(blosc2_schunk *schunk,
                                uint8_t **cframe,
                                bool *needs_free);

/**
 * Writes a super-chunk to a file, as a contiguous frame.
 *
 * A super-chunk that is a contiguous frame in memory overwrites an existing file; for any other,
 * the path must not exist.
 *
 * @param schunk the super-chunk.
 * @param urlpath the path of the file.
 *
 * @return The size of the frame in bytes, or a negative error code.
 */
BLOSC_EXPORT int64_t blosc2_schunk_to_file(blosc2_schunk *schunk, const char *urlpath);

/**
 * Appends a super-chunk to a file, as a contiguous frame.
 *
 * The file is created if it does not exist. blosc2_schunk_open_offset() opens the frame.
 *
 * @param schunk the super-chunk.
 * @param urlpath the path of the file.
 *
 * @return The offset of the frame in the file in bytes, or a negative error code.
 */
BLOSC_EXPORT int64_t blosc2_schunk_append_file(blosc2_schunk *schunk, const char *urlpath);

/**
 * Returns the size of the frame of a super-chunk.
 *
 * For a sparse frame this is the size of its index file; for a super-chunk without frame it is an
 * estimate.
 *
 * @param schunk the super-chunk.
 *
 * @return The size in bytes, or a negative error code.
 */
BLOSC_EXPORT int64_t blosc2_schunk_frame_len(blosc2_schunk *schunk);

/**
 * Copies the compression parameters of a super-chunk.
 *
 * @param schunk the super-chunk.
 * @param cparams receives a new struct, which the caller must free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_schunk_get_cparams(blosc2_schunk *schunk, blosc2_cparams **cparams);

/**
 * Copies the decompression parameters of a super-chunk.
 *
 * @param schunk the super-chunk.
 * @param dparams receives a new struct, which the caller must free(); NULL on error.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT int blosc2_schunk_get_dparams(blosc2_schunk *schunk, blosc2_dparams **dparams);

/**
 * Decompresses a range of items into a buffer.
 *
 * @param schunk the super-chunk.
 * @param start the index of the first item.
 * @param stop the index after the last item.
 * @param buffer the destination, `(stop - start) * typesize` bytes outside the memory of the
 *   super-chunk. It may be NULL for an empty range.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_get_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Overwrites a range of existing items from a buffer.
 *
 * @param schunk the super-chunk.
 * @param start the index of the first item.
 * @param stop the index after the last item, at most the number of items.
 * @param buffer the new items, `(stop - start) * typesize` bytes, owned by the caller. It may be
 *   NULL for an empty range.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_set_slice_buffer(blosc2_schunk *schunk,
                                   int64_t start,
                                   int64_t stop,
                                   void *buffer);

/**
 * Decompresses the items at a list of indices into a buffer.
 *
 * @param schunk the super-chunk.
 * @param ncoords the number of indices.
 * @param coords the indices of the items, in any order.
 * @param buffer the destination, `ncoords * typesize` bytes; receives the items in the order of
 *   `coords`.
 *
 * @return 0, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_schunk_get_sparse_buffer(blosc2_schunk *schunk,
                                    int64_t ncoords,
                                    const int64_t *coords,
                                    void *buffer);

/**
 * Returns the indices of the chunks that a slice intersects.
 *
 * For a super-chunk that holds a b2nd array, `start` and `stop` have one element for each
 * dimension; otherwise they have one element each.
 *
 * @param schunk the super-chunk.
 * @param start the first index of the slice.
 * @param stop the index after the last one.
 * @param chunks_idx receives a new array of chunk indices, which the caller must free(); NULL on
 *   error or if there are none.
 *
 * @return The number of chunks, or a negative error code.
 */
BLOSC_EXPORT
int64_t blosc2_get_slice_nchunks(blosc2_schunk *schunk,
                                 int64_t *start,
                                 int64_t *stop,
                                 int64_t **chunks_idx);

/**
 * Adds a fixed-length metalayer.
 *
 * A super-chunk in a frame accepts metalayers only while it has no chunks.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content the content, which is copied.
 * @param content_len the size of the content in bytes.
 *
 * @return The index of the metalayer, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_meta_add(blosc2_schunk *schunk,
                    const char *name,
                    uint8_t *content,
                    int32_t content_len);

/**
 * Overwrites the first bytes of the content of a fixed-length metalayer.
 *
 * A content longer than the metalayer's has no effect, which is not an error.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content the new bytes, which are copied.
 * @param content_len the number of bytes.
 *
 * @return The index of the metalayer, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_meta_update(blosc2_schunk *schunk,
                       const char *name,
                       uint8_t *content,
                       int32_t content_len);

/**
 * Returns the index of a variable-length metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 *
 * @return The index, or a negative error code: BLOSC2_ERROR_NOT_FOUND if it does not exist.
 */
BLOSC_EXPORT int blosc2_vlmeta_exists(blosc2_schunk *schunk, const char *name);

/**
 * Adds a variable-length metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content the content, which is compressed into a copy.
 * @param content_len the size of the content in bytes.
 * @param cparams the parameters to compress with, or NULL for the defaults.
 *
 * @return The index of the metalayer, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vlmeta_add(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t *content,
                      int32_t content_len,
                      blosc2_cparams *cparams);

/**
 * Replaces the content of a variable-length metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content the new content, which is compressed into a copy.
 * @param content_len the size of the content in bytes.
 * @param cparams the parameters to compress with, or NULL for the defaults.
 *
 * @return The index of the metalayer, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vlmeta_update(blosc2_schunk *schunk,
                         const char *name,
                         uint8_t *content,
                         int32_t content_len,
                         blosc2_cparams *cparams);

/**
 * Decompresses the content of a variable-length metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content receives a new buffer, which the caller must free(); NULL on error or for an empty
 *   content.
 * @param content_len receives the size of the content in bytes, 0 on error.
 *
 * @return The index of the metalayer, or a negative error code.
 */
BLOSC_EXPORT
int blosc2_vlmeta_get(blosc2_schunk *schunk,
                      const char *name,
                      uint8_t **content,
                      int32_t *content_len);

/**
 * Removes a variable-length metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 *
 * @return The new number of variable-length metalayers, or a negative error code.
 */
BLOSC_EXPORT int blosc2_vlmeta_delete(blosc2_schunk *schunk, const char *name);

/**
 * Returns the names of the variable-length metalayers.
 *
 * @param schunk the super-chunk.
 * @param names an array of `schunk->nvlmetalayers` pointers; receives the names, which belong to the
 *   super-chunk and are valid until its metalayers change.
 *
 * @return The number of names, or a negative error code.
 */
BLOSC_EXPORT int blosc2_vlmeta_get_names(blosc2_schunk *schunk, char **names);

/**
 * Converts the number of an item in row-major order to its multidimensional index.
 *
 * @param ndim the number of dimensions.
 * @param shape the shape of the array, `ndim` items.
 * @param i the number of the item.
 * @param index the destination, `ndim` items, owned by the caller. It may be `shape`.
 */
BLOSC_EXPORT
void blosc2_unidim_to_multidim(uint8_t ndim,
                               int64_t *shape,
                               int64_t i,
                               int64_t *index);

/**
 * Converts a multidimensional index to the number of an item: the sum of the indices times their
 * strides.
 *
 * @param index the index, `ndim` items.
 * @param ndim the number of dimensions.
 * @param strides the strides in items, `ndim` items.
 * @param i receives the number of the item.
 */
BLOSC_EXPORT
void blosc2_multidim_to_unidim(const int64_t *index,
                               int8_t ndim,
                               const int64_t *strides,
                               int64_t *i);

/* ---- Inline functions and macros ---- */

/**
 * Returns the text of an error code, as blosc2_error_string(). The library owns the text, which
 * must not be modified.
 *
 * @param rc the error code.
 */
static inline char *print_error(int rc) {
  return (char *)blosc2_error_string(rc);
}

/* Prints a message of a plugin on standard error if the environment variable BLOSC_TRACE is set. */
#define BLOSC_TRACE(cat, ...)                                \
  do {                                                       \
    if (getenv("BLOSC_TRACE") != NULL) {                     \
      fprintf(stderr, "[%s] - ", #cat);                      \
      fprintf(stderr, __VA_ARGS__);                          \
      fprintf(stderr, " (%s:%d)\n", __FILE__, __LINE__);     \
    }                                                        \
  } while (0)
#define BLOSC_TRACE_ERROR(...) BLOSC_TRACE(error, __VA_ARGS__)
#define BLOSC_TRACE_WARNING(...) BLOSC_TRACE(warning, __VA_ARGS__)
#define BLOSC_TRACE_INFO(...) BLOSC_TRACE(info, __VA_ARGS__)

/* Prints a message on standard error if the environment variable BLOSC_INFO is set. */
#define BLOSC_INFO(...)                                      \
  do {                                                       \
    if (getenv("BLOSC_INFO") != NULL) {                      \
      fprintf(stderr, "[INFO] - ");                          \
      fprintf(stderr, __VA_ARGS__);                          \
      fprintf(stderr, "\n");                                 \
    }                                                        \
  } while (0)

/* Returns rc from the enclosing function if it is an error code. */
#define BLOSC_ERROR(rc)                                      \
  do {                                                       \
    int rc_ = (rc);                                          \
    if (rc_ < BLOSC2_ERROR_SUCCESS) {                        \
      BLOSC_TRACE_ERROR("%s", print_error(rc_));             \
      return rc_;                                            \
    }                                                        \
  } while (0)

/* Returns rc from the enclosing function if pointer is NULL. */
#define BLOSC_ERROR_NULL(pointer, rc)                        \
  do {                                                       \
    if ((pointer) == NULL) {                                 \
      BLOSC_TRACE_ERROR("Pointer is null");                  \
      return (rc);                                           \
    }                                                        \
  } while (0)

/**
 * Copies a number between big-endian and native byte order.
 *
 * @param dest the destination, `size` bytes, owned by the caller.
 * @param pa the number.
 * @param size the size of the number in bytes: 1, 2, 4 or 8.
 */
static inline void swap_store(void *dest, const void *pa, int size) {
  const uint8_t *from = (const uint8_t *)pa;
  uint8_t swapped[8];
  const uint16_t probe = 1;
  int i;

  if (size != 1 && size != 2 && size != 4 && size != 8) {
    fprintf(stderr, "swap_store: numbers of %d bytes are not supported\n", size);
    return;
  }
  if (*(const uint8_t *)&probe == 0) {
    memmove(dest, pa, (size_t)size);
    return;
  }
  for (i = 0; i < size; i++) {
    swapped[i] = from[size - 1 - i];
  }
  memcpy(dest, swapped, (size_t)size);
}

/**
 * Finds a fixed metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 *
 * @return The index of the metalayer, or a negative error code.
 */
static inline int blosc2_meta_exists(blosc2_schunk *schunk, const char *name) {
  int i;

  if (schunk == NULL || name == NULL || strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  for (i = 0; i < schunk->nmetalayers; i++) {
    if (strcmp(name, schunk->metalayers[i]->name) == 0) {
      return i;
    }
  }
  return BLOSC2_ERROR_NOT_FOUND;
}

/**
 * Copies the content of a fixed metalayer.
 *
 * @param schunk the super-chunk.
 * @param name the name of the metalayer.
 * @param content receives the content, which the caller releases with free(), or NULL if it is
 *   empty or on error.
 * @param content_len receives the size of the content in bytes.
 *
 * @return The index of the metalayer, or a negative error code.
 */
static inline int blosc2_meta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
                                  int32_t *content_len) {
  const blosc2_metalayer *found;
  int index;

  if (content != NULL) {
    *content = NULL;
  }
  if (content_len != NULL) {
    *content_len = 0;
  }
  if (schunk == NULL || name == NULL || content == NULL || content_len == NULL) {
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  index = blosc2_meta_exists(schunk, name);
  if (index < 0) {
    return index;
  }
  found = schunk->metalayers[index];
  if (found->content_len < 0 || (found->content_len > 0 && found->content == NULL)) {
    return BLOSC2_ERROR_DATA;
  }
  if (found->content_len > 0) {
    *content = (uint8_t *)malloc((size_t)found->content_len);
    if (*content == NULL) {
      return BLOSC2_ERROR_MEMORY_ALLOC;
    }
    memcpy(*content, found->content, (size_t)found->content_len);
    *content_len = found->content_len;
  }
  return index;
}

/* ---- Names of C-Blosc 1.x, for programs that define BLOSC1_COMPAT ---- */

#ifdef BLOSC1_COMPAT
#define BLOSC_MAX_BUFFERSIZE BLOSC2_MAX_BUFFERSIZE
#define BLOSC_MAX_OVERHEAD BLOSC2_MAX_OVERHEAD
#define BLOSC_VERSION_DATE BLOSC2_VERSION_DATE
#define BLOSC_VERSION_MAJOR BLOSC2_VERSION_MAJOR
#define BLOSC_VERSION_MINOR BLOSC2_VERSION_MINOR
#define BLOSC_VERSION_RELEASE BLOSC2_VERSION_RELEASE
#define BLOSC_VERSION_STRING BLOSC2_VERSION_STRING
#define blosc_cbuffer_complib blosc2_cbuffer_complib
#define blosc_cbuffer_metainfo blosc1_cbuffer_metainfo
#define blosc_cbuffer_sizes blosc1_cbuffer_sizes
#define blosc_cbuffer_validate blosc1_cbuffer_validate
#define blosc_cbuffer_versions blosc2_cbuffer_versions
#define blosc_compcode_to_compname blosc2_compcode_to_compname
#define blosc_compname_to_compcode blosc2_compname_to_compcode
#define blosc_compress blosc1_compress
#define blosc_decompress blosc1_decompress
#define blosc_destroy blosc2_destroy
#define blosc_free_resources blosc2_free_resources
#define blosc_get_blocksize blosc1_get_blocksize
#define blosc_get_complib_info blosc2_get_complib_info
#define blosc_get_compressor blosc1_get_compressor
#define blosc_get_nthreads blosc2_get_nthreads
#define blosc_get_version_string blosc2_get_version_string
#define blosc_getitem blosc1_getitem
#define blosc_init blosc2_init
#define blosc_list_compressors blosc2_list_compressors
#define blosc_set_blocksize blosc1_set_blocksize
#define blosc_set_compressor blosc1_set_compressor
#define blosc_set_nthreads blosc2_set_nthreads
#define blosc_set_splitmode blosc1_set_splitmode
#endif /* BLOSC1_COMPAT */

#ifdef __cplusplus
}
#endif

#endif /* BLOSC2_H */
