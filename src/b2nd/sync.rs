//! Following other writers of the same file.

use super::create::metalayer;
use super::meta;
use super::state::State;
use crate::frame::Frame;
use crate::io::lock::{Held, Kind as LockKind};
use crate::{Error, Result, schunk};

/// Takes up the shape that another handle or process has given the array; returns whether there was
/// something.
///
/// # Errors
/// [`Error::Data`] when more than the shape has changed; those of the metalayer and of the file.
pub fn refresh<A: State + ?Sized>(a: &A) -> Result<bool> {
    let Some(frame) = a.chunks().frame() else {
        return Ok(false);
    };
    // A view goes on showing what it showed.
    if a.is_view() {
        return Ok(false);
    }
    let _held = frame.lock_shared()?;
    notice_other_shape(a, frame);
    schunk::refresh(a.chunks())?;
    let ticks = a.ticks();
    if ticks == a.seen() {
        return Ok(false);
    }
    let Some((_, bytes)) = metalayer(a.chunks()) else {
        return Ok(false);
    };
    let before = a.geometry()?;
    let now = meta::parse(&bytes)?.0;
    if now.chunkshape != before.chunkshape() || now.blockshape != before.blockshape() {
        return Err(Error::Data);
    }
    a.take_up(&now.geometry()?, ticks);
    Ok(true)
}

/// As [`refresh`], and compares the index and all metalayers, as [`schunk::refresh_all`] does.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_all<A: State + ?Sized>(a: &A) -> Result<bool> {
    if !a.is_view() {
        schunk::refresh_all(a.chunks())?;
    }
    refresh(a)
}

/// As [`refresh`], under a lock that is held until the result is dropped: the shape and the chunks that a call
/// reads, or changes, belong together.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_locked<A: State + ?Sized>(a: &A, kind: LockKind) -> Result<Option<Held>> {
    let held = match (a.chunks().frame(), kind) {
        (None, _) => None,
        (Some(frame), LockKind::Shared) => frame.lock_shared()?,
        (Some(frame), LockKind::Exclusive) => frame.lock_exclusive()?,
    };
    refresh(a)?;
    Ok(held)
}

/// Makes the frame read all anew when its file has another shape, which leaves the length of the file as it
/// is when no chunk comes or goes.
fn notice_other_shape<A: State + ?Sized>(a: &A, frame: &Frame) {
    if let Some((name, bytes)) = metalayer(a.chunks()) {
        // What can't be read now is read by whoever comes next.
        let _ = frame.compare_metalayer(name.as_bytes(), &bytes);
    }
}
