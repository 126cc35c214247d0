//! `info`.

use crate::files::{self, Place};
use crate::show;
use crate::trace;
use crate::voice::{Failure, Voice};
use crate::words::Call;
use ferroblosc::bloscpack::{Metadata, check_complete};
use ferroblosc::blpk::{Archive, Error};
use serde_json::json;
use std::fs::File;

/// How many offsets are shown.
const SHOWN_OFFSETS: usize = 5;

pub fn run(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let path = call.file()?;
    let is_json = call.flag("json");
    if !is_json {
        let mut arguments = call.common_arguments();
        arguments.push(("file_", path.display().to_string()));
        trace::arguments(voice, &mut arguments);
        files::show_threads(call.globals.nthreads, voice);
    }
    Place::File(path.clone()).check_exists("file")?;
    check_complete(&path)?;
    if !is_json {
        trace::raw_header(voice, &path);
    }
    let mut archive = Archive::open(files::open(&path)?)?;
    let metadata = archive.metadata().map(Metadata::of).transpose()?;
    if is_json {
        let value = as_json(call, &mut archive, metadata.as_ref())?;
        show::print_json(&value);
        return Ok(());
    }
    trace::read_header(voice, archive.header(), archive.metadata());
    trace::read_offsets(voice, &mut archive)?;
    let first = first_chunk(&mut archive)?;
    if let Some(place) = &first {
        trace::chunk_header(voice, &place.chunk.header);
    }
    voice.say(&show::header(archive.header()));
    tell_offsets(voice, &mut archive)?;
    if let (Some(metadata), Some(section)) = (&metadata, archive.metadata()) {
        voice.say("Metadata:");
        voice.say(&show::metadata(metadata));
        voice.say(&show::metadata_header(&section.header));
    }
    tell_first_chunk(voice, first.as_ref());
    if call.flag("list-chunks") {
        tell_chunks(voice, &mut archive)?;
    }
    voice.verbose("done");
    Ok(())
}

fn tell_offsets(voice: &Voice, archive: &mut Archive<File>) -> Result<(), Failure> {
    let offsets = archive.offsets()?.unwrap_or_default();
    if offsets.is_empty() {
        return Ok(());
    }
    let shown = offsets.iter().take(SHOWN_OFFSETS);
    let shown: String = shown.map(|offset| format!("{offset},")).collect();
    voice.say("'offsets':");
    voice.say(&format!("[{shown}...]"));
    Ok(())
}

/// The first chunk; none when there is none.
fn first_chunk(archive: &mut Archive<File>) -> Result<Option<ferroblosc::blpk::Place>, Failure> {
    match archive.place(0) {
        Ok(place) => Ok(Some(place)),
        Err(Error::NoSuchChunk(_)) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn tell_first_chunk(voice: &Voice, first: Option<&ferroblosc::blpk::Place>) {
    let Some(place) = first else {
        voice.say("There are no chunks");
        return;
    };
    voice.say("First chunk blosc header:");
    voice.say(&show::chunk_header(&place.chunk.header));
    voice.say("First chunk blosc flags: ");
    voice.say(&show::chunk_flags(&place.chunk.header));
}

fn tell_chunks(voice: &Voice, archive: &mut Archive<File>) -> Result<(), Failure> {
    voice.say("chunks:");
    for index in 0..archive.nchunks()? {
        let place = archive.place(index)?;
        let header = &place.chunk.header;
        voice.say(&format!(
            "    {index}: offset: {} nbytes: {} ctbytes: {} codec: '{}'",
            place.position,
            place.chunk.nbytes,
            place.chunk.cbytes,
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
        "first_chunk": first_chunk(archive)?.map(|place| show::chunk_json(&place.chunk.header)),
    });
    if call.flag("list-chunks") {
        let mut chunks = Vec::new();
        for index in 0..archive.nchunks()? {
            let place = archive.place(index)?;
            let mut chunk = show::chunk_json(&place.chunk.header);
            chunk["offset"] = place.position.into();
            chunks.push(chunk);
        }
        value["chunks"] = chunks.into();
    }
    Ok(value)
}
