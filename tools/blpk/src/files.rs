//! Inputs and outputs: names, `-`, what may be overwritten.

use crate::usage::Wrong;
use crate::voice::{Failure, Voice, error};
use crate::words::Call;
use ferroblosc::io::named::NamedFile;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// The name of standard input and standard output.
const STANDARD: &str = "-";
/// The extension of compressed files.
pub const EXTENSION: &str = ".blp";
/// Bytes that inputs are read in.
const BUFFER: usize = 256 << 10;

/// Where something is read from or written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Standard input or output.
    Standard,
    /// A file.
    File(PathBuf),
}

impl Place {
    pub fn named(name: &OsStr) -> Place {
        if name == STANDARD {
            Place::Standard
        } else {
            Place::File(PathBuf::from(name))
        }
    }

    /// The name, as it is shown.
    pub fn shown(&self) -> String {
        match self {
            Place::Standard => STANDARD.to_owned(),
            Place::File(path) => path.display().to_string(),
        }
    }

    /// The file, unless it is standard input or output.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Place::Standard => None,
            Place::File(path) => Some(path),
        }
    }

    /// Refuses a file that isn't there.
    pub fn check_exists(&self, kind: &str) -> Result<(), Failure> {
        match self.path() {
            Some(path) if !path.exists() => {
                Err(error(format!("{kind} '{}' does not exist!", self.shown())))
            }
            _ => Ok(()),
        }
    }

    /// Refuses an output that is there, unless it may be overwritten.
    fn check_free(&self, call: &Call, voice: &Voice) -> Result<(), Failure> {
        // A device is not overwritten by being written to.
        let there = self.path().filter(|path| path.exists());
        if there.is_none() {
            return Ok(());
        }
        if !call.globals.force {
            return Err(error(format!("output file '{}' exists!", self.shown())));
        }
        voice.verbose(&format!("overwriting existing file: '{}'", self.shown()));
        Ok(())
    }
}

/// An input, and how many bytes it has if that is known.
pub struct Input {
    pub reader: Box<dyn Read + Send>,
    pub size: Option<u64>,
}

impl Input {
    pub fn open(place: &Place) -> Result<Input, Failure> {
        let mut file = match place {
            Place::File(path) => open(path)?,
            Place::Standard => File::from(std::io::stdin().as_fd().try_clone_to_owned()?),
        };
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(error(format!("'{}' is a directory", place.shown())));
        }
        let size = if metadata.is_file() {
            // Somebody may have read from standard input before.
            let position = file.stream_position()?;
            Some(metadata.len().saturating_sub(position))
        } else {
            None
        };
        let file = NamedFile::new(file, place.shown());
        Ok(Input {
            reader: Box::new(BufReader::with_capacity(BUFFER, file)),
            size,
        })
    }
}

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|fault| error(format!("'{}': {fault}", path.display())))
}

/// Returns the input of a call, and its output if the command line names one.
pub fn named(call: &Call) -> Result<(Place, Option<Place>), Wrong> {
    let raw_input = call.flag("raw-input");
    let raw_output = call.flag("raw-output");
    let required: &[&str] = if raw_input { &[] } else { &["<in_file>"] };
    let files = call.files(required, usize::from(!raw_output))?;
    let mut files = files.into_iter().map(Place::named);
    let input = if raw_input { None } else { files.next() };
    let output = if raw_output {
        Some(Place::Standard)
    } else {
        files.next()
    };
    Ok((input.unwrap_or(Place::Standard), output))
}

/// Returns the output of a call: the one that is named, or the one that follows from the name of the input.
pub fn output(
    call: &Call,
    input: &Place,
    named: Option<Place>,
    default_out: impl FnOnce(&str) -> Result<Place, Failure>,
) -> Result<Place, Failure> {
    match named {
        Some(place) => Ok(place),
        None if *input == Place::Standard => {
            let name = if call.flag("raw-input") {
                "--raw-input"
            } else {
                "'-'"
            };
            Err(error(format!("{name} requires use of <out_file>")))
        }
        None => default_out(&input.shown()),
    }
}

/// Makes sure that the input is there and the output may be made.
pub fn check(call: &Call, voice: &Voice, input: &Place, output: &Place) -> Result<(), Failure> {
    input.check_exists("input file")?;
    output.check_free(call, voice)?;
    if let (Some(input), Some(output)) = (input.path(), output.path()) {
        ferroblosc::bloscpack::check_different(input, output)?;
    }
    voice.verbose(&format!("input file is: '{}'", input.shown()));
    voice.verbose(&format!("output file is: '{}'", output.shown()));
    Ok(())
}

/// What is said before the work.
pub fn get_ready(call: &Call, voice: &Voice, work: &str) {
    show_threads(call.globals.nthreads, voice);
    voice.verbose(&format!("getting ready for {work}"));
}

/// Writes the number of threads when the user wants details.
pub fn show_threads(nthreads: usize, voice: &Voice) {
    let plural = if nthreads == 1 { "" } else { "s" };
    voice.verbose(&format!("using {nthreads} thread{plural}"));
}
