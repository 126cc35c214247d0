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

/* The version of C-Blosc2 whose interface this is. Build scripts read these lines, and that of PyTables knows
   them by the words "major", "minor" and "tweaks". */
#define BLOSC2_VERSION_MAJOR 3   /* major: the interface may break */
#define BLOSC2_VERSION_MINOR 3   /* minor: the interface may grow */
#define BLOSC2_VERSION_RELEASE 5 /* tweaks */
#define BLOSC2_VERSION_STRING "3.3.5"
#define BLOSC2_VERSION_DATE "$Date:: 2026-09-24 #$"

#ifdef __cplusplus
extern "C" {
#endif

/* What blosc.h of C-Blosc 1.x has defined already is not defined again. */
#ifndef BLOSC_H

/* Names of the codecs. */
#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

/* Names of the libraries they come from. */
#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* Constants that C-Blosc 1.x's `blosc.h` defines as well, with the same values. */
enum {
  /** Size of the header of a Blosc1 chunk, and the least any chunk has. */
  BLOSC_MIN_HEADER_LENGTH = 16,
  /** The largest typesize a chunk header can hold; larger ones are stored as 1. */
  BLOSC_MAX_TYPESIZE = 255,
  /** No shuffle. */
  BLOSC_NOSHUFFLE = 0,
  /** Byte-wise shuffle. */
  BLOSC_SHUFFLE = 1,
  /** Bit-wise shuffle. */
  BLOSC_BITSHUFFLE = 2,
  /** Chunk flag: byte-wise shuffle. */
  BLOSC_DOSHUFFLE = 1,
  /** Chunk flag: the data is stored as it is. */
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
  /** Blocks are split where it pays with the codec and level. */
  BLOSC_AUTO_SPLIT = 3,
  /** Blocks are split as older versions of the library expect it (default). */
  BLOSC_FORWARD_COMPAT_SPLIT = 4
};

#endif /* BLOSC_H */

/* The chunk format: versions, positions in the header, flags, special values. */
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
  /** Chunks with blocks of variable length. */
  BLOSC2_VERSION_FORMAT_VL_BLOCKS = 6,
  /** The newest chunk version this library reads and writes. */
  BLOSC2_VERSION_FORMAT = 6,
  /** Frames of the second Blosc2 beta. */
  BLOSC2_VERSION_FRAME_FORMAT_BETA2 = 1,
  /** Frames of the first release candidate and later. */
  BLOSC2_VERSION_FRAME_FORMAT_RC1 = 2,
  /** Frames that may hold chunks with blocks of variable length. */
  BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS = 3,
  /** The newest frame version this library reads and writes. */
  BLOSC2_VERSION_FRAME_FORMAT = 3,
  /** Position of the chunk version (1 byte). */
  BLOSC2_CHUNK_VERSION = 0,
  /** Position of the version of the codec's format (1 byte). */
  BLOSC2_CHUNK_VERSIONLZ = 1,
  /** Position of the flags and the codec's format code (1 byte). */
  BLOSC2_CHUNK_FLAGS = 2,
  /** Position of the typesize (1 byte). */
  BLOSC2_CHUNK_TYPESIZE = 3,
  /** Position of the uncompressed size (4 bytes). */
  BLOSC2_CHUNK_NBYTES = 4,
  /** Position of the block size (4 bytes). */
  BLOSC2_CHUNK_BLOCKSIZE = 8,
  /** Position of the compressed size, header included (4 bytes). */
  BLOSC2_CHUNK_CBYTES = 12,
  /** Position of the filter codes (6 bytes). */
  BLOSC2_CHUNK_FILTER_CODES = 16,
  /** Position of the meta bytes of the filters (6 bytes). */
  BLOSC2_CHUNK_FILTER_META = 24,
  /** Position of the second Blosc2 flags (1 byte). */
  BLOSC2_CHUNK_BLOSC2_FLAGS2 = 30,
  /** Position of the Blosc2 flags (1 byte). */
  BLOSC2_CHUNK_BLOSC2_FLAGS = 31,
  /** Chunk flag: delta filter. */
  BLOSC_DODELTA = 8,
  /** Blosc2 flag: the chunk holds a dictionary. */
  BLOSC2_USEDICT = 1,
  /** Blosc2 flag: the data is big-endian. */
  BLOSC2_BIGENDIAN = 2,
  /** Blosc2 flag: the blocks are measurements of the codec, not data. */
  BLOSC2_INSTR_CODEC = 128,
  /** Second Blosc2 flag: the blocks have variable length. */
  BLOSC2_VL_BLOCKS = 1,
  /** Regular chunk, no special value. */
  BLOSC2_NO_SPECIAL = 0,
  /** All bytes are zero. */
  BLOSC2_SPECIAL_ZERO = 1,
  /** All items are NaN (typesize 4 or 8). */
  BLOSC2_SPECIAL_NAN = 2,
  /** All items are the value that follows the header. */
  BLOSC2_SPECIAL_VALUE = 3,
  /** The items have no value yet. */
  BLOSC2_SPECIAL_UNINIT = 4,
  /** The last kind of special value. */
  BLOSC2_SPECIAL_LASTID = 4,
  /** Bits of the special value, after a shift by 4 in the Blosc2 flags. */
  BLOSC2_SPECIAL_MASK = 7
};

/* Limits of sizes and counts. */
enum {
  /** Buffers smaller than this are stored as they are. */
  BLOSC_MIN_BUFFERSIZE = 32,
  /** Size of the header of a Blosc2 chunk. */
  BLOSC_EXTENDED_HEADER_LENGTH = 32,
  /** A chunk is never larger than its data by more than this. */
  BLOSC2_MAX_OVERHEAD = 32,
  /** The largest buffer a chunk can hold: INT_MAX - BLOSC2_MAX_OVERHEAD. */
  BLOSC2_MAX_BUFFERSIZE = 2147483615,
  /** The largest block. */
  BLOSC2_MAXBLOCKSIZE = 536866816,
  /** The largest typesize. */
  BLOSC2_MAXTYPESIZE = 536866816,
  /** The largest dictionary. */
  BLOSC2_MAXDICTSIZE = 32768,
  /** The smallest dictionary worth storing. */
  BLOSC2_MINUSEFULDICT = 256,
  /** Places of the filter pipeline. */
  BLOSC2_MAX_FILTERS = 6,
  /**
   * Filters a user was once able to register; today it is all ids from
   * BLOSC2_USER_REGISTERED_FILTERS_START to BLOSC2_USER_REGISTERED_FILTERS_STOP.
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
  /** One more than the last built-in filter. */
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
  /** Filters in the global registry. */
  BLOSC2_GLOBAL_REGISTERED_FILTERS = 5,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_FILTERS_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_FILTERS_STOP = 255
};

/* Codes and id ranges of the codecs. */
enum {
  /** One more than the last built-in codec. */
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
  /** Codecs of the first global registry. */
  BLOSC2_GLOBAL_REGISTERED_CODECS = 5,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_CODECS_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_CODECS_STOP = 255,
  /** Library code of registered codecs. */
  BLOSC_UDCODEC_LIB = 6,
  /** Library code of data that is in the super-chunk. */
  BLOSC_SCHUNK_LIB = 7,
  /** Format code of registered codecs in the chunk flags. */
  BLOSC_UDCODEC_FORMAT = 6,
  /** Version of the format of registered codecs, when they have none of their own. */
  BLOSC_UDCODEC_VERSION_FORMAT = 1
};

/* Codes and id ranges of the tuners. */
enum {
  /** The built-in tuner. */
  BLOSC_STUNE = 0,
  /** One more than the last built-in tuner. */
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
  /** Tuners built in from the global registry. */
  BLOSC2_GLOBAL_REGISTERED_TUNERS = 0,
  /** First id for users. */
  BLOSC2_USER_REGISTERED_TUNER_START = 160,
  /** Last id for users. */
  BLOSC2_USER_REGISTERED_TUNER_STOP = 255
};

/* Ids of the I/O backends. */
enum {
  /** Files by system calls. */
  BLOSC2_IO_FILESYSTEM = 0,
  /** Files mapped into memory. */
  BLOSC2_IO_FILESYSTEM_MMAP = 1,
  /** One more than the last built-in backend. */
  BLOSC_IO_LAST_BLOSC_DEFINED = 2,
  /** End of the ids of built-in backends. */
  BLOSC2_IO_BLOSC_DEFINED = 32,
  /** One more than the last backend of the global registry. */
  BLOSC_IO_LAST_REGISTERED = 32,
  /** First id for users, end of the global registry. */
  BLOSC2_IO_REGISTERED = 160,
  /** End of the ids for users. */
  BLOSC2_IO_USER_DEFINED = 256
};

/* Error codes. `blosc2_error_string` gives the text of each. */
enum {
  /** It worked. */
  BLOSC2_ERROR_SUCCESS = 0,
  /** Generic failure. */
  BLOSC2_ERROR_FAILURE = -1,
  /** Bad stream. */
  BLOSC2_ERROR_STREAM = -2,
  /** Invalid data. */
  BLOSC2_ERROR_DATA = -3,
  /** Memory allocation failed. */
  BLOSC2_ERROR_MEMORY_ALLOC = -4,
  /** Not enough bytes to read. */
  BLOSC2_ERROR_READ_BUFFER = -5,
  /** Not enough room to write. */
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
  /** Special value of a frame failed. */
  BLOSC2_ERROR_FRAME_SPECIAL = -28,
  /** Special value of a super-chunk failed. */
  BLOSC2_ERROR_SCHUNK_SPECIAL = -29,
  /** Error of an I/O plugin. */
  BLOSC2_ERROR_PLUGIN_IO = -30,
  /** Removing a file failed. */
  BLOSC2_ERROR_FILE_REMOVE = -31,
  /** A pointer is NULL. */
  BLOSC2_ERROR_NULL_POINTER = -32,
  /** Invalid index. */
  BLOSC2_ERROR_INVALID_INDEX = -33,
  /** There is no such metalayer. */
  BLOSC2_ERROR_METALAYER_NOT_FOUND = -34,
  /** Buffer larger than the maximum. */
  BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED = -35,
  /** A tuner failed. */
  BLOSC2_ERROR_TUNER = -36,
  /** Locking a frame failed. */
  BLOSC2_ERROR_LOCK = -37
};

/** Fixed metalayers a super-chunk can have. */
#define BLOSC2_MAX_METALAYERS 16

/** Longest name of a fixed metalayer, without its NUL. */
#define BLOSC2_METALAYER_NAME_MAXLEN 31

/** Variable-length metalayers a super-chunk can have. */
#define BLOSC2_MAX_VLMETALAYERS 8192

/** Longest name of a variable-length metalayer, without its NUL. */
#define BLOSC2_VLMETALAYERS_NAME_MAXLEN 31

/* Types that the types of callbacks name before they are defined. */
struct blosc2_cparams;
struct blosc2_dparams;
struct blosc2_prefilter_params;
struct blosc2_postfilter_params;

/** A point in time, as blosc_set_timestamp() takes it. */
typedef struct timespec blosc_timestamp_t;

/**
 * Parameters and working memory of compressions or decompressions, one at a time: a second call in another
 * thread gives BLOSC2_ERROR_INVALID_PARAM.
 */
typedef struct blosc2_context_s blosc2_context;

/** A frame: a super-chunk as one buffer, one file or one directory. */
typedef struct blosc2_frame_s blosc2_frame;

/**
 * What a prefilter gets: one block, before the filters.
 *
 * The struct is the callback's own for the time of the call.
 */
typedef struct blosc2_prefilter_params {
  /** What the user put there. */
  void *user_data;
  /** The block in the source buffer. */
  const uint8_t *input;
  /** Where the filtered block goes. */
  uint8_t *output;
  /** Bytes to write to output. */
  int32_t output_size;
  /** Bytes of an item of output. */
  int32_t output_typesize;
  /** Position of the block in the chunk, in bytes. */
  int32_t output_offset;
  /** Number of the chunk in its super-chunk, or -1. */
  int64_t nchunk;
  /** Number of the block in its chunk. */
  int32_t nblock;
  /** Number of the worker, 0 in serial runs. */
  int32_t tid;
  /** Scratch memory. */
  uint8_t *ttmp;
  /** Bytes of ttmp. */
  size_t ttmp_nbytes;
  /** The context that compresses. */
  struct blosc2_context_s *ctx;
  /** Whether the output is not going to be stored. */
  bool output_is_disposable;
} blosc2_prefilter_params;

/** A prefilter: 0 when it worked, anything else makes the compression fail. */
typedef int (*blosc2_prefilter_fn)(struct blosc2_prefilter_params *params);

/** How to compress. Start from BLOSC2_CPARAMS_DEFAULTS. */
typedef struct blosc2_cparams {
  /** The codec. */
  uint8_t compcode;
  /** A byte for the codec. */
  uint8_t compcode_meta;
  /** Level from 0 (store) to 9 (smallest). */
  uint8_t clevel;
  /** Whether blocks share a dictionary. */
  int use_dict;
  /** Bytes of an item. */
  int32_t typesize;
  /** Threads to use. */
  int16_t nthreads;
  /** Bytes of a block; 0 is automatic. */
  int32_t blocksize;
  /** Whether blocks are split in streams: BLOSC_ALWAYS_SPLIT and its siblings. */
  int32_t splitmode;
  /** The super-chunk the chunks are for, or NULL. */
  void *schunk;
  /** The filters, applied from the first to the last. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** A byte for each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Called for each block before the filters, or NULL. */
  blosc2_prefilter_fn prefilter;
  /** Parameters of the prefilter; copied. */
  struct blosc2_prefilter_params *preparams;
  /** Parameters of the tuner. */
  void *tuner_params;
  /** The tuner. */
  int tuner_id;
  /** Whether to measure the codec instead of storing what it makes. */
  bool instr_codec;
  /** Parameters of the codec. */
  void *codec_params;
  /** Parameters of each filter. */
  void *filter_params[BLOSC2_MAX_FILTERS];
} blosc2_cparams;

/**
 * What a postfilter gets: one block, after the filters were undone.
 *
 * The struct is the callback's own for the time of the call.
 */
typedef struct blosc2_postfilter_params {
  /** What the user put there. */
  void *user_data;
  /** The decoded block. */
  const uint8_t *input;
  /** Where the block goes. */
  uint8_t *output;
  /** Bytes to write to output. */
  int32_t size;
  /** Bytes of an item. */
  int32_t typesize;
  /** Position of the block in the chunk, in bytes. */
  int32_t offset;
  /** Number of the chunk in its super-chunk, or -1. */
  int64_t nchunk;
  /** Number of the block in its chunk. */
  int32_t nblock;
  /** Number of the worker, 0 in serial runs. */
  int32_t tid;
  /** Scratch memory. */
  uint8_t *ttmp;
  /** Bytes of ttmp. */
  size_t ttmp_nbytes;
  /** The context that decompresses. */
  struct blosc2_context_s *ctx;
} blosc2_postfilter_params;

/** A postfilter: 0 when it worked, anything else makes the decompression fail. */
typedef int (*blosc2_postfilter_fn)(struct blosc2_postfilter_params *params);

/** How to decompress. Start from BLOSC2_DPARAMS_DEFAULTS. */
typedef struct blosc2_dparams {
  /** Threads to use. */
  int16_t nthreads;
  /** The super-chunk the chunks are from, or NULL. */
  void *schunk;
  /** Called for each block after the filters were undone, or NULL. */
  blosc2_postfilter_fn postfilter;
  /** Parameters of the postfilter; copied. */
  struct blosc2_postfilter_params *postparams;
  /** Bytes of an item. */
  int32_t typesize;
} blosc2_dparams;

/** What an instrumented chunk holds for each stream in place of its data. */
typedef struct blosc2_instr {
  /** Compression ratio. */
  float cratio;
  /** Speed of the codec in bytes per second. */
  float cspeed;
  /** Speed of the filters in bytes per second. */
  float filter_speed;
  /** The first tells by its lowest bit whether the stream could not be compressed. */
  uint8_t flags[4];
} blosc2_instr;

/**
 * A codec's encoder: gives the bytes written to output, 0 when they don't fit, or an error code.
 *
 * cparams are those of the context, valid during the call; chunk is the buffer being compressed.
 * Called from several threads at once.
 */
typedef int (*blosc2_codec_encoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       struct blosc2_cparams *cparams,
                                       const void *chunk);

/**
 * A codec's decoder: gives the bytes written to output, which must be output_len, or an error code.
 *
 * dparams are those of the context, valid during the call; chunk is the chunk being decompressed.
 * Called from several threads at once.
 */
typedef int (*blosc2_codec_decoder_cb)(const uint8_t *input,
                                       int32_t input_len,
                                       uint8_t *output,
                                       int32_t output_len,
                                       uint8_t meta,
                                       struct blosc2_dparams *dparams,
                                       const void *chunk);

/** A codec of the user. */
typedef struct blosc2_codec {
  /** Its code, from BLOSC2_USER_REGISTERED_CODECS_START on. */
  uint8_t compcode;
  /** Its name; must outlive the library. */
  char *compname;
  /** The code of its library. */
  uint8_t complib;
  /** The version of its format; chunks record it. */
  uint8_t version;
  /** The encoder; with NULL, a plugin library of the codec's name is looked for. */
  blosc2_codec_encoder_cb encoder;
  /** The decoder. */
  blosc2_codec_decoder_cb decoder;
} blosc2_codec;

/**
 * A filter's forward function: 0 when it worked.
 *
 * input and output have size bytes and don't overlap. Called from several threads at once.
 */
typedef int (*blosc2_filter_forward_cb)(const uint8_t *input,
                                        uint8_t *output,
                                        int32_t size,
                                        uint8_t meta,
                                        struct blosc2_cparams *cparams,
                                        uint8_t id);

/**
 * A filter's backward function: 0 when it worked.
 *
 * input and output have size bytes and don't overlap. Called from several threads at once.
 */
typedef int (*blosc2_filter_backward_cb)(const uint8_t *input,
                                         uint8_t *output,
                                         int32_t size,
                                         uint8_t meta,
                                         struct blosc2_dparams *dparams,
                                         uint8_t id);

/** A filter of the user. */
typedef struct blosc2_filter {
  /** Its id, from BLOSC2_USER_REGISTERED_FILTERS_START on. */
  uint8_t id;
  /** Its name; must outlive the library. */
  char *name;
  /** Its version, for people. */
  uint8_t version;
  /** What compression calls; with NULL, a plugin library of the filter's name is looked for. */
  blosc2_filter_forward_cb forward;
  /** What decompression calls. */
  blosc2_filter_backward_cb backward;
} blosc2_filter;

/** A tuner of the user. Each function gives 0, or a negative value when it failed. */
typedef struct blosc2_tuner {
  /** Called when a compression context is created with this tuner. */
  int (*init)(void *config, struct blosc2_context_s *cctx, struct blosc2_context_s *dctx);
  /** Called before each compression. */
  int (*next_blocksize)(struct blosc2_context_s *context);
  /** For tuners that keep their state in the context, which needs the private layout. */
  int (*next_cparams)(struct blosc2_context_s *context);
  /** For tuners that keep their state in the context, which needs the private layout. */
  int (*update)(struct blosc2_context_s *context, double ctime);
  /** For tuners that keep their state in the context, which needs the private layout. */
  int (*free)(struct blosc2_context_s *context);
  /** Its id, from BLOSC2_USER_REGISTERED_TUNER_START on. */
  int id;
  /** Its name; must outlive the library. */
  char *name;
} blosc2_tuner;

/**
 * Runs dojob(jobdata + i * jobdata_elsize) once for each i below numjobs, in any threads and any
 * order, and comes back when all are done.
 */
typedef void (*blosc_threads_callback)(void *callback_data,
                                       void (*dojob)(void *job),
                                       int numjobs,
                                       size_t jobdata_elsize,
                                       void *jobdata);

/** Opens a file; gives a stream, or NULL. */
typedef void *(*blosc2_open_cb)(const char *urlpath, const char *mode, void *params);

/** Closes a stream; 0 when it worked. */
typedef int (*blosc2_close_cb)(void *stream);

/** The size of a stream in bytes, or a negative value. */
typedef int64_t (*blosc2_size_cb)(void *stream);

/** Writes nitems items of size bytes at a position; gives the items written. */
typedef int64_t (*blosc2_write_cb)(const void *ptr,
                                   int64_t size,
                                   int64_t nitems,
                                   int64_t position,
                                   void *stream);

/**
 * Reads nitems items of size bytes from a position; gives the items read.
 *
 * With is_allocation_necessary, *ptr is the buffer to fill; without, the backend stores there a
 * pointer of its own.
 */
typedef int64_t (*blosc2_read_cb)(void **ptr,
                                  int64_t size,
                                  int64_t nitems,
                                  int64_t position,
                                  void *stream);

/** Sets the size of a stream; 0 when it worked. */
typedef int (*blosc2_truncate_cb)(void *stream, int64_t size);

/** Frees what belongs to the parameters of a backend; negative when it failed. */
typedef int (*blosc2_destroy_cb)(void *params);

/** An I/O backend. */
typedef struct blosc2_io_cb {
  /** Its id, from BLOSC2_IO_REGISTERED on. */
  uint8_t id;
  /** Its name; must outlive the library. */
  char *name;
  /** Whether read fills a buffer of the library, or hands out a pointer of its own. */
  bool is_allocation_necessary;
  /** Opens a file. */
  blosc2_open_cb open;
  /** Closes it. */
  blosc2_close_cb close;
  /** Tells its size. */
  blosc2_size_cb size;
  /** Writes to it. */
  blosc2_write_cb write;
  /** Reads from it. */
  blosc2_read_cb read;
  /** Sets its size. */
  blosc2_truncate_cb truncate;
  /** Frees the parameters. */
  blosc2_destroy_cb destroy;
} blosc2_io_cb;

/** Which I/O backend to use, and how. */
typedef struct blosc2_io {
  /** The id of the backend. */
  uint8_t id;
  /** Its name. */
  const char *name;
  /** Parameters of the backend. */
  void *params;
} blosc2_io;

/** Where and how a super-chunk is stored. Start from BLOSC2_STORAGE_DEFAULTS. */
typedef struct blosc2_storage {
  /** Whether the chunks are in one frame, or apart. */
  bool contiguous;
  /** The file or directory; NULL is memory. */
  char *urlpath;
  /** How to compress; NULL is the defaults. */
  struct blosc2_cparams *cparams;
  /** How to decompress; NULL is the defaults. */
  struct blosc2_dparams *dparams;
  /** The I/O backend; NULL is the file system. */
  struct blosc2_io *io;
} blosc2_storage;

/** A metalayer: bytes with a name. */
typedef struct blosc2_metalayer {
  /** The name. */
  char *name;
  /** The bytes. */
  uint8_t *content;
  /** Their count. */
  int32_t content_len;
} blosc2_metalayer;

/**
 * A super-chunk: a sequence of chunks with parameters and metadata.
 *
 * Any number of threads may read one at the same time, and calls that change it wait for their turn; a call
 * that would have to wait for a prefilter, postfilter or tuner of the program gives
 * BLOSC2_ERROR_INVALID_PARAM. Not to be called beside others are blosc2_schunk_free(), the inline functions
 * blosc2_meta_get() and blosc2_meta_exists() beside a change of metalayers, and the functions of contexts
 * with cctx or dctx. Fields are read and replaced between calls only.
 */
typedef struct blosc2_schunk {
  /** Version of the format. */
  uint8_t version;
  /** The codec. */
  uint8_t compcode;
  /** A byte for the codec. */
  uint8_t compcode_meta;
  /** The compression level. */
  uint8_t clevel;
  /** The split mode. */
  uint8_t splitmode;
  /** Bytes of an item. */
  int32_t typesize;
  /** Bytes of a block; 0 is automatic. */
  int32_t blocksize;
  /** Bytes of a chunk; 0 when the chunks differ. */
  int32_t chunksize;
  /** Flags of the chunks. */
  uint8_t flags2;
  /** Whether chunks hold a dictionary. */
  uint8_t use_dict;
  /** The filters. */
  uint8_t filters[BLOSC2_MAX_FILTERS];
  /** A byte for each filter. */
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  /** Chunks held. */
  int64_t nchunks;
  /** The chunk being worked on. */
  int64_t current_nchunk;
  /** Bytes of data. */
  int64_t nbytes;
  /** Bytes of data, compressed. */
  int64_t cbytes;
  /** The chunks, when they are in memory and apart. */
  uint8_t **data;
  /** Bytes of the array at data. */
  size_t data_len;
  /** Where and how it is stored. */
  struct blosc2_storage *storage;
  /** The frame, or NULL. */
  struct blosc2_frame_s *frame;
  /** The context that compresses. */
  struct blosc2_context_s *cctx;
  /** The context that decompresses. */
  struct blosc2_context_s *dctx;
  /** The fixed metalayers. */
  struct blosc2_metalayer *metalayers[BLOSC2_MAX_METALAYERS];
  /** Their count. */
  uint16_t nmetalayers;
  /** The variable-length metalayers. */
  struct blosc2_metalayer *vlmetalayers[BLOSC2_MAX_VLMETALAYERS];
  /** Their count. */
  int16_t nvlmetalayers;
  /** Parameters of the tuner. */
  void *tuner_params;
  /** The tuner. */
  int tuner_id;
  /** Dimensions of the array, or 0. */
  int8_t ndim;
  /** The shape of its blocks. */
  int64_t *blockshape;
  /** Whether the chunks belong to another super-chunk. */
  bool view;
  /** Counts the changes of the metadata. */
  int64_t change_tick;
} blosc2_schunk;

/** The default I/O backend: the file system. */
static const blosc2_io BLOSC2_IO_DEFAULTS = {BLOSC2_IO_FILESYSTEM, "filesystem", NULL};

/** The default compression parameters: BloscLZ at level 5 behind a shuffle of 8-byte items. */
static const blosc2_cparams BLOSC2_CPARAMS_DEFAULTS = {
    BLOSC_BLOSCLZ, 0, 5, 0, 8, 1, 0, BLOSC_FORWARD_COMPAT_SPLIT, NULL,
    {0, 0, 0, 0, 0, BLOSC_SHUFFLE}, {0, 0, 0, 0, 0, 0},
    NULL, NULL, NULL, BLOSC_STUNE, false, NULL, {NULL, NULL, NULL, NULL, NULL, NULL}};

/** The default decompression parameters: one thread. */
static const blosc2_dparams BLOSC2_DPARAMS_DEFAULTS = {1, NULL, NULL, NULL, 8};

/** The default storage: chunks apart, in memory, with default parameters. */
static const blosc2_storage BLOSC2_STORAGE_DEFAULTS = {false, NULL, NULL, NULL, NULL};

/** The version of the library, as text. Don't free it. */
BLOSC_EXPORT const char *blosc2_get_version_string(void);

/** The text for an error code; "Unknown error" for values that are none. Don't free it. */
BLOSC_EXPORT const char *blosc2_error_string(int error_code);

/** Stores the time of a clock that never goes back. */
BLOSC_EXPORT void blosc_set_timestamp(blosc_timestamp_t *timestamp);

/** Nanoseconds from start_time to end_time. */
BLOSC_EXPORT double blosc_elapsed_nsecs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/** Seconds from start_time to end_time. */
BLOSC_EXPORT double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);

/**
 * Initialises the library. It works without, but after blosc2_destroy() this makes it forget the
 * codecs, filters and tuners that users registered.
 */
BLOSC_EXPORT void blosc2_init(void);

/**
 * Ends the threads of the library and frees its working memory. Settings stay, and contexts stay
 * usable.
 */
BLOSC_EXPORT void blosc2_destroy(void);

/**
 * Frees threads and working memory of the calls without context, until the next one. Gives 0, or
 * -1 when the library is not initialised.
 */
BLOSC_EXPORT int blosc2_free_resources(void);

/**
 * Compresses srcsize bytes at src, items of typesize bytes, into a chunk at dest.
 *
 * clevel is from 0 (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or
 * BLOSC_BITSHUFFLE. Gives the size of the chunk, 0 when it is larger than destsize, or an error
 * code. A destination that is BLOSC2_MAX_OVERHEAD bytes larger than the source is always large
 * enough.
 *
 * Environment variables take precedence over the arguments and over what was set before:
 * BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_DELTA, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE,
 * BLOSC_NTHREADS, BLOSC_SPLITMODE. With BLOSC_NOLOCK, calls in different threads don't wait for
 * one another. With BLOSC_BLOSC1_COMPAT the chunk has the header of Blosc 1.x.
 */
BLOSC_EXPORT
int blosc2_compress(int clevel,
                    int doshuffle,
                    int32_t typesize,
                    const void *src,
                    int32_t srcsize,
                    void *dest,
                    int32_t destsize);

/** blosc2_compress() with the arguments of Blosc 1.x. Gives what that gives. */
BLOSC_EXPORT
int blosc1_compress(int clevel,
                    int doshuffle,
                    size_t typesize,
                    size_t nbytes,
                    const void *src,
                    void *dest,
                    size_t destsize);

/**
 * Decompresses the chunk at src, of at most srcsize bytes, to dest.
 *
 * Gives the bytes the chunk holds, or an error code. dest may be NULL when it holds none. The
 * environment variables BLOSC_NTHREADS and BLOSC_NOLOCK count as for blosc2_compress().
 */
BLOSC_EXPORT int blosc2_decompress(const void *src, int32_t srcsize, void *dest, int32_t destsize);

/**
 * blosc2_decompress() with the arguments of Blosc 1.x: the chunk is as large as its header says.
 * Gives what that gives.
 */
BLOSC_EXPORT int blosc1_decompress(const void *src, void *dest, size_t destsize);

/**
 * Decompresses nitems items of the chunk at src, from item start on, to dest. Gives the bytes
 * written, or an error code.
 */
BLOSC_EXPORT
int blosc2_getitem(const void *src,
                   int32_t srcsize,
                   int start,
                   int nitems,
                   void *dest,
                   int32_t destsize);

/**
 * blosc2_getitem() with the arguments of Blosc 1.x: the chunk is as large as its header says, and
 * dest as the items need. Gives what that gives.
 */
BLOSC_EXPORT int blosc1_getitem(const void *src, int start, int nitems, void *dest);

/** The number of threads of the calls without context. */
BLOSC_EXPORT int16_t blosc2_get_nthreads(void);

/**
 * Sets the number of threads of the calls without context. Gives the number before, or an error
 * code for a number below 1.
 */
BLOSC_EXPORT int16_t blosc2_set_nthreads(int16_t nthreads);

/** The name of the codec of the calls without context; NULL after an unknown one was set. */
BLOSC_EXPORT const char *blosc1_get_compressor(void);

/**
 * Chooses the codec of the calls without context. Gives its code; -1 for an unknown one, and
 * compressing fails then until another one is chosen.
 */
BLOSC_EXPORT int blosc1_set_compressor(const char *compname);

/** The block size of the calls without context; 0 when it is automatic. */
BLOSC_EXPORT int blosc1_get_blocksize(void);

/** Sets the block size of the calls without context; 0 is automatic. */
BLOSC_EXPORT void blosc1_set_blocksize(size_t blocksize);

/**
 * Chooses whether the calls without context split blocks in streams: BLOSC_ALWAYS_SPLIT and its
 * siblings.
 */
BLOSC_EXPORT void blosc1_set_splitmode(int splitmode);

/** Chooses whether the calls without context apply the delta filter. */
BLOSC_EXPORT void blosc2_set_delta(int dodelta);

/**
 * Stores the sizes in the header of a chunk: of its data, of itself, of a block.
 *
 * Gives 0 or an error code, and the sizes are 0 then. Outputs may be NULL.
 */
BLOSC_EXPORT
int blosc2_cbuffer_sizes(const void *cbuffer,
                         int32_t *nbytes,
                         int32_t *cbytes,
                         int32_t *blocksize);

/**
 * Stores the sizes in the header of a chunk: of its data, of itself, of a block. They are 0 for
 * what is no chunk.
 */
BLOSC_EXPORT
void blosc1_cbuffer_sizes(const void *cbuffer,
                          size_t *nbytes,
                          size_t *cbytes,
                          size_t *blocksize);

/**
 * Tells whether the header of a chunk makes sense and says that the chunk has cbytes bytes; stores
 * the size of its data in *nbytes, 0 when not.
 *
 * Gives 0 or an error code. The data itself is not looked at.
 */
BLOSC_EXPORT int blosc1_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

/** Stores the typesize and the flags in the header of a chunk; 0 for what is no chunk. */
BLOSC_EXPORT void blosc1_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);

/** Stores the version of a chunk and of the format of its codec; 0 for what is no chunk. */
BLOSC_EXPORT void blosc2_cbuffer_versions(const void *cbuffer, int *version, int *versionlz);

/**
 * The name of the library that made the streams of a chunk, as its header says; NULL for what is
 * no chunk or of a registered codec. Don't free it.
 */
BLOSC_EXPORT const char *blosc2_cbuffer_complib(const void *cbuffer);

/**
 * Makes a chunk of nbytes zeros, which takes BLOSC_EXTENDED_HEADER_LENGTH bytes.
 *
 * Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
 */
BLOSC_EXPORT
int blosc2_chunk_zeros(blosc2_cparams cparams,
                       int32_t nbytes,
                       void *dest,
                       int32_t destsize);

/**
 * Makes a chunk of nbytes bytes of NaNs, of 4 or 8 bytes each, which takes
 * BLOSC_EXTENDED_HEADER_LENGTH bytes.
 *
 * Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
 */
BLOSC_EXPORT
int blosc2_chunk_nans(blosc2_cparams cparams,
                      int32_t nbytes,
                      void *dest,
                      int32_t destsize);

/**
 * Makes a chunk of nbytes bytes without a value, which takes BLOSC_EXTENDED_HEADER_LENGTH bytes.
 * Decompressing it leaves the destination alone.
 *
 * Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
 */
BLOSC_EXPORT
int blosc2_chunk_uninit(blosc2_cparams cparams,
                        int32_t nbytes,
                        void *dest,
                        int32_t destsize);

/**
 * Makes a chunk of nbytes bytes that repeats one item, which takes
 * BLOSC_EXTENDED_HEADER_LENGTH + typesize bytes.
 *
 * Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
 */
BLOSC_EXPORT
int blosc2_chunk_repeatval(blosc2_cparams cparams,
                           int32_t nbytes,
                           void *dest,
                           int32_t destsize,
                           const void *repeatval);

/** The names of the built-in codecs, separated by commas. Don't free it. */
BLOSC_EXPORT const char *blosc2_list_compressors(void);

/** The code of the codec with this name, built in or registered; -1 when there is none. */
BLOSC_EXPORT int blosc2_compname_to_compcode(const char *compname);

/**
 * Stores the name of the codec with this code in *compname; don't free it.
 *
 * Gives the code; -1 when there is no such codec, and the name is NULL then.
 */
BLOSC_EXPORT int blosc2_compcode_to_compname(int compcode, const char **compname);

/**
 * Stores the name and the version of the library behind a codec in *complib and *version; the
 * caller frees them.
 *
 * Gives the code of the library; -1 when there is no such codec, and both are NULL then.
 */
BLOSC_EXPORT int blosc2_get_complib_info(const char *compname, char **complib, char **version);

/**
 * Makes a codec known to the library. The struct is copied, its name is not.
 *
 * Gives 0; registering the same code and name again changes nothing. A code below
 * BLOSC2_USER_REGISTERED_CODECS_START, or one taken by another name, is refused with
 * BLOSC2_ERROR_CODEC_PARAM.
 */
BLOSC_EXPORT int blosc2_register_codec(blosc2_codec *codec);

/**
 * Makes a filter known to the library. The struct is copied, its name is not.
 *
 * Gives 0; registering the same id and name again changes nothing. An id below
 * BLOSC2_USER_REGISTERED_FILTERS_START, or one taken by another name, is refused with
 * BLOSC2_ERROR_FAILURE.
 */
BLOSC_EXPORT int blosc2_register_filter(blosc2_filter *filter);

/**
 * Shuffles bytes: the first bytes of all items, then the second ones, and so on.
 *
 * src and dest have blocksize bytes and may overlap. Gives blocksize, or
 * BLOSC2_ERROR_INVALID_PARAM for a typesize outside of 1 to 256 or a negative blocksize.
 */
BLOSC_EXPORT
int32_t blosc2_shuffle(int32_t typesize,
                       int32_t blocksize,
                       const void *src,
                       void *dest);

/** Undoes blosc2_shuffle(). Sizes and what it gives are as there. */
BLOSC_EXPORT
int32_t blosc2_unshuffle(int32_t typesize,
                         int32_t blocksize,
                         const void *src,
                         void *dest);

/**
 * Shuffles bits: the first bits of all items, then the second ones, and so on.
 *
 * src and dest have blocksize bytes and may overlap. Gives blocksize, or
 * BLOSC2_ERROR_INVALID_PARAM for a typesize outside of 1 to 256 or a negative blocksize.
 */
BLOSC_EXPORT
int32_t blosc2_bitshuffle(int32_t typesize,
                          int32_t blocksize,
                          const void *src,
                          void *dest);

/**
 * Undoes blosc2_bitshuffle(). Larger typesizes than 256 are taken here. Sizes and what it gives
 * are as there.
 */
BLOSC_EXPORT
int32_t blosc2_bitunshuffle(int32_t typesize,
                            int32_t blocksize,
                            const void *src,
                            void *dest);

/**
 * Makes a tuner known to all contexts created from now on. The struct is copied, its name is not.
 *
 * Gives 0; registering the same id and name again changes nothing. An id below
 * BLOSC2_USER_REGISTERED_TUNER_START, or one taken by another name, is refused with
 * BLOSC2_ERROR_FAILURE.
 */
BLOSC_EXPORT int blosc2_register_tuner(blosc2_tuner *tuner);

/**
 * Makes all contexts run their parallel work through a callback instead of the threads of the
 * library; NULL goes back to those. To be called while no context is at work.
 */
BLOSC_EXPORT void blosc2_set_threads_callback(blosc_threads_callback callback, void *callback_data);

/** The value of BLOSC2_CPARAMS_DEFAULTS: BloscLZ at level 5 behind a shuffle of 8-byte items. */
BLOSC_EXPORT blosc2_cparams blosc2_get_blosc2_cparams_defaults(void);

/** The value of BLOSC2_DPARAMS_DEFAULTS: one thread. */
BLOSC_EXPORT blosc2_dparams blosc2_get_blosc2_dparams_defaults(void);

/** The value of BLOSC2_IO_DEFAULTS: the file system. */
BLOSC_EXPORT blosc2_io blosc2_get_blosc2_io_defaults(void);

/** The value of BLOSC2_STORAGE_DEFAULTS: chunks apart, in memory, with default parameters. */
BLOSC_EXPORT blosc2_storage blosc2_get_blosc2_storage_defaults(void);

/** The value of BLOSC2_STDIO_MMAP_DEFAULTS: read only, 1 GiB mapped at first. */
BLOSC_EXPORT blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults(void);

/**
 * Creates a context that compresses, or gives NULL for parameters no context can have: an unknown
 * filter or tuner. Everything else is judged when something is compressed.
 *
 * The parameters are copied, and so is what preparams points to. Environment variables
 * (BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_DELTA, BLOSC_BLOCKSIZE,
 * BLOSC_NTHREADS, BLOSC_SPLITMODE) take precedence. Free it with blosc2_free_ctx().
 */
BLOSC_EXPORT struct blosc2_context_s *blosc2_create_cctx(blosc2_cparams cparams);

/**
 * Creates a context that decompresses, or gives NULL.
 *
 * The parameters are copied, and so is what postparams points to. The environment variable
 * BLOSC_NTHREADS takes precedence. Free it with blosc2_free_ctx().
 */
BLOSC_EXPORT struct blosc2_context_s *blosc2_create_dctx(blosc2_dparams dparams);

/** Frees a context and all it owns; NULL is allowed. */
BLOSC_EXPORT void blosc2_free_ctx(struct blosc2_context_s *context);

/**
 * Stores the parameters of a context that compresses in *cparams, but for tuner_params and
 * filter_params. The block size is the one of the last compression. Gives 0 or an error code.
 */
BLOSC_EXPORT int blosc2_ctx_get_cparams(struct blosc2_context_s *ctx, blosc2_cparams *cparams);

/** Stores the parameters of a context that decompresses in *dparams. Gives 0 or an error code. */
BLOSC_EXPORT int blosc2_ctx_get_dparams(struct blosc2_context_s *ctx, blosc2_dparams *dparams);

/**
 * Leaves out the blocks marked in maskout when the context decompresses the next chunk, and only
 * then: their bytes stay as they are. nblocks must be the number of blocks of that chunk. The
 * marks are copied. Gives 0 or an error code.
 */
BLOSC_EXPORT int blosc2_set_maskout(struct blosc2_context_s *ctx, bool *maskout, int nblocks);

/**
 * Compresses srcsize bytes at src into a chunk at dest.
 *
 * Gives the size of the chunk, 0 when it is larger than destsize, or an error code. A destination
 * that is BLOSC2_MAX_OVERHEAD bytes larger than the source is always large enough. src may be NULL
 * when the context has a prefilter.
 */
BLOSC_EXPORT
int blosc2_compress_ctx(struct blosc2_context_s *context,
                        const void *src,
                        int32_t srcsize,
                        void *dest,
                        int32_t destsize);

/**
 * Decompresses the chunk at src, of at most srcsize bytes, to dest.
 *
 * Gives the bytes the chunk holds, or an error code. dest may be NULL when it holds none.
 */
BLOSC_EXPORT
int blosc2_decompress_ctx(struct blosc2_context_s *context,
                          const void *src,
                          int32_t srcsize,
                          void *dest,
                          int32_t destsize);

/**
 * Decompresses nitems items of the chunk at src, from item start on, to dest.
 *
 * Gives the bytes written, or an error code. Contexts of both kinds can be used.
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
 * Decompresses nbytes bytes of the chunk at src, from byte start on, to dest. Both must be
 * multiples of the typesize of the chunk.
 *
 * Gives the bytes written, or an error code. Contexts of both kinds can be used.
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
 * @param dests an array of `maxblocks` pointers; receives the buffers, each of which the caller must
 *   free(). The remaining entries are NULL, and all are NULL on error.
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
 * Stores in index the index along each of ndim dimensions of item i of an array of this shape, rows
 * first.
 */
BLOSC_EXPORT
void blosc2_unidim_to_multidim(uint8_t ndim,
                               int64_t *shape,
                               int64_t i,
                               int64_t *index);

/** Stores in *i the sum of ndim indices times their strides. */
BLOSC_EXPORT
void blosc2_multidim_to_unidim(const int64_t *index,
                               int8_t ndim,
                               const int64_t *strides,
                               int64_t *i);

/* ---- Inline functions and macros ---- */

/** The text of an error code, as blosc2_error_string() gives it. Don't change or free it. */
static inline char *print_error(int rc) {
  return (char *)blosc2_error_string(rc);
}

/* Messages on standard error, for plugins: only when the environment variable BLOSC_TRACE is set. */
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

/* The same under the environment variable BLOSC_INFO. */
#define BLOSC_INFO(...)                                      \
  do {                                                       \
    if (getenv("BLOSC_INFO") != NULL) {                      \
      fprintf(stderr, "[INFO] - ");                          \
      fprintf(stderr, __VA_ARGS__);                          \
      fprintf(stderr, "\n");                                 \
    }                                                        \
  } while (0)

/* Returns from the caller's function when rc is an error code. */
#define BLOSC_ERROR(rc)                                      \
  do {                                                       \
    int rc_ = (rc);                                          \
    if (rc_ < BLOSC2_ERROR_SUCCESS) {                        \
      BLOSC_TRACE_ERROR("%s", print_error(rc_));             \
      return rc_;                                            \
    }                                                        \
  } while (0)

/* Returns rc from the caller's function when pointer is NULL. */
#define BLOSC_ERROR_NULL(pointer, rc)                        \
  do {                                                       \
    if ((pointer) == NULL) {                                 \
      BLOSC_TRACE_ERROR("Pointer is null");                  \
      return (rc);                                           \
    }                                                        \
  } while (0)

/** Copies a number of 1, 2, 4 or 8 bytes from or to big-endian order. */
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

/** Looks for a fixed metalayer: its index, or an error code. */
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
 * Copies the content of a fixed metalayer: its index, or an error code.
 *
 * The caller frees content; it is NULL when the metalayer is empty.
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

/* ---- The names of C-Blosc 1.x, for programs that define BLOSC1_COMPAT ---- */

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
