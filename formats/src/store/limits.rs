//! Limits for data from untrusted stores.

use super::error::{Error, Result};

/// The maximum number of members of a zip file and of files of a directory.
pub const MAX_MEMBERS: u64 = 1 << 24;
/// The maximum length of a key, in bytes.
pub const MAX_KEY_LEN: usize = 4096;
/// The maximum number of parts of a key, and of nested directories.
pub const MAX_PARTS: usize = 256;
/// The maximum nesting depth of MessagePack values.
pub const MAX_DEPTH: usize = 64;
/// The maximum size of an attribute, in bytes. Attributes contain the maps of embed stores and the
/// schemas of tables.
pub const MAX_ATTRIBUTE: u64 = 64 << 20;
/// The maximum number of values in an attribute.
pub const MAX_VALUES: u64 = 1 << 22;
/// The maximum number of stored rows of a table.
pub const MAX_ROWS: u64 = 1 << 40;
/// The maximum size of the decoded parts of the mask of live rows of a table, in bytes. Chunks of
/// zeros are not decoded.
pub const MAX_MASK_SIZE: u64 = 1 << 34;
/// The maximum number of chunks of the mask of live rows of a table.
pub const MAX_MASK_CHUNKS: u64 = 1 << 24;
/// The maximum size of the directory of a zip file, in bytes.
pub const MAX_DIRECTORY: u64 = 1 << 30;
/// The maximum number of embed stores in other ones that one verification opens.
pub const MAX_NESTED_STORES: u64 = 1024;

/// The memory that one call may still use.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    limit: u64,
}

impl Budget {
    /// Returns a budget of `limit` bytes.
    pub fn new(limit: u64) -> Budget {
        Budget { left: limit, limit }
    }

    /// Returns the number of bytes that may still be used.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Uses `size` bytes; `None` is a size that overflows.
    ///
    /// # Errors
    /// [`Error::Limit`] with the text of `what` if fewer bytes are left.
    pub fn charge(&mut self, size: Option<u64>, what: impl FnOnce() -> String) -> Result<()> {
        match size.and_then(|size| self.left.checked_sub(size)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::Limit { what: what(), limit: self.limit }),
        }
    }
}

/// Limits that depend on the size of valid data, and the checks while opening.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The maximum size in bytes of a member that is inflated, and of a frame that is copied from
    /// an embed store. The default is 1 GiB.
    pub max_frame: u64,
    /// The maximum size in bytes of one serialized object or batch, of the memory to decode it, and
    /// of all values that one call returns. The default is 1 GiB.
    pub max_message: u64,
    /// Whether opening a leaf in a zip file reads all its bytes and compares their CRC-32. Without
    /// it, only members that are read whole are checked. The default is false.
    pub check_crc: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_frame: 1 << 30, max_message: 1 << 30, check_crc: false }
    }
}
