//! Files written by Bloscpack 0.16.0, compared with their manifest.

use crate::common::{fixture, fixtures, hex, json};
use ferroblosc_formats::bloscpack::{self, Array};
use ferroblosc_formats::blpk::{Archive, PlainFile};
use sha2::{Digest, Sha256};
use std::io::{Read, Seek, SeekFrom};

/// A row of the manifest.
struct Fact {
    file: String,
    size: u64,
    metadata: Option<String>,
    sha256: String,
}

/// Returns the rows of both tables; those of the second have no metadata and no plain size.
fn facts() -> Vec<Fact> {
    let text = std::fs::read_to_string(fixtures().join("MANIFEST.md")).unwrap();
    // A bar inside a cell is escaped.
    let rows = text.lines().map(|line| line.replace("\\|", "\u{1}"));
    rows.filter(|row| row.contains(".blp |"))
        .map(|row| {
            let cells: Vec<String> = row
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().replace('\u{1}', "|"))
                .collect();
            let metadata = cells.get(5).filter(|cell| !cell.is_empty());
            Fact {
                file: cells[0].clone(),
                size: cells[1].parse().unwrap(),
                metadata: metadata.map(|cell| cell.trim_matches('`').to_owned()),
                sha256: cells.last().unwrap().clone(),
            }
        })
        .collect()
}

#[test]
fn every_fixture_decodes_to_the_bytes_of_its_manifest() {
    let facts = facts();
    assert_eq!(facts.len(), 56);
    for Fact { file, size, metadata, sha256 } in facts {
        let container = fixture(&file);
        assert_eq!(container.len() as u64, size, "{file}");
        for nthreads in [1, 3] {
            let (plain, unpacked) =
                bloscpack::unpack_bytes_from_bytes(&container, nthreads).unwrap();
            assert_eq!(hex(&Sha256::digest(&plain)), sha256, "{file}");
            let value = unpacked.metadata.as_ref().map(|read| read.value().unwrap());
            let expected = metadata.as_deref().map(json);
            assert_eq!(value, expected.as_ref(), "{file}");
        }
    }
}

#[test]
fn every_fixture_is_read_in_any_order() {
    for Fact { file, sha256, .. } in facts() {
        let plain = bloscpack::unpack_bytes_from_bytes(&fixture(&file), 1).unwrap().0;
        let mut archive = Archive::open(fixture(&file)).unwrap();
        assert_eq!(archive.plain_size().unwrap(), plain.len() as u64, "{file}");
        let mut chunk = Vec::new();
        for index in (0..archive.nchunks().unwrap()).rev() {
            let place = archive.read_chunk(index, &mut chunk).unwrap();
            let start = place.start as usize;
            assert_eq!(chunk, plain[start..start + chunk.len()], "{file}");
        }
        for (start, len) in [(0, 1), (13, 5), (plain.len() / 2, plain.len() / 3), (0, plain.len())]
        {
            if start + len > plain.len() {
                continue;
            }
            let mut part = vec![0; len];
            archive.read_range(start as u64, &mut part).unwrap();
            assert_eq!(part, plain[start..start + len], "{file}: {len} from {start}");
        }
        let mut file_object = PlainFile::new(archive).unwrap();
        let mut all = Vec::new();
        file_object.read_to_end(&mut all).unwrap();
        assert_eq!(hex(&Sha256::digest(&all)), sha256, "{file}");
        file_object.seek(SeekFrom::Start(plain.len() as u64 / 2)).unwrap();
        let mut rest = Vec::new();
        file_object.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, plain[plain.len() / 2..], "{file}");
    }
}

#[test]
fn every_fixture_is_verified() {
    for Fact { file, .. } in facts() {
        let report = bloscpack::verify(&fixtures().join(&file), 2).unwrap();
        assert!(report.faults.is_empty(), "{file}: {:?}", report.faults);
        // The stale bytes after a tail that Bloscpack shortened.
        let trailing = match file.as_str() {
            "append_shrunk_tail_garbage.blp" => 479,
            "append_exact_fill.blp" => 10,
            _ => 0,
        };
        assert_eq!(report.trailing, trailing, "{file}");
        assert_eq!(report.without_offset, 0, "{file}");
    }
}

#[test]
fn every_array_keeps_its_type_shape_and_order() {
    for (file, dtype, shape, fortran_order) in [
        ("np_f8_3d", "'<f8'", &[24, 30, 5][..], false),
        ("np_i4_fortran", "'<i4'", &[6, 10], true),
        ("np_be_i8", "'>i8'", &[10], false),
        ("np_u3", "'<U3'", &[3], false),
        ("np_s5", "'|S5'", &[2], false),
        ("np_bool", "'|b1'", &[100], false),
        ("np_m8", "'<M8[s]'", &[5], false),
        ("np_struct", "[('a', '|S1'), ('b', '<f8')]", &[50], false),
        (
            "np_nested",
            "[('year', '<i4'), ('c', [('iso', '|S3'), ('v', '<f4', (2,))])]",
            &[4],
            false,
        ),
        ("np_0d", "'<f8'", &[], false),
        ("np_empty", "'<f8'", &[0, 3], false),
        ("np_old_dtype_plain", "'<i8'", &[10], false),
        ("np_old_dtype_list", "[('a', '|S1'), ('b', '<f8')]", &[50], false),
    ] {
        let container = fixture(&format!("{file}.blp"));
        let array = bloscpack::unpack_ndarray_from_bytes(&container, 1).unwrap();
        assert_eq!(array.info.dtype.repr(), dtype, "{file}");
        assert_eq!(array.info.shape, shape, "{file}");
        assert_eq!(array.info.fortran_order, fortran_order, "{file}");
        let mut npy = Vec::new();
        array.to_npy(&mut npy).unwrap();
        assert_eq!(Array::from_npy(npy.as_slice()).unwrap(), array, "{file}");
    }
}
