//! Between a super-chunk and its frame: what the frame says of it, and what the file says anew.

use super::state::{Layers, State};
use crate::frame::{Counters, Description, Metalayer, trailer};
use crate::{Error, Result};
use std::sync::Arc;

/// Brings a super-chunk up to date with its file, if it has one; returns whether anything was new.
///
/// # Errors
/// Those of [`crate::frame::Frame::refresh`].
pub(super) fn follow<S: State + ?Sized>(s: &S) -> Result<bool> {
    let Some(frame) = s.frame() else {
        return Ok(false);
    };
    frame.refresh(|loaded| s.take_up(loaded))
}

/// All that a frame says of a super-chunk, with these sizes.
///
/// # Errors
/// [`Error::InvalidParam`] for metalayers that no frame can hold; [`Error::MemoryAlloc`].
pub fn describe<S: State + ?Sized>(s: &S, counters: Counters) -> Result<Description> {
    let mut described = Err(Error::Failure);
    s.with_layers(Layers::Fixed, &mut |fixed| {
        s.with_layers(Layers::Variable, &mut |variable| {
            described = describe_with(s, counters, fixed, variable);
        });
    });
    described
}

/// As [`describe`], with other metalayers than those of now.
pub(super) fn describe_with<S: State + ?Sized>(
    s: &S,
    counters: Counters,
    fixed: &[(&[u8], &[u8])],
    variable: &[(&[u8], &[u8])],
) -> Result<Description> {
    Ok(Description {
        recorded: s.recorded(),
        counters,
        threads: s.threads(),
        metalayers: fixed
            .iter()
            .map(|&(name, content)| Metalayer {
                name: name.to_vec(),
                content: content.to_vec(),
            })
            .collect(),
        has_vlmetalayers: !variable.is_empty(),
        trailer: match s.frame() {
            Some(frame) => frame.trailer(variable)?,
            None => Arc::new(trailer::build(variable, None)?),
        },
    })
}
