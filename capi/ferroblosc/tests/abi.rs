//! The exported symbols and the headers of the library.
//!
//! `tests/abi/symbols-libferroblosc.so.0.txt` lists the functions.

use ferroblosc_capi_testing::abi::{
    archive_exports, assert_compiles, assert_compiles_alone, assert_name_and_stay, exported_in,
    exports, listed_symbols,
};
use ferroblosc_capi_testing::{library_folder, project_root, scratch, static_library};
use std::collections::BTreeSet;

/// The file with the expected symbols.
const SYMBOLS: &str = "symbols-libferroblosc.so.0.txt";

/// The headers of the library.
const HEADERS: [&str; 5] =
    ["ferroblosc-export.h", "ferroblosc.h", "b2store.h", "bcolz.h", "bloscpack.h"];
/// The prefixes of the function names.
const PREFIXES: [&str; 4] = ["ferroblosc_", "bloscpack_", "bcolz_", "b2store_"];

#[test]
fn row_d12_the_library_exports_its_functions_and_nothing_else() {
    let listed = listed_symbols(SYMBOLS);
    for name in &listed {
        let is_ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        assert!(is_ours, "{name} has the name of none of our headers");
    }
    let shared = library_folder().join("libferroblosc.so");
    assert_eq!(exports(&shared), listed);
    assert_eq!(archive_exports(&static_library("ferroblosc")), listed);
}

#[test]
fn row_d12_every_function_is_declared_in_a_header() {
    let mut texts = String::new();
    for header in HEADERS {
        let path = project_root().join("include").join(header);
        texts += &std::fs::read_to_string(path).expect("the headers are in the tree");
    }
    for name in listed_symbols(SYMBOLS) {
        let is_declared = texts.contains(&format!("{name}("));
        assert!(is_declared, "{name} is in no header");
    }
}

#[test]
fn the_library_has_its_name_and_is_never_unloaded() {
    let shared = library_folder().join("libferroblosc.so");
    assert_name_and_stay(&shared, "libferroblosc.so.0");
}

#[test]
fn row_d2_every_exported_function_is_inside_the_boundary() {
    let mut names = BTreeSet::new();
    for function in exported_in(&project_root().join("capi/ferroblosc/src")) {
        let boundary = format!("boundary!({}, ", function.name);
        let is_inside = function.body.starts_with(&boundary);
        assert!(is_inside, "{} can unwind into its caller", function.name);
        names.insert(function.name);
    }
    assert_eq!(names, listed_symbols(SYMBOLS));
}

#[test]
fn each_header_compiles_alone_in_every_language_without_a_warning() {
    for header in HEADERS {
        assert_compiles_alone(header, &[], scratch);
    }
}

#[test]
fn the_headers_can_be_included_with_those_of_the_other_libraries() {
    let ours: String = HEADERS.iter().map(|header| format!("#include <{header}>\n")).collect();
    let theirs = "#include <blosc2.h>\n#include <b2nd.h>\n#include <blosc.h>\n";
    for (name, includes) in
        [("first", format!("{ours}{theirs}")), ("last", format!("{theirs}{ours}"))]
    {
        assert_compiles(
            &scratch(&format!("together-{name}")),
            &format!("{includes}int main(void) {{ return ferroblosc_version() == NULL; }}\n"),
            &["-std=c99", "-Wall", "-Wextra", "-Werror"],
        );
    }
}
