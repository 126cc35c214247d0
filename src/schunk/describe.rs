//! Synchronisation between a super-chunk and its frame.

use super::state::{Layers, State};
use crate::buffer::copied_to_vec;
use crate::frame::{Counters, Description, Metalayer, trailer};
use crate::{Error, Result};
use std::sync::Arc;

/// Refreshes a super-chunk from its file, if it has one; returns whether anything changed.
///
/// # Errors
/// Returns the errors of [`crate::frame::Frame::refresh`].
pub(super) fn refresh_from_file<S: State + ?Sized>(s: &S) -> Result<bool> {
    let Some(frame) = s.frame() else {
        return Ok(false);
    };
    frame.refresh(s.recorded().typesize, |loaded| s.reload(loaded))
}

/// Returns the description of a super-chunk that its frame stores, with the given counters.
///
/// # Errors
/// [`Error::InvalidParam`] for metalayers that a frame cannot hold; [`Error::MemoryAlloc`].
pub fn describe<S: State + ?Sized>(s: &S, counters: Counters) -> Result<Description> {
    let mut described = Err(Error::Failure);
    s.with_layers(Layers::Fixed, &mut |fixed| {
        s.with_layers(Layers::Variable, &mut |variable| {
            described = describe_with(s, counters, fixed, variable);
        });
    });
    described
}

/// Like [`describe`], with the given metalayers in place of the current ones.
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
            .map(|&(name, content)| {
                Ok(Metalayer { name: copied_to_vec(name)?, content: copied_to_vec(content)? })
            })
            .collect::<Result<_>>()?,
        has_vlmetalayers: !variable.is_empty(),
        trailer: match s.frame() {
            Some(frame) => frame.trailer(variable)?,
            None => Arc::new(trailer::build(variable, None)?),
        },
    })
}
