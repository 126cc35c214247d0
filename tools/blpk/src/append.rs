//! `append`.

use crate::args::Call;
use crate::error::{Failure, error};
use crate::io::{self, EXTENSION, FileArg, Input};
use crate::log::{Level, Logger};
use crate::progress::{ProgressReader, bar};
use crate::show;
use crate::trace::{self, Chunks, Operation};
use ferroblosc_formats::bloscpack::{
    self, AppendArgs, Appended, BloscArgs, DEFAULT_CHUNK_SIZE, Shuffle, check_complete,
    check_different, double_pretty_size,
};
use ferroblosc_formats::blpk::{Archive, Checksum, Header, MetadataSection};
use std::path::Path;
use std::time::Instant;

pub fn run(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let raw_input = call.flag("raw-input");
    let required: &[&str] =
        if raw_input { &["<original_file>"] } else { &["<original_file>", "<new_file>"] };
    let names = call.files(required, 0)?;
    let original = FileArg::Path(names[0].into());
    let new = if raw_input { FileArg::Stdio } else { FileArg::named(names[1]) };
    let blosc = call.blosc()?;
    let mut args = AppendArgs {
        typesize: call.typesize()?,
        clevel: blosc.clevel,
        shuffle: blosc.shuffle,
        codec: blosc.codec,
        nthreads: call.globals.nthreads,
        ..AppendArgs::default()
    };
    show_arguments(call, logger, &args, (&original, &new));
    io::log_start(call, logger, "append");
    if !call.flag("no-check-extension") && !original.shown().ends_with(EXTENSION) {
        let text = format!("original file '{}' does not end with '{EXTENSION}'", original.shown());
        return Err(error(text));
    }
    original.check_exists("original file")?;
    new.check_exists("new file")?;
    let FileArg::Path(path) = &original else {
        return Err(error("cannot append to standard output"));
    };
    if let Some(new) = new.path() {
        check_different(path, new)?;
    }
    logger.verbose(&format!("original file is: '{}'", original.shown()));
    logger.verbose(&format!("new file is: '{}'", new.shown()));
    args.metadata = io::given_metadata(call)?;
    let Input { reader, size } = Input::open(&new)?;
    let before = std::fs::metadata(path)?.len();
    logger.verbose(&format!("orig file size before append: {}", double_pretty_size(before)));
    if let Some(size) = size {
        logger.verbose(&format!("new file size: {}", double_pretty_size(size)));
    }
    let start = Instant::now();
    let shown = if logger.level() >= Level::Verbose { Original::show(logger, path) } else { None };
    let is_rebuilt = shown.as_ref().is_some_and(|shown| !shown.has_data());
    if let (Some(shown), Some(size)) = (&shown, size) {
        shown.show_chunking(logger, size);
    }
    // The message of Bloscpack differs from that of `compress`.
    if args.typesize.is_some_and(|size| !(1..=255).contains(&size)) {
        return Err(error("typesize can only be in the 1-255 range."));
    }
    let bar = bar(logger, size);
    let reader = ProgressReader { reader, bar: bar.clone() };
    let mut chunks = Chunks {
        logger,
        checksum: shown.as_ref().map_or(Checksum::None, |shown| shown.header.checksum),
        work: if is_rebuilt { Operation::Compress } else { Operation::Append },
        args: None,
    };
    let appended = bloscpack::append(path, reader, size, &args, &mut chunks);
    bar.finish_and_clear();
    let appended = appended?;
    if logger.level() >= Level::Verbose {
        if let (Some(shown), None) = (&shown, size) {
            shown.show_chunking(logger, appended.appended);
        }
        show_appended(logger, path, shown.as_ref(), is_rebuilt, (&args, &appended))?;
    }
    show::elapsed(logger, start, appended.appended);
    logger.verbose("done");
    Ok(())
}

/// The container before the append, for the lines of `-v` and `-d`.
struct Original {
    header: Header,
    metadata: Option<MetadataSection>,
}

impl Original {
    /// Reads and shows the container. Returns none on errors, which [`bloscpack::append`] reports.
    fn show(logger: &Logger, path: &Path) -> Option<Original> {
        // Pipes and devices cannot be read twice.
        if !path.is_file() {
            return None;
        }
        check_complete(path).ok()?;
        trace::raw_header(logger, path);
        let mut archive = Archive::open(io::open_regular(path).ok()?).ok()?;
        let header = *archive.header();
        trace::read_header(logger, &header, archive.metadata());
        trace::read_offsets(logger, &mut archive).ok()?;
        if header.offsets
            && let Some(last) = header.nchunks.and_then(|nchunks| nchunks.checked_sub(1))
        {
            trace::chunk_header(logger, &archive.locate(last).ok()?.chunk.header);
        }
        Some(Original { header, metadata: archive.metadata().cloned() })
    }

    /// Whether there is data. Without data, the append writes the container again.
    fn has_data(&self) -> bool {
        self.header.plain_size() != Some(0)
    }

    /// Shows the chunks for the bytes of `size` that do not fit into the last chunk.
    fn show_chunking(&self, logger: &Logger, size: u64) {
        let header = &self.header;
        let (rest, chunk_size) = match (header.offsets, header.chunk_size, header.last_chunk) {
            _ if !self.has_data() => (size, DEFAULT_CHUNK_SIZE),
            (true, Some(chunk_size), Some(last)) => {
                let rest = size.saturating_sub(u64::from(chunk_size - last));
                (rest, chunk_size.into())
            }
            // Nothing can be appended.
            _ => return,
        };
        // The append reports invalid sizes.
        let _ = trace::chunking(logger, rest, chunk_size);
    }
}

fn show_arguments(
    call: &Call,
    logger: &Logger,
    args: &AppendArgs,
    (original, new): (&FileArg, &FileArg),
) {
    let mut arguments = call.common_arguments();
    let typesize = args.typesize.unwrap_or(BloscArgs::default().typesize);
    let is_unchecked = call.flag("no-check-extension");
    arguments.extend([
        ("clevel", args.clevel.to_string()),
        ("cname", args.codec.name().to_owned()),
        ("metadata", call.text("metadata").unwrap_or("None").to_owned()),
        ("new_file", new.shown()),
        ("no_check_extension", show::truth(is_unchecked).to_owned()),
        ("original_file", original.shown()),
        ("shuffle", show::truth(args.shuffle != Shuffle::None).to_owned()),
        ("typesize", typesize.to_string()),
    ]);
    trace::arguments(logger, &mut arguments);
}

/// Shows the container after the append.
fn show_appended(
    logger: &Logger,
    path: &Path,
    original: Option<&Original>,
    is_rebuilt: bool,
    (args, appended): (&AppendArgs, &Appended),
) -> Result<(), Failure> {
    let header = &appended.header;
    let mut archive = Archive::open(io::open_regular(path)?)?;
    if !is_rebuilt {
        trace::written_header(logger, header);
        if appended.new_chunks > 0 {
            let offsets = archive.offsets()?.unwrap_or_default();
            trace::written_offsets(logger, offsets.iter().map(|offset| offset.unsigned_abs()));
        }
    }
    logger.verbose(&format!(
        "orig file size after append: {}",
        double_pretty_size(appended.new_size)
    ));
    let grown = appended.new_size as f64 - appended.old_size as f64;
    let ratio = match appended.appended {
        0 => 0.0,
        appended => grown / appended as f64,
    };
    logger.verbose(&format!("Approximate compression ratio of appended data: {ratio:.6}"));
    if let (Some(value), Some(original), Some(section)) =
        (&args.metadata, original, archive.metadata())
    {
        trace::raw_header(logger, path);
        trace::read_header(logger, header, original.metadata.as_ref());
        trace::written_metadata(logger, section, value, &args.metadata_args);
    }
    Ok(())
}
