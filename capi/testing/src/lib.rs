//! Helpers for the tests of the C libraries: the built libraries, the headers and the C compiler;
//! in [`abi`] the comparison of a library and its headers with recorded facts, and in [`packaging`]
//! the use of an installation.
//!
//! Any error fails the test.

pub mod abi;
pub mod packaging;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Returns the root directory of the project.
pub fn project_root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.canonicalize().expect("the project has a root")
    })
}

/// Returns cargo's build directory, such as `target/debug`.
pub fn build_folder() -> PathBuf {
    let program = std::env::current_exe().expect("the program has a path");
    let folder = program.parent().expect("a program is in a directory");
    // Tests are in a subdirectory.
    let folder = match folder.file_name() {
        Some(name) if name == "deps" => folder.parent().expect("deps is a subdirectory"),
        _ => folder,
    };
    folder.to_owned()
}

/// Returns a directory for files of this test program, in cargo's directory for the files of tests.
/// The name includes cargo's hash, because programs of several packages have the same name and may
/// run at the same time.
pub fn scratch(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let test = test.file_stem().expect("the test has a name");
    let folder = build_folder().join("../tmp").join(test).join(name);
    std::fs::create_dir_all(&folder).expect("a folder under target");
    folder.canonicalize().expect("the folder was just created")
}

/// Returns a directory of [`scratch`] without files.
pub fn empty_folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    std::fs::create_dir(&folder).expect("a folder under target");
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

/// The shared libraries, with the number after `.so`.
const LIBRARIES: [(&str, &str); 3] = [("blosc2", "9"), ("blosc", "1"), ("ferroblosc", "0")];

/// Links a library to a directory, under the name that the compiler searches and the name that the
/// dynamic linker searches.
fn link_library(library: &Path, (name, soversion): (&str, &str), folder: &Path) {
    let library = library.canonicalize().expect("the library exists");
    let file = format!("lib{name}.so");
    for link in [file.clone(), format!("{file}.{soversion}")] {
        let link = folder.join(link);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, &link).expect("a link");
    }
}

/// Returns a directory without other files, in which programs find this `libblosc2`, such as the
/// reference.
pub fn blosc2_folder(name: &str, library: &Path) -> PathBuf {
    let folder = empty_folder(name);
    link_library(library, LIBRARIES[0], &folder);
    folder
}

/// Returns a directory with the newly built libraries under the names that programs use. Also
/// builds everything else that is installed.
///
/// The dependencies of a test do not include shared libraries, so cargo is called here, unless
/// `FERROBLOSC_BUILT` states that the workspace is built.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        if std::env::var_os("FERROBLOSC_BUILT").is_none() {
            let packages = INSTALLED.iter().flat_map(|name| ["--package", name]);
            let mut cargo = Command::new(env!("CARGO"));
            run(cargo.arg("build").args(packages).current_dir(project_root()));
        }
        let folder = scratch("lib");
        for (name, soversion) in LIBRARIES {
            let library = build_folder().join(format!("lib{name}.so"));
            link_library(&library, (name, soversion), &folder);
        }
        folder
    })
}

/// Returns a static library, prepared as for installation: only its exports are visible.
pub fn static_library(name: &str) -> PathBuf {
    static MADE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let shared = library_folder().join(format!("lib{name}.so"));
    let file = format!("lib{name}.a");
    let library = scratch("static").join(&file);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if !made.contains(name) {
        run(Command::new(project_root().join("scripts/hide-symbols.sh")).args([
            &build_folder().join(&file),
            &shared,
            &library,
        ]));
        made.insert(name.to_owned());
    }
    library
}

/// Returns the command of a program that finds the shared libraries.
pub fn with_library(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library_folder());
    command
}

/// The variables that name another C compiler. `scripts/test-ports.py` sets the first one to a
/// compiler for the target.
const COMPILERS: [&str; 2] = ["FERROBLOSC_TEST_CC", "CC"];

/// Returns a C compiler with the project's headers.
pub fn c_compiler() -> Command {
    let compiler = COMPILERS.into_iter().find_map(std::env::var_os);
    let mut command = Command::new(compiler.unwrap_or_else(|| "cc".into()));
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

/// Links a program of `c-tests` with libraries, in the scratch directory `folder`; returns its
/// path.
///
/// Each source is compiled once, as by [`compiler_of`].
pub fn program_of(source: &str, folder: &str, libraries: &[impl AsRef<OsStr>]) -> PathBuf {
    static OBJECTS: Mutex<BTreeMap<String, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let object = {
        let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(objects.entry(source.to_owned()).or_default())
    };
    let object = object.get_or_init(|| {
        let object = scratch("objects").join(source.replace(['.', '/'], "-") + ".o");
        run(compiler_of(source, &object).arg("-c"));
        object
    });
    let name = Path::new(source).file_name().expect("the name of a source").to_string_lossy();
    let program = scratch(folder).join(name.replace('.', "-"));
    let mut linker = c_compiler();
    if let Some(folder) = fast_linker() {
        linker.arg("-fuse-ld=lld").arg("-B").arg(folder);
    }
    linker.arg("-pthread").arg(object).arg("-o").arg(&program).args(libraries);
    run(linker.args(["-lm", "-ldl"]));
    program
}

/// Returns the directory of rustc's linker, which links the large static libraries of debug builds
/// in a fifth of the time, if it is installed and the compiler is the system's.
fn fast_linker() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if COMPILERS.into_iter().any(|name| std::env::var_os(name).is_some()) {
            return None;
        }
        let output = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
        let libraries = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        let folder = libraries.parent()?.join("bin/gcc-ld");
        folder.join("ld.lld").exists().then_some(folder)
    };
    FOLDER.get_or_init(find).as_ref()
}

/// Runs a command that must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed ({}):\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
