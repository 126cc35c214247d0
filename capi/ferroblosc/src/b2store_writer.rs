//! Creation and change of stores.

use crate::arguments::bytes;
use crate::b2store::{Format, absolute, code, string};
use crate::b2store_data::checked;
use crate::b2store_types::{B2STORE_BATCH_ARRAY, B2STORE_OBJECT_ARRAY};
use crate::extensions::extensions;
use crate::handles;
use ferroblosc::{Error, Result};
use ferroblosc_formats::store::{NewLeaf, ObjectsWriter, Store, StoreWriter, Value};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// A store that is created or changed.
pub struct b2store_writer {
    /// `None` after the commit.
    writer: Option<StoreWriter>,
}

impl b2store_writer {
    fn writer(&mut self) -> Result<&mut StoreWriter> {
        self.writer
            .as_mut()
            .ok_or_else(|| Error::InvalidParam.because("the changes were already committed"))
    }

    /// Adds a leaf, or replaces it.
    fn put(&mut self, key: &str, leaf: NewLeaf, replace: c_int) -> Result<c_int> {
        let writer = self.writer()?;
        if replace == 0 { writer.put(key, leaf) } else { writer.replace(key, leaf) }
            .map_err(code)?;
        Ok(0)
    }
}

/// Begins a new store. The suffix of the path determines its form: `.b2z` a zip file, `.b2d` a
/// directory, `.b2e` a frame. Nothing is written before b2store_commit().
///
/// - `path`: the path, at which nothing must exist.
///
/// Returns the writer, which the caller frees with b2store_writer_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_create(path: *const c_char) -> *mut b2store_writer {
    boundary!(b2store_create, {
        // SAFETY: the caller passes a string or NULL.
        let path = unsafe { absolute(path) }?;
        let writer = Store::create(path).map_err(code)?;
        Ok(handles::open(b2store_writer { writer: Some(writer) }))
    })
}

/// Begins a change of a store. Other writers are refused until the writer is freed.
///
/// - `path`: the path of the store, no symbolic link.
///
/// Returns the writer, which the caller frees with b2store_writer_free(), or NULL on error, also if
/// the store is damaged or another writer has it open (BLOSC2_ERROR_LOCK).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_change(path: *const c_char) -> *mut b2store_writer {
    boundary!(b2store_change, {
        // SAFETY: the caller passes a string or NULL.
        let path = unsafe { absolute(path) }?;
        let writer = Store::change(path).map_err(code)?;
        Ok(handles::open(b2store_writer { writer: Some(writer) }))
    })
}

/// Adds an array of libblosc2 to a store, or replaces an object with it. The array is copied, and
/// can be changed or freed afterwards.
///
/// - `writer`: the writer.
/// - `key`: the key.
/// - `array`: the array, a `b2nd_array_t`.
/// - `replace`: 0 to fail if the key exists; otherwise an existing leaf is replaced.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM for invalid and existing keys,
/// or if the process has no libblosc2 of Ferroblosc. b2store_put_frame() works with any libblosc2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_put_array(
    writer: *mut b2store_writer,
    key: *const c_char,
    array: *const c_void,
    replace: c_int,
) -> c_int {
    boundary!(b2store_put_array, {
        // SAFETY: the caller passes a writer and a string, or NULL.
        let (writer, key) = unsafe { (handles::get_mut(writer)?, string(key)?) };
        if array.is_null() {
            return Err(Error::InvalidParam.because("the array is NULL"));
        }
        let table = extensions()?;
        let (mut frame, mut size, mut needs_free) = (null_mut(), 0, false);
        // SAFETY: the caller passes an array; the outputs are local variables.
        let result = unsafe {
            (table.frame_of_array)(array, &raw mut frame, &raw mut size, &raw mut needs_free)
        };
        checked(table, result.into())?;
        // SAFETY: the call succeeded.
        let frame = unsafe { copied(frame, size, needs_free) }?;
        writer.put(key, NewLeaf::frame(frame).map_err(code)?, replace)
    })
}

/// Returns a copy of a frame, which is freed if it belongs to the caller.
///
/// # Safety
/// `frame` has `size` bytes; with `needs_free` it is a block of `malloc` that is not used again.
unsafe fn copied(frame: *mut u8, size: i64, needs_free: bool) -> Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(|_| Error::Data)?;
    let mut copy = Vec::new();
    let reserved = copy.try_reserve_exact(size).map_err(|_| Error::MemoryAlloc);
    // SAFETY: guaranteed by the caller; `libblosc2` allocates with `malloc`.
    unsafe {
        if reserved.is_ok() && size > 0 {
            copy.extend_from_slice(std::slice::from_raw_parts(frame, size));
        }
        if needs_free {
            libc::free(frame.cast());
        }
    }
    reserved.map(|()| copy)
}

/// Adds a super-chunk of libblosc2 to a store, or replaces an object with it. The super-chunk is
/// copied, and can be changed or freed afterwards.
///
/// - `writer`: the writer.
/// - `key`: the key.
/// - `schunk`: the super-chunk, a `blosc2_schunk`.
/// - `replace`: 0 to fail if the key exists; otherwise an existing leaf is replaced.
///
/// Returns 0, or a negative error code of b2store_put_array().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_put_schunk(
    writer: *mut b2store_writer,
    key: *const c_char,
    schunk: *mut c_void,
    replace: c_int,
) -> c_int {
    boundary!(b2store_put_schunk, {
        // SAFETY: the caller passes a writer and a string, or NULL.
        let (writer, key) = unsafe { (handles::get_mut(writer)?, string(key)?) };
        if schunk.is_null() {
            return Err(Error::InvalidParam.because("the super-chunk is NULL"));
        }
        let table = extensions()?;
        let (mut frame, mut needs_free) = (null_mut(), false);
        // SAFETY: the caller passes a super-chunk; the outputs are local variables.
        let size = unsafe { (table.frame_of)(schunk, &raw mut frame, &raw mut needs_free) };
        let size = checked(table, size)?;
        // SAFETY: the call succeeded.
        let frame = unsafe { copied(frame, size, needs_free) }?;
        writer.put(key, NewLeaf::frame(frame).map_err(code)?, replace)
    })
}

/// Adds a contiguous frame to a store, or replaces an object with it. It is stored unchanged. Such
/// frames come from b2store_frame(), blosc2_schunk_to_buffer() and b2nd_to_cframe().
///
/// - `writer`: the writer.
/// - `key`: the key.
/// - `frame`: the frame, which is copied.
/// - `size`: the size of `frame` in bytes. Bytes after the end of the frame are left out.
/// - `replace`: 0 to fail if the key exists; otherwise an existing leaf is replaced.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_DATA if the bytes are not a frame, or one of its
/// chunks is damaged and the store is a zip file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_put_frame(
    writer: *mut b2store_writer,
    key: *const c_char,
    frame: *const c_void,
    size: usize,
    replace: c_int,
) -> c_int {
    boundary!(b2store_put_frame, {
        // SAFETY: the caller passes a writer, a string and `size` bytes, or NULL.
        let (writer, key, frame) =
            unsafe { (handles::get_mut(writer)?, string(key)?, bytes(frame, size)?) };
        let mut copy = Vec::new();
        copy.try_reserve_exact(frame.len()).map_err(|_| Error::MemoryAlloc)?;
        copy.extend_from_slice(frame);
        writer.put(key, NewLeaf::frame(copy).map_err(code)?, replace)
    })
}

/// Adds the contiguous frame in a file to a store, or replaces an object with it. The file is
/// copied by b2store_commit(), and must not change before.
///
/// - `writer`: the writer.
/// - `key`: the key.
/// - `file`: the path of the file, a regular one.
/// - `replace`: 0 to fail if the key exists; otherwise an existing leaf is replaced.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_DATA if the file is not a frame, or one of its
/// chunks is damaged and the store is a zip file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_put_file(
    writer: *mut b2store_writer,
    key: *const c_char,
    file: *const c_char,
    replace: c_int,
) -> c_int {
    boundary!(b2store_put_file, {
        // SAFETY: the caller passes a writer and two strings, or NULL.
        let (writer, key, file) =
            unsafe { (handles::get_mut(writer)?, string(key)?, absolute(file)?) };
        writer.put(key, NewLeaf::file(file).map_err(code)?, replace)
    })
}

/// Adds an array of Python objects to a store, or replaces an object with it.
///
/// - `writer`: the writer.
/// - `key`: the key.
/// - `kind`: B2STORE_OBJECT_ARRAY, or B2STORE_BATCH_ARRAY.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `values`: a list of the items; for B2STORE_BATCH_ARRAY, a list of batches, which are lists.
/// - `size`: the size of `values` in bytes.
/// - `replace`: 0 to fail if the key exists; otherwise an existing leaf is replaced.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM for values that python-blosc2
/// could not read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_put_objects(
    writer: *mut b2store_writer,
    key: *const c_char,
    kind: c_int,
    format: c_int,
    values: *const c_void,
    size: usize,
    replace: c_int,
) -> c_int {
    boundary!(b2store_put_objects, {
        // SAFETY: the caller passes a writer, a string and `size` bytes, or NULL.
        let (writer, key, values) =
            unsafe { (handles::get_mut(writer)?, string(key)?, bytes(values, size)?) };
        let Value::List(items) = Format::of(format)?.decode(values)? else {
            return Err(Error::InvalidParam.because("the value is not a list"));
        };
        let objects = match kind {
            B2STORE_OBJECT_ARRAY => {
                let mut objects = ObjectsWriter::object_array().map_err(code)?;
                items.iter().try_for_each(|item| objects.push(item)).map_err(code)?;
                objects
            }
            B2STORE_BATCH_ARRAY => {
                let mut objects = ObjectsWriter::batch_array(None).map_err(code)?;
                for batch in &items {
                    let Value::List(items) = batch else {
                        return Err(Error::InvalidParam.because("a batch is not a list"));
                    };
                    objects.push_batch(items).map_err(code)?;
                }
                objects
            }
            _ => {
                let text = format!("objects of kind {kind} are not written");
                return Err(Error::InvalidParam.because(text));
            }
        };
        writer.put(key, objects.finish().map_err(code)?, replace)
    })
}

/// Deletes a leaf, a table, or a group with all keys below it.
///
/// - `writer`: the writer.
/// - `key`: the key, not "/".
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_NOT_FOUND if there is no such key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_delete(writer: *mut b2store_writer, key: *const c_char) -> c_int {
    boundary!(b2store_delete, {
        // SAFETY: the caller passes a writer and a string, or NULL.
        let (writer, key) = unsafe { (handles::get_mut(writer)?, string(key)?) };
        writer.writer()?.delete(key).map_err(code)?;
        Ok(0)
    })
}

/// Sets an attribute of a group, a table or a leaf.
///
/// - `writer`: the writer.
/// - `key`: the key, or "/" for the attributes of the store.
/// - `name`: the name, at most 31 bytes. An object has at most 16 attributes.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `value`: the value.
/// - `size`: the size of `value` in bytes.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_set_attr(
    writer: *mut b2store_writer,
    key: *const c_char,
    name: *const c_char,
    format: c_int,
    value: *const c_void,
    size: usize,
) -> c_int {
    boundary!(b2store_set_attr, {
        // SAFETY: the caller passes a writer, two strings and `size` bytes, or NULL.
        let (writer, key, name, value) = unsafe {
            (handles::get_mut(writer)?, string(key)?, string(name)?, bytes(value, size)?)
        };
        let value = Format::of(format)?.decode(value)?;
        writer.writer()?.set_attr(key, name, &value).map_err(code)?;
        Ok(0)
    })
}

/// Removes an attribute of a group, a table or a leaf.
///
/// - `writer`: the writer.
/// - `key`: the key, or "/" for the attributes of the store.
/// - `name`: the name.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM if there is no such attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_remove_attr(
    writer: *mut b2store_writer,
    key: *const c_char,
    name: *const c_char,
) -> c_int {
    boundary!(b2store_remove_attr, {
        // SAFETY: the caller passes a writer and two strings, or NULL.
        let (writer, key, name) =
            unsafe { (handles::get_mut(writer)?, string(key)?, string(name)?) };
        writer.writer()?.remove_attr(key, name).map_err(code)?;
        Ok(0)
    })
}

/// Writes the changes to disk. A new store, a zip file and a frame appear as a whole; in a
/// directory one leaf after the other is replaced. The writer accepts no further changes, also
/// after an error, and is freed with b2store_writer_free().
///
/// - `writer`: the writer.
///
/// Returns 0, or a negative error code. After an error, a zip file or a frame is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_commit(writer: *mut b2store_writer) -> c_int {
    boundary!(b2store_commit, {
        // SAFETY: the caller passes a writer or NULL.
        let writer = unsafe { handles::get_mut(writer) }?;
        writer.writer()?;
        if let Some(writer) = writer.writer.take() {
            writer.commit().map_err(code)?;
        }
        Ok(0)
    })
}

/// Frees a writer. Changes that were not committed are discarded.
///
/// - `writer`: the writer, or NULL to do nothing.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if it is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_writer_free(writer: *mut b2store_writer) -> c_int {
    boundary!(b2store_writer_free, always, {
        // SAFETY: the caller passes a writer that no other thread uses, or NULL.
        drop(unsafe { handles::close(writer) }?);
        Ok(0)
    })
}
