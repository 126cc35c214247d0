//! Writes Bloscpack containers, `.npy` and `.npz` files, Blosc 1.x chunks and bytes.

use ferroblosc::io::named::{self, NamedFile};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::super::attachments::Attachments;
use super::super::error::{Error, Result};
use super::super::npz;
use super::super::source::Source;
use super::input::{Progress, any_array_in, for_each_segment};
use super::options::Writing;
use crate::bloscpack::{
    self, BloscArgs, BloscpackArgs, Codec, MetadataArgs, PackArgs, Shuffle, Value,
};
use crate::numpy::{ArrayInfo, npy_header};
use crate::store::zip::ZipWriter;
use ferroblosc::blosc1;
use ferroblosc::chunk::SplitMode;
use ferroblosc::codec;

/// The size of file buffers in bytes.
const FILE_BUFFER: usize = 256 << 10;
/// The maximum type size of a container header.
const MAX_TYPESIZE: u64 = 255;

/// Writes all bytes of a source to a stream.
///
/// # Errors
/// Returns the error of reading or writing.
pub fn write_to(
    source: &mut dyn Source,
    output: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<()> {
    let size = source.content().read_size;
    for_each_segment(source, size, progress, |bytes| Ok(output.write_all(bytes)?))?;
    Ok(output.flush()?)
}

pub fn write_bytes(source: &mut dyn Source, output: &Path, progress: Progress<'_>) -> Result<()> {
    let mut writer = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    write_to(source, &mut writer, progress)
}

pub fn write_npy(source: &mut dyn Source, output: &Path, progress: Progress<'_>) -> Result<()> {
    let info = any_array_in(source)?;
    let mut writer = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    writer.write_all(&npy_header(&info)?)?;
    let size = source.content().read_size;
    for_each_segment(source, size, progress, |bytes| Ok(writer.write_all(bytes)?))?;
    Ok(writer.flush()?)
}

/// The name of an array in a `.npz` file, as NumPy gives it to the first one.
const ARRAY_NAME: &str = "arr_0";

pub fn write_npz(
    source: &mut dyn Source,
    output: &Path,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let info = any_array_in(source)?;
    let key = writing.name.as_deref().unwrap_or(ARRAY_NAME);
    if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Error::Name(key.to_owned()));
    }
    let header = npy_header(&info)?;
    let size = header.len() as u64 + info.nbytes()?;
    let read_size = source.content().read_size;
    let file = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    let mut zip = ZipWriter::new(file, 0);
    let name = npz::member_name(key);
    let fill = |member: &mut dyn Write| -> Result<()> {
        member.write_all(&header)?;
        for_each_segment(source, read_size, progress, |bytes| Ok(member.write_all(bytes)?))
    };
    zip.add_stream(&name, size, fill, Error::from)?;
    zip.finish()?;
    Ok(())
}

/// Writes a `.npz` file of these `.npy` files, with their keys.
///
/// # Errors
/// [`Error::Name`] for a key that is not a path; the errors of reading and writing.
pub fn join_npz(files: &[(String, PathBuf)], output: &Path) -> Result<()> {
    let file = BufWriter::with_capacity(FILE_BUFFER, NamedFile::create(output)?);
    let mut zip = ZipWriter::new(file, 0);
    for (key, path) in files {
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(Error::Name(key.clone()));
        }
        let mut source = NamedFile::open_regular(path)?;
        let size = std::fs::metadata(path)?.len();
        let fill = |member: &mut dyn Write| -> Result<()> {
            io::copy(&mut source, member)?;
            Ok(())
        };
        zip.add_stream(&npz::member_name(key), size, fill, Error::from)?;
    }
    zip.finish()?;
    Ok(())
}

pub fn write_chunk1(
    source: &mut dyn Source,
    output: &Path,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let bytes = super::frame::read_all(source, blosc1::MAX_BUFFERSIZE as u64, progress)?;
    let compression = writing.compression();
    let typesize = source.content().typesize;
    let params = blosc1::Params {
        call: blosc1::Call {
            clevel: compression.level.into(),
            shuffle: compression.shuffle()?.into(),
            typesize: if typesize <= MAX_TYPESIZE { typesize.max(1) as usize } else { 1 },
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

/// A sequential reader of a source. It stores the source's error, so that its type is preserved.
struct Reader<'s> {
    source: &'s mut dyn Source,
    position: u64,
    buffer: Vec<u8>,
    consumed: usize,
    progress: Progress<'s>,
    error: &'s mut Option<Error>,
}

impl Read for Reader<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.consumed == self.buffer.len() {
            let content = self.source.content();
            let len = (content.nbytes - self.position).min(content.read_size as u64) as usize;
            self.buffer.resize(len, 0);
            self.consumed = 0;
            if let Err(error) = self.source.read(self.position, &mut self.buffer) {
                self.buffer.clear();
                *self.error = Some(error);
                return Err(io::Error::other("the source cannot be read"));
            }
            self.position += len as u64;
            (self.progress)(len as u64);
        }
        let count = dest.len().min(self.buffer.len() - self.consumed);
        dest[..count].copy_from_slice(&self.buffer[self.consumed..self.consumed + count]);
        self.consumed += count;
        Ok(count)
    }
}

/// Returns the metadata of a container: the array description and the attributes.
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
    let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let itemsize = content.typesize.max(1);
    let args = PackArgs {
        chunk_size: writing.chunk_bytes(itemsize),
        metadata: metadata_of(content.array.as_ref(), attachments),
        blosc: BloscArgs {
            typesize: if itemsize <= MAX_TYPESIZE { itemsize as i64 } else { 1 },
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
        buffer: Vec::new(),
        consumed: 0,
        progress,
        error: &mut failed,
    };
    let packed = bloscpack::pack_to_file(reader, Some(content.nbytes), output, &args, &mut ());
    match failed {
        Some(error) => Err(error),
        None => Ok(packed.map(drop)?),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Destination, Reading, SourceOptions, convert, detect};
    use super::*;
    use crate::numpy::Dtype;

    #[test]
    fn arrays_of_items_without_bytes_are_written_to_numpy_files() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        for (dtype, shape) in [("|S0", vec![3]), ("<U0", vec![]), ("[('a', '|V0')]", vec![2, 0])] {
            let dtype = Dtype::parse(dtype).unwrap();
            let header = npy_header(&ArrayInfo { dtype, shape, fortran_order: false }).unwrap();
            std::fs::write(path("in.npy"), &header).unwrap();
            let converted = |from: &str, to: &str, destination| {
                convert(
                    (&path(from), &detect(&path(from)).unwrap()),
                    (&path(to), destination),
                    (&Reading::default(), &SourceOptions::default()),
                    &Writing::default(),
                    &mut |_| {},
                )
            };
            converted("in.npy", "out.npz", Destination::Npz).unwrap();
            converted("out.npz", "out.npy", Destination::Npy).unwrap();
            assert_eq!(std::fs::read(path("out.npy")).unwrap(), header);
            let refused = converted("in.npy", "out.b2nd", Destination::B2nd { directory: false });
            assert!(matches!(refused, Err(Error::CannotHold(_))), "{refused:?}");
        }
    }
}
