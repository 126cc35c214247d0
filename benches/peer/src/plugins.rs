//! The plugins side by side: codecs and filters that need to know the array their block belongs to, and those
//! that need no more than a super-chunk.

use ferroblosc_interop::blocks::{Array, Blocks};
use ferroblosc_interop::data::{Content, Random};
use ferroblosc_interop::library::{Library, c_len, ours, reference};

use crate::options::Options;
use crate::{Groups, Row, print_row, race};

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
/// Blocks of a chunk.
const BLOCKS: i32 = 16;
/// Single items read one after the other are timed together.
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
    let shapes: [(&str, &[i32]); 3] = [
        ("1D", &[16_384]),
        ("2D", &[128, 128]),
        ("3D", &[24, 26, 26]),
    ];
    for (group, codec, metas) in ZFP {
        for meta in metas {
            for (dimensions, shape) in shapes {
                for typesize in [4, 8] {
                    let detail = format!("{} f{} {dimensions}", meta as i8, 8 * typesize);
                    let codec = (codec, meta);
                    add(
                        group,
                        &detail,
                        codec,
                        [(0, 0); 2],
                        typesize,
                        shape,
                        Content::Walk,
                    );
                }
            }
        }
    }
    for meta in [4, 8] {
        for (name, content) in [("runs", Content::Runs), ("text", Content::Text)] {
            let detail = format!("{meta} {name}");
            add(
                "NDLZ",
                &detail,
                (NDLZ, meta),
                [(0, 0); 2],
                1,
                &[128, 128],
                content,
            );
        }
    }
    for typesize in [2, 4, 8] {
        let detail = format!("of {typesize} bytes");
        let codec = (LZ4, 0);
        let sorted = Content::Sorted;
        let bytedelta = [(SHUFFLE, 0), (BYTEDELTA, typesize as u8)];
        add(
            "bytedelta",
            &detail,
            codec,
            bytedelta,
            typesize,
            &[16_384],
            sorted,
        );
        let truncated = [(INT_TRUNC, 8 * typesize as u8 - 4), (SHUFFLE, 0)];
        add(
            "int_trunc",
            &detail,
            codec,
            truncated,
            typesize,
            &[16_384],
            sorted,
        );
        let cells = [(0, 0), (NDCELL, 4)];
        add(
            "ndcell",
            &detail,
            codec,
            cells,
            typesize,
            &[128, 128],
            sorted,
        );
    }
    for typesize in [4, 8] {
        let detail = format!("f{}", 8 * typesize);
        let means = [(0, 0), (NDMEAN, 4)];
        add(
            "ndmean",
            &detail,
            (LZ4, 0),
            means,
            typesize,
            &[128, 128],
            Content::Walk,
        );
    }
    cases
}

/// One library, with room for what it makes.
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

    fn get_items(&mut self, chunk: &[u8], places: &[i32]) {
        for &place in places {
            self.array.get_items(chunk, place, 1, &mut self.decoded);
        }
    }
}

/// Times compressing, decompressing, and reading single items.
fn run(options: &Options, case: &Case) -> Result<(Row, [f64; 2]), String> {
    let blocks = &case.blocks;
    let data = case.content.make(blocks.nbytes(), blocks.typesize, 3);
    let mut mine = Side::new(ours(), blocks)?;
    let mut theirs = Side::new(reference(), blocks)?;
    mine.compress(&data);
    theirs.compress(&data);
    let sizes = [mine.size, theirs.size].map(|size| usize::try_from(size).unwrap_or_default());
    if sizes.contains(&0) {
        return Err(format!("compresses to {} and {}", mine.size, theirs.size));
    }
    let chunk = theirs.chunk[..sizes[1]].to_vec();
    let codes = [mine.decompress(&chunk), theirs.decompress(&chunk)];
    if codes != [c_len(&data); 2] || mine.decoded != theirs.decoded {
        return Err(format!("decompresses to {codes:?}, or to other bytes"));
    }
    let compress = race(options, || mine.compress(&data), || theirs.compress(&data));
    let decompress = race(
        options,
        || {
            mine.decompress(&chunk);
        },
        || {
            theirs.decompress(&chunk);
        },
    );
    let mut random = Random::new(9);
    let items = data.len() / blocks.typesize;
    let places: Vec<i32> = (0..GETS).map(|_| random.below(items) as i32).collect();
    let get = race(
        options,
        || mine.get_items(&chunk, &places),
        || theirs.get_items(&chunk, &places),
    );
    let row = Row {
        compress,
        decompress,
        sizes,
    };
    Ok((row, get))
}

/// Times all plugins.
///
/// # Errors
/// Which plugin does not work.
pub fn bench(options: &Options) -> Result<(), String> {
    let mut groups = Groups::default();
    let mut gets = Groups::default();
    for case in cases() {
        let (row, get) = run(options, &case).map_err(|error| format!("{}: {error}", case.name))?;
        print_row(&case.name, case.blocks.nbytes(), &row);
        groups.add_pair(case.group, row.compress, row.decompress);
        gets.add_pair(&format!("{}, one item", case.group), get, get);
    }
    groups.print();
    println!("\nsingle items (both columns are the same):");
    gets.print();
    Ok(())
}
