//! Writes HDF5 datasets.
//!
//! A dataset has chunks unless it has no items, no dimensions or no filter. Chunks are compressed
//! here and written in their stored form, so that libhdf5 needs no plugin.

use std::path::Path;

use super::super::attachments::Attachments;
use super::super::error::{Error, Result};
use super::super::grid::{grid_of, indices_of};
use super::super::ndcopy::{Side, copy_box};
use super::super::source::Source;
use super::chunked::{ChunkSink, write_items};
use super::frame::{blocks_of, check_chunk_size, chunkshape_of, partition, requested, resize};
use super::input::{Progress, array_in};
use super::options::{Compression, Hdf5Filter, Writing};
use crate::bloscpack;
use crate::bloscpack::Value;
use crate::hdf5::{self, Attribute, File, Filter, NewDataset, Spec};
use crate::numpy::{ArrayInfo, Kind};
use ferroblosc::blosc1::{self, Call, Engine, HEADER_LENGTH};
use ferroblosc::chunk::{CParams, SplitMode};

/// The name of a dataset without a path.
const NAME: &str = "data";
/// The maximum size of a block of Blosc 1.x in bytes, by choice of the writer.
const MAX_BLOCK: i32 = 1 << 30;
/// The maximum size of the items that are written at once to a dataset without chunks, in bytes.
const MAX_PART: u64 = 16 << 20;

/// A dataset that is written, with the state of its compression.
pub struct Hdf5Sink {
    file: File,
    dataset: NewDataset,
    /// The path of the dataset.
    name: String,
    /// The dimensions whose scale the dataset was before it had values.
    dimensions: Vec<hdf5::Dimension>,
    info: ArrayInfo,
    chunks: Option<Vec<u64>>,
    blocks: Vec<i32>,
    chunkshape: Vec<i32>,
    filter: Hdf5Filter,
    compression: Compression,
    params: CParams,
    engine: Engine,
    fill: Option<Vec<u8>>,
    nthreads: i16,
    /// A chunk, complete with the items outside of the array.
    items: Vec<u8>,
    /// A compressed chunk of Blosc 1.x.
    chunk: Vec<u8>,
}

impl Hdf5Sink {
    /// Creates a dataset with this chunk shape and block shape in the file at `output`, which is
    /// created if it does not exist.
    pub fn create(
        output: &Path,
        filter: Option<Hdf5Filter>,
        info: &ArrayInfo,
        shapes: Option<(Vec<u64>, Vec<i32>)>,
        (writing, attachments): (&Writing, &Attachments),
    ) -> Result<Hdf5Sink> {
        let item = hdf5::item_of(&info.dtype);
        let item = item.ok_or(Error::CannotHold(
            "items of the types of HDF5: no long floats, no Python objects, no Unicode in records",
        ))?;
        let itemsize = info.dtype.itemsize();
        let compression = writing.compression();
        let typesize = i32::try_from(itemsize).map_err(|_| Error::Layout)?;
        let has_chunks = filter.is_some() && shapes.is_some();
        let (chunks, blocks) = shapes.filter(|_| has_chunks).unzip();
        let blocks = blocks.unwrap_or_default();
        let chunkshape = chunks.iter().flatten().map(|&len| i32::try_from(len));
        let chunkshape = chunkshape.collect::<std::result::Result<Vec<i32>, _>>();
        let chunkshape = chunkshape.map_err(|_| Error::Layout)?;
        let filter_values =
            hdf5::values_of(compression.codec, compression.level, &compression.filters);
        let filter = filter.unwrap_or(Hdf5Filter::Blosc2);
        let id = match filter {
            Hdf5Filter::Blosc => hdf5::BLOSC,
            Hdf5Filter::Blosc2 => hdf5::BLOSC2,
        };
        if filter == Hdf5Filter::Blosc {
            compression.shuffle()?;
        }
        if !ferroblosc::codec::is_built_in(compression.codec) {
            return Err(Error::CannotHold("only the built-in codecs of Blosc"));
        }
        let dflt = attachments.dflt.as_ref();
        // A fill value of characters would have to be converted.
        let has_fill = info.dtype.kind() != Kind::Unicode;
        let fill = dflt.filter(|_| has_fill).and_then(|dflt| hdf5::fill_item(&info.dtype, dflt));
        let file =
            if output.exists() { File::open_to_change(output)? } else { File::create(output)? };
        let spec = Spec {
            item,
            shape: info.shape.clone(),
            chunks: chunks.clone(),
            filter: has_chunks.then(|| Filter { id, name: String::new(), values: filter_values }),
            fill: fill.clone(),
        };
        let name = writing.name.as_deref().unwrap_or(NAME).trim_matches('/').to_owned();
        // A dimension without values becomes a dataset.
        let dimensions =
            if file.is_bare_dimension(&name)? { file.unlink_dataset(&name)? } else { Vec::new() };
        let dataset = NewDataset::create(&file, &name, spec)?;
        write_attributes(&dataset, &attachments.attrs, info.shape.len())?;
        let nthreads = writing.threads();
        let block_bytes =
            blocks.iter().fold(i64::from(typesize), |bytes, &len| bytes * i64::from(len));
        let blocksize = match (filter, has_chunks) {
            (Hdf5Filter::Blosc2, true) => i32::try_from(block_bytes).map_err(|_| Error::Layout)?,
            _ => compression.blocksize.clamp(0, MAX_BLOCK),
        };
        let params = Compression { blocksize, ..compression.clone() }.params(typesize, nthreads);
        Ok(Hdf5Sink {
            file,
            dataset,
            name,
            dimensions,
            info: info.clone(),
            chunks,
            blocks,
            chunkshape,
            filter,
            compression,
            params,
            engine: Engine::default(),
            fill,
            nthreads,
            items: Vec::new(),
            chunk: Vec::new(),
        })
    }

    /// Returns the parameters of the frames of chunks.
    pub fn params(&self) -> &CParams {
        &self.params
    }

    /// Writes all items of a source to a dataset without chunks.
    fn put_all(&mut self, source: &mut dyn Source, progress: Progress<'_>) -> Result<()> {
        let itemsize = self.info.dtype.itemsize();
        let (shape, dtype) = (self.info.shape.clone(), self.info.dtype.clone());
        let part: Vec<u64> = partition(&shape, MAX_PART / itemsize)?
            .into_iter()
            .map(|len| u64::from(len.unsigned_abs()))
            .collect();
        if shape.contains(&0) {
            return Ok(());
        }
        let grid = grid_of(&shape, &part);
        let mut items = Vec::new();
        for index in indices_of(&grid) {
            let start: Vec<u64> = index.iter().zip(&part).map(|(at, len)| at * len).collect();
            let ends = start.iter().zip(&part).zip(&shape);
            let stop: Vec<u64> = ends.map(|((at, len), most)| (at + len).min(*most)).collect();
            let count: Vec<u64> =
                start.iter().zip(&stop).map(|(start, stop)| stop - start).collect();
            resize(&mut items, count.iter().product::<u64>() * itemsize)?;
            source.read_box(&start, &stop, &mut items)?;
            if dtype.kind() == Kind::Unicode {
                to_utf8(&mut items, itemsize as usize, dtype.is_big_endian())?;
            }
            self.dataset.write_box(&start, &count, &items)?;
            progress(items.len() as u64);
        }
        Ok(())
    }

    /// Completes the dataset and its dimension scales, and the file.
    pub fn finish(self) -> Result<()> {
        drop(self.dataset);
        hdf5::attach_scales(&self.file, &self.name)?;
        hdf5::attach_to(&self.file, &self.name, &self.dimensions)?;
        Ok(self.file.close()?)
    }
}

impl ChunkSink for Hdf5Sink {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn chunkshape(&self) -> &[u64] {
        self.chunks.as_deref().unwrap_or_default()
    }

    fn is_empty(&self, items: &[u8]) -> bool {
        match &self.fill {
            Some(fill) => items.chunks_exact(fill.len()).all(|item| item == fill),
            None => items.iter().all(|&byte| byte == 0),
        }
    }

    fn put(&mut self, index: &[u64], items: &[u8]) -> Result<()> {
        if self.is_empty(items) {
            return Ok(());
        }
        let itemsize = self.info.dtype.itemsize();
        let (start, stop) = self.extent(index);
        let extent: Vec<u64> = start.iter().zip(&stop).map(|(start, stop)| stop - start).collect();
        let chunks = self.chunks.as_deref().unwrap_or_default();
        if extent != chunks {
            let bytes = chunks.iter().fold(itemsize, |bytes, len| bytes.saturating_mul(*len));
            resize(&mut self.items, bytes)?;
            match &self.fill {
                Some(fill) => {
                    self.items
                        .chunks_exact_mut(fill.len())
                        .for_each(|item| item.copy_from_slice(fill));
                }
                None => self.items.fill(0),
            }
            let zero = vec![0; extent.len()];
            let from = Side { shape: &extent, start: &zero };
            let to = Side { shape: chunks, start: &zero };
            copy_box(&extent, itemsize as usize, (&from, items), (&to, &mut self.items));
        } else {
            resize(&mut self.items, items.len() as u64)?;
            self.items.copy_from_slice(items);
        }
        if self.info.dtype.kind() == Kind::Unicode {
            to_utf8(&mut self.items, itemsize as usize, self.info.dtype.is_big_endian())?;
        }
        match self.filter {
            Hdf5Filter::Blosc2 => {
                let shapes = (self.chunkshape.as_slice(), self.blocks.as_slice());
                let frame = hdf5::frame_of(&self.items, self.params.clone(), shapes)?;
                Ok(self.dataset.write_chunk(&start, &frame)?)
            }
            Hdf5Filter::Blosc => {
                let params = blosc1::Params {
                    call: Call {
                        clevel: self.compression.level.into(),
                        shuffle: self.compression.shuffle()?.into(),
                        typesize: if itemsize <= 255 { itemsize as usize } else { 1 },
                    },
                    compressor: Some(self.compression.codec),
                    blocksize: self.params.blocksize,
                    splitmode: SplitMode::FORWARD_COMPAT,
                    nthreads: self.nthreads.into(),
                };
                resize(&mut self.chunk, (self.items.len() + HEADER_LENGTH) as u64)?;
                let compressed = self.engine.compress(&params, &self.items, &mut self.chunk);
                let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
                Ok(self.dataset.write_chunk(&start, &self.chunk[..cbytes])?)
            }
        }
    }

    fn put_stored(&mut self, index: &[u64], stored: &[u8]) -> Result<()> {
        let (start, _) = self.extent(index);
        Ok(self.dataset.write_chunk(&start, stored)?)
    }
}

/// Converts items of characters to UTF-8, padded with NUL.
///
/// # Errors
/// [`Error::CannotHold`] for surrogates and other codes that are no characters of Unicode.
fn to_utf8(items: &mut [u8], itemsize: usize, is_big: bool) -> Result<()> {
    let mut text = String::new();
    for item in items.chunks_exact_mut(itemsize) {
        text.clear();
        for bytes in item.as_chunks::<4>().0 {
            let code = if is_big { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
            let character = char::from_u32(code);
            text.push(character.ok_or(Error::CannotHold("only characters of Unicode in texts"))?);
        }
        let text = text.trim_end_matches('\0').as_bytes();
        item[..text.len()].copy_from_slice(text);
        item[text.len()..].fill(0);
    }
    Ok(())
}

/// Writes the attributes that HDF5 can hold. The names of dimensions are labels, too.
fn write_attributes(dataset: &NewDataset, attrs: &[(String, Value)], rank: usize) -> Result<()> {
    for (name, value) in attrs {
        if let Ok(attribute) = hdf5::attribute_of(value) {
            if name == hdf5::DIMENSIONS
                && let Attribute::Texts(Some(shape), _) = &attribute
                && shape == &[rank as u64]
            {
                dataset.set_attribute(hdf5::LABELS, &attribute)?;
            }
            dataset.set_attribute(name, &attribute)?;
        }
    }
    Ok(())
}

/// Returns the chunk shape and the block shape of a new dataset, or `None` if it has no chunks.
fn shapes_of(
    source: &dyn Source,
    info: &ArrayInfo,
    writing: &Writing,
) -> Result<Option<(Vec<u64>, Vec<i32>)>> {
    if info.shape.is_empty() || info.shape.contains(&0) {
        return Ok(None);
    }
    let itemsize = info.dtype.itemsize();
    let chunks = chunkshape_of(source, info, writing)?;
    // Chunks of HDF5 are at most as long as dimensions that cannot grow.
    let clipped = chunks.iter().zip(&info.shape).map(|(&chunk, &len)| chunk.min(len));
    let chunks: Vec<u64> = clipped.collect();
    check_chunk_size(&chunks, itemsize)?;
    let signed = chunks.iter().map(|&len| i32::try_from(len).map_err(|_| Error::Layout));
    let signed: Vec<i32> = signed.collect::<Result<_>>()?;
    let blocks = match &writing.blocks {
        Some(blocks) => requested(blocks, &chunks, true)?,
        None => blocks_of(&signed, itemsize, writing.compression().blocksize)?,
    };
    Ok(Some((chunks, blocks)))
}

/// Adds the path of the output to an error of writing an HDF5 file.
pub fn at_output(error: Error, output: &Path) -> Error {
    match error {
        Error::Hdf5(hdf5::Error::Call { action, reason, is_open: false }) => {
            let action = format!("{action} in {}", output.display());
            Error::Hdf5(hdf5::Error::Call { action, reason, is_open: false })
        }
        other => other,
    }
}

/// Writes a source to a dataset.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn write_hdf5(
    source: &mut dyn Source,
    output: &Path,
    filter: Option<Hdf5Filter>,
    params: (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let written = write_dataset(source, output, filter, params, progress);
    written.map_err(|error| at_output(error, output))
}

fn write_dataset(
    source: &mut dyn Source,
    output: &Path,
    filter: Option<Hdf5Filter>,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let info = array_in(source)?;
    let shapes = shapes_of(source, &info, writing)?;
    let mut sink = Hdf5Sink::create(output, filter, &info, shapes, (writing, attachments))?;
    if sink.chunks.is_none() {
        sink.put_all(source, progress)?;
    } else {
        write_items(source, &mut sink, progress)?;
    }
    sink.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_utf8_unless_a_code_is_no_character() {
        let wide = |codes: &[u32], is_big: bool| -> Vec<u8> {
            let bytes = |code: &u32| if is_big { code.to_be_bytes() } else { code.to_le_bytes() };
            codes.iter().flat_map(bytes).collect()
        };
        for is_big in [false, true] {
            let mut items = wide(&[0x61, 0xE9, 0x1F600, 0, 0, 0x62], is_big);
            to_utf8(&mut items, 12, is_big).unwrap();
            assert_eq!(items, "aé😀\0\0\0\0\0\0\0b\0\0\0\0\0\0\0\0\0".as_bytes());
            for code in [0xD800, 0xDC80, 0x11_0000] {
                let converted = to_utf8(&mut wide(&[0x61, code], is_big), 8, is_big);
                assert!(matches!(converted, Err(Error::CannotHold(_))), "{code:x}");
            }
        }
    }
}
