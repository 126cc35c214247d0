//! Random access: for various codecs, pipelines, split modes and block sizes, items must equal those
//! of the decompressed chunk.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, HeaderForm, SplitMode};
use ferroblosc::codec::id;
use ferroblosc::filter::{self, Slot};

/// Returns constant, random and regular planes.
fn mixed(items: u32) -> Vec<u8> {
    let mut noise = 1u32;
    (0..items)
        .flat_map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            [7, (noise >> 24) as u8, (i >> 4) as u8, 0]
        })
        .collect()
}

fn pipelines() -> Vec<Vec<Slot>> {
    let slot = |id, meta| Slot { id, meta };
    vec![
        vec![],
        vec![slot(filter::id::SHUFFLE, 0)],
        vec![slot(filter::id::SHUFFLE, 2)],
        vec![slot(filter::id::BITSHUFFLE, 0)],
        vec![slot(filter::id::DELTA, 0)],
        vec![slot(filter::id::DELTA, 0), slot(filter::id::SHUFFLE, 0)],
        vec![slot(filter::id::SHUFFLE, 0), slot(filter::id::BYTEDELTA, 4)],
    ]
}

/// Blosc 1.x does not bitshuffle blocks whose item count is not a multiple of 8.
#[test]
fn bitshuffled_items_equal_those_of_the_decompressed_chunk_in_each_version() {
    let data = mixed(3001);
    let noise: Vec<u8> = mixed(12_004).chunks(4).map(|item| item[1]).collect();
    let steps: Vec<u8> = (0..3001u32).flat_map(|i| (i / 50).to_le_bytes()).collect();
    let filters = [Slot { id: filter::id::BITSHUFFLE, meta: 0 }];
    let mut reader = Decompressor::new(DParams::default());
    for data in [&data, &noise, &steps] {
        for form in [HeaderForm::Blosc1, HeaderForm::Short, HeaderForm::Extended] {
            for blocksize in [512, 1000, 3004, 12_004] {
                let mut params = CParams::default()
                    .codec(id::LZ4)
                    .typesize(4)
                    .blocksize(blocksize)
                    .filters(&filters);
                params.header = form;
                let mut compressor = Compressor::new(params).unwrap();
                let chunk = compressor.compress_to_vec(data).unwrap();
                for start in 0..data.len() / 4 {
                    for count in [1, 9, 130] {
                        let Some(whole) = data[4 * start..].get(..4 * count) else {
                            continue;
                        };
                        let mut part = vec![0xEE; whole.len()];
                        let read = reader.getitem(&chunk, start as i32, count as i32, &mut part);
                        assert_eq!(read, Ok(part.len()));
                        assert!(part == whole, "{form:?} {blocksize}: items {start}+{count}");
                    }
                }
            }
        }
    }
}

#[test]
fn items_equal_those_of_the_decompressed_chunk() {
    let data = mixed(5003);
    let mut reader = Decompressor::new(DParams::default());
    for codec in [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::ZLIB, id::ZSTD] {
        for filters in pipelines() {
            for splitmode in [SplitMode::ALWAYS, SplitMode::NEVER] {
                for (typesize, blocksize) in [(4, 0), (4, 4096), (1, 1000), (20, 4000), (4, 37)] {
                    let params = CParams::default()
                        .codec(codec)
                        .typesize(typesize)
                        .blocksize(blocksize)
                        .splitmode(splitmode)
                        .filters(&filters);
                    let cell = format!("{codec} {filters:?} {splitmode:?} {typesize} {blocksize}");
                    let chunk = Compressor::new(params).unwrap().compress_to_vec(&data).unwrap();
                    let size = typesize as usize;
                    let items = data.len() / size;
                    for (start, count) in [
                        (0, 1),
                        (0, items),
                        (items - 1, 1),
                        (items / 2, 300.min(items / 2)),
                        (9, 77),
                    ] {
                        let mut part = vec![0xEE; count * size];
                        let read = reader.getitem(&chunk, start as i32, count as i32, &mut part);
                        assert_eq!(read, Ok(part.len()), "{cell}");
                        let whole = &data[start * size..][..count * size];
                        assert!(part == whole, "{cell}: items {start}+{count}");
                    }
                }
            }
        }
    }
}
