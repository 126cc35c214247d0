! Super-chunks: sequences of chunks with parameters and metadata, in memory, in a file or in a directory.
!
! A `blosc2_schunk` is a handle: assignment makes a second handle of the same super-chunk, and the last one that goes
! out of scope or is released frees it; files stay. Chunks, blocks and items count from 1. Data are arrays of any type
! and rank whose items have the super-chunk's typesize, or arrays of bytes.
!
! All procedures but the inquiries have the optional argument `stat`, see the module blosc2_status; a handle without
! super-chunk gives BLOSC2_ERROR_NULL_POINTER. What works on chunks and items is in blosc2_superchunk_data.f90, on
! metalayers in blosc2_superchunk_meta.f90; what makes and stores them is in blosc2_superchunk_store.f90, facts and
! locks are in blosc2_superchunk_facts.f90.
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
    ! Making, opening, storing.
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
    ! Facts.
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
    ! Metalayers: fixed ones, and ones of variable length.
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
    !> Compresses an array and adds it as a chunk behind all others.
    module subroutine schunk_append(self, data, stat)
      class(blosc2_schunk), intent(inout) :: self
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a copy of a chunk behind all others. A chunk that is longer than the array is BLOSC2_ERROR_READ_BUFFER, here
    !! as in insert_chunk() and update_chunk().
    module subroutine schunk_append_chunk(self, chunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a copy of a chunk in front of chunk `nchunk`.
    module subroutine schunk_insert_chunk(self, nchunk, chunk, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Puts a copy of a chunk in the place of chunk `nchunk`.
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

    !> Puts the chunks in another order: `order(i)` is the number of the chunk that becomes chunk i.
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

    !> Decompresses chunk `nchunk` into an array, which must have room for it; `nbytes` is how much it holds.
    module subroutine schunk_decompress_chunk(self, nchunk, dest, nbytes, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      type(*), dimension(..), intent(inout), contiguous, target :: dest
      integer, intent(out), optional :: nbytes, stat
    end subroutine

    !> A copy of chunk `nchunk` as it is stored.
    module subroutine schunk_get_chunk(self, nchunk, chunk, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer(c_int8_t), allocatable, intent(out) :: chunk(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Block `nblock` of chunk `nchunk`, whose blocks have lengths of their own.
    module subroutine schunk_get_vlblock(self, nchunk, nblock, bytes, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: nchunk
      integer, intent(in) :: nblock
      integer(c_int8_t), allocatable, intent(out) :: bytes(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items from item `first` on, as many as `data` has.
    module subroutine schunk_get_slice(self, first, data, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: first
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the items from item `first` on, as many as `data` has; they must be there.
    module subroutine schunk_set_slice(self, first, data, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int64_t), intent(in) :: first
      type(*), dimension(..), intent(in), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads the items with these numbers, one after the other. `data` must have an item for each.
    module subroutine schunk_get_sparse(self, numbers, data, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: numbers(:)
      type(*), dimension(..), intent(inout), contiguous, target :: data
      integer, intent(out), optional :: stat
    end subroutine

    !> The numbers of the chunks that hold the items from `first` to `last`. The super-chunk of an array has a procedure
    !! of the array for that; here it is BLOSC2_ERROR_INVALID_PARAM.
    module subroutine schunk_get_slice_nchunks(self, first, last, numbers, stat)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t), intent(in) :: first, last
      integer(c_int64_t), allocatable, intent(out) :: numbers(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> The offsets of the chunks as the frame stores them; none for a super-chunk without frame.
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

    !> The names of the fixed metalayers.
    module function schunk_meta_names(self) result(names)
      class(blosc2_schunk), intent(in) :: self
      character(BLOSC2_METALAYER_NAME_MAXLEN), allocatable :: names(:)
    end function

    !> Adds a fixed metalayer that holds the bytes of an array or a scalar. Super-chunks in frames take none once they
    !! have chunks.
    module subroutine schunk_meta_add(self, name, content, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a fixed metalayer that holds a text, as it is.
    module subroutine schunk_meta_add_text(self, name, text, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      integer, intent(out), optional :: stat
    end subroutine

    !> Overwrites the start of a fixed metalayer; a content that is longer changes nothing.
    module subroutine schunk_meta_update(self, name, content, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> meta_update() with a text.
    module subroutine schunk_meta_update_text(self, name, text, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads a fixed metalayer into an array or a scalar of exactly its size; another size is
    !! BLOSC2_ERROR_INVALID_PARAM.
    module subroutine schunk_meta_read(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(inout), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> The bytes of a fixed metalayer.
    module subroutine schunk_meta_get_bytes(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), allocatable, intent(out) :: content(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> The bytes of a fixed metalayer as text.
    module subroutine schunk_meta_get_text(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Whether there is a metalayer of variable length of this name.
    module function schunk_vlmeta_exists(self, name) result(exists)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      logical :: exists
    end function

    !> The names of the metalayers of variable length.
    module function schunk_vlmeta_names(self) result(names)
      class(blosc2_schunk), intent(in) :: self
      character(BLOSC2_VLMETALAYERS_NAME_MAXLEN), allocatable :: names(:)
    end function

    !> Adds a metalayer of variable length that holds the bytes of an array or a scalar, compressed with `cparams`, or
    !! the library's default parameters.
    module subroutine schunk_vlmeta_add(self, name, content, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Adds a metalayer of variable length that holds a text, as it is.
    module subroutine schunk_vlmeta_add_text(self, name, text, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Gives a metalayer of variable length another content.
    module subroutine schunk_vlmeta_update(self, name, content, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(in), contiguous, target :: content
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> vlmeta_update() with a text.
    module subroutine schunk_vlmeta_update_text(self, name, text, cparams, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name, text
      type(blosc2_cparams), intent(in), optional :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Removes a metalayer of variable length.
    module subroutine schunk_vlmeta_delete(self, name, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: name
      integer, intent(out), optional :: stat
    end subroutine

    !> Reads a metalayer of variable length into an array or a scalar of exactly its size; another size is
    !! BLOSC2_ERROR_INVALID_PARAM.
    module subroutine schunk_vlmeta_read(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      type(*), dimension(..), intent(inout), contiguous, target :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> The bytes of a metalayer of variable length.
    module subroutine schunk_vlmeta_get_bytes(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), allocatable, intent(out) :: content(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> The bytes of a metalayer of variable length as text.
    module subroutine schunk_vlmeta_get_text(self, name, content, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: name
      character(:), allocatable, intent(out) :: content
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the super-chunk to a contiguous frame in a file. A contiguous frame in memory is written over what is
    !! there; otherwise nothing may be there.
    module subroutine schunk_to_file(self, urlpath, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer, intent(out), optional :: stat
    end subroutine

    !> Writes the super-chunk as a contiguous frame behind what is in a file, which is made if it isn't there. `offset`
    !! is how many bytes are in front of it, for open().
    module subroutine schunk_append_file(self, urlpath, offset, stat)
      class(blosc2_schunk), intent(in) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(out), optional :: offset
      integer, intent(out), optional :: stat
    end subroutine

    !> Takes up what other handles or processes have changed in the file; `changed` tells whether there was something.
    module subroutine schunk_refresh(self, changed, stat)
      class(blosc2_schunk), intent(inout) :: self
      logical, intent(out), optional :: changed
      integer, intent(out), optional :: stat
    end subroutine

    !> Locks the file against other handles until unlock(), when locking was asked for; may be nested.
    module subroutine schunk_lock(self, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer, intent(out), optional :: stat
    end subroutine

    !> Ends what lock() began.
    module subroutine schunk_unlock(self, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer, intent(out), optional :: stat
    end subroutine

    !> The chunks held; 0 without super-chunk, as for all these facts.
    module function schunk_nchunks(self) result(nchunks)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nchunks
    end function

    !> The items held.
    module function schunk_nitems(self) result(nitems)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nitems
    end function

    !> The bytes of data.
    module function schunk_nbytes(self) result(nbytes)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: nbytes
    end function

    !> The bytes of data, compressed.
    module function schunk_cbytes(self) result(cbytes)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: cbytes
    end function

    !> The bytes of an item.
    module function schunk_typesize(self) result(typesize)
      class(blosc2_schunk), intent(in) :: self
      integer :: typesize
    end function

    !> The bytes of data of a chunk; 0 when the chunks differ.
    module function schunk_chunksize(self) result(chunksize)
      class(blosc2_schunk), intent(in) :: self
      integer :: chunksize
    end function

    !> The bytes of data of a block; 0 when it is automatic.
    module function schunk_blocksize(self) result(blocksize)
      class(blosc2_schunk), intent(in) :: self
      integer :: blocksize
    end function

    !> The bytes of the frame; of one in a directory those of its index file, of chunks apart in memory an estimate.
    module function schunk_frame_len(self) result(length)
      class(blosc2_schunk), intent(in) :: self
      integer(c_int64_t) :: length
    end function

    !> The parameters that the super-chunk compresses with.
    module subroutine schunk_get_cparams(self, cparams, stat)
      class(blosc2_schunk), intent(in) :: self
      type(blosc2_cparams), intent(out) :: cparams
      integer, intent(out), optional :: stat
    end subroutine

    !> The parameters that the super-chunk decompresses with.
    module subroutine schunk_get_dparams(self, dparams, stat)
      class(blosc2_schunk), intent(in) :: self
      type(blosc2_dparams), intent(out) :: dparams
      integer, intent(out), optional :: stat
    end subroutine

    !> Makes the handle a new, empty super-chunk.
    !!
    !! `cparams` says how to compress and how large an item is, the library's defaults (8 bytes) without. `urlpath` is a
    !! file or directory where nothing may be yet; without, it is in memory. With `contiguous` the chunks are in one
    !! frame, a file on disk; without, apart, in a directory on disk. On disk a file is the default, in memory chunks
    !! apart. What `io` points to must outlive the super-chunk. `stat` is BLOSC2_ERROR_FAILURE when it can't be made.
    module subroutine schunk_create(self, cparams, dparams, urlpath, contiguous, io, stat)
      class(blosc2_schunk), intent(inout) :: self
      type(blosc2_cparams), intent(in), optional :: cparams
      type(blosc2_dparams), intent(in), optional :: dparams
      character(*), intent(in), optional :: urlpath
      logical, intent(in), optional :: contiguous
      type(blosc2_io), intent(in), optional :: io
      integer, intent(out), optional :: stat
    end subroutine

    !> Makes the handle the super-chunk in a file or directory. `offset` is how many bytes of the file are in front of
    !! it. What `io` points to must outlive the super-chunk. `stat` is BLOSC2_ERROR_FILE_OPEN when it can't be opened.
    module subroutine schunk_open(self, urlpath, offset, io, stat)
      class(blosc2_schunk), intent(inout) :: self
      character(*), intent(in) :: urlpath
      integer(c_int64_t), intent(in), optional :: offset
      type(blosc2_io), intent(in), optional :: io
      integer, intent(out), optional :: stat
    end subroutine

    !> Makes the handle the super-chunk in the bytes of a contiguous frame, which are copied. `stat` is
    !! BLOSC2_ERROR_DATA when they are no frame.
    module subroutine schunk_from_frame(self, frame, stat)
      class(blosc2_schunk), intent(inout) :: self
      integer(c_int8_t), intent(in), contiguous, target :: frame(:)
      integer, intent(out), optional :: stat
    end subroutine

    !> Makes the handle a copy of another super-chunk, stored as create() says. Other parameters than those of `source`
    !! compress its chunks anew. `stat` is BLOSC2_ERROR_SCHUNK_COPY when it can't be done.
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

    !> The bytes of the super-chunk as a contiguous frame.
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

  !> The super-chunk for functions of C; null when there is none. It stays the handle's.
  function schunk_c_pointer(self) result(schunk)
    class(blosc2_schunk), intent(in) :: self
    type(c_ptr) :: schunk

    schunk = address_of(self%owner)
  end function

  !> Makes the handle the owner of a super-chunk that a function of C made. With `parent`, the record of the object that
  !! the super-chunk is a part of, it is not freed but keeps that one.
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

  !> The record that counts the handles of the super-chunk, for what is made of it and must keep it.
  function schunk_ownership(self) result(record)
    class(blosc2_schunk), intent(in) :: self
    type(owned_object), pointer :: record

    record => record_of(self%owner)
  end function

  !> Lets go of the super-chunk; the last handle frees it.
  impure elemental subroutine schunk_release(self)
    class(blosc2_schunk), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> `to = from` makes `to` one more handle of the same super-chunk.
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
