//! Stores of python-blosc2: opening, listing, attributes and verification.

use crate::arguments::{clear, word};
use crate::b2store_types::*;
use crate::handles;
use ferroblosc::{Buffer, Error, Result, trace_error};
use ferroblosc_capi_common::{buffers, pointers};
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{self, Attrs, Class, Node, Severity, Store, Value};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// An open store.
pub struct b2store {
    pub(crate) store: Arc<Store>,
    /// The keys of all objects and groups, NUL-terminated: C callers hold pointers into them.
    keys: OnceLock<Vec<CString>>,
}

/// Converts an error of a store to one with its code and its text.
pub(crate) fn code(error: store::Error) -> Error {
    trace_error!("{error}");
    let code = error.code();
    if code.errno().is_some() {
        return code;
    }
    Error::from(code.kind()).because(error.to_string())
}

/// Returns the text at a C pointer, such as a key.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL or a text that is not UTF-8.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string that is valid for `'a`.
pub(crate) unsafe fn string<'a>(text: *const c_char) -> Result<&'a str> {
    // SAFETY: guaranteed by the caller.
    unsafe { word(text) }?.ok_or_else(|| Error::InvalidParam.because("a text is NULL"))
}

/// Returns the path at a C pointer, as an absolute path: later calls do not depend on the current
/// directory.
///
/// # Safety
/// The same conditions as for [`string`].
pub(crate) unsafe fn absolute(path: *const c_char) -> Result<PathBuf> {
    // SAFETY: guaranteed by the caller.
    let path = unsafe { pointers::path(path) }?;
    let path = path.ok_or_else(|| Error::InvalidParam.because("the path is NULL"))?;
    std::path::absolute(path).map_err(|error| Error::FileOpen.during("open").at(path).os(error))
}

/// The form of values.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Json,
    Msgpack,
}

impl Format {
    /// Returns the form with this number.
    ///
    /// # Errors
    /// [`Error::InvalidParam`]
    pub fn of(number: c_int) -> Result<Format> {
        match number {
            B2STORE_JSON => Ok(Format::Json),
            B2STORE_MSGPACK => Ok(Format::Msgpack),
            _ => Err(Error::InvalidParam.because(format!("{number} is no form of values"))),
        }
    }

    /// Decodes a value.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if the bytes are not one value.
    pub fn decode(self, bytes: &[u8]) -> Result<Value> {
        match self {
            Format::Json => {
                let json = Json::parse(bytes)
                    .map_err(|error| Error::InvalidParam.because(error.to_string()))?;
                Value::from_json(&json).map_err(code)
            }
            Format::Msgpack => Value::decode(bytes)
                .ok_or_else(|| Error::InvalidParam.because("the bytes are no MessagePack value")),
        }
    }

    /// Stores the address of an encoded value, which the caller frees. Returns its size in bytes.
    ///
    /// # Safety
    /// `dest` is NULL or writable for a pointer.
    pub unsafe fn write(self, value: &Value, dest: *mut *mut c_void) -> Result<i64> {
        if dest.is_null() {
            return Err(Error::InvalidParam.because("the destination is NULL"));
        }
        let (bytes, size) = match self {
            Format::Json => {
                let mut bytes = value.to_json().to_json().into_bytes();
                bytes.push(0);
                let size = bytes.len() - 1;
                (bytes, size)
            }
            Format::Msgpack => {
                let bytes = value.encode().map_err(code)?;
                let size = bytes.len();
                (bytes, size)
            }
        };
        let size = i64::try_from(size).map_err(|_| Error::MemoryAlloc)?;
        let buffer = Buffer::copy_of(&bytes)?;
        // SAFETY: not NULL, and the caller guarantees that a pointer can be written.
        unsafe { dest.write(buffer.into_raw().cast()) };
        Ok(size)
    }
}

/// Returns the number of the kind of a class.
fn kind_of(class: Class) -> c_int {
    match class {
        Class::Group => B2STORE_GROUP,
        Class::Table => B2STORE_TABLE,
        Class::NdArray => B2STORE_ARRAY,
        Class::SChunk => B2STORE_SCHUNK,
        Class::ObjectArray => B2STORE_OBJECT_ARRAY,
        Class::BatchArray => B2STORE_BATCH_ARRAY,
        Class::ListArray => B2STORE_LIST_ARRAY,
        Class::EmbedStore => B2STORE_EMBED_STORE,
        Class::LazyExpression => B2STORE_LAZY_EXPRESSION,
        Class::LazyUdf => B2STORE_LAZY_UDF,
        Class::RemoteArray => B2STORE_REMOTE_ARRAY,
        Class::Proxy => B2STORE_PROXY,
        Class::Reference => B2STORE_REFERENCE,
        Class::RemoteStore => B2STORE_REMOTE_STORE,
        Class::Damaged => B2STORE_DAMAGED,
        _ => B2STORE_UNKNOWN,
    }
}

/// Returns the C struct of a description.
fn info_of(node: &Node) -> Result<b2store_info> {
    let mut shape = [0; B2STORE_MAX_DIM];
    let mut ndim = -1;
    if let Some(extents) = &node.shape {
        let dest = shape.get_mut(..extents.len()).ok_or(Error::Data)?;
        dest.copy_from_slice(extents);
        ndim = i32::try_from(extents.len()).map_err(|_| Error::Data)?;
    }
    Ok(b2store_info {
        nbytes: node.nbytes.unwrap_or(-1),
        cbytes: node.cbytes.unwrap_or(-1),
        shape,
        kind: kind_of(node.class),
        ndim,
    })
}

fn opened(store: Store) -> *mut b2store {
    handles::open(b2store { store: Arc::new(store), keys: OnceLock::new() })
}

impl b2store {
    fn keys(&self) -> Result<&[CString]> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys =
            self.store.keys().into_iter().map(CString::new).collect::<std::result::Result<_, _>>();
        let keys: Vec<CString> = keys.map_err(|_| Error::Data.because("a key contains a NUL"))?;
        Ok(self.keys.get_or_init(|| keys))
    }
}

/// Opens a store for reading: a zip file, a directory or a frame. Nothing is written, evaluated or
/// fetched, and damaged leaves do not prevent opening.
///
/// - `path`: the path. If it does not exist, the suffixes `.b2d`, `.b2z` and `.b2e` are tried.
///
/// Returns the store, which the caller closes with b2store_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open(path: *const c_char) -> *mut b2store {
    boundary!(b2store_open, {
        // SAFETY: the caller passes a string or NULL.
        let path = unsafe { absolute(path) }?;
        Ok(opened(Store::open(path).map_err(code)?))
    })
}

/// Opens an embed store that is a leaf of another store. Its frame is copied into memory.
///
/// - `store`: the store.
/// - `key`: the key of the leaf.
///
/// Returns the embed store, which the caller closes with b2store_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open_nested(
    store: *const b2store,
    key: *const c_char,
) -> *mut b2store {
    boundary!(b2store_open_nested, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        Ok(opened(store.store.nested(key).map_err(code)?))
    })
}

/// Closes a store. Tables, arrays of objects, super-chunks and arrays that were opened from it stay
/// valid.
///
/// - `store`: the store, or NULL to do nothing.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if it is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_close(store: *mut b2store) -> c_int {
    boundary!(b2store_close, always, {
        // SAFETY: the caller passes a store that no other thread uses, or NULL.
        drop(unsafe { handles::close(store) }?);
        Ok(0)
    })
}

/// Returns the number of objects and groups, or a negative error code. The leaves of tables and the
/// root are not counted, unless the root is an object.
///
/// - `store`: the store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_nkeys(store: *const b2store) -> i64 {
    boundary!(b2store_nkeys, {
        // SAFETY: the caller passes a store or NULL.
        let store = unsafe { handles::get(store) }?;
        i64::try_from(store.keys()?.len()).map_err(|_| Error::Data)
    })
}

/// Returns the key of an object or a group, or NULL on error. The keys are sorted, each group
/// before the keys below it. The store owns the text: it is valid until the store is closed.
///
/// - `store`: the store.
/// - `number`: the number of the key, from 0 to below b2store_nkeys().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_key(store: *const b2store, number: i64) -> *const c_char {
    boundary!(b2store_key, {
        // SAFETY: the caller passes a store or NULL.
        let store = unsafe { handles::get(store) }?;
        let keys = store.keys()?;
        let key = usize::try_from(number).ok().and_then(|number| keys.get(number));
        let key = key.ok_or_else(|| {
            Error::InvalidIndex.because(format!("the store has {} keys", keys.len()))
        })?;
        Ok(key.as_ptr())
    })
}

/// Gets the kind, the shape and the sizes of an object or a group.
///
/// - `store`: the store.
/// - `key`: the key.
/// - `info`: receives the description.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_NOT_FOUND if there is no such key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_get_info(
    store: *const b2store,
    key: *const c_char,
    info: *mut b2store_info,
) -> c_int {
    boundary!(b2store_get_info, {
        // SAFETY: the caller passes a store, a string and a writable struct, or NULL.
        let (store, key) = unsafe {
            pointers::write_if_given(info, b2store_info::default());
            (handles::get(store)?, string(key)?)
        };
        if info.is_null() {
            return Err(Error::InvalidParam.because("the destination is NULL"));
        }
        let node = store.store.node(key).map_err(code)?;
        // SAFETY: not NULL; the caller passes a writable struct.
        unsafe { pointers::write_if_given(info, info_of(&node)?) };
        Ok(0)
    })
}

/// Returns the type of the items of an array in NumPy's notation, or NULL on error. The caller
/// releases the text with free().
///
/// - `store`: the store.
/// - `key`: the key of the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_dtype(store: *const b2store, key: *const c_char) -> *mut c_char {
    boundary!(b2store_dtype, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        let node = store.store.node(key).map_err(code)?;
        let dtype = node.dtype.ok_or_else(|| {
            let text = format!("{key} is of class {}, and has no type of items", node.class.name());
            Error::FrameType.because(text)
        })?;
        buffers::c_string(&CString::new(dtype).map_err(|_| Error::Data)?)
    })
}

/// Returns the attributes as a map.
///
/// # Errors
/// The error of the first damaged attribute.
fn map_of(attrs: Attrs) -> Result<Value> {
    if let Some((_, error)) = attrs.damaged.into_iter().next() {
        return Err(code(error));
    }
    let entry = |(name, value)| (Value::Str(name), readable(value));
    Ok(Value::Map(attrs.entries.into_iter().map(entry).collect()))
}

/// Converts an attribute that is not MessagePack to bytes.
fn readable(value: Value) -> Value {
    match value {
        Value::Raw(bytes) => Value::Bytes(bytes),
        value => value,
    }
}

/// Gets all attributes of an object or a group as a map. Attributes that are not MessagePack become
/// bytes.
///
/// - `store`: the store.
/// - `key`: the key, or "/" for the attributes of the store.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `content`: receives the address of the map, which the caller releases with free(); NULL on
///   error.
///
/// Returns the size of the map in bytes, or a negative error code. If an attribute is damaged, this
/// is an error; b2store_attr() reads the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_attrs(
    store: *const b2store,
    key: *const c_char,
    format: c_int,
    content: *mut *mut c_void,
) -> i64 {
    boundary!(b2store_attrs, {
        // SAFETY: the caller passes a store, a string and a writable pointer, or NULL.
        unsafe {
            clear(content);
            let (store, key, format) = (handles::get(store)?, string(key)?, Format::of(format)?);
            format.write(&map_of(store.store.attrs(key).map_err(code)?)?, content)
        }
    })
}

/// Gets an attribute of an object or a group. If it is not MessagePack, its value is bytes.
///
/// - `store`: the store.
/// - `key`: the key, or "/" for the attributes of the store.
/// - `name`: the name of the attribute.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `content`: receives the address of the value, which the caller releases with free(); NULL on
///   error.
///
/// Returns the size of the value in bytes, or a negative error code: BLOSC2_ERROR_NOT_FOUND if
/// there is no such key or attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_attr(
    store: *const b2store,
    key: *const c_char,
    name: *const c_char,
    format: c_int,
    content: *mut *mut c_void,
) -> i64 {
    boundary!(b2store_attr, {
        // SAFETY: the caller passes a store, two strings and a writable pointer, or NULL.
        unsafe {
            clear(content);
            let (store, key, name) = (handles::get(store)?, string(key)?, string(name)?);
            let format = Format::of(format)?;
            let attrs = store.store.attrs(key).map_err(code)?;
            if let Some(value) = attrs.get(name) {
                return format.write(&readable(value.clone()), content);
            }
            let damaged = attrs.damaged.into_iter().find(|(other, _)| other == name);
            Err(match damaged {
                Some((_, error)) => code(error),
                None => Error::NotFound.because(format!("{key} has no attribute {name:?}")),
            })
        }
    })
}

/// Reads everything in a store and verifies it.
///
/// - `store`: the store.
/// - `report`: receives a JSON list, which the caller releases with free(), or NULL. Its items are
///   objects with the "key" or the name of a file, the "fault" as text, and "severity": "damage",
///   "unchecked" if a limit prevented the check, or "note" if no value is lost.
///
/// Returns the number of damaged items, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_verify(store: *const b2store, report: *mut *mut c_char) -> i64 {
    boundary!(b2store_verify, {
        // SAFETY: the caller passes a store and a writable pointer, or NULL.
        let store = unsafe {
            clear(report);
            handles::get(store)?
        };
        let findings = store.store.verify().map_err(code)?;
        let name = |severity| match severity {
            Severity::Damage => "damage",
            Severity::Unchecked => "unchecked",
            _ => "note",
        };
        let items = findings.iter().map(|finding| {
            Json::object([
                ("key", finding.place.as_str().into()),
                ("fault", finding.text.as_str().into()),
                ("severity", name(finding.severity).into()),
            ])
        });
        let list = Json::List(items.collect());
        let damage = findings.iter().filter(|found| found.severity == Severity::Damage).count();
        if !report.is_null() {
            // JSON escapes NULs.
            let text = CString::new(list.to_spaced_json()).map_err(|_| Error::Data)?;
            // SAFETY: not NULL; the caller passes a writable pointer.
            unsafe { report.write(buffers::c_string(&text)?) };
        }
        i64::try_from(damage).map_err(|_| Error::Data)
    })
}
