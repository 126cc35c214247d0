//! Several changes of an array that become one.

use super::geometry::Geometry;
use super::state::State;
use super::sync::refresh;
use crate::Result;
use crate::schunk::transaction;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Begins a transaction of the array's super-chunk; returns the shapes at its begin.
///
/// # Errors
/// Those of [`transaction::begin`] and [`refresh`].
pub fn begin<A: State + ?Sized>(a: &mut A) -> Result<Geometry> {
    transaction::begin(a.chunks_mut())?;
    let before = refresh(a).and_then(|_| a.geometry());
    if before.is_err() {
        transaction::rollback(a.chunks_mut())?;
    }
    before
}

/// Commits the innermost transaction. If that fails, the array has the shapes of `before` again.
///
/// # Errors
/// Those of [`transaction::commit`].
pub fn commit<A: State + ?Sized>(a: &mut A, before: &Geometry) -> Result<()> {
    let committed = transaction::commit(a.chunks_mut());
    if committed.is_err() {
        a.take_up(before, a.ticks());
    }
    committed
}

/// Rolls the innermost transaction back, at whose begin the array had the shapes of `before`.
///
/// # Errors
/// Those of [`transaction::rollback`].
pub fn rollback<A: State + ?Sized>(a: &mut A, before: &Geometry) -> Result<()> {
    transaction::rollback(a.chunks_mut())?;
    a.take_up(before, a.ticks());
    Ok(())
}

/// Makes the changes of `f` one, if the array has transactions; otherwise they are made as they come.
///
/// # Errors
/// Those of `f`, [`begin`] and [`commit`]: the array has its old shape and items then, if it has
/// transactions.
pub(super) fn atomically<A: State + ?Sized, T>(
    a: &mut A,
    f: impl FnOnce(&mut A) -> Result<T>,
) -> Result<T> {
    if a.is_view() || !transaction::has_transactions(a.chunks()) {
        return f(a);
    }
    let before = begin(a)?;
    let done = catch_unwind(AssertUnwindSafe(|| f(a)));
    match done {
        Ok(Ok(value)) => commit(a, &before).map(|()| value),
        Ok(Err(error)) => {
            rollback(a, &before)?;
            Err(error)
        }
        Err(panic) => {
            let _ = rollback(a, &before);
            resume_unwind(panic)
        }
    }
}
