//! Reads without locks during a change by another handle: all orders of the reads of one handle and
//! the writes of the other in which the other handle pauses once, and some with two pauses.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, DParams, special};
use ferroblosc::codec;
use ferroblosc::io::{Backend, Mode, Stream, WriteGranularity};
use ferroblosc::schunk::{SChunk, Storage};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// The size of the data of a chunk in bytes.
const CHUNK: usize = 4000;
const NAME: &str = "text";
const TEXT: &[u8] = b"a text that is longer than the header of a chunk";
const OTHER_TEXT: &[u8] =
    b"another text, which is longer than the first one and than the header of a chunk";

/// A change of the file.
#[derive(Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Step {
    fn apply(self, bytes: &mut Vec<u8>) {
        match self {
            Step::Write(at, new) => {
                bytes.resize(bytes.len().max(at + new.len()), 0);
                bytes[at..at + new.len()].copy_from_slice(&new);
            }
            Step::Truncate(len) => bytes.resize(len, 0),
        }
    }
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// The changes of this handle.
    recorded: Vec<Step>,
    /// The changes of the other handle, and the number of half reads before each.
    script: VecDeque<(usize, Step)>,
    /// The number of half reads so far.
    half_reads: usize,
    /// The offset at which a read is interrupted, in sixteenths of its length.
    split: usize,
}

/// A file in memory that another handle changes between two halves of a read.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn storage(&self) -> Storage {
        Storage::file("frame").backend(Arc::new(self.clone()))
    }

    fn open(&self) -> Result<SChunk> {
        SChunk::open(self.storage(), DParams::default())
    }

    /// Returns a file that the other handle changes by this script.
    fn with_script(bytes: &[u8], split: usize, script: VecDeque<(usize, Step)>) -> Shared {
        let bytes = bytes.to_vec();
        Shared(Arc::new(Mutex::new(State { bytes, script, split, ..State::default() })))
    }

    /// Applies the rest of the script.
    fn finish(&self) {
        let mut state = self.state();
        while let Some((_, step)) = state.script.pop_front() {
            step.apply(&mut state.bytes);
        }
    }
}

impl State {
    fn advance(&mut self) {
        while self.script.front().is_some_and(|(at, _)| *at <= self.half_reads) {
            if let Some((_, step)) = self.script.pop_front() {
                step.apply(&mut self.bytes);
            }
        }
        self.half_reads += 1;
    }

    fn read(&self, position: usize, dest: &mut [u8]) -> usize {
        let from = self.bytes.get(position..).unwrap_or_default();
        let len = from.len().min(dest.len());
        dest[..len].copy_from_slice(&from[..len]);
        len
    }

    fn change(&mut self, step: Step) {
        self.recorded.push(step.clone());
        step.apply(&mut self.bytes);
    }
}

impl Backend for Shared {
    fn open(&self, _: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        if mode == Mode::Create {
            self.state().change(Step::Truncate(0));
        }
        Ok(Box::new(self.clone()))
    }
}

impl Stream for Shared {
    fn size(&self) -> Result<u64> {
        Ok(self.state().bytes.len() as u64)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let mut state = self.state();
        let (position, half) = (position as usize, dest.len() * state.split / 16);
        state.advance();
        let first = state.read(position, &mut dest[..half]);
        state.advance();
        let second = state.read(position + half, &mut dest[half..]);
        Ok(first + second)
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        self.state().change(Step::Write(position as usize, bytes.to_vec()));
        Ok(())
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.state().change(Step::Truncate(len as usize));
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn params() -> CParams {
    CParams::default().typesize(8).codec(codec::id::BLOSCLZ)
}

/// The data of a chunk: one repeated item.
fn data(value: i64) -> Vec<u8> {
    value.to_le_bytes().repeat(CHUNK / 8)
}

/// A chunk of this data. Chunks of other items than 0 have the size of five offsets, so that a mix
/// of two indexes has valid offsets of other chunks.
fn chunk(value: i64) -> Vec<u8> {
    let mut chunk = vec![0; 40];
    let len = match value {
        0 => special::zeros(&params(), CHUNK as i32, &mut chunk),
        _ => special::repeatval(&params(), CHUNK as i32, &value.to_le_bytes(), &mut chunk),
    };
    chunk.truncate(len.unwrap());
    chunk
}

/// The content of a super-chunk.
#[derive(Clone)]
struct Content {
    /// The item of each chunk.
    values: Vec<i64>,
    text: &'static [u8],
}

/// A change that the other handle makes.
#[derive(Clone, Copy, Debug)]
enum Change {
    Append,
    Insert,
    Update,
    UpdateWithZeros,
    Delete,
    DeleteLast,
    Text,
}

impl Change {
    /// All except [`Change::Append`].
    const OTHERS: [Change; 6] = [
        Change::Insert,
        Change::Update,
        Change::UpdateWithZeros,
        Change::Delete,
        Change::DeleteLast,
        Change::Text,
    ];

    /// Makes the change in a super-chunk and in the description of its content.
    fn make(self, schunk: &mut SChunk, content: &mut Content) {
        let values = &mut content.values;
        let (middle, new) = (values.len() / 2, 100);
        match self {
            Change::Append => {
                schunk.append_chunk(&chunk(new)).unwrap();
                values.push(new);
            }
            Change::Insert => {
                schunk.insert_chunk(middle as i64, &chunk(new)).unwrap();
                values.insert(middle, new);
            }
            Change::Update | Change::UpdateWithZeros => {
                let new = if matches!(self, Change::Update) { new } else { 0 };
                schunk.update_chunk(middle as i64, &chunk(new)).unwrap();
                values[middle] = new;
            }
            Change::Delete => {
                schunk.delete_chunk(middle as i64).unwrap();
                values.remove(middle);
            }
            Change::DeleteLast => {
                schunk.delete_chunk(values.len() as i64 - 1).unwrap();
                values.pop();
            }
            Change::Text => {
                content.text = OTHER_TEXT;
                schunk.update_vlmetalayer(NAME, content.text).unwrap();
            }
        }
    }
}

/// A frame, the writes of a change of it, and its content before and after the change.
struct Changed {
    bytes: Vec<u8>,
    steps: Vec<Step>,
    contents: Vec<Content>,
    /// The chunks from this number on are replaced or moved in place.
    moved: usize,
}

/// Creates a super-chunk of `nchunks` chunks.
fn create(storage: Storage, nchunks: i64) -> (SChunk, Content) {
    let mut schunk = SChunk::create(storage, params(), DParams::default()).unwrap();
    schunk.add_vlmetalayer(NAME, TEXT).unwrap();
    let values: Vec<i64> = (1..=nchunks).collect();
    for &value in &values {
        schunk.append_chunk(&chunk(value)).unwrap();
    }
    (schunk, Content { values, text: TEXT })
}

/// Creates a frame of `nchunks` chunks and records a change of it.
fn change(nchunks: i64, change: Change) -> Changed {
    let shared = Shared::default();
    let (mut schunk, before) = create(shared.storage(), nchunks);
    let bytes = shared.state().bytes.clone();
    shared.state().recorded.clear();
    let mut after = before.clone();
    change.make(&mut schunk, &mut after);
    let steps = std::mem::take(&mut shared.state().recorded);
    let moved = match change {
        Change::Update | Change::UpdateWithZeros => before.values.len() / 2,
        // The index is then written where the chunk was.
        Change::Delete | Change::DeleteLast if after.values.is_empty() => 0,
        _ => usize::MAX,
    };
    Changed { bytes, steps, contents: vec![before, after], moved }
}

/// Checks that each read returns what one of the contents has, or an error; chunks from `moved` on
/// may have any data. Returns whether all were right.
fn check(schunk: &SChunk, contents: &[Content], moved: usize, order: &str) -> bool {
    let found = schunk.nchunks() as usize;
    assert!(contents.iter().any(|c| c.values.len() == found), "{found} chunks, {order}");
    let mut all = true;
    // Not all chunks of longer frames, to try fewer orders.
    for nchunk in (0..found).rev().step_by(if found > 6 { 3 } else { 1 }) {
        let mut dest = vec![0; CHUNK];
        match schunk.decompress(nchunk as i64, &mut dest) {
            Ok(len) => {
                assert_eq!(len, CHUNK, "{nchunk}, {order}");
                let mut values = contents.iter().filter_map(|c| c.values.get(nchunk));
                let is_right = values.any(|&value| dest == data(value));
                assert!(is_right || nchunk >= moved, "chunk {nchunk} has other data, {order}");
                all &= is_right;
            }
            // The change may have deleted the chunk.
            Err(_) => all &= contents.last().is_some_and(|after| after.values.len() <= nchunk),
        }
    }
    match schunk.vlmetalayer(NAME) {
        Ok(text) => assert!(contents.iter().any(|c| c.text == text), "another text, {order}"),
        Err(_) => all = false,
    }
    all
}

/// Like [`change`] for a durable frame, which a change extends before it writes the header.
fn durable_change(nchunks: i64, change: Change) -> Changed {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame");
    let (mut schunk, before) = create(Storage::file(&path).durable(), nchunks);
    let bytes = std::fs::read(&path).unwrap();
    let mut after = before.clone();
    change.make(&mut schunk, &mut after);
    let changed = std::fs::read(&path).unwrap();
    let header = (0..bytes.len()).filter(|&at| bytes[at] != changed[at]).max().unwrap() + 1;
    assert!(header < 100, "the byte {header} was changed");
    let new = changed[bytes.len()..].to_vec();
    let steps = vec![Step::Write(bytes.len(), new), Step::Write(0, changed[..header].to_vec())];
    Changed { bytes, steps, contents: vec![before, after], moved: usize::MAX }
}

/// The orders to try.
struct Orders {
    /// The offset at which a read is interrupted, in sixteenths of its length.
    splits: &'static [usize],
    /// If given, the other handle pauses twice, the second time at multiples of this many half
    /// reads.
    two: Option<usize>,
}

impl Orders {
    const ALL: Orders = Orders { splits: &[2, 8, 12, 14], two: None };
    const SOME: Orders = Orders { splits: &[2, 14], two: None };
    const TWO_PAUSES: Orders = Orders { splits: &[8], two: Some(5) };

    /// Returns the times of the writes of a change, in half reads.
    fn times(&self, writes: usize, last: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        for pause in 1..=writes {
            for first in 0..last {
                for second in first..=last {
                    let time = |i| if i < pause { first } else { second };
                    let Some(step) = self.two else {
                        all.push((0..writes).map(time).collect());
                        continue;
                    };
                    for again in pause + 1..writes {
                        for third in (second + 1..=last).step_by(step) {
                            let time = |i| if i < again { time(i) } else { third };
                            all.push((0..writes).map(time).collect());
                        }
                    }
                }
            }
        }
        all
    }
}

/// The parameters of a test's reads: the file, the script, the contents before and after the
/// change, the first chunk that may have any data, and a description of the order.
type Read = fn(&Shared, VecDeque<(usize, Step)>, &[Content], usize, &str) -> Result<bool>;

/// Tries orders of the writes of a change and the reads of `read`, which may fail if `may_fail` is
/// true for the time of the last write.
fn try_orders(changed: &Changed, tried: &Orders, may_fail: impl Fn(usize) -> bool, read: Read) {
    let Changed { bytes, steps, contents, moved } = changed;
    let mut complete = bytes.clone();
    steps.iter().for_each(|step| step.clone().apply(&mut complete));
    let calm = Shared::with_script(bytes, 8, VecDeque::new());
    assert!(read(&calm, VecDeque::new(), &contents[..1], *moved, "").unwrap());
    let last = calm.state().half_reads;
    let (mut orders, mut right) = (0, 0);
    for &split in tried.splits {
        for times in tried.times(steps.len(), last) {
            let order = format!("writes before the half reads {times:?}, {split}");
            let end = times.last().copied().unwrap_or(0);
            let shared = Shared::with_script(bytes, split, VecDeque::new());
            orders += 1;
            let script = times.into_iter().zip(steps.iter().cloned()).collect();
            let done = read(&shared, script, contents, *moved, &order);
            assert!(done == Ok(true) || may_fail(end), "{done:?}, {order}");
            right += usize::from(done == Ok(true));
            shared.finish();
            assert!(shared.state().bytes == complete, "{order}");
        }
    }
    assert!(right > 0, "{right} of {orders} orders without an error");
}

/// Opens the file during the change.
fn open_and_check(
    shared: &Shared,
    script: VecDeque<(usize, Step)>,
    contents: &[Content],
    moved: usize,
    order: &str,
) -> Result<bool> {
    shared.state().script = script;
    let schunk = shared.open()?;
    // The other handle pauses again.
    let script = std::mem::take(&mut shared.state().script);
    let all = check(&schunk, contents, moved, order);
    shared.state().script = script;
    shared.finish();
    Ok(check(&schunk, contents, moved, order) && all)
}

/// Refreshes a handle during the change.
fn refresh_and_check(
    shared: &Shared,
    script: VecDeque<(usize, Step)>,
    contents: &[Content],
    moved: usize,
    order: &str,
) -> Result<bool> {
    let schunk = shared.open()?;
    let mut state = shared.state();
    (state.script, state.half_reads) = (script, 0);
    drop(state);
    schunk.refresh()?;
    let all = check(&schunk, contents, moved, order);
    shared.finish();
    schunk.refresh()?;
    let complete = contents.last().into_iter().cloned().collect::<Vec<_>>();
    assert!(check(&schunk, &complete, usize::MAX, order), "{order}");
    Ok(all)
}

#[test]
fn a_file_that_is_opened_during_an_append_has_no_other_data() {
    for nchunks in [0, 1, 5, 8, 12] {
        try_orders(&change(nchunks, Change::Append), &Orders::ALL, |_| true, open_and_check);
    }
}

#[test]
fn a_handle_that_reads_during_an_append_returns_no_other_data() {
    for nchunks in [1, 5] {
        try_orders(&change(nchunks, Change::Append), &Orders::ALL, |_| true, refresh_and_check);
    }
}

#[test]
fn a_file_that_is_opened_during_another_change_has_no_other_data() {
    for (nchunks, made) in [1, 4].into_iter().flat_map(|n| Change::OTHERS.map(|c| (n, c))) {
        println!("{made:?} in {nchunks} chunks");
        try_orders(&change(nchunks, made), &Orders::SOME, |_| true, open_and_check);
    }
}

#[test]
fn a_handle_that_reads_during_another_change_returns_no_other_data() {
    for (nchunks, made) in [1, 4].into_iter().flat_map(|n| Change::OTHERS.map(|c| (n, c))) {
        println!("{made:?} in {nchunks} chunks");
        try_orders(&change(nchunks, made), &Orders::SOME, |_| true, refresh_and_check);
    }
}

#[test]
fn a_change_that_pauses_twice_shows_no_other_data() {
    for made in [Change::Append, Change::Insert, Change::Update, Change::Delete] {
        println!("{made:?}");
        try_orders(&change(3, made), &Orders::TWO_PAUSES, |_| true, open_and_check);
    }
}

#[test]
fn reads_during_a_durable_change_succeed() {
    // Only a read of the header that a write interrupts may fail.
    let is_torn = |last: usize| !last.is_multiple_of(2);
    let others = Change::OTHERS.map(|made| (5, made));
    for (nchunks, made) in [(1, Change::Append), (5, Change::Append)].into_iter().chain(others) {
        println!("{made:?} in {nchunks} chunks");
        let changed = durable_change(nchunks, made);
        try_orders(&changed, &Orders::ALL, is_torn, open_and_check);
        try_orders(&changed, &Orders::ALL, is_torn, refresh_and_check);
    }
}
