//! The cost of durable changes and checksums:
//! `cargo bench --package ferroblosc-bench-core --bench durability -- [CHUNKS] [DIRECTORY]`.
//!
//! The chunks of super-chunks in files and directories are appended and read, and their metadata
//! are changed, with and without durability and checksums. Times are in microseconds per chunk or
//! change, the best of three turns.
//!
//! A second table shows durable appends alone and in transactions: the time of each append,
//! including its share of the commit, and the bytes that the process wrote for it.

use ferroblosc::Result;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of items of a chunk.
const ITEMS: u64 = 8000;
/// The number of turns; the best counts.
const TURNS: usize = 3;
/// The number of changes of the metadata.
const UPDATES: usize = 100;

/// The times of the tasks, in microseconds per call.
#[derive(Clone, Copy)]
struct Times {
    append: f64,
    read: f64,
    update: f64,
}

fn each(start: Instant, count: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn run(storage: &Storage, path: &Path, chunks: usize) -> Result<Times> {
    let params = CParams::default().typesize(8);
    let mut schunk = SChunk::create(storage.clone(), params, DParams::default())?;
    let mut data: Vec<u8> = (0..ITEMS).flat_map(|i| (i * i).to_le_bytes()).collect();
    let start = Instant::now();
    for number in 0..chunks {
        data[..8].copy_from_slice(&(number as u64).to_le_bytes());
        schunk.append(&data)?;
    }
    let append = each(start, chunks);
    let start = Instant::now();
    for number in 0..chunks {
        schunk.decompress(number as i64, &mut data)?;
    }
    let read = each(start, chunks);
    schunk.add_vlmetalayer("value", b"0")?;
    let start = Instant::now();
    for number in 0..UPDATES {
        schunk.update_vlmetalayer("value", &number.to_le_bytes())?;
    }
    let update = each(start, UPDATES);
    schunk.close()?;
    if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
        .map_err(|_| ferroblosc::Error::FileRemove)?;
    Ok(Times { append, read, update })
}

fn best(storage: &Storage, path: &Path, chunks: usize) -> Result<Times> {
    let mut best = run(storage, path, chunks)?;
    for _ in 1..TURNS {
        let times = run(storage, path, chunks)?;
        best.append = best.append.min(times.append);
        best.read = best.read.min(times.read);
        best.update = best.update.min(times.update);
    }
    Ok(best)
}

/// Returns the number of bytes that this process has written.
fn written() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// The shape of the chunks of an array.
const ROWS: i64 = 80;
const COLUMNS: i64 = 100;

/// A durable super-chunk, or an array in one.
enum Target {
    SChunk(Box<SChunk>),
    Array(Box<Array>),
}

impl Target {
    fn append(&mut self, data: &[u8]) -> Result<()> {
        match self {
            Target::SChunk(schunk) => schunk.append(data).map(drop),
            Target::Array(array) => array.append(data, 0),
        }
    }

    /// Appends `count` times in one transaction.
    fn append_at_once(&mut self, data: &[u8], count: usize) -> Result<()> {
        match self {
            Target::SChunk(schunk) => {
                let mut open = schunk.transaction()?;
                (0..count).try_for_each(|_| open.append(data).map(drop))?;
                open.commit()
            }
            Target::Array(array) => {
                let mut open = array.transaction()?;
                (0..count).try_for_each(|_| open.append(data, 0))?;
                open.commit()
            }
        }
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir_all(path);
}

fn transactions(name: &str, make: &dyn Fn() -> Result<Target>, path: &Path) -> Result<()> {
    let data: Vec<u8> = (0..ITEMS).flat_map(|i| (i * i).to_le_bytes()).collect();
    for at_once in [1, 10, 100, 1000] {
        let appends = if at_once < 100 { 200 } else { 1000 };
        remove(path);
        let mut target = make()?;
        let (start, before) = (Instant::now(), written());
        for _ in 0..appends / at_once {
            if at_once == 1 {
                target.append(&data)?;
            } else {
                target.append_at_once(&data, at_once)?;
            }
        }
        let bytes = (written() - before) / appends as u64;
        println!("{name:20} {at_once:9} {:11.1} {bytes:9}", each(start, appends));
    }
    remove(path);
    Ok(())
}

fn all_transactions(path: &Path) -> Result<()> {
    println!("\n{:20} {:>9} {:>11} {:>9}", "durable", "at once", "µs/append", "bytes");
    let params = || CParams::default().typesize(8);
    for (kind, storage) in
        [("file", Storage::file(path).durable()), ("directory", Storage::directory(path).durable())]
    {
        let schunk = || {
            SChunk::create(storage.clone(), params(), DParams::default())
                .map(|schunk| Target::SChunk(Box::new(schunk)))
        };
        transactions(&format!("{kind}, chunks"), &schunk, path)?;
        let layout = Layout {
            shape: &[0, COLUMNS],
            chunkshape: &[ROWS as i32, COLUMNS as i32],
            blockshape: &[ROWS as i32, COLUMNS as i32],
        };
        let array = || {
            Array::zeros(storage.clone(), params(), &layout, "<i8")
                .map(|array| Target::Array(Box::new(array)))
        };
        transactions(&format!("{kind}, array"), &array, path)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let chunks = arguments.next().and_then(|word| word.parse().ok());
    let chunks = chunks.unwrap_or(1000);
    let directory = arguments.next().map(PathBuf::from);
    let directory = directory.unwrap_or_else(std::env::temp_dir);
    let path = directory.join(format!("ferroblosc-durability-{}.b2frame", std::process::id()));
    println!("{chunks} chunks of {} bytes; µs each", ITEMS * 8);
    println!("{:34} {:>9} {:>9} {:>9}", "", "append", "read", "vlmeta");
    for (kind, storage) in
        [("file", Storage::file(&path)), ("directory", Storage::directory(&path))]
    {
        for (durability, storage) in [
            ("default", storage.clone()),
            ("checksums", storage.clone().checksums()),
            ("durable", storage.clone().durable()),
            ("durable, checksums", storage.durable().checksums()),
        ] {
            let times = best(&storage, &path, chunks)?;
            let name = format!("{kind}, {durability}");
            println!("{name:34} {:9.1} {:9.1} {:9.1}", times.append, times.read, times.update);
        }
    }
    all_transactions(&path)
}
