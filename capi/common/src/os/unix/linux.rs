//! Linux and Android.

// Rust registers destructors of thread-local values through this function if it exists. The one of
// glibc aborts the process if it cannot allocate an entry. No other library can define a hidden
// symbol, so the function stays undefined here, and Rust keeps its own list in memory of this
// allocator.
#[doc(hidden)]
#[macro_export]
macro_rules! without_thread_atexit {
    () => {
        std::arch::global_asm!(
            ".weak __cxa_thread_atexit_impl",
            ".hidden __cxa_thread_atexit_impl"
        );
    };
}

pub use super::elf::loaded;
pub(super) use libc::{
    __errno_location as errno_location, fopen64 as fopen, fseeko64 as fseeko, ftello64 as ftello,
};
