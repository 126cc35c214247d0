//! The lines of `BLOSC_INFO`, which programs search, compared with the reference's.

use ferroblosc_capi_testing::{blosc2_folder, compiler_of, run};
use ferroblosc_interop::library::{our_path, reference_path};
use std::path::Path;
use std::process::Command;

/// The line for the compression of a frame's offsets, which the reference compresses at other
/// times.
const OFFSETS: &str = "compcode: 0, clevel: 5, blocksize: 8, splitmode: 0, typesize: 8";

/// Returns the program's output with the library in a directory.
fn lines(program: &Path, folder: &Path) -> Vec<String> {
    let output = run(Command::new(program)
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", folder)
        .env("BLOSC_INFO", "1")
        .env_remove("BLOSC_TRACE"));
    let text = String::from_utf8(output.stderr).expect("text");
    let lines = text.lines().filter(|line| !line.contains(OFFSETS));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_information_lines_equal_those_of_the_reference() {
    let ours = blosc2_folder("ours", &our_path());
    let reference = blosc2_folder("reference", &reference_path().expect("a reference"));
    let program = ours.join("information");
    run(compiler_of("information.c", &program).arg(ours.join("libblosc2.so")));
    let (got, wanted) = (lines(&program, &ours), lines(&program, &reference));
    let differing = got.iter().zip(&wanted).position(|(got, wanted)| got != wanted);
    if let Some(at) = differing {
        let around = at.saturating_sub(4)..(at + 4).min(got.len()).min(wanted.len());
        panic!("ours {:#?}, the reference {:#?}", &got[around.clone()], &wanted[around]);
    }
    assert_eq!(got.len(), wanted.len());
    assert!(got.len() > 10_000, "{} lines", got.len());
}
