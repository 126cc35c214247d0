//! The progress bar, and standard output for data.

use crate::log::{Level, Logger};
use ferroblosc::Error;
use ferroblosc::io::named::named;
use ferroblosc_tools_common::progress;
use indicatif::ProgressBar;
use std::io::Write;
use std::path::Path;

pub use progress::ProgressReader;

/// Returns a progress bar for `size` bytes, or a spinner if the size is unknown.
pub fn bar(logger: &Logger, size: Option<u64>) -> ProgressBar {
    // Verbose messages would be mixed with the bar.
    progress::bar(logger.level() == Level::Normal, size)
}

/// Returns a buffered writer to standard output.
pub fn standard_output() -> impl Write + Send {
    std::io::BufWriter::with_capacity(256 << 10, StandardOutput)
}

/// Standard output, named in its errors.
struct StandardOutput;

impl StandardOutput {
    fn named(error: std::io::Error) -> std::io::Error {
        named(error, Error::FileWrite, "write to", Path::new("standard output"))
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stdout().write(bytes).map_err(StandardOutput::named)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush().map_err(StandardOutput::named)
    }
}
