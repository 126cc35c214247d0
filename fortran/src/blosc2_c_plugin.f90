! The functions of libblosc2.so.9 for files, I/O backends, registrations and clocks, as they are.
!
! Each C function has an interface here, under its own name with `c_` in front. Buffers are addresses, strings end in
! `c_null_char`, nothing is checked; the comments speak of C, where items count from 0. The module above has the
! same functions for Fortran.
module blosc2_c_plugin
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_int8_t, c_ptr
  use blosc2_types, only: blosc2_codec, blosc2_filter, blosc2_io_cb, blosc2_stdio_mmap, blosc2_tuner, blosc_timestamp
  implicit none
  public
  private :: c_char, c_double, c_funptr, c_int, c_int64_t, c_int8_t, c_ptr, blosc2_codec, blosc2_filter, &
    blosc2_io_cb, blosc2_stdio_mmap, blosc2_tuner, blosc_timestamp

  interface
    !> The value of BLOSC2_STDIO_MMAP_DEFAULTS: read only, 1 GiB mapped at first.
    function c_blosc2_get_blosc2_stdio_mmap_defaults() bind(c, name='blosc2_get_blosc2_stdio_mmap_defaults') &
      result(c_result)
      import :: blosc2_stdio_mmap
      type(blosc2_stdio_mmap) :: c_result
    end function

    !> The I/O backend with this id, or NULL. It stays where it is.
    function c_blosc2_get_io_cb(id) bind(c, name='blosc2_get_io_cb') result(c_result)
      import :: c_int8_t, c_ptr
      integer(c_int8_t), value :: id
      type(c_ptr) :: c_result
    end function

    !> Makes a codec known to the library. The struct is copied, its name is not.  Gives 0; registering the
    !! same code and name again changes nothing. A code below BLOSC2_USER_REGISTERED_CODECS_START, or one taken
    !! by another name, is refused with BLOSC2_ERROR_CODEC_PARAM.
    function c_blosc2_register_codec(codec) bind(c, name='blosc2_register_codec') result(c_result)
      import :: blosc2_codec, c_int
      type(blosc2_codec), intent(in) :: codec
      integer(c_int) :: c_result
    end function

    !> Makes a filter known to the library. The struct is copied, its name is not.  Gives 0; registering the
    !! same id and name again changes nothing. An id below BLOSC2_USER_REGISTERED_FILTERS_START, or one taken
    !! by another name, is refused with BLOSC2_ERROR_FAILURE.
    function c_blosc2_register_filter(filter) bind(c, name='blosc2_register_filter') result(c_result)
      import :: blosc2_filter, c_int
      type(blosc2_filter), intent(in) :: filter
      integer(c_int) :: c_result
    end function

    !> Makes an I/O backend known, for as long as the process lives. The struct is copied, its name is not.
    !! Gives 0; registering the same id and name again changes nothing. An id below BLOSC2_IO_REGISTERED, or
    !! one taken by another name, is refused with BLOSC2_ERROR_PLUGIN_IO.
    function c_blosc2_register_io_cb(io) bind(c, name='blosc2_register_io_cb') result(c_result)
      import :: blosc2_io_cb, c_int
      type(blosc2_io_cb), intent(in) :: io
      integer(c_int) :: c_result
    end function

    !> Makes a tuner known to all contexts created from now on. The struct is copied, its name is not.  Gives
    !! 0; registering the same id and name again changes nothing. An id below
    !! BLOSC2_USER_REGISTERED_TUNER_START, or one taken by another name, is refused with BLOSC2_ERROR_FAILURE.
    function c_blosc2_register_tuner(tuner) bind(c, name='blosc2_register_tuner') result(c_result)
      import :: blosc2_tuner, c_int
      type(blosc2_tuner), intent(in) :: tuner
      integer(c_int) :: c_result
    end function

    !> Removes the files of a directory, then the directory.  Gives 0; BLOSC2_ERROR_INVALID_PARAM for NULL or
    !! an empty path, BLOSC2_ERROR_NOT_FOUND for what is no directory, BLOSC2_ERROR_FAILURE when something in
    !! it couldn't be removed, as directories can't.
    function c_blosc2_remove_dir(path) bind(c, name='blosc2_remove_dir') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: c_result
    end function

    !> Removes a super-chunk from the disk, be it a file, which goes with its lock, or a directory.  Gives 0,
    !! also for NULL and when there is nothing; BLOSC2_ERROR_FILE_REMOVE for a file that can't be removed, and
    !! what blosc2_remove_dir() gives.
    function c_blosc2_remove_urlpath(path) bind(c, name='blosc2_remove_urlpath') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: c_result
    end function

    !> Renames a super-chunk on the disk, be it a file or a directory; a file of the new name is replaced.
    !! Gives 0, also for NULL, or BLOSC2_ERROR_FAILURE.
    function c_blosc2_rename_urlpath(old_urlpath, new_path) bind(c, name='blosc2_rename_urlpath') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: old_urlpath(*), new_path(*)
      integer(c_int) :: c_result
    end function

    !> Makes all contexts run their parallel work through a callback instead of the threads of the library;
    !! NULL goes back to those. To be called while no context is at work.
    subroutine c_blosc2_set_threads_callback(callback, callback_data) bind(c, name='blosc2_set_threads_callback')
      import :: c_funptr, c_ptr
      type(c_funptr), value :: callback
      type(c_ptr), value :: callback_data
    end subroutine

    !> Closes a stream of blosc2_stdio_open() and frees it. Gives 0 when it worked.
    function c_blosc2_stdio_close(stream) bind(c, name='blosc2_stdio_close') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: stream
      integer(c_int) :: c_result
    end function

    !> Frees the parameters, which have nothing to be freed. Gives 0.
    function c_blosc2_stdio_destroy(params) bind(c, name='blosc2_stdio_destroy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: params
      integer(c_int) :: c_result
    end function

    !> Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy(). Gives 0.
    function c_blosc2_stdio_mmap_close(stream) bind(c, name='blosc2_stdio_mmap_close') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: stream
      integer(c_int) :: c_result
    end function

    !> Ends the mapping of a file after writing its changes to the disk, and frees params when they say so.
    !! Gives 0, or -1 when nothing is mapped.
    function c_blosc2_stdio_mmap_destroy(params) bind(c, name='blosc2_stdio_mmap_destroy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: params
      integer(c_int) :: c_result
    end function

    !> Maps a file as params, a blosc2_stdio_mmap, says; mode is not used. Gives params as the stream, also
    !! when the file is mapped already; NULL for another file.
    function c_blosc2_stdio_mmap_open(urlpath, mode, params) bind(c, name='blosc2_stdio_mmap_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*), mode(*)
      type(c_ptr), value :: params
      type(c_ptr) :: c_result
    end function

    !> Sets ptr to nitems items of size bytes at a position of a mapped file. They may be read until the file
    !! is next written. Gives nitems; 0, with ptr NULL, when the file hasn't so many.
    function c_blosc2_stdio_mmap_read(ptr, size, nitems, position, stream) bind(c, &
      name='blosc2_stdio_mmap_read') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> The size of a mapped file in bytes, or -1.
    function c_blosc2_stdio_mmap_size(stream) bind(c, name='blosc2_stdio_mmap_size') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Makes a mapped file size bytes long. Gives 0, or -1, also when it is mapped to be read.
    function c_blosc2_stdio_mmap_truncate(stream, size) bind(c, name='blosc2_stdio_mmap_truncate') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: size
      integer(c_int) :: c_result
    end function

    !> Writes nitems items of size bytes at a position of a mapped file, which may move pointers that
    !! blosc2_stdio_mmap_read() gave. Gives the items written, all or none; none when the file is mapped to be
    !! read.
    function c_blosc2_stdio_mmap_write(ptr, size, nitems, position, stream) bind(c, &
      name='blosc2_stdio_mmap_write') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Opens a file. mode is as for fopen(); params is not used. Gives a blosc2_stdio_file, or NULL.
    function c_blosc2_stdio_open(urlpath, mode, params) bind(c, name='blosc2_stdio_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*), mode(*)
      type(c_ptr), value :: params
      type(c_ptr) :: c_result
    end function

    !> Reads nitems items of size bytes at a position into ptr. Gives the whole items read.
    function c_blosc2_stdio_read(ptr, size, nitems, position, stream) bind(c, name='blosc2_stdio_read') &
      result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> The size of a file in bytes, or -1.
    function c_blosc2_stdio_size(stream) bind(c, name='blosc2_stdio_size') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Makes a file size bytes long. Gives 0, or -1.
    function c_blosc2_stdio_truncate(stream, size) bind(c, name='blosc2_stdio_truncate') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: size
      integer(c_int) :: c_result
    end function

    !> Writes nitems items of size bytes at a position. Gives the whole items written.
    function c_blosc2_stdio_write(ptr, size, nitems, position, stream) bind(c, name='blosc2_stdio_write') &
      result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Nanoseconds from start_time to end_time.
    function c_blosc_elapsed_nsecs(start_time, end_time) bind(c, name='blosc_elapsed_nsecs') result(c_result)
      import :: blosc_timestamp, c_double
      type(blosc_timestamp), value :: start_time, end_time
      real(c_double) :: c_result
    end function

    !> Seconds from start_time to end_time.
    function c_blosc_elapsed_secs(start_time, end_time) bind(c, name='blosc_elapsed_secs') result(c_result)
      import :: blosc_timestamp, c_double
      type(blosc_timestamp), value :: start_time, end_time
      real(c_double) :: c_result
    end function

    !> Stores the time of a clock that never goes back.
    subroutine c_blosc_set_timestamp(timestamp) bind(c, name='blosc_set_timestamp')
      import :: blosc_timestamp
      type(blosc_timestamp), intent(out) :: timestamp
    end subroutine
  end interface
end module blosc2_c_plugin
