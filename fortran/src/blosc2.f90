! Blosc2 for Fortran: chunks, contexts, super-chunks and arrays, in memory and on disk. Programs
! need only `use blosc2`; the modules `blosc2_c_chunk`, `blosc2_c_schunk`, `blosc2_c_b2nd` and
! `blosc2_c_plugin` contain the C functions.
module blosc2
  use b2nd_constants
  use blosc_shared
  use blosc2_arrays
  use blosc2_chunk
  use blosc2_constants
  use blosc2_context
  use blosc2_status, only: blosc2_error_string
  use blosc2_superchunk
  use blosc2_types
  implicit none
  public
end module blosc2
