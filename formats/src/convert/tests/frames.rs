//! Conversions, verification and repair of frames and their chunks.

use super::*;

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
        let targets = [
            ("a.bcolz", Destination::Bcolz),
            #[cfg(feature = "zarr")]
            ("a.zarr", ZARR),
            #[cfg(feature = "hdf5")]
            ("a.h5", HDF5),
            #[cfg(feature = "hdf5")]
            ("b.h5", Destination::Hdf5 { filter: Some(Hdf5Filter::Blosc) }),
        ];
        for (name, destination) in targets {
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

/// The checksum of a chunk shows that its entry in the index was changed to that of zeros.
#[test]
fn a_chunk_with_a_checksum_is_not_copied_as_one_of_a_run_of_zeros() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let params = CParams::default().typesize(4);
    let storage = Storage::file(&path).checksums();
    let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
    schunk.fill(100 * 9, ferroblosc::chunk::Special::Zero, 400).unwrap();
    schunk.close().unwrap();
    // The checksums of the chunks follow the numbers of chunks, metalayers and others.
    let mut bytes = std::fs::read(&path).unwrap();
    let table = [[9_u64, 0, 0].map(u64::to_le_bytes).concat(), vec![0; 9 * 8]].concat();
    let at = bytes.windows(table.len()).position(|window| window == table).unwrap();
    bytes[at + 3 * 8 + 4 * 8] = 7;
    std::fs::write(&path, bytes).unwrap();
    let verified = verify(&path, &detect(&path).unwrap(), &Reading::default()).unwrap();
    let bad: Vec<Option<u64>> = verified.faults.iter().map(|fault| fault.chunk).collect();
    assert!(bad.contains(&Some(4)), "{bad:?}");
    let refused = error_of(converted(&path, &folder.path("b.b2frame"), FRAME));
    assert!(refused.contains("chunk 4"), "{refused}");
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

/// Repairs a frame. Returns the descriptions of the repaired and the lost parts.
fn repaired(path: &Path, output: &Path) -> Result<(String, String)> {
    let repaired = repair(path, &detect(path).unwrap(), output)?;
    Ok((repaired.repaired.join("; "), repaired.lost.join("; ")))
}

#[test]
fn damaged_parts_of_frames_are_dropped_and_named() {
    let folder = Folder::new();
    let path = folder.path("a.b2frame");
    let mut schunk = of_bytes(Storage::file(&path).checksums());
    let bytes = runs();
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
    let mut schunk = of_bytes(Storage::file(&path));
    let bytes = runs();
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
fn intact_chunks_of_other_sizes_than_those_of_the_array_are_damage() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let data: Vec<u8> = (0..400_u32).map(|number| (number * number / 5) as u8).collect();
    let meta = ferroblosc::b2nd::meta::serialize(&[300], &[100], &[25], Some(b"<i4"), 0).unwrap();
    let chunk_of = |params: CParams| {
        let mut compressor = ferroblosc::chunk::Compressor::new(params).unwrap();
        compressor.compress_to_vec(&data).unwrap()
    };
    let params = CParams::default().typesize(4).blocksize(100);
    let mut zeros = [0; 32];
    ferroblosc::chunk::special::zeros(&params.clone().blocksize(400), 400, &mut zeros).unwrap();
    let others = [
        (chunk_of(params.clone()), None),
        // The blocks of chunks of one value have no meaning.
        (zeros.to_vec(), None),
        (chunk_of(params.clone().blocksize(200)), Some("blocks of the chunk have 200 bytes")),
        (chunk_of(params.clone().typesize(2)), Some("items of the chunk have 2 bytes, not 4")),
        (
            chunk_of(params.clone().level(0).blocksize(50)),
            Some("blocks of the chunk have 48 bytes"),
        ),
    ];
    for (other, expected) in others {
        for checksums in [false, true] {
            let storage = Storage::file(&path);
            let storage = if checksums { storage.checksums() } else { storage };
            let mut schunk = SChunk::create(storage, params.clone(), DParams::default()).unwrap();
            schunk.set_chunksize(400).unwrap();
            schunk.add_metalayer("b2nd", &meta).unwrap();
            let good = chunk_of(params.clone());
            for chunk in [&good, &other, &good] {
                schunk.append_chunk(chunk).unwrap();
            }
            schunk.close().unwrap();
            let found = detect(&path).unwrap();
            assert_eq!(found.format, Format::B2nd);
            let verified = verify(&path, &found, &Reading::default()).unwrap();
            let faults = verified.faults.iter().map(|fault| (fault.chunk, fault.message.as_str()));
            let faults: Vec<(Option<u64>, &str)> = faults.collect();
            match expected {
                None => assert_eq!(faults, []),
                Some(text) => {
                    assert_eq!(verified.is_damaged(), !text.contains("items"), "{text}");
                    let [(Some(1), message)] = faults[..] else {
                        panic!("{faults:?}");
                    };
                    assert!(message.contains(text), "{message}");
                }
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn fill_values_that_are_not_of_the_dtype_are_listed() {
    let folder = Folder::new();
    let targets = [
        ("a.bcolz", Destination::Bcolz),
        #[cfg(feature = "zarr")]
        ("a.zarr", ZARR),
        #[cfg(feature = "hdf5")]
        ("a.h5", HDF5),
    ];
    // An array of bytes whose fill value is 7 or 300.
    for (fill, is_lost) in [(&b"\xaa{\"dflt\":7}"[..], false), (b"\xac{\"dflt\":300}", true)] {
        let path = folder.path("a.b2nd");
        let layout = ferroblosc::b2nd::Layout { shape: &[10], chunkshape: &[5], blockshape: &[5] };
        let params = CParams::default().typesize(1);
        let mut array =
            ferroblosc::b2nd::Array::zeros(Storage::file(&path), params, &layout, "|u1").unwrap();
        array.set_slice(&[0], &[3], &[1, 2, 3]).unwrap();
        array.add_vlmetalayer("__bcolz__", fill).unwrap();
        array.close().unwrap();
        for (name, destination) in targets {
            // Chunks are copied if the parameters are those of the source.
            for compression in [None, Some(Compression::default())] {
                let copy = folder.path(name);
                let writing = Writing { compression, ..Writing::default() };
                let lost = converted_with(&path, &copy, destination, &writing).unwrap().lost;
                let expected = "the fill value 300, which is not one of the dtype |u1".to_owned();
                let expected = if is_lost { vec![expected] } else { Vec::new() };
                assert_eq!(lost, expected, "{name}");
                assert_eq!(items(&copy), [1, 2, 3, 0, 0, 0, 0, 0, 0, 0], "{name}");
                if copy.is_dir() {
                    std::fs::remove_dir_all(&copy)
                } else {
                    std::fs::remove_file(&copy)
                }
                .unwrap();
            }
        }
        // Frames have fill values of any type.
        let copy = folder.path("copy.b2nd");
        assert_eq!(converted(&path, &copy, B2ND).unwrap().lost, [""; 0]);
        std::fs::remove_file(copy).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn fill_values_of_columns_that_are_not_of_the_dtype_are_listed() {
    let folder = Folder::new();
    let path = folder.path("a.bcolz");
    let dtype = Dtype::parse("[('a', '<i4'), ('b', 'S2')]").unwrap();
    for (fill, lost) in [("[7, \"x\"]", ""), ("[7, 8]", "[7,8]"), ("9", "9")] {
        let npy = folder.npy("a.npy", dtype.text(), &[2], &[1; 12]);
        let mut attachments = attachments::Attachments::default();
        attachments.dflt = Some(Value::parse(fill.as_bytes()).unwrap());
        let found = attachments.lost_fill_values(Destination::Bcolz, &dtype);
        let expected = format!("the fill value {lost}, which is not one of the dtype ");
        match lost {
            "" => assert_eq!(found, [""; 0]),
            _ => assert!(found.len() == 1 && found[0].starts_with(&expected), "{found:?}"),
        }
        let mut source = open(&npy, &Reading::default()).unwrap();
        let params = (&Writing::default(), &attachments);
        sink::write(source.as_mut(), &path, Destination::Bcolz, params, &mut |_| {}).unwrap();
        let table = Ctable::open(&path, Mode::Read, &Options::default()).unwrap();
        let Object::Carray(column) = table.column("a").unwrap() else {
            panic!("a column is a table");
        };
        assert_eq!(column.dflt(), &Value::from(if fill == "9" { 0 } else { 7 }));
        drop(table);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn runs_of_chunks_without_bytes_are_copied_with_their_order() {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let (chunk, count) = (100_i64, 20_000_i64);
    let layout = ferroblosc::b2nd::Layout {
        shape: &[count * chunk - 7],
        chunkshape: &[chunk as i32],
        blockshape: &[50],
    };
    for checksums in [false, true] {
        let storage = Storage::file(&path);
        let storage = if checksums { storage.checksums() } else { storage };
        let params = CParams::default().typesize(1);
        let mut array = ferroblosc::b2nd::Array::zeros(storage, params, &layout, "|u1").unwrap();
        for number in [0, 1, 3, 9000, 19_998, 19_999] {
            array.set_slice(&[number * chunk + 1], &[number * chunk + 4], &[1, 2, 3]).unwrap();
        }
        array.close().unwrap();
        let expected = items(&path);
        for has_sums in [false, true] {
            let copy = folder.path("copy.b2nd");
            let writing = Writing { checksums: has_sums, ..Writing::default() };
            let made = converted_with(&path, &copy, B2ND, &writing).unwrap();
            assert!(made.is_direct && items(&copy) == expected);
            let verified = verify(&copy, &detect(&copy).unwrap(), &Reading::default()).unwrap();
            assert!(verified.is_intact());
            assert_eq!(verified.compared, if has_sums { 6 } else { 0 });
            std::fs::remove_file(copy).unwrap();
        }
        std::fs::remove_file(&path).unwrap();
    }
}

/// Frames of more than 4096 chunks are written as one change.
#[test]
fn frames_of_many_chunks_are_converted() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..5000_u32 * 7).flat_map(|number| (number / 3).to_le_bytes()).collect();
    folder.npy("a.npy", "<i4", &[7, 5000], &bytes);
    let small = Writing { chunk_bytes: Some(28), ..Writing::default() };
    let frame = folder.path("a.b2frame");
    for nbytes in [None, Some(bytes.len() as u64)] {
        let _ = std::fs::remove_file(&frame);
        assert!(compress((&mut &bytes[..], nbytes), 4, (&frame, false), &small).is_ok());
        assert!(items(&frame) == bytes);
    }
    let checksums = Writing { checksums: true, ..Writing::default() };
    // Chunks that are contiguous in the source, chunks that are not, and copied ones.
    let rows = Writing { chunks: Some(vec![1, 7]), ..checksums.clone() };
    let columns = Writing { chunks: Some(vec![7, 1]), ..checksums.clone() };
    for (from, to, destination, writing, nchunks) in [
        ("a.npy", "a.b2nd", B2ND, &rows, 5005),
        ("a.npy", "b.b2nd", B2ND, &columns, 5000),
        ("a.b2frame", "b.b2frame", FRAME, &checksums, 5000),
        ("b.b2nd", "c.b2nd", B2ND, &checksums, 5000),
        ("a.b2frame", "d", Destination::Frame { directory: true }, &Writing::default(), 5000),
    ] {
        let output = folder.path(to);
        converted_with(&folder.path(from), &output, destination, writing).unwrap();
        let verified = verify(&output, &detect(&output).unwrap(), &Reading::default()).unwrap();
        assert!(verified.is_intact(), "{to}: {:?}", verified.faults);
        assert_eq!(verified.chunks, Some(nchunks), "{to}");
        assert_eq!(verified.has_checksums, writing.checksums, "{to}");
        assert!(items(&output) == bytes, "{to}");
    }
    // Nothing is left beside the outputs.
    assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 7);
}

/// A file of a few bytes can list any number of chunks that cannot be read.
#[test]
fn equal_chunks_that_cannot_be_read_are_one_fault() {
    let folder = Folder::new();
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.fill(100 * 5000, ferroblosc::chunk::Special::Nan, 400).unwrap();
    let mut bytes = schunk.to_bytes().unwrap();
    // The item size in the header: items of 2 bytes cannot be NaN.
    bytes[48..52].copy_from_slice(&2_i32.to_be_bytes());
    let path = folder.write("a.b2frame", bytes);
    let found = detect(&path).unwrap();
    let verified = verify(&path, &found, &Reading::default()).unwrap();
    let faults: Vec<String> = verified.faults.iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 2);
    assert!(faults[0].starts_with("chunks 0 to 4998: "), "{faults:?}");
    assert!(faults[1].starts_with("chunk 4999: "), "{faults:?}");
    let output = folder.path("b.b2frame");
    let repaired = repair(&path, &found, &output).unwrap();
    assert_eq!(
        repaired.lost,
        [
            "chunks 0 to 4998: their 400 bytes each are zeros now",
            "chunk 4999: its 400 bytes are zeros now"
        ]
    );
    assert!(items(&output) == [0; 400 * 5000]);
}
