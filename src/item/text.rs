//! Strings of a fixed length.

use super::{Item, NATIVE_ORDER, in_native_order};
use crate::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::str::Utf8Error;

#[cold]
fn too_long(len: usize, most: usize, unit: &str) -> Error {
    let text = format!("the string has {len} {unit}, and the items have {most}");
    Error::InvalidParam.because(text)
}

/// Returns the items before the trailing NULs, which fill the item.
fn without_fill<T: Copy + PartialEq + Default>(items: &[T]) -> &[T] {
    let len = items.iter().rposition(|item| *item != T::default()).map_or(0, |last| last + 1);
    &items[..len]
}

/// A byte string of at most `N` bytes, NumPy's dtype `|SN`. Shorter ones are filled with NULs, so a
/// string cannot end with a NUL.
///
/// ```
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::item::FixedBytes;
/// use ferroblosc::schunk::Storage;
///
/// let names = [FixedBytes::<8>::new("Ada")?, FixedBytes::new("Grace")?];
/// let array = Array::from_items(Storage::memory(), CParams::default(), [2], &names)?;
/// assert_eq!(array.dtype(), Some("|S8"));
/// assert_eq!(array.get::<FixedBytes<8>>(1)?[0].as_bytes(), b"Grace");
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FixedBytes<const N: usize>([u8; N]);

impl<const N: usize> FixedBytes<N> {
    /// Copies a string.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for more than `N` bytes.
    pub fn new(text: impl AsRef<[u8]>) -> Result<FixedBytes<N>> {
        let text = text.as_ref();
        let mut bytes = [0; N];
        let start = bytes.get_mut(..text.len()).ok_or_else(|| too_long(text.len(), N, "bytes"))?;
        start.copy_from_slice(text);
        Ok(FixedBytes(bytes))
    }

    /// Returns the string without the NULs at its end.
    pub fn as_bytes(&self) -> &[u8] {
        without_fill(&self.0)
    }

    /// Returns the string as text.
    ///
    /// # Errors
    /// - [`Utf8Error`] if it is not UTF-8.
    pub fn to_str(&self) -> std::result::Result<&str, Utf8Error> {
        std::str::from_utf8(self.as_bytes())
    }
}

impl<const N: usize> Default for FixedBytes<N> {
    /// Returns the empty string.
    fn default() -> FixedBytes<N> {
        FixedBytes([0; N])
    }
}

impl<const N: usize> fmt::Debug for FixedBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_bytes().escape_ascii())
    }
}

// SAFETY: bytes have no invalid values.
unsafe impl<const N: usize> Item for FixedBytes<N> {
    fn dtype() -> Cow<'static, str> {
        Cow::Owned(format!("|S{N}"))
    }

    fn matches(dtype: &str) -> bool {
        let rest = dtype.strip_prefix('|').unwrap_or(dtype).strip_prefix('S');
        rest.is_some_and(|digits| digits == N.to_string())
    }
}

/// A text of at most `N` characters, NumPy's dtype `<UN`, with 4 bytes for each. Shorter ones are
/// filled with NULs, so a text cannot end with a NUL.
///
/// ```
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::item::FixedStr;
/// use ferroblosc::schunk::Storage;
///
/// let units = [FixedStr::<4>::new("°C")?, FixedStr::new("hPa")?];
/// let array = Array::from_items(Storage::memory(), CParams::default(), [2], &units)?;
/// assert_eq!(array.dtype(), Some("<U4"));
/// assert_eq!(array.get::<FixedStr<4>>(0)?[0].to_string(), "°C");
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FixedStr<const N: usize>([u32; N]);

impl<const N: usize> FixedStr<N> {
    /// Copies a text.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for more than `N` characters.
    pub fn new(text: &str) -> Result<FixedStr<N>> {
        let mut chars = [0; N];
        let mut len = 0;
        for char in text.chars() {
            if let Some(slot) = chars.get_mut(len) {
                *slot = char.into();
            }
            len += 1;
        }
        if len > N {
            return Err(too_long(len, N, "characters"));
        }
        Ok(FixedStr(chars))
    }

    /// Returns the characters without the NULs at the end. Stored values that are not characters
    /// become U+FFFD. [`ToString`] returns them as a [`String`].
    pub fn chars(&self) -> impl Iterator<Item = char> {
        let chars = without_fill(&self.0).iter();
        chars.map(|&value| char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

impl<const N: usize> Default for FixedStr<N> {
    /// Returns the empty text.
    fn default() -> FixedStr<N> {
        FixedStr([0; N])
    }
}

impl<const N: usize> fmt::Display for FixedStr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.chars().collect::<String>())
    }
}

impl<const N: usize> fmt::Debug for FixedStr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.chars().collect::<String>(), f)
    }
}

// SAFETY: integers, for which all bytes are valid.
unsafe impl<const N: usize> Item for FixedStr<N> {
    fn dtype() -> Cow<'static, str> {
        Cow::Owned(format!("{NATIVE_ORDER}U{N}"))
    }

    fn matches(dtype: &str) -> bool {
        let rest = in_native_order(dtype).and_then(|name| name.strip_prefix('U'));
        rest.is_some_and(|digits| digits == N.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::native;

    #[test]
    fn byte_strings_are_filled_with_nuls() {
        let text = FixedBytes::<5>::new("ab\0c").unwrap();
        assert_eq!((text.as_bytes(), text.to_str()), (&b"ab\0c"[..], Ok("ab\0c")));
        assert_eq!(format!("{text:?} {:?}", FixedBytes::<2>::default()), "b\"ab\\x00c\" b\"\"");
        assert!(FixedBytes::<2>::new([0xff, 0xfe]).unwrap().to_str().is_err());
        let error = FixedBytes::<2>::new("abc").unwrap_err();
        assert_eq!(error, Error::InvalidParam);
        assert_eq!(error.to_string(), "the string has 3 bytes, and the items have 2");
        assert!(FixedBytes::<3>::matches("S3") && FixedBytes::<3>::matches("|S3"));
        assert!(!FixedBytes::<3>::matches("|S4") && !FixedBytes::<3>::matches("|V3"));
    }

    #[test]
    fn texts_have_characters_of_four_bytes() {
        let text = FixedStr::<4>::new("añ\u{1f980}").unwrap();
        assert_eq!((text.to_string(), text.chars().count()), ("añ\u{1f980}".to_owned(), 3));
        assert_eq!(
            format!("{text:?} {:>3}|", FixedStr::<2>::new("x").unwrap()),
            "\"añ\u{1f980}\"   x|"
        );
        assert_eq!(FixedStr::<3>([0x61, 0xd800, 0x11_0000]).to_string(), "a\u{fffd}\u{fffd}");
        let error = FixedStr::<2>::new("äöü").unwrap_err().to_string();
        assert_eq!(error, "the string has 3 characters, and the items have 2");
        assert!(FixedStr::<3>::matches(&native("<U3")));
        assert_eq!(FixedStr::<3>::matches("U3"), cfg!(target_endian = "little"));
        assert!(!FixedStr::<3>::matches(&native(">U3")));
        assert!(!FixedStr::<3>::matches(&native("<U12")));
        assert_eq!(size_of::<FixedStr<3>>(), 12);
    }
}
