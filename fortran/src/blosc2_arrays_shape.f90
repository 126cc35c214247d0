! Arrays: changes of the shape.
submodule (blosc2_arrays) blosc2_arrays_shape
  implicit none

contains

  module procedure array_resize
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = BLOSC2_ERROR_INVALID_PARAM
      if (size(shape) == self%ndim()) then
        if (.not. present(start)) then
          code = c_b2nd_resize(self%c_pointer(), to_c(shape))
        else if (size(start) == size(shape)) then
          code = c_b2nd_resize(self%c_pointer(), to_c(shape), to_c(start - 1))
        end if
      end if
    end if
    call settle(code, 'b2nd_array%resize', stat)
  end procedure

  module procedure array_append
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(data, source)
    code = growth_error(self, source, dim)
    if (code == 0 .and. source%items > 0) then
      code = c_b2nd_append(self%c_pointer(), source%address, source%items*source%item_size, c_axis(self, dim))
    end if
    call settle(code, 'b2nd_array%append', stat)
  end procedure

  module procedure array_insert
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(data, source)
    code = growth_error(self, source, dim)
    if (code == 0 .and. source%items > 0) then
      code = c_b2nd_insert(self%c_pointer(), source%address, source%items*source%item_size, c_axis(self, dim), &
        before - 1)
    end if
    call settle(code, 'b2nd_array%insert', stat)
  end procedure

  module procedure array_delete
    integer(c_int) :: code

    code = dimension_error(self, dim)
    if (code == 0) code = c_b2nd_delete(self%c_pointer(), c_axis(self, dim), first - 1, last - first + 1)
    call settle(code, 'b2nd_array%delete', stat)
  end procedure

  module procedure array_extend
    type(c_ptr) :: enlarged
    integer(c_int) :: code

    code = dimension_error(self, dim)
    if (.not. other%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code == 0) then
      code = c_b2nd_concatenate(c_null_ptr, self%c_pointer(), other%c_pointer(), c_axis(self, dim), .false._c_bool, &
        enlarged)
    end if
    call settle(code, 'b2nd_array%extend', stat)
  end procedure

  ! Returns the C index of a dimension.
  function c_axis(self, dim) result(axis)
    class(b2nd_array), intent(in) :: self
    integer, intent(in) :: dim
    integer(c_int8_t) :: axis

    axis = int(self%ndim() - dim, c_int8_t)
  end function

  function dimension_error(self, dim) result(code)
    class(b2nd_array), intent(in) :: self
    integer, intent(in) :: dim
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (.not. self%is_open()) return
    code = merge(BLOSC2_ERROR_SUCCESS, BLOSC2_ERROR_INVALID_PARAM, dim >= 1 .and. dim <= self%ndim())
  end function

  ! Returns the error of items to add along a dimension: the extents in the other dimensions must
  ! match the array's.
  function growth_error(self, source, dim) result(code)
    class(b2nd_array), intent(in) :: self
    type(blosc_buffer), intent(in) :: source
    integer, intent(in) :: dim
    integer(c_int) :: code
    integer(c_int64_t), allocatable :: shape(:)

    code = dimension_error(self, dim)
    if (code /= 0) return
    shape = self%shape()
    shape(dim) = 1
    if (product(shape) > 0) shape(dim) = source%items/product(shape)
    code = shape_error(self, source, shape)
  end function
end submodule blosc2_arrays_shape
