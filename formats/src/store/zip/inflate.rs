//! Inflation of a deflated member, with output of at most its recorded size.

use zlib_rs::{Inflate, InflateFlush, Status};

use super::super::error::{Error, Result};
use super::directory::Member;

const WINDOW_BITS: u8 = 15;
const PIECE: usize = 1 << 16;

/// Calls `write` with the inflated bytes, piece by piece, and returns their CRC-32, or `None` if
/// `write` returns false, which ends the inflation. `read_at` reads the compressed bytes at an
/// offset.
pub fn inflate(
    member: &Member,
    read_at: impl Fn(&mut [u8], u64) -> Result<()>,
    mut write: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<Option<u32>> {
    let invalid = |why: &str| Error::Member { name: member.name.clone(), why: why.to_owned() };
    let mut engine = Inflate::new(false, WINDOW_BITS);
    let (mut input, mut output) = (vec![0; PIECE], vec![0; PIECE]);
    let (mut crc, mut at, mut ready) = (0, 0, 0..0);
    loop {
        if ready.is_empty() && at < member.compressed {
            let rest = usize::try_from(member.compressed - at).unwrap_or(usize::MAX);
            let len = rest.min(PIECE);
            read_at(&mut input[..len], at)?;
            at += len as u64;
            ready = 0..len;
        }
        let before = (engine.total_in(), engine.total_out());
        let status = engine
            .decompress(&input[ready.clone()], &mut output, InflateFlush::NoFlush)
            .map_err(|_| invalid("its compressed data are damaged"))?;
        let read = usize::try_from(engine.total_in() - before.0).unwrap_or(0);
        let made = usize::try_from(engine.total_out() - before.1).unwrap_or(0);
        ready.start += read;
        if engine.total_out() > member.size {
            return Err(invalid("its data are longer than recorded"));
        }
        crc = zlib_rs::crc32::crc32(crc, &output[..made]);
        if !write(&output[..made])? {
            return Ok(None);
        }
        match status {
            Status::StreamEnd => break,
            _ if read == 0 && made == 0 => {
                return Err(invalid("its compressed data are truncated"));
            }
            _ => {}
        }
    }
    if engine.total_out() != member.size {
        return Err(invalid("its data are shorter than recorded"));
    }
    Ok(Some(crc))
}
