//! Faults that verification finds, and their repair.

use crate::common::{
    Scratch, copy_tree, fixtures, iota, made, pack_chunks, reader, rows, spec, tree,
};
use ferroblosc_formats::bcolz::{self, Carray, CarraySpec, Ctable, Fault, Mode, Options};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the faults of a directory: the end of each path, and the kind.
fn faults(root: &Path) -> Vec<(String, Fault)> {
    let findings = bcolz::verify(root, &Options::default()).unwrap();
    let short = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    findings.into_iter().map(|finding| (short(&finding.path), finding.fault)).collect()
}

#[test]
fn fixtures_have_no_faults() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let root = entry.unwrap().path();
        if !root.is_dir() {
            continue;
        }
        for (path, fault) in faults(&root) {
            // Version control does not keep empty directories.
            let is_dropped = path.ends_with("data") && fault == Fault::Missing;
            assert!(fault.is_note() || is_dropped, "{}: {path}: {fault}", root.display());
        }
    }
    let stale = faults(&fixtures().join("trim_stale_leftover"));
    assert_eq!(stale, [("data/__2.blp".to_owned(), Fault::ExtraChunk)]);
}

/// Creates an array of 25 rows in chunks of ten, and damages it.
fn broken(root: &Path, change: impl FnOnce(&Path)) {
    made(root, 10, 0..25);
    change(root);
}

/// Returns the rows with the range `lost` zeroed.
fn without(lost: std::ops::Range<usize>, len: i64) -> Vec<u8> {
    let mut rows = iota(0..len);
    rows[lost.start * 8..lost.end * 8].fill(0);
    rows
}

#[test]
fn each_planted_fault_is_reported_and_repaired() {
    let scratch = Scratch::new();
    let chunk = |number: u64| format!("data/__{number}.blp");
    type Change = fn(&Path);
    let cases: [(&str, Change, String, std::ops::Range<usize>, i64); 10] = [
        (
            "missing",
            |root| fs::remove_file(root.join("data/__1.blp")).unwrap(),
            chunk(1),
            10..20,
            25,
        ),
        (
            "missing-rest",
            |root| fs::remove_file(root.join("data/__2.blp")).unwrap(),
            chunk(2),
            20..20,
            20,
        ),
        (
            "flipped",
            |root| {
                // The chunk's size in bytes.
                let path = root.join("data/__0.blp");
                let mut file = fs::read(&path).unwrap();
                file[28] ^= 0x80;
                fs::write(path, file).unwrap();
            },
            chunk(0),
            0..10,
            25,
        ),
        (
            "cut",
            |root| {
                let path = root.join("data/__1.blp");
                let file = fs::read(&path).unwrap();
                fs::write(path, &file[..file.len() - 1]).unwrap();
            },
            chunk(1),
            10..20,
            25,
        ),
        (
            "short-rest",
            |root| {
                let sizes = r#"{"shape": [28], "nbytes": 224, "cbytes": 0}"#;
                fs::write(root.join("meta/sizes"), sizes).unwrap();
            },
            chunk(2),
            25..28,
            28,
        ),
        (
            "short-chunk",
            |root| {
                fs::copy(root.join("data/__2.blp"), root.join("data/__1.blp")).unwrap();
            },
            chunk(1),
            0..0,
            -1,
        ),
        (
            "front",
            |root| {
                let path = root.join("data/__1.blp");
                let mut file = fs::read(&path).unwrap();
                file[0] = 0;
                fs::write(path, file).unwrap();
            },
            chunk(1),
            0..0,
            25,
        ),
        (
            "sizes",
            |root| fs::write(root.join("meta/sizes"), "{").unwrap(),
            "meta/sizes".into(),
            0..0,
            25,
        ),
        (
            "no-sizes",
            |root| fs::remove_file(root.join("meta/sizes")).unwrap(),
            "meta/sizes".into(),
            0..0,
            25,
        ),
        (
            "attrs",
            |root| fs::write(root.join("__attrs__"), "{\"a\"").unwrap(),
            "__attrs__".into(),
            0..0,
            25,
        ),
    ];
    for (name, change, path, lost, len) in cases {
        let root = scratch.path(name);
        broken(&root, change);
        let found = faults(&root);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].0, path, "{name}");
        assert!(!found[0].1.is_note(), "{name}");
        let before = tree(&root);
        let repaired = bcolz::repair(&root, &Options::default()).unwrap();
        assert_eq!(repaired.remaining, [], "{name}");
        assert_eq!(repaired.repaired.len(), 1, "{name}");
        assert_eq!(faults(&root), [], "{name}");
        if len < 0 {
            // The file contains five rows of another chunk.
            assert_eq!(repaired.lost, [(root.clone(), 15..20)]);
            continue;
        }
        assert_eq!(rows(&root), without(lost.clone(), len), "{name}");
        assert_eq!(repaired.lost.is_empty(), lost.is_empty() && len == 25, "{name}");
        // Only files that repair rewrote from their contents may change.
        let after = tree(&root);
        for (path, bytes) in before {
            let is_there = after.iter().any(|(_, there)| *there == bytes);
            let rewritten = path.ends_with("sizes") || name == "front";
            assert!(is_there || rewritten, "{name}: {}", path.display());
        }
    }
}

/// Without its sizes, an array has the rows of all its chunks, also if some of them are damaged.
#[test]
fn damaged_chunks_do_not_end_an_array_without_sizes() {
    let scratch = Scratch::new();
    let cut = |path: &Path| {
        let file = fs::read(path).unwrap();
        fs::write(path, &file[..file.len() - 1]).unwrap();
    };
    let replace = |path: &Path| fs::write(path, "none").unwrap();
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    type Damage<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, &[u64], Damage<'_>, std::ops::Range<usize>); 6] = [
        ("first", &[0], &replace, 0..10),
        ("middle", &[1], &replace, 10..20),
        ("missing", &[0, 1], &remove, 0..20),
        ("cut", &[1], &cut, 10..20),
        ("cut-last", &[2], &cut, 20..25),
        ("cut-all", &[0, 1, 2], &cut, 0..25),
    ];
    for (name, numbers, damage, lost) in cases {
        let root = scratch.path(name);
        broken(&root, |root| {
            fs::remove_file(root.join("meta/sizes")).unwrap();
            numbers.iter().for_each(|number| damage(&root.join(format!("data/__{number}.blp"))));
        });
        let before = tree(&root);
        let repaired = bcolz::repair(&root, &Options::default()).unwrap();
        assert_eq!(repaired.remaining, [], "{name}");
        assert_eq!(repaired.lost, [(root.clone(), lost.start as u64..lost.end as u64)], "{name}");
        assert_eq!(rows(&root), without(lost, 25), "{name}");
        assert_kept(before, &root);
    }
    // The size of a last chunk without a header is unknown.
    let root = scratch.path("last");
    broken(&root, |root| {
        fs::remove_file(root.join("meta/sizes")).unwrap();
        replace(&root.join("data/__2.blp"));
    });
    bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(rows(&root), iota(0..20));
    // Rows of two items.
    let root = scratch.path("wide");
    let wide = CarraySpec { row_shape: vec![2], ..spec("int64", 10) };
    let mut array = Carray::create(&root, &wide, Mode::Write, &Options::default()).unwrap();
    array.append(&iota(0..50)).unwrap();
    array.close().unwrap();
    fs::remove_file(root.join("meta/sizes")).unwrap();
    replace(&root.join("data/__0.blp"));
    bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(reader(&root).shape(), [25, 2]);
    assert_eq!(rows(&root), without(0..20, 50));
}

#[test]
fn extra_chunks_are_reported_and_kept() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    broken(&root, |root| {
        fs::copy(root.join("data/__0.blp"), root.join("data/__9.blp")).unwrap();
        fs::remove_file(root.join("data/__0.blp")).unwrap();
    });
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(repaired.lost, [(root.clone(), 0..10)]);
    assert_eq!(repaired.remaining.len(), 1);
    assert!(root.join("data/__9.blp").exists());
}

#[test]
fn repair_keeps_files_unrelated_to_rows() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    broken(&root, |root| fs::write(root.join("meta/storage"), "{}").unwrap());
    assert_eq!(faults(&root)[0].0, "meta/storage");
    let before = tree(&root);
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!((repaired.repaired.len(), repaired.remaining.len()), (0, 1));
    assert_eq!(tree(&root), before);
}

/// Writes a table of 25 rows, whose columns have chunks of 10 and 7. Returns its path.
fn two_columns(scratch: &Scratch) -> PathBuf {
    let root = scratch.path("t");
    let columns = [("a", spec("int64", 10)), ("b", spec("int64", 7))];
    let mut table = Ctable::create(&root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    root
}

#[test]
fn row_b9_repair_trims_columns_to_the_shortest() {
    let scratch = Scratch::new();
    let root = two_columns(&scratch);
    Carray::open(&root.join("b"), Mode::Append, &Options::default()).unwrap().trim(3).unwrap();
    assert_eq!(faults(&root), [("b".to_owned(), Fault::ColumnLength { len: 22, first: 25 })]);
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(repaired.lost, [(root.join("a"), 22..25)]);
    assert_eq!(repaired.remaining, []);
    let mut table = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
    assert_eq!(table.read("a", 0..22).unwrap(), iota(0..22));
}

/// Creates a table of two columns with 25 rows, and damages column `b`.
fn broken_table(root: &Path, change: impl FnOnce(&Path)) {
    let columns = [("a", spec("int64", 10)), ("b", spec("int64", 10))];
    let mut table = Ctable::create(root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..25), &iota(0..25)]).unwrap();
    table.close().unwrap();
    change(&root.join("b"));
}

#[test]
fn a_column_without_its_last_chunks_does_not_shorten_the_others() {
    let scratch = Scratch::new();
    let cut = |number: u64| {
        move |root: &Path| {
            (number..3).for_each(|number| {
                fs::remove_file(root.join(format!("data/__{number}.blp"))).unwrap();
            });
        }
    };
    type Change = Box<dyn Fn(&Path)>;
    let cases: [(&str, Change, std::ops::Range<u64>); 5] = [
        ("tail", Box::new(cut(2)), 20..25),
        ("all", Box::new(cut(0)), 0..25),
        ("directory", Box::new(|root| fs::remove_dir_all(root.join("data")).unwrap()), 0..25),
        (
            "sizes and the first chunk",
            Box::new(|root| {
                fs::remove_file(root.join("meta/sizes")).unwrap();
                fs::write(root.join("data/__0.blp"), "none").unwrap();
            }),
            0..10,
        ),
        (
            "sizes and the tail",
            Box::new(move |root| {
                fs::write(root.join("meta/sizes"), "{").unwrap();
                cut(2)(root);
            }),
            20..25,
        ),
    ];
    for (name, change, lost) in cases {
        let root = scratch.path(name);
        broken_table(&root, change);
        let repaired = bcolz::repair(&root, &Options::default()).unwrap();
        assert_eq!(repaired.lost, [(root.join("b"), lost.clone())], "{name}");
        assert_eq!(repaired.remaining, [], "{name}");
        let mut table = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
        assert_eq!(table.read("a", 0..25).unwrap(), iota(0..25), "{name}");
        let lost = lost.start as usize..lost.end as usize;
        assert_eq!(table.read("b", 0..25).unwrap(), without(lost, 25), "{name}");
    }
}

/// Checks that the contents of all files except `sizes` still exist.
fn assert_kept(before: Vec<(PathBuf, Option<Vec<u8>>)>, root: &Path) {
    let after = tree(root);
    for (path, bytes) in before {
        let is_there = after.iter().any(|(_, there)| *there == bytes);
        assert!(is_there || path.ends_with("sizes"), "{}", path.display());
    }
}

/// The lengths end in each kind of chunk: full, partial, none.
#[test]
fn repair_keeps_the_chunks_that_it_truncates() {
    let scratch = Scratch::new();
    for len in [0, 1, 5, 9, 10, 11, 15, 19, 20, 21, 24] {
        for full in [5, 20, 25] {
            if len >= full {
                continue;
            }
            let root = scratch.path(&format!("{full}-{len}"));
            broken_table(&root, |root| {
                let trim = |column: &Path, len: i64| {
                    let mut array =
                        Carray::open(column, Mode::Append, &Options::default()).unwrap();
                    array.trim(25 - len as u64).unwrap();
                };
                trim(root, len);
                trim(&root.with_file_name("a"), full);
            });
            let before = tree(&root.join("a"));
            let repaired = bcolz::repair(&root, &Options::default()).unwrap();
            assert_eq!(repaired.lost, [(root.join("a"), len as u64..full as u64)]);
            assert_eq!(repaired.remaining, []);
            assert_kept(before, &root.join("a"));
            let mut table = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
            for column in ["a", "b"] {
                assert_eq!(table.read(column, 0..len as u64).unwrap(), iota(0..len));
            }
            drop(table);
            let state = tree(&root);
            let again = bcolz::repair(&root, &Options::default()).unwrap();
            assert_eq!((again.repaired, again.lost), (vec![], vec![]));
            assert_eq!(tree(&root), state, "a second repair changes nothing");
        }
    }
}

/// Of a column only the last chunk is left.
#[test]
fn repair_fills_any_gap_before_a_chunk() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let columns = [("a", spec("int64", 1)), ("b", spec("int64", 1))];
    let mut table = Ctable::create(&root, &columns, Mode::Write, &Options::default()).unwrap();
    table.append(&[&iota(0..2000), &iota(0..2000)]).unwrap();
    table.close().unwrap();
    (0..1999).for_each(|number| {
        fs::remove_file(root.join(format!("b/data/__{number}.blp"))).unwrap();
    });
    let last = fs::read(root.join("b/data/__1999.blp")).unwrap();
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(repaired.lost, [(root.join("b"), 0..1999)]);
    assert_eq!(fs::read(root.join("b/data/__1999.blp")).unwrap(), last);
    let mut table = Ctable::open(&root, Mode::Read, &Options::default()).unwrap();
    assert_eq!(table.read("a", 0..2000).unwrap(), iota(0..2000));
    assert_eq!(table.read("b", 0..2000).unwrap(), without(0..1999, 2000));
}

/// Checks that all files still have their contents, in addition to new ones.
fn assert_unchanged(before: &[(PathBuf, Option<Vec<u8>>)], root: &Path) {
    let after = tree(root);
    for (path, bytes) in before {
        let there = after.iter().find(|(there, _)| there == path);
        let is_same = there.is_some_and(|(_, now)| now == bytes);
        assert!(is_same, "{}", path.display());
    }
}

/// Columns that Ferroblosc does not write: Python objects, and several chunks per file.
#[test]
fn repair_moves_no_files_of_columns_that_it_cannot_change() {
    let scratch = Scratch::new();
    let packed = |root: &Path| {
        copy_tree(&fixtures().join("i8_multi"), root);
        pack_chunks(root, &[(2, 2), (2, 2), (1, 1)]);
    };
    let objects = |root: &Path| copy_tree(&fixtures().join("objects"), root);
    type Make<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Make<'_>); 2] = [("objects", &objects), ("packed", &packed)];
    for (name, make) in cases {
        let root = scratch.path(name);
        broken_table(&root, |root| {
            fs::remove_dir_all(root).unwrap();
            make(root);
            let other = root.with_file_name("a");
            let mut array = Carray::open(&other, Mode::Append, &Options::default()).unwrap();
            array.trim(25).unwrap();
        });
        let before = tree(&root.join("b"));
        // The columns cannot get one length.
        let _ = bcolz::repair(&root, &Options::default());
        assert_unchanged(&before, &root.join("b"));
    }
}

#[test]
fn repair_changes_no_arrays_with_several_chunks_per_file() {
    let scratch = Scratch::new();
    let counts: [&[(usize, i64)]; 3] =
        [&[(2, 2), (2, 2), (1, 1)], &[(5, -1)], &[(1, 1), (1, 1), (3, 3)]];
    for (number, counts) in counts.into_iter().enumerate() {
        for damage in ["none", "a missing file", "no sizes"] {
            let root = scratch.path(&format!("{number} {damage}"));
            copy_tree(&fixtures().join("i8_multi"), &root);
            pack_chunks(&root, counts);
            match damage {
                "a missing file" if counts.len() > 1 => {
                    fs::remove_file(root.join("data/__1.blp")).unwrap();
                }
                "no sizes" => fs::remove_file(root.join("meta/sizes")).unwrap(),
                _ => {}
            }
            let before = tree(&root);
            let repaired = bcolz::repair(&root, &Options::default());
            assert_unchanged(&before, &root);
            let after = tree(&root);
            assert_eq!(after.len(), before.len(), "{number} {damage}");
            if damage == "none" {
                assert_eq!(repaired.unwrap(), bcolz::Repaired::default());
            }
        }
    }
}

#[test]
fn repair_changes_no_files_of_the_fixtures() {
    let scratch = Scratch::new();
    for entry in fs::read_dir(fixtures()).unwrap() {
        let source = entry.unwrap().path();
        if !source.is_dir() {
            continue;
        }
        let root = scratch.path(source.file_name().unwrap().to_str().unwrap());
        copy_tree(&source, &root);
        let before = tree(&root);
        let repaired = bcolz::repair(&root, &Options::default()).unwrap();
        assert_eq!(repaired.lost, [], "{}", source.display());
        assert_unchanged(&before, &root);
    }
}

/// Without the right to read a directory, repair must not take it for an empty one.
#[test]
fn repair_changes_nothing_if_the_chunks_cannot_be_listed() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let moved = scratch.path("moved");
    for target in ["data", "../nowhere"] {
        let _ = fs::remove_dir_all(&moved);
        let _ = fs::remove_dir_all(&root);
        broken(&root, |root| {
            fs::rename(root.join("data"), &moved).unwrap();
            // A link to itself, or to a directory that is not mounted.
            std::os::unix::fs::symlink(target, root.join("data")).unwrap();
        });
        let sizes = fs::read(root.join("meta/sizes")).unwrap();
        bcolz::verify(&root, &Options::default()).unwrap_err();
        bcolz::repair(&root, &Options::default()).unwrap_err();
        assert_eq!(fs::read(root.join("meta/sizes")).unwrap(), sizes);
        fs::remove_file(root.join("data")).unwrap();
        fs::rename(&moved, root.join("data")).unwrap();
        assert_eq!(rows(&root), iota(0..25));
    }
}

#[test]
fn a_chunk_file_with_a_large_number_is_verified_fast() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..1050);
    let sizes = r#"{"shape": [1000000000000000000], "nbytes": 0, "cbytes": 0}"#;
    std::fs::write(root.join("meta/sizes"), sizes).unwrap();
    let far = root.join("data/__9999999999999999.blp");
    std::fs::copy(root.join("data/__0.blp"), &far).unwrap();
    let found = bcolz::verify(&root, &Options::default()).unwrap();
    // The remainder is too short for a chunk before the last one, and the chunk after it is
    // missing.
    assert!(found.len() <= 3, "{found:?}");
    assert!(found.iter().any(|finding| finding.fault == Fault::MissingChunk));
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert!(repaired.remaining.iter().all(|finding| finding.fault.is_note()));
    assert_eq!(reader(&root).len(), 1100);
    assert_eq!(rows(&root)[..1050 * 8], iota(0..1050));
    assert!(far.exists());
}

/// Faults of tables, of attributes and of files with several chunks, with their texts.
#[test]
fn faults_of_tables_and_packed_arrays_are_described() {
    let scratch = Scratch::new();
    let texts = |root: &Path| -> Vec<String> {
        let found = bcolz::verify(root, &Options::default()).unwrap();
        let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        found.iter().map(|found| format!("{}: {}", name(&found.path), found.fault)).collect()
    };
    let root = scratch.path("t");
    broken_table(&root, |_| {});
    assert_eq!(texts(&root), Vec::<String>::new());
    let rootdirs = fs::read(root.join("__rootdirs__")).unwrap();
    let names = |text: &str| fs::write(root.join("__rootdirs__"), text).unwrap();
    names(r#"{"names": ["a/b"]}"#);
    assert_eq!(texts(&root), ["a_b: the column name is not valid"]);
    names(r#"{"names": 7}"#);
    let shown = root.join("__rootdirs__").display().to_string();
    assert_eq!(texts(&root), [format!("__rootdirs__: {shown}: the column names are missing")]);
    names(r#"{"names": ["a", "x"]}"#);
    let shown = root.join("x").display().to_string();
    assert_eq!(texts(&root), [format!("x: there is no carray or ctable at '{shown}'")]);
    fs::write(root.join("__rootdirs__"), rootdirs).unwrap();
    for (text, expected) in [
        ("[]", "__attrs__: it is not an object"),
        ("", "__attrs__: it is empty"),
        ("{", "__attrs__: no key at byte 1"),
    ] {
        fs::write(root.join("__attrs__"), text).unwrap();
        assert_eq!(texts(&root), [expected]);
    }
    fs::write(root.join("__attrs__"), "{}").unwrap();
    let sizes = root.join("b/meta/sizes");
    let before = fs::read(&sizes).unwrap();
    fs::write(&sizes, r#"{"shape": [7, 1073741824]}"#).unwrap();
    let found = texts(&root);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("sizes: the rows are too large"), "{found:?}");
    fs::write(&sizes, before).unwrap();
    fs::write(root.join("b/data/.ferroblosc-new-1-1"), "").unwrap();
    fs::write(root.join("b/data/__99.blp"), "").unwrap();
    let mut found = texts(&root);
    found.sort();
    assert_eq!(
        found,
        [
            "b/data/.ferroblosc-new-1-1: a temporary file of an interrupted change",
            "b/data/__99.blp: the chunk has no rows in the array",
        ]
    );
    // A table as a column that cannot be opened.
    let outer = scratch.path("outer");
    fs::create_dir(&outer).unwrap();
    fs::write(outer.join("__rootdirs__"), r#"{"names": ["t"]}"#).unwrap();
    fs::write(outer.join("__attrs__"), "{}").unwrap();
    fs::rename(&root, outer.join("t")).unwrap();
    assert_eq!(texts(&outer), Vec::<String>::new());
    fs::write(outer.join("t/__rootdirs__"), "7").unwrap();
    let found = texts(&outer);
    assert!(found.len() == 1 && found[0].ends_with("the column names are missing"), "{found:?}");
    // Files with several chunks.
    let root = scratch.path("packed");
    copy_tree(&fixtures().join("i8_multi"), &root);
    pack_chunks(&root, &[(2, 2), (2, 2), (1, 1)]);
    assert_eq!(texts(&root), Vec::<String>::new());
    let file = root.join("data/__1.blp");
    let bytes = fs::read(&file).unwrap();
    let mut changed = bytes.clone();
    let len = changed.len();
    // The last block of the last chunk of the file.
    changed[len - 8..].fill(0xff);
    fs::write(&file, &changed).unwrap();
    let found = texts(&root);
    assert!(found.len() <= 1, "{found:?}");
    fs::write(&file, &bytes[..len - 1]).unwrap();
    let found = texts(&root);
    assert!(!found.is_empty() && found[0].starts_with("data/"), "{found:?}");
}

/// Chunks that this version cannot decompress may be intact, and are kept.
#[test]
fn chunks_of_other_formats_are_reported_and_kept() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 10, 0..25);
    let chunk = root.join("data/__1.blp");
    let intact = fs::read(&chunk).unwrap();
    // The version, the flags with the number of the codec, and the sizes, after the prefix.
    for (at, byte, expected) in [
        (0, 5, "the chunk is not of Blosc 1"),
        (2, 0b1110_0001, "the codec of the stream format 7 is not in this version"),
        (7, 0x80, "the chunk has a negative size"),
        (4, 0xff, "the chunk holds too many rows"),
        (4, 0, "the chunk holds too few rows"),
        (12, 0, "the chunk is truncated"),
        (15, 0x80, "the chunk is truncated"),
    ] {
        let mut bytes = intact.clone();
        bytes[16 + at] = byte;
        if (at, byte) == (4, 0) {
            bytes[16 + 5] = 0;
        }
        fs::write(&chunk, &bytes).unwrap();
        let found = bcolz::verify(&root, &Options::default()).unwrap();
        let shown: Vec<String> = found.iter().map(|found| found.fault.to_string()).collect();
        let holds_less =
            expected.ends_with("too few rows").then_some("the chunk holds 0 bytes of 80");
        assert_eq!(shown, [holds_less.unwrap_or(expected)]);
        let error = reader(&root).read(10..20).unwrap_err();
        let is_codec = matches!(found[0].fault, Fault::Codec(_));
        let why = if is_codec { "the chunk cannot be decompressed" } else { expected };
        assert_eq!(error.to_string(), format!("{}: {why}", chunk.display()));
        assert_eq!(reader(&root).read(0..10).unwrap(), iota(0..10));
        if is_codec {
            let repaired = bcolz::repair(&root, &Options::default()).unwrap();
            assert_eq!((repaired.lost.len(), &repaired.remaining), (0, &found));
            assert_eq!(fs::read(&chunk).unwrap(), bytes);
        }
    }
    // A damaged header does not name a codec.
    let mut bytes = intact.clone();
    bytes[16 + 2] = 0b1110_0001;
    bytes[16 + 12] -= 1;
    fs::write(&chunk, &bytes).unwrap();
    let found = bcolz::verify(&root, &Options::default()).unwrap();
    assert_eq!(found[0].fault, Fault::Chunk("the chunk cannot be decompressed"));
}

/// All columns have lost chunks: the longest one has the length of the table.
#[test]
fn columns_that_all_lost_their_ends_are_extended_to_the_longest() {
    let scratch = Scratch::new();
    let root = two_columns(&scratch);
    for chunk in ["a/data/__2.blp", "b/data/__2.blp", "b/data/__3.blp"] {
        fs::remove_file(root.join(chunk)).unwrap();
    }
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!(repaired.remaining, []);
    let (a, b) = (rows(&root.join("a")), rows(&root.join("b")));
    assert_eq!(a.len(), b.len());
    assert_eq!(a, iota(0..20));
    assert_eq!(b, [iota(0..14), vec![0; 6 * 8]].concat());
    assert_eq!(repaired.lost, [(root.join("a"), 20..25), (root.join("b"), 14..25)]);
    Ctable::open(&root, Mode::Append, &Options::default()).unwrap().close().unwrap();
}

#[test]
fn an_array_without_chunks_has_no_rows_after_a_repair() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    broken(&root, |root| fs::remove_dir_all(root.join("data")).unwrap());
    fs::remove_file(root.join("__attrs__")).unwrap();
    let missing = [("__attrs__".to_owned(), Fault::Missing), ("data".to_owned(), Fault::Missing)];
    assert_eq!(faults(&root), missing);
    let repaired = bcolz::repair(&root, &Options::default()).unwrap();
    assert_eq!((repaired.remaining.len(), rows(&root).len()), (0, 0));
    assert_eq!(repaired.lost, [(root.clone(), 0..25)]);
    // The old length is kept.
    assert!(fs::read_to_string(root.join("meta/sizes.broken")).unwrap().contains("[25]"));
}

/// Descriptions from which the rows cannot be derived.
#[test]
fn arrays_without_a_usable_description_are_not_changed() {
    let scratch = Scratch::new();
    let storage = |root: &Path, from: &str, to: &str| {
        let path = root.join("meta/storage");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    };
    let remove_sizes = |root: &Path| fs::remove_file(root.join("meta/sizes")).unwrap();
    type Change<'a> = &'a dyn Fn(&Path);
    let cases: [(Change<'_>, &str); 3] = [
        (&|root| fs::remove_file(root.join("meta/storage")).unwrap(), "it is missing"),
        (
            &|root| {
                storage(root, "\"chunklen\": 10", "\"chunklen\": 4611686018427387904");
                remove_sizes(root);
            },
            "it is missing",
        ),
        (&|root| storage(root, "int64", "int65"), "the dtype 'int65' is not understood"),
    ];
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        let root = scratch.path(&number.to_string());
        broken(&root, change);
        let before = tree(&root);
        let repaired = bcolz::repair(&root, &Options::default()).unwrap();
        assert_eq!((repaired.repaired.len(), repaired.lost.len()), (0, 0), "{number}");
        let remaining = &repaired.remaining;
        assert!(remaining.iter().any(|found| found.fault.to_string().ends_with(expected)));
        assert_eq!(tree(&root), before, "{number}");
    }
}
