! The functions of libblosc2.so.9 for arrays of several dimensions, as they are.
!
! Each C function has an interface here, under its own name with `c_` in front. Buffers are addresses, strings end in
! `c_null_char`, nothing is checked; the comments speak of C, where items count from 0. The module above has the
! same functions for Fortran.
module blosc2_c_b2nd
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
  use blosc2_types, only: blosc2_metalayer, blosc2_storage
  implicit none
  public
  private :: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr, blosc2_metalayer, blosc2_storage

  interface
    !> Adds the items in buffer behind all others along an axis. Gives 0, or an error code.
    function c_b2nd_append(array, buffer, buffersize, axis) bind(c, name='b2nd_append') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int8_t), value :: axis
      integer(c_int) :: c_result
    end function

    !> Puts src2 behind src1 along an axis. With copy that is a new array, with the partitions and the storage
    !! of ctx; without, src1 itself is enlarged and given, and ctx may be NULL. Gives 0, or an error code.
    function c_b2nd_concatenate(ctx, src1, src2, axis, copy, array) bind(c, name='b2nd_concatenate') result(c_result)
      import :: c_bool, c_int, c_int8_t, c_ptr
      type(c_ptr), value :: ctx, src1, src2
      integer(c_int8_t), value :: axis
      logical(c_bool), value :: copy
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Copies an array, with the partitions and the storage of ctx, whose shape becomes that of src. All
    !! metalayers are copied too. Gives 0, or an error code.
    function c_b2nd_copy(ctx, src, array) bind(c, name='b2nd_copy') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx, src
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Copies as b2nd_copy_buffer2() does, for items of at most 255 bytes.
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

    !> Copies the items from src_start to before src_stop of a buffer of the shape src_pad_shape to dst_start
    !! and on in a buffer of the shape dst_pad_shape, rows first. Nobody checks that they are there; the
    !! buffers must not overlap. Gives 0, or an error code.
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

    !> Makes what arrays are created with: where and how they are stored, the shapes of the array, its chunks
    !! and its blocks, the type of its items in NumPy's spelling, and metalayers to add. NULL for storage or
    !! dtype means the default. What storage and metalayers point to stays the caller's and must outlive the
    !! context; one context can create several arrays. Gives NULL for shapes that can't be. Free it with
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

    !> Removes delete_len items along an axis from delete_start on; inside of the array that is only for whole
    !! chunks. Gives 0, or an error code.
    function c_b2nd_delete(array, axis, delete_start, delete_len) bind(c, name='b2nd_delete') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int8_t), value :: axis
      integer(c_int64_t), value :: delete_start, delete_len
      integer(c_int) :: c_result
    end function

    !> Reads the metalayer of an array. shape, chunkshape and blockshape need room for B2ND_MAX_DIM numbers;
    !! the first ndim are written. dtype and dtype_format may be NULL; the caller frees dtype. Gives the bytes
    !! read, or an error code.
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

    !> Makes an array of zeros. Gives 0, or an error code.
    function c_b2nd_empty(ctx, array) bind(c, name='b2nd_empty') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Stores a view of an array that has a dimension of one item for each true of the final_dims entries of
    !! axis, and those of the array for the others. The array must outlive the view. Gives 0, or an error code.
    function c_b2nd_expand_dims(array, view, axis, final_dims) bind(c, name='b2nd_expand_dims') result(c_result)
      import :: c_bool, c_int, c_int8_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      logical(c_bool), intent(in) :: axis(*)
      integer(c_int8_t), value :: final_dims
      integer(c_int) :: c_result
    end function

    !> Frees an array with its super-chunk, unless sc is NULL. Gives 0, or an error code.
    function c_b2nd_free(array) bind(c, name='b2nd_free') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Frees a context. The arrays made with it stay. Gives 0, or an error code.
    function c_b2nd_free_ctx(ctx) bind(c, name='b2nd_free_ctx') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      integer(c_int) :: c_result
    end function

    !> Makes an array of the items in buffer, which come rows first. Gives 0, or an error code.
    function c_b2nd_from_cbuffer(ctx, array, buffer, buffersize) bind(c, name='b2nd_from_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Opens the array in a contiguous frame of cframe_len bytes. With copy the data are copied; without, the
    !! bytes stay the caller's and must outlive the array, which never writes to them. Gives 0, or an error
    !! code.
    function c_b2nd_from_cframe(cframe, cframe_len, copy, array) bind(c, name='b2nd_from_cframe') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: cframe
      integer(c_int64_t), value :: cframe_len
      logical(c_bool), value :: copy
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Makes an array of a super-chunk that has the metalayer of one. The array owns the super-chunk when the
    !! call succeeds. Gives 0, or an error code.
    function c_b2nd_from_schunk(schunk, array) bind(c, name='b2nd_from_schunk') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Makes an array whose items are all the one at fill_value. Gives 0, or an error code.
    function c_b2nd_full(ctx, array, fill_value) bind(c, name='b2nd_full') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: fill_value
      integer(c_int) :: c_result
    end function

    !> Reads the items at all combinations of indices, to a buffer of the shape buffershape, rows first.
    !! selection holds the indices along each dimension, selection_size how many there are; buffersize is the
    !! bytes of the items. Gives 0, or an error code.
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

    !> Makes an array of the items of src from start to before stop, with the partitions and the storage of
    !! ctx, whose shape becomes that of the slice. Gives 0, or an error code.
    function c_b2nd_get_slice(ctx, array, src, start, stop) bind(c, name='b2nd_get_slice') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      integer(c_int) :: c_result
    end function

    !> Reads the items from start to before stop to the origin of a buffer of the shape buffershape; all else
    !! in its first buffersize bytes becomes zeros, as do items outside of the array. Gives 0, or an error
    !! code.
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

    !> Reads the items of ncoords numbers, counted rows first, to buffer, one after the other. Gives 0, or an
    !! error code.
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

    !> Inserts the items in buffer in front of those at insert_start along an axis; inside of the array that is
    !! only for whole chunks. Gives 0, or an error code.
    function c_b2nd_insert(array, buffer, buffersize, axis, insert_start) bind(c, name='b2nd_insert') result(c_result)
      import :: c_int, c_int64_t, c_int8_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int8_t), value :: axis
      integer(c_int64_t), value :: insert_start
      integer(c_int) :: c_result
    end function

    !> Makes an array of NaNs, of items of 4 or 8 bytes. Gives 0, or an error code.
    function c_b2nd_nans(ctx, array) bind(c, name='b2nd_nans') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Opens the array in a file or directory. Gives 0, or an error code: BLOSC2_ERROR_NULL_POINTER when there
    !! is no frame.
    function c_b2nd_open(urlpath, array) bind(c, name='b2nd_open') result(c_result)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Opens the array in the frame that begins at a byte of a file. Gives 0, or an error code, as b2nd_open().
    function c_b2nd_open_offset(urlpath, array, offset) bind(c, name='b2nd_open_offset') result(c_result)
      import :: c_char, c_int, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr), intent(out) :: array
      integer(c_int64_t), value :: offset
      integer(c_int) :: c_result
    end function

    !> Prints what the metalayer of an array says. Gives 0, or an error code.
    function c_b2nd_print_meta(array) bind(c, name='b2nd_print_meta') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Takes up the shape that another handle or process has given the array in its file. Gives 1 when there
    !! was something, 0 when not, or an error code: BLOSC2_ERROR_DATA when more than the shape has changed.
    function c_b2nd_refresh(array) bind(c, name='b2nd_refresh') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      integer(c_int) :: c_result
    end function

    !> Gives the array another shape. Along each dimension items come or go at start, or at the end for a start
    !! of NULL; inside of the array that is only for whole chunks. What comes is zero, unless it was cut off
    !! before inside a chunk. Gives 0, or an error code.
    function c_b2nd_resize(array, new_shape, start) bind(c, name='b2nd_resize') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      integer(c_int64_t), intent(in) :: new_shape(*)
      integer(c_int64_t), intent(in), optional :: start(*)
      integer(c_int) :: c_result
    end function

    !> Copies the array to a file or directory, whichever its storage is, where nothing may be yet. Gives 0, or
    !! an error code.
    function c_b2nd_save(array, urlpath) bind(c, name='b2nd_save') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int) :: c_result
    end function

    !> Writes the array as a contiguous frame behind what is in a file, which is made if it isn't there. Gives
    !! where in the file the frame begins, for b2nd_open_offset(), or an error code.
    function c_b2nd_save_append(array, urlpath) bind(c, name='b2nd_save_append') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: array
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Stores the metalayer of an array of these shapes in smeta, in memory that the caller frees. A dtype of
    !! NULL is B2ND_DEFAULT_DTYPE. Gives its bytes, or an error code.
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

    !> Writes the items at all combinations of indices along each dimension, as b2nd_get_orthogonal_selection()
    !! reads them. Of items that are selected twice the last one stays. Gives 0, or an error code.
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

    !> Writes the items from start to before stop from the origin of a buffer of the shape buffershape. Items
    !! outside of the array are ignored. Gives 0, or an error code.
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

    !> Stores a view of an array without its dimensions of one item. The array must outlive the view. Gives 0,
    !! or an error code.
    function c_b2nd_squeeze(array, view) bind(c, name='b2nd_squeeze') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      integer(c_int) :: c_result
    end function

    !> Stores a view of an array without the dimensions that are true in index, which must have one item. The
    !! array must outlive the view. Gives 0, or an error code.
    function c_b2nd_squeeze_index(array, view, index) bind(c, name='b2nd_squeeze_index') result(c_result)
      import :: c_bool, c_int, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: view
      logical(c_bool), intent(in) :: index(*)
      integer(c_int) :: c_result
    end function

    !> Reads all items to a buffer of buffersize bytes, rows first; the rest of the buffer becomes zeros. Gives
    !! 0, or an error code.
    function c_b2nd_to_cbuffer(array, buffer, buffersize) bind(c, name='b2nd_to_cbuffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array, buffer
      integer(c_int64_t), value :: buffersize
      integer(c_int) :: c_result
    end function

    !> Stores where the array is as a contiguous frame in cframe, its bytes in cframe_len, and in needs_free
    !! whether the caller must free() it. What needs no free is valid until the array changes. Gives 0, or an
    !! error code.
    function c_b2nd_to_cframe(array, cframe, cframe_len, needs_free) bind(c, name='b2nd_to_cframe') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: array
      type(c_ptr), intent(out) :: cframe
      integer(c_int64_t), intent(out) :: cframe_len
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Makes an array whose items are whatever they are. Gives 0, or an error code.
    function c_b2nd_uninit(ctx, array) bind(c, name='b2nd_uninit') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function

    !> Makes an array of zeros. Gives 0, or an error code.
    function c_b2nd_zeros(ctx, array) bind(c, name='b2nd_zeros') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: array
      integer(c_int) :: c_result
    end function
  end interface
end module blosc2_c_b2nd
