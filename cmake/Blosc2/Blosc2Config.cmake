# The CMake package of libblosc2, with the targets and variables of C-Blosc2's package.
#
#   find_package(Blosc2 3 CONFIG REQUIRED)
#   target_link_libraries(program Blosc2::blosc2)
#
# Targets: Blosc2::blosc2_shared, Blosc2::blosc2_static, and Blosc2::blosc2, which is the shared
# library unless only the static one is installed.
# Components: THREADS, LZ4, ZLIB, ZSTD, IPP, ZFP.

include(CMakeFindDependencyMacro)
find_dependency(Threads)

# The build configuration. All codecs are built in; no system library is used.
set(HAVE_THREADS TRUE)
set(HAVE_LZ4_CONFIG FALSE)
set(HAVE_ZLIB_NG FALSE)
set(HAVE_ZLIB_NG_CONFIG FALSE)
set(HAVE_ZSTD_CONFIG FALSE)
set(HAVE_IPP FALSE)
set(HAVE_ZFP TRUE)
set(DEACTIVATE_IPP TRUE)
set(DEACTIVATE_ZLIB FALSE)
set(DEACTIVATE_ZSTD FALSE)
set(PREFER_EXTERNAL_LZ4 FALSE)
set(PREFER_EXTERNAL_ZLIB FALSE)
set(PREFER_EXTERNAL_ZSTD FALSE)
set(BLOSC_DEPENDENCY_MODE "BUNDLED")
set(BLOSC_ZFP_PROVIDER "bundled")
set(LZ4_FETCHED FALSE)
set(ZLIB_NG_FETCHED FALSE)
set(ZSTD_FETCHED FALSE)

# The supported components.
set(Blosc2_THREADS_FOUND TRUE)
set(Blosc2_LZ4_FOUND TRUE)
set(Blosc2_ZLIB_FOUND TRUE)
set(Blosc2_ZSTD_FOUND TRUE)
# Intel's IPP only makes C-Blosc2's LZ4 faster. The component is found, because this library has
# LZ4.
set(Blosc2_IPP_FOUND TRUE)
set(Blosc2_ZFP_FOUND TRUE)

include("${CMAKE_CURRENT_LIST_DIR}/Blosc2Targets.cmake")

foreach(_blosc2_component IN LISTS Blosc2_FIND_COMPONENTS)
  if(Blosc2_FIND_REQUIRED_${_blosc2_component} AND NOT Blosc2_${_blosc2_component}_FOUND)
    set(Blosc2_FOUND FALSE)
    set(Blosc2_NOT_FOUND_MESSAGE "libblosc2 has no component ${_blosc2_component}")
  endif()
endforeach()
unset(_blosc2_component)
