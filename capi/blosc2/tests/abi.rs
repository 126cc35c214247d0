//! The headers and the shared library against the recorded interface of C-Blosc2 3.3.5.
//!
//! `tests/abi` holds the facts: `layout-x86_64.json` (structs, types, constants, macros, default
//! objects), `prototypes.json`, and the list of symbols. Whatever is in it must be declared and exported.

mod common;

use common::{abi_list, c_compiler, library_folder, project_root, run, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The part of a file of facts that is about this library.
fn facts(file: &str) -> Value {
    let path = project_root().join("tests/abi").join(file);
    let text = std::fs::read_to_string(path).expect("the facts are in the tree");
    let mut all: Value = serde_json::from_str(&text).expect("the facts are JSON");
    all["libblosc2"].take()
}

/// The entries of a JSON object, by name.
fn entries<'a>(facts: &'a Value, group: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    facts[group]
        .as_object()
        .unwrap_or_else(|| panic!("{group} is an object"))
        .iter()
}

/// The includes that make all of the interface visible.
fn includes(layout: &Value) -> String {
    let headers = layout["include"].as_array().expect("a list of headers");
    headers.iter().fold(
        String::from("#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n"),
        |mut text, header| {
            writeln!(text, "#include {header}").unwrap();
            text
        },
    )
}

/// The text of a JSON string.
fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// A C string literal.
fn c_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        write!(literal, "\\{byte:03o}").unwrap();
    }
    literal.push('"');
    literal
}

/// Compiles C text given a file name; stops the test with the compiler's messages when it fails.
fn compile(name: &str, source: &str, arguments: &[&str]) -> std::path::PathBuf {
    let folder = scratch(name);
    let file = folder.join("test.c");
    std::fs::write(&file, source).expect("a file under target");
    let output = folder.join("test.out");
    run(c_compiler()
        .args(arguments)
        .arg("-o")
        .arg(&output)
        .arg(&file));
    output
}

#[test]
fn types_and_constants_have_the_recorded_values() {
    let layout = facts("layout-x86_64.json");
    let mut source = includes(&layout);
    for (name, fact) in entries(&layout, "structs") {
        writeln!(
            source,
            "_Static_assert(sizeof({name}) == {}, \"size of {name}\");",
            fact["sizeof"]
        )
        .unwrap();
        writeln!(
            source,
            "_Static_assert(_Alignof({name}) == {}, \"align of {name}\");",
            fact["alignof"]
        )
        .unwrap();
        for field in fact["fields"].as_array().expect("a list of fields") {
            let member = text(&field["name"]);
            let place = format!("(({name} *)0)->{member}");
            writeln!(
                source,
                "_Static_assert(offsetof({name}, {member}) == {}, \"offset of {name}.{member}\");",
                field["offset"]
            )
            .unwrap();
            writeln!(
                source,
                "_Static_assert(sizeof({place}) == {}, \"size of {name}.{member}\");",
                field["size"]
            )
            .unwrap();
            writeln!(source, "_Static_assert(__builtin_types_compatible_p(__typeof__({place}), {}), \"type of {name}.{member}\");", text(&field["type"])).unwrap();
        }
    }
    for (name, fact) in entries(&layout, "typedefs") {
        writeln!(
            source,
            "_Static_assert(__builtin_types_compatible_p({name}, {}), \"type {name}\");",
            text(&fact["type"])
        )
        .unwrap();
    }
    for name in layout["opaque_types"].as_array().expect("a list of types") {
        let name = text(name);
        writeln!(source, "extern {name} *a_{name};").unwrap();
    }
    for (name, fact) in entries(&layout, "enum_constants") {
        writeln!(
            source,
            "_Static_assert({name} == ({}), \"value of {name}\");",
            fact["value"]
        )
        .unwrap();
    }
    for (name, fact) in entries(&layout, "macros").filter(|(_, fact)| fact["kind"] == "int") {
        writeln!(
            source,
            "_Static_assert({name} == ({}), \"value of {name}\");",
            fact["value"]
        )
        .unwrap();
    }
    compile("layout", &source, &["-std=gnu11", "-fsyntax-only"]);
}

#[test]
fn every_function_has_the_recorded_prototype() {
    let layout = facts("layout-x86_64.json");
    let prototypes = facts("prototypes.json");
    let mut source = includes(&layout);
    for (name, fact) in prototypes.as_object().expect("an object") {
        if fact["linkage"] == "hidden" {
            continue;
        }
        let parameters: Vec<&str> = fact["params"]
            .as_array()
            .expect("a list")
            .iter()
            .map(text)
            .collect();
        let parameters = if parameters.is_empty() {
            "void".to_owned()
        } else {
            parameters.join(", ")
        };
        writeln!(
            source,
            "_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {} ({parameters})), \"prototype of {name}\");",
            text(&fact["ret"])
        )
        .unwrap();
    }
    compile(
        "prototypes",
        &source,
        &[
            "-std=gnu11",
            "-fsyntax-only",
            "-Wno-deprecated-declarations",
        ],
    );
}

#[test]
fn strings_and_default_objects_have_the_recorded_values() {
    let layout = facts("layout-x86_64.json");
    let skipped = layout["not_compared"].as_array().expect("a list");
    let mut source = includes(&layout);
    source.push_str("int main(void) {\n  int bad = 0;\n");
    let mut check = |what: &str, condition: String| {
        writeln!(
            source,
            "  if (!({condition})) {{ bad++; puts({}); }}",
            c_literal(what)
        )
        .unwrap();
    };
    for (name, fact) in entries(&layout, "macros") {
        if fact["kind"] == "string" && !skipped.contains(&Value::from(name.as_str())) {
            check(
                name,
                format!("strcmp({name}, {}) == 0", c_literal(text(&fact["value"]))),
            );
        }
    }
    for (object, fact) in entries(&layout, "default_objects") {
        for (field, value) in entries(fact, "fields") {
            let one = |place: String, value: &Value| match value {
                Value::Null => format!("{place} == NULL"),
                Value::String(text) => format!("strcmp({place}, {}) == 0", c_literal(text)),
                number => format!("{place} == {number}"),
            };
            match value {
                Value::Array(values) => {
                    for (i, value) in values.iter().enumerate() {
                        let place = format!("{object}.{field}[{i}]");
                        check(&place, one(place.clone(), value));
                    }
                }
                value => {
                    let place = format!("{object}.{field}");
                    check(&place, one(place.clone(), value));
                }
            }
        }
    }
    source.push_str("  return bad != 0;\n}\n");
    let library = library_folder().to_str().expect("a UTF-8 path");
    let program = compile(
        "values",
        &source,
        &["-std=gnu11", "-L", library, "-lblosc2"],
    );
    run(Command::new(program).env("LD_LIBRARY_PATH", library));
}

#[test]
fn macros_are_defined_and_the_names_of_blosc1_mapped() {
    let layout = facts("layout-x86_64.json");
    let mut source = includes(&layout);
    let mut must_be_defined = |name: &str| {
        writeln!(
            source,
            "#ifndef {name}\n#error \"{name} is not defined\"\n#endif"
        )
        .unwrap();
    };
    for name in layout["function_like_macros"].as_array().expect("a list") {
        must_be_defined(text(name));
    }
    for name in layout["not_compared"].as_array().expect("a list") {
        must_be_defined(text(name));
    }
    // Row D3: programs written for C-Blosc2 2.x use the older name.
    must_be_defined("BLOSC2_MAX_DIM");
    source.push_str("int unused;\n");
    compile(
        "macros",
        &source,
        &["-std=gnu11", "-fsyntax-only", "-DBLOSC1_COMPAT"],
    );

    let listing = run(c_compiler().args([
        "-DBLOSC1_COMPAT",
        "-E",
        "-dM",
        "-include",
        "blosc2.h",
        "-x",
        "c",
        "/dev/null",
    ]));
    let listing = String::from_utf8(listing.stdout).expect("text");
    for (name, target) in entries(&layout, "blosc1_compat_macros") {
        let line = format!("#define {name} {}", text(target));
        assert!(listing.lines().any(|l| l == line), "missing: {line}");
    }
}

#[test]
fn row_d3_blosc2_max_dim_is_an_alias() {
    compile(
        "max-dim",
        "#include <b2nd.h>\n_Static_assert(BLOSC2_MAX_DIM == B2ND_MAX_DIM, \"alias\");\n",
        &["-std=c11", "-fsyntax-only"],
    );
}

#[test]
fn row_d1_contexts_are_opaque() {
    for context in ["blosc2_context", "b2nd_context_t"] {
        let source = scratch("opaque").join(format!("{context}.c"));
        let text = format!("#include <b2nd.h>\nunsigned long size = sizeof({context});\n");
        std::fs::write(&source, text).expect("a file under target");
        let output = c_compiler()
            .arg("-fsyntax-only")
            .arg(source)
            .output()
            .expect("a C compiler");
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{context} is not opaque");
        assert!(messages.contains("incomplete"), "{messages}");
    }
}

/// The Rust files of the skin.
fn skin_sources(folder: &Path) -> Vec<String> {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the sources are in the tree") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources.extend(skin_sources(&path));
        } else {
            sources.push(std::fs::read_to_string(path).expect("a source is text"));
        }
    }
    sources
}

#[test]
fn row_d2_every_exported_function_is_inside_the_boundary() {
    let mut exported = 0;
    for source in skin_sources(&project_root().join("capi/blosc2/src")) {
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (head, body) = function.split_once('{').expect("a function has a body");
            let name = head.split_once("fn ").expect("a function").1;
            let name = name.split_once('(').expect("a function has parameters").0;
            let body = body.trim_start();
            let constants = ["CPARAMS", "DPARAMS", "IO", "STORAGE", "STDIO_MMAP", "0"];
            let is_constant = constants
                .iter()
                .any(|constant| body.starts_with(&format!("{constant}\n}}")));
            assert!(
                is_constant || body.starts_with(&format!("boundary!({name}, {{")),
                "{name} can unwind into its caller"
            );
            exported += 1;
        }
    }
    let recorded = abi_list("symbols-libblosc2.so.9.txt").len();
    assert_eq!(exported, recorded);
}

#[test]
fn each_header_compiles_alone_in_every_language_without_a_warning() {
    let headers = [
        "blosc2.h",
        "b2nd.h",
        "blosc2/blosc2-export.h",
        "blosc2/blosc2-common.h",
        "blosc2/blosc2-stdio.h",
        "blosc2/codecs-registry.h",
        "blosc2/filters-registry.h",
        "blosc2/tuners-registry.h",
    ];
    let strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"];
    for header in headers {
        for (language, standard) in [
            ("c", "-std=c99"),
            ("c", "-std=c11"),
            ("c", "-std=gnu17"),
            ("c++", "-std=c++11"),
            ("c++", "-std=c++17"),
        ] {
            for define in ["-DPLAIN", "-DBLOSC1_COMPAT"] {
                let name = format!("alone-{}-{standard}{define}", header.replace('/', "-"));
                let source = format!(
                    "#include <{header}>
int main(void) {{ return 0; }}
"
                );
                compile(
                    &name,
                    &source,
                    &[&strict[..], &[define, standard, "-x", language]].concat(),
                );
            }
        }
    }
}

#[test]
fn blosc2_h_compiles_after_blosc_h_of_blosc1() {
    let layout: Value = {
        let path = project_root().join("tests/abi/layout-x86_64.json");
        serde_json::from_str(&std::fs::read_to_string(path).expect("the facts")).expect("JSON")
    };
    let mut source = String::from("#define BLOSC_H\n");
    for (name, fact) in entries(&layout["libblosc"], "macros") {
        let value = match &fact["value"] {
            Value::String(text) => c_literal(text),
            Value::Null => continue,
            number => number.to_string(),
        };
        writeln!(source, "#define {name} {value}").unwrap();
    }
    for (name, first) in [
        ("after-recorded", source.as_str()),
        ("after-ours", "#include <blosc.h>\n"),
    ] {
        let source = format!("{first}#include <blosc2.h>\nint main(void) {{ return 0; }}\n");
        compile(
            name,
            &source,
            &[
                "-std=c99",
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                "-fsyntax-only",
            ],
        );
    }
}

/// The symbols a shared library exports, by `nm -D`.
fn exported(library: &Path) -> BTreeSet<String> {
    let output = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library));
    String::from_utf8(output.stdout)
        .expect("names are text")
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn row_d4_the_library_exports_its_list_and_nothing_else() {
    let recorded: BTreeSet<String> = abi_list("symbols-libblosc2.so.9.txt").into_iter().collect();
    let exported = exported(&library_folder().join("libblosc2.so"));
    assert_eq!(exported, recorded);
}

#[test]
fn the_library_says_its_soname_and_stays_loaded() {
    let output = run(Command::new("readelf")
        .arg("-d")
        .arg(library_folder().join("libblosc2.so")));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    assert!(dynamic.contains("soname: [libblosc2.so.9]"), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}
