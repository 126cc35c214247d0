//! The bytes of a file that an open transaction may write to: those after the committed frame.
//!
//! Chunks that a transaction wrote and replaced again leave holes, which later changes of the same
//! transaction fill. Bytes that a change releases are not reused by that change, so a failed change
//! leaves the chunks of the transaction intact.

/// A run of bytes: its offset and its length.
type Extent = (u64, u64);

/// The bytes after a committed frame; offsets count from the end of the header.
#[derive(Clone, Debug)]
pub struct Space {
    /// The first byte that may be written.
    start: u64,
    /// The end of the bytes in use.
    end: u64,
    /// Holes below `end`, by offset; no two of them touch.
    free: Vec<Extent>,
    /// Bytes that were released and may not be reused yet.
    released: Vec<Extent>,
}

impl Space {
    /// Returns the space from `start` on, without bytes in use.
    pub fn new(start: u64) -> Space {
        Space { start, end: start, free: Vec::new(), released: Vec::new() }
    }

    /// The end of the bytes in use.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether an offset is that of a chunk that may be written to.
    pub fn contains(&self, stored: i64) -> bool {
        u64::try_from(stored).is_ok_and(|position| position >= self.start)
    }

    /// Returns the offset of `len` unused bytes, which are in use from then on.
    pub fn allocate(&mut self, len: u64) -> u64 {
        if let Some(at) = self.free.iter().position(|&(_, size)| size >= len) {
            let (position, size) = self.free[at];
            if size == len {
                self.free.remove(at);
            } else {
                self.free[at] = (position + len, size - len);
            }
            return position;
        }
        let position = self.end;
        self.end += len;
        position
    }

    /// Marks bytes as unused. Bytes of the committed frame are never reused.
    pub fn release(&mut self, position: u64, len: u64) {
        if position >= self.start && len > 0 {
            self.released.push((position, len));
        }
    }

    /// Makes the released bytes available.
    pub fn reclaim(&mut self) {
        if self.released.is_empty() {
            return;
        }
        self.free.append(&mut self.released);
        self.free.sort_unstable();
        let mut merged: Vec<Extent> = Vec::with_capacity(self.free.len());
        for &(position, len) in &self.free {
            match merged.last_mut() {
                Some((start, size)) if *start + *size == position => *size += len,
                _ => merged.push((position, len)),
            }
        }
        if let Some(&(position, len)) = merged.last()
            && position + len == self.end
        {
            self.end = position;
            merged.pop();
        }
        self.free = merged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_bytes_are_reused_once_they_are_reclaimed() {
        let mut space = Space::new(100);
        assert_eq!((space.allocate(10), space.allocate(20), space.allocate(30)), (100, 110, 130));
        space.release(110, 20);
        space.release(50, 20);
        assert_eq!(space.allocate(20), 160, "not reclaimed yet");
        space.reclaim();
        assert_eq!(space.allocate(5), 110);
        assert_eq!(space.allocate(15), 115);
        assert_eq!(space.allocate(1), 180);
        assert_eq!(space.end(), 181);
    }

    #[test]
    fn adjacent_holes_merge_and_a_hole_at_the_end_is_dropped() {
        let mut space = Space::new(0);
        for _ in 0..4 {
            space.allocate(10);
        }
        space.release(10, 10);
        space.release(30, 10);
        space.release(20, 10);
        space.reclaim();
        assert_eq!(space.end(), 10);
        assert_eq!(space.allocate(15), 10);
        assert_eq!(space.end(), 25);
    }

    #[test]
    fn repeated_updates_of_a_chunk_use_the_space_of_two() {
        let mut space = Space::new(0);
        let mut old = space.allocate(10);
        for _ in 0..100 {
            let new = space.allocate(10);
            assert_ne!(new, old);
            space.release(old, 10);
            space.reclaim();
            old = new;
        }
        assert!(space.end() <= 20);
    }
}
