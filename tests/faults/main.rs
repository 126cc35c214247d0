//! Super-chunks on disks that fail and lose power.

mod changes;
mod crashes;
mod errors;
