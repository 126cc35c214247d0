//! Findings: differences of a store from a valid one.

use std::fmt;

use super::error::Error;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// All values are readable.
    Note,
    /// Values were not checked, because of a limit or an unsupported form.
    Unchecked,
    /// Values are lost, or may be wrong.
    Damage,
}

/// A difference of a store from a valid one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The key or the name of the file.
    pub place: String,
    /// How serious it is.
    pub severity: Severity,
    /// The description.
    pub text: String,
}

impl Finding {
    pub(super) fn note(place: &str, text: impl Into<String>) -> Finding {
        Finding { place: place.to_owned(), severity: Severity::Note, text: text.into() }
    }

    /// Returns the finding of an error while values were checked.
    pub(super) fn of_error(place: &str, error: &Error) -> Finding {
        let severity = match error {
            Error::Unsupported { .. } | Error::Limit { .. } | Error::Memory => Severity::Unchecked,
            Error::Frame { error, .. } if error.is_system_error() => Severity::Unchecked,
            Error::Changed(_) => Severity::Unchecked,
            Error::NotData { .. } => Severity::Note,
            _ => Severity::Damage,
        };
        Finding { place: place.to_owned(), severity, text: error.to_string() }
    }

    pub(super) fn damage(place: &str, text: impl Into<String>) -> Finding {
        Finding { place: place.to_owned(), severity: Severity::Damage, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchecked_values_are_not_notes() {
        let of = |error: Error| Finding::of_error("/a", &error).severity;
        assert_eq!(of(Error::Memory), Severity::Unchecked);
        assert_eq!(of(Error::Limit { what: String::new(), limit: 1 }), Severity::Unchecked);
        assert_eq!(of(Error::MissingLeaf(String::new())), Severity::Damage);
    }
}
