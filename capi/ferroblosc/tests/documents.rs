//! The C programs in the documents, compiled with every warning an error, linked and run as they stand there.

mod common;

use common::{c_compiler, library_folder, project_root, run, scratch};
use std::path::Path;
use std::process::Command;

/// The headers of each library.
const LIBRARIES: [(&str, &[&str]); 3] = [
    ("blosc2", &["blosc2.h", "b2nd.h"]),
    ("blosc", &["blosc.h"]),
    ("ferroblosc", &["ferroblosc.h", "bloscpack.h", "bcolz.h"]),
];

/// The programs of a document.
fn programs(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project_root().join(document)).unwrap();
    let blocks = text.split("```c\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// The libraries whose headers a program includes, as options of the linker.
fn libraries(program: &str) -> impl Iterator<Item = String> {
    let is_used = |headers: &[&str]| {
        let mut headers = headers.iter();
        headers.any(|header| program.contains(&format!("#include <{header}>")))
    };
    let used = LIBRARIES
        .iter()
        .filter(move |(_, headers)| is_used(headers));
    used.map(|(name, _)| format!("-l{name}"))
}

/// Compiles a program in a folder and runs it there.
fn run_in(folder: &Path, program: &str) {
    let source = folder.join("program.c");
    std::fs::write(&source, program).unwrap();
    run(c_compiler()
        .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"])
        .arg(&source)
        .arg("-o")
        .arg(folder.join("program"))
        .arg("-L")
        .arg(library_folder())
        .args(libraries(program)));
    run(Command::new(folder.join("program"))
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", library_folder()));
}

/// Runs the programs of a document, each in an empty folder. There are `count`.
fn all_run(document: &str, count: usize) {
    let programs = programs(document);
    assert_eq!(programs.len(), count, "{document}");
    for (number, program) in programs.iter().enumerate() {
        let folder = scratch(&format!("{}-{number}", document.replace('/', "-")));
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        run_in(&folder, program);
    }
}

#[test]
fn the_program_of_the_readme_runs() {
    all_run("README.md", 1);
}

#[test]
fn the_programs_for_those_who_migrate_run() {
    all_run("docs/migrating.md", 2);
}
