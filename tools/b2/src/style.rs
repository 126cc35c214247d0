//! Colours and fonts of terminals.

use std::io::IsTerminal;

/// Whether the user permits colours.
pub fn has_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether the terminal has no control sequences.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the terminal interprets control sequences. The console of Windows prints them, unless a
/// program changes its mode, as this function does. Other terminals on Windows set `TERM`.
fn interprets_sequences() -> bool {
    anstyle_query::windows::enable_ansi_colors().unwrap_or(true)
        || anstyle_query::term_supports_ansi_color()
}

/// Styles texts for an output stream. Without a terminal, texts are unchanged.
#[derive(Clone, Copy)]
pub struct Style {
    is_enabled: bool,
}

impl Style {
    /// Returns the styles for standard output.
    pub fn stdout() -> Style {
        Style::of(&std::io::stdout())
    }

    /// Returns the styles for standard error.
    pub fn stderr() -> Style {
        Style::of(&std::io::stderr())
    }

    /// Returns styles that change nothing.
    pub fn plain() -> Style {
        Style { is_enabled: false }
    }

    fn of(stream: &impl IsTerminal) -> Style {
        let is_enabled =
            stream.is_terminal() && has_colours() && !is_dumb() && interprets_sequences();
        Style { is_enabled }
    }

    fn styled(self, style: anstyle::Style, text: &str) -> String {
        if self.is_enabled { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Styles names and headings.
    pub fn bold(self, text: &str) -> String {
        self.styled(anstyle::Style::new().bold(), text)
    }

    /// Styles good results.
    pub fn good(self, text: &str) -> String {
        self.styled(anstyle::AnsiColor::Green.on_default().bold(), text)
    }

    /// Styles errors and damage.
    pub fn bad(self, text: &str) -> String {
        self.styled(anstyle::AnsiColor::Red.on_default().bold(), text)
    }

    /// Styles secondary texts.
    pub fn faint(self, text: &str) -> String {
        self.styled(anstyle::Style::new().dimmed(), text)
    }
}
