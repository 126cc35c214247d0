//! The options of `convert` that an output supports. Any other option is an error, so that none is
//! ignored.

use crate::cli::{ConvertArgs, Hdf5FilterName, HeaderName, Order};
use crate::error::{Failure, Outcome};
use ferroblosc_formats::convert::Destination;
use ferroblosc_formats::store::ContainerKind;

/// The form of an output: a format of the library, or CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Binary(Destination),
    Csv,
}

/// An output of `convert`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// An array, or data without a type.
    Data(Form),
    /// A store that is a copy of a store or of a directory of frames, in this container.
    CopiedStore(ContainerKind),
    /// A store that is a table.
    Table,
    /// A store of the arrays that `--all` converts, in this container.
    StoreOfArrays(ContainerKind),
    /// A CSV, Arrow or Parquet file with a table of a store.
    ExportedTable,
}

/// The purpose of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The selection and the type of the items that are read.
    Items,
    /// The format of the input.
    InputFormat,
    /// The form of a CSV file that is read.
    InputCsv,
    /// The shape of chunks or blocks.
    Shapes,
    Compression,
    BlockSize,
    ChunkSize,
    Checksums,
    /// The files of a frame.
    Files,
    Hdf5Filter,
    Embedding,
}

/// An option with its purpose, and a function that returns whether it has another value than its
/// default.
type Row = (&'static str, Purpose, fn(&ConvertArgs) -> bool);

/// All options that not every output supports.
const OPTIONS: [Row; 22] = [
    ("--column", Purpose::Items, |args| args.column.is_some()),
    ("--dtype", Purpose::Items, |args| args.dtype.is_some()),
    ("--raw", Purpose::Items, |args| args.raw),
    ("--shape", Purpose::Items, |args| args.shape.is_some()),
    ("--order", Purpose::Items, |args| args.order == Order::Fortran),
    ("--from", Purpose::InputFormat, |args| args.from.is_some()),
    ("--delimiter", Purpose::InputCsv, |args| args.delimiter.is_some()),
    ("--header", Purpose::InputCsv, |args| !matches!(args.header, HeaderName::Auto)),
    ("--chunks", Purpose::Shapes, |args| args.chunks.is_some()),
    ("--blocks", Purpose::Shapes, |args| args.blocks.is_some()),
    ("--codec", Purpose::Compression, |args| args.settings.codec.is_some()),
    ("--level", Purpose::Compression, |args| args.settings.level.is_some()),
    ("--filters", Purpose::Compression, |args| !args.settings.filters.is_empty()),
    ("--auto", Purpose::Compression, |args| args.auto.auto.is_some()),
    ("--block-size", Purpose::BlockSize, |args| args.settings.block_size.is_some()),
    ("--chunk-size", Purpose::ChunkSize, |args| args.settings.chunk_size.is_some()),
    ("--checksums", Purpose::Checksums, |args| args.settings.checksums),
    ("--no-checksums", Purpose::Checksums, |args| args.settings.no_checksums),
    ("--durable", Purpose::Files, |args| args.settings.durable),
    ("--directory", Purpose::Files, |args| args.settings.directory),
    ("--hdf5-filter", Purpose::Hdf5Filter, |args| args.hdf5_filter != Hdf5FilterName::Blosc2),
    ("--embed", Purpose::Embedding, |args| args.embed.is_some()),
];

impl OutputKind {
    fn supports(self, purpose: Purpose) -> bool {
        match self {
            OutputKind::Data(form) => supports(form, purpose),
            OutputKind::CopiedStore(ContainerKind::Frame)
            | OutputKind::StoreOfArrays(ContainerKind::Frame)
                if purpose == Purpose::Embedding =>
            {
                false
            }
            OutputKind::CopiedStore(_) => purpose == Purpose::Embedding,
            OutputKind::Table => purpose == Purpose::InputCsv,
            OutputKind::StoreOfArrays(_) => {
                !matches!(purpose, Purpose::Files | Purpose::Hdf5Filter)
            }
            OutputKind::ExportedTable => false,
        }
    }

    /// Returns the reason why an option is not supported.
    fn reason(self, purpose: Purpose) -> String {
        match self {
            OutputKind::Data(_) if purpose == Purpose::Embedding => {
                "only stores have embedded leaves".to_owned()
            }
            OutputKind::Data(form) => format!("not supported for {}", title(form)),
            OutputKind::CopiedStore(_) | OutputKind::StoreOfArrays(_)
                if purpose == Purpose::Embedding =>
            {
                "embed stores contain all leaves in one frame".to_owned()
            }
            OutputKind::CopiedStore(_) => "stores are copied unchanged".to_owned(),
            OutputKind::StoreOfArrays(_) => "not supported for stores".to_owned(),
            OutputKind::Table | OutputKind::ExportedTable => {
                "not supported for tables in stores".to_owned()
            }
        }
    }
}

/// Whether an option has an effect on data of this form.
fn supports(form: Form, purpose: Purpose) -> bool {
    let Form::Binary(destination) = form else {
        return matches!(purpose, Purpose::Items | Purpose::InputFormat | Purpose::InputCsv);
    };
    let is_frame = matches!(destination, Destination::Frame { .. } | Destination::B2nd { .. });
    let is_zarr = matches!(destination, Destination::Zarr { .. });
    let is_filtered = matches!(destination, Destination::Hdf5 { filter: Some(_) });
    let is_chunk = matches!(destination, Destination::Blosc1 | Destination::Blosc2);
    let has_shapes = is_frame || is_zarr || is_filtered;
    match purpose {
        // The library refuses shapes that a format does not have.
        Purpose::Items | Purpose::InputFormat | Purpose::InputCsv | Purpose::Shapes => true,
        Purpose::Compression => {
            has_shapes
                || is_chunk
                || matches!(destination, Destination::Bloscpack | Destination::Bcolz)
        }
        Purpose::BlockSize => has_shapes || is_chunk || destination == Destination::Bloscpack,
        Purpose::ChunkSize => {
            has_shapes || matches!(destination, Destination::Bloscpack | Destination::Bcolz)
        }
        Purpose::Checksums | Purpose::Files => is_frame,
        Purpose::Hdf5Filter => matches!(destination, Destination::Hdf5 { .. }),
        Purpose::Embedding => false,
    }
}

fn title(form: Form) -> &'static str {
    let Form::Binary(destination) = form else {
        return "CSV files";
    };
    match destination {
        Destination::Frame { .. } | Destination::B2nd { .. } => "frames",
        Destination::Blosc1 | Destination::Blosc2 => "single chunks",
        Destination::Bloscpack => "Bloscpack files",
        Destination::Bcolz => "bcolz arrays",
        Destination::Npy => ".npy files",
        Destination::Npz => ".npz files",
        Destination::Zarr { .. } => "Zarr arrays",
        Destination::Hdf5 { filter: None } => "HDF5 datasets without a filter",
        Destination::Hdf5 { filter: Some(_) } => "HDF5 datasets",
        Destination::Plain => "files of plain bytes",
        _ => "files of this format",
    }
}

/// Fails if an option is given that has no effect on this output.
pub fn check(args: &ConvertArgs, output: OutputKind) -> Outcome {
    for (option, purpose, is_given) in OPTIONS {
        if !is_given(args) {
            continue;
        }
        if args.all && matches!(purpose, Purpose::InputFormat | Purpose::InputCsv) {
            return Err(Failure::usage(format!("{option}: not supported with --all")));
        }
        if !output.supports(purpose) {
            return Err(Failure::usage(format!("{option}: {}", output.reason(purpose))));
        }
    }
    Ok(())
}
