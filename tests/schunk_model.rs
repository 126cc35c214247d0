//! Compares super-chunks on all kinds of storage with a list of vectors after random operations.

use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::schunk::verify::Fingerprint;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Result, codec};
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
    let (durable_file, durable_directory) = (path("durable.b2frame"), path("durable.b2d"));
    let case = |name, path: Option<&PathBuf>, storage| Case { name, path: path.cloned(), storage };
    vec![
        case("memory", None, Storage::memory()),
        case("frame", None, Storage::frame()),
        case("file", Some(&file), Storage::file(&file)),
        case("directory", Some(&directory), Storage::directory(&directory)),
        case("checked frame", None, Storage::frame().checksums()),
        case(
            "durable file",
            Some(&durable_file),
            Storage::file(&durable_file).checksums().durable(),
        ),
        case(
            "durable directory",
            Some(&durable_directory),
            Storage::directory(&durable_directory).checksums().durable(),
        ),
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

/// The sizes of the chunks of a test.
#[derive(Clone, Copy)]
enum Sizes {
    One,
    All,
    /// All sizes, and often 0.
    WithEmpty,
}

impl Sizes {
    fn draw(self, random: &mut Random) -> usize {
        match self {
            Sizes::One => CHUNK,
            Sizes::WithEmpty if random.below(3) == 0 => 0,
            _ => TYPESIZE * (1 + random.below(CHUNK / TYPESIZE)),
        }
    }
}

/// Changes a super-chunk in a transaction, which is committed or rolled back.
fn change_at_once(
    schunk: &mut SChunk,
    model: &mut Vec<Vec<u8>>,
    random: &mut Random,
    sizes: Sizes,
) -> Result<()> {
    let mut changed = model.clone();
    let mut transaction = schunk.transaction()?;
    for _ in 0..1 + random.below(4) {
        let len = sizes.draw(random);
        let bytes = data(random, len);
        let at = random.below(changed.len().max(1));
        if changed.is_empty() || random.below(2) == 0 {
            if transaction.append(&bytes).is_ok() {
                changed.push(bytes);
            }
        } else if random.below(2) == 0 {
            transaction.delete_chunk(at as i64)?;
            changed.remove(at);
        } else {
            let order: Vec<i64> = (0..changed.len() as i64).rev().collect();
            transaction.reorder(&order)?;
            changed.reverse();
        }
    }
    if random.below(3) > 0 {
        transaction.commit()?;
        *model = changed;
    } else {
        transaction.rollback();
    }
    Ok(())
}

/// Returns seeds; fewer for storage that waits for the disk.
fn seeds(case: &Case) -> std::ops::Range<u64> {
    if case.name.starts_with("durable") { 1..3 } else { 1..6 }
}

fn run(case: &Case, seed: u64, steps: usize, sizes: Sizes) {
    let has_checksums = case.name.starts_with("checked") || case.name.starts_with("durable");

    let mut random = Random(seed);
    let params = || CParams::default().typesize(TYPESIZE as i32).codec(codec::id::LZ4);
    let create = || SChunk::create(case.storage.clone(), params(), DParams::default()).unwrap();
    let mut schunk = create();
    let mut model: Vec<Vec<u8>> = Vec::new();
    let mut compressor = Compressor::new(params()).unwrap();
    for step in 0..steps {
        let len = sizes.draw(&mut random);
        let bytes = data(&mut random, len);
        let chunk = compressor.compress_to_vec(&bytes).unwrap();
        let at = random.below(model.len().max(1));
        let operation = random.below(11);
        let context =
            format!("{} seed {seed} step {step} operation {operation} at {at}", case.name);
        match operation {
            0..3 => {
                // A first chunk above the chunk size is refused, and a second short one in a frame.
                let done = schunk.append_chunk(&chunk);
                let is_shorter = |chunk: &[u8]| (chunk.len() as i32) < schunk.chunksize();
                let refused = schunk.chunksize() > 0
                    && match &model[..] {
                        [] => bytes.len() as i32 > schunk.chunksize(),
                        [only] => case.name != "memory" && is_shorter(only) && is_shorter(&bytes),
                        _ => false,
                    };
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
            10 if case.name.starts_with("durable") => {
                change_at_once(&mut schunk, &mut model, &mut random, sizes).expect(&context);
            }
            _ => {}
        }
        if step % 7 == 0 {
            assert_holds(&schunk, &model, &context);
            if has_checksums {
                let report = schunk.verify().unwrap();
                assert_eq!(report.faults(), 0, "{context}: {report:?}");
                // A frame in memory has checksums from its first change on.
                let is_new = case.path.is_none() && step == 0;
                assert!(is_new || report.fingerprint == Fingerprint::Intact, "{context}");
            }
            // Files do not contain chunks without data unless another chunk has data.
            if !model.is_empty() && model.iter().all(Vec::is_empty) {
                continue;
            }
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
        for seed in seeds(&case) {
            run(&case, seed, 120, Sizes::One);
        }
    }
}

#[test]
fn chunks_of_all_sizes_match_the_model() {
    for case in cases("all-sizes") {
        for seed in seeds(&case) {
            run(&case, seed, 120, Sizes::All);
        }
    }
}

#[test]
fn chunks_without_data_match_the_model() {
    for case in cases("with-empty") {
        for seed in seeds(&case) {
            run(&case, seed, 120, Sizes::WithEmpty);
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
