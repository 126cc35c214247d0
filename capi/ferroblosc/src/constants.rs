//! Ids of I/O backends and results of verification.

use ferroblosc::io::ids;
use std::ffi::c_int;

/// The id of the I/O backend whose files are changed durably. Set it as the `id` of the `blosc2_io`
/// of a `blosc2_storage` instead of BLOSC2_IO_FILESYSTEM, with the same parameters.
pub const FERROBLOSC_IO_DURABLE: c_int = 157;
/// The id of the I/O backend whose files have checksums.
pub const FERROBLOSC_IO_CHECKSUMS: c_int = 158;
/// The id of the I/O backend whose files are changed durably and have checksums.
pub const FERROBLOSC_IO_DURABLE_CHECKSUMS: c_int = 159;

/// The id of the I/O backend that opens files for reading only. Changes of the super-chunk fail, no
/// file is created or written, and no locks are used. Its `params` are not used.
pub const FERROBLOSC_IO_READ_ONLY: c_int = 156;

const _: () = assert!(
    FERROBLOSC_IO_READ_ONLY == ids::READ_ONLY as c_int
        && FERROBLOSC_IO_DURABLE == ids::DURABLE as c_int
        && FERROBLOSC_IO_CHECKSUMS == ids::CHECKSUMS as c_int
        && FERROBLOSC_IO_DURABLE_CHECKSUMS == ids::DURABLE_CHECKSUMS as c_int
);

/// The super-chunk has no fingerprint of its header, index, checksums and trailer.
pub const FERROBLOSC_FINGERPRINT_NONE: c_int = 0;
/// Header, index, checksums and trailer match the fingerprint. It does not cover fixed metalayers.
pub const FERROBLOSC_FINGERPRINT_RIGHT: c_int = 1;
/// Header, index, checksums or trailer do not match the fingerprint.
pub const FERROBLOSC_FINGERPRINT_WRONG: c_int = 2;
