//! Subcommands, options and their values.

use crate::usage::Wrong;
use crate::voice::Level;
use clap::{Arg, ArgAction, ArgMatches, Command};
use ferroblosc::bloscpack::{
    self, BloscArgs, Codec, DEFAULT_CHUNK_SIZE, Shuffle, SizeError, Value, parse_size,
};
use ferroblosc::blpk::Checksum;
use ferroblosc::chunk::SplitMode;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Subcommands with the words for each.
pub const ALIASES: [(&str, &[&str]); 11] = [
    ("compress", &["compress", "c"]),
    ("decompress", &["decompress", "d"]),
    ("append", &["append", "a"]),
    ("info", &["info", "i"]),
    ("verify", &["verify", "v"]),
    ("estimate", &["estimate", "e"]),
    ("bench", &["bench", "b"]),
    ("metadata", &["metadata", "m"]),
    ("recover", &["recover", "r"]),
    ("completions", &["completions"]),
    ("man", &["man"]),
];

/// What help consists of, behind the usage.
const HELP: &str = "{about}\n\n{all-args}";
/// The most threads that can be asked for.
const MAX_THREADS: i64 = 256;

/// The subcommand that a word stands for.
pub fn canonical(word: &str) -> &str {
    let found = ALIASES.iter().find(|(_, names)| names.contains(&word));
    found.map_or(word, |(name, _)| name)
}

/// Whether an option stands before the subcommand.
pub fn is_global(option: &str) -> bool {
    option.starts_with("--nthreads") || option.starts_with("-n")
}

/// The old options of each old subcommand: any unique beginning of them is understood, whatever is added.
const OLD_COMPRESS: [&str; 9] = [
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
const OLD_APPEND: [&str; 7] = [
    "help",
    "typesize",
    "clevel",
    "no-shuffle",
    "codec",
    "no-check-extension",
    "metadata",
];
const OLD_DECOMPRESS: [&str; 2] = ["help", "no-check-extension"];

/// The beginnings of an old option that meant it alone.
fn beginnings(old: &[&'static str], name: &'static str) -> Vec<&'static str> {
    let is_unique = |part: &str| old.iter().filter(|other| other.starts_with(part)).count() == 1;
    (1..name.len())
        .map(|len| &name[..len])
        .filter(|part| is_unique(part))
        .collect()
}

fn option(old: &[&'static str], short: char, long: &'static str, value: &'static str) -> Arg {
    Arg::new(long)
        .short(short)
        .long(long)
        .aliases(beginnings(old, long))
        .value_name(value)
        .allow_hyphen_values(true)
        .action(ArgAction::Set)
}

fn switch(old: &[&'static str], short: char, long: &'static str) -> Arg {
    Arg::new(long)
        .short(short)
        .long(long)
        .aliases(beginnings(old, long))
        .action(ArgAction::SetTrue)
}

fn new_option(long: &'static str, value: &'static str) -> Arg {
    Arg::new(long)
        .long(long)
        .value_name(value)
        .allow_hyphen_values(true)
        .action(ArgAction::Set)
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

/// The settings of compression, of old and new.
fn blosc_settings(command: Command, old: &[&'static str]) -> Command {
    command
        .arg(option(old, 't', "typesize", "size").help("typesize for blosc (default: 8)"))
        .arg(
            option(old, 'l', "clevel", "[0, 9]")
                .alias("level")
                .help("compression level (default: 7)"),
        )
        .arg(switch(old, 's', "no-shuffle").help("deactivate shuffle"))
        .arg(option(old, 'c', "codec", "codec").help(
            "codec to be used by Blosc: blosclz, lz4, lz4hc, snappy, zlib, zstd (default: blosclz)",
        ))
        .arg(new_switch("bit-shuffle").help("shuffle the bits of items instead of their bytes"))
}

fn subcommand(name: &'static str, about: &'static str) -> Command {
    let command = Command::new(name)
        .about(about)
        .help_template(HELP)
        .args_override_self(true)
        .infer_long_args(true)
        .override_usage(
            crate::usage::usage_of(Some(name))
                .trim_start_matches("usage: ")
                .to_owned(),
        );
    let (_, names) = ALIASES
        .iter()
        .find(|(known, _)| *known == name)
        .expect("every subcommand is in the table");
    command.visible_aliases(names.iter().skip(1).copied())
}

/// All the words.
pub fn command() -> Command {
    let none: &[&'static str] = &[];
    let compress = blosc_settings(subcommand("compress", "perform compression on file"), &OLD_COMPRESS)
        .arg(option(&OLD_COMPRESS, 'z', "chunk-size", "size").help("set desired chunk size or 'max' (default: 1M)"))
        .arg(option(&OLD_COMPRESS, 'k', "checksum", "checksum").help(
            "set desired checksum: None, adler32, crc32, md5, sha1, sha224, sha256, sha384, sha512 (default: adler32)",
        ))
        .arg(switch(&OLD_COMPRESS, 'o', "no-offsets").help("deactivate offsets"))
        .arg(option(&OLD_COMPRESS, 'm', "metadata", "metadata").help("file containing the metadata, must contain valid JSON"))
        .arg(new_option("max-app-chunks", "number").help("room for so many chunks to be appended (default: ten times those there are)"))
        .arg(new_option("reserve", "size").help("bytes reserved for metadata (default: ten times theirs)"))
        .arg(new_option("block-size", "size").help("bytes of a block (default: chosen by Blosc)"))
        .arg(new_option("split", "mode").help("which blocks are split: always, never, auto, forward (default: forward)"))
        .arg(new_switch("raw-input").help("read from standard input, like '-' as <in_file>"))
        .arg(new_switch("raw-output").help("write to standard output, like '-' as <out_file>"))
        .arg(new_switch("npy").help("<in_file> is a .npy file: store its array"))
        .arg(files(&["in_file", "out_file"]));
    let decompress =
        subcommand("decompress", "perform decompression on file")
            .arg(switch(&OLD_DECOMPRESS, 'e', "no-check-extension").help(
                "disable checking input file for extension (*.blp) (requires use of <out_file>)",
            ))
            .arg(new_option("range", "start:bytes").help("decompress only these bytes"))
            .arg(new_option("chunks", "first:count").help("decompress only these chunks"))
            .arg(new_option("save-metadata", "file").help("write the metadata to a file"))
            .arg(new_switch("raw-input").help("read from standard input, like '-' as <in_file>"))
            .arg(new_switch("raw-output").help("write to standard output, like '-' as <out_file>"))
            .arg(new_switch("npy").help("write the array there is as a .npy file"))
            .arg(files(&["in_file", "out_file"]));
    let append = blosc_settings(
        subcommand("append", "append data to a compressed file"),
        &OLD_APPEND,
    )
    .arg(
        switch(&OLD_APPEND, 'e', "no-check-extension")
            .help("disable checking original file for extension (*.blp)"),
    )
    .arg(
        option(&OLD_APPEND, 'm', "metadata", "metadata")
            .help("file containing the metadata, must contain valid JSON"),
    )
    .arg(new_switch("raw-input").help("read from standard input, like '-' as <new_file>"))
    .arg(files(&["original_file", "new_file"]));
    let info = subcommand("info", "print information about a compressed file")
        .arg(new_switch("json").help("print it as JSON"))
        .arg(new_switch("list-chunks").help("list the chunks"))
        .arg(files(&["file"]));
    let verify = subcommand(
        "verify",
        "check everything in a compressed file; exit status 3 tells of damage",
    )
    .arg(new_switch("json").help("print the result as JSON"))
    .arg(files(&["file"]));
    let estimate = blosc_settings(
        subcommand(
            "estimate",
            "estimate the compression of a file from some of its chunks",
        ),
        none,
    )
    .arg(
        option(none, 'z', "chunk-size", "size")
            .help("set desired chunk size or 'max' (default: 1M)"),
    )
    .arg(new_switch("json").help("print the result as JSON"))
    .arg(files(&["in_file"]));
    let bench = blosc_settings(
        subcommand("bench", "find a good chunk size for a file"),
        none,
    )
    .arg(new_switch("json").help("print the results as JSON"))
    .arg(files(&["in_file"]));
    Command::new("blpk")
        .help_template(HELP)
        .about("command line de/compression with blosc")
        .override_usage(
            crate::usage::usage_of(None)
                .trim_start_matches("usage: ")
                .to_owned(),
        )
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
        .arg(switch(none, 'q', "quiet").help("print errors alone"))
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
            subcommand(
                "recover",
                "undo a change of a compressed file that was interrupted",
            )
            .arg(files(&["file"])),
            subcommand(
                "completions",
                "print the completions of a shell: bash, elvish, fish, powershell, zsh",
            )
            .arg(files(&["shell"])),
            subcommand("man", "print the manual page").arg(files(&["nothing"]).hide(true)),
        ])
}

/// What stands before the subcommand.
pub struct Globals {
    pub level: Level,
    pub force: bool,
    pub nthreads: usize,
    pub errors_to_stderr: bool,
    pub version: bool,
}

/// A whole number, as Python reads it.
fn whole_number(option: &str, text: &str, subcommand: Option<String>) -> Result<i64, Wrong> {
    let digits = text.trim().replace('_', "");
    digits.parse().map_err(|_| Wrong::Usage {
        subcommand,
        why: format!("argument {option}: invalid int value: '{text}'"),
    })
}

/// How an option was spelled.
fn spelling(raw: &[OsString], short: &str, long: &str) -> String {
    let is_long = |word: &OsString| {
        let word = word.to_string_lossy();
        let name = word.split('=').next().unwrap_or_default();
        name.len() > 2 && long.starts_with(name)
    };
    let found = raw.iter().find(|word| is_long(word));
    found.map_or(short.to_owned(), |_| long.to_owned())
}

/// How loud the program is can be said once only.
fn check_exclusive(matches: &ArgMatches) -> Result<(), Wrong> {
    let mut given: Vec<(usize, &str)> = [
        ("verbose", "-v/--verbose"),
        ("debug", "-d/--debug"),
        ("quiet", "-q/--quiet"),
    ]
    .into_iter()
    .filter(|(name, _)| matches.get_flag(name))
    .filter_map(|(name, shown)| Some((matches.index_of(name)?, shown)))
    .collect();
    given.sort_unstable();
    match given.as_slice() {
        [(_, first), (_, second), ..] => Err(Wrong::Usage {
            subcommand: None,
            why: format!("argument {second}: not allowed with argument {first}"),
        }),
        _ => Ok(()),
    }
}

impl Globals {
    pub fn of(matches: &ArgMatches, raw: &[OsString]) -> Result<Globals, Wrong> {
        check_exclusive(matches)?;
        let nthreads = match matches.get_one::<String>("nthreads") {
            None => std::thread::available_parallelism().map_or(1, |cores| cores.get() as i64),
            Some(text) => {
                let number = whole_number("-n/--nthreads", text, None)?;
                if !(1..=MAX_THREADS).contains(&number) {
                    let name = spelling(raw, "-n", "--nthreads");
                    return Err(Wrong::Value(format!(
                        "{name} must be 1 <= n <= {MAX_THREADS}"
                    )));
                }
                number
            }
        };
        Ok(Globals {
            level: match () {
                () if matches.get_flag("debug") => Level::Debug,
                () if matches.get_flag("verbose") => Level::Verbose,
                () if matches.get_flag("quiet") => Level::Quiet,
                () => Level::Normal,
            },
            force: matches.get_flag("force"),
            nthreads: nthreads.min(MAX_THREADS) as usize,
            errors_to_stderr: matches.get_flag("stderr"),
            version: matches.get_flag("version"),
        })
    }
}

impl Globals {
    /// The arguments before the subcommand, and the subcommand, by the names Bloscpack gives them.
    pub fn arguments(&self, subcommand: &str) -> Vec<(&'static str, String)> {
        let truth = |value| crate::show::truth(value).to_owned();
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
    /// The whole command line.
    pub raw: &'c [OsString],
}

impl Call<'_> {
    /// The subcommand as it was spelled.
    pub fn spelled(&self) -> Option<String> {
        crate::usage::spelled_subcommand(self.raw)
    }

    /// The arguments of every subcommand, by the names Bloscpack gives them.
    pub fn common_arguments(&self) -> Vec<(&'static str, String)> {
        self.globals.arguments(&self.spelled().unwrap_or_default())
    }

    fn usage(&self, why: String) -> Wrong {
        Wrong::Usage {
            subcommand: self.spelled(),
            why,
        }
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

    fn number(&self, name: &str, shown: &str) -> Result<Option<i64>, Wrong> {
        let text = self.text(name);
        text.map(|text| whole_number(shown, text, self.spelled()))
            .transpose()
    }

    /// One of some words.
    fn choice<'t>(
        &'t self,
        name: &str,
        shown: &str,
        choices: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<Option<&'t str>, Wrong> {
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

    /// The files, of which there must be as many as have names.
    pub fn files(&self, required: &[&str], optional: usize) -> Result<Vec<&OsStr>, Wrong> {
        let files: Vec<&OsStr> = match self.arguments.try_get_many::<OsString>("files") {
            Ok(Some(files)) => files.map(OsString::as_os_str).collect(),
            _ => Vec::new(),
        };
        if let Some(missing) = required
            .get(files.len()..)
            .filter(|missing| !missing.is_empty())
        {
            return Err(self.usage(format!(
                "the following arguments are required: {}",
                missing.join(", ")
            )));
        }
        if let Some(extra) = files
            .get(required.len() + optional..)
            .filter(|extra| !extra.is_empty())
        {
            let extra: Vec<_> = extra.iter().map(|word| word.to_string_lossy()).collect();
            return Err(Wrong::Usage {
                subcommand: None,
                why: format!("unrecognized arguments: {}", extra.join(" ")),
            });
        }
        Ok(files)
    }

    /// The one file there must be.
    pub fn file(&self) -> Result<PathBuf, Wrong> {
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

    /// The typesize, when it is given.
    pub fn typesize(&self) -> Result<Option<i64>, Wrong> {
        self.number("typesize", "-t/--typesize")
    }

    /// How chunks are compressed.
    pub fn blosc(&self) -> Result<BloscArgs, Wrong> {
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

    pub fn checksum(&self) -> Result<Checksum, Wrong> {
        let names = Checksum::ALL.into_iter().map(Checksum::name);
        let name = self.choice("checksum", "-k/--checksum", names)?;
        Ok(name
            .and_then(Checksum::from_name)
            .unwrap_or(Checksum::Adler32))
    }

    /// A size, when it is given.
    pub fn size(&self, name: &str, short: &str, long: &str) -> Result<Option<u64>, Wrong> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let option = spelling(self.raw, short, long);
        match parse_size(text) {
            Ok(size) => Ok(Some(size)),
            Err(SizeError::Negative) => Err(Wrong::Value(format!("{option} must be > 0"))),
            Err(SizeError::Text(why)) => Err(Wrong::Value(format!("{option} error: {why}"))),
        }
    }

    pub fn chunk_size(&self) -> Result<u64, Wrong> {
        let size = self.size("chunk-size", "-z", "--chunk-size")?;
        Ok(size.unwrap_or(DEFAULT_CHUNK_SIZE))
    }

    /// A number that is not negative, when it is given.
    pub fn count(&self, name: &str, shown: &str) -> Result<Option<u64>, Wrong> {
        let number = self.number(name, shown)?;
        let count = number.map(u64::try_from).transpose();
        count.map_err(|_| Wrong::Value(format!("{shown} must be >= 0")))
    }

    /// Two numbers with a colon between them, when they are given; the second may be missing.
    pub fn pair(&self, name: &str, shown: &str) -> Result<Option<(u64, Option<u64>)>, Wrong> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let wrong = || self.usage(format!("argument {shown}: invalid range: '{text}'"));
        let (first, second) = text.split_once(':').ok_or_else(wrong)?;
        let first = match first {
            "" => 0,
            first => parse_size(first).map_err(|_| wrong())?,
        };
        let second = match second {
            "" => None,
            second => Some(parse_size(second).map_err(|_| wrong())?),
        };
        Ok(Some((first, second)))
    }

    /// The metadata in the file that is named; `null` there is none.
    pub fn metadata(&self) -> Result<Option<Value>, crate::voice::Failure> {
        match self.text("metadata") {
            Some(name) => read_metadata(Path::new(name)),
            None => Ok(None),
        }
    }
}

/// The metadata in a file; `null` is none.
pub fn read_metadata(path: &Path) -> Result<Option<Value>, crate::voice::Failure> {
    if !path.exists() {
        let text = format!("metadata file '{}' does not exist!", path.display());
        return Err(crate::voice::error(text));
    }
    let bytes = std::fs::read(path)?;
    let value = Value::parse(&bytes).map_err(bloscpack::Error::from)?;
    Ok(Some(value).filter(|value| !matches!(value, Value::Null)))
}
