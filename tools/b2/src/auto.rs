//! `--auto`: the choice of codec, level and filter by measurements of a sample.
//!
//! The sample has at most [`SAMPLE_BYTES`], in chunks that are distributed over the data. The
//! candidates are those of `bench`. For the goal `size` only sizes are compared, so the choice
//! depends on the data alone; for the other goals it also depends on measured times.

use crate::cli::{Cli, CodecName, Goal};
use crate::error::{Failure, Outcome};
use crate::measure::{self, Bench, Figure, Sample, Setting, buffer, sample_offsets};
use crate::style::Style;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::{Compression, Source, Writing};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

/// The maximum size of a sample in bytes.
const SAMPLE_BYTES: u64 = 4 << 20;
/// The size of a chunk of the sample in bytes, unless another one is set.
const CHUNK_BYTES: u64 = 1 << 20;
/// The minimum size of such a chunk, so that the measurements of a sample end in time.
const MIN_CHUNK_BYTES: u64 = 16 << 10;
/// The levels of the candidates.
const LEVELS: [u8; 3] = [1, 5, 9];
/// The time for repeated measurements, and the addition for each MiB of the sample.
const TIME: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(400));

/// The data from which a sample is taken.
pub struct Data<'a> {
    /// The size of the data in bytes.
    pub nbytes: u64,
    /// The size of an item in bytes; sizes above 255 are treated as 1.
    pub typesize: u64,
    /// Fills a buffer with the bytes from an offset.
    pub read: &'a mut dyn FnMut(u64, &mut [u8]) -> Outcome,
}

/// Returns the best setting for a sample; `None` if there are no data.
fn choose(data: Data<'_>, goal: Goal, writing: &Writing) -> Result<Option<Setting>, Failure> {
    let typesize = u8::try_from(data.typesize.max(1)).unwrap_or(1);
    let unit = u64::from(typesize);
    let size = writing.chunk_bytes.unwrap_or(CHUNK_BYTES).clamp(MIN_CHUNK_BYTES, SAMPLE_BYTES);
    let chunk = (size / unit * unit).max(unit);
    let (offsets, len) = sample_offsets(data.nbytes, chunk, SAMPLE_BYTES);
    // At most the size of the sample or of an item.
    let mut bytes = buffer(len as usize)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    for (offset, dest) in offsets.iter().zip(bytes.chunks_mut(chunk as usize)) {
        (data.read)(*offset, dest)?;
    }
    let codecs: Vec<CodecName> = CodecName::all().collect();
    let settings = measure::combinations(&codecs, &measure::common_filters(), &LEVELS);
    let total = TIME.0 + TIME.1.mul_f64(bytes.len() as f64 / f64::from(1 << 20));
    let budget = total / settings.len() as u32;
    let (chunk, nthreads) = (chunk as usize, writing.nthreads);
    let mut bench = Bench::new(Sample { data: &bytes, typesize, chunk, nthreads })?;
    let figures: Vec<Figure> = settings
        .iter()
        .map(|setting| match goal {
            Goal::Size => bench.size(setting),
            Goal::Read | Goal::Write | Goal::Balanced => bench.measure(setting, budget),
        })
        .collect::<Result<_, _>>()?;
    Ok(measure::best(&figures, goal).map(|index| settings[index]))
}

/// Sets codec, level and filter to the best ones for a goal, and prints them if standard error is a
/// terminal. `name` is that of the input or of the output.
pub fn apply(
    data: Data<'_>,
    goal: Goal,
    (name, cli): (&Path, &Cli),
    writing: &mut Writing,
) -> Outcome {
    let Some(setting) = choose(data, goal, writing)? else {
        return Ok(());
    };
    let blocksize = writing.compression.as_ref().map_or(0, |compression| compression.blocksize);
    let mut compression = Compression::default();
    compression.codec = setting.codec.id();
    compression.level = setting.level;
    compression.filters = setting.filters();
    compression.blocksize = blocksize;
    writing.compression = Some(compression);
    if !cli.quiet && std::io::stderr().is_terminal() {
        let name = escape(&name.to_string_lossy()).into_owned();
        let chosen = Style::stderr().bold(&setting.text());
        writeln!(std::io::stderr(), "{name}: {chosen} ({})", goal.purpose())?;
    }
    Ok(())
}

/// Applies the choice for a source, like [`apply`].
pub fn apply_to_source(
    source: &mut dyn Source,
    goal: Goal,
    names: (&Path, &Cli),
    writing: &mut Writing,
) -> Outcome {
    let content = source.content();
    let (nbytes, typesize) = (content.nbytes, content.typesize);
    let mut read = |offset: u64, dest: &mut [u8]| Ok(source.read(offset, dest)?);
    apply(Data { nbytes, typesize, read: &mut read }, goal, names, writing)
}
