//! Commands and options.

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// One tool for everything Blosc
///
/// Looks into, checks, converts and makes files of the Blosc family: chunks of Blosc 1 and 2, frames (one file or a
/// directory), b2nd arrays, Bloscpack files, directories of bcolz, and .npy files. What a file is, is told by its
/// content, never by its name. Where a file is read or written, '-' is standard input or output.
#[derive(Parser)]
#[command(name = "b2", version, propagate_version = true, after_help = STATUSES, after_long_help = EXAMPLES)]
pub struct Cli {
    /// Threads to work with [default: one for each core]
    #[arg(short = 'n', long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Show no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

const STATUSES: &str = "Exit status: 0 success, 1 error, 2 wrong command line, 3 corrupt data, 4 a plugin is missing. See 'b2 help COMMAND'.";

const EXAMPLES: &str = "\
Exit status: 0 success, 1 error, 2 wrong command line, 3 corrupt data, 4 a plugin is missing.

Examples:
  b2 info climate.b2nd                     what is in a file
  b2 ls data/                              what is in a folder
  b2 head table                            the first rows of a bcolz table
  b2 cat climate.b2nd --slice '0,:3,5:8'   some items of an array
  b2 repair climate.b2nd                   what could be mended
  b2 bench climate.b2nd --svg plot.svg     which codec suits the data
  b2 convert climate.npy climate.b2nd      another format
  tar c data | b2 compress - data.b2frame  anything, from a pipe
  b2 verify *.b2frame || echo damaged      check files";

impl Cli {
    /// The threads to work with.
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
    /// Say what files are and what is in them
    Info(InfoArgs),
    /// List files and what is in them, a line each
    Ls(LsArgs),
    /// Print items as text, or as they are
    Cat(CatArgs),
    /// Print the first items as text
    Head(HeadArgs),
    /// Read everything and tell what is wrong; exit status 3 if something is, 4 if a plugin is missing
    #[command(after_help = PLUGINS)]
    Verify(VerifyArgs),
    /// Tell what can be mended, and with --write mend it
    #[command(after_help = REPAIR)]
    Repair(RepairArgs),
    /// Convert between formats; the format of OUT is told by its ending or by --to
    #[command(after_help = CONVERT)]
    Convert(ConvertArgs),
    /// Compress a file of any kind into a frame
    Compress(CompressArgs),
    /// Write the bytes that are in a file of any format
    Decompress(DecompressArgs),
    /// Compress data with every codec, level and filter, and tell speeds and ratios
    Bench(BenchArgs),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

const PLUGINS: &str = "\
Without checksums the structure of the data is checked, and that all chunks decompress.
Codecs and filters that are not built in are loaded as the library loads them: from libblosc2_NAME.so where the dynamic
linker finds it (LD_LIBRARY_PATH), and with FERROBLOSC_PLUGIN_SEARCH=1 from the Python package blosc2-NAME. What needs
one that is missing is not damaged: it can't be judged.";

const REPAIR: &str = "\
Frames and b2nd arrays: chunks that can't be read become zeros, metalayers that can't are left out; if index or
trailer are lost, chunks are found by walking from one to the next. Bloscpack files: interrupted changes are undone,
lost chunks become zeros, offsets and checksums are written anew. Both are made anew; the old file keeps its bytes
under its name with '.broken' behind it. Directories of bcolz are mended in their place; each file that is replaced is
kept in the same way. Of chunks and .npy files nothing can be mended.
What needs a codec or filter that is missing is never changed.
Exit status: 0 when nothing is wrong (any more), 3 when something is, 4 when only a plugin is missing.";

const CONVERT: &str = "\
Endings: .b2frame .b2nd .blp .npy .bcolz .blosc1 .blosc2 .bin (bytes alone).
Chunks are taken as they are where both formats have the same and nothing is said about compression; else codec, level
and filters stay those of IN where OUT has them. Metalayers, attributes, metadata and fill values go along where OUT can
hold them; what it can't is named on standard error, and with --strict it is an error.

Examples:
  b2 convert table.bcolz table.b2nd --column price
  b2 convert climate.npy climate.b2nd --codec zstd --level 9
  b2 convert old.b2frame new.b2frame          today's layout
  b2 convert climate.b2nd climate --to bcolz";

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum To {
    B2frame,
    B2nd,
    Blp,
    Bcolz,
    Npy,
    Blosc1,
    Blosc2,
    /// The bytes alone
    Bin,
}

/// A codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CodecName {
    Blosclz,
    Lz4,
    Lz4hc,
    Zlib,
    Zstd,
}

/// A filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FilterName {
    None,
    Shuffle,
    Bitshuffle,
    Delta,
    Bytedelta,
}

/// How something is compressed.
#[derive(Args)]
pub struct Settings {
    /// The codec [default: zstd]
    #[arg(short = 'C', long, value_enum)]
    pub codec: Option<CodecName>,
    /// The level: 0 stores, 9 is densest [default: 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// The filters, with commas between them, in the order they are applied [default: shuffle]
    #[arg(short, long, value_enum, value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// Bytes of a block, such as 64K [default: what suits the codec]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// Bytes of a chunk, such as 4M [default: 1M]
    #[arg(long, value_name = "SIZE")]
    pub chunk_size: Option<String>,
    /// Give the chunks of frames checksums, which is the default
    #[arg(long, overrides_with = "no_checksums")]
    pub checksums: bool,
    /// Make frames without checksums; other readers of Blosc2 don't see them
    #[arg(long, overrides_with = "checksums")]
    pub no_checksums: bool,
    /// Make frames so that a crash leaves a whole one or none
    #[arg(long)]
    pub durable: bool,
    /// Make frames as directories with a file for each chunk
    #[arg(long)]
    pub directory: bool,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct ConvertArgs {
    /// A file or directory
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// What to make of it
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// The format of OUT
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Option<To>,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type to take all bytes for, as NumPy writes it: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Take the bytes alone, without the type and shape of an array
    #[arg(short, long, conflicts_with = "dtype")]
    pub raw: bool,
    /// Fail when OUT can't hold a metalayer, attribute, fill value or codec parameter of IN
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
    /// The frame, or '-' [default: IN.b2frame]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Bytes of an item
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
    /// The bytes, or '-' [default: IN without its .b2frame]
    #[arg(value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct RepairArgs {
    /// A file or directory
    pub path: PathBuf,
    /// Mend it; without this, only tell what would be done
    #[arg(long)]
    pub write: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BenchArgs {
    /// A file: of a known format the data in it, else its bytes
    pub file: PathBuf,
    /// The codecs, with commas between them [default: all]
    #[arg(short, long, value_enum, value_delimiter = ',')]
    pub codecs: Vec<CodecName>,
    /// The levels, with commas between them
    #[arg(short, long, value_delimiter = ',', default_value = "1,5,9", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Vec<u8>,
    /// The filters, with commas between them [default: none, shuffle and bitshuffle]
    #[arg(short, long, value_enum, value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// Bytes of an item [default: what the file tells, else 8]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..))]
    pub typesize: Option<u8>,
    /// Bytes of a chunk, such as 4M
    #[arg(long, value_name = "SIZE", default_value = "1M")]
    pub chunk_size: String,
    /// How much of the data is used, from its beginning
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
    /// Print JSON, an object for each path in an array
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LsArgs {
    /// Files or directories
    #[arg(default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// List the chunks of each
    #[arg(short, long)]
    pub chunks: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct CatArgs {
    /// A file or directory
    pub path: PathBuf,
    /// Which items, as NumPy's: a range START:STOP or an index for each dimension, '10:20,:,-1'
    #[arg(short, long, allow_hyphen_values = true)]
    pub slice: Option<String>,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type to take the items for, as NumPy writes it: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Print the bytes of the items as they are stored
    #[arg(short, long)]
    pub raw: bool,
}

#[derive(Args)]
pub struct HeadArgs {
    /// A file or directory
    pub path: PathBuf,
    /// How many lines
    #[arg(short = 'l', long, default_value_t = 10, value_name = "NUMBER")]
    pub lines: u64,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type to take the items for, as NumPy writes it: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Files or directories
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON, an object for each path in an array
    #[arg(long)]
    pub json: bool,
}
