//! The random calls of `c-tests/random_handles.c` with both libraries: they return the same, and leave the same data.
//!
//! A model judges the results of ours there. Here are the seeds with which the reference reaches the end and
//! agrees; with others it crashes, or returns what the model knows to be wrong.

use ferroblosc_interop::library::{our_path, reference_path};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seeds of runs with one handle.
const ONE_HANDLE: &[u32] = &[
    2, 4, 5, 6, 8, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 25, 27, 30, 32, 33, 34, 35, 36, 37,
    39, 40, 42, 43, 44,
];
/// Seeds of runs with two handles, each refreshed before it is used.
const TWO_HANDLES: &[u32] = &[
    2, 6, 15, 17, 18, 19, 20, 21, 22, 26, 27, 33, 34, 35, 36, 37, 39, 40, 44, 53, 64, 73, 87, 88,
    99,
];

/// Returns the lines that the program prints of one seed with this library.
fn calls(program: &Path, library: &Path, name: &str, run: &str, seed: u32) -> String {
    let folder = program.with_file_name(format!("handles-{name}"));
    std::fs::create_dir_all(&folder).expect("a folder under target");
    let link = folder.join("libblosc2.so.9");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(library, &link).expect("a link under target");
    let output = Command::new(program)
        .args([run, &seed.to_string()])
        .env("LD_LIBRARY_PATH", &folder)
        .env_remove("BLOSC_TRACE")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{name}, {run} {seed}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn random_calls_return_what_the_reference_returns() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-handles");
    let (ours, reference) = (our_path(), reference_path().expect("a reference"));
    let status = Command::new(std::env::var_os("CC").unwrap_or("cc".into()))
        .args(["-std=c99", "-D_DEFAULT_SOURCE", "-O1", "-pthread", "-I"])
        .arg(root.join("include"))
        .arg(root.join("c-tests/random_handles.c"))
        .arg(&ours)
        .arg("-o")
        .arg(&program)
        .status()
        .expect("a C compiler");
    assert!(status.success());
    for (run, seeds) in [("log", ONE_HANDLE), ("log-two", TWO_HANDLES)] {
        for &seed in seeds {
            let (found, wanted) = (
                calls(&program, &ours, "ours", run, seed),
                calls(&program, &reference, "reference", run, seed),
            );
            assert!(found.lines().count() > 20, "{run} {seed}: {found}");
            assert_eq!(found, wanted, "{run} {seed}");
        }
    }
}
