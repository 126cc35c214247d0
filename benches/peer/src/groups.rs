//! The groups of cells that are reported together, with their target figures.

/// The direction of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Decompression.
    Read,
    /// Compression.
    Write,
}

/// A group, in the order of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Shuffle and unshuffle of items of 2, 4, 8 and 16 bytes.
    ShuffleEven,
    /// Shuffle and unshuffle of items of 1, 3, 5, 6 and 7 bytes, and shuffle of 12 bytes.
    ShuffleOdd,
    /// Shuffle and unshuffle of items of 20 to 64 bytes.
    ShuffleLong,
    /// Unshuffle of items of 12 bytes.
    UnshuffleTwelve,
    /// Bitshuffle and bitunshuffle of items of all sizes.
    Bitshuffle,
    /// Only the bytedelta filter.
    Bytedelta(Direction),
    /// Only the filter that clears bits of integers.
    IntTrunc(Direction),
    /// LZ4 on shuffled bytes.
    Lz4Shuffle(Direction),
    /// LZ4 on shuffled bits.
    Lz4Bitshuffle(Direction),
    /// LZ4 on unfiltered items.
    Lz4Plain(Direction),
    /// LZ4HC.
    Lz4Hc(Direction),
    /// BloscLZ, reading.
    BlosclzRead,
    /// BloscLZ, writing at levels ≥ 2.
    BlosclzWrite,
    /// BloscLZ, writing at level 1.
    BlosclzWrite1,
    /// Zlib, reading.
    ZlibRead,
    /// Zlib, writing at levels 2 to 7.
    ZlibWrite,
    /// Zlib, writing at levels 8 and 9.
    ZlibWrite9,
    /// Zlib, writing at level 1.
    ZlibWrite1,
    /// Zstd.
    Zstd(Direction),
    /// Filters before or after a shuffle.
    Pipelines(Direction),
    /// Constant and random data.
    Special(Direction),
    /// One item of a chunk.
    OneItem,
    /// One item of each of two chunks, alternately.
    ItemsInTurns,
    /// A thousand items of a chunk.
    Items,
    /// Compression of small buffers, and calls without context.
    SmallCalls,
    /// Decompression of small buffers.
    SmallReads,
    /// Single-use contexts.
    Contexts,
    /// Two threads on little data.
    WakingUp,
    /// The speedup by a second thread on much data.
    Scaling,
    /// The Blosc 1.x library.
    Blosc1(Direction),
    /// Reading LZ4 on shuffled bytes relative to memcpy, 32 MiB.
    ShareOfMemcpy32,
    /// Reading LZ4 on shuffled bytes relative to memcpy, 4 MiB.
    ShareOfMemcpy4,
    /// Measured data from files.
    Files(Direction),
    /// Plugins, by name.
    Plugin(&'static str, Direction),
}

/// The figure of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Our speed relative to the reference's.
    Speed,
    /// Our speed relative to our own baseline; the reference has a figure of the same kind.
    Own,
}

impl Group {
    /// Returns the name in the table.
    pub fn name(self) -> String {
        let (name, direction) = self.words();
        match direction {
            None => name.to_owned(),
            Some(Direction::Read) => format!("{name}, read"),
            Some(Direction::Write) => format!("{name}, write"),
        }
    }

    fn words(self) -> (&'static str, Option<Direction>) {
        use Group::*;
        match self {
            ShuffleEven => ("shuffle, unshuffle: items of 2, 4, 8, 16 bytes", None),
            ShuffleOdd => ("shuffle, unshuffle: 1, 3, 5, 6, 7; shuffle: 12", None),
            ShuffleLong => ("shuffle, unshuffle: 20 to 64", None),
            UnshuffleTwelve => ("unshuffle: 12", None),
            Bitshuffle => ("bitshuffle, bitunshuffle", None),
            Bytedelta(direction) => ("bytedelta alone", Some(direction)),
            IntTrunc(direction) => ("int_trunc alone", Some(direction)),
            Lz4Shuffle(direction) => ("lz4 + shuffle", Some(direction)),
            Lz4Bitshuffle(direction) => ("lz4 + bitshuffle", Some(direction)),
            Lz4Plain(direction) => ("lz4, no filter", Some(direction)),
            Lz4Hc(direction) => ("lz4hc", Some(direction)),
            BlosclzRead => ("blosclz, read", None),
            BlosclzWrite => ("blosclz, write from level 2 on", None),
            BlosclzWrite1 => ("blosclz, write at level 1", None),
            ZlibRead => ("zlib, read", None),
            ZlibWrite => ("zlib, write at levels 2 to 7", None),
            ZlibWrite9 => ("zlib, write at levels 8 and 9", None),
            ZlibWrite1 => ("zlib, write at level 1", None),
            Zstd(direction) => ("zstd", Some(direction)),
            Pipelines(direction) => ("delta, trunc_prec, bytedelta", Some(direction)),
            Special(direction) => ("constant and incompressible data", Some(direction)),
            OneItem => ("getitem, one item", None),
            ItemsInTurns => ("getitem, one item, of two chunks in turns", None),
            Items => ("getitem, 1,000 items", None),
            SmallCalls => ("compress up to 4 KiB, calls without context", None),
            SmallReads => ("decompress up to 4 KiB", None),
            Contexts => ("contexts made, used once and freed", None),
            WakingUp => ("2 threads, 16 KiB to 1 MiB", None),
            Scaling => ("2 threads over 1, 32 MiB", None),
            Blosc1(direction) => ("libblosc.so.1", Some(direction)),
            ShareOfMemcpy32 => ("lz4 + shuffle read, share of memcpy, 32 MiB", None),
            ShareOfMemcpy4 => ("lz4 + shuffle read, share of memcpy, 4 MiB", None),
            Files(direction) => ("real files", Some(direction)),
            Plugin(name, direction) => (name, Some(direction)),
        }
    }

    /// Returns the target figure.
    pub fn goal(self) -> Option<f64> {
        use Direction::{Read, Write};
        use Group::*;
        Some(match self {
            ShuffleEven => 1.2,
            ShuffleOdd => 6.0,
            ShuffleLong => 1.5,
            UnshuffleTwelve => 1.0,
            Bitshuffle => 4.0,
            Bytedelta(_) | IntTrunc(_) | Plugin(..) => 1.0,
            Lz4Shuffle(Read) => 1.3,
            Lz4Shuffle(Write) => 1.2,
            Lz4Bitshuffle(Read) => 2.0,
            Lz4Bitshuffle(Write) => 1.4,
            Lz4Hc(Read) => 1.2,
            Lz4Hc(Write) => 1.0,
            BlosclzRead => 1.2,
            BlosclzWrite => 1.5,
            BlosclzWrite1 => 1.1,
            ZlibRead => 1.2,
            ZlibWrite => 1.4,
            ZlibWrite9 => 1.3,
            ZlibWrite1 => 1.0,
            Zstd(Read) => 1.05,
            Zstd(Write) => 1.0,
            Pipelines(_) => 1.4,
            Special(_) => 1.0,
            OneItem | ItemsInTurns => 2.5,
            Items => 1.5,
            SmallCalls => 1.5,
            SmallReads => 1.1,
            WakingUp => 2.0,
            Scaling => 1.8,
            Blosc1(Read) => 2.0,
            Blosc1(Write) => 1.5,
            ShareOfMemcpy32 => 0.7,
            ShareOfMemcpy4 => 0.25,
            Files(_) => 1.2,
            Lz4Plain(_) | Contexts => return None,
        })
    }

    /// Returns the kind of its figure.
    pub fn kind(self) -> Kind {
        match self {
            Group::Scaling | Group::ShareOfMemcpy32 | Group::ShareOfMemcpy4 => Kind::Own,
            _ => Kind::Speed,
        }
    }
}
