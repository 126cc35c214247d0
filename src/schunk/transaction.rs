//! Transactions: several changes of a super-chunk that take effect together.
//!
//! Durable files and directories have transactions. The handle that makes the changes reads them at
//! once; other handles, and readers after a crash, find all of them or none. Calls that change a
//! frame several times run in a nested transaction.

use super::describe::refresh_from_file;
use super::state::{Layers, State};
use crate::frame::{Frame, Loaded, Metalayer};
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Whether a super-chunk supports transactions: only durable files and directories do.
pub fn has_transactions<S: State + ?Sized>(s: &S) -> bool {
    s.frame().is_some_and(Frame::has_transactions)
}

/// Begins a transaction, which may be nested. It ends with [`commit`] or [`rollback`]. With locks,
/// other processes wait until then.
///
/// # Errors
/// [`Error::InvalidParam`] for a super-chunk without transactions; [`Error::Lock`]; the errors of
/// the frame.
pub fn begin<S: State + ?Sized>(s: &mut S) -> Result<()> {
    let frame = s.frame().filter(|frame| frame.has_transactions());
    let frame = frame.ok_or_else(|| {
        Error::InvalidParam.because("a transaction needs a durable file or directory")
    })?;
    let held = frame.lock_exclusive()?;
    refresh_from_file(s)?;
    let loaded = Loaded {
        recorded: s.recorded(),
        counters: s.counters(),
        metalayers: copies(s, Layers::Fixed)?,
        vlmetalayers: copies(s, Layers::Variable)?,
    };
    s.frame_mut().ok_or(Error::InvalidParam)?.begin(held, loaded)
}

/// Commits the innermost transaction. Committing the outermost one makes all changes durable.
///
/// # Errors
/// [`Error::InvalidParam`] without a transaction; otherwise those of [`Frame::commit`], after which
/// all changes are rolled back.
pub fn commit<S: State + ?Sized>(s: &mut S) -> Result<()> {
    let frame = s.frame_mut().ok_or(Error::InvalidParam)?;
    match frame.commit() {
        Ok(None) => Ok(()),
        Ok(Some(cbytes)) => {
            let mut counters = s.counters();
            counters.cbytes = cbytes;
            s.set_counters(counters);
            Ok(())
        }
        Err(not) => {
            if let Some(loaded) = not.loaded {
                restore(s, *loaded);
            }
            Err(not.error)
        }
    }
}

/// Rolls back the innermost transaction, which restores the super-chunk's state at its start.
///
/// # Errors
/// [`Error::InvalidParam`] without a transaction.
pub fn rollback<S: State + ?Sized>(s: &mut S) -> Result<()> {
    let frame = s.frame_mut().ok_or(Error::InvalidParam)?;
    let loaded = frame.rollback()?;
    restore(s, loaded);
    Ok(())
}

/// Returns the number of open transactions, each nested in the previous one.
pub(crate) fn depth<S: State + ?Sized>(s: &S) -> usize {
    s.frame().map_or(0, Frame::transaction_depth)
}

/// Rolls back the innermost transactions until `depth` are open.
///
/// # Errors
/// Returns the errors of [`rollback`].
pub(crate) fn rollback_to<S: State + ?Sized>(s: &mut S, depth: usize) -> Result<()> {
    while self::depth(s) > depth {
        rollback(s)?;
    }
    Ok(())
}

/// Checks that no transaction is nested in the one that made `depth` transactions open, or, if
/// `depth` is 0, that none is open. A program can leak the value of a nested one, which then neither
/// ends nor takes part in the commit.
///
/// # Errors
/// [`Error::InvalidParam`].
pub(crate) fn check_innermost<S: State + ?Sized>(s: &S, depth: usize) -> Result<()> {
    if self::depth(s) <= depth {
        return Ok(());
    }
    let text = if depth == 0 {
        "a transaction was neither committed nor rolled back, so its changes are lost"
    } else {
        "a nested transaction was neither committed nor rolled back"
    };
    Err(Error::InvalidParam.because(text))
}

/// Runs `f` in a transaction, if the super-chunk supports them, and without one otherwise.
///
/// # Errors
/// Returns the errors of `f`, of [`begin`] and of [`commit`]. A transaction is rolled back after an
/// error.
pub fn atomically<S: State + ?Sized, T>(
    s: &mut S,
    f: impl FnOnce(&mut S) -> Result<T>,
) -> Result<T> {
    if !has_transactions(s) {
        return f(s);
    }
    begin(s)?;
    let done = catch_unwind(AssertUnwindSafe(|| f(s)));
    match done {
        Ok(Ok(value)) => commit(s).map(|()| value),
        Ok(Err(error)) => {
            rollback(s)?;
            Err(error)
        }
        Err(panic) => {
            let _ = rollback(s);
            resume_unwind(panic)
        }
    }
}

/// Returns copies of the metalayers.
fn copies<S: State + ?Sized>(s: &S, kind: Layers) -> Result<Vec<Metalayer>> {
    let mut copies = Vec::new();
    let mut result = Ok(());
    s.with_layers(kind, &mut |layers| {
        result = layers.iter().try_for_each(|&(name, content)| {
            copies.try_reserve(1)?;
            let mut layer = Metalayer::default();
            layer.name.try_reserve_exact(name.len())?;
            layer.name.extend_from_slice(name);
            layer.content.try_reserve_exact(content.len())?;
            layer.content.extend_from_slice(content);
            copies.push(layer);
            Ok(())
        });
    });
    result.map(|()| copies)
}

/// Whether the metalayers equal `wanted`.
fn are_same<S: State + ?Sized>(s: &S, kind: Layers, wanted: &[Metalayer]) -> bool {
    let mut same = false;
    s.with_layers(kind, &mut |layers| {
        let wanted = wanted.iter().map(|layer| (&layer.name[..], &layer.content[..]));
        same = layers.iter().copied().eq(wanted);
    });
    same
}

/// Restores a previous state. Unchanged metalayers keep their addresses.
fn restore<S: State + ?Sized>(s: &mut S, loaded: Loaded) {
    let is_same = are_same(s, Layers::Fixed, &loaded.metalayers)
        && are_same(s, Layers::Variable, &loaded.vlmetalayers);
    if is_same {
        s.set_counters(loaded.counters);
    } else {
        s.reload(loaded);
    }
}
