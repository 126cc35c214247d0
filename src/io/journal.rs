//! Journals of in-place changes: the rules that all formats share.
//!
//! Before a change overwrites bytes of a file, a journal beside the file records them. A journal
//! found later is used only if it belongs to the current state of the file:
//!
//! - The journal itself must be trustworthy ([`open`]): a regular file with one name, owned by the
//!   owner of the file or by the user of this process, and writable only by users who may write the
//!   file.
//! - Its head must identify the file by its inode and creation time, and its lengths must be
//!   consistent with its own size and the sizes of the file.
//! - Every byte that the change overwrites must be either the old or the new byte, and the bytes
//!   beside them must be unchanged ([`Image::relation`]).
//!
//! A file that was removed and created again, restored from a backup, replaced by a rename, or
//! rewritten by another program is therefore left unchanged.
//!
//! Numbers are little endian; checksums are XXH3 of 64 bits:
//!
//! ```text
//!   0  "B2JRNL02"
//!   8  inode of the file                              64 bits
//!  16  time at which the file was made, ns, or 0      64 bits
//!  24  start of the data in the file                  64 bits
//!  32  bytes of the data before and after             2 × 64 bits
//!  48  bytes of the file before and after             2 × 64 bits
//!  64  bytes of the journal                           64 bits
//!  72  number of records                              64 bits
//!  80  checksum of bytes beside the records           64 bits
//!  88  checksum of the head                           64 bits
//!  96  records: position in the file                  64 bits
//!               bytes before and after                2 × 64 bits
//!               the bytes before, the bytes after
//!               checksum of the record                64 bits
//!      end:     checksum of all before it             64 bits
//! ```
//! A size after the change of 64 one bits means that it is unknown. Records then have no bytes
//! after the change.

use super::backend::{Attributes, FileKind, FileOps, Stream, View, WriteGranularity};
use crate::{Error, Result, trace_warning};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: [u8; 8] = *b"B2JRNL02";
/// The magic of journals that do not identify their file; they are never used.
const OLD_MAGIC: [u8; 8] = *b"B2JRNL01";
/// The magic of journals that `blpk` wrote before it shared this format.
const OLD_BLPK_MAGIC: [u8; 8] = *b"blpkundo";
/// Size of a number, and of a checksum, in bytes.
const WORD: usize = size_of::<u64>();
/// Size of the head in bytes.
const HEAD_LEN: usize = MAGIC.len() + 11 * WORD;
/// Size of a record without the bytes of the file.
const RECORD_LEN: usize = 4 * WORD;
/// An unknown size.
pub const UNKNOWN: u64 = u64::MAX;
/// Number of bytes at either end of an unchanged range that the head's checksum covers.
const EDGE: u64 = 4096;
/// Number of bytes compared at a time.
const STEP: usize = 64 << 10;
/// Number of bytes by which a journal without content is recognised: zeros, or a magic.
const FRONT: usize = 512;
/// Permission bits for writing by group and others.
const OTHERS_WRITE: u32 = 0o022;

/// Suffix of a frame's journal.
pub const FRAME_SUFFIX: &str = ".b2journal";
/// Suffix of a Bloscpack container's journal.
pub const CONTAINER_SUFFIX: &str = ".journal";

/// Whether a state is that of a file of the journal's format.
pub type Check = fn(&Image) -> bool;

/// The reason for not using a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is a link, a directory, a FIFO or a device.
    NotRegular,
    /// It has more than one hard link.
    Linked,
    /// Its owner is neither the file's nor the user of this process.
    Owner,
    /// Users may write it who may not write the file.
    Writable,
    /// It cannot be opened.
    Unreadable,
    /// It is not a journal.
    NotAJournal,
    /// Its format does not identify the file.
    OldFormat,
    /// It is incomplete or damaged.
    Incomplete,
    /// It belongs to an earlier file at the path.
    OtherFile,
    /// The file was rewritten since.
    OtherContent,
    /// The file has another format.
    OtherFormat,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NotRegular => "it is not a regular file",
            Reason::Linked => "it has more than one name",
            Reason::Owner => "it is owned by another user than the file",
            Reason::Writable => "users may write it who may not write the file",
            Reason::Unreadable => "it can't be read",
            Reason::NotAJournal => "it is not a journal",
            Reason::OldFormat => "its format does not identify the file",
            Reason::Incomplete => "it is incomplete: the change had not begun",
            Reason::OtherFile => "it belongs to an earlier file of this name",
            Reason::OtherContent => "the file has been rewritten since",
            Reason::OtherFormat => "the file is not of the journal's format",
        })
    }
}

/// The result of looking for a journal.
pub enum Found {
    /// There is no journal.
    Absent,
    /// A writer is using it.
    Active,
    /// The file is in the middle of the change.
    Hot(Image),
    /// The file is in the state before or after the change.
    Settled,
    /// The journal was made for this path, but does not match the file.
    Stale(Reason),
    /// The journal is not trusted.
    Foreign(Reason),
}

/// The relation of a file to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The change has not begun.
    Before,
    /// The change has begun.
    Underway,
    /// The change is complete.
    After,
    /// The file is in no state of this change.
    Unrelated,
}

/// Bytes that a change overwrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The position in the file.
    pub position: u64,
    /// The bytes before the change, up to the old end of the file.
    pub before: Vec<u8>,
    /// The bytes after the change, if known.
    pub after: Option<Vec<u8>>,
}

impl Record {
    fn before_end(&self) -> u64 {
        self.position + self.before.len() as u64
    }

    /// Returns the end of the bytes that the change may touch.
    fn end(&self) -> u64 {
        let after = self.after.as_ref().map_or(0, Vec::len);
        self.position + self.before.len().max(after) as u64
    }
}

/// The state of a file before a change, and the data that identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The inode of the file.
    pub inode: u64,
    /// The creation time of the file, in nanoseconds; 0 if unknown.
    pub born: u64,
    /// The position of the data in the file.
    pub start: u64,
    /// Size of the data in bytes before and after the change.
    pub len: (u64, u64),
    /// Size of the file in bytes before and after the change.
    pub size: (u64, u64),
    /// Checksum of bytes beside the records.
    pub beside: u64,
    /// The bytes that the change overwrites, by position.
    pub records: Vec<Record>,
}

/// Returns the path of a journal: the path of the file, with symbolic links resolved, and a suffix.
pub fn path_of(ops: &dyn FileOps, path: &Path, suffix: &str) -> PathBuf {
    let is_link = ops
        .attributes(path)
        .is_some_and(|found| found.kind == FileKind::Link);
    let mut name = if is_link {
        OsString::from(ops.resolve(path))
    } else {
        OsString::from(path)
    };
    name.push(suffix);
    PathBuf::from(name)
}

/// An open journal.
pub struct Opened {
    /// The journal.
    pub stream: Box<dyn Stream>,
    /// Its attributes, if the backend has them.
    pub attributes: Option<Attributes>,
}

/// Opens a journal if it can be trusted. `file` has the attributes of the file it belongs to;
/// `None` if that file is gone.
///
/// # Errors
/// The reason for not trusting it; `None` if there is no journal.
pub fn open(
    ops: &dyn FileOps,
    path: &Path,
    file: Option<&Attributes>,
    writes: bool,
) -> std::result::Result<Opened, Option<Reason>> {
    let Some(named) = ops.attributes(path) else {
        return Err(None);
    };
    check_trust(&named, file)?;
    let Ok(stream) = ops.open_unfollowed(path, writes) else {
        return Err(ops.attributes(path).map(|_| Reason::Unreadable));
    };
    // The path may name another file since.
    let attributes = stream.attributes();
    if let Some(opened) = &attributes {
        check_trust(opened, file)?;
    }
    Ok(Opened { stream, attributes })
}

fn check_trust(
    found: &Attributes,
    file: Option<&Attributes>,
) -> std::result::Result<(), Option<Reason>> {
    // SAFETY: the call has no preconditions.
    let user = unsafe { libc::geteuid() };
    let file_mode = file.map_or(0, |file| {
        let same_group = file.group == found.group;
        file.mode & if same_group { 0o022 } else { 0o002 }
    });
    let is_owned = found.owner == user || file.is_some_and(|file| file.owner == found.owner);
    let reason = if found.kind != FileKind::Regular {
        Reason::NotRegular
    } else if found.links > 1 {
        Reason::Linked
    } else if !is_owned {
        Reason::Owner
    } else if file.is_some() && found.mode & OTHERS_WRITE & !file_mode != 0 {
        Reason::Writable
    } else {
        return Ok(());
    };
    Err(Some(reason))
}

/// Reads the journal of an open file with these attributes and determines the relation of the two.
/// Writes nothing.
///
/// # Errors
/// Those of reading the file; [`Error::MemoryAlloc`]; [`Error::FileOpen`] when a trusted journal
/// cannot be read, since the file may be in the middle of a change.
pub fn look(
    ops: &dyn FileOps,
    path: &Path,
    file: (&dyn Stream, Option<&Attributes>),
    check: Check,
) -> Result<Found> {
    let opened = match open(ops, path, file.1, false) {
        Ok(opened) => opened,
        Err(None) => return Ok(Found::Absent),
        Err(Some(Reason::Unreadable)) => return Err(Error::FileOpen),
        Err(Some(reason)) => return Ok(Found::Foreign(reason)),
    };
    if opened.stream.is_claimed()? {
        return Ok(Found::Active);
    }
    relate(&*opened.stream, file, check)
}

/// As [`look`], for a journal that is already open.
///
/// # Errors
/// Those of reading either file; [`Error::MemoryAlloc`].
pub fn relate(
    journal: &dyn Stream,
    (file, attributes): (&dyn Stream, Option<&Attributes>),
    check: Check,
) -> Result<Found> {
    let image = match read(journal)? {
        Ok(image) => image,
        Err(reason @ Reason::NotAJournal) => return Ok(Found::Foreign(reason)),
        Err(reason) => return Ok(Found::Stale(reason)),
    };
    if !check(&image) {
        return Ok(Found::Stale(Reason::OtherFormat));
    }
    if attributes.is_some_and(|found| !image.is_of(found)) {
        return Ok(Found::Stale(Reason::OtherFile));
    }
    Ok(match image.relation(file)? {
        Relation::Before | Relation::After => Found::Settled,
        Relation::Underway => Found::Hot(image),
        Relation::Unrelated => Found::Stale(Reason::OtherContent),
    })
}

/// Rolls an interrupted change of a file back if there is a journal of it, and removes the journal.
/// `file` is open for writing.
///
/// A journal that is not trusted, and one whose format does not identify its file, are kept.
///
/// # Errors
/// Those of both files. The journal then still exists.
pub fn settle(
    ops: &dyn FileOps,
    path: &Path,
    file: (&dyn Stream, Option<&Attributes>),
    check: Check,
) -> Result<Settled> {
    let opened = match open(ops, path, file.1, true) {
        Ok(opened) => opened,
        Err(None) => return Ok(Settled::Done),
        Err(Some(Reason::Unreadable)) => return Err(Error::FileOpen),
        Err(Some(reason)) => return Ok(Settled::Left(reason)),
    };
    if !opened.stream.claim()? {
        return Ok(Settled::Active);
    }
    if ops.identify(path) != opened.stream.identity() {
        // Another process claimed it first.
        return Ok(Settled::Active);
    }
    match relate(&*opened.stream, file, check)? {
        Found::Hot(image) => {
            trace_warning!(
                "{}: the state before an interrupted change is restored",
                path.display()
            );
            image.put_back(file.0)?;
        }
        // The bytes may not be on the disk yet, and the journal is about to be removed.
        Found::Settled => file.0.sync()?,
        Found::Stale(reason @ Reason::OldFormat) | Found::Foreign(reason) => {
            return Ok(Settled::Left(reason));
        }
        Found::Stale(reason) => {
            trace_warning!("the journal {} is removed: {reason}", path.display());
        }
        Found::Absent | Found::Active => {}
    }
    empty(&*opened.stream)?;
    if let Err(error) = ops.remove(path) {
        // The journal is empty, so it is harmless.
        trace_warning!("the journal {} can't be removed: {error}", path.display());
    }
    Ok(Settled::Done)
}

/// The state of a journal after [`settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// There is no journal any more.
    Done,
    /// A writer is using it.
    Active,
    /// It is kept, because it is never used as a journal.
    Left(Reason),
}

/// Removes a journal beside a path whose file is gone or is about to be replaced, if it is a
/// trusted journal and no writer is using it. `file` has the attributes of the old file at the
/// path.
pub fn discard(ops: &dyn FileOps, path: &Path, suffix: &str, file: Option<&Attributes>) {
    let journal = path_of(ops, path, suffix);
    let opened = match open(ops, &journal, file, false) {
        Ok(opened) => opened,
        Err(None) => return,
        Err(Some(reason)) => {
            trace_warning!("the journal {} is kept: {reason}", journal.display());
            return;
        }
    };
    let is_ours = opened.stream.is_claimed() == Ok(false)
        && front(&*opened.stream).is_ok_and(|front| is_journal(&front))
        && ops.identify(&journal) == opened.stream.identity();
    if !is_ours {
        trace_warning!(
            "the file {} is kept: it is not a journal, or is in use",
            journal.display()
        );
    } else if let Err(error) = ops.remove(&journal) {
        trace_warning!(
            "the journal {} can't be removed: {error}",
            journal.display()
        );
    }
}

/// As [`discard`], for the journals of all formats beside a path of the file system where a new
/// file was created.
pub fn discard_all(path: &Path) {
    let file = super::FileSystem.attributes(path);
    for suffix in [FRAME_SUFFIX, CONTAINER_SUFFIX] {
        discard(&super::FileSystem, path, suffix, file.as_ref());
    }
}

/// Empties a journal, which ends its change.
///
/// # Errors
/// Those of the backend.
pub fn empty(journal: &dyn Stream) -> Result<()> {
    journal.truncate(0)?;
    journal.sync()
}

/// Creates the file of a journal, claimed, with the permissions and the owner of `file`, as far as
/// this user may set them.
///
/// # Errors
/// [`Error::FileOpen`] when another file is at the path; [`Error::Lock`] when another process
/// claims it.
pub fn create(ops: &dyn FileOps, path: &Path, file: &Path) -> Result<Box<dyn Stream>> {
    let stream = ops.create_new(path, true)?;
    if !stream.claim()? || ops.identify(path) != stream.identity() {
        return Err(Error::Lock);
    }
    ops.copy_permissions(file, path)?;
    Ok(stream)
}

/// Returns the first bytes of a journal.
fn front(journal: &dyn Stream) -> Result<Vec<u8>> {
    let mut front = vec![0; FRONT];
    let read = journal.read_at(0, &mut front)?;
    front.truncate(read);
    Ok(front)
}

/// Whether these are the first bytes of a journal, with or without content.
fn is_journal(front: &[u8]) -> bool {
    let begins = |magic: &[u8]| front.starts_with(magic);
    begins(&MAGIC)
        || begins(&OLD_MAGIC)
        || begins(&OLD_BLPK_MAGIC)
        || MAGIC.starts_with(front)
        || front.iter().all(|&byte| byte == 0)
}

/// Reads a journal, or returns the reason for not using it.
fn read(journal: &dyn Stream) -> Result<std::result::Result<Image, Reason>> {
    let head = front(journal)?;
    if head.starts_with(&OLD_MAGIC) || head.starts_with(&OLD_BLPK_MAGIC) {
        return Ok(Err(Reason::OldFormat));
    }
    if !is_journal(&head) {
        return Ok(Err(Reason::NotAJournal));
    }
    let Some(head) = head.first_chunk().and_then(Head::parse) else {
        return Ok(Err(Reason::Incomplete));
    };
    if journal.size()? != head.journal_len || !head.is_bounded() {
        return Ok(Err(Reason::Incomplete));
    }
    let len = usize::try_from(head.journal_len).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    if journal.read_at(0, &mut bytes)? != len {
        return Ok(Err(Reason::Incomplete));
    }
    Image::decode(&bytes).map(|image| image.ok_or(Reason::Incomplete))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(WORD)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

/// The numbers of a head with a valid checksum.
struct Head {
    image: Image,
    journal_len: u64,
    records: u64,
}

impl Head {
    fn parse(bytes: &[u8; HEAD_LEN]) -> Option<Head> {
        let number = |index: usize| word(bytes, MAGIC.len() + index * WORD);
        let sum = word(bytes, HEAD_LEN - WORD)?;
        if !bytes.starts_with(&MAGIC) || sum != xxh3_64(&bytes[..HEAD_LEN - WORD]) {
            return None;
        }
        Some(Head {
            image: Image {
                inode: number(0)?,
                born: number(1)?,
                start: number(2)?,
                len: (number(3)?, number(4)?),
                size: (number(5)?, number(6)?),
                beside: number(9)?,
                records: Vec::new(),
            },
            journal_len: number(7)?,
            records: number(8)?,
        })
    }

    /// Whether the size of the journal is consistent with the sizes of the file.
    fn is_bounded(&self) -> bool {
        let (before, after) = self.image.size;
        let after = if after == UNKNOWN { 0 } else { after };
        let most = before
            .checked_add(after)
            .and_then(|bytes| bytes.checked_add(self.records.checked_mul(RECORD_LEN as u64)?))
            .and_then(|bytes| bytes.checked_add((HEAD_LEN + WORD) as u64));
        most.is_some_and(|most| self.journal_len <= most)
    }
}

/// A byte range of the file that a change leaves unchanged.
type Gap = (u64, u64);

impl Image {
    /// Returns the state of a file before a staged change of the data at `start`. `len` is the size
    /// of the data in bytes before and after the change.
    ///
    /// # Errors
    /// Those of reading; [`Error::MemoryAlloc`].
    pub fn of_staged(staged: &Staged, start: u64, len: (u64, u64)) -> Result<Image> {
        let file = &*staged.base;
        let old_size = file.size()?;
        let new_size = staged.size()?;
        let mut records = Vec::new();
        for (&position, after) in &staged.state().written {
            let len = old_size.saturating_sub(position).min(after.len() as u64);
            records.push(Record {
                position,
                before: read_exact(file, position, len)?,
                after: Some(after.clone()),
            });
        }
        if new_size < old_size {
            records.push(Record {
                position: new_size,
                before: read_exact(file, new_size, old_size - new_size)?,
                after: Some(Vec::new()),
            });
        }
        Image::new(file, start, len, (old_size, new_size), records)
    }

    /// Returns the state of `file` before a change of these records, which are ordered by position.
    ///
    /// # Errors
    /// Those of reading.
    pub fn new(
        file: &dyn Stream,
        start: u64,
        len: (u64, u64),
        size: (u64, u64),
        records: Vec<Record>,
    ) -> Result<Image> {
        let attributes = file.attributes();
        let mut image = Image {
            inode: attributes.map_or(0, |found| found.identity.inode),
            born: attributes.map_or(0, |found| found.born),
            start,
            len,
            size,
            beside: 0,
            records,
        };
        image.beside = image.sum_beside(file)?;
        Ok(image)
    }

    /// Serializes the journal.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn encode(&self) -> Result<Vec<u8>> {
        let after_len = |record: &Record| record.after.as_ref().map_or(0, Vec::len);
        let len = self.records.iter().fold(HEAD_LEN + WORD, |len, record| {
            len + RECORD_LEN + record.before.len() + after_len(record)
        });
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        let push = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
        bytes.extend(MAGIC);
        for number in [
            self.inode,
            self.born,
            self.start,
            self.len.0,
            self.len.1,
            self.size.0,
            self.size.1,
            len as u64,
            self.records.len() as u64,
            self.beside,
        ] {
            push(&mut bytes, number);
        }
        let sum = xxh3_64(&bytes);
        push(&mut bytes, sum);
        for record in &self.records {
            let start = bytes.len();
            push(&mut bytes, record.position);
            push(&mut bytes, record.before.len() as u64);
            let after = record.after.as_ref();
            push(
                &mut bytes,
                after.map_or(UNKNOWN, |after| after.len() as u64),
            );
            bytes.extend(&record.before);
            bytes.extend(after.into_iter().flatten());
            let sum = xxh3_64(&bytes[start..]);
            push(&mut bytes, sum);
        }
        let sum = xxh3_64(&bytes);
        push(&mut bytes, sum);
        Ok(bytes)
    }

    /// Parses the bytes of a journal; `None` if they are not a complete one.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn decode(bytes: &[u8]) -> Result<Option<Image>> {
        let Some(head) = bytes.first_chunk().and_then(Head::parse) else {
            return Ok(None);
        };
        let content_len = bytes.len().saturating_sub(WORD);
        let is_whole = head.journal_len == bytes.len() as u64
            && word(bytes, content_len) == Some(xxh3_64(&bytes[..content_len]));
        if !is_whole {
            return Ok(None);
        }
        let mut image = head.image;
        let mut rest = &bytes[HEAD_LEN..content_len];
        for _ in 0..head.records {
            let Some((record, next)) = decode_record(rest)? else {
                return Ok(None);
            };
            image.records.try_reserve(1)?;
            image.records.push(record);
            rest = next;
        }
        Ok(Some(image).filter(|image| rest.is_empty() && image.is_consistent()))
    }

    /// Whether the records are in order and within the file, and cover everything that the change
    /// may destroy.
    fn is_consistent(&self) -> bool {
        let (before, after) = self.size;
        let most = if after == UNKNOWN {
            before
        } else {
            before.max(after)
        };
        let mut end = 0;
        for record in &self.records {
            let len = record.after.as_ref().map_or(0, Vec::len);
            let len = len.max(record.before.len()) as u64;
            let Some(record_end) = record.position.checked_add(len) else {
                return false;
            };
            let lacks_after = record.after.is_none() && after != UNKNOWN;
            let is_cut = record.after.is_some()
                && record.before_end() < record_end.min(before)
                && record.position < before;
            if record.position < end || record_end > most || lacks_after || is_cut {
                return false;
            }
            end = record_end;
        }
        let in_file = self.start.checked_add(self.len.0);
        // Truncation only loses recorded bytes.
        let mut kept = after.min(before);
        for record in &self.records {
            if record.position <= kept && kept < record.before_end() {
                kept = record.before_end();
            }
        }
        in_file.is_some_and(|end| end <= before) && kept >= before
    }

    /// Whether the data begin with a mark, before the change and after it.
    pub fn has_mark(&self, mark: &[u8]) -> bool {
        let begins = |record: &&Record| record.position == self.start;
        let Some(record) = self.records.iter().find(begins) else {
            return false;
        };
        let after = record.after.as_ref();
        record.before.starts_with(mark) && after.is_none_or(|after| after.starts_with(mark))
    }

    /// Returns the first bytes of the data before the change.
    pub fn front(&self) -> &[u8] {
        let begins = |record: &&Record| record.position == self.start;
        let record = self.records.iter().find(begins);
        record.map_or(&[], |record| &record.before)
    }

    /// Whether the journal was made for a file with these attributes.
    fn is_of(&self, file: &Attributes) -> bool {
        let is_same_birth = self.born == 0 || file.born == 0 || self.born == file.born;
        file.identity.inode == self.inode && is_same_birth
    }

    /// Returns the relation of the file to the change.
    ///
    /// # Errors
    /// Those of reading.
    pub fn relation(&self, file: &dyn Stream) -> Result<Relation> {
        let size = file.size()?;
        let (before, after) = self.size;
        if size < self.least_size() || self.sum_beside(file)? != self.beside {
            return Ok(Relation::Unrelated);
        }
        // Bytes that another program has appended do not belong to the change.
        let is_longer = after != UNKNOWN && size > before.max(after);
        let mut is_before = is_longer || size == before;
        let mut is_after = is_longer || size == after;
        let mut bytes = vec![0; STEP];
        for record in &self.records {
            let end = record.end();
            let mut at = record.position;
            while at < end {
                let step = (end - at).min(STEP as u64) as usize;
                let read = file.read_at(at, &mut bytes[..step])?;
                let from = (at - record.position) as usize;
                for (index, &byte) in bytes[..read].iter().enumerate() {
                    let old = record.before.get(from + index).copied();
                    let new = match &record.after {
                        Some(after) => after.get(from + index).copied(),
                        // Unknown new bytes match any byte.
                        None => Some(byte),
                    };
                    let is_hole = byte == 0 && (old.is_none() || new.is_none());
                    if old != Some(byte) && new != Some(byte) && !is_hole {
                        return Ok(Relation::Unrelated);
                    }
                    is_before &= old.is_none_or(|old| old == byte);
                    is_after &= record.after.is_some() && new.is_none_or(|new| new == byte);
                }
                if read < step {
                    break;
                }
                at += step as u64;
            }
        }
        Ok(if is_before {
            Relation::Before
        } else if is_after {
            Relation::After
        } else {
            Relation::Underway
        })
    }

    /// Returns the minimum size of the file during the change, in bytes.
    fn least_size(&self) -> u64 {
        let (before, after) = self.size;
        match self.records.last() {
            Some(last) if after == UNKNOWN && last.before_end() == before => last.position,
            _ => before.min(after),
        }
    }

    /// Returns the ranges of the data that no record covers.
    fn gaps(&self) -> Vec<Gap> {
        let (before, after) = self.size;
        let end = (self.start.saturating_add(self.len.0)).min(before.min(after));
        let mut gaps = Vec::new();
        let mut from = self.start;
        for record in &self.records {
            if record.position > from && from < end {
                gaps.push((from, record.position.min(end)));
            }
            from = from.max(record.end());
        }
        if from < end {
            gaps.push((from, end));
        }
        gaps
    }

    /// Returns the checksum of both ends of each gap.
    fn sum_beside(&self, file: &dyn Stream) -> Result<u64> {
        let mut sum = Xxh3::new();
        let mut bytes = [0; EDGE as usize];
        for (from, end) in self.gaps() {
            let len = EDGE.min(end - from);
            for at in [from, end - len] {
                let read = file.read_at(at, &mut bytes[..len as usize])?;
                sum.update(&bytes[..read]);
            }
        }
        Ok(sum.digest())
    }

    /// Returns the size of the restored file in bytes, if its current size is `size`.
    fn restored_size(&self, size: u64) -> u64 {
        let (before, after) = self.size;
        // Bytes that another program has appended stay.
        if after != UNKNOWN && size > before.max(after) {
            size
        } else {
            before
        }
    }

    /// Restores the file and syncs it.
    ///
    /// # Errors
    /// Those of writing.
    pub fn put_back(&self, file: &dyn Stream) -> Result<()> {
        self.restore(file)?;
        file.sync()
    }

    /// Restores the file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn restore(&self, file: &dyn Stream) -> Result<()> {
        let size = self.restored_size(file.size()?);
        for record in &self.records {
            file.write_at(record.position, &record.before, WriteGranularity::Bytes)?;
        }
        if file.size()? != size {
            file.truncate(size)?;
        }
        Ok(())
    }
}

fn decode_record(bytes: &[u8]) -> Result<Option<(Record, &[u8])>> {
    let numbers = (word(bytes, 0), word(bytes, WORD), word(bytes, 2 * WORD));
    let (Some(position), Some(before), Some(after)) = numbers else {
        return Ok(None);
    };
    let data = 3 * WORD;
    let copy = |from: usize, len: u64| -> Result<Option<Vec<u8>>> {
        let end = usize::try_from(len)
            .ok()
            .and_then(|len| from.checked_add(len));
        let Some(found) = end.and_then(|end| bytes.get(from..end)) else {
            return Ok(None);
        };
        let mut copy = Vec::new();
        copy.try_reserve_exact(found.len())?;
        copy.extend_from_slice(found);
        Ok(Some(copy))
    };
    let Some(before) = copy(data, before)? else {
        return Ok(None);
    };
    let mut end = data + before.len();
    let after = if after == UNKNOWN {
        None
    } else {
        let Some(after) = copy(end, after)? else {
            return Ok(None);
        };
        end += after.len();
        Some(after)
    };
    if word(bytes, end) != Some(xxh3_64(&bytes[..end])) {
        return Ok(None);
    }
    let record = Record {
        position,
        before,
        after,
    };
    Ok(Some((record, &bytes[end + WORD..])))
}

/// Reads bytes of a file, all of which must exist.
fn read_exact(file: &dyn Stream, position: u64, len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    if file.read_at(position, &mut bytes)? != len {
        return Err(Error::FileRead);
    }
    Ok(bytes)
}

/// A read-only view of a file before an interrupted change: the old bytes of the journal over the
/// file.
pub struct Restored {
    file: Arc<dyn Stream>,
    image: Arc<Image>,
}

impl Restored {
    /// Returns the state of `file` before the change.
    pub fn new(file: Arc<dyn Stream>, image: Arc<Image>) -> Restored {
        Restored { file, image }
    }
}

impl Stream for Restored {
    fn size(&self) -> Result<u64> {
        Ok(self.image.restored_size(self.file.size()?))
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let there = self.size()?.saturating_sub(position).min(dest.len() as u64) as usize;
        let dest = &mut dest[..there];
        // Bytes past the end of the file are in the records.
        let read = self.file.read_at(position, dest)?;
        dest[read..].fill(0);
        let end = position + there as u64;
        for record in &self.image.records {
            let from = record.position.max(position);
            let to = record.before_end().min(end);
            if from < to {
                let source = (from - record.position) as usize..(to - record.position) as usize;
                let target = (from - position) as usize..(to - position) as usize;
                dest[target].copy_from_slice(&record.before[source]);
            }
        }
        Ok(there)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        let end = position.checked_add(len as u64)?;
        let is_changed = |record: &Record| record.position < end && position < record.end();
        let is_there = self.size().is_ok_and(|size| end <= size);
        if !is_there || self.image.records.iter().any(is_changed) {
            return None;
        }
        self.file.view(position, len)
    }

    fn write_at(&self, _: u64, _: &[u8], _: WriteGranularity) -> Result<()> {
        Err(Error::FileWrite)
    }

    fn truncate(&self, _: u64) -> Result<()> {
        Err(Error::FileTruncate)
    }

    fn identity(&self) -> Option<super::Identity> {
        self.file.identity()
    }

    fn attributes(&self) -> Option<Attributes> {
        self.file.attributes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// A change of a file that is kept in memory until it is complete; clones share the same change.
#[derive(Clone)]
pub struct Staged {
    base: Arc<dyn Stream>,
    state: Arc<Mutex<StagedState>>,
}

struct StagedState {
    /// Written bytes by position, without overlaps.
    written: BTreeMap<u64, Vec<u8>>,
    size: u64,
}

impl Staged {
    /// Begins an empty change of `file`.
    ///
    /// # Errors
    /// [`Error::FileRead`] when the size of the file is unknown.
    pub fn new(file: Arc<dyn Stream>) -> Result<Staged> {
        let size = file.size()?;
        Ok(Staged {
            base: file,
            state: Arc::new(Mutex::new(StagedState {
                written: BTreeMap::new(),
                size,
            })),
        })
    }

    /// Returns the file that is changed.
    pub fn file(&self) -> &dyn Stream {
        &*self.base
    }

    /// Writes the change, the bytes at `last` after all others, and syncs it.
    ///
    /// # Errors
    /// Those of writing.
    pub fn apply(&self, last: u64) -> Result<()> {
        let state = self.state();
        let (end, rest): (Vec<_>, Vec<_>) = state.written.iter().partition(|&(&at, _)| at == last);
        for (&position, bytes) in rest.into_iter().chain(end) {
            self.base
                .write_at(position, bytes, WriteGranularity::Bytes)?;
        }
        if self.base.size()? != state.size {
            self.base.truncate(state.size)?;
        }
        self.base.sync()
    }

    fn state(&self) -> MutexGuard<'_, StagedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StagedState {
    /// Returns the first written range that ends after a position.
    fn first_after(&self, position: u64) -> Option<u64> {
        let before = self.written.range(..=position).next_back();
        let covers = before.filter(|(at, bytes)| *at + bytes.len() as u64 > position);
        let next = covers.or_else(|| self.written.range(position..).next());
        next.map(|(&at, _)| at)
    }

    fn write(&mut self, mut position: u64, mut bytes: &[u8]) -> Result<()> {
        self.size = self.size.max(position + bytes.len() as u64);
        while !bytes.is_empty() {
            let at = self.first_after(position).unwrap_or(u64::MAX);
            let len = if at <= position {
                let written = self.written.get_mut(&at).ok_or(Error::Failure)?;
                let target = &mut written[(position - at) as usize..];
                let len = target.len().min(bytes.len());
                target[..len].copy_from_slice(&bytes[..len]);
                len
            } else {
                let len = (at - position).min(bytes.len() as u64) as usize;
                let mut new = Vec::new();
                new.try_reserve_exact(len)?;
                new.extend_from_slice(&bytes[..len]);
                self.written.insert(position, new);
                len
            };
            position += len as u64;
            bytes = &bytes[len..];
        }
        Ok(())
    }

    fn truncate(&mut self, len: u64) {
        self.written.retain(|&at, bytes| {
            let kept = len.saturating_sub(at).min(bytes.len() as u64);
            bytes.truncate(kept as usize);
            kept > 0
        });
        self.size = len;
    }
}

impl Stream for Staged {
    fn size(&self) -> Result<u64> {
        Ok(self.state().size)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let state = self.state();
        let there = state.size.saturating_sub(position).min(dest.len() as u64) as usize;
        let dest = &mut dest[..there];
        let read = self.base.read_at(position, dest)?;
        dest[read..].fill(0);
        let end = position + there as u64;
        let first = state.first_after(position).unwrap_or(end);
        for (&at, bytes) in state.written.range(first..) {
            if at >= end {
                break;
            }
            let (from, to) = (at.max(position), (at + bytes.len() as u64).min(end));
            let source = (from - at) as usize..(to - at) as usize;
            dest[(from - position) as usize..(to - position) as usize]
                .copy_from_slice(&bytes[source]);
        }
        Ok(there)
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        position
            .checked_add(bytes.len() as u64)
            .ok_or(Error::FileWrite)?;
        self.state().write(position, bytes)
    }

    /// Truncates the file; a staged file never becomes longer than its bytes.
    fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.state();
        if len > state.size {
            return Err(Error::FileTruncate);
        }
        state.truncate(len);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn identity(&self) -> Option<super::Identity> {
        self.base.identity()
    }

    fn attributes(&self) -> Option<Attributes> {
        self.base.attributes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::{TempDir, contents};
    use crate::io::{Backend, FileSystem, Mode};

    fn file_of(dir: &TempDir, bytes: &[u8]) -> Arc<dyn Stream> {
        std::fs::write(dir.join("f"), bytes).unwrap();
        let opened = FileSystem.open(&dir.join("f"), Mode::Update);
        Arc::from(opened.unwrap())
    }

    #[test]
    fn a_staged_change_is_visible_and_written_when_applied() {
        let dir = TempDir::new("staged");
        let file = file_of(&dir, b"0123456789");
        let staged = Staged::new(Arc::clone(&file)).unwrap();
        staged.write_at(2, b"abc", WriteGranularity::Whole).unwrap();
        staged.write_at(0, b"xyz", WriteGranularity::Whole).unwrap();
        staged.write_at(4, b"CDE", WriteGranularity::Whole).unwrap();
        staged.write_at(9, b"!!!", WriteGranularity::Whole).unwrap();
        assert_eq!(contents(&staged), b"xyzbCDE78!!!");
        staged.truncate(10).unwrap();
        assert_eq!(staged.truncate(11), Err(Error::FileTruncate));
        assert_eq!(contents(&staged), b"xyzbCDE78!");
        assert_eq!(contents(&*file), b"0123456789");
        staged.apply(0).unwrap();
        assert_eq!(contents(&*file), b"xyzbCDE78!");
    }

    #[test]
    fn every_intermediate_state_is_recognised_shown_and_restored() {
        let before = b"0123456789";
        for (after, cut) in [(&b"01AB4567CDEF"[..], 12), (b"01AB45", 6)] {
            let dir = TempDir::new("states");
            let file = file_of(&dir, before);
            let staged = Staged::new(Arc::clone(&file)).unwrap();
            staged.write_at(2, b"AB", WriteGranularity::Whole).unwrap();
            if cut > 10 {
                staged
                    .write_at(8, b"CDEF", WriteGranularity::Whole)
                    .unwrap();
            } else {
                staged.truncate(cut).unwrap();
            }
            let image = Image::of_staged(&staged, 0, (10, 10)).unwrap();
            let bytes = image.encode().unwrap();
            assert_eq!(Image::decode(&bytes).unwrap().as_ref(), Some(&image));
            assert_eq!(image.relation(&*file), Ok(Relation::Before));
            for size in [10.min(cut), 10, 10.max(cut)] {
                let mut half = after.to_vec();
                half.resize(size.max(10) as usize, 0);
                half[2] = b'2';
                half[6..10].copy_from_slice(&before[6..]);
                half.truncate(size as usize);
                file.truncate(0).unwrap();
                file.write_at(0, &half, WriteGranularity::Whole).unwrap();
                assert_eq!(image.relation(&*file), Ok(Relation::Underway), "{half:?}");
                let shown = Restored::new(Arc::clone(&file), Arc::new(image.clone()));
                assert_eq!(contents(&shown), before);
                image.put_back(&*file).unwrap();
                assert_eq!(contents(&*file), before);
            }
            staged.apply(0).unwrap();
            assert_eq!(contents(&*file), after);
            assert_eq!(image.relation(&*file), Ok(Relation::After));
            for other in [&b"01xB456789"[..], b"x123456789", b"01234"] {
                file.truncate(0).unwrap();
                file.write_at(0, other, WriteGranularity::Whole).unwrap();
                assert_eq!(image.relation(&*file), Ok(Relation::Unrelated), "{other:?}");
            }
        }
    }

    #[test]
    fn bytes_appended_by_another_program_stay() {
        let dir = TempDir::new("appended");
        let file = file_of(&dir, b"0123456789");
        let staged = Staged::new(Arc::clone(&file)).unwrap();
        staged.write_at(2, b"ABC", WriteGranularity::Whole).unwrap();
        let image = Image::of_staged(&staged, 0, (10, 10)).unwrap();
        file.write_at(2, b"A", WriteGranularity::Whole).unwrap();
        file.write_at(10, b"more", WriteGranularity::Whole).unwrap();
        assert_eq!(image.relation(&*file), Ok(Relation::Underway));
        image.put_back(&*file).unwrap();
        assert_eq!(contents(&*file), b"0123456789more");
    }

    #[test]
    fn a_truncated_or_altered_journal_is_not_used() {
        let dir = TempDir::new("cut");
        let file = file_of(&dir, b"0123456789");
        let staged = Staged::new(file).unwrap();
        staged.write_at(2, b"AB", WriteGranularity::Whole).unwrap();
        staged
            .write_at(7, b"CDEF", WriteGranularity::Whole)
            .unwrap();
        let bytes = Image::of_staged(&staged, 0, (10, 10))
            .unwrap()
            .encode()
            .unwrap();
        for len in 0..bytes.len() {
            assert_eq!(Image::decode(&bytes[..len]), Ok(None), "cut to {len}");
        }
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x10;
            assert_eq!(Image::decode(&altered), Ok(None), "altered at {at}");
        }
    }

    #[test]
    fn inconsistent_sizes_are_rejected() {
        let dir = TempDir::new("bounds");
        let file = file_of(&dir, b"0123456789");
        let record = |position: u64, before: &[u8], after: &[u8]| Record {
            position,
            before: before.to_vec(),
            after: Some(after.to_vec()),
        };
        for (size, records) in [
            // A file that would grow by bytes that are not recorded.
            ((5 << 40, 10), vec![record(0, b"01", b"AB")]),
            ((10, 10), vec![record(9, b"9", b"AB")]),
            ((10, 10), vec![record(2, b"2", b"AB")]),
            ((10, 10), vec![record(4, b"4", b"A"), record(4, b"4", b"A")]),
            ((10, 10), vec![record(u64::MAX, b"4", b"A")]),
        ] {
            let image = Image {
                inode: 0,
                born: 0,
                start: 0,
                len: (10, 10),
                size,
                beside: 0,
                records,
            };
            let bytes = image.encode().unwrap();
            assert_eq!(Image::decode(&bytes), Ok(None), "{image:?}");
        }
        drop(file);
    }
}
