//! A field of an array of records, as an array.

use crate::error::Failure;
use crate::io::{Input, temporary_folder};
use ferroblosc::io::named::NamedFile;
use ferroblosc_formats::convert::{self, Compression, Content, Detected, Format, Reading, Source};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, Kind, npy_header};
use ferroblosc_tools_common::progress::bar;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The size of the output buffer in bytes.
const BUFFER: usize = 256 << 10;
/// The number of bytes of records that are read at once, unless a record is larger.
const BATCH: u64 = 1 << 20;

/// A field of the records of a source.
struct FieldSource {
    records: Box<dyn Source>,
    content: Content,
    /// The size of a record, and the offset and the size of the field in it, in bytes.
    record: u64,
    offset: u64,
    size: u64,
}

impl Source for FieldSource {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> convert::Result<()> {
        let mut rest = dest;
        let mut number = position.checked_div(self.size).unwrap_or(0);
        let mut skip = (position - number * self.size) as usize;
        let batch = (BATCH / self.record).max(1);
        let mut bytes = Vec::new();
        while !rest.is_empty() {
            let needed = ((skip + rest.len()) as u64).div_ceil(self.size);
            let count = needed.min(batch);
            bytes.resize((count * self.record) as usize, 0);
            self.records.read(number * self.record, &mut bytes)?;
            for record in bytes.chunks_exact(self.record as usize) {
                let field = &record[self.offset as usize..][..self.size as usize];
                let field = &field[skip..];
                skip = 0;
                let (part, others) = rest.split_at_mut(field.len().min(rest.len()));
                part.copy_from_slice(&field[..part.len()]);
                rest = others;
            }
            number += count;
        }
        Ok(())
    }
}

/// Finds a field by its name, or `A/B` for the field B of the field A. Returns its offset, its type
/// and its shape.
fn find(dtype: &Dtype, name: &str) -> Option<(u64, Dtype, Vec<u64>)> {
    if let Some(field) = dtype.fields().iter().find(|field| field.name == name) {
        return Some((field.offset, field.dtype.clone(), field.shape.clone()));
    }
    let (outer, inner) = name.split_once('/')?;
    let outer =
        dtype.fields().iter().find(|field| field.name == outer && field.shape.is_empty())?;
    let (offset, dtype, shape) = find(&outer.dtype, inner)?;
    Some((outer.offset + offset, dtype, shape))
}

/// Opens data. `column` selects a column of a table, or a field of an array of records.
pub fn open(
    path: &Path,
    found: &Detected,
    column: Option<&str>,
    nthreads: usize,
) -> Result<Box<dyn Source>, Failure> {
    let is_table = found.format == Format::Ctable;
    let of_table = column.filter(|_| is_table).map(str::to_owned);
    let mut reading = Reading::with_threads(nthreads);
    reading.column = of_table;
    let source = convert::open_as(path, found, &reading)?;
    match column {
        Some(name) if !is_table => select(source, name),
        _ => Ok(source),
    }
}

/// A field of an array of records as a temporary `.npy` file.
pub struct Extracted {
    pub input: Input,
    /// The compression parameters of the records.
    pub params: Option<Compression>,
    /// Descriptions of the metadata of the records, which are not those of the field.
    pub lost: Vec<String>,
}

/// Extracts a field of an array of records.
pub fn extract(
    records: &Input,
    found: &Detected,
    name: &str,
    (nthreads, is_quiet): (usize, bool),
) -> Result<Extracted, Failure> {
    let reading = Reading::with_threads(nthreads);
    let at_records = |error: convert::Error| records.error(error);
    let mut source = open(records.path(), found, Some(name), nthreads)
        .map_err(|failure| records.error(failure))?;
    let info = source.content().array.clone().ok_or(convert::Error::NoColumns);
    let header = npy_header(&info.map_err(at_records)?);
    let header = header.map_err(|error| at_records(error.into()))?;
    let folder = temporary_folder()?;
    let path = folder.path("column.npy");
    let mut file = BufWriter::with_capacity(BUFFER, NamedFile::create(&path)?);
    file.write_all(&header)?;
    let bar = bar(!is_quiet, Some(source.content().nbytes));
    let written = convert::write_to(source.as_mut(), &mut file, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    written.map_err(at_records)?;
    drop(file);
    let params = convert::params_of(records.path(), found, &reading).map_err(at_records)?;
    let lost = convert::lost_metadata(records.path(), found, &reading).map_err(at_records)?;
    let input = Input::temporary(path, records.name(), folder);
    Ok(Extracted { input, params, lost })
}

/// Returns a field of an array of records.
pub fn select(records: Box<dyn Source>, name: &str) -> Result<Box<dyn Source>, Failure> {
    let content = records.content().clone();
    let Some(info) = content.array.filter(|info| info.dtype.kind() == Kind::Record) else {
        return Err(convert::Error::NoColumns.into());
    };
    let Some((offset, dtype, shape)) = find(&info.dtype, name) else {
        let names: Vec<&str> =
            info.dtype.fields().iter().map(|field| field.name.as_str()).collect();
        return Err(Failure::new(format!("there is no column {name:?}"))
            .with_hint(format!("the columns are: {}", names.join(", "))));
    };
    let record = info.dtype.itemsize().max(1);
    let inner = shape.iter().fold(1, |product: u64, &len| product.saturating_mul(len));
    let array = ArrayInfo { dtype, shape: [info.shape, shape].concat(), fortran_order: false };
    let size = array.dtype.itemsize().saturating_mul(inner);
    let content = Content {
        typesize: array.dtype.itemsize(),
        nbytes: content.nbytes / record * size,
        read_size: (content.read_size / record as usize * size as usize).max(1),
        array: Some(array),
    };
    Ok(Box::new(FieldSource { records, content, record, offset, size }))
}
