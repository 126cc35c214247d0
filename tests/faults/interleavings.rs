//! Reads without locks during an append by another handle: all orders of the reads of one handle and
//! the writes of the other in which the other handle pauses once.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, DParams, special};
use ferroblosc::codec;
use ferroblosc::io::{Backend, Mode, Stream, WriteGranularity};
use ferroblosc::schunk::{SChunk, Storage};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// Size of the data of a chunk in bytes.
const CHUNK: usize = 4000;
const NAME: &str = "text";
const TEXT: &[u8] = b"a text that is longer than the header of a chunk";

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
    /// Number of half reads so far.
    half_reads: usize,
    /// Where a read is interrupted, in sixteenths of its length.
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

/// The data of a chunk: one repeated item. Such a chunk has the size of five offsets, so that a mix
/// of two indexes has valid offsets of other chunks.
fn data(nchunk: i64) -> Vec<u8> {
    (nchunk + 1).to_le_bytes().repeat(CHUNK / 8)
}

fn append(schunk: &mut SChunk, nchunk: i64) {
    let mut chunk = [0; 40];
    let value = (nchunk + 1).to_le_bytes();
    assert_eq!(special::repeatval(&params(), CHUNK as i32, &value, &mut chunk), Ok(chunk.len()));
    schunk.append_chunk(&chunk).unwrap();
}

/// Creates a frame of `nchunks` chunks; returns its bytes and the changes that an append makes.
fn frame_and_append(nchunks: i64) -> (Vec<u8>, Vec<Step>) {
    let shared = Shared::default();
    let mut schunk = SChunk::create(shared.storage(), params(), DParams::default()).unwrap();
    schunk.add_vlmetalayer(NAME, TEXT).unwrap();
    for nchunk in 0..nchunks {
        append(&mut schunk, nchunk);
    }
    let bytes = shared.state().bytes.clone();
    shared.state().recorded.clear();
    append(&mut schunk, nchunks);
    let steps = std::mem::take(&mut shared.state().recorded);
    (bytes, steps)
}

/// Checks that each read returns what was appended, or an error. Returns whether all were right.
fn check(schunk: &SChunk, nchunks: i64, order: &str) -> bool {
    let found = schunk.nchunks();
    assert!(found == nchunks || found == nchunks + 1, "{found} chunks, {order}");
    let mut all = true;
    for nchunk in (0..found).rev().step_by(3) {
        let mut dest = vec![0; CHUNK];
        match schunk.decompress(nchunk, &mut dest) {
            Ok(len) => {
                assert_eq!(len, CHUNK, "{nchunk}, {order}");
                assert!(dest == data(nchunk), "chunk {nchunk} has other data, {order}");
            }
            Err(_) => all = false,
        }
    }
    match schunk.vlmetalayer(NAME) {
        Ok(text) => assert!(text == TEXT, "another text, {order}"),
        Err(_) => all = false,
    }
    all
}

/// As [`frame_and_append`], for a durable frame: the append writes after the frame, and then the
/// header.
fn durable_frame_and_append(nchunks: i64) -> (Vec<u8>, Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame");
    let storage = Storage::file(&path).durable();
    let mut schunk = SChunk::create(storage, params(), DParams::default()).unwrap();
    schunk.add_vlmetalayer(NAME, TEXT).unwrap();
    (0..nchunks).for_each(|nchunk| append(&mut schunk, nchunk));
    let before = std::fs::read(&path).unwrap();
    append(&mut schunk, nchunks);
    let after = std::fs::read(&path).unwrap();
    let header = (0..before.len()).filter(|&at| before[at] != after[at]).max().unwrap() + 1;
    assert!(header < 100, "the byte {header} was changed");
    let new = after[before.len()..].to_vec();
    let steps = vec![Step::Write(before.len(), new), Step::Write(0, after[..header].to_vec())];
    (before, steps)
}

/// Tries the orders of the writes of an append and the reads of `read`, which may fail if
/// `may_fail` is true for the time of the last write. `read` gets the file, the script and a
/// description of the order.
fn try_orders(
    (bytes, steps): (Vec<u8>, Vec<Step>),
    may_fail: impl Fn(usize) -> bool,
    read: impl Fn(&Shared, VecDeque<(usize, Step)>, &str) -> Result<bool>,
) {
    let mut appended = bytes.clone();
    steps.iter().for_each(|step| step.clone().apply(&mut appended));
    let calm = Shared::with_script(&bytes, 8, VecDeque::new());
    assert!(read(&calm, VecDeque::new(), "").unwrap());
    let last = calm.state().half_reads;
    let (mut orders, mut right) = (0, 0);
    for split in [2, 8, 12, 14] {
        for (pause, first) in (1..=steps.len()).flat_map(|p| (0..last).map(move |t| (p, t))) {
            for second in first..=last {
                let order =
                    format!("{pause} writes before {first}, others before {second}, {split}");
                let times = (0..steps.len()).map(|i| if i < pause { first } else { second });
                let shared = Shared::with_script(&bytes, split, VecDeque::new());
                orders += 1;
                let done = read(&shared, times.zip(steps.iter().cloned()).collect(), &order);
                assert!(done == Ok(true) || may_fail(second), "{done:?}, {order}");
                right += usize::from(done == Ok(true));
                shared.finish();
                assert!(shared.state().bytes == appended, "{order}");
            }
        }
    }
    assert!(right > 0, "{right} of {orders} orders without an error");
}

fn open_and_check(
    shared: &Shared,
    script: VecDeque<(usize, Step)>,
    nchunks: i64,
    order: &str,
) -> Result<bool> {
    shared.state().script = script;
    let schunk = shared.open()?;
    // The other handle pauses again.
    let script = std::mem::take(&mut shared.state().script);
    let all = check(&schunk, nchunks, order);
    shared.state().script = script;
    shared.finish();
    Ok(check(&schunk, nchunks, order) && all)
}

fn refresh_and_check(
    shared: &Shared,
    script: VecDeque<(usize, Step)>,
    nchunks: i64,
    order: &str,
) -> Result<bool> {
    let schunk = shared.open()?;
    let appends = !script.is_empty();
    let mut state = shared.state();
    (state.script, state.half_reads) = (script, 0);
    drop(state);
    schunk.refresh()?;
    let all = check(&schunk, nchunks, order);
    shared.finish();
    schunk.refresh()?;
    assert!(check(&schunk, nchunks, order), "{order}");
    assert_eq!(schunk.nchunks(), nchunks + i64::from(appends), "{order}");
    Ok(all)
}

#[test]
fn a_file_that_is_opened_during_an_append_has_no_other_data() {
    for nchunks in [0, 1, 5, 8, 12] {
        try_orders(
            frame_and_append(nchunks),
            |_| true,
            |shared, script, order| open_and_check(shared, script, nchunks, order),
        );
    }
}

#[test]
fn a_handle_that_reads_during_an_append_returns_no_other_data() {
    for nchunks in [1, 5] {
        try_orders(
            frame_and_append(nchunks),
            |_| true,
            |shared, script, order| refresh_and_check(shared, script, nchunks, order),
        );
    }
}

#[test]
fn reads_during_a_durable_append_succeed() {
    // Only a read of the header that a write interrupts may fail.
    let is_torn = |last: usize| !last.is_multiple_of(2);
    for nchunks in [1, 5] {
        let appended = durable_frame_and_append(nchunks);
        try_orders(appended.clone(), is_torn, |shared, script, order| {
            open_and_check(shared, script, nchunks, order)
        });
        try_orders(appended, is_torn, |shared, script, order| {
            refresh_and_check(shared, script, nchunks, order)
        });
    }
}
