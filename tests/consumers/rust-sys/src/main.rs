//! Uses replacements of crates that link C-Blosc and C-Blosc2, in one program with an allocator of
//! its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts allocations. A second global allocator in the program would be a compiler error.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the contract of the caller is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the contract of the caller is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The functions as C code in the program declares them.
mod symbols {
    use super::*;

    unsafe extern "C" {
        pub fn blosc_get_version_string() -> *const c_char;
        pub fn blosc2_get_version_string() -> *const c_char;
        pub fn blosc_cbuffer_validate(chunk: *const c_void, size: usize, nbytes: *mut usize)
        -> c_int;
    }
}

/// Returns the text of a C string.
fn text(string: *const c_char) -> String {
    // SAFETY: the functions return C strings that live as long as the program.
    unsafe { CStr::from_ptr(string) }.to_str().unwrap().to_owned()
}

/// Compresses and decompresses with Blosc 1.x; returns the size of the chunk, or an error.
fn blosc1(codec: &CStr, shuffle: u32, data: &[u8]) -> Result<usize, c_int> {
    let mut chunk = vec![0u8; data.len() + c_blosc::BLOSC_MAX_OVERHEAD as usize];
    // SAFETY: the pointers are valid for the sizes that are passed.
    unsafe {
        let size = c_blosc::blosc_compress_ctx(
            5,
            shuffle as c_int,
            4,
            data.len(),
            data.as_ptr().cast(),
            chunk.as_mut_ptr().cast(),
            chunk.len(),
            codec.as_ptr(),
            0,
            2,
        );
        if size <= 0 {
            return Err(size);
        }
        let mut nbytes = 0;
        let checked = symbols::blosc_cbuffer_validate(chunk.as_ptr().cast(), size as usize, &mut nbytes);
        assert_eq!((checked, nbytes), (0, data.len()));
        let mut back = vec![0u8; data.len()];
        let len = back.len();
        assert_eq!(
            c_blosc::blosc_decompress_ctx(chunk.as_ptr().cast(), back.as_mut_ptr().cast(), len, 2),
            data.len() as c_int
        );
        assert_eq!(back, data);
        Ok(size as usize)
    }
}

/// Appends the data to a super-chunk and reads it back; returns the compressed size.
fn blosc2(codec: u32, data: &[u8]) -> i64 {
    // SAFETY: the pointers are valid for the sizes that are passed.
    unsafe {
        let mut cparams = c_blosc2::blosc2_get_blosc2_cparams_defaults();
        cparams.compcode = codec as u8;
        cparams.typesize = 4;
        cparams.nthreads = 2;
        let mut storage = c_blosc2::blosc2_get_blosc2_storage_defaults();
        storage.cparams = &mut cparams;
        let schunk = c_blosc2::blosc2_schunk_new(&mut storage);
        assert!(!schunk.is_null());
        let len = data.len() as i32;
        assert_eq!(c_blosc2::blosc2_schunk_append_buffer(schunk, data.as_ptr().cast(), len), 1);
        let mut back = vec![0u8; data.len()];
        let read =
            c_blosc2::blosc2_schunk_decompress_chunk(schunk, 0, back.as_mut_ptr().cast(), len);
        assert_eq!(read, len);
        assert_eq!(back, data);
        let size = (*schunk).cbytes;
        assert_eq!(c_blosc2::blosc2_schunk_free(schunk), 0);
        size
    }
}

fn main() {
    let data: Vec<u8> = (0..250_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();

    // SAFETY: no requirements.
    let versions = unsafe {
        c_blosc2::blosc2_init();
        (symbols::blosc_get_version_string(), symbols::blosc2_get_version_string())
    };
    let versions = (text(versions.0), text(versions.1));
    assert_eq!(versions.0, "1.21.6");
    let numbers = [
        c_blosc2::BLOSC2_VERSION_MAJOR,
        c_blosc2::BLOSC2_VERSION_MINOR,
        c_blosc2::BLOSC2_VERSION_RELEASE,
    ];
    assert_eq!(versions.1, numbers.map(|number| number.to_string()).join("."));
    let numbers = [
        c_blosc::BLOSC_VERSION_MAJOR,
        c_blosc::BLOSC_VERSION_MINOR,
        c_blosc::BLOSC_VERSION_RELEASE,
    ];
    assert_eq!(versions.0, numbers.map(|number| number.to_string()).join("."));
    assert_eq!(text(c_blosc::BLOSC_VERSION_STRING.as_ptr().cast()), versions.0);
    assert_eq!(text(c_blosc2::BLOSC2_VERSION_STRING.as_ptr().cast()), versions.1);
    assert_eq!(text(c_blosc::BLOSC_ZSTD_COMPNAME.as_ptr().cast()), "zstd");

    // A codec without its feature is unknown, unless another package of the program enables it.
    // SAFETY: no requirements.
    let names = text(unsafe { c_blosc::blosc_list_compressors() });
    if cfg!(feature = "codecs") {
        assert!(names.starts_with("blosclz,lz4,lz4hc,") && names.ends_with("zlib,zstd"), "{names}");
    }
    for codec in [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"] {
        for shuffle in
            [c_blosc::BLOSC_NOSHUFFLE, c_blosc::BLOSC_SHUFFLE, c_blosc::BLOSC_BITSHUFFLE]
        {
            let size = blosc1(codec, shuffle, &data);
            if names.split(',').any(|name| name.as_bytes() == codec.to_bytes()) {
                assert!(size.unwrap() <= data.len() + 16);
            } else {
                assert_eq!(size, Err(-5), "{codec:?}");
                // SAFETY: the name is a C string.
                assert_eq!(unsafe { c_blosc::blosc_compname_to_compcode(codec.as_ptr()) }, -1);
            }
        }
    }
    // SAFETY: the output may be NULL.
    assert_eq!(unsafe { c_blosc::blosc_compcode_to_compname(77, null_mut()) }, -1);

    // Both interfaces in several threads.
    std::thread::scope(|scope| {
        for codec in [c_blosc2::BLOSC_BLOSCLZ, c_blosc2::BLOSC_LZ4, c_blosc2::BLOSC_ZSTD] {
            let data = &data;
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(blosc2(codec, data) < data.len() as i64);
                    assert!(blosc1(c"lz4", c_blosc::BLOSC_SHUFFLE, data).unwrap() < data.len());
                }
            });
        }
    });
    // SAFETY: no requirements.
    unsafe {
        c_blosc2::blosc2_destroy();
        c_blosc::blosc_destroy();
    }
    assert!(ALLOCATIONS.load(Relaxed) > 0);
    println!("C-Blosc {} ({names}) and C-Blosc2 {}", versions.0, versions.1);
}
