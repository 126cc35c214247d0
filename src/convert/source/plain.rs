//! Reading containers of Bloscpack and `.npy` files, whose items are in the order of either language.
//!
//! Items in Fortran's order are gathered: along the first dimension they follow each other in the file, and one run
//! of them at a time is read through a window of the file that is kept.

use crate::io::named::NamedFile;
use std::io::Seek;
use std::path::Path;

use super::super::boxes::boxes;
use super::super::error::{Error, Result};
use super::{Content, MOST_AT_ONCE, Reading, Source, piece_of};
use crate::bloscpack::{self, ArrayInfo, Metadata, read_npy_header};
use crate::blpk::{self, Archive};
use crate::io::ReadAt;

/// Bytes as they are stored, of which any part can be had.
trait Stored {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()>;
}

/// Bytes of a window.
const WINDOW: u64 = 1 << 20;

/// Items in Fortran's order, read in C's.
#[derive(Default)]
struct Gathering {
    start: u64,
    window: Vec<u8>,
}

impl Gathering {
    /// Reads few bytes through the window.
    fn read(
        &mut self,
        stored: &mut impl Stored,
        size: u64,
        position: u64,
        dest: &mut [u8],
    ) -> Result<()> {
        let end = position + dest.len() as u64;
        let known = self.start..self.start + self.window.len() as u64;
        if dest.len() as u64 > WINDOW / 2 {
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

    fn gather(
        &mut self,
        stored: &mut impl Stored,
        info: &ArrayInfo,
        first: u64,
        dest: &mut [u8],
    ) -> Result<()> {
        let size = info.dtype.itemsize();
        let nbytes = info.nbytes()?;
        let shape: Vec<i64> = info.shape.iter().map(|&len| len as i64).collect();
        let mut rest = dest;
        for piece in boxes(&shape, first, rest.len() as u64 / size) {
            let extents: Vec<u64> = piece
                .start
                .iter()
                .zip(&piece.stop)
                .map(|(start, stop)| start.abs_diff(*stop))
                .collect();
            let count: u64 = extents.iter().product();
            let (part, others) = rest.split_at_mut((count * size) as usize);
            rest = others;
            let run = extents[0];
            let inner = count / run;
            let mut items = vec![0; (run * size) as usize];
            for number in 0..inner {
                // The indices of this item behind the first dimension, and where it is in Fortran's order.
                let (mut left, mut position) = (number, 0);
                for dim in (1..shape.len()).rev() {
                    let index = piece.start[dim].unsigned_abs() + left % extents[dim];
                    left /= extents[dim];
                    let stride: u64 = info.shape[..dim].iter().product();
                    position += index * stride;
                }
                position += piece.start[0].unsigned_abs();
                self.read(stored, nbytes, position * size, &mut items)?;
                for (row, item) in items.chunks_exact(size as usize).enumerate() {
                    let at = (row as u64 * inner + number) as usize * size as usize;
                    part[at..at + size as usize].copy_from_slice(item);
                }
            }
        }
        Ok(())
    }
}

/// Items that are stored in some order.
struct Ordered<S> {
    stored: S,
    /// The array as it is stored.
    info: Option<ArrayInfo>,
    gathering: Gathering,
    content: Content,
}

impl<S: Stored> Ordered<S> {
    fn new(
        stored: S,
        info: Option<ArrayInfo>,
        typesize: u64,
        nbytes: u64,
        piece: usize,
    ) -> Ordered<S> {
        let array = info.clone().map(|info| ArrayInfo {
            fortran_order: false,
            ..info
        });
        let gathers = info.as_ref().is_some_and(gathers);
        Ordered {
            stored,
            info,
            gathering: Gathering::default(),
            content: Content {
                array,
                typesize,
                nbytes,
                // The more is gathered at once, the longer are the runs.
                piece: if gathers { 4 * MOST_AT_ONCE } else { piece },
            },
        }
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        super::check_range(&self.content, position, dest.len())?;
        match &self.info {
            Some(info) if gathers(info) => {
                let first = position / info.dtype.itemsize();
                self.gathering.gather(&mut self.stored, info, first, dest)
            }
            _ => self.stored.read(position, dest),
        }
    }
}

/// Whether the order of an array is not C's.
fn gathers(info: &ArrayInfo) -> bool {
    let is_single = info.shape.iter().filter(|&&len| len > 1).count() < 2;
    info.fortran_order && !is_single && !info.shape.contains(&0)
}

/// The plain bytes in a container of Bloscpack.
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
        let piece = piece_of(unit);
        Ok(Container(Ordered::new(
            archive, info, typesize, nbytes, piece,
        )))
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

/// The items of a file behind its header.
struct ItemsOfFile {
    file: NamedFile,
    start: u64,
}

impl Stored for ItemsOfFile {
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        let read = self.file.read_at(self.start + position, dest);
        match read.map_err(blpk::Error::from)? == dest.len() {
            true => Ok(()),
            false => Err(bloscpack::Error::Npy("there are too few items").into()),
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
            return Err(Error::CutOff { expected, actual });
        }
        let typesize = info.dtype.itemsize();
        let stored = ItemsOfFile { file, start };
        Ok(Npy(Ordered::new(
            stored,
            Some(info),
            typesize,
            nbytes,
            MOST_AT_ONCE,
        )))
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
