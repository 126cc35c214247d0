! Super-chunks: chunks and items.
submodule (blosc2_superchunk) blosc2_superchunk_data
  implicit none

contains

  module procedure schunk_append
    type(blosc_buffer) :: source
    integer(c_int64_t) :: code

    call blosc_describe(data, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(source)
    if (code >= 0 .and. items_of(self, source) < 0) code = BLOSC2_ERROR_INVALID_PARAM
    if (code >= 0) code = c_blosc2_schunk_append_buffer(self%c_pointer(), source%address, int(code, c_int32_t))
    call settle(code, 'blosc2_schunk%append', stat)
  end procedure

  module procedure schunk_append_chunk
    integer(c_int64_t) :: code

    code = checked_chunk(self, chunk)
    if (code == 0) code = c_blosc2_schunk_append_chunk(self%c_pointer(), c_loc(chunk), .true._c_bool)
    call settle(code, 'blosc2_schunk%append_chunk', stat)
  end procedure

  module procedure schunk_insert_chunk
    integer(c_int64_t) :: code

    code = checked_chunk(self, chunk)
    if (code == 0) code = c_blosc2_schunk_insert_chunk(self%c_pointer(), nchunk - 1, c_loc(chunk), .true._c_bool)
    call settle(code, 'blosc2_schunk%insert_chunk', stat)
  end procedure

  module procedure schunk_update_chunk
    integer(c_int64_t) :: code

    code = checked_chunk(self, chunk)
    if (code == 0) code = c_blosc2_schunk_update_chunk(self%c_pointer(), nchunk - 1, c_loc(chunk), .true._c_bool)
    call settle(code, 'blosc2_schunk%update_chunk', stat)
  end procedure

  module procedure schunk_delete_chunk
    integer(c_int64_t) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_delete_chunk(self%c_pointer(), nchunk - 1)
    call settle(code, 'blosc2_schunk%delete_chunk', stat)
  end procedure

  module procedure schunk_reorder_offsets
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = BLOSC2_ERROR_INVALID_PARAM
      if (size(order) == self%nchunks()) code = c_blosc2_schunk_reorder_offsets(self%c_pointer(), order - 1)
    end if
    call settle(code, 'blosc2_schunk%reorder_offsets', stat)
  end procedure

  module procedure schunk_fill_special
    integer(c_int64_t) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = c_blosc2_schunk_fill_special(self%c_pointer(), nitems, int(special_value, c_int), &
        int(chunksize, c_int32_t))
    end if
    call settle(code, 'blosc2_schunk%fill_special', stat)
  end procedure

  module procedure schunk_decompress_chunk
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(dest, output)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(output)
    if (code >= 0) code = c_blosc2_schunk_decompress_chunk(self%c_pointer(), nchunk - 1, output%address, code)
    if (present(nbytes)) nbytes = max(code, 0)
    call settle(code, 'blosc2_schunk%decompress_chunk', stat)
  end procedure

  module procedure schunk_get_chunk
    type(c_ptr) :: address
    logical(c_bool) :: needs_free
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_get_chunk(self%c_pointer(), nchunk - 1, address, needs_free)
    call bytes_from_c(address, int(code, c_int64_t), chunk)
    if (code >= 0 .and. needs_free) call free_c(address)
    call settle(code, 'blosc2_schunk%get_chunk', stat)
  end procedure

  module procedure schunk_get_vlblock
    type(c_ptr) :: address
    integer(c_int32_t) :: length
    integer(c_int) :: code

    length = 0
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = c_blosc2_schunk_get_vlblock(self%c_pointer(), nchunk - 1, int(nblock - 1, c_int32_t), address, length)
    end if
    call bytes_from_c(address, merge(int(length, c_int64_t), -1_c_int64_t, code >= 0), bytes)
    if (code >= 0) call free_c(address)
    call settle(code, 'blosc2_schunk%get_vlblock', stat)
  end procedure

  module procedure schunk_get_slice
    type(blosc_buffer) :: output
    integer(c_int64_t) :: items
    integer(c_int) :: code

    call blosc_describe(data, output)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      items = items_of(self, output)
      code = slice_error(self, first, items)
      if (code == 0 .and. items > 0) then
        code = c_blosc2_schunk_get_slice_buffer(self%c_pointer(), first - 1, first - 1 + items, output%address)
      end if
    end if
    call settle(code, 'blosc2_schunk%get_slice', stat)
  end procedure

  module procedure schunk_set_slice
    type(blosc_buffer) :: source
    integer(c_int64_t) :: items
    integer(c_int) :: code

    call blosc_describe(data, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      items = items_of(self, source)
      code = slice_error(self, first, items)
      if (code == 0 .and. items > 0) then
        code = c_blosc2_schunk_set_slice_buffer(self%c_pointer(), first - 1, first - 1 + items, source%address)
      end if
    end if
    call settle(code, 'blosc2_schunk%set_slice', stat)
  end procedure

  module procedure schunk_get_sparse
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(data, output)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = BLOSC2_ERROR_INVALID_PARAM
      if (items_of(self, output) == size(numbers)) then
        code = c_blosc2_schunk_get_sparse_buffer(self%c_pointer(), size(numbers, kind=c_int64_t), numbers - 1, &
          output%address)
      end if
    end if
    call settle(code, 'blosc2_schunk%get_sparse', stat)
  end procedure

  module procedure schunk_get_slice_nchunks
    type(c_ptr) :: address
    integer(c_int64_t), pointer :: found(:)
    integer(c_int64_t) :: code

    address = c_null_ptr
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      if (self%meta_exists('b2nd')) then
        code = BLOSC2_ERROR_INVALID_PARAM
      else
        code = slice_error(self, first, last - first + 1)
      end if
      if (code == 0) code = c_blosc2_get_slice_nchunks(self%c_pointer(), [first - 1], [last], address)
    end if
    allocate (numbers(max(code, 0_c_int64_t)))
    if (code > 0) then
      call c_f_pointer(address, found, [code])
      numbers = found + 1
    end if
    if (code >= 0) call free_c(address)
    call settle(code, 'blosc2_schunk%get_slice_nchunks', stat)
  end procedure

  module procedure schunk_get_offsets
    type(c_ptr) :: address
    integer(c_int64_t), pointer :: found(:)
    integer(c_int) :: code

    address = c_null_ptr
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = BLOSC2_ERROR_SUCCESS
      address = c_blosc2_frame_get_offsets(self%c_pointer())
    end if
    if (c_associated(address)) then
      call c_f_pointer(address, found, [self%nchunks()])
      offsets = found
      call free_c(address)
    else
      allocate (offsets(0))
    end if
    call settle(code, 'blosc2_schunk%get_offsets', stat)
  end procedure

  ! Returns the number of the super-chunk's items that an array holds, or -1 if its items neither
  ! have the typesize nor are bytes that form complete items.
  function items_of(self, buffer) result(items)
    class(blosc2_schunk), intent(in) :: self
    type(blosc_buffer), intent(in) :: buffer
    integer(c_int64_t) :: items
    integer(c_int64_t) :: typesize

    typesize = self%typesize()
    items = -1
    if (buffer%items < 0) return
    if (buffer%item_size == typesize) then
      items = buffer%items
    else if (buffer%item_size == 1 .and. modulo(buffer%items, typesize) == 0) then
      items = buffer%items/typesize
    end if
  end function

  ! Returns the error of a slice of `items` items from `first`.
  function slice_error(self, first, items) result(code)
    class(blosc2_schunk), intent(in) :: self
    integer(c_int64_t), intent(in) :: first, items
    integer(c_int) :: code

    code = BLOSC2_ERROR_SUCCESS
    if (items < 0) then
      code = BLOSC2_ERROR_INVALID_PARAM
    else if (first < 1 .or. first - 1 > self%nitems() - items) then
      code = BLOSC2_ERROR_INVALID_INDEX
    end if
  end function

  ! Validates the header of a chunk to copy, which the C functions trust; returns an error code.
  function checked_chunk(self, chunk) result(code)
    class(blosc2_schunk), intent(in) :: self
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer(c_int64_t) :: code
    integer(c_int32_t) :: nbytes, cbytes, blocksize

    code = BLOSC2_ERROR_NULL_POINTER
    if (.not. self%is_open()) return
    code = BLOSC2_ERROR_READ_BUFFER
    if (size(chunk) < BLOSC_EXTENDED_HEADER_LENGTH) return
    code = c_blosc2_cbuffer_sizes(c_loc(chunk), nbytes, cbytes, blocksize)
    if (code >= 0 .and. cbytes > size(chunk)) code = BLOSC2_ERROR_READ_BUFFER
  end function
end submodule blosc2_superchunk_data
