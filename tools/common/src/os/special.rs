//! Kinds of special files.

/// The kinds of paths that are not ordinary files and directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// A FIFO, a named pipe.
    Pipe,
    /// A character device, such as `/dev/null` or `NUL`.
    CharDevice,
    /// A block device or a socket.
    Unsuitable,
}
