//! The process that changes an object. A child of `fork` inherits the handle with its buffered rows,
//! but neither the lock nor the right to write these rows a second time.

use std::path::Path;

use super::error::{Error, Result};
use ferroblosc::os::process_id;

/// The process that opened a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u32);

impl Owner {
    /// Returns the calling process.
    pub fn this_process() -> Owner {
        Owner(process_id())
    }

    /// Whether the calling process opened the handle.
    pub fn is_this_process(self) -> bool {
        self == Owner::this_process()
    }

    /// Fails if another process opened the handle of the object at `root`.
    ///
    /// # Errors
    /// [`Error::Busy`]
    pub fn check(self, root: &Path) -> Result<()> {
        if self.is_this_process() { Ok(()) } else { Err(Error::Busy(root.to_owned())) }
    }
}
