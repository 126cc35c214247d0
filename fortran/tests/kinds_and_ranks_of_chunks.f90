! Tests that arrays of every numeric kind and rank, and scalars, round-trip through Blosc2 and Blosc
! 1.x chunks.
program kinds_and_ranks_of_chunks
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use blosc, only: blosc_compress_ctx, blosc_decompress
  use blosc2, only: blosc2_cctx, blosc2_compress, blosc2_cparams, blosc2_dctx, blosc2_decompress
  use blosc_support, only: blosc_buffer, blosc_describe
  use checks, only: check, finish
  implicit none

  integer, parameter :: ITEMS = 3*2**14

  call all_ranks_of_int8()
  call all_ranks_of_int16()
  call all_ranks_of_int32()
  call all_ranks_of_int64()
  call all_ranks_of_real32()
  call all_ranks_of_real64()
  call all_ranks_of_complex32()
  call all_ranks_of_complex64()
  call finish('kinds_and_ranks_of_chunks')

contains

  subroutine round_trip(source, back, label)
    type(*), dimension(..), intent(in), contiguous, target :: source
    type(*), dimension(..), intent(inout), contiguous, target :: back
    character(*), intent(in) :: label
    type(blosc2_cctx) :: cctx
    type(blosc2_dctx) :: dctx
    type(blosc2_cparams) :: cparams
    type(blosc_buffer) :: facts
    integer(int8), allocatable :: chunk(:), by_context(:), old(:)
    integer :: nbytes

    call blosc_describe(source, facts)
    cparams%typesize = int(facts%item_size)
    call cctx%create(cparams)
    call dctx%create()
    call cctx%compress(source, by_context)
    call blosc2_compress(source, chunk)
    call blosc_compress_ctx(source, old, compressor='lz4', doshuffle=2)
    call blosc_decompress(old, back, nbytes)
    call check(nbytes == facts%items*facts%item_size, label//' size in Blosc 1.x')
    call blosc2_decompress(chunk, back, nbytes)
    call check(nbytes == facts%items*facts%item_size, label//' size')
    call dctx%decompress(by_context, back, nbytes)
    call check(nbytes == facts%items*facts%item_size, label//' size by context')
  end subroutine

  subroutine all_ranks_of_int8()
    integer(int8), allocatable, target :: flat(:), back(:)
    integer(int8), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    integer(int8), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    integer(int8), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int8), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'int8'
    integer :: i

    flat = [(int(modulo(i, 100), int8), i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_int16()
    integer(int16), allocatable, target :: flat(:), back(:)
    integer(int16), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    integer(int16), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    integer(int16), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int16), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'int16'
    integer :: i

    flat = [(int(modulo(i*7, 30000), int16), i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_int32()
    integer(int32), allocatable, target :: flat(:), back(:)
    integer(int32), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    integer(int32), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    integer(int32), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int32), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'int32'
    integer :: i

    flat = [(i*1000, i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_int64()
    integer(int64), allocatable, target :: flat(:), back(:)
    integer(int64), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    integer(int64), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    integer(int64), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    integer(int64), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'int64'
    integer :: i

    flat = [(i*10_int64**9, i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_real32()
    real(real32), allocatable, target :: flat(:), back(:)
    real(real32), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    real(real32), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    real(real32), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    real(real32), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    real(real32), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'real32'
    integer :: i

    flat = [(real(i, real32)/7, i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_real64()
    real(real64), allocatable, target :: flat(:), back(:)
    real(real64), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    real(real64), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    real(real64), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    real(real64), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    real(real64), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'real64'
    integer :: i

    flat = [(real(i, real64)/7, i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_complex32()
    complex(real32), allocatable, target :: flat(:), back(:)
    complex(real32), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    complex(real32), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    complex(real32), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real32), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'complex32'
    integer :: i

    flat = [(cmplx(i, -i, real32), i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine

  subroutine all_ranks_of_complex64()
    complex(real64), allocatable, target :: flat(:), back(:)
    complex(real64), pointer :: a1(:), b1(:), a2(:,:), b2(:,:), a3(:,:,:), b3(:,:,:), a4(:,:,:,:), b4(:,:,:,:)
    complex(real64), pointer :: a5(:,:,:,:,:), b5(:,:,:,:,:), a6(:,:,:,:,:,:), b6(:,:,:,:,:,:)
    complex(real64), pointer :: a7(:,:,:,:,:,:,:), b7(:,:,:,:,:,:,:), a8(:,:,:,:,:,:,:,:), b8(:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a9(:,:,:,:,:,:,:,:,:), b9(:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a10(:,:,:,:,:,:,:,:,:,:), b10(:,:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a11(:,:,:,:,:,:,:,:,:,:,:), b11(:,:,:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a12(:,:,:,:,:,:,:,:,:,:,:,:), b12(:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a13(:,:,:,:,:,:,:,:,:,:,:,:,:), b13(:,:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a14(:,:,:,:,:,:,:,:,:,:,:,:,:,:), b14(:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    complex(real64), pointer :: a15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:), b15(:,:,:,:,:,:,:,:,:,:,:,:,:,:,:)
    character(*), parameter :: label = 'complex64'
    integer :: i

    flat = [(cmplx(i, 0.5_real64*i, real64), i=1, ITEMS)]
    back = flat
    include 'ranks.inc'
  end subroutine
end program kinds_and_ranks_of_chunks
