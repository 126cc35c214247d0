//! The formats that the extensions of file names stand for.

use crate::cli::OutputFormat;
use crate::error::{Failure, Outcome};
use std::path::Path;

/// The formats by file name extension.
pub const EXTENSIONS: [(&str, OutputFormat); 21] = [
    ("b2frame", OutputFormat::B2frame),
    ("b2nd", OutputFormat::B2nd),
    ("blp", OutputFormat::Blp),
    ("bcolz", OutputFormat::Bcolz),
    ("npy", OutputFormat::Npy),
    ("npz", OutputFormat::Npz),
    ("zarr", OutputFormat::Zarr),
    ("zarr.zip", OutputFormat::Zarr),
    ("h5", OutputFormat::Hdf5),
    ("hdf5", OutputFormat::Hdf5),
    ("csv", OutputFormat::Csv),
    ("arrow", OutputFormat::Arrow),
    ("feather", OutputFormat::Arrow),
    ("parquet", OutputFormat::Parquet),
    ("blosc1", OutputFormat::Blosc1),
    ("blosc2", OutputFormat::Blosc2),
    ("blosc", OutputFormat::Blosc1),
    ("bin", OutputFormat::Bin),
    ("raw", OutputFormat::Bin),
    ("dat", OutputFormat::Bin),
    ("cframe", OutputFormat::B2frame),
];
/// The extensions of stores of python-blosc2.
const STORES: [&str; 3] = ["b2z", "b2d", "b2e"];

/// Returns the format of a known extension of a path.
pub fn format_of_name(path: &Path) -> Option<OutputFormat> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let has_extension =
        |known: &str| name.strip_suffix(known).is_some_and(|stem| stem.ends_with('.'));
    EXTENSIONS.into_iter().find(|(known, _)| has_extension(known)).map(|(_, to)| to)
}

/// Fails if the extension of an output that will be a frame is that of another format, or of
/// stores.
pub fn check_frame_name(path: &Path) -> Outcome {
    let of_frames = |to| matches!(to, OutputFormat::B2frame | OutputFormat::B2nd);
    let is_other = match format_of_name(path) {
        Some(to) => !of_frames(to),
        None => path.extension().is_some_and(|found| STORES.iter().any(|store| found == *store)),
    };
    if !is_other {
        return Ok(());
    }
    let names = EXTENSIONS.into_iter().filter(|&(_, to)| of_frames(to));
    let names: Vec<String> = names.map(|(known, _)| format!(".{known}")).collect();
    let shown = path.display();
    Err(Failure::usage(format!(
        "{shown}: the output is a frame, with one of the extensions {}",
        names.join(" ")
    ))
    .replacing_hint("'b2 convert' writes other formats"))
}
