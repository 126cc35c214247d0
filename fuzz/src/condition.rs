//! Conditions on the rows of a table: parsed, and evaluated in all ways and by a naive evaluation.
//!
//! The input is the text of a condition on the columns `i`, `u`, `f`, `b`, `s`, `v`, `d`, `y`, `t`
//! and `a b`.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::OnceLock;

use ferroblosc_formats::store::{
    Cells, ColumnSpec, Comparison, Error, Filter, Options, QueryOptions, Store, Table, Value,
};

use crate::files::Scratch;

/// The number of rows: two whole segments whose extrema are computed, and a part of another one.
const ROWS: u64 = 33_000;
/// The maximum number of comparisons in a condition that is evaluated.
const MAX_COMPARISONS: usize = 12;

/// A table and all its values.
struct Data {
    table: Table<'static>,
    columns: HashMap<String, Vec<Value>>,
}

/// Checks the text of a condition.
pub fn condition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let filter = match Filter::parse(text) {
        Ok(filter) => filter,
        Err(Error::Filter { at, why }) => {
            assert!(text.is_char_boundary(at) && !why.is_empty(), "the position {at} is none");
            return;
        }
        Err(error) => panic!("another error: {error}"),
    };
    if count(&filter) > MAX_COMPARISONS {
        return;
    }
    let data = data();
    let options = QueryOptions::default();
    let found = match data.table.find(&filter, &options) {
        Ok(found) => found.rows,
        Err(Error::NoSuchColumn(name)) => {
            assert!(!data.columns.contains_key(&name), "column {name:?} exists");
            return;
        }
        Err(Error::Column { name, .. }) => {
            assert!(!is_comparable(&filter), "column {name:?} is refused");
            return;
        }
        Err(error) => panic!("another error: {error}"),
    };
    let mut wanted = (0..ROWS).filter(|&row| holds(&filter, data, row as usize));
    if !found.iter().copied().eq(wanted.by_ref()) {
        let first =
            (0..ROWS).find(|row| found.contains(row) != holds(&filter, data, *row as usize));
        panic!("{filter:?}: row {first:?} differs");
    }
    let mut options = QueryOptions::default();
    (options.threads, options.limit, options.uses_summaries) = (1, 5, false);
    let first = data.table.find(&filter, &options).expect("the same rows").rows;
    assert_eq!(first, found[..found.len().min(5)]);
}

fn count(filter: &Filter) -> usize {
    match filter {
        Filter::All(filters) | Filter::Any(filters) => filters.iter().map(count).sum(),
        _ => 1,
    }
}

/// Whether all constants are of the kind of their columns.
fn is_comparable(filter: &Filter) -> bool {
    match filter {
        Filter::All(filters) | Filter::Any(filters) => filters.iter().all(is_comparable),
        Filter::Compare { column, value, .. } => match column.as_str() {
            "i" | "u" | "f" | "b" | "t" => {
                matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Bool(_))
            }
            "y" => matches!(value, Value::Bytes(_)),
            _ => matches!(value, Value::Str(_)),
        },
        _ => true,
    }
}

/// Evaluates a condition for one row.
fn holds(filter: &Filter, data: &Data, row: usize) -> bool {
    match filter {
        Filter::All(filters) => filters.iter().all(|filter| holds(filter, data, row)),
        Filter::Any(filters) => filters.iter().any(|filter| holds(filter, data, row)),
        Filter::IsNull(column) => data.columns[column][row] == Value::Nil,
        Filter::IsNotNull(column) => data.columns[column][row] != Value::Nil,
        Filter::Compare { column, comparison, value } => {
            let order = match (&data.columns[column][row], value) {
                (Value::Nil, _) => return false,
                (Value::Str(one), Value::Str(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
                (Value::Bytes(one), Value::Bytes(other)) => Some(one.cmp(other)),
                (one, other) => {
                    let ((one, rest), (other, other_rest)) = (number(one), number(other));
                    let rests = rest.partial_cmp(&other_rest);
                    rests.map(|rests| one.cmp(&other).then(rests))
                }
            };
            let Some(order) = order else {
                return *comparison == Comparison::Ne;
            };
            match comparison {
                Comparison::Eq => order == Ordering::Equal,
                Comparison::Ne => order != Ordering::Equal,
                Comparison::Lt => order == Ordering::Less,
                Comparison::Le => order != Ordering::Greater,
                Comparison::Gt => order == Ordering::Greater,
                Comparison::Ge => order != Ordering::Less,
            }
        }
        other => panic!("{other:?} is unknown"),
    }
}

/// Returns the next integer below a number, and the rest, which orders numbers with the same
/// integer; it is NaN for NaN.
fn number(value: &Value) -> (i128, f64) {
    match value {
        Value::Int(number) => ((*number).into(), 0.0),
        Value::UInt(number) => ((*number).into(), 0.0),
        Value::Bool(truth) => ((*truth).into(), 0.0),
        // The conversion saturates, and NaN becomes 0.
        Value::Float(number) if number.is_finite() && number.abs() < 1e30 => {
            (number.floor() as i128, number - number.floor())
        }
        Value::Float(number) => (*number as i128, *number),
        other => panic!("{other:?} is not a number"),
    }
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

/// Returns the values of a row.
fn row(number: u64) -> Vec<Value> {
    let segment = (number / (1 << 14)) as i64;
    let nullable = |value: Value| if number % 7 == 3 { Value::Nil } else { value };
    let low = (number % 11) as i64;
    let words = ["", "a", "b", "ab", "é", "𝄞", "it's", "x\ny", "A", "\0", "zz"];
    let word = text(words[low as usize]);
    let floats = [0.0, -0.0, 0.5, -1.5, 1e300, f64::NAN, f64::INFINITY, 9.007_199_254_740_993e15];
    let integers = [i64::MIN, i64::MAX, 9_007_199_254_740_993];
    let integer = match number % 5000 {
        at @ 0..3 => integers[at as usize],
        _ => segment * 1000 + low,
    };
    vec![
        nullable(Value::Int(integer)),
        Value::Int(low * 20 + segment),
        Value::Float(if number % 100 < 8 {
            floats[(number % 100) as usize]
        } else {
            low as f64 / 4.0
        }),
        nullable(Value::Bool(low % 2 == 0)),
        nullable(word.clone()),
        nullable(word.clone()),
        nullable(word),
        Value::Bytes([&[][..], b"a", b"\xff", b"ab"][(low % 4) as usize].to_vec()),
        nullable(Value::Int(low - 5)),
        text(if segment == 1 { "one" } else { "other" }),
    ]
}

fn data() -> &'static Data {
    static DATA: OnceLock<Data> = OnceLock::new();
    DATA.get_or_init(|| {
        let scratch = Scratch::new();
        let path = scratch.path("table.b2e");
        let specs = [
            ColumnSpec::number("i", "int64").nullable(),
            ColumnSpec::number("u", "uint8"),
            ColumnSpec::number("f", "float64"),
            ColumnSpec::boolean("b").nullable(),
            ColumnSpec::utf8("s").nullable(),
            ColumnSpec::vlstring("v").nullable(),
            ColumnSpec::dictionary("d", false).nullable(),
            ColumnSpec::bytes("y", 4),
            ColumnSpec::timestamp("t", "ms", None).nullable(),
            ColumnSpec::string("a b", 8),
        ];
        let rows: Vec<Vec<Value>> = (0..ROWS).map(row).collect();
        let names: Vec<&str> = specs.iter().map(ColumnSpec::name).collect();
        let values: Vec<Vec<Value>> = (0..names.len())
            .map(|column| rows.iter().map(|row| row[column].clone()).collect())
            .collect();
        let cells: Vec<(&str, Cells<'_>)> = names
            .iter()
            .zip(&values)
            .map(|(name, values)| (*name, Cells::Values(values)))
            .collect();
        let mut writer = Store::create(&path).expect("a new store");
        let mut table = writer.create_table("/", &specs).expect("a new table");
        table.append(&cells).expect("valid rows");
        table.finish().expect("a table");
        writer.commit().expect("a store");
        let bytes = std::fs::read(&path).expect("a file");
        let store = Store::from_bytes(bytes, &Options::default()).expect("a store");
        let table = Box::leak(Box::new(store)).table("/").expect("a table");
        let values = |name: &str| table.values(name, 0..ROWS).expect("the values");
        let columns = names.iter().map(|name| ((*name).to_owned(), values(name))).collect();
        Data { table, columns }
    })
}
