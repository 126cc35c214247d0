//! `append`.

use crate::files::{self, EXTENSION, Input, Place};
use crate::progress::{Reading, bar};
use crate::show;
use crate::trace::{self, Chunks, Work};
use crate::voice::{Failure, Level, Voice, error};
use crate::words::Call;
use ferroblosc::bloscpack::{
    self, AppendArgs, Appended, BloscArgs, DEFAULT_CHUNK_SIZE, Shuffle, check_complete,
    check_different, double_pretty_size,
};
use ferroblosc::blpk::{Archive, Checksum, Header, MetadataSection};
use std::path::Path;
use std::time::Instant;

pub fn run(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let raw_input = call.flag("raw-input");
    let required: &[&str] = match raw_input {
        true => &["<original_file>"],
        false => &["<original_file>", "<new_file>"],
    };
    let names = call.files(required, 0)?;
    let original = Place::File(names[0].into());
    let new = match raw_input {
        true => Place::Standard,
        false => Place::named(names[1]),
    };
    let blosc = call.blosc()?;
    let mut args = AppendArgs {
        typesize: call.typesize()?,
        clevel: blosc.clevel,
        shuffle: blosc.shuffle,
        codec: blosc.codec,
        nthreads: call.globals.nthreads,
        ..AppendArgs::default()
    };
    show_arguments(call, voice, &args, (&original, &new));
    files::get_ready(call, voice, "append");
    if !call.flag("no-check-extension") && !original.shown().ends_with(EXTENSION) {
        let text = format!(
            "original file '{}' does not end with '{EXTENSION}'",
            original.shown()
        );
        return Err(error(text));
    }
    original.check_exists("original file")?;
    new.check_exists("new file")?;
    let Place::File(path) = &original else {
        return Err(error("nothing can be appended to standard output"));
    };
    if let Some(new) = new.path() {
        check_different(path, new)?;
    }
    voice.verbose(&format!("original file is: '{}'", original.shown()));
    voice.verbose(&format!("new file is: '{}'", new.shown()));
    args.metadata = call.metadata()?;
    let Input { reader, size } = Input::open(&new)?;
    let before = std::fs::metadata(path)?.len();
    voice.verbose(&format!(
        "orig file size before append: {}",
        double_pretty_size(before)
    ));
    if let Some(size) = size {
        voice.verbose(&format!("new file size: {}", double_pretty_size(size)));
    }
    let start = Instant::now();
    let shown = if voice.level() >= Level::Verbose {
        Original::show(voice, path)
    } else {
        None
    };
    let is_rebuilt = shown.as_ref().is_some_and(|shown| !shown.has_data());
    if let (Some(shown), Some(size)) = (&shown, size) {
        shown.show_chunking(voice, size)?;
    }
    // Bloscpack has another error for these than for those of `compress`.
    if args.typesize.is_some_and(|size| !(1..=255).contains(&size)) {
        return Err(error("typesize can only be in the 1-255 range."));
    }
    let bar = bar(voice, size);
    let reader = Reading {
        reader,
        bar: bar.clone(),
    };
    let mut chunks = Chunks {
        voice,
        checksum: shown
            .as_ref()
            .map_or(Checksum::None, |shown| shown.header.checksum),
        work: if is_rebuilt {
            Work::Compress
        } else {
            Work::Append
        },
        args: None,
    };
    let appended = bloscpack::append(path, reader, size, &args, &mut chunks);
    bar.finish_and_clear();
    let appended = appended?;
    if voice.level() >= Level::Verbose {
        if let (Some(shown), None) = (&shown, size) {
            shown.show_chunking(voice, appended.appended)?;
        }
        show_appended(voice, path, shown.as_ref(), is_rebuilt, (&args, &appended))?;
    }
    show::elapsed(voice, start, appended.appended);
    voice.verbose("done");
    Ok(())
}

/// The container before anything is appended, for the lines of `-v` and `-d`.
struct Original {
    header: Header,
    metadata: Option<MetadataSection>,
}

impl Original {
    /// Reads and shows the container. Errors are left to [`bloscpack::append`], which finds them again.
    fn show(voice: &Voice, path: &Path) -> Option<Original> {
        check_complete(path).ok()?;
        trace::raw_header(voice, path);
        let mut archive = Archive::open(files::open(path).ok()?).ok()?;
        let header = *archive.header();
        trace::read_header(voice, &header, archive.metadata());
        trace::read_offsets(voice, &mut archive).ok()?;
        if header.offsets
            && let Some(last) = header.nchunks.and_then(|nchunks| nchunks.checked_sub(1))
        {
            trace::chunk_header(voice, &archive.place(last).ok()?.chunk.header);
        }
        Some(Original {
            header,
            metadata: archive.metadata().cloned(),
        })
    }

    /// Whether there is data, so that chunks are added and not made again.
    fn has_data(&self) -> bool {
        self.header.plain_size() != Some(0)
    }

    /// Shows the chunks that are made of `size` bytes, of which the first go into the last chunk.
    fn show_chunking(&self, voice: &Voice, size: u64) -> Result<(), Failure> {
        if !self.has_data() {
            return trace::chunking(voice, size, DEFAULT_CHUNK_SIZE);
        }
        let (true, Some(chunk_size), Some(last)) = (
            self.header.offsets,
            self.header.chunk_size,
            self.header.last_chunk,
        ) else {
            // Nothing can be appended.
            return Ok(());
        };
        let rest = size.saturating_sub(u64::from(chunk_size - last));
        trace::chunking(voice, rest, chunk_size.into())
    }
}

fn show_arguments(
    call: &Call,
    voice: &Voice,
    args: &AppendArgs,
    (original, new): (&Place, &Place),
) {
    let mut arguments = call.common_arguments();
    let typesize = args.typesize.unwrap_or(BloscArgs::default().typesize);
    let is_unchecked = call.flag("no-check-extension");
    arguments.extend([
        ("clevel", args.clevel.to_string()),
        ("cname", args.codec.name().to_owned()),
        (
            "metadata",
            call.text("metadata").unwrap_or("None").to_owned(),
        ),
        ("new_file", new.shown()),
        ("no_check_extension", show::truth(is_unchecked).to_owned()),
        ("original_file", original.shown()),
        (
            "shuffle",
            show::truth(args.shuffle != Shuffle::None).to_owned(),
        ),
        ("typesize", typesize.to_string()),
    ]);
    trace::arguments(voice, &mut arguments);
}

/// Shows the container after something was appended.
fn show_appended(
    voice: &Voice,
    path: &Path,
    original: Option<&Original>,
    is_rebuilt: bool,
    (args, appended): (&AppendArgs, &Appended),
) -> Result<(), Failure> {
    let header = &appended.header;
    let mut archive = Archive::open(files::open(path)?)?;
    if !is_rebuilt {
        trace::written_header(voice, header);
        if appended.new_chunks > 0 {
            let offsets = archive.offsets()?.unwrap_or_default();
            trace::written_offsets(voice, offsets.iter().map(|offset| offset.unsigned_abs()));
        }
    }
    voice.verbose(&format!(
        "orig file size after append: {}",
        double_pretty_size(appended.new_size)
    ));
    let grown = appended.new_size as f64 - appended.old_size as f64;
    let ratio = match appended.appended {
        0 => 0.0,
        appended => grown / appended as f64,
    };
    voice.verbose(&format!(
        "Approximate compression ratio of appended data: {ratio:.6}"
    ));
    if let (Some(value), Some(original), Some(section)) =
        (&args.metadata, original, archive.metadata())
    {
        trace::raw_header(voice, path);
        trace::read_header(voice, header, original.metadata.as_ref());
        trace::written_metadata(voice, section, value, &args.metadata_args);
    }
    Ok(())
}
