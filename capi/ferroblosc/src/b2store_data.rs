//! Leaves of stores as objects of libblosc2, frames and values.

use crate::arguments::{self, clear};
use crate::b2store::{Format, b2store, code, string};
use crate::extensions::{Extensions, extensions};
use crate::handles;
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::{os, pointers};
use ferroblosc_formats::store::{Class, Error as StoreError, Location, Objects, Store, Value};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// Converts the result of a function of libblosc2, with the text of its error.
///
/// # Errors
/// The error of the function, if `result` is negative.
pub(crate) fn checked(table: &Extensions, result: i64) -> Result<i64> {
    if result >= 0 {
        return Ok(result);
    }
    let error = Error::from_code(i32::try_from(result).unwrap_or(-1));
    // SAFETY: the text is NULL or NUL-terminated, and valid until the next call of this thread.
    let text = unsafe { pointers::c_str((table.last_error)()) };
    Err(match text {
        Some(text) => error.because(text.to_string_lossy().into_owned()),
        None => error,
    })
}

/// Opens a leaf as a super-chunk of libblosc2.
fn open_schunk(table: &Extensions, store: &Store, key: &str) -> Result<*mut c_void> {
    let mut schunk = null_mut();
    let (path, offset) = match store.location(key).map_err(code)? {
        Location::File { path, offset } => (path, offset),
        Location::Directory(path) => (path, 0),
        Location::Memory(bytes) => {
            let len = i64::try_from(bytes.len()).map_err(|_| Error::MemoryAlloc)?;
            let frame = Buffer::copy_of(&bytes)?;
            drop(bytes);
            let frame = frame.into_raw();
            // SAFETY: the block is from `malloc`, has `len` bytes, and is not used after success.
            let result = unsafe { (table.adopt_frame)(frame, len, &raw mut schunk) };
            checked(table, result.into()).inspect_err(|_| {
                // SAFETY: the call failed, so that the block belongs to this function.
                unsafe { libc::free(frame.cast()) }
            })?;
            return Ok(schunk);
        }
        _ => return Err(Error::Failure),
    };
    let path = os::path::text(&path).ok_or(Error::InvalidParam)?;
    let offset = i64::try_from(offset).map_err(|_| Error::Data)?;
    // SAFETY: the path is NUL-terminated, and the output is a local variable.
    let result = unsafe { (table.open_read_only)(path.as_ptr(), offset, &raw mut schunk) };
    checked(table, result.into())?;
    // The path was opened a second time and may name another file.
    if let Err(error) = store.check_unchanged() {
        // SAFETY: the super-chunk was just opened, and nothing else uses it.
        unsafe { (table.free_schunk)(schunk) };
        return Err(code(error));
    }
    Ok(schunk)
}

/// Opens a leaf as a super-chunk of libblosc2. It is valid after the store was closed.
///
/// A leaf in a file is read in place: its chunks are read from the file when they are needed, and
/// changes fail (FERROBLOSC_IO_READ_ONLY). The file must neither be moved nor changed while the
/// super-chunk is in use. Embedded and compressed leaves are copies in memory; changes of a copy do
/// not reach the store.
///
/// - `store`: the store.
/// - `key`: the key of an array, a super-chunk or an array of objects.
///
/// Returns a `blosc2_schunk`, which the caller frees with blosc2_schunk_free(), or NULL on error,
/// also if the process has no libblosc2 of Ferroblosc. b2store_frame() works with any libblosc2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open_schunk(
    store: *const b2store,
    key: *const c_char,
) -> *mut c_void {
    boundary!(b2store_open_schunk, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        open_schunk(extensions()?, &store.store, key)
    })
}

/// Opens an array of a store as an array of libblosc2, with the rules of b2store_open_schunk().
///
/// - `store`: the store.
/// - `key`: the key of the array.
///
/// Returns a `b2nd_array_t`, which the caller frees with b2nd_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open_array(
    store: *const b2store,
    key: *const c_char,
) -> *mut c_void {
    boundary!(b2store_open_array, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        let class = store.store.class(key).map_err(code)?;
        if class != Class::NdArray && class.has_values() {
            let (key, found, wanted) = (key.to_owned(), class.name(), Class::NdArray.name());
            return Err(code(StoreError::WrongClass { key, found, wanted }));
        }
        let table = extensions()?;
        let schunk = open_schunk(table, &store.store, key)?;
        let mut array = null_mut();
        // SAFETY: the super-chunk was just opened, and the output is a local variable.
        let result = unsafe { (table.array_of)(schunk, &raw mut array) };
        checked(table, result.into()).inspect_err(|_| {
            // SAFETY: the call failed, so that the super-chunk belongs to this function.
            unsafe { (table.free_schunk)(schunk) };
        })?;
        Ok(array)
    })
}

/// Gets the contiguous frame of a leaf of any kind, unchanged. Functions such as
/// blosc2_schunk_from_buffer() and b2nd_from_cframe() open it.
///
/// - `store`: the store.
/// - `key`: the key of the leaf.
/// - `frame`: receives the address of the frame, which the caller releases with free(); NULL on
///   error.
///
/// Returns the size of the frame in bytes, or a negative error code: BLOSC2_ERROR_MEMORY_ALLOC
/// above 1 GiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_frame(
    store: *const b2store,
    key: *const c_char,
    frame: *mut *mut c_void,
) -> i64 {
    boundary!(b2store_frame, {
        // SAFETY: the caller passes a store, a string and a writable pointer, or NULL.
        unsafe {
            clear(frame);
            let (store, key) = (handles::get(store)?, string(key)?);
            if frame.is_null() {
                return Err(Error::InvalidParam.because("the destination is NULL"));
            }
            arguments::write_output(&store.store.frame(key).map_err(code)?, frame)
        }
    })
}

/// An open array of Python objects.
pub struct b2store_objects {
    objects: Objects,
}

/// Opens an array of Python objects: of kind B2STORE_OBJECT_ARRAY, B2STORE_BATCH_ARRAY or
/// B2STORE_LIST_ARRAY. It is valid after the store was closed.
///
/// - `store`: the store.
/// - `key`: the key of the array.
///
/// Returns the array, which the caller closes with b2store_objects_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open_objects(
    store: *const b2store,
    key: *const c_char,
) -> *mut b2store_objects {
    boundary!(b2store_open_objects, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        let objects = store.store.objects(key).map_err(code)?;
        Ok(handles::open(b2store_objects { objects }))
    })
}

/// Closes an array of objects.
///
/// - `objects`: the array, or NULL to do nothing.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if it is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_objects_close(objects: *mut b2store_objects) -> c_int {
    boundary!(b2store_objects_close, always, {
        // SAFETY: the caller passes an array that no other thread uses, or NULL.
        drop(unsafe { handles::close(objects) }?);
        Ok(0)
    })
}

/// Returns the number of items of an array of objects, or a negative error code. The items of all
/// batches are counted.
///
/// - `objects`: the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_objects_len(objects: *const b2store_objects) -> i64 {
    boundary!(b2store_objects_len, {
        // SAFETY: the caller passes an array or NULL.
        let objects = unsafe { handles::get(objects) }?;
        arguments::size(objects.objects.len().map_err(code)?)
    })
}

/// Gets consecutive items of an array of objects as a list.
///
/// - `objects`: the array.
/// - `start`: the number of the first item, at least 0.
/// - `nitems`: the number of items, at least 0.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `content`: receives the address of the list, which the caller releases with free(); NULL on
///   error.
///
/// Returns the size of the list in bytes, or a negative error code: BLOSC2_ERROR_INVALID_INDEX if
/// the items are out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_objects_read(
    objects: *const b2store_objects,
    start: i64,
    nitems: i64,
    format: c_int,
    content: *mut *mut c_void,
) -> i64 {
    boundary!(b2store_objects_read, {
        // SAFETY: the caller passes an array and a writable pointer, or NULL.
        unsafe {
            clear(content);
            let (objects, format) = (handles::get(objects)?, Format::of(format)?);
            let items = objects.objects.items(range(start, nitems)?).map_err(code)?;
            format.write(&Value::List(items), content)
        }
    })
}

/// Returns a range of items or rows.
///
/// # Errors
/// [`Error::InvalidIndex`] for negative numbers.
pub(crate) fn range(start: i64, count: i64) -> Result<std::ops::Range<u64>> {
    let number = |number: i64| {
        u64::try_from(number)
            .map_err(|_| Error::InvalidIndex.because(format!("the number {number} is negative")))
    };
    let (start, count) = (number(start)?, number(count)?);
    // Both are below 2^63.
    Ok(start..start + count)
}
