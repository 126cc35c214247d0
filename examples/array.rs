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
    let items: Vec<i32> = (0..5000).collect();
    Array::from_items(Storage::file(&path), CParams::default(), &layout, &items)?;

    let array = Array::open(Storage::file(&path), DParams::default())?;
    for row in array.get::<i32>((18..22, 47..))?.chunks(3) {
        println!("{row:?}");
    }
    Ok(())
}
