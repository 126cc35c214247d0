//! `view`: a terminal viewer of files, containers and directories.
//!
//! | file | content |
//! |---|---|
//! | `tree.rs` | the tree of directories, containers, groups and arrays; metadata |
//! | `grid.rs` | the cells of slices |
//! | `chunks.rs` | the chunk map |
//! | `app.rs` | the state, and the keys |
//! | `screen.rs` | drawing |
//! | `terminal.rs` | the modes of the terminal |

mod app;
mod chunks;
mod grid;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;

use crate::cli::{Cli, ViewArgs};
use crate::error::{Failure, Outcome};
use crate::io::STDIO;
use crate::style::{has_colours, is_dumb};
use app::App;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use screen::Theme;
use std::io::IsTerminal;
use std::path::Path;
use terminal::Screen;

/// Fails if the viewer cannot use the terminal.
fn check_terminal() -> Outcome {
    let hint = "'b2 ls --tree', 'b2 info' and 'b2 cat' print the same to any output";
    let failed = |text: &str| Err(Failure::new(text).with_hint(hint));
    if !std::io::stdin().is_terminal() {
        return failed("standard input is not a terminal");
    }
    if !std::io::stdout().is_terminal() {
        return failed("standard output is not a terminal");
    }
    if is_dumb() {
        return failed("the terminal has no control sequences (TERM=dumb)");
    }
    Ok(())
}

pub fn run(args: &ViewArgs, cli: &Cli) -> Outcome {
    check_terminal()?;
    if args.path == Path::new(STDIO) {
        return Err(Failure::usage("standard input is the keyboard, and cannot be viewed"));
    }
    let mut app = App::new(&args.path, cli.nthreads()).map_err(|failure| failure.at(&args.path))?;
    let theme = Theme { has_colours: has_colours() };
    let mut screen = Screen::open()?;
    while !app.is_done {
        screen.terminal().draw(|frame| screen::draw(frame, &mut app, theme))?;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => app.key(key),
            Event::Paste(text) => app.paste(&text),
            _ => {}
        }
    }
    Ok(())
}
