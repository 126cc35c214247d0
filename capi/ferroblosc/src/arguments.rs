//! What C callers of Bloscpack and bcolz give and get, in Rust's terms.

use crate::types::bloscpack_args;
use ferroblosc::bloscpack::{
    self, AppendArgs, BloscArgs, BloscpackArgs, Codec, Error as BloscpackError, Metadata,
    MetadataArgs, PackArgs, Reserve, Shuffle, Unpacked, Value,
};
use ferroblosc::blpk::{Archive, Checksum, Error as BlpkError};
use ferroblosc::{Buffer, Error, Result, trace_error};
use ferroblosc_capi_common::buffers::c_string;
use ferroblosc_capi_common::pointers;
use std::cell::RefCell;
use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

thread_local! {
    /// What the last call of this thread failed with.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Keeps the words of an error, and turns it into a code.
pub fn noted(error: BloscpackError) -> Error {
    note(&error, error.code())
}

/// Keeps the words of an error with this code.
pub fn note(error: &dyn std::fmt::Display, code: Error) -> Error {
    let text = error.to_string();
    trace_error!("{text}");
    // A name with a NUL in it is shown without the NUL.
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    // A thread that ends has nobody who asks.
    let _ = LAST_ERROR.try_with(|last| last.replace(text));
    if code.errno().is_some() {
        return code;
    }
    Error::from(code.kind()).because(error.to_string())
}

pub fn blpk(error: BlpkError) -> Error {
    noted(error.into())
}

/// The path of a C caller.
///
/// # Safety
/// `path` is NULL or a string that nobody changes while `'a` lasts.
pub unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path> {
    // SAFETY: promised by the caller.
    let path = unsafe { pointers::c_str(path) }.ok_or(Error::InvalidParam)?;
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// The bytes of a C caller.
///
/// # Safety
/// `start` is NULL or points to `size` bytes that nobody changes while `'a` lasts.
pub unsafe fn bytes<'a>(start: *const c_void, size: usize) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if start.is_null() || isize::try_from(size).is_err() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: not NULL, no longer than memory can be, and the caller promises the bytes.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) })
}

/// The bytes of a C caller, writable.
///
/// # Safety
/// `start` is NULL or points to `size` bytes that nobody else uses while `'a` lasts.
pub unsafe fn bytes_mut<'a>(start: *mut c_void, size: usize) -> Result<&'a mut [u8]> {
    if size == 0 {
        return Ok(&mut []);
    }
    if start.is_null() || isize::try_from(size).is_err() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: not NULL, no longer than memory can be, and the caller promises the bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), size) })
}

/// A word of a C caller, which may be left out.
///
/// # Safety
/// `text` is NULL or a string that nobody changes while `'a` lasts.
pub unsafe fn word<'a>(text: *const c_char) -> Result<Option<&'a str>> {
    // SAFETY: promised by the caller.
    let text = unsafe { pointers::c_str(text) };
    text.map(|text| text.to_str().map_err(|_| Error::InvalidParam))
        .transpose()
}

/// The number of threads that was asked for.
pub fn threads(nthreads: c_int) -> usize {
    usize::try_from(nthreads).unwrap_or(1).max(1)
}

/// Room, where negative numbers stand for the usual.
fn reserve(number: i64) -> Reserve {
    u64::try_from(number).map_or(Reserve::Times(10), Reserve::Exactly)
}

/// The arguments of a C caller; NULL is as usual.
///
/// # Safety
/// `args` is NULL or points to arguments whose texts are NULL or strings.
pub unsafe fn pack_args(args: *const bloscpack_args) -> Result<PackArgs> {
    // SAFETY: promised by the caller.
    let Some(args) = (unsafe { args.as_ref() }) else {
        return Ok(PackArgs::default());
    };
    // SAFETY: promised by the caller.
    let (codec, checksum, metadata) = unsafe {
        (
            word(args.codec)?,
            word(args.checksum)?,
            word(args.metadata)?,
        )
    };
    let codec = codec.map(Codec::from_name).transpose().map_err(noted)?;
    let checksum = checksum
        .map(|name| {
            Checksum::from_name(name)
                .ok_or_else(|| noted(BloscpackError::NoSuchChecksum(name.to_owned())))
        })
        .transpose()?;
    let metadata = metadata
        .map(|text| Value::parse(text.as_bytes()).map_err(|error| noted(error.into())))
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

/// As [`pack_args`], for appending.
///
/// # Safety
/// That of [`pack_args`].
pub unsafe fn append_args(args: *const bloscpack_args) -> Result<AppendArgs> {
    if args.is_null() {
        return Ok(AppendArgs::default());
    }
    // SAFETY: promised by the caller.
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

/// Gives bytes to the caller; returns their number.
///
/// # Safety
/// `dest` is NULL or room for a pointer.
pub unsafe fn hand_over(data: &[u8], dest: *mut *mut c_void) -> Result<i64> {
    if dest.is_null() {
        return Err(Error::InvalidParam);
    }
    let buffer = Buffer::copy_of(data)?;
    let size = i64::try_from(data.len()).map_err(|_| Error::InvalidParam)?;
    // SAFETY: not NULL, and the caller promises room for a pointer.
    unsafe { dest.write(buffer.into_raw().cast()) };
    Ok(size)
}

/// Gives the metadata to a caller who wants them; NULL when there are none that are JSON.
///
/// # Safety
/// `metadata` is NULL or room for a pointer.
pub unsafe fn hand_over_metadata(unpacked: &Unpacked, metadata: *mut *mut c_char) -> Result<()> {
    if metadata.is_null() {
        return Ok(());
    }
    let value = unpacked.metadata.as_ref().and_then(Metadata::value);
    let text = match value {
        // JSON writes a NUL as an escape.
        Some(value) => c_string(&CString::new(value.to_json()).map_err(|_| Error::Data)?)?,
        None => std::ptr::null_mut(),
    };
    // SAFETY: not NULL, and the caller promises room for a pointer.
    unsafe { metadata.write(text) };
    Ok(())
}

/// A size for C.
pub fn size(size: u64) -> Result<i64> {
    i64::try_from(size).map_err(|_| Error::InvalidParam)
}

/// Gives data and metadata to the caller: both or none.
///
/// # Safety
/// `dest` and `metadata` are NULL or room for a pointer each.
pub unsafe fn hand_over_both(
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
    // SAFETY: promised by the caller; `dest` is not NULL.
    unsafe {
        hand_over_metadata(unpacked, metadata)?;
        dest.write(buffer.into_raw().cast());
    }
    Ok(size)
}

/// Opens a container whose changes are complete.
pub fn open(path: &Path) -> Result<Archive<File>> {
    bloscpack::check_complete(path).map_err(noted)?;
    let file = File::open(path).map_err(|error| noted(error.into()))?;
    Archive::open(file).map_err(blpk)
}

/// The words of the last error of this thread.
pub fn last_error() -> *const c_char {
    let text = LAST_ERROR.try_with(|last| last.borrow().as_ptr());
    text.unwrap_or(c"".as_ptr())
}
