//! The written bytes, and the rows after every kind of change.

use crate::common::{Scratch, fixtures, iota, json, made, reader, rows, spec, tree, writer};
use crate::hooks::hooked;
use ferroblosc_formats::bcolz::{self, Carray, CarraySpec, Compression, Error, Mode, Options};
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::convert::carray_to_b2nd;
use ferroblosc_formats::numpy::Dtype;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn small_chunks_have_the_bytes_that_bcolz_writes() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let spec = CarraySpec { expectedlen: 10, ..spec("int32", 4) };
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    let items: Vec<u8> = (0..10_i32).flat_map(i32::to_le_bytes).collect();
    array.append(&items).unwrap();
    array.close().unwrap();
    let front = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";
    for (number, numbers, head) in [
        (0, 0..4_i32, [2, 1, 0x33, 4, 16, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 0]),
        (1, 4..8, [2, 1, 0x33, 4, 16, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 0]),
        (2, 8..10, [2, 1, 0x33, 4, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0]),
    ] {
        let items: Vec<u8> = numbers.flat_map(i32::to_le_bytes).collect();
        let file = std::fs::read(root.join(format!("data/__{number}.blp"))).unwrap();
        assert_eq!(file[..16], front[..]);
        // The split flag of a memcpyed chunk is the writer's choice.
        let mut chunk_head = file[16..32].to_vec();
        chunk_head[2] |= 0x10;
        assert_eq!(chunk_head, head);
        assert_eq!(file[32..], items);
    }
    assert_eq!(text(&root.join("__attrs__")), "{}\n");
    let storage = r#"{"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}, "chunklen": 4, "expectedlen": 10, "dflt": 0}"#;
    assert_eq!(text(&root.join("meta/storage")), format!("{storage}\n"));
    // Two chunks of 32 bytes in files, and one of 16 in memory.
    let sizes = r#"{"shape": [10], "nbytes": 40, "cbytes": 80}"#;
    assert_eq!(text(&root.join("meta/sizes")), format!("{sizes}\n"));
    assert_eq!(tree(&root).len(), 8);
}

#[test]
fn descriptions_are_written_as_bcolz_writes_them() {
    // Arrays created with a fixture's parameters have its description.
    for name in [
        "i8_small", "s5", "u4", "m8ns", "v121_m8d", "be_i4", "nd3", "empty_3d", "bool", "f2",
        "s300", "f4",
    ] {
        let fixture = reader(&fixtures().join(name));
        let scratch = Scratch::new();
        let root = scratch.path("copy");
        let spec = CarraySpec {
            row_shape: fixture.row_shape().to_vec(),
            expectedlen: fixture.expectedlen(),
            chunklen: match name {
                "i8_small" | "empty_3d" | "f2" => None,
                _ => Some(fixture.chunklen()),
            },
            ..CarraySpec::new(fixture.dtype().clone())
        };
        let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
        array.append(&rows(&fixtures().join(name))).unwrap();
        array.close().unwrap();
        for file in ["meta/storage", "__attrs__"] {
            assert_eq!(text(&root.join(file)), text(&fixtures().join(name).join(file)), "{name}");
        }
        assert_eq!(rows(&root), rows(&fixtures().join(name)), "{name}");
    }
}

#[test]
fn appends_of_odd_sizes_store_all_rows_without_extra_files() {
    let scratch = Scratch::new();
    for (name, pieces) in [
        ("one", vec![2500]),
        ("odd", vec![1, 0, 698, 300, 1, 1000, 500]),
        ("exact", vec![500, 500, 1500]),
        ("spanning", vec![3, 2497]),
    ] {
        let root = scratch.path(name);
        made(&root, 500, 0..0);
        let mut start = 0;
        for (i, piece) in pieces.into_iter().enumerate() {
            let mut array = writer(&root);
            array.append(&iota(start..start + piece)).unwrap();
            start += piece;
            if i % 2 == 0 {
                assert_eq!(array.read(0..start as u64).unwrap(), iota(0..start));
            }
            array.close().unwrap();
            assert_eq!(rows(&root), iota(0..start), "{name}");
        }
        assert_eq!(std::fs::read_dir(root.join("data")).unwrap().count(), 5, "{name}");
    }
}

#[test]
fn dropping_a_handle_flushes_it() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 500, 0..10);
    let mut array = writer(&root);
    array.append(&iota(10..20)).unwrap();
    assert_eq!(rows(&root), iota(0..10));
    drop(array);
    assert_eq!(rows(&root), iota(0..20));
}

#[test]
fn rows_are_set_across_chunks_and_in_the_remainder() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..450);
    let mut expected: Vec<i64> = (0..450).collect();
    let mut array = writer(&root);
    for (start, count) in [(0, 1), (99, 2), (150, 200), (449, 1), (390, 30), (100, 100), (7, 0)] {
        let numbers: Vec<i64> = (0..count).map(|i| -1000 * start - i).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        array.set(start as u64, &bytes).unwrap();
        expected[start as usize..(start + count) as usize].copy_from_slice(&numbers);
    }
    let expected: Vec<u8> = expected.into_iter().flat_map(i64::to_le_bytes).collect();
    assert_eq!(array.read(0..450).unwrap(), expected);
    assert_eq!(
        array.set(449, &iota(0..2)),
        Err(Error::NoSuchRows { start: 449, count: 2, len: 450 })
    );
    array.close().unwrap();
    assert_eq!(rows(&root), expected);
}

#[test]
fn trimming_and_growing_work_at_any_length() {
    let scratch = Scratch::new();
    for (len, new) in [
        (450, 0),
        (450, 450),
        (450, 449),
        (450, 400),
        (450, 399),
        (450, 301),
        (450, 100),
        (450, 50),
        (400, 399),
        (400, 300),
        (50, 0),
        (50, 10),
        (0, 0),
        (0, 1),
        (50, 100),
        (50, 101),
        (400, 777),
    ] {
        let root = scratch.path(&format!("{len}-{new}"));
        made(&root, 100, 0..len);
        let mut array = writer(&root);
        array.resize(new as u64).unwrap();
        let mut expected = iota(0..len.min(new));
        expected.resize(new as usize * 8, 0);
        assert_eq!(rows(&root), expected, "{len} to {new}");
        // The array accepts appends afterwards.
        array.append(&iota(0..30)).unwrap();
        expected.extend(iota(0..30));
        array.close().unwrap();
        assert_eq!(rows(&root), expected, "{len} to {new} and on");
        let files = std::fs::read_dir(root.join("data")).unwrap().count();
        assert_eq!(files, (new as usize + 30).div_ceil(100), "{len} to {new}");
    }
    let root = scratch.path("too-many");
    made(&root, 100, 0..5);
    let error = writer(&root).trim(6).unwrap_err();
    assert_eq!(error.to_string(), "`nitems` must be less than total length");
    assert_eq!(rows(&root), iota(0..5));
}

#[test]
fn growing_fills_with_the_fill_value() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let spec = CarraySpec { row_shape: vec![2], dflt: Some(json("7")), ..spec("int16", 4) };
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    array.resize(3).unwrap();
    assert_eq!(array.read(0..3).unwrap(), [7, 0].repeat(6));
    drop(array);
    let root = scratch.copy("dflt7");
    writer(&root).resize(16).unwrap();
    assert_eq!(rows(&root)[56..], [7, 0, 0, 0, 7, 0, 0, 0]);
    let root = scratch.copy("dflt_nan");
    writer(&root).resize(11).unwrap();
    assert!(f64::from_le_bytes(rows(&root)[80..].try_into().unwrap()).is_nan());
    let wrong = CarraySpec { dflt: Some(json("\"x\"")), ..spec.clone() };
    let refused = Carray::create(&scratch.path("b"), &wrong, Mode::Append, &Options::default());
    assert!(matches!(refused, Err(Error::Argument(_))));
}

/// The default fill value of such items would need gigabytes, in memory and as JSON.
#[test]
fn items_that_are_too_large_for_a_fill_value_are_refused() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    for dtype in [
        "|V2000000000",
        "[('a', '|V2000000000')]",
        "[('a', '|i1', (2000000000,))]",
        "[('a', '<i4'), ('b', [('c', '|i1', (20000, 20000))])]",
    ] {
        let dtype = Dtype::parse(dtype).unwrap();
        let spec = CarraySpec { records: true, chunklen: Some(1), ..CarraySpec::new(dtype) };
        let made = Carray::create(&root, &spec, Mode::Write, &Options::default());
        assert!(matches!(made, Err(Error::Argument(text)) if text.contains("fill value")));
        assert!(!root.exists());
    }
}

#[test]
fn every_codec_level_and_shuffle_reads_back() {
    let scratch = Scratch::new();
    let items = iota(0..3000);
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for (clevel, shuffle) in [(0, 0), (1, 1), (5, 2), (9, 0)] {
            let root = scratch.path(&format!("{cname}-{clevel}-{shuffle}"));
            let spec = CarraySpec {
                cparams: Compression { clevel, shuffle, cname: cname.to_owned(), quantize: 0 },
                ..spec("int64", 1024)
            };
            let options = Options { nthreads: 2, ..Options::default() };
            let mut array = Carray::create(&root, &spec, Mode::Append, &options).unwrap();
            array.append(&items).unwrap();
            array.close().unwrap();
            assert_eq!(rows(&root), items, "{cname} {clevel} {shuffle}");
        }
    }
}

#[test]
fn buffered_large_chunks_work_with_any_number_of_threads() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let chunklen = 1 << 17;
    let spec = spec("int64", chunklen);
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    let all = iota(0..5 * chunklen as i64);
    let row = |number: u64| number as usize * 8;
    array.set_threads(3);
    let mut files = Vec::new();
    for (start, end) in [(0, 100_000), (100_000, 200_000), (200_000, 300_000)] {
        array.append(&all[row(start)..row(end)]).unwrap();
        files.push(std::fs::read_dir(root.join("data")).unwrap().count());
        assert!(array.read(0..end).unwrap() == all[..row(end)]);
    }
    assert_eq!(files, [0; 3], "two full chunks are buffered until the third");
    array.set(chunklen - 5, &iota(-10..0)).unwrap();
    array.set(chunklen - 5, &all[row(chunklen - 5)..][..80]).unwrap();
    array.set_threads(2);
    array.append(&all[row(300_000)..row(4 * chunklen)]).unwrap();
    array.set_threads(1);
    array.append(&all[row(4 * chunklen)..]).unwrap();
    assert!(array.read(0..5 * chunklen).unwrap() == all);
    array.close().unwrap();
    assert!(rows(&root) == all);
}

/// The buffered chunks of a larger number of threads are written first.
#[test]
fn fewer_threads_buffer_fewer_chunks() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let chunklen = 1 << 17;
    let spec = spec("int64", chunklen);
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    array.set_threads(4);
    let all = iota(0..3 * chunklen as i64 + 7);
    let files = || std::fs::read_dir(root.join("data")).unwrap().count();
    // The new rows do not fill the last chunk.
    let (head, tail) = all.split_at(all.len() - 8);
    array.append(head).unwrap();
    assert_eq!(files(), 0);
    array.set_threads(2);
    array.append(tail).unwrap();
    assert_eq!(files(), 3);
    array.close().unwrap();
    assert!(rows(&root) == all);
}

#[test]
fn compression_quantizes_floats() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let spec = CarraySpec {
        cparams: Compression { quantize: 2, ..Compression::default() },
        ..spec("float64", 300)
    };
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    let exact: Vec<u8> = (0..1000).flat_map(|k| (f64::from(k) / 3.0).to_le_bytes()).collect();
    array.append(&exact).unwrap();
    array.flush().unwrap();
    // The remainder in memory is not quantized.
    assert_eq!(array.read(900..1000).unwrap(), exact[7200..]);
    drop(array);
    assert_eq!(rows(&root), rows(&fixtures().join("quantize2")));
    let integers = CarraySpec { dtype: Dtype::parse("int64").unwrap(), ..spec };
    let refused = Carray::create(&scratch.path("b"), &integers, Mode::Append, &Options::default());
    assert_eq!(
        refused.err().unwrap().to_string(),
        "quantize is meant only for floating point data"
    );
}

#[test]
fn attributes_are_set_and_removed() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..5);
    let mut array = writer(&root);
    array.set_attr("näme", json("[1, 2.5, null, \"x\"]")).unwrap();
    array.set_attr("n", json("1")).unwrap();
    array.set_attr("n", json("2")).unwrap();
    assert_eq!(array.remove_attr("absent"), Ok(false));
    assert_eq!(
        text(&root.join("__attrs__")),
        "{\"n\\u00e4me\": [1, 2.5, null, \"x\"], \"n\": 2}\n"
    );
    assert_eq!(array.remove_attr("n"), Ok(true));
    assert_eq!(reader(&root).attrs().get("n"), None);
    assert_eq!(reader(&root).set_attr("x", json("1")), Err(Error::ReadOnly));
}

#[test]
fn attributes_with_unpaired_surrogates_are_kept() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..5);
    // Written by bcolz.
    let file = root.join("__attrs__");
    let theirs = r#"{"x": "\ud800", "\udc00k": [1, {"\ud83d": "\ude00\ud83d"}], "ok": 7}"#;
    std::fs::write(&file, theirs).unwrap();
    assert!(bcolz::verify(&root, &Options::default()).unwrap().is_empty());
    let mut array = writer(&root);
    assert_eq!(rows(&root), iota(0..5));
    assert_eq!(array.attrs().get("ok"), Some(&json("7")));
    assert_eq!(array.attrs().get("x"), None);
    assert_eq!(array.attrs().undecodable().collect::<Vec<_>>(), ["x", r"\udc00k"]);
    assert_eq!(array.attrs().to_json(), theirs);
    array.append(&iota(5..7)).unwrap();
    array.set_attr("new", json("1")).unwrap();
    array.remove_attr("ok").unwrap();
    array.close().unwrap();
    let kept = r#""\udc00k": [1, {"\ud83d": "\ude00\ud83d"}], "new": 1}"#;
    assert_eq!(text(&file), format!("{{\"x\": \"\\ud800\", {kept}\n"));
    // A frame cannot hold them.
    let refused = carray_to_b2nd(&root, &scratch.path("a.b2nd"), &Options::default()).unwrap_err();
    let expected = "__attrs__: the attribute \"x\" contains an unpaired surrogate";
    assert!(refused.to_string().ends_with(expected), "{refused}");
    assert!(!scratch.path("a.b2nd").exists());
    let mut array = writer(&root);
    array.set_attr("x", json("2")).unwrap();
    assert_eq!(array.remove_attr(r"\udc00k"), Ok(false));
    assert_eq!(text(&file), format!("{{\"x\": 2, {kept}\n"));
}

#[test]
fn only_one_writer_can_open_an_array() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..5);
    let first = writer(&root);
    let second = Carray::open(&root, Mode::Append, &Options::default());
    assert!(matches!(second, Err(Error::Busy(_))));
    assert_eq!(rows(&root), iota(0..5));
    drop(first);
    drop(writer(&root));
    assert_eq!(tree(&root).len(), 6, "the lock file is removed");
}

/// The writer of a removed array does not release the lock of a new one at its path.
#[cfg(unix)]
#[test]
fn a_writer_releases_only_its_own_lock() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..5);
    let first = writer(&root);
    std::fs::rename(&root, scratch.path("old")).unwrap();
    made(&root, 100, 0..5);
    let second = writer(&root);
    drop(first);
    let third = Carray::open(&root, Mode::Append, &Options::default());
    assert!(matches!(third, Err(Error::Busy(_))));
    drop(second);
    assert_eq!(tree(&root).len(), 6, "the lock file is removed");
}

#[test]
fn partial_rows_are_refused() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..5);
    let mut array = writer(&root);
    assert_eq!(array.append(&[0; 9]), Err(Error::RowBytes { given: 9, row: 8 }));
    assert_eq!(array.len(), 5);
    for (dtype, chunklen) in [("|S0", 4), ("int64", 0), ("int64", 1 << 40)] {
        let spec = spec(dtype, chunklen);
        let refused = Carray::create(&scratch.path("b"), &spec, Mode::Append, &Options::default());
        assert!(refused.is_err(), "{dtype} {chunklen}");
        assert!(!scratch.path("b").exists());
    }
}

/// A description that is too long or too deep would make the array unreadable.
#[test]
fn what_could_not_be_read_again_is_not_written() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 4, 0..5);
    let mut array = writer(&root);
    array.set_attr("kept", json("1")).unwrap();
    let nested = |depth: usize| json(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    array.set_attr("deep", nested(200)).unwrap();
    let before = tree(&root);
    let error = array.set_attr("deep", nested(201)).unwrap_err();
    assert_eq!(error, Error::Argument("nested too deeply"));
    // Each character has six bytes in the file.
    for len in [3 << 20, 1 << 20] {
        let long = Value::Text("é".repeat(len));
        let set = array.set_attr("long", long.clone());
        assert_eq!(set.is_ok(), len == 1 << 20, "{set:?}");
        assert_eq!(tree(&root) == before, set.is_err());
        assert_eq!(array.attrs().get("long").is_some(), set.is_ok());
    }
    array.close().unwrap();
    assert_eq!(reader(&root).attrs().get("deep"), Some(&nested(200)));
    // An object in the way is not removed for one that cannot be created.
    let before = tree(&root);
    let long = Value::Text("\u{1}".repeat(3 << 20));
    for spec in [
        CarraySpec { dflt: Some(long), ..spec("|S4000000", 1) },
        CarraySpec { row_shape: vec![1; 64], ..spec("int64", 4) },
    ] {
        let created = Carray::create(&root, &spec, Mode::Write, &Options::default());
        assert!(matches!(created, Err(Error::Argument(_))));
        assert_eq!(tree(&root), before);
    }
    let most = CarraySpec { row_shape: vec![1; 63], ..spec("int64", 4) };
    Carray::create(&root, &most, Mode::Write, &Options::default()).unwrap().close().unwrap();
    assert_eq!(reader(&root).shape().len(), 64);
}

/// The handle has read the chunk of the last rows before they were changed.
#[test]
fn a_failed_trim_keeps_changed_rows() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 16, 0..9);
    let is_full = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&is_full);
    let options = hooked(move |operation, path| {
        let is_sizes = path.parent().is_some_and(|parent| parent.ends_with("meta"));
        if operation == "create" && is_sizes && fails.load(Ordering::Relaxed) {
            return Err(ferroblosc::Error::FileWrite);
        }
        Ok(())
    });
    let mut array = Carray::open(&root, Mode::Append, &options).unwrap();
    for _ in 0..2 {
        assert_eq!(array.read(0..2).unwrap(), iota(0..2));
    }
    array.set(0, &iota(100..102)).unwrap();
    array.flush().unwrap();
    is_full.store(true, Ordering::Relaxed);
    array.trim(3).unwrap_err();
    assert_eq!(array.read(0..9).unwrap(), [iota(100..102), iota(2..9)].concat());
    assert_eq!(array.read(1..3).unwrap(), [iota(101..102), iota(2..3)].concat());
}
