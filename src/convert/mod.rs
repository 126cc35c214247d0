//! Floor 6: from one format to another, a chunk at a time.
//!
//! | from | to | how |
//! |---|---|---|
//! | bcolz | Bloscpack | chunks as they are, with checksums, offsets and the metadata of the array |
//! | Bloscpack | bcolz | chunks as they are, when they hold whole rows; else row by row |
//! | bcolz | `.npy` | rows as they come |
//! | `.npy` | bcolz | rows as they come; those of Fortran's order are gathered |
//! | bcolz | b2nd | chunks with another header where their blocks are those of the array, else compressed anew |
//! | b2nd | bcolz | chunks with another header where Blosc 1.x can read their streams, else row by row |
//!
//! Tables become a folder with the frame of an array for each column.
//!
//! Everything else goes through one intermediate, so that each format needs one reader and one writer: a [`Source`] is
//! bytes in C's order, of which any part can be read, with the type and shape of an array if it is one. [`detect`] tells
//! what something is by its content.
//!
//! Never more than some chunks are in memory. Files appear when they are complete.
//!
//! ```
//! use ferroblosc::convert::{self, Destination, Format, Reading, Taking, Writing};
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
//!     (&Reading::default(), &Taking::default()),
//!     &Writing::default(),
//!     &mut |_bytes| {},
//! )?;
//! let made = convert::detect(&output)?;
//! assert!(convert::verify(&output, &made, &Reading::default())?.is_right());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), convert::Error>(())
//! ```

mod attachments;
mod b2nd;
mod bcolz;
mod boxes;
mod detect;
mod error;
mod health;
mod layers;
mod mend;
mod recipe;
mod sink;
mod source;
mod summary;
mod tables;
mod transfer;

pub use b2nd::{b2nd_to_carray, carray_to_b2nd};
pub use bcolz::{Target, bloscpack_to_carray, carray_to_bloscpack, carray_to_npy, npy_to_carray};
pub use detect::{Detected, Format, detect};
pub use error::{Error, Result};
pub use health::{Fault, Health, fault_of, verify};
pub use mend::{Mended, Way, mend, way};
pub use sink::{Compression, Destination, Progress, Writing, compress, write_to};
pub use source::{Content, Reading, Source, open, open_as};
pub use summary::{
    ChunkSummary, Summary, codec_name, codec_of_chunk, each_chunk, filter_name, summarise,
};
pub use tables::{
    b2nd_to_bcolz, b2nd_to_ctable, bcolz_to_b2nd, ctable_to_b2nd, is_table_of_frames,
};
pub use transfer::{Converted, Taking, convert, params_of, take};
