//! The libraries to compare: ours, the reference, and a second copy of the reference, which shows
//! the noise of a ratio.
//!
//! A shared library that is opened twice is loaded once, so the copy is a separate file.

use ferroblosc_interop::blosc1;
use ferroblosc_interop::library::{Library, ours, reference, reference_path};
use std::path::{Path, PathBuf};

/// Ours, the reference and, if requested, its copy; times are in this order.
pub struct Peers {
    /// The libraries with the interface of C-Blosc2.
    pub blosc2: Vec<&'static Library>,
    /// The libraries with the interface of C-Blosc 1.x.
    pub blosc1: Vec<&'static blosc1::Library>,
}

/// Opens a temporary copy of a library.
fn open_copy<T>(path: &Path, open: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    // The name must be unique: the loader reuses a library that was opened under the same name.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("ferroblosc-peer-{}-{name}", std::process::id());
    let copy = std::env::temp_dir().join(name);
    let describe = |error: std::io::Error| format!("{}: {error}", copy.display());
    std::fs::copy(path, &copy).map_err(describe)?;
    let library = open(&copy);
    std::fs::remove_file(&copy).map_err(describe)?;
    library
}

impl Peers {
    /// Opens all libraries.
    ///
    /// # Errors
    /// Returns the library that cannot be opened.
    pub fn open(with_noise: bool) -> Result<Peers, String> {
        let mut peers = Peers {
            blosc2: vec![ours(), reference()],
            blosc1: vec![blosc1::ours(), blosc1::reference()],
        };
        if with_noise {
            let copy = open_copy(&reference_path()?, |path| Library::open("reference", path))?;
            // SAFETY: the call has no preconditions. The reference accepts filters from 32 on only
            // after this call.
            unsafe { (copy.blosc2_init)() };
            peers.blosc2.push(Box::leak(Box::new(copy)));
            let path: PathBuf = blosc1::reference_path();
            let copy = open_copy(&path, |path| blosc1::Library::open("reference", path))?;
            peers.blosc1.push(Box::leak(Box::new(copy)));
        }
        Ok(peers)
    }
}
