//! Helpers for the tests of the C libraries: the built libraries, the headers and the C compiler,
//! and in [`abi`] the comparison of a library and its headers with recorded facts.
//!
//! Any error fails the test.

pub mod abi;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Returns the root directory of the project.
pub fn project_root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.canonicalize().expect("the project has a root")
    })
}

/// Returns cargo's build directory.
pub fn build_folder() -> PathBuf {
    // The test is in `<target>/debug/deps`.
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("the test is in the target folder");
    folder.to_owned()
}

/// Returns a directory for files of the test program `test`, below cargo's directory for the tests
/// of its package.
pub fn folder_below(target: &str, test: &str, name: &str) -> PathBuf {
    let folder = Path::new(target).join(test).join(name);
    std::fs::create_dir_all(&folder).expect("a folder under target");
    folder
}

/// The packages with installed files.
const INSTALLED: [&str; 7] = [
    "ferroblosc-capi-blosc2",
    "ferroblosc-capi-blosc1",
    "ferroblosc-capi-ferroblosc",
    "ferroblosc-b2",
    "ferroblosc-blpk",
    "ferroblosc-hdf5-blosc",
    "ferroblosc-hdf5-blosc2",
];

/// Builds everything that is installed, and links libraries to `folder` under the names that
/// programs use. Each library is a name and the number after `.so`.
///
/// The dependencies of a test do not include shared libraries, so cargo is called here.
pub fn build_libraries(libraries: &[(&str, &str)], folder: &Path) {
    let packages = INSTALLED.iter().flat_map(|name| ["--package", name]);
    run(Command::new(env!("CARGO"))
        .arg("build")
        .args(packages)
        .current_dir(project_root()));
    for (name, soversion) in libraries {
        let file = format!("lib{name}.so");
        for link in [file.clone(), format!("{file}.{soversion}")] {
            let link = folder.join(link);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(build_folder().join(&file), &link).expect("a link");
        }
    }
}

/// Creates the static library that belongs to a shared one in `folder`, prepared as for
/// installation: only its exports are visible. Returns its path.
pub fn hide_symbols(shared: &Path, folder: &Path) -> PathBuf {
    let name = Path::new(shared.file_name().expect("a file")).with_extension("a");
    let library = folder.join(&name);
    run(
        Command::new(project_root().join("scripts/hide-symbols.sh")).args([
            &build_folder().join(&name),
            shared,
            &library,
        ]),
    );
    library
}

/// Returns a C compiler with the project's headers.
pub fn c_compiler() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.arg("-I").arg(project_root().join("include"));
    command
}

/// Returns a compiler command for a program of `c-tests`, without the libraries: C99 with POSIX
/// functions, warnings as errors.
pub fn compiler_of(source: &str, program: &Path) -> Command {
    let mut command = c_compiler();
    command
        .args(["-std=c99", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread"])
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror"])
        .arg(project_root().join("c-tests").join(source))
        .arg("-o")
        .arg(program);
    command
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
