//! The plugins that need to know the shape of blocks, against the reference: NDLZ, ZFP, NDCELL, NDMEAN, and
//! the two BYTEDELTAs. Each library compresses, and both decompress what either made.

use ferroblosc_interop::ffi::{Context, Cparams, Dparams, SChunk, Storage};
use ferroblosc_interop::isolate;
use ferroblosc_interop::library::{Library, c_len, ours, reference};

const LZ4: u8 = 1;
const NDLZ: u8 = 32;
const ZFP_ACCURACY: u8 = 33;
const ZFP_PRECISION: u8 = 34;
const ZFP_RATE: u8 = 35;
const SHUFFLE: u8 = 1;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
const BYTEDELTA_BUGGY: u8 = 34;
const BYTEDELTA: u8 = 35;

const ALWAYS_SPLIT: i32 = 1;
const NEVER_SPLIT: i32 = 2;
const BLOCKS: usize = 3;
const OVERHEAD: usize = 32;

/// One combination: how a block is compressed, and what it is.
#[derive(Clone, Debug)]
struct Case {
    codec: u8,
    codec_meta: u8,
    filters: [(u8, u8); 2],
    typesize: usize,
    splitmode: i32,
    shape: Vec<i32>,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    /// Floats on a smooth curve.
    Curve,
    /// Floats as any bytes may be, without infinities.
    Rough,
    /// Bytes of few values, with rows that come again.
    Rows,
    /// Bytes of any value.
    Noise,
}

fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

impl Case {
    fn items(&self) -> usize {
        self.shape.iter().product::<i32>() as usize
    }

    fn blocksize(&self) -> usize {
        self.items() * self.typesize
    }

    fn data(&self) -> Vec<u8> {
        let mut state = self.items() as u64 + u64::from(self.codec_meta);
        let width = *self.shape.last().expect("a dimension") as usize;
        let count = BLOCKS * self.items();
        let floats = |value: &mut dyn FnMut(usize) -> f64| -> Vec<u8> {
            (0..count)
                .flat_map(|i| match self.typesize {
                    4 => (value(i) as f32).to_le_bytes().to_vec(),
                    _ => value(i).to_le_bytes().to_vec(),
                })
                .collect()
        };
        match self.content {
            Content::Curve => floats(&mut |i| (i as f64 * 0.01).sin() * 100.0 + (i % width) as f64),
            Content::Rough => floats(&mut |_| {
                let exponent = (random(&mut state) % 60) as i32 - 30;
                (random(&mut state) as f64 - 1e9) * 2f64.powi(exponent)
            }),
            Content::Rows => {
                let mut bytes = Vec::new();
                while bytes.len() < count * self.typesize {
                    let kind = random(&mut state) % 6;
                    bytes.extend((0..width).map(|x| (kind * 31 + x as u64 / 3) as u8));
                }
                bytes.truncate(count * self.typesize);
                bytes
            }
            Content::Noise => (0..count * self.typesize)
                .map(|_| random(&mut state) as u8)
                .collect(),
        }
    }

    fn cparams(&self) -> Cparams {
        let mut cparams = Cparams {
            compcode: self.codec,
            compcode_meta: self.codec_meta,
            typesize: self.typesize as i32,
            blocksize: self.blocksize() as i32,
            splitmode: self.splitmode,
            filters: [0; 6],
            ..Cparams::default()
        };
        for (slot, (id, meta)) in (4..).zip(self.filters) {
            cparams.filters[slot] = id;
            cparams.filters_meta[slot] = meta;
        }
        cparams
    }

    /// The `b2nd` metalayer of an array of `BLOCKS` such blocks.
    fn metalayer(&self) -> Vec<u8> {
        let ndim = self.shape.len() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
        let mut outer = self.shape.clone();
        outer[0] *= BLOCKS as i32;
        for &extent in &outer {
            bytes.push(0xD3);
            bytes.extend(i64::from(extent).to_be_bytes());
        }
        for shape in [&outer, &self.shape] {
            bytes.push(0x90 + ndim);
            for extent in shape {
                bytes.push(0xD2);
                bytes.extend(extent.to_be_bytes());
            }
        }
        bytes.extend(b"\0\xDB\0\0\0\x03|u1");
        bytes
    }
}

/// A super-chunk of one library, with a context for either direction.
struct Array<'a> {
    library: &'a Library,
    schunk: *mut SChunk,
    cctx: *mut Context,
    dctx: *mut Context,
}

impl<'a> Array<'a> {
    fn new(library: &'a Library, case: &Case) -> Array<'a> {
        let (mut cparams, mut dparams) = (case.cparams(), Dparams::default());
        let mut storage = Storage {
            contiguous: false,
            urlpath: std::ptr::null_mut(),
            cparams: &mut cparams,
            dparams: &mut dparams,
            io: std::ptr::null_mut(),
        };
        let mut content = case.metalayer();
        // SAFETY: the parameters live longer than the call that copies them, the super-chunk longer than
        // the contexts that name it.
        unsafe {
            let schunk = (library.blosc2_schunk_new)(&mut storage);
            assert!(!schunk.is_null(), "{}: no super-chunk", library.name);
            let len = c_len(&content);
            let number =
                (library.blosc2_meta_add)(schunk, c"b2nd".as_ptr(), content.as_mut_ptr(), len);
            assert_eq!(number, 0, "{}: no metalayer", library.name);
            cparams.schunk = schunk.cast();
            dparams.schunk = schunk.cast();
            Array {
                library,
                schunk,
                cctx: (library.blosc2_create_cctx)(cparams),
                dctx: (library.blosc2_create_dctx)(dparams),
            }
        }
    }

    fn compress(&self, data: &[u8]) -> Result<Vec<u8>, i32> {
        let mut chunk = vec![0; data.len() + OVERHEAD];
        let room = c_len(&chunk);
        // SAFETY: the buffers are as long as said.
        let size = unsafe {
            let (src, dest) = (data.as_ptr().cast(), chunk.as_mut_ptr().cast());
            (self.library.blosc2_compress_ctx)(self.cctx, src, c_len(data), dest, room)
        };
        chunk.truncate(usize::try_from(size).map_err(|_| size)?);
        Ok(chunk)
    }

    fn decompress(&self, chunk: &[u8], len: usize) -> Result<Vec<u8>, i32> {
        let mut data = vec![0; len];
        let room = c_len(&data);
        // SAFETY: the buffers are as long as said.
        let size = unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            (self.library.blosc2_decompress_ctx)(self.dctx, src, c_len(chunk), dest, room)
        };
        if size == room { Ok(data) } else { Err(size) }
    }

    fn getitem(
        &self,
        chunk: &[u8],
        start: usize,
        items: usize,
        typesize: usize,
    ) -> Result<Vec<u8>, i32> {
        let mut data = vec![0; items * typesize];
        let room = c_len(&data);
        // SAFETY: the buffers are as long as said.
        let size = unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            let (start, items) = (start as i32, items as i32);
            (self.library.blosc2_getitem_ctx)(
                self.dctx,
                src,
                c_len(chunk),
                start,
                items,
                dest,
                room,
            )
        };
        if size == room { Ok(data) } else { Err(size) }
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this library, freed once, the contexts before what they name.
        unsafe {
            (self.library.blosc2_free_ctx)(self.cctx);
            (self.library.blosc2_free_ctx)(self.dctx);
            (self.library.blosc2_schunk_free)(self.schunk);
        }
    }
}

/// Compares the two libraries; gives the sizes of their chunks, and what both decompress them to is the
/// same, and the data itself unless `lossy`.
fn compare(case: &Case, lossy: bool) -> Result<[usize; 2], String> {
    let (mine, theirs) = (Array::new(ours(), case), Array::new(reference(), case));
    let data = case.data();
    let chunk = mine
        .compress(&data)
        .map_err(|code| format!("ours: {code}"))?;
    let backs = [
        mine.decompress(&chunk, data.len()),
        theirs.decompress(&chunk, data.len()),
    ];
    if backs[0].is_err() || backs[0] != backs[1] {
        return Err(format!(
            "our chunk: {:?}, {:?}",
            backs[0].as_ref().err(),
            backs[1].as_ref().err()
        ));
    }
    if !lossy && backs[0].as_ref() != Ok(&data) {
        return Err("our chunk is not the data".to_owned());
    }
    let items = case.items();
    for (start, count) in [
        (0, 1),
        (5, 4),
        (items - 1, 2),
        (items + 2, 3),
        (3, items),
        (2 * items, items),
    ] {
        let part = mine.getitem(&chunk, start, count, case.typesize);
        let whole = backs[0].as_ref().expect("decompressed");
        if part.as_deref() != Ok(&whole[start * case.typesize..][..count * case.typesize]) {
            return Err(format!(
                "{count} items from {start} on are not those of the whole"
            ));
        }
    }
    let their_chunk = match theirs.compress(&data) {
        Ok(chunk) => chunk,
        // Row C66: a stream between what is left and what it was.
        Err(-6) if (ZFP_ACCURACY..=ZFP_RATE).contains(&case.codec) => return Ok([0, 0]),
        Err(code) => return Err(format!("theirs: {code}")),
    };
    let backs = [
        mine.decompress(&their_chunk, data.len()),
        theirs.decompress(&their_chunk, data.len()),
    ];
    if backs[0].is_err() || backs[0] != backs[1] {
        return Err(format!(
            "their chunk: {:?}, {:?}",
            backs[0].as_ref().err(),
            backs[1].as_ref().err()
        ));
    }
    if (ZFP_ACCURACY..=ZFP_RATE).contains(&case.codec) && chunk != their_chunk {
        return Err("chunks of ZFP differ".to_owned());
    }
    Ok([chunk.len(), their_chunk.len()])
}

/// Compares the libraries over all cases, each batch in a child; gives the sum of sizes.
fn compare_all(cases: &[Case], lossy: bool) -> [usize; 2] {
    ours();
    reference();
    let outcomes = isolate::each(cases.len(), |index| {
        let sizes = compare(&cases[index], lossy)?;
        Ok(sizes.iter().map(|&size| size as i64).collect())
    });
    let mut sums = [0; 2];
    let mut complaints = String::new();
    for (case, outcome) in cases.iter().zip(outcomes) {
        match outcome {
            isolate::Outcome::Values(sizes) => {
                sums[0] += sizes[0] as usize;
                sums[1] += sizes[1] as usize;
            }
            other => complaints += &format!("  {case:?}: {other:?}\n"),
        }
    }
    assert!(
        complaints.is_empty(),
        "of {} cases, these fail:\n{complaints}",
        cases.len()
    );
    sums
}

fn plain(codec: u8, codec_meta: u8, typesize: usize, shape: &[i32], content: Content) -> Case {
    Case {
        codec,
        codec_meta,
        filters: [(0, 0); 2],
        typesize,
        splitmode: NEVER_SPLIT,
        shape: shape.to_vec(),
        content,
    }
}

#[test]
fn ndlz_is_read_by_both_and_not_larger_than_the_references() {
    let mut cases = Vec::new();
    for meta in [4, 8] {
        for shape in [
            [16, 16],
            [32, 40],
            [17, 23],
            [8, 100],
            [3, 90],
            [200, 200],
            [64, 5],
        ] {
            for content in [Content::Rows, Content::Noise] {
                cases.push(plain(NDLZ, meta, 1, &shape, content));
                for typesize in [2, 4] {
                    let mut case = plain(NDLZ, meta, typesize, &shape, content);
                    case.splitmode = ALWAYS_SPLIT;
                    cases.push(case);
                }
            }
        }
    }
    let [mine, theirs] = compare_all(&cases, false);
    println!("NDLZ: {mine} bytes, the reference {theirs}");
    assert!(
        mine <= theirs + theirs / 100,
        "{mine} bytes, the reference {theirs}"
    );
}

#[test]
fn row_c66_zfp_chunks_are_the_same() {
    let mut cases = Vec::new();
    let shapes: [&[i32]; 7] = [
        &[64],
        &[101],
        &[16, 12],
        &[9, 30],
        &[5, 6, 7],
        &[8, 4, 9],
        &[4, 5, 6, 7],
    ];
    for shape in shapes {
        for typesize in [4, 8] {
            for content in [Content::Curve, Content::Rough] {
                for (codec, meta) in [
                    (ZFP_ACCURACY, -3i8 as u8),
                    (ZFP_ACCURACY, 0),
                    (ZFP_ACCURACY, 2),
                    (ZFP_PRECISION, 1),
                    (ZFP_PRECISION, 20),
                    (ZFP_PRECISION, 100),
                    (ZFP_RATE, 1),
                    (ZFP_RATE, 25),
                    (ZFP_RATE, 37),
                    (ZFP_RATE, 90),
                ] {
                    cases.push(plain(codec, meta, typesize, shape, content));
                }
                let mut split = plain(ZFP_RATE, 50, typesize, shape, content);
                split.splitmode = ALWAYS_SPLIT;
                cases.push(split);
                let mut shuffled = plain(ZFP_RATE, 50, typesize, shape, Content::Curve);
                shuffled.filters[1].0 = SHUFFLE;
                cases.push(shuffled);
            }
        }
    }
    compare_all(&cases, true);
}

#[test]
fn filters_of_cells_are_read_by_both() {
    let shapes: [&[i32]; 7] = [
        &[64],
        &[37],
        &[16, 16],
        &[13, 9],
        &[6, 7, 8],
        &[5, 4, 6, 5],
        &[3, 3, 3, 3, 3],
    ];
    let mut cells = Vec::new();
    let mut means = Vec::new();
    for shape in shapes {
        for side in [1, 2, 3] {
            for typesize in [1, 2, 4, 7, 8] {
                for filters in [[(0, 0), (NDCELL, side)], [(NDCELL, side), (SHUFFLE, 0)]] {
                    let mut case = plain(LZ4, 0, typesize, shape, Content::Rows);
                    case.filters = filters;
                    cells.push(case);
                }
            }
            for typesize in [4, 8] {
                for content in [Content::Curve, Content::Rough] {
                    let mut case = plain(LZ4, 0, typesize, shape, content);
                    case.filters[1] = (NDMEAN, side);
                    means.push(case);
                }
            }
        }
    }
    compare_all(&cells, false);
    compare_all(&means, true);
}

#[test]
fn bytedelta_takes_its_channels_from_the_super_chunk() {
    let mut cases = Vec::new();
    for shape in [[64, 1], [33, 7]] {
        for typesize in [1, 2, 4, 8] {
            for filter in [BYTEDELTA, BYTEDELTA_BUGGY] {
                let mut case = plain(LZ4, 0, typesize, &shape, Content::Rows);
                case.filters = [(SHUFFLE, 0), (filter, 0)];
                cases.push(case);
            }
        }
    }
    compare_all(&cases, false);
}
