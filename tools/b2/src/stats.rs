//! `stats`: minimum, maximum, mean, standard deviation and a histogram of the items.
//!
//! The first pass computes the moments of each segment, which are combined in the order of the
//! segments: the result does not depend on the number of threads. The second pass counts the items
//! of each bin of the histogram, in each thread.

use crate::cli::{Cli, StatsArgs};
use crate::error::{Failure, Outcome};
use crate::info::for_each_path;
use crate::items;
use crate::json;
use crate::members;
use crate::scan::{Leaf, Number, Scanned, segments};
use crate::style::Style;
use crate::table::tuple;
use ferroblosc::escape::escape;
use ferroblosc_formats::numpy::{Dtype, Kind};
use ferroblosc_tools_common::progress::bar;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The maximum number of characters of a bar.
const BAR: usize = 40;
/// The number of items that are decoded at once.
const BLOCK: usize = 1 << 16;
/// The factor of deviations whose squares exceed the range of floats: 2 to the power of -540.
const SCALE: f64 = f64::from_bits((1023 - 540) << 52);

/// The summary of numbers.
#[derive(Clone, Debug, Default)]
struct Moments {
    /// The number of numbers that are not NaN or NaT.
    count: u64,
    nans: u64,
    infinite: u64,
    zeros: u64,
    /// The smallest and the largest number, which may be infinite.
    range: Option<(Number, Number)>,
    /// The smallest and the largest finite number.
    finite: Option<(Number, Number)>,
    /// The number, the mean and the sum of squared deviations of the finite numbers.
    finites: u64,
    mean: f64,
    squares: f64,
    /// The sum of the squares of deviations times [`SCALE`], if `squares` is infinite.
    scaled_squares: f64,
    /// The sum of integers.
    total: i128,
}

fn less(one: Number, other: Number) -> bool {
    match (one, other) {
        (Number::Int(one), Number::Int(other)) => one < other,
        _ => one.as_float() < other.as_float(),
    }
}

fn widen(range: &mut Option<(Number, Number)>, low: Number, high: Number) {
    *range = Some(match *range {
        None => (low, high),
        Some((least, most)) => {
            (if less(low, least) { low } else { least }, if less(most, high) { high } else { most })
        }
    });
}

impl Moments {
    /// Summarises a segment.
    fn of(numbers: &Numbers) -> Moments {
        let mut found = Moments::default();
        let (mut sum, mut correction) = (0.0, 0.0);
        let mut add = |number: f64| {
            // Compensated summation.
            let total: f64 = sum + number;
            let (large, small): (f64, f64) =
                if f64::abs(sum) >= number.abs() { (sum, number) } else { (number, sum) };
            correction += (large - total) + small;
            sum = total;
        };
        match numbers {
            Numbers::Ints(ints, nats) => {
                found.nans = *nats;
                found.count = ints.len() as u64;
                found.finites = found.count;
                let (mut least, mut most) = (i128::MAX, i128::MIN);
                let mut total = 0_i128;
                for &number in ints {
                    found.zeros += u64::from(number == 0);
                    least = least.min(number);
                    most = most.max(number);
                    total += number;
                }
                found.total = total;
                if !ints.is_empty() {
                    widen(&mut found.range, Number::Int(least), Number::Int(most));
                    found.finite = found.range;
                    found.mean = total as f64 / ints.len() as f64;
                }
                let deviation = |number: &i128| *number as f64 - found.mean;
                found.squares = ints.iter().map(|number| deviation(number).powi(2)).sum();
            }
            Numbers::Floats(floats) => {
                let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
                let mut infinities = None;
                for &number in floats {
                    if number.is_finite() {
                        found.zeros += u64::from(number == 0.0);
                        found.finites += 1;
                        least = least.min(number);
                        most = most.max(number);
                        add(number);
                    } else if number.is_nan() {
                        found.nans += 1;
                    } else {
                        found.infinite += 1;
                        widen(&mut infinities, Number::Float(number), Number::Float(number));
                    }
                }
                found.count = found.finites + found.infinite;
                found.range = infinities;
                if found.finites > 0 {
                    widen(&mut found.finite, Number::Float(least), Number::Float(most));
                    widen(&mut found.range, Number::Float(least), Number::Float(most));
                    let finite = floats.iter().filter(|number| number.is_finite());
                    let count = found.finites as f64;
                    found.mean = (sum + correction) / count;
                    if !found.mean.is_finite() {
                        // The sum is too large for a float. The scale is a power of two, which
                        // changes no digits.
                        let scale = 2f64.powi(64);
                        let sum: f64 = finite.clone().map(|number| number / scale).sum();
                        found.mean = (sum / count * scale).clamp(least, most);
                    }
                    let deviations = finite.clone().map(|number| number - found.mean);
                    found.squares = deviations.map(|deviation| deviation.powi(2)).sum();
                    if !found.squares.is_finite() {
                        let mean = found.mean * SCALE;
                        found.scaled_squares =
                            finite.map(|number| (number * SCALE - mean).powi(2)).sum();
                    }
                }
            }
        }
        found
    }

    /// Adds the summary of the following segment.
    fn merge(&mut self, other: &Moments) {
        if self.finites == 0 {
            (self.mean, self.squares) = (other.mean, other.squares);
            self.scaled_squares = other.scaled_squares;
        } else if other.finites > 0 {
            let (one, two) = (self.finites as f64, other.finites as f64);
            let distance = other.mean - self.mean;
            let scaled = other.mean * SCALE - self.mean * SCALE;
            self.scaled_squares =
                self.scaled() + other.scaled() + scaled * scaled * (one * two / (one + two));
            self.mean = if distance.is_finite() {
                self.mean + distance * (two / (one + two))
            } else {
                self.mean * (one / (one + two)) + other.mean * (two / (one + two))
            };
            self.squares += other.squares + distance * distance * (one * two / (one + two));
        }
        self.finites += other.finites;
        self.total += other.total;
        self.count += other.count;
        self.nans += other.nans;
        self.infinite += other.infinite;
        self.zeros += other.zeros;
        for (mine, others) in [(&mut self.range, other.range), (&mut self.finite, other.finite)] {
            if let Some((low, high)) = others {
                widen(mine, low, high);
            }
        }
    }

    /// Returns the mean of integers, rounded down: floats do not distinguish all times.
    fn whole_mean(&self) -> i128 {
        self.total.div_euclid(i128::from(self.finites.max(1)))
    }

    /// Returns the sum of the squares of deviations times [`SCALE`].
    fn scaled(&self) -> f64 {
        if self.squares.is_finite() { self.squares * SCALE * SCALE } else { self.scaled_squares }
    }

    /// Returns the standard deviation of the population.
    fn deviation(&self) -> f64 {
        if self.squares.is_finite() {
            (self.squares / self.finites as f64).sqrt()
        } else {
            (self.scaled_squares / self.finites as f64).sqrt() / SCALE
        }
    }
}

/// The numbers of a segment; for integers, also the number of NaT.
enum Numbers {
    Ints(Vec<i128>, u64),
    Floats(Vec<f64>),
}

/// Decodes all items of a fixed size.
macro_rules! decode {
    ($bytes:expr, $order:expr, $type:ty) => {{
        let (items, _) = $bytes.as_chunks::<{ size_of::<$type>() }>();
        let decode = |item: &[u8; size_of::<$type>()]| {
            if $order { <$type>::from_be_bytes(*item) } else { <$type>::from_le_bytes(*item) }
        };
        items.iter().map(decode)
    }};
}

impl Numbers {
    /// Decodes items, or returns `None` for items that are not numbers.
    fn of(dtype: &Dtype, bytes: &[u8]) -> Option<Numbers> {
        let order = dtype.is_big_endian();
        let is_time = matches!(dtype.kind(), Kind::Datetime | Kind::Timedelta);
        Some(match (dtype.kind(), dtype.itemsize()) {
            (Kind::Float, 4) => {
                Numbers::Floats(decode!(bytes, order, f32).map(f64::from).collect())
            }
            (Kind::Float, 8) => Numbers::Floats(decode!(bytes, order, f64).collect()),
            (Kind::Int, 4) => {
                Numbers::Ints(decode!(bytes, order, i32).map(i128::from).collect(), 0)
            }
            (Kind::Int, 8) => {
                Numbers::Ints(decode!(bytes, order, i64).map(i128::from).collect(), 0)
            }
            (Kind::Uint, 1) => Numbers::Ints(bytes.iter().map(|&byte| byte.into()).collect(), 0),
            (_, size @ 1..) => {
                let (mut ints, mut floats, mut nats) = (Vec::new(), Vec::new(), 0);
                for item in bytes.chunks_exact(size as usize) {
                    match Number::of(dtype, item)? {
                        Number::Int(time) if is_time && time == items::NOT_A_TIME.into() => {
                            nats += 1;
                        }
                        Number::Int(number) => ints.push(number),
                        Number::Float(number) => floats.push(number),
                    }
                }
                if dtype.kind() == Kind::Float {
                    Numbers::Floats(floats)
                } else {
                    Numbers::Ints(ints, nats)
                }
            }
            (_, 0) => return None,
        })
    }
}

/// The bins of a histogram: `counts.len()` bins of equal width from `low` to `high`.
struct Bins {
    low: Number,
    high: Number,
    counts: Vec<u64>,
}

impl Bins {
    /// Returns empty bins for a range. Integers have at most one bin for each value.
    fn new((low, high): (Number, Number), bins: usize) -> Bins {
        let bins = match (low, high) {
            (Number::Int(low), Number::Int(high)) => {
                usize::try_from(high - low + 1).unwrap_or(bins).min(bins)
            }
            _ if low.as_float() == high.as_float() => 1,
            _ => bins,
        };
        Bins { low, high, counts: vec![0; bins] }
    }

    /// Returns the width of a range of floats. It is halved, since the difference may overflow.
    fn half_width(&self) -> f64 {
        self.high.as_float() / 2.0 - self.low.as_float() / 2.0
    }

    fn count(&self, numbers: &Numbers, counts: &mut [u64]) {
        match (numbers, self.low, self.high) {
            (Numbers::Ints(ints, _), Number::Int(low), Number::Int(high)) => {
                let range = IntRange::new(low, high, counts.len());
                ints.iter().for_each(|&number| counts[range.bin_of(number)] += 1);
            }
            (Numbers::Floats(floats), low, _) => {
                let (low, width) = (low.as_float(), self.half_width());
                let (bins, last) = (counts.len() as f64, counts.len() - 1);
                for number in floats.iter().filter(|number| number.is_finite()) {
                    let share = if width > 0.0 { (number / 2.0 - low / 2.0) / width } else { 0.0 };
                    counts[((share * bins) as usize).min(last)] += 1;
                }
            }
            (Numbers::Ints(..), ..) => {}
        }
    }

    /// Returns the start of a bin: that of a bin of integers is its least integer.
    fn start(&self, bin: usize) -> Number {
        match (self.low, self.high) {
            (Number::Int(low), Number::Int(high)) => {
                Number::Int(IntRange::new(low, high, self.counts.len()).start(bin))
            }
            (low, _) => {
                let distance = self.half_width() * (bin as f64 / self.counts.len() as f64);
                Number::Float(low.as_float() + distance + distance)
            }
        }
    }
}

/// The bins of integers of at most 64 bits: a number `n` above the minimum is in the bin
/// `n * bins / width`, rounded down.
struct IntRange {
    low: i128,
    /// The number of integers from the minimum to the maximum.
    width: u128,
    bins: u128,
    /// The width as `u64`, if no product of a number and the number of bins overflows.
    short: Option<u64>,
}

impl IntRange {
    fn new(low: i128, high: i128, bins: usize) -> IntRange {
        let (width, bins) = ((high - low).unsigned_abs() + 1, bins as u128);
        let product = width.checked_mul(bins).and_then(|product| u64::try_from(product).ok());
        let short = product.and_then(|_| u64::try_from(width).ok());
        IntRange { low, width, bins, short }
    }

    /// Returns the bin of a number between the minimum and the maximum. A number outside, which
    /// another program wrote in the meantime, is in one of the bins, too.
    fn bin_of(&self, number: i128) -> usize {
        let distance = (number - self.low).unsigned_abs().min(self.width - 1);
        match self.short {
            // The division of 64 bits is faster.
            Some(width) => (distance as u64 * self.bins as u64 / width) as usize,
            None => (distance * self.bins / self.width) as usize,
        }
    }

    /// Returns the least number of a bin.
    fn start(&self, bin: usize) -> i128 {
        self.low + (self.width * bin as u128).div_ceil(self.bins) as i128
    }
}

/// The statistics of a scalar field.
struct Column {
    leaf: Leaf,
    /// None for texts and other items that are not numbers.
    moments: Option<Moments>,
    bins: Option<Bins>,
}

/// Returns the numbers of a field in a segment.
fn numbers_of(leaf: &Leaf, itemsize: usize, bytes: &[u8]) -> Option<Numbers> {
    if leaf.size() == itemsize {
        return Numbers::of(&leaf.dtype, bytes);
    }
    let items = bytes.chunks_exact(itemsize);
    let gathered: Vec<u8> = items.flat_map(|item| leaf.of(item)).copied().collect();
    Numbers::of(&leaf.dtype, &gathered)
}

/// The counts of the bins of each column in a thread, which are added to the totals on drop.
struct ThreadCounts<'t> {
    counts: Vec<Vec<u64>>,
    totals: &'t Mutex<Vec<Vec<u64>>>,
}

impl Drop for ThreadCounts<'_> {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        for (totals, counts) in totals.iter_mut().zip(&self.counts) {
            totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
    }
}

fn columns(args: &StatsArgs, cli: &Cli, scanned: &Scanned) -> Result<Vec<Column>, Failure> {
    let leaves = Leaf::all(&scanned.info.dtype).map_err(|failure| scanned.input.error(failure))?;
    let itemsize = scanned.info.dtype.itemsize() as usize;
    let passes = if args.bins > 0 { 2 } else { 1 };
    let bar = bar(!cli.quiet, Some(scanned.nbytes * passes));
    let total = (scanned.items(), scanned.segment());
    let nthreads = cli.nthreads();
    // With few segments, the threads decompress the blocks of each chunk.
    let inner = if total.0 <= total.1 { nthreads } else { 1 };
    let make = || Ok((scanned.source(inner)?, Vec::new()));
    let mut totals: Vec<Option<Moments>> = leaves
        .iter()
        .map(|leaf| {
            let is_number = Numbers::of(&leaf.dtype, &vec![0; leaf.dtype.itemsize() as usize]);
            is_number.map(|_| Moments::default())
        })
        .collect();
    segments(
        total,
        nthreads,
        make,
        |(source, bytes), first, count, _| {
            scanned.read(source.as_mut(), first, count, bytes)?;
            bar.inc(bytes.len() as u64);
            let moments = leaves.iter().map(|leaf| {
                let mut total = Moments::default();
                for block in bytes.chunks(BLOCK * itemsize) {
                    total.merge(&Moments::of(&numbers_of(leaf, itemsize, block)?));
                }
                Some(total)
            });
            Ok(moments.collect::<Vec<Option<Moments>>>())
        },
        |segment| {
            for (total, segment) in totals.iter_mut().zip(&segment) {
                if let (Some(total), Some(segment)) = (total, segment) {
                    total.merge(segment);
                }
            }
        },
    )?;
    let mut columns: Vec<Column> = leaves
        .into_iter()
        .zip(totals)
        .map(|(leaf, moments)| {
            let finite = moments.as_ref().and_then(|moments| moments.finite);
            let bins =
                finite.filter(|_| args.bins > 0).map(|range| Bins::new(range, args.bins.into()));
            Column { leaf, moments, bins }
        })
        .collect();
    if columns.iter().any(|column| column.bins.is_some()) {
        let empty: Vec<Vec<u64>> = columns
            .iter()
            .map(|column| column.bins.as_ref().map_or(Vec::new(), |bins| bins.counts.clone()))
            .collect();
        let totals = Mutex::new(empty.clone());
        let make = || {
            let counts = ThreadCounts { counts: empty.clone(), totals: &totals };
            Ok((scanned.source(inner)?, Vec::new(), counts))
        };
        segments(
            total,
            nthreads,
            make,
            |(source, bytes, counts), first, count, _| {
                scanned.read(source.as_mut(), first, count, bytes)?;
                bar.inc(bytes.len() as u64);
                for (column, counts) in columns.iter().zip(&mut counts.counts) {
                    let Some(bins) = &column.bins else {
                        continue;
                    };
                    for block in bytes.chunks(BLOCK * itemsize) {
                        if let Some(numbers) = numbers_of(&column.leaf, itemsize, block) {
                            bins.count(&numbers, counts);
                        }
                    }
                }
                Ok(())
            },
            |()| {},
        )?;
        let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (column, total) in columns.iter_mut().zip(totals) {
            if let Some(bins) = &mut column.bins {
                bins.counts = total;
            }
        }
    }
    bar.finish_and_clear();
    Ok(columns)
}

pub fn run(args: &StatsArgs, cli: &Cli) -> Outcome {
    let mut values = Vec::new();
    let mut is_first = true;
    let result = for_each_path(&args.paths, |path| {
        let input = &members::open_data(path)?;
        let scanned = Scanned::open(input, args.column.as_deref(), args.dtype.as_deref())?;
        let columns = columns(args, cli, &scanned)?;
        if args.json {
            values.push(to_json(&scanned, &columns));
            return Ok(());
        }
        let mut output = crate::io::stdout();
        if !std::mem::take(&mut is_first) {
            writeln!(output)?;
        }
        print(&mut output, &scanned, &columns)
    });
    if args.json {
        json::print(&values.into())?;
    }
    result
}

fn number_json(number: Number) -> Json {
    match number {
        Number::Int(number) => match (u64::try_from(number), i64::try_from(number)) {
            (Ok(number), _) => number.into(),
            (_, Ok(number)) => number.into(),
            _ => Json::Null,
        },
        // Infinities are null.
        Number::Float(number) => number.into(),
    }
}

fn to_json(scanned: &Scanned, columns: &[Column]) -> Json {
    let columns = columns.iter().map(|column| {
        let moments = column.moments.as_ref();
        let finite = moments.filter(|moments| moments.finites > 0);
        let range = moments.and_then(|moments| moments.range);
        json!({
            "name": column.leaf.name,
            "dtype": column.leaf.dtype.text(),
            "items": scanned.items() * column.leaf.count,
            "nan": moments.map(|moments| moments.nans),
            "infinite": moments.map(|moments| moments.infinite),
            "zeros": moments.map(|moments| moments.zeros),
            "min": range.map(|(low, _)| number_json(low)),
            "max": range.map(|(_, high)| number_json(high)),
            "mean": finite.map(|moments| moments.mean),
            "std": finite.map(Moments::deviation),
            "histogram": column.bins.as_ref().map(|bins| json!({
                "low": number_json(bins.low),
                "high": number_json(bins.high),
                "counts": bins.counts,
            })),
        })
    });
    json!({
        "path": scanned.input.name().to_string_lossy(),
        "format": scanned.found.format.name(),
        "shape": scanned.info.shape,
        "columns": columns.collect::<Json>(),
    })
}

/// Formats a number of a column; times as times.
fn shown(dtype: &Dtype, number: Number) -> String {
    match (dtype.kind(), number) {
        (Kind::Datetime | Kind::Timedelta, Number::Int(time)) => {
            let time = i64::try_from(time).unwrap_or(items::NOT_A_TIME);
            items::time_text(dtype, time)
        }
        (Kind::Float, Number::Float(number)) if dtype.itemsize() <= 4 => {
            format!("{:?}", number as f32)
        }
        (_, Number::Int(number)) => number.to_string(),
        (_, Number::Float(number)) => format!("{number:?}"),
    }
}

fn print(output: &mut impl Write, scanned: &Scanned, columns: &[Column]) -> Outcome {
    let style = Style::stdout();
    let name = scanned.input.name().display().to_string();
    writeln!(output, "{}", style.bold(&escape(&name)))?;
    for column in columns {
        let dtype = &column.leaf.dtype;
        if !column.leaf.name.is_empty() {
            writeln!(output, "  {}", style.bold(&escape(&column.leaf.name)))?;
        }
        let untyped = if scanned.is_typed { "" } else { " (bytes; set their type with --dtype)" };
        let mut lines = vec![
            ("type", format!("{}{untyped}", dtype.text())),
            ("shape", tuple(&scanned.info.shape)),
            ("items", (scanned.items() * column.leaf.count).to_string()),
        ];
        let is_time = matches!(dtype.kind(), Kind::Datetime | Kind::Timedelta);
        if let Some(moments) = &column.moments {
            let nan = if is_time { "NaT" } else { "NaN" };
            if matches!(dtype.kind(), Kind::Float) || is_time {
                lines.push((nan, moments.nans.to_string()));
            }
            if moments.infinite > 0 {
                lines.push(("infinite", moments.infinite.to_string()));
            }
            lines.push(("zeros", moments.zeros.to_string()));
            if let Some((low, high)) = moments.range {
                lines.push(("min", shown(dtype, low)));
                lines.push(("max", shown(dtype, high)));
            }
            if moments.finites > 0 && !is_time {
                lines.push(("mean", format!("{:?}", moments.mean)));
                lines.push(("std", format!("{:?}", moments.deviation())));
            } else if moments.finites > 0 {
                lines.push(("mean", shown(dtype, Number::Int(moments.whole_mean()))));
            }
        }
        for (label, text) in lines {
            writeln!(output, "  {label:<12} {}", escape(&text))?;
        }
        if let Some(bins) = &column.bins {
            print_bins(output, dtype, bins, style)?;
        }
    }
    Ok(())
}

fn print_bins(output: &mut impl Write, dtype: &Dtype, bins: &Bins, style: Style) -> Outcome {
    let most = bins.counts.iter().max().copied().unwrap_or(0).max(1);
    let start = |bin| {
        let text = match bins.start(bin) {
            Number::Float(number) => {
                let rounded = format!("{number:.4e}").parse().ok();
                // The largest number would become an infinity.
                format!("{:?}", rounded.filter(|number: &f64| number.is_finite()).unwrap_or(number))
            }
            number => shown(dtype, number),
        };
        escape(&text).into_owned()
    };
    let starts: Vec<String> = (0..bins.counts.len()).map(start).collect();
    let width = starts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let digits = most.to_string().len();
    for (start, &count) in starts.iter().zip(&bins.counts) {
        // A bin with items has at least one character.
        let len = (count as f64 / most as f64 * BAR as f64).round() as usize;
        let mark = "#".repeat(if count > 0 { len.max(1) } else { 0 });
        let line = format!("  {start:>width$} {count:>digits$} {}", style.faint(&mark));
        writeln!(output, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_large_floats_is_finite() {
        for (floats, mean) in
            [(vec![f64::MAX; 3], f64::MAX), (vec![f64::MAX, f64::MAX, -f64::MAX, -f64::MAX], 0.0)]
        {
            let all = Moments::of(&Numbers::Floats(floats.clone()));
            assert_eq!(all.mean, mean);
            let mut merged = Moments::default();
            for float in floats {
                merged.merge(&Moments::of(&Numbers::Floats(vec![float])));
            }
            assert!((merged.mean - mean).abs() <= f64::MAX * 1e-15, "{}", merged.mean);
        }
    }

    #[test]
    fn bins_of_integers_are_exact() {
        for width in 1..=400 {
            for bins in 1..=100 {
                let range = IntRange::new(-7, width - 8, bins);
                let expected = |number: i128| (number * bins as i128 / width) as usize;
                for number in 0..width {
                    assert_eq!(range.bin_of(number - 7), expected(number), "{width} {bins}");
                }
                for bin in 0..bins {
                    let start = range.start(bin) + 7;
                    assert!(expected(start) >= bin, "{width} {bins}");
                    assert!(start == 0 || expected(start - 1) < bin, "{width} {bins}");
                }
            }
        }
    }

    #[test]
    fn bins_of_the_largest_integers_are_exact() {
        let (low, high) = (i64::MIN.into(), i64::MAX.into());
        for bins in [1, 3, 20, usize::from(u16::MAX)] {
            let range = IntRange::new(low, high, bins);
            assert_eq!((range.bin_of(low), range.bin_of(high)), (0, bins - 1));
            for bin in 1..bins {
                let start = range.start(bin);
                assert_eq!((range.bin_of(start - 1), range.bin_of(start)), (bin - 1, bin));
            }
        }
        let range = IntRange::new(0, u64::MAX.into(), 2);
        assert_eq!(range.start(1), 1 << 63);
    }

    #[test]
    fn starts_and_counts_of_integers_agree() {
        let bins = |last: i64, bins: usize| {
            let mut bins = Bins::new((Number::Int(0), Number::Int(last.into())), bins);
            let numbers = Numbers::Ints((0..=i128::from(last)).collect(), 0);
            let mut counts = bins.counts.clone();
            bins.count(&numbers, &mut counts);
            bins.counts = counts;
            bins
        };
        assert!(matches!(bins(99, 20).start(11), Number::Int(55)));
        assert!(matches!(bins(359, 20).start(11), Number::Int(198)));
        assert_eq!(bins(22, 23).counts, [1; 23]);
        assert_eq!(bins(48, 49).counts, [1; 49]);
    }
}
