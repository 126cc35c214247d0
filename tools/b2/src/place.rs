//! Inputs and outputs: paths, and `-`.
//!
//! Most formats can't be read or written from front to back: what tells where things are stands at the end. So what
//! comes from a pipe is put into a temporary file first, and what goes to a pipe is made in one.

use crate::voice::Failure;
use ferroblosc::convert::{self, Detected};
use ferroblosc_tools_common::staging::{Folder, Staged};
use std::fs::File;
use std::io::{Write, copy};
use std::path::{Path, PathBuf};

/// The name of standard input and output.
pub const STANDARD: &str = "-";

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
        let folder = Folder::temporary("b2")?;
        let path = folder.path("input");
        copy(&mut std::io::stdin().lock(), &mut File::create(&path)?)?;
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
    /// At a path.
    Path(Staged),
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
            let folder = Folder::temporary("b2")?;
            let made = folder.path("output");
            return Ok(Output::Pipe { folder, made });
        }
        if path.exists() && !force {
            let shown = path.display();
            return Err(Failure::new(format!("{shown}: something is there already"))
                .advise("'--force' replaces it"));
        }
        let staged = Staged::new(path).map_err(|error| Failure::from(error).at(path))?;
        Ok(Output::Path(staged))
    }

    /// Where it is to be made.
    pub fn path(&self) -> &Path {
        match self {
            Output::Path(staged) => staged.path(),
            Output::Pipe { made, .. } => made,
        }
    }

    /// Puts what was made to where it belongs.
    pub fn commit(self) -> Result<(), Failure> {
        match self {
            Output::Path(staged) => Ok(staged.commit()?),
            Output::Pipe { folder, made } => {
                if made.is_dir() {
                    return Err(Failure::usage("a directory can't be written to a pipe"));
                }
                let mut output = std::io::stdout().lock();
                copy(&mut File::open(&made)?, &mut output)?;
                output.flush()?;
                drop(folder);
                Ok(())
            }
        }
    }
}
