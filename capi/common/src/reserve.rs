//! The allocator of the C libraries: the system's, with a reserve for small requests.
//!
//! Large buffers are allocated fallibly, and a call without memory for them returns -4. Small
//! allocations of Rust (a box, a string, a list) cannot return an error: without memory, the
//! standard library aborts the process. A request of at most [`LARGEST`] bytes that the system
//! refuses is therefore served from a static reserve. The call then succeeds, or fails with an
//! error when it needs a large buffer.
//!
//! The reserve is refilled when its blocks are freed. A call begins only while the reserve is at
//! least half full or the system has memory again ([`is_exhausted`]), so objects created without
//! system memory cannot use it up.
//!
//! ```text
//! alloc ── system ── null, and size <= LARGEST ── reserve: smallest class with a free block
//! free  ── address inside the reserve? ── no ── system
//!                                      └─ yes ─ bit of the block is cleared
//! ```
//!
//! The reserve is zeroed static memory, which has no pages until it is used. Its only state is one
//! bit per block and one counter per class, all atomic. It needs no lock, and a forked child
//! inherits a usable reserve regardless of the other threads of the parent.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

// The destructors of thread-local values are kept in memory of this allocator.
crate::without_thread_atexit!();

/// The largest request that the reserve serves, in bytes.
pub const LARGEST: usize = 64 << 10;

/// The alignment of the reserve in bytes. Requests with a larger alignment are not served from it.
const ALIGNMENT: usize = 4096;

/// The number of blocks per bitmap word.
const PER_WORD: usize = u64::BITS as usize;

/// Blocks of `SIZE` bytes, 64 for each of the `WORDS` bitmap words.
#[repr(C, align(4096))]
struct Class<const SIZE: usize, const WORDS: usize> {
    memory: UnsafeCell<[[[MaybeUninit<u8>; SIZE]; PER_WORD]; WORDS]>,
    /// Bit i of word w is set while block `w * 64 + i` is in use.
    taken: [AtomicU64; WORDS],
    /// The number of blocks in use.
    count: AtomicUsize,
}

// SAFETY: the memory is only accessed through blocks, and `taken` assigns a block to one owner at a
// time.
unsafe impl<const SIZE: usize, const WORDS: usize> Sync for Class<SIZE, WORDS> {}

/// A [`Class`] of any block size and number of blocks.
trait Blocks: Sync {
    /// Returns the size of a block in bytes.
    fn size(&self) -> usize;
    /// Allocates a block; returns null if none is free.
    fn take(&self) -> *mut u8;
    /// Whether an address is inside the memory of the class.
    fn contains(&self, address: usize) -> bool;
    /// Frees the block at an address.
    fn free(&self, address: usize);
    /// Whether more than half of the blocks are in use.
    fn is_low(&self) -> bool;
}

impl<const SIZE: usize, const WORDS: usize> Class<SIZE, WORDS> {
    const fn new() -> Class<SIZE, WORDS> {
        assert!(SIZE.is_power_of_two() && SIZE <= LARGEST);
        Class {
            memory: UnsafeCell::new([[[MaybeUninit::uninit(); SIZE]; PER_WORD]; WORDS]),
            taken: [const { AtomicU64::new(0) }; WORDS],
            count: AtomicUsize::new(0),
        }
    }

    fn start(&self) -> *mut u8 {
        self.memory.get().cast()
    }
}

impl<const SIZE: usize, const WORDS: usize> Blocks for Class<SIZE, WORDS> {
    fn size(&self) -> usize {
        SIZE
    }

    fn take(&self) -> *mut u8 {
        for (index, word) in self.taken.iter().enumerate() {
            // Relaxed: the exchange verifies the value.
            let mut bits = word.load(Ordering::Relaxed);
            while bits != u64::MAX {
                let bit = bits.trailing_ones() as usize;
                // Acquire: pairs with the Release in `free`, which orders the previous owner before
                // the new one.
                match word.compare_exchange_weak(
                    bits,
                    bits | 1 << bit,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        self.count.fetch_add(1, Ordering::Relaxed);
                        // SAFETY: the index of the block is below 64 * WORDS, so it is inside
                        // `memory`.
                        return unsafe { self.start().add((index * PER_WORD + bit) * SIZE) };
                    }
                    Err(now) => bits = now,
                }
            }
        }
        null_mut()
    }

    fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start().addr()) < SIZE * PER_WORD * WORDS
    }

    fn free(&self, address: usize) {
        let block = (address - self.start().addr()) / SIZE;
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.taken[block / PER_WORD].fetch_and(!(1 << (block % PER_WORD)), Ordering::Release);
    }

    fn is_low(&self) -> bool {
        self.count.load(Ordering::Relaxed) > PER_WORD * WORDS / 2
    }
}

/// All classes in order of size.
struct Classes {
    /// The number of blocks in use in all classes.
    count: AtomicUsize,
    bytes64: Class<64, 64>,
    bytes256: Class<256, 32>,
    kib1: Class<1024, 8>,
    kib8: Class<8192, 1>,
    kib64: Class<LARGEST, 1>,
}

/// The reserve.
static CLASSES: Classes = Classes {
    count: AtomicUsize::new(0),
    bytes64: Class::new(),
    bytes256: Class::new(),
    kib1: Class::new(),
    kib8: Class::new(),
    kib64: Class::new(),
};

impl Classes {
    fn all(&self) -> [&dyn Blocks; 5] {
        [&self.bytes64, &self.bytes256, &self.kib1, &self.kib8, &self.kib64]
    }

    /// Allocates a block for a request; returns null if none fits.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > ALIGNMENT {
            return null_mut();
        }
        // Blocks are aligned to their size, up to the alignment of the reserve.
        let needed = layout.size().max(layout.align());
        let block = self
            .all()
            .into_iter()
            .filter(|class| class.size() >= needed)
            .map(|class| class.take())
            .find(|block| !block.is_null());
        let Some(block) = block else {
            return null_mut();
        };
        self.count.fetch_add(1, Ordering::Relaxed);
        block
    }

    /// Whether an address is inside the reserve.
    fn contain(&self, address: usize) -> bool {
        address.wrapping_sub(std::ptr::from_ref(self).addr()) < size_of::<Classes>()
    }

    /// Returns the class of a block of the reserve.
    fn class_of(&self, address: usize) -> Option<&dyn Blocks> {
        self.all().into_iter().find(|class| class.contains(address))
    }

    /// Whether a class is low and the system has no memory.
    #[cold]
    fn are_exhausted(&self) -> bool {
        self.all().into_iter().any(Blocks::is_low) && !system_has_memory()
    }

    #[cold]
    fn free(&self, address: usize) {
        if let Some(class) = self.class_of(address) {
            self.count.fetch_sub(1, Ordering::Relaxed);
            class.free(address);
        }
    }
}

/// Whether a new call must be refused because the reserve is less than half full and the system is
/// out of memory.
#[inline]
pub fn is_exhausted() -> bool {
    // Relaxed: a thread that does not see the allocations of another thread yet begins at most one
    // more call.
    CLASSES.count.load(Ordering::Relaxed) != 0 && CLASSES.are_exhausted()
}

/// Whether the system can allocate [`LARGEST`] bytes.
#[cold]
fn system_has_memory() -> bool {
    // SAFETY: the block is freed immediately; `free` accepts NULL.
    unsafe {
        let block = std::hint::black_box(libc::malloc(LARGEST));
        libc::free(block);
        !block.is_null()
    }
}

/// The system's allocator with the reserve as a fallback. A library uses it with
/// `#[global_allocator] static ALLOCATOR: Reserve = Reserve;`
pub struct Reserve;

// SAFETY: a block is from the system, or from the reserve without another owner, at least as large
// as requested, and aligned to its size or the alignment of the reserve. Its address determines its
// origin.
unsafe impl GlobalAlloc for Reserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the contract of the caller is passed on.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { CLASSES.take(layout) } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the contract of the caller is passed on.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if !memory.is_null() {
            return memory;
        }
        let memory = CLASSES.take(layout);
        if !memory.is_null() {
            // SAFETY: the block has at least `layout.size()` bytes.
            unsafe { memory.write_bytes(0, layout.size()) };
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if CLASSES.contain(memory.addr()) {
            CLASSES.free(memory.addr());
        } else {
            // SAFETY: a block outside the reserve is from the system.
            unsafe { System.dealloc(memory, layout) }
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !CLASSES.contain(memory.addr()) {
            // SAFETY: a block outside the reserve is from the system.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
            if size <= layout.size() {
                // Shrinking cannot fail: the block stays larger than needed, and `free` does not
                // depend on the size.
                return memory;
            }
        } else if CLASSES.class_of(memory.addr()).is_some_and(|class| size <= class.size()) {
            return memory;
        }
        // SAFETY: the caller guarantees that `size` is valid for a layout of this alignment. The
        // new block does not overlap the old one, and both contain the copied bytes.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_are_aligned_and_are_reused() {
        static CLASS: Class<64, 2> = Class::new();
        let blocks: Vec<usize> = (0..128).map(|_| CLASS.take().addr()).collect();
        assert!(CLASS.take().is_null());
        assert!(CLASS.is_low());
        let mut sorted = blocks.clone();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] == 64));
        assert!(blocks.iter().all(|block| block % 64 == 0));
        assert!(!CLASS.contains(sorted[0] - 1) && !CLASS.contains(sorted[127] + 64));
        CLASS.free(blocks[77]);
        assert_eq!(CLASS.take().addr(), blocks[77]);
        blocks.iter().for_each(|&block| CLASS.free(block));
        assert!(!CLASS.is_low());
    }

    #[test]
    fn two_threads_never_have_the_same_block() {
        static CLASS: Class<256, 4> = Class::new();
        let take = || -> Vec<usize> {
            std::iter::from_fn(|| Some(CLASS.take().addr()).filter(|&block| block != 0)).collect()
        };
        let mut blocks: Vec<usize> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
        });
        blocks.sort_unstable();
        assert_eq!(blocks.len(), 256);
        assert!(blocks.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_block_that_grows_out_of_its_class_keeps_its_bytes() {
        let layout = Layout::from_size_align(40, 8).unwrap();
        let block = CLASSES.take(layout);
        assert!(CLASSES.contain(block.addr()));
        // SAFETY: the block has 40 bytes and is passed to the allocator that owns it.
        unsafe {
            block.write_bytes(7, 40);
            assert_eq!(Reserve.realloc(block, layout, 64), block);
            let layout = Layout::from_size_align(64, 8).unwrap();
            let grown = Reserve.realloc(block, layout, 5000);
            assert!(!CLASSES.contain(grown.addr()));
            assert_eq!(std::slice::from_raw_parts(grown, 40), [7; 40]);
            Reserve.dealloc(grown, Layout::from_size_align(5000, 8).unwrap());
        }
        assert!(!CLASSES.are_exhausted());
        let too_large = Layout::from_size_align(LARGEST + 1, 1).unwrap();
        assert!(CLASSES.take(too_large).is_null());
    }
}
