//! `.npz` files: zip files whose members are `.npy` files.
//!
//! The key of a member is its name without the extension, as in NumPy. (Source: the NPZ format of
//! NumPy.)

use std::path::Path;

use super::error::{Error, Result};
use super::location::Location;
use crate::numpy::{ArrayInfo, MAX_HEADER as MAX_NPY_HEADER, read_npy_header};
use crate::store::zip::{Archive, Member};

/// The extension of all members.
const EXTENSION: &str = ".npy";
/// The number of bytes that are read first to find a header.
const SHORT_HEADER: usize = 64 << 10;
/// The maximum size of a header with the bytes before it, in bytes.
const MAX_HEADER: usize = MAX_NPY_HEADER + 16;

/// An open `.npz` file.
pub struct Npz {
    archive: Archive,
    /// The requested key.
    key: Option<String>,
}

/// Whether a zip file is a `.npz` file: it has members, and all are `.npy` files.
pub fn is_npz(archive: &Archive) -> bool {
    let members = archive.members();
    !members.is_empty() && members.iter().all(|member| member.name.ends_with(EXTENSION))
}

/// Returns the name of the member of a key.
pub fn member_name(key: &str) -> String {
    format!("{key}{EXTENSION}")
}

impl Npz {
    /// Opens the file of a path with an optional key.
    pub fn open(path: &Path) -> Result<Npz> {
        let Location { path, key } = Location::of(path);
        let archive = Archive::open(&path)?.ok_or(Error::Unknown)?;
        Ok(Npz { archive, key })
    }

    /// Returns the open zip file.
    pub fn archive(&self) -> &Archive {
        &self.archive
    }

    /// Whether the path has a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the keys and members in the order of the directory.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &Member)> {
        let members = self.archive.members().iter();
        members.filter_map(|member| Some((member.name.strip_suffix(EXTENSION)?, member)))
    }

    /// Returns the requested member, or the only one.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`]; [`Error::SeveralArrays`] if there is no key, or if several members
    /// have it.
    pub fn member(&self) -> Result<&Member> {
        let is_wanted =
            |&(name, _): &(&str, &Member)| self.key.as_deref().is_none_or(|key| key == name);
        let found: Vec<(&str, &Member)> = self.arrays().filter(is_wanted).collect();
        match found.as_slice() {
            [(_, member)] => Ok(member),
            [] => Err(Error::NoSuchKey(self.key.clone().unwrap_or_default())),
            several => Err(Error::SeveralArrays(
                several.iter().map(|(name, _)| (*name).to_owned()).collect(),
            )),
        }
    }

    /// Returns the header of a member, and its length in bytes.
    pub fn header(&self, member: &Member) -> Result<(ArrayInfo, u64)> {
        let start = self.archive.prefix(member, SHORT_HEADER)?;
        let found = header_of(&start, member.size);
        if found.is_ok() || start.len() < SHORT_HEADER {
            return found;
        }
        header_of(&self.archive.prefix(member, MAX_HEADER)?, member.size)
    }
}

/// Returns the header at the start of a member of `size` bytes, and its length in bytes.
pub fn header_of(start: &[u8], size: u64) -> Result<(ArrayInfo, u64)> {
    let mut rest = start;
    let info = read_npy_header(&mut rest)?;
    let len = (start.len() - rest.len()) as u64;
    let expected = len.saturating_add(info.nbytes()?);
    if size < expected {
        return Err(Error::Truncated { expected, actual: size });
    }
    Ok((info, len))
}
