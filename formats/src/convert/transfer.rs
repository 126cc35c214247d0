//! Converts between any two formats: copies chunks if both formats share them, otherwise
//! recompresses.

use std::path::Path;

use super::attachments::Attachments;
use super::attrs::of_layer;
use super::b2nd::carray_to_frame;
use super::bcolz::carray_to_container;
use super::detect::{Detected, Format};
use super::error::{Error, Result};
#[cfg(feature = "hdf5")]
use super::hdf5::{frame_to_hdf5, hdf5_to_frame};
use super::intact::{ChunkCheck, needs_plugin};
use super::missing::MissingChunks;
use super::one_change::OneChange;
use super::placeholder::check_has_data;
use super::sink::{self, Compression, Destination, Progress, Writing};
use super::source::{self, Content, Reading, Source, chunk_error, open_schunk, schunk_of_chunk};
#[cfg(feature = "zarr")]
use super::zarr::{frame_to_zarr, zarr_to_frame};
use super::{Target, b2nd_to_carray, bloscpack_to_carray};
use crate::bcolz::{self, Mode, Options};
use crate::blpk::Checksum;
use crate::numpy::{ArrayInfo, Dtype};
use ferroblosc::chunk::DParams;
use ferroblosc::codec;
use ferroblosc::frame::checksum::{FingerprintStatus, OF_SPECIAL};
use ferroblosc::frame::{Counters, Frame};
use ferroblosc::schunk::chunks::{self, NewChunk};
use ferroblosc::schunk::{Layers, SChunk, State, copy, meta};

/// The minimum size of a chunk with bytes, that of its header.
const MIN_CHUNK: i64 = 32;

/// Overrides of a source's description.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SourceOptions {
    /// Whether to ignore the type and shape.
    pub raw: bool,
    /// The type of all items.
    pub dtype: Option<Dtype>,
    /// The shape, with `dtype` only; `None` for one dimension.
    pub shape: Option<Vec<u64>>,
    /// Whether the items are in Fortran order, with `shape` only.
    pub fortran_order: bool,
}

/// A source with another description.
struct Reinterpreted {
    source: Box<dyn Source>,
    content: Content,
}

impl Source for Reinterpreted {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        self.source.read(position, dest)
    }
}

/// Applies the options to a source.
///
/// # Errors
/// Returns [`Error::NotMultipleOfItem`] if the size of the data is not a multiple of the item size,
/// and [`Error::NotOfShape`] if it is not that of the shape.
pub fn with_options(source: Box<dyn Source>, options: &SourceOptions) -> Result<Box<dyn Source>> {
    let content = source.content().clone();
    let array = match &options.dtype {
        None if options.raw => None,
        None => return Ok(source),
        Some(dtype) => {
            let size = dtype.itemsize();
            if size == 0 || !content.nbytes.is_multiple_of(size) {
                return Err(Error::NotMultipleOfItem { nbytes: content.nbytes, itemsize: size });
            }
            let info = ArrayInfo {
                dtype: dtype.described()?,
                shape: options.shape.clone().unwrap_or_else(|| vec![content.nbytes / size]),
                fortran_order: options.fortran_order,
            };
            let expected = info.nbytes().ok();
            if expected != Some(content.nbytes) {
                return Err(Error::NotOfShape { nbytes: content.nbytes, expected });
            }
            Some(info)
        }
    };
    if let Some(info) = array.clone().filter(|info| info.fortran_order) {
        return Ok(source::from_fortran_order(source, info));
    }
    let content = Content {
        typesize: array.as_ref().map_or(content.typesize, |info| info.dtype.itemsize()),
        array,
        ..content
    };
    Ok(Box::new(Reinterpreted { source, content }))
}

/// The result of a conversion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Whether chunks were copied without recompression.
    pub is_direct: bool,
    /// The number of chunks that were copied between Zarr and b2nd, where chunks are copied one by
    /// one.
    pub copied_chunks: u64,
    /// Descriptions of the metalayers, attributes, fill values and parameters that the target
    /// cannot hold.
    pub lost: Vec<String>,
}

/// Returns the compression parameters of the data at `path`, if the format records them and this
/// library has the codec.
///
/// # Errors
/// Returns the errors of the format.
pub fn params_of(path: &Path, found: &Detected, reading: &Reading) -> Result<Option<Compression>> {
    Ok(Attachments::of(path, found, reading)?.compression)
}

/// Returns descriptions of everything at `path` apart from the data: bytes or text keep none of it.
///
/// # Errors
/// Returns the errors of the format.
pub fn lost_metadata(path: &Path, found: &Detected, reading: &Reading) -> Result<Vec<String>> {
    Ok(Attachments::of(path, found, reading)?.lost_in(Destination::Plain, true))
}

/// Converts the data at `input` to `output`, which must not exist.
///
/// # Errors
/// Returns the errors of both formats; an incomplete output may be left.
pub fn convert(
    (input, found): (&Path, &Detected),
    (output, destination): (&Path, Destination),
    (reading, options): (&Reading, &SourceOptions),
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<Converted> {
    let is_whole = !options.raw && options.dtype.is_none() && reading.column.is_none();
    let has_chunks = writing.chunk_bytes.is_none() && writing.chunks.is_none();
    let is_free = writing.compression.is_none() && has_chunks && writing.blocks.is_none();
    let attachments = Attachments::of(input, found, reading)?;
    if is_whole
        && is_free
        && copy_chunks(
            (input, found),
            (output, destination),
            (writing, &attachments),
            &mut *progress,
        )?
    {
        let keeps_all = matches!(found.format, Format::Frame | Format::B2nd)
            && matches!(destination, Destination::Frame { .. } | Destination::B2nd { .. });
        let is_array = matches!(found.format, Format::B2nd | Format::Carray);
        let mut lost =
            if keeps_all { Vec::new() } else { attachments.lost_in(destination, is_array) };
        // Copied chunks keep their parameters.
        lost.retain(|item| !item.starts_with("the codec parameters"));
        lost.extend(lost_fill_values((input, found), destination, &attachments)?);
        return Ok(Converted { is_direct: true, lost, ..Converted::default() });
    }
    #[cfg(feature = "zarr")]
    if is_whole && is_free {
        let params = (writing, &attachments);
        let copied = match (found.format, destination) {
            (Format::Zarr, Destination::Frame { directory } | Destination::B2nd { directory }) => {
                Some(zarr_to_frame(input, (output, directory), params, &mut *progress)?)
            }
            (Format::B2nd, Destination::Zarr { version, is_zip }) => {
                let source = (input, found.is_directory);
                frame_to_zarr(source, (output, version, is_zip), params, &mut *progress)?
            }
            _ => None,
        };
        if let Some(copied_chunks) = copied {
            let mut lost = attachments.lost_in(destination, true);
            lost.extend(lost_fill_values((input, found), destination, &attachments)?);
            lost.extend(attachments.compression_for(destination).1);
            return Ok(Converted { is_direct: copied_chunks > 0, copied_chunks, lost });
        }
    }
    #[cfg(feature = "hdf5")]
    if is_whole && is_free {
        let params = (writing, &attachments);
        let copied = match (found.format, destination) {
            (Format::Hdf5, Destination::Frame { directory } | Destination::B2nd { directory }) => {
                hdf5_to_frame(input, (output, directory), params, &mut *progress)?
            }
            (Format::B2nd, Destination::Hdf5 { filter: Some(filter) }) => {
                let source = (input, found.is_directory);
                frame_to_hdf5(source, (output, filter), params, &mut *progress)
                    .map_err(|error| sink::at_output(error, output))?
            }
            _ => None,
        };
        if let Some(copied_chunks) = copied {
            let mut lost = attachments.lost_in(destination, true);
            lost.extend(lost_fill_values((input, found), destination, &attachments)?);
            lost.extend(attachments.compression_for(destination).1);
            return Ok(Converted { is_direct: copied_chunks > 0, copied_chunks, lost });
        }
    }
    let mut source = with_options(source::open_as(input, found, reading)?, options)?;
    let array = source.content().array.as_ref();
    let mut lost = attachments.lost_in(destination, array.is_some());
    if let Some(info) = array {
        lost.extend(attachments.lost_fill_values(destination, &info.dtype));
    }
    let mut writing = writing.clone();
    if writing.compression.is_none() {
        let (compression, lacking) = attachments.compression_for(destination);
        writing.compression = compression;
        lost.extend(lacking);
    } else {
        // The caller's parameters replace those of the source.
        lost.retain(|item| !item.starts_with("the codec parameters"));
    }
    let params = (&writing, &attachments);
    sink::write(source.as_mut(), output, destination, params, progress)?;
    Ok(Converted { lost, ..Converted::default() })
}

/// Returns descriptions of the fill values of copied data that the target cannot hold.
fn lost_fill_values(
    (input, found): (&Path, &Detected),
    destination: Destination,
    attachments: &Attachments,
) -> Result<Vec<String>> {
    if attachments.dflt.is_none() || found.format != Format::B2nd {
        return Ok(Vec::new());
    }
    let source = source::open_as(input, found, &Reading::default())?;
    let array = source.content().array.as_ref();
    Ok(array.map_or_else(Vec::new, |info| attachments.lost_fill_values(destination, &info.dtype)))
}

/// Copies chunks if both formats share them. Returns whether it did.
fn copy_chunks(
    (input, found): (&Path, &Detected),
    (output, destination): (&Path, Destination),
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<bool> {
    let options = Options {
        nthreads: i32::try_from(writing.nthreads.max(1)).unwrap_or(1),
        ..Options::default()
    };
    // An output that the caller should not have passed is kept.
    let is_new = output.symlink_metadata().is_err();
    let or_fallback = |made| or_fallback(made, output, is_new);
    match (found.format, destination) {
        (Format::Frame, Destination::Frame { directory })
        | (Format::B2nd, Destination::Frame { directory } | Destination::B2nd { directory }) => {
            let schunk = open_schunk(input, found.is_directory, 1)?;
            copy_frame(schunk, output, directory, writing, progress)?;
        }
        (Format::Blosc2, Destination::Frame { directory }) => {
            let schunk = schunk_of_chunk(input, 1)?;
            copy_frame(schunk, output, directory, writing, progress)?;
        }
        (Format::Frame, Destination::Blosc2) => {
            let schunk = open_schunk(input, found.is_directory, 1)?;
            check_has_data(schunk.state())?;
            if schunk.nchunks() != 1 {
                return Ok(false);
            }
            let with_position = |error| chunk_error(&schunk, 0, error);
            let chunk = schunk.chunk(0).map_err(with_position)?;
            ChunkCheck::new(writing.threads()).check(&chunk).map_err(with_position)?;
            ferroblosc::io::named::write(output, &chunk)?;
        }
        (Format::Carray, Destination::Bloscpack) => {
            let extra = attachments.metadata(true);
            carray_to_container(input, output, Checksum::Adler32, &extra, &options)?;
        }
        (Format::Bloscpack, Destination::Bcolz) => {
            let target = target_of(attachments);
            let made = bloscpack_to_carray(input, output, &target, Mode::Write, &options);
            let made = made.and_then(|()| sink::set_attrs(output, &attachments.attrs, &options));
            return or_fallback(made);
        }
        (Format::Carray, Destination::B2nd { directory: false }) => {
            return or_fallback(carray_to_frame(input, output, &options, writing));
        }
        (Format::B2nd, Destination::Bcolz) => {
            let target = target_of(attachments);
            let made = b2nd_to_carray(input, output, &target, Mode::Write, &options);
            let made = made.and_then(|_| sink::set_attrs(output, &attachments.attrs, &options));
            return or_fallback(made);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Returns the parameters of the carray to create: the source's, if bcolz supports them.
fn target_of(attachments: &Attachments) -> Target {
    let compression = attachments.compression_for(Destination::Bcolz).0;
    let cparams = compression.and_then(|compression| {
        let name = codec::compcode_to_compname(compression.codec)?;
        Some(bcolz::Compression {
            clevel: compression.level,
            shuffle: compression.shuffle().ok()?,
            cname: name.to_string_lossy().into_owned(),
            quantize: 0,
        })
    });
    Target { cparams: cparams.unwrap_or_default(), ..Target::default() }
}

/// Removes the output of a failed copy and returns `false`, so that the caller recompresses
/// instead. Errors of damaged data are returned, and all errors if the output is not new.
fn or_fallback(made: Result<()>, output: &Path, is_new: bool) -> Result<bool> {
    match made {
        Ok(()) => Ok(true),
        Err(error) if error.is_corruption() || !is_new => Err(error),
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

/// Copies chunks and metalayers. An error names the chunk that cannot be read.
fn copy_frame(
    mut schunk: SChunk,
    output: &Path,
    directory: bool,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let (_, sums) = checksums_of(&mut schunk)?;
    let state = schunk.state();
    check_has_data(state)?;
    // Later appends to the copy use the source's parameters.
    let params = state.recorded().params(state.counters().blocksize);
    let nchunks = schunk.nchunks();
    // A frame of chunks without bytes can have any number of them.
    let is_sparse = schunk.cbytes() / MIN_CHUNK < nchunks;
    let change = OneChange::of_stored(nchunks.unsigned_abs(), directory && !is_sparse);
    let storage = change.storage(sink::storage(output, directory, writing));
    let mut target = SChunk::create(storage, params, DParams::default())?;
    copy::copy_head(state, target.state_mut())?;
    change.begin(target.state_mut())?;
    copy_all((&schunk, &sums), &mut target, writing, progress)?;
    change.commit(target.state_mut())?;
    Ok(target.close()?)
}

/// Copies all chunks and variable-length metalayers. If the target has checksums, damaged chunks
/// are errors: the checksums must not certify them. Chunks with a checksum in `sums` are compared
/// with it when they are read. Other chunks that need a missing plugin get no checksum.
fn copy_all(
    (schunk, sums): (&SChunk, &[u64]),
    target: &mut SChunk,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    // The environment can enable checksums, too.
    let has_checksums = target.state().frame().is_some_and(Frame::has_fingerprint);
    let mut check = ChunkCheck::new(writing.threads());
    let mut sums = sums.iter();
    let mut next = 0;
    while next < schunk.nchunks() {
        let number = next;
        let with_position = |error| chunk_error(schunk, number, error);
        let chunk = schunk.chunk(number).map_err(with_position)?;
        let run = chunks::special_run(schunk.state(), number).map_err(with_position)?;
        if run > 1 {
            next += run;
            sums.by_ref().take(run as usize).for_each(drop);
            MissingChunks::of(&chunk, run.unsigned_abs()).flush(target)?;
            progress(chunk.len() as u64);
            continue;
        }
        next += 1;
        let is_compared = sums.next().is_some_and(|&sum| sum != OF_SPECIAL);
        if has_checksums && !is_compared {
            check.check(&chunk).map_err(with_position)?;
        }
        let is_unverified = !is_compared && needs_plugin(&chunk);
        let copied =
            if is_unverified { NewChunk::Unverified(&chunk) } else { NewChunk::Copy(&chunk) };
        chunks::append(target.state_mut(), copied)?;
        progress(chunk.len() as u64);
    }
    let mut layers = Vec::new();
    schunk.state().with_layers(Layers::Variable, &mut |found| {
        layers = found.iter().map(|&(name, chunk)| (name.to_vec(), chunk.to_vec())).collect();
    });
    for (name, chunk) in layers {
        let copied = copy::copy_vlmetalayer(target.state_mut(), &name, &chunk);
        copied.map_err(|error| of_layer(&String::from_utf8_lossy(&name), error))?;
    }
    Ok(())
}

/// Returns the checksums of a frame, and those of its chunks if they are usable.
fn checksums_of(schunk: &mut SChunk) -> Result<(FingerprintStatus, Vec<u64>)> {
    let seal = match schunk.state_mut().frame_mut() {
        Some(frame) => frame.seal()?,
        None => FingerprintStatus::Absent,
    };
    let sums = match &seal {
        FingerprintStatus::Intact(Some(table)) => table.chunks.clone(),
        _ => Vec::new(),
    };
    let is_complete = usize::try_from(schunk.nchunks()) == Ok(sums.len());
    Ok((seal, if is_complete { sums } else { Vec::new() }))
}

/// Copies the frame at `input` to `output`, which must not exist, with these fixed metalayers
/// instead of its own. Chunks are not recompressed. The copy has checksums if the frame has them.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn copy_with_metalayers(
    (input, found): (&Path, &Detected),
    output: &Path,
    metalayers: &[(Vec<u8>, Vec<u8>)],
    progress: Progress<'_>,
) -> Result<()> {
    let mut schunk = open_schunk(input, found.is_directory, 1)?;
    let (seal, sums) = checksums_of(&mut schunk)?;
    let writing = Writing { checksums: seal != FingerprintStatus::Absent, ..Writing::default() };
    let state = schunk.state();
    let params = state.recorded().params(state.counters().blocksize);
    let change = OneChange::of_stored(schunk.nchunks().unsigned_abs(), found.is_directory);
    let storage = change.storage(sink::storage(output, found.is_directory, &writing));
    let mut target = SChunk::create(storage, params, DParams::default())?;
    // Adding a metalayer to an empty super-chunk writes the chunk size to the frame.
    let counters = target.state().counters();
    let chunksize = state.counters().chunksize;
    target.state_mut().set_counters(Counters { chunksize, ..counters });
    for (name, content) in metalayers {
        meta::add(target.state_mut(), name, content)?;
    }
    change.begin(target.state_mut())?;
    copy_all((&schunk, &sums), &mut target, &writing, progress)?;
    change.commit(target.state_mut())?;
    Ok(target.close()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::detect;
    use ferroblosc::chunk::CParams;
    use ferroblosc::schunk::Storage;

    #[test]
    fn attributes_beside_a_damaged_one_are_kept() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let params = CParams::default().typesize(4);
        let frame = Storage::file(path("from.b2frame"));
        let mut schunk = SChunk::create(frame, params, DParams::default()).unwrap();
        schunk.append(&[7; 400]).unwrap();
        // Texts in MessagePack, which are stored uncompressed.
        schunk.add_vlmetalayer("good", b"\xa4kept").unwrap();
        schunk.add_vlmetalayer("bad", b"\xa7damaged").unwrap();
        schunk.add_vlmetalayer("last", b"\x05").unwrap();
        schunk.close().unwrap();
        let mut bytes = std::fs::read(path("from.b2frame")).unwrap();
        let content = bytes.windows(8).position(|bytes| bytes == b"\xa7damaged").unwrap();
        // The size of the data in the header of the chunk.
        bytes[content - 28..content - 24].fill(0x7f);
        std::fs::write(path("from.b2frame"), &bytes).unwrap();
        let found = detect(&path("from.b2frame")).unwrap();
        let converted = |name: &str, destination| {
            convert(
                (&path("from.b2frame"), &found),
                (&path(name), destination),
                (&Reading::default(), &SourceOptions::default()),
                &Writing::default(),
                &mut |_| {},
            )
        };
        let lost = converted("to.blp", Destination::Bloscpack).unwrap().lost;
        assert!(lost.len() == 1 && lost[0].contains("metalayer \"bad\""), "{lost:?}");
        let blp = detect(&path("to.blp")).unwrap();
        let kept = Attachments::of(&path("to.blp"), &blp, &Reading::default()).unwrap().attrs;
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["good", "last"]);
        // Frames are copied completely or not at all.
        for (name, directory) in [("to.b2frame", false), ("to", true)] {
            let error = converted(name, Destination::Frame { directory }).unwrap_err();
            let reason = "the variable-length metalayer \"bad\" is damaged";
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.is_corruption());
        }
    }

    #[test]
    fn metadata_without_a_json_value_are_listed_as_lost() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let params = CParams::default().typesize(1);
        let frame = Storage::file(path("from.b2frame"));
        let mut schunk = SChunk::create(frame, params, DParams::default()).unwrap();
        // Truncated texts in MessagePack.
        schunk.add_metalayer("fixed", b"\xa5ab").unwrap();
        schunk.append(&[7; 400]).unwrap();
        schunk.add_vlmetalayer("raw", b"\xa5ab").unwrap();
        schunk.close().unwrap();
        let metadata = crate::bloscpack::Value::parse(b"{\"unit\":\"m\"}").unwrap();
        let args = crate::bloscpack::PackArgs { metadata: Some(metadata), ..Default::default() };
        let mut packed = crate::bloscpack::pack_bytes_to_bytes(&[7; 400], &args).unwrap();
        let magic = packed.windows(4).position(|bytes| bytes == b"JSON").unwrap();
        packed[magic] = b'X';
        std::fs::write(path("from.blp"), &packed).unwrap();
        let converted = |from: &str, to: &str, destination| {
            let lost = convert(
                (&path(from), &detect(&path(from)).unwrap()),
                (&path(to), destination),
                (&Reading::default(), &SourceOptions::default()),
                &Writing::default(),
                &mut |_| {},
            );
            lost.unwrap().lost.join("; ")
        };
        let lost = converted("from.blp", "to.b2frame", Destination::Frame { directory: false });
        assert!(lost.contains("the metadata, which are not JSON"), "{lost}");
        for (name, destination) in [
            ("to.blp", Destination::Bloscpack),
            ("to.bcolz", Destination::Bcolz),
            #[cfg(feature = "zarr")]
            ("to.zarr", Destination::Zarr { version: crate::zarr::Version::V3, is_zip: false }),
            #[cfg(feature = "hdf5")]
            ("to.h5", Destination::Hdf5 { filter: None }),
        ] {
            let lost = converted("from.b2frame", name, destination);
            for layer in ["fixed", "raw"] {
                let expected =
                    format!("metalayer \"{layer}\", whose content has no JSON representation");
                assert!(lost.contains(&expected), "{name}: {lost}");
            }
        }
        let lost = converted("from.b2frame", "to.bin", Destination::Plain);
        assert!(lost.contains("the metalayer \"fixed\"; the variable-length metalayer \"raw\""));
    }

    #[test]
    fn a_copy_keeps_the_chunk_size_that_no_chunk_fills() {
        let folder = crate::testing::tempdir();
        for (number, bytes) in [Vec::new(), vec![7; 400]].iter().enumerate() {
            let from = folder.path().join(format!("{number}-from.b2frame"));
            let to = folder.path().join(format!("{number}-to.b2frame"));
            let params = CParams::default().typesize(4);
            let mut schunk =
                SChunk::create(Storage::file(&from), params, DParams::default()).unwrap();
            schunk.set_chunksize(1000).unwrap();
            if !bytes.is_empty() {
                schunk.append(bytes).unwrap();
            }
            schunk.add_vlmetalayer("unit", b"metres").unwrap();
            schunk.close().unwrap();
            let mut reported = 0;
            let copied = convert(
                (&from, &detect(&from).unwrap()),
                (&to, Destination::Frame { directory: false }),
                (&Reading::default(), &SourceOptions::default()),
                &Writing::default(),
                &mut |bytes| reported += bytes,
            );
            assert!(copied.unwrap().is_direct);
            let copy = SChunk::open(Storage::file(&to), DParams::default()).unwrap();
            assert_eq!(copy.chunksize(), 1000);
            assert_eq!(copy.nbytes() as usize, bytes.len());
            assert_eq!(copy.vlmetalayer("unit").unwrap(), b"metres");
            assert_eq!(reported > 0, !bytes.is_empty());
        }
    }

    /// Copies a frame, with checksums if requested.
    fn copied(from: &Path, to: &Path, checksums: bool) -> Result<Converted> {
        convert(
            (from, &detect(from).unwrap()),
            (to, Destination::Frame { directory: false }),
            (&Reading::default(), &SourceOptions::default()),
            &Writing { checksums, ..Writing::default() },
            &mut |_| {},
        )
    }

    #[test]
    fn damaged_chunks_get_no_checksums() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let params = CParams::default().typesize(1);
        let storage = Storage::file(path("from"));
        let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        let items: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
        schunk.append(&items).unwrap();
        schunk.append(&items).unwrap();
        let chunk = schunk.state().frame().unwrap().chunk_position(1).unwrap();
        schunk.close().unwrap();
        assert!(copied(&path("from"), &path("intact"), true).unwrap().is_direct);
        let mut bytes = std::fs::read(path("from")).unwrap();
        // The offset of the first block.
        let at = usize::try_from(chunk).unwrap() + 32;
        bytes[at..at + 4].fill(0x7f);
        std::fs::write(path("from"), &bytes).unwrap();
        assert!(copied(&path("from"), &path("unsealed"), false).unwrap().is_direct);
        let error = copied(&path("from"), &path("sealed"), true).unwrap_err();
        assert!(error.is_corruption(), "{error}");
        assert!(matches!(error, Error::Chunk { number: 1, .. }), "{error}");
    }

    /// The caller must not pass such an output.
    #[test]
    fn an_output_that_exists_is_kept() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let spec = bcolz::CarraySpec::new(Dtype::parse("int64").unwrap());
        let (root, kept) = (path("array"), path("kept"));
        drop(bcolz::Carray::create(&root, &spec, Mode::Write, &Options::default()).unwrap());
        std::fs::create_dir(&kept).unwrap();
        std::fs::write(kept.join("notes"), b"years").unwrap();
        let b2nd = path("array.b2nd");
        let converted = |from: &Path, to: &Path, destination| {
            convert(
                (from, &detect(from).unwrap()),
                (to, destination),
                (&Reading::default(), &SourceOptions::default()),
                &Writing::default(),
                &mut |_| {},
            )
        };
        let destination = Destination::B2nd { directory: false };
        converted(&root, &b2nd, destination).unwrap();
        assert!(converted(&root, &kept, destination).is_err());
        assert!(converted(&b2nd, &kept, Destination::Bcolz).is_err());
        assert_eq!(std::fs::read(kept.join("notes")).unwrap(), b"years");
    }
}
