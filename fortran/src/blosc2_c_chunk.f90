! Interfaces of the libblosc2.so.9 functions for chunks and contexts.
!
! Each C function has an interface under its name with the prefix `c_`. Buffers are addresses,
! strings end in `c_null_char`, and nothing is checked. The comments use C conventions, with indices
! from 0. The modules blosc2_chunk and blosc2_context wrap these functions for Fortran.
module blosc2_c_chunk
  use, intrinsic :: iso_c_binding, only: c_bool, c_char, c_int, c_int16_t, c_int32_t, c_int64_t, c_int8_t, c_ptr, &
    c_size_t
  use blosc2_types, only: blosc2_cparams, blosc2_dparams, blosc2_io, blosc2_storage
  implicit none
  public
  private :: c_bool, c_char, c_int, c_int16_t, c_int32_t, c_int64_t, c_int8_t, c_ptr, c_size_t, blosc2_cparams, &
    blosc2_dparams, blosc2_io, blosc2_storage

  interface
    !> Reads the typesize and the flags from the header of a chunk; 0 for an invalid chunk.
    subroutine c_blosc1_cbuffer_metainfo(cbuffer, typesize, flags) bind(c, name='blosc1_cbuffer_metainfo')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), intent(out) :: typesize
      integer(c_int), intent(out) :: flags
    end subroutine

    !> Reads the sizes from the header of a chunk: of the data, the chunk and a block; 0 for an
    !! invalid chunk.
    subroutine c_blosc1_cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize) bind(c, name='blosc1_cbuffer_sizes')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), intent(out) :: nbytes, cbytes, blocksize
    end subroutine

    !> Validates the header of a chunk of cbytes bytes and stores the size of its data in nbytes, 0
    !! if it is invalid. Returns 0 or an error code. The data are not checked.
    function c_blosc1_cbuffer_validate(cbuffer, cbytes, nbytes) bind(c, name='blosc1_cbuffer_validate') &
      result(c_result)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: cbuffer
      integer(c_size_t), value :: cbytes
      integer(c_size_t), intent(out) :: nbytes
      integer(c_int) :: c_result
    end function

    !> Compresses like blosc2_compress(), with the arguments of Blosc 1.x.
    function c_blosc1_compress(clevel, doshuffle, typesize, nbytes, src, dest, destsize) bind(c, &
      name='blosc1_compress') result(c_result)
      import :: c_int, c_ptr, c_size_t
      integer(c_int), value :: clevel, doshuffle
      integer(c_size_t), value :: typesize, nbytes
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses like blosc2_decompress(), with the arguments of Blosc 1.x: the size of the chunk
    !! is read from its header.
    function c_blosc1_decompress(src, dest, destsize) bind(c, name='blosc1_decompress') result(c_result)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: src, dest
      integer(c_size_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Returns the block size of calls without a context; 0 is automatic.
    function c_blosc1_get_blocksize() bind(c, name='blosc1_get_blocksize') result(c_result)
      import :: c_int
      integer(c_int) :: c_result
    end function

    !> Returns the name of the codec of calls without a context, or NULL if the last one set is
    !! unknown.
    function c_blosc1_get_compressor() bind(c, name='blosc1_get_compressor') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Decompresses items like blosc2_getitem(), with the arguments of Blosc 1.x: the size of the
    !! chunk is read from its header, and dest must be large enough for the items.
    function c_blosc1_getitem(src, start, nitems, dest) bind(c, name='blosc1_getitem') result(c_result)
      import :: c_int, c_ptr
      type(c_ptr), value :: src
      integer(c_int), value :: start, nitems
      type(c_ptr), value :: dest
      integer(c_int) :: c_result
    end function

    !> Sets the block size of calls without a context; 0 is automatic.
    subroutine c_blosc1_set_blocksize(blocksize) bind(c, name='blosc1_set_blocksize')
      import :: c_size_t
      integer(c_size_t), value :: blocksize
    end subroutine

    !> Sets the codec of calls without a context. Returns its code, or -1 for an unknown one;
    !! compression then fails until another one is set.
    function c_blosc1_set_compressor(compname) bind(c, name='blosc1_set_compressor') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: compname(*)
      integer(c_int) :: c_result
    end function

    !> Sets the split mode of calls without a context: BLOSC_ALWAYS_SPLIT or another split mode.
    subroutine c_blosc1_set_splitmode(splitmode) bind(c, name='blosc1_set_splitmode')
      import :: c_int
      integer(c_int), value :: splitmode
    end subroutine

    !> Shuffles bits: the first bits of all items, then the second ones, and so on. src and dest
    !! have blocksize bytes and may overlap. Returns blocksize, or BLOSC2_ERROR_INVALID_PARAM for a
    !! typesize outside 1 to 256 or a negative blocksize.
    function c_blosc2_bitshuffle(typesize, blocksize, src, dest) bind(c, name='blosc2_bitshuffle') result(c_result)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: typesize, blocksize
      type(c_ptr), value :: src, dest
      integer(c_int32_t) :: c_result
    end function

    !> Reverses blosc2_bitshuffle(). Accepts typesizes above 256.
    function c_blosc2_bitunshuffle(typesize, blocksize, src, dest) bind(c, name='blosc2_bitunshuffle') &
      result(c_result)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: typesize, blocksize
      type(c_ptr), value :: src, dest
      integer(c_int32_t) :: c_result
    end function

    !> Returns the name of the codec library in the header of a chunk, or NULL for an invalid chunk
    !! or a registered codec. The caller must not free it.
    function c_blosc2_cbuffer_complib(cbuffer) bind(c, name='blosc2_cbuffer_complib') result(c_result)
      import :: c_ptr
      type(c_ptr), value :: cbuffer
      type(c_ptr) :: c_result
    end function

    !> Reads the sizes from the header of a chunk: of the data, the chunk and a block. Returns 0 or
    !! an error code; the sizes are then 0. Outputs may be NULL.
    function c_blosc2_cbuffer_sizes(cbuffer, nbytes, cbytes, blocksize) bind(c, name='blosc2_cbuffer_sizes') &
      result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: cbuffer
      integer(c_int32_t), intent(out) :: nbytes, cbytes, blocksize
      integer(c_int) :: c_result
    end function

    !> Reads the versions of the chunk format and of the codec's format from the header of a chunk;
    !! 0 for an invalid chunk.
    subroutine c_blosc2_cbuffer_versions(cbuffer, version, versionlz) bind(c, name='blosc2_cbuffer_versions')
      import :: c_int, c_ptr
      type(c_ptr), value :: cbuffer
      integer(c_int), intent(out) :: version, versionlz
    end subroutine

    !> Creates a chunk of nbytes bytes of NaNs, of 4 or 8 bytes each, in
    !! BLOSC_EXTENDED_HEADER_LENGTH bytes. nbytes must be a multiple of the typesize. Returns the
    !! size of the chunk or an error code.
    function c_blosc2_chunk_nans(cparams, nbytes, dest, destsize) bind(c, name='blosc2_chunk_nans') result(c_result)
      import :: blosc2_cparams, c_int, c_int32_t, c_ptr
      type(blosc2_cparams), value :: cparams
      integer(c_int32_t), value :: nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Creates a chunk of nbytes bytes that repeats one item, in BLOSC_EXTENDED_HEADER_LENGTH +
    !! typesize bytes. nbytes must be a multiple of the typesize. Returns the size of the chunk or
    !! an error code.
    function c_blosc2_chunk_repeatval(cparams, nbytes, dest, destsize, repeatval) bind(c, &
      name='blosc2_chunk_repeatval') result(c_result)
      import :: blosc2_cparams, c_int, c_int32_t, c_ptr
      type(blosc2_cparams), value :: cparams
      integer(c_int32_t), value :: nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      type(c_ptr), value :: repeatval
      integer(c_int) :: c_result
    end function

    !> Creates a chunk of nbytes uninitialised bytes, in BLOSC_EXTENDED_HEADER_LENGTH bytes.
    !! Decompression does not change the destination. nbytes must be a multiple of the typesize.
    !! Returns the size of the chunk or an error code.
    function c_blosc2_chunk_uninit(cparams, nbytes, dest, destsize) bind(c, name='blosc2_chunk_uninit') &
      result(c_result)
      import :: blosc2_cparams, c_int, c_int32_t, c_ptr
      type(blosc2_cparams), value :: cparams
      integer(c_int32_t), value :: nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Creates a chunk of nbytes zeros, in BLOSC_EXTENDED_HEADER_LENGTH bytes. nbytes must be a
    !! multiple of the typesize. Returns the size of the chunk or an error code.
    function c_blosc2_chunk_zeros(cparams, nbytes, dest, destsize) bind(c, name='blosc2_chunk_zeros') result(c_result)
      import :: blosc2_cparams, c_int, c_int32_t, c_ptr
      type(blosc2_cparams), value :: cparams
      integer(c_int32_t), value :: nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Stores the name of the codec with this code in compname, which the caller must not free.
    !! Returns the code, or -1 for an unknown codec; the name is then NULL.
    function c_blosc2_compcode_to_compname(compcode, compname) bind(c, name='blosc2_compcode_to_compname') &
      result(c_result)
      import :: c_int, c_ptr
      integer(c_int), value :: compcode
      type(c_ptr), intent(out) :: compname
      integer(c_int) :: c_result
    end function

    !> Returns the code of a built-in or registered codec, or -1 for an unknown name.
    function c_blosc2_compname_to_compcode(compname) bind(c, name='blosc2_compname_to_compcode') result(c_result)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: compname(*)
      integer(c_int) :: c_result
    end function

    !> Compresses srcsize bytes at src, items of typesize bytes, into a chunk at dest. clevel is 0
    !! (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
    !! Returns the size of the chunk, 0 if it exceeds destsize, or an error code. A destination that
    !! is BLOSC2_MAX_OVERHEAD bytes larger than the source is always large enough. Environment
    !! variables take precedence over arguments and settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
    !! BLOSC_DELTA, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS,
    !! BLOSC_SPLITMODE. With BLOSC_NOLOCK, calls in different threads do not wait for each other.
    !! With BLOSC_BLOSC1_COMPAT, the chunk has a Blosc 1.x header.
    function c_blosc2_compress(clevel, doshuffle, typesize, src, srcsize, dest, destsize) bind(c, &
      name='blosc2_compress') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      integer(c_int), value :: clevel, doshuffle
      integer(c_int32_t), value :: typesize
      type(c_ptr), value :: src
      integer(c_int32_t), value :: srcsize
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Compresses srcsize bytes at src into a chunk at dest. Returns the size of the chunk, 0 if it
    !! exceeds destsize, or an error code. A destination that is BLOSC2_MAX_OVERHEAD bytes larger
    !! than the source is always large enough. src may be NULL if the context has a prefilter.
    function c_blosc2_compress_ctx(context, src, srcsize, dest, destsize) bind(c, name='blosc2_compress_ctx') &
      result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Creates a compression context, or returns NULL for an unknown filter or tuner. Other
    !! parameters are checked at compression. The parameters and the struct that preparams points to
    !! are copied. Environment variables (BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE,
    !! BLOSC_COMPRESSOR, BLOSC_DELTA, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE) take
    !! precedence. Free it with blosc2_free_ctx().
    function c_blosc2_create_cctx(cparams) bind(c, name='blosc2_create_cctx') result(c_result)
      import :: blosc2_cparams, c_ptr
      type(blosc2_cparams), value :: cparams
      type(c_ptr) :: c_result
    end function

    !> Creates a decompression context, or returns NULL. The parameters and the struct that
    !! postparams points to are copied. The environment variable BLOSC_NTHREADS takes precedence.
    !! Free it with blosc2_free_ctx().
    function c_blosc2_create_dctx(dparams) bind(c, name='blosc2_create_dctx') result(c_result)
      import :: blosc2_dparams, c_ptr
      type(blosc2_dparams), value :: dparams
      type(c_ptr) :: c_result
    end function

    !> Stores the parameters of a compression context in cparams, except tuner_params and
    !! filter_params. The block size is that of the last compression. Returns 0 or an error code.
    function c_blosc2_ctx_get_cparams(ctx, cparams) bind(c, name='blosc2_ctx_get_cparams') result(c_result)
      import :: blosc2_cparams, c_int, c_ptr
      type(c_ptr), value :: ctx
      type(blosc2_cparams), intent(out) :: cparams
      integer(c_int) :: c_result
    end function

    !> Stores the parameters of a decompression context in dparams. Returns 0 or an error code.
    function c_blosc2_ctx_get_dparams(ctx, dparams) bind(c, name='blosc2_ctx_get_dparams') result(c_result)
      import :: blosc2_dparams, c_int, c_ptr
      type(c_ptr), value :: ctx
      type(blosc2_dparams), intent(out) :: dparams
      integer(c_int) :: c_result
    end function

    !> Decompresses the chunk at src, of at most srcsize bytes, to dest. Returns the size of the
    !! chunk's data in bytes, or an error code. dest may be NULL if it is 0. The environment
    !! variables BLOSC_NTHREADS and BLOSC_NOLOCK apply as for blosc2_compress().
    function c_blosc2_decompress(src, srcsize, dest, destsize) bind(c, name='blosc2_decompress') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: src
      integer(c_int32_t), value :: srcsize
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses the chunk at src, of at most srcsize bytes, to dest. Returns the size of the
    !! chunk's data in bytes, or an error code. dest may be NULL if it is 0.
    function c_blosc2_decompress_ctx(context, src, srcsize, dest, destsize) bind(c, &
      name='blosc2_decompress_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Ends the threads of the library and frees its working memory. Settings are kept, and contexts
    !! remain usable.
    subroutine c_blosc2_destroy() bind(c, name='blosc2_destroy')
    end subroutine

    !> Returns the message of an error code; "Unknown error" for other values. The caller must not
    !! free it.
    function c_blosc2_error_string(error_code) bind(c, name='blosc2_error_string') result(c_result)
      import :: c_int, c_ptr
      integer(c_int), value :: error_code
      type(c_ptr) :: c_result
    end function

    !> Frees a context and all it owns; NULL is allowed.
    subroutine c_blosc2_free_ctx(context) bind(c, name='blosc2_free_ctx')
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine

    !> Ends the threads and frees the working memory of calls without a context, until the next such
    !! call. Returns 0, or -1 if the library is not initialised.
    function c_blosc2_free_resources() bind(c, name='blosc2_free_resources') result(c_result)
      import :: c_int
      integer(c_int) :: c_result
    end function

    !> Returns BLOSC2_CPARAMS_DEFAULTS: BloscLZ at level 5 after a shuffle of 8-byte items.
    function c_blosc2_get_blosc2_cparams_defaults() bind(c, name='blosc2_get_blosc2_cparams_defaults') &
      result(c_result)
      import :: blosc2_cparams
      type(blosc2_cparams) :: c_result
    end function

    !> Returns BLOSC2_DPARAMS_DEFAULTS: one thread.
    function c_blosc2_get_blosc2_dparams_defaults() bind(c, name='blosc2_get_blosc2_dparams_defaults') &
      result(c_result)
      import :: blosc2_dparams
      type(blosc2_dparams) :: c_result
    end function

    !> Returns BLOSC2_IO_DEFAULTS: the file system.
    function c_blosc2_get_blosc2_io_defaults() bind(c, name='blosc2_get_blosc2_io_defaults') result(c_result)
      import :: blosc2_io
      type(blosc2_io) :: c_result
    end function

    !> Returns BLOSC2_STORAGE_DEFAULTS: separate chunks in memory, with default parameters.
    function c_blosc2_get_blosc2_storage_defaults() bind(c, name='blosc2_get_blosc2_storage_defaults') &
      result(c_result)
      import :: blosc2_storage
      type(blosc2_storage) :: c_result
    end function

    !> Stores the name and version of a codec's library in complib and version, which the caller
    !! frees. Returns the code of the library, or -1 for an unknown codec; both are then NULL.
    function c_blosc2_get_complib_info(compname, complib, version) bind(c, name='blosc2_get_complib_info') &
      result(c_result)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: compname(*)
      type(c_ptr), intent(out) :: complib, version
      integer(c_int) :: c_result
    end function

    !> Returns the number of threads of calls without a context.
    function c_blosc2_get_nthreads() bind(c, name='blosc2_get_nthreads') result(c_result)
      import :: c_int16_t
      integer(c_int16_t) :: c_result
    end function

    !> Returns the version string of the library, which the caller must not free.
    function c_blosc2_get_version_string() bind(c, name='blosc2_get_version_string') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Decompresses nitems items of the chunk at src, starting at item start, to dest. Returns the
    !! number of bytes written, or an error code.
    function c_blosc2_getitem(src, srcsize, start, nitems, dest, destsize) bind(c, name='blosc2_getitem') &
      result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: src
      integer(c_int32_t), value :: srcsize
      integer(c_int), value :: start, nitems
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses nbytes bytes of the chunk at src, starting at byte start, to dest. Both must be
    !! multiples of the chunk's typesize. Returns the number of bytes written, or an error code.
    !! Accepts contexts of both kinds.
    function c_blosc2_getitem_bytes_ctx(context, src, srcsize, start, nbytes, dest, destsize) bind(c, &
      name='blosc2_getitem_bytes_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize, start, nbytes
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses nitems items of the chunk at src, starting at item start, to dest. Returns the
    !! number of bytes written, or an error code. Accepts contexts of both kinds.
    function c_blosc2_getitem_ctx(context, src, srcsize, start, nitems, dest, destsize) bind(c, &
      name='blosc2_getitem_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize
      integer(c_int), value :: start, nitems
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Initialises the library. This is optional, but after blosc2_destroy() it removes all
    !! registered codecs, filters and tuners.
    subroutine c_blosc2_init() bind(c, name='blosc2_init')
    end subroutine

    !> Returns the names of the built-in codecs, separated by commas. The caller must not free the
    !! string.
    function c_blosc2_list_compressors() bind(c, name='blosc2_list_compressors') result(c_result)
      import :: c_ptr
      type(c_ptr) :: c_result
    end function

    !> Stores in i the sum of ndim indices times their strides.
    subroutine c_blosc2_multidim_to_unidim(index, ndim, strides, i) bind(c, name='blosc2_multidim_to_unidim')
      import :: c_int64_t, c_int8_t
      integer(c_int64_t), intent(in) :: index(*)
      integer(c_int8_t), value :: ndim
      integer(c_int64_t), intent(in) :: strides(*)
      integer(c_int64_t), intent(out) :: i
    end subroutine

    !> Sets whether calls without a context apply the delta filter.
    subroutine c_blosc2_set_delta(dodelta) bind(c, name='blosc2_set_delta')
      import :: c_int
      integer(c_int), value :: dodelta
    end subroutine

    !> Skips the blocks marked in maskout in the next decompression with the context, and only in
    !! that one: their bytes in the destination are unchanged. nblocks must be the number of blocks
    !! of the chunk. The marks are copied. Returns 0 or an error code.
    function c_blosc2_set_maskout(ctx, maskout, nblocks) bind(c, name='blosc2_set_maskout') result(c_result)
      import :: c_bool, c_int, c_ptr
      type(c_ptr), value :: ctx
      logical(c_bool), intent(in) :: maskout(*)
      integer(c_int), value :: nblocks
      integer(c_int) :: c_result
    end function

    !> Sets the number of threads of calls without a context. Returns the previous number, or an
    !! error code for a number below 1.
    function c_blosc2_set_nthreads(nthreads) bind(c, name='blosc2_set_nthreads') result(c_result)
      import :: c_int16_t
      integer(c_int16_t), value :: nthreads
      integer(c_int16_t) :: c_result
    end function

    !> Shuffles bytes: the first bytes of all items, then the second ones, and so on. src and dest
    !! have blocksize bytes and may overlap. Returns blocksize, or BLOSC2_ERROR_INVALID_PARAM for a
    !! typesize outside 1 to 256 or a negative blocksize.
    function c_blosc2_shuffle(typesize, blocksize, src, dest) bind(c, name='blosc2_shuffle') result(c_result)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: typesize, blocksize
      type(c_ptr), value :: src, dest
      integer(c_int32_t) :: c_result
    end function

    !> Stores in index the ndim indices of item i of an array of this shape, in row-major order.
    subroutine c_blosc2_unidim_to_multidim(ndim, shape, i, index) bind(c, name='blosc2_unidim_to_multidim')
      import :: c_int64_t, c_int8_t
      integer(c_int8_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), value :: i
      integer(c_int64_t), intent(out) :: index(*)
    end subroutine

    !> Reverses blosc2_shuffle().
    function c_blosc2_unshuffle(typesize, blocksize, src, dest) bind(c, name='blosc2_unshuffle') result(c_result)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: typesize, blocksize
      type(c_ptr), value :: src, dest
      integer(c_int32_t) :: c_result
    end function

    !> Stores the number of blocks of a chunk made by blosc2_vlcompress_ctx() in nblocks. Returns 0
    !! or an error code.
    function c_blosc2_vlchunk_get_nblocks(src, srcsize, nblocks) bind(c, name='blosc2_vlchunk_get_nblocks') &
      result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: src
      integer(c_int32_t), value :: srcsize
      integer(c_int32_t), intent(out) :: nblocks
      integer(c_int) :: c_result
    end function

    !> Compresses nblocks buffers into one block each of a chunk at dest. Returns the size of the
    !! chunk, 0 if it exceeds destsize, or an error code. No buffer may be NULL or empty.
    function c_blosc2_vlcompress_ctx(context, srcs, srcsizes, nblocks, dest, destsize) bind(c, &
      name='blosc2_vlcompress_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), intent(in) :: srcs(*)
      integer(c_int32_t), intent(in) :: srcsizes(*)
      integer(c_int32_t), value :: nblocks
      type(c_ptr), value :: dest
      integer(c_int32_t), value :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses one block of a chunk made by blosc2_vlcompress_ctx() into a buffer, which the
    !! caller frees; stores it in dest and its size in destsize. Returns the size, or an error code.
    function c_blosc2_vldecompress_block_ctx(context, src, srcsize, nblock, dest, destsize) bind(c, &
      name='blosc2_vldecompress_block_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize, nblock
      type(c_ptr), intent(out) :: dest
      integer(c_int32_t), intent(out) :: destsize
      integer(c_int) :: c_result
    end function

    !> Decompresses each block of a chunk made by blosc2_vlcompress_ctx() into its own buffer, which
    !! the caller frees; stores the buffers in dests and their sizes in destsizes, arrays of
    !! maxblocks elements. Returns the number of blocks, or an error code; then all buffers are
    !! freed.
    function c_blosc2_vldecompress_ctx(context, src, srcsize, dests, destsizes, maxblocks) bind(c, &
      name='blosc2_vldecompress_ctx') result(c_result)
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: context, src
      integer(c_int32_t), value :: srcsize
      type(c_ptr), intent(out) :: dests(*)
      integer(c_int32_t), intent(out) :: destsizes(*)
      integer(c_int32_t), value :: maxblocks
      integer(c_int) :: c_result
    end function
  end interface
end module blosc2_c_chunk
