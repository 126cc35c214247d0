! Writes a time series to a file, chunk by chunk, with metalayers, and reads some items back. The
! argument is the file.
program super_chunk_example
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use blosc2
  implicit none

  call write_series()
  call read_series()

contains

  function path()
    character(:), allocatable :: path
    integer :: length

    call get_command_argument(1, length=length)
    allocate (character(length) :: path)
    call get_command_argument(1, path)
  end function

  subroutine write_series()
    type(blosc2_schunk) :: series
    type(blosc2_cparams) :: cparams
    real(real32), allocatable :: day(:)
    integer :: i, n

    allocate (day(86400))
    cparams%typesize = 4
    cparams%compcode = BLOSC_LZ4
    call blosc2_remove_urlpath(path())
    call series%create(cparams, urlpath=path())
    call series%meta_add_text('units', 'kelvin')
    do n = 1, 7
      day = [(280 + n + 5*sin(6.2831853*i/86400), i=1, 86400)]
      call series%append(day)
    end do
    call series%vlmeta_add('calibration', [1.02_real32, -0.3_real32])
  end subroutine

  subroutine read_series()
    type(blosc2_schunk) :: series
    real(real32) :: minute(60), calibration(2)
    character(:), allocatable :: units
    integer :: stat

    call series%open(path(), stat=stat)
    if (stat /= 0) then
      print '(a)', 'no series: '//blosc2_error_string(stat)
      return
    end if
    call series%meta_get('units', units)
    call series%vlmeta_read('calibration', calibration)
    call series%get_slice(3*86400_int64 + 1, minute)
    print '(i0, 2a)', series%nitems(), ' items in ', units
    print '(a, f7.2)', 'the first minute of day 4 begins with ', minute(1)
    print '(a, 2f6.2)', 'calibration:', calibration
  end subroutine
end program super_chunk_example
