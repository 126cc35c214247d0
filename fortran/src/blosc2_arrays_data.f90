! Arrays: reading and writing items.
submodule (blosc2_arrays) blosc2_arrays_data
  implicit none

contains

  module procedure array_to_array
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(data, output)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = shape_error(self, output, self%shape())
    if (code == 0 .and. output%items > 0) then
      code = c_b2nd_to_cbuffer(self%c_pointer(), output%address, output%items*output%item_size)
    end if
    call settle(code, 'b2nd_array%to_array', stat)
  end procedure

  module procedure array_get_slice
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(data, output)
    code = slice_error(self, first, last)
    if (code == 0) code = shape_error(self, output, last - first + 1)
    if (code == 0 .and. output%items > 0) then
      code = c_b2nd_get_slice_cbuffer(self%c_pointer(), to_c(first - 1), to_c(last), output%address, &
        to_c(last - first + 1), output%items*output%item_size)
    end if
    call settle(code, 'b2nd_array%get_slice', stat)
  end procedure

  module procedure array_set_slice
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(data, source)
    code = slice_error(self, first, last)
    if (code == 0) code = shape_error(self, source, last - first + 1)
    if (code == 0 .and. source%items > 0) then
      code = c_b2nd_set_slice_cbuffer(source%address, to_c(last - first + 1), source%items*source%item_size, &
        to_c(first - 1), to_c(last), self%c_pointer())
    end if
    call settle(code, 'b2nd_array%set_slice', stat)
  end procedure

  module procedure array_get_sparse
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(data, output)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = shape_error(self, output, [size(numbers, kind=c_int64_t)])
    if (code == 0) then
      if (any(numbers < 1 .or. numbers > self%nitems())) code = BLOSC2_ERROR_INVALID_INDEX
    end if
    ! The number of an item is the same in both orders, since the dimensions are reversed.
    if (code == 0 .and. size(numbers) > 0) then
      code = c_b2nd_get_sparse_cbuffer(self%c_pointer(), size(numbers, kind=c_int64_t), numbers - 1, output%address, &
        output%items*output%item_size)
    end if
    call settle(code, 'b2nd_array%get_sparse', stat)
  end procedure

  module procedure array_get_selection
    type(blosc_buffer) :: output
    type(b2nd_indices), allocatable, target :: indices(:)
    type(c_ptr) :: addresses(B2ND_MAX_DIM)
    integer(c_int64_t) :: counts(B2ND_MAX_DIM)
    integer(c_int) :: code

    call blosc_describe(data, output)
    call prepare_selection(self, selection, output, indices, addresses, counts, code)
    if (code == 0 .and. output%items > 0) then
      code = c_b2nd_get_orthogonal_selection(self%c_pointer(), addresses, counts, output%address, counts, &
        output%items*output%item_size)
    end if
    call settle(code, 'b2nd_array%get_selection', stat)
  end procedure

  module procedure array_set_selection
    type(blosc_buffer) :: source
    type(b2nd_indices), allocatable, target :: indices(:)
    type(c_ptr) :: addresses(B2ND_MAX_DIM)
    integer(c_int64_t) :: counts(B2ND_MAX_DIM)
    integer(c_int) :: code

    call blosc_describe(data, source)
    call prepare_selection(self, selection, source, indices, addresses, counts, code)
    if (code == 0 .and. source%items > 0) then
      code = c_b2nd_set_orthogonal_selection(self%c_pointer(), addresses, counts, source%address, counts, &
        source%items*source%item_size)
    end if
    call settle(code, 'b2nd_array%set_selection', stat)
  end procedure

  ! Builds the C representation of a selection: for each dimension in C order, the address and
  ! number of zero-based indices.
  subroutine prepare_selection(self, selection, buffer, indices, addresses, counts, code)
    class(b2nd_array), intent(in) :: self
    type(b2nd_indices), intent(in) :: selection(:)
    type(blosc_buffer), intent(in) :: buffer
    type(b2nd_indices), allocatable, intent(out), target :: indices(:)
    type(c_ptr), intent(out) :: addresses(B2ND_MAX_DIM)
    integer(c_int64_t), intent(out) :: counts(B2ND_MAX_DIM)
    integer(c_int), intent(out) :: code
    integer(c_int64_t), allocatable :: shape(:)
    integer :: i, ndim

    addresses = c_null_ptr
    counts = 0
    code = BLOSC2_ERROR_NULL_POINTER
    if (.not. self%is_open()) return
    shape = self%shape()
    ndim = size(shape)
    code = BLOSC2_ERROR_INVALID_PARAM
    if (size(selection) /= ndim) return
    allocate (indices(ndim))
    do i = 1, ndim
      if (.not. allocated(selection(i)%at)) return
      if (any(selection(i)%at < 1 .or. selection(i)%at > shape(i))) then
        code = BLOSC2_ERROR_INVALID_INDEX
        return
      end if
      indices(i)%at = selection(i)%at - 1
      counts(ndim + 1 - i) = size(indices(i)%at)
      if (size(indices(i)%at) > 0) addresses(ndim + 1 - i) = c_loc(indices(i)%at)
    end do
    code = shape_error(self, buffer, counts(ndim:1:-1))
  end subroutine
end submodule blosc2_arrays_data
