! Super-chunks: creation, opening, and writing as frames.
submodule (blosc2_superchunk) blosc2_superchunk_store
  implicit none

contains

  module procedure schunk_create
    type(storage_parts), target :: parts

    call assemble_storage(parts, cparams, dparams, urlpath, contiguous, io)
    call adopt_schunk(self, c_blosc2_schunk_new(parts%storage), BLOSC2_ERROR_FAILURE, 'blosc2_schunk%create', stat)
  end procedure

  module procedure schunk_open
    integer(c_int64_t) :: start
    type(c_ptr) :: opened

    start = 0
    if (present(offset)) start = offset
    if (present(io)) then
      opened = c_blosc2_schunk_open_offset_udio(trim(urlpath)//c_null_char, start, io)
    else
      opened = c_blosc2_schunk_open_offset(trim(urlpath)//c_null_char, start)
    end if
    call adopt_schunk(self, opened, BLOSC2_ERROR_FILE_OPEN, 'blosc2_schunk%open', stat)
  end procedure

  module procedure schunk_from_frame
    type(blosc_buffer) :: source

    call blosc_describe(frame, source)
    call adopt_schunk(self, c_blosc2_schunk_from_buffer(source%address, source%items, .true._c_bool), BLOSC2_ERROR_DATA, &
      'blosc2_schunk%from_frame', stat)
  end procedure

  module procedure schunk_copy_of
    type(storage_parts), target :: parts

    call assemble_storage(parts, cparams, dparams, urlpath, contiguous, io)
    if (source%is_open()) then
      call adopt_schunk(self, c_blosc2_schunk_copy(source%c_pointer(), parts%storage), BLOSC2_ERROR_SCHUNK_COPY, &
        'blosc2_schunk%copy_of', stat)
    else
      call self%release()
      call settle(BLOSC2_ERROR_NULL_POINTER, 'blosc2_schunk%copy_of', stat)
    end if
  end procedure

  module procedure schunk_to_frame
    integer(c_int64_t) :: code
    type(c_ptr) :: address
    logical(c_bool) :: needs_free

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_to_buffer(self%c_pointer(), address, needs_free)
    call bytes_from_c(address, code, frame)
    if (code >= 0 .and. needs_free) call free_c(address)
    call settle(code, 'blosc2_schunk%to_frame', stat)
  end procedure
  module procedure schunk_to_file
    integer(c_int64_t) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_to_file(self%c_pointer(), trim(urlpath)//c_null_char)
    call settle(code, 'blosc2_schunk%to_file', stat)
  end procedure

  module procedure schunk_append_file
    integer(c_int64_t) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_append_file(self%c_pointer(), trim(urlpath)//c_null_char)
    if (present(offset)) offset = max(code, 0_c_int64_t)
    call settle(code, 'blosc2_schunk%append_file', stat)
  end procedure

  ! Makes the handle the owner of a super-chunk returned by the library; null means `failure`.
  subroutine adopt_schunk(self, schunk, failure, procedure, stat)
    class(blosc2_schunk), intent(inout) :: self
    type(c_ptr), intent(in) :: schunk
    integer(c_int), intent(in) :: failure
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    if (c_associated(schunk)) then
      call self%adopt(schunk)
      call settle(BLOSC2_ERROR_SUCCESS, procedure, stat)
    else
      call self%release()
      call settle(failure, procedure, stat)
    end if
  end subroutine
end submodule blosc2_superchunk_store
