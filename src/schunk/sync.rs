//! Following other writers, and whole super-chunks as bytes.

use super::describe::follow;
use super::state::{Layers, State};
use super::{copy, rust};
use crate::frame::{Frame, Loaded, Metalayer};
use crate::{Buffer, Error, ErrorKind, Result};

/// Takes up what another handle or process has changed in the file; returns whether there was something. A
/// file that is being written to right now is left for later, unless there are locks.
///
/// # Errors
/// [`Error::Lock`]; with locks those of reading too.
pub fn refresh<S: State + ?Sized>(s: &S) -> Result<bool> {
    let held = s.frame().map(Frame::lock_shared).transpose()?.flatten();
    match follow(s) {
        Ok(is_new) => Ok(is_new),
        Err(error) if held.is_some() => Err(error),
        Err(_) => Ok(false),
    }
}

/// As [`refresh`], and compares the index and the metalayers too, which can change without a trace in the header.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_all<S: State + ?Sized>(s: &S) -> Result<bool> {
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    if let Some(frame) = s.frame() {
        // What can't be read now is read by the next call.
        let _ = frame.compare_all(|loaded| has_metalayers(s, loaded));
    }
    refresh(s)
}

/// Whether a super-chunk has the metalayers that its file has.
fn has_metalayers<S: State + ?Sized>(s: &S, loaded: &Loaded) -> bool {
    let has = |kind, wanted: &[Metalayer]| {
        let mut is_same = false;
        s.with_layers(kind, &mut |layers| {
            let wanted = wanted.iter().map(|layer| (&*layer.name, &*layer.content));
            is_same = layers.iter().copied().eq(wanted);
        });
        is_same
    };
    has(Layers::Fixed, &loaded.metalayers) && has(Layers::Variable, &loaded.vlmetalayers)
}

/// The super-chunk as the bytes of a contiguous frame of its own.
///
/// # Errors
/// [`Error::SchunkCopy`] when that can't be made.
pub fn serialise<S: State + ?Sized>(s: &S) -> Result<Buffer> {
    let result = (|| {
        let mut target = rust::target_of_copy(s)?;
        copy::copy(s, &mut target, true)?;
        let mut frame = target.into_frame().ok_or(Error::Failure)?;
        let memory = frame.memory()?.ok_or(Error::Failure)?;
        Ok(std::mem::take(memory.to_mut()?))
    })();
    result.map_err(|error: Error| error.recast(ErrorKind::SchunkCopy))
}
