//! Random steps: chunks of every kind, and calls that are mostly valid in the current state.

use crate::model::{Model, special_data};
use crate::steps::{Made, Step};
use ferroblosc_interop::data::{Content, Random};
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, c_len};
use ferroblosc_interop::storage::Kind;
use std::ffi::c_void;

/// The usual size of a chunk's data in bytes.
pub const CHUNK: usize = 1200;
/// The size of a block in bytes if the parameters set one. No buffer is shorter, because the
/// reference's contexts remember the last block size.
pub const BLOCK: i32 = 256;

/// The properties of a super-chunk.
#[derive(Clone)]
pub struct Plan {
    pub kind: Kind,
    pub cparams: Cparams,
    /// Whether chunks have variable-length blocks.
    pub vl: bool,
    /// Whether chunk sizes may vary from the beginning.
    pub varying: bool,
    /// Whether handles lock the file.
    pub locked: bool,
    /// Whether there are chunks that the reference does not accept in frames: empty ones, and short
    /// ones of Blosc 1.x.
    pub odd: bool,
}

impl Plan {
    pub fn new(random: &mut Random, kind: Kind) -> Plan {
        let typesize = [4, 4, 8][random.below(3)];
        let mut cparams = random_cparams(random, typesize);
        cparams.use_dict = 0;
        cparams.blocksize = [0, BLOCK, BLOCK][random.below(3)];
        Plan {
            kind,
            cparams,
            vl: random.below(6) == 0,
            varying: random.below(3) == 0,
            locked: matches!(kind, Kind::File | Kind::Directory) && random.below(2) == 0,
            odd: false,
        }
    }

    pub fn typesize(&self) -> usize {
        self.cparams.typesize as usize
    }
}

fn random_cparams(random: &mut Random, typesize: i32) -> Cparams {
    Cparams {
        compcode: [0, 0, 1, 4, 5][random.below(5)],
        clevel: [0, 1, 5, 5, 9][random.below(5)],
        typesize,
        blocksize: [0, 0, 128, 512][random.below(4)],
        filters: [0, 0, 0, 0, 0, [0, 1, 1, 2][random.below(4)]],
        ..Cparams::default()
    }
}

/// Returns a length for a chunk's data in bytes.
fn length(random: &mut Random, plan: &Plan, model: &Model) -> usize {
    let whole = match model.chunksize {
        size if size > 0 => size as usize,
        _ => CHUNK,
    };
    let odd = if plan.varying || model.chunksize == 0 { 3 } else { 12 };
    if random.below(odd) != 0 {
        return whole;
    }
    let typesize = plan.typesize();
    (BLOCK as usize + random.below(2 * CHUNK)).div_ceil(typesize) * typesize
}

/// Creates a chunk that matches the plan, with rare exceptions.
pub fn made(random: &mut Random, library: &Library, plan: &Plan, model: &Model) -> Made {
    let typesize = plan.typesize();
    let nbytes = length(random, plan, model);
    if plan.vl != (random.below(25) == 0) {
        return vl_chunk(random, library, typesize);
    }
    if plan.odd && random.below(10) == 0 {
        return match random.below(2) {
            0 => short_header(random, typesize, typesize),
            _ => compressed(library, plan.cparams, Vec::new()),
        };
    }
    match random.below(12) {
        0 => special(random, library, plan, nbytes, 1),
        1 => {
            let kind = [1, 2, 4][random.below(3)];
            special(random, library, plan, nbytes, kind)
        }
        2 => repeated(random, library, plan, nbytes),
        3 => short_header(random, nbytes, typesize),
        4 => dictionary(random, library, typesize, nbytes),
        _ => {
            let data = content(random, nbytes, typesize);
            let cparams = random_cparams(random, typesize as i32);
            compressed(library, cparams, data)
        }
    }
}

fn content(random: &mut Random, nbytes: usize, typesize: usize) -> Vec<u8> {
    let kind = Content::ALL[random.below(Content::ALL.len())];
    kind.make(nbytes, typesize, random.word())
}

fn compressed(library: &Library, cparams: Cparams, data: Vec<u8>) -> Made {
    let context = library.compressor(cparams).expect("right parameters");
    let mut chunk = vec![0u8; data.len() + 32];
    let len = context.compress(&data, &mut chunk);
    assert!(len > 0, "{}: {len}", library.name);
    chunk.truncate(len as usize);
    Made {
        special: chunk[31] & 0x70 == 0x10,
        nbytes: data.len(),
        data: Some(data),
        vl: false,
        short_header: false,
        dictionary: cparams.use_dict != 0,
        chunk,
    }
}

fn dictionary(random: &mut Random, library: &Library, typesize: usize, nbytes: usize) -> Made {
    let cparams = Cparams {
        compcode: 5,
        use_dict: 1,
        typesize: typesize as i32,
        blocksize: 128,
        ..Cparams::default()
    };
    compressed(library, cparams, Content::Text.make(nbytes, typesize, random.word()))
}

fn special(random: &mut Random, library: &Library, plan: &Plan, nbytes: usize, kind: i32) -> Made {
    let call = match kind {
        1 => library.blosc2_chunk_zeros,
        2 => library.blosc2_chunk_nans,
        _ => library.blosc2_chunk_uninit,
    };
    let mut chunk = vec![0u8; 32];
    let mut cparams = random_cparams(random, plan.cparams.typesize);
    cparams.clevel = 5;
    // SAFETY: the destination's length is passed.
    let len =
        unsafe { call(cparams, nbytes as i32, chunk.as_mut_ptr().cast::<c_void>(), c_len(&chunk)) };
    assert_eq!(len, 32, "{} special {kind} of {nbytes}", library.name);
    Made {
        chunk,
        data: special_data(kind, nbytes, plan.typesize()),
        nbytes,
        special: true,
        vl: false,
        short_header: false,
        dictionary: false,
    }
}

fn repeated(random: &mut Random, library: &Library, plan: &Plan, nbytes: usize) -> Made {
    let item = Content::Random.make(plan.typesize(), 1, random.word());
    let mut chunk = vec![0u8; 32 + item.len()];
    // SAFETY: the destination's length is passed, and the value has the typesize.
    let len = unsafe {
        (library.blosc2_chunk_repeatval)(
            plan.cparams,
            nbytes as i32,
            chunk.as_mut_ptr().cast(),
            c_len(&chunk),
            item.as_ptr().cast(),
        )
    };
    assert_eq!(len, c_len(&chunk), "{}", library.name);
    Made {
        chunk,
        data: Some(item.into_iter().cycle().take(nbytes).collect()),
        nbytes,
        special: false,
        vl: false,
        short_header: false,
        dictionary: false,
    }
}

/// Returns a stored Blosc 1.x chunk.
fn short_header(random: &mut Random, nbytes: usize, typesize: usize) -> Made {
    let mut data = content(random, nbytes, typesize);
    // The reference mistakes these data for flags (row S14).
    for byte in data.iter_mut().take(16).skip(14) {
        *byte = 0;
    }
    let mut chunk = vec![2, 1, 0x02, typesize as u8];
    for size in [nbytes, nbytes, nbytes + 16] {
        chunk.extend_from_slice(&(size as u32).to_le_bytes());
    }
    chunk.extend_from_slice(&data);
    Made {
        chunk,
        data: Some(data),
        nbytes,
        special: false,
        vl: false,
        short_header: true,
        dictionary: false,
    }
}

fn vl_chunk(random: &mut Random, library: &Library, typesize: usize) -> Made {
    let blocks: Vec<Vec<u8>> = (0..1 + random.below(4))
        .map(|_| {
            let len = (1 + random.below(60)) * typesize;
            content(random, len, typesize)
        })
        .collect();
    let pointers: Vec<*const c_void> = blocks.iter().map(|block| block.as_ptr().cast()).collect();
    let sizes: Vec<i32> = blocks.iter().map(|block| c_len(block)).collect();
    let data = blocks.concat();
    let mut chunk = vec![0u8; 2 * data.len() + 4000];
    let mut cparams = random_cparams(random, typesize as i32);
    if cparams.compcode == 0 {
        // The reference's BloscLZ over-reads short blocks.
        cparams.compcode = 1;
    }
    let context = library.compressor(cparams).expect("right parameters");
    // SAFETY: the arrays describe live blocks, and the destination's length is passed.
    let len = unsafe {
        (library.blosc2_vlcompress_ctx)(
            context.as_ptr(),
            pointers.as_ptr(),
            sizes.as_ptr(),
            blocks.len() as i32,
            chunk.as_mut_ptr().cast(),
            c_len(&chunk),
        )
    };
    assert!(len > 0, "{}: {len}", library.name);
    chunk.truncate(len as usize);
    Made {
        chunk,
        nbytes: data.len(),
        data: Some(data),
        special: false,
        vl: true,
        short_header: false,
        dictionary: false,
    }
}

/// Returns the index of a chunk, rarely an invalid one.
fn chunk_index(random: &mut Random, count: usize) -> i64 {
    match random.below(20) {
        0 => -1,
        1 => count as i64,
        2 => count as i64 + 1,
        _ => random.below(count.max(1)) as i64,
    }
}

fn order(random: &mut Random, count: usize) -> Vec<i64> {
    let mut order: Vec<i64> = (0..count as i64).collect();
    for i in (1..count).rev() {
        order.swap(i, random.below(i + 1));
    }
    if count > 0 && random.below(6) == 0 {
        order[random.below(count)] = [-1, count as i64, 0][random.below(3)];
    }
    order
}

/// Returns a name of a variable-length metalayer; there are more names than metalayers fit in a
/// frame.
fn name(random: &mut Random) -> String {
    format!("layer{}", random.below(19))
}

fn bytes(random: &mut Random, most: usize) -> Vec<u8> {
    let len = random.below(most);
    content(random, len, 1)
}

/// Returns a step that changes the super-chunk.
pub fn change(random: &mut Random, library: &Library, plan: &Plan, model: &Model) -> Step {
    let count = model.chunks.len();
    let copy = random.below(2) == 0;
    match random.below(if count < 12 { 30 } else { 24 }) {
        0..5 => Step::Update(chunk_index(random, count), made(random, library, plan, model), copy),
        5..9 => Step::Delete(chunk_index(random, count)),
        9..11 => Step::Reorder(order(random, count)),
        11 => Step::FillSpecial(
            [0, -1, 1, 700, 2401][random.below(5)],
            [0, 1, 2, 3, 4][random.below(5)],
            [-4, 0, 2, 402, CHUNK as i32][random.below(5)],
        ),
        12 => Step::MetaUpdate(["one", "two", "none"][random.below(3)].into(), bytes(random, 12)),
        13..15 => Step::VlAdd(name(random), bytes(random, 300)),
        15..17 => Step::VlUpdate(name(random), bytes(random, 300)),
        17 => Step::VlDelete(name(random)),
        18..21 => set_slice(random, plan, model),
        21 => Step::Refresh,
        22..25 => {
            Step::Insert(chunk_index(random, count), made(random, library, plan, model), copy)
        }
        25..27 => {
            let nbytes = length(random, plan, model);
            let data = content(random, nbytes, plan.typesize());
            Step::AppendBuffer(compressed(library, plan.cparams, data))
        }
        _ => Step::Append(made(random, library, plan, model), copy),
    }
}

fn set_slice(random: &mut Random, plan: &Plan, model: &Model) -> Step {
    let items = model.items() as usize;
    let start = random.below(items + 1);
    let most = items - start + 1;
    let count = random.below(most.min(2 * CHUNK));
    let data = content(random, count * plan.typesize(), plan.typesize());
    Step::SetSlice(start as i64, data)
}

/// Returns a step that reads the super-chunk.
pub fn reading(random: &mut Random, plan: &Plan, model: &Model) -> Step {
    let count = model.chunks.len();
    let at = chunk_index(random, count);
    let items = model.items() as usize;
    match random.below(10) {
        0 | 1 => Step::Chunk(at),
        2 | 3 => Step::Lazy(at),
        4 => Step::Decompress(at, [0, 100, 20 * CHUNK, 20 * CHUNK][random.below(4)]),
        5 => {
            let made = usize::try_from(at).ok().and_then(|at| model.chunks.get(at));
            Step::DecompressLazily(at, made.map_or(CHUNK, |made| made.nbytes))
        }
        6 if plan.vl => Step::VlBlock(at, random.below(5) as i32),
        6 | 7 => {
            let start = random.below(items + 1);
            let stop = start + random.below(items - start + 1);
            Step::Slice(start as i64, stop as i64)
        }
        8 => {
            let count = if items == 0 { 0 } else { random.below(30) };
            Step::Sparse((0..count).map(|_| random.below(items) as i64).collect())
        }
        _ => [Step::VlGet(name(random)), Step::VlExists(name(random))][random.below(2)].clone(),
    }
}
