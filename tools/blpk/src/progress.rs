//! The bar that shows how far it is, to people who watch a terminal.

use crate::voice::{Level, Voice};
use ferroblosc_tools_common::progress;
use indicatif::ProgressBar;
use std::io::Write;

pub use progress::Reading;

/// A bar for so many bytes, or for as many as there are; hidden where nobody watches.
pub fn bar(voice: &Voice, size: Option<u64>) -> ProgressBar {
    // Messages of more talkative levels would be torn apart by it.
    progress::bar(voice.level() == Level::Normal, size)
}

/// Standard output, for data.
pub fn standard_output() -> impl Write + Send {
    std::io::BufWriter::with_capacity(256 << 10, std::io::stdout())
}
