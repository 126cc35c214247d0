//! The modes of opening and creating objects.

/// The mode of opening or creating an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read only.
    Read,
    /// Read and write.
    Append,
    /// Read and write, after removing existing data.
    Write,
}

impl Mode {
    /// Returns the letter that bcolz uses.
    pub fn letter(self) -> char {
        match self {
            Mode::Read => 'r',
            Mode::Append => 'a',
            Mode::Write => 'w',
        }
    }
}
