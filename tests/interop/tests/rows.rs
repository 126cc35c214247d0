//! Decision rows that end with "the reference reads it": a C program creates frames with our
//! library, reads and extends them with the reference, and reads them with ours again.
//!
//! The program loads the library selected by `LD_LIBRARY_PATH`.

use ferroblosc_interop::library::{our_path, reference_path};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library name that programs request from the dynamic linker.
const SONAME: &str = "libblosc2.so.9";

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Creates a folder that contains only this library, for the dynamic linker.
fn folder_of(name: &str, library: &Path, base: &Path) -> PathBuf {
    let folder = base.join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let library = library.canonicalize().expect("the library exists");
    std::os::unix::fs::symlink(library, folder.join(SONAME)).expect("a link");
    folder
}

#[test]
fn row_f1_row_f16_row_s28_the_reference_reads_and_extends_our_frames() {
    let name = format!("ferroblosc-interop-rows-{}", std::process::id());
    let base = std::env::temp_dir().join(name);
    let ours = folder_of("ours", &our_path(), &base);
    let reference = reference_path().expect("`make reference` installs the reference library");
    let reference = folder_of("reference", &reference, &base);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = base.join("rows_exchange");
    run(
        Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-std=c99", "-D_DEFAULT_SOURCE", "-O1", "-g"])
            .arg("-I")
            .arg(root.join("include"))
            .arg(root.join("c-tests/rows_exchange.c"))
            .arg(ours.join(SONAME))
            .args(["-lm", "-o"])
            .arg(&program),
    );
    let frames = base.join("frames");
    std::fs::create_dir(&frames).expect("a folder");
    for (library, what) in [(&ours, "write"), (&reference, "read"), (&ours, "reread")] {
        run(Command::new(&program)
            .arg(what)
            .current_dir(&frames)
            .env("LD_LIBRARY_PATH", library));
    }
    std::fs::remove_dir_all(&base).expect("the folder can be removed");
}
