//! What the tests of the C interface share: the built library, the headers, the C compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the project.
pub fn project_root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        root.canonicalize().expect("the project has a root")
    })
}

/// The folder cargo built in.
pub fn build_folder() -> PathBuf {
    // The test runs from <target>/debug/deps.
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("the test is in the target folder");
    folder.to_owned()
}

/// The folder with the three libraries under the names programs know, just built, like all that is
/// installed with them.
///
/// A test's own dependencies do not include shared libraries, so cargo is asked for them here.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        run(Command::new(env!("CARGO"))
            .args(["build", "--package", env!("CARGO_PKG_NAME")])
            .args(["--package", "ferroblosc-capi-blosc2"])
            .args(["--package", "ferroblosc-capi-blosc1"])
            .args(["--package", "ferroblosc-blpk"])
            .args(["--package", "ferroblosc-hdf5-blosc"])
            .args(["--package", "ferroblosc-hdf5-blosc2"])
            .current_dir(project_root()));
        let folder = scratch("lib");
        for (name, soversion) in [("ferroblosc", "0"), ("blosc2", "9"), ("blosc", "1")] {
            let file = format!("lib{name}.so");
            for link in [file.clone(), format!("{file}.{soversion}")] {
                let link = folder.join(link);
                let _ = std::fs::remove_file(&link);
                std::os::unix::fs::symlink(build_folder().join(&file), &link).expect("a link");
            }
        }
        folder
    })
}

/// The static library, made as it is installed.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn static_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let shared = library_folder().join("libferroblosc.so");
        let library = scratch("static").join("libferroblosc.a");
        run(
            Command::new(project_root().join("scripts/hide-symbols.sh")).args([
                &build_folder().join("libferroblosc.a"),
                &shared,
                &library,
            ]),
        );
        library
    })
}

/// A folder of that name for the files of this test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(env!("CARGO_CRATE_NAME"))
        .join(name);
    std::fs::create_dir_all(&folder).expect("a folder under target");
    folder
}

/// A C compiler with the project's headers.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn c_compiler() -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.arg("-I").arg(project_root().join("include"));
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
