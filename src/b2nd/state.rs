//! The interface between array operations and the representation of an array.
//!
//! In C an array is a struct whose fields programs read, so its state is not cached elsewhere. The
//! operations are generic over a trait, which both Rust's array and the C struct implement.

use super::geometry::Geometry;
use crate::{Error, Result, schunk};

/// The super-chunk of an array. Several threads may read it concurrently, or change it in turns.
pub type Chunks<'a> = dyn schunk::State + Send + Sync + 'a;

/// The state of an array.
pub trait State {
    /// Returns the super-chunk.
    fn chunks(&self) -> &Chunks<'_>;

    /// Returns the mutable super-chunk.
    fn chunks_mut(&mut self) -> &mut Chunks<'_>;

    /// Returns the geometry.
    ///
    /// # Errors
    /// Returns the errors of [`Geometry::new`].
    fn geometry(&self) -> Result<Geometry>;

    /// Sets the geometry that corresponds to version `seen` of the super-chunk's metalayers.
    fn set_geometry(&self, geometry: &Geometry, seen: i64);

    /// Returns the current version of the super-chunk's metalayers.
    fn version(&self) -> i64;

    /// Returns the version of the metalayers that the geometry corresponds to.
    fn seen_version(&self) -> i64;

    /// Whether the chunks belong to another array.
    fn is_view(&self) -> bool;
}

/// Returns the item size in bytes.
///
/// # Errors
/// [`Error::InvalidParam`] if it is 0.
pub(super) fn typesize<A: State + ?Sized>(a: &A) -> Result<usize> {
    usize::try_from(a.chunks().recorded().typesize)
        .ok()
        .filter(|&typesize| typesize > 0)
        .ok_or(Error::InvalidParam)
}

/// Fails if the super-chunk's chunk size differs from the array's. A corrupted metalayer may record
/// a much larger size, for which no memory must be allocated.
///
/// # Errors
/// [`Error::Failure`].
pub(super) fn check_chunksize(s: &Chunks<'_>, chunksize: usize) -> Result<()> {
    match usize::try_from(s.counters().chunksize) {
        Ok(recorded @ 1..) if recorded != chunksize => Err(Error::Failure),
        _ => Ok(()),
    }
}

/// Refuses changes through a view of a frame, because the array of that frame would not detect
/// them.
///
/// # Errors
/// [`Error::InvalidParam`].
pub(super) fn check_writable<A: State + ?Sized>(a: &A) -> Result<()> {
    if a.is_view() && a.chunks().frame().is_some() { Err(Error::InvalidParam) } else { Ok(()) }
}
