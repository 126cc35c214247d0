//! Threads of a model are not cancelled.

/// Stands for the state of a thread that defers its cancellation.
pub(crate) struct Deferred;

/// Returns a value for the time in which cancellation would be deferred.
pub(crate) fn defer() -> Deferred {
    Deferred
}
