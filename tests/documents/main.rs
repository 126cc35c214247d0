//! The documents held against the project: links lead somewhere, and tables say what the code says.
//!
//! | file | what is compared |
//! |---|---|
//! | `blocks.rs` | commands and programs with who runs them |
//! | `decisions.rs` | the entries of `docs/decisions.md` with the tests that carry their ids |
//! | `environment.rs` | the table of variables with what the sources read from the environment |
//! | `errors.rs` | the table of error codes with the header and with the code |
//! | `formats.rs` | bytes that are shown, as files |
//! | `headers.rs` | comments on the functions in C headers |
//! | `links.rs` | links with the files and headings they lead to |
//! | `markdown.rs` | what documents consist of |
//! | `modules.rs` | examples in the Rust documentation |
//! | `notice.rs` | the list of licences with what Cargo links |
//! | `speeds.rs` | the speeds in the README with the table of those measured |

mod blocks;
mod decisions;
mod environment;
mod errors;
mod formats;
mod headers;
mod links;
mod markdown;
mod modules;
mod notice;
mod speeds;

use std::path::{Path, PathBuf};

/// The folder of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the project.
fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The files below a folder of the project whose names end so, sorted. What was built is not looked at.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![root().join(folder)];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !["target", ".git"].contains(&name) {
                    left.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
