! Contexts: the parameters and working memory of compression or decompression. Threads can use
! different contexts concurrently.
!
! A context is a handle: assignment creates a second handle of the same context, and the last one
! that goes out of scope or is released frees it.
module blosc2_context
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_int, c_int32_t, c_int64_t, c_int8_t, c_loc, &
    c_null_ptr, c_ptr
  use blosc_support, only: blosc_buffer, blosc_describe, bytes_from_c, free_c
  use blosc2_c_chunk
  use blosc2_constants
  use blosc2_ownership, only: address_of, holds, let_go, own, owner_handle, share
  use blosc2_status, only: chunk_bytes, settle
  use blosc2_types, only: blosc2_cparams, blosc2_dparams
  implicit none
  private
  public :: blosc2_vlchunk_get_nblocks

  !> Bytes with an individual length, for lists of buffers of different sizes.
  type, public :: blosc2_bytes
    integer(c_int8_t), allocatable :: bytes(:)
  end type

  !> A compression context.
  type, public :: blosc2_cctx
    private
    type(owner_handle) :: owner
  contains
    procedure :: create => cctx_create
    procedure :: compress => cctx_compress
    procedure :: vlcompress => cctx_vlcompress
    procedure :: get_cparams => cctx_get_cparams
    procedure :: is_open => cctx_is_open
    procedure :: c_pointer => cctx_c_pointer
    procedure :: release => cctx_release
    procedure, private :: cctx_assign
    generic :: assignment(=) => cctx_assign
    final :: cctx_finalize
  end type

  !> A decompression context.
  type, public :: blosc2_dctx
    private
    type(owner_handle) :: owner
  contains
    procedure :: create => dctx_create
    procedure :: decompress => dctx_decompress
    procedure :: getitem => dctx_getitem
    procedure :: set_maskout => dctx_set_maskout
    procedure :: vldecompress => dctx_vldecompress
    procedure :: vldecompress_block => dctx_vldecompress_block
    procedure :: get_dparams => dctx_get_dparams
    procedure :: is_open => dctx_is_open
    procedure :: c_pointer => dctx_c_pointer
    procedure :: release => dctx_release
    procedure, private :: dctx_assign
    generic :: assignment(=) => dctx_assign
    final :: dctx_finalize
  end type

contains

  !> Creates a context with these parameters, or the library's defaults. The parameters are copied;
  !! the objects they point to belong to the caller. `stat` is BLOSC2_ERROR_INVALID_PARAM for an
  !! unknown filter or tuner. Other parameters are checked at compression.
  subroutine cctx_create(self, cparams, stat)
    class(blosc2_cctx), intent(inout) :: self
    type(blosc2_cparams), intent(in), optional :: cparams
    integer, intent(out), optional :: stat
    type(blosc2_cparams) :: chosen
    type(c_ptr) :: context

    if (present(cparams)) chosen = cparams
    context = c_blosc2_create_cctx(chosen)
    call adopt_context(self%owner, context, 'blosc2_cctx%create', stat)
  end subroutine

  !> Compresses an array or a scalar into a chunk.
  subroutine cctx_compress(self, src, chunk, stat)
    class(blosc2_cctx), intent(in) :: self
    type(*), dimension(..), intent(in), contiguous, target :: src
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat
    integer(c_int8_t), allocatable, target :: output(:)
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(src, source)
    code = chunk_bytes(source)
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code >= 0) then
      allocate (output(code + BLOSC2_MAX_OVERHEAD))
      code = c_blosc2_compress_ctx(self%c_pointer(), source%address, code, c_loc(output), int(size(output), c_int32_t))
    end if
    call return_chunk(code, output, chunk, 'blosc2_cctx%compress', stat)
  end subroutine

  !> Compresses each buffer of a list into its own block of one chunk. No buffer may be empty.
  subroutine cctx_vlcompress(self, blocks, chunk, stat)
    class(blosc2_cctx), intent(in) :: self
    type(blosc2_bytes), intent(in), target :: blocks(:)
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat
    ! Upper bound on the overhead of a block in bytes: its offset, its size, and the lengths of at
    ! most 16 streams.
    integer, parameter :: BLOCK_OVERHEAD = 128
    integer(c_int8_t), allocatable, target :: output(:)
    type(c_ptr) :: sources(size(blocks))
    integer(c_int32_t) :: sizes(size(blocks))
    type(blosc_buffer) :: source
    integer(c_int64_t) :: total
    integer(c_int) :: code
    integer :: i

    code = 0
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    total = BLOSC2_MAX_OVERHEAD + BLOSC2_MAXDICTSIZE
    do i = 1, size(blocks)
      sources(i) = c_null_ptr
      sizes(i) = 0
      if (.not. allocated(blocks(i)%bytes)) cycle
      call blosc_describe(blocks(i)%bytes, source)
      sizes(i) = chunk_bytes(source)
      if (sizes(i) < 0) code = sizes(i)
      if (sizes(i) > 0) sources(i) = source%address
      total = total + sizes(i) + BLOCK_OVERHEAD
    end do
    if (code == 0 .and. total > BLOSC2_MAX_BUFFERSIZE) code = BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED
    if (code == 0) then
      allocate (output(total))
      code = c_blosc2_vlcompress_ctx(self%c_pointer(), sources, sizes, int(size(blocks), c_int32_t), c_loc(output), &
        int(total, c_int32_t))
    end if
    call return_chunk(code, output, chunk, 'blosc2_cctx%vlcompress', stat)
  end subroutine

  !> Returns the parameters of the context, except tuner_params and filter_params. The block size is
  !! that of the last compression.
  subroutine cctx_get_cparams(self, cparams, stat)
    class(blosc2_cctx), intent(in) :: self
    type(blosc2_cparams), intent(out) :: cparams
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_ctx_get_cparams(self%c_pointer(), cparams)
    call settle(code, 'blosc2_cctx%get_cparams', stat)
  end subroutine

  !> Creates a context with these parameters, or the library's defaults.
  subroutine dctx_create(self, dparams, stat)
    class(blosc2_dctx), intent(inout) :: self
    type(blosc2_dparams), intent(in), optional :: dparams
    integer, intent(out), optional :: stat
    type(blosc2_dparams) :: chosen
    type(c_ptr) :: context

    if (present(dparams)) chosen = dparams
    context = c_blosc2_create_dctx(chosen)
    call adopt_context(self%owner, context, 'blosc2_dctx%create', stat)
  end subroutine

  !> Decompresses a chunk into an array of at least its size. `nbytes` is the size of the chunk's
  !! data in bytes; the following items of `dest` are unchanged.
  subroutine dctx_decompress(self, chunk, dest, nbytes, stat)
    class(blosc2_dctx), intent(in) :: self
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(out), optional :: nbytes, stat
    type(blosc_buffer) :: source, output
    integer(c_int) :: code, output_size

    call blosc_describe(chunk, source)
    call blosc_describe(dest, output)
    code = chunk_bytes(source)
    output_size = chunk_bytes(output)
    if (output_size < 0) code = output_size
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code >= 0) code = c_blosc2_decompress_ctx(self%c_pointer(), source%address, code, output%address, output_size)
    if (present(nbytes)) nbytes = max(code, 0)
    call settle(code, 'blosc2_dctx%decompress', stat)
  end subroutine

  !> Decompresses items of a chunk, starting at item `first`, until `dest` is full. Items have the
  !! type of `dest`: for an array of bytes, `first` counts bytes. It counts from 1. The range must
  !! consist of complete items of the chunk.
  subroutine dctx_getitem(self, chunk, first, dest, stat)
    class(blosc2_dctx), intent(in) :: self
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(in) :: first
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(out), optional :: stat
    type(blosc_buffer) :: source, output
    integer(c_int64_t) :: start
    integer(c_int) :: code, output_size

    call blosc_describe(chunk, source)
    call blosc_describe(dest, output)
    code = chunk_bytes(source)
    output_size = chunk_bytes(output)
    if (output_size < 0) code = output_size
    start = (first - 1_c_int64_t)*output%item_size
    if (start < 0 .or. start > BLOSC2_MAX_BUFFERSIZE) code = BLOSC2_ERROR_INVALID_PARAM
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code >= 0) then
      code = c_blosc2_getitem_bytes_ctx(self%c_pointer(), source%address, code, int(start, c_int32_t), output_size, &
        output%address, output_size)
    end if
    call settle(code, 'blosc2_dctx%getitem', stat)
  end subroutine

  !> Skips the blocks marked true in the next decompression, and only in that one: their bytes in
  !! the destination are unchanged. There must be one mark for each block of the chunk.
  subroutine dctx_set_maskout(self, maskout, stat)
    class(blosc2_dctx), intent(in) :: self
    logical, intent(in) :: maskout(:)
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) then
      code = c_blosc2_set_maskout(self%c_pointer(), logical(maskout, c_bool), int(size(maskout), c_int))
    end if
    call settle(code, 'blosc2_dctx%set_maskout', stat)
  end subroutine

  !> Decompresses each block of a chunk made by vlcompress() into its own buffer.
  subroutine dctx_vldecompress(self, chunk, blocks, stat)
    class(blosc2_dctx), intent(in) :: self
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    type(blosc2_bytes), allocatable, intent(out) :: blocks(:)
    integer, intent(out), optional :: stat
    type(c_ptr), allocatable :: addresses(:)
    integer(c_int32_t), allocatable :: sizes(:)
    type(blosc_buffer) :: source
    integer(c_int) :: code
    integer :: i, nblocks

    call blosc2_vlchunk_get_nblocks(chunk, nblocks, code)
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code == 0) then
      call blosc_describe(chunk, source)
      allocate (addresses(nblocks), sizes(nblocks))
      code = c_blosc2_vldecompress_ctx(self%c_pointer(), source%address, chunk_bytes(source), addresses, sizes, &
        int(nblocks, c_int32_t))
    end if
    allocate (blocks(max(code, 0)))
    do i = 1, size(blocks)
      call bytes_from_c(addresses(i), int(sizes(i), c_int64_t), blocks(i)%bytes)
      call free_c(addresses(i))
    end do
    call settle(code, 'blosc2_dctx%vldecompress', stat)
  end subroutine

  !> Decompresses block `nblock`, counted from 1, of a chunk made by vlcompress().
  subroutine dctx_vldecompress_block(self, chunk, nblock, bytes, stat)
    class(blosc2_dctx), intent(in) :: self
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(in) :: nblock
    integer(c_int8_t), allocatable, intent(out) :: bytes(:)
    integer, intent(out), optional :: stat
    type(blosc_buffer) :: source
    type(c_ptr) :: address
    integer(c_int32_t) :: length
    integer(c_int) :: code

    call blosc_describe(chunk, source)
    code = chunk_bytes(source)
    if (.not. self%is_open()) code = BLOSC2_ERROR_NULL_POINTER
    if (code >= 0) then
      code = c_blosc2_vldecompress_block_ctx(self%c_pointer(), source%address, code, int(nblock - 1, c_int32_t), &
        address, length)
    end if
    if (code >= 0) then
      call bytes_from_c(address, int(length, c_int64_t), bytes)
      call free_c(address)
    else
      allocate (bytes(0))
    end if
    call settle(code, 'blosc2_dctx%vldecompress_block', stat)
  end subroutine

  !> Returns the parameters of the context.
  subroutine dctx_get_dparams(self, dparams, stat)
    class(blosc2_dctx), intent(in) :: self
    type(blosc2_dparams), intent(out) :: dparams
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_ctx_get_dparams(self%c_pointer(), dparams)
    call settle(code, 'blosc2_dctx%get_dparams', stat)
  end subroutine

  !> Returns the number of blocks of a chunk made by vlcompress().
  subroutine blosc2_vlchunk_get_nblocks(chunk, nblocks, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(out) :: nblocks
    integer, intent(out), optional :: stat
    type(blosc_buffer) :: source
    integer(c_int32_t) :: found
    integer(c_int) :: code

    call blosc_describe(chunk, source)
    code = chunk_bytes(source)
    found = 0
    if (code >= 0) code = c_blosc2_vlchunk_get_nblocks(source%address, code, found)
    nblocks = merge(found, 0_c_int32_t, code >= 0)
    call settle(code, 'blosc2_vlchunk_get_nblocks', stat)
  end subroutine

  !> Whether the handle has a context.
  impure elemental logical function cctx_is_open(self)
    class(blosc2_cctx), intent(in) :: self

    cctx_is_open = holds(self%owner)
  end function

  !> Returns the context for C functions, or null. The handle keeps the ownership.
  function cctx_c_pointer(self) result(context)
    class(blosc2_cctx), intent(in) :: self
    type(c_ptr) :: context

    context = address_of(self%owner)
  end function

  !> Releases the context; the last handle frees it.
  impure elemental subroutine cctx_release(self)
    class(blosc2_cctx), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> `to = from` makes `to` another handle of the same context.
  impure elemental subroutine cctx_assign(to, from)
    class(blosc2_cctx), intent(inout) :: to
    type(blosc2_cctx), intent(in) :: from

    call share(to%owner, from%owner)
  end subroutine

  impure elemental subroutine cctx_finalize(self)
    type(blosc2_cctx), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> Whether the handle has a context.
  impure elemental logical function dctx_is_open(self)
    class(blosc2_dctx), intent(in) :: self

    dctx_is_open = holds(self%owner)
  end function

  !> Returns the context for C functions, or null. The handle keeps the ownership.
  function dctx_c_pointer(self) result(context)
    class(blosc2_dctx), intent(in) :: self
    type(c_ptr) :: context

    context = address_of(self%owner)
  end function

  !> Releases the context; the last handle frees it.
  impure elemental subroutine dctx_release(self)
    class(blosc2_dctx), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  !> `to = from` makes `to` another handle of the same context.
  impure elemental subroutine dctx_assign(to, from)
    class(blosc2_dctx), intent(inout) :: to
    type(blosc2_dctx), intent(in) :: from

    call share(to%owner, from%owner)
  end subroutine

  impure elemental subroutine dctx_finalize(self)
    type(blosc2_dctx), intent(inout) :: self

    call let_go(self%owner)
  end subroutine

  ! Makes `owner` the handle of a new context.
  subroutine adopt_context(owner, context, procedure, stat)
    type(owner_handle), intent(inout) :: owner
    type(c_ptr), intent(in) :: context
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    call let_go(owner)
    if (c_associated(context)) then
      call own(owner, context, free_context)
      call settle(BLOSC2_ERROR_SUCCESS, procedure, stat)
    else
      call settle(BLOSC2_ERROR_INVALID_PARAM, procedure, stat)
    end if
  end subroutine

  subroutine free_context(object)
    type(c_ptr), intent(in) :: object

    call c_blosc2_free_ctx(object)
  end subroutine

  ! Copies the written part of `output` to `chunk`; a code of 0 means that the chunk did not fit.
  subroutine return_chunk(code, output, chunk, procedure, stat)
    integer(c_int), intent(in) :: code
    integer(c_int8_t), allocatable, intent(in) :: output(:)
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    allocate (chunk(max(code, 0)))
    if (code > 0) chunk = output(:code)
    call settle(merge(code, BLOSC2_ERROR_WRITE_BUFFER, code /= 0), procedure, stat)
  end subroutine
end module blosc2_context
