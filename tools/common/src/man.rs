//! Manual pages and shell completions, generated from the command-line parser.

use clap::Command;
use clap_complete::Shell;
use std::io::Write;

/// Returns the completion script for a shell.
pub fn completions(command: &mut Command, shell: Shell) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let mut completions = Vec::new();
    clap_complete::generate(shell, command, name, &mut completions);
    completions
}

/// Returns the manual page, with a section for each visible subcommand, at all levels.
///
/// # Errors
/// None in practice: the page is written to memory.
pub fn man(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    write_subcommands(command, "", &mut page)?;
    Ok(page)
}

/// Writes the sections of the subcommands. `names` are those of the commands before, each followed
/// by a blank.
fn write_subcommands(command: &Command, names: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let man = clap_mangen::Man::new(subcommand.clone());
        let name = format!("{names}{}", subcommand.get_name());
        writeln!(page, ".SH \"SUBCOMMAND: {}\"", name.to_uppercase())?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        write_subcommands(subcommand, &format!("{name} "), page)?;
    }
    Ok(())
}

/// The sections of a page that the parser has no texts for.
pub struct Sections<'a> {
    /// The files that the program creates or reads besides its arguments, with descriptions.
    pub files: &'a [(&'a str, &'a str)],
    /// Environment variables with descriptions.
    pub environment: &'a [(&'a str, &'a str)],
    /// The exit statuses of commands whose help has none, in the form of `STATUSES`.
    pub statuses: &'a str,
}

/// The start of the paragraph with exit statuses in the help of a command: `Exit status: 0 success,
/// 1 error`.
const STATUSES: &str = "Exit status: ";
/// The lines before the examples in the help of a command.
const EXAMPLES: [&str; 2] = ["Examples:", "Example:"];

/// Returns a manual page for each visible subcommand, at all levels, with its name: `b2-meta-list`.
///
/// # Errors
/// None in practice: the pages are written to memory.
pub fn pages(command: Command, sections: &Sections<'_>) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, command.get_name(), sections, &mut pages)?;
    Ok(pages)
}

fn add_pages(
    command: &Command,
    root: &str,
    sections: &Sections<'_>,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = subcommand.get_display_name().unwrap_or(subcommand.get_name()).to_owned();
        pages.push((name, page(subcommand, root, sections)?));
        add_pages(subcommand, root, sections, pages)?;
    }
    Ok(())
}

/// Returns the page of a subcommand.
fn page(command: &Command, root: &str, sections: &Sections<'_>) -> std::io::Result<Vec<u8>> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (prose, examples, statuses) = split_help(&help);
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for paragraph in prose {
        write!(page, ".PP\n{}\n", escaped(&paragraph))?;
    }
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if !examples.is_empty() {
        writeln!(page, ".SH EXAMPLES\n.nf")?;
        for line in examples {
            writeln!(page, "{}", escaped(&line))?;
        }
        writeln!(page, ".fi")?;
    }
    for (heading, entries) in [("FILES", sections.files), ("ENVIRONMENT", sections.environment)] {
        writeln!(page, ".SH {heading}")?;
        for (name, text) in entries {
            write!(page, ".TP\n\\fB{}\\fR\n{}\n", escaped(name), escaped(text))?;
        }
    }
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for (status, text) in statuses_of(statuses.as_deref().unwrap_or(sections.statuses)) {
        write!(page, ".TP\n\\fB{status}\\fR\n{}\n", escaped(&text))?;
    }
    write!(page, ".SH \"SEE ALSO\"\n.BR {} (1)\n", escaped(root))?;
    Ok(page)
}

/// Splits the help after the options of a command: the paragraphs without line breaks, the lines of
/// the examples without indentation, and the paragraph of the exit statuses, if there is one.
fn split_help(help: &str) -> (Vec<String>, Vec<String>, Option<String>) {
    let (mut prose, mut examples, mut statuses) = (Vec::new(), Vec::new(), None);
    for paragraph in help.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let mut lines = paragraph.lines().map(str::trim);
        let joined = || paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        if lines.next().is_some_and(|first| EXAMPLES.contains(&first)) {
            examples.extend(lines.map(str::to_owned));
        } else if paragraph.starts_with(STATUSES) {
            statuses = Some(joined());
        } else {
            prose.push(joined());
        }
    }
    (prose, examples, statuses)
}

/// Splits a paragraph of exit statuses into numbers and descriptions.
fn statuses_of(text: &str) -> Vec<(String, String)> {
    let text = text.trim_start_matches(STATUSES).trim_end_matches('.');
    let mut found: Vec<(String, String)> = Vec::new();
    for entry in text.split([',', ';']).map(str::trim) {
        match (entry.split_once(' '), found.last_mut()) {
            (Some((status, text)), _) if status.bytes().all(|byte| byte.is_ascii_digit()) => {
                found.push((status.to_owned(), text.to_owned()));
            }
            (_, Some((_, last))) => last.push_str(&format!(", {entry}")),
            (_, None) => {}
        }
    }
    found
}

/// Escapes a line for roff.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    // A period at the start of a line would begin a request.
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_is_split_into_sections() {
        let help = "First line\nsecond line.\n\nExit status: 0 equal, or close; 3 faults.\n\n\
                    Examples:\n  b2 x 'a'\n  b2 y\n\nLast.";
        let (prose, examples, statuses) = split_help(help);
        assert_eq!(prose, ["First line second line.", "Last."]);
        assert_eq!(examples, ["b2 x 'a'", "b2 y"]);
        let statuses = statuses_of(&statuses.unwrap());
        let expected = [("0", "equal, or close"), ("3", "faults")];
        assert_eq!(statuses, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(split_help(""), (vec![], vec![], None));
        assert_eq!(escaped(".a-'\\"), "\\&.a\\-\\(aq\\e");
    }
}
