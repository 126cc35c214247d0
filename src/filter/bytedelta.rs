//! BYTEDELTA: differences of adjacent bytes in each channel; used after a shuffle.
//!
//! The meta is the number of channels, or 0 for the item size of the super-chunk. The variant
//! published first (id 34) restarts at the last multiple of 16 bytes of each channel; files with it
//! exist.

use super::{Filter, FilterCall, FilterInfo, Fusion, id};
use crate::{Error, Result, kernels};

struct Bytedelta;
struct Legacy;

/// The filter's row.
pub(super) const INFO: FilterInfo = FilterInfo::new(id::BYTEDELTA, "bytedelta", &Bytedelta);

/// The row of the first variant.
pub(super) const INFO_LEGACY: FilterInfo =
    FilterInfo { is_replaced: true, ..FilterInfo::new(id::BYTEDELTA_BUGGY, "bytedelta", &Legacy) };

/// Returns the number of channels of a block.
fn channels(call: &FilterCall<'_>) -> Result<usize> {
    match call.meta {
        0 => call.ctx.parent_typesize().ok_or(Error::Failure),
        meta => Ok(usize::from(meta)),
    }
}

impl Filter for Bytedelta {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::bytedelta::encode(channels(call)?, src, dest);
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::bytedelta::decode(channels(call)?, src, dest);
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }

    fn fusion(&self, call: &FilterCall<'_>) -> Fusion<'_> {
        if channels(call) == Ok(call.ctx.typesize) { Fusion::Differences } else { Fusion::None }
    }
}

impl Filter for Legacy {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::bytedelta::encode_legacy(channels(call)?, src, dest);
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::bytedelta::decode_legacy(channels(call)?, src, dest);
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }
}
