//! Verifies containers.

use ferroblosc::io::named::NamedFile;
use std::path::Path;

use super::error::Result;
use super::pipeline::{self, ThreadSplit};
use super::unpack::open_regular_file;
use crate::blpk::{self, Archive, Chunk, Header, UNUSED_OFFSET};
use ferroblosc::blosc1::Engine;

/// The result of [`verify`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The header.
    pub header: Header,
    /// The number of chunks that were read.
    pub chunks: u64,
    /// The uncompressed size of these chunks in bytes.
    pub plain_size: u64,
    /// The number of unused bytes after the last chunk.
    pub trailing: u64,
    /// The number of chunks without an offset in a container with offsets.
    pub without_offset: u64,
    /// The offset of each chunk in the file, in bytes.
    pub positions: Vec<u64>,
    /// The faults.
    pub faults: Vec<blpk::Error>,
}

/// The maximum number of faults to report.
const MAX_FAULTS: usize = 100;

/// Verifies all digests, chunks, offsets and sizes of a file.
///
/// # Errors
/// Returns an error if the file cannot be read at all, for example because of an invalid header.
pub fn verify(path: &Path, nthreads: usize) -> Result<Report> {
    let mut unpacking = open_regular_file(path)?;
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
    let split = ThreadSplit::new(nthreads, header.nchunks, header.chunk_size);
    let run = pipeline::run(
        split,
        |stored| {
            let position = stream.position();
            let chunk = stream.next_chunk(stored)?;
            Ok(chunk.map(|chunk| (position, chunk, None)))
        },
        |engine: &mut Engine, (_, chunk, fault): &mut (u64, Chunk, _), stored, plain| {
            *fault = chunk.decode(stored, engine, split.threads_per_worker, plain).err();
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
    let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
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
        let mut mismatches = Vec::new();
        for (index, (&offset, &position)) in offsets.iter().zip(&self.positions).enumerate() {
            let index = index as u64;
            match u64::try_from(offset) {
                Ok(offset) if offset == position => {}
                _ if offset == UNUSED_OFFSET => self.without_offset += 1,
                _ => mismatches.push(blpk::Error::Offset { index, offset }),
            }
        }
        for fault in mismatches {
            self.add(fault);
        }
        Ok(())
    }
}
