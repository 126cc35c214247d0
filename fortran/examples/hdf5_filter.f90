! Writes a matrix to an HDF5 file through the Blosc2 filter, which HDF5 loads from HDF5_PLUGIN_PATH,
! and reads it back. Arguments: the file, and optionally the filter's number: 32026 (default), or
! 32001 for the Blosc 1.x filter.
program hdf5_filter_example
  use, intrinsic :: iso_fortran_env, only: real64
  use hdf5
  implicit none

  integer(hsize_t), parameter :: SHAPE_OF_DATA(2) = [500, 100], SHAPE_OF_CHUNK(2) = [500, 50]
  ! Zstd at level 5 after a shuffle; the filter sets the first four values.
  integer, parameter :: SETTINGS(7) = [0, 0, 0, 0, 5, 1, 5]
  real(real64), target :: data(500, 100), back(500, 100)
  integer :: filter, i, j
  character(20) :: number

  do j = 1, 100
    do i = 1, 500
      data(i, j) = i + 1000*j
    end do
  end do
  filter = 32026
  if (command_argument_count() > 1) then
    call get_command_argument(2, number)
    read (number, *) filter
  end if
  call write_file(path())
  back = 0
  call read_file(path())
  print '(a, l1)', 'the same matrix: ', all(back == data)
  if (any(back /= data)) error stop 1

contains

  function path()
    character(:), allocatable :: path
    integer :: length

    call get_command_argument(1, length=length)
    allocate (character(length) :: path)
    call get_command_argument(1, path)
  end function

  ! Stops the program if an HDF5 call failed.
  subroutine expect(error, message)
    integer, intent(in) :: error
    character(*), intent(in) :: message

    if (error < 0) error stop message
  end subroutine

  subroutine write_file(path)
    character(*), intent(in) :: path
    integer(hid_t) :: file, space, properties, dataset
    integer(hsize_t) :: stored
    integer :: error

    call h5open_f(error)
    call h5fcreate_f(path, H5F_ACC_TRUNC_F, file, error)
    call expect(error, 'the file can''t be created')
    call h5screate_simple_f(2, SHAPE_OF_DATA, space, error)
    call h5pcreate_f(H5P_DATASET_CREATE_F, properties, error)
    call h5pset_chunk_f(properties, 2, SHAPE_OF_CHUNK, error)
    ! 0: the filter is mandatory, so that a failed compression is an error.
    call h5pset_filter_f(properties, filter, 0, size(SETTINGS, kind=size_t), SETTINGS, error)
    call expect(error, 'the filter isn''t available: see HDF5_PLUGIN_PATH')
    call h5dcreate_f(file, 'field', H5T_NATIVE_DOUBLE, space, dataset, error, properties)
    call expect(error, 'the dataset can''t be created')
    call h5dwrite_f(dataset, H5T_NATIVE_DOUBLE, data, SHAPE_OF_DATA, error)
    call expect(error, 'the data can''t be written')
    call h5dget_storage_size_f(dataset, stored, error)
    print '(a, l1)', 'five times smaller: ', 5*stored < size(data)*8
    call h5dclose_f(dataset, error)
    call h5pclose_f(properties, error)
    call h5sclose_f(space, error)
    call h5fclose_f(file, error)
  end subroutine

  subroutine read_file(path)
    character(*), intent(in) :: path
    integer(hid_t) :: file, dataset
    integer :: error

    call h5fopen_f(path, H5F_ACC_RDONLY_F, file, error)
    call h5dopen_f(file, 'field', dataset, error)
    call h5dread_f(dataset, H5T_NATIVE_DOUBLE, back, SHAPE_OF_DATA, error)
    call expect(error, 'the data can''t be read')
    call h5dclose_f(dataset, error)
    call h5fclose_f(file, error)
    call h5close_f(error)
  end subroutine
end program hdf5_filter_example
