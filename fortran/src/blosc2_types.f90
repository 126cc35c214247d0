! The structs of blosc2.h and b2nd.h as derived types of the same layout.
!
! A `blosc2_cparams`, `blosc2_dparams`, `blosc2_io` or `blosc2_storage` begins with the library's default values. Bytes
! that C has without sign, such as the ids of filters, are `integer(c_int8_t)`: ids from 128 on are stored as id - 256.
! The types with `c_` in front are what a handle's address points to; they belong to the library and are for reading.
module blosc2_types
  use, intrinsic :: iso_c_binding, only: c_bool, c_float, c_funptr, c_int, c_int16_t, c_int32_t, c_int64_t, &
    c_int8_t, c_long, c_null_funptr, c_null_ptr, c_ptr, c_size_t
  use blosc_shared, only: BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_SHUFFLE
  use blosc2_constants, only: BLOSC2_IO_FILESYSTEM, BLOSC2_MAX_FILTERS, BLOSC2_MAX_METALAYERS, &
    BLOSC2_MAX_VLMETALAYERS, BLOSC_STUNE
  use b2nd_constants, only: B2ND_MAX_DIM
  implicit none
  private

  !> How to compress.
  type, bind(c), public :: blosc2_cparams
    !> The codec: BLOSC_BLOSCLZ and its siblings.
    integer(c_int8_t) :: compcode = int(BLOSC_BLOSCLZ, c_int8_t)
    !> A byte for the codec.
    integer(c_int8_t) :: compcode_meta = 0_c_int8_t
    !> Level from 0 (store) to 9 (smallest).
    integer(c_int8_t) :: clevel = 5_c_int8_t
    !> Whether blocks share a dictionary: 0 or 1.
    integer(c_int) :: use_dict = 0_c_int
    !> Bytes of an item.
    integer(c_int32_t) :: typesize = 8_c_int32_t
    !> Threads to use.
    integer(c_int16_t) :: nthreads = 1_c_int16_t
    !> Bytes of a block; 0 is automatic.
    integer(c_int32_t) :: blocksize = 0_c_int32_t
    !> Whether blocks are split in streams: BLOSC_ALWAYS_SPLIT and its siblings.
    integer(c_int32_t) :: splitmode = int(BLOSC_FORWARD_COMPAT_SPLIT, c_int32_t)
    !> The super-chunk the chunks are for, or null.
    type(c_ptr) :: schunk = c_null_ptr
    !> The filters, applied from the first to the last.
    integer(c_int8_t) :: filters(BLOSC2_MAX_FILTERS) = [0_c_int8_t, 0_c_int8_t, 0_c_int8_t, 0_c_int8_t, 0_c_int8_t, &
      int(BLOSC_SHUFFLE, c_int8_t)]
    !> A byte for each filter.
    integer(c_int8_t) :: filters_meta(BLOSC2_MAX_FILTERS) = 0_c_int8_t
    !> Called for each block before the filters, or null: a bind(c) function.
    type(c_funptr) :: prefilter = c_null_funptr
    !> Parameters of the prefilter, a blosc2_prefilter_params; copied.
    type(c_ptr) :: preparams = c_null_ptr
    !> Parameters of the tuner.
    type(c_ptr) :: tuner_params = c_null_ptr
    !> The tuner.
    integer(c_int) :: tuner_id = BLOSC_STUNE
    !> Whether to measure the codec instead of storing what it makes.
    logical(c_bool) :: instr_codec = .false._c_bool
    !> Parameters of the codec.
    type(c_ptr) :: codec_params = c_null_ptr
    !> Parameters of each filter.
    type(c_ptr) :: filter_params(BLOSC2_MAX_FILTERS) = c_null_ptr
  end type

  !> How to decompress.
  type, bind(c), public :: blosc2_dparams
    !> Threads to use.
    integer(c_int16_t) :: nthreads = 1_c_int16_t
    !> The super-chunk the chunks are from, or null.
    type(c_ptr) :: schunk = c_null_ptr
    !> Called for each block after the filters were undone, or null: a bind(c) function.
    type(c_funptr) :: postfilter = c_null_funptr
    !> Parameters of the postfilter, a blosc2_postfilter_params; copied.
    type(c_ptr) :: postparams = c_null_ptr
    !> Bytes of an item.
    integer(c_int32_t) :: typesize = 8_c_int32_t
  end type

  !> What a prefilter gets: one block, before the filters.
  type, bind(c), public :: blosc2_prefilter_params
    !> What the user put there.
    type(c_ptr) :: user_data = c_null_ptr
    !> The block in the source buffer.
    type(c_ptr) :: input = c_null_ptr
    !> Where the filtered block goes.
    type(c_ptr) :: output = c_null_ptr
    !> Bytes to write to output.
    integer(c_int32_t) :: output_size = 0_c_int32_t
    !> Bytes of an item of output.
    integer(c_int32_t) :: output_typesize = 0_c_int32_t
    !> Position of the block in the chunk, in bytes.
    integer(c_int32_t) :: output_offset = 0_c_int32_t
    !> Number of the chunk in its super-chunk from 0, or -1.
    integer(c_int64_t) :: nchunk = 0_c_int64_t
    !> Number of the block in its chunk, from 0.
    integer(c_int32_t) :: nblock = 0_c_int32_t
    !> Number of the worker, 0 in serial runs.
    integer(c_int32_t) :: tid = 0_c_int32_t
    !> Scratch memory.
    type(c_ptr) :: ttmp = c_null_ptr
    !> Bytes of ttmp.
    integer(c_size_t) :: ttmp_nbytes = 0_c_size_t
    !> The context that compresses.
    type(c_ptr) :: ctx = c_null_ptr
    !> Whether the output is not going to be stored.
    logical(c_bool) :: output_is_disposable = .false._c_bool
  end type

  !> What a postfilter gets: one block, after the filters were undone.
  type, bind(c), public :: blosc2_postfilter_params
    !> What the user put there.
    type(c_ptr) :: user_data = c_null_ptr
    !> The decoded block.
    type(c_ptr) :: input = c_null_ptr
    !> Where the block goes.
    type(c_ptr) :: output = c_null_ptr
    !> Bytes to write to output.
    integer(c_int32_t) :: size = 0_c_int32_t
    !> Bytes of an item.
    integer(c_int32_t) :: typesize = 0_c_int32_t
    !> Position of the block in the chunk, in bytes.
    integer(c_int32_t) :: offset = 0_c_int32_t
    !> Number of the chunk in its super-chunk from 0, or -1.
    integer(c_int64_t) :: nchunk = 0_c_int64_t
    !> Number of the block in its chunk, from 0.
    integer(c_int32_t) :: nblock = 0_c_int32_t
    !> Number of the worker, 0 in serial runs.
    integer(c_int32_t) :: tid = 0_c_int32_t
    !> Scratch memory.
    type(c_ptr) :: ttmp = c_null_ptr
    !> Bytes of ttmp.
    integer(c_size_t) :: ttmp_nbytes = 0_c_size_t
    !> The context that decompresses.
    type(c_ptr) :: ctx = c_null_ptr
  end type

  !> What an instrumented chunk holds for each stream in place of its data.
  type, bind(c), public :: blosc2_instr
    !> Compression ratio.
    real(c_float) :: cratio
    !> Speed of the codec in bytes per second.
    real(c_float) :: cspeed
    !> Speed of the filters in bytes per second.
    real(c_float) :: filter_speed
    !> The first tells by its lowest bit whether the stream could not be compressed.
    integer(c_int8_t) :: flags(4)
  end type

  !> A codec of the user.
  type, bind(c), public :: blosc2_codec
    !> Its code, from BLOSC2_USER_REGISTERED_CODECS_START on.
    integer(c_int8_t) :: compcode = 0_c_int8_t
    !> Its name, which ends in c_null_char; must outlive the library.
    type(c_ptr) :: compname = c_null_ptr
    !> The code of its library.
    integer(c_int8_t) :: complib = 0_c_int8_t
    !> The version of its format; chunks record it.
    integer(c_int8_t) :: version = 0_c_int8_t
    !> The encoder: a bind(c) function.
    type(c_funptr) :: encoder = c_null_funptr
    !> The decoder: a bind(c) function.
    type(c_funptr) :: decoder = c_null_funptr
  end type

  !> A filter of the user.
  type, bind(c), public :: blosc2_filter
    !> Its id, from BLOSC2_USER_REGISTERED_FILTERS_START on.
    integer(c_int8_t) :: id = 0_c_int8_t
    !> Its name, which ends in c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
    !> Its version, for people.
    integer(c_int8_t) :: version = 0_c_int8_t
    !> What compression calls: a bind(c) function.
    type(c_funptr) :: forward = c_null_funptr
    !> What decompression calls: a bind(c) function.
    type(c_funptr) :: backward = c_null_funptr
  end type

  !> A tuner of the user.
  type, bind(c), public :: blosc2_tuner
    !> Called when a compression context is created with this tuner.
    type(c_funptr) :: init = c_null_funptr
    !> Called before each compression.
    type(c_funptr) :: next_blocksize = c_null_funptr
    !> For tuners that keep their state in the context.
    type(c_funptr) :: next_cparams = c_null_funptr
    !> For tuners that keep their state in the context.
    type(c_funptr) :: update = c_null_funptr
    !> For tuners that keep their state in the context.
    type(c_funptr) :: free = c_null_funptr
    !> Its id, from BLOSC2_USER_REGISTERED_TUNER_START on.
    integer(c_int) :: id = 0_c_int
    !> Its name, which ends in c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
  end type

  !> An I/O backend.
  type, bind(c), public :: blosc2_io_cb
    !> Its id, from BLOSC2_IO_REGISTERED on.
    integer(c_int8_t) :: id = 0_c_int8_t
    !> Its name, which ends in c_null_char; must outlive the library.
    type(c_ptr) :: name = c_null_ptr
    !> Whether read fills a buffer of the library, or hands out a pointer of its own.
    logical(c_bool) :: is_allocation_necessary = .true._c_bool
    !> Opens a file; each of these is a bind(c) function.
    type(c_funptr) :: open = c_null_funptr
    !> Closes it.
    type(c_funptr) :: close = c_null_funptr
    !> Tells its size.
    type(c_funptr) :: size = c_null_funptr
    !> Writes to it.
    type(c_funptr) :: write = c_null_funptr
    !> Reads from it.
    type(c_funptr) :: read = c_null_funptr
    !> Sets its size.
    type(c_funptr) :: truncate = c_null_funptr
    !> Frees the parameters.
    type(c_funptr) :: destroy = c_null_funptr
  end type

  !> Which I/O backend to use, and how.
  type, bind(c), public :: blosc2_io
    !> The id of the backend.
    integer(c_int8_t) :: id = int(BLOSC2_IO_FILESYSTEM, c_int8_t)
    !> Its name, which ends in c_null_char; the id counts.
    type(c_ptr) :: name = c_null_ptr
    !> Parameters of the backend.
    type(c_ptr) :: params = c_null_ptr
  end type

  !> Where and how a super-chunk is stored.
  type, bind(c), public :: blosc2_storage
    !> Whether the chunks are in one frame, or apart.
    logical(c_bool) :: contiguous = .false._c_bool
    !> The file or directory, which ends in c_null_char; null is memory.
    type(c_ptr) :: urlpath = c_null_ptr
    !> How to compress, a blosc2_cparams; null is the defaults.
    type(c_ptr) :: cparams = c_null_ptr
    !> How to decompress, a blosc2_dparams; null is the defaults.
    type(c_ptr) :: dparams = c_null_ptr
    !> The I/O backend, a blosc2_io; null is the file system.
    type(c_ptr) :: io = c_null_ptr
  end type

  !> A metalayer: bytes with a name.
  type, bind(c), public :: blosc2_metalayer
    !> The name, which ends in c_null_char.
    type(c_ptr) :: name = c_null_ptr
    !> The bytes.
    type(c_ptr) :: content = c_null_ptr
    !> Their count.
    integer(c_int32_t) :: content_len = 0_c_int32_t
  end type

  !> Parameters of the file-system backend.
  type, bind(c), public :: blosc2_stdio_params
    !> Whether processes that share a frame lock it.
    logical(c_bool) :: locking = .false._c_bool
  end type

  !> A stream of the file-system backend.
  type, bind(c), public :: blosc2_stdio_file
    !> The open file of C.
    type(c_ptr) :: file = c_null_ptr
  end type

  !> Parameters and stream of the mapped-file backend.
  type, bind(c), public :: blosc2_stdio_mmap
    !> "r", "r+", "w+" or "c" (changes stay in memory), which ends in c_null_char; must be set.
    type(c_ptr) :: mode = c_null_ptr
    !> Bytes to map at first.
    integer(c_size_t) :: initial_mapping_size = 2_c_size_t**30
    !> Whether the library frees the struct.
    logical(c_bool) :: needs_free = .false._c_bool
    !> Start of the mapping.
    type(c_ptr) :: addr = c_null_ptr
    !> The file.
    type(c_ptr) :: urlpath = c_null_ptr
    !> Its size.
    integer(c_size_t) :: file_size = 0_c_size_t
    !> Bytes mapped.
    integer(c_size_t) :: mapping_size = 0_c_size_t
    !> Whether changes stay in memory.
    logical(c_bool) :: is_memory_only = .false._c_bool
    !> The open file of C.
    type(c_ptr) :: file = c_null_ptr
    !> Its descriptor.
    integer(c_int) :: fd = -1_c_int
    !> Protection of the mapping.
    integer(c_int64_t) :: access_flags = -1_c_int64_t
    !> Flags of the mapping.
    integer(c_int64_t) :: map_flags = -1_c_int64_t
  end type

  !> A point in time, as C's `struct timespec` holds it where both numbers are of C's type `long`.
  type, bind(c), public :: blosc_timestamp
    !> Seconds.
    integer(c_long) :: seconds = 0_c_long
    !> Nanoseconds behind them.
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

  !> The chunk an array decompressed last.
  type, bind(c), public :: c_chunk_cache
    type(c_ptr) :: data
    integer(c_int64_t) :: nchunk
  end type

  !> An array of the library; the components are those of b2nd.h, with dimensions in the order of C.
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
