//! Bloscpack: containers of Blosc chunks in files and in memory.

use crate::arguments::{
    append_args, blpk, bytes, clear, last_error, open, pack_args, path, recorded, size, threads,
    write_metadata, write_output, write_output_and_metadata,
};
use crate::types::{bloscpack_args, bloscpack_info};
use ferroblosc::Error;
use ferroblosc_capi_common::pointers;
use ferroblosc_formats::bloscpack::{self, Metadata};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

/// Fills in the default arguments: BloscLZ at level 7, byte shuffle, items of 8 bytes, chunks of 1
/// MiB, Adler-32, offsets with space for ten times the number of chunks, no metadata, one thread.
///
/// - `args`: the arguments.
///
/// Returns 0, or BLOSC2_ERROR_INVALID_PARAM if `args` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_args_default(args: *mut bloscpack_args) -> c_int {
    boundary!(bloscpack_args_default, noted_always, {
        let usual = bloscpack_args {
            codec: null(),
            checksum: null(),
            metadata: null(),
            chunk_size: bloscpack::DEFAULT_CHUNK_SIZE,
            max_app_chunks: -1,
            max_meta_size: -1,
            typesize: 8,
            clevel: 7,
            shuffle: 1,
            offsets: 1,
            nthreads: 1,
        };
        if args.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: not NULL; the caller passes a writable struct.
        unsafe { pointers::write_if_given(args, usual) };
        Ok(0)
    })
}

/// Packs a file into a container. The container appears at its path when it is complete.
///
/// - `in_file`: the path of the file.
/// - `out_file`: the path of the container.
/// - `args`: the arguments, or NULL for the defaults.
///
/// Returns the size of the container in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_file(
    in_file: *const c_char,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_file, noted, {
        // SAFETY: the caller passes paths and arguments, or NULL.
        let (input, output, args) = unsafe { (path(in_file)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_file_to_file(input, output, &args).map_err(recorded)?;
        size(packed.output_size)
    })
}

/// Unpacks a container into a file. The file appears at its path when it is complete.
///
/// - `in_file`: the path of the container.
/// - `out_file`: the path of the file.
/// - `nthreads`: the number of threads.
/// - `metadata`: receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
///   releases the text with free().
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_file(
    in_file: *const c_char,
    out_file: *const c_char,
    nthreads: c_int,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_file, noted, {
        // SAFETY: the caller passes paths and a writable pointer, or NULL.
        let (input, output) = unsafe {
            clear(metadata);
            (path(in_file)?, path(out_file)?)
        };
        let unpacked = bloscpack::unpack_file_from_file(input, output, threads(nthreads));
        let unpacked = unpacked.map_err(recorded)?;
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { write_metadata(unpacked.metadata.as_ref(), metadata) }?;
        size(unpacked.output_size)
    })
}

/// Packs a buffer into a container. The container appears at its path when it is complete.
///
/// - `src`: the data.
/// - `nbytes`: the size of the data in bytes.
/// - `out_file`: the path of the container.
/// - `args`: the arguments, or NULL for the defaults.
///
/// Returns the size of the container in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_bytes_to_file(
    src: *const c_void,
    nbytes: usize,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_bytes_to_file, noted, {
        // SAFETY: the caller passes `nbytes` bytes, a path and arguments, or NULL.
        let (src, output, args) =
            unsafe { (bytes(src, nbytes)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_bytes_to_file(src, output, &args).map_err(recorded)?;
        size(packed.output_size)
    })
}

/// Unpacks a container in a file into memory.
///
/// - `in_file`: the path of the container.
/// - `nthreads`: the number of threads.
/// - `dest`: receives the data, which the caller releases with free(); NULL on error.
/// - `metadata`: receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
///   releases the text with free().
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_bytes_from_file(
    in_file: *const c_char,
    nthreads: c_int,
    dest: *mut *mut c_void,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_bytes_from_file, noted, {
        // SAFETY: the caller passes a path and writable pointers, or NULL.
        let input = unsafe {
            clear(dest);
            clear(metadata);
            path(in_file)?
        };
        let unpacked = bloscpack::unpack_bytes_from_file(input, threads(nthreads));
        let (data, unpacked) = unpacked.map_err(recorded)?;
        // SAFETY: the caller passes writable pointers or NULL.
        unsafe { write_output_and_metadata(&data, &unpacked, dest, metadata) }
    })
}

/// Packs a buffer into a container in memory.
///
/// - `src`: the data.
/// - `nbytes`: the size of the data in bytes.
/// - `args`: the arguments, or NULL for the defaults.
/// - `dest`: receives the container, which the caller releases with free(); NULL on error.
///
/// Returns the size of the container in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_bytes(
    src: *const c_void,
    nbytes: usize,
    args: *const bloscpack_args,
    dest: *mut *mut c_void,
) -> i64 {
    boundary!(bloscpack_pack_bytes, noted, {
        // SAFETY: the caller passes `nbytes` bytes, arguments and a writable pointer, or NULL.
        let (src, args) = unsafe {
            clear(dest);
            (bytes(src, nbytes)?, pack_args(args)?)
        };
        let packed = bloscpack::pack_bytes_to_bytes(src, &args).map_err(recorded)?;
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { write_output(&packed, dest) }
    })
}

/// Unpacks a container in memory into memory.
///
/// - `src`: the container.
/// - `nbytes`: the size of the container in bytes.
/// - `nthreads`: the number of threads.
/// - `dest`: receives the data, which the caller releases with free(); NULL on error.
/// - `metadata`: receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
///   releases the text with free().
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_bytes(
    src: *const c_void,
    nbytes: usize,
    nthreads: c_int,
    dest: *mut *mut c_void,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_bytes, noted, {
        // SAFETY: the caller passes `nbytes` bytes and writable pointers, or NULL.
        let src = unsafe {
            clear(dest);
            clear(metadata);
            bytes(src, nbytes)?
        };
        let unpacked = bloscpack::unpack_bytes_from_bytes(src, threads(nthreads));
        let (data, unpacked) = unpacked.map_err(recorded)?;
        // SAFETY: the caller passes writable pointers or NULL.
        unsafe { write_output_and_metadata(&data, &unpacked, dest, metadata) }
    })
}

/// Reads a range of the data in a container. Only the chunks of the range are read.
///
/// - `in_file`: the path of the container.
/// - `start`: the offset of the range in the data, in bytes.
/// - `nbytes`: the size of the range in bytes.
/// - `dest`: the destination, `nbytes` bytes, owned by the caller.
///
/// Returns `nbytes`, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_read_range(
    in_file: *const c_char,
    start: u64,
    nbytes: usize,
    dest: *mut c_void,
) -> i64 {
    boundary!(bloscpack_read_range, noted, {
        if isize::try_from(nbytes).is_err() || (dest.is_null() && nbytes > 0) {
            return Err(Error::InvalidParam);
        }
        // SAFETY: the caller passes a path or NULL.
        let mut archive = open(unsafe { path(in_file) }?)?;
        let dest: &mut [u8] = if nbytes == 0 {
            &mut []
        } else {
            // SAFETY: not NULL, at most `isize::MAX`, and the caller passes `nbytes` writable
            // bytes.
            unsafe { std::slice::from_raw_parts_mut(dest.cast(), nbytes) }
        };
        archive.read_range(start, dest).map_err(blpk)?;
        size(nbytes as u64)
    })
}

/// Appends the data of a file to a container in place.
///
/// On failure the container keeps its previous contents; bloscpack_recover() restores them after an
/// interruption. Metadata in `args` replaces the metadata of the container. The chunk size, the
/// checksum and the reserved chunks are those of the container: `args` does not change them.
///
/// - `original`: the path of the container.
/// - `new_file`: the path of the file.
/// - `args`: the arguments, or NULL for the defaults.
///
/// Returns the number of appended bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_append_file(
    original: *const c_char,
    new_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_append_file, noted, {
        // SAFETY: the caller passes paths and arguments, or NULL.
        let (original, new, args) =
            unsafe { (path(original)?, path(new_file)?, append_args(args)?) };
        let appended = bloscpack::append_file(original, new, &args).map_err(recorded)?;
        size(appended.appended)
    })
}

/// Appends a buffer to a container in place, with the rules of bloscpack_append_file().
///
/// - `original`: the path of the container.
/// - `src`: the data.
/// - `nbytes`: the size of the data in bytes.
/// - `args`: the arguments, or NULL for the defaults.
///
/// Returns the number of appended bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_append_bytes(
    original: *const c_char,
    src: *const c_void,
    nbytes: usize,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_append_bytes, noted, {
        // SAFETY: the caller passes a path, `nbytes` bytes and arguments, or NULL.
        let (original, src, args) =
            unsafe { (path(original)?, bytes(src, nbytes)?, append_args(args)?) };
        let len = Some(src.len() as u64);
        let appended = bloscpack::append(original, src, len, &args, &mut ()).map_err(recorded)?;
        size(appended.appended)
    })
}

/// Undoes an interrupted change of a container.
///
/// - `file`: the path of the container.
///
/// Returns 1 if a change was undone, 0 if there was none, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_recover(file: *const c_char) -> c_int {
    boundary!(bloscpack_recover, noted, {
        // SAFETY: the caller passes a path or NULL.
        let undone = bloscpack::recover(unsafe { path(file) }?).map_err(recorded)?;
        Ok(c_int::from(undone))
    })
}

/// Reads a whole container and verifies it. bloscpack_last_error() returns the message of the first
/// fault.
///
/// - `file`: the path of the container.
/// - `nthreads`: the number of threads.
///
/// Returns the number of faults, or a negative error code if the container cannot be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_verify(file: *const c_char, nthreads: c_int) -> i64 {
    boundary!(bloscpack_verify, noted, {
        // SAFETY: the caller passes a path or NULL.
        let report =
            bloscpack::verify(unsafe { path(file) }?, threads(nthreads)).map_err(recorded)?;
        let count = report.faults.len() as u64;
        if let Some(first) = report.faults.into_iter().next() {
            blpk(first);
        }
        size(count)
    })
}

/// Reads the properties of a container.
///
/// - `file`: the path of the container.
/// - `info`: the destination; may be NULL.
/// - `metadata`: receives the metadata as JSON, or NULL if there is none; may be NULL. The caller
///   releases the text with free().
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_get_info(
    file: *const c_char,
    info: *mut bloscpack_info,
    metadata: *mut *mut c_char,
) -> c_int {
    boundary!(bloscpack_get_info, noted, {
        // SAFETY: the caller passes a path and writable outputs, or NULL.
        let file = unsafe {
            clear(metadata);
            pointers::write_if_given(info, bloscpack_info::default());
            path(file)?
        };
        let mut archive = open(file)?;
        let header = *archive.header();
        let unknown = |number: Option<u64>| number.map_or(Ok(-1), size);
        let unknown_size = |number: Option<u32>| number.map_or(-1, |number| number as i32);
        let found = archive.metadata().map(Metadata::of).transpose().map_err(blpk)?;
        let nbytes = archive.plain_size().map_err(blpk)?;
        let filled = bloscpack_info {
            nbytes: size(nbytes)?,
            file_size: size(archive.file_size())?,
            nchunks: unknown(header.nchunks)?,
            max_app_chunks: size(header.max_app_chunks)?,
            chunk_size: unknown_size(header.chunk_size),
            last_chunk: unknown_size(header.last_chunk),
            format_version: header.version.into(),
            typesize: header.typesize.into(),
            checksum: header.checksum.id().into(),
            offsets: header.offsets.into(),
            metadata: header.metadata.into(),
        };
        // SAFETY: the caller passes writable outputs or NULL.
        unsafe {
            write_metadata(found.as_ref(), metadata)?;
            pointers::write_if_given(info, filled);
        }
        Ok(0)
    })
}

/// Packs the array of a `.npy` file into a container.
///
/// - `npy_file`: the path of the `.npy` file.
/// - `out_file`: the path of the container.
/// - `args`: the arguments, or NULL for the defaults.
///
/// Returns the size of the container in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_npy(
    npy_file: *const c_char,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_npy, noted, {
        // SAFETY: the caller passes paths and arguments, or NULL.
        let (npy, output, args) = unsafe { (path(npy_file)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_npy_file(npy, output, &args).map_err(recorded)?;
        size(packed.output_size)
    })
}

/// Unpacks the array in a container into a `.npy` file.
///
/// - `in_file`: the path of the container.
/// - `npy_file`: the path of the `.npy` file.
/// - `nthreads`: the number of threads.
///
/// Returns the size of the items in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_npy(
    in_file: *const c_char,
    npy_file: *const c_char,
    nthreads: c_int,
) -> i64 {
    boundary!(bloscpack_unpack_npy, noted, {
        // SAFETY: the caller passes paths or NULL.
        let (input, npy) = unsafe { (path(in_file)?, path(npy_file)?) };
        let unpacked =
            bloscpack::unpack_npy_file(input, npy, threads(nthreads)).map_err(recorded)?;
        size(unpacked.output_size)
    })
}

/// Returns the message of the last failed call of a function of `bloscpack.h` or `bcolz.h` in this
/// thread, or "" if none failed.
///
/// The library owns the text: it is valid until the next such call fails in this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_last_error() -> *const c_char {
    boundary!(bloscpack_last_error, unrecorded, { Ok(last_error()) })
}
