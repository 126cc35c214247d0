//! bcolz arrays and tables: modification.

use crate::arguments::bytes;
use crate::arguments::note;
use crate::bcolz::{bcolz_object, code, spec_of, string};
use crate::bcolz_spec::bcolz_spec;
use crate::handles;
use ferroblosc::{Error, Result};
use ferroblosc_formats::bcolz::{Carray, Object};
use ferroblosc_formats::bloscpack::Value;
use std::ffi::{c_char, c_int, c_void};

/// Appends rows to a carray. They are on disk after bcolz_flush() or bcolz_close() returned 0.
///
/// - `object`: the carray.
/// - `rows`: the rows.
/// - `size`: the size of `rows` in bytes, a multiple of bcolz_row_bytes().
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_append(
    object: *mut bcolz_object,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_append, noted, {
        // SAFETY: the caller passes an open object and `size` readable bytes, or NULL.
        let (object, rows) = unsafe { (handles::get_mut(object)?, bytes(rows, size)?) };
        match &mut object.object {
            Object::Carray(array) => array.append(rows).map_err(code)?,
            Object::Ctable(_) => return Err(Error::InvalidParam),
        }
        Ok(0)
    })
}

/// Appends rows to a ctable and writes them to disk. On failure all columns keep their previous
/// rows.
///
/// - `object`: the ctable.
/// - `columns`: one pointer per column, in the order of the columns, to `nrows` rows of that
///   column.
/// - `nrows`: the number of rows.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_append_columns(
    object: *mut bcolz_object,
    columns: *const *const c_void,
    nrows: i64,
) -> c_int {
    boundary!(bcolz_append_columns, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get_mut(object) }?;
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
            // SAFETY: not NULL; the caller passes one pointer per column, each to `nrows` rows or
            // NULL.
            rows.push(unsafe { bytes(*columns.add(column), size) }?);
        }
        object.table()?.append(&rows).map_err(code)?;
        Ok(0)
    })
}

/// Overwrites consecutive rows of a carray or a column. Rows of an incomplete last chunk are on disk
/// after bcolz_flush() or bcolz_close() returned 0, others after this call.
///
/// - `object`: the object.
/// - `column`: the number of the column, 0 for a carray.
/// - `start`: the index of the first row. Negative indices count from the end.
/// - `rows`: the new rows.
/// - `size`: the size of `rows` in bytes, a multiple of bcolz_row_bytes().
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX (-33) if the rows are out of
/// range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set(
    object: *mut bcolz_object,
    column: c_int,
    start: i64,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_set, noted, {
        // SAFETY: the caller passes an open object and `size` readable bytes, or NULL.
        let (object, rows) = unsafe { (handles::get_mut(object)?, bytes(rows, size)?) };
        let array = object.array(column)?;
        if rows.is_empty() {
            return Ok(0);
        }
        let start = array.row_number(start).map_err(code)?;
        let name = object.name(column).unwrap_or_default().to_owned();
        match &mut object.object {
            Object::Carray(array) => array.set(start, rows),
            Object::Ctable(table) => table.set(&name, start, rows),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Removes rows from the end.
///
/// - `object`: the object.
/// - `nrows`: the number of rows to remove.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_trim(object: *mut bcolz_object, nrows: i64) -> c_int {
    boundary!(bcolz_trim, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get_mut(object) }?;
        let nrows = u64::try_from(nrows).map_err(|_| Error::InvalidParam)?;
        match &mut object.object {
            Object::Carray(array) => array.trim(nrows),
            Object::Ctable(table) => table.trim(nrows),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Changes the number of rows. Added rows have the fill value.
///
/// - `object`: the object.
/// - `nrows`: the new number of rows.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_FILE_WRITE (-14) if the new chunks need more
/// than the free space of the file system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_resize(object: *mut bcolz_object, nrows: i64) -> c_int {
    boundary!(bcolz_resize, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get_mut(object) }?;
        let nrows = u64::try_from(nrows).map_err(|_| Error::InvalidParam)?;
        match &mut object.object {
            Object::Carray(array) => array.resize(nrows),
            Object::Ctable(table) => table.resize(nrows),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Writes buffered rows to disk. Does nothing for objects opened for reading.
///
/// - `object`: the object.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_flush(object: *mut bcolz_object) -> c_int {
    boundary!(bcolz_flush, noted, {
        // SAFETY: the caller passes an open object or NULL.
        let object = unsafe { handles::get_mut(object) }?;
        match &mut object.object {
            Object::Carray(array) => array.flush(),
            Object::Ctable(table) => table.flush(),
        }
        .map_err(code)?;
        Ok(0)
    })
}

/// Adds a column to a ctable. Invalidates the texts returned by bcolz_column_name() and
/// bcolz_dtype().
///
/// - `object`: the ctable.
/// - `name`: the name of the column.
/// - `spec`: the description of the column.
/// - `at`: the number of the existing column to insert before, or -1 to add the column at the end.
/// - `rows`: the rows of the column, as many as the ctable has (any number for its first column),
///   or NULL to fill the column with the fill value.
/// - `size`: the size of `rows` in bytes.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_add_column(
    object: *mut bcolz_object,
    name: *const c_char,
    spec: *const bcolz_spec,
    at: c_int,
    rows: *const c_void,
    size: usize,
) -> c_int {
    boundary!(bcolz_add_column, noted, {
        // SAFETY: the caller passes an open object, a string and a description, or NULL.
        let (object, name, spec) =
            unsafe { (handles::get_mut(object)?, string(name)?, spec_of(spec)?) };
        let at = match at {
            -1 => None,
            at => Some(usize::try_from(at).map_err(|_| Error::InvalidParam)?),
        };
        let given = if rows.is_null() {
            None
        } else {
            // SAFETY: the caller passes `size` readable bytes.
            Some(unsafe { bytes(rows, size) }?)
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

/// Removes a column from a ctable. Invalidates the texts returned by bcolz_column_name() and
/// bcolz_dtype().
///
/// - `object`: the ctable.
/// - `name`: the name of the column.
/// - `keep`: 0 to delete the directory of the column; otherwise it is kept.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_remove_column(
    object: *mut bcolz_object,
    name: *const c_char,
    keep: c_int,
) -> c_int {
    boundary!(bcolz_remove_column, noted, {
        // SAFETY: the caller passes an open object and a string, or NULL.
        let (object, name) = unsafe { (handles::get_mut(object)?, string(name)?) };
        object.table()?.remove_column(name, keep != 0).map_err(code)?;
        object.name_columns()?;
        Ok(0)
    })
}

/// Renames a column of a ctable. Invalidates the texts returned by bcolz_column_name() and
/// bcolz_dtype().
///
/// - `object`: the ctable.
/// - `from`: the current name.
/// - `to`: the new name.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_rename_column(
    object: *mut bcolz_object,
    from: *const c_char,
    to: *const c_char,
) -> c_int {
    boundary!(bcolz_rename_column, noted, {
        // SAFETY: the caller passes an open object and two strings, or NULL.
        let (object, from, to) = unsafe { (handles::get_mut(object)?, string(from)?, string(to)?) };
        object.table()?.rename_column(from, to).map_err(code)?;
        object.name_columns()?;
        Ok(0)
    })
}

/// Sets an attribute and writes it to disk.
///
/// - `object`: the object.
/// - `column`: the number of the column, or -1 for an attribute of the carray or ctable itself.
/// - `name`: the name of the attribute.
/// - `json`: the value as JSON.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_set_attr(
    object: *mut bcolz_object,
    column: c_int,
    name: *const c_char,
    json: *const c_char,
) -> c_int {
    boundary!(bcolz_set_attr, noted, {
        // SAFETY: the caller passes an open object and two strings, or NULL.
        let (object, name, json) =
            unsafe { (handles::get_mut(object)?, string(name)?, string(json)?) };
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

/// Removes an attribute.
///
/// - `object`: the object.
/// - `column`: the number of the column, or -1 for an attribute of the carray or ctable itself.
/// - `name`: the name of the attribute.
///
/// Returns 1, 0 if there was no such attribute, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_remove_attr(
    object: *mut bcolz_object,
    column: c_int,
    name: *const c_char,
) -> c_int {
    boundary!(bcolz_remove_attr, noted, {
        // SAFETY: the caller passes an open object and a string, or NULL.
        let (object, name) = unsafe { (handles::get_mut(object)?, string(name)?) };
        let column = column_name(object, column)?;
        let removed = match (&mut object.object, column) {
            (Object::Carray(array), _) => array.remove_attr(name),
            (Object::Ctable(table), None) => table.remove_attr(name),
            (Object::Ctable(table), Some(column)) => table.remove_column_attr(&column, name),
        };
        Ok(removed.map_err(code)?.into())
    })
}

/// Returns the name of a column of a table, or `None` for the object itself.
fn column_name(object: &bcolz_object, column: c_int) -> Result<Option<String>> {
    match (&object.object, column) {
        (_, -1) | (Object::Carray(_), 0) => Ok(None),
        (Object::Carray(_), _) => Err(Error::InvalidIndex),
        (Object::Ctable(_), column) => object.name(column).map(|name| Some(name.to_owned())),
    }
}
