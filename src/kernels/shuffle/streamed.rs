//! Unshuffle into memory that exceeds the caches.
//!
//! A normal store there reads the whole cache line first and evicts another one. So items are
//! assembled in a buffer that stays in the L1 cache, and whole lines are written from there with
//! non-temporal stores.

use super::gather;
use crate::kernels::copy::streamed;
use crate::kernels::level::Level;
use crate::kernels::vector::LINE;

/// Bytes that are assembled before they are written.
const STAGING_BYTES: usize = 8 << 10;

/// A buffer aligned to a cache line.
#[repr(align(64))]
struct Staging([u8; STAGING_BYTES]);

/// The largest number of planes.
pub(super) const MAX_PLANES: usize = 16;

/// Unshuffles 2 to [`MAX_PLANES`] planes like [`gather::unshuffle_planes_at`].
pub(super) fn unshuffle_planes_at(level: Level, planes: &[&[u8]], mut dest: &mut [u8]) {
    let items = planes[0].len();
    assert!(planes.iter().all(|plane| plane.len() == items));
    assert_eq!(dest.len(), planes.len() * items);
    let mut staging = Staging([0; STAGING_BYTES]);
    let mut slices: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
    let slices = &mut slices[..planes.len()];
    // Whole lines of each plane, so that all tiles have the same alignment in the destination.
    let max_items = STAGING_BYTES / planes.len() / LINE * LINE;
    for start in (0..items).step_by(max_items) {
        let count = max_items.min(items - start);
        for (slice, plane) in slices.iter_mut().zip(planes) {
            *slice = &plane[start..start + count];
        }
        let (to, rest) = dest.split_at_mut(count * planes.len());
        let staging = &mut staging.0[..to.len()];
        gather::unshuffle_planes_at(level, slices, staging);
        // SAFETY: both slices have the same length, and are references to different bytes. The fence
        // below precedes any other access to the destination.
        unsafe { streamed::copy_unfenced(staging.as_ptr(), to.as_mut_ptr(), to.len()) }
        dest = rest;
    }
    streamed::fence();
}
