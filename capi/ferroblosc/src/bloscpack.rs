//! Bloscpack: containers of Blosc chunks, in files and in memory.

use crate::arguments::{
    append_args, blpk, bytes, hand_over, hand_over_both, hand_over_metadata, last_error, noted,
    open, pack_args, path, size, threads,
};
use crate::types::{bloscpack_args, bloscpack_info};
use ferroblosc::Error;
use ferroblosc::bloscpack::{self, Metadata, Unpacked};
use ferroblosc_capi_common::pointers;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

/// The usual: blosclz at level 7, byte shuffle, items of 8 bytes, chunks of 1 MiB, adler32, offsets
/// with room for ten times as many chunks, no metadata, one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_args_default(args: *mut bloscpack_args) -> c_int {
    boundary!(bloscpack_args_default, always, {
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
        // SAFETY: the caller gives room for arguments.
        unsafe { pointers::write_if_given(args, usual) };
        Ok(0)
    })
}

/// Packs a file into a file, which appears when it is complete. Gives the bytes of the new file, or a
/// negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_file(
    in_file: *const c_char,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_file, {
        // SAFETY: the caller gives paths and arguments, or NULL.
        let (input, output, args) = unsafe { (path(in_file)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_file_to_file(input, output, &args).map_err(noted)?;
        size(packed.output_size)
    })
}

/// Unpacks a file into a file, which appears when it is complete. Gives the bytes of data, or a
/// negative error code. The metadata, when there are any, are stored as JSON in what metadata points
/// to, unless it is NULL: free() them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_file(
    in_file: *const c_char,
    out_file: *const c_char,
    nthreads: c_int,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_file, {
        // SAFETY: the caller gives paths, or NULL.
        let (input, output) = unsafe { (path(in_file)?, path(out_file)?) };
        let unpacked = bloscpack::unpack_file_from_file(input, output, threads(nthreads));
        let unpacked = unpacked.map_err(noted)?;
        // SAFETY: the caller gives room for a pointer, or NULL.
        unsafe { hand_over_metadata(&unpacked, metadata) }?;
        size(unpacked.output_size)
    })
}

/// Packs nbytes bytes at src into a file, which appears when it is complete. Gives the bytes of the
/// file, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_bytes_to_file(
    src: *const c_void,
    nbytes: usize,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_bytes_to_file, {
        // SAFETY: the caller gives these bytes, a path and arguments, or NULL.
        let (src, output, args) =
            unsafe { (bytes(src, nbytes)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_bytes_to_file(src, output, &args).map_err(noted)?;
        size(packed.output_size)
    })
}

/// Unpacks a file into memory: the data are stored in what dest points to, and the metadata as with
/// bloscpack_unpack_file(); free() both. Gives the bytes of data, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_bytes_from_file(
    in_file: *const c_char,
    nthreads: c_int,
    dest: *mut *mut c_void,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_bytes_from_file, {
        // SAFETY: the caller gives a path, or NULL.
        let input = unsafe { path(in_file) }?;
        let unpacked = bloscpack::unpack_bytes_from_file(input, threads(nthreads));
        let (data, unpacked) = unpacked.map_err(noted)?;
        // SAFETY: the caller gives room for pointers, or NULL.
        unsafe { hand_over_both(&data, &unpacked, dest, metadata) }
    })
}

/// Packs nbytes bytes at src into memory: the container is stored in what dest points to; free() it.
/// Gives its bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_bytes(
    src: *const c_void,
    nbytes: usize,
    args: *const bloscpack_args,
    dest: *mut *mut c_void,
) -> i64 {
    boundary!(bloscpack_pack_bytes, {
        // SAFETY: the caller gives these bytes and arguments, or NULL.
        let (src, args) = unsafe { (bytes(src, nbytes)?, pack_args(args)?) };
        let packed = bloscpack::pack_bytes_to_bytes(src, &args).map_err(noted)?;
        // SAFETY: the caller gives room for a pointer, or NULL.
        unsafe { hand_over(&packed, dest) }
    })
}

/// Unpacks the container of nbytes bytes at src into memory, as bloscpack_unpack_bytes_from_file().
/// The caller frees both by free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_bytes(
    src: *const c_void,
    nbytes: usize,
    nthreads: c_int,
    dest: *mut *mut c_void,
    metadata: *mut *mut c_char,
) -> i64 {
    boundary!(bloscpack_unpack_bytes, {
        // SAFETY: the caller gives these bytes, or NULL.
        let src = unsafe { bytes(src, nbytes) }?;
        let unpacked = bloscpack::unpack_bytes_from_bytes(src, threads(nthreads));
        let (data, unpacked) = unpacked.map_err(noted)?;
        // SAFETY: the caller gives room for pointers, or NULL.
        unsafe { hand_over_both(&data, &unpacked, dest, metadata) }
    })
}

/// Reads nbytes bytes of data of a file, from byte start on, into dest. Only the chunks they are in
/// are read. Gives nbytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_read_range(
    in_file: *const c_char,
    start: u64,
    nbytes: usize,
    dest: *mut c_void,
) -> i64 {
    boundary!(bloscpack_read_range, {
        if isize::try_from(nbytes).is_err() || (dest.is_null() && nbytes > 0) {
            return Err(Error::InvalidParam);
        }
        // SAFETY: the caller gives a path, or NULL.
        let mut archive = open(unsafe { path(in_file) }?)?;
        let dest: &mut [u8] = if nbytes == 0 {
            &mut []
        } else {
            // SAFETY: not NULL, and the caller gives room for so many bytes.
            unsafe { std::slice::from_raw_parts_mut(dest.cast(), nbytes) }
        };
        archive.read_range(start, dest).map_err(blpk)?;
        size(nbytes as u64)
    })
}

/// Appends a file to a container in place. When it fails, the container is what it was; when it is
/// interrupted, bloscpack_recover() makes it so. Gives the bytes that were appended, or a negative
/// error code. Metadata in args replace those there are; args that say how a container is laid out
/// are not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_append_file(
    original: *const c_char,
    new_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_append_file, {
        // SAFETY: the caller gives paths and arguments, or NULL.
        let (original, new, args) =
            unsafe { (path(original)?, path(new_file)?, append_args(args)?) };
        let appended = bloscpack::append_file(original, new, &args).map_err(noted)?;
        size(appended.appended)
    })
}

/// Appends nbytes bytes at src to a container in place, as bloscpack_append_file().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_append_bytes(
    original: *const c_char,
    src: *const c_void,
    nbytes: usize,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_append_bytes, {
        // SAFETY: the caller gives a path, these bytes and arguments, or NULL.
        let (original, src, args) =
            unsafe { (path(original)?, bytes(src, nbytes)?, append_args(args)?) };
        let len = Some(src.len() as u64);
        let appended = bloscpack::append(original, src, len, &args, &mut ()).map_err(noted)?;
        size(appended.appended)
    })
}

/// Undoes a change of a container that was interrupted. Gives 1 when there was one, 0 when not, or a
/// negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_recover(file: *const c_char) -> c_int {
    boundary!(bloscpack_recover, {
        // SAFETY: the caller gives a path, or NULL.
        let undone = bloscpack::recover(unsafe { path(file) }?).map_err(noted)?;
        Ok(c_int::from(undone))
    })
}

/// Reads all of a container and checks everything in it. Gives the number of faults, or a negative
/// error code when it can't be read at all; bloscpack_last_error() tells the first fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_verify(file: *const c_char, nthreads: c_int) -> i64 {
    boundary!(bloscpack_verify, {
        // SAFETY: the caller gives a path, or NULL.
        let report = bloscpack::verify(unsafe { path(file) }?, threads(nthreads)).map_err(noted)?;
        let count = report.faults.len() as u64;
        if let Some(first) = report.faults.into_iter().next() {
            blpk(first);
        }
        size(count)
    })
}

/// Tells what a container is. Gives 0, or a negative error code. The metadata are stored as with
/// bloscpack_unpack_file(). The caller frees them by free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_get_info(
    file: *const c_char,
    info: *mut bloscpack_info,
    metadata: *mut *mut c_char,
) -> c_int {
    boundary!(bloscpack_get_info, {
        // SAFETY: the caller gives a path, or NULL.
        let mut archive = open(unsafe { path(file) }?)?;
        let header = *archive.header();
        let unknown = |number: Option<u64>| number.map_or(Ok(-1), size);
        let unknown_size = |number: Option<u32>| number.map_or(-1, |number| number as i32);
        let read = Unpacked {
            header,
            metadata: archive
                .metadata()
                .map(Metadata::of)
                .transpose()
                .map_err(blpk)?,
            output_size: archive.plain_size().map_err(blpk)?,
        };
        let told = bloscpack_info {
            nbytes: size(read.output_size)?,
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
        // SAFETY: the caller gives room for each, or NULL.
        unsafe {
            hand_over_metadata(&read, metadata)?;
            pointers::write_if_given(info, told);
        }
        Ok(0)
    })
}

/// Packs the array of a .npy file into a file. Gives the bytes of the new file, or a negative error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_pack_npy(
    npy_file: *const c_char,
    out_file: *const c_char,
    args: *const bloscpack_args,
) -> i64 {
    boundary!(bloscpack_pack_npy, {
        // SAFETY: the caller gives paths and arguments, or NULL.
        let (npy, output, args) = unsafe { (path(npy_file)?, path(out_file)?, pack_args(args)?) };
        let packed = bloscpack::pack_npy_file(npy, output, &args).map_err(noted)?;
        size(packed.output_size)
    })
}

/// Unpacks the array in a file into a .npy file. Gives the bytes of its items, or a negative error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_unpack_npy(
    in_file: *const c_char,
    npy_file: *const c_char,
    nthreads: c_int,
) -> i64 {
    boundary!(bloscpack_unpack_npy, {
        // SAFETY: the caller gives paths, or NULL.
        let (input, npy) = unsafe { (path(in_file)?, path(npy_file)?) };
        let unpacked = bloscpack::unpack_npy_file(input, npy, threads(nthreads)).map_err(noted)?;
        size(unpacked.output_size)
    })
}

/// What the last bloscpack_ call of this thread that failed had to say; "" before there was one. It
/// lasts until the next one fails. Don't free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bloscpack_last_error() -> *const c_char {
    boundary!(bloscpack_last_error, unrecorded, { Ok(last_error()) })
}
