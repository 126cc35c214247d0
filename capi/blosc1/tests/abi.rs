//! Compares the headers and the library with the recorded interface of C-Blosc 1.21.
//!
//! The records are in `tests/abi`: `layout-x86_64.json` (macros), `prototypes.json`, and the list
//! of symbols.

use ferroblosc_capi_testing::abi::{
    archive_exports, assert_compiles, assert_compiles_alone, assert_name_and_stay, exported_in,
    exports, facts, listed_symbols, prototype_assertions,
};
use ferroblosc_capi_testing::{library_folder, project_root, scratch, static_library};
use std::fmt::Write;

/// The recorded symbols.
const SYMBOLS: &str = "symbols-libblosc.so.1.txt";

#[test]
fn macros_have_the_recorded_values() {
    let layout = facts("libblosc", "layout-x86_64.json");
    let mut source = String::from("#include <blosc.h>\n");
    let version = ["BLOSC_VERSION_RELEASE", "BLOSC_VERSION_STRING"];
    for (name, fact) in layout["macros"].as_object().expect("macros by name") {
        let value = if version.contains(&name.as_str()) {
            continue;
        } else if fact["kind"] == "int" {
            fact["value"].to_string()
        } else if layout["not_compared"].as_array().expect("a list").contains(&name.as_str().into())
        {
            writeln!(source, "const char *the_{name} = {name};").unwrap();
            continue;
        } else {
            writeln!(
                source,
                "_Static_assert(__builtin_strcmp({name}, {}) == 0, \"{name}\");",
                fact["value"]
            )
            .unwrap();
            continue;
        };
        // The preprocessor must be able to evaluate the macro.
        writeln!(source, "#if {name} != {value}\n#error \"{name}\"\n#endif").unwrap();
    }
    assert_compiles(&scratch("macros"), &source, &["-std=gnu11"]);
}

#[test]
fn row_d10_the_version_is_1_21_6_everywhere() {
    let source = "#include <blosc.h>
_Static_assert(BLOSC_VERSION_MAJOR == 1 && BLOSC_VERSION_MINOR == 21 && BLOSC_VERSION_RELEASE == 6, \"\");
_Static_assert(__builtin_strcmp(BLOSC_VERSION_STRING, \"1.21.6\") == 0, \"\");
";
    assert_compiles(&scratch("version"), source, &["-std=gnu11"]);
    assert_eq!(ferroblosc::blosc1::VERSION, c"1.21.6");
}

#[test]
fn functions_have_the_recorded_prototypes() {
    let prototypes = facts("libblosc", "prototypes.json");
    let source = format!("#include <blosc.h>\n{}", prototype_assertions(&prototypes));
    assert_compiles(&scratch("prototypes"), &source, &["-std=gnu11"]);
}

#[test]
fn row_d4_the_library_exports_only_its_functions() {
    let recorded = listed_symbols(SYMBOLS);
    assert_eq!(recorded.len(), 25);
    let shared = library_folder().join("libblosc.so");
    assert_eq!(exports(&shared), recorded);
    assert_eq!(archive_exports(&static_library("blosc")), recorded);
}

#[test]
fn the_library_has_the_name_of_the_original_and_is_never_unloaded() {
    assert_name_and_stay(&library_folder().join("libblosc.so"), "libblosc.so.1");
}

#[test]
fn row_d2_every_exported_function_catches_panics() {
    let exported = exported_in(&project_root().join("capi/blosc1/src"));
    for function in &exported {
        let is_inside = ["", " always,", " in_memory,"].iter().any(|form| {
            let boundary = format!("boundary!({},{form} Error, {{", function.name);
            function.body.starts_with(&boundary)
        });
        assert!(is_inside, "{} can unwind into its caller", function.name);
    }
    assert_eq!(exported.len(), listed_symbols(SYMBOLS).len());
}

#[test]
fn each_header_compiles_on_its_own_in_every_language_without_warnings() {
    for header in ["blosc.h", "blosc-export.h"] {
        assert_compiles_alone(header, &[], scratch);
    }
}

#[test]
fn both_headers_can_be_included_in_either_order() {
    let check = "int main(void) { return BLOSC_MAX_OVERHEAD == 16 ? 0 : BLOSC_SNAPPY; }\n";
    for (name, includes) in [
        ("1-2", "#include <blosc.h>\n#include <blosc2.h>\n#include <b2nd.h>\n"),
        ("2-1", "#include <b2nd.h>\n#include <blosc2.h>\n#include <blosc.h>\n"),
    ] {
        assert_compiles(
            &scratch(&format!("both-{name}")),
            &format!("{includes}{check}"),
            &["-std=c99", "-Wall", "-Wextra", "-Werror"],
        );
    }
    assert_compiles(
        &scratch("both-compat"),
        "#include <blosc.h>
#include <blosc2.h>
_Static_assert(BLOSC_MAX_OVERHEAD == 32, \"\");
",
        &["-std=gnu11", "-DBLOSC1_COMPAT"],
    );
}
