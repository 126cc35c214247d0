//! User-registered codecs.

use super::active_callbacks::run_callback;
use super::origin::{CompressionOrigin, DecompressionOrigin};
use crate::types::plugins::{blosc2_codec_decoder_cb, blosc2_codec_encoder_cb};
use ferroblosc::codec::{Codec, CodecCall};
use ferroblosc::{Error, Result};
use std::ffi::c_int;

/// The functions of a registered codec.
pub struct CCodec {
    /// The encoder, if any.
    pub encoder: blosc2_codec_encoder_cb,
    /// The decoder, if any.
    pub decoder: blosc2_codec_decoder_cb,
}

impl Codec for CCodec {
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let encoder = self.encoder.ok_or(Error::CodecSupport)?;
        let mut cparams = CompressionOrigin::snapshot(&call.ctx);
        // SAFETY: pointers and lengths are those of slices; `cparams` outlives the call; the
        // program that registered the codec guarantees that it accesses nothing else.
        let size = run_callback(cparams.schunk, || unsafe {
            encoder(
                src.as_ptr(),
                src.len() as i32,
                dest.as_mut_ptr(),
                dest.len() as i32,
                call.meta,
                &mut cparams,
                call.ctx.chunk.as_ptr().cast(),
            )
        });
        size_result(size)
    }

    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let decoder = self.decoder.ok_or(Error::CodecSupport)?;
        let mut dparams = DecompressionOrigin::snapshot(&call.ctx);
        // SAFETY: as in `encode`.
        let size = run_callback(dparams.schunk, || unsafe {
            decoder(
                src.as_ptr(),
                src.len() as i32,
                dest.as_mut_ptr(),
                dest.len() as i32,
                call.meta,
                &mut dparams,
                call.ctx.chunk.as_ptr().cast(),
            )
        });
        size_result(size)
    }
}

/// Converts the result of a codec: a number of bytes, or a negative number for bad data.
fn size_result(size: c_int) -> Result<usize> {
    usize::try_from(size).map_err(|_| Error::Data)
}
