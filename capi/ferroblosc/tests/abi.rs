//! What the library exports, and what its headers say.
//!
//! `tests/abi/symbols-libferroblosc.so.0.txt` lists the functions.

mod common;

use common::{c_compiler, library_folder, project_root, run, scratch, static_library};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The headers of the library.
const HEADERS: [&str; 4] = [
    "ferroblosc-export.h",
    "ferroblosc.h",
    "bcolz.h",
    "bloscpack.h",
];
/// How the names of its functions begin.
const PREFIXES: [&str; 3] = ["ferroblosc_", "bloscpack_", "bcolz_"];

/// The listed symbols.
fn listed_symbols() -> BTreeSet<String> {
    let path = project_root().join("tests/abi/symbols-libferroblosc.so.0.txt");
    let text = std::fs::read_to_string(path).expect("the list is in the tree");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The symbols a library defines for others.
fn symbols(library: &Path, what: &[&str]) -> BTreeSet<String> {
    let output = run(Command::new("nm").args(what).arg(library));
    String::from_utf8(output.stdout)
        .expect("names are text")
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
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
fn row_d12_the_library_exports_its_functions_and_nothing_else() {
    let listed = listed_symbols();
    for name in &listed {
        let is_ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        assert!(is_ours, "{name} has the name of none of our headers");
    }
    let shared = library_folder().join("libferroblosc.so");
    assert_eq!(symbols(&shared, &["-D", "--defined-only"]), listed);
    let hidden = symbols(static_library(), &["--extern-only", "--defined-only"]);
    assert_eq!(hidden, listed);
}

#[test]
fn row_d12_every_function_is_declared_in_a_header() {
    let mut texts = String::new();
    for header in HEADERS {
        let path = project_root().join("include").join(header);
        texts += &std::fs::read_to_string(path).expect("the headers are in the tree");
    }
    for name in listed_symbols() {
        let is_declared = texts.contains(&format!("{name}("));
        assert!(is_declared, "{name} is in no header");
    }
}

#[test]
fn the_library_has_its_name_and_is_never_unloaded() {
    let output = run(Command::new("readelf")
        .arg("-d")
        .arg(library_folder().join("libferroblosc.so")));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    assert!(
        dynamic.contains("soname: [libferroblosc.so.0]"),
        "{dynamic}"
    );
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn row_d2_every_exported_function_is_inside_the_boundary() {
    let folder = project_root().join("capi/ferroblosc/src");
    let mut exported = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the sources are in the tree") {
        let path = entry.expect("an entry").path();
        let source = std::fs::read_to_string(path).expect("a source is text");
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (head, body) = function.split_once('{').expect("a function has a body");
            let name = head.split_once("fn ").expect("a function").1;
            let name = name.split_once('(').expect("a function has parameters").0;
            let is_inside = body
                .trim_start()
                .starts_with(&format!("boundary!({name}, "));
            assert!(is_inside, "{name} can unwind into its caller");
            exported.insert(name.to_owned());
        }
    }
    assert_eq!(exported, listed_symbols());
}

#[test]
fn each_header_compiles_alone_in_every_language_without_a_warning() {
    for header in HEADERS {
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
fn the_headers_go_together_with_those_of_the_other_libraries() {
    let ours: String = HEADERS
        .iter()
        .map(|header| format!("#include <{header}>\n"))
        .collect();
    let theirs = "#include <blosc2.h>\n#include <b2nd.h>\n#include <blosc.h>\n";
    for (name, includes) in [
        ("first", format!("{ours}{theirs}")),
        ("last", format!("{theirs}{ours}")),
    ] {
        compiles(
            &format!("together-{name}"),
            &format!("{includes}int main(void) {{ return ferroblosc_version() == NULL; }}\n"),
            &["-std=c99", "-Wall", "-Wextra", "-Werror"],
        );
    }
}
