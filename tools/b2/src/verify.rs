//! `verify`.

use crate::cli::{Cli, VerifyArgs};
use crate::error::{Failure, Outcome};
use crate::info::{for_each, worse};
use crate::json;
use crate::paths;
use crate::settled::Settled;
use crate::store::{self, Verified};
use crate::style::Style;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::{Reading, Verification};
use ferroblosc_tools_common::status;
use std::io::Write;
use std::path::Path;

pub fn run(args: &VerifyArgs, cli: &Cli) -> Outcome {
    let reading = Reading::with_threads(cli.nthreads());
    let mut values = Vec::new();
    let mut worst = None;
    let result = for_each(&args.paths, |input| {
        if let Some(target) = store::target_of(input) {
            let verified = Verified::of(target)?;
            if let Some(status) = verified.status() {
                worst = Some(worst.map_or(status, |worst| worse(worst, status)));
            }
            if args.json {
                values.push(verified.to_json());
                return Ok(());
            }
            return verified.show(&mut crate::io::stdout());
        }
        let found = input.detect()?;
        let settled = Settled::of(input.path(), &found, &reading);
        let verification = settled.map_err(|failure| input.error(failure))?.verification;
        if let Some(status) = status_of(&verification) {
            worst = Some(worst.map_or(status, |worst| worse(worst, status)));
        }
        if args.json {
            values.push(json::verification(input.name(), found.format.name(), &verification));
        } else {
            print_verification(input.name(), &verification)?;
        }
        Ok(())
    });
    if args.json {
        json::print(&values.into())?;
    }
    let failed = match result {
        Ok(()) => None,
        Err(Failure::Reported(status)) => Some(status),
        Err(failure) => return Err(failure),
    };
    // The damage of a file is not hidden by the error of another one.
    match worst.into_iter().chain(failed).reduce(worse) {
        None => Ok(()),
        Some(status) => Err(Failure::Reported(status)),
    }
}

/// Returns the exit status, or `None` if there are no faults.
pub fn status_of(verification: &Verification) -> Option<u8> {
    if verification.is_damaged() {
        Some(status::CORRUPT)
    } else if verification.is_intact() {
        None
    } else {
        Some(status::MISSING_PLUGIN)
    }
}

fn print_verification(path: &Path, verification: &Verification) -> Outcome {
    let style = Style::stdout();
    let mut output = crate::io::stdout();
    let damage = verification.faults.iter().filter(|fault| !fault.is_note && fault.needs.is_none());
    let faults: u64 = damage.map(|fault| fault.more + 1).sum();
    let verdict = match faults {
        0 if !verification.is_intact() => style.bad("a plugin is missing"),
        0 if !verification.has_checksums => style.good("the structure is valid"),
        0 => style.good("right"),
        1 => style.bad("1 fault"),
        faults => style.bad(&format!("{faults} faults")),
    };
    let extent = match (verification.chunks, verification.compared) {
        (Some(1), 0) => " (1 chunk)".to_owned(),
        (Some(1), _) => " (1 chunk, with a checksum)".to_owned(),
        (Some(chunks), 0) => format!(" ({chunks} chunks)"),
        (Some(chunks), compared) => format!(" ({chunks} chunks, {compared} with checksums)"),
        (None, _) => String::new(),
    };
    let name = path.to_string_lossy();
    let name = escape(&name);
    let limit = if verification.is_intact() && !verification.has_checksums {
        "; there are no checksums, so changed bytes in chunks cannot be detected"
    } else {
        ""
    };
    writeln!(output, "{}: {verdict}{extent}{limit}", style.bold(&name))?;
    for fault in &verification.faults {
        let mark = if fault.is_note { "note: " } else { "" };
        writeln!(output, "  {mark}{}", escape(&fault.to_string()))?;
    }
    for plugin in verification.missing_plugins() {
        writeln!(output, "  hint: {}", escape(&plugin.advice()))?;
    }
    if !limit.is_empty() && verification.placeholder.is_none() {
        let argument = paths::argument(path);
        let argument = escape(&argument);
        let hint = format!("hint: 'b2 convert {argument} NEW.b2frame' makes a copy with checksums");
        writeln!(output, "  {}", style.faint(&hint))?;
    }
    Ok(())
}
