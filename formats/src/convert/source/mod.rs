//! Readers of data to convert: random access to bytes in C order, with their type and shape.
//!
//! All formats share this interface, so that each needs one reader instead of one per target
//! format. Readers keep only a few chunks in memory.
//!
//! | file | reads |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | Bloscpack containers, `.npy` and `.npz` files, bytes, and arrays in Fortran order |
//! | `zarr.rs` | Zarr arrays |
//! | `hdf5.rs` | HDF5 datasets |
//! | `bcolz.rs` | carrays, and ctables as records |
//!
//! `interface.rs` defines the interface.

mod bcolz;
mod frame;
#[cfg(feature = "hdf5")]
mod hdf5;
mod interface;
mod plain;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub(super) use frame::repeated_item;
pub(super) use frame::{array_of, chunk_error, open_schunk, schunk_of_chunk};
#[cfg(feature = "hdf5")]
pub(super) use hdf5::{check_stored, describe, is_text, open_file, open_hdf5};
pub(super) use interface::written_chunks;
pub use interface::{Content, Reading, Source, StoredChunks};
pub(super) use plain::{Container, Npy, from_fortran_order};
#[cfg(feature = "zarr")]
pub(super) use zarr::open_zarr;

use std::path::Path;

use ferroblosc::b2nd::Array;
use ferroblosc::schunk::SChunk;

use super::detect::{Detected, Format, detect};
use super::error::{Error, Result};

/// Opens the data at `path`.
///
/// # Errors
/// Returns [`Error::Unknown`] for an unknown format, [`Error::NoColumns`] if a column is requested
/// of data other than a table, or the error of the format.
pub fn open(path: &Path, reading: &Reading) -> Result<Box<dyn Source>> {
    open_as(path, &detect(path)?, reading)
}

/// Opens the data at `path` as the detected format.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_as(path: &Path, found: &Detected, reading: &Reading) -> Result<Box<dyn Source>> {
    if reading.column.is_some() && found.format != Format::Ctable {
        return Err(Error::NoColumns);
    }
    Ok(match found.format {
        Format::Blosc1 | Format::Blosc2 => Box::new(frame::Chunks::of_chunk(path, reading)?),
        Format::Frame => Box::new(frame::Chunks::open(path, found.is_directory, reading)?),
        Format::B2nd => Box::new(frame::Items::open(path, found.is_directory, reading)?),
        Format::Bloscpack => Box::new(plain::Container::open(path, reading)?),
        Format::Npy => Box::new(plain::Npy::open(path)?),
        #[cfg(feature = "zarr")]
        Format::Zarr => Box::new(zarr::Zarr::open(path)?),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => Box::new(hdf5::Hdf5::open(path)?),
        Format::Npz => Box::new(plain::Npy::open_member(path)?),
        Format::Raw => Box::new(plain::Raw::open(path)?),
        Format::Carray => Box::new(bcolz::Rows::open(path, reading)?),
        Format::Ctable => bcolz::open_table(path, reading)?,
    })
}

/// Returns the items of an open b2nd array, for example of an object in a store.
///
/// # Errors
/// - [`Error::Dtype`] if the type of the items is not one of NumPy, or is of another size;
/// - the error of an array whose size exceeds 64 bits.
pub fn array_source(array: Array) -> Result<Box<dyn Source>> {
    Ok(Box::new(frame::Items::of(array)?))
}

/// Returns the bytes of an open super-chunk, for example of an object in a store.
///
/// # Errors
/// - [`Error::Chunk`] if chunks vary in size, and the header of one cannot be read;
/// - the error of a super-chunk that has placeholders instead of data.
pub fn schunk_source(schunk: SChunk) -> Result<Box<dyn Source>> {
    Ok(Box::new(frame::Chunks::of(schunk)?))
}

#[cfg(test)]
mod tests {
    use super::super::{Destination, SourceOptions, Writing, convert};
    use super::*;
    use crate::numpy::{ArrayInfo, Dtype, npy_header};

    /// Writes an array of 3 x 5 x 2 items, in Fortran order if requested.
    fn write_npy(path: &Path, fortran_order: bool) {
        let dtype = Dtype::parse("<i4").unwrap();
        let info = ArrayInfo { dtype, shape: vec![3, 5, 2], fortran_order };
        let mut bytes = npy_header(&info).unwrap();
        bytes.extend((0..30_i32).flat_map(|item| (item * 0x0102_0304).to_le_bytes()));
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn members_of_npz_files_with_a_wrong_checksum_are_refused() {
        let folder = crate::testing::tempdir();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/npz");
        for name in ["two.npz", "compressed.npz"] {
            let mut bytes = std::fs::read(root.join(name)).unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let npz = crate::convert::npz::Npz::open(&path).unwrap();
            let keys: Vec<String> = npz.arrays().map(|(key, _)| key.to_owned()).collect();
            let (key, member) = npz.arrays().last().unwrap();
            let array = folder.path().join(format!("{name}:/{key}"));
            assert!(open(&array, &Reading::default()).is_ok(), "{name}: {keys:?}");
            let start = npz.archive().data_offset(member).unwrap();
            let at = (start + member.stored_size() - 1) as usize;
            drop(npz);
            bytes[at] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let error = open(&array, &Reading::default()).err().unwrap();
            assert!(error.is_corruption(), "{name}: {error}");
        }
    }

    #[test]
    fn ranges_may_begin_and_end_within_items() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let mut arrays = Vec::new();
        for (order, is_fortran) in [("c", false), ("f", true)] {
            let npy = path(&format!("{order}.npy"));
            write_npy(&npy, is_fortran);
            for (ending, destination) in [
                ("blp", Destination::Bloscpack),
                ("carray", Destination::Bcolz),
                ("b2nd", Destination::B2nd { directory: false }),
                ("b2frame", Destination::Frame { directory: false }),
                ("npz", Destination::Npz),
                #[cfg(feature = "zarr")]
                ("zarr", Destination::Zarr { version: crate::zarr::Version::V3, is_zip: false }),
            ] {
                let output = path(&format!("{order}.{ending}"));
                convert(
                    (&npy, &detect(&npy).unwrap()),
                    (&output, destination),
                    (&Reading::default(), &SourceOptions::default()),
                    &Writing::default(),
                    &mut |_| {},
                )
                .unwrap();
                arrays.push(output);
            }
            arrays.push(npy);
        }
        for path in arrays {
            let mut source = open(&path, &Reading::default()).unwrap();
            let mut all = vec![0; source.content().nbytes as usize];
            assert_eq!(all.len(), 120, "{path:?}");
            source.read(0, &mut all).unwrap();
            for start in 0..=all.len() {
                for stop in start..=all.len().min(start + 9) {
                    let mut part = vec![0; stop - start];
                    source.read(start as u64, &mut part).unwrap();
                    assert_eq!(part, all[start..stop], "{path:?}, bytes {start} to {stop}");
                }
            }
            assert!(source.read(120, &mut [0]).is_err());
        }
    }
}
