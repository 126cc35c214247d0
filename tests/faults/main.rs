//! Super-chunks on disks that fail and lose power.

mod arrays;
mod changes;
mod crashes;
mod errors;
mod transactions;
