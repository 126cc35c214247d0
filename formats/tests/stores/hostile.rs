//! Hostile stores: lying sizes, overlaps and deep values end in errors that name the cause, without
//! large allocations.

use crate::build::{Scratch, embed, empty_tree, frame, map, pack, stored, zip};
use crate::common::{expected, fixture, open};
use ferroblosc::chunk::{CParams, Compressor, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{Class, Error, Options, Store, Value};

fn error_of(scratch: &Scratch, bytes: &[u8]) -> String {
    let error = Store::open(scratch.file("bad.b2z", bytes)).err().unwrap();
    error.to_string()
}

#[test]
fn row_t29_sizes_are_compared_with_the_bytes_that_exist() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let good = zip(&[stored("a.b2f", &leaf), empty_tree()]);
    let end = good.len() - 22;
    let mut many = good.clone();
    many[end + 8..end + 12].fill(0xff);
    assert!(error_of(&scratch, &many).contains("too short for its entries"));
    let mut large = good.clone();
    large[end + 12..end + 16].fill(0xff);
    assert!(error_of(&scratch, &large).contains("out of bounds"));
    let mut away = good.clone();
    away[end + 16..end + 20].fill(0xff);
    assert!(error_of(&scratch, &away).contains("out of bounds"));
    let mut disks = good.clone();
    disks[end + 4] = 1;
    assert!(error_of(&scratch, &disks).contains("several disks"));
    // Sizes and offsets of 64 bits.
    let wide = |numbers: &[u64]| {
        let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [&1u16.to_le_bytes()[..], &(content.len() as u16).to_le_bytes(), &content].concat()
    };
    let mut member = stored("a.b2f", &leaf);
    member.offset = Some(u32::MAX);
    for offset in [1 << 60, u64::MAX - 10, good.len() as u64] {
        member.extra = wide(&[offset]);
        let store = scratch.zip(&[member.clone(), empty_tree()]);
        let error = store.leaf("/a").err().unwrap();
        assert!(error.to_string().contains("out of bounds"), "{offset}: {error}");
    }
    member.extra = vec![1, 0, 200, 0];
    assert!(error_of(&scratch, &zip(&[member, empty_tree()])).contains("entry 0 is invalid"));
    // An entry of an embed store with a length of 2^63, and the frame in it with another one.
    let entry = |length: u64| map(vec![("offset", 0.into()), ("length", length.into())]);
    for length in [1 << 63, u64::MAX, leaf.len() as u64 + 1] {
        let bytes = embed("b2embed", map(vec![("/a", entry(length))]), &leaf);
        let store = Store::from_bytes(bytes, &Options::default()).unwrap();
        assert!(matches!(store.leaf("/a"), Err(Error::Damaged { .. })), "{length}");
    }
    let mut long = leaf.clone();
    long[16..24].copy_from_slice(&(1u64 << 62).to_be_bytes());
    let bytes = embed("b2embed", map(vec![("/a", entry(leaf.len() as u64))]), &long);
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    let error = store.leaf("/a").err().unwrap();
    assert!(error.to_string().contains("but its range only"), "{error}");
    // Long and deep keys.
    let names = ["a/".repeat(300), "b".repeat(5000), "c/".repeat(100)];
    let mut members: Vec<_> =
        names.iter().map(|name| stored(&format!("{name}x.b2f"), &leaf)).collect();
    members.push(empty_tree());
    let store = scratch.zip(&members);
    assert_eq!((store.findings().len(), store.keys().len()), (2, 101));
    // A large attribute.
    let large = pack(&rmpv::Value::Binary(vec![0; 65 << 20]));
    let bytes = frame(&[], &[("big", large), ("small", pack(&7.into()))], b"");
    let attrs = Store::from_bytes(bytes, &Options::default()).unwrap().attrs("/").unwrap();
    assert!(matches!(&attrs.damaged[..], [(name, Error::Limit { .. })] if name == "big"));
    assert_eq!(attrs.get("small"), Some(&Value::Int(7)));
    // Millions of values in few compressed bytes.
    let version = pack(&map(vec![("version", 1.into())]));
    let bomb = [&[0xdd, 0, 0x50, 0, 0][..], &vec![0xc0; 5 << 20]].concat();
    let bytes = frame(&[("b2embed", version)], &[("estore_metadata", bomb)], b"");
    let error = Store::from_bytes(bytes, &Options::default()).err().unwrap();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    let many = pack(&rmpv::Value::Array(vec![1.into(); 100]));
    let version = map(vec![("version", 1.into()), ("serializer", "msgpack".into())]);
    let bytes = frame(&[("vlarray", pack(&version))], &[], &many);
    let items = |max_message| {
        let mut options = Options::default();
        options.max_message = max_message;
        Store::from_bytes(bytes.clone(), &options).unwrap().objects("/").unwrap().items(0..1)
    };
    assert!(items(101 * 160 + many.len() as u64).is_ok());
    assert!(matches!(items(101 * 160 + many.len() as u64 - 1), Err(Error::Limit { .. })));
}

#[test]
fn overlapping_members_are_refused() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let inner = zip(&[stored("b.b2f", &leaf)]);
    // The second entry points into the data of the first one.
    let mut first = stored("a.b2f", &[&leaf[..], &inner].concat());
    first.flags = 0;
    let mut second = stored("b.b2f", &leaf);
    second.offset = Some(u32::try_from(30 + "a.b2f".len() + leaf.len()).unwrap());
    let store = scratch.zip(&[first, second, stored("c.b2f", &leaf), empty_tree()]);
    for key in ["/a", "/b"] {
        let error = store.leaf(key).err().unwrap();
        assert!(error.to_string().contains("overlaps member"), "{key}: {error}");
    }
    assert!(store.leaf("/c").is_ok());
    // A local header whose name reaches into the next member.
    let mut bytes = zip(&[stored("a.b2f", &leaf), stored("c.b2f", &leaf), empty_tree()]);
    bytes[26] = 200;
    let store = Store::open(scratch.file("name.b2z", &bytes)).unwrap();
    let error = store.leaf("/a").err().unwrap();
    assert!(error.to_string().contains("next member"), "{error}");
    // Encryption and unknown methods.
    for (flags, method, text) in [(1, 0, "encrypted"), (0, 12, "method 12")] {
        let mut member = stored("a.b2f", &leaf);
        (member.flags, member.method) = (flags, method);
        let error = scratch.zip(&[member, empty_tree()]).leaf("/a").err().unwrap();
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn local_headers_that_differ_are_found_by_verification() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    for (at, text) in [(8, "method"), (18, "size"), (22, "size"), (30, "name")] {
        let mut bytes = zip(&[stored("a.b2f", &leaf), empty_tree()]);
        bytes[at] ^= 1;
        let store = Store::open(scratch.file("a.b2z", &bytes)).unwrap();
        assert!(store.leaf("/a").is_ok());
        let findings = store.verify().unwrap();
        assert!(findings.iter().any(|finding| finding.text.contains(text)), "{at} {findings:?}");
    }
}

#[test]
fn nested_stores_have_a_limit() {
    let mut bytes = frame(&[], &[], b"abc");
    for _ in 0..40 {
        let entry = map(vec![("offset", 0.into()), ("length", bytes.len().into())]);
        bytes = embed("b2embed", map(vec![("/x", entry)]), &bytes);
    }
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    let findings = store.verify().unwrap();
    assert!(findings.iter().any(|finding| finding.text.contains("nested too deep")));
    let mut store = store;
    for _ in 0..39 {
        assert_eq!(store.class("/x"), Ok(Class::EmbedStore));
        store = store.nested("/x").unwrap();
    }
    assert_eq!(store.leaf("/x").unwrap().schunk().nbytes(), 3);
}

#[test]
fn stores_and_tables_are_shared_among_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let store = open("c_big.b2z");
    let table = store.table("/").unwrap();
    is_shared(&store);
    is_shared(&table);
    std::thread::scope(|scope| {
        for start in [0, 3000, 6000] {
            let table = &table;
            scope.spawn(move || {
                let rows = table.rows(start..start + 3000).unwrap();
                let first = i64::try_from(start).unwrap();
                assert_eq!(rows[0][0], Value::Int(first));
            });
        }
    });
}

#[test]
fn wrong_classes_and_keys_are_errors() {
    let store = open("t_objects.b2z");
    assert_eq!(store.leaf("/none").err(), Some(Error::NoSuchKey("/none".to_owned())));
    assert_eq!(store.node("/none").err(), Some(Error::NoSuchKey("/none".to_owned())));
    assert_eq!(store.walk("/none").err(), Some(Error::NoSuchKey("/none".to_owned())));
    for node in store.walk("/").unwrap() {
        let is_array = node.class == Class::NdArray;
        assert_eq!(store.array(&node.key).is_ok(), is_array, "{}", node.key);
        assert!(matches!(store.table(&node.key), Err(Error::WrongClass { .. })));
        let is_group = node.class == Class::Group;
        let has_objects = store.objects(&node.key).is_ok();
        assert!(!(has_objects && (is_group || is_array)));
    }
    let table = open("c_ints.b2z");
    let opened = table.table("/").unwrap();
    assert_eq!(opened.values("no", 0..1), Err(Error::NoSuchColumn("no".to_owned())));
    assert!(matches!(table.array("/"), Err(Error::WrongClass { .. })));
}

/// Reads everything of a store; errors are allowed, panics are not.
fn read_all(store: &Store) {
    let _ = store.verify();
    for key in store.keys() {
        let _ = (store.node(&key), store.attrs(&key), store.description(&key));
        if let Ok(array) = store.array(&key) {
            let shape = array.shape();
            if shape.iter().product::<i64>() < 1 << 16 {
                let _ = array.items();
            }
        }
        if let Ok(table) = store.table(&key) {
            let _ = table.rows(0..table.len().min(10));
            for column in &table.schema().columns {
                let texts = table.texts(&column.name, 0..table.len().min(10));
                let values = table.values(&column.name, 0..table.len().min(10));
                if let (Ok(texts), Ok(values)) = (texts, values) {
                    assert_eq!(texts.len(), values.len());
                    let is_null = |value: &Value| *value == Value::Nil;
                    let nulls = values.iter().map(is_null).collect::<Vec<_>>();
                    assert_eq!(texts.iter().map(|text| text.is_none()).collect::<Vec<_>>(), nulls);
                }
            }
        }
    }
}

#[test]
fn every_changed_byte_of_a_store_ends_in_values_or_errors() {
    for name in ["t_table.b2z", "e_mixed.b2e", "a_batch.b2b", "d_threshold.b2z"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let scratch = Scratch::new();
        let mut options = Options::default();
        options.max_frame = 1 << 20;
        options.max_message = 1 << 20;
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= [0xff, 0x01, 0x80][at % 3];
            let path = scratch.file("changed", &changed);
            if let Ok(store) = Store::open_with(&path, &options) {
                read_all(&store);
            }
        }
        for len in (0..bytes.len()).step_by(61) {
            let path = scratch.file("cut", &bytes[..len]);
            if let Ok(store) = Store::open_with(&path, &options) {
                read_all(&store);
            }
        }
    }
}

#[test]
fn items_before_a_damaged_batch_are_readable() {
    let bytes = std::fs::read(fixture("a_batch.b2b")).unwrap();
    let reads_first_batch_only = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let Ok(store) = Store::from_bytes(changed, &Options::default()) else {
            return false;
        };
        let Ok(objects) = store.objects("/") else {
            return false;
        };
        let first = objects.items(0..5);
        let is_read = first.is_ok_and(|items| items == vec![Value::Bytes(b"x".to_vec()); 5]);
        let is_counted = objects.len_within(5) == Ok(5);
        is_read && is_counted && objects.len().is_err() && objects.items(0..100).is_err()
    };
    assert!((0..bytes.len()).any(reads_first_batch_only));
}

#[test]
fn sound_fixtures_verify_without_damage() {
    let mut checked = 0;
    for (name, _) in expected() {
        if name.starts_with("x_") {
            continue;
        }
        let store = open(&name);
        let findings = store.verify().unwrap();
        let damage = findings
            .iter()
            .find(|finding| finding.severity == ferroblosc_formats::store::Severity::Damage);
        assert!(damage.is_none(), "{name}: {damage:?}");
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn chunks_of_an_array_with_other_blocks_are_damage() {
    let scratch = Scratch::new();
    let params = CParams::default().typesize(1);
    let meta = ferroblosc::b2nd::meta::serialize(&[8000], &[4000], &[1000], Some(b"|u1"), 0);
    let mut schunk =
        SChunk::create(Storage::frame(), params.clone().blocksize(1000), DParams::default())
            .unwrap();
    schunk.set_chunksize(4000).unwrap();
    schunk.add_metalayer("b2nd", &meta.unwrap()).unwrap();
    let data: Vec<u8> = (0..4000_u32).map(|number| (number * number / 5) as u8).collect();
    schunk.append(&data).unwrap();
    let mut compressor = Compressor::new(params.blocksize(2000)).unwrap();
    schunk.append_chunk(&compressor.compress_to_vec(&data).unwrap()).unwrap();
    let bytes = schunk.to_bytes().unwrap();
    let store = scratch.zip(&[stored("a.b2nd", &bytes), empty_tree()]);
    let findings = store.verify().unwrap();
    let texts: Vec<String> = findings.iter().map(|finding| finding.text.clone()).collect();
    let expected = "chunk 1: the blocks of the chunk have 2000 bytes, and those of the array 1000";
    assert_eq!(texts, [expected]);
}
