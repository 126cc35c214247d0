//! `diff`: compares the data of two files of any formats, of two objects in stores, or all arrays
//! of two containers.
//!
//! Items are compared by value: the byte order, the width of numbers and the padding of texts do
//! not matter. NaN equals NaN. Data without a type are compared byte by byte. The exit status is
//! that of `cmp`: 0 equal, 1 different, 2 or more error.
//!
//! | file | content |
//! |---|---|
//! | `items.rs`, `rows.rs` | the comparison of arrays; of tables and objects in stores |
//! | `sides.rs`, `data.rs`, `members.rs` | the arguments; the comparison of data; of containers |
//! | `report.rs` | the result, as text and as JSON |

mod data;
mod items;
mod members;
mod report;
mod rows;
mod sides;

use crate::cli::{Cli, DiffArgs};
use crate::error::{Failure, Outcome};
use crate::io::STDIO;
use crate::json;
use data::{DIFFERENT, compare_data, of_trouble};
use sides::Side;
use std::path::Path;

pub fn run(args: &DiffArgs, cli: &Cli) -> Outcome {
    // Status 1 means different data.
    compare(args, cli).map_err(of_trouble)
}

fn compare(args: &DiffArgs, cli: &Cli) -> Outcome {
    if args.one == Path::new(STDIO) && args.other == Path::new(STDIO) {
        return Err(Failure::usage("only one of the files can be standard input"));
    }
    let (one, other) = match (Side::open(&args.one)?, Side::open(&args.other)?) {
        (Side::Members(one), Side::Members(other)) => {
            return members::compare(args, cli, &one, &other);
        }
        (Side::Data(one), Side::Data(other)) => (one, other),
        // A container with a single array is compared with other containers by member.
        (Side::Members(one), Side::Data(other)) => match other.members()? {
            Some(other) if !one.is_single() => return members::compare(args, cli, &one, &other),
            _ => (one.only()?, other),
        },
        (Side::Data(one), Side::Members(other)) => match one.members()? {
            Some(one) if !other.is_single() => return members::compare(args, cli, &one, &other),
            _ => (one, other.only()?),
        },
    };
    let result = compare_data(args, cli, one, other)?;
    if args.json {
        json::print(&result.to_json())?;
    } else if !args.silent {
        result.print(&mut crate::io::stdout(), &result.title())?;
    }
    if result.is_equal() { Ok(()) } else { Err(Failure::Reported(DIFFERENT)) }
}
