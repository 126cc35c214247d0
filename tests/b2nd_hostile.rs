//! Arrays with corrupt metalayers: every call returns, with an error or with items.

use ferroblosc::Error;
use ferroblosc::b2nd::{Array, Layout, create, meta};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

const SHAPE: [i64; 2] = [5, 7];

/// Opens an array from a super-chunk with the chunks of a 5 x 7 array in chunks of 4 x 4 and this
/// metalayer.
fn array_of(metalayer: &[u8]) -> Option<Array> {
    let params = CParams::default().typesize(1).blocksize(4);
    let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
    schunk.add_metalayer("b2nd", metalayer).unwrap();
    for first in 0..4u8 {
        schunk.append(&[first; 16]).unwrap();
    }
    Array::from_schunk(schunk).ok()
}

/// Calls all functions that use the metalayer.
fn use_array(mut array: Array) {
    let geometry = array.geometry();
    let ndim = geometry.ndim;
    let (zeros, ones) = (vec![0; ndim], vec![1; ndim]);
    let _ = array.get_slice(&zeros, &ones);
    let last: Vec<i64> = geometry.shape().iter().map(|&n| (n - 1).max(0)).collect();
    let _ = array.get_slice(&last, geometry.shape());
    let _ = array.get_sparse(&[0, geometry.nitems - 1]);
    let picks: Vec<&[i64]> = last.iter().map(std::slice::from_ref).collect();
    let _ = array.get_orthogonal(&picks);
    let _ = array.set_slice(&last, geometry.shape(), &[7]);
    let _ = array.squeeze().map(|view| view.get_slice(&zeros, &ones));
    let _ = array.append(&[1; 16], 0);
    let smaller: Vec<i64> = geometry.shape().iter().map(|&n| n.min(3)).collect();
    let _ = array.resize(&smaller, None);
    let _ = array.delete(0, 0, 1);
    let _ = create::find(ferroblosc::b2nd::State::chunks(&array));
}

#[test]
fn row_n41_corrupt_metalayers_are_handled_safely() {
    let sound = meta::serialize(&SHAPE, &[4, 4], &[2, 2], Some(b"|u1"), 0).unwrap();
    let values = [0, 1, 2, 3, 4, 5, 7, 8, 0x10, 0x7F, 0x80, 0xFF];
    let mut opened = 0;
    for at in 0..sound.len() {
        for value in values {
            let mut bytes = sound.clone();
            bytes[at] = value;
            if let Some(array) = array_of(&bytes) {
                opened += 1;
                use_array(array);
            }
        }
    }
    // Some corrupt metalayers are valid ones of another array.
    assert!(opened > 100, "{opened} opened");
}

/// Upper bound on the address space that hostile arrays may use, in bytes: more than the allocator
/// and threads need. The shapes below declare chunks of up to 2 GiB.
const MAX_GROWTH: u64 = 512 << 20;

/// Returns the peak size of the process's address space in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kibibytes.unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn row_n41_shapes_far_larger_than_their_chunks_fail_fast() {
    let before = peak();
    type Shapes = (&'static [i64], &'static [i32], &'static [i32]);
    let shapes: [Shapes; 7] = [
        (&[i64::MAX], &[1], &[1]),
        (&[i64::MAX - 15], &[16], &[4]),
        (&[1 << 40, 1], &[4, 4], &[2, 2]),
        (&[0, i64::MAX], &[4, 4], &[2, 2]),
        (&[1 << 31, 1 << 31], &[4, 4], &[2, 2]),
        (&[5, 7], &[i32::MAX, 1], &[i32::MAX, 1]),
        (&[5, 7], &[1 << 15, 1 << 15], &[1, 1]),
    ];
    for (shape, chunks, blocks) in shapes {
        let bytes = meta::serialize(shape, chunks, blocks, None, 0).unwrap();
        if let Some(array) = array_of(&bytes) {
            use_array(array);
        }
    }
    assert!(peak() - before <= MAX_GROWTH, "{before}, {}", peak());
}

#[test]
fn row_n41_writing_to_chunks_of_another_size_allocates_no_memory() {
    let bytes = meta::serialize(&[5, 7], &[1 << 15, 1 << 15], &[1, 1], None, 0).unwrap();
    let mut array = array_of(&bytes).unwrap();
    let before = peak();
    assert_eq!(array.set_slice(&[0, 0], &[5, 7], &[1; 35]), Err(Error::Failure));
    assert_eq!(array.set_slice(&[1, 1], &[2, 2], &[1]), Err(Error::Failure));
    assert_eq!(array.set_orthogonal(&[&[0], &[0]], &[1]), Err(Error::Failure));
    assert_eq!(array.get_slice(&[0, 0], &[1, 1]), Err(Error::Failure));
    assert_eq!(array.get_orthogonal(&[&[0], &[0]]), Err(Error::Failure));
    assert_eq!(array.get_sparse(&[0]), Err(Error::Failure));
    assert_eq!(array.append(&[1; 7], 0), Err(Error::Failure));
    assert_eq!(array.resize(&[1 << 16, 7], None), Err(Error::Failure));
    assert_eq!(array.shape(), [5, 7]);
    assert!(peak() - before <= MAX_GROWTH, "{before}, {}", peak());
}

#[test]
fn items_of_the_wrong_size_create_no_file() {
    let path = std::env::temp_dir().join(format!("ferroblosc-items-{}.b2nd", std::process::id()));
    let layout = Layout { shape: &[10, 4], chunkshape: &[5, 4], blockshape: &[5, 2] };
    for size in [0, 1, 39 * 4, 41 * 4] {
        let params = CParams::default().typesize(4);
        let made =
            Array::from_item_bytes(Storage::file(&path), params, &layout, "<i4", &vec![0; size]);
        assert_eq!(made.err(), Some(Error::InvalidParam), "{size}");
        assert!(!path.exists(), "{size}");
    }
}

#[test]
fn insertions_out_of_range_are_refused() {
    let sound = meta::serialize(&SHAPE, &[4, 4], &[2, 2], Some(b"|u1"), 0).unwrap();
    for start in [-1, 6, i64::MIN, i64::MAX] {
        let mut array = array_of(&sound).unwrap();
        assert_eq!(array.insert(&[1; 7], 0, start), Err(Error::InvalidParam), "{start}");
        assert_eq!(array.shape(), SHAPE);
    }
}
