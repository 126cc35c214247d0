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
    /// Number of threads [default: number of cores]
    #[arg(short = 'n', long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Do not show the progress
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
            Some(number) => number.into(),
            None => std::thread::available_parallelism().map_or(1, usize::from),
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
    /// Print items as text or as raw bytes
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
    /// Compress any file into a frame
    Compress(CompressArgs),
    /// Decompress a file of any format to bytes
    Decompress(DecompressArgs),
    /// Measure ratio and speed of codecs, levels and filters
    Bench(BenchArgs),
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
Chunks and .npy files cannot be repaired.
Data that need a missing plugin are never changed.

Exit status: 0 no faults, or all repaired; 3 faults; 4 only a plugin is missing.";

const CONVERT: &str = "\
Extensions: .b2frame .b2nd .blp .npy .bcolz .blosc1 .blosc2 .bin (bytes only).

Chunks are copied without recompression if both formats have the same chunks and
no option of compression is set. Otherwise, codec, level and filters are those
of IN, if OUT supports them. Metalayers, attributes, metadata and fill values
are kept if OUT supports them; others are listed on standard error. With
--strict they are an error.

Examples:
  b2 convert table.bcolz table.b2nd --column price
  b2 convert climate.npy climate.b2nd --codec zstd --level 9
  b2 convert old.b2frame new.b2frame          the current layout
  b2 convert climate.b2nd climate --to bcolz";

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
            all.find(|codec| codec.name() == name).expect("clap allows only these names")
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
            all.find(|filter| filter.name() == name).expect("clap allows only these names")
        })
    }
}

/// The options of compression and of frames.
#[derive(Args)]
pub struct Settings {
    /// The codec [default: zstd]
    #[arg(short = 'C', long, value_parser = CodecName::parser())]
    pub codec: Option<CodecName>,
    /// The level, from 0 (no compression) to 9 (best ratio) [default: 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// The filters, separated by commas, in order of application [default: shuffle]
    #[arg(short, long, value_parser = FilterName::parser(), value_delimiter = ',')]
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
    #[arg(long, value_enum, value_name = "FORMAT")]
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
    /// Fail if OUT does not support a metalayer, attribute, fill value or codec parameter of IN
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct CompressArgs {
    /// A file, or '-'
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The frame to write, or '-' [default: IN.b2frame]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The size of an item in bytes
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: u8,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct DecompressArgs {
    /// A file or directory, or '-'
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write, or '-' [default: IN without .b2frame]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Replace an existing OUT
    #[arg(long)]
    pub force: bool,
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
    #[arg(short, long, value_parser = CodecName::parser(), value_delimiter = ',')]
    pub codecs: Vec<CodecName>,
    /// The levels, separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "1,5,9", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Vec<u8>,
    /// The filters, separated by commas [default: none, shuffle and bitshuffle]
    #[arg(short, long, value_parser = FilterName::parser(), value_delimiter = ',')]
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
pub struct InfoArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
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
    /// The items, as in NumPy: START:STOP or an index for each dimension, '10:20,:,-1'
    #[arg(short, long, allow_hyphen_values = true)]
    pub slice: Option<String>,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Print the raw bytes of the items
    #[arg(short, long)]
    pub raw: bool,
}

#[derive(Args)]
pub struct HeadArgs {
    /// A file or directory
    pub path: PathBuf,
    /// The number of lines
    #[arg(short = 'l', long, default_value_t = 10, value_name = "NUMBER")]
    pub lines: u64,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
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
