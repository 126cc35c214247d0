! The structs of blosc2.h and b2nd.h as derived types of the same layout.
!
! `blosc2_cparams`, `blosc2_dparams`, `blosc2_io` and `blosc2_storage` are initialised with the
! library's defaults. Unsigned C bytes, such as filter ids, are `integer(c_int8_t)`: ids from 128 on
! are stored as id - 256. Types with the prefix `c_` describe the objects of handles. These objects
! belong to the library and are read-only.
module blosc2_types
  use, intrinsic :: iso_c_binding, only: c_bool, c_float, c_funptr, c_int, c_int16_t, c_int32_t, c_int64_t, &
    c_int8_t, c_long, c_null_funptr, c_null_ptr, c_ptr, c_size_t
  use blosc_shared, only: BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_SHUFFLE
  use blosc2_constants, only: BLOSC2_IO_FILESYSTEM, BLOSC2_MAX_FILTERS, BLOSC2_MAX_METALAYERS, &
    BLOSC2_MAX_VLMETALAYERS, BLOSC_STUNE
  use b2nd_constants, only: B2ND_MAX_DIM
  implicit none
  private

  !> Compression parameters.
  type, bind(c), public :: blosc2_cparams
    !> The codec: BLOSC_BLOSCLZ or another codec.
    integer(c_int8_t) :: compcode = int(BLOSC_BLOSCLZ, c_int8_t)
    !> The codec's parameter.
    integer(c_int8_t) :: compcode_meta = 0_c_int8_t
    !> Level, 0 (store) to 9 (smallest).
    integer(c_int8_t) :: clevel = 5_c_int8_t
    !> Whether blocks share a dictionary: 0 or 1.
    integer(c_int) :: use_dict = 0_c_int
    !> Item size in bytes.
    integer(c_int32_t) :: typesize = 8_c_int32_t
    !> Number of threads.
    integer(c_int16_t) :: nthreads = 1_c_int16_t
    !> Block size in bytes; 0 is automatic.
    integer(c_int32_t) :: blocksize = 0_c_int32_t
    !> Split mode of blocks: BLOSC_ALWAYS_SPLIT or another split mode.
    integer(c_int32_t) :: splitmode = int(BLOSC_FORWARD_COMPAT_SPLIT, c_int32_t)
    !> The super-chunk of the chunks, or null.
    type(c_ptr) :: schunk = c_null_ptr
    !> The filters in the order of compression.
    integer(c_int8_t) :: filters(BLOSC2_MAX_FILTERS) = [0_c_int8_t, 0_c_int8_t, 0_c_int8_t, 0_c_int8_t, 0_c_int8_t, &
      int(BLOSC_SHUFFLE, c_int8_t)]
    !> The parameter of each filter.
    integer(c_int8_t) :: filters_meta(BLOSC2_MAX_FILTERS) = 0_c_int8_t
    !> Called for each block before the filters, or null: a bind(c) function.
    type(c_funptr) :: prefilter = c_null_funptr
    !> Parameters of the prefilter, a blosc2_prefilter_params; copied.
    type(c_ptr) :: preparams = c_null_ptr
    !> Parameters of the tuner.
    type(c_ptr) :: tuner_params = c_null_ptr
    !> The tuner.
    integer(c_int) :: tuner_id = BLOSC_STUNE
    !> Whether to store codec measurements instead of compressed data.
    logical(c_bool) :: instr_codec = .false._c_bool
    !> Parameters of the codec.
    type(c_ptr) :: codec_params = c_null_ptr
    !> Parameters of each filter.
    type(c_ptr) :: filter_params(BLOSC2_MAX_FILTERS) = c_null_ptr
  end type

  !> Decompression parameters.
  type, bind(c), public :: blosc2_dparams
    !> Number of threads.
    integer(c_int16_t) :: nthreads = 1_c_int16_t
    !> The super-chunk of the chunks, or null.
    type(c_ptr) :: schunk = c_null_ptr
    !> Called for each block after the filters, or null: a bind(c) function.
    type(c_funptr) :: postfilter = c_null_funptr
    !> Parameters of the postfilter, a blosc2_postfilter_params; copied.
    type(c_ptr) :: postparams = c_null_ptr
    !> Item size in bytes.
    integer(c_int32_t) :: typesize = 8_c_int32_t
  end type

  !> Arguments of a prefilter: one block, before the filters.
  type, bind(c), public :: blosc2_prefilter_params
    !> The user's data.
    type(c_ptr) :: user_data = c_null_ptr
    !> The block in the source buffer.
    type(c_ptr) :: input = c_null_ptr
    !> The destination of the filtered block.
    type(c_ptr) :: output = c_null_ptr
    !> Number of bytes to write to output.
    integer(c_int32_t) :: output_size = 0_c_int32_t
    !> Item size of output in bytes.
    integer(c_int32_t) :: output_typesize = 0_c_int32_t
    !> Offset of the block in the chunk, in bytes.
    integer(c_int32_t) :: output_offset = 0_c_int32_t
    !> Number of the chunk in its super-chunk from 0, or -1.
    integer(c_int64_t) :: nchunk = 0_c_int64_t
    !> Number of the block in its chunk, from 0.
    integer(c_int32_t) :: nblock = 0_c_int32_t
    !> Number of the worker thread, from 0; 0 with one thread.
    integer(c_int32_t) :: tid = 0_c_int32_t
    !> Scratch memory.
    type(c_ptr) :: ttmp = c_null_ptr
    !> Size of ttmp in bytes.
    integer(c_size_t) :: ttmp_nbytes = 0_c_size_t
    !> The compression context.
    type(c_ptr) :: ctx = c_null_ptr
    !> Whether the output is ignored: the chunk is stored as zeros.
    logical(c_bool) :: output_is_disposable = .false._c_bool
  end type

  !> Arguments of a postfilter: one block, after the filters.
  type, bind(c), public :: blosc2_postfilter_params
    !> The user's data.
    type(c_ptr) :: user_data = c_null_ptr
    !> The decoded block.
    type(c_ptr) :: input = c_null_ptr
    !> The destination of the block.
    type(c_ptr) :: output = c_null_ptr
    !> Number of bytes to write to output.
    integer(c_int32_t) :: size = 0_c_int32_t
    !> Item size in bytes.
    integer(c_int32_t) :: typesize = 0_c_int32_t
    !> Offset of the block in the chunk, in bytes.
    integer(c_int32_t) :: offset = 0_c_int32_t
    !> Number of the chunk in its super-chunk from 0, or -1.
    integer(c_int64_t) :: nchunk = 0_c_int64_t
    !> Number of the block in its chunk, from 0.
    integer(c_int32_t) :: nblock = 0_c_int32_t
    !> Number of the worker thread, from 0; 0 with one thread.
    integer(c_int32_t) :: tid = 0_c_int32_t
    !> Scratch memory.
    type(c_ptr) :: ttmp = c_null_ptr
    !> Size of ttmp in bytes.
    integer(c_size_t) :: ttmp_nbytes = 0_c_size_t
    !> The decompression context.
    type(c_ptr) :: ctx = c_null_ptr
  end type

  !> Content of an instrumented chunk for each stream, instead of its data.
  type, bind(c), public :: blosc2_instr
    !> Compression ratio.
    real(c_float) :: cratio
    !> Speed of the codec in bytes per second.
    real(c_float) :: cspeed
    !> Speed of the filters in bytes per second.
    real(c_float) :: filter_speed
    !> The lowest bit of the first byte is set if the stream could not be compressed.
    integer(c_int8_t) :: flags(4)
  end type

  !> A user-defined codec.
  type, bind(c), public :: blosc2_codec
    !> The code, at least BLOSC2_USER_REGISTERED_CODECS_START.
    integer(c_int8_t) :: compcode = 0_c_int8_t
    !> The name, terminated by c_null_char; must outlive the library.
    type(c_ptr) :: compname = c_null_ptr
    !> The code of the library.
    integer(c_int8_t) :: complib = 0_c_int8_t
    !> The version of the format, which is stored in chunks.
    integer(c_int8_t) :: version = 0_c_int8_t
    !> The encoder: a bind(c) function.
    type(c_funptr) :: encoder = c_null_funptr
    !> The decoder: a bind(c) function.
    type(c_funptr) :: decoder = c_null_funptr
  end type

  !> A user-defined filter.
  type, bind(c), public :: blosc2_filter
    !> The id, at least BLOSC2_USER_REGISTERED_FILTERS_START.
    integer(c_int8_t) :: id = 0_c_int8_t
    !> The name, terminated by c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
    !> The version, for information only.
    integer(c_int8_t) :: version = 0_c_int8_t
    !> Called by compression: a bind(c) function.
    type(c_funptr) :: forward = c_null_funptr
    !> Called by decompression: a bind(c) function.
    type(c_funptr) :: backward = c_null_funptr
  end type

  !> A user-defined tuner.
  type, bind(c), public :: blosc2_tuner
    !> Called when a compression context is created with this tuner.
    type(c_funptr) :: init = c_null_funptr
    !> Called before each compression.
    type(c_funptr) :: next_blocksize = c_null_funptr
    !> Not called: tuners could use it only with the private layout of C-Blosc2's context.
    type(c_funptr) :: next_cparams = c_null_funptr
    !> Not called: tuners could use it only with the private layout of C-Blosc2's context.
    type(c_funptr) :: update = c_null_funptr
    !> Not called: tuners could use it only with the private layout of C-Blosc2's context.
    type(c_funptr) :: free = c_null_funptr
    !> The id, at least BLOSC2_USER_REGISTERED_TUNER_START.
    integer(c_int) :: id = 0_c_int
    !> The name, terminated by c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
  end type

  !> An I/O backend.
  type, bind(c), public :: blosc2_io_cb
    !> The id, at least BLOSC2_IO_REGISTERED.
    integer(c_int8_t) :: id = 0_c_int8_t
    !> The name, terminated by c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
    !> Whether read fills a buffer of the library instead of returning a pointer to its own memory.
    logical(c_bool) :: is_allocation_necessary = .true._c_bool
    !> Opens a file; a bind(c) function like the following ones.
    type(c_funptr) :: open = c_null_funptr
    !> Closes the file.
    type(c_funptr) :: close = c_null_funptr
    !> Returns the size of the file.
    type(c_funptr) :: size = c_null_funptr
    !> Writes to the file.
    type(c_funptr) :: write = c_null_funptr
    !> Reads from the file.
    type(c_funptr) :: read = c_null_funptr
    !> Sets the size of the file.
    type(c_funptr) :: truncate = c_null_funptr
    !> Frees the parameters.
    type(c_funptr) :: destroy = c_null_funptr
  end type

  !> The I/O backend to use, with its parameters.
  type, bind(c), public :: blosc2_io
    !> The id of the backend.
    integer(c_int8_t) :: id = int(BLOSC2_IO_FILESYSTEM, c_int8_t)
    !> The name, terminated by c_null_char; only the id is used.
    type(c_ptr) :: name = c_null_ptr
    !> Parameters of the backend.
    type(c_ptr) :: params = c_null_ptr
  end type

  !> The storage of a super-chunk.
  type, bind(c), public :: blosc2_storage
    !> Whether the chunks are in one frame instead of separate.
    logical(c_bool) :: contiguous = .false._c_bool
    !> The file or directory, terminated by c_null_char; null selects memory.
    type(c_ptr) :: urlpath = c_null_ptr
    !> The compression parameters, a blosc2_cparams; null selects the defaults.
    type(c_ptr) :: cparams = c_null_ptr
    !> The decompression parameters, a blosc2_dparams; null selects the defaults.
    type(c_ptr) :: dparams = c_null_ptr
    !> The I/O backend, a blosc2_io; null selects the file system.
    type(c_ptr) :: io = c_null_ptr
  end type

  !> A metalayer: a name and bytes.
  type, bind(c), public :: blosc2_metalayer
    !> The name, terminated by c_null_char.
    type(c_ptr) :: name = c_null_ptr
    !> The bytes.
    type(c_ptr) :: content = c_null_ptr
    !> The number of bytes.
    integer(c_int32_t) :: content_len = 0_c_int32_t
  end type

  !> Parameters of the file-system backend.
  type, bind(c), public :: blosc2_stdio_params
    !> Whether processes that share a frame lock it.
    logical(c_bool) :: locking = .false._c_bool
  end type

  !> A stream of the file-system backend.
  type, bind(c), public :: blosc2_stdio_file
    !> The open C file.
    type(c_ptr) :: file = c_null_ptr
  end type

  !> Parameters and stream of the mapped-file backend.
  type, bind(c), public :: blosc2_stdio_mmap
    !> "r", "r+", "w+" or "c" (changes are not written to the file), terminated by c_null_char;
    !! required.
    type(c_ptr) :: mode = c_null_ptr
    !> Initial size of the mapping in bytes.
    integer(c_size_t) :: initial_mapping_size = 2_c_size_t**30
    !> Whether the library frees the struct.
    logical(c_bool) :: needs_free = .false._c_bool
    !> Start of the mapping.
    type(c_ptr) :: addr = c_null_ptr
    !> The file.
    type(c_ptr) :: urlpath = c_null_ptr
    !> Size of the file in bytes.
    integer(c_size_t) :: file_size = 0_c_size_t
    !> Size of the mapping in bytes.
    integer(c_size_t) :: mapping_size = 0_c_size_t
    !> Whether changes are not written to the file.
    logical(c_bool) :: is_memory_only = .false._c_bool
    !> The open C file.
    type(c_ptr) :: file = c_null_ptr
    !> The file descriptor.
    integer(c_int) :: fd = -1_c_int
    !> Protection of the mapping.
    integer(c_int64_t) :: access_flags = -1_c_int64_t
    !> Flags of the mapping.
    integer(c_int64_t) :: map_flags = -1_c_int64_t
  end type

  !> A point in time, like C's `struct timespec` with two numbers of C's type `long`.
  type, bind(c), public :: blosc_timestamp
    !> Seconds.
    integer(c_long) :: seconds = 0_c_long
    !> Nanoseconds after the seconds.
    integer(c_long) :: nanoseconds = 0_c_long
  end type

  !> A super-chunk of the library; the components are those of blosc2.h.
  type, bind(c), public :: c_blosc2_schunk
    integer(c_int8_t) :: version, compcode, compcode_meta, clevel, splitmode
    integer(c_int32_t) :: typesize, blocksize, chunksize
    integer(c_int8_t) :: flags2, use_dict, filters(BLOSC2_MAX_FILTERS), filters_meta(BLOSC2_MAX_FILTERS)
    integer(c_int64_t) :: nchunks, current_nchunk, nbytes, cbytes
    type(c_ptr) :: data
    integer(c_size_t) :: data_len
    type(c_ptr) :: storage, frame, cctx, dctx, metalayers(BLOSC2_MAX_METALAYERS)
    integer(c_int16_t) :: nmetalayers
    type(c_ptr) :: vlmetalayers(BLOSC2_MAX_VLMETALAYERS)
    integer(c_int16_t) :: nvlmetalayers
    type(c_ptr) :: tuner_params
    integer(c_int) :: tuner_id
    integer(c_int8_t) :: ndim
    type(c_ptr) :: blockshape
    logical(c_bool) :: view
    integer(c_int64_t) :: change_tick
  end type

  !> The chunk cache of an array in C-Blosc2. The library does not use it: data is null, nchunk is
  !! -1.
  type, bind(c), public :: c_chunk_cache
    type(c_ptr) :: data
    integer(c_int64_t) :: nchunk
  end type

  !> An array of the library; the components are those of b2nd.h, with dimensions in C order.
  type, bind(c), public :: c_b2nd_array
    type(c_ptr) :: sc
    integer(c_int64_t) :: shape(B2ND_MAX_DIM)
    integer(c_int32_t) :: chunkshape(B2ND_MAX_DIM)
    integer(c_int64_t) :: extshape(B2ND_MAX_DIM)
    integer(c_int32_t) :: blockshape(B2ND_MAX_DIM)
    integer(c_int64_t) :: extchunkshape(B2ND_MAX_DIM), nitems
    integer(c_int32_t) :: chunknitems
    integer(c_int64_t) :: extnitems
    integer(c_int32_t) :: blocknitems
    integer(c_int64_t) :: extchunknitems
    integer(c_int8_t) :: ndim
    type(c_chunk_cache) :: chunk_cache
    integer(c_int64_t), dimension(B2ND_MAX_DIM) :: item_array_strides, item_chunk_strides, item_extchunk_strides
    integer(c_int64_t), dimension(B2ND_MAX_DIM) :: item_block_strides, block_chunk_strides, chunk_array_strides
    type(c_ptr) :: dtype
    integer(c_int8_t) :: dtype_format
    integer(c_int64_t) :: last_tick
  end type
end module blosc2_types
