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
