//! Detects the format of a file or directory by its content, never by its name.
//!
//! | content | format |
//! |---|---|
//! | begins with `blpk` | Bloscpack container |
//! | begins with `\x93NUMPY` | `.npy` file |
//! | begins with `\x89HDF`, also after a user block | HDF5 file |
//! | zip file of `.npy` files | `.npz` file |
//! | begins with a frame header, current or legacy, even if its magic bytes are damaged | frame; array if it has the metalayer of b2nd |
//! | begins with a consistent chunk header | chunk of Blosc 1 or Blosc 2 |
//! | directory with `chunks.b2frame` | frame or array |
//! | directory or zip file with `zarr.json`, `.zarray` or `.zgroup` | Zarr array or group |
//! | directory with `__rootdirs__` | ctable |
//! | directory with `meta` and `data`, or with `meta/storage` | carray |
//!
//! A chunk has no magic number. The checks of its header are strict enough to reject other files,
//! but accept a truncated chunk, so that it is reported as damaged.

use std::io::{ErrorKind, Read};
use std::path::Path;

use super::error::{Error, Result};
use super::location::Location;
use super::npz;
use crate::blpk;
use crate::store::zip::Archive;
#[cfg(feature = "zarr")]
use crate::zarr;
use ferroblosc::b2nd::meta::{NAME, OLD_NAME};
use ferroblosc::chunk::BasicHeader;
use ferroblosc::chunk::header::{VERSION_BLOSC1, VERSION_VL};
use ferroblosc::frame::{FrameHeader, Kind, has_magic, header, legacy};
use ferroblosc::io::named::{NamedFile, named};

/// A supported file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// A file that holds a Blosc 1.x chunk.
    Blosc1,
    /// A file that holds a Blosc2 chunk.
    Blosc2,
    /// A super-chunk in a frame.
    Frame,
    /// A b2nd array in a frame.
    B2nd,
    /// A Bloscpack container.
    Bloscpack,
    /// A bcolz carray.
    Carray,
    /// A bcolz ctable.
    Ctable,
    /// A NumPy `.npy` file.
    Npy,
    /// A NumPy `.npz` file, or an array in it.
    Npz,
    /// A Zarr array, or a group of arrays.
    #[cfg(feature = "zarr")]
    Zarr,
    /// An HDF5 dataset, or a file or group of datasets.
    #[cfg(feature = "hdf5")]
    Hdf5,
    /// Bytes without type and shape. It is never detected.
    Raw,
}

impl Format {
    /// Returns the short name, which is stable.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Blosc1 => "blosc1",
            Format::Blosc2 => "blosc2",
            Format::Frame => "b2frame",
            Format::B2nd => "b2nd",
            Format::Bloscpack => "blp",
            Format::Carray => "carray",
            Format::Ctable => "ctable",
            Format::Npy => "npy",
            Format::Npz => "npz",
            #[cfg(feature = "zarr")]
            Format::Zarr => "zarr",
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => "hdf5",
            Format::Raw => "bin",
        }
    }

    /// Whether files of this format contain several arrays, whose paths are `FILE:/key`.
    pub const fn has_keys(self) -> bool {
        match self {
            Format::Npz => true,
            #[cfg(feature = "zarr")]
            Format::Zarr => true,
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => true,
            _ => false,
        }
    }

    /// Returns the human-readable name.
    pub const fn title(self) -> &'static str {
        match self {
            Format::Blosc1 => "chunk of Blosc 1",
            Format::Blosc2 => "chunk of Blosc 2",
            Format::Frame => "super-chunk in a frame",
            Format::B2nd => "b2nd array",
            Format::Bloscpack => "Bloscpack container",
            Format::Carray => "bcolz carray",
            Format::Ctable => "bcolz ctable",
            Format::Npy => "NumPy array file",
            Format::Npz => "NumPy file of several arrays",
            #[cfg(feature = "zarr")]
            Format::Zarr => "Zarr array or group",
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => "HDF5 file or dataset",
            Format::Raw => "file of bytes",
        }
    }
}

/// The result of [`detect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detected {
    /// The format.
    pub format: Format,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a frame in one of the two legacy layouts.
    pub is_legacy: bool,
}

impl Detected {
    /// Returns the description of a file that is read as bytes, independently of its content.
    pub const fn raw() -> Detected {
        Detected { format: Format::Raw, is_directory: false, is_legacy: false }
    }
}

/// The magic number of `.npy` files.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";
/// The start of a zip file.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// The number of bytes read to detect the format.
const PREFIX_LEN: u64 = 128;
/// The maximum number of header bytes read to find the metalayers of a frame.
const MAX_HEADER: u64 = 64 << 20;
/// The version of the codec streams, the same for all codecs.
const VERSIONLZ: u8 = 1;
/// The largest codec format code, that of user-defined codecs.
const MAX_FORMAT: u8 = ferroblosc::codec::format::USER;

/// Detects the format of the file or directory at `path`, or of the container of an array
/// (`CONTAINER:/key`).
///
/// # Errors
/// Returns [`Error::Unknown`] for an unknown format, or the error of reading it.
pub fn detect(path: &Path) -> Result<Detected> {
    let location = Location::of(path);
    let found = detect_whole(&location.path)?;
    // Only containers of several arrays have keys.
    if location.key.is_some() && !found.format.has_keys() {
        return Err(Error::Unknown);
    }
    Ok(found)
}

fn detect_whole(path: &Path) -> Result<Detected> {
    let metadata = std::fs::metadata(path)
        .map_err(|error| named(error, ferroblosc::Error::FileOpen, "open", path))?;
    if metadata.is_dir() {
        return detect_directory(path);
    }
    if !metadata.is_file() {
        // Opening a FIFO would block until a writer opens it.
        return Err(Error::Unknown);
    }
    let mut prefix = Vec::new();
    let mut opened = NamedFile::open_regular(path)?;
    opened.by_ref().take(PREFIX_LEN).read_to_end(&mut prefix)?;
    let file = |format| Detected { format, is_directory: false, is_legacy: false };
    if prefix.starts_with(&blpk::MAGIC) {
        return Ok(file(Format::Bloscpack));
    }
    if prefix.starts_with(NPY_MAGIC) {
        return Ok(file(Format::Npy));
    }
    if prefix.starts_with(ZIP_MAGIC) {
        let archive = Archive::open(path)?.ok_or(Error::Unknown)?;
        if npz::is_npz(&archive) {
            return Ok(file(Format::Npz));
        }
        #[cfg(feature = "zarr")]
        if zarr::is_node(&zarr::Storage::of_archive(archive), "") {
            return Ok(file(Format::Zarr));
        }
        return Err(Error::Unknown);
    }
    let is_legacy = legacy::is_legacy(&prefix);
    if is_legacy || has_magic(&prefix) || header::has_markers(&prefix) {
        let format = frame_or_array(&mut opened, prefix, Kind::Contiguous);
        return Ok(Detected { is_legacy, ..file(format) });
    }
    #[cfg(feature = "hdf5")]
    if prefix.starts_with(crate::hdf5::MAGIC) {
        return Ok(file(Format::Hdf5));
    }
    if let Some(format) = chunk(&prefix, metadata.len()) {
        return Ok(file(format));
    }
    #[cfg(feature = "hdf5")]
    if crate::hdf5::is_hdf5(&mut NamedFile::open_regular(path)?, metadata.len())? {
        return Ok(file(Format::Hdf5));
    }
    Err(Error::Unknown)
}

/// Whether a frame in a file begins with the magic bytes of the current layout.
///
/// # Errors
/// The errors of reading.
pub fn has_frame_magic(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    NamedFile::open_regular(path)?.take(PREFIX_LEN).read_to_end(&mut start)?;
    Ok(has_magic(&start))
}

fn detect_directory(path: &Path) -> Result<Detected> {
    let directory = |format| Detected { format, is_directory: true, is_legacy: false };
    let index = path.join("chunks.b2frame");
    // The content of a directory that cannot be searched is unknown, not missing.
    if let Err(error) = index.symlink_metadata()
        && error.kind() != ErrorKind::NotFound
    {
        return Err(named(error, ferroblosc::Error::FileOpen, "search", path).into());
    }
    if index.is_file() {
        let mut prefix = Vec::new();
        let mut opened = NamedFile::open_regular(&index)?;
        opened.by_ref().take(PREFIX_LEN).read_to_end(&mut prefix)?;
        return Ok(directory(frame_or_array(&mut opened, prefix, Kind::Sparse)));
    }
    if path.join("__rootdirs__").is_file() {
        return Ok(directory(Format::Ctable));
    }
    #[cfg(feature = "zarr")]
    if zarr::is_node(&zarr::Storage::open(path)?, "") {
        return Ok(directory(Format::Zarr));
    }
    if path.join("meta").is_dir() && path.join("data").is_dir()
        || path.join("meta/storage").is_file()
    {
        return Ok(directory(Format::Carray));
    }
    Err(Error::Unknown)
}

/// Returns [`Format::B2nd`] if the frame has the metalayer of an array. A frame whose header cannot
/// be read is [`Format::Frame`]. `start` are the bytes that were read from the file.
fn frame_or_array(file: &mut NamedFile, mut start: Vec<u8>, kind: Kind) -> Format {
    let header_len = if legacy::is_legacy(&start) {
        // Both legacy layouts store the header length at the same offset.
        start.get(header::HEADER_LEN_AT..).and_then(|rest| {
            let bytes = rest.first_chunk()?;
            u32::try_from(i32::from_be_bytes(*bytes)).ok()
        })
    } else {
        FrameHeader::parse(&start, kind).ok().map(|header| header.header_len)
    };
    let mut is_array = || {
        let len = u64::from(header_len?).min(MAX_HEADER);
        // Another program may have replaced the file at the path.
        file.take(len.saturating_sub(start.len() as u64)).read_to_end(&mut start).ok()?;
        start.truncate(usize::try_from(len).ok()?);
        let layers = header::parse_metalayers(&start).ok()?;
        let is_b2nd = |name: &[u8]| name == NAME.as_bytes() || name == OLD_NAME.as_bytes();
        Some(layers.iter().any(|layer| is_b2nd(&layer.name)))
    };
    match is_array() {
        Some(true) => Format::B2nd,
        _ => Format::Frame,
    }
}

/// Returns the format of the chunk at the start of a file of `len` bytes. If the file is longer or
/// shorter than the chunk, the chunk must not exceed the maximum compressed size of its data, and
/// its blocks must not exceed the data.
fn chunk(prefix: &[u8], len: u64) -> Option<Format> {
    let header = BasicHeader::parse(prefix).ok()?;
    let nbytes = u64::try_from(header.nbytes).ok()?;
    let cbytes = u64::try_from(header.cbytes).ok()?;
    let is_chunk = (1..=VERSION_VL).contains(&header.version)
        && header.versionlz == VERSIONLZ
        && header.format() <= MAX_FORMAT
        && cbytes >= header.header_len() as u64;
    let max_cbytes = nbytes.saturating_add(ferroblosc::chunk::MAX_OVERHEAD as u64);
    let blocksize = u64::try_from(header.blocksize).ok()?;
    let is_consistent = cbytes == len || cbytes <= max_cbytes && blocksize <= nbytes;
    (is_chunk && is_consistent).then_some(match header.version {
        ..=VERSION_BLOSC1 => Format::Blosc1,
        _ => Format::Blosc2,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The path of the directory is valid, but not those of its files.
    #[test]
    fn a_directory_that_cannot_be_searched_is_an_error() {
        let folder = crate::testing::tempdir();
        let mut path = folder.path().as_os_str().to_owned();
        while path.len() + 2 < 4090 {
            path.push("/.");
        }
        let path = Path::new(&path);
        assert!(path.is_dir());
        let error = detect(path).unwrap_err();
        assert!(!matches!(error, Error::Unknown), "{error}");
        let expected = format!("cannot search {}", path.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(matches!(detect(folder.path()), Err(Error::Unknown)));
    }
}
