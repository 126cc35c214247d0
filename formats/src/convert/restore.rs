//! Recovery of the fixed part of a frame's header from the rest of the frame.
//!
//! The length of the header follows from the metalayers in it. The sizes of the data follow from
//! the index and from the headers of the chunks. A header with such numbers is used only if the
//! fingerprint of the frame matches then. Without one, all chunks must be intact, and index and
//! trailer adjacent: durable changes leave old indexes, with which an older state would be found.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::Result;
use super::rebuild::{index_position, next_chunk};
use super::source::open_schunk;
use ferroblosc::chunk::{BasicHeader, EXTENDED_HEADER_LENGTH};
use ferroblosc::frame::checksum::FingerprintStatus;
use ferroblosc::frame::{FIXED_HEADER_LEN, FrameHeader, Kind, Offsets, trailer};
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
/// The maximum number of bytes that are searched for the end of the metalayers.
const MAX_HEAD: u64 = 16 << 20;

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

/// Copies a frame, whose header may be damaged, to a temporary file for `output`, with a header
/// that matches the rest of the frame. Returns `None` if no header other than its own does.
///
/// # Errors
/// The errors of reading and writing.
pub fn restore(path: &Path, output: &Path) -> Result<Option<Restored>> {
    let mut file = NamedFile::open_regular(path)?;
    let len = file.file().metadata()?.len();
    let mut head = Vec::new();
    (&mut file).take(MAX_HEAD).read_to_end(&mut head)?;
    let Some(&fixed) = head.first_chunk() else {
        return Ok(None);
    };
    let headers = candidates(&mut file, len, &fixed, &head)?;
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

/// Returns the headers that the frame can have had.
fn candidates(file: &mut NamedFile, len: u64, fixed: &Fixed, head: &[u8]) -> Result<Vec<Fixed>> {
    let mut base = *fixed;
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
        let mut data_lens = vec![i64::from_be_bytes(array(fixed, CBYTES))];
        data_lens.extend(data_len(file, len, header_len)?);
        data_lens.dedup();
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

/// Returns the size of the data section: its last chunk is followed by the index, which looks like
/// a chunk, and by the trailer, which does not.
fn data_len(file: &mut NamedFile, len: u64, header_len: u32) -> Result<Option<i64>> {
    let (mut last, mut end) = (None, u64::from(header_len));
    while end + EXTENDED_HEADER_LENGTH as u64 <= len {
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut head)?;
        let cbytes =
            BasicHeader::parse(&head).ok().and_then(|head| u64::try_from(head.cbytes).ok());
        let Some(cbytes) = cbytes.filter(|&cbytes| cbytes >= EXTENDED_HEADER_LENGTH as u64) else {
            break;
        };
        last = Some(end);
        end = end.saturating_add(cbytes);
    }
    Ok(last.and_then(|last| i64::try_from(last - u64::from(header_len)).ok()))
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
    use super::super::detect::{Detected, Format};
    use super::super::repair::repair;
    use super::*;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::Storage;

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

    #[test]
    fn a_damaged_number_of_the_header_is_restored() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let found = Detected { format: Format::Frame, is_directory: false, is_legacy: false };
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
                            let _ = std::fs::remove_file(&output);
                            let context = format!("{lens:?} {has_checksums} {at} {damage} {last}");
                            let repaired = repair(&input, &found, &output).expect(&context);
                            assert!(repaired.lost.is_empty(), "{context}: {repaired:?}");
                            let mut copy = open_schunk(&output, false, 1).unwrap();
                            assert_eq!(copy.verify().unwrap().faults(), 0, "{context}");
                            let items: Vec<u8> = (0..copy.nchunks())
                                .flat_map(|number| copy.decompress_to_vec(number).unwrap())
                                .collect();
                            assert!(items == data, "{context}");
                            assert_eq!(copy.vlmetalayer("text").unwrap(), b"kept", "{context}");
                            assert_eq!(copy.metalayer("fixed").unwrap(), b"\x01", "{context}");
                            // The temporary file is removed.
                            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
                        }
                    }
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
