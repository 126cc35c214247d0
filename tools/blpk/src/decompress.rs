//! `decompress`.

use crate::args::Call;
use crate::error::{Failure, error};
use crate::io::{self, EXTENSION, FileArg, Input};
use crate::log::{Level, Logger};
use crate::progress::{ProgressReader, bar, standard_output};
use crate::show;
use crate::trace::{self, Chunks, Operation};
use ferroblosc::io::paths;
use ferroblosc_formats::bloscpack::{
    self, Metadata, Replacement, Unpacked, Unpacking, check_complete, pretty_size,
};
use ferroblosc_formats::blpk::{Archive, MetadataSection, PlainFile};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Instant;

pub fn run(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let is_unchecked = call.flag("no-check-extension");
    let (input, output) = io::named(call)?;
    let mut arguments = call.common_arguments();
    arguments.extend([
        ("in_file", input.shown()),
        ("no_check_extension", show::truth(is_unchecked).to_owned()),
        ("out_file", io::or_none(output.as_ref())),
    ]);
    trace::arguments(logger, &mut arguments);
    io::log_start(call, logger, "decompression");
    let output = io::output(call, &input, output, |input| {
        if is_unchecked {
            return Err(error("--no-check-extension requires use of <out_file>"));
        }
        Ok(without_extension(input)?.to_owned())
    })?;
    if let (Some(input), false) = (input.path(), is_unchecked) {
        without_extension(input)?;
    }
    io::check(call, logger, &input, &output)?;
    if let Some(path) = metadata_path(call) {
        io::check_metadata(call, logger, (&input, &output), path)?;
    }
    let start = Instant::now();
    if let Some(path) = input.path() {
        check_complete(path)?;
    }
    let range = call.pair("range", "--range")?;
    let chunks = call.pair("chunks", "--chunks")?;
    match (range, chunks) {
        (None, None) => decompress_all(call, logger, (&input, &output), start)?,
        (Some(_), Some(_)) => return Err(error("--range and --chunks cannot be used together")),
        (range, chunks) => {
            let path = input.path();
            let path = path.ok_or_else(|| error("--range and --chunks require a file as input"))?;
            if call.flag("npy") {
                return Err(error("--npy cannot be used with --range or --chunks"));
            }
            let mut archive = Archive::open(io::open_regular(path)?)?;
            archive.set_threads(call.globals.nthreads as i32);
            let (first, len) = match (range, chunks) {
                (Some(range), _) => bytes_of_range(&mut archive, range)?,
                (None, chunks) => bytes_of_chunks(&mut archive, chunks.unwrap_or_default())?,
            };
            let saved = metadata_file(call, archive.metadata())?;
            let metadata = saved.as_ref().and(archive.metadata()).map(Metadata::of).transpose()?;
            write_range(archive, (first, len), &output)?;
            logger.verbose(&format!("output file size: {}", pretty_size(len)));
            show::elapsed(logger, start, len);
            save_metadata(saved, &output, metadata.as_ref())?;
        }
    }
    logger.verbose("done");
    Ok(())
}

/// Returns the path without the extension of compressed files, which it must have.
fn without_extension(path: &Path) -> Result<&Path, Failure> {
    paths::without_suffix(path, EXTENSION).ok_or_else(|| {
        error(format!("input file '{}' does not end with '{EXTENSION}'", path.display()))
    })
}

fn decompress_all(
    call: &Call,
    logger: &Logger,
    (input, output): (&FileArg, &FileArg),
    start: Instant,
) -> Result<(), Failure> {
    let Input { reader, size } = Input::open(input)?;
    if let Some(size) = size {
        logger.verbose(&format!("input file size: {}", pretty_size(size)));
    }
    let bar = bar(logger, size);
    let reader = ProgressReader { reader, bar: bar.clone() };
    // Pipes and devices cannot be read twice.
    let file = input.path().filter(|path| path.is_file());
    if let Some(path) = file {
        trace::raw_header(logger, path);
    }
    let unpacking = Unpacking::new(reader, size)?;
    let header = *unpacking.header();
    trace::read_header(logger, &header, unpacking.section());
    if let (Some(path), Level::Debug) = (file, logger.level()) {
        trace::read_offsets(logger, &mut Archive::open(io::open_regular(path)?)?)?;
    }
    let saved = metadata_file(call, unpacking.section())?;
    let mut chunks =
        Chunks { logger, checksum: header.checksum, work: Operation::Decompress, args: None };
    let nthreads = call.globals.nthreads;
    let unpacked = match (output, call.flag("npy")) {
        (FileArg::Path(path), true) => {
            bloscpack::npy_to_file(unpacking, path, nthreads, &mut chunks)
        }
        (FileArg::Path(path), false) => {
            bloscpack::unpack_to_file(unpacking, path, nthreads, &mut chunks)
        }
        (FileArg::Stdio, true) => return Err(error("--npy requires use of <out_file>")),
        (FileArg::Stdio, false) => to_standard_output(unpacking, nthreads, &mut chunks),
    };
    bar.finish_and_clear();
    let unpacked = unpacked?;
    logger.verbose(&format!("output file size: {}", pretty_size(unpacked.output_size)));
    if let Some(size) = size {
        let ratio = unpacked.output_size as f64 / size as f64;
        logger.verbose(&format!("decompression ratio: {ratio:.6}"));
    }
    show::elapsed(logger, start, unpacked.output_size);
    if saved.is_none() {
        show_metadata(logger, &unpacked);
    }
    save_metadata(saved, output, unpacked.metadata.as_ref())
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

/// Returns the path of option `--save-metadata`.
fn metadata_path<'c>(call: &'c Call<'_>) -> Option<&'c Path> {
    call.text("save-metadata").map(Path::new)
}

/// Creates the file of option `--save-metadata`, before the data are written, so that nothing is
/// written if this fails.
fn metadata_file<'c>(
    call: &'c Call<'_>,
    section: Option<&MetadataSection>,
) -> Result<Option<(&'c Path, Replacement)>, Failure> {
    match metadata_path(call) {
        Some(_) if section.is_none() => Err(error("the file has no metadata")),
        Some(path) => Ok(Some((path, Replacement::create(path)?))),
        None => Ok(None),
    }
}

/// Writes the metadata to the file of [`metadata_file`], if there is one.
fn save_metadata(
    saved: Option<(&Path, Replacement)>,
    output: &FileArg,
    metadata: Option<&Metadata>,
) -> Result<(), Failure> {
    let Some((path, mut file)) = saved else {
        return Ok(());
    };
    // File systems may have other rules for equal names.
    io::check_apart(output, path)?;
    match metadata {
        Some(Metadata::Value(value)) => file.file().write_all(value.to_json().as_bytes())?,
        Some(Metadata::Opaque { bytes, .. }) => file.file().write_all(bytes)?,
        None => return Err(error("the file has no metadata")),
    }
    file.commit()?;
    Ok(())
}

/// Shows the metadata.
fn show_metadata(logger: &Logger, unpacked: &Unpacked) {
    match &unpacked.metadata {
        Some(Metadata::Value(value)) if !value.is_truthy() => {}
        Some(metadata) => {
            logger.info("Metadata:");
            logger.info(&show::metadata(metadata));
        }
        None => {}
    }
}

/// Returns the offset and the size of a range of bytes.
fn bytes_of_range(
    archive: &mut Archive<File>,
    (first, len): (u64, Option<u64>),
) -> Result<(u64, u64), Failure> {
    let rest = archive.plain_size()?.saturating_sub(first);
    Ok((first, len.unwrap_or(rest)))
}

/// Returns the offset and the size of the data of some chunks.
fn bytes_of_chunks(
    archive: &mut Archive<File>,
    (first, count): (u64, Option<u64>),
) -> Result<(u64, u64), Failure> {
    let nchunks = archive.nchunks()?;
    if first > nchunks {
        return Err(ferroblosc_formats::blpk::Error::NoSuchChunk(first).into());
    }
    let count = count.unwrap_or(nchunks.saturating_sub(first));
    let Some(last) = first.saturating_add(count).checked_sub(1).filter(|_| count > 0) else {
        return Ok((0, 0));
    };
    let start = archive.locate(first)?.start;
    let last = archive.locate(last)?;
    Ok((start, last.start + u64::from(last.chunk.nbytes) - start))
}

/// Writes `len` bytes from offset `first`.
fn write_range(
    archive: Archive<File>,
    (first, len): (u64, u64),
    output: &FileArg,
) -> Result<(), Failure> {
    let mut plain = PlainFile::new(archive)?;
    let size = plain.len();
    if first.checked_add(len).is_none_or(|end| end > size) {
        let start = first;
        return Err(ferroblosc_formats::blpk::Error::NoSuchRange { start, len, size }.into());
    }
    plain.seek(SeekFrom::Start(first))?;
    let mut plain = plain.take(len);
    match output {
        FileArg::Path(path) => {
            let mut replacement = Replacement::create(path)?;
            std::io::copy(&mut plain, replacement.file())?;
            replacement.commit()?;
        }
        FileArg::Stdio => {
            let mut stdout = standard_output();
            std::io::copy(&mut plain, &mut stdout)?;
            stdout.flush()?;
        }
    }
    Ok(())
}
