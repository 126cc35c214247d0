//! Random schedules of two processes that change one super-chunk with locks.
//!
//! In each round both processes run a few random calls at the same time. There must be an order of
//! these calls, which keeps the order within each process, that explains all results and the
//! content of the super-chunk: then nothing is lost, and nothing is torn.

use ferroblosc_interop::data::Random;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::isolate::{self, Outcome};
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::sample::Sample;
use ferroblosc_interop::schunk::Handle;
use ferroblosc_interop::storage::{Access, Kind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread::ScopedJoinHandle;
use tempfile::tempdir;

/// The number of items of a chunk.
const ITEMS: usize = 60;
/// The size of a chunk's data in bytes.
const NBYTES: usize = ITEMS * 8;
/// The number of rounds with one file. A child has a limited time.
const ROUNDS: u32 = 300;
/// The maximum number of calls of a process in a round.
const MAX_CALLS: usize = 3;
/// Chunks are selected by a number below this one, which need not exist.
const CHUNKS: usize = 8;
/// The number that ends the children.
const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Append,
    Insert,
    Update,
    Delete,
    Read,
    SetMeta,
    GetMeta,
}

/// A call, its arguments and its result.
#[derive(Clone, Copy, Debug)]
struct Record {
    call: Call,
    at: i64,
    /// The written value, or the one that was read.
    value: i64,
    result: i64,
    /// The number of chunks that the handle knew before the call.
    known: i64,
    /// Whether the reference made the call, which is refused if the file changes meanwhile.
    may_fail: bool,
}

/// Memory shared by the processes.
struct Shared {
    /// The round that both children run.
    round: AtomicU32,
    /// The last round that each child has run.
    done: [AtomicU32; 2],
    calls: [[Record; MAX_CALLS]; 2],
    counts: [usize; 2],
}

/// Returns the data of a chunk. The value determines its first item and the number of random items.
fn data(value: i64) -> Vec<u8> {
    let mut random = Random::new(value as u64);
    let noise = value as usize % ITEMS;
    let item = |at| if at == 0 || at > noise { value } else { random.word() as i64 };
    (0..ITEMS).map(item).flat_map(i64::to_le_bytes).collect()
}

/// Returns the value whose data these are.
fn value_of(bytes: &[u8]) -> Option<i64> {
    let value = i64::from_le_bytes(*bytes.first_chunk()?);
    (bytes == data(value)).then_some(value)
}

fn cparams() -> Cparams {
    Cparams { typesize: 8, ..Cparams::default() }
}

fn read(handle: &Handle, at: i64) -> Result<Option<i64>, String> {
    match handle.decompress(at, NBYTES) {
        (..0, _) => Ok(None),
        (_, bytes) => value_of(&bytes).map(Some).ok_or(format!("chunk {at} is torn")),
    }
}

fn read_meta(handle: &Handle) -> Result<i64, String> {
    match handle.vlmeta("value") {
        (_, content) if content.len() == 8 => {
            Ok(i64::from_le_bytes(*content.first_chunk().expect("eight bytes")))
        }
        (code, content) => Err(format!("the metalayer: {code}, {content:?}")),
    }
}

/// Makes a random call.
fn make_call(handle: &Handle, random: &mut Random, value: i64) -> Result<Record, String> {
    let call = match random.below(12) {
        0..2 => Call::Append,
        2 => Call::Insert,
        3..6 => Call::Update,
        6..9 => Call::Delete,
        9 => Call::Read,
        // The reference reads the file before it locks it, and damages it if that is changed
        // between.
        10 if handle.library.name == "ours" => Call::SetMeta,
        _ => Call::GetMeta,
    };
    let at = random.below(CHUNKS) as i64;
    let chunk = || {
        let context = handle.library.compressor(cparams()).expect("a context");
        let mut chunk = vec![0; NBYTES + 100];
        let len = context.compress(&data(value), &mut chunk);
        chunk.truncate(usize::try_from(len).expect("a chunk"));
        chunk
    };
    let may_fail = handle.library.name == "reference";
    let mut record =
        Record { call, at, value, result: 0, known: handle.fields().nchunks, may_fail };
    match call {
        Call::Append => record.result = handle.append_buffer(&data(value)),
        Call::Insert => record.result = handle.insert(at, &chunk(), true),
        Call::Update => record.result = handle.update(at, &chunk(), true),
        Call::Delete => record.result = handle.delete(at),
        Call::Read => match read(handle, at)? {
            Some(found) => record.value = found,
            None => record.result = -1,
        },
        Call::SetMeta => record.result = handle.vlmeta_update("value", &value.to_le_bytes()),
        Call::GetMeta => record.value = read_meta(handle)?,
    }
    Ok(record)
}

/// Runs the rounds of one child.
fn run(
    (side, library): (usize, &'static Library),
    path: &Path,
    shared: *mut Shared,
    seed: u64,
) -> Result<Vec<i64>, String> {
    // SAFETY: the memory outlives the children; a child writes only its own calls, while the others
    // do not read them.
    let (round, done, calls, count) = unsafe {
        let calls = &mut (*shared).calls[side];
        (&(*shared).round, &(*shared).done[side], calls, &mut (*shared).counts[side])
    };
    let open = || Handle::open(library, path, 0, Access::Locked).ok_or("can't be opened");
    let mut random = Random::new(seed);
    let mut handle = open()?;
    let mut value = 1 + side as i64;
    loop {
        let number = round.load(SeqCst);
        if number == END {
            return Ok(Vec::new());
        }
        if number == done.load(SeqCst) {
            std::thread::yield_now();
            continue;
        }
        *count = 1 + random.below(MAX_CALLS);
        for record in &mut calls[..*count] {
            if random.below(8) == 0 {
                handle = open()?;
            }
            value += 2;
            *record = make_call(&handle, &mut random, value)?;
        }
        done.store(number, SeqCst);
    }
}

/// The content of the super-chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    chunks: Vec<i64>,
    meta: i64,
}

impl Content {
    fn read(library: &'static Library, path: &Path) -> Result<Content, String> {
        let name = library.name;
        let handle = Handle::open(library, path, 0, Access::Locked);
        let handle = handle.ok_or_else(|| format!("{name} cannot open the super-chunk"))?;
        let chunk = |at| match read(&handle, at) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(format!("{name} cannot read chunk {at}")),
            Err(error) => Err(format!("{name}: {error}")),
        };
        let chunks = (0..handle.fields().nchunks).map(chunk).collect::<Result<_, _>>()?;
        Ok(Content { chunks, meta: read_meta(&handle)? })
    }

    /// Runs a call; returns whether its result is that of the record.
    fn run(&mut self, record: &Record) -> bool {
        let Record { call, at, value, result, known, may_fail } = *record;
        let index = at as usize;
        let count = self.chunks.len();
        let exists = index < count;
        // Row F33: a chunk that the handle does not know is refused.
        let is_known = match call {
            Call::Update | Call::Delete | Call::Read => at < known,
            Call::Insert => at <= known,
            Call::Append | Call::SetMeta | Call::GetMeta => true,
        };
        if (!is_known || may_fail) && result < 0 {
            return true;
        }
        match call {
            Call::Append => self.chunks.push(value),
            Call::Insert if index <= count => self.chunks.insert(index, value),
            Call::Update if exists => self.chunks[index] = value,
            Call::Delete if exists => drop(self.chunks.remove(index)),
            Call::Insert | Call::Update | Call::Delete => return result < 0,
            Call::Read if exists => return result == 0 && self.chunks[index] == value,
            Call::Read => return result < 0,
            Call::SetMeta => {
                self.meta = value;
                return result >= 0;
            }
            Call::GetMeta => return self.meta == value,
        }
        result == self.chunks.len() as i64
    }
}

/// Whether an order of the calls of both processes explains the content after them.
fn is_explained(before: &Content, calls: [&[Record]; 2], after: &Content) -> bool {
    if calls.iter().all(|calls| calls.is_empty()) {
        return before == after;
    }
    (0..2).any(|side| {
        let Some((first, rest)) = calls[side].split_first() else {
            return false;
        };
        let mut next = before.clone();
        let mut others = calls;
        others[side] = rest;
        next.run(first) && is_explained(&next, others, after)
    })
}

/// Waits until a child has run a round.
fn wait(done: &AtomicU32, round: u32, child: &ScopedJoinHandle<'_, Outcome>) -> bool {
    while done.load(SeqCst) != round {
        if child.is_finished() {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// Runs some rounds with one file; returns their number.
fn run_session(kind: Kind, libraries: [&'static Library; 2], random: &mut Random) -> u32 {
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let created = Handle::create_with(ours(), kind, &path, cparams(), Access::Locked);
    let handle = created.expect("a super-chunk");
    for value in -4..0 {
        handle.append_buffer(&data(value));
    }
    assert!(handle.vlmeta_add("value", &(-1_i64).to_le_bytes()) >= 0);
    drop(handle);
    let mut content = Content::read(ours(), &path).expect("the content");
    let none = Record { call: Call::Read, at: 0, value: 0, result: 0, known: 0, may_fail: false };
    let state = Shared {
        round: AtomicU32::new(0),
        done: Default::default(),
        calls: [[none; MAX_CALLS]; 2],
        counts: [0; 2],
    };
    let shared = isolate::share(state);
    let seeds = [random.word(), random.word()];
    std::thread::scope(|scope| {
        let children = [0, 1].map(|side| {
            let (library, seed, path) = (libraries[side], seeds[side], &path);
            let shared = &shared;
            scope.spawn(move || isolate::once(|| run((side, library), path, shared.as_ptr(), seed)))
        });
        // SAFETY: the memory outlives the children, which write their calls before they are done.
        let state = unsafe { &*shared.as_ptr() };
        for round in 1..=ROUNDS {
            state.round.store(round, SeqCst);
            let are_alive = [0, 1].map(|side| wait(&state.done[side], round, &children[side]));
            if are_alive != [true; 2] {
                break;
            }
            let reader = if round == ROUNDS { libraries[1] } else { ours() };
            let after = Content::read(reader, &path);
            let calls = [0, 1].map(|side| &state.calls[side][..state.counts[side]]);
            let names = libraries.map(|library| library.name);
            match after {
                Ok(after) if is_explained(&content, calls, &after) => content = after,
                after => {
                    state.round.store(END, SeqCst);
                    panic!("{kind:?}, {names:?}: {content:?}, {calls:#?}, {after:?}");
                }
            }
        }
        state.round.store(END, SeqCst);
        for child in children {
            assert_eq!(child.join().expect("the thread ends"), Outcome::Values(Vec::new()));
        }
    });
    ROUNDS
}

#[test]
fn two_processes_change_a_file_as_if_one_after_the_other() {
    let mut sample = Sample::start();
    let mut rounds = 0;
    while sample.is_running() {
        for kind in [Kind::File, Kind::Directory] {
            for libraries in [[ours(), ours()], [ours(), reference()]] {
                rounds += run_session(kind, libraries, &mut sample.random);
            }
        }
    }
    println!("{rounds} schedules");
}
