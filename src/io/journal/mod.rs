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
//!   next to them must be unchanged ([`Image::relation`]).
//!
//! A file that was removed and created again, restored from a backup, replaced by a rename, or
//! rewritten by another program is therefore left unchanged.
//!
//! | file | content |
//! |---|---|
//! | `format.rs` | the bytes of a journal |
//! | `reason.rs` | the reasons for not using a journal |
//! | `state.rs` | the state of a file relative to a change, and its restoration |
//! | `overlay.rs` | views of a file before a change and during one |

mod format;
mod overlay;
mod reason;
mod state;
#[cfg(test)]
mod tests;

pub use format::{Image, Record, UNKNOWN};
pub use overlay::{Restored, Staged};
pub use reason::Reason;
pub use state::Relation;

use super::backend::{Attributes, FileKind, FileOps, Stream};
use super::beside;
use crate::os::process;
use crate::{Error, Result, trace_warning};
use format::{front, is_journal, read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Permission bits for writing by group and others.
const OTHERS_WRITE: u32 = 0o022;

/// Number of attempts to claim a new journal, which readers lock for a moment.
const ATTEMPTS: usize = 100;
/// Pause between attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// Suffix of a frame's journal.
pub const FRAME_SUFFIX: &str = ".b2journal";
/// Suffix of a Bloscpack container's journal.
pub const CONTAINER_SUFFIX: &str = ".journal";

/// A function that returns whether the recorded state is that of a file of the journal's format.
pub type Check = fn(&Image) -> bool;

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

/// Returns the path of a journal: the path of the file, with symbolic links resolved, and a suffix.
pub fn path_of(ops: &dyn FileOps, path: &Path, suffix: &str) -> PathBuf {
    let is_link = ops.attributes(path).is_some_and(|found| found.kind == FileKind::Link);
    if is_link {
        beside::with_suffix(&ops.resolve(path), suffix, 0)
    } else {
        beside::with_suffix(path, suffix, 0)
    }
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
    // The path may refer to another file by now.
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
    let file_mode = file.map_or(0, |file| {
        let same_group = file.group == found.group;
        file.mode & if same_group { 0o022 } else { 0o002 }
    });
    let is_owned =
        found.owner == process::user() || file.is_some_and(|file| file.owner == found.owner);
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
/// Returns the errors of reading the file; [`Error::MemoryAlloc`]; [`Error::FileOpen`] when a
/// trusted journal cannot be read, since the file may be in the middle of a change.
pub fn inspect(
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

/// Like [`inspect`], for a journal that is already open.
///
/// # Errors
/// Returns the errors of reading either file; [`Error::MemoryAlloc`].
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

/// Rolls back the interrupted change of a file, if there is a journal of one, and removes the
/// journal. `file` is open for writing.
///
/// A journal that is not trusted, and one whose format does not identify its file, are kept.
///
/// # Errors
/// Returns the errors of both files. The journal then still exists.
pub fn recover(
    ops: &dyn FileOps,
    path: &Path,
    file: (&dyn Stream, Option<&Attributes>),
    check: Check,
) -> Result<Settled> {
    let opened = match open(ops, path, file.1, true) {
        Ok(opened) => opened,
        Err(None) => return Ok(Settled::Done),
        Err(Some(Reason::Unreadable)) => return Err(Error::FileOpen),
        Err(Some(reason)) => return Ok(Settled::Ignored(reason)),
    };
    if !opened.stream.claim()? {
        return Ok(Settled::Active);
    }
    if ops.identify(path) != opened.stream.identity() {
        // Another process claimed the journal first.
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
            return Ok(Settled::Ignored(reason));
        }
        Found::Stale(reason) => {
            trace_warning!("the journal {} is removed: {reason}", path.display());
        }
        Found::Absent | Found::Active => {}
    }
    empty(&*opened.stream)?;
    if let Err(error) = ops.remove(path) {
        // The journal is empty, so it is harmless.
        trace_warning!("the journal {} cannot be removed: {error}", path.display());
    }
    Ok(Settled::Done)
}

/// The state of a journal after [`recover`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// There is no journal left.
    Done,
    /// A writer is using it.
    Active,
    /// It is left in place, because it is never used as a journal.
    Ignored(Reason),
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
        trace_warning!("the file {} is kept: it is not a journal, or is in use", journal.display());
    } else if let Err(error) = ops.remove(&journal) {
        trace_warning!("the journal {} cannot be removed: {error}", journal.display());
    }
}

/// Like [`discard`], for the journals of all formats beside a path of the file system where a new
/// file was created.
pub fn discard_all(path: &Path) {
    let file = crate::io::FileSystem.attributes(path);
    for suffix in [FRAME_SUFFIX, CONTAINER_SUFFIX] {
        discard(&crate::io::FileSystem, path, suffix, file.as_ref());
    }
}

/// Empties a journal, which ends its change.
///
/// # Errors
/// Returns the errors of the backend.
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
    // A reader that looks for a journal sees the new file, and checks whether it is claimed.
    let claimed = claim_new(&*stream);
    if claimed == Ok(false) || ops.identify(path) != stream.identity() {
        // Another process removes the file as a leftover.
        return Err(Error::Lock);
    }
    match claimed.and_then(|_| ops.copy_permissions(file, path)) {
        Ok(()) => Ok(stream),
        Err(error) => {
            // An empty file is not used as a journal, but the next change would have to remove it.
            let _ = ops.remove(path);
            Err(error)
        }
    }
}

/// Claims a journal that no other process has a reason to claim for long.
fn claim_new(journal: &dyn Stream) -> Result<bool> {
    for _ in 1..ATTEMPTS {
        if journal.claim()? {
            return Ok(true);
        }
        process::sleep(PAUSE);
    }
    journal.claim()
}
