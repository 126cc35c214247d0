//! The installed files, and their use by clients with pkg-config and CMake.

use ferroblosc_capi_testing::packaging::{Package, installed};

const BLOSC: Package = Package {
    name: "blosc",
    files: ["libblosc.so", "libblosc.so.1", "libblosc.so.1.21.6"],
    version: "1.21.6",
};

const CLIENT: &str = "c-tests/blosc1/cmake";
const TARGETS: [&str; 3] = ["Blosc::blosc", "blosc_shared", "blosc_static"];

#[test]
fn row_d10_the_tree_has_the_names_and_links_of_c_blosc() {
    BLOSC.assert_files(
        &installed("files"),
        &["libblosc.a", "../include/blosc.h", "../include/blosc-export.h"],
    );
}

#[test]
fn pkg_config_finds_both_libraries() {
    let variables = ["prefix", "exec_prefix", "libdir", "sharedlibdir", "includedir"];
    BLOSC.assert_pkg_config(&variables, "c-tests/blosc1/calls.c");
}

#[test]
fn cmake_links_the_shared_library_unless_there_is_only_the_static_one() {
    BLOSC.assert_cmake(CLIENT, TARGETS);
}

#[test]
fn cmake_finds_the_package_through_a_link_to_the_library_directory() {
    BLOSC.assert_cmake_through_a_link(CLIENT, TARGETS);
}
