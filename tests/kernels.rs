//! Every kernel at every SIMD level of this CPU; see `checks/kernels.rs`.

#[path = "checks/kernels.rs"]
mod checks;

use ferroblosc::kernels::Level;

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

#[test]
fn shuffle_gives_the_same_bytes_at_every_level() {
    run("shuffle");
    run("scattered_planes");
    run("streamed_planes");
}

#[test]
fn bitshuffle_gives_the_same_bytes_at_every_level() {
    run("bitshuffle");
}

#[test]
fn bursts_give_the_same_bytes_at_every_level() {
    run("bursts");
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
}

#[test]
fn streams_stay_inside_their_slices_at_every_level() {
    run("streams");
}

#[test]
fn runs_are_found_at_every_level() {
    run("runs");
}
