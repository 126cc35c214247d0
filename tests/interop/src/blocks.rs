//! Blocks for plugins that need the shape of a block: their parameters, the `b2nd` metalayer that
//! describes them, and a super-chunk with that metalayer and contexts for both directions.

use crate::ffi::{Context, Cparams, Dparams, SChunk, Storage};
use crate::library::{Library, c_len};

/// Blocks and their compression parameters.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The codec and its parameter.
    pub codec: (u8, u8),
    /// The last two filters and their parameters.
    pub filters: [(u8, u8); 2],
    /// The split mode of the C interface.
    pub splitmode: i32,
    /// The size of an item in bytes.
    pub typesize: usize,
    /// The shape of a block in items.
    pub shape: Vec<i32>,
    /// The number of blocks, consecutive along the first dimension.
    pub count: i32,
}

impl Blocks {
    /// Returns the number of items of a block.
    pub fn items(&self) -> usize {
        self.shape.iter().product::<i32>() as usize
    }

    /// Returns the size of a block in bytes.
    pub fn blocksize(&self) -> usize {
        self.items() * self.typesize
    }

    /// Returns the size of all blocks in bytes.
    pub fn nbytes(&self) -> usize {
        self.blocksize() * self.count as usize
    }

    /// Returns the compression parameters.
    pub fn cparams(&self) -> Cparams {
        let mut cparams = Cparams {
            compcode: self.codec.0,
            compcode_meta: self.codec.1,
            typesize: self.typesize as i32,
            blocksize: self.blocksize() as i32,
            splitmode: self.splitmode,
            filters: [0; 6],
            ..Cparams::default()
        };
        for (slot, (id, meta)) in (4..).zip(self.filters) {
            cparams.filters[slot] = id;
            cparams.filters_meta[slot] = meta;
        }
        cparams
    }

    /// Returns the `b2nd` metalayer of an array with these blocks as its only chunk.
    pub fn metalayer(&self) -> Vec<u8> {
        let ndim = self.shape.len() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
        let mut outer = self.shape.clone();
        outer[0] *= self.count;
        for &extent in &outer {
            bytes.push(0xD3);
            bytes.extend(i64::from(extent).to_be_bytes());
        }
        for shape in [&outer, &self.shape] {
            bytes.push(0x90 + ndim);
            for extent in shape {
                bytes.push(0xD2);
                bytes.extend(extent.to_be_bytes());
            }
        }
        bytes.extend(b"\0\xDB\0\0\0\x03|u1");
        bytes
    }
}

/// A super-chunk of one library with the `b2nd` metalayer, and contexts for both directions.
pub struct Array<'a> {
    library: &'a Library,
    schunk: *mut SChunk,
    compressor: *mut Context,
    decompressor: *mut Context,
}

impl<'a> Array<'a> {
    /// Creates a super-chunk for these blocks.
    ///
    /// # Errors
    /// Returns an error if the library cannot create an object.
    pub fn new(library: &'a Library, blocks: &Blocks) -> Result<Array<'a>, String> {
        let (mut cparams, mut dparams) = (blocks.cparams(), Dparams::default());
        let mut storage = Storage {
            contiguous: false,
            urlpath: std::ptr::null_mut(),
            cparams: &mut cparams,
            dparams: &mut dparams,
            io: std::ptr::null_mut(),
        };
        let mut content = blocks.metalayer();
        // SAFETY: the parameters outlive the call that copies them, and the super-chunk outlives
        // the contexts that refer to it.
        unsafe {
            let schunk = (library.blosc2_schunk_new)(&mut storage);
            if schunk.is_null() {
                return Err(format!("{}: no super-chunk", library.name));
            }
            let len = c_len(&content);
            let number =
                (library.blosc2_meta_add)(schunk, c"b2nd".as_ptr(), content.as_mut_ptr(), len);
            if number != 0 {
                (library.blosc2_schunk_free)(schunk);
                return Err(format!("{}: no metalayer", library.name));
            }
            cparams.schunk = schunk.cast();
            dparams.schunk = schunk.cast();
            Ok(Array {
                library,
                schunk,
                compressor: (library.blosc2_create_cctx)(cparams),
                decompressor: (library.blosc2_create_dctx)(dparams),
            })
        }
    }

    /// Compresses data; returns the size of the chunk in bytes, or an error code.
    pub fn compress(&self, data: &[u8], chunk: &mut [u8]) -> i32 {
        let capacity = c_len(chunk);
        // SAFETY: the lengths of the buffers are passed.
        unsafe {
            let (src, dest) = (data.as_ptr().cast(), chunk.as_mut_ptr().cast());
            (self.library.blosc2_compress_ctx)(self.compressor, src, c_len(data), dest, capacity)
        }
    }

    /// Decompresses a chunk; returns its size in bytes, or an error code.
    pub fn decompress(&self, chunk: &[u8], data: &mut [u8]) -> i32 {
        let capacity = c_len(data);
        // SAFETY: the lengths of the buffers are passed.
        unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            let context = self.decompressor;
            (self.library.blosc2_decompress_ctx)(context, src, c_len(chunk), dest, capacity)
        }
    }

    /// Decompresses items of a chunk; returns their size in bytes, or an error code.
    pub fn get_items(&self, chunk: &[u8], start: i32, count: i32, data: &mut [u8]) -> i32 {
        let capacity = c_len(data);
        // SAFETY: the lengths of the buffers are passed.
        unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            let get = self.library.blosc2_getitem_ctx;
            get(self.decompressor, src, c_len(chunk), start, count, dest, capacity)
        }
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: created by this library and freed once, the contexts before the super-chunk they
        // refer to.
        unsafe {
            (self.library.blosc2_free_ctx)(self.compressor);
            (self.library.blosc2_free_ctx)(self.decompressor);
            (self.library.blosc2_schunk_free)(self.schunk);
        }
    }
}
