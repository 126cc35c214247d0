! Super-chunks: inquiries and locks.
submodule (blosc2_superchunk) blosc2_superchunk_facts
  implicit none

contains

  module procedure schunk_refresh
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_refresh(self%c_pointer())
    if (present(changed)) changed = code > 0
    call settle(code, 'blosc2_schunk%refresh', stat)
  end procedure

  module procedure schunk_lock
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_lock(self%c_pointer())
    call settle(code, 'blosc2_schunk%lock', stat)
  end procedure

  module procedure schunk_unlock
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_unlock(self%c_pointer())
    call settle(code, 'blosc2_schunk%unlock', stat)
  end procedure

  module procedure schunk_nchunks
    type(c_blosc2_schunk), pointer :: facts

    nchunks = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    nchunks = facts%nchunks
  end procedure

  module procedure schunk_nitems
    nitems = self%nbytes()/max(self%typesize(), 1)
  end procedure

  module procedure schunk_nbytes
    type(c_blosc2_schunk), pointer :: facts

    nbytes = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    nbytes = facts%nbytes
  end procedure

  module procedure schunk_cbytes
    type(c_blosc2_schunk), pointer :: facts

    cbytes = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    cbytes = facts%cbytes
  end procedure

  module procedure schunk_typesize
    type(c_blosc2_schunk), pointer :: facts

    typesize = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    typesize = facts%typesize
  end procedure

  module procedure schunk_chunksize
    type(c_blosc2_schunk), pointer :: facts

    chunksize = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    chunksize = facts%chunksize
  end procedure

  module procedure schunk_blocksize
    type(c_blosc2_schunk), pointer :: facts

    blocksize = 0
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    blocksize = facts%blocksize
  end procedure

  module procedure schunk_frame_len
    length = 0
    if (self%is_open()) length = c_blosc2_schunk_frame_len(self%c_pointer())
  end procedure

  module procedure schunk_get_cparams
    type(blosc2_cparams), pointer :: found
    type(c_ptr) :: address
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_get_cparams(self%c_pointer(), address)
    if (code >= 0) then
      call c_f_pointer(address, found)
      cparams = found
      call free_c(address)
    end if
    call settle(code, 'blosc2_schunk%get_cparams', stat)
  end procedure

  module procedure schunk_get_dparams
    type(blosc2_dparams), pointer :: found
    type(c_ptr) :: address
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_schunk_get_dparams(self%c_pointer(), address)
    if (code >= 0) then
      call c_f_pointer(address, found)
      dparams = found
      call free_c(address)
    end if
    call settle(code, 'blosc2_schunk%get_dparams', stat)
  end procedure
end submodule blosc2_superchunk_facts
