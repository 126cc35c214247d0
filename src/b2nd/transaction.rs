//! Transactions: several changes of an array that take effect together.

use super::create::with_metalayer;
use super::meta;
use super::state::State;
use super::sync::refresh;
use crate::Result;
use crate::schunk::transaction;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Begins a transaction of the array's super-chunk, which may be nested.
///
/// # Errors
/// Returns the errors of [`transaction::begin`] and [`refresh`].
pub fn begin<A: State + ?Sized>(a: &mut A) -> Result<()> {
    transaction::begin(a.chunks_mut())?;
    let refreshed = refresh(a).map(drop);
    if refreshed.is_err() {
        transaction::rollback(a.chunks_mut())?;
    }
    refreshed
}

/// Commits the innermost transaction. After an error the array has its previous shape.
///
/// # Errors
/// Returns the errors of [`transaction::commit`].
pub fn commit<A: State + ?Sized>(a: &mut A) -> Result<()> {
    let committed = transaction::commit(a.chunks_mut());
    if committed.is_err() {
        restore_shape(a);
    }
    committed
}

/// Rolls back the innermost transaction, which restores shape and items.
///
/// # Errors
/// Returns the errors of [`transaction::rollback`].
pub fn rollback<A: State + ?Sized>(a: &mut A) -> Result<()> {
    transaction::rollback(a.chunks_mut())?;
    restore_shape(a);
    Ok(())
}

/// Rolls back the innermost transactions until `depth` are open, like [`rollback`].
///
/// # Errors
/// Returns the errors of [`transaction::rollback`].
pub(super) fn rollback_to<A: State + ?Sized>(a: &mut A, depth: usize) -> Result<()> {
    while transaction::depth(a.chunks()) > depth {
        rollback(a)?;
    }
    Ok(())
}

/// Restores the shape from the metalayer in memory, without reading the file.
fn restore_shape<A: State + ?Sized>(a: &mut A) {
    let shape = with_metalayer(a.chunks(), |_, content| meta::parse_shapes(content)?.0.geometry());
    if let Ok(geometry) = shape {
        a.set_geometry(&geometry, a.version());
    }
}

/// Runs `f` in a transaction, if the array supports them, and without one otherwise.
///
/// # Errors
/// Returns the errors of `f`, [`begin`] and [`commit`]. A transaction is rolled back after an
/// error.
pub(super) fn atomically<A: State + ?Sized, T>(
    a: &mut A,
    f: impl FnOnce(&mut A) -> Result<T>,
) -> Result<T> {
    if a.is_view() || !transaction::has_transactions(a.chunks()) {
        return f(a);
    }
    begin(a)?;
    let done = catch_unwind(AssertUnwindSafe(|| f(a)));
    match done {
        Ok(Ok(value)) => commit(a).map(|()| value),
        Ok(Err(error)) => {
            rollback(a)?;
            Err(error)
        }
        Err(panic) => {
            let _ = rollback(a);
            resume_unwind(panic)
        }
    }
}
