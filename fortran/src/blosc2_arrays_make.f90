! Arrays: creation, opening and storing.
!
! C creates arrays with a context that holds the storage, the shapes and the type. Here the context
! is built from `b2nd_options`, used once and freed.
submodule (blosc2_arrays) blosc2_arrays_make
  implicit none

  !> Maximum size of automatic chunks and blocks in bytes.
  integer(c_int64_t), parameter :: CHUNK_BYTES = 2_c_int64_t**21, BLOCK_BYTES = 2_c_int64_t**16

  !> A C context and the objects it points to. Variables of this type need the attribute `target`.
  type :: creation_context
    type(c_ptr) :: context = c_null_ptr
    type(storage_parts) :: parts
    type(b2nd_metalayer), allocatable :: contents(:)
    type(text), allocatable :: names(:)
    type(blosc2_metalayer), allocatable :: metalayers(:)
  end type

  !> A C string.
  type :: text
    character(kind=c_char), allocatable :: chars(:)
  end type

contains

  module procedure array_zeros
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code

    call create_context(made, dtype, -1_c_int64_t, shape, options, code)
    if (code == 0) code = c_b2nd_zeros(made%context, array)
    call finish(self, made, array, code, 'b2nd_array%zeros', stat)
  end procedure

  module procedure array_uninit
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code

    call create_context(made, dtype, -1_c_int64_t, shape, options, code)
    if (code == 0) code = c_b2nd_uninit(made%context, array)
    call finish(self, made, array, code, 'b2nd_array%uninit', stat)
  end procedure

  module procedure array_nans
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code

    call create_context(made, dtype, -1_c_int64_t, shape, options, code)
    if (code == 0) code = c_b2nd_nans(made%context, array)
    call finish(self, made, array, code, 'b2nd_array%nans', stat)
  end procedure

  module procedure array_full
    type(creation_context), target :: made
    type(blosc_buffer) :: item
    type(c_ptr) :: array
    integer(c_int) :: code

    call blosc_describe(value, item)
    call create_context(made, item_dtype(item, dtype), item%item_size, shape, options, code)
    if (code == 0 .and. item%items /= 1) code = BLOSC2_ERROR_INVALID_PARAM
    if (code == 0) code = c_b2nd_full(made%context, array, item%address)
    call finish(self, made, array, code, 'b2nd_array%full', stat)
  end procedure

  module procedure array_from_array
    type(creation_context), target :: made
    type(blosc_buffer) :: source
    type(c_ptr) :: array
    integer(c_int) :: code

    call blosc_describe(data, source)
    if (source%items < 0) then
      code = BLOSC2_ERROR_INVALID_PARAM
    else
      call create_context(made, item_dtype(source, dtype), source%item_size, source%extents(:source%rank), options, code)
    end if
    if (code == 0) then
      code = c_b2nd_from_cbuffer(made%context, array, source%address, source%items*source%item_size)
    end if
    call finish(self, made, array, code, 'b2nd_array%from_array', stat)
  end procedure

  module procedure array_slice_of
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code

    code = slice_error(source, first, last)
    if (code == 0) then
      call create_context(made, source%dtype(), int(source%itemsize(), c_int64_t), last - first + 1, options, code)
    end if
    if (code == 0) then
      code = c_b2nd_get_slice(made%context, array, source%c_pointer(), to_c(first - 1), to_c(last))
    end if
    call finish(self, made, array, code, 'b2nd_array%slice_of', stat)
  end procedure

  module procedure array_copy_of
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (source%is_open()) then
      call create_context(made, source%dtype(), int(source%itemsize(), c_int64_t), source%shape(), options, code)
    end if
    if (code == 0) code = c_b2nd_copy(made%context, source%c_pointer(), array)
    call finish(self, made, array, code, 'b2nd_array%copy_of', stat)
  end procedure

  module procedure array_concatenation_of
    type(creation_context), target :: made
    type(c_ptr) :: array
    integer(c_int) :: code
    integer(c_int64_t), allocatable :: shape(:), added(:)

    code = BLOSC2_ERROR_NULL_POINTER
    if (first%is_open() .and. second%is_open()) then
      code = BLOSC2_ERROR_INVALID_PARAM
      if (dim >= 1 .and. dim <= min(first%ndim(), second%ndim())) then
        added = second%shape()
        shape = first%shape()
        shape(dim) = shape(dim) + added(dim)
        call create_context(made, first%dtype(), int(first%itemsize(), c_int64_t), shape, options, code)
      end if
    end if
    if (code == 0) then
      code = c_b2nd_concatenate(made%context, first%c_pointer(), second%c_pointer(), &
        int(first%ndim() - dim, c_int8_t), .true._c_bool, array)
    end if
    call finish(self, made, array, code, 'b2nd_array%concatenation_of', stat)
  end procedure

  module procedure array_squeeze_of
    type(c_ptr) :: view
    integer(c_int) :: code
    integer(c_int64_t), allocatable :: shape(:)
    logical, allocatable :: dropped(:)

    code = BLOSC2_ERROR_NULL_POINTER
    if (source%is_open()) then
      code = BLOSC2_ERROR_SUCCESS
      shape = source%shape()
      dropped = shape == 1
      if (present(dims)) then
        dropped = .false.
        if (any(dims < 1 .or. dims > source%ndim())) then
          code = BLOSC2_ERROR_INVALID_PARAM
        else
          dropped(dims) = .true.
        end if
      end if
      if (code == 0) then
        code = c_b2nd_squeeze_index(source%c_pointer(), view, logical(dropped(size(dropped):1:-1), c_bool))
      end if
    end if
    call adopt_view(self, source, view, code, 'b2nd_array%squeeze_of', stat)
  end procedure

  module procedure array_expansion_of
    type(c_ptr) :: view
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (source%is_open()) then
      code = BLOSC2_ERROR_INVALID_PARAM
      if (size(new) <= B2ND_MAX_DIM .and. count(.not. new) == source%ndim()) then
        code = c_b2nd_expand_dims(source%c_pointer(), view, logical(new(size(new):1:-1), c_bool), &
          int(size(new), c_int8_t))
      end if
    end if
    call adopt_view(self, source, view, code, 'b2nd_array%expansion_of', stat)
  end procedure

  module procedure array_open
    type(c_ptr) :: array
    integer(c_int) :: code

    if (present(offset)) then
      code = c_b2nd_open_offset(trim(urlpath)//c_null_char, array, offset)
    else
      code = c_b2nd_open(trim(urlpath)//c_null_char, array)
    end if
    call adopt_array(self, array, code, 'b2nd_array%open', stat)
  end procedure

  module procedure array_from_frame
    type(blosc_buffer) :: source
    type(c_ptr) :: array
    integer(c_int) :: code

    call blosc_describe(frame, source)
    code = c_b2nd_from_cframe(source%address, source%items, .true._c_bool, array)
    call adopt_array(self, array, code, 'b2nd_array%from_frame', stat)
  end procedure

  module procedure array_from_schunk
    type(c_ptr) :: array
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (schunk%is_open()) code = c_b2nd_from_schunk(schunk%c_pointer(), array)
    if (code == 0) then
      call own(self%owner, array, free_array_alone, schunk%ownership())
    else
      call self%release()
    end if
    call settle(code, 'b2nd_array%from_schunk', stat)
  end procedure

  module procedure array_to_frame
    type(c_ptr) :: address
    integer(c_int64_t) :: length
    logical(c_bool) :: needs_free
    integer(c_int) :: code

    length = 0
    needs_free = .false.
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_b2nd_to_cframe(self%c_pointer(), address, length, needs_free)
    call bytes_from_c(address, merge(length, 0_c_int64_t, code >= 0), frame)
    if (code >= 0 .and. needs_free) call free_c(address)
    call settle(code, 'b2nd_array%to_frame', stat)
  end procedure

  module procedure array_save
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_b2nd_save(self%c_pointer(), trim(urlpath)//c_null_char)
    call settle(code, 'b2nd_array%save', stat)
  end procedure

  module procedure array_save_append
    integer(c_int64_t) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_b2nd_save_append(self%c_pointer(), trim(urlpath)//c_null_char)
    if (present(offset)) offset = max(code, 0_c_int64_t)
    call settle(code, 'b2nd_array%save_append', stat)
  end procedure

  module procedure array_refresh
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_b2nd_refresh(self%c_pointer())
    if (present(changed)) changed = code > 0
    call settle(code, 'b2nd_array%refresh', stat)
  end procedure

  ! Creates the C context for an array of this type and shape. If `item_size` is -1, the item size
  ! is derived from the dtype. If `code` is an error, no context is created.
  subroutine create_context(made, dtype, item_size, shape, options, code)
    type(creation_context), intent(inout), target :: made
    character(*), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: item_size
    integer(c_int64_t), intent(in) :: shape(:)
    type(b2nd_options), intent(in), optional :: options
    integer(c_int), intent(out) :: code
    type(b2nd_options) :: chosen
    integer(c_int64_t) :: bytes

    if (present(options)) chosen = options
    code = BLOSC2_ERROR_INVALID_PARAM
    if (size(shape) > B2ND_MAX_DIM .or. any(shape < 0)) return
    bytes = item_size
    if (bytes < 0) bytes = itemsize_of(dtype)
    if (bytes > BLOSC2_MAXTYPESIZE) return
    if (bytes > 0) chosen%cparams%typesize = int(bytes, c_int32_t)
    if (chosen%cparams%typesize <= 0) return

    call choose_partitions(chosen, shape)
    if (size(chosen%chunkshape) /= size(shape) .or. size(chosen%blockshape) /= size(shape)) return
    call assemble_storage(made%parts, chosen%cparams, chosen%dparams, chosen%urlpath, chosen%contiguous, chosen%io)
    if (.not. allocated(chosen%metalayers)) allocate (chosen%metalayers(0))
    call build_metalayers(made, chosen%metalayers)

    made%context = c_b2nd_create_ctx(made%parts%storage, int(size(shape), c_int8_t), to_c(shape), &
      int(to_c(int(chosen%chunkshape, c_int64_t)), c_int32_t), &
      int(to_c(int(chosen%blockshape, c_int64_t)), c_int32_t), trim(dtype)//c_null_char, &
      int(DTYPE_NUMPY_FORMAT, c_int8_t), made%metalayers, int(size(made%metalayers), c_int32_t))
    if (c_associated(made%context)) code = BLOSC2_ERROR_SUCCESS
  end subroutine

  ! Builds the C structs of metalayers, with their names and contents.
  subroutine build_metalayers(made, metalayers)
    type(creation_context), intent(inout), target :: made
    type(b2nd_metalayer), intent(in) :: metalayers(:)
    integer :: i, k

    allocate (made%contents(size(metalayers)), made%names(size(metalayers)), made%metalayers(size(metalayers)))
    do i = 1, size(metalayers)
      made%contents(i)%content = metalayers(i)%content
      allocate (made%names(i)%chars(len(metalayers(i)%name) + 1))
      do k = 1, len(metalayers(i)%name)
        made%names(i)%chars(k) = metalayers(i)%name(k:k)
      end do
      made%names(i)%chars(k) = c_null_char
      made%metalayers(i)%name = c_loc(made%names(i)%chars)
      made%metalayers(i)%content_len = size(made%contents(i)%content)
      if (made%metalayers(i)%content_len > 0) made%metalayers(i)%content = c_loc(made%contents(i)%content)
    end do
  end subroutine

  ! Frees the context and makes the handle the owner of the created array.
  subroutine finish(self, made, array, code, procedure, stat)
    class(b2nd_array), intent(inout) :: self
    type(creation_context), intent(inout) :: made
    type(c_ptr), intent(in) :: array
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat
    integer(c_int) :: freed

    if (c_associated(made%context)) freed = c_b2nd_free_ctx(made%context)
    made%context = c_null_ptr
    call adopt_array(self, array, code, procedure, stat)
  end subroutine

  ! Makes the handle the owner of an array, unless `code` is an error.
  subroutine adopt_array(self, array, code, procedure, stat)
    class(b2nd_array), intent(inout) :: self
    type(c_ptr), intent(in) :: array
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    if (code >= 0) then
      call own(self%owner, array, free_array)
    else
      call self%release()
    end if
    call settle(code, procedure, stat)
  end subroutine

  ! Makes the handle the owner of a view, which keeps its array alive.
  subroutine adopt_view(self, source, view, code, procedure, stat)
    class(b2nd_array), intent(inout) :: self
    class(b2nd_array), intent(in) :: source
    type(c_ptr), intent(in) :: view
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    if (code >= 0) then
      call own(self%owner, view, free_array, record_of(source%owner))
    else
      call self%release()
    end if
    call settle(code, procedure, stat)
  end subroutine

  ! Frees an array with its super-chunk. The chunks of a view belong to another array and are not
  ! freed.
  subroutine free_array(object)
    type(c_ptr), intent(in) :: object
    integer(c_int) :: code

    code = c_b2nd_free(object)
  end subroutine

  ! Frees an array whose super-chunk has its own owner.
  subroutine free_array_alone(object)
    type(c_ptr), intent(in) :: object
    type(c_b2nd_array), pointer :: facts

    call c_f_pointer(object, facts)
    facts%sc = c_null_ptr
    call free_array(object)
  end subroutine

  ! Returns the dtype that the caller passed, otherwise the dtype of the items of a buffer.
  function item_dtype(buffer, dtype) result(dtype_string)
    type(blosc_buffer), intent(in) :: buffer
    character(*), intent(in), optional :: dtype
    character(:), allocatable :: dtype_string
    character(20) :: digits
    logical :: little

    if (present(dtype)) then
      dtype_string = dtype
      return
    end if
    little = transfer(1_c_int32_t, 0_c_int8_t) == 1
    write (digits, '(i0)') buffer%item_size
    if (buffer%item_size == 1 .or. scan(buffer%kind, 'bSV') > 0) then
      dtype_string = '|'//buffer%kind//trim(digits)
    else
      dtype_string = merge('<', '>', little)//buffer%kind//trim(digits)
    end if
  end function

  ! Returns the item size of a dtype in bytes, or -1 if the string does not contain it.
  function itemsize_of(dtype) result(item_size)
    character(*), intent(in) :: dtype
    integer(c_int64_t) :: item_size
    integer :: failed, digits

    item_size = -1
    digits = verify(dtype, '<>=|') + 1
    if (digits < 2 .or. digits > len_trim(dtype)) return
    if (verify(trim(dtype(digits:)), '0123456789') > 0) return
    read (dtype(digits:), *, iostat=failed) item_size
    if (failed /= 0) item_size = -1
    ! NumPy's Unicode characters have 4 bytes.
    if (dtype(digits - 1:digits - 1) == 'U') item_size = 4*item_size
  end function

  ! Sets the shapes of chunks and blocks that are not allocated.
  subroutine choose_partitions(chosen, shape)
    type(b2nd_options), intent(inout) :: chosen
    integer(c_int64_t), intent(in) :: shape(:)
    integer(c_int64_t) :: chunk(size(shape)), block(size(shape))
    logical :: has_chunkshape

    has_chunkshape = allocated(chosen%chunkshape)
    if (has_chunkshape) then
      if (size(chosen%chunkshape) /= size(shape)) return
      chunk = chosen%chunkshape
    else
      chunk = halved(shape, CHUNK_BYTES/chosen%cparams%typesize)
    end if
    if (allocated(chosen%blockshape)) then
      block = chunk
      if (size(chosen%blockshape) == size(shape)) block = max(1, chosen%blockshape)
    else
      block = halved(chunk, BLOCK_BYTES/chosen%cparams%typesize)
      chosen%blockshape = int(block, c_int32_t)
    end if
    if (has_chunkshape) return
    ! Chunks contain whole blocks, but for the last chunk along a dimension.
    where (chunk < shape) chunk = chunk + modulo(-chunk, block)
    chosen%chunkshape = int(chunk, c_int32_t)
  end subroutine

  ! Returns a shape of at most `items` items, or of one: the longest dimension is halved, the last
  ! one of equal lengths, as in `Layout::auto` of the Rust crate.
  pure function halved(shape, items) result(extents)
    integer(c_int64_t), intent(in) :: shape(:), items
    integer(c_int64_t) :: extents(size(shape))
    integer :: longest

    extents = max(shape, 1_c_int64_t)
    do while (exceeds(extents, items))
      longest = maxloc(extents, 1, back=.true.)
      if (extents(longest) == 1) exit
      extents(longest) = extents(longest)/2 + mod(extents(longest), 2_c_int64_t)
    end do
  end function

  ! Whether a shape has more than `items` items, without overflow.
  pure logical function exceeds(extents, items)
    integer(c_int64_t), intent(in) :: extents(:), items
    integer(c_int64_t) :: left
    integer :: i

    left = items
    do i = 1, size(extents)
      left = left/extents(i)
    end do
    exceeds = left < 1
  end function
end submodule blosc2_arrays_make
