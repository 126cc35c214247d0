//! `recompress`: rewrites frames and arrays with other compression parameters, chunks or blocks.
//!
//! Items, types and metadata stay unchanged. The new frame is written next to its target, compared
//! with the old one item by item, and renamed.

use crate::cli::{Cli, RecompressArgs, Shape};
use crate::error::{Failure, Outcome};
use crate::fill::{Copying, fill};
use crate::folders::Folders;
use crate::info::for_each_path;
use crate::inplace::{FrameToChange, detect_frame, keep_other_files, other_files, threads};
use crate::io::{Output, Overwritten, STDIO, refuse_inside, refuse_json, refuse_terminal};
use crate::json;
use crate::names::check_frame_name;
use crate::pack::stored_size;
use crate::state::{INDEX, state_of};
use crate::style::Style;
use ferroblosc::Error;
use ferroblosc::chunk::header::VERSION_VL;
use ferroblosc::chunk::{BasicHeader, DParams};
use ferroblosc::escape::escape;
use ferroblosc::io::named::named;
use ferroblosc::schunk::{SChunk, Storage, copy};
use ferroblosc_formats::convert::{
    self, Compression, Destination, Detected, Format, NewArray, OneChange, Progress, Reading,
    SourceOptions, Summary, Writing,
};
use ferroblosc_formats::numpy::ArrayInfo;
use ferroblosc_tools_common::progress::bar;
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging::{self, Staged};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf, is_separator};

pub fn run(args: &RecompressArgs, cli: &Cli) -> Outcome {
    let is_stdout = args.output.as_deref() == Some(Path::new(STDIO));
    if is_stdout {
        if args.paths.len() > 1 {
            return Err(Failure::usage("several frames cannot be written to standard output"));
        }
        refuse_json(args.json, Path::new(STDIO))?;
        refuse_terminal(args.settings.force)?;
    }
    // The names of each input, by its real path.
    let mut inputs: HashMap<PathBuf, Vec<&PathBuf>> = HashMap::new();
    for path in &args.paths {
        if let Ok(real) = fs::canonicalize(path) {
            inputs.entry(real).or_default().push(path);
        }
    }
    if let Some(output) = &args.output {
        refuse_inside(output, |path| inputs.contains_key(path))?;
    }
    let directory = directory_of(args)?;
    if directory.is_none()
        && let Some(output) = &args.output
    {
        check_frame_name(output)?;
    }
    let mut values = Vec::new();
    let mut written = HashSet::new();
    let result = for_each_path(&args.paths, |path| {
        let job = Job::new(path, args, cli)?;
        let output = match (&args.output, &directory) {
            (_, Some(directory)) => Some(directory.join(path.file_name().unwrap_or_default())),
            (output, None) => output.clone(),
        };
        if let Some(output) = &output
            && let Some(names) = fs::canonicalize(output).ok().and_then(|real| inputs.get(&real))
            && names.iter().any(|other| other.as_path() != path)
        {
            let shown = output.display();
            let text = format!("its output {shown} is another input, which would be lost");
            return Err(Failure::new(text).at(path));
        }
        if let Some(output) = &output {
            refuse_inside(output, |path| inputs.contains_key(path))?;
        }
        let (before, after) = match &output {
            Some(output) if !written.insert(output.clone()) => {
                let shown = output.display();
                let text = format!("its output {shown} is that of another input");
                return Err(Failure::new(text).at(path));
            }
            Some(output) => job.write_new(output)?,
            None => job.replace()?,
        };
        if is_stdout {
            return Ok(());
        }
        let shown = output.as_deref().unwrap_or(path);
        if args.json {
            values.push(json!({
                "path": path.to_string_lossy(),
                "output": shown.to_string_lossy(),
                "nbytes": job.summary.nbytes,
                "stored_before": before,
                "stored_bytes": after,
            }));
            return Ok(());
        }
        let shown = Style::stdout().bold(&escape(&shown.display().to_string()));
        Ok(writeln!(crate::io::stdout(), "{shown}: {} -> {}", human(before), human(after))?)
    });
    if args.json {
        json::print(&values.into())?;
    }
    result
}

/// Returns the directory of the outputs, if the output is one, and creates it.
fn directory_of(args: &RecompressArgs) -> Result<Option<PathBuf>, Failure> {
    let Some(output) = &args.output else {
        return Ok(None);
    };
    let is_directory = args.paths.len() > 1
        || output
            .as_os_str()
            .as_encoded_bytes()
            .last()
            .is_some_and(|&last| is_separator(last.into()))
        || output.is_dir() && convert::detect(output).is_err();
    if !is_directory {
        return Ok(None);
    }
    let mut folders = Folders::default();
    folders.make(output)?;
    if args.settings.is_durable() {
        let synced = folders.sync_parents(&output.join("output"), staging::sync_parent);
        synced.map_err(|error| named(error, Error::FileWrite, "write to", output))?;
    }
    Ok(Some(output.clone()))
}

/// A frame to recompress.
struct Job<'a> {
    path: &'a Path,
    args: &'a RecompressArgs,
    cli: &'a Cli,
    /// The locked frame, if it is changed in place.
    target: Option<FrameToChange>,
    found: Detected,
    summary: Summary,
}

impl<'a> Job<'a> {
    fn new(path: &'a Path, args: &'a RecompressArgs, cli: &'a Cli) -> Result<Job<'a>, Failure> {
        if path == Path::new(STDIO) {
            return Err(Failure::usage("cannot recompress standard input")
                .replacing_hint("'b2 convert - OUT' reads standard input"));
        }
        let (target, found) = if args.in_place {
            let target = FrameToChange::open(path)?;
            let found = *target.found();
            (Some(target), found)
        } else {
            (None, detect_frame(path)?)
        };
        let summary =
            convert::summarise(path, &found).map_err(|error| Failure::from(error).at(path))?;
        Ok(Job { path, args, cli, target, found, summary })
    }

    fn is_directory(&self) -> bool {
        self.args.settings.directory || self.found.is_directory
    }

    /// Writes the new frame to another path. Returns the sizes of both files.
    fn write_new(&self, path: &Path) -> Result<(u64, u64), Failure> {
        let overwritten = Overwritten::find(path, self.args.settings.force, [self.path])?;
        let output = Output::new(path, self.args.settings.force)?
            .over(overwritten)
            .durable(self.args.settings.durable);
        let written = self.write(output.path());
        written.map_err(|failure| output.error(failure))?;
        let sizes = (stored_size(self.path), stored_size(output.path()));
        output.commit()?;
        Ok(sizes)
    }

    /// Replaces the frame. Returns its sizes before and after.
    fn replace(&self) -> Result<(u64, u64), Failure> {
        let target = self.target.as_ref().ok_or(Error::Failure)?;
        let path = target.path();
        let failed = |operation, error| {
            let error = named(error, Error::FileWrite, operation, self.path);
            Failure::from(error)
        };
        let state = state_of(path, &self.found).map_err(|failure| target.error(failure))?;
        other_files(path, &self.found).map_err(|failure| target.error(failure))?;
        let mut staged =
            Staged::new(path).map_err(|error| failed("create a file next to", error))?;
        let written = self.write(staged.path());
        written.map_err(|failure| target.error(failure.of_target(staged.path(), path)))?;
        let sizes = (stored_size(path), stored_size(staged.path()));
        let index = if self.found.is_directory { path.join(INDEX) } else { path.into() };
        fs::metadata(index)
            .and_then(|metadata| staged.copy_permissions(&metadata))
            .map_err(|error| failed("set the mode of", error))?;
        staged.sync().map_err(|error| target.error(error))?;
        keep_other_files(path, &self.found, staged.path())
            .map_err(|failure| target.error(failure))?;
        if state_of(path, &self.found).map_err(|failure| target.error(failure))? != state {
            return Err(
                target.error(Failure::new("was changed by another program and left unchanged"))
            );
        }
        let committed = staged.commit();
        committed.map_err(|error| {
            target.error(named(error, Error::FileWrite, "rename a file to", path))
        })?;
        Ok(sizes)
    }

    /// Writes the new frame and compares it with the old one.
    fn write(&self, output: &Path) -> Outcome {
        let at_input = |error: convert::Error| Failure::from(error).at(self.path);
        let nthreads = self.cli.nthreads();
        let reading = Reading::with_threads(nthreads);
        let params = convert::params_of(self.path, &self.found, &reading).map_err(at_input)?;
        let settings = &self.args.settings;
        let is_missing = params.is_none() && settings.codec.is_none();
        if is_missing {
            return Err(Failure::new("the codec of the data is not installed")
                .with_hint("select another one with '--codec'")
                .at(self.path));
        }
        let params = params.unwrap_or_default();
        let mut writing = settings.writing_like(self.cli, params.clone())?;
        writing.compression.get_or_insert(params);
        writing.checksums =
            settings.checksums || !settings.no_checksums && self.summary.checksum.is_some();
        // The data are read twice.
        let bar = bar(!self.cli.quiet, Some(self.summary.nbytes.saturating_mul(2)));
        let advance = |bytes| bar.inc(bytes);
        let written = self.write_with(output, &writing, &advance);
        let compared = written.and_then(|()| self.compare(output, &reading, &advance));
        bar.finish_and_clear();
        compared
    }

    fn write_with(
        &self,
        output: &Path,
        writing: &Writing,
        advance: &(dyn Fn(u64) + Sync),
    ) -> Outcome {
        let mut progress = |bytes| advance(bytes);
        if self.found.format == Format::B2nd {
            return self.write_array(output, writing, &mut progress);
        }
        if self.args.chunks.is_some() || self.args.blocks.is_some() {
            return Err(Failure::usage("--chunks and --blocks are for arrays")
                .replacing_hint("'--chunk-size' is the size of a super-chunk's chunks")
                .at(self.path));
        }
        if writing.chunk_bytes.is_none() {
            return self.write_chunks(output, writing, &mut progress);
        }
        let destination = Destination::Frame { directory: self.is_directory() };
        let converted = convert::convert(
            (self.path, &self.found),
            (output, destination),
            (&Reading::with_threads(writing.nthreads), &SourceOptions::default()),
            writing,
            &mut progress,
        );
        converted.map(drop).map_err(|error| Failure::from(error).at(self.path))
    }

    fn storage(&self, path: &Path, is_directory: bool) -> Storage {
        if is_directory { Storage::directory(path) } else { Storage::file(path) }
    }

    /// Compresses the chunks of a super-chunk one by one. Their sizes stay the same.
    fn write_chunks(&self, output: &Path, writing: &Writing, progress: Progress<'_>) -> Outcome {
        let at_input = |error: Error| Failure::from(error).at(self.path);
        let nthreads = threads(writing.nthreads);
        let dparams = DParams::default().threads(nthreads);
        let storage = self.storage(self.path, self.found.is_directory);
        let source = SChunk::open(storage, dparams).map_err(at_input)?;
        let state = source.state();
        let compression: Compression = writing.compression.clone().unwrap_or_default();
        let params = compression.params(source.typesize(), nthreads);
        let mut storage = self.storage(output, self.is_directory());
        if writing.checksums {
            storage = storage.checksums();
        }
        if writing.durable {
            storage = storage.durable();
        }
        let change = OneChange::of_stored(source.nchunks().unsigned_abs(), self.is_directory());
        let mut target = SChunk::create(change.storage(storage), params, DParams::default())?;
        copy::copy_head(state, target.state_mut())?;
        change.begin(target.state_mut())?;
        let copying = Copying::to(writing.checksums);
        let mut data = Vec::new();
        for number in 0..source.nchunks() {
            let chunk = source.chunk(number).map_err(at_input)?;
            let header = BasicHeader::parse(&chunk).map_err(at_input)?;
            if header.version == VERSION_VL {
                // Blocks of variable length have no other form.
                copying
                    .check(&source, number)
                    .map_err(|error| Failure::from(error).at(self.path))?;
                target.append_chunk(&chunk)?;
            } else {
                let size = usize::try_from(header.nbytes).map_err(|_| Error::InvalidHeader)?;
                data.clear();
                data.try_reserve_exact(size).map_err(Error::from)?;
                data.resize(size, 0);
                source.decompress(number, &mut data).map_err(at_input)?;
                target.append(&data)?;
            }
            progress(u64::from(header.nbytes.unsigned_abs()));
        }
        copy::copy_vlmetalayers(state, target.state_mut())?;
        change.commit(target.state_mut())?;
        Ok(target.close()?)
    }

    fn write_array(&self, output: &Path, writing: &Writing, progress: Progress<'_>) -> Outcome {
        let at_input = |error: convert::Error| Failure::from(error).at(self.path);
        let reading = Reading::with_threads(writing.nthreads);
        let source = convert::open_as(self.path, &self.found, &reading);
        let mut source = source.map_err(at_input)?;
        let info = source.content().array.clone();
        let info = info.ok_or_else(|| at_input(Error::Failure.into()))?;
        let shapes = self.shapes(&info, writing)?;
        let target = (output, self.is_directory());
        let created =
            NewArray::create((self.path, &self.found), target, &info, Some(shapes), writing);
        let mut created = created.map_err(at_input)?;
        let mut read = |start: &[u64], stop: &[u64], dest: &mut [u8]| {
            source.read_box(start, stop, dest).map_err(at_input)
        };
        let to = vec![0; info.shape.len()];
        let part = (to.as_slice(), info.shape.as_slice());
        fill(&mut created.array, part, &mut read, &|failure| failure, progress)?;
        let lost = created.finish()?;
        match lost.first() {
            Some(lost) => Err(Failure::new(format!("would not be kept: {lost}")).at(self.path)),
            None => Ok(()),
        }
    }

    /// Returns the chunk shape and the block shape of the new array.
    fn shapes(&self, info: &ArrayInfo, writing: &Writing) -> Result<(Vec<i32>, Vec<i32>), Failure> {
        let args = self.args;
        let partitions = self.summary.partitions.clone();
        let (old_chunks, old_blocks) = partitions.ok_or(Error::Failure)?;
        let narrow = |extents: &[u64]| -> Result<Vec<i32>, Failure> {
            let narrow = extents.iter().map(|&len| i32::try_from(len));
            Ok(narrow.collect::<Result<_, _>>().map_err(|_| Error::InvalidParam)?)
        };
        let given = |option: &str, shape: &Shape| {
            if shape.0.len() != info.shape.len() || shape.0.contains(&0) {
                let ndim = info.shape.len();
                return Err(Failure::usage(format!(
                    "{option}: {ndim} extents of at least 1 are needed, one for each dimension"
                )));
            }
            let text = format!("{option}: an extent must be at most {}", i32::MAX);
            narrow(&shape.0).map_err(|_| Failure::usage(text))
        };
        let chunks = match (&args.chunks, writing.chunk_bytes) {
            (Some(shape), _) => given("--chunks", shape)?,
            (None, Some(_)) => convert::partitions(info, writing)?.0,
            (None, None) => narrow(&old_chunks)?,
        };
        let blocks = match (&args.blocks, &args.settings.block_size, old_blocks) {
            (Some(shape), _, _) => {
                let blocks = given("--blocks", shape)?;
                if blocks.iter().zip(&chunks).any(|(block, chunk)| block > chunk) {
                    let text = "--blocks: a block must not be longer than a chunk";
                    return Err(Failure::usage(text));
                }
                blocks
            }
            (None, None, Some(blocks)) if writing.chunk_bytes.is_none() => {
                let blocks = narrow(&blocks)?;
                blocks.iter().zip(&chunks).map(|(block, chunk)| *block.min(chunk)).collect()
            }
            _ => {
                let size = writing.compression.as_ref().map_or(0, |params| params.blocksize);
                convert::blocks_of(&chunks, info.dtype.itemsize(), size)?
            }
        };
        Ok((chunks, blocks))
    }

    /// Fails if the new frame has other data.
    fn compare(&self, output: &Path, reading: &Reading, advance: &(dyn Fn(u64) + Sync)) -> Outcome {
        let at_input = |error: convert::Error| Failure::from(error).at(self.path);
        let mut old = convert::open_as(self.path, &self.found, reading).map_err(at_input)?;
        let found = convert::detect(output)?;
        let mut new = convert::open_as(output, &found, reading)?;
        let nbytes = old.content().nbytes;
        let size = (old.content().read_size as u64).max(1);
        let mut is_same = new.content().nbytes == nbytes;
        let mut position = 0;
        let (mut one, mut other) = (Vec::new(), Vec::new());
        while is_same && position < nbytes {
            let count = size.min(nbytes - position) as usize;
            for bytes in [&mut one, &mut other] {
                bytes.try_reserve_exact(count.saturating_sub(bytes.len())).map_err(Error::from)?;
                bytes.resize(count, 0);
            }
            old.read(position, &mut one).map_err(at_input)?;
            new.read(position, &mut other)?;
            is_same = one == other;
            position += count as u64;
            advance(count as u64);
        }
        if is_same {
            return Ok(());
        }
        Err(Failure::new("the recompressed data differ, nothing was written")
            .with_hint(
                "the codec or a filter changes data; select others with '--codec' and '--filters'",
            )
            .at(self.path))
    }
}
