//! Synchronisation with other writers, and serialisation.

use super::copy;
use super::describe::refresh_from_file;
use super::schunk_state::SChunkState;
use super::state::{Layers, State};
use crate::frame::{Frame, Loaded, Metalayer};
use crate::{Buffer, Error, ErrorKind, Result};

/// Loads changes made to the file by other handles or processes; returns whether there were any.
/// Without locks, a file that is being written is left for a later call.
///
/// # Errors
/// [`Error::Lock`]; with locks also those of reading.
pub fn refresh<S: State + ?Sized>(s: &S) -> Result<bool> {
    let held = s.frame().map(Frame::lock_shared).transpose()?.flatten();
    match refresh_from_file(s) {
        Ok(is_new) => Ok(is_new),
        Err(error) if held.is_some() => Err(error),
        Err(_) => Ok(false),
    }
}

/// Like [`refresh`], but also compares the index and the metalayers, which can change without a
/// change of the header.
///
/// # Errors
/// Returns the same errors as [`refresh`].
pub fn refresh_all<S: State + ?Sized>(s: &S) -> Result<bool> {
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    if let Some(frame) = s.frame() {
        // A read error here recurs in the next call, which reports it.
        let _ = frame.compare_all(|loaded| has_metalayers(s, loaded));
    }
    refresh(s)
}

/// Whether the metalayers of a super-chunk equal those that were read from its file.
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

/// Returns the super-chunk as a contiguous frame.
///
/// # Errors
/// [`Error::SchunkCopy`] if the frame cannot be built.
pub fn serialize<S: State + ?Sized>(s: &S) -> Result<Buffer> {
    let result = (|| {
        let mut target = SChunkState::for_copy_of(s)?;
        copy::copy(s, &mut target, true)?;
        let mut frame = target.into_frame().ok_or(Error::Failure)?;
        let memory = frame.memory()?.ok_or(Error::Failure)?;
        Ok(std::mem::take(memory.to_mut()?))
    })();
    result.map_err(|error: Error| error.recast(ErrorKind::SchunkCopy))
}
