! Compresses a matrix into a chunk and decompresses it, with the settings of the process and with
! contexts.
program chunk_example
  use, intrinsic :: iso_fortran_env, only: int8, real64
  use blosc2
  implicit none

  real(real64) :: field(200, 300), back(200, 300), column(200)
  integer(int8), allocatable :: chunk(:)
  type(blosc2_cparams) :: cparams
  type(blosc2_cctx) :: compressor
  type(blosc2_dctx) :: decompressor
  integer :: i, j

  do j = 1, 300
    do i = 1, 200
      field(i, j) = 0.01_real64*(i + j)
    end do
  end do

  call blosc2_compress(field, chunk)
  call blosc2_decompress(chunk, back)
  print '(a, l1)', 'the same matrix: ', all(back == field)

  ! Zstd at level 9, with two threads.
  cparams%compcode = BLOSC_ZSTD
  cparams%clevel = 9
  cparams%nthreads = 2
  cparams%typesize = 8
  call compressor%create(cparams)
  call compressor%compress(field, chunk)
  print '(a, l1)', 'ten times smaller: ', 10*size(chunk) < size(field)*8

  ! Reads only a part of a chunk: the 100th column.
  call decompressor%create()
  call decompressor%getitem(chunk, 99*200 + 1, column)
  print '(a, f5.2)', 'item (1, 100): ', column(1)
end program chunk_example
