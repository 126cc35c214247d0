//! The comparison of all arrays of two containers.

use super::data::{DIFFERENT, compare_data, of_trouble};
use super::sides::Members;
use crate::cli::{Cli, DiffArgs};
use crate::error::{self, Failure, Outcome};
use crate::json;
use crate::style::Style;
use ferroblosc::escape::escape;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::io::Write;

/// Compares members with the same path. An error of one of them does not stop the others.
pub fn compare(args: &DiffArgs, cli: &Cli, one: &Members, other: &Members) -> Outcome {
    if args.column.is_some() {
        return Err(Failure::usage("--column: select a table of both with FILE:/NAME"));
    }
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let names = [one, other].map(|members| members.name().to_string_lossy().into_owned());
    let mut output = crate::io::stdout();
    let style = Style::stdout();
    let prints = !args.json && !args.silent;
    let mut values = Vec::new();
    // The status of the command, which is 0 without differences.
    let mut status = 0;
    for key in keys {
        let shown = escape(key);
        let sides = (one.has(key), other.has(key));
        if sides != (true, true) {
            status = status.max(DIFFERENT);
            let which = usize::from(!sides.0);
            if prints {
                let text = format!("only in {}", escape(&names[which]));
                writeln!(output, "{shown}: {}", style.bad(&text))?;
            }
            let text = if which == 0 { "only_in_first" } else { "only_in_second" };
            values.push(member(key, text, Json::Null, None));
        } else {
            let opened = one.open(key).and_then(|data| Ok((data, other.open(key)?)));
            let compared = opened.and_then(|(one, other)| compare_data(args, cli, one, other));
            match compared {
                Ok(report) if report.is_equal() => {
                    if prints {
                        writeln!(output, "{shown}: {}", style.good("equal"))?;
                    }
                    values.push(member(key, "equal", report.to_json(), None));
                }
                Ok(report) => {
                    status = status.max(DIFFERENT);
                    if prints {
                        report.print(&mut output, &shown)?;
                    }
                    values.push(member(key, "different", report.to_json(), None));
                }
                Err(failure) => {
                    let failure = of_trouble(failure);
                    let Failure::Error { text, status: code, .. } = &failure else {
                        return Err(failure);
                    };
                    status = status.max(*code);
                    values.push(member(key, "error", Json::Null, Some(text)));
                    error::report(&failure);
                }
            }
        }
        if args.silent && status != 0 {
            break;
        }
    }
    if args.json {
        json::print(&json!({
            "paths": names,
            "equal": status == 0,
            "members": values,
        }))?;
    }
    output.flush()?;
    if status == 0 { Ok(()) } else { Err(Failure::Reported(status)) }
}

fn member(key: &str, status: &str, comparison: Json, error: Option<&String>) -> Json {
    json!({"path": key, "status": status, "comparison": comparison, "error": error})
}
