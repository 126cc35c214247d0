//! Appends to a container in place.
//!
//! The last chunk is always decompressed, filled up and recompressed. Further data become new
//! chunks after it, with offsets in the reserved entries. Nothing before the last chunk moves. The
//! result is the same as splitting the data of the last chunk and the new data into chunks of the
//! file's chunk size.

use ferroblosc::io::named::NamedFile;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use super::args::Codec;
use super::args::{BloscArgs, BloscpackArgs, MetadataArgs, PackArgs, Reserve, Shuffle};
use super::error::{Error, Result};
use super::journal::{self, Disk, OldState, Region};
use super::json::Value;
use super::metadata::{Metadata, replacement};
use super::pack::{
    ChunkJob, ChunkReader, Encoder, FILE_BUFFER, Observer, known_size, pack_to_checked, report,
};
use super::pipeline::{self, ThreadSplit};
use super::replacement::{Replacement, check_different};
use crate::blpk::{self, Archive, ChunkLocation, Header, MetadataSection, OFFSET_LENGTH, VERSION};
use ferroblosc::blosc1::Engine;
use ferroblosc::io::ReadAt;

/// Parameters of an append.
#[derive(Clone, Debug)]
pub struct AppendArgs {
    /// The item size in bytes, or `None` for that of the container's header.
    pub typesize: Option<i64>,
    /// The compression level, 0 (no compression) to 9 (best ratio).
    pub clevel: i64,
    /// The filter.
    pub shuffle: Shuffle,
    /// The codec.
    pub codec: Codec,
    /// New metadata.
    pub metadata: Option<Value>,
    /// The storage parameters of new metadata.
    pub metadata_args: MetadataArgs,
    /// The number of threads.
    pub nthreads: usize,
}

impl Default for AppendArgs {
    /// The defaults of [`BloscArgs`] with the header's type size; unchanged metadata; one thread.
    fn default() -> AppendArgs {
        let blosc = BloscArgs::default();
        AppendArgs {
            typesize: None,
            clevel: blosc.clevel,
            shuffle: blosc.shuffle,
            codec: blosc.codec,
            metadata: None,
            metadata_args: MetadataArgs::default(),
            nthreads: 1,
        }
    }
}

impl AppendArgs {
    fn blosc(&self, header: &Header) -> BloscArgs {
        BloscArgs {
            typesize: self.typesize.unwrap_or(header.typesize.into()),
            clevel: self.clevel,
            shuffle: self.shuffle,
            codec: self.codec,
            ..BloscArgs::default()
        }
    }
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Appended {
    /// The previous size of the file in bytes.
    pub old_size: u64,
    /// The new size of the file in bytes.
    pub new_size: u64,
    /// The number of uncompressed bytes appended.
    pub appended: u64,
    /// The number of new chunks, not counting the previous last chunk.
    pub new_chunks: u64,
    /// The new header.
    pub header: Header,
}

/// The validated state of the file before the change.
struct Original {
    header: Header,
    size: u64,
    offsets_start: u64,
    /// The last chunk.
    last: ChunkLocation,
    /// The uncompressed bytes of the last chunk.
    plain: Vec<u8>,
    section: Option<MetadataSection>,
}

/// Reads the state of the file, or returns `None` for a container without data.
fn read_original(file: &File, nthreads: usize) -> Result<Option<Original>> {
    let mut archive = Archive::open(file)?;
    archive.set_threads(i32::try_from(nthreads.clamp(1, 256)).unwrap_or(1));
    let header = *archive.header();
    if header.version != VERSION {
        return Err(blpk::Error::Version(header.version).into());
    }
    let last = match header.nchunks {
        Some(nchunks @ 1..) if header.offsets => nchunks - 1,
        _ => return Err(Error::NoOffsets),
    };
    let plain_size = header.plain_size().ok_or(Error::UnknownSizes)?;
    let mut plain = Vec::new();
    let last = archive.read_chunk(last, &mut plain)?;
    // Everything from the last chunk on is replaced.
    for (index, &offset) in (0..last.chunk.index).zip(archive.offsets()?.unwrap_or_default()) {
        if u64::try_from(offset).is_ok_and(|at| at >= last.position) {
            return Err(blpk::Error::Offset { index, offset }.into());
        }
    }
    // The chunk confirms the size in the header.
    if plain_size == 0 {
        return Ok(None);
    }
    Ok(Some(Original {
        header,
        size: archive.file_size(),
        offsets_start: archive.prelude().offsets_start,
        last,
        plain,
        section: archive.take_metadata(),
    }))
}

impl Original {
    /// Checks that the reserved entries suffice for `appended` more bytes. Returns the number of new
    /// chunks.
    fn check_reserved(&self, appended: u64) -> Result<u64> {
        let chunk_size = u64::from(self.header.chunk_size.unwrap_or(1).max(1));
        let remaining = chunk_size - self.plain.len() as u64;
        let new_chunks = appended.saturating_sub(remaining).div_ceil(chunk_size);
        if new_chunks > self.header.max_app_chunks {
            return Err(Error::NotEnoughSpace);
        }
        Ok(new_chunks)
    }

    /// Returns the section that replaces the current one, if new metadata are given.
    fn new_section(&self, args: &AppendArgs) -> Result<Option<MetadataSection>> {
        let Some(value) = &args.metadata else {
            return Ok(None);
        };
        let old = self.section.as_ref().ok_or(Error::NoMetadataFound)?;
        Ok(Some(replacement(old, value, &args.metadata_args)?))
    }

    /// Returns the offset of the metadata section.
    fn section_start(&self) -> u64 {
        self.header.encoded_len() as u64
    }

    /// Returns the offset of the last chunk's entry in the offsets section.
    fn last_entry(&self) -> u64 {
        self.offsets_start + self.last.chunk.index * OFFSET_LENGTH
    }

    /// Reads the regions of the file that the change will overwrite. `new_chunks` is the number of
    /// chunks that data are appended in, at most, or `None` if only the metadata change.
    fn old_state(
        &self,
        file: &File,
        new_chunks: Option<u64>,
        changes_section: bool,
    ) -> Result<OldState> {
        let mut regions = Vec::new();
        let mut save = |position: u64, len: u64| -> Result<()> {
            let mut bytes = Vec::new();
            let len = usize::try_from(len).map_err(|_| blpk::Error::Memory)?;
            bytes.try_reserve_exact(len)?;
            bytes.resize(len, 0);
            let read = ReadAt::read_at(file, position, &mut bytes).map_err(blpk::Error::from)?;
            if read < len {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            regions.push(Region { position, bytes });
            Ok(())
        };
        if changes_section {
            let len = self.offsets_start - self.section_start();
            save(self.section_start(), len)?;
        }
        if let Some(new_chunks) = new_chunks {
            save(0, self.header.encoded_len() as u64)?;
            save(self.last_entry(), (1 + new_chunks) * OFFSET_LENGTH)?;
            save(self.last.position, self.size - self.last.position)?;
        }
        Ok(OldState { size: self.size, regions })
    }

    /// Writes the chunks, their offsets and the header, then truncates the file. This order keeps
    /// the file as consistent as possible for concurrent readers.
    fn write(
        &self,
        new: impl Read + Send,
        size: Option<u64>,
        disk: &(impl Disk + Sync),
        args: &AppendArgs,
        observer: &mut impl Observer,
    ) -> Result<Appended> {
        let chunk_size = self.header.chunk_size.unwrap_or(1).max(1);
        let total = size.map(|size| size + self.plain.len() as u64);
        let nchunks = total.map(|total| total.div_ceil(u64::from(chunk_size)));
        let split = ThreadSplit::new(args.nthreads, nchunks, Some(chunk_size));
        let blosc = args.blosc(&self.header);
        let encoder = Encoder::new(&blosc, self.header.checksum, split.threads_per_worker)?;
        let mut reader = ChunkReader::new(self.plain.as_slice().chain(new), chunk_size, total);
        let mut position = self.last.position;
        let mut offsets = Vec::new();
        let mut last_chunk = 0;
        pipeline::run(
            split,
            |plain| reader.next(plain),
            |engine: &mut Engine, job: &mut ChunkJob, plain, stored| {
                job.stored = encoder.encode(engine, plain, stored)?;
                Ok::<(), Error>(())
            },
            |job, plain, stored| {
                if job.index > self.header.max_app_chunks {
                    return Err(Error::NotEnoughSpace);
                }
                let stored = &stored[..job.stored];
                disk.write_at(position, stored)?;
                offsets.try_reserve(OFFSET_LENGTH as usize)?;
                offsets.extend(position.to_le_bytes());
                position += stored.len() as u64;
                last_chunk = plain.len() as u32;
                observer.chunk(&report(&job, nchunks, encoder.checksum, plain, stored));
                Ok(())
            },
        )?;
        let new_chunks = reader.next - 1;
        let header = Header {
            nchunks: self.header.nchunks.map(|nchunks| nchunks + new_chunks),
            max_app_chunks: self.header.max_app_chunks - new_chunks,
            last_chunk: Some(last_chunk),
            ..self.header
        };
        disk.write_at(self.last_entry(), &offsets)?;
        disk.write_at(0, &header.encode()?)?;
        disk.set_len(position)?;
        Ok(Appended {
            old_size: self.size,
            new_size: position,
            appended: reader.read - self.plain.len() as u64,
            new_chunks,
            header,
        })
    }

    fn unchanged(&self) -> Appended {
        Appended {
            old_size: self.size,
            new_size: self.size,
            appended: 0,
            new_chunks: 0,
            header: self.header,
        }
    }
}

/// Appends `size` bytes of `new`, or all of it, to a container, and changes its metadata if new
/// ones are given. A failed change is rolled back. An interrupted one can be rolled back later with
/// [`recover`](journal::recover).
///
/// # Errors
/// [`Error::NoOffsets`], [`Error::UnknownSizes`], [`Error::NotEnoughSpace`]; [`Error::Replaced`];
/// the errors of reading the container and of its metadata. The file is then unchanged.
pub fn append(
    original: &Path,
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    journal::open(original)
        .and_then(|(file, _)| append_on(&file, original, &*file, new, size, args, observer))
        .map_err(|error| error.at("append to", original))
}

/// Implements [`append`] with writes through `disk`.
fn append_on(
    file: &File,
    path: &Path,
    disk: &(impl Disk + Sync),
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    let Some(original) = read_original(file, args.nthreads)? else {
        return rebuild(file, path, new, size, args, observer);
    };
    let section = original.new_section(args)?;
    let new_chunks = match size {
        Some(size) => original.check_reserved(size)?,
        None => original.header.max_app_chunks,
    };
    // Validate the arguments before anything is written.
    Encoder::new(&args.blosc(&original.header), original.header.checksum, 1)?;
    let changes_data = size != Some(0);
    if !changes_data && section.is_none() {
        return Ok(original.unchanged());
    }
    let old = original.old_state(file, changes_data.then_some(new_chunks), section.is_some())?;
    journal::change(path, file, disk, &old, || {
        if let Some(section) = &section {
            disk.write_at(original.section_start(), &section.encode()?)?;
        }
        if changes_data {
            original.write(new, size, disk, args, observer)
        } else {
            Ok(original.unchanged())
        }
    })
}

/// Replaces a container without data by a new one with the same options.
fn rebuild(
    file: &File,
    path: &Path,
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    let archive = Archive::open(file)?;
    let (header, old_size) = (*archive.header(), archive.file_size());
    let section = archive.metadata();
    let mut metadata_args = args.metadata_args.clone();
    let old = match section.map(Metadata::of).transpose()? {
        None if args.metadata.is_some() => return Err(Error::NoMetadataFound),
        None => None,
        Some(Metadata::Value(value)) => Some(value),
        Some(Metadata::Opaque { kind, .. }) => {
            return Err(Error::NoSuchSerializer(String::from_utf8_lossy(&kind).into_owned()));
        }
    };
    if let (Some(section), Some(value)) = (section, &args.metadata) {
        // Apply the same checks as for a change in place.
        replacement(section, value, &metadata_args)?;
    }
    if let Some(section) = section {
        metadata_args.max_meta_size = Reserve::Exactly(section.header.reserved.into());
        if args.metadata.is_none() {
            metadata_args.checksum = section.header.checksum;
            metadata_args.codec = section.header.codec;
            metadata_args.level = section.header.level.into();
        }
    }
    if size == Some(0) && args.metadata.is_none() {
        return Ok(Appended { old_size, new_size: old_size, appended: 0, new_chunks: 0, header });
    }
    let pack_args = PackArgs {
        metadata: args.metadata.clone().or(old),
        blosc: args.blosc(&header),
        bloscpack: BloscpackArgs {
            offsets: header.offsets,
            checksum: header.checksum,
            max_app_chunks: Reserve::Times(10),
        },
        metadata_args,
        nthreads: args.nthreads,
        ..PackArgs::default()
    };
    let check = || journal::check_at(path, file);
    let packed = match size {
        Some(_) => pack_to_checked(new, size, path, &pack_args, observer, check)?,
        // Offsets require a known size: buffer the data in a temporary file.
        None => {
            let mut spool = Replacement::create(path)?;
            let mut new = new;
            let size = io::copy(&mut new, spool.file())?;
            spool.file().rewind()?;
            let reader = BufReader::with_capacity(FILE_BUFFER, spool.file());
            pack_to_checked(reader, Some(size), path, &pack_args, observer, check)?
        }
    };
    Ok(Appended {
        old_size,
        new_size: packed.output_size,
        appended: packed.input_size,
        new_chunks: packed.header.nchunks.unwrap_or(1) - 1,
        header: packed.header,
    })
}

/// Appends a file to a container.
///
/// # Errors
/// The errors of [`append`]; [`Error::SameFile`] if both paths are the same file.
pub fn append_file(original: &Path, new: &Path, args: &AppendArgs) -> Result<Appended> {
    check_different(original, new)?;
    let file = NamedFile::open(new)?;
    let size = known_size(&file)?;
    let reader = BufReader::with_capacity(FILE_BUFFER, file);
    append(original, reader, size, args, &mut ())
}

/// Replaces the metadata of a container within the reserved size.
///
/// # Errors
/// The errors of [`append`].
pub fn update_metadata(path: &Path, value: &Value, args: &MetadataArgs) -> Result<()> {
    let args = AppendArgs {
        metadata: Some(value.clone()),
        metadata_args: args.clone(),
        ..AppendArgs::default()
    };
    append(path, io::empty(), Some(0), &args, &mut ())?;
    Ok(())
}

#[cfg(test)]
#[path = "append_tests.rs"]
mod tests;
