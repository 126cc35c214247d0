//! Strings as byte arrays that end with a NUL, the form of older versions of `bindgen`.

/// Defines string constants.
macro_rules! strings {
    ($($name:ident = $text:expr;)*) => {$(
        pub const $name: &[u8; $text.to_bytes_with_nul().len()] =
            match $text.to_bytes_with_nul().first_chunk() {
                Some(bytes) => bytes,
                None => unreachable!(),
            };
    )*};
}
