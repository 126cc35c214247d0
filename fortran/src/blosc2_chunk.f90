! Chunks without contexts: compression and decompression with the settings of the process, header
! fields, chunks of special values, and information about the library.
!
! The procedures have the names of the C functions they call. Data are arrays of any type and rank,
! or scalars; non-contiguous ones are copied first. A chunk is an array of bytes, `integer(int8) ::
! chunk(:)`.
module blosc2_chunk
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int16_t, c_int32_t, c_int64_t, c_int8_t, c_loc, &
    c_null_char, c_null_ptr, c_ptr, c_size_t
  use blosc_shared
  use blosc_support, only: blosc_buffer, blosc_describe, free_c, text_from_c
  use blosc2_c_chunk
  use blosc2_c_plugin, only: c_blosc2_remove_dir, c_blosc2_remove_urlpath, c_blosc2_rename_urlpath
  use blosc2_constants
  use blosc2_status, only: chunk_bytes, settle
  use blosc2_types, only: blosc2_cparams
  implicit none
  private
  public :: blosc1_get_blocksize, blosc1_get_compressor, blosc1_set_blocksize, blosc1_set_compressor, &
    blosc1_set_splitmode, blosc2_bitshuffle, blosc2_bitunshuffle, blosc2_cbuffer_complib, blosc2_cbuffer_metainfo, &
    blosc2_cbuffer_sizes, blosc2_cbuffer_validate, blosc2_cbuffer_versions, blosc2_chunk_nans, &
    blosc2_chunk_repeatval, blosc2_chunk_uninit, blosc2_chunk_zeros, blosc2_compcode_to_compname, &
    blosc2_compname_to_compcode, blosc2_compress, blosc2_decompress, blosc2_destroy, blosc2_free_resources, &
    blosc2_get_complib_info, blosc2_get_nthreads, blosc2_get_version_string, blosc2_getitem, blosc2_init, &
    blosc2_list_compressors, blosc2_remove_dir, blosc2_remove_urlpath, blosc2_rename_urlpath, blosc2_set_delta, &
    blosc2_set_nthreads, blosc2_shuffle, blosc2_unshuffle

  abstract interface
    !> The interface of the C functions that shuffle a buffer.
    function shuffle_function(typesize, blocksize, src, dest) bind(c) result(c_result)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: typesize, blocksize
      type(c_ptr), value :: src, dest
      integer(c_int32_t) :: c_result
    end function

    !> The interface of the C functions that create a chunk of one special value.
    function special_function(cparams, nbytes, dest, destsize) bind(c) result(c_result)
      import :: blosc2_cparams, c_int, c_int32_t, c_ptr
      type(blosc2_cparams), value :: cparams
      integer(c_int32_t), value :: nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function
  end interface

contains

  !> Initialises the library. This is optional; after blosc2_destroy() it removes all registrations.
  subroutine blosc2_init()
    call c_blosc2_init()
  end subroutine

  !> Ends the threads of the library and frees its working memory. Settings are kept, and all
  !! procedures remain usable.
  subroutine blosc2_destroy()
    call c_blosc2_destroy()
  end subroutine

  !> Ends the threads and frees the working memory of calls without a context, until the next such
  !! call. `stat` is BLOSC2_ERROR_FAILURE if the library is not initialised.
  subroutine blosc2_free_resources(stat)
    integer, intent(out), optional :: stat

    call settle(c_blosc2_free_resources(), 'blosc2_free_resources', stat)
  end subroutine

  !> Returns the version of the library, such as "3.3.5".
  function blosc2_get_version_string() result(version)
    character(:), allocatable :: version

    version = text_from_c(c_blosc2_get_version_string())
  end function

  !> Returns the names of the built-in codecs, separated by commas.
  function blosc2_list_compressors() result(names)
    character(:), allocatable :: names

    names = text_from_c(c_blosc2_list_compressors())
  end function

  !> Returns the code of a built-in or registered codec, or -1 for an unknown name.
  function blosc2_compname_to_compcode(compname) result(compcode)
    character(*), intent(in) :: compname
    integer :: compcode

    compcode = c_blosc2_compname_to_compcode(trim(compname)//c_null_char)
  end function

  !> Returns the name of a codec, or an empty string for an unknown code.
  function blosc2_compcode_to_compname(compcode) result(compname)
    integer, intent(in) :: compcode
    character(:), allocatable :: compname
    type(c_ptr) :: text
    integer(c_int) :: found

    found = c_blosc2_compcode_to_compname(int(compcode, c_int), text)
    if (found < 0) text = c_null_ptr
    compname = text_from_c(text)
  end function

  !> Returns the name and version of a codec's library. `stat` is BLOSC2_ERROR_CODEC_SUPPORT for an
  !! unknown name, and both are empty.
  subroutine blosc2_get_complib_info(compname, complib, version, stat)
    character(*), intent(in) :: compname
    character(:), allocatable, intent(out) :: complib, version
    integer, intent(out), optional :: stat
    type(c_ptr) :: library_text, version_text
    integer(c_int) :: code

    code = c_blosc2_get_complib_info(trim(compname)//c_null_char, library_text, version_text)
    complib = text_from_c(library_text)
    version = text_from_c(version_text)
    call free_c(library_text)
    call free_c(version_text)
    if (code < 0) code = BLOSC2_ERROR_CODEC_SUPPORT
    call settle(code, 'blosc2_get_complib_info', stat)
  end subroutine

  !> Returns the number of threads of calls without a context.
  function blosc2_get_nthreads() result(nthreads)
    integer :: nthreads

    nthreads = c_blosc2_get_nthreads()
  end function

  !> Sets the number of threads of calls without a context, 1 to 32767.
  subroutine blosc2_set_nthreads(nthreads, stat)
    integer, intent(in) :: nthreads
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = BLOSC2_ERROR_INVALID_PARAM
    if (nthreads <= huge(0_c_int16_t)) code = c_blosc2_set_nthreads(int(max(nthreads, -1), c_int16_t))
    call settle(code, 'blosc2_set_nthreads', stat)
  end subroutine

  !> Returns the name of the codec of calls without a context, or an empty string if the last one
  !! set is unknown.
  function blosc1_get_compressor() result(compname)
    character(:), allocatable :: compname

    compname = text_from_c(c_blosc1_get_compressor())
  end function

  !> Sets the codec of calls without a context. `stat` is BLOSC2_ERROR_CODEC_SUPPORT for an unknown
  !! name; compression then fails until another one is set.
  subroutine blosc1_set_compressor(compname, stat)
    character(*), intent(in) :: compname
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = c_blosc1_set_compressor(trim(compname)//c_null_char)
    if (code < 0) code = BLOSC2_ERROR_CODEC_SUPPORT
    call settle(code, 'blosc1_set_compressor', stat)
  end subroutine

  !> Returns the block size of calls without a context in bytes; 0 is automatic.
  function blosc1_get_blocksize() result(blocksize)
    integer :: blocksize

    blocksize = c_blosc1_get_blocksize()
  end function

  !> Sets the block size of calls without a context in bytes; 0 is automatic.
  subroutine blosc1_set_blocksize(blocksize, stat)
    integer, intent(in) :: blocksize
    integer, intent(out), optional :: stat
    integer(c_int) :: code

    code = BLOSC2_ERROR_INVALID_PARAM
    if (blocksize >= 0) then
      call c_blosc1_set_blocksize(int(blocksize, c_size_t))
      code = BLOSC2_ERROR_SUCCESS
    end if
    call settle(code, 'blosc1_set_blocksize', stat)
  end subroutine

  !> Sets the split mode of calls without a context: BLOSC_ALWAYS_SPLIT or another split mode.
  subroutine blosc1_set_splitmode(splitmode)
    integer, intent(in) :: splitmode

    call c_blosc1_set_splitmode(int(splitmode, c_int))
  end subroutine

  !> Sets whether calls without a context apply the delta filter.
  subroutine blosc2_set_delta(dodelta)
    logical, intent(in) :: dodelta

    call c_blosc2_set_delta(merge(1_c_int, 0_c_int, dodelta))
  end subroutine

  !> Compresses an array or a scalar into a chunk.
  !!
  !! `clevel` is 0 (store) to 9 (smallest), 5 by default; `doshuffle` is BLOSC_NOSHUFFLE,
  !! BLOSC_SHUFFLE (default) or BLOSC_BITSHUFFLE; `typesize` is the item size in bytes for the
  !! shuffle, by default that of `src`. The environment variables of blosc2_compress() in C take
  !! precedence. Data above BLOSC2_MAX_BUFFERSIZE bytes are rejected with
  !! BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED.
  subroutine blosc2_compress(src, chunk, clevel, doshuffle, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(in), optional :: clevel, doshuffle, typesize
    integer, intent(out), optional :: stat
    integer(c_int8_t), allocatable, target :: output(:)
    type(blosc_buffer) :: source
    integer(c_int) :: code, level, shuffle
    integer(c_int32_t) :: item

    call blosc_describe(src, source)
    level = 5
    if (present(clevel)) level = clevel
    shuffle = BLOSC_SHUFFLE
    if (present(doshuffle)) shuffle = doshuffle
    code = chunk_bytes(source)
    if (code >= 0) then
      item = int(source%item_size, c_int32_t)
      if (present(typesize)) item = typesize
      allocate (output(code + BLOSC2_MAX_OVERHEAD))
      code = c_blosc2_compress(level, shuffle, item, source%address, code, c_loc(output), &
        int(size(output), c_int32_t))
    end if
    if (code == 0) code = BLOSC2_ERROR_WRITE_BUFFER
    allocate (chunk(max(code, 0)))
    if (code > 0) chunk = output(:code)
    call settle(code, 'blosc2_compress', stat)
  end subroutine

  !> Decompresses a chunk into an array of at least its size. `nbytes` is the size of the chunk's
  !! data in bytes; the following items of `dest` are unchanged.
  subroutine blosc2_decompress(chunk, dest, nbytes, stat)
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
    if (code >= 0) code = c_blosc2_decompress(source%address, code, output%address, output_size)
    if (present(nbytes)) nbytes = max(code, 0)
    call settle(code, 'blosc2_decompress', stat)
  end subroutine

  !> Decompresses items of a chunk, starting at item `first`, until `dest` is full. Items have the
  !! type of `dest`: for an array of bytes, `first` counts bytes. It counts from 1. The range must
  !! consist of complete items of the chunk.
  subroutine blosc2_getitem(chunk, first, dest, stat)
    integer(c_int8_t), intent(in), contiguous, target :: chunk(:)
    integer, intent(in) :: first
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(out), optional :: stat
    type(blosc_buffer) :: source, output
    integer(c_int) :: code, output_size
    integer :: typesize
    integer(c_int64_t) :: start

    call blosc_describe(chunk, source)
    call blosc_describe(dest, output)
    code = chunk_bytes(source)
    output_size = chunk_bytes(output)
    if (output_size < 0) code = output_size
    if (code >= 0) then
      call blosc2_cbuffer_metainfo(chunk, typesize)
      typesize = max(typesize, 1)
      start = (first - 1_c_int64_t)*output%item_size
      if (start < 0 .or. start > BLOSC2_MAX_BUFFERSIZE .or. modulo(start, int(typesize, c_int64_t)) /= 0 .or. &
          modulo(output_size, typesize) /= 0) then
        code = BLOSC2_ERROR_INVALID_PARAM
      else
        code = c_blosc2_getitem(source%address, code, int(start, c_int)/typesize, output_size/typesize, output%address, &
          output_size)
      end if
    end if
    call settle(code, 'blosc2_getitem', stat)
  end subroutine

  !> Returns the sizes in the header of a chunk in bytes: of the data, the chunk and a block; 0 for
  !! an invalid chunk.
  subroutine blosc2_cbuffer_sizes(chunk, nbytes, cbytes, blocksize, stat)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out), optional :: nbytes, cbytes, blocksize, stat
    integer(c_int8_t), target :: header(BLOSC_EXTENDED_HEADER_LENGTH)
    integer(c_int32_t) :: data_size, chunk_size, block_size
    integer(c_int) :: code

    header = header_of(chunk)
    code = c_blosc2_cbuffer_sizes(c_loc(header), data_size, chunk_size, block_size)
    if (present(nbytes)) nbytes = data_size
    if (present(cbytes)) cbytes = chunk_size
    if (present(blocksize)) blocksize = block_size
    call settle(code, 'blosc2_cbuffer_sizes', stat)
  end subroutine

  !> Returns the item size in bytes and the flags (BLOSC_DOSHUFFLE and others) in the header of a
  !! chunk; 0 for an invalid chunk.
  subroutine blosc2_cbuffer_metainfo(chunk, typesize, flags)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out), optional :: typesize, flags
    integer(c_int8_t), target :: header(BLOSC_EXTENDED_HEADER_LENGTH)
    integer(c_size_t) :: item_size
    integer(c_int) :: bits

    header = header_of(chunk)
    call c_blosc1_cbuffer_metainfo(c_loc(header), item_size, bits)
    if (present(typesize)) typesize = int(item_size)
    if (present(flags)) flags = bits
  end subroutine

  !> Returns the versions of the chunk format and of the codec's format in the header of a chunk; 0
  !! for an invalid chunk.
  subroutine blosc2_cbuffer_versions(chunk, version, versionlz)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out) :: version, versionlz
    integer(c_int8_t), target :: header(BLOSC_EXTENDED_HEADER_LENGTH)

    header = header_of(chunk)
    call c_blosc2_cbuffer_versions(c_loc(header), version, versionlz)
  end subroutine

  !> Returns the name of the codec library of a chunk, or an empty string for an invalid chunk or a
  !! registered codec.
  function blosc2_cbuffer_complib(chunk) result(complib)
    integer(c_int8_t), intent(in) :: chunk(:)
    character(:), allocatable :: complib
    integer(c_int8_t), target :: header(BLOSC_EXTENDED_HEADER_LENGTH)

    header = header_of(chunk)
    complib = text_from_c(c_blosc2_cbuffer_complib(c_loc(header)))
  end function

  !> Validates the header of a chunk, including its size; `nbytes` is the size of its data in bytes,
  !! 0 if it is invalid. The data are not checked.
  subroutine blosc2_cbuffer_validate(chunk, nbytes, stat)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer, intent(out), optional :: nbytes, stat
    integer(c_int8_t), target :: header(BLOSC_EXTENDED_HEADER_LENGTH)
    integer(c_size_t) :: data_size
    integer(c_int) :: code

    header = header_of(chunk)
    code = c_blosc1_cbuffer_validate(c_loc(header), size(chunk, kind=c_size_t), data_size)
    if (present(nbytes)) nbytes = int(data_size)
    call settle(code, 'blosc2_cbuffer_validate', stat)
  end subroutine

  !> Creates a chunk of `nbytes` zeros. `nbytes` must be a multiple of the item size in `cparams`.
  subroutine blosc2_chunk_zeros(cparams, nbytes, chunk, stat)
    type(blosc2_cparams), intent(in) :: cparams
    integer, intent(in) :: nbytes
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat

    call make_special(c_blosc2_chunk_zeros, 'blosc2_chunk_zeros', cparams, nbytes, chunk, stat)
  end subroutine

  !> Creates a chunk of `nbytes` bytes of NaNs, of 4 or 8 bytes each, the item size in `cparams`.
  subroutine blosc2_chunk_nans(cparams, nbytes, chunk, stat)
    type(blosc2_cparams), intent(in) :: cparams
    integer, intent(in) :: nbytes
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat

    call make_special(c_blosc2_chunk_nans, 'blosc2_chunk_nans', cparams, nbytes, chunk, stat)
  end subroutine

  !> Creates a chunk of `nbytes` uninitialised bytes. Decompression does not change the destination.
  subroutine blosc2_chunk_uninit(cparams, nbytes, chunk, stat)
    type(blosc2_cparams), intent(in) :: cparams
    integer, intent(in) :: nbytes
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat

    call make_special(c_blosc2_chunk_uninit, 'blosc2_chunk_uninit', cparams, nbytes, chunk, stat)
  end subroutine

  !> Creates a chunk of `nbytes` bytes that repeats `value`, a scalar of the item size in `cparams`.
  subroutine blosc2_chunk_repeatval(cparams, nbytes, value, chunk, stat)
    type(blosc2_cparams), intent(in) :: cparams
    integer, intent(in) :: nbytes
    type(*), dimension(..), intent(in), contiguous, target :: value
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat
    integer(c_int8_t), allocatable, target :: output(:)
    type(blosc_buffer) :: item
    integer(c_int) :: code

    call blosc_describe(value, item)
    code = chunk_bytes(item)
    if (code /= cparams%typesize) code = BLOSC2_ERROR_INVALID_PARAM
    if (code > 0) then
      allocate (output(BLOSC_EXTENDED_HEADER_LENGTH + code))
      code = c_blosc2_chunk_repeatval(cparams, int(nbytes, c_int32_t), c_loc(output), int(size(output), c_int32_t), &
        item%address)
    end if
    allocate (chunk(max(code, 0)))
    if (code > 0) chunk = output(:code)
    call settle(code, 'blosc2_chunk_repeatval', stat)
  end subroutine

  !> Shuffles the bytes of `src` into `dest`, which must have the same size: the first bytes of all
  !! items, then the second ones, and so on. `typesize` is 1 to 256, by default the item size of
  !! `src`.
  subroutine blosc2_shuffle(src, dest, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: typesize
    integer, intent(out), optional :: stat

    call run_shuffle(c_blosc2_shuffle, 'blosc2_shuffle', src, dest, typesize, stat)
  end subroutine

  !> Reverses blosc2_shuffle(). `typesize` is by default the item size of `dest`.
  subroutine blosc2_unshuffle(src, dest, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: typesize
    integer, intent(out), optional :: stat

    call run_shuffle(c_blosc2_unshuffle, 'blosc2_unshuffle', src, dest, typesize, stat, backward=.true.)
  end subroutine

  !> Shuffles bits like blosc2_shuffle() shuffles bytes.
  subroutine blosc2_bitshuffle(src, dest, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: typesize
    integer, intent(out), optional :: stat

    call run_shuffle(c_blosc2_bitshuffle, 'blosc2_bitshuffle', src, dest, typesize, stat)
  end subroutine

  !> Reverses blosc2_bitshuffle(). `typesize` is by default the item size of `dest`.
  subroutine blosc2_bitunshuffle(src, dest, typesize, stat)
    type(*), dimension(..), intent(in), contiguous, target :: src
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: typesize
    integer, intent(out), optional :: stat

    call run_shuffle(c_blosc2_bitunshuffle, 'blosc2_bitunshuffle', src, dest, typesize, stat, backward=.true.)
  end subroutine

  !> Removes the files of a directory, then the directory.
  subroutine blosc2_remove_dir(path, stat)
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat

    call settle(c_blosc2_remove_dir(trim(path)//c_null_char), 'blosc2_remove_dir', stat)
  end subroutine

  !> Removes a super-chunk from disk, a file or a directory. A missing path is not an error.
  subroutine blosc2_remove_urlpath(path, stat)
    character(*), intent(in) :: path
    integer, intent(out), optional :: stat

    call settle(c_blosc2_remove_urlpath(trim(path)//c_null_char), 'blosc2_remove_urlpath', stat)
  end subroutine

  !> Renames a super-chunk on disk, a file or a directory; a file at the new path is replaced.
  subroutine blosc2_rename_urlpath(old, new, stat)
    character(*), intent(in) :: old, new
    integer, intent(out), optional :: stat

    call settle(c_blosc2_rename_urlpath(trim(old)//c_null_char, trim(new)//c_null_char), 'blosc2_rename_urlpath', stat)
  end subroutine

  ! Returns the header of a chunk, padded with zeros if the chunk is shorter.
  pure function header_of(chunk) result(header)
    integer(c_int8_t), intent(in) :: chunk(:)
    integer(c_int8_t) :: header(BLOSC_EXTENDED_HEADER_LENGTH)
    integer :: length

    length = min(size(chunk), BLOSC_EXTENDED_HEADER_LENGTH)
    header = 0
    header(:length) = chunk(:length)
  end function

  subroutine make_special(make, procedure, cparams, nbytes, chunk, stat)
    procedure(special_function) :: make
    character(*), intent(in) :: procedure
    type(blosc2_cparams), intent(in) :: cparams
    integer, intent(in) :: nbytes
    integer(c_int8_t), allocatable, intent(out) :: chunk(:)
    integer, intent(out), optional :: stat
    integer(c_int8_t), target :: output(BLOSC_EXTENDED_HEADER_LENGTH)
    integer(c_int) :: code

    code = make(cparams, int(nbytes, c_int32_t), c_loc(output), int(size(output), c_int32_t))
    allocate (chunk(max(code, 0)))
    if (code > 0) chunk = output(:code)
    call settle(code, procedure, stat)
  end subroutine

  subroutine run_shuffle(shuffle, procedure, src, dest, typesize, stat, backward)
    procedure(shuffle_function) :: shuffle
    character(*), intent(in) :: procedure
    type(*), dimension(..), intent(in), contiguous, target :: src
    type(*), dimension(..), intent(inout), contiguous, target :: dest
    integer, intent(in), optional :: typesize
    integer, intent(out), optional :: stat
    logical, intent(in), optional :: backward
    type(blosc_buffer) :: source, output
    integer(c_int) :: code
    integer(c_int32_t) :: item

    call blosc_describe(src, source)
    call blosc_describe(dest, output)
    code = chunk_bytes(source)
    if (code /= chunk_bytes(output)) code = BLOSC2_ERROR_INVALID_PARAM
    if (code >= 0) then
      item = int(merge(output%item_size, source%item_size, present(backward)), c_int32_t)
      if (present(typesize)) item = typesize
      code = shuffle(item, code, source%address, output%address)
    end if
    call settle(code, procedure, stat)
  end subroutine
end module blosc2_chunk
