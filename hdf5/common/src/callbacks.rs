//! From the calls of HDF5 to a [`Filter`] and back.
//!
//! Nothing unwinds into C, what HDF5 will `free` comes from `malloc`, and a call that fails leaves the
//! caller's buffer as it was.

use crate::abi::{FLAG_OPTIONAL, FLAG_REVERSE, FilterClass, Id, Status};
use crate::filter::{Failure, Filter};
use crate::functions::{self, Functions};
use crate::library::Library;
use crate::report::{Minor, place, push};
use ferroblosc::{Buffer, trace_warning};
use ferroblosc_capi_common::buffers::c_string;
use ferroblosc_capi_common::reserve;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `set_local` gives when it worked.
const DONE: Status = 1;
/// What it gives when it failed.
const FAILED: Status = -1;

/// The failure to register a filter in a program that does not export the functions of its HDF5.
const NO_HDF5: &str = "the program exports no functions of its HDF5: link HDF5 as a shared library, or \
                       the program with -rdynamic, or set HDF5_PLUGIN_PATH";

/// Runs the body of a callback; a panic is a failure too. Refused while there is no memory.
fn guarded<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    if reserve::is_exhausted() {
        return Err(Failure::new("there is no memory"));
    }
    // Unwind safety: the body works on values of its own; what it shares is behind locks that tolerate a
    // poisoned holder.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(panic) => {
            // Dropping the payload may itself panic, which would get out of here: leak it.
            std::mem::forget(panic);
            Err(Failure::new("internal error"))
        }
    }
}

/// The callback for a dataset that is being made: the values that the user gave are completed.
pub fn set_local<F: Filter>(list: Id, datatype: Id, caller: *const c_void) -> Status {
    let library = Library::of_caller(caller);
    let result = guarded(|| complete::<F>(library.as_ref(), list, datatype));
    let Err(failure) = result else {
        return DONE;
    };
    let failure = Failure(format!("can't prepare a dataset: {failure}"));
    let is_told = push(
        library.as_ref(),
        &place!(F::NAME),
        Minor::Callback,
        &failure,
    );
    // Where the caller's error stack is out of reach, HDF5 only says that a callback failed. Why, is said
    // where it prints its errors; a message that can't be written is lost.
    if !is_told || library.is_none_or(|library| library.is_guess) {
        let name = F::NAME.to_string_lossy();
        let _ = writeln!(std::io::stderr(), "Filter {name} of HDF5 {failure}");
    }
    FAILED
}

/// Checks and completes the values of a dataset's filter.
///
/// In a program that HDF5 is linked into statically, its functions may not be exported. Then the values
/// stay as the user chose them: a stored chunk states itself how it is decompressed, and values out of range
/// are met by [`compress`].
fn complete<F: Filter>(library: Option<&Library>, list: Id, datatype: Id) -> Result<(), Failure> {
    let Some(library) = library else {
        return Ok(());
    };
    let found = Functions::of(library)
        .and_then(|functions| Ok((functions.listed(list, F::ID)?, functions)));
    let (mut listed, functions) = match found {
        // The caller's HDF5 was not found, and the one that was does not know the list.
        Err(_) if library.is_guess => return Ok(()),
        found => found?,
    };
    let dataset = functions.dataset(list, datatype, &listed)?;
    F::complete(&mut listed.values, &dataset)?;
    functions.set_values(list, F::ID, &listed)
}

/// What the filter callback of HDF5 is given.
pub struct Call {
    /// Whether to compress or decompress, and whether failing is all right.
    pub flags: c_uint,
    /// How many values.
    pub cd_nelmts: usize,
    /// The values.
    pub cd_values: *const c_uint,
    /// Bytes in the buffer.
    pub nbytes: usize,
    /// The size of the buffer.
    pub buf_size: *mut usize,
    /// The buffer, from `malloc`.
    pub buf: *mut *mut c_void,
    /// Where the call returns to.
    pub caller: *const c_void,
}

/// The callback for a chunk. Gives the bytes it leaves in `*buf`, which may be another block of `malloc` then,
/// and of which `*buf_size` tells the size; or 0, and all is as it was.
///
/// # Safety
/// The pointers are NULL or what HDF5 passes to filters.
pub unsafe fn run<F: Filter>(call: &Call) -> usize {
    let is_reverse = call.flags & FLAG_REVERSE != 0;
    let result = guarded(|| {
        // SAFETY: the caller's promise.
        let (values, data) = unsafe { (values(call)?, data(call)?) };
        let result = match is_reverse {
            true => F::decompress(values, data)?,
            false => compress::<F>(call, values, data)?,
        };
        match result.is_empty() {
            true => Err(Failure::new("a chunk without data")),
            false => Ok(result),
        }
    });
    match result {
        // SAFETY: `data` found that the pointers are there.
        Ok(result) => unsafe { hand_over(call, result) },
        Err(failure) => {
            // Who compresses with an optional filter is not told: the chunk is stored as it is.
            if is_reverse || !is_optional(call) {
                let what = if is_reverse { "read" } else { "store" };
                let failure = Failure(format!("can't {what} a chunk: {failure}"));
                let library = Library::of_caller(call.caller);
                push(
                    library.as_ref(),
                    &place!(F::NAME),
                    Minor::Callback,
                    &failure,
                );
            }
            0
        }
    }
}

/// Whether HDF5 stores the chunk as it is when the filter fails.
fn is_optional(call: &Call) -> bool {
    call.flags & FLAG_OPTIONAL != 0
}

/// Compresses a chunk. If that fails or does not make it smaller, an optional filter fails, and HDF5 stores
/// the data without it; a mandatory one stores the data uncompressed in its own format, since HDF5 would
/// drop them otherwise.
///
/// HDF5 1.10 loses track of failed filters when it writes from many processes: no program can read such a
/// chunk. So under an HDF5 that was built for MPI an optional filter stores the data in its own format too.
fn compress<F: Filter>(call: &Call, values: &[u32], data: &[u8]) -> Result<Buffer, Failure> {
    if data.is_empty() {
        return Err(Failure::new("a chunk without data"));
    }
    let failure = match F::compress(values, data) {
        Ok(Some(stored)) => return Ok(stored),
        Ok(None) => Failure::new("it does not get smaller"),
        Err(failure) => failure,
    };
    let is_parallel =
        || Library::of_caller(call.caller).is_some_and(|library| library.is_parallel());
    if is_optional(call) && !is_parallel() {
        return Err(failure);
    }
    trace_warning!(
        "{}: a chunk is stored uncompressed: {failure}",
        F::NAME.to_string_lossy()
    );
    F::store(data)
}

/// # Safety
/// As for [`run`].
unsafe fn values(call: &Call) -> Result<&[u32], Failure> {
    match (call.cd_nelmts, call.cd_values.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(Failure::new("there are no parameters")),
        // SAFETY: HDF5 passes as many values as it says.
        (len, false) => Ok(unsafe { std::slice::from_raw_parts(call.cd_values, len) }),
    }
}

/// # Safety
/// As for [`run`].
unsafe fn data(call: &Call) -> Result<&[u8], Failure> {
    let missing = || Failure::new("there is no buffer");
    if call.buf.is_null() || call.buf_size.is_null() || call.nbytes > isize::MAX as usize {
        return Err(missing());
    }
    // SAFETY: HDF5 passes a pointer to its buffer, which has `nbytes` bytes.
    unsafe {
        let start = (*call.buf).cast::<u8>();
        match start.is_null() {
            true => Err(missing()),
            false => Ok(std::slice::from_raw_parts(start, call.nbytes)),
        }
    }
}

/// Puts a result into the buffer, or in the place of it; gives its size.
///
/// What fits goes into the caller's buffer, so that this never gets smaller: where HDF5 copies datasets whose
/// chunks it has in memory (`H5Ocopy`), it writes each of them, whole, into the buffer that the filters left
/// for the one before, without asking how large that is.
///
/// # Safety
/// The pointers of the call are what HDF5 passes to filters.
unsafe fn hand_over(call: &Call, result: Buffer) -> usize {
    let size = result.len();
    // SAFETY: the caller's promise; the buffer has `nbytes` bytes at least, and is a block of malloc that is
    // the filter's to free.
    unsafe {
        if size <= call.nbytes {
            std::ptr::copy_nonoverlapping(result.as_ptr(), (*call.buf).cast(), size);
            *call.buf_size = size.max(*call.buf_size);
        } else {
            libc::free(*call.buf);
            *call.buf = result.into_raw().cast();
            *call.buf_size = size;
        }
    }
    size
}

/// What a C program calls to make the filter known to HDF5; the version and its date are copied for it.
/// Gives 1 always, as programs expect.
///
/// # Safety
/// `version` and `date` are NULL or places for pointers.
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
        let place = place!(c"register");
        push(library.as_ref(), &place, Minor::CantRegister, &failure);
    }
    if !version.is_null() && !date.is_null() {
        let copy = |text| c_string(text).unwrap_or(std::ptr::null_mut());
        // SAFETY: the caller's promise.
        unsafe {
            *version = copy(texts.0);
            *date = copy(texts.1);
        }
    }
    1
}
