//! Compares the documents with the project: links resolve, and tables match the code.
//!
//! | file | compared items |
//! |---|---|
//! | `blocks.rs` | commands and programs with the tests that run them |
//! | `c_programs.rs` | the C programs that count failed checks with the statuses that they return |
//! | `import_cycles.rs` | the imports of files with the layers; cycles of imports |
//! | `decisions.rs` | the entries of `docs/decisions.md` with their tests and with the table of groups |
//! | `environment.rs` | the table of variables with those the sources read |
//! | `errors.rs` | the table of error codes with the header and with the code |
//! | `examples.rs` | the table of examples with the programs in `examples/` |
//! | `formats.rs` | the frame's hex dump with the frame parser |
//! | `headers.rs` | comments on the functions in C headers |
//! | `language.rs` | comments and documents with the list of words to avoid |
//! | `layout.rs` | the length of the README and the width of lines with their limits |
//! | `links.rs` | links with their target files and headings |
//! | `markdown.rs` | nothing: the Markdown parser |
//! | `modules.rs` | the public modules with their examples; tables of files with the modules |
//! | `notice.rs` | the list of licences with the crates Cargo links |
//! | `npm.rs` | the codecs that the npm package names with those of the library |
//! | `packages.rs` | the test data in a packed crate with those its sources read |
//! | `speeds.rs` | the speeds in the README with the measured table |

mod blocks;
mod c_programs;
mod decisions;
mod environment;
mod errors;
mod examples;
mod formats;
mod headers;
mod import_cycles;
mod language;
mod layout;
mod links;
mod markdown;
mod modules;
mod notice;
mod npm;
mod packages;
mod speeds;

use std::path::{Path, PathBuf};

/// Returns the root folder of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a text file of the project.
fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the files below a folder with this suffix, sorted; skips build output.
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
