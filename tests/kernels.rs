//! Every kernel at every SIMD level of this CPU; see `checks/kernels.rs`.

#[path = "checks/kernels.rs"]
mod checks;

use ferroblosc::kernels::{Level, cpu};
use std::sync::Mutex;

/// Runs the checks whose name starts with `prefix` at all levels.
fn run(prefix: &str) {
    let mut found = false;
    for (name, check) in checks::CHECKS
        .iter()
        .filter(|(name, _)| name.starts_with(prefix))
    {
        found = true;
        for level in Level::available() {
            println!("{name} at {}", level.name());
            check(level);
        }
    }
    assert!(found, "no check starts with {prefix}");
}

/// [`run`] in the way that is good for CPUs of AMD and in the way that is good for Intel's CPUs.
fn run_in_both_ways(prefix: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock();
    for amd in [true, false] {
        cpu::assume_amd(Some(amd));
        run(prefix);
    }
    cpu::assume_amd(None);
}

#[test]
fn shuffle_gives_the_same_bytes_at_every_level() {
    run_in_both_ways("shuffle");
    run_in_both_ways("parts_are_shuffled");
    run_in_both_ways("scattered_planes");
    run_in_both_ways("streamed_planes");
}

#[test]
fn bitshuffle_gives_the_same_bytes_at_every_level() {
    run_in_both_ways("bitshuffle");
}

#[test]
fn planes_and_rows_that_crowd_the_cache_come_out_the_same_at_every_level() {
    run_in_both_ways("crowds");
}

#[test]
fn planes_and_rows_beyond_the_caches_come_out_the_same_at_every_level() {
    run_in_both_ways("far_rows");
}

#[test]
fn delta_gives_the_same_bytes_at_every_level() {
    run("delta");
}

#[test]
fn truncation_gives_the_same_bytes_at_every_level() {
    run("truncation");
}

#[test]
fn bytedelta_gives_the_same_bytes_at_every_level() {
    run("bytedelta");
    run("differences_of_items");
}

#[test]
fn streams_stay_inside_their_slices_at_every_level() {
    run("streams");
}

#[test]
fn runs_are_found_at_every_level() {
    run("runs");
}
