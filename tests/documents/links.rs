//! Links between documents, and paths of files in them.

use super::markdown::{self, Document};

/// Top-level folders, as documents name files in them.
const FOLDERS: [&str; 16] = [
    "benches",
    "c-tests",
    "capi",
    "cmake",
    "docs",
    "examples",
    "fortran",
    "fuzz",
    "hdf5",
    "packaging",
    "scripts",
    "formats",
    "src",
    "tests",
    "tools",
    "vendor",
];

/// Returns the error in a link, if any.
fn fault(document: &Document, target: &str) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = crate::root().join(&document.name);
    let path = match file {
        "" => folder,
        _ => folder.parent().unwrap().join(file),
    };
    if !path.exists() {
        return Some(format!("{}: there is no {file}", document.name));
    }
    if anchor.is_empty() {
        return None;
    }
    let path = path.canonicalize().unwrap();
    let name = path.strip_prefix(crate::root().canonicalize().unwrap());
    let anchors = markdown::document(name.unwrap().to_str().unwrap()).anchors();
    let is_there = anchors.iter().any(|other| other == anchor);
    (!is_there).then(|| format!("{}: there is no {target}", document.name))
}

#[test]
fn every_link_resolves_to_a_file_and_heading() {
    let documents = markdown::documents();
    let faults = documents.iter().flat_map(|document| {
        let links = document.links().into_iter();
        links.filter_map(move |target| fault(document, target))
    });
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
    let links: usize = documents.iter().map(|document| document.links().len()).sum();
    assert!(links > 20, "{links}");
}

/// Returns the paths of files and folders in backticks, relative to the root.
fn named(document: &Document) -> impl Iterator<Item = &str> {
    let quoted = document.prose.iter().flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|piece| {
        let folder = piece.split('/').next().unwrap();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        piece.contains('/') && FOLDERS.contains(&folder) && piece.chars().all(is_plain)
    })
}

#[test]
fn every_named_file_exists() {
    let mut count = 0;
    for document in markdown::documents() {
        for name in named(&document) {
            let is_there = crate::root().join(name).exists();
            assert!(is_there, "{}: there is no {name}", document.name);
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn broken_links_are_found() {
    let readme = markdown::document("README.md");
    assert!(fault(&readme, "docs/nothing.md").is_some());
    assert!(fault(&readme, "docs/errors.md#nothing").is_some());
    assert_eq!(fault(&readme, "docs/errors.md#error-codes"), None);
}

#[test]
fn the_readme_links_every_document_in_docs() {
    let readme = markdown::document("README.md");
    for document in markdown::documents() {
        if document.name.starts_with("docs/") {
            let name = document.name.as_str();
            assert!(readme.links().contains(&name), "{name} is not linked");
        }
    }
}
