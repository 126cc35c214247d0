//! Types of items that typed methods read and write: the trait [`Item`], and types for the dtypes
//! of NumPy that have no Rust type.
//!
//! ```
//! use ferroblosc::Item;
//! use ferroblosc::item::{DateTime64, FixedBytes, FixedStr, unit};
//!
//! assert_eq!(f64::dtype(), "<f8");
//! assert_eq!(DateTime64::<unit::Second>::dtype(), "<M8[s]");
//! assert_eq!(FixedBytes::<8>::dtype(), "|S8");
//! assert_eq!(FixedStr::<8>::dtype(), "<U8");
//! ```

#[doc(hidden)]
pub mod record;
mod text;
mod time;

pub use text::{FixedBytes, FixedStr};
pub use time::{DateTime64, TimeDelta64, unit};

use crate::escape::escape;
use crate::os::memory;
use crate::{Error, Result};
use std::alloc;
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// A type of items, for the typed methods of [`Array`](crate::b2nd::Array) and
/// [`SChunk`](crate::schunk::SChunk).
///
/// | kind in NumPy | Rust | dtype of new arrays | also accepts |
/// |---|---|---|---|
/// | integers | `i8` … `i64`, `u8` … `u64` | `\|i1`, `<i2`, … | `i64`: `<M8[…]`, `<m8[…]` |
/// | floats | `f32`, `f64` | `<f4`, `<f8` | |
/// | half floats | `half::f16` (feature `half`) | `<f2` | |
/// | booleans | `bool` | `\|b1` | `?` |
/// | complex numbers | `[f32; 2]`, `[f64; 2]` | `<c8`, `<c16` | |
/// | complex numbers | `num_complex::Complex` (feature `num-complex`) | `<c8`, `<c16` | |
/// | `datetime64` | [`DateTime64`] | `<M8[s]`, … | |
/// | `timedelta64` | [`TimeDelta64`] | `<m8[s]`, … | |
/// | byte strings | [`FixedBytes`] | `\|SN` | |
/// | text | [`FixedStr`] | `<UN` | |
/// | void | `[u8; N]` | `\|VN` | `\|SN`, and records of N bytes |
/// | records | types of the program | `[('a', '<i4'), …]` | |
///
/// `i128` and `u128` have the dtype `|V16`, since NumPy has no such integers. Items in another byte
/// order than that of the machine match no type;
/// [`Array::get_slice`](crate::b2nd::Array::get_slice) returns their bytes. In super-chunks and
/// arrays without a dtype only the size is compared.
///
/// # Records
///
/// The feature `derive` adds `#[derive(Item)]` for records. Without it a program can implement the
/// trait:
///
/// ```
/// use ferroblosc::Item;
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
/// use std::borrow::Cow;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Reading {
///     time: i64,
///     value: f64,
/// }
///
/// // SAFETY: the fields have no invalid values, and there is no padding between or after them.
/// unsafe impl Item for Reading {
///     fn dtype() -> Cow<'static, str> {
///         "[('time', '<i8'), ('value', '<f8')]".into()
///     }
/// }
///
/// let readings = [Reading { time: 1, value: 0.5 }, Reading { time: 2, value: 0.25 }];
/// let array = Array::from_items(Storage::memory(), CParams::default(), [2], &readings)?;
/// assert_eq!(array.get::<Reading>(1)?, [readings[1]]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// # Safety
///
/// - The type must have no padding and no uninitialised bytes.
/// - The dtype must describe as many bytes as the type has, at least 1.
/// - Any bytes must be a valid value after [`Item::normalize`], and zero bytes also before it.
/// - [`Item::normalize`] must not panic, and depend on the bytes alone.
pub unsafe trait Item: Copy + Send + Sync + 'static {
    /// Returns the dtype in NumPy's notation, which new arrays record.
    fn dtype() -> Cow<'static, str>;

    /// Whether items of an array with this dtype can be read and written as this type.
    fn matches(dtype: &str) -> bool {
        dtype == Self::dtype()
    }

    /// Replaces the bytes of invalid values in `bytes`, which contains whole items, by valid ones.
    fn normalize(_bytes: &mut [u8]) {}
}

/// Returns the dtype of a number or text in native byte order.
macro_rules! native {
    ($code:literal) => {
        if cfg!(target_endian = "big") { concat!(">", $code) } else { concat!("<", $code) }
    };
}

/// NumPy's character of the native byte order.
const NATIVE_ORDER: char = if cfg!(target_endian = "big") { '>' } else { '<' };

/// Returns a dtype without its byte order, if the order is native. Dtypes without one are in
/// little-endian order, since the systems that omit it are.
fn in_native_order(dtype: &str) -> Option<&str> {
    match dtype.strip_prefix(NATIVE_ORDER) {
        Some(rest) => Some(rest),
        None if dtype.starts_with(['<', '>', '|']) || cfg!(target_endian = "big") => None,
        None => Some(dtype.strip_prefix('=').unwrap_or(dtype)),
    }
}

/// Whether `dtype` is a number of `size` bytes in native byte order, of one of these kinds.
fn is_number(dtype: &str, kinds: &[u8], size: usize) -> bool {
    let rest = if size == 1 {
        Some(dtype.strip_prefix(['<', '>', '=', '|']).unwrap_or(dtype))
    } else {
        in_native_order(dtype)
    };
    match rest.map(str::as_bytes) {
        Some([kind, digits @ ..]) if kinds.contains(kind) => {
            std::str::from_utf8(digits).is_ok_and(|digits| digits == size.to_string())
        }
        _ => false,
    }
}

macro_rules! number {
    ($($type:ty => $dtype:expr, $kinds:literal;)*) => {
        $(
            // SAFETY: a number, for which all bytes are valid.
            unsafe impl Item for $type {
                fn dtype() -> Cow<'static, str> {
                    Cow::Borrowed($dtype)
                }

                fn matches(dtype: &str) -> bool {
                    is_number(dtype, $kinds, size_of::<$type>())
                }
            }
        )*
    };
}

number! {
    i8 => "|i1", b"i";
    i16 => native!("i2"), b"i";
    i32 => native!("i4"), b"i";
    u8 => "|u1", b"u";
    u16 => native!("u2"), b"u";
    u32 => native!("u4"), b"u";
    u64 => native!("u8"), b"u";
    f32 => native!("f4"), b"f";
    f64 => native!("f8"), b"f";
    [f32; 2] => native!("c8"), b"c";
    [f64; 2] => native!("c16"), b"c";
}

#[cfg(feature = "num-complex")]
number! {
    num_complex::Complex<f32> => native!("c8"), b"c";
    num_complex::Complex<f64> => native!("c16"), b"c";
}

#[cfg(feature = "half")]
number! {
    half::f16 => native!("f2"), b"f";
}

// SAFETY: a number, for which all bytes are valid.
unsafe impl Item for i64 {
    fn dtype() -> Cow<'static, str> {
        Cow::Borrowed(native!("i8"))
    }

    fn matches(dtype: &str) -> bool {
        // Dates and times are integers with a unit in brackets.
        let is_time = |rest: &str| rest.starts_with("M8[") || rest.starts_with("m8[");
        let rest = dtype.strip_prefix(NATIVE_ORDER);
        is_number(dtype, b"i", 8) || rest.is_some_and(is_time) && dtype.ends_with(']')
    }
}

macro_rules! wide {
    ($($type:ty),*) => {
        $(
            // SAFETY: a number, for which all bytes are valid.
            unsafe impl Item for $type {
                fn dtype() -> Cow<'static, str> {
                    <[u8; 16]>::dtype()
                }
            }
        )*
    };
}

wide!(i128, u128);

// SAFETY: one byte, which `normalize` sets to 0 or 1.
unsafe impl Item for bool {
    fn dtype() -> Cow<'static, str> {
        Cow::Borrowed("|b1")
    }

    fn matches(dtype: &str) -> bool {
        is_number(dtype, b"b", 1) || dtype == "?"
    }

    /// Sets bytes above 1 to 1, as NumPy interprets them.
    fn normalize(bytes: &mut [u8]) {
        for byte in bytes {
            *byte = (*byte != 0).into();
        }
    }
}

// SAFETY: bytes have no invalid values.
unsafe impl<const N: usize> Item for [u8; N] {
    fn dtype() -> Cow<'static, str> {
        Cow::Owned(format!("|V{N}"))
    }

    fn matches(dtype: &str) -> bool {
        // The size of records is not computed here: callers compare the item sizes.
        let bytes = dtype.strip_prefix('|').unwrap_or(dtype);
        let digits = bytes.strip_prefix(['V', 'S']);
        dtype.starts_with(['[', '{']) || digits.is_some_and(|digits| digits == N.to_string())
    }
}

/// Returns the bytes of items.
pub(crate) fn bytes_of<T: Item>(items: &[T]) -> &[u8] {
    // SAFETY: items have no uninitialised bytes.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// The bytes of items, for writing. On drop they are made valid.
pub(crate) struct BytesMut<'a, T: Item>(&'a mut [T]);

impl<'a, T: Item> BytesMut<'a, T> {
    pub(crate) fn new(items: &'a mut [T]) -> BytesMut<'a, T> {
        BytesMut(items)
    }
}

impl<T: Item> Deref for BytesMut<'_, T> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as in `deref_mut`.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), size_of_val(self.0)) }
    }
}

impl<T: Item> DerefMut for BytesMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: items have no uninitialised bytes. Until `drop` has normalised the bytes, they
        // are accessed as bytes only.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), size_of_val(self.0)) }
    }
}

impl<T: Item> Drop for BytesMut<'_, T> {
    fn drop(&mut self) {
        T::normalize(self);
    }
}

/// Returns `len` items of zero bytes. The system allocates the pages of a large vector when they
/// are first written, as large pages where it has them.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub fn zeroed<T: Item>(len: usize) -> Result<Vec<T>> {
    const { assert!(size_of::<T>() > 0, "items need at least one byte") };
    if len == 0 {
        return Ok(Vec::new());
    }
    let layout = alloc::Layout::array::<T>(len).map_err(|_| Error::MemoryAlloc)?;
    // SAFETY: the layout has a size above 0. Zeros are valid items, and the vector frees the
    // allocation with the same layout.
    unsafe {
        let start = alloc::alloc_zeroed(layout);
        if start.is_null() {
            return Err(Error::MemoryAlloc.of_bytes(layout.size()));
        }
        memory::prefer_large_pages(start, layout.size());
        Ok(Vec::from_raw_parts(start.cast(), len, len))
    }
}

/// Checks an item size in bytes.
///
/// # Errors
/// [`Error::InvalidParam`] if it is below 1.
pub(crate) fn check_size(itemsize: i32) -> Result<()> {
    if itemsize > 0 {
        return Ok(());
    }
    let text = format!("the item size is {itemsize}, but at least 1 byte is needed");
    Err(Error::InvalidParam.because(text))
}

/// Checks the length of a buffer, in items or bytes. `needed` is `None` if it overflows.
///
/// # Errors
/// [`Error::InvalidParam`], which names both lengths.
pub(crate) fn check_len(len: usize, needed: Option<usize>, unit: &str) -> Result<()> {
    if needed == Some(len) {
        return Ok(());
    }
    Err(refuse_len(len, needed, unit))
}

#[cold]
fn refuse_len(len: usize, needed: Option<usize>, unit: &str) -> Error {
    let needed = needed.unwrap_or(usize::MAX);
    Error::InvalidParam.because(format!("the buffer has {len} {unit}, but {needed} are needed"))
}

/// Checks that items of `typesize` bytes with this dtype can be accessed as `T`. Without a dtype
/// only the sizes are compared.
///
/// # Errors
/// [`Error::InvalidParam`], which names both types.
pub(crate) fn check<T: Item>(typesize: usize, dtype: Option<&str>) -> Result<()> {
    if typesize == size_of::<T>() && dtype.is_none_or(T::matches) {
        return Ok(());
    }
    Err(mismatch::<T>(typesize, dtype))
}

#[cold]
fn mismatch<T: Item>(typesize: usize, dtype: Option<&str>) -> Error {
    let stored = match dtype {
        Some(dtype) => format!("the dtype {} and {typesize} bytes", escape(dtype)),
        None => format!("{typesize} bytes"),
    };
    Error::InvalidParam.because(format!(
        "the stored items have {stored}, but {} has the dtype {} and {} bytes",
        std::any::type_name::<T>(),
        escape(&T::dtype()),
        size_of::<T>()
    ))
}

/// Swaps the byte orders in dtypes for little-endian systems on big-endian ones.
#[cfg(test)]
pub(crate) fn native(dtypes: &str) -> String {
    let swap = |c| match c {
        '<' if cfg!(target_endian = "big") => '>',
        '>' if cfg!(target_endian = "big") => '<',
        c => c,
    };
    dtypes.chars().map(swap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_their_kind_size_and_byte_order_only() {
        assert!(f32::matches(&native("<f4")));
        // Without an order, numbers are little-endian.
        for dtype in ["<f4", "=f4", "f4"] {
            assert_eq!(f32::matches(dtype), cfg!(target_endian = "little"), "{dtype}");
        }
        for dtype in [">f4", "|f4", "<f8", "<i4", "<f04", "<f", "f", "<", "", "<f4 ", "<f+4"] {
            assert!(!f32::matches(&native(dtype)), "{dtype}");
        }
        for dtype in ["|u1", "<u1", ">u1", "u1"] {
            assert!(u8::matches(dtype), "{dtype}");
        }
        assert!(!u8::matches("|i1") && !i8::matches("|u1") && !bool::matches("|u1"));
        assert!(bool::matches("|b1") && bool::matches("?"));
        assert!(<[f64; 2]>::matches(&native("<c16")) && !<[f64; 2]>::matches(&native("<f8")));
    }

    #[test]
    fn dates_are_64_bit_integers() {
        for dtype in ["<M8[ns]", "<m8[D]", "<i8"] {
            assert!(i64::matches(&native(dtype)), "{dtype}");
        }
        for dtype in [">M8[ns]", "<M8[ns", "M8[ns]"] {
            assert!(!i64::matches(&native(dtype)), "{dtype}");
        }
        assert!(!u64::matches(&native("<M8[ns]")));
    }

    #[test]
    fn byte_arrays_match_byte_strings_and_records() {
        for dtype in ["|V3", "|S3", "S3", "[('a', '|i1'), ('b', '<i2')]", "{'names': ['a']}"] {
            assert!(<[u8; 3]>::matches(dtype), "{dtype}");
        }
        for dtype in ["|V4", "|u1", "<U3", "|S"] {
            assert!(!<[u8; 3]>::matches(dtype), "{dtype}");
        }
        assert_eq!(<[u8; 12]>::dtype(), "|V12");
    }

    #[test]
    fn every_type_matches_the_dtype_that_it_records() {
        fn is_consistent<T: Item>() -> bool {
            T::matches(&T::dtype()) && check::<T>(size_of::<T>(), Some(&T::dtype())).is_ok()
        }
        assert!(is_consistent::<i8>() && is_consistent::<i16>() && is_consistent::<i32>());
        assert!(is_consistent::<i64>() && is_consistent::<i128>() && is_consistent::<bool>());
        assert!(is_consistent::<u8>() && is_consistent::<u16>() && is_consistent::<u32>());
        assert!(is_consistent::<u64>() && is_consistent::<u128>() && is_consistent::<f32>());
        assert!(is_consistent::<f64>() && is_consistent::<[f32; 2]>());
        assert!(is_consistent::<[f64; 2]>() && is_consistent::<[u8; 7]>());
        assert!(is_consistent::<FixedBytes<3>>() && is_consistent::<FixedStr<3>>());
        assert!(is_consistent::<DateTime64<unit::Week>>());
        assert!(is_consistent::<TimeDelta64<unit::Attosecond>>());
        #[cfg(feature = "half")]
        assert!(is_consistent::<half::f16>());
        #[cfg(feature = "num-complex")]
        assert!(is_consistent::<num_complex::Complex<f32>>());
        #[cfg(feature = "num-complex")]
        assert!(is_consistent::<num_complex::Complex<f64>>());
    }

    #[test]
    fn an_error_names_both_types() {
        let error = check::<f64>(4, Some(&native(">f4\x1b"))).unwrap_err();
        assert_eq!(error, Error::InvalidParam);
        let text = native(
            "the stored items have the dtype >f4\\u{1b} and 4 bytes, but f64 has the dtype <f8 and \
             8 bytes",
        );
        assert_eq!(error.to_string(), text);
        let error = check::<i16>(4, None).unwrap_err().to_string();
        let text = "the stored items have 4 bytes, but i16 has the dtype <i2 and 2 bytes";
        assert_eq!(error, native(text));
        assert!(check::<f32>(4, None).is_ok());
    }

    #[test]
    fn bytes_of_bools_are_normalised_on_drop() {
        let mut flags = [true, false, true];
        BytesMut::new(&mut flags).copy_from_slice(&[0, 2, 255]);
        assert_eq!(flags, [false, true, true]);
    }

    #[test]
    fn zeros_are_allocated_fallibly() {
        assert_eq!(zeroed::<u32>(3).unwrap(), [0; 3]);
        assert!(zeroed::<u32>(0).unwrap().is_empty());
        assert_eq!(zeroed::<u64>(usize::MAX), Err(Error::MemoryAlloc));
        // Half of the address space of 32-bit systems, so that two do not fit.
        let halves = [(); 2].map(|()| zeroed::<u8>(isize::MAX as usize));
        assert!(halves[1].as_ref().is_err_and(|error| *error == Error::MemoryAlloc));
    }
}
