//! The C programs of `c-tests/ferroblosc`, compiled with the headers and linked with both
//! libraries.

mod common;

use common::{compiler_of, hide_symbols, library_folder, project_root, run, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Compiles a C test into the directory `folder`, with all warnings as errors.
fn compile(source: &str, folder: &str, libraries: &[&Path]) -> PathBuf {
    let program = scratch(folder).join(source.replace('.', "-"));
    run(compiler_of(&format!("ferroblosc/{source}"), &program)
        .args(libraries)
        .args(["-lm", "-ldl"]));
    program
}

/// Returns the static library, prepared as for installation.
fn static_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let shared = library_folder().join("libferroblosc.so");
        hide_symbols(&shared, &scratch("static"))
    })
}

/// Returns the command of a program linked with the shared library, in a writable directory.
fn shared(source: &str) -> Command {
    let library = library_folder().join("libferroblosc.so");
    let mut command = Command::new(compile(source, "shared", &[&library]));
    command
        .env("LD_LIBRARY_PATH", library_folder())
        .current_dir(scratch("shared"));
    command
}

/// Returns the command of a program linked with the static library, in a writable directory.
fn linked_statically(source: &str) -> Command {
    let mut command = Command::new(compile(source, "static", &[static_library()]));
    command.current_dir(scratch("static"));
    command
}

#[test]
fn row_d12_versions_and_texts() {
    run(&mut shared("util.c"));
    run(&mut linked_statically("util.c"));
}

#[test]
fn row_d12_bloscpack_from_c() {
    run(&mut shared("bloscpack.c"));
    run(&mut linked_statically("bloscpack.c"));
}

#[test]
fn the_example_in_python_works() {
    let output = run(Command::new("python3")
        .arg(project_root().join("examples/bloscpack.py"))
        .env("LD_LIBRARY_PATH", library_folder()));
    let said = String::from_utf8(output.stdout).expect("text");
    for line in [
        "three numbers: [250000.0, 250000.5, 250001.0]",
        "16000000 bytes unpacked, metadata {'unit': 'K', 'typecode': 'd'}",
        "expected error: No such file or directory (os error 2)",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}\n{said}");
    }
}

#[test]
fn row_d12_three_libraries_live_in_one_process() {
    let folder = library_folder();
    let libraries =
        ["libferroblosc.so", "libblosc2.so", "libblosc.so"].map(|name| folder.join(name));
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let program = compile("row_d12_three.c", "three", &libraries);
    run(Command::new(program).env("LD_LIBRARY_PATH", folder));
}

#[test]
fn row_d12_backends_select_durability_and_verification_names_corrupted_parts() {
    let folder = library_folder();
    let libraries = ["libferroblosc.so", "libblosc2.so"].map(|name| folder.join(name));
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let program = compile("row_d12_durability.c", "durability", &libraries);
    run(Command::new(program)
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS")
        .current_dir(scratch("durability")));
}

#[test]
fn transactions_are_committed_and_rolled_back() {
    let folder = library_folder();
    let libraries = ["libferroblosc.so", "libblosc2.so"].map(|name| folder.join(name));
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let program = compile("transactions.c", "transactions", &libraries);
    run(Command::new(program)
        .env("LD_LIBRARY_PATH", folder)
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS")
        .env_remove("BLOSC_LOCKING")
        .current_dir(scratch("transactions")));
}

#[test]
fn the_last_error_of_a_thread_says_why_its_call_failed() {
    let folder = library_folder();
    let libraries = ["libferroblosc.so", "libblosc2.so"].map(|name| folder.join(name));
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let program = compile("last_error.c", "last-error", &libraries);
    run(Command::new(program)
        .env("LD_LIBRARY_PATH", folder)
        .env("LC_ALL", "C")
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS")
        .env_remove("BLOSC_LOCKING")
        .current_dir(scratch("last-error")));
}

#[test]
fn arrays_and_tables_of_bcolz() {
    run(&mut shared("bcolz.c"));
    run(&mut linked_statically("bcolz.c"));
    run(&mut shared("bcolz_tables.c"));
    run(&mut linked_statically("bcolz_tables.c"));
}

#[test]
fn a_cancelled_thread_ends_after_its_call() {
    run(&mut shared("cancel.c"));
    run(&mut linked_statically("cancel.c"));
}
