//! The progress bar, which is drawn on standard error if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Read, Write};

/// Returns a bar for `size` bytes, or a spinner if the size is unknown. The bar is hidden if
/// `enabled` is false or standard error is not a terminal.
pub fn bar(enabled: bool, size: Option<u64>) -> ProgressBar {
    if !enabled || !std::io::stderr().is_terminal() {
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

/// A reader that advances a progress bar.
pub struct ProgressReader<R> {
    /// The wrapped reader.
    pub reader: R,
    /// The bar to advance.
    pub bar: ProgressBar,
}

impl<R: Read> Read for ProgressReader<R> {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(dest)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

/// A writer that advances a progress bar.
pub struct ProgressWriter<W> {
    /// The wrapped writer.
    pub writer: W,
    /// The bar to advance.
    pub bar: ProgressBar,
}

impl<W: Write> Write for ProgressWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.bar.inc(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}
