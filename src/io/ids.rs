//! Backend numbers with which C programs request durable changes, checksums or read-only access.
//!
//! Numbers below 160 are reserved for the library. These are the last of them, to avoid the numbers
//! that C-Blosc2 assigns.

use super::Durability;

/// Files of the file system, which are opened for reading only.
pub const READ_ONLY: u8 = 156;
/// Files of the file system, changed durably.
pub const DURABLE: u8 = 157;
/// Files of the file system, with checksums.
pub const CHECKSUMS: u8 = 158;
/// Files of the file system, changed durably and with checksums.
pub const DURABLE_CHECKSUMS: u8 = 159;

/// The numbers that select a durability, and their settings.
pub const ALL: [(u8, Durability); 3] = [
    (DURABLE, durability(true, false)),
    (CHECKSUMS, durability(false, true)),
    (DURABLE_CHECKSUMS, durability(true, true)),
];

const fn durability(durable: bool, checksums: bool) -> Durability {
    Durability { durable, checksums }
}
