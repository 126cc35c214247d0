//! Kills writers of durable arrays and super-chunks at random moments: the storage must hold the
//! state before or after the last call or transaction.
//!
//! `FERROBLOSC_STORM_ROUNDS` is the number of kills for each kind of storage and change;
//! `--nocapture` shows the tests' counts.

use ferroblosc::Result;
use ferroblosc::b2nd::{Array, Layout, State};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{Storage, meta};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Variables with the instructions for the child.
const PATH: &str = "FERROBLOSC_TEST_PATH";
const STEP: &str = "FERROBLOSC_TEST_STEP";
const CHANGES: &str = "FERROBLOSC_TEST_CHANGES";
/// The variable with the number of kills.
const ROUNDS: &str = "FERROBLOSC_STORM_ROUNDS";
const DEFAULT_ROUNDS: u64 = 25;
/// The time limit for a child's first change.
const PATIENCE: Duration = Duration::from_secs(60);

const WIDTH: usize = 30;
const ROWS_OF_A_CHUNK: usize = 10;
/// The number of changes in a transaction.
const AT_ONCE: u64 = 4;

fn rounds() -> u64 {
    let rounds = std::env::var(ROUNDS).ok();
    rounds.map_or(DEFAULT_ROUNDS, |rounds| rounds.parse().unwrap())
}

/// Returns an unused path for a test.
fn path(name: &str) -> PathBuf {
    let name = format!("ferroblosc-crash-loop-{}-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    remove(&path);
    path
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir_all(path);
}

fn storage(path: &Path) -> Storage {
    let storage =
        if path.extension().is_some() { Storage::file(path) } else { Storage::directory(path) };
    storage.durable()
}

/// Returns `count` rows of incompressible items that depend on the step.
fn rows(step: u64, count: usize) -> Vec<u32> {
    let mut noise = (step as u32).wrapping_mul(0x9e37_79b9) | 1;
    let next = |_| {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        noise
    };
    (0..count * WIDTH).map(next).collect()
}

fn bytes(items: &[u32]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_le_bytes()).collect()
}

/// A call, determined by its step and the number of rows.
#[derive(Clone, Copy, Debug)]
enum Call {
    Append(usize),
    Insert(usize),
    Delete(usize),
    Resize(usize),
    /// Overwrites the given number of rows from the given row on.
    Set(usize, usize),
    Note,
}

impl Call {
    fn of(step: u64, rows: usize) -> Call {
        let chunks = rows / ROWS_OF_A_CHUNK;
        let at = ROWS_OF_A_CHUNK * (step as usize % chunks.max(1));
        match step % 9 {
            _ if !rows.is_multiple_of(ROWS_OF_A_CHUNK) => Call::Resize(chunks * ROWS_OF_A_CHUNK),
            _ if chunks < 4 => Call::Append(40),
            _ if chunks > 16 => Call::Resize(45),
            0 => Call::Append(20),
            1 => Call::Append(5),
            2 | 6 => Call::Insert(at),
            3 => Call::Delete(at),
            4 => Call::Set(3, rows - 6),
            5 => Call::Set(at + 2, 3),
            7 => Call::Resize(rows + 23),
            _ => Call::Note,
        }
    }
}

/// The contents of an array.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    items: Vec<u32>,
    note: Vec<u8>,
}

impl Model {
    fn of(array: &Array) -> Result<Model> {
        let items = array.items()?;
        let items = items.as_chunks().0.iter().copied().map(u32::from_le_bytes);
        Ok(Model {
            items: items.collect(),
            note: array.schunk().vlmetalayer("note").unwrap_or_default(),
        })
    }

    fn rows(&self) -> usize {
        self.items.len() / WIDTH
    }

    fn change(&mut self, step: u64) {
        match Call::of(step, self.rows()) {
            Call::Append(count) => self.items.extend(rows(step, count)),
            Call::Insert(at) => {
                let new = rows(step, ROWS_OF_A_CHUNK);
                drop(self.items.splice(at * WIDTH..at * WIDTH, new));
            }
            Call::Delete(at) => {
                drop(self.items.drain(at * WIDTH..(at + ROWS_OF_A_CHUNK) * WIDTH));
            }
            Call::Resize(count) => self.items.resize(count * WIDTH, 0),
            Call::Set(at, count) => {
                self.items[at * WIDTH..(at + count) * WIDTH].copy_from_slice(&rows(step, count));
            }
            Call::Note => self.note = bytes(&rows(step, 3)),
        }
    }
}

fn call(array: &mut Array, step: u64) -> Result<()> {
    let count = array.shape()[0] as usize;
    let width = WIDTH as i64;
    match Call::of(step, count) {
        Call::Append(count) => array.append(&bytes(&rows(step, count)), 0),
        Call::Insert(at) => array.insert(&bytes(&rows(step, ROWS_OF_A_CHUNK)), 0, at as i64),
        Call::Delete(at) => array.delete(0, at as i64, ROWS_OF_A_CHUNK as i64),
        Call::Resize(count) => array.resize(&[count as i64, width], None),
        Call::Set(at, count) => {
            let items = bytes(&rows(step, count));
            array.set_slice(&[at as i64, 0], &[(at + count) as i64, width], &items)
        }
        Call::Note => {
            let note = bytes(&rows(step, 3));
            match array.schunk().vlmetalayer("note") {
                Ok(_) => meta::vl_update(array.chunks_mut(), b"note", &note, CParams::default()),
                Err(_) => meta::vl_add(array.chunks_mut(), b"note", &note, CParams::default()),
            }
            .map(drop)
        }
    }
}

fn create(path: &Path) {
    remove(path);
    let params = CParams::default().typesize(4);
    let layout = Layout {
        shape: &[0, WIDTH as i64],
        chunkshape: &[ROWS_OF_A_CHUNK as i32, 15],
        blockshape: &[5, 5],
    };
    Array::zeros(storage(path), params, &layout, "<u4").unwrap();
}

#[test]
#[ignore = "run by another test as a child"]
fn child_that_is_killed() {
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let first: u64 = std::env::var(STEP).unwrap().parse().unwrap();
    let changes: u64 = std::env::var(CHANGES).unwrap().parse().unwrap();
    let mut array = Array::open(storage(&path), DParams::default()).unwrap();
    for step in first.. {
        let steps = step * changes..(step + 1) * changes;
        if changes == 1 {
            call(&mut array, step).unwrap();
        } else {
            let mut transaction = array.transaction().unwrap();
            for step in steps {
                call(&mut transaction, step).unwrap();
            }
            transaction.commit().unwrap();
        }
        println!("done {step}");
        std::io::stdout().flush().unwrap();
    }
}

/// Starts a child that changes an array from `step` on, waits for its first change and then for the
/// time `after`, kills the child, and returns the last change that the child reported.
fn killed(path: &Path, step: u64, changes: u64, after: Duration) -> u64 {
    let mut running = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_is_killed", "--ignored", "--nocapture"])
        .env(PATH, path)
        .env(STEP, step.to_string())
        .env(CHANGES, changes.to_string())
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(running.stdout.take().unwrap());
    let (send, noted) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in output.lines().map_while(std::result::Result::ok) {
            if let Some(step) = line.strip_prefix("done ") {
                let _ = send.send(step.parse::<u64>().unwrap());
            }
        }
    });
    let mut last = noted.recv_timeout(PATIENCE).expect("a first change");
    let end = Instant::now() + after;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        last = noted.recv_timeout(left).unwrap_or(last);
    }
    // The child cannot clean up, because it cannot handle SIGKILL.
    running.kill().unwrap();
    running.wait().unwrap();
    reader.join().unwrap();
    noted.try_iter().last().unwrap_or(last)
}

fn kill_repeatedly(name: &str, changes: u64) {
    let path = path(name);
    create(&path);
    let (mut model, mut step) = (Model::default(), 0);
    let advance = |model: &mut Model, step: u64| {
        (step * changes..(step + 1) * changes).for_each(|step| model.change(step));
    };
    let (mut old, mut new, mut neither, mut unreadable) = (0, 0, 0, 0);
    for round in 0..rounds() {
        let after = Duration::from_micros(round * 7919 % 9_000);
        let last = killed(&path, step, changes, after);
        while step <= last {
            advance(&mut model, step);
            step += 1;
        }
        let mut next = model.clone();
        advance(&mut next, step);
        let found = Array::open(storage(&path), DParams::default());
        match found.and_then(|array| Model::of(&array)) {
            Ok(found) if found == model => old += 1,
            Ok(found) if found == next => {
                new += 1;
                (model, step) = (next, step + 1);
            }
            found => {
                match found {
                    Ok(_) => neither += 1,
                    Err(_) => unreadable += 1,
                }
                create(&path);
                (model, step) = (Model::default(), 0);
            }
        }
    }
    println!("{name}: {old} old, {new} new, {neither} neither, {unreadable} unreadable");
    remove(&path);
    assert_eq!((neither, unreadable), (0, 0), "{name}");
}

#[test]
fn a_killed_writer_of_an_array_in_a_file_leaves_the_array_before_or_after_its_call() {
    kill_repeatedly("calls.b2nd", 1);
}

#[test]
fn a_killed_writer_of_an_array_in_a_directory_leaves_the_array_before_or_after_its_call() {
    kill_repeatedly("calls", 1);
}

#[test]
fn a_killed_transaction_in_a_file_is_applied_entirely_or_not_at_all() {
    kill_repeatedly("transactions.b2nd", AT_ONCE);
}

#[test]
fn a_killed_transaction_in_a_directory_is_applied_entirely_or_not_at_all() {
    kill_repeatedly("transactions", AT_ONCE);
}
