//! The bar that shows how far it is, to people who watch a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Read};

/// A bar for so many bytes, or for as many as there are; hidden where nobody watches or when it is not wanted.
pub fn bar(wanted: bool, size: Option<u64>) -> ProgressBar {
    if !wanted || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr_with_hz(10));
    let template = match size {
        Some(_) => "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        None => "{spinner} {bytes} {bytes_per_sec}",
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Counts what is read.
pub struct Reading<R> {
    /// What is read from.
    pub reader: R,
    /// What shows it.
    pub bar: ProgressBar,
}

impl<R: Read> Read for Reading<R> {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(dest)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}
