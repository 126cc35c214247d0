//! Writes Zarr arrays.

use std::path::Path;

use super::super::attachments::Attachments;
use super::super::error::{Error, Result};
use super::super::ndcopy::{Side, copy_box};
use super::super::source::Source;
use super::chunked::{ChunkSink, write_items};
use super::frame::{check_chunk_size, chunkshape_of, resize};
use super::input::{Progress, array_in};
use super::options::Writing;
use crate::bloscpack;
use crate::numpy::ArrayInfo;
use crate::zarr::{self, ArrayWriter, Spec, Version};
use ferroblosc::blosc1::{Call, Engine, HEADER_LENGTH, Params};
use ferroblosc::chunk::SplitMode;
use ferroblosc::codec;

/// The maximum size of a block of Blosc 1.x in bytes, by choice of the writer.
const MAX_BLOCK: i32 = 1 << 30;

/// A Zarr array that is written, with the state of its compression.
pub struct ZarrSink {
    writer: ArrayWriter,
    info: ArrayInfo,
    chunks: Vec<u64>,
    params: Params,
    engine: Engine,
    /// A chunk, complete with the items outside of the array.
    items: Vec<u8>,
    /// A compressed chunk.
    chunk: Vec<u8>,
}

impl ZarrSink {
    /// Creates an array with this chunk shape.
    pub fn create(
        output: &Path,
        (version, is_zip): (Version, bool),
        info: &ArrayInfo,
        chunks: Vec<u64>,
        (writing, attachments): (&Writing, &Attachments),
    ) -> Result<ZarrSink> {
        let compression = writing.compression();
        let shuffle = compression.shuffle()?;
        let name = codec::compcode_to_compname(compression.codec)
            .filter(|_| codec::is_built_in(compression.codec));
        let name = name.ok_or(Error::CannotHold("only the codecs of Blosc 1.x"))?;
        let blocksize = compression.blocksize.clamp(0, MAX_BLOCK);
        let spec = Spec {
            version,
            shape: info.shape.clone(),
            chunks: chunks.clone(),
            dtype: info.dtype.clone(),
            fill_value: attachments.dflt.clone(),
            attrs: attachments.attrs.clone(),
            compression: zarr::Compression {
                cname: name.to_string_lossy().into_owned(),
                level: compression.level,
                shuffle,
                blocksize: blocksize.unsigned_abs().into(),
            },
        };
        let params = Params {
            call: Call {
                clevel: compression.level.into(),
                shuffle: shuffle.into(),
                typesize: spec.typesize() as usize,
            },
            compressor: Some(compression.codec),
            blocksize,
            splitmode: SplitMode::FORWARD_COMPAT,
            nthreads: writing.threads().into(),
        };
        let writer =
            ArrayWriter::create(output, is_zip, writing.name.as_deref().unwrap_or(""), &spec)?;
        Ok(ZarrSink {
            writer,
            info: info.clone(),
            chunks,
            params,
            engine: Engine::default(),
            items: Vec::new(),
            chunk: Vec::new(),
        })
    }

    /// Completes the array.
    pub fn finish(self) -> Result<()> {
        Ok(self.writer.finish()?)
    }
}

impl ChunkSink for ZarrSink {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn chunkshape(&self) -> &[u64] {
        &self.chunks
    }

    fn is_empty(&self, items: &[u8]) -> bool {
        self.writer.is_empty(items)
    }

    fn put(&mut self, index: &[u64], items: &[u8]) -> Result<()> {
        let itemsize = self.info.dtype.itemsize();
        let (start, stop) = self.extent(index);
        let extent: Vec<u64> = start.iter().zip(&stop).map(|(start, stop)| stop - start).collect();
        let items = if extent == self.chunks {
            items
        } else {
            let bytes = self.chunks.iter().fold(itemsize, |bytes, len| bytes.saturating_mul(*len));
            resize(&mut self.items, bytes)?;
            for item in self.items.chunks_exact_mut(itemsize as usize) {
                item.copy_from_slice(self.writer.fill());
            }
            let zero = vec![0; extent.len()];
            let from = Side { shape: &extent, start: &zero };
            let to = Side { shape: &self.chunks, start: &zero };
            copy_box(&extent, itemsize as usize, (&from, items), (&to, &mut self.items));
            &self.items
        };
        if self.writer.is_empty(items) {
            return Ok(());
        }
        resize(&mut self.chunk, (items.len() + HEADER_LENGTH) as u64)?;
        let compressed = self.engine.compress(&self.params, items, &mut self.chunk);
        let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
        Ok(self.writer.put_chunk(index, &self.chunk[..cbytes])?)
    }

    fn put_stored(&mut self, index: &[u64], chunk: &[u8]) -> Result<()> {
        Ok(self.writer.put_chunk(index, chunk)?)
    }
}

pub fn write_zarr(
    source: &mut dyn Source,
    output: &Path,
    target: (Version, bool),
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let info = array_in(source)?;
    let chunks = chunkshape_of(source, &info, writing)?;
    check_chunk_size(&chunks, info.dtype.itemsize())?;
    let mut sink = ZarrSink::create(output, target, &info, chunks, (writing, attachments))?;
    write_items(source, &mut sink, progress)?;
    sink.finish()
}
