//! The super-chunk that a context belongs to.

use crate::types::schunk::blosc2_schunk;
use ferroblosc::chunk::LazySource;
use ferroblosc::io::ReadAt;
use ferroblosc::{Error, Parent, Result};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A super-chunk as a C struct. Each call reads the fields of the struct, which programs may
/// change.
pub struct CParent(NonNull<blosc2_schunk>);

// SAFETY: two rules of the C interface: the super-chunk outlives the contexts that refer to it, and
// no thread changes it while one of them is in use.
unsafe impl Send for CParent {}
// SAFETY: as above.
unsafe impl Sync for CParent {}

impl CParent {
    /// Returns the super-chunk in the `schunk` field of parameters; `None` for NULL.
    pub fn from_schunk(schunk: *mut c_void) -> Option<Arc<CParent>> {
        Some(Arc::new(CParent(NonNull::new(schunk.cast())?)))
    }
}

impl LazySource for CParent {
    fn open(&self, nchunk: i32, offset: u64) -> Result<(Arc<dyn ReadAt>, u64)> {
        // SAFETY: as in `typesize`; the frame is NULL or valid.
        let frame = unsafe { (*self.0.as_ptr()).frame.as_ref() }.ok_or(Error::InvalidParam)?;
        let files = frame.frame.files().ok_or(Error::InvalidParam)?;
        files.open(nchunk, offset)
    }
}

impl Parent for CParent {
    fn typesize(&self) -> i32 {
        // SAFETY: the super-chunk is alive and does not change, see above. Only the field is
        // accessed.
        unsafe { (*self.0.as_ptr()).typesize }
    }

    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool {
        // SAFETY: as above; the reference ends before this function does.
        let schunk = unsafe { self.0.as_ref() };
        let count = usize::from(schunk.nmetalayers).min(schunk.metalayers.len());
        let content = schunk.metalayers[..count].iter().find_map(|&metalayer| {
            // SAFETY: the entries below `nmetalayers` are valid, their names are NUL-terminated,
            // and their contents have `content_len` bytes.
            unsafe {
                let metalayer = metalayer.as_ref()?;
                if metalayer.name.is_null()
                    || CStr::from_ptr(metalayer.name).to_bytes() != name.as_bytes()
                {
                    return None;
                }
                let len = usize::try_from(metalayer.content_len).ok()?;
                if metalayer.content.is_null() {
                    return (len == 0).then_some(&[][..]);
                }
                Some(std::slice::from_raw_parts(metalayer.content, len))
            }
        });
        content.map(read).is_some()
    }

    fn current_chunk(&self) -> i64 {
        // SAFETY: as in `typesize`. Concurrent readers set the field as an atomic number.
        unsafe { AtomicI64::from_ptr(&raw mut (*self.0.as_ptr()).current_nchunk) }
            .load(Ordering::Relaxed)
    }
}
