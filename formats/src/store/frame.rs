//! Opens frames that must not exceed their range of bytes: a member, a file, or a part of a file.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ferroblosc::chunk::DParams;
use ferroblosc::frame::{FIXED_HEADER_LEN, has_magic, header};
use ferroblosc::os::files;
use ferroblosc::schunk::{SChunk, Storage};

use super::error::{Error, Result};
use super::held::HeldFile;

/// An open frame.
pub struct Opened {
    /// The super-chunk.
    pub schunk: SChunk,
    /// The number of bytes between the end of the frame and the end of its range.
    pub surplus: u64,
}

/// Returns the length of the frame that starts with `bytes`, in a range of `available` bytes.
///
/// # Errors
/// [`Error::Damaged`] if the bytes are not the start of a frame, or if the frame is longer than its
/// range.
pub fn len(key: &str, bytes: &[u8], available: u64) -> Result<u64> {
    let fixed = bytes.get(..FIXED_HEADER_LEN).filter(|bytes| has_magic(bytes));
    let fixed: Option<&[u8; FIXED_HEADER_LEN]> = fixed.and_then(|bytes| bytes.try_into().ok());
    let Some(fixed) = fixed else {
        return Err(Error::damaged(key, "its content is not a contiguous frame"));
    };
    let len = header::frame_len(fixed);
    if len > available {
        let why = format!("the frame has {len} bytes, but its range only {available}");
        return Err(Error::damaged(key, why));
    }
    Ok(len)
}

/// Opens the frame at `offset` in a file, in place. `available` is the size of its range in bytes.
///
/// # Errors
/// [`Error::Storage`]; the errors of [`len`]; [`Error::Frame`]; [`Error::Memory`].
pub fn open_at(key: &str, path: &Path, offset: u64, available: u64) -> Result<Opened> {
    let file = File::open(path).map_err(Error::storage(path))?;
    let mut bytes = [0; FIXED_HEADER_LEN];
    let readable = usize::try_from(available).unwrap_or(usize::MAX).min(FIXED_HEADER_LEN);
    files::read_exact_at(&file, offset, &mut bytes[..readable]).map_err(Error::storage(path))?;
    let len = len(key, &bytes[..readable], available)?;
    let storage = Storage::file(path).at(offset);
    let schunk = SChunk::open(storage, DParams::default()).map_err(Error::frame(key))?;
    Ok(Opened { schunk, surplus: available - len })
}

/// Opens the frame at `offset` in an open file, as [`open_at`]. It is read from this file also after
/// another one was renamed to its path.
///
/// # Errors
/// The errors of [`open_at`].
pub fn open_held(
    key: &str,
    (file, path): (Arc<File>, &Path),
    offset: u64,
    available: u64,
) -> Result<Opened> {
    let held = HeldFile::new(file, path.to_owned());
    let mut bytes = [0; FIXED_HEADER_LEN];
    let readable = usize::try_from(available).unwrap_or(usize::MAX).min(FIXED_HEADER_LEN);
    held.read_exact(offset, &mut bytes[..readable]).map_err(Error::storage(path))?;
    let len = len(key, &bytes[..readable], available)?;
    let storage = Storage::file(path).at(offset).backend(Arc::new(held));
    let schunk = SChunk::open(storage, DParams::default()).map_err(Error::frame(key))?;
    Ok(Opened { schunk, surplus: available - len })
}

/// Opens a copy of the frame at the start of `bytes`.
///
/// # Errors
/// The errors of [`len`]; [`Error::Frame`]; [`Error::Memory`].
pub fn open_bytes(key: &str, bytes: &[u8]) -> Result<Opened> {
    let available = bytes.len() as u64;
    let len = len(key, bytes, available)?;
    let frame = &bytes[..usize::try_from(len).map_err(|_| Error::Memory)?];
    let schunk = SChunk::from_bytes(frame, DParams::default()).map_err(Error::frame(key))?;
    Ok(Opened { schunk, surplus: available - len })
}
