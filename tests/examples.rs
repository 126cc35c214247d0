//! Runs the examples in Rust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Builds all examples; returns the path of each program by its name.
fn programs() -> &'static BTreeMap<String, PathBuf> {
    static PROGRAMS: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args(["build", "--quiet", "--package", "ferroblosc", "--examples"]);
        // The messages contain the path of each program.
        cargo.arg("--message-format=json-render-diagnostics");
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().expect("cargo starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).expect("JSON is text");
        let executables = messages.lines().filter_map(|line| {
            let path = line.split_once("\"executable\":\"")?.1.split_once('"')?.0;
            let path = PathBuf::from(path);
            Some((path.file_name()?.to_str()?.to_owned(), path))
        });
        executables.collect()
    })
}

/// Runs an example in a directory.
fn run(example: &str, folder: &Path, arguments: &[&str]) -> Output {
    let program = programs().get(example).unwrap_or_else(|| panic!("{example} is not built"));
    let mut command = Command::new(program);
    // These change the files that the examples write.
    for variable in ["BLOSC_LOCKING", "FERROBLOSC_CHECKSUMS", "FERROBLOSC_DURABLE"] {
        command.env_remove(variable);
    }
    let output = command.args(arguments).current_dir(folder).output().expect("a program starts");
    assert!(output.status.success(), "{example}: {output:?}");
    output
}

/// Returns the names of the files in a directory.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
    entries.map(|entry| name(entry).into_string().expect("text")).collect()
}

#[test]
fn the_array_example_prints_a_stored_slice() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run("array", folder.path(), &["table.b2nd"]);
    let expected = "[947, 948, 949]\n[997, 998, 999]\n[1047, 1048, 1049]\n[1097, 1098, 1099]\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(names(folder.path()), ["table.b2nd"]);
}

#[test]
fn every_example_checks_itself_and_leaves_no_file() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut count = 0;
    for source in names(&sources) {
        match source.strip_suffix(".rs") {
            // It has a test of its own, because it writes the file of its argument.
            None | Some("array") => {}
            Some(example) => {
                let folder = tempfile::tempdir().expect("a folder");
                let output = run(example, folder.path(), &[]);
                assert!(!output.stdout.is_empty(), "{example} prints nothing");
                assert_eq!(names(folder.path()), Vec::<String>::new(), "{example}");
                count += 1;
            }
        }
    }
    assert!(count >= 15, "{count}");
}
