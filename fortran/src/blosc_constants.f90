! Constants specific to Blosc 1.x, with the names and values of blosc.h.
module blosc_constants
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private

  ! The version of C-Blosc with this interface.
  integer(c_int), parameter, public :: BLOSC_VERSION_MAJOR = 1_c_int
  integer(c_int), parameter, public :: BLOSC_VERSION_MINOR = 21_c_int
  integer(c_int), parameter, public :: BLOSC_VERSION_RELEASE = 6_c_int
  character(*), parameter, public :: BLOSC_VERSION_STRING = '1.21.6'
  character(*), parameter, public :: BLOSC_VERSION_REVISION = '$Rev$'
  character(*), parameter, public :: BLOSC_VERSION_DATE = '$Date:: 2024-06-24 #$'

  ! Names of the compressors.
  character(*), parameter, public :: BLOSC_SNAPPY_COMPNAME = 'snappy'

  ! Names of the compressors' libraries.
  character(*), parameter, public :: BLOSC_SNAPPY_LIBNAME = 'Snappy'
  !> Version of the chunk format.
  integer(c_int), parameter, public :: BLOSC_VERSION_FORMAT = 2_c_int
  !> Maximum size of a chunk beyond the size of its data, in bytes.
  integer(c_int), parameter, public :: BLOSC_MAX_OVERHEAD = 16_c_int
  !> Maximum size of a chunk's data in bytes: INT_MAX - BLOSC_MAX_OVERHEAD.
  integer(c_int), parameter, public :: BLOSC_MAX_BUFFERSIZE = 2147483631_c_int
  !> Maximum block size in bytes.
  integer(c_int), parameter, public :: BLOSC_MAX_BLOCKSIZE = 715827542_c_int
  !> Maximum number of threads.
  integer(c_int), parameter, public :: BLOSC_MAX_THREADS = 256_c_int
  !> Code of the Snappy compressor.
  integer(c_int), parameter, public :: BLOSC_SNAPPY = 3_c_int
  !> Code of the Snappy library.
  integer(c_int), parameter, public :: BLOSC_SNAPPY_LIB = 2_c_int
  !> Code of the Snappy format in the flags of a chunk.
  integer(c_int), parameter, public :: BLOSC_SNAPPY_FORMAT = 2_c_int
  !> Version of the Snappy format.
  integer(c_int), parameter, public :: BLOSC_SNAPPY_VERSION_FORMAT = 1_c_int
end module blosc_constants
