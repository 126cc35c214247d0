//! Reads containers sequentially.

use ferroblosc::io::named::NamedFile;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use super::error::{Error, Result};
use super::journal;
use super::metadata::Metadata;
use super::pack::{ChunkReport, FILE_BUFFER, Observer, known_size};
use super::pipeline::{self, ThreadSplit};
use super::replacement::{Replacement, check_different};
use crate::blpk::{Chunk, Header, MetadataSection, Stream};
use ferroblosc::blosc1::Engine;

/// A container whose header and metadata have been read.
pub struct Unpacking<R> {
    stream: Stream<R>,
    metadata: Option<Metadata>,
}

/// The result of unpacking.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unpacked {
    /// The header.
    pub header: Header,
    /// The metadata.
    pub metadata: Option<Metadata>,
    /// The uncompressed size in bytes.
    pub output_size: u64,
}

impl<R: Read + Send> Unpacking<R> {
    /// Reads the header and the metadata. `size` is the size of the container in bytes, if known.
    ///
    /// # Errors
    /// The errors of [`Stream::new`] and [`Metadata::of`].
    pub fn new(input: R, size: Option<u64>) -> Result<Unpacking<R>> {
        let stream = Stream::new(input, size)?;
        let metadata = stream.metadata().map(Metadata::of).transpose()?;
        Ok(Unpacking { stream, metadata })
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        self.stream.header()
    }

    /// Returns the metadata.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// Returns the stored metadata section.
    pub fn section(&self) -> Option<&MetadataSection> {
        self.stream.metadata()
    }

    /// Returns the stream of chunks.
    pub(super) fn stream(&mut self) -> &mut Stream<R> {
        &mut self.stream
    }

    /// Decompresses all chunks on `nthreads` threads.
    ///
    /// # Errors
    /// [`Error`]
    pub fn run(
        mut self,
        output: &mut (impl Write + Send),
        nthreads: usize,
        observer: &mut impl Observer,
    ) -> Result<Unpacked> {
        let header = *self.header();
        let split = ThreadSplit::new(nthreads, header.nchunks, header.chunk_size);
        let mut output_size = 0;
        let stream = &mut self.stream;
        pipeline::run(
            split,
            |stored| Ok(stream.next_chunk(stored)?),
            |engine: &mut Engine, chunk: &mut Chunk, stored, plain| {
                chunk.decode(stored, engine, split.threads_per_worker, plain)?;
                Ok::<(), Error>(())
            },
            |chunk, stored, plain| {
                output.write_all(plain)?;
                output_size += plain.len() as u64;
                let (bytes, digest) = stored.split_at(chunk.cbytes as usize);
                observer.chunk(&ChunkReport {
                    index: chunk.index,
                    is_last: header.nchunks == Some(chunk.index + 1),
                    nbytes: plain.len(),
                    chunk: bytes,
                    digest,
                });
                Ok(())
            },
        )?;
        Ok(Unpacked { header, metadata: self.metadata, output_size })
    }
}

/// Opens a container for sequential reading. Fails if its last change was interrupted.
///
/// # Errors
/// [`Error`]
pub fn open_file(input: &Path) -> Result<Unpacking<BufReader<NamedFile>>> {
    journal::check(input)?;
    unpacking_of(NamedFile::open(input)?)
}

/// Opens a container that is read more than once, like [`open_file`]: never waits for a FIFO, and
/// rejects it.
///
/// # Errors
/// [`Error`]
pub(super) fn open_regular_file(input: &Path) -> Result<Unpacking<BufReader<NamedFile>>> {
    journal::check(input)?;
    unpacking_of(NamedFile::open_regular(input)?)
}

fn unpacking_of(file: NamedFile) -> Result<Unpacking<BufReader<NamedFile>>> {
    let size = known_size(&file)?;
    Unpacking::new(BufReader::with_capacity(FILE_BUFFER, file), size)
}

/// Unpacks into a file, which is created atomically.
///
/// # Errors
/// [`Error`]
pub fn unpack_to_file(
    unpacking: Unpacking<impl Read + Send>,
    output: &Path,
    nthreads: usize,
    observer: &mut impl Observer,
) -> Result<Unpacked> {
    let mut replacement = Replacement::create(output)?;
    let mut writer = replacement.writer();
    let unpacked = unpacking.run(&mut writer, nthreads, observer)?;
    writer.flush()?;
    drop(writer);
    replacement.commit()?;
    Ok(unpacked)
}

/// Unpacks a file into a file.
///
/// # Errors
/// [`Error`]; [`Error::SameFile`] if both paths are the same file.
pub fn unpack_file_from_file(input: &Path, output: &Path, nthreads: usize) -> Result<Unpacked> {
    check_different(input, output)?;
    unpack_to_file(open_file(input)?, output, nthreads, &mut ())
}

/// Unpacks a file into memory.
///
/// # Errors
/// [`Error`]
pub fn unpack_bytes_from_file(input: &Path, nthreads: usize) -> Result<(Vec<u8>, Unpacked)> {
    let mut bytes = Bytes::default();
    let unpacked = open_file(input)?.run(&mut bytes, nthreads, &mut ())?;
    Ok((bytes.0, unpacked))
}

/// Unpacks bytes into memory.
///
/// # Errors
/// [`Error`]
pub fn unpack_bytes_from_bytes(input: &[u8], nthreads: usize) -> Result<(Vec<u8>, Unpacked)> {
    let mut bytes = Bytes::default();
    let unpacking = Unpacking::new(input, Some(input.len() as u64))?;
    let unpacked = unpacking.run(&mut bytes, nthreads, &mut ())?;
    Ok((bytes.0, unpacked))
}

/// A byte vector that reports failed allocations as errors.
#[derive(Default)]
pub(super) struct Bytes(pub Vec<u8>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.try_reserve(bytes.len()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
