//! Hostile arrays: invalid metalayers on a few valid chunks, and frames with arbitrary metalayers.

use std::sync::OnceLock;

use ferroblosc::b2nd::{Array, Layout, State};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

use crate::draw::Draw;

/// The maximum input length in bytes, above libFuzzer's default limit.
const MAX_INPUT: usize = 1 << 20;
/// The maximum size of a slice in bytes.
const MAX_SLICE: usize = 1 << 14;
/// The maximum chunk size of arrays that are used, in bytes. Larger chunks are not read or written,
/// since they may legitimately need that much memory.
const MAX_CHUNK: i32 = 1 << 16;
/// The maximum number of chunks to which arrays are enlarged.
const MAX_CHUNKS: i64 = 1000;
/// The maximum growth of the address space by calls on arrays of small chunks, in bytes. The
/// allocator maps 128 MiB for each new thread; an invalid shape can demand 2 GiB per chunk.
const MAX_GROWTH: u64 = 512 << 20;
/// The offset and the bytes of a frame's magic number.
const MAGIC: (usize, &[u8]) = (2, b"b2frame\0");

/// Checks a whole frame, or a metalayer on valid chunks.
pub fn array(input: &[u8]) {
    if input.len() > MAX_INPUT {
        return;
    }
    let is_frame = input[MAGIC.0.min(input.len())..].starts_with(MAGIC.1);
    let mut draw = Draw::new(input);
    let before = peak();
    if is_frame {
        frame(input, &mut draw)
    } else {
        metalayer(input, &mut draw)
    }
    let growth = peak() - before;
    assert!(growth <= MAX_GROWTH, "took {growth} bytes of address space");
}

/// Returns the peak address space of this process in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel knows");
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: Option<u64> = kibibytes.and_then(|number| number.parse().ok());
    kibibytes.expect("a number of KiB") << 10
}

/// Returns four chunks of 16 one-byte items in blocks of 4.
fn chunks() -> &'static [Vec<u8>] {
    static CHUNKS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    CHUNKS.get_or_init(|| {
        let params = CParams::default().typesize(1).blocksize(4);
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default())
            .expect("a super-chunk in memory");
        (0..4u8)
            .map(|nchunk| {
                let items: Vec<u8> = (16 * nchunk..16 * nchunk + 16).collect();
                schunk.append(&items).expect("a chunk");
                schunk.chunk(i64::from(nchunk)).expect("it").to_vec()
            })
            .collect()
    })
}

fn metalayer(bytes: &[u8], draw: &mut Draw) {
    let storage = match draw.below(2) {
        0 => Storage::memory(),
        _ => Storage::frame(),
    };
    let nthreads = 1 + draw.below(2) as i16;
    let params = CParams::default().typesize(1).blocksize(4).threads(nthreads);
    let mut schunk = SChunk::create(storage, params, DParams::default().threads(nthreads))
        .expect("a super-chunk in memory");
    let name = ["b2nd", "b2nd", "caterva"][draw.below(3)];
    if schunk.add_metalayer(name, bytes).is_err() {
        return;
    }
    for chunk in chunks() {
        schunk.append_chunk(chunk).expect("a chunk");
    }
    if let Ok(array) = Array::from_schunk(schunk) {
        use_array(array, draw, true);
    }
}

fn frame(bytes: &[u8], draw: &mut Draw) {
    let Ok(schunk) = SChunk::from_bytes(bytes, DParams::default()) else {
        return;
    };
    if schunk.chunksize() > MAX_CHUNK {
        return;
    }
    let Ok(array) = Array::from_schunk(schunk) else {
        return;
    };
    // In a frame with variable chunk sizes, only the shapes determine the size.
    let chunksize = array.geometry().chunksize(array.schunk().typesize());
    if chunksize.is_ok_and(|bytes| bytes > MAX_CHUNK as usize) {
        return;
    }
    use_array(array, draw, false);
}

/// Draws a slice of few items, which may be empty or exceed the array.
fn slice(array: &Array, draw: &mut Draw) -> (Vec<i64>, Vec<i64>) {
    let mut budget = MAX_SLICE / (array.schunk().typesize().max(1) as usize);
    let mut range = |&extent: &i64| {
        let start = match draw.below(4) {
            0 => 0,
            1 => (extent - 1).max(0),
            2 => extent / 2,
            _ => draw.below(usize::try_from(extent).unwrap_or(0)) as i64,
        };
        let len = draw.below(12.min(budget + 1));
        budget /= len.max(1);
        (start, start.saturating_add(len as i64))
    };
    array.shape().iter().map(&mut range).unzip()
}

/// Calls all functions of an array. If its chunks are valid, all ways of reading must agree, and
/// written items must be read back.
fn use_array(mut array: Array, draw: &mut Draw, is_sound: bool) {
    let Ok(typesize) = usize::try_from(array.schunk().typesize()) else {
        return;
    };
    if typesize == 0 || typesize > MAX_SLICE {
        return;
    }
    for _ in 0..3 {
        read(&array, draw, is_sound);
        let (start, stop) = slice(&array, draw);
        write(&mut array, draw, (&start, &stop), is_sound);
    }
    let (start, stop) = slice(&array, draw);
    let ndim = start.len();
    let layout = Layout {
        shape: &[],
        chunkshape: &vec![1 + draw.below(5) as i32; ndim],
        blockshape: &vec![1; ndim],
    };
    let params = CParams::default().typesize(typesize as i32);
    let _ = array.copy_slice(Storage::memory(), params, &layout, (&start, &stop));
    reshape(&mut array, draw);
    read(&array, draw, is_sound);
    if let (Ok(bytes), true) = (array.to_bytes(), is_sound) {
        // A valid array can be reopened after the changes.
        let again = SChunk::from_bytes(&bytes, DParams::default()).and_then(Array::from_schunk);
        assert_eq!(again.map(|again| again.shape()), Ok(array.shape()));
    }
}

/// Reads an item with each function that can read it.
fn read(array: &Array, draw: &mut Draw, is_sound: bool) {
    let (start, stop) = slice(array, draw);
    let _ = array.get_slice(&start, &stop);
    let shape = array.shape();
    let is_inside = start.iter().zip(&shape).all(|(start, extent)| start < extent);
    let next: Vec<i64> = start.iter().map(|&at| at.saturating_add(1)).collect();
    let item = array.get_slice(&start, &next);
    let lists: Vec<&[i64]> = start.iter().map(std::slice::from_ref).collect();
    let orthogonal = array.get_orthogonal(&lists);
    let number = (start.iter().zip(&shape))
        .try_fold(0i64, |at, (i, n)| at.checked_mul(*n)?.checked_add(*i))
        .unwrap_or(i64::MAX);
    let sparse = array.get_sparse(&[number]);
    // A view keeps only the dimensions of more than one item.
    let kept = |indices: &[i64]| -> Vec<i64> {
        let kept = indices.iter().zip(&shape).filter(|(_, extent)| **extent != 1);
        kept.map(|(at, _)| *at).collect()
    };
    let squeezed = array.squeeze().map(|view| view.get_slice(&kept(&start), &kept(&next)));
    if is_sound && is_inside && !shape.is_empty() {
        assert_eq!(orthogonal.ok(), item.clone().ok());
        assert!(sparse.is_err() || item.is_err() || sparse == item);
        assert!(squeezed.is_err() || squeezed == Ok(item));
    }
}

fn write(array: &mut Array, draw: &mut Draw, (start, stop): (&[i64], &[i64]), is_sound: bool) {
    let Ok(before) = array.get_slice(start, stop) else {
        let _ = array.set_slice(start, stop, &[7]);
        return;
    };
    let items: Vec<u8> = before.iter().map(|_| draw.below(256) as u8).collect();
    let sticks_out = stop.iter().zip(array.shape()).any(|(stop, extent)| *stop > extent);
    if array.set_slice(start, stop, &items).is_ok() && is_sound && !sticks_out {
        assert_eq!(array.get_slice(start, stop), Ok(items));
    }
    let lists: Vec<&[i64]> = start.iter().map(std::slice::from_ref).collect();
    let _ = array.set_orthogonal(&lists, &before[..before.len().min(1)]);
}

/// Changes the shape of the array with each function that can change it.
fn reshape(array: &mut Array, draw: &mut Draw) {
    let mut shape = array.shape();
    let axis = draw.below(shape.len());
    let Some(extent) = shape.get_mut(axis) else {
        return;
    };
    *extent = match draw.below(3) {
        0 => extent.saturating_add(draw.below(20) as i64),
        1 => *extent / 2,
        _ => 0,
    };
    let grown = array.geometry().with_shape(&shape);
    if grown.is_ok_and(|grown| grown.nchunks() <= MAX_CHUNKS) {
        let _ = array.resize(&shape, None);
        let data = vec![1; draw.below(300)];
        let _ = array.append(&data, axis as i8);
        let _ = array.insert(&data, axis as i8, 0);
    }
    let len = draw.below(9) as i64;
    let _ = array.delete(axis as i8, draw.below(9) as i64, len);
    let _ = array.refresh();
    let _ = ferroblosc::b2nd::create::find(State::chunks(array));
}
