//! Input of other writers: old versions, streams, unknown metadata, damage.

use crate::common::{fixture, iota, json, packed, unpacked};
use ferroblosc_formats::bloscpack::{self, Error, Metadata, PackArgs};
use ferroblosc_formats::blpk::{self, Archive, Checksum, Header, Stream};

fn failure(container: &[u8]) -> Error {
    unpacked(container).unwrap_err()
}

/// Returns a fixture with some bytes replaced.
fn patched(name: &str, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut container = fixture(name);
    container[at..at + bytes.len()].copy_from_slice(bytes);
    container
}

#[test]
fn row_p1_versions_1_2_and_3_are_read_and_3_is_written() {
    for (name, version) in [
        ("old_v1.blp", 1),
        ("old_v1_unknown_nchunks.blp", 1),
        ("old_v2_crc32.blp", 2),
        ("streamed_v3.blp", 3),
    ] {
        let container = fixture(name);
        assert_eq!(Header::decode(&container).unwrap().version, version);
        assert_eq!(unpacked(&container).unwrap(), iota(40_000), "{name}");
    }
    assert_eq!(packed(b"abc", 100)[4], 3);
    let later = failure(&patched("iota_default.blp", 4, &[4]));
    assert_eq!(later.to_string(), "format version of file was not '3' as expected, but '4'");
}

#[test]
fn row_p2_an_unknown_number_of_chunks_is_read_to_the_end() {
    for name in ["old_v1_unknown_nchunks.blp", "streamed_v3.blp"] {
        let container = fixture(name);
        let mut archive = Archive::open(container.clone()).unwrap();
        assert_eq!(archive.nchunks().unwrap(), 3);
        for cut in [1, 4, 5, 100] {
            let error = failure(&container[..container.len() - cut]);
            assert!(matches!(error, Error::Container(blpk::Error::Truncated(_))), "{error}");
        }
        // A truncation at a chunk boundary is not detectable.
        let place = archive.locate(2).unwrap();
        let two = unpacked(&container[..place.position as usize]).unwrap();
        assert_eq!(two, iota(40_000)[..262_144]);
    }
    // With an unknown number of chunks, offsets are ignored.
    let with_offsets = patched("streamed_v3.blp", 5, &[1]);
    assert_eq!(unpacked(&with_offsets).unwrap(), iota(40_000));
}

#[test]
fn row_p3_metadata_padded_with_spaces_are_valid() {
    let blanks = patched("meta_zlib.blp", 36, b"    ");
    let (plain, unpacked) = bloscpack::unpack_bytes_from_bytes(&blanks, 1).unwrap();
    assert_eq!(plain, iota(40_000));
    let expected = json(r#"{"dtype":"float64","shape":[1024],"others":[]}"#);
    assert_eq!(unpacked.metadata.unwrap().value(), Some(&expected));
}

#[test]
fn row_p3_metadata_of_an_unknown_kind_are_opaque_and_the_data_are_read() {
    let other = patched("meta_zlib.blp", 32, b"CBOR\0\0\0\0");
    let (plain, unpacked) = bloscpack::unpack_bytes_from_bytes(&other, 1).unwrap();
    assert_eq!(plain, iota(40_000));
    match unpacked.metadata.unwrap() {
        Metadata::Opaque { kind, bytes, error } => {
            assert_eq!(kind, b"CBOR");
            assert_eq!(bytes, br#"{"dtype":"float64","shape":[1024],"others":[]}"#);
            assert_eq!(error, None);
        }
        Metadata::Value(value) => panic!("{value:?}"),
    }
}

#[test]
fn a_flipped_bit_of_metadata_is_found() {
    let container = fixture("meta_zlib.blp");
    let error = failure(&patched("meta_zlib.blp", 70, &[container[70] ^ 1]));
    let text = error.to_string();
    assert!(text.starts_with("Checksum mismatch detected in metadata expected: 'b'"), "{text}");
}

#[test]
fn a_flipped_bit_of_a_chunk_is_found_by_every_checksum() {
    for checksum in Checksum::ALL {
        if checksum == Checksum::None {
            continue;
        }
        let name = match checksum {
            Checksum::Adler32 => "iota_maxapp0.blp".to_owned(),
            other => format!("iota_{}.blp", other.name()),
        };
        let container = fixture(&name);
        let at = container.len() - 100;
        let error = failure(&patched(&name, at, &[container[at] ^ 0x10]));
        let found = matches!(error, Error::Container(blpk::Error::Checksum { .. }));
        assert!(found, "{name}: {error}");
    }
}

#[test]
fn a_wrong_digest_has_the_message_of_bloscpack() {
    let mut container = packed(b"abc", 100);
    let last = container.len() - 1;
    container[last] = 0x27;
    assert_eq!(
        failure(&container).to_string(),
        r#"Checksum mismatch detected in chunk, expected: 'b"\\\x01\x15'"', received: 'b'\\\x01\x15\x05''"#
    );
}

#[test]
fn row_p11_a_missing_or_truncated_digest_is_an_error() {
    let container = fixture("iota_default.blp");
    for cut in 1..=4 {
        let error = failure(&container[..container.len() - cut]);
        assert!(matches!(error, Error::Container(blpk::Error::Truncated(_))), "{error}");
        // Also in a stream of unknown size.
        let mut stream = Stream::new(&container[..container.len() - cut], None).unwrap();
        assert!(matches!(stream.next_chunk(&mut Vec::new()), Err(blpk::Error::Truncated(_))));
    }
}

#[test]
fn row_p7_bytes_after_the_last_chunk_are_ignored() {
    let mut container = fixture("iota_default.blp");
    container.extend(b"whatever");
    assert_eq!(unpacked(&container).unwrap(), iota(40_000));
    assert_eq!(unpacked(&fixture("append_shrunk_tail_garbage.blp")).unwrap(), vec![0; 2600]);
}

#[test]
fn unwritten_offsets_are_not_needed() {
    let mut container = fixture("iota_none.blp");
    let mut archive = Archive::open(container.clone()).unwrap();
    let start = archive.prelude().offsets_start as usize;
    let end = archive.prelude().chunks_start as usize;
    let last = archive.locate(3).unwrap();
    container[start..end].fill(0xFF);
    assert_eq!(unpacked(&container).unwrap(), iota(40_000));
    let mut archive = Archive::open(container).unwrap();
    assert_eq!(archive.locate(3).unwrap(), last);
}

#[test]
fn containers_of_no_chunks_are_empty() {
    let header = Header { nchunks: Some(0), ..Header::default() };
    assert_eq!(unpacked(&header.encode().unwrap()).unwrap(), b"");
    assert_eq!(unpacked(&Header::version1(Some(0)).encode().unwrap()).unwrap(), b"");
}

#[test]
fn ranges_beyond_the_data_are_refused() {
    let mut archive = Archive::open(packed(&iota(100), 64)).unwrap();
    assert_eq!(archive.plain_size().unwrap(), 800);
    for (start, len) in [(800, 1), (0, 801), (u64::MAX, 1), (799, 2)] {
        let result = archive.read_range(start, &mut vec![0; len]);
        assert!(matches!(result, Err(blpk::Error::NoSuchRange { .. })));
    }
    archive.read_range(800, &mut []).unwrap();
    assert!(matches!(archive.locate(13), Err(blpk::Error::NoSuchChunk(13))));
}

#[test]
fn ranges_of_unaligned_items_are_read() {
    let data: Vec<u8> = (0..=255).cycle().take(10_007).collect();
    let args = PackArgs {
        chunk_size: 1000,
        blosc: bloscpack::BloscArgs { typesize: 7, ..bloscpack::BloscArgs::default() },
        ..PackArgs::default()
    };
    let container = bloscpack::pack_bytes_to_bytes(&data, &args).unwrap();
    let mut archive = Archive::open(container).unwrap();
    for start in (0..10_007).step_by(13) {
        for len in [1, 7, 30, 1500] {
            let end = (start + len).min(data.len());
            let mut part = vec![0; end - start];
            archive.read_range(start as u64, &mut part).unwrap();
            assert_eq!(part, data[start..end], "{len} from {start}");
        }
    }
}
