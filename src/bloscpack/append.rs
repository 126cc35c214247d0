//! Appending in place.
//!
//! The last chunk is filled up and made anew, even when there was no room in it; whatever is left makes
//! chunks behind it, whose offsets go where room was kept for them. So nothing in front of the last chunk moves. It is
//! the same as cutting "data of the last chunk, then new data" into chunks of the file's chunk size, and
//! that is how it is done.

use crate::io::named::NamedFile;
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
    Encoder, FILE_BUFFER, Observer, Piece, Pieces, known_size, pack_to_file, report,
};
use super::pipeline::{self, Spread};
use super::safe::{Replacement, check_different};
use crate::blosc1::Engine;
use crate::blpk::{self, Archive, Header, MetadataSection, OFFSET_LENGTH, Place, VERSION};
use crate::io::ReadAt;

/// What is appended with.
#[derive(Clone, Debug)]
pub struct AppendArgs {
    /// Bytes of an item; those of the container's header unless it is given.
    pub typesize: Option<i64>,
    /// 0 (store) to 9 (densest).
    pub clevel: i64,
    /// The filter.
    pub shuffle: Shuffle,
    /// The codec.
    pub codec: Codec,
    /// New metadata.
    pub metadata: Option<Value>,
    /// How the new metadata are stored.
    pub metadata_args: MetadataArgs,
    /// Threads.
    pub nthreads: usize,
}

impl Default for AppendArgs {
    /// The defaults of [`BloscArgs`], with the typesize of the header; the metadata stay; one thread.
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

/// What was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Bytes of the file before.
    pub old_size: u64,
    /// Bytes of the file now.
    pub new_size: u64,
    /// Plain bytes that were appended.
    pub appended: u64,
    /// The new chunks: not the one that was filled up.
    pub new_chunks: u64,
    /// The header now.
    pub header: Header,
}

/// The file as it is, checked.
struct Original {
    header: Header,
    size: u64,
    offsets_start: u64,
    /// The last chunk, and its plain bytes.
    last: Place,
    plain: Vec<u8>,
    section: Option<MetadataSection>,
}

/// Reads what is appended to; none for a container of nothing.
fn examine(file: &File, nthreads: usize) -> Result<Option<Original>> {
    let mut archive = Archive::open(file.try_clone()?)?;
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
    if plain_size == 0 {
        return Ok(None);
    }
    let mut plain = Vec::new();
    let last = archive.read_chunk(last, &mut plain)?;
    Ok(Some(Original {
        header,
        size: archive.file_size(),
        offsets_start: archive.prelude().offsets_start,
        last,
        plain,
        section: archive.metadata().cloned(),
    }))
}

impl Original {
    /// Makes sure that chunks for `appended` more bytes have room.
    fn check_room(&self, appended: u64) -> Result<()> {
        let chunk_size = u64::from(self.header.chunk_size.unwrap_or(1).max(1));
        let room = chunk_size - self.plain.len() as u64;
        let new_chunks = appended.saturating_sub(room).div_ceil(chunk_size);
        if new_chunks > self.header.max_app_chunks {
            return Err(Error::NotEnoughSpace);
        }
        Ok(())
    }

    /// The section that takes the place of the one there is, when that is asked for.
    fn new_section(&self, args: &AppendArgs) -> Result<Option<MetadataSection>> {
        let Some(value) = &args.metadata else {
            return Ok(None);
        };
        let old = self.section.as_ref().ok_or(Error::NoMetadataFound)?;
        Ok(Some(replacement(old, value, &args.metadata_args)?))
    }

    /// Where the metadata section begins.
    fn section_start(&self) -> u64 {
        self.header.encoded_len() as u64
    }

    /// Where the entry of the last chunk is.
    fn last_entry(&self) -> u64 {
        self.offsets_start + self.last.chunk.index * OFFSET_LENGTH
    }

    /// Everything that will be written over. Of `new_chunks` chunks the entries change.
    fn old_state(
        &self,
        file: &File,
        changes_data: bool,
        changes_section: bool,
    ) -> Result<OldState> {
        let mut regions = Vec::new();
        let mut keep = |position: u64, len: u64| -> Result<()> {
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
            keep(self.section_start(), len)?;
        }
        if changes_data {
            keep(0, self.header.encoded_len() as u64)?;
            keep(
                self.last_entry(),
                (1 + self.header.max_app_chunks) * OFFSET_LENGTH,
            )?;
            keep(self.last.position, self.size - self.last.position)?;
        }
        Ok(OldState {
            size: self.size,
            regions,
        })
    }

    /// Writes the chunks, their offsets, the header; cuts off what is behind. In this order, so that a reader
    /// that comes in between finds as much as possible.
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
        let pieces_known = total.map(|total| total.div_ceil(u64::from(chunk_size)));
        let spread = Spread::new(args.nthreads, pieces_known, Some(chunk_size));
        let blosc = args.blosc(&self.header);
        let encoder = Encoder::new(&blosc, self.header.checksum, spread.inside)?;
        let mut pieces = Pieces::new(self.plain.as_slice().chain(new), chunk_size, total);
        let mut position = self.last.position;
        let mut offsets = Vec::new();
        let mut last_chunk = 0;
        pipeline::run(
            spread,
            |plain| pieces.next(plain),
            |engine: &mut Engine, piece: &mut Piece, plain, stored| {
                piece.stored = encoder.encode(engine, plain, stored)?;
                Ok::<(), Error>(())
            },
            |piece, plain, stored| {
                if piece.index > self.header.max_app_chunks {
                    return Err(Error::NotEnoughSpace);
                }
                let stored = &stored[..piece.stored];
                disk.write_at(position, stored)?;
                offsets.extend(position.to_le_bytes());
                position += stored.len() as u64;
                last_chunk = plain.len() as u32;
                observer.chunk(&report(
                    &piece,
                    pieces_known,
                    encoder.checksum,
                    plain,
                    stored,
                ));
                Ok(())
            },
        )?;
        let new_chunks = pieces.next - 1;
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
            appended: pieces.read - self.plain.len() as u64,
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

/// Appends what `new` gives, `size` bytes or as many as there are, to a container; and changes its metadata if
/// that is asked for. A change that fails is undone; one that is interrupted can be
/// ([`recover`](journal::recover)).
///
/// # Errors
/// [`Error::NoOffsets`], [`Error::UnknownSizes`], [`Error::NotEnoughSpace`], those of reading the container and
/// of its metadata: the file is what it was then.
pub fn append(
    original: &Path,
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    journal::open(original)
        .and_then(|(file, _)| append_on(&file, original, &file, new, size, args, observer))
        .map_err(|error| error.at("append to", original))
}

/// As [`append`], with the writing through `disk`.
fn append_on(
    file: &File,
    path: &Path,
    disk: &(impl Disk + Sync),
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    let Some(original) = examine(file, args.nthreads)? else {
        return rebuild(file, path, new, size, args, observer);
    };
    let section = original.new_section(args)?;
    original.check_room(size.unwrap_or(0))?;
    // Wrong arguments are found before anything is written.
    Encoder::new(&args.blosc(&original.header), original.header.checksum, 1)?;
    let changes_data = size != Some(0);
    if !changes_data && section.is_none() {
        return Ok(original.unchanged());
    }
    let old = original.old_state(file, changes_data, section.is_some())?;
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

/// Makes a container that held nothing anew, with the options it has.
fn rebuild(
    file: &File,
    path: &Path,
    new: impl Read + Send,
    size: Option<u64>,
    args: &AppendArgs,
    observer: &mut impl Observer,
) -> Result<Appended> {
    let archive = Archive::open(file.try_clone()?)?;
    let (header, old_size) = (*archive.header(), archive.file_size());
    let section = archive.metadata();
    let mut metadata_args = args.metadata_args.clone();
    let old = match section.map(Metadata::of).transpose()? {
        None if args.metadata.is_some() => return Err(Error::NoMetadataFound),
        None => None,
        Some(Metadata::Value(value)) => Some(value),
        Some(Metadata::Opaque { kind, .. }) => {
            return Err(Error::NoSuchSerializer(
                String::from_utf8_lossy(&kind).into_owned(),
            ));
        }
    };
    if let (Some(section), Some(value)) = (section, &args.metadata) {
        // Judged like a change in place, though there would be room for more.
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
        return Ok(Appended {
            old_size,
            new_size: old_size,
            appended: 0,
            new_chunks: 0,
            header,
        });
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
    let packed = match size {
        Some(_) => pack_to_file(new, size, path, &pack_args, observer)?,
        // Offsets need a known size: the data wait in a file that goes away again.
        None => {
            let mut spool = Replacement::create(path)?;
            let mut new = new;
            let size = io::copy(&mut new, spool.file())?;
            spool.file().rewind()?;
            let reader = BufReader::with_capacity(FILE_BUFFER, spool.file().try_clone()?);
            pack_to_file(reader, Some(size), path, &pack_args, observer)?
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
/// Those of [`append`]; [`Error::SameFile`] when they are one.
pub fn append_file(original: &Path, new: &Path, args: &AppendArgs) -> Result<Appended> {
    check_different(original, new)?;
    let file = NamedFile::open(new)?;
    let size = known_size(file.file())?;
    let reader = BufReader::with_capacity(FILE_BUFFER, file);
    append(original, reader, size, args, &mut ())
}

/// Replaces the metadata of a container, in the room they have.
///
/// # Errors
/// Those of [`append`].
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
