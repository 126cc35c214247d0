//! `concat`: joins arrays along an axis, stacks them along a new one, or joins super-chunks.
//!
//! To join, the first input is converted to the output, with its metadata, and the others are
//! appended as by `append`. To stack, an array with one more dimension is created, in which chunks
//! and blocks have the extent 1 along the new axis: a chunk of an input is then a chunk of the
//! output.

use crate::append::{Appended, axis_of, extend, extend_bytes};
use crate::cli::{Cli, ConcatArgs};
use crate::error::{self, Failure, Outcome};
use crate::fill::{Addition, Copying, fill, is_same_type, shape_text};
use crate::io::{Output, Overwritten, STDIO, refuse_directory_name, refuse_json, refuse_terminal};
use crate::json;
use crate::names::check_frame_name;
use ferroblosc::Error;
use ferroblosc::b2nd::{Array, MAX_DIM, State as _};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::chunks::{NewChunk, update};
use ferroblosc::schunk::geometry::unidim_to_multidim;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::convert::{
    self, Destination, NewArray, Progress, Reading, Source, SourceOptions, Writing,
};
use ferroblosc_formats::numpy::ArrayInfo;
use ferroblosc_tools_common::progress::bar;
use serde_json::json;
use std::path::Path;

/// The result of joining data.
struct Joined {
    appended: Appended,
    shape: Option<Vec<u64>>,
    /// Descriptions of the metadata that the output cannot hold.
    lost: Vec<String>,
}

/// How data are joined.
struct Plan<'a> {
    writing: Writing,
    directory: bool,
    axis: Option<i64>,
    copying: Copying,
    write_error: &'a dyn Fn(Failure) -> Failure,
}

pub fn run(args: &ConcatArgs, cli: &Cli) -> Outcome {
    let Some((path, names)) = args.paths.split_last() else {
        return Err(Failure::usage("no input"));
    };
    check_frame_name(path)?;
    refuse_json(args.json, path)?;
    if path == Path::new(STDIO) {
        refuse_terminal(args.settings.force)?;
    }
    let nthreads = cli.nthreads();
    let overwritten =
        Overwritten::find(path, args.settings.force, names.iter().map(|name| name.as_path()))?;
    let mut inputs = Vec::new();
    for name in names {
        let input = Addition::open(name, (false, false), nthreads)?;
        input.refuse_nesting(path)?;
        inputs.push(input);
    }
    if !args.settings.directory {
        refuse_directory_name(path)?;
    }
    let output =
        Output::new(path, args.settings.force)?.over(overwritten).durable(args.settings.durable);
    let first = inputs.first().ok_or_else(|| Failure::usage("no input"))?;
    let params = match first.location() {
        Some((input, found)) => {
            let reading = Reading::with_threads(nthreads);
            convert::params_of(input, found, &reading).map_err(|error| first.error(error))?
        }
        None => None,
    };
    let writing = args.settings.writing_like(cli, params.unwrap_or_default())?;
    let is_free = writing.compression.is_none() && writing.chunk_bytes.is_none();
    let copying = if is_free { Copying::to(writing.checksums) } else { Copying::Never };
    let total: u64 = inputs.iter().map(|input| input.content().nbytes).sum();
    let bar = bar(!cli.quiet, Some(total));
    let mut progress = |bytes| bar.inc(bytes);
    let plan = Plan {
        writing,
        directory: args.settings.directory,
        axis: args.axis,
        copying,
        write_error: &|failure| output.error(failure),
    };
    let joined = if args.stack {
        stack(&plan, &mut inputs, output.path(), &mut progress)
    } else {
        join(&plan, &mut inputs, output.path(), &mut progress)
    };
    bar.finish_and_clear();
    let joined = joined.map_err(|failure| output.error(failure))?;
    for lost in &joined.lost {
        error::warn(&format!("{}: not kept: {lost}", path.display()));
    }
    output.commit()?;
    if args.json {
        json::print(&json!({
            "path": path.to_string_lossy(),
            "shape": joined.shape,
            "nbytes": total,
            "chunks_copied": joined.appended.copied,
            "lost": joined.lost,
        }))?;
    }
    Ok(())
}

fn storage(output: &Path, plan: &Plan<'_>) -> Storage {
    let storage = if plan.directory { Storage::directory(output) } else { Storage::file(output) };
    if plan.writing.durable { storage.durable() } else { storage }
}

fn join(
    plan: &Plan<'_>,
    inputs: &mut [Addition],
    output: &Path,
    progress: Progress<'_>,
) -> Result<Joined, Failure> {
    let (first, others) = inputs.split_first_mut().ok_or(Error::InvalidParam)?;
    let mut info = first.content().array.clone();
    let axis = match (&info, plan.axis) {
        (None, Some(_)) => {
            return Err(first.error(Failure::usage("--axis: the data are not an array")));
        }
        (None, None) => 0,
        (Some(info), _) if info.shape.is_empty() => {
            return Err(first
                .error(Failure::new("an array without dimensions has no axis"))
                .with_hint("'--stack' joins arrays along a new axis"));
        }
        (Some(info), axis) => axis_of(axis.unwrap_or(0), info.shape.len())?,
    };
    // Nothing is written if an input does not fit.
    if let Some(info) = &info {
        others.iter_mut().try_for_each(|other| other.fit(info, axis).map(drop))?;
    }
    let Some((input, found)) = first.location() else {
        return Err(first.error(convert::Error::Unknown));
    };
    let directory = plan.directory;
    let destination = match info {
        Some(_) => Destination::B2nd { directory },
        None => Destination::Frame { directory },
    };
    let mut own = 0;
    let converted = convert::convert(
        (input, found),
        (output, destination),
        (&Reading::with_threads(plan.writing.nthreads), &SourceOptions::default()),
        &plan.writing,
        &mut |bytes| {
            own += bytes;
            progress(bytes);
        },
    );
    let converted = converted.map_err(|error| first.error((plan.write_error)(error.into())))?;
    progress(first.content().nbytes.saturating_sub(own));
    let opened = SChunk::open(storage(output, plan), DParams::default());
    let mut schunk = opened.map_err(|error| (plan.write_error)(error.into()))?;
    let copied = if converted.is_direct { schunk.nchunks() } else { 0 };
    let mut appended = Appended { copied, nbytes: 0 };
    let closed = match &mut info {
        Some(info) => {
            let mut array = Array::from_schunk(schunk)?;
            for other in others {
                let part = (&mut array, &mut *info);
                let part = extend(part, other, axis, plan.copying, plan.write_error, progress)?;
                appended.copied += part.copied;
            }
            array.close()
        }
        None => {
            for other in others {
                let part =
                    extend_bytes(&mut schunk, other, plan.copying, plan.write_error, progress)?;
                appended.copied += part.copied;
            }
            schunk.close()
        }
    };
    closed.map_err(|error| (plan.write_error)(error.into()))?;
    Ok(Joined { appended, shape: info.map(|info| info.shape), lost: converted.lost })
}

/// Inserts an entry at the position of the new axis.
fn with_axis<T: Copy>(extents: &[T], axis: usize, extent: T) -> Vec<T> {
    let mut extents = extents.to_vec();
    extents.insert(axis, extent);
    extents
}

fn stack(
    plan: &Plan<'_>,
    inputs: &mut [Addition],
    output: &Path,
    progress: Progress<'_>,
) -> Result<Joined, Failure> {
    let count = inputs.len() as u64;
    let first = inputs.first().ok_or(Error::InvalidParam)?;
    let Some(info) = first.content().array.clone() else {
        return Err(first.error(Failure::new("only arrays can be stacked")));
    };
    if info.shape.len() >= MAX_DIM {
        return Err(first.error(Failure::new(format!("an array has at most {MAX_DIM} dimensions"))));
    }
    let axis = axis_of(plan.axis.unwrap_or(0), info.shape.len() + 1)?;
    for input in inputs.iter() {
        check_same(input, &info)?;
    }
    let first = &inputs[0];
    let Some((input, found)) = first.location() else {
        return Err(first.error(convert::Error::Unknown));
    };
    let may_copy = plan.copying != Copying::Never;
    let (chunkshape, blockshape) = match first.array()?.filter(|_| may_copy) {
        Some(array) => {
            let geometry = array.geometry();
            (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec())
        }
        None => convert::partitions(&info, &plan.writing)?,
    };
    let shapes = (with_axis(&chunkshape, axis, 1), with_axis(&blockshape, axis, 1));
    let stacked = ArrayInfo { shape: with_axis(&info.shape, axis, count), ..info.clone() };
    let target = (output, plan.directory);
    let created = NewArray::create((input, found), target, &stacked, Some(shapes), &plan.writing);
    let mut created = created.map_err(|error| first.error((plan.write_error)(error.into())))?;
    let mut appended = Appended::default();
    for (number, input) in inputs.iter_mut().enumerate() {
        let array = &mut created.array;
        let source = input.array()?.filter(|source| {
            let geometry = source.geometry();
            may_copy && geometry.chunkshape() == chunkshape && geometry.blockshape() == blockshape
        });
        if let Some(source) = source {
            copy_chunks(array, &source, (axis, number as i64), input, plan)?;
            appended.copied += source.geometry().nchunks();
            progress(input.content().nbytes);
            continue;
        }
        let mut to = vec![0; stacked.shape.len()];
        to[axis] = number as u64;
        let without = |at: &[u64]| -> Vec<u64> {
            let others = at.iter().enumerate().filter(|&(dim, _)| dim != axis);
            others.map(|(_, &at)| at).collect()
        };
        let mut read = |start: &[u64], stop: &[u64], dest: &mut [u8]| {
            input.read_items(&without(start), &without(stop), dest)
        };
        let extents = with_axis(&info.shape, axis, 1);
        fill(array, (&to, &extents), &mut read, plan.write_error, progress)?;
    }
    let lost = created.finish().map_err(|error| (plan.write_error)(error.into()))?;
    Ok(Joined { appended, shape: Some(stacked.shape), lost })
}

/// Checks that an input has the type and the shape of the first one.
fn check_same(input: &Addition, info: &ArrayInfo) -> Outcome {
    let reason = match &input.content().array {
        None => "is not an array".to_owned(),
        Some(other) if !is_same_type(&other.dtype, &info.dtype) => format!(
            "cannot be stacked: the type of the items is {}, that of the first array {}",
            other.dtype.repr(),
            info.dtype.repr()
        ),
        Some(other) if other.shape != info.shape => format!(
            "cannot be stacked: the shape is {}, that of the first array {}",
            shape_text(&other.shape),
            shape_text(&info.shape)
        ),
        Some(_) => return Ok(()),
    };
    Err(input.error(Failure::new(reason)))
}

/// Copies the chunks of an array to those of a stack that have this index along the axis.
fn copy_chunks(
    target: &mut Array,
    source: &Array,
    (axis, index): (usize, i64),
    input: &Addition,
    plan: &Plan<'_>,
) -> Outcome {
    let (geometry, stacked) = (source.geometry(), target.geometry());
    let ndim = geometry.shape().len();
    let along: Vec<i64> = (0..ndim).map(|dim| geometry.chunks_along(dim)).collect();
    let strides = stacked.chunk_strides();
    let mut at = vec![0; ndim];
    for number in 0..geometry.nchunks() {
        unidim_to_multidim(&along, number, &mut at);
        let at = with_axis(&at, axis, index);
        let to = at.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
        let chunk = source.schunk().chunk(number).map_err(|error| input.error(error))?;
        plan.copying.check(source.schunk(), number).map_err(|error| input.error(error))?;
        update(target.chunks_mut(), to, NewChunk::Copy(&chunk))
            .map_err(|error| (plan.write_error)(error.into()))?;
    }
    Ok(())
}
