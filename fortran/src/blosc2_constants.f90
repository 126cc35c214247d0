! Constants of Blosc2, with the names and values of blosc2.h.
!
! Codes that a C struct stores in one byte are `integer(c_int)` like all others; assignment to a
! component converts them.
module blosc2_constants
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private

  ! The version of C-Blosc2 with this interface.
  integer(c_int), parameter, public :: BLOSC2_VERSION_MAJOR = 3_c_int
  integer(c_int), parameter, public :: BLOSC2_VERSION_MINOR = 3_c_int
  integer(c_int), parameter, public :: BLOSC2_VERSION_RELEASE = 5_c_int
  character(*), parameter, public :: BLOSC2_VERSION_STRING = '3.3.5'
  character(*), parameter, public :: BLOSC2_VERSION_DATE = '$Date:: 2026-09-24 #$'

  ! The chunk format: versions, offsets in the header, flags, special values.
  !> Chunks of Blosc before 1.0.
  integer(c_int), parameter, public :: BLOSC1_VERSION_FORMAT_PRE1 = 1_c_int
  !> Chunks of Blosc 1.x.
  integer(c_int), parameter, public :: BLOSC1_VERSION_FORMAT = 2_c_int
  !> Chunks of the Blosc2 alphas.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FORMAT_ALPHA = 3_c_int
  !> Chunks of the first Blosc2 beta.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FORMAT_BETA1 = 4_c_int
  !> Chunks of the stable Blosc2.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FORMAT_STABLE = 5_c_int
  !> Chunks with blocks of variable length.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FORMAT_VL_BLOCKS = 6_c_int
  !> The newest chunk version that is supported.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FORMAT = 6_c_int
  !> Frames of the second Blosc2 beta.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FRAME_FORMAT_BETA2 = 1_c_int
  !> Frames of the first release candidate and later.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FRAME_FORMAT_RC1 = 2_c_int
  !> Frames that may hold chunks with blocks of variable length.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS = 3_c_int
  !> The newest frame version that is supported.
  integer(c_int), parameter, public :: BLOSC2_VERSION_FRAME_FORMAT = 3_c_int
  !> Offset of the chunk version (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_VERSION = 0_c_int
  !> Offset of the version of the codec's format (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_VERSIONLZ = 1_c_int
  !> Offset of the flags and the codec's format code (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_FLAGS = 2_c_int
  !> Offset of the typesize (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_TYPESIZE = 3_c_int
  !> Offset of the uncompressed size (4 bytes).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_NBYTES = 4_c_int
  !> Offset of the block size (4 bytes).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_BLOCKSIZE = 8_c_int
  !> Offset of the compressed size, including the header (4 bytes).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_CBYTES = 12_c_int
  !> Offset of the filter codes (6 bytes).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_FILTER_CODES = 16_c_int
  !> Offset of the meta bytes of the filters (6 bytes).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_FILTER_META = 24_c_int
  !> Offset of the second Blosc2 flags (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_BLOSC2_FLAGS2 = 30_c_int
  !> Offset of the Blosc2 flags (1 byte).
  integer(c_int), parameter, public :: BLOSC2_CHUNK_BLOSC2_FLAGS = 31_c_int
  !> Chunk flag: delta filter.
  integer(c_int), parameter, public :: BLOSC_DODELTA = 8_c_int
  !> Blosc2 flag: the chunk holds a dictionary.
  integer(c_int), parameter, public :: BLOSC2_USEDICT = 1_c_int
  !> Blosc2 flag: the data is big-endian.
  integer(c_int), parameter, public :: BLOSC2_BIGENDIAN = 2_c_int
  !> Blosc2 flag: the blocks are codec measurements instead of data.
  integer(c_int), parameter, public :: BLOSC2_INSTR_CODEC = 128_c_int
  !> Second Blosc2 flag: the blocks have variable length.
  integer(c_int), parameter, public :: BLOSC2_VL_BLOCKS = 1_c_int
  !> Regular chunk, no special value.
  integer(c_int), parameter, public :: BLOSC2_NO_SPECIAL = 0_c_int
  !> All bytes are zero.
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_ZERO = 1_c_int
  !> All items are NaN (typesize 4 or 8).
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_NAN = 2_c_int
  !> All items are the value that follows the header.
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_VALUE = 3_c_int
  !> The items are uninitialised.
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_UNINIT = 4_c_int
  !> The last special value.
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_LASTID = 4_c_int
  !> Mask of the special value, after a right shift of the Blosc2 flags by 4.
  integer(c_int), parameter, public :: BLOSC2_SPECIAL_MASK = 7_c_int

  ! Limits of sizes and counts.
  !> Minimum size of buffers to compress, in bytes; smaller ones are stored.
  integer(c_int), parameter, public :: BLOSC_MIN_BUFFERSIZE = 32_c_int
  !> Size of the header of a Blosc2 chunk in bytes.
  integer(c_int), parameter, public :: BLOSC_EXTENDED_HEADER_LENGTH = 32_c_int
  !> Maximum size of a chunk beyond the size of its data, in bytes.
  integer(c_int), parameter, public :: BLOSC2_MAX_OVERHEAD = 32_c_int
  !> Maximum size of a chunk's data in bytes: INT_MAX - BLOSC2_MAX_OVERHEAD.
  integer(c_int), parameter, public :: BLOSC2_MAX_BUFFERSIZE = 2147483615_c_int
  !> Maximum block size in bytes.
  integer(c_int), parameter, public :: BLOSC2_MAXBLOCKSIZE = 536866816_c_int
  !> Maximum typesize in bytes.
  integer(c_int), parameter, public :: BLOSC2_MAXTYPESIZE = 536866816_c_int
  !> Maximum dictionary size in bytes.
  integer(c_int), parameter, public :: BLOSC2_MAXDICTSIZE = 32768_c_int
  !> Minimum size in bytes of a dictionary to store.
  integer(c_int), parameter, public :: BLOSC2_MINUSEFULDICT = 256_c_int
  !> Number of slots of the filter pipeline.
  integer(c_int), parameter, public :: BLOSC2_MAX_FILTERS = 6_c_int
  !> The former maximum number of registered filters. All ids from
  !! BLOSC2_USER_REGISTERED_FILTERS_START to BLOSC2_USER_REGISTERED_FILTERS_STOP can be registered.
  integer(c_int), parameter, public :: BLOSC2_MAX_UDFILTERS = 16_c_int

  ! Codes and id ranges of the filters.
  !> No filter.
  integer(c_int), parameter, public :: BLOSC_NOFILTER = 0_c_int
  !> XOR with the first block of the chunk.
  integer(c_int), parameter, public :: BLOSC_DELTA = 3_c_int
  !> Truncation of mantissa bits of floating-point items (lossy).
  integer(c_int), parameter, public :: BLOSC_TRUNC_PREC = 4_c_int
  !> One more than the last built-in filter.
  integer(c_int), parameter, public :: BLOSC_LAST_FILTER = 5_c_int
  !> The last filter of the global registry, see `blosc2/filters-registry.h`.
  integer(c_int), parameter, public :: BLOSC_LAST_REGISTERED_FILTER = 36_c_int
  !> First id of the built-in filters.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_FILTERS_START = 0_c_int
  !> Last id of the built-in filters.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_FILTERS_STOP = 31_c_int
  !> First id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_FILTERS_START = 32_c_int
  !> Last id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_FILTERS_STOP = 159_c_int
  !> Number of filters in the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_FILTERS = 5_c_int
  !> First id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_FILTERS_START = 160_c_int
  !> Last id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_FILTERS_STOP = 255_c_int

  ! Codes and id ranges of the codecs.
  !> One more than the last built-in codec.
  integer(c_int), parameter, public :: BLOSC_LAST_CODEC = 6_c_int
  !> The id of the last of the first BLOSC2_GLOBAL_REGISTERED_CODECS codecs of the global registry.
  integer(c_int), parameter, public :: BLOSC_LAST_REGISTERED_CODEC = 36_c_int
  !> First id of the built-in codecs.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_CODECS_START = 0_c_int
  !> Last id of the built-in codecs.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_CODECS_STOP = 31_c_int
  !> First id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_CODECS_START = 32_c_int
  !> Last id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_CODECS_STOP = 159_c_int
  !> A number of codecs in the global registry, which BLOSC_LAST_REGISTERED_CODEC depends on. The
  !! registry has more codecs, see `blosc2/codecs-registry.h`.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_CODECS = 5_c_int
  !> First id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_CODECS_START = 160_c_int
  !> Last id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_CODECS_STOP = 255_c_int
  !> Library code of registered codecs.
  integer(c_int), parameter, public :: BLOSC_UDCODEC_LIB = 6_c_int
  !> Library code of data stored in the super-chunk.
  integer(c_int), parameter, public :: BLOSC_SCHUNK_LIB = 7_c_int
  !> Format code of registered codecs in the chunk flags.
  integer(c_int), parameter, public :: BLOSC_UDCODEC_FORMAT = 6_c_int
  !> Default format version of registered codecs.
  integer(c_int), parameter, public :: BLOSC_UDCODEC_VERSION_FORMAT = 1_c_int

  ! Codes and id ranges of the tuners.
  !> The built-in tuner.
  integer(c_int), parameter, public :: BLOSC_STUNE = 0_c_int
  !> One more than the last built-in tuner.
  integer(c_int), parameter, public :: BLOSC_LAST_TUNER = 1_c_int
  !> The last tuner before the global registry, see `blosc2/tuners-registry.h`.
  integer(c_int), parameter, public :: BLOSC_LAST_REGISTERED_TUNE = 31_c_int
  !> First id of the built-in tuners.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_TUNER_START = 0_c_int
  !> Last id of the built-in tuners.
  integer(c_int), parameter, public :: BLOSC2_DEFINED_TUNER_STOP = 31_c_int
  !> First id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_TUNER_START = 32_c_int
  !> Last id of the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_TUNER_STOP = 159_c_int
  !> Number of built-in tuners from the global registry.
  integer(c_int), parameter, public :: BLOSC2_GLOBAL_REGISTERED_TUNERS = 0_c_int
  !> First id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_TUNER_START = 160_c_int
  !> Last id for users.
  integer(c_int), parameter, public :: BLOSC2_USER_REGISTERED_TUNER_STOP = 255_c_int

  ! Ids of the I/O backends.
  !> Files accessed with system calls.
  integer(c_int), parameter, public :: BLOSC2_IO_FILESYSTEM = 0_c_int
  !> Files mapped into memory.
  integer(c_int), parameter, public :: BLOSC2_IO_FILESYSTEM_MMAP = 1_c_int
  !> One more than the last built-in backend.
  integer(c_int), parameter, public :: BLOSC_IO_LAST_BLOSC_DEFINED = 2_c_int
  !> End of the ids of built-in backends.
  integer(c_int), parameter, public :: BLOSC2_IO_BLOSC_DEFINED = 32_c_int
  !> One more than the last backend of the global registry.
  integer(c_int), parameter, public :: BLOSC_IO_LAST_REGISTERED = 32_c_int
  !> First id for users, end of the global registry.
  integer(c_int), parameter, public :: BLOSC2_IO_REGISTERED = 160_c_int
  !> End of the ids for users.
  integer(c_int), parameter, public :: BLOSC2_IO_USER_DEFINED = 256_c_int

  ! Error codes. `blosc2_error_string` returns the message of each.
  !> Success.
  integer(c_int), parameter, public :: BLOSC2_ERROR_SUCCESS = 0_c_int
  !> Generic failure.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FAILURE = -1_c_int
  !> Invalid stream.
  integer(c_int), parameter, public :: BLOSC2_ERROR_STREAM = -2_c_int
  !> Invalid data.
  integer(c_int), parameter, public :: BLOSC2_ERROR_DATA = -3_c_int
  !> Memory allocation failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_MEMORY_ALLOC = -4_c_int
  !> Not enough bytes to read.
  integer(c_int), parameter, public :: BLOSC2_ERROR_READ_BUFFER = -5_c_int
  !> The output buffer is too small.
  integer(c_int), parameter, public :: BLOSC2_ERROR_WRITE_BUFFER = -6_c_int
  !> Codec not supported.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CODEC_SUPPORT = -7_c_int
  !> Invalid parameter of a codec.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CODEC_PARAM = -8_c_int
  !> Dictionary error of a codec.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CODEC_DICT = -9_c_int
  !> Version not supported.
  integer(c_int), parameter, public :: BLOSC2_ERROR_VERSION_SUPPORT = -10_c_int
  !> Invalid value in a header.
  integer(c_int), parameter, public :: BLOSC2_ERROR_INVALID_HEADER = -11_c_int
  !> Invalid parameter of a function.
  integer(c_int), parameter, public :: BLOSC2_ERROR_INVALID_PARAM = -12_c_int
  !> Reading a file failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILE_READ = -13_c_int
  !> Writing a file failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILE_WRITE = -14_c_int
  !> Opening a file failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILE_OPEN = -15_c_int
  !> Not found.
  integer(c_int), parameter, public :: BLOSC2_ERROR_NOT_FOUND = -16_c_int
  !> Invalid run-length encoding.
  integer(c_int), parameter, public :: BLOSC2_ERROR_RUN_LENGTH = -17_c_int
  !> A filter failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILTER_PIPELINE = -18_c_int
  !> Inserting a chunk failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CHUNK_INSERT = -19_c_int
  !> Appending a chunk failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CHUNK_APPEND = -20_c_int
  !> Updating a chunk failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_CHUNK_UPDATE = -21_c_int
  !> Sizes above 2 GB are not supported.
  integer(c_int), parameter, public :: BLOSC2_ERROR_2GB_LIMIT = -22_c_int
  !> Copying a super-chunk failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_SCHUNK_COPY = -23_c_int
  !> Wrong type of frame.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FRAME_TYPE = -24_c_int
  !> Truncating a file failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILE_TRUNCATE = -25_c_int
  !> Starting a thread failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_THREAD_CREATE = -26_c_int
  !> A postfilter failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_POSTFILTER = -27_c_int
  !> Invalid special value in a frame.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FRAME_SPECIAL = -28_c_int
  !> Invalid special value in a super-chunk.
  integer(c_int), parameter, public :: BLOSC2_ERROR_SCHUNK_SPECIAL = -29_c_int
  !> Error of an I/O plugin.
  integer(c_int), parameter, public :: BLOSC2_ERROR_PLUGIN_IO = -30_c_int
  !> Removing a file failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_FILE_REMOVE = -31_c_int
  !> A pointer is NULL.
  integer(c_int), parameter, public :: BLOSC2_ERROR_NULL_POINTER = -32_c_int
  !> Invalid index.
  integer(c_int), parameter, public :: BLOSC2_ERROR_INVALID_INDEX = -33_c_int
  !> Metalayer not found.
  integer(c_int), parameter, public :: BLOSC2_ERROR_METALAYER_NOT_FOUND = -34_c_int
  !> Buffer larger than the maximum.
  integer(c_int), parameter, public :: BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED = -35_c_int
  !> A tuner failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_TUNER = -36_c_int
  !> Locking a frame failed.
  integer(c_int), parameter, public :: BLOSC2_ERROR_LOCK = -37_c_int
  !> Maximum number of fixed metalayers of a super-chunk.
  integer(c_int), parameter, public :: BLOSC2_MAX_METALAYERS = 16_c_int
  !> Maximum length of a fixed metalayer's name, without its NUL.
  integer(c_int), parameter, public :: BLOSC2_METALAYER_NAME_MAXLEN = 31_c_int
  !> Maximum number of variable-length metalayers of a super-chunk.
  integer(c_int), parameter, public :: BLOSC2_MAX_VLMETALAYERS = 8192_c_int
  !> Maximum length of a variable-length metalayer's name, without its NUL.
  integer(c_int), parameter, public :: BLOSC2_VLMETALAYERS_NAME_MAXLEN = 31_c_int
end module blosc2_constants
