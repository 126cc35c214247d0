//! Conversions of tables, their columns and metadata.

use super::*;

/// Writes a table of bcolz in which the column `inner` is a table itself.
fn nested_table(folder: &Folder) -> PathBuf {
    let (options, root) = (Options::default(), folder.path("outer"));
    let spec = || CarraySpec::new(Dtype::parse("int32").unwrap());
    let column = |root: &Path| {
        let mut table = Ctable::create(root, &[("a", spec())], Mode::Write, &options).unwrap();
        table.append(&[&[1, 0, 0, 0, 2, 0, 0, 0]]).unwrap();
        table.close().unwrap();
    };
    column(&root);
    column(&root.join("inner"));
    std::fs::write(root.join("__rootdirs__"), br#"{"names": ["a", "inner"]}"#).unwrap();
    root
}

#[test]
fn columns_of_inner_tables_are_read_and_tables_with_them_are_refused() {
    let folder = Folder::new();
    let root = nested_table(&folder);
    let found = detect(&root).unwrap();
    let of = |column: &str| Reading { column: Some(column.to_owned()), ..Reading::default() };
    let mut source = open(&root, &of("inner/a")).unwrap();
    let mut read = [0; 8];
    source.read(0, &mut read).unwrap();
    assert_eq!(read, [1, 0, 0, 0, 2, 0, 0, 0]);
    assert!(matches!(open(&root, &of("inner")), Err(Error::Nested(name)) if name == "inner"));
    assert!(error_of(open(&root, &of("a/b"))).contains("a/b"));
    assert!(error_of(open(&root, &of("inner/b"))).contains('b'));
    assert!(
        matches!(open(&root, &Reading::default()), Err(Error::Nested(name)) if name == "inner")
    );
    for column in ["inner/a", "inner", "a"] {
        assert!(params_of(&root, &found, &of(column)).is_ok(), "{column}");
    }
    let refused = ctable_to_b2nd(&root, &folder.path("out"), &Options::default());
    assert!(matches!(refused, Err(Error::Layout)), "{refused:?}");
    assert!(!folder.path("out").exists());
    let summary = summarise(&root, &found).unwrap();
    let inner = &summary.columns[1];
    assert_eq!((inner.0.as_str(), inner.1.found.format), ("inner", Format::Ctable));
    assert_eq!(foreign_file(&root).unwrap(), None);
    folder.write("outer/inner/notes", b"");
    assert_eq!(foreign_file(&root).unwrap(), Some(root.join("inner/notes")));
}

#[test]
fn metadata_of_tables_that_no_target_holds_are_listed() {
    let folder = Folder::new();
    let root = folder.path("table");
    let options = Options::default();
    let spec = |dflt: u64, cname: &str| CarraySpec {
        dflt: Some(Value::from(dflt)),
        cparams: stored::Compression { cname: cname.to_owned(), ..Default::default() },
        ..CarraySpec::new(Dtype::parse("int32").unwrap())
    };
    let columns = [("a", spec(7, "lz4")), ("b", spec(0, "zstd"))];
    let mut table = Ctable::create(&root, &columns, Mode::Write, &options).unwrap();
    table.append(&[&[1; 8], &[2; 8]]).unwrap();
    table.set_attr("title", Value::from("x")).unwrap();
    table.set_column_attr("b", "unit", Value::from("m")).unwrap();
    table.close().unwrap();
    let lost = converted(&root, &folder.path("out.b2nd"), B2ND).unwrap().lost.join("; ");
    for expected in [
        "the codec parameters, which differ from column to column",
        "the fill value 7 of the column \"a\"",
        "the attribute \"unit\" of the column \"b\"",
    ] {
        assert!(lost.contains(expected), "{lost}");
    }
    assert!(!lost.contains("title"), "{lost}");
    let lost = converted(&root, &folder.path("out.npy"), Destination::Npy).unwrap().lost.join("; ");
    assert!(lost.contains("the attribute \"title\""), "{lost}");
    // The table keeps all of it.
    converted(&root, &folder.path("copy"), Destination::Bcolz).unwrap();
    let copy = Ctable::open(&folder.path("copy"), Mode::Read, &options).unwrap();
    assert_eq!(copy.attrs().get("title"), Some(&Value::from("x")));
    let Object::Carray(column) = copy.column("b").unwrap() else { panic!("no array") };
    assert_eq!(column.attrs().get("unit"), Some(&Value::from("m")));
    let Object::Carray(column) = copy.column("a").unwrap() else { panic!("no array") };
    assert_eq!(column.dflt(), &Value::from(7));
    // A copy of quantized numbers has no record of it.
    let array = folder.path("quantized");
    let spec = CarraySpec {
        cparams: stored::Compression { quantize: 2, ..Default::default() },
        ..CarraySpec::new(Dtype::parse("float32").unwrap())
    };
    drop(stored::Carray::create(&array, &spec, Mode::Write, &options).unwrap());
    let lost = converted(&array, &folder.path("q.npy"), Destination::Npy).unwrap().lost;
    assert!(lost.join("; ").contains("the number of significant digits (2)"), "{lost:?}");
}

#[test]
fn metadata_of_containers_that_are_no_objects_are_kept() {
    let folder = Folder::new();
    for (json, kept) in [("[1, 2]", true), ("\"text\"", true), ("{\"unit\": \"m\"}", false)] {
        let metadata = Value::parse(json.as_bytes()).unwrap();
        let args = PackArgs { metadata: Some(metadata.clone()), ..PackArgs::default() };
        let path = folder.write("a.blp", pack_bytes_to_bytes(&[7; 400], &args).unwrap());
        converted(&path, &folder.path("a.b2frame"), FRAME).unwrap();
        let frame = SChunk::open(Storage::file(folder.path("a.b2frame")), DParams::default());
        let mut names = frame.unwrap().vlmetalayer_names();
        names.sort();
        assert_eq!(names, [if kept { "metadata" } else { "unit" }], "{json}");
        let back = folder.path("b.blp");
        converted(&folder.path("a.b2frame"), &back, Destination::Bloscpack).unwrap();
        let summary = summarise(&back, &detect(&back).unwrap()).unwrap().metadata.unwrap();
        let found = if kept { summary.get("metadata").unwrap() } else { &summary };
        assert_eq!(found, &metadata);
        for name in ["a.b2frame", "b.blp"] {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

#[test]
fn records_of_several_dimensions_are_no_table() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "[('a', '<i4')]", &[2, 1], &[1; 8]);
    let refused = converted(&npy, &folder.path("out"), Destination::Bcolz);
    assert!(error_of(refused).contains("records in one dimension only"));
    assert!(!folder.path("out").exists());
    // A field that is a record itself is named.
    let npy = folder.npy("n.npy", "[('a', '<i4'), ('b', [('c', '<i4')])]", &[1], &[1; 8]);
    let refused = error_of(converted(&npy, &folder.path("out"), Destination::Bcolz));
    let expected = "column \"b\": its items are records, [('c', '<i4')], and bcolz cannot open";
    assert!(refused.contains(expected), "{refused}");
    assert!(!folder.path("out").exists());
    // Arrays without items per row.
    let npy = folder.npy("b.npy", "<i4", &[3, 0], &[]);
    let made = converted(&npy, &folder.path("empty"), Destination::Bcolz);
    assert_eq!(made.is_ok(), folder.path("empty").exists(), "{made:?}");
}

#[test]
fn a_table_of_frames_with_other_frames_is_refused() {
    let folder = Folder::new();
    let options = Options::default();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bcolz/ct_append");
    let frames = folder.path("frames");
    ctable_to_b2nd(&table, &frames, &options).unwrap();
    // The directory exists.
    assert!(ctable_to_b2nd(&table, &frames, &options).is_err());
    let target = Target::default();
    let made =
        |root: &str| b2nd_to_ctable(&frames, &folder.path(root), &target, Mode::Write, &options);
    made("good").unwrap();
    let name = std::fs::read_dir(&frames).unwrap().next().unwrap().unwrap().path();
    std::fs::copy(&name, frames.join("other.b2nd")).unwrap();
    assert!(matches!(made("bad"), Err(Error::Columns(path)) if path == frames));
    assert!(!folder.path("bad").exists());
    // Files that are no frames are ignored, and so are names without an extension.
    std::fs::remove_file(frames.join("other.b2nd")).unwrap();
    std::fs::write(frames.join("notes"), b"").unwrap();
    made("again").unwrap();
    std::fs::write(&name, b"damaged").unwrap();
    assert!(made("damaged").is_err());
    assert!(!folder.path("damaged").exists());
}

#[test]
fn nulls_of_all_numbers_become_nan_in_records() {
    use crate::store::{ColumnSpec, Store, Value};
    let folder = Folder::new();
    let path = folder.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let columns = [
        ColumnSpec::number("f", "float64").nullable(),
        ColumnSpec::number("c", "complex64").nullable(),
        ColumnSpec::number("d", "complex128").nullable(),
    ];
    let mut table = writer.create_table("/t", &columns).unwrap();
    let row = vec![Value::Float(1.5), Value::Complex(1.0, 2.0), Value::Complex(3.0, 4.0)];
    table.append_rows(&[vec![Value::Nil; 3], row]).unwrap();
    table.finish().unwrap();
    let lists = [ColumnSpec::list("l", ColumnSpec::number("", "int8"))];
    writer.create_table("/lists", &lists).unwrap().finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let mut npy = Vec::new();
    table_to_npy(&store.table("/t").unwrap(), &mut npy).unwrap();
    let records = &npy[npy.len() - 2 * 32..];
    assert!(f64::from_le_bytes(records[..8].try_into().unwrap()).is_nan());
    for at in [8, 12] {
        assert!(f32::from_le_bytes(records[at..at + 4].try_into().unwrap()).is_nan(), "{at}");
    }
    for at in [16, 24] {
        assert!(f64::from_le_bytes(records[at..at + 8].try_into().unwrap()).is_nan(), "{at}");
    }
    assert_eq!(records[32..40], 1.5_f64.to_le_bytes());
    let refused = table_to_npy(&store.table("/lists").unwrap(), &mut Vec::new());
    assert!(error_of(refused).contains("no column that can be a field of records"));
    #[cfg(feature = "csv")]
    {
        let refused = table_to_csv(&store.table("/t").unwrap(), &mut &mut [][..]);
        assert!(matches!(refused, Err(Error::Bloscpack(_))), "{refused:?}");
    }
}

#[test]
fn fields_of_arrays_become_columns_if_their_items_are_numbers() {
    use crate::store::Store;
    let folder = Folder::new();
    for (dtype, size, is_supported) in [
        ("[('a', '>c8', (2,))]", 16, true),
        ("[('a', '>U1', (2,))]", 8, true),
        ("[('a', '<M8[s]', (2,))]", 16, false),
        ("[('a', '|V2', (2,))]", 4, false),
        ("[('a', [('b', '<i4')], (2,))]", 8, false),
    ] {
        let npy = folder.npy("a.npy", dtype, &[1], &vec![0; size]);
        let mut writer = Store::create(folder.path("t.b2z")).unwrap();
        let mut source = open(&npy, &Reading::default()).unwrap();
        let made = records_to_table(source.as_mut(), &mut writer, "/t", &mut |_| {});
        assert_eq!(made.is_ok(), is_supported, "{dtype}: {made:?}");
    }
}
