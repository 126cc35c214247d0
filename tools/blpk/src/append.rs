//! `append`.

use crate::files::{self, EXTENSION, Input, Place};
use crate::progress::{Reading, bar};
use crate::show::{self, Chunks, Work};
use crate::voice::{Failure, Voice, error};
use crate::words::Call;
use ferroblosc::bloscpack::{self, AppendArgs, Appended, check_different, double_pretty_size};
use ferroblosc::blpk::Checksum;
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
    let bar = bar(voice, size);
    let reader = Reading {
        reader,
        bar: bar.clone(),
    };
    let mut chunks = Chunks {
        voice,
        checksum: Checksum::None,
        work: Work::Compress,
    };
    let appended = bloscpack::append(path, reader, size, &args, &mut chunks);
    bar.finish_and_clear();
    tell(voice, &appended?, start);
    Ok(())
}

fn tell(voice: &Voice, appended: &Appended, start: Instant) {
    let header = &appended.header;
    if let (1.., Some(last), Some(size)) =
        (appended.new_chunks, header.last_chunk, header.chunk_size)
    {
        // A single chunk is no larger than what is in it.
        let size = if appended.new_chunks == 1 { last } else { size };
        voice.verbose(&format!("nchunks: {}", appended.new_chunks));
        voice.verbose(&format!("chunk_size: {}", double_pretty_size(size.into())));
        voice.verbose(&format!(
            "last_chunk_size: {}",
            double_pretty_size(last.into())
        ));
    }
    voice.debug(&show::header(header));
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
    show::elapsed(voice, start, appended.appended);
    voice.verbose("done");
}
