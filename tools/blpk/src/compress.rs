//! `compress`.

use crate::files::{self, EXTENSION, Input, Place};
use crate::progress::{Reading, bar, standard_output};
use crate::show;
use crate::trace::{self, Chunks, Work};
use crate::voice::{Failure, Voice};
use crate::words::Call;
use ferroblosc::bloscpack::{
    self, BloscpackArgs, MetadataArgs, PackArgs, Packed, Reserve, double_pretty_size,
};
use std::io::Write;
use std::time::Instant;

pub fn run(call: &Call, voice: &Voice) -> Result<(), Failure> {
    let (input, output) = files::named(call)?;
    let mut args = pack_args(call)?;
    show_arguments(call, voice, &args, (&input, output.as_ref()));
    files::get_ready(call, voice, "compression");
    let output = files::output(call, &input, output, |name| {
        Ok(Place::File(format!("{name}{EXTENSION}").into()))
    })?;
    files::check(call, voice, &input, &output)?;
    args.metadata = call.metadata()?;
    let start = Instant::now();
    let packed = pack(call, voice, &args, (&input, &output))?;
    if packed.header.offsets {
        trace::written_offsets(voice, packed.offsets.iter().copied());
    }
    let ratio = packed.input_size as f64 / packed.output_size as f64;
    voice.verbose(&format!(
        "output file size: {}",
        double_pretty_size(packed.output_size)
    ));
    voice.verbose(&format!("compression ratio: {ratio:.6}"));
    show::elapsed(voice, start, packed.input_size);
    voice.verbose("done");
    Ok(())
}

fn pack(
    call: &Call,
    voice: &Voice,
    args: &PackArgs,
    (input, output): (&Place, &Place),
) -> Result<Packed, Failure> {
    let Input { reader, size } = Input::open(input)?;
    let is_array = call.flag("npy");
    if let Some(size) = size {
        voice.verbose(&format!("input file size: {}", double_pretty_size(size)));
        // Of an array the chunks are known when its header has been read.
        if !is_array {
            trace::chunking(voice, size, args.chunk_size)?;
        }
    }
    let bar = bar(voice, size);
    let reader = Reading {
        reader,
        bar: bar.clone(),
    };
    let mut chunks = Chunks {
        voice,
        checksum: args.bloscpack.checksum,
        work: Work::Compress,
        args: Some(args),
    };
    trace::pack_arguments(voice, args);
    let packed = match output {
        Place::File(path) if is_array => bloscpack::pack_npy(reader, path, args, &mut chunks),
        Place::File(path) => bloscpack::pack_to_file(reader, size, path, args, &mut chunks),
        Place::Standard if is_array => {
            return Err(crate::voice::error("--npy requires use of <out_file>"));
        }
        Place::Standard => {
            let mut stdout = standard_output();
            let packed = bloscpack::pack_stream(reader, size, &mut stdout, args, &mut chunks);
            packed.and_then(|packed| {
                stdout.flush()?;
                Ok(packed)
            })
        }
    };
    bar.finish_and_clear();
    let packed = packed?;
    if size.is_none() {
        voice.verbose(&format!(
            "input file size: {}",
            double_pretty_size(packed.input_size)
        ));
        trace::chunking(voice, packed.input_size, args.chunk_size)?;
    }
    Ok(packed)
}

fn pack_args(call: &Call) -> Result<PackArgs, Failure> {
    let defaults = BloscpackArgs::default();
    let room = call.count("max-app-chunks", "--max-app-chunks")?;
    let reserve = call.size("reserve", "--reserve", "--reserve")?;
    Ok(PackArgs {
        chunk_size: call.chunk_size()?,
        metadata: None,
        blosc: call.blosc()?,
        bloscpack: BloscpackArgs {
            offsets: !call.flag("no-offsets"),
            checksum: call.checksum()?,
            max_app_chunks: room.map_or(defaults.max_app_chunks, Reserve::Exactly),
        },
        metadata_args: MetadataArgs {
            max_meta_size: reserve.map_or(Reserve::Times(10), Reserve::Exactly),
            ..MetadataArgs::default()
        },
        nthreads: call.globals.nthreads,
    })
}

fn show_arguments(
    call: &Call,
    voice: &Voice,
    args: &PackArgs,
    (input, output): (&Place, Option<&Place>),
) {
    let chunk_size = match call.text("chunk-size") {
        Some(_) => args.chunk_size.to_string(),
        None => "1M".to_owned(),
    };
    let shuffled = args.blosc.shuffle != bloscpack::Shuffle::None;
    let mut arguments = call.common_arguments();
    arguments.extend([
        ("checksum", args.bloscpack.checksum.name().to_owned()),
        ("chunk_size", chunk_size),
        ("clevel", args.blosc.clevel.to_string()),
        ("cname", args.blosc.codec.name().to_owned()),
        ("in_file", input.shown()),
        (
            "metadata",
            call.text("metadata").unwrap_or("None").to_owned(),
        ),
        ("offsets", show::truth(args.bloscpack.offsets).to_owned()),
        ("out_file", show::or_none(output)),
        ("shuffle", show::truth(shuffled).to_owned()),
        ("typesize", args.blosc.typesize.to_string()),
    ]);
    trace::arguments(voice, &mut arguments);
}
