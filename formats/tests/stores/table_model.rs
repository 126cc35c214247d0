//! Random changes of tables, compared with a model.

use crate::build::Scratch;
use crate::common::check_column;
use crate::writing::{is_sound, text};
use ferroblosc_formats::store::{Cells, ColumnSpec, Store, TableWriter, Value};
use std::path::Path;

/// A generator of pseudo-random numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }
}

/// The kinds of columns of random tables.
pub const KINDS: [&str; 26] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    "timestamp",
    "string",
    "bytes",
    "ndarray",
    "ndbool",
    "utf8",
    "vlstring",
    "vlbytes",
    "object",
    "struct",
    "list",
    "listlist",
    "dictionary",
];

/// A column of a model.
#[derive(Clone, Debug)]
pub struct Model {
    pub name: String,
    kind: &'static str,
    nullable: bool,
}

/// A table of a model: the columns, and the values of each row.
#[derive(Clone, Debug, Default)]
pub struct Tabular {
    pub columns: Vec<Model>,
    pub rows: Vec<Vec<Value>>,
}

impl Model {
    fn random(random: &mut Random, number: usize) -> Model {
        let kind = random.pick(&KINDS);
        let end = *random.pick(&["", ".x", "é", " %/"]);
        Model { name: format!("c{number}{end}"), kind, nullable: random.below(2) == 0 }
    }

    /// Whether the values have different types.
    pub fn is_object(&self) -> bool {
        self.kind == "object"
    }

    fn spec(&self) -> ColumnSpec {
        let name = &*self.name;
        let int = |kind: &str| ColumnSpec::number("", kind);
        let spec = match self.kind {
            "bool" => ColumnSpec::boolean(name),
            "timestamp" => ColumnSpec::timestamp(name, "ms", None),
            "string" => ColumnSpec::string(name, 6),
            "bytes" => ColumnSpec::bytes(name, 5),
            "ndarray" => ColumnSpec::array(name, &[2, 3], "<f4"),
            "ndbool" => ColumnSpec::array(name, &[2], "|b1"),
            "utf8" => ColumnSpec::utf8(name),
            "vlstring" => ColumnSpec::vlstring(name),
            "vlbytes" => ColumnSpec::vlbytes(name),
            "object" => ColumnSpec::object(name),
            "struct" => {
                let fields =
                    [ColumnSpec::number("p", "int64"), ColumnSpec::string("q", 9).nullable()];
                ColumnSpec::structure(name, &fields)
            }
            "list" => ColumnSpec::list(name, int("int32")),
            "listlist" => ColumnSpec::list(name, ColumnSpec::list("", ColumnSpec::string("", 8))),
            "dictionary" => ColumnSpec::dictionary(name, false),
            number => ColumnSpec::number(name, number),
        };
        if self.nullable { spec.nullable() } else { spec }
    }

    fn value(&self, random: &mut Random) -> Value {
        if self.nullable && random.below(4) == 0 {
            return Value::Nil;
        }
        let low = random.below(1 << 7) as i64;
        let word = |random: &mut Random| {
            let words = ["", "a", "é€", "long x", "𝄞", "zz"];
            text(words[random.below(6) as usize])
        };
        let float = |random: &mut Random| (random.below(4000) as f64 - 2000.0) / 8.0;
        match self.kind {
            "int8" | "int16" => Value::Int(low - 64),
            "int32" => Value::Int(*random.pick(&[low, i64::from(i32::MIN), i64::from(i32::MAX)])),
            "int64" => Value::Int(*random.pick(&[low, i64::MIN, i64::MAX])),
            "uint8" | "uint16" | "uint32" => Value::Int(low),
            "uint64" => [Value::Int(low), Value::UInt(u64::MAX)][random.below(2) as usize].clone(),
            "float32" | "float64" => Value::Float(float(random)),
            "complex64" | "complex128" => Value::Complex(float(random), float(random)),
            "bool" => Value::Bool(low % 2 == 0),
            "timestamp" => Value::Int(low * 1_000_000 - 5),
            "string" | "utf8" | "vlstring" => word(random),
            "dictionary" => text(&format!("word {}", random.below(9))),
            "bytes" | "vlbytes" => {
                let len = random.below(6);
                Value::Bytes((0..len).map(|_| 1 + random.below(255) as u8).collect())
            }
            "ndarray" => {
                let row = |random: &mut Random| {
                    Value::List((0..3).map(|_| Value::Float(float(random))).collect())
                };
                Value::List(vec![row(random), row(random)])
            }
            "ndbool" => Value::List((0..2).map(|_| Value::Bool(random.below(2) == 0)).collect()),
            "struct" => {
                let second = if low < 40 { Value::Nil } else { word(random) };
                Value::Map(vec![(text("p"), Value::Int(low)), (text("q"), second)])
            }
            "list" => Value::List(
                (0..random.below(4)).map(|item| Value::Int(item as i64 - low)).collect(),
            ),
            "listlist" => Value::List(
                (0..random.below(3))
                    .map(|_| Value::List(vec![word(random), word(random)]))
                    .collect(),
            ),
            "object" => match random.below(4) {
                0 => Value::Tuple(vec![Value::Int(low), word(random)]),
                1 => Value::Map(vec![(text("k"), Value::List(vec![Value::Nil]))]),
                2 => Value::Float(float(random)),
                _ => Value::Bytes(vec![0, 255]),
            },
            other => panic!("{other}"),
        }
    }
}

/// Returns the number of a column that no other one has or had.
fn unused(random: &mut Random) -> usize {
    100 + random.below(1 << 30) as usize
}

impl Tabular {
    /// Returns a model without rows.
    pub fn random(random: &mut Random) -> Tabular {
        let count = 1 + random.below(6) as usize;
        let columns = (0..count).map(|number| Model::random(random, number)).collect();
        Tabular { columns, rows: Vec::new() }
    }

    pub fn specs(&self) -> Vec<ColumnSpec> {
        self.columns.iter().map(Model::spec).collect()
    }

    fn new_rows(&self, random: &mut Random, count: u64) -> Vec<Vec<Value>> {
        let row = |random: &mut Random| {
            self.columns.iter().map(|column| column.value(random)).collect::<Vec<Value>>()
        };
        (0..count).map(|_| row(random)).collect()
    }

    /// Changes the table and the model equally.
    pub fn change(&mut self, table: &mut TableWriter<'_>, random: &mut Random, is_zip: bool) {
        let len = self.rows.len() as u64;
        match random.below(10) {
            9 => {
                let number = random.below(self.columns.len() as u64) as usize;
                let unused = unused(random);
                let name = Model::random(random, unused).name;
                table.rename_column(&self.columns[number].name, &name).unwrap();
                self.columns[number].name = name;
            }
            0 | 1 => {
                let count = *random.pick(&[1, 3, 50, 3000]);
                let rows = self.new_rows(random, count);
                table.append_rows(&rows).unwrap();
                self.rows.extend(rows);
            }
            2 => {
                let count = random.below(9);
                let rows = self.new_rows(random, count);
                for row in rows {
                    let cells = self.columns.iter().zip(&row).map(|(column, value)| {
                        (&*column.name, Cells::Values(std::slice::from_ref(value)))
                    });
                    table.append(&cells.collect::<Vec<_>>()).unwrap();
                    self.rows.push(row);
                }
            }
            3 if len > 0 => {
                let rows: Vec<u64> = (0..1 + random.below(40)).map(|_| random.below(len)).collect();
                table.delete(&rows).unwrap();
                let mut number = 0;
                self.rows.retain(|_| {
                    number += 1;
                    !rows.contains(&(number - 1))
                });
            }
            4 if len > 0 => {
                // The last rows.
                let first = len - 1 - random.below(len.min(5));
                table.delete(&(first..len).collect::<Vec<_>>()).unwrap();
                self.rows.truncate(first as usize);
            }
            5 | 6 if len > 0 => {
                let column = random.below(self.columns.len() as u64) as usize;
                if self.columns[column].kind == "utf8" && !is_zip {
                    return;
                }
                let mut rows: Vec<u64> =
                    (0..1 + random.below(20)).map(|_| random.below(len)).collect();
                rows.sort_unstable();
                rows.dedup();
                let values: Vec<Value> =
                    rows.iter().map(|_| self.columns[column].value(random)).collect();
                let name = self.columns[column].name.clone();
                table.set(&name, &rows, Cells::Values(&values)).unwrap();
                for (&row, value) in rows.iter().zip(values) {
                    self.rows[row as usize][column] = value;
                }
            }
            7 => {
                let unused = unused(random);
                let column = Model::random(random, unused);
                let values: Vec<Value> = (0..len).map(|_| column.value(random)).collect();
                table.add_column(&column.spec(), Some(Cells::Values(&values))).unwrap();
                for (row, value) in self.rows.iter_mut().zip(values) {
                    row.push(value);
                }
                self.columns.push(column);
            }
            8 if self.columns.len() > 1 && random.below(3) == 0 => {
                let number = random.below(self.columns.len() as u64) as usize;
                let name = self.columns[number].name.clone();
                table.drop_column(&name).unwrap();
                self.columns.remove(number);
                self.rows.iter_mut().for_each(|row| drop(row.remove(number)));
            }
            _ if is_zip => table.compact().unwrap(),
            _ => {}
        }
        assert_eq!(table.len(), self.rows.len() as u64);
    }

    /// Fails if a table differs.
    pub fn check(&self, store: &Store, key: &str) {
        let table = store.table(key).unwrap();
        assert_eq!(table.findings(), []);
        let names: Vec<&str> =
            table.schema().columns.iter().map(|column| column.name.as_str()).collect();
        let wanted: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, wanted);
        assert_eq!(table.len(), self.rows.len() as u64);
        let rows = table.rows(0..table.len()).unwrap();
        for (number, (found, wanted)) in rows.iter().zip(&self.rows).enumerate() {
            assert_eq!(found, wanted, "row {number}");
        }
        for (column, name) in names.iter().enumerate() {
            let values: Vec<Value> = rows.iter().map(|row| row[column].clone()).collect();
            check_column(&table, name, &values);
        }
    }
}

/// Commits random changes of the table.
pub fn change(path: &Path, key: &str, model: &mut Tabular, random: &mut Random) {
    let mut writer = Store::change(path).unwrap();
    let is_zip = !path.is_dir();
    for _ in 0..1 + random.below(2) {
        let mut table = writer.table(key).unwrap();
        for _ in 0..random.below(6) {
            model.change(&mut table, random, is_zip);
        }
        assert_eq!(table.finish().unwrap().rows, model.rows.len() as u64);
    }
    writer.commit().unwrap();
}

/// Creates a random table in a new store and returns its model.
pub fn create(path: &Path, key: &str, random: &mut Random) -> Tabular {
    let mut model = Tabular::random(random);
    let mut writer = Store::create(path).unwrap();
    let mut table = writer.create_table(key, &model.specs()).unwrap();
    for _ in 0..random.below(6) {
        model.change(&mut table, random, true);
    }
    table.finish().unwrap();
    writer.commit().unwrap();
    model
}

#[test]
fn tables_equal_a_model_after_random_changes() {
    let scratch = Scratch::new();
    let seeds = std::env::var("FERROBLOSC_TABLE_SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let mut random = Random(seed);
        let end = *random.pick(&["b2z", "b2d", "b2e"]);
        let path = scratch.path(&format!("t{seed}.{end}"));
        let key = if end == "b2e" { "/" } else { *random.pick(&["/", "/g/table"]) };
        let mut model = create(&path, key, &mut random);
        for _ in 0..3 {
            let store = Store::open(&path).unwrap();
            is_sound(&store);
            model.check(&store, key);
            change(&path, key, &mut model, &mut random);
        }
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        model.check(&store, key);
    }
}
