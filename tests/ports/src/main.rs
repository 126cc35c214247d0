//! Compares the results of ports to other targets; `scripts/test-ports.py` runs it on each of them.
//!
//! usage: ferroblosc-ports digest
//!        ferroblosc-ports write|check|change|check-changed DIR
//!
//! `digest` prints digests of chunks and frames. `write` writes a corpus of files to a directory,
//! `check` verifies it, `change` verifies and changes it, and `check-changed` verifies a changed
//! one.

#![forbid(unsafe_code)]

mod corpus;
mod data;
mod digest;

type Any<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Any<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["digest"] => digest::print(),
        ["write", folder] => corpus::write(folder.as_ref()),
        ["check", folder] => corpus::check(folder.as_ref(), false),
        ["change", folder] => {
            corpus::check(folder.as_ref(), false)?;
            corpus::change(folder.as_ref())
        }
        ["check-changed", folder] => corpus::check(folder.as_ref(), true),
        _ => Err("usage: ferroblosc-ports digest | write|check|change|check-changed DIR".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::corpus;

    #[test]
    fn a_corpus_is_verified_before_and_after_changes() {
        let folder = tempfile::tempdir().unwrap();
        corpus::write(folder.path()).unwrap();
        corpus::check(folder.path(), false).unwrap();
        assert!(corpus::check(folder.path(), true).is_err());
        corpus::change(folder.path()).unwrap();
        corpus::check(folder.path(), true).unwrap();
        assert!(corpus::check(folder.path(), false).is_err());
    }
}
