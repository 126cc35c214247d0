//! `append`: data of any format at the end of a frame or an array, in place.
//!
//! All inputs are appended in one transaction, so that a failure or a crash leaves the old content.
//! Chunks of an input are copied without recompression if they fit: those of a b2nd array with the
//! same chunk and block shapes if the array ends at a chunk boundary, and those of a super-chunk
//! with the same item and chunk sizes if the last chunk is full.

use crate::cli::{AppendArgs, Cli};
use crate::error::{Failure, Outcome};
use crate::fill::{Addition, Copying, fill};
use crate::inplace::FrameToChange;
use crate::json;
use crate::plural::counted;
use ferroblosc::Error;
use ferroblosc::b2nd::Array;
use ferroblosc::chunk::Source as ChunkSource;
use ferroblosc::schunk::{SChunk, VARIABLE, chunks};
use ferroblosc_formats::convert::{self, Format, Progress, Reading, Source};
use ferroblosc_formats::numpy::ArrayInfo;
use ferroblosc_tools_common::progress::bar;
use serde_json::json;

/// The size in bytes of new chunks of a super-chunk that has no chunk size.
const CHUNK_BYTES: usize = 1 << 20;

/// The numbers of chunks and bytes that were appended.
#[derive(Clone, Copy, Default)]
pub struct Appended {
    /// The number of chunks that were copied without recompression.
    pub copied: i64,
    /// The number of bytes of data.
    pub nbytes: u64,
}

pub fn run(args: &AppendArgs, cli: &Cli) -> Outcome {
    let target = FrameToChange::open(&args.file)?;
    let nthreads = cli.nthreads();
    let mut inputs = Vec::new();
    for name in &args.inputs {
        inputs.push(Addition::open(name, (args.raw, true), nthreads)?);
    }
    let total = inputs.iter().map(|input| input.content().nbytes).sum();
    let bar = bar(!cli.quiet, Some(total));
    let mut progress = |bytes| bar.inc(bytes);
    let appended = match target.found().format {
        Format::B2nd => append_array(&target, &mut inputs, args.axis, nthreads, &mut progress),
        _ if args.axis.is_some() => {
            Err(target.error(Failure::usage("--axis: a super-chunk is not an array")))
        }
        _ => append_bytes(&target, &mut inputs, nthreads, &mut progress),
    };
    bar.finish_and_clear();
    let appended = appended?;
    if !args.json {
        return Ok(());
    }
    let summary = convert::summarise(target.path(), target.found());
    let summary = summary.map_err(|error| target.error(error))?;
    json::print(&json!({
        "path": target.name().to_string_lossy(),
        "shape": summary.array.map(|info| info.shape),
        "nbytes": summary.nbytes,
        "appended_bytes": appended.nbytes,
        "chunks_copied": appended.copied,
    }))
}

/// Returns the number of the dimension that an axis selects; negative numbers count from the end.
pub fn axis_of(axis: i64, ndim: usize) -> Result<usize, Failure> {
    let count = i64::try_from(ndim).unwrap_or(i64::MAX);
    let dim = if axis < 0 { axis.saturating_add(count) } else { axis };
    let dim = usize::try_from(dim).ok().filter(|&dim| dim < ndim);
    dim.ok_or_else(|| {
        let dimensions = counted(ndim, "dimension");
        Failure::usage(format!("--axis {axis}: the array has {dimensions}"))
    })
}

fn append_array(
    target: &FrameToChange,
    inputs: &mut [Addition],
    axis: Option<i64>,
    nthreads: usize,
    progress: Progress<'_>,
) -> Result<Appended, Failure> {
    let reading = Reading::with_threads(nthreads);
    let described = convert::open_as(target.path(), target.found(), &reading);
    let described = described.map_err(|error| target.error(error))?;
    let info = described.content().array.clone();
    drop(described);
    let mut info = info.ok_or_else(|| target.error(Error::Failure))?;
    if info.shape.is_empty() {
        return Err(target.error(Failure::new("an array without dimensions cannot grow")));
    }
    let axis =
        axis_of(axis.unwrap_or(0), info.shape.len()).map_err(|failure| target.error(failure))?;
    // Nothing is written if an input does not fit.
    for input in inputs.iter_mut() {
        input.fit(&info, axis)?;
    }
    let mut array = target.array(nthreads)?;
    let copying = Copying::to_existing(array.schunk_mut()).map_err(|error| target.error(error))?;
    let mut transaction = array.transaction().map_err(|error| target.error(error))?;
    let mut appended = Appended::default();
    let write_error = |failure: Failure| target.error(failure);
    for input in inputs {
        let part =
            extend((&mut *transaction, &mut info), input, axis, copying, &write_error, progress)?;
        appended.copied += part.copied;
        appended.nbytes += part.nbytes;
    }
    transaction.commit().map_err(|error| target.error(error))?;
    array.close().map_err(|error| target.error(error))?;
    Ok(appended)
}

/// Appends an input to an array, whose type and shape are `info`, along an axis.
pub fn extend(
    (array, info): (&mut Array, &mut ArrayInfo),
    input: &mut Addition,
    axis: usize,
    copying: Copying,
    write_error: &dyn Fn(Failure) -> Failure,
    progress: Progress<'_>,
) -> Result<Appended, Failure> {
    let count = input.fit(info, axis)?;
    let nbytes = input.content().nbytes;
    let too_large = || write_error(Failure::new("the array would be too large"));
    let mut shape = info.shape.clone();
    shape[axis] = shape[axis].checked_add(count).ok_or_else(too_large)?;
    let signed: Option<Vec<i64>> = shape.iter().map(|&len| i64::try_from(len).ok()).collect();
    let signed = signed.ok_or_else(too_large)?;
    let geometry = array.geometry();
    let chunk = geometry.chunkshape()[axis];
    let is_aligned = chunk > 0 && info.shape[axis].is_multiple_of(u64::from(chunk.unsigned_abs()));
    let may_copy = copying != Copying::Never && is_aligned;
    let other =
        input.array()?.filter(|other| may_copy && other.geometry().has_partitions_of(&geometry));
    let mut copied = 0;
    if let Some(other) = other {
        let axis = i8::try_from(axis).map_err(|_| too_large())?;
        for number in 0..other.geometry().nchunks() {
            copying.check(other.schunk(), number).map_err(|error| input.error(error))?;
        }
        array.extend(&other, axis).map_err(|error| write_error(error.into()))?;
        copied = other.geometry().nchunks();
        progress(nbytes);
    } else {
        let mut to = vec![0; shape.len()];
        to[axis] = info.shape[axis];
        let mut extents = shape.clone();
        extents[axis] = count;
        array.resize(&signed, None).map_err(|error| write_error(error.into()))?;
        let mut read =
            |start: &[u64], stop: &[u64], dest: &mut [u8]| input.read_items(start, stop, dest);
        fill(array, (&to, &extents), &mut read, write_error, progress)?;
    }
    info.shape = shape;
    Ok(Appended { copied, nbytes })
}

fn append_bytes(
    target: &FrameToChange,
    inputs: &mut [Addition],
    nthreads: usize,
    progress: Progress<'_>,
) -> Result<Appended, Failure> {
    let mut schunk = target.schunk(nthreads)?;
    let copying = Copying::to_existing(&mut schunk).map_err(|error| target.error(error))?;
    for input in inputs.iter() {
        fit_bytes(&schunk, input)?;
    }
    let mut transaction = schunk.transaction().map_err(|error| target.error(error))?;
    let mut appended = Appended::default();
    let write_error = |failure: Failure| target.error(failure);
    for input in inputs {
        let part = extend_bytes(&mut transaction, input, copying, &write_error, progress)?;
        appended.copied += part.copied;
        appended.nbytes += part.nbytes;
    }
    transaction.commit().map_err(|error| target.error(error))?;
    schunk.close().map_err(|error| target.error(error))?;
    Ok(appended)
}

/// Checks that items of an input have the size of those of a super-chunk. Items of one byte are any
/// bytes.
pub fn fit_bytes(schunk: &SChunk, input: &Addition) -> Outcome {
    let (theirs, ours) = (input.content().typesize, u64::from(schunk.typesize().unsigned_abs()));
    if theirs == ours || theirs == 1 || ours == 1 {
        return Ok(());
    }
    Err(input.error(
        Failure::new(format!(
            "cannot be appended: the items have {theirs} bytes, those of the super-chunk {ours}"
        ))
        .with_hint("'b2 decompress' writes the bytes of any format"),
    ))
}

/// Appends the bytes of an input to a super-chunk.
pub fn extend_bytes(
    schunk: &mut SChunk,
    input: &mut Addition,
    copying: Copying,
    write_error: &dyn Fn(Failure) -> Failure,
    progress: Progress<'_>,
) -> Result<Appended, Failure> {
    fit_bytes(schunk, input)?;
    let nbytes = input.content().nbytes;
    let failed = |error: Error| write_error(error.into());
    let size = usize::try_from(schunk.chunksize()).unwrap_or(0);
    let partial = if size == 0 { 0 } else { usize::try_from(schunk.nbytes()).unwrap_or(0) % size };
    if let Some(other) = input.schunk()?
        && copying != Copying::Never
        && other.chunksize() == schunk.chunksize()
        && other.typesize() == schunk.typesize()
        && partial == 0
    {
        for number in 0..other.nchunks() {
            let chunk = other.chunk(number).map_err(|error| input.error(error))?;
            copying.check(&other, number).map_err(|error| input.error(error))?;
            schunk.append_chunk(&chunk).map_err(failed)?;
            progress((nbytes / other.nchunks().unsigned_abs()).max(1));
        }
        return Ok(Appended { copied: other.nchunks(), nbytes });
    }
    let typesize = usize::try_from(schunk.typesize()).unwrap_or(1).max(1);
    let size = match size {
        0 => (CHUNK_BYTES / typesize).max(1) * typesize,
        size => size,
    };
    if schunk.nchunks() == 0 && schunk.chunksize() <= VARIABLE {
        schunk.set_chunksize(size as i32).map_err(failed)?;
    }
    let mut done = 0;
    let mut bytes = Vec::new();
    while done < nbytes {
        // The last chunk is written again if it is not full.
        let kept = if done == 0 { partial } else { 0 };
        let count = (nbytes - done).min((size - kept) as u64) as usize;
        bytes.clear();
        bytes.try_reserve_exact(kept + count).map_err(Error::from).map_err(failed)?;
        bytes.resize(kept + count, 0);
        if kept > 0 {
            let last = schunk.nchunks() - 1;
            let read = schunk.decompress(last, &mut bytes[..kept]).map_err(failed)?;
            if read != kept {
                return Err(failed(Error::Data));
            }
        }
        input.read(done, &mut bytes[kept..]).map_err(|error| input.error(error))?;
        if kept > 0 {
            let last = schunk.nchunks() - 1;
            let chunk = chunks::compress_next(schunk.state(), ChunkSource::Bytes(&bytes));
            let chunk = chunk.map_err(failed)?;
            schunk.update_chunk(last, &chunk).map_err(failed)?;
        } else {
            schunk.append(&bytes).map_err(failed)?;
        }
        done += count as u64;
        progress(count as u64);
    }
    Ok(Appended { copied: 0, nbytes })
}
