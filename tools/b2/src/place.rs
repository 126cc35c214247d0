//! Inputs and outputs: paths, and `-`.
//!
//! Most formats can't be read or written from front to back: what tells where things are stands at the end. So what
//! comes from a pipe is put into a temporary file first, and what goes to a pipe is made in one.

use crate::voice::Failure;
use ferroblosc::Error;
use ferroblosc::convert::{self, Detected};
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc_tools_common::staging::{Folder, Staged};
use std::io::{Read, Write, copy};
use std::path::{Path, PathBuf};

/// The name of standard input and output.
pub const STANDARD: &str = "-";

/// What errors call the file that is made for a pipe.
const UNFINISHED: &str = "the temporary file for standard output";

fn temporary_folder() -> Result<Folder, Failure> {
    let parent = std::env::temp_dir();
    let folder = Folder::temporary("b2");
    Ok(folder.map_err(|error| named(error, Error::FileOpen, "create a directory in", &parent))?)
}

/// Names standard output in an error of writing to it.
pub fn to_standard_output(error: std::io::Error) -> std::io::Error {
    match error.get_ref() {
        Some(inner) if inner.is::<Error>() => error,
        _ => named(
            error,
            Error::FileWrite,
            "write to",
            Path::new("standard output"),
        ),
    }
}

/// Standard input, which its errors name.
struct Stdin;

impl Read for Stdin {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::stdin().lock().read(dest);
        read.map_err(|error| named(error, Error::FileRead, "read", Path::new("standard input")))
    }
}

/// Something that is read.
pub struct Input {
    path: PathBuf,
    /// What it is called.
    name: PathBuf,
    /// Where what came from a pipe is.
    _folder: Option<Folder>,
}

impl Input {
    /// Takes what is at a path, or all of standard input.
    pub fn new(name: &Path) -> Result<Input, Failure> {
        if name != Path::new(STANDARD) {
            return Ok(Input {
                path: name.to_owned(),
                name: name.to_owned(),
                _folder: None,
            });
        }
        let folder = temporary_folder()?;
        let path = folder.path("input");
        copy(&mut Stdin, &mut NamedFile::create(&path)?)?;
        Ok(Input {
            path,
            name: PathBuf::from("standard input"),
            _folder: Some(folder),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is called.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// What it is.
    pub fn detect(&self) -> Result<Detected, Failure> {
        convert::detect(&self.path).map_err(|error| self.blame(error))
    }

    /// An error that is this input's.
    pub fn blame(&self, error: impl Into<Failure>) -> Failure {
        error.into().at(&self.name)
    }
}

/// Something that is made.
pub enum Output {
    /// At a path, as it was named.
    Path(Staged, PathBuf),
    /// In a temporary folder, from where it goes to standard output.
    Pipe {
        /// The folder.
        folder: Folder,
        /// The file in it.
        made: PathBuf,
    },
}

impl Output {
    /// Begins what will be at a path, or go to standard output.
    pub fn new(path: &Path, force: bool) -> Result<Output, Failure> {
        if path == Path::new(STANDARD) {
            let folder = temporary_folder()?;
            let made = folder.path("output");
            return Ok(Output::Pipe { folder, made });
        }
        if path.exists() && !force {
            let shown = path.display();
            return Err(Failure::new(format!("{shown}: something is there already"))
                .advise("'--force' replaces it"));
        }
        let staged =
            Staged::new(path).map_err(|error| named(error, Error::FileOpen, "create", path))?;
        Ok(Output::Path(staged, path.to_owned()))
    }

    /// Where it is to be made.
    pub fn path(&self) -> &Path {
        match self {
            Output::Path(staged, _) => staged.path(),
            Output::Pipe { made, .. } => made,
        }
    }

    /// An error of making this output, or of what it is made from.
    pub fn blame(&self, failure: Failure) -> Failure {
        match self {
            Output::Path(staged, name) => failure.of_target(staged.path(), name),
            Output::Pipe { made, .. } => failure.of_target(made, Path::new(UNFINISHED)),
        }
    }

    /// Puts what was made to where it belongs.
    pub fn commit(self) -> Result<(), Failure> {
        match self {
            Output::Path(staged, name) => Ok(staged
                .commit()
                .map_err(|error| named(error, Error::FileWrite, "rename a file to", &name))?),
            Output::Pipe { folder, made } => {
                if made.is_dir() {
                    return Err(Failure::usage("a directory can't be written to a pipe"));
                }
                let mut output = std::io::stdout().lock();
                copy(&mut NamedFile::open(&made)?, &mut output)
                    .and_then(|_| output.flush())
                    .map_err(to_standard_output)?;
                drop(folder);
                Ok(())
            }
        }
    }
}
