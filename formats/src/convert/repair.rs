//! Repairs data of any format as far as possible.
//!
//! - Frames and b2nd arrays are rebuilt: unreadable chunks become zeros, unreadable metalayers are
//!   dropped, index and trailer are rewritten. Damaged fields of the header are restored from the
//!   other parts. If only the trailer of a file is lost, the chunks are found by the index,
//!   otherwise by scanning from the header.
//! - Bloscpack: an interrupted change is rolled back in place. Otherwise the container is rebuilt:
//!   unreadable chunks become zeros, digests and offsets are rewritten.
//! - bcolz: [`crate::bcolz::repair`] repairs in place.
//! - Chunks and `.npy` files have no redundancy and cannot be repaired.
//!
//! A rebuild writes a new file and leaves the old one unchanged.

use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::detect::{Detected, Format, has_frame_magic};
use super::error::{Error, Result};
use super::intact::needs_plugin;
use super::missing::MissingChunks;
use super::one_change::OneChange;
pub use super::rebuild::Repaired;
use super::rebuild::{MAX_MISSING, append, create, index_position, next_chunk, zeros};
use super::restore::{Damage, has_valid_parameters, restore};
use super::scan::scan;
use super::source::open_schunk;
use crate::bcolz::{self, Options};
use crate::bloscpack;
use crate::blpk::{self, Archive, Header, OFFSET_LENGTH};
use ferroblosc::blosc1::{self, Engine};
use ferroblosc::chunk::SplitMode;
use ferroblosc::frame::checksum::FingerprintStatus;
use ferroblosc::frame::{FIXED_HEADER_LEN, FrameHeader, Kind, Offsets, header, trailer};
use ferroblosc::io::named::NamedFile;
use ferroblosc::io::{FileSystem, Stream, WRITE_STEP, WriteGranularity, temporary};
use ferroblosc::schunk::chunks;
use ferroblosc::schunk::copy::{copy_head, copy_vlmetalayer};
use ferroblosc::schunk::{Layers, SChunk, State};

/// The effect of [`repair`] on the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairMode {
    /// A new file or directory is written.
    Rebuild,
    /// The source is changed in place; replaced files of a bcolz directory are renamed.
    InPlace,
    /// The source cannot be repaired, for this reason.
    Impossible(&'static str),
}

/// Returns the mode in which [`repair`] handles the data at `path`.
pub fn repair_mode(path: &Path, found: &Detected) -> RepairMode {
    match found.format {
        Format::Frame | Format::B2nd => RepairMode::Rebuild,
        Format::Bloscpack if bloscpack::check_complete(path).is_err() => RepairMode::InPlace,
        Format::Bloscpack => RepairMode::Rebuild,
        Format::Carray | Format::Ctable => RepairMode::InPlace,
        Format::Blosc1 | Format::Blosc2 => {
            RepairMode::Impossible("lost data of a chunk cannot be restored")
        }
        Format::Npy => RepairMode::Impossible("lost data of a .npy file cannot be restored"),
        #[cfg(feature = "zarr")]
        Format::Zarr => RepairMode::Impossible("lost chunks of a Zarr array cannot be restored"),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => RepairMode::Impossible("lost chunks of an HDF5 file cannot be restored"),
        Format::Npz => RepairMode::Impossible("lost data of a .npz file cannot be restored"),
        Format::Raw => RepairMode::Impossible("bytes have no structure"),
    }
}

/// Repairs the data at `path`: writes them to `output`, which must not exist, or changes them in
/// place, depending on [`repair_mode`].
///
/// # Errors
/// Returns [`Error::Unrepairable`] if it is impossible, or the error of reading or writing.
pub fn repair(path: &Path, found: &Detected, output: &Path) -> Result<Repaired> {
    match (found.format, repair_mode(path, found)) {
        (_, RepairMode::Impossible(reason)) => Err(Error::Unrepairable(reason)),
        (Format::Bloscpack, RepairMode::InPlace) => {
            let is_undone = bloscpack::recover(path)?;
            let repaired =
                is_undone.then(|| "an interrupted change has been rolled back".to_owned());
            Ok(Repaired { repaired: repaired.into_iter().collect(), lost: Vec::new() })
        }
        (Format::Bloscpack, _) => repair_container(path, output),
        (Format::Carray | Format::Ctable, _) => repair_bcolz(path),
        _ => repair_frame(path, found, output),
    }
}

fn repair_bcolz(path: &Path) -> Result<Repaired> {
    let outcome = bcolz::repair(path, &Options::default())?;
    let repaired = outcome.repaired.iter();
    let lost = outcome.lost.iter();
    Ok(Repaired {
        repaired: repaired
            .map(|finding| format!("{}: {}", finding.path.display(), finding.fault))
            .collect(),
        lost: lost
            .map(|(path, rows)| format!("{}: rows {} to {}", path.display(), rows.start, rows.end))
            .collect(),
    })
}

fn repair_frame(path: &Path, found: &Detected, output: &Path) -> Result<Repaired> {
    let mut opened = open_schunk(path, found.is_directory, 1);
    if !found.is_directory
        && !found.is_legacy
        && let Some(damage) = damage_of(path, &mut opened)?
        && let Some(restored) = restore(path, opened.as_ref().ok(), damage, output)?
    {
        let mut repaired = copy_intact(restored.open()?, false, false, output)?;
        repaired
            .repaired
            .insert(0, "the header was restored from the rest of the frame".to_owned());
        return Ok(repaired);
    }
    match opened {
        Ok(schunk) => copy_intact(schunk, found.is_directory, false, output),
        Err(_) if !found.is_directory && !found.is_legacy => match with_index(path, output)? {
            Some(repaired) => Ok(repaired),
            None => scan(path, output),
        },
        Err(error) => Err(error.into()),
    }
}

/// Returns the damage that the header of a frame can have. It can also be opened with a damaged one.
fn damage_of(path: &Path, opened: &mut ferroblosc::Result<SChunk>) -> Result<Option<Damage>> {
    let Ok(schunk) = opened else {
        return Ok(Some(Damage::Any));
    };
    let is_any = match seal_of(schunk)? {
        FingerprintStatus::Broken(_) => true,
        // If a chunk is intact, so are the sizes in the header.
        FingerprintStatus::Absent => schunk.verify()?.count_bad_chunks() == schunk.nchunks(),
        FingerprintStatus::Intact(_) => return Ok(None),
    };
    Ok(if is_any {
        Some(Damage::Any)
    } else {
        let is_right = has_frame_magic(path)? && has_valid_parameters(schunk);
        (!is_right).then_some(Damage::Parameters)
    })
}

/// Returns the state of a frame's fingerprint.
fn seal_of(schunk: &mut SChunk) -> Result<FingerprintStatus> {
    Ok(match schunk.state_mut().frame_mut() {
        Some(frame) => frame.seal()?,
        None => FingerprintStatus::Absent,
    })
}

/// Copies the readable chunks of a frame whose trailer is lost. The index has the order of the
/// chunks and those of zeros, which have no bytes in the file. Returns `None` if the index cannot
/// be read.
fn with_index(path: &Path, output: &Path) -> Result<Option<Repaired>> {
    let mut file = NamedFile::open_regular(path)?;
    let len = file.file().metadata()?.len();
    let mut fixed = [0; FIXED_HEADER_LEN];
    if len < fixed.len() as u64 {
        return Ok(None);
    }
    file.read_exact(&mut fixed)?;
    let Ok(header) = FrameHeader::parse(&fixed, Kind::Contiguous) else {
        return Ok(None);
    };
    let Some((position, available)) =
        index_position(&header).and_then(|position| Some((position, len.checked_sub(position)?)))
    else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(position))?;
    let Some(index) = next_chunk(&mut file, available)? else {
        return Ok(None);
    };
    if Offsets::parse(&index, header.nchunks(), header.counters.cbytes).is_err() {
        return Ok(None);
    }
    // The same frame without variable-length metalayers.
    let (part, stream) = temporary::create(&FileSystem, output, temporary::FRAME_SUFFIX, true)?;
    let copied = copy_without_trailer(&mut file, (&fixed, position, &index), &*stream);
    let opened = copied.map(|()| open_schunk(&part, false, 1));
    let repaired = opened.and_then(|opened| match opened {
        Ok(schunk) => copy_intact(schunk, false, true, output).map(Some),
        Err(error) if error.is_system_error() => Err(error.into()),
        Err(_) => Ok(None),
    });
    temporary::discard(&FileSystem, &part, &*stream);
    let Some(mut repaired) = repaired? else {
        return Ok(None);
    };
    repaired.repaired.push("the trailer was lost, and rewritten".to_owned());
    repaired.lost.push("variable-length metalayers".to_owned());
    Ok(Some(repaired))
}

/// Writes a frame with the header, the chunks and the index of another one, and an empty trailer.
fn copy_without_trailer(
    file: &mut NamedFile,
    (fixed, position, index): (&[u8; FIXED_HEADER_LEN], u64, &[u8]),
    copy: &dyn Stream,
) -> Result<()> {
    let trailer = trailer::build(&[], None)?;
    let mut fixed = *fixed;
    header::set_frame_len(&mut fixed, position + (index.len() + trailer.len()) as u64);
    let mut buffer = vec![0; WRITE_STEP];
    let mut at = 0;
    file.seek(SeekFrom::Start(0))?;
    while at < position {
        let len = buffer.len().min(usize::try_from(position - at).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..len])?;
        copy.write_at(at, &buffer[..len], WriteGranularity::Bytes)?;
        at += len as u64;
    }
    let end = [index, &trailer].concat();
    copy.write_at(position, &end, WriteGranularity::Bytes)?;
    Ok(copy.write_at(0, &fixed, WriteGranularity::Bytes)?)
}

/// Copies the readable chunks of a frame. The copy has checksums if the frame has some, or if `seals`
/// is true and all chunks were verified.
fn copy_intact(
    mut schunk: SChunk,
    directory: bool,
    seals: bool,
    output: &Path,
) -> Result<Repaired> {
    let mut repaired = Repaired::default();
    let report = schunk.verify()?;
    let seal = seal_of(&mut schunk)?;
    let has_checksums =
        !matches!(seal, FingerprintStatus::Absent) || seals && report.unverified_chunks.is_empty();
    if matches!(seal, FingerprintStatus::Broken(_)) {
        repaired
            .repaired
            .push("the fingerprint of header, index and trailer was rewritten".to_owned());
    }
    let state = schunk.state();
    let params = state.recorded().params(state.counters().blocksize);
    let nchunks = schunk.nchunks();
    let change = OneChange::of_stored(nchunks.unsigned_abs(), directory);
    let mut copy = create(output, directory, params.clone(), (has_checksums, change))?;
    copy_head(state, copy.state_mut())?;
    change.begin(copy.state_mut())?;
    let mut bad = report.bad_chunks.iter().map(|(numbers, _)| numbers).peekable();
    let mut unverified = report.unverified_chunks.iter().map(|(numbers, _)| numbers).peekable();
    let mut next = 0;
    while next < nchunks {
        let number = next;
        if let Some(numbers) = bad.next_if(|numbers| numbers.start == number) {
            next = numbers.end;
            add_zeros(&schunk, &mut copy, numbers, &mut repaired.lost)?;
            continue;
        }
        let chunk = schunk.chunk(number)?;
        if let Some(numbers) = unverified.next_if(|numbers| numbers.start == number) {
            next = numbers.end;
            numbers.clone().try_for_each(|_| append(&mut copy, &chunk, true))?;
            continue;
        }
        let run = chunks::special_run(schunk.state(), number)?;
        next += run;
        if run > 1 {
            MissingChunks::of(&chunk, run.unsigned_abs()).flush(&mut copy)?;
        } else {
            append(&mut copy, &chunk, false)?;
        }
    }
    let mut copied = Ok(());
    schunk.state().with_layers(Layers::Variable, &mut |layers| {
        copied = layers.iter().try_for_each(|(name, chunk)| {
            if report.bad_vlmetalayers.iter().any(|bad| bad == name) {
                let name = String::from_utf8_lossy(name);
                repaired.lost.push(format!("the metalayer {name:?}"));
                return Ok(());
            }
            copy_vlmetalayer(copy.state_mut(), name, chunk)
        });
    });
    copied?;
    change.commit(copy.state_mut())?;
    copy.close()?;
    Ok(repaired)
}

/// Appends chunks of zeros instead of these chunks, which have equal sizes.
fn add_zeros(
    schunk: &SChunk,
    copy: &mut SChunk,
    numbers: &Range<i64>,
    lost: &mut Vec<String>,
) -> Result<()> {
    let chunksize = i64::from(schunk.chunksize());
    let last = schunk.nchunks() - 1;
    let nbytes = if numbers.start == last { schunk.nbytes() - chunksize * last } else { chunksize };
    let nbytes = i32::try_from(nbytes).ok().filter(|&nbytes| nbytes > 0 && chunksize > 0);
    let nbytes = nbytes.ok_or(Error::Unrepairable("the sizes of the lost chunks are unknown"))?;
    let params = schunk.state().recorded().params(schunk.state().counters().blocksize);
    let count = numbers.end - numbers.start;
    MissingChunks::of(&zeros(&params, nbytes)?, count.unsigned_abs()).flush(copy)?;
    lost.push(match (numbers.start, numbers.end - 1) {
        (first, last) if first == last => {
            format!("chunk {first}: its {nbytes} bytes are zeros now")
        }
        (first, last) => {
            format!("chunks {first} to {last}: their {nbytes} bytes each are zeros now")
        }
    });
    Ok(())
}

/// The chunks of a container whose offsets or chunks are damaged.
///
/// Each chunk starts at the end of the one before it. So the offsets are needed only after a
/// damaged chunk, whose size may be wrong.
struct FoundChunks<'a> {
    archive: &'a mut Archive<NamedFile>,
    /// Whether all chunks so far were found without their offsets.
    is_in_order: bool,
    /// The last chunk that was found, without its digest.
    stored: Vec<u8>,
    plain: Vec<u8>,
}

impl<'a> FoundChunks<'a> {
    fn new(archive: &'a mut Archive<NamedFile>) -> Self {
        FoundChunks { archive, is_in_order: true, stored: Vec::new(), plain: Vec::new() }
    }

    /// Reads a chunk into `stored`. Returns whether it is intact, or needs a plugin that is
    /// missing.
    fn read(&mut self, number: u64) -> Result<bool> {
        let was_in_order = self.is_in_order;
        for uses_offset in [!was_in_order, was_in_order] {
            let location = if uses_offset {
                self.archive.locate_by_offset(number)
            } else {
                self.archive.locate_by_scan(number).map(Some)
            };
            let read = location.and_then(|location| match location {
                None => Ok(None),
                Some(location) => {
                    let read =
                        self.archive.read_located(&location, &mut self.stored, &mut self.plain);
                    // Cut off the digest, if it was read.
                    self.stored.truncate(location.chunk.cbytes as usize);
                    read.map(Some)
                }
            });
            let is_found = match read {
                Ok(found) => found.is_some(),
                Err(blpk::Error::ChunkData { .. }) => needs_plugin(&self.stored),
                Err(error) if error.is_corruption() => false,
                Err(error) => return Err(error.into()),
            };
            if is_found {
                return Ok(true);
            }
            if !uses_offset {
                self.is_in_order = false;
            }
        }
        Ok(false)
    }
}

/// Copies the readable chunks of a container and writes new digests and offsets.
fn repair_container(path: &Path, output: &Path) -> Result<Repaired> {
    let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
    let header = *archive.header();
    let nchunks =
        header.nchunks.ok_or(Error::Unrepairable("it does not record the number of its chunks"))?;
    let section = archive.metadata().cloned();
    let mut writer = BufWriter::new(ferroblosc::io::named::NamedFile::create(output)?);
    let made = Header { max_app_chunks: header.max_app_chunks, ..header };
    let mut head = made.encode()?;
    if let Some(section) = &section {
        head.extend(section.encode()?);
    }
    writer.write_all(&head)?;
    let mut position = head.len() as u64;
    let entries = if header.offsets { made.entries().unwrap_or(0) } else { 0 };
    for _ in 0..entries {
        writer.write_all(&blpk::UNUSED_OFFSET.to_le_bytes())?;
    }
    position += entries * OFFSET_LENGTH;
    let mut repaired = Repaired::default();
    let mut offsets = Vec::new();
    let mut found = FoundChunks::new(&mut archive);
    let mut zeros = (0, Vec::new());
    for number in 0..nchunks {
        let is_found = found.read(number)?;
        if !is_found {
            let nbytes = header.nbytes_of(number);
            let nbytes =
                nbytes.ok_or(Error::Unrepairable("the sizes of the lost chunks are unknown"))?;
            if repaired.lost.len() as i64 == MAX_MISSING {
                return Err(Error::Unrepairable("too many of its chunks are lost"));
            }
            if zeros.0 != nbytes || zeros.1.is_empty() {
                zeros = (nbytes, zeros_of_blosc1(nbytes, header.typesize)?);
            }
            repaired.lost.push(format!("chunk {number}: its {nbytes} bytes are zeros now"));
        }
        let stored = if is_found { &found.stored } else { &zeros.1 };
        let digest = header.checksum.digest(stored);
        writer.write_all(stored)?;
        writer.write_all(&digest)?;
        offsets.push(position);
        position += (stored.len() + digest.len()) as u64;
    }
    if header.offsets {
        writer.seek(SeekFrom::Start(head.len() as u64))?;
        for offset in offsets {
            writer.write_all(&offset.to_le_bytes())?;
        }
        repaired.repaired.push("the offsets of the chunks".to_owned());
    }
    writer.flush()?;
    Ok(repaired)
}

fn zeroed(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(ferroblosc::Error::from)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Returns a Blosc 1.x chunk of zeros.
fn zeros_of_blosc1(nbytes: u32, typesize: u8) -> Result<Vec<u8>> {
    let params = blosc1::Params {
        call: blosc1::Call { clevel: 5, shuffle: 1, typesize: typesize.max(1).into() },
        compressor: Some(ferroblosc::codec::id::BLOSCLZ),
        blocksize: 0,
        splitmode: SplitMode::FORWARD_COMPAT,
        nthreads: 1,
    };
    let plain = zeroed(nbytes as usize)?;
    let mut chunk = zeroed(plain.len() + blosc1::HEADER_LENGTH)?;
    let compressed = Engine::default().compress(&params, &plain, &mut chunk);
    let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
    chunk.truncate(cbytes);
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloscpack::{BloscpackArgs, PackArgs, pack_bytes_to_bytes, unpack_bytes_from_file};
    use crate::blpk::Checksum;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::Storage;

    const CHUNK: usize = 1000;
    const NCHUNKS: usize = 7;

    /// Repairs a container. Returns the data of the copy, and the lost chunks.
    fn repaired(container: &[u8]) -> Result<(Vec<u8>, Vec<String>)> {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.blp"), folder.path().join("out.blp"));
        std::fs::write(&input, container).unwrap();
        let lost = repair_container(&input, &output)?.lost;
        let report = bloscpack::verify(&output, 1).unwrap();
        assert!(report.faults.is_empty(), "{:?}", report.faults);
        Ok((unpack_bytes_from_file(&output, 1).unwrap().0, lost))
    }

    /// Returns data of [`NCHUNKS`] chunks, and the container with their positions.
    fn packed(checksum: Checksum, offsets: bool) -> (Vec<u8>, Vec<u8>, Vec<usize>) {
        let mut state = 1_u32;
        let data: Vec<u8> = (0..NCHUNKS * CHUNK)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 27) as u8
            })
            .collect();
        let args = PackArgs {
            chunk_size: CHUNK as u64,
            bloscpack: BloscpackArgs { checksum, offsets, ..BloscpackArgs::default() },
            ..PackArgs::default()
        };
        let container = pack_bytes_to_bytes(&data, &args).unwrap();
        let mut archive = Archive::open(container.clone()).unwrap();
        let position = |number| archive.locate(number).unwrap().position as usize;
        let positions = (0..NCHUNKS as u64).map(position).collect();
        (data, container, positions)
    }

    #[test]
    fn chunks_with_wrong_offsets_are_found() {
        for checksum in [Checksum::None, Checksum::Crc32] {
            let (data, container, positions) = packed(checksum, true);
            let start = Archive::open(container.clone()).unwrap().prelude().offsets_start as usize;
            let with = |number: usize, offset: usize| {
                let mut changed = container.clone();
                let entry = start + 8 * number;
                changed[entry..entry + 8].copy_from_slice(&(offset as u64).to_le_bytes());
                changed
            };
            for number in 0..NCHUNKS {
                for offset in [0, 5, usize::MAX / 4, positions[0], positions[3], positions[6] + 7] {
                    let (copy, lost) = repaired(&with(number, offset)).unwrap();
                    assert!(copy == data && lost.is_empty(), "{number} {offset}: {lost:?}");
                }
            }
            // All offsets are those of the first chunk.
            let mut changed = container.clone();
            for number in 0..NCHUNKS {
                let entry = start + 8 * number;
                changed[entry..entry + 8].copy_from_slice(&(positions[0] as u64).to_le_bytes());
            }
            let (copy, lost) = repaired(&changed).unwrap();
            assert!(copy == data && lost.is_empty(), "{lost:?}");
        }
    }

    #[test]
    fn chunks_after_a_damaged_one_are_found() {
        // The fields of the header with both sizes, and a byte of the data.
        for (at, bytes) in [(4, [0; 4]), (12, [16, 0, 0, 0]), (12, [255; 4]), (40, [9; 4])] {
            let (mut data, mut container, positions) = packed(Checksum::Crc32, true);
            let at = positions[2] + at;
            container[at..at + 4].copy_from_slice(&bytes);
            data[2 * CHUNK..3 * CHUNK].fill(0);
            let (copy, lost) = repaired(&container).unwrap();
            assert!(copy == data, "{at}");
            assert_eq!(lost, ["chunk 2: its 1000 bytes are zeros now"]);
        }
        let (mut data, mut container, positions) = packed(Checksum::Crc32, false);
        container[positions[2] + 40] ^= 4;
        data[2 * CHUNK..3 * CHUNK].fill(0);
        let (copy, lost) = repaired(&container).unwrap();
        assert!(copy == data && lost.len() == 1, "{lost:?}");
    }

    #[test]
    fn a_container_has_a_limited_number_of_lost_chunks() {
        let (_, mut container, _) = packed(Checksum::None, false);
        container[16..24].copy_from_slice(&(1_i64 << 50).to_le_bytes());
        assert!(matches!(repaired(&container), Err(Error::Unrepairable(_))));
    }

    /// Returns a frame with chunks of these bytes, and the position of its index.
    fn frame_of(path: &Path, chunks: &[Vec<u8>]) -> (Vec<u8>, usize) {
        let mut schunk =
            SChunk::create(Storage::file(path), CParams::default().typesize(1), DParams::default())
                .unwrap();
        schunk.add_metalayer("kept", b"\x07").unwrap();
        for chunk in chunks {
            schunk.append(chunk).unwrap();
        }
        schunk.close().unwrap();
        let bytes = std::fs::read(path).unwrap();
        let fixed = bytes[..FIXED_HEADER_LEN].try_into().unwrap();
        let header = FrameHeader::parse(fixed, Kind::Contiguous).unwrap();
        let end = u64::from(header.header_len) + header.counters.cbytes.unsigned_abs();
        (bytes, end.try_into().unwrap())
    }

    #[test]
    fn chunks_of_variable_size_are_found_by_scanning() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let chunks: Vec<Vec<u8>> = [1000, 300, 2000, 700]
            .iter()
            .map(|&len: &u32| (0..len).map(|i| (i.pow(2) % 251) as u8).collect())
            .collect();
        let (bytes, end) = frame_of(&input, &chunks);
        std::fs::write(&input, &bytes[..end + 3]).unwrap();
        let found = super::super::detect(&input).unwrap();
        let repaired = repair(&input, &found, &output).unwrap();
        assert_eq!(repaired.repaired, ["4 chunks were found by scanning the file"]);
        assert_eq!(repaired.lost, ["variable-length metalayers"]);
        let copy = open_schunk(&output, false, 1).unwrap();
        for (number, chunk) in chunks.iter().enumerate() {
            assert_eq!(copy.decompress_to_vec(number as i64).unwrap(), *chunk);
        }
        assert_eq!(copy.metalayer("kept").unwrap(), b"\x07");
        drop(copy);
        // The last chunk is incomplete: its size is not known.
        std::fs::remove_file(&output).unwrap();
        std::fs::write(&input, &bytes[..end - 1]).unwrap();
        let repaired = repair(&input, &found, &output).unwrap();
        assert_eq!(repaired.lost.last().unwrap(), "the data from byte 3300 to 4000 are missing");
        let copy = open_schunk(&output, false, 1).unwrap();
        assert_eq!((copy.nchunks(), copy.nbytes()), (3, 3300));
        assert_eq!(copy.decompress_to_vec(2).unwrap(), chunks[2]);
    }

    #[test]
    fn a_damaged_header_loses_the_metalayers_or_the_frame() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let (bytes, end) = frame_of(&input, &[vec![7; 1000]]);
        let found = super::super::detect(&input).unwrap();
        let mut damaged = bytes[..end].to_vec();
        let name = damaged.windows(4).position(|bytes| bytes == b"kept").unwrap();
        // The type of a text before the name.
        damaged[name - 1] = 0xc1;
        std::fs::write(&input, &damaged).unwrap();
        let repaired = repair(&input, &found, &output).unwrap();
        assert_eq!(repaired.lost, ["fixed metalayers", "variable-length metalayers"]);
        let copy = open_schunk(&output, false, 1).unwrap();
        assert_eq!(copy.decompress_to_vec(0).unwrap(), [7; 1000]);
        drop(copy);
        std::fs::remove_file(&output).unwrap();
        for len in [0, 20, FIXED_HEADER_LEN - 1] {
            std::fs::write(&input, &bytes[..len]).unwrap();
            let error = repair(&input, &found, &output).unwrap_err().to_string();
            let expected = "it cannot be repaired: the header of the frame cannot be read";
            assert_eq!(error, expected, "{len}");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{len}");
        }
    }

    /// A frame whose chunks are not in the order of the file, one of them without bytes there.
    #[test]
    fn a_frame_without_a_trailer_is_read_by_its_index() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let params = CParams::default().typesize(1);
        let mut schunk =
            SChunk::create(Storage::file(&input), params.clone(), DParams::default()).unwrap();
        for value in [1, 0, 3] {
            schunk.append(&vec![value; 1000]).unwrap();
        }
        let noise: Vec<u8> = (0..1000_u32).map(|i| (i.pow(2) % 251) as u8).collect();
        let other = SChunk::create(Storage::memory(), params, DParams::default());
        let mut other = other.unwrap();
        other.append(&noise).unwrap();
        schunk.insert_chunk(0, &other.chunk(0).unwrap()).unwrap();
        schunk.add_vlmetalayer("text", b"lost").unwrap();
        let mut expected = vec![0; 4000];
        for number in 0..4 {
            let dest = &mut expected[1000 * number..][..1000];
            schunk.decompress(number as i64, dest).unwrap();
        }
        assert!(expected[..1000] == noise && expected[2000..3000] == [0; 1000]);
        schunk.close().unwrap();
        let frame = std::fs::read(&input).unwrap();
        let found = super::super::detect(&input).unwrap();
        let repaired = |bytes: &[u8]| {
            std::fs::write(&input, bytes).unwrap();
            let repaired = repair(&input, &found, &output).unwrap();
            let copy = open_schunk(&output, false, 1).unwrap();
            let mut data = vec![1; 4000];
            for (number, dest) in data.chunks_mut(1000).enumerate() {
                copy.decompress(number as i64, dest).unwrap();
            }
            drop(copy);
            let names = std::fs::read_dir(folder.path()).unwrap();
            assert_eq!(names.count(), 2, "the temporary file is removed");
            std::fs::remove_file(&output).unwrap();
            (repaired.lost, data)
        };
        let (lost, data) = repaired(&frame[..frame.len() - 5]);
        assert_eq!(lost, ["variable-length metalayers"]);
        assert!(data == expected);
        // Without the index, the order of the file is used, which the result says.
        let header =
            FrameHeader::parse(frame[..FIXED_HEADER_LEN].try_into().unwrap(), Kind::Contiguous);
        let at = index_position(&header.unwrap()).unwrap() as usize;
        let (lost, data) = repaired(&frame[..at + 10]);
        assert_eq!(
            lost[1],
            "the index: chunks are in the order of the file, which can be another one"
        );
        assert!(data != expected);
    }

    #[test]
    fn files_beside_the_output_are_kept() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let mut schunk = SChunk::create(
            Storage::file(&input),
            CParams::default().typesize(1),
            DParams::default(),
        )
        .unwrap();
        schunk.append(&[1; 1000]).unwrap();
        schunk.close().unwrap();
        let frame = std::fs::read(&input).unwrap();
        std::fs::write(&input, &frame[..frame.len() - 5]).unwrap();
        for suffix in [".part", ".tmp", ".bak"] {
            std::fs::write(folder.path().join(format!("out.b2frame{suffix}")), b"theirs").unwrap();
        }
        // Something else is at the name of the temporary file.
        std::fs::create_dir(folder.path().join("out.b2frame.b2tmp")).unwrap();
        let found = super::super::detect(&input).unwrap();
        assert_eq!(repair(&input, &found, &output).unwrap().lost, ["variable-length metalayers"]);
        let copy = open_schunk(&output, false, 1).unwrap();
        assert_eq!(copy.decompress_to_vec(0).unwrap(), [1; 1000]);
        drop(copy);
        for suffix in [".part", ".tmp", ".bak"] {
            let path = folder.path().join(format!("out.b2frame{suffix}"));
            assert_eq!(std::fs::read(path).unwrap(), b"theirs");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 6);
    }
}
