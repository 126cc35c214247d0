//! Runs all kernel checks and round trips on the main thread, for emulated machines.
//!
//! Programs that start threads are not reliable under user-mode emulation, and the standard test
//! harness starts one for each test. This target has no harness: it runs the checks in sequence and
//! fails by panicking. On the build machine it repeats `tests/kernels.rs` and `tests/levels.rs`.

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
