//! Random walks over a frame that is read after each step: our library changes it and the reference
//! opens it, or both change it in turns. Plain vectors are the model.

use crate::model::Model;
use crate::pairs::{row, seed};
use crate::random::{Plan, change};
use crate::steps::{Made, Step};
use ferroblosc_interop::data::Random;
use ferroblosc_interop::isolate::{Outcome, each};
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::schunk::Handle;
use ferroblosc_interop::storage::{Access, Kind};
use std::path::Path;
use tempfile::tempdir;

/// The number of walks of each test, and of steps in each.
const WALKS: usize = 50;
const STEPS: usize = 60;

/// Applies a step to a handle and to the model.
fn walk(handle: &Handle, model: &mut Model, step: &Step) -> Result<(), String> {
    let (result, _) = step.apply(handle, model.typesize);
    let code = match step {
        Step::SetSlice(..) if !can_set(model) => return Ok(()),
        _ => model.apply(step),
    };
    if result != code {
        return Err(format!("{} returns {result}, not {code}", handle.library.name));
    }
    if let Step::SetSlice(start, data) = step {
        model.set_slice(*start, data, |i| handle.chunk(i as i64).1);
    }
    Ok(())
}

/// Whether slices can be set: the chunks have one size and no variable-length blocks, and their
/// data are specified.
fn can_set(model: &Model) -> bool {
    let last = model.chunks.len().saturating_sub(1);
    let regular = |(i, made): (usize, &Made)| {
        let whole = i == last || made.nbytes as i64 == model.chunksize;
        whole && !made.vl && made.data.is_some()
    };
    model.chunksize != 0 && model.chunks.iter().enumerate().all(regular)
}

/// Compares the contents of a super-chunk with the model.
fn holds(handle: &Handle, model: &Model) -> Result<(), String> {
    let name = handle.library.name;
    let fields = handle.fields();
    let held = (fields.nchunks, fields.nbytes);
    let expected = (model.chunks.len() as i64, model.nbytes() as i64);
    if held != expected {
        return Err(format!("{name} has {held:?} chunks and bytes, not {expected:?}"));
    }
    for (i, made) in model.chunks.iter().enumerate() {
        let (code, data) = handle.decompress(i as i64, made.nbytes.max(1));
        if code != made.nbytes as i64 {
            return Err(format!("{name} decompresses chunk {i} to {code}, not {}", made.nbytes));
        }
        if made.data.as_ref().is_some_and(|known| *known != data) {
            return Err(format!("{name} returns other data for chunk {i}"));
        }
    }
    if handle.metas() != model.metas {
        return Err(format!("{name} has other metalayers: {:?}", handle.metas()));
    }
    let names: Vec<&String> = model.vlmetas.iter().map(|(name, _)| name).collect();
    if handle.vlmeta_names().iter().collect::<Vec<_>>() != names {
        return Err(format!("{name} has other variable-length metalayers"));
    }
    for (i, (layer, content)) in model.vlmetas.iter().enumerate() {
        if handle.vlmeta(layer) != (i as i64, content.clone()) {
            return Err(format!("{name} returns another content for {layer}"));
        }
    }
    Ok(())
}

/// Whether the reference opens the frame: not if the first chunk is empty (row S7), or if the
/// number of a chunk's file is not a valid offset in the data (row F16).
fn reference_opens(handle: &Handle, model: &Model) -> bool {
    let has_data = model.chunks.first().is_none_or(|made| made.nbytes > 0);
    let end = handle.fields().cbytes - 32;
    let fits = |offsets: Vec<i64>| offsets.iter().all(|&id| id < 0 || id <= end);
    let directory = model.kind == Kind::Directory;
    has_data && (!directory || handle.offsets().is_none_or(fits))
}

fn reopened(library: &'static Library, handle: &Handle, kind: Kind, path: &Path) -> Option<Handle> {
    match kind {
        Kind::Sparse | Kind::Frame => {
            let (code, frame) = handle.to_buffer();
            assert!(code > 0, "to_buffer returns {code}");
            Handle::over_buffer(library, &frame)
        }
        _ => Handle::open(library, path, 0, Access::Plain),
    }
}

/// Changes a frame with our library; the reference and another handle of ours read it after each
/// step.
fn watched(seed: u64, kind: Kind) -> Result<Vec<i64>, String> {
    let mut random = Random::new(seed);
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let mut plan = Plan::new(&mut random, kind);
    plan.odd = true;
    let mut model = Model::new(kind, plan.typesize());
    let handle = Handle::create(ours(), kind, &path, plan.cparams).expect("created");
    assert_eq!(handle.meta_add("one", &[1; 9]), 0);
    model.metas.push(("one".into(), vec![1; 9]));
    let mut log = Vec::new();
    for _ in 0..STEPS {
        let maker = [ours(), reference()][random.below(2)];
        let step = change(&mut random, maker, &plan, &model);
        if matches!(step, Step::SetSlice(..)) && !can_set(&model) {
            continue;
        }
        log.push(step.brief());
        let result = walk(&handle, &mut model, &step)
            .and_then(|()| model.differs(&handle.fields()).map_or(Ok(()), Err))
            .and_then(|()| {
                if !reference_opens(&handle, &model) {
                    return holds(&handle, &model);
                }
                for library in [ours(), reference()] {
                    let Some(other) = reopened(library, &handle, kind, &path) else {
                        return Err(format!("{} cannot open it", library.name));
                    };
                    holds(&other, &model)?;
                }
                Ok(())
            });
        result.map_err(|what| describe(kind, seed, &what, &log))?;
    }
    Ok(vec![log.len() as i64])
}

fn describe(kind: Kind, seed: u64, what: &str, log: &[String]) -> String {
    let from = log.len().saturating_sub(8);
    format!("{kind:?} seed {seed}: {what} after {}", log[from..].join("; "))
}

/// Changes a frame with both libraries alternately; each opens the frame for a few steps.
fn in_turns(seed: u64, kind: Kind) -> Result<Vec<i64>, String> {
    let mut random = Random::new(seed);
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let plan = Plan::new(&mut random, kind);
    let mut model = Model::new(kind, plan.typesize());
    let libraries = [ours(), reference()];
    let creator = libraries[random.below(2)];
    let first = Handle::create(creator, kind, &path, plan.cparams);
    let first = first.expect("created");
    assert_eq!(first.meta_add("one", &[1; 9]), 0);
    model.metas.push(("one".into(), vec![1; 9]));
    drop(first);
    let mut log = Vec::new();
    while log.len() < STEPS {
        let library = libraries[random.below(2)];
        let access = match kind {
            Kind::File if random.below(4) == 0 => Access::Mapped(c"r+"),
            _ => Access::Plain,
        };
        log.push(format!("{} opens {access:?}", library.name));
        let Some(handle) = Handle::open(library, &path, 0, access) else {
            return Err(describe(kind, seed, "it cannot be opened", &log));
        };
        for _ in 0..1 + random.below(4) {
            let maker = libraries[random.below(2)];
            let step = change(&mut random, maker, &plan, &model);
            let wrong = row(&plan, &model, &step).is_some();
            if wrong || matches!(step, Step::SetSlice(..)) && !can_set(&model) {
                continue;
            }
            log.push(step.brief());
            walk(&handle, &mut model, &step).map_err(|what| describe(kind, seed, &what, &log))?;
        }
        let result = holds(&handle, &model);
        drop(handle);
        result
            .and_then(|()| {
                for library in libraries {
                    let handle = Handle::open(library, &path, 0, Access::Plain);
                    let Some(handle) = handle else {
                        return Err(format!("{} cannot open it", library.name));
                    };
                    holds(&handle, &model)?;
                }
                Ok(())
            })
            .map_err(|what| describe(kind, seed, &what, &log))?;
    }
    Ok(vec![log.len() as i64])
}

/// Changes a frame with two open handles alternately; locks let each handle detect the changes of
/// the other.
///
/// A handle of the reference does not detect that chunk sizes vary after a change by another handle
/// (row F37), so chunk sizes do not vary in this test with the reference.
fn side_by_side(seed: u64, kind: Kind, second: &'static Library) -> Result<Vec<i64>, String> {
    let mut random = Random::new(seed);
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let plan = Plan::new(&mut random, kind);
    let mut model = Model::new(kind, plan.typesize());
    let first = Handle::create_with(ours(), kind, &path, plan.cparams, Access::Locked);
    let first = first.expect("created");
    assert_eq!(first.append_buffer(&[7; 1200]), 1);
    let chunk = first.chunk(0).1;
    assert_eq!(
        model.apply(&Step::Append(
            Made {
                chunk,
                data: Some(vec![7; 1200]),
                nbytes: 1200,
                special: false,
                vl: false,
                short_header: false,
                dictionary: false,
            },
            true
        )),
        1
    );
    let other = Handle::open(second, &path, 0, Access::Locked).expect("opened");
    let handles = [first, other];
    let mut log = Vec::new();
    while log.len() < STEPS {
        let handle = &handles[random.below(2)];
        let step = change(&mut random, ours(), &plan, &model);
        let turns_variable = {
            let mut model = model.clone();
            !matches!(step, Step::SetSlice(..)) && model.apply(&step) > 0 && model.chunksize == 0
        };
        let both = second.name != ours().name;
        let wrong = both && (turns_variable || row(&plan, &model, &step).is_some());
        // A handle compares indices with its own number of chunks, so it must be up to date.
        handle.refresh();
        if wrong || matches!(step, Step::SetSlice(..)) && !can_set(&model) {
            continue;
        }
        log.push(format!("{}: {}", handle.library.name, step.brief()));
        walk(handle, &mut model, &step)
            .and_then(|()| {
                for handle in &handles {
                    handle.refresh();
                    holds(handle, &model)?;
                }
                Ok(())
            })
            .map_err(|what| describe(kind, seed, &what, &log))?;
    }
    Ok(vec![log.len() as i64])
}

fn beside_the_reference(seed: u64, kind: Kind) -> Result<Vec<i64>, String> {
    side_by_side(seed, kind, reference())
}

fn beside_ours(seed: u64, kind: Kind) -> Result<Vec<i64>, String> {
    side_by_side(seed, kind, ours())
}

fn run(kind: Kind, walk: fn(u64, Kind) -> Result<Vec<i64>, String>) {
    let _ = (ours(), reference());
    let first = seed();
    let outcomes = each(WALKS, |i| walk(first + i as u64 * 8 + kind as u64, kind));
    let mut steps = 0;
    let mut failures = Vec::new();
    for (i, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Outcome::Values(values) => steps += values[0],
            other => failures.push(format!("walk {i}: {other:?}")),
        }
    }
    println!("{kind:?}: {steps} steps");
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(steps > WALKS as i64 * STEPS as i64 / 2);
}

#[test]
fn the_reference_reads_our_sparse_chunks_after_each_step() {
    run(Kind::Sparse, watched);
}

#[test]
fn the_reference_reads_our_frames_in_memory_after_each_step() {
    run(Kind::Frame, watched);
}

#[test]
fn the_reference_reads_our_files_after_each_step() {
    run(Kind::File, watched);
}

#[test]
fn the_reference_reads_our_directories_after_each_step() {
    run(Kind::Directory, watched);
}

#[test]
fn the_reference_reads_our_mapped_files_after_each_step() {
    run(Kind::Mapped, watched);
}

#[test]
fn files_are_changed_in_turns() {
    run(Kind::File, in_turns);
}

#[test]
fn directories_are_changed_in_turns() {
    run(Kind::Directory, in_turns);
}

#[test]
fn both_libraries_change_a_file_at_the_same_time() {
    run(Kind::File, beside_the_reference);
}

#[test]
fn both_libraries_change_a_directory_at_the_same_time() {
    run(Kind::Directory, beside_the_reference);
}

#[test]
fn two_of_our_handles_change_a_file_at_the_same_time() {
    run(Kind::File, beside_ours);
}

#[test]
fn two_of_our_handles_change_a_directory_at_the_same_time() {
    run(Kind::Directory, beside_ours);
}
