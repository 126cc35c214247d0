//! A model of a super-chunk in plain vectors, with the expected result of each step.
//!
//! The rules of chunk sizes, counters and codes are written here independently, from the format's
//! description and the decisions, so that errors of the library are found without the reference,
//! too.

use crate::steps::{Made, Step};
use ferroblosc_interop::schunk::Fields;
use ferroblosc_interop::storage::Kind;

const CHUNK_INSERT: i64 = -19;
const CHUNK_APPEND: i64 = -20;
const CHUNK_UPDATE: i64 = -21;
const DATA: i64 = -3;
const FAILURE: i64 = -1;
const INVALID_PARAM: i64 = -12;
const NOT_FOUND: i64 = -16;
const FRAME_SPECIAL: i64 = -28;
const SCHUNK_SPECIAL: i64 = -29;

/// The maximum number of variable-length metalayers in a frame.
pub const MOST_VLMETAS: usize = 16;

/// The state of one super-chunk.
#[derive(Clone)]
pub struct Model {
    pub kind: Kind,
    pub typesize: usize,
    pub chunks: Vec<Made>,
    pub chunksize: i64,
    pub metas: Vec<(String, Vec<u8>)>,
    pub vlmetas: Vec<(String, Vec<u8>)>,
    pub change_tick: i64,
    /// The number of bytes of the data section that no chunk uses.
    pub dead: i64,
    /// Whether some chunk's length in the frame differed from its own length.
    pub dead_unknown: bool,
    /// The reference's overcount where 32-byte chunks were replaced or deleted (row S9).
    pub reference_excess: i64,
    /// The ids of a directory's chunk files; -1 for special chunks.
    pub ids: Vec<i64>,
}

impl Model {
    pub fn new(kind: Kind, typesize: usize) -> Model {
        Model {
            kind,
            typesize,
            chunks: Vec::new(),
            chunksize: -1,
            metas: Vec::new(),
            vlmetas: Vec::new(),
            change_tick: 0,
            dead: 0,
            dead_unknown: false,
            reference_excess: 0,
            ids: Vec::new(),
        }
    }

    fn framed(&self) -> bool {
        self.kind != Kind::Sparse
    }

    pub fn nbytes(&self) -> usize {
        self.chunks.iter().map(|made| made.nbytes).sum()
    }

    pub fn items(&self) -> i64 {
        (self.nbytes() / self.typesize) as i64
    }

    /// Returns the number of bytes that a chunk adds to the compressed size.
    fn counted(&self, made: &Made) -> i64 {
        if made.special && self.framed() {
            0
        } else if self.framed() && made.chunk.len() < 32 {
            // The chunk is stored with a header of 32 bytes (row F4).
            made.nbytes as i64 + 32
        } else {
            made.chunk.len() as i64
        }
    }

    pub fn cbytes(&self) -> i64 {
        let live: i64 = self.chunks.iter().map(|made| self.counted(made)).sum();
        live + self.dead
    }

    fn vl(&self) -> bool {
        self.chunks.first().is_some_and(|made| made.vl)
    }

    /// Returns all data, or `None` if some are unspecified.
    pub fn data(&self) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for made in &self.chunks {
            all.extend_from_slice(made.data.as_ref()?);
        }
        Some(all)
    }

    /// Returns the id of the next chunk file.
    fn next_id(&self) -> i64 {
        self.ids.iter().max().map_or(0, |id| id + 1)
    }

    fn id_of(&self, made: &Made) -> i64 {
        if made.special { -1 } else { self.next_id() }
    }

    /// Returns the chunk size after adding a chunk of `n` bytes at index `at`.
    fn size_after_adding(&self, at: usize, n: i64) -> Option<i64> {
        let c = self.chunksize;
        if c == -1 {
            return Some(n);
        }
        if c == 0 {
            return Some(0);
        }
        let Some(last) = self.chunks.last() else {
            return (n <= c).then_some(c);
        };
        let inside = at != self.chunks.len() && n != c;
        let differs = (last.nbytes as i64) < c || n > c || inside;
        Some(if differs { 0 } else { c })
    }

    fn size_after_update(&self, at: usize, n: i64) -> i64 {
        let c = self.chunksize;
        let inside = at + 1 != self.chunks.len() && n != c;
        if c > 0 && (n > c || inside) { 0 } else { c }
    }

    /// Whether the step makes chunk sizes vary while special chunks exist, or adds one to such a
    /// super-chunk: the reference loses their length (rows F1 and F2).
    pub fn loses_special_lengths(&self, step: &Step) -> bool {
        if !self.framed() {
            return false;
        }
        let (at, made, after) = match step {
            Step::Append(made, _) | Step::AppendBuffer(made) => {
                let at = self.chunks.len();
                (None, made, self.size_after_adding(at, made.nbytes as i64))
            }
            Step::Insert(at, made, _) => {
                let Ok(at) = usize::try_from(*at) else {
                    return false;
                };
                (None, made, self.size_after_adding(at, made.nbytes as i64))
            }
            Step::Update(at, made, _) => {
                let Ok(at) = usize::try_from(*at) else {
                    return false;
                };
                let after = self.size_after_update(at, made.nbytes as i64);
                (Some(at), made, Some(after))
            }
            _ => return false,
        };
        let others = self.chunks.iter().enumerate();
        let special =
            made.special || others.filter(|&(i, _)| Some(i) != at).any(|(_, made)| made.special);
        after == Some(0) && special
    }

    /// Whether the step appends another short chunk to a frame that has one (row S8).
    pub fn is_second_short_append(&self, step: &Step) -> bool {
        let (Step::Append(made, _) | Step::AppendBuffer(made)) = step else {
            return false;
        };
        self.framed()
            && self.chunks.len() == 1
            && (self.chunks[0].nbytes as i64) < self.chunksize
            && (made.nbytes as i64) < self.chunksize
    }

    /// Applies the step; returns the expected code.
    pub fn apply(&mut self, step: &Step) -> i64 {
        let count = self.chunks.len() as i64;
        match step {
            Step::Append(made, _) | Step::AppendBuffer(made) => {
                if self.is_second_short_append(step) {
                    return CHUNK_APPEND;
                }
                self.add(self.chunks.len(), made, CHUNK_APPEND)
            }
            Step::Insert(at, made, _) => match usize::try_from(*at) {
                Ok(at) if at <= self.chunks.len() => self.add(at, made, CHUNK_INSERT),
                _ => INVALID_PARAM,
            },
            Step::Update(at, made, _) => self.update(*at, made),
            Step::Delete(at) => self.delete(*at),
            Step::Reorder(order) => self.reorder(order),
            Step::FillSpecial(items, special, chunksize) => {
                self.fill_special(*items, *special, i64::from(*chunksize))
            }
            Step::SetSlice(..) | Step::Slice(..) | Step::Sparse(..) => 0,
            Step::MetaUpdate(name, content) => self.meta_update(name, content),
            Step::VlAdd(name, content) => {
                if self.vlmeta(name).is_some() {
                    return INVALID_PARAM;
                }
                if self.framed() && self.vlmetas.len() >= MOST_VLMETAS {
                    return FAILURE;
                }
                self.vlmetas.push((name.clone(), content.clone()));
                self.change_tick += 1;
                self.vlmetas.len() as i64 - 1
            }
            Step::VlUpdate(name, content) => match self.vlmeta(name) {
                Some(index) => {
                    self.vlmetas[index].1.clone_from(content);
                    self.change_tick += 1;
                    index as i64
                }
                None => NOT_FOUND,
            },
            Step::VlDelete(name) => match self.vlmeta(name) {
                Some(index) => {
                    self.vlmetas.remove(index);
                    self.change_tick += 1;
                    self.vlmetas.len() as i64
                }
                None => NOT_FOUND,
            },
            Step::VlExists(name) | Step::VlGet(name) => {
                self.vlmeta(name).map_or(NOT_FOUND, |index| index as i64)
            }
            Step::Refresh => 0,
            Step::Decompress(at, _) | Step::DecompressLazily(at, _) => {
                self.at(*at).map_or(INVALID_PARAM, |made| made.nbytes as i64)
            }
            Step::Chunk(at) => self.at(*at).map_or(INVALID_PARAM, |made| made.chunk.len() as i64),
            Step::Lazy(at) | Step::VlBlock(at, _) => {
                if (0..count).contains(at) {
                    0
                } else {
                    INVALID_PARAM
                }
            }
        }
    }

    /// Returns the bytes that a reading step must return, or `None` if they are unspecified.
    pub fn expected(&self, step: &Step) -> Option<Vec<u8>> {
        match step {
            Step::Decompress(at, _) | Step::DecompressLazily(at, _) => self.at(*at)?.data.clone(),
            Step::Slice(start, stop) => {
                let range = *start as usize * self.typesize..*stop as usize * self.typesize;
                Some(self.data()?[range].to_vec())
            }
            Step::Sparse(coordinates) => {
                let data = self.data()?;
                let item = |&at: &i64| &data[at as usize * self.typesize..][..self.typesize];
                Some(coordinates.iter().flat_map(item).copied().collect())
            }
            Step::VlGet(name) => Some(self.vlmetas[self.vlmeta(name)?].1.clone()),
            _ => None,
        }
    }

    fn at(&self, at: i64) -> Option<&Made> {
        self.chunks.get(usize::try_from(at).ok()?)
    }

    fn vlmeta(&self, name: &str) -> Option<usize> {
        self.vlmetas.iter().position(|(held, _)| held == name)
    }

    fn add(&mut self, at: usize, made: &Made, refused: i64) -> i64 {
        if !self.chunks.is_empty() && made.vl != self.vl() {
            return refused;
        }
        let Some(after) = self.size_after_adding(at, made.nbytes as i64) else {
            return refused;
        };
        let variable = self.framed() && made.nbytes == 0 || self.has_short_inside();
        self.chunksize = if variable { 0 } else { after };
        self.ids.insert(at, self.id_of(made));
        self.chunks.insert(at, made.clone());
        self.chunks.len() as i64
    }

    /// Whether a reordering moved a short chunk before others.
    fn has_short_inside(&self) -> bool {
        let size = self.chunksize;
        let short = |made: &Made| (made.nbytes as i64) < size;
        self.framed()
            && size > 0
            && self.chunks.iter().any(short)
            && !self.chunks.last().is_some_and(short)
    }

    /// Resets the number of unused bytes if the frame has no data.
    fn without_data(&mut self) {
        if self.nbytes() == 0 {
            (self.dead, self.dead_unknown) = (0, false);
        }
    }

    fn update(&mut self, at: i64, made: &Made) -> i64 {
        if self.at(at).is_none() {
            return INVALID_PARAM;
        }
        let at = at as usize;
        if self.chunks.len() > 1 && made.vl != self.vl() {
            return CHUNK_UPDATE;
        }
        let variable = self.framed() && made.nbytes == 0 || self.has_short_inside();
        self.chunksize = if variable { 0 } else { self.size_after_update(at, made.nbytes as i64) };
        if !self.framed() && self.chunks[at].chunk.len() == 32 {
            self.reference_excess += 32;
        }
        if made.special {
            self.ids[at] = -1;
        } else if self.ids[at] < 0 {
            self.ids[at] = self.next_id();
        }
        self.chunks[at] = made.clone();
        self.without_data();
        self.chunks.len() as i64
    }

    fn delete(&mut self, at: i64) -> i64 {
        if self.at(at).is_none() {
            return INVALID_PARAM;
        }
        if self.has_short_inside() {
            self.chunksize = 0;
        }
        let made = self.chunks.remove(at as usize);
        self.ids.remove(at as usize);
        if self.framed() && self.kind.contiguous() {
            self.dead += self.counted(&made);
            self.dead_unknown |= self.chunksize == 0 && made.special;
        }
        self.without_data();
        if !self.framed() && made.chunk.len() == 32 {
            self.reference_excess += 32;
        }
        self.chunks.len() as i64
    }

    fn reorder(&mut self, order: &[i64]) -> i64 {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if self.framed() && self.chunks.is_empty() {
            return DATA;
        }
        if !sorted.iter().copied().eq(0..self.chunks.len() as i64) {
            return DATA;
        }
        // The chunks store their own lengths.
        if let Some((&from, last)) = order.last().zip(self.chunks.len().checked_sub(1)) {
            let short = (self.chunks[last].nbytes as i64) < self.chunksize;
            let special = self.chunks[last].special || self.chunks[from as usize].special;
            self.dead_unknown |= from != last as i64 && short && special;
        }
        self.chunks = order.iter().map(|&i| self.chunks[i as usize].clone()).collect();
        self.ids = order.iter().map(|&i| self.ids[i as usize]).collect();
        0
    }

    fn fill_special(&mut self, items: i64, special: i32, chunksize: i64) -> i64 {
        let typesize = self.typesize as i64;
        let wrong = if self.framed() { FRAME_SPECIAL } else { SCHUNK_SPECIAL };
        if items == 0 {
            return 0;
        }
        if items < 0 || chunksize <= 0 {
            return INVALID_PARAM;
        }
        if self.nbytes() > 0 || self.cbytes() > 0 {
            return FRAME_SPECIAL;
        }
        if chunksize < typesize {
            return INVALID_PARAM;
        }
        if ![1, 2, 4].contains(&special) || chunksize % typesize != 0 {
            return wrong;
        }
        if self.framed() {
            self.chunksize = chunksize;
        }
        let mut left = items * typesize;
        while left > 0 {
            let nbytes = left.min(chunksize) as usize;
            left -= nbytes as i64;
            let made = Made {
                chunk: vec![0; 32],
                data: special_data(special, nbytes, self.typesize),
                nbytes,
                special: true,
                vl: false,
                short_header: false,
                dictionary: false,
            };
            if self.framed() {
                self.chunks.push(made);
                self.ids.push(-1);
            } else if self.add(self.chunks.len(), &made, SCHUNK_SPECIAL) < 0 {
                return SCHUNK_SPECIAL;
            }
        }
        self.chunks.len() as i64
    }

    fn meta_update(&mut self, name: &str, content: &[u8]) -> i64 {
        let Some(index) = self.metas.iter().position(|(held, _)| held == name) else {
            return NOT_FOUND;
        };
        let held = &mut self.metas[index].1;
        if content.len() <= held.len() {
            held[..content.len()].copy_from_slice(content);
            self.change_tick += 1;
        }
        index as i64
    }

    /// Sets items.
    ///
    /// The library recompresses the changed chunks; `chunk_len` returns such a chunk by its index.
    pub fn set_slice(&mut self, start: i64, data: &[u8], chunk_len: impl Fn(usize) -> Vec<u8>) {
        let (mut at, mut data) = (start as usize * self.typesize, data);
        let mut begin = 0;
        for i in 0..self.chunks.len() {
            let end = begin + self.chunks[i].nbytes;
            if !data.is_empty() && at < end {
                let take = data.len().min(end - at);
                let held = self.chunks[i].data.as_mut().expect("known data");
                held[at - begin..at - begin + take].copy_from_slice(&data[..take]);
                (at, data) = (at + take, &data[take..]);
                let chunk = chunk_len(i);
                let special = chunk[31] >> 4 & 7;
                let made = Made {
                    special: matches!(special, 1 | 2 | 4),
                    dictionary: false,
                    short_header: false,
                    chunk,
                    ..self.chunks[i].clone()
                };
                let (size, expected) = (self.chunks.len() as i64, self.chunksize);
                assert_eq!(self.update(i as i64, &made), size);
                assert_eq!(self.chunksize, expected);
            }
            begin = end;
        }
    }

    /// Compares the fields of the struct.
    pub fn differs(&self, fields: &Fields) -> Option<String> {
        let pairs = [
            ("nchunks", fields.nchunks, self.chunks.len() as i64),
            ("nbytes", fields.nbytes, self.nbytes() as i64),
            ("cbytes", fields.cbytes, self.cbytes()),
            ("chunksize", fields.chunksize.into(), self.chunksize),
            ("flags2", fields.flags2.into(), self.vl().into()),
            ("nmetalayers", fields.nmetalayers.into(), self.metas.len() as i64),
            ("nvlmetalayers", fields.nvlmetalayers.into(), self.vlmetas.len() as i64),
        ];
        // Special chunks with their own length are stored.
        let stored = self.framed() && self.chunksize == 0;
        let unknown = stored && self.chunks.iter().any(|made| made.special);
        pairs
            .into_iter()
            .filter(|(name, ..)| !(*name == "cbytes" && (unknown || self.dead_unknown)))
            .find(|(_, held, expected)| held != expected)
            .map(|(name, held, expected)| format!("{name} is {held}, not {expected}"))
    }
}

/// Returns the data of a special chunk.
pub fn special_data(special: i32, nbytes: usize, typesize: usize) -> Option<Vec<u8>> {
    let item = match (special, typesize) {
        (1, _) => return Some(vec![0; nbytes]),
        (2, 4) => 0x7fc0_0000u32.to_le_bytes().to_vec(),
        (2, 8) => 0x7ff8_0000_0000_0000u64.to_le_bytes().to_vec(),
        _ => return None,
    };
    Some(item.into_iter().cycle().take(nbytes).collect())
}
