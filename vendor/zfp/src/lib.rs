//! Declarations of the part of ZFP that Ferroblosc calls. The C source is in `zfp/`; what functions do is
//! said in its `zfp.h` and `bitstream.h`.
#![allow(non_camel_case_types, reason = "the names of C")]
#![allow(missing_docs, reason = "the headers of ZFP have the documentation")]

use std::ffi::{c_double, c_float, c_int, c_uint, c_void};

/// A stream of bits, in words of 64.
#[repr(C)]
pub struct bitstream {
    _private: [u8; 0],
}

/// Parameters of compression, and the stream.
#[repr(C)]
pub struct zfp_stream {
    pub minbits: c_uint,
    pub maxbits: c_uint,
    pub maxprec: c_uint,
    pub minexp: c_int,
    pub stream: *mut bitstream,
    pub exec: zfp_execution,
}

/// How the work is shared out; 0 and NULL for not at all.
#[repr(C)]
pub struct zfp_execution {
    pub policy: c_int,
    pub params: *mut c_void,
}

/// `zfp_type_float`.
pub const ZFP_TYPE_FLOAT: c_int = 3;
/// `zfp_type_double`.
pub const ZFP_TYPE_DOUBLE: c_int = 4;

/// An array: extents (0 for dimensions it does not have), strides (0 for a contiguous array), and data.
#[repr(C)]
pub struct zfp_field {
    pub scalar: c_int,
    pub nx: usize,
    pub ny: usize,
    pub nz: usize,
    pub nw: usize,
    pub sx: isize,
    pub sy: isize,
    pub sz: isize,
    pub sw: isize,
    pub data: *mut c_void,
}

unsafe extern "C" {
    pub fn stream_open(buffer: *mut c_void, bytes: usize) -> *mut bitstream;
    pub fn stream_close(stream: *mut bitstream);
    pub fn stream_rseek(stream: *mut bitstream, offset: u64);
    pub fn zfp_stream_set_rate(
        stream: *mut zfp_stream,
        rate: c_double,
        scalar: c_int,
        dims: c_uint,
        align: c_int,
    ) -> c_double;
    pub fn zfp_stream_set_precision(stream: *mut zfp_stream, precision: c_uint) -> c_uint;
    pub fn zfp_stream_set_accuracy(stream: *mut zfp_stream, tolerance: c_double) -> c_double;
    pub fn zfp_stream_maximum_size(stream: *const zfp_stream, field: *const zfp_field) -> usize;
    pub fn zfp_compress(stream: *mut zfp_stream, field: *const zfp_field) -> usize;
    pub fn zfp_decompress(stream: *mut zfp_stream, field: *mut zfp_field) -> usize;
    pub fn zfp_decode_block_float_1(stream: *mut zfp_stream, block: *mut c_float) -> usize;
    pub fn zfp_decode_block_float_2(stream: *mut zfp_stream, block: *mut c_float) -> usize;
    pub fn zfp_decode_block_float_3(stream: *mut zfp_stream, block: *mut c_float) -> usize;
    pub fn zfp_decode_block_float_4(stream: *mut zfp_stream, block: *mut c_float) -> usize;
    pub fn zfp_decode_block_double_1(stream: *mut zfp_stream, block: *mut c_double) -> usize;
    pub fn zfp_decode_block_double_2(stream: *mut zfp_stream, block: *mut c_double) -> usize;
    pub fn zfp_decode_block_double_3(stream: *mut zfp_stream, block: *mut c_double) -> usize;
    pub fn zfp_decode_block_double_4(stream: *mut zfp_stream, block: *mut c_double) -> usize;
}
