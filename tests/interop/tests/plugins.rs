//! The plugins compared with the reference: NDLZ, ZFP, NDCELL and NDMEAN, which need the shape of
//! blocks, both BYTEDELTAs, and INT_TRUNC. Each library compresses, and both decompress both
//! results.

use ferroblosc_interop::blocks::{Array, Blocks};
use ferroblosc_interop::isolate;
use ferroblosc_interop::library::{c_len, ours, reference};

const LZ4: u8 = 1;
const NDLZ: u8 = 32;
const ZFP_ACCURACY: u8 = 33;
const ZFP_PRECISION: u8 = 34;
const ZFP_RATE: u8 = 35;
const SHUFFLE: u8 = 1;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
const BYTEDELTA_BUGGY: u8 = 34;
const BYTEDELTA: u8 = 35;
const INT_TRUNC: u8 = 36;

const ALWAYS_SPLIT: i32 = 1;
const NEVER_SPLIT: i32 = 2;
const BLOCKS: i32 = 3;
const OVERHEAD: usize = 32;
/// The offset of a chunk's flags, and the flag of stored chunks.
const FLAGS: usize = 2;
const STORED: u8 = 2;

/// A combination of compression parameters and contents.
#[derive(Clone, Debug)]
struct Case {
    blocks: Blocks,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// Floats on a smooth curve.
    Curve,
    /// Floats of random bytes, without infinities.
    Rough,
    /// Bytes of few values, with repeated rows.
    Rows,
    /// Random bytes.
    Noise,
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

impl Case {
    fn data(&self) -> Vec<u8> {
        let blocks = &self.blocks;
        let mut state = blocks.items() as u64 + u64::from(blocks.codec.1);
        let width = *blocks.shape.last().expect("a dimension") as usize;
        let count = blocks.nbytes() / blocks.typesize;
        let floats = |value: &mut dyn FnMut(usize) -> f64| -> Vec<u8> {
            (0..count)
                .flat_map(|i| match blocks.typesize {
                    4 => (value(i) as f32).to_le_bytes().to_vec(),
                    _ => value(i).to_le_bytes().to_vec(),
                })
                .collect()
        };
        match self.content {
            Content::Curve => floats(&mut |i| (i as f64 * 0.01).sin() * 100.0 + (i % width) as f64),
            Content::Rough => floats(&mut |_| {
                let exponent = (random(&mut state) % 60) as i32 - 30;
                (random(&mut state) as f64 - 1e9) * 2f64.powi(exponent)
            }),
            Content::Rows => {
                let mut bytes = Vec::new();
                while bytes.len() < blocks.nbytes() {
                    let kind = random(&mut state) % 6;
                    bytes.extend((0..width).map(|x| (kind * 31 + x as u64 / 3) as u8));
                }
                bytes.truncate(blocks.nbytes());
                bytes
            }
            Content::Noise => (0..blocks.nbytes()).map(|_| random(&mut state) as u8).collect(),
        }
    }
}

fn compress(array: &Array, data: &[u8]) -> Result<Vec<u8>, i32> {
    let mut chunk = vec![0; data.len() + OVERHEAD];
    let size = array.compress(data, &mut chunk);
    chunk.truncate(usize::try_from(size).map_err(|_| size)?);
    Ok(chunk)
}

fn decompress(array: &Array, chunk: &[u8], len: usize) -> Result<Vec<u8>, i32> {
    let mut data = vec![0; len];
    match array.decompress(chunk, &mut data) {
        size if size == c_len(&data) => Ok(data),
        code => Err(code),
    }
}

/// Returns the data that both libraries decompress both chunks to, and whether the chunks are
/// stored because compression would not make them smaller.
fn agreed(blocks: &Blocks, data: &[u8]) -> Result<(Vec<u8>, bool), String> {
    let arrays = [Array::new(ours(), blocks)?, Array::new(reference(), blocks)?];
    let mut results = Vec::new();
    for (made_by, array) in ["ours", "theirs"].into_iter().zip(&arrays) {
        let chunk = compress(array, data).map_err(|code| format!("{made_by}: {code}"))?;
        let is_stored = chunk[FLAGS] & STORED != 0;
        for reader in &arrays {
            let back = decompress(reader, &chunk, data.len());
            results.push((back.map_err(|code| format!("{made_by}, read: {code}"))?, is_stored));
        }
    }
    if results.windows(2).all(|pair| pair[0] == pair[1]) {
        Ok(results.swap_remove(0))
    } else {
        Err("the chunks or the decoded data differ".to_owned())
    }
}

/// Compares the libraries and returns the sizes of their chunks. The decompressed data must be
/// equal, and equal to the source unless `lossy`.
fn compare(case: &Case, lossy: bool) -> Result<[usize; 2], String> {
    let Case { blocks, .. } = case;
    let mine = Array::new(ours(), blocks)?;
    let theirs = Array::new(reference(), blocks)?;
    let data = case.data();
    let chunk = compress(&mine, &data).map_err(|code| format!("ours: {code}"))?;
    let backs = [decompress(&mine, &chunk, data.len()), decompress(&theirs, &chunk, data.len())];
    if backs[0].is_err() || backs[0] != backs[1] {
        return Err(format!(
            "our chunk: {:?}, {:?}",
            backs[0].as_ref().err(),
            backs[1].as_ref().err()
        ));
    }
    if !lossy && backs[0].as_ref() != Ok(&data) {
        return Err("our chunk does not decode to the data".to_owned());
    }
    let items = blocks.items();
    for (start, count) in
        [(0, 1), (5, 4), (items - 1, 2), (items + 2, 3), (3, items), (2 * items, items)]
    {
        let mut part = vec![0; count * blocks.typesize];
        let size = mine.get_items(&chunk, start as i32, count as i32, &mut part);
        let whole = backs[0].as_ref().expect("decompressed");
        let same = part == whole[start * blocks.typesize..][..part.len()];
        if size != c_len(&part) || !same {
            return Err(format!(
                "{count} items from {start} on differ from the decompressed chunk"
            ));
        }
    }
    let their_chunk = match compress(&theirs, &data) {
        Ok(chunk) => chunk,
        // Row C66: the reference returns -6 if the output of ZFP exceeds the destination.
        Err(-6) if (ZFP_ACCURACY..=ZFP_RATE).contains(&blocks.codec.0) => return Ok([0, 0]),
        Err(code) => return Err(format!("theirs: {code}")),
    };
    let backs = [
        decompress(&mine, &their_chunk, data.len()),
        decompress(&theirs, &their_chunk, data.len()),
    ];
    if backs[0].is_err() || backs[0] != backs[1] {
        return Err(format!(
            "their chunk: {:?}, {:?}",
            backs[0].as_ref().err(),
            backs[1].as_ref().err()
        ));
    }
    if (ZFP_ACCURACY..=ZFP_RATE).contains(&blocks.codec.0) && chunk != their_chunk {
        return Err("chunks of ZFP differ".to_owned());
    }
    Ok([chunk.len(), their_chunk.len()])
}

/// Compares the libraries over all cases, each batch in a child; returns the sums of sizes.
fn compare_all(cases: &[Case], lossy: bool) -> [usize; 2] {
    ours();
    reference();
    let outcomes = isolate::each(cases.len(), |index| {
        let sizes = compare(&cases[index], lossy)?;
        Ok(sizes.iter().map(|&size| size as i64).collect())
    });
    let mut sums = [0; 2];
    let mut complaints = String::new();
    for (case, outcome) in cases.iter().zip(outcomes) {
        match outcome {
            isolate::Outcome::Values(sizes) => {
                sums[0] += sizes[0] as usize;
                sums[1] += sizes[1] as usize;
            }
            other => complaints += &format!("  {case:?}: {other:?}\n"),
        }
    }
    assert!(complaints.is_empty(), "of {} cases, these fail:\n{complaints}", cases.len());
    sums
}

fn plain(codec: u8, codec_meta: u8, typesize: usize, shape: &[i32], content: Content) -> Case {
    let blocks = Blocks {
        codec: (codec, codec_meta),
        filters: [(0, 0); 2],
        splitmode: NEVER_SPLIT,
        typesize,
        shape: shape.to_vec(),
        count: BLOCKS,
    };
    Case { blocks, content }
}

#[test]
fn both_libraries_read_ndlz_and_ours_is_not_larger() {
    let mut cases = Vec::new();
    for meta in [4, 8] {
        for shape in [[16, 16], [32, 40], [17, 23], [8, 100], [3, 90], [200, 200], [64, 5]] {
            for content in [Content::Rows, Content::Noise] {
                cases.push(plain(NDLZ, meta, 1, &shape, content));
                for typesize in [2, 4] {
                    let mut case = plain(NDLZ, meta, typesize, &shape, content);
                    case.blocks.splitmode = ALWAYS_SPLIT;
                    cases.push(case);
                }
            }
        }
    }
    let [mine, theirs] = compare_all(&cases, false);
    println!("NDLZ: {mine} bytes, the reference {theirs}");
    assert!(mine <= theirs + theirs / 100, "{mine} bytes, the reference {theirs}");
}

#[test]
fn row_c66_zfp_chunks_are_the_same() {
    let mut cases = Vec::new();
    let shapes: [&[i32]; 7] =
        [&[64], &[101], &[16, 12], &[9, 30], &[5, 6, 7], &[8, 4, 9], &[4, 5, 6, 7]];
    for shape in shapes {
        for typesize in [4, 8] {
            for content in [Content::Curve, Content::Rough] {
                for (codec, meta) in [
                    (ZFP_ACCURACY, -3i8 as u8),
                    (ZFP_ACCURACY, 0),
                    (ZFP_ACCURACY, 2),
                    (ZFP_PRECISION, 1),
                    (ZFP_PRECISION, 20),
                    (ZFP_PRECISION, 100),
                    (ZFP_RATE, 1),
                    (ZFP_RATE, 25),
                    (ZFP_RATE, 37),
                    (ZFP_RATE, 90),
                ] {
                    cases.push(plain(codec, meta, typesize, shape, content));
                }
                let mut split = plain(ZFP_RATE, 50, typesize, shape, content);
                split.blocks.splitmode = ALWAYS_SPLIT;
                cases.push(split);
                let mut shuffled = plain(ZFP_RATE, 50, typesize, shape, Content::Curve);
                shuffled.blocks.filters[1].0 = SHUFFLE;
                cases.push(shuffled);
            }
        }
    }
    compare_all(&cases, true);
}

#[test]
fn both_libraries_read_cell_filters() {
    let shapes: [&[i32]; 7] =
        [&[64], &[37], &[16, 16], &[13, 9], &[6, 7, 8], &[5, 4, 6, 5], &[3, 3, 3, 3, 3]];
    let mut cells = Vec::new();
    let mut means = Vec::new();
    for shape in shapes {
        for side in [1, 2, 3] {
            for typesize in [1, 2, 4, 7, 8] {
                for filters in [[(0, 0), (NDCELL, side)], [(NDCELL, side), (SHUFFLE, 0)]] {
                    let mut case = plain(LZ4, 0, typesize, shape, Content::Rows);
                    case.blocks.filters = filters;
                    cells.push(case);
                }
            }
            for typesize in [4, 8] {
                for content in [Content::Curve, Content::Rough] {
                    let mut case = plain(LZ4, 0, typesize, shape, content);
                    case.blocks.filters[1] = (NDMEAN, side);
                    means.push(case);
                }
            }
        }
    }
    compare_all(&cells, false);
    compare_all(&means, true);
}

#[test]
fn bytedelta_uses_the_channels_of_the_super_chunk() {
    let mut cases = Vec::new();
    for shape in [[64, 1], [33, 7]] {
        for typesize in [1, 2, 4, 8] {
            for filter in [BYTEDELTA, BYTEDELTA_BUGGY] {
                let mut case = plain(LZ4, 0, typesize, &shape, Content::Rows);
                case.blocks.filters = [(SHUFFLE, 0), (filter, 0)];
                cases.push(case);
            }
        }
    }
    compare_all(&cases, false);
}

/// Returns `data` with the low bits of its little-endian integers of `typesize` bytes zeroed.
fn truncated(data: &[u8], typesize: usize, zeroed: usize) -> Vec<u8> {
    let mut kept = data.to_vec();
    for item in kept.chunks_exact_mut(typesize) {
        for bit in 0..zeroed {
            item[bit / 8] &= !(1 << (bit % 8));
        }
    }
    kept
}

#[test]
fn int_trunc_zeroes_the_same_bits_in_both_libraries() {
    ours();
    reference();
    let mut cases = Vec::new();
    for typesize in [1, 2, 4, 8] {
        let bits = 8 * typesize as i8;
        for kept in [1, 3, bits / 2 + 1, bits - 1, bits] {
            // Positive parameters are the number of bits kept, negative ones the number of bits
            // zeroed.
            let parameters = if kept == bits { vec![kept] } else { vec![kept, kept - bits] };
            for parameter in parameters {
                for then in [0, SHUFFLE] {
                    for shape in [[64, 8], [33, 7]] {
                        for content in [Content::Rows, Content::Noise] {
                            let mut case = plain(LZ4, 0, typesize, &shape, content);
                            case.blocks.filters = [(INT_TRUNC, parameter as u8), (then, 0)];
                            cases.push((case, (bits - kept) as usize));
                        }
                    }
                }
            }
        }
    }
    let outcomes = isolate::each(cases.len(), |index| {
        let (case, zeroed) = &cases[index];
        let data = case.data();
        let (back, is_stored) = agreed(&case.blocks, &data)?;
        let expected =
            if is_stored { data } else { truncated(&data, case.blocks.typesize, *zeroed) };
        if back == expected {
            Ok(vec![i64::from(is_stored)])
        } else {
            Err("the wrong bits are zeroed".to_owned())
        }
    });
    let filtered =
        outcomes.iter().filter(|&outcome| *outcome == isolate::Outcome::Values(vec![0])).count();
    assert!(2 * filtered > cases.len(), "most cases are filtered");
    let complaints: String = cases
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| !matches!(outcome, isolate::Outcome::Values(_)))
        .map(|((case, _), outcome)| format!("  {case:?}: {outcome:?}\n"))
        .collect();
    assert!(complaints.is_empty(), "of {} cases, these fail:\n{complaints}", cases.len());
}

#[test]
fn int_trunc_refuses_the_same_parameters_as_the_reference() {
    ours();
    reference();
    for typesize in [1, 2, 3, 4, 7, 8, 16] {
        let bits = (8 * typesize).min(127) as i8;
        for parameter in [0, -1, 1, -bits, bits.saturating_add(1), i8::MIN, i8::MAX] {
            let mut case = plain(LZ4, 0, typesize, &[64, 8], Content::Rows);
            case.blocks.filters[1] = (INT_TRUNC, parameter as u8);
            let codes = [ours(), reference()].map(|library| {
                let array = Array::new(library, &case.blocks).expect("an array");
                compress(&array, &case.data()).err()
            });
            assert_eq!(codes[0], codes[1], "{parameter} bits of {typesize} bytes");
        }
    }
}
