//! Anything into anything: chunks as they are where both formats have the same, all else through memory.

use std::path::Path;

use super::detect::{Detected, Format};
use super::error::{Error, Result};
use super::sink::{self, Destination, Progress, Writing};
use super::source::{self, Content, Reading, Source, chunk_error, open_schunk, schunk_of_chunk};
use super::{Target, b2nd_to_carray, bloscpack_to_carray, carray_to_b2nd, carray_to_bloscpack};
use crate::bcolz::{self, Mode, Options};
use crate::bloscpack::{self, ArrayInfo};
use crate::blpk::Checksum;
use crate::chunk::DParams;
use crate::schunk::{SChunk, State, copy};

/// What is taken of a source.
#[derive(Clone, Debug, Default)]
pub struct Taking {
    /// The bytes alone, without type and shape.
    pub raw: bool,
    /// The type to take all bytes for, in one dimension.
    pub dtype: Option<bcolz::Dtype>,
}

/// A source of which something else is said.
struct TakenAs {
    source: Box<dyn Source>,
    content: Content,
}

impl Source for TakenAs {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        self.source.read(position, dest)
    }
}

/// A source as it is to be taken.
///
/// # Errors
/// [`Error::Dtype`] when the bytes are no items of the type.
pub fn take(source: Box<dyn Source>, taking: &Taking) -> Result<Box<dyn Source>> {
    let content = source.content().clone();
    let array = match &taking.dtype {
        None if taking.raw => None,
        None => return Ok(source),
        Some(dtype) => {
            let size = dtype.itemsize();
            if size == 0 || !content.nbytes.is_multiple_of(size) {
                return Err(Error::Uneven {
                    nbytes: content.nbytes,
                    itemsize: size,
                });
            }
            Some(ArrayInfo {
                dtype: bloscpack::Dtype::parse(&dtype.description().repr())?,
                shape: vec![content.nbytes / size],
                fortran_order: false,
            })
        }
    };
    let content = Content {
        typesize: array
            .as_ref()
            .map_or(content.typesize, |info| info.dtype.itemsize()),
        array,
        ..content
    };
    Ok(Box::new(TakenAs { source, content }))
}

/// Writes what was found at `input` to `output`, where nothing is yet. Returns whether chunks were taken as they are.
///
/// # Errors
/// Those of both formats, which may leave something unfinished at `output`.
pub fn convert(
    (input, found): (&Path, &Detected),
    (output, destination): (&Path, Destination),
    (reading, taking): (&Reading, &Taking),
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<bool> {
    let is_whole = !taking.raw && taking.dtype.is_none() && reading.column.is_none();
    let is_free = writing.compression.is_none() && writing.chunk_bytes.is_none();
    if is_whole
        && is_free
        && directly(
            (input, found),
            (output, destination),
            writing,
            &mut *progress,
        )?
    {
        return Ok(true);
    }
    let mut source = take(source::open_as(input, found, reading)?, taking)?;
    sink::write(source.as_mut(), output, destination, writing, progress)?;
    Ok(false)
}

/// Takes chunks as they are, if there is a way.
fn directly(
    (input, found): (&Path, &Detected),
    (output, destination): (&Path, Destination),
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<bool> {
    let options = Options {
        nthreads: i32::try_from(writing.nthreads.max(1)).unwrap_or(1),
        ..Options::default()
    };
    match (found.format, destination) {
        (Format::Frame, Destination::Frame { directory })
        | (Format::B2nd, Destination::Frame { directory } | Destination::B2nd { directory }) => {
            let schunk = open_schunk(input, found.is_directory, 1)?;
            copy_frame(&schunk, output, directory, writing, progress)?;
        }
        (Format::Blosc2, Destination::Frame { directory }) => {
            let schunk = schunk_of_chunk(input, 1)?;
            copy_frame(&schunk, output, directory, writing, progress)?;
        }
        (Format::Frame, Destination::Blosc2) => {
            let schunk = open_schunk(input, found.is_directory, 1)?;
            if schunk.nchunks() != 1 {
                return Ok(false);
            }
            let chunk = schunk
                .chunk(0)
                .map_err(|error| chunk_error(&schunk, 0, error))?;
            crate::io::named::write(output, &chunk)?;
        }
        (Format::Carray, Destination::Bloscpack) => {
            carray_to_bloscpack(input, output, Checksum::Adler32, &options)?;
        }
        (Format::Bloscpack, Destination::Bcolz) => {
            let made =
                bloscpack_to_carray(input, output, &Target::default(), Mode::Write, &options);
            return otherwise(made, output);
        }
        (Format::Carray, Destination::B2nd { directory: false }) if !writing.checksums => {
            return otherwise(carray_to_b2nd(input, output, &options), output);
        }
        (Format::B2nd, Destination::Bcolz) => {
            let target = Target::default();
            let made = b2nd_to_carray(input, output, &target, Mode::Write, &options);
            return otherwise(made.map(drop), output);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Leaves it to the other way when the direct one can't be gone: what is at fault shows there, too.
fn otherwise(made: Result<()>, output: &Path) -> Result<bool> {
    match made {
        Ok(()) => Ok(true),
        Err(error) if error.is_corruption() => Err(error),
        Err(_) => {
            if output.is_dir() {
                std::fs::remove_dir_all(output)?;
            } else if output.exists() {
                std::fs::remove_file(output)?;
            }
            Ok(false)
        }
    }
}

/// Copies chunks and metalayers, and tells which chunk can't be read.
fn copy_frame(
    schunk: &SChunk,
    output: &Path,
    directory: bool,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let state = schunk.state();
    // What is added to the copy later is compressed as the source was.
    let params = state.recorded().params(state.counters().blocksize);
    let storage = sink::storage(output, directory, writing);
    let mut target = SChunk::create(storage, params, DParams::default())?;
    copy::copy_head(state, target.state_mut())?;
    for number in 0..schunk.nchunks() {
        let chunk = schunk
            .chunk(number)
            .map_err(|error| chunk_error(schunk, number, error))?;
        target.append_chunk(&chunk)?;
        progress(chunk.len() as u64);
    }
    copy::copy_vlmetalayers(state, target.state_mut())?;
    Ok(target.close()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::CParams;
    use crate::convert::detect;
    use crate::schunk::Storage;

    #[test]
    fn a_copy_keeps_the_chunk_size_that_no_chunk_fills() {
        let name = format!("ferroblosc-transfer-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        for (number, bytes) in [Vec::new(), vec![7; 400]].iter().enumerate() {
            let from = folder.join(format!("{number}-from.b2frame"));
            let to = folder.join(format!("{number}-to.b2frame"));
            let params = CParams::default().typesize(4);
            let mut schunk =
                SChunk::create(Storage::file(&from), params, DParams::default()).unwrap();
            schunk.set_chunksize(1000).unwrap();
            if !bytes.is_empty() {
                schunk.append(bytes).unwrap();
            }
            schunk.add_vlmetalayer("unit", b"metres").unwrap();
            schunk.close().unwrap();
            let mut told = 0;
            let copied = convert(
                (&from, &detect(&from).unwrap()),
                (&to, Destination::Frame { directory: false }),
                (&Reading::default(), &Taking::default()),
                &Writing::default(),
                &mut |bytes| told += bytes,
            );
            assert!(copied.unwrap());
            let copy = SChunk::open(Storage::file(&to), DParams::default()).unwrap();
            assert_eq!(copy.chunksize(), 1000);
            assert_eq!(copy.nbytes() as usize, bytes.len());
            assert_eq!(copy.vlmetalayer("unit").unwrap(), b"metres");
            assert_eq!(told > 0, !bytes.is_empty());
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
