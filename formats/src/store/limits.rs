//! Limits of what is read from untrusted stores.

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

/// Limits that depend on the size of valid data, and the checks while opening.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The maximum size in bytes of a member that is inflated, and of a frame that is copied from
    /// an embed store. The default is 1 GiB.
    pub max_frame: u64,
    /// The maximum size in bytes of one serialized object or batch, of the memory to decode it, and
    /// of the rows that one call reads. The default is 1 GiB.
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
