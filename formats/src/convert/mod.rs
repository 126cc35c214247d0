//! Conversion between formats, one chunk at a time.
//!
//! | from | to | method |
//! |---|---|---|
//! | bcolz | Bloscpack | copies chunks; adds checksums, offsets and the array's metadata |
//! | Bloscpack | bcolz | copies chunks that hold whole rows; otherwise by rows |
//! | bcolz | `.npy` | by rows |
//! | `.npy` | bcolz | by rows; Fortran order is transposed |
//! | bcolz | b2nd | rewrites chunk headers if the block sizes match; otherwise recompresses |
//! | b2nd | bcolz | rewrites chunk headers if Blosc 1.x can read the streams; otherwise by rows |
//! | HDF5 with filter 32001 or 32026 | b2nd | copies chunks if their blocks fit; otherwise recompresses |
//! | b2nd | HDF5 with filter 32026 | copies chunks |
//! | records, bcolz ctables | tables of stores | by rows |
//! | tables of stores | `.npy` with records, CSV | by rows |
//! | tables of stores, Arrow IPC, Parquet (feature `arrow`) | each other | by rows |
//! | Zarr, frames | b2nd, Zarr | rewrites chunk headers if possible; otherwise recompresses |
//!
//! [`ctable_to_b2nd`] writes a ctable as a directory with an array for each column.
//!
//! Copied chunks are decompressed to find damaged ones, which are errors. If both are frames, this
//! is done only if the copy has checksums.
//!
//! All other conversions use one intermediate form, so that each format needs one reader and one
//! writer: a [`Source`] is a random-access sequence of bytes in C order, with the type and shape if
//! it is an array. [`detect`] detects the format of data by their content.
//!
//! Memory holds only a few chunks at a time. On failure, the functions for the conversions in the
//! table remove incomplete output; [`convert`] may leave it.
//!
//! ```
//! use ferroblosc_formats::convert::{self, Destination, Format, Reading, SourceOptions, Writing};
//!
//! # let folder = std::env::temp_dir().join(format!("convert-doc-{}", std::process::id()));
//! # std::fs::create_dir(&folder).unwrap();
//! let input = std::path::Path::new("tests/data/bcolz/i4_exact");
//! let output = folder.join("numbers.b2nd");
//! let found = convert::detect(input)?;
//! assert_eq!(found.format, Format::Carray);
//! convert::convert(
//!     (input, &found),
//!     (&output, Destination::B2nd { directory: false }),
//!     (&Reading::default(), &SourceOptions::default()),
//!     &Writing::default(),
//!     &mut |_bytes| {},
//! )?;
//! let made = convert::detect(&output)?;
//! assert!(convert::verify(&output, &made, &Reading::default())?.is_intact());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), convert::Error>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
mod attachments;
mod attrs;
mod b2nd;
mod bcolz;
mod boxes;
mod detect;
mod error;
mod foreign;
mod grid;
mod groups;
#[cfg(feature = "hdf5")]
mod hdf5;
mod intact;
mod keys;
mod location;
mod missing;
#[cfg(any(feature = "hdf5", feature = "zarr"))]
mod ndcopy;
mod npz;
mod one_change;
mod placeholder;
mod rebuild;
mod records;
mod repair;
mod restore;
mod scan;
mod sink;
mod source;
mod summary;
mod tables;
mod transfer;
mod verify;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(feature = "arrow")]
pub use arrow::{ArrowFormat, ArrowImport, arrow_to_table, catches_panics, table_to_arrow};
pub use b2nd::{b2nd_to_carray, carray_to_b2nd};
pub use bcolz::{Target, bloscpack_to_carray, carray_to_bloscpack, carray_to_npy, npy_to_carray};
pub use detect::{Detected, Format, detect};
pub use error::{Error, Result};
pub use foreign::{foreign_file, is_file_of_frame};
pub use groups::{Group, Groups};
pub use intact::check_chunk;
pub use keys::keys;
pub use location::Location;
pub use one_change::OneChange;
#[cfg(feature = "csv")]
pub use records::table_to_csv;
pub use records::{is_records, records_to_table, table_to_npy, texts_to_table};
pub use repair::{RepairMode, Repaired, repair, repair_mode};
#[cfg(feature = "hdf5")]
pub use sink::Hdf5Filter;
pub use sink::{
    Compression, Destination, NewArray, Progress, Writing, blocks_of, compress, join_npz,
    partitions, write_to,
};
pub use source::{
    Content, Reading, Source, StoredChunks, array_source, open, open_as, schunk_source,
};
pub use summary::{
    ChunkSummary, Summary, codec_name, codec_of_chunk, each_chunk, filter_name, summarise,
};
pub use tables::{
    b2nd_to_bcolz, b2nd_to_ctable, bcolz_to_b2nd, ctable_to_b2nd, is_table_of_frames,
};
pub use transfer::{
    Converted, SourceOptions, convert, copy_with_metalayers, lost_metadata, params_of, with_options,
};
pub use verify::{Fault, Verification, fault_of, verify};

#[cfg(test)]
mod tests;
