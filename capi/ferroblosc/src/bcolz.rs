//! bcolz arrays and tables: opening, creating and reading.

use crate::arguments::{bytes_mut, last_error, note, size, word};
use crate::bcolz_spec::bcolz_spec;
use crate::handles;
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::{buffers, pointers};
use ferroblosc_formats::bcolz::{
    self, Carray, CarraySpec, Compression, Ctable, Mode, Object, Options,
};
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::numpy::Dtype;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// An open carray or ctable. Calls with the same object must not run concurrently.
pub struct bcolz_object {
    pub(crate) object: Object,
    /// The names and types of the columns, NUL-terminated: C callers hold pointers into them.
    names: Vec<CString>,
    types: Vec<CString>,
}

/// Records the text of a bcolz error and returns the closest error code.
pub(crate) fn code(error: bcolz::Error) -> Error {
    note(&error, error.code())
}

/// Converts a text to a C string.
pub(crate) fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Data)
}

/// Returns the text at a C pointer.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL or a text that is not UTF-8.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string that is valid for `'a`.
pub(crate) unsafe fn string<'a>(text: *const c_char) -> Result<&'a str> {
    // SAFETY: guaranteed by the caller.
    unsafe { word(text) }?.ok_or(Error::InvalidParam)
}

/// Returns the path and the mode at C pointers.
///
/// # Safety
/// Both are NULL or NUL-terminated strings that are valid for `'a`.
pub(crate) unsafe fn path_and_mode<'a>(
    path: *const c_char,
    mode: *const c_char,
) -> Result<(&'a Path, Mode)> {
    // SAFETY: guaranteed by the caller.
    let (path, mode) = unsafe { (pointers::path(path)?, string(mode)?) };
    let mode = Mode::from_name(mode).map_err(code)?;
    Ok((path.ok_or(Error::InvalidParam)?, mode))
}

/// Converts the description of an array.
///
/// # Safety
/// `spec` is NULL or points to a description whose texts are NULL or NUL-terminated strings and
/// whose `row_shape` is NULL or has `ndim` items.
pub(crate) unsafe fn spec_of(spec: *const bcolz_spec) -> Result<CarraySpec> {
    // SAFETY: guaranteed by the caller.
    let spec = unsafe { pointers::reference(spec) }?;
    let ndim = usize::try_from(spec.ndim).map_err(|_| Error::InvalidParam)?;
    // SAFETY: guaranteed by the caller.
    let (dtype, cname, dflt) =
        unsafe { (string(spec.dtype)?, word(spec.cname)?, word(spec.dflt)?) };
    let number = |number: i64| u64::try_from(number).map_err(|_| Error::InvalidParam);
    let mut row_shape = Vec::new();
    if spec.row_shape.is_null() && ndim > 0 {
        return Err(Error::InvalidParam);
    }
    for dim in 0..ndim {
        // SAFETY: not NULL, and the caller guarantees `ndim` numbers.
        row_shape.push(number(unsafe { *spec.row_shape.add(dim) })?);
    }
    let small = |number: c_int| u8::try_from(number).map_err(|_| Error::InvalidParam);
    let usual = Compression::default();
    let parse = |text: &str| Value::parse(text.as_bytes());
    let dflt = dflt.map(parse).transpose();
    Ok(CarraySpec {
        row_shape,
        chunklen: Some(number(spec.chunklen)?).filter(|&rows| rows > 0),
        expectedlen: number(spec.expectedlen)?,
        cparams: Compression {
            clevel: small(spec.clevel)?,
            shuffle: small(spec.shuffle)?,
            cname: cname.map_or(usual.cname, str::to_owned),
            quantize: u32::try_from(spec.quantize).map_err(|_| Error::InvalidParam)?,
        },
        dflt: dflt.map_err(|error| note(&error, Error::InvalidParam))?,
        ..CarraySpec::new(Dtype::parse(dtype).map_err(|error| code(error.into()))?)
    })
}

impl bcolz_object {
    fn new(object: Object) -> Result<bcolz_object> {
        let mut object = bcolz_object { object, names: Vec::new(), types: Vec::new() };
        object.name_columns()?;
        Ok(object)
    }

    /// Updates the names and types of the columns from the object.
    pub(crate) fn name_columns(&mut self) -> Result<()> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        match &self.object {
            Object::Carray(array) => types.push(text(array.dtype().text())?),
            Object::Ctable(table) => {
                for name in table.names() {
                    names.push(text(name)?);
                    types.push(match table.column(name).map_err(code)? {
                        Object::Carray(array) => text(array.dtype().text())?,
                        Object::Ctable(_) => CString::default(),
                    });
                }
            }
        }
        (self.names, self.types) = (names, types);
        Ok(())
    }

    /// Returns the array, or a column of the table.
    pub(crate) fn array(&self, column: c_int) -> Result<&Carray> {
        match &self.object {
            Object::Carray(array) if column == 0 => Ok(array),
            Object::Carray(_) => Err(Error::InvalidIndex),
            Object::Ctable(table) => match table.column(self.name(column)?).map_err(code)? {
                Object::Carray(array) => Ok(array),
                Object::Ctable(_) => Err(Error::Data),
            },
        }
    }

    /// Returns the table.
    pub(crate) fn table(&mut self) -> Result<&mut Ctable> {
        match &mut self.object {
            Object::Ctable(table) => Ok(table),
            Object::Carray(_) => Err(Error::InvalidParam),
        }
    }

    /// Returns the name of a column.
    pub(crate) fn name(&self, column: c_int) -> Result<&str> {
        let column = usize::try_from(column).map_err(|_| Error::InvalidIndex)?;
        let name = self.names.get(column).ok_or(Error::InvalidIndex)?;
        name.to_str().map_err(|_| Error::Data)
    }
}

/// Opens the carray or ctable in a directory.
///
/// - `path`: the directory.
/// - `mode`: "r" to read, "a" to read and write, or, for carrays only, "w" to read and write after
///   removing all rows.
///
/// Returns the object, which the caller closes with bcolz_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_open(path: *const c_char, mode: *const c_char) -> *mut bcolz_object {
    boundary!(bcolz_open, noted, {
        // SAFETY: the caller passes two strings or NULL.
        let (path, mode) = unsafe { path_and_mode(path, mode) }?;
        let object = bcolz::open(path, mode, &Options::default()).map_err(code)?;
        Ok(handles::open(bcolz_object::new(object)?))
    })
}

/// Fills in the default description of a carray: single items, compressed with LZ4 at level 5 after
/// a byte shuffle, in chunks of bcolz's default size.
///
/// - `spec`: the description.
/// - `dtype`: the type of an item in NumPy's notation. It is not copied: it must be valid while the
///   description is in use.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if an argument is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_spec_default(spec: *mut bcolz_spec, dtype: *const c_char) -> c_int {
    boundary!(bcolz_spec_default, noted_always, {
        if spec.is_null() || dtype.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: not NULL; the caller passes a writable description.
        unsafe { pointers::write_if_given(spec, bcolz_spec::of(dtype)) };
        Ok(0)
    })
}

/// Creates a carray without rows.
///
/// - `path`: the directory to create; its parent must exist.
/// - `mode`: "a" to fail if it exists, or "w" to replace an existing carray or ctable.
/// - `spec`: the description of the array.
///
/// Returns the object, which the caller closes with bcolz_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_create(
    path: *const c_char,
    mode: *const c_char,
    spec: *const bcolz_spec,
) -> *mut bcolz_object {
    boundary!(bcolz_create, noted, {
        // SAFETY: the caller passes two strings and a description, or NULL.
        let ((path, mode), spec) = unsafe { (path_and_mode(path, mode)?, spec_of(spec)?) };
        let array = Carray::create(path, &spec, mode, &Options::default()).map_err(code)?;
        let object = bcolz_object::new(Object::Carray(Box::new(array)))?;
        Ok(handles::open(object))
    })
}

/// Creates a ctable without columns. bcolz_add_column() adds columns.
///
/// - `path`: the directory to create; its parent must exist.
/// - `mode`: "a" to fail if it exists, or "w" to replace an existing carray or ctable.
///
/// Returns the object, which the caller closes with bcolz_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_create_ctable(
    path: *const c_char,
    mode: *const c_char,
) -> *mut bcolz_object {
    boundary!(bcolz_create_ctable, noted, {
        // SAFETY: the caller passes two strings or NULL.
        let (path, mode) = unsafe { path_and_mode(path, mode) }?;
        let table = Ctable::create(path, &[], mode, &Options::default()).map_err(code)?;
        let object = bcolz_object::new(Object::Ctable(table))?;
        Ok(handles::open(object))
    })
}

/// Writes buffered rows, closes an object and frees it, even if writing fails.
///
/// - `object`: the object, or NULL to do nothing.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM if it is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_close(object: *mut bcolz_object) -> c_int {
    boundary!(bcolz_close, noted_always, {
        // SAFETY: the caller passes an object that no other thread uses, or NULL.
        let Some(object) = unsafe { handles::close(object) }? else {
            return Ok(0);
        };
        match object.object {
            Object::Carray(array) => array.close(),
            Object::Ctable(table) => table.close(),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Sets the number of threads that read and write the chunks of a carray or of each column of a
/// ctable. It is initially 1.
///
/// - `object`: the object.
/// - `nthreads`: the number of threads, at least 1.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set_threads(object: *mut bcolz_object, nthreads: c_int) -> c_int {
    boundary!(bcolz_set_threads, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get_mut(object) }?;
        if nthreads < 1 {
            return Err(Error::InvalidParam);
        }
        object.object.set_threads(nthreads);
        Ok(0)
    })
}

/// Checks whether an object is a ctable.
///
/// - `object`: the object.
///
/// Returns 1 for a ctable, 0 for a carray, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_is_ctable(object: *const bcolz_object) -> c_int {
    boundary!(bcolz_is_ctable, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        Ok(matches!(object.object, Object::Ctable(_)).into())
    })
}

/// Returns the number of columns of a ctable, 1 for a carray, or a negative error code. The columns
/// are numbered from 0.
///
/// - `object`: the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_ncolumns(object: *const bcolz_object) -> c_int {
    boundary!(bcolz_ncolumns, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        c_int::try_from(object.types.len()).map_err(|_| Error::Data)
    })
}

/// Returns the name of a column of a ctable, or NULL on error. The object owns it: it is valid
/// until the object is closed or its columns change.
///
/// - `object`: the object.
/// - `column`: the number of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_column_name(
    object: *const bcolz_object,
    column: c_int,
) -> *const c_char {
    boundary!(bcolz_column_name, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        let column = usize::try_from(column).map_err(|_| Error::InvalidIndex)?;
        let name = object.names.get(column).ok_or(Error::InvalidIndex)?;
        Ok(name.as_ptr())
    })
}

/// Returns the type of the items of a carray or a column in NumPy's notation, or NULL on error. The
/// object owns it: it is valid until the object is closed or its columns change.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_dtype(object: *const bcolz_object, column: c_int) -> *const c_char {
    boundary!(bcolz_dtype, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        object.array(column)?;
        let types = &object.types;
        let name: &CStr = types.get(column as usize).ok_or(Error::InvalidIndex)?;
        Ok(name.as_ptr())
    })
}

/// Copies the shape of a carray or a column. The first dimension is the number of rows.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
/// - `shape`: the destination, or NULL to only get the number of dimensions.
/// - `room`: the capacity of `shape` in items. Further dimensions are not stored.
///
/// Returns the number of dimensions, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_shape(
    object: *const bcolz_object,
    column: c_int,
    shape: *mut i64,
    room: c_int,
) -> c_int {
    boundary!(bcolz_shape, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        let lengths = object.array(column)?.shape();
        let room = usize::try_from(room).map_err(|_| Error::InvalidParam)?;
        for (i, &len) in lengths.iter().enumerate().take(room) {
            // SAFETY: the caller passes `room` writable numbers or NULL.
            unsafe { pointers::write_if_given(shape.wrapping_add(i), len as i64) };
            if shape.is_null() {
                break;
            }
        }
        c_int::try_from(lengths.len()).map_err(|_| Error::Data)
    })
}

/// Returns the size of a row of a carray or a column in bytes, or a negative error code.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_row_bytes(object: *const bcolz_object, column: c_int) -> i64 {
    boundary!(bcolz_row_bytes, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        i64::try_from(object.array(column)?.row_bytes()).map_err(|_| Error::Data)
    })
}

/// Returns the number of rows, or a negative error code.
///
/// - `object`: the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_len(object: *const bcolz_object) -> i64 {
    boundary!(bcolz_len, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        size(object.object.len())
    })
}

/// Returns the properties of a carray or a column as a JSON object, or NULL on error. The caller
/// releases the text with free().
///
/// The properties are "shape", "dtype", "itemsize", "chunklen", "expectedlen", "nbytes", "cbytes"
/// (the size of its files), "cparams" with "clevel", "shuffle", "cname" and "quantize", and "dflt",
/// the fill value of added rows.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_info(object: *const bcolz_object, column: c_int) -> *mut c_char {
    boundary!(bcolz_info, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        let info = object.array(column)?.to_value().map_err(code)?;
        buffers::c_string(&text(&info.to_spaced_json())?)
    })
}

/// Returns the attributes as a JSON object, or NULL on error. The caller releases the text with
/// free(). As in Python, its strings can contain unpaired surrogates, such as "\ud800".
///
/// - `object`: the object.
/// - `column`: the number of the column, or -1 for the attributes of the carray or ctable itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_attrs(object: *const bcolz_object, column: c_int) -> *mut c_char {
    boundary!(bcolz_attrs, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get(object) }?;
        let attrs = match column {
            -1 => object.object.attrs(),
            column => object.array(column)?.attrs(),
        };
        buffers::c_string(&text(&attrs.to_json())?)
    })
}

/// Returns the message of the last failed call of a function of `bcolz.h` or `bloscpack.h` in this
/// thread, or "" if none failed.
///
/// The library owns the text: it is valid until the next such call fails in this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_last_error() -> *const c_char {
    boundary!(bcolz_last_error, unrecorded, { Ok(last_error()) })
}

/// Reads consecutive rows of a carray or a column.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
/// - `start`: the index of the first row. Negative indices count from the end.
/// - `dest`: the destination, owned by the caller.
/// - `size`: the size of `dest` in bytes, a multiple of bcolz_row_bytes().
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX (-33) if the rows are out of
/// range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_read(
    object: *mut bcolz_object,
    column: c_int,
    start: i64,
    dest: *mut c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_read, noted, {
        // SAFETY: the caller passes an open object and `size` writable bytes, or NULL.
        let (object, dest) = unsafe { (handles::get_mut(object)?, bytes_mut(dest, size)?) };
        let array = object.array(column)?;
        if dest.is_empty() {
            return Ok(0);
        }
        let start = array.row_number(start).map_err(code)?;
        let name = match &object.object {
            Object::Carray(_) => String::new(),
            Object::Ctable(_) => object.name(column)?.to_owned(),
        };
        match &mut object.object {
            Object::Carray(array) => array.read_into(start, dest),
            Object::Ctable(table) => table.read_into(&name, start, dest),
        }
        .map_err(code)?;
        Ok(0)
    })
}
