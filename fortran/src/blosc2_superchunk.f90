! Super-chunks: sequences of chunks with parameters and metadata, in memory, in a file or in a
! directory.
!
! A `blosc2_schunk` is a handle: assignment creates a second handle of the same super-chunk, and the
! last one that goes out of scope or is released frees it; files are kept. Chunks, blocks and items
! have numbers from 1. Data are arrays of any type and rank whose items have the super-chunk's
! typesize, or arrays of bytes.
!
! All procedures except inquiries have the optional argument `stat`, see the module blosc2_status;
! for a handle without a super-chunk it is BLOSC2_ERROR_NULL_POINTER. The implementation is in
! blosc2_superchunk_data.f90 (chunks and items), blosc2_superchunk_meta.f90 (metalayers),
! blosc2_superchunk_store.f90 (creation and storage) and blosc2_superchunk_facts.f90 (inquiries and
! locks).
module blosc2_superchunk
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_f_pointer, c_int, c_int32_t, c_int64_t, c_int8_t, &
    c_loc, c_null_char, c_null_ptr, c_ptr
  use blosc_support, only: blosc_buffer, blosc_describe, bytes_from_c, free_c, text_from_c
  use blosc2_c_chunk, only: c_blosc2_cbuffer_sizes
  use blosc2_c_schunk
  use blosc2_constants
  use blosc2_ownership, only: address_of, holds, let_go, own, owned_object, owner_handle, record_of, share
  use blosc2_status, only: chunk_bytes, settle
  use blosc2_storage_parts, only: assemble_storage, storage_parts
  use blosc2_types
  implicit none
  private

  !> A handle of a super-chunk.
  type, public :: blosc2_schunk
    private
    type(owner_handle) :: owner
  contains
    ! Creation, opening and storing.
    procedure :: create => schunk_create
    procedure :: open => schunk_open
    procedure :: from_frame => schunk_from_frame
    procedure :: copy_of => schunk_copy_of
    procedure :: to_frame => schunk_to_frame
    procedure :: to_file => schunk_to_file
    procedure :: append_file => schunk_append_file
    procedure :: refresh => schunk_refresh
    procedure :: lock => schunk_lock
    procedure :: unlock => schunk_unlock
    ! Inquiries.
    procedure :: nchunks => schunk_nchunks
    procedure :: nitems => schunk_nitems
    procedure :: nbytes => schunk_nbytes
    procedure :: cbytes => schunk_cbytes
    procedure :: typesize => schunk_typesize
    procedure :: chunksize => schunk_chunksize
    procedure :: blocksize => schunk_blocksize
    procedure :: frame_len => schunk_frame_len
    procedure :: get_cparams => schunk_get_cparams
    procedure :: get_dparams => schunk_get_dparams
    ! Chunks and items.
    procedure :: append => schunk_append
    procedure :: append_chunk => schunk_append_chunk
    procedure :: insert_chunk => schunk_insert_chunk
    procedure :: update_chunk => schunk_update_chunk
    procedure :: delete_chunk => schunk_delete_chunk
    procedure :: reorder_offsets => schunk_reorder_offsets
    procedure :: fill_special => schunk_fill_special
    procedure :: decompress_chunk => schunk_decompress_chunk
    procedure :: get_chunk => schunk_get_chunk
    procedure :: get_vlblock => schunk_get_vlblock
    procedure :: get_slice => schunk_get_slice
    procedure :: set_slice => schunk_set_slice
    procedure :: get_sparse => schunk_get_sparse
    procedure :: get_slice_nchunks => schunk_get_slice_nchunks
    procedure :: get_offsets => schunk_get_offsets
    ! Fixed and variable-length metalayers.
    procedure :: meta_exists => schunk_meta_exists
    procedure :: meta_names => schunk_meta_names
    procedure :: meta_add => schunk_meta_add
    procedure :: meta_add_text => schunk_meta_add_text
    procedure :: meta_update => schunk_meta_update
    procedure :: meta_update_text => schunk_meta_update_text
    procedure :: meta_read => schunk_meta_read
    procedure, private :: schunk_meta_get_bytes, schunk_meta_get_text
    generic :: meta_get => schunk_meta_get_bytes, schunk_meta_get_text
    procedure :: vlmeta_exists => schunk_vlmeta_exists
    procedure :: vlmeta_names => schunk_vlmeta_names
    procedure :: vlmeta_add => schunk_vlmeta_add
    procedure :: vlmeta_add_text => schunk_vlmeta_add_text
    procedure :: vlmeta_update => schunk_vlmeta_update
    procedure :: vlmeta_update_text => schunk_vlmeta_update_text
    procedure :: vlmeta_delete => schunk_vlmeta_delete
    procedure :: vlmeta_read => schunk_vlmeta_read
    procedure, private :: schunk_vlmeta_get_bytes, schunk_vlmeta_get_text
    generic :: vlmeta_get => schunk_vlmeta_get_bytes, schunk_vlmeta_get_text
    ! The handle.
    procedure :: is_open => schunk_is_open
    procedure :: c_pointer => schunk_c_pointer
    procedure :: adopt => schunk_adopt
    procedure :: ownership => schunk_ownership
    procedure :: release => schunk_release
    procedure, private :: schunk_assign
    generic :: assignment(=) => schunk_assign
    final :: schunk_finalize
  end type

  interface
    !> Compresses an array and appends it as a chunk.
    module subroutine schunk_append(self, data, stat)
      class(blosc2_schunk), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Appends a copy of a chunk. `stat` is BLOSC2_ERROR_READ_BUFFER if the array is shorter than
    !! the chunk, as for insert_chunk() and update_chunk().
    module subroutine schunk_append_chunk(self, chunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Inserts a copy of a chunk before chunk `nchunk`.
    module subroutine schunk_insert_chunk(self, nchunk, chunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Replaces chunk `nchunk` by a copy of a chunk.
    module subroutine schunk_update_chunk(self, nchunk, chunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Removes chunk `nchunk`.
    module subroutine schunk_delete_chunk(self, nchunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer, intent(out), optional :: stat
    end subroutine

    !> Reorders the chunks: `order(i)` is the previous number of chunk i.
    module subroutine schunk_reorder_offsets(self, order, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: order(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Fills an empty super-chunk with `nitems` items of BLOSC2_SPECIAL_ZERO, BLOSC2_SPECIAL_NAN or
    !! BLOSC2_SPECIAL_UNINIT, in chunks of `chunksize` bytes.
    module subroutine schunk_fill_special(self, nitems, special_value, chunksize, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: nitems
      integer, intent(in) :: special_value, chunksize
      integer, intent(out), optional :: stat
    end subroutine

    !> Decompresses chunk `nchunk` into an array of at least its size; `nbytes` is the size of its
    !! data in bytes.
    module subroutine schunk_decompress_chunk(self, nchunk, dest, nbytes, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      type(*), dimension(..), intent(inout), contiguous, target :: dest
      integer, intent(out), optional :: nbytes, stat
    end subroutine

    !> Returns a copy of the compressed chunk `nchunk`.
    module subroutine schunk_get_chunk(self, nchunk, chunk, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer(c_int8_t), allocatable, intent(out) :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns block `nblock` of chunk `nchunk`, which has variable-length blocks.
    module subroutine schunk_get_vlblock(self, nchunk, nblock, bytes, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer, intent(in) :: nblock
      integer(c_int8_t), allocatable, intent(out) :: bytes(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads items, starting at item `first`, until `data` is full.
    module subroutine schunk_get_slice(self, first, data, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: first
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes all items of `data`, starting at item `first`; the range must be in bounds.
    module subroutine schunk_set_slice(self, first, data, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: first
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items with these numbers. `data` must have one item for each.
    module subroutine schunk_get_sparse(self, numbers, data, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: numbers(:)
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the numbers of the chunks that contain the items `first` to `last`. For the
    !! super-chunk of an array, `stat` is BLOSC2_ERROR_INVALID_PARAM; the array has its own
    !! procedure.
    module subroutine schunk_get_slice_nchunks(self, first, last, numbers, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: first, last
      integer(c_int64_t), allocatable, intent(out) :: numbers(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the offsets of the chunks as stored in the frame; empty for a super-chunk without a
    !! frame.
    module subroutine schunk_get_offsets(self, offsets, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), allocatable, intent(out) :: offsets(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Whether there is a fixed metalayer of this name.
    module function schunk_meta_exists(self, name) result(exists)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      logical :: exists
    end function

    !> Returns the names of the fixed metalayers.
    module function schunk_meta_names(self) result(names)
      class(blosc2_schunk), intent(in) :: self
      character(BLOSC2_METALAYER_NAME_MAXLEN), allocatable :: names(:)
    end function

    !> Adds a fixed metalayer with the bytes of an array or a scalar. Fails for super-chunks in
    !! frames that have chunks.
    module subroutine schunk_meta_add(self, name, content, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a fixed metalayer with the bytes of a string.
    module subroutine schunk_meta_add_text(self, name, text, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      integer, intent(out), optional :: stat
    end subroutine

    !> Overwrites the start of a fixed metalayer. If `content` is longer than the metalayer, nothing
    !! changes.
    module subroutine schunk_meta_update(self, name, content, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Overwrites the start of a fixed metalayer with the bytes of a string, like meta_update().
    module subroutine schunk_meta_update_text(self, name, text, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads a fixed metalayer into an array or a scalar of the same size; for another size, `stat`
    !! is BLOSC2_ERROR_INVALID_PARAM.
    module subroutine schunk_meta_read(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(inout), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the bytes of a fixed metalayer.
    module subroutine schunk_meta_get_bytes(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), allocatable, intent(out) :: content(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the bytes of a fixed metalayer as a string.
    module subroutine schunk_meta_get_text(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Whether there is a variable-length metalayer of this name.
    module function schunk_vlmeta_exists(self, name) result(exists)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      logical :: exists
    end function

    !> Returns the names of the variable-length metalayers.
    module function schunk_vlmeta_names(self) result(names)
      class(blosc2_schunk), intent(in) :: self
      character(BLOSC2_VLMETALAYERS_NAME_MAXLEN), allocatable :: names(:)
    end function

    !> Adds a variable-length metalayer with the bytes of an array or a scalar, compressed with
    !! `cparams` or the library's defaults.
    module subroutine schunk_vlmeta_add(self, name, content, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a variable-length metalayer with the bytes of a string.
    module subroutine schunk_vlmeta_add_text(self, name, text, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Replaces the content of a variable-length metalayer.
    module subroutine schunk_vlmeta_update(self, name, content, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Replaces the content of a variable-length metalayer with the bytes of a string.
    module subroutine schunk_vlmeta_update_text(self, name, text, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Removes a variable-length metalayer.
    module subroutine schunk_vlmeta_delete(self, name, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads a variable-length metalayer into an array or a scalar of the same size; for another
    !! size, `stat` is BLOSC2_ERROR_INVALID_PARAM.
    module subroutine schunk_vlmeta_read(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(inout), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the bytes of a variable-length metalayer.
    module subroutine schunk_vlmeta_get_bytes(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), allocatable, intent(out) :: content(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the bytes of a variable-length metalayer as a string.
    module subroutine schunk_vlmeta_get_text(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the super-chunk to a contiguous frame in a file. A contiguous frame in memory
    !! overwrites an existing file; otherwise the file must not exist.
    module subroutine schunk_to_file(self, urlpath, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer, intent(out), optional :: stat
    end subroutine

    !> Appends the super-chunk as a contiguous frame to a file, which is created if it does not
    !! exist. `offset` is the offset of the frame in the file in bytes, for open().
    module subroutine schunk_append_file(self, urlpath, offset, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(out), optional :: offset
      integer, intent(out), optional :: stat
    end subroutine

    !> Rereads changes of other handles or processes in the file; `changed` is true if there were
    !! any.
    module subroutine schunk_refresh(self, changed, stat)
      class(blosc2_schunk), intent(inout) :: self
      logical, intent(out), optional :: changed
      integer, intent(out), optional :: stat
    end subroutine

    !> Locks the file against other handles until unlock(), if locking is enabled; locks may be
    !! nested.
    module subroutine schunk_lock(self, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer, intent(out), optional :: stat
    end subroutine

    !> Releases a lock of lock().
    module subroutine schunk_unlock(self, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the number of chunks. All inquiries return 0 without a super-chunk.
    module function schunk_nchunks(self) result(nchunks)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nchunks
    end function

    !> Returns the number of items.
    module function schunk_nitems(self) result(nitems)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nitems
    end function

    !> Returns the uncompressed size in bytes.
    module function schunk_nbytes(self) result(nbytes)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nbytes
    end function

    !> Returns the compressed size in bytes.
    module function schunk_cbytes(self) result(cbytes)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: cbytes
    end function

    !> Returns the item size in bytes.
    module function schunk_typesize(self) result(typesize)
      class(blosc2_schunk), intent(in) :: self
      integer :: typesize
    end function

    !> Returns the uncompressed size of a chunk in bytes; 0 if chunks differ.
    module function schunk_chunksize(self) result(chunksize)
      class(blosc2_schunk), intent(in) :: self
      integer :: chunksize
    end function

    !> Returns the block size in bytes; 0 is automatic.
    module function schunk_blocksize(self) result(blocksize)
      class(blosc2_schunk), intent(in) :: self
      integer :: blocksize
    end function

    !> Returns the size of the frame in bytes: for a directory, that of its index file; for separate
    !! chunks in memory, an estimate.
    module function schunk_frame_len(self) result(length)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: length
    end function

    !> Returns the compression parameters.
    module subroutine schunk_get_cparams(self, cparams, stat)
      class(blosc2_schunk), intent(in) :: self
      type(blosc2_cparams), intent(out) :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the decompression parameters.
    module subroutine schunk_get_dparams(self, dparams, stat)
      class(blosc2_schunk), intent(in) :: self
      type(blosc2_dparams), intent(out) :: dparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates an empty super-chunk.
    !!
    !! `cparams` contains the compression parameters and the item size; by default those of the
    !! library (8 bytes). `urlpath` is a file or directory that must not exist; the default is
    !! memory. If `contiguous` is true, the chunks are in one frame, which is a file on disk. If it
    !! is false, they are separate, in a directory on disk. The default is true on disk and false in
    !! memory. The objects that `io` points to must outlive the super-chunk. `stat` is
    !! BLOSC2_ERROR_FAILURE if the creation fails.
    module subroutine schunk_create(self, cparams, dparams, urlpath, contiguous, io, stat)
      class(blosc2_schunk), intent(inout) :: self
      type(blosc2_cparams), intent(in), optional :: cparams
      type(blosc2_dparams), intent(in), optional :: dparams
      character(*), intent(in), optional :: urlpath
      logical, intent(in), optional :: contiguous
      type(blosc2_io), intent(in), optional :: io
      integer, intent(out), optional :: stat
    end subroutine

    !> Opens the super-chunk in a file or directory. `offset` is the offset of the frame in the file
    !! in bytes. The objects that `io` points to must outlive the super-chunk. `stat` is
    !! BLOSC2_ERROR_FILE_OPEN if the super-chunk cannot be opened.
    module subroutine schunk_open(self, urlpath, offset, io, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(in), optional :: offset
      type(blosc2_io), intent(in), optional :: io
      integer, intent(out), optional :: stat
    end subroutine

    !> Opens the super-chunk in the bytes of a contiguous frame, which are copied. `stat` is
    !! BLOSC2_ERROR_DATA if they are not a frame.
    module subroutine schunk_from_frame(self, frame, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int8_t), intent(in), contiguous, target :: frame(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Creates a copy of another super-chunk with the storage arguments of create(). The chunks are
    !! recompressed if the parameters differ from those of `source`. `stat` is
    !! BLOSC2_ERROR_SCHUNK_COPY if the copy fails.
    module subroutine schunk_copy_of(self, source, cparams, dparams, urlpath, contiguous, io, stat)
      class(blosc2_schunk), intent(inout) :: self
      class(blosc2_schunk), intent(in) :: source
      type(blosc2_cparams), intent(in), optional :: cparams
      type(blosc2_dparams), intent(in), optional :: dparams
      character(*), intent(in), optional :: urlpath
      logical, intent(in), optional :: contiguous
      type(blosc2_io), intent(in), optional :: io
      integer, intent(out), optional :: stat
    end subroutine

    !> Returns the super-chunk as a contiguous frame.
    module subroutine schunk_to_frame(self, frame, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int8_t), allocatable, intent(out) :: frame(:)
      integer, intent(out), optional :: stat
    end subroutine
  end interface

contains

  !> Whether the handle has a super-chunk.
  impure elemental logical function schunk_is_open(self)
    class(blosc2_schunk), intent(in) :: self

    schunk_is_open = holds(self%owner)
  end function

  !> Returns the super-chunk for C functions, or null. The handle keeps the ownership.
  function schunk_c_pointer(self) result(schunk)
    class(blosc2_schunk), intent(in) :: self
    type(c_ptr) :: schunk

    schunk = address_of(self%owner)
  end function

  !> Makes the handle the owner of a super-chunk created by a C function. If `parent`, the record of
  !! the object that the super-chunk belongs to, is present, the handle does not free the
  !! super-chunk, but keeps the parent alive.
  subroutine schunk_adopt(self, schunk, parent)
    class(blosc2_schunk), intent(inout) :: self
    type(c_ptr), intent(in) :: schunk
    type(owned_object), pointer, intent(in), optional :: parent

    if (present(parent)) then
      call own(self%owner, schunk, parent=parent)
    else
      call own(self%owner, schunk, free_schunk)
    end if
  end subroutine

  !> Returns the record that counts the handles of the super-chunk, to keep it alive.
  function schunk_ownership(self) result(record)
    class(blosc2_schunk), intent(in) :: self
    type(owned_object), pointer :: record

    record => record_of(self%owner)
  end function

  !> Releases the super-chunk; the last handle frees it.
  impure elemental subroutine schunk_release(self)
    class(blosc2_schunk), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> `to = from` makes `to` another handle of the same super-chunk.
  impure elemental subroutine schunk_assign(to, from)
    class(blosc2_schunk), intent(inout) :: to
    type(blosc2_schunk), intent(in) :: from

    call share(to%owner, from%owner)
  end subroutine

  impure elemental subroutine schunk_finalize(self)
    type(blosc2_schunk), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  subroutine free_schunk(object)
    type(c_ptr), intent(in) :: object
    integer(c_int) :: code

    code = c_blosc2_schunk_free(object)
  end subroutine
end module blosc2_superchunk
