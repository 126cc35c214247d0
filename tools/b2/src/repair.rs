//! `repair`.

use crate::cli::{Cli, RepairArgs};
use crate::error::{Failure, Outcome};
use crate::io::STDIO;
use crate::json;
use crate::members;
use crate::paths;
use crate::settled::Settled;
use crate::style::Style;
use crate::verify::status_of;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::{self, Fault, Reading, RepairMode, Repaired, Verification};
use ferroblosc_tools_common::staging::Staged;
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub fn run(args: &RepairArgs, cli: &Cli) -> Outcome {
    let path = args.path.as_path();
    if path == Path::new(STDIO) {
        return Err(Failure::usage("cannot repair standard input"));
    }
    if let Some(done) = members::repair(args) {
        return done;
    }
    let at_path = |error: convert::Error| Failure::from(error).at(path);
    let found = convert::detect(path).map_err(at_path)?;
    let reading = Reading::with_threads(cli.nthreads());
    let settled = Settled::of(path, &found, &reading).map_err(|failure| failure.at(path))?;
    let before = &settled.verification;
    let mode = convert::repair_mode(path, &found);
    // Data that need a missing plugin are not changed.
    if !before.is_damaged() || !args.write {
        return print_plan(args, path, before, mode);
    }
    let (repaired, kept) = match mode {
        RepairMode::Impossible(_) => return print_plan(args, path, before, mode),
        RepairMode::InPlace => {
            settled.check_unchanged(path, &found).map_err(|failure| failure.at(path))?;
            (convert::repair(path, &found, path).map_err(at_path)?, None)
        }
        RepairMode::Rebuild => {
            let at_file = |error: std::io::Error| Failure::from(error).at(path);
            let mut staged = Staged::new(path).map_err(at_file)?;
            let repaired = convert::repair(path, &found, staged.path())
                .map_err(|error| at_path(error).of_target(staged.path(), path))?;
            staged.sync().map_err(at_file)?;
            settled.check_unchanged(path, &found).map_err(|failure| failure.at(path))?;
            let kept = staged.commit_beside().map_err(at_file)?;
            // Relative to the path of the command line, unless that is a link.
            let name = kept.file_name().filter(|_| !path.is_symlink());
            let shown = name.map_or(kept.clone(), |name| path.with_file_name(name));
            (repaired, Some(shown))
        }
    };
    let found = convert::detect(path).map_err(at_path)?;
    let after = convert::verify(path, &found, &reading).map_err(at_path)?;
    print_result(args, path, &repaired, kept.as_deref(), &after)
}

fn outcome_of(verification: &Verification) -> Outcome {
    match status_of(verification) {
        None => Ok(()),
        Some(status) => Err(Failure::Reported(status)),
    }
}

/// Returns a description of the repair of a fault.
fn plan(fault: &Fault, mode: RepairMode) -> &'static str {
    match mode {
        _ if fault.is_note => "no repair is needed",
        _ if fault.needs.is_some() => "it is not changed, since the plugin is missing",
        RepairMode::Impossible(reason) => reason,
        RepairMode::InPlace => "it would be repaired in place",
        RepairMode::Rebuild if fault.chunk.is_some() => {
            "the chunk would become zeros if it is unreadable"
        }
        RepairMode::Rebuild => "it would be written again from the readable data",
    }
}

fn print_plan(
    args: &RepairArgs,
    path: &Path,
    verification: &Verification,
    mode: RepairMode,
) -> Outcome {
    let shown = path.display().to_string();
    let shown = escape(&shown);
    if args.json {
        let plans = verification.faults.iter().map(|fault| {
            let mut value = json::fault(fault);
            value["plan"] = plan(fault, mode).into();
            value
        });
        json::print(&json!({
            "path": path.to_string_lossy(),
            "written": false,
            "faults": plans.collect::<serde_json::Value>(),
            "mended": [],
            "lost": [],
            "kept": null,
        }))?;
        return outcome_of(verification);
    }
    let style = Style::stdout();
    let mut output = crate::io::stdout();
    if !verification.is_damaged() {
        writeln!(output, "{}: {}", style.bold(&shown), style.good("nothing to repair"))?;
        for fault in verification.faults.iter().filter(|fault| fault.needs.is_some()) {
            writeln!(output, "  {}", escape(&fault.to_string()))?;
            writeln!(output, "    {}", style.faint(plan(fault, mode)))?;
        }
        for plugin in verification.missing_plugins() {
            writeln!(output, "  hint: {}", escape(&plugin.advice()))?;
        }
        return outcome_of(verification);
    }
    writeln!(output, "{}: {}", style.bold(&shown), style.bad("faults"))?;
    for fault in &verification.faults {
        writeln!(output, "  {}", escape(&fault.to_string()))?;
        writeln!(output, "    {}", style.faint(plan(fault, mode)))?;
    }
    if !matches!(mode, RepairMode::Impossible(_)) {
        let argument = paths::argument(path);
        let argument = escape(&argument);
        writeln!(output, "nothing was changed; 'b2 repair --write {argument}' repairs the file")?;
    }
    outcome_of(verification)
}

fn print_result(
    args: &RepairArgs,
    path: &Path,
    repaired: &Repaired,
    kept: Option<&Path>,
    after: &Verification,
) -> Outcome {
    if args.json {
        json::print(&json!({
            "path": path.to_string_lossy(),
            "written": true,
            "faults": after.faults.iter().map(json::fault).collect::<serde_json::Value>(),
            "mended": repaired.repaired,
            "lost": repaired.lost,
            "kept": kept.map(|kept| kept.to_string_lossy()),
        }))?;
        return outcome_of(after);
    }
    let style = Style::stdout();
    let mut output = crate::io::stdout();
    let verdict =
        if after.is_intact() { style.good("repaired") } else { style.bad("repaired partially") };
    writeln!(output, "{}: {verdict}", style.bold(&escape(&path.display().to_string())))?;
    for line in &repaired.repaired {
        writeln!(output, "  repaired: {}", escape(line))?;
    }
    for line in &repaired.lost {
        writeln!(output, "  lost: {}", escape(line))?;
    }
    for fault in &after.faults {
        writeln!(output, "  left: {}", escape(&fault.to_string()))?;
    }
    if let Some(kept) = kept {
        let kept = kept.display().to_string();
        writeln!(output, "  the old file is kept as {}", escape(&kept))?;
    }
    outcome_of(after)
}
