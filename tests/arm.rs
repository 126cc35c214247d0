//! All kernel checks, and round trips through the engine, on the main thread, for an emulated machine.
//!
//! A program that starts threads does not run reliably under user-mode emulation, and the standard
//! test harness starts one for each test. This target has no harness: it runs the checks one after
//! the other and fails by panicking. On the build machine it is a quick repetition of
//! `tests/kernels.rs` and `tests/levels.rs`.

#[path = "checks/chunks.rs"]
mod chunks;
#[path = "checks/kernels.rs"]
mod kernels;

use ferroblosc::kernels::Level;

fn main() {
    for level in Level::available() {
        for (name, check) in kernels::CHECKS {
            println!("{} {name}", level.name());
            check(level);
        }
    }
    println!("round trips");
    chunks::round_trips();
}
