//! The modes of the terminal: the alternate screen, without echo, line editing and suspension.
//!
//! They are restored when [`Screen`] is dropped, after a panic, and on SIGINT, SIGTERM and SIGHUP.
//! Ctrl-C still sends SIGINT, so that it ends the program during a long read; not on Windows.

use crate::error::Failure;
use ferroblosc_tools_common::{os, staging};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Selects the alternate screen, hides the cursor, and marks pasted texts.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?2004h";
/// The reverse.
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";

/// Whether the modes are changed.
static IS_CHANGED: AtomicBool = AtomicBool::new(false);
static AT_PANIC: Once = Once::new();

/// Restores the modes, unless they are not changed.
fn restore() {
    // Relaxed: only the exchange itself must be atomic.
    if IS_CHANGED.swap(false, Ordering::Relaxed) {
        os::write_to_stdout(LEAVE);
        // An error means that the terminal is gone.
        let _ = disable_raw_mode();
    }
}

/// The terminal with the modes of the viewer.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Changes the modes of the terminal.
    pub fn open() -> Result<Screen, Failure> {
        AT_PANIC.call_once(|| {
            let previous = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                previous(panic);
            }));
        });
        staging::at_signal(restore);
        let failed =
            |error: std::io::Error| Failure::new(format!("cannot set up the terminal: {error}"));
        enable_raw_mode().map_err(failed)?;
        IS_CHANGED.store(true, Ordering::Relaxed);
        let opened = || {
            os::keep_interrupt()?;
            os::write_to_stdout(ENTER);
            Terminal::new(CrosstermBackend::new(stdout()))
        };
        match opened() {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                restore();
                Err(failed(error))
            }
        }
    }

    /// Returns the terminal to draw on.
    pub fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.terminal
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}
