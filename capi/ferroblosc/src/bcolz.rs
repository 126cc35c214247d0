//! Arrays and tables of bcolz.

use ferroblosc::bcolz::{self, Carray, CarraySpec, Dtype, Mode, Object, Options};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::{boundary, buffers, pointers};
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// A carray or a ctable that is open. One thread at a time may use it.
pub struct bcolz_object {
    object: Object,
    /// The columns' names and types, with their NULs: what functions return stays in place.
    names: Vec<CString>,
    types: Vec<CString>,
}

/// The nearest code for what went wrong.
fn code(error: bcolz::Error) -> Error {
    ferroblosc::trace_error!("{error}");
    error.code()
}

fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Data)
}

/// The text of a C caller.
///
/// # Safety
/// `text` is NULL or a string that lasts as long as `'a`.
unsafe fn string<'a>(text: *const c_char) -> Result<&'a str> {
    // SAFETY: promised by the caller.
    let text = unsafe { pointers::c_str(text) }.ok_or(Error::InvalidParam)?;
    text.to_str().map_err(|_| Error::InvalidParam)
}

impl bcolz_object {
    fn new(object: Object) -> Result<bcolz_object> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        match &object {
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
        Ok(bcolz_object {
            object,
            names,
            types,
        })
    }

    /// An array, or a column of a table.
    fn array(&self, column: c_int) -> Result<&Carray> {
        match &self.object {
            Object::Carray(array) if column == 0 => Ok(array),
            Object::Carray(_) => Err(Error::InvalidIndex),
            Object::Ctable(table) => match table.column(self.name(column)?).map_err(code)? {
                Object::Carray(array) => Ok(array),
                Object::Ctable(_) => Err(Error::Data),
            },
        }
    }

    fn name(&self, column: c_int) -> Result<&str> {
        let column = usize::try_from(column).map_err(|_| Error::InvalidIndex)?;
        let name = self.names.get(column).ok_or(Error::InvalidIndex)?;
        name.to_str().map_err(|_| Error::Data)
    }
}

/// Opens the carray or ctable in the directory `path`. `mode` is "r" to read, "a" to read and write, or
/// "w", which takes all rows of a carray away. Returns NULL when it can't be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_open(path: *const c_char, mode: *const c_char) -> *mut bcolz_object {
    boundary!(bcolz_open, {
        // SAFETY: the caller gives two strings.
        let (path, mode) = unsafe { (pointers::path(path), string(mode)?) };
        let mode = Mode::from_name(mode).map_err(code)?;
        let path = path.ok_or(Error::InvalidParam)?;
        let object = bcolz::open(path, mode, &Options::default()).map_err(code)?;
        Ok(Box::into_raw(Box::new(bcolz_object::new(object)?)))
    })
}

/// Makes a carray without rows in the directory `path`, of items of NumPy's type `dtype`, and of rows with
/// the `ndim` dimensions in `row_shape` (0 and NULL for single items). `chunklen` is the rows of a chunk, or 0
/// to choose them by `expectedlen`. `mode` is "a", or "w" to replace what is there if it is bcolz's. Returns
/// NULL when it can't be made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_create(
    path: *const c_char,
    mode: *const c_char,
    dtype: *const c_char,
    row_shape: *const i64,
    ndim: c_int,
    chunklen: i64,
    expectedlen: i64,
) -> *mut bcolz_object {
    boundary!(bcolz_create, {
        // SAFETY: the caller gives three strings.
        let (path, mode, dtype) = unsafe { (pointers::path(path), string(mode)?, string(dtype)?) };
        let size = ndim.checked_mul(size_of::<i64>() as c_int);
        let size = size.ok_or(Error::InvalidParam)?;
        // SAFETY: the caller gives `ndim` numbers.
        let shape = unsafe { pointers::bytes(row_shape.cast(), size) }?;
        let (numbers, _) = shape.as_chunks::<{ size_of::<i64>() }>();
        let number = |number: i64| u64::try_from(number).map_err(|_| Error::InvalidParam);
        let shape = numbers
            .iter()
            .map(|bytes| number(i64::from_ne_bytes(*bytes)));
        let spec = CarraySpec {
            row_shape: shape.collect::<Result<_>>()?,
            chunklen: Some(number(chunklen)?).filter(|&rows| rows > 0),
            expectedlen: number(expectedlen)?,
            ..CarraySpec::new(Dtype::parse(dtype).map_err(code)?)
        };
        let mode = Mode::from_name(mode).map_err(code)?;
        let path = path.ok_or(Error::InvalidParam)?;
        let array = Carray::create(path, &spec, mode, &Options::default()).map_err(code)?;
        let object = bcolz_object::new(Object::Carray(Box::new(array)))?;
        Ok(Box::into_raw(Box::new(object)))
    })
}

/// Writes what is only in memory and closes; `object` is gone afterwards, also when that fails. Returns 0, or
/// an error code. NULL is nothing to close.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_close(object: *mut bcolz_object) -> c_int {
    boundary!(bcolz_close, {
        if object.is_null() {
            return Ok(0);
        }
        // SAFETY: the caller gives what `bcolz_open` or `bcolz_create` made, for the last time.
        let object = unsafe { Box::from_raw(object) };
        match object.object {
            Object::Carray(array) => array.close(),
            Object::Ctable(table) => table.close(),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// 1 for a ctable, 0 for a carray, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_is_ctable(object: *const bcolz_object) -> c_int {
    boundary!(bcolz_is_ctable, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        Ok(matches!(object.object, Object::Ctable(_)).into())
    })
}

/// The number of columns of a ctable, 1 for a carray, or an error code. The columns of other functions count
/// from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_ncolumns(object: *const bcolz_object) -> c_int {
    boundary!(bcolz_ncolumns, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        c_int::try_from(object.types.len()).map_err(|_| Error::Data)
    })
}

/// The name of a column of a ctable, or NULL. It lasts as long as the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_column_name(
    object: *const bcolz_object,
    column: c_int,
) -> *const c_char {
    boundary!(bcolz_column_name, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        let column = usize::try_from(column).map_err(|_| Error::InvalidIndex)?;
        let name = object.names.get(column).ok_or(Error::InvalidIndex)?;
        Ok(name.as_ptr())
    })
}

/// The type of the items of a carray or a column, as NumPy writes it, or NULL. It lasts as long as the object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_dtype(object: *const bcolz_object, column: c_int) -> *const c_char {
    boundary!(bcolz_dtype, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        object.array(column)?;
        let types = &object.types;
        let name: &CStr = types.get(column as usize).ok_or(Error::InvalidIndex)?;
        Ok(name.as_ptr())
    })
}

/// Fills in the first `room` lengths of the dimensions of a carray or a column; returns the number of its
/// dimensions, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_shape(
    object: *const bcolz_object,
    column: c_int,
    shape: *mut i64,
    room: c_int,
) -> c_int {
    boundary!(bcolz_shape, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        let lengths = object.array(column)?.shape();
        let room = usize::try_from(room).map_err(|_| Error::InvalidParam)?;
        for (i, &len) in lengths.iter().enumerate().take(room) {
            // SAFETY: the caller gives room for `room` numbers, or NULL.
            unsafe { pointers::write_if_given(shape.wrapping_add(i), len as i64) };
            if shape.is_null() {
                break;
            }
        }
        c_int::try_from(lengths.len()).map_err(|_| Error::Data)
    })
}

/// The bytes of a row of a carray or a column, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_row_bytes(object: *const bcolz_object, column: c_int) -> i64 {
    boundary!(bcolz_row_bytes, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        i64::try_from(object.array(column)?.row_bytes()).map_err(|_| Error::Data)
    })
}

/// The attributes of a carray or a ctable as the text of a JSON object, for the caller to free, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_attrs(object: *const bcolz_object) -> *mut c_char {
    boundary!(bcolz_attrs, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        let json = object.object.attrs().to_value().to_spaced_json();
        buffers::c_string(&text(&json)?)
    })
}

/// Reads rows of a carray or a column, from row `start` on (a negative number counts from the end), as many as
/// `size` bytes are. Returns 0, or an error code: -33 when there are not so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_read(
    object: *mut bcolz_object,
    column: c_int,
    start: i64,
    dest: *mut c_void,
    size: i32,
) -> c_int {
    boundary!(bcolz_read, {
        // SAFETY: the caller gives an open object and `size` writable bytes.
        let (object, dest) = unsafe {
            (
                pointers::reference_mut(object)?,
                pointers::bytes_mut(dest, size)?,
            )
        };
        if dest.is_empty() {
            return Ok(0);
        }
        let start = object.array(column)?.row_number(start).map_err(code)?;
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

/// Appends rows to a carray: `size` bytes. They are on the disk when bcolz_flush or bcolz_close returned 0.
/// Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_append(
    object: *mut bcolz_object,
    rows: *const c_void,
    size: i32,
) -> c_int {
    boundary!(bcolz_append, {
        // SAFETY: the caller gives an open object and `size` readable bytes.
        let (object, rows) = unsafe {
            (
                pointers::reference_mut(object)?,
                pointers::bytes(rows, size)?,
            )
        };
        match &mut object.object {
            Object::Carray(array) => array.append(rows).map_err(code)?,
            Object::Ctable(_) => return Err(Error::InvalidParam),
        }
        Ok(0)
    })
}

/// Writes what is only in memory; nothing for what was opened to be read. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_flush(object: *mut bcolz_object) -> c_int {
    boundary!(bcolz_flush, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference_mut(object) }?;
        match &mut object.object {
            Object::Carray(array) => array.flush(),
            Object::Ctable(table) => table.flush(),
        }
        .map_err(code)?;
        Ok(0)
    })
}
