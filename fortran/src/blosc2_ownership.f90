! Who frees an object of the library.
!
! A handle (a context, a super-chunk, an array) points to a record that counts the handles of one object. Assigning a
! handle makes a second handle of the same object; when the last one goes out of scope or is released, the object is
! freed. An object that lives in another one (the super-chunk of an array, a view) keeps that one's record too.
!
! Some compilers copy a handle without calling its assignment where it is a component of another type, and may finalize
! such copies (gfortran 12 does both). So a handle knows its own address: what was copied to another place holds nothing
! there, is not open and frees nothing.
!
! Counts are plain integers: threads that share an object need handles of their own, made before they start, or a lock.
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

  !> An object and the count of its handles.
  type, public :: owned_object
    private
    type(c_ptr) :: object = c_null_ptr
    integer :: handles = 0
    procedure(free_object), pointer, nopass :: free => null()
    type(owned_object), pointer :: parent => null()
  end type

  !> What a handle consists of.
  type, public :: owner_handle
    private
    type(owned_object), pointer :: record => null()
    !> Where the handle was when it got the record.
    integer(c_intptr_t) :: home = 0
  end type

contains

  !> Makes `owner`, which lets go of what it had, the first handle of an object. Without `free` the object belongs to
  !! somebody else; `parent` is kept as long as it.
  subroutine own(owner, object, free, parent)
    type(owner_handle), intent(inout) :: owner
    type(c_ptr), intent(in) :: object
    procedure(free_object), optional :: free
    type(owned_object), pointer, intent(in), optional :: parent
    type(owned_object), pointer :: made

    allocate (made)
    made%object = object
    made%handles = 1
    if (present(free)) made%free => free
    if (present(parent)) then
      made%parent => parent
      if (associated(parent)) parent%handles = parent%handles + 1
    end if
    call let_go(owner)
    owner%record => made
    owner%home = place_of(owner)
  end subroutine

  !> Makes `to`, which lets go of what it had, one more handle of the object of `from`.
  subroutine share(to, from)
    type(owner_handle), intent(inout) :: to
    type(owner_handle), intent(in) :: from
    type(owned_object), pointer :: kept

    ! `from` may be a copy that the compiler made for this call; what it was copied from is still there.
    kept => from%record
    if (associated(kept)) kept%handles = kept%handles + 1
    call let_go(to)
    to%record => kept
    to%home = place_of(to)
  end subroutine

  !> Ends a handle, and the object with the last one.
  subroutine let_go(owner)
    type(owner_handle), intent(inout) :: owner

    if (holds(owner)) call give_up(owner%record)
    owner%record => null()
  end subroutine

  !> Whether a handle has an object.
  function holds(owner)
    type(owner_handle), intent(in) :: owner
    logical :: holds

    holds = associated(owner%record) .and. owner%home == place_of(owner)
  end function

  !> The object of a handle; null when it has none.
  function address_of(owner) result(object)
    type(owner_handle), intent(in) :: owner
    type(c_ptr) :: object

    object = c_null_ptr
    if (holds(owner)) object = owner%record%object
  end function

  !> The record of a handle's object, for what must keep that object; null when it has none.
  function record_of(owner) result(record)
    type(owner_handle), intent(in) :: owner
    type(owned_object), pointer :: record

    record => null()
    if (holds(owner)) record => owner%record
  end function

  ! Counts one handle less, and frees the object when none is left.
  recursive subroutine give_up(record)
    type(owned_object), pointer, intent(in) :: record
    type(owned_object), pointer :: ended

    if (.not. associated(record)) return
    ended => record
    ended%handles = ended%handles - 1
    if (ended%handles > 0) return
    if (associated(ended%free)) call ended%free(ended%object)
    call give_up(ended%parent)
    deallocate (ended)
  end subroutine

  ! Where a handle is.
  function place_of(owner) result(place)
    type(owner_handle), intent(in), target :: owner
    integer(c_intptr_t) :: place

    place = transfer(c_loc(owner), place)
  end function
end module blosc2_ownership
