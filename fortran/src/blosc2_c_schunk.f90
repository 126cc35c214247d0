! The functions of libblosc2.so.9 for super-chunks and their metalayers, as they are.
!
! Each C function has an interface here, under its own name with `c_` in front. Buffers are addresses, strings end in
! `c_null_char`, nothing is checked; the comments speak of C, where items count from 0. The module above has the
! same functions for Fortran.
module blosc2_c_schunk
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_ptr
  use blosc2_types, only: blosc2_cparams, blosc2_io, blosc2_storage
  implicit none
  public
  private :: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_ptr, blosc2_cparams, blosc2_io, blosc2_storage

  interface
    !> The offsets of the chunks as the frame stores them, in memory that the caller frees; NULL for a super-
    !! chunk without frame or without chunks.
    function c_blosc2_frame_get_offsets(schunk) bind(c, name='blosc2_frame_get_offsets') result(c_result)
      import :: c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr) :: c_result
    end function

    !> Stores the numbers of the chunks that a slice touches in chunks_idx, in memory that the caller frees;
    !! start and stop point to one number each, or to one a dimension for an array. Gives their count, or an
    !! error code.
    function c_blosc2_get_slice_nchunks(schunk, start, stop, chunks_idx) bind(c, &
      name='blosc2_get_slice_nchunks') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      type(c_ptr), intent(out) :: chunks_idx
      integer(c_int64_t) :: c_result
    end function

    !> Adds a metalayer of content_len bytes. Super-chunks in frames take none once they have chunks. Gives its
    !! number, or an error code.
    function c_blosc2_meta_add(schunk, name, content, content_len) bind(c, name='blosc2_meta_add') result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      integer(c_int) :: c_result
    end function

    !> Overwrites the start of the content of a metalayer; a content that is longer changes nothing. Gives its
    !! number, or an error code.
    function c_blosc2_meta_update(schunk, name, content, content_len) bind(c, name='blosc2_meta_update') &
      result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      integer(c_int) :: c_result
    end function

    !> Compresses nbytes bytes at src and adds them as a chunk behind all others. Gives the number of chunks,
    !! or an error code.
    function c_blosc2_schunk_append_buffer(schunk, src, nbytes) bind(c, name='blosc2_schunk_append_buffer') &
      result(c_result)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk, src
      integer(c_int32_t), value :: nbytes
      integer(c_int64_t) :: c_result
    end function

    !> Adds a chunk behind all others. With copy it is copied; without, it is a block of malloc that the super-
    !! chunk owns when the call succeeds. Gives the number of chunks, or an error code.
    function c_blosc2_schunk_append_chunk(schunk, chunk, copy) bind(c, name='blosc2_schunk_append_chunk') &
      result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk, chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Writes the super-chunk as a contiguous frame behind what is in a file, which is made if it isn't there.
    !! Gives where in the file the frame begins, or an error code.
    function c_blosc2_schunk_append_file(schunk, urlpath) bind(c, name='blosc2_schunk_append_file') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Tells whether the bytes of a contiguous frame in memory stay when the super-chunk is freed.
    subroutine c_blosc2_schunk_avoid_cframe_free(schunk, avoid_cframe_free) bind(c, &
      name='blosc2_schunk_avoid_cframe_free')
      import :: c_bool, c_ptr
      type(c_ptr), value :: schunk
      logical(c_bool), value :: avoid_cframe_free
    end subroutine

    !> Copies a super-chunk to another storage. The chunks are compressed anew when the parameters of the
    !! storage are others than those of the super-chunk; NULL parameters are those of the super-chunk. Gives
    !! NULL when it can't be done.
    function c_blosc2_schunk_copy(schunk, storage) bind(c, name='blosc2_schunk_copy') result(c_result)
      import :: blosc2_storage, c_ptr
      type(c_ptr), value :: schunk
      type(blosc2_storage), intent(in) :: storage
      type(c_ptr) :: c_result
    end function

    !> Decompresses chunk nchunk to dest, which has room for nbytes bytes. Gives the bytes of the chunk, or an
    !! error code.
    function c_blosc2_schunk_decompress_chunk(schunk, nchunk, dest, nbytes) bind(c, &
      name='blosc2_schunk_decompress_chunk') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: nbytes
      integer(c_int) :: c_result
    end function

    !> Removes chunk nchunk. Gives the number of chunks, or an error code.
    function c_blosc2_schunk_delete_chunk(schunk, nchunk) bind(c, name='blosc2_schunk_delete_chunk') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      integer(c_int64_t) :: c_result
    end function

    !> Fills an empty super-chunk with nitems items of BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or
    !! BLOSC2_SPECIAL_UNINIT, in chunks of chunksize bytes. Gives the number of chunks, or an error code.
    function c_blosc2_schunk_fill_special(schunk, nitems, special_value, chunksize) bind(c, &
      name='blosc2_schunk_fill_special') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nitems
      integer(c_int), value :: special_value
      integer(c_int32_t), value :: chunksize
      integer(c_int64_t) :: c_result
    end function

    !> The bytes of the frame; of one in a directory those of its index file, and of a super-chunk in memory
    !! without frame an estimate.
    function c_blosc2_schunk_frame_len(schunk) bind(c, name='blosc2_schunk_frame_len') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t) :: c_result
    end function

    !> Frees a super-chunk; NULL is allowed. Files stay. Gives 0, or 1 when the I/O backend could not free its
    !! parameters.
    function c_blosc2_schunk_free(schunk) bind(c, name='blosc2_schunk_free') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Opens a super-chunk that is a contiguous frame of len bytes at cframe. With copy its chunks are copied;
    !! without, the bytes stay the caller's and must outlive the super-chunk, which never writes to them; see
    !! blosc2_schunk_avoid_cframe_free(). Gives NULL when it is no frame.
    function c_blosc2_schunk_from_buffer(cframe, len, copy) bind(c, name='blosc2_schunk_from_buffer') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: cframe
      integer(c_int64_t), value :: len
      logical(c_bool), value :: copy
      type(c_ptr) :: c_result
    end function

    !> Stores where chunk nchunk is in chunk, and in needs_free whether the caller must free() it. What needs
    !! no free is valid until the super-chunk changes. Gives the bytes of the chunk, or an error code.
    function c_blosc2_schunk_get_chunk(schunk, nchunk, chunk, needs_free) bind(c, &
      name='blosc2_schunk_get_chunk') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), intent(out) :: chunk
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Stores a copy of the parameters that the super-chunk compresses with in cparams; free() it. Gives 0 or
    !! an error code.
    function c_blosc2_schunk_get_cparams(schunk, cparams) bind(c, name='blosc2_schunk_get_cparams') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: cparams
      integer(c_int) :: c_result
    end function

    !> Stores a copy of the parameters that the super-chunk decompresses with in dparams; free() it. Gives 0 or
    !! an error code.
    function c_blosc2_schunk_get_dparams(schunk, dparams) bind(c, name='blosc2_schunk_get_dparams') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: dparams
      integer(c_int) :: c_result
    end function

    !> As blosc2_schunk_get_chunk(), but of a chunk in a file only the header and where the blocks are. Such a
    !! chunk is read by contexts of this super-chunk; the size to tell them is the one given here.
    function c_blosc2_schunk_get_lazychunk(schunk, nchunk, chunk, needs_free) bind(c, &
      name='blosc2_schunk_get_lazychunk') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), intent(out) :: chunk
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Reads the items from start to before stop to buffer. Gives 0, or an error code.
    function c_blosc2_schunk_get_slice_buffer(schunk, start, stop, buffer) bind(c, &
      name='blosc2_schunk_get_slice_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: start, stop
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Reads the items at ncoords coordinates to buffer, one after the other. Gives 0, or an error code.
    function c_blosc2_schunk_get_sparse_buffer(schunk, ncoords, coords, buffer) bind(c, &
      name='blosc2_schunk_get_sparse_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: ncoords
      integer(c_int64_t), intent(in) :: coords(*)
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Decompresses block nblock of chunk nchunk, whose blocks have lengths of their own, into a buffer that
    !! the caller frees; stores it in dest and its size in destsize. Gives the size, or an error code.
    function c_blosc2_schunk_get_vlblock(schunk, nchunk, nblock, dest, destsize) bind(c, &
      name='blosc2_schunk_get_vlblock') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      integer(c_int32_t), value :: nblock
      type(c_ptr), intent(out) :: dest
      integer(c_int32_t), intent(out) :: destsize
      integer(c_int) :: c_result
    end function

    !> Adds a chunk in front of chunk nchunk, as blosc2_schunk_append_chunk() does. Gives the number of chunks,
    !! or an error code.
    function c_blosc2_schunk_insert_chunk(schunk, nchunk, chunk, copy) bind(c, &
      name='blosc2_schunk_insert_chunk') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Locks the file against other handles until blosc2_schunk_unlock(), when locking was asked for; may be
    !! nested. Gives 0, or BLOSC2_ERROR_LOCK.
    function c_blosc2_schunk_lock(schunk) bind(c, name='blosc2_schunk_lock') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Makes an empty super-chunk, in memory or at storage->urlpath, where nothing may be yet. The storage is
    !! copied; what is NULL in it means the defaults. Gives NULL when it can't be made. Free it with
    !! blosc2_schunk_free().
    function c_blosc2_schunk_new(storage) bind(c, name='blosc2_schunk_new') result(c_result)
      import :: blosc2_storage, c_ptr
      type(blosc2_storage), intent(in) :: storage
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk in a file or directory. Gives NULL when it can't be opened.
    function c_blosc2_schunk_open(urlpath) bind(c, name='blosc2_schunk_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk that begins at a byte of a file. Gives NULL when it can't be opened.
    function c_blosc2_schunk_open_offset(urlpath, offset) bind(c, name='blosc2_schunk_open_offset') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t), value :: offset
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk that begins at a byte of a file, through an I/O backend, as
    !! blosc2_schunk_open_udio().
    function c_blosc2_schunk_open_offset_udio(urlpath, offset, udio) bind(c, &
      name='blosc2_schunk_open_offset_udio') result(c_result)
      import :: blosc2_io, c_char, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t), value :: offset
      type(blosc2_io), intent(in) :: udio
      type(c_ptr) :: c_result
    end function

    !> Opens a super-chunk through an I/O backend; NULL is the file system. The struct is copied, its params
    !! must outlive the super-chunk. Gives NULL when it can't be opened; then params were destroyed.
    function c_blosc2_schunk_open_udio(urlpath, udio) bind(c, name='blosc2_schunk_open_udio') result(c_result)
      import :: blosc2_io, c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(blosc2_io), intent(in) :: udio
      type(c_ptr) :: c_result
    end function

    !> Takes up what other handles or processes have changed in the file. Gives 1 when there was something, 0
    !! when not, or an error code.
    function c_blosc2_schunk_refresh(schunk) bind(c, name='blosc2_schunk_refresh') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Puts the chunks in another order: entry i of offsets_order is the number of the chunk that becomes chunk
    !! i. Gives 0 or an error code.
    function c_blosc2_schunk_reorder_offsets(schunk, offsets_order) bind(c, &
      name='blosc2_schunk_reorder_offsets') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), intent(in) :: offsets_order(*)
      integer(c_int) :: c_result
    end function

    !> Writes the items from start to before stop, which must be there, from buffer. Gives 0, or an error code.
    function c_blosc2_schunk_set_slice_buffer(schunk, start, stop, buffer) bind(c, &
      name='blosc2_schunk_set_slice_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: start, stop
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Stores where the super-chunk is as a contiguous frame in cframe, and in needs_free whether the caller
    !! must free() it. What needs no free is valid until the super-chunk changes. Gives the bytes of the frame,
    !! or an error code.
    function c_blosc2_schunk_to_buffer(schunk, cframe, needs_free) bind(c, name='blosc2_schunk_to_buffer') &
      result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: cframe
      logical(c_bool), intent(out) :: needs_free
      integer(c_int64_t) :: c_result
    end function

    !> Writes the super-chunk to a contiguous frame in a file. A contiguous frame in memory is written over
    !! what is there; otherwise nothing may be there. Gives the bytes of the frame, or an error code.
    function c_blosc2_schunk_to_file(schunk, urlpath) bind(c, name='blosc2_schunk_to_file') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Ends what blosc2_schunk_lock() began. Gives 0.
    function c_blosc2_schunk_unlock(schunk) bind(c, name='blosc2_schunk_unlock') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Puts a chunk in the place of chunk nchunk, as blosc2_schunk_append_chunk() does. Gives the number of
    !! chunks, or an error code.
    function c_blosc2_schunk_update_chunk(schunk, nchunk, chunk, copy) bind(c, &
      name='blosc2_schunk_update_chunk') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Adds a variable-length metalayer, compressed with cparams, or the defaults for NULL. Gives its number,
    !! or an error code.
    function c_blosc2_vlmeta_add(schunk, name, content, content_len, cparams) bind(c, name='blosc2_vlmeta_add') &
      result(c_result)
      import :: blosc2_cparams, c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      type(blosc2_cparams), intent(in), optional :: cparams
      integer(c_int) :: c_result
    end function

    !> Removes a variable-length metalayer. Gives how many are left, or an error code.
    function c_blosc2_vlmeta_delete(schunk, name) bind(c, name='blosc2_vlmeta_delete') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: c_result
    end function

    !> The number of a variable-length metalayer, or an error code.
    function c_blosc2_vlmeta_exists(schunk, name) bind(c, name='blosc2_vlmeta_exists') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: c_result
    end function

    !> Stores the content of a variable-length metalayer in content, in memory that the caller frees, NULL when
    !! it is empty, and its bytes in content_len. Gives its number, or an error code.
    function c_blosc2_vlmeta_get(schunk, name, content, content_len) bind(c, name='blosc2_vlmeta_get') &
      result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: content
      integer(c_int32_t), intent(out) :: content_len
      integer(c_int) :: c_result
    end function

    !> Stores the names of the variable-length metalayers in names, which has room for schunk->nvlmetalayers
    !! pointers; they belong to the super-chunk. Gives their count, or an error code.
    function c_blosc2_vlmeta_get_names(schunk, names) bind(c, name='blosc2_vlmeta_get_names') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: names(*)
      integer(c_int) :: c_result
    end function

    !> Gives a variable-length metalayer another content. Gives its number, or an error code.
    function c_blosc2_vlmeta_update(schunk, name, content, content_len, cparams) bind(c, &
      name='blosc2_vlmeta_update') result(c_result)
      import :: blosc2_cparams, c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      type(blosc2_cparams), intent(in), optional :: cparams
      integer(c_int) :: c_result
    end function
  end interface
end module blosc2_c_schunk
