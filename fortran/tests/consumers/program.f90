! A minimal program of a user: both modules, and a round trip of an array.
program consumer
  use, intrinsic :: iso_fortran_env, only: int8, real64
  use blosc, only: blosc_compress, blosc_decompress, blosc_get_version_string
  use blosc2, only: b2nd_array, blosc2_get_version_string
  implicit none

  type(b2nd_array) :: array
  real(real64) :: data(30, 20), back(30, 20)
  integer(int8), allocatable :: chunk(:)

  call random_number(data)
  call array%from_array(data)
  call array%to_array(back)
  if (any(abs(back - data) > 0)) error stop 'the array differs'
  call blosc_compress(data, chunk)
  back = 0
  call blosc_decompress(chunk, back)
  if (any(abs(back - data) > 0)) error stop 'the chunk differs'
  print '(4a)', 'blosc ', blosc_get_version_string(), ', blosc2 ', blosc2_get_version_string()
end program consumer
