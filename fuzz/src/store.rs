//! Stores of python-blosc2 with arbitrary content: opened, listed, read and verified.
//!
//! The input is a zip file or a frame. It is written to a file, because members of zip files are
//! read in place.

use ferroblosc::chunk::BasicHeader;
use ferroblosc::schunk::chunks;
use ferroblosc_formats::store::{Options, Store, Texts, Value};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::alloc::largest_during;

/// The maximum size of a frame, of an object and of the items of an array that are read, in bytes.
/// Larger ones are slow and find nothing new.
const MAX_SIZE: u64 = 1 << 20;
/// The maximum size of a single allocation for any store, in bytes: an attribute of the maximum
/// size, or its values.
const FIXED_ALLOCATION: usize = 320 << 20;

/// Checks a store: all calls return values or errors, within bounded memory.
pub fn store(bytes: &[u8]) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("ferroblosc-fuzz-store-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    let ((), largest) = largest_during(|| read(&path));
    std::fs::remove_file(&path).expect("the temporary file");
    let justified = FIXED_ALLOCATION + 4 * bytes.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn read(path: &Path) {
    let mut options = Options::default();
    (options.max_frame, options.max_message) = (MAX_SIZE, MAX_SIZE);
    let Ok(store) = Store::open_with(path, &options) else {
        return;
    };
    if store.keys().iter().all(|key| has_small_chunks(&store, key)) {
        let _ = store.verify();
    }
    for key in store.keys() {
        assert!(store.node(&key).is_ok(), "a listed key is not found");
        let _ = (store.attrs(&key), store.description(&key));
        if let Ok(array) = store.array(&key) {
            let itemsize = i64::from(array.schunk().typesize());
            let size = array.shape().iter().try_fold(itemsize, |size, &len| size.checked_mul(len));
            if size.is_some_and(|size| size <= MAX_SIZE as i64) {
                let _ = array.items();
            }
        }
        if let Ok(objects) = store.objects(&key) {
            let _ = objects.len().map(|len| objects.items(0..len.min(100)));
        }
        if let Ok(table) = store.table(&key) {
            let len = table.len();
            if let Ok(rows) = table.rows(0..len.min(100)) {
                assert_eq!(rows.len() as u64, len.min(100));
            }
            for column in &table.schema().columns {
                let texts = table.texts(&column.name, 0..len.min(100));
                let values = table.values(&column.name, 0..len.min(100));
                if let (Ok(texts), Ok(values)) = (texts, values) {
                    check_texts(&texts, &values);
                }
            }
        }
    }
}

/// Compares texts with values.
pub fn check_texts(texts: &Texts, values: &[Value]) {
    assert_eq!(texts.len(), values.len());
    for (text, value) in texts.iter().zip(values) {
        let wanted = match value {
            Value::Str(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(&bytes[..]),
            _ => None,
        };
        assert_eq!(text, wanted);
    }
}

/// Whether the chunks of a leaf are small enough to be decompressed.
fn has_small_chunks(store: &Store, key: &str) -> bool {
    let Ok(leaf) = store.leaf(key) else {
        return true;
    };
    let state = leaf.schunk().state();
    let mut left = MAX_SIZE;
    for nchunk in 0..leaf.schunk().nchunks() {
        let chunk = chunks::lazy_chunk(state, nchunk);
        let Some(header) = chunk.ok().and_then(|chunk| BasicHeader::parse(&chunk).ok()) else {
            continue;
        };
        match left.checked_sub(header.nbytes.unsigned_abs().into()) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}
