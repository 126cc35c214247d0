//! Errors and warnings.

use crate::paths::{self, STDIN};
use crate::style::Style;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::Location;
use ferroblosc_formats::{bcolz, bloscpack, blpk, convert};
use ferroblosc_tools_common::os::{self, Special};
use ferroblosc_tools_common::status;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The result of a command.
pub type Outcome = Result<(), Failure>;

/// The reason a command failed.
#[derive(Debug)]
pub enum Failure {
    /// An error.
    Error {
        /// The message.
        text: String,
        /// A hint for the user.
        hint: Option<String>,
        /// The exit status.
        status: u8,
        /// Whether the text contains the path of the file.
        names_path: bool,
    },
    /// An error that was already printed, with the exit status.
    Reported(u8),
    /// Standard output is a closed pipe.
    BrokenPipe,
}

impl Failure {
    /// Returns an error with this text.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure::Error { text: text.into(), hint: None, status: status::ERROR, names_path: false }
    }

    /// Returns an error of the command line with this text.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure::Error {
            text: text.into(),
            hint: Some("see 'b2 help'".to_owned()),
            status: status::USAGE,
            names_path: false,
        }
    }

    /// Adds a hint, unless there is one.
    pub fn with_hint(self, hint: impl Into<String>) -> Failure {
        match self {
            Failure::Error { text, hint: None, status, names_path } => {
                Failure::Error { text, hint: Some(hint.into()), status, names_path }
            }
            other => other,
        }
    }

    /// Sets the hint.
    pub fn replacing_hint(self, new: impl Into<String>) -> Failure {
        match self {
            Failure::Error { text, status, names_path, .. } => {
                Failure::Error { text, hint: Some(new.into()), status, names_path }
            }
            other => other,
        }
    }

    /// Puts the object or the setting that failed before the text.
    pub fn of(self, what: &str) -> Failure {
        match self {
            Failure::Error { text, hint, status, names_path } => {
                Failure::Error { text: format!("{what}: {text}"), hint, status, names_path }
            }
            other => other,
        }
    }

    /// Replaces the path of the staged file by that of the target.
    pub fn of_target(self, staged: &Path, target: &Path) -> Failure {
        let (from, to) = (staged.display().to_string(), target.display().to_string());
        match self {
            Failure::Error { text, hint, status, names_path } => {
                Failure::Error { text: text.replace(&from, &to), hint, status, names_path }
            }
            other => other,
        }
    }

    /// Adds the path of the file, unless the error contains it. The reason of an unknown format can
    /// be the type of the file.
    pub fn at(self, path: &Path) -> Failure {
        if let Failure::Error { text, status, names_path: false, .. } = &self
            && *text == convert::Error::Unknown.to_string()
            && let Some((reason, hint)) = reason_of_unknown(path)
        {
            let (text, hint) = (format!("{}: {reason}", path.display()), hint.map(str::to_owned));
            return Failure::Error { text, hint, status: *status, names_path: true };
        }
        match self {
            Failure::Error { text, hint, status, names_path } => {
                let shown = path.display().to_string();
                let hint = match status {
                    status::CORRUPT if path == Path::new(STDIN) => hint.or_else(|| {
                        Some("'b2 verify -' lists all faults of standard input".to_owned())
                    }),
                    status::CORRUPT => hint.or_else(|| {
                        let file = paths::argument(&Location::of(path).path);
                        Some(format!(
                            "'b2 verify {file}' lists all faults, 'b2 repair {file}' shows the possible repairs"
                        ))
                    }),
                    _ => hint.or_else(|| slash_of_key(path)),
                };
                let text = if names_path || names(&text, &shown) {
                    text
                } else {
                    format!("{shown}: {text}")
                };
                Failure::Error { text, hint, status, names_path: true }
            }
            other => other,
        }
    }
}

/// Returns the reason why a file is of no known format, and a hint, if its type is the reason.
fn reason_of_unknown(path: &Path) -> Option<(&'static str, Option<&'static str>)> {
    if let Some(special) = os::special(path) {
        let reason = match special {
            Special::Pipe => "is a FIFO, which is read only once",
            Special::CharDevice => "is a device",
            Special::Unsuitable => "is a block device or a socket",
        };
        return Some((reason, None));
    }
    let found = fs::metadata(path).ok()?;
    if found.is_dir() {
        return Some(("is a directory", Some("'b2 ls -r' lists the files in it")));
    }
    (found.len() == 0).then_some(("the file is empty", None))
}

/// Returns a hint for `FILE:KEY` without a slash before the key, if only the file exists.
fn slash_of_key(path: &Path) -> Option<String> {
    if fs::symlink_metadata(path).is_ok() {
        return None;
    }
    let text = path.to_str()?;
    let mut splits = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let (file, key) = splits.find(|(file, _)| Path::new(file).exists())?;
    (!key.starts_with('/')).then(|| format!("a key begins with a slash: '{file}:/{key}'"))
}

/// Whether a text contains a path that is not a part of a longer word.
fn names(text: &str, path: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "/._-".contains(c));
    !path.is_empty()
        && text.match_indices(path).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + path.len()..].chars().next();
            !is_part(before) && !is_part(after)
        })
}

impl From<convert::Error> for Failure {
    fn from(error: convert::Error) -> Failure {
        if let convert::Error::Bloscpack(bloscpack::Error::Container(blpk::Error::Io(error))) =
            &error
            && error.kind() == std::io::ErrorKind::BrokenPipe
        {
            return Failure::BrokenPipe;
        }
        let status = if error.is_corruption() {
            status::CORRUPT
        } else if error.code() == ferroblosc::Error::CodecSupport {
            status::MISSING_PLUGIN
        } else {
            status::ERROR
        };
        let hint = match &error {
            convert::Error::Bloscpack(bloscpack::Error::Interrupted(path)) => {
                Some(format!("'b2 repair --write {}' undoes the change", paths::argument(path)))
            }
            convert::Error::NeedsPlugin { plugin, .. } => Some(plugin.advice()),
            convert::Error::Hdf5(error) if error.needs_filter() => Some(
                "HDF5_PLUGIN_PATH is the list of the directories with the plugins of libhdf5".to_owned(),
            ),
            convert::Error::Placeholder(_) => {
                Some("open it with python-blosc2, and save the computed array".to_owned())
            }
            convert::Error::Nested(_) => {
                Some("select one of its columns with '--column A/B'".to_owned())
            }
            convert::Error::CannotHold(_) => Some(
                "'--raw' converts the bytes without type and shape; b2nd supports most arrays, and .npy all".to_owned(),
            ),
            convert::Error::SeveralArrays(_) => {
                Some("FILE:/NAME selects one of them; 'convert --all' converts all".to_owned())
            }
            convert::Error::Arrow { is_damaged: true, .. } => {
                Some("the program that wrote the file can write it again".to_owned())
            }
            convert::Error::Unknown => Some("'b2 compress' compresses any file".to_owned()),
            _ => None,
        };
        Failure::Error { text: error.to_string(), hint, status, names_path: error.names_path() }
    }
}

impl From<ferroblosc::Error> for Failure {
    fn from(error: ferroblosc::Error) -> Failure {
        convert::Error::from(error).into()
    }
}

impl From<bcolz::Error> for Failure {
    fn from(error: bcolz::Error) -> Failure {
        convert::Error::from(error).into()
    }
}

impl From<bloscpack::Error> for Failure {
    fn from(error: bloscpack::Error) -> Failure {
        convert::Error::from(error).into()
    }
}

impl From<blpk::Error> for Failure {
    fn from(error: blpk::Error) -> Failure {
        convert::Error::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => convert::Error::from(error).into(),
        }
    }
}

/// Writes a warning to standard error.
pub fn warn(text: &str) {
    let style = Style::stderr();
    let line = format!("b2: {} {}\n", style.bold("warning:"), escape(text));
    // A failed write to standard error cannot be reported.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Prints no message for panics that the calling thread catches and returns as errors.
pub fn hide_caught_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !convert::catches_panics() {
            default(panic);
        }
    }));
}

/// Prints the reason for a failure. Returns the exit status.
pub fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Error { text, hint, status, .. } => {
            let style = Style::stderr();
            let mut lines = format!("b2: {} {}\n", style.bad("error:"), escape(text));
            if let Some(hint) = hint {
                lines.push_str(&format!("b2: {} {}\n", style.bold("hint:"), escape(hint)));
            }
            // A failed write to standard error cannot be reported.
            let _ = std::io::stderr().write_all(lines.as_bytes());
            ExitCode::from(*status)
        }
        Failure::Reported(status) => ExitCode::from(*status),
        Failure::BrokenPipe => ExitCode::SUCCESS,
    }
}

/// Warns of everything that an output does not support. It is an error if `is_strict`.
pub fn report_lost(lost: Vec<String>, shown: &Path, is_strict: bool) -> Outcome {
    let shown = shown.display();
    if is_strict && !lost.is_empty() {
        let lost = lost.join("; ");
        return Err(Failure::new(format!("{shown}: the format does not support: {lost}"))
            .with_hint("without '--strict' it is omitted"));
    }
    for lost in &lost {
        warn(&format!("{shown}: not kept: {lost}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_added_unless_the_text_names_it() {
        let text = |text: &str, path: &str| match Failure::new(text).at(Path::new(path)) {
            Failure::Error { text, .. } => text,
            _ => unreachable!(),
        };
        assert_eq!(text("the format is unknown", "s"), "s: the format is unknown");
        assert_eq!(text("the format is unknown", "format.x"), "format.x: the format is unknown");
        assert_eq!(text("cannot open a/b: no", "b"), "b: cannot open a/b: no");
        assert_eq!(text("cannot open a/b: no", "a/b"), "cannot open a/b: no");
        assert_eq!(text("'a' is bad", "a"), "'a' is bad");
    }

    #[test]
    fn a_key_without_a_slash_is_shown_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.b2z");
        fs::write(&file, "").unwrap();
        let shown = file.to_str().unwrap();
        let hint = |text: &str| slash_of_key(Path::new(text));
        let expected = format!("a key begins with a slash: '{shown}:/x/y'");
        assert_eq!(hint(&format!("{shown}:x/y")), Some(expected));
        assert_eq!(hint(&format!("{shown}:/x")), None, "the key is the error");
        assert_eq!(hint(shown), None);
        assert_eq!(hint(&format!("{shown}.other:x")), None);
    }
}
