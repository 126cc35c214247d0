//! The lines of `-v` and `-d` about containers, in the format of Bloscpack.

use crate::error::Failure;
use crate::log::{Level, Logger};
use crate::show::{self, truth};
use ferroblosc::chunk::BasicHeader;
use ferroblosc::io::ReadAt;
use ferroblosc_formats::bloscpack::{
    BloscArgs, ChunkReport, Chunking, MetadataArgs, Observer, PackArgs, Reserve, Shuffle, Value,
    double_pretty_size, zlib_size,
};
use ferroblosc_formats::blpk::{
    Archive, Checksum, Header, MetadataCodec, MetadataSection, OFFSET_LENGTH, bytes_repr,
};
use std::fs::File;
use std::path::Path;

/// The size of a header in bytes.
const HEADER_LENGTH: usize = 32;

/// Lists the arguments of the command line, sorted by name.
pub fn arguments(logger: &Logger, arguments: &mut [(&str, String)]) {
    logger.debug("command line argument parsing complete");
    logger.debug("command line arguments are: ");
    arguments.sort_by_key(|argument| argument.0);
    for (name, value) in arguments {
        logger.debug(&format!("    {name}: {value}"));
    }
}

/// Shows the division of `size` bytes into chunks of `chunk_size` bytes.
pub fn chunking(logger: &Logger, size: u64, chunk_size: u64) -> Result<(), Failure> {
    let chunking = Chunking::new(size, chunk_size)?;
    if size == 0 {
        return Ok(());
    }
    if size < chunk_size {
        logger.verbose(&format!(
            "Input was smaller than the given 'chunk_size': {} using: {}",
            double_pretty_size(chunk_size),
            double_pretty_size(size)
        ));
    }
    let (chunk_size, last) = (chunking.chunk_size.into(), chunking.last_chunk.into());
    logger.verbose(&format!("nchunks: {}", chunking.nchunks));
    logger.verbose(&format!("chunk_size: {}", double_pretty_size(chunk_size)));
    logger.verbose(&format!("last_chunk_size: {}", double_pretty_size(last)));
    Ok(())
}

/// Formats a reserve like Python, without the address of functions.
fn reserve(reserve: &Reserve) -> String {
    match reserve {
        Reserve::Exactly(number) => number.to_string(),
        _ => "<function <lambda>>".to_owned(),
    }
}

/// Shows the arguments of packing.
pub fn pack_arguments(logger: &Logger, args: &PackArgs) {
    let BloscArgs { typesize, clevel, shuffle, codec, .. } = args.blosc;
    logger.debug(&format!(
        "BloscArgs:
    typesize: {typesize}
    clevel: {clevel}
    shuffle: {}
    cname: '{}'
BloscpackArgs:
    offsets: {}
    checksum: '{}'
    max_app_chunks: {}",
        truth(shuffle != Shuffle::None),
        codec.name(),
        truth(args.bloscpack.offsets),
        args.bloscpack.checksum.name(),
        reserve(&args.bloscpack.max_app_chunks),
    ));
    if args.metadata.is_some() {
        let args = &args.metadata_args;
        logger.debug(&format!(
            "MetadataArgs:
    magic_format: {}
    meta_checksum: '{}'
    meta_codec: '{}'
    meta_level: {}
    max_meta_size: {}",
            bytes_repr(args.magic_format.as_bytes()),
            args.checksum.name(),
            args.codec.name(),
            args.level,
            reserve(&args.max_meta_size),
        ));
    } else {
        logger.debug("metadata_args will be silently ignored");
    }
    logger.debug(match args.bloscpack.max_app_chunks {
        _ if !args.bloscpack.offsets => "max_app_chunks will be silently ignored",
        Reserve::Exactly(_) => "max_app_chunks is an int",
        _ => "max_app_chunks is a callable",
    });
}

/// Shows the bytes of a header that is written.
pub fn written_header(logger: &Logger, header: &Header) {
    if let Ok(bytes) = header.encode() {
        logger.debug(&format!("raw_bloscpack_header: {}", bytes_repr(&bytes)));
    }
}

/// Shows a metadata section that is written, which holds `value`.
pub fn written_metadata(
    logger: &Logger,
    section: &MetadataSection,
    value: &Value,
    args: &MetadataArgs,
) {
    if logger.level() < Level::Debug {
        return;
    }
    let header = &section.header;
    if header.codec != args.codec {
        let plain = value.to_json();
        if let Ok(compressed) = zlib_size(args.level, plain.as_bytes()) {
            logger.debug(&format!(
                "metadata compression requested, but it was not beneficial, deactivating \
                 (raw: '{}' vs. compressed: '{compressed}') ",
                plain.len()
            ));
        }
    }
    logger.debug(&format!(
        "Raw {} metadata of size '{}': {}",
        compressed(header.codec),
        header.stored,
        bytes_repr(&section.stored)
    ));
    logger.debug(&format!("max meta size is deemed to be: {}", header.reserved));
    logger.debug(&format!("raw_metadata_header: {}", bytes_repr(&header.encode())));
    logger.debug(&format!(
        "metadata has {} preallocated empty bytes",
        header.reserved - header.stored
    ));
    if header.checksum != Checksum::None {
        logger.debug(&format!(
            "metadata checksum ({}): {}",
            header.checksum.name(),
            bytes_repr(&header.checksum.digest(&section.stored))
        ));
    }
    logger.debug(&format!(
        "metadata section occupies a total of {}",
        double_pretty_size(section.stored_len())
    ));
}

fn compressed(codec: MetadataCodec) -> &'static str {
    match codec {
        MetadataCodec::None => "uncompressed",
        MetadataCodec::Zlib => "compressed",
    }
}

/// Shows the offsets that are written.
pub fn written_offsets(logger: &Logger, offsets: impl Iterator<Item = u64>) {
    if logger.level() < Level::Debug {
        return;
    }
    let offsets: Vec<u64> = offsets.collect();
    let raw: Vec<u8> = offsets.iter().flat_map(|at| at.to_le_bytes()).collect();
    logger.debug(&format!("Writing '{}' offsets: '{offsets:?}'", offsets.len()));
    logger.debug(&format!("Raw offsets: {}", bytes_repr(&raw)));
}

/// Shows the first bytes of a file, before they are parsed.
pub fn raw_header(logger: &Logger, path: &Path) {
    if logger.level() < Level::Debug {
        return;
    }
    let mut bytes = [0; HEADER_LENGTH];
    // An unreadable file is reported when its header is parsed.
    if let Ok(file) = File::open(path)
        && let Ok(len) = ReadAt::read_at(&file, 0, &mut bytes)
    {
        logger.debug("reading bloscpack header");
        logger.debug(&format!("bloscpack_header_raw: {}", bytes_repr(&bytes[..len])));
    }
}

/// Shows a header and a metadata section that were read.
pub fn read_header(logger: &Logger, header: &Header, metadata: Option<&MetadataSection>) {
    logger.debug(&format!("bloscpack header: {}", header_repr(header)));
    let Some(section) = metadata else {
        return;
    };
    let MetadataSection { header, stored } = section;
    logger.debug(&format!("raw metadata header: {}", bytes_repr(&header.encode())));
    logger.debug(&show::metadata_header(header));
    if header.checksum != Checksum::None {
        logger.debug(&format!(
            "metadata checksum OK ({}): {}",
            header.checksum.name(),
            bytes_repr(&header.checksum.digest(stored))
        ));
    }
    logger.verbose(&format!(
        "read {} metadata of size: '{}'",
        compressed(header.codec),
        header.stored
    ));
}

fn header_repr(header: &Header) -> String {
    fn number(number: Option<impl ToString>) -> String {
        number.map_or_else(|| "-1".to_owned(), |number| number.to_string())
    }
    format!(
        "BloscpackHeader(format_version={}, offsets={}, metadata={}, checksum='{}', typesize={}, \
         chunk_size={}, last_chunk={}, nchunks={}, max_app_chunks={})",
        header.version,
        truth(header.offsets),
        truth(header.metadata),
        header.checksum.name(),
        header.typesize,
        number(header.chunk_size),
        number(header.last_chunk),
        number(header.nchunks),
        header.max_app_chunks,
    )
}

/// Shows the offsets section of a file, unused entries included.
pub fn read_offsets(logger: &Logger, archive: &mut Archive<File>) -> Result<(), Failure> {
    if logger.level() < Level::Debug || !archive.header().offsets {
        return Ok(());
    }
    let entries = archive.header().entries().unwrap_or(0);
    // The section is inside the file, which was checked when the archive was opened.
    let len = usize::try_from(entries * OFFSET_LENGTH)
        .map_err(|_| ferroblosc_formats::blpk::Error::Memory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| ferroblosc_formats::blpk::Error::Memory)?;
    bytes.resize(len, 0);
    let start = archive.prelude().offsets_start;
    ReadAt::read_at(archive.source(), start, &mut bytes)
        .map_err(ferroblosc_formats::blpk::Error::from)?;
    logger.debug(&format!("Read raw offsets: {}", bytes_repr(&bytes)));
    let offsets = archive.offsets()?.unwrap_or_default();
    logger.debug(&format!("Offsets: {offsets:?}"));
    Ok(())
}

/// Shows the header of a chunk that was read.
pub fn chunk_header(logger: &Logger, header: &BasicHeader) {
    logger.debug(&format!("blosc_header: {}", show::chunk_header(header)));
}

/// Shows the chunks as they are written or read.
pub struct Chunks<'v> {
    pub logger: &'v Logger,
    pub checksum: Checksum,
    pub work: Operation,
    /// The arguments of a new container.
    pub args: Option<&'v PackArgs>,
}

/// The operation on chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Compress,
    /// The first chunk is the last one of the container, written again.
    Append,
    Decompress,
}

impl Chunks<'_> {
    fn checksum(&self, mark: &str, digest: &[u8]) {
        self.logger.debug(&format!(
            "checksum{mark} ({}): {}",
            self.checksum.name(),
            bytes_repr(digest)
        ));
    }

    fn written(&self, index: u64, report: &ChunkReport<'_>) {
        let last = match (self.work, report.is_last) {
            (_, true) => " (last)",
            (Operation::Append, false) => " ",
            (_, false) => "",
        };
        self.logger.debug(&format!("Handle chunk '{index}'{last}"));
        if self.checksum == Checksum::None {
            self.logger.debug("no checksum");
        } else {
            self.checksum("", report.digest);
        }
    }

    fn read(&self, report: &ChunkReport<'_>) {
        if let Ok(header) = BasicHeader::parse(report.chunk) {
            chunk_header(self.logger, &header);
        }
        let last = if report.is_last { " (last)" } else { "" };
        self.logger.debug(&format!("decompressing chunk '{}'{last}", report.index));
        if self.checksum != Checksum::None {
            self.checksum(" OK", report.digest);
        }
    }

    fn handled(&self, input: usize, output: usize) {
        self.logger.debug(&format!(
            "chunk handled, in: {} out: {}",
            double_pretty_size(input as u64),
            double_pretty_size(output as u64)
        ));
    }
}

impl Observer for Chunks<'_> {
    fn start(&mut self, header: &Header, metadata: Option<&MetadataSection>) {
        self.logger.debug(&format!("max_app_chunks was set to: {}", header.max_app_chunks));
        self.logger.debug(&show::header(header));
        written_header(self.logger, header);
        if let (Some(args), Some(section)) = (self.args, metadata)
            && let Some(value) = &args.metadata
        {
            written_metadata(self.logger, section, value, &args.metadata_args);
        }
    }

    fn chunk(&mut self, report: &ChunkReport<'_>) {
        if self.logger.level() < Level::Debug {
            return;
        }
        match self.work {
            Operation::Compress => {
                self.written(report.index, report);
                self.handled(report.nbytes, report.chunk.len());
            }
            Operation::Append => {
                if let Some(index) = report.index.checked_sub(1) {
                    self.written(index, report);
                }
            }
            Operation::Decompress => {
                self.read(report);
                self.handled(report.chunk.len(), report.nbytes);
            }
        }
    }
}
