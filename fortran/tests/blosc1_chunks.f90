! Tests of the module `blosc`: Blosc 1.x chunks with and without the settings of the process,
! partial decompression, headers, and errors.
program blosc1_chunks
  use, intrinsic :: iso_fortran_env, only: int32, int64, int8, real64
  use blosc
  use checks, only: check, check_stat, finish
  implicit none

  call facts()
  call settings()
  call round_trips()
  call parts()
  call headers()
  call errors()
  call finish('blosc1_chunks')

contains

  subroutine facts()
    character(:), allocatable :: library, version
    integer :: stat

    call check(blosc_get_version_string() == BLOSC_VERSION_STRING, 'version')
    call check(index(blosc_list_compressors(), 'snappy') > 0, 'list of compressors')
    call check(blosc_compname_to_compcode('snappy') == BLOSC_SNAPPY, 'code of snappy')
    call check(blosc_compname_to_compcode('nothing') == -1, 'code of no compressor')
    call check(blosc_compcode_to_compname(BLOSC_ZSTD) == 'zstd', 'name of zstd')
    call check(blosc_compcode_to_compname(77) == '', 'name of no compressor')
    call blosc_get_complib_info('zlib', library, version)
    call check(library == 'Zlib' .and. len(version) > 0, 'library of zlib')
    call blosc_get_complib_info('nothing', library, version, stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'library of no compressor')
  end subroutine

  subroutine settings()
    integer(int8), allocatable :: chunk(:)
    real(real64) :: data(3000), back(3000)
    integer :: i, stat

    data = [(real(i, real64), i=1, 3000)]
    call blosc_init()
    call blosc_set_nthreads(2)
    call check(blosc_get_nthreads() == 2, 'threads')
    call blosc_set_nthreads(0, stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'no threads')
    call blosc_set_compressor('lz4hc')
    call check(blosc_get_compressor() == 'lz4hc', 'compressor')
    call blosc_set_blocksize(4096)
    call check(blosc_get_blocksize() == 4096, 'block size')
    call blosc_set_splitmode(BLOSC_NEVER_SPLIT)
    call blosc_compress(data, chunk, clevel=9, doshuffle=BLOSC_BITSHUFFLE)
    call blosc_decompress(chunk, back)
    call check(all(back == data), 'data by settings')
    call check(blosc_cbuffer_complib(chunk) == 'LZ4', 'library of a chunk')
    call blosc_set_compressor('nothing', stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'unknown compressor')
    call blosc_set_compressor('blosclz')
    call blosc_set_blocksize(0)
    call blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT)
    call blosc_set_nthreads(1)
    call blosc_free_resources()
    call blosc_destroy()
    call blosc_free_resources(stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'freeing without resources')
    call blosc_init()
  end subroutine

  subroutine round_trips()
    character(7), parameter :: names(6) = [character(7) :: 'blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd']
    integer(int8), allocatable :: chunk(:)
    integer(int64) :: data(40, 50), back(40, 50)
    integer :: i, level, shuffle, nbytes

    data = reshape([(int(i, int64)**2, i=1, 2000)], [40, 50])
    do i = 1, size(names)
      do level = 0, 9, 3
        do shuffle = BLOSC_NOSHUFFLE, BLOSC_BITSHUFFLE
          call blosc_compress_ctx(data, chunk, level, shuffle, compressor=names(i), blocksize=4096, nthreads=2)
          back = 0
          call blosc_decompress_ctx(chunk, back, 2, nbytes)
          call check(nbytes == 16000 .and. all(back == data), 'data by '//names(i))
        end do
      end do
    end do
    call blosc_compress_ctx(data, chunk)
    call check(blosc_cbuffer_complib(chunk) == 'BloscLZ', 'the compressor that is the default')
  end subroutine

  subroutine parts()
    integer(int8), allocatable :: chunk(:)
    integer(int32) :: data(1000), some(7)
    integer(int8) :: bytes(4)
    integer :: i, stat

    data = [(i, i=1, 1000)]
    call blosc_compress(data, chunk)
    call blosc_getitem(chunk, 994, some)
    call check(all(some == data(994:)), 'last items')
    call blosc_getitem(chunk, 5, bytes)
    call check(transfer(bytes, 0_int32) == 2, 'bytes of an item')
    call blosc_getitem(chunk, 995, some, stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'items after the end')
    call blosc_getitem(chunk, 0, some, stat)
    call check_stat(stat, BLOSC_ERROR_INVALID_ARRAY, 'item 0')
    call blosc_getitem(chunk, 2, bytes, stat)
    call check_stat(stat, BLOSC_ERROR_INVALID_ARRAY, 'parts of items')
    call blosc_getitem(chunk(:30), 1, some, stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'items of part of a chunk')
  end subroutine

  subroutine headers()
    integer(int8), allocatable :: chunk(:)
    integer(int32) :: data(100)
    integer :: nbytes, cbytes, blocksize, typesize, flags, version, compversion, stat

    data = 3
    call blosc_compress(data, chunk)
    call blosc_cbuffer_sizes(chunk, nbytes, cbytes, blocksize)
    call check(nbytes == 400 .and. cbytes == size(chunk) .and. blocksize > 0, 'sizes')
    call blosc_cbuffer_metainfo(chunk, typesize, flags)
    call check(typesize == 4 .and. iand(flags, BLOSC_DOSHUFFLE) /= 0, 'typesize and flags')
    call blosc_cbuffer_versions(chunk, version, compversion)
    call check(version == BLOSC_VERSION_FORMAT .and. compversion == BLOSC_BLOSCLZ_VERSION_FORMAT, 'versions')
    call blosc_cbuffer_validate(chunk, nbytes)
    call check(nbytes == 400, 'validated size')
    call blosc_cbuffer_validate(chunk(:size(chunk) - 1), nbytes, stat)
    call check(stat == BLOSC_ERROR_FAILURE .and. nbytes == 0, 'a truncated chunk')
    call blosc_cbuffer_sizes(chunk(:3), nbytes, cbytes, blocksize)
    call blosc_cbuffer_metainfo(chunk(:3), typesize, flags)
    call blosc_cbuffer_versions(chunk(:3), version, compversion)
    call check(all([nbytes, cbytes, blocksize, typesize, flags, version, compversion] == 0), 'three bytes')
    call check(blosc_cbuffer_complib(chunk(:3)) == '', 'no library')
  end subroutine

  subroutine errors()
    integer(int8), allocatable :: chunk(:)
    integer(int32) :: data(100), small(99)
    integer :: nbytes, stat

    data = 3
    call blosc_compress(data, chunk)
    call blosc_decompress(chunk, small, nbytes, stat)
    call check(stat == BLOSC_ERROR_FAILURE .and. nbytes == 0, 'a destination that is too small')
    call blosc_decompress_ctx(chunk(:20), data, stat=stat)
    call check_stat(stat, BLOSC_ERROR_FAILURE, 'part of a chunk')
    call blosc_compress(data, chunk, clevel=10, stat=stat)
    call check(stat < 0 .and. size(chunk) == 0, 'level 10')
    call blosc_compress_ctx(data, chunk, compressor='nothing', stat=stat)
    call check(stat < 0 .and. size(chunk) == 0, 'an unknown compressor')
  end subroutine
end program blosc1_chunks
