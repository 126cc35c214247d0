//! The comparison of tables, and of lists of objects, in stores: row by row, and value by value.

use super::items::{Tolerance, is_one_nat};
use super::report::{Differences, First, Mismatch, Report};
use super::sides::Rows;
use crate::cli::{Cli, DiffArgs};
use crate::error::Failure;
use crate::scan::Number;
use crate::store::text_of;
use ferroblosc_formats::store::{self, Class, ColumnKind, Error, Objects, Table, Value};
use ferroblosc_tools_common::progress::bar;
use std::ops::Range;

/// The maximum number of rows that are read at once.
const MAX_ROWS: u64 = 1 << 12;

/// A column of a table.
#[derive(PartialEq, Eq)]
struct Column {
    name: String,
    /// The unit of times. The values of other columns have none.
    unit: Option<String>,
}

impl Column {
    fn of(column: &store::Column) -> Column {
        let unit = match &column.kind {
            ColumnKind::Timestamp { unit, .. } => Some(unit.clone()),
            _ => None,
        };
        Column { name: column.name.clone(), unit }
    }

    /// Returns the name, with the unit of times.
    fn text(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} [{unit}]", self.name),
            None => self.name.clone(),
        }
    }
}

/// The rows of a table, or the items of a list of objects.
enum Source<'s> {
    Table(Box<Table<'s>>, Vec<Column>),
    Objects(Box<Objects>),
}

impl Source<'_> {
    fn open(rows: &Rows) -> Result<Source<'_>, Failure> {
        let at = |error| rows.target.error(error);
        if rows.class != Class::Table {
            let objects = rows.store.objects(rows.target.key()).map_err(at)?;
            return Ok(Source::Objects(Box::new(objects)));
        }
        let table = rows.store.table(rows.target.key()).map_err(at)?;
        let columns = table.schema().columns.iter().map(Column::of).collect();
        Ok(Source::Table(Box::new(table), columns))
    }

    fn len(&self, rows: &Rows) -> Result<u64, Failure> {
        match self {
            Source::Table(table, _) => Ok(table.len()),
            Source::Objects(objects) => objects.len().map_err(|error| rows.target.error(error)),
        }
    }

    fn columns(&self) -> &[Column] {
        match self {
            Source::Table(_, columns) => columns,
            Source::Objects(_) => &[],
        }
    }

    /// Reads rows. Each object is a row with one value.
    fn read(&self, range: Range<u64>) -> store::Result<Vec<Vec<Value>>> {
        match self {
            Source::Table(table, _) => table.rows(range),
            Source::Objects(objects) => objects
                .items(range)
                .map(|values| values.into_iter().map(|value| vec![value]).collect()),
        }
    }
}

/// Compares two tables, or two lists of objects.
pub fn compare(args: &DiffArgs, cli: &Cli, one: &Rows, other: &Rows) -> Result<Report, Failure> {
    let sources = [Source::open(one)?, Source::open(other)?];
    let lens = [sources[0].len(one)?, sources[1].len(other)?];
    let kind = |rows: &Rows, source: &Source<'_>| match source {
        Source::Table(_, columns) => {
            let texts: Vec<String> = columns.iter().map(Column::text).collect();
            format!("table of {}", texts.join(", "))
        }
        Source::Objects(_) => rows.class.name().to_owned(),
    };
    let mut report = Report {
        names: [one, other].map(|rows| rows.target.name().to_owned()),
        types: [kind(one, &sources[0]), kind(other, &sources[1])],
        shapes: lens.map(|len| vec![len]),
        ..Report::default()
    };
    let are_tables = [one, other].map(|rows| rows.class == Class::Table);
    if are_tables[0] != are_tables[1] || sources[0].columns() != sources[1].columns() {
        report.mismatch = Some(Mismatch::Types);
        return Ok(report);
    }
    if lens[0] != lens[1] {
        report.mismatch = Some(Mismatch::Shapes);
        return Ok(report);
    }
    report.compared = lens[0];
    let tolerance = Tolerance::of(args);
    let bar = bar(!cli.quiet && !args.silent, Some(lens[0]));
    let (mut first, mut step) = (0, MAX_ROWS);
    while first < lens[0] && !(args.silent && report.differences.items > 0) {
        let range = first..lens[0].min(first + step);
        let rows = (sources[0].read(range.clone()), sources[1].read(range.clone()));
        let is_too_large = |read| matches!(read, &Err(Error::Limit { .. }));
        if range.end - first > 1 && (is_too_large(&rows.0) || is_too_large(&rows.1)) {
            step = (range.end - first) / 2;
            continue;
        }
        let rows = (
            rows.0.map_err(|error| one.target.error(error))?,
            rows.1.map_err(|error| other.target.error(error))?,
        );
        for (number, (one, other)) in (first..).zip(rows.0.iter().zip(&rows.1)) {
            let found = compare_row(number, sources[0].columns(), (one, other), tolerance);
            report.differences.merge(found);
        }
        bar.inc(range.end - first);
        first = range.end;
    }
    bar.finish_and_clear();
    report.index = report.differences.first.iter().map(|first| first.item).collect();
    Ok(report)
}

fn compare_row(
    item: u64,
    columns: &[Column],
    (one, other): (&[Value], &[Value]),
    tolerance: Tolerance,
) -> Differences {
    let mut found = Differences::default();
    for (at, (one, other)) in one.iter().zip(other).enumerate() {
        let column = columns.get(at);
        let is_time = column.is_some_and(|column| column.unit.is_some());
        let (differs, distance) = compare_values(one, other, is_time, tolerance);
        if !differs {
            continue;
        }
        found.items = 1;
        found.add_distance(distance.filter(|distance| !distance.is_nan()));
        found.first.get_or_insert_with(|| First {
            item,
            column: column.map(|column| column.name.clone()).unwrap_or_default(),
            one: text_of(one),
            other: text_of(other),
        });
    }
    found
}

/// Returns whether two values differ, and their distance, if they are numbers or times.
fn compare_values(
    one: &Value,
    other: &Value,
    are_times: bool,
    tolerance: Tolerance,
) -> (bool, Option<f64>) {
    match (number(one), number(other)) {
        (Some(one), Some(other)) if are_times && is_one_nat(one, other) => (true, None),
        (Some(one), Some(other)) => {
            let distance = tolerance.distance(one, other);
            (distance.is_some(), distance)
        }
        // NaN within a value equals NaN, as in the text.
        _ => (one != other && text_of(one) != text_of(other), None),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Int((*number).into())),
        Value::UInt(number) => Some(Number::Int((*number).into())),
        Value::Float(number) => Some(Number::Float(*number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_numbers_or_as_a_whole() {
        let exact = Tolerance { absolute: 0.0, relative: 0.0 };
        let differs = |one: &Value, other: &Value| compare_values(one, other, false, exact).0;
        let nan = Value::List(vec![Value::Float(f64::NAN)]);
        assert!(!differs(&nan, &nan.clone()));
        assert!(!differs(&Value::Int(3), &Value::Float(3.0)));
        assert!(differs(&Value::Int(3), &Value::Nil));
        assert!(differs(&Value::Str("3".to_owned()), &Value::Int(3)));
        assert!(differs(&Value::List(vec![Value::Int(1)]), &Value::List(vec![Value::Int(2)])));
        let close = Tolerance { absolute: 1.0, relative: 0.0 };
        assert!(!compare_values(&Value::Int(3), &Value::Int(4), false, close).0);
    }
}
