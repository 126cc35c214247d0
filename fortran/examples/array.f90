! Stores a three-dimensional array in a file, changes a plane of it and reads a slice. The argument
! is the file, which is portable between languages: in Python, blosc2.open(file)[k - 1, j - 1, i -
! 1] is item (i, j, k) here.
program array_example
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use blosc2
  implicit none

  call store()
  call look()

contains

  function path()
    character(:), allocatable :: path
    integer :: length

    call get_command_argument(1, length=length)
    allocate (character(length) :: path)
    call get_command_argument(1, path)
  end function

  subroutine store()
    type(b2nd_array) :: array
    type(b2nd_options) :: options
    real(real64), allocatable :: grid(:, :, :), plane(:, :)
    integer :: i, j, k

    allocate (grid(60, 50, 40), plane(60, 50))
    do k = 1, 40
      do j = 1, 50
        do i = 1, 60
          grid(i, j, k) = 10000*i + 100*j + k
        end do
      end do
    end do
    options%urlpath = path()
    options%chunkshape = [60, 50, 10]
    options%blockshape = [60, 10, 5]
    call blosc2_remove_urlpath(options%urlpath)
    call array%from_array(grid, options)
    plane = 0
    call array%set_slice([1_int64, 1_int64, 7_int64], [60_int64, 50_int64, 7_int64], plane)
  end subroutine

  subroutine look()
    type(b2nd_array) :: array
    real(real64) :: slice(2, 1, 3)

    call array%open(path())
    print '(a, *(1x, i0))', array%dtype(), array%shape()
    call array%get_slice([59_int64, 50_int64, 6_int64], [60_int64, 50_int64, 8_int64], slice)
    print '(2f10.1)', slice
  end subroutine
end program array_example
