//! Directories written by bcolz, compared with their manifest.

use crate::common::{Scratch, fixtures, hex, iota, json, reader, rows};
use ferroblosc_formats::bcolz::{self, Error, Mode, Object, Options};
use sha2::{Digest, Sha256};

/// A row of the manifest.
struct Fact {
    path: String,
    dtype: String,
    shape: Vec<u64>,
    chunklen: Option<u64>,
    sha256: String,
}

fn facts() -> Vec<Fact> {
    let text = std::fs::read_to_string(fixtures().join("MANIFEST.md")).unwrap();
    // A bar inside a cell is escaped.
    let rows = text.lines().map(|line| line.replace("\\|", "\u{1}"));
    let facts = rows.filter(|row| row.starts_with("| ") && !row.starts_with("| path")).map(|row| {
        let cells: Vec<String> = row
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().replace('\u{1}', "|"))
            .collect();
        let shape = cells[3].trim_matches(['[', ']']).split(", ");
        Fact {
            path: cells[0].clone(),
            dtype: cells[2].clone(),
            shape: shape.map(|len| len.parse().unwrap()).collect(),
            chunklen: cells[4].parse().ok(),
            sha256: cells.last().unwrap().clone(),
        }
    });
    facts.collect()
}

/// Returns the manifest's rows of arrays with convertible items.
fn arrays() -> impl Iterator<Item = Fact> {
    facts().into_iter().filter(|fact| !matches!(fact.dtype.as_str(), "ctable" | "object"))
}

#[test]
fn every_fixture_reads_as_the_bytes_of_its_manifest() {
    assert_eq!(facts().len(), 73);
    for fact in arrays() {
        let Fact { path, .. } = &fact;
        for nthreads in [1, 3] {
            let options = Options { nthreads, strict: true, ..Options::default() };
            let root = fixtures().join(path);
            let mut array = bcolz::Carray::open(&root, Mode::Read, &options).unwrap();
            let bytes = array.read(0..fact.shape[0]).unwrap();
            assert_eq!(hex(&Sha256::digest(&bytes)), fact.sha256, "{path}");
            assert_eq!(array.shape(), fact.shape, "{path}");
            assert_eq!(Some(array.chunklen()), fact.chunklen, "{path}");
            if fact.dtype != "record" {
                assert_eq!(array.dtype().text(), fact.dtype, "{path}");
            }
        }
    }
}

#[test]
fn every_fixture_can_be_read_in_ranges() {
    for Fact { path, .. } in arrays() {
        let root = fixtures().join(&path);
        let all = rows(&root);
        let mut array = reader(&root);
        let (len, row) = (array.len(), array.row_bytes() as usize);
        let mut by_chunks = Vec::new();
        for number in 0..array.nchunks() {
            by_chunks.extend(array.read_chunk(number).unwrap());
        }
        assert_eq!(by_chunks, all, "{path}");
        for step in [1, 7, 100] {
            for start in (0..len).step_by(step * 3).chain((0..len).step_by(step).take(20)) {
                let end = (start + step as u64).min(len);
                let part = array.read(start..end).unwrap();
                assert_eq!(part, all[start as usize * row..end as usize * row], "{path}");
            }
        }
    }
}

#[test]
fn tables_have_their_columns_and_attributes() {
    for (name, columns, attrs) in [
        ("ct_append", &["a", "c", "b2"][..], "{}"),
        ("ct_empty", &["x", "y"], "{}"),
        (
            "ct_mixed",
            &["id", "val", "tag", "pair", "even"],
            r#"{"title": "mixed table", "version": 2}"#,
        ),
        ("ct_old_rootdirs", &["a", "b"], "{}"),
        ("v121_ct", &["id", "v"], r#"{"a": {"b": [1]}}"#),
    ] {
        let root = fixtures().join(name);
        let Object::Ctable(mut table) =
            bcolz::open(&root, Mode::Read, &Options::default()).unwrap()
        else {
            panic!("{name} is a table");
        };
        assert_eq!(table.names().collect::<Vec<_>>(), columns);
        assert_eq!(table.attrs().to_value(), json(attrs));
        for column in columns {
            let len = table.len();
            assert_eq!(table.read(column, 0..len).unwrap(), rows(&root.join(column)));
        }
    }
}

#[test]
fn attributes_have_the_stored_values() {
    let array = reader(&fixtures().join("attrs"));
    let expected =
        r#"{"title": "héllo", "n": 3, "x": 1.5, "l": [1, "a", null, true], "d": {"k": [1, 2]}}"#;
    assert_eq!(array.attrs().to_value(), json(expected));
    assert_eq!(array.attrs().get("n"), Some(&json("3")));
}

#[test]
fn old_descriptions_have_the_old_codec() {
    let array = reader(&fixtures().join("old_meta"));
    assert_eq!(array.cparams().cname, "blosclz");
    assert_eq!((array.cparams().shuffle, array.cparams().quantize), (1, 0));
    let array = reader(&fixtures().join("shuffle_bool"));
    assert_eq!(array.cparams().shuffle, 0);
}

#[test]
fn row_b12_objects_are_counted_and_never_unpickled() {
    let root = fixtures().join("objects");
    let mut array = reader(&root);
    assert_eq!((array.len(), array.dtype().text()), (3, "object"));
    assert_eq!(array.read(0..1), Err(Error::Objects));
    assert_eq!(array.stored_chunk(0, &mut Vec::new()), Err(Error::Objects));
    let pickles: Vec<Vec<u8>> = (0..3).map(|number| array.pickle(number).unwrap()).collect();
    assert_eq!(pickles.iter().map(Vec::len).sum::<usize>(), 55);
    // Each value is a pickle: it begins with a protocol and ends with a stop opcode.
    assert!(pickles.iter().all(|pickle| pickle[0] == 0x80 && pickle.ends_with(b".")));
    assert!(array.pickle(3).is_err());
    let scratch = Scratch::new();
    let mut array = crate::common::writer(&scratch.copy("objects"));
    assert_eq!(array.append(&iota(0..1)), Err(Error::Objects));
    assert_eq!(array.trim(1), Err(Error::Objects));
}
