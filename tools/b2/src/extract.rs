//! `slice`: a slice of an array as a new array.
//!
//! If the slice has no steps and begins at chunk boundaries, the chunks that it contains completely
//! are copied without recompression. All other items are read in boxes of at most 64 MiB. A chunk
//! at the end of the array may contain items that a resize removed: it is copied only if it has
//! none.

use crate::cli::{Cli, SliceArgs};
use crate::error::{self, Failure, Outcome};
use crate::fill::{Copying, MAX_BOX, ReadBox, fill};
use crate::io::{
    Input, Output, Overwritten, STDIO, refuse_directory_name, refuse_json, refuse_terminal,
};
use crate::json;
use crate::members;
use crate::names::check_frame_name;
use crate::slice::{Axis, indexed, parse};
use ferroblosc::Error;
use ferroblosc::b2nd::{Array, Geometry, State as _};
use ferroblosc::schunk::Storage;
use ferroblosc::schunk::chunks::{NewChunk, update};
use ferroblosc::schunk::geometry::unidim_to_multidim;
use ferroblosc_formats::convert::{self, Format, NewArray, Progress, Reading, Source};
use ferroblosc_formats::numpy::ArrayInfo;
use ferroblosc_tools_common::progress::bar;
use serde_json::json;
use std::path::Path;

/// The slice of an array.
pub struct Selection {
    /// The selected indices of each dimension of the array.
    axes: Vec<Axis>,
    /// The dimensions of the array that the result has.
    kept: Vec<usize>,
    itemsize: u64,
}

pub fn run(args: &SliceArgs, cli: &Cli) -> Outcome {
    check_frame_name(&args.output)?;
    refuse_json(args.json, &args.output)?;
    if args.output == Path::new(STDIO) {
        refuse_terminal(args.settings.force)?;
    }
    let input = members::open_data(&args.input)?;
    input.refuse_nesting(&args.output)?;
    let overwritten = Overwritten::find(&args.output, args.settings.force, [input.path()])?;
    let found = input.detect()?;
    let nthreads = cli.nthreads();
    let reading = Reading::with_threads(nthreads);
    let source = convert::open_as(input.path(), &found, &reading);
    let mut source = source.map_err(|error| input.error(error))?;
    let Some(info) = source.content().array.clone() else {
        return Err(input.error(
            Failure::new("the data are not an array")
                .with_hint("'b2 convert --dtype TYPE' gives them a type"),
        ));
    };
    let selection =
        Selection::parse(&args.slice, &info).map_err(|failure| failure.at(input.name()))?;
    let shape = selection.shape();
    let sliced = ArrayInfo { shape: shape.clone(), ..info };
    let nbytes = sliced.nbytes().map_err(|error| input.error(convert::Error::from(error)))?;
    let params = convert::params_of(input.path(), &found, &reading);
    let params = params.map_err(|error| input.error(error))?;
    let writing = args.settings.writing_like(cli, params.unwrap_or_default())?;
    let is_free = writing.compression.is_none() && writing.chunk_bytes.is_none();
    let array = if found.format == Format::B2nd && is_free {
        let path = input.path();
        let storage =
            if found.is_directory { Storage::directory(path) } else { Storage::file(path) };
        Some(Array::open(storage, Default::default()).map_err(|error| input.error(error))?)
    } else {
        None
    };
    if !args.settings.directory {
        refuse_directory_name(&args.output)?;
    }
    let output = Output::new(&args.output, args.settings.force)?
        .over(overwritten)
        .durable(args.settings.durable);
    let write_error = |failure: Failure| output.error(failure);
    let mut copies = Vec::new();
    if let Some(array) = &array {
        for (to, from) in whole_chunks(&array.geometry(), &selection) {
            let is_clean = is_zero_outside(array, source.as_mut(), from);
            if is_clean.map_err(|error| input.error(error))? {
                copies.push((to, from));
            }
        }
    }
    let shapes =
        array.as_ref().map(|array| shapes(&array.geometry(), &selection, !copies.is_empty()));
    let created = NewArray::create(
        (input.path(), &found),
        (output.path(), args.settings.directory),
        &sliced,
        shapes,
        &writing,
    );
    let mut created = created.map_err(|error| write_error(input.error(error)))?;
    let bar = bar(!cli.quiet, Some(nbytes));
    let mut progress = |bytes| bar.inc(bytes);
    let mut read = |start: &[u64], stop: &[u64], dest: &mut [u8]| {
        let read = selection.read(source.as_mut(), (start, stop), dest);
        read.map_err(|error| input.error(error))
    };
    let written = match &array {
        Some(array) if !copies.is_empty() => {
            let target = &mut created.array;
            copy_and_fill(
                (target, array),
                (&copies, Copying::to(writing.checksums)),
                &mut read,
                (&input, &write_error),
                &mut progress,
            )
        }
        _ => {
            let to = vec![0; shape.len()];
            fill(&mut created.array, (&to, &shape), &mut read, &write_error, &mut progress)
        }
    };
    bar.finish_and_clear();
    written?;
    let lost = created.finish().map_err(|error| write_error(error.into()))?;
    for lost in &lost {
        error::warn(&format!("{}: not kept: {lost}", args.output.display()));
    }
    output.commit()?;
    if args.json {
        json::print(&json!({
            "path": args.output.to_string_lossy(),
            "shape": shape,
            "nbytes": nbytes,
            "chunks_copied": copies.len(),
            "lost": lost,
        }))?;
    }
    Ok(())
}

/// Returns the numbers of the chunks of the result that are whole chunks of the array, each with
/// the number of that chunk. It is empty if the grids of chunks differ.
fn whole_chunks(geometry: &Geometry, selection: &Selection) -> Vec<(i64, i64)> {
    let chunk = geometry.chunkshape();
    let is_aligned = selection.axes.iter().enumerate().all(|(dim, axis)| {
        let len = u64::from(chunk[dim].unsigned_abs());
        let is_kept = selection.kept.contains(&dim);
        axis.step == 1
            && len > 0
            && axis.first.is_multiple_of(len)
            && axis.count > 0
            && (is_kept || len == 1)
    });
    let shape: Vec<i64> =
        selection.kept.iter().map(|&dim| selection.axes[dim].count as i64).collect();
    let of_kept =
        |extents: &[i32]| -> Vec<i32> { selection.kept.iter().map(|&dim| extents[dim]).collect() };
    let result = Geometry::new(&shape, &of_kept(chunk), &of_kept(geometry.blockshape()));
    let Some(result) = result.ok().filter(|_| is_aligned) else {
        return Vec::new();
    };
    let along: Vec<i64> = (0..shape.len()).map(|dim| result.chunks_along(dim)).collect();
    let strides = geometry.chunk_strides();
    let mut at = vec![0; shape.len()];
    let mut copies = Vec::new();
    for number in 0..result.nchunks() {
        unidim_to_multidim(&along, number, &mut at);
        let mut from = 0;
        let mut is_whole = true;
        let mut kept = at.iter();
        for (dim, axis) in selection.axes.iter().enumerate() {
            let len = i64::from(chunk[dim]);
            let index = if selection.kept.contains(&dim) { *kept.next().unwrap_or(&0) } else { 0 };
            let source = axis.first as i64 / len + index;
            from += source * strides[dim];
            // Items after the end of the slice must not be copied.
            let stop = (axis.first + axis.count) as i64;
            is_whole &= (source + 1) * len <= stop || stop == geometry.shape()[dim];
        }
        if is_whole {
            copies.push((number, from));
        }
    }
    copies
}

/// Whether a chunk has only zeros outside of the shape of the array, whose items `items` reads.
fn is_zero_outside(array: &Array, items: &mut dyn Source, number: i64) -> convert::Result<bool> {
    let geometry = array.geometry();
    let shape = geometry.shape();
    let along: Vec<i64> = (0..shape.len()).map(|dim| geometry.chunks_along(dim)).collect();
    let mut at = vec![0; shape.len()];
    unidim_to_multidim(&along, number, &mut at);
    let mut is_inside = true;
    let (mut start, mut stop) = (Vec::new(), Vec::new());
    for ((at, &len), &end) in at.iter().zip(geometry.chunkshape()).zip(shape) {
        let first = at * i64::from(len);
        is_inside &= first + i64::from(len) <= end;
        start.push(first.unsigned_abs());
        stop.push((first + i64::from(len)).min(end).unsigned_abs());
    }
    if is_inside {
        return Ok(true);
    }
    let count = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte != 0).count();
    let all = count(&array.schunk().decompress_to_vec(number)?);
    let itemsize = items.content().array.as_ref().map_or(1, |info| info.dtype.itemsize());
    let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
    let size = lengths.fold(itemsize, |size, len| size * len) as usize;
    let mut inside = Vec::new();
    inside.try_reserve_exact(size).map_err(Error::from)?;
    inside.resize(size, 0);
    items.read_box(&start, &stop, &mut inside)?;
    Ok(all == count(&inside))
}

/// Returns the chunk shape and the block shape of the result: those of the array, limited to the
/// shape of the result unless chunks are copied.
fn shapes(geometry: &Geometry, selection: &Selection, is_copied: bool) -> (Vec<i32>, Vec<i32>) {
    let limited = |extents: &[i32]| -> Vec<i32> {
        let limited = selection.kept.iter().map(|&dim| {
            let count = i32::try_from(selection.axes[dim].count).unwrap_or(i32::MAX).max(1);
            if is_copied { extents[dim] } else { extents[dim].min(count).max(1) }
        });
        limited.collect()
    };
    (limited(geometry.chunkshape()), limited(geometry.blockshape()))
}

/// Copies whole chunks, and writes the other chunks with items that are read.
fn copy_and_fill(
    (target, source): (&mut Array, &Array),
    (copies, copying): (&[(i64, i64)], Copying),
    read: ReadBox<'_>,
    (input, write_error): (&Input, &dyn Fn(Failure) -> Failure),
    progress: Progress<'_>,
) -> Outcome {
    let geometry = target.geometry();
    let ndim = geometry.shape().len();
    let along: Vec<i64> = (0..ndim).map(|dim| geometry.chunks_along(dim)).collect();
    let size = u64::from(source.schunk().chunksize().unsigned_abs());
    let mut at = vec![0; ndim];
    let mut copies = copies.iter().peekable();
    for number in 0..geometry.nchunks() {
        if let Some((_, from)) = copies.next_if(|(to, _)| *to == number) {
            let chunk = source.schunk().chunk(*from).map_err(|error| input.error(error))?;
            copying.check(source.schunk(), *from).map_err(|error| input.error(error))?;
            update(target.chunks_mut(), number, NewChunk::Copy(&chunk))
                .map_err(|error| write_error(error.into()))?;
            progress(size);
            continue;
        }
        unidim_to_multidim(&along, number, &mut at);
        let mut start = Vec::new();
        let mut extents = Vec::new();
        for (dim, &at) in at.iter().enumerate() {
            let (len, end) = (i64::from(geometry.chunkshape()[dim]), geometry.shape()[dim]);
            start.push((at * len).unsigned_abs());
            extents.push(len.min(end - at * len).unsigned_abs());
        }
        let mut of_result = |first: &[u64], last: &[u64], dest: &mut [u8]| {
            let shifted = |at: &[u64]| -> Vec<u64> {
                at.iter().zip(&start).map(|(at, start)| at + start).collect()
            };
            read(&shifted(first), &shifted(last), dest)
        };
        fill(target, (&start, &extents), &mut of_result, write_error, progress)?;
    }
    Ok(())
}

impl Selection {
    /// Parses a slice of an array.
    pub fn parse(text: &str, info: &ArrayInfo) -> Result<Selection, Failure> {
        let axes = parse(text, &info.shape)?;
        let indexed = indexed(text, info.shape.len());
        let kept = (0..info.shape.len()).filter(|&dim| !indexed[dim]).collect();
        Ok(Selection { axes, kept, itemsize: info.dtype.itemsize() })
    }

    /// Returns the shape of the result.
    pub fn shape(&self) -> Vec<u64> {
        self.kept.iter().map(|&dim| self.axes[dim].count).collect()
    }

    /// Reads the items of the result from the first to before the second index in each dimension.
    pub fn read(
        &self,
        source: &mut dyn Source,
        (start, stop): (&[u64], &[u64]),
        dest: &mut [u8],
    ) -> convert::Result<()> {
        let mut axes = self.axes.clone();
        for ((&dim, &start), &stop) in self.kept.iter().zip(start).zip(stop) {
            axes[dim] = axes[dim].part(start, stop - start);
        }
        self.gather(source, &axes, dest)
    }

    /// Reads the items at all combinations of the indices.
    fn gather(
        &self,
        source: &mut dyn Source,
        axes: &[Axis],
        dest: &mut [u8],
    ) -> convert::Result<()> {
        let bounds: Vec<(u64, u64)> = axes.iter().map(Axis::bounds).collect();
        let start: Vec<u64> = bounds.iter().map(|&(start, _)| start).collect();
        let stop: Vec<u64> = bounds.iter().map(|&(_, stop)| stop).collect();
        if axes.iter().all(|axis| axis.step == 1 || axis.count == 1) {
            return source.read_box(&start, &stop, dest);
        }
        let size = bounds
            .iter()
            .fold(self.itemsize, |size, (start, stop)| size.saturating_mul(stop - start));
        if size > MAX_BOX {
            return self.gather_halves(source, axes, dest);
        }
        let mut items = Vec::new();
        items.try_reserve_exact(size as usize).map_err(Error::from)?;
        items.resize(size as usize, 0);
        source.read_box(&start, &stop, &mut items)?;
        let width = self.itemsize as usize;
        let mut at = vec![0; axes.len()];
        for item in dest.chunks_exact_mut(width) {
            let number = axes.iter().zip(&at).zip(&bounds).fold(
                0,
                |number: u64, ((axis, &at), (start, stop))| {
                    number * (stop - start) + (axis.at(at) - start)
                },
            );
            item.copy_from_slice(&items[number as usize * width..][..width]);
            for (axis, at) in axes.iter().zip(&mut at).rev() {
                *at += 1;
                if *at < axis.count {
                    break;
                }
                *at = 0;
            }
        }
        Ok(())
    }

    /// Reads both halves along the first dimension with more than one index: they are contiguous.
    fn gather_halves(
        &self,
        source: &mut dyn Source,
        axes: &[Axis],
        dest: &mut [u8],
    ) -> convert::Result<()> {
        let dim = axes.iter().position(|axis| axis.count > 1).unwrap_or(0);
        let half = axes[dim].count / 2;
        let (mut first, mut second) = (axes.to_vec(), axes.to_vec());
        first[dim] = axes[dim].part(0, half);
        second[dim] = axes[dim].part(half, axes[dim].count - half);
        let len = dest.len() / axes[dim].count as usize * half as usize;
        let (left, right) = dest.split_at_mut(len);
        self.gather(source, &first, left)?;
        self.gather(source, &second, right)
    }
}
