! Builds the C struct for the storage of a super-chunk or an array from optional Fortran arguments.
!
! The struct points to its components, which must exist during the call; the library copies them.
module blosc2_storage_parts
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_loc, c_null_char
  use blosc2_types, only: blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_storage
  implicit none
  private
  public :: assemble_storage

  !> A storage and the objects it points to. Variables of this type need the attribute `target`.
  type, public :: storage_parts
    type(blosc2_storage) :: storage
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams
    type(blosc2_io) :: io
    character(kind=c_char), allocatable :: urlpath(:)
  end type

contains

  !> Fills in `parts`. Absent arguments are null in the C struct, which selects the library's
  !! defaults. If `contiguous` is absent, the storage is one file on disk, or separate chunks in
  !! memory.
  subroutine assemble_storage(parts, cparams, dparams, urlpath, contiguous, io)
    type(storage_parts), intent(inout), target :: parts
    type(blosc2_cparams), intent(in), optional :: cparams
    type(blosc2_dparams), intent(in), optional :: dparams
    character(*), intent(in), optional :: urlpath
    logical, intent(in), optional :: contiguous
    type(blosc2_io), intent(in), optional :: io
    integer :: i

    parts%storage%contiguous = present(urlpath)
    if (present(contiguous)) parts%storage%contiguous = logical(contiguous, c_bool)
    if (present(cparams)) then
      parts%cparams = cparams
      parts%storage%cparams = c_loc(parts%cparams)
    end if
    if (present(dparams)) then
      parts%dparams = dparams
      parts%storage%dparams = c_loc(parts%dparams)
    end if
    if (present(urlpath)) then
      allocate (parts%urlpath(len_trim(urlpath) + 1))
      do i = 1, len_trim(urlpath)
        parts%urlpath(i) = urlpath(i:i)
      end do
      parts%urlpath(size(parts%urlpath)) = c_null_char
      parts%storage%urlpath = c_loc(parts%urlpath)
    end if
    if (present(io)) then
      parts%io = io
      parts%storage%io = c_loc(parts%io)
    end if
  end subroutine
end module blosc2_storage_parts
