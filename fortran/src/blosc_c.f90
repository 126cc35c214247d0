! Interfaces of the libblosc.so.1 functions.
!
! Each C function has an interface under its name with the prefix `c_`. Buffers are addresses,
! strings end in `c_null_char`, and nothing is checked. The comments use C conventions, with indices
! from 0. The module blosc wraps these functions for Fortran.
module blosc_c
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_ptr, c_size_t
  implicit none
  public
  private :: c_char, c_int, c_ptr, c_size_t

  interface
    !> Returns the name of the library that decompresses a chunk, or NULL if it is unknown.
    function c_blosc_cbuffer_complib(cbuffer) bind(c, name='blosc_cbuffer_complib') result(c_result)
      import :: c_ptr
      type(c_ptr), value :: cbuffer
      type(c_ptr) :: c_result
    end function

    !> Reads the typesize and the flags from the header of a chunk: BLOSC_DOSHUFFLE, BLOSC_MEMCPYED,
    !! BLOSC_DOBITSHUFFLE; 0 for an invalid chunk.
    subroutine c_blosc_cbuffer_metainfo(cbuffer, typesize, flags) bind(c, name='blosc_cbuffer_metainfo')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), intent(out) :: typesize
      integer(c_int), intent(out) :: flags
    end subroutine

    !> Reads the sizes from the header of a chunk: of the data, the chunk and a block; 0 for an
    !! invalid chunk.
    subroutine c_blosc_cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize) bind(c, name='blosc_cbuffer_sizes')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), intent(out) :: nbytes, cbytes, blocksize
    end subroutine

    !> Validates the header of a chunk of cbytes bytes and stores the size of its data. Returns 0,
    !! or -1 if it is invalid. The data are not checked.
    function c_blosc_cbuffer_validate(cbuffer, cbytes, nbytes) bind(c, name='blosc_cbuffer_validate') result(c_result)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), value :: cbytes
      integer(c_size_t), intent(out) :: nbytes
      integer(c_int) :: c_result
    end function

    !> Reads the versions from the header of a chunk: of the chunk format and of the compressor's
    !! format.
    subroutine c_blosc_cbuffer_versions(cbuffer, version, compversion) bind(c, name='blosc_cbuffer_versions')
      import :: c_int, c_ptr
      type(c_ptr), value :: cbuffer
      integer(c_int), intent(out) :: version, compversion
    end subroutine

    !> Stores the name of a compressor, or NULL for an unknown code. Returns the code, or -1.
    function c_blosc_compcode_to_compname(compcode, compname) bind(c, name='blosc_compcode_to_compname') &
      result(c_result)
      import :: c_int, c_ptr
      integer(c_int), value :: compcode
      type(c_ptr), intent(out) :: compname
      integer(c_int) :: c_result
    end function

    !> Returns the code of a compressor, or -1 for an unknown name.
    function c_blosc_compname_to_compcode(compname) bind(c, name='blosc_compname_to_compcode') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: compname(*)
      integer(c_int) :: c_result
    end function

    !> Compresses nbytes bytes at src, items of typesize bytes, into a chunk at dest. clevel is 0
    !! (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE; a
    !! typesize above BLOSC_MAX_TYPESIZE is treated as 1. Returns the size of the chunk, 0 if it
    !! exceeds destsize, or a negative number. A destination that is BLOSC_MAX_OVERHEAD bytes larger
    !! than the source is always large enough. Environment variables take precedence over arguments
    !! and settings: BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE,
    !! BLOSC_NTHREADS, BLOSC_SPLITMODE; the last four change the settings permanently. With
    !! BLOSC_NOLOCK, calls in different threads do not wait for each other. With BLOSC_WARN above 0,
    !! messages on stderr contain the reason of rejected calls.
    function c_blosc_compress(clevel, doshuffle, typesize, nbytes, src, dest, destsize) bind(c, &
      name='blosc_compress') result(c_result)
      import :: c_int, c_ptr, c_size_t
      integer(c_int), value :: clevel, doshuffle
      integer(c_size_t), value :: typesize, nbytes
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Compresses like blosc_compress(), without global state except the split mode. Calls in
    !! different threads do not wait for each other. blocksize 0 is automatic; numinternalthreads is
    !! the number of threads of this call.
    function c_blosc_compress_ctx(clevel, doshuffle, typesize, nbytes, src, dest, destsize, compressor, &
      blocksize, numinternalthreads) bind(c, name='blosc_compress_ctx') result(c_result)
      import :: c_char, c_int, c_ptr, c_size_t
      integer(c_int), value :: clevel, doshuffle
      integer(c_size_t), value :: typesize, nbytes
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      character(kind=c_char), intent(in) :: compressor(*)
      integer(c_size_t), value :: blocksize
      integer(c_int), value :: numinternalthreads
      integer(c_int) :: c_result
    end function

    !> Decompresses the chunk at src to dest. The size in the chunk's header is trusted: for
    !! untrusted chunks, call blosc_cbuffer_validate() first. Returns the size of the chunk's data
    !! in bytes, or a negative number. The environment variables BLOSC_NTHREADS and BLOSC_NOLOCK
    !! apply as for blosc_compress().
    function c_blosc_decompress(src, dest, destsize) bind(c, name='blosc_decompress') result(c_result)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses like blosc_decompress(), without global state. Calls in different threads do not
    !! wait for each other. numinternalthreads is the number of threads of this call.
    function c_blosc_decompress_ctx(src, dest, destsize, numinternalthreads) bind(c, &
      name='blosc_decompress_ctx') result(c_result)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      integer(c_int), value :: numinternalthreads
      integer(c_int) :: c_result
    end function

    !> Ends the threads of the library and frees its working memory. Settings are kept, and all
    !! functions remain usable.
    subroutine c_blosc_destroy() bind(c, name='blosc_destroy')
    end subroutine

    !> Ends the threads of the library and frees its working memory, until the next call that needs
    !! them. Returns 0, or -1 if the library is not initialised.
    function c_blosc_free_resources() bind(c, name='blosc_free_resources') result(c_result)
      import :: c_int
      integer(c_int) :: c_result
    end function

    !> Returns the block size; 0 is automatic.
    function c_blosc_get_blocksize() bind(c, name='blosc_get_blocksize') result(c_result)
      import :: c_int
      integer(c_int) :: c_result
    end function

    !> Stores the name and version of a compressor's library, which the caller frees. Returns the
    !! code of the library, or -1 for an unknown compressor; both are then NULL.
    function c_blosc_get_complib_info(compname, complib, version) bind(c, name='blosc_get_complib_info') &
      result(c_result)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: compname(*)
      type(c_ptr), intent(out) :: complib, version
      integer(c_int) :: c_result
    end function

    !> Returns the name of the compressor, or NULL if the last one set is unknown.
    function c_blosc_get_compressor() bind(c, name='blosc_get_compressor') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Returns the number of threads.
    function c_blosc_get_nthreads() bind(c, name='blosc_get_nthreads') result(c_result)
      import :: c_int
      integer(c_int) :: c_result
    end function

    !> Returns the version of the library: BLOSC_VERSION_STRING.
    function c_blosc_get_version_string() bind(c, name='blosc_get_version_string') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Decompresses nitems items of the chunk at src, starting at item start, to dest. Returns the
    !! number of bytes written, or a negative number.
    function c_blosc_getitem(src, start, nitems, dest) bind(c, name='blosc_getitem') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: src
      integer(c_int), value :: start, nitems
      type(c_ptr), value :: dest
      integer(c_int) :: c_result
    end function

    !> Initialises the library. This is optional.
    subroutine c_blosc_init() bind(c, name='blosc_init')
    end subroutine

    !> Returns the names of all compressors, separated by commas.
    function c_blosc_list_compressors() bind(c, name='blosc_list_compressors') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Sets the block size; 0 is automatic.
    subroutine c_blosc_set_blocksize(blocksize) bind(c, name='blosc_set_blocksize')
      import :: c_size_t
      integer(c_size_t), value :: blocksize
    end subroutine

    !> Sets the compressor. Returns its code, or -1 for an unknown one; compression then fails until
    !! another one is set.
    function c_blosc_set_compressor(compname) bind(c, name='blosc_set_compressor') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: compname(*)
      integer(c_int) :: c_result
    end function

    !> Sets the number of threads, 1 to BLOSC_MAX_THREADS. Returns the previous number.
    function c_blosc_set_nthreads(nthreads) bind(c, name='blosc_set_nthreads') result(c_result)
      import :: c_int
      integer(c_int), value :: nthreads
      integer(c_int) :: c_result
    end function

    !> Sets the split mode of blocks, one stream per byte of an item: BLOSC_FORWARD_COMPAT_SPLIT
    !! (default) or another split mode. Applies also to calls with _ctx.
    subroutine c_blosc_set_splitmode(splitmode) bind(c, name='blosc_set_splitmode')
      import :: c_int
      integer(c_int), value :: splitmode
    end subroutine
  end interface
end module blosc_c
