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
/// Bloscpack files, bcolz directories, .npy and .npz files, Zarr, and stores of python-blosc2
/// (.b2z, .b2d, .b2e). File types are detected by content, not by name. '-' as a file is standard input or output.
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
    #[command(after_help = INFO)]
    Info(InfoArgs),
    /// List files, or their chunks, one per line
    #[command(after_help = LS)]
    Ls(LsArgs),
    /// Print items as text, CSV, lines of JSON, or raw bytes
    #[command(after_help = CAT)]
    Cat(CatArgs),
    /// Print the first items as text
    #[command(after_help = HEAD)]
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
    #[command(after_help = DECOMPRESS)]
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
    /// Append data of any format to a frame or array, in place
    #[command(after_help = APPEND)]
    Append(AppendArgs),
    /// Change the shape of an array, in place
    #[command(after_help = RESIZE)]
    Resize(ResizeArgs),
    /// Join arrays along an axis, stack them, or join super-chunks
    #[command(after_help = CONCAT, override_usage = "b2 concat [OPTIONS] INPUT... OUT")]
    Concat(ConcatArgs),
    /// Write a slice of an array to a new array
    #[command(after_help = SLICE)]
    Slice(SliceArgs),
    /// Compress frames and arrays again, with other parameters
    #[command(after_help = RECOMPRESS, override_usage = "b2 recompress [OPTIONS] IN -o OUT\n       b2 recompress [OPTIONS] IN... -o DIR\n       b2 recompress [OPTIONS] --in-place IN...")]
    Recompress(RecompressArgs),
    /// Remove unused space from frames and arrays, in place
    #[command(after_help = COMPACT)]
    Compact(CompactArgs),
    /// Plot the items of a slice with one or two dimensions as SVG or PNG
    #[command(after_help = PLOT)]
    Plot(PlotArgs),
    /// Measure ratio and speed of codecs, levels and filters
    #[command(after_help = BENCH)]
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
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page, or write all of them
    #[command(after_help = MAN)]
    Man(ManArgs),
}

const PLUGINS: &str = "\
Without checksums, only the structure of the data is checked, and that all
chunks decompress.

Codecs and filters that are not built in are loaded from the library
libblosc2_NAME.so, if the dynamic linker finds it (LD_LIBRARY_PATH), and with
FERROBLOSC_PLUGIN_SEARCH=1 from the Python package blosc2-NAME. Data that need a
missing plugin are not reported as damaged.

Examples:
  b2 verify climate.b2nd
  b2 verify --json data/* > faults.json";

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
Chunks, .npy and .npz files and Zarr cannot be repaired.
Data that need a missing plugin are never changed.

Exit status: 0 no faults, or all repaired; 1 error; 2 invalid command line; 3
faults; 4 only a plugin is missing.

Examples:
  b2 repair climate.b2nd
  b2 repair --write climate.b2nd";

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

const INFO: &str = "\
Examples:
  b2 info climate.b2nd
  b2 info --meta --json data/* | jq '.[].array.shape'
  b2 info store.b2z:/key";

const LS: &str = "\
Examples:
  b2 ls data/
  b2 ls --chunks climate.b2nd
  b2 ls -r store.b2z
  b2 ls --tree data/";

const HEAD: &str = "\
Examples:
  b2 head table.bcolz
  b2 head --lines 3 --csv climate.b2nd";

const DECOMPRESS: &str = "\
Examples:
  b2 decompress climate.f4.b2frame            write climate.f4
  b2 decompress data.b2frame - | tar x";

const BENCH: &str = "\
Examples:
  b2 bench climate.b2nd --svg plot.svg
  b2 bench data.raw --typesize 4 --codecs lz4,zstd --levels 1,9";

const META_LIST: &str = "\
Examples:
  b2 meta list climate.b2nd
  b2 meta list table.bcolz --column price --json";

const META_GET: &str = "\
Examples:
  b2 meta get climate.b2nd units --string
  b2 meta get climate.b2nd range | jq .[0]";

const META_SET: &str = "\
Examples:
  b2 meta set climate.b2nd units --string K
  b2 meta set climate.b2nd range '[250, 310.5]'";

const META_DEL: &str = "\
Example:
  b2 meta del climate.b2nd units";

const COMPLETIONS: &str = "\
Example:
  b2 completions bash > ~/.local/share/bash-completion/completions/b2";

const MAN: &str = "\
Without COMMAND, the page of b2 is printed, which also describes all commands.

Examples:
  b2 man append | man -l -
  b2 man --output ~/.local/share/man/man1";

const CONVERT: &str = "\
Extensions: .b2frame .b2nd .blp .npy .npz .zarr .zarr.zip .bcolz .blosc1 .blosc2
 .bin (bytes only); for stores and directories of frames .b2z (zip file), .b2d
(directory) and .b2e (frame). FILE:/NAME is an array in a .npz file or a Zarr
group, as IN and as OUT, and STORE:/KEY an object in a store, as IN. '--to zarr2'
writes version 2 of Zarr.

Chunks are copied without recompression if both formats have the same chunks and
no option of compression is set. Otherwise, codec, level and filters are those
of IN, if OUT supports them. Metalayers, attributes, metadata and fill values
are kept if OUT supports them; others are listed on standard error. With
--strict they are an error.

Examples:
  b2 convert table.bcolz table.b2nd --column price
  b2 convert climate.npy climate.b2nd --codec zstd --level 9
  b2 convert climate.f4 climate.b2nd --dtype f4 --shape 365,60,60
  b2 convert old.b2frame new.b2frame          the current layout
  b2 convert climate.b2nd climate --to bcolz
  b2 convert bundle.b2z bundle.b2d
  b2 convert bundle.b2z:/temperature t.npy
  b2 convert climate.zarr:/temperature temperature.b2nd
  b2 convert climate.zarr climate --all       a file for each array";

const APPEND: &str = "\
Items are appended to an array along an axis; item types and the other extents
must be equal. Bytes are appended to a super-chunk. All inputs are appended in
one change: after an error or a crash the file has its old content.

The data of known formats are decompressed first, those of other files are raw
bytes. Chunks that fit are copied without decompression.

Examples:
  b2 append climate.b2nd 2026.npy 2027.b2nd
  b2 append climate.b2nd --axis 1 stations.npy
  b2 append log.b2frame --raw today.log
  sensor | b2 append samples.b2frame -";

const RESIZE: &str = "\
New items are zero, except those that an earlier resize removed within a chunk:
they reappear. The change is durable.

Examples:
  b2 resize climate.b2nd 1000,180,360
  b2 resize climate.b2nd 10,180,360 --shrink";

const COMPACT: &str = "\
Chunks are not compressed again. The new file replaces the old one when it is
complete. In a directory, files without an entry in the index are removed.

Example:
  b2 compact climate.b2nd samples.b2frame";

const PLOT: &str = "\
One dimension is plotted as a line; for many items, as the range between the
least and the greatest item of each pixel. Two dimensions are plotted as an
image; in large ones a pixel is the mean of its items. NaN and infinities are
left out. The extension of OUT selects the format; PNG has no axes.

Examples:
  b2 plot climate.b2nd '0,...' -o map.svg
  b2 plot climate.b2nd ':,10,20' -o series.svg
  b2 plot table.bcolz --column price -o price.png";

const CONCAT: &str = "\
Type, metadata, chunk and block shapes are those of the first input; inputs of
all formats are accepted. Chunks are copied without decompression if no option
of compression is set and the chunks fit: those of b2nd arrays with the same
chunk and block shapes whose predecessors end at a chunk boundary (for --stack:
always), those of super-chunks with the same item and chunk sizes whose
predecessors end with a full chunk.

Examples:
  b2 concat 2024.b2nd 2025.b2nd climate.b2nd
  b2 concat north.b2nd south.b2nd --axis 1 world.b2nd
  b2 concat day*.npy week.b2nd --stack
  b2 concat a.b2frame b.b2frame both.b2frame";

const SLICE: &str = "\
SLICE has START:STOP:STEP or an index for each dimension, or '...' for all
missing ones. An index removes its dimension. The output has the type, the
metadata and the parameters of compression of the array. If the slice has no
steps and begins at chunk boundaries, whole chunks are copied without
decompression.

Examples:
  b2 slice climate.b2nd '100:200,...' part.b2nd
  b2 slice climate.b2nd '0,::-10' reversed.b2nd";

const RECOMPRESS: &str = "\
Without options for them, codec, level, filters, chunks, blocks and checksums
stay the same. Metadata are kept. The new data are compared with the old ones
before the new file gets its name; if they differ, nothing is changed.

With --in-place the new file replaces the old one when it is complete and on the
disk. If another program changes the old one in the meantime, this is an error.

Examples:
  b2 recompress climate.b2nd --codec zstd --level 9 -o small.b2nd
  b2 recompress *.b2nd --chunks 100,180,360 --blocks 10,90,90 -o rechunked
  b2 recompress data/*.b2frame --level 9 --in-place";

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    B2frame,
    B2nd,
    Blp,
    Bcolz,
    Npy,
    Npz,
    /// Zarr version 3
    #[value(alias = "zarr3")]
    Zarr,
    /// Zarr version 2
    Zarr2,
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

/// An input format that is not detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    /// Bytes without type and shape
    Bin,
}

/// The order of the items of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// The last dimension varies fastest
    #[value(name = "C")]
    C,
    /// The first dimension varies fastest
    #[value(name = "F")]
    Fortran,
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
    /// The codec [default: that of IN, otherwise zstd]
    #[arg(short = 'C', long, ignore_case = true, value_parser = CodecName::parser())]
    pub codec: Option<CodecName>,
    /// The level, from 0 (no compression) to 9 (best ratio) [default: that of IN, otherwise 5]
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: Option<u8>,
    /// The filters, separated by commas, in order of application [default: shuffle, or that of IN; 'compress': chosen]
    #[arg(short, long, ignore_case = true, value_parser = FilterName::parser(), value_delimiter = ',')]
    pub filters: Vec<FilterName>,
    /// The block size, such as 64K [default: depends on the codec]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<String>,
    /// The chunk size, such as 4M [default: 1M; 'recompress': that of IN]
    #[arg(long, value_name = "SIZE")]
    pub chunk_size: Option<String>,
    /// Write frames with checksums [default; 'recompress': as in IN]
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
    /// Convert all arrays of a .npz file or a Zarr group to files in the directory OUT, of the format
    /// --to or b2nd
    #[arg(long, conflicts_with = "column")]
    pub all: bool,
    /// The column of a table
    #[arg(short, long, value_name = "NAME")]
    pub column: Option<String>,
    /// The format of IN [default: detected, or bytes if it is unknown and --dtype is given]
    #[arg(long, value_enum, ignore_case = true, value_name = "FORMAT")]
    pub from: Option<InputFormat>,
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

/// The shape of an array.
#[derive(Clone, Debug)]
pub struct Shape(pub Vec<u64>);

/// Parses a shape.
fn shape(text: &str) -> Result<Shape, String> {
    let lengths = text.split(',').map(|text| {
        let number = text.trim().parse::<u64>().ok().filter(|&len| i64::try_from(len).is_ok());
        number.ok_or_else(|| {
            format!("'{text}' is no extent; a shape has a number for each dimension: 100,20")
        })
    });
    lengths.collect::<Result<_, _>>().map(Shape)
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
    #[command(after_help = META_LIST)]
    List(MetaListArgs),
    /// Print the value of an entry as JSON
    #[command(after_help = META_GET)]
    Get(MetaGetArgs),
    /// Set the value of an entry
    #[command(after_help = META_SET)]
    Set(MetaSetArgs),
    /// Remove an entry
    #[command(after_help = META_DEL)]
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
