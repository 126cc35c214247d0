//! Compares the output of all SIMD levels. The round trips run in a separate process per level,
//! because the level is chosen once per process.

#[path = "checks/chunks.rs"]
mod checks;

use ferroblosc::kernels::Level;
use std::process::Command;

#[test]
fn round_trips_write_the_same_bytes_on_every_machine() {
    checks::round_trips();
}

#[test]
fn row_d8_every_simd_level_writes_the_same_bytes() {
    for level in Level::available() {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "round_trips_write_the_same_bytes_on_every_machine"])
            .env("FERROBLOSC_SIMD", level.name())
            .status()
            .unwrap();
        assert!(status.success(), "{}", level.name());
    }
}
