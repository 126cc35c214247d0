//! Verification of files that other programs may change at the same time.
//!
//! A program that reads a file during a change can see old and new bytes, which look like damage.

use crate::error::Failure;
use crate::lock::lock_to_read;
use crate::state::{FileState, is_frame, state_of};
use ferroblosc_formats::convert::{self, Detected, Reading, Verification};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// The maximum number of verifications.
const ATTEMPTS: usize = 8;
/// The age from which the times of a file show every later change: systems store them in steps of
/// up to 16 ms.
const STEP: Duration = Duration::from_millis(20);

/// The result of a verification, and the state of the file that it describes.
pub struct Settled {
    /// The faults.
    pub verification: Verification,
    state: FileState,
    /// Prevents changes of a damaged frame by other processes of `b2`.
    _lock: Option<File>,
}

impl Settled {
    /// Verifies a file. If there is damage, it waits for programs that have locked the frame, and
    /// verifies the file again if another program has changed it. A damaged frame stays locked
    /// until the result is dropped.
    pub fn of(path: &Path, found: &Detected, reading: &Reading) -> Result<Settled, Failure> {
        let mut lock = None;
        for _ in 0..ATTEMPTS {
            let state = state_of(path, found);
            let verified = convert::verify(path, found, reading);
            let is_intact = verified.as_ref().is_ok_and(|verified| !verified.is_damaged());
            let mut is_settled = is_intact;
            if !is_intact {
                is_settled = match (&state, state_of(path, found)) {
                    (Ok(before), Ok(after)) => *before == after && after.is_older_than(STEP),
                    (before, after) => before.is_err() && after.is_err(),
                };
                if lock.is_none() && is_frame(found) {
                    let (locked, has_waited) = lock_to_read(path)?;
                    lock = locked;
                    is_settled &= !has_waited;
                }
            }
            if is_settled {
                return Ok(Settled { verification: verified?, state: state?, _lock: lock });
            }
            if !is_intact {
                std::thread::sleep(STEP);
            }
        }
        Err(Failure::new("another program is changing it").with_hint("try again afterwards"))
    }

    /// Fails if the file was changed after the verification.
    pub fn check_unchanged(&self, path: &Path, found: &Detected) -> Result<(), Failure> {
        if state_of(path, found)? == self.state {
            return Ok(());
        }
        Err(Failure::new("was changed by another program and left unchanged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::{SChunk, Storage};

    #[test]
    fn a_change_after_the_verification_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.b2frame");
        let storage = Storage::file(&path);
        let mut schunk = SChunk::create(storage, CParams::default(), DParams::default()).unwrap();
        schunk.append(&[7; 1000]).unwrap();
        schunk.close().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for (content, is_damaged) in [(&bytes[..], false), (&bytes[..bytes.len() - 1], true)] {
            std::fs::write(&path, content).unwrap();
            let found = convert::detect(&path).unwrap();
            let settled = Settled::of(&path, &found, &Reading::default()).unwrap();
            assert_eq!(settled.verification.is_damaged(), is_damaged);
            assert!(settled.check_unchanged(&path, &found).is_ok());
            std::fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
            assert!(settled.check_unchanged(&path, &found).is_err());
        }
    }
}
