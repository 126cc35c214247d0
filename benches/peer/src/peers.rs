//! Who is raced: our library, the reference, and a second copy of the reference, which shows how much of a ratio is
//! noise.
//!
//! A shared library that is opened twice is one library, so the copy is a file of its own.

use ferroblosc_interop::blosc1;
use ferroblosc_interop::library::{Library, ours, reference, reference_path};
use std::path::{Path, PathBuf};

/// Ours, the reference and, if noise is wanted, its copy: times are kept in this order.
pub struct Peers {
    /// The libraries with the interface of C-Blosc2.
    pub blosc2: Vec<&'static Library>,
    /// Those with that of C-Blosc 1.x.
    pub blosc1: Vec<&'static blosc1::Library>,
}

/// A copy of a library in a file that is gone when it was opened.
fn copied<T>(path: &Path, open: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    // (A name that was opened before is the library that was opened then, even if the file is another by now.)
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("ferroblosc-peer-{}-{name}", std::process::id());
    let copy = std::env::temp_dir().join(name);
    let told = |error: std::io::Error| format!("{}: {error}", copy.display());
    std::fs::copy(path, &copy).map_err(told)?;
    let library = open(&copy);
    std::fs::remove_file(&copy).map_err(told)?;
    library
}

impl Peers {
    /// Opens all of them.
    ///
    /// # Errors
    /// Which can't be opened.
    pub fn open(with_noise: bool) -> Result<Peers, String> {
        let mut peers = Peers {
            blosc2: vec![ours(), reference()],
            blosc1: vec![blosc1::ours(), blosc1::reference()],
        };
        if with_noise {
            let copy = copied(&reference_path()?, |path| Library::open("reference", path))?;
            // SAFETY: a plain call. Filters 32 and up are unknown to the reference before it.
            unsafe { (copy.blosc2_init)() };
            peers.blosc2.push(Box::leak(Box::new(copy)));
            let path: PathBuf = blosc1::reference_path();
            let copy = copied(&path, |path| blosc1::Library::open("reference", path))?;
            peers.blosc1.push(Box::leak(Box::new(copy)));
        }
        Ok(peers)
    }
}
