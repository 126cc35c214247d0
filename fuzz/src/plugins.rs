//! The plugins that treat a block as an array, on arbitrary streams and arrays.

use std::cell::RefCell;

use ferroblosc::codec::{self, CodecCall, id};
use ferroblosc::filter::{self, Pipeline, Reference, SLOTS, Scratch, Slot};
use ferroblosc::{CallContext, Parent};

use crate::alloc::largest_during;
use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum length of input and output in bytes.
const MAX_LEN: usize = 1 << 16;
/// The maximum size of a single allocation in bytes, beyond the lengths of input and output.
const FIXED_ALLOCATION: usize = 1 << 16;

thread_local! {
    static BENCH: RefCell<(Guarded, Guarded)> =
        RefCell::new((Guarded::new(MAX_LEN), Guarded::new(MAX_LEN)));
}

/// A super-chunk with the given array metalayer.
struct Array {
    typesize: i32,
    metalayer: Vec<u8>,
}

impl Parent for Array {
    fn typesize(&self) -> i32 {
        self.typesize
    }

    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool {
        (name == "b2nd").then(|| read(&self.metalayer)).is_some()
    }

    fn current_chunk(&self) -> i64 {
        0
    }
}

/// Returns the metalayer of an array with this blockshape.
fn metalayer(shape: &[i32]) -> Vec<u8> {
    let ndim = shape.len() as u8;
    let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
    for &extent in shape {
        bytes.push(0xD3);
        bytes.extend(i64::from(extent).to_be_bytes());
    }
    for _ in 0..2 {
        bytes.push(0x90 + ndim);
        for extent in shape {
            bytes.push(0xD2);
            bytes.extend(extent.to_be_bytes());
        }
    }
    bytes
}

/// Decodes a stream to `len` bytes; the result must be within bounds and reproducible.
fn decode(compcode: u8, meta: u8, array: &Array, stream: &[u8], len: usize, draw: &mut Draw) {
    let codec = codec::implementation(compcode).expect("a plugin of our own");
    let mut call = CodecCall::default();
    call.meta = meta;
    call.ctx.parent = Some(array);
    BENCH.with_borrow_mut(|(input, output)| {
        let stream = input.copy(stream, Side::draw(draw));
        let dest = output.slice(len, Side::draw(draw));
        let (made, largest) = largest_during(|| codec.decode(&call, stream, dest));
        let justified = FIXED_ALLOCATION + 4 * (stream.len() + len);
        assert!(largest <= justified, "asked for {largest} bytes");
        let mut again = vec![0; len];
        assert_eq!(codec.decode(&call, stream, &mut again), made, "another time");
        let Ok(made) = made else { return };
        assert!(dest[..made] == again[..made], "not reproducible");
        let from = draw.below(made + 1);
        let mut part = vec![0; draw.below(made - from + 1).min(32)];
        if let Some(Ok(())) = codec.decode_part(&call, stream, len, from, &mut part) {
            assert!(part == dest[from..][..part.len()], "another range");
        }
    });
}

/// Checks a stream of NDLZ.
pub fn ndlz(stream: &[u8]) {
    if stream.len() > MAX_LEN {
        return;
    }
    let draw = &mut Draw::new(stream);
    let array = Array { typesize: 1, metalayer: Vec::new() };
    for meta in [4, 8] {
        let len = draw.below(5000);
        decode(id::NDLZ, meta, &array, stream, len, draw);
    }
}

/// Checks a stream of ZFP in each of its modes.
pub fn zfp(stream: &[u8]) {
    if stream.len() > MAX_LEN {
        return;
    }
    let draw = &mut Draw::new(stream);
    for compcode in id::ZFP_ACCURACY..=id::ZFP_RATE {
        let shape: Vec<i32> = (0..1 + draw.below(4)).map(|_| 1 + draw.below(9) as i32).collect();
        let typesize = 4 + 4 * draw.below(2) as i32;
        let array = Array { typesize, metalayer: metalayer(&shape) };
        let nbytes = (shape.iter().product::<i32>() * typesize) as usize;
        let len = nbytes + draw.below(2) * draw.below(20);
        let meta = draw.below(256) as u8;
        decode(compcode, meta, &array, stream, len, draw);
    }
}

/// Returns the product of the numbers in the blockshape field.
fn items_of_a_block(metalayer: &[u8]) -> Option<usize> {
    let ndim = usize::from(*metalayer.get(2)?);
    let numbers = metalayer.get(6 + 14 * ndim..)?.get(..5 * ndim)?;
    numbers.as_chunks::<5>().0.iter().try_fold(1usize, |items, entry| {
        let [_, value @ ..] = *entry;
        items.checked_mul(u32::from_be_bytes(value) as usize)
    })
}

/// Checks the cell filters with a metalayer from which they read the blockshape.
pub fn cells(metalayer: &[u8]) {
    let draw = &mut Draw::new(metalayer);
    let array = Array { typesize: 1 + draw.below(9) as i32, metalayer: metalayer.to_vec() };
    let mut ctx = CallContext::default();
    ctx.parent = Some(&array);
    ctx.typesize = array.typesize as usize;
    let right = items_of_a_block(metalayer).filter(|&items| items <= MAX_LEN / 16);
    for items in [Some(draw.below(100)), right].into_iter().flatten() {
        let block: Vec<u8> = (0..items * array.typesize as usize).map(|i| i as u8).collect();
        for id in [filter::id::NDCELL, filter::id::NDMEAN] {
            let mut slots = [Slot::default(); SLOTS];
            slots[0] = Slot { id, meta: draw.below(6) as u8 };
            let pipeline = Pipeline::new(&slots, 5, array.typesize as usize);
            let mut scratch = Scratch::default();
            let mut back = vec![0; block.len()];
            let own = Reference::Own;
            if pipeline.backward(own, &ctx, &block, &mut scratch, &mut back).is_ok()
                && id == filter::id::NDCELL
            {
                let forth = pipeline.forward(own, &ctx, &back, &mut scratch);
                assert_eq!(forth, Ok(&*block), "items were lost");
            }
        }
    }
}
