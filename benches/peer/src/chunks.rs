//! Chunks by codec, level, filter pipeline, data set and size: compression, decompression and
//! random access.
//!
//! All libraries decompress the reference's chunk, so that none benefits from compressing less.
//! Before the measurement, each library decodes its own chunk and the reference's, and the
//! reference decodes ours; every byte is compared.

use crate::buffer::Buffer;
use crate::clock::{Clock, Times, race};
use crate::data::{self, Set};
use crate::groups::Direction::{Read, Write};
use crate::groups::Group;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use ferroblosc_interop::data::Random;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, OwnedContext};
use std::slice;

/// Filter pipelines by name: the last two slots and their parameters.
const PIPELINES: [(&str, [u8; 2], [u8; 2]); 6] = [
    ("none", [0, 0], [0, 0]),
    ("shuffle", [0, 1], [0, 0]),
    ("bitshuffle", [0, 2], [0, 0]),
    ("delta+shuffle", [DELTA, 1], [0, 0]),
    ("trunc+shuffle", [TRUNC_PREC, 1], [10, 0]),
    // `Cell::cparams` sets the parameter of bytedelta to the item size.
    ("shuffle+bytedelta", [1, BYTEDELTA], [0, 0]),
];
const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;
const BYTEDELTA: u8 = 35;
/// The pipelines for all codecs.
const PLAIN: [&str; 3] = ["none", "shuffle", "bitshuffle"];

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// The maximum expansion of a chunk in bytes.
const OVERHEAD: usize = 32;
/// The number of single items, or runs of a thousand, in one measurement.
const GETS: usize = 8;
const ITEMS: usize = 1000;

/// A combination to measure.
struct Cell<'a> {
    set: &'a Set,
    codec: &'static str,
    compcode: u8,
    level: u8,
    pipeline: usize,
    threads: i16,
}

/// The results of a cell.
struct Measured {
    write: Times,
    read: Times,
    one_item: Option<Times>,
    in_turns: Option<Times>,
    items: Option<Times>,
    memcpy: Option<f64>,
    sizes: [usize; 2],
}

fn size_name(bytes: usize) -> String {
    match bytes {
        MIB.. => format!("{}M", bytes.div_ceil(MIB)),
        _ => format!("{}K", bytes.div_ceil(KIB)),
    }
}

impl Cell<'_> {
    fn name(&self) -> String {
        let (set, codec, level) = (&self.set.name, self.codec, self.level);
        let size = size_name(self.set.bytes.len());
        let threads = match self.threads {
            1 => String::new(),
            many => format!(" {many} threads"),
        };
        format!("{set} {codec} {level} {} {size}{threads}", self.filter())
    }

    fn filter(&self) -> &'static str {
        PIPELINES[self.pipeline].0
    }

    /// Whether the pipeline is meaningful for the items.
    fn makes_sense(&self) -> bool {
        match self.filter() {
            "trunc+shuffle" => self.set.floats,
            "none" | "bitshuffle" | "shuffle" => true,
            _ => self.set.typesize > 1,
        }
    }

    fn cparams(&self) -> Cparams {
        let (_, slots, mut metas) = PIPELINES[self.pipeline];
        if slots[1] == BYTEDELTA {
            metas[1] = self.set.typesize as u8;
        }
        Cparams {
            compcode: self.compcode,
            clevel: self.level,
            typesize: self.set.typesize as i32,
            nthreads: self.threads,
            filters: [0, 0, 0, 0, slots[0], slots[1]],
            filters_meta: [0, 0, 0, 0, metas[0], metas[1]],
            ..Cparams::default()
        }
    }

    /// Returns the groups of reading and writing.
    fn groups(&self, is_file: bool) -> [Group; 2] {
        let pair = |group: fn(crate::groups::Direction) -> Group| [group(Read), group(Write)];
        if is_file {
            return pair(Group::Files);
        }
        if self.set.special {
            return pair(Group::Special);
        }
        if !PLAIN.contains(&self.filter()) {
            return pair(Group::Pipelines);
        }
        match (self.codec, self.filter(), self.level) {
            ("lz4", "shuffle", _) => pair(Group::Lz4Shuffle),
            ("lz4", "bitshuffle", _) => pair(Group::Lz4Bitshuffle),
            ("lz4", ..) => pair(Group::Lz4Plain),
            ("lz4hc", ..) => pair(Group::Lz4Hc),
            ("blosclz", _, ..=1) => [Group::BlosclzRead, Group::BlosclzWrite1],
            ("blosclz", ..) => [Group::BlosclzRead, Group::BlosclzWrite],
            ("zlib", _, ..=1) => [Group::ZlibRead, Group::ZlibWrite1],
            ("zlib", _, 8..) => [Group::ZlibRead, Group::ZlibWrite9],
            ("zlib", ..) => [Group::ZlibRead, Group::ZlibWrite],
            _ => pair(Group::Zstd),
        }
    }
}

/// The contexts and buffers of one library for a combination.
pub struct Runner {
    name: &'static str,
    compressor: OwnedContext<'static>,
    decompressor: OwnedContext<'static>,
    chunk: Buffer,
    size: i32,
    decoded: Buffer,
}

impl Runner {
    /// Creates a runner for `nbytes` bytes of data.
    ///
    /// # Errors
    /// Fails if no context can be created.
    pub fn new(
        library: &'static Library,
        cparams: Cparams,
        nbytes: usize,
    ) -> Result<Runner, String> {
        Ok(Runner {
            name: library.name,
            compressor: library.compressor(cparams).ok_or("no compression context")?,
            decompressor: library.decompressor(cparams.nthreads),
            chunk: Buffer::new(nbytes + OVERHEAD),
            size: 0,
            decoded: Buffer::new(nbytes),
        })
    }

    /// Compresses some data.
    pub fn compress(&mut self, source: &[u8]) {
        self.size = self.compressor.compress(source, &mut self.chunk);
    }

    /// Returns the compressed chunk.
    ///
    /// # Errors
    /// Fails if the compression failed.
    pub fn made(&self) -> Result<&[u8], String> {
        match usize::try_from(self.size) {
            Ok(size @ 1..) => Ok(&self.chunk[..size]),
            _ => Err(format!("{} compresses to {}", self.name, self.size)),
        }
    }

    /// Decompresses a chunk.
    pub fn decompress(&mut self, chunk: &[u8]) -> i32 {
        self.decompressor.decompress(chunk, &mut self.decoded)
    }

    /// Reads `count` items at each position.
    fn get(&mut self, chunk: &[u8], positions: &[i32], count: i32, typesize: usize) {
        for &position in positions {
            let dest = &mut self.decoded[..count as usize * typesize];
            self.decompressor.getitem(chunk, position, count, dest);
        }
    }

    /// Decompresses a chunk and compares the result.
    ///
    /// # Errors
    /// Fails if the result differs from `expected`.
    pub fn check(&mut self, chunk: &[u8], expected: &[u8]) -> Result<(), String> {
        let code = self.decompress(chunk);
        if usize::try_from(code) != Ok(expected.len()) || *self.decoded != *expected {
            return Err(format!("{} decodes to {code}, or to other bytes", self.name));
        }
        Ok(())
    }

    /// Reads items and compares them.
    fn check_items(
        &mut self,
        chunk: &[u8],
        position: i32,
        count: i32,
        source: &[u8],
        typesize: usize,
    ) -> Result<(), String> {
        self.get(chunk, &[position], count, typesize);
        let bytes = count as usize * typesize;
        if self.decoded[..bytes] != source[position as usize * typesize..][..bytes] {
            return Err(format!("{} gets other items", self.name));
        }
        Ok(())
    }
}

/// Returns one runner per library, in order.
///
/// # Errors
/// Returns the failure.
pub fn runners(peers: &Peers, cparams: Cparams, nbytes: usize) -> Result<Vec<Runner>, String> {
    let libraries = peers.blosc2.iter();
    libraries.map(|library| Runner::new(library, cparams, nbytes)).collect()
}

/// Returns positions of `count` items among `total`.
fn positions(total: usize, count: usize) -> Vec<i32> {
    let mut random = Random::new(9);
    let bound = total - count + 1;
    (0..GETS).map(|_| random.below(bound) as i32).collect()
}

fn measure(options: &Options, peers: &Peers, cell: &Cell) -> Result<Measured, String> {
    let cparams = cell.cparams();
    let (source, typesize) = (&*cell.set.bytes, cell.set.typesize);
    let mut runners = runners(peers, cparams, source.len())?;
    for runner in &mut runners {
        runner.compress(source);
    }
    let mine = Buffer::of(runners[0].made()?);
    let chunk = Buffer::of(runners[1].made()?);
    // A lossy pipeline must match the reference's output, any other the source.
    let mut expected = Buffer::of(source);
    if cparams.filters.contains(&TRUNC_PREC) {
        runners[1].decompress(&chunk);
        expected = Buffer::of(&runners[1].decoded);
    }
    for runner in &mut runners {
        runner.check(&chunk, &expected)?;
        runner.check(&mine, &expected)?;
    }
    let clock = Clock::for_threads(cell.threads);
    let mut time = |work: &dyn Fn(&mut Runner)| race(clock, options.budget, &mut runners, work);
    let write = time(&|runner| runner.compress(source));
    let read = time(&|runner| {
        runner.decompress(&chunk);
    });
    let total = source.len() / typesize;
    // The reference returns wrong items of chunks with the delta filter.
    let has_items = !cparams.filters.contains(&DELTA) && total > ITEMS;
    let mut items_of = |count: usize| -> Result<Option<Times>, String> {
        if !has_items {
            return Ok(None);
        }
        let (positions, count) = (positions(total, count), count as i32);
        for runner in &mut runners {
            runner.check_items(&chunk, positions[0], count, &expected, typesize)?;
        }
        let get = |runner: &mut Runner| runner.get(&chunk, &positions, count, typesize);
        Ok(Some(race(clock, options.budget, &mut runners, get)))
    };
    let (one_item, items) = (items_of(1)?, items_of(ITEMS)?);
    let in_turns = if has_items {
        Some(items_in_turns(options, peers, cell, &chunk, &expected)?)
    } else {
        None
    };
    let is_share = (cell.codec, cell.filter()) == ("lz4", "shuffle") && cell.set.numeric;
    let memcpy = is_share.then(|| memcpy(options, source));
    Ok(Measured {
        write,
        read,
        one_item,
        in_turns,
        items,
        memcpy,
        sizes: [mine.len(), chunk.len()],
    })
}

/// Reads single items alternately from a chunk of `expected` bytes and another one, with new
/// decompressors, so that no block is read twice in a row.
fn items_in_turns(
    options: &Options,
    peers: &Peers,
    cell: &Cell,
    chunk: &Buffer,
    expected: &[u8],
) -> Result<Times, String> {
    let typesize = cell.set.typesize;
    let total = expected.len() / typesize;
    let mut rotated = expected.to_vec();
    rotated.rotate_left(total / 2 * typesize);
    let mut runners = runners(peers, cell.cparams(), expected.len())?;
    runners[1].compress(&rotated);
    let other = Buffer::of(runners[1].made()?);
    let positions = positions(total, 1);
    for runner in &mut runners {
        for &position in &positions {
            runner.check_items(chunk, position, 1, expected, typesize)?;
            runner.check_items(&other, position, 1, &rotated, typesize)?;
        }
    }
    let get = |runner: &mut Runner| {
        for position in &positions {
            for chunk in [chunk, &other] {
                runner.get(chunk, slice::from_ref(position), 1, typesize);
            }
        }
    };
    let clock = Clock::for_threads(cell.threads);
    Ok(race(clock, options.budget, &mut runners, get))
}

/// Returns the time to copy some bytes in seconds.
fn memcpy(options: &Options, source: &[u8]) -> f64 {
    let mut copies = [Buffer::new(source.len())];
    race(Clock::Thread, options.budget, &mut copies, |copy| {
        copy.copy_from_slice(source);
        std::hint::black_box(&copy[0]);
    })[0]
}

/// Measures one cell and adds it to the report.
fn run(
    options: &Options,
    peers: &Peers,
    report: &mut Report,
    cell: &Cell,
    is_file: bool,
) -> Result<(), String> {
    let name = cell.name();
    if !options.wants(&name) {
        return Ok(());
    }
    let measured = measure(options, peers, cell).map_err(|error| format!("{name}: {error}"))?;
    let Measured { write, read, sizes, .. } = &measured;
    Report::print_cell(
        &name,
        cell.set.bytes.len(),
        &[("write", write), ("read", read)],
        Some(*sizes),
    );
    let [reading, writing] = cell.groups(is_file);
    report.add(reading, &name, read, None);
    report.add(writing, &name, write, Some(*sizes));
    let details = [
        format!("{} + {}", cell.codec, cell.filter()),
        format!("{} at level {}", cell.codec, cell.level),
        format!("data {}", cell.set.name),
        format!("chunks of {}", size_name(cell.set.bytes.len())),
    ];
    for detail in details {
        report.add_detail(format!("{detail}, read"), read);
        report.add_detail(format!("{detail}, write"), write);
    }
    if !cell.set.special && !is_file {
        for (group, times) in [
            (Group::OneItem, &measured.one_item),
            (Group::ItemsInTurns, &measured.in_turns),
            (Group::Items, &measured.items),
        ] {
            if let Some(times) = times {
                report.add(group, &name, times, None);
            }
        }
    }
    let share = match cell.set.bytes.len().div_ceil(MIB) {
        32 => Some(Group::ShareOfMemcpy32),
        4 => Some(Group::ShareOfMemcpy4),
        _ => None,
    };
    if let (Some(share), Some(memcpy)) = (share, measured.memcpy) {
        report.add_own(share, &name, &vec![memcpy; read.len()], read);
    }
    Ok(())
}

/// Whether a codec at a level is too slow for large chunks.
fn is_slow(codec: &str, level: u8) -> bool {
    matches!((codec, level), ("lz4hc" | "zlib" | "zstd", 8..))
}

/// Returns the levels to measure for a codec, pipeline and chunk size; empty if they add no
/// information.
fn levels(options: &Options, codec: &str, filter: &str, chunk: usize) -> Vec<u8> {
    let is_plain = PLAIN.contains(&filter);
    let is_fast = matches!(codec, "lz4" | "blosclz");
    let all: &[u8] = match (chunk, options.full) {
        (MIB.., false) if !is_fast || !is_plain => &[],
        (_, false) if !is_fast && filter != "shuffle" => &[],
        (_, false) if !is_plain && codec != "lz4" => &[],
        _ if chunk > 4 * MIB => match (codec, filter) {
            ("lz4", "shuffle") => &[5],
            ("lz4" | "blosclz" | "zstd", "shuffle" | "bitshuffle") if options.full => &[5],
            _ => &[],
        },
        (_, true) if is_plain || is_fast => &[1, 5, 9],
        (_, true) => &[],
        (..MIB, false) if filter == "shuffle" => &[1, 5, 9],
        _ => &[5],
    };
    let chosen = options.levels.as_deref().filter(|_| !all.is_empty());
    let levels = chosen.unwrap_or(all).iter().copied();
    levels.filter(|&level| chunk < MIB || !is_slow(codec, level)).collect()
}

/// Measures all chunks of generated data.
///
/// # Errors
/// Returns the failing cell and the failure.
pub fn generated(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    let sizes = match options.chunk {
        Some(size) => vec![size],
        None => vec![256 * KIB, 4 * MIB, 32 * MIB],
    };
    for size in sizes {
        for set in data::generated(size, |_| true) {
            // Large chunks are needed only for numeric data and the ratio to memcpy.
            if size > 4 * MIB && !set.numeric {
                continue;
            }
            for (codec, compcode) in ferroblosc_interop::cell::CODECS {
                for (pipeline, &(filter, ..)) in PIPELINES.iter().enumerate() {
                    for level in levels(options, codec, filter, size) {
                        let cell = Cell {
                            set: &set,
                            codec,
                            compcode,
                            level,
                            pipeline,
                            threads: options.threads,
                        };
                        if set.special && (level != 5 || !matches!(filter, "none" | "shuffle")) {
                            continue;
                        }
                        if cell.makes_sense() {
                            run(options, peers, report, &cell, false)?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Measures chunks of the named files, or of those fetched by `scripts/real-data.sh`.
///
/// # Errors
/// Returns the unreadable file or the failing cell.
pub fn files(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    let fetched = fetched();
    let files = if options.files.is_empty() { &fetched } else { &options.files };
    if files.is_empty() {
        println!("no real files: scripts/real-data.sh fetches some, --file names others");
    }
    let levels = match (&options.levels, options.full) {
        (Some(levels), _) => levels.clone(),
        (None, true) => vec![1, 5, 9],
        (None, false) => vec![5],
    };
    let sizes = match (options.chunk, options.full) {
        (Some(size), _) => vec![size],
        (None, true) => vec![256 * KIB, 4 * MIB],
        (None, false) => vec![4 * MIB],
    };
    for file in files {
        for &size in &sizes {
            let set = data::from_file(file, size)?;
            for (codec, compcode) in ferroblosc_interop::cell::CODECS {
                if !matches!(codec, "lz4" | "blosclz" | "zstd") {
                    continue;
                }
                for pipeline in 0..PLAIN.len() {
                    for &level in &levels {
                        if size < MIB || !is_slow(codec, level) {
                            let cell = Cell {
                                set: &set,
                                codec,
                                compcode,
                                level,
                                pipeline,
                                threads: options.threads,
                            };
                            run(options, peers, report, &cell, true)?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the fetched files in the target directory, sorted by name.
fn fetched() -> Vec<String> {
    /// The item size of the data.
    const TYPESIZE: usize = 4;
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(2).map(|folder| folder.join("real-data"));
    let entries = target.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut files: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| format!("file:{TYPESIZE}:{}", entry.path().display()))
        .collect();
    files.sort();
    files
}
