# A typical find module for C-Blosc 1.x, which has no CMake package: it searches for the header and
# the library, and reads the version from the header. Like OpenVDB's module, it matches a number
# only if a space follows.

find_path(Blosc_INCLUDE_DIR blosc.h)
find_library(Blosc_LIBRARY_RELEASE NAMES blosc libblosc)
find_library(Blosc_LIBRARY_DEBUG NAMES blosc_d libblosc_d)

if(Blosc_INCLUDE_DIR AND EXISTS "${Blosc_INCLUDE_DIR}/blosc.h")
  file(STRINGS "${Blosc_INCLUDE_DIR}/blosc.h" _version REGEX "^#define[ \t]+BLOSC_VERSION_STRING[ \t]+\".*\"")
  string(REGEX REPLACE "^#define[ \t]+BLOSC_VERSION_STRING[ \t]+\"([^\"]*)\".*$" "\\1" Blosc_VERSION "${_version}")
  unset(_version)
  foreach(_part MAJOR MINOR RELEASE)
    file(STRINGS "${Blosc_INCLUDE_DIR}/blosc.h" _line REGEX "#define BLOSC_VERSION_${_part} +[0-9]+ ")
    string(REGEX REPLACE "#define [A-Z_]+ +([0-9]+) .*" "\\1" Blosc_VERSION_${_part} "${_line}")
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Blosc
  REQUIRED_VARS Blosc_LIBRARY_RELEASE Blosc_INCLUDE_DIR
  VERSION_VAR Blosc_VERSION)

if(Blosc_FOUND AND NOT TARGET Blosc::blosc)
  set(Blosc_INCLUDE_DIRS ${Blosc_INCLUDE_DIR})
  set(Blosc_RELEASE_LIBRARIES ${Blosc_LIBRARY_RELEASE})
  set(Blosc_LIBRARIES ${Blosc_LIBRARY_RELEASE})
  add_library(Blosc::blosc UNKNOWN IMPORTED)
  set_target_properties(Blosc::blosc PROPERTIES
    IMPORTED_LOCATION "${Blosc_LIBRARY_RELEASE}"
    INTERFACE_INCLUDE_DIRECTORIES "${Blosc_INCLUDE_DIR}")
endif()
