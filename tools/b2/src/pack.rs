//! `compress` and `decompress`.

use crate::cli::{Cli, CompressArgs, DecompressArgs};
use crate::error::{self, Failure, Outcome};
use crate::info::worse;
use crate::io::{Input, Output, STDIO, name_stdout, refuse_terminal};
use crate::style::Style;
use crate::targets::{EXTENSION, Job, jobs};
use crate::trial;
use ferroblosc::Error;
use ferroblosc::escape::escape;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc_formats::convert::{self, Compression, Reading, Writing};
use ferroblosc_tools_common::progress::{self, bar};
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The extensions that `decompress` removes.
const PACKED_EXTENSIONS: [&str; 6] = [EXTENSION, ".cframe", ".blp", ".blosc", ".blosc1", ".blosc2"];

pub fn compress(args: &CompressArgs, cli: &Cli) -> Outcome {
    let writing = args.settings.writing(cli)?;
    let jobs = jobs(args)?;
    let is_single = jobs.len() == 1;
    // The outputs so far and their inputs.
    let mut done = HashMap::new();
    let mut worst = None;
    for job in jobs {
        let compressed = job.and_then(|job| compress_file(&job, args, cli, &writing, &mut done));
        match compressed {
            Err(Failure::Error { text, hint, status, names_path }) if !is_single => {
                error::report(&Failure::Error { text, hint, status, names_path });
                worst = Some(worst.map_or(status, |worst| worse(worst, status)));
            }
            other => other?,
        }
    }
    worst.map_or(Ok(()), |status| Err(Failure::Reported(status)))
}

/// Compresses a file. `done` contains the outputs of this command and their inputs.
fn compress_file(
    job: &Job,
    args: &CompressArgs,
    cli: &Cli,
    writing: &Writing,
    done: &mut HashMap<PathBuf, PathBuf>,
) -> Outcome {
    let start = Instant::now();
    let is_stdin = job.input == Path::new(STDIO);
    let removes_input = args.rm && !is_stdin;
    if args.rm && job.output == Path::new(STDIO) {
        return Err(Failure::usage("--rm: the output is not a file"));
    }
    if job.output == Path::new(STDIO) {
        refuse_terminal(args.settings.force)?;
    }
    let (mut reader, metadata): (Box<dyn ReadFile>, _) = if is_stdin {
        (Box::new(std::io::stdin().lock()), None)
    } else {
        let file = NamedFile::open(&job.input)?;
        let at_path = |error| Failure::from(error).at(&job.input);
        let metadata = file.file().metadata().map_err(at_path)?;
        if metadata.is_dir() {
            let shown = job.input.display();
            return Err(Failure::new(format!("{shown}: is a directory")).with_hint(format!(
                "'-r' compresses each of its files, 'tar c {shown} | b2 compress - OUT' all in one frame; '-o {shown}' writes frames into it"
            )));
        }
        (Box::new(file), Some(metadata))
    };
    if removes_input && !job.input.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err(Failure::new("--rm removes regular files only").at(&job.input));
    }
    let made = if job.makes_parents { make_parents(&job.output)? } else { Vec::new() };
    check_is_new(job, done)?;
    let output = Output::new(&job.output, args.settings.force)?;
    if args.rm && !output.is_staged() {
        return Err(Failure::usage("--rm: the output is not a file").at(&job.output));
    }
    let size = metadata.as_ref().filter(|found| found.is_file()).map(Metadata::len);
    let chosen = with_choice(reader.as_mut(), size, args, writing);
    let (first, typesize, writing) =
        chosen.map_err(|failure| output.error(failure.at(&job.input)))?;
    let bar = bar(!cli.quiet, size);
    let mut reader = first.as_slice().chain(reader.as_mut());
    let mut counted = progress::ProgressReader { reader: &mut reader, bar: bar.clone() };
    let target = (output.path(), args.settings.directory);
    let compressed = convert::compress(&mut counted, typesize, target, &writing);
    bar.finish_and_clear();
    let nbytes = compressed.map_err(|error| output.error(Failure::from(error).at(&job.input)))?;
    let stored = stored_size(output.path());
    let is_staged = output.is_staged();
    if removes_input {
        output.sync()?;
    }
    output.commit()?;
    if removes_input {
        let synced = staging::sync_parent(&job.output)
            .and_then(|()| made.iter().try_for_each(|folder| staging::sync_parent(folder)));
        synced.map_err(|error| named(error, Error::FileWrite, "write to", &job.output))?;
        remove_input(&job.input, metadata.as_ref())?;
    }
    if is_staged && !cli.quiet && std::io::stderr().is_terminal() {
        let ratio = match stored {
            1.. if nbytes > 0 => format!(" ({:.2}x)", nbytes as f64 / stored as f64),
            _ => String::new(),
        };
        let line = format!(
            "{} -> {}  {} -> {}{ratio} {:.2} s\n",
            escape(&job.input.display().to_string()),
            Style::stderr().bold(&escape(&job.output.display().to_string())),
            human(nbytes),
            human(stored),
            start.elapsed().as_secs_f64(),
        );
        // A failed write to standard error cannot be reported.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    Ok(())
}

/// An input of `compress`.
trait ReadFile: Read {
    /// Returns the open file, unless it is standard input.
    fn file(&self) -> Option<&fs::File>;
}

impl ReadFile for NamedFile {
    fn file(&self) -> Option<&fs::File> {
        Some(self.file())
    }
}

impl ReadFile for std::io::StdinLock<'_> {
    fn file(&self) -> Option<&fs::File> {
        None
    }
}

/// Chooses the item size and the filters, unless the size is given. Returns the bytes that were
/// read for this, the item size and the parameters. `size` is the size of a regular file in bytes.
fn with_choice(
    reader: &mut dyn ReadFile,
    size: Option<u64>,
    args: &CompressArgs,
    writing: &Writing,
) -> Result<(Vec<u8>, u64, Writing), Failure> {
    if let Some(typesize) = args.typesize {
        return Ok((Vec::new(), typesize.into(), writing.clone()));
    }
    let mut first = Vec::new();
    let most = if size.is_some() { trial::SAMPLE_BYTES } else { trial::PREFIX_BYTES };
    reader.take(most as u64).read_to_end(&mut first)?;
    let chunk = writing.chunk_bytes.and_then(|size| usize::try_from(size).ok());
    let chunk = chunk.unwrap_or(usize::MAX);
    let base = writing.compression.clone().unwrap_or_default();
    let is_fixed = !args.settings.filters.is_empty();
    let nthreads = i16::try_from(writing.nthreads).unwrap_or(i16::MAX);
    let choice = trial::choose(&first, reader.file().zip(size), chunk, &base, is_fixed, nthreads)?;
    let compression = Compression { filters: choice.filters, ..base };
    let writing = Writing { compression: Some(compression), ..writing.clone() };
    Ok((first, choice.typesize.into(), writing))
}

/// Fails if another input of this command has the same output.
fn check_is_new(job: &Job, done: &mut HashMap<PathBuf, PathBuf>) -> Outcome {
    let path = fs::canonicalize(&job.output).or_else(|_| {
        let parent = job.output.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::canonicalize(parent.unwrap_or(Path::new(".")))?;
        Ok::<_, std::io::Error>(parent.join(job.output.file_name().unwrap_or_default()))
    });
    let path = path.unwrap_or_else(|_| job.output.clone());
    match done.get(&path) {
        Some(other) => {
            let (input, shown, other) =
                (job.input.display(), job.output.display(), other.display());
            Err(Failure::new(format!("{input}: its output {shown} is that of {other}")))
        }
        None => {
            done.insert(path, job.input.clone());
            Ok(())
        }
    }
}

/// Creates the missing directories of an output. Returns them.
fn make_parents(output: &Path) -> Result<Vec<PathBuf>, Failure> {
    let parents = output.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        parents.take_while(|parent| !parent.is_dir()).map(Path::to_owned).collect();
    missing.reverse();
    for folder in &missing {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists || !folder.is_dir() => {
                return Err(named(error, Error::FileOpen, "create", folder).into());
            }
            _ => {}
        }
    }
    Ok(missing)
}

/// Returns the size of a file, or of the files of a directory, in bytes.
fn stored_size(path: &Path) -> u64 {
    let len = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| len(&entry.path())).sum(),
        Err(_) => len(path),
    }
}

/// Removes a compressed file, unless it was changed or replaced since it was opened.
fn remove_input(path: &Path, opened: Option<&Metadata>) -> Outcome {
    let identity = |found: &Metadata| {
        (found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec())
    };
    let now = path.symlink_metadata();
    if now.is_ok_and(|now| Some(identity(&now)) == opened.map(identity)) {
        Ok(fs::remove_file(path).map_err(|error| named(error, Error::FileWrite, "remove", path))?)
    } else {
        Err(Failure::new("was changed during the compression, and is kept").at(path))
    }
}

pub fn decompress(args: &DecompressArgs, cli: &Cli) -> Outcome {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STDIO) => PathBuf::from(STDIO),
        None => {
            let name = args.input.to_string_lossy();
            let stripped = PACKED_EXTENSIONS.iter().find_map(|end| name.strip_suffix(end));
            match stripped.filter(|name| !name.is_empty() && !name.ends_with('/')) {
                Some(name) => PathBuf::from(name),
                None => {
                    let known = PACKED_EXTENSIONS.join(", ");
                    return Err(Failure::usage(format!(
                        "{name}: the name ends with none of {known}"
                    ))
                    .replacing_hint("set OUT, or '-' for standard output"));
                }
            }
        }
    };
    let input = Input::new(&args.input)?;
    let found = input.detect()?;
    let reading = Reading { column: None, nthreads: cli.nthreads() };
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.error(error))?;
    let bar = bar(!cli.quiet, Some(source.content().nbytes));
    let mut progress = |bytes| bar.inc(bytes);
    let written = if output == Path::new(STDIO) {
        // Bytes are written sequentially, without a temporary file.
        let mut pipe = std::io::stdout().lock();
        let mut pipe = NamedStdout(&mut pipe);
        convert::write_to(source.as_mut(), &mut pipe, &mut progress)
            .map(|()| None)
            .map_err(|error| input.error(error))
    } else {
        let output = Output::new(&output, args.force)?;
        let file =
            NamedFile::create(output.path()).map_err(|error| output.error(Failure::from(error)))?;
        let mut writer = BufWriter::with_capacity(256 << 10, file);
        match convert::write_to(source.as_mut(), &mut writer, &mut progress) {
            Ok(()) => Ok(Some(output)),
            Err(error) => Err(output.error(input.error(error))),
        }
    };
    bar.finish_and_clear();
    match written? {
        Some(output) => output.commit(),
        None => Ok(()),
    }
}

/// Standard output, named in its errors.
struct NamedStdout<'w, W>(&'w mut W);

impl<W: Write> Write for NamedStdout<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes).map_err(name_stdout)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(name_stdout)
    }
}
