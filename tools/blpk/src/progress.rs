//! The progress bar, and standard output for data.

use crate::log::{Level, Logger, StandardOutput};
use ferroblosc_tools_common::progress;
use indicatif::ProgressBar;
use std::io::Write;

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
