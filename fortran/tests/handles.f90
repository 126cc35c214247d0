! Tests of ownership: assignment shares an object, and the last handle frees it. Run under valgrind,
! which detects double frees, accesses to freed memory and leaks.
program handles
  use, intrinsic :: iso_c_binding, only: c_associated
  use, intrinsic :: iso_fortran_env, only: int32, int64, int8, real64
  use blosc2
  use checks, only: check, check_stat, finish
  implicit none

  !> A user-defined type with handles.
  type :: experiment
    type(blosc2_schunk) :: samples
    type(b2nd_array) :: grid
    integer :: number = 0
  end type

  call local_handles()
  call shared_handles()
  call arrays_of_handles()
  call handles_in_types()
  call bitwise_copies_of_handles()
  call allocated_handles()
  call views_keep_their_array()
  call super_chunks_of_arrays()
  call arrays_of_super_chunks()
  call reused_handles()
  call shared_contexts()
  call finish('handles')

contains

  subroutine fill(schunk)
    type(blosc2_schunk), intent(inout) :: schunk
    real(real64) :: data(100)

    data = 1
    call schunk%create()
    call schunk%append(data)
  end subroutine

  subroutine local_handles()
    type(blosc2_schunk) :: schunk
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(b2nd_array) :: array

    call fill(schunk)
    call cctx%create()
    call dctx%create()
    call array%zeros('<f8', [10_int64])
    call check(schunk%is_open() .and. cctx%is_open() .and. dctx%is_open() .and. array%is_open(), 'four handles')
  end subroutine

  subroutine shared_handles()
    type(blosc2_schunk) :: first, second, nothing
    real(real64) :: data(100)

    data = 2
    call fill(first)
    second = first
    second = second
    call check(c_associated(first%c_pointer(), second%c_pointer()), 'one super-chunk')
    call second%append(data)
    call check(first%nchunks() == 2, 'a chunk added by the other handle')
    call first%release()
    call first%release()
    call check(.not. first%is_open() .and. second%nchunks() == 2, 'the other handle stays')
    second = nothing
    call check(.not. second%is_open(), 'a handle of nothing')
  end subroutine

  subroutine arrays_of_handles()
    type(blosc2_schunk) :: handles(3), copies(3), one
    integer :: i

    do i = 1, 3
      call fill(handles(i))
    end do
    copies = handles
    call handles%release()
    call check(.not. any(handles%is_open()) .and. all(copies%is_open()), 'released at once')
    call fill(one)
    handles = one
    call one%release()
    call check(all(handles%is_open()), 'three of one')
    copies(1) = copies(3)
  end subroutine

  subroutine handles_in_types()
    type(experiment) :: one, other

    call fill(one%samples)
    call one%grid%zeros('<i4', [3_int64, 4_int64])
    one%number = 7
    other = one
    ! A compiler that calls the assignment of components creates new handles. gfortran does not call
    ! it, so the copied handles are empty.
    call check(other%number == 7 .and. (other%samples%is_open() .eqv. other%samples%nchunks() == 1), 'a copied type')
    other%samples = one%samples
    other%grid = one%grid
    call one%samples%release()
    call check(other%samples%nchunks() == 1, 'its handles are its own')
    call check(all(other%grid%shape() == [3, 4]), 'the array, too')
  end subroutine

  ! A type with an allocatable list of handles: gfortran copies the handles bitwise. Such copies are
  ! empty, so that nothing is freed twice. A compiler that calls their assignment creates new
  ! handles.
  subroutine bitwise_copies_of_handles()
    type :: collection
      type(blosc2_schunk), allocatable :: list(:)
    end type
    type(collection) :: one, other

    allocate (one%list(2))
    call fill(one%list(1))
    call fill(one%list(2))
    other = one
    call check(all(one%list%is_open()), 'a list that was copied')
    call check(other%list(1)%is_open() .eqv. other%list(1)%nchunks() == 1, 'a copy of the list')
    other%list(2) = one%list(2)
    call check(other%list(2)%nchunks() == 1, 'a handle that was assigned by itself')
  end subroutine

  subroutine allocated_handles()
    type(blosc2_schunk), allocatable :: list(:), one
    class(blosc2_schunk), allocatable :: another

    allocate (list(4), one)
    allocate (blosc2_schunk :: another)
    call fill(list(2))
    call fill(one)
    another = list(2)
    deallocate (list)
    call check(another%is_open() .and. one%is_open(), 'the handles that are left')
  end subroutine

  subroutine views_keep_their_array()
    type(b2nd_array) :: array, view, again
    integer(int32) :: data(4, 1, 5), back(4, 5)
    integer :: i

    data = reshape([(i, i=1, 20)], [4, 1, 5])
    call array%from_array(data)
    call view%squeeze_of(array)
    call array%release()
    call check(all(view%shape() == [4, 5]), 'a view')
    call view%to_array(back)
    call check(all(back == data(:, 1, :)), 'its items')
    call again%expansion_of(view, [.true., .false., .false.])
    call view%release()
    call check(all(again%shape() == [1, 4, 5]), 'a view of a view')
    call again%to_array(back)
    call check(all(back == data(:, 1, :)), 'its items, too')
  end subroutine

  subroutine super_chunks_of_arrays()
    type(b2nd_array) :: array
    type(blosc2_schunk) :: schunk

    call array%zeros('<f8', [100_int64])
    call array%schunk(schunk)
    call array%release()
    call check(schunk%meta_exists('b2nd') .and. schunk%nchunks() == 1, 'the super-chunk of an array')
    call schunk%vlmeta_add('note', 1.0_real64)
    call check(schunk%vlmeta_exists('note'), 'its metalayer')
  end subroutine

  subroutine arrays_of_super_chunks()
    type(b2nd_array) :: array, again
    type(blosc2_schunk) :: schunk
    integer(int8), allocatable :: frame(:)
    integer(int32) :: data(6), back(6)
    integer :: i, stat

    data = [(i, i=1, 6)]
    call array%from_array(data)
    call array%to_frame(frame)
    call schunk%from_frame(frame)
    call again%from_schunk(schunk)
    call check(schunk%is_open(), 'the super-chunk has both owners')
    call schunk%release()
    call again%to_array(back)
    call check(all(back == data), 'an array of a super-chunk')
    call fill(schunk)
    call again%from_schunk(schunk, stat)
    call check(stat < 0 .and. .not. again%is_open(), 'a super-chunk that is no array')
    call check(schunk%nchunks() == 1, 'it stays')
    call schunk%release()
    call again%from_schunk(schunk, stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'no super-chunk')
  end subroutine

  subroutine reused_handles()
    type(blosc2_schunk) :: schunk
    type(b2nd_array) :: array
    type(blosc2_cctx) :: cctx
    integer :: i

    do i = 1, 3
      call fill(schunk)
      call array%zeros('<f8', [10_int64])
      call cctx%create()
    end do
    call check(schunk%nchunks() == 1, 'the last of them')
  end subroutine

  subroutine shared_contexts()
    type(blosc2_cctx) :: cctx, other
    type(blosc2_dctx) :: dctx, same
    integer(int8), allocatable :: chunk(:)
    real(real64) :: data(10), back(10)

    data = 5
    call cctx%create()
    other = cctx
    call cctx%release()
    call other%compress(data, chunk)
    call dctx%create()
    same = dctx
    call dctx%release()
    call same%decompress(chunk, back)
    call check(all(back == data), 'contexts of two handles')
    call check(c_associated(other%c_pointer()) .and. .not. c_associated(dctx%c_pointer()), 'addresses')
    call check(.not. cctx%is_open(), 'a released context')
  end subroutine
end program handles
