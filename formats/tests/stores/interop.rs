//! Random stores written, changed and read alternately by us and by python-blosc2, with the
//! interpreter in `FERROBLOSC_BLOSC2_PYTHON`.

use crate::build::Scratch;
use crate::common::{content, difference, fixture, json_of, object};
use crate::table_model;
use crate::writing::{is_sound, text};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::codec::id;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{
    Class, ColumnSpec, NewLeaf, ObjectsWriter, Store, StoreKind, StoreWriter, Value, WriteOptions,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the number of stores of each direction in each of two tests: `FERROBLOSC_STORES`, or
/// 150.
fn count() -> u64 {
    std::env::var("FERROBLOSC_STORES").map_or(150, |count| count.parse().expect("a number"))
}
/// The number of trees with tables.
const TREES: u64 = 40;

/// A generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }
}

/// Runs jobs in one process and returns their results.
fn python(scratch: &Scratch, jobs: &[Vec<Json>]) -> Vec<Json> {
    let interpreter = std::env::var_os("FERROBLOSC_BLOSC2_PYTHON").expect("an interpreter");
    let list = Json::List(jobs.iter().map(|job| Json::List(job.clone())).collect());
    let path = scratch.file("jobs.json", list.to_json().as_bytes());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/oracle.py");
    let output = Command::new(interpreter).arg(script).arg(path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let Json::List(results) = Json::parse(&output.stdout).unwrap() else {
        panic!("no list");
    };
    assert_eq!(results.len(), jobs.len());
    let errors = results.iter().filter_map(|result| result.get("error"));
    let errors: Vec<String> = errors.map(Json::to_json).collect();
    assert!(errors.is_empty(), "python-blosc2: {}", errors.join("\n"));
    results
}

fn job(command: &str, path: &Path, rest: Vec<Json>) -> Vec<Json> {
    let start = [Json::from(command), Json::Text(path.to_str().unwrap().to_owned())];
    start.into_iter().chain(rest).collect()
}

fn leaf(random: &mut Random) -> NewLeaf {
    let params = CParams::default()
        .codec(*random.pick(&[id::BLOSCLZ, id::LZ4, id::ZSTD, id::ZLIB]))
        .level(*random.pick(&[0, 1, 5]));
    if random.below(4) == 0 {
        let values: Vec<Value> = (0..random.below(9)).map(|_| value(random)).collect();
        if random.below(3) == 0 {
            let item = Value::Map(vec![(text("kind"), text("int64"))]);
            let mut lists = ObjectsWriter::list_array(item, true).unwrap();
            for len in 0..random.below(20) {
                let items = (0..len).map(|item| Value::Int(item as i64 - 5)).collect();
                lists.push(&if len == 3 { Value::Nil } else { Value::List(items) }).unwrap();
            }
            return lists.finish().unwrap();
        }
        if random.below(2) == 0 {
            let mut objects = ObjectsWriter::object_array().unwrap();
            objects.push_batch(&values).unwrap();
            return objects.finish().unwrap();
        }
        let items_per_block = *random.pick(&[None, Some(1), Some(3)]);
        let mut batches = ObjectsWriter::batch_array(items_per_block).unwrap();
        for len in 1..=values.len().min(4) {
            batches.push_batch(&values[..len]).unwrap();
        }
        return batches.finish().unwrap();
    }
    if random.below(3) == 0 {
        let len = random.below(5000);
        let data: Vec<u8> = (0..len).map(|_| random.below(20) as u8).collect();
        let storage = if random.below(2) == 0 { Storage::memory() } else { Storage::frame() };
        let typesize = *random.pick(&[1, 4]);
        let mut schunk =
            SChunk::create(storage, params.typesize(typesize), DParams::default()).unwrap();
        for chunk in data.chunks_exact(1000) {
            schunk.append(chunk).unwrap();
        }
        return NewLeaf::schunk(&schunk).unwrap();
    }
    let (dtype, size) = *random.pick(&[("<i4", 4), ("<f8", 8), ("|u1", 1), ("<i2", 2), ("|b1", 1)]);
    let shape: Vec<i64> =
        random.pick(&[vec![7], vec![30, 4], vec![1000], vec![2, 3, 4], vec![]]).clone();
    let chunks: Vec<i32> = shape.iter().map(|&extent| (extent as i32 + 1) / 2).collect();
    let blocks: Vec<i32> = chunks.iter().map(|&extent| (extent + 2) / 3).collect();
    let count: i64 = shape.iter().product();
    let items: Vec<u8> = (0..count * size).map(|_| random.below(2) as u8).collect();
    let layout = Layout { shape: &shape, chunkshape: &chunks, blockshape: &blocks };
    let params = params.typesize(size as i32);
    NewLeaf::array(
        &Array::from_item_bytes(Storage::frame(), params, &layout, dtype, &items).unwrap(),
    )
    .unwrap()
}

fn value(random: &mut Random) -> Value {
    match random.below(7) {
        0 => Value::Int(random.below(1 << 40) as i64 - (1 << 39)),
        1 => Value::Float(random.below(1000) as f64 / 8.0),
        2 => text("ünit"),
        3 => Value::Tuple(vec![Value::Nil, Value::Bool(true)]),
        4 => Value::Map(vec![(text("k"), Value::List(vec![Value::Bytes(vec![0, 255])]))]),
        5 => Value::Complex(0.5, -1.5),
        _ => Value::UInt(u64::MAX),
    }
}

/// Makes random changes.
fn change(writer: &mut StoreWriter, random: &mut Random) {
    for _ in 0..random.below(8) {
        let group = *random.pick(&["", "/g", "/g/h", "/é", "/with space"]);
        let key = format!("{group}/ours{}", random.below(20));
        match random.below(5) {
            0 if writer.contains(&key) => writer.delete(&key).unwrap(),
            1 => {
                let keys: Vec<String> = writer.leaf_keys().map(str::to_owned).collect();
                let keys: Vec<&String> =
                    keys.iter().filter(|key| !key.ends_with("__vlmeta__")).collect();
                if !keys.is_empty() {
                    let key = *random.pick(&keys);
                    let name = format!("n{}", random.below(3));
                    writer.set_attr(key, &name, &value(random)).unwrap();
                }
            }
            2 if writer.kind() == StoreKind::Tree => {
                writer.set_attr("/", &format!("a{}", random.below(5)), &value(random)).unwrap();
            }
            _ => writer.replace(&key, leaf(random)).unwrap(),
        }
    }
}

fn options(random: &mut Random) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.kind = *random.pick(&[StoreKind::Tree, StoreKind::Dict]);
    options.threshold = Some(*random.pick(&[0, 200, 1 << 20]));
    options
}

/// Fails if a store differs from the description of python-blosc2.
fn compare(path: &Path, wanted: &Json) {
    let store = Store::open(path).unwrap();
    is_sound(&store);
    assert_eq!(store.findings(), [], "{}", path.display());
    let found = content(&store);
    assert_eq!(difference(&path.display().to_string(), &found, wanted), None);
    assert_eq!(difference(&path.display().to_string(), wanted, &found), None);
}

#[test]
#[ignore = "needs python-blosc2"]
fn row_t31_stores_are_written_alternately() {
    let scratch = Scratch::new();
    let mut ours: Vec<PathBuf> = Vec::new();
    let mut jobs = Vec::new();
    let mut before = BTreeMap::new();
    for seed in 0..count() {
        let mut random = Random(seed);
        let suffix = *random.pick(&["b2z", "b2d", "b2e"]);
        let path = scratch.path(&format!("ours{seed}.{suffix}"));
        let options = options(&mut random);
        let mut writer = Store::create_with(&path, &options).unwrap();
        change(&mut writer, &mut random);
        writer.commit().unwrap();
        for _ in 0..random.below(3) {
            let mut writer = Store::change_with(&path, &options).unwrap();
            change(&mut writer, &mut random);
            writer.commit().unwrap();
        }
        before.insert(path.clone(), content(&Store::open(&path).unwrap()));
        jobs.push(job("describe", &path, Vec::new()));
        jobs.push(job("change", &path, vec![Json::from(seed)]));
        ours.push(path);
    }
    let mut theirs = Vec::new();
    for seed in 0..count() {
        let mut random = Random(seed ^ 1 << 40);
        let kind = *random.pick(&["TreeStore", "DictStore", "EmbedStore"]);
        let suffix = match kind {
            "EmbedStore" => "b2e",
            _ => *random.pick(&["b2z", "b2d"]),
        };
        let path = scratch.path(&format!("theirs{seed}.{suffix}"));
        let threshold = *random.pick(&[0u64, 300, 100_000]);
        let rest = vec![Json::from(seed), Json::from(kind), Json::from(threshold)];
        jobs.push(job("create", &path, rest));
        theirs.push(path);
    }
    let results = python(&scratch, &jobs);
    let (of_ours, of_theirs) = results.split_at(2 * ours.len());
    for (path, results) in ours.iter().zip(of_ours.chunks(2)) {
        let place = path.display().to_string();
        assert_eq!(difference(&place, &before[path], &results[0]), None);
        assert_eq!(difference(&place, &results[0], &before[path]), None);
        compare(path, &results[1]);
    }
    theirs.iter().zip(of_theirs).for_each(|(path, wanted)| compare(path, wanted));
    // All of them are changed by us, and read by python-blosc2 again.
    let mut jobs = Vec::new();
    for (seed, path) in (0..).zip(ours.iter().chain(&theirs)) {
        let mut random = Random(seed ^ 1 << 50);
        let mut writer = Store::change_with(path, &options(&mut random)).unwrap();
        change(&mut writer, &mut random);
        writer.replace("/last", leaf(&mut random)).unwrap();
        writer.commit().unwrap();
        jobs.push(job("describe", path, Vec::new()));
    }
    let results = python(&scratch, &jobs);
    ours.iter().chain(&theirs).zip(&results).for_each(|(path, wanted)| compare(path, wanted));
}

/// Returns a table in the form of the description of python-blosc2.
fn described_table(store: &Store, key: &str) -> Json {
    let table = store.table(key).unwrap();
    let rows = table.len();
    let columns = table.schema().columns.iter().map(|column| {
        let values = table.values(&column.name, 0..rows).unwrap();
        (column.name.clone(), Json::List(values.iter().map(json_of).collect()))
    });
    Json::object([
        ("type", Json::from("CTable")),
        ("rows", Json::from(rows)),
        ("columns", Json::Object(columns.collect())),
    ])
}

/// Fails if a table differs from the description of python-blosc2.
fn compare_table(path: &Path, key: &str, wanted: &Json) {
    let store = Store::open(path).unwrap();
    is_sound(&store);
    let found = described_table(&store, key);
    let place = path.display().to_string();
    assert_eq!(difference(&place, &found, wanted), None);
    assert_eq!(difference(&place, wanted, &found), None);
}

#[test]
#[ignore = "needs python-blosc2"]
fn row_t33_tables_are_written_alternately() {
    let scratch = Scratch::new();
    let mut tables = Vec::new();
    let mut jobs = Vec::new();
    for seed in 0..count() {
        let mut random = table_model::Random(seed);
        let end = *random.pick(&["b2z", "b2d", "b2e"]);
        let path = scratch.path(&format!("ours{seed}.{end}"));
        let key = if end == "b2e" { "/" } else { *random.pick(&["/", "/g/table"]) };
        let mut model = table_model::create(&path, key, &mut random);
        if random.below(2) == 0 {
            table_model::change(&path, key, &mut model, &mut random);
        }
        jobs.push(job("table", &path, vec![key.into()]));
        tables.push((path, key));
    }
    for seed in 0..count() {
        let end = if seed % 3 == 0 { "b2d" } else { "b2z" };
        let path = scratch.path(&format!("theirs{seed}.{end}"));
        jobs.push(job("create-table", &path, vec![Json::from(seed)]));
        tables.push((path, "/"));
    }
    let results = python(&scratch, &jobs);
    for ((path, key), wanted) in tables.iter().zip(&results) {
        compare_table(path, key, wanted);
    }
    // python-blosc2 changes tables in files of its own and of ours.
    let mut jobs = Vec::new();
    for (seed, (path, key)) in (0..).zip(&tables) {
        if path.extension().is_none_or(|end| end != "b2e") {
            let rest = vec![Json::from(seed), Json::from(*key)];
            jobs.push(job("change-table", path, rest));
        }
    }
    let results = python(&scratch, &jobs);
    let changed = tables.iter().filter(|(path, _)| path.extension().is_none_or(|end| end != "b2e"));
    for ((path, key), wanted) in changed.zip(&results) {
        compare_table(path, key, wanted);
    }
    // We change them again.
    let mut jobs = Vec::new();
    for (path, key) in &tables {
        let mut writer = Store::change(path).unwrap();
        let mut table = writer.table(key).unwrap();
        let len = table.len();
        let old = Store::open(path).unwrap();
        let rows = old.table(key).unwrap().rows(0..len).unwrap();
        if len > 2 {
            table.delete(&[1, len - 1]).unwrap();
            table.append_rows(&rows[..2]).unwrap();
            if !path.is_dir() {
                table.compact().unwrap();
            }
        }
        table.finish().unwrap();
        writer.commit().unwrap();
        jobs.push(job("table", path, vec![Json::from(*key)]));
    }
    let results = python(&scratch, &jobs);
    for ((path, key), wanted) in tables.iter().zip(&results) {
        compare_table(path, key, wanted);
    }
}

#[test]
#[ignore = "needs python-blosc2"]
fn trees_with_tables_of_python_are_read_and_changed() {
    let scratch = Scratch::new();
    let mut jobs = Vec::new();
    let paths: Vec<PathBuf> = (0..TREES)
        .map(|seed| scratch.path(&format!("tree{seed}.{}", ["b2z", "b2d"][(seed % 2) as usize])))
        .collect();
    for (seed, path) in (0u64..).zip(&paths) {
        jobs.push(job("create-tree", path, vec![Json::from(seed)]));
    }
    let compare = |path: &Path, wanted: &Json| {
        let store = Store::open(path).unwrap();
        is_sound(&store);
        let described = |key: &String| match store.class(key).unwrap() {
            Class::Table => described_table(&store, key),
            _ => object(&store, key),
        };
        let keys = store.keys();
        let found = Json::Object(keys.iter().map(|key| (key.clone(), described(key))).collect());
        let place = path.display().to_string();
        assert_eq!(difference(&place, &found, wanted), None);
        assert_eq!(difference(&place, wanted, &found), None);
    };
    let results = python(&scratch, &jobs);
    paths.iter().zip(&results).for_each(|(path, wanted)| compare(path, wanted));
    // We copy their tables, and change the copies.
    let mut jobs = Vec::new();
    for (seed, path) in (0..).zip(&paths) {
        let mut random = Random(seed);
        let store = Store::open(path).unwrap();
        let tables: Vec<String> =
            store.keys().into_iter().filter(|key| store.class(key) == Ok(Class::Table)).collect();
        let mut writer = Store::change(path).unwrap();
        for (number, key) in tables.iter().enumerate() {
            let copy = format!("/copies/n{number}");
            writer.copy_from(&store, key, &copy).unwrap();
            let mut table = writer.table(&copy).unwrap();
            let first = table.schema().columns[0].name.clone();
            table.rename_column(&first, "renamed by us").unwrap();
            if table.len() > 1 {
                table.delete(&[random.below(table.len())]).unwrap();
            }
            table.compact().unwrap();
            table.finish().unwrap();
        }
        writer.commit().unwrap();
        jobs.push(job("tree", path, Vec::new()));
    }
    let results = python(&scratch, &jobs);
    paths.iter().zip(&results).for_each(|(path, wanted)| compare(path, wanted));
}

#[test]
#[ignore = "needs python-blosc2"]
fn python_finds_the_right_rows_with_indexes_that_stay() {
    let scratch = Scratch::new();
    let kinds = ["summary", "bucket", "partial", "full"];
    let path = |kind: &str| scratch.path(&format!("{kind}.b2z"));
    let creations = kinds.map(|kind| job("create-indexed", &path(kind), vec![kind.into()]));
    python(&scratch, &creations);
    // In stored row r is the number 37 r modulo 300. Rows are deleted, and a column is added.
    let deleted = [3, 70, 71, 299];
    let mut jobs = Vec::new();
    for kind in kinds {
        let mut writer = Store::change(path(kind)).unwrap();
        let mut table = writer.table("/").unwrap();
        table.delete(&deleted).unwrap();
        table.add_column(&ColumnSpec::boolean("b").nullable(), None).unwrap();
        assert!(table.finish().unwrap().dropped_indexes.is_empty());
        writer.commit().unwrap();
        let store = Store::open(path(kind)).unwrap();
        assert!(store.leaf_keys().any(|key| key.starts_with("/_indexes/")), "{kind}");
        jobs.push(job("where", &path(kind), vec!["i >= 190".into()]));
        jobs.push(job("where", &path(kind), vec!["i == 11".into()]));
    }
    let results = python(&scratch, &jobs);
    let numbers = (0..300u64).filter(|row| !deleted.contains(row)).map(|row| row * 37 % 300);
    for (at, holds) in
        [|number: &u64| *number >= 190, |number: &u64| *number == 11].into_iter().enumerate()
    {
        let mut wanted: Vec<u64> = numbers.clone().filter(holds).collect();
        wanted.sort_unstable();
        for result in results.iter().skip(at).step_by(2) {
            let Json::List(items) = result else { panic!("no list") };
            let mut found: Vec<u64> =
                items.iter().map(|item| item.to_json().parse().unwrap()).collect();
            found.sort_unstable();
            assert_eq!(found, wanted);
        }
    }
}

#[test]
#[ignore = "needs python-blosc2"]
fn converted_and_copied_tables_are_the_same_for_python() {
    let scratch = Scratch::new();
    let mut jobs = Vec::new();
    for name in [
        "c_list",
        "c_utf8",
        "c_dictionary",
        "c_nulls_mask",
        "c_string",
        "c_timestamp",
        "c_deleted",
        "c_idx_summary",
        "c_object",
        "own_table",
    ] {
        let source = fixture(&format!("{name}.b2z"));
        let store = Store::open(&source).unwrap();
        let paths = ["b2d", "b2e", "b2z"].map(|end| scratch.path(&format!("{name}.{end}")));
        let [directory, embed, zip] = &paths;
        let options = WriteOptions::default();
        store.convert(directory, &options).unwrap();
        store.convert(embed, &options).unwrap();
        Store::open(embed).unwrap().convert(zip, &options).unwrap();
        // A table in a tree, extracted again.
        let tree = scratch.path(&format!("{name}-tree.b2d"));
        let mut writer = Store::create(&tree).unwrap();
        writer.copy_from(&store, "/", "/in/table").unwrap();
        writer.commit().unwrap();
        let back = scratch.path(&format!("{name}-back.b2z"));
        Store::open(&tree).unwrap().extract("/in/table", &back, &options).unwrap();
        for path in [&source, directory, zip, &back, &tree] {
            jobs.push(job("describe", path, Vec::new()));
        }
    }
    let results = python(&scratch, &jobs);
    for (results, jobs) in results.chunks(5).zip(jobs.chunks(5)) {
        let table = results[0].to_json();
        assert_eq!(results[0].get("type"), Some(&Json::from("CTable")), "{table}");
        for (result, job) in results[1..4].iter().zip(&jobs[1..4]) {
            assert_eq!(result.to_json(), table, "{job:?}");
        }
        let inner = results[4].get("items").and_then(|items| items.get("/in/table"));
        assert_eq!(inner.map(Json::to_json), Some(table));
    }
}
