//! Runs the examples in Rust.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Returns the directory of the built examples. Builds them, unless `FERROBLOSC_BUILT` states that
/// the workspace is built.
fn programs() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // This program is in the directory `deps` of cargo's output.
        let program = std::env::current_exe().expect("the path of this program");
        let built = program.ancestors().nth(2).expect("two directories");
        if std::env::var_os("FERROBLOSC_BUILT").is_none() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
            cargo.args(["build", "--quiet", "--package", "ferroblosc", "--examples"]);
            if built.ends_with("release") {
                cargo.arg("--release");
            }
            let output = cargo.output().expect("cargo starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        built.join("examples")
    })
}

/// Runs an example in a directory.
fn run(example: &str, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(programs().join(example));
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
