//! The commands of documents run and print the documented output.

use ferroblosc_tools_testing::tour::run_document;

#[test]
fn commands_of_the_page_print_the_documented_output() {
    assert!(run_document("docs/blpk.md", env!("CARGO_BIN_EXE_blpk")) >= 5);
}
