! Constants of arrays and of the registries of codecs, filters and tuners, with the names and values
! of b2nd.h and of the headers in blosc2/.
module b2nd_constants
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private

  ! The default dtype of an array.
  character(*), parameter, public :: B2ND_DEFAULT_DTYPE = '|u1'

  ! The name of B2ND_MAX_DIM before C-Blosc2 3.0.
  !> Maximum number of dimensions of an array.
  integer(c_int), parameter, public :: B2ND_MAX_DIM = 16_c_int
  !> Maximum number of user metalayers of an array; one more is reserved for the array.
  integer(c_int), parameter, public :: B2ND_MAX_METALAYERS = 15_c_int
  !> Version of the array's metalayer.
  integer(c_int), parameter, public :: B2ND_METALAYER_VERSION = 0_c_int
  !> Format of the dtype string: NumPy's.
  integer(c_int), parameter, public :: DTYPE_NUMPY_FORMAT = 0_c_int
  !> Default format of the dtype string.
  integer(c_int), parameter, public :: B2ND_DEFAULT_DTYPE_FORMAT = 0_c_int

  ! blosc2/codecs-registry.h: codecs
  !> Lempel-Ziv over the cells of two-dimensional arrays.
  integer(c_int), parameter, public :: BLOSC_CODEC_NDLZ = 32_c_int
  !> ZFP with a bound on the absolute error.
  integer(c_int), parameter, public :: BLOSC_CODEC_ZFP_FIXED_ACCURACY = 33_c_int
  !> ZFP with a number of bit planes.
  integer(c_int), parameter, public :: BLOSC_CODEC_ZFP_FIXED_PRECISION = 34_c_int
  !> ZFP with a number of bits per value.
  integer(c_int), parameter, public :: BLOSC_CODEC_ZFP_FIXED_RATE = 35_c_int
  !> High-throughput JPEG 2000 by OpenHTJ2K (a plugin library).
  integer(c_int), parameter, public :: BLOSC_CODEC_OPENHTJ2K = 36_c_int
  !> JPEG 2000 by Grok (a plugin library).
  integer(c_int), parameter, public :: BLOSC_CODEC_GROK = 37_c_int
  !> OpenZL (a plugin library).
  integer(c_int), parameter, public :: BLOSC_CODEC_OPENZL = 38_c_int
  !> JPEG 2000 (a plugin library).
  integer(c_int), parameter, public :: BLOSC_CODEC_J2K = 39_c_int
  !> High-throughput JPEG 2000 (a plugin library).
  integer(c_int), parameter, public :: BLOSC_CODEC_HTJ2K = 40_c_int

  ! blosc2/filters-registry.h: filters
  !> Stores the items of multidimensional cells contiguously.
  integer(c_int), parameter, public :: BLOSC_FILTER_NDCELL = 32_c_int
  !> Replaces the items of multidimensional cells by their mean (lossy).
  integer(c_int), parameter, public :: BLOSC_FILTER_NDMEAN = 33_c_int
  !> Byte differences of the first, faulty version; only for decompression.
  integer(c_int), parameter, public :: BLOSC_FILTER_BYTEDELTA_BUGGY = 34_c_int
  !> Byte differences in each stream of a shuffled block.
  integer(c_int), parameter, public :: BLOSC_FILTER_BYTEDELTA = 35_c_int
  !> Truncation of integers to a number of significant bits (lossy).
  integer(c_int), parameter, public :: BLOSC_FILTER_INT_TRUNC = 36_c_int

  ! blosc2/tuners-registry.h: tuners
  !> The Btune tuner (a plugin library).
  integer(c_int), parameter, public :: BLOSC_BTUNE = 32_c_int
end module b2nd_constants
