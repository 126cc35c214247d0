//! What documents show of `b2`, run as a new user would: each command, and what is shown of its output.

use ferroblosc_tools_testing::tour::go_through;

const PROGRAM: &str = env!("CARGO_BIN_EXE_b2");

#[test]
fn the_tour_of_the_readme_goes_as_it_is_shown() {
    assert!(go_through("README.md", PROGRAM) >= 10);
}

#[test]
fn what_is_told_of_durability_goes_as_it_is_shown() {
    assert!(go_through("docs/durability.md", PROGRAM) >= 5);
}

#[test]
fn what_migrating_shows_goes_as_it_is_shown() {
    assert!(go_through("docs/migrating.md", PROGRAM) >= 8);
}
