//! The headers and the library against the recorded interface of C-Blosc 1.21.
//!
//! `tests/abi` holds the facts: `layout-x86_64.json` (macros), `prototypes.json`, the list of symbols.

mod common;

use common::{build_folder, c_compiler, library_folder, project_root, run, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// The part of a file of facts that is about this library.
fn facts(file: &str) -> Value {
    let path = project_root().join("tests/abi").join(file);
    let text = std::fs::read_to_string(path).expect("the facts are in the tree");
    let mut all: Value = serde_json::from_str(&text).expect("the facts are JSON");
    all["libblosc"].take()
}

/// The recorded symbols.
fn recorded_symbols() -> BTreeSet<String> {
    let path = project_root().join("tests/abi/symbols-libblosc.so.1.txt");
    let text = std::fs::read_to_string(path).expect("the list is in the tree");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Compiles C text given a name; stops the test with the compiler's messages when it fails.
fn compiles(name: &str, source: &str, arguments: &[&str]) {
    let file = scratch(name).join("test.c");
    std::fs::write(&file, source).expect("a file under target");
    run(c_compiler().arg("-fsyntax-only").args(arguments).arg(&file));
}

#[test]
fn macros_have_the_recorded_values() {
    let layout = facts("layout-x86_64.json");
    let mut source = String::from("#include <blosc.h>\n");
    let version = ["BLOSC_VERSION_RELEASE", "BLOSC_VERSION_STRING"];
    for (name, fact) in layout["macros"].as_object().expect("macros by name") {
        let value = if version.contains(&name.as_str()) {
            continue;
        } else if fact["kind"] == "int" {
            fact["value"].to_string()
        } else if layout["not_compared"]
            .as_array()
            .expect("a list")
            .contains(&name.as_str().into())
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
        // A macro that the preprocessor can compute with, too.
        writeln!(source, "#if {name} != {value}\n#error \"{name}\"\n#endif").unwrap();
    }
    compiles("macros", &source, &["-std=gnu11"]);
}

#[test]
fn row_d10_the_version_is_1_21_6_everywhere() {
    let source = "#include <blosc.h>
_Static_assert(BLOSC_VERSION_MAJOR == 1 && BLOSC_VERSION_MINOR == 21 && BLOSC_VERSION_RELEASE == 6, \"\");
_Static_assert(__builtin_strcmp(BLOSC_VERSION_STRING, \"1.21.6\") == 0, \"\");
";
    compiles("version", source, &["-std=gnu11"]);
    assert_eq!(ferroblosc::blosc1::VERSION, c"1.21.6");
}

#[test]
fn functions_have_the_recorded_prototypes() {
    let prototypes = facts("prototypes.json");
    let mut source = String::from("#include <blosc.h>\n");
    for (name, fact) in prototypes.as_object().expect("prototypes by name") {
        let parameters: Vec<&str> = fact["params"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|parameter| parameter.as_str().expect("a type"))
            .collect();
        let parameters = match parameters.as_slice() {
            [] => "void".to_owned(),
            some => some.join(", "),
        };
        let result = fact["ret"].as_str().expect("a type");
        writeln!(
            source,
            "_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {result} ({parameters})), \"{name}\");"
        )
        .unwrap();
    }
    compiles("prototypes", &source, &["-std=gnu11"]);
}

#[test]
fn row_d4_the_library_exports_its_functions_and_nothing_else() {
    let symbols = |library, what: &[&str]| -> BTreeSet<String> {
        let output = run(Command::new("nm").args(what).arg(library));
        String::from_utf8(output.stdout)
            .expect("names are text")
            .lines()
            .filter_map(|line| line.split_whitespace().nth(2))
            .map(str::to_owned)
            .collect()
    };
    let shared = library_folder().join("libblosc.so");
    assert_eq!(recorded_symbols().len(), 25);
    assert_eq!(
        symbols(&shared, &["-D", "--defined-only"]),
        recorded_symbols()
    );
    let hidden = scratch("static").join("libblosc.a");
    run(
        Command::new(project_root().join("scripts/hide-symbols.sh")).args([
            &build_folder().join("libblosc.a"),
            &shared,
            &hidden,
        ]),
    );
    assert_eq!(
        symbols(&hidden, &["--extern-only", "--defined-only"]),
        recorded_symbols()
    );
}

#[test]
fn the_library_has_the_name_of_the_original_and_is_never_unloaded() {
    let output = run(Command::new("readelf")
        .arg("-d")
        .arg(library_folder().join("libblosc.so")));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    assert!(dynamic.contains("soname: [libblosc.so.1]"), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn row_d2_every_exported_function_is_inside_the_boundary() {
    let folder = project_root().join("capi/blosc1/src");
    let mut exported = 0;
    for entry in std::fs::read_dir(folder).expect("the sources are in the tree") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(path).expect("a source is text");
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (head, body) = function.split_once('{').expect("a function has a body");
            let name = head.split_once("fn ").expect("a function").1;
            let name = name.split_once('(').expect("a function has parameters").0;
            let is_inside = body
                .trim_start()
                .starts_with(&format!("boundary!({name}, Error, {{"));
            assert!(is_inside, "{name} can unwind into its caller");
            exported += 1;
        }
    }
    assert_eq!(exported, recorded_symbols().len());
}

#[test]
fn each_header_compiles_alone_in_every_language_without_a_warning() {
    for header in ["blosc.h", "blosc-export.h"] {
        for (language, standard) in [
            ("c", "-std=c99"),
            ("c", "-std=gnu17"),
            ("c++", "-std=c++11"),
            ("c++", "-std=c++17"),
        ] {
            compiles(
                &format!("alone-{header}-{standard}"),
                &format!("#include <{header}>\nint main(void) {{ return 0; }}\n"),
                &[
                    "-Wall",
                    "-Wextra",
                    "-pedantic",
                    "-Werror",
                    standard,
                    "-x",
                    language,
                ],
            );
        }
    }
}

#[test]
fn both_headers_go_together_in_either_order() {
    let check = "int main(void) { return BLOSC_MAX_OVERHEAD == 16 ? 0 : BLOSC_SNAPPY; }\n";
    for (name, includes) in [
        (
            "1-2",
            "#include <blosc.h>\n#include <blosc2.h>\n#include <b2nd.h>\n",
        ),
        (
            "2-1",
            "#include <b2nd.h>\n#include <blosc2.h>\n#include <blosc.h>\n",
        ),
    ] {
        compiles(
            &format!("both-{name}"),
            &format!("{includes}{check}"),
            &["-std=c99", "-Wall", "-Wextra", "-Werror"],
        );
    }
    compiles(
        "both-compat",
        "#include <blosc.h>
#include <blosc2.h>
_Static_assert(BLOSC_MAX_OVERHEAD == 32, \"\");
",
        &["-std=gnu11", "-DBLOSC1_COMPAT"],
    );
}
