! Blosc 1.x for Fortran: chunks compatible with C-Blosc 1.21.
!
! The procedures have the names of the C functions they call. Data are arrays of any type and rank,
! or scalars; non-contiguous ones are copied first. A chunk is an array of bytes, `integer(int8) ::
! chunk(:)`. Unlike the C functions, these procedures never read beyond the end of a chunk's array:
! they compare the size in the header with the size of the array.
!
! Procedures that can fail have an optional argument `stat`: 0 on success, otherwise a negative code
! of the library (C-Blosc 1.x has only -1) or one of the two codes of this module. If `stat` is
! absent, an error stops the program by `error stop` with the name of the procedure.
module blosc
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_int8_t, c_loc, c_null_char, c_null_ptr, c_ptr, &
    c_size_t
  use blosc_c
  use blosc_constants
  use blosc_shared
  use blosc_support, only: blosc_buffer, blosc_describe, free_c, text_from_c
  implicit none
  public
  private :: c_int, c_int32_t, c_int64_t, c_int8_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, blosc_buffer, &
    blosc_describe, free_c, text_from_c, bytes_of, chunk_error, compress_with, settle

  !> `stat` if the library rejected the data or found it damaged.
  integer, parameter :: BLOSC_ERROR_FAILURE = -1
  !> `stat` for an unsupported array: of assumed size, above BLOSC_MAX_BUFFERSIZE bytes, or not a
  !! multiple of the item size.
  integer, parameter :: BLOSC_ERROR_INVALID_ARRAY = -2

contains

  !> Initialises the library. This is optional.
  subroutine blosc_init()
    call c_blosc_init()
  end subroutine

  !> Ends the threads of the library and frees its working memory. Settings are kept, and all
  !! procedures remain usable.
  subroutine blosc_destroy()
    call c_blosc_destroy()
  end subroutine

  !> Ends the threads of the library and frees its working memory, until the next call that needs
  !! them. `stat` is BLOSC_ERROR_FAILURE if the library is not initialised.
  subroutine blosc_free_resources(stat)
    integer, intent(out), optional :: stat

    call settle(c_blosc_free_resources(), 'blosc_free_resources', stat)
  end subroutine

  !> Returns the version of the library, such as "1.21.6".
  function blosc_get_version_string() result(version)
    character(:), allocatable :: version

    version = text_from_c(c_blosc_get_version_string())
  end function

  !> Returns the names of all compressors, separated by commas.
  function blosc_list_compressors() result(names)
    character(:), allocatable :: names

    names = text_from_c(c_blosc_list_compressors())
  end function

  !> Returns the code of a compressor, or -1 for an unknown name.
  function blosc_compname_to_compcode(compname) result(compcode)
    character(*), intent(in) :: compname
    integer :: compcode

    compcode = c_blosc_compname_to_compcode(trim(compname)//c_null_char)
  end function

  !> Returns the name of a compressor, or an empty string for an unknown code.
  function blosc_compcode_to_compname(compcode) result(compname)
    integer, intent(in) :: compcode
    character(:), allocatable :: compname
    type(c_ptr) :: text
    integer(c_int) :: found

    found = c_blosc_compcode_to_compname(int(compcode, c_int), text)
    if (found < 0) text = c_null_ptr
    compname = text_from_c(text)
  end function

  !> Returns the name and version of a compressor's library. `stat` is BLOSC_ERROR_FAILURE for an
  !! unknown name, and both are empty.
  subroutine blosc_get_complib_info(compname, complib, version, stat)
    character(*), intent(in) :: compname
    character(:), allocatable, intent(out) :: complib, version
    integer, intent(out), optional :: stat
    type(c_ptr) :: library_text, version_text
    integer(c_int) :: code

    code = c_blosc_get_complib_info(trim(compname)//c_null_char, library_text, version_text)
    complib = text_from_c(library_text)
    version = text_from_c(version_text)
    call free_c(library_text)
    call free_c(version_text)
    call settle(code, 'blosc_get_complib_info', stat)
  end subroutine

  !> Returns the number of threads.
  function blosc_get_nthreads() result(nthreads)
    integer :: nthreads

    nthreads = c_blosc_get_nthreads()
  end function

  !> Sets the number of threads, 1 to BLOSC_MAX_THREADS.
  subroutine blosc_set_nthreads(nthreads, stat)
    integer, intent(in) :: nthreads
    integer, intent(out), optional :: stat

    integer(c_int) :: code

    ! The library accepts any number, but then fails to compress with an invalid one.
    code = BLOSC_ERROR_FAILURE
    if (nthreads >= 1 .and. nthreads <= BLOSC_MAX_THREADS) code = c_blosc_set_nthreads(int(nthreads, c_int))
    call settle(code, 'blosc_set_nthreads', stat)
  end subroutine

  !> Returns the name of the compressor, or an empty string if the last one set is unknown.
  function blosc_get_compressor() result(compname)
    character(:), allocatable :: compname

    compname = text_from_c(c_blosc_get_compressor())
  end function

  !> Sets the compressor. `stat` is BLOSC_ERROR_FAILURE for an unknown name; compression then fails
  !! until another one is set.
  subroutine blosc_set_compressor(compname, stat)
    character(*), intent(in) :: compname
    integer, intent(out), optional :: stat

    call settle(c_blosc_set_compressor(trim(compname)//c_null_char), 'blosc_set_compressor', stat)
  end subroutine

  !> Returns the block size in bytes; 0 is automatic.
  function blosc_get_blocksize() result(blocksize)
    integer :: blocksize

    blocksize = c_blosc_get_blocksize()
  end function

  !> Sets the block size in bytes; 0 and negative values are automatic.
  subroutine blosc_set_blocksize(blocksize)
    integer, intent(in) :: blocksize

    call c_blosc_set_blocksize(int(max(blocksize, 0), c_size_t))
  end subroutine

  !> Sets the split mode of blocks: BLOSC_FORWARD_COMPAT_SPLIT (default) or another split mode.
  subroutine blosc_set_splitmode(splitmode)
    integer, intent(in) :: splitmode

    call c_blosc_set_splitmode(int(splitmode, c_int))
  end subroutine

  !> Compresses an array or a scalar into a chunk, with the settings of the process.
  !!
  !! `clevel` is 0 (store) to 9 (smallest), 5 by default; `doshuffle` is BLOSC_NOSHUFFLE,
  !! BLOSC_SHUFFLE (default) or BLOSC_BITSHUFFLE; `typesize` is the item size in bytes for the
  !! shuffle, by default that of `src`; values above BLOSC_MAX_TYPESIZE are treated as 1. The
  !! environment variables of blosc_compress() in C take precedence.
  subroutine blosc_compress(src, chunk, clevel, doshuffle, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(in), optional :: clevel, doshuffle, typesize
    integer, intent(out), optional :: stat

    call compress_with(src, chunk, 'blosc_compress', clevel, doshuffle, typesize, stat=stat)
  end subroutine

  !> Compresses like blosc_compress(), ignoring the settings of the process except the split mode.
  !! `compressor` is a name, "blosclz" by default; `blocksize` in bytes is automatic if absent or 0;
  !! `nthreads` is 1 by default.
  subroutine blosc_compress_ctx(src, chunk, clevel, doshuffle, typesize, compressor, blocksize, nthreads, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(in), optional :: clevel, doshuffle, typesize
    character(*), intent(in), optional :: compressor
    integer, intent(in), optional :: blocksize, nthreads
    integer, intent(out), optional :: stat

    if (present(compressor)) then
      call compress_with(src, chunk, 'blosc_compress_ctx', clevel, doshuffle, typesize, compressor, blocksize, &
        nthreads, stat)
    else
      call compress_with(src, chunk, 'blosc_compress_ctx', clevel, doshuffle, typesize, BLOSC_BLOSCLZ_COMPNAME, &
        blocksize, nthreads, stat)
    end if
  end subroutine

  !> Decompresses a chunk into an array of at least its size. `nbytes` is the size of the chunk's
  !! data in bytes; the following items of `dest` are unchanged.
  subroutine blosc_decompress(chunk, dest, nbytes, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(out), optional :: nbytes, stat
    type(blosc_buffer) :: output
    integer(c_int) :: code

    call blosc_describe(dest, output)
    code = chunk_error(chunk)
    if (bytes_of(output) < 0) code = BLOSC_ERROR_INVALID_ARRAY
    if (code == 0) code = c_blosc_decompress(c_loc(chunk), output%address, int(bytes_of(output), c_size_t))
    if (present(nbytes)) nbytes = max(code, 0)
    call settle(code, 'blosc_decompress', stat)
  end subroutine

  !> Decompresses like blosc_decompress(), ignoring the settings of the process; `nthreads` is 1 by
  !! default.
  subroutine blosc_decompress_ctx(chunk, dest, nthreads, nbytes, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: nthreads
    integer, intent(out), optional :: nbytes, stat
    type(blosc_buffer) :: output
    integer(c_int) :: code, threads

    call blosc_describe(dest, output)
    threads = 1
    if (present(nthreads)) threads = nthreads
    code = chunk_error(chunk)
    if (bytes_of(output) < 0) code = BLOSC_ERROR_INVALID_ARRAY
    if (code == 0) code = c_blosc_decompress_ctx(c_loc(chunk), output%address, int(bytes_of(output), c_size_t), threads)
    if (present(nbytes)) nbytes = max(code, 0)
    call settle(code, 'blosc_decompress_ctx', stat)
  end subroutine

  !> Decompresses items of a chunk, starting at item `first`, until `dest` is full. Items have the
  !! type of `dest`: for an array of bytes, `first` counts bytes. It counts from 1. The range must
  !! consist of complete items of the chunk.
  subroutine blosc_getitem(chunk, first, dest, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(in) :: first
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(out), optional :: stat
    type(blosc_buffer) :: output
    integer(c_int) :: code, typesize
    integer(c_int64_t) :: start, nbytes

    call blosc_describe(dest, output)
    code = chunk_error(chunk)
    if (code == 0) then
      call blosc_cbuffer_metainfo(chunk, typesize)
      start = (first - 1_c_int64_t)*output%item_size
      nbytes = bytes_of(output)
      code = BLOSC_ERROR_INVALID_ARRAY
      if (nbytes >= 0 .and. start >= 0 .and. start <= BLOSC_MAX_BUFFERSIZE .and. typesize > 0) then
        if (modulo(start, int(typesize, c_int64_t)) == 0 .and. modulo(nbytes, int(typesize, c_int64_t)) == 0) then
          code = c_blosc_getitem(c_loc(chunk), int(start, c_int)/typesize, int(nbytes, c_int)/typesize, output%address)
        end if
      end if
    end if
    call settle(code, 'blosc_getitem', stat)
  end subroutine

  !> Returns the sizes in the header of a chunk in bytes: of the data, the chunk and a block; 0 for
  !! an invalid chunk.
  subroutine blosc_cbuffer_sizes(chunk, nbytes, cbytes, blocksize)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out), optional :: nbytes, cbytes, blocksize
    integer(c_int8_t), target :: header(BLOSC_MIN_HEADER_LENGTH)
    integer(c_size_t) :: sizes(3)

    sizes = 0
    if (size(chunk) >= size(header)) then
      header = chunk(:size(header))
      call c_blosc_cbuffer_sizes(c_loc(header), sizes(1), sizes(2), sizes(3))
    end if
    if (present(nbytes)) nbytes = int(sizes(1))
    if (present(cbytes)) cbytes = int(sizes(2))
    if (present(blocksize)) blocksize = int(sizes(3))
  end subroutine

  !> Validates the header of a chunk; `nbytes` is the size of its data in bytes. The data are not
  !! checked.
  subroutine blosc_cbuffer_validate(chunk, nbytes, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(out), optional :: nbytes, stat
    type(blosc_buffer) :: source
    integer(c_size_t) :: held
    integer(c_int) :: code

    call blosc_describe(chunk, source)
    held = 0
    code = c_blosc_cbuffer_validate(source%address, int(source%items, c_size_t), held)
    if (present(nbytes)) nbytes = int(merge(held, 0_c_size_t, code == 0))
    call settle(code, 'blosc_cbuffer_validate', stat)
  end subroutine

  !> Returns the item size in bytes and the flags (BLOSC_DOSHUFFLE and others) in the header of a
  !! chunk; 0 for an invalid chunk.
  subroutine blosc_cbuffer_metainfo(chunk, typesize, flags)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out), optional :: typesize, flags
    integer(c_int8_t), target :: header(BLOSC_MIN_HEADER_LENGTH)
    integer(c_size_t) :: item_size
    integer(c_int) :: bits

    item_size = 0
    bits = 0
    if (size(chunk) >= size(header)) then
      header = chunk(:size(header))
      call c_blosc_cbuffer_metainfo(c_loc(header), item_size, bits)
    end if
    if (present(typesize)) typesize = int(item_size)
    if (present(flags)) flags = bits
  end subroutine

  !> Returns the versions in the header of a chunk: of the chunk format and of the compressor's
  !! format; 0 for an invalid chunk.
  subroutine blosc_cbuffer_versions(chunk, version, compversion)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out) :: version, compversion
    integer(c_int8_t), target :: header(BLOSC_MIN_HEADER_LENGTH)

    version = 0
    compversion = 0
    if (size(chunk) < size(header)) return
    header = chunk(:size(header))
    call c_blosc_cbuffer_versions(c_loc(header), version, compversion)
  end subroutine

  !> Returns the name of the library that decompresses a chunk, or an empty string if it is unknown.
  function blosc_cbuffer_complib(chunk) result(complib)
    integer(c_int8_t), intent(in) :: chunk(:)
    character(:), allocatable :: complib
    integer(c_int8_t), target :: header(BLOSC_MIN_HEADER_LENGTH)

    complib = ''
    if (size(chunk) < size(header)) return
    header = chunk(:size(header))
    complib = text_from_c(c_blosc_cbuffer_complib(c_loc(header)))
  end function

  ! Compresses with the settings of the process or, if `compressor` is present, without them.
  subroutine compress_with(src, chunk, procedure, clevel, doshuffle, typesize, compressor, blocksize, nthreads, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    character(*), intent(in) :: procedure
    integer, intent(in), optional :: clevel, doshuffle, typesize
    character(*), intent(in), optional :: compressor
    integer, intent(in), optional :: blocksize, nthreads
    integer, intent(out), optional :: stat
    integer(c_int8_t), allocatable, target :: output(:)
    type(blosc_buffer) :: source
    integer(c_size_t) :: nbytes, item, block
    integer(c_int) :: code, level, shuffle, threads

    call blosc_describe(src, source)
    level = 5
    if (present(clevel)) level = clevel
    shuffle = BLOSC_SHUFFLE
    if (present(doshuffle)) shuffle = doshuffle
    item = source%item_size
    if (present(typesize)) item = max(typesize, 0)
    block = 0
    if (present(blocksize)) block = max(blocksize, 0)
    threads = 1
    if (present(nthreads)) threads = nthreads

    code = BLOSC_ERROR_INVALID_ARRAY
    if (bytes_of(source) >= 0) then
      nbytes = bytes_of(source)
      allocate (output(nbytes + BLOSC_MAX_OVERHEAD))
      if (present(compressor)) then
        code = c_blosc_compress_ctx(level, shuffle, item, nbytes, source%address, c_loc(output), &
          size(output, kind=c_size_t), trim(compressor)//c_null_char, block, threads)
      else
        code = c_blosc_compress(level, shuffle, item, nbytes, source%address, c_loc(output), size(output, kind=c_size_t))
      end if
      if (code == 0) code = BLOSC_ERROR_FAILURE
    end if
    allocate (chunk(max(code, 0)))
    if (code > 0) chunk = output(:code)
    call settle(code, procedure, stat)
  end subroutine

  ! Returns the size of an array in bytes, or -1 if it does not fit in a chunk.
  function bytes_of(buffer) result(nbytes)
    type(blosc_buffer), intent(in) :: buffer
    integer(c_int64_t) :: nbytes

    nbytes = -1
    if (buffer%items < 0) return
    if (buffer%items > BLOSC_MAX_BUFFERSIZE/max(buffer%item_size, 1_c_int64_t)) return
    nbytes = buffer%items*buffer%item_size
  end function

  ! Validates the header of a chunk, which the C functions trust; returns an error code.
  function chunk_error(chunk) result(code)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer(c_int) :: code

    call blosc_cbuffer_validate(chunk, stat=code)
  end function

  ! Returns a C result in `stat`, or stops the program on an error; non-negative values are success.
  subroutine settle(code, procedure, stat)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: stat

    if (present(stat)) then
      stat = min(code, 0)
    else if (code == BLOSC_ERROR_INVALID_ARRAY) then
      error stop procedure//': the shape does not match the size of the data'
    else if (code < 0) then
      error stop procedure//': the library rejected the data, or the data is corrupted'
    end if
  end subroutine
end module blosc
