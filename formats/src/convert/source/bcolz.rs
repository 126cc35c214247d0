//! Reads carrays, and ctables as arrays of records.

use std::path::Path;

use super::super::error::{Error, Result};
use super::interface::{Content, Reading, Source, by_items, check_range, read_size_of};
use crate::bcolz::{Carray, Ctable, Mode, Object, Options};
use crate::numpy::{ArrayInfo, Dtype, Literal};

fn options(reading: &Reading) -> Options {
    Options { nthreads: reading.threads().into(), ..Options::default() }
}

/// The rows of a carray.
pub struct Rows {
    array: Carray,
    content: Content,
}

impl Rows {
    pub fn open(path: &Path, reading: &Reading) -> Result<Rows> {
        Rows::of(Carray::open(path, Mode::Read, &options(reading))?)
    }

    fn of(array: Carray) -> Result<Rows> {
        let info = array.info()?;
        let unit = array.chunklen().saturating_mul(array.row_bytes());
        let content = Content {
            typesize: info.dtype.itemsize(),
            nbytes: info.nbytes()?,
            array: Some(info),
            read_size: read_size_of(unit),
        };
        Ok(Rows { array, content })
    }
}

impl Source for Rows {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let row_bytes = self.array.row_bytes();
        by_items(row_bytes, position, dest, |row, rows| Ok(self.array.read_into(row, rows)?))
    }
}

/// Opens a table, or its requested column.
pub fn open_table(path: &Path, reading: &Reading) -> Result<Box<dyn Source>> {
    let options = options(reading);
    let table = Ctable::open(path, Mode::Read, &options)?;
    let Some(column) = &reading.column else {
        return Ok(Box::new(Records::of(table)?));
    };
    let mut object = table.column(column.split('/').next().unwrap_or_default())?;
    for name in column.split('/').skip(1) {
        object = match object {
            Object::Ctable(inner) => inner.column(name)?,
            Object::Carray(_) => {
                return Err(crate::bcolz::Error::NoSuchColumn(column.clone()).into());
            }
        };
    }
    match object {
        Object::Carray(array) => {
            let root = array.root().to_owned();
            Ok(Box::new(Rows::open(&root, &Reading { column: None, ..reading.clone() })?))
        }
        Object::Ctable(_) => Err(Error::Nested(column.clone())),
    }
}

/// The location of a column in a record.
struct Column {
    name: String,
    /// The offset in the record, in bytes.
    offset: usize,
    /// The size in bytes.
    size: usize,
}

/// The rows of a table as records.
struct Records {
    table: Ctable,
    columns: Vec<Column>,
    content: Content,
}

impl Records {
    fn of(table: Ctable) -> Result<Records> {
        let mut fields = Vec::new();
        let mut columns = Vec::new();
        let mut offset = 0;
        let names: Vec<String> = table.names().map(str::to_owned).collect();
        for name in names {
            let Object::Carray(array) = table.column(&name)? else {
                return Err(Error::Nested(name));
            };
            if array.dtype().has_objects() {
                return Err(crate::bcolz::Error::Objects.into());
            }
            let size =
                usize::try_from(array.row_bytes()).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
            let mut field = vec![Literal::Text(name.clone()), array.dtype().description()];
            if !array.row_shape().is_empty() {
                let shape = array.row_shape().iter().map(|&len| Literal::Int(len)).collect();
                field.push(Literal::Tuple(shape));
            }
            fields.push(Literal::Tuple(field));
            columns.push(Column { name, offset, size });
            offset += size;
        }
        let dtype = Dtype::of(&Literal::List(fields))?;
        let info = ArrayInfo { dtype, shape: vec![table.len()], fortran_order: false };
        let content = Content {
            typesize: info.dtype.itemsize(),
            nbytes: info.nbytes()?,
            array: Some(info),
            read_size: read_size_of(offset as u64),
        };
        Ok(Records { table, columns, content })
    }
}

impl Source for Records {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let record = self.content.typesize;
        let mut values = Vec::new();
        by_items(record, position, dest, |row, rows| {
            let size = record as usize;
            for column in &self.columns {
                if column.size == 0 {
                    continue;
                }
                values.resize(rows.len() / size * column.size, 0);
                self.table.read_into(&column.name, row, &mut values)?;
                for (record, value) in
                    rows.chunks_exact_mut(size).zip(values.chunks_exact(column.size))
                {
                    record[column.offset..column.offset + column.size].copy_from_slice(value);
                }
            }
            Ok(())
        })
    }
}
