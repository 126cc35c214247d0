//! Compares the speeds in the README with the measured table in `docs/performance.md`.

use super::markdown::{self, Document};

/// The relative difference allowed between the README and the table, as between two measurements.
const TOLERANCE: f64 = 0.1;

/// Returns our speed on each machine from the first table row that begins with `row`. Later tables
/// may contain such a row, too.
fn speeds(performance: &Document, row: &str) -> [f64; 3] {
    let rows = performance.rows(|cell| cell.starts_with(row));
    let row = rows.first().unwrap_or_else(|| panic!("{row} is missing"));
    [1, 2, 3].map(|column| row[column].parse().unwrap())
}

#[test]
fn the_speeds_in_the_readme_match_the_table() {
    let readme = markdown::document("README.md");
    let performance = markdown::document("docs/performance.md");
    let mut count = 0;
    // Columns: name, write speeds, read speeds.
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
