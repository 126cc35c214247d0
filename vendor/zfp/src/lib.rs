//! Declarations of the part of ZFP that Ferroblosc calls. The C source is in `zfp/`; what functions do is
//! said in its `zfp.h` and `bitstream.h`.
#![allow(non_camel_case_types, reason = "the names of C")]
#![allow(missing_docs, reason = "the headers of ZFP have the documentation")]

use std::ffi::{c_double, c_float, c_int, c_uint, c_void};

/// A stream of bits, in words of 64. Its layout is an affair of `bitstream.inl`, but one made here needs no memory
/// of its own, as one of `stream_open` does.
#[repr(C)]
pub struct bitstream {
    bits: usize,
    buffer: u64,
    ptr: *mut u64,
    begin: *mut u64,
    end: *mut u64,
}

impl bitstream {
    /// A stream of the words from `begin` up to `end` that stands in front of the first bit.
    pub fn new(begin: *mut u64, end: *mut u64) -> bitstream {
        bitstream { bits: 0, buffer: 0, ptr: begin, begin, end }
    }
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
}

/// The functions that do the work, of which there is more than one copy.
pub struct Routines {
    /// `zfp_compress`.
    pub compress: unsafe extern "C" fn(*mut zfp_stream, *const zfp_field) -> usize,
    /// `zfp_decompress`.
    pub decompress: unsafe extern "C" fn(*mut zfp_stream, *mut zfp_field) -> usize,
    /// `zfp_decode_block_float_1` and so on.
    pub decode_block_float: [unsafe extern "C" fn(*mut zfp_stream, *mut c_float) -> usize; 4],
    /// `zfp_decode_block_double_1` and so on.
    pub decode_block_double: [unsafe extern "C" fn(*mut zfp_stream, *mut c_double) -> usize; 4],
}

/// The copy whose names end so.
macro_rules! routines {
    ($suffix:literal) => {{
        unsafe extern "C" {
            #[link_name = concat!("zfp_compress", $suffix)]
            fn compress(stream: *mut zfp_stream, field: *const zfp_field) -> usize;
            #[link_name = concat!("zfp_decompress", $suffix)]
            fn decompress(stream: *mut zfp_stream, field: *mut zfp_field) -> usize;
            #[link_name = concat!("zfp_decode_block_float_1", $suffix)]
            fn float_1(stream: *mut zfp_stream, block: *mut c_float) -> usize;
            #[link_name = concat!("zfp_decode_block_float_2", $suffix)]
            fn float_2(stream: *mut zfp_stream, block: *mut c_float) -> usize;
            #[link_name = concat!("zfp_decode_block_float_3", $suffix)]
            fn float_3(stream: *mut zfp_stream, block: *mut c_float) -> usize;
            #[link_name = concat!("zfp_decode_block_float_4", $suffix)]
            fn float_4(stream: *mut zfp_stream, block: *mut c_float) -> usize;
            #[link_name = concat!("zfp_decode_block_double_1", $suffix)]
            fn double_1(stream: *mut zfp_stream, block: *mut c_double) -> usize;
            #[link_name = concat!("zfp_decode_block_double_2", $suffix)]
            fn double_2(stream: *mut zfp_stream, block: *mut c_double) -> usize;
            #[link_name = concat!("zfp_decode_block_double_3", $suffix)]
            fn double_3(stream: *mut zfp_stream, block: *mut c_double) -> usize;
            #[link_name = concat!("zfp_decode_block_double_4", $suffix)]
            fn double_4(stream: *mut zfp_stream, block: *mut c_double) -> usize;
        }
        Routines {
            compress,
            decompress,
            decode_block_float: [float_1, float_2, float_3, float_4],
            decode_block_double: [double_1, double_2, double_3, double_4],
        }
    }};
}

static PLAIN: Routines = routines!("");
#[cfg(zfp_bmi2)]
static BMI2: Routines = routines!("_bmi2");

/// The copy that is fastest on this CPU. All give the same bytes.
pub fn routines() -> &'static Routines {
    #[cfg(zfp_bmi2)]
    if is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
    {
        return &BMI2;
    }
    &PLAIN
}

/// All copies that this CPU can run.
pub fn all_routines() -> impl Iterator<Item = &'static Routines> {
    let best = routines();
    let plain = (!std::ptr::eq(best, &PLAIN)).then_some(&PLAIN);
    std::iter::once(best).chain(plain)
}
