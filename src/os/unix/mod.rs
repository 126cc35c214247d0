//! Systems with the functions of POSIX.
//!
//! The functions that differ between them are in the module `system`, which is `linux`, `apple` or
//! `freebsd`: waiting threads, unnamed files, syncing, renaming to an unused name, names of threads,
//! sizes of mappings and reserved disk space.

#[cfg(target_vendor = "apple")]
mod apple;
// Its unit tests also run on Linux.
#[cfg(all(feature = "mmap", any(target_vendor = "apple", target_os = "freebsd", test)))]
mod bsd;
pub mod files;
// Its unit tests also run on Linux.
#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(any(target_vendor = "apple", test))]
mod full_sync;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(feature = "mmap")]
pub(crate) mod mapping;
mod path;
pub(crate) mod process;
pub(crate) mod thread;

#[cfg(target_vendor = "apple")]
use apple as system;
#[cfg(target_os = "freebsd")]
use freebsd as system;
#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as system;

pub(crate) use system::futex;
