//! Arrays and tables of bcolz: changes.

use crate::arguments::bytes;
use crate::arguments::note;
use crate::bcolz::{bcolz_object, code, spec_of, string};
use crate::bcolz_spec::bcolz_spec;
use ferroblosc::bcolz::{Carray, Object};
use ferroblosc::bloscpack::Value;
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers;
use std::ffi::{c_char, c_int, c_void};

/// Appends rows to a carray: `size` bytes. They are on the disk when bcolz_flush() or bcolz_close() returned 0.
/// Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_append(
    object: *mut bcolz_object,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_append, {
        // SAFETY: the caller gives an open object and `size` readable bytes.
        let (object, rows) = unsafe { (pointers::reference_mut(object)?, bytes(rows, size)?) };
        match &mut object.object {
            Object::Carray(array) => array.append(rows).map_err(code)?,
            Object::Ctable(_) => return Err(Error::InvalidParam),
        }
        Ok(0)
    })
}

/// Appends `nrows` rows to a ctable, given as a pointer to the rows of each column, in the order of the columns. They
/// are on the disk afterwards. A failure leaves the rows there were in all columns. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_append_columns(
    object: *mut bcolz_object,
    columns: *const *const c_void,
    nrows: i64,
) -> c_int {
    boundary!(bcolz_append_columns, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference_mut(object) }?;
        let nrows = u64::try_from(nrows).map_err(|_| Error::InvalidParam)?;
        let ncolumns = object.table()?.names().count();
        if columns.is_null() && ncolumns > 0 {
            return Err(Error::InvalidParam);
        }
        let mut rows = Vec::new();
        for column in 0..ncolumns {
            let number = c_int::try_from(column).map_err(|_| Error::InvalidParam)?;
            let size = nrows.checked_mul(object.array(number)?.row_bytes());
            let size = size.and_then(|size| usize::try_from(size).ok());
            let size = size.ok_or(Error::InvalidParam)?;
            // SAFETY: the caller gives a pointer for each column, to as many rows.
            rows.push(unsafe { bytes(*columns.add(column), size) }?);
        }
        object.table()?.append(&rows).map_err(code)?;
        Ok(0)
    })
}

/// Writes over rows of a carray or a column, from row `start` on (a negative number counts from the end): `size` bytes.
/// Returns 0, or an error code: -33 when there are not so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set(
    object: *mut bcolz_object,
    column: c_int,
    start: i64,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_set, {
        // SAFETY: the caller gives an open object and `size` readable bytes.
        let (object, rows) = unsafe { (pointers::reference_mut(object)?, bytes(rows, size)?) };
        if rows.is_empty() {
            return Ok(0);
        }
        let start = object.array(column)?.row_number(start).map_err(code)?;
        let name = object.name(column).unwrap_or_default().to_owned();
        match &mut object.object {
            Object::Carray(array) => array.set(start, rows),
            Object::Ctable(table) => table.set(&name, start, rows),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Takes `nrows` rows away from the end. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_trim(object: *mut bcolz_object, nrows: i64) -> c_int {
    boundary!(bcolz_trim, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference_mut(object) }?;
        let nrows = u64::try_from(nrows).map_err(|_| Error::InvalidParam)?;
        match &mut object.object {
            Object::Carray(array) => array.trim(nrows),
            Object::Ctable(table) => table.trim(nrows),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Makes it `nrows` rows long: takes rows away, or fills new ones with the fill value. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_resize(object: *mut bcolz_object, nrows: i64) -> c_int {
    boundary!(bcolz_resize, {
        // SAFETY: the caller gives an open object.
        let object = unsafe { pointers::reference_mut(object) }?;
        let nrows = u64::try_from(nrows).map_err(|_| Error::InvalidParam)?;
        match &mut object.object {
            Object::Carray(array) => array.resize(nrows),
            Object::Ctable(table) => table.resize(nrows),
        }
        .map_err(code)?;
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

/// Adds a column to a ctable, in front of column `at`, or behind all if that is -1. Its rows are the `size` bytes at `rows`, as
/// many as the table has unless it is the first column; or, if `rows` is NULL, the fill value. What bcolz_column_name()
/// and bcolz_dtype() returned is gone then. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_add_column(
    object: *mut bcolz_object,
    name: *const c_char,
    spec: *const bcolz_spec,
    at: c_int,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_add_column, {
        // SAFETY: the caller gives an open object, a string, a description and `size` readable bytes.
        let (object, name, spec) = unsafe {
            (
                pointers::reference_mut(object)?,
                string(name)?,
                spec_of(spec)?,
            )
        };
        let at = match at {
            -1 => None,
            at => Some(usize::try_from(at).map_err(|_| Error::InvalidParam)?),
        };
        let given = match rows.is_null() {
            true => None,
            // SAFETY: the caller gives `size` readable bytes.
            false => Some(unsafe { bytes(rows, size) }?),
        };
        let table = object.table()?;
        let len = table.len();
        let fill = |array: &mut Carray| match given {
            Some(rows) => array.append(rows),
            None => array.resize(len),
        };
        table.add_column(name, &spec, at, fill).map_err(code)?;
        object.name_columns()?;
        Ok(0)
    })
}

/// Takes a column out of a ctable, and removes its directory unless `keep` is not 0. What bcolz_column_name() and
/// bcolz_dtype() returned is gone then. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_remove_column(
    object: *mut bcolz_object,
    name: *const c_char,
    keep: c_int,
) -> c_int {
    boundary!(bcolz_remove_column, {
        // SAFETY: the caller gives an open object and a string.
        let (object, name) = unsafe { (pointers::reference_mut(object)?, string(name)?) };
        object
            .table()?
            .remove_column(name, keep != 0)
            .map_err(code)?;
        object.name_columns()?;
        Ok(0)
    })
}

/// Gives a column of a ctable another name. What bcolz_column_name() and bcolz_dtype() returned is gone then. Returns 0,
/// or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_rename_column(
    object: *mut bcolz_object,
    from: *const c_char,
    to: *const c_char,
) -> c_int {
    boundary!(bcolz_rename_column, {
        // SAFETY: the caller gives an open object and two strings.
        let (object, from, to) =
            unsafe { (pointers::reference_mut(object)?, string(from)?, string(to)?) };
        object.table()?.rename_column(from, to).map_err(code)?;
        object.name_columns()?;
        Ok(0)
    })
}

/// Puts a value, the text of any JSON, under a name among the attributes: of a column, or of the carray or ctable itself
/// if `column` is -1. It is on the disk afterwards. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set_attr(
    object: *mut bcolz_object,
    column: c_int,
    name: *const c_char,
    json: *const c_char,
) -> c_int {
    boundary!(bcolz_set_attr, {
        // SAFETY: the caller gives an open object and two strings.
        let (object, name, json) = unsafe {
            (
                pointers::reference_mut(object)?,
                string(name)?,
                string(json)?,
            )
        };
        let value = Value::parse(json.as_bytes());
        let value = value.map_err(|error| note(&error, Error::InvalidParam))?;
        let column = column_name(object, column)?;
        match (&mut object.object, column) {
            (Object::Carray(array), _) => array.set_attr(name, value),
            (Object::Ctable(table), None) => table.set_attr(name, value),
            (Object::Ctable(table), Some(column)) => table.set_column_attr(&column, name, value),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Takes an attribute away: of a column, or of the carray or ctable itself if `column` is -1. Returns 1, or 0 when there
/// was none, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_remove_attr(
    object: *mut bcolz_object,
    column: c_int,
    name: *const c_char,
) -> c_int {
    boundary!(bcolz_remove_attr, {
        // SAFETY: the caller gives an open object and a string.
        let (object, name) = unsafe { (pointers::reference_mut(object)?, string(name)?) };
        let column = column_name(object, column)?;
        let removed = match (&mut object.object, column) {
            (Object::Carray(array), _) => array.remove_attr(name),
            (Object::Ctable(table), None) => table.remove_attr(name),
            (Object::Ctable(table), Some(column)) => table.remove_column_attr(&column, name),
        };
        Ok(removed.map_err(code)?.into())
    })
}

/// The column of a table that is meant, or none for the object itself.
fn column_name(object: &bcolz_object, column: c_int) -> Result<Option<String>> {
    match (&object.object, column) {
        (_, -1) | (Object::Carray(_), 0) => Ok(None),
        (Object::Carray(_), _) => Err(Error::InvalidIndex),
        (Object::Ctable(_), column) => object.name(column).map(|name| Some(name.to_owned())),
    }
}
