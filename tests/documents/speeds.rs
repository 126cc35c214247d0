//! The speeds in the README beside the table of groups in `docs/performance.md`, which is renewed by measuring.

use super::markdown::{self, Document};

/// How far a speed in the README may be from the table, as a part of it: as far as two measurements are apart.
const TOLERANCE: f64 = 0.1;

/// Our speeds, one for each machine, in the row of the table of groups that begins so. Other tables with such rows come
/// behind it.
fn speeds(performance: &Document, row: &str) -> [f64; 3] {
    let rows = performance.rows(|cell| cell.starts_with(row));
    let row = rows.first().unwrap_or_else(|| panic!("{row} isn't there"));
    [2, 3, 4].map(|column| row[column].parse().unwrap())
}

#[test]
fn the_speeds_in_the_readme_are_those_of_the_table() {
    let readme = markdown::document("README.md");
    let performance = markdown::document("docs/performance.md");
    let mut count = 0;
    // Name, speeds of writing, speeds of reading.
    for row in readme.rows(|cell| !cell.is_empty()) {
        let [name, shown @ ..] = &row[..] else {
            continue;
        };
        for (what, shown) in ["write", "read"].iter().zip(shown) {
            let shown: Vec<f64> = shown.split(", ").flat_map(str::parse).collect();
            if shown.is_empty() {
                continue;
            }
            let measured = speeds(&performance, &format!("{name}, {what}"));
            assert_eq!(shown.len(), measured.len(), "{name}, {what}");
            for (shown, measured) in shown.iter().zip(measured) {
                assert!(
                    (shown / measured - 1.0).abs() <= TOLERANCE,
                    "{name}, {what}: {shown} in the README, {measured} in docs/performance.md"
                );
                count += 1;
            }
        }
    }
    assert_eq!(count, 42);
}
