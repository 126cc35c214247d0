//! Written containers: published bytes, all options, pipes, and atomic replacement of files.

use crate::common::{Scratch, fixture, iota, json, lcg, packed, ramp, unhex, unpacked};
use ferroblosc_formats::bloscpack::{
    self, BloscArgs, BloscpackArgs, Codec, Error, MetadataArgs, PackArgs, Reserve, Shuffle,
};
use ferroblosc_formats::blpk::{Archive, Checksum, Header, MetadataCodec};

fn bytes(plain: &[u8], args: &PackArgs) -> Vec<u8> {
    bloscpack::pack_bytes_to_bytes(plain, args).unwrap()
}

fn with_room(plain: &[u8], max_app_chunks: Reserve) -> Vec<u8> {
    let bloscpack = BloscpackArgs { max_app_chunks, ..BloscpackArgs::default() };
    let args = PackArgs { bloscpack, ..PackArgs::default() };
    bytes(plain, &args)
}

#[test]
fn small_containers_have_the_published_bytes() {
    let empty =
        "626c706b 03010108 00000000 00000000 0100000000000000 0a00000000000000 7800000000000000";
    let mut expected = unhex(empty);
    expected.extend([0xFF; 80]);
    expected.extend(unhex("02011308 00000000 01000000 10000000 3000f901"));
    assert_eq!(bytes(b"", &PackArgs::default()), expected);
    assert_eq!(expected.len(), 140);

    let mut expected =
        unhex("626c706b 03010108 03000000 03000000 0100000000000000 0200000000000000");
    expected.extend(unhex("3800000000000000"));
    expected.extend([0xFF; 16]);
    expected.extend(unhex("02011308 03000000 01000000 13000000 616263 5c011505"));
    assert_eq!(with_room(b"abc", Reserve::Exactly(2)), expected);

    let args = PackArgs {
        metadata: Some(json(r#"{"a":1}"#)),
        bloscpack: BloscpackArgs {
            offsets: false,
            checksum: Checksum::None,
            ..BloscpackArgs::default()
        },
        metadata_args: MetadataArgs {
            checksum: Checksum::None,
            codec: MetadataCodec::None,
            level: 0,
            max_meta_size: Reserve::Exactly(7),
            ..MetadataArgs::default()
        },
        ..PackArgs::default()
    };
    let mut expected =
        unhex("626c706b 03020008 03000000 03000000 0100000000000000 0000000000000000");
    expected.extend(unhex("4a534f4e00000000 00000000 07000000 07000000 07000000 0000000000000000"));
    expected.extend(unhex("7b2261223a317d 02011308 03000000 01000000 13000000 616263"));
    assert_eq!(bytes(b"abc", &args), expected);
}

#[test]
fn uncompressed_containers_equal_those_of_bloscpack() {
    // Chunks stored uncompressed do not depend on the codec.
    for name in ["lcg_l0.blp", "lcg_l9.blp"] {
        let args = PackArgs {
            chunk_size: 2000,
            blosc: BloscArgs {
                clevel: if name == "lcg_l0.blp" { 0 } else { 9 },
                ..BloscArgs::default()
            },
            ..PackArgs::default()
        };
        assert_eq!(bytes(&lcg(5000), &args), fixture(name), "{name}");
    }
    assert_eq!(bytes(b"\x2A", &PackArgs::default()), fixture("one_byte.blp"));
    assert_eq!(bytes(b"", &PackArgs::default()), fixture("empty.blp"));
}

#[test]
fn headers_and_sections_equal_those_of_fixtures() {
    let front = |container: &[u8]| {
        let prelude = Archive::open(container.to_vec()).unwrap().prelude().clone();
        (prelude.header, prelude.metadata, prelude.chunks_start)
    };
    let plain = PackArgs::default;
    let meta = |text: &str, metadata_args| PackArgs {
        chunk_size: 4000,
        metadata: Some(json(text)),
        metadata_args,
        ..plain()
    };
    let fixtures = [
        ("iota_default.blp", iota(40_000), plain()),
        (
            "meta_zlib.blp",
            iota(40_000),
            PackArgs {
                chunk_size: 100 << 10,
                ..meta(r#"{"dtype":"float64","shape":[1024],"others":[]}"#, MetadataArgs::default())
            },
        ),
    ];
    for (name, data, args) in fixtures {
        assert_eq!(front(&bytes(&data, &args)), front(&fixture(name)), "{name}");
    }
    let section = |name: &str| front(&fixture(name)).1.unwrap();
    let fallback = bytes(&ramp(10_007), &meta("\"abc\"", MetadataArgs::default()));
    assert_eq!(front(&fallback).1.unwrap(), section("meta_small_fallback.blp"));
    let raw = MetadataArgs {
        codec: MetadataCodec::None,
        level: 0,
        checksum: Checksum::Sha256,
        max_meta_size: Reserve::Exactly(100),
        ..MetadataArgs::default()
    };
    let raw = bytes(&ramp(10_007), &meta("{\"k\":\"v\u{e9}\",\"n\":null,\"x\":1.5}", raw));
    assert_eq!(front(&raw).1.unwrap(), section("meta_plain_sha256.blp"));
}

#[test]
fn row_p4_incompressible_metadata_keep_the_level() {
    let args = PackArgs { metadata: Some(json("\"abc\"")), ..PackArgs::default() };
    let archive = Archive::open(bytes(b"x", &args)).unwrap();
    let header = archive.metadata().unwrap().header;
    assert_eq!((header.codec, header.level), (MetadataCodec::None, 6));
}

#[test]
fn metadata_that_do_not_fit_are_refused() {
    let args = |max_meta_size| PackArgs {
        metadata: Some(json("\"abcdef\"")),
        metadata_args: MetadataArgs { max_meta_size, ..MetadataArgs::default() },
        ..PackArgs::default()
    };
    let refusal = bloscpack::pack_bytes_to_bytes(b"", &args(Reserve::Exactly(7))).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "metadata section is too small to contain the metadata required: 8 allocated: 7"
    );
    assert!(bloscpack::pack_bytes_to_bytes(b"", &args(Reserve::Exactly(8))).is_ok());
    assert!(bloscpack::pack_bytes_to_bytes(b"", &args(Reserve::Times(1))).is_ok());
    let too_large = bloscpack::pack_bytes_to_bytes(b"", &args(Reserve::Exactly(1 << 32)));
    assert_eq!(
        too_large.unwrap_err().to_string(),
        "'max_meta_size' is 4294967296, but at most 4294967295 bytes can be reserved for metadata"
    );
}

#[test]
fn chunks_begin_at_the_expected_offsets() {
    let start = |data: &[u8], chunk_size, max_app_chunks| {
        let args = PackArgs {
            chunk_size,
            bloscpack: BloscpackArgs { max_app_chunks, ..BloscpackArgs::default() },
            ..PackArgs::default()
        };
        let mut archive = Archive::open(bytes(data, &args)).unwrap();
        let offsets = archive.offsets().unwrap().unwrap().to_vec();
        for (index, &offset) in offsets.iter().enumerate() {
            assert_eq!(archive.locate(index as u64).unwrap().position as i64, offset);
        }
        offsets[0]
    };
    assert_eq!(start(&[0; 800], 100, Reserve::Times(10)), 736);
    assert_eq!(start(&[0; 800], 100, Reserve::Exactly(0)), 96);
    assert_eq!(start(&[0; 800], 1 << 20, Reserve::Times(10)), 120);
    assert_eq!(start(&[0; 153], 1, Reserve::Times(10)), 13_496);
}

#[test]
fn every_codec_filter_and_checksum_round_trips() {
    let data = iota(3000);
    for codec in Codec::names() {
        for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
            let checksum = Checksum::ALL[(codec.len() + shuffle as usize) % 9];
            let args = PackArgs {
                chunk_size: 7000,
                blosc: BloscArgs {
                    codec: Codec::from_name(codec).unwrap(),
                    shuffle,
                    ..BloscArgs::default()
                },
                bloscpack: BloscpackArgs { checksum, ..BloscpackArgs::default() },
                nthreads: 3,
                ..PackArgs::default()
            };
            assert_eq!(unpacked(&bytes(&data, &args)).unwrap(), data, "{codec} {shuffle:?}");
        }
    }
    for checksum in Checksum::ALL {
        let args = PackArgs {
            chunk_size: 7000,
            bloscpack: BloscpackArgs {
                checksum,
                offsets: checksum.id() % 2 == 0,
                ..BloscpackArgs::default()
            },
            ..PackArgs::default()
        };
        assert_eq!(unpacked(&bytes(&data, &args)).unwrap(), data, "{checksum:?}");
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let data = ramp(300_000);
    let with = |nthreads| {
        let args = PackArgs { chunk_size: 10_000, nthreads, ..PackArgs::default() };
        bytes(&data, &args)
    };
    for nthreads in [2, 3, 8] {
        assert!(with(nthreads) == with(1), "{nthreads} threads");
    }
}

#[test]
fn data_of_unknown_size_pack_as_data_of_known_size_without_offsets() {
    for len in [0, 1, 999, 1000, 1001, 5000] {
        let data = ramp(len);
        let args = PackArgs {
            chunk_size: 1000,
            bloscpack: BloscpackArgs { offsets: false, ..BloscpackArgs::default() },
            nthreads: 2,
            ..PackArgs::default()
        };
        let mut output = std::io::Cursor::new(Vec::new());
        bloscpack::pack(data.as_slice(), None, &mut output, &args, &mut ()).unwrap();
        assert_eq!(output.into_inner(), bytes(&data, &args), "{len}");
    }
}

#[test]
fn row_p2_packing_from_pipe_to_pipe_omits_the_number_of_chunks() {
    for len in [0, 1, 1000, 5500] {
        let data = ramp(len);
        let args =
            PackArgs { chunk_size: 1000, metadata: Some(json("[1]")), ..PackArgs::default() };
        let mut output = Vec::new();
        bloscpack::pack_stream(data.as_slice(), None, &mut output, &args, &mut ()).unwrap();
        let header = Header::decode(&output).unwrap();
        assert_eq!((header.nchunks, header.chunk_size, header.last_chunk), (None, None, None));
        assert!(!header.offsets);
        assert_eq!(unpacked(&output).unwrap(), data);
        let (plain, _) = {
            let unpacking = bloscpack::Unpacking::new(output.as_slice(), None).unwrap();
            let mut plain = Vec::new();
            let unpacked = unpacking.run(&mut plain, 2, &mut ()).unwrap();
            (plain, unpacked)
        };
        assert_eq!(plain, data);
        // Truncated inside a chunk.
        assert!(unpacked(&output[..output.len() - 1]).is_err());
    }
}

#[test]
fn a_source_that_ends_early_is_an_error() {
    let args = PackArgs::default();
    let mut output = std::io::Cursor::new(Vec::new());
    let packed = bloscpack::pack(&[0_u8; 9][..], Some(10), &mut output, &args, &mut ());
    assert!(matches!(packed, Err(Error::Container(_))));
}

#[test]
fn row_p9_files_are_replaced_atomically() {
    let scratch = Scratch::new();
    let input = scratch.file("in", &iota(1000));
    let output = scratch.file("out", b"what was there");
    let wrong =
        PackArgs { blosc: BloscArgs { clevel: 11, ..BloscArgs::default() }, ..PackArgs::default() };
    assert!(bloscpack::pack_file_to_file(&input, &output, &wrong).is_err());
    assert_eq!(std::fs::read(&output).unwrap(), b"what was there");

    bloscpack::pack_file_to_file(&input, &output, &PackArgs::default()).unwrap();
    let mut container = std::fs::read(&output).unwrap();
    let back = scratch.file("back", b"what was there");
    let middle = container.len() - 40;
    container[middle] ^= 1;
    let damaged = scratch.file("damaged", &container);
    assert!(bloscpack::unpack_file_from_file(&damaged, &back, 2).is_err());
    assert_eq!(std::fs::read(&back).unwrap(), b"what was there");
    bloscpack::unpack_file_from_file(&output, &back, 2).unwrap();
    assert_eq!(std::fs::read(&back).unwrap(), iota(1000));
    assert_eq!(scratch.names(), ["back", "damaged", "in", "out"]);
}

#[test]
fn row_p9_a_file_is_not_packed_or_unpacked_into_itself() {
    let scratch = Scratch::new();
    let file = scratch.file("file", &packed(b"abc", 100));
    let link = scratch.path("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let hard = scratch.path("hard");
    std::fs::hard_link(&file, &hard).unwrap();
    for other in [&file, &link, &hard] {
        let packing = bloscpack::pack_file_to_file(&file, other, &PackArgs::default());
        assert!(matches!(packing, Err(Error::SameFile(_))));
        let unpacking = bloscpack::unpack_file_from_file(other, &file, 1);
        assert!(matches!(unpacking, Err(Error::SameFile(_))));
        let appending = bloscpack::append_file(&file, other, &bloscpack::AppendArgs::default());
        assert!(matches!(appending, Err(Error::SameFile(_))));
    }
    assert_eq!(std::fs::read(&file).unwrap(), packed(b"abc", 100));
}

#[test]
fn a_link_remains_a_link_and_its_target_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let input = scratch.file("in", b"abc");
    let output = scratch.file("out", b"");
    std::fs::set_permissions(&output, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = scratch.path("link");
    std::os::unix::fs::symlink(&output, &link).unwrap();
    bloscpack::pack_file_to_file(&input, &link, &PackArgs::default()).unwrap();
    assert!(link.is_symlink());
    assert_eq!(unpacked(&std::fs::read(&output).unwrap()).unwrap(), b"abc");
    let mode = std::fs::metadata(&output).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn a_temporary_file_of_another_process_is_neither_renamed_nor_removed() {
    let scratch = Scratch::new();
    let output = scratch.path("f.blp");
    std::fs::write(&output, b"old").unwrap();
    let temporary = scratch.path(".f.blp.tmp");
    for commits in [true, false] {
        let replacement = bloscpack::Replacement::create(&output).unwrap();
        // The other process has mistaken the file for a leftover.
        std::fs::remove_file(&temporary).unwrap();
        std::fs::write(&temporary, b"theirs").unwrap();
        if commits {
            let error = replacement.commit().unwrap_err().to_string();
            assert!(error.contains("f.blp: another process"), "{error}");
            assert!(!error.contains("/.f.blp"), "{error}");
        } else {
            drop(replacement);
        }
        assert_eq!(std::fs::read(&temporary).unwrap(), b"theirs");
        assert_eq!(std::fs::read(&output).unwrap(), b"old");
        std::fs::remove_file(&temporary).unwrap();
    }
}

/// Creates a FIFO and opens its reading end, so that it can be opened for writing without waiting.
fn fifo_with_reader(scratch: &Scratch) -> (std::path::PathBuf, std::fs::File) {
    use std::os::unix::fs::OpenOptionsExt;
    const O_NONBLOCK: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };
    let fifo = scratch.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let reader = std::fs::File::options().read(true).custom_flags(O_NONBLOCK).open(&fifo).unwrap();
    (fifo, reader)
}

#[test]
fn writing_to_a_fifo_fails_after_its_reader_has_left() {
    use std::io::Write;
    let scratch = Scratch::new();
    let (fifo, reader) = fifo_with_reader(&scratch);
    let mut replacement = bloscpack::Replacement::create(&fifo).unwrap();
    replacement.file().write_all(b"abc").unwrap();
    drop(reader);
    let error = replacement.file().write_all(b"abc").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[test]
fn a_fifo_is_not_verified() {
    let scratch = Scratch::new();
    let (fifo, _reader) = fifo_with_reader(&scratch);
    let error = bloscpack::verify(&fifo, 1).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn errors_of_special_files_name_the_file_and_the_cause() {
    let scratch = Scratch::new();
    let (fifo, _reader) = fifo_with_reader(&scratch);
    let wanted = format!("{}: this is not a regular file", fifo.display());
    let args = bloscpack::AppendArgs::default();
    let error = bloscpack::append(&fifo, &b"abc"[..], Some(3), &args, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot append to {wanted}"));
    let error = bloscpack::recover(&fifo).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot open {wanted}"));
    let folder = scratch.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let name = folder.display().to_string();
    let (file, pack_args) = (scratch.path("x"), PackArgs::default());
    bloscpack::pack_bytes_to_file(b"abc", &file, &pack_args).unwrap();
    for error in [
        bloscpack::unpack_bytes_from_file(&folder, 1).unwrap_err(),
        bloscpack::unpack_file_from_file(&folder, &scratch.path("y"), 1).unwrap_err(),
        bloscpack::pack_file_to_file(&folder, &scratch.path("y"), &pack_args).unwrap_err(),
        bloscpack::append_file(&file, &folder, &args).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains(&name) && text.to_lowercase().contains("is a directory"), "{text}");
    }
}

/// A reader that is interrupted by signals, and ends with an error.
struct Interrupted<'a> {
    bytes: &'a [u8],
    calls: usize,
    ending: Option<std::io::ErrorKind>,
}

impl std::io::Read for Interrupted<'_> {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        self.calls += 1;
        let len = dest.len().min(100);
        if self.calls % 2 == 1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        match (self.bytes, self.ending) {
            ([], Some(kind)) => Err(kind.into()),
            _ => self.bytes.read(&mut dest[..len]),
        }
    }
}

#[test]
fn interrupted_reads_are_repeated_and_others_are_errors() {
    let plain = ramp(10_000);
    let pack = |ending, size| {
        let mut output = Vec::new();
        let input = Interrupted { bytes: &plain, calls: 0, ending };
        let args = PackArgs { chunk_size: 3000, ..PackArgs::default() };
        bloscpack::pack_stream(input, size, &mut output, &args, &mut ()).map(|_| output)
    };
    for size in [None, Some(10_000)] {
        assert_eq!(unpacked(&pack(None, size).unwrap()).unwrap(), plain);
    }
    let error = pack(Some(std::io::ErrorKind::ConnectionReset), None).unwrap_err();
    assert!(!error.is_corruption(), "{error}");
    assert!(matches!(error, Error::Container(_)), "{error}");
}

/// A pipe has no offsets, which are written last and precede the chunks.
#[test]
fn containers_are_written_to_pipes_without_offsets() {
    use std::io::Read;
    let scratch = Scratch::new();
    let (fifo, mut reader) = fifo_with_reader(&scratch);
    let args = PackArgs { chunk_size: 300, ..PackArgs::default() };
    let packed = bloscpack::pack_bytes_to_file(&ramp(1000), &fifo, &args).unwrap();
    assert!(!packed.header.offsets);
    let mut container = Vec::new();
    reader.read_to_end(&mut container).unwrap();
    assert_eq!(unpacked(&container).unwrap(), ramp(1000));
    let path = scratch.path("x.blp");
    assert!(bloscpack::pack_bytes_to_file(&ramp(1000), &path, &args).unwrap().header.offsets);
    assert_eq!(unpacked(&std::fs::read(&path).unwrap()).unwrap(), ramp(1000));
    let error = bloscpack::pack_file_to_file(&scratch.path(""), &path, &args).unwrap_err();
    assert!(error.to_string().to_lowercase().contains("is a directory"), "{error}");
}

#[test]
fn invalid_arguments_of_metadata_are_errors() {
    use ferroblosc_formats::bloscpack::{MetadataArgs, section_for, zlib_size};
    let value = json(&format!("[{}1]", "1,".repeat(100)));
    let plain = value.to_json();
    let level = |level| MetadataArgs { level, ..MetadataArgs::default() };
    for invalid in [-1, 10, 1 << 40] {
        let expected = format!("'meta_level' must be in the range 0 <= n <= 9, not '{invalid}'");
        assert_eq!(section_for(&value, &level(invalid)).unwrap_err().to_string(), expected);
        assert_eq!(zlib_size(invalid, plain.as_bytes()).unwrap_err().to_string(), expected);
    }
    let section = section_for(&value, &level(9)).unwrap();
    assert_eq!(zlib_size(9, plain.as_bytes()).unwrap(), section.header.stored as usize);
    // Without compression, a stream is longer than its data.
    assert!(zlib_size(0, plain.as_bytes()).unwrap() > plain.len());
    let other = MetadataArgs { magic_format: "CBOR".to_owned(), ..MetadataArgs::default() };
    let error = section_for(&value, &other).unwrap_err();
    assert_eq!(error.to_string(), "serializer 'CBOR' does not exist");
}

/// The temporary files of a program that a signal ends.
#[test]
fn incomplete_files_are_removed_on_request() {
    let scratch = Scratch::new();
    let path = scratch.file("x.blp", b"old");
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writing::child_that_is_interrupted", "--ignored"])
        .env(CHILD_PATH, &path)
        .stdout(std::process::Stdio::null())
        .status();
    assert!(child.unwrap().success());
    assert_eq!(
        (scratch.names(), std::fs::read(&path).unwrap()),
        (vec!["x.blp".into()], b"old".into())
    );
}

const CHILD_PATH: &str = "FERROBLOSC_TEST_BLOSCPACK_PATH";

#[test]
#[ignore = "is run by another test"]
fn child_that_is_interrupted() {
    let path = std::path::PathBuf::from(std::env::var_os(CHILD_PATH).unwrap());
    let files = || std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    bloscpack::list_incomplete();
    bloscpack::Replacement::create(&path.with_file_name("y.blp")).unwrap().commit().unwrap();
    let _replacement = bloscpack::Replacement::create(&path).unwrap();
    assert_eq!(files(), 3);
    std::fs::remove_file(path.with_file_name("y.blp")).unwrap();
    bloscpack::remove_incomplete();
    assert_eq!(files(), 1);
    std::process::exit(0);
}
