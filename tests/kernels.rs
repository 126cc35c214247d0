//! Runs the checks of `checks/kernels.rs` at every SIMD level of this CPU.

#[path = "checks/kernels.rs"]
mod checks;

use ferroblosc::kernels::{Level, cpu};
use std::sync::Mutex;

/// Runs the checks whose names start with `prefix` at all levels.
fn run(prefix: &str) {
    let mut found = false;
    for (name, check) in checks::CHECKS.iter().filter(|(name, _)| name.starts_with(prefix)) {
        found = true;
        for level in Level::available() {
            println!("{name} at {}", level.name());
            check(level);
        }
    }
    assert!(found, "no check starts with {prefix}");
}

/// Calls [`run`] with the algorithms for AMD CPUs and with those for Intel CPUs.
fn run_for_amd_and_intel(prefix: &str) {
    static SERIAL: Mutex<()> = Mutex::new(());
    let _serial = SERIAL.lock();
    for amd in [true, false] {
        cpu::assume_amd(Some(amd));
        run(prefix);
    }
    cpu::assume_amd(None);
}

#[test]
fn shuffle_is_the_same_at_every_level() {
    run_for_amd_and_intel("shuffle");
    run_for_amd_and_intel("ranges_are_shuffled");
    run_for_amd_and_intel("scattered_planes");
    run_for_amd_and_intel("streamed_planes");
}

#[test]
fn bitshuffle_is_the_same_at_every_level() {
    run_for_amd_and_intel("bitshuffle");
}

#[test]
fn cache_set_conflicts_do_not_change_bytes_at_any_level() {
    run_for_amd_and_intel("cache_set_conflicts");
}

#[test]
fn buffers_beyond_the_caches_do_not_change_bytes_at_any_level() {
    run_for_amd_and_intel("large_rows");
}

#[test]
fn delta_is_the_same_at_every_level() {
    run("delta");
}

#[test]
fn truncation_is_the_same_at_every_level() {
    run("truncation");
}

#[test]
fn bytedelta_is_the_same_at_every_level() {
    run("bytedelta");
    run("differences_of_items");
}

#[test]
fn streams_stay_inside_their_slices_at_every_level() {
    run("streams");
}

#[test]
fn runs_are_found_at_every_level() {
    run("only_runs");
}

#[test]
fn copies_are_the_same_at_every_level() {
    run_for_amd_and_intel("copies");
}
