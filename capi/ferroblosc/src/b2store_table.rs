//! Tables of stores: their columns and rows.

use crate::arguments::{self, bytes_mut, clear};
use crate::b2store::{Format, b2store, code, string};
use crate::b2store_data::range;
use crate::handles;
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::buffers;
use ferroblosc_formats::store::{Column, Items, Store, Table, Value};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An open table.
pub struct b2store_table {
    // Borrows from the store, and is dropped before it.
    table: Table<'static>,
    _store: Arc<Store>,
    columns: Vec<Texts>,
}

/// The texts of a column, NUL-terminated: C callers hold pointers into them.
struct Texts {
    name: CString,
    kind: CString,
    /// The form of the values, after it was first requested.
    form: OnceLock<Form>,
}

/// The form of values of a fixed size.
struct Form {
    dtype: CString,
    shape: Vec<i64>,
    row_size: i64,
}

impl Form {
    fn of(items: &Items) -> Result<Form> {
        let extents = items.shape.iter().map(|&extent| i64::try_from(extent));
        let shape: Vec<i64> =
            extents.collect::<std::result::Result<_, _>>().map_err(|_| Error::Data)?;
        let itemsize = i64::try_from(items.dtype.itemsize()).map_err(|_| Error::Data)?;
        let row_size = shape.iter().try_fold(itemsize, |size, &extent| size.checked_mul(extent));
        let dtype = CString::new(items.dtype.text()).map_err(|_| Error::Data)?;
        Ok(Form { dtype, shape, row_size: row_size.ok_or(Error::Data)? })
    }
}

impl b2store_table {
    fn open(store: &Arc<Store>, key: &str) -> Result<b2store_table> {
        let store = Arc::clone(store);
        // SAFETY: the store is in an `Arc` that the handle owns, so that it stays at its address
        // and is dropped after the table.
        let lent: &'static Store = unsafe { &*Arc::as_ptr(&store) };
        let table = lent.table(key).map_err(code)?;
        let text = |text: &str| {
            CString::new(text).map_err(|_| Error::Data.because("a name contains a NUL"))
        };
        let texts = |column: &Column| {
            let (name, kind) = (text(&column.name)?, text(column.kind.name())?);
            Ok(Texts { name, kind, form: OnceLock::new() })
        };
        let columns = table.schema().columns.iter().map(texts).collect::<Result<_>>()?;
        Ok(b2store_table { table, _store: store, columns })
    }

    /// Returns the number of a column for Rust.
    fn number(&self, column: c_int) -> Result<usize> {
        let number = usize::try_from(column).ok().filter(|&number| number < self.columns.len());
        number.ok_or_else(|| {
            let text = format!("there is no column {column}: the table has {}", self.columns.len());
            Error::InvalidIndex.because(text)
        })
    }

    fn column(&self, column: c_int) -> Result<&Column> {
        let number = self.number(column)?;
        self.table.schema().columns.get(number).ok_or(Error::InvalidIndex)
    }

    fn form(&self, column: c_int) -> Result<&Form> {
        let texts = &self.columns[self.number(column)?];
        if let Some(form) = texts.form.get() {
            return Ok(form);
        }
        let items = self.table.items(&self.column(column)?.name, 0..0).map_err(code)?;
        let form = Form::of(&items)?;
        Ok(texts.form.get_or_init(|| form))
    }

    /// Returns the values of rows of a column.
    fn values(&self, column: c_int, rows: Range<u64>) -> Result<Vec<Value>> {
        self.table.values(&self.column(column)?.name, rows).map_err(code)
    }
}

/// Opens a table. It is valid after the store was closed.
///
/// - `store`: the store.
/// - `key`: the key of the table.
///
/// Returns the table, which the caller closes with b2store_table_close(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_open_table(
    store: *const b2store,
    key: *const c_char,
) -> *mut b2store_table {
    boundary!(b2store_open_table, {
        // SAFETY: the caller passes a store and a string, or NULL.
        let (store, key) = unsafe { (handles::get(store)?, string(key)?) };
        Ok(handles::open(b2store_table::open(&store.store, key)?))
    })
}

/// Closes a table.
///
/// - `table`: the table, or NULL to do nothing.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if it is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_close(table: *mut b2store_table) -> c_int {
    boundary!(b2store_table_close, always, {
        // SAFETY: the caller passes a table that no other thread uses, or NULL.
        drop(unsafe { handles::close(table) }?);
        Ok(0)
    })
}

/// Returns the number of rows, without deleted ones, or a negative error code.
///
/// - `table`: the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_len(table: *const b2store_table) -> i64 {
    boundary!(b2store_table_len, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        arguments::size(table.table.len())
    })
}

/// Returns the number of columns with stored values, or a negative error code. The columns are
/// numbered from 0. Computed columns are only in the schema.
///
/// - `table`: the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_ncolumns(table: *const b2store_table) -> c_int {
    boundary!(b2store_table_ncolumns, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        c_int::try_from(table.columns.len()).map_err(|_| Error::Data)
    })
}

/// Returns the number of the column with a name, or a negative error code: BLOSC2_ERROR_NOT_FOUND
/// if there is none.
///
/// - `table`: the table.
/// - `name`: the name of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_find(
    table: *const b2store_table,
    name: *const c_char,
) -> c_int {
    boundary!(b2store_table_find, {
        // SAFETY: the caller passes a table and a string, or NULL.
        let (table, name) = unsafe { (handles::get(table)?, string(name)?) };
        let number = table.table.schema().columns.iter().position(|column| column.name == name);
        let number = number
            .ok_or_else(|| Error::NotFound.because(format!("there is no column {name:?}")))?;
        c_int::try_from(number).map_err(|_| Error::Data)
    })
}

/// Returns the name of a column, or NULL on error. The table owns the text: it is valid until the
/// table is closed. Dots separate the parts of nested names.
///
/// - `table`: the table.
/// - `column`: the number of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_name(
    table: *const b2store_table,
    column: c_int,
) -> *const c_char {
    boundary!(b2store_table_name, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        Ok(table.columns[table.number(column)?].name.as_ptr())
    })
}

/// Returns the kind of a column in the schema, such as "int64", "timestamp", "utf8" or
/// "dictionary", or NULL on error. The table owns the text: it is valid until the table is closed.
///
/// - `table`: the table.
/// - `column`: the number of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_kind(
    table: *const b2store_table,
    column: c_int,
) -> *const c_char {
    boundary!(b2store_table_kind, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        Ok(table.columns[table.number(column)?].kind.as_ptr())
    })
}

/// Checks whether a column can contain nulls.
///
/// - `table`: the table.
/// - `column`: the number of the column.
///
/// Returns 1 if it can, 0 if it cannot, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_nullable(
    table: *const b2store_table,
    column: c_int,
) -> c_int {
    boundary!(b2store_table_nullable, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        Ok(table.column(column)?.nullable.into())
    })
}

/// Returns the schema of a table as a JSON object, with the unit of times, the limits and defaults
/// of columns and the computed columns; NULL on error. The caller releases the text with free().
///
/// - `table`: the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_schema(table: *const b2store_table) -> *mut c_char {
    boundary!(b2store_table_schema, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        // JSON escapes NULs.
        let text = CString::new(table.table.schema().json.to_json()).map_err(|_| Error::Data)?;
        buffers::c_string(&text)
    })
}

/// Returns the type of the items of a column with values of a fixed size, in NumPy's notation, or
/// NULL on error. Those of a dictionary are the codes. The table owns the text: it is valid until
/// the table is closed.
///
/// - `table`: the table.
/// - `column`: the number of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_dtype(
    table: *const b2store_table,
    column: c_int,
) -> *const c_char {
    boundary!(b2store_table_dtype, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        Ok(table.form(column)?.dtype.as_ptr())
    })
}

/// Copies the shape of the array in each row of a column with values of a fixed size.
///
/// - `table`: the table.
/// - `column`: the number of the column.
/// - `shape`: the destination, or NULL to only get the number of dimensions.
/// - `room`: the capacity of `shape` in items. Further dimensions are not stored.
///
/// Returns the number of dimensions, 0 for single items, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_item_shape(
    table: *const b2store_table,
    column: c_int,
    shape: *mut i64,
    room: c_int,
) -> c_int {
    boundary!(b2store_table_item_shape, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        let room = usize::try_from(room).map_err(|_| Error::InvalidParam)?;
        let extents = &table.form(column)?.shape;
        if !shape.is_null() {
            for (at, &extent) in extents.iter().enumerate().take(room) {
                // SAFETY: not NULL; the caller passes `room` writable numbers.
                unsafe { shape.add(at).write(extent) };
            }
        }
        c_int::try_from(extents.len()).map_err(|_| Error::Data)
    })
}

/// Returns the size of a row of a column with values of a fixed size in bytes, or a negative error
/// code.
///
/// - `table`: the table.
/// - `column`: the number of the column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_row_size(table: *const b2store_table, column: c_int) -> i64 {
    boundary!(b2store_table_row_size, {
        // SAFETY: the caller passes a table or NULL.
        let table = unsafe { handles::get(table) }?;
        Ok(table.form(column)?.row_size)
    })
}

/// Stores for each row whether it is not null.
///
/// # Errors
/// [`Error::InvalidParam`] if there is a null, and no destination for it.
///
/// # Safety
/// `dest` is NULL or writable for a byte for each row.
unsafe fn write_valid(valid: impl ExactSizeIterator<Item = bool>, dest: *mut u8) -> Result<()> {
    for (row, is_valid) in valid.enumerate() {
        if !dest.is_null() {
            // SAFETY: not NULL; the caller guarantees a byte for each row.
            unsafe { dest.add(row).write(is_valid.into()) };
        } else if !is_valid {
            let text = format!("row {row} of the range is null, but the array of nulls is NULL");
            return Err(Error::InvalidParam.because(text));
        }
    }
    Ok(())
}

/// Reads consecutive rows of a column with values of a fixed size: numbers, booleans, times,
/// arrays, `string` and `bytes`, and the codes of a dictionary.
///
/// - `table`: the table.
/// - `column`: the number of the column.
/// - `start`: the number of the first row, at least 0.
/// - `nrows`: the number of rows, at least 0.
/// - `dest`: the destination, owned by the caller, in the type of b2store_table_dtype(). The values
///   of nulls have no meaning.
/// - `size`: the size of `dest` in bytes: `nrows` times b2store_table_row_size().
/// - `valid`: receives a byte for each row: 0 for a null, 1 otherwise. With NULL, a null in the
///   rows is an error.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_INDEX if the rows are out of range,
/// BLOSC2_ERROR_MEMORY_ALLOC if they need more than 1 GiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_read(
    table: *const b2store_table,
    column: c_int,
    start: i64,
    nrows: i64,
    dest: *mut c_void,
    size: usize,
    valid: *mut u8,
) -> c_int {
    boundary!(b2store_table_read, {
        // SAFETY: the caller passes a table and a buffer of `size` bytes, or NULL.
        let (table, dest) = unsafe { (handles::get(table)?, bytes_mut(dest, size)?) };
        let needed = i128::from(table.form(column)?.row_size) * i128::from(nrows);
        if nrows >= 0 && needed != size as i128 {
            let text = format!("the rows have {needed} bytes, the destination has {size}");
            return Err(Error::InvalidParam.because(text));
        }
        let name = &table.column(column)?.name;
        let items = table.table.items(name, range(start, nrows)?).map_err(code)?;
        let count = usize::try_from(nrows).map_err(|_| Error::InvalidIndex)?;
        let mask = (0..count).map(|row| items.valid.as_ref().is_none_or(|valid| valid[row]));
        // SAFETY: the caller passes `nrows` writable bytes or NULL.
        unsafe { write_valid(mask, valid) }?;
        if items.bytes.len() != dest.len() {
            return Err(Error::Data);
        }
        dest.copy_from_slice(&items.bytes);
        Ok(0)
    })
}

/// Reads consecutive rows of a column with texts or bytes: `string`, `bytes`, `utf8`, `vlstring`,
/// `vlbytes` and `dictionary`. Texts are in UTF-8, without a NUL at their end.
///
/// - `table`: the table.
/// - `column`: the number of the column.
/// - `start`: the number of the first row, at least 0.
/// - `nrows`: the number of rows, at least 0.
/// - `offsets`: receives `nrows` + 1 numbers: the value of row `i` has the bytes from `offsets[i]`
///   to before `offsets[i + 1]`. Nulls have no bytes.
/// - `content`: receives the address of the bytes of all rows, which the caller releases with
///   free(); NULL on error.
/// - `valid`: receives a byte for each row: 0 for a null, 1 otherwise. With NULL, a null in the
///   rows is an error.
///
/// Returns the number of bytes, or a negative error code of b2store_table_read().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_read_texts(
    table: *const b2store_table,
    column: c_int,
    start: i64,
    nrows: i64,
    offsets: *mut i64,
    content: *mut *mut c_void,
    valid: *mut u8,
) -> i64 {
    boundary!(b2store_table_read_texts, {
        // SAFETY: the caller passes a table and a writable pointer, or NULL.
        let table = unsafe {
            clear(content);
            handles::get(table)?
        };
        if offsets.is_null() || content.is_null() {
            return Err(Error::InvalidParam.because("a destination is NULL"));
        }
        let Column { name, kind, .. } = table.column(column)?;
        if !kind.has_texts() {
            let text = format!("a column of kind {:?} has neither texts nor bytes", kind.name());
            return Err(Error::InvalidParam.because(text));
        }
        let texts = table.table.texts(name, range(start, nrows)?).map_err(code)?;
        if i64::try_from(texts.len()) != Ok(nrows) {
            return Err(Error::Data);
        }
        let mask = (0..texts.len()).map(|row| texts.valid.as_ref().is_none_or(|valid| valid[row]));
        let buffer = Buffer::copy_of(&texts.bytes)?;
        // SAFETY: the caller passes `nrows` writable bytes or NULL, `nrows` + 1 writable numbers,
        // and a writable pointer, neither of them NULL. There are `nrows` texts.
        unsafe {
            write_valid(mask, valid)?;
            for (row, &offset) in texts.offsets.iter().enumerate() {
                offsets.add(row).write(offset as i64);
            }
            content.write(buffer.into_raw().cast());
        }
        Ok(texts.bytes.len() as i64)
    })
}

/// Gets consecutive rows of a column of any kind as a list. Nulls are `null` or nil, times are
/// ticks since 1970.
///
/// - `table`: the table.
/// - `column`: the number of the column.
/// - `start`: the number of the first row, at least 0.
/// - `nrows`: the number of rows, at least 0.
/// - `format`: B2STORE_JSON or B2STORE_MSGPACK.
/// - `content`: receives the address of the list, which the caller releases with free(); NULL on
///   error.
///
/// Returns the size of the list in bytes, or a negative error code of b2store_table_read().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2store_table_read_values(
    table: *const b2store_table,
    column: c_int,
    start: i64,
    nrows: i64,
    format: c_int,
    content: *mut *mut c_void,
) -> i64 {
    boundary!(b2store_table_read_values, {
        // SAFETY: the caller passes a table and a writable pointer, or NULL.
        unsafe {
            clear(content);
            let (table, format) = (handles::get(table)?, Format::of(format)?);
            let values = table.values(column, range(start, nrows)?)?;
            format.write(&Value::List(values), content)
        }
    })
}
