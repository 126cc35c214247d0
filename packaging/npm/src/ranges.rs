//! The bytes of a source that JavaScript has supplied, as a storage of the core.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferroblosc::io::{Backend, Mode, Stream, WriteGranularity};
use ferroblosc::{Error, Result};

/// Bytes at a position of the source.
struct Piece {
    /// The number of the read for which the bytes were supplied; 0 for those that are kept.
    read: u32,
    start: u64,
    bytes: Vec<u8>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// The supplied bytes of a source.
#[derive(Default)]
struct Ranges {
    size: u64,
    pieces: Vec<Piece>,
    missing: Vec<Range<u64>>,
    assumed: Range<u64>,
}

/// The source of a frame.
///
/// A range that was not supplied is recorded as missing. Reading it fails, except in the section of
/// the chunks ([`Source::assume_zeros`]), where it returns zeros: one attempt then finds all blocks
/// that it needs. The result of an attempt with missing ranges must be discarded.
#[derive(Clone, Default)]
pub struct Source(Arc<Mutex<Ranges>>);

impl Source {
    /// Returns a source of `size` bytes. No byte is supplied yet.
    pub fn new(size: u64) -> Source {
        Source(Arc::new(Mutex::new(Ranges { size, ..Ranges::default() })))
    }

    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Supplies bytes for the read with this number.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn supply(&self, read: u32, start: u64, bytes: &[u8]) -> Result<()> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len()).map_err(|_| Error::MemoryAlloc)?;
        copy.extend_from_slice(bytes);
        let mut ranges = self.ranges();
        ranges.pieces.try_reserve(1).map_err(|_| Error::MemoryAlloc)?;
        ranges.pieces.push(Piece { read, start, bytes: copy });
        Ok(())
    }

    /// Drops the bytes of a read.
    pub fn release(&self, read: u32) {
        self.ranges().pieces.retain(|piece| piece.read != read);
    }

    /// Returns zeros for missing bytes of this section.
    pub fn assume_zeros(&self, section: Range<u64>) {
        self.ranges().assumed = section;
    }

    /// Returns the number of missing ranges, and the total of their lengths.
    pub fn missing(&self) -> (usize, u64) {
        let ranges = self.ranges();
        let total = ranges.missing.iter().map(|range| range.end - range.start).sum();
        (ranges.missing.len(), total)
    }

    /// Removes and returns the missing ranges.
    pub fn take_missing(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.ranges().missing)
    }
}

impl Ranges {
    /// Fills `dest` from the supplied bytes; records the gaps.
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let end = self.size.min(position.saturating_add(dest.len() as u64));
        let mut at = position;
        while at < end {
            let rest = &mut dest[(at - position) as usize..(end - position) as usize];
            let found = self.pieces.iter().find(|piece| piece.start <= at && at < piece.end());
            at += if let Some(piece) = found {
                let from = &piece.bytes[(at - piece.start) as usize..];
                let len = from.len().min(rest.len());
                rest[..len].copy_from_slice(&from[..len]);
                len as u64
            } else {
                let later = self.pieces.iter().map(|piece| piece.start).filter(|&it| it > at);
                let gap = at..later.min().unwrap_or(end).min(end);
                let len = gap.end - gap.start;
                let is_assumed = self.assumed.start <= gap.start && gap.end <= self.assumed.end;
                self.missing.try_reserve(1).map_err(|_| Error::MemoryAlloc)?;
                self.missing.push(gap);
                if !is_assumed {
                    return Err(Error::FileRead.because("bytes of the source are missing"));
                }
                rest[..len as usize].fill(0);
                len
            };
        }
        Ok(end.saturating_sub(position) as usize)
    }
}

impl Backend for Source {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        if mode == Mode::Read {
            Ok(Box::new(self.clone()))
        } else {
            Err(Error::FileOpen.at(path).because("the source can only be read"))
        }
    }
}

impl Stream for Source {
    fn size(&self) -> Result<u64> {
        Ok(self.ranges().size)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.ranges().read(position, dest)
    }

    fn write_at(
        &self,
        _position: u64,
        _bytes: &[u8],
        _granularity: WriteGranularity,
    ) -> Result<()> {
        Err(Error::FileWrite)
    }

    fn truncate(&self, _len: u64) -> Result<()> {
        Err(Error::FileTruncate)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_recorded_and_only_those_of_chunks_are_zeros() {
        let source = Source::new(100);
        source.supply(0, 0, &[1; 10]).unwrap();
        source.supply(7, 20, &[2; 10]).unwrap();
        let mut dest = [9; 30];
        assert_eq!(source.read_at(5, &mut dest), Err(Error::FileRead));
        assert_eq!(source.take_missing(), [10..20]);
        source.assume_zeros(10..80);
        assert_eq!(source.read_at(5, &mut dest), Ok(30));
        assert_eq!(source.missing(), (2, 15));
        assert_eq!(source.take_missing(), [10..20, 30..35]);
        assert_eq!(dest, *[vec![1; 5], vec![0; 10], vec![2; 10], vec![0; 5]].concat());
        source.release(7);
        assert_eq!(source.read_at(20, &mut dest[..2]), Ok(2));
        assert_eq!(source.take_missing(), [20..22]);
        // The end of the source is not a missing range.
        source.supply(0, 95, &[3; 5]).unwrap();
        assert_eq!(source.read_at(96, &mut dest), Ok(4));
        assert_eq!(source.read_at(200, &mut dest), Ok(0));
        assert_eq!(source.missing(), (0, 0));
    }
}
