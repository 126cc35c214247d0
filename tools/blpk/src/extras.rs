//! `metadata`, `recover`, `completions` and `man`.

use crate::args::{self, Call};
use crate::error::{Failure, error};
use crate::io::{FileArg, read_metadata};
use crate::log::{self, Logger};
use crate::usage::UsageError;
use clap_complete::Shell;
use ferroblosc_formats::bloscpack::{self, MetadataArgs};
use ferroblosc_tools_common::man;
use std::path::Path;

/// Replaces the metadata of a file.
pub fn metadata(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let names = call.files(&["<file>", "<metadata>"], 0)?;
    let (path, name) = (Path::new(names[0]), Path::new(names[1]));
    FileArg::Path(path.to_owned()).check_exists("file")?;
    let value = read_metadata(name)?.ok_or_else(|| error("there are no metadata in 'null'"))?;
    bloscpack::update_metadata(path, &value, &MetadataArgs::default())?;
    logger.verbose("done");
    Ok(())
}

/// Undoes an interrupted change.
pub fn recover(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let path = call.file()?;
    FileArg::Path(path.clone()).check_exists("file")?;
    if bloscpack::recover(&path)? {
        logger.info("an interrupted change was undone");
    } else {
        logger.info("there is no interrupted change");
    }
    Ok(())
}

/// Prints the completion script of a shell.
pub fn completions(call: &Call) -> Result<(), Failure> {
    let names = call.files(&["<shell>"], 0)?;
    let name = names[0].to_string_lossy();
    let shell: Shell = name.parse().map_err(|_| UsageError::Syntax {
        subcommand: call.subcommand_name(),
        reason: format!(
            "argument <shell>: invalid choice: '{name}' (choose from 'bash', 'elvish', 'fish', 'powershell', 'zsh')"
        ),
    })?;
    let completions = man::completions(&mut args::command(), shell);
    log::print(&completions);
    Ok(())
}

/// Prints the manual page.
pub fn man() -> Result<(), Failure> {
    let page = man::man(&args::command())?;
    log::print(&page);
    Ok(())
}
