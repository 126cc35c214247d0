//! `bench`: ratio and speed of codecs, levels and filters.
//!
//! The data are compressed and decompressed in chunks, in memory. The shortest of several
//! measurements is reported. The decompressed data are compared with the original.

use crate::cli::{BenchArgs, Cli, CodecName, FilterName};
use crate::error::{Failure, Outcome};
use crate::io::Input;
use crate::json;
use crate::plot::{self, Point};
use crate::settings::positive_size;
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::io::named::{named, write as write_named};
use ferroblosc_formats::convert::{self, Reading};
use ferroblosc_tools_common::progress::bar;
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging::Staged;
use serde_json::json;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// The number of measurements; the shortest is reported.
const ROUNDS: usize = 3;
/// A measurement longer than this is not repeated.
const LONG: Duration = Duration::from_millis(500);
/// The number of bytes in a megabyte, the unit of speeds.
const MEGABYTE: f64 = 1e6;

/// The measurements of one setting. Speeds are in MB/s.
struct Figure {
    codec: String,
    level: u8,
    filter: String,
    cbytes: usize,
    compress: f64,
    decompress: f64,
}

/// Reads the data. Returns them and the size of an item in bytes.
fn sample(args: &BenchArgs, cli: &Cli) -> Result<(Vec<u8>, u64), Failure> {
    let limit = positive_size("--sample", &args.sample)?;
    let input = Input::new(&args.file)?;
    let at_path = |error: convert::Error| Failure::from(error).at(input.name());
    let mut data = Vec::new();
    let typesize = match convert::detect(input.path()) {
        Ok(found) => {
            let reading = Reading { column: None, nthreads: cli.nthreads() };
            let mut source = convert::open_as(input.path(), &found, &reading).map_err(at_path)?;
            let content = source.content().clone();
            let typesize = content.typesize.max(1);
            let len = content.nbytes.min(limit) / typesize * typesize;
            data.resize(usize::try_from(len).unwrap_or(0), 0);
            source.read(0, &mut data).map_err(at_path)?;
            typesize
        }
        Err(convert::Error::Unknown) if input.path().is_file() => {
            let file = File::open(input.path()).map_err(|error| input.error(error))?;
            file.take(limit).read_to_end(&mut data).map_err(|error| input.error(error))?;
            8
        }
        Err(error) => return Err(at_path(error)),
    };
    if data.is_empty() {
        return Err(Failure::new("the data are empty").at(input.name()));
    }
    // A chunk header stores typesizes up to 255.
    let typesize = args.typesize.map_or(typesize, u64::from);
    Ok((data, if typesize > 255 { 1 } else { typesize }))
}

/// Returns the shortest time of several calls.
fn shortest_time(
    mut call: impl FnMut() -> Result<(), ferroblosc::Error>,
) -> Result<Duration, Failure> {
    let mut shortest = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        call()?;
        shortest = shortest.min(start.elapsed());
        if shortest > LONG {
            break;
        }
    }
    Ok(shortest)
}

/// Compresses and decompresses the data with one setting. Returns the size of all chunks and both
/// times.
fn measure(
    params: CParams,
    data: &[u8],
    chunk: usize,
    nthreads: i16,
) -> Result<(usize, Duration, Duration), Failure> {
    let mut compressor = Compressor::new(params)?;
    let mut decompressor = Decompressor::new(DParams::default().threads(nthreads));
    let capacity = chunk + ferroblosc::chunk::MAX_OVERHEAD;
    let mut chunks: Vec<Vec<u8>> = data.chunks(chunk).map(|_| vec![0; capacity]).collect();
    let mut lengths = vec![0; chunks.len()];
    let compress = shortest_time(|| {
        for ((plain, dest), len) in data.chunks(chunk).zip(&mut chunks).zip(&mut lengths) {
            *len = compressor.compress(plain, dest)?;
        }
        Ok(())
    })?;
    let mut back = vec![0; data.len()];
    let decompress = shortest_time(|| {
        for ((plain, stored), len) in back.chunks_mut(chunk).zip(&chunks).zip(&lengths) {
            decompressor.decompress(&stored[..*len], plain)?;
        }
        Ok(())
    })?;
    if back == data {
        Ok((lengths.iter().sum(), compress, decompress))
    } else {
        Err(Failure::new("the decompressed data differ from the original"))
    }
}

fn figures(
    args: &BenchArgs,
    cli: &Cli,
    data: &[u8],
    typesize: u64,
) -> Result<Vec<Figure>, Failure> {
    let codecs =
        if args.codecs.is_empty() { CodecName::all().collect() } else { args.codecs.clone() };
    let filters = if args.filters.is_empty() {
        let default = ["none", "shuffle", "bitshuffle"];
        let all = FilterName::all();
        all.filter(|filter| default.contains(&filter.name())).collect()
    } else {
        args.filters.clone()
    };
    let chunk_size = positive_size("--chunk-size", &args.chunk_size)?;
    let chunk = usize::try_from(chunk_size / typesize * typesize).unwrap_or(0);
    let chunk = chunk.clamp(typesize as usize, ferroblosc::chunk::MAX_BUFFERSIZE);
    let nthreads = i16::try_from(cli.nthreads()).unwrap_or(i16::MAX);
    let total = codecs.len() * filters.len() * args.levels.len();
    let bar = bar(!cli.quiet, Some((total * data.len()) as u64));
    let mut figures = Vec::new();
    for &codec in &codecs {
        for &filter in &filters {
            for &level in &args.levels {
                let params = CParams::default()
                    .codec(codec.id())
                    .level(level)
                    .filters(filter.slot().as_slice())
                    .typesize(i32::try_from(typesize).unwrap_or(1))
                    .threads(nthreads);
                let (cbytes, compress, decompress) = measure(params, data, chunk, nthreads)?;
                let speed =
                    |time: Duration| data.len() as f64 / MEGABYTE / time.as_secs_f64().max(1e-9);
                figures.push(Figure {
                    codec: codec.name().to_owned(),
                    level,
                    filter: filter.name().to_owned(),
                    cbytes,
                    compress: speed(compress),
                    decompress: speed(decompress),
                });
                bar.inc(data.len() as u64);
            }
        }
    }
    bar.finish_and_clear();
    Ok(figures)
}

pub fn run(args: &BenchArgs, cli: &Cli) -> Outcome {
    let (data, typesize) = sample(args, cli)?;
    let mut figures = figures(args, cli, &data, typesize)?;
    figures.sort_by_key(|figure| figure.cbytes);
    let ratio = |figure: &Figure| data.len() as f64 / figure.cbytes as f64;
    if let Some(path) = &args.svg {
        let points: Vec<Point> = figures
            .iter()
            .map(|figure| Point {
                codec: figure.codec.clone(),
                label: format!("{} {} {}", figure.codec, figure.level, figure.filter),
                ratio: ratio(figure),
                speeds: [figure.compress, figure.decompress],
            })
            .collect();
        let staged = Staged::new(path)
            .map_err(|error| named(error, ferroblosc::Error::FileOpen, "create", path))?;
        let written = write_named(staged.path(), plot::svg(&points, &[]).as_bytes());
        written.map_err(|error| Failure::from(error).of_target(staged.path(), path))?;
        staged.commit().map_err(|error| {
            named(error, ferroblosc::Error::FileWrite, "rename a file to", path)
        })?;
    }
    if args.json {
        let figures = figures.iter().map(|figure| {
            json!({
                "codec": figure.codec,
                "level": figure.level,
                "filter": figure.filter,
                "cbytes": figure.cbytes,
                "ratio": ratio(figure),
                "compress_mb_s": figure.compress,
                "decompress_mb_s": figure.decompress,
            })
        });
        return json::print(&json!({
            "path": args.file.to_string_lossy(),
            "nbytes": data.len(),
            "typesize": typesize,
            "threads": cli.nthreads(),
            "figures": figures.collect::<serde_json::Value>(),
        }));
    }
    let mut output = std::io::stdout().lock();
    let threads = cli.nthreads();
    writeln!(
        output,
        "{} of data, items of {typesize} B, {threads} threads; MB/s of data",
        human(data.len() as u64)
    )?;
    let mut table = Table::new(&[
        Alignment::Left,
        Alignment::Right,
        Alignment::Left,
        Alignment::Right,
        Alignment::Right,
        Alignment::Right,
    ]);
    let heading = ["codec", "level", "filter", "ratio", "compress", "decompress"];
    table.add(heading.map(str::to_owned).to_vec());
    for figure in &figures {
        table.add(vec![
            figure.codec.clone(),
            figure.level.to_string(),
            figure.filter.clone(),
            format!("{:.2}", ratio(figure)),
            format!("{:.0}", figure.compress),
            format!("{:.0}", figure.decompress),
        ]);
    }
    let style = Style::stdout();
    Ok(table.write(&mut output, |heading| style.faint(heading))?)
}
