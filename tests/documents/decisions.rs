//! Compares `docs/decisions.md` with the tests whose names contain the ids of its entries.

use std::collections::{BTreeMap, BTreeSet};

use crate::markdown;

/// Returns the ids in test names of a text, in upper case: `C12` for `row_c12_…`.
fn ids(text: &str) -> BTreeSet<String> {
    let names = text.split("row_").skip(1);
    let ids = names.filter_map(|name| {
        let (id, _) = name.split_once('_')?;
        let digits = id.strip_prefix(|c: char| c.is_ascii_lowercase())?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| id.to_uppercase())
    });
    ids.collect()
}

/// Returns the ids of the page's entries, each with the first file to which its entry links.
fn entries() -> BTreeMap<String, String> {
    let page = markdown::document("docs/decisions.md").prose.join("\n");
    let mut entries = BTreeMap::new();
    for entry in page.split("\n- **").skip(1) {
        let (id, text) = entry.split_once("**").unwrap();
        let (_, link) = text.split_once("](../").unwrap_or_else(|| panic!("{id}: no link"));
        let (file, _) = link.split_once(')').unwrap();
        let previous = entries.insert(id.to_owned(), file.to_owned());
        assert_eq!(previous, None, "{id} has two entries");
    }
    entries
}

#[test]
fn every_entry_links_a_file_that_contains_its_test() {
    let entries = entries();
    assert!(entries.len() > 250, "{}", entries.len());
    for (id, file) in entries {
        assert!(ids(&crate::text(&file)).contains(&id), "{id}: not in {file}");
    }
}

#[test]
fn every_test_id_has_an_entry() {
    let entries = entries();
    for folder in ["c-tests", "capi", "formats", "fuzz", "hdf5", "src", "tests", "tools"] {
        for ending in [".rs", ".c", ".h"] {
            for path in crate::files(folder, ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                for id in ids(&text) {
                    assert!(entries.contains_key(&id), "{id} of {}", path.display());
                }
            }
        }
    }
}
