//! The structs and callback types of the C headers, with the same names.
//!
//! The layout is part of the interface: each struct is followed by an `assert_layout!` with the
//! size, alignment and offsets of C-Blosc2 3.3.5 on 64-bit Linux, which is checked at compile time
//! for every 64-bit target. On all targets a test compares the structs with those that a C compiler
//! makes of the headers.

pub mod b2nd;
pub mod context;
pub mod io;
pub mod params;
pub mod plugins;
pub mod schunk;
pub mod stdio;
pub mod threads;

/// Asserts the size, the alignment and the field offsets of a struct at compile time.
macro_rules! assert_layout {
    ($type:ty, size $size:literal, align $align:literal, { $($field:ident: $offset:literal),* $(,)? }) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            assert!(size_of::<$type>() == $size);
            assert!(align_of::<$type>() == $align);
            $(assert!(std::mem::offset_of!($type, $field) == $offset);)*
        };
    };
}
pub(crate) use assert_layout;
