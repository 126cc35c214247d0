//! Compares the headers and the shared library with the recorded interface of C-Blosc2 3.3.5.
//!
//! The records are in `tests/abi`: `layout-x86_64.json` (structs, types, constants, macros, default
//! objects), `prototypes.json`, and the list of symbols. Everything in them must be declared and
//! exported.

use ferroblosc_capi_testing::abi::{
    archive_exports, assert_compiles, assert_compiles_alone, assert_name_and_stay, compile,
    exported_in, exports, facts, listed_symbols, prototype_assertions,
};
use ferroblosc_capi_testing::{c_compiler, library_folder, project_root, run, scratch};
use serde_json::Value;
use std::fmt::Write;
use std::process::Command;

/// The name of the library in the records.
const LIBRARY: &str = "libblosc2";
/// The recorded symbols.
const SYMBOLS: &str = "symbols-libblosc2.so.9.txt";

/// Returns the entries of a JSON object, by name.
fn entries<'a>(facts: &'a Value, group: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    facts[group].as_object().unwrap_or_else(|| panic!("{group} is an object")).iter()
}

/// Returns the includes that declare the whole interface.
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

/// Returns the text of a JSON string.
fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Returns a C string literal.
fn c_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        write!(literal, "\\{byte:03o}").unwrap();
    }
    literal.push('"');
    literal
}

#[test]
fn types_and_constants_have_the_recorded_values() {
    let layout = facts(LIBRARY, "layout-x86_64.json");
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
        writeln!(source, "_Static_assert({name} == ({}), \"value of {name}\");", fact["value"])
            .unwrap();
    }
    for (name, fact) in entries(&layout, "macros").filter(|(_, fact)| fact["kind"] == "int") {
        writeln!(source, "_Static_assert({name} == ({}), \"value of {name}\");", fact["value"])
            .unwrap();
    }
    assert_compiles(&scratch("layout"), &source, &["-std=gnu11"]);
}

#[test]
fn every_function_has_the_recorded_prototype() {
    let layout = facts(LIBRARY, "layout-x86_64.json");
    let prototypes = facts(LIBRARY, "prototypes.json");
    let source = includes(&layout) + &prototype_assertions(&prototypes);
    assert_compiles(
        &scratch("prototypes"),
        &source,
        &["-std=gnu11", "-Wno-deprecated-declarations"],
    );
}

#[test]
fn strings_and_default_objects_have_the_recorded_values() {
    let layout = facts(LIBRARY, "layout-x86_64.json");
    let skipped = layout["not_compared"].as_array().expect("a list");
    let mut source = includes(&layout);
    source.push_str("int main(void) {\n  int bad = 0;\n");
    let mut check = |what: &str, condition: String| {
        writeln!(source, "  if (!({condition})) {{ bad++; puts({}); }}", c_literal(what)).unwrap();
    };
    for (name, fact) in entries(&layout, "macros") {
        if fact["kind"] == "string" && !skipped.contains(&Value::from(name.as_str())) {
            check(name, format!("strcmp({name}, {}) == 0", c_literal(text(&fact["value"]))));
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
    let program = compile(&scratch("values"), &source, &["-std=gnu11", "-L", library, "-lblosc2"]);
    run(Command::new(program).env("LD_LIBRARY_PATH", library));
}

#[test]
fn macros_are_defined_and_the_names_of_blosc1_mapped() {
    let layout = facts(LIBRARY, "layout-x86_64.json");
    let mut source = includes(&layout);
    let mut must_be_defined = |name: &str| {
        writeln!(source, "#ifndef {name}\n#error \"{name} is not defined\"\n#endif").unwrap();
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
    assert_compiles(&scratch("macros"), &source, &["-std=gnu11", "-DBLOSC1_COMPAT"]);

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
    assert_compiles(
        &scratch("max-dim"),
        "#include <b2nd.h>\n_Static_assert(BLOSC2_MAX_DIM == B2ND_MAX_DIM, \"alias\");\n",
        &["-std=c11"],
    );
}

#[test]
fn structs_have_the_recorded_tags_for_forward_declarations_and_names_in_cxx() {
    let layout = facts(LIBRARY, "layout-x86_64.json");
    let tags: Vec<(&str, &str)> =
        entries(&layout, "tags").map(|(name, tag)| (name.as_str(), text(tag))).collect();
    // Clients declare a struct before the header does.
    let mut source = String::new();
    for (_, tag) in &tags {
        writeln!(source, "struct {tag};").unwrap();
    }
    source.push_str(&includes(&layout));
    for (name, tag) in &tags {
        writeln!(source, "typedef struct {tag} {name};").unwrap();
    }
    assert_compiles(&scratch("tags"), &source, &["-std=gnu11"]);

    // C++ mangles the tag of a struct, and the name of the type where C-Blosc2 has no tag.
    let structs = entries(&layout, "structs").map(|(name, _)| name.as_str());
    let untagged = structs
        .filter(|name| {
            !name.starts_with("struct ") && !tags.iter().any(|(tagged, _)| tagged == name)
        })
        .map(|name| (name, name));
    let mut expected = Vec::new();
    for (name, tag) in tags.iter().copied().chain(untagged) {
        writeln!(source, "void use(const {name} *) {{}}").unwrap();
        expected.push(format!("_Z3usePK{}{tag}", tag.len()));
    }
    let folder = scratch("mangled");
    let (file, object) = (folder.join("test.cc"), folder.join("test.o"));
    std::fs::write(&file, source).expect("a file under target");
    run(c_compiler().args(["-x", "c++", "-c", "-o"]).args([&object, &file]));
    let symbols = archive_exports(&object);
    for symbol in expected {
        assert!(symbols.contains(&symbol), "{symbol} is not in {symbols:?}");
    }
}

#[test]
fn row_d1_contexts_are_opaque() {
    for context in ["blosc2_context", "b2nd_context_t"] {
        let source = scratch("opaque").join(format!("{context}.c"));
        let text = format!("#include <b2nd.h>\nunsigned long size = sizeof({context});\n");
        std::fs::write(&source, text).expect("a file under target");
        let output = c_compiler().arg("-fsyntax-only").arg(source).output().expect("a C compiler");
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{context} is not opaque");
        assert!(messages.contains("incomplete"), "{messages}");
    }
}

#[test]
fn row_d2_every_exported_function_is_inside_the_boundary() {
    let exported = exported_in(&project_root().join("capi/blosc2/src"));
    let constants = ["CPARAMS", "DPARAMS", "IO", "STORAGE", "STDIO_MMAP", "0"];
    for function in &exported {
        let is_constant =
            constants.iter().any(|constant| function.body.starts_with(&format!("{constant}\n}}")));
        let is_inside = ["", " always,", " in_memory,", " unrecorded,"].iter().any(|form| {
            let boundary = format!("boundary!({},{form} {{", function.name);
            function.body.starts_with(&boundary)
        });
        assert!(is_constant || is_inside, "{} can unwind into its caller", function.name);
    }
    assert_eq!(exported.len(), listed_symbols(SYMBOLS).len());
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
    for header in headers {
        for define in ["-DPLAIN", "-DBLOSC1_COMPAT"] {
            assert_compiles_alone(header, &[define], scratch);
        }
    }
}

#[test]
fn blosc2_h_compiles_after_blosc_h_of_blosc1() {
    let layout = facts("libblosc", "layout-x86_64.json");
    let mut source = String::from("#define BLOSC_H\n");
    for (name, fact) in entries(&layout, "macros") {
        let value = match &fact["value"] {
            Value::String(text) => c_literal(text),
            Value::Null => continue,
            number => number.to_string(),
        };
        writeln!(source, "#define {name} {value}").unwrap();
    }
    for (name, first) in
        [("after-recorded", source.as_str()), ("after-ours", "#include <blosc.h>\n")]
    {
        let source = format!("{first}#include <blosc2.h>\nint main(void) {{ return 0; }}\n");
        assert_compiles(
            &scratch(name),
            &source,
            &["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"],
        );
    }
}

#[test]
fn row_d4_the_library_exports_its_list_and_nothing_else() {
    let exported = exports(&library_folder().join("libblosc2.so"));
    assert_eq!(exported, listed_symbols(SYMBOLS));
}

#[test]
fn the_library_has_its_soname_and_is_never_unloaded() {
    assert_name_and_stay(&library_folder().join("libblosc2.so"), "libblosc2.so.9");
}
