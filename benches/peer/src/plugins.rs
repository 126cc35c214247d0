//! The plugins side by side: codecs and filters that need to know the array their block belongs to, and those
//! that need no more than a super-chunk.

use ferroblosc_interop::data::{Content, Random};
use ferroblosc_interop::ffi::{Context, Cparams, Dparams, SChunk, Storage};
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
const BLOCKS: usize = 16;
/// Single items read one after the other are timed together.
const GETS: usize = 64;

struct Case {
    name: String,
    group: &'static str,
    codec: (u8, u8),
    /// The last two filters and their parameters.
    filters: [(u8, u8); 2],
    typesize: usize,
    blockshape: &'static [usize],
    content: Content,
}

impl Case {
    fn blocksize(&self) -> usize {
        self.blockshape.iter().product::<usize>() * self.typesize
    }

    fn data(&self) -> Vec<u8> {
        self.content
            .make(BLOCKS * self.blocksize(), self.typesize, 3)
    }

    fn cparams(&self) -> Cparams {
        let mut cparams = Cparams {
            compcode: self.codec.0,
            compcode_meta: self.codec.1,
            typesize: self.typesize as i32,
            blocksize: self.blocksize() as i32,
            splitmode: NEVER_SPLIT,
            filters: [0; 6],
            ..Cparams::default()
        };
        for (slot, (id, meta)) in (4..).zip(self.filters) {
            cparams.filters[slot] = id;
            cparams.filters_meta[slot] = meta;
        }
        cparams
    }

    /// The `b2nd` metalayer of an array of as many blocks in a row.
    fn metalayer(&self) -> Vec<u8> {
        let ndim = self.blockshape.len() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
        let mut shape = self.blockshape.to_vec();
        shape[0] *= BLOCKS;
        for &extent in &shape {
            bytes.push(0xD3);
            bytes.extend((extent as i64).to_be_bytes());
        }
        for shape in [&shape[..], self.blockshape] {
            bytes.push(0x90 + ndim);
            for &extent in shape {
                bytes.push(0xD2);
                bytes.extend((extent as i32).to_be_bytes());
            }
        }
        bytes.extend(b"\0\xDB\0\0\0\x03|u1");
        bytes
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |group, detail: &str, codec, filters, typesize, blockshape, content| {
        cases.push(Case {
            name: format!("{group} {detail}"),
            group,
            codec,
            filters,
            typesize,
            blockshape,
            content,
        });
    };
    let shapes: [(&str, &[usize]); 3] = [
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

/// A super-chunk of one library, with a context for either direction.
struct Array {
    library: &'static Library,
    schunk: *mut SChunk,
    compressor: *mut Context,
    decompressor: *mut Context,
    chunk: Vec<u8>,
    size: i32,
    decoded: Vec<u8>,
}

impl Array {
    fn new(library: &'static Library, case: &Case, nbytes: usize) -> Result<Array, String> {
        let (mut cparams, mut dparams) = (case.cparams(), Dparams::default());
        let mut storage = Storage {
            contiguous: false,
            urlpath: std::ptr::null_mut(),
            cparams: &mut cparams,
            dparams: &mut dparams,
            io: std::ptr::null_mut(),
        };
        let mut content = case.metalayer();
        // SAFETY: the parameters live longer than the call that copies them, the super-chunk longer than the
        // contexts that name it.
        unsafe {
            let schunk = (library.blosc2_schunk_new)(&mut storage);
            if schunk.is_null() {
                return Err(format!("{}: no super-chunk", library.name));
            }
            let len = c_len(&content);
            (library.blosc2_meta_add)(schunk, c"b2nd".as_ptr(), content.as_mut_ptr(), len);
            cparams.schunk = schunk.cast();
            dparams.schunk = schunk.cast();
            Ok(Array {
                library,
                schunk,
                compressor: (library.blosc2_create_cctx)(cparams),
                decompressor: (library.blosc2_create_dctx)(dparams),
                chunk: vec![0; nbytes + OVERHEAD],
                size: 0,
                decoded: vec![0; nbytes],
            })
        }
    }

    fn compress(&mut self, data: &[u8]) {
        let room = c_len(&self.chunk);
        // SAFETY: the buffers are as long as said.
        self.size = unsafe {
            let (src, dest) = (data.as_ptr().cast(), self.chunk.as_mut_ptr().cast());
            (self.library.blosc2_compress_ctx)(self.compressor, src, c_len(data), dest, room)
        };
    }

    fn decompress(&mut self, chunk: &[u8]) -> i32 {
        let room = c_len(&self.decoded);
        // SAFETY: the buffers are as long as said.
        unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), self.decoded.as_mut_ptr().cast());
            let context = self.decompressor;
            (self.library.blosc2_decompress_ctx)(context, src, c_len(chunk), dest, room)
        }
    }

    fn get_items(&mut self, chunk: &[u8], places: &[i32]) {
        let room = c_len(&self.decoded);
        for &place in places {
            // SAFETY: the buffers are as long as said.
            unsafe {
                let (src, dest) = (chunk.as_ptr().cast(), self.decoded.as_mut_ptr().cast());
                let context = self.decompressor;
                let get = self.library.blosc2_getitem_ctx;
                get(context, src, c_len(chunk), place, 1, dest, room);
            }
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: made by this library, freed once, the contexts before what they name.
        unsafe {
            (self.library.blosc2_free_ctx)(self.compressor);
            (self.library.blosc2_free_ctx)(self.decompressor);
            (self.library.blosc2_schunk_free)(self.schunk);
        }
    }
}

/// Times compressing, decompressing, and reading single items.
fn run(options: &Options, case: &Case) -> Result<(Row, [f64; 2]), String> {
    let data = case.data();
    let mut mine = Array::new(ours(), case, data.len())?;
    let mut theirs = Array::new(reference(), case, data.len())?;
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
    let items = data.len() / case.typesize;
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
        print_row(&case.name, BLOCKS * case.blocksize(), &row);
        groups.add_pair(case.group, row.compress, row.decompress);
        gets.add_pair(&format!("{}, one item", case.group), get, get);
    }
    groups.print();
    println!("\nsingle items (both columns are the same):");
    gets.print();
    Ok(())
}
