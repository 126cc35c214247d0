//! Super-chunks on disks with errors and power failures.

mod arrays;
mod callbacks;
mod changes;
mod crashes;
mod errors;
mod interleavings;
mod replacements;
mod transactions;
