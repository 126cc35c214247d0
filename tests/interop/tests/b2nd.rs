//! Arrays: equal random calls to both libraries must have equal results, also when each library
//! continues with the other's files. Arrays compressed with the plugins NDLZ, ZFP, NDCELL, NDMEAN,
//! BYTEDELTA and INT_TRUNC are exchanged in frames of both kinds.

use ferroblosc_capi_testing::{blosc2_folder, compiler_of, empty_folder, run};
use ferroblosc_interop::library::{our_path, reference_path};
use std::path::{Path, PathBuf};
use std::process::Command;

const SEEDS: [&str; 3] = ["1", "2", "3"];

fn compile(name: &str, libraries: &Path) -> PathBuf {
    let program = libraries.join(name);
    let library = libraries.join("libblosc2.so");
    run(compiler_of(&format!("{name}.c"), &program).arg(library).arg("-lm"));
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
    let output = run(Command::new(program)
        .env("LD_LIBRARY_PATH", libraries)
        .arg(what)
        .arg(folder)
        .args(more));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(str::to_owned).collect()
}

fn assert_same(ours: &[String], theirs: &[String], what: &str) {
    let round = |lines: &[String], at: usize| {
        lines[..at].iter().rfind(|line| line.starts_with("round")).cloned()
    };
    let differs = ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs);
    if let Some(at) = differs {
        panic!("{what}, {:?}: {} is {}", round(ours, at), ours[at], theirs[at]);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn both_libraries_change_arrays_alike() {
    let reference = reference_path().unwrap_or_else(|error| panic!("{error}"));
    let reference = blosc2_folder("reference", &reference);
    let ours = blosc2_folder("ours", &our_path());
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
    let reference = blosc2_folder("plugins-reference", &reference);
    let ours = blosc2_folder("plugins-ours", &our_path());
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
