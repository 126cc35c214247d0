//! The table of examples lists all of them.

use super::markdown;
use std::collections::BTreeSet;

#[test]
fn the_table_of_examples_links_every_program() {
    let document = markdown::document("examples/README.md");
    let linked: BTreeSet<&str> =
        document.links().into_iter().filter(|target| !target.contains('/')).collect();
    let entries = std::fs::read_dir(super::root().join("examples")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let programs: Vec<String> = names.filter(|name| name != "README.md").collect();
    assert_eq!(linked, programs.iter().map(String::as_str).collect());
}

#[test]
fn each_row_of_the_table_has_the_same_task_in_each_language() {
    let document = markdown::document("examples/README.md");
    let rows = document.rows(|cell| cell != "task" && !cell.starts_with('-'));
    assert!(rows.len() > 15, "{}", rows.len());
    for row in rows {
        let names: BTreeSet<&str> = row[1..3]
            .iter()
            .filter_map(|cell| cell.strip_prefix('[')?.split_once('.'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names.len(), 1, "{row:?}");
    }
}
