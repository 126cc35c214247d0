//! Error codes. `blosc2_error_string` returns their texts.

use std::ffi::c_int;

/// Success.
pub const BLOSC2_ERROR_SUCCESS: c_int = 0;
/// Generic failure.
pub const BLOSC2_ERROR_FAILURE: c_int = -1;
/// Bad stream.
pub const BLOSC2_ERROR_STREAM: c_int = -2;
/// Invalid data.
pub const BLOSC2_ERROR_DATA: c_int = -3;
/// Memory allocation failed.
pub const BLOSC2_ERROR_MEMORY_ALLOC: c_int = -4;
/// The source buffer is too small.
pub const BLOSC2_ERROR_READ_BUFFER: c_int = -5;
/// The destination buffer is too small.
pub const BLOSC2_ERROR_WRITE_BUFFER: c_int = -6;
/// Codec not supported.
pub const BLOSC2_ERROR_CODEC_SUPPORT: c_int = -7;
/// Invalid parameter of a codec.
pub const BLOSC2_ERROR_CODEC_PARAM: c_int = -8;
/// Dictionary error of a codec.
pub const BLOSC2_ERROR_CODEC_DICT: c_int = -9;
/// Version not supported.
pub const BLOSC2_ERROR_VERSION_SUPPORT: c_int = -10;
/// Invalid value in a header.
pub const BLOSC2_ERROR_INVALID_HEADER: c_int = -11;
/// Invalid parameter of a function.
pub const BLOSC2_ERROR_INVALID_PARAM: c_int = -12;
/// Reading a file failed.
pub const BLOSC2_ERROR_FILE_READ: c_int = -13;
/// Writing a file failed.
pub const BLOSC2_ERROR_FILE_WRITE: c_int = -14;
/// Opening a file failed.
pub const BLOSC2_ERROR_FILE_OPEN: c_int = -15;
/// Not found.
pub const BLOSC2_ERROR_NOT_FOUND: c_int = -16;
/// Bad run-length encoding.
pub const BLOSC2_ERROR_RUN_LENGTH: c_int = -17;
/// A filter failed.
pub const BLOSC2_ERROR_FILTER_PIPELINE: c_int = -18;
/// Inserting a chunk failed.
pub const BLOSC2_ERROR_CHUNK_INSERT: c_int = -19;
/// Appending a chunk failed.
pub const BLOSC2_ERROR_CHUNK_APPEND: c_int = -20;
/// Updating a chunk failed.
pub const BLOSC2_ERROR_CHUNK_UPDATE: c_int = -21;
/// Sizes above 2 GB are not supported.
pub const BLOSC2_ERROR_2GB_LIMIT: c_int = -22;
/// Copying a super-chunk failed.
pub const BLOSC2_ERROR_SCHUNK_COPY: c_int = -23;
/// Wrong type of frame.
pub const BLOSC2_ERROR_FRAME_TYPE: c_int = -24;
/// Truncating a file failed.
pub const BLOSC2_ERROR_FILE_TRUNCATE: c_int = -25;
/// Starting a thread failed.
pub const BLOSC2_ERROR_THREAD_CREATE: c_int = -26;
/// A postfilter failed.
pub const BLOSC2_ERROR_POSTFILTER: c_int = -27;
/// blosc2_schunk_fill_special() failed: the super-chunk has chunks, or is a frame and cannot store
/// the value.
pub const BLOSC2_ERROR_FRAME_SPECIAL: c_int = -28;
/// blosc2_schunk_fill_special() failed for a super-chunk in memory or for too many items; a chunk
/// has an unknown special value.
pub const BLOSC2_ERROR_SCHUNK_SPECIAL: c_int = -29;
/// Error of an I/O plugin.
pub const BLOSC2_ERROR_PLUGIN_IO: c_int = -30;
/// Removing a file failed.
pub const BLOSC2_ERROR_FILE_REMOVE: c_int = -31;
/// A pointer is NULL.
pub const BLOSC2_ERROR_NULL_POINTER: c_int = -32;
/// Invalid index.
pub const BLOSC2_ERROR_INVALID_INDEX: c_int = -33;
/// The metalayer does not exist.
pub const BLOSC2_ERROR_METALAYER_NOT_FOUND: c_int = -34;
/// The buffer is larger than the maximum.
pub const BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED: c_int = -35;
/// A tuner failed.
pub const BLOSC2_ERROR_TUNER: c_int = -36;
/// Locking a frame failed.
pub const BLOSC2_ERROR_LOCK: c_int = -37;

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::Error;

    #[test]
    fn the_header_and_the_core_agree_on_every_code() {
        let pairs = [
            (BLOSC2_ERROR_FAILURE, Error::Failure),
            (BLOSC2_ERROR_STREAM, Error::Stream),
            (BLOSC2_ERROR_DATA, Error::Data),
            (BLOSC2_ERROR_MEMORY_ALLOC, Error::MemoryAlloc),
            (BLOSC2_ERROR_READ_BUFFER, Error::ReadBuffer),
            (BLOSC2_ERROR_WRITE_BUFFER, Error::WriteBuffer),
            (BLOSC2_ERROR_CODEC_SUPPORT, Error::CodecSupport),
            (BLOSC2_ERROR_CODEC_PARAM, Error::CodecParam),
            (BLOSC2_ERROR_CODEC_DICT, Error::CodecDict),
            (BLOSC2_ERROR_VERSION_SUPPORT, Error::VersionSupport),
            (BLOSC2_ERROR_INVALID_HEADER, Error::InvalidHeader),
            (BLOSC2_ERROR_INVALID_PARAM, Error::InvalidParam),
            (BLOSC2_ERROR_FILE_READ, Error::FileRead),
            (BLOSC2_ERROR_FILE_WRITE, Error::FileWrite),
            (BLOSC2_ERROR_FILE_OPEN, Error::FileOpen),
            (BLOSC2_ERROR_NOT_FOUND, Error::NotFound),
            (BLOSC2_ERROR_RUN_LENGTH, Error::RunLength),
            (BLOSC2_ERROR_FILTER_PIPELINE, Error::FilterPipeline),
            (BLOSC2_ERROR_CHUNK_INSERT, Error::ChunkInsert),
            (BLOSC2_ERROR_CHUNK_APPEND, Error::ChunkAppend),
            (BLOSC2_ERROR_CHUNK_UPDATE, Error::ChunkUpdate),
            (BLOSC2_ERROR_2GB_LIMIT, Error::TwoGbLimit),
            (BLOSC2_ERROR_SCHUNK_COPY, Error::SchunkCopy),
            (BLOSC2_ERROR_FRAME_TYPE, Error::FrameType),
            (BLOSC2_ERROR_FILE_TRUNCATE, Error::FileTruncate),
            (BLOSC2_ERROR_THREAD_CREATE, Error::ThreadCreate),
            (BLOSC2_ERROR_POSTFILTER, Error::Postfilter),
            (BLOSC2_ERROR_FRAME_SPECIAL, Error::FrameSpecial),
            (BLOSC2_ERROR_SCHUNK_SPECIAL, Error::SchunkSpecial),
            (BLOSC2_ERROR_PLUGIN_IO, Error::PluginIo),
            (BLOSC2_ERROR_FILE_REMOVE, Error::FileRemove),
            (BLOSC2_ERROR_NULL_POINTER, Error::NullPointer),
            (BLOSC2_ERROR_INVALID_INDEX, Error::InvalidIndex),
            (BLOSC2_ERROR_METALAYER_NOT_FOUND, Error::MetalayerNotFound),
            (BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED, Error::MaxBufsizeExceeded),
            (BLOSC2_ERROR_TUNER, Error::Tuner),
            (BLOSC2_ERROR_LOCK, Error::Lock),
        ];
        for (code, error) in pairs {
            assert_eq!(code, error.code());
        }
    }
}
