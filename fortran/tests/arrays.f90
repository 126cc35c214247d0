! Tests of arrays: dimension order, slices, selections, shape changes, views, files, and errors.
! Results are compared with a Fortran array after the same operations. The argument is a directory
! for the files.
program arrays
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, int8, real32, real64
  use blosc2
  use checks, only: argument, check, check_stat, finish
  implicit none

  character(:), allocatable :: folder

  folder = argument(1)//'/'
  call order_of_dimensions()
  call slices()
  call default_partitions()
  call values()
  call types_of_items()
  call sparse_and_orthogonal()
  call changes_of_shape()
  call arrays_of_arrays()
  call views()
  call files()
  call metalayers()
  call empty_arrays()
  call errors_without_array()
  call other_errors()
  deallocate (folder)
  call finish('arrays')

contains

  ! The array of most tests: item (i, j, k) is 100 i + 10 j + k.
  function numbers(n1, n2, n3) result(items)
    integer, intent(in) :: n1, n2, n3
    integer(int32) :: items(n1, n2, n3)
    integer :: i, j, k

    do k = 1, n3
      do j = 1, n2
        do i = 1, n1
          items(i, j, k) = 100*i + 10*j + k
        end do
      end do
    end do
  end function

  function parts(chunkshape, blockshape) result(options)
    integer, intent(in) :: chunkshape(:), blockshape(:)
    type(b2nd_options) :: options

    options%chunkshape = chunkshape
    options%blockshape = blockshape
  end function

  ! The first dimension is the fastest, also in the file: the items of the whole array are in
  ! Fortran order, and the super-chunk contains the shape in C order.
  subroutine order_of_dimensions()
    type(b2nd_array) :: array
    type(blosc2_schunk) :: schunk
    integer(int32) :: data(5, 3, 2), flat(30)
    integer(int8), allocatable :: meta(:)
    integer(int64) :: i

    data = numbers(5, 3, 2)
    call array%from_array(data, parts([5, 3, 2], [5, 3, 2]))
    call check(array%ndim() == 3 .and. all(array%shape() == [5, 3, 2]), 'shape')
    call check(all(array%chunkshape() == [5, 3, 2]) .and. all(array%blockshape() == [5, 3, 2]), 'partitions')
    call array%schunk(schunk)
    call schunk%decompress_chunk(1_int64, flat)
    call check(all(flat == reshape(data, [30])), 'the same bytes')
    call array%get_sparse([(i, i=1, 30)], flat)
    call check(all(flat == reshape(data, [30])), 'the same numbers of items')
    call schunk%meta_get('b2nd', meta)
    ! Version, dimensions, then the shape in MessagePack: 8-byte numbers after a marker, 2, 3 and 5.
    call check(meta(3) == 3 .and. meta(13) == 2 .and. meta(22) == 3 .and. meta(31) == 5, 'the shape in the file')
  end subroutine

  subroutine slices()
    type(b2nd_array) :: array
    integer(int32) :: data(17, 9, 4), block(6, 5, 2), plane(17, 9), row(9), one, item(1, 1, 1)
    integer(int32), allocatable :: seen(:, :, :)

    data = numbers(17, 9, 4)
    call array%from_array(data, parts([7, 4, 3], [3, 2, 2]))
    call array%get_slice([2_int64, 3_int64, 2_int64], [7_int64, 7_int64, 3_int64], block)
    call check(all(block == data(2:7, 3:7, 2:3)), 'a slice across chunks')
    call array%get_slice([1_int64, 1_int64, 4_int64], [17_int64, 9_int64, 4_int64], plane)
    call check(all(plane == data(:, :, 4)), 'a plane')
    call array%get_slice([11_int64, 1_int64, 2_int64], [11_int64, 9_int64, 2_int64], row)
    call check(all(row == data(11, :, 2)), 'a row')
    call array%get_slice([17_int64, 9_int64, 4_int64], [17_int64, 9_int64, 4_int64], one)
    call check(one == data(17, 9, 4), 'the last item')
    call array%get_slice([1_int64, 1_int64, 1_int64], [1_int64, 1_int64, 1_int64], item)
    call check(item(1, 1, 1) == data(1, 1, 1), 'the first item')

    block = -block
    data(4:9, 2:6, 3:4) = block
    call array%set_slice([4_int64, 2_int64, 3_int64], [9_int64, 6_int64, 4_int64], block)
    data(3, :, 1) = row
    call array%set_slice([3_int64, 1_int64, 1_int64], [3_int64, 9_int64, 1_int64], row)
    data(5, 5, 4) = 7
    call array%set_slice([5_int64, 5_int64, 4_int64], [5_int64, 5_int64, 4_int64], 7)
    allocate (seen(17, 9, 4))
    call array%to_array(seen)
    call check(all(seen == data), 'the array after writing')

    ! A non-contiguous section.
    plane = 0
    call array%get_slice([1_int64, 1_int64, 2_int64], [9_int64, 9_int64, 2_int64], plane(::2, :))
    call check(all(plane(1:17:2, :) == data(1:9, :, 2)) .and. all(plane(2::2, :) == 0), 'into every second row')
    call array%set_slice([1_int64, 1_int64, 1_int64], [5_int64, 9_int64, 1_int64], data(17:9:-2, :, 4))
    call array%get_slice([1_int64, 1_int64, 1_int64], [5_int64, 9_int64, 1_int64], plane(:5, :))
    call check(all(plane(:5, :) == data(17:9:-2, :, 4)), 'from every second row, backward')
  end subroutine

  subroutine default_partitions()
    type(b2nd_array) :: array
    integer(int32), allocatable :: chunkshape(:), blockshape(:)

    call array%zeros('<f8', [3000_int64, 2000_int64, 100_int64])
    chunkshape = array%chunkshape()
    blockshape = array%blockshape()
    call check(8_int64*product(int(chunkshape, int64)) <= 2**21, 'bytes of a chunk')
    call check(8_int64*product(int(blockshape, int64)) <= 2**16, 'bytes of a block')
    ! The shapes of `Layout::auto` of the Rust crate and of `b2 convert`.
    call check(all(chunkshape == [48, 64, 52]) .and. all(blockshape == [24, 16, 13]), 'shapes')
    call array%zeros('<f8', [0_int64, 5_int64])
    call check(all(array%shape() == [0, 5]), 'no items')
    call array%zeros('|S1000000', [7_int64])
    call check(array%itemsize() == 1000000 .and. all(array%chunkshape() <= 2), 'large items')
  end subroutine

  subroutine values()
    type(b2nd_array) :: array
    real(real64) :: data(4, 6)
    complex(real32) :: numbers(3)

    data = 1
    call array%zeros('<f8', [4_int64, 6_int64])
    call array%to_array(data)
    call check(all(data == 0), 'zeros')
    call array%nans('<f8', [4_int64, 6_int64])
    call array%to_array(data)
    call check(all(ieee_is_nan(data)), 'NaNs')
    call array%full(2.5_real64, [4_int64, 6_int64])
    call array%to_array(data)
    call check(all(data == 2.5_real64) .and. array%dtype() == '<f8', 'one value')
    call array%full((1.0_real32, -1.0_real32), [3_int64])
    call array%to_array(numbers)
    call check(all(numbers == (1.0_real32, -1.0_real32)) .and. array%dtype() == '<c8', 'one complex value')
    call array%uninit('<f8', [4_int64, 6_int64])
    call check(array%nitems() == 24 .and. array%itemsize() == 8, 'no value')
  end subroutine

  subroutine types_of_items()
    type :: pair
      sequence
      integer(int32) :: a, b
    end type
    type(b2nd_array) :: array
    type(b2nd_options) :: options
    type(pair) :: pairs(3), seen(3)
    character(5) :: words(2), read_words(2)
    integer(int32) :: unsigned(2)
    integer :: stat

    words = ['first', 'other']
    call array%from_array(words)
    call array%to_array(read_words)
    call check(array%dtype() == '|S5' .and. all(read_words == words), 'words')
    pairs = [pair(1, 2), pair(3, 4), pair(5, 6)]
    call array%from_array(pairs)
    call array%to_array(seen)
    call check(array%dtype() == '|V8' .and. all(seen%b == [2, 4, 6]), 'pairs')
    call array%from_array(pairs, dtype="[('a', '<i4'), ('b', '<i4')]")
    call check(array%itemsize() == 8 .and. index(array%dtype(), "'b'") > 0, 'pairs with names')
    unsigned = [1, -1]
    call array%from_array(unsigned, dtype='<u4')
    call array%to_array(unsigned)
    call check(array%dtype() == '<u4' .and. all(unsigned == [1, -1]), 'unsigned numbers')
    call array%zeros('<U3', [2_int64])
    call check(array%itemsize() == 12, 'characters of four bytes')
    options%cparams%typesize = 6
    call array%zeros("[('a', '<i4'), ('b', '<i2')]", [2_int64], options)
    call check(array%itemsize() == 6, 'a size that is not in the dtype')
    call array%from_array([1.0_real32], stat=stat)
    call array%to_array(unsigned(1), stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'reals into integers')
  end subroutine

  subroutine sparse_and_orthogonal()
    type(b2nd_array) :: array
    type(b2nd_indices) :: selection(3)
    integer(int32) :: data(8, 7, 6), some(4), chosen(3, 2, 4)
    integer :: stat

    data = numbers(8, 7, 6)
    call array%from_array(data, parts([3, 3, 3], [2, 2, 2]))
    call array%get_sparse([1_int64, 336_int64, 9_int64, 57_int64], some)
    call check(all(some == [data(1, 1, 1), data(8, 7, 6), data(1, 2, 1), data(1, 1, 2)]), 'items by number')
    selection(1)%at = [8_int64, 1_int64, 3_int64]
    selection(2)%at = [2_int64, 7_int64]
    selection(3)%at = [6_int64, 5_int64, 4_int64, 1_int64]
    call array%get_selection(selection, chosen)
    call check(all(chosen == data([8, 1, 3], [2, 7], [6, 5, 4, 1])), 'a selection')
    chosen = -chosen
    data([8, 1, 3], [2, 7], [6, 5, 4, 1]) = chosen
    call array%set_selection(selection, chosen)
    call check_equal(array, data, 'a selection that was written')
    call array%get_sparse([337_int64], some(:1), stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'a number that is too large')
    call array%get_sparse([1_int64], some, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'one item into four')
    call array%get_selection(selection(:2), chosen, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'two dimensions')
    call array%get_selection(selection, chosen(:2, :, :), stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a selection of another shape')
    selection(2)%at = [0_int64, 7_int64]
    call array%set_selection(selection, chosen, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'index 0')
    deallocate (selection(3)%at)
    call array%get_selection(selection, chosen, stat)
    call check(stat < 0, 'no indices')
  end subroutine

  subroutine check_equal(array, data, label)
    type(b2nd_array), intent(in) :: array
    integer(int32), intent(in) :: data(:, :, :)
    character(*), intent(in) :: label
    integer(int32), allocatable :: seen(:, :, :)
    integer :: stat

    allocate (seen, mold=data)
    seen = huge(seen)
    call array%to_array(seen, stat)
    call check_stat(stat, 0, label)
    call check(all(seen == data), label)
  end subroutine

  subroutine changes_of_shape()
    type(b2nd_array) :: array
    integer(int32) :: data(4, 6, 4), more(4, 2, 4), layer(4, 6)
    integer(int32), allocatable :: expected(:, :, :)
    integer :: stat

    data = numbers(4, 6, 4)
    more = -1
    call array%from_array(data, parts([2, 2, 2], [2, 2, 2]))
    call array%append(more, 2)
    allocate (expected(4, 8, 4))
    expected(:, :6, :) = data
    expected(:, 7:, :) = more
    call check_equal(array, expected, 'items after the second dimension')
    call array%insert(more, 2, 3_int64)
    deallocate (expected)
    allocate (expected(4, 10, 4))
    expected(:, :2, :) = data(:, :2, :)
    expected(:, 3:4, :) = more
    expected(:, 5:8, :) = data(:, 3:, :)
    expected(:, 9:, :) = more
    call check_equal(array, expected, 'items before the third')
    call array%delete(2, 9_int64, 10_int64)
    call array%delete(2, 3_int64, 4_int64)
    call check_equal(array, data, 'items that were removed')
    call array%resize([4_int64, 6_int64, 5_int64])
    layer = 0
    call array%set_slice([1_int64, 1_int64, 5_int64], [4_int64, 6_int64, 5_int64], layer)
    expected = reshape([data, layer], [4, 6, 5])
    call check_equal(array, expected, 'one more layer')
    call array%resize([4_int64, 6_int64, 4_int64])
    call array%append(layer, 3)
    call check_equal(array, expected, 'a layer of one dimension less')
    call array%resize([6_int64, 6_int64, 5_int64], start=[1_int64, 1_int64, 1_int64])
    call check(all(array%shape() == [6, 6, 5]), 'items before')
    call array%delete(1, 1_int64, 2_int64)
    call check_equal(array, expected, 'and removed again')

    call array%append(more, 3, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'items of another shape')
    call array%append(more, 4, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a fourth dimension')
    call array%insert(more, 0, 1_int64, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'dimension 0')
    call array%delete(1, 4_int64, 9_int64, stat)
    call check(stat < 0, 'deleting after the end')
    call array%resize([4_int64, 6_int64], stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'two dimensions')
    call array%resize([4_int64, 6_int64, 9_int64], [1_int64], stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'one start')
    call array%resize([-4_int64, 6_int64, 9_int64], stat=stat)
    call check(stat < 0, 'a negative shape')
    call check_equal(array, expected, 'nothing has changed')
  end subroutine

  subroutine arrays_of_arrays()
    type(b2nd_array) :: array, part, copied, both
    type(b2nd_options) :: options
    integer(int32) :: data(5, 6, 7)
    integer(int64), allocatable :: chunks(:)
    integer :: stat

    data = numbers(5, 6, 7)
    options = parts([2, 3, 4], [2, 2, 2])
    call array%from_array(data, options)
    call part%slice_of(array, [2_int64, 1_int64, 3_int64], [4_int64, 6_int64, 5_int64], options)
    call check_equal(part, data(2:4, :, 3:5), 'an array of a slice')
    options%cparams%compcode = BLOSC_ZSTD
    call copied%copy_of(array, options)
    call check_equal(copied, data, 'a copy')
    call both%concatenation_of(part, part, 1)
    call check_equal(both, numbers_twice(data(2:4, :, 3:5)), 'a concatenation')
    call part%extend(part, 3)
    call check(all(part%shape() == [3, 6, 6]), 'an array that was extended by itself')
    call array%get_slice_nchunks([1_int64, 1_int64, 1_int64], [5_int64, 1_int64, 1_int64], chunks)
    call check(all(chunks == [1_int64, 2_int64, 3_int64]), 'chunks along the first dimension')
    call array%get_slice_nchunks([1_int64, 4_int64, 5_int64], [1_int64, 4_int64, 5_int64], chunks)
    call check(size(chunks) == 1 .and. chunks(1) == 10, 'the chunk of an item')
    call both%concatenation_of(array, part, 1, stat=stat)
    call check(stat < 0 .and. .not. both%is_open(), 'arrays that do not fit')
    call both%concatenation_of(array, array, 4, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'along a fourth dimension')
    call array%extend(part, 1, stat)
    call check(stat < 0, 'extending by an array that does not fit')
    call part%slice_of(array, [2_int64, 1_int64, 3_int64], [4_int64, 7_int64, 5_int64], stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'a slice out of bounds')
  end subroutine

  function numbers_twice(items) result(twice)
    integer(int32), intent(in) :: items(:, :, :)
    integer(int32) :: twice(2*size(items, 1), size(items, 2), size(items, 3))

    twice(:size(items, 1), :, :) = items
    twice(size(items, 1) + 1:, :, :) = items
  end function

  subroutine views()
    type(b2nd_array) :: array, view
    integer(int32) :: data(1, 4, 1, 3)
    integer :: stat

    data = reshape(numbers(4, 3, 1), [1, 4, 1, 3])
    call array%from_array(data)
    call view%squeeze_of(array)
    call check(all(view%shape() == [4, 3]), 'without dimensions of one item')
    call view%squeeze_of(array, [1])
    call check(all(view%shape() == [4, 1, 3]), 'without the first dimension')
    call check_equal(view, data(1, :, :, :), 'its items')
    call view%squeeze_of(array, [2], stat)
    call check(stat < 0 .and. .not. view%is_open(), 'without a dimension of four items')
    call view%squeeze_of(array, [5], stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'without a fifth dimension')
    call view%expansion_of(array, [.false., .true., .false., .false., .false.])
    call check(all(view%shape() == [1, 1, 4, 1, 3]), 'one dimension more')
    call view%expansion_of(array, [.true., .false.], stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'fewer dimensions')
  end subroutine

  subroutine files()
    type(b2nd_array) :: array, again, third
    type(b2nd_options) :: options
    integer(int32) :: data(6, 5, 4)
    integer(int8), allocatable :: frame(:)
    integer(int64) :: offset
    logical :: changed
    integer :: stat

    data = numbers(6, 5, 4)
    options = parts([3, 3, 2], [2, 2, 2])
    options%urlpath = folder//'array.b2nd'
    call blosc2_remove_urlpath(options%urlpath)
    call array%from_array(data, options)
    call again%open(options%urlpath)
    call check_equal(again, data, 'an array in a file')
    call array%resize([6_int64, 5_int64, 5_int64])
    call again%refresh(changed)
    call check(changed .and. all(again%shape() == [6, 5, 5]), 'the shape set by another handle')
    call array%resize([6_int64, 5_int64, 4_int64])
    call again%from_array(data, options, stat=stat)
    call check(stat < 0 .and. .not. again%is_open(), 'an array at an existing path')

    options%urlpath = folder//'array-directory.b2nd'
    options%contiguous = .false.
    call blosc2_remove_urlpath(options%urlpath)
    call again%copy_of(array, options)
    call third%open(options%urlpath)
    call check_equal(third, data, 'an array in a directory')
    call blosc2_remove_urlpath(options%urlpath)

    call blosc2_remove_urlpath(folder//'saved.b2nd')
    call array%save(folder//'saved.b2nd')
    call array%save_append(folder//'saved.b2nd', offset)
    call again%open(folder//'saved.b2nd', offset)
    call check(offset > 0, 'after another frame')
    call check_equal(again, data, 'an array after another')
    call array%to_frame(frame)
    call again%from_frame(frame)
    call check_equal(again, data, 'an array in a frame')
    call again%from_frame(frame(:50), stat)
    call check(stat < 0 .and. .not. again%is_open(), 'part of a frame')
    call again%open('/nonexistent/file', stat=stat)
    call check_stat(stat, BLOSC2_ERROR_NULL_POINTER, 'no file')
    call array%save('/nonexistent/file', stat)
    call check(stat < 0, 'a file where none can be')
  end subroutine

  subroutine metalayers()
    type(b2nd_array) :: array
    type(blosc2_schunk) :: schunk
    type(b2nd_options) :: options
    character(:), allocatable :: text
    integer(int8), allocatable :: bytes(:)

    allocate (options%metalayers(2))
    options%metalayers(1)%name = 'units'
    options%metalayers(1)%content = transfer('kelvin', [0_int8])
    options%metalayers(2)%name = 'empty'
    allocate (options%metalayers(2)%content(0))
    call array%zeros('<f4', [10_int64], options)
    call array%schunk(schunk)
    call check(all(schunk%meta_names() == ['b2nd ', 'units', 'empty']), 'fixed metalayers')
    call schunk%meta_get('units', text)
    call check(text == 'kelvin', 'a text')
    call schunk%meta_get('empty', bytes)
    call check(size(bytes) == 0, 'nothing')
    call schunk%vlmeta_add_text('history', 'zeros')
    call schunk%vlmeta_get('history', text)
    call check(text == 'zeros', 'a metalayer of variable length')
  end subroutine

  subroutine empty_arrays()
    type(b2nd_array) :: array
    real(real64) :: nothing(0, 4), one, data(0)
    integer :: stat

    call array%from_array(nothing)
    call check(array%nitems() == 0 .and. all(array%shape() == [0, 4]), 'no items')
    call array%to_array(nothing)
    call array%get_slice([1_int64, 1_int64], [0_int64, 4_int64], nothing)
    call array%get_slice([1_int64, 1_int64], [1_int64, 4_int64], nothing, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'items of an empty array')
    one = 3
    call array%from_array(one)
    call check(array%ndim() == 0 .and. array%nitems() == 1, 'a scalar')
    one = 0
    call array%to_array(one)
    call check(one == 3, 'its value')
    call array%zeros('<f8', [5_int64])
    call array%get_slice([3_int64], [2_int64], data, stat)
    call check_stat(stat, 0, 'a slice of nothing')
  end subroutine

  subroutine errors_without_array()
    type(b2nd_array) :: none, other
    type(b2nd_indices) :: selection(1)
    type(blosc2_schunk) :: schunk
    integer(int8), allocatable :: frame(:)
    integer(int64), allocatable :: chunks(:)
    real(real64) :: data(2)
    integer :: codes(23)

    data = 0
    codes = 0
    call other%slice_of(none, [1_int64], [1_int64], stat=codes(1))
    call other%copy_of(none, stat=codes(2))
    call other%concatenation_of(none, none, 1, stat=codes(3))
    call other%squeeze_of(none, stat=codes(4))
    call other%expansion_of(none, [.true.], codes(5))
    call none%to_frame(frame, codes(6))
    call none%save('x', codes(7))
    call none%save_append('x', stat=codes(8))
    call none%refresh(stat=codes(9))
    call none%to_array(data, codes(10))
    call none%get_slice([1_int64], [1_int64], data, codes(11))
    call none%set_slice([1_int64], [1_int64], data, codes(12))
    call none%get_sparse([1_int64], data, codes(13))
    call none%get_selection(selection, data, codes(14))
    call none%set_selection(selection, data, codes(15))
    call none%resize([1_int64], stat=codes(16))
    call none%append(data, 1, codes(17))
    call none%insert(data, 1, 1_int64, codes(18))
    call none%delete(1, 1_int64, 1_int64, codes(19))
    call none%extend(none, 1, codes(20))
    call none%schunk(schunk, codes(21))
    call none%get_slice_nchunks([1_int64], [1_int64], chunks, codes(22))
    call other%from_schunk(schunk, codes(23))
    call check(all(codes == BLOSC2_ERROR_NULL_POINTER), 'every procedure without array')
    call check(none%ndim() == 0 .and. none%nitems() == 0 .and. none%itemsize() == 0, 'no facts')
    call check(size(none%shape()) + size(none%chunkshape()) + size(none%blockshape()) == 0, 'no shapes')
    call check(none%dtype() == '' .and. .not. other%is_open(), 'no type')
  end subroutine

  subroutine other_errors()
    type(b2nd_array) :: array
    type(b2nd_options) :: options
    integer(int16) :: data(4, 3), turned(3, 4)
    real(real32) :: wrong(4, 3)
    integer(int64) :: many(17)
    integer :: stat

    data = 1_int16
    call array%from_array(data, parts([4], [4]), stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a chunk of one dimension')
    call array%from_array(data, parts([4, 3], [4]), stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a block of one dimension')
    call array%zeros('<i2', [-1_int64], stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a negative shape')
    many = 1
    call array%zeros('<i2', many, stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'seventeen dimensions')
    call array%zeros('<i2', many(:16), stat=stat)
    call check_stat(stat, 0, 'sixteen dimensions')
    call array%full([1, 2], [4_int64], stat=stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'two values')
    options%cparams%filters(1) = 99
    call array%from_array(data, options, stat=stat)
    call check(stat < 0 .and. .not. array%is_open(), 'an unknown filter')
    call array%nans('<i2', [4_int64], stat=stat)
    call check(stat < 0, 'NaNs of two bytes')

    call array%from_array(data)
    call array%to_array(turned, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a reversed shape')
    call array%to_array(wrong, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'items of another size')
    call array%get_slice([1_int64], [4_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'one dimension')
    call array%get_slice([2_int64, 1_int64], [5_int64, 3_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'row 5')
    call array%set_slice([0_int64, 1_int64], [3_int64, 3_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_INDEX, 'row 0')
    call array%set_slice([2_int64, 1_int64], [4_int64, 3_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'four rows into three')
    call array%get_slice([4_int64, 1_int64], [2_int64, 3_int64], data, stat)
    call check_stat(stat, BLOSC2_ERROR_INVALID_PARAM, 'a slice that ends before it begins')
  end subroutine
end program arrays
