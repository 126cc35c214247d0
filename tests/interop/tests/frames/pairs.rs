//! Random sequences of calls on two super-chunks of the same kind, one per library: codes, fields
//! and bytes must be equal after each call.
//!
//! Steps in which the reference is known to be wrong are skipped, by decision row; other tests
//! cover them.

use crate::model::Model;
use crate::random::{BLOCK, CHUNK, Plan, change, reading};
use crate::steps::{Made, Step};
use ferroblosc_interop::data::Random;
use ferroblosc_interop::isolate::{Outcome, each};
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::schunk::{Fields, Handle, stored};
use ferroblosc_interop::storage::{Access, Kind};
use tempfile::{TempDir, tempdir};

/// The number of sequences of each kind, and of steps in each.
const SEQUENCES: usize = 150;
const STEPS: usize = 60;

/// Returns the reason why the libraries differ in a step, mostly a decision row.
pub fn row(plan: &Plan, model: &Model, step: &Step) -> Option<&'static str> {
    let framed = plan.kind != Kind::Sparse;
    let variable = model.chunksize == 0;
    let short_last = model.chunks.last().is_some_and(|made| (made.nbytes as i64) < model.chunksize);
    let any = |test: fn(&Made) -> bool| model.chunks.iter().any(test);
    if model.loses_special_lengths(step) {
        return Some("F1, F2");
    }
    if let Step::Append(made, _) | Step::Insert(_, made, _) | Step::Update(_, made, _) = step {
        // The reference treats a replaced chunk of 32 bytes as one that is not stored.
        if framed && made.chunk.len() <= 32 && !made.special {
            return Some("F4");
        }
        let too_long = model.chunksize > 0 && made.nbytes as i64 > model.chunksize;
        if model.chunks.is_empty() && made.vl && too_long {
            return Some("F19");
        }
    }
    if plan.locked && matches!(step, Step::MetaUpdate(..)) {
        return Some("F25");
    }
    if plan.locked
        && matches!(
            step,
            Step::Reorder(_)
                | Step::FillSpecial(..)
                | Step::VlAdd(..)
                | Step::VlUpdate(..)
                | Step::VlDelete(_)
        )
        && model.clone().apply(step) < 0
    {
        return Some("the reference checks these before it locks");
    }
    if plan.locked && matches!(step, Step::SetSlice(_, data) if data.is_empty()) {
        return Some("the reference locks nothing to write no items");
    }
    if matches!(step, Step::FillSpecial(..)) && model.reference_excess > 0 {
        return Some("S9");
    }
    if model.is_second_short_append(step) {
        return Some("S8");
    }
    if let Step::Delete(at) = step
        && plan.kind.contiguous()
        && model.chunks.len() == 1
        && *at == 0
    {
        return Some("F20");
    }
    if let Step::AppendBuffer(made) = step
        && (plan.cparams.blocksize == 0 && made.nbytes != CHUNK || made.nbytes < BLOCK as usize)
    {
        return Some("a block size that the reference's context remembers");
    }
    if let Step::Reorder(order) = step
        && short_last
        && order.last() != Some(&(order.len() as i64 - 1))
    {
        return Some("F14");
    }
    if plan.kind == Kind::Directory && has_ids_too_large(model, step) {
        return Some("F16");
    }
    let slices = matches!(step, Step::Slice(..) | Step::Sparse(_) | Step::SetSlice(..));
    if slices && variable {
        return Some("S17");
    }
    if slices
        && (any(|made| made.short_header)
            || any(|made| made.dictionary)
            || any(|made| made.data.is_none()))
    {
        return Some("S14, dictionaries");
    }
    if let Step::Slice(start, stop) = step
        && reads_a_blocks_length(model, *start, *stop)
    {
        return Some("C74");
    }
    if slices && any(|made| made.vl) {
        return Some("slices of variable-length blocks");
    }
    if let Step::SetSlice(start, data) = step {
        let size = model.chunksize.max(1);
        let stop = start * plan.typesize() as i64 + data.len() as i64;
        if short_last && stop % size != 0 {
            return Some("S30");
        }
        if plan.cparams.blocksize == 0 && model.chunksize != CHUNK as i64 {
            return Some("a block size that the reference's context remembers");
        }
        if any(|made| made.nbytes < BLOCK as usize) {
            return Some("a block size that the reference's context remembers");
        }
    }
    if matches!(step, Step::Sparse(coordinates) if !coordinates.is_empty()) {
        return Some("S20");
    }
    if let Step::Lazy(at) | Step::DecompressLazily(at, _) = step
        && let Some(made) = usize::try_from(*at).ok().and_then(|at| model.chunks.get(at))
    {
        if made.short_header {
            return Some("S14");
        }
        if plan.kind == Kind::Mapped && (made.dictionary || made.vl) {
            return Some("F26");
        }
        if made.vl && matches!(step, Step::DecompressLazily(..)) {
            return Some("C51");
        }
    }
    if let Step::VlBlock(..) = step
        && plan.kind == Kind::Mapped
    {
        return Some("F26");
    }
    None
}

/// Whether a directory has a chunk file after the step whose number the reference mistakes for an
/// offset outside of the data.
fn has_ids_too_large(model: &Model, step: &Step) -> bool {
    let mut after = model.clone();
    let largest_fits = |model: &Model, cbytes: i64| {
        let largest = model.ids.iter().copied().max().unwrap_or(-1);
        largest <= cbytes - 32
    };
    if let Step::SetSlice(..) = step {
        // The minimum length of the chunks.
        let stored = after.ids.iter().filter(|&&id| id >= 0).count() as i64;
        return !largest_fits(&after, 33 * stored);
    }
    after.apply(step);
    !after.ids.iter().all(|&id| id < 0) && !largest_fits(&after, after.cbytes())
}

/// Whether a slice reads exactly a block's length from some chunk without starting at a block.
fn reads_a_blocks_length(model: &Model, start: i64, stop: i64) -> bool {
    let size = |at: i64| at * model.typesize as i64;
    let (start, stop) = (size(start), size(stop));
    let mut begin = 0;
    for made in &model.chunks {
        let end = begin + made.nbytes as i64;
        let (from, to) = (start.max(begin), stop.min(end));
        let block = i64::from(i32::from_le_bytes(made.chunk[8..12].try_into().expect("4 bytes")));
        let last = made.nbytes as i64 % block.max(1);
        if from < to && [block, last].contains(&(to - from)) && (from - begin) % block != 0 {
            return true;
        }
        begin = end;
    }
    false
}

struct Pair {
    dir: TempDir,
    plan: Plan,
    model: Model,
    handles: [Handle; 2],
}

fn path(dir: &TempDir, library: &Library) -> std::path::PathBuf {
    dir.path().join(format!("{}.b2frame", library.name))
}

impl Pair {
    fn new(random: &mut Random, kind: Kind) -> Pair {
        let dir = tempdir().unwrap();
        let plan = Plan::new(random, kind);
        let mut model = Model::new(kind, plan.typesize());
        let access = match kind {
            Kind::Mapped => Access::Mapped(c"w+"),
            _ if plan.locked => Access::Locked,
            _ => Access::Plain,
        };
        let handles = [ours(), reference()].map(|library| {
            let path = path(&dir, library);
            Handle::create_with(library, kind, &path, plan.cparams, access).expect("created")
        });
        for (name, len) in [("one", 0), ("two", 9)].iter().take(random.below(3)) {
            let content = vec![7u8; *len];
            let index = model.metas.len() as i64;
            for handle in &handles {
                assert_eq!(handle.meta_add(name, &content), index);
            }
            model.metas.push(((*name).into(), content));
            model.change_tick += 1;
        }
        if plan.varying && random.below(2) == 0 {
            for handle in &handles {
                handle.preset_chunksize(0);
            }
            model.chunksize = 0;
        }
        Pair { dir, plan, model, handles }
    }

    /// Applies a step to both and returns the difference.
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let typesize = self.plan.typesize();
        let [ours, theirs] = &self.handles;
        let mut results = [step.apply(ours, typesize), step.apply(theirs, typesize)];
        if let Step::Lazy(_) = step {
            results.iter_mut().for_each(|(_, chunk)| blank_unspecified(chunk));
        }
        let known = self.model.expected(step);
        if let Some(known) = &known
            && results[0].0 >= 0
            && *known != results[0].1
        {
            return Err("our data differ from the model".into());
        }
        same("result", &results[0], &results[1])?;
        let code = self.model.apply(step);
        if let Step::SetSlice(start, data) = step {
            // Reads from both, because the reads set the field `current_nchunk`.
            self.model.set_slice(*start, data, |i| {
                ours.chunk(i as i64);
                theirs.chunk(i as i64).1
            });
        }
        let result = &results[0].0;
        let returns_code = !matches!(step, Step::Lazy(_) | Step::VlBlock(..));
        let fits = !matches!(step, Step::Decompress(_, capacity) if (*capacity as i64) < code);
        if returns_code && fits && *result != code {
            return Err(format!("both return {result}, the model {code}"));
        }
        self.fields()
    }

    fn fields(&self) -> Result<(), String> {
        let [ours, theirs] = [0, 1].map(|i| self.handles[i].fields());
        let excess = self.model.reference_excess;
        let theirs = Fields { cbytes: theirs.cbytes - excess, ..theirs };
        if ours != theirs {
            let (ours, theirs) = (format!("{ours:?}"), format!("{theirs:?}"));
            let differ: Vec<String> = ours
                .split(", ")
                .zip(theirs.split(", "))
                .filter(|(one, other)| one != other)
                .map(|(one, other)| format!("ours {one}, reference {other}"))
                .collect();
            return Err(format!("fields: {}", differ.join("; ")));
        }
        match self.model.differs(&ours) {
            Some(text) => Err(format!("both: {text}")),
            None => Ok(()),
        }
    }

    fn files(&self) -> Result<(), String> {
        let kind = self.plan.kind;
        let [one, other] = [0, 1].map(|i| {
            let handle = &self.handles[i];
            let path = path(&self.dir, handle.library);
            let mut files = stored(handle, kind, &path);
            // The lock file of a file is next to it; that of a directory is inside it.
            if let Ok(lock) = std::fs::read(path.with_extension("b2frame.b2lock")) {
                files.push(("lock".into(), lock));
            }
            files
        });
        for ((name, one), (other_name, other)) in one.iter().zip(&other) {
            same("file name", name, other_name)?;
            if let Some(at) =
                (0..one.len().max(other.len())).find(|&at| one.get(at) != other.get(at))
            {
                return Err(format!(
                    "file {name} differs at {at}: lengths {} and {}",
                    one.len(),
                    other.len()
                ));
            }
        }
        same("files", &one.len(), &other.len())?;
        // Empty frames crash the reference (row S15).
        if kind != Kind::Sparse && !self.model.chunks.is_empty() {
            same("offsets", &self.handles[0].offsets(), &self.handles[1].offsets())?;
        }
        Ok(())
    }

    /// Compares the frames in memory that both create from their super-chunks.
    fn buffers(&self) -> Result<(), String> {
        let [one, other] = [0, 1].map(|i| self.handles[i].to_buffer());
        same("length of to_buffer", &one.0, &other.0)?;
        if one.1 != other.1 {
            let at = one.1.iter().zip(&other.1).position(|(a, b)| a != b);
            return Err(format!("to_buffer differs at {at:?}"));
        }
        Ok(())
    }
}

/// Clears the unspecified bytes of a lazy chunk: stored chunks have no block starts.
fn blank_unspecified(chunk: &mut [u8]) {
    if chunk.len() > 44 && chunk[2] & 2 != 0 && chunk[31] & 8 != 0 {
        let blocks = (chunk.len() - 44) / 8;
        chunk[32..32 + 4 * blocks].fill(0);
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let short = |value: &T| format!("{value:?}").chars().take(200).collect::<String>();
    Err(format!("{what}: ours {} reference {}", short(ours), short(theirs)))
}

/// Runs one sequence; returns the numbers of applied and skipped steps.
fn sequence(seed: u64, kind: Kind) -> Result<Vec<i64>, String> {
    let mut random = Random::new(seed);
    let mut pair = Pair::new(&mut random, kind);
    let (mut made, mut left_out) = (0, 0);
    let mut log: Vec<String> = Vec::new();
    for _ in 0..STEPS {
        let maker = [ours(), reference()][random.below(2)];
        for i in 0..3 {
            let step = match i {
                0 => change(&mut random, maker, &pair.plan, &pair.model),
                _ => reading(&mut random, &pair.plan, &pair.model),
            };
            if row(&pair.plan, &pair.model, &step).is_some() {
                left_out += 1;
                continue;
            }
            made += 1;
            log.push(step.brief());
            let mut result = pair.step(&step);
            if i == 0 {
                result = result.and_then(|()| pair.files());
            }
            // The reference loses the lengths of special chunks if chunk sizes vary (row F1).
            let lost =
                pair.model.chunksize == 0 && pair.model.chunks.iter().any(|made| made.special);
            // It reads the flags of such a chunk after its end (row S14).
            let overread =
                pair.model.chunks.iter().any(|made| made.short_header && made.chunk.len() < 32);
            if made % 16 == 0 && !lost && !overread {
                result = result.and_then(|()| pair.buffers());
            }
            result.map_err(|what| {
                let from = log.len().saturating_sub(8);
                format!("{kind:?} seed {seed}: {what} after {}", log[from..].join("; "))
            })?;
        }
    }
    Ok(vec![made, left_out])
}

fn sequences(kind: Kind) {
    let _ = (ours(), reference());
    let first = seed();
    let outcomes = each(SEQUENCES, |i| sequence(first + i as u64 * 8 + kind as u64, kind));
    let mut totals = [0, 0];
    let mut failures = Vec::new();
    for (i, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Outcome::Values(values) => {
                totals[0] += values[0];
                totals[1] += values[1];
            }
            other => failures.push(format!("sequence {i}: {other:?}")),
        }
    }
    println!("{kind:?}: {} steps, {} skipped", totals[0], totals[1]);
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// Returns the seed of the random numbers.
pub fn seed() -> u64 {
    let given = std::env::var("FERROBLOSC_SAMPLE_SEED").ok();
    let seed = given.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970")
            .as_secs()
    });
    println!("FERROBLOSC_SAMPLE_SEED={seed}");
    seed
}

#[test]
fn sparse_chunks_in_memory_behave_alike() {
    sequences(Kind::Sparse);
}

#[test]
fn frames_in_memory_behave_alike() {
    sequences(Kind::Frame);
}

#[test]
fn frames_in_files_behave_alike() {
    sequences(Kind::File);
}

#[test]
fn frames_in_directories_behave_alike() {
    sequences(Kind::Directory);
}

#[test]
fn frames_in_mapped_files_behave_alike() {
    sequences(Kind::Mapped);
}
