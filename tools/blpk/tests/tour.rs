//! What documents show of `blpk`, run as a new user would: each command, and what is shown of its output.

use ferroblosc_tools_testing::tour::go_through;

#[test]
fn the_commands_of_its_page_do_what_is_shown() {
    assert!(go_through("docs/blpk.md", env!("CARGO_BIN_EXE_blpk")) >= 5);
}
