//! The functions of liblz4 used here, as declared by `lz4.h` and `lz4hc.h` of version 1.10. The
//! crate `lz4-sys` builds and links the library but declares few of them.

use std::ffi::{c_char, c_int, c_void};

use lz4_sys as _;

/// `LZ4_stream_t`, also the state of the one-shot calls.
#[repr(C)]
pub(super) struct Stream {
    _opaque: [u8; 0],
}

/// `LZ4_streamHC_t`, also the state of the one-shot calls.
#[repr(C)]
pub(super) struct StreamHc {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    pub(super) fn LZ4_createStream() -> *mut Stream;
    pub(super) fn LZ4_freeStream(stream: *mut Stream) -> c_int;
    pub(super) fn LZ4_resetStream_fast(stream: *mut Stream);
    pub(super) fn LZ4_loadDict(stream: *mut Stream, dict: *const c_char, size: c_int) -> c_int;
    pub(super) fn LZ4_attach_dictionary(working: *mut Stream, dict: *const Stream);
    pub(super) fn LZ4_compress_fast_extState_fastReset(
        state: *mut c_void,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    pub(super) fn LZ4_compress_fast_continue(
        stream: *mut Stream,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;

    pub(super) fn LZ4_createStreamHC() -> *mut StreamHc;
    pub(super) fn LZ4_freeStreamHC(stream: *mut StreamHc) -> c_int;
    pub(super) fn LZ4_resetStreamHC_fast(stream: *mut StreamHc, level: c_int);
    pub(super) fn LZ4_loadDictHC(stream: *mut StreamHc, dict: *const c_char, size: c_int) -> c_int;
    pub(super) fn LZ4_sizeofStateHC() -> c_int;
    pub(super) fn LZ4_compress_HC_extStateHC_fastReset(
        state: *mut c_void,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
        level: c_int,
    ) -> c_int;
    pub(super) fn LZ4_compress_HC_continue(
        stream: *mut StreamHc,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
    ) -> c_int;

    #[cfg(test)]
    pub(in super::super) fn LZ4_decompress_safe(
        src: *const c_char,
        dest: *mut c_char,
        compressed_size: c_int,
        dest_capacity: c_int,
    ) -> c_int;
    pub(super) fn LZ4_decompress_safe_usingDict(
        src: *const c_char,
        dest: *mut c_char,
        compressed_size: c_int,
        dest_capacity: c_int,
        dict: *const c_char,
        dict_size: c_int,
    ) -> c_int;
}
