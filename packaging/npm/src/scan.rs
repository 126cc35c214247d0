//! Frames that are read as a stream, from the first byte to the last.
//!
//! The chunks of a contiguous frame follow its header, but their order is in the index after them.
//! A stream is decoded in the order of the file; at its end, [`fb_scan_check`] compares the
//! positions with those in the index.

use std::slice::from_raw_parts;

use ferroblosc::frame::{self, FIXED_HEADER_LEN, FrameHeader, Kind, legacy};
use ferroblosc::schunk::State;
use ferroblosc::{Error, Result};

use crate::DONE;
use crate::frame::Frame;
use crate::memory::{failed, set_result};

/// Parses the header of a frame that can be read as a stream.
fn parse(fixed: &[u8]) -> Result<FrameHeader> {
    if fixed.len() < FIXED_HEADER_LEN {
        let text =
            format!("the frame has {} bytes, and a header has {FIXED_HEADER_LEN}", fixed.len());
        return Err(Error::ReadBuffer.because(text));
    }
    if !frame::has_magic(fixed) {
        return Err(Error::InvalidHeader.because("the bytes are not a Blosc2 frame"));
    }
    if legacy::is_legacy(fixed) {
        let text = "frames of older layouts cannot be read as a stream";
        return Err(Error::VersionSupport.because(text));
    }
    let header = FrameHeader::parse(fixed, Kind::Contiguous)?;
    let data_end = u64::from(header.header_len).checked_add(header.counters.cbytes.max(0) as u64);
    if data_end.is_some_and(|end| end < header.frame_len) {
        Ok(header)
    } else {
        Err(Error::InvalidHeader.because("the chunks exceed the frame"))
    }
}

/// Stores the lengths of a frame as the result: those of the header, of the chunks and of the
/// frame, and the uncompressed size of the chunks, in 64 bits each.
///
/// # Safety
/// The memory is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_scan_header(fixed: *const u8, len: usize) -> i32 {
    // SAFETY: the caller's contract.
    match parse(unsafe { from_raw_parts(fixed, len) }) {
        Ok(header) => {
            let counters = &header.counters;
            let sizes = [counters.cbytes.max(0) as u64, header.frame_len, counters.nbytes as u64];
            let numbers = [u64::from(header.header_len)].into_iter().chain(sizes);
            set_result(numbers.flat_map(u64::to_le_bytes).collect());
            DONE
        }
        Err(error) => failed(&error),
    }
}

/// Checks that the index of a frame lists chunks at these positions, in this order. The header, the
/// bytes after the chunks and the header of the first chunk must have been supplied.
///
/// # Safety
/// The frame and the memory are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_scan_check(
    frame: *mut Frame,
    positions: *const u64,
    count: usize,
) -> i32 {
    // SAFETY: the caller's contract.
    let (frame, positions) = unsafe { (&mut *frame, from_raw_parts(positions, count)) };
    match check(frame, positions) {
        Ok(()) => DONE,
        Err(error) => failed(&error),
    }
}

fn check(frame: &mut Frame, positions: &[u64]) -> Result<()> {
    frame.assume_zeros_in_chunks()?;
    frame.open()?;
    let schunk = frame.content()?.schunk();
    let stored = schunk.state().frame().ok_or(Error::InvalidParam)?;
    for nchunk in 0..schunk.nchunks().max(0) as usize {
        let text = match (stored.chunk_position(nchunk), positions.get(nchunk)) {
            (Some(position), Some(&found)) if position == found => continue,
            (Some(_), _) => "the chunks are not stored in order",
            (None, _) => "a chunk of one repeated value is not stored",
        };
        return Err(Error::Data.of_chunk(nchunk as i64).because(text));
    }
    if positions.len() as i64 > schunk.nchunks() {
        return Err(Error::Data.because("the frame contains chunks that were replaced"));
    }
    Ok(())
}
