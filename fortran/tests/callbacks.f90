! Tests of C callbacks implemented in Fortran: a prefilter, a postfilter and a user-defined filter,
! registered through the interfaces of the C functions; and of super-chunks and arrays created by C
! functions.
module callback_functions
  use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_int32_t, c_int64_t, c_int8_t, c_ptr
  use blosc2_types, only: blosc2_postfilter_params, blosc2_prefilter_params
  implicit none

contains

  ! Doubles each number of a block.
  function doubling(params) result(code) bind(c)
    type(blosc2_prefilter_params), intent(in) :: params
    integer(c_int) :: code
    integer(c_int32_t), pointer :: input(:), output(:)

    call c_f_pointer(params%input, input, [params%output_size/4])
    call c_f_pointer(params%output, output, [params%output_size/4])
    output = 2*input
    code = 0
  end function

  ! Adds the first number of the user's data, and the number of the item.
  function counting(params) result(code) bind(c)
    type(blosc2_postfilter_params), intent(in) :: params
    integer(c_int) :: code
    integer(c_int32_t), pointer :: input(:), output(:), added
    integer :: i

    call c_f_pointer(params%user_data, added)
    call c_f_pointer(params%input, input, [params%size/4])
    call c_f_pointer(params%output, output, [params%size/4])
    do i = 1, size(input)
      output(i) = input(i) + added + params%offset/4 + i
    end do
    code = 0
  end function

  ! A filter that inverts the bits of each byte; it is its own inverse.
  function turn(input, output, length, meta, params, id) result(code) bind(c)
    type(c_ptr), value :: input, output, params
    integer(c_int32_t), value :: length
    integer(c_int8_t), value :: meta, id
    integer(c_int) :: code
    integer(c_int8_t), pointer :: from(:), to(:)

    call c_f_pointer(input, from, [length])
    call c_f_pointer(output, to, [length])
    to = not(from)
    ! The library passes the meta byte and the id of the filter, and the parameters.
    code = merge(0, -1, meta == 5 .and. iand(int(id), 255) == 200 .and. c_associated(params))
  end function
end module callback_functions

program callbacks
  use, intrinsic :: iso_c_binding, only: c_char, c_funloc, c_int8_t, c_loc, c_null_char, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, int8
  use blosc2
  use blosc2_c_plugin, only: c_blosc2_register_filter
  use blosc2_c_schunk, only: c_blosc2_schunk_open
  use callback_functions
  use checks, only: argument, check, finish
  implicit none

  call filters_of_blocks()
  call filter_of_the_user()
  call super_chunk_from_c(argument(1)//'/from-c.b2frame')
  call finish('callbacks')

contains

  subroutine filters_of_blocks()
    type(blosc2_cparams) :: cparams
    type(blosc2_dparams) :: dparams
    type(blosc2_prefilter_params), target :: pre
    type(blosc2_postfilter_params), target :: post
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    integer(int8), allocatable :: chunk(:)
    integer(int32), target :: added
    integer(int32), allocatable :: data(:), back(:)
    integer :: i

    allocate (data(20000), back(20000))
    data = [(i, i=1, size(data))]
    added = 100
    cparams%typesize = 4
    cparams%prefilter = c_funloc(doubling)
    cparams%preparams = c_loc(pre)
    call cctx%create(cparams)
    call cctx%compress(data, chunk)
    call blosc2_decompress(chunk, back)
    call check(all(back == 2*data), 'numbers doubled by the prefilter')
    post%user_data = c_loc(added)
    dparams%postfilter = c_funloc(counting)
    dparams%postparams = c_loc(post)
    dparams%nthreads = 2
    call dctx%create(dparams)
    call dctx%decompress(chunk, back)
    call check(all(back == 3*data + 100), 'and numbered by the postfilter')
  end subroutine

  subroutine filter_of_the_user()
    type(blosc2_filter), target :: filter
    type(blosc2_cparams) :: cparams
    type(blosc2_cctx) :: cctx
    character(kind=c_char), target, save :: name(5) = ['t', 'u', 'r', 'n', c_null_char]
    integer(int8), allocatable :: chunk(:)
    integer(int32) :: data(1000), back(1000)
    integer :: i

    filter%id = int(200 - 256, c_int8_t)
    filter%name = c_loc(name)
    filter%forward = c_funloc(turn)
    filter%backward = c_funloc(turn)
    call check(c_blosc2_register_filter(filter) == 0, 'registering')
    data = [(i, i=1, size(data))]
    cparams%typesize = 4
    cparams%filters(6) = filter%id
    cparams%filters_meta(6) = 5_int8
    call cctx%create(cparams)
    call cctx%compress(data, chunk)
    call blosc2_decompress(chunk, back)
    call check(all(back == data), 'through a filter of the user')
    cparams%filters_meta(6) = 4_int8
    call cctx%create(cparams)
    call cctx%compress(data, chunk, i)
    call check(i < 0, 'a filter that fails')
  end subroutine

  subroutine super_chunk_from_c(path)
    character(*), intent(in) :: path
    type(blosc2_schunk) :: schunk
    type(c_ptr) :: opened
    integer(int64) :: data(10), back(10)

    data = 11
    call blosc2_remove_urlpath(path)
    call schunk%create(urlpath=path)
    call schunk%append(data)
    opened = c_blosc2_schunk_open(path//c_null_char)
    call schunk%adopt(opened)
    call schunk%decompress_chunk(1_int64, back)
    call check(all(back == data), 'a super-chunk that C opened')
  end subroutine
end program callbacks
