//! Blocks in a row for plugins that need to know the shape of a block: how they are compressed, the `b2nd` metalayer
//! that tells of them, and the super-chunk of one library that has it, with a context for either direction.

use crate::ffi::{Context, Cparams, Dparams, SChunk, Storage};
use crate::library::{Library, c_len};

/// Blocks, and how they are compressed.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The codec and its parameter.
    pub codec: (u8, u8),
    /// The last two filters and their parameters.
    pub filters: [(u8, u8); 2],
    /// Whether streams are split, as the C interface counts.
    pub splitmode: i32,
    /// Bytes of an item.
    pub typesize: usize,
    /// Items of a block along each dimension.
    pub shape: Vec<i32>,
    /// How many there are, one behind the other in the first dimension.
    pub count: i32,
}

impl Blocks {
    /// Items of a block.
    pub fn items(&self) -> usize {
        self.shape.iter().product::<i32>() as usize
    }

    /// Bytes of a block.
    pub fn blocksize(&self) -> usize {
        self.items() * self.typesize
    }

    /// Bytes of all blocks.
    pub fn nbytes(&self) -> usize {
        self.blocksize() * self.count as usize
    }

    /// The parameters that compress them.
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

    /// The `b2nd` metalayer of an array of one chunk that they are.
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

/// A super-chunk of one library that says what its blocks are, with a context for either direction.
pub struct Array<'a> {
    library: &'a Library,
    schunk: *mut SChunk,
    compressor: *mut Context,
    decompressor: *mut Context,
}

impl<'a> Array<'a> {
    /// One of such blocks.
    ///
    /// # Errors
    /// What the library doesn't make.
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
        // SAFETY: the parameters live longer than the call that copies them, the super-chunk longer than the
        // contexts that name it.
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

    /// Compresses data; gives the bytes of the chunk, or an error code.
    pub fn compress(&self, data: &[u8], chunk: &mut [u8]) -> i32 {
        let room = c_len(chunk);
        // SAFETY: the buffers are as long as said.
        unsafe {
            let (src, dest) = (data.as_ptr().cast(), chunk.as_mut_ptr().cast());
            (self.library.blosc2_compress_ctx)(self.compressor, src, c_len(data), dest, room)
        }
    }

    /// Decompresses a chunk; gives its bytes, or an error code.
    pub fn decompress(&self, chunk: &[u8], data: &mut [u8]) -> i32 {
        let room = c_len(data);
        // SAFETY: the buffers are as long as said.
        unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            let context = self.decompressor;
            (self.library.blosc2_decompress_ctx)(context, src, c_len(chunk), dest, room)
        }
    }

    /// Decompresses items of a chunk; gives their bytes, or an error code.
    pub fn get_items(&self, chunk: &[u8], start: i32, count: i32, data: &mut [u8]) -> i32 {
        let room = c_len(data);
        // SAFETY: the buffers are as long as said.
        unsafe {
            let (src, dest) = (chunk.as_ptr().cast(), data.as_mut_ptr().cast());
            let get = self.library.blosc2_getitem_ctx;
            get(
                self.decompressor,
                src,
                c_len(chunk),
                start,
                count,
                dest,
                room,
            )
        }
    }
}

impl Drop for Array<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this library, freed once, the contexts before what they name.
        unsafe {
            (self.library.blosc2_free_ctx)(self.compressor);
            (self.library.blosc2_free_ctx)(self.decompressor);
            (self.library.blosc2_schunk_free)(self.schunk);
        }
    }
}
