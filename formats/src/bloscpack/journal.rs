//! Rollback of changes in place.
//!
//! Before a change overwrites bytes, the journal `F.journal` records them. It is removed when the
//! change is complete. So an existing journal belongs to an interrupted or ongoing change, if it
//! matches this file and its state. [`ferroblosc::io::journal`] defines the format and these
//! checks. The journal does not contain the bytes that the change writes, which are not known in
//! advance.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use crate::blpk::MAGIC;
use ferroblosc::io::claim::Claim;
use ferroblosc::io::journal::{
    self, CONTAINER_SUFFIX, Found, Image, Reason, Record, Settled, UNKNOWN,
};
use ferroblosc::io::{
    FileOps, FileSystem, ReadAt, Stream, WriteGranularity, open_with_spare_descriptors, stream_of,
    stream_of_borrowed,
};
use ferroblosc::os::files;
use ferroblosc::trace_warning;

/// The number of attempts to lock a file that other programs replace.
const LOCK_ATTEMPTS: usize = 16;
/// The number of bytes that are compared at a time.
const COMPARE_STEP: usize = 1 << 13;

/// The write operations of a change. Tests use an implementation that fails.
pub(super) trait Disk {
    /// Writes all of `bytes` at `position`.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;
    /// Sets the length of the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Flushes all data to disk.
    fn sync(&self) -> io::Result<()>;
}

impl Disk for File {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        files::write_all_at(self, position, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        files::synced(self, self.sync_data())
    }
}

/// The previous content of a region of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub position: u64,
    pub bytes: Vec<u8>,
}

/// The previous content of all regions to overwrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldState {
    pub size: u64,
    pub regions: Vec<Region>,
}

impl OldState {
    /// Returns the journal image, which always begins with the magic number of the file.
    fn image(&self, path: &Path, file: &File) -> Result<Image> {
        let mut records = Vec::new();
        for region in self.regions.iter().filter(|region| !region.bytes.is_empty()) {
            let mut before = Vec::new();
            before.try_reserve_exact(region.bytes.len())?;
            before.extend_from_slice(&region.bytes);
            records.push(Record { position: region.position, before, after: None });
        }
        records.sort_unstable_by_key(|record| record.position);
        if records.first().is_none_or(|record| record.position > 0) {
            let magic = Record { position: 0, before: MAGIC.to_vec(), after: None };
            records.insert(0, magic);
        }
        let stream = stream_of_borrowed(file, path);
        let (len, size) = ((self.size, UNKNOWN), (self.size, UNKNOWN));
        Ok(Image::new(&*stream, 0, len, size, records)?)
    }

    /// Restores the state. Writes nothing that is unchanged: if all writes of the change failed, so
    /// would these.
    fn restore(&self, file: &File, disk: &impl Disk) -> io::Result<()> {
        let mut is_changed = false;
        for region in &self.regions {
            if !has_bytes(file, region)? {
                disk.write_at(region.position, &region.bytes)?;
                is_changed = true;
            }
        }
        if file.metadata()?.len() != self.size {
            disk.set_len(self.size)?;
            is_changed = true;
        }
        if is_changed { disk.sync() } else { Ok(()) }
    }
}

/// Whether a file has the bytes of a region.
fn has_bytes(file: &File, region: &Region) -> io::Result<bool> {
    let mut buffer = [0; COMPARE_STEP];
    let mut position = region.position;
    for part in region.bytes.chunks(buffer.len()) {
        let found = &mut buffer[..part.len()];
        if ReadAt::read_at(file, position, found)? < part.len() || found != part {
            return Ok(false);
        }
        position += part.len() as u64;
    }
    Ok(true)
}

/// Whether the journal restores a container.
fn restores_a_container(image: &Image) -> bool {
    image.start == 0 && image.size.1 == UNKNOWN && image.has_mark(&MAGIC)
}

/// Returns the path of a file's journal.
pub fn journal_path(path: &Path) -> PathBuf {
    journal::path_of(&FileSystem, path, CONTAINER_SUFFIX)
}

/// Fails if the last change of a file was interrupted or is in progress. A journal that does not
/// match the file and its state is ignored.
///
/// # Errors
/// [`Error::Interrupted`]
pub fn check(path: &Path) -> Result<()> {
    match inspect(path)? {
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

/// Returns a description of an ignored journal of a container.
///
/// # Errors
/// The errors of reading.
pub fn describe_journal(path: &Path) -> Result<Option<String>> {
    Ok(match inspect(path)? {
        Found::Stale(reason) | Found::Foreign(reason) => Some(ignored(reason)),
        _ => None,
    })
}

fn inspect(path: &Path) -> Result<Found> {
    let journal = journal_path(path);
    let is_regular = || path.metadata().is_ok_and(|found| found.is_file());
    if FileSystem.attributes(&journal).is_none() || !is_regular() {
        return Ok(Found::Absent);
    }
    let stream = stream_of(open_with_spare_descriptors(|| File::open(path))?, path);
    let attributes = stream.attributes();
    let file = (&*stream, attributes.as_ref());
    Ok(journal::inspect(&FileSystem, &journal, file, restores_a_container)?)
}

/// A file that is locked until it is dropped.
pub(super) struct LockedFile {
    _claim: Claim,
    file: File,
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

/// Whether a path names an open file.
fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    Ok(files::identity_of(file)? == files::identity_at(path)?)
}

/// Checks that a path names an open file. Programs that do not lock files can replace it during a
/// change.
///
/// # Errors
/// [`Error::Replaced`]
pub(super) fn check_at(path: &Path, file: &File) -> Result<()> {
    match is_at(path, file) {
        Ok(true) => Ok(()),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        Ok(false) | Err(_) => Err(Error::Replaced(path.to_owned())),
    }
}

/// Removes the journal of a change, unless it is that of another program.
fn remove(journal: &Path, stream: &dyn Stream) -> io::Result<()> {
    if FileSystem.identify(journal) == stream.identity() {
        fs::remove_file(journal)
    } else {
        Ok(())
    }
}

/// Opens a file with `open` and locks it.
///
/// # Errors
/// [`Error::Busy`]
fn lock(path: &Path, open: impl Fn() -> io::Result<File>) -> Result<LockedFile> {
    for _ in 0..LOCK_ATTEMPTS {
        let file = open_with_spare_descriptors(&open)?;
        if !file.metadata()?.is_file() {
            let text = "this is not a regular file";
            return Err(io::Error::new(ErrorKind::InvalidInput, text).into());
        }
        let claim = Claim::of(&file);
        match claim.lock(&file) {
            // Otherwise another program has replaced the file since it was opened.
            Ok(true) if is_at(path, &file)? => return Ok(LockedFile { _claim: claim, file }),
            Ok(true) => {}
            Ok(false) => break,
            // Without support for locks, users must serialise changes themselves.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                return Ok(LockedFile { _claim: claim, file });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Busy(path.to_owned()))
}

/// Opens and locks a file for a change, and rolls back an interrupted change. The second result is
/// whether there was an interrupted change.
///
/// # Errors
/// [`Error::Busy`]; [`Error::Journal`] if a journal can be neither used nor removed.
pub(super) fn open(path: &Path) -> Result<(LockedFile, bool)> {
    let file = lock(path, || OpenOptions::new().read(true).write(true).open(path))?;
    let journal = journal_path(path);
    let stream = stream_of_borrowed(&file, path);
    let attributes = stream.attributes();
    let target = (&*stream, attributes.as_ref());
    let was_interrupted = matches!(
        journal::inspect(&FileSystem, &journal, target, restores_a_container)?,
        Found::Hot(_) | Found::Settled
    );
    let recovered = journal::recover(&FileSystem, &journal, target, restores_a_container)?;
    drop(stream);
    match recovered {
        Settled::Done => Ok((file, was_interrupted)),
        Settled::Active => Err(Error::Busy(path.to_owned())),
        Settled::Ignored(reason) => {
            trace_warning!("{}: {}", path.display(), ignored(reason));
            Err(Error::Journal(journal))
        }
    }
}

/// Rolls back an interrupted change. Returns whether there was one.
///
/// # Errors
/// [`Error::Busy`], [`Error::Journal`].
pub fn recover(path: &Path) -> Result<bool> {
    Ok(open(path).map_err(|error| error.at("open", path))?.1)
}

/// Performs a change with rollback: immediately on an error of `change`, or by [`open`] if the
/// process ends.
///
/// # Errors
/// The error of `change`, after the rollback; [`Error::Replaced`]; the errors of writing the
/// journal.
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
    // The journal stays locked until the end of the change.
    let stream = journal::create(&FileSystem, &journal, &path)?;
    let written = stream
        .write_at(0, &bytes, WriteGranularity::Whole)
        .and_then(|()| stream.sync())
        .and_then(|()| FileSystem.sync_directory(path.parent().unwrap_or(Path::new(""))));
    if let Err(error) = written {
        let _ = fs::remove_file(journal);
        return Err(error.into());
    }
    let changed = change().and_then(|value| {
        disk.sync()?;
        check_at(&path, file)?;
        Ok(value)
    });
    if changed.is_err() {
        // On failure, the journal remains for the next process that opens the file.
        old.restore(file, disk)?;
    }
    remove(&journal, &*stream)?;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::{TempDir, tempdir};

    fn journaled(dir: &TempDir) -> (PathBuf, PathBuf, Vec<u8>) {
        let path = dir.path().join("x.blp");
        let bytes = [&MAGIC[..], &[7; 96]].concat();
        fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        let old = OldState {
            size: 100,
            regions: vec![
                Region { position: 95, bytes: bytes[95..].to_vec() },
                Region { position: 0, bytes: bytes[..6].to_vec() },
            ],
        };
        let journal = journal_path(&path);
        fs::write(&journal, old.image(&path, &file).unwrap().encode().unwrap()).unwrap();
        (path, journal, bytes)
    }

    /// A change of a file that another program has replaced would be lost.
    #[test]
    fn a_replaced_file_is_not_locked_for_a_change() {
        let dir = tempdir().unwrap();
        let (path, other) = (dir.path().join("x.blp"), dir.path().join("other"));
        fs::write(&path, b"old").unwrap();
        fs::write(&other, b"new").unwrap();
        let locked = lock(&path, || {
            let file = File::open(&path)?;
            // The other program replaces the file only once.
            let _ = fs::rename(&other, &path);
            Ok(file)
        });
        assert_eq!(io::read_to_string(&*locked.unwrap()).unwrap(), "new");
        // The file disappears each time.
        let removed = lock(&path, || {
            fs::write(&path, b"old")?;
            let file = File::open(&path)?;
            fs::rename(&path, &other).map(|()| file)
        });
        assert!(removed.is_err());
    }

    #[test]
    fn a_partially_changed_file_is_rejected_and_recovered() {
        let dir = tempdir().unwrap();
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
            let dir = tempdir().unwrap();
            let (path, journal, mut bytes) = journaled(&dir);
            bytes[50] = 1;
            if !is_same_file {
                fs::rename(&path, dir.path().join("kept")).unwrap();
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
    fn a_file_that_is_not_a_journal_is_neither_used_nor_removed() {
        let dir = tempdir().unwrap();
        let (path, journal, bytes) = journaled(&dir);
        fs::write(&journal, b"a diary").unwrap();
        check(&path).unwrap();
        assert!(matches!(recover(&path), Err(Error::Journal(_))));
        assert_eq!(fs::read(&journal).unwrap(), b"a diary");
        fs::remove_file(&journal).unwrap();
        if cfg!(windows) {
            return;
        }
        let fifo = std::process::Command::new("mkfifo").arg(&journal).status();
        assert!(fifo.unwrap().success());
        check(&path).unwrap();
        assert!(matches!(recover(&path), Err(Error::Journal(_))));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    /// A journal of another format beside a container must not change it.
    #[test]
    fn journals_that_do_not_restore_a_container_are_not_used() {
        let dir = tempdir().unwrap();
        let (path, journal, before) = journaled(&dir);
        let mut half = before.clone();
        half[5] = 1;
        half.extend(b"appended");
        for (start, size, is_used) in [(0, UNKNOWN, true), (0, 108, false), (4, UNKNOWN, false)] {
            fs::write(&path, &before).unwrap();
            let file = File::open(&path).unwrap();
            let stream = stream_of_borrowed(&file, &path);
            let record = |range: std::ops::Range<usize>, new: &[u8]| Record {
                position: range.start as u64,
                before: before[range].to_vec(),
                after: (size != UNKNOWN).then(|| new.to_vec()),
            };
            // In the middle of the change: only the first record has its new bytes.
            let records = vec![record(0..6, &half[..6]), record(95..100, &[9; 5])];
            let len = (100 - start, UNKNOWN);
            let image = Image::new(&*stream, start, len, (100, size), records);
            fs::write(&journal, image.unwrap().encode().unwrap()).unwrap();
            fs::write(&path, &half).unwrap();
            assert_eq!(matches!(check(&path), Err(Error::Interrupted(_))), is_used);
            let _ = recover(&path);
            let expected = if is_used { &before } else { &half };
            assert_eq!(&fs::read(&path).unwrap(), expected, "{start} {size}");
        }
    }

    #[test]
    fn a_journal_without_its_file_is_not_used() {
        let dir = tempdir().unwrap();
        let (path, journal, _) = journaled(&dir);
        assert_eq!(describe_journal(&path).unwrap(), None);
        fs::remove_file(&path).unwrap();
        check(&path).unwrap();
        assert_eq!(describe_journal(&path).unwrap(), None);
        assert!(recover(&path).is_err() && journal.exists());
        fs::create_dir(&path).unwrap();
        check(&path).unwrap();
    }

    /// The journal of a program that does not lock files.
    #[test]
    fn only_the_own_journal_is_removed() {
        let dir = tempdir().unwrap();
        let (path, journal, _) = journaled(&dir);
        let file = File::open(&journal).unwrap();
        let stream = stream_of_borrowed(&file, &journal);
        fs::rename(&journal, dir.path().join("moved")).unwrap();
        fs::write(&journal, b"of another program").unwrap();
        remove(&journal, &*stream).unwrap();
        assert!(journal.exists());
        fs::rename(dir.path().join("moved"), &journal).unwrap();
        remove(&journal, &*stream).unwrap();
        assert!(!journal.exists());
        let file = File::open(&path).unwrap();
        check_at(&path, &file).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(check_at(&path, &file), Err(Error::Replaced(_))));
        // The state of the path is unknown.
        let below = path.join("below");
        fs::write(&path, "").unwrap();
        assert!(matches!(check_at(&below, &file), Err(Error::Container(_))));
    }
}
