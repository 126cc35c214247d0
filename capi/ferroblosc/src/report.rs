//! The struct of `ferroblosc.h`.

/// The result of ferroblosc_verify().
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ferroblosc_report {
    /// The number of chunks.
    pub nchunks: i64,
    /// The number of chunks whose checksum was compared.
    pub compared: i64,
    /// The number of chunks without a checksum, which were decompressed.
    pub decompressed: i64,
    /// The number of corrupt chunks.
    pub bad_chunks: i64,
    /// The number of corrupt variable-length metalayers.
    pub bad_vlmetalayers: i64,
    /// FERROBLOSC_FINGERPRINT_NONE, FERROBLOSC_FINGERPRINT_RIGHT or FERROBLOSC_FINGERPRINT_WRONG.
    pub fingerprint: i32,
}
