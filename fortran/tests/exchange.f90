! Exchanges files with python-blosc2: `exchange write DIR` writes them, `exchange read DIR`
! reads the same content written by exchange.py, which documents it.
program exchange
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, int8, real32, real64
  use blosc, only: blosc_compress_ctx, blosc_decompress
  use blosc2
  use checks, only: argument, check, finish, read_file, write_file
  implicit none

  integer, parameter :: N1 = 5, N2 = 4, N3 = 3
  character(:), allocatable :: folder

  folder = argument(2)//'/'
  select case (argument(1))
  case ('write')
    call write_all()
  case ('read')
    call read_all()
  end select
  call finish('exchange '//argument(1))
  deallocate (folder)

contains

  ! Item (i, j, k), counted from 1, of every array in the files.
  elemental function item(i, j, k)
    integer, intent(in) :: i, j, k
    integer :: item

    item = 12*(i - 1) + 3*(j - 1) + (k - 1)
  end function

  function items() result(values)
    integer :: values(N1, N2, N3)
    integer :: i, j, k

    values = reshape([(((item(i, j, k), i=1, N1), j=1, N2), k=1, N3)], [N1, N2, N3])
  end function

  ! Returns a string of at most 31 characters in MessagePack, the encoding of python-blosc2's
  ! metalayers.
  function packed(text)
    character(*), intent(in) :: text
    character(len(text) + 1) :: packed

    packed = achar(160 + len(text))//text
  end function

  subroutine write_array(name, array)
    character(*), intent(in) :: name
    type(b2nd_array), intent(in) :: array

    call array%save(folder//name//'.b2nd')
  end subroutine

  subroutine write_all()
    type(b2nd_array) :: array
    type(b2nd_options) :: options
    type(blosc2_schunk) :: schunk
    type(blosc2_cparams) :: cparams
    integer(int8), allocatable :: chunk(:)
    integer :: values(N1, N2, N3), i
    real(real64) :: numbers(1000)

    values = items()
    options%chunkshape = [3, 4, 2]
    options%blockshape = [2, 2, 2]
    options%contiguous = .true.
    call array%from_array(int(values, int8), options)
    call write_array('int8', array)
    call array%from_array(int(values, int16), options)
    call write_array('int16', array)
    call array%from_array(int(values, int32), options)
    call write_array('int32', array)
    call array%from_array(int(values, int64), options)
    call write_array('int64', array)
    call array%from_array(real(values, real32), options)
    call write_array('real32', array)
    call array%from_array(real(values, real64), options)
    call write_array('real64', array)
    call array%from_array(cmplx(values, -values, real32), options)
    call write_array('complex32', array)
    call array%from_array(cmplx(values, -values, real64), options)
    call write_array('complex64', array)
    ! A directory, with a file for each chunk.
    options%contiguous = .false.
    options%urlpath = folder//'directory.b2nd'
    call array%from_array(real(values, real64), options)

    cparams%typesize = 8
    cparams%compcode = BLOSC_ZSTD
    call schunk%create(cparams, urlpath=folder//'numbers.b2frame')
    call schunk%meta_add_text('units', packed('metres'))
    do i = 1, 3
      numbers = real(i, real64)/2
      call schunk%append(numbers)
    end do
    call schunk%vlmeta_add_text('history', packed('written in Fortran'))
    call blosc2_compress(numbers, chunk)
    call write_file(folder//'chunk.blosc2', chunk)
    call blosc_compress_ctx(numbers, chunk, compressor='zlib')
    call write_file(folder//'chunk.blosc1', chunk)
  end subroutine

  subroutine open_array(name, dtype, array)
    character(*), intent(in) :: name, dtype
    type(b2nd_array), intent(inout) :: array

    call array%open(folder//name//'.b2nd')
    call check(all(array%shape() == [N1, N2, N3]), 'shape of '//name)
    call check(array%dtype() == dtype, 'type of '//name)
  end subroutine

  subroutine read_all()
    type(b2nd_array) :: array
    type(blosc2_schunk) :: schunk
    character(:), allocatable :: text
    integer :: values(N1, N2, N3)
    integer(int8) :: of_int8(N1, N2, N3)
    integer(int16) :: of_int16(N1, N2, N3)
    integer(int32) :: of_int32(N1, N2, N3)
    integer(int64) :: of_int64(N1, N2, N3)
    real(real32) :: of_real32(N1, N2, N3)
    real(real64) :: of_real64(N1, N2, N3), numbers(1000)
    complex(real32) :: of_complex32(N1, N2, N3)
    complex(real64) :: of_complex64(N1, N2, N3)

    values = items()
    call open_array('int8', '|i1', array)
    call array%to_array(of_int8)
    call check(all(of_int8 == values), 'int8')
    call open_array('int16', '<i2', array)
    call array%to_array(of_int16)
    call check(all(of_int16 == values), 'int16')
    call open_array('int32', '<i4', array)
    call array%to_array(of_int32)
    call check(all(of_int32 == values), 'int32')
    call array%get_slice([2_int64, 1_int64, 3_int64], [4_int64, 4_int64, 3_int64], of_int32(:3, :, 1))
    call check(all(of_int32(:3, :, 1) == values(2:4, :, 3)), 'a slice of int32')
    call open_array('int64', '<i8', array)
    call array%to_array(of_int64)
    call check(all(of_int64 == values), 'int64')
    call open_array('real32', '<f4', array)
    call array%to_array(of_real32)
    call check(all(of_real32 == values), 'real32')
    call open_array('real64', '<f8', array)
    call array%to_array(of_real64)
    call check(all(of_real64 == values), 'real64')
    call open_array('complex32', '<c8', array)
    call array%to_array(of_complex32)
    call check(all(of_complex32 == cmplx(values, -values)), 'complex of real32')
    call open_array('complex64', '<c16', array)
    call array%to_array(of_complex64)
    call check(all(of_complex64 == cmplx(values, -values)), 'complex of real64')

    call open_array('directory', '<f8', array)
    of_real64 = 0
    call array%to_array(of_real64)
    call check(all(of_real64 == values), 'an array in a directory')

    call schunk%open(folder//'numbers.b2frame')
    call check(schunk%nchunks() == 3 .and. schunk%typesize() == 8, 'a super-chunk')
    call schunk%decompress_chunk(3_int64, numbers)
    call check(all(numbers == 1.5_real64), 'its last chunk')
    call schunk%meta_get('units', text)
    call check(text == packed('metres'), 'its fixed metalayer')
    call schunk%vlmeta_get('history', text)
    call check(text == packed('written in Python'), 'its metalayer of variable length')
    numbers = 0
    call blosc2_decompress(read_file(folder//'chunk.blosc2'), numbers)
    call check(all(numbers == 1.5_real64), 'a chunk')
    numbers = 0
    call blosc_decompress(read_file(folder//'chunk.blosc1'), numbers)
    call check(all(numbers == 1.5_real64), 'a chunk of Blosc 1.x')
  end subroutine
end program exchange
