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

/// The folder with `libblosc2.so` and `libblosc2.so.9`, just built.
///
/// A test's own dependencies do not include the shared library, so cargo is asked for it here.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        run(Command::new(env!("CARGO"))
            .args(["build", "--workspace"])
            .current_dir(project_root()));
        let folder = scratch("lib");
        for name in ["libblosc2.so", "libblosc2.so.9"] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(build_folder().join("libblosc2.so"), &link).expect("a link");
        }
        folder
    })
}

/// The folder cargo built in.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn build_folder() -> PathBuf {
    // The test runs from <target>/debug/deps.
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("the test is in the target folder");
    folder.to_owned()
}

/// The static library, made as it is installed: with its exports visible and nothing else.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn static_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let shared = library_folder().join("libblosc2.so");
        let library = scratch("lib").join("libblosc2.a");
        run(
            Command::new(project_root().join("scripts/hide-symbols.sh")).args([
                &build_folder().join("libblosc2.a"),
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

/// The lines of a list under `tests/abi`, without comments: the first word of each.
#[allow(unused, reason = "each test file uses its part of this module")]
pub fn abi_list(file: &str) -> Vec<String> {
    let path = project_root().join("tests/abi").join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}
