//! `compress` and `decompress`.

use crate::auto;
use crate::cli::{Cli, CompressArgs, DecompressArgs};
use crate::error::{self, Failure, Outcome};
use crate::folders::Folders;
use crate::info::worse;
use crate::io::{
    Output, Overwritten, STDIN, STDIO, Stdin, check_space, refuse_directory_name, refuse_terminal,
    stdout,
};
use crate::lock::locked_file;
use crate::members;
use crate::paths;
use crate::style::Style;
use crate::targets::{EXTENSION, Job, jobs};
use crate::trial;
use ferroblosc::Error;
use ferroblosc::escape::escape;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc::io::{Backend, FileOps, FileSystem, Mode, journal};
use ferroblosc::os::files;
use ferroblosc_formats::convert::{self, Reading, Writing};
use ferroblosc_tools_common::identity::Identity;
use ferroblosc_tools_common::progress::{self, bar};
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The extensions that `decompress` removes.
const PACKED_EXTENSIONS: [&str; 6] = [EXTENSION, ".cframe", ".blp", ".blosc", ".blosc1", ".blosc2"];

pub fn compress(args: &CompressArgs, cli: &Cli) -> Outcome {
    let writing = args.settings.writing(cli)?;
    let jobs = jobs(args)?;
    let is_single = jobs.len() == 1;
    let mut state = CommandState::default();
    let mut worst = None;
    for job in jobs {
        let compressed = job.and_then(|job| compress_file(&job, args, cli, &writing, &mut state));
        if compressed.is_err() {
            state.folders.remove_empty();
        }
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

/// The state of a command that compresses several files.
#[derive(Default)]
struct CommandState {
    /// The outputs so far and their inputs.
    done: HashMap<PathBuf, PathBuf>,
    folders: Folders,
}

/// Compresses a file.
fn compress_file(
    job: &Job,
    args: &CompressArgs,
    cli: &Cli,
    writing: &Writing,
    state: &mut CommandState,
) -> Outcome {
    let start = Instant::now();
    let is_stdin = job.input == Path::new(STDIO);
    let name = if is_stdin { Path::new(STDIN) } else { &job.input };
    let removes_input = args.rm && !is_stdin;
    if args.rm && job.output == Path::new(STDIO) {
        return Err(Failure::usage("--rm: the output is not a file"));
    }
    if job.output == Path::new(STDIO) {
        refuse_terminal(args.settings.force)?;
    }
    let inputs = (!is_stdin).then_some(job.input.as_path());
    let overwritten = Overwritten::find(&job.output, args.settings.force, inputs)?;
    let (mut reader, opened): (Box<dyn ReadFile>, _) = if is_stdin {
        (Box::new(Stdin), None)
    } else {
        let file = NamedFile::open(&job.input)?;
        let at_path = |error| Failure::from(error).at(&job.input);
        let metadata = file.file().metadata().map_err(at_path)?;
        if metadata.is_dir() {
            let shown = job.input.display();
            let argument = paths::argument(&job.input);
            return Err(Failure::new(format!("{shown}: is a directory")).with_hint(format!(
                "'-r' compresses each of its files, 'tar c {argument} | b2 compress - OUT' all in one frame; '-o {argument}' writes frames into it"
            )));
        }
        if metadata.is_file() {
            check_journals(&job.input)?;
        }
        let identity = Identity::of(file.file()).map_err(at_path)?;
        (Box::new(file), Some((metadata, identity)))
    };
    if removes_input && !job.input.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Err(Failure::new("--rm removes regular files only").at(&job.input));
    }
    if job.makes_parents {
        state.folders.make_parents(&job.output)?;
    }
    check_is_new(job, &mut state.done)?;
    let mut output = Output::new(&job.output, args.settings.force)?
        .over(overwritten)
        .durable(args.settings.durable);
    if args.rm && !output.is_staged() {
        return Err(Failure::usage("--rm: the output is not a file").at(&job.output));
    }
    let metadata = opened.as_ref().map(|(found, _)| found).filter(|found| found.is_file());
    let size = metadata.map(Metadata::len);
    let chosen = with_choice(reader.as_mut(), size, (args, cli, name), writing);
    let (first, typesize, writing) = chosen.map_err(|failure| output.error(failure.at(name)))?;
    let bar = bar(!cli.quiet, size);
    let mut reader = first.as_slice().chain(reader.as_mut());
    let mut counted = progress::ProgressReader { reader: &mut reader, bar: bar.clone() };
    let target = (output.path(), args.settings.directory);
    let compressed = convert::compress((&mut counted, size), typesize, target, &writing);
    bar.finish_and_clear();
    let nbytes = compressed.map_err(|error| output.error(Failure::from(error).at(name)))?;
    let stored = stored_size(output.path());
    let is_staged = output.is_staged();
    if let Some(metadata) = metadata {
        copy_attributes(&mut output, metadata)?;
    }
    if removes_input {
        output.sync()?;
    }
    output.commit()?;
    let write_error = |error| named(error, Error::FileWrite, "write to", &job.output);
    if removes_input || args.settings.is_durable() {
        state.folders.sync_parents(&job.output, staging::sync_parent).map_err(write_error)?;
    }
    if removes_input {
        staging::sync_parent(&job.output).map_err(write_error)?;
        remove_input(&job.input, opened.as_ref().map(|(_, identity)| identity), nbytes)?;
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

impl ReadFile for Stdin {
    fn file(&self) -> Option<&fs::File> {
        None
    }
}

/// Chooses the item size and the filters, unless the size is given. Returns the bytes that were
/// read for this, the item size and the parameters. `size` is the size of a regular file in bytes.
fn with_choice(
    reader: &mut dyn ReadFile,
    size: Option<u64>,
    (args, cli, name): (&CompressArgs, &Cli, &Path),
    writing: &Writing,
) -> Result<(Vec<u8>, u64, Writing), Failure> {
    if let (Some(typesize), None) = (args.typesize, args.auto.auto) {
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
    let file = reader.file().zip(size);
    let (typesize, filters) = match args.typesize {
        Some(typesize) => (typesize, base.filters.clone()),
        None => {
            let choice = trial::choose(&first, file, chunk, &base, is_fixed, nthreads)?;
            (choice.typesize, choice.filters)
        }
    };
    let mut compression = base;
    compression.filters = filters;
    let mut writing = writing.clone();
    writing.compression = Some(compression);
    if let Some(goal) = args.auto.auto {
        // The sample of a pipe is taken from its first bytes.
        let nbytes = file.map_or(first.len() as u64, |(_, size)| size);
        let mut read = |offset: u64, dest: &mut [u8]| -> Outcome {
            match file {
                Some((file, _)) => files::read_exact_at(file, offset, dest)?,
                None => dest.copy_from_slice(&first[offset as usize..][..dest.len()]),
            }
            Ok(())
        };
        let data = auto::Data { nbytes, typesize: typesize.into(), read: &mut read };
        auto::apply(data, goal, (name, cli), &mut writing)?;
    }
    Ok((first, typesize.into(), writing))
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

/// Gives a staged output the time of the last change, the permissions, and if possible the owner of
/// its input. In a directory, the index has the time.
fn copy_attributes(output: &mut Output, input: &Metadata) -> Outcome {
    if output.is_staged() {
        let file = fs::File::options().write(true).open(locked_file(output.path()));
        // Some file systems do not store times.
        let _ = file.and_then(|file| file.set_modified(input.modified()?));
    }
    output.copy_permissions(input)
}

/// Returns the size of a file, or of the files of a directory, in bytes.
pub fn stored_size(path: &Path) -> u64 {
    let len = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| len(&entry.path())).sum(),
        Err(_) => len(path),
    }
}

/// Fails for a file whose last change was interrupted or is underway. Without its journal, its bytes
/// are neither those before the change nor those after it.
fn check_journals(path: &Path) -> Outcome {
    for suffix in [journal::FRAME_SUFFIX, journal::CONTAINER_SUFFIX] {
        let journal = journal::path_of(&FileSystem, path, suffix);
        if FileSystem.attributes(&journal).is_none() {
            continue;
        }
        let failed = |error| Failure::from(error).at(path);
        let file = FileSystem.open(path, Mode::Read).map_err(failed)?;
        let attributes = file.attributes();
        let found =
            journal::inspect(&FileSystem, &journal, (&*file, attributes.as_ref()), |_| true);
        match found.map_err(failed)? {
            journal::Found::Hot(_) => {
                let argument = paths::argument(path);
                let hint = format!("'b2 repair --write {argument}' undoes the change");
                return Err(Failure::new("a change was interrupted").at(path).with_hint(hint));
            }
            journal::Found::Active => {
                return Err(Failure::new("is being changed by another program").at(path));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes a compressed file and its journals, unless it was changed or replaced since it was opened, or its size is
/// not `nbytes`, the number of bytes that were read.
fn remove_input(path: &Path, opened: Option<&Identity>, nbytes: u64) -> Outcome {
    let was_read = |opened: &Identity| {
        Identity::at(path).is_ok_and(|now| now == *opened) && opened.len == nbytes
    };
    if opened.is_some_and(was_read) {
        fs::remove_file(path).map_err(|error| named(error, Error::FileWrite, "remove", path))?;
        journal::discard_all(path);
        Ok(())
    } else {
        Err(Failure::new("was changed during the compression and left unchanged").at(path))
    }
}

/// Returns a path without the extension of compressed files, in any case, if it has one.
fn without_extension(path: &Path) -> Option<PathBuf> {
    let extension = path.extension()?;
    // Not so for a path that ends with a separator.
    let is_at_end = path.as_os_str().as_encoded_bytes().ends_with(extension.as_encoded_bytes());
    let is_packed =
        PACKED_EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(&known[1..]));
    (is_at_end && is_packed).then(|| path.with_extension(""))
}

pub fn decompress(args: &DecompressArgs, cli: &Cli) -> Outcome {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STDIO) => PathBuf::from(STDIO),
        None => match without_extension(&args.input) {
            // `-` alone is standard output.
            Some(name) if name == Path::new(STDIO) => Path::new(".").join(name),
            Some(name) => name,
            None => {
                let name = args.input.display();
                let known = PACKED_EXTENSIONS.join(", ");
                return Err(Failure::usage(format!("{name}: the name ends with none of {known}"))
                    .replacing_hint("set OUT, or '-' for standard output"));
            }
        },
    };
    let input = members::open_data(&args.input)?;
    input.refuse_nesting(&output)?;
    let overwritten = Overwritten::find(&output, args.force, [input.path()])?;
    // Standard input and objects in stores have no permissions.
    let metadata = match &args.input {
        name if name == Path::new(STDIO) => None,
        name => fs::metadata(locked_file(name)).ok().filter(Metadata::is_file),
    };
    let found = input.detect()?;
    let reading = Reading::with_threads(cli.nthreads());
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.error(error))?;
    let bar = bar(!cli.quiet, Some(source.content().nbytes));
    let mut progress = |bytes| bar.inc(bytes);
    let written = if output == Path::new(STDIO) {
        // Bytes are written sequentially, without a temporary file.
        convert::write_to(source.as_mut(), &mut stdout(), &mut progress)
            .map(|()| None)
            .map_err(|error| input.error(error))
    } else {
        let name = output;
        refuse_directory_name(&name)?;
        let output = Output::new(&name, args.force)?.over(overwritten);
        check_space(output.path(), source.content().nbytes, args.force)
            .map_err(|failure| failure.at(&name))?;
        let file =
            NamedFile::create(output.path()).map_err(|error| output.error(Failure::from(error)))?;
        let mut writer = BufWriter::with_capacity(256 << 10, file);
        match convert::write_to(source.as_mut(), &mut writer, &mut progress) {
            Ok(()) => Ok(Some(output)),
            Err(error) => Err(output.error(input.error(error))),
        }
    };
    bar.finish_and_clear();
    let Some(mut output) = written? else {
        return Ok(());
    };
    if let Some(metadata) = metadata {
        copy_attributes(&mut output, &metadata)?;
    }
    output.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc_tools_common::staging::Folder;
    use std::ffi::OsStr;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn a_changed_input_is_kept() {
        let folder = Folder::temporary("b2-changed").unwrap();
        let path = folder.path("input");
        fs::write(&path, b"first").unwrap();
        let opened = Identity::at(&path).unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        // Some file systems count time in steps of several milliseconds.
        std::thread::sleep(Duration::from_millis(50));
        fs::write(&path, b"other").unwrap();
        // On Windows only the time of the content is compared.
        if cfg!(unix) {
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(modified).unwrap();
        }
        assert!(remove_input(&path, Some(&opened), 5).is_err());
        let opened = Identity::at(&path).unwrap();
        // Fewer bytes were read than the file has.
        assert!(remove_input(&path, Some(&opened), 4).is_err());
        assert!(remove_input(&path, None, 5).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"other");
        remove_input(&path, Some(&opened), 5).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn names_lose_their_extension_in_any_case() {
        let stripped =
            |name: &str| without_extension(Path::new(name)).map(|path| path.into_os_string());
        assert_eq!(stripped("a.B2Frame").as_deref(), Some(OsStr::new("a")));
        assert_eq!(stripped("a.b.blp").as_deref(), Some(OsStr::new("a.b")));
        assert_eq!(stripped("x/a.npy.blp").as_deref(), Some(OsStr::new("x/a.npy")));
        assert_eq!(stripped("a.blp/"), None);
        assert_eq!(stripped("x/.blp"), None);
        assert_eq!(stripped(".blp"), None);
        assert_eq!(stripped("blp"), None);
    }
}
