//! Compares the files that a packed crate contains with those that its sources read.

/// Unit tests and examples of the formats read test data, and the packed crate contains part of it.
#[test]
fn the_packed_formats_contain_the_test_data_that_their_sources_read() {
    let manifest = crate::text("formats/Cargo.toml");
    let included = |path: &str| {
        manifest.lines().filter_map(|line| line.trim().strip_prefix("\"/")).any(|line| {
            let line = line.trim_end_matches("\",");
            match line.strip_suffix("/**") {
                Some(folder) => path.starts_with(&format!("{folder}/")) || path == folder,
                None => path == line,
            }
        })
    };
    let mut count = 0;
    for file in crate::files("formats/src", ".rs") {
        let text = std::fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("tests/data/") {
            let path = text[at..].split('"').next().unwrap();
            assert!(included(path), "{}: {path} is not in the package", file.display());
            count += 1;
        }
    }
    assert!(count >= 7, "{count}");
}
