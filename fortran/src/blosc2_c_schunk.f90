! Interfaces of the libblosc2.so.9 functions for super-chunks and their metalayers.
!
! Each C function has an interface under its name with the prefix `c_`. Buffers are addresses,
! strings end in `c_null_char`, and nothing is checked. The comments use C conventions, with indices
! from 0. The module blosc2_superchunk wraps these functions for Fortran.
module blosc2_c_schunk
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_ptr
  use blosc2_types, only: blosc2_cparams, blosc2_io, blosc2_storage
  implicit none
  public
  private :: c_bool, c_char, c_int, c_int32_t, c_int64_t, c_ptr, blosc2_cparams, blosc2_io, blosc2_storage

  interface
    !> Returns the offsets of the chunks as stored in the frame, which the caller frees; NULL for a
    !! super-chunk without a frame or without chunks.
    function c_blosc2_frame_get_offsets(schunk) bind(c, name='blosc2_frame_get_offsets') result(c_result)
      import :: c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr) :: c_result
    end function

    !> Stores the numbers of the chunks that overlap a slice in chunks_idx, which the caller frees;
    !! start and stop point to one index, or to one per dimension for an array. Returns their
    !! number, or an error code.
    function c_blosc2_get_slice_nchunks(schunk, start, stop, chunks_idx) bind(c, &
      name='blosc2_get_slice_nchunks') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), intent(in) :: start(*), stop(*)
      type(c_ptr), intent(out) :: chunks_idx
      integer(c_int64_t) :: c_result
    end function

    !> Adds a metalayer of content_len bytes. Fails for super-chunks in frames that have chunks.
    !! Returns its number, or an error code.
    function c_blosc2_meta_add(schunk, name, content, content_len) bind(c, name='blosc2_meta_add') result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      integer(c_int) :: c_result
    end function

    !> Overwrites the start of the content of a metalayer. If the new content is longer than the
    !! metalayer's, nothing changes. Returns its number, or an error code.
    function c_blosc2_meta_update(schunk, name, content, content_len) bind(c, name='blosc2_meta_update') &
      result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: content
      integer(c_int32_t), value :: content_len
      integer(c_int) :: c_result
    end function

    !> Compresses nbytes bytes at src and appends them as a chunk. Returns the number of chunks, or
    !! an error code.
    function c_blosc2_schunk_append_buffer(schunk, src, nbytes) bind(c, name='blosc2_schunk_append_buffer') &
      result(c_result)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk, src
      integer(c_int32_t), value :: nbytes
      integer(c_int64_t) :: c_result
    end function

    !> Appends a chunk. With copy, it is copied; otherwise it must be allocated with malloc, and on
    !! success the super-chunk owns it. Returns the number of chunks, or an error code.
    function c_blosc2_schunk_append_chunk(schunk, chunk, copy) bind(c, name='blosc2_schunk_append_chunk') &
      result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk, chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Appends the super-chunk as a contiguous frame to a file, which is created if it does not
    !! exist. Returns the offset of the frame in the file, or an error code.
    function c_blosc2_schunk_append_file(schunk, urlpath) bind(c, name='blosc2_schunk_append_file') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Sets whether the bytes of a contiguous frame in memory are kept when the super-chunk is
    !! freed.
    subroutine c_blosc2_schunk_avoid_cframe_free(schunk, avoid_cframe_free) bind(c, &
      name='blosc2_schunk_avoid_cframe_free')
      import :: c_bool, c_ptr
      type(c_ptr), value :: schunk
      logical(c_bool), value :: avoid_cframe_free
    end subroutine

    !> Copies a super-chunk to another storage. Chunks are recompressed if the parameters of the
    !! storage differ from those of the super-chunk; NULL selects the latter. Returns NULL on
    !! failure.
    function c_blosc2_schunk_copy(schunk, storage) bind(c, name='blosc2_schunk_copy') result(c_result)
      import :: blosc2_storage, c_ptr
      type(c_ptr), value :: schunk
      type(blosc2_storage), intent(in) :: storage
      type(c_ptr) :: c_result
    end function

    !> Decompresses chunk nchunk to dest, which has nbytes bytes. Returns the size of the chunk's
    !! data in bytes, or an error code.
    function c_blosc2_schunk_decompress_chunk(schunk, nchunk, dest, nbytes) bind(c, &
      name='blosc2_schunk_decompress_chunk') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: nbytes
      integer(c_int) :: c_result
    end function

    !> Removes chunk nchunk. Returns the number of chunks, or an error code.
    function c_blosc2_schunk_delete_chunk(schunk, nchunk) bind(c, name='blosc2_schunk_delete_chunk') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      integer(c_int64_t) :: c_result
    end function

    !> Fills an empty super-chunk with nitems items of BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or
    !! BLOSC2_SPECIAL_UNINIT, in chunks of chunksize bytes. Returns the number of chunks, or an
    !! error code.
    function c_blosc2_schunk_fill_special(schunk, nitems, special_value, chunksize) bind(c, &
      name='blosc2_schunk_fill_special') result(c_result)
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nitems
      integer(c_int), value :: special_value
      integer(c_int32_t), value :: chunksize
      integer(c_int64_t) :: c_result
    end function

    !> Returns the size of the frame in bytes: for a directory, that of its index file; for a
    !! super-chunk in memory without a frame, an estimate.
    function c_blosc2_schunk_frame_len(schunk) bind(c, name='blosc2_schunk_frame_len') result(c_result)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t) :: c_result
    end function

    !> Frees a super-chunk; NULL is allowed. Files are kept. Returns 0, or 1 if the I/O backend
    !! could not free its parameters.
    function c_blosc2_schunk_free(schunk) bind(c, name='blosc2_schunk_free') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Opens the super-chunk in a contiguous frame of len bytes at cframe. With copy, its chunks are
    !! copied; otherwise the bytes belong to the caller and must outlive the super-chunk, which
    !! never writes to them; see blosc2_schunk_avoid_cframe_free(). Returns NULL if it is not a
    !! frame.
    function c_blosc2_schunk_from_buffer(cframe, len, copy) bind(c, name='blosc2_schunk_from_buffer') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: cframe
      integer(c_int64_t), value :: len
      logical(c_bool), value :: copy
      type(c_ptr) :: c_result
    end function

    !> Stores the address of chunk nchunk in chunk, and in needs_free whether the caller must free()
    !! it. Otherwise it is valid until the super-chunk changes. Returns the size of the chunk in
    !! bytes, or an error code.
    function c_blosc2_schunk_get_chunk(schunk, nchunk, chunk, needs_free) bind(c, &
      name='blosc2_schunk_get_chunk') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), intent(out) :: chunk
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Stores a copy of the compression parameters of the super-chunk in cparams; the caller frees
    !! it. Returns 0 or an error code.
    function c_blosc2_schunk_get_cparams(schunk, cparams) bind(c, name='blosc2_schunk_get_cparams') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: cparams
      integer(c_int) :: c_result
    end function

    !> Stores a copy of the decompression parameters of the super-chunk in dparams; the caller frees
    !! it. Returns 0 or an error code.
    function c_blosc2_schunk_get_dparams(schunk, dparams) bind(c, name='blosc2_schunk_get_dparams') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: dparams
      integer(c_int) :: c_result
    end function

    !> Returns a chunk like blosc2_schunk_get_chunk(), but only the header and the block offsets of
    !! a chunk in a file. Only contexts of this super-chunk can decompress it; their source size is
    !! the size returned here.
    function c_blosc2_schunk_get_lazychunk(schunk, nchunk, chunk, needs_free) bind(c, &
      name='blosc2_schunk_get_lazychunk') result(c_result)
      import :: c_bool, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), intent(out) :: chunk
      logical(c_bool), intent(out) :: needs_free
      integer(c_int) :: c_result
    end function

    !> Reads the items start to stop (exclusive) to buffer. Returns 0 or an error code.
    function c_blosc2_schunk_get_slice_buffer(schunk, start, stop, buffer) bind(c, &
      name='blosc2_schunk_get_slice_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: start, stop
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Reads the items at ncoords coordinates to buffer. Returns 0 or an error code.
    function c_blosc2_schunk_get_sparse_buffer(schunk, ncoords, coords, buffer) bind(c, &
      name='blosc2_schunk_get_sparse_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: ncoords
      integer(c_int64_t), intent(in) :: coords(*)
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Decompresses block nblock of chunk nchunk, which has variable-length blocks, into a buffer
    !! that the caller frees; stores it in dest and its size in destsize. Returns the size, or an
    !! error code.
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

    !> Inserts a chunk before chunk nchunk, like blosc2_schunk_append_chunk(). Returns the number of
    !! chunks, or an error code.
    function c_blosc2_schunk_insert_chunk(schunk, nchunk, chunk, copy) bind(c, &
      name='blosc2_schunk_insert_chunk') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Locks the file against other handles until blosc2_schunk_unlock(), if locking is enabled;
    !! locks may be nested. Returns 0, or an error code.
    function c_blosc2_schunk_lock(schunk) bind(c, name='blosc2_schunk_lock') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Creates an empty super-chunk in memory or at storage->urlpath, which must not exist. The
    !! storage is copied; its NULL members select the defaults. Returns NULL on failure. Free it
    !! with blosc2_schunk_free().
    function c_blosc2_schunk_new(storage) bind(c, name='blosc2_schunk_new') result(c_result)
      import :: blosc2_storage, c_ptr
      type(blosc2_storage), intent(in) :: storage
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk in a file or directory. Returns NULL on failure.
    function c_blosc2_schunk_open(urlpath) bind(c, name='blosc2_schunk_open') result(c_result)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk at an offset of a file. Returns NULL on failure.
    function c_blosc2_schunk_open_offset(urlpath, offset) bind(c, name='blosc2_schunk_open_offset') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t), value :: offset
      type(c_ptr) :: c_result
    end function

    !> Opens the super-chunk at an offset of a file through an I/O backend, like
    !! blosc2_schunk_open_udio().
    function c_blosc2_schunk_open_offset_udio(urlpath, offset, udio) bind(c, &
      name='blosc2_schunk_open_offset_udio') result(c_result)
      import :: blosc2_io, c_char, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t), value :: offset
      type(blosc2_io), intent(in) :: udio
      type(c_ptr) :: c_result
    end function

    !> Opens a super-chunk through an I/O backend; NULL is the file system. The struct is copied,
    !! its params must outlive the super-chunk. Returns NULL on failure; then params were destroyed.
    function c_blosc2_schunk_open_udio(urlpath, udio) bind(c, name='blosc2_schunk_open_udio') result(c_result)
      import :: blosc2_io, c_char, c_ptr
      character(kind=c_char), intent(in) :: urlpath(*)
      type(blosc2_io), intent(in) :: udio
      type(c_ptr) :: c_result
    end function

    !> Rereads changes of other handles or processes in the file. Returns 1 if there were changes, 0
    !! if not, or an error code.
    function c_blosc2_schunk_refresh(schunk) bind(c, name='blosc2_schunk_refresh') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Reorders the chunks: entry i of offsets_order is the previous number of chunk i. Returns 0 or
    !! an error code.
    function c_blosc2_schunk_reorder_offsets(schunk, offsets_order) bind(c, &
      name='blosc2_schunk_reorder_offsets') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), intent(in) :: offsets_order(*)
      integer(c_int) :: c_result
    end function

    !> Writes the items start to stop (exclusive), which must be in bounds, from buffer. Returns 0
    !! or an error code.
    function c_blosc2_schunk_set_slice_buffer(schunk, start, stop, buffer) bind(c, &
      name='blosc2_schunk_set_slice_buffer') result(c_result)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: start, stop
      type(c_ptr), value :: buffer
      integer(c_int) :: c_result
    end function

    !> Stores the address of the super-chunk's contiguous frame in cframe, and in needs_free whether
    !! the caller must free() it. Otherwise it is valid until the super-chunk changes. Returns the
    !! size of the frame in bytes, or an error code.
    function c_blosc2_schunk_to_buffer(schunk, cframe, needs_free) bind(c, name='blosc2_schunk_to_buffer') &
      result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: cframe
      logical(c_bool), intent(out) :: needs_free
      integer(c_int64_t) :: c_result
    end function

    !> Writes the super-chunk to a contiguous frame in a file. A contiguous frame in memory
    !! overwrites an existing file; otherwise the file must not exist. Returns the size of the frame
    !! in bytes, or an error code.
    function c_blosc2_schunk_to_file(schunk, urlpath) bind(c, name='blosc2_schunk_to_file') result(c_result)
      import :: c_char, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: urlpath(*)
      integer(c_int64_t) :: c_result
    end function

    !> Releases the lock of blosc2_schunk_lock(). Returns 0.
    function c_blosc2_schunk_unlock(schunk) bind(c, name='blosc2_schunk_unlock') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int) :: c_result
    end function

    !> Replaces chunk nchunk, like blosc2_schunk_append_chunk(). Returns the number of chunks, or an
    !! error code.
    function c_blosc2_schunk_update_chunk(schunk, nchunk, chunk, copy) bind(c, &
      name='blosc2_schunk_update_chunk') result(c_result)
      import :: c_bool, c_int64_t, c_ptr
      type(c_ptr), value :: schunk
      integer(c_int64_t), value :: nchunk
      type(c_ptr), value :: chunk
      logical(c_bool), value :: copy
      integer(c_int64_t) :: c_result
    end function

    !> Adds a variable-length metalayer, compressed with cparams; NULL selects the defaults. Returns
    !! its number, or an error code.
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

    !> Removes a variable-length metalayer. Returns the remaining number, or an error code.
    function c_blosc2_vlmeta_delete(schunk, name) bind(c, name='blosc2_vlmeta_delete') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: c_result
    end function

    !> Returns the number of a variable-length metalayer, or an error code.
    function c_blosc2_vlmeta_exists(schunk, name) bind(c, name='blosc2_vlmeta_exists') result(c_result)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: c_result
    end function

    !> Stores the content of a variable-length metalayer in content, which the caller frees, NULL if
    !! it is empty, and its size in bytes in content_len. Returns its number, or an error code.
    function c_blosc2_vlmeta_get(schunk, name, content, content_len) bind(c, name='blosc2_vlmeta_get') &
      result(c_result)
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: schunk
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: content
      integer(c_int32_t), intent(out) :: content_len
      integer(c_int) :: c_result
    end function

    !> Stores the names of the variable-length metalayers in names, which must have
    !! schunk->nvlmetalayers elements; they belong to the super-chunk. Returns their number, or an
    !! error code.
    function c_blosc2_vlmeta_get_names(schunk, names) bind(c, name='blosc2_vlmeta_get_names') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: schunk
      type(c_ptr), intent(out) :: names(*)
      integer(c_int) :: c_result
    end function

    !> Replaces the content of a variable-length metalayer. Returns its number, or an error code.
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
