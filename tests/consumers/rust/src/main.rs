//! Uses the crate `ferroblosc`: compresses and decompresses a chunk, and creates an array in
//! memory.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::codec;
use ferroblosc::schunk::Storage;

fn main() -> Result<(), ferroblosc::Error> {
    let data: Vec<u8> = (0..10_000i32).flat_map(i32::to_le_bytes).collect();
    let params = CParams::default().codec(codec::id::ZSTD).typesize(4).threads(2);
    let chunk = Compressor::new(params.clone())?.compress_to_vec(&data)?;
    assert!(chunk.len() < data.len() / 2);

    let mut back = vec![0; data.len()];
    Decompressor::new(DParams::default()).decompress(&chunk, &mut back)?;
    assert_eq!(back, data);

    let layout = Layout { shape: &[100, 100], chunkshape: &[20, 20], blockshape: &[5, 10] };
    let array = Array::from_item_bytes(Storage::memory(), params, &layout, "<i4", &data)?;
    assert_eq!(array.get_slice(&[98, 7], &[99, 8])?, 9807i32.to_le_bytes());
    println!("ferroblosc: {} bytes became {}", data.len(), chunk.len());
    Ok(())
}
