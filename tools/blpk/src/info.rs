//! `info`.

use crate::args::Call;
use crate::error::Failure;
use crate::io::{self, FileArg};
use crate::log::Logger;
use crate::show;
use crate::trace;
use ferroblosc_formats::bloscpack::{Metadata, check_complete};
use ferroblosc_formats::blpk::{Archive, Error};
use serde_json::json;
use std::fs::File;

/// The maximum number of offsets to show.
const SHOWN_OFFSETS: usize = 5;

pub fn run(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let path = call.file()?;
    let is_json = call.flag("json");
    if !is_json {
        let mut arguments = call.common_arguments();
        arguments.push(("file_", path.display().to_string()));
        trace::arguments(logger, &mut arguments);
        io::show_threads(call.globals.nthreads, logger);
    }
    FileArg::Path(path.clone()).check_exists("file")?;
    check_complete(&path)?;
    if !is_json && path.is_file() {
        trace::raw_header(logger, &path);
    }
    let mut archive = Archive::open(io::open_regular(&path)?)?;
    let metadata = archive.metadata().map(Metadata::of).transpose()?;
    if is_json {
        let value = as_json(call, &mut archive, metadata.as_ref())?;
        show::print_json(&value);
        return Ok(());
    }
    trace::read_header(logger, archive.header(), archive.metadata());
    trace::read_offsets(logger, &mut archive)?;
    let first = first_chunk(&mut archive)?;
    if let Some(located) = &first {
        trace::chunk_header(logger, &located.chunk.header);
    }
    logger.info(&show::header(archive.header()));
    show_offsets(logger, &mut archive)?;
    if let (Some(metadata), Some(section)) = (&metadata, archive.metadata()) {
        logger.info("Metadata:");
        logger.info(&show::metadata(metadata));
        logger.info(&show::metadata_header(&section.header));
    }
    show_first_chunk(logger, first.as_ref());
    if call.flag("list-chunks") {
        show_chunks(logger, &mut archive)?;
    }
    logger.verbose("done");
    Ok(())
}

fn show_offsets(logger: &Logger, archive: &mut Archive<File>) -> Result<(), Failure> {
    let offsets = archive.offsets()?.unwrap_or_default();
    if offsets.is_empty() {
        return Ok(());
    }
    let shown = offsets.iter().take(SHOWN_OFFSETS);
    let shown: String = shown.map(|offset| format!("{offset},")).collect();
    logger.info("'offsets':");
    logger.info(&format!("[{shown}...]"));
    Ok(())
}

/// Returns the first chunk, if any.
fn first_chunk(
    archive: &mut Archive<File>,
) -> Result<Option<ferroblosc_formats::blpk::ChunkLocation>, Failure> {
    match archive.locate(0) {
        Ok(located) => Ok(Some(located)),
        Err(Error::NoSuchChunk(_)) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn show_first_chunk(logger: &Logger, first: Option<&ferroblosc_formats::blpk::ChunkLocation>) {
    let Some(located) = first else {
        logger.info("There are no chunks");
        return;
    };
    logger.info("First chunk blosc header:");
    logger.info(&show::chunk_header(&located.chunk.header));
    logger.info("First chunk blosc flags: ");
    logger.info(&show::chunk_flags(&located.chunk.header));
}

fn show_chunks(logger: &Logger, archive: &mut Archive<File>) -> Result<(), Failure> {
    logger.info("chunks:");
    for index in 0..archive.nchunks()? {
        let located = archive.locate(index)?;
        let header = &located.chunk.header;
        logger.info(&format!(
            "    {index}: offset: {} nbytes: {} ctbytes: {} codec: '{}'",
            located.position,
            located.chunk.nbytes,
            located.chunk.cbytes,
            show::codec(header),
        ));
    }
    Ok(())
}

fn as_json(
    call: &Call,
    archive: &mut Archive<File>,
    metadata: Option<&Metadata>,
) -> Result<serde_json::Value, Failure> {
    let mut value = json!({
        "header": show::header_json(archive.header()),
        "offsets": archive.offsets()?,
        "metadata": metadata.map(show::metadata_json),
        "metadata_header": archive.metadata().map(|section| show::metadata_header_json(&section.header)),
        "first_chunk": first_chunk(archive)?.map(|located| show::chunk_json(&located.chunk.header)),
    });
    if call.flag("list-chunks") {
        let mut chunks = Vec::new();
        for index in 0..archive.nchunks()? {
            let located = archive.locate(index)?;
            let mut chunk = show::chunk_json(&located.chunk.header);
            chunk["offset"] = located.position.into();
            chunks.push(chunk);
        }
        value["chunks"] = chunks.into();
    }
    Ok(value)
}
