//! Conversions of unusual data, from and to all formats.

use std::path::{Path, PathBuf};

use super::*;
use crate::bcolz::{self as stored, CarraySpec, Ctable, Mode, Object, Options};
use crate::bloscpack::{PackArgs, Value, pack_bytes_to_bytes};
use crate::numpy::{ArrayInfo, Dtype, npy_header};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::filter::Slot;
use ferroblosc::schunk::{SChunk, State, Storage};
use ferroblosc::{codec, filter};

/// A directory for the files of a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(crate::testing::tempdir())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn npy(&self, name: &str, dtype: &str, shape: &[u64], items: &[u8]) -> PathBuf {
        let dtype = Dtype::parse(dtype).unwrap();
        let info = ArrayInfo { dtype, shape: shape.to_vec(), fortran_order: false };
        self.write(name, &[npy_header(&info).unwrap(), items.to_vec()].concat())
    }
}

fn converted_with(
    from: &Path,
    to: &Path,
    destination: Destination,
    writing: &Writing,
) -> Result<Converted> {
    let params = (&Reading::default(), &SourceOptions::default());
    convert((from, &detect(from)?), (to, destination), params, writing, &mut |_| {})
}

fn converted(from: &Path, to: &Path, destination: Destination) -> Result<Converted> {
    converted_with(from, to, destination, &Writing::default())
}

fn error_of<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

fn items(path: &Path) -> Vec<u8> {
    let mut source = open(path, &Reading::default()).unwrap();
    let mut items = vec![0; usize::try_from(source.content().nbytes).unwrap()];
    source.read(0, &mut items).unwrap();
    items
}

const FRAME: Destination = Destination::Frame { directory: false };
const B2ND: Destination = Destination::B2nd { directory: false };
#[cfg(feature = "zarr")]
const ZARR: Destination = Destination::Zarr { version: crate::zarr::Version::V3, is_zip: false };
#[cfg(feature = "hdf5")]
const HDF5: Destination = Destination::Hdf5 { filter: Some(Hdf5Filter::Blosc2) };
#[cfg(feature = "hdf5")]
const PLAIN_HDF5: Destination = Destination::Hdf5 { filter: None };

/// Writes a frame with a chunk of 400 bytes and metalayers, of variable length unless `fixed`.
fn frame(path: &Path, fixed: bool, layers: &[(&str, &[u8])]) {
    let params = CParams::default().typesize(4).blocksize(200);
    let mut schunk = SChunk::create(Storage::file(path), params, DParams::default()).unwrap();
    schunk.set_chunksize(400).unwrap();
    for (name, content) in layers.iter().filter(|_| fixed) {
        schunk.add_metalayer(name, content).unwrap();
    }
    schunk.append(&[7; 400]).unwrap();
    for (name, content) in layers.iter().filter(|_| !fixed) {
        schunk.add_vlmetalayer(name, content).unwrap();
    }
    schunk.close().unwrap();
}

#[test]
fn placeholders_are_described_and_never_converted() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    // Maps in MessagePack with the kind of the object, and the numbers 0 and 1.
    for (fixed, name, content, description) in [
        (true, "proxy-source", &b"\x80"[..], "the cache of an array elsewhere (proxy-source)"),
        (true, "b2o", b"\x81\xa4kind\xa8lazyexpr", "a lazy expression (b2o)"),
        (true, "b2o", b"\x81\xa4kind\xa7lazyudf", "a lazy function (b2o)"),
        (true, "b2o", b"\x81\xa4kind\xacremote_array", "a reference to a remote array (b2o)"),
        (true, "b2o", b"\x81\xa4kind\xa3new", "an object of the kind \"new\" (b2o)"),
        (true, "b2o", b"\x01", "an expression or reference of an unknown kind (b2o)"),
        (true, "LazyArray", b"\x00", "a lazy expression (LazyArray)"),
        (true, "LazyArray", b"\x01", "a lazy function (LazyArray)"),
        (true, "b2remote_store", b"\x80", "the cache of a remote store (b2remote_store)"),
        (false, "b2o", b"\x80", "an expression or reference of an unknown kind (b2o)"),
        (false, "_LazyArray", b"\x80", "a lazy expression (_LazyArray)"),
    ] {
        frame(&path, fixed, &[(name, content)]);
        let found = detect(&path).unwrap();
        let summary = summarise(&path, &found).unwrap();
        assert_eq!(summary.placeholder.as_deref(), Some(description));
        let verified = verify(&path, &found, &Reading::default()).unwrap();
        assert!(verified.is_intact() && verified.placeholder.as_deref() == Some(description));
        for destination in [FRAME, Destination::Plain, Destination::Blosc2] {
            let refused = converted(&path, &folder.path("out"), destination);
            assert!(matches!(refused, Err(Error::Placeholder(_))), "{description}");
            assert!(!folder.path("out").exists(), "{description}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn data_without_redundancy_cannot_be_repaired() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    let mut paths = vec![(npy.clone(), ".npy file")];
    for (name, destination, what) in [
        ("a.npz", Destination::Npz, ".npz file"),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR, "Zarr"),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5, "HDF5"),
    ] {
        converted(&npy, &folder.path(name), destination).unwrap();
        paths.push((folder.path(name), what));
    }
    for (path, what) in paths {
        let found = detect(&path).unwrap();
        let RepairMode::Impossible(reason) = repair_mode(&path, &found) else {
            panic!("{what}");
        };
        assert!(reason.contains(what), "{what}: {reason}");
        let refused = repair(&path, &found, &folder.path("out"));
        assert!(matches!(refused, Err(Error::Unrepairable(why)) if why == reason), "{what}");
        assert!(!folder.path("out").exists());
    }
    let raw = repair(&npy, &Detected::raw(), &folder.path("out"));
    assert!(error_of(raw).contains("bytes have no structure"));
    assert!(verify(&npy, &Detected::raw(), &Reading::default()).unwrap().is_intact());
}

#[test]
fn every_format_has_a_name_and_a_title() {
    let formats = [
        (Format::Blosc1, "blosc1", "chunk of Blosc 1"),
        (Format::Blosc2, "blosc2", "chunk of Blosc 2"),
        (Format::Frame, "b2frame", "super-chunk in a frame"),
        (Format::B2nd, "b2nd", "b2nd array"),
        (Format::Bloscpack, "blp", "Bloscpack container"),
        (Format::Carray, "carray", "bcolz carray"),
        (Format::Ctable, "ctable", "bcolz ctable"),
        (Format::Npy, "npy", "NumPy array file"),
        (Format::Npz, "npz", "NumPy file of several arrays"),
        #[cfg(feature = "zarr")]
        (Format::Zarr, "zarr", "Zarr array or group"),
        #[cfg(feature = "hdf5")]
        (Format::Hdf5, "hdf5", "HDF5 file or dataset"),
        (Format::Raw, "bin", "file of bytes"),
    ];
    for (format, name, title) in formats {
        assert_eq!((format.name(), format.title()), (name, title));
    }
}

#[test]
fn only_containers_of_several_arrays_have_keys() {
    let folder = Folder::new();
    folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    let refused = detect(&folder.path("a.npy:/x"));
    assert!(matches!(refused, Err(Error::Unknown)), "{refused:?}");
    converted(&folder.path("a.npy"), &folder.path("a.npz"), Destination::Npz).unwrap();
    assert!(matches!(
        open(&folder.path("a.npz:/x"), &Reading::default()),
        Err(Error::NoSuchKey(_))
    ));
    assert_eq!(items(&folder.path("a.npz:/arr_0")), [1; 8]);
    let column = Reading { column: Some("x".to_owned()), ..Reading::default() };
    assert!(matches!(open(&folder.path("a.npy"), &column), Err(Error::NoColumns)));
}

#[cfg(feature = "hdf5")]
#[test]
fn hdf5_files_with_a_user_block_are_detected() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    converted(&npy, &folder.path("a.h5"), HDF5).unwrap();
    let file = std::fs::read(folder.path("a.h5")).unwrap();
    for size in [512, 1024, 4096] {
        let path = folder.write("b.h5", &[vec![b'#'; size], file.clone()].concat());
        assert_eq!(detect(&path).unwrap().format, Format::Hdf5, "{size}");
        assert_eq!(items(&path), [1; 8], "{size}");
    }
    for size in [100, 513, 1536] {
        let path = folder.write("b.h5", &[vec![b'#'; size], file.clone()].concat());
        assert!(matches!(detect(&path), Err(Error::Unknown)), "{size}");
    }
}

#[test]
fn boxes_outside_of_an_array_are_refused() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..24).collect();
    let npy = folder.npy("a.npy", "|u1", &[4, 6], &bytes);
    let mut paths = vec![npy.clone()];
    for (name, destination) in [
        ("a.blp", Destination::Bloscpack),
        ("a.b2nd", B2ND),
        ("a.bcolz", Destination::Bcolz),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5),
        #[cfg(feature = "hdf5")]
        ("plain.h5", PLAIN_HDF5),
    ] {
        converted(&npy, &folder.path(name), destination).unwrap();
        paths.push(folder.path(name));
    }
    for path in paths {
        let mut source = open(&path, &Reading::default()).unwrap();
        let mut dest = [0; 4];
        source.read_box(&[1, 2], &[3, 4], &mut dest).unwrap();
        assert_eq!(dest, [8, 9, 14, 15], "{path:?}");
        source.read_box(&[1, 2], &[1, 4], &mut []).unwrap();
        for (start, stop) in [
            (&[1][..], &[3, 4][..]),
            (&[1, 2], &[3]),
            (&[1, 2, 0], &[3, 4, 1]),
            (&[3, 4], &[1, 2]),
            (&[3, 4], &[5, 6]),
            (&[0, 5], &[2, 7]),
        ] {
            assert!(
                source.read_box(start, stop, &mut dest).is_err(),
                "{path:?} {start:?} {stop:?}"
            );
        }
        assert!(source.read_box(&[0, 0], &[4, 6], &mut dest).is_err(), "{path:?}");
        assert!(matches!(source.read(23, &mut [0; 2]), Err(Error::NoSuchRange { .. })), "{path:?}");
        assert!(source.read(u64::MAX, &mut [0; 2]).is_err(), "{path:?}");
        source.read(24, &mut []).unwrap();
    }
}

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
        let path = folder.write("a.blp", &pack_bytes_to_bytes(&[7; 400], &args).unwrap());
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
fn the_codec_parameters_of_chunks_without_shuffle_are_kept() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..4000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let npy = folder.npy("a.npy", "<i4", &[4000], &bytes);
    for filters in [&[][..], &[filter::id::BITSHUFFLE], &[filter::id::SHUFFLE]] {
        let filters: Vec<Slot> = filters.iter().map(|&id| Slot { id, meta: 0 }).collect();
        let compression =
            Compression { codec: codec::id::LZ4HC, level: 7, filters, ..Default::default() };
        let writing = Writing { compression: Some(compression.clone()), ..Writing::default() };
        for (name, destination) in [
            ("a.bcolz", Destination::Bcolz),
            #[cfg(feature = "zarr")]
            ("a.zarr", ZARR),
            #[cfg(feature = "hdf5")]
            ("a.h5", HDF5),
            #[cfg(feature = "hdf5")]
            ("b.h5", Destination::Hdf5 { filter: Some(Hdf5Filter::Blosc) }),
        ] {
            let path = folder.path(name);
            converted_with(&npy, &path, destination, &writing).unwrap();
            let found = detect(&path).unwrap();
            let params = params_of(&path, &found, &Reading::default()).unwrap().unwrap();
            assert_eq!(params.filters, compression.filters, "{name}");
            assert_eq!((params.codec, params.level), (codec::id::LZ4HC, 7), "{name}");
            assert_eq!(items(&path), bytes, "{name}");
            if path.is_dir() {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            }
            .unwrap();
        }
    }
}

#[test]
fn chunks_are_listed_until_the_caller_stops() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
    let npy = folder.npy("a.npy", "<i4", &[4000], &bytes);
    let writing = Writing { chunk_bytes: Some(4000), ..Writing::default() };
    for (name, destination) in [
        ("a.b2frame", FRAME),
        ("a.blp", Destination::Bloscpack),
        ("a.bcolz", Destination::Bcolz),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5),
    ] {
        let path = folder.path(name);
        converted_with(&npy, &path, destination, &writing).unwrap();
        for most in [1, 2, usize::MAX] {
            let mut chunks = Vec::new();
            each_chunk(&path, &detect(&path).unwrap(), &mut |chunk| {
                chunks.push(chunk);
                chunks.len() < most
            })
            .unwrap();
            assert_eq!(chunks.len(), most.min(4), "{name}");
            assert!(chunks.iter().all(|chunk| chunk.nbytes == 4000), "{name} {chunks:?}");
        }
    }
    let mut count = 0;
    let mut one = |_| {
        count += 1;
        true
    };
    each_chunk(&npy, &detect(&npy).unwrap(), &mut one).unwrap();
    assert_eq!(count, 0);
}

#[test]
fn the_kinds_of_special_chunks_are_named() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(4);
    let mut schunk =
        SChunk::create(Storage::file(&path), params.clone(), DParams::default()).unwrap();
    schunk.set_chunksize(400).unwrap();
    let special = |make: &dyn Fn(&mut [u8]) -> ferroblosc::Result<usize>| {
        let mut chunk = vec![0; 64];
        let len = make(&mut chunk).unwrap();
        chunk.truncate(len);
        chunk
    };
    use ferroblosc::chunk::special;
    for chunk in [
        special(&|chunk| special::zeros(&params, 400, chunk)),
        special(&|chunk| special::nans(&params, 400, chunk)),
        special(&|chunk| special::uninit(&params, 400, chunk)),
        special(&|chunk| special::repeatval(&params, 400, &[1, 2, 3, 4], chunk)),
    ] {
        schunk.append_chunk(&chunk).unwrap();
    }
    schunk.close().unwrap();
    let mut names = Vec::new();
    each_chunk(&path, &detect(&path).unwrap(), &mut |chunk| {
        names.push(chunk.codec);
        true
    })
    .unwrap();
    assert_eq!(names, ["zeros", "nans", "uninit", "value"]);
}

#[test]
fn parts_of_large_chunks_are_read_without_the_rest() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..2_000_000_u32).flat_map(|number| (number * 3).to_le_bytes()).collect();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(Storage::file(&path), params, DParams::default()).unwrap();
    for chunk in bytes.chunks(5_000_000) {
        schunk.append(chunk).unwrap();
    }
    schunk.close().unwrap();
    let mut source = open(&path, &Reading::default()).unwrap();
    for (start, len) in
        [(0, 4), (4, 400), (3, 8), (4_999_996, 8), (4_999_998, 3), (5_000_000, 40), (7_999_996, 4)]
    {
        let mut part = vec![0; len];
        source.read(start as u64, &mut part).unwrap();
        assert_eq!(part, bytes[start..start + len], "{start} {len}");
    }
}

#[test]
fn partitions_that_a_format_cannot_have_are_refused() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[4, 6], &[1; 96]);
    let of = |chunks: &[u64], blocks: &[u64]| Writing {
        chunks: Some(chunks.to_vec()).filter(|chunks| !chunks.is_empty()),
        blocks: Some(blocks.to_vec()).filter(|blocks| !blocks.is_empty()),
        ..Writing::default()
    };
    let refused = |destination, writing: &Writing| {
        let error = converted_with(&npy, &folder.path("out"), destination, writing).unwrap_err();
        assert!(matches!(error, Error::Partition(_) | Error::Layout), "{error}");
        error.to_string()
    };
    for (chunks, blocks, why) in [
        (&[2][..], &[][..], "the chunk shape and the array have different numbers"),
        (&[], &[1, 2, 3], "the block shape and the array have different numbers"),
        (&[0, 2], &[], "at least 1"),
        (&[2, 2], &[2, 3], "must not be longer than a chunk"),
        (&[1 << 40, 1], &[], "Blosc2 does not support arrays"),
    ] {
        assert!(refused(B2ND, &of(chunks, blocks)).contains(why), "{chunks:?} {blocks:?}");
    }
    #[cfg(feature = "zarr")]
    {
        assert!(refused(ZARR, &of(&[1 << 20, 1 << 20], &[])).contains("less than 2 GB"));
        assert!(refused(ZARR, &of(&[2, 2], &[1, 1])).contains("Zarr arrays chunk shapes"));
    }
    assert!(refused(Destination::Npy, &of(&[2, 2], &[])).contains("only arrays in frames"));
    assert!(!folder.path("out").exists());
}

#[test]
fn the_error_of_the_source_ends_every_conversion() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::file(&path), params, DParams::default()).unwrap();
    let bytes: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
    schunk.append(&bytes).unwrap();
    schunk.append(&bytes).unwrap();
    let at = schunk.state().frame().unwrap().chunk_position(1).unwrap() as usize + 32;
    schunk.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at..at + 4].fill(0x7f);
    std::fs::write(&path, &bytes).unwrap();
    let compressed = Writing { chunk_bytes: Some(1000), ..Writing::default() };
    for (name, destination) in [
        ("a.blp", Destination::Bloscpack),
        ("a.npz", Destination::Npz),
        ("a.npy", Destination::Npy),
        ("a.bin", Destination::Plain),
        ("a.bcolz", Destination::Bcolz),
        ("a.b1", Destination::Blosc1),
        ("a.b2", Destination::Blosc2),
        ("b.b2frame", FRAME),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5),
    ] {
        let failed = converted_with(&path, &folder.path(name), destination, &compressed);
        assert!(matches!(failed, Err(Error::Chunk { number: 1, .. })), "{name}: {failed:?}");
    }
}

#[test]
fn items_of_more_than_255_bytes_have_no_type_size_in_old_formats() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..300 * 50_u32).map(|number| (number / 3) as u8).collect();
    let npy = folder.npy("a.npy", "|V300", &[50], &bytes);
    for (name, destination) in [
        ("a.blp", Destination::Bloscpack),
        ("a.bcolz", Destination::Bcolz),
        ("a.b2nd", B2ND),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
        #[cfg(feature = "hdf5")]
        ("a.h5", Destination::Hdf5 { filter: Some(Hdf5Filter::Blosc) }),
        #[cfg(feature = "hdf5")]
        ("b.h5", HDF5),
    ] {
        converted(&npy, &folder.path(name), destination).unwrap();
        assert_eq!(items(&folder.path(name)), bytes, "{name}");
    }
    let raw = SourceOptions { raw: true, ..SourceOptions::default() };
    let (from, to) = (folder.path("a.b2nd"), folder.path("a.b1"));
    let params = (&Reading::default(), &raw);
    convert(
        (&from, &detect(&from).unwrap()),
        (&to, Destination::Blosc1),
        params,
        &Writing::default(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(items(&to), bytes);
    assert_eq!(summarise(&to, &detect(&to).unwrap()).unwrap().typesize, 1);
}

#[test]
fn members_of_npz_files_with_faults_are_reported() {
    use crate::store::zip::ZipWriter;
    let folder = Folder::new();
    let npy = std::fs::read(folder.npy("a.npy", "<i4", &[2], &[1; 8])).unwrap();
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()), 0);
    zip.add("a.npy", &npy).unwrap();
    zip.add("a.npy", &[&npy[..], b"more"].concat()).unwrap();
    zip.add("short.npy", &npy[..npy.len() - 1]).unwrap();
    let path = folder.write("a.npz", &zip.finish().unwrap().into_inner());
    let found = detect(&path).unwrap();
    let verified = verify(&path, &found, &Reading::default()).unwrap();
    let faults: Vec<String> = verified.faults.iter().map(ToString::to_string).collect();
    let text = faults.join("; ");
    assert!(verified.is_damaged() && verified.compared == 3, "{text}");
    for expected in [
        "\"a.npy\": 4 unused bytes after the items",
        "several members have the name \"a.npy\"",
        "the file ends at byte",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(matches!(
        open(&folder.path("a.npz:/a"), &Reading::default()),
        Err(Error::SeveralArrays(_))
    ));
    let one = folder.path("a.npz:/short");
    let verified = verify(&one, &found, &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.faults.len() == 1);
    assert!(error_of(open(&one, &Reading::default())).contains("the file ends at byte"));
    let summary = summarise(&path, &found).unwrap();
    assert!(summary.columns[2].1.fault.is_some());
}

#[test]
fn headers_of_npz_members_may_be_long() {
    use crate::store::zip::ZipWriter;
    let folder = Folder::new();
    let fields: Vec<String> =
        (0..6000).map(|number| format!("('a_long_name_of_a_field_{number}', '|u1')")).collect();
    let dtype = format!("[{}]", fields.join(", "));
    let npy = std::fs::read(folder.npy("a.npy", &dtype, &[2], &[3; 12_000])).unwrap();
    assert!(npy.len() > 200_000);
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()), 0);
    zip.add("a.npy", &npy).unwrap();
    let path = folder.write("a.npz", &zip.finish().unwrap().into_inner());
    assert_eq!(items(&path), [3; 12_000]);
}

#[test]
fn names_of_npz_members_are_checked() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    for name in ["", ".", "..", "a//b", "../a", "a/"] {
        let joined = join_npz(&[(name.to_owned(), npy.clone())], &folder.path("out.npz"));
        assert!(matches!(joined, Err(Error::Name(found)) if found == name), "{name}");
        let writing = Writing { name: Some(name.to_owned()), ..Writing::default() };
        let refused = converted_with(&npy, &folder.path("o"), Destination::Npz, &writing);
        assert!(matches!(refused, Err(Error::Name(_))), "{name}");
    }
}

#[test]
fn faults_of_single_files_have_their_offset() {
    let folder = Folder::new();
    let mut npy = std::fs::read(folder.npy("a.npy", "<i4", &[2], &[1; 8])).unwrap();
    let end = npy.len();
    npy.extend(b"more");
    let path = folder.write("a.npy", &npy);
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    let expected = format!("byte {end}: 4 unused bytes after the items");
    assert!(verified.is_intact() && verified.faults[0].to_string() == expected);
    npy.truncate(end - 3);
    let path = folder.write("a.npy", &npy);
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.faults.len() == 1);
    // A description of an array that does not match the data of its container.
    let source = folder.npy("b.npy", "<i4", &[2], &[1; 8]);
    converted(&source, &folder.path("b.blp"), Destination::Bloscpack).unwrap();
    let args = PackArgs {
        metadata: Some(
            Value::parse(
                br#"{"dtype": "'<i4'", "shape": [3], "order": "C", "container": "numpy"}"#,
            )
            .unwrap(),
        ),
        ..PackArgs::default()
    };
    let path = folder.write("c.blp", &pack_bytes_to_bytes(&[1; 8], &args).unwrap());
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.faults.len() == 1, "{verified:?}");
    assert!(open(&path, &Reading::default()).is_err());
}

#[test]
fn records_of_several_dimensions_are_no_table() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "[('a', '<i4')]", &[2, 1], &[1; 8]);
    let refused = converted(&npy, &folder.path("out"), Destination::Bcolz);
    assert!(error_of(refused).contains("records in one dimension only"));
    assert!(!folder.path("out").exists());
    // Arrays without items per row.
    let npy = folder.npy("b.npy", "<i4", &[3, 0], &[]);
    let made = converted(&npy, &folder.path("empty"), Destination::Bcolz);
    assert_eq!(made.is_ok(), folder.path("empty").exists(), "{made:?}");
}

#[test]
fn the_output_of_a_failed_copy_of_chunks_is_removed() {
    let folder = Folder::new();
    // A scalar is no carray.
    let npy = folder.npy("a.npy", "<i4", &[], &[1; 4]);
    for (name, destination) in [("a.blp", Destination::Bloscpack), ("a.b2nd", B2ND)] {
        converted(&npy, &folder.path(name), destination).unwrap();
        let refused = converted(&folder.path(name), &folder.path("out"), Destination::Bcolz);
        assert!(matches!(refused, Err(Error::NoDimension)), "{name}: {refused:?}");
        assert!(!folder.path("out").exists(), "{name}");
    }
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
fn arrays_are_written_next_to_no_file_of_their_directory() {
    assert!(is_file_of_frame("00000000.chunk".as_ref()));
    assert!(is_file_of_frame("0123ABCD.chunk".as_ref()));
    assert!(is_file_of_frame("chunks.b2frame".as_ref()));
    for name in ["0.chunk", "0000000g.chunk", "000000000.chunk", "chunks", ".chunk"] {
        assert!(!is_file_of_frame(name.as_ref()), "{name}");
    }
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i4", &[2], &[1; 8]);
    // A file and a directory without a format have no parts.
    assert_eq!(foreign_file(&npy).unwrap(), None);
    let sparse = folder.path("sparse");
    converted(&npy, &sparse, Destination::B2nd { directory: true }).unwrap();
    assert_eq!(foreign_file(&sparse).unwrap(), None);
    std::fs::create_dir(sparse.join("00000001.chunk")).unwrap();
    assert_eq!(foreign_file(&sparse).unwrap(), Some(sparse.join("00000001.chunk")));
    std::fs::create_dir(folder.path("none")).unwrap();
    assert!(foreign_file(&folder.path("none")).is_err());
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        std::fs::remove_dir(sparse.join("00000001.chunk")).unwrap();
        let odd = sparse.join(std::ffi::OsStr::from_bytes(b"\xff"));
        std::fs::write(&odd, b"").unwrap();
        assert_eq!(foreign_file(&sparse).unwrap(), Some(odd));
    }
}

#[test]
fn shapes_and_types_that_do_not_match_the_data_are_refused() {
    let folder = Folder::new();
    let path = folder.write("a.bin", &[1; 12]);
    let open = |options: &SourceOptions| {
        let source = open_as(&path, &Detected::raw(), &Reading::default()).unwrap();
        with_options(source, options).map(|source| source.content().clone())
    };
    let of = |dtype: &str, shape: Option<&[u64]>, fortran_order| SourceOptions {
        dtype: Some(Dtype::parse(dtype).unwrap()),
        shape: shape.map(<[u64]>::to_vec),
        fortran_order,
        ..SourceOptions::default()
    };
    for (dtype, itemsize) in [("|S0", 0), ("<i8", 8), ("|V5", 5)] {
        let refused = open(&of(dtype, None, false));
        let is_refused = matches!(
            refused,
            Err(Error::NotMultipleOfItem { nbytes: 12, itemsize: found }) if found == itemsize
        );
        assert!(is_refused, "{dtype}: {refused:?}");
    }
    for (shape, expected) in [(&[4][..], Some(16)), (&[1 << 40, 1 << 40], None), (&[0], Some(0))] {
        let refused = open(&of("<i4", Some(shape), false));
        let is_refused = matches!(
            refused,
            Err(Error::NotOfShape { nbytes: 12, expected: found }) if found == expected
        );
        assert!(is_refused, "{shape:?}: {refused:?}");
    }
    assert!(open(&of("|O", None, false)).is_err());
    assert_eq!(open(&of("<i4", None, false)).unwrap().array.unwrap().shape, [3]);
    assert_eq!(open(&of("<i2", Some(&[3, 2]), true)).unwrap().array.unwrap().shape, [3, 2]);
}

/// Repairs a frame. Returns the descriptions of the repaired and the lost parts.
fn repaired(path: &Path, output: &Path) -> Result<(String, String)> {
    let repaired = repair(path, &detect(path).unwrap(), output)?;
    Ok((repaired.repaired.join("; "), repaired.lost.join("; ")))
}

#[test]
fn damaged_parts_of_frames_are_dropped_and_named() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(1);
    let storage = Storage::file(&path).checksums();
    let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
    let bytes: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
    for _ in 0..3 {
        schunk.append(&bytes).unwrap();
    }
    schunk.add_vlmetalayer("good", b"\xa4kept").unwrap();
    schunk.add_vlmetalayer("bad", b"\xa7damaged").unwrap();
    let at = schunk.state().frame().unwrap().chunk_position(2).unwrap() as usize + 32;
    schunk.close().unwrap();
    let good = std::fs::read(&path).unwrap();
    // An intact frame.
    let found = repaired(&path, &folder.path("intact")).unwrap();
    assert_eq!(found, (String::new(), String::new()));
    let mut bad = good.clone();
    bad[at..at + 4].fill(0x7f);
    let content = bad.windows(8).position(|bytes| bytes == b"\xa7damaged").unwrap();
    bad[content - 28..content - 24].fill(0x7f);
    std::fs::write(&path, &bad).unwrap();
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.has_checksums, "{verified:?}");
    let (rewritten, lost) = repaired(&path, &folder.path("fixed")).unwrap();
    assert!(rewritten.contains("the fingerprint"), "{rewritten}");
    assert!(lost.contains("chunk 2: its 10000 bytes are zeros now"), "{lost}");
    assert!(lost.contains("the metalayer \"bad\""), "{lost}");
    let fixed = folder.path("fixed");
    let verified = verify(&fixed, &detect(&fixed).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_intact() && verified.compared > 0, "{verified:?}");
    let schunk = SChunk::open(Storage::file(&fixed), DParams::default()).unwrap();
    assert_eq!(schunk.vlmetalayer_names(), ["good"]);
    assert_eq!(items(&fixed), [&bytes[..], &bytes, &[0; 10_000]].concat());
}

#[test]
fn a_lost_chunk_of_unknown_size_is_not_replaced() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::file(&path), params, DParams::default()).unwrap();
    let bytes: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
    // Chunks of several sizes.
    for len in [5000, 10_000, 7000] {
        schunk.append(&bytes[..len]).unwrap();
    }
    let at = schunk.state().frame().unwrap().chunk_position(1).unwrap() as usize + 32;
    assert_eq!(schunk.chunksize(), 0);
    schunk.close().unwrap();
    let mut bad = std::fs::read(&path).unwrap();
    bad[at..at + 4].fill(0x7f);
    std::fs::write(&path, &bad).unwrap();
    let refused = repaired(&path, &folder.path("out")).unwrap_err();
    assert!(refused.to_string().contains("the sizes of the lost chunks are unknown"), "{refused}");
}

#[test]
fn metalayers_of_arrays_that_do_not_match_the_chunks_are_faults() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    // The only chunk has 100 items of 4 bytes.
    for (shape, chunk, block, is_array) in [
        ([10, 10], [10, 10], [5, 10], true),
        // Another size of chunks, too few chunks, and no valid shape.
        ([9, 9], [9, 9], [3, 3], false),
        ([20, 10], [10, 10], [5, 10], false),
        ([10, 10], [10, 10], [0, 10], false),
    ] {
        let meta = ferroblosc::b2nd::meta::serialize(&shape, &chunk, &block, Some(b"<i4"), 0);
        frame(&path, true, &[(ferroblosc::b2nd::meta::NAME, &meta.unwrap())]);
        let found = detect(&path).unwrap();
        assert_eq!(found.format, Format::B2nd);
        let verified = verify(&path, &found, &Reading::default()).unwrap();
        assert_eq!(verified.is_intact(), is_array, "{shape:?} {block:?}: {verified:?}");
        let text = "the metalayer of the array is invalid or does not match the chunks";
        assert!(is_array || verified.faults[0].to_string() == text, "{verified:?}");
        let mut read = [0; 4];
        let end = shape.iter().product::<i64>() as u64 * 4 - 4;
        let read =
            open(&path, &Reading::default()).and_then(|mut source| source.read(end, &mut read));
        assert_eq!(read.is_ok(), is_array, "{shape:?} {block:?}");
        std::fs::remove_file(&path).unwrap();
    }
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

#[cfg(feature = "arrow")]
mod in_arrow {
    use super::*;
    use crate::store::{ColumnSpec, Store, Value};

    /// Writes a table with a column, and exports it. Returns the exported bytes.
    fn exported(spec: ColumnSpec, rows: &[Value], format: ArrowFormat) -> Result<Vec<u8>> {
        let folder = Folder::new();
        let path = folder.path("t.b2z");
        let mut writer = Store::create(&path).unwrap();
        let mut table = writer.create_table("/t", &[spec]).unwrap();
        let rows: Vec<Vec<Value>> = rows.iter().map(|value| vec![value.clone()]).collect();
        table.append_rows(&rows).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        let mut bytes = Vec::new();
        table_to_arrow(&store.table("/t").unwrap(), format, &mut bytes)?;
        Ok(bytes)
    }

    /// Imports a file. Returns the values of its only column.
    fn imported(bytes: &[u8], format: ArrowFormat) -> Result<Vec<Value>> {
        let folder = Folder::new();
        let file = folder.write("a.bin", bytes);
        let path = folder.path("t.b2z");
        let mut writer = Store::create(&path).unwrap();
        let rows = arrow_to_table(&file, format, &mut writer, "/t", &mut |_| {})?.rows;
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        let table = store.table("/t").unwrap();
        let name = table.schema().columns[0].name.clone();
        Ok(table.values(&name, 0..rows).unwrap())
    }

    #[test]
    fn arrays_of_all_numbers_are_the_same_after_both_formats() {
        let list = |items: [Value; 2]| Value::List(items.to_vec());
        let ints = || list([Value::Int(1), Value::Int(0)]);
        for (dtype, value) in [
            ("|b1", list([Value::Bool(true), Value::Bool(false)])),
            ("|i1", ints()),
            ("<i2", ints()),
            ("<i4", ints()),
            ("<i8", ints()),
            ("|u1", ints()),
            ("<u2", ints()),
            ("<u4", ints()),
            ("<u8", list([Value::Int(7), Value::UInt(u64::MAX)])),
            ("<f4", list([Value::Float(1.5), Value::Float(-0.25)])),
            ("<f8", list([Value::Float(0.1), Value::Float(1e300)])),
        ] {
            let spec = ColumnSpec::array("a", &[2], dtype);
            for format in [ArrowFormat::Ipc, ArrowFormat::Parquet] {
                let rows = vec![value.clone(); 3];
                let bytes = exported(spec.clone(), &rows, format).unwrap();
                assert_eq!(imported(&bytes, format).unwrap(), rows, "{dtype} {format:?}");
            }
        }
        let spec = ColumnSpec::array("a", &[2], "<c8");
        let refused = exported(spec, &[], ArrowFormat::Ipc);
        assert!(error_of(refused).contains("cannot be written to Arrow"));
    }

    #[test]
    fn damaged_footers_are_errors_that_name_the_fault() {
        let rows: Vec<Value> = (0..100).map(Value::Int).collect();
        let spec = || ColumnSpec::number("n", "int64");
        let parquet = exported(spec(), &rows, ArrowFormat::Parquet).unwrap();
        let end = parquet.len();
        let changed = |at: usize, bytes: &[u8]| {
            let mut changed = parquet.clone();
            changed[at..at + bytes.len()].copy_from_slice(bytes);
            changed
        };
        for (bytes, is_corruption, why) in [
            (changed(end - 4, b"PARE"), false, "the file is encrypted"),
            (changed(end - 4, b"XXXX"), true, "it does not end with PAR1"),
            (changed(end - 8, &[0xff; 4]), true, "the footer is larger than the file"),
            (changed(end - 8, &[1, 0, 0, 0]), true, ""),
            (parquet[..7].to_vec(), true, "the file is truncated"),
        ] {
            let error = imported(&bytes, ArrowFormat::Parquet).unwrap_err();
            assert!(error.to_string().contains(why), "{why}: {error}");
            assert_eq!(error.is_corruption(), is_corruption, "{error}");
            assert!(!catches_panics());
        }
        let ipc = exported(spec(), &rows, ArrowFormat::Ipc).unwrap();
        for len in [0, 7, 12, 100, ipc.len() / 2, ipc.len() - 1] {
            let error = imported(&ipc[..len], ArrowFormat::Ipc).unwrap_err();
            assert!(error.is_corruption(), "{len}: {error}");
        }
        // The stream in the file, between its signature and its footer.
        let start = ipc.windows(4).position(|window| window == [0xff; 4]).unwrap();
        let stream = &ipc[start..];
        assert_eq!(imported(stream, ArrowFormat::IpcStream).unwrap(), rows);
        for len in [1, 3, 4, 7, 8, 20, 200, 300] {
            let found = imported(&stream[..len.min(stream.len())], ArrowFormat::IpcStream);
            assert!(found.is_err_and(|error| error.is_corruption()), "{len}");
        }
        let negative = [&[0xff; 4][..], &[0xff, 0xff, 0xff, 0xff], &[0; 16]].concat();
        let error = imported(&negative, ArrowFormat::IpcStream).unwrap_err();
        assert!(error.to_string().contains("the size of a message is negative"), "{error}");
        let folder = Folder::new();
        assert_eq!(ArrowFormat::detect(folder.0.path()), None);
        assert_eq!(ArrowFormat::detect(&folder.path("none")), None);
        for bytes in [&b""[..], b"PAR", &negative, b"ARROW2\0\0"] {
            let path = folder.write("a.bin", bytes);
            assert_eq!(ArrowFormat::detect(&path), None, "{bytes:?}");
        }
    }
}

#[cfg(feature = "hdf5")]
mod in_hdf5 {
    use super::*;
    use crate::hdf5::{Attribute, File, Filter, ItemType, NewDataset, Scalar, Spec};

    fn int(size: usize) -> ItemType {
        Scalar::Int { size, is_signed: true, is_big: false }.into()
    }

    /// Writes a dataset `data` to a new file.
    fn dataset(path: &Path, spec: Spec, write: impl FnOnce(&NewDataset)) {
        let file = File::create(path).unwrap();
        let dataset = NewDataset::create(&file, "data", spec).unwrap();
        write(&dataset);
        drop(dataset);
        file.close().unwrap();
    }

    #[test]
    fn fill_values_and_chunks_at_the_edges_are_converted() {
        let folder = Folder::new();
        let path = folder.path("a.h5");
        for filter in [Hdf5Filter::Blosc, Hdf5Filter::Blosc2] {
            // The first chunk is stored, the others are missing.
            let spec = Spec {
                item: int(4),
                shape: vec![5, 7],
                chunks: Some(vec![2, 3]),
                filter: None,
                fill: Some(vec![9, 0, 0, 0]),
            };
            dataset(&path, spec, |dataset| {
                dataset.write_box(&[0, 0], &[2, 3], &[1; 24]).unwrap();
            });
            let mut expected = Vec::new();
            for row in 0..5 {
                for column in 0..7 {
                    let is_stored = row < 2 && column < 3;
                    expected.extend(if is_stored { [1; 4] } else { [9, 0, 0, 0] });
                }
            }
            assert_eq!(items(&path), expected);
            let (array, back) = (folder.path("a.b2nd"), folder.path("back.h5"));
            converted(&path, &array, B2ND).unwrap();
            assert_eq!(items(&array), expected);
            let lost = converted(&array, &back, Destination::Hdf5 { filter: Some(filter) });
            assert_eq!(lost.unwrap().lost, [""; 0]);
            assert_eq!(items(&back), expected);
            let verified = verify(&back, &detect(&back).unwrap(), &Reading::default()).unwrap();
            assert!(verified.is_intact() && verified.compared == 1);
            // With chunks that are contiguous in another array, and another fill value.
            let npy = folder.path("a.npy");
            converted(&path, &npy, Destination::Npy).unwrap();
            let writing = Writing { chunks: Some(vec![2, 3]), ..Writing::default() };
            let again = folder.path("again.h5");
            converted_with(&back, &again, Destination::Hdf5 { filter: Some(filter) }, &writing)
                .unwrap();
            assert_eq!(items(&again), expected);
            for path in [&path, &array, &back, &npy, &again] {
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    #[test]
    fn texts_are_converted_with_and_without_chunks() {
        let folder = Folder::new();
        let codes: Vec<u8> = ["a", "é", "😀", ""]
            .iter()
            .flat_map(|text| {
                let mut codes: Vec<u32> = text.chars().map(u32::from).collect();
                codes.resize(2, 0);
                codes.into_iter().flat_map(u32::to_be_bytes).collect::<Vec<u8>>()
            })
            .collect();
        let npy = folder.npy("a.npy", ">U2", &[4], &codes);
        let surrogate = folder.npy("b.npy", "<U1", &[1], &0xDC80_u32.to_le_bytes());
        for destination in [HDF5, PLAIN_HDF5] {
            let path = folder.path("a.h5");
            converted(&npy, &path, destination).unwrap();
            let texts: Vec<Vec<u8>> = items(&path).chunks(8).map(<[u8]>::to_vec).collect();
            let text = |text: &str| [text.as_bytes(), &[0; 8]].concat()[..8].to_vec();
            assert_eq!(texts, ["a", "é", "😀", ""].map(text));
            std::fs::remove_file(&path).unwrap();
            let refused = converted(&surrogate, &path, destination);
            assert!(matches!(refused, Err(Error::CannotHold(_))), "{refused:?}");
            let _ = std::fs::remove_file(&path);
        }
    }

    #[test]
    fn attributes_that_hdf5_cannot_hold_are_listed() {
        let folder = Folder::new();
        let path = folder.path("a.b2frame");
        let long = [&b"\xdc\x3a\x98"[..], &[0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0].repeat(15_000)];
        let nul = b"\xa3a\0b";
        frame(&path, false, &[("long", &long.concat()), ("nul", nul), ("good", b"\x05")]);
        let lost = converted(&path, &folder.path("a.h5"), HDF5).unwrap().lost.join("; ");
        assert!(lost.contains("the attribute \"long\", whose items exceed 64 KB"), "{lost}");
        assert!(lost.contains("the attribute \"nul\", which has a text with NUL"), "{lost}");
        assert!(!lost.contains("good"), "{lost}");
        let found = summarise(&folder.path("a.h5:/data"), &detect(&folder.path("a.h5")).unwrap());
        assert_eq!(found.unwrap().metadata.unwrap().to_json(), "{\"good\":5}");
    }

    #[test]
    fn numbers_of_any_size_and_order_are_attributes() {
        let folder = Folder::new();
        let path = folder.path("a.h5");
        let item = |scalar: Scalar| ItemType::from(scalar);
        let half = item(Scalar::Float { size: 2, is_big: true });
        let spec = Spec { item: int(4), shape: vec![2], chunks: None, filter: None, fill: None };
        dataset(&path, spec, |dataset| {
            for (name, attribute) in [
                ("half", Attribute::Items(half, Some(vec![]), vec![0x3e, 0])),
                (
                    "big",
                    Attribute::Items(
                        item(Scalar::Int { size: 2, is_signed: true, is_big: true }),
                        Some(vec![2]),
                        vec![0xff, 0xfe, 1, 0],
                    ),
                ),
                (
                    "complex",
                    Attribute::Items(
                        item(Scalar::Complex { size: 8, is_big: false }),
                        Some(vec![]),
                        vec![0; 8],
                    ),
                ),
                ("none", Attribute::Texts(None, Vec::new())),
                ("bytes", Attribute::Texts(Some(vec![]), vec![b"\xff".to_vec()])),
            ] {
                dataset.set_attribute(name, &attribute).unwrap();
            }
        });
        let found = detect(&path).unwrap();
        let summary = summarise(&folder.path("a.h5:/data"), &found).unwrap().metadata.unwrap();
        assert_eq!(summary.get("half"), Some(&Value::Float(1.5)));
        assert_eq!(summary.get("big").unwrap().to_json(), "[-2,256]");
        assert_eq!(summary.get("none"), Some(&Value::Null));
        let lost = converted(&path, &folder.path("a.b2nd"), B2ND).unwrap().lost.join("; ");
        for name in ["complex", "bytes"] {
            let expected = format!("the attribute \"{name}\", which has items without a value");
            assert!(lost.contains(&expected), "{lost}");
        }
    }

    #[test]
    fn plugins_are_not_written() {
        let folder = Folder::new();
        let npy = folder.npy("a.npy", "<i4", &[100], &[1; 400]);
        let compression = Compression { codec: codec::id::NDLZ, ..Compression::default() };
        let writing = Writing { compression: Some(compression), ..Writing::default() };
        let refused = converted_with(&npy, &folder.path("a.h5"), HDF5, &writing);
        assert!(error_of(refused).contains("only the built-in codecs of Blosc"));
    }

    #[test]
    fn chunks_of_other_filters_are_named() {
        let folder = Folder::new();
        let path = folder.path("a.h5");
        let spec =
            Spec { item: int(4), shape: vec![4], chunks: Some(vec![2]), filter: None, fill: None };
        dataset(&path, spec, |dataset| dataset.write_box(&[0], &[2], &[1; 8]).unwrap());
        let listed = |path: &Path| {
            let mut chunks = Vec::new();
            each_chunk(path, &detect(path).unwrap(), &mut |chunk| {
                chunks.push((chunk.number, chunk.codec));
                true
            })
            .unwrap();
            chunks
        };
        assert_eq!(listed(&path), [(0, "stored".to_owned())]);
        std::fs::remove_file(&path).unwrap();
        for (id, name) in [(crate::hdf5::BLOSC, "blosc"), (crate::hdf5::BLOSC2, "blosc2")] {
            let spec = Spec {
                item: int(4),
                shape: vec![4],
                chunks: Some(vec![2]),
                filter: Some(Filter { id, name: String::new(), values: vec![0; 7] }),
                fill: None,
            };
            // A chunk that is none of the filter.
            dataset(&path, spec, |dataset| dataset.write_chunk(&[0], &[7; 40]).unwrap());
            assert_eq!(listed(&path), [(0, name.to_owned())]);
            assert!(converted(&path, &folder.path("out.b2nd"), B2ND).is_err());
            let _ = std::fs::remove_file(folder.path("out.b2nd"));
            std::fs::remove_file(&path).unwrap();
        }
    }
}
