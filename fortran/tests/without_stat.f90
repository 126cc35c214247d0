! Tests of procedures without `stat`: each call stops the program. The argument selects the call.
program without_stat
  use, intrinsic :: iso_fortran_env, only: int64, int8
  use blosc, only: blosc_decompress
  use blosc2
  use checks, only: argument
  implicit none

  type(blosc2_schunk) :: schunk
  type(b2nd_array) :: array
  integer(int8) :: chunk(100) = 0_int8
  integer :: data(3)

  select case (argument(1))
  case ('open')
    call schunk%open('/nonexistent/file')
  case ('append')
    call schunk%append([1, 2, 3])
  case ('slice')
    call array%from_array([1, 2, 3])
    call array%get_slice([1_int64], [4_int64], data)
  case ('decompress')
    call blosc_decompress(chunk, data)
  end select
  print '(a)', 'still here'
end program without_stat
