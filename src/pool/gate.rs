//! A readers-writer lock for objects whose calls may run code of the program (callbacks).
//!
//! It differs from `std`'s in four respects, which a C interface requires:
//!
//! - A call that runs callbacks never makes another call wait: the callback might need a resource
//!   that the waiting thread holds, such as an interpreter's lock. The other call fails with
//!   [`Busy`], and so does one that would wait for itself: a callback that changes the object it
//!   serves.
//! - A callback may read the object it serves, even while its own call holds the lock for writing.
//! - Readers and writers alternate when both wait, so neither starves.
//! - A forked child finds the lock free, because the threads that held it do not exist there.
//!
//! ```text
//! state: generation (forks), u32 | flags | readers, 24 bits
//! ```

use super::sync::{AtomicU32, AtomicU64, Ordering};
use super::{fork, futex, process};
use std::time::Duration;

/// The bits that count readers.
const READERS: u32 = (1 << 24) - 1;
/// Flag: a writer holds the lock.
const EXCLUSIVE: u32 = 1 << 31;
/// Flag: a writer waits, so further readers wait too.
const WRITER_WAITS: u32 = 1 << 30;
/// Flag: a thread sleeps until the state changes.
const HAS_SLEEPERS: u32 = 1 << 29;
/// Flag: a writer has left while readers slept, so the readers are next.
const READERS_TURN: u32 = 1 << 28;
/// Flag: a reader sleeps until the state changes.
const READER_WAITS: u32 = 1 << 26;
/// Flag: the writer was called by a callback of this object and does not wait for other callbacks,
/// so these may wait for it.
const LEAF: u32 = 1 << 27;

/// The flags of sleeping threads.
const SLEEPERS: u32 = HAS_SLEEPERS | READER_WAITS;

/// The interval at which a waiting thread checks again whether waiting is allowed.
const RECHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The longest time that a writer yields to readers whose turn it is.
const READERS_TURN_LIMIT: Duration = Duration::from_millis(1);

/// The lock. All zero bytes are a valid value: an unlocked one.
#[derive(Debug, Default)]
pub struct Gate {
    state: AtomicU64,
    /// The number of wake-ups; waiting threads sleep on it.
    wakeups: AtomicU32,
    /// The number of holds whose calls may run callbacks.
    callers: ProcessCounter,
    /// The number of callbacks that the current writer is running.
    active_callbacks: ProcessCounter,
}

/// The properties of a call that acquires the lock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Whether the call changes the object.
    pub exclusive: bool,
    /// Whether the call may run callbacks.
    pub calls: bool,
    /// Whether a callback of any object makes the call. Such readers do not wait for waiting
    /// writers.
    pub recursive: bool,
    /// Whether a callback that serves this object makes the call.
    pub nested: bool,
}

/// The error if the lock is held by a call that must not be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// A held lock, released on drop.
#[derive(Debug)]
pub struct Hold<'a> {
    gate: &'a Gate,
    generation: u32,
    entry: Entry,
    /// Whether the state counts this entry. False for a read in a callback of the writer.
    counted: bool,
}

impl Gate {
    /// Returns an unlocked gate.
    pub const fn new() -> Gate {
        Gate {
            state: AtomicU64::new(0),
            wakeups: AtomicU32::new(0),
            callers: ProcessCounter::new(),
            active_callbacks: ProcessCounter::new(),
        }
    }

    /// Acquires the lock, waiting if necessary.
    ///
    /// # Errors
    /// [`Busy`] if this would wait for callbacks.
    pub fn enter(&self, entry: Entry) -> Result<Hold<'_>, Busy> {
        let generation = generation();
        let counted = if entry.exclusive {
            self.enter_exclusive(entry, generation)?;
            true
        } else {
            self.enter_shared(entry, generation)?
        };
        if entry.calls {
            self.callers.add(generation, 1);
        }
        Ok(Hold { gate: self, generation, entry, counted })
    }

    /// Marks that the current writer runs callbacks until the result is dropped, so that these may
    /// read. Returns `None` if there is no writer.
    pub fn call_out(&self) -> Option<CallOut<'_>> {
        let generation = generation();
        let is_exclusive = self.load(generation).1 & EXCLUSIVE != 0;
        is_exclusive.then(|| {
            self.active_callbacks.add(generation, 1);
            CallOut { gate: self, generation }
        })
    }

    /// Acquires the lock for reading; returns whether the state counts the reader.
    fn enter_shared(&self, entry: Entry, generation: u32) -> Result<bool, Busy> {
        loop {
            let (stored, word) = self.load(generation);
            let is_turn = entry.recursive || word & WRITER_WAITS == 0 || word & READERS_TURN != 0;
            if word & EXCLUSIVE == 0 && is_turn {
                if self.exchange(stored, generation, (word + 1) & !READERS_TURN) {
                    return Ok(true);
                }
                continue;
            }
            if word & EXCLUSIVE != 0 {
                if entry.nested && self.active_callbacks.get(generation) > 0 {
                    return Ok(false);
                }
                if entry.nested && word & LEAF == 0 || self.callers.get(generation) > 0 {
                    return Err(Busy);
                }
            }
            self.sleep(stored, generation, word, READER_WAITS, RECHECK_INTERVAL);
        }
    }

    /// Acquires the lock for writing.
    fn enter_exclusive(&self, entry: Entry, generation: u32) -> Result<(), Busy> {
        let mut has_yielded = false;
        loop {
            let (stored, word) = self.load(generation);
            if word & (EXCLUSIVE | READERS) == 0 {
                if word & READERS_TURN != 0 && !has_yielded {
                    has_yielded = true;
                    self.sleep(stored, generation, word, 0, READERS_TURN_LIMIT);
                    continue;
                }
                let leaf = if entry.nested { LEAF } else { 0 };
                if self.exchange(stored, generation, EXCLUSIVE | leaf | word & SLEEPERS) {
                    return Ok(());
                }
                continue;
            }
            let is_for_itself = entry.nested && word & LEAF == 0;
            if is_for_itself || self.callers.get(generation) > 0 {
                self.stop_waiting(generation);
                return Err(Busy);
            }
            self.sleep(stored, generation, word, WRITER_WAITS, RECHECK_INTERVAL);
        }
    }

    /// Clears the flags of a writer that stops waiting, and wakes all threads. Other waiting
    /// writers set the flags again.
    fn stop_waiting(&self, generation: u32) {
        self.update(generation, |word| word & !(WRITER_WAITS | SLEEPERS));
        self.wake_all();
    }

    fn leave(&self, exclusive: bool, generation: u32) {
        let after = |word: u32| match word {
            _ if exclusive && word & READER_WAITS != 0 => READERS_TURN,
            _ if exclusive => 0,
            _ if word & READERS == 1 => (word - 1) & !SLEEPERS,
            _ => word - 1,
        };
        let before = self.update(generation, after);
        if before & HAS_SLEEPERS != 0 && (exclusive || before & READERS == 1) {
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        self.wakeups.fetch_add(1, Ordering::SeqCst);
        futex::wake_all(&self.wakeups);
    }

    /// Sets a flag in the state `stored` and sleeps until a wake-up or for at most `limit`. Returns
    /// immediately if the state has changed.
    fn sleep(&self, stored: u64, generation: u32, word: u32, flag: u32, limit: Duration) {
        let wakeups = self.wakeups.load(Ordering::SeqCst);
        if self.exchange(stored, generation, word | HAS_SLEEPERS | flag) {
            futex::wait_for(&self.wakeups, wakeups, limit);
        }
    }

    /// Returns the stored state, and its word if it belongs to this process (otherwise 0).
    fn load(&self, generation: u32) -> (u64, u32) {
        let stored = self.state.load(Ordering::SeqCst);
        (stored, untagged(stored, generation))
    }

    fn exchange(&self, stored: u64, generation: u32, word: u32) -> bool {
        let order = Ordering::SeqCst;
        let new = tagged(generation, word);
        (self.state).compare_exchange(stored, new, order, order).is_ok()
    }

    /// Changes the state; returns the previous one.
    fn update(&self, generation: u32, change: impl Fn(u32) -> u32) -> u32 {
        loop {
            let (stored, word) = self.load(generation);
            if self.exchange(stored, generation, change(word)) {
                return word;
            }
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        // The child does not own the parent's holds.
        if self.generation != generation() {
            return;
        }
        if self.entry.calls {
            self.gate.callers.add(self.generation, -1);
        }
        if self.counted {
            self.gate.leave(self.entry.exclusive, self.generation);
        }
    }
}

/// Marks that a writer runs callbacks, until it is dropped.
#[derive(Debug)]
pub struct CallOut<'a> {
    gate: &'a Gate,
    generation: u32,
}

impl Drop for CallOut<'_> {
    fn drop(&mut self) {
        if self.generation == generation() {
            self.gate.active_callbacks.add(self.generation, -1);
        }
    }
}

/// A counter that restarts at 0 in each process.
#[derive(Debug, Default)]
struct ProcessCounter(AtomicU64);

impl ProcessCounter {
    const fn new() -> ProcessCounter {
        ProcessCounter(AtomicU64::new(0))
    }

    fn get(&self, generation: u32) -> u32 {
        untagged(self.0.load(Ordering::SeqCst), generation)
    }

    fn add(&self, generation: u32, change: i32) {
        let order = Ordering::SeqCst;
        let added = |stored| {
            let count = untagged(stored, generation);
            Some(tagged(generation, count.wrapping_add_signed(change)))
        };
        // The closure always returns `Some`.
        let _ = self.0.fetch_update(order, order, added);
    }
}

fn tagged(generation: u32, word: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(word)
}

/// Returns the word of a state that this process stored, or 0 for one of a parent process.
fn untagged(stored: u64, generation: u32) -> u32 {
    if (stored >> 32) as u32 == generation { stored as u32 } else { 0 }
}

/// Returns the number of forks between the first process and this one. A forked child recognises
/// the state of its parent by it.
pub(crate) fn generation() -> u32 {
    process::register_handler();
    // The number wraps only after 2³² nested forks.
    fork::count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Instant;

    const READ: Entry = Entry { exclusive: false, calls: false, recursive: false, nested: false };
    const WRITE: Entry = Entry { exclusive: true, ..READ };

    /// Rounds of the stress test: fewer under Miri.
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 2000 };

    #[test]
    fn readers_share_and_writers_exclude() {
        let gate = Gate::new();
        let inside = AtomicUsize::new(0);
        let most_readers = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let hold = gate.enter(WRITE).unwrap();
                        assert_eq!(inside.fetch_add(1000, Ordering::SeqCst), 0);
                        inside.fetch_sub(1000, Ordering::SeqCst);
                        drop(hold);
                    }
                });
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        let hold = gate.enter(READ).unwrap();
                        let readers = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        assert!(readers < 1000);
                        most_readers.fetch_max(readers, Ordering::SeqCst);
                        std::hint::spin_loop();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(hold);
                    }
                });
            }
        });
        let together = [gate.enter(READ), gate.enter(READ)];
        assert!(together.iter().all(Result::is_ok));
        drop(together);
        assert_eq!(gate.load(generation()).1 & (READERS | EXCLUSIVE), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "counts turns in real time")]
    fn neither_readers_nor_writers_starve() {
        let gate = Gate::new();
        let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let end = Instant::now() + Duration::from_millis(300);
        std::thread::scope(|scope| {
            for (entry, count) in [(READ, &reads), (READ, &reads), (WRITE, &writes)] {
                let gate = &gate;
                scope.spawn(move || {
                    while Instant::now() < end {
                        let _hold = gate.enter(entry).unwrap();
                        count.fetch_add(1, Ordering::Relaxed);
                        let until = Instant::now() + Duration::from_micros(50);
                        while Instant::now() < until {
                            std::hint::spin_loop();
                        }
                    }
                });
            }
        });
        let (reads, writes) = (reads.into_inner(), writes.into_inner());
        assert!(reads > 20 && writes > 20, "{reads} reads, {writes} writes");
    }

    #[test]
    fn calls_that_run_program_code_are_never_waited_for() {
        let gate = Gate::new();
        let calling = Entry { calls: true, ..READ };
        let reading = gate.enter(calling).unwrap();
        assert_eq!(gate.enter(WRITE).err(), Some(Busy));
        assert!(gate.enter(READ).is_ok(), "readers do not wait for readers");
        drop(reading);
        let writing = gate.enter(Entry { calls: true, ..WRITE });
        assert_eq!(gate.enter(READ).err(), Some(Busy));
        assert_eq!(gate.enter(WRITE).err(), Some(Busy));
        drop(writing);
        assert!(gate.enter(WRITE).is_ok());
    }

    #[test]
    fn a_callback_can_read_but_not_change_the_object_it_serves() {
        let gate = Gate::new();
        let nested = Entry { recursive: true, nested: true, ..READ };
        let nested_write = Entry { exclusive: true, ..nested };
        let writing = gate.enter(WRITE).unwrap();
        assert_eq!(gate.enter(nested).err(), Some(Busy), "it changes just now");
        let calling = gate.call_out();
        assert!(gate.enter(nested).is_ok());
        assert_eq!(gate.enter(nested_write).err(), Some(Busy));
        drop(calling);
        assert_eq!(gate.enter(nested).err(), Some(Busy));
        drop(writing);
        let reading = gate.enter(READ).unwrap();
        assert!(gate.call_out().is_none());
        assert!(gate.enter(nested).is_ok());
        assert_eq!(gate.enter(nested_write).err(), Some(Busy));
        drop(reading);
        assert!(gate.enter(nested_write).is_ok());
    }

    #[test]
    fn a_callback_does_not_wait_for_a_waiting_writer() {
        let gate = Gate::new();
        let reading = gate.enter(READ).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| drop(gate.enter(WRITE).unwrap()));
            while gate.load(generation()).1 & WRITER_WAITS == 0 {
                std::thread::yield_now();
            }
            let recursive = Entry { recursive: true, ..READ };
            assert!(gate.enter(recursive).is_ok());
            drop(reading);
            writer.join().unwrap();
        });
    }

    #[test]
    fn a_forked_child_finds_the_gate_free() {
        let gate = Gate::new();
        let held = gate.enter(WRITE).unwrap();
        // A child sees the parent's state with another generation.
        let (stored, _) = gate.load(generation());
        assert_eq!(untagged(stored, generation() + 1), 0);
        drop(held);
    }
}
