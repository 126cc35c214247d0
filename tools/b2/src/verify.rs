//! `verify`.

use crate::cli::{Cli, VerifyArgs};
use crate::info::each;
use crate::json;
use crate::voice::{Failure, Outcome, Paint};
use ferroblosc::convert::{self, Health, Reading};
use ferroblosc_tools_common::status;
use std::io::Write;

pub fn run(args: &VerifyArgs, cli: &Cli) -> Outcome {
    let reading = Reading {
        column: None,
        nthreads: cli.nthreads(),
    };
    let mut values = Vec::new();
    let mut is_right = true;
    let looked_at = each(&args.paths, |input| {
        let found = input.detect()?;
        let health =
            convert::verify(input.path(), &found, &reading).map_err(|error| input.blame(error))?;
        is_right &= health.is_right();
        match args.json {
            true => values.push(json::health(input.name(), found.format.name(), &health)),
            false => tell(&input.name().display().to_string(), &health)?,
        }
        Ok(())
    });
    if args.json {
        json::print(&values.into())?;
    }
    looked_at?;
    match is_right {
        true => Ok(()),
        false => Err(Failure::Said(status::CORRUPT)),
    }
}

fn tell(name: &str, health: &Health) -> Outcome {
    let paint = Paint::output();
    let mut output = std::io::stdout().lock();
    let faults = health.faults.iter().filter(|fault| !fault.is_note).count();
    let verdict = match faults {
        0 => paint.good("right"),
        1 => paint.bad("1 fault"),
        faults => paint.bad(&format!("{faults} faults")),
    };
    let looked_at = match (health.chunks, health.compared) {
        (Some(1), 0) => " (1 chunk)".to_owned(),
        (Some(1), _) => " (1 chunk, with a checksum)".to_owned(),
        (Some(chunks), 0) => format!(" ({chunks} chunks)"),
        (Some(chunks), compared) => format!(" ({chunks} chunks, {compared} with checksums)"),
        (None, _) => String::new(),
    };
    writeln!(output, "{}: {verdict}{looked_at}", paint.bold(name))?;
    for fault in &health.faults {
        let mark = if fault.is_note { "note: " } else { "" };
        writeln!(output, "  {mark}{fault}")?;
    }
    Ok(())
}
