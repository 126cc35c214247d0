! Arrays: inquiries.
submodule (blosc2_arrays) blosc2_arrays_facts
  implicit none

contains

  module procedure array_ndim
    type(c_b2nd_array), pointer :: facts

    ndim = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    ndim = facts%ndim
  end procedure

  module procedure array_shape
    type(c_b2nd_array), pointer :: facts

    allocate (shape(self%ndim()))
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    shape = facts%shape(size(shape):1:-1)
  end procedure

  module procedure array_chunkshape
    type(c_b2nd_array), pointer :: facts

    allocate (chunkshape(self%ndim()))
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    chunkshape = facts%chunkshape(size(chunkshape):1:-1)
  end procedure

  module procedure array_blockshape
    type(c_b2nd_array), pointer :: facts

    allocate (blockshape(self%ndim()))
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    blockshape = facts%blockshape(size(blockshape):1:-1)
  end procedure

  module procedure array_nitems
    type(c_b2nd_array), pointer :: facts

    nitems = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    nitems = facts%nitems
  end procedure

  module procedure array_itemsize
    type(c_b2nd_array), pointer :: facts
    type(c_blosc2_schunk), pointer :: schunk

    itemsize = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    call c_f_pointer(facts%sc, schunk)
    itemsize = schunk%typesize
  end procedure

  module procedure array_dtype
    type(c_b2nd_array), pointer :: facts

    dtype = ''
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    dtype = text_from_c(facts%dtype)
  end procedure

  module procedure array_schunk
    type(c_b2nd_array), pointer :: facts
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      call c_f_pointer(self%c_pointer(), facts)
      call schunk%adopt(facts%sc, record_of(self%owner))
      code = BLOSC2_ERROR_SUCCESS
    end if
    call settle(code, 'b2nd_array%schunk', stat)
  end procedure

  module procedure array_get_slice_nchunks
    type(c_b2nd_array), pointer :: facts
    type(c_ptr) :: address
    integer(c_int64_t), pointer :: found(:)
    integer(c_int64_t) :: code

    address = c_null_ptr
    code = slice_error(self, first, last)
    if (code == 0) then
      call c_f_pointer(self%c_pointer(), facts)
      code = c_blosc2_get_slice_nchunks(facts%sc, to_c(first - 1), to_c(last), address)
    end if
    allocate (numbers(max(code, 0_c_int64_t)))
    if (code > 0) then
      call c_f_pointer(address, found, [code])
      numbers = found + 1
    end if
    if (code >= 0) call free_c(address)
    call settle(code, 'b2nd_array%get_slice_nchunks', stat)
  end procedure

  module procedure slice_error
    integer(c_int64_t), allocatable :: shape(:)

    code = BLOSC2_ERROR_NULL_POINTER
    if (.not. self%is_open()) return
    code = BLOSC2_ERROR_INVALID_PARAM
    if (size(first) /= self%ndim() .or. size(last) /= self%ndim()) return
    if (any(last < first - 1)) return
    code = BLOSC2_ERROR_INVALID_INDEX
    shape = self%shape()
    if (any(first < 1) .or. any(last > shape)) return
    code = BLOSC2_ERROR_SUCCESS
  end procedure

  module procedure shape_error
    code = BLOSC2_ERROR_INVALID_PARAM
    if (buffer%items < 0 .or. buffer%item_size /= self%itemsize()) return
    if (.not. fits_type(buffer%kind, self%dtype())) return
    if (size(pack(shape, shape /= 1)) /= count(buffer%extents(:buffer%rank) /= 1)) return
    if (any(pack(shape, shape /= 1) /= pack(buffer%extents(:buffer%rank), buffer%extents(:buffer%rank) /= 1))) return
    code = BLOSC2_ERROR_SUCCESS
  end procedure

  ! Whether items of a Fortran kind match a dtype with a single letter: unsigned integers and dates
  ! match integers, and types without a letter match any dtype.
  function fits_type(kind, dtype) result(fits)
    character, intent(in) :: kind
    character(*), intent(in) :: dtype
    logical :: fits
    character :: letter

    fits = .true.
    if (len(dtype) < 2 .or. scan(dtype(:1), '<>=|') == 0) return
    letter = dtype(2:2)
    select case (kind)
    case ('i')
      fits = scan(letter, 'iubmMVS') > 0
    case ('f', 'c')
      fits = letter == kind .or. letter == 'V'
    end select
  end function

  module procedure to_c
    integer :: ndim

    ndim = size(numbers)
    reversed = 0
    reversed(:ndim) = numbers(ndim:1:-1)
  end procedure
end submodule blosc2_arrays_facts
