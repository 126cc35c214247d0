! Error reporting of the `blosc2` procedures.
!
! Each procedure has an optional argument `stat`: 0 on success, otherwise one of the negative
! BLOSC2_ERROR_ codes. If `stat` is absent, an error stops the program by `error stop`, with the
! name of the procedure and the library's message.
module blosc2_status
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr
  use blosc_support, only: blosc_buffer, text_from_c
  use blosc2_c_chunk, only: c_blosc2_error_string
  use blosc2_constants, only: BLOSC2_ERROR_INVALID_PARAM, BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, BLOSC2_ERROR_SUCCESS, &
    BLOSC2_MAX_BUFFERSIZE
  implicit none
  private
  public :: blosc2_error_string, chunk_bytes, settle

  interface settle
    module procedure settle_int
    module procedure settle_int64
  end interface

contains

  !> Returns the library's message for a code of `stat`; "Unknown error" for other values.
  function blosc2_error_string(code) result(message)
    integer, intent(in) :: code
    character(:), allocatable :: message

    message = text_from_c(c_blosc2_error_string(int(code, c_int)))
  end function

  !> Returns a C result in `stat`, or stops the program on an error; non-negative values are
  !! success.
  subroutine settle_int(code, procedure, stat)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    if (present(stat)) then
      stat = min(code, BLOSC2_ERROR_SUCCESS)
    else if (code < BLOSC2_ERROR_SUCCESS) then
      error stop procedure//': '//blosc2_error_string(code)
    end if
  end subroutine

  !> Returns a 64-bit C result in `stat`, or stops the program on an error.
  subroutine settle_int64(code, procedure, stat)
    integer(c_int64_t), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    call settle_int(int(min(code, 0_c_int64_t), c_int), procedure, stat)
  end subroutine

  !> Returns the size of an array in bytes for use with one chunk, or an error code.
  function chunk_bytes(buffer) result(nbytes)
    type(blosc_buffer), intent(in) :: buffer
    integer(c_int) :: nbytes

    if (buffer%items < 0) then
      nbytes = BLOSC2_ERROR_INVALID_PARAM
    else if (buffer%items > BLOSC2_MAX_BUFFERSIZE/max(buffer%item_size, 1_c_int64_t)) then
      nbytes = BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED
    else
      nbytes = int(buffer%items*buffer%item_size, c_int)
    end if
  end function
end module blosc2_status
