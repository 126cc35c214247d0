//! Findings: differences of a store from a valid one.

use std::fmt;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// All values are readable.
    Note,
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

    pub(super) fn damage(place: &str, text: impl Into<String>) -> Finding {
        Finding { place: place.to_owned(), severity: Severity::Damage, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}
