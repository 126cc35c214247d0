//! The input of writers: a source, read in order, and the progress.

use super::super::error::{Error, Result};
use super::super::source::Source;
use crate::numpy::{ArrayInfo, Dtype};

/// A callback that receives the number of bytes processed since the last call.
pub type Progress<'p> = &'p mut (dyn FnMut(u64) + Send);

/// Calls `f` with consecutive segments of a source, at most `size` bytes each.
pub(super) fn for_each_segment(
    source: &mut dyn Source,
    size: usize,
    progress: Progress<'_>,
    mut f: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let nbytes = source.content().nbytes;
    let mut segment = Vec::new();
    let mut position = 0;
    while position < nbytes {
        let len = (nbytes - position).min(size as u64) as usize;
        segment
            .try_reserve_exact(len.saturating_sub(segment.len()))
            .map_err(ferroblosc::Error::from)?;
        segment.resize(len, 0);
        source.read(position, &mut segment)?;
        f(&segment)?;
        position += len as u64;
        progress(len as u64);
    }
    Ok(())
}

/// Returns the type and shape of a source. Data other than arrays are treated as an array of bytes.
pub(super) fn any_array_in(source: &dyn Source) -> Result<ArrayInfo> {
    let content = source.content();
    Ok(match &content.array {
        Some(info) => info.clone(),
        None => ArrayInfo {
            dtype: Dtype::parse("|u1")?,
            shape: vec![content.nbytes],
            fortran_order: false,
        },
    })
}

/// As [`any_array_in`], for formats that hold no items without bytes.
pub(super) fn array_in(source: &dyn Source) -> Result<ArrayInfo> {
    let info = any_array_in(source)?;
    match info.dtype.itemsize() {
        0 => Err(Error::CannotHold("no items without bytes")),
        _ => Ok(info),
    }
}
