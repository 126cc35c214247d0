//! The C programs of `c-tests/blosc1`, run against the headers and both libraries.

use ferroblosc_capi_testing::{library_folder, program_of, run, static_library, with_library};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the number of runs of tests that depend on timing: FERROBLOSC_TIMING_ROUNDS.
fn rounds() -> usize {
    let rounds = std::env::var("FERROBLOSC_TIMING_ROUNDS");
    rounds.map_or(25, |rounds| rounds.parse().expect("a number of rounds"))
}

/// Environment variables that would change the programs' results.
const VARIABLES: [&str; 10] = [
    "BLOSC_CLEVEL",
    "BLOSC_SHUFFLE",
    "BLOSC_TYPESIZE",
    "BLOSC_COMPRESSOR",
    "BLOSC_BLOCKSIZE",
    "BLOSC_NTHREADS",
    "BLOSC_SPLITMODE",
    "BLOSC_NOLOCK",
    "BLOSC_WARN",
    "BLOSC_TRACE",
];

/// Compiles a C test into the directory `folder`, with all warnings as errors.
fn compile(source: &str, folder: &str, libraries: &[&Path]) -> PathBuf {
    program_of(&format!("blosc1/{source}"), folder, libraries)
}

/// Returns a command that finds the shared libraries, without variables that change results.
fn clean(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = with_library(program);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

fn shared(source: &str) -> PathBuf {
    compile(source, "shared", &[&library_folder().join("libblosc.so")])
}

#[test]
fn row_l1_row_l5_row_l7_row_l8_row_l9_row_l10_row_l12_functions_check_their_arguments() {
    run(&mut clean(shared("calls.c")));
    run(&mut clean(compile("calls.c", "static", &[&static_library("blosc")])));
}

#[test]
fn a_cancelled_thread_ends_after_its_call() {
    run(&mut clean(shared("cancel.c")));
}

#[test]
fn row_l3_row_l4_variables_change_calls() {
    let output = run(&mut clean(shared("environment.c")));
    // Row L2
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn row_l2_messages_are_printed_only_if_requested() {
    let program = shared("environment.c");
    let messages = |level: &str| {
        let output = run(clean(&program).arg("warn").env("BLOSC_WARN", level));
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(messages("0"), "");
    assert_eq!(messages("no"), "");
    let messages = messages("1");
    assert_eq!(messages.lines().count(), 11, "{messages}");
}

#[test]
fn row_l15_children_compress_with_threads() {
    let program = compile("processes.c", "fork", &[&library_folder().join("libblosc.so")]);
    for _ in 0..rounds() {
        run(clean(&program).arg("fork"));
    }
}

#[test]
fn threads_can_call_concurrently() {
    let program = compile("processes.c", "threads", &[&library_folder().join("libblosc.so")]);
    for _ in 0..rounds() {
        run(clean(&program).arg("threads"));
    }
}

#[test]
fn row_d7_first_calls_can_be_concurrent() {
    let program = compile("processes.c", "first", &[&library_folder().join("libblosc.so")]);
    for _ in 0..rounds() {
        run(clean(&program).arg("first-use"));
    }
}

#[test]
fn the_library_can_be_unloaded_while_its_threads_run() {
    // Linked statically, so that only the program's dlopen() keeps the shared library loaded.
    let program = compile("processes.c", "dlopen", &[&static_library("blosc")]);
    for _ in 0..rounds() {
        run(clean(&program).arg("dlopen").arg(library_folder().join("libblosc.so.1")));
    }
}

#[test]
fn row_d4_both_libraries_work_in_one_process() {
    let folder = library_folder();
    let program = compile(
        "row_d4_both.c",
        "shared",
        &[&folder.join("libblosc.so"), &folder.join("libblosc2.so")],
    );
    run(&mut clean(program));
    let program =
        compile("row_d4_both.c", "static", &[&static_library("blosc"), &static_library("blosc2")]);
    run(&mut clean(program));
}

#[test]
fn row_d4_preloading_both_libraries_works_with_programs_of_either() {
    let folder = library_folder();
    let [one, two] = ["libblosc.so.1", "libblosc2.so.9"].map(|name| folder.join(name));
    let program = shared("calls.c");
    for preload in [vec![&one], vec![&two], vec![&one, &two], vec![&two, &one]] {
        let list: Vec<&str> = preload.iter().map(|path| path.to_str().unwrap()).collect();
        run(clean(&program).env("LD_PRELOAD", list.join(":")));
    }
}
