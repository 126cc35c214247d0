//! Commands and options.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use ferroblosc::codec::{self, CodecInfo};
use ferroblosc::filter::{self, FilterInfo};
use std::iter;
use std::path::PathBuf;

/// Inspect, verify, repair, convert and create files of the Blosc family
///
/// Supported formats: chunks of Blosc 1 and 2, frames (a file or a directory), b2nd arrays,
/// Bloscpack files, bcolz directories and .npy files. File types are detected by content, not by
/// name. '-' as a file is standard input or output.
#[derive(Parser)]
#[command(name = "b2", version, propagate_version = true, after_help = STATUSES, after_long_help = EXAMPLES)]
pub struct Cli {
    /// Number of threads; 0 is the number of cores (default)
    #[arg(short = 'n', visible_short_alias = 'T', long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(0..=256))]
    pub threads: Option<u16>,
    /// Do not show the progress, and the sizes of 'compress'
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

const STATUSES: &str = "\
Exit status: 0 success, 1 error, 2 invalid command line, 3 corrupt data, 4 missing plugin.
See 'b2 help COMMAND'.";

const EXAMPLES: &str = "\
Exit status: 0 success, 1 error, 2 invalid command line, 3 corrupt data, 4 missing plugin.

Examples:
  b2 info climate.b2nd                     describe a file
  b2 ls data/                              list the files of a directory
  b2 head table                            print the first rows of a bcolz table
  b2 cat climate.b2nd --slice '0,:3,5:8'   print some items of an array
  b2 repair climate.b2nd                   show the possible repairs
  b2 bench climate.b2nd --svg plot.svg     compare codecs on the data
  b2 convert climate.npy climate.b2nd      convert to another format
  tar c data | b2 compress - data.b2frame  compress a pipe
  b2 verify *.b2frame || echo damaged      check files";

impl Cli {
    /// Returns the number of threads.
    pub fn nthreads(&self) -> usize {
        match self.threads {
            Some(number @ 1..) => number.into(),
            Some(0) | None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Describe files: format, sizes, codec, filters and metadata
    Info(InfoArgs),
    /// List files, or their chunks, one per line
    Ls(LsArgs),
    /// Print items as text, CSV, lines of JSON, or raw bytes
    #[command(after_help = CAT)]
    Cat(CatArgs),
    /// Print the first items as text
    Head(HeadArgs),
    /// Read files completely and list all faults
    #[command(after_help = PLUGINS)]
    Verify(VerifyArgs),
    /// Show the possible repairs; with --write, repair
    #[command(after_help = REPAIR)]
    Repair(RepairArgs),
    /// Convert between formats; the extension of OUT or --to selects the format
    #[command(after_help = CONVERT)]
    Convert(ConvertArgs),
    /// Compress any files, each into a frame
    #[command(after_help = COMPRESS, override_usage = "b2 compress [OPTIONS] IN [OUT]\n       b2 compress [OPTIONS] IN... [-o DIR]")]
    Compress(CompressArgs),
    /// Decompress a file of any format to bytes
    Decompress(DecompressArgs),
    /// Copy an object of a store to a file, or a group or table to a new store
    #[command(after_help = GET)]
    Get(GetArgs),
    /// Add a file to a store, which is created if it does not exist
    #[command(after_help = PUT)]
    Put(PutArgs),
    /// Delete objects and groups of a store
    #[command(after_help = RM)]
    Rm(RmArgs),
    /// Measure ratio and speed of codecs, levels and filters
    Bench(BenchArgs),
    /// Print minimum, maximum, mean and a histogram of the items
    #[command(after_help = STATS)]
    Stats(StatsArgs),
    /// Compare the data of two files of any formats
    #[command(after_help = DIFF)]
    Diff(DiffArgs),
    /// List, print and change metalayers, attributes and metadata
    #[command(after_help = META)]
    Meta {
        /// The command
        #[command(subcommand)]
        command: MetaCommand,
    },
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

const PLUGINS: &str = "\
Without checksums, only the structure of the data is checked, and that all
chunks decompress.

Codecs and filters that are not built in are loaded from the library
libblosc2_NAME.so, if the dynamic linker finds it (LD_LIBRARY_PATH), and with
FERROBLOSC_PLUGIN_SEARCH=1 from the Python package blosc2-NAME. Data that need a
missing plugin are not reported as damaged.";

const REPAIR: &str = "\
Frames and b2nd arrays: unreadable chunks become zeros, and unreadable
metalayers are removed. If the index or the trailer is lost, the chunks are
searched from the start of the data.
Bloscpack files: interrupted changes are undone, unreadable chunks become zeros,
and offsets and checksums are written again.
Both are written to a new file; the old one is renamed to its name with
'.broken' appended.
bcolz directories are repaired in place; the old version of each changed file is
kept in the same way.
Stores: a sound copy replaces the store, which is kept in the same way. No leaf
is changed. Damaged leaves, and frames without a key, get keys in the group
/lost; what cannot be read at all is left out and named.
Chunks and .npy files cannot be repaired.
Data that need a missing plugin are never changed.

Exit status: 0 no faults, or all repaired; 3 faults; 4 only a plugin is missing.";

const GET: &str = "\
An object is copied as the frame that is stored. A group or a table becomes a
store: a zip file (.b2z), a directory (.b2d) or a frame (.b2e). 'b2 convert
STORE:/KEY OUT' converts an object to another format.

Examples:
  b2 get bundle.b2z /climate/temperature temperature.b2nd
  b2 get bundle.b2z /climate climate.b2z";

const PUT: &str = "\
The suffix of a new store determines its form: a zip file (.b2z), a directory
(.b2d) or a frame (.b2e). Frames and b2nd arrays are stored as they are; data of
other formats become an array, or a frame if they have no type.

Examples:
  b2 put bundle.b2z /climate/temperature temperature.b2nd
  b2 put bundle.b2z /table/price table.bcolz --column price";

const RM: &str = "\
Deleting a group deletes everything in it. A table is deleted as a whole.

Example:
  b2 rm bundle.b2z /climate/temperature /old";

const COMPRESS: &str = "\
Without --typesize, a sample of each input is compressed without a filter, with
shuffle and items of 1, 2, 4 and 8 bytes and, for records of equal size, with
their size. The best result decides. With --filters, only the size of the items
is chosen.

With -o DIR, directories of a recursive search become directories in DIR.
On a terminal, a line with the sizes is printed for each file.

Examples:
  b2 compress climate.f4                      write climate.f4.b2frame
  b2 compress climate.f4 climate.b2frame
  b2 compress *.raw -o packed --rm            replace files by frames in 'packed'
  b2 compress -r data -o packed               compress all files below 'data'
  tar c data | b2 compress - data.b2frame     compress a pipe";

const CAT: &str = "\
A line contains the items along the last dimension, after the indices of the
other ones, or a record. In JSON, such a line is {\"index\": [...], \"values\":
[...]}, for one dimension {\"index\": [...], \"value\": ...}, with --no-index the
values alone, and for records an object. NaN and infinities are null in JSON.

Examples:
  b2 cat climate.b2nd --slice '0,:3,5:8'
  b2 cat climate.b2nd --slice '...,::-10' --precision 4
  b2 cat table.bcolz --csv --no-index > table.csv
  b2 cat records.npy --column price --json | jq .value";

const STATS: &str = "\
Mean, standard deviation and histogram are those of the finite items. Each line
of the histogram has the start of a bin, the number of items and a bar. For
records, the statistics of each field are printed.

Examples:
  b2 stats climate.b2nd
  b2 stats climate.f4.b2frame --dtype '<f4' --bins 40
  b2 stats table.bcolz --column price --json";

const DIFF: &str = "\
Numbers are compared by value, whatever their size and byte order; NaN equals
NaN. Numbers are close if |A - B| <= TOLERANCE + RELATIVE * |B|. If A or B has no
type, the bytes are compared. Metadata are not compared.

Exit status: 0 equal, 1 different, 2 error, 3 corrupt data, 4 missing plugin.

Examples:
  b2 diff climate.npy climate.b2nd
  b2 diff old.b2nd new.b2nd --relative 1e-6
  b2 diff a.b2frame b.b2frame --silent || echo different";

const META: &str = "\
Frames and b2nd arrays have fixed and variable-length metalayers, bcolz
directories and the objects and groups of stores (STORE:/KEY) have attributes,
and Bloscpack files have metadata. Values are JSON;
in metalayers they are stored in MessagePack. Other values of MessagePack are
written as {\"$bytes\": \"00ff\"}, {\"$ext\": [type, \"00ff\"]},
{\"$map\": [[key, value], ...]} and {\"$float\": \"nan\"}, other bytes as
{\"$raw\": \"00ff\"}.

A new metalayer has a variable length, unless --fixed is given. To add or remove
a fixed metalayer, or to change its size, the file is written again. The
metalayer 'b2nd' describes the array and cannot be changed.

Examples:
  b2 meta list climate.b2nd
  b2 meta get climate.b2nd units
  b2 meta set climate.b2nd units --string K
  b2 meta set climate.b2nd range '[250, 310.5]'
  b2 meta del climate.b2nd units
  b2 meta set table.bcolz note '{\"by\": \"me\"}' --column price";

const CONVERT: &str = "\
Extensions: .b2frame .b2nd .blp .npy .bcolz .blosc1 .blosc2 .bin (bytes only);
for stores and directories of frames .b2z (zip file), .b2d (directory) and .b2e
(frame). STORE:/KEY is an object in a store.

Chunks are copied without recompression if both formats have the same chunks and
no option of compression is set. Otherwise, codec, level and filters are those
of IN, if OUT supports them. Metalayers, attributes, metadata and fill values
are kept if OUT supports them; others are listed on standard error. With
--strict they are an error.

Examples:
  b2 convert table.bcolz table.b2nd --column price
  b2 convert climate.npy climate.b2nd --codec zstd --level 9
  b2 convert old.b2frame new.b2frame          the current layout
  b2 convert climate.b2nd climate --to bcolz
  b2 convert bundle.b2z bundle.b2d
  b2 convert bundle.b2z:/temperature t.npy";

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    B2frame,
    B2nd,
    Blp,
    Bcolz,
    Npy,
    Blosc1,
    Blosc2,
    /// Bytes without type and shape
    Bin,
    /// A store in a zip file
    B2z,
    /// A store in a directory
    B2d,
    /// A store in a frame
    B2e,
}

/// A codec: one of the built-in codecs of Blosc2.
#[derive(Clone, Copy)]
pub struct CodecName(pub &'static CodecInfo);

impl CodecName {
    /// Returns all codecs.
    pub fn all() -> impl Iterator<Item = CodecName> {
        codec::all().filter(|codec| codec.is_built_in() && !codec.is_blosc1_only).map(CodecName)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.name_str()
    }

    fn parser() -> impl TypedValueParser<Value = CodecName> {
        PossibleValuesParser::new(CodecName::all().map(CodecName::name)).map(|name| {
            let mut all = CodecName::all();
            all.find(|codec| codec.name().eq_ignore_ascii_case(&name))
                .expect("clap allows only these names")
        })
    }
}

/// A filter that needs no parameter, or none.
#[derive(Clone, Copy)]
pub struct FilterName(pub Option<&'static FilterInfo>);

impl FilterName {
    /// Returns `none` and all filters.
    pub fn all() -> impl Iterator<Item = FilterName> {
        let filters = filter::all().filter(|filter| !filter.needs_meta && !filter.is_replaced);
        iter::once(None).chain(filters.map(Some)).map(FilterName)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.map_or("none", |filter| filter.name)
    }

    fn parser() -> impl TypedValueParser<Value = FilterName> {
        PossibleValuesParser::new(FilterName::all().map(FilterName::name)).map(|name| {
            let mut all = FilterName::all();
            all.find(|filter| filter.name().eq_ignore_ascii_case(&name))
                .expect("clap allows only these names")
        })
    }
}

/// The options of compression and of frames.
#[derive(Args)]
pub struct Settings {
    /// The codec [default: zstd]
    #[arg(short = 'C', long, ignore_case = true, value_parser = CodecName::parser())]
    pub codec: Option<CodecName>,
    /// The level, from 0 (no compression) to 9 (best ratio) [default: 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// The filters, separated by commas, in order of application [default: shuffle, or that of IN; 'compress': chosen]
    #[arg(short, long, ignore_case = true, value_parser = FilterName::parser(), value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// The block size, such as 64K [default: depends on the codec]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// The chunk size, such as 4M [default: 1M]
    #[arg(long, value_name = "SIZE")]
    pub chunk_size: Option<String>,
    /// Write frames with checksums (default)
    #[arg(long, overrides_with = "no_checksums")]
    pub checksums: bool,
    /// Write frames without checksums, which other readers of Blosc2 ignore
    #[arg(long, overrides_with = "checksums")]
    pub no_checksums: bool,
    /// Write frames so that a crash leaves a complete frame or none
    #[arg(long)]
    pub durable: bool,
    /// Write frames as directories with a file for each chunk
    #[arg(long)]
    pub directory: bool,
    /// Replace an existing OUT
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct ConvertArgs {
    /// A file or directory
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file or directory to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// The format of OUT
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    pub to: Option<OutputFormat>,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Convert the bytes of an array, without type and shape
    #[arg(short, long, conflicts_with = "dtype")]
    pub raw: bool,
    /// Embed the leaves of a store that have fewer bytes of data in 'embed.b2e'; 0 makes all of them
    /// files [default: as in IN]
    #[arg(long, value_name = "SIZE")]
    pub embed: Option<String>,
    /// Fail if OUT does not support a metalayer, attribute, fill value or codec parameter of IN
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct CompressArgs {
    /// Files, or '-'; of two paths the second is the frame to write, unless it is a file that is not
    /// a frame [default of OUT: IN.b2frame]
    #[arg(value_name = "IN", required = true)]
    pub paths: Vec<PathBuf>,
    /// The frame to write, or '-', or the directory for the frames, which is created
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Compress the files in directories, too, except stored arrays
    #[arg(short, long)]
    pub recursive: bool,
    /// Keep the inputs (default)
    #[arg(short, long, overrides_with = "rm")]
    pub keep: bool,
    /// Remove each input after its frame was written to the disk
    #[arg(long, overrides_with = "keep")]
    pub rm: bool,
    /// The size of an item in bytes [default: chosen by trial compression, with the filters]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: Option<u8>,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct DecompressArgs {
    /// A file or directory, or '-'
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write, or '-' [default: IN without .b2frame, .cframe, .blp or .blosc…]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Replace an existing OUT
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct GetArgs {
    /// A store
    pub store: PathBuf,
    /// The key of an object or a group, such as /group/array
    pub key: String,
    /// The file or store to write; for an object, '-' is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Replace an existing OUT
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct PutArgs {
    /// A store
    pub store: PathBuf,
    /// The key, such as /group/array
    pub key: String,
    /// A file of any format, or '-'
    pub file: PathBuf,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// Replace an existing object, with its attributes
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct RmArgs {
    /// A store
    pub store: PathBuf,
    /// The keys of objects and groups
    #[arg(value_name = "KEY", required = true)]
    pub keys: Vec<String>,
}

#[derive(Args)]
pub struct RepairArgs {
    /// A file or directory
    pub path: PathBuf,
    /// Repair the file; without this option, nothing is changed
    #[arg(long)]
    pub write: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchArgs {
    /// A file: the data of a known format, or any bytes
    pub file: PathBuf,
    /// The codecs, separated by commas [default: all]
    #[arg(short, long, ignore_case = true, value_parser = CodecName::parser(), value_delimiter = ',')]
    pub codecs: Vec<CodecName>,
    /// The levels, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "1,5,9", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Vec<u8>,
    /// The filters, separated by commas [default: none, shuffle and bitshuffle]
    #[arg(short, long, ignore_case = true, value_parser = FilterName::parser(), value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// The size of an item in bytes [default: that of the file, or 8]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: Option<u8>,
    /// The chunk size, such as 4M
    #[arg(long, value_name = "SIZE", default_value = "1M")]
    pub chunk_size: String,
    /// The number of bytes to compress, from the beginning of the data
    #[arg(long, value_name = "SIZE", default_value = "32M")]
    pub sample: String,
    /// Write a plot of speed against ratio to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct StatsArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The column of a table or of an array of records; A/B is the column B of A
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// The number of bins of the histogram; 0 for none
    #[arg(short, long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub bins: u16,
    /// Print JSON: an array with one object per path
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct DiffArgs {
    /// A file or directory, or '-'
    #[arg(value_name = "A")]
    pub one: PathBuf,
    /// A file or directory, or '-'
    #[arg(value_name = "B")]
    pub other: PathBuf,
    /// The column of a table or of an array of records; A/B is the column B of A
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items of both, in NumPy's notation: '<f8'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// The permitted absolute difference of numbers
    #[arg(short, long, default_value_t = 0.0, value_parser = tolerance)]
    pub tolerance: f64,
    /// The permitted relative difference of numbers
    #[arg(short, long, default_value_t = 0.0, value_parser = tolerance)]
    pub relative: f64,
    /// Print nothing, and end after the first difference
    #[arg(short, long, conflicts_with = "json")]
    pub silent: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses a permitted difference.
fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("it must be a number that is not negative, such as 1e-6".to_owned()),
    }
}

/// The commands of `meta`.
#[derive(Subcommand)]
pub enum MetaCommand {
    /// List all entries with their values
    List(MetaListArgs),
    /// Print the value of an entry as JSON
    Get(MetaGetArgs),
    /// Set the value of an entry
    Set(MetaSetArgs),
    /// Remove an entry
    Del(MetaDelArgs),
}

#[derive(Args)]
pub struct MetaListArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The kind of a metalayer.
#[derive(Args, Clone, Copy)]
pub struct LayerKind {
    /// Only fixed metalayers
    #[arg(long)]
    pub fixed: bool,
    /// Only variable-length metalayers
    #[arg(long, conflicts_with = "fixed")]
    pub variable: bool,
}

#[derive(Args)]
pub struct MetaGetArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The name of the entry
    pub name: String,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// Print a text without quotes
    #[arg(short, long)]
    pub string: bool,
    /// Print the bytes of a metalayer
    #[arg(short, long, conflicts_with = "string")]
    pub raw: bool,
    #[command(flatten)]
    pub kind: LayerKind,
}

#[derive(Args)]
pub struct MetaSetArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The name of the entry
    pub name: String,
    /// The value, in JSON, or '-' for standard input
    #[arg(allow_hyphen_values = true)]
    pub value: String,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// Store the value as a text
    #[arg(short, long)]
    pub string: bool,
    /// Store the bytes of the value in the metalayer
    #[arg(short, long, conflicts_with = "string")]
    pub raw: bool,
    #[command(flatten)]
    pub kind: LayerKind,
}

#[derive(Args)]
pub struct MetaDelArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The name of the entry
    pub name: String,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    #[command(flatten)]
    pub kind: LayerKind,
}

#[derive(Args)]
pub struct InfoArgs {
    /// Files or directories; of several, those of an unknown format are skipped
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Show the values of metalayers
    #[arg(short, long)]
    pub meta: bool,
    /// Print JSON: an array with one object per path
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LsArgs {
    /// Files or directories
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// List the chunks
    #[arg(short, long)]
    pub chunks: bool,
    /// List all objects of a store, not only those of its first level
    #[arg(short, long)]
    pub recursive: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct CatArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The items, as in NumPy: START:STOP:STEP or an index for each dimension, or '...' for all
    /// missing ones: '10:20,::2,-1', '...,0'
    #[arg(short, long, allow_hyphen_values = true)]
    pub slice: Option<String>,
    /// The column of a table or of an array of records; A/B is the column B of A
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Print the raw bytes of the items
    #[arg(short, long, conflicts_with_all = ["csv", "json", "precision", "no_index"])]
    pub raw: bool,
    #[command(flatten)]
    pub text: TextArgs,
}

/// The form of printed items.
#[derive(Args)]
pub struct TextArgs {
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print a line of JSON for each record, or for the items along the last dimension
    #[arg(long)]
    pub json: bool,
    /// Do not print indices
    #[arg(long)]
    pub no_index: bool,
    /// The number of significant digits of floats [default: as needed to read the same number]
    #[arg(short, long, value_name = "DIGITS", value_parser = clap::value_parser!(u8).range(1..=40))]
    pub precision: Option<u8>,
}

#[derive(Args)]
pub struct HeadArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The number of lines
    #[arg(short = 'l', long, default_value_t = 10, value_name = "NUMBER")]
    pub lines: u64,
    /// The column of a table or of an array of records; A/B is the column B of A
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    #[command(flatten)]
    pub text: TextArgs,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON: an array with one object per path
    #[arg(long)]
    pub json: bool,
}
