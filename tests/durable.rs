//! Durable super-chunks: enabled by the environment, and written by processes that are killed at
//! random moments.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Variables with the instructions for the child.
const PATH: &str = "FERROBLOSC_TEST_PATH";
const STEP: &str = "FERROBLOSC_TEST_STEP";
/// The default number of kills.
const ROUNDS: u64 = 200;
/// The variable that overrides `ROUNDS`.
const ROUNDS_VARIABLE: &str = "FERROBLOSC_DURABILITY_ROUNDS";
/// The time limit for a child's first change.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns an unused path for a test.
fn path(name: &str) -> PathBuf {
    let name = format!("ferroblosc-durable-{name}-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    remove(&path);
    path
}

fn rounds() -> u64 {
    let asked = std::env::var(ROUNDS_VARIABLE);
    asked.map_or(ROUNDS, |text| text.parse().unwrap())
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir_all(path);
}

/// Returns a command that runs one ignored test of this program.
fn child(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(PATH, path)
        .env_remove("FERROBLOSC_DURABLE")
        .env_remove("FERROBLOSC_CHECKSUMS");
    command
}

fn data(number: u64) -> Vec<u8> {
    let items = 0..200 + number % 3;
    items.flat_map(|i| (i * i + number * 7919).to_le_bytes()).collect()
}

fn params() -> CParams {
    CParams::default().typesize(8)
}

#[test]
#[ignore = "run by another test as a child"]
fn child_that_fills() {
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let mut schunk = SChunk::create(Storage::file(&path), params(), DParams::default()).unwrap();
    for number in 0..3 {
        schunk.append(&data(3 * number)).unwrap();
    }
}

/// Returns the frame that a program with these variables writes.
fn frame_with(variables: &[(&str, &str)]) -> Vec<u8> {
    let path = path("environment");
    let mut command = child("child_that_fills", &path);
    command.envs(variables.iter().copied()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    let frame = std::fs::read(&path).unwrap();
    remove(&path);
    let schunk = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let mut dest = vec![0; 4000];
    for number in 0..3 {
        let len = schunk.decompress(number as i64, &mut dest).unwrap();
        assert_eq!(dest[..len], data(3 * number));
    }
    frame
}

#[test]
fn row_d6_the_environment_enables_durability() {
    const DURABLE: &str = "FERROBLOSC_DURABLE";
    const CHECKSUMS: &str = "FERROBLOSC_CHECKSUMS";
    /// The offset of the fingerprint's kind from the end of the frame.
    const KIND: usize = 17;
    let plain = frame_with(&[]);
    for nothing in ["", "0"] {
        assert_eq!(frame_with(&[(DURABLE, nothing), (CHECKSUMS, nothing)]), plain);
    }
    let durable = frame_with(&[(DURABLE, "1")]);
    assert!(durable.len() > plain.len(), "old indexes remain in the file");
    assert_eq!(durable[durable.len() - KIND], 0);
    let checked = frame_with(&[(CHECKSUMS, "yes")]);
    assert_eq!((plain[plain.len() - KIND], checked[checked.len() - KIND]), (0, 3));
    let both = frame_with(&[(DURABLE, "1"), (CHECKSUMS, "1")]);
    assert!(both.len() > checked.len());
    assert_eq!(both[both.len() - KIND], 3);
}

/// The contents of a super-chunk.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    chunks: Vec<Vec<u8>>,
    value: Option<Vec<u8>>,
}

/// A change, determined by its number and the current contents.
enum Change {
    Append(Vec<u8>),
    Update(usize, Vec<u8>),
    Delete(usize),
    Value(Vec<u8>),
}

impl Model {
    fn change(&self, step: u64) -> Change {
        let bytes = data(3 * step);
        let at = (step as usize * 31) % self.chunks.len().max(1);
        match step % 7 {
            4 if !self.chunks.is_empty() => Change::Update(at, bytes),
            5 => Change::Value(bytes),
            3 | 6 if self.chunks.len() > 8 => Change::Delete(at),
            _ => Change::Append(bytes),
        }
    }

    fn after(&self, step: u64) -> Model {
        let mut next = self.clone();
        match self.change(step) {
            Change::Append(bytes) => next.chunks.push(bytes),
            Change::Update(at, bytes) => next.chunks[at] = bytes,
            Change::Delete(at) => drop(next.chunks.remove(at)),
            Change::Value(bytes) => next.value = Some(bytes),
        }
        next
    }

    fn of(schunk: &SChunk) -> Model {
        let mut dest = vec![0; 4000];
        let chunks = (0..schunk.nchunks()).map(|number| {
            let len = schunk.decompress(number, &mut dest).unwrap();
            dest[..len].to_vec()
        });
        Model { chunks: chunks.collect(), value: schunk.vlmetalayer("value").ok() }
    }
}

fn storage(path: &Path) -> Storage {
    let storage =
        if path.extension().is_some() { Storage::directory(path) } else { Storage::file(path) };
    storage.durable().checksums()
}

#[test]
#[ignore = "run by another test as a child"]
fn child_that_is_killed() {
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let first: u64 = std::env::var(STEP).unwrap().parse().unwrap();
    let mut schunk = match first {
        0 => SChunk::create(storage(&path), params(), DParams::default()).unwrap(),
        _ => SChunk::open(storage(&path), DParams::default()).unwrap(),
    };
    let mut model = Model::of(&schunk);
    for step in first.. {
        match model.change(step) {
            Change::Append(bytes) => drop(schunk.append(&bytes).unwrap()),
            Change::Update(at, bytes) => {
                let chunk = ferroblosc::chunk::Compressor::new(params())
                    .and_then(|mut compressor| compressor.compress_to_vec(&bytes))
                    .unwrap();
                schunk.update_chunk(at as i64, &chunk).unwrap();
            }
            Change::Delete(at) => drop(schunk.delete_chunk(at as i64).unwrap()),
            Change::Value(bytes) if model.value.is_none() => {
                schunk.add_vlmetalayer("value", &bytes).unwrap();
            }
            Change::Value(bytes) => schunk.update_vlmetalayer("value", &bytes).unwrap(),
        }
        model = model.after(step);
        println!("done {step}");
        std::io::stdout().flush().unwrap();
    }
}

/// Starts a child that changes a super-chunk from `step` on, waits for its first change and then
/// for the time `after`, kills the child, and returns the last change that the child reported.
fn killed(path: &Path, step: u64, after: Duration) -> u64 {
    let mut running = child("child_that_is_killed", path)
        .env(STEP, step.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(running.stdout.take().unwrap());
    let (send, receive) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if let Some(step) = line.strip_prefix("done ") {
                let _ = send.send(step.parse::<u64>().unwrap());
            }
        }
    });
    let mut last = receive.recv_timeout(PATIENCE).expect("a first change");
    let end = Instant::now() + after;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        last = receive.recv_timeout(left).unwrap_or(last);
    }
    // The child cannot clean up, because it cannot handle SIGKILL.
    running.kill().unwrap();
    running.wait().unwrap();
    reader.join().unwrap();
    receive.try_iter().last().unwrap_or(last)
}

#[test]
fn row_f34_a_killed_writer_leaves_the_state_before_or_after_its_last_change() {
    for name in ["file", "directory.b2frame"] {
        let path = path(name);
        let (mut model, mut step) = (Model::default(), 0);
        for round in 0..rounds() / 2 {
            let after = Duration::from_micros(round * 7919 % 15_000);
            let last = killed(&path, step, after);
            while step <= last {
                model = model.after(step);
                step += 1;
            }
            let found = Model::of(&SChunk::open(storage(&path), DParams::default()).unwrap());
            let next = model.after(step);
            assert!(found == model || found == next, "{name}, round {round}, step {step}");
            if found != model {
                (model, step) = (next, step + 1);
            }
        }
        remove(&path);
    }
}
