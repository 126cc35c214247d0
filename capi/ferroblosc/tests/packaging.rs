//! The installed files, and their use by clients with pkg-config and CMake.

use ferroblosc_capi_testing::packaging::{Package, installed};
use ferroblosc_capi_testing::run;
use std::fs;
use std::process::Command;

const FERROBLOSC: Package = Package {
    name: "ferroblosc",
    files: [
        "libferroblosc.so",
        "libferroblosc.so.0",
        concat!("libferroblosc.so.", env!("CARGO_PKG_VERSION")),
    ],
    version: env!("CARGO_PKG_VERSION"),
};

const CLIENT: &str = "c-tests/ferroblosc/cmake";
const TARGETS: [&str; 3] =
    ["Ferroblosc::ferroblosc", "Ferroblosc::ferroblosc_shared", "Ferroblosc::ferroblosc_static"];

#[test]
fn row_d12_the_tree_has_the_names_and_links() {
    FERROBLOSC.assert_files(
        &installed("files"),
        &[
            "libferroblosc.a",
            "../include/ferroblosc.h",
            "../include/b2store.h",
            "../include/bcolz.h",
            "../include/bloscpack.h",
            "../include/ferroblosc-export.h",
        ],
    );
}

#[test]
fn the_programs_are_installed_with_completions_and_manuals() {
    let prefix = installed("programs");
    let output = run(Command::new(prefix.join("bin/blpk")).arg("--version"));
    let version = format!("bloscpack: '0.16.0' ferroblosc: '{}'", FERROBLOSC.version);
    assert!(output.stdout.starts_with(version.as_bytes()));
    for file in [
        "man/man1/blpk.1",
        "bash-completion/completions/blpk",
        "zsh/site-functions/_blpk",
        "fish/vendor_completions.d/blpk.fish",
    ] {
        let size = fs::metadata(prefix.join("share").join(file)).expect(file).len();
        assert!(size > 1000, "{file}");
    }
}

#[test]
fn pkg_config_finds_both_libraries() {
    let variables = ["prefix", "libdir", "includedir"];
    FERROBLOSC.assert_pkg_config(&variables, "c-tests/ferroblosc/util.c");
}

#[test]
fn cmake_links_the_shared_library_unless_there_is_only_the_static_one() {
    FERROBLOSC.assert_cmake(CLIENT, TARGETS);
}

#[test]
fn cmake_finds_the_package_through_a_link_to_the_library_directory() {
    FERROBLOSC.assert_cmake_through_a_link(CLIENT, TARGETS);
}
