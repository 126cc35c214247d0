//! The Zarr codec `blosc` for netCDF-C.
//!
//! netCDF-C reads and writes Zarr arrays (`#mode=zarr`) with HDF5 filters. It searches the files in
//! `HDF5_PLUGIN_PATH` for a second entry point, which converts between the parameters of a filter
//! and the JSON description of the codec in the metadata of an array. The format of chunks is the
//! same.
//!
//! netCDF-C keeps two lists of parameters. Users set the visible parameters, which the JSON
//! describes. They are those of the HDF5 filter, except that value 3 is the block size and a
//! shuffle of −1 selects the shuffle by the type. The filter receives the working parameters, with
//! the type size in value 2 and the block size in value 7. (Source: netCDF-C's
//! `netcdf_filter_build.h`, the configuration of numcodecs.)

use ferroblosc::{Buffer, blosc1};
use ferroblosc_capi_common::buffers::c_string;
use ferroblosc_hdf5_common::blosc::{Blosc, CHOICES, SHUFFLE, slot};
use ferroblosc_hdf5_common::{Filter, netcdf, with_caller};
use serde_json::Value;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

/// The version of [`CodecClass`], `NCZ_CODEC_CLASS_VER`.
const CLASS_VERSION: c_int = 1;
/// The kind of codec that is an HDF5 filter, `NCZ_CODEC_HDF5`.
const IS_FILTER: c_int = 1;
/// The name of the codec in JSON.
const ID: &CStr = c"blosc";

/// The shuffle value that depends on the type: bits for items of one byte, otherwise bytes.
const AUTOMATIC_SHUFFLE: u32 = -1i32 as u32;
/// The configuration that numcodecs assumes for missing entries: codec, level, shuffle, block size.
const DEFAULTS: (&str, u32, u32, u32) = ("lz4", 5, 1, 0);

/// Status codes of netCDF-C.
mod status {
    use super::c_int;
    pub const NO_ERROR: c_int = 0;
    /// `NC_EINVAL`.
    pub const INVALID: c_int = -36;
    /// `NC_ENOMEM`.
    pub const NO_MEMORY: c_int = -61;
    /// `NC_EFILTER`.
    pub const FILTER: c_int = -132;
}

type ToHdf5 = unsafe extern "C" fn(*const c_char, *mut usize, *mut *mut c_uint) -> c_int;
type ToJson = unsafe extern "C" fn(usize, *const c_uint, *mut *mut c_char) -> c_int;
type Modify = unsafe extern "C" fn(
    c_int,
    c_int,
    *mut usize,
    *mut *mut c_uint,
    *mut usize,
    *mut *mut c_uint,
) -> c_int;

/// `NCZ_codec_t`: the codec interface of netCDF-C.
#[repr(C)]
pub struct CodecClass {
    version: c_int,
    sort: c_int,
    codecid: *const c_char,
    hdf5id: c_uint,
    initialize: Option<unsafe extern "C" fn()>,
    finalize: Option<unsafe extern "C" fn()>,
    to_hdf5: Option<ToHdf5>,
    to_json: Option<ToJson>,
    modify: Option<Modify>,
}

// SAFETY: the name pointer refers to a constant, and the struct is never modified.
unsafe impl Sync for CodecClass {}

static CLASS: CodecClass = CodecClass {
    version: CLASS_VERSION,
    sort: IS_FILTER,
    codecid: ID.as_ptr(),
    hdf5id: Blosc::ID as c_uint,
    initialize: None,
    finalize: None,
    to_hdf5: Some(codec_to_hdf5),
    to_json: Some(hdf5_to_codec),
    modify: Some(modify_parameters),
};

/// Returns the codec for netCDF-C.
#[unsafe(no_mangle)]
pub extern "C" fn NCZ_get_codec_info() -> *const c_void {
    (&raw const CLASS).cast()
}

/// Returns the parameters described by a codec's JSON, or a status code of netCDF-C.
fn parameters(json: &str) -> Result<[u32; slot::COUNT], c_int> {
    let json: Value = serde_json::from_str(json).map_err(|_| status::INVALID)?;
    if json.get("id").and_then(Value::as_str) != ID.to_str().ok() {
        return Err(status::INVALID);
    }
    let number = |name: &str, default: u32| match json.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::String(text)) => text.parse::<i64>().map_err(|_| status::FILTER).and_then(bits),
        Some(value) => value.as_i64().ok_or(status::FILTER).and_then(bits),
    };
    let name = match json.get("cname") {
        None | Some(Value::Null) => DEFAULTS.0,
        Some(value) => value.as_str().ok_or(status::FILTER)?,
    };
    let name = CString::new(name).map_err(|_| status::FILTER)?;
    let codec = blosc1::compname_to_compcode(name.to_bytes()).ok_or(status::FILTER)?;
    let mut values = [0; slot::COUNT];
    values[slot::TYPESIZE] = number("typesize", 0)?;
    values[slot::NCZARR_BLOCKSIZE] = number("blocksize", DEFAULTS.3)?;
    values[slot::CLEVEL] = number("clevel", DEFAULTS.1)?;
    values[slot::SHUFFLE] = number("shuffle", DEFAULTS.2)?;
    values[slot::CODEC] = u32::from(codec);
    Ok(values)
}

/// Converts a JSON number to a parameter. −1 is the only valid negative number.
fn bits(number: i64) -> Result<u32, c_int> {
    if number == -1 {
        return Ok(AUTOMATIC_SHUFFLE);
    }
    u32::try_from(number).map_err(|_| status::FILTER)
}

/// Replaces an automatic shuffle by the shuffle for items of `typesize` bytes.
fn with_shuffle(values: &[u32], typesize: u32) -> Vec<u32> {
    let mut values = values.to_vec();
    if let Some(shuffle) = values.get_mut(SHUFFLE.slot)
        && *shuffle == AUTOMATIC_SHUFFLE
    {
        *shuffle = if typesize == 1 { 2 } else { 1 };
    }
    values
}

/// Returns the JSON for visible parameters, or a status code of netCDF-C.
fn json(values: &[u32]) -> Result<String, c_int> {
    let known = with_shuffle(values, 0);
    let [level, shuffle, codec] = CHOICES.map(|choice| choice.read(&known));
    let (Ok(level), Ok(shuffle), Ok(codec)) = (level, shuffle, codec) else {
        return Err(status::FILTER);
    };
    let shuffle = match values.get(SHUFFLE.slot) {
        Some(&AUTOMATIC_SHUFFLE) => -1,
        _ => i64::from(shuffle),
    };
    let name = blosc1::compcode_to_compname(codec as i32).ok_or(status::FILTER)?;
    let blocksize = values.get(slot::NCZARR_BLOCKSIZE).unwrap_or(&0);
    Ok(format!(
        r#"{{"id": "blosc", "cname": "{}", "clevel": {level}, "shuffle": {shuffle}, "blocksize": {blocksize}}}"#,
        name.to_string_lossy()
    ))
}

/// Returns the working parameters for visible ones. `itemsize` is the type size in bytes, if known.
fn working(visible: &[u32], itemsize: Option<usize>) -> Vec<u32> {
    let visible_or = |slot: usize, default| visible.get(slot).copied().unwrap_or(default);
    let typesize = itemsize.and_then(|size| u32::try_from(size).ok());
    let typesize = typesize.unwrap_or(visible_or(slot::TYPESIZE, 0));
    let mut values = with_shuffle(visible, typesize);
    values.truncate(slot::COUNT);
    for choice in CHOICES {
        if values.len() <= choice.slot {
            values.resize(choice.slot, 0);
            values.push(choice.default);
        }
    }
    values[slot::REVISION] = slot::NCZARR_REVISION;
    values[slot::TYPESIZE] = typesize;
    values.push(visible_or(slot::NCZARR_BLOCKSIZE, 0));
    values
}

/// Stores a copy of the numbers in the outputs. The caller frees it.
///
/// # Safety
/// The pointers must be writable.
unsafe fn pass(values: &[u32], count: *mut usize, numbers: *mut *mut c_uint) -> c_int {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let Ok(copy) = Buffer::copy_of(&bytes) else {
        return status::NO_MEMORY;
    };
    // SAFETY: the caller guarantees that the pointers are writable. The buffer comes from `malloc`,
    // whose alignment suffices for any type.
    unsafe {
        *count = values.len();
        *numbers = copy.into_raw().cast();
    }
    status::NO_ERROR
}

/// Returns `count` numbers as a slice.
///
/// # Safety
/// `numbers` must point to `count` numbers, or be NULL.
unsafe fn slice<'a>(count: usize, numbers: *const c_uint) -> &'a [u32] {
    if count == 0 || numbers.is_null() {
        return &[];
    }
    // SAFETY: the caller guarantees that `numbers` points to `count` numbers, and it is not NULL.
    unsafe { std::slice::from_raw_parts(numbers, count) }
}

/// Converts the JSON of a codec to parameters.
///
/// # Safety
/// `codec` must be a C string or NULL; the outputs must be writable or NULL.
unsafe extern "C" fn codec_to_hdf5(
    codec: *const c_char,
    count: *mut usize,
    numbers: *mut *mut c_uint,
) -> c_int {
    if codec.is_null() || count.is_null() || numbers.is_null() {
        return status::INVALID;
    }
    // SAFETY: the caller guarantees a C string, and the pointer is not NULL.
    let codec = unsafe { CStr::from_ptr(codec) };
    let values = codec.to_str().map_err(|_| status::INVALID).and_then(parameters);
    match values {
        // SAFETY: the outputs are not NULL, and the caller guarantees that they are writable.
        Ok(values) => unsafe { pass(&values, count, numbers) },
        Err(status) => status,
    }
}

/// Converts visible parameters to the JSON of the codec.
///
/// # Safety
/// `numbers` must point to `count` numbers; the output must be writable or NULL.
unsafe extern "C" fn hdf5_to_codec(
    count: usize,
    numbers: *const c_uint,
    codec: *mut *mut c_char,
) -> c_int {
    if codec.is_null() || (numbers.is_null() && count > 0) {
        return status::INVALID;
    }
    // SAFETY: the caller guarantees `count` numbers.
    let text = match json(unsafe { slice(count, numbers) }) {
        Ok(text) => CString::new(text).unwrap_or_default(),
        Err(status) => return status,
    };
    match c_string(&text) {
        Ok(copy) => {
            // SAFETY: the output is not NULL, and the caller guarantees that it is writable.
            unsafe { *codec = copy };
            status::NO_ERROR
        }
        Err(_) => status::NO_MEMORY,
    }
}

with_caller! {
    /// Returns the working parameters of a variable.
    fn 6 modify_parameters (
        file: c_int,
        variable: c_int,
        visible_count: *mut usize,
        visible: *mut *mut c_uint,
        working_count: *mut usize,
        working: *mut *mut c_uint
    ) -> c_int => modify_from;
}

unsafe extern "C" fn modify_from(
    file: c_int,
    variable: c_int,
    visible_count: *mut usize,
    visible: *mut *mut c_uint,
    working_count: *mut usize,
    working_numbers: *mut *mut c_uint,
    caller: *const c_void,
) -> c_int {
    let pointers = [visible_count.cast::<c_void>(), visible.cast(), working_count.cast()];
    if working_numbers.is_null() || pointers.iter().any(|pointer| pointer.is_null()) {
        return status::INVALID;
    }
    // SAFETY: netCDF-C passes a list of `*visible_count` numbers, and neither pointer is NULL.
    let visible = unsafe { slice(*visible_count, *visible) };
    let values = working(visible, netcdf::itemsize(file, variable, caller));
    // SAFETY: the outputs are not NULL, and netCDF-C passes writable outputs.
    unsafe { pass(&values, working_count, working_numbers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_of_numcodecs_round_trips_through_parameters() {
        for (text, values) in [
            (
                r#"{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}"#,
                [0, 0, 0, 0, 5, 1, 1],
            ),
            (
                r#"{"id": "blosc", "cname": "zstd", "clevel": 9, "shuffle": -1, "blocksize": 4096}"#,
                [0, 0, 0, 4096, 9, AUTOMATIC_SHUFFLE, 5],
            ),
            (
                r#"{"id": "blosc", "cname": "snappy", "clevel": 0, "shuffle": 0, "blocksize": 0}"#,
                [0, 0, 0, 0, 0, 0, 3],
            ),
        ] {
            assert_eq!(parameters(text), Ok(values));
            assert_eq!(json(&values).as_deref(), Ok(text));
        }
    }

    #[test]
    fn missing_entries_have_the_defaults_of_numcodecs_and_unknown_ones_are_ignored() {
        assert_eq!(parameters(r#"{"id":"blosc"}"#), Ok([0, 0, 0, 0, 5, 1, 1]));
        let text = r#"{"clevel":"7","id":"blosc","typesize":8,"shuffle":null,"more":[{}]}"#;
        assert_eq!(parameters(text), Ok([0, 0, 8, 0, 7, 1, 1]));
        let text =
            r#"{"id": "blosc", "cname": "blosclz", "clevel": 5, "shuffle": 1, "blocksize": 0}"#;
        assert_eq!(json(&[]).as_deref(), Ok(text));
        assert_eq!(json(&[2, 2, 4, 0, 5, 1, 0, 9, 9]).as_deref(), Ok(text));
    }

    #[test]
    fn json_of_other_codecs_is_rejected() {
        for text in ["", "nonsense", "[]", "{}", r#"{"id":"zlib","level":3}"#, "\"blosc\""] {
            assert_eq!(parameters(text), Err(status::INVALID), "{text}");
        }
        assert_eq!(parameters(&"[".repeat(100_000)), Err(status::INVALID));
        for entry in [
            r#""cname":"nope""#,
            r#""cname":3"#,
            r#""cname":"lz4\u0000""#,
            r#""clevel":5.5"#,
            r#""clevel":-2"#,
            r#""shuffle":true"#,
            r#""blocksize":5000000000"#,
            r#""clevel":"high""#,
        ] {
            let text = format!(r#"{{"id":"blosc",{entry}}}"#);
            assert_eq!(parameters(&text), Err(status::FILTER), "{text}");
        }
        for values in [[0, 0, 0, 0, 77, 1, 1], [0, 0, 0, 0, 5, 9, 1], [0, 0, 0, 0, 5, 1, 99]] {
            assert_eq!(json(&values), Err(status::FILTER));
        }
    }

    #[test]
    fn working_parameters_contain_type_size_and_block_size() {
        let revision = slot::NCZARR_REVISION;
        let visible = [0, 0, 0, 4096, 9, AUTOMATIC_SHUFFLE, 5];
        assert_eq!(working(&visible, Some(4)), [revision, 0, 4, 4096, 9, 1, 5, 4096]);
        assert_eq!(working(&visible, Some(1)), [revision, 0, 1, 4096, 9, 2, 5, 4096]);
        assert_eq!(working(&visible, None)[slot::TYPESIZE], 0);
        assert_eq!(working(&[0, 0, 8, 0, 7], None), [revision, 0, 8, 0, 7, 1, 0, 0]);
        assert_eq!(working(&[], Some(2)), [revision, 0, 2, 0, 5, 1, 0, 0]);
        assert_eq!(working(&[9; 20], Some(2)).len(), 8);
    }

    #[test]
    fn null_pointers_are_rejected() {
        let (mut count, mut numbers, mut text) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: NULL is allowed for all pointers.
        unsafe {
            let null = std::ptr::null();
            assert_eq!(codec_to_hdf5(null, &raw mut count, &raw mut numbers), status::INVALID);
            assert_eq!(hdf5_to_codec(3, null.cast(), &raw mut text), status::INVALID);
            assert_eq!(hdf5_to_codec(0, null.cast(), std::ptr::null_mut()), status::INVALID);
        }
    }
}
