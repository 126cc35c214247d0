! Super-chunks: metalayers.
!
! The library exports no functions that find or read fixed metalayers, so these procedures read the
! C struct.
submodule (blosc2_superchunk) blosc2_superchunk_meta
  implicit none

contains

  module procedure schunk_meta_exists
    exists = associated(find_meta(self, name))
  end procedure

  module procedure schunk_meta_names
    type(c_blosc2_schunk), pointer :: facts
    type(blosc2_metalayer), pointer :: layer
    integer :: i

    if (.not. self%is_open()) then
      allocate (names(0))
      return
    end if
    call c_f_pointer(self%c_pointer(), facts)
    allocate (names(facts%nmetalayers))
    do i = 1, size(names)
      call c_f_pointer(facts%metalayers(i), layer)
      names(i) = text_from_c(layer%name)
    end do
  end procedure

  module procedure schunk_meta_add
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(content, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(source)
    if (code >= 0) code = c_blosc2_meta_add(self%c_pointer(), trim(name)//c_null_char, source%address, code)
    call settle(code, 'blosc2_schunk%meta_add', stat)
  end procedure

  module procedure schunk_meta_add_text
    call self%meta_add(name, bytes_of(text), stat=stat)
  end procedure

  module procedure schunk_meta_update
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(content, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(source)
    if (code >= 0) code = c_blosc2_meta_update(self%c_pointer(), trim(name)//c_null_char, source%address, code)
    call settle(code, 'blosc2_schunk%meta_update', stat)
  end procedure

  module procedure schunk_meta_update_text
    call self%meta_update(name, bytes_of(text), stat=stat)
  end procedure

  module procedure schunk_meta_read
    integer(c_int8_t), allocatable :: bytes(:)
    integer(c_int) :: code

    call get_meta(self, name, bytes, code)
    if (code == 0) code = copy_bytes(bytes, content)
    call settle(code, 'blosc2_schunk%meta_read', stat)
  end procedure

  module procedure schunk_meta_get_bytes
    integer(c_int) :: code

    call get_meta(self, name, content, code)
    call settle(code, 'blosc2_schunk%meta_get', stat)
  end procedure

  module procedure schunk_meta_get_text
    integer(c_int8_t), allocatable :: bytes(:)
    integer(c_int) :: code

    call get_meta(self, name, bytes, code)
    content = text_of(bytes)
    call settle(code, 'blosc2_schunk%meta_get', stat)
  end procedure

  module procedure schunk_vlmeta_exists
    exists = .false.
    if (self%is_open()) exists = c_blosc2_vlmeta_exists(self%c_pointer(), trim(name)//c_null_char) >= 0
  end procedure

  module procedure schunk_vlmeta_names
    type(c_blosc2_schunk), pointer :: facts
    type(c_ptr), allocatable :: addresses(:)
    integer(c_int) :: found
    integer :: i

    found = 0
    if (self%is_open()) then
      call c_f_pointer(self%c_pointer(), facts)
      allocate (addresses(facts%nvlmetalayers))
      found = c_blosc2_vlmeta_get_names(self%c_pointer(), addresses)
    end if
    allocate (names(max(found, 0)))
    do i = 1, size(names)
      names(i) = text_from_c(addresses(i))
    end do
  end procedure

  module procedure schunk_vlmeta_add
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(content, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(source)
    if (code >= 0) code = c_blosc2_vlmeta_add(self%c_pointer(), trim(name)//c_null_char, source%address, code, cparams)
    call settle(code, 'blosc2_schunk%vlmeta_add', stat)
  end procedure

  module procedure schunk_vlmeta_add_text
    call self%vlmeta_add(name, bytes_of(text), cparams, stat=stat)
  end procedure

  module procedure schunk_vlmeta_update
    type(blosc_buffer) :: source
    integer(c_int) :: code

    call blosc_describe(content, source)
    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = chunk_bytes(source)
    if (code >= 0) then
      code = c_blosc2_vlmeta_update(self%c_pointer(), trim(name)//c_null_char, source%address, code, cparams)
    end if
    call settle(code, 'blosc2_schunk%vlmeta_update', stat)
  end procedure

  module procedure schunk_vlmeta_update_text
    call self%vlmeta_update(name, bytes_of(text), cparams, stat=stat)
  end procedure

  module procedure schunk_vlmeta_delete
    integer(c_int) :: code

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_vlmeta_delete(self%c_pointer(), trim(name)//c_null_char)
    call settle(code, 'blosc2_schunk%vlmeta_delete', stat)
  end procedure

  module procedure schunk_vlmeta_read
    integer(c_int8_t), allocatable :: bytes(:)
    integer(c_int) :: code

    call get_vlmeta(self, name, bytes, code)
    if (code == 0) code = copy_bytes(bytes, content)
    call settle(code, 'blosc2_schunk%vlmeta_read', stat)
  end procedure

  module procedure schunk_vlmeta_get_bytes
    integer(c_int) :: code

    call get_vlmeta(self, name, content, code)
    call settle(code, 'blosc2_schunk%vlmeta_get', stat)
  end procedure

  module procedure schunk_vlmeta_get_text
    integer(c_int8_t), allocatable :: bytes(:)
    integer(c_int) :: code

    call get_vlmeta(self, name, bytes, code)
    content = text_of(bytes)
    call settle(code, 'blosc2_schunk%vlmeta_get', stat)
  end procedure

  ! Returns the fixed metalayer of a name, which belongs to the super-chunk; null if there is none.
  function find_meta(self, name) result(found)
    class(blosc2_schunk), intent(in) :: self
    character(*), intent(in) :: name
    type(blosc2_metalayer), pointer :: found
    type(c_blosc2_schunk), pointer :: facts
    integer :: i

    found => null()
    if (.not. self%is_open()) return
    call c_f_pointer(self%c_pointer(), facts)
    do i = 1, facts%nmetalayers
      call c_f_pointer(facts%metalayers(i), found)
      if (text_from_c(found%name) == name) return
    end do
    found => null()
  end function

  ! Returns the bytes of a fixed metalayer; empty on an error.
  subroutine get_meta(self, name, bytes, code)
    class(blosc2_schunk), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int8_t), allocatable, intent(out) :: bytes(:)
    integer(c_int), intent(out) :: code
    type(blosc2_metalayer), pointer :: layer

    code = BLOSC2_ERROR_NULL_POINTER
    layer => find_meta(self, name)
    if (associated(layer)) then
      code = BLOSC2_ERROR_SUCCESS
      call bytes_from_c(layer%content, int(layer%content_len, c_int64_t), bytes)
    else
      if (self%is_open()) code = BLOSC2_ERROR_METALAYER_NOT_FOUND
      allocate (bytes(0))
    end if
  end subroutine

  ! Returns the bytes of a variable-length metalayer; empty on an error.
  subroutine get_vlmeta(self, name, bytes, code)
    class(blosc2_schunk), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int8_t), allocatable, intent(out) :: bytes(:)
    integer(c_int), intent(out) :: code
    type(c_ptr) :: address
    integer(c_int32_t) :: length

    code = BLOSC2_ERROR_NULL_POINTER
    if (self%is_open()) code = c_blosc2_vlmeta_get(self%c_pointer(), trim(name)//c_null_char, address, length)
    if (code >= 0) then
      code = BLOSC2_ERROR_SUCCESS
      call bytes_from_c(address, int(length, c_int64_t), bytes)
      call free_c(address)
    else
      allocate (bytes(0))
    end if
  end subroutine

  ! Copies bytes to an array of the same size.
  function copy_bytes(bytes, content) result(code)
    integer(c_int8_t), intent(in) :: bytes(:)
    type(*), dimension(..), intent(inout), contiguous, target :: content
    integer(c_int) :: code
    type(blosc_buffer) :: output
    integer(c_int8_t), pointer :: target_bytes(:)

    call blosc_describe(content, output)
    code = BLOSC2_ERROR_INVALID_PARAM
    if (chunk_bytes(output) /= size(bytes)) return
    code = BLOSC2_ERROR_SUCCESS
    call c_f_pointer(output%address, target_bytes, [size(bytes)])
    target_bytes = bytes
  end function

  ! Converts a string to bytes. The compiler's descriptor of a string expression lacks its length,
  ! so strings are not passed as arguments of any type.
  function bytes_of(text) result(bytes)
    character(*), intent(in) :: text
    integer(c_int8_t) :: bytes(len(text))

    bytes = transfer(text, bytes)
  end function

  function text_of(bytes) result(text)
    integer(c_int8_t), intent(in) :: bytes(:)
    character(:), allocatable :: text

    allocate (character(size(bytes)) :: text)
    text = transfer(bytes, text)
  end function
end submodule blosc2_superchunk_meta
