//! Sequences of calls on super-chunks and arrays, which a model checks.
//!
//! The input is a program: the first byte selects the object, and each operation is one byte with
//! arguments in the bytes after it. An operation may damage the object: it serializes it, changes
//! some bytes and opens the result. From then on, calls may fail and return anything.

use std::collections::BTreeMap;

use ferroblosc::Result;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{BasicHeader, CParams, Compressor, DParams};
use ferroblosc::codec;
use ferroblosc::schunk::{SChunk, Storage, chunks};

use crate::alloc::largest_during;
use crate::files::Scratch;
use crate::frame::walk;

/// The maximum number of operations.
const MAX_OPERATIONS: usize = 40;
/// The maximum number of chunks of a super-chunk.
const MAX_CHUNKS: usize = 24;
/// The maximum size of a chunk that is read, in bytes.
const MAX_NBYTES: usize = 1 << 20;
/// The maximum extent of an array's dimension.
const MAX_EXTENT: usize = 24;
/// The maximum size of a chunk of a damaged object that is changed, in bytes.
const MAX_CHUNK: i32 = 1 << 16;
/// The maximum size of a single allocation of programs that damage nothing, in bytes: codec states
/// and tables, and the buffers of the checks.
const FIXED_ALLOCATION: usize = 24 << 20;

/// The codecs that copies are compressed with.
const CODECS: [u8; 5] =
    [codec::id::BLOSCLZ, codec::id::LZ4, codec::id::LZ4HC, codec::id::ZLIB, codec::id::ZSTD];

/// A program that is executed. After its end, all arguments are 0.
struct Program<'p> {
    rest: &'p [u8],
}

impl Program<'_> {
    fn next(&mut self) -> usize {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                byte.into()
            }
            None => 0,
        }
    }

    /// Returns an argument below `bound`, or 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// Returns an index, mostly a valid one.
    fn index(&mut self, count: usize) -> i64 {
        match self.next() {
            255 => -1,
            254 => i64::MAX,
            byte => (byte % (count + 1)) as i64,
        }
    }

    /// Returns bytes of a simple pattern.
    fn data(&mut self, len: usize) -> Vec<u8> {
        let (first, step) = (self.next(), self.next());
        (0..len).map(|at| (first + at / 3 * step) as u8).collect()
    }
}

/// Executes a program: valid objects behave as the model and need little memory, and damaged ones
/// return errors or values.
pub fn program(bytes: &[u8]) {
    let mut program = Program { rest: bytes };
    let (_, largest) = largest_during(|| match program.next() {
        kind @ 0..128 => Chunks::run(&mut program, kind),
        kind => Items::run(&mut program, kind - 128),
    });
    assert!(
        largest <= FIXED_ALLOCATION,
        "allocated {largest} bytes at once, at most {FIXED_ALLOCATION} are allowed"
    );
}

/// Returns storage of the selected kind.
fn storage(kind: usize, scratch: &Scratch, number: usize) -> Storage {
    let path = scratch.path(&format!("s{number}.b2frame"));
    match kind % 6 {
        0 => Storage::memory(),
        1 => Storage::frame(),
        2 => Storage::file(path),
        3 => Storage::directory(path),
        4 => Storage::file(path).durable(),
        _ => Storage::directory(path).checksums(),
    }
}

/// Changes bytes of a frame.
fn damage(program: &mut Program, frame: &mut [u8]) {
    for _ in 0..1 + program.below(4) {
        let (high, low, value) = (program.next(), program.next(), program.next());
        if let Some(at) = (high << 8 | low).checked_rem(frame.len()) {
            frame[at] = value as u8;
        }
    }
}

/// A super-chunk and its content.
struct Chunks {
    schunk: SChunk,
    typesize: usize,
    /// The content, or `None` if the super-chunk was damaged.
    model: Option<Model>,
}

/// The content of a super-chunk.
#[derive(Clone, Default)]
struct Model {
    chunks: Vec<Vec<u8>>,
    fixed: BTreeMap<String, Vec<u8>>,
    variable: BTreeMap<String, Vec<u8>>,
}

impl Model {
    fn nbytes(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Removes chunks that a frame does not store: those of a super-chunk without data.
    fn reopen(&mut self) {
        if self.nbytes() == 0 {
            self.chunks.clear();
        }
    }

    /// Replaces bytes of the chunks.
    fn overwrite(&mut self, start: usize, bytes: &[u8]) {
        let mut all = self.chunks.iter_mut().flatten().skip(start);
        for &byte in bytes {
            *all.next().expect("a byte that was written") = byte;
        }
    }
}

impl Chunks {
    /// Returns whether the object was never damaged.
    fn run(program: &mut Program, kind: usize) -> bool {
        let scratch = Scratch::new();
        let typesize = [1, 2, 4, 8, 3, 17][kind / 6 % 6];
        let params = CParams::default().typesize(typesize);
        let opened = SChunk::create(storage(kind, &scratch, 0), params, DParams::default());
        let schunk = opened.expect("a new super-chunk");
        let mut object =
            Chunks { schunk, typesize: typesize as usize, model: Some(Model::default()) };
        for number in 1..=MAX_OPERATIONS {
            if program.rest.is_empty() {
                break;
            }
            if object.model.is_none() && object.is_large() {
                break;
            }
            object.step(program, &scratch, number);
            object.check_sizes();
        }
        object.check_content();
        let is_valid = object.model.is_some();
        match object.schunk.to_bytes() {
            Ok(bytes) => {
                if let Ok(schunk) = SChunk::from_bytes(&bytes, DParams::default()) {
                    let mut object = Chunks { schunk, ..object };
                    object.after(Ok(()), Model::reopen);
                    object.check_content();
                } else {
                    assert!(!is_valid, "a serialized super-chunk cannot be opened");
                }
            }
            Err(error) => assert!(!is_valid, "cannot be serialized: {error}"),
        }
        is_valid
    }

    /// Whether calls on a damaged super-chunk are slow or need much memory.
    fn is_large(&self) -> bool {
        // A chunk that is invalid apart from its header counts, too.
        let is_large = |number| {
            let header = self.schunk.chunk(number).and_then(|chunk| BasicHeader::parse(&chunk));
            header.is_ok_and(|header| header.nbytes > MAX_CHUNK)
        };
        self.schunk.chunksize() > MAX_CHUNK
            || self.schunk.typesize() > MAX_CHUNK
            || self.schunk.nchunks() > 4 * MAX_CHUNKS as i64
            || (0..self.schunk.nchunks()).any(is_large)
    }

    fn check_sizes(&self) {
        if let Some(model) = &self.model {
            assert_eq!(self.schunk.nchunks(), model.chunks.len() as i64);
            assert_eq!(self.schunk.nbytes(), model.nbytes() as i64);
        }
    }

    /// Compares all content with the model; reads a damaged super-chunk.
    fn check_content(&self) {
        let Some(model) = &self.model else {
            if self.is_large() {
                return;
            }
            walk(&self.schunk, &mut crate::draw::Draw::new(&[]));
            return;
        };
        let mut dest = vec![0; MAX_NBYTES];
        for (number, expected) in model.chunks.iter().enumerate() {
            let len = self.schunk.decompress(number as i64, &mut dest).expect("a valid chunk");
            assert!(dest[..len] == expected[..], "chunk {number} differs");
        }
        for (name, content) in &model.fixed {
            assert_eq!(self.schunk.metalayer(name).as_ref(), Some(content), "metalayer {name}");
        }
        for (name, content) in &model.variable {
            assert_eq!(self.schunk.vlmetalayer(name).as_ref(), Ok(content), "metalayer {name}");
        }
        assert_eq!(self.schunk.metalayer_names().len(), model.fixed.len());
        assert_eq!(self.schunk.vlmetalayer_names().len(), model.variable.len());
    }

    /// Applies a successful call to the model.
    fn after<T>(&mut self, result: Result<T>, change: impl FnOnce(&mut Model)) {
        if let (Ok(_), Some(model)) = (result, &mut self.model) {
            change(model);
        }
    }

    /// Returns data of a chunk, mostly of the same length as the others.
    fn chunk_data(&self, program: &mut Program) -> Vec<u8> {
        let len = match program.next() {
            byte @ 0..128 => (1 + byte % 8) * 16 * self.typesize,
            byte @ 128..240 => (byte - 127) * self.typesize,
            byte => byte - 240,
        };
        program.data(len)
    }

    /// Returns data and a chunk of them.
    fn new_chunk(&self, program: &mut Program) -> (Vec<u8>, Vec<u8>) {
        let data = self.chunk_data(program);
        let params = CParams::default().typesize(self.typesize as i32);
        let params = params.level(program.below(10) as u8);
        let chunk =
            Compressor::new(params).and_then(|mut compressor| compressor.compress_to_vec(&data));
        (data, chunk.expect("a chunk of few bytes"))
    }

    fn step(&mut self, program: &mut Program, scratch: &Scratch, number: usize) {
        let count = usize::try_from(self.schunk.nchunks()).unwrap_or(0);
        match program.below(18) {
            0 | 1 if count < MAX_CHUNKS => {
                let data = self.chunk_data(program);
                let done = self.schunk.append(&data);
                self.after(done, |model| model.chunks.push(data));
            }
            2 if count < MAX_CHUNKS => {
                let (data, chunk) = self.new_chunk(program);
                let done = self.schunk.append_chunk(&chunk);
                self.after(done, |model| model.chunks.push(data));
            }
            3 if count < MAX_CHUNKS => {
                let at = program.index(count);
                let (data, chunk) = self.new_chunk(program);
                let done = self.schunk.insert_chunk(at, &chunk);
                self.after(done, |model| model.chunks.insert(at as usize, data));
            }
            4 => {
                let at = program.index(count);
                let (data, chunk) = self.new_chunk(program);
                let done = self.schunk.update_chunk(at, &chunk);
                self.after(done, |model| model.chunks[at as usize] = data);
            }
            5 => {
                let at = program.index(count);
                let done = self.schunk.delete_chunk(at);
                self.after(done, |model| drop(model.chunks.remove(at as usize)));
            }
            6 => {
                let mut order: Vec<i64> = (0..count as i64).collect();
                order.rotate_left(program.below(count));
                let (first, second) = (program.below(count), program.below(count));
                if count > 0 {
                    order.swap(first, second);
                }
                let done = self.schunk.reorder(&order);
                self.after(done, |model| {
                    let chunks = order.iter().map(|&from| model.chunks[from as usize].clone());
                    model.chunks = chunks.collect();
                });
            }
            7 => {
                let start = program.index(self.nitems());
                let data = program.below(40) * self.typesize;
                let data = program.data(data);
                let stop = start.saturating_add((data.len() / self.typesize) as i64);
                let done = self.schunk.set_slice(start, stop, &data);
                if !data.is_empty() {
                    let at = usize::try_from(start).unwrap_or(0).saturating_mul(self.typesize);
                    self.after(done, |model| model.overwrite(at, &data));
                }
            }
            8 => self.get_slice(program),
            9 => self.change_layers(program),
            10 => {
                let params = CParams::default()
                    .typesize(self.typesize as i32)
                    .codec(CODECS[program.below(CODECS.len())])
                    .level(program.below(10) as u8);
                let target = storage(program.next(), scratch, number);
                match self.schunk.copy_with(target, params, DParams::default()) {
                    Ok(copy) => self.schunk = copy,
                    Err(error) => assert!(self.model.is_none(), "cannot be copied: {error}"),
                }
            }
            11 => {
                if let Ok(bytes) = self.schunk.to_bytes()
                    && let Ok(schunk) = SChunk::from_bytes(&bytes, DParams::default())
                {
                    self.schunk = schunk;
                    self.after(Ok(()), Model::reopen);
                } else {
                    assert!(self.model.is_none(), "cannot be serialized and opened again");
                }
            }
            12 => {
                let Ok(mut bytes) = self.schunk.to_bytes() else { return };
                damage(program, &mut bytes);
                let opened = match program.below(2) {
                    0 => SChunk::from_bytes(&bytes, DParams::default()),
                    _ => {
                        let path = scratch.file(&format!("s{number}.b2frame"), &bytes);
                        SChunk::open(Storage::file(path), DParams::default())
                    }
                };
                if let Ok(schunk) = opened {
                    self.schunk = schunk;
                    self.model = None;
                }
            }
            13 => {
                let at = program.index(count);
                let _ = chunks::lazy_chunk(self.schunk.state(), at);
                let chunk = self.schunk.chunk(at).map(|chunk| chunk.to_vec());
                let is_there = usize::try_from(at).is_ok_and(|at| at < count);
                assert!(self.model.is_none() || chunk.is_ok() == is_there, "chunk {at}: {chunk:?}");
                if let Ok(chunk) = chunk {
                    let _ = self.schunk.update_chunk(at, &chunk);
                }
            }
            14 => {
                let verified = self.schunk.verify();
                if self.model.is_some() {
                    let report = verified.expect("a valid super-chunk");
                    assert!(report.bad_chunks.is_empty() && report.bad_vlmetalayers.is_empty());
                }
            }
            15 => {
                let done = self.schunk.compact();
                assert!(self.model.is_none() || done.is_ok(), "cannot be compacted: {done:?}");
            }
            16 => {
                let _ = self.schunk.refresh();
            }
            _ => {
                let size = program.next() * self.typesize;
                let _ = self.schunk.set_chunksize(size as i32);
            }
        }
    }

    /// Returns the number of items of a valid super-chunk.
    fn nitems(&self) -> usize {
        self.model.as_ref().map_or(40, |model| model.nbytes() / self.typesize)
    }

    /// Reads items as a range and one by one.
    fn get_slice(&self, program: &mut Program) {
        let width = usize::try_from(self.schunk.typesize()).unwrap_or(0).clamp(1, 1000);
        let (start, len) = (program.index(self.nitems()), program.below(40));
        let mut dest = vec![0; len * width];
        let stop = start.saturating_add(len as i64);
        let range = self.schunk.get_slice(start, stop, &mut dest);
        let mut single = vec![0; width];
        let item = self.schunk.get_sparse(&[start], &mut single);
        let Some(model) = &self.model else { return };
        // The positions of items follow the chunk size, as in C-Blosc2: after a reordering that
        // moves the short chunk, they are not those of the data.
        if model.chunks.iter().rev().skip(1).any(|chunk| chunk.len() != model.chunks[0].len()) {
            return;
        }
        let all = model.chunks.concat();
        let at = usize::try_from(start).unwrap_or(usize::MAX).saturating_mul(width);
        let expected = |len: usize| all.get(at..at.saturating_add(len));
        if range.is_ok() && start < stop {
            assert_eq!(expected(dest.len()), Some(&dest[..]), "items {start}+{len}");
        }
        if item.is_ok() {
            assert_eq!(expected(width), Some(&single[..]), "item {start}");
        }
    }

    fn change_layers(&mut self, program: &mut Program) {
        let name = format!("layer{}", program.below(3));
        let len = program.next();
        let content = program.data(len);
        match program.below(5) {
            0 => {
                let done = self.schunk.add_metalayer(&name, &content);
                self.after(done, |model| drop(model.fixed.insert(name, content)));
            }
            1 => {
                let done = self.schunk.update_metalayer(&name, &content);
                self.after(done, |model| {
                    let layer = model.fixed.get_mut(&name).expect("a metalayer of the model");
                    layer[..content.len()].copy_from_slice(&content);
                });
            }
            2 => {
                let done = self.schunk.add_vlmetalayer(&name, &content);
                self.after(done, |model| drop(model.variable.insert(name, content)));
            }
            3 => {
                let done = self.schunk.update_vlmetalayer(&name, &content);
                self.after(done, |model| drop(model.variable.insert(name, content)));
            }
            _ => {
                let done = self.schunk.delete_vlmetalayer(&name);
                self.after(done, |model| drop(model.variable.remove(&name)));
            }
        }
    }
}

/// A two-dimensional array of items of two bytes, and its content.
struct Items {
    array: Array,
    /// The shape and the items, or `None` if the array was damaged.
    model: Option<Grid>,
}

/// The content of an array. Items are unknown where an array that was shrunk has grown again: a
/// chunk at the edge keeps the old ones.
struct Grid {
    rows: Vec<Vec<Option<u16>>>,
    width: usize,
    was_shrunk: bool,
}

impl Grid {
    /// Whether bytes are the items in a range of rows and columns.
    fn is(&self, bytes: &[u8], start: [usize; 2], stop: [usize; 2]) -> bool {
        let rows = self.rows[start[0]..stop[0]].iter();
        let items: Vec<Option<u16>> =
            rows.flat_map(|row| &row[start[1]..stop[1]]).copied().collect();
        let found: Vec<&[u8]> = bytes.chunks(2).collect();
        let is_item = |(item, found): (&Option<u16>, &&[u8])| {
            item.is_none_or(|item| item.to_le_bytes() == **found)
        };
        items.len() == found.len() && items.iter().zip(&found).all(is_item)
    }

    fn resize(&mut self, height: usize, width: usize) {
        self.was_shrunk |= height < self.rows.len() || width < self.width;
        self.width = width;
        let new = if self.was_shrunk { None } else { Some(0) };
        self.rows.resize(height, Vec::new());
        for row in &mut self.rows {
            row.resize(width, new);
        }
    }

    /// Inserts items of a slab along an axis.
    fn insert(&mut self, axis: usize, at: usize, items: &[u16]) {
        // Nothing is inserted then, at any index.
        if items.is_empty() {
            return;
        }
        if axis == 0 {
            let rows = items.chunks(self.width.max(1));
            let rows = rows.map(|row| row.iter().copied().map(Some).collect());
            self.rows.splice(at..at, rows);
        } else {
            let count = items.len() / self.rows.len().max(1);
            for (row, items) in self.rows.iter_mut().zip(items.chunks(count.max(1))) {
                row.splice(at..at, items.iter().copied().map(Some));
            }
            self.width += count;
        }
    }

    fn delete(&mut self, axis: usize, at: usize, count: usize) {
        self.was_shrunk |= count > 0;
        if axis == 0 {
            self.rows.drain(at..at + count);
        } else {
            for row in &mut self.rows {
                row.drain(at..at + count);
            }
            self.width -= count;
        }
    }

    fn shape(&self) -> [usize; 2] {
        [self.rows.len(), self.width]
    }
}

impl Items {
    /// Returns whether the object was never damaged.
    fn run(program: &mut Program, kind: usize) -> bool {
        let scratch = Scratch::new();
        let (height, width) = (program.below(MAX_EXTENT), program.below(MAX_EXTENT));
        let chunkshape = [1 + program.below(9) as i32, 1 + program.below(9) as i32];
        let blockshape =
            [1 + program.below(chunkshape[0] as usize), 1 + program.below(chunkshape[1] as usize)];
        let layout = Layout {
            shape: &[height as i64, width as i64],
            chunkshape: &chunkshape,
            blockshape: &blockshape.map(|len| len as i32),
        };
        let items: Vec<u16> = (0..height * width).map(|at| at as u16).collect();
        let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        let params = CParams::default().typesize(2);
        let target = storage(kind, &scratch, 0);
        let array = Array::from_item_bytes(target, params, &layout, "<u2", &bytes);
        let mut model = Grid { rows: vec![Vec::new(); height], width: 0, was_shrunk: false };
        model.resize(height, width);
        for (at, item) in items.into_iter().enumerate() {
            model.rows[at / width][at % width] = Some(item);
        }
        let mut object = Items { array: array.expect("a new array"), model: Some(model) };
        for _ in 0..MAX_OPERATIONS {
            if program.rest.is_empty() || object.model.is_none() && object.is_large() {
                break;
            }
            object.step(program);
            object.check();
        }
        object.model.is_some()
    }

    /// Whether calls on a damaged array are slow or need much memory.
    fn is_large(&self) -> bool {
        let geometry = self.array.geometry();
        let typesize = self.array.schunk().typesize();
        let chunk = geometry.chunksize(typesize);
        let nbytes = geometry.shape().iter().map(|&len| len as f64).product::<f64>();
        geometry.nchunks() > 1000
            || nbytes * f64::from(typesize) > MAX_NBYTES as f64
            || chunk.is_ok_and(|bytes| bytes > MAX_CHUNK as usize)
            || self.array.schunk().chunksize() > MAX_CHUNK
            || geometry.shape().iter().any(|&len| len > 1000)
    }

    fn check(&self) {
        match &self.model {
            Some(model) => {
                let shape = model.shape();
                assert_eq!(self.array.shape(), shape.map(|len| len as i64));
                let items = self.array.get_slice(&[0, 0], &shape.map(|len| len as i64));
                let items = items.expect("the items of a valid array");
                assert!(model.is(&items, [0, 0], shape), "the items differ");
            }
            None if !self.is_large() => {
                let shape = self.array.shape();
                let _ = self.array.get_slice(&vec![0; shape.len()], &shape);
            }
            None => {}
        }
    }

    fn shape(&self) -> [usize; 2] {
        self.model.as_ref().map_or([8, 8], Grid::shape)
    }

    /// Returns the items of a slab of some rows or columns.
    fn slab(&self, program: &mut Program, axis: usize) -> Vec<u16> {
        let [height, width] = self.shape();
        let count = program.below(6) * [width, height][axis];
        let first = program.next() as u16;
        (0..count).map(|at| first.wrapping_mul(257).wrapping_add(at as u16)).collect()
    }

    fn step(&mut self, program: &mut Program) {
        let operation = program.below(8);
        let axis = program.below(2);
        let shape = self.shape();
        let bytes_of =
            |items: &[u16]| items.iter().flat_map(|item| item.to_le_bytes()).collect::<Vec<u8>>();
        let grows = shape[axis] < 4 * MAX_EXTENT;
        let is_empty = shape.contains(&0);
        match operation {
            0 => {
                let (height, width) = (program.below(MAX_EXTENT), program.below(MAX_EXTENT));
                let done = self.array.resize(&[height as i64, width as i64], None);
                self.after(done, |model| model.resize(height, width));
            }
            1 if grows && !is_empty => {
                let items = self.slab(program, axis);
                let done = self.array.append(&bytes_of(&items), axis as i8);
                self.after(done, |model| model.insert(axis, shape[axis], &items));
            }
            2 if grows && !is_empty => {
                let at = program.index(shape[axis]);
                let items = self.slab(program, axis);
                let done = self.array.insert(&bytes_of(&items), axis as i8, at);
                self.after(done, |model| model.insert(axis, at as usize, &items));
            }
            3 => {
                let (at, count) = (program.index(shape[axis]), program.below(6));
                let done = self.array.delete(axis as i8, at, count as i64);
                self.after(done, |model| model.delete(axis, at as usize, count));
            }
            4 => {
                let start = shape.map(|len| program.below(len));
                let stop =
                    [0, 1].map(|dim| start[dim] + program.below(shape[dim] - start[dim] + 1));
                let len = (stop[0] - start[0]) * (stop[1] - start[1]);
                let items = vec![program.next() as u16; len];
                let [from, to] = [start, stop].map(|index| index.map(|at| at as i64));
                let done = self.array.set_slice(&from, &to, &bytes_of(&items));
                self.after(done, |model| {
                    for row in &mut model.rows[start[0]..stop[0]] {
                        row[start[1]..stop[1]].fill(items.first().copied());
                    }
                });
            }
            5 => {
                let start = shape.map(|len| program.below(len));
                let stop =
                    [0, 1].map(|dim| start[dim] + program.below(shape[dim] - start[dim] + 1));
                let [from, to] = [start, stop].map(|index| index.map(|at| at as i64));
                let read = self.array.get_slice(&from, &to);
                if let Some(model) = &self.model {
                    let read = read.expect("items of a valid array");
                    assert!(model.is(&read, start, stop), "items {start:?} to {stop:?}");
                }
            }
            6 => {
                let Ok(bytes) = self.array.to_bytes() else {
                    assert!(self.model.is_none(), "cannot be serialized");
                    return;
                };
                let opened = SChunk::from_bytes(&bytes, DParams::default());
                match opened.and_then(Array::from_schunk) {
                    Ok(array) => self.array = array,
                    Err(error) => assert!(self.model.is_none(), "cannot be opened: {error}"),
                }
            }
            7 => {
                let Ok(mut bytes) = self.array.to_bytes() else { return };
                damage(program, &mut bytes);
                let opened = SChunk::from_bytes(&bytes, DParams::default());
                if let Ok(array) = opened.and_then(Array::from_schunk) {
                    self.array = array;
                    self.model = None;
                }
            }
            _ => {}
        }
    }

    /// Applies a successful call to the model.
    fn after(&mut self, result: Result<()>, change: impl FnOnce(&mut Grid)) {
        if let (Ok(()), Some(model)) = (result, &mut self.model) {
            change(model);
        }
    }
}
