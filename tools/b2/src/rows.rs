//! `cat` and `head` of tables and arrays of objects in stores: JSON, one row or value in each line,
//! or CSV.

use crate::error::{Failure, Outcome};
use crate::paths;
use crate::plural::{counted, with_article};
use crate::printer::{Form, write_csv};
use crate::store::Target;
use ferroblosc::escape::escape_json;
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{self, Class, Error, Filter, QueryOptions, Store, Value};
use std::io::{BufWriter, IsTerminal, Write};
use std::ops::Range;

/// The maximum number of rows that are read at once.
const MAX_ROWS: u64 = 1 << 12;

/// The rows and columns that `cat` and `head` print, and their format.
pub struct RowRequest<'a> {
    /// The columns, separated by commas.
    pub column: Option<&'a str>,
    /// The condition that the rows of a table satisfy.
    pub condition: Option<&'a str>,
    /// The rows as text, `START:STOP` or an index.
    pub slice: Option<&'a str>,
    /// The maximum number of rows.
    pub lines: u64,
    /// [`Form::Table`] is the same as [`Form::Json`].
    pub form: Form,
    /// Whether lines of CSV begin with the number of the row.
    pub has_index: bool,
    /// The number of significant digits of floats.
    pub digits: Option<usize>,
}

/// Prints an object that is not an array or a super-chunk.
pub fn print(target: &Target, store: &Store, class: Class, request: &RowRequest<'_>) -> Outcome {
    if request.column.is_some() && class != Class::Table {
        return Err(target.at(Failure::new("only tables have columns")));
    }
    if request.condition.is_some() && (class != Class::Table || request.form == Form::Raw) {
        return Err(target.at(Failure::new("--where selects rows of tables")));
    }
    let mut output = Lines::new(request);
    let printed = match class {
        Class::Table | Class::ObjectArray | Class::BatchArray | Class::ListArray
            if request.form == Form::Raw =>
        {
            Err(Failure::new(format!("{} has no raw bytes", with_article(class.name()))))
        }
        Class::Table => print_table(&mut output, store, target, request),
        Class::ObjectArray | Class::BatchArray | Class::ListArray => {
            print_objects(&mut output, store, target, request)
        }
        Class::EmbedStore if target.key() != "/" => {
            let hint = "b2 does not list the keys of embed stores in other stores";
            Err(Failure::new("an EmbedStore has no values").with_hint(hint))
        }
        Class::Group | Class::EmbedStore => {
            let name = paths::argument(target.name());
            let hint = format!("'b2 ls -r {name}' lists the keys");
            Err(Failure::new(format!("{} has no values", with_article(class.name())))
                .with_hint(hint))
        }
        Class::Damaged => match store.leaf(target.key()) {
            Err(error) => Err(error.into()),
            Ok(_) => Err(Failure::new("the leaf changed while it was read")),
        },
        _ => {
            let (key, class) = (target.key().to_owned(), class.name());
            Err(Error::NotData { key, class }.into())
        }
    };
    printed.map_err(|failure| target.at(failure))?;
    Ok(output.output.flush()?)
}

/// Returns a value as a line of JSON. NaN and infinities are null.
fn json_line(value: &Value) -> String {
    escape_json(&finite(value.to_json()).to_spaced_json()).into_owned()
}

/// Replaces NaN and infinities by null, which JSON does not have.
fn finite(json: Json) -> Json {
    match json {
        Json::Float(number) if !number.is_finite() => Json::Null,
        Json::List(items) => Json::List(items.into_iter().map(finite).collect()),
        Json::Object(entries) => {
            Json::Object(entries.into_iter().map(|(key, value)| (key, finite(value))).collect())
        }
        other => other,
    }
}

/// Prints rows to standard output.
struct Lines {
    output: BufWriter<Box<dyn Write>>,
    is_csv: bool,
    has_index: bool,
    digits: Option<usize>,
    is_terminal: bool,
}

impl Lines {
    fn new(request: &RowRequest<'_>) -> Lines {
        Lines {
            output: BufWriter::with_capacity(256 << 10, Box::new(crate::io::stdout())),
            is_csv: request.form == Form::Csv,
            has_index: request.has_index,
            digits: request.digits,
            is_terminal: std::io::stdout().is_terminal(),
        }
    }

    fn rounded(&self, value: Value) -> Value {
        match self.digits {
            Some(digits) => value.rounded(digits),
            None => value,
        }
    }

    /// Prints the names of columns as the first line of CSV.
    fn heading(&mut self, names: &[String]) -> Outcome {
        if !self.is_csv {
            return Ok(());
        }
        let index = self.has_index.then(|| "index".to_owned());
        let cells: Vec<String> = index.into_iter().chain(names.iter().cloned()).collect();
        write_csv(&mut self.output, &cells, self.is_terminal)
    }

    /// Prints single values, which have the numbers from `first`.
    fn values(&mut self, first: u64, values: Vec<Value>) -> Outcome {
        for (number, value) in (first..).zip(values) {
            if self.is_csv {
                self.csv_row(number, vec![value])?;
            } else {
                writeln!(self.output, "{}", json_line(&self.rounded(value)))?;
            }
        }
        Ok(())
    }

    fn csv_row(&mut self, number: u64, row: Vec<Value>) -> Outcome {
        let index = self.has_index.then(|| number.to_string());
        let fields = row.into_iter().map(|value| self.rounded(value).to_field());
        let cells: Vec<String> = index.into_iter().chain(fields).collect();
        write_csv(&mut self.output, &cells, self.is_terminal)
    }

    /// Prints rows of a table, each with its number.
    fn rows(
        &mut self,
        names: &[String],
        rows: impl IntoIterator<Item = (u64, Vec<Value>)>,
    ) -> Outcome {
        for (number, row) in rows {
            if self.is_csv {
                self.csv_row(number, row)?;
            } else {
                let names = names.iter().map(|name| Value::Str(name.clone()));
                let row = Value::Map(names.zip(row).collect());
                writeln!(self.output, "{}", json_line(&self.rounded(row)))?;
            }
        }
        Ok(())
    }

    /// Prints the values of columns, one row in each line.
    fn columns(
        &mut self,
        names: &[String],
        numbers: impl IntoIterator<Item = u64>,
        columns: Vec<Vec<Value>>,
    ) -> Outcome {
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let row = |number| (number, columns.iter_mut().filter_map(Iterator::next).collect());
        self.rows(names, numbers.into_iter().map(row))
    }
}

/// Returns the range of a slice of `len` rows.
fn range_of(request: &RowRequest<'_>, len: u64) -> Result<Range<u64>, Failure> {
    let Some(text) = request.slice.filter(|text| !text.trim().is_empty()) else {
        return Ok(0..len.min(request.lines));
    };
    let invalid = || {
        Failure::usage(format!("--slice '{text}': in stores, it is START:STOP or an index of rows"))
    };
    let index = |text: &str| -> Result<u64, Failure> {
        let index: i64 = text.trim().parse().map_err(|_| invalid())?;
        Ok(match index {
            0.. => index.unsigned_abs(),
            _ => len.saturating_sub(index.unsigned_abs()),
        })
    };
    let Some((start, stop)) = text.split_once(':') else {
        let is_before = text
            .trim()
            .strip_prefix('-')
            .is_some_and(|text| text.parse::<u64>().is_ok_and(|index| index > len));
        let index = index(text)?;
        if index >= len || is_before {
            let text =
                format!("--slice '{text}': the index is out of range for {}", counted(len, "row"));
            return Err(Failure::usage(text));
        }
        return Ok(index..index + 1);
    };
    let bound = |text: &str, default| {
        if text.trim().is_empty() { Ok(default) } else { Ok(index(text)?.min(len)) }
    };
    let start = bound(start, 0)?;
    let stop: Result<u64, Failure> = bound(stop, len);
    Ok(start..stop?.max(start))
}

fn print_table(
    output: &mut Lines,
    store: &Store,
    target: &Target,
    request: &RowRequest<'_>,
) -> Outcome {
    let table = store.table(target.key())?;
    let columns = columns_of(&table, request.column);
    let names = if columns.is_empty() { names_of(&table) } else { columns };
    let is_single = request.column.is_some() && names.len() == 1;
    let Some(condition) = request.condition else {
        output.heading(&names)?;
        let rows = range_of(request, table.len())?;
        if request.column.is_none() {
            let print = |part: Range<u64>, values| output.rows(&names, part.zip(values));
            return in_parts(rows, (|part| table.rows(part), unreadable), print);
        }
        if is_single {
            let print = |part: Range<u64>, values| output.values(part.start, values);
            return in_parts(rows, (|part| table.values(&names[0], part), Failure::from), print);
        }
        let read = |part: Range<u64>| {
            let values = names.iter().map(|name| table.values(name, part.clone()));
            values.collect()
        };
        let print = |part, values| output.columns(&names, part, values);
        return in_parts(rows, (read, Failure::from), print);
    };
    let filter = Filter::parse(condition).map_err(|error| {
        let hint = "conditions are like 'a > 3 and (b == \"x\" or c is null)'";
        Failure::usage(format!("--where: {error}")).replacing_hint(hint)
    })?;
    let mut options = QueryOptions::default();
    options.limit = request.lines;
    let found = table.find(&filter, &options)?.rows;
    let rows = range_of(request, found.len() as u64)?;
    let at = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
    let found = |part: &Range<u64>| &found[at(part.start)..at(part.end)];
    output.heading(&names)?;
    let read = |part: Range<u64>| -> store::Result<Vec<_>> {
        names.iter().map(|name| table.pick(name, found(&part))).collect()
    };
    in_parts(rows, (read, unreadable), |part, mut values| {
        if is_single && !output.is_csv {
            output.values(0, values.swap_remove(0))
        } else {
            output.columns(&names, found(&part).iter().copied(), values)
        }
    })
}

/// Reads and prints rows in parts, which are small enough for the limits of the store.
fn in_parts<T>(
    mut rows: Range<u64>,
    (read, failed): (impl Fn(Range<u64>) -> store::Result<T>, impl Fn(Error) -> Failure),
    mut print: impl FnMut(Range<u64>, T) -> Outcome,
) -> Outcome {
    let mut step = MAX_ROWS;
    while !rows.is_empty() {
        let part = rows.start..rows.end.min(rows.start.saturating_add(step));
        match read(part.clone()) {
            Err(Error::Limit { .. }) if part.end - part.start > 1 => {
                step = (part.end - part.start) / 2;
            }
            found => {
                print(part.clone(), found.map_err(&failed)?)?;
                rows.start = part.end;
            }
        }
    }
    Ok(())
}

fn unreadable(error: Error) -> Failure {
    let hint = "'--column NAME' prints one column, also if others are unreadable";
    Failure::from(error).with_hint(hint)
}

/// Returns the names in a list of columns; none without a list.
fn columns_of(table: &store::Table<'_>, list: Option<&str>) -> Vec<String> {
    match list {
        None => Vec::new(),
        // The name of a column can contain commas.
        Some(name) if table.schema().position(name).is_some() => vec![name.to_owned()],
        Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
    }
}

/// Returns the names of the stored columns.
fn names_of(table: &store::Table<'_>) -> Vec<String> {
    table.schema().columns.iter().map(|column| column.name.clone()).collect()
}

fn print_objects(
    output: &mut Lines,
    store: &Store,
    target: &Target,
    request: &RowRequest<'_>,
) -> Outcome {
    let objects = store.objects(target.key())?;
    let len = match request.slice {
        Some(_) => objects.len()?,
        None => objects.len_within(request.lines)?,
    };
    let rows = range_of(request, len)?;
    output.heading(&["value".to_owned()])?;
    let print = |part: Range<u64>, values| output.values(part.start, values);
    in_parts(rows, (|part| objects.items(part), Failure::from), print)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_too_large_together_are_read_in_smaller_parts() {
        let limit = || Error::Limit { what: String::new(), limit: 7 };
        for most in [1, 5, 1000, MAX_ROWS] {
            let read = |part: Range<u64>| {
                let count = part.end - part.start;
                if count > most { Err(limit()) } else { Ok(part.collect::<Vec<_>>()) }
            };
            let mut printed = Vec::new();
            let print = |part: Range<u64>, rows: Vec<u64>| {
                assert_eq!(Some(&part.start), rows.first());
                printed.extend(rows);
                Ok(())
            };
            assert!(in_parts(3..9000, (read, Failure::from), print).is_ok());
            assert!(printed.into_iter().eq(3..9000), "{most}");
        }
        // A row that is too large is an error.
        let read = |part: Range<u64>| if part.contains(&4) { Err(limit()) } else { Ok(()) };
        let mut last = 0;
        let print = |part: Range<u64>, ()| {
            last = part.end;
            Ok(())
        };
        assert!(in_parts(0..9, (read, Failure::from), print).is_err());
        assert_eq!(last, 4);
    }
}
