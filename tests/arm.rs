//! All kernel checks on the main thread, for an emulated machine.
//!
//! A program that starts threads does not run reliably under user-mode emulation, and the standard
//! test harness starts one for each test. This target has no harness: it runs the checks one after
//! the other and fails by panicking. On the build machine it is a quick repetition of
//! `tests/kernels.rs`.

#[path = "checks/kernels.rs"]
mod checks;

use ferroblosc::kernels::Level;

fn main() {
    for level in Level::available() {
        for (name, check) in checks::CHECKS {
            println!("{} {name}", level.name());
            check(level);
        }
    }
}
