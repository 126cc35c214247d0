//! Tests of the filters in several threads and in forked children.

mod common;

use common::Plugin;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns increasing 32-bit numbers.
fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// HDF5 without its global lock may call a filter in several threads.
#[test]
fn filters_can_run_in_several_threads_at_once() {
    let data: Vec<Vec<u8>> = (1..9).map(|thread| numbers(2000 * thread)).collect();
    std::thread::scope(|scope| {
        for data in &data {
            scope.spawn(move || {
                let count = data.len() as u32 / 4;
                let of_1 = [2, 2, 4, data.len() as u32, 5, 1, 1];
                let of_2 = [1, 0, 4, data.len() as u32, 5, 2, 5, 2, count / 100, 100];
                for (plugin, values) in [(Plugin::blosc(), &of_1[..]), (Plugin::blosc2(), &of_2)] {
                    for _ in 0..3 {
                        let stored = plugin.compress(values, data).unwrap();
                        assert_eq!(plugin.decompress(values, &stored).as_ref(), Some(data));
                        assert_eq!(plugin.decompress(values, &stored[1..]), None);
                    }
                }
            });
        }
    });
}

/// A forked child uses the filters, also while another thread of the parent does.
#[test]
fn a_forked_child_can_use_the_filters() {
    let data = numbers(20_000);
    let values = [2, 0, 4, data.len() as u32, 5, 1, 1];
    let stored_1 = Plugin::blosc().compress(&values, &data).unwrap();
    let stored_2 = Plugin::blosc2().compress(&values, &data).unwrap();
    let reads = || {
        Plugin::blosc().decompress(&[], &stored_1).as_ref() == Some(&data)
            && Plugin::blosc2().decompress(&[], &stored_2).as_ref() == Some(&data)
    };
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                assert!(reads());
            }
        });
        let children = (0..8).map(|_| {
            // SAFETY: the child calls the filters, which support that, and exits.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    libc::alarm(60);
                    libc::_exit(i32::from(!reads()));
                }
                let mut status = -1;
                libc::waitpid(child, &raw mut status, 0);
                status
            }
        });
        let statuses: Vec<i32> = children.collect();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(statuses, [0; 8]);
    });
}
