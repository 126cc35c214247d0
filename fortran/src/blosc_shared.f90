! Constants common to Blosc 1.x and Blosc2: codes of compressors, filters and split modes.
!
! Both `blosc` and `blosc2` re-export them, so that a program can use both modules without name
! conflicts.
module blosc_shared
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private

  ! Names of the compressors.
  character(*), parameter, public :: BLOSC_BLOSCLZ_COMPNAME = 'blosclz'
  character(*), parameter, public :: BLOSC_LZ4_COMPNAME = 'lz4'
  character(*), parameter, public :: BLOSC_LZ4HC_COMPNAME = 'lz4hc'
  character(*), parameter, public :: BLOSC_ZLIB_COMPNAME = 'zlib'
  character(*), parameter, public :: BLOSC_ZSTD_COMPNAME = 'zstd'

  ! Names of the compressors' libraries.
  character(*), parameter, public :: BLOSC_BLOSCLZ_LIBNAME = 'BloscLZ'
  character(*), parameter, public :: BLOSC_LZ4_LIBNAME = 'LZ4'
  character(*), parameter, public :: BLOSC_ZLIB_LIBNAME = 'Zlib'
  character(*), parameter, public :: BLOSC_ZSTD_LIBNAME = 'Zstd'
  !> Size of the header of a chunk, in bytes.
  integer(c_int), parameter, public :: BLOSC_MIN_HEADER_LENGTH = 16_c_int
  !> Maximum typesize of a chunk; larger ones are stored as 1.
  integer(c_int), parameter, public :: BLOSC_MAX_TYPESIZE = 255_c_int
  !> No shuffle.
  integer(c_int), parameter, public :: BLOSC_NOSHUFFLE = 0_c_int
  !> Byte-wise shuffle.
  integer(c_int), parameter, public :: BLOSC_SHUFFLE = 1_c_int
  !> Bit-wise shuffle.
  integer(c_int), parameter, public :: BLOSC_BITSHUFFLE = 2_c_int
  !> Chunk flag: byte-wise shuffle.
  integer(c_int), parameter, public :: BLOSC_DOSHUFFLE = 1_c_int
  !> Chunk flag: the data is stored uncompressed.
  integer(c_int), parameter, public :: BLOSC_MEMCPYED = 2_c_int
  !> Chunk flag: bit-wise shuffle.
  integer(c_int), parameter, public :: BLOSC_DOBITSHUFFLE = 4_c_int
  !> Code of the BloscLZ compressor.
  integer(c_int), parameter, public :: BLOSC_BLOSCLZ = 0_c_int
  !> Code of the LZ4 compressor.
  integer(c_int), parameter, public :: BLOSC_LZ4 = 1_c_int
  !> Code of the LZ4HC compressor.
  integer(c_int), parameter, public :: BLOSC_LZ4HC = 2_c_int
  !> Code of the Zlib compressor.
  integer(c_int), parameter, public :: BLOSC_ZLIB = 4_c_int
  !> Code of the Zstd compressor.
  integer(c_int), parameter, public :: BLOSC_ZSTD = 5_c_int
  !> Code of the BloscLZ library.
  integer(c_int), parameter, public :: BLOSC_BLOSCLZ_LIB = 0_c_int
  !> Code of the LZ4 library.
  integer(c_int), parameter, public :: BLOSC_LZ4_LIB = 1_c_int
  !> Code of the Zlib library.
  integer(c_int), parameter, public :: BLOSC_ZLIB_LIB = 3_c_int
  !> Code of the Zstd library.
  integer(c_int), parameter, public :: BLOSC_ZSTD_LIB = 4_c_int
  !> Code of the BloscLZ format in the flags of a chunk.
  integer(c_int), parameter, public :: BLOSC_BLOSCLZ_FORMAT = 0_c_int
  !> Code of the LZ4 format in the flags of a chunk.
  integer(c_int), parameter, public :: BLOSC_LZ4_FORMAT = 1_c_int
  !> Code of the LZ4HC format in the flags of a chunk, the same as that of LZ4.
  integer(c_int), parameter, public :: BLOSC_LZ4HC_FORMAT = 1_c_int
  !> Code of the Zlib format in the flags of a chunk.
  integer(c_int), parameter, public :: BLOSC_ZLIB_FORMAT = 3_c_int
  !> Code of the Zstd format in the flags of a chunk.
  integer(c_int), parameter, public :: BLOSC_ZSTD_FORMAT = 4_c_int
  !> Version of the BloscLZ format.
  integer(c_int), parameter, public :: BLOSC_BLOSCLZ_VERSION_FORMAT = 1_c_int
  !> Version of the LZ4 format.
  integer(c_int), parameter, public :: BLOSC_LZ4_VERSION_FORMAT = 1_c_int
  !> Version of the LZ4HC format.
  integer(c_int), parameter, public :: BLOSC_LZ4HC_VERSION_FORMAT = 1_c_int
  !> Version of the Zlib format.
  integer(c_int), parameter, public :: BLOSC_ZLIB_VERSION_FORMAT = 1_c_int
  !> Version of the Zstd format.
  integer(c_int), parameter, public :: BLOSC_ZSTD_VERSION_FORMAT = 1_c_int
  !> Blocks are split into one stream per byte of an item whenever possible.
  integer(c_int), parameter, public :: BLOSC_ALWAYS_SPLIT = 1_c_int
  !> Blocks are never split.
  integer(c_int), parameter, public :: BLOSC_NEVER_SPLIT = 2_c_int
  !> Blocks are split if that improves the compression of the codec.
  integer(c_int), parameter, public :: BLOSC_AUTO_SPLIT = 3_c_int
  !> Blocks are split such that old versions of the library can read them (default).
  integer(c_int), parameter, public :: BLOSC_FORWARD_COMPAT_SPLIT = 4_c_int
end module blosc_shared
