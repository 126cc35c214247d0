//! `compress` and `decompress`.

use crate::cli::{Cli, CompressArgs, DecompressArgs};
use crate::error::{Failure, Outcome};
use crate::io::{Input, Output, STDIO, name_stdout};
use ferroblosc::io::named::NamedFile;
use ferroblosc_formats::convert::{self, Reading};
use ferroblosc_tools_common::progress::{self, bar};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The extension of compressed files.
const EXTENSION: &str = ".b2frame";

pub fn compress(args: &CompressArgs, cli: &Cli) -> Outcome {
    let writing = args.settings.writing(cli)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STDIO) => PathBuf::from(STDIO),
        None => {
            let mut name = args.input.clone().into_os_string();
            name.push(EXTENSION);
            name.into()
        }
    };
    let output = Output::new(&output, args.settings.force)?;
    let (mut reader, size): (Box<dyn Read>, _) = if args.input == Path::new(STDIO) {
        (Box::new(std::io::stdin().lock()), None)
    } else {
        let file = NamedFile::open(&args.input)?;
        let at_path = |error| Failure::from(error).at(&args.input);
        let metadata = file.file().metadata().map_err(at_path)?;
        if metadata.is_dir() {
            let shown = args.input.display();
            return Err(Failure::new(format!("{shown}: is a directory"))
                .with_hint(format!("'tar c {shown} | b2 compress - OUT' compresses its files")));
        }
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    let bar = bar(!cli.quiet, size);
    let mut counted = progress::ProgressReader { reader: &mut reader, bar: bar.clone() };
    let target = (output.path(), args.settings.directory);
    let compressed = convert::compress(&mut counted, args.typesize.into(), target, &writing);
    bar.finish_and_clear();
    compressed.map_err(|error| output.error(Failure::from(error).at(&args.input)))?;
    output.commit()
}

pub fn decompress(args: &DecompressArgs, cli: &Cli) -> Outcome {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STDIO) => PathBuf::from(STDIO),
        None => {
            let name = args.input.to_string_lossy();
            match name.strip_suffix(EXTENSION).filter(|name| !name.is_empty()) {
                Some(name) => PathBuf::from(name),
                None => {
                    return Err(Failure::usage(format!("'{name}' does not end with {EXTENSION}"))
                        .with_hint("set OUT, or '-' for standard output"));
                }
            }
        }
    };
    let input = Input::new(&args.input)?;
    let found = input.detect()?;
    let reading = Reading { column: None, nthreads: cli.nthreads() };
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.error(error))?;
    let bar = bar(!cli.quiet, Some(source.content().nbytes));
    let mut progress = |bytes| bar.inc(bytes);
    let written = if output == Path::new(STDIO) {
        // Bytes are written sequentially, without a temporary file.
        let mut pipe = std::io::stdout().lock();
        let mut pipe = NamedStdout(&mut pipe);
        convert::write_to(source.as_mut(), &mut pipe, &mut progress)
            .map(|()| None)
            .map_err(|error| input.error(error))
    } else {
        let output = Output::new(&output, args.force)?;
        let file =
            NamedFile::create(output.path()).map_err(|error| output.error(Failure::from(error)))?;
        let mut writer = BufWriter::with_capacity(256 << 10, file);
        match convert::write_to(source.as_mut(), &mut writer, &mut progress) {
            Ok(()) => Ok(Some(output)),
            Err(error) => Err(output.error(input.error(error))),
        }
    };
    bar.finish_and_clear();
    match written? {
        Some(output) => output.commit(),
        None => Ok(()),
    }
}

/// Standard output, named in its errors.
struct NamedStdout<'w, W>(&'w mut W);

impl<W: Write> Write for NamedStdout<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes).map_err(name_stdout)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(name_stdout)
    }
}
