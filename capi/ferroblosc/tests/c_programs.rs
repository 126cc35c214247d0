//! The C programs of `c-tests/ferroblosc`, compiled with the headers and linked with both
//! libraries.

use ferroblosc_capi_testing::{
    empty_folder, library_folder, program_of, project_root, run, scratch, static_library,
    with_library,
};
use std::path::PathBuf;
use std::process::Command;

/// Compiles a C test into the directory `folder`, with all warnings as errors.
fn compile(source: &str, folder: &str, libraries: &[PathBuf]) -> PathBuf {
    program_of(&format!("ferroblosc/{source}"), folder, libraries)
}

/// Returns the command of a program linked with shared libraries, in the writable directory
/// `folder`, without variables that change results.
fn linked_with(names: &[&str], source: &str, folder: &str) -> Command {
    let libraries = names.iter().map(|name| library_folder().join(format!("lib{name}.so")));
    let libraries: Vec<PathBuf> = libraries.collect();
    let mut command = with_library(compile(source, folder, &libraries));
    command
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS")
        .env_remove("BLOSC_LOCKING")
        .current_dir(scratch(folder));
    command
}

/// Returns the command of a program linked with the shared library.
fn shared(source: &str) -> Command {
    linked_with(&["ferroblosc"], source, "shared")
}

/// Returns the command of a program linked with the static library, in a writable directory.
fn linked_statically(source: &str) -> Command {
    let library = static_library("ferroblosc");
    let mut command = Command::new(compile(source, "static", &[library]));
    command.current_dir(scratch("static"));
    command
}

#[test]
fn row_d12_versions_and_error_texts_are_returned() {
    run(&mut shared("util.c"));
    run(&mut linked_statically("util.c"));
}

#[test]
fn row_d12_bloscpack_files_are_read_and_written_in_c() {
    run(&mut shared("bloscpack.c"));
    run(&mut linked_statically("bloscpack.c"));
}

#[test]
fn the_example_in_python_works() {
    let output = run(Command::new("python3")
        .arg(project_root().join("examples/bloscpack.py"))
        .env("LD_LIBRARY_PATH", library_folder()));
    let text = String::from_utf8(output.stdout).expect("text");
    for line in [
        "three numbers: [250000.0, 250000.5, 250001.0]",
        "16000000 bytes unpacked, metadata {'unit': 'K', 'typecode': 'd'}",
        "expected error: cannot open /nonexistent: No such file or directory (os error 2)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn row_d12_three_libraries_work_in_one_process() {
    let names = ["ferroblosc", "blosc2", "blosc"];
    run(&mut linked_with(&names, "row_d12_three.c", "three"));
}

#[test]
fn row_d12_backends_select_durability_and_verification_names_corrupted_parts() {
    let names = ["ferroblosc", "blosc2"];
    run(&mut linked_with(&names, "row_d12_durability.c", "durability"));
}

#[test]
fn transactions_are_committed_and_rolled_back() {
    let names = ["ferroblosc", "blosc2"];
    run(&mut linked_with(&names, "transactions.c", "transactions"));
}

#[test]
fn the_last_error_of_a_thread_describes_its_failed_call() {
    let names = ["ferroblosc", "blosc2"];
    run(linked_with(&names, "last_error.c", "last-error").env("LC_ALL", "C"));
}

#[test]
fn arrays_and_tables_of_bcolz_are_read_and_changed() {
    run(&mut shared("bcolz.c"));
    run(&mut linked_statically("bcolz.c"));
    run(&mut shared("bcolz_tables.c"));
    run(&mut linked_statically("bcolz_tables.c"));
}

/// Returns the directory with the stores of the tests.
fn fixtures() -> PathBuf {
    project_root().join("formats/tests/data/stores")
}

/// Returns the paths of all stores and objects of the tests.
fn stores() -> Vec<PathBuf> {
    let mut stores: Vec<PathBuf> = Vec::new();
    for folder in [fixtures(), fixtures().join("old")] {
        stores.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    stores.sort();
    assert!(stores.len() > 100, "{}", stores.len());
    stores
}

#[test]
fn objects_of_stores_are_written_and_outlive_their_store() {
    let names = ["ferroblosc", "blosc2"];
    empty_folder("b2store");
    run(linked_with(&names, "b2store.c", "b2store").args(stores()));
    let libraries = names.map(static_library);
    empty_folder("b2store-static");
    let program = compile("b2store.c", "b2store-static", &libraries);
    run(Command::new(program).current_dir(scratch("b2store-static")));
}

#[test]
fn tables_of_stores_are_read_by_column() {
    run(linked_with(&["ferroblosc"], "b2store_tables.c", "b2store-tables").arg(fixtures()));
}

#[test]
fn wrong_handles_and_damaged_stores_are_errors() {
    let output =
        run(linked_with(&["ferroblosc"], "b2store_hostile.c", "b2store-hostile").args(stores()));
    let printed = String::from_utf8(output.stdout).expect("text");
    let opened: usize = printed.split(' ').next().unwrap().parse().expect("a number");
    assert!(opened > 90, "{printed}");
}

#[test]
fn a_cancelled_thread_ends_after_its_call() {
    run(&mut shared("cancel.c"));
    run(&mut linked_statically("cancel.c"));
}
