//! Carrays as arrays of Blosc2, and back.
//!
//! Chunk number i of one is chunk number i of the other: `chunklen` rows, whole in all their dimensions. The blocks are
//! laid out so that those of a chunk follow each other as its rows do; a chunk is then the rows, with zeros behind
//! the last ones where blocks or chunks go beyond the array. So a chunk whose blocks are exactly those of the array
//! only gets another header, and its streams are copied; one that isn't is compressed anew.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::bcolz::{Target, finish};
use super::error::{Error, Result};
use super::layers::{Described, TableDescription, pairs};
use super::recipe::check_has_data;
use super::sink::{Writing, storage};
use crate::b2nd::{self, Array, Geometry};
use crate::bcolz::{self, Carray, CarraySpec, Dtype, Mode, Options};
use crate::bloscpack::Literal;
use crate::chunk::{BasicHeader, CParams, DParams, SplitMode, rewrap};
use crate::codec;
use crate::filter::{self, Slot};
use crate::io::journal;
use crate::schunk::{SChunk, Storage};

/// Bytes of a block where the chunks of the carray don't tell.
const DEFAULT_BLOCK: usize = 128 << 10;
/// Rows are taken from arrays of Blosc2 in chunks of their rows up to so many bytes.
const MAX_CHUNK: u64 = 16 << 20;

/// Distinguishes the temporary files of a process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes the carray at `root` into the frame of an array of Blosc2, with its attributes as metalayers.
///
/// # Errors
/// [`Error`]
pub fn carray_to_b2nd(root: &Path, output: &Path, options: &Options) -> Result<()> {
    carray_to_frame(root, output, options, &Writing::default())
}

/// Writes the carray at `root` into the frame of an array, with the checksums and the durability that `writing` asks for.
pub(super) fn carray_to_frame(
    root: &Path,
    output: &Path,
    options: &Options,
    writing: &Writing,
) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    write_frame(&mut array, output, options, None, writing)
}

/// Writes a frame that appears when it is complete.
pub(super) fn write_frame(
    array: &mut Carray,
    output: &Path,
    options: &Options,
    table: Option<TableDescription>,
    writing: &Writing,
) -> Result<()> {
    if array.dtype().has_objects() {
        return Err(bcolz::Error::Objects.into());
    }
    let temporary = beside(output)?;
    let written = fill_frame(array, &temporary, options, table, writing)
        .map_err(|error| error.in_file(output))
        .and_then(|()| Ok(std::fs::rename(&temporary, output)?));
    if written.is_ok() {
        // The file they belonged to is replaced.
        journal::discard_all(output);
    }
    if written.is_err() {
        // Nothing more can be done about a file that can't be removed.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// A path in the folder of another at which nothing is.
fn beside(path: &Path) -> Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    loop {
        // Relaxed: the number only has to be another one each time.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        if temporary.symlink_metadata().is_err() {
            return Ok(temporary);
        }
    }
}

/// Numbers as the shapes of Blosc2 have them.
fn narrow<M, N: TryFrom<M>>(numbers: impl IntoIterator<Item = M>) -> Result<Vec<N>> {
    let narrow = |number| N::try_from(number).map_err(|_| Error::Layout);
    numbers.into_iter().map(narrow).collect()
}

/// The shapes of the array of Blosc2: its blocks have about `wanted` bytes.
fn geometry_of(array: &Carray, wanted: usize) -> Result<Geometry> {
    let mut chunkshape = vec![array.chunklen()];
    chunkshape.extend(array.row_shape());
    let items = wanted as u64 / array.dtype().itemsize();
    let blockshape = block_of(&chunkshape, items.max(1));
    let shape = narrow(array.shape())?;
    Geometry::new(&shape, &narrow(chunkshape)?, &narrow(blockshape)?).map_err(|_| Error::Layout)
}

/// Blocks of at most `items` items that follow each other in a chunk as its items do: whole in the last dimensions, a
/// part of one, and one item in those before.
fn block_of(chunkshape: &[u64], items: u64) -> Vec<u64> {
    let mut block = vec![1; chunkshape.len()];
    let mut room = items;
    for (dim, &len) in chunkshape.iter().enumerate().rev() {
        if len > room {
            // Only along the first dimension may blocks go beyond the chunk: the zeros are behind all items then.
            block[dim] = match (largest_divisor(len, room), dim) {
                (divisor, 0) if divisor < room / 2 => room,
                (divisor, _) => divisor,
            };
            break;
        }
        block[dim] = len;
        room /= len.max(1);
    }
    block
}

/// The largest divisor of a number that is at most `most`, which is at least 1.
fn largest_divisor(number: u64, most: u64) -> u64 {
    let small = (1..).take_while(|&divisor| divisor * divisor <= number);
    small
        .filter(|&divisor| number.is_multiple_of(divisor))
        .flat_map(|divisor| [divisor, number / divisor])
        .filter(|&divisor| divisor <= most)
        .max()
        .unwrap_or(1)
}

/// How chunks are compressed anew: as those of the carray, where Blosc2 has the codec.
fn cparams_of(array: &Carray, geometry: &Geometry, options: &Options) -> Result<CParams> {
    let typesize = i32::try_from(array.dtype().itemsize()).map_err(|_| Error::Layout)?;
    b2nd::create::check_sizes(geometry, typesize).map_err(|_| Error::Layout)?;
    let cparams = array.cparams();
    let codec = codec::compname_to_compcode(cparams.cname.as_bytes()).unwrap_or(codec::id::LZ4);
    let filter = match cparams.shuffle {
        0 => filter::id::NONE,
        2 => filter::id::BITSHUFFLE,
        _ => filter::id::SHUFFLE,
    };
    Ok(CParams::default()
        .codec(codec)
        .level(cparams.clevel.min(9))
        .typesize(typesize)
        .threads(threads(options))
        .blocksize(geometry.blocknitems * typesize)
        .splitmode(SplitMode::FORWARD_COMPAT)
        .filters(&[Slot {
            id: filter,
            meta: 0,
        }]))
}

fn threads(options: &Options) -> i16 {
    i16::try_from(options.nthreads).unwrap_or(i16::MAX).max(1)
}

fn fill_frame(
    array: &mut Carray,
    path: &Path,
    options: &Options,
    table: Option<TableDescription>,
    writing: &Writing,
) -> Result<()> {
    let mut stored = Vec::new();
    let wanted = match array.is_empty() {
        true => DEFAULT_BLOCK,
        false => {
            array.stored_chunk(0, &mut stored)?;
            let header = BasicHeader::parse(&stored)?;
            usize::try_from(header.clamped_blocksize()).unwrap_or(DEFAULT_BLOCK)
        }
    };
    let geometry = geometry_of(array, wanted)?;
    let cparams = cparams_of(array, &geometry, options)?;
    let (typesize, blocksize) = (cparams.typesize, cparams.blocksize);
    let chunksize = geometry.chunksize(typesize)?;
    let mut schunk = SChunk::create(storage(path, false, writing), cparams, DParams::default())?;
    schunk.set_chunksize(i32::try_from(chunksize).map_err(|_| Error::Layout)?)?;
    let meta = b2nd::meta::serialise(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        Some(dtype_text(array.dtype()).as_bytes()),
        0,
    )?;
    schunk.add_metalayer(b2nd::meta::NAME, &meta)?;
    for number in 0..array.nchunks() {
        let nbytes = array.stored_chunk(number, &mut stored)?;
        if nbytes == chunksize
            && is_of_blocks(&stored, typesize, blocksize)
            && let Some(chunk) = rewrap::to_blosc2(&stored)
        {
            schunk.append_chunk(&chunk)?;
            continue;
        }
        let mut rows = array.read_chunk(number)?;
        rows.try_reserve_exact(chunksize - rows.len())
            .map_err(bcolz::Error::from)?;
        rows.resize(chunksize, 0);
        schunk.append(&rows)?;
    }
    let described = Described {
        attrs: pairs(array.attrs()),
        dflt: Some(array.dflt().clone()),
        table,
        left: Vec::new(),
    };
    described.write(&mut schunk)?;
    Ok(schunk.close()?)
}

/// The text of a type in the metalayer of an array: NumPy's, with its order.
fn dtype_text(dtype: &Dtype) -> String {
    match dtype.description() {
        Literal::Text(text) => text,
        fields => fields.repr().into_owned(),
    }
}

/// Whether a chunk consists of such blocks.
fn is_of_blocks(chunk: &[u8], typesize: i32, blocksize: i32) -> bool {
    BasicHeader::parse(chunk).is_ok_and(|header| {
        i32::from(header.typesize) == typesize
            && header.clamped_blocksize() == blocksize
            && header.nbytes % blocksize == 0
    })
}

/// Makes the carray of an array of Blosc2 at `root`: of a frame, or of a directory with one. Metalayers in
/// MessagePack that JSON can say become attributes. Returns the names of the other ones.
///
/// # Errors
/// [`Error`]; what was made is removed then.
pub fn b2nd_to_carray(
    input: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<Vec<String>> {
    let source = Source::open(input, options)?;
    let spec = source.spec(target);
    let array = Carray::create(root, &spec, mode, options)?;
    finish(array, root, options, |array| {
        source.append_to(array)?;
        for (name, value) in &source.described.attrs {
            array.set_attr(name, value.clone())?;
        }
        Ok(())
    })?;
    Ok(source.described.left)
}

/// An array of Blosc2 that is read.
pub(super) struct Source {
    array: Array,
    dtype: Dtype,
    shape: Vec<u64>,
    path: PathBuf,
    pub described: Described,
}

impl Source {
    pub fn open(path: &Path, options: &Options) -> Result<Source> {
        Source::of_frame(path, options).map_err(|error| error.in_file(path))
    }

    fn of_frame(path: &Path, options: &Options) -> Result<Source> {
        let storage = match path.is_dir() {
            true => Storage::directory(path),
            false => Storage::file(path),
        };
        let array = Array::open(storage, DParams::default().threads(threads(options)))?;
        check_has_data(array.schunk().state())?;
        let described = Described::read(array.schunk())?;
        let typesize = u64::try_from(array.schunk().typesize()).map_err(|_| Error::Layout)?;
        let description = match array.dtype() {
            None | Some("") => Literal::Text(format!("|V{typesize}")),
            Some(text) => match text.starts_with(['[', '{']) {
                true => Literal::parse(text).ok_or_else(|| bcolz::Error::Dtype(text.to_owned()))?,
                false => Literal::Text(text.to_owned()),
            },
        };
        let dtype = Dtype::from_description(&description)?;
        if dtype.itemsize() != typesize {
            return Err(Error::Itemsize);
        }
        if array.shape().is_empty() {
            return Err(Error::NoDimension);
        }
        Ok(Source {
            shape: narrow(array.shape())?,
            array,
            dtype,
            path: path.to_owned(),
            described,
        })
    }

    /// What a carray of it is made with.
    pub fn spec(&self, target: &Target) -> CarraySpec {
        let row_shape = self.shape[1..].to_vec();
        let row_bytes = row_shape
            .iter()
            .try_fold(self.dtype.itemsize(), |size, &len| size.checked_mul(len));
        let rows = self.array.geometry().chunkshape()[0];
        let rows = u64::try_from(rows).ok().filter(|&rows| rows > 0);
        let is_moderate = |rows: u64| {
            let bytes = row_bytes.and_then(|size| size.checked_mul(rows));
            bytes.is_some_and(|bytes| bytes <= MAX_CHUNK)
        };
        let dflt = self.described.dflt.clone();
        CarraySpec {
            row_shape,
            chunklen: target.chunklen.or(rows.filter(|&rows| is_moderate(rows))),
            expectedlen: self.len(),
            cparams: target.cparams.clone(),
            // Anybody can write metalayers: what is no item is no fill value.
            dflt: dflt.filter(|dflt| bcolz::item_of(&self.dtype, dflt).is_some()),
            records: target.records,
            ..CarraySpec::new(self.dtype.clone())
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.shape[0]
    }

    /// Appends all rows to a carray without any, which was made for them.
    pub fn append_to(&self, array: &mut Carray) -> Result<()> {
        let is_alike = self.has_chunks_of(array);
        let full = array.chunklen() * array.row_bytes();
        let mut start = narrow::<_, i64>(array.shape())?;
        start.fill(0);
        let mut stop: Vec<i64> = self.array.shape();
        while array.len() < self.len() {
            let (first, nchunk) = (array.len(), array.len() / array.chunklen());
            let count = (self.len() - first).min(array.chunklen());
            if is_alike && count == array.chunklen() {
                let nchunk = i64::try_from(nchunk).map_err(|_| Error::Layout)?;
                let chunk = self.wrapped(self.array.schunk().chunk(nchunk))?;
                if let Some(chunk) = rewrap::to_blosc1(&chunk).filter(|chunk| holds(chunk, full)) {
                    array.append_stored(&chunk)?;
                    continue;
                }
            }
            start[0] = i64::try_from(first).map_err(|_| Error::Layout)?;
            stop[0] = i64::try_from(first + count).map_err(|_| Error::Layout)?;
            let rows = self.wrapped(self.array.get_slice(&start, &stop))?;
            array.append(&rows)?;
        }
        Ok(())
    }

    fn wrapped<T>(&self, result: crate::Result<T>) -> Result<T> {
        result.map_err(|error| Error::from(error).in_file(&self.path))
    }

    /// Whether chunks of the array can be chunks of a carray.
    fn has_chunks_of(&self, array: &Carray) -> bool {
        let geometry = self.array.geometry();
        let mut lengths = vec![array.chunklen()];
        lengths.extend(array.row_shape());
        let chunk = geometry.chunkshape().iter();
        let chunk = chunk.map(|&len| u64::try_from(len).ok());
        geometry.is_linear() && chunk.eq(lengths.into_iter().map(Some))
    }
}

/// Whether a chunk has so many plain bytes.
fn holds(chunk: &[u8], nbytes: u64) -> bool {
    BasicHeader::parse(chunk).is_ok_and(|header| u64::try_from(header.nbytes) == Ok(nbytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_each_other_as_items_do() {
        for (chunk, items, block) in [
            (&[100][..], 10, &[10][..]),
            // The largest divisor, unless it is much smaller than there is room for.
            (&[100], 30, &[25]),
            (&[101], 30, &[30]),
            (&[100], 1000, &[100]),
            (&[100, 4], 40, &[10, 4]),
            (&[10, 4, 3], 5, &[1, 1, 3]),
            (&[10, 4, 3], 2, &[1, 1, 1]),
            (&[10, 4, 3], 7, &[1, 2, 3]),
            (&[10, 7, 3], 20, &[1, 1, 3]),
            (&[3, 1000], 999, &[1, 500]),
        ] {
            assert_eq!(block_of(chunk, items), block, "{chunk:?} {items}");
            let shapes = |shape: &[u64]| shape.iter().map(|&len| len as i32).collect::<Vec<_>>();
            let shape: Vec<i64> = chunk.iter().map(|&len| len as i64).collect();
            let geometry = Geometry::new(&shape, &shapes(chunk), &shapes(block)).unwrap();
            assert!(geometry.is_linear());
        }
    }

    #[test]
    fn divisors_are_found() {
        assert_eq!(largest_divisor(12, 5), 4);
        assert_eq!(largest_divisor(13, 12), 1);
        assert_eq!(largest_divisor(1 << 31, 1 << 20), 1 << 20);
        assert_eq!(largest_divisor(1, 1), 1);
    }
}
