//! The C programs and commands in the documents.
//!
//! The programs are compiled with warnings as errors, linked and run unchanged. The commands
//! install the library, compile against the installation and run with it; `/usr/local` is replaced
//! by a directory of the test.

use ferroblosc_capi_testing::{
    build_folder, c_compiler, empty_folder, library_folder, project_root, run, with_library,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The headers of each library.
const LIBRARIES: [(&str, &[&str]); 3] = [
    ("blosc2", &["blosc2.h", "b2nd.h"]),
    ("blosc", &["blosc.h"]),
    ("ferroblosc", &["ferroblosc.h", "b2store.h", "bloscpack.h", "bcolz.h"]),
];

/// The prefix of the commands in documents.
const PREFIX: &str = "/usr/local";
/// The start of a CMake project, which the documents omit.
const PROJECT: &str = "cmake_minimum_required(VERSION 3.16)
project(shown C)
add_executable(program program.c)
";

/// Returns the code blocks of a document in a language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(project_root().join(document)).unwrap();
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Returns the C programs of a document.
fn programs(document: &str) -> Vec<String> {
    blocks(document, "c")
}

/// Returns the only code block of a document that begins with `start`.
fn block(document: &str, language: &str, start: &str) -> String {
    let blocks = blocks(document, language).into_iter();
    let mut found: Vec<String> = blocks.filter(|block| block.starts_with(start)).collect();
    assert_eq!(found.len(), 1, "{document}: {start}");
    found.remove(0)
}

/// Runs commands of a document in a directory, with the installed prefix instead of `/usr/local`.
/// The programs of the prefix and of the directory are in the search path.
fn shell(folder: &Path, commands: &str) {
    let prefix = installed();
    let commands = commands.replace(PREFIX, prefix.to_str().unwrap());
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}/bin:{path}", folder.display(), prefix.display());
    let output = run(Command::new("sh")
        .args(["-euc", &commands])
        .current_dir(folder)
        .env("PATH", path)
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .env("CMAKE_PREFIX_PATH", prefix));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "", "{commands}");
}

/// Installs the libraries with the command of the README; returns the prefix.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        library_folder();
        let prefix = empty_folder("prefix");
        let block = block("README.md", "sh", "make install");
        let command = block.lines().next().unwrap();
        let command = command.replace(PREFIX, prefix.to_str().unwrap());
        // The libraries are already built, with the settings of the tests.
        let build = build_folder();
        let command = command
            .replace("make ", &format!("make --old-file=build BUILD='{}' ", build.display()));
        run(Command::new("sh")
            .args(["-euc", &command])
            .current_dir(project_root())
            .env_remove("MAKEFLAGS")
            .env_remove("DESTDIR")
            .env_remove("LIBDIR"));
        prefix
    })
}

/// Returns the linker options for the libraries whose headers a program includes.
fn libraries(program: &str) -> impl Iterator<Item = String> {
    let is_used = |headers: &[&str]| {
        let mut headers = headers.iter();
        headers.any(|header| program.contains(&format!("#include <{header}>")))
    };
    let used = LIBRARIES.iter().filter(move |(_, headers)| is_used(headers));
    used.map(|(name, _)| format!("-l{name}"))
}

/// Compiles and runs a program in a directory.
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
    run(with_library(folder.join("program")).current_dir(folder));
}

/// Runs the `count` programs of a document, each in an empty directory.
fn all_run(document: &str, count: usize) {
    let programs = programs(document);
    assert_eq!(programs.len(), count, "{document}");
    for (number, program) in programs.iter().enumerate() {
        let folder = empty_folder(&format!("{}-{number}", document.replace('/', "-")));
        run_in(&folder, program);
    }
}

#[test]
fn the_program_of_the_readme_runs() {
    all_run("README.md", 1);
}

#[test]
fn the_programs_of_the_page_on_migrating_run() {
    all_run("docs/migrating.md", 2);
}

#[test]
fn the_program_of_the_page_on_stores_runs() {
    all_run("docs/stores.md", 1);
}

#[test]
fn the_program_of_the_readme_compiles_with_the_installed_files() {
    let folder = empty_folder("cc");
    std::fs::write(folder.join("program.c"), &programs("README.md")[0]).unwrap();
    shell(&folder, &block("README.md", "sh", "cc program.c"));
    run(Command::new(folder.join("a.out"))
        .current_dir(&folder)
        .env("LD_LIBRARY_PATH", installed().join("lib")));
    assert!(folder.join("table.b2nd").exists());
}

#[test]
fn cmake_finds_the_installed_files_with_the_lines_of_the_readme() {
    let folder = empty_folder("cmake");
    std::fs::write(folder.join("program.c"), &programs("README.md")[0]).unwrap();
    let lines = block("README.md", "cmake", "find_package");
    std::fs::write(folder.join("CMakeLists.txt"), format!("{PROJECT}{lines}")).unwrap();
    shell(&folder, "cmake . && cmake --build . && ./program");
    assert!(folder.join("table.b2nd").exists());
}

#[test]
fn a_program_runs_with_the_replaced_library_as_documented() {
    let folder = empty_folder("swapped");
    std::fs::write(folder.join("program.c"), &programs("docs/migrating.md")[0]).unwrap();
    shell(&folder, "cc program.c -o program $(pkg-config --cflags --libs blosc)");
    shell(&folder, &block("docs/migrating.md", "sh", "LD_LIBRARY_PATH"));
}
