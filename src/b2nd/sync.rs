//! Synchronisation with other writers of the same file.

use super::create::metalayer;
use super::meta;
use super::state::State;
use crate::frame::Frame;
use crate::io::lock::{Kind as LockKind, LockGuard};
use crate::{Error, ErrorKind, Result, schunk};

/// Loads a shape set by another handle or process. Returns whether the super-chunk or its
/// metalayers have changed since the last call, even if the shape is the same.
///
/// # Errors
/// [`Error::Data`] if more than the shape changed; the errors of the metalayer and of the file.
pub fn refresh<A: State + ?Sized>(a: &A) -> Result<bool> {
    let Some(frame) = a.chunks().frame() else {
        return Ok(false);
    };
    // A view keeps its shape.
    if a.is_view() {
        return Ok(false);
    }
    let _held = frame.lock_shared()?;
    if !is_current(a, frame) {
        schunk::refresh(a.chunks())?;
    }
    let version = a.version();
    if version == a.seen_version() {
        return Ok(false);
    }
    let (_, bytes) = match metalayer(a.chunks()) {
        Err(error) if error.kind() == ErrorKind::MetalayerNotFound => return Ok(false),
        found => found?,
    };
    let before = a.geometry()?;
    let now = meta::parse(&bytes)?.0;
    if now.chunkshape != before.chunkshape() || now.blockshape != before.blockshape() {
        return Err(Error::Data);
    }
    a.set_geometry(&now.geometry()?, version);
    Ok(true)
}

/// Like [`refresh`], with the additional comparisons of [`schunk::refresh_all`].
///
/// # Errors
/// Returns the same errors as [`refresh`].
pub fn refresh_all<A: State + ?Sized>(a: &A) -> Result<bool> {
    if !a.is_view() {
        schunk::refresh_all(a.chunks())?;
    }
    refresh(a)
}

/// Like [`refresh`], with a lock that is held until the result is dropped, so that the shape and
/// the chunks are consistent during a call.
///
/// # Errors
/// Returns the same errors as [`refresh`].
pub fn refresh_locked<A: State + ?Sized>(a: &A, kind: LockKind) -> Result<Option<LockGuard>> {
    let held = match (a.chunks().frame(), kind) {
        (None, _) => None,
        (Some(frame), LockKind::Shared) => frame.lock_shared()?,
        (Some(frame), LockKind::Exclusive) => frame.lock_exclusive()?,
        (Some(frame), LockKind::Call) => frame.lock_call()?,
    };
    refresh(a)?;
    Ok(held)
}

/// Whether the sizes and the shape in a frame's file equal the cached ones. A new shape with the
/// same number of chunks does not change the file's length, so a difference makes the next refresh
/// read the whole frame.
fn is_current<A: State + ?Sized>(a: &A, frame: &Frame) -> bool {
    metalayer(a.chunks()).is_ok_and(|(name, bytes)| {
        // A read error here recurs in the following refresh, which reports it.
        frame.compare_metalayer(name.as_bytes(), &bytes).unwrap_or(false)
    })
}
