//! Errors and advice, in colour on a terminal.

use ferroblosc::escape::escape;
use ferroblosc::{bcolz, bloscpack, blpk, convert};
use ferroblosc_tools_common::status;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// The end of a command.
pub type Outcome = Result<(), Failure>;

/// Why a command ended.
#[derive(Debug)]
pub enum Failure {
    /// Something is wrong.
    Error {
        /// What, and where.
        text: String,
        /// What can be done about it.
        advice: Option<String>,
        /// The exit status.
        status: u8,
        /// Whether the text names the file that failed.
        names_path: bool,
    },
    /// It has been said; this is the exit status.
    Said(u8),
    /// Nobody listens to the output any more.
    Unheard,
}

impl Failure {
    /// An error in these words.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure::Error {
            text: text.into(),
            advice: None,
            status: status::ERROR,
            names_path: false,
        }
    }

    /// A wrong command line, in these words.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure::Error {
            text: text.into(),
            advice: Some("see 'b2 help'".to_owned()),
            status: status::USAGE,
            names_path: false,
        }
    }

    /// The same with something to do about it.
    pub fn advise(self, words: impl Into<String>) -> Failure {
        match self {
            Failure::Error {
                text,
                advice: None,
                status,
                names_path,
            } => Failure::Error {
                text,
                advice: Some(words.into()),
                status,
                names_path,
            },
            other => other,
        }
    }

    /// Names the target in place of the unfinished file that it is made from.
    pub fn of_target(self, unfinished: &Path, target: &Path) -> Failure {
        let (from, to) = (
            unfinished.display().to_string(),
            target.display().to_string(),
        );
        match self {
            Failure::Error {
                text,
                advice,
                status,
                names_path,
            } => Failure::Error {
                text: text.replace(&from, &to),
                advice,
                status,
                names_path,
            },
            other => other,
        }
    }

    /// The same, about what is at a path.
    pub fn at(self, path: &Path) -> Failure {
        match self {
            Failure::Error {
                text,
                advice,
                status,
                names_path,
            } => {
                let shown = path.display().to_string();
                let advice = match status {
                    status::CORRUPT => advice.or_else(|| {
                        Some(format!(
                            "'b2 verify {shown}' tells all that is wrong, 'b2 repair {shown}' what can be mended"
                        ))
                    }),
                    _ => advice,
                };
                // Some errors name it themselves.
                let text = if names_path || text.contains(&shown) {
                    text
                } else {
                    format!("{shown}: {text}")
                };
                Failure::Error {
                    text,
                    advice,
                    status,
                    names_path: true,
                }
            }
            other => other,
        }
    }
}

impl From<convert::Error> for Failure {
    fn from(error: convert::Error) -> Failure {
        if let convert::Error::Bloscpack(bloscpack::Error::Container(blpk::Error::Io(error))) =
            &error
            && error.kind() == std::io::ErrorKind::BrokenPipe
        {
            return Failure::Unheard;
        }
        let status = if error.is_corruption() {
            status::CORRUPT
        } else if error.code() == ferroblosc::Error::CodecSupport {
            status::MISSING_PLUGIN
        } else {
            status::ERROR
        };
        let advice = match &error {
            convert::Error::Bloscpack(bloscpack::Error::Interrupted(path)) => Some(format!(
                "'b2 repair --write {}' undoes the change",
                path.display()
            )),
            convert::Error::NeedsPlugin { plugin, .. } => Some(plugin.advice()),
            convert::Error::Recipe(_) => {
                Some("open it with python-blosc2, and save what it computes as an array".to_owned())
            }
            convert::Error::Nested(_) => {
                Some("name one of its columns with '--column A/B'".to_owned())
            }
            convert::Error::CannotHold(_) => Some(
                "'--raw' takes the bytes alone; b2nd and .npy hold arrays of any kind".to_owned(),
            ),
            convert::Error::Unknown => Some("'b2 compress' packs files of any kind".to_owned()),
            _ => None,
        };
        Failure::Error {
            text: error.to_string(),
            advice,
            status,
            names_path: error.names_path(),
        }
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
            std::io::ErrorKind::BrokenPipe => Failure::Unheard,
            _ => convert::Error::from(error).into(),
        }
    }
}

/// How words are shown.
#[derive(Clone, Copy)]
pub struct Paint {
    /// Whether there is colour at all.
    on: bool,
}

impl Paint {
    /// For standard output.
    pub fn output() -> Paint {
        Paint::to(&std::io::stdout())
    }

    /// For standard error.
    pub fn errors() -> Paint {
        Paint::to(&std::io::stderr())
    }

    fn to(stream: &impl IsTerminal) -> Paint {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint {
            on: stream.is_terminal() && !refused && !is_dumb,
        }
    }

    fn styled(self, style: anstyle::Style, text: &str) -> String {
        match self.on {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }

    /// Names and headings.
    pub fn bold(self, text: &str) -> String {
        self.styled(anstyle::Style::new().bold(), text)
    }

    /// What is right.
    pub fn good(self, text: &str) -> String {
        self.styled(anstyle::AnsiColor::Green.on_default().bold(), text)
    }

    /// What is wrong.
    pub fn bad(self, text: &str) -> String {
        self.styled(anstyle::AnsiColor::Red.on_default().bold(), text)
    }

    /// What is less important.
    pub fn faint(self, text: &str) -> String {
        self.styled(anstyle::Style::new().dimmed(), text)
    }
}

/// Writes a warning to standard error.
pub fn warn(text: &str) {
    let paint = Paint::errors();
    let line = format!("b2: {} {}\n", paint.bold("warning:"), escape(text));
    // Without standard error nothing can be said.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Says why a command ended, and with which status.
pub fn report(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Error {
            text,
            advice,
            status,
            ..
        } => {
            let paint = Paint::errors();
            let mut lines = format!("b2: {} {}\n", paint.bad("error:"), escape(text));
            if let Some(advice) = advice {
                lines.push_str(&format!("b2: {} {}\n", paint.bold("hint:"), escape(advice)));
            }
            // Whoever doesn't listen misses it.
            let _ = std::io::stderr().write_all(lines.as_bytes());
            ExitCode::from(*status)
        }
        Failure::Said(status) => ExitCode::from(*status),
        Failure::Unheard => ExitCode::SUCCESS,
    }
}
