//! Conversions and repairs of damaged data, and of data that change while they are read.

use super::*;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::frame::{FIXED_HEADER_LEN, FrameHeader, Kind as FrameKind};

/// Writes a frame with three chunks of 1000 bytes in runs. Returns its bytes, the positions of the
/// chunks, and that of the index.
fn three_chunks(path: &Path) -> (Vec<u8>, Vec<usize>, usize) {
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::file(path), params, DParams::default()).unwrap();
    schunk.set_chunksize(1000).unwrap();
    for start in 0..3 {
        schunk.append(&runs()[1000 * start..][..1000]).unwrap();
    }
    let frame = schunk.state().frame().unwrap();
    let positions = (0..3).map(|number| frame.chunk_position(number).unwrap() as usize).collect();
    schunk.close().unwrap();
    let bytes = std::fs::read(path).unwrap();
    let fixed = bytes[..FIXED_HEADER_LEN].try_into().unwrap();
    let header = FrameHeader::parse(fixed, FrameKind::Contiguous).unwrap();
    let index = header.header_len as usize + usize::try_from(header.counters.cbytes).unwrap();
    (bytes, positions, index)
}

/// Repairs a frame. Returns the result and the data of the copy.
fn repaired(folder: &Folder, bytes: &[u8]) -> Result<(Repaired, Vec<u8>)> {
    let (input, output) = (folder.write("in.b2frame", bytes), folder.path("out.b2frame"));
    let _ = std::fs::remove_file(&output);
    let result = repair(&input, &detect(&input)?, &output)?;
    let verified = verify(&output, &detect(&output)?, &Reading::default())?;
    assert!(verified.is_intact(), "{:?}", verified.faults);
    Ok((result, items(&output)))
}

#[test]
fn the_chunks_of_a_frame_are_found_without_its_index() {
    let folder = Folder::new();
    let (bytes, positions, index) = three_chunks(&folder.path("in.b2frame"));
    let data = &runs()[..3000];
    // The index is damaged in its sizes; the trailer is lost.
    for (at, damage) in [(12, [0xff, 0xff, 0xff, 0x7f]), (12, [3, 0, 0, 0]), (4, [1, 0, 0, 0])] {
        let mut damaged = bytes[..bytes.len() - 10].to_vec();
        damaged[index + at..][..4].copy_from_slice(&damage);
        let (result, found) = repaired(&folder, &damaged).unwrap();
        assert_eq!(result.repaired, ["3 chunks were found by scanning the file"], "{at}");
        assert!(found == data, "{at}");
    }
    // The sizes of a chunk are wrong: the search continues after it.
    for (at, damage) in [
        (4, 999_u32.to_le_bytes()),
        (4, 0_u32.to_le_bytes()),
        (12, u32::MAX.to_le_bytes()),
        (12, 20_u32.to_le_bytes()),
        (12, (1_u32 << 30).to_le_bytes()),
    ] {
        let mut damaged = bytes[..index].to_vec();
        damaged[positions[1] + at..][..4].copy_from_slice(&damage);
        let (result, found) = repaired(&folder, &damaged).unwrap();
        assert_eq!(
            result.repaired,
            ["2 chunks were found by scanning the file"],
            "{at} {damage:?}"
        );
        let lost = "the data from byte 1000 to 2000 are zeros now";
        assert_eq!(result.lost[0], lost, "{at} {damage:?}");
        let is_right = found[..1000] == data[..1000] && found[2000..] == data[2000..];
        assert!(is_right && found[1000..2000] == [0; 1000], "{at} {damage:?}");
    }
    // Without a header that can be read there is no output.
    let mut damaged = bytes.clone();
    damaged[11..15].copy_from_slice(&[0xff; 4]);
    damaged.truncate(index);
    let failed = repaired(&folder, &damaged);
    assert!(error_of(failed).contains("the header of the frame cannot be read"));
    assert!(!folder.path("out.b2frame").exists());
}

/// The header of the first chunk has the flags of all chunks.
#[test]
fn a_damaged_first_chunk_is_the_only_one_that_a_repair_loses() {
    let folder = Folder::new();
    let (mut bytes, positions, _) = three_chunks(&folder.path("in.b2frame"));
    bytes[positions[0]..][..16].fill(0xff);
    let mut expected = runs()[..3000].to_vec();
    expected[..1000].fill(0);
    for len in [bytes.len(), bytes.len() - 10] {
        let (result, found) = repaired(&folder, &bytes[..len]).unwrap();
        assert_eq!(result.lost[0], "chunk 0: its 1000 bytes are zeros now");
        assert!(found == expected);
    }
}

#[test]
fn a_directory_without_a_chunk_is_repaired_and_one_without_an_index_is_not() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let mut schunk = of_bytes(Storage::directory(&path));
    for chunk in runs().chunks(1000) {
        schunk.append(chunk).unwrap();
    }
    schunk.close().unwrap();
    let found = detect(&path).unwrap();
    let index = path.join("chunks.b2frame");
    let bytes = std::fs::read(&index).unwrap();
    std::fs::write(&index, &bytes[..bytes.len() / 2]).unwrap();
    assert!(repair(&path, &found, &folder.path("out")).unwrap_err().is_corruption());
    assert!(!folder.path("out").exists());
    std::fs::write(&index, &bytes).unwrap();
    let mut expected = runs();
    for number in [0, 3] {
        std::fs::remove_file(path.join(format!("0000000{number}.chunk"))).unwrap();
        expected[1000 * number..][..1000].fill(0);
        let verified = verify(&path, &found, &Reading::default()).unwrap();
        assert_eq!(verified.faults[0].chunk, Some(0));
        let result = repair(&path, &found, &folder.path("out")).unwrap();
        let lost = format!("chunk {number}: its 1000 bytes are zeros now");
        assert_eq!(result.lost.last(), Some(&lost));
        assert!(items(&folder.path("out")) == expected);
        std::fs::remove_dir_all(folder.path("out")).unwrap();
    }
}

#[test]
fn the_type_of_an_array_survives_the_repair_of_a_container() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<i2", &[50, 100], &runs());
    let path = folder.path("a.blp");
    let writing = Writing { chunk_bytes: Some(3000), ..Writing::default() };
    converted_with(&npy, &path, Destination::Bloscpack, &writing).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let mut archive = crate::blpk::Archive::open(bytes.clone()).unwrap();
    for number in [1, 3] {
        let at = archive.locate(number).unwrap().position as usize + 16;
        bytes[at..at + 8].fill(0x7f);
    }
    std::fs::write(&path, &bytes).unwrap();
    let out = folder.path("out.blp");
    let result = repair(&path, &detect(&path).unwrap(), &out).unwrap();
    let lost = ["chunk 1: its 3000 bytes are zeros now", "chunk 3: its 1000 bytes are zeros now"];
    assert_eq!(result.lost, lost);
    let source = open(&out, &Reading::default()).unwrap();
    let info = source.content().array.clone().unwrap();
    assert_eq!((info.dtype.text(), &info.shape[..]), ("<i2", &[50, 100][..]));
    let mut expected = runs();
    expected[3000..6000].fill(0);
    expected[9000..].fill(0);
    assert!(items(&out) == expected);
}

#[test]
fn files_that_are_shortened_while_they_are_read_are_errors() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "|u1", &[10_000], &runs());
    let raw = folder.write("a.bin", runs());
    for (path, found) in [(&npy, detect(&npy).unwrap()), (&raw, Detected::raw())] {
        let mut source = open_as(path, &found, &Reading::default()).unwrap();
        let mut read = vec![0; 10_000];
        source.read(0, &mut read).unwrap();
        assert!(read == runs());
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(5000).unwrap();
        let error = source.read(0, &mut read).unwrap_err();
        assert!(error.is_corruption(), "{error}");
        source.read(0, &mut read[..100]).unwrap();
    }
}

#[test]
fn large_arrays_in_fortran_order_are_transposed() {
    let folder = Folder::new();
    // Columns that are longer than the window, longer than half of it, and short ones.
    for (rows, columns) in [(200_000_usize, 3_usize), (100_000, 5), (1000, 300)] {
        let item = |row: usize, column: usize| ((row * columns + column) as u64).to_le_bytes();
        let stored: Vec<u8> =
            (0..columns).flat_map(|c| (0..rows).flat_map(move |r| item(r, c))).collect();
        let info = ArrayInfo {
            dtype: Dtype::parse("<u8").unwrap(),
            shape: vec![rows as u64, columns as u64],
            fortran_order: true,
        };
        let path = folder.write("a.npy", [npy_header(&info).unwrap(), stored].concat());
        let expected: Vec<u8> = (0..(rows * columns) as u64).flat_map(u64::to_le_bytes).collect();
        let mut source = open(&path, &Reading::default()).unwrap();
        let mut read = vec![0; expected.len()];
        for _ in 0..2 {
            source.read(0, &mut read).unwrap();
            assert!(read == expected, "{rows}");
        }
        // Parts of items, backwards.
        for start in [expected.len() - 1001, expected.len() / 2 + 3, 5, 0] {
            source.read(start as u64, &mut read[..1001]).unwrap();
            assert!(read[..1001] == expected[start..][..1001], "{rows} {start}");
        }
    }
    let info = ArrayInfo {
        dtype: Dtype::parse("<u8").unwrap(),
        shape: vec![3, 0, 2],
        fortran_order: true,
    };
    let path = folder.write("b.npy", npy_header(&info).unwrap());
    converted(&path, &folder.path("b.b2nd"), B2ND).unwrap();
    assert_eq!(items(&folder.path("b.b2nd")), []);
}

#[test]
fn parts_of_large_chunks_are_read_and_damaged_ones_are_named() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(Storage::file(&path), params, DParams::default()).unwrap();
    let data: Vec<u8> = (0..1_500_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
    schunk.append(&data).unwrap();
    let at = schunk.state().frame().unwrap().chunk_position(0).unwrap() as usize + 32;
    schunk.close().unwrap();
    let mut source = open(&path, &Reading::default()).unwrap();
    for (start, len) in [(4_000_000, 400), (4_000_001, 400), (4_000_000, 401), (0, 4)] {
        let mut read = vec![0; len];
        source.read(start, &mut read).unwrap();
        assert!(read == data[start as usize..][..len], "{start} {len}");
    }
    drop(source);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at..at + 4].fill(0x7f);
    std::fs::write(&path, &bytes).unwrap();
    let mut source = open(&path, &Reading::default()).unwrap();
    for (start, len) in [(0, 400), (1, 400)] {
        let failed = source.read(start, &mut vec![0; len]);
        assert!(matches!(failed, Err(Error::Chunk { number: 0, .. })), "{failed:?}");
    }
}

#[test]
fn an_array_whose_type_has_another_size_is_an_error() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let layout = Layout { shape: &[4], chunkshape: &[4], blockshape: &[4] };
    let params = CParams::default().typesize(4);
    drop(Array::from_item_bytes(Storage::file(&path), params, &layout, "<i8", &[1; 16]).unwrap());
    let opened = open(&path, &Reading::default());
    assert!(matches!(opened, Err(Error::Dtype { typesize: 4, .. })), "{:?}", opened.err());
    assert!(converted(&path, &folder.path("a.npy"), Destination::Npy).is_err());
}

#[test]
fn damaged_chunks_end_copies_between_bcolz_and_b2nd() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "|u1", &[10_000], &runs());
    let array = folder.path("a.b2nd");
    converted(&npy, &array, B2ND).unwrap();
    let schunk = SChunk::open(Storage::file(&array), DParams::default()).unwrap();
    let at = schunk.state().frame().unwrap().chunk_position(0).unwrap() as usize + 32;
    drop(schunk);
    let mut bytes = std::fs::read(&array).unwrap();
    bytes[at..at + 4].fill(0x7f);
    std::fs::write(&array, &bytes).unwrap();
    let error = converted(&array, &folder.path("out"), Destination::Bcolz).unwrap_err();
    assert!(error.is_corruption(), "{error}");
    // An array without dimensions has no rows.
    let scalar = folder.npy("b.npy", "|u1", &[], &[7]);
    converted(&scalar, &folder.path("b.b2nd"), B2ND).unwrap();
    let refused = converted(&folder.path("b.b2nd"), &folder.path("b"), Destination::Bcolz);
    assert!(matches!(refused, Err(Error::NoDimension)), "{refused:?}");
    // A table with a damaged column leaves no directory of arrays.
    let root = folder.path("table");
    let options = Options::default();
    let column =
        || CarraySpec { chunklen: Some(1000), ..CarraySpec::new(Dtype::parse("|u1").unwrap()) };
    let mut table =
        Ctable::create(&root, &[("a", column()), ("b", column())], Mode::Write, &options).unwrap();
    table.append(&[&runs(), &runs()]).unwrap();
    table.close().unwrap();
    ctable_to_b2nd(&root, &folder.path("frames"), &options).unwrap();
    assert!(is_table_of_frames(&folder.path("frames")));
    let chunk = root.join("b/data/__3.blp");
    let bytes = std::fs::read(&chunk).unwrap();
    std::fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap();
    let failed = ctable_to_b2nd(&root, &folder.path("half"), &options);
    assert!(failed.unwrap_err().is_corruption());
    assert!(!folder.path("half").exists());
}

#[test]
fn names_and_headers_that_are_almost_valid_are_unknown() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let mut schunk = of_bytes(Storage::file(&path));
    schunk.append(&runs()).unwrap();
    schunk.close().unwrap();
    let chunk = folder.path("a.b2");
    converted(&path, &chunk, Destination::Blosc2).unwrap();
    let bytes = std::fs::read(&chunk).unwrap();
    assert_eq!(detect(&chunk).unwrap().format, Format::Blosc2);
    for (at, byte) in [(0, 0), (0, 9), (1, 7), (2, bytes[2] | 7 << 5)] {
        let mut other = bytes.clone();
        other[at] = byte;
        let found = detect(&folder.write("b.b2", &other));
        assert!(matches!(found, Err(Error::Unknown)), "{at}: {found:?}");
    }
    // A zip file with a member that its directory does not list.
    let member = [&b"PK\x03\x04"[..], &[0; 22], &1_u16.to_le_bytes(), &[0; 2], b"x"].concat();
    let end = [&b"PK\x05\x06"[..], &[0; 12], &31_u32.to_le_bytes(), &[0; 2]].concat();
    let found = detect(&folder.write("a.zip", [member, end].concat()));
    assert!(matches!(found, Err(Error::Unknown)), "{found:?}");
    // A directory of frames has a frame with a name.
    folder.write("frames/.b2nd", b"");
    folder.write("frames/notes.txt", b"");
    assert!(!is_table_of_frames(&folder.path("frames")));
    folder.write("frames/a.b2nd", b"");
    assert!(is_table_of_frames(&folder.path("frames")));
}

#[test]
fn a_description_that_is_not_json_is_listed_as_lost() {
    let folder = Folder::new();
    for content in [&b"\xa3abc"[..], b"\xa1[", b"\xa2[]", b"\x05", b"\xc1"] {
        let path = folder.path("a.b2frame");
        frame(&path, false, &[("__bcolz__", content), ("good", b"\x05")]);
        let result = converted(&path, &folder.path("a.blp"), Destination::Bloscpack).unwrap();
        let is_value = content == b"\x05";
        let lost = result.lost.iter().any(|lost| lost.contains("__bcolz__"));
        assert_eq!(lost, !is_value, "{content:?}: {:?}", result.lost);
        let back = summarise(&folder.path("a.blp"), &detect(&folder.path("a.blp")).unwrap());
        let metadata = back.unwrap().metadata.unwrap().to_json();
        assert!(metadata.contains("\"good\""), "{metadata}");
        for name in ["a.b2frame", "a.blp"] {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

#[test]
fn rows_without_bytes_are_kept_by_bcolz() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "|u1", &[3, 0], &[]);
    match converted(&npy, &folder.path("a"), Destination::Bcolz) {
        Ok(_) => {
            let source = open(&folder.path("a"), &Reading::default()).unwrap();
            assert_eq!(source.content().array.as_ref().unwrap().shape, [3, 0]);
        }
        Err(error) => assert!(!error.is_corruption(), "{error}"),
    }
}

#[cfg(feature = "zarr")]
#[test]
fn missing_chunks_of_zarr_arrays_are_zeros_in_all_formats() {
    let folder = Folder::new();
    let data: Vec<u8> = (1..=24).collect();
    let npy = folder.npy("a.npy", "|u1", &[4, 6], &data);
    let writing = Writing { chunks: Some(vec![2, 3]), ..Writing::default() };
    let path = folder.path("a.zarr");
    converted_with(&npy, &path, ZARR, &writing).unwrap();
    assert!(matches!(keys(&path, &detect(&path).unwrap()), Err(Error::NoKeys)));
    // Without the first chunk, whose blocks are those of the array, and another one.
    std::fs::remove_file(path.join("c/0/0")).unwrap();
    std::fs::remove_file(path.join("c/1/1")).unwrap();
    let mut expected = data;
    for row in 0..2 {
        expected[6 * row..6 * row + 3].fill(0);
        expected[6 * row + 15..6 * row + 18].fill(0);
    }
    assert_eq!(items(&path), expected);
    let mut count = 0;
    each_chunk(&path, &detect(&path).unwrap(), &mut |_| {
        count += 1;
        true
    })
    .unwrap();
    assert_eq!(count, 2);
    assert!(verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap().is_intact());
    let array = folder.path("a.b2nd");
    converted(&path, &array, B2ND).unwrap();
    assert_eq!(items(&array), expected);
    converted(&array, &folder.path("b.zarr"), ZARR).unwrap();
    assert_eq!(items(&folder.path("b.zarr")), expected);
    converted(&path, &folder.path("a.bcolz"), Destination::Bcolz).unwrap();
    assert_eq!(items(&folder.path("a.bcolz")), expected);
}

#[cfg(feature = "zarr")]
#[test]
fn arrays_of_many_small_chunks_are_read_in_any_order() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..1100_u32).map(|number| (number % 251) as u8).collect();
    let npy = folder.npy("a.npy", "|u1", &[1100], &data);
    let path = folder.path("a.zarr");
    let writing = Writing { chunks: Some(vec![1]), ..Writing::default() };
    converted_with(&npy, &path, ZARR, &writing).unwrap();
    let mut source = open(&path, &Reading::default()).unwrap();
    let mut read = vec![0; 1100];
    for _ in 0..2 {
        source.read(0, &mut read).unwrap();
        assert!(read == data);
    }
    for start in (0..1090).rev().step_by(97) {
        source.read(start, &mut read[..10]).unwrap();
        assert_eq!(read[..10], data[start as usize..][..10]);
    }
}

/// The offsets would be written after the chunks, before which they are.
#[cfg(unix)]
#[test]
fn a_container_in_a_fifo_has_no_offsets() {
    let folder = Folder::new();
    let npy = folder.npy("a.npy", "<u2", &[50, 100], &runs());
    let root = folder.path("a");
    converted(&npy, &root, Destination::Bcolz).unwrap();
    let fifo = folder.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::read(fifo).unwrap()
    });
    let checksum = crate::blpk::Checksum::Adler32;
    carray_to_bloscpack(&root, &fifo, checksum, &Options::default()).unwrap();
    let path = folder.write("a.blp", reader.join().unwrap());
    let mut archive = crate::blpk::Archive::open(std::fs::read(&path).unwrap()).unwrap();
    assert!(!archive.header().offsets && archive.nchunks().unwrap() > 0);
    assert!(items(&path) == runs());
}

/// Arrays without items, without dimensions, and with chunks beyond the array.
#[test]
fn small_arrays_are_the_same_in_all_formats() {
    for shape in [&[][..], &[0], &[1], &[0, 3], &[3, 0], &[2, 3]] {
        let folder = Folder::new();
        let count = shape.iter().product::<u64>() as usize;
        let data: Vec<u8> = (1..=2 * count as u8).collect();
        let npy = folder.npy("a.npy", "<u2", shape, &data);
        let array = folder.path("a.b2nd");
        converted(&npy, &array, B2ND).unwrap();
        for (name, destination) in [
            ("a.blp", Destination::Bloscpack),
            #[cfg(feature = "zarr")]
            ("a.zarr", ZARR),
            #[cfg(feature = "hdf5")]
            ("a.h5", HDF5),
            #[cfg(feature = "hdf5")]
            ("plain.h5", PLAIN_HDF5),
        ] {
            for source in [&npy, &array] {
                let (path, back) = (folder.path(name), folder.path("back.b2nd"));
                converted(source, &path, destination).unwrap();
                converted(&path, &back, B2ND).unwrap();
                let opened = open(&back, &Reading::default()).unwrap();
                let info = opened.content().array.clone().unwrap();
                assert_eq!((info.dtype.text(), &info.shape[..]), ("<u2", shape), "{name}");
                assert_eq!(items(&back), data, "{name} {shape:?}");
                drop(opened);
                std::fs::remove_file(&back).unwrap();
                if path.is_dir() {
                    std::fs::remove_dir_all(&path).unwrap();
                } else {
                    std::fs::remove_file(&path).unwrap();
                }
            }
        }
    }
}
