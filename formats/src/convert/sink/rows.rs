//! Writes carrays, and ctables for arrays of records.

use std::path::Path;

use super::super::attachments::Attachments;
use super::super::error::{Error, Result};
use super::super::source::Source;
use super::input::{Progress, array_in};
use super::options::Writing;
use crate::bcolz::{Carray, CarraySpec, Compression, Ctable, Mode, Object, Options};
use crate::bloscpack::Value;
use crate::numpy::{ArrayInfo, Dtype, Kind};
use ferroblosc::codec;

fn cparams(writing: &Writing) -> Result<Compression> {
    let Some(compression) = &writing.compression else {
        return Ok(Compression::default());
    };
    let name = codec::compcode_to_compname(compression.codec);
    Ok(Compression {
        clevel: compression.level,
        shuffle: compression.shuffle()?,
        cname: name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        quantize: 0,
    })
}

pub fn write(
    source: &mut dyn Source,
    output: &Path,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let info = array_in(source)?;
    let dtype = info.dtype.clone().named();
    let options = Options { nthreads: writing.threads().into(), ..Options::default() };
    match dtype.kind() {
        Kind::Record => {
            let params = (writing, attachments, &options);
            write_table(source, &info, &dtype, output, params, progress)
        }
        _ => {
            let params = (writing, attachments, &options);
            write_array(source, &info, dtype, output, params, progress)
        }
    }
}

/// The parameters of a new bcolz object.
type Params<'a> = (&'a Writing, &'a Attachments, &'a Options);

/// Sets attributes of the object at `root`.
pub(in super::super) fn set_attrs(
    root: &Path,
    attrs: &[(String, Value)],
    options: &Options,
) -> Result<()> {
    if attrs.is_empty() {
        return Ok(());
    }
    match crate::bcolz::open(root, Mode::Append, options)? {
        Object::Carray(mut array) => {
            for (name, value) in attrs {
                array.set_attr(name, value.clone())?;
            }
            Ok(array.close()?)
        }
        Object::Ctable(mut table) => {
            for (name, value) in attrs {
                table.set_attr(name, value.clone())?;
            }
            Ok(table.close()?)
        }
    }
}

/// Returns the number of rows per chunk, if the chunk size is given.
fn chunklen(writing: &Writing, row_bytes: u64) -> Option<u64> {
    let requested = writing.chunk_bytes?;
    Some((requested / row_bytes.max(1)).max(1))
}

/// The maximum number of bytes read at once, unless a chunk is larger.
const MAX_BATCH: u64 = 16 << 20;

/// Calls `f` with consecutive batches of rows, each a multiple of the chunk length.
fn for_each_batch(
    source: &mut dyn Source,
    len: u64,
    row_bytes: u64,
    chunklen: u64,
    progress: Progress<'_>,
    mut f: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let chunklen = chunklen.max(1);
    let batch = (MAX_BATCH / row_bytes.max(1)) / chunklen * chunklen;
    let batch = batch.max(chunklen);
    let (mut row, mut rows) = (0, Vec::new());
    while row < len {
        let count = batch.min(len - row);
        let size = count.checked_mul(row_bytes).and_then(|size| usize::try_from(size).ok());
        let size = size.ok_or(ferroblosc::Error::MemoryAlloc)?;
        rows.try_reserve_exact(size.saturating_sub(rows.len())).map_err(ferroblosc::Error::from)?;
        rows.resize(size, 0);
        source.read(row * row_bytes, &mut rows)?;
        f(&rows)?;
        row += count;
        progress(size as u64);
    }
    Ok(())
}

/// Appends the `len` rows of an array to an empty carray.
pub(in super::super) fn append_rows(
    array: &mut Carray,
    source: &mut dyn Source,
    len: u64,
    progress: Progress<'_>,
) -> Result<()> {
    let (row_bytes, chunklen) = (array.row_bytes(), array.chunklen());
    if row_bytes == 0 {
        return Ok(array.resize(len)?);
    }
    for_each_batch(source, len, row_bytes, chunklen, progress, |rows| Ok(array.append(rows)?))
}

fn write_array(
    source: &mut dyn Source,
    info: &ArrayInfo,
    dtype: Dtype,
    output: &Path,
    (writing, attachments, options): Params<'_>,
    progress: Progress<'_>,
) -> Result<()> {
    let (&len, row_shape) = info.shape.split_first().ok_or(Error::NoDimension)?;
    let row_bytes = row_shape
        .iter()
        .try_fold(info.dtype.itemsize(), |size, &len| size.checked_mul(len))
        .ok_or(Error::Layout)?;
    let spec = CarraySpec {
        row_shape: row_shape.to_vec(),
        chunklen: chunklen(writing, row_bytes),
        expectedlen: len,
        cparams: cparams(writing)?,
        dflt: valid_dflt(&dtype, attachments.dflt.as_ref()),
        ..CarraySpec::new(dtype)
    };
    let mut array = Carray::create(output, &spec, Mode::Write, options)?;
    append_rows(&mut array, source, len, progress)?;
    array.close()?;
    set_attrs(output, &attachments.attrs, options)
}

/// Returns the fill value if it fits the dtype.
fn valid_dflt(dtype: &Dtype, dflt: Option<&Value>) -> Option<Value> {
    let dflt = dflt.filter(|dflt| crate::bcolz::item_of(dtype, dflt).is_some());
    dflt.cloned()
}

fn write_table(
    source: &mut dyn Source,
    info: &ArrayInfo,
    dtype: &Dtype,
    output: &Path,
    (writing, attachments, options): Params<'_>,
    progress: Progress<'_>,
) -> Result<()> {
    let &[len] = info.shape.as_slice() else {
        return Err(Error::CannotHold("records in one dimension only"));
    };
    let column_of = |name: &str| attachments.columns.iter().find(|column| column.name == name);
    // The fill value of a record has one value for each field.
    let fills = match &attachments.dflt {
        Some(Value::List(fills)) if fills.len() == dtype.fields().len() => fills.as_slice(),
        _ => &[],
    };
    let mut columns = Vec::new();
    for (number, field) in dtype.fields().iter().enumerate() {
        if field.dtype.kind() == Kind::Record {
            return Err(Error::Field {
                name: field.name.clone(),
                why: format!(
                    "its items are records, {}, and bcolz cannot open such columns; b2nd and .npy \
                     hold them, and the column alone can be converted",
                    field.dtype.text()
                ),
            });
        }
        let row_bytes = field.shape.iter().product::<u64>() * field.dtype.itemsize();
        let spec = CarraySpec {
            row_shape: field.shape.clone(),
            chunklen: chunklen(writing, row_bytes),
            expectedlen: len,
            cparams: cparams(writing)?,
            dflt: valid_dflt(
                &field.dtype,
                column_of(field.name.as_str())
                    .and_then(|column| column.dflt.as_ref())
                    .or_else(|| fills.get(number)),
            ),
            ..CarraySpec::new(field.dtype.clone())
        };
        columns.push((field.name.as_str(), spec));
    }
    let mut table = Ctable::create(output, &columns, Mode::Write, options)?;
    let record = usize::try_from(info.dtype.itemsize()).map_err(|_| Error::Layout)?;
    for_each_batch(source, len, info.dtype.itemsize(), 1, progress, |records| {
        let mut columns_data: Vec<Vec<u8>> = Vec::new();
        for field in dtype.fields() {
            let start = field.offset as usize;
            let size = field.dtype.itemsize() * field.shape.iter().product::<u64>();
            let end = start + size as usize;
            let mut column_data = Vec::with_capacity(records.len() / record * (end - start));
            for row in records.chunks_exact(record) {
                column_data.extend_from_slice(&row[start..end]);
            }
            columns_data.push(column_data);
        }
        let columns_data: Vec<&[u8]> = columns_data.iter().map(Vec::as_slice).collect();
        Ok(table.append(&columns_data)?)
    })?;
    table.close()?;
    for field in dtype.fields() {
        if let Some(column) = column_of(field.name.as_str())
            && let Object::Ctable(table) = crate::bcolz::open(output, Mode::Read, options)?
            && let Object::Carray(array) = table.column(&column.name)?
        {
            set_attrs(array.root(), &column.attrs, options)?;
        }
    }
    set_attrs(output, &attachments.attrs, options)
}
