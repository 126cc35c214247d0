//! A super-chunk's records of separately allocated chunks that it lent.
//!
//! Such chunks can be too many to compare with an argument one by one. A call that reads its
//! argument while it replaces chunks records the range of the argument, and chunks that overlap it
//! are freed at the end of the call ([`Reading`](super::arguments::Reading)).

use ferroblosc_capi_common::pointers::overlap;
use std::cell::UnsafeCell;
use std::collections::HashSet;

/// A super-chunk's records of lent memory, which only calls that change the super-chunk use.
#[derive(Default)]
pub struct Loans {
    /// The range of the argument that the current call reads, and the chunks to free at its end.
    reading: Option<((*const u8, usize), Vec<*mut u8>)>,
    /// The addresses of the separately allocated chunks; `None` until a chunk is added without a
    /// copy.
    chunks: Option<HashSet<usize>>,
}

impl Loans {
    fn with<T>(cell: &UnsafeCell<Loans>, f: impl FnOnce(&mut Loans) -> T) -> T {
        // SAFETY: only calls that change the super-chunk use the records, one at a time, and `f`
        // calls no function of the super-chunk.
        f(unsafe { &mut *cell.get() })
    }

    /// Records the address of a new separately allocated chunk.
    pub fn record(cell: &UnsafeCell<Loans>, chunk: *mut u8) {
        Loans::with(cell, |loans| {
            if let Some(chunks) = &mut loans.chunks {
                match chunks.try_reserve(1) {
                    Ok(()) => drop(chunks.insert(chunk.addr())),
                    // The list is rebuilt when it is next needed.
                    Err(_) => loans.chunks = None,
                }
            }
        });
    }

    /// Frees a separately allocated chunk. A chunk that overlaps the argument of the current call
    /// is freed at the end of the call.
    ///
    /// # Safety
    /// `chunk` is NULL or a block of `malloc` with a chunk of `len()` bytes, which is used only as
    /// the argument of the current call.
    pub unsafe fn free(cell: &UnsafeCell<Loans>, chunk: *mut u8, len: impl FnOnce() -> usize) {
        if Loans::forget(cell, chunk, len) {
            // SAFETY: guaranteed by the caller.
            unsafe { libc::free(chunk.cast()) }
        }
    }

    /// Removes a separately allocated chunk of `len()` bytes from the records. Returns whether the
    /// caller may free it. Otherwise it overlaps the argument of the current call, and is freed at
    /// the end of the call.
    pub fn forget(cell: &UnsafeCell<Loans>, chunk: *mut u8, len: impl FnOnce() -> usize) -> bool {
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

    /// Records the argument that the current call reads.
    pub fn begin_reading(cell: &UnsafeCell<Loans>, argument: (*const u8, usize)) {
        Loans::with(cell, |loans| loans.reading = Some((argument, Vec::new())));
    }

    /// Frees the chunks that overlap the argument of the current call.
    ///
    /// # Safety
    /// The argument is not read again.
    pub unsafe fn end_reading(cell: &UnsafeCell<Loans>) {
        let kept = Loans::with(cell, |loans| loans.reading.take());
        for chunk in kept.map(|(_, chunks)| chunks).unwrap_or_default() {
            // SAFETY: `Loans::forget` kept these blocks of `malloc` to be freed here; the caller
            // guarantees that they are not used again.
            unsafe { libc::free(chunk.cast()) }
        }
    }

    /// Whether `chunk` may be one of these chunks, which are all separately allocated chunks of the
    /// super-chunk.
    pub fn may_have(cell: &UnsafeCell<Loans>, chunk: *const u8, chunks: &[*mut u8]) -> bool {
        Loans::with(cell, |loans| {
            let known = loans.chunks.get_or_insert_with(HashSet::new);
            let missing = chunks.len().saturating_sub(known.len());
            if missing > 0 && known.try_reserve(missing).is_ok() {
                known.extend(chunks.iter().map(|chunk| chunk.addr()));
            }
            known.len() < chunks.len() || known.contains(&chunk.addr())
        })
    }
}
