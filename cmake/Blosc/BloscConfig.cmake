# The CMake package of libblosc, with the names that find modules for C-Blosc 1.x give. The original
# has no package.
#
#   find_package(Blosc 1.21 CONFIG REQUIRED)
#   target_link_libraries(program Blosc::blosc)
#
# Targets: blosc_shared, blosc_static, and Blosc::blosc, which is the shared library unless only the
# static one is installed.

include(CMakeFindDependencyMacro)
find_dependency(Threads)

# <prefix>/lib/cmake/Blosc/BloscConfig.cmake
get_filename_component(_blosc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET blosc_shared AND EXISTS "${_blosc_prefix}/lib/libblosc.so")
  add_library(blosc_shared SHARED IMPORTED)
  set_target_properties(blosc_shared PROPERTIES
    IMPORTED_LOCATION "${_blosc_prefix}/lib/libblosc.so"
    IMPORTED_SONAME "libblosc.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc_prefix}/include")
endif()

if(NOT TARGET blosc_static AND EXISTS "${_blosc_prefix}/lib/libblosc.a")
  add_library(blosc_static STATIC IMPORTED)
  set_target_properties(blosc_static PROPERTIES
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    IMPORTED_LOCATION "${_blosc_prefix}/lib/libblosc.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()

if(NOT TARGET Blosc::blosc)
  add_library(Blosc::blosc INTERFACE IMPORTED)
  if(TARGET blosc_shared)
    set_target_properties(Blosc::blosc PROPERTIES INTERFACE_LINK_LIBRARIES blosc_shared)
  else()
    set_target_properties(Blosc::blosc PROPERTIES INTERFACE_LINK_LIBRARIES blosc_static)
  endif()
endif()

set(Blosc_INCLUDE_DIR "${_blosc_prefix}/include")
set(Blosc_INCLUDE_DIRS "${Blosc_INCLUDE_DIR}")
set(Blosc_LIBRARY Blosc::blosc)
set(Blosc_LIBRARIES Blosc::blosc)
unset(_blosc_prefix)
