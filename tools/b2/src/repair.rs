//! `repair`.

use crate::cli::{Cli, RepairArgs};
use crate::json;
use crate::place::STANDARD;
use crate::verify::status_of;
use crate::voice::{Failure, Outcome, Paint};
use ferroblosc::convert::{self, Fault, Reading, RepairMode, Repaired, Verification};
use ferroblosc::escape::escape;
use ferroblosc_tools_common::staging::Staged;
use serde_json::json;
use std::io::Write;
use std::path::Path;

pub fn run(args: &RepairArgs, cli: &Cli) -> Outcome {
    let path = args.path.as_path();
    if path == Path::new(STANDARD) {
        return Err(Failure::usage("what comes from a pipe can't be mended"));
    }
    let blame = |error: convert::Error| Failure::from(error).at(path);
    let found = convert::detect(path).map_err(blame)?;
    let reading = Reading {
        column: None,
        nthreads: cli.nthreads(),
    };
    let before = convert::verify(path, &found, &reading).map_err(blame)?;
    let way = convert::repair_mode(path, &found);
    // What is only not judged is not touched.
    if !before.is_damaged() || !args.write {
        return tell_plan(args, path, &before, way);
    }
    let (mended, kept) = match way {
        RepairMode::Impossible(_) => return tell_plan(args, path, &before, way),
        RepairMode::InPlace => (convert::repair(path, &found, path).map_err(blame)?, None),
        RepairMode::Rebuild => {
            let staged = Staged::new(path).map_err(|error| Failure::from(error).at(path))?;
            let mended = convert::repair(path, &found, staged.path())
                .map_err(|error| blame(error).of_target(staged.path(), path))?;
            let kept = staged.commit_beside();
            let kept = kept.map_err(|error| Failure::from(error).at(path))?;
            // Under the name it was given, as long as that is no link.
            let name = kept.file_name().filter(|_| !path.is_symlink());
            let shown = name.map_or(kept.clone(), |name| path.with_file_name(name));
            (mended, Some(shown))
        }
    };
    let found = convert::detect(path).map_err(blame)?;
    let after = convert::verify(path, &found, &reading).map_err(blame)?;
    tell_done(args, path, &mended, kept.as_deref(), &after)
}

fn outcome_of(health: &Verification) -> Outcome {
    match status_of(health) {
        None => Ok(()),
        Some(status) => Err(Failure::Said(status)),
    }
}

/// What would be done about each fault.
fn plan(fault: &Fault, way: RepairMode) -> &'static str {
    match way {
        _ if fault.is_note => "nothing needs to be done",
        _ if fault.needs.is_some() => {
            "it stays as it is: without the plugin nothing is known of it"
        }
        RepairMode::Impossible(why) => why,
        RepairMode::InPlace => "it would be mended in its place",
        RepairMode::Rebuild if fault.chunk.is_some() => {
            "the chunk would become zeros if it can't be read"
        }
        RepairMode::Rebuild => "it would be written anew from what can be read",
    }
}

fn tell_plan(args: &RepairArgs, path: &Path, health: &Verification, way: RepairMode) -> Outcome {
    let shown = path.display().to_string();
    let shown = escape(&shown);
    if args.json {
        let plans = health.faults.iter().map(|fault| {
            let mut value = json::fault(fault);
            value["plan"] = plan(fault, way).into();
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
        return outcome_of(health);
    }
    let paint = Paint::output();
    let mut output = std::io::stdout().lock();
    if !health.is_damaged() {
        writeln!(
            output,
            "{}: {}",
            paint.bold(&shown),
            paint.good("nothing to mend")
        )?;
        for fault in health.faults.iter().filter(|fault| fault.needs.is_some()) {
            writeln!(output, "  {}", escape(&fault.to_string()))?;
            writeln!(output, "    {}", paint.faint(plan(fault, way)))?;
        }
        for plugin in health.missing_plugins() {
            writeln!(output, "  hint: {}", escape(&plugin.advice()))?;
        }
        return outcome_of(health);
    }
    writeln!(
        output,
        "{}: {}",
        paint.bold(&shown),
        paint.bad("this is wrong")
    )?;
    for fault in &health.faults {
        writeln!(output, "  {}", escape(&fault.to_string()))?;
        writeln!(output, "    {}", paint.faint(plan(fault, way)))?;
    }
    if !matches!(way, RepairMode::Impossible(_)) {
        writeln!(
            output,
            "nothing was changed; 'b2 repair --write {shown}' does it"
        )?;
    }
    outcome_of(health)
}

fn tell_done(
    args: &RepairArgs,
    path: &Path,
    mended: &Repaired,
    kept: Option<&Path>,
    after: &Verification,
) -> Outcome {
    if args.json {
        json::print(&json!({
            "path": path.to_string_lossy(),
            "written": true,
            "faults": after.faults.iter().map(json::fault).collect::<serde_json::Value>(),
            "mended": mended.repaired,
            "lost": mended.lost,
            "kept": kept.map(|kept| kept.to_string_lossy()),
        }))?;
        return outcome_of(after);
    }
    let paint = Paint::output();
    let mut output = std::io::stdout().lock();
    let verdict = match after.is_intact() {
        true => paint.good("mended"),
        false => paint.bad("mended in part"),
    };
    writeln!(
        output,
        "{}: {verdict}",
        paint.bold(&escape(&path.display().to_string()))
    )?;
    for line in &mended.repaired {
        writeln!(output, "  mended: {}", escape(line))?;
    }
    for line in &mended.lost {
        writeln!(output, "  lost: {}", escape(line))?;
    }
    for fault in &after.faults {
        writeln!(output, "  left: {}", escape(&fault.to_string()))?;
    }
    if let Some(kept) = kept {
        let kept = kept.display().to_string();
        writeln!(output, "  the old one is kept as {}", escape(&kept))?;
    }
    outcome_of(after)
}
