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

/// An entry of the page.
struct Entry {
    id: String,
    /// The first file to which the entry links.
    file: String,
}

/// Returns the headings of the page's groups with their entries, in the order of the page.
fn groups() -> Vec<(String, Vec<Entry>)> {
    let page = markdown::document("docs/decisions.md").prose.join("\n");
    let groups = page.split("\n## ").skip(1).map(|group| {
        let (heading, text) = group.split_once('\n').unwrap();
        let entries = text.split("\n- **").skip(1).filter_map(|entry| {
            let (id, text) = entry.split_once("**").unwrap();
            if !id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
                return None;
            }
            let (_, link) = text.split_once("](../").unwrap_or_else(|| panic!("{id}: no link"));
            let (file, _) = link.split_once(')').unwrap();
            Some(Entry { id: id.to_owned(), file: file.to_owned() })
        });
        (heading.to_owned(), entries.collect())
    });
    groups.filter(|(_, entries): &(_, Vec<_>)| !entries.is_empty()).collect()
}

/// Returns the ids of the page's entries, each with the first file to which its entry links.
fn entries() -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    for Entry { id, file } in groups().into_iter().flat_map(|(_, entries)| entries) {
        let previous = entries.insert(id.clone(), file);
        assert_eq!(previous, None, "{id} has two entries");
    }
    entries
}

#[test]
fn row_d13_every_entry_links_a_file_that_contains_its_test() {
    let entries = entries();
    assert!(entries.len() > 250, "{}", entries.len());
    for (id, file) in entries {
        assert!(ids(&crate::text(&file)).contains(&id), "{id}: not in {file}");
    }
}

#[test]
fn row_d13_every_test_id_has_an_entry() {
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

/// The last number of each letter of the ids. Entries and their tests are never removed.
const LAST: [(char, u32); 8] =
    [('C', 75), ('D', 16), ('F', 38), ('S', 32), ('N', 43), ('P', 17), ('B', 15), ('U', 9)];

#[test]
fn row_d13_no_entry_is_removed() {
    let entries = entries();
    for (letter, last) in LAST {
        for number in 1..=last {
            let id = format!("{letter}{number}");
            assert!(entries.contains_key(&id), "{id} has no entry");
        }
    }
}

#[test]
fn the_tests_that_run_c_programs_exist() {
    let page = markdown::document("docs/decisions.md");
    let tests = crate::text("capi/blosc2/tests/c_programs.rs");
    let rows = page.rows(|cell| cell.ends_with(".c`") && !cell.contains('/'));
    assert!(!rows.is_empty());
    for row in rows {
        let test = row[1].trim_matches('`');
        assert!(tests.contains(&format!("fn {test}()")), "{test}");
    }
}

#[test]
fn row_d13_the_table_of_groups_lists_all_groups_with_their_numbers_of_entries() {
    let page = markdown::document("docs/decisions.md");
    let listed = page.rows(|cell| cell.starts_with('[') && cell.contains("](#"));
    let listed: Vec<(String, usize)> = listed
        .into_iter()
        .map(|row| {
            let (name, _) = row[0][1..].split_once("](#").unwrap();
            (name.to_owned(), row[1].parse().unwrap())
        })
        .collect();
    let counted: Vec<(String, usize)> =
        groups().into_iter().map(|(heading, entries)| (heading, entries.len())).collect();
    assert_eq!(listed, counted);
}

#[test]
fn the_entries_of_a_group_are_in_the_order_of_the_subjects_and_numbers() {
    for (heading, entries) in groups() {
        let key = |entry: &Entry| {
            let (letter, number) = entry.id.split_at(1);
            ("CFSNLPBHTUD".find(letter).unwrap(), number.parse::<u32>().unwrap())
        };
        let unsorted = entries.windows(2).find(|pair| key(&pair[0]) >= key(&pair[1]));
        assert!(unsorted.is_none(), "{heading}: {}", unsorted.unwrap()[1].id);
    }
}
