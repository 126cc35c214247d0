//! `estimate` and `bench`: estimates of compression from a sample of the data.

use crate::args::Call;
use crate::error::{Failure, error};
use crate::io::{self, FileArg};
use crate::log::Logger;
use crate::show;
use ferroblosc::io::ReadAt;
use ferroblosc_formats::bloscpack::{
    BloscArgs, BloscpackArgs, Chunking, PackArgs, double_pretty_size, pack_bytes_to_bytes,
    pretty_size, unpack_bytes_from_bytes,
};
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The maximum number of chunks that an estimate compresses.
const SAMPLES: u64 = 16;
/// The maximum number of bytes that a benchmark compresses.
const BENCH_BYTES: u64 = 64 << 20;
/// The chunk sizes of the benchmark.
const BENCH_SIZES: [u64; 7] = [64 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20];
/// The number of measurements for each chunk size; the shortest time is used.
const BENCH_ROUNDS: usize = 3;
/// The minimum improvement for which a larger chunk is chosen. Small chunks allow faster partial
/// reads.
const WORTHWHILE: f64 = 1.02;

fn input(call: &Call) -> Result<(PathBuf, File, u64), Failure> {
    let path = PathBuf::from(call.files(&["<in_file>"], 0)?[0]);
    FileArg::Path(path.clone()).check_exists("input file")?;
    let file = io::open_regular(&path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(error(format!("'{}' is not a regular file", path.display())));
    }
    let size = metadata.len();
    Ok((path, file, size))
}

/// Reads up to `len` bytes of a file from an offset.
fn read(file: &File, position: u64, len: u64) -> Result<Vec<u8>, Failure> {
    let len = usize::try_from(len).map_err(|_| error("out of memory"))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| error("out of memory"))?;
    bytes.resize(len, 0);
    let read = ReadAt::read_at(file, position, &mut bytes)
        .map_err(ferroblosc_formats::blpk::Error::from)?;
    bytes.truncate(read);
    Ok(bytes)
}

fn args(blosc: BloscArgs, chunk_size: u64, nthreads: usize) -> PackArgs {
    PackArgs {
        chunk_size,
        blosc,
        bloscpack: BloscpackArgs { offsets: false, ..BloscpackArgs::default() },
        nthreads,
        ..PackArgs::default()
    }
}

pub fn estimate(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let (blosc, chunk_size) = (call.blosc()?, call.chunk_size()?);
    let (_, file, size) = input(call)?;
    let chunking = Chunking::new(size, chunk_size)?;
    let samples = chunking.nchunks.min(SAMPLES);
    let args = args(blosc, chunk_size, call.globals.nthreads);
    let (mut plain, mut packed) = (0_u64, 0_u64);
    let mut time = Duration::ZERO;
    for sample in 0..samples {
        // Evenly spread over the file, including the first and the last chunk.
        let index = match samples {
            1 => 0,
            _ => {
                (u128::from(sample) * u128::from(chunking.nchunks - 1) / u128::from(samples - 1))
                    as u64
            }
        };
        let bytes =
            read(&file, index * u64::from(chunking.chunk_size), chunking.chunk_size.into())?;
        let start = Instant::now();
        packed += pack_bytes_to_bytes(&bytes, &args)?.len() as u64;
        time += start.elapsed();
        plain += bytes.len() as u64;
    }
    let ratio = plain as f64 / packed as f64;
    let estimated = if plain == 0 { packed } else { (size as f64 / ratio) as u64 };
    let speed = (plain as f64 / time.as_secs_f64().max(1e-9)) as u64;
    if call.flag("json") {
        show::print_json(&json!({
            "input_size": size,
            "sampled_chunks": samples,
            "sampled_bytes": plain,
            "estimated_size": estimated,
            "estimated_ratio": ratio,
            "bytes_per_second": speed,
        }));
        return Ok(());
    }
    logger.info(&format!("input file size: {}", double_pretty_size(size)));
    logger.info(&format!("sampled: {samples} of {} chunks", chunking.nchunks));
    logger.info(&format!("estimated output file size: {}", double_pretty_size(estimated)));
    logger.info(&format!("estimated compression ratio: {ratio:.6}"));
    logger.info(&format!("compression speed: {}/s", pretty_size(speed)));
    Ok(())
}

/// The measurements of a chunk size: bytes per second.
struct Score {
    chunk_size: u64,
    ratio: f64,
    packing: f64,
    unpacking: f64,
}

fn try_size(plain: &[u8], args: &PackArgs) -> Result<Score, Failure> {
    let mut best = [Duration::MAX; 2];
    let mut size = 0;
    for _ in 0..BENCH_ROUNDS {
        let start = Instant::now();
        let packed = pack_bytes_to_bytes(plain, args)?;
        best[0] = best[0].min(start.elapsed());
        let start = Instant::now();
        unpack_bytes_from_bytes(&packed, args.nthreads)?;
        best[1] = best[1].min(start.elapsed());
        size = packed.len();
    }
    let [packing, unpacking] = best.map(|time| plain.len() as f64 / time.as_secs_f64().max(1e-9));
    Ok(Score {
        chunk_size: args.chunk_size,
        ratio: plain.len() as f64 / size as f64,
        packing,
        unpacking,
    })
}

pub fn bench(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let blosc = call.blosc()?;
    let (path, file, size) = input(call)?;
    // The middle of a file represents it better than its beginning.
    let len = size.min(BENCH_BYTES);
    let plain = read(&file, (size - len) / 2, len)?;
    if plain.is_empty() {
        return Err(error(format!("'{}' is empty", path.display())));
    }
    let mut scores = Vec::new();
    for chunk_size in BENCH_SIZES {
        // Larger chunk sizes lead to the same single chunk.
        let is_all = chunk_size >= plain.len() as u64;
        scores.push(try_size(&plain, &args(blosc, chunk_size, call.globals.nthreads))?);
        if is_all {
            break;
        }
    }
    let best = choose(&scores);
    if call.flag("json") {
        let rows: Vec<_> = scores
            .iter()
            .map(|score| {
                json!({
                    "chunk_size": score.chunk_size,
                    "ratio": score.ratio,
                    "pack_bytes_per_second": score.packing as u64,
                    "unpack_bytes_per_second": score.unpacking as u64,
                })
            })
            .collect();
        show::print_json(&json!({ "sizes": rows, "best": best }));
        return Ok(());
    }
    logger.info("chunk size       ratio      packing    unpacking");
    for score in &scores {
        let speed = |speed: f64| format!("{}/s", pretty_size(speed as u64));
        logger.info(&format!(
            "{:>10} {:>11.3} {:>12} {:>12}",
            pretty_size(score.chunk_size),
            score.ratio,
            speed(score.packing),
            speed(score.unpacking),
        ));
    }
    logger.info(&format!("suitable chunk size: {}", pretty_size(best)));
    Ok(())
}

/// Returns the chunk size with the largest product of the ratio and the fourth roots of both
/// speeds; of almost equal ones the smallest.
fn choose(scores: &[Score]) -> u64 {
    let merit = |score: &Score| score.ratio * (score.packing * score.unpacking).powf(0.25);
    let mut best = &scores[0];
    for score in scores {
        if merit(score) > merit(best) * WORTHWHILE {
            best = score;
        }
    }
    best.chunk_size
}
