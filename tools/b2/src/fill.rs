//! Writing items of any format to a part of an array, and the inputs of `append` and `concat`.
//!
//! Items are read and written in boxes that consist of whole chunks of the array, so that each
//! chunk is compressed once. A box has at most 64 MiB, unless a chunk is larger.

use crate::error::{Failure, Outcome};
use crate::io::Input;
use crate::members;
use crate::store;
use ferroblosc::Error;
use ferroblosc::b2nd::{Array, Geometry};
use ferroblosc::frame::checksum::FingerprintStatus;
use ferroblosc::io::Durability;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc::os::files;
use ferroblosc::schunk::{SChunk, State, Storage};
use ferroblosc_formats::convert::{self, Content, Detected, Format, Progress, Reading, Source};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype};
use std::path::{Path, PathBuf};

/// The maximum size of a box in bytes, unless a chunk is larger.
pub const MAX_BOX: u64 = 64 << 20;
/// The size of sequential reads of raw bytes.
const READ_SIZE: usize = 1 << 20;

/// Whether chunks that fit are copied without recompression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// All data are compressed again.
    Never,
    /// Chunks are copied as they are.
    Unchecked,
    /// Chunks are decompressed before they are copied: the output has checksums, which must not
    /// certify damaged data.
    Checked,
}

impl Copying {
    /// Returns how chunks are copied to an output, for which checksums were requested or not. The
    /// environment can request them, too.
    pub fn to(has_checksums: bool) -> Copying {
        if has_checksums || Durability::of_environment().checksums {
            Copying::Checked
        } else {
            Copying::Unchecked
        }
    }

    /// Returns how chunks are copied to an existing super-chunk.
    pub fn to_existing(schunk: &mut SChunk) -> Result<Copying, Error> {
        let seal = schunk.state_mut().frame_mut().map(|frame| frame.seal()).transpose()?;
        Ok(Copying::to(seal.is_some_and(|seal| seal != FingerprintStatus::Absent)))
    }

    /// Checks a chunk that is copied. Chunks that need a missing plugin are not checked.
    pub fn check(self, source: &SChunk, number: i64) -> convert::Result<()> {
        match self {
            Copying::Never | Copying::Unchecked => Ok(()),
            Copying::Checked => convert::check_chunk(source, number),
        }
    }
}

/// The bytes of a file, without regard to its format.
struct Raw {
    file: NamedFile,
    path: PathBuf,
    content: Content,
}

impl Raw {
    fn open(path: &Path) -> Result<Raw, Failure> {
        let file = NamedFile::open_regular(path)?;
        let found = file.file().metadata();
        let nbytes = found.map_err(|error| named(error, Error::FileRead, "read", path))?.len();
        let content = Content { array: None, typesize: 1, nbytes, read_size: READ_SIZE };
        Ok(Raw { file, path: path.to_owned(), content })
    }
}

impl Source for Raw {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> convert::Result<()> {
        let read = files::read_exact_at(self.file.file(), position, dest);
        Ok(read.map_err(|error| named(error, Error::FileRead, "read", &self.path))?)
    }
}

/// Data to append to others.
pub struct Addition {
    input: Input,
    /// The format; `None` for raw bytes.
    found: Option<Detected>,
    source: Box<dyn Source>,
    /// The type and shape of data without them.
    content: Option<Content>,
}

impl Source for Addition {
    fn content(&self) -> &Content {
        self.content.as_ref().unwrap_or(self.source.content())
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> convert::Result<()> {
        self.source.read(position, dest)
    }
}

impl Addition {
    /// Reads the items from the first to before the second index in each dimension.
    pub fn read_items(
        &mut self,
        start: &[u64],
        stop: &[u64],
        dest: &mut [u8],
    ) -> Result<(), Failure> {
        let read = match &self.content {
            Some(_) => self.read_box(start, stop, dest),
            None => self.source.read_box(start, stop, dest),
        };
        read.map_err(|error| self.error(error))
    }

    /// Opens data of a known format. If `may_be_raw` is true, a file of an unknown format is raw
    /// bytes; if `is_raw` is true, each file is.
    pub fn open(
        name: &Path,
        (is_raw, may_be_raw): (bool, bool),
        nthreads: usize,
    ) -> Result<Addition, Failure> {
        let input = match store::target(name) {
            Some(_) if !is_raw => members::open_data(name)?,
            _ => Input::new_or_fifo(name)?,
        };
        let found = match convert::detect(input.path()) {
            _ if is_raw => None,
            Err(convert::Error::Unknown) if may_be_raw => None,
            found => Some(found.map_err(|error| input.error(error))?),
        };
        let source: Box<dyn Source> = match &found {
            Some(found) => {
                let reading = Reading::with_threads(nthreads);
                let source = convert::open_as(input.path(), found, &reading);
                source.map_err(|error| input.error(error))?
            }
            None => Box::new(Raw::open(input.path()).map_err(|failure| input.error(failure))?),
        };
        Ok(Addition { input, found, source, content: None })
    }

    /// Returns an error of this input.
    pub fn error(&self, error: impl Into<Failure>) -> Failure {
        self.input.error(error)
    }

    /// Fails if an output is a container of this input.
    pub fn refuse_nesting(&self, output: &Path) -> Outcome {
        self.input.refuse_nesting(output)
    }

    /// Returns the path and the format of data that are not raw.
    pub fn location(&self) -> Option<(&Path, &Detected)> {
        Some((self.input.path(), self.found.as_ref()?))
    }

    fn frame(&self, format: Format) -> Option<Storage> {
        let (path, found) = self.location()?;
        (found.format == format && !found.is_legacy).then(|| {
            if found.is_directory { Storage::directory(path) } else { Storage::file(path) }
        })
    }

    /// Opens the data as an array, if they are a b2nd array.
    pub fn array(&self) -> Result<Option<Array>, Failure> {
        let opened =
            self.frame(Format::B2nd).map(|storage| Array::open(storage, Default::default()));
        opened.transpose().map_err(|error| self.error(error))
    }

    /// Opens the data as a super-chunk, if they are one.
    pub fn schunk(&self) -> Result<Option<SChunk>, Failure> {
        let opened =
            self.frame(Format::Frame).map(|storage| SChunk::open(storage, Default::default()));
        opened.transpose().map_err(|error| self.error(error))
    }

    /// Checks that the items can be appended along an axis to an array of this type and shape, and
    /// returns the number of indices. Data without a type are interpreted as items of the array.
    pub fn fit(&mut self, target: &ArrayInfo, axis: usize) -> Result<u64, Failure> {
        let fitted = match self.content().array.clone() {
            Some(info) => fit_array(&info, target, axis),
            None => self.fit_bytes(target, axis),
        };
        fitted.map_err(|reason| self.error(Failure::new(format!("cannot be appended: {reason}"))))
    }

    fn fit_bytes(&mut self, target: &ArrayInfo, axis: usize) -> Result<u64, String> {
        let content = self.content().clone();
        let itemsize = target.dtype.itemsize();
        if content.typesize != 1 && content.typesize != itemsize {
            let typesize = content.typesize;
            return Err(format!("the items have {typesize} bytes, those of the array {itemsize}"));
        }
        let others = target.shape.iter().enumerate().filter(|&(dim, _)| dim != axis);
        let row = others.fold(itemsize, |size, (_, &len)| size.saturating_mul(len));
        let nbytes = content.nbytes;
        if row == 0 {
            return Err("the array has no items along another axis".to_owned());
        }
        if !nbytes.is_multiple_of(row) {
            return Err(format!(
                "{nbytes} bytes is not a multiple of {row} bytes, the size of one index along axis {axis}"
            ));
        }
        let mut shape = target.shape.clone();
        shape[axis] = nbytes / row;
        let info = ArrayInfo { shape, ..target.clone() };
        self.content = Some(Content { array: Some(info), typesize: itemsize, ..content });
        Ok(nbytes / row)
    }
}

/// Whether two types are the same.
pub fn is_same_type(one: &Dtype, other: &Dtype) -> bool {
    one.text() == other.text()
}

/// Returns a shape in NumPy's notation.
pub fn shape_text(shape: &[u64]) -> String {
    match shape {
        [len] => format!("({len},)"),
        shape => {
            let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("({})", lengths.join(", "))
        }
    }
}

fn fit_array(info: &ArrayInfo, target: &ArrayInfo, axis: usize) -> Result<u64, String> {
    if !is_same_type(&info.dtype, &target.dtype) {
        return Err(format!(
            "the type of the items is {}, that of the array {}",
            info.dtype.repr(),
            target.dtype.repr()
        ));
    }
    let is_same = |dim: usize| dim == axis || info.shape[dim] == target.shape[dim];
    if info.shape.len() != target.shape.len() || !(0..info.shape.len()).all(is_same) {
        return Err(format!(
            "the shape is {}, that of the array {}; only the extent of axis {axis} may differ",
            shape_text(&info.shape),
            shape_text(&target.shape)
        ));
    }
    Ok(info.shape[axis])
}

/// Reads the items from the first to before the second index in each dimension.
pub type ReadBox<'a> = &'a mut dyn FnMut(&[u64], &[u64], &mut [u8]) -> Result<(), Failure>;

/// Writes items of this shape to the array, from the index `to` on. `read` reads them;
/// `write_error` adds the name of the array to errors of writing.
pub fn fill(
    array: &mut Array,
    (to, shape): (&[u64], &[u64]),
    read: ReadBox<'_>,
    write_error: &dyn Fn(Failure) -> Failure,
    progress: Progress<'_>,
) -> Result<(), Failure> {
    if shape.contains(&0) {
        return Ok(());
    }
    let geometry = array.geometry();
    let itemsize = u64::from(array.schunk().typesize().unsigned_abs());
    let step = steps(&geometry, shape, itemsize);
    let mut start = to.to_vec();
    let mut items = Vec::new();
    loop {
        // Boxes end at multiples of the step.
        let ends = (0..to.len())
            .map(|dim| (start[dim] / step[dim]).saturating_add(1).saturating_mul(step[dim]));
        let stop: Vec<u64> =
            ends.zip(to.iter().zip(shape)).map(|(end, (to, len))| end.min(to + len)).collect();
        let size =
            start.iter().zip(&stop).fold(itemsize, |size, (start, stop)| size * (stop - start));
        let size = usize::try_from(size).map_err(|_| Error::MemoryAlloc)?;
        items.clear();
        items.try_reserve_exact(size).map_err(Error::from)?;
        items.resize(size, 0);
        let of_source =
            |at: &[u64]| -> Vec<u64> { at.iter().zip(to).map(|(at, to)| at - to).collect() };
        read(&of_source(&start), &of_source(&stop), &mut items)?;
        let signed = |at: &[u64]| -> Vec<i64> { at.iter().map(|&at| at as i64).collect() };
        let written = array.set_slice(&signed(&start), &signed(&stop), &items);
        written.map_err(|error| write_error(error.into()))?;
        progress(size as u64);
        let mut dim = to.len();
        loop {
            let Some(outer) = dim.checked_sub(1) else {
                return Ok(());
            };
            dim = outer;
            if stop[dim] < to[dim] + shape[dim] {
                start[dim] = stop[dim];
                break;
            }
            start[dim] = to[dim];
        }
    }
}

/// Returns the extents of boxes: complete in all dimensions but the first if such a box is small
/// enough, otherwise those of a chunk.
fn steps(geometry: &Geometry, shape: &[u64], itemsize: u64) -> Vec<u64> {
    let chunk = geometry.chunkshape().iter().map(|&len| u64::from(len.unsigned_abs()).max(1));
    let mut steps: Vec<u64> = chunk.collect();
    let Some((&first, inner)) =
        steps.split_first().zip(shape.get(1..)).map(|((first, _), inner)| (first, inner))
    else {
        return steps;
    };
    let slab =
        inner.iter().fold(first.saturating_mul(itemsize), |size, &len| size.saturating_mul(len));
    if (1..=MAX_BOX).contains(&slab) {
        steps[1..].fill(u64::MAX);
        // Small slabs are read together.
        steps[0] = first * (READ_SIZE as u64 / slab).max(1);
    }
    steps
}
