//! Hostile arrays: metalayers that lie about a few real chunks, and frames with whatever metalayer they have.

use std::sync::OnceLock;

use ferroblosc::b2nd::{Array, Layout, State};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

use crate::draw::Draw;

/// The largest input; libFuzzer's default limit is below it.
const MAX_INPUT: usize = 1 << 20;
/// Bytes of a slice.
const MAX_SLICE: usize = 1 << 14;
/// Frames with larger chunks are only looked at: they, or the shapes in them, tell of it, so they may cost as much.
const MAX_CHUNK: i32 = 1 << 16;
/// Arrays aren't enlarged to more chunks.
const MAX_CHUNKS: i64 = 1000;
/// Bytes of address space that calls on arrays of small chunks may add. The allocator maps 128 MiB for each thread
/// that is new to it; shapes that lie come to 2 GiB a chunk.
const MAX_GROWTH: u64 = 512 << 20;
/// Where the name of a frame stands in it.
const MAGIC: (usize, &[u8]) = (2, b"b2frame\0");

/// A metalayer in front of real chunks, or a whole frame.
pub fn array(input: &[u8]) {
    if input.len() > MAX_INPUT {
        return;
    }
    let is_frame = input[MAGIC.0.min(input.len())..].starts_with(MAGIC.1);
    let mut draw = Draw::new(input);
    let before = peak();
    match is_frame {
        true => frame(input, &mut draw),
        false => metalayer(input, &mut draw),
    }
    let growth = peak() - before;
    assert!(growth <= MAX_GROWTH, "took {growth} bytes of address space");
}

/// The most address space this process has ever had.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel knows");
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kibibytes: Option<u64> = kibibytes.and_then(|number| number.parse().ok());
    kibibytes.expect("a number of KiB") << 10
}

/// A frame of four chunks of 16 items of a byte, in blocks of 4, without metalayers.
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
    let params = CParams::default()
        .typesize(1)
        .blocksize(4)
        .threads(nthreads);
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
    // A frame of chunks that vary in size leaves it to the shapes.
    let chunksize = array.geometry().chunksize(array.schunk().typesize());
    if chunksize.is_ok_and(|bytes| bytes > MAX_CHUNK as usize) {
        return;
    }
    use_array(array, draw, false);
}

/// A slice of few items, which may stick out, or be empty.
fn slice(array: &Array, draw: &mut Draw) -> (Vec<i64>, Vec<i64>) {
    let mut room = MAX_SLICE / (array.schunk().typesize().max(1) as usize);
    let mut range = |&extent: &i64| {
        let start = match draw.below(4) {
            0 => 0,
            1 => (extent - 1).max(0),
            2 => extent / 2,
            _ => draw.below(usize::try_from(extent).unwrap_or(0)) as i64,
        };
        let len = draw.below(12.min(room + 1));
        room /= len.max(1);
        (start, start.saturating_add(len as i64))
    };
    array.shape().iter().map(&mut range).unzip()
}

/// Does everything there is to an array. When its chunks are sound, all ways to read must tell the same, and what
/// is written must come back.
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
        // What could be used can be opened.
        let again = SChunk::from_bytes(&bytes, DParams::default()).and_then(Array::from_schunk);
        assert_eq!(again.map(|again| again.shape()), Ok(array.shape()));
    }
}

/// Reads an item in all ways.
fn read(array: &Array, draw: &mut Draw, is_sound: bool) {
    let (start, stop) = slice(array, draw);
    let _ = array.get_slice(&start, &stop);
    let shape = array.shape();
    let is_inside = start
        .iter()
        .zip(&shape)
        .all(|(start, extent)| start < extent);
    let next: Vec<i64> = start.iter().map(|&at| at.saturating_add(1)).collect();
    let item = array.get_slice(&start, &next);
    let lists: Vec<&[i64]> = start.iter().map(std::slice::from_ref).collect();
    let orthogonal = array.get_orthogonal(&lists);
    let number = (start.iter().zip(&shape))
        .try_fold(0i64, |at, (i, n)| at.checked_mul(*n)?.checked_add(*i))
        .unwrap_or(i64::MAX);
    let sparse = array.get_sparse(&[number]);
    // Of a view only the dimensions of more than one item are left.
    let kept = |places: &[i64]| -> Vec<i64> {
        let kept = places
            .iter()
            .zip(&shape)
            .filter(|(_, extent)| **extent != 1);
        kept.map(|(at, _)| *at).collect()
    };
    let squeezed = array
        .squeeze()
        .map(|view| view.get_slice(&kept(&start), &kept(&next)));
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
    let sticks_out = stop
        .iter()
        .zip(array.shape())
        .any(|(stop, extent)| *stop > extent);
    if array.set_slice(start, stop, &items).is_ok() && is_sound && !sticks_out {
        assert_eq!(array.get_slice(start, stop), Ok(items));
    }
    let lists: Vec<&[i64]> = start.iter().map(std::slice::from_ref).collect();
    let _ = array.set_orthogonal(&lists, &before[..before.len().min(1)]);
}

/// Gives it another shape, by each of the calls that do.
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
    let _ = ferroblosc::b2nd::create::find(array.chunks());
}
