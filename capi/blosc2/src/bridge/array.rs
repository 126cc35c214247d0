//! The array of C: the core's operations over the struct that programs read.

use super::schunk::{CSchunk, Entered, Purpose};
use crate::types::b2nd::b2nd_array_t;
use ferroblosc::b2nd::{Chunks, Geometry, MAX_DIM, State};
use ferroblosc::{Error, Result, trace_error};
use ferroblosc_capi_common::pointers::{Apart, overlap};
use std::ptr::NonNull;

/// An array of C, alive for the time of a call.
#[derive(Clone, Copy)]
pub struct CArray {
    array: NonNull<b2nd_array_t>,
    /// The super-chunk as it is now: programs may put another one in its place between calls.
    chunks: CSchunk,
}

// The safety of what follows rests on what C callers promise for the time of a call: the struct is one this
// library made, and programs write no field while another thread uses the array.

impl CArray {
    /// The array behind a pointer.
    ///
    /// # Errors
    /// [`Error::NullPointer`], also for an array without super-chunk.
    ///
    /// # Safety
    /// NULL or an array that lives as long as the result is used.
    pub unsafe fn new(array: *const b2nd_array_t) -> Result<CArray> {
        let array = NonNull::new(array.cast_mut()).ok_or(Error::NullPointer)?;
        // SAFETY: promised by the caller.
        let chunks = unsafe { CSchunk::new((*array.as_ptr()).sc) }?;
        Ok(CArray { array, chunks })
    }

    /// An array that this call may use for a purpose, beside other calls or after them.
    ///
    /// # Errors
    /// As [`CArray::new`] and [`CSchunk::enter`].
    ///
    /// # Safety
    /// As [`CArray::new`].
    pub unsafe fn enter(array: *const b2nd_array_t, purpose: Purpose) -> Result<Entered<CArray>> {
        // SAFETY: promised by the caller.
        let array = unsafe { CArray::new(array) }?;
        Ok(array.chunks.entered(purpose)?.map(|_| array))
    }

    /// The super-chunk.
    pub fn schunk(self) -> CSchunk {
        self.chunks
    }

    /// The struct.
    pub fn as_ptr(self) -> *mut b2nd_array_t {
        self.array.as_ptr()
    }

    /// Dimensions.
    pub fn ndim(self) -> Result<usize> {
        // SAFETY: a field of the struct.
        let ndim = unsafe { (*self.as_ptr()).ndim };
        usize::try_from(ndim)
            .ok()
            .filter(|&ndim| ndim <= MAX_DIM)
            .ok_or(Error::InvalidParam)
    }

    /// Bytes of an item.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when it has none.
    pub fn typesize(self) -> Result<usize> {
        use ferroblosc::schunk::State;
        usize::try_from(self.chunks.recorded().typesize)
            .ok()
            .filter(|&typesize| typesize > 0)
            .ok_or(Error::InvalidParam)
    }
}

impl CArray {
    /// An argument of a call that changes the array, copied if the array or its super-chunk lent it.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    ///
    /// # Safety
    /// `start` points to `len` readable bytes, or `len` is 0.
    pub unsafe fn argument(self, start: *const u8, len: usize) -> Result<Apart> {
        let is_lent = self.may_lend(start, len);
        // SAFETY: promised by the caller.
        unsafe { Apart::new(start, len, is_lent) }
    }

    /// Refuses memory of the array as the destination of a call that reads it.
    ///
    /// # Errors
    /// [`Error::InvalidParam`].
    pub fn check_destination(self, dest: *const u8, len: usize) -> Result<()> {
        if self.struct_has(dest, len) {
            trace_error!("the destination is memory of the array, whose fields would be lost");
            return Err(Error::InvalidParam);
        }
        self.chunks.check_destination(dest.cast(), len, -1)
    }

    fn may_lend(self, start: *const u8, len: usize) -> bool {
        self.struct_has(start, len) || self.chunks.may_lend(start, len)
    }

    fn struct_has(self, start: *const u8, len: usize) -> bool {
        let own = (self.as_ptr().cast_const().cast(), size_of::<b2nd_array_t>());
        overlap((start, len), own)
    }
}

/// Sets all that a geometry tells in the struct.
///
/// # Safety
/// A struct that only this call uses.
pub unsafe fn store_geometry(array: *mut b2nd_array_t, geometry: &Geometry) {
    let strides = geometry.strides();
    // SAFETY: promised by the caller.
    unsafe {
        // At most 16 dimensions.
        (*array).ndim = geometry.ndim as i8;
        (*array).shape = geometry.shape;
        (*array).chunkshape = geometry.chunkshape;
        (*array).extshape = geometry.extshape;
        (*array).blockshape = geometry.blockshape;
        (*array).extchunkshape = geometry.extchunkshape;
        (*array).nitems = geometry.nitems;
        (*array).chunknitems = geometry.chunknitems;
        (*array).extnitems = geometry.extnitems;
        (*array).blocknitems = geometry.blocknitems;
        (*array).extchunknitems = geometry.extchunknitems;
        (*array).item_array_strides = strides.item_array;
        (*array).item_chunk_strides = strides.item_chunk;
        (*array).item_extchunk_strides = strides.item_extchunk;
        (*array).item_block_strides = strides.item_block;
        (*array).block_chunk_strides = strides.block_chunk;
        (*array).chunk_array_strides = strides.chunk_array;
    }
}

impl State for CArray {
    fn chunks(&self) -> &Chunks<'_> {
        &self.chunks
    }

    fn chunks_mut(&mut self) -> &mut Chunks<'_> {
        &mut self.chunks
    }

    fn geometry(&self) -> Result<Geometry> {
        let _held = self.chunks.hold_layers(false);
        let ndim = self.ndim()?;
        // SAFETY: fields of the struct.
        unsafe {
            let array = self.as_ptr();
            let (shape, chunkshape) = ((*array).shape, (*array).chunkshape);
            let blockshape = (*array).blockshape;
            Geometry::new(&shape[..ndim], &chunkshape[..ndim], &blockshape[..ndim])
        }
    }

    fn set_geometry(&self, geometry: &Geometry, ticks: i64) {
        let _held = self.chunks.hold_layers(true);
        // SAFETY: the library reads these fields under the same lock.
        unsafe {
            store_geometry(self.as_ptr(), geometry);
            (*self.as_ptr()).last_tick = ticks;
        }
    }

    fn ticks(&self) -> i64 {
        self.chunks.change_ticks()
    }

    fn seen(&self) -> i64 {
        let _held = self.chunks.hold_layers(false);
        // SAFETY: a field of the struct, which is written under the same lock.
        unsafe { (*self.as_ptr()).last_tick }
    }

    fn is_view(&self) -> bool {
        // SAFETY: a field of the struct.
        unsafe { (*self.chunks.as_ptr()).view }
    }
}
