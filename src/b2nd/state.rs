//! What an array is made of, for those who work on it.
//!
//! In C an array is a struct whose fields programs read, so the struct is the truth, as that of the
//! super-chunk is. The operations of this room are written over a trait: Rust's own array is one
//! implementation, the struct of C another.

use super::geometry::Geometry;
use crate::{Error, Result, schunk};

/// The super-chunk of an array. Several threads may read it at the same time, and change it in turns.
pub type Chunks<'a> = dyn schunk::State + Send + Sync + 'a;

/// The parts of an array.
pub trait State {
    /// Where its items are.
    fn chunks(&self) -> &Chunks<'_>;

    /// The same, to be changed.
    fn chunks_mut(&mut self) -> &mut Chunks<'_>;

    /// Its shapes.
    ///
    /// # Errors
    /// Those of [`Geometry::new`].
    fn geometry(&self) -> Result<Geometry>;

    /// Takes up shapes that are those of the super-chunk at this count of changes.
    fn take_up(&self, geometry: &Geometry, ticks: i64);

    /// How often the metalayers of the super-chunk have changed.
    fn ticks(&self) -> i64;

    /// How often they had when the shapes were taken up.
    fn seen(&self) -> i64;

    /// Whether the chunks are another array's.
    fn is_view(&self) -> bool;
}

/// Bytes of an item.
///
/// # Errors
/// [`Error::InvalidParam`] when items have none.
pub(super) fn typesize<A: State + ?Sized>(a: &A) -> Result<usize> {
    usize::try_from(a.chunks().recorded().typesize)
        .ok()
        .filter(|&typesize| typesize > 0)
        .ok_or(Error::InvalidParam)
}

/// Refuses to write when the super-chunk tells of chunks of another size: what a metalayer tells may be much more,
/// and no memory is for that.
///
/// # Errors
/// [`Error::Failure`].
pub(super) fn check_chunksize(s: &Chunks<'_>, chunksize: usize) -> Result<()> {
    match usize::try_from(s.counters().chunksize) {
        Ok(told @ 1..) if told != chunksize => Err(Error::Failure),
        _ => Ok(()),
    }
}

/// Refuses to change what a view shows of a frame: the frame's own array would not learn of it.
///
/// # Errors
/// [`Error::InvalidParam`].
pub(super) fn check_writable<A: State + ?Sized>(a: &A) -> Result<()> {
    match a.is_view() && a.chunks().frame().is_some() {
        true => Err(Error::InvalidParam),
        false => Ok(()),
    }
}
