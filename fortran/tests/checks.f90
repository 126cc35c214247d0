! Common code of the test programs: check() counts failures, and finish() stops the program with an
! error if there were any.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int8
  implicit none
  private
  public :: argument, check, check_stat, finish, read_file, write_file

  integer :: failures = 0

contains

  subroutine check(holds, label)
    logical, intent(in) :: holds
    character(*), intent(in) :: label

    if (holds) return
    failures = failures + 1
    write (error_unit, '(a)') 'failed: '//label
  end subroutine

  subroutine check_stat(stat, expected, label)
    integer, intent(in) :: stat, expected
    character(*), intent(in) :: label

    if (stat == expected) return
    failures = failures + 1
    write (error_unit, '(2a, i0, a, i0)') label, ': stat is ', stat, ', not ', expected
  end subroutine

  subroutine finish(program_name)
    character(*), intent(in) :: program_name

    if (failures > 0) then
      write (error_unit, '(a, i0, a)') program_name//': ', failures, ' checks failed'
      error stop 1
    end if
    print '(a)', program_name//': all checks hold'
  end subroutine

  !> Returns argument number `i` of the program.
  function argument(i) result(text)
    integer, intent(in) :: i
    character(:), allocatable :: text
    integer :: length

    call get_command_argument(i, length=length)
    allocate (character(length) :: text)
    call get_command_argument(i, text)
  end function

  subroutine write_file(path, bytes)
    character(*), intent(in) :: path
    integer(int8), intent(in) :: bytes(:)
    integer :: unit

    open (newunit=unit, file=path, access='stream', form='unformatted', status='replace', action='write')
    write (unit) bytes
    close (unit)
  end subroutine

  function read_file(path) result(bytes)
    character(*), intent(in) :: path
    integer(int8), allocatable :: bytes(:)
    integer :: unit, length

    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read')
    inquire (unit=unit, size=length)
    allocate (bytes(length))
    read (unit) bytes
    close (unit)
  end function
end module checks
