# The imported targets of libblosc2; Blosc2Config.cmake includes this file.

if(TARGET Blosc2::blosc2)
  return()
endif()

# <prefix>/lib/cmake/Blosc2/Blosc2Targets.cmake
get_filename_component(_blosc2_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(EXISTS "${_blosc2_prefix}/lib/libblosc2.so")
  add_library(Blosc2::blosc2_shared SHARED IMPORTED)
  set_target_properties(Blosc2::blosc2_shared PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc2_prefix}/include")
endif()

if(EXISTS "${_blosc2_prefix}/lib/libblosc2.a")
  add_library(Blosc2::blosc2_static STATIC IMPORTED)
  set_target_properties(Blosc2::blosc2_static PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_blosc2_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()

file(GLOB _blosc2_configurations "${CMAKE_CURRENT_LIST_DIR}/Blosc2Targets-*.cmake")
foreach(_blosc2_configuration IN LISTS _blosc2_configurations)
  include("${_blosc2_configuration}")
endforeach()

add_library(Blosc2::blosc2 INTERFACE IMPORTED)
if(TARGET Blosc2::blosc2_shared)
  set_target_properties(Blosc2::blosc2 PROPERTIES
    INTERFACE_LINK_LIBRARIES Blosc2::blosc2_shared)
else()
  set_target_properties(Blosc2::blosc2 PROPERTIES
    INTERFACE_LINK_LIBRARIES Blosc2::blosc2_static)
endif()

unset(_blosc2_prefix)
unset(_blosc2_configuration)
unset(_blosc2_configurations)
