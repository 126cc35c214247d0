//! Changes of a file in place that can be undone until they are complete.
//!
//! Before anything is written over, the bytes that are in the way go into a journal beside the file. When the
//! change is complete the journal is removed; a journal that is there tells of a change that was interrupted,
//! and holds the state before it.
//!
//! ```text
//! magic (8) | old size of the file | number of regions | { position | length | bytes } … | SHA-256 of it all
//! ```
//!
//! All numbers are little-endian u64. The journal appears complete (it gets its name last), so it is never half
//! a journal that undoes a change.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::{Error, Result};

const MAGIC: [u8; 8] = *b"blpkundo";
/// Bytes of a number.
const WORD: usize = 8;
/// Bytes of the digest.
const DIGEST: usize = 32;

/// What a change does to its file. The tests put something in between that fails.
pub(super) trait Disk {
    /// Writes all of `bytes` at a position.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file off.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Waits until everything is on the disk.
    fn sync(&self) -> io::Result<()>;
}

impl Disk for File {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, position)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A part of the file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub position: u64,
    pub bytes: Vec<u8>,
}

/// The file as it was, where it will be written over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldState {
    pub size: u64,
    pub regions: Vec<Region>,
}

impl OldState {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let number = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
        number(&mut bytes, self.size);
        number(&mut bytes, self.regions.len() as u64);
        for region in &self.regions {
            number(&mut bytes, region.position);
            number(&mut bytes, region.bytes.len() as u64);
            bytes.extend(&region.bytes);
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<OldState> {
        let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
        if Sha256::digest(content).as_slice() != digest {
            return None;
        }
        let mut rest = content.strip_prefix(&MAGIC)?;
        let number = |rest: &mut &[u8]| -> Option<u64> {
            let (word, behind) = rest.split_first_chunk::<WORD>()?;
            *rest = behind;
            Some(u64::from_le_bytes(*word))
        };
        let size = number(&mut rest)?;
        let count = number(&mut rest)?;
        let mut regions = Vec::new();
        for _ in 0..count {
            let position = number(&mut rest)?;
            let len = usize::try_from(number(&mut rest)?).ok()?;
            let (bytes, behind) = rest.split_at_checked(len)?;
            position
                .checked_add(len as u64)
                .filter(|end| *end <= size)?;
            rest = behind;
            regions.push(Region {
                position,
                bytes: bytes.to_vec(),
            });
        }
        rest.is_empty().then_some(OldState { size, regions })
    }

    fn bring_back(&self, disk: &impl Disk) -> io::Result<()> {
        for region in &self.regions {
            disk.write_at(region.position, &region.bytes)?;
        }
        disk.set_len(self.size)?;
        disk.sync()
    }
}

/// The journal of a file.
pub fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    PathBuf::from(name)
}

/// Refuses a file whose last change was interrupted, or is under way.
///
/// # Errors
/// [`Error::Interrupted`]
pub fn check(path: &Path) -> Result<()> {
    if journal_path(path).exists() {
        return Err(Error::Interrupted(path.to_owned()));
    }
    Ok(())
}

/// Opens a file for a change, alone. An earlier change that was interrupted is undone first; returns whether
/// there was one.
///
/// # Errors
/// [`Error::Busy`], [`Error::Journal`].
pub(super) fn open(path: &Path) -> Result<(File, bool)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::Busy(path.to_owned())),
        // On file systems without locks there is only the care of their users.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let journal = journal_path(path);
    let bytes = match fs::read(&journal) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((file, false)),
        Err(error) => return Err(error.into()),
    };
    let Some(old) = OldState::decode(&bytes) else {
        return Err(Error::Journal(journal));
    };
    old.bring_back(&file)?;
    fs::remove_file(journal)?;
    Ok((file, true))
}

/// Brings a file back to the state before a change that was interrupted; returns whether there was one.
///
/// # Errors
/// [`Error::Busy`], [`Error::Journal`].
pub fn recover(path: &Path) -> Result<bool> {
    Ok(open(path)?.1)
}

/// Makes a change that can be undone: by an error of `change`, or later by [`open`] if the process ends.
///
/// # Errors
/// That of `change`, after its work was undone; those of writing the journal.
pub(super) fn change<T>(
    path: &Path,
    disk: &impl Disk,
    old: &OldState,
    change: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let journal = journal_path(path);
    write_journal(&journal, &old.encode())?;
    let changed = change().and_then(|value| {
        disk.sync()?;
        Ok(value)
    });
    if changed.is_err() {
        // The journal stays if this fails, and says so to whoever comes next.
        old.bring_back(disk)?;
    }
    fs::remove_file(journal)?;
    changed
}

fn write_journal(journal: &Path, bytes: &[u8]) -> Result<()> {
    let mut unnamed = journal.as_os_str().to_owned();
    unnamed.push(".tmp");
    let mut file = File::create(&unnamed)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&unnamed, journal)?;
    let folder = match journal.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> OldState {
        OldState {
            size: 100,
            regions: vec![
                Region {
                    position: 0,
                    bytes: b"head".to_vec(),
                },
                Region {
                    position: 95,
                    bytes: b"tail!".to_vec(),
                },
            ],
        }
    }

    #[test]
    fn a_journal_reads_back_and_a_damaged_one_does_not() {
        let bytes = state().encode();
        assert_eq!(OldState::decode(&bytes), Some(state()));
        for len in 0..bytes.len() {
            assert_eq!(OldState::decode(&bytes[..len]), None);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(OldState::decode(&damaged), None);
        }
    }

    #[test]
    fn a_region_beyond_the_file_is_no_old_state() {
        let mut beyond = state();
        beyond.regions[1].position = 96;
        assert_eq!(OldState::decode(&beyond.encode()), None);
    }
}
