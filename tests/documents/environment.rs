//! Compares `docs/environment.md` with the variables that the sources read.

use super::markdown;
use std::collections::BTreeSet;

/// Folders of shipped code.
const FOLDERS: [&str; 6] = ["src", "formats", "capi", "hdf5", "tools", "include"];
/// Folders of test and build helpers.
const NOT_SHIPPED: [&str; 5] =
    ["tests", "capi/link", "capi/testing", "tools/testing", "tools/headers"];
/// Prefixes of calls that read the variable named by their first argument.
const CALLS: [&str; 7] =
    ["var_os(", "env::var(", "getenv(", "value_of(", "number(", "positive(", "choice("];
/// This function of the standard library reads `TMPDIR`.
const TEMPORARY: &str = "temp_dir()";

/// Returns a source without its tests and comments.
fn code(source: &str) -> String {
    let tested = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    tested.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// Returns the string literal at the start of the code, if there is one.
fn literal(code: &str) -> Option<&str> {
    Some(code.trim_start().strip_prefix('"')?.split_once('"')?.0)
}

/// Returns the string constants of a source.
fn constants(code: &str) -> impl Iterator<Item = &str> {
    code.split("&str =").skip(1).filter_map(literal)
}

/// Returns the variables a source reads. If an argument is not a literal, it is a constant of the
/// same file or a parameter, and all constants that look like variables count.
fn variables(source: &str) -> BTreeSet<String> {
    let code = code(source);
    let looks_like_one = |text: &&str| {
        text.contains('_')
            && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let mut found = BTreeSet::new();
    for call in CALLS.into_iter().chain(["is_set("]) {
        for argument in code.split(call).skip(1) {
            match literal(argument) {
                Some(name) => found.extend((name.to_uppercase() == name).then(|| name.to_owned())),
                None if call.contains("env") || call == "var_os(" => {
                    found.extend(constants(&code).filter(looks_like_one).map(str::to_owned));
                }
                None => {}
            }
        }
    }
    if code.contains(TEMPORARY) {
        found.insert("TMPDIR".to_owned());
    }
    found
}

/// Returns the variables that shipped code reads.
fn read() -> BTreeSet<String> {
    let sources = FOLDERS.iter().flat_map(|folder| {
        let mut files = super::files(folder, ".rs");
        files.extend(super::files(folder, ".h"));
        files
    });
    let shipped = sources.filter(|path| {
        let path = path.strip_prefix(super::root()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_test = NOT_SHIPPED.iter().any(|folder| path.starts_with(folder))
            || path.iter().any(|part| part == "tests" || part == "fault" || part == "examples")
            || name.ends_with("tests.rs")
            || ["testing.rs", "build.rs"].contains(&name);
        !is_test
    });
    shipped.flat_map(|path| variables(&std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn the_table_lists_exactly_the_variables_that_are_read() {
    let document = markdown::document("docs/environment.md");
    let rows = document.rows(|cell| cell.starts_with('`'));
    let table: BTreeSet<String> = rows.iter().map(|row| row[0].replace('`', "")).collect();
    assert_eq!(table, read());
    assert_eq!(rows.len(), table.len(), "a variable has two rows");
}

#[test]
fn variables_are_found_as_literals_and_constants() {
    let of = |source| variables(source).into_iter().collect::<Vec<_>>();
    assert_eq!(of(r#"std::env::var_os("A_B")"#), ["A_B"]);
    assert_eq!(of("const NAME: &str = \"C_D\";\nstd::env::var_os(NAME)"), ["C_D"]);
    assert_eq!(of("number(\n    \"E_F\")"), ["E_F"]);
    assert_eq!(of("// var_os(\"G_H\")"), [""; 0]);
    assert_eq!(of("#[cfg(test)]\nmod tests { var_os(\"I_J\") }"), [""; 0]);
}
