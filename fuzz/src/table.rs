//! Sequences of changes of a table in a store, which a model checks.
//!
//! The input is a program: the first bytes select the container and the columns, and each operation
//! is one byte with arguments in the bytes after it. Some arguments are invalid: such operations
//! must be refused, and change nothing.

use std::path::Path;

use ferroblosc_formats::store::{
    Cells, ColumnSpec, Error, Result, Severity, Store, StoreWriter, TableWriter, Value,
};

use crate::alloc::largest_during;
use crate::files::Scratch;
use crate::store::check_texts;

/// The maximum number of operations.
const MAX_OPERATIONS: usize = 30;
/// The maximum number of rows.
const MAX_ROWS: usize = 10_000;
/// The maximum number of columns.
const MAX_COLUMNS: usize = 6;
/// The maximum size of a single allocation, in bytes: codec states and the chunks of a table.
const FIXED_ALLOCATION: usize = 64 << 20;

/// The kinds of columns.
const KINDS: [&str; 18] = [
    "int8",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "bool",
    "timestamp",
    "string",
    "bytes",
    "ndarray",
    "utf8",
    "vlstring",
    "vlbytes",
    "object",
    "struct",
    "list",
    "dictionary",
    "limited",
];
/// Names of columns: nested ones, invalid ones, and names of leaves of others.
const NAMES: [&str; 14] =
    ["a", "b", "c", "g.x", "g.y", "é ü", "p%/", "a_dict", "_a", "", "A", "a.b", "g", "c\\.d"];

/// A program that is executed. After its end, all arguments are 0.
struct Program<'p> {
    rest: &'p [u8],
}

impl Program<'_> {
    fn next(&mut self) -> usize {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                byte.into()
            }
            None => 0,
        }
    }

    /// Returns an argument below `bound`, or 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        self.next().checked_rem(bound).unwrap_or(0)
    }
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: &'static str,
    nullable: bool,
}

#[derive(Clone, Debug, Default)]
struct Model {
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

impl Column {
    fn draw(program: &mut Program<'_>) -> Column {
        let kind = KINDS[program.below(KINDS.len())];
        let name = NAMES[program.below(NAMES.len())].to_owned();
        Column { name, kind, nullable: program.below(2) == 0 }
    }

    fn spec(&self) -> ColumnSpec {
        let name = &*self.name;
        let spec = match self.kind {
            "bool" => ColumnSpec::boolean(name),
            "timestamp" => ColumnSpec::timestamp(name, "us", Some("UTC")),
            "string" => ColumnSpec::string(name, 3),
            "bytes" => ColumnSpec::bytes(name, 3),
            "ndarray" => ColumnSpec::array(name, &[2], "<i2"),
            "utf8" => ColumnSpec::utf8(name),
            "vlstring" => ColumnSpec::vlstring(name),
            "vlbytes" => ColumnSpec::vlbytes(name),
            "object" => ColumnSpec::object(name),
            "struct" => ColumnSpec::structure(name, &[ColumnSpec::number("p", "int32")]),
            "list" => ColumnSpec::list(name, ColumnSpec::number("", "int16")),
            "dictionary" => ColumnSpec::dictionary(name, false),
            "limited" => {
                let default = ColumnSpec::number(name, "int16").default_value(&Value::Int(7));
                default.expect("a scalar")
            }
            number => ColumnSpec::number(name, number),
        };
        if self.nullable { spec.nullable() } else { spec }
    }

    /// Returns a value of the column. It is invalid for some arguments.
    fn value(&self, program: &mut Program<'_>) -> (Value, bool) {
        let byte = program.next();
        if byte == 255 {
            return (Value::Nil, self.nullable);
        }
        if byte == 254 {
            let is_valid = self.kind == "object";
            return (Value::Tuple(vec![Value::Int(1)]), is_valid);
        }
        let words = ["", "x", "é", "xyz", "𝄞", "a word that is long"];
        let word = words[byte % words.len()];
        let number = byte as i64;
        match self.kind {
            "int8" => (Value::Int(number - 100), number - 100 < 128),
            "uint64" if byte == 7 => (Value::UInt(u64::MAX), true),
            "uint64" => (Value::Int(number - 9), number >= 9),
            "float32" | "float64" => (Value::Float(number as f64 / 8.0), true),
            "complex64" => (Value::Complex(number as f64, -0.5), true),
            "bool" => (Value::Bool(byte % 2 == 0), true),
            "timestamp" | "limited" => (Value::Int(number), true),
            "string" => (text(word), word.chars().count() <= 3),
            "bytes" | "vlbytes" => {
                let bytes = vec![number as u8; byte % 5];
                let is_cut = self.kind == "bytes" && (bytes.len() > 3 || bytes.last() == Some(&0));
                (Value::Bytes(bytes), !is_cut)
            }
            "ndarray" => {
                let items = vec![Value::Int(number); if byte % 9 == 0 { 3 } else { 2 }];
                let is_valid = items.len() == 2;
                (Value::List(items), is_valid)
            }
            "object" => (Value::List(vec![text(word), Value::Float(0.5), Value::Nil]), true),
            "struct" => {
                let name = if byte % 9 == 0 { "q" } else { "p" };
                (Value::Map(vec![(text(name), Value::Int(number))]), name == "p")
            }
            "list" => (
                Value::List(vec![Value::Int(number * 200); byte % 4]),
                byte % 4 == 0 || number * 200 < 1 << 15,
            ),
            _ => (text(word), true),
        }
    }
}

/// Returns cells, and whether they are valid.
fn column_values(column: &Column, program: &mut Program<'_>, count: usize) -> (Vec<Value>, bool) {
    let drawn = 1 + program.below(4);
    let mut are_valid = true;
    let values: Vec<Value> = (0..drawn.min(count))
        .map(|_| {
            let (value, is_valid) = column.value(program);
            are_valid &= is_valid;
            value
        })
        .collect();
    ((0..count).map(|at| values[at % drawn].clone()).collect(), are_valid)
}

impl Model {
    fn position(&self, program: &mut Program<'_>) -> usize {
        program.below(self.columns.len())
    }

    /// Executes an operation on a table and the model.
    fn operate(&mut self, table: &mut TableWriter<'_>, program: &mut Program<'_>) {
        let len = self.rows.len();
        match program.below(8) {
            0 | 1 => {
                let counts = [0, 1, 2, 9, 100, 3000];
                let count = counts[program.below(counts.len())].min(MAX_ROWS - len);
                let mut all = Vec::new();
                let mut are_valid = true;
                for column in &self.columns {
                    let (values, is_valid) = column_values(column, program, count);
                    are_valid &= is_valid;
                    all.push(values);
                }
                // A column with another number of values is refused.
                if program.below(32) == 31 && all.len() > 1 {
                    all[0].push(Value::Nil);
                    are_valid = false;
                }
                let names: Vec<String> =
                    self.columns.iter().map(|column| column.name.clone()).collect();
                let cells: Vec<(&str, Cells<'_>)> = names
                    .iter()
                    .zip(&all)
                    .map(|(name, values)| (name.as_str(), Cells::Values(values)))
                    .collect();
                let result = table.append(&cells);
                assert_eq!(result.is_ok(), are_valid, "append: {result:?}");
                if are_valid {
                    let row = |at: usize| all.iter().map(|values| values[at].clone()).collect();
                    self.rows.extend((0..count).map(row));
                }
            }
            2 => {
                // Rows are given in any order, and more than once; some do not exist.
                let rows: Vec<u64> = (0..program.below(5)).map(|_| program.index(len)).collect();
                let are_valid = rows.iter().all(|&row| row < len as u64);
                let result = table.delete(&rows);
                assert_eq!(result.is_ok(), are_valid, "delete: {result:?}");
                if are_valid {
                    self.remove(&rows);
                }
            }
            3 => {
                let count = program.below(9).min(len);
                let rows: Vec<u64> = ((len - count) as u64..len as u64).collect();
                table.delete(&rows).expect("the last rows");
                self.rows.truncate(len - count);
            }
            4 => {
                let at = self.position(program);
                let mut rows: Vec<u64> =
                    (0..program.below(5)).map(|_| program.index(len)).collect();
                rows.sort_unstable();
                let column = &self.columns[at];
                let (values, are_valid) = column_values(column, program, rows.len());
                let are_valid = are_valid
                    && rows.is_sorted_by(|one, other| one < other)
                    && rows.iter().all(|&row| row < len as u64);
                let result = table.set(&column.name, &rows, Cells::Values(&values));
                if let Err(Error::Refused { .. }) = result {
                    // A column of texts in a directory.
                    assert_eq!(column.kind, "utf8");
                    return;
                }
                assert_eq!(result.is_ok(), are_valid, "set: {result:?}");
                if are_valid {
                    for (&row, value) in rows.iter().zip(values) {
                        self.rows[row as usize][at] = value;
                    }
                }
            }
            5 => match table.compact() {
                // Tables in directories.
                Ok(()) | Err(Error::Refused { .. }) => {}
                Err(error) => panic!("compact: {error}"),
            },
            6 if self.columns.len() < MAX_COLUMNS => {
                let column = Column::draw(program);
                let (values, are_valid) = column_values(&column, program, len);
                match table.add_column(&column.spec(), Some(Cells::Values(&values))) {
                    Ok(()) => {
                        assert!(are_valid, "invalid values are added");
                        self.rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value));
                        self.columns.push(column);
                    }
                    Err(Error::InvalidName { .. }) => {}
                    Err(error) => assert!(!are_valid, "add_column: {error}"),
                }
            }
            6 => {
                let at = self.position(program);
                table.drop_column(&self.columns[at].name).expect("a column");
                self.columns.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
                if self.columns.is_empty() {
                    // Rows without columns stay.
                    assert_eq!(table.len(), self.rows.len() as u64);
                }
            }
            _ => {
                let at = self.position(program);
                let name = NAMES[program.below(NAMES.len())];
                match table.rename_column(&self.columns[at].name, name) {
                    Ok(()) => name.clone_into(&mut self.columns[at].name),
                    Err(Error::InvalidName { .. }) => {}
                    Err(error) => panic!("rename_column: {error}"),
                }
            }
        }
    }

    fn remove(&mut self, rows: &[u64]) {
        let mut number = 0;
        self.rows.retain(|_| {
            number += 1;
            !rows.contains(&(number - 1))
        });
    }

    /// Fails if the table in a store differs.
    fn check(&self, path: &Path, key: &str) {
        let store = Store::open(path).expect("a store");
        let findings = store.verify().expect("a verification");
        let is_damage = |severity| severity == Severity::Damage;
        assert!(findings.iter().all(|finding| !is_damage(finding.severity)), "{findings:?}");
        let table = store.table(key).expect("a table");
        let names: Vec<&str> =
            table.schema().columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, self.columns.iter().map(|column| &*column.name).collect::<Vec<_>>());
        let rows = table.rows(0..table.len()).expect("the rows");
        assert_eq!(rows.len(), self.rows.len());
        for (number, (found, wanted)) in rows.iter().zip(&self.rows).enumerate() {
            assert_eq!(found, wanted, "row {number}");
        }
        for (at, name) in names.iter().enumerate() {
            if let Ok(texts) = table.texts(name, 0..table.len()) {
                let values: Vec<Value> = rows.iter().map(|row| row[at].clone()).collect();
                check_texts(&texts, &values);
            }
        }
    }
}

impl Program<'_> {
    /// Returns an index, mostly a valid one.
    fn index(&mut self, count: usize) -> u64 {
        match (self.next(), count) {
            (255, _) => u64::MAX,
            (254, _) | (_, 0) => count as u64,
            (byte, _) => (byte * 37 % count) as u64,
        }
    }
}

/// Executes a program: valid operations behave as the model, and invalid ones are refused.
pub fn table(bytes: &[u8]) {
    let ((), largest) = largest_during(|| run(&mut Program { rest: bytes }));
    assert!(
        largest <= FIXED_ALLOCATION,
        "allocated {largest} bytes at once, at most {FIXED_ALLOCATION} are allowed"
    );
}

fn run(program: &mut Program<'_>) {
    let scratch = Scratch::new();
    let (end, key) = [("b2z", "/"), ("b2z", "/g/t"), ("b2d", "/"), ("b2d", "/t"), ("b2e", "/")]
        [program.below(5)];
    let path = scratch.path(&format!("table.{end}"));
    let mut model = Model::default();
    model.columns = (0..1 + program.below(4)).map(|_| Column::draw(program)).collect();
    let specs: Vec<ColumnSpec> = model.columns.iter().map(Column::spec).collect();
    let mut writer = Store::create(&path).expect("a new store");
    match writer.create_table(key, &specs) {
        Ok(table) => finish(table).expect("a new table"),
        Err(Error::InvalidName { .. } | Error::Schema { .. }) => return,
        Err(error) => panic!("create_table: {error}"),
    }
    let mut operations = 0;
    while operations < MAX_OPERATIONS && !program.rest.is_empty() && !model.columns.is_empty() {
        operations += 1;
        let mut table = writer.table(key).expect("the table");
        let committed = model.clone();
        for _ in 0..1 + program.below(4) {
            if model.columns.is_empty() {
                break;
            }
            model.operate(&mut table, program);
            assert_eq!(table.len(), model.rows.len() as u64);
        }
        match program.below(8) {
            // The changes are discarded.
            7 => {
                drop(table);
                model = committed;
            }
            end => {
                finish(table).expect("changes of a table");
                if end < 3 {
                    writer = commit(writer, &path);
                    model.check(&path, key);
                }
            }
        }
    }
    drop(commit(writer, &path));
    model.check(&path, key);
}

fn finish(table: TableWriter<'_>) -> Result<()> {
    table.finish().map(drop)
}

/// Commits and begins the next change.
fn commit(writer: StoreWriter, path: &Path) -> StoreWriter {
    writer.commit().expect("a commit");
    Store::change(path).expect("the store")
}
