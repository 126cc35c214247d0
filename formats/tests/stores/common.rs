//! Fixtures, and the form of values in `expect.json`.

use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{Attrs, Class, Error, Store, StoreKind, Table, Value};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Returns the path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stores").join(name)
}

/// Opens a fixture.
pub fn open(name: &str) -> Store {
    Store::open(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the contents of the fixtures as the reference reads them.
pub fn expected() -> Vec<(String, Json)> {
    let text = std::fs::read(fixture("expect.json")).unwrap();
    match Json::parse(&text).unwrap() {
        Json::Object(entries) => entries,
        _ => panic!("expect.json is not an object"),
    }
}

fn text(kind: &str, text: &str) -> Json {
    Json::Text(format!("{kind}:{text}"))
}

fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "nan".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        _ => Json::Float(number).to_json(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a value in the form of `expect.json`.
pub fn json_of(value: &Value) -> Json {
    let list = |kind: &str, values: &[Value]| {
        Json::object([(kind, Json::List(values.iter().map(json_of).collect()))])
    };
    match value {
        Value::Nil => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => Json::Int(number.to_string()),
        Value::UInt(number) => Json::Int(number.to_string()),
        Value::Float(number) => text("f", &float(*number)),
        Value::Complex(re, im) => text("c", &format!("{},{}", float(*re), float(*im))),
        Value::Str(content) => text("s", content),
        Value::Bytes(content) => text("b", &hex(content)),
        Value::List(values) => list("l", values),
        Value::Tuple(values) => list("t", values),
        Value::Set(values) => list("set", values),
        Value::Map(entries) => {
            let entry =
                |(key, value): &(Value, Value)| Json::List(vec![json_of(key), json_of(value)]);
            let mut entries: Vec<Json> = entries.iter().map(entry).collect();
            // The order of entries is not compared.
            entries.sort_by_key(Json::to_json);
            Json::object([("d", Json::List(entries))])
        }
        Value::Array(array) => json_of(&nested(array.dtype.text(), &array.shape, &array.items)),
        other => panic!("{other:?} has no form in expect.json"),
    }
}

/// Returns the values of a little array as nested lists.
fn nested(dtype: &str, shape: &[u64], items: &[u8]) -> Value {
    let Some((&extent, inner)) = shape.split_first() else {
        return match dtype {
            "<f8" => Value::Float(f64::from_le_bytes(items.try_into().unwrap())),
            "<i8" => Value::Int(i64::from_le_bytes(items.try_into().unwrap())),
            "<i2" => Value::Int(i16::from_le_bytes(items.try_into().unwrap()).into()),
            other => panic!("an array of {other}"),
        };
    };
    let size = items.len() / usize::try_from(extent).unwrap();
    Value::List(items.chunks(size).map(|items| nested(dtype, inner, items)).collect())
}

pub fn attrs_json(attrs: &Attrs) -> Json {
    assert!(attrs.damaged.is_empty(), "{:?}", attrs.damaged);
    Json::Object(attrs.entries.iter().map(|(name, value)| (name.clone(), json_of(value))).collect())
}

/// Returns the content of a store in the form of `expect.json`.
pub fn content(store: &Store) -> Json {
    if store.kind() == StoreKind::Object || store.class("/").unwrap() == Class::Table {
        return object(store, "/");
    }
    let kind = match store.kind() {
        StoreKind::Tree => "TreeStore",
        StoreKind::Dict => "DictStore",
        _ => "EmbedStore",
    };
    let keys = store.keys();
    let items = keys.iter().map(|key| (key.clone(), object(store, key))).collect();
    let mut entries = vec![("type", Json::from(kind)), ("items", Json::Object(items))];
    if store.kind() == StoreKind::Tree {
        let groups = keys.iter().map(String::as_str).chain(["/"]);
        let groups = groups.filter(|key| store.class(key) == Ok(Class::Group));
        let attrs = groups.map(|key| (key.to_owned(), attrs_json(&store.attrs(key).unwrap())));
        let attrs = attrs.filter(|(_, attrs)| attrs.is_truthy()).collect();
        entries.push(("attrs", Json::Object(attrs)));
    }
    Json::object(entries)
}

/// Returns an object in the form of `expect.json`.
pub fn object(store: &Store, key: &str) -> Json {
    let class = store.class(key).unwrap();
    let mut entries = vec![("type", Json::from(class.name()))];
    let values = |values: Vec<Value>| Json::List(values.iter().map(json_of).collect());
    let sum = |bytes: &[u8]| Json::Text(hex(&Sha256::digest(bytes)));
    match class {
        Class::NdArray => {
            let array = store.array(key).unwrap_or_else(|error| panic!("{key}: {error}"));
            let shape = array.shape().into_iter().map(|extent| Json::from(extent.unsigned_abs()));
            entries.push(("shape", Json::List(shape.collect())));
            entries.push(("dtype", Json::from(array.dtype().unwrap())));
            entries.push(("sha", sum(&array.items().unwrap())));
        }
        Class::SChunk => {
            let leaf = store.leaf(key).unwrap();
            let schunk = leaf.schunk();
            let mut bytes = Vec::new();
            for nchunk in 0..schunk.nchunks() {
                let mut chunk = vec![0; usize::try_from(schunk.nbytes()).unwrap()];
                let size = schunk.decompress(nchunk, &mut chunk).unwrap();
                bytes.extend_from_slice(&chunk[..size]);
            }
            entries.push(("nbytes", Json::from(bytes.len() as u64)));
            entries.push(("sha", sum(&bytes)));
        }
        Class::ObjectArray | Class::ListArray => {
            let objects = store.objects(key).unwrap();
            let len = objects.len().unwrap();
            entries.push(("items", values(objects.items(0..len).unwrap())));
            // Single items and ranges give the same values.
            for number in 0..len {
                let item = objects.items(number..number + 1).unwrap();
                assert_eq!(item[..], objects.items(number..len).unwrap()[..1]);
            }
        }
        Class::BatchArray => {
            let objects = store.objects(key).unwrap();
            let batches =
                (0..objects.nbatches()).map(|number| values(objects.batch(number).unwrap()));
            entries.push(("batches", Json::List(batches.collect())));
        }
        Class::EmbedStore => return content(&store.nested(key).unwrap()),
        Class::Table => {
            let table = store.table(key).unwrap_or_else(|error| panic!("{key}: {error}"));
            let len = table.len();
            entries.push(("rows", Json::from(len)));
            let mut columns = Vec::new();
            for column in &table.schema().columns {
                let found = table.values(&column.name, 0..len).unwrap();
                check_column(&table, &column.name, &found);
                columns.push((column.name.clone(), values(found)));
            }
            entries.push(("columns", Json::Object(columns)));
            let computed = table.schema().computed.iter().map(|computed| computed.name.as_str());
            let computed: Vec<Json> = computed.map(Json::from).collect();
            if !computed.is_empty() {
                entries.push(("computed", Json::List(computed)));
            }
            let attrs = attrs_json(&store.attrs(key).unwrap());
            if attrs.is_truthy() {
                entries.push(("attrs", attrs));
            }
        }
        Class::Group => return Json::object([("type", Json::from("group"))]),
        Class::RemoteStore => return Json::object([("type", Json::from("RemoteStore"))]),
        other => panic!("{key}: {}", other.name()),
    }
    if matches!(class, Class::NdArray | Class::SChunk | Class::ObjectArray | Class::BatchArray) {
        let attrs = match class {
            Class::ObjectArray | Class::BatchArray => store.objects(key).unwrap().attrs(),
            _ => store.attrs(key).unwrap(),
        };
        entries.push(("vlmeta", attrs_json(&attrs)));
    }
    Json::object(entries)
}

/// Fails if the texts of a column, or the nulls of its items, differ from its values. Columns
/// without texts have an error.
pub fn check_column(table: &Table<'_>, column: &str, values: &[Value]) {
    let schema = table.schema();
    let has_texts = schema.columns[schema.position(column).unwrap()].kind.has_texts();
    let len = values.len() as u64;
    for rows in [0..len, len / 3..len, 0..len * 2 / 3] {
        if let Ok(items) = table.items(column, rows.clone()) {
            let values = &values[rows.start as usize..rows.end as usize];
            let wanted: Vec<bool> = values.iter().map(|value| *value != Value::Nil).collect();
            let valid = items.valid.unwrap_or_else(|| vec![true; values.len()]);
            assert_eq!(valid, wanted, "{column} {rows:?}");
        }
    }
    if !has_texts {
        assert!(matches!(table.texts(column, 0..len), Err(Error::Column { .. })), "{column}");
        return;
    }
    for rows in [0..len, len / 3..len, len / 2..len / 2, 0..len * 2 / 3] {
        let texts = table.texts(column, rows.clone()).unwrap();
        let values = &values[rows.start as usize..rows.end as usize];
        let wanted: Vec<Option<&[u8]>> = values.iter().map(bytes_of).collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), wanted, "{column} {rows:?}");
        let size: usize = wanted.iter().flatten().map(|text| text.len()).sum();
        assert_eq!((texts.len(), texts.bytes.len()), (values.len(), size), "{column} {rows:?}");
    }
    let beyond = table.texts(column, len..len + 1);
    assert!(matches!(beyond, Err(Error::OutOfRange { .. })), "{column}");
}

fn bytes_of(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Nil => None,
        Value::Str(text) => Some(text.as_bytes()),
        Value::Bytes(bytes) => Some(bytes),
        other => panic!("{other:?}"),
    }
}

/// Returns the first difference of two contents; the order of keys and of sets is not compared, nor
/// is the dtype of an array, if the reference lists none.
pub fn difference(place: &str, found: &Json, wanted: &Json) -> Option<String> {
    let differ = || Some(format!("{place}: {} instead of {}", found.to_json(), wanted.to_json()));
    match (found, wanted) {
        (Json::List(one), Json::List(other)) => {
            if one.len() != other.len() {
                return differ();
            }
            // The order of sets is not compared.
            if place.ends_with("/set") {
                let sorted = |items: &[Json]| {
                    let mut texts: Vec<String> = items.iter().map(Json::to_json).collect();
                    texts.sort();
                    texts
                };
                return if sorted(one) == sorted(other) { None } else { differ() };
            }
            let pairs = one.iter().zip(other).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (one, other))| difference(&format!("{place}/{at}"), one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let extra = one.iter().find(|(key, _)| key != "dtype" && wanted.get(key).is_none());
            if let Some((key, _)) = extra {
                return Some(format!("{place}: {key} is not expected"));
            }
            other.iter().find_map(|(key, wanted)| match found.get(key) {
                Some(found) => difference(&format!("{place}/{key}"), found, wanted),
                None => Some(format!("{place}: {key} is missing")),
            })
        }
        // The reference reads booleans that are stored with a sentinel as numbers.
        (Json::Bool(one), Json::Int(other)) => {
            (u8::from(*one).to_string() != *other).then(differ)?
        }
        // The comparison of values would treat 1 and true as equal.
        _ => (found.to_json() != wanted.to_json()).then(differ)?,
    }
}
