! Multidimensional arrays in memory, in a file or in a directory.
!
! Blosc2 stores arrays in C order, with the last dimension fastest; in Fortran the first dimension
! is the fastest. So a Fortran array `a(nx, ny, nz)` is, byte for byte, a C array `a[nz][ny][nx]`:
! nothing is transposed, only the order of dimensions is reversed. All shapes, dimensions and slices
! here are in Fortran order and count from 1; the first and the last item belong to a slice, as in
! `a(first:last)`. A program in C or Python sees the same file with the shape reversed.
!
! A `b2nd_array` is a handle: assignment creates a second handle of the same array, and the last one
! that goes out of scope or is released frees it; files are kept. Views keep their array alive. All
! procedures except inquiries have the optional argument `stat`, see the module blosc2_status; for a
! handle without an array it is BLOSC2_ERROR_NULL_POINTER.
!
! The implementation is in blosc2_arrays_make.f90 (creation), blosc2_arrays_data.f90 (reading and
! writing items), blosc2_arrays_shape.f90 (changes of the shape) and blosc2_arrays_facts.f90
! (inquiries).
module blosc2_arrays
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_char, c_f_pointer, c_int, c_int32_t, c_int64_t, &
    c_int8_t, c_loc, c_null_char, c_null_ptr, c_ptr
  use b2nd_constants
  use blosc_support, only: blosc_buffer, blosc_describe, bytes_from_c, free_c, text_from_c
  use blosc2_c_b2nd
  use blosc2_c_schunk, only: c_blosc2_get_slice_nchunks
  use blosc2_constants
  use blosc2_ownership, only: address_of, holds, let_go, own, owner_handle, record_of, share
  use blosc2_status, only: settle
  use blosc2_storage_parts, only: assemble_storage, storage_parts
  use blosc2_superchunk, only: blosc2_schunk
  use blosc2_types
  implicit none
  private

  !> A fixed metalayer of a new array: a name of at most BLOSC2_METALAYER_NAME_MAXLEN characters,
  !! and bytes.
  type, public :: b2nd_metalayer
    character(:), allocatable :: name
    integer(c_int8_t), allocatable :: content(:)
  end type

  !> The indices of the selected items in one dimension.
  type, public :: b2nd_indices
    integer(c_int64_t), allocatable :: at(:)
  end type

  !> Partition and storage parameters of an array; every component has a default.
  type, public :: b2nd_options
    !> Chunk shape in items; if not allocated, chosen for chunks of up to 2 MiB.
    integer(c_int32_t), allocatable :: chunkshape(:)
    !> Block shape in items; if not allocated, chosen for blocks of up to 64 KiB.
    integer(c_int32_t), allocatable :: blockshape(:)
    !> Compression parameters. The typesize is set to the item size, unless the dtype string does
    !! not contain it.
    type(blosc2_cparams) :: cparams
    !> Decompression parameters.
    type(blosc2_dparams) :: dparams
    !> A file or directory that must not exist; if not allocated, the array is in memory.
    character(:), allocatable :: urlpath
    !> Whether the chunks are in one frame (a file on disk) or separate (a directory on disk). If
    !! not allocated: one frame on disk, separate in memory.
    logical, allocatable :: contiguous
    !> The I/O backend; if not allocated, the file system. The objects it points to must outlive the
    !! array.
    type(blosc2_io), allocatable :: io
    !> Fixed metalayers of the user.
    type(b2nd_metalayer), allocatable :: metalayers(:)
  end type

  !> A handle of an array.
  type, public :: b2nd_array
    private
    type(owner_handle) :: owner
  contains
    ! Creation.
    procedure :: zeros => array_zeros
    procedure :: uninit => array_uninit
    procedure :: nans => array_nans
    procedure :: full => array_full
    procedure :: from_array => array_from_array
    procedure :: slice_of => array_slice_of
    procedure :: copy_of => array_copy_of
    procedure :: concatenation_of => array_concatenation_of
    procedure :: squeeze_of => array_squeeze_of
    procedure :: expansion_of => array_expansion_of
    ! Opening and storing.
    procedure :: open => array_open
    procedure :: from_frame => array_from_frame
    procedure :: from_schunk => array_from_schunk
    procedure :: to_frame => array_to_frame
    procedure :: save => array_save
    procedure :: save_append => array_save_append
    procedure :: refresh => array_refresh
    ! Items.
    procedure :: to_array => array_to_array
    procedure :: get_slice => array_get_slice
    procedure :: set_slice => array_set_slice
    procedure :: get_sparse => array_get_sparse
    procedure :: get_selection => array_get_selection
    procedure :: set_selection => array_set_selection
    ! Shape.
    procedure :: resize => array_resize
    procedure :: append => array_append
    procedure :: insert => array_insert
    procedure :: delete => array_delete
    procedure :: extend => array_extend
    ! Inquiries.
    procedure :: ndim => array_ndim
    procedure :: shape => array_shape
    procedure :: chunkshape => array_chunkshape
    procedure :: blockshape => array_blockshape
    procedure :: nitems => array_nitems
    procedure :: itemsize => array_itemsize
    procedure :: dtype => array_dtype
    procedure :: schunk => array_schunk
    procedure :: get_slice_nchunks => array_get_slice_nchunks
    ! The handle.
    procedure :: is_open => array_is_open
    procedure :: c_pointer => array_c_pointer
    procedure :: release => array_release
    procedure, private :: array_assign
    generic :: assignment(=) => array_assign
    final :: array_finalize
  end type

  interface
    !> Creates an array of zeros.
    !!
    !! `dtype` is NumPy's string for the item type, such as '<f8' for real64, '<c8' for complex of
    !! real32, '<i2' for int16; `shape` has at most B2ND_MAX_DIM dimensions.
    module subroutine array_zeros(self, dtype, shape, options, stat)
      class(b2nd_array), intent(inout) :: self
      character(*), intent(in) :: dtype
      integer(c_int64_t), intent(in) :: shape(:)
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array with uninitialised items.
    module subroutine array_uninit(self, dtype, shape, options, stat)
      class(b2nd_array), intent(inout) :: self
      character(*), intent(in) :: dtype
      integer(c_int64_t), intent(in) :: shape(:)
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array of NaNs, of 4 or 8 bytes each.
    module subroutine array_nans(self, dtype, shape, options, stat)
      class(b2nd_array), intent(inout) :: self
      character(*), intent(in) :: dtype
      integer(c_int64_t), intent(in) :: shape(:)
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array filled with `value`, a scalar of any type. `dtype` is that of `value` by
    !! default.
    module subroutine array_full(self, value, shape, options, dtype, stat)
      class(b2nd_array), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: value
      integer(c_int64_t), intent(in) :: shape(:)
      type(b2nd_options), intent(in), optional :: options
      character(*), intent(in), optional :: dtype
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array with the shape and items of a Fortran array of rank 0 to 15.
    !!
    !! `dtype` follows from the item type: int8 to int64 '|i1' to '<i8', real32 and real64 '<f4' and
    !! '<f8', complex of these '<c8' and '<c16', logical of C's bool '|b1', characters '|S' with
    !! their length, other types '|V' with their size. It is required for types without a Fortran
    !! equivalent, such as unsigned integers, '<u4'.
    module subroutine array_from_array(self, data, options, dtype, stat)
      class(b2nd_array), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: data
      type(b2nd_options), intent(in), optional :: options
      character(*), intent(in), optional :: dtype
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array from the items `first` to `last` of another one.
    module subroutine array_slice_of(self, source, first, last, options, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: source
      integer(c_int64_t), intent(in) :: first(:), last(:)
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates a copy of another array, with its metalayers. `options` contain its partition and
    !! storage parameters and must not contain metalayers.
    module subroutine array_copy_of(self, source, options, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: source
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an array that is the concatenation of two others along dimension `dim`.
    module subroutine array_concatenation_of(self, first, second, dim, options, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: first, second
      integer, intent(in) :: dim
      type(b2nd_options), intent(in), optional :: options
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates a view of an array without the dimensions in `dims`, which must have one item each;
    !! by default all such dimensions.
    module subroutine array_squeeze_of(self, source, dims, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: source
      integer, intent(in), optional :: dims(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates a view of an array with additional dimensions: those that are true in `new` have one
    !! item, the others are those of the array.
    module subroutine array_expansion_of(self, source, new, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: source
      logical, intent(in) :: new(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Opens the array in a file or directory. `offset` is the offset of the frame in the file, in
    !! bytes. `stat` is BLOSC2_ERROR_NULL_POINTER if there is no frame.
    module subroutine array_open(self, urlpath, offset, stat)
      class(b2nd_array), intent(inout) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(in), optional :: offset
      integer, intent(out), optional :: stat
    end subroutine

    !> Opens the array in the bytes of a contiguous frame, which are copied.
    module subroutine array_from_frame(self, frame, stat)
      class(b2nd_array), intent(inout) :: self
      integer(c_int8_t), intent(in), contiguous, target :: frame(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Opens the array in a super-chunk with an array metalayer. The array keeps the super-chunk
    !! alive.
    module subroutine array_from_schunk(self, schunk, stat)
      class(b2nd_array), intent(inout) :: self
      type(blosc2_schunk), intent(in) :: schunk
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the array as a contiguous frame.
    module subroutine array_to_frame(self, frame, stat)
      class(b2nd_array), intent(in) :: self
      integer(c_int8_t), allocatable, intent(out) :: frame(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Copies the array to the path `urlpath`, which must not exist: a file or a directory, like the
    !! storage of the array.
    module subroutine array_save(self, urlpath, stat)
      class(b2nd_array), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer, intent(out), optional :: stat
    end subroutine

    !> Appends the array as a contiguous frame to a file, which is created if it does not exist.
    !! `offset` is the offset of the frame in the file in bytes, for open().
    module subroutine array_save_append(self, urlpath, offset, stat)
      class(b2nd_array), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(out), optional :: offset
      integer, intent(out), optional :: stat
    end subroutine

    !> Rereads the shape if another handle or process has changed it in the file; `changed` is true
    !! if it has changed. `stat` is BLOSC2_ERROR_DATA if anything but the shape has changed.
    module subroutine array_refresh(self, changed, stat)
      class(b2nd_array), intent(inout) :: self
      logical, intent(out), optional :: changed
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads all items. `data` must have the shape of the array, ignoring dimensions of one item,
    !! and the item type of the array; otherwise `stat` is BLOSC2_ERROR_INVALID_PARAM. The same
    !! holds for the following procedures.
    module subroutine array_to_array(self, data, stat)
      class(b2nd_array), intent(in) :: self
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items `first` to `last`. `stat` is BLOSC2_ERROR_INVALID_INDEX if the slice is out
    !! of bounds.
    module subroutine array_get_slice(self, first, last, data, stat)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t), intent(in) :: first(:), last(:)
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the items `first` to `last`. `stat` is BLOSC2_ERROR_INVALID_INDEX if the slice is out
    !! of bounds.
    module subroutine array_set_slice(self, first, last, data, stat)
      class(b2nd_array), intent(inout) :: self
      integer(c_int64_t), intent(in) :: first(:), last(:)
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items with these numbers. Numbers count from 1 in Fortran order, with the first
    !! dimension fastest.
    module subroutine array_get_sparse(self, numbers, data, stat)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t), intent(in) :: numbers(:)
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items at all combinations of indices, like `a(selection(1)%at, selection(2)%at,
    !! ...)`.
    module subroutine array_get_selection(self, selection, data, stat)
      class(b2nd_array), intent(in) :: self
      type(b2nd_indices), intent(in) :: selection(:)
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the items at all combinations of indices. If an item is selected twice, the last value
    !! is stored.
    module subroutine array_set_selection(self, selection, data, stat)
      class(b2nd_array), intent(inout) :: self
      type(b2nd_indices), intent(in) :: selection(:)
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Changes the shape. In each dimension, items are added or removed at the end, or before item
    !! `start`; changes inside the array must consist of whole chunks. Added items are zero, unless
    !! the same chunk still contains items that were removed before.
    module subroutine array_resize(self, shape, start, stat)
      class(b2nd_array), intent(inout) :: self
      integer(c_int64_t), intent(in) :: shape(:)
      integer(c_int64_t), intent(in), optional :: start(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Appends items along dimension `dim`; the extents of `data` in the other dimensions must
    !! match.
    module subroutine array_append(self, data, dim, stat)
      class(b2nd_array), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(in) :: dim
      integer, intent(out), optional :: stat
    end subroutine

    !> Inserts items before item `before` along dimension `dim`; insertions inside the array must
    !! consist of whole chunks.
    module subroutine array_insert(self, data, dim, before, stat)
      class(b2nd_array), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(in) :: dim
      integer(c_int64_t), intent(in) :: before
      integer, intent(out), optional :: stat
    end subroutine

    !> Removes the items `first` to `last` along dimension `dim`; removals inside the array must
    !! consist of whole chunks.
    module subroutine array_delete(self, dim, first, last, stat)
      class(b2nd_array), intent(inout) :: self
      integer, intent(in) :: dim
      integer(c_int64_t), intent(in) :: first, last
      integer, intent(out), optional :: stat
    end subroutine

    !> Appends another array along dimension `dim`.
    module subroutine array_extend(self, other, dim, stat)
      class(b2nd_array), intent(inout) :: self
      class(b2nd_array), intent(in) :: other
      integer, intent(in) :: dim
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the number of dimensions; 0 without an array.
    module function array_ndim(self) result(ndim)
      class(b2nd_array), intent(in) :: self
      integer :: ndim
    end function

    !> Returns the shape; empty without an array.
    module function array_shape(self) result(shape)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t), allocatable :: shape(:)
    end function

    !> Returns the chunk shape in items.
    module function array_chunkshape(self) result(chunkshape)
      class(b2nd_array), intent(in) :: self
      integer(c_int32_t), allocatable :: chunkshape(:)
    end function

    !> Returns the block shape in items.
    module function array_blockshape(self) result(blockshape)
      class(b2nd_array), intent(in) :: self
      integer(c_int32_t), allocatable :: blockshape(:)
    end function

    !> Returns the number of items; 0 without an array.
    module function array_nitems(self) result(nitems)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t) :: nitems
    end function

    !> Returns the item size in bytes; 0 without an array.
    module function array_itemsize(self) result(itemsize)
      class(b2nd_array), intent(in) :: self
      integer :: itemsize
    end function

    !> Returns NumPy's string for the item type; empty without an array.
    module function array_dtype(self) result(dtype)
      class(b2nd_array), intent(in) :: self
      character(:), allocatable :: dtype
    end function

    !> Sets `schunk` to a handle of the array's super-chunk, for its metalayers and chunks. The
    !! handle keeps the array alive.
    module subroutine array_schunk(self, schunk, stat)
      class(b2nd_array), intent(in) :: self
      type(blosc2_schunk), intent(inout) :: schunk
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the numbers of the chunks that contain the items `first` to `last`, counted from 1 in
    !! Fortran order.
    module subroutine array_get_slice_nchunks(self, first, last, numbers, stat)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t), intent(in) :: first(:), last(:)
      integer(c_int64_t), allocatable, intent(out) :: numbers(:)
      integer, intent(out), optional :: stat
    end subroutine

    ! Returns the error of a slice: no array, a wrong number of dimensions, or out of bounds.
    module function slice_error(self, first, last) result(code)
      class(b2nd_array), intent(in) :: self
      integer(c_int64_t), intent(in) :: first(:), last(:)
      integer(c_int) :: code
    end function

    ! Returns the error of a Fortran array for a slice of this shape: dimensions of one item may be
    ! missing or additional; the item size, and the item type if it is known, must match the
    ! array's.
    module function shape_error(self, buffer, shape) result(code)
      class(b2nd_array), intent(in) :: self
      type(blosc_buffer), intent(in) :: buffer
      integer(c_int64_t), intent(in) :: shape(:)
      integer(c_int) :: code
    end function

    ! Converts indices of dimensions to C order.
    module function to_c(numbers) result(reversed)
      integer(c_int64_t), intent(in) :: numbers(:)
      integer(c_int64_t) :: reversed(B2ND_MAX_DIM)
    end function
  end interface

contains

  !> Whether the handle has an array.
  impure elemental logical function array_is_open(self)
    class(b2nd_array), intent(in) :: self

    array_is_open = holds(self%owner)
  end function

  !> Returns the array for C functions, or null. The handle keeps the ownership.
  function array_c_pointer(self) result(array)
    class(b2nd_array), intent(in) :: self
    type(c_ptr) :: array

    array = address_of(self%owner)
  end function

  !> Releases the array; the last handle frees it.
  impure elemental subroutine array_release(self)
    class(b2nd_array), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> `to = from` makes `to` another handle of the same array.
  impure elemental subroutine array_assign(to, from)
    class(b2nd_array), intent(inout) :: to
    type(b2nd_array), intent(in) :: from

    call share(to%owner, from%owner)
  end subroutine

  impure elemental subroutine array_finalize(self)
    type(b2nd_array), intent(inout) :: self

    call let_go(self%owner)
  end subroutine
end module blosc2_arrays
