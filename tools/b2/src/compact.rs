//! `compact`: a frame without unused bytes, in place.

use crate::cli::{Cli, CompactArgs};
use crate::error::Outcome;
use crate::info::for_each_path;
use crate::inplace::FrameToChange;
use crate::json;
use crate::pack::stored_size;
use crate::style::Style;
use ferroblosc::escape::escape;
use ferroblosc_tools_common::size::human;
use serde_json::json;
use std::io::Write;

pub fn run(args: &CompactArgs, cli: &Cli) -> Outcome {
    let mut values = Vec::new();
    let result = for_each_path(&args.paths, |path| {
        let target = FrameToChange::open(path)?;
        let before = stored_size(target.path());
        let mut schunk = target.schunk(cli.nthreads())?;
        schunk.compact().map_err(|error| target.error(error))?;
        schunk.close().map_err(|error| target.error(error))?;
        let after = stored_size(target.path());
        if args.json {
            values.push(json!({
                "path": path.to_string_lossy(),
                "stored_before": before,
                "stored_bytes": after,
            }));
            return Ok(());
        }
        let shown = path.display().to_string();
        let shown = Style::stdout().bold(&escape(&shown));
        Ok(writeln!(crate::io::stdout(), "{shown}: {} -> {}", human(before), human(after))?)
    });
    if args.json {
        json::print(&values.into())?;
    }
    result
}
