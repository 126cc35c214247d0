//! Shared helpers of the seed tests: reading and writing seeds, and the damage applied to them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc_formats::convert::{self, Destination, Reading, SourceOptions, Writing};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, npy_header};

use crate::files::{Scratch, text_of_directory};

/// Returns a folder of seeds.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the seeds in a folder by name.
pub fn read(name: &str) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder(name)).unwrap().map(|file| file.unwrap());
    files
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
        .collect()
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

/// Excludes the checks of other tests, since the largest allocation of the process is checked.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A failed check does not affect the next one.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a check, with no other at the same time, and names the input if it fails.
pub fn assert_survives(name: impl Display, bytes: &[u8], check: impl FnOnce(&[u8])) {
    let _alone = alone();
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

/// Returns 60 numbers as `.npy` file of five rows, converted to another format. A directory is
/// returned as a text.
///
/// # Panics
/// Panics if the conversion fails.
pub fn converted(destination: Destination) -> Vec<u8> {
    let items: Vec<u8> = (0..60u16).flat_map(|item| (item / 3).to_le_bytes()).collect();
    let dtype = Dtype::parse("<u2").expect("a dtype");
    let info = ArrayInfo { dtype, shape: vec![5, 12], fortran_order: false };
    let npy = [npy_header(&info).expect("a header"), items].concat();
    let scratch = Scratch::new();
    let (path, output) = (scratch.file("a.npy", &npy), scratch.path("output"));
    let found = convert::detect(&path).expect("a .npy file");
    let is_array = matches!(destination, Destination::B2nd { .. } | Destination::Zarr { .. });
    let chunks = is_array.then(|| vec![2, 12]);
    let mut writing = Writing::default();
    writing.chunk_bytes = Some(50);
    writing.chunks = chunks;
    // Chunks and frames hold bytes without type and shape.
    let mut source_options = SourceOptions::default();
    source_options.raw = matches!(
        destination,
        Destination::Blosc1 | Destination::Blosc2 | Destination::Frame { .. }
    );
    let options = (&Reading::default(), &source_options);
    convert::convert((&path, &found), (&output, destination), options, &writing, &mut |_| {})
        .expect("a conversion");
    if output.is_dir() {
        text_of_directory(&output)
    } else {
        std::fs::read(&output).expect("the output")
    }
}
