//! Containers: every way to read one, on any bytes.

use ferroblosc::bloscpack::{Unpacking, Value, unpack_ndarray_from_bytes};
use ferroblosc::blpk::{Archive, Bytes, Header, PlainFile, Stream};
use std::io::Read;

use crate::alloc::largest_during;
use crate::draw::Draw;

/// Chunks that hold more are not decompressed: it would take long and find nothing new.
const MAX_NBYTES: u32 = 1 << 20;
/// More chunks are not read, for the same reason.
const MAX_CHUNKS: usize = 256;
/// What a reader may ask for at once whatever the container: codec states, tables, a step of reading.
const FIXED_ALLOCATION: usize = 4 << 20;

/// The plain bytes, from front to back.
fn unpacked(container: &[u8], size: Option<u64>) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let unpacking = Unpacking::new(container, size).ok()?;
    unpacking.run(&mut plain, 1, &mut ()).ok()?;
    Some(plain)
}

/// Whether all chunks are few and small, as far as they can be found.
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

/// A container: all readers agree on it, and on its header; memory stays within reason.
pub fn container(bytes: &[u8]) {
    if let Ok(header) = Header::decode(bytes)
        && header.version == 3
    {
        let encoded = header.encode().expect("what was read can be written");
        assert_eq!(encoded, bytes[..encoded.len()]);
    }
    if !is_moderate(bytes) {
        return;
    }
    let (_, largest) = largest_during(|| read(bytes));
    let justified = FIXED_ALLOCATION + 4 * bytes.len();
    assert!(
        largest <= justified,
        "asked for {largest} bytes, {justified} would be justified"
    );
}

fn read(bytes: &[u8]) {
    let plain = unpacked(bytes, Some(bytes.len() as u64));
    let _ = unpack_ndarray_from_bytes(bytes, 1);
    let piped = unpacked(bytes, None);
    if plain.is_some() {
        assert!(plain == piped, "a pipe gives something else");
    }
    let Ok(mut archive) = Archive::open(Bytes(bytes)) else {
        assert!(plain.is_none(), "only read from front to back");
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
        // Offsets may lead elsewhere; without them there is one way only.
        if let (Some(plain), true) = (&plain, is_walked) {
            read.expect("a range of what is there");
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

/// A text that may be JSON: what is read is written so that the same is read.
pub fn value(bytes: &[u8]) {
    let Ok(value) = Value::parse(bytes) else {
        return;
    };
    let text = value.to_json();
    assert!(text.is_ascii());
    let again = Value::parse(text.as_bytes()).expect("what was written can be read");
    assert_eq!(again.to_json(), text);
    for width in [1, 20, 90] {
        let _ = value.pretty(width);
    }
}
