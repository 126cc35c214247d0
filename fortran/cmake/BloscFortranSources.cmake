# The sources of the two libraries and the module directory of a compiler, for the build and for
# projects that build the libraries because their compiler cannot read the installed modules.

# Sources of both libraries.
set(BLOSC_FORTRAN_COMMON_SOURCES
  blosc_buffer.c
  blosc_shared.f90
  blosc_support.f90)

set(BLOSC_FORTRAN_SOURCES
  blosc.f90
  blosc_c.f90
  blosc_constants.f90)

set(BLOSC2_FORTRAN_SOURCES
  b2nd_constants.f90
  blosc2.f90
  blosc2_arrays.f90
  blosc2_arrays_data.f90
  blosc2_arrays_facts.f90
  blosc2_arrays_make.f90
  blosc2_arrays_shape.f90
  blosc2_c_b2nd.f90
  blosc2_c_chunk.f90
  blosc2_c_plugin.f90
  blosc2_c_schunk.f90
  blosc2_chunk.f90
  blosc2_constants.f90
  blosc2_context.f90
  blosc2_ownership.f90
  blosc2_status.f90
  blosc2_storage_parts.f90
  blosc2_superchunk.f90
  blosc2_superchunk_data.f90
  blosc2_superchunk_facts.f90
  blosc2_superchunk_meta.f90
  blosc2_superchunk_store.f90
  blosc2_types.f90)

# Returns the name of the directory with modules for the current Fortran compiler. The module format
# of gfortran has a version that several compiler versions share.
function(blosc_fortran_module_folder result)
  string(REGEX MATCH "^[0-9]+" major "${CMAKE_Fortran_COMPILER_VERSION}")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    if(major LESS 15)
      set(${result} gfortran-mod-15 PARENT_SCOPE)
    else()
      set(${result} gfortran-mod-16 PARENT_SCOPE)
    endif()
  else()
    string(TOLOWER "${CMAKE_Fortran_COMPILER_ID}-${major}" folder)
    set(${result} "${folder}" PARENT_SCOPE)
  endif()
endfunction()
