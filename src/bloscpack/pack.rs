//! Making containers: everything from front to back, then what is known only at the end.

use crate::io::named::NamedFile;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::args::{BloscArgs, PackArgs};
use super::chunking::{Chunking, checked_chunk_size};
use super::error::{Error, Result};
use super::metadata::section_for;
use super::pipeline::{self, Spread, fill};
use super::safe::{Replacement, check_different};
use crate::blosc1::{self, Engine};
use crate::blpk::{Checksum, Header, MetadataSection, OFFSET_LENGTH, UNUSED_OFFSET};
use crate::chunk::MIN_HEADER_LENGTH;

/// Bytes that files are read in; larger chunks are not copied on their way.
pub(super) const FILE_BUFFER: usize = 256 << 10;
/// Bytes of the offsets section that are made at once.
const OFFSETS_AT_ONCE: usize = 64 << 10;

/// What is told of a chunk that was written or read.
#[derive(Clone, Copy, Debug)]
pub struct ChunkReport<'c> {
    /// Which one.
    pub index: u64,
    /// Whether it is known to be the last.
    pub is_last: bool,
    /// Plain bytes.
    pub nbytes: usize,
    /// The chunk without its digest.
    pub chunk: &'c [u8],
    /// The digest.
    pub digest: &'c [u8],
}

/// Is told of chunks, in their order.
pub trait Observer: Send {
    /// Called once before the first chunk of a new container, with the header and the metadata section
    /// as they are written then.
    fn start(&mut self, _header: &Header, _metadata: Option<&MetadataSection>) {}

    /// A chunk was written or read.
    fn chunk(&mut self, report: &ChunkReport<'_>);
}

/// Nobody wants to know.
impl Observer for () {
    fn chunk(&mut self, _: &ChunkReport<'_>) {}
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The header.
    pub header: Header,
    /// The metadata section.
    pub metadata: Option<MetadataSection>,
    /// Where the chunks are.
    pub offsets: Vec<u64>,
    /// Plain bytes.
    pub input_size: u64,
    /// Bytes of the container.
    pub output_size: u64,
}

/// Compresses chunks, with what a worker keeps.
pub(super) struct Encoder {
    params: blosc1::Params,
    pub checksum: Checksum,
}

impl Encoder {
    /// An encoder that works on `inside` threads.
    pub fn new(args: &BloscArgs, checksum: Checksum, inside: i32) -> Result<Encoder> {
        Ok(Encoder {
            params: args.params(inside)?,
            checksum,
        })
    }

    /// Makes a chunk and its digest of `plain`; returns their bytes at the beginning of `output`.
    pub fn encode(&self, engine: &mut Engine, plain: &[u8], output: &mut Vec<u8>) -> Result<usize> {
        let room = plain.len() + MIN_HEADER_LENGTH + self.checksum.size();
        if output.len() < room {
            output.try_reserve(room - output.len())?;
            output.resize(room, 0);
        }
        let (chunk_room, _) = output.split_at_mut(plain.len() + MIN_HEADER_LENGTH);
        let cbytes = engine
            .compress(&self.params, plain, chunk_room)
            .map_err(Error::Compression)?;
        if cbytes == 0 {
            // There is room for a copy, so the engine always finds one.
            return Err(Error::Compression(blosc1::Error::Failure));
        }
        let digest = self.checksum.digest(&output[..cbytes]);
        output[cbytes..cbytes + digest.len()].copy_from_slice(&digest);
        Ok(cbytes + digest.len())
    }
}

/// A piece on its way: plain bytes become stored ones.
pub(super) struct Piece {
    pub index: u64,
    pub stored: usize,
}

/// Reads pieces of data: `chunk_size` bytes each and what is left; of no data one piece of nothing.
pub(super) struct Pieces<R> {
    pub reader: R,
    pub chunk_size: usize,
    /// What there must be; unknown for a pipe.
    pub size: Option<u64>,
    pub read: u64,
    pub next: u64,
}

impl<R: Read> Pieces<R> {
    pub fn new(reader: R, chunk_size: u32, size: Option<u64>) -> Pieces<R> {
        Pieces {
            reader,
            chunk_size: chunk_size as usize,
            size,
            read: 0,
            next: 0,
        }
    }

    pub fn next(&mut self, plain: &mut Vec<u8>) -> Result<Option<Piece>> {
        let len = match self.size {
            Some(size) => usize::try_from(size - self.read)
                .map_or(self.chunk_size, |left| left.min(self.chunk_size)),
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
        Ok(Some(Piece { index, stored: 0 }))
    }
}

/// Whether what was written can be written over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Seekable,
    Stream,
}

/// What stands in front of the chunks.
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
                // Offsets are known last, and stand in front.
                if args.bloscpack.offsets && output == Output::Seekable {
                    header.offsets = true;
                    header.max_app_chunks = args.bloscpack.max_app_chunks_for(chunking.nchunks)?;
                }
                chunking.chunk_size
            }
            None => checked_chunk_size(args.chunk_size)?,
        };
        let section = |value| section_for(value, &args.metadata_args);
        Ok(Plan {
            header,
            metadata: args.metadata.as_ref().map(section).transpose()?,
            chunk_size,
        })
    }
}

fn describe(header: &mut Header, chunking: &Chunking) {
    header.nchunks = Some(chunking.nchunks);
    header.chunk_size = Some(chunking.chunk_size);
    header.last_chunk = Some(chunking.last_chunk);
}

/// Counts what is written.
struct Counted<'o, W> {
    output: &'o mut W,
    position: u64,
}

impl<W: Write> Counted<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.output.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}

/// Writes everything; what is known only at the end is in what it returns.
fn write(
    input: impl Read + Send,
    size: Option<u64>,
    plan: Plan,
    output: &mut (impl Write + Send),
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let mut output = Counted {
        output,
        position: 0,
    };
    output.put(&plan.header.encode()?)?;
    observer.start(&plan.header, plan.metadata.as_ref());
    if let Some(section) = &plan.metadata {
        output.put(&section.encode()?)?;
    }
    if plan.header.offsets {
        let unused = UNUSED_OFFSET
            .to_le_bytes()
            .repeat(OFFSETS_AT_ONCE / OFFSET_LENGTH as usize);
        let mut left = plan
            .header
            .entries()
            .unwrap_or(0)
            .saturating_mul(OFFSET_LENGTH);
        while left > 0 {
            let step = left.min(unused.len() as u64) as usize;
            output.put(&unused[..step])?;
            left -= step as u64;
        }
    }
    let nchunks = plan.header.nchunks;
    let spread = Spread::new(args.nthreads, nchunks, Some(plan.chunk_size));
    let encoder = Encoder::new(&args.blosc, plan.header.checksum, spread.inside)?;
    let mut pieces = Pieces::new(input, plan.chunk_size, size);
    let mut offsets = Vec::new();
    pipeline::run(
        spread,
        |plain| pieces.next(plain),
        |engine: &mut Engine, piece: &mut Piece, plain, stored| {
            piece.stored = encoder.encode(engine, plain, stored)?;
            Ok::<(), Error>(())
        },
        |piece, plain, stored| {
            let stored = &stored[..piece.stored];
            offsets.try_reserve(1)?;
            offsets.push(output.position);
            output.put(stored)?;
            observer.chunk(&report(&piece, nchunks, encoder.checksum, plain, stored));
            Ok(())
        },
    )?;
    let output_size = output.position;
    Ok(Packed {
        header: plan.header,
        metadata: plan.metadata,
        input_size: pieces.read,
        output_size,
        offsets,
    })
}

/// What observers are told.
pub(super) fn report<'c>(
    piece: &Piece,
    nchunks: Option<u64>,
    checksum: Checksum,
    plain: &[u8],
    stored: &'c [u8],
) -> ChunkReport<'c> {
    let (chunk, digest) = stored.split_at(stored.len() - checksum.size());
    ChunkReport {
        index: piece.index,
        is_last: nchunks == Some(piece.index + 1),
        nbytes: plain.len(),
        chunk,
        digest,
    }
}

/// Packs what `input` gives, `size` bytes or as many as there are, into something that can be written to at
/// any position; it is not flushed.
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
        let metadata = packed
            .metadata
            .as_ref()
            .map_or(0, MetadataSection::stored_len);
        let section = start + packed.header.encoded_len() as u64 + metadata;
        output.seek(SeekFrom::Start(section))?;
        for chunk in packed.offsets.chunks(OFFSETS_AT_ONCE) {
            let entries: Vec<u8> = chunk.iter().flat_map(|at| at.to_le_bytes()).collect();
            output.write_all(&entries)?;
        }
    }
    output.seek(SeekFrom::Start(start + packed.output_size))?;
    Ok(packed)
}

/// Packs what `input` gives into something that can only be written to. There are no offsets then, and where
/// the size is not known, the header doesn't tell how much there is: the container ends where its file does.
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

/// Packs what `input` gives into a file, which appears when it is complete.
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
    replacement.commit()?;
    Ok(packed)
}

/// The size of a file, when it has one: pipes and the like have none.
pub(super) fn known_size(file: &File) -> Result<Option<u64>> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory).into());
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// Packs a file into a file.
///
/// # Errors
/// [`Error`]; [`Error::SameFile`] when they are one.
pub fn pack_file_to_file(input: &Path, output: &Path, args: &PackArgs) -> Result<Packed> {
    check_different(input, output)?;
    let file = NamedFile::open(input)?;
    let size = known_size(file.file())?;
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

/// Packs bytes into bytes.
///
/// # Errors
/// [`Error`]
pub fn pack_bytes_to_bytes(input: &[u8], args: &PackArgs) -> Result<Vec<u8>> {
    let mut output = Cursor::new(Vec::new());
    pack(input, Some(input.len() as u64), &mut output, args, &mut ())?;
    Ok(output.into_inner())
}
