//! Compares the output of all SIMD levels. The round trips run in a separate process per level,
//! because the level is chosen once per process.

#[path = "checks/chunks.rs"]
mod checks;

use ferroblosc::kernels::{Level, bitshuffle, shuffle};
use std::process::Command;
use std::thread;

#[test]
fn round_trips_write_the_expected_bytes() {
    checks::round_trips();
}

#[test]
fn row_d8_every_simd_level_writes_the_same_bytes() {
    for level in Level::available() {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "round_trips_write_the_expected_bytes"])
            .env("FERROBLOSC_SIMD", level.name())
            .status()
            .unwrap();
        assert!(status.success(), "{}", level.name());
    }
}

/// Threads of Rust have 2 MiB. Without optimisation the stack frames of the kernels are largest:
/// they have a variable for each register.
#[test]
fn every_level_fits_a_stack_of_1_mib() {
    for level in Level::available() {
        let round_trips = move || {
            for typesize in (1..=34).chain([48, 56, 64, 65, 255]) {
                let data: Vec<u8> = (0..typesize * 800).map(|i| (i * 7 + i / 5) as u8).collect();
                let (mut filtered, mut read) = (vec![0; data.len()], vec![0; data.len()]);
                shuffle::shuffle_at(level, typesize, &data, &mut filtered);
                shuffle::unshuffle_at(level, typesize, &filtered, &mut read);
                assert!(read == data, "shuffle of {typesize} bytes at {}", level.name());

                read.fill(0);
                let planes: Vec<&[u8]> = filtered.chunks(800).collect();
                shuffle::unshuffle_planes_at(level, &planes, &mut read);
                assert!(read == data, "planes of {typesize} bytes at {}", level.name());

                bitshuffle::bitshuffle_at(level, typesize, &data, &mut filtered);
                bitshuffle::bitunshuffle_at(level, typesize, &filtered, &mut read);
                assert!(read == data, "bitshuffle of {typesize} bytes at {}", level.name());
            }
        };
        thread::Builder::new().stack_size(1 << 20).spawn(round_trips).unwrap().join().unwrap();
    }
}
