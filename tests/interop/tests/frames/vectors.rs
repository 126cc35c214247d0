//! The frames and numbers in the format's description, compared byte by byte with our library, and
//! with the reference to detect errors in the description.

use ferroblosc_interop::data::{Content, Random};
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::schunk::{Handle, stored};
use ferroblosc_interop::storage::{Access, Kind};
use std::path::Path;
use tempfile::tempdir;

const LIBRARIES: [fn() -> &'static Library; 2] = [ours, reference];

fn four_bytes(clevel: u8) -> Cparams {
    Cparams { typesize: 4, clevel, ..Cparams::default() }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        })
        .collect()
}

fn ints(range: std::ops::Range<i32>) -> Vec<u8> {
    range.flat_map(i32::to_le_bytes).collect()
}

/// Creates each kind of contiguous frame with both libraries and compares it with `expected`.
fn on_contiguous_frames(cparams: Cparams, fill: impl Fn(&Handle), expected: &[u8]) {
    let dir = tempdir().unwrap();
    for library in LIBRARIES.map(|library| library()) {
        for kind in [Kind::Frame, Kind::File, Kind::Mapped] {
            let path = dir.path().join(format!("{}-{kind:?}", library.name));
            let handle = Handle::create(library, kind, &path, cparams).expect("created");
            fill(&handle);
            let frame = &stored(&handle, kind, &path)[0].1;
            assert!(frame == expected, "{} {kind:?}:\n{frame:02x?}", library.name);
        }
    }
}

#[test]
fn a_tiny_frame_has_the_published_bytes() {
    let expected = bytes(
        "9ea8 62326672616d6500 d200000070 cf000000000000012a a412005003 d30000000000000020
         d30000000000000040 d200000004 d200000000 d200000020 d10001 d10001 c3 d806 000000000001 0000
         0000000000000000 93cd000e de0001 a16d d200000068 dc0001 c600000003 010203
         05011704 20000000 20000000 40000000 00000000 00010000 00000000 00000000
         01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000
         05010708 08000000 08000000 28000000 00000000 00010000 00000000 00000000 0000000000000000
         940193cd000d de0001 a176 d200000013 dc0001 c600000023
         05010708 03000000 01000000 23000000 00000000 00010000 00000000 00000000 616263
         ce00000052 d800 00000000000000000000000000000000",
    );
    assert_eq!(expected.len(), 298);
    let fill = |handle: &Handle| {
        assert_eq!(handle.meta_add("m", &[1, 2, 3]), 0);
        assert_eq!(handle.append_buffer(&ints(1..9)), 1);
        assert_eq!(handle.vlmeta_add("v", b"abc"), 0);
    };
    on_contiguous_frames(four_bytes(5), fill, &expected);
}

const EMPTY: &str = "9ea862326672616d6500d200000061cf0000000000000084a412005003d30000
    000000000000d30000000000000000d200000004d200000000d2ffffffffd100
    01d10001c2d8060000000000010000000000000000000093cd0007de0000dc00
    00940193cd0006de0000dc0000ce00000023d800000000000000000000000000
    00000000";

#[test]
fn an_empty_frame_has_the_published_bytes() {
    on_contiguous_frames(four_bytes(5), |_| {}, &bytes(EMPTY));
    let mut copied = bytes(EMPTY);
    copied[0x40] = 0; // A copy has no threads to compress with.
    for library in LIBRARIES.map(|library| library()) {
        let apart = Handle::create(library, Kind::Sparse, Path::new(""), four_bytes(5));
        let frame = apart.expect("created").to_buffer();
        assert_eq!(frame, (132, copied.clone()), "{}", library.name);
    }
}

#[test]
fn a_frame_with_metalayers_has_the_published_bytes() {
    let expected = bytes(
        "9ea862326672616d6500d200000073cf00000000000001b0a412000003d30000
         000000000050d300000000000000b0d200000004d200000000d200000020d100
         01d10001c3d8060000000000010000000000000000000093cd000fde0001a26d
         6dd200000069dc0001c60000000568656c6c6f05010704200000002000000040
         0000000000000000010000000000000000000000000000010000000200000003
         0000000400000005000000060000000700000005010704200000002000000040
         0000000000000000010000000000000000000000000000000000000000000000
         0000000000000000000000000000000000000005010704100000001000000030
         0000000000000000010000000000000000000008000000090000000a0000000b
         0000000501070818000000180000003800000000000000000100000000000000
         000000000000000000000040000000000000008000000000000000940193cd00
         0ede0001a27676d200000014dc0001c600000025050107080500000001000000
         2500000000000000000100000000000000000000776f726c64ce00000055d800
         00000000000000000000000000000000",
    );
    let fill = |handle: &Handle| {
        assert_eq!(handle.meta_add("mm", b"hello"), 0);
        assert_eq!(handle.append_buffer(&ints(0..8)), 1);
        assert_eq!(handle.append_buffer(&[0; 32]), 2);
        assert_eq!(handle.append_buffer(&ints(8..12)), 3);
        assert_eq!(handle.vlmeta_add("vv", b"world"), 0);
        let fields = handle.fields();
        assert_eq!((fields.nchunks, fields.nbytes, fields.cbytes), (3, 80, 176));
        assert_eq!((fields.chunksize, fields.blocksize), (32, 0));
        assert_eq!((fields.nmetalayers, fields.nvlmetalayers), (1, 1));
        assert_eq!(fields.change_tick, 2);
    };
    on_contiguous_frames(four_bytes(0), fill, &expected);
}

#[test]
fn filled_frames_have_one_repeated_offset() {
    let dir = tempdir().unwrap();
    let index = |top: u8| {
        let mut index = bytes("05010508 18000000 18000000 28000000");
        index.extend_from_slice(&[0; 15]);
        index.push(0x30);
        index.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, top]);
        index
    };
    for library in LIBRARIES.map(|library| library()) {
        for kind in Kind::ALL {
            for (special, top, flags) in [(1, 0x81, 0x10), (2, 0x82, 0x20), (4, 0x84, 0x40)] {
                let path = dir.path().join(format!("{}-{kind:?}-{special}", library.name));
                let handle = Handle::create(library, kind, &path, four_bytes(5)).expect("created");
                assert_eq!(handle.fill_special(250, special, 400), 3);
                for (at, head) in
                    [(0, "05010504 90010000 90010000"), (2, "05010504 c8000000 c8000000")]
                {
                    let mut chunk = bytes(head);
                    chunk.extend_from_slice(&bytes("20000000"));
                    chunk.extend_from_slice(&[0; 15]);
                    chunk.push(flags);
                    let (code, got) = handle.chunk(at);
                    assert_eq!(code, 32);
                    if kind != Kind::Sparse {
                        assert_eq!(got, chunk, "{} {kind:?} {special}", library.name);
                    }
                }
                let cbytes = if kind == Kind::Sparse { 96 } else { 0 };
                assert_eq!(handle.fields().cbytes, cbytes);
                if kind != Kind::Sparse {
                    assert_eq!(handle.frame_len(), 172);
                    let frame = stored(&handle, kind, &path).remove(0).1;
                    assert_eq!(frame[97..137], index(top)[..], "{} {kind:?}", library.name);
                }
            }
        }
    }
}

#[test]
fn a_filled_frame_has_the_block_size_of_a_full_chunk() {
    for library in LIBRARIES.map(|library| library()) {
        let handle = Handle::create(library, Kind::Frame, Path::new(""), four_bytes(5));
        let handle = handle.expect("created");
        assert_eq!(handle.fill_special(2, 1, 1600), 1);
        let fields = handle.fields();
        assert_eq!((fields.chunksize, fields.blocksize), (1600, 1600), "{}", library.name);
    }
}

#[test]
fn a_copy_without_chunks_keeps_the_chunk_size() {
    let copies = LIBRARIES.map(|library| {
        let handle = Handle::create(library(), Kind::Sparse, Path::new(""), four_bytes(5));
        let handle = handle.expect("created");
        assert_eq!(handle.meta_add("m", b"x"), 0);
        assert_eq!(handle.append_buffer(&ints(0..100)), 1);
        assert_eq!(handle.delete(0), 0);
        handle.to_buffer().1
    });
    assert_eq!(copies[0][58..62], 400i32.to_be_bytes());
    assert_eq!(copies[0], copies[1]);
}

#[test]
fn lazy_chunks_have_the_published_bytes() {
    let dir = tempdir().unwrap();
    let plain = "050107049001000090010000b001000000000000000100000000000000000008
                 0000000000000000610000000000000090010000";
    let packed = "0501050490010000c8000000ac00000000000000000100000000000000000008
                  280000006a0000000000000061000000000000004200000042000000";
    for library in LIBRARIES.map(|library| library()) {
        for (clevel, blocksize, expected) in [(0, 0, plain), (5, 200, packed)] {
            let path = dir.path().join(format!("{}-{clevel}", library.name));
            let cparams = Cparams { blocksize, ..four_bytes(clevel) };
            let handle = Handle::create(library, Kind::File, &path, cparams).expect("created");
            assert_eq!(handle.append_buffer(&ints(0..100)), 1);
            let (_, mut chunk) = handle.lazy_chunk(0);
            if clevel == 0 {
                // The unspecified block starts in the reference.
                chunk[32..36].fill(0);
            }
            assert_eq!(chunk, bytes(expected), "{} level {clevel}", library.name);
        }
        let path = dir.path().join(format!("{}-second", library.name));
        let handle = Handle::create(library, Kind::File, &path, four_bytes(5)).expect("created");
        let sevens: Vec<u8> = (0..1000).flat_map(|i: i32| (i * 7).to_le_bytes()).collect();
        assert_eq!(handle.append_buffer(&sevens), 1);
        assert_eq!(handle.append_buffer(&sevens), 2);
        let expected = bytes(
            "05010504 a00f0000 a00f0000 f7010000 00000000 00010000 00000000 00000008
             24000000 01000000 5802000000000000 d3010000",
        );
        assert_eq!(handle.lazy_chunk(1), (52, expected), "{}", library.name);
    }
}

#[test]
fn lazy_chunks_contain_the_offset_of_each_block() {
    let dir = tempdir().unwrap();
    let lengths = LIBRARIES.map(|library| {
        let path = dir.path().join(library().name);
        let cparams = Cparams { blocksize: 4096, ..four_bytes(5) };
        let handle = Handle::create(library(), Kind::Directory, &path, cparams).expect("created");
        let sevens: Vec<u8> = (0..2500).flat_map(|i: i32| (i * 7).to_le_bytes()).collect();
        assert_eq!(handle.append_buffer(&sevens), 1);
        handle.lazy_chunk(0)
    });
    assert_eq!(lengths[0], lengths[1]);
    let (code, chunk) = &lengths[0];
    assert_eq!(*code, 68);
    let ints: Vec<i32> = chunk[32..44]
        .chunks(4)
        .chain(chunk[56..68].chunks(4))
        .map(|int| i32::from_le_bytes(int.try_into().expect("4 bytes")))
        .collect();
    assert_eq!(ints, [0x2c, 0x1fb, 0x3ca, 0x1cf, 0x1cf, 0x16a]);
    assert_eq!(chunk[44..56], [0; 12]);
}

#[test]
fn variable_blocks_set_the_flag() {
    let chunk = bytes(
        "060115010f000000030000004700000000000000000100000000000000000100
         2c00000035000000420000000500000068656c6c6f09000000776f6e64657266
         756c0100000078",
    );
    let cparams = Cparams { typesize: 1, ..Cparams::default() };
    for library in LIBRARIES.map(|library| library()) {
        let handle = Handle::create(library, Kind::Frame, Path::new(""), cparams).expect("created");
        assert_eq!(handle.append(&chunk, true), 1);
        let fields = handle.fields();
        assert_eq!((fields.chunksize, fields.flags2), (15, 1));
        assert_eq!(handle.to_buffer().1[25], 0x93);
        assert_eq!(handle.vl_block(0, 1), (9, b"wonderful".to_vec()));
        assert_eq!(handle.decompress(0, 15), (15, b"hellowonderfulx".to_vec()));
    }
}

#[test]
fn sequences_result_in_the_published_numbers() {
    let dir = tempdir().unwrap();
    for library in LIBRARIES.map(|library| library()) {
        for kind in Kind::ALL {
            let path = dir.path().join(format!("{}-{kind:?}", library.name));
            let handle = Handle::create(library, kind, &path, four_bytes(5)).expect("created");
            let sums = |expected: (i32, i64, i64)| {
                let fields = handle.fields();
                let held = (fields.chunksize, fields.nbytes, fields.cbytes);
                assert_eq!(held, expected, "{} {kind:?}", library.name);
            };
            // A new context each time, because the reference's remembers the block size of a short
            // chunk.
            let append = |len: i32| {
                let mut chunk = vec![0; 4 * len as usize + 32];
                let context = library.compressor(four_bytes(5)).expect("right parameters");
                let size = context.compress(&ints(0..len), &mut chunk);
                chunk.truncate(size as usize);
                handle.append(&chunk, true);
                handle.frame_len()
            };
            let first = append(100);
            append(100);
            let third = append(25);
            sums((400, 900, 378));
            match kind {
                Kind::Sparse => {}
                Kind::Directory => assert_eq!((first, third), (172, 188)),
                _ => assert_eq!((first, third), (324, 566)),
            }
            append(100);
            let fourth = handle.fields();
            assert_eq!((fourth.chunksize, fourth.nbytes), (0, 1300));
            if kind.contiguous() {
                assert_eq!(handle.offsets().expect("a frame")[..4], [0, 152, 304, 378]);
            }
        }
    }
}

/// Returns a chunk of `len` bytes with 4000 bytes of partly incompressible data.
fn chunk_of(len: usize) -> Vec<u8> {
    let cparams = Cparams { compcode: 1, filters: [0; 6], ..four_bytes(9) };
    let context = ours().compressor(cparams).expect("right parameters");
    let noise = Content::Random.make(4000, 4, 1);
    let with_noise = |(start, end): (usize, usize)| {
        let mut data = noise.clone();
        data[start..4000 - end].fill(7);
        let mut chunk = vec![0; 4032];
        let size = context.compress(&data, &mut chunk);
        chunk.truncate(size as usize);
        chunk
    };
    let near = len.saturating_sub(120);
    (near..=(near + 120).min(3990))
        .chain([3990])
        .flat_map(|start| (0..10).map(move |end| (start, end)))
        .map(with_noise)
        .find(|chunk| chunk.len() == len)
        .expect("a byte of noise adds about a byte to the chunk")
}

#[test]
fn updates_move_the_following_chunks_as_in_the_worked_example() {
    let dir = tempdir().unwrap();
    let zeros = 0x8100_0000_0000_0000u64 as i64;
    let zero_chunk = {
        let mut chunk = bytes("05010504 a00f0000 a00f0000 20000000");
        chunk.extend_from_slice(&[0; 15]);
        chunk.push(0x10);
        chunk
    };
    let sizes = [355, 4032, 403, 503, 4032, 451].map(chunk_of);
    for library in LIBRARIES.map(|library| library()) {
        for kind in [Kind::Frame, Kind::File, Kind::Mapped, Kind::Directory] {
            let path = dir.path().join(format!("{}-{kind:?}", library.name));
            let handle = Handle::create(library, kind, &path, four_bytes(5)).expect("created");
            let expect = |contiguous: &[i64], ids: &[i64]| {
                let offsets = handle.offsets().expect("a frame");
                let expected = if kind == Kind::Directory { ids } else { contiguous };
                assert_eq!(offsets, expected, "{} {kind:?}", library.name);
            };
            for chunk in [&sizes[0], &sizes[1], &sizes[2], &zero_chunk] {
                assert!(handle.append(chunk, true) > 0);
            }
            expect(&[0, 0x163, 0x1123, zeros], &[0, 1, 2, zeros]);
            assert_eq!(handle.insert(1, &sizes[3], true), 5);
            expect(&[0, 0x12b6, 0x163, 0x1123, zeros], &[0, 3, 1, 2, zeros]);
            // 4032 bytes replace 355, so the following chunks move by 3677.
            assert_eq!(handle.update(0, &sizes[4], true), 5);
            let moved = [0x12b6, 0x163, 0x1123].map(|offset| offset + 3677);
            expect(&[0, moved[0], moved[1], moved[2], zeros], &[0, 3, 1, 2, zeros]);
            assert_eq!(handle.update(2, &zero_chunk, true), 5);
            let closed = [moved[0] - 4032, moved[2] - 4032];
            expect(&[0, closed[0], zeros, closed[1], zeros], &[0, 3, zeros, 2, zeros]);
            let end = handle.fields().cbytes;
            assert_eq!(handle.update(2, &sizes[5], true), 5);
            expect(&[0, closed[0], end, closed[1], zeros], &[0, 3, 4, 2, zeros]);
            let before = handle.fields().cbytes;
            assert_eq!(handle.delete(1), 4);
            if kind.contiguous() {
                assert_eq!(handle.fields().cbytes, before);
                assert_eq!(before, 4032 + 503 + 403 + 451);
            }
            assert_eq!(handle.reorder(&[3, 2, 1, 0]), 0);
            expect(&[zeros, closed[1], end, 0], &[zeros, 2, 4, 0]);
        }
    }
}

#[test]
fn the_sections_of_a_frame_add_up_to_its_length() {
    let dir = tempdir().unwrap();
    let mut random = Random::new(3);
    for library in LIBRARIES.map(|library| library()) {
        for kind in [Kind::File, Kind::Directory] {
            let path = dir.path().join(format!("{}-{kind:?}", library.name));
            let handle = Handle::create(library, kind, &path, four_bytes(5)).expect("created");
            handle.meta_add("m", b"content");
            for step in 0..60 {
                let count = handle.fields().nchunks;
                let content = Content::ALL[random.below(Content::ALL.len())];
                let chunk = content.make(1200, 4, random.word());
                match step % 6 {
                    4 if count > 2 => assert_eq!(handle.delete(1), count - 1),
                    5 => {
                        handle.vlmeta_add(&format!("v{}", step / 6), &chunk[..step]);
                    }
                    _ => assert_eq!(handle.append_buffer(&chunk), count + 1),
                }
                if step > 0 {
                    adds_up(&handle, kind, &path);
                }
            }
        }
    }
}

fn adds_up(handle: &Handle, kind: Kind, path: &Path) {
    let file = match kind {
        Kind::Directory => std::fs::read(path.join("chunks.b2frame")),
        _ => std::fs::read(path),
    }
    .expect("a file");
    let int = |at: usize, len: usize| {
        let bytes = file[at..at + len].iter();
        bytes.fold(0usize, |int, &byte| int << 8 | usize::from(byte))
    };
    let (header_len, frame_len) = (int(11, 4), int(16, 8));
    let cbytes = if kind == Kind::Directory { 0 } else { int(39, 8) };
    let at = header_len + cbytes + 12;
    let index = u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes")) as usize;
    let trailer = int(file.len() - 22, 4);
    assert_eq!(frame_len, file.len());
    assert_eq!(frame_len, header_len + cbytes + index + trailer);
    assert_eq!(frame_len as i64, handle.frame_len());
}

#[test]
fn frames_appended_to_a_file_open_at_their_offsets() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("many");
    let mut appended = Vec::new();
    for round in 0..6 {
        let library = LIBRARIES[round % 2]();
        let kind = [Kind::Sparse, Kind::Frame][round / 2 % 2];
        let handle = Handle::create(library, kind, Path::new(""), four_bytes(5)).expect("created");
        for chunk in 0..=round as i32 {
            handle.append_buffer(&ints(chunk..chunk + 50));
        }
        let len = std::fs::metadata(&path).map_or(0, |file| file.len());
        let offset = handle.append_file(&path);
        assert_eq!(offset, len as i64);
        appended.push((offset, handle.to_buffer().1));
    }
    for library in LIBRARIES.map(|library| library()) {
        for (round, (offset, frame)) in appended.iter().enumerate() {
            for access in [Access::Plain, Access::Mapped(c"r")] {
                let opened = Handle::open(library, &path, *offset, access).expect("opened");
                assert_eq!(opened.to_buffer().1.len(), frame.len());
                let last = round as i32;
                let data = opened.decompress(round as i64, 200).1;
                assert_eq!(data, ints(last..last + 50));
            }
        }
        assert!(Handle::open(library, &path, 1, Access::Plain).is_none());
    }
}
