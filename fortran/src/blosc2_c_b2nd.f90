! Interfaces of the libblosc2.so.9 functions for multidimensional arrays.
!
! Each C function has an interface under its name with the prefix `c_`. Buffers are addresses,
! strings end in `c_null_char`, and nothing is checked. The comments use C conventions, with indices
! from 0. The module blosc2_arrays wraps these functions for Fortran.
module blosc2_c_b2nd
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
  use blosc2_types, only: blosc2_metalayer, blosc2_storage
  implicit none
  public
  private :: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr, blosc2_metalayer, blosc2_storage

  interface
    !> Appends the items in buffer along an axis. Returns 0 or an error code.
    function c_b2nd_append(array, buffer, buffersize, axis) bind(c, name='b2nd_append') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int8_t), value :: axis
      integer(c_int) :: c_result
    end function

    !> Concatenates src1 and src2 along an axis. With copy, the result is a new array with the
    !! partition and storage of ctx; otherwise src1 is enlarged and returned, and ctx may be NULL.
    !! Returns 0 or an error code.
    function c_b2nd_concatenate(ctx, src1, src2, axis, copy, array) bind(c, name='b2nd_concatenate') result(c_result)
      import :: c_bool, c_int, c_int8_t, c_ptr
      type(c_ptr), value :: ctx, src1, src2
      integer(c_int8_t), value :: axis
      logical(c_bool), value :: copy
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Copies an array with its metalayers to the partition and storage of ctx, whose shape becomes
    !! that of src. Returns 0 or an error code.
    function c_b2nd_copy(ctx, src, array) bind(c, name='b2nd_copy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx, src
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Copies like b2nd_copy_buffer2(), for items of at most 255 bytes.
    function c_b2nd_copy_buffer(ndim, itemsize, src, src_pad_shape, src_start, src_stop, dst, dst_pad_shape, &
      dst_start) bind(c, name='b2nd_copy_buffer') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      integer(c_int8_t), value :: ndim, itemsize
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in) :: src_pad_shape(*), src_start(*), src_stop(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in) :: dst_pad_shape(*), dst_start(*)
      integer(c_int) :: c_result
    end function

    !> Copies the items from src_start to src_stop (exclusive) of a buffer of the shape
    !! src_pad_shape to dst_start in a buffer of the shape dst_pad_shape, in row-major order. Ranges
    !! are not checked. The buffers may overlap. Returns 0 or an error code.
    function c_b2nd_copy_buffer2(ndim, itemsize, src, src_pad_shape, src_start, src_stop, dst, dst_pad_shape, &
      dst_start) bind(c, name='b2nd_copy_buffer2') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
      integer(c_int8_t), value :: ndim
      integer(c_int32_t), value :: itemsize
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in) :: src_pad_shape(*), src_start(*), src_stop(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in) :: dst_pad_shape(*), dst_start(*)
      integer(c_int) :: c_result
    end function

    !> Creates a context for array creation: storage, shapes of the array, chunks and blocks, item
    !! type as NumPy's dtype string, and metalayers. NULL for storage or dtype selects the default.
    !! The objects that storage and metalayers point to belong to the caller and must outlive the
    !! context; a context can create several arrays. Returns NULL for invalid shapes. Free it with
    !! b2nd_free_ctx().
    function c_b2nd_create_ctx(b2_storage, ndim, shape, chunkshape, blockshape, dtype, dtype_format, metalayers, &
      nmetalayers) bind(c, name='b2nd_create_ctx') result(c_result)
      import :: blosc2_metalayer, blosc2_storage, c_char, c_int32_t, c_int64_t, c_int8_t, c_ptr
      type(blosc2_storage), intent(in) :: b2_storage
      integer(c_int8_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int32_t), intent(in) :: chunkshape(*), blockshape(*)
      character(kind=c_char), intent(in) :: dtype(*)
      integer(c_int8_t), value :: dtype_format
      type(blosc2_metalayer), intent(in) :: metalayers(*)
      integer(c_int32_t), value :: nmetalayers
      type(c_ptr) :: c_result
    end function

    !> Removes delete_len items along an axis from delete_start; removals inside the array must
    !! consist of whole chunks. Returns 0 or an error code.
    function c_b2nd_delete(array, axis, delete_start, delete_len) bind(c, name='b2nd_delete') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int8_t), value :: axis
      integer(c_int64_t), value :: delete_start, delete_len
      integer(c_int) :: c_result
    end function

    !> Parses the metalayer of an array. shape, chunkshape and blockshape need B2ND_MAX_DIM
    !! elements; the first ndim are written. dtype and dtype_format may be NULL; the caller frees
    !! dtype. Returns the number of bytes read, or an error code.
    function c_b2nd_deserialize_meta(smeta, smeta_len, ndim, shape, chunkshape, blockshape, dtype, dtype_format) &
      bind(c, name='b2nd_deserialize_meta') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: smeta
      integer(c_int32_t), value :: smeta_len
      integer(c_int8_t), intent(out) :: ndim
      integer(c_int64_t), intent(out) :: shape(*)
      integer(c_int32_t), intent(out) :: chunkshape(*), blockshape(*)
      type(c_ptr), intent(out) :: dtype
      integer(c_int8_t), intent(out) :: dtype_format
      integer(c_int) :: c_result
    end function

    !> Creates an array of zeros. Returns 0 or an error code.
    function c_b2nd_empty(ctx, array) bind(c, name='b2nd_empty') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Creates a view of an array with a dimension of one item for each true of the final_dims
    !! entries of axis; the others are those of the array. The array must outlive the view. Returns
    !! 0 or an error code.
    function c_b2nd_expand_dims(array, view, axis, final_dims) bind(c, name='b2nd_expand_dims') result(c_result)
      import :: c_bool, c_int, c_int8_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      logical(c_bool), intent(in) :: axis(*)
      integer(c_int8_t), value :: final_dims
      integer(c_int) :: c_result
    end function

    !> Frees an array with its super-chunk, unless sc is NULL. Returns 0 or an error code.
    function c_b2nd_free(array) bind(c, name='b2nd_free') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Frees a context. Arrays created with it are kept. Returns 0 or an error code.
    function c_b2nd_free_ctx(ctx) bind(c, name='b2nd_free_ctx') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      integer(c_int) :: c_result
    end function

    !> Creates an array from the items in buffer, in row-major order. Returns 0 or an error code.
    function c_b2nd_from_cbuffer(ctx, array, buffer, buffersize) bind(c, name='b2nd_from_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Opens the array in a contiguous frame of cframe_len bytes. With copy, the data are copied;
    !! otherwise the bytes belong to the caller and must outlive the array, which never writes to
    !! them. Returns 0 or an error code.
    function c_b2nd_from_cframe(cframe, cframe_len, copy, array) bind(c, name='b2nd_from_cframe') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: cframe
      integer(c_int64_t), value :: cframe_len
      logical(c_bool), value :: copy
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Opens the array in a super-chunk with an array metalayer. On success, the array owns the
    !! super-chunk. Returns 0 or an error code.
    function c_b2nd_from_schunk(schunk, array) bind(c, name='b2nd_from_schunk') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Creates an array filled with the item at fill_value. Returns 0 or an error code.
    function c_b2nd_full(ctx, array, fill_value) bind(c, name='b2nd_full') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: fill_value
      integer(c_int) :: c_result
    end function

    !> Reads the items at all combinations of indices to a buffer of the shape buffershape, in
    !! row-major order. selection contains the indices in each dimension, selection_size their
    !! numbers; buffersize is the size of the items in bytes. Returns 0 or an error code.
    function c_b2nd_get_orthogonal_selection(array, selection, selection_size, buffer, buffershape, buffersize) &
      bind(c, name='b2nd_get_orthogonal_selection') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(in) :: selection(*)
      integer(c_int64_t), intent(in) :: selection_size(*)
      type(c_ptr), value :: buffer
      integer(c_int64_t), intent(in) :: buffershape(*)
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Creates an array from the items start to stop (exclusive) of src, with the partition and
    !! storage of ctx, whose shape becomes that of the slice. Returns 0 or an error code.
    function c_b2nd_get_slice(ctx, array, src, start, stop) bind(c, name='b2nd_get_slice') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      integer(c_int) :: c_result
    end function

    !> Reads the items start to stop (exclusive) to the origin of a buffer of the shape buffershape.
    !! The rest of its first buffersize bytes and items outside the array are set to zero. Returns 0
    !! or an error code.
    function c_b2nd_get_slice_cbuffer(array, start, stop, buffer, buffershape, buffersize) bind(c, &
      name='b2nd_get_slice_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      type(c_ptr), value :: buffer
      integer(c_int64_t), intent(in) :: buffershape(*)
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Reads the items with ncoords row-major numbers to buffer. Returns 0 or an error code.
    function c_b2nd_get_sparse_cbuffer(array, ncoords, coords, buffer, buffersize) bind(c, &
      name='b2nd_get_sparse_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int64_t), value :: ncoords
      integer(c_int64_t), intent(in) :: coords(*)
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Inserts the items in buffer before insert_start along an axis; insertions inside the array
    !! must consist of whole chunks. Returns 0 or an error code.
    function c_b2nd_insert(array, buffer, buffersize, axis, insert_start) bind(c, name='b2nd_insert') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int8_t), value :: axis
      integer(c_int64_t), value :: insert_start
      integer(c_int) :: c_result
    end function

    !> Creates an array of NaNs, of 4 or 8 bytes each. Returns 0 or an error code.
    function c_b2nd_nans(ctx, array) bind(c, name='b2nd_nans') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Opens the array in a file or directory. Returns 0 or an error code: BLOSC2_ERROR_NULL_POINTER
    !! if there is no frame.
    function c_b2nd_open(urlpath, array) bind(c, name='b2nd_open') result(c_result)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Opens the array in the frame at an offset of a file. Returns 0 or an error code, like
    !! b2nd_open().
    function c_b2nd_open_offset(urlpath, array, offset) bind(c, name='b2nd_open_offset') result(c_result)
      import :: c_char, c_int, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr), intent(out) :: array
      integer(c_int64_t), value :: offset
      integer(c_int) :: c_result
    end function

    !> Prints the content of an array's metalayer. Returns 0 or an error code.
    function c_b2nd_print_meta(array) bind(c, name='b2nd_print_meta') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Rereads the shape if another handle or process has changed it in the file. Returns 1 if it
    !! has, 0 if not, or an error code: BLOSC2_ERROR_DATA if anything but the shape has changed.
    function c_b2nd_refresh(array) bind(c, name='b2nd_refresh') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Changes the shape. In each dimension, items are added or removed at start, or at the end if
    !! start is NULL; changes inside the array must consist of whole chunks. Added items are zero,
    !! unless the same chunk still contains items that were removed before. Returns 0 or an error
    !! code.
    function c_b2nd_resize(array, new_shape, start) bind(c, name='b2nd_resize') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in) :: new_shape(*)
      integer(c_int64_t), intent(in), optional :: start(*)
      integer(c_int) :: c_result
    end function

    !> Copies the array to a path, which must not exist: a file or a directory, like the storage of
    !! the array. Returns 0 or an error code.
    function c_b2nd_save(array, urlpath) bind(c, name='b2nd_save') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int) :: c_result
    end function

    !> Appends the array as a contiguous frame to a file, which is created if it does not exist.
    !! Returns the offset of the frame in the file for b2nd_open_offset(), or an error code.
    function c_b2nd_save_append(array, urlpath) bind(c, name='b2nd_save_append') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Serialises the metalayer of an array of these shapes to smeta, which the caller frees. A NULL
    !! dtype selects B2ND_DEFAULT_DTYPE. Returns its size in bytes, or an error code.
    function c_b2nd_serialize_meta(ndim, shape, chunkshape, blockshape, dtype, dtype_format, smeta) bind(c, &
      name='b2nd_serialize_meta') result(c_result)
      import :: c_char, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
      integer(c_int8_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int32_t), intent(in) :: chunkshape(*), blockshape(*)
      character(kind=c_char), intent(in) :: dtype(*)
      integer(c_int8_t), value :: dtype_format
      type(c_ptr), intent(out) :: smeta
      integer(c_int) :: c_result
    end function

    !> Writes the items at all combinations of indices, like b2nd_get_orthogonal_selection() reads
    !! them. If an item is selected twice, the last value is stored. Returns 0 or an error code.
    function c_b2nd_set_orthogonal_selection(array, selection, selection_size, buffer, buffershape, buffersize) &
      bind(c, name='b2nd_set_orthogonal_selection') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(in) :: selection(*)
      integer(c_int64_t), intent(in) :: selection_size(*)
      type(c_ptr), value :: buffer
      integer(c_int64_t), intent(in) :: buffershape(*)
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Writes the items start to stop (exclusive) from the origin of a buffer of the shape
    !! buffershape. Items outside the array are ignored. Returns 0 or an error code.
    function c_b2nd_set_slice_cbuffer(buffer, buffershape, buffersize, start, stop, array) bind(c, &
      name='b2nd_set_slice_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: buffer
      integer(c_int64_t), intent(in) :: buffershape(*)
      integer(c_int64_t), value :: buffersize
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Creates a view of an array without its dimensions of one item. The array must outlive the
    !! view. Returns 0 or an error code.
    function c_b2nd_squeeze(array, view) bind(c, name='b2nd_squeeze') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      integer(c_int) :: c_result
    end function

    !> Creates a view of an array without the dimensions that are true in index, which must have one
    !! item. The array must outlive the view. Returns 0 or an error code.
    function c_b2nd_squeeze_index(array, view, index) bind(c, name='b2nd_squeeze_index') result(c_result)
      import :: c_bool, c_int, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      logical(c_bool), intent(in) :: index(*)
      integer(c_int) :: c_result
    end function

    !> Reads all items to a buffer of buffersize bytes, in row-major order; the rest of the buffer
    !! is set to zero. Returns 0 or an error code.
    function c_b2nd_to_cbuffer(array, buffer, buffersize) bind(c, name='b2nd_to_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Stores the address of the array's contiguous frame in cframe, its size in cframe_len, and in
    !! needs_free whether the caller must free() it. Otherwise it is valid until the array changes.
    !! Returns 0 or an error code.
    function c_b2nd_to_cframe(array, cframe, cframe_len, needs_free) bind(c, name='b2nd_to_cframe') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: cframe
      integer(c_int64_t), intent(out) :: cframe_len
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Creates an array with uninitialised items. Returns 0 or an error code.
    function c_b2nd_uninit(ctx, array) bind(c, name='b2nd_uninit') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Creates an array of zeros. Returns 0 or an error code.
    function c_b2nd_zeros(ctx, array) bind(c, name='b2nd_zeros') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function
  end interface
end module blosc2_c_b2nd
