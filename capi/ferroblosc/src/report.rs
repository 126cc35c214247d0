//! The struct of `ferroblosc.h`.

/// What ferroblosc_verify() found in a super-chunk.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ferroblosc_report {
    /// Chunks there are.
    pub nchunks: i64,
    /// Chunks that were compared with a checksum.
    pub compared: i64,
    /// Chunks without a checksum, which were decompressed.
    pub decompressed: i64,
    /// Chunks that are broken.
    pub bad_chunks: i64,
    /// Variable-length metalayers that are broken.
    pub bad_vlmetalayers: i64,
    /// One of FERROBLOSC_FINGERPRINT_NONE, FERROBLOSC_FINGERPRINT_RIGHT and
    /// FERROBLOSC_FINGERPRINT_WRONG.
    pub fingerprint: i32,
}
