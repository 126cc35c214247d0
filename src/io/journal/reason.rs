//! The reasons for not using a journal.

use std::fmt;

/// The reason for not using a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is a link, a directory, a FIFO or a device.
    NotRegular,
    /// It has more than one hard link.
    Linked,
    /// Its owner is neither the owner of the file nor the user of this process.
    Owner,
    /// Users without write permission for the file may write the journal.
    Writable,
    /// It cannot be opened.
    Unreadable,
    /// It is not a journal.
    NotAJournal,
    /// Its format does not identify the file.
    OldFormat,
    /// It is incomplete or damaged.
    Incomplete,
    /// It belongs to an earlier file at the path.
    OtherFile,
    /// The file was rewritten since.
    OtherContent,
    /// The file has another format.
    OtherFormat,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NotRegular => "it is not a regular file",
            Reason::Linked => "it has more than one name",
            Reason::Owner => "it is owned by another user than the file",
            Reason::Writable => "users without write permission for the file may write it",
            Reason::Unreadable => "it cannot be read",
            Reason::NotAJournal => "it is not a journal",
            Reason::OldFormat => "its format does not identify the file",
            Reason::Incomplete => "it is incomplete: the change had not begun",
            Reason::OtherFile => "it belongs to an earlier file of this name",
            Reason::OtherContent => "the file has been rewritten since",
            Reason::OtherFormat => "the file is not of the journal's format",
        })
    }
}
