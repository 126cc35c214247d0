! Common code of the modules `blosc` and `blosc2`: descriptions of Fortran arrays, and conversion of
! C strings and memory.
!
! Programs need only `blosc_buffer`, for their own procedures with arrays of any type.
module blosc_support
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int8_t, c_int64_t, c_null_ptr, &
    c_ptr, c_size_t
  implicit none
  private
  public :: blosc_describe, bytes_from_c, free_c, malloc_c, text_from_c

  !> Maximum number of dimensions of a Fortran array.
  integer, parameter, public :: BLOSC_MAX_RANK = 15

  !> The address and layout of a Fortran array.
  type, bind(c), public :: blosc_buffer
    !> The first item.
    type(c_ptr) :: address = c_null_ptr
    !> The item size in bytes.
    integer(c_int64_t) :: item_size = 0
    !> The number of items; -1 if it is unknown (assumed size).
    integer(c_int64_t) :: items = 0
    !> The extent of each dimension; 1 after the last.
    integer(c_int64_t) :: extents(BLOSC_MAX_RANK) = 1
    !> The number of dimensions; 0 for a scalar.
    integer(c_int) :: rank = 0
    !> NumPy's letter for the item type: i, f, c, b, S (characters), V (anything else).
    character(kind=c_char) :: kind = 'V'
  end type

  interface
    !> Describes an array, which must be contiguous. The address is valid during the lifetime of the
    !! argument.
    subroutine blosc_describe(array, buffer) bind(c, name='blosc_fortran_describe')
      import :: blosc_buffer
      type(*), dimension(..), intent(in), target :: array
      type(blosc_buffer), intent(out) :: buffer
    end subroutine

    !> Allocates memory that the library may free.
    function malloc_c(nbytes) bind(c, name='malloc') result(address)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: nbytes
      type(c_ptr) :: address
    end function

    !> Frees memory of the library; null is allowed.
    subroutine free_c(address) bind(c, name='free')
      import :: c_ptr
      type(c_ptr), value :: address
    end subroutine

    function strlen_c(address) bind(c, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t) :: length
    end function
  end interface

contains

  !> Returns the C string at an address; empty for null.
  function text_from_c(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer(c_size_t) :: i, length

    text = ''
    if (.not. c_associated(address)) return
    length = strlen_c(address)
    call c_f_pointer(address, chars, [length])
    deallocate (text)
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function

  !> Returns a copy of the bytes at an address.
  subroutine bytes_from_c(address, nbytes, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_int64_t), intent(in) :: nbytes
    integer(c_int8_t), allocatable, intent(out) :: bytes(:)
    integer(c_int8_t), pointer :: source(:)

    allocate (bytes(max(nbytes, 0_c_int64_t)))
    if (nbytes <= 0) return
    call c_f_pointer(address, source, [nbytes])
    bytes = source
  end subroutine
end module blosc_support
