//! Numbers of I/O backends.

use ferroblosc::io::ids;
use std::ffi::c_int;

/// The id of files whose super-chunks are changed durably: put into `id` of the `blosc2_io` of a
/// `blosc2_storage`, in place of BLOSC2_IO_FILESYSTEM and with its parameters.
pub const FERROBLOSC_IO_DURABLE: c_int = 157;
/// The id of files whose super-chunks have checksums.
pub const FERROBLOSC_IO_CHECKSUMS: c_int = 158;
/// The id of files whose super-chunks are changed durably and have checksums.
pub const FERROBLOSC_IO_DURABLE_CHECKSUMS: c_int = 159;

const _: () = assert!(
    FERROBLOSC_IO_DURABLE == ids::DURABLE as c_int
        && FERROBLOSC_IO_CHECKSUMS == ids::CHECKSUMS as c_int
        && FERROBLOSC_IO_DURABLE_CHECKSUMS == ids::DURABLE_CHECKSUMS as c_int
);

/// Nothing says whether what leads to the chunks is as it was written.
pub const FERROBLOSC_FINGERPRINT_NONE: c_int = 0;
/// Header, index, checksums and metalayers are as they were written.
pub const FERROBLOSC_FINGERPRINT_RIGHT: c_int = 1;
/// One of them is not.
pub const FERROBLOSC_FINGERPRINT_WRONG: c_int = 2;
