//! The lines of `BLOSC_INFO`, which programs search, compared with the reference's.

use ferroblosc_interop::library::{our_path, reference_path};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The line for the compression of a frame's offsets, which the reference compresses at other
/// times.
const OFFSETS: &str = "compcode: 0, clevel: 5, blocksize: 8, splitmode: 0, typesize: 8";

/// Returns the program's output with this library.
fn lines(program: &Path, library: &Path) -> Vec<String> {
    let name = program.file_name().expect("a name").to_string_lossy();
    let folder = program.with_file_name(format!(
        "{name}-{}",
        library.to_string_lossy().replace('/', "-")
    ));
    std::fs::create_dir_all(&folder).expect("a folder under target");
    let link = folder.join("libblosc2.so.9");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(library, &link).expect("a link under target");
    let output = Command::new(program)
        .current_dir(&folder)
        .env("LD_LIBRARY_PATH", &folder)
        .env("BLOSC_INFO", "1")
        .env_remove("BLOSC_TRACE")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    let lines = text.lines().filter(|line| !line.contains(OFFSETS));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_information_lines_equal_those_of_the_reference() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("information");
    let ours = our_path();
    let status = Command::new(std::env::var_os("CC").unwrap_or("cc".into()))
        .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(root.join("c-tests/information.c"))
        .arg(&ours)
        .status();
    assert!(status.expect("a C compiler").success());
    let (got, wanted) = (
        lines(&program, &ours),
        lines(&program, &reference_path().unwrap()),
    );
    let differing = got
        .iter()
        .zip(&wanted)
        .position(|(got, wanted)| got != wanted);
    if let Some(at) = differing {
        let around = at.saturating_sub(4)..(at + 4).min(got.len()).min(wanted.len());
        panic!(
            "ours {:#?}, the reference {:#?}",
            &got[around.clone()],
            &wanted[around]
        );
    }
    assert_eq!(got.len(), wanted.len());
    assert!(got.len() > 10_000, "{} lines", got.len());
}
