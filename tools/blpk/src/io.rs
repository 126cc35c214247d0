//! Input and output files, and standard input and output.

use crate::args::Call;
use crate::error::{Failure, error};
use crate::log::Logger;
use crate::usage::UsageError;
use ferroblosc::io::named::NamedFile;
use ferroblosc::os::files::{self, Content, content_of};
use ferroblosc_formats::bloscpack::{self, Value, check_different};
use ferroblosc_tools_common::os;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// The name of standard input and standard output.
const STDIO: &str = "-";
/// The file name extension of compressed files.
pub const EXTENSION: &str = ".blp";
/// The maximum number of symbolic links that are followed to a file that does not exist.
const MAX_LINKS: usize = 40;
/// The size of the input buffer in bytes.
const BUFFER: usize = 256 << 10;

/// A file argument: a path, or `-` for standard input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileArg {
    /// Standard input or output.
    Stdio,
    /// A file.
    Path(PathBuf),
}

impl FileArg {
    pub fn named(name: &OsStr) -> FileArg {
        if name == STDIO { FileArg::Stdio } else { FileArg::Path(PathBuf::from(name)) }
    }

    /// Returns the name for messages.
    pub fn shown(&self) -> String {
        match self {
            FileArg::Stdio => STDIO.to_owned(),
            FileArg::Path(path) => path.display().to_string(),
        }
    }

    /// Returns the path, unless it is standard input or output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            FileArg::Stdio => None,
            FileArg::Path(path) => Some(path),
        }
    }

    /// Fails if the file does not exist, or if this cannot be determined.
    pub fn check_exists(&self, kind: &str) -> Result<(), Failure> {
        self.path().map_or(Ok(()), |path| check_exists(path, kind))
    }

    /// Fails if the output exists and must not be overwritten.
    fn check_free(&self, call: &Call, logger: &Logger) -> Result<(), Failure> {
        if !self.path().is_some_and(Path::exists) {
            return Ok(());
        }
        if !call.globals.force {
            return Err(error(format!("output file '{}' exists!", self.shown())));
        }
        logger.verbose(&format!("overwriting existing file: '{}'", self.shown()));
        Ok(())
    }
}

/// Fails if a file does not exist, or if this cannot be determined.
fn check_exists(path: &Path, kind: &str) -> Result<(), Failure> {
    let shown = path.display();
    match path.try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(error(format!("{kind} '{shown}' does not exist!"))),
        Err(fault) => Err(error(format!("{kind} '{shown}': {fault}"))),
    }
}

/// Formats an optional file argument; Python prints `None` without one.
pub fn or_none(file: Option<&FileArg>) -> String {
    file.map_or_else(|| "None".to_owned(), FileArg::shown)
}

/// An open input, and its size in bytes if known.
pub struct Input {
    pub reader: Box<dyn Read + Send>,
    pub size: Option<u64>,
}

impl Input {
    pub fn open(input: &FileArg) -> Result<Input, Failure> {
        let mut file = match input {
            FileArg::Path(path) => open(path)?,
            FileArg::Stdio => os::stdin()?,
        };
        let size = match content_of(&file)? {
            Content::Directory => {
                return Err(error(format!("'{}' is a directory", input.shown())));
            }
            Content::Data if file.metadata()?.is_file() => {
                // The shell may pass standard input at an offset.
                let position = file.stream_position()?;
                let size = file.metadata()?.len().saturating_sub(position);
                // Files in /proc have the size 0, but content.
                let is_known =
                    size > 0 || matches!(files::read_at(&file, position, &mut [0]), Ok(0));
                is_known.then_some(size)
            }
            _ => None,
        };
        let file = NamedFile::new(file, input.shown());
        Ok(Input { reader: Box::new(BufReader::with_capacity(BUFFER, file)), size })
    }
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(unreadable(path))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> Failure + '_ {
    move |fault| error(format!("'{}': {fault}", path.display()))
}

/// Returns the metadata in the file of option `--metadata`. `null` means no metadata.
pub fn given_metadata(call: &Call) -> Result<Option<Value>, Failure> {
    match call.text("metadata") {
        Some(name) => read_metadata(Path::new(name)),
        None => Ok(None),
    }
}

/// Reads metadata from a JSON file. `null` means no metadata.
pub fn read_metadata(path: &Path) -> Result<Option<Value>, Failure> {
    check_exists(path, "metadata file")?;
    let bytes = fs::read(path).map_err(unreadable(path))?;
    let value = Value::parse(&bytes).map_err(bloscpack::Error::from)?;
    Ok(Some(value).filter(|value| !matches!(value, Value::Null)))
}

/// Opens a file that is read at any position. Never waits for a FIFO, and rejects it.
pub fn open_regular(path: &Path) -> Result<File, Failure> {
    Ok(NamedFile::open_regular(path)?.into_file())
}

/// Returns the input of a call, and its output if the command line names one.
pub fn named(call: &Call) -> Result<(FileArg, Option<FileArg>), UsageError> {
    let raw_input = call.flag("raw-input");
    let raw_output = call.flag("raw-output");
    let required: &[&str] = if raw_input { &[] } else { &["<in_file>"] };
    let files = call.files(required, usize::from(!raw_output))?;
    let mut files = files.into_iter().map(FileArg::named);
    let input = if raw_input { None } else { files.next() };
    let output = if raw_output { Some(FileArg::Stdio) } else { files.next() };
    Ok((input.unwrap_or(FileArg::Stdio), output))
}

/// Returns the output of a call: `named`, or the default for the name of the input.
pub fn output(
    call: &Call,
    input: &FileArg,
    named: Option<FileArg>,
    default_out: impl FnOnce(&Path) -> Result<PathBuf, Failure>,
) -> Result<FileArg, Failure> {
    match (named, input) {
        (Some(output), _) => Ok(output),
        (None, FileArg::Stdio) => {
            let name = if call.flag("raw-input") { "--raw-input" } else { "'-'" };
            Err(error(format!("{name} requires use of <out_file>")))
        }
        (None, FileArg::Path(path)) => Ok(FileArg::Path(default_out(path)?)),
    }
}

/// Fails if the input does not exist or the output must not be written.
pub fn check(
    call: &Call,
    logger: &Logger,
    input: &FileArg,
    output: &FileArg,
) -> Result<(), Failure> {
    input.check_exists("input file")?;
    output.check_free(call, logger)?;
    if let (Some(input), Some(output)) = (input.path(), output.path()) {
        check_different(input, output)?;
    }
    logger.verbose(&format!("input file is: '{}'", input.shown()));
    logger.verbose(&format!("output file is: '{}'", output.shown()));
    Ok(())
}

/// Fails if the file for the metadata must not be written: it exists, or is the input or the
/// output.
pub fn check_metadata(
    call: &Call,
    logger: &Logger,
    (input, output): (&FileArg, &FileArg),
    metadata: &Path,
) -> Result<(), Failure> {
    if let Some(input) = input.path() {
        check_different(input, metadata)?;
    }
    check_apart(output, metadata)?;
    FileArg::Path(metadata.to_owned()).check_free(call, logger)
}

/// Fails if the output and the file for the metadata are the same file, which need not exist.
pub fn check_apart(output: &FileArg, metadata: &Path) -> Result<(), Failure> {
    let Some(path) = output.path() else {
        return Ok(());
    };
    let is_same = match (files::identity_at(path), files::identity_at(metadata)) {
        // Several results can be written to a pipe or a device.
        (Ok(one), Ok(other)) => one == other && path.is_file(),
        _ => location(path) == location(metadata),
    };
    if is_same {
        let shown = metadata.display();
        return Err(error(format!("'{shown}' cannot be output and metadata file at once")));
    }
    Ok(())
}

/// Returns the absolute path without symbolic links of a file that may not exist yet.
fn location(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.with_file_name("").join(target);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match (fs::canonicalize(parent.unwrap_or(Path::new("."))), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}

/// Prints the first lines of a subcommand.
pub fn log_start(call: &Call, logger: &Logger, work: &str) {
    show_threads(call.globals.nthreads, logger);
    logger.verbose(&format!("getting ready for {work}"));
}

/// Prints the number of threads.
pub fn show_threads(nthreads: usize, logger: &Logger) {
    let plural = if nthreads == 1 { "" } else { "s" };
    logger.verbose(&format!("using {nthreads} thread{plural}"));
}
