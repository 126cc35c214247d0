//! Writing containers of Bloscpack, `.npy` files, chunks of Blosc 1.x, and bytes.

use crate::io::named::{self, NamedFile};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use super::super::attachments::Attachments;
use super::super::error::{Error, Result};
use super::super::source::Source;
use super::{Progress, Writing, array_in, each_piece};
use crate::blosc1;
use crate::bloscpack::{
    self, ArrayInfo, BloscArgs, BloscpackArgs, Codec, MetadataArgs, PackArgs, Shuffle, Value,
    npy_header,
};
use crate::chunk::SplitMode;
use crate::codec;

/// Bytes that files are written in.
const FILE_BUFFER: usize = 256 << 10;
/// The largest item that the header of a container can tell.
const MAX_TYPESIZE: u64 = 255;

/// Writes all bytes of a source to anything, a pipe perhaps.
///
/// # Errors
/// Those of reading and writing.
pub fn write_to(
    source: &mut dyn Source,
    output: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<()> {
    let piece = source.content().piece;
    each_piece(
        source,
        piece,
        progress,
        |bytes| Ok(output.write_all(bytes)?),
    )?;
    Ok(output.flush()?)
}

pub fn write_bytes(source: &mut dyn Source, output: &Path, progress: Progress<'_>) -> Result<()> {
    let mut writer = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    write_to(source, &mut writer, progress)
}

pub fn write_npy(source: &mut dyn Source, output: &Path, progress: Progress<'_>) -> Result<()> {
    let info = array_in(source)?;
    let mut writer = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    writer.write_all(&npy_header(&info)?)?;
    let piece = source.content().piece;
    each_piece(
        source,
        piece,
        progress,
        |bytes| Ok(writer.write_all(bytes)?),
    )?;
    Ok(writer.flush()?)
}

pub fn write_chunk1(
    source: &mut dyn Source,
    output: &Path,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let bytes = super::frame::all(source, blosc1::MAX_BUFFERSIZE as u64, progress)?;
    let compression = writing.compression();
    let typesize = source.content().typesize;
    let params = blosc1::Params {
        call: blosc1::Call {
            clevel: compression.level.into(),
            shuffle: compression.shuffle()?.into(),
            typesize: if typesize <= MAX_TYPESIZE {
                typesize.max(1) as usize
            } else {
                1
            },
        },
        compressor: Some(compression.codec),
        blocksize: compression.blocksize,
        splitmode: SplitMode::FORWARD_COMPAT,
        nthreads: writing.threads().into(),
    };
    let mut chunk = vec![0; bytes.len() + blosc1::HEADER_LENGTH];
    let compressed = blosc1::Engine::default().compress(&params, &bytes, &mut chunk);
    let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
    Ok(named::write(output, &chunk[..cbytes])?)
}

/// A source that is read from front to back. Its errors are kept, since those of reading can't hold them.
struct Reader<'s> {
    source: &'s mut dyn Source,
    position: u64,
    piece: Vec<u8>,
    taken: usize,
    progress: Progress<'s>,
    error: &'s mut Option<Error>,
}

impl Read for Reader<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() {
            let content = self.source.content();
            let len = (content.nbytes - self.position).min(content.piece as u64) as usize;
            self.piece.resize(len, 0);
            self.taken = 0;
            if let Err(error) = self.source.read(self.position, &mut self.piece) {
                self.piece.clear();
                *self.error = Some(error);
                return Err(io::Error::other("the source can't be read"));
            }
            self.position += len as u64;
            (self.progress)(len as u64);
        }
        let count = dest.len().min(self.piece.len() - self.taken);
        dest[..count].copy_from_slice(&self.piece[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// The metadata of a container: what describes the array, and the attributes.
fn metadata_of(array: Option<&ArrayInfo>, attachments: &Attachments) -> Option<Value> {
    let extra = attachments.metadata(array.is_some());
    match array.map(ArrayInfo::to_metadata) {
        Some(Value::Object(mut entries)) => {
            entries.extend(extra);
            Some(Value::Object(entries))
        }
        None if !extra.is_empty() => Some(Value::Object(extra)),
        described => described,
    }
}

pub fn write_container(
    source: &mut dyn Source,
    output: &Path,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let content = source.content().clone();
    let compression = writing.compression();
    let name = codec::compcode_to_compname(compression.codec);
    let name = name
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let itemsize = content.typesize.max(1);
    let args = PackArgs {
        chunk_size: writing.chunk_bytes(itemsize),
        metadata: metadata_of(content.array.as_ref(), attachments),
        blosc: BloscArgs {
            typesize: if itemsize <= MAX_TYPESIZE {
                itemsize as i64
            } else {
                1
            },
            clevel: compression.level.into(),
            shuffle: match compression.shuffle()? {
                0 => Shuffle::None,
                1 => Shuffle::Bytes,
                _ => Shuffle::Bits,
            },
            codec: Codec::from_name(&name)?,
            blocksize: usize::try_from(compression.blocksize).unwrap_or(0),
            splitmode: SplitMode::FORWARD_COMPAT,
        },
        bloscpack: BloscpackArgs::default(),
        metadata_args: MetadataArgs::default(),
        nthreads: writing.nthreads.max(1),
    };
    let mut failed = None;
    let reader = Reader {
        source,
        position: 0,
        piece: Vec::new(),
        taken: 0,
        progress,
        error: &mut failed,
    };
    let packed = bloscpack::pack_to_file(reader, Some(content.nbytes), output, &args, &mut ());
    match failed {
        Some(error) => Err(error),
        None => Ok(packed.map(drop)?),
    }
}
