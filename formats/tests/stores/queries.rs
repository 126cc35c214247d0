//! Conditions on the rows of tables, compared with a model.

use crate::build::Scratch;
use crate::common::{fixture, open};
use crate::table_model::{self, Random, Tabular};
use crate::writing::text;
use ferroblosc_formats::store::{
    Cells, ColumnSpec, Comparison, Error, Filter, QueryOptions, Store, Value,
};
use std::cmp::Ordering;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
    Comparison::Gt,
    Comparison::Ge,
];

/// Returns the order of a value and a constant of the same type, in a simple form.
fn order(value: &Value, constant: &Value) -> Option<Ordering> {
    match (value, constant) {
        (Value::Str(one), Value::Str(other)) => Some(one.cmp(other)),
        (Value::Bytes(one), Value::Bytes(other)) => Some(one.cmp(other)),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        (Value::Int(one), Value::Int(other)) => Some(one.cmp(other)),
        (Value::UInt(_), Value::Int(_)) => Some(Ordering::Greater),
        (Value::Int(_), Value::UInt(_)) => Some(Ordering::Less),
        (Value::UInt(one), Value::UInt(other)) => Some(one.cmp(other)),
        (Value::Float(one), Value::Float(other)) => one.partial_cmp(other),
        other => panic!("{other:?}"),
    }
}

fn holds(model: &Tabular, row: &[Value], filter: &Filter) -> bool {
    let value = |name: &str| {
        let at = model.columns.iter().position(|column| column.name == name).unwrap();
        &row[at]
    };
    match filter {
        Filter::All(filters) => filters.iter().all(|filter| holds(model, row, filter)),
        Filter::Any(filters) => filters.iter().any(|filter| holds(model, row, filter)),
        Filter::IsNull(name) => *value(name) == Value::Nil,
        Filter::IsNotNull(name) => *value(name) != Value::Nil,
        Filter::Compare { column, comparison, value: constant } => {
            let value = value(column);
            if *value == Value::Nil {
                return false;
            }
            let order = order(value, constant);
            match comparison {
                Comparison::Eq => order == Some(Ordering::Equal),
                Comparison::Ne => order != Some(Ordering::Equal),
                Comparison::Lt => order == Some(Ordering::Less),
                Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                Comparison::Gt => order == Some(Ordering::Greater),
                Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Returns a random condition; constants are values of the table.
fn filter(model: &Tabular, random: &mut Random, depth: usize) -> Filter {
    if depth > 0 && random.below(2) == 0 {
        let filters = (0..1 + random.below(3)).map(|_| filter(model, random, depth - 1)).collect();
        return if random.below(2) == 0 { Filter::All(filters) } else { Filter::Any(filters) };
    }
    let column = random.below(model.columns.len() as u64) as usize;
    let name = &*model.columns[column].name;
    let constants: Vec<&Value> = model
        .rows
        .iter()
        .map(|row| &row[column])
        .filter(|value| {
            matches!(
                value,
                Value::Bool(_)
                    | Value::Int(_)
                    | Value::UInt(_)
                    | Value::Float(_)
                    | Value::Str(_)
                    | Value::Bytes(_)
            )
        })
        .take(50)
        .collect();
    let is_object = model.columns[column].is_object();
    if constants.is_empty() || is_object || random.below(5) == 0 {
        let name = name.to_owned();
        return if random.below(2) == 0 { Filter::IsNull(name) } else { Filter::IsNotNull(name) };
    }
    let constant = (*random.pick(&constants)).clone();
    Filter::compare(name, *random.pick(&COMPARISONS), constant)
}

fn options(threads: usize, limit: u64, uses_summaries: bool) -> QueryOptions {
    let mut options = QueryOptions::default();
    (options.threads, options.limit, options.uses_summaries) = (threads, limit, uses_summaries);
    options
}

#[test]
fn found_rows_equal_those_of_a_model() {
    let scratch = Scratch::new();
    let mut found = 0;
    for seed in 0..20 {
        let mut random = Random(seed ^ 1 << 30);
        let path = scratch.path(&format!("q{seed}.b2z"));
        let mut model = table_model::create(&path, "/", &mut random);
        table_model::change(&path, "/", &mut model, &mut random);
        let store = Store::open(&path).unwrap();
        let table = store.table("/").unwrap();
        for _ in 0..15 {
            let filter = filter(&model, &mut random, 2);
            let wanted: Vec<u64> = (0..)
                .zip(&model.rows)
                .filter(|(_, row)| holds(&model, row, &filter))
                .map(|(row, _)| row)
                .collect();
            for (threads, uses_summaries) in [(1, true), (3, false), (0, true)] {
                let options = options(threads, u64::MAX, uses_summaries);
                let matches = table.find(&filter, &options).unwrap();
                assert_eq!(matches.rows, wanted, "seed {seed}: {filter:?}");
            }
            let limit = random.below(9);
            let matches = table.find(&filter, &options(2, limit, true)).unwrap();
            let limited = &wanted[..wanted.len().min(limit as usize)];
            assert_eq!(matches.rows, limited, "seed {seed}: {filter:?}");
            let names: Vec<&str> =
                model.columns.iter().rev().map(|column| column.name.as_str()).collect();
            let values = table.query(&filter, &names, &QueryOptions::default()).unwrap();
            for (column, values) in (0..model.columns.len()).rev().zip(values) {
                let wanted: Vec<Value> =
                    wanted.iter().map(|&row| model.rows[row as usize][column].clone()).collect();
                assert_eq!(values, wanted);
            }
            found += wanted.len();
        }
    }
    assert!(found > 500, "{found}");
}

/// Returns a table of 200,000 rows with ascending numbers, in which each 1000th row is deleted.
fn large(scratch: &Scratch) -> Store {
    let path = scratch.path("large.b2z");
    let mut writer = Store::create(&path).unwrap();
    let specs = [
        ColumnSpec::number("n", "int32"),
        ColumnSpec::number("f", "float64").nullable(),
        ColumnSpec::dictionary("d", false),
    ];
    let mut table = writer.create_table("/", &specs).unwrap();
    for start in (0..200_000i32).step_by(50_000) {
        let numbers: Vec<u8> = (start..start + 50_000).flat_map(i32::to_le_bytes).collect();
        let floats: Vec<u8> =
            (start..start + 50_000).flat_map(|n| (f64::from(n) / 2.0).to_le_bytes()).collect();
        let valid: Vec<bool> = (start..start + 50_000).map(|n| n % 7 != 0).collect();
        let words: Vec<Value> =
            (start..start + 50_000).map(|n| text(&format!("w{}", n % 10))).collect();
        table
            .append(&[
                ("n", Cells::Items { bytes: &numbers, valid: None }),
                ("f", Cells::Items { bytes: &floats, valid: Some(&valid) }),
                ("d", Cells::Values(&words)),
            ])
            .unwrap();
    }
    let deleted: Vec<u64> = (0..200_000).step_by(1000).collect();
    table.delete(&deleted).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    Store::open(&path).unwrap()
}

#[test]
fn segments_without_matches_are_not_read_again() {
    let scratch = Scratch::new();
    let store = large(&scratch);
    let table = store.table("/").unwrap();
    let parsed = |text: &str| Filter::parse(text).unwrap();
    let find = |text: &str| table.find(&parsed(text), &QueryOptions::default()).unwrap();
    // 151 rows below are deleted.
    let wanted = 150_500 - 151;
    let first = find("n == 150500");
    assert_eq!((first.rows, first.skipped), (vec![wanted], 0));
    let second = find("n = 150500");
    assert_eq!(second.rows, [wanted]);
    assert!(second.skipped > 150_000 && second.compared < 50_000, "{second:?}");
    // The second condition is evaluated for the rows that the first one left.
    let both = find("n >= 199990 and d == 'w3'");
    assert_eq!((both.rows.len(), both.rows[0]), (1, 199_993 - 200));
    assert!(both.compared < 50_000, "{both:?}");
    // Each condition holds for about half of the rows, and both for a few.
    let between = find("n >= 100001 and n < 100005");
    assert_eq!(between.rows, [100_001 - 101, 100_002 - 101, 100_003 - 101, 100_004 - 101]);
    assert!(between.compared < 60_000, "{between:?}");
    assert_eq!(find("n < 0").rows, [0; 0]);
    assert_eq!(find("n > 100 or n <= 100").rows.len(), 199_800);
    assert_eq!(find("f is null").rows.len() + find("f is not null").rows.len(), 199_800);
    assert_eq!(find("f != 1e9").rows.len(), find("f is not null").rows.len());
    assert_eq!(find("f > 99999.0 and n != 199999").rows, [0; 0]);
    assert_eq!(find("f > 99998.5 and n != 199999").rows, [199_998 - 200]);
}

#[test]
fn stored_extrema_are_used_if_they_describe_the_column() {
    let store = open("c_idx_summary.b2z");
    let table = store.table("/").unwrap();
    let filter = Filter::parse("i > 1000").unwrap();
    let matches = table.find(&filter, &QueryOptions::default()).unwrap();
    assert_eq!((matches.rows.len(), matches.compared, matches.skipped), (0, 0, 40));
    let matches = table.find(&filter, &options(1, u64::MAX, false)).unwrap();
    assert_eq!((matches.rows.len(), matches.compared, matches.skipped), (0, 40, 0));
    // A stale index, and one that was built for other values.
    let stale = open("c_idx_stale.b2z");
    let table = stale.table("/").unwrap();
    let matches = table.find(&filter, &QueryOptions::default()).unwrap();
    assert_eq!(matches.skipped, 0);
    for name in ["c_ints.b2z", "c_floats.b2z", "c_bool.b2z", "c_big.b2z", "c_nulls_mask.b2z"] {
        let store = open(name);
        let table = store.table("/").unwrap();
        for column in &table.schema().columns {
            let name = &column.name;
            let step = usize::try_from(table.len() / 20).unwrap().max(1);
            for value in table.values(name, 0..table.len()).unwrap().into_iter().step_by(step) {
                let is_number = matches!(
                    value,
                    Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Bool(_)
                );
                for comparison in COMPARISONS.into_iter().filter(|_| is_number) {
                    let filter = Filter::compare(name, comparison, value.clone());
                    let with = table.find(&filter, &QueryOptions::default()).unwrap();
                    let without = table.find(&filter, &options(1, u64::MAX, false)).unwrap();
                    assert_eq!(with.rows, without.rows, "{name} {filter:?}");
                }
            }
        }
    }
}

#[test]
fn conditions_distinguish_nan_and_nulls() {
    let scratch = Scratch::new();
    let path = scratch.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let mut table =
        writer.create_table("/", &[ColumnSpec::number("f", "float32").nullable()]).unwrap();
    let values = [Value::Float(f64::NAN), Value::Nil, Value::Float(0.5)];
    table.append(&[("f", Cells::Values(&values))]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    for (source, rows) in [
        ("f == nan", &[][..]),
        ("f != nan", &[0, 2]),
        ("f != 0.5", &[0]),
        ("f >= 0", &[2]),
        ("f < 1", &[2]),
        ("f is null", &[1]),
        ("f is not null and f != 3", &[0, 2]),
    ] {
        // The second time, the extrema are known.
        for _ in 0..2 {
            let filter = Filter::parse(source).unwrap();
            let found = table.find(&filter, &QueryOptions::default()).unwrap();
            assert_eq!(found.rows, rows, "{source}");
        }
    }
}

#[test]
fn conditions_that_cannot_be_evaluated_are_refused() {
    let store = open("c_nulls_mask.b2z");
    let table = store.table("/").unwrap();
    let find = |text: &str| {
        table.find(&Filter::parse(text).unwrap(), &QueryOptions::default()).map(|found| found.rows)
    };
    assert!(matches!(find("missing == 1"), Err(Error::NoSuchColumn(_))));
    assert!(matches!(find("i == 1 and missing is null"), Err(Error::NoSuchColumn(_))));
    assert!(matches!(find("i == 'x'"), Err(Error::Column { .. })));
    assert!(matches!(find("s == 1"), Err(Error::Column { .. })));
    assert!(matches!(find("by == 'x'"), Err(Error::Column { .. })));
    assert!(matches!(find("nd == 1"), Err(Error::Column { .. })));
    assert!(find("nd is null").is_ok());
    assert!(matches!(table.pick("i", &[1, 0]), Err(Error::Value(_))));
    assert!(matches!(table.pick("i", &[1 << 40]), Err(Error::OutOfRange { .. })));
    assert_eq!(table.pick_items("i", &[0, 2]).unwrap().bytes.len(), 8);
    // Damaged values are errors only if they are read.
    let store = Store::open(fixture("x_dict_code.b2z")).unwrap();
    let table = store.table("/").unwrap();
    let name = table.schema().columns[0].name.clone();
    let filter = Filter::compare(&name, Comparison::Eq, text("x"));
    let found = table.find(&filter, &QueryOptions::default());
    assert!(matches!(found, Err(Error::Row { .. })), "{found:?}");
}

#[test]
fn results_above_the_limit_are_refused() {
    let scratch = Scratch::new();
    drop(large(&scratch));
    let mut limits = ferroblosc_formats::store::Options::default();
    limits.max_message = 1 << 20;
    let store = Store::open_with(scratch.path("large.b2z"), &limits).unwrap();
    let table = store.table("/").unwrap();
    let all = Filter::parse("n >= 0").unwrap();
    let found = table.find(&all, &QueryOptions::default());
    assert!(matches!(found, Err(Error::Limit { .. })), "{found:?}");
    assert_eq!(table.find(&all, &options(4, 1000, true)).unwrap().rows.len(), 1000);
}
