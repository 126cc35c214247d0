//! HDF5 files, read and written with the libhdf5 that is installed.
//!
//! | file | content |
//! |---|---|
//! | `dtype.rs` | dtypes as types of HDF5, and back |
//! | `value.rs` | attributes and fill values as JSON values, and back |
//! | `dimensions.rs` | names and scales of dimensions, and the parameters of the filters |
//! | `frames.rs` | chunks of the filters 32001 and 32026 as chunks of Blosc2, and back |
//!
//! ```no_run
//! use ferroblosc_formats::hdf5::{Dataset, File, datasets};
//!
//! let file = File::open("climate.h5".as_ref())?;
//! for path in datasets(&file, "/")? {
//!     println!("{path}: {:?}", Dataset::open(&file, &path)?.shape());
//! }
//! # Ok::<(), ferroblosc_formats::hdf5::Error>(())
//! ```

mod dimensions;
mod dtype;
mod frames;
mod value;

pub use dimensions::{
    DIMENSIONS, LABELS, attach_scales, attach_to, compression_of, dimensions, unlink, values_of,
};
pub use dtype::{dtype_of, item_of, shape_of};
pub use ferroblosc_hdf5_data::{
    Attribute, ChunkStarts, Dataset, Dimension, Error, Field, File, Filter, Group, ItemType,
    NewDataset, Node, Result, Scalar, Spec, VARIABLE, version,
};
pub use frames::{BLOSC, BLOSC2, chunk_in, frame_around, frame_of};
pub use value::{Values, attribute_of, attributes_of, fill_item, fill_value, is_internal};

/// The start of an HDF5 file, or of its data after a user block.
pub const MAGIC: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
/// The size of the smallest user block in bytes; larger ones have twice the size and so on.
const USER_BLOCK: u64 = 512;
/// The size of the largest user block that is searched.
const MAX_USER_BLOCK: u64 = 64 << 20;

/// Whether a file is an HDF5 file: it starts with the signature, or has a user block before it.
///
/// # Errors
/// The error of reading the file.
pub fn is_hdf5(file: &mut (impl std::io::Read + std::io::Seek), len: u64) -> std::io::Result<bool> {
    let mut at = 0;
    while at + MAGIC.len() as u64 <= len && at <= MAX_USER_BLOCK {
        let mut found = [0; MAGIC.len()];
        file.seek(std::io::SeekFrom::Start(at))?;
        file.read_exact(&mut found)?;
        if found == *MAGIC {
            return Ok(true);
        }
        at = if at == 0 { USER_BLOCK } else { 2 * at };
    }
    Ok(false)
}

/// Returns the paths of all datasets below a path, without a slash at their start: that of the
/// dataset itself if it is one. Dimensions without values of netCDF-4 are not among them.
///
/// # Errors
/// Errors of reading the file.
pub fn datasets(file: &File, path: &str) -> Result<Vec<String>> {
    let path = path.trim_matches('/');
    if file.node(path)? == Node::Dataset {
        return Ok(vec![path.to_owned()]);
    }
    let found = file.walk(path)?.into_iter().filter(|(_, node)| *node == Node::Dataset);
    let full = |name: String| if path.is_empty() { name } else { format!("{path}/{name}") };
    let mut datasets = Vec::new();
    for (name, _) in found {
        let path = full(name);
        if !file.is_bare_dimension(&path)? {
            datasets.push(path);
        }
    }
    Ok(datasets)
}
