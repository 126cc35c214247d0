! Ownership of the library's objects.
!
! A handle (a context, a super-chunk, an array) points to a record that counts the handles of one
! object. Assignment creates a second handle of the same object; when the last one goes out of scope
! or is released, the object is freed. A dependent object (the super-chunk of an array, a view) also
! holds the record of its parent.
!
! Some compilers copy a handle without calling its assignment if it is a component of another type,
! and may finalize such copies (gfortran 12 does both). So a handle records its own address: a
! bitwise copy at another address has no object, is not open and frees nothing.
!
! Counts are plain integers: threads that share an object need their own handles, created before the
! threads start, or a lock.
module blosc2_ownership
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc, c_null_ptr, c_ptr
  implicit none
  private
  public :: address_of, holds, let_go, own, record_of, share

  abstract interface
    !> Frees an object.
    subroutine free_object(object)
      import :: c_ptr
      type(c_ptr), intent(in) :: object
    end subroutine
  end interface

  !> An object and the number of its handles.
  type, public :: owned_object
    private
    type(c_ptr) :: object = c_null_ptr
    integer :: handles = 0
    procedure(free_object), pointer, nopass :: free => null()
    type(owned_object), pointer :: parent => null()
  end type

  !> The state of a handle.
  type, public :: owner_handle
    private
    type(owned_object), pointer :: record => null()
    !> The address of the handle when it acquired the record.
    integer(c_intptr_t) :: home = 0
  end type

contains

  !> Makes `owner`, after releasing its previous object, the first handle of an object. Without
  !! `free` the object is not owned; `parent` is kept alive as long as the object.
  subroutine own(owner, object, free, parent)
    type(owner_handle), intent(inout) :: owner
    type(c_ptr), intent(in) :: object
    procedure(free_object), optional :: free
    type(owned_object), pointer, intent(in), optional :: parent
    type(owned_object), pointer :: record

    allocate (record)
    record%object = object
    record%handles = 1
    if (present(free)) record%free => free
    if (present(parent)) then
      record%parent => parent
      if (associated(parent)) parent%handles = parent%handles + 1
    end if
    call let_go(owner)
    owner%record => record
    owner%home = handle_address(owner)
  end subroutine

  !> Makes `to`, after releasing its previous object, another handle of the object of `from`.
  subroutine share(to, from)
    type(owner_handle), intent(inout) :: to
    type(owner_handle), intent(in) :: from
    type(owned_object), pointer :: record

    ! `from` may be a copy that the compiler made for this call; the original still exists.
    record => from%record
    if (associated(record)) record%handles = record%handles + 1
    call let_go(to)
    to%record => record
    to%home = handle_address(to)
  end subroutine

  !> Releases a handle; the last one frees the object.
  subroutine let_go(owner)
    type(owner_handle), intent(inout) :: owner

    if (holds(owner)) call release_record(owner%record)
    owner%record => null()
  end subroutine

  !> Whether a handle has an object.
  function holds(owner)
    type(owner_handle), intent(in) :: owner
    logical :: holds

    holds = associated(owner%record) .and. owner%home == handle_address(owner)
  end function

  !> Returns the object of a handle, or null.
  function address_of(owner) result(object)
    type(owner_handle), intent(in) :: owner
    type(c_ptr) :: object

    object = c_null_ptr
    if (holds(owner)) object = owner%record%object
  end function

  !> Returns the record of a handle's object, to keep that object alive; null without an object.
  function record_of(owner) result(record)
    type(owner_handle), intent(in) :: owner
    type(owned_object), pointer :: record

    record => null()
    if (holds(owner)) record => owner%record
  end function

  ! Decrements the count of handles and frees the object if it is 0.
  recursive subroutine release_record(record)
    type(owned_object), pointer, intent(in) :: record
    type(owned_object), pointer :: ended

    if (.not. associated(record)) return
    ended => record
    ended%handles = ended%handles - 1
    if (ended%handles > 0) return
    if (associated(ended%free)) call ended%free(ended%object)
    call release_record(ended%parent)
    deallocate (ended)
  end subroutine

  ! Returns the address of a handle.
  function handle_address(owner) result(address)
    type(owner_handle), intent(in), target :: owner
    integer(c_intptr_t) :: address

    address = transfer(c_loc(owner), address)
  end function
end module blosc2_ownership
