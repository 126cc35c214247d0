//! Options of operations, and modes by their letters.

use super::error::{Error, Result};
use super::mode::Mode;
use super::store::Store;

impl Mode {
    /// Returns the mode with this letter.
    ///
    /// # Errors
    /// [`Error::Argument`]
    pub fn from_name(name: &str) -> Result<Mode> {
        match name {
            "r" => Ok(Mode::Read),
            "a" => Ok(Mode::Append),
            "w" => Ok(Mode::Write),
            _ => Err(Error::Argument("mode should be 'r', 'w' or 'a'")),
        }
    }
}

/// Options of bcolz operations.
#[derive(Clone)]
pub struct Options {
    /// The storage of the objects.
    pub store: Store,
    /// Whether a wrong prefix of a chunk file is an error.
    pub strict: bool,
    /// The number of threads for reading and writing.
    pub nthreads: i32,
}

impl Default for Options {
    /// The file system, one thread, not strict.
    fn default() -> Options {
        Options { store: Store::default(), strict: false, nthreads: 1 }
    }
}
