//! Conversions of C arguments and results of the Bloscpack and bcolz functions.

use crate::types::bloscpack_args;
use ferroblosc::io::named::NamedFile;
use ferroblosc::{Buffer, Error, Result, trace_error};
use ferroblosc_capi_common::buffers::c_string;
use ferroblosc_capi_common::pointers;
use ferroblosc_formats::bloscpack::{
    self, AppendArgs, BloscArgs, BloscpackArgs, Codec, Error as BloscpackError, Metadata,
    MetadataArgs, PackArgs, Reserve, Shuffle, Unpacked, Value,
};
use ferroblosc_formats::blpk::{Archive, Checksum, Error as BlpkError};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

thread_local! {
    /// The text of the last error of this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    /// Whether the running call has recorded its error there.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of a function. Records its error, unless the body has done so.
pub fn noted<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    IS_NOTED.set(false);
    body().inspect_err(|error| {
        if !IS_NOTED.get() {
            record(&error.to_string());
        }
    })
}

fn record(text: &str) {
    // A NUL in a name is removed.
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    // Fails only while the thread exits, when no caller can read the text.
    let _ = LAST_ERROR.try_with(|last| last.replace(text));
    IS_NOTED.set(true);
}

/// Records the text of a Bloscpack error and returns its code.
pub fn recorded(error: BloscpackError) -> Error {
    note(&error, error.code())
}

/// Records the text of an error and returns `code` with the text as its cause.
pub fn note(error: &dyn std::fmt::Display, code: Error) -> Error {
    let text = error.to_string();
    trace_error!("{text}");
    record(&text);
    if code.errno().is_some() {
        return code;
    }
    Error::from(code.kind()).because(error.to_string())
}

/// Records the text of an error of the `blpk` module and returns its code.
pub fn blpk(error: BlpkError) -> Error {
    recorded(error.into())
}

/// Returns the path at a C pointer.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL, and on Windows for a path that is not UTF-8.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string that does not change during `'a`.
pub unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path> {
    // SAFETY: guaranteed by the caller.
    let path = unsafe { pointers::path(path) }?;
    path.ok_or_else(|| Error::InvalidParam.because("the path is NULL"))
}

/// Returns the bytes at a C pointer, which may be NULL if `size` is 0.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL or a `size` above `isize::MAX`.
///
/// # Safety
/// `start` is NULL or readable for `size` bytes that do not change during `'a`.
pub unsafe fn bytes<'a>(start: *const c_void, size: usize) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if start.is_null() || isize::try_from(size).is_err() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: not NULL, at most `isize::MAX` bytes; the bytes are guaranteed by the caller.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) })
}

/// Returns the writable bytes at a C pointer, which may be NULL if `size` is 0.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL or a `size` above `isize::MAX`.
///
/// # Safety
/// `start` is NULL or writable for `size` bytes that nothing else accesses during `'a`.
pub unsafe fn bytes_mut<'a>(start: *mut c_void, size: usize) -> Result<&'a mut [u8]> {
    if size == 0 {
        return Ok(&mut []);
    }
    if start.is_null() || isize::try_from(size).is_err() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: not NULL, at most `isize::MAX` bytes; the bytes are guaranteed by the caller.
    Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), size) })
}

/// Returns the optional text at a C pointer, `None` for NULL.
///
/// # Errors
/// [`Error::InvalidParam`] for a text that is not UTF-8.
///
/// # Safety
/// `text` is NULL or a NUL-terminated string that does not change during `'a`.
pub unsafe fn word<'a>(text: *const c_char) -> Result<Option<&'a str>> {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { pointers::c_str(text) };
    text.map(|text| text.to_str().map_err(|_| Error::InvalidParam)).transpose()
}

/// Returns the requested number of threads, at least 1.
pub fn threads(nthreads: c_int) -> usize {
    usize::try_from(nthreads).unwrap_or(1).max(1)
}

/// Returns the space to reserve. A negative number selects the default, ten times the size in use.
fn reserve(number: i64) -> Reserve {
    u64::try_from(number).map_or(Reserve::Times(10), Reserve::Exactly)
}

/// Converts C arguments. NULL selects the defaults.
///
/// # Safety
/// `args` is NULL or points to arguments whose texts are NULL or NUL-terminated strings.
pub unsafe fn pack_args(args: *const bloscpack_args) -> Result<PackArgs> {
    // SAFETY: guaranteed by the caller.
    let Some(args) = (unsafe { args.as_ref() }) else {
        return Ok(PackArgs::default());
    };
    // SAFETY: guaranteed by the caller.
    let (codec, checksum, metadata) =
        unsafe { (word(args.codec)?, word(args.checksum)?, word(args.metadata)?) };
    let codec = codec.map(Codec::from_name).transpose().map_err(recorded)?;
    let checksum = checksum
        .map(|name| {
            Checksum::from_name(name)
                .ok_or_else(|| recorded(BloscpackError::NoSuchChecksum(name.to_owned())))
        })
        .transpose()?;
    let metadata = metadata
        .map(|text| Value::parse(text.as_bytes()).map_err(|error| recorded(error.into())))
        .transpose()?;
    let shuffle = match args.shuffle {
        0 => Shuffle::None,
        1 => Shuffle::Bytes,
        2 => Shuffle::Bits,
        _ => return Err(Error::InvalidParam),
    };
    Ok(PackArgs {
        chunk_size: args.chunk_size,
        metadata,
        blosc: BloscArgs {
            typesize: args.typesize.into(),
            clevel: args.clevel.into(),
            shuffle,
            codec: codec.unwrap_or(Codec::BLOSCLZ),
            ..BloscArgs::default()
        },
        bloscpack: BloscpackArgs {
            offsets: args.offsets != 0,
            checksum: checksum.unwrap_or(Checksum::Adler32),
            max_app_chunks: reserve(args.max_app_chunks),
        },
        metadata_args: MetadataArgs {
            max_meta_size: reserve(args.max_meta_size),
            ..MetadataArgs::default()
        },
        nthreads: threads(args.nthreads),
    })
}

/// Converts C arguments for appending. NULL selects the defaults.
///
/// # Safety
/// The same conditions as for [`pack_args`].
pub unsafe fn append_args(args: *const bloscpack_args) -> Result<AppendArgs> {
    if args.is_null() {
        return Ok(AppendArgs::default());
    }
    // SAFETY: guaranteed by the caller.
    let args = unsafe { pack_args(args) }?;
    Ok(AppendArgs {
        typesize: Some(args.blosc.typesize).filter(|size| *size != 0),
        clevel: args.blosc.clevel,
        shuffle: args.blosc.shuffle,
        codec: args.blosc.codec,
        metadata: args.metadata,
        metadata_args: args.metadata_args,
        nthreads: args.nthreads,
    })
}

/// Sets an output to NULL, so that it is defined after an error.
///
/// # Safety
/// `dest` is NULL or writable for a pointer.
pub unsafe fn clear<T>(dest: *mut *mut T) {
    // SAFETY: guaranteed by the caller.
    unsafe { pointers::write_if_given(dest, std::ptr::null_mut()) };
}

/// Stores the address of a copy of `data`, which the caller frees. Returns its size in bytes.
///
/// # Safety
/// `dest` is NULL or writable for a pointer.
pub unsafe fn write_output(data: &[u8], dest: *mut *mut c_void) -> Result<i64> {
    if dest.is_null() {
        return Err(Error::InvalidParam);
    }
    let buffer = Buffer::copy_of(data)?;
    let size = i64::try_from(data.len()).map_err(|_| Error::InvalidParam)?;
    // SAFETY: not NULL, and the caller guarantees that a pointer can be written.
    unsafe { dest.write(buffer.into_raw().cast()) };
    Ok(size)
}

/// Stores the metadata as JSON for the caller to free, or NULL if there is no JSON metadata. Does
/// nothing if `metadata` is NULL.
///
/// # Safety
/// `metadata` is NULL or writable for a pointer.
pub unsafe fn write_metadata(found: Option<&Metadata>, metadata: *mut *mut c_char) -> Result<()> {
    if metadata.is_null() {
        return Ok(());
    }
    let text = match found.and_then(Metadata::value) {
        // JSON escapes NULs.
        Some(value) => c_string(&CString::new(value.to_json()).map_err(|_| Error::Data)?)?,
        None => std::ptr::null_mut(),
    };
    // SAFETY: not NULL, and the caller guarantees that a pointer can be written.
    unsafe { metadata.write(text) };
    Ok(())
}

/// Converts a size to the type of the C functions.
pub fn size(size: u64) -> Result<i64> {
    i64::try_from(size).map_err(|_| Error::InvalidParam)
}

/// Stores copies of data and metadata for the caller to free, both or neither. Returns the size of
/// the data in bytes.
///
/// # Safety
/// `dest` and `metadata` are NULL or writable for a pointer each.
pub unsafe fn write_output_and_metadata(
    data: &[u8],
    unpacked: &Unpacked,
    dest: *mut *mut c_void,
    metadata: *mut *mut c_char,
) -> Result<i64> {
    if dest.is_null() {
        return Err(Error::InvalidParam);
    }
    let buffer = Buffer::copy_of(data)?;
    let size = size(data.len() as u64)?;
    // SAFETY: guaranteed by the caller; `dest` is not NULL.
    unsafe {
        write_metadata(unpacked.metadata.as_ref(), metadata)?;
        dest.write(buffer.into_raw().cast());
    }
    Ok(size)
}

/// Opens a container, which must have no interrupted change.
pub fn open(path: &Path) -> Result<Archive<NamedFile>> {
    bloscpack::check_complete(path).map_err(recorded)?;
    let file = NamedFile::open_regular(path).map_err(|error| recorded(error.into()))?;
    Archive::open(file).map_err(blpk)
}

/// Returns the text of the last error of this thread, or an empty text.
pub fn last_error() -> *const c_char {
    let text = LAST_ERROR.try_with(|last| last.borrow().as_ptr());
    text.unwrap_or(c"".as_ptr())
}
