//! Reads Bloscpack containers, `.npy` and `.npz` files in C or Fortran order, and files of bytes.
//!
//! Items in Fortran order are transposed: runs along the first dimension are contiguous in the file
//! and are read through a cached window.

use ferroblosc::io::named::{NamedFile, named};
use std::io::{Seek, Write};
use std::path::Path;

use super::super::boxes::boxes;
use super::super::error::{Error, Result};
use super::super::npz::Npz;
use super::interface::{Content, MAX_READ, Reading, Source, by_items, check_range, read_size_of};
use crate::bloscpack::{self, Metadata};
use crate::blpk::{self, Archive};
use crate::numpy::{ArrayInfo, read_npy_header};
use crate::store;
use ferroblosc::io::ReadAt;
use ferroblosc::os::files;

/// Random access to bytes in storage order.
trait Stored {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()>;
}

/// The size of the window in bytes.
const WINDOW: u64 = 1 << 20;

/// Reads items in Fortran order and returns them in C order.
#[derive(Default)]
struct Transposer {
    start: u64,
    window: Vec<u8>,
}

impl Transposer {
    /// Reads from the cached window. Reads that are large, or farther apart than the window is
    /// long, bypass it. `stride` is the distance between reads in bytes.
    fn read(
        &mut self,
        stored: &mut impl Stored,
        size: u64,
        stride: u64,
        position: u64,
        dest: &mut [u8],
    ) -> Result<()> {
        let end = position + dest.len() as u64;
        let known = self.start..self.start + self.window.len() as u64;
        if dest.len() as u64 > WINDOW / 2 || stride >= WINDOW {
            return stored.read(position, dest);
        }
        if position < known.start || end > known.end {
            let len = WINDOW.min(size - position);
            self.window.resize(len as usize, 0);
            self.start = position;
            let read = stored.read(position, &mut self.window);
            if read.is_err() {
                self.window.clear();
            }
            read?;
        }
        let from = (position - self.start) as usize;
        dest.copy_from_slice(&self.window[from..from + dest.len()]);
        Ok(())
    }

    fn transpose(
        &mut self,
        stored: &mut impl Stored,
        info: &ArrayInfo,
        first: u64,
        dest: &mut [u8],
    ) -> Result<()> {
        let size = info.dtype.itemsize();
        let nbytes = info.nbytes()?;
        // Runs of items along the first dimension are at least one such dimension apart.
        let stride = info.shape[0] * size;
        let shape: Vec<i64> = info.shape.iter().map(|&len| len as i64).collect();
        let mut rest = dest;
        for nd_box in boxes(&shape, first, rest.len() as u64 / size) {
            let extents: Vec<u64> = nd_box
                .start
                .iter()
                .zip(&nd_box.stop)
                .map(|(start, stop)| start.abs_diff(*stop))
                .collect();
            let count: u64 = extents.iter().product();
            let (part, others) = rest.split_at_mut((count * size) as usize);
            rest = others;
            let run = extents[0];
            let inner = count / run;
            let mut items = vec![0; (run * size) as usize];
            for number in 0..inner {
                // Convert the C-order index of the trailing dimensions to an offset in Fortran
                // order.
                let (mut left, mut position) = (number, 0);
                for dim in (1..shape.len()).rev() {
                    let index = nd_box.start[dim].unsigned_abs() + left % extents[dim];
                    left /= extents[dim];
                    let stride: u64 = info.shape[..dim].iter().product();
                    position += index * stride;
                }
                position += nd_box.start[0].unsigned_abs();
                self.read(stored, nbytes, stride, position * size, &mut items)?;
                for (row, item) in items.chunks_exact(size as usize).enumerate() {
                    let at = (row as u64 * inner + number) as usize * size as usize;
                    part[at..at + size as usize].copy_from_slice(item);
                }
            }
        }
        Ok(())
    }
}

/// Items in C or Fortran order.
struct Ordered<S> {
    stored: S,
    /// The type and shape in storage order.
    info: Option<ArrayInfo>,
    transposer: Transposer,
    content: Content,
}

impl<S: Stored> Ordered<S> {
    fn new(
        stored: S,
        info: Option<ArrayInfo>,
        typesize: u64,
        nbytes: u64,
        read_size: usize,
    ) -> Ordered<S> {
        let array = info.clone().map(|info| ArrayInfo { fortran_order: false, ..info });
        let needs_transpose = info.as_ref().is_some_and(needs_transpose);
        Ordered {
            stored,
            info,
            transposer: Transposer::default(),
            content: Content {
                array,
                typesize,
                nbytes,
                // Larger reads have longer runs.
                read_size: if needs_transpose { 4 * MAX_READ } else { read_size },
            },
        }
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        match &self.info {
            Some(info) if needs_transpose(info) => {
                by_items(info.dtype.itemsize(), position, dest, |first, items| {
                    self.transposer.transpose(&mut self.stored, info, first, items)
                })
            }
            _ => self.stored.read(position, dest),
        }
    }
}

impl Stored for Box<dyn Source> {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        Source::read(self.as_mut(), position, dest)
    }
}

impl<S: Stored + Send> Source for Ordered<S> {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        Ordered::read(self, position, dest)
    }
}

/// Returns a source of the items of `source`, which are in the order of `info`, in C order.
pub fn from_fortran_order(source: Box<dyn Source>, info: ArrayInfo) -> Box<dyn Source> {
    let Content { nbytes, read_size, .. } = *source.content();
    let typesize = info.dtype.itemsize();
    Box::new(Ordered::new(source, Some(info), typesize, nbytes, read_size))
}

/// Whether the items must be transposed.
fn needs_transpose(info: &ArrayInfo) -> bool {
    let is_single = info.shape.iter().filter(|&&len| len > 1).count() < 2;
    info.fortran_order && !is_single && !info.shape.contains(&0)
}

/// The uncompressed bytes of a Bloscpack container.
pub struct Container(Ordered<Archive<NamedFile>>);

impl Stored for Archive<NamedFile> {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        Ok(self.read_range(position, dest)?)
    }
}

impl Container {
    pub fn open(path: &Path, reading: &Reading) -> Result<Container> {
        bloscpack::check_complete(path)?;
        let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
        archive.set_threads(reading.threads().into());
        let metadata = archive.metadata().map(Metadata::of).transpose()?;
        let nbytes = archive.plain_size()?;
        let info = match ArrayInfo::from_metadata(metadata.as_ref()) {
            Ok(info) => Some(info),
            Err(bloscpack::Error::NotANumpyArray) => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(expected) = info.as_ref().map(ArrayInfo::nbytes).transpose()?
            && expected != nbytes
        {
            let actual = nbytes;
            return Err(bloscpack::Error::ArraySize { expected, actual }.into());
        }
        let typesize = match &info {
            Some(info) => info.dtype.itemsize(),
            None => archive.header().typesize.max(1).into(),
        };
        let unit = archive.header().chunk_size.map_or(0, u64::from);
        let read_size = read_size_of(unit);
        Ok(Container(Ordered::new(archive, info, typesize, nbytes, read_size)))
    }
}

impl Container {
    /// Returns the type and shape in storage order, if the container holds an array.
    pub fn array(&self) -> Option<&ArrayInfo> {
        self.0.info.as_ref()
    }

    /// Returns the chunk size in bytes, or 0 if it is unknown.
    pub fn chunk_size(&self) -> u64 {
        self.0.stored.header().chunk_size.map_or(0, u64::from)
    }
}

impl Source for Container {
    fn content(&self) -> &Content {
        &self.0.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        self.0.read(position, dest)
    }
}

/// A `.npy` file.
pub struct Npy(Ordered<ItemsOfFile>);

/// The items of a `.npy` file, after its header.
struct ItemsOfFile {
    file: NamedFile,
    start: u64,
}

impl Stored for ItemsOfFile {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        let read = self.file.read_at(self.start + position, dest);
        if read.map_err(blpk::Error::from)? == dest.len() {
            Ok(())
        } else {
            Err(bloscpack::Error::Npy("there are too few items").into())
        }
    }
}

impl Npy {
    pub fn open(path: &Path) -> Result<Npy> {
        let mut file = NamedFile::open_regular(path)?;
        let info = read_npy_header(&mut file)?;
        let start = file.stream_position()?;
        let nbytes = info.nbytes()?;
        let actual = file.file().metadata()?.len();
        let expected = start.saturating_add(nbytes);
        if actual < expected {
            return Err(Error::Truncated { expected, actual });
        }
        Npy::of(file, start, info)
    }

    /// Opens a member of a `.npz` file, after comparing its CRC-32. A compressed member is inflated
    /// to a temporary file.
    pub fn open_member(path: &Path) -> Result<Npy> {
        let npz = Npz::open(path)?;
        let member = npz.member()?;
        let archive = npz.archive();
        let (info, header_len) = npz.header(member)?;
        if member.is_stored() {
            archive.check_content(member)?;
            let start = archive.data_offset(member)? + header_len;
            let file = NamedFile::open_regular(archive.path())?;
            archive.check_unchanged()?;
            return Npy::of(file, start, info);
        }
        let folder = ferroblosc::os::temporary_directory();
        let error = |error| named(error, ferroblosc::Error::FileOpen, "create a file in", &folder);
        let file = files::create_unnamed(&folder).map_err(error)?;
        let mut file = NamedFile::new(file, folder.join("a temporary file"));
        let mut failed = None;
        let inflated = archive.for_each_piece(member, |piece| {
            file.write_all(piece).map_err(|error| {
                failed = Some(error);
                store::Error::Memory
            })
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        inflated?;
        Npy::of(file, header_len, info)
    }

    fn of(file: NamedFile, start: u64, info: ArrayInfo) -> Result<Npy> {
        let (typesize, nbytes) = (info.dtype.itemsize(), info.nbytes()?);
        let stored = ItemsOfFile { file, start };
        Ok(Npy(Ordered::new(stored, Some(info), typesize, nbytes, MAX_READ)))
    }
}

impl Source for Npy {
    fn content(&self) -> &Content {
        &self.0.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        self.0.read(position, dest)
    }
}

/// A file of bytes.
pub struct Raw {
    file: NamedFile,
    content: Content,
}

impl Raw {
    pub fn open(path: &Path) -> Result<Raw> {
        let file = NamedFile::open_regular(path)?;
        let nbytes = file.file().metadata()?.len();
        let content = Content { array: None, typesize: 1, nbytes, read_size: MAX_READ };
        Ok(Raw { file, content })
    }
}

impl Source for Raw {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let count = self.file.read_at(position, dest).map_err(blpk::Error::from)?;
        if count == dest.len() {
            return Ok(());
        }
        // Another program has shortened the file.
        let actual = self.file.file().metadata()?.len();
        Err(Error::Truncated { expected: self.content.nbytes, actual })
    }
}
