//! Arrays: equal random calls to both libraries must have equal results, also when each library
//! continues with the other's files. Arrays compressed with the plugins NDLZ, ZFP, NDCELL, NDMEAN,
//! BYTEDELTA and INT_TRUNC are exchanged in frames of both kinds.

use ferroblosc_interop::library::{our_path, reference_path};
use std::path::{Path, PathBuf};
use std::process::Command;

const SEEDS: [&str; 3] = ["1", "2", "3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Creates an empty folder of this name in the target directory.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("b2nd")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder under target");
    folder
}

/// Creates a folder that contains a library under the name that programs load.
fn library_folder(name: &str, library: &Path) -> PathBuf {
    let folder = empty_folder(name);
    let library = library.canonicalize().expect("the library exists");
    for link in ["libblosc2.so", "libblosc2.so.9"] {
        std::os::unix::fs::symlink(&library, folder.join(link)).expect("a link");
    }
    folder
}

fn compile(name: &str, libraries: &Path) -> PathBuf {
    let program = empty_folder(&format!("{name}-program")).join(name);
    let status = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args([
            "-std=c99",
            "-O1",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
        ])
        .arg("-I")
        .arg(root().join("include"))
        .arg(root().join("c-tests").join(name).with_extension("c"))
        .arg("-o")
        .arg(&program)
        .arg(libraries.join("libblosc2.so"))
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success());
    program
}

/// Runs the program with these arguments and returns its output lines.
fn output_of(
    program: &Path,
    libraries: &Path,
    what: &str,
    folder: &Path,
    more: &[&str],
) -> Vec<String> {
    let output = Command::new(program)
        .env("LD_LIBRARY_PATH", libraries)
        .arg(what)
        .arg(folder)
        .args(more)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{what} {more:?}: {}\n{text}",
        output.status
    );
    text.lines().map(str::to_owned).collect()
}

fn assert_same(ours: &[String], theirs: &[String], what: &str) {
    let round = |lines: &[String], at: usize| {
        lines[..at]
            .iter()
            .rfind(|line| line.starts_with("round"))
            .cloned()
    };
    let differs = ours
        .iter()
        .zip(theirs)
        .position(|(ours, theirs)| ours != theirs);
    if let Some(at) = differs {
        panic!(
            "{what}, {:?}: {} is {}",
            round(ours, at),
            ours[at],
            theirs[at]
        );
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn both_libraries_change_arrays_alike() {
    let reference = reference_path().unwrap_or_else(|error| panic!("{error}"));
    let reference = library_folder("reference", &reference);
    let ours = library_folder("ours", &our_path());
    let program = compile("b2nd_trace", &ours);
    for seed in SEEDS.map(|seed| [seed]) {
        let (mine, other) = (empty_folder("made-by-us"), empty_folder("made-by-them"));
        let our_output = output_of(&program, &ours, "write", &mine, &seed);
        let their_output = output_of(&program, &reference, "write", &other, &seed);
        assert_same(&our_output, &their_output, "writing");
        // Each library continues with the other's files.
        let our_output = output_of(&program, &ours, "read", &other, &seed);
        let their_output = output_of(&program, &reference, "read", &mine, &seed);
        assert_same(&our_output, &their_output, "going on");
    }
}

#[test]
fn arrays_of_plugins_on_disk_are_read_by_both_libraries() {
    let reference = reference_path().unwrap_or_else(|error| panic!("{error}"));
    let reference = library_folder("plugins-reference", &reference);
    let ours = library_folder("plugins-ours", &our_path());
    let program = compile("b2nd_plugins", &ours);
    let mine = empty_folder("plugins-made-by-us");
    let other = empty_folder("plugins-made-by-them");
    let our_output = output_of(&program, &ours, "write", &mine, &[]);
    let their_output = output_of(&program, &reference, "write", &other, &[]);
    assert_same(&our_output, &their_output, "writing");
    let our_output = output_of(&program, &ours, "read", &other, &[]);
    let their_output = output_of(&program, &reference, "read", &mine, &[]);
    assert_same(&our_output, &their_output, "reading");
}
