//! The random calls of `c-tests/random_handles.c` with both libraries: equal results and equal
//! data.
//!
//! A model checks our results in the C program. These are the seeds with which the reference
//! completes and agrees; with others it crashes or returns wrong results.

use ferroblosc_capi_testing::{blosc2_folder, compiler_of, run};
use ferroblosc_interop::library::{our_path, reference_path};
use std::path::Path;
use std::process::Command;

/// The seeds of runs with one handle.
const ONE_HANDLE: &[u32] = &[
    2, 4, 5, 6, 8, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 22, 25, 27, 30, 32, 33, 34, 35, 36, 37,
    39, 40, 42, 43, 44,
];
/// The seeds of runs with two handles, each refreshed before each use.
const TWO_HANDLES: &[u32] = &[
    2, 6, 15, 17, 18, 19, 20, 21, 22, 26, 27, 33, 34, 35, 36, 37, 39, 40, 44, 53, 64, 73, 87, 88,
    99,
];

/// Returns the program's output for one seed with the library in a directory.
fn calls(program: &Path, folder: &Path, log: &str, seed: u32) -> String {
    let output = run(Command::new(program)
        .args([log, &seed.to_string()])
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("BLOSC_TRACE"));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn random_calls_have_the_results_of_the_reference() {
    let ours = blosc2_folder("ours", &our_path());
    let reference = blosc2_folder("reference", &reference_path().expect("a reference"));
    let program = ours.join("random-handles");
    run(compiler_of("random_handles.c", &program).arg(ours.join("libblosc2.so")));
    for (log, seeds) in [("log", ONE_HANDLE), ("log-two", TWO_HANDLES)] {
        for &seed in seeds {
            let found = calls(&program, &ours, log, seed);
            let wanted = calls(&program, &reference, log, seed);
            assert!(found.lines().count() > 20, "{log} {seed}: {found}");
            assert_eq!(found, wanted, "{log} {seed}");
        }
    }
}
