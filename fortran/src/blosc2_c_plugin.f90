! Interfaces of the libblosc2.so.9 functions for files, I/O backends, registrations and clocks.
!
! Each C function has an interface under its name with the prefix `c_`. Buffers are addresses,
! strings end in `c_null_char`, and nothing is checked. The comments use C conventions, with indices
! from 0. Some have wrappers for Fortran in the module blosc2_chunk.
module blosc2_c_plugin
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_int8_t, c_ptr
  use blosc2_types, only: blosc2_codec, blosc2_filter, blosc2_io_cb, blosc2_stdio_mmap, blosc2_tuner, blosc_timestamp
  implicit none
  public
  private :: c_char, c_double, c_funptr, c_int, c_int64_t, c_int8_t, c_ptr, blosc2_codec, blosc2_filter, &
    blosc2_io_cb, blosc2_stdio_mmap, blosc2_tuner, blosc_timestamp

  interface
    !> Returns BLOSC2_STDIO_MMAP_DEFAULTS: read only, with an initial mapping of 1 GiB.
    function c_blosc2_get_blosc2_stdio_mmap_defaults() bind(c, name='blosc2_get_blosc2_stdio_mmap_defaults') &
      result(c_result)
      import :: blosc2_stdio_mmap
      type(blosc2_stdio_mmap) :: c_result
    end function

    !> Returns the I/O backend with this id, or NULL. The pointer remains valid.
    function c_blosc2_get_io_cb(id) bind(c, name='blosc2_get_io_cb') result(c_result)
      import :: c_int8_t, c_ptr
      integer(c_int8_t), value :: id
      type(c_ptr) :: c_result
    end function

    !> Registers a codec. The struct is copied, its name is not. Returns 0; registering the same
    !! code and name again has no effect. A code below BLOSC2_USER_REGISTERED_CODECS_START, or one
    !! registered with another name, is rejected with BLOSC2_ERROR_CODEC_PARAM.
    function c_blosc2_register_codec(codec) bind(c, name='blosc2_register_codec') result(c_result)
      import :: blosc2_codec, c_int
      type(blosc2_codec), intent(in) :: codec
      integer(c_int) :: c_result
    end function

    !> Registers a filter. The struct is copied, its name is not. Returns 0; registering the same id
    !! and name again has no effect. An id below BLOSC2_USER_REGISTERED_FILTERS_START, or one
    !! registered with another name, is rejected with BLOSC2_ERROR_FAILURE.
    function c_blosc2_register_filter(filter) bind(c, name='blosc2_register_filter') result(c_result)
      import :: blosc2_filter, c_int
      type(blosc2_filter), intent(in) :: filter
      integer(c_int) :: c_result
    end function

    !> Registers an I/O backend for the lifetime of the process. The struct is copied, its name is
    !! not. Returns 0; registering the same id and name again has no effect. An id below
    !! BLOSC2_IO_REGISTERED, or one registered with another name, is rejected with
    !! BLOSC2_ERROR_PLUGIN_IO.
    function c_blosc2_register_io_cb(io) bind(c, name='blosc2_register_io_cb') result(c_result)
      import :: blosc2_io_cb, c_int
      type(blosc2_io_cb), intent(in) :: io
      integer(c_int) :: c_result
    end function

    !> Registers a tuner for all contexts created afterwards. The struct is copied, its name is not.
    !! Returns 0; registering the same id and name again has no effect. An id below
    !! BLOSC2_USER_REGISTERED_TUNER_START, or one registered with another name, is rejected with
    !! BLOSC2_ERROR_FAILURE.
    function c_blosc2_register_tuner(tuner) bind(c, name='blosc2_register_tuner') result(c_result)
      import :: blosc2_tuner, c_int
      type(blosc2_tuner), intent(in) :: tuner
      integer(c_int) :: c_result
    end function

    !> Removes the files of a directory, then the directory. Returns 0; BLOSC2_ERROR_INVALID_PARAM
    !! for NULL or an empty path, BLOSC2_ERROR_NOT_FOUND if there is no directory,
    !! BLOSC2_ERROR_FAILURE if an entry, such as a subdirectory, could not be removed.
    function c_blosc2_remove_dir(path) bind(c, name='blosc2_remove_dir') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: c_result
    end function

    !> Removes a super-chunk from disk: a file with its lock and journal, or a directory. Returns 0,
    !! also for NULL and a missing path; BLOSC2_ERROR_FILE_REMOVE for a file that cannot be removed;
    !! the errors of blosc2_remove_dir().
    function c_blosc2_remove_urlpath(path) bind(c, name='blosc2_remove_urlpath') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: c_result
    end function

    !> Renames a super-chunk on disk, a file or a directory; a file at the new path is replaced.
    !! Returns 0, also for NULL, or BLOSC2_ERROR_FAILURE.
    function c_blosc2_rename_urlpath(old_urlpath, new_path) bind(c, name='blosc2_rename_urlpath') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: old_urlpath(*), new_path(*)
      integer(c_int) :: c_result
    end function

    !> Sets a callback that runs the parallel work of all contexts instead of the library's threads;
    !! NULL selects the library's threads again. No context may be in use during the call.
    subroutine c_blosc2_set_threads_callback(callback, callback_data) bind(c, name='blosc2_set_threads_callback')
      import :: c_funptr, c_ptr
      type(c_funptr), value :: callback
      type(c_ptr), value :: callback_data
    end subroutine

    !> Closes a stream of blosc2_stdio_open() and frees it. Returns 0 on success.
    function c_blosc2_stdio_close(stream) bind(c, name='blosc2_stdio_close') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: stream
      integer(c_int) :: c_result
    end function

    !> Does nothing: the parameters own no resources. Returns 0.
    function c_blosc2_stdio_destroy(params) bind(c, name='blosc2_stdio_destroy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: params
      integer(c_int) :: c_result
    end function

    !> Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy(). Returns 0.
    function c_blosc2_stdio_mmap_close(stream) bind(c, name='blosc2_stdio_mmap_close') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: stream
      integer(c_int) :: c_result
    end function

    !> Writes the changes of a mapped file to disk, unmaps it, and frees params if needs_free is
    !! set. Returns 0, or -1 if no file is mapped.
    function c_blosc2_stdio_mmap_destroy(params) bind(c, name='blosc2_stdio_mmap_destroy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: params
      integer(c_int) :: c_result
    end function

    !> Maps a file with params, a blosc2_stdio_mmap; mode is ignored. Returns params as the stream,
    !! also if the file is already mapped; NULL if another file is mapped.
    function c_blosc2_stdio_mmap_open(urlpath, mode, params) bind(c, name='blosc2_stdio_mmap_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*), mode(*)
      type(c_ptr), value :: params
      type(c_ptr) :: c_result
    end function

    !> Sets ptr to nitems items of size bytes at a position of a mapped file. They are valid until
    !! the next write to the file. Returns nitems; 0, with ptr NULL, if the range is out of bounds.
    function c_blosc2_stdio_mmap_read(ptr, size, nitems, position, stream) bind(c, &
      name='blosc2_stdio_mmap_read') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Returns the size of a mapped file in bytes, or -1.
    function c_blosc2_stdio_mmap_size(stream) bind(c, name='blosc2_stdio_mmap_size') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Sets the size of a mapped file in bytes. Returns 0, or -1, also if it is mapped read-only.
    function c_blosc2_stdio_mmap_truncate(stream, size) bind(c, name='blosc2_stdio_mmap_truncate') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: size
      integer(c_int) :: c_result
    end function

    !> Writes nitems items of size bytes at a position of a mapped file, which may invalidate
    !! pointers of blosc2_stdio_mmap_read(). Returns nitems, or 0 on failure or if the file is
    !! mapped read-only.
    function c_blosc2_stdio_mmap_write(ptr, size, nitems, position, stream) bind(c, &
      name='blosc2_stdio_mmap_write') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Opens a file. mode is that of fopen(); params is ignored. Returns a blosc2_stdio_file, or
    !! NULL.
    function c_blosc2_stdio_open(urlpath, mode, params) bind(c, name='blosc2_stdio_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*), mode(*)
      type(c_ptr), value :: params
      type(c_ptr) :: c_result
    end function

    !> Reads nitems items of size bytes at a position into ptr. Returns the number of complete items
    !! read.
    function c_blosc2_stdio_read(ptr, size, nitems, position, stream) bind(c, name='blosc2_stdio_read') &
      result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), intent(inout) :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Returns the size of a file in bytes, or -1.
    function c_blosc2_stdio_size(stream) bind(c, name='blosc2_stdio_size') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Sets the size of a file in bytes. Returns 0, or -1.
    function c_blosc2_stdio_truncate(stream, size) bind(c, name='blosc2_stdio_truncate') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: stream
      integer(c_int64_t), value :: size
      integer(c_int) :: c_result
    end function

    !> Writes nitems items of size bytes at a position. Returns the number of complete items
    !! written.
    function c_blosc2_stdio_write(ptr, size, nitems, position, stream) bind(c, name='blosc2_stdio_write') &
      result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: ptr
      integer(c_int64_t), value :: size, nitems, position
      type(c_ptr), value :: stream
      integer(c_int64_t) :: c_result
    end function

    !> Returns the time from start_time to end_time in nanoseconds.
    function c_blosc_elapsed_nsecs(start_time, end_time) bind(c, name='blosc_elapsed_nsecs') result(c_result)
      import :: blosc_timestamp, c_double
      type(blosc_timestamp), value :: start_time, end_time
      real(c_double) :: c_result
    end function

    !> Returns the time from start_time to end_time in seconds.
    function c_blosc_elapsed_secs(start_time, end_time) bind(c, name='blosc_elapsed_secs') result(c_result)
      import :: blosc_timestamp, c_double
      type(blosc_timestamp), value :: start_time, end_time
      real(c_double) :: c_result
    end function

    !> Stores the time of a monotonic clock.
    subroutine c_blosc_set_timestamp(timestamp) bind(c, name='blosc_set_timestamp')
      import :: blosc_timestamp
      type(blosc_timestamp), intent(out) :: timestamp
    end subroutine
  end interface
end module blosc2_c_plugin
