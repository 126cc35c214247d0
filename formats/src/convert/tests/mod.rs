//! Conversions of unusual data, from and to all formats.

#[cfg(feature = "arrow")]
mod arrow;
mod frames;
#[cfg(feature = "hdf5")]
mod hdf5;
mod npz;
mod odd;
mod tables;

use std::path::{Path, PathBuf};

use super::*;
use crate::bcolz::{self as stored, CarraySpec, Ctable, Mode, Object, Options};
use crate::bloscpack::{PackArgs, Value, pack_bytes_to_bytes};
use crate::numpy::{ArrayInfo, Dtype, npy_header};
use crate::testing::Folder;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::filter::Slot;
use ferroblosc::schunk::{SChunk, State, Storage};
use ferroblosc::{codec, filter};

impl Folder {
    /// Writes a .npy file in C order. Returns its path.
    fn npy(&self, name: &str, dtype: &str, shape: &[u64], items: &[u8]) -> PathBuf {
        let dtype = Dtype::parse(dtype).unwrap();
        let info = ArrayInfo { dtype, shape: shape.to_vec(), fortran_order: false };
        self.write(name, [npy_header(&info).unwrap(), items.to_vec()].concat())
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

/// Creates a super-chunk of items of one byte.
fn of_bytes(storage: Storage) -> SChunk {
    let params = CParams::default().typesize(1);
    SChunk::create(storage, params, DParams::default()).unwrap()
}

/// Returns 10,000 bytes in runs of seven.
fn runs() -> Vec<u8> {
    (0..10_000_u32).map(|number| (number / 7) as u8).collect()
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
    let targets = [
        ("a.npz", Destination::Npz, ".npz file"),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR, "Zarr"),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5, "HDF5"),
    ];
    for (name, destination, what) in targets {
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
        let path = folder.write("b.h5", [vec![b'#'; size], file.clone()].concat());
        assert_eq!(detect(&path).unwrap().format, Format::Hdf5, "{size}");
        assert_eq!(items(&path), [1; 8], "{size}");
    }
    for size in [100, 513, 1536] {
        let path = folder.write("b.h5", [vec![b'#'; size], file.clone()].concat());
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

#[test]
fn the_error_of_the_source_ends_every_conversion() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let mut schunk = of_bytes(Storage::file(&path));
    let bytes = runs();
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
    let path = folder.write("c.blp", pack_bytes_to_bytes(&[1; 8], &args).unwrap());
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    assert!(verified.is_damaged() && verified.faults.len() == 1, "{verified:?}");
    assert!(open(&path, &Reading::default()).is_err());
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
    let path = folder.write("a.bin", [1; 12]);
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
