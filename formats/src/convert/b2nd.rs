//! Converts carrays to b2nd arrays and back.
//!
//! Chunk `i` of the carray corresponds to chunk `i` of the array: `chunklen` rows, complete in all
//! other dimensions. The block shape keeps the C order of the items in a chunk, so a chunk consists
//! of its rows, followed by zeros if blocks or chunks extend beyond the array. If the block size of
//! a stored chunk equals that of the array, only its header is rewritten and its streams are
//! copied. Otherwise the chunk is recompressed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::attrs::{Description, TableDescription, pairs};
use super::bcolz::{Target, fill_or_remove};
use super::error::{Error, Result};
use super::intact::ChunkCheck;
use super::placeholder::check_has_data;
use super::sink::{Writing, storage};
use crate::bcolz::{self, Carray, CarraySpec, Mode, Options};
use crate::bloscpack::FinalPath;
use crate::numpy::{Dtype, Literal};
use ferroblosc::b2nd::{self, Array, Geometry};
use ferroblosc::chunk::{BasicHeader, CParams, DParams, SplitMode, rewrap};
use ferroblosc::codec;
use ferroblosc::filter::{self, Slot};
use ferroblosc::io::named::named;
use ferroblosc::io::{FileOps, FileSystem, beside, temporary};
use ferroblosc::schunk::{SChunk, Storage};

/// The default block size in bytes, for an empty carray.
const DEFAULT_BLOCK: usize = 128 << 10;
/// The maximum chunk size in bytes that a carray adopts from a b2nd array.
const MAX_CHUNK: u64 = 16 << 20;

/// Makes the names of temporary files unique within the process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes the carray at `root` to a b2nd frame, with its attributes as metalayers.
///
/// # Errors
/// [`Error`]
pub fn carray_to_b2nd(root: &Path, output: &Path, options: &Options) -> Result<()> {
    Carray::open(root, Mode::Read, options)?.attrs().check_decodable()?;
    carray_to_frame(root, output, options, &Writing::default())
}

/// Writes the carray at `root` to a b2nd frame, with the checksums and the durability of `writing`.
pub(super) fn carray_to_frame(
    root: &Path,
    output: &Path,
    options: &Options,
    writing: &Writing,
) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    write_frame(&mut array, output, options, None, writing)
}

/// Writes a frame to a temporary file and renames it to `output` once it is complete. A file that it
/// replaces stays until the frame is on the disk, which gets its permissions.
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
    let target = FinalPath::of(output).ok_or_else(|| {
        let error = std::io::Error::other("it is a directory or a special file");
        named(error, ferroblosc::Error::FileOpen, "create", output)
    })?;
    let temporary = temporary_path(target.path())?;
    let written = fill_frame(array, (&temporary, &target), options, table, writing)
        .map_err(|error| of_target(error, &temporary, output).in_file(output))
        .and_then(|()| publish(&target, &temporary, output));
    if written.is_err() {
        // An error of the cleanup would hide the original error.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Replaces the path of a temporary file in an error by that of its target.
fn of_target(error: Error, temporary: &Path, target: &Path) -> Error {
    match error {
        Error::B2nd { path, error } => {
            Error::B2nd { path, error: temporary::error_of_target(error, temporary, target) }
        }
        other => other,
    }
}

/// Renames a complete frame to its final path, which is `output` in errors.
fn publish(target: &FinalPath, temporary: &Path, output: &Path) -> Result<()> {
    let stream = FileSystem
        .open_unfollowed(temporary, true)
        .map_err(|error| temporary::error_of_target(error, temporary, output))?;
    target
        .copy_permissions(temporary)
        .map_err(|error| named(error, ferroblosc::Error::FileWrite, "set the mode of", output))?;
    Ok(target.publish(temporary, &*stream, output)?)
}

/// Returns an unused path in the same directory.
fn temporary_path(path: &Path) -> Result<PathBuf> {
    let name =
        path.file_name().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    loop {
        // Relaxed: the counter only has to return unique numbers.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        let suffix = format!(".{}-{number}.tmp", ferroblosc::os::process_id());
        let temporary = beside::with_suffix(&path.with_file_name(hidden), &suffix, 0);
        if temporary.symlink_metadata().is_err() {
            return Ok(temporary);
        }
    }
}

/// Converts integers, or returns [`Error::Layout`] if one is out of range.
pub(super) fn narrow<M, N: TryFrom<M>>(numbers: impl IntoIterator<Item = M>) -> Result<Vec<N>> {
    let narrow = |number| N::try_from(number).map_err(|_| Error::Layout);
    numbers.into_iter().map(narrow).collect()
}

/// Returns the geometry of the b2nd array, with blocks of about `wanted` bytes.
fn geometry_of(array: &Carray, wanted: usize) -> Result<Geometry> {
    let mut chunkshape = vec![array.chunklen()];
    chunkshape.extend(array.row_shape());
    let items = wanted as u64 / array.dtype().itemsize();
    let blockshape = block_of(&chunkshape, items.max(1));
    let shape = narrow(array.shape())?;
    Geometry::new(&shape, &narrow(chunkshape)?, &narrow(blockshape)?).map_err(|_| Error::Layout)
}

/// Returns a block shape of at most `items` items that keeps the C order of the chunk's items:
/// complete in the last dimensions, partial in one, and a single item in the dimensions before it.
pub(super) fn block_of(chunkshape: &[u64], items: u64) -> Vec<u64> {
    let mut block = vec![1; chunkshape.len()];
    let mut remaining = items;
    for (dim, &len) in chunkshape.iter().enumerate().rev() {
        if len > remaining {
            // Blocks may extend beyond the chunk only in the first dimension, where the padding
            // comes after all items.
            block[dim] = match (largest_divisor(len, remaining), dim) {
                (divisor, 0) if divisor < remaining / 2 => remaining,
                (divisor, _) => divisor,
            };
            break;
        }
        block[dim] = len;
        remaining /= len.max(1);
    }
    block
}

/// Returns the largest divisor of `number` that is at most `most`, at least 1.
fn largest_divisor(number: u64, most: u64) -> u64 {
    let small = (1..).take_while(|&divisor| divisor * divisor <= number);
    small
        .filter(|&divisor| number.is_multiple_of(divisor))
        .flat_map(|divisor| [divisor, number / divisor])
        .filter(|&divisor| divisor <= most)
        .max()
        .unwrap_or(1)
}

/// Returns the parameters for recompression: those of the carray, if Blosc2 has the codec.
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
        .filters(&[Slot { id: filter, meta: 0 }]))
}

fn threads(options: &Options) -> i16 {
    i16::try_from(options.nthreads).unwrap_or(i16::MAX).max(1)
}

fn fill_frame(
    array: &mut Carray,
    (path, target): (&Path, &FinalPath),
    options: &Options,
    table: Option<TableDescription>,
    writing: &Writing,
) -> Result<()> {
    let mut stored = Vec::new();
    let wanted = if array.is_empty() {
        DEFAULT_BLOCK
    } else {
        array.stored_chunk(0, &mut stored)?;
        let header = BasicHeader::parse(&stored)?;
        usize::try_from(header.clamped_blocksize()).unwrap_or(DEFAULT_BLOCK)
    };
    let geometry = geometry_of(array, wanted)?;
    let cparams = cparams_of(array, &geometry, options)?;
    let (typesize, blocksize) = (cparams.typesize, cparams.blocksize);
    let chunksize = geometry.chunksize(typesize)?;
    let mut schunk = SChunk::create(storage(path, false, writing), cparams, DParams::default())?;
    target.restrict(path)?;
    schunk.set_chunksize(i32::try_from(chunksize).map_err(|_| Error::Layout)?)?;
    let meta = b2nd::meta::serialize(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        Some(array.dtype().described()?.text().as_bytes()),
        0,
    )?;
    schunk.add_metalayer(b2nd::meta::NAME, &meta)?;
    let mut check = ChunkCheck::new(threads(options));
    for number in 0..array.nchunks() {
        let nbytes = array.stored_chunk(number, &mut stored)?;
        if nbytes == chunksize
            && has_blocks_of(&stored, typesize, blocksize)
            && let Some(chunk) = rewrap::to_blosc2(&stored)
            && check.is_intact(&chunk)
        {
            schunk.append_chunk(&chunk)?;
            continue;
        }
        let mut rows = array.read_chunk(number)?;
        rows.try_reserve_exact(chunksize - rows.len()).map_err(bcolz::Error::from)?;
        rows.resize(chunksize, 0);
        schunk.append(&rows)?;
    }
    let described = Description {
        attrs: pairs(array.attrs()),
        dflt: Some(array.dflt().clone()),
        table,
        unmapped: Vec::new(),
    };
    described.write(&mut schunk)?;
    Ok(schunk.close()?)
}

/// Whether a chunk consists of full blocks of this size and has this type size.
pub(super) fn has_blocks_of(chunk: &[u8], typesize: i32, blocksize: i32) -> bool {
    BasicHeader::parse(chunk).is_ok_and(|header| {
        i32::from(header.typesize) == typesize
            && header.clamped_blocksize() == blocksize
            && header.nbytes % blocksize == 0
    })
}

/// Creates a carray at `root` from the b2nd array at `input`, a file or a directory. Metalayers
/// that hold MessagePack with a JSON representation become attributes. Returns the names of the
/// other metalayers.
///
/// # Errors
/// [`Error`]; the incomplete carray is removed.
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
    fill_or_remove(array, root, options, |array| {
        source.append_to(array)?;
        for (name, value) in &source.described.attrs {
            array.set_attr(name, value.clone())?;
        }
        Ok(())
    })?;
    Ok(source.described.unmapped)
}

/// A b2nd array to read rows from.
pub(super) struct Source {
    array: Array,
    dtype: Dtype,
    shape: Vec<u64>,
    path: PathBuf,
    nthreads: i16,
    pub described: Description,
}

impl Source {
    pub fn open(path: &Path, options: &Options) -> Result<Source> {
        Source::of_frame(path, options).map_err(|error| error.in_file(path))
    }

    fn of_frame(path: &Path, options: &Options) -> Result<Source> {
        let storage = if path.is_dir() { Storage::directory(path) } else { Storage::file(path) };
        let array = Array::open(storage, DParams::default().threads(threads(options)))?;
        check_has_data(array.schunk().state())?;
        let described = Description::read(array.schunk())?;
        let typesize = u64::try_from(array.schunk().typesize()).map_err(|_| Error::Layout)?;
        let description = match array.dtype() {
            None | Some("") => Literal::Text(format!("|V{typesize}")),
            Some(text) if text.starts_with(['[', '{']) => {
                Literal::parse(text).ok_or_else(|| bcolz::Error::Dtype(text.to_owned()))?
            }
            Some(text) => Literal::Text(text.to_owned()),
        };
        let dtype = Dtype::of(&description).map_err(bcolz::Error::from)?.named();
        if dtype.itemsize() != typesize {
            return Err(Error::Itemsize);
        }
        if array.shape().is_empty() {
            return Err(Error::NoDimension);
        }
        let (shape, nthreads) = (narrow(array.shape())?, threads(options));
        Ok(Source { shape, array, dtype, path: path.to_owned(), nthreads, described })
    }

    /// Returns the parameters of the carray to create.
    pub fn spec(&self, target: &Target) -> CarraySpec {
        let row_shape = self.shape[1..].to_vec();
        let row_bytes =
            row_shape.iter().try_fold(self.dtype.itemsize(), |size, &len| size.checked_mul(len));
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
            // Metalayers are untrusted: ignore a fill value that does not fit the dtype.
            dflt: dflt.filter(|dflt| bcolz::item_of(&self.dtype, dflt).is_some()),
            records: target.records,
            ..CarraySpec::new(self.dtype.clone())
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.shape[0]
    }

    /// Appends all rows to an empty carray that was created with [`Source::spec`].
    pub fn append_to(&self, array: &mut Carray) -> Result<()> {
        let mut check = ChunkCheck::new(self.nthreads);
        let has_same_chunks = self.has_chunks_of(array);
        let full = array.chunklen() * array.row_bytes();
        let mut start = narrow::<_, i64>(array.shape())?;
        start.fill(0);
        let mut stop: Vec<i64> = self.array.shape();
        while array.len() < self.len() {
            let (first, nchunk) = (array.len(), array.len() / array.chunklen());
            let count = (self.len() - first).min(array.chunklen());
            if has_same_chunks && count == array.chunklen() {
                let nchunk = i64::try_from(nchunk).map_err(|_| Error::Layout)?;
                let chunk = self.wrapped(self.array.schunk().chunk(nchunk))?;
                let rewrapped = rewrap::to_blosc1(&chunk).filter(|chunk| holds(chunk, full));
                if let Some(chunk) = rewrapped.filter(|chunk| check.is_intact(chunk)) {
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

    fn wrapped<T>(&self, result: ferroblosc::Result<T>) -> Result<T> {
        result.map_err(|error| Error::from(error).in_file(&self.path))
    }

    /// Whether the chunks of the array have the shape of the carray's chunks.
    fn has_chunks_of(&self, array: &Carray) -> bool {
        let geometry = self.array.geometry();
        let mut lengths = vec![array.chunklen()];
        lengths.extend(array.row_shape());
        let chunk = geometry.chunkshape().iter();
        let chunk = chunk.map(|&len| u64::try_from(len).ok());
        geometry.is_linear() && chunk.eq(lengths.into_iter().map(Some))
    }
}

/// Whether the uncompressed size of a chunk is `nbytes`.
fn holds(chunk: &[u8], nbytes: u64) -> bool {
    BasicHeader::parse(chunk).is_ok_and(|header| u64::try_from(header.nbytes) == Ok(nbytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_replaced_frame_keeps_its_permissions_and_links_are_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = crate::testing::tempdir();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bcolz/i4_exact");
        let (path, link) = (folder.path().join("a.b2nd"), folder.path().join("link.b2nd"));
        std::os::unix::fs::symlink("a.b2nd", &link).unwrap();
        for (output, mode) in [(&path, 0o600), (&link, 0o640), (&path, 0o400)] {
            std::fs::write(&path, b"old").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            carray_to_b2nd(&root, output, &Options::default()).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
            Source::open(&path, &Options::default()).unwrap();
            assert!(link.is_symlink());
            std::fs::remove_file(&path).unwrap();
        }
        // A link without a target is replaced.
        carray_to_b2nd(&root, &link, &Options::default()).unwrap();
        assert!(link.symlink_metadata().unwrap().is_file());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = crate::testing::tempdir();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bcolz/i4_exact");
        let error = carray_to_b2nd(&root, folder.path(), &Options::default()).unwrap_err();
        let shown = folder.path().display();
        let text = format!("cannot create {shown}: it is a directory or a special file");
        assert_eq!(error.to_string(), text);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // Errors name the output instead of the temporary file.
        let path = folder.path().join("missing/a.b2nd");
        let error = carray_to_b2nd(&root, &path, &Options::default()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot create {}: ", path.display())), "{error}");
    }

    /// Another program creates the output while the frame is written.
    #[test]
    fn a_frame_does_not_replace_a_file_that_was_created_meanwhile() {
        let folder = crate::testing::tempdir();
        let (written, path) = (folder.path().join("written"), folder.path().join("a.b2nd"));
        let target = FinalPath::of(&path).unwrap();
        std::fs::write(&written, b"new").unwrap();
        std::fs::write(&path, b"other").unwrap();
        let error = publish(&target, &written, &path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot create {}", path.display())), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn blocks_keep_the_c_order_of_items() {
        for (chunk, items, block) in [
            (&[100][..], 10, &[10][..]),
            // The largest divisor, unless it is less than half of the limit.
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
    fn largest_divisor_within_the_limit_is_found() {
        assert_eq!(largest_divisor(12, 5), 4);
        assert_eq!(largest_divisor(13, 12), 1);
        assert_eq!(largest_divisor(1 << 31, 1 << 20), 1 << 20);
        assert_eq!(largest_divisor(1, 1), 1);
    }
}
