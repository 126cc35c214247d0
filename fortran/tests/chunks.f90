! Tests of chunks and contexts: partial decompression, headers, special values, variable-length
! blocks, shuffles, settings, and errors.
program chunks
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, int8, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use blosc2
  use checks, only: check, check_stat, finish
  implicit none

  call facts()
  call settings()
  call parts_of_a_chunk()
  call headers()
  call special_values()
  call shuffles()
  call blocks_of_variable_length()
  call masked_blocks()
  call parameters_of_contexts()
  call other_types()
  call errors()
  call finish('chunks')

contains

  subroutine facts()
    character(:), allocatable :: library, version
    integer :: stat

    call check(blosc2_get_version_string() == BLOSC2_VERSION_STRING, 'version')
    call check(index(blosc2_list_compressors(), 'blosclz,lz4,lz4hc,zlib,zstd') == 1, 'list of codecs')
    call check(blosc2_compname_to_compcode('zstd  ') == BLOSC_ZSTD, 'code of zstd')
    call check(blosc2_compname_to_compcode('nothing') == -1, 'code of no codec')
    call check(blosc2_compcode_to_compname(BLOSC_LZ4HC) == 'lz4hc', 'name of lz4hc')
    call check(blosc2_compcode_to_compname(99) == '', 'name of no codec')
    call blosc2_get_complib_info('lz4', library, version)
    call check(library == 'LZ4' .and. len(version) > 0, 'library of lz4')
    call blosc2_get_complib_info('nothing', library, version, stat)
    call check_stat(stat, BLOSC2_ERROR_CODEC_SUPPORT, 'library of no codec')
    call check(library == '' .and. version == '', 'no library')
    call check(blosc2_error_string(BLOSC2_ERROR_DATA) /= blosc2_error_string(BLOSC2_ERROR_READ_BUFFER), 'messages')
    call check(blosc2_error_string(-12345) == 'Unknown error', 'message of no code')
  end subroutine

  subroutine settings()
    integer(int8), allocatable :: chunk(:)
    integer :: stat, cbytes, blocksize
    real(real64) :: data(5000), back(5000)
    integer :: i

    data = [(real(i, real64), i=1, 5000)]
    call blosc2_init()
    call blosc2_set_nthreads(2)
    call check(blosc2_get_nthreads() == 2, 'threads')
    call blosc2_set_nthreads(0, stat)
    call check(stat < 0 .and. blosc2_get_nthreads() == 2, 'no threads')
    call blosc2_set_nthreads(40000, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'too many threads')
    call blosc1_set_compressor('zstd')
    call check(blosc1_get_compressor() == 'zstd', 'codec')
    call blosc1_set_blocksize(8000)
    call check(blosc1_get_blocksize() == 8000, 'block size')
    call blosc1_set_blocksize(-1, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'negative block size')
    call blosc1_set_splitmode(BLOSC_NEVER_SPLIT)
    call blosc2_set_delta(.true.)
    call blosc2_compress(data, chunk, clevel=9, doshuffle=BLOSC_BITSHUFFLE)
    call check(blosc2_cbuffer_complib(chunk) == 'Zstd', 'library of a chunk')
    call blosc2_cbuffer_sizes(chunk, cbytes=cbytes, blocksize=blocksize)
    call check(cbytes == size(chunk) .and. blocksize == 8000, 'sizes by settings')
    call blosc2_decompress(chunk, back)
    call check(all(back == data), 'data by settings')
    call blosc1_set_compressor('nothing', stat)
    call check_stat(stat, BLOSC2_ERROR_CODEC_SUPPORT, 'unknown codec')
    call blosc2_compress(data, chunk, stat=stat)
    call check(stat < 0 .and. size(chunk) == 0, 'compressing with an unknown codec')
    call check(blosc1_get_compressor() == '', 'name of an unknown codec')
    call blosc1_set_compressor('blosclz')
    call blosc1_set_blocksize(0)
    call blosc1_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT)
    call blosc2_set_delta(.false.)
    call blosc2_set_nthreads(1)
    call blosc2_free_resources()
    call blosc2_destroy()
    call blosc2_free_resources(stat)
    call check_stat(stat, BLOSC2_ERROR_FAILURE, 'freeing without resources')
    call blosc2_init()
  end subroutine

  subroutine parts_of_a_chunk()
    integer(int32) :: data(1000), part(10), one
    integer(int8) :: bytes(8)
    integer(int8), allocatable :: chunk(:)
    type(blosc2_dctx) :: dctx
    integer :: i, stat

    data = [(i, i=1, 1000)]
    call blosc2_compress(data, chunk)
    call blosc2_getitem(chunk, 991, part)
    call check(all(part == data(991:)), 'last items')
    call blosc2_getitem(chunk, 7, one)
    call check(one == 7, 'one item')
    call blosc2_getitem(chunk, 9, bytes)
    call check(all(transfer(bytes, [0_int32]) == [3, 4]), 'bytes of items')
    call blosc2_getitem(chunk, 992, part, stat)
    call check(stat < 0, 'items after the end')
    call blosc2_getitem(chunk, 0, part, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'items before the start')
    call blosc2_getitem(chunk, 2, bytes, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'parts of items')

    call dctx%create()
    part = 0
    call dctx%getitem(chunk, 5, part)
    call check(all(part == data(5:14)), 'items by context')
    call dctx%getitem(chunk, 996, part, stat)
    call check(stat < 0, 'items after the end by context')
    call dctx%getitem(chunk, -3, part, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'items before the start by context')
  end subroutine

  subroutine headers()
    integer(int16) :: data(100)
    integer(int8), allocatable :: chunk(:)
    integer :: nbytes, cbytes, blocksize, typesize, flags, version, versionlz, stat

    data = 7_int16
    call blosc2_compress(data, chunk, doshuffle=BLOSC_NOSHUFFLE)
    call blosc2_cbuffer_sizes(chunk, nbytes, cbytes, blocksize)
    call check(nbytes == 200 .and. cbytes == size(chunk) .and. blocksize > 0, 'sizes')
    call blosc2_cbuffer_metainfo(chunk, typesize, flags)
    call check(typesize == 2, 'typesize')
    call blosc2_cbuffer_versions(chunk, version, versionlz)
    call check(version == BLOSC2_VERSION_FORMAT_STABLE .and. versionlz == BLOSC_BLOSCLZ_VERSION_FORMAT, 'versions')
    call blosc2_cbuffer_validate(chunk, nbytes)
    call check(nbytes == 200, 'validated size')
    call blosc2_cbuffer_validate(chunk(:size(chunk) - 1), nbytes, stat)
    call check(stat < 0 .and. nbytes == 0, 'a truncated chunk')
    call blosc2_cbuffer_sizes(chunk(:5), nbytes, stat=stat)
    call check(stat < 0 .and. nbytes == 0, 'five bytes')
    call blosc2_cbuffer_metainfo(chunk(:0), typesize)
    call check(typesize == 0, 'no bytes')
    call check(blosc2_cbuffer_complib(chunk(:3)) == '', 'no library')
  end subroutine

  subroutine special_values()
    type(blosc2_cparams) :: cparams
    integer(int8), allocatable :: chunk(:)
    real(real64) :: data(50)
    integer :: stat

    cparams%typesize = 8
    call blosc2_chunk_zeros(cparams, 400, chunk)
    call check(size(chunk) == BLOSC_EXTENDED_HEADER_LENGTH, 'zeros in a header')
    data = 1
    call blosc2_decompress(chunk, data)
    call check(all(data == 0), 'zeros')
    call blosc2_chunk_nans(cparams, 400, chunk)
    call blosc2_decompress(chunk, data)
    call check(all(ieee_is_nan(data)), 'NaNs')
    call blosc2_chunk_repeatval(cparams, 400, 2.5_real64, chunk)
    call blosc2_decompress(chunk, data)
    call check(all(data == 2.5_real64), 'one value')
    call blosc2_chunk_uninit(cparams, 400, chunk)
    call blosc2_decompress(chunk, data)
    call check(all(data == 2.5_real64), 'no value')
    call blosc2_chunk_zeros(cparams, 401, chunk, stat)
    call check(stat < 0 .and. size(chunk) == 0, 'zeros of part of an item')
    call blosc2_chunk_repeatval(cparams, 400, 1.0_real32, chunk, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a value of another size')
  end subroutine

  subroutine shuffles()
    integer(int32) :: data(64), shuffled(64), back(64), short(63)
    integer :: i, stat

    data = [(i*65537, i=1, 64)]
    call blosc2_shuffle(data, shuffled)
    call check(any(shuffled /= data), 'shuffled')
    call blosc2_unshuffle(shuffled, back)
    call check(all(back == data), 'unshuffled')
    call blosc2_bitshuffle(data, shuffled, typesize=4)
    call blosc2_bitunshuffle(shuffled, back)
    call check(all(back == data), 'bits unshuffled')
    call blosc2_shuffle(data, short, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'shuffling into less')
    call blosc2_shuffle(data, back, typesize=0, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'shuffling items of no bytes')
  end subroutine

  subroutine blocks_of_variable_length()
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(blosc2_cparams) :: cparams
    type(blosc2_bytes) :: blocks(3), hollow(1)
    type(blosc2_bytes), allocatable :: back(:)
    integer(int8), allocatable :: chunk(:), block(:)
    integer :: nblocks, stat

    cparams%typesize = 1
    call cctx%create(cparams)
    call dctx%create()
    blocks(1)%bytes = transfer('a first text', [0_int8])
    blocks(2)%bytes = transfer('another one, which is longer by far', [0_int8])
    blocks(3)%bytes = [1_int8]
    call cctx%vlcompress(blocks, chunk)
    call blosc2_vlchunk_get_nblocks(chunk, nblocks)
    call check(nblocks == 3, 'blocks in a chunk')
    call dctx%vldecompress(chunk, back)
    call check(size(back) == 3, 'decompressed blocks')
    call check(all(back(1)%bytes == blocks(1)%bytes), 'first block')
    call check(size(back(2)%bytes) == 35 .and. all(back(3)%bytes == 1_int8), 'other blocks')
    call dctx%vldecompress_block(chunk, 2, block)
    call check(all(block == blocks(2)%bytes), 'block 2')
    call dctx%vldecompress_block(chunk, 4, block, stat)
    call check(stat < 0 .and. size(block) == 0, 'block 4')
    ! Incompressible blocks have the largest overhead with items of 16 bytes, which have 16 streams.
    cparams%typesize = 16
    cparams%clevel = 9
    cparams%splitmode = BLOSC_ALWAYS_SPLIT
    call cctx%create(cparams)
    blocks(1)%bytes = noise(16000)
    blocks(2)%bytes = noise(16)
    blocks(3)%bytes = noise(32)
    call cctx%vlcompress(blocks, chunk)
    call dctx%vldecompress(chunk, back)
    call check(all(back(1)%bytes == blocks(1)%bytes) .and. all(back(3)%bytes == blocks(3)%bytes), 'noise')
    call cctx%vlcompress(hollow, chunk, stat)
    call check(stat < 0 .and. size(chunk) == 0, 'a missing block')
    call blosc2_compress([1, 2, 3], chunk)
    call dctx%vldecompress(chunk, back, stat)
    call check(stat < 0 .and. size(back) == 0, 'blocks of a common chunk')
  end subroutine

  function noise(length) result(bytes)
    integer, intent(in) :: length
    integer(int8) :: bytes(length)
    real(real32) :: values(length)

    call random_number(values)
    bytes = int(255*values - 127, int8)
  end function

  subroutine masked_blocks()
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(blosc2_cparams) :: cparams
    integer(int8), allocatable :: chunk(:)
    integer(int32) :: data(4000), back(4000)
    integer :: i

    cparams%typesize = 4
    cparams%blocksize = 4000
    data = [(i, i=1, 4000)]
    call cctx%create(cparams)
    call cctx%compress(data, chunk)
    call dctx%create()
    call dctx%set_maskout([.false., .true., .true., .false.])
    back = 0
    call dctx%decompress(chunk, back)
    call check(all(back(:1000) == data(:1000)) .and. all(back(1001:3000) == 0), 'masked blocks')
    call check(all(back(3001:) == data(3001:)), 'blocks that are not masked')
    call dctx%decompress(chunk, back)
    call check(all(back == data), 'the mask is for one time')
  end subroutine

  subroutine parameters_of_contexts()
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(blosc2_cparams) :: cparams, found
    type(blosc2_dparams) :: dparams, used
    integer :: stat

    cparams%compcode = BLOSC_ZSTD
    cparams%clevel = 3
    cparams%typesize = 16
    cparams%filters(6) = BLOSC_BITSHUFFLE
    call cctx%create(cparams)
    call cctx%get_cparams(found)
    call check(found%compcode == BLOSC_ZSTD .and. found%clevel == 3 .and. found%typesize == 16, 'parameters')
    call check(all(found%filters == [0, 0, 0, 0, 0, BLOSC_BITSHUFFLE]), 'filters')
    dparams%nthreads = 2
    call dctx%create(dparams)
    call dctx%get_dparams(used)
    call check(used%nthreads == 2, 'threads to decompress with')
    cparams%filters(1) = 77
    call cctx%create(cparams, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'an unknown filter')
    call check(.not. cctx%is_open(), 'no context')
  end subroutine

  ! Non-numeric types: strings, logicals, derived types.
  subroutine other_types()
    type :: particle
      real(real64) :: position(3)
      ! Two numbers, so that the type has no padding.
      integer(int32) :: charge, number
    end type
    type(particle) :: particles(100), seen(100)
    character(11) :: words(40), read_words(40)
    logical :: flags(77), read_flags(77)
    integer(int8), allocatable :: chunk(:)
    integer :: typesize, i

    do i = 1, 100
      particles(i) = particle([i, 2*i, 3*i], -i, i)
    end do
    call blosc2_compress(particles, chunk)
    call blosc2_cbuffer_metainfo(chunk, typesize)
    call check(typesize == storage_size(particles)/8, 'size of a particle')
    call blosc2_decompress(chunk, seen)
    call check(all(seen%charge == particles%charge) .and. seen(100)%position(3) == 300, 'particles')
    words = 'some words.'
    call blosc2_compress(words, chunk)
    call blosc2_cbuffer_metainfo(chunk, typesize)
    call blosc2_decompress(chunk, read_words)
    call check(typesize == 11 .and. all(read_words == words), 'words')
    flags = [(modulo(i, 3) == 0, i=1, 77)]
    call blosc2_compress(flags, chunk)
    call blosc2_decompress(chunk, read_flags)
    call check(all(read_flags .eqv. flags), 'logicals')
  end subroutine

  subroutine errors()
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams
    type(blosc2_bytes) :: blocks(1)
    type(blosc2_bytes), allocatable :: back(:)
    integer(int8), allocatable :: chunk(:), bytes(:)
    integer :: data(100), small(99), nothing(0), stat, nbytes

    data = 1
    call blosc2_compress(data, chunk)
    call blosc2_decompress(chunk, small, nbytes, stat)
    call check(stat < 0 .and. nbytes == 0, 'a destination that is too small')
    call blosc2_decompress(chunk(:20), data, stat=stat)
    call check(stat < 0, 'a truncated chunk')
    call blosc2_compress(data, chunk, clevel=10, stat=stat)
    call check(stat < 0 .and. size(chunk) == 0, 'level 10')
    call blosc2_compress(data, chunk, typesize=0, stat=stat)
    call check(stat < 0, 'items of no bytes')
    call blosc2_compress(nothing, chunk)
    call blosc2_decompress(chunk, nothing, nbytes)
    call check(nbytes == 0, 'nothing')
    call of_assumed_size(data)

    blocks(1)%bytes = [1_int8]
    call cctx%compress(data, chunk, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'compressing without context')
    call cctx%vlcompress(blocks, chunk, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'compressing blocks without context')
    call cctx%get_cparams(cparams, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'parameters without context')
    call blosc2_compress(data, chunk)
    call dctx%decompress(chunk, data, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'decompressing without context')
    call dctx%getitem(chunk, 1, data, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'items without context')
    call dctx%set_maskout([.true.], stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'mask without context')
    call dctx%vldecompress(chunk, back, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'blocks without context')
    call dctx%vldecompress_block(chunk, 1, bytes, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'a block without context')
    call dctx%get_dparams(dparams, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'parameters to decompress with, without context')
    call dctx%create()
    call dctx%decompress(chunk, small, stat=stat)
    call check(stat < 0, 'a destination that is too small, by context')
    call blosc2_remove_dir('/nonexistent/folder', stat)
    call check_stat(stat, BLOSC2_ERROR_NOT_FOUND, 'removing a missing directory')
    call blosc2_remove_urlpath('/nonexistent/file')
    call blosc2_rename_urlpath('/nonexistent/file', '/nonexistent/other', stat)
    call check_stat(stat, BLOSC2_ERROR_FAILURE, 'renaming a missing path')
  end subroutine

  subroutine of_assumed_size(data)
    integer, intent(inout) :: data(*)
    integer(int8), allocatable :: chunk(:)
    integer :: stat

    call blosc2_compress(data(1:2), chunk, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_SUCCESS, 'a section of an array of assumed size')
  end subroutine
end program chunks
