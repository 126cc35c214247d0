//! The plugins: codecs and filters that need the array of a block, and those that only need a
//! super-chunk.

use ferroblosc_interop::blocks::{Array, Blocks};
use ferroblosc_interop::data::{Content, Random};
use ferroblosc_interop::library::{Library, c_len};

use crate::clock::{Clock, race};
use crate::groups::Direction::{Read, Write};
use crate::groups::Group;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;

const LZ4: u8 = 1;
const NDLZ: u8 = 32;
const ZFP: [(&str, u8, [u8; 2]); 3] = [
    ("ZFP accuracy", 33, [-3i8 as u8, -1i8 as u8]),
    ("ZFP precision", 34, [10, 24]),
    ("ZFP rate", 35, [25, 50]),
];
const SHUFFLE: u8 = 1;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
const BYTEDELTA: u8 = 35;
const INT_TRUNC: u8 = 36;
const NEVER_SPLIT: i32 = 2;
const OVERHEAD: usize = 32;
/// The number of blocks of a chunk.
const BLOCKS: i32 = 16;
/// The number of single items in one measurement.
const GETS: usize = 64;

struct Case {
    name: String,
    group: &'static str,
    blocks: Blocks,
    content: Content,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |group, detail: &str, codec, filters, typesize, blockshape: &[i32], content| {
        cases.push(Case {
            name: format!("{group} {detail}"),
            group,
            blocks: Blocks {
                codec,
                filters,
                splitmode: NEVER_SPLIT,
                typesize,
                shape: blockshape.to_vec(),
                count: BLOCKS,
            },
            content,
        });
    };
    let shapes: [(&str, &[i32]); 3] =
        [("1D", &[16_384]), ("2D", &[128, 128]), ("3D", &[24, 26, 26])];
    for (group, codec, metas) in ZFP {
        for meta in metas {
            for (dimensions, shape) in shapes {
                for typesize in [4, 8] {
                    let detail = format!("{} f{} {dimensions}", meta as i8, 8 * typesize);
                    let codec = (codec, meta);
                    add(group, &detail, codec, [(0, 0); 2], typesize, shape, Content::Walk);
                }
            }
        }
    }
    for meta in [4, 8] {
        for (name, content) in [("runs", Content::Runs), ("text", Content::Text)] {
            let detail = format!("{meta} {name}");
            add("NDLZ", &detail, (NDLZ, meta), [(0, 0); 2], 1, &[128, 128], content);
        }
    }
    for typesize in [2, 4, 8] {
        let detail = format!("of {typesize} bytes");
        let codec = (LZ4, 0);
        let sorted = Content::Sorted;
        let bytedelta = [(SHUFFLE, 0), (BYTEDELTA, typesize as u8)];
        add("bytedelta", &detail, codec, bytedelta, typesize, &[16_384], sorted);
        let truncated = [(INT_TRUNC, 8 * typesize as u8 - 4), (SHUFFLE, 0)];
        add("int_trunc", &detail, codec, truncated, typesize, &[16_384], sorted);
        let cells = [(0, 0), (NDCELL, 4)];
        add("ndcell", &detail, codec, cells, typesize, &[128, 128], sorted);
    }
    for typesize in [4, 8] {
        let detail = format!("f{}", 8 * typesize);
        let means = [(0, 0), (NDMEAN, 4)];
        add("ndmean", &detail, (LZ4, 0), means, typesize, &[128, 128], Content::Walk);
    }
    cases
}

/// One library with its buffers.
struct Side {
    array: Array<'static>,
    chunk: Vec<u8>,
    size: i32,
    decoded: Vec<u8>,
}

impl Side {
    fn new(library: &'static Library, blocks: &Blocks) -> Result<Side, String> {
        Ok(Side {
            array: Array::new(library, blocks)?,
            chunk: vec![0; blocks.nbytes() + OVERHEAD],
            size: 0,
            decoded: vec![0; blocks.nbytes()],
        })
    }

    fn compress(&mut self, data: &[u8]) {
        self.size = self.array.compress(data, &mut self.chunk);
    }

    fn decompress(&mut self, chunk: &[u8]) -> i32 {
        self.array.decompress(chunk, &mut self.decoded)
    }

    fn get_items(&mut self, chunk: &[u8], positions: &[i32]) {
        for &position in positions {
            self.array.get_items(chunk, position, 1, &mut self.decoded);
        }
    }
}

/// Measures compression, decompression and reading of single items.
fn cell(options: &Options, peers: &Peers, report: &mut Report, case: &Case) -> Result<(), String> {
    let blocks = &case.blocks;
    let data = case.content.make(blocks.nbytes(), blocks.typesize, 3);
    let libraries = peers.blosc2.iter();
    let mut sides: Vec<Side> =
        libraries.map(|library| Side::new(library, blocks)).collect::<Result<_, _>>()?;
    let mut codes = Vec::new();
    for side in &mut sides {
        side.compress(&data);
    }
    let sizes =
        [sides[0].size, sides[1].size].map(|size| usize::try_from(size).unwrap_or_default());
    if sizes.contains(&0) {
        return Err(format!("compresses to {} and {}", sides[0].size, sides[1].size));
    }
    let chunk = sides[1].chunk[..sizes[1]].to_vec();
    for side in &mut sides {
        codes.push(side.decompress(&chunk));
    }
    if codes.iter().any(|&code| code != c_len(&data)) || sides[0].decoded != sides[1].decoded {
        return Err(format!("decompresses to {codes:?}, or to other bytes"));
    }
    let write = race(Clock::Thread, options.budget, &mut sides, |side| side.compress(&data));
    let read = race(Clock::Thread, options.budget, &mut sides, |side| {
        side.decompress(&chunk);
    });
    let mut random = Random::new(9);
    let items = data.len() / blocks.typesize;
    let positions: Vec<i32> = (0..GETS).map(|_| random.below(items) as i32).collect();
    let get =
        race(Clock::Thread, options.budget, &mut sides, |side| side.get_items(&chunk, &positions));
    let races = [("write", &write), ("read", &read)];
    Report::print_cell(&case.name, blocks.nbytes(), &races, Some(sizes));
    report.add(Group::Plugin(case.group, Write), &case.name, &write, Some(sizes));
    report.add(Group::Plugin(case.group, Read), &case.name, &read, None);
    report.add_detail(format!("{}, one item", case.group), &get);
    Ok(())
}

/// Measures all plugins.
///
/// # Errors
/// Returns the failing plugin.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for case in cases().iter().filter(|case| options.wants(&case.name)) {
        cell(options, peers, report, case).map_err(|error| format!("{}: {error}", case.name))?;
    }
    Ok(())
}
