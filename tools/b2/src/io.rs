//! Input and output files, and standard input and output.
//!
//! Most formats require random access, since their index is at the end. Therefore, standard input
//! is copied to a temporary file first, and output for standard output is written to a temporary
//! file.

use crate::error::Failure;
use ferroblosc::Error;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc_formats::convert::{self, Detected};
use ferroblosc_tools_common::staging::{Folder, Staged};
use std::io::{Read, Write, copy};
use std::path::{Path, PathBuf};

/// The argument for standard input and output.
pub const STDIO: &str = "-";

/// The name of the temporary output file in errors.
const TEMPORARY_OUTPUT: &str = "the temporary file for standard output";

fn temporary_folder() -> Result<Folder, Failure> {
    let parent = std::env::temp_dir();
    let folder = Folder::temporary("b2");
    Ok(folder.map_err(|error| named(error, Error::FileOpen, "create a directory in", &parent))?)
}

/// Adds the name of standard output to an error of writing to it.
pub fn name_stdout(error: std::io::Error) -> std::io::Error {
    match error.get_ref() {
        Some(inner) if inner.is::<Error>() => error,
        _ => named(error, Error::FileWrite, "write to", Path::new("standard output")),
    }
}

/// Standard input, named in its errors.
struct Stdin;

impl Read for Stdin {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::stdin().lock().read(dest);
        read.map_err(|error| named(error, Error::FileRead, "read", Path::new("standard input")))
    }
}

/// An input.
pub struct Input {
    path: PathBuf,
    /// The name in messages.
    name: PathBuf,
    /// The directory of the temporary copy of standard input.
    _folder: Option<Folder>,
}

impl Input {
    /// Opens a path, or copies standard input to a temporary file.
    pub fn new(name: &Path) -> Result<Input, Failure> {
        if name != Path::new(STDIO) {
            return Ok(Input { path: name.to_owned(), name: name.to_owned(), _folder: None });
        }
        let folder = temporary_folder()?;
        let path = folder.path("input");
        copy(&mut Stdin, &mut NamedFile::create(&path)?)?;
        Ok(Input { path, name: PathBuf::from("standard input"), _folder: Some(folder) })
    }

    /// Returns the path to read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Detects the format by the content.
    pub fn detect(&self) -> Result<Detected, Failure> {
        convert::detect(&self.path).map_err(|error| self.error(error))
    }

    /// Returns an error of this input.
    pub fn error(&self, error: impl Into<Failure>) -> Failure {
        error.into().at(&self.name)
    }
}

/// An output.
pub enum Output {
    /// A staged output, and its path on the command line.
    Path(Staged, PathBuf),
    /// A temporary file, which is copied to standard output.
    Pipe { folder: Folder, file: PathBuf },
}

impl Output {
    /// Prepares the creation of an output.
    pub fn new(path: &Path, force: bool) -> Result<Output, Failure> {
        if path == Path::new(STDIO) {
            let folder = temporary_folder()?;
            let file = folder.path("output");
            return Ok(Output::Pipe { folder, file });
        }
        if path.exists() && !force {
            let shown = path.display();
            return Err(
                Failure::new(format!("{shown}: already exists")).with_hint("'--force' replaces it")
            );
        }
        let staged =
            Staged::new(path).map_err(|error| named(error, Error::FileOpen, "create", path))?;
        Ok(Output::Path(staged, path.to_owned()))
    }

    /// Returns the path at which the output is created.
    pub fn path(&self) -> &Path {
        match self {
            Output::Path(staged, _) => staged.path(),
            Output::Pipe { file, .. } => file,
        }
    }

    /// Returns an error of creating this output, with the path of the target.
    pub fn error(&self, failure: Failure) -> Failure {
        match self {
            Output::Path(staged, name) => failure.of_target(staged.path(), name),
            Output::Pipe { file, .. } => failure.of_target(file, Path::new(TEMPORARY_OUTPUT)),
        }
    }

    /// Renames the output to its target, or copies it to standard output.
    pub fn commit(self) -> Result<(), Failure> {
        match self {
            Output::Path(staged, name) => Ok(staged
                .commit()
                .map_err(|error| named(error, Error::FileWrite, "rename a file to", &name))?),
            Output::Pipe { folder, file } => {
                if file.is_dir() {
                    return Err(Failure::usage("cannot write a directory to standard output"));
                }
                let mut output = std::io::stdout().lock();
                copy(&mut NamedFile::open(&file)?, &mut output)
                    .and_then(|_| output.flush())
                    .map_err(name_stdout)?;
                drop(folder);
                Ok(())
            }
        }
    }
}
