//! Following other writers of the same file.

use super::create::metalayer;
use super::meta;
use super::state::State;
use crate::frame::Frame;
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
    if !is_current(a, frame) {
        schunk::refresh(a.chunks())?;
    }
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

/// Whether the file of a frame has the sizes and the shape that are known. Another shape, which leaves the length of
/// the file as it is when the number of chunks is the same, makes the next refresh read the whole frame again.
fn is_current<A: State + ?Sized>(a: &A, frame: &Frame) -> bool {
    metalayer(a.chunks()).is_some_and(|(name, bytes)| {
        // The refresh that follows reads what can't be read now.
        frame
            .compare_metalayer(name.as_bytes(), &bytes)
            .unwrap_or(false)
    })
}
