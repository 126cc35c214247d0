//! Subcommands, options and their values.

use crate::log::Level;
use crate::show::truth;
use crate::usage::{ALIASES, UsageError, spelled_subcommand, usage_of};
use clap::{Arg, ArgAction, ArgMatches, Command};
use ferroblosc::chunk::SplitMode;
use ferroblosc_formats::bloscpack::{
    BloscArgs, Codec, DEFAULT_CHUNK_SIZE, Shuffle, SizeError, parse_size,
};
use ferroblosc_formats::blpk::Checksum;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The template of help texts, after the usage.
const HELP: &str = "{about}\n\n{all-args}";
/// The maximum number of threads.
const MAX_THREADS: i64 = 256;

/// The options that Bloscpack accepts for each subcommand. Their unique prefixes stay valid, even
/// if an additional option has the same prefix.
const COMPRESS_OPTIONS: [&str; 9] = [
    "help",
    "typesize",
    "clevel",
    "no-shuffle",
    "codec",
    "chunk-size",
    "checksum",
    "no-offsets",
    "metadata",
];
const APPEND_OPTIONS: [&str; 7] =
    ["help", "typesize", "clevel", "no-shuffle", "codec", "no-check-extension", "metadata"];
const DECOMPRESS_OPTIONS: [&str; 2] = ["help", "no-check-extension"];

/// Returns the prefixes of an option that are unique among the options of Bloscpack.
fn prefixes(old: &[&'static str], name: &'static str) -> Vec<&'static str> {
    let is_unique = |prefix: &str| {
        let matching = old.iter().filter(|other| other.starts_with(prefix));
        matching.count() == 1
    };
    (1..name.len()).map(|len| &name[..len]).filter(|prefix| is_unique(prefix)).collect()
}

fn option(old: &[&'static str], short: char, long: &'static str, value: &'static str) -> Arg {
    Arg::new(long)
        .short(short)
        .long(long)
        .aliases(prefixes(old, long))
        .value_name(value)
        .allow_hyphen_values(true)
        .action(ArgAction::Set)
}

fn switch(old: &[&'static str], short: char, long: &'static str) -> Arg {
    Arg::new(long).short(short).long(long).aliases(prefixes(old, long)).action(ArgAction::SetTrue)
}

fn new_option(long: &'static str, value: &'static str) -> Arg {
    Arg::new(long).long(long).value_name(value).allow_hyphen_values(true).action(ArgAction::Set)
}

fn new_switch(long: &'static str) -> Arg {
    Arg::new(long).long(long).action(ArgAction::SetTrue)
}

fn files(names: &[&'static str]) -> Arg {
    Arg::new("files")
        .value_names(names.iter().copied())
        .help("files; '-' is standard input or standard output")
        .num_args(0..)
        .action(ArgAction::Append)
        .value_parser(clap::value_parser!(OsString))
}

/// Adds the options of compression.
fn compression_options(command: Command, old: &[&'static str]) -> Command {
    command
        .arg(option(old, 't', "typesize", "size").help("typesize for blosc (default: 8)"))
        .arg(
            option(old, 'l', "clevel", "[0, 9]")
                .alias("level")
                .help("compression level (default: 7)"),
        )
        .arg(switch(old, 's', "no-shuffle").help("deactivate shuffle"))
        .arg(option(old, 'c', "codec", "codec").help(format!(
            "codec to be used by Blosc: {} (default: blosclz)",
            Codec::names().collect::<Vec<_>>().join(", ")
        )))
        .arg(new_switch("bit-shuffle").help("shuffle the bits of items instead of their bytes"))
}

fn subcommand(name: &'static str, about: &'static str) -> Command {
    let command = Command::new(name)
        .about(about)
        .help_template(HELP)
        .args_override_self(true)
        .infer_long_args(true)
        .override_usage(usage_of(Some(name)).trim_start_matches("usage: ").to_owned());
    let (_, names) =
        ALIASES.iter().find(|(known, _)| *known == name).expect("every subcommand is in the table");
    command.visible_aliases(names.iter().skip(1).copied())
}

/// Returns the parser of the command line.
pub fn command() -> Command {
    let none: &[&'static str] = &[];
    let compress = compression_options(subcommand("compress", "perform compression on file"), &COMPRESS_OPTIONS)
        .arg(option(&COMPRESS_OPTIONS, 'z', "chunk-size", "size").help("set desired chunk size or 'max' (default: 1M)"))
        .arg(option(&COMPRESS_OPTIONS, 'k', "checksum", "checksum").help(
            "set desired checksum: None, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512 (default: adler32)",
        ))
        .arg(switch(&COMPRESS_OPTIONS, 'o', "no-offsets").help("deactivate offsets"))
        .arg(option(&COMPRESS_OPTIONS, 'm', "metadata", "metadata").help("file containing the metadata, must contain valid JSON"))
        .arg(new_option("max-app-chunks", "number").help("number of chunks that can be appended later (default: ten times the number of chunks)"))
        .arg(new_option("reserve", "size").help("bytes reserved for metadata (default: ten times their size)"))
        .arg(new_option("block-size", "size").help("size of a block in bytes (default: chosen by Blosc)"))
        .arg(new_option("split", "mode").help("split mode of blocks: always, never, auto, forward (default: forward)"))
        .arg(new_switch("raw-input").help("read from standard input, like '-' as <in_file>"))
        .arg(new_switch("raw-output").help("write to standard output, like '-' as <out_file>"))
        .arg(new_switch("npy").help("store the array of <in_file>, a .npy file"))
        .arg(files(&["in_file", "out_file"]));
    let decompress =
        subcommand("decompress", "perform decompression on file")
            .arg(switch(&DECOMPRESS_OPTIONS, 'e', "no-check-extension").help(
                "disable checking input file for extension (*.blp) (requires use of <out_file>)",
            ))
            .arg(new_option("range", "start:bytes").help("decompress only these bytes"))
            .arg(new_option("chunks", "first:count").help("decompress only these chunks"))
            .arg(new_option("save-metadata", "file").help("write the metadata to a file"))
            .arg(new_switch("raw-input").help("read from standard input, like '-' as <in_file>"))
            .arg(new_switch("raw-output").help("write to standard output, like '-' as <out_file>"))
            .arg(new_switch("npy").help("write the array as a .npy file"))
            .arg(files(&["in_file", "out_file"]));
    let append = compression_options(
        subcommand("append", "append data to a compressed file"),
        &APPEND_OPTIONS,
    )
    .arg(
        switch(&APPEND_OPTIONS, 'e', "no-check-extension")
            .help("disable checking original file for extension (*.blp)"),
    )
    .arg(
        option(&APPEND_OPTIONS, 'm', "metadata", "metadata")
            .help("file containing the metadata, must contain valid JSON"),
    )
    .arg(new_switch("raw-input").help("read from standard input, like '-' as <new_file>"))
    .arg(files(&["original_file", "new_file"]));
    let info = subcommand("info", "print information about a compressed file")
        .arg(new_switch("json").help("print JSON"))
        .arg(new_switch("list-chunks").help("list the chunks"))
        .arg(files(&["file"]));
    let verify = subcommand(
        "verify",
        "check all chunks, offsets and checksums of a compressed file; exit status 3: damaged",
    )
    .arg(new_switch("json").help("print JSON"))
    .arg(files(&["file"]));
    let estimate = compression_options(
        subcommand(
            "estimate",
            "estimate the compressed size of a file from a sample of its chunks",
        ),
        none,
    )
    .arg(
        option(none, 'z', "chunk-size", "size")
            .help("set desired chunk size or 'max' (default: 1M)"),
    )
    .arg(new_switch("json").help("print JSON"))
    .arg(files(&["in_file"]));
    let bench =
        compression_options(subcommand("bench", "find a suitable chunk size for a file"), none)
            .arg(new_switch("json").help("print JSON"))
            .arg(files(&["in_file"]));
    Command::new("blpk")
        .help_template(HELP)
        .about("command line de/compression with blosc")
        .override_usage(usage_of(None).trim_start_matches("usage: ").to_owned())
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args_override_self(true)
        .infer_long_args(true)
        .subcommand_required(false)
        .arg(
            Arg::new("version")
                .long("version")
                .action(ArgAction::SetTrue)
                .help("show program's version number and exit"),
        )
        .arg(switch(none, 'v', "verbose").help("be verbose about actions"))
        .arg(switch(none, 'd', "debug").help("print debugging output too"))
        .arg(switch(none, 'q', "quiet").help("print only errors"))
        .arg(
            switch(none, 'f', "force")
                .help("disable overwrite checks for existing files (use with caution)"),
        )
        .arg(
            option(none, 'n', "nthreads", "[1, 256]")
                .help("set number of threads (default: number of cores)"),
        )
        .arg(new_switch("stderr").help("print errors to standard error (also with BLPK_STDERR=1)"))
        .subcommands([
            compress,
            decompress,
            append,
            info,
            verify,
            estimate,
            bench,
            subcommand("metadata", "replace the metadata of a compressed file")
                .arg(files(&["file", "metadata"])),
            subcommand("recover", "undo an interrupted change of a compressed file")
                .arg(files(&["file"])),
            subcommand(
                "completions",
                "print the completion script of a shell: bash, elvish, fish, powershell, zsh",
            )
            .arg(files(&["shell"])),
            subcommand("man", "print the manual page").arg(files(&["nothing"]).hide(true)),
        ])
}

/// The options that precede the subcommand.
pub struct Globals {
    pub level: Level,
    pub force: bool,
    pub nthreads: usize,
    pub errors_to_stderr: bool,
    pub version: bool,
}

/// Parses an integer like Python.
fn parse_integer(option: &str, text: &str, subcommand: Option<String>) -> Result<i64, UsageError> {
    let digits = text.trim().replace('_', "");
    digits.parse().map_err(|_| UsageError::Syntax {
        subcommand,
        reason: format!("argument {option}: invalid int value: '{text}'"),
    })
}

/// Returns the long name of an option if the command line contains it, otherwise the short name.
fn name_used(command_line: &[OsString], short: &str, long: &str) -> String {
    let is_long = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        let name = argument.split('=').next().unwrap_or_default();
        name.len() > 2 && long.starts_with(name)
    };
    let found = command_line.iter().find(|argument| is_long(argument));
    found.map_or(short.to_owned(), |_| long.to_owned())
}

/// Fails if more than one of `-v`, `-d` and `-q` is set.
fn check_exclusive(matches: &ArgMatches) -> Result<(), UsageError> {
    let mut given: Vec<(usize, &str)> =
        [("verbose", "-v/--verbose"), ("debug", "-d/--debug"), ("quiet", "-q/--quiet")]
            .into_iter()
            .filter(|(name, _)| matches.get_flag(name))
            .filter_map(|(name, shown)| Some((matches.index_of(name)?, shown)))
            .collect();
    given.sort_unstable();
    match given.as_slice() {
        [(_, first), (_, second), ..] => Err(UsageError::Syntax {
            subcommand: None,
            reason: format!("argument {second}: not allowed with argument {first}"),
        }),
        _ => Ok(()),
    }
}

impl Globals {
    pub fn of(matches: &ArgMatches, command_line: &[OsString]) -> Result<Globals, UsageError> {
        check_exclusive(matches)?;
        let nthreads = match matches.get_one::<String>("nthreads") {
            None => std::thread::available_parallelism().map_or(1, |cores| cores.get() as i64),
            Some(text) => {
                let number = parse_integer("-n/--nthreads", text, None)?;
                if !(1..=MAX_THREADS).contains(&number) {
                    let name = name_used(command_line, "-n", "--nthreads");
                    return Err(UsageError::Value(format!(
                        "{name} must be 1 <= n <= {MAX_THREADS}"
                    )));
                }
                number
            }
        };
        Ok(Globals {
            level: if matches.get_flag("debug") {
                Level::Debug
            } else if matches.get_flag("verbose") {
                Level::Verbose
            } else if matches.get_flag("quiet") {
                Level::Quiet
            } else {
                Level::Normal
            },
            force: matches.get_flag("force"),
            nthreads: nthreads.min(MAX_THREADS) as usize,
            errors_to_stderr: matches.get_flag("stderr"),
            version: matches.get_flag("version"),
        })
    }
}

impl Globals {
    /// Returns the values of these options and the subcommand, by their names in Bloscpack.
    pub fn arguments(&self, subcommand: &str) -> Vec<(&'static str, String)> {
        let truth = |value| truth(value).to_owned();
        vec![
            ("debug", truth(self.level == Level::Debug)),
            ("force", truth(self.force)),
            ("nthreads", self.nthreads.to_string()),
            ("subcommand", subcommand.to_owned()),
            ("verbose", truth(self.level == Level::Verbose)),
        ]
    }
}

/// A subcommand with its arguments.
pub struct Call<'c> {
    pub globals: &'c Globals,
    pub arguments: &'c ArgMatches,
    pub command_line: &'c [OsString],
}

impl Call<'_> {
    /// Returns the subcommand or alias of the command line.
    pub fn subcommand_name(&self) -> Option<String> {
        spelled_subcommand(self.command_line)
    }

    /// Returns the arguments that all subcommands have, by their names in Bloscpack.
    pub fn common_arguments(&self) -> Vec<(&'static str, String)> {
        self.globals.arguments(&self.subcommand_name().unwrap_or_default())
    }

    fn usage(&self, reason: String) -> UsageError {
        UsageError::Syntax { subcommand: self.subcommand_name(), reason }
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.arguments.try_get_one::<bool>(name), Ok(Some(true)))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.arguments.try_get_one::<String>(name) {
            Ok(Some(text)) => Some(text),
            _ => None,
        }
    }

    fn number(&self, name: &str, shown: &str) -> Result<Option<i64>, UsageError> {
        let text = self.text(name);
        text.map(|text| parse_integer(shown, text, self.subcommand_name())).transpose()
    }

    /// Returns the value of an option that accepts only `choices`.
    fn choice<'t>(
        &'t self,
        name: &str,
        shown: &str,
        choices: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<Option<&'t str>, UsageError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        if choices.clone().any(|choice| choice == text) {
            return Ok(Some(text));
        }
        let choices: Vec<String> = choices.map(|choice| format!("'{choice}'")).collect();
        Err(self.usage(format!(
            "argument {shown}: invalid choice: '{text}' (choose from {})",
            choices.join(", ")
        )))
    }

    /// Returns the files: all required ones and at most `optional` more.
    pub fn files(&self, required: &[&str], optional: usize) -> Result<Vec<&OsStr>, UsageError> {
        let files: Vec<&OsStr> = match self.arguments.try_get_many::<OsString>("files") {
            Ok(Some(files)) => files.map(OsString::as_os_str).collect(),
            _ => Vec::new(),
        };
        if let Some(missing) = required.get(files.len()..).filter(|missing| !missing.is_empty()) {
            return Err(
                self.usage(format!("the following arguments are required: {}", missing.join(", ")))
            );
        }
        if let Some(extra) =
            files.get(required.len() + optional..).filter(|extra| !extra.is_empty())
        {
            let extra: Vec<_> = extra.iter().map(|name| name.to_string_lossy()).collect();
            return Err(UsageError::Syntax {
                subcommand: None,
                reason: format!("unrecognized arguments: {}", extra.join(" ")),
            });
        }
        Ok(files)
    }

    /// Returns the only file.
    pub fn file(&self) -> Result<PathBuf, UsageError> {
        Ok(PathBuf::from(self.files(&["<file>"], 0)?[0]))
    }

    /// Whether this subcommand writes its data to standard output.
    pub fn writes_to_stdout(&self, name: &str) -> bool {
        let out = usize::from(!self.flag("raw-input"));
        let second = match self.arguments.try_get_many::<OsString>("files") {
            Ok(Some(mut files)) => files.nth(out).map(OsString::as_os_str),
            _ => None,
        };
        match name {
            "compress" | "decompress" => self.flag("raw-output") || second == Some(OsStr::new("-")),
            _ => false,
        }
    }

    /// Returns the typesize, if set.
    pub fn typesize(&self) -> Result<Option<i64>, UsageError> {
        self.number("typesize", "-t/--typesize")
    }

    /// Returns the parameters of compression.
    pub fn blosc(&self) -> Result<BloscArgs, UsageError> {
        let defaults = BloscArgs::default();
        let clevel = self.number("clevel", "-l/--clevel")?;
        if let Some(level) = clevel.filter(|level| !(0..=9).contains(level)) {
            return Err(self.usage(format!(
                "argument -l/--clevel: invalid choice: {level} (choose from 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)"
            )));
        }
        let codec = match self.choice(
            "codec",
            "-c/--codec",
            Codec::names().collect::<Vec<_>>().into_iter(),
        )? {
            Some(name) => Codec::from_name(name).unwrap_or(defaults.codec),
            None => defaults.codec,
        };
        let shuffle = match (self.flag("no-shuffle"), self.flag("bit-shuffle")) {
            (false, false) => Shuffle::Bytes,
            (false, true) => Shuffle::Bits,
            (true, false) => Shuffle::None,
            (true, true) => {
                return Err(self.usage(
                    "argument -s/--no-shuffle: not allowed with argument --bit-shuffle".to_owned(),
                ));
            }
        };
        let splitmode = match self.choice(
            "split",
            "--split",
            ["always", "never", "auto", "forward"].into_iter(),
        )? {
            Some("always") => SplitMode::ALWAYS,
            Some("never") => SplitMode::NEVER,
            Some("auto") => SplitMode::AUTO,
            _ => SplitMode::FORWARD_COMPAT,
        };
        Ok(BloscArgs {
            typesize: self.typesize()?.unwrap_or(defaults.typesize),
            clevel: clevel.unwrap_or(defaults.clevel),
            shuffle,
            codec,
            blocksize: match self.size("block-size", "--block-size", "--block-size")? {
                Some(size) => usize::try_from(size).unwrap_or(usize::MAX),
                None => 0,
            },
            splitmode,
        })
    }

    pub fn checksum(&self) -> Result<Checksum, UsageError> {
        let names = Checksum::ALL.into_iter().map(Checksum::name);
        let name = self.choice("checksum", "-k/--checksum", names)?;
        Ok(name.and_then(Checksum::from_name).unwrap_or(Checksum::Adler32))
    }

    /// Returns the value of an option as a size in bytes, if set.
    pub fn size(&self, name: &str, short: &str, long: &str) -> Result<Option<u64>, UsageError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let option = name_used(self.command_line, short, long);
        match parse_size(text) {
            Ok(size) => Ok(Some(size)),
            Err(SizeError::Negative) => Err(UsageError::Value(format!("{option} must be > 0"))),
            Err(SizeError::Text(reason)) => {
                Err(UsageError::Value(format!("{option} error: {reason}")))
            }
        }
    }

    pub fn chunk_size(&self) -> Result<u64, UsageError> {
        let size = self.size("chunk-size", "-z", "--chunk-size")?;
        Ok(size.unwrap_or(DEFAULT_CHUNK_SIZE))
    }

    /// Returns the value of an option as a non-negative number, if set.
    pub fn count(&self, name: &str, shown: &str) -> Result<Option<u64>, UsageError> {
        let number = self.number(name, shown)?;
        let count = number.map(u64::try_from).transpose();
        count.map_err(|_| UsageError::Value(format!("{shown} must be >= 0")))
    }

    /// Returns the value of an option of the form `FIRST:SECOND`, if set. Both numbers may be
    /// missing.
    pub fn pair(&self, name: &str, shown: &str) -> Result<Option<(u64, Option<u64>)>, UsageError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let invalid = || self.usage(format!("argument {shown}: invalid range: '{text}'"));
        let (first, second) = text.split_once(':').ok_or_else(invalid)?;
        let first = match first {
            "" => 0,
            first => parse_size(first).map_err(|_| invalid())?,
        };
        let second = match second {
            "" => None,
            second => Some(parse_size(second).map_err(|_| invalid())?),
        };
        Ok(Some((first, second)))
    }
}
