//! Recovery of a frame whose index cannot be read: the file is searched for chunks.
//!
//! The chunks follow the header, mostly without bytes between them. If the bytes at a position are
//! no chunk, because its header is damaged or they are not in use, the search continues at the next
//! bytes that are a chunk of the frame and can be decompressed.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::error::{Error, Result};
use super::intact::needs_plugin;
use super::missing::MissingChunks;
use super::one_change::OneChange;
use super::rebuild::{MAX_MISSING, Repaired, append, create, index_position, next_chunk, zeros};
use ferroblosc::chunk::{BasicHeader, Decompressor, EXTENDED_HEADER_LENGTH};
use ferroblosc::frame::{FIXED_HEADER_LEN, FrameHeader, Kind, Offsets, header};
use ferroblosc::io::named::NamedFile;
use ferroblosc::schunk::{SChunk, VARIABLE, meta};

/// The maximum number of byte sequences that look like a chunk but cannot be decompressed, after
/// which the search ends. Each takes the time of a decompression.
const MAX_FALSE: usize = 1 << 10;
/// The number of bytes that a search reads at first, and at most, at a time.
const WINDOWS: (usize, usize) = (1 << 12, 1 << 20);

/// A part of the data section.
enum Part {
    Chunk {
        position: u64,
        /// The size of its data in bytes.
        nbytes: i32,
        /// Whether it needs a missing plugin.
        is_unverified: bool,
    },
    /// A chunk of this uncompressed size that cannot be decompressed.
    Damaged { nbytes: i32 },
    /// This number of bytes, which can have been any number of chunks.
    Gap { len: u64 },
}

impl Part {
    /// Returns the uncompressed size of a chunk.
    fn nbytes(&self) -> i64 {
        match *self {
            Part::Chunk { nbytes, .. } | Part::Damaged { nbytes } => nbytes.into(),
            Part::Gap { .. } => 0,
        }
    }
}

/// Recovers the chunks. The copy has checksums, unless a chunk needs a missing plugin: a checksum
/// would certify unverified data.
///
/// # Errors
/// [`Error::Unrepairable`] if the header cannot be read; the errors of reading and writing.
pub fn scan(path: &Path, output: &Path) -> Result<Repaired> {
    let too_little = Error::Unrepairable("the header of the frame cannot be read");
    let mut file = NamedFile::open_regular(path)?;
    let len = file.file().metadata()?.len();
    let mut fixed = [0; FIXED_HEADER_LEN];
    if len < fixed.len() as u64 {
        return Err(too_little);
    }
    file.read_exact(&mut fixed)?;
    let header = FrameHeader::parse(&fixed, Kind::Contiguous).map_err(|_| too_little)?;
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    (&mut file).take(header.header_len.into()).read_to_end(&mut head)?;
    let mut search = Search {
        file,
        len,
        end: index_position(&header),
        decompressor: Decompressor::default(),
        plain: Vec::new(),
        false_chunks: 0,
        header,
    };
    let (parts, is_complete) = search.parts()?;
    let mut repaired = Repaired::default();
    let (mut copy, change) = search.copy(&head, &parts, output, &mut repaired)?;
    search.fill(&parts, is_complete, &mut copy, &mut repaired)?;
    change.commit(copy.state_mut())?;
    copy.close()?;
    Ok(repaired)
}

/// The search for chunks in a file.
struct Search {
    file: NamedFile,
    /// The size of the file in bytes.
    len: u64,
    header: FrameHeader,
    /// The offset of the index by the header.
    end: Option<u64>,
    decompressor: Decompressor,
    plain: Vec<u8>,
    /// The number of byte sequences that looked like a chunk.
    false_chunks: usize,
}

impl Search {
    /// Returns the size of the data in bytes.
    fn wanted(&self) -> i64 {
        self.header.counters.nbytes
    }

    /// Returns the chunk size in bytes, or [`VARIABLE`].
    fn chunksize(&self) -> i32 {
        self.header.counters.chunksize
    }

    /// Returns the size of the last chunk if it is shorter than the others, or 0.
    fn short(&self) -> i64 {
        match i64::from(self.chunksize()) {
            chunksize @ 1.. => self.wanted() % chunksize,
            _ => 0,
        }
    }

    /// Finds the chunks. Returns the parts of the data section, and whether they end at the index.
    fn parts(&mut self) -> Result<(Vec<Part>, bool)> {
        let mut parts = Vec::new();
        let (mut left, mut damaged) = (self.wanted(), 0);
        let mut position = u64::from(self.header.header_len);
        // A chunk at the position of the index is not data.
        while left > 0 && Some(position) != self.end && damaged < MAX_MISSING {
            let (part, cbytes) = match self.chunk_at(position, left)? {
                Some(found) => found,
                None => {
                    let Some((next, part, cbytes)) = self.next_after(position, left)? else {
                        break;
                    };
                    parts.push(Part::Gap { len: next - position });
                    position = next;
                    (part, cbytes)
                }
            };
            left -= part.nbytes();
            damaged += i64::from(matches!(part, Part::Damaged { .. }));
            position += cbytes;
            let is_last = self.short() > 0 && part.nbytes() == self.short();
            parts.push(part);
            if is_last {
                break;
            }
        }
        Ok((parts, self.end == Some(position)))
    }

    /// Whether these bytes begin with the header of a chunk of the frame, with at most `left` bytes.
    fn fits(&self, head: &[u8], left: i64) -> bool {
        BasicHeader::parse(head).is_ok_and(|head| {
            let nbytes = i64::from(head.nbytes);
            match i64::from(self.chunksize()) {
                chunksize @ 1.. => {
                    nbytes <= left && (nbytes == chunksize || nbytes > 0 && nbytes == self.short())
                }
                chunksize => chunksize == i64::from(VARIABLE) && (1..=left).contains(&nbytes),
            }
        })
    }

    /// Whether the index or the header of another chunk can be at this position.
    fn can_continue(&mut self, position: u64) -> Result<bool> {
        if Some(position) == self.end || position == self.len {
            return Ok(true);
        }
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        if self.len.saturating_sub(position) < head.len() as u64 {
            return Ok(false);
        }
        self.file.seek(SeekFrom::Start(position))?;
        self.file.read_exact(&mut head)?;
        Ok(self.fits(&head, self.wanted()))
    }

    /// Returns the chunk at this position and its compressed size.
    fn chunk_at(&mut self, position: u64, left: i64) -> Result<Option<(Part, u64)>> {
        self.file.seek(SeekFrom::Start(position))?;
        let available = self.len.saturating_sub(position);
        let Some(chunk) = next_chunk(&mut self.file, available)? else {
            return Ok(None);
        };
        if !self.fits(&chunk, left) {
            return Ok(None);
        }
        let nbytes = BasicHeader::parse(&chunk)?.nbytes;
        let cbytes = chunk.len() as u64;
        let len = usize::try_from(nbytes).unwrap_or(0);
        let missing = len.saturating_sub(self.plain.len());
        self.plain.try_reserve(missing).map_err(ferroblosc::Error::from)?;
        self.plain.resize(len, 0);
        let is_intact = self.decompressor.decompress(&chunk, &mut self.plain).is_ok();
        // One of the sizes may be damaged, or this is an index that is not in use any more.
        let is_doubtful = !is_intact || self.chunksize() == VARIABLE;
        if is_doubtful
            && !self.can_continue(position + cbytes)?
            && (!is_intact || self.is_old_index(&chunk)?)
        {
            return Ok(None);
        }
        // A chunk that needs a missing plugin cannot be verified. It is kept.
        let is_unverified = !is_intact && needs_plugin(&chunk);
        Ok(Some(if is_intact || is_unverified {
            (Part::Chunk { position, nbytes, is_unverified }, cbytes)
        } else {
            (Part::Damaged { nbytes }, cbytes)
        }))
    }

    /// Returns the next intact chunk after this position, its own position and its compressed size.
    fn next_after(&mut self, position: u64, left: i64) -> Result<Option<(u64, Part, u64)>> {
        // The bytes after the index are no chunks of data.
        let limit = self.end.filter(|&end| end > position).unwrap_or(self.len).min(self.len);
        let typesize = self.header.recorded.typesize;
        let typesize = u8::try_from(typesize).unwrap_or(1);
        let mut window = Vec::new();
        let (mut size, most) = WINDOWS;
        let mut start = position + 1;
        while start + EXTENDED_HEADER_LENGTH as u64 <= limit {
            self.file.seek(SeekFrom::Start(start))?;
            window.clear();
            let wanted = (limit - start).min(size as u64);
            (&mut self.file).take(wanted).read_to_end(&mut window)?;
            for at in 0..window.len().saturating_sub(EXTENDED_HEADER_LENGTH - 1) {
                let head = &window[at..at + EXTENDED_HEADER_LENGTH];
                if head[TYPESIZE_AT] != typesize || !self.fits(head, left) {
                    continue;
                }
                let next = start + at as u64;
                let found = self.chunk_at(next, left)?;
                if let Some((part @ Part::Chunk { .. }, cbytes)) = found {
                    return Ok(Some((next, part, cbytes)));
                }
                self.false_chunks += 1;
                if self.false_chunks == MAX_FALSE {
                    return Ok(None);
                }
            }
            let step = window.len().saturating_sub(EXTENDED_HEADER_LENGTH - 1);
            if step == 0 {
                break;
            }
            start += step as u64;
            size = (2 * size).min(most);
        }
        Ok(None)
    }

    /// Whether a chunk without another one after it can be the index of an earlier state: durable
    /// changes leave some between the chunks. Data chunks of one size differ from them in it.
    fn is_old_index(&mut self, chunk: &[u8]) -> Result<bool> {
        let last = i64::try_from(self.len).unwrap_or(i64::MAX);
        let Ok(offsets) = Offsets::parse(chunk, None, last) else {
            return Ok(false);
        };
        // More chunks than these do not fit into the file.
        let most = usize::try_from(self.len / EXTENDED_HEADER_LENGTH as u64).unwrap_or(usize::MAX);
        let stored = offsets.iter().filter(|&offset| offset >= 0);
        let mut stored: Vec<i64> = stored.take(most.saturating_add(1)).collect();
        let (first, count) = (stored.first().copied(), stored.len());
        stored.sort_unstable();
        stored.dedup();
        let Some(first) = first.and_then(|first| u64::try_from(first).ok()) else {
            return Ok(false);
        };
        let is_index = self.can_continue(u64::from(self.header.header_len) + first)?;
        Ok(is_index && stored.len() == count)
    }

    /// Creates the copy, with the fixed metalayers.
    fn copy(
        &self,
        head: &[u8],
        parts: &[Part],
        output: &Path,
        repaired: &mut Repaired,
    ) -> Result<(SChunk, OneChange)> {
        let layers = header::parse_metalayers(head).unwrap_or_else(|_| {
            repaired.lost.push("fixed metalayers".to_owned());
            Vec::new()
        });
        let params = self.header.recorded.params(self.header.counters.blocksize);
        let is_unverified = |part: &Part| matches!(part, Part::Chunk { is_unverified: true, .. });
        let checksums = !parts.iter().any(is_unverified);
        let change = OneChange::of_stored(parts.len() as u64, false);
        let mut copy = create(output, false, params, (checksums, change))?;
        for layer in &layers {
            meta::add(copy.state_mut(), &layer.name, &layer.content)?;
        }
        if self.chunksize() > 0 {
            copy.set_chunksize(self.chunksize())?;
        }
        change.begin(copy.state_mut())?;
        Ok((copy, change))
    }

    /// Copies the chunks. Those that are damaged or missing become zeros.
    fn fill(
        &mut self,
        parts: &[Part],
        is_complete: bool,
        copy: &mut SChunk,
        repaired: &mut Repaired,
    ) -> Result<()> {
        let found = parts.iter().filter(|part| matches!(part, Part::Chunk { .. })).count();
        repaired.repaired.push(match found {
            1 => "1 chunk was found by scanning the file".to_owned(),
            _ => format!("{found} chunks were found by scanning the file"),
        });
        let params = self.header.recorded.params(self.header.counters.blocksize);
        let sum: i64 = parts.iter().map(Part::nbytes).sum();
        let missing = self.wanted() - sum;
        let chunksize = i64::from(self.chunksize());
        let is_filled = chunksize > 0 && missing / chunksize < MAX_MISSING;
        let mut left = if is_filled { missing / chunksize } else { 0 };
        let counts = missing_in_gaps(parts, left);
        let mut lost = Vec::new();
        for (part, &count) in parts.iter().zip(&counts) {
            // All others are before the short chunk.
            if (1..chunksize).contains(&part.nbytes()) {
                self.append_zeros(copy, std::mem::take(&mut left), &mut lost)?;
            }
            match part {
                Part::Chunk { position, is_unverified, .. } => {
                    self.file.seek(SeekFrom::Start(*position))?;
                    let chunk = next_chunk(&mut self.file, self.len - position)?;
                    let chunk = chunk.ok_or(ferroblosc::Error::InvalidHeader)?;
                    append(copy, &chunk, *is_unverified)?;
                }
                Part::Damaged { nbytes } => {
                    // The chunks after it can be intact.
                    let number = copy.nchunks();
                    lost.push(format!("chunk {number}: its {nbytes} bytes are zeros now"));
                    copy.append_chunk(&zeros(&params, *nbytes)?)?;
                }
                Part::Gap { .. } => {
                    self.append_zeros(copy, count, &mut lost)?;
                    left -= count;
                }
            }
        }
        lost.push("variable-length metalayers".to_owned());
        // Updated chunks, chunks of zeros and lost ones change the order.
        let has_gaps = parts.iter().any(|part| matches!(part, Part::Gap { .. }));
        if missing > 0 || has_gaps || !is_complete {
            let text = "the index: chunks are in the order of the file, which can be another one";
            lost.push(text.to_owned());
        }
        if is_filled {
            let first = copy.nbytes();
            self.append_zeros(copy, left, &mut Vec::new())?;
            if let Ok(rest @ 1..) = i32::try_from(missing % chunksize) {
                copy.append_chunk(&zeros(&params, rest)?)?;
            }
            lost.extend(text_of_zeros(first, copy.nbytes()));
        } else if missing > 0 {
            let first = copy.nbytes();
            lost.push(format!("the data from byte {first} to {} are missing", self.wanted()));
        }
        repaired.lost.append(&mut lost);
        Ok(())
    }

    /// Appends chunks of zeros.
    fn append_zeros(&self, copy: &mut SChunk, count: i64, lost: &mut Vec<String>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let first = copy.nbytes();
        let params = self.header.recorded.params(self.header.counters.blocksize);
        MissingChunks::of(&zeros(&params, self.chunksize())?, count.unsigned_abs()).flush(copy)?;
        lost.extend(text_of_zeros(first, copy.nbytes()));
        Ok(())
    }
}

/// The offset of the item size in the header of a chunk.
const TYPESIZE_AT: usize = 3;

/// Returns the description of new zeros between these offsets in the data.
fn text_of_zeros(first: i64, end: i64) -> Option<String> {
    (first < end).then(|| format!("the data from byte {first} to {end} are zeros now"))
}

/// Distributes a number of missing chunks over the gaps: by their lengths, first to the largest
/// ones. Returns the number for each part.
fn missing_in_gaps(parts: &[Part], missing: i64) -> Vec<i64> {
    let mut counts = vec![0; parts.len()];
    let (mut stored, mut number) = (0, 0);
    let mut gaps = Vec::new();
    let mut before = None;
    for (at, part) in parts.iter().enumerate() {
        match *part {
            Part::Gap { len } => gaps.push((len, at)),
            Part::Chunk { position, .. } => {
                if let Some(before) = before {
                    stored += position - before;
                    number += 1;
                }
                before = Some(position);
                continue;
            }
            Part::Damaged { .. } => {}
        }
        before = None;
    }
    let mean = (stored / number.max(1)).max(EXTENDED_HEADER_LENGTH as u64);
    gaps.sort_unstable_by_key(|&(len, at)| (std::cmp::Reverse(len), at));
    let mut left = missing;
    for (len, at) in gaps {
        let expected = i64::try_from((len + mean / 2) / mean).unwrap_or(i64::MAX);
        counts[at] = expected.max(1).min(left);
        left -= counts[at];
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::source::open_schunk;
    use super::*;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::{State, Storage};

    #[test]
    fn a_scan_continues_after_a_damaged_chunk() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::file(&input), params, DParams::default()).unwrap();
        let data: Vec<u8> = (0..4000).map(|i| (i / 100) as u8).collect();
        data.chunks(1000).for_each(|chunk| assert!(schunk.append(chunk).is_ok()));
        schunk.close().unwrap();
        let schunk = open_schunk(&input, false, 1).unwrap();
        let frame = schunk.state().frame().unwrap();
        let positions = [1, 3].map(|number| frame.chunk_position(number).unwrap() as usize);
        drop(schunk);
        let mut frame = std::fs::read(&input).unwrap();
        // The offset of the first block in the chunk.
        frame[positions[0] + EXTENDED_HEADER_LENGTH..][..4].fill(0xff);
        frame.truncate(positions[1] + 40);
        std::fs::write(&input, frame).unwrap();
        let repaired = scan(&input, &output).unwrap();
        assert_eq!(repaired.repaired, ["2 chunks were found by scanning the file"]);
        let lost = [
            "chunk 1: its 1000 bytes are zeros now",
            "variable-length metalayers",
            "the index: chunks are in the order of the file, which can be another one",
            "the data from byte 3000 to 4000 are zeros now",
        ];
        assert_eq!(repaired.lost, lost);
        let copy = open_schunk(&output, false, 1).unwrap();
        for (number, expected) in
            [&data[..1000], &[0; 1000], &data[2000..3000], &[0; 1000]].into_iter().enumerate()
        {
            let mut found = [1; 1000];
            copy.decompress(number as i64, &mut found).unwrap();
            assert!(found == *expected, "{number}");
        }
    }

    #[test]
    fn a_scan_replaces_only_a_plausible_number_of_chunks() {
        let folder = crate::testing::tempdir();
        let (input, output) = (folder.path().join("in.b2frame"), folder.path().join("out.b2frame"));
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::file(&input), params, DParams::default()).unwrap();
        schunk.append(&[7; 1000]).unwrap();
        schunk.append(&[8; 1000]).unwrap();
        schunk.close().unwrap();
        let frame = std::fs::read(&input).unwrap();
        let fixed =
            FrameHeader::parse(frame[..FIXED_HEADER_LEN].try_into().unwrap(), Kind::Contiguous);
        let nbytes = fixed.unwrap().counters.nbytes.to_be_bytes();
        let at = frame.windows(8).position(|window| window == nbytes).unwrap();
        let scanned = |declared: i64| {
            let mut frame = frame.clone();
            frame[at..at + 8].copy_from_slice(&declared.to_be_bytes());
            std::fs::write(&input, frame).unwrap();
            let _ = std::fs::remove_file(&output);
            let lost = scan(&input, &output).unwrap().lost;
            let copy = open_schunk(&output, false, 1).unwrap();
            let mut data = [0; 1000];
            copy.decompress(1, &mut data).unwrap();
            assert_eq!(data, [8; 1000]);
            (copy.nbytes(), lost.last().unwrap().clone())
        };
        assert_eq!(
            scanned(4500),
            (4500, "the data from byte 2000 to 4500 are zeros now".to_owned())
        );
        let all = 250_000_000_000;
        assert_eq!(scanned(all), (2000, format!("the data from byte 2000 to {all} are missing")));
    }

    /// Returns chunks of these lengths, and the frame that has them, without index and trailer.
    fn frame_of(storage: Storage, path: &Path, lens: &[usize]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        let mut state = 1_u32;
        let mut noise = |len: usize| -> Vec<u8> {
            let mut bytes = vec![0; len];
            bytes.iter_mut().take(len / 2).for_each(|byte| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (state >> 24) as u8;
            });
            bytes
        };
        let chunks: Vec<Vec<u8>> = lens.iter().map(|&len| noise(len)).collect();
        for chunk in &chunks {
            schunk.append(chunk).unwrap();
        }
        schunk.close().unwrap();
        let mut bytes = std::fs::read(path).unwrap();
        let fixed = bytes[..FIXED_HEADER_LEN].try_into().unwrap();
        let header = FrameHeader::parse(fixed, Kind::Contiguous).unwrap();
        bytes.truncate(index_position(&header).unwrap() as usize);
        (chunks, bytes)
    }

    /// Scans a file with these bytes. Returns the result, and the chunks of the copy.
    fn scanned(folder: &Path, bytes: &[u8]) -> (Repaired, Vec<Vec<u8>>) {
        let (input, output) = (folder.join("in.b2frame"), folder.join("out.b2frame"));
        std::fs::write(&input, bytes).unwrap();
        let _ = std::fs::remove_file(&output);
        let repaired = scan(&input, &output).unwrap();
        let mut copy = open_schunk(&output, false, 1).unwrap();
        assert_eq!(copy.verify().unwrap().faults(), 0);
        (repaired, copy.chunks().map(|chunk| chunk.unwrap()).collect())
    }

    /// Returns the positions of chunks in a frame.
    fn positions(frame: &[u8], nbytes: usize) -> Vec<usize> {
        let size = (nbytes as u32).to_le_bytes();
        let is_chunk = |&at: &usize| frame[at..at + 8] == [&frame[at..at + 4], &size].concat();
        let starts = (0..frame.len() - 32).filter(|&at| frame[at + 3] == 4 && frame[at] == 5);
        starts.filter(is_chunk).collect()
    }

    #[test]
    fn chunks_between_damaged_headers_are_found() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("in.b2frame");
        let lens = [&[4000; 9][..], &[1200]].concat();
        let (mut chunks, bytes) = frame_of(Storage::file(&path), &path, &lens);
        let starts = positions(&bytes, 4000);
        assert_eq!(starts.len(), 9);
        let mut damaged = bytes.clone();
        for number in [0, 3, 4, 7] {
            damaged[starts[number]..][..32].fill(0xaa);
            chunks[number].fill(0);
        }
        let (repaired, found) = scanned(folder.path(), &damaged);
        assert!(found == chunks, "{repaired:?}");
        assert_eq!(repaired.repaired, ["6 chunks were found by scanning the file"]);
        let zeros = ["byte 0 to 4000", "byte 12000 to 20000", "byte 28000 to 32000"]
            .map(|range| format!("the data from {range} are zeros now"));
        assert_eq!(repaired.lost[..3], zeros);
        assert!(repaired.lost[4].starts_with("the index:"));
        // Without the chunks 5 to 8 and their bytes, the short chunk stays the last one.
        let mut cut = bytes.clone();
        let short = positions(&bytes, 1200)[0];
        cut.drain(starts[5]..short);
        let (_, found) = scanned(folder.path(), &cut);
        assert_eq!(found.len(), 10);
        assert!(found[5..9].iter().all(|chunk| *chunk == [0; 4000]) && found[9] == chunks[9]);
    }

    /// Durable changes leave bytes between the chunks that are not in use.
    #[test]
    fn chunks_of_durable_frames_are_found() {
        let folder = crate::testing::tempdir();
        for (number, lens) in [vec![4000; 20], vec![3000, 400, 1000, 8, 80, 96]].iter().enumerate()
        {
            let path = folder.path().join(format!("{number}.b2frame"));
            let (chunks, bytes) = frame_of(Storage::file(&path).durable(), &path, lens);
            let (repaired, found) = scanned(folder.path(), &bytes);
            assert!(found == chunks, "{repaired:?}");
        }
    }

    #[test]
    fn a_frame_that_was_written_as_one_change_is_found() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("many.b2frame");
        let raw = folder.path().join("raw");
        let data: Vec<u8> = (0..5000 * 64_u32).map(|i| (i / 64 * 77 % 251 + i % 5) as u8).collect();
        std::fs::write(&raw, &data).unwrap();
        let writing = super::super::Writing { chunk_bytes: Some(64), ..Default::default() };
        let mut reader = data.as_slice();
        let size = Some(data.len() as u64);
        super::super::compress((&mut reader, size), 4, (&path, false), &writing).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let fixed = bytes[..FIXED_HEADER_LEN].try_into().unwrap();
        let header = FrameHeader::parse(fixed, Kind::Contiguous).unwrap();
        let end = index_position(&header).unwrap() as usize;
        let (repaired, found) = scanned(folder.path(), &bytes[..end]);
        assert!(found.concat() == data, "{repaired:?}");
    }

    /// Each of them would take the time of a decompression.
    #[test]
    fn a_search_ends_after_many_false_chunks() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("in.b2frame");
        let (_, mut bytes) = frame_of(Storage::file(&path), &path, &[4000; 3]);
        let start = positions(&bytes, 4000)[0];
        let mut head = bytes[start..start + 32].to_vec();
        // No block begins at this offset.
        head.extend([0xff; 4]);
        bytes.truncate(start);
        let fake = head.repeat(3000);
        bytes.extend([0].iter().chain(&fake));
        let at = bytes.len();
        bytes[16..24].copy_from_slice(&(at as u64 + 100).to_be_bytes());
        let (repaired, _) = scanned(folder.path(), &bytes);
        assert_eq!(repaired.repaired, ["0 chunks were found by scanning the file"]);
    }
}
