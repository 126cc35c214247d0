//! Chunks with variable-length blocks: each library reads the other's with all three functions.

use std::ffi::c_void;
use std::ptr::null_mut;

use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, OwnedContext, c_len, ours, reference};

/// Returns blocks of many lengths: text, noise, zeros, single bytes.
fn blocks() -> Vec<Vec<u8>> {
    let mut noise = 7u32;
    (0..40usize)
        .map(|i| {
            let len = [1, 2, 9, 33, 100, 700, 5000][i % 7] + i;
            (0..len)
                .map(|j| match i % 4 {
                    0 => b"{\"time\": 1234, \"value\": 5.25}\n"[j % 30],
                    1 => {
                        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (noise >> 24) as u8
                    }
                    2 => 0,
                    _ => (j / 5) as u8,
                })
                .collect()
        })
        .collect()
}

fn compress(context: &OwnedContext<'_>, library: &Library, blocks: &[Vec<u8>]) -> Vec<u8> {
    let pointers: Vec<*const c_void> = blocks.iter().map(|block| block.as_ptr().cast()).collect();
    let sizes: Vec<i32> = blocks.iter().map(|block| c_len(block)).collect();
    let total: usize = blocks.iter().map(Vec::len).sum();
    let mut dest = vec![0u8; 2 * total + 40_000];
    // SAFETY: the arrays describe live blocks, and the destination's length is passed.
    let size = unsafe {
        (library.blosc2_vlcompress_ctx)(
            context.as_ptr(),
            pointers.as_ptr(),
            sizes.as_ptr(),
            blocks.len() as i32,
            dest.as_mut_ptr().cast(),
            c_len(&dest),
        )
    };
    assert!(size > 0, "{}: {size}", library.name);
    dest.truncate(size as usize);
    dest
}

/// Copies a block that the library allocated with `malloc`, and frees it.
fn copy_and_free(pointer: *mut c_void, size: i32) -> Vec<u8> {
    // SAFETY: the library returned a block of this size, which the caller must free.
    unsafe {
        let block = std::slice::from_raw_parts(pointer.cast::<u8>(), size as usize).to_vec();
        libc::free(pointer);
        block
    }
}

/// Returns all blocks of a chunk, read together and one at a time.
fn read(library: &Library, chunk: &[u8], nthreads: i16) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let context = library.decompressor(nthreads);
    let mut count = 0;
    // SAFETY: the chunk's length is passed, and `count` is a valid integer.
    let code = unsafe {
        (library.blosc2_vlchunk_get_nblocks)(chunk.as_ptr().cast(), c_len(chunk), &mut count)
    };
    assert_eq!(code, 0, "{}", library.name);
    let mut pointers = vec![null_mut(); count as usize];
    let mut sizes = vec![0; count as usize];
    // SAFETY: the arrays have `count` entries.
    let read = unsafe {
        (library.blosc2_vldecompress_ctx)(
            context.as_ptr(),
            chunk.as_ptr().cast(),
            c_len(chunk),
            pointers.as_mut_ptr(),
            sizes.as_mut_ptr(),
            count,
        )
    };
    assert_eq!(read, count, "{}", library.name);
    let all = pointers
        .into_iter()
        .zip(sizes)
        .map(|(pointer, size)| copy_and_free(pointer, size))
        .collect();
    let one = |nblock| {
        let (mut pointer, mut size) = (null_mut(), 0);
        // SAFETY: the outputs are valid for a pointer and a size.
        let code = unsafe {
            (library.blosc2_vldecompress_block_ctx)(
                context.as_ptr(),
                chunk.as_ptr().cast(),
                c_len(chunk),
                nblock,
                &mut pointer,
                &mut size,
            )
        };
        assert_eq!(code, size, "{}", library.name);
        copy_and_free(pointer.cast(), size)
    };
    (all, (0..count).map(one).collect())
}

#[test]
fn variable_length_blocks_are_read_in_both_directions() {
    let blocks = blocks();
    let whole = blocks.concat();
    for compcode in [0, 1, 2, 4, 5] {
        // DELTA with 1-byte items: the reference loses the tails of larger ones (row C31).
        for (filters, typesize) in
            [([0; 6], 1), ([0, 0, 0, 0, 0, 1], 4), ([0, 0, 0, 0, 0, 2], 2), ([0, 0, 0, 0, 3, 0], 1)]
        {
            for (clevel, use_dict, nthreads) in [(0, 0, 1), (5, 0, 1), (9, 0, 3), (5, 1, 1)] {
                let has_dictionary = matches!(compcode, 1 | 2 | 5);
                // BloscLZ at level 0 crashes the reference (row C75); with threads it uses block 0
                // as DELTA's reference for all blocks (row C29).
                let is_sound = !(clevel == 0 && compcode == 0 || nthreads > 1 && filters[4] == 3);
                if use_dict == 1 && !has_dictionary || !is_sound {
                    continue;
                }
                let cparams = Cparams {
                    compcode,
                    clevel,
                    use_dict,
                    typesize,
                    nthreads,
                    filters,
                    ..Cparams::default()
                };
                let cell = format!(
                    "codec {compcode} level {clevel} filters {filters:?} dict {use_dict} threads {nthreads}"
                );
                let chunk_of = |library: &'static Library| {
                    compress(&library.compressor(cparams).expect("a context"), library, &blocks)
                };
                let (own, other) = (chunk_of(ours()), chunk_of(reference()));
                if use_dict == 0 && compcode != 4 {
                    assert!(own == other, "{cell}: the chunks differ");
                }
                assert!(own.len() <= other.len() + other.len() / 50 + 16, "{cell}: too long");
                for chunk in [&own, &other] {
                    for library in [ours(), reference()] {
                        let (all, alone) = read(library, chunk, nthreads);
                        assert!(all == blocks, "{cell}: {}", library.name);
                        assert!(alone == blocks, "{cell}: {} alone", library.name);
                    }
                    let mut back = vec![0; whole.len()];
                    assert_eq!(
                        ours().decompressor(nthreads).decompress(chunk, &mut back),
                        c_len(&back)
                    );
                    assert!(back == whole, "{cell}: as a whole");
                }
            }
        }
    }
}
