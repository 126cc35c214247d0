//! Numbers of backends by which C programs request more protection.
//!
//! Numbers below 160 are reserved for the library. These are the last of them, to avoid the numbers
//! that C-Blosc2 assigns.

use super::Care;

/// Files of the file system, changed durably.
pub const DURABLE: u8 = 157;
/// Files of the file system, with checksums.
pub const CHECKSUMS: u8 = 158;
/// Both.
pub const DURABLE_CHECKSUMS: u8 = 159;

/// The numbers and their settings.
pub const ALL: [(u8, Care); 3] = [
    (DURABLE, care(true, false)),
    (CHECKSUMS, care(false, true)),
    (DURABLE_CHECKSUMS, care(true, true)),
];

const fn care(durable: bool, checksums: bool) -> Care {
    Care { durable, checksums }
}
