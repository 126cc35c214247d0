//! What a change is going to overwrite, kept in a file beside the frame until the change is done.
//!
//! The journal of the file `F` is `F.b2journal`. Numbers are little endian; the checksums are XXH3 of 64 bits:
//!
//! ```text
//!  0  "B2JRNL01"
//!  8  where the frame begins in its file    64 bits
//! 16  bytes of the frame                    64 bits
//! 24  bytes of the file                     64 bits
//! 32  records: position in the file         64 bits
//!              length                       32 bits
//!              bytes that were there
//!              checksum of the record       64 bits
//!     end: a position of 64 ones, checksum of all in front of it
//! ```
//! A change writes the journal so that it lasts, changes the frame so that that lasts, and empties the
//! journal: that is the moment at which the change is done. A journal that is found whole therefore tells of a
//! change that was not, and what it holds is put back; one that is not whole tells of a change that had not
//! begun. Whoever uses a journal claims it first, so nobody takes back a change that is under way.

use super::files::{Files, beside};
use crate::io::{Mode, Portions, Stream};
use crate::{Error, Result, trace_warning};
use std::ops::Deref;
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// What the name of a journal ends with.
const SUFFIX: &str = ".b2journal";
const MAGIC: [u8; 8] = *b"B2JRNL01";
/// Bytes in front of the records.
const HEAD_LEN: usize = MAGIC.len() + 3 * WORD;
/// Where the bytes of the file stand.
const FILE_SIZE_AT: usize = HEAD_LEN - WORD;
/// Bytes of a position, and of a checksum.
const WORD: usize = size_of::<u64>();
/// Bytes of a length.
const LEN: usize = size_of::<u32>();
/// The position of a record that is none.
const END: u64 = u64::MAX;

/// A journal of a change that is under way.
pub struct Journal<F> {
    files: F,
    path: PathBuf,
    stream: Box<dyn Stream>,
    bytes: Vec<u8>,
}

/// Takes back the change that a journal beside the frame tells of; returns whether there is no journal any
/// more, or else that of somebody who is at work.
///
/// # Errors
/// Those of the backend: the frame may be half changed then, and the journal is still there.
pub fn settle(files: &Files) -> Result<bool> {
    let Some(names) = files.backend().names() else {
        return Ok(true);
    };
    let path = beside(&names.resolve(files.path()), SUFFIX);
    if names.identify(&path).is_none() {
        return Ok(true);
    }
    let Ok(stream) = files.backend().open(&path, Mode::Read) else {
        // It went in between, or it can't be read: then neither can be known.
        return match names.identify(&path) {
            None => Ok(true),
            Some(_) => Err(Error::FileOpen),
        };
    };
    if !stream.claim()? {
        return Ok(false);
    }
    if names.identify(&path) != stream.identity() {
        return Ok(true);
    }
    let bytes = read_all(&*stream)?;
    if let Some(records) = parse(&bytes) {
        put_back(files, &bytes, &records)?;
        empty(&*files.backend().open(&path, Mode::Update)?)?;
    }
    if let Err(error) = names.remove(&path) {
        // It says nothing any more.
        trace_warning!("the journal {} can't be removed: {error}", path.display());
    }
    Ok(true)
}

impl<F: Deref<Target = Files>> Journal<F> {
    /// Keeps what is in the file from these positions on, each with a length, before it is changed.
    ///
    /// # Errors
    /// [`Error::Lock`] when somebody else is changing the frame; those of the backend.
    pub fn begin(files: F, frame_len: u64, parts: &[(u64, u64)]) -> Result<Journal<F>> {
        if !settle(&files)? {
            return Err(Error::Lock);
        }
        let names = files.backend().names().ok_or(Error::InvalidParam)?;
        let path = beside(&names.resolve(files.path()), SUFFIX);
        let bytes = record(&files, frame_len, parts)?;
        // Not emptied when it is opened: it may have become somebody else's.
        let stream = files.backend().open(&path, Mode::Append)?;
        let is_ours = stream.claim()?
            && names.identify(&path) == stream.identity()
            && stream.size().is_ok_and(|size| size == 0);
        if !is_ours {
            return Err(Error::Lock);
        }
        let journal = Journal {
            files,
            path,
            stream,
            bytes,
        };
        match journal.write() {
            Ok(()) => Ok(journal),
            Err(error) => {
                journal.remove();
                Err(error)
            }
        }
    }

    fn write(&self) -> Result<()> {
        self.stream.write_at(0, &self.bytes, Portions::Whole)?;
        self.stream.sync()?;
        self.files.sync_names_at(&self.path)
    }

    /// Ends a change that lasts already, or takes it back when it failed, or when its end doesn't last.
    ///
    /// # Errors
    /// That of the change, or of the backend.
    pub fn end<T>(self, result: Result<T>) -> Result<T> {
        let ended = result.and_then(|value| empty(&*self.stream).map(|()| value));
        if ended.is_ok() {
            self.remove();
            return ended;
        }
        let records = parse(&self.bytes).unwrap_or_default();
        match put_back(&self.files, &self.bytes, &records).and_then(|()| empty(&*self.stream)) {
            Ok(()) => self.remove(),
            // Whoever opens the frame next finds the journal.
            Err(error) => {
                trace_warning!("a change can't be taken back yet: {error}");
                let is_empty = self.stream.size().is_ok_and(|size| size == 0);
                if is_empty && let Err(error) = self.write() {
                    trace_warning!("the journal can't be written again: {error}");
                }
            }
        }
        ended
    }

    fn remove(&self) {
        let names = self.files.names();
        if let Err(error) = names.remove(&self.path) {
            trace_warning!(
                "the journal {} can't be removed: {error}",
                self.path.display()
            );
        }
    }
}

/// Makes a journal say nothing.
fn empty(journal: &dyn Stream) -> Result<()> {
    journal.truncate(0)?;
    journal.sync()
}

fn read_all(stream: &dyn Stream) -> Result<Vec<u8>> {
    let len = usize::try_from(stream.size()?).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    let read = stream.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// The journal of these parts of a file.
fn record(files: &Files, frame_len: u64, parts: &[(u64, u64)]) -> Result<Vec<u8>> {
    let stream = files.open_for_update()?;
    let size = stream.size()?;
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&MAGIC);
    for number in [files.start(), frame_len, size] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for &(position, len) in parts {
        let len = len.min(size.saturating_sub(position));
        let len = u32::try_from(len).map_err(|_| Error::MemoryAlloc)?;
        let start = bytes.len();
        bytes.try_reserve(WORD + LEN + len as usize + 3 * WORD)?;
        bytes.extend_from_slice(&position.to_le_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
        let data = bytes.len();
        bytes.resize(data + len as usize, 0);
        if stream.read_at(position, &mut bytes[data..])? != len as usize {
            return Err(Error::FileRead);
        }
        let sum = xxh3_64(&bytes[start..]);
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    let sum = xxh3_64(&bytes);
    bytes.extend_from_slice(&END.to_le_bytes());
    bytes.extend_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// The records of a whole journal, each a position in the file and the bytes that were there.
fn parse(bytes: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let word = |at: usize| -> Option<u64> {
        let word = bytes.get(at..at.checked_add(WORD)?)?;
        Some(u64::from_le_bytes(word.try_into().ok()?))
    };
    if !bytes.starts_with(&MAGIC) {
        return None;
    }
    let mut at = HEAD_LEN;
    let mut records = Vec::new();
    loop {
        let position = word(at)?;
        if position == END {
            let is_whole = word(at + WORD)? == xxh3_64(&bytes[..at]);
            return is_whole.then_some(records);
        }
        let len = bytes.get(at + WORD..at + WORD + LEN)?;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        let data = at + WORD + LEN;
        let end = data.checked_add(usize::try_from(len).ok()?)?;
        let old = bytes.get(data..end)?;
        if word(end)? != xxh3_64(&bytes[at..end]) {
            return None;
        }
        records.push((position, old));
        at = end + WORD;
    }
}

/// Makes a file what it was.
fn put_back(files: &Files, journal: &[u8], records: &[(u64, &[u8])]) -> Result<()> {
    let size = journal
        .get(FILE_SIZE_AT..)
        .and_then(|rest| rest.first_chunk())
        .ok_or(Error::InvalidParam)?;
    let stream = files.open_for_update()?;
    for &(position, old) in records {
        stream.write_at(position, old, Portions::Bytes)?;
    }
    stream.truncate(u64::from_le_bytes(*size))?;
    stream.sync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::FileSystem;
    use crate::io::testing::TempDir;
    use std::sync::Arc;

    fn files(dir: &TempDir) -> Files {
        Files::contiguous(Arc::new(FileSystem), dir.join("f"), 3)
    }

    #[test]
    fn a_change_that_was_not_done_is_taken_back() {
        let dir = TempDir::new("journal");
        std::fs::write(dir.join("f"), b"0123456789").unwrap();
        let files = files(&dir);
        let journal = Journal::begin(&files, 7, &[(3, 2), (8, 100)]).unwrap();
        std::fs::write(dir.join("f"), b"012XX567YYYYYYYYY").unwrap();
        // While the journal is in use nobody else uses it.
        assert_eq!(settle(&files), Ok(false));
        assert_eq!(Journal::begin(&files, 7, &[]).err(), Some(Error::Lock));
        drop(journal);
        assert_eq!(settle(&files), Ok(true));
        assert_eq!(std::fs::read(dir.join("f")).unwrap(), b"0123456789");
        assert!(!dir.join("f.b2journal").exists());
    }

    #[test]
    fn a_change_that_is_done_stays() {
        let dir = TempDir::new("journal-done");
        std::fs::write(dir.join("f"), b"0123456789").unwrap();
        let files = files(&dir);
        let journal = Journal::begin(&files, 7, &[(3, 2)]).unwrap();
        std::fs::write(dir.join("f"), b"012XX56789").unwrap();
        journal.end(Ok(())).unwrap();
        assert!(!dir.join("f.b2journal").exists());
        assert_eq!(settle(&files), Ok(true));
        assert_eq!(std::fs::read(dir.join("f")).unwrap(), b"012XX56789");
    }

    #[test]
    fn a_change_that_fails_is_taken_back_at_once() {
        let dir = TempDir::new("journal-failed");
        std::fs::write(dir.join("f"), b"0123456789").unwrap();
        let files = files(&dir);
        let journal = Journal::begin(&files, 7, &[(3, 2)]).unwrap();
        std::fs::write(dir.join("f"), b"012XX5").unwrap();
        let ended: Result<()> = journal.end(Err(Error::FileWrite));
        assert_eq!(ended, Err(Error::FileWrite));
        assert_eq!(std::fs::read(dir.join("f")).unwrap(), b"01234\x35\0\0\0\0");
    }

    #[test]
    fn a_journal_that_is_cut_or_altered_anywhere_says_nothing() {
        let dir = TempDir::new("journal-cut");
        std::fs::write(dir.join("f"), b"0123456789").unwrap();
        let whole = record(&files(&dir), 7, &[(3, 4), (7, 3)]).unwrap();
        let records = parse(&whole).unwrap();
        assert_eq!(records, [(3, &b"3456"[..]), (7, &b"789"[..])]);
        for len in 0..whole.len() {
            assert_eq!(parse(&whole[..len]), None, "cut to {len}");
        }
        for at in 0..whole.len() {
            let mut altered = whole.clone();
            altered[at] ^= 0x10;
            assert_eq!(parse(&altered), None, "altered at {at}");
        }
    }
}
