//! Models of the gate, for shuttle.

use super::gate::{Busy, Entry, Gate, Hold};
use super::thread::{check, fork, spawn};
use shuttle::sync::atomic::AtomicUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

const READ: Entry = Entry { exclusive: false, calls: false, recursive: false, nested: false };
const WRITE: Entry = Entry { exclusive: true, ..READ };

/// The threads that hold a gate: 1 for each reader, 1000 for a writer.
#[derive(Default)]
struct Inside(AtomicUsize);

impl Inside {
    /// Enters, and checks that the holds are those of readers or of one writer.
    fn enter(&self, entry: Entry) {
        if entry.exclusive {
            assert_eq!(self.0.fetch_add(1000, SeqCst), 0, "a writer is not alone");
        } else {
            assert!(self.0.fetch_add(1, SeqCst) < 1000, "a reader beside a writer");
        }
    }

    fn leave(&self, entry: Entry) {
        self.0.fetch_sub(if entry.exclusive { 1000 } else { 1 }, SeqCst);
    }
}

/// Enters the gate `times` times; returns how often that failed.
fn visit(gate: &Gate, inside: &Inside, entry: Entry, times: usize) -> usize {
    let mut refused = 0;
    for _ in 0..times {
        match gate.enter(entry) {
            Ok(hold) => {
                inside.enter(entry);
                inside.leave(entry);
                drop(hold);
            }
            Err(Busy) => refused += 1,
        }
    }
    refused
}

/// Runs a thread for each entry; returns how often entering failed.
fn visit_in_threads(entries: &[Entry]) -> usize {
    let shared = Arc::new((Gate::new(), Inside::default()));
    let threads: Vec<_> = entries
        .iter()
        .map(|&entry| {
            let shared = shared.clone();
            spawn(move || visit(&shared.0, &shared.1, entry, 2))
        })
        .collect();
    let refused = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(shared.0.enter(WRITE).is_ok(), "the gate is free at the end");
    refused
}

/// Readers share the gate, writers are alone, and no wake-up is lost.
pub fn writers_are_alone() {
    check(|| {
        assert_eq!(visit_in_threads(&[READ, READ, WRITE, WRITE]), 0);
    });
}

/// Callers that run callbacks are not waited for: an entry fails instead of waiting for them.
pub fn calls_are_not_waited_for() {
    check(|| {
        let calling = Entry { calls: true, ..WRITE };
        visit_in_threads(&[READ, calling, WRITE]);
    });
}

/// A callback reads the object that it serves while other threads read and write.
pub fn a_callback_may_read() {
    check(|| {
        let shared = Arc::new((Gate::new(), Inside::default()));
        let threads: Vec<_> = [READ, WRITE]
            .into_iter()
            .map(|entry| {
                let shared = shared.clone();
                spawn(move || visit(&shared.0, &shared.1, entry, 1))
            })
            .collect();
        if let Ok(writing) = shared.0.enter(Entry { calls: true, ..WRITE }) {
            let called = shared.0.call_out().unwrap();
            let nested = Entry { recursive: true, nested: true, ..READ };
            drop(shared.0.enter(nested).unwrap());
            assert_eq!(shared.0.enter(Entry { exclusive: true, ..nested }).err(), Some(Busy));
            drop(called);
            drop(writing);
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(shared.0.enter(WRITE).is_ok());
    });
}

/// A child finds the gate free, independently of where the other threads of its parent were, and
/// its copies of the parent's holds release nothing.
pub fn a_forked_child_finds_the_gate_free() {
    check(|| {
        // The threads of the parent stop inside: their holds are never dropped.
        let shared: &'static _ = Box::leak(Box::new((Gate::new(), Inside::default())));
        for entry in [READ, WRITE, Entry { calls: true, ..WRITE }] {
            drop(spawn(move || visit(&shared.0, &shared.1, entry, 2)));
        }
        let own: Option<Hold<'static>> = shared.0.enter(READ).ok();
        fork();
        let inside = Inside::default();
        let writing = shared.0.enter(WRITE).unwrap();
        inside.enter(WRITE);
        drop(own);
        let other = spawn(move || drop(shared.0.enter(READ).unwrap()));
        inside.leave(WRITE);
        drop(writing);
        other.join().unwrap();
        assert_eq!(visit(&shared.0, &inside, WRITE, 1), 0);
    });
}
