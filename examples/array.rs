//! Creates an array on disk, reopens it and prints a slice: `cargo run --example array -- FILE`.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::Storage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: array FILE")?;
    if std::fs::exists(&path)? {
        return Err(format!("{path} already exists").into());
    }
    let layout = Layout { shape: &[100, 50], chunkshape: &[20, 20], blockshape: &[5, 10] };
    let items: Vec<u8> = (0..5000i32).flat_map(i32::to_le_bytes).collect();
    let params = CParams::default().typesize(4);
    Array::from_items(Storage::file(&path), params, &layout, "<i4", &items)?;

    let array = Array::open(Storage::file(&path), DParams::default())?;
    let slice = array.get_slice(&[18, 47], &[22, 50])?;
    for row in slice.chunks(3 * 4) {
        let numbers: Vec<i32> =
            (row.as_chunks().0.iter()).map(|&item| i32::from_le_bytes(item)).collect();
        println!("{numbers:?}");
    }
    Ok(())
}
