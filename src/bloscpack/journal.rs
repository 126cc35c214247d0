//! Changes of a file in place that can be undone until they are complete.
//!
//! Before anything is overwritten, the journal `F.journal` records the bytes. When the change is complete
//! the journal is removed. A journal that exists belongs to a change that was interrupted or is under way,
//! if it is one of this file and its state: its format and the rules for that are those of
//! [`crate::io::journal`]. What the change writes is not in it, since that is not known before.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use crate::blpk::MAGIC;
use crate::io::journal::{self, CONTAINER_SUFFIX, Found, Image, Reason, Record, Settled, UNKNOWN};
use crate::io::{FileSystem, Names, Portions, stream_of};
use crate::trace_warning;

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

/// The file as it was, where it will be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldState {
    pub size: u64,
    pub regions: Vec<Region>,
}

impl OldState {
    /// The state as a journal records it. It always begins with the magic of the file.
    fn image(&self, path: &Path, file: &File) -> Result<Image> {
        let mut records: Vec<Record> = self
            .regions
            .iter()
            .filter(|region| !region.bytes.is_empty())
            .map(|region| Record {
                position: region.position,
                before: region.bytes.clone(),
                after: None,
            })
            .collect();
        records.sort_unstable_by_key(|record| record.position);
        if records.first().is_none_or(|record| record.position > 0) {
            let magic = Record {
                position: 0,
                before: MAGIC.to_vec(),
                after: None,
            };
            records.insert(0, magic);
        }
        let stream = stream_of(file.try_clone()?, path);
        let (len, size) = ((self.size, UNKNOWN), (self.size, UNKNOWN));
        Ok(Image::new(&*stream, 0, len, size, records)?)
    }

    fn bring_back(&self, disk: &impl Disk) -> io::Result<()> {
        for region in &self.regions {
            disk.write_at(region.position, &region.bytes)?;
        }
        disk.set_len(self.size)?;
        disk.sync()
    }
}

/// Whether what a journal restores is a container.
fn restores_a_container(image: &Image) -> bool {
    image.start == 0 && image.size.1 == UNKNOWN && image.has_mark(&MAGIC)
}

/// The journal of a file.
pub fn journal_path(path: &Path) -> PathBuf {
    journal::path_of(&FileSystem, path, CONTAINER_SUFFIX)
}

/// Refuses a file whose last change was interrupted, or is under way. A journal that is not of this file
/// and its state is ignored.
///
/// # Errors
/// [`Error::Interrupted`]
pub fn check(path: &Path) -> Result<()> {
    match look(path)? {
        Found::Active | Found::Hot(_) => Err(Error::Interrupted(path.to_owned())),
        Found::Stale(reason) | Found::Foreign(reason) => {
            trace_warning!("{}: {}", path.display(), ignored(reason));
            Ok(())
        }
        Found::Absent | Found::Settled => Ok(()),
    }
}

fn ignored(reason: Reason) -> String {
    format!("a journal that does not belong to this file is ignored: {reason}")
}

/// Describes the journal beside a container that is ignored, for people.
///
/// # Errors
/// Those of reading.
pub fn describe_journal(path: &Path) -> Result<Option<String>> {
    Ok(match look(path)? {
        Found::Stale(reason) | Found::Foreign(reason) => Some(ignored(reason)),
        _ => None,
    })
}

fn look(path: &Path) -> Result<Found> {
    let journal = journal_path(path);
    let is_regular = || path.metadata().is_ok_and(|found| found.is_file());
    if FileSystem.attributes(&journal).is_none() || !is_regular() {
        return Ok(Found::Absent);
    }
    let stream = stream_of(File::open(path)?, path);
    let attributes = stream.attributes();
    let file = (&*stream, attributes.as_ref());
    Ok(journal::look(
        &FileSystem,
        &journal,
        file,
        restores_a_container,
    )?)
}

/// Opens a file for a change, alone. An earlier change that was interrupted is undone first; returns whether
/// there was one.
///
/// # Errors
/// [`Error::Busy`]; [`Error::Journal`] when a journal can neither be used nor removed.
pub(super) fn open(path: &Path) -> Result<(File, bool)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::Busy(path.to_owned())),
        // File systems without locks leave it to their users.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let journal = journal_path(path);
    let stream = stream_of(file.try_clone()?, path);
    let attributes = stream.attributes();
    let target = (&*stream, attributes.as_ref());
    let was_interrupted = matches!(
        journal::look(&FileSystem, &journal, target, restores_a_container)?,
        Found::Hot(_) | Found::Settled
    );
    match journal::settle(&FileSystem, &journal, target, restores_a_container)? {
        Settled::Done => Ok((file, was_interrupted)),
        Settled::Active => Err(Error::Busy(path.to_owned())),
        Settled::Left(reason) => {
            trace_warning!("{}: {}", path.display(), ignored(reason));
            Err(Error::Journal(journal))
        }
    }
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
    file: &File,
    disk: &impl Disk,
    old: &OldState,
    change: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let path = fs::canonicalize(path)?;
    let journal = journal_path(&path);
    let bytes = old.image(&path, file)?.encode()?;
    // Claimed until the change has ended.
    let stream = journal::create(&FileSystem, &journal, &path)?;
    let written = stream
        .write_at(0, &bytes, Portions::Whole)
        .and_then(|()| stream.sync())
        .and_then(|()| FileSystem.sync_directory(path.parent().unwrap_or(Path::new(""))));
    if let Err(error) = written {
        let _ = fs::remove_file(journal);
        return Err(error.into());
    }
    let changed = change().and_then(|value| {
        disk.sync()?;
        Ok(value)
    });
    if changed.is_err() {
        // The journal stays if this fails, and is found by the next one who opens the file.
        old.bring_back(disk)?;
    }
    fs::remove_file(journal)?;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;

    fn journaled(dir: &TempDir) -> (PathBuf, PathBuf, Vec<u8>) {
        let path = dir.join("x.blp");
        let bytes = [&MAGIC[..], &[7; 96]].concat();
        fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        let old = OldState {
            size: 100,
            regions: vec![
                Region {
                    position: 95,
                    bytes: bytes[95..].to_vec(),
                },
                Region {
                    position: 0,
                    bytes: bytes[..6].to_vec(),
                },
            ],
        };
        let journal = journal_path(&path);
        fs::write(&journal, old.image(&path, &file).unwrap().encode().unwrap()).unwrap();
        (path, journal, bytes)
    }

    #[test]
    fn a_file_in_the_middle_of_its_change_is_refused_and_recovered() {
        let dir = TempDir::new("blpk-hot");
        let (path, journal, before) = journaled(&dir);
        check(&path).unwrap();
        let mut half = before.clone();
        half[5] = 1;
        half.extend(b"appended");
        fs::write(&path, &half).unwrap();
        assert!(matches!(check(&path), Err(Error::Interrupted(_))));
        assert!(recover(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(!journal.exists());
    }

    #[test]
    fn a_journal_of_another_file_or_state_is_ignored_and_removed() {
        for is_same_file in [false, true] {
            let dir = TempDir::new("blpk-stale");
            let (path, journal, mut bytes) = journaled(&dir);
            bytes[50] = 1;
            if !is_same_file {
                fs::rename(&path, dir.join("kept")).unwrap();
            }
            fs::write(&path, &bytes).unwrap();
            check(&path).unwrap();
            assert!(describe_journal(&path).unwrap().is_some());
            assert!(!recover(&path).unwrap());
            assert_eq!(fs::read(&path).unwrap(), bytes);
            assert!(!journal.exists());
        }
    }

    #[test]
    fn what_is_no_journal_is_neither_used_nor_removed() {
        let dir = TempDir::new("blpk-foreign");
        let (path, journal, bytes) = journaled(&dir);
        fs::write(&journal, b"a diary").unwrap();
        check(&path).unwrap();
        assert!(matches!(recover(&path), Err(Error::Journal(_))));
        assert_eq!(fs::read(&journal).unwrap(), b"a diary");
        fs::remove_file(&journal).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(&journal).status();
        assert!(fifo.unwrap().success());
        check(&path).unwrap();
        assert!(matches!(recover(&path), Err(Error::Journal(_))));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
