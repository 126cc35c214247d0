//! Whether a container is what it says, in all its parts.

use crate::io::named::NamedFile;
use std::path::Path;

use super::error::Result;
use super::pipeline::{self, Spread};
use super::unpack::open_file;
use crate::blosc1::Engine;
use crate::blpk::{self, Archive, Chunk, Header, UNUSED_OFFSET};

/// What was found.
#[derive(Debug)]
pub struct Report {
    /// The header.
    pub header: Header,
    /// Chunks that were read.
    pub chunks: u64,
    /// Plain bytes in them.
    pub plain_size: u64,
    /// Bytes behind the last chunk, which belong to nobody.
    pub trailing: u64,
    /// Chunks that have no offset although there are offsets.
    pub without_offset: u64,
    /// The byte of the file where each of them begins.
    pub positions: Vec<u64>,
    /// What is wrong.
    pub faults: Vec<blpk::Error>,
}

/// The most faults that are kept.
const MAX_FAULTS: usize = 100;

/// Reads all of a file: every digest, every chunk, the offsets, the sizes.
///
/// # Errors
/// What keeps the file from being read at all; a header that can't be right is among it.
pub fn verify(path: &Path, nthreads: usize) -> Result<Report> {
    let mut unpacking = open_file(path)?;
    let header = *unpacking.header();
    let mut report = Report {
        header,
        chunks: 0,
        plain_size: 0,
        trailing: 0,
        without_offset: 0,
        positions: Vec::new(),
        faults: Vec::new(),
    };
    let stream = unpacking.stream();
    let spread = Spread::new(nthreads, header.nchunks, header.chunk_size);
    let run = pipeline::run(
        spread,
        |stored| {
            let position = stream.position();
            let chunk = stream.next_chunk(stored)?;
            Ok(chunk.map(|chunk| (position, chunk, None)))
        },
        |engine: &mut Engine, (_, chunk, fault): &mut (u64, Chunk, _), stored, plain| {
            *fault = chunk.decode(stored, engine, spread.inside, plain).err();
            Ok::<(), blpk::Error>(())
        },
        |(position, chunk, fault), _, _| {
            report.chunks += 1;
            report.plain_size += u64::from(chunk.nbytes);
            report.positions.try_reserve(1)?;
            report.positions.push(position);
            match fault {
                Some(fault) if fault.is_corruption() => report.add(fault),
                Some(other) => return Err(other),
                None => {}
            }
            Ok(())
        },
    );
    match run {
        Err(fault) if fault.is_corruption() => report.add(fault),
        other => other?,
    }
    let end = stream.position();
    let mut archive = Archive::open(NamedFile::open(path)?)?;
    if report.faults.is_empty() {
        report.trailing = archive.file_size().saturating_sub(end);
    }
    report.compare_offsets(&mut archive)?;
    Ok(report)
}

impl Report {
    fn add(&mut self, fault: blpk::Error) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    fn compare_offsets(&mut self, archive: &mut Archive<NamedFile>) -> Result<()> {
        let Some(offsets) = archive.offsets()? else {
            return Ok(());
        };
        let mut wrong = Vec::new();
        for (index, (&offset, &position)) in offsets.iter().zip(&self.positions).enumerate() {
            let index = index as u64;
            match u64::try_from(offset) {
                Ok(offset) if offset == position => {}
                _ if offset == UNUSED_OFFSET => self.without_offset += 1,
                _ => wrong.push(blpk::Error::Offset { index, offset }),
            }
        }
        for fault in wrong {
            self.add(fault);
        }
        Ok(())
    }
}
