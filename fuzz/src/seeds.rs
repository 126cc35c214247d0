//! Shared helpers of the seed tests: reading and writing seeds, and the damage applied to them.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// Returns a folder of seeds.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Writes the seeds if the environment contains `SEEDS=write`.
pub fn write_if_requested<N: AsRef<Path>>(
    folder: &Path,
    seeds: impl IntoIterator<Item = (N, Vec<u8>)>,
) {
    if std::env::var_os("SEEDS").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(folder).unwrap();
        for (name, bytes) in seeds {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

/// Runs a check and names the input if it fails.
pub fn assert_survives(name: impl Display, bytes: &[u8], check: impl FnOnce(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(bytes))) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("{name}: {hex}");
        resume_unwind(panic);
    }
}

/// Passes every prefix of a seed to `check`, and the seed itself.
pub fn each_prefix(seed: &[u8], mut check: impl FnMut(&[u8])) {
    for len in 0..=seed.len() {
        check(&seed[..len]);
    }
}

/// Passes a seed to `check` with each of its bytes changed to those that `others` returns.
pub fn each_change<const N: usize>(
    seed: &[u8],
    others: impl Fn(u8) -> [u8; N],
    mut check: impl FnMut(&[u8]),
) {
    let mut bytes = seed.to_vec();
    for at in 0..bytes.len() {
        let was = bytes[at];
        for byte in others(was) {
            bytes[at] = byte;
            check(&bytes);
        }
        bytes[at] = was;
    }
}

/// Returns a byte with each of its bits flipped, and common special values.
pub fn flips_and_limits(was: u8) -> [u8; 13] {
    let limits = [0x00, 0x01, 0x7F, 0x80, 0xFF];
    std::array::from_fn(|i| match i {
        0..8 => was ^ (1 << i),
        _ => limits[i - 8],
    })
}
