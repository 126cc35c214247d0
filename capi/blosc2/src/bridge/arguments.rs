//! Arguments and destinations of calls that may be memory of a super-chunk.
//!
//! Programs hold pointers into memory of a super-chunk: chunks and frames in memory and in
//! mappings, names and contents of metalayers, fields of the struct. They may pass them to any
//! call. A change overwrites, moves or frees such memory, and a Rust slice must not be made of
//! bytes that change. A call that changes a super-chunk therefore first copies arguments that the
//! super-chunk lent. A call that writes to a destination rejects memory of the super-chunk that it
//! reads.

use super::loans::Loans;
use super::schunk::{Allocated, CSchunk};
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::frame::MAX_NAME_LEN;
use ferroblosc::schunk::{Layers, State};
use ferroblosc::{Buffer, Error, Result, trace_error};
use ferroblosc_capi_common::pointers::{self, StableSource, overlap};
use std::ffi::{CStr, c_char, c_void};

/// A call that replaces chunks while it reads an argument. Dropping it frees the chunks that
/// overlap the argument.
pub struct ReadGuard(CSchunk);

impl ReadGuard {
    /// Records the argument of a call.
    pub fn begin(schunk: CSchunk, argument: &StableSource) -> ReadGuard {
        let owner = schunk.owner();
        if schunk.frame().is_none() && !argument.is_copy() {
            let range = (argument.as_ptr(), argument.bytes().len());
            Loans::begin_reading(owner.loans(), range);
        }
        ReadGuard(owner)
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        // SAFETY: the argument is not read again.
        unsafe { Loans::end_reading(self.0.loans()) }
    }
}

impl CSchunk {
    /// Whether a change of the super-chunk may change, move or free one of the `len` bytes at
    /// `start`. Separately allocated chunks are not considered.
    pub fn may_lend(self, start: *const u8, len: usize) -> bool {
        self.lends(start, len) != Some(false)
    }

    /// As [`CSchunk::may_lend`], but `None` if a backend of the program may have lent the bytes.
    pub fn lends(self, start: *const u8, len: usize) -> Option<bool> {
        if len == 0 {
            return Some(false);
        }
        let argument = (start, len);
        let has =
            |start: *const u8, len: usize| !start.is_null() && overlap(argument, (start, len));
        // A view has its own metalayers, and also changes those of its base.
        let owner = self.owner();
        let is_view = owner.as_ptr() != self.as_ptr();
        let is_lent = self.layers_have(&has)
            || (is_view && (owner.struct_has(&has) || owner.layers_have(&has)));
        if is_lent { Some(true) } else { self.has_in_use(start, len) }
    }

    /// Whether one of the `len` bytes at `start` belongs to the frame or the struct; `None` if it
    /// may belong to a backend of the program.
    fn has_in_use(self, start: *const u8, len: usize) -> Option<bool> {
        let argument = (start, len);
        let has =
            |start: *const u8, len: usize| !start.is_null() && overlap(argument, (start, len));
        if self.struct_has(&has) {
            return Some(true);
        }
        self.frame().map_or(Some(false), |frame| frame.lends(start, len))
    }

    /// Whether `has` is true for memory of the struct or its storage.
    fn struct_has(self, has: &dyn Fn(*const u8, usize) -> bool) -> bool {
        let schunk: *mut blosc2_schunk = self.as_ptr();
        // SAFETY: fields of the struct; the pointers in a super-chunk's storage are valid.
        unsafe {
            if has(schunk.cast(), size_of::<Allocated>()) {
                return true;
            }
            if let Some(storage) = (*schunk).storage.as_ref() {
                let is_in_storage = has((*schunk).storage.cast(), size_of_val(storage))
                    || has(storage.cparams.cast(), size_of::<blosc2_cparams>())
                    || has(storage.dparams.cast(), size_of::<blosc2_dparams>());
                if is_in_storage {
                    return true;
                }
            }
        }
        false
    }

    /// Whether `has` is true for the name or the content of a metalayer.
    fn layers_have(self, has: &dyn Fn(*const u8, usize) -> bool) -> bool {
        let _layers = self.hold_layers(false);
        // SAFETY: the entries below the counts are NULL or valid.
        unsafe {
            [Layers::Fixed, Layers::Variable].iter().any(|&kind| {
                let (array, count) = self.layers(kind);
                (0..count).any(|i| {
                    let Some(layer) = (*array.add(i)).as_ref() else {
                        return false;
                    };
                    let len = usize::try_from(layer.content_len).unwrap_or(0);
                    // Most names are not read: the addresses alone exclude them.
                    let name_len = if has(layer.name.cast(), MAX_NAME_LEN + 1) {
                        CStr::from_ptr(layer.name).count_bytes() + 1
                    } else {
                        0
                    };
                    has(layer.content, len) || has(layer.name.cast(), name_len)
                })
            })
        }
    }

    /// Returns an argument of a call that changes the super-chunk, copied if the super-chunk lent
    /// it.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a negative size, and for NULL with a size other than 0;
    /// [`Error::MemoryAlloc`].
    ///
    /// # Safety
    /// `start` is NULL or points to `size` readable bytes.
    pub unsafe fn argument(self, start: *const c_void, size: i32) -> Result<StableSource> {
        let len = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
        if start.is_null() && len > 0 {
            return Err(Error::InvalidParam);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { StableSource::new(start.cast(), len, self.may_lend(start.cast(), len)) }
    }

    /// Fails if the destination of a read overlaps memory of the super-chunk: the frame, the
    /// struct, or the separately allocated chunk `nchunk`. A negative `nchunk` checks no chunk. The
    /// memory of a program's backend is unknown, so the program must not pass it.
    ///
    /// # Errors
    /// [`Error::InvalidParam`].
    pub fn check_destination(self, dest: *const c_void, len: usize, nchunk: i64) -> Result<()> {
        let held = match (self.frame(), usize::try_from(nchunk)) {
            (None, Ok(nchunk)) => self.chunk(nchunk),
            _ => &[],
        };
        let is_own = (len > 0 && self.has_in_use(dest.cast(), len) == Some(true))
            || overlap((held.as_ptr(), held.len()), (dest.cast(), len));
        if is_own {
            trace_error!("the destination is memory of the super-chunk, whose data would be lost");
            return Err(Error::InvalidParam);
        }
        Ok(())
    }

    /// Whether a separately allocated chunk starts at this address.
    pub fn has_chunk_at(self, chunk: *const u8) -> bool {
        let owner = self.owner();
        let nchunks = usize::try_from(owner.counters().nchunks).unwrap_or(0);
        let data = owner.data();
        if data.is_null() {
            return false;
        }
        // SAFETY: the array has an address for each index less than the number of chunks.
        let chunks = unsafe { std::slice::from_raw_parts(data, nchunks) };
        // Programs may change the array themselves, so a hit is verified.
        Loans::may_have(owner.loans(), chunk, chunks)
            && chunks.iter().any(|held| held.cast_const() == chunk)
    }
}

/// Copies a name, since the memory of the argument may be freed or reloaded during the search.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL, [`Error::MemoryAlloc`].
///
/// # Safety
/// `name` is NULL or a C string.
pub unsafe fn name_of(name: *const c_char) -> Result<Buffer> {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { pointers::c_str(name) };
    Buffer::copy_of(name.ok_or(Error::InvalidParam)?.to_bytes())
}
