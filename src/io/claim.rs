//! Exclusive file locks that are released with their owner.
//!
//! `flock` locks belong to an open file description, which a forked child shares. Closing the file
//! therefore does not release the lock as long as a child, which may run for hours, has a copy of
//! the descriptor. A [`Claim`] releases it explicitly, but only in the process that acquired it.

use crate::os::{files, process};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// The lock of a file that is open for as long as the claim exists.
#[derive(Debug)]
pub struct Claim {
    descriptor: files::Descriptor,
    /// Id of the process that holds the lock; 0 without a lock.
    process: AtomicU32,
}

impl Claim {
    /// Returns the claim of a file, without a lock.
    pub fn of(file: &File) -> Claim {
        Claim { descriptor: files::descriptor(file), process: AtomicU32::new(0) }
    }

    /// Locks the file without waiting. Returns `false` if another open file has the lock.
    ///
    /// # Errors
    /// Returns any error of the operating system; `Unsupported` on file systems without locks.
    pub fn lock(&self, file: &File) -> io::Result<bool> {
        let locked = files::claim(file)?;
        if locked {
            // Relaxed: only the owner reads the number.
            self.process.store(process::id(), Ordering::Relaxed);
        }
        Ok(locked)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if *self.process.get_mut() == process::id() {
            files::release_claim(self.descriptor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;

    #[test]
    fn a_lock_ends_with_its_claim_although_a_child_has_the_descriptor() {
        let dir = TempDir::new("claim");
        let path = dir.join("f");
        let file = File::create(&path).unwrap();
        let claim = Claim::of(&file);
        assert!(claim.lock(&file).unwrap());
        // A duplicate shares the description, like the copy in a forked child.
        let child = file.try_clone().unwrap();
        drop(claim);
        drop(file);
        let other = File::open(&path).unwrap();
        assert!(Claim::of(&other).lock(&other).unwrap());
        drop(child);
    }

    #[test]
    fn a_second_claim_fails_while_the_first_lasts() {
        let dir = TempDir::new("claims");
        let path = dir.join("f");
        let file = File::create(&path).unwrap();
        let claim = Claim::of(&file);
        assert!(claim.lock(&file).unwrap());
        let other = File::open(&path).unwrap();
        assert!(!Claim::of(&other).lock(&other).unwrap());
    }

    #[test]
    fn a_claim_of_another_process_is_not_released() {
        let dir = TempDir::new("claim-forked");
        let path = dir.join("f");
        let file = File::create(&path).unwrap();
        let claim = Claim::of(&file);
        assert!(claim.lock(&file).unwrap());
        claim.process.store(std::process::id() ^ 1, Ordering::Relaxed);
        drop(claim);
        let other = File::open(&path).unwrap();
        assert!(!Claim::of(&other).lock(&other).unwrap());
    }
}
