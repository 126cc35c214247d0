//! The bar that shows how far it is, to people who watch a terminal.

use crate::voice::{Level, Voice};
use ferroblosc::Error;
use ferroblosc::io::named::named;
use ferroblosc_tools_common::progress;
use indicatif::ProgressBar;
use std::io::Write;
use std::path::Path;

pub use progress::Reading;

/// A bar for so many bytes, or for as many as there are; hidden where nobody watches.
pub fn bar(voice: &Voice, size: Option<u64>) -> ProgressBar {
    // Messages of more talkative levels would be torn apart by it.
    progress::bar(voice.level() == Level::Normal, size)
}

/// Standard output, for data.
pub fn standard_output() -> impl Write + Send {
    std::io::BufWriter::with_capacity(256 << 10, StandardOutput)
}

/// Standard output, which its errors name.
struct StandardOutput;

impl StandardOutput {
    fn named(error: std::io::Error) -> std::io::Error {
        named(
            error,
            Error::FileWrite,
            "write to",
            Path::new("standard output"),
        )
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stdout()
            .write(bytes)
            .map_err(StandardOutput::named)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush().map_err(StandardOutput::named)
    }
}
