//! Chunks of one value: created, decoded and sliced with equal results by both libraries.

use ferroblosc_interop::calls::Expect::{Promised, Row, Same};
use ferroblosc_interop::calls::{Case, case, check};
use ferroblosc_interop::data::digest;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::Library;

/// The function that creates a kind of special chunk.
#[derive(Clone, Copy, Debug)]
enum Maker {
    Zeros,
    Nans,
    Uninit,
    RepeatValue,
}

const MAKERS: [Maker; 4] = [Maker::Zeros, Maker::Nans, Maker::Uninit, Maker::RepeatValue];

/// Returns a special chunk of `nbytes` bytes, or the error code.
fn make(library: &Library, maker: Maker, cparams: Cparams, nbytes: i32) -> Result<Vec<u8>, i32> {
    let value: Vec<u8> = (1..=cparams.typesize).map(|i| i as u8).collect();
    let mut dest = vec![0u8; 32 + value.len()];
    let (start, capacity) = (dest.as_mut_ptr().cast(), dest.len() as i32);
    // SAFETY: the destination's length is passed, and the value has the size of an item.
    let size = unsafe {
        match maker {
            Maker::Zeros => (library.blosc2_chunk_zeros)(cparams, nbytes, start, capacity),
            Maker::Nans => (library.blosc2_chunk_nans)(cparams, nbytes, start, capacity),
            Maker::Uninit => (library.blosc2_chunk_uninit)(cparams, nbytes, start, capacity),
            Maker::RepeatValue => {
                let value = value.as_ptr().cast();
                (library.blosc2_chunk_repeatval)(cparams, nbytes, start, capacity, value)
            }
        }
    };
    if size <= 0 {
        return Err(size);
    }
    dest.truncate(size as usize);
    Ok(dest)
}

#[test]
fn special_chunks_are_made_and_decoded_alike() {
    let mut cases = Vec::new();
    for maker in MAKERS {
        for typesize in [1, 2, 3, 4, 7, 8, 16, 255, 256, 300, 1000] {
            for items in [0, 1, 10, 1000] {
                for (compcode, clevel, blocksize) in
                    [(0, 5, 0), (5, 9, 0), (1, 0, 4096), (2, 1, 2000)]
                {
                    let cparams =
                        Cparams { compcode, clevel, typesize, blocksize, ..Cparams::default() };
                    let name =
                        format!("{maker:?} of {items} items of {typesize} bytes, codec {compcode}");
                    cases.push(case(name, Same, move |lib| {
                        whole(lib, maker, cparams, items * typesize)
                    }));
                }
            }
        }
    }
    check(cases);
}

/// The reference can create such chunks, but cannot decode them: it fills block by block and stops
/// in the middle of a value.
#[test]
fn values_wider_than_a_block_are_decoded() {
    let cparams = Cparams { typesize: 100, blocksize: 24, ..Cparams::default() };
    let value: Vec<u8> = (1..=100).cycle().take(1000).collect();
    let wanted = vec![1000, digest(&value) as i32];
    check(vec![case("ten items of 100 bytes in blocks of 24", Promised(wanted), move |lib| {
        whole(lib, Maker::RepeatValue, cparams, 1000)[1..3].to_vec()
    })]);
}

/// Returns digests of the chunk and of its data, decoded serially and with threads.
fn whole(library: &Library, maker: Maker, cparams: Cparams, nbytes: i32) -> Vec<i32> {
    let chunk = match make(library, maker, cparams, nbytes) {
        Ok(chunk) => chunk,
        Err(code) => return vec![code],
    };
    let mut results = vec![digest(&chunk) as i32];
    for threads in [1, 3] {
        let mut dest = vec![0x5a; nbytes as usize];
        results.push(library.decompressor(threads).decompress(&chunk, &mut dest));
        results.push(digest(&dest) as i32);
    }
    results
}

#[test]
fn slices_of_special_chunks_agree() {
    let mut cases = Vec::new();
    for maker in MAKERS {
        for typesize in [1, 4, 8, 17] {
            for (start, count) in
                [(0, 1), (0, 100), (99, 1), (37, 20), (37, 64), (100, 0), (101, 0), (100, 1)]
            {
                let name = format!("items {start}+{count} of {maker:?}, {typesize} bytes each");
                cases.push(case(name, Same, move |lib| slice(lib, maker, typesize, start, count)));
            }
        }
    }
    check(cases);
}

/// Returns the code and a digest of `getitem` on a chunk of 100 items.
fn slice(library: &Library, maker: Maker, typesize: i32, start: i32, count: i32) -> Vec<i32> {
    let cparams = Cparams { typesize, ..Cparams::default() };
    let chunk = make(library, maker, cparams, 100 * typesize).expect("a chunk");
    let mut dest = vec![0x5a; (count * typesize) as usize];
    let code = library.decompressor(1).getitem(&chunk, start, count, &mut dest);
    vec![code, digest(&dest) as i32]
}

#[test]
fn row_c45_slices_of_wide_values_honour_start_and_length() {
    const WIDTH: i32 = 300;
    /// Returns a case that reads bytes `start..start + count` of ten values of 300 bytes; the
    /// stored typesize is 1.
    fn bytes(start: i32, count: i32) -> Case {
        let expected: Vec<u8> = (start..start + count).map(|i| (i % WIDTH + 1) as u8).collect();
        let wanted = vec![count, digest(&expected) as i32];
        case(format!("bytes {start}+{count}"), Row("C45", wanted), move |library| {
            let cparams = Cparams { typesize: WIDTH, ..Cparams::default() };
            let chunk = make(library, Maker::RepeatValue, cparams, 10 * WIDTH).expect("a chunk");
            let mut dest = vec![0; count as usize];
            let code = library.decompressor(1).getitem(&chunk, start, count, &mut dest);
            vec![code, digest(&dest) as i32]
        })
    }
    check(vec![
        bytes(10, 300),
        bytes(0, 300),
        bytes(0, 1),
        bytes(299, 2),
        bytes(450, 1000),
        bytes(2999, 1),
    ]);
}
