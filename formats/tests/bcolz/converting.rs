//! Conversions of arrays to other formats and back.

use crate::common::{Scratch, fixtures, hex, iota, made, reader, rows};
use ferroblosc_formats::bcolz::{Mode, Options};
use ferroblosc_formats::bloscpack::{self, Array};
use ferroblosc_formats::blpk::Checksum;
use ferroblosc_formats::convert::{
    Target, bloscpack_to_carray, carray_to_b2nd, carray_to_bloscpack, carray_to_npy, npy_to_carray,
};
use sha2::{Digest, Sha256};

const NAMES: [&str; 15] = [
    "i8_multi",
    "i4_exact",
    "nd2",
    "nd3",
    "u4",
    "s5",
    "s300",
    "be_i4",
    "bool",
    "m8ns",
    "record_dtype",
    "v121_snappy",
    "trim_stale_leftover",
    "unflushed_append",
    "u1_lcg",
];

#[test]
fn carrays_round_trip_through_npy_files() {
    let scratch = Scratch::new();
    for name in NAMES {
        let root = fixtures().join(name);
        let npy = scratch.path(&format!("{name}.npy"));
        carray_to_npy(&root, &npy, &Options::default()).unwrap();
        let array = Array::from_npy(std::fs::read(&npy).unwrap().as_slice()).unwrap();
        assert_eq!(array.info.shape, reader(&root).shape(), "{name}");
        assert_eq!(array.data, rows(&root), "{name}");
        let back = scratch.path(name);
        let target = Target { records: true, chunklen: Some(37), ..Target::default() };
        npy_to_carray(&npy, &back, &target, Mode::Append, &Options::default()).unwrap();
        assert_eq!(rows(&back), rows(&root), "{name}");
        assert_eq!(reader(&back).dtype().description(), reader(&root).dtype().description());
    }
}

#[test]
fn arrays_in_fortran_order_are_transposed() {
    // The bytes that NumPy stores for `np.arange(24, dtype='u1').reshape(4, 3, 2)` in Fortran
    // order.
    let shape = (4, 3, 2);
    let mut items = Vec::new();
    for k in 0..shape.2 {
        for j in 0..shape.1 {
            for i in 0..shape.0 {
                items.push((i * 6 + j * 2 + k) as u8);
            }
        }
    }
    let text = "{'descr': '|u1', 'fortran_order': True, 'shape': (4, 3, 2), }";
    let mut npy = b"\x93NUMPY\x01\0\x76\0".to_vec();
    npy.extend(format!("{text:117}\n").bytes());
    npy.extend(items);
    let scratch = Scratch::new();
    let path = scratch.path("f.npy");
    std::fs::write(&path, npy).unwrap();
    let root = scratch.path("f");
    let target = Target { chunklen: Some(3), ..Target::default() };
    npy_to_carray(&path, &root, &target, Mode::Append, &Options::default()).unwrap();
    assert_eq!(rows(&root), (0..24).collect::<Vec<u8>>());
}

#[test]
fn carrays_round_trip_through_containers_by_chunk() {
    let scratch = Scratch::new();
    for name in NAMES.into_iter().chain(["empty_f8"]) {
        let root = fixtures().join(name);
        let packed = scratch.path(&format!("{name}.blp"));
        carray_to_bloscpack(&root, &packed, Checksum::Adler32, &Options::default()).unwrap();
        let array = bloscpack::unpack_ndarray_from_file(&packed, 1).unwrap();
        assert_eq!(array.info.shape, reader(&root).shape(), "{name}");
        assert_eq!(array.data, rows(&root), "{name}");
        let report = bloscpack::verify(&packed, 1).unwrap();
        assert!(report.faults.is_empty() && report.trailing == 0, "{name}: {report:?}");
        if name == "empty_f8" {
            continue;
        }
        let back = scratch.path(name);
        let target = Target { records: true, ..Target::default() };
        bloscpack_to_carray(&packed, &back, &target, Mode::Append, &Options::default()).unwrap();
        assert_eq!(rows(&back), rows(&root), "{name}");
        // Full chunks keep their bytes, including chunks of other codecs.
        if reader(&root).len() > reader(&root).chunklen() {
            let first = |root: &std::path::Path| std::fs::read(root.join("data/__0.blp")).unwrap();
            assert_eq!(
                hex(&Sha256::digest(first(&back))),
                hex(&Sha256::digest(first(&root))),
                "{name}"
            );
        }
    }
}

#[test]
fn containers_with_other_chunk_sizes_are_rechunked() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    made(&root, 100, 0..1050);
    let packed = scratch.path("a.blp");
    carray_to_bloscpack(&root, &packed, Checksum::None, &Options::default()).unwrap();
    let target = Target { chunklen: Some(77), ..Target::default() };
    let back = scratch.path("b");
    bloscpack_to_carray(&packed, &back, &target, Mode::Append, &Options::default()).unwrap();
    assert_eq!((rows(&back), reader(&back).chunklen()), (iota(0..1050), 77));
    // Converting a damaged chunk leaves no output.
    carray_to_bloscpack(&root, &packed, Checksum::Crc32, &Options::default()).unwrap();
    let mut bytes = std::fs::read(&packed).unwrap();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    std::fs::write(&packed, bytes).unwrap();
    let back = scratch.path("c");
    let target = Target::default();
    assert!(
        bloscpack_to_carray(&packed, &back, &target, Mode::Append, &Options::default()).is_err()
    );
    assert!(!back.exists());
}

/// The container has checksums, which must not certify damaged data.
#[test]
fn damaged_chunks_are_not_copied() {
    let scratch = Scratch::new();
    let options = Options::default();
    let root = scratch.path("a");
    made(&root, 1000, 0..2500);
    let (packed, frame, back) = (scratch.path("a.blp"), scratch.path("a.b2nd"), scratch.path("b"));
    carray_to_bloscpack(&root, &packed, Checksum::None, &options).unwrap();
    let file = root.join("data/__1.blp");
    let mut bytes = std::fs::read(&file).unwrap();
    let chunk = bytes[16..].to_vec();
    // The offset of the first block, after the headers of the file and of the chunk.
    bytes[32..36].fill(0x7f);
    std::fs::write(&file, bytes).unwrap();
    let error = carray_to_bloscpack(&root, &scratch.path("b.blp"), Checksum::Adler32, &options);
    assert!(error.unwrap_err().is_corruption());
    assert!(!scratch.path("b.blp").exists());
    assert!(carray_to_b2nd(&root, &frame, &options).unwrap_err().is_corruption());
    assert!(!frame.exists());
    let mut bytes = std::fs::read(&packed).unwrap();
    let at = bytes.windows(chunk.len()).position(|bytes| bytes == chunk).unwrap();
    bytes[at + 16..at + 20].fill(0x7f);
    std::fs::write(&packed, bytes).unwrap();
    let target = Target::default();
    let error = bloscpack_to_carray(&packed, &back, &target, Mode::Append, &options);
    assert!(error.unwrap_err().is_corruption());
    assert!(!back.exists());
}
