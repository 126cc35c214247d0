//! The texts after the options in the help of commands.

pub const STATUSES: &str = "\
Exit status: 0 success, 1 error, 2 invalid command line, 3 corrupt data, 4 missing plugin.
See 'b2 help COMMAND'.";

pub const EXAMPLES: &str = "\
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

pub const PLUGINS: &str = "\
Without checksums, only the structure of the data is checked, and that all
chunks decompress.

Codecs and filters that are not built in are loaded from the library
libblosc2_NAME.so, if the dynamic linker finds it (LD_LIBRARY_PATH), and with
FERROBLOSC_PLUGIN_SEARCH=1 from the Python package blosc2-NAME. Data that need a
missing plugin are not reported as damaged.

Examples:
  b2 verify climate.b2nd
  b2 verify --json data/* > faults.json";

pub const REPAIR: &str = "\
Frames and b2nd arrays: unreadable chunks become zeros, and unreadable
metalayers are removed. If the index or the trailer is lost, b2 searches the
data for chunks.
Bloscpack files: interrupted changes are undone, unreadable chunks become zeros,
and offsets and checksums are written again.
The repaired frame or Bloscpack file is a new file; the old one is renamed to
its name with '.broken' appended.
bcolz directories are repaired in place; the old version of each changed file is
kept in the same way.
Stores: a sound copy replaces the store, which is kept in the same way. No leaf
is changed. Damaged leaves, and frames without a key, get keys in the group
/lost; unreadable leaves are omitted and listed.
Chunks, .npy and .npz files, Zarr and HDF5 cannot be repaired.
Data that need a missing plugin are never changed.

Exit status: 0 no faults, or all repaired; 1 error; 2 invalid command line; 3
faults; 4 only a plugin is missing.

Examples:
  b2 repair climate.b2nd
  b2 repair --write climate.b2nd";

pub const GET: &str = "\
An object is copied as the frame that is stored. A group or a table becomes a
store: a zip file (.b2z), a directory (.b2d) or a frame (.b2e). 'b2 convert
STORE:/KEY OUT' converts an object to another format.

Examples:
  b2 get bundle.b2z /climate/temperature temperature.b2nd
  b2 get bundle.b2z /climate climate.b2z";

pub const PUT: &str = "\
The suffix of a new store determines its form: a zip file (.b2z), a directory
(.b2d) or a frame (.b2e). Frames and b2nd arrays are stored unchanged; data of
other formats become an array, or a frame if they have no type.

Examples:
  b2 put bundle.b2z /climate/temperature temperature.b2nd
  b2 put bundle.b2z /table/price table.bcolz --column price";

pub const RM: &str = "\
Deleting a group deletes everything in it. A table is deleted as a whole.

Example:
  b2 rm bundle.b2z /climate/temperature /old";

pub const COMPRESS: &str = "\
Without --typesize, a sample of each input is compressed in several ways: without
a filter; with shuffle and items of 1, 2, 4 and 8 bytes; and, if the file has
records of equal size, with that size. The smallest result decides. With
--filters, only the size of the items is chosen.

With --auto, all codecs, levels 1, 5 and 9, and no filter, shuffle and bitshuffle
are measured with a sample of at most 4 MiB, and the best is used; 'b2 bench'
explains the goals. Only with --auto=size is the choice always the same.

With -o DIR, directories of a recursive search become directories in DIR.
On a terminal, a line with the sizes is printed for each file.

Examples:
  b2 compress climate.f4                      write climate.f4.b2frame
  b2 compress climate.f4 climate.b2frame
  b2 compress climate.f4 --auto=read          choose what is read fastest
  b2 compress *.raw -o packed --rm            replace files by frames in 'packed'
  b2 compress -r data -o packed               compress all files below 'data'
  tar c data | b2 compress - data.b2frame     compress a pipe";

pub const CAT: &str = "\
A line contains the items along the last dimension, after the indices of the
other ones, or a record. In JSON, such a line is {\"index\": [...], \"values\":
[...]}, for one dimension {\"index\": [...], \"value\": ...}, with --no-index the
values alone, and for records an object. NaN and infinities are null in JSON.
Tables in stores are printed as JSON or CSV; --slice selects their rows.

Examples:
  b2 cat climate.b2nd --slice '0,:3,5:8'
  b2 cat climate.b2nd --slice '...,::-10' --precision 4
  b2 cat table.bcolz --csv --no-index > table.csv
  b2 cat records.npy --column price --json | jq .value
  b2 cat store.b2z:/table --where 'a > 3 and b == \"x\"' --column a,b";

pub const STATS: &str = "\
Mean, standard deviation and histogram are those of the finite items. Each line
of the histogram has the start of a bin, the number of items and a bar. For
records, the statistics of each field are printed.

Examples:
  b2 stats climate.b2nd
  b2 stats climate.f4.b2frame --dtype '<f4' --bins 40
  b2 stats table.bcolz --column price --json";

pub const DIFF: &str = "\
Numbers are compared by value, whatever their size and byte order; NaN equals
NaN. Numbers are close if |A - B| <= TOLERANCE + RELATIVE * |B|. If A or B has no
type, the bytes are compared. Metadata are not compared.

STORE:/KEY is an object in a store, FILE:/NAME an array in another container. If A
and B are stores, groups, files with several arrays or directories, all objects
with the same path are compared, and a line for each states whether it is equal,
how it differs, or which side has it.

Exit status: 0 equal, 1 different, 2 error, 3 corrupt data, 4 missing plugin.

Examples:
  b2 diff climate.npy climate.b2nd
  b2 diff old.b2nd new.b2nd --relative 1e-6
  b2 diff climate.b2z:/daily/maps maps.npy
  b2 diff climate.b2z climate.zarr
  b2 diff a.b2frame b.b2frame --silent || echo different";

pub const META: &str = "\
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

pub const INFO: &str = "\
Examples:
  b2 info climate.b2nd
  b2 info --meta --json data/* | jq '.[].array.shape'
  b2 info store.b2z:/key";

pub const LS: &str = "\
Examples:
  b2 ls data/
  b2 ls --chunks climate.b2nd
  b2 ls -r store.b2z
  b2 ls --tree data/";

pub const HEAD: &str = "\
Examples:
  b2 head table.bcolz
  b2 head --lines 3 --csv climate.b2nd";

pub const DECOMPRESS: &str = "\
Examples:
  b2 decompress climate.f4.b2frame            write climate.f4
  b2 decompress data.b2frame - | tar x";

pub const BENCH: &str = "\
A setting is on the Pareto front for reading if no other setting is both at
least as small and at least as fast to decompress, and better in one of the two.
The front for writing compares the speed of compression instead. Recommended for
reading is the setting with the least time to read the compressed bytes at
1 GB/s and to decompress them; for writing, to compress and to write them; for
size, the smallest; balanced, the least time for both at 100 MB/s. The memory is
about three times the sample.

Examples:
  b2 bench climate.b2nd --svg plot.svg
  b2 bench data.raw --typesize 4 --codecs lz4,zstd --levels 1,9
  b2 bench climate.b2nd --seconds 10 --json | jq .recommended.read";

pub const VIEW: &str = "\
Containers, tables and directories are shown as a tree, arrays and tables as
cells, of which only the visible ones are decoded. 'd', 'm' and 'c' show the data,
the metadata and a map of the chunks with their compression ratios; '?' shows all
keys, 'q' quits. Standard input and output must be a terminal. NO_COLOR turns the
colours off; the chunk map then consists of characters.

Examples:
  b2 view climate.b2nd
  b2 view store.b2z
  b2 view group.zarr:/temperature";

pub const META_LIST: &str = "\
Examples:
  b2 meta list climate.b2nd
  b2 meta list table.bcolz --column price --json";

pub const META_GET: &str = "\
Examples:
  b2 meta get climate.b2nd units --string
  b2 meta get climate.b2nd range | jq '.[0]'";

pub const META_SET: &str = "\
Examples:
  b2 meta set climate.b2nd units --string K
  b2 meta set climate.b2nd range '[250, 310.5]'";

pub const META_DEL: &str = "\
Example:
  b2 meta del climate.b2nd units";

pub const COMPLETIONS: &str = "\
Example:
  b2 completions bash > ~/.local/share/bash-completion/completions/b2";

pub const MAN: &str = "\
Without COMMAND, the page of b2 is printed, which also describes all commands.

Examples:
  b2 man append | man -l -
  b2 man --output ~/.local/share/man/man1";

pub const CONVERT: &str = "\
Extensions: .b2frame .b2nd .blp .npy .npz .zarr .zarr.zip .h5 .bcolz .csv
.blosc1 .blosc2 .bin (bytes only); for stores and directories of frames .b2z (zip file),
.b2d (directory) and .b2e (frame). FILE:/NAME is an array in a .npz file, an
HDF5 file or a Zarr group, as IN and as OUT, and STORE:/KEY an object in a
store, as IN. '--to zarr2' writes version 2 of Zarr. An array is added to an
HDF5 file that exists. A table in a store becomes a file .arrow, .feather or
.parquet, and such a file a store that is a table.

The types of a CSV file are found from all its lines: Booleans, integers, floats
or text for each column, or one array if a type holds all values and the first
line contains no names. Fields without a value are NaN.

Chunks are copied without recompression if both formats have the same chunks and
no option of compression is set. Otherwise, codec, level and filters are those
of IN, if OUT supports them. Metalayers, attributes, metadata and fill values
are kept if OUT supports them; others are listed on standard error. With
--strict they are an error.

Examples:
  b2 convert table.bcolz table.b2nd --column price
  b2 convert table.csv table.bcolz
  b2 convert matrix.csv matrix.npy --dtype f4 --delimiter ';'
  b2 convert climate.h5:/model/temperature temperature.b2nd
  b2 convert temperature.b2nd results.h5:/run1/temperature
  b2 convert climate.npy climate.b2nd --codec zstd --level 9
  b2 convert climate.f4 climate.b2nd --dtype f4 --shape 365,60,60
  b2 convert old.b2frame new.b2frame          the current layout
  b2 convert climate.b2nd climate --to bcolz
  b2 convert bundle.b2z bundle.b2d
  b2 convert bundle.b2z:/temperature t.npy
  b2 convert bundle.b2z:/measurements measurements.parquet
  b2 convert measurements.parquet measurements.b2z
  b2 convert climate.zarr:/temperature temperature.b2nd
  b2 convert climate.zarr climate --all       a file for each array
  b2 convert climate.h5 climate.b2z --all     all arrays in one store";

pub const APPEND: &str = "\
Items are appended to an array along an axis; item types and the other extents
must be equal. Bytes are appended to a super-chunk. All inputs are appended in
one change: after an error or a crash the file has its old content.

The data of known formats are decompressed first, those of other files are raw
bytes. Chunks that fit are copied without recompression.

Examples:
  b2 append climate.b2nd 2026.npy 2027.b2nd
  b2 append climate.b2nd --axis 1 stations.npy
  b2 append log.b2frame --raw today.log
  sensor | b2 append samples.b2frame -";

pub const RESIZE: &str = "\
New items are zero, except those that an earlier resize removed within a chunk:
they reappear. The change is durable.

Examples:
  b2 resize climate.b2nd 1000,180,360
  b2 resize climate.b2nd 10,180,360 --shrink";

pub const COMPACT: &str = "\
Chunks are not compressed again. The new file replaces the old one when it is
complete. In a directory, files without an entry in the index are removed.

Example:
  b2 compact climate.b2nd samples.b2frame";

pub const PLOT: &str = "\
One dimension is plotted as a line; for many items, as the range between the
least and the greatest item of each pixel. Two dimensions are plotted as an
image; in large ones a pixel is the mean of its items. NaN and infinities are
omitted. The extension of OUT selects the format; PNG has no axes.

Examples:
  b2 plot climate.b2nd '0,...' -o map.svg
  b2 plot climate.b2nd ':,10,20' -o series.svg
  b2 plot table.bcolz --column price -o price.png";

pub const CONCAT: &str = "\
Type, metadata, chunk and block shapes are those of the first input; inputs of
all formats are accepted. Chunks are copied without recompression if no option
of compression is set and they fit. Arrays: the chunk and block shapes are
equal, and the preceding inputs end at a chunk boundary (not required with
--stack). Super-chunks: the item and chunk sizes are equal, and the preceding
inputs end with a full chunk.

Examples:
  b2 concat 2024.b2nd 2025.b2nd climate.b2nd
  b2 concat north.b2nd south.b2nd --axis 1 world.b2nd
  b2 concat day*.npy week.b2nd --stack
  b2 concat a.b2frame b.b2frame both.b2frame";

pub const SLICE: &str = "\
SLICE has START:STOP:STEP or an index for each dimension, or '...' for all
missing ones. An index removes its dimension. The output has the type, the
metadata and the parameters of compression of the array. If the slice has no
steps and begins at chunk boundaries, whole chunks are copied without
decompression.

Examples:
  b2 slice climate.b2nd '100:200,...' part.b2nd
  b2 slice climate.b2nd '0,::-10' reversed.b2nd";

pub const RECOMPRESS: &str = "\
Without options for them, codec, level, filters, chunks, blocks and checksums
stay the same. Metadata are kept. The new data are compared with the old ones
before the new file is renamed; if they differ, nothing is changed.

With --in-place the new file replaces the old one when it is complete and on the
disk. If another program changes the old one in the meantime, this is an error.

Examples:
  b2 recompress climate.b2nd --codec zstd --level 9 -o small.b2nd
  b2 recompress *.b2nd --chunks 100,180,360 --blocks 10,90,90 -o rechunked
  b2 recompress data/*.b2frame --level 9 --in-place";
