//! `metadata`, `recover`, `completions` and `man`.

use crate::files::Place;
use crate::usage::Wrong;
use crate::voice::{Failure, Voice, error};
use crate::words::{self, Call, read_metadata};
use clap_complete::Shell;
use ferroblosc::bloscpack::{self, MetadataArgs};
use ferroblosc_tools_common::pages;
use std::io::Write;
use std::path::Path;

/// Replaces the metadata of a file.
pub fn metadata(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let names = call.files(&["<file>", "<metadata>"], 0)?;
    let (path, name) = (Path::new(names[0]), Path::new(names[1]));
    Place::File(path.to_owned()).check_exists("file")?;
    let value = read_metadata(name)?.ok_or_else(|| error("there are no metadata in 'null'"))?;
    bloscpack::update_metadata(path, &value, &MetadataArgs::default())?;
    voice.verbose("done");
    Ok(())
}

/// Undoes a change that was interrupted.
pub fn recover(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let path = call.file()?;
    Place::File(path.clone()).check_exists("file")?;
    if bloscpack::recover(&path)? {
        voice.say("a change that was interrupted has been undone");
    } else {
        voice.say("there was nothing to be undone");
    }
    Ok(())
}

/// Prints the completions of a shell.
pub fn completions(call: &Call) -> Result<(), Failure> {
    let names = call.files(&["<shell>"], 0)?;
    let name = names[0].to_string_lossy();
    let shell: Shell = name.parse().map_err(|_| Wrong::Usage {
        subcommand: call.spelled(),
        why: format!(
            "argument <shell>: invalid choice: '{name}' (choose from 'bash', 'elvish', 'fish', 'powershell', 'zsh')"
        ),
    })?;
    let completions = pages::completions(&mut words::command(), shell);
    std::io::stdout().write_all(&completions)?;
    Ok(())
}

/// Prints the manual page.
pub fn man() -> Result<(), Failure> {
    let page = pages::man(&words::command())?;
    std::io::stdout().write_all(&page)?;
    Ok(())
}
