//! The ordered writer with a small encoder, and its models.

pub(crate) mod block;
#[path = "../../../../../src/chunk/encode/writer.rs"]
mod writer;

use crate::chunk::worker::cache::{self, WorkerCache};
use crate::pool::thread::{check, join_helpers, spawn};
use crate::pool::{release, thread};
use crate::{Error, Result};
use block::{BlockEncoder, Params};
use writer::write_blocks;

/// The blocks of the models.
const BLOCKS: usize = 5;

/// Writes a chunk with `nthreads` threads; returns its length and its bytes.
fn written(
    nthreads: i16,
    fails_at: Option<usize>,
    dest: usize,
) -> (Result<Option<usize>>, Vec<u8>) {
    let params = Params { nthreads };
    let encoder = BlockEncoder::of_blocks(&params, BLOCKS, fails_at);
    let mut bytes = vec![0; dest];
    let mut workers = WorkerCache::default();
    let result = write_blocks(&encoder, 4, &mut workers, &mut bytes);
    let result = result.map(|end| end.map(|end| end.len));
    match result {
        Ok(Some(len)) => bytes.truncate(len),
        _ => bytes.clear(),
    }
    (result, bytes)
}

/// Compares a chunk that `nthreads` threads write with that of one thread.
fn agrees_with_one_thread(nthreads: i16, fails_at: Option<usize>, dest: usize) {
    assert_eq!(written(nthreads, fails_at, dest), written(1, fails_at, dest));
}

fn end() {
    cache::release();
    release();
    join_helpers();
    thread::fork();
}

/// The bytes do not depend on the threads.
pub fn threads_write_the_chunk_of_one_thread() {
    check(|| {
        agrees_with_one_thread(3, None, 200);
        end();
    });
}

/// The same for each length of a destination that may be too small.
pub fn threads_fill_a_short_destination_like_one_thread() {
    check(|| {
        for dest in [23, 24, 30, 45, 60] {
            agrees_with_one_thread(3, None, dest);
        }
        end();
    });
}

/// The first failure in block order is reported, unless the destination is exhausted before it.
pub fn a_failure_is_reported_in_block_order() {
    check(|| {
        for (fails_at, dest) in [(0, 200), (2, 200), (4, 200), (3, 45)] {
            agrees_with_one_thread(2, Some(fails_at), dest);
        }
        end();
    });
}

/// Two contexts write at the same time, with the same pool and shared workers.
pub fn two_contexts_write_at_the_same_time() {
    check(|| {
        let other = spawn(|| agrees_with_one_thread(2, None, 200));
        agrees_with_one_thread(2, None, 200);
        other.join().unwrap();
        end();
    });
}
