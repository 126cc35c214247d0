//! What a file or directory is, told by what is in it and never by its name.
//!
//! | begins with, or holds | is |
//! |---|---|
//! | `blpk` | a container of Bloscpack |
//! | `\x93NUMPY` | a `.npy` file |
//! | the header of a frame, of today's layout or an older one | a frame; with the metalayer `b2nd` (or `caterva`) an array |
//! | the 16 bytes of a chunk whose numbers go together | a chunk, of Blosc 1 up to version 2 of the format |
//! | a directory with `chunks.b2frame` | a frame or an array |
//! | a directory with `__rootdirs__` | a ctable |
//! | a directory with `meta` and `data` | a carray |
//!
//! A chunk has no magic. Its numbers are asked to go together so closely that other files don't pass, while a chunk
//! that is cut off still does and can be called damaged.

use std::io::Read;
use std::path::Path;

use super::error::{Error, Result};
use crate::b2nd::meta::{NAME, OLD_NAME};
use crate::blpk;
use crate::chunk::BasicHeader;
use crate::chunk::header::{VERSION_BLOSC1, VERSION_VL};
use crate::frame::{FrameHeader, Kind, has_magic, header, legacy, metalayers};
use crate::io::named::{NamedFile, named};

/// A format that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A chunk of Blosc 1.x in a file.
    Blosc1,
    /// A chunk of Blosc 2 in a file.
    Blosc2,
    /// A super-chunk in a frame.
    Frame,
    /// An array in a frame.
    B2nd,
    /// A container of Bloscpack.
    Bloscpack,
    /// An array of bcolz.
    Carray,
    /// A table of bcolz.
    Ctable,
    /// A file of NumPy's.
    Npy,
}

impl Format {
    /// The short name, which programs may rely on.
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
        }
    }

    /// What it is, for people.
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
        }
    }
}

/// What was found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The format.
    pub format: Format,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it is a frame of one of the two layouts that were published before today's.
    pub is_legacy: bool,
}

/// The magic of `.npy` files.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";
/// Bytes that tell formats apart.
const FRONT: u64 = 128;
/// The longest header of a frame that is read to find metalayers.
const MAX_HEADER: u64 = 64 << 20;
/// The version of the codecs' streams, of every codec there is.
const VERSIONLZ: u8 = 1;
/// Format codes of codecs that have streams in chunks: those built in, and that of users' codecs.
const MAX_FORMAT: u8 = crate::codec::format::USER;

/// Tells what is at a path.
///
/// # Errors
/// [`Error::Unknown`] when it is nothing that is known here; those of reading it.
pub fn detect(path: &Path) -> Result<Detected> {
    let metadata = std::fs::metadata(path)
        .map_err(|error| named(error, crate::Error::FileOpen, "open", path))?;
    if metadata.is_dir() {
        return detect_directory(path);
    }
    if !metadata.is_file() {
        // Opening a FIFO would wait for its other end.
        return Err(Error::Unknown);
    }
    let mut front = Vec::new();
    NamedFile::open_regular(path)?
        .take(FRONT)
        .read_to_end(&mut front)?;
    let file = |format| Detected {
        format,
        is_directory: false,
        is_legacy: false,
    };
    if front.starts_with(&blpk::MAGIC) {
        return Ok(file(Format::Bloscpack));
    }
    if front.starts_with(NPY_MAGIC) {
        return Ok(file(Format::Npy));
    }
    let is_legacy = legacy::is_legacy(&front);
    if is_legacy || has_magic(&front) {
        return Ok(Detected {
            is_legacy,
            ..file(frame_or_array(path, &front, Kind::Contiguous))
        });
    }
    match chunk(&front, metadata.len()) {
        Some(format) => Ok(file(format)),
        None => Err(Error::Unknown),
    }
}

fn detect_directory(path: &Path) -> Result<Detected> {
    let directory = |format| Detected {
        format,
        is_directory: true,
        is_legacy: false,
    };
    let index = path.join("chunks.b2frame");
    if index.is_file() {
        let mut front = Vec::new();
        NamedFile::open_regular(&index)?
            .take(FRONT)
            .read_to_end(&mut front)?;
        return Ok(directory(frame_or_array(&index, &front, Kind::Sparse)));
    }
    if path.join("__rootdirs__").is_file() {
        return Ok(directory(Format::Ctable));
    }
    if path.join("meta").is_dir() && path.join("data").is_dir()
        || path.join("meta/storage").is_file()
    {
        return Ok(directory(Format::Carray));
    }
    Err(Error::Unknown)
}

/// Whether a frame has the metalayer of arrays. A header that can't be read is a frame's.
fn frame_or_array(path: &Path, front: &[u8], kind: Kind) -> Format {
    let header_len = match legacy::is_legacy(front) {
        // Both layouts have the length of the header at one place.
        true => front.get(header::HEADER_LEN_AT..).and_then(|rest| {
            let bytes = rest.first_chunk()?;
            u32::try_from(i32::from_be_bytes(*bytes)).ok()
        }),
        false => FrameHeader::parse(front, kind)
            .ok()
            .map(|header| header.header_len),
    };
    let is_array = || {
        let len = u64::from(header_len?).min(MAX_HEADER);
        let mut bytes = Vec::new();
        NamedFile::open_regular(path)
            .ok()?
            .take(len)
            .read_to_end(&mut bytes)
            .ok()?;
        let layers = metalayers::parse(&bytes).ok()?;
        let is_of_arrays = |name: &[u8]| name == NAME.as_bytes() || name == OLD_NAME.as_bytes();
        Some(layers.iter().any(|layer| is_of_arrays(&layer.name)))
    };
    match is_array() {
        Some(true) => Format::B2nd,
        _ => Format::Frame,
    }
}

/// The chunk that a file of `len` bytes begins with, if it is one. One that is cut off, or has something behind it,
/// must be no longer than its data make it.
fn chunk(front: &[u8], len: u64) -> Option<Format> {
    let header = BasicHeader::parse(front).ok()?;
    let nbytes = u64::try_from(header.nbytes).ok()?;
    let cbytes = u64::try_from(header.cbytes).ok()?;
    let is_chunk = (1..=VERSION_VL).contains(&header.version)
        && header.versionlz == VERSIONLZ
        && header.format() <= MAX_FORMAT
        && cbytes >= header.header_len() as u64;
    let longest = nbytes.saturating_add(crate::chunk::MAX_OVERHEAD as u64);
    let blocksize = u64::try_from(header.blocksize).ok()?;
    let goes_together = cbytes == len || cbytes <= longest && blocksize <= nbytes;
    (is_chunk && goes_together).then_some(match header.version {
        ..=VERSION_BLOSC1 => Format::Blosc1,
        _ => Format::Blosc2,
    })
}
