//! Recovery of the fixed part of a frame's header from the rest of the frame.
//!
//! The length of the header follows from the metalayers in it. The sizes of the data follow from
//! the index and from the headers of the chunks, which also contain the codec and the filters. A
//! header with such numbers is used only if the fingerprint of the frame matches then. Without one,
//! all chunks must be intact, and index and trailer adjacent: durable changes leave old indexes,
//! with which an older state would be found.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::Result;
use super::rebuild::{index_position, next_chunk};
use super::source::open_schunk;
use ferroblosc::chunk::{BasicHeader, ChunkHeader, Compressor, EXTENDED_HEADER_LENGTH, Special};
use ferroblosc::codec;
use ferroblosc::frame::checksum::{self, FingerprintStatus};
use ferroblosc::frame::{
    FIXED_HEADER_LEN, FrameHeader, Kind, Offsets, StoredParams, header, trailer,
};
use ferroblosc::io::named::NamedFile;
use ferroblosc::io::{FileSystem, Stream, WRITE_STEP, WriteGranularity, temporary};
use ferroblosc::schunk::{SChunk, State, VARIABLE};

/// The fixed part of a header.
type Fixed = [u8; FIXED_HEADER_LEN];

/// The offsets of numbers in the fixed part, see `docs/formats.md`.
const HEADER_LEN: usize = 11;
const FRAME_LEN: usize = 16;
const KIND: usize = 26;
const NBYTES: usize = 30;
const CBYTES: usize = 39;
const CHUNKSIZE: usize = 58;
const NFILTERS: usize = 70;
/// The number of filters in each header.
const FILTERS: u8 = 6;
/// The largest compression level, and the one that replaces a larger one.
const MAX_LEVEL: u8 = 9;
const DEFAULT_LEVEL: u8 = 5;
/// The maximum number of bytes that are searched for the end of the metalayers.
const MAX_HEAD: u64 = 16 << 20;
/// The maximum number of bytes that are searched for the start of the index.
const MAX_INDEX: u64 = 64 << 20;
/// The maximum number of positions at which the index may begin. Each takes the time of a
/// verification.
const MAX_INDEXES: usize = 16;
/// The maximum number of chunks whose headers are examined to find the parameters.
const MAX_EXAMINED: usize = 1 << 10;
/// The offset of the compressed size in the header of a chunk.
const INDEX_CBYTES: usize = 12;
/// The size of an offset in the index, in bytes.
const OFFSET_LEN: usize = 8;

/// A copy of a frame with a restored header. It is removed on drop.
pub struct Restored {
    path: PathBuf,
    stream: Box<dyn Stream>,
}

impl Restored {
    /// Opens the frame.
    pub fn open(&self) -> ferroblosc::Result<SChunk> {
        open_schunk(&self.path, false, 1)
    }
}

impl Drop for Restored {
    fn drop(&mut self) {
        temporary::discard(&FileSystem, &self.path, &*self.stream);
    }
}

/// The damage of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Magic bytes, or compression parameters that are not valid; the sizes are right.
    Parameters,
    /// Any field.
    Any,
}

/// Copies a frame, whose header may be damaged, to a temporary file for `output`, with a header
/// that matches the rest of the frame. Returns `None` if no header other than its own does.
/// `opened` is the frame, if it can be opened.
///
/// # Errors
/// The errors of reading and writing.
pub fn restore(
    path: &Path,
    opened: Option<&SChunk>,
    damage: Damage,
    output: &Path,
) -> Result<Option<Restored>> {
    let mut file = NamedFile::open_regular(path)?;
    let len = file.file().metadata()?.len();
    let mut head = Vec::new();
    (&mut file).take(MAX_HEAD).read_to_end(&mut head)?;
    let Some(&fixed) = head.first_chunk() else {
        return Ok(None);
    };
    let mut headers = with_parameters(&mut file, len, &fixed, opened, damage)?;
    if damage == Damage::Any {
        headers.extend(candidates(&mut file, len, &fixed, &head)?);
    }
    if headers.is_empty() {
        return Ok(None);
    }
    let (path, stream) = temporary::create(&FileSystem, output, temporary::FRAME_SUFFIX, true)?;
    let copy = Restored { path, stream };
    let mut buffer = vec![0; WRITE_STEP];
    let mut at = 0;
    file.seek(SeekFrom::Start(0))?;
    while at < len {
        let count = buffer.len().min(usize::try_from(len - at).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..count])?;
        copy.stream.write_at(at, &buffer[..count], WriteGranularity::Bytes)?;
        at += count as u64;
    }
    for header in headers {
        copy.stream.write_at(0, &header, WriteGranularity::Bytes)?;
        match copy.open() {
            Ok(mut schunk) => {
                if matches(&mut schunk, || has_adjacent_index(&mut file, &header))? {
                    return Ok(Some(copy));
                }
            }
            Err(error) if error.is_system_error() => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(None)
}

/// Whether the header of a frame matches its other parts.
fn matches(schunk: &mut SChunk, has_adjacent_index: impl FnOnce() -> Result<bool>) -> Result<bool> {
    let seal = schunk.state_mut().frame_mut().map(|frame| frame.seal()).transpose()?;
    match seal {
        Some(FingerprintStatus::Intact(_)) => Ok(true),
        Some(FingerprintStatus::Absent) => {
            Ok(schunk.nchunks() > 0 && has_adjacent_index()? && schunk.verify()?.faults() == 0)
        }
        Some(FingerprintStatus::Broken(_)) | None => Ok(false),
    }
}

/// Whether the trailer of a frame without checksums follows its index.
fn has_adjacent_index(file: &mut NamedFile, header: &Fixed) -> Result<bool> {
    let parsed = FrameHeader::parse(header, Kind::Contiguous)?;
    let Some(position) = index_position(&parsed) else {
        return Ok(false);
    };
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    file.seek(SeekFrom::Start(position))?;
    file.read_exact(&mut head)?;
    let index = u64::try_from(BasicHeader::parse(&head)?.cbytes).unwrap_or(0);
    let mut tail = [0; trailer::TAIL_LEN];
    file.seek(SeekFrom::Start(parsed.frame_len.saturating_sub(tail.len() as u64)))?;
    file.read_exact(&mut tail)?;
    let trailer_len = trailer::trailer_len(&tail, parsed.frame_len)?;
    Ok(position + index + u64::from(trailer_len) == parsed.frame_len)
}

/// Whether new chunks can be compressed with the parameters that the header records.
pub fn has_valid_parameters(schunk: &SChunk) -> bool {
    let state = schunk.state();
    let params = state.recorded().params(state.counters().blocksize);
    let sample: Vec<u8> = (0..=u8::MAX).collect();
    let mut compressor = Compressor::new(params.threads(1));
    compressor.as_mut().is_ok_and(|compressor| compressor.compress_to_vec(&sample).is_ok())
}

/// Returns headers with the same sizes: one with the parameters of the first chunk and, for any
/// damage, those with another value of a field that no chunk contains.
fn with_parameters(
    file: &mut NamedFile,
    len: u64,
    fixed: &Fixed,
    opened: Option<&SChunk>,
    damage: Damage,
) -> Result<Vec<Fixed>> {
    let Ok(recorded) = FrameHeader::parse(fixed, Kind::Contiguous) else {
        return Ok(Vec::new());
    };
    let mut headers = Vec::new();
    if opened.is_some_and(has_valid_parameters) {
        headers.push(recorded);
    }
    if let Some(chunk) = first_stored(file, len, &recorded)? {
        let mut found = recorded;
        found.recorded = parameters_of(&chunk, recorded.recorded);
        headers.push(found);
    }
    if damage == Damage::Any {
        let mut changed = recorded;
        changed.has_vlmetalayers = !recorded.has_vlmetalayers;
        headers.push(changed);
        changed = recorded;
        changed.vl_blocks = !recorded.vl_blocks;
        headers.push(changed);
        for known in headers.clone() {
            headers.extend((0..=MAX_LEVEL).map(|clevel| {
                let mut header = known;
                header.recorded.clevel = clevel;
                header
            }));
            headers.extend((1..=4).map(|splitmode| {
                let mut header = known;
                header.recorded.splitmode = splitmode;
                header
            }));
        }
    }
    let mut found: Vec<Fixed> = Vec::new();
    for header in headers {
        let bytes = header.fixed_bytes(Kind::Contiguous);
        if bytes != *fixed && !found.contains(&bytes) {
            found.push(bytes);
        }
    }
    Ok(found)
}

/// Returns the parameters of a chunk. Those that it does not contain are the recorded ones.
fn parameters_of(chunk: &ChunkHeader, recorded: StoredParams) -> StoredParams {
    let format = chunk.basic.format();
    let compcode = match codec::info(chunk.udcodec) {
        Some(info) if info.format == format => chunk.udcodec,
        _ if format == codec::format::USER => chunk.udcodec,
        _ => codec::info_of_format(format).map_or(recorded.compcode, |info| info.id),
    };
    StoredParams {
        compcode,
        compcode_meta: chunk.codec_meta,
        clevel: if recorded.clevel > MAX_LEVEL { DEFAULT_LEVEL } else { recorded.clevel },
        use_dict: chunk.use_dict,
        filters: chunk.filters,
        ..recorded
    }
}

/// Returns the header of the first chunk with blocks, if header and index of the frame locate it.
fn first_stored(
    file: &mut NamedFile,
    len: u64,
    frame: &FrameHeader,
) -> Result<Option<ChunkHeader>> {
    let Some((position, available)) =
        index_position(frame).and_then(|position| Some((position, len.checked_sub(position)?)))
    else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(position))?;
    let Some(index) = next_chunk(file, available)? else {
        return Ok(None);
    };
    let Ok(offsets) = Offsets::parse(&index, frame.nchunks(), frame.counters.cbytes) else {
        return Ok(None);
    };
    for offset in offsets.iter().filter(|&offset| offset >= 0).take(MAX_EXAMINED) {
        let at = u64::from(frame.header_len).saturating_add(offset.unsigned_abs());
        if at.saturating_add(EXTENDED_HEADER_LENGTH as u64) > len {
            continue;
        }
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        if let Ok(header) = ChunkHeader::parse(&head)
            && header.special == Special::None
            && header.basic.is_extended()
        {
            return Ok(Some(header));
        }
    }
    Ok(None)
}

/// Whether the header of a frame in a file records another codec or other filters than its chunks
/// have.
///
/// # Errors
/// The errors of reading.
pub fn has_other_parameters(path: &Path) -> Result<bool> {
    let mut file = NamedFile::open_regular(path)?;
    let len = file.file().metadata()?.len();
    let mut fixed = [0; FIXED_HEADER_LEN];
    if len < fixed.len() as u64 {
        return Ok(false);
    }
    file.read_exact(&mut fixed)?;
    let Ok(header) = FrameHeader::parse(&fixed, Kind::Contiguous) else {
        return Ok(false);
    };
    let chunk = first_stored(&mut file, len, &header)?;
    Ok(chunk.is_some_and(|chunk| parameters_of(&chunk, header.recorded) != header.recorded))
}

/// Returns the headers that the frame can have had.
fn candidates(file: &mut NamedFile, len: u64, fixed: &Fixed, head: &[u8]) -> Result<Vec<Fixed>> {
    let mut base = *fixed;
    base[..header::MARK.len()].copy_from_slice(header::MARK);
    // This file is no directory, and all writers store six filters.
    base[KIND] = 0;
    base[NFILTERS] = FILTERS;
    if u64::from_be_bytes(array(&base, FRAME_LEN)) > len {
        base[FRAME_LEN..][..8].copy_from_slice(&len.to_be_bytes());
    }
    let mut found = Vec::new();
    let mut lens = vec![u32::from_be_bytes(array(fixed, HEADER_LEN))];
    lens.extend(header_len(head));
    lens.dedup();
    for header_len in lens {
        let mut header = base;
        header[HEADER_LEN..][..4].copy_from_slice(&header_len.to_be_bytes());
        found.push(header);
        let frame_len = u64::from_be_bytes(array(&base, FRAME_LEN));
        let mut data_lens = vec![i64::from_be_bytes(array(fixed, CBYTES))];
        for data_len in data_lens_of(file, len, header_len, frame_len)? {
            if !data_lens.contains(&data_len) {
                data_lens.push(data_len);
            }
        }
        for cbytes in data_lens {
            header[CBYTES..][..8].copy_from_slice(&cbytes.to_be_bytes());
            for (chunksize, nbytes) in sizes(file, len, &header, (header_len, cbytes))? {
                header[CHUNKSIZE..][..4].copy_from_slice(&chunksize.to_be_bytes());
                header[NBYTES..][..8].copy_from_slice(&nbytes.to_be_bytes());
                found.push(header);
            }
            header[CHUNKSIZE..][..4].copy_from_slice(&base[CHUNKSIZE..][..4]);
            header[NBYTES..][..8].copy_from_slice(&base[NBYTES..][..8]);
        }
    }
    // Bytes may follow a frame, so that its length is not always that of the file.
    for at in 0..found.len() {
        let mut header = found[at];
        header[FRAME_LEN..][..8].copy_from_slice(&len.to_be_bytes());
        if header != found[at] {
            found.push(header);
        }
    }
    found.retain(|header| header != fixed && FrameHeader::parse(header, Kind::Contiguous).is_ok());
    Ok(found)
}

/// Returns the bytes of a number.
fn array<const N: usize>(fixed: &Fixed, at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&fixed[at..at + N]);
    bytes
}

/// Returns the length of a header by its metalayers: a map of their names, whose size is recorded
/// before it, and a list of their contents.
fn header_len(head: &[u8]) -> Option<u32> {
    let section = head.get(FIXED_HEADER_LEN..)?;
    let mut at = usize::from(u16::from_be_bytes(*section.get(2..4)?.first_chunk()?));
    let contents = section.get(at..at + 3)?;
    let count = u16::from_be_bytes([contents[1], contents[2]]);
    if contents[0] != 0xdc {
        return None;
    }
    at += 3;
    for _ in 0..count {
        let content = section.get(at..at + 5)?;
        let len = u32::from_be_bytes(*content[1..].first_chunk()?);
        if content[0] != 0xc6 {
            return None;
        }
        at = at.checked_add(5)?.checked_add(usize::try_from(len).ok()?)?;
    }
    u32::try_from(FIXED_HEADER_LEN + at).ok().filter(|_| at <= section.len())
}

/// Returns the possible sizes of the data section. The index after it looks like a chunk, and is
/// followed by the trailer or by a table of checksums. Unused bytes can precede it.
fn data_lens_of(
    file: &mut NamedFile,
    len: u64,
    header_len: u32,
    frame_len: u64,
) -> Result<Vec<i64>> {
    let header_len = u64::from(header_len);
    let mut found = Vec::new();
    let mut frame_lens = vec![frame_len, len];
    frame_lens.dedup();
    for frame_len in frame_lens {
        let Some(end) = index_end(file, frame_len)?.filter(|&end| end > header_len) else {
            continue;
        };
        let start = end.saturating_sub(MAX_INDEX).max(header_len);
        let mut window = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut *file).take(end - start).read_to_end(&mut window)?;
        // Nearly always one position fits.
        for (at, head) in window.windows(EXTENDED_HEADER_LENGTH).enumerate().rev() {
            let cbytes = u32::try_from(window.len() - at).unwrap_or(u32::MAX);
            let is_index = head[INDEX_CBYTES..][..4] == cbytes.to_le_bytes()
                && BasicHeader::parse(head).is_ok_and(|head| {
                    usize::from(head.typesize) == OFFSET_LEN
                        && usize::try_from(head.nbytes).is_ok_and(|len| len % OFFSET_LEN == 0)
                });
            if is_index {
                found.extend(i64::try_from(start + at as u64 - header_len));
                if found.len() == MAX_INDEXES {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Returns the offset of the end of the index of a frame of this length: that of its trailer, or of
/// the table of checksums before it. Returns `None` if the frame has no trailer.
fn index_end(file: &mut NamedFile, frame_len: u64) -> Result<Option<u64>> {
    let mut tail = [0; trailer::TAIL_LEN];
    let Some(tail_at) = frame_len.checked_sub(tail.len() as u64) else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(tail_at))?;
    file.read_exact(&mut tail)?;
    let Ok(trailer_len) = trailer::trailer_len(&tail, frame_len) else {
        return Ok(None);
    };
    let end = frame_len - u64::from(trailer_len);
    let mut table_len = [0; 8];
    file.seek(SeekFrom::Start(end.saturating_sub(table_len.len() as u64)))?;
    file.read_exact(&mut table_len)?;
    let Some(table_at) = end.checked_sub(u64::from_le_bytes(table_len)) else {
        return Ok(Some(end));
    };
    let mut mark = [0; checksum::MAGIC.len()];
    file.seek(SeekFrom::Start(table_at))?;
    file.read_exact(&mut mark)?;
    Ok(Some(if mark == checksum::MAGIC { table_at } else { end }))
}

/// Returns the chunk size and the size of the data by the index and the chunks, with the recorded
/// one where they leave it open. `cbytes` is the size of the data section.
fn sizes(
    file: &mut NamedFile,
    len: u64,
    header: &Fixed,
    (header_len, cbytes): (u32, i64),
) -> Result<Vec<(i32, i64)>> {
    let recorded =
        (i32::from_be_bytes(array(header, CHUNKSIZE)), i64::from_be_bytes(array(header, NBYTES)));
    let data = u64::from(header_len);
    let position = u64::try_from(cbytes).ok().and_then(|cbytes| data.checked_add(cbytes));
    let Some(available) = position.and_then(|position| len.checked_sub(position)) else {
        return Ok(Vec::new());
    };
    file.seek(SeekFrom::Start(len - available))?;
    let Some(index) = next_chunk(file, available)? else {
        return Ok(Vec::new());
    };
    let Ok(offsets) = Offsets::parse(&index, None, cbytes) else {
        return Ok(Vec::new());
    };
    // The uncompressed size of a chunk with bytes in the file.
    let mut size_of = |offset: i64| -> Result<Option<i32>> {
        let at = u64::try_from(offset).ok().and_then(|offset| data.checked_add(offset));
        let Some(at) = at.filter(|at| at + EXTENDED_HEADER_LENGTH as u64 <= len) else {
            return Ok(None);
        };
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        Ok(BasicHeader::parse(&head).ok().map(|head| head.nbytes))
    };
    let Some(last) = offsets.len().checked_sub(1).and_then(|last| offsets.get(last)) else {
        return Ok(Vec::new());
    };
    let last = size_of(last)?;
    // All chunks before the last one have the same size, unless the sizes vary.
    let full = match offsets.iter().take(offsets.len() - 1).find(|&offset| offset >= 0) {
        Some(offset) => size_of(offset)?,
        None => None,
    };
    let mut chunksizes = vec![full.unwrap_or(recorded.0)];
    if offsets.len() == 1 {
        chunksizes.extend(last);
    }
    chunksizes.push(VARIABLE);
    chunksizes.dedup();
    let mut found = Vec::new();
    for chunksize in chunksizes {
        found.push((chunksize, recorded.1));
        let before = i64::try_from(offsets.len() - 1).unwrap_or(i64::MAX);
        let nbytes = match chunksize {
            1.. => i64::from(chunksize)
                .checked_mul(before)
                .and_then(|before| before.checked_add(last.unwrap_or(chunksize).into())),
            // More chunks do not fit into the file.
            VARIABLE if offsets.len() as u64 <= len / EXTENDED_HEADER_LENGTH as u64 => {
                let mut sum = Some(0_i64);
                for offset in offsets.iter() {
                    let size = size_of(offset)?;
                    sum = sum.zip(size).and_then(|(sum, size)| sum.checked_add(size.into()));
                    if sum.is_none() {
                        break;
                    }
                }
                sum
            }
            _ => None,
        };
        found.extend(nbytes.map(|nbytes| (chunksize, nbytes)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::detect::{Detected, Format, detect};
    use super::super::repair::{Repaired, repair};
    use super::super::source::Reading;
    use super::super::verify::verify;
    use super::*;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::Storage;

    /// The offset of codec and level, and that of the filters.
    const CODEC: usize = 27;
    const FILTERS_AT: usize = 71;

    /// Writes a frame with metalayers and chunks of these sizes; returns its data.
    fn frame_of(path: &Path, has_checksums: bool, lens: &[usize]) -> Vec<u8> {
        let storage = Storage::file(path);
        let storage = if has_checksums { storage.checksums() } else { storage };
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        schunk.add_metalayer("fixed", b"\x01").unwrap();
        let mut data = Vec::new();
        for (number, &len) in lens.iter().enumerate() {
            let chunk: Vec<u8> = (0..len).map(|i| (i / 3 + number * 7) as u8).collect();
            schunk.append(&chunk).unwrap();
            data.extend(chunk);
        }
        schunk.add_vlmetalayer("text", b"kept").unwrap();
        schunk.close().unwrap();
        data
    }

    /// Checks that a copy has the data and the metalayers of [`frame_of`].
    fn assert_holds(copy: &SChunk, data: &[u8], context: &str) {
        let items: Vec<u8> = (0..copy.nchunks())
            .flat_map(|number| copy.decompress_to_vec(number).unwrap())
            .collect();
        assert!(items == data, "{context}");
        assert_eq!(copy.vlmetalayer("text").unwrap(), b"kept", "{context}");
        assert_eq!(copy.metalayer("fixed").unwrap(), b"\x01", "{context}");
    }

    /// Repairs a frame in a file; returns the result and the copy, in which nothing is lost.
    fn repaired(input: &Path, output: &Path, context: &str) -> (Repaired, SChunk) {
        let found = Detected { format: Format::Frame, is_directory: false, is_legacy: false };
        let _ = std::fs::remove_file(output);
        let repaired = repair(input, &found, output).expect(context);
        assert!(repaired.lost.is_empty(), "{context}: {repaired:?}");
        (repaired, open_schunk(output, false, 1).unwrap())
    }

    #[test]
    fn a_damaged_number_of_the_header_is_restored() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        for lens in [&[4000, 4000, 4000, 1200][..], &[4000], &[4000, 400, 4000]] {
            for has_checksums in [true, false] {
                let _ = std::fs::remove_file(&input);
                let data = frame_of(&input, has_checksums, lens);
                let bytes = std::fs::read(&input).unwrap();
                for (at, len) in [
                    (HEADER_LEN, 4),
                    (FRAME_LEN, 8),
                    (KIND, 1),
                    (NBYTES, 8),
                    (CBYTES, 8),
                    (CHUNKSIZE, 4),
                    (NFILTERS, 1),
                ] {
                    for damage in [0x01, 0x58, 0xff] {
                        for last in [1, len] {
                            let mut damaged = bytes.clone();
                            damaged[at..at + last].fill(damage);
                            std::fs::write(&input, &damaged).unwrap();
                            let context = format!("{lens:?} {has_checksums} {at} {damage} {last}");
                            let (_, mut copy) = repaired(&input, &output, &context);
                            assert_eq!(copy.verify().unwrap().faults(), 0, "{context}");
                            assert_holds(&copy, &data, &context);
                            // The temporary file is removed.
                            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_damaged_data_size_of_a_frame_with_unused_bytes_is_restored() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        for has_checksums in [true, false] {
            let _ = std::fs::remove_file(&input);
            let mut data = frame_of(&input, has_checksums, &[4000, 4000, 4000]);
            // Old indexes and trailers are between the new chunks.
            for number in 0..3 {
                let storage = Storage::file(&input).durable();
                let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
                let chunk: Vec<u8> = (0..4000).map(|i| (i / 5 + number * 3) as u8).collect();
                schunk.append(&chunk).unwrap();
                schunk.close().unwrap();
                data.extend(chunk);
            }
            let bytes = std::fs::read(&input).unwrap();
            for damage in [0x01, 0x58, 0xff] {
                for last in [1, 8] {
                    let mut damaged = bytes.clone();
                    damaged[CBYTES..CBYTES + last].fill(damage);
                    std::fs::write(&input, &damaged).unwrap();
                    let context = format!("{has_checksums} {damage} {last}");
                    let (_, copy) = repaired(&input, &output, &context);
                    assert_holds(&copy, &data, &context);
                }
            }
        }
    }

    #[test]
    fn damaged_parameters_of_the_header_are_restored() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let found = Detected { format: Format::Frame, is_directory: false, is_legacy: false };
        for has_checksums in [true, false] {
            let _ = std::fs::remove_file(&input);
            let data = frame_of(&input, has_checksums, &[4000, 4000, 1200]);
            let bytes = std::fs::read(&input).unwrap();
            let params = FrameHeader::parse(&bytes, Kind::Contiguous).unwrap().recorded;
            for (at, len) in
                [(0, 10), (3, 1), (CODEC, 1), (FILTERS_AT, 1), (FILTERS_AT, 6), (FILTERS_AT + 5, 1)]
            {
                for damage in [0x5f, 0x99, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at..at + len].fill(damage);
                    std::fs::write(&input, &damaged).unwrap();
                    let context = format!("{has_checksums} {at} {damage} {len}");
                    assert_eq!(detect(&input).expect(&context), found, "{context}");
                    let verified = verify(&input, &found, &Reading::with_threads(1)).unwrap();
                    assert!(verified.is_damaged() || at > 10 && !has_checksums, "{context}");
                    let (repaired, copy) = repaired(&input, &output, &context);
                    assert_eq!(repaired.repaired.len(), 1, "{context}: {repaired:?}");
                    let recorded = copy.state().recorded();
                    assert_eq!(recorded.filters, params.filters, "{context}");
                    assert_eq!(recorded.compcode, params.compcode, "{context}");
                    assert_holds(&copy, &data, &context);
                }
            }
        }
    }

    #[test]
    fn no_older_state_is_restored() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let found = Detected { format: Format::Frame, is_directory: false, is_legacy: false };
        let mut state = 1_u32;
        let mut noise = |len: usize| -> Vec<u8> {
            let next = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            (0..len).map(next).collect()
        };
        let mut data = Vec::new();
        for number in 0..3 {
            let storage = Storage::file(&input).durable();
            let mut schunk = match number {
                0 => SChunk::create(storage, CParams::default().typesize(1), DParams::default()),
                _ => SChunk::open(storage, DParams::default()),
            }
            .unwrap();
            let chunk = noise(10_000);
            schunk.append(&chunk).unwrap();
            data.extend(chunk);
            if number == 0 {
                // The first chunk follows the header.
                schunk.compact().unwrap();
            }
            schunk.close().unwrap();
        }
        let bytes = std::fs::read(&input).unwrap();
        // Two old indexes and trailers, each pair of about 90 bytes, are in the file.
        assert!(bytes.len() > data.len() + 97 + 3 * 32 + 200, "{}", bytes.len());
        let mut file = NamedFile::open_regular(&input).unwrap();
        let header: &Fixed = bytes.first_chunk().unwrap();
        assert!(has_adjacent_index(&mut file, header).unwrap());
        let mut older = *header;
        older[CBYTES..][..8].copy_from_slice(&10_032_u64.to_be_bytes());
        older[NBYTES..][..8].copy_from_slice(&10_000_u64.to_be_bytes());
        assert!(!has_adjacent_index(&mut file, &older).unwrap());
        drop(file);
        for at in [CBYTES, NBYTES, CHUNKSIZE] {
            let mut damaged = bytes.clone();
            damaged[at..at + 4].fill(0x58);
            std::fs::write(&input, &damaged).unwrap();
            let _ = std::fs::remove_file(&output);
            let repaired = repair(&input, &found, &output).unwrap();
            let copy = open_schunk(&output, false, 1).unwrap();
            assert!(copy.nchunks() >= 3, "{at}: {repaired:?}");
            for (number, expected) in data.chunks(10_000).enumerate() {
                let chunk = copy.decompress_to_vec(number as i64).unwrap();
                assert!(chunk == expected, "{at}: {number}: {repaired:?}");
            }
        }
    }
}
