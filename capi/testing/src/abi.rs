//! Comparison of a library and its headers with the facts in `tests/abi`: lists of symbols,
//! `layout-x86_64.json` and `prototypes.json`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{c_compiler, project_root, run};

/// Returns the facts about a library from a file.
pub fn facts(library: &str, file: &str) -> Value {
    let path = project_root().join("tests/abi").join(file);
    let text = std::fs::read_to_string(path).expect("the facts are in the tree");
    let mut all: Value = serde_json::from_str(&text).expect("the facts are JSON");
    all[library].take()
}

/// Returns the symbols of a list: the first field of each line that is not a comment.
pub fn listed_symbols(file: &str) -> BTreeSet<String> {
    let path = project_root().join("tests/abi").join(file);
    let text = std::fs::read_to_string(path).expect("the list is in the tree");
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn symbols(library: &Path, what: &[&str]) -> BTreeSet<String> {
    let output = run(Command::new("nm").args(what).arg(library));
    String::from_utf8(output.stdout)
        .expect("names are text")
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(str::to_owned)
        .collect()
}

/// Returns the symbols that a shared library exports.
pub fn exports(shared: &Path) -> BTreeSet<String> {
    symbols(shared, &["-D", "--defined-only"])
}

/// Returns the external symbols that a static library defines.
pub fn archive_exports(archive: &Path) -> BTreeSet<String> {
    symbols(archive, &["--extern-only", "--defined-only"])
}

/// Asserts that a shared library has its soname and is never unloaded.
pub fn assert_name_and_stay(shared: &Path, soname: &str) {
    let output = run(Command::new("readelf").arg("-d").arg(shared));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    assert!(dynamic.contains(&format!("soname: [{soname}]")), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

/// An exported function.
pub struct Exported {
    /// The name.
    pub name: String,
    /// The source from the start of the body.
    pub body: String,
}

/// Returns the functions that the Rust files in a directory export.
pub fn exported_in(folder: &Path) -> Vec<Exported> {
    let mut exported = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the sources are in the tree") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            exported.extend(exported_in(&path));
            continue;
        }
        let source = std::fs::read_to_string(path).expect("a source is text");
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            let (head, body) = function.split_once('{').expect("a function has a body");
            let name = head.split_once("fn ").expect("a function").1;
            let (name, _) = name.split_once('(').expect("a function has parameters");
            exported.push(Exported { name: name.to_owned(), body: body.trim_start().to_owned() });
        }
    }
    exported
}

/// Compiles a C source in a directory; returns the path of the program.
pub fn compile(folder: &Path, source: &str, arguments: &[&str]) -> PathBuf {
    let file = folder.join("test.c");
    std::fs::write(&file, source).expect("a file under target");
    let program = folder.join("test.out");
    run(c_compiler().args(arguments).arg("-o").arg(&program).arg(&file));
    program
}

/// Asserts that a C source compiles.
pub fn assert_compiles(folder: &Path, source: &str, arguments: &[&str]) {
    compile(folder, source, &[arguments, &["-fsyntax-only"]].concat());
}

/// Asserts that a header compiles alone in every language without warnings. `scratch` returns a
/// directory for each name.
pub fn assert_compiles_alone(header: &str, arguments: &[&str], scratch: impl Fn(&str) -> PathBuf) {
    let source = format!("#include <{header}>\nint main(void) {{ return 0; }}\n");
    for (language, standard) in [
        ("c", "-std=c99"),
        ("c", "-std=c11"),
        ("c", "-std=gnu17"),
        ("c++", "-std=c++11"),
        ("c++", "-std=c++17"),
    ] {
        let strict = ["-Wall", "-Wextra", "-pedantic", "-Wredundant-decls", "-Werror", standard];
        let name = format!("alone-{}-{standard}{}", header.replace('/', "-"), arguments.concat());
        let arguments = [&strict[..], arguments, &["-x", language]].concat();
        assert_compiles(&scratch(&name), &source, &arguments);
    }
}

/// Returns C assertions that functions have the recorded prototypes, except those that no header
/// declares.
pub fn prototype_assertions(prototypes: &Value) -> String {
    let mut source = String::new();
    for (name, fact) in prototypes.as_object().expect("prototypes by name") {
        if fact["linkage"] == "hidden" {
            continue;
        }
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
            "_Static_assert(__builtin_types_compatible_p(__typeof__({name}), {result} ({parameters})), \"prototype of {name}\");"
        )
        .expect("a string can be written to");
    }
    source
}
