//! Strings as `CStr`, the form of `bindgen` with `generate_cstr`.

/// Defines string constants.
macro_rules! strings {
    ($($name:ident = $text:expr;)*) => {$( pub const $name: &::core::ffi::CStr = $text; )*};
}
