//! `bench`: ratio and speed of codecs, levels and filters.
//!
//! Chunks of the data are compressed and decompressed in memory. The shortest of several
//! measurements is reported. The decompressed data are compared with the original. The memory is
//! about three times the sample.

use crate::cli::{BenchArgs, Cli, CodecName, Goal};
use crate::error::{Failure, Outcome};
use crate::io::{Input, Output, STDIO, refuse_json, refuse_nesting};
use crate::json;
use crate::measure::{self, Bench, Figure, Sample, Setting, buffer, sample_offsets};
use crate::members;
use crate::plot::{self, Point};
use crate::settings::{chunk_size, positive_size};
use crate::store;
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc::escape::escape;
use ferroblosc::io::named;
use ferroblosc::os::files;
use ferroblosc_formats::convert::{self, Location, Reading};
use ferroblosc_tools_common::progress::bar;
use ferroblosc_tools_common::size::human;
use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The data of a benchmark.
struct Data {
    bytes: Vec<u8>,
    /// The size of all data, from which the sample is taken, in bytes.
    total: u64,
    /// The size of an item in bytes.
    typesize: u8,
    /// The size of a chunk in bytes.
    chunk: usize,
}

/// The measurements of one setting.
struct Row {
    setting: Setting,
    figure: Figure,
    is_on_write_front: bool,
    is_on_read_front: bool,
}

/// Reads a sample of the data.
fn sample(args: &BenchArgs, cli: &Cli) -> Result<Data, Failure> {
    let limit = positive_size("--sample", &args.sample)?;
    let chunk_size = chunk_size(&args.chunk_size)?.min(limit);
    // A store is measured as the bytes of its file.
    let input = match store::target(&args.file) {
        Some(target) if target.is_whole_store() => Input::new(&args.file)?,
        _ => members::open_data(&args.file)?,
    };
    let at_path = |error: convert::Error| Failure::from(error).at(input.name());
    // A chunk header stores typesizes up to 255.
    let item = |found: u64| {
        let typesize = args.typesize.map_or(found, u64::from);
        u8::try_from(typesize).unwrap_or(1).max(1)
    };
    let chunk_of = |typesize: u8| {
        let typesize = u64::from(typesize);
        let most = ferroblosc::chunk::MAX_BUFFERSIZE as u64 / typesize * typesize;
        (chunk_size / typesize * typesize).clamp(typesize, most)
    };
    let read = |total: u64, typesize: u8, read: &mut dyn FnMut(u64, &mut [u8]) -> Outcome| {
        let chunk = chunk_of(typesize);
        let (offsets, size) = sample_offsets(total, chunk, limit);
        let size = usize::try_from(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
        let mut bytes = buffer(size)?;
        for (offset, dest) in offsets.iter().zip(bytes.chunks_mut(chunk as usize)) {
            read(*offset, dest)?;
        }
        if bytes.is_empty() {
            return Err(Failure::new("the data are empty").at(input.name()));
        }
        Ok(Data { bytes, total, typesize, chunk: chunk as usize })
    };
    match convert::detect(input.path()) {
        Ok(found) => {
            let reading = Reading::with_threads(cli.nthreads());
            let mut source = convert::open_as(input.path(), &found, &reading).map_err(at_path)?;
            let content = source.content().clone();
            read(content.nbytes, item(content.typesize), &mut |offset, dest| {
                source.read(offset, dest).map_err(at_path)
            })
        }
        Err(convert::Error::Unknown) if input.path().is_file() => {
            let file = File::open(input.path()).map_err(|error| input.error(error))?;
            let len = file.metadata().map_err(|error| input.error(error))?.len();
            read(len, item(8), &mut |offset, dest| {
                files::read_exact_at(&file, offset, dest).map_err(|error| input.error(error))
            })
        }
        Err(error) => Err(at_path(error)),
    }
}

/// Measures all settings, at least one of them. No measurement begins after the end of `--seconds`.
fn measurements(args: &BenchArgs, cli: &Cli, data: &Data) -> Result<(Vec<Row>, usize), Failure> {
    let codecs =
        if args.codecs.is_empty() { CodecName::all().collect() } else { args.codecs.clone() };
    let filters =
        if args.filters.is_empty() { measure::common_filters() } else { args.filters.clone() };
    let settings = measure::combinations(&codecs, &filters, &args.levels);
    let bar = bar(!cli.quiet, Some((settings.len() * data.bytes.len()) as u64));
    let mut bench = Bench::new(Sample {
        data: &data.bytes,
        typesize: data.typesize,
        chunk: data.chunk,
        nthreads: cli.nthreads(),
    })?;
    let begin = Instant::now();
    let total = Duration::from_secs_f64(args.seconds);
    let mut measured = Vec::new();
    for (number, setting) in settings.iter().enumerate() {
        let rest = total.saturating_sub(begin.elapsed());
        if rest.is_zero() && number > 0 {
            break;
        }
        let budget = rest / u32::try_from(settings.len() - number).unwrap_or(u32::MAX);
        let figure = bench.measure(setting, budget);
        measured.push((*setting, figure.map_err(|failure| failure.at(&args.file))?));
        bar.inc(data.bytes.len() as u64);
    }
    bar.finish_and_clear();
    let skipped = settings.len() - measured.len();
    measured.sort_by_key(|(_, figure)| figure.cbytes);
    let figures: Vec<Figure> = measured.iter().map(|(_, figure)| *figure).collect();
    let write_front = measure::front(&figures, |figure| figure.compress);
    let read_front = measure::front(&figures, |figure| figure.decompress);
    let fronts = write_front.into_iter().zip(read_front);
    let rows = measured.into_iter().zip(fronts).map(|((setting, figure), fronts)| Row {
        setting,
        figure,
        is_on_write_front: fronts.0,
        is_on_read_front: fronts.1,
    });
    Ok((rows.collect(), skipped))
}

/// Returns the best row for each goal.
fn recommended(rows: &[Row]) -> Vec<(Goal, &Row)> {
    let figures: Vec<Figure> = rows.iter().map(|row| row.figure).collect();
    let best = |goal| measure::best(&figures, goal).map(|index| (goal, &rows[index]));
    Goal::ALL.into_iter().filter_map(best).collect()
}

/// Writes the plot.
fn write_svg(output: Output, title: &str, rows: &[Row]) -> Outcome {
    let point = |row: &Row| Point {
        codec: row.setting.codec.name().to_owned(),
        label: row.setting.text(),
        level: row.setting.level,
        is_on_front: [row.is_on_write_front, row.is_on_read_front],
        ratio: row.figure.ratio(),
        speeds: [row.figure.compress_speed(), row.figure.decompress_speed()],
    };
    let points: Vec<Point> = rows.iter().map(point).collect();
    let written = named::write(output.path(), plot::svg(title, &points, &[]).as_bytes());
    written.map_err(|error| output.error(Failure::from(error)))?;
    output.commit()
}

fn setting_json(setting: &Setting) -> Json {
    let filter = setting.filter.name();
    json!({"codec": setting.codec.name(), "level": setting.level, "filter": filter})
}

fn to_json(args: &BenchArgs, cli: &Cli, data: &Data, rows: &[Row], skipped: usize) -> Json {
    let figures = rows.iter().map(|row| {
        let mut value = setting_json(&row.setting);
        value["cbytes"] = row.figure.cbytes.into();
        value["ratio"] = row.figure.ratio().into();
        value["compress_mb_s"] = row.figure.compress_speed().into();
        value["decompress_mb_s"] = row.figure.decompress_speed().into();
        value["write_front"] = row.is_on_write_front.into();
        value["read_front"] = row.is_on_read_front.into();
        value
    });
    let figures: Json = figures.collect();
    let recommended = recommended(rows).into_iter();
    let recommended = recommended.map(|(goal, row)| {
        let goal = goal.name().to_owned();
        (goal, setting_json(&row.setting))
    });
    json!({
        "path": args.file.to_string_lossy(),
        "nbytes": data.bytes.len(),
        "total_nbytes": data.total,
        "typesize": data.typesize,
        "threads": cli.nthreads(),
        "figures": figures,
        "skipped": skipped,
        "recommended": recommended.collect::<serde_json::Map<_, _>>(),
    })
}

pub fn run(args: &BenchArgs, cli: &Cli) -> Outcome {
    let is_stdout = args.svg.as_deref() == Some(Path::new(STDIO));
    if is_stdout {
        refuse_json(args.json, Path::new(STDIO))?;
    }
    if let Some(path) = &args.svg {
        let Location { path: container, key } = Location::of(&args.file);
        refuse_nesting(&container, key.as_deref().unwrap_or_default(), path)?;
    }
    let plot = args.svg.as_deref().map(|path| Output::new(path, args.force)).transpose()?;
    let data = sample(args, cli)?;
    let (rows, skipped) = measurements(args, cli, &data)?;
    let of_total = if data.bytes.len() as u64 == data.total {
        String::new()
    } else {
        format!(" of {}", human(data.total))
    };
    let heading = format!(
        "{}{of_total}, items of {} B, {} threads",
        human(data.bytes.len() as u64),
        data.typesize,
        cli.nthreads(),
    );
    let name = escape(&args.file.to_string_lossy()).into_owned();
    if let Some(plot) = plot {
        write_svg(plot, &format!("{name}: {heading}"), &rows)?;
    }
    if is_stdout {
        return Ok(());
    }
    if args.json {
        return json::print(&to_json(args, cli, &data, &rows, skipped));
    }
    let mut output = crate::io::stdout();
    let style = Style::stdout();
    writeln!(output, "{}: {heading}; speeds in MB/s of data", style.bold(&name))?;
    let sides = [
        Alignment::Left,
        Alignment::Right,
        Alignment::Left,
        Alignment::Right,
        Alignment::Right,
        Alignment::Right,
        Alignment::Left,
    ];
    let mut table = Table::new(&sides);
    let heading = ["codec", "level", "filter", "ratio", "compress", "decompress", "Pareto front"];
    table.add(heading.map(str::to_owned).to_vec());
    for row in &rows {
        let front = match (row.is_on_read_front, row.is_on_write_front) {
            (true, true) => "reading, writing",
            (true, false) => "reading",
            (false, true) => "writing",
            (false, false) => "",
        };
        table.add(vec![
            row.setting.codec.name().to_owned(),
            row.setting.level.to_string(),
            row.setting.filter.name().to_owned(),
            format!("{:.2}", row.figure.ratio()),
            format!("{:.0}", row.figure.compress_speed()),
            format!("{:.0}", row.figure.decompress_speed()),
            front.to_owned(),
        ]);
    }
    table.write(&mut output, |heading| style.faint(heading))?;
    for (goal, row) in recommended(&rows) {
        writeln!(output, "{}: {}", goal.purpose(), style.good(&row.setting.text()))?;
    }
    if skipped > 0 {
        let seconds = args.seconds;
        writeln!(output, "{skipped} settings were not measured in {seconds} s (--seconds)")?;
    }
    Ok(())
}
