//! Several changes of an array that become one.

use super::create::metalayer;
use super::meta;
use super::state::State;
use super::sync::refresh;
use crate::Result;
use crate::schunk::transaction;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Begins a transaction of the array's super-chunk, or one within the open one.
///
/// # Errors
/// Those of [`transaction::begin`] and [`refresh`].
pub fn begin<A: State + ?Sized>(a: &mut A) -> Result<()> {
    transaction::begin(a.chunks_mut())?;
    let refreshed = refresh(a).map(drop);
    if refreshed.is_err() {
        transaction::rollback(a.chunks_mut())?;
    }
    refreshed
}

/// Commits the innermost transaction. If that fails, the array has its old shape again.
///
/// # Errors
/// Those of [`transaction::commit`].
pub fn commit<A: State + ?Sized>(a: &mut A) -> Result<()> {
    let committed = transaction::commit(a.chunks_mut());
    if committed.is_err() {
        restore_shape(a);
    }
    committed
}

/// Rolls the innermost transaction back: the array has the shape and the items of its begin.
///
/// # Errors
/// Those of [`transaction::rollback`].
pub fn rollback<A: State + ?Sized>(a: &mut A) -> Result<()> {
    transaction::rollback(a.chunks_mut())?;
    restore_shape(a);
    Ok(())
}

/// Takes the shape up that the metalayer in memory says, without a look at the file.
fn restore_shape<A: State + ?Sized>(a: &mut A) {
    let shape = metalayer(a.chunks())
        .and_then(|(_, bytes)| meta::parse(&bytes).ok())
        .and_then(|(meta, _)| meta.geometry().ok());
    if let Some(geometry) = shape {
        a.take_up(&geometry, a.ticks());
    }
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
