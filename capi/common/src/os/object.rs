//! The shared libraries of a process.

use std::ffi::CString;

/// A shared library of the process, or its program.
#[derive(Debug)]
pub struct Object {
    /// The path, or an empty text for the program.
    pub name: CString,
    /// Whether the searched address is in it.
    pub has_address: bool,
}
