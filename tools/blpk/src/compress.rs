//! `compress`.

use crate::args::Call;
use crate::error::Failure;
use crate::io::{self, EXTENSION, FileArg, Input};
use crate::log::Logger;
use crate::progress::{ProgressReader, bar, standard_output};
use crate::show;
use crate::trace::{self, Chunks, Operation};
use crate::usage::UsageError;
use ferroblosc::io::paths;
use ferroblosc_formats::bloscpack::{
    self, BloscpackArgs, MetadataArgs, PackArgs, Packed, Reserve, check_different,
    double_pretty_size,
};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub fn run(call: &Call, logger: &Logger) -> Result<(), Failure> {
    let (input, output) = io::named(call)?;
    let mut args = pack_args(call)?;
    show_arguments(call, logger, &args, (&input, output.as_ref()));
    io::log_start(call, logger, "compression");
    let output = io::output(call, &input, output, |input| Ok(paths::with_text(input, EXTENSION)))?;
    io::check(call, logger, &input, &output)?;
    if let (Some(metadata), Some(output)) = (call.text("metadata"), output.path()) {
        check_different(Path::new(metadata), output)?;
    }
    args.metadata = io::given_metadata(call)?;
    let start = Instant::now();
    let packed = pack(call, logger, &args, (&input, &output))?;
    if packed.header.offsets {
        trace::written_offsets(logger, packed.offsets.iter().copied());
    }
    let ratio = packed.input_size as f64 / packed.output_size as f64;
    logger.verbose(&format!("output file size: {}", double_pretty_size(packed.output_size)));
    logger.verbose(&format!("compression ratio: {ratio:.6}"));
    show::elapsed(logger, start, packed.input_size);
    logger.verbose("done");
    Ok(())
}

fn pack(
    call: &Call,
    logger: &Logger,
    args: &PackArgs,
    (input, output): (&FileArg, &FileArg),
) -> Result<Packed, Failure> {
    let Input { reader, size } = Input::open(input)?;
    let is_array = call.flag("npy");
    if let Some(size) = size {
        logger.verbose(&format!("input file size: {}", double_pretty_size(size)));
        // The chunks of an array depend on its header.
        if !is_array {
            trace::chunking(logger, size, args.chunk_size)?;
        }
    }
    let has_offsets = output.path().is_some() && (size.is_some() || is_array);
    if matches!(args.bloscpack.max_app_chunks, Reserve::Exactly(1..)) && !has_offsets {
        let reason = "--max-app-chunks: a file from or to a pipe has no offsets, and no chunks can be appended";
        return Err(UsageError::Value(reason.to_owned()).into());
    }
    let bar = bar(logger, size);
    let reader = ProgressReader { reader, bar: bar.clone() };
    let mut chunks = Chunks {
        logger,
        checksum: args.bloscpack.checksum,
        work: Operation::Compress,
        args: Some(args),
    };
    trace::pack_arguments(logger, args);
    let packed = match output {
        FileArg::Path(path) if is_array => bloscpack::pack_npy(reader, path, args, &mut chunks),
        FileArg::Path(path) => bloscpack::pack_to_file(reader, size, path, args, &mut chunks),
        FileArg::Stdio if is_array => {
            return Err(crate::error::error("--npy requires use of <out_file>"));
        }
        FileArg::Stdio => {
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
        logger.verbose(&format!("input file size: {}", double_pretty_size(packed.input_size)));
        trace::chunking(logger, packed.input_size, args.chunk_size)?;
    }
    Ok(packed)
}

fn pack_args(call: &Call) -> Result<PackArgs, Failure> {
    let defaults = BloscpackArgs::default();
    let max_app_chunks = call.count("max-app-chunks", "--max-app-chunks")?;
    let reserve = call.size("reserve", "--reserve", "--reserve")?;
    if max_app_chunks.is_some() && call.flag("no-offsets") {
        let reason = "--max-app-chunks: without offsets, no chunks can be appended";
        return Err(UsageError::Value(reason.to_owned()).into());
    }
    if reserve.is_some() && call.text("metadata").is_none() {
        let reason = "--reserve: there are no metadata, see --metadata";
        return Err(UsageError::Value(reason.to_owned()).into());
    }
    if reserve.is_some_and(|size| size > u32::MAX.into()) {
        let reason = format!("--reserve must be <= {}", u32::MAX);
        return Err(UsageError::Value(reason).into());
    }
    Ok(PackArgs {
        chunk_size: call.chunk_size()?,
        metadata: None,
        blosc: call.blosc()?,
        bloscpack: BloscpackArgs {
            offsets: !call.flag("no-offsets"),
            checksum: call.checksum()?,
            max_app_chunks: max_app_chunks.map_or(defaults.max_app_chunks, Reserve::Exactly),
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
    logger: &Logger,
    args: &PackArgs,
    (input, output): (&FileArg, Option<&FileArg>),
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
        ("metadata", call.text("metadata").unwrap_or("None").to_owned()),
        ("offsets", show::truth(args.bloscpack.offsets).to_owned()),
        ("out_file", io::or_none(output)),
        ("shuffle", show::truth(shuffled).to_owned()),
        ("typesize", args.blosc.typesize.to_string()),
    ]);
    trace::arguments(logger, &mut arguments);
}
