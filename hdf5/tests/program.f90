! Tests of the filters from Fortran: creates, writes and reads a dataset with each of them.
program filters
   use hdf5
   implicit none
   integer, parameter :: numbers(2) = [32001, 32026]
   character(len=*), parameter :: names(2) = ["blosc ", "blosc2"]
   integer(hsize_t), parameter :: shape(2) = [1000_hsize_t, 100_hsize_t], chunk(2) = [500_hsize_t, 50_hsize_t]
   integer, parameter :: parameters(7) = [0, 0, 0, 0, 5, 1, 1]
   ! The modules of HDF5 1.10 have no constant for 0, a mandatory filter.
   integer, parameter :: mandatory = 0
   integer(hid_t) :: file, space, properties, dataset
   integer :: status, which, row, column
   real(8) :: values(1000, 100), back(1000, 100)
   character(len=255) :: path

   call get_command_argument(1, path)
   do column = 1, 100
      do row = 1, 1000
         values(row, column) = row*0.5d0 + column
      end do
   end do
   call h5open_f(status)
   call h5fcreate_f(trim(path), H5F_ACC_TRUNC_F, file, status)
   do which = 1, 2
      call h5screate_simple_f(2, shape, space, status)
      call h5pcreate_f(H5P_DATASET_CREATE_F, properties, status)
      call h5pset_chunk_f(properties, 2, chunk, status)
      call h5pset_filter_f(properties, numbers(which), mandatory, 7_size_t, parameters, status)
      call h5dcreate_f(file, trim(names(which)), H5T_NATIVE_DOUBLE, space, dataset, status, properties)
      if (status < 0) stop 1
      call h5dwrite_f(dataset, H5T_NATIVE_DOUBLE, values, shape, status)
      if (status < 0) stop 2
      call h5dclose_f(dataset, status)
      call h5pclose_f(properties, status)
      call h5sclose_f(space, status)
   end do
   call h5fclose_f(file, status)

   call h5fopen_f(trim(path), H5F_ACC_RDONLY_F, file, status)
   do which = 1, 2
      back = 0
      call h5dopen_f(file, trim(names(which)), dataset, status)
      call h5dread_f(dataset, H5T_NATIVE_DOUBLE, back, shape, status)
      if (status < 0) stop 3
      if (any(back /= values)) stop 4
      call h5dclose_f(dataset, status)
   end do
   call h5fclose_f(file, status)
   call h5close_f(status)
   print "(a)", "   written and read from Fortran"
end program filters
