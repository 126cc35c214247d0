//! Numbers of backends that C programs ask for more care by.
//!
//! Below 160 numbers are not for users; these are the last of them, far from those that C-Blosc2 has given
//! out.

use super::Care;

/// Files of the file system, changed durably.
pub const DURABLE: u8 = 157;
/// Files of the file system, with checksums.
pub const CHECKSUMS: u8 = 158;
/// Both.
pub const DURABLE_CHECKSUMS: u8 = 159;

/// The numbers and what they ask for.
pub const ALL: [(u8, Care); 3] = [
    (DURABLE, care(true, false)),
    (CHECKSUMS, care(false, true)),
    (DURABLE_CHECKSUMS, care(true, true)),
];

const fn care(durable: bool, checksums: bool) -> Care {
    Care { durable, checksums }
}
