//! Tests of the filters through the plugin's class, with buffers allocated by `malloc`.

mod common;

use common::{Plugin, peak_growth, random_bytes};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::codec::id::{LZ4, ZSTD};
use ferroblosc::filter::{Slot, id};
use ferroblosc::schunk::{SChunk, Storage};
use std::ffi::CStr;

/// The range of the type size in a frame: after the marker of a 32-bit number, big-endian.
const FRAME_TYPESIZE: std::ops::Range<usize> = 48..52;

/// Returns values of filter 32001 for chunks of `chunksize` bytes.
fn values1(typesize: u32, chunksize: usize, [level, shuffle, codec]: [u32; 3]) -> [u32; 7] {
    [2, 2, typesize, chunksize as u32, level, shuffle, codec]
}

/// Returns values of filter 32026 for chunks of a shape.
fn values2(typesize: u32, shape: &[u32], [level, filter, codec]: [u32; 3]) -> Vec<u32> {
    let chunksize = shape.iter().product::<u32>() * typesize;
    let mut values = vec![1, 0, typesize, chunksize, level, filter, codec];
    if shape.len() > 1 {
        values.push(shape.len() as u32);
        values.extend(shape);
    }
    values
}

/// Returns increasing 32-bit numbers.
fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// Formats bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_classes_have_the_registered_numbers_and_names() {
    for (plugin, id, name) in
        [(Plugin::blosc(), 32001, c"blosc"), (Plugin::blosc2(), 32026, c"blosc2")]
    {
        let class = plugin.class();
        assert_eq!((class.version, class.id), (1, id));
        assert_eq!((class.encoder_present, class.decoder_present), (1, 1));
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { CStr::from_ptr(class.name) }, name);
        assert!(class.can_apply.is_none() && class.set_local.is_some());
    }
}

#[test]
fn chunks_of_32001_are_blosc_1_chunks() {
    let data = numbers(64 * 64);
    for (choice, start) in
        [([5, 1, 0], "02010104"), ([5, 2, 1], "02012404"), ([5, 0, 5], "02019004")]
    {
        let stored = Plugin::blosc().compress(&values1(4, data.len(), choice), &data);
        let stored = stored.expect("numbers in order can be compressed");
        assert_eq!(hex(&stored[..8]), format!("{start}00400000"));
        let mut back = vec![0; data.len()];
        let mut engine = ferroblosc::blosc1::Engine::default();
        assert_eq!(engine.decompress(&stored, 1, &mut back), Ok(data.len()));
        assert_eq!(back, data);
    }
}

#[test]
fn all_codecs_and_shuffles_of_32001_round_trip() {
    let data = numbers(3000);
    for codec in 0..6 {
        for shuffle in 0..3 {
            for typesize in [1, 4, 7, 255] {
                let values = values1(typesize, data.len(), [5, shuffle, codec]);
                let Some(stored) = Plugin::blosc().compress(&values, &data) else {
                    // Without shuffle, increasing numbers are hardly compressible.
                    assert!(shuffle == 0 || typesize != 4, "{values:?}");
                    continue;
                };
                assert!(stored.len() <= data.len());
                let back = Plugin::blosc().decompress(&values, &stored);
                assert_eq!(back.as_ref(), Some(&data), "{values:?}");
                // Decompression needs no values.
                assert_eq!(Plugin::blosc().decompress(&[], &stored), back);
            }
        }
    }
}

#[test]
fn filter_32001_returns_no_chunk_for_incompressible_data() {
    let data = random_bytes(10_000);
    for choice in [[5, 1, 0], [9, 2, 5], [0, 1, 0]] {
        let values = values1(4, data.len(), choice);
        assert_eq!(Plugin::blosc().compress(&values, &data), None);
    }
    assert_eq!(Plugin::blosc().compress(&values1(1, 0, [5, 1, 0]), &[]), None);
}

#[test]
fn row_h3_a_chunk_must_have_the_length_in_its_header() {
    let data = numbers(1000);
    let values = values1(4, data.len(), [5, 1, 1]);
    let stored = Plugin::blosc().compress(&values, &data).unwrap();
    for len in 1..stored.len() {
        assert_eq!(Plugin::blosc().decompress(&values, &stored[..len]), None);
    }
    // Trailing bytes are ignored.
    let longer = [&stored[..], &[0xff; 9]].concat();
    assert_eq!(Plugin::blosc().decompress(&values, &longer), Some(data));
}

#[test]
fn the_header_of_a_chunk_overrides_the_size_in_the_parameters() {
    let data = vec![7; 200_000];
    for plugin in [Plugin::blosc(), Plugin::blosc2()] {
        let stored = plugin.compress(&[2, 0, 4, 200_000, 5, 1, 1], &data);
        let stored = stored.unwrap();
        // Values of PyTables for ragged arrays, values of another dataset, and no values.
        for values in [
            &[5, 14, 3, 32558, 5, 1, 1][..],
            &[0, 0, 0, 0, 5, 1, 1],
            &[2, 0, 4, 100_000, 5, 1, 1],
            &[2, 0, u32::MAX, u32::MAX, 99, 99, 99],
            &[2, 0, 4],
            &[],
        ] {
            let back = plugin.decompress(values, &stored);
            assert_eq!(back.as_ref(), Some(&data), "{values:?}");
        }
    }
}

#[test]
fn a_header_with_more_data_than_the_stored_bytes_can_hold_is_rejected() {
    const LARGEST: u32 = i32::MAX as u32;
    let data = [random_bytes(1000), vec![0; 3000]].concat();
    for codec in 0..6 {
        let values = values1(1, data.len(), [5, 0, codec]);
        let mut stored = Plugin::blosc().compress(&values, &data).unwrap();
        // The sizes of the data and of a block.
        stored[4..8].copy_from_slice(&LARGEST.to_le_bytes());
        stored[8..12].copy_from_slice(&(LARGEST / 4).to_le_bytes());
        for values in [values, values1(1, u32::MAX as usize, [5, 0, codec])] {
            let (back, peak) = peak_growth(|| Plugin::blosc().decompress(&values, &stored));
            assert_eq!(back, None);
            assert!(peak < 16 << 20, "codec {codec} needed {peak} bytes");
        }
    }
    // A frame of zeros stores no bytes for them.
    let zeros = |count: usize| {
        let cparams = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::frame(), cparams, DParams::default()).unwrap();
        schunk.fill(count as i64, Special::Zero, 1 << 20).unwrap();
        schunk.to_bytes().unwrap()
    };
    let of = |chunksize: u32, stored: &[u8]| {
        Plugin::blosc2().decompress(&[1, 0, 1, chunksize, 5, 1, 0], stored)
    };
    let small = zeros(3 << 20);
    assert_eq!(of(0, &small), Some(vec![0; 3 << 20]));
    let large = zeros(300 << 20);
    assert_eq!(of(0, &large), None);
    assert_eq!(of(1 << 20, &large), None);
    assert_eq!(of(300 << 20, &large).map(|back| back.len()), Some(300 << 20));
    assert_eq!(of(u32::MAX, &zeros(5 << 30)), None);
}

#[test]
fn a_mandatory_filter_stores_incompressible_chunks() {
    let numbers = numbers(1000);
    let random_bytes = random_bytes(4000);
    for (data, values) in [
        (&random_bytes, &[2, 2, 4, 4000, 5, 1, 1][..]),
        (&random_bytes, &[2, 2, 1, 4000, 9, 2, 5]),
        (&numbers, &[2, 2, 4, 4000, 0, 1, 1]),
        (&numbers, &[2, 2, 4, 4000, 77, 1, 1]),
        (&numbers, &[2, 2, 4, 4000, 5, 9, 1]),
        (&numbers, &[2, 2, 4, 4000, 5, 1, 99]),
        (&numbers, &[2, 2, u32::MAX, 0, 5, 1, 4]),
        (&numbers, &[]),
    ] {
        for plugin in [Plugin::blosc(), Plugin::blosc2()] {
            let stored = plugin.compress_mandatory(values, data);
            let stored = stored.unwrap_or_else(|| panic!("{values:?}"));
            assert_eq!(plugin.decompress(values, &stored).as_ref(), Some(data));
        }
    }
    // A stored chunk of filter 32001 is a Blosc 1 chunk: a header with the memcpy flag, then the
    // data.
    let stored = Plugin::blosc().compress_mandatory(&[2, 2, 4, 4000, 0, 1, 1], &random_bytes);
    let stored = stored.unwrap();
    assert_eq!(stored.len(), 16 + random_bytes.len());
    assert_eq!((stored[0], stored[2] & 2), (2, 2));
    assert_eq!(stored[16..], random_bytes);
    // Sizes around one byte and the sizes of headers.
    for len in [1, 15, 16, 17, 127, 128] {
        for plugin in [Plugin::blosc(), Plugin::blosc2()] {
            let stored = plugin.compress_mandatory(&[2, 2, 4, 4000, 5, 1, 1], &random_bytes[..len]);
            let back = plugin.decompress(&[], &stored.unwrap());
            assert_eq!(back.as_deref(), Some(&random_bytes[..len]));
        }
    }
    for plugin in [Plugin::blosc(), Plugin::blosc2()] {
        assert_eq!(plugin.compress_mandatory(&[2, 2, 4, 4000, 5, 1, 1], &[]), None);
    }
}

#[test]
fn frame_sizes_of_32026_match_the_existing_plugin() {
    let size = |values: &[u32], data: &[u8]| {
        let stored = Plugin::blosc2().compress(values, data).unwrap();
        assert_eq!(hex(&stored[..11]), "9ea862326672616d6500d2");
        assert_eq!(Plugin::blosc2().decompress(values, &stored).unwrap(), data);
        stored.len()
    };
    let zeros = |count: usize| vec![0; count];
    assert_eq!(size(&values2(4, &[64, 64], [5, 1, 5]), &zeros(16384)), 240);
    assert_eq!(size(&values2(8, &[8, 8, 8], [5, 1, 0]), &zeros(4096)), 259);
    assert_eq!(size(&values2(4, &[1000], [5, 1, 5]), &zeros(4000)), 172);
    assert_eq!(size(&values2(1, &[100, 100], [5, 1, 5]), &random_bytes(10_000)), 10_272);
    assert_eq!(size(&values2(1, &[64, 64], [0, 1, 0]), &random_bytes(4096)), 4368);
}

#[test]
fn multidimensional_chunks_are_arrays() {
    let data = numbers(64 * 64);
    let values = values2(4, &[64, 64], [5, 2, 1]);
    let stored = Plugin::blosc2().compress(&values, &data).unwrap();
    let array = Array::from_schunk(SChunk::from_bytes(&stored, DParams::default()).unwrap());
    let array = array.unwrap();
    assert_eq!(array.dtype(), Some("|V4"));
    let geometry = array.geometry();
    assert_eq!(geometry.shape(), [64, 64]);
    assert_eq!(geometry.chunkshape(), [64, 64]);
    assert_eq!(geometry.blockshape(), [64, 64]);
    assert_eq!(array.items().unwrap(), data);
    // Data of another size, such as those from a checksum filter, are not stored as an array.
    let longer = [&data[..], &[1, 2, 3, 4]].concat();
    let stored = Plugin::blosc2().compress(&values, &longer).unwrap();
    let schunk = SChunk::from_bytes(&stored, DParams::default()).unwrap();
    assert_eq!((schunk.nchunks(), schunk.metalayer("b2nd")), (1, None));
    assert_eq!(Plugin::blosc2().decompress(&values, &stored), Some(longer));
}

#[test]
fn all_codecs_filters_and_ranks_of_32026_round_trip() {
    for shape in [&[1200][..], &[40, 30], &[10, 12, 10], &[5, 6, 8, 5], &[3, 5, 4, 4, 5]] {
        for typesize in [1, 2, 3, 4, 8, 17, 255, 256, 300] {
            let items = shape.iter().product::<u32>();
            let data: Vec<u8> = (0..items * typesize).map(|i| (i / 7) as u8).collect();
            for codec in [0, 1, 2, 4, 5] {
                for filter in 0..4 {
                    let values = values2(typesize, shape, [5, filter, codec]);
                    let stored = Plugin::blosc2().compress(&values, &data);
                    let stored = stored.unwrap_or_else(|| panic!("{values:?}"));
                    let back = Plugin::blosc2().decompress(&values, &stored);
                    assert_eq!(back.as_ref(), Some(&data), "{values:?}");
                }
            }
        }
    }
}

#[test]
fn invalid_values_of_32026_are_rejected() {
    let data = numbers(1000);
    for choice in [[10, 1, 0], [5, 4, 0], [5, 9, 0], [5, 1, 3], [5, 1, 6], [5, 1, 32]] {
        let values = values2(4, &[1000], choice);
        assert_eq!(Plugin::blosc2().compress(&values, &data), None, "{choice:?}");
    }
    // Invalid type sizes are treated as one byte.
    for typesize in [0, u32::MAX] {
        let values = [1, 0, typesize, 4000, 5, 1, 0];
        let stored = Plugin::blosc2().compress(&values, &data).unwrap();
        let back = Plugin::blosc2().decompress(&values, &stored);
        assert_eq!(back.as_ref(), Some(&data));
    }
    for values in [&[1, 0, 4, 4000][..], &[1, 0, 4], &[]] {
        let stored = Plugin::blosc2().compress(values, &data).unwrap();
        assert_eq!(Plugin::blosc2().decompress(values, &stored).as_ref(), Some(&data));
    }
}

#[test]
fn row_h4_all_chunks_of_a_frame_are_decoded() {
    let mut schunk =
        SChunk::create(Storage::frame(), CParams::default().typesize(4), DParams::default())
            .unwrap();
    let data = numbers(2500);
    for part in data.chunks(4000) {
        schunk.append(part).unwrap();
    }
    assert_eq!(schunk.nchunks(), 3);
    let values = values2(4, &[2500], [5, 1, 0]);
    let stored = schunk.to_bytes().unwrap();
    assert_eq!(Plugin::blosc2().decompress(&values, &stored), Some(data));
}

#[test]
fn row_h5_an_array_overrides_inconsistent_parameters() {
    let data = numbers(64 * 64);
    let values = values2(4, &[64, 64], [5, 1, 5]);
    let stored = Plugin::blosc2().compress(&values, &data).unwrap();
    let read = |values: &[u32]| Plugin::blosc2().decompress(values, &stored);
    for chunksize in [0, 4, 16380, 16383, 16384, u32::MAX] {
        let mut stale = values.clone();
        stale[3] = chunksize;
        assert_eq!(read(&stale).as_ref(), Some(&data));
        assert_eq!(read(&stale[..7]).as_ref(), Some(&data));
    }
    // Parameters that are consistent but do not match the array belong to another dataset.
    assert_eq!(read(&values2(4, &[64, 32], [5, 1, 5])), None);
}

#[test]
fn row_h6_type_sizes_above_255_are_recorded_and_inferred_if_missing() {
    for typesize in [256u32, 300, 1000] {
        let data: Vec<u8> = (0..100 * typesize).map(|i| (i / 3) as u8).collect();
        let values = values2(typesize, &[10, 10], [5, 1, 5]);
        let mut stored = Plugin::blosc2().compress(&values, &data).unwrap();
        assert_eq!(stored[FRAME_TYPESIZE], typesize.to_be_bytes());
        assert_eq!(Plugin::blosc2().decompress(&values, &stored).as_ref(), Some(&data));
        // The existing plugin writes a type size of 1.
        stored[FRAME_TYPESIZE].copy_from_slice(&1u32.to_be_bytes());
        assert_eq!(Plugin::blosc2().decompress(&values, &stored).as_ref(), Some(&data));
        let values = values2(typesize, &[100], [5, 1, 5]);
        let mut stored = Plugin::blosc2().compress(&values, &data).unwrap();
        stored[FRAME_TYPESIZE].copy_from_slice(&1u32.to_be_bytes());
        assert_eq!(Plugin::blosc2().decompress(&values, &stored), Some(data));
    }
}

#[test]
fn row_h7_the_buffer_size_is_returned_and_never_shrinks() {
    // Each call of the helper checks this: for larger and smaller results, and for failures.
    let data = random_bytes(5000);
    let values = values2(1, &[5000], [5, 1, 0]);
    let stored = Plugin::blosc2().compress(&values, &data).unwrap();
    assert!(stored.len() > data.len());
    assert_eq!(Plugin::blosc2().decompress(&values, &stored), Some(data));
    assert_eq!(Plugin::blosc2().decompress(&values, &stored[1..]), None);
    let values = values1(1, 5000, [5, 1, 0]);
    let stored = Plugin::blosc().compress(&values, &[7; 5000]).unwrap();
    assert_eq!(Plugin::blosc().decompress(&values, &stored), Some(vec![7; 5000]));
}

#[test]
fn frames_with_any_partition_are_read() {
    let data = numbers(32 * 32);
    let values = values2(4, &[32, 32], [5, 1, 0]);
    let pipelines = [
        vec![Slot { id: id::SHUFFLE, meta: 0 }],
        vec![Slot { id: id::DELTA, meta: 0 }, Slot { id: id::BITSHUFFLE, meta: 0 }],
        vec![Slot { id: id::BYTEDELTA, meta: 4 }],
    ];
    for (chunkshape, blockshape) in [([32, 32], [5, 7]), ([16, 16], [16, 16]), ([20, 13], [6, 5])] {
        for pipeline in &pipelines {
            for codec in [LZ4, ZSTD] {
                let cparams = CParams::default().codec(codec).typesize(4).filters(pipeline);
                let layout =
                    Layout { shape: &[32, 32], chunkshape: &chunkshape, blockshape: &blockshape };
                let storage = Storage::frame();
                let mut array =
                    Array::from_item_bytes(storage, cparams, &layout, "<i4", &data).unwrap();
                let stored = array.to_bytes().unwrap();
                let back = Plugin::blosc2().decompress(&values, &stored);
                assert_eq!(back.as_ref(), Some(&data), "{chunkshape:?} {blockshape:?}");
            }
        }
    }
}

#[test]
fn arrays_of_another_shape_or_type_size_are_rejected() {
    let frame = |shape: &[i64], typesize: i32| {
        let chunkshape: Vec<i32> = shape.iter().map(|&extent| extent as i32).collect();
        let layout = Layout { shape, chunkshape: &chunkshape, blockshape: &chunkshape };
        let cparams = CParams::default().typesize(typesize);
        let items = vec![1; shape.iter().product::<i64>() as usize * typesize as usize];
        let array = Array::from_item_bytes(Storage::frame(), cparams, &layout, "|V1", &items);
        array.unwrap().to_bytes().unwrap()
    };
    let values = values2(4, &[32, 32], [5, 1, 0]);
    let decompress = |frame: &[u8]| Plugin::blosc2().decompress(&values, frame);
    assert!(decompress(&frame(&[32, 32], 4)).is_some());
    assert_eq!(decompress(&frame(&[1024], 4)), None);
    assert_eq!(decompress(&frame(&[16, 64], 4)), None);
    assert_eq!(decompress(&frame(&[32, 32, 1], 4)), None);
    assert_eq!(decompress(&frame(&[32, 32], 2)), None);
}

#[test]
fn invalid_frames_are_rejected() {
    let data = numbers(1000);
    for shape in [&[1000][..], &[10, 100]] {
        let values = values2(4, shape, [5, 1, 0]);
        let refused = |stored: &[u8]| {
            assert_eq!(Plugin::blosc2().decompress(&values, stored), None);
        };
        let stored = Plugin::blosc2().compress(&values, &data).unwrap();
        for len in 0..stored.len() {
            refused(&stored[..len]);
        }
        refused(&[&stored[..], &[0]].concat());
        let params = CParams::default().typesize(4);
        refused(&Compressor::new(params.clone()).unwrap().compress_to_vec(&data).unwrap());
        refused(&Plugin::blosc().compress(&values1(4, 4000, [5, 1, 0]), &data).unwrap());
        let mut empty = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        refused(&empty.to_bytes().unwrap());
    }
}

#[test]
fn damaged_chunks_are_rejected_or_decode_within_the_size_limit() {
    let data = numbers(500);
    let of_1 = (Plugin::blosc(), values1(4, data.len(), [5, 1, 1]).to_vec());
    let of_2 = (Plugin::blosc2(), values2(4, &[500], [5, 1, 5]));
    let of_array = (Plugin::blosc2(), values2(4, &[20, 25], [5, 2, 1]));
    for (plugin, values) in [of_1, of_2, of_array] {
        let stored = plugin.compress(&values, &data).unwrap();
        for at in 0..stored.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut damaged = stored.clone();
                damaged[at] ^= change;
                let limit = data.len() + data.len() / 4 + 64 * 1024;
                let back = plugin.decompress(&values, &damaged);
                assert!(back.is_none_or(|back| back.len() <= limit));
            }
        }
    }
}

#[test]
fn arbitrary_values_are_handled() {
    let data = numbers(100);
    let stored = Plugin::blosc2().compress(&values2(4, &[10, 10], [5, 1, 0]), &data).unwrap();
    for plugin in [Plugin::blosc(), Plugin::blosc2()] {
        for number in [0, 1, 4, 9, 255, 256, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            for len in 0..40 {
                let values = vec![number; len];
                if let Some(stored) = plugin.compress(&values, &data) {
                    let back = plugin.decompress(&values, &stored);
                    assert!(back.is_none_or(|back| back == data));
                }
                let _ = plugin.decompress(&values, &stored);
            }
        }
    }
}
