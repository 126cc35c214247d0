//! Appending: the resulting layout, the unchanged bytes, and refused cases.

use crate::common::{Scratch, fixture, hex, iota, json, lcg, ramp, unpacked};
use ferroblosc_formats::bloscpack::{
    self, AppendArgs, Appended, BloscArgs, BloscpackArgs, Codec, Error, Metadata, MetadataArgs,
    PackArgs, Reserve,
};
use ferroblosc_formats::blpk::{Archive, Checksum, Header};
use sha2::{Digest, Sha256};
use std::path::Path;

fn append(path: &Path, new: &[u8]) -> bloscpack::Result<Appended> {
    append_with(path, new, &AppendArgs::default())
}

fn append_with(path: &Path, new: &[u8], args: &AppendArgs) -> bloscpack::Result<Appended> {
    bloscpack::append(path, new, Some(new.len() as u64), args, &mut ())
}

fn header_of(path: &Path) -> Header {
    *Archive::open(std::fs::read(path).unwrap()).unwrap().header()
}

fn offsets_of(path: &Path) -> Vec<i64> {
    let mut archive = Archive::open(std::fs::read(path).unwrap()).unwrap();
    archive.offsets().unwrap().unwrap().to_vec()
}

/// Creates a file with chunks of 1000 bytes.
fn original(scratch: &Scratch, data: &[u8], max_app_chunks: Reserve) -> std::path::PathBuf {
    let args = PackArgs {
        chunk_size: 1000,
        bloscpack: BloscpackArgs { max_app_chunks, ..BloscpackArgs::default() },
        ..PackArgs::default()
    };
    scratch.file("x.blp", &bloscpack::pack_bytes_to_bytes(data, &args).unwrap())
}

#[test]
fn the_published_cases_match() {
    for (len, nchunks, max_app_chunks, last_chunk) in [
        (0, 3, 30, 500),
        (500, 3, 30, 1000),
        (501, 4, 29, 1),
        (1500, 4, 29, 1000),
        (2500, 5, 28, 1000),
    ] {
        let scratch = Scratch::new();
        let data = lcg(2500 + len);
        let path = original(&scratch, &data[..2500], Reserve::Times(10));
        assert_eq!(offsets_of(&path), [296, 1316, 2336]);
        let appended = append(&path, &data[2500..]).unwrap();
        let header = header_of(&path);
        assert_eq!(appended.header, header);
        assert_eq!(appended.new_chunks, nchunks - 3);
        assert_eq!(header.nchunks, Some(nchunks), "{len}");
        assert_eq!(header.max_app_chunks, max_app_chunks, "{len}");
        assert_eq!(header.last_chunk, Some(last_chunk), "{len}");
        assert_eq!(header.chunk_size, Some(1000));
        assert_eq!(offsets_of(&path)[..3], [296, 1316, 2336]);
        assert_eq!(unpacked(&std::fs::read(&path).unwrap()).unwrap(), data);
        let report = bloscpack::verify(&path, 1).unwrap();
        assert!(report.faults.is_empty() && report.trailing == 0, "{report:?}");
        assert_eq!(scratch.names(), ["x.blp"]);
    }
    let scratch = Scratch::new();
    let path = scratch.file("x.blp", &crate::common::packed(b"1234567", 1 << 20));
    append(&path, &[9; 20]).unwrap();
    let header = header_of(&path);
    assert_eq!(header.nchunks, Some(4));
    assert_eq!(
        (header.max_app_chunks, header.chunk_size, header.last_chunk),
        (7, Some(7), Some(6))
    );
}

#[test]
fn files_appended_to_by_bloscpack_can_be_appended_to() {
    let scratch = Scratch::new();
    for (name, sha256_of_more) in [
        ("append_into_last.blp", 325_000),
        ("append_twice.blp", 340_014),
        ("append_with_meta.blp", 640_000),
        ("append_exact_fill.blp", 3000),
        ("append_shrunk_tail_garbage.blp", 2600),
    ] {
        let path = scratch.file(name, &fixture(name));
        let mut data = unpacked(&fixture(name)).unwrap();
        assert_eq!(data.len(), sha256_of_more);
        append(&path, b"and more").unwrap();
        data.extend(b"and more");
        let plain = unpacked(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(hex(&Sha256::digest(&plain)), hex(&Sha256::digest(&data)), "{name}");
        assert_eq!(bloscpack::verify(&path, 1).unwrap().trailing, 0, "{name}");
    }
}

#[test]
fn the_last_chunk_is_recompressed_with_the_new_arguments() {
    let scratch = Scratch::new();
    let data = iota(500);
    let path = original(&scratch, &data[..3000], Reserve::Times(10));
    let args = AppendArgs {
        codec: Codec::from_name("zstd").unwrap(),
        nthreads: 2,
        ..AppendArgs::default()
    };
    append_with(&path, &data[3000..], &args).unwrap();
    let mut archive = Archive::open(std::fs::read(&path).unwrap()).unwrap();
    let formats: Vec<u8> =
        (0..4).map(|index| archive.locate(index).unwrap().chunk.header.format()).collect();
    assert_eq!(formats, [0, 0, 4, 4]);
}

#[test]
fn row_p5_an_empty_container_is_rewritten() {
    let scratch = Scratch::new();
    let metadata = json(r#"{"a":1}"#);
    let args = PackArgs {
        metadata: Some(metadata.clone()),
        bloscpack: BloscpackArgs { checksum: Checksum::Sha1, ..BloscpackArgs::default() },
        blosc: BloscArgs { typesize: 4, ..BloscArgs::default() },
        ..PackArgs::default()
    };
    for size in [Some(2_000_000), None] {
        let empty = bloscpack::pack_bytes_to_bytes(b"", &args).unwrap();
        let path = scratch.file("x.blp", &empty);
        let new = ramp(2_000_000);
        bloscpack::append(&path, new.as_slice(), size, &AppendArgs::default(), &mut ()).unwrap();
        let header = header_of(&path);
        assert_eq!(header.chunk_size, Some(1 << 20));
        assert_eq!((header.checksum, header.typesize, header.offsets), (Checksum::Sha1, 4, true));
        assert_eq!((header.nchunks, header.max_app_chunks), (Some(2), 20));
        let (plain, unpacked) = bloscpack::unpack_bytes_from_file(&path, 1).unwrap();
        assert_eq!(plain, new);
        assert_eq!(unpacked.metadata.unwrap().value(), Some(&metadata));
    }
    // Empty output for empty input.
    let path = scratch.file("y.blp", &fixture("empty.blp"));
    append(&path, b"").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), fixture("empty.blp"));
}

#[test]
fn row_p6_the_item_size_defaults_to_the_headers() {
    let scratch = Scratch::new();
    for (given, expected) in [(None, 4), (Some(2), 2)] {
        let args = PackArgs {
            blosc: BloscArgs { typesize: 4, ..BloscArgs::default() },
            ..PackArgs::default()
        };
        let container = bloscpack::pack_bytes_to_bytes(&iota(100), &args).unwrap();
        let path = scratch.file("x.blp", &container);
        let args = AppendArgs { typesize: given, ..AppendArgs::default() };
        append_with(&path, &iota(100), &args).unwrap();
        let mut archive = Archive::open(std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(archive.locate(1).unwrap().chunk.header.typesize, expected);
        assert_eq!(archive.header().typesize, 4);
    }
}

#[test]
fn row_p7_a_shorter_tail_truncates_the_file() {
    let scratch = Scratch::new();
    let args = PackArgs {
        chunk_size: 1000,
        blosc: BloscArgs { clevel: 0, ..BloscArgs::default() },
        ..PackArgs::default()
    };
    let container = bloscpack::pack_bytes_to_bytes(&[0; 2500], &args).unwrap();
    let path = scratch.file("x.blp", &container);
    let appended = append(&path, &[0; 100]).unwrap();
    assert_eq!(appended.new_size, std::fs::metadata(&path).unwrap().len());
    assert!(appended.new_size < container.len() as u64);
    // The size of the reference's file without its stale tail.
    assert_eq!(appended.new_size, 2377);
}

#[test]
fn row_p8_a_last_chunk_with_a_wrong_digest_is_refused() {
    let scratch = Scratch::new();
    let mut container = crate::common::packed(&lcg(2500), 1000);
    let at = container.len() - 20;
    container[at] ^= 1;
    let path = scratch.file("x.blp", &container);
    let error = append(&path, b"more").unwrap_err();
    assert!(error.to_string().starts_with("Checksum mismatch"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), container);
}

#[test]
fn refused_appends_leave_the_file_unchanged() {
    let scratch = Scratch::new();
    let cases = [
        ("iota_nooffsets.blp", 10, "Appending to a file without offsets is not yet supported"),
        ("iota_maxapp0.blp", 1, "not enough space"),
        ("append_max_used.blp", 11, "not enough space"),
        ("streamed_v3.blp", 1, "Appending to a file without offsets is not yet supported"),
        ("old_v2_crc32.blp", 1, "format version of file was not '3' as expected, but '2'"),
    ];
    for (name, len, text) in cases {
        let path = scratch.file(name, &fixture(name));
        assert_eq!(append(&path, &vec![7; len]).unwrap_err().to_string(), text, "{name}");
        // A source without a known length, as from a pipe.
        let piped =
            bloscpack::append(&path, &vec![7; len][..], None, &AppendArgs::default(), &mut ());
        assert_eq!(piped.unwrap_err().to_string(), text, "{name}");
        assert_eq!(std::fs::read(&path).unwrap(), fixture(name), "{name}");
    }
    assert_eq!(scratch.names().len(), cases.len());
}

/// The last chunk, its offset and the sizes in the header show which bytes an append replaces.
#[test]
fn an_append_never_replaces_other_chunks() {
    let scratch = Scratch::new();
    let path = original(&scratch, &lcg(5000), Reserve::Times(10));
    let before = std::fs::read(&path).unwrap();
    let start = Archive::open(before.clone()).unwrap().prelude().offsets_start as usize;
    let offsets = offsets_of(&path);
    let with_offset = |number: usize, offset: i64| {
        let mut changed = before.clone();
        changed[start + 8 * number..][..8].copy_from_slice(&offset.to_le_bytes());
        changed
    };
    let mut cases: Vec<Vec<u8>> = (0..4).map(|number| with_offset(4, offsets[number])).collect();
    // Chunks before the last one that are after it.
    cases.extend([0, 2, 3].map(|number| with_offset(number, offsets[4] + 1)));
    // Sizes of a container without data.
    let mut empty = before.clone();
    empty[8..16].fill(0);
    cases.push(empty);
    for (number, changed) in cases.iter().enumerate() {
        let path = scratch.file("y.blp", changed);
        append(&path, b"more").unwrap_err();
        assert!(std::fs::read(&path).unwrap() == *changed, "case {number}");
    }
}

#[test]
fn a_failing_source_leaves_the_file_unchanged() {
    let scratch = Scratch::new();
    let path = original(&scratch, &lcg(2500), Reserve::Times(10));
    let before = std::fs::read(&path).unwrap();
    let short =
        bloscpack::append(&path, &lcg(5000)[..], Some(9000), &AppendArgs::default(), &mut ());
    assert!(short.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(scratch.names(), ["x.blp"]);
}

#[test]
fn invalid_arguments_leave_the_file_unchanged() {
    let scratch = Scratch::new();
    let path = original(&scratch, &lcg(2500), Reserve::Times(10));
    let before = std::fs::read(&path).unwrap();
    for args in [
        AppendArgs { clevel: 10, ..AppendArgs::default() },
        AppendArgs { typesize: Some(0), ..AppendArgs::default() },
    ] {
        assert!(append_with(&path, b"more", &args).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

fn metadata_of(path: &Path) -> Metadata {
    let archive = Archive::open(std::fs::read(path).unwrap()).unwrap();
    Metadata::of(archive.metadata().unwrap()).unwrap()
}

#[test]
fn metadata_are_replaced_in_place() {
    let scratch = Scratch::new();
    let path = scratch.file("x.blp", &fixture("append_with_meta.blp"));
    let args = AppendArgs {
        metadata: Some(json(r#"{"dtype":"float32"}"#)),
        metadata_args: MetadataArgs { checksum: Checksum::Crc32, ..MetadataArgs::default() },
        ..AppendArgs::default()
    };
    append_with(&path, b"more", &args).unwrap();
    assert_eq!(metadata_of(&path).value(), args.metadata.as_ref());
    let mut data = unpacked(&fixture("append_with_meta.blp")).unwrap();
    data.extend(b"more");
    assert_eq!(unpacked(&std::fs::read(&path).unwrap()).unwrap(), data);
    // Also without an append.
    bloscpack::update_metadata(&path, &json("[1]"), &MetadataArgs::default()).unwrap();
    assert_eq!(metadata_of(&path).value(), Some(&json("[1]")));
    assert_eq!(unpacked(&std::fs::read(&path).unwrap()).unwrap(), data);
}

#[test]
fn row_p14_refused_metadata_prevent_the_append() {
    let scratch = Scratch::new();
    let large = format!("\"{}\"", hex(&lcg(1000)));
    let cases = [
        (
            "append_with_meta.blp",
            r#"{"shape":[1024],"others":[],"dtype":"float64"}"#,
            MetadataArgs::default(),
            "you requested to update metadata, but this has not changed",
        ),
        (
            "append_into_last.blp",
            "[1]",
            MetadataArgs::default(),
            "unable to seek to metadata if it does not exist",
        ),
        (
            "append_with_meta.blp",
            &large,
            MetadataArgs {
                codec: ferroblosc_formats::blpk::MetadataCodec::None,
                ..MetadataArgs::default()
            },
            "metadata section is too small to contain the metadata required: 2002 allocated: 460",
        ),
        (
            "append_with_meta.blp",
            "[1]",
            MetadataArgs { checksum: Checksum::Md5, ..MetadataArgs::default() },
            "checksums have a size mismatch",
        ),
    ];
    for (name, text, metadata_args, expected) in cases {
        let path = scratch.file("x.blp", &fixture(name));
        let args =
            AppendArgs { metadata: Some(json(text)), metadata_args, ..AppendArgs::default() };
        let error = append_with(&path, b"more", &args).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(std::fs::read(&path).unwrap(), fixture(name));
    }
}

#[test]
fn row_p14_appending_an_empty_file_works() {
    let scratch = Scratch::new();
    let path = scratch.file("x.blp", &fixture("append_twice.blp"));
    let new = scratch.file("new", b"");
    let appended = bloscpack::append_file(&path, &new, &AppendArgs::default()).unwrap();
    assert_eq!((appended.appended, appended.new_chunks), (0, 0));
    assert_eq!(std::fs::read(&path).unwrap(), fixture("append_twice.blp"));
}

#[test]
fn a_locked_file_is_not_changed() {
    let scratch = Scratch::new();
    let path = original(&scratch, &lcg(2500), Reserve::Times(10));
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    assert!(matches!(append(&path, b"more"), Err(Error::Busy(_))));
    drop(other);
    append(&path, b"more").unwrap();
}

/// A container without data is written again, with the checks of a change in place.
#[test]
fn row_p5_metadata_of_an_empty_container_are_replaced() {
    let scratch = Scratch::new();
    let empty = |metadata: Option<&str>| {
        let args = PackArgs { metadata: metadata.map(json), ..PackArgs::default() };
        let bytes = bloscpack::pack_bytes_to_bytes(b"", &args).unwrap();
        scratch.file("x.blp", &bytes)
    };
    let update = |path: &Path, text: &str, args: &MetadataArgs| {
        let before = std::fs::read(path).unwrap();
        let updated = bloscpack::update_metadata(path, &json(text), args);
        assert_eq!(std::fs::read(path).unwrap() == before, updated.is_err());
        updated.map_err(|error| error.to_string())
    };
    let path = empty(None);
    let none = "unable to seek to metadata if it does not exist";
    assert_eq!(update(&path, "[1]", &MetadataArgs::default()), Err(none.to_owned()));
    let path = empty(Some("[1]"));
    let same = "you requested to update metadata, but this has not changed";
    assert_eq!(update(&path, "[1]", &MetadataArgs::default()), Err(same.to_owned()));
    let large = format!("[{}1]", "1,".repeat(1000));
    let uncompressed = MetadataArgs {
        codec: ferroblosc_formats::blpk::MetadataCodec::None,
        ..MetadataArgs::default()
    };
    let error = update(&path, &large, &uncompressed).unwrap_err();
    assert!(error.starts_with("metadata section is too small"), "{error}");
    update(&path, "[2]", &MetadataArgs::default()).unwrap();
    assert_eq!(metadata_of(&path).value(), Some(&json("[2]")));
    // New data keep the metadata, or get others.
    append(&path, &iota(10)).unwrap();
    assert_eq!(metadata_of(&path).value(), Some(&json("[2]")));
    let path = empty(Some("[1]"));
    let args = AppendArgs { metadata: Some(json("[3]")), ..AppendArgs::default() };
    append_with(&path, &iota(10), &args).unwrap();
    assert_eq!(metadata_of(&path).value(), Some(&json("[3]")));
    assert_eq!(unpacked(&std::fs::read(&path).unwrap()).unwrap(), iota(10));
    // Metadata of another kind cannot be written again.
    let path = empty(Some("[1]"));
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|bytes| bytes == b"JSON").unwrap();
    bytes[at..at + 4].copy_from_slice(b"CBOR");
    std::fs::write(&path, &bytes).unwrap();
    let error = append(&path, &iota(10)).unwrap_err();
    assert_eq!(error.to_string(), "serializer 'CBOR' does not exist");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
