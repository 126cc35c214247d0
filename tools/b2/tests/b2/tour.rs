//! The commands of documents run and print the documented output.

use ferroblosc_tools_testing::tour::run_document;

const PROGRAM: &str = env!("CARGO_BIN_EXE_b2");

#[test]
fn commands_of_the_readme_print_the_documented_output() {
    assert!(run_document("README.md", PROGRAM) >= 10);
}

#[test]
fn commands_of_the_durability_page_print_the_documented_output() {
    assert!(run_document("docs/durability.md", PROGRAM) >= 5);
}

#[test]
fn commands_of_the_migration_page_print_the_documented_output() {
    assert!(run_document("docs/migrating.md", PROGRAM) >= 8);
}

#[test]
fn commands_of_the_page_of_b2_print_the_documented_output() {
    assert!(run_document("docs/b2.md", PROGRAM) >= 35);
}
