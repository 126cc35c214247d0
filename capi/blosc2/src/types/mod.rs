//! The structs and callback types of the C headers, named as there.
//!
//! The layout is the interface: each struct is followed by an `assert_layout!` with the sizes and
//! offsets of C-Blosc2 3.3.5 on 64-bit Linux, which every target the crate is checked for proves
//! at compile time.

pub mod b2nd;
pub mod io;
pub mod params;
pub mod plugins;
pub mod schunk;
pub mod stdio;
pub mod threads;

/// Proves at compile time that a struct has the size, the alignment and the field offsets given.
macro_rules! assert_layout {
    ($type:ty, size $size:literal, align $align:literal, { $($field:ident: $offset:literal),* $(,)? }) => {
        const _: () = {
            assert!(size_of::<$type>() == $size);
            assert!(align_of::<$type>() == $align);
            $(assert!(std::mem::offset_of!($type, $field) == $offset);)*
        };
    };
}
pub(crate) use assert_layout;
