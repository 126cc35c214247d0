//! `compress` and `decompress`.

use crate::cli::{Cli, CompressArgs, DecompressArgs};
use crate::place::{Input, Output, STANDARD, to_standard_output};
use crate::voice::{Failure, Outcome};
use ferroblosc::convert::{self, Reading};
use ferroblosc::io::named::NamedFile;
use ferroblosc_tools_common::progress::{self, bar};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The ending of compressed files.
const ENDING: &str = ".b2frame";

pub fn compress(args: &CompressArgs, cli: &Cli) -> Outcome {
    let writing = args.settings.writing(cli)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STANDARD) => PathBuf::from(STANDARD),
        None => {
            let mut name = args.input.clone().into_os_string();
            name.push(ENDING);
            name.into()
        }
    };
    let output = Output::new(&output, args.settings.force)?;
    let (mut reader, size): (Box<dyn Read>, _) = match args.input == Path::new(STANDARD) {
        true => (Box::new(std::io::stdin().lock()), None),
        false => {
            let file = NamedFile::open(&args.input)?;
            let blame = |error| Failure::from(error).at(&args.input);
            let metadata = file.file().metadata().map_err(blame)?;
            if metadata.is_dir() {
                let shown = args.input.display();
                return Err(
                    Failure::new(format!("{shown}: this is a directory")).advise(format!(
                        "'tar c {shown} | b2 compress - OUT' packs all that is in it"
                    )),
                );
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        }
    };
    let bar = bar(!cli.quiet, size);
    let mut counted = progress::Reading {
        reader: &mut reader,
        bar: bar.clone(),
    };
    let place = (output.path(), args.settings.directory);
    let compressed = convert::compress(&mut counted, args.typesize.into(), place, &writing);
    bar.finish_and_clear();
    compressed.map_err(|error| output.blame(Failure::from(error).at(&args.input)))?;
    output.commit()
}

pub fn decompress(args: &DecompressArgs, cli: &Cli) -> Outcome {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.input == Path::new(STANDARD) => PathBuf::from(STANDARD),
        None => {
            let name = args.input.to_string_lossy();
            match name.strip_suffix(ENDING).filter(|name| !name.is_empty()) {
                Some(name) => PathBuf::from(name),
                None => {
                    return Err(
                        Failure::usage(format!("'{name}' does not end with {ENDING}"))
                            .advise("name the output, or '-' for standard output"),
                    );
                }
            }
        }
    };
    let input = Input::new(&args.input)?;
    let found = input.detect()?;
    let reading = Reading {
        column: None,
        nthreads: cli.nthreads(),
    };
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.blame(error))?;
    let bar = bar(!cli.quiet, Some(source.content().nbytes));
    let mut progress = |bytes| bar.inc(bytes);
    let written = if output == Path::new(STANDARD) {
        // Bytes go from front to back, so a pipe gets them as they come.
        let mut pipe = std::io::stdout().lock();
        let mut pipe = ToPipe(&mut pipe);
        convert::write_to(source.as_mut(), &mut pipe, &mut progress)
            .map(|()| None)
            .map_err(|error| input.blame(error))
    } else {
        let output = Output::new(&output, args.force)?;
        let file =
            NamedFile::create(output.path()).map_err(|error| output.blame(Failure::from(error)))?;
        let mut writer = BufWriter::with_capacity(256 << 10, file);
        match convert::write_to(source.as_mut(), &mut writer, &mut progress) {
            Ok(()) => Ok(Some(output)),
            Err(error) => Err(output.blame(input.blame(error))),
        }
    };
    bar.finish_and_clear();
    match written? {
        Some(output) => output.commit(),
        None => Ok(()),
    }
}

/// Standard output, which its errors name.
struct ToPipe<'w, W>(&'w mut W);

impl<W: Write> Write for ToPipe<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes).map_err(to_standard_output)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush().map_err(to_standard_output)
    }
}
