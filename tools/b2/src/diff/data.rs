//! The comparison of two arrays, tables or lists of objects, and the exit status.

use super::report::Report;
use super::sides::Data;
use super::{items, rows};
use crate::cli::{Cli, DiffArgs};
use crate::error::Failure;
use crate::scan::Scanned;
use ferroblosc_tools_common::status;

/// The exit status for different data.
pub const DIFFERENT: u8 = 1;
/// The exit status for errors that have none of their own.
const TROUBLE: u8 = 2;

/// Replaces the status of errors by that of `cmp`.
pub fn of_trouble(failure: Failure) -> Failure {
    match failure {
        Failure::Error { text, hint, status: status::ERROR, names_path } => {
            Failure::Error { text, hint, status: TROUBLE, names_path }
        }
        other => other,
    }
}

/// Compares two arrays, tables or lists of objects.
pub fn compare_data(args: &DiffArgs, cli: &Cli, one: Data, other: Data) -> Result<Report, Failure> {
    let (one, other) = match (one, other) {
        (Data::Rows(one), Data::Rows(other)) if args.column.is_none() && args.dtype.is_none() => {
            return rows::compare(args, cli, &one, &other);
        }
        (one, other) => (one.into_array()?, other.into_array()?),
    };
    let (column, dtype) = (args.column.as_deref(), args.dtype.as_deref());
    let mut first = Scanned::open_as(&one.input, one.found, column, dtype)?;
    let mut second = Scanned::open_as(&other.input, other.found, column, dtype)?;
    // If one of them has no type, both are compared as bytes.
    if first.is_typed != second.is_typed {
        first.forget_type()?;
        second.forget_type()?;
    }
    items::compare_arrays(args, cli, &first, &second)
}
