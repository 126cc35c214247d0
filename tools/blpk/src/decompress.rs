//! `decompress`.

use crate::files::{self, EXTENSION, Input, Place};
use crate::progress::{Reading, bar, standard_output};
use crate::show;
use crate::trace::{self, Chunks, Work};
use crate::voice::{Failure, Level, Voice, error};
use crate::words::Call;
use ferroblosc::bloscpack::{
    self, Metadata, Replacement, Unpacked, Unpacking, check_complete, pretty_size,
};
use ferroblosc::blpk::{Archive, PlainFile};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

pub fn run(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let is_unchecked = call.flag("no-check-extension");
    let (input, output) = files::named(call)?;
    let mut arguments = call.common_arguments();
    arguments.extend([
        ("in_file", input.shown()),
        ("no_check_extension", show::truth(is_unchecked).to_owned()),
        ("out_file", show::or_none(output.as_ref())),
    ]);
    trace::arguments(voice, &mut arguments);
    files::get_ready(call, voice, "decompression");
    let output = files::output(call, &input, output, |name| {
        if is_unchecked {
            return Err(error("--no-check-extension requires use of <out_file>"));
        }
        check_extension(name)?;
        let name = name.strip_suffix(EXTENSION).unwrap_or(name);
        Ok(Place::File(name.into()))
    })?;
    if let (Some(_), false) = (input.path(), is_unchecked) {
        check_extension(&input.shown())?;
    }
    files::check(call, voice, &input, &output)?;
    let start = Instant::now();
    if let Some(path) = input.path() {
        check_complete(path)?;
    }
    let range = call.pair("range", "--range")?;
    let chunks = call.pair("chunks", "--chunks")?;
    match (range, chunks) {
        (None, None) => all(call, voice, (&input, &output), start)?,
        (Some(_), Some(_)) => return Err(error("--range and --chunks exclude each other")),
        (range, chunks) => {
            let path = input.path();
            let path = path.ok_or_else(|| error("a part can be read from a file only"))?;
            let mut archive = Archive::open(files::open(path)?)?;
            archive.set_threads(call.globals.nthreads as i32);
            let (first, len) = match (range, chunks) {
                (Some(range), _) => bytes_of_range(&mut archive, range)?,
                (None, chunks) => bytes_of_chunks(&mut archive, chunks.unwrap_or_default())?,
            };
            part(archive, (first, len), &output)?;
            voice.verbose(&format!("output file size: {}", pretty_size(len)));
            show::elapsed(voice, start, len);
        }
    }
    voice.verbose("done");
    Ok(())
}

fn check_extension(name: &str) -> Result<(), Failure> {
    if name.ends_with(EXTENSION) {
        Ok(())
    } else {
        Err(error(format!(
            "input file '{name}' does not end with '{EXTENSION}'"
        )))
    }
}

fn all(
    call: &Call,
    voice: &Voice,
    (input, output): (&Place, &Place),
    start: Instant,
) -> Result<(), Failure> {
    let Input { reader, size } = Input::open(input)?;
    if let Some(size) = size {
        voice.verbose(&format!("input file size: {}", pretty_size(size)));
    }
    let bar = bar(voice, size);
    let reader = Reading {
        reader,
        bar: bar.clone(),
    };
    if let Some(path) = input.path() {
        trace::raw_header(voice, path);
    }
    let unpacking = Unpacking::new(reader, size)?;
    let header = *unpacking.header();
    trace::read_header(voice, &header, unpacking.section());
    if let (Some(path), Level::Debug) = (input.path(), voice.level()) {
        trace::read_offsets(voice, &mut Archive::open(files::open(path)?)?)?;
    }
    let mut chunks = Chunks {
        voice,
        checksum: header.checksum,
        work: Work::Decompress,
        args: None,
    };
    let nthreads = call.globals.nthreads;
    let unpacked = match (output, call.flag("npy")) {
        (Place::File(path), true) => bloscpack::npy_to_file(unpacking, path, nthreads, &mut chunks),
        (Place::File(path), false) => {
            bloscpack::unpack_to_file(unpacking, path, nthreads, &mut chunks)
        }
        (Place::Standard, true) => return Err(error("--npy requires use of <out_file>")),
        (Place::Standard, false) => to_standard_output(unpacking, nthreads, &mut chunks),
    };
    bar.finish_and_clear();
    let unpacked = unpacked?;
    voice.verbose(&format!(
        "output file size: {}",
        pretty_size(unpacked.output_size)
    ));
    if let Some(size) = size {
        let ratio = unpacked.output_size as f64 / size as f64;
        voice.verbose(&format!("decompression ratio: {ratio:.6}"));
    }
    show::elapsed(voice, start, unpacked.output_size);
    tell_metadata(call, voice, &unpacked)
}

fn to_standard_output(
    unpacking: Unpacking<impl Read + Send>,
    nthreads: usize,
    chunks: &mut Chunks,
) -> bloscpack::Result<Unpacked> {
    let mut stdout = standard_output();
    let unpacked = unpacking.run(&mut stdout, nthreads, chunks)?;
    stdout.flush()?;
    Ok(unpacked)
}

/// Shows the metadata, or writes them to the file that is named for them.
fn tell_metadata(call: &Call, voice: &Voice, unpacked: &Unpacked) -> Result<(), Failure> {
    if let Some(name) = call.text("save-metadata") {
        let Some(metadata) = &unpacked.metadata else {
            return Err(error("there are no metadata to be saved"));
        };
        let bytes = match metadata {
            Metadata::Value(value) => value.to_json().into_bytes(),
            Metadata::Opaque { bytes, .. } => bytes.clone(),
        };
        let path = Path::new(name);
        if path.exists() && !call.globals.force {
            return Err(error(format!("output file '{name}' exists!")));
        }
        let mut replacement = Replacement::create(path)?;
        replacement.file().write_all(&bytes)?;
        replacement.commit()?;
        return Ok(());
    }
    match &unpacked.metadata {
        Some(Metadata::Value(value)) if !value.is_truthy() => {}
        Some(metadata) => {
            voice.say("Metadata:");
            voice.say(&show::metadata(metadata));
        }
        None => {}
    }
    Ok(())
}

/// Where a range of bytes begins, and how long it is.
fn bytes_of_range(
    archive: &mut Archive<File>,
    (first, len): (u64, Option<u64>),
) -> Result<(u64, u64), Failure> {
    let rest = archive.plain_size()?.saturating_sub(first);
    Ok((first, len.unwrap_or(rest)))
}

/// Where the bytes of some chunks begin, and how many there are.
fn bytes_of_chunks(
    archive: &mut Archive<File>,
    (first, count): (u64, Option<u64>),
) -> Result<(u64, u64), Failure> {
    let nchunks = archive.nchunks()?;
    let count = count.unwrap_or(nchunks.saturating_sub(first));
    let Some(last) = first
        .saturating_add(count)
        .checked_sub(1)
        .filter(|_| count > 0)
    else {
        return Ok((0, 0));
    };
    let start = archive.place(first)?.start;
    let last = archive.place(last)?;
    Ok((start, last.start + u64::from(last.chunk.nbytes) - start))
}

/// Writes so many bytes from there on.
fn part(archive: Archive<File>, (first, len): (u64, u64), output: &Place) -> Result<(), Failure> {
    let mut plain = PlainFile::new(archive)?;
    let size = plain.len();
    if first.checked_add(len).is_none_or(|end| end > size) {
        let start = first;
        return Err(ferroblosc::blpk::Error::NoSuchRange { start, len, size }.into());
    }
    plain.seek(SeekFrom::Start(first))?;
    let mut plain = plain.take(len);
    match output {
        Place::File(path) => {
            let mut replacement = Replacement::create(path)?;
            std::io::copy(&mut plain, replacement.file())?;
            replacement.commit()?;
        }
        Place::Standard => {
            let mut stdout = standard_output();
            std::io::copy(&mut plain, &mut stdout)?;
            stdout.flush()?;
        }
    }
    Ok(())
}
