! Tests of super-chunks in memory, in files and in directories: chunks, items, metalayers, copies,
! and errors. The argument is a directory for the files.
program super_chunks
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_char
  use, intrinsic :: iso_fortran_env, only: int32, int64, int8, real32, real64
  use blosc2
  use checks, only: argument, check, check_stat, finish
  implicit none

  integer, parameter :: PER_CHUNK = 1000
  character(:), allocatable :: folder
  integer :: storage

  folder = argument(1)//'/'
  do storage = 1, 4
    call life_of_a_super_chunk(storage)
  end do
  call chunks_as_they_are()
  call special_chunks()
  call blocks_of_variable_length()
  call frames()
  call copies()
  call several_in_a_file()
  call locks()
  call mapped_files()
  call errors_without_super_chunk()
  call other_errors()
  deallocate (folder)
  call finish('super_chunks')

contains

  ! Creates a super-chunk with one of the four kinds of storage.
  subroutine make(schunk, storage, path)
    type(blosc2_schunk), intent(inout) :: schunk
    integer, intent(in) :: storage
    character(:), allocatable, intent(out) :: path
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams

    cparams%typesize = 4
    cparams%compcode = BLOSC_LZ4
    dparams%nthreads = 2
    path = ''
    select case (storage)
    case (1)
      call schunk%create(cparams, dparams)
    case (2)
      call schunk%create(cparams, contiguous=.true.)
    case (3)
      path = folder//'life.b2frame'
      call blosc2_remove_urlpath(path)
      call schunk%create(cparams, urlpath=path)
    case (4)
      path = folder//'life-directory.b2frame'
      call blosc2_remove_urlpath(path)
      call schunk%create(cparams, dparams, path//'  ', contiguous=.false.)
    end select
  end subroutine

  subroutine life_of_a_super_chunk(storage)
    integer, intent(in) :: storage
    type(blosc2_schunk) :: schunk, again
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams
    character(:), allocatable :: path, text
    integer(int8), allocatable :: bytes(:)
    integer(int32) :: data(PER_CHUNK), back(PER_CHUNK), some(5), square(2, 2)
    integer(int64), allocatable :: numbers(:), offsets(:)
    real(real64) :: scale
    integer :: i, nbytes

    call make(schunk, storage, path)
    call check(schunk%is_open() .and. schunk%nchunks() == 0 .and. schunk%typesize() == 4, 'a new super-chunk')
    call schunk%meta_add_text('units', 'metres')
    call schunk%meta_add('scale', 0.25_real64)
    do i = 1, 5
      data = i
      call schunk%append(data)
    end do
    call check(schunk%nchunks() == 5 .and. schunk%nitems() == 5*PER_CHUNK, 'five chunks')
    call check(schunk%nbytes() == 20*PER_CHUNK .and. schunk%chunksize() == 4*PER_CHUNK, 'bytes')
    call check(schunk%cbytes() > 0 .and. schunk%cbytes() < schunk%nbytes() .and. schunk%frame_len() > 0, 'sizes')
    call check(schunk%blocksize() == 0, 'size of a block')
    call schunk%decompress_chunk(3_int64, back, nbytes)
    call check(nbytes == 4*PER_CHUNK .and. all(back == 3), 'chunk 3')

    ! Items 999 to 1003 are in two chunks.
    call schunk%get_slice(999_int64, some)
    call check(all(some == [1, 1, 2, 2, 2]), 'a slice of two chunks')
    some = [91, 92, 93, 94, 95]
    call schunk%set_slice(2999_int64, some)
    some = 0
    call schunk%get_slice(2998_int64, some)
    call check(all(some == [3, 91, 92, 93, 94]), 'a slice that was written')
    call schunk%get_slice(2998_int64, square)
    call check(all(square == reshape([3, 91, 92, 93], [2, 2])), 'a slice as a matrix')
    call schunk%get_sparse([5000_int64, 1_int64, 3000_int64], some(:3))
    call check(all(some(:3) == [5, 1, 92]), 'scattered items')
    call schunk%get_slice_nchunks(1000_int64, 2001_int64, numbers)
    call check(all(numbers == [1_int64, 2_int64, 3_int64]), 'chunks of a slice')
    call schunk%get_offsets(offsets)
    call check(size(offsets) == merge(0, 5, storage == 1), 'offsets')

    call schunk%reorder_offsets([5_int64, 4_int64, 3_int64, 2_int64, 1_int64])
    call schunk%decompress_chunk(1_int64, back)
    call check(all(back(6:) == 5), 'another order')
    call schunk%delete_chunk(3_int64)
    call check(schunk%nchunks() == 4, 'a chunk less')
    call schunk%decompress_chunk(3_int64, back)
    call check(all(back == 2), 'the following chunk')

    call schunk%vlmeta_add_text('history', 'made')
    call schunk%vlmeta_add('grid', [1.5_real32, 2.5_real32], cparams)
    call schunk%vlmeta_update_text('history', 'made, and changed')
    call schunk%vlmeta_add('gone', [1, 2, 3])
    call schunk%vlmeta_delete('gone')
    call schunk%meta_update('scale', 0.5_real64)
    call schunk%get_dparams(dparams)
    call check(dparams%nthreads == merge(2, 1, storage == 1 .or. storage == 4), 'threads')

    again = schunk
    if (storage > 2) then
      call schunk%release()
      call again%release()
      call again%open(path)
    end if
    call schunk%release()
    call check(again%nchunks() == 4 .and. again%typesize() == 4, 'the opened super-chunk')
    call again%get_cparams(cparams)
    call check(cparams%compcode == BLOSC_LZ4, 'its codec')
    call check(again%meta_exists('units') .and. .not. again%meta_exists('unit'), 'fixed metalayers')
    call check(all(again%meta_names() == ['units', 'scale']), 'their names')
    call again%meta_get('units', text)
    call check(text == 'metres', 'a text')
    call again%meta_update_text('units', 'litres')
    call again%meta_get('units', text)
    call check(text == 'litres', 'another text')
    call again%meta_update_text('units', 'metres')
    call again%meta_get('units', bytes)
    call check(size(bytes) == 6 .and. bytes(1) == iachar('m'), 'its bytes')
    call again%meta_read('scale', scale)
    call check(scale == 0.5_real64, 'a number')
    call check(all(again%vlmeta_names() == ['history', 'grid   ']), 'names of variable length')
    call check(again%vlmeta_exists('grid') .and. .not. again%vlmeta_exists('gone'), 'variable ones')
    call again%vlmeta_get('history', text)
    call check(text == 'made, and changed', 'a text that was changed')
    call again%vlmeta_get('grid', bytes)
    call check(size(bytes) == 8, 'bytes of two numbers')
    call again%release()
    if (storage > 2) call blosc2_remove_urlpath(path)
  end subroutine

  subroutine chunks_as_they_are()
    type(blosc2_schunk) :: schunk
    type(blosc2_cparams) :: cparams
    integer(int8), allocatable :: chunk(:)
    real(real64) :: data(10), back(10)
    integer(int8) :: raw(80)
    integer :: stat

    call schunk%create(cparams)
    data = 1
    call blosc2_compress(data, chunk)
    call schunk%append_chunk(chunk)
    data = 2
    call blosc2_compress(data, chunk)
    call schunk%insert_chunk(1_int64, chunk)
    data = 3
    call blosc2_compress(data, chunk)
    call schunk%update_chunk(2_int64, chunk)
    call schunk%append(transfer(data, raw))
    call check(schunk%nchunks() == 3, 'chunks')
    call schunk%decompress_chunk(1_int64, back)
    call check(all(back == 2), 'the preceding chunk')
    call schunk%get_chunk(2_int64, chunk)
    call blosc2_decompress(chunk, back)
    call check(all(back == 3), 'the replacing chunk')
    call schunk%append_chunk(chunk(:size(chunk) - 1), stat)
    call check_stat(stat, BLOSC2_ERROR_READ_BUFFER, 'a truncated chunk')
    call schunk%insert_chunk(1_int64, chunk(:10), stat)
    call check_stat(stat, BLOSC2_ERROR_READ_BUFFER, 'part of a header')
    call schunk%update_chunk(9_int64, chunk, stat)
    call check(stat < 0, 'updating no chunk')
    call schunk%get_chunk(9_int64, chunk, stat)
    call check(stat < 0 .and. size(chunk) == 0, 'getting no chunk')
    call check(schunk%nchunks() == 3, 'nothing has changed')
  end subroutine

  subroutine special_chunks()
    type(blosc2_schunk) :: schunk
    type(blosc2_cparams) :: cparams
    real(real32) :: data(7)
    integer :: stat

    cparams%typesize = 4
    call schunk%create(cparams)
    call schunk%fill_special(1000000_int64, BLOSC2_SPECIAL_ZERO, 40000)
    call check(schunk%nitems() == 1000000 .and. schunk%nchunks() == 100, 'a million zeros')
    data = 1
    call schunk%get_slice(999994_int64, data)
    call check(all(data == 0), 'zeros')
    call schunk%fill_special(10_int64, BLOSC2_SPECIAL_ZERO, 40, stat)
    call check(stat < 0, 'filling a super-chunk with chunks')
  end subroutine

  subroutine blocks_of_variable_length()
    type(blosc2_schunk) :: schunk
    type(blosc2_cctx) :: cctx
    type(blosc2_cparams) :: cparams
    type(blosc2_bytes) :: blocks(2)
    integer(int8), allocatable :: chunk(:), block(:)
    integer :: stat

    cparams%typesize = 1
    call cctx%create(cparams)
    call schunk%create(cparams, contiguous=.true.)
    blocks(1)%bytes = [1_int8, 2_int8]
    blocks(2)%bytes = [3_int8, 4_int8, 5_int8]
    call cctx%vlcompress(blocks, chunk)
    call schunk%append_chunk(chunk)
    call schunk%get_vlblock(1_int64, 2, block)
    call check(all(block == [3_int8, 4_int8, 5_int8]), 'a block')
    call schunk%get_vlblock(1_int64, 3, block, stat)
    call check(stat < 0 .and. size(block) == 0, 'no block')
  end subroutine

  subroutine frames()
    type(blosc2_schunk) :: schunk, again
    integer(int8), allocatable :: frame(:)
    real(real64) :: data(100), back(100)
    integer :: storage, stat

    data = 4
    do storage = 0, 1
      call schunk%create(contiguous=storage == 1)
      call schunk%append(data)
      call schunk%to_frame(frame)
      call again%from_frame(frame)
      frame = 0
      call again%get_slice(1_int64, back)
      call check(all(back == 4), 'a frame in memory')
    end do
    call again%from_frame(frame, stat)
    call check_stat(stat, BLOSC2_ERROR_DATA, 'a frame of zeros')
    call check(.not. again%is_open(), 'no frame')
    call blosc2_remove_urlpath(folder//'file.b2frame')
    call schunk%to_file(folder//'file.b2frame')
    call again%open(folder//'file.b2frame')
    call check(again%nitems() == 100, 'a frame in a file')
    call blosc2_rename_urlpath(folder//'file.b2frame', folder//'renamed.b2frame')
    call again%open(folder//'file.b2frame', stat=stat)
    call check_stat(stat, BLOSC2_ERROR_FILE_OPEN, 'a frame of another name')
    call again%open(folder//'renamed.b2frame')
    call schunk%to_file('/nonexistent/file', stat)
    call check(stat < 0, 'a file where none can be')
  end subroutine

  subroutine copies()
    type(blosc2_schunk) :: schunk, copied
    type(blosc2_cparams) :: cparams
    integer(int32) :: data(500), back(500)
    integer :: i, stat

    data = [(i, i=1, 500)]
    cparams%typesize = 4
    call schunk%create(cparams)
    call schunk%append(data)
    call schunk%vlmeta_add_text('note', 'copied too')
    cparams%compcode = BLOSC_ZSTD
    call blosc2_remove_urlpath(folder//'copy.b2frame')
    call copied%copy_of(schunk, cparams, urlpath=folder//'copy.b2frame')
    call copied%decompress_chunk(1_int64, back)
    call copied%get_cparams(cparams)
    call check(all(back == data) .and. cparams%compcode == BLOSC_ZSTD, 'a copy by another codec')
    call check(copied%vlmeta_exists('note'), 'metalayers of a copy')
    call schunk%copy_of(copied, urlpath=folder//'copy.b2frame', stat=stat)
    call check_stat(stat, BLOSC2_ERROR_SCHUNK_COPY, 'a copy to an existing path')
    call check(.not. schunk%is_open(), 'no copy')
    call schunk%copy_of(schunk, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'a copy of nothing')
  end subroutine

  subroutine several_in_a_file()
    type(blosc2_schunk) :: schunk, again
    integer(int64) :: offset, second
    real(real64) :: data(50), back(50)

    call blosc2_remove_urlpath(folder//'several.bin')
    call schunk%create()
    data = 1
    call schunk%append(data)
    call schunk%append_file(folder//'several.bin', offset)
    data = 2
    call schunk%append(data)
    call schunk%append_file(folder//'several.bin', second)
    call check(offset == 0 .and. second > 0, 'offsets')
    call again%open(folder//'several.bin', second)
    call again%decompress_chunk(2_int64, back)
    call check(again%nchunks() == 2 .and. all(back == 2), 'the second frame')
  end subroutine

  subroutine locks()
    type(blosc2_schunk) :: schunk, other
    real(real64) :: data(50)
    logical :: changed

    data = 1
    call blosc2_remove_urlpath(folder//'locked.b2frame')
    call schunk%create(urlpath=folder//'locked.b2frame')
    call schunk%lock()
    call schunk%append(data)
    call schunk%unlock()
    call other%open(folder//'locked.b2frame')
    call schunk%append(data)
    call other%refresh(changed)
    call check(changed .and. other%nchunks() == 2, 'a chunk added by another handle')
    call other%refresh(changed)
    call check(.not. changed, 'nothing new')
  end subroutine

  ! The memory-mapping I/O backend of the library; its parameters belong to the caller.
  subroutine mapped_files()
    type(blosc2_schunk) :: schunk
    type(blosc2_io) :: io
    type(blosc2_stdio_mmap), target :: writing, reading
    character(kind=c_char), target :: new(3) = ['w', '+', c_null_char], old(2) = ['r', c_null_char]
    real(real64) :: data(500), back(500)
    integer :: stat

    data = 8
    call blosc2_remove_urlpath(folder//'mapped.b2frame')
    io%id = BLOSC2_IO_FILESYSTEM_MMAP
    writing%mode = c_loc(new)
    io%params = c_loc(writing)
    call schunk%create(urlpath=folder//'mapped.b2frame', io=io)
    call schunk%append(data)
    call schunk%release()
    reading%mode = c_loc(old)
    io%params = c_loc(reading)
    call schunk%open(folder//'mapped.b2frame', io=io)
    call schunk%decompress_chunk(1_int64, back)
    call check(all(back == 8), 'a mapped file')
    call schunk%append(data, stat)
    call check(stat < 0, 'writing to a read-only mapping')
    call schunk%release()
  end subroutine

  subroutine errors_without_super_chunk()
    type(blosc2_schunk) :: none
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams
    integer(int8), allocatable :: bytes(:)
    integer(int64), allocatable :: numbers(:)
    character(:), allocatable :: text
    integer(int8) :: chunk(40)
    real(real64) :: data(2)
    integer :: codes(29)

    codes = 0
    data = 0
    chunk = 0
    call none%to_frame(bytes, codes(1))
    call none%to_file('x', codes(2))
    call none%append_file('x', stat=codes(3))
    call none%refresh(stat=codes(4))
    call none%lock(codes(5))
    call none%unlock(codes(6))
    call none%get_cparams(cparams, codes(7))
    call none%get_dparams(dparams, codes(8))
    call none%append(data, codes(9))
    call none%append_chunk(chunk, codes(10))
    call none%insert_chunk(1_int64, chunk, codes(11))
    call none%update_chunk(1_int64, chunk, codes(12))
    call none%delete_chunk(1_int64, codes(13))
    call none%reorder_offsets([1_int64], codes(14))
    call none%fill_special(1_int64, 1, 8, codes(15))
    call none%decompress_chunk(1_int64, data, stat=codes(16))
    call none%get_chunk(1_int64, bytes, codes(17))
    call none%get_vlblock(1_int64, 1, bytes, codes(18))
    call none%get_slice(1_int64, data, codes(19))
    call none%set_slice(1_int64, data, codes(20))
    call none%get_sparse([1_int64, 2_int64], data, codes(21))
    call none%get_slice_nchunks(1_int64, 1_int64, numbers, codes(22))
    call none%get_offsets(numbers, codes(23))
    call none%meta_add('a', data, codes(24))
    call none%meta_get('a', text, codes(25))
    call none%vlmeta_add('a', data, stat=codes(26))
    call none%vlmeta_update('a', data, stat=codes(27))
    call none%vlmeta_delete('a', codes(28))
    call none%vlmeta_get('a', bytes, codes(29))
    call check(all(codes == BLOSC2_ERROR_NULL_POINTER), 'every procedure without super-chunk')
    call none%meta_update('a', data, codes(1))
    call none%meta_read('a', data, codes(2))
    call none%vlmeta_read('a', data, codes(3))
    call none%meta_get('a', bytes, codes(4))
    call none%vlmeta_get('a', text, codes(5))
    call check(all(codes(:5) == BLOSC2_ERROR_NULL_POINTER), 'metalayers without super-chunk')
    call check(.not. none%meta_exists('a') .and. .not. none%vlmeta_exists('a'), 'no metalayers')
    call check(size(none%meta_names()) == 0 .and. size(none%vlmeta_names()) == 0, 'no names')
    call check(none%nchunks() + none%nitems() + none%nbytes() + none%cbytes() + none%frame_len() == 0, 'no facts')
    call check(none%typesize() + none%chunksize() + none%blocksize() == 0, 'no sizes')
  end subroutine

  subroutine other_errors()
    type(blosc2_schunk) :: schunk, second
    integer(int64), allocatable :: numbers(:)
    character(:), allocatable :: text
    real(real64) :: data(10), number
    real(real32) :: wrong(10)
    integer :: stat

    call blosc2_remove_urlpath(folder//'errors.b2frame')
    call schunk%create(urlpath=folder//'errors.b2frame')
    call second%create(urlpath=folder//'errors.b2frame', stat=stat)
    call check_stat(stat, BLOSC2_ERROR_FAILURE, 'a super-chunk at an existing path')
    call second%open('/nonexistent/file', stat=stat)
    call check_stat(stat, BLOSC2_ERROR_FILE_OPEN, 'opening a missing file')
    data = 1
    wrong = 1
    call schunk%append(data)
    call schunk%append(wrong, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'items of another size')
    call schunk%get_slice(2_int64, data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'items after the end')
    call schunk%get_slice(0_int64, data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'item 0')
    call schunk%set_slice(5_int64, data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'writing after the end')
    call schunk%set_slice(1_int64, wrong, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'writing items of another size')
    call schunk%get_sparse([1_int64, 11_int64], data(:2), stat)
    call check(stat < 0, 'item 11')
    call schunk%get_sparse([1_int64, 2_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'two items into ten')
    call schunk%get_slice_nchunks(5_int64, 11_int64, numbers, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'chunks of missing items')
    call schunk%reorder_offsets([1_int64, 2_int64], stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'an order of two for one chunk')
    call schunk%delete_chunk(2_int64, stat)
    call check(stat < 0, 'deleting no chunk')
    call schunk%decompress_chunk(1_int64, data(:9), stat=stat)
    call check(stat < 0, 'a destination that is too small')
    call schunk%meta_add('late', data, stat)
    call check(stat < 0, 'a fixed metalayer after chunks')
    call schunk%meta_get('none', text, stat)
    call check_stat(stat, BLOSC2_ERROR_METALAYER_NOT_FOUND, 'no metalayer')
    call schunk%vlmeta_get('none', text, stat)
    call check(stat < 0 .and. text == '', 'no metalayer of variable length')
    call schunk%vlmeta_delete('none', stat)
    call check(stat < 0, 'deleting no metalayer')
    call schunk%vlmeta_add('number', 3.0_real64)
    call schunk%vlmeta_add('number', 3.0_real64, stat=stat)
    call check(stat < 0, 'an existing name')
    call schunk%vlmeta_read('number', wrong, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'reading into more')
    call schunk%vlmeta_read('number', number)
    call check(number == 3.0_real64, 'a number')
    call schunk%vlmeta_add(repeat('long', 10), data, stat=stat)
    call check(stat < 0, 'a name that is too long')
  end subroutine
end program super_chunks
