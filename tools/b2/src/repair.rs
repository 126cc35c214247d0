//! `repair`.

use crate::cli::{Cli, RepairArgs};
use crate::json;
use crate::place::STANDARD;
use crate::voice::{Failure, Outcome, Paint};
use ferroblosc::convert::{self, Fault, Health, Mended, Reading, Way};
use ferroblosc_tools_common::staging::Staged;
use ferroblosc_tools_common::status;
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
    let way = convert::way(path, &found);
    if before.is_right() || !args.write {
        return tell_plan(args, path, &before, way);
    }
    let (mended, kept) = match way {
        Way::Not(_) => return tell_plan(args, path, &before, way),
        Way::InPlace => (convert::mend(path, &found, path).map_err(blame)?, None),
        Way::Anew => {
            let staged = Staged::new(path).map_err(|error| Failure::from(error).at(path))?;
            let mended = convert::mend(path, &found, staged.path())
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

fn status_of(faults: &[Fault]) -> Outcome {
    match faults.iter().all(|fault| fault.is_note) {
        true => Ok(()),
        false => Err(Failure::Said(status::CORRUPT)),
    }
}

/// What would be done about each fault.
fn plan(fault: &Fault, way: Way) -> &'static str {
    match way {
        _ if fault.is_note => "nothing needs to be done",
        Way::Not(why) => why,
        Way::InPlace => "it would be mended in its place",
        Way::Anew if fault.chunk.is_some() => "the chunk would become zeros if it can't be read",
        Way::Anew => "it would be written anew from what can be read",
    }
}

fn tell_plan(args: &RepairArgs, path: &Path, health: &Health, way: Way) -> Outcome {
    let shown = path.display();
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
        return status_of(&health.faults);
    }
    let paint = Paint::output();
    let mut output = std::io::stdout().lock();
    if health.is_right() {
        writeln!(
            output,
            "{}: {}",
            paint.bold(&shown.to_string()),
            paint.good("nothing to mend")
        )?;
        return Ok(());
    }
    writeln!(
        output,
        "{}: {}",
        paint.bold(&shown.to_string()),
        paint.bad("this is wrong")
    )?;
    for fault in &health.faults {
        writeln!(output, "  {fault}")?;
        writeln!(output, "    {}", paint.faint(plan(fault, way)))?;
    }
    if !matches!(way, Way::Not(_)) {
        writeln!(
            output,
            "nothing was changed; 'b2 repair --write {shown}' does it"
        )?;
    }
    status_of(&health.faults)
}

fn tell_done(
    args: &RepairArgs,
    path: &Path,
    mended: &Mended,
    kept: Option<&Path>,
    after: &Health,
) -> Outcome {
    if args.json {
        json::print(&json!({
            "path": path.to_string_lossy(),
            "written": true,
            "faults": after.faults.iter().map(json::fault).collect::<serde_json::Value>(),
            "mended": mended.mended,
            "lost": mended.lost,
            "kept": kept.map(|kept| kept.to_string_lossy()),
        }))?;
        return status_of(&after.faults);
    }
    let paint = Paint::output();
    let mut output = std::io::stdout().lock();
    let verdict = match after.is_right() {
        true => paint.good("mended"),
        false => paint.bad("mended in part"),
    };
    writeln!(
        output,
        "{}: {verdict}",
        paint.bold(&path.display().to_string())
    )?;
    for line in &mended.mended {
        writeln!(output, "  mended: {line}")?;
    }
    for line in &mended.lost {
        writeln!(output, "  lost: {line}")?;
    }
    for fault in &after.faults {
        writeln!(output, "  left: {fault}")?;
    }
    if let Some(kept) = kept {
        writeln!(output, "  the old one is kept as {}", kept.display())?;
    }
    status_of(&after.faults)
}
