//! Decision rows that end with "the reference reads it": a C program creates frames with our
//! library, reads and extends them with the reference, and reads them with ours again.
//!
//! The program loads the library selected by `LD_LIBRARY_PATH`.

use ferroblosc_capi_testing::{blosc2_folder, compiler_of, empty_folder, run};
use ferroblosc_interop::library::{our_path, reference_path};
use std::process::Command;

#[test]
fn row_f1_row_f16_row_s28_the_reference_reads_and_extends_our_frames() {
    let ours = blosc2_folder("ours", &our_path());
    let reference = reference_path().expect("`make reference` installs the reference library");
    let reference = blosc2_folder("reference", &reference);
    let program = ours.join("rows_exchange");
    let library = ours.join("libblosc2.so");
    run(compiler_of("rows_exchange.c", &program).arg(library).arg("-lm"));
    let frames = empty_folder("frames");
    for (library, what) in [(&ours, "write"), (&reference, "read"), (&ours, "reread")] {
        run(Command::new(&program).arg(what).current_dir(&frames).env("LD_LIBRARY_PATH", library));
    }
}
