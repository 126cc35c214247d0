//! Decisions about stores: where the reference fails, loses data or returns wrong values.

use crate::build::{
    Scratch, deflated, embed, empty_tree, frame, map, members_of, pack, stored, with_attribute,
    with_schema,
};
use crate::common::{fixture, open};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams};
use ferroblosc::frame::{header, trailer};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{
    Cells, Class, ColumnSpec, ContainerKind, Error, NewLeaf, Options, Severity, Store, StoreKind,
    Value,
};

fn strict() -> Options {
    let mut options = Options::default();
    options.check_crc = true;
    options
}

fn is_damaged(store: &Store, place: &str, text: &str) -> bool {
    store.verify().unwrap().iter().any(|finding| {
        finding.severity == Severity::Damage
            && finding.place == place
            && finding.text.contains(text)
    })
}

fn is_noted(store: &Store, place: &str, text: &str) -> bool {
    store.verify().unwrap().iter().any(|finding| {
        finding.severity == Severity::Note
            && finding.place.contains(place)
            && finding.text.contains(text)
    })
}

fn ints(values: &[i64]) -> Vec<Value> {
    values.iter().map(|&number| Value::Int(number)).collect()
}

fn texts(values: &[&str]) -> Vec<Value> {
    values.iter().map(|&text| Value::Str(text.to_owned())).collect()
}

fn array_items(store: &Store, key: &str) -> Vec<u8> {
    store.array(key).unwrap().items().unwrap()
}

#[test]
fn row_t1_stores_with_any_version_are_read() {
    let scratch = Scratch::new();
    let version = pack(&map(vec![("version", 99.into())]));
    let tag = frame(&[("b2dict", version)], &[], b"");
    let leaf = frame(&[], &[], b"abc");
    let store = scratch.zip(&[stored("a.b2f", &leaf), stored("embed.b2e", &tag)]);
    assert_eq!((store.kind(), store.keys()), (StoreKind::Dict, vec!["/a".to_owned()]));
    assert_eq!(open("x_metaversion9.b2z").table("/").unwrap().len(), 3);
}

#[test]
fn row_t2_recipes_and_references_are_described_and_not_evaluated() {
    for (name, key, class, text) in [
        ("a_lazyexpr.b2nd", "/", Class::LazyExpression, "o0 + o1 * 2"),
        ("a_lazyudf.b2nd", "/", Class::LazyUdf, "a * 2"),
        ("a_proxy.b2nd", "/", Class::Proxy, "a_op0.b2nd"),
        ("old/lazy_361.b2nd", "/", Class::LazyExpression, "a + 1"),
        ("t_lazy.b2z", "/lz", Class::LazyExpression, "expression"),
        ("e_c2ref.b2e", "/remote", Class::Reference, "https://example.org/"),
        ("t_remote_ref.b2z", "/far", Class::RemoteStore, "remote_store"),
    ] {
        let store = open(name);
        assert_eq!(store.class(key), Ok(class), "{name}");
        assert!(!class.has_values());
        let described = store.description(key).unwrap().unwrap().to_json().to_json();
        assert!(described.contains(text), "{name}: {described}");
        // The carrier of a recipe has the shape of the result, but its data are not the result.
        let error = store.array(key).err().unwrap();
        assert_eq!(error, Error::NotData { key: key.to_owned(), class: class.name() });
        assert!(error.to_string().contains("never evaluated"), "{error}");
    }
    // Other keys of the same stores are readable.
    assert_eq!(open("e_c2ref.b2e").array("/a").unwrap().shape(), [2]);
    assert_eq!(open("t_lazy.b2z").class("/x"), Ok(Class::NdArray));
    // A cache of a remote store is noted.
    let scratch = Scratch::new();
    let version = || pack(&map(vec![("version", 1.into())]));
    let tags = frame(&[("b2tree", version()), ("b2remote_store", version())], &[], b"");
    let store = scratch.zip(&[stored("embed.b2e", &tags)]);
    assert_eq!((store.kind(), store.findings().len()), (StoreKind::Tree, 1));
    // Its leaves are valid only if they were fetched.
    let array = std::fs::read(fixture("a_nd.b2nd")).unwrap();
    let store = scratch.zip(&[stored("a.b2nd", &array), stored("embed.b2e", &tags)]);
    assert_eq!(store.class("/"), Ok(Class::RemoteStore));
    assert!(matches!(store.array("/a"), Err(Error::NotData { .. })));
    assert!(matches!(store.leaf("/a"), Err(Error::NotData { .. })));
    assert!(store.verify().unwrap().iter().all(|finding| finding.severity == Severity::Note));
    // References inside of values are values.
    let content = pack(&map(vec![("kind", "ref".into())]));
    let reference = pack(&rmpv::Value::Ext(43, content));
    let Some(Value::Reference(content)) = Value::decode(&reference) else {
        panic!("not a reference");
    };
    assert_eq!(content.get("kind"), Some(&Value::Str("ref".to_owned())));
}

#[test]
fn row_t3_more_than_16_attributes_are_read() {
    // Frames of other writers can have more; only their trailer differs.
    let one = frame(&[], &[("a0", pack(&0.into()))], b"");
    let tail = one.last_chunk().unwrap();
    let len = trailer::trailer_len(tail, one.len() as u64).unwrap();
    let mut bytes = one[..one.len() - usize::try_from(len).unwrap()].to_vec();
    let mut compressor = Compressor::new(CParams::default().typesize(1)).unwrap();
    let layers: Vec<(String, Vec<u8>)> = (0..20)
        .map(|number| {
            let chunk = compressor.compress_to_vec(&pack(&number.into())).unwrap();
            (format!("a{number}"), chunk)
        })
        .collect();
    let layers: Vec<(&[u8], &[u8])> =
        layers.iter().map(|(name, chunk)| (name.as_bytes(), &chunk[..])).collect();
    bytes.extend(trailer::build(&layers, None).unwrap());
    let len = bytes.len() as u64;
    header::set_frame_len(&mut bytes, len);
    let attrs = Store::from_bytes(bytes, &Options::default()).unwrap().attrs("/").unwrap();
    assert_eq!((attrs.entries.len(), attrs.get("a19")), (20, Some(&Value::Int(19))));
}

#[test]
fn row_t4_frames_do_not_exceed_their_range() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[7; 3000]);
    // The frame continues in the next member.
    let (first, rest) = leaf.split_at(leaf.len() - 20);
    let store = scratch.zip(&[stored("a.b2f", first), stored("b.b2f", rest), empty_tree()]);
    let error = store.leaf("/a").err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("but its range only"), "{error}");
    assert_eq!(store.class("/a"), Ok(Class::Damaged));
    assert!(is_damaged(&store, "/a", "but its range only"));
    // In files and in embed stores as well.
    assert_eq!(open("x_leaf_trunc.b2d").class("/top"), Ok(Class::Damaged));
    assert!(matches!(open("x_embed_overlap.b2e").leaf("/a"), Err(Error::Damaged { .. })));
    let error = Store::open(fixture("x_embed_trunc.b2e")).err().unwrap();
    assert!(error.to_string().contains("the frame has 1895 bytes"), "{error}");
    // Bytes after a frame are noted.
    let store = open("x_member_trailing.b2z");
    assert!(store.keys().iter().any(|key| store.leaf(key).is_ok_and(|leaf| leaf.surplus() > 0)));
    assert!(is_noted(&store, "/", "bytes follow the frame"));
}

#[test]
fn row_t5_sound_entries_of_a_damaged_embed_store_are_read() {
    for (name, key) in [("x_embed_neg.b2e", "/neg"), ("x_embed_oob.b2e", "/oob")] {
        let store = open(name);
        assert_eq!(store.class(key), Ok(Class::Damaged), "{name}");
        assert!(matches!(store.leaf(key), Err(Error::Damaged { .. })));
        let keys = store.keys();
        let others = keys.iter().filter(|&other| other != key);
        assert!(others.clone().count() > 3);
        for other in others {
            assert!(store.leaf(other).is_ok(), "{name} {other}");
        }
        assert!(is_damaged(&store, key, "its entry in the map"));
    }
    for (name, text) in
        [("x_embed_badpack.b2e", "MessagePack"), ("x_embed_nokeys.b2e", "embed_map")]
    {
        let store = open(name);
        assert_eq!((store.kind(), store.keys().len()), (StoreKind::Embed, 0));
        assert!(is_damaged(&store, "/", text), "{name}");
    }
    // A store whose embed.b2e is damaged has its other leaves.
    let scratch = Scratch::new();
    let leaf = stored("a.b2f", &frame(&[], &[], b"abc"));
    let store = scratch.zip(&[leaf, stored("embed.b2e", b"no frame")]);
    assert_eq!(store.keys(), ["/a"]);
    assert!(is_damaged(&store, "embed.b2e", "not a contiguous frame"));
}

#[test]
fn row_t6_temporary_files_are_not_leaves() {
    let store = open("x_tmp_left.b2d");
    assert_eq!(store.container(), ContainerKind::Directory);
    assert_eq!(store.keys(), open("t_nested.b2d").keys());
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let names = ["a.b2nd.7.tmp", "b.b2nd.b2lock", ".b2nd", "c.dat", "d.txt"];
    let mut members: Vec<_> = names.iter().map(|name| stored(name, &leaf)).collect();
    members[4] = stored("d.txt", b"some text that is not a frame");
    members.push(empty_tree());
    assert_eq!(scratch.zip(&members).keys(), ["/c"]);
}

#[test]
fn row_t7_all_forms_of_stored_zip_files_are_read() {
    let plain = open("t_nested.b2z");
    for name in ["x_zip64", "x_datadesc", "x_prefix", "x_aligned", "x_embed_first"] {
        let store = open(&format!("{name}.b2z"));
        assert_eq!(store.keys(), plain.keys(), "{name}");
        assert_eq!(array_items(&store, "/c0/c1/leaf2"), array_items(&plain, "/c0/c1/leaf2"));
        let damaged =
            |finding: &ferroblosc_formats::store::Finding| finding.severity == Severity::Damage;
        assert!(!store.verify().unwrap().iter().any(damaged), "{name}");
    }
}

#[test]
fn row_t8_a_comment_that_contains_the_end_magic_is_a_comment() {
    let store = open("x_comment.b2z");
    assert_eq!(store.keys(), open("t_nested.b2z").keys());
}

#[test]
fn row_t9_compressed_members_are_inflated_with_a_limit() {
    let store = open("x_deflated.b2z");
    assert_eq!(store.keys(), open("t_nested.b2z").keys());
    assert_eq!(array_items(&store, "/top"), array_items(&open("t_nested.b2z"), "/top"));
    assert!(is_noted(&store, "top.b2nd", "compressed"));

    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[1; 100_000]);
    let mut member = deflated("a.b2f", &leaf);
    let path = scratch.file("a.b2z", &crate::build::zip(&[member.clone(), empty_tree()]));
    let mut options = Options::default();
    options.max_frame = leaf.len() as u64 - 1;
    let store = Store::open_with(&path, &options).unwrap();
    assert!(matches!(store.leaf("/a"), Err(Error::Limit { .. })));
    assert_eq!(Store::open(&path).unwrap().leaf("/a").unwrap().schunk().nbytes(), 100_000);
    // The recorded size is a lie, the data are truncated, or damaged.
    member.size -= 1;
    let error = scratch.zip(&[member.clone(), empty_tree()]).leaf("/a").err().unwrap();
    assert!(error.to_string().contains("longer than recorded"), "{error}");
    member.size += 2;
    let error = scratch.zip(&[member.clone(), empty_tree()]).leaf("/a").err().unwrap();
    assert!(error.to_string().contains("shorter than recorded"), "{error}");
    member.data.truncate(member.data.len() / 2);
    let error = scratch.zip(&[member.clone(), empty_tree()]).leaf("/a").err().unwrap();
    assert!(error.to_string().contains("truncated"), "{error}");
    member.data[..4].fill(0xff);
    let error = scratch.zip(&[member, empty_tree()]).leaf("/a").err().unwrap();
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn row_t10_checksums_of_members_are_compared_on_request() {
    for name in ["x_crc.b2z", "x_bitrot.b2z"] {
        let store = open(name);
        assert_eq!(array_items(&store, "/top").len(), 3);
        assert!(is_damaged(&store, "top.b2nd", "CRC-32"), "{name}");
        let store = Store::open_with(fixture(name), &strict()).unwrap();
        assert!(matches!(store.leaf("/top"), Err(Error::Member { .. })));
        assert!(store.leaf("/c0/c2").is_ok());
    }
    // Members that are inflated are always compared.
    let scratch = Scratch::new();
    let mut member = deflated("a.b2f", &frame(&[], &[], b"abc"));
    member.crc ^= 1;
    let error = scratch.zip(&[member, empty_tree()]).leaf("/a").err().unwrap();
    assert!(error.to_string().contains("CRC-32"), "{error}");
}

#[test]
fn row_t11_the_last_member_of_a_key_is_read_and_the_others_are_damage() {
    let scratch = Scratch::new();
    let leaf = |data: &[u8]| frame(&[], &[], data);
    for second in ["a.b2f", "a.b2nd"] {
        let members = [stored("a.b2f", &leaf(b"one")), stored(second, &leaf(b"second"))];
        let store = scratch.zip(&[&members[..], &[empty_tree()]].concat());
        assert_eq!(store.leaf("/a").unwrap().schunk().nbytes(), 6);
        assert!(is_damaged(&store, second, "same key"));
    }
    assert!(is_damaged(&open("x_duplicate.b2z"), "top.b2nd", "same key"));
    assert_eq!(open("x_same_key.b2z").keys(), open("t_nested.b2z").keys());
    let twice = [empty_tree(), empty_tree(), stored("a.b2f", &leaf(b"one"))];
    assert!(is_damaged(&scratch.zip(&twice), "embed.b2e", "same name"));
}

#[test]
fn row_t12_names_that_lead_out_of_the_store_are_ignored() {
    let store = open("x_traversal.b2z");
    assert!(
        store
            .leaf_keys()
            .all(|key| { !key.split('/').skip(1).any(|part| matches!(part, "" | "." | "..")) })
    );
    assert!(store.findings().iter().any(|finding| finding.place.contains("..")));
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let names = ["../a.b2f", "/a.b2f", "a//b.b2f", "./a.b2f", "a/../b.b2f", "a\0.b2f", "ok.b2f"];
    let mut members: Vec<_> = names.iter().map(|name| stored(name, &leaf)).collect();
    members.push(empty_tree());
    let store = scratch.zip(&members);
    assert_eq!(store.keys(), ["/ok"]);
    assert_eq!(store.findings().len(), 6);
    // Keys of embed stores, and of the registry.
    let entry = || map(vec![("offset", 0.into()), ("length", leaf.len().into())]);
    let entries = map(vec![("/../a", entry()), ("a", entry()), ("/b", entry())]);
    let bytes = embed("b2embed", entries, &leaf);
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    assert_eq!((store.keys(), store.findings().len()), (vec!["/b".to_owned()], 2));
    // Links out of a directory.
    let outside = scratch.file("outside.b2f", &leaf);
    scratch.file("d.b2d/inside.b2f", &leaf);
    scratch.file("d.b2d/embed.b2e", &embed("b2tree", map(Vec::new()), b""));
    std::os::unix::fs::symlink(&outside, scratch.path("d.b2d/link.b2f")).unwrap();
    std::os::unix::fs::symlink("inside.b2f", scratch.path("d.b2d/near.b2f")).unwrap();
    std::os::unix::fs::symlink("..", scratch.path("d.b2d/up")).unwrap();
    let store = Store::open(scratch.path("d.b2d")).unwrap();
    assert_eq!(store.keys(), ["/inside", "/near"]);
    assert_eq!(store.findings().len(), 2);
}

#[test]
fn row_t13_a_store_without_embed_file_is_read_from_its_leaves() {
    for name in ["x_noembed.b2z", "x_noembed.b2d"] {
        let store = open(name);
        assert_eq!(store.kind(), StoreKind::Tree);
        assert_eq!(array_items(&store, "/top"), array_items(&open("t_nested.b2z"), "/top"));
        assert!(is_damaged(&store, "embed.b2e", "missing"), "{name}");
    }
    // Other zip files and directories are not stores.
    let scratch = Scratch::new();
    let bytes = crate::build::zip(&[stored("README", b"text"), deflated("b", b"more")]);
    let path = scratch.file("other.zip", &bytes);
    assert_eq!(Store::open(&path).err(), Some(Error::NotAStore(path)));
    let folder = scratch.path("");
    assert!(matches!(Store::open(folder), Err(Error::NotAStore(_))));
    let path = scratch.file("text", b"neither a zip file nor a frame");
    assert!(matches!(Store::open(path), Err(Error::NotAStore(_))));
}

#[test]
fn row_t14_a_truncated_zip_file_is_an_error_that_names_the_cause() {
    let error = Store::open(fixture("x_half.b2z")).err().unwrap();
    assert!(matches!(error, Error::Zip { .. }) && error.is_corruption());
    assert!(error.to_string().contains("truncated"), "{error}");
    let scratch = Scratch::new();
    let whole = std::fs::read(fixture("t_nested.b2z")).unwrap();
    for len in [4, 30, 500, whole.len() - 1] {
        let path = scratch.file("cut.b2z", &whole[..len]);
        let error = Store::open(path).err().unwrap();
        assert!(error.to_string().contains("truncated"), "{len}: {error}");
    }
}

#[test]
fn row_t15_registered_and_unregistered_objects_are_listed() {
    let store = open("x_registry_partial.b2z");
    let tables = |store: &Store| {
        let is_table = |key: &String| store.class(key) == Ok(Class::Table);
        store.keys().into_iter().filter(is_table).collect::<Vec<_>>()
    };
    assert_eq!(tables(&store), ["/t1", "/t2"]);
    assert_eq!(store.keys().len(), 2);
    let store = open("x_registry_future.b2z");
    assert_eq!(store.class("/t1"), Ok(Class::Unknown));
    assert!(store.description("/t1").unwrap().unwrap().get("kind").is_some());
    assert!(matches!(store.table("/t1"), Err(Error::WrongClass { .. })));
    let store = open("x_registry_gone.b2z");
    assert_eq!(store.class("/gone"), Ok(Class::Table));
    assert_eq!(store.table("/gone").err(), Some(Error::MissingLeaf("/gone/_meta".to_owned())));
}

#[test]
fn row_t17_reading_changes_no_file() {
    let scratch = Scratch::new();
    let source = open("t_table.b2z");
    for member in members_of(&source) {
        let name = format!("s.b2d/{}", String::from_utf8(member.name).unwrap());
        scratch.file(&name, &member.data);
    }
    scratch.file("s.b2z", &std::fs::read(fixture("t_table.b2z")).unwrap());
    let files = || {
        let mut found = Vec::new();
        let mut pending = vec![scratch.path("")];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let changed = path.metadata().unwrap().modified().unwrap();
                    found.push((std::fs::read(&path).unwrap(), changed, path));
                }
            }
        }
        found.sort_by(|one, other| one.2.cmp(&other.2));
        found
    };
    let before = files();
    for name in ["s.b2z", "s.b2d"] {
        let store = Store::open(scratch.path(name)).unwrap();
        assert_eq!(store.table("/t2").unwrap().values("x", 0..2).unwrap(), ints(&[1, 2]));
        store.verify().unwrap();
    }
    assert_eq!(files(), before);
}

#[test]
fn row_t18_the_recorded_lengths_of_batches_are_not_used() {
    let bytes = std::fs::read(fixture("a_batch.b2b")).unwrap();
    let lengths = rmpv::Value::Array(vec![100.into(), 1.into()]);
    let lengths = map(vec![("batch_lengths", lengths)]);
    let bytes = with_attribute(&bytes, "_batch_array_metadata", &lengths);
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    let objects = store.objects("/").unwrap();
    assert_eq!((objects.nbatches(), objects.len()), (3, Ok(10)));
    assert_eq!(objects.items(5..7).unwrap(), [Value::Int(1), Value::Str("two".to_owned())]);
    let error = objects.items(9..11).err().unwrap();
    assert_eq!(error, Error::OutOfRange { start: 9, end: 11, len: 10 });
}

#[test]
fn row_t19_a_table_with_invalid_computed_columns_is_readable() {
    let scratch = Scratch::new();
    let store = with_schema(&scratch, &open("c_computed.b2z"), |schema| {
        let hostile = "__import__('os').system('touch /tmp/x')";
        assert!(schema.contains("(o0 * 2"));
        schema.replacen("(o0 * 2", &format!("{hostile} + (o0 * 2"), 1)
    });
    let table = store.table("/").unwrap();
    assert_eq!(table.values("i", 0..3).unwrap(), ints(&[0, 7, 14]));
    let computed = &table.schema().computed[0];
    assert!(computed.expression.contains("__import__"));
    assert!(matches!(table.values(&computed.name, 0..1), Err(Error::Column { .. })));
}

#[test]
fn row_t20_live_rows_are_counted() {
    let store = open("x_nrows_lie.b2z");
    let table = store.table("/").unwrap();
    assert_eq!((table.len(), table.schema().nrows), (3, Some(77)));
    assert_eq!(table.findings().len(), 1);
    assert!(is_noted(&store, "/", "records 77 rows"));
}

#[test]
fn row_t21_unknown_kinds_and_keys_leave_other_columns_readable() {
    let store = open("x_unknown_kind.b2z");
    let table = store.table("/").unwrap();
    let error = table.values("int8", 0..1).err().unwrap();
    assert!(error.to_string().contains("int7"), "{error}");
    assert_eq!(table.values("int16", 0..3).unwrap().len(), 3);
    let store = open("x_unknown_colkey.b2z");
    let table = store.table("/").unwrap();
    assert_eq!(table.rows(0..3).unwrap().len(), 3);
    assert!(table.schema().columns.iter().any(|column| column.json.get("future").is_some()));
    // Two columns of one name cannot be distinguished.
    let error = open("x_dup_col.b2z").table("/").err().unwrap();
    assert!(matches!(error, Error::Schema { .. }), "{error}");
    let store = open("x_missing_col.b2z");
    let table = store.table("/").unwrap();
    assert_eq!(table.values("a", 0..1), Err(Error::MissingLeaf("/_cols/a".to_owned())));
    assert_eq!(table.values("c", 0..1).unwrap().len(), 1);
}

#[test]
fn row_t22_masks_and_sentinels_are_nulls() {
    for name in ["c_nulls_mask.b2z", "c_nulls_sentinel.b2z"] {
        let store = open(name);
        let table = store.table("/").unwrap();
        for column in &table.schema().columns {
            let values = table.values(&column.name, 0..3).unwrap();
            assert!(column.nullable && values.contains(&Value::Nil), "{name} {}", column.name);
            if let Ok(items) = table.items(&column.name, 0..3) {
                let valid: Vec<bool> = values.iter().map(|value| *value != Value::Nil).collect();
                assert_eq!(items.valid, Some(valid), "{name} {}", column.name);
            }
        }
    }
    let store = open("c_nulls_mask.b2z");
    let table = store.table("/").unwrap();
    let items = table.items("i", 0..3).unwrap();
    assert_eq!(items.valid, Some(vec![true, false, true]));
    assert_eq!(table.values("bo", 0..3).unwrap()[1], Value::Nil);
}

#[test]
fn row_t23_values_that_were_not_written_are_errors_of_their_rows() {
    let store = open("c_crash.b2d");
    let table = store.table("/").unwrap();
    assert_eq!(table.len(), 5);
    let names: Vec<_> = table.schema().columns.iter().map(|column| column.name.clone()).collect();
    let others = names.iter().filter(|name| *name != "v");
    for name in others {
        assert_eq!(table.values(name, 0..5).unwrap().len(), 5);
    }
    let missing = table.values("v", 2..3).err().unwrap();
    assert!(matches!(missing, Error::Row { row: 2, .. }), "{missing}");
    assert!(matches!(table.rows(0..1), Err(Error::Row { .. })));
    assert!(is_damaged(&store, "/ column \"v\"", "missing"));
    // Columns of another length than the mask.
    for (name, len) in [("x_valid_long.b2z", 3), ("x_valid_short.b2z", 2)] {
        let store = open(name);
        let table = store.table("/").unwrap();
        assert_eq!(table.values("int8", 0..len).unwrap().len() as u64, len);
        assert!(matches!(table.rows(0..1), Err(Error::Damaged { .. })), "{name}");
        assert!(is_damaged(&store, "/ column \"int8\"", "stored rows"), "{name}");
    }
}

#[test]
fn row_t24_surplus_values_are_noted() {
    for name in ["y_bug_tailappend.b2z", "y_bug_compact.b2z"] {
        let store = open(name);
        assert!(is_noted(&store, "column", "may belong to other rows"), "{name}");
        let table = store.table("/").unwrap();
        assert_eq!(table.rows(0..table.len()).unwrap().len() as u64, table.len());
    }
    let store = open("c_midhole.b2z");
    assert!(!is_noted(&store, "column", "may belong to other rows"));
}

#[test]
fn row_t27_stores_of_python_blosc2_3_7_to_4_0_are_read() {
    for (name, kind) in [
        ("old/d_372.b2z", StoreKind::Dict),
        ("old/d_372.b2d", StoreKind::Dict),
        ("old/t_400.b2z", StoreKind::Tree),
    ] {
        let store = open(name);
        assert_eq!(store.kind(), kind, "{name}");
        assert!(!store.keys().is_empty());
    }
    let attrs = open("old/t_400.b2z").attrs("/").unwrap();
    assert_eq!(attrs.get("author"), Some(&Value::Str("me".to_owned())));
}

#[test]
fn row_t28_rows_of_large_chunks_are_read_block_by_block() {
    // A table with 2^36 stored rows, one of them live, in chunks of 2^24 rows.
    let rows: i64 = 1 << 36;
    let layout = Layout { shape: &[rows], chunkshape: &[1 << 24], blockshape: &[1 << 14] };
    let array = |typesize: i32, dtype: &str| {
        let params = CParams::default().typesize(typesize);
        Array::zeros(Storage::frame(), params, &layout, dtype).unwrap()
    };
    let mut valid = array(1, "|b1");
    valid.set_slice(&[rows / 2], &[rows / 2 + 1], &[1]).unwrap();
    let schema = r#"{"columns": [{"name": "x", "kind": "int64"}]}"#;
    let meta = [("kind", pack(&"ctable".into())), ("schema", pack(&schema.into()))];
    let scratch = Scratch::new();
    let store = scratch.zip(&[
        stored("_meta.b2f", &frame(&[], &meta, b"")),
        stored("_valid_rows.b2nd", &valid.to_bytes().unwrap()),
        stored("_cols/x.b2nd", &array(8, "<i8").to_bytes().unwrap()),
        empty_tree(),
    ]);
    let table = store.table("/").unwrap();
    assert_eq!((table.len(), table.stored_rows()), (1, 1 << 36));
    assert_eq!(table.rows(0..1).unwrap(), [ints(&[0])]);
    // Rows that are too large together are an error before memory is allocated.
    let mut options = Options::default();
    options.max_message = 7;
    let store = Store::open_with(scratch.path("made.b2z"), &options).unwrap();
    assert!(matches!(store.table("/").unwrap().rows(0..1), Err(Error::Limit { .. })));
}

/// Returns a table of two rows with one column.
fn table_of(
    scratch: &Scratch,
    column: &str,
    (shape, dtype): (&[i64], &str),
    items: &[u8],
) -> Store {
    let array = |shape: &[i64], dtype: &str, items: &[u8]| {
        let count = shape.iter().product::<i64>();
        let typesize = i32::try_from(items.len()).unwrap() / i32::try_from(count).unwrap();
        let extents: Vec<i32> = shape.iter().map(|&extent| extent.try_into().unwrap()).collect();
        let layout = Layout { shape, chunkshape: &extents, blockshape: &extents };
        let params = CParams::default().typesize(typesize);
        let array = Array::from_item_bytes(Storage::frame(), params, &layout, dtype, items);
        array.unwrap().to_bytes().unwrap()
    };
    let schema = format!("{{\"columns\": [{column}]}}");
    let meta = [("kind", pack(&"ctable".into())), ("schema", pack(&schema.into()))];
    scratch.zip(&[
        stored("_meta.b2f", &frame(&[], &meta, b"")),
        stored("_valid_rows.b2nd", &array(&[2], "|b1", &[1, 1])),
        stored("_cols/x.b2nd", &array(shape, dtype, items)),
        empty_tree(),
    ])
}

#[test]
fn sentinels_are_compared_before_conversion() {
    let scratch = Scratch::new();
    let column = r#"{"name": "x", "kind": "ndarray", "item_shape": [2], "nullable": true,
        "dtype_str": "|b1", "null_value": 255, "bool_widened_to_uint8": true}"#;
    let store = table_of(&scratch, column, (&[2, 2], "|u1"), &[255, 255, 0, 1]);
    let table = store.table("/").unwrap();
    let flags = Value::List(vec![Value::Bool(false), Value::Bool(true)]);
    assert_eq!(table.values("x", 0..2).unwrap(), [Value::Nil, flags]);
    let items = [0.1f32.to_le_bytes(), 1f32.to_le_bytes()].concat();
    let column = r#"{"name": "x", "kind": "float32", "nullable": true, "null_value": 0.1}"#;
    let store = table_of(&scratch, column, (&[2], "<f4"), &items);
    let table = store.table("/").unwrap();
    assert_eq!(table.values("x", 0..2).unwrap(), [Value::Nil, Value::Float(1.0)]);
    // Only columns with nulls have a sentinel.
    let column = column.replace("true", "false");
    let store = table_of(&scratch, &column, (&[2], "<f4"), &items);
    let table = store.table("/").unwrap();
    assert_eq!(table.values("x", 0..1).unwrap(), [Value::Float(0.1f32.into())]);
}

#[test]
fn columns_with_invalid_descriptions_do_not_prevent_reading_others() {
    let scratch = Scratch::new();
    let source = open("c_nulls_sentinel.b2z");
    let edit = |schema: &str| {
        let changed = schema.replacen("-2147483648", "[1]", 1);
        assert_ne!(changed, schema);
        changed
    };
    let store = with_schema(&scratch, &source, edit);
    let table = store.table("/").unwrap();
    let error = table.values("i", 0..1).err().unwrap();
    assert!(error.to_string().contains("null value is invalid"), "{error}");
    assert!(table.values("u", 0..3).is_ok());
}

/// Creates a store with a table and an array of bytes that cannot be compressed. All stores have
/// their leaves at the same offsets.
fn of_noise(path: &std::path::Path, seed: u64) {
    let mut state = seed;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let mut bytes =
        |count: usize| -> Vec<u8> { std::iter::repeat_with(&mut noise).take(count).collect() };
    let mut writer = Store::create(path).unwrap();
    let columns = ["a", "b"].map(|name| ColumnSpec::number(name, "uint8"));
    let mut table = writer.create_table("/t", &columns).unwrap();
    let (one, other) = (bytes(200_000), bytes(200_000));
    let cells = |bytes| Cells::Items { bytes, valid: None };
    table.append(&[("a", cells(&one)), ("b", cells(&other))]).unwrap();
    table.finish().unwrap();
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    for _ in 0..2 {
        schunk.append(&bytes(50_000)).unwrap();
    }
    writer.put("/top", NewLeaf::schunk(&schunk).unwrap()).unwrap();
    writer.commit().unwrap();
}

/// Otherwise columns, and chunks of one leaf, would be those of two files.
#[test]
fn a_zip_file_that_is_replaced_is_read_from_the_open_file() {
    let scratch = Scratch::new();
    let (path, other) = (scratch.path("a.b2z"), scratch.path("b.b2z"));
    of_noise(&path, 1);
    of_noise(&other, 2);
    assert_eq!(path.metadata().unwrap().len(), other.metadata().unwrap().len());
    let content = |store: &Store| {
        let table = store.table("/t").unwrap();
        let columns = ["a", "b"].map(|name| table.items(name, 0..200_000).unwrap().bytes);
        let leaf = store.leaf("/top").unwrap();
        (columns, [0, 1].map(|nchunk| leaf.schunk().decompress_to_vec(nchunk).unwrap()))
    };
    let expected = content(&Store::open(&path).unwrap());
    assert!(expected != content(&Store::open(&other).unwrap()));
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    assert!(table.items("a", 0..10).unwrap().bytes == expected.0[0][..10]);
    let leaf = store.leaf("/top").unwrap();
    assert!(leaf.schunk().decompress_to_vec(0).unwrap() == expected.1[0]);
    std::fs::rename(&other, &path).unwrap();
    // Of open leaves and of others.
    assert!(table.items("a", 0..200_000).unwrap().bytes == expected.0[0]);
    assert!(table.items("b", 0..200_000).unwrap().bytes == expected.0[1]);
    assert!(leaf.schunk().decompress_to_vec(1).unwrap() == expected.1[1]);
    assert!(content(&store) == expected);
    assert_eq!(store.check_unchanged(), Err(Error::Changed(path)));
    // A member is not changed in place.
    let mut schunk = leaf.into_schunk();
    assert!(schunk.append(&[1; 50_000]).is_err());
}

#[test]
fn an_embed_store_can_have_the_root_as_a_key() {
    let leaf = frame(&[], &[], &[5; 100]);
    let entry = || map(vec![("offset", 0.into()), ("length", leaf.len().into())]);
    let entries = || map(vec![("/", entry()), ("/a", entry())]);
    let bytes = embed("b2embed", entries(), &leaf);
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    assert!(store.findings().is_empty(), "{:?}", store.findings());
    let nodes = store.walk("/").unwrap();
    assert_eq!(nodes.iter().map(|node| &*node.key).collect::<Vec<_>>(), ["/", "/a"]);
    assert_eq!(store.leaf("/").unwrap().schunk().nbytes(), 100);
}

#[test]
fn damaged_texts_and_codes_are_errors_of_their_rows() {
    for (name, text) in [
        ("x_utf8_invalid.b2z", "not UTF-8"),
        ("x_utf8_offsets.b2z", "decreasing"),
        ("x_dict_code.b2z", "code 99"),
    ] {
        let store = open(name);
        let table = store.table("/").unwrap();
        let error = table.values("a", 1..2).err().unwrap();
        assert!(matches!(error, Error::Row { row: 1, .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(table.texts("a", 1..2), Err(error.clone()), "{name}");
        assert_eq!(table.texts("a", 0..table.len()), Err(error), "{name}");
        assert_eq!(table.values("a", 0..1).unwrap().len(), 1, "{name}");
        assert_eq!(table.texts("a", 0..1).unwrap().len(), 1, "{name}");
    }
    let missing = open("x_missing_dict.b2z");
    let table = missing.table("/").unwrap();
    assert_eq!(table.values("a", 0..1), Err(Error::MissingLeaf("/_cols/a_dict".to_owned())));
    let error = open("x_missing_valid.b2z").table("/").err().unwrap();
    assert_eq!(error, Error::MissingLeaf("/_valid_rows".to_owned()));
    assert!(matches!(open("x_noschema.b2z").table("/"), Err(Error::Schema { .. })));
    assert!(is_damaged(&open("x_wrong_dtype.b2z"), "/ column \"int8\"", "dtype"));
    let scratch = Scratch::new();
    for (name, column, from, to) in [
        ("c_string.b2z", "a", "\"max_length\":4", "\"max_length\":5"),
        ("c_bytes.b2z", "a", "\"max_length\":4", "\"max_length\":5"),
        ("c_generated_nd.b2z", "e", "\"dtype_str\":\"<f8\"", "\"dtype_str\":\"<i8\""),
    ] {
        let edit = |schema: &str| {
            let schema = schema.replace(": ", ":").replace(", ", ",");
            assert!(schema.contains(from), "{schema}");
            schema.replacen(from, to, 1)
        };
        let store = with_schema(&scratch, &open(name), edit);
        assert!(is_damaged(&store, &format!("/ column {column:?}"), "dtype"), "{name}");
    }
    assert!(is_damaged(&open("x_flip.b2z"), "/top", "size of the chunks"));
}

#[test]
fn rows_are_read_in_any_range() {
    for name in ["c_midhole.b2z", "c_big.b2z", "c_deleted.b2z", "own_table.b2z"] {
        let store = open(name);
        let table = store.table("/").unwrap();
        let all = table.rows(0..table.len()).unwrap();
        let step = (table.len() / 7).max(1);
        for start in (0..table.len()).step_by(usize::try_from(step).unwrap()) {
            let end = (start + step).min(table.len());
            let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            assert_eq!(table.rows(start..end).unwrap(), all[range], "{name}");
        }
        let len = table.len();
        let error = table.rows(len..len + 1).err().unwrap();
        assert_eq!(error, Error::OutOfRange { start: len, end: len + 1, len });
    }
    let store = open("c_big.b2z");
    let table = store.table("/").unwrap();
    let names: Vec<_> = table.schema().columns.iter().map(|column| column.name.as_str()).collect();
    let values = table.values(names[1], 8998..9000).unwrap();
    assert_eq!(values, texts(&["s8998", "s8999"]));
}

#[test]
fn values_in_arrows_form_are_named_and_exported() {
    let store = open("a_batch_arrow.b2b");
    let objects = store.objects("/").unwrap();
    assert_eq!((objects.serializer(), objects.nbatches()), ("arrow", 2));
    assert!(matches!(objects.batch(0), Err(Error::Unsupported { .. })));
    assert!(!objects.raw_batch(0).unwrap()[0].is_empty());
    let store = open("c_list_arrow.b2z");
    let error = store.table("/").unwrap().values("a", 0..1).err().unwrap();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

fn has_severity(store: &Store, severity: Severity) -> bool {
    store.verify().unwrap().iter().any(|finding| finding.severity == severity)
}

#[test]
fn chunks_are_verified_also_if_their_values_are_not_decoded() {
    let bytes = std::fs::read(fixture("a_batch_arrow.b2b")).unwrap();
    let is_found = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        let store = Store::from_bytes(changed, &Options::default());
        store.is_ok_and(|store| {
            let is_arrow = store.objects("/").is_ok_and(|objects| objects.serializer() == "arrow");
            is_arrow && is_damaged(&store, "/", "1 chunk or metalayer is damaged")
        })
    };
    assert!((0..bytes.len()).any(is_found));
    // Values that are not decoded are unchecked.
    let store = open("a_batch_arrow.b2b");
    assert!(has_severity(&store, Severity::Unchecked) && !has_severity(&store, Severity::Damage));
    assert!(has_severity(&open("c_list_arrow.b2z"), Severity::Unchecked));
}

#[test]
fn large_rows_are_verified_in_smaller_steps() {
    let mut options = Options::default();
    options.max_message = 350_000;
    let store = Store::open_with(fixture("c_big.b2z"), &options).unwrap();
    let table = store.table("/").unwrap();
    let names = table.schema().columns.iter().map(|column| &*column.name);
    for name in names {
        assert!(matches!(table.values(name, 0..table.len()), Err(Error::Limit { .. })), "{name}");
    }
    assert!(!has_severity(&store, Severity::Unchecked), "{:?}", store.verify());
}

#[test]
fn repeated_members_and_deep_directories_are_found() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let text = stored("notes.txt", b"a");
    let store = scratch.zip(&[text.clone(), text, stored("a.b2f", &leaf), empty_tree()]);
    assert!(is_damaged(&store, "notes.txt", "another member has the same name"));
    scratch.file("d.b2d/a.b2f", &leaf);
    scratch.file(&format!("d.b2d/{}x.b2f", "d/".repeat(258)), &leaf);
    let store = Store::open(scratch.path("d.b2d")).unwrap();
    let is_deep = |finding: &ferroblosc_formats::store::Finding| finding.text.contains("too deep");
    assert!(store.findings().iter().any(is_deep), "{:?}", store.findings());
}

#[test]
fn attributes_of_users_are_separated_from_those_of_the_format() {
    let user = pack(&map(vec![("author", "me".into())]));
    let layers = [
        ("_b2o_user_vlmeta", user),
        ("_batch_array_metadata", pack(&1.into())),
        ("x", pack(&2.into())),
    ];
    let store = Store::from_bytes(frame(&[], &layers, b""), &Options::default()).unwrap();
    let attrs = store.attrs("/").unwrap();
    let names: Vec<&str> = attrs.entries.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["author", "x"]);
    assert_eq!(attrs.get("author"), Some(&Value::Str("me".to_owned())));
    assert!(format!("{store:?}").contains("Object"));
}
