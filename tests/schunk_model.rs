//! Compares super-chunks on all kinds of storage with a list of vectors after random operations.

use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::codec;
use ferroblosc::schunk::{SChunk, Storage};
use std::path::PathBuf;

/// A small pseudo-random number generator with reproducible output.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

const TYPESIZE: usize = 4;
const CHUNK: usize = 4000;

struct Case {
    name: &'static str,
    path: Option<PathBuf>,
    storage: Storage,
}

fn cases(test: &str) -> Vec<Case> {
    let base = std::env::temp_dir();
    let path = |end: &str| base.join(format!("ferroblosc-{test}-{}-{end}", std::process::id()));
    let (file, directory) = (path("file.b2frame"), path("directory.b2frame"));
    let case = |name, path: Option<&PathBuf>, storage| Case { name, path: path.cloned(), storage };
    vec![
        case("memory", None, Storage::memory()),
        case("frame", None, Storage::frame()),
        case("file", Some(&file), Storage::file(&file)),
        case("directory", Some(&directory), Storage::directory(&directory)),
    ]
}

fn data(random: &mut Random, len: usize) -> Vec<u8> {
    let kind = random.below(4);
    let mut bytes = vec![0; len];
    for (i, item) in bytes.chunks_mut(TYPESIZE).enumerate() {
        let value = match kind {
            0 => 0,
            1 => i as u32,
            2 => random.next() as u32,
            _ => 7,
        };
        item.copy_from_slice(&value.to_le_bytes()[..item.len()]);
    }
    bytes
}

fn assert_holds(schunk: &SChunk, model: &[Vec<u8>], context: &str) {
    assert_eq!(schunk.nchunks(), model.len() as i64, "{context}");
    let nbytes: usize = model.iter().map(Vec::len).sum();
    assert_eq!(schunk.nbytes(), nbytes as i64, "{context}");
    let mut dest = vec![0; 2 * CHUNK];
    for (i, expected) in model.iter().enumerate() {
        let len = schunk.decompress(i as i64, &mut dest).unwrap_or_else(|error| {
            panic!("{context}: chunk {i} of {}: {error}", model.len());
        });
        assert!(dest[..len] == expected[..], "{context}: chunk {i}");
    }
}

fn run(case: &Case, seed: u64, steps: usize, fixed: bool) {
    let mut random = Random(seed);
    let params = || CParams::default().typesize(TYPESIZE as i32).codec(codec::id::LZ4);
    let create = || SChunk::create(case.storage.clone(), params(), DParams::default()).unwrap();
    let mut schunk = create();
    let mut model: Vec<Vec<u8>> = Vec::new();
    let mut compressor = Compressor::new(params()).unwrap();
    for step in 0..steps {
        let len = if fixed { CHUNK } else { TYPESIZE * (1 + random.below(CHUNK / TYPESIZE)) };
        let bytes = data(&mut random, len);
        let chunk = compressor.compress_to_vec(&bytes).unwrap();
        let at = random.below(model.len().max(1));
        let operation = random.below(10);
        let context =
            format!("{} seed {seed} step {step} operation {operation} at {at}", case.name);
        match operation {
            0..3 => {
                // Appending to a super-chunk with a short last chunk is the only operation that is
                // refused.
                let done = schunk.append_chunk(&chunk);
                let refused = case.name != "memory"
                    && model.len() == 1
                    && schunk.chunksize() > 0
                    && (model[0].len() as i32) < schunk.chunksize()
                    && (bytes.len() as i32) < schunk.chunksize();
                assert_eq!(done.is_err(), refused, "{context}");
                if !refused {
                    model.push(bytes);
                }
            }
            3..5 => {
                let first_is_long = model.is_empty()
                    && schunk.chunksize() > 0
                    && bytes.len() as i32 > schunk.chunksize();
                let done = schunk.insert_chunk(at as i64, &chunk);
                assert_eq!(done.is_err(), first_is_long, "{context}");
                if !first_is_long {
                    model.insert(at, bytes);
                }
            }
            5..7 if !model.is_empty() => {
                schunk.update_chunk(at as i64, &chunk).expect(&context);
                model[at] = bytes;
            }
            7 if !model.is_empty() => {
                schunk.delete_chunk(at as i64).expect(&context);
                model.remove(at);
            }
            8 if !model.is_empty() => {
                let mut order: Vec<i64> = (0..model.len() as i64).collect();
                for i in (1..order.len()).rev() {
                    order.swap(i, random.below(i + 1));
                }
                schunk.reorder(&order).expect(&context);
                model = order.iter().map(|&from| model[from as usize].clone()).collect();
            }
            9 => {
                let name = format!("layer{}", random.below(4));
                match schunk.vlmetalayer(&name) {
                    Ok(_) if random.below(2) == 0 => schunk.delete_vlmetalayer(&name).unwrap(),
                    Ok(_) => schunk.update_vlmetalayer(&name, &bytes).unwrap(),
                    Err(_) => schunk.add_vlmetalayer(&name, &bytes).unwrap(),
                }
            }
            _ => {}
        }
        if step % 7 == 0 {
            assert_holds(&schunk, &model, &context);
            let bytes = schunk.to_bytes().unwrap();
            let copy = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
            assert_holds(&copy, &model, &format!("{context}, as bytes"));
            if case.path.is_some() {
                schunk = SChunk::open(case.storage.clone(), DParams::default())
                    .unwrap_or_else(|error| panic!("{context}: reopening: {error}"));
                assert_holds(&schunk, &model, &format!("{context}, reopened"));
            }
        }
    }
    drop(schunk);
    if let Some(path) = &case.path {
        ferroblosc::io::paths::remove_urlpath(path).unwrap();
    }
}

#[test]
fn chunks_of_one_size_match_the_model() {
    for case in cases("one-size") {
        for seed in 1..6 {
            run(&case, seed, 120, true);
        }
    }
}

#[test]
fn chunks_of_all_sizes_match_the_model() {
    for case in cases("all-sizes") {
        for seed in 1..6 {
            run(&case, seed, 120, false);
        }
    }
}

#[test]
fn filled_super_chunks_read_back_their_fill_value() {
    for case in cases("filled") {
        let params = CParams::default().typesize(TYPESIZE as i32);
        let mut schunk = SChunk::create(case.storage.clone(), params, DParams::default()).unwrap();
        assert_eq!(schunk.fill(250, Special::Zero, 400), Ok(3), "{}", case.name);
        let model = [vec![0; 400], vec![0; 400], vec![0; 200]];
        assert_holds(&schunk, &model, case.name);
        let mut items = [1; 8];
        schunk.get_slice(248, 250, &mut items).unwrap();
        assert_eq!(items, [0; 8]);
        if let Some(path) = &case.path {
            ferroblosc::io::paths::remove_urlpath(path).unwrap();
        }
    }
}

#[test]
fn chunks_that_are_truncated_or_too_long_are_rejected() {
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.append(&[7; 4000]).unwrap();
    let chunk = schunk.chunk(0).unwrap().to_vec();
    let mut longer = chunk.clone();
    longer.push(0);
    for wrong in [&chunk[..chunk.len() - 1], &longer, &chunk[..20], &[]] {
        let codes = [
            schunk.append_chunk(wrong),
            schunk.insert_chunk(0, wrong),
            schunk.update_chunk(0, wrong),
        ];
        let expected = Err(ferroblosc::Error::InvalidHeader);
        assert_eq!(codes, [expected.clone(), expected.clone(), expected], "{}", wrong.len());
    }
    assert_eq!(schunk.append_chunk(&chunk), Ok(2));
}
