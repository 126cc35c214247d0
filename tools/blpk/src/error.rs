//! Errors of subcommands.

use crate::usage::UsageError;
use ferroblosc_formats::bloscpack;

/// The reason a subcommand failed.
pub enum Failure {
    /// The command line is invalid.
    Usage(UsageError),
    /// Any other error, as lines of text.
    Error(Vec<String>),
    /// An error that was already printed, with the exit status.
    Reported(u8),
}

impl From<bloscpack::Error> for Failure {
    fn from(error: bloscpack::Error) -> Failure {
        let mut lines = vec![error.to_string()];
        if let bloscpack::Error::Container(fault) = &error
            && fault.is_in_header()
        {
            lines.push("This might not be a bloscpack compressed file.".to_owned());
        }
        Failure::Error(lines)
    }
}

impl From<ferroblosc_formats::blpk::Error> for Failure {
    fn from(error: ferroblosc_formats::blpk::Error) -> Failure {
        bloscpack::Error::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        bloscpack::Error::from(error).into()
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Failure {
        Failure::Usage(error)
    }
}

/// Returns an error with this text.
pub fn error(text: impl Into<String>) -> Failure {
    Failure::Error(vec![text.into()])
}
