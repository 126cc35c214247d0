//! Tests of the time that hostile frames need. They have a process of their own, since another test
//! measures the memory of its process.

mod common;

use common::Plugin;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams, Special};
use ferroblosc::schunk::{SChunk, Storage};

#[test]
fn the_number_of_chunks_of_a_frame_is_limited_by_its_bytes() {
    let of_chunks = |count: i64| {
        let cparams = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::frame(), cparams, DParams::default()).unwrap();
        schunk.fill(count, Special::Zero, 1).unwrap();
        schunk.to_bytes().unwrap()
    };
    let stored = of_chunks(1000);
    assert_eq!(Plugin::blosc2().decompress(&[], &stored), Some(vec![0; 1000]));
    let stored = of_chunks((1 << 20) + 1);
    assert!(stored.len() < 1000);
    assert_eq!(Plugin::blosc2().decompress(&[], &stored), None);
    // Arrays of 9 and of 65 bytes whose blocks have 2.25 and 16.25 GiB.
    let of_rows = |count: i64| {
        let (shape, chunkshape) = ([count, 1], [1, i32::MAX / 2 + 1]);
        let layout = Layout { shape: &shape, chunkshape: &chunkshape, blockshape: &[1, 1 << 28] };
        let cparams = CParams::default().typesize(1);
        Array::zeros(Storage::frame(), cparams, &layout, "|u1").unwrap().to_bytes().unwrap()
    };
    assert_eq!(Plugin::blosc2().decompress(&[], &of_rows(9)), Some(vec![0; 9]));
    assert_eq!(Plugin::blosc2().decompress(&[], &of_rows(65)), None);
}
