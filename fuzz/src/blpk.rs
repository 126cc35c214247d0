//! Bloscpack containers: all ways of reading, on arbitrary bytes.

use ferroblosc_formats::bloscpack::{Unpacking, Value, unpack_ndarray_from_bytes};
use ferroblosc_formats::blpk::{Archive, Bytes, Header, PlainFile, Stream};
use std::io::Read;

use crate::alloc::largest_during;
use crate::draw::Draw;

/// The maximum uncompressed size of a chunk that is decompressed, in bytes. Larger chunks are slow
/// and find nothing new.
const MAX_NBYTES: u32 = 1 << 20;
/// The maximum number of chunks to read.
const MAX_CHUNKS: usize = 256;
/// The maximum size of a single allocation for any container, in bytes: codec states, tables, a
/// read step.
const FIXED_ALLOCATION: usize = 4 << 20;

/// Returns the uncompressed data, read sequentially.
fn unpacked(container: &[u8], size: Option<u64>) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let unpacking = Unpacking::new(container, size).ok()?;
    unpacking.run(&mut plain, 1, &mut ()).ok()?;
    Some(plain)
}

/// Whether all reachable chunks are few and small.
fn is_moderate(container: &[u8]) -> bool {
    let Ok(mut stream) = Stream::new(container, Some(container.len() as u64)) else {
        return true;
    };
    let mut stored = Vec::new();
    for _ in 0..MAX_CHUNKS {
        match stream.next_chunk(&mut stored) {
            Ok(Some(chunk)) if chunk.nbytes <= MAX_NBYTES => {}
            Ok(Some(_)) => return false,
            Ok(None) | Err(_) => return true,
        }
    }
    false
}

/// Checks a container: all readers must agree on data and header, within bounded memory.
pub fn container(bytes: &[u8]) {
    if let Ok(header) = Header::decode(bytes)
        && header.version == 3
    {
        let encoded = header.encode().expect("parsed headers can be encoded");
        assert_eq!(encoded, bytes[..encoded.len()]);
    }
    if !is_moderate(bytes) {
        return;
    }
    let (_, largest) = largest_during(|| read(bytes));
    let justified = FIXED_ALLOCATION + 4 * bytes.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn read(bytes: &[u8]) {
    let plain = unpacked(bytes, Some(bytes.len() as u64));
    let _ = unpack_ndarray_from_bytes(bytes, 1);
    let piped = unpacked(bytes, None);
    if plain.is_some() {
        assert!(plain == piped, "reading from a pipe differs");
    }
    let Ok(mut archive) = Archive::open(Bytes(bytes)) else {
        assert!(plain.is_none(), "only sequential reading succeeds");
        return;
    };
    let is_walked = !archive.header().offsets;
    let mut draw = Draw::new(bytes);
    if let Ok(size) = archive.plain_size()
        && size <= u64::from(MAX_NBYTES)
    {
        let start = draw.below(size as usize + 1);
        let mut part = vec![0; draw.below(size as usize + 1 - start)];
        let read = archive.read_range(start as u64, &mut part);
        // Offsets may point to other bytes. Without offsets, the archive reads sequentially, too.
        if let (Some(plain), true) = (&plain, is_walked) {
            read.expect("a range within the data");
            assert!(part == plain[start..start + part.len()], "another range");
        }
    }
    if let Ok(file) = PlainFile::new(archive) {
        let mut all = Vec::new();
        let read = file.take(u64::from(MAX_NBYTES)).read_to_end(&mut all);
        if let (Some(plain), true, Ok(_)) = (&plain, is_walked, read) {
            let len = plain.len().min(MAX_NBYTES as usize);
            assert!(all == plain[..len], "another file");
        }
    }
}

/// Checks a text that may be JSON: a parsed value must survive a round trip.
pub fn value(bytes: &[u8]) {
    let Ok(value) = Value::parse(bytes) else {
        return;
    };
    let text = value.to_json();
    assert!(text.is_ascii());
    let again = Value::parse(text.as_bytes()).expect("encoded values can be parsed");
    assert_eq!(again.to_json(), text);
    for width in [1, 20, 90] {
        let _ = value.pretty(width);
    }
}
