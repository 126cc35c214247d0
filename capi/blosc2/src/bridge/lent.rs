//! Memory that a super-chunk lends, and that comes back as an argument.
//!
//! Programs get pointers into what a super-chunk owns: chunks and frames in memory and in mappings, names
//! and contents of metalayers, the fields of the struct. They may give them to any call again. A change
//! overwrites, moves or frees such memory, and no slice may be made of bytes that change. So a call that
//! changes a super-chunk copies arguments that it lent first, and a call that writes to memory refuses the
//! memory of the super-chunk it reads.
//!
//! Chunks apart in memory are too many to look at each. A call that reads its argument while it replaces
//! chunks therefore notes where that is, and chunks that it lies in are freed at the end of the call
//! ([`Reading`]).

use super::schunk::{Allocated, CSchunk};
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::schunk::{Layers, State};
use ferroblosc::{Buffer, Error, Result, trace_error};
use ferroblosc_capi_common::pointers::{Apart, overlap};
use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_void};

/// Side notes of a super-chunk about memory that it lent. Only calls that change the super-chunk use them.
#[derive(Default)]
pub struct Loans {
    /// The argument that the current call reads, and the chunks to be freed at its end.
    reading: Option<((*const u8, usize), Vec<*mut u8>)>,
    /// The addresses of the chunks apart in memory, once a chunk was given without copying.
    chunks: Option<HashSet<usize>>,
}

impl Loans {
    fn with<T>(cell: &UnsafeCell<Loans>, f: impl FnOnce(&mut Loans) -> T) -> T {
        // SAFETY: only calls that change the super-chunk come here, one at a time, and `f` calls nothing of
        // the super-chunk.
        f(unsafe { &mut *cell.get() })
    }

    /// Notes that a chunk apart in memory came.
    pub fn came(cell: &UnsafeCell<Loans>, chunk: *mut u8) {
        Loans::with(cell, |loans| {
            if let Some(chunks) = &mut loans.chunks {
                match chunks.try_reserve(1) {
                    Ok(()) => drop(chunks.insert(chunk.addr())),
                    // The next one that needs the list makes it.
                    Err(_) => loans.chunks = None,
                }
            }
        });
    }

    /// Frees a chunk apart in memory, at the end of the call if the call reads an argument in it.
    ///
    /// # Safety
    /// NULL or a block of malloc with a chunk of `len` bytes, which is not used any more but as the argument
    /// of the current call.
    pub unsafe fn free(cell: &UnsafeCell<Loans>, chunk: *mut u8, len: impl FnOnce() -> usize) {
        if Loans::went(cell, chunk, len) {
            // SAFETY: promised by the caller.
            unsafe { libc::free(chunk.cast()) }
        }
    }

    /// Notes that a chunk apart in memory, of `len` bytes, went. Returns whether it is not used any more; otherwise
    /// the current call reads an argument in it, and frees it at its end.
    pub fn went(cell: &UnsafeCell<Loans>, chunk: *mut u8, len: impl FnOnce() -> usize) -> bool {
        Loans::with(cell, |loans| {
            if let Some(chunks) = &mut loans.chunks {
                chunks.remove(&chunk.addr());
            }
            let Some((argument, kept)) = &mut loans.reading else {
                return true;
            };
            let is_before_end = chunk.addr() < argument.0.addr().saturating_add(argument.1);
            let is_read = is_before_end && overlap(*argument, (chunk, len()));
            if is_read {
                kept.push(chunk);
            }
            !is_read
        })
    }
}

/// A call that replaces chunks while it reads an argument. Dropping it ends that.
pub struct Reading(CSchunk);

impl Reading {
    /// Notes the argument of a call.
    pub fn begin(schunk: CSchunk, argument: &Apart) -> Reading {
        let owner = schunk.owner();
        if schunk.frame().is_none() && !argument.is_copy() {
            let range = (argument.as_ptr(), argument.bytes().len());
            Loans::with(owner.loans(), |loans| {
                loans.reading = Some((range, Vec::new()));
            });
        }
        Reading(owner)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let kept = Loans::with(self.0.loans(), |loans| loans.reading.take());
        for chunk in kept.map(|(_, chunks)| chunks).unwrap_or_default() {
            // SAFETY: it was left to this call to free them, and the argument isn't read any more.
            unsafe { libc::free(chunk.cast()) }
        }
    }
}

impl CSchunk {
    /// Whether one of the `len` bytes at `start` may be changed, moved or freed when the super-chunk is
    /// changed, chunks apart in memory not considered.
    pub fn may_lend(self, start: *const u8, len: usize) -> bool {
        if len == 0 {
            return false;
        }
        let argument = (start, len);
        let has =
            |start: *const u8, len: usize| !start.is_null() && overlap(argument, (start, len));
        // A view has metalayers of its own, and changes those of its base.
        let owner = self.owner();
        let is_view = owner.as_ptr() != self.as_ptr();
        self.has_in_use(start, len)
            || self.layers_have(&has)
            || (is_view && (owner.struct_has(&has) || owner.layers_have(&has)))
    }

    /// Whether one of the `len` bytes at `start` is the frame's or one of the struct.
    fn has_in_use(self, start: *const u8, len: usize) -> bool {
        let argument = (start, len);
        let has =
            |start: *const u8, len: usize| !start.is_null() && overlap(argument, (start, len));
        self.frame().is_some_and(|frame| frame.may_lend(start, len)) || self.struct_has(&has)
    }

    /// Whether the struct or its storage is at an address.
    fn struct_has(self, has: &dyn Fn(*const u8, usize) -> bool) -> bool {
        let schunk: *mut blosc2_schunk = self.as_ptr();
        // SAFETY: fields of the struct; the storage of a super-chunk is complete.
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

    /// Whether the name or the content of a metalayer is at an address.
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
                    let name_len = if layer.name.is_null() {
                        0
                    } else {
                        CStr::from_ptr(layer.name).count_bytes() + 1
                    };
                    has(layer.content, len) || has(layer.name.cast(), name_len)
                })
            })
        }
    }

    /// An argument of a call that changes the super-chunk, copied if the super-chunk lent it.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a negative size, and for NULL with another size than 0;
    /// [`Error::MemoryAlloc`].
    ///
    /// # Safety
    /// `start` is NULL or points to `size` readable bytes.
    pub unsafe fn argument(self, start: *const c_void, size: i32) -> Result<Apart> {
        let len = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
        if start.is_null() && len > 0 {
            return Err(Error::InvalidParam);
        }
        // SAFETY: promised by the caller.
        unsafe { Apart::new(start.cast(), len, self.may_lend(start.cast(), len)) }
    }

    /// Refuses memory of the super-chunk as the destination of a call that reads the super-chunk: the frame,
    /// the struct, and of chunks apart in memory the one of this number.
    ///
    /// # Errors
    /// [`Error::InvalidParam`].
    pub fn check_destination(self, dest: *const c_void, len: usize, nchunk: i64) -> Result<()> {
        let held = match (self.frame(), usize::try_from(nchunk)) {
            (None, Ok(nchunk)) => self.chunk(nchunk),
            _ => &[],
        };
        let is_own = (len > 0 && self.has_in_use(dest.cast(), len))
            || overlap((held.as_ptr(), held.len()), (dest.cast(), len));
        if is_own {
            trace_error!("the destination is memory of the super-chunk, whose data would be lost");
            return Err(Error::InvalidParam);
        }
        Ok(())
    }

    /// Whether a chunk apart in memory is at this address.
    pub fn has_chunk_at(self, chunk: *const u8) -> bool {
        let owner = self.owner();
        let nchunks = usize::try_from(owner.counters().nchunks).unwrap_or(0);
        let data = owner.data();
        if data.is_null() {
            return false;
        }
        // SAFETY: below the number of chunks the array has addresses.
        let is_there = |i: usize| unsafe { *data.add(i) }.cast_const() == chunk;
        let is_noted = Loans::with(owner.loans(), |loans| {
            let noted = loans.chunks.get_or_insert_with(HashSet::new);
            if noted.len() < nchunks && noted.try_reserve(nchunks - noted.len()).is_ok() {
                // SAFETY: as above.
                noted.extend((0..nchunks).map(|i| unsafe { *data.add(i) }.addr()));
            }
            noted.len() < nchunks || noted.contains(&chunk.addr())
        });
        // Programs may have changed the array by themselves, so a hit is looked up.
        is_noted && (0..nchunks).any(is_there)
    }
}

/// A copy of a name, which a call may free or read anew while it looks for it.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL, [`Error::MemoryAlloc`].
///
/// # Safety
/// NULL or a C string.
pub unsafe fn name_of(name: *const c_char) -> Result<Buffer> {
    // SAFETY: promised by the caller.
    let name = unsafe { ferroblosc_capi_common::pointers::c_str(name) };
    Buffer::copy_of(name.ok_or(Error::InvalidParam)?.to_bytes())
}
