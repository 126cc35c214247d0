//! `man`: the manual pages.

use crate::cli::{Cli, ManArgs};
use crate::error::{Failure, Outcome};
use crate::io::Output;
use clap::CommandFactory;
use ferroblosc::Error;
use ferroblosc::io::named;
use ferroblosc_tools_common::man::{Sections, man, pages};
use std::fs;
use std::io::Write;
use std::path::Path;

const SECTIONS: Sections<'static> = Sections {
    files: &[
        (
            ".OUT.PID-NUMBER.tmp",
            "A directory next to the output OUT, in which the output is written before it gets its name. \
             It is removed at the end, also after SIGINT, SIGTERM and SIGHUP. If the program is killed, \
             the next one that writes to the same directory removes it.",
        ),
        (
            "$TMPDIR/.b2.PID-NUMBER.tmp",
            "A directory for copies of standard input, standard output and FIFOs.",
        ),
        (
            "FILE.b2journal, FILE.b2tmp",
            "The journal of a change in place, and the new version of a frame that replaces the old one.",
        ),
        ("FILE.b2lock", "The lock of a frame that several programs change."),
        (
            "libblosc2_NAME.so",
            "A plugin for a codec or a filter, in the directories of the dynamic linker.",
        ),
    ],
    environment: &[
        ("BLOSC_LOCKING", "If set, frames are locked while they are read and changed."),
        ("FERROBLOSC_CHECKSUMS", "If set, new frames have checksums, also with --no-checksums."),
        ("FERROBLOSC_DURABLE", "If set, changes of frames and bcolz directories survive a crash."),
        (
            "FERROBLOSC_PLUGIN_SEARCH",
            "If set, plugins are also loaded from the Python packages blosc2-NAME.",
        ),
        ("LD_LIBRARY_PATH", "Directories of the dynamic linker, for plugins."),
        ("NO_COLOR", "If set and not empty, no colours are used."),
        ("TERM", "The kind of the terminal; with dumb, colours are not used, and view fails."),
        ("TMPDIR", "The directory for temporary files of pipes; the default is /tmp."),
    ],
    statuses: "Exit status: 0 success, 1 error, 2 invalid command line, 3 corrupt data, 4 missing plugin",
};

/// Writes a page, and replaces an existing one. Other programs and links never see a part of it, and
/// nothing is written through a link or to a FIFO.
fn write_page(path: &Path, page: &[u8]) -> Outcome {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        let failure = Failure::new("exists and is not a regular file").at(path);
        return Err(failure.with_hint("remove it, or select another directory"));
    }
    let output = Output::new(path, true)?;
    named::write(output.path(), page).map_err(|error| output.error(error.into()))?;
    output.commit()
}

pub fn run(args: &ManArgs) -> Outcome {
    if let Some(directory) = &args.output {
        let failed = |error| named::named(error, Error::FileOpen, "create", directory);
        fs::create_dir_all(directory).map_err(failed)?;
        let root = [("b2".to_owned(), man(&Cli::command())?)];
        for (name, page) in root.into_iter().chain(pages(Cli::command(), &SECTIONS)?) {
            write_page(&directory.join(format!("{name}.1")), &page)?;
        }
        return Ok(());
    }
    let page = if args.command.is_empty() {
        man(&Cli::command())?
    } else {
        let name = format!("b2-{}", args.command.join("-"));
        let found = pages(Cli::command(), &SECTIONS)?.into_iter().find(|(known, _)| *known == name);
        let Some((_, page)) = found else {
            let shown = args.command.join(" ");
            return Err(Failure::usage(format!("there is no command '{shown}'")));
        };
        page
    };
    Ok(crate::io::stdout().write_all(&page)?)
}
