//! Metalayers in memory of `malloc`, as C programs find them in a super-chunk.

use crate::types::schunk::blosc2_metalayer;
use ferroblosc::{Buffer, Error, Result};

/// New metalayers that no super-chunk owns yet.
pub struct MadeLayers(pub Vec<*mut blosc2_metalayer>);

impl Drop for MadeLayers {
    fn drop(&mut self) {
        for layer in self.0.drain(..) {
            // SAFETY: the metalayers came from `new_layer`, and only this list has pointers to
            // them.
            unsafe { free_layer(layer) }
        }
    }
}

/// Allocates a metalayer, with its name and content, from `malloc`.
pub fn new_layer(name: &[u8], content: Buffer) -> Result<*mut blosc2_metalayer> {
    // Names are C strings: bytes after a NUL would not be accessible.
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    let mut text = Buffer::zeroed(name.len() + 1)?;
    text[..name.len()].copy_from_slice(name);
    let layer = Buffer::zeroed(size_of::<blosc2_metalayer>())?;
    let content_len = i32::try_from(content.len()).map_err(|_| Error::InvalidParam)?;
    let layer: *mut blosc2_metalayer = layer.into_raw().cast();
    // SAFETY: a block of `malloc` is aligned for any struct, and this one has its size.
    unsafe {
        layer.write(blosc2_metalayer {
            name: text.into_raw().cast(),
            content: content.into_raw(),
            content_len,
        });
    }
    Ok(layer)
}

/// Frees a metalayer; NULL is allowed.
///
/// # Safety
/// `layer` is NULL or a metalayer whose memory came from `malloc`, and is not used again.
pub unsafe fn free_layer(layer: *mut blosc2_metalayer) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(parts) = layer.as_ref() {
            libc::free(parts.name.cast());
            libc::free(parts.content.cast());
        }
        libc::free(layer.cast());
    }
}
