//! Creates containers sequentially, then writes the fields that are known only at the end.

use ferroblosc::io::named::{NamedFile, named};
use std::io::{self, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::args::{BloscArgs, PackArgs};
use super::chunking::{Chunking, checked_chunk_size};
use super::error::{Error, Result};
use super::metadata::section_for;
use super::pipeline::{self, ThreadSplit, fill};
use super::replacement::{Replacement, check_different};
use crate::blpk::{Checksum, Header, MetadataSection, OFFSET_LENGTH, UNUSED_OFFSET};
use ferroblosc::blosc1::{self, Engine};
use ferroblosc::chunk::MIN_HEADER_LENGTH;

/// The size of file buffers in bytes; larger chunks are read without a copy.
pub(super) const FILE_BUFFER: usize = 256 << 10;
/// The number of offsets written at once.
const OFFSETS_STEP: usize = 8 << 10;

/// A report about a chunk that was written or read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChunkReport<'c> {
    /// The index of the chunk.
    pub index: u64,
    /// Whether it is known to be the last.
    pub is_last: bool,
    /// The uncompressed size in bytes.
    pub nbytes: usize,
    /// The chunk without its digest.
    pub chunk: &'c [u8],
    /// The digest.
    pub digest: &'c [u8],
}

/// A receiver of reports about chunks, in order.
pub trait Observer: Send {
    /// Called once before the first chunk of a new container, with the header and the metadata
    /// section that precede it. The header may be replaced at the end.
    fn start(&mut self, _header: &Header, _metadata: Option<&MetadataSection>) {}

    /// Called for each chunk that was written or read.
    fn chunk(&mut self, report: &ChunkReport<'_>);
}

/// Ignores all reports.
impl Observer for () {
    fn chunk(&mut self, _: &ChunkReport<'_>) {}
}

/// The result of packing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Packed {
    /// The header.
    pub header: Header,
    /// The metadata section.
    pub metadata: Option<MetadataSection>,
    /// The offsets of the chunks in bytes.
    pub offsets: Vec<u64>,
    /// The uncompressed size in bytes.
    pub input_size: u64,
    /// The size of the container in bytes.
    pub output_size: u64,
}

/// Compresses chunks and computes their digests.
pub(super) struct Encoder {
    params: blosc1::Params,
    pub checksum: Checksum,
}

impl Encoder {
    /// Creates an encoder for `threads_per_worker` threads.
    pub fn new(args: &BloscArgs, checksum: Checksum, threads_per_worker: i32) -> Result<Encoder> {
        Ok(Encoder { params: args.params(threads_per_worker)?, checksum })
    }

    /// Writes the chunk of `plain` and its digest to the start of `output`. Returns their length in
    /// bytes.
    pub fn encode(&self, engine: &mut Engine, plain: &[u8], output: &mut Vec<u8>) -> Result<usize> {
        let needed = plain.len() + MIN_HEADER_LENGTH + self.checksum.size();
        if output.len() < needed {
            output.try_reserve(needed - output.len())?;
            output.resize(needed, 0);
        }
        let (chunk_buffer, _) = output.split_at_mut(plain.len() + MIN_HEADER_LENGTH);
        let cbytes =
            engine.compress(&self.params, plain, chunk_buffer).map_err(Error::Compression)?;
        if cbytes == 0 {
            // The buffer fits an uncompressed copy, so compression cannot run out of space.
            return Err(Error::Compression(blosc1::Error::Failure));
        }
        let digest = self.checksum.digest(&output[..cbytes]);
        output[cbytes..cbytes + digest.len()].copy_from_slice(&digest);
        Ok(cbytes + digest.len())
    }
}

/// A chunk in the pipeline.
pub(super) struct ChunkJob {
    pub index: u64,
    pub stored: usize,
}

/// Reads data in chunks of `chunk_size` bytes and a shorter last one. Empty data are one empty
/// chunk.
pub(super) struct ChunkReader<R> {
    pub reader: R,
    pub chunk_size: usize,
    /// The required size in bytes; `None` for a pipe.
    pub size: Option<u64>,
    pub read: u64,
    pub next: u64,
}

impl<R: Read> ChunkReader<R> {
    pub fn new(reader: R, chunk_size: u32, size: Option<u64>) -> ChunkReader<R> {
        ChunkReader { reader, chunk_size: chunk_size as usize, size, read: 0, next: 0 }
    }

    pub fn next(&mut self, plain: &mut Vec<u8>) -> Result<Option<ChunkJob>> {
        let len = match self.size {
            Some(size) => usize::try_from(size - self.read)
                .map_or(self.chunk_size, |remaining| remaining.min(self.chunk_size)),
            None => self.chunk_size,
        };
        if len == 0 && self.next > 0 {
            return Ok(None);
        }
        fill(&mut self.reader, len, plain)?;
        if plain.len() < len && self.size.is_some() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        if plain.is_empty() && self.next > 0 {
            return Ok(None);
        }
        let index = self.next;
        self.next += 1;
        self.read += plain.len() as u64;
        Ok(Some(ChunkJob { index, stored: 0 }))
    }
}

/// The kind of the output. Only a seekable output can be overwritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Seekable,
    Stream,
}

/// The content before the chunks.
struct Plan {
    header: Header,
    metadata: Option<MetadataSection>,
    chunk_size: u32,
}

impl Plan {
    fn new(size: Option<u64>, output: Output, args: &PackArgs) -> Result<Plan> {
        let mut header = Header {
            checksum: args.bloscpack.checksum,
            typesize: args.blosc.header_typesize()?,
            metadata: args.metadata.is_some(),
            ..Header::default()
        };
        let chunk_size = match size {
            Some(size) => {
                let chunking = Chunking::new(size, args.chunk_size)?;
                describe(&mut header, &chunking);
                // Offsets are known last, but precede the chunks.
                if args.bloscpack.offsets && output == Output::Seekable {
                    header.offsets = true;
                    header.max_app_chunks = args.bloscpack.max_app_chunks_for(chunking.nchunks)?;
                }
                chunking.chunk_size
            }
            None => checked_chunk_size(args.chunk_size)?,
        };
        let section = |value| section_for(value, &args.metadata_args);
        Ok(Plan { header, metadata: args.metadata.as_ref().map(section).transpose()?, chunk_size })
    }
}

fn describe(header: &mut Header, chunking: &Chunking) {
    header.nchunks = Some(chunking.nchunks);
    header.chunk_size = Some(chunking.chunk_size);
    header.last_chunk = Some(chunking.last_chunk);
}

/// Counts the bytes written.
struct CountingWriter<'o, W> {
    output: &'o mut W,
    position: u64,
}

impl<W: Write> CountingWriter<'_, W> {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.output.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

/// Writes the container sequentially. Fields known only at the end are returned.
fn write(
    input: impl Read + Send,
    size: Option<u64>,
    plan: Plan,
    output: &mut (impl Write + Send),
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let mut output = CountingWriter { output, position: 0 };
    output.write_all(&plan.header.encode()?)?;
    observer.start(&plan.header, plan.metadata.as_ref());
    if let Some(section) = &plan.metadata {
        section.write(&mut *output.output)?;
        output.position += section.stored_len();
    }
    if plan.header.offsets {
        let unused = UNUSED_OFFSET.to_le_bytes().repeat(OFFSETS_STEP);
        let mut remaining = plan.header.entries().unwrap_or(0).saturating_mul(OFFSET_LENGTH);
        while remaining > 0 {
            let step = remaining.min(unused.len() as u64) as usize;
            output.write_all(&unused[..step])?;
            remaining -= step as u64;
        }
    }
    let nchunks = plan.header.nchunks;
    let split = ThreadSplit::new(args.nthreads, nchunks, Some(plan.chunk_size));
    let encoder = Encoder::new(&args.blosc, plan.header.checksum, split.threads_per_worker)?;
    let mut chunks = ChunkReader::new(input, plan.chunk_size, size);
    let mut offsets = Vec::new();
    pipeline::run(
        split,
        |plain| chunks.next(plain),
        |engine: &mut Engine, job: &mut ChunkJob, plain, stored| {
            job.stored = encoder.encode(engine, plain, stored)?;
            Ok::<(), Error>(())
        },
        |job, plain, stored| {
            let stored = &stored[..job.stored];
            offsets.try_reserve(1)?;
            offsets.push(output.position);
            output.write_all(stored)?;
            observer.chunk(&report(&job, nchunks, encoder.checksum, plain, stored));
            Ok(())
        },
    )?;
    let output_size = output.position;
    Ok(Packed {
        header: plan.header,
        metadata: plan.metadata,
        input_size: chunks.read,
        output_size,
        offsets,
    })
}

/// Returns the report for observers.
pub(super) fn report<'c>(
    job: &ChunkJob,
    nchunks: Option<u64>,
    checksum: Checksum,
    plain: &[u8],
    stored: &'c [u8],
) -> ChunkReport<'c> {
    let (chunk, digest) = stored.split_at(stored.len() - checksum.size());
    ChunkReport {
        index: job.index,
        is_last: nchunks == Some(job.index + 1),
        nbytes: plain.len(),
        chunk,
        digest,
    }
}

/// Packs `size` bytes of `input`, or all of it, into a seekable output. Does not flush.
///
/// # Errors
/// [`Error`]
pub fn pack(
    input: impl Read + Send,
    size: Option<u64>,
    output: &mut (impl Write + Seek + Send),
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let plan = Plan::new(size, Output::Seekable, args)?;
    let chunk_size = plan.chunk_size;
    let start = output.stream_position()?;
    let mut packed = write(input, size, plan, output, args, observer)?;
    if size.is_none() {
        let chunking = Chunking::new(packed.input_size, chunk_size.into())?;
        describe(&mut packed.header, &chunking);
        output.seek(SeekFrom::Start(start))?;
        output.write_all(&packed.header.encode()?)?;
    }
    if packed.header.offsets {
        let metadata = packed.metadata.as_ref().map_or(0, MetadataSection::stored_len);
        let section = start + packed.header.encoded_len() as u64 + metadata;
        output.seek(SeekFrom::Start(section))?;
        for chunk in packed.offsets.chunks(OFFSETS_STEP) {
            let entries: Vec<u8> = chunk.iter().flat_map(|at| at.to_le_bytes()).collect();
            output.write_all(&entries)?;
        }
    }
    output.seek(SeekFrom::Start(start + packed.output_size))?;
    Ok(packed)
}

/// Packs `input` into a non-seekable output, without offsets. If the size is unknown, the header
/// does not contain it, and the container extends to the end of the file.
///
/// # Errors
/// [`Error`]
pub fn pack_stream(
    input: impl Read + Send,
    size: Option<u64>,
    output: &mut (impl Write + Send),
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let plan = Plan::new(size, Output::Stream, args)?;
    write(input, size, plan, output, args, observer)
}

/// Packs `input` into a file, which is created atomically.
///
/// # Errors
/// [`Error`]
pub fn pack_to_file(
    input: impl Read + Send,
    size: Option<u64>,
    output: &Path,
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    pack_to_checked(input, size, output, args, observer, || Ok(()))
}

/// As [`pack_to_file`]; calls `check` before an existing file is replaced.
pub(super) fn pack_to_checked(
    input: impl Read + Send,
    size: Option<u64>,
    output: &Path,
    args: &PackArgs,
    observer: &mut impl Observer,
    check: impl FnOnce() -> Result<()>,
) -> Result<Packed> {
    let mut replacement = Replacement::create(output)?;
    let is_seekable = replacement.is_seekable();
    let mut writer = replacement.writer();
    let packed = if is_seekable {
        pack(input, size, &mut writer, args, observer)?
    } else {
        pack_stream(input, size, &mut writer, args, observer)?
    };
    writer.flush()?;
    drop(writer);
    check()?;
    replacement.commit()?;
    Ok(packed)
}

/// Returns the size of a regular file, or `None` for pipes and devices.
pub(super) fn known_size(file: &NamedFile) -> Result<Option<u64>> {
    let failed = |error| named(error, ferroblosc::Error::FileRead, "read", file.path());
    let metadata = file.file().metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()).into());
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// Packs a file into a file.
///
/// # Errors
/// [`Error`]; [`Error::SameFile`] if both paths are the same file.
pub fn pack_file_to_file(input: &Path, output: &Path, args: &PackArgs) -> Result<Packed> {
    check_different(input, output)?;
    let file = NamedFile::open(input)?;
    let size = known_size(&file)?;
    let reader = BufReader::with_capacity(FILE_BUFFER, file);
    pack_to_file(reader, size, output, args, &mut ())
}

/// Packs bytes into a file.
///
/// # Errors
/// [`Error`]
pub fn pack_bytes_to_file(input: &[u8], output: &Path, args: &PackArgs) -> Result<Packed> {
    pack_to_file(input, Some(input.len() as u64), output, args, &mut ())
}

/// Packs bytes into memory.
///
/// # Errors
/// [`Error`]
pub fn pack_bytes_to_bytes(input: &[u8], args: &PackArgs) -> Result<Vec<u8>> {
    let mut output = Memory::default();
    pack(input, Some(input.len() as u64), &mut output, args, &mut ())?;
    Ok(output.0.into_inner())
}

/// Memory that reports failed allocations as errors.
#[derive(Default)]
struct Memory(Cursor<Vec<u8>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = usize::try_from(self.0.position()).ok();
        let end = end.and_then(|position| position.checked_add(bytes.len()));
        let missing = end.map(|end| end.saturating_sub(self.0.get_ref().len()));
        let reserved = missing.map(|missing| self.0.get_mut().try_reserve(missing));
        if !matches!(reserved, Some(Ok(()))) {
            return Err(ErrorKind::OutOfMemory.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Memory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_allocated_is_an_error() {
        let mut memory = Memory::default();
        memory.write_all(b"abc").unwrap();
        for position in [u64::MAX - 2, u64::MAX / 2, 1 << 62] {
            memory.seek(SeekFrom::Start(position)).unwrap();
            let error = Error::from(memory.write_all(b"abc").unwrap_err());
            assert_eq!(error.code(), ferroblosc::Error::MemoryAlloc);
        }
        memory.seek(SeekFrom::Start(1)).unwrap();
        memory.write_all(b"xyz").unwrap();
        memory.flush().unwrap();
        assert_eq!(memory.0.into_inner(), b"axyz");
    }
}
