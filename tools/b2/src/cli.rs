//! Commands and options.

mod help;
mod values;

pub use values::{
    CodecName, FilterName, Goal, Hdf5FilterName, HeaderName, InputFormat, Order, OutputFormat,
    Shape,
};

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;
use values::{delimiter, seconds, shape, tolerance};

/// Inspect, verify, repair, convert and create files of the Blosc family
///
/// Supported formats: chunks of Blosc 1 and 2, frames (a file or a directory), b2nd arrays,
/// Bloscpack files, bcolz directories, .npy and .npz files, Zarr, HDF5, and stores of python-blosc2
/// (.b2z, .b2d, .b2e). File types are detected by content, not by name. '-' as a file is standard
/// input or output.
#[derive(Parser)]
#[command(name = "b2", version, propagate_version = true, after_help = help::STATUSES, after_long_help = help::EXAMPLES)]
pub struct Cli {
    /// Number of threads; 0 is the number of cores (default)
    #[arg(short = 'n', visible_short_alias = 'T', long, global = true, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(0..=256))]
    pub threads: Option<u16>,
    /// Do not show progress, nor the sizes that 'compress' prints
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

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
    #[command(after_help = help::INFO)]
    Info(InfoArgs),
    /// List files, or their chunks, one per line
    #[command(after_help = help::LS)]
    Ls(LsArgs),
    /// Print items as text, CSV, lines of JSON, or raw bytes
    #[command(after_help = help::CAT)]
    Cat(CatArgs),
    /// Print the first items as text
    #[command(after_help = help::HEAD)]
    Head(HeadArgs),
    /// Read files completely and list all faults
    #[command(after_help = help::PLUGINS)]
    Verify(VerifyArgs),
    /// Show the possible repairs; with --write, repair
    #[command(after_help = help::REPAIR)]
    Repair(RepairArgs),
    /// Convert between formats; the extension of OUT or --to selects the format
    #[command(after_help = help::CONVERT)]
    Convert(ConvertArgs),
    /// Compress any files, each into a frame
    #[command(after_help = help::COMPRESS, override_usage = "b2 compress [OPTIONS] IN [OUT]\n       b2 compress [OPTIONS] IN... [-o DIR]")]
    Compress(CompressArgs),
    /// Decompress a file of any format to bytes
    #[command(after_help = help::DECOMPRESS)]
    Decompress(DecompressArgs),
    /// Copy an object of a store to a file, or a group or table to a new store
    #[command(after_help = help::GET)]
    Get(GetArgs),
    /// Add a file to a store, which is created if it does not exist
    #[command(after_help = help::PUT)]
    Put(PutArgs),
    /// Delete objects and groups of a store
    #[command(after_help = help::RM)]
    Rm(RmArgs),
    /// Append data of any format to a frame or array, in place
    #[command(after_help = help::APPEND)]
    Append(AppendArgs),
    /// Change the shape of an array, in place
    #[command(after_help = help::RESIZE)]
    Resize(ResizeArgs),
    /// Join arrays along an axis, stack them, or join super-chunks
    #[command(after_help = help::CONCAT, override_usage = "b2 concat [OPTIONS] INPUT... OUT")]
    Concat(ConcatArgs),
    /// Write a slice of an array to a new array
    #[command(after_help = help::SLICE)]
    Slice(SliceArgs),
    /// Compress frames and arrays again, with other parameters
    #[command(after_help = help::RECOMPRESS, override_usage = "b2 recompress [OPTIONS] IN -o OUT\n       b2 recompress [OPTIONS] IN... -o DIR\n       b2 recompress [OPTIONS] --in-place IN...")]
    Recompress(RecompressArgs),
    /// Remove unused space from frames and arrays, in place
    #[command(after_help = help::COMPACT)]
    Compact(CompactArgs),
    /// Plot the items of a slice with one or two dimensions as SVG or PNG
    #[command(after_help = help::PLOT)]
    Plot(PlotArgs),
    /// Show files, containers and directories in the terminal
    #[command(after_help = help::VIEW)]
    View(ViewArgs),
    /// Measure ratio and speed of codecs, levels and filters
    #[command(after_help = help::BENCH)]
    Bench(BenchArgs),
    /// Print minimum, maximum, mean and a histogram of the items
    #[command(after_help = help::STATS)]
    Stats(StatsArgs),
    /// Compare the data of two files of any formats
    #[command(after_help = help::DIFF)]
    Diff(DiffArgs),
    /// List, print and change metalayers, attributes and metadata
    #[command(after_help = help::META)]
    Meta {
        /// The command
        #[command(subcommand)]
        command: MetaCommand,
    },
    /// Print the completion script of a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page, or write all of them
    #[command(after_help = help::MAN)]
    Man(ManArgs),
}

/// The options of compression and of frames.
#[derive(Args, Clone, Default)]
pub struct Settings {
    /// The codec [default: that of IN, otherwise zstd]
    #[arg(short = 'C', long, ignore_case = true, value_parser = CodecName::parser())]
    pub codec: Option<CodecName>,
    /// The level, from 0 (no compression) to 9 (best ratio) [default: that of IN, otherwise 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// The filters, separated by commas, in order of application [default: those of IN, otherwise
    /// shuffle; 'compress' tries several]
    #[arg(short, long, ignore_case = true, value_parser = FilterName::parser(), value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// The block size, such as 64K [default: depends on the codec]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// The chunk size, such as 4M [default: 1M, for arrays by their shape; 'recompress': that of
    /// IN]
    #[arg(long, value_name = "SIZE")]
    pub chunk_size: Option<String>,
    /// Write frames with checksums, which C-Blosc2 ignores [default; 'recompress': as in IN]
    #[arg(long, overrides_with = "no_checksums")]
    pub checksums: bool,
    /// Write frames without checksums
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

/// The choice of compression by measurements.
#[derive(Args, Clone, Default)]
pub struct Auto {
    /// Measure a sample of IN and choose codec, level and filter [default goal: balanced]
    #[arg(long, value_enum, ignore_case = true, value_name = "GOAL", num_args = 0..=1, require_equals = true, default_missing_value = "balanced", conflicts_with_all = ["codec", "level", "filters"])]
    pub auto: Option<Goal>,
}

#[derive(Args, Clone, Default)]
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
    /// The filter of the chunks of an HDF5 dataset
    #[arg(long, value_enum, value_name = "FILTER", default_value = "32026")]
    pub hdf5_filter: Hdf5FilterName,
    /// Convert all arrays of a .npz file, an HDF5 file, a Zarr group, a store or a directory. If
    /// OUT has the extension of a container, they are written to it, otherwise to a directory with
    /// a file for each array, in the format of --to or b2nd
    #[arg(long, conflicts_with = "column")]
    pub all: bool,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The format of IN [default: detected; otherwise CSV if the name ends with .csv or .tsv, or
    /// bytes if --dtype is given]
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    pub from: Option<InputFormat>,
    /// The character between the fields of a CSV file IN [default: a comma, or a tab if the name
    /// ends with .tsv]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Whether the first line of a CSV file IN contains the names of the columns
    #[arg(long, value_enum, ignore_case = true, value_name = "WHEN", default_value = "auto")]
    pub header: HeaderName,
    /// The type of the items, in NumPy's notation: '<f8', '|S5'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// The shape of the items, such as 365,60,60 [default: one dimension]
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', requires = "dtype")]
    pub shape: Option<Vec<u64>>,
    /// The order of the items of IN
    #[arg(long, value_enum, ignore_case = true, requires = "shape", default_value = "C")]
    pub order: Order,
    /// The chunk shape of a b2nd array, such as 10,60,60
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', conflicts_with = "chunk_size")]
    pub chunks: Option<Vec<u64>>,
    /// The block shape of a b2nd array
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', conflicts_with = "block_size")]
    pub blocks: Option<Vec<u64>>,
    /// Convert the bytes of an array, without type and shape
    #[arg(short, long, conflicts_with = "dtype")]
    pub raw: bool,
    /// Store leaves with less than SIZE bytes of data in 'embed.b2e', and the others as files; 0
    /// makes all of them files [default: as in IN]
    #[arg(long, value_name = "SIZE")]
    pub embed: Option<String>,
    /// Fail if OUT does not support a metalayer, attribute, fill value or codec parameter of IN
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub auto: Auto,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct CompressArgs {
    /// Files, or '-'; the second of exactly two paths is the frame to write, but an input if it
    /// exists and is not a frame [default of OUT: IN.b2frame]
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
    pub auto: Auto,
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
pub struct AppendArgs {
    /// The frame or array to change
    pub file: PathBuf,
    /// Files or directories of any format, or '-'
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,
    /// The axis along which an array grows; negative numbers count from the last one [default: 0]
    #[arg(short, long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub axis: Option<i64>,
    /// Append the bytes of the inputs, whatever their format
    #[arg(short, long)]
    pub raw: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct ResizeArgs {
    /// The array to change
    pub file: PathBuf,
    /// The new shape: an extent for each dimension, separated by commas
    #[arg(value_parser = shape)]
    pub shape: Shape,
    /// Allow extents to become smaller, which removes items
    #[arg(long)]
    pub shrink: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct ConcatArgs {
    /// Files or directories of any format; the last path is the frame to write, or '-'
    #[arg(value_name = "PATH", required = true, num_args = 2..)]
    pub paths: Vec<PathBuf>,
    /// The axis along which arrays are joined, or the position of the new axis; negative numbers
    /// count from the last one [default: 0]
    #[arg(short, long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub axis: Option<i64>,
    /// Join arrays of the same shape along a new axis
    #[arg(short, long)]
    pub stack: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct SliceArgs {
    /// An array, or '-'
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// The items, as in NumPy: '10:20,::2,-1', '...,0'
    #[arg(allow_hyphen_values = true)]
    pub slice: String,
    /// The array to write, or '-'
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
#[command(group(clap::ArgGroup::new("target").required(true).args(["output", "in_place"])))]
pub struct RecompressArgs {
    /// Frames or arrays
    #[arg(value_name = "IN", required = true)]
    pub paths: Vec<PathBuf>,
    /// The frame to write, or the directory for the frames, which is created
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Replace each IN
    #[arg(short, long)]
    pub in_place: bool,
    /// The chunk shape of arrays, such as 100,200
    #[arg(long, value_name = "SHAPE", value_parser = shape, conflicts_with = "chunk_size")]
    pub chunks: Option<Shape>,
    /// The block shape of arrays, such as 10,20
    #[arg(long, value_name = "SHAPE", value_parser = shape, conflicts_with = "block_size")]
    pub blocks: Option<Shape>,
    /// Print JSON: an array with one object per path
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: Settings,
}

#[derive(Args)]
pub struct CompactArgs {
    /// Frames or arrays
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Print JSON: an array with one object per path
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
    /// The maximum number of bytes to compress: chunks that are distributed over the data
    #[arg(long, value_name = "SIZE", default_value = "32M")]
    pub sample: String,
    /// The maximum time in seconds; the remaining settings are not measured
    #[arg(long, value_name = "NUMBER", default_value_t = 60.0, value_parser = seconds)]
    pub seconds: f64,
    /// Write a plot of speed against ratio to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Replace the file of the plot if it exists
    #[arg(long, requires = "svg")]
    pub force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct ViewArgs {
    /// A file of any format, a store, or a directory
    #[arg(default_value = ".")]
    pub path: PathBuf,
}

#[derive(Args)]
pub struct PlotArgs {
    /// A file or directory
    pub file: PathBuf,
    /// The items, as in NumPy: '10:20,::2,-1', '...,0' [default: all]
    #[arg(allow_hyphen_values = true)]
    pub slice: Option<String>,
    /// The file to write, with the extension .svg or .png
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The column of a table or of an array of records; A/B is the column B of A
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The type of the items, in NumPy's notation: '<f8'
    #[arg(short, long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Replace an existing OUT
    #[arg(long)]
    pub force: bool,
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
    /// A file, a directory or STORE:/KEY, or '-'
    #[arg(value_name = "A")]
    pub one: PathBuf,
    /// A file, a directory or STORE:/KEY, or '-'
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

#[derive(Args)]
pub struct ManArgs {
    /// The command of the page, such as 'append' or 'meta list'
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Vec<String>,
    /// Write a file for the page of b2 and for that of each command to this directory
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// The commands of `meta`.
#[derive(Subcommand)]
pub enum MetaCommand {
    /// List all entries with their values
    #[command(after_help = help::META_LIST)]
    List(MetaListArgs),
    /// Print the value of an entry as JSON
    #[command(after_help = help::META_GET)]
    Get(MetaGetArgs),
    /// Set the value of an entry
    #[command(after_help = help::META_SET)]
    Set(MetaSetArgs),
    /// Remove an entry
    #[command(after_help = help::META_DEL)]
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
    /// Files or directories; with several, those of an unknown format are skipped
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
    /// List the files in all directories below, and all objects of stores, not only those of the
    /// first level
    #[arg(short, long)]
    pub recursive: bool,
    /// List them as a tree
    #[arg(short, long, conflicts_with = "json")]
    pub tree: bool,
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
    /// The column of a table or of an array of records; A/B is the column B of A. A table in a
    /// store can have several: 'A,B'
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The condition that printed rows of a table in a store satisfy: 'a > 3 and b == "x"'
    #[arg(short = 'w', long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub condition: Option<String>,
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
    /// The column of a table or of an array of records; A/B is the column B of A. A table in a
    /// store can have several: 'A,B'
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The condition that printed rows of a table in a store satisfy: 'a > 3 and b == "x"'
    #[arg(short = 'w', long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    pub condition: Option<String>,
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
