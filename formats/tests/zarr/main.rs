//! Zarr arrays: fixtures of zarr-python 2 and 3, copied chunks, and hostile data.

#![cfg(feature = "zarr")]

mod hostile;
mod metadata;
mod reading;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use ferroblosc_formats::convert::{
    self, Converted, Destination, Reading, SourceOptions, Writing, detect,
};
use ferroblosc_formats::zarr::{self, Version};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/zarr").join(name)
}

fn convert(input: &Path, output: &Path, destination: Destination) -> convert::Result<Converted> {
    convert::convert(
        (input, &detect(input)?),
        (output, destination),
        (&Reading::default(), &SourceOptions::default()),
        &Writing::default(),
        &mut |_| {},
    )
}

const B2ND: Destination = Destination::B2nd { directory: false };

const V2: Destination = Destination::Zarr { version: Version::V2, is_zip: false };

const V3_ZIP: Destination = Destination::Zarr { version: Version::V3, is_zip: true };

/// Returns the dtype, the shape and all items.
fn items(path: &Path) -> convert::Result<(String, Vec<u64>, Vec<u8>)> {
    let mut source = convert::open(path, &Reading::default())?;
    let info = source.content().array.clone().unwrap();
    let mut items = vec![0; source.content().nbytes as usize];
    source.read(0, &mut items)?;
    Ok((info.dtype.text().to_owned(), info.shape, items))
}

fn copy_tree(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy_tree(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}
