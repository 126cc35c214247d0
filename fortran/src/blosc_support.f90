! What the modules `blosc` and `blosc2` share: Fortran arrays seen from C, and strings and memory that come from C.
!
! Programs need nothing of it but `blosc_buffer`, if they write procedures of their own for arrays of any type.
module blosc_support
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_int8_t, c_int64_t, c_null_ptr, &
    c_ptr, c_size_t
  implicit none
  private
  public :: blosc_describe, bytes_from_c, free_c, malloc_c, text_from_c

  !> Dimensions that an array of Fortran can have.
  integer, parameter, public :: BLOSC_MAX_RANK = 15

  !> Where an array of Fortran is and what it holds.
  type, bind(c), public :: blosc_buffer
    !> The first item.
    type(c_ptr) :: address = c_null_ptr
    !> Bytes of an item.
    integer(c_int64_t) :: item_size = 0
    !> Items; -1 for arrays that don't know it (assumed size).
    integer(c_int64_t) :: items = 0
    !> Items along each dimension; 1 behind the last.
    integer(c_int64_t) :: extents(BLOSC_MAX_RANK) = 1
    !> Dimensions; 0 for a scalar.
    integer(c_int) :: rank = 0
    !> NumPy's letter for the type: i, f, c, b, S (characters), V (anything else).
    character(kind=c_char) :: kind = 'V'
  end type

  interface
    !> Describes an array. It must be contiguous, and the address holds as long as the argument does.
    subroutine blosc_describe(array, buffer) bind(c, name='blosc_fortran_describe')
      import :: blosc_buffer
      type(*), dimension(..), intent(in), target :: array
      type(blosc_buffer), intent(out) :: buffer
    end subroutine

    !> Memory that the library may free.
    function malloc_c(nbytes) bind(c, name='malloc') result(address)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: nbytes
      type(c_ptr) :: address
    end function

    !> Frees memory that came from the library; null is allowed.
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

  !> The text at an address; empty for null.
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

  !> A copy of the bytes at an address.
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
