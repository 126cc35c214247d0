//! Arrays and tables of bcolz: opening and reading.

use crate::arguments::{bytes_mut, last_error, note, size, word};
use crate::bcolz_spec::bcolz_spec;
use ferroblosc::bcolz::{self, Carray, CarraySpec, Cparams, Ctable, Dtype, Mode, Object, Options};
use ferroblosc::bloscpack::Value;
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::{buffers, pointers};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// A carray or a ctable that is open. One thread at a time may use it.
pub struct bcolz_object {
    pub(crate) object: Object,
    /// The columns' names and types, with their NULs: what functions return stays in place.
    names: Vec<CString>,
    types: Vec<CString>,
}

/// The nearest code for what went wrong.
pub(crate) fn code(error: bcolz::Error) -> Error {
    note(&error, error.code())
}

/// A text for C.
pub(crate) fn text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Data)
}

/// The text of a C caller.
///
/// # Safety
/// `text` is NULL or a string that lasts as long as `'a`.
pub(crate) unsafe fn string<'a>(text: *const c_char) -> Result<&'a str> {
    // SAFETY: promised by the caller.
    unsafe { word(text) }?.ok_or(Error::InvalidParam)
}

/// The path and the mode of a C caller.
///
/// # Safety
/// Both are NULL or strings that last as long as `'a`.
pub(crate) unsafe fn place<'a>(
    path: *const c_char,
    mode: *const c_char,
) -> Result<(&'a Path, Mode)> {
    // SAFETY: promised by the caller.
    let (path, mode) = unsafe { (pointers::path(path), string(mode)?) };
    let mode = Mode::from_name(mode).map_err(code)?;
    Ok((path.ok_or(Error::InvalidParam)?, mode))
}

/// The array that a C caller describes.
///
/// # Safety
/// `spec` is NULL or points to a description whose texts are NULL or strings and whose shape has its dimensions.
pub(crate) unsafe fn spec_of(spec: *const bcolz_spec) -> Result<CarraySpec> {
    // SAFETY: promised by the caller.
    let spec = unsafe { pointers::reference(spec) }?;
    let ndim = usize::try_from(spec.ndim).map_err(|_| Error::InvalidParam)?;
    // SAFETY: promised by the caller.
    let (dtype, cname, dflt) =
        unsafe { (string(spec.dtype)?, word(spec.cname)?, word(spec.dflt)?) };
    let number = |number: i64| u64::try_from(number).map_err(|_| Error::InvalidParam);
    let mut row_shape = Vec::new();
    if spec.row_shape.is_null() && ndim > 0 {
        return Err(Error::InvalidParam);
    }
    for dim in 0..ndim {
        // SAFETY: the caller promises `ndim` numbers, and they are not at NULL.
        row_shape.push(number(unsafe { *spec.row_shape.add(dim) })?);
    }
    let small = |number: c_int| u8::try_from(number).map_err(|_| Error::InvalidParam);
    let usual = Cparams::default();
    let parse = |text: &str| Value::parse(text.as_bytes());
    let dflt = dflt.map(parse).transpose();
    Ok(CarraySpec {
        row_shape,
        chunklen: Some(number(spec.chunklen)?).filter(|&rows| rows > 0),
        expectedlen: number(spec.expectedlen)?,
        cparams: Cparams {
            clevel: small(spec.clevel)?,
            shuffle: small(spec.shuffle)?,
            cname: cname.map_or(usual.cname, str::to_owned),
            quantize: u32::try_from(spec.quantize).map_err(|_| Error::InvalidParam)?,
        },
        dflt: dflt.map_err(|error| note(&error, Error::InvalidParam))?,
        ..CarraySpec::new(Dtype::parse(dtype).map_err(code)?)
    })
}

impl bcolz_object {
    fn new(object: Object) -> Result<bcolz_object> {
        let mut object = bcolz_object {
            object,
            names: Vec::new(),
            types: Vec::new(),
        };
        object.name_columns()?;
        Ok(object)
    }

    /// Takes up what the columns are called.
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

    /// An array, or a column of a table.
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

    /// The table.
    pub(crate) fn table(&mut self) -> Result<&mut Ctable> {
        match &mut self.object {
            Object::Ctable(table) => Ok(table),
            Object::Carray(_) => Err(Error::InvalidParam),
        }
    }

    /// The name of a column.
    pub(crate) fn name(&self, column: c_int) -> Result<&str> {
        let column = usize::try_from(column).map_err(|_| Error::InvalidIndex)?;
        let name = self.names.get(column).ok_or(Error::InvalidIndex)?;
        name.to_str().map_err(|_| Error::Data)
    }
}

/// Opens the carray or ctable in the directory `path`. `mode` is "r" to read, "a" to read and write, or
/// "w", which takes all rows of a carray away. Returns NULL when it can't be opened. bcolz_close()
/// frees what is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_open(path: *const c_char, mode: *const c_char) -> *mut bcolz_object {
    boundary!(bcolz_open, {
        // SAFETY: the caller gives two strings.
        let (path, mode) = unsafe { place(path, mode) }?;
        let object = bcolz::open(path, mode, &Options::default()).map_err(code)?;
        Ok(Box::into_raw(Box::new(bcolz_object::new(object)?)))
    })
}

/// Fills in a description: single items of NumPy's type `dtype`, compressed by LZ4 at level 5 behind a byte
/// shuffle, in chunks as bcolz chooses them. `dtype` has to last as long as the description is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_spec_default(spec: *mut bcolz_spec, dtype: *const c_char) -> c_int {
    boundary!(bcolz_spec_default, always, {
        if spec.is_null() || dtype.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: the caller gives room for a description.
        unsafe { pointers::write_if_given(spec, bcolz_spec::of(dtype)) };
        Ok(0)
    })
}

/// Makes a carray without rows in the directory `path`. `mode` is "a", or "w" to replace what is there if it is
/// bcolz's. Returns NULL when it can't be made. bcolz_close() frees what is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_create(
    path: *const c_char,
    mode: *const c_char,
    spec: *const bcolz_spec,
) -> *mut bcolz_object {
    boundary!(bcolz_create, {
        // SAFETY: the caller gives two strings and a description.
        let ((path, mode), spec) = unsafe { (place(path, mode)?, spec_of(spec)?) };
        let array = Carray::create(path, &spec, mode, &Options::default()).map_err(code)?;
        let object = bcolz_object::new(Object::Carray(Box::new(array)))?;
        Ok(Box::into_raw(Box::new(object)))
    })
}

/// Makes a ctable without columns in the directory `path`; bcolz_add_column() adds them. `mode` is "a", or "w" to
/// replace what is there if it is bcolz's. Returns NULL when it can't be made. bcolz_close() frees
/// what is returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_create_ctable(
    path: *const c_char,
    mode: *const c_char,
) -> *mut bcolz_object {
    boundary!(bcolz_create_ctable, {
        // SAFETY: the caller gives two strings.
        let (path, mode) = unsafe { place(path, mode) }?;
        let table = Ctable::create(path, &[], mode, &Options::default()).map_err(code)?;
        let object = bcolz_object::new(Object::Ctable(table))?;
        Ok(Box::into_raw(Box::new(object)))
    })
}

/// Writes what is only in memory and closes; `object` is gone afterwards, also when that fails. Returns 0, or
/// an error code. NULL is nothing to close.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_close(object: *mut bcolz_object) -> c_int {
    boundary!(bcolz_close, always, {
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

/// Lets up to `nthreads` threads read and write the chunks of a carray, or of all columns; one if nobody says so. Returns
/// 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set_threads(object: *mut bcolz_object, nthreads: c_int) -> c_int {
    boundary!(bcolz_set_threads, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference_mut(object) }?;
        if nthreads < 1 {
            return Err(Error::InvalidParam);
        }
        object.object.set_threads(nthreads);
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

/// The name of a column of a ctable, or NULL. It lasts until the object is closed or
/// its columns change. Don't free it.
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

/// The type of the items of a carray or a column, as NumPy writes it, or NULL. It lasts until the
/// object is closed or its columns change. Don't free it.
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

/// The number of rows, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_len(object: *const bcolz_object) -> i64 {
    boundary!(bcolz_len, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        size(object.object.len())
    })
}

/// What there is to know about a carray or a column, as the text of a JSON object for the caller to free, or NULL:
/// "shape", "dtype", "itemsize", "chunklen", "expectedlen", "nbytes", "cbytes" (of its files), "cparams" with "clevel",
/// "shuffle", "cname" and "quantize", and "dflt", which growth fills with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_info(object: *const bcolz_object, column: c_int) -> *mut c_char {
    boundary!(bcolz_info, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        let info = object.array(column)?.to_value().map_err(code)?;
        buffers::c_string(&text(&info.to_spaced_json())?)
    })
}

/// The attributes as the text of a JSON object, for the caller to free, or NULL: those of a column, or of the carray or
/// ctable itself if `column` is -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_attrs(object: *const bcolz_object, column: c_int) -> *mut c_char {
    boundary!(bcolz_attrs, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference(object) }?;
        let attrs = match column {
            -1 => object.object.attrs(),
            column => object.array(column)?.attrs(),
        };
        buffers::c_string(&text(&attrs.to_value().to_spaced_json())?)
    })
}

/// What the last call of this thread failed with, in words: of a function of `bcolz.h` or `bloscpack.h`. The text lasts
/// until the next failure. Don't free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_last_error() -> *const c_char {
    boundary!(bcolz_last_error, unrecorded, { Ok(last_error()) })
}

/// Reads rows of a carray or a column, from row `start` on (a negative number counts from the end), as many as
/// `size` bytes are. Returns 0, or an error code: -33 when there are not so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_read(
    object: *mut bcolz_object,
    column: c_int,
    start: i64,
    dest: *mut c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_read, {
        // SAFETY: the caller gives an open object and `size` writable bytes.
        let (object, dest) = unsafe { (pointers::reference_mut(object)?, bytes_mut(dest, size)?) };
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
