//! Adapts HDF5's callbacks to a [`Filter`].
//!
//! Panics do not unwind into C, memory that HDF5 frees comes from `malloc`, and a failed call
//! leaves the caller's buffer unchanged.

use crate::abi::{FLAG_OPTIONAL, FLAG_REVERSE, FilterClass, Id, Status};
use crate::filter::{Failure, Filter};
use crate::functions::{self, Functions};
use crate::library::Library;
use crate::report::{Minor, location, push};
use crate::threads::Threads;
use ferroblosc::{Buffer, trace_warning};
use ferroblosc_capi_common::buffers::c_string;
use ferroblosc_capi_common::reserve;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a successful `set_local`.
const DONE: Status = 1;
/// The result of a failed `set_local`.
const FAILED: Status = -1;

/// The error of registering a filter in a program that does not export its HDF5 functions.
const NO_HDF5: &str = "the program exports no functions of its HDF5: link HDF5 as a shared library, or \
                       the program with -rdynamic, or set HDF5_PLUGIN_PATH";

/// Runs the body of a callback and converts a panic to a failure. Fails immediately while memory is
/// exhausted.
fn guarded<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    if reserve::is_exhausted() {
        return Err(Failure::new("there is no memory"));
    }
    // Unwind safety: the body works on its own values; shared state is protected by locks that
    // handle poisoning.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            // Dropping the payload may panic again and unwind into C: leak it.
            std::mem::forget(panic);
            Err(Failure::new("internal error"))
        }
    }
}

/// Implements the callback for dataset creation, which completes the user's values.
pub fn set_local<F: Filter>(list: Id, datatype: Id, caller: *const c_void) -> Status {
    let library = Library::of_caller(caller);
    let result = guarded(|| complete::<F>(library.as_ref(), list, datatype));
    let Err(failure) = result else {
        return DONE;
    };
    let failure = Failure(format!("cannot prepare a dataset: {failure}"));
    let is_reported = push(library.as_ref(), &location!(F::NAME), Minor::Callback, &failure);
    // Without access to the caller's error stack, HDF5 reports only that a callback failed. Print
    // the reason to standard error, where HDF5 prints its own errors.
    if !is_reported || library.is_none_or(|library| library.is_guess) {
        let name = F::NAME.to_string_lossy();
        let _ = writeln!(std::io::stderr(), "Filter {name} of HDF5 {failure}");
    }
    FAILED
}

/// Checks and completes the values of a dataset's filter.
///
/// A program that links HDF5 statically may not export its functions. In that case the user's
/// values are not changed: stored chunks are self-describing, and [`compress`] handles values out
/// of range.
fn complete<F: Filter>(library: Option<&Library>, list: Id, datatype: Id) -> Result<(), Failure> {
    let Some(library) = library else {
        return Ok(());
    };
    let found = Functions::of(library)
        .and_then(|functions| Ok((functions.listed(list, F::ID)?, functions)));
    let (mut listed, functions) = match found {
        // The caller's HDF5 was not found, and the property list does not belong to the guessed
        // library.
        Err(_) if library.is_guess => return Ok(()),
        found => found?,
    };
    let Some(dataset) = functions.dataset(list, datatype, &listed)? else {
        // All chunks of an optional filter are stored unfiltered.
        let too_large = Failure::new("chunks have 4 GiB or more");
        return if listed.is_optional() { Ok(()) } else { Err(too_large) };
    };
    F::complete(&mut listed.values, &dataset)?;
    functions.set_values(list, F::ID, &listed)
}

/// The arguments of HDF5's filter callback.
pub struct Call {
    /// Flags: whether to decompress, and whether the filter is optional.
    pub flags: c_uint,
    /// The number of values.
    pub cd_nelmts: usize,
    /// The values.
    pub cd_values: *const c_uint,
    /// The number of bytes in the buffer.
    pub nbytes: usize,
    /// The size of the buffer in bytes.
    pub buf_size: *mut usize,
    /// The buffer, allocated with `malloc`.
    pub buf: *mut *mut c_void,
    /// The return address of the call.
    pub caller: *const c_void,
}

/// Implements the callback for a chunk. Returns the number of bytes in `*buf`, which may be
/// reallocated, and sets `*buf_size` to its size. Returns 0 on failure and changes nothing.
///
/// # Safety
/// The pointers must be NULL or the arguments that HDF5 passes to filters.
pub unsafe fn run<F: Filter>(call: &Call) -> usize {
    let is_reverse = call.flags & FLAG_REVERSE != 0;
    let result = guarded(|| {
        // SAFETY: the caller guarantees that the pointers are NULL or passed by HDF5.
        let (values, data) = unsafe { (values(call)?, data(call)?) };
        let result = if is_reverse {
            F::decompress(values, data, threads(call))?
        } else {
            compress::<F>(call, values, data)?
        };
        if result.is_empty() { Err(Failure::new("a chunk without data")) } else { Ok(result) }
    });
    match result {
        // SAFETY: `data` checked that the pointers are not NULL, and HDF5 passed them.
        Ok(result) => unsafe { store_result(call, result) },
        Err(failure) => {
            // A failure of an optional filter is not reported: HDF5 stores the chunk unfiltered.
            if is_reverse || !is_optional(call) {
                let action = if is_reverse { "read" } else { "store" };
                let failure = Failure(format!("cannot {action} a chunk: {failure}"));
                let library = Library::of_caller(call.caller);
                push(library.as_ref(), &location!(F::NAME), Minor::Callback, &failure);
            }
            0
        }
    }
}

/// Whether HDF5 stores the chunk unfiltered if the filter fails.
fn is_optional(call: &Call) -> bool {
    call.flags & FLAG_OPTIONAL != 0
}

/// Whether the calling HDF5 was built for MPI.
fn is_parallel(call: &Call) -> bool {
    Library::of_caller(call.caller).is_some_and(|library| library.is_parallel())
}

fn threads(call: &Call) -> Threads {
    Threads::of_process(|| is_parallel(call))
}

/// Compresses a chunk. If that fails or does not reduce the size, an optional filter fails, and
/// HDF5 stores the data unfiltered. A mandatory one stores the data uncompressed in its own format,
/// since HDF5 would fail to write the chunk.
///
/// HDF5 1.10 records failed filters incorrectly in parallel writes, which makes such chunks
/// unreadable. With an HDF5 built for MPI, an optional filter therefore stores the data in its own
/// format, too.
fn compress<F: Filter>(call: &Call, values: &[u32], data: &[u8]) -> Result<Buffer, Failure> {
    if data.is_empty() {
        return Err(Failure::new("a chunk without data"));
    }
    let failure = match F::compress(values, data, threads(call)) {
        Ok(Some(stored)) => return Ok(stored),
        Ok(None) => Failure::new("the data cannot be compressed"),
        Err(failure) => failure,
    };
    if is_optional(call) && !is_parallel(call) {
        return Err(failure);
    }
    trace_warning!("{}: a chunk is stored uncompressed: {failure}", F::NAME.to_string_lossy());
    F::store(data)
}

/// # Safety
/// The same conditions as for [`run`].
unsafe fn values(call: &Call) -> Result<&[u32], Failure> {
    match (call.cd_nelmts, call.cd_values.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Failure::new("there are no parameters")),
        // SAFETY: HDF5 passes `cd_nelmts` values, and the pointer is not NULL.
        (len, false) => Ok(unsafe { std::slice::from_raw_parts(call.cd_values, len) }),
    }
}

/// # Safety
/// The same conditions as for [`run`].
unsafe fn data(call: &Call) -> Result<&[u8], Failure> {
    let missing = || Failure::new("there is no buffer");
    if call.buf.is_null() || call.buf_size.is_null() || call.nbytes > isize::MAX as usize {
        return Err(missing());
    }
    // SAFETY: `buf` is not NULL, and HDF5 passes a pointer to a buffer of at least `nbytes` bytes,
    // which is at most `isize::MAX`.
    unsafe {
        let start = (*call.buf).cast::<u8>();
        if start.is_null() {
            Err(missing())
        } else {
            Ok(std::slice::from_raw_parts(start, call.nbytes))
        }
    }
}

/// Copies a result into the caller's buffer, or replaces the buffer. Returns the size in bytes.
///
/// A result that fits is copied, and a new buffer is at least as long as the old one, so that the
/// buffer never shrinks: `H5Ocopy` of cached chunks copies each chunk into the buffer that the
/// filters returned for the previous one, without checking its size.
///
/// # Safety
/// The pointers of the call must be those that HDF5 passes to filters.
unsafe fn store_result(call: &Call, mut result: Buffer) -> usize {
    let size = result.len();
    // SAFETY: the caller guarantees that HDF5 passed the pointers: the buffer has at least `nbytes`
    // bytes and was allocated with `malloc`, and the filter may free it.
    unsafe {
        let capacity = size.max(*call.buf_size);
        if size <= call.nbytes {
            std::ptr::copy_nonoverlapping(result.as_ptr(), (*call.buf).cast(), size);
            *call.buf_size = capacity;
        } else {
            // Other filters may have left a wrong size of the buffer, for which there is no memory.
            let is_long = result.reserve(capacity - size).is_ok();
            libc::free(*call.buf);
            *call.buf = result.into_raw().cast();
            *call.buf_size = if is_long { capacity } else { size };
        }
    }
    size
}

/// Registers the filter with HDF5 for a C program and returns copies of the version and its date.
/// Always returns 1, as programs expect.
///
/// # Safety
/// `version` and `date` must be NULL or writable.
pub unsafe fn register(
    class: &'static FilterClass,
    texts: (&CStr, &CStr),
    (version, date): (*mut *mut c_char, *mut *mut c_char),
    caller: *const c_void,
) -> c_int {
    let library = Library::of_caller(caller);
    let result = match &library {
        Some(library) => guarded(|| functions::register(library, class)),
        None => Err(Failure::new(NO_HDF5)),
    };
    if let Err(failure) = result {
        let location = location!(c"register");
        push(library.as_ref(), &location, Minor::CantRegister, &failure);
    }
    if !version.is_null() && !date.is_null() {
        let copy = |text| c_string(text).unwrap_or(std::ptr::null_mut());
        // SAFETY: both pointers are not NULL, and the caller guarantees that they are writable.
        unsafe {
            *version = copy(texts.0);
            *date = copy(texts.1);
        }
    }
    1
}
