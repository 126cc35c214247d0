//! Verifies data of any format and reports faults in a common form.

use std::collections::HashSet;
use std::io::Seek;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::detect::{Detected, Format, has_frame_magic};
use super::error::{Error, Result};
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use super::location::Location;
use super::npz::Npz;
use super::placeholder::placeholder;
use super::restore::has_other_parameters;
use super::source::{Reading, open_schunk, schunk_of_chunk};
use super::summary;
use crate::bcolz::{self, Options};
#[cfg(feature = "hdf5")]
use crate::hdf5;
use crate::numpy::read_npy_header;
#[cfg(feature = "zarr")]
use crate::zarr;
use crate::{bloscpack, blpk};
use ferroblosc::b2nd::create;
use ferroblosc::b2nd::verify::{ForeignChunk, foreign_chunks};
use ferroblosc::chunk::{BasicHeader, ChunkHeader, missing_plugin};
use ferroblosc::io::named::{NamedFile, read_regular};
use ferroblosc::plugin::Plugin;
use ferroblosc::schunk::verify::{Fingerprint, Report};
use ferroblosc::schunk::{SChunk, State, VARIABLE};

/// A fault found by [`verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The file or directory of the fault, if it is not the verified path.
    pub path: Option<PathBuf>,
    /// The index of the affected chunk.
    pub chunk: Option<u64>,
    /// The number of chunks after it that are stored as the same bytes, and have the same fault.
    pub more: u64,
    /// The offset of the fault in its file, in bytes.
    pub position: Option<u64>,
    /// The description of the fault.
    pub message: String,
    /// Whether the fault is only a note: no data are lost or wrong.
    pub is_note: bool,
    /// The missing plugin without which the data cannot be verified. The data may be intact.
    pub needs: Option<Plugin>,
}

impl Fault {
    fn of(message: impl Into<String>) -> Fault {
        Fault {
            path: None,
            chunk: None,
            more: 0,
            position: None,
            message: message.into(),
            is_note: false,
            needs: None,
        }
    }

    fn note(message: impl Into<String>) -> Fault {
        Fault { is_note: true, ..Fault::of(message) }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        let chunk = match (self.chunk, self.more) {
            (Some(chunk), 0) => format!("chunk {chunk}"),
            (Some(chunk), more) => format!("chunks {chunk} to {}", chunk.saturating_add(more)),
            (None, _) => String::new(),
        };
        match self.position {
            Some(position) if chunk.is_empty() => write!(f, "byte {position}: ")?,
            Some(position) => write!(f, "{chunk} at byte {position}: ")?,
            None if chunk.is_empty() => {}
            None => write!(f, "{chunk}: ")?,
        }
        f.write_str(&self.message)
    }
}

/// The result of [`verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The number of verified chunks, or `None` for formats without a chunk count.
    pub chunks: Option<u64>,
    /// The number of chunks compared with a checksum.
    pub compared: u64,
    /// Whether the data have checksums, which detect any changed byte.
    pub has_checksums: bool,
    /// A description of the data source, if the chunks are placeholders for an expression or
    /// reference.
    pub placeholder: Option<String>,
    /// The faults.
    pub faults: Vec<Fault>,
}

impl Verification {
    /// Whether everything could be verified and nothing is lost or wrong.
    pub fn is_intact(&self) -> bool {
        self.faults.iter().all(|fault| fault.is_note)
    }

    /// Whether something is lost or wrong.
    pub fn is_damaged(&self) -> bool {
        let is_damage = |fault: &Fault| !fault.is_note && fault.needs.is_none();
        self.faults.iter().any(is_damage)
    }

    /// Returns the missing plugins that a complete verification needs, without duplicates.
    pub fn missing_plugins(&self) -> Vec<&Plugin> {
        let mut plugins: Vec<&Plugin> = Vec::new();
        for plugin in self.faults.iter().filter_map(|fault| fault.needs.as_ref()) {
            if !plugins.contains(&plugin) {
                plugins.push(plugin);
            }
        }
        plugins
    }
}

/// Verifies everything at `path`.
///
/// # Errors
/// Returns errors of the system, such as failed reads and allocations. Damage is reported as a
/// [`Fault`].
pub fn verify(path: &Path, found: &Detected, reading: &Reading) -> Result<Verification> {
    let threads = reading.threads();
    let verified = match found.format {
        Format::Blosc1 | Format::Blosc2 => verify_chunk(path, threads),
        Format::Frame => open_schunk(path, found.is_directory, threads)
            .map_err(Error::from)
            .and_then(verify_schunk),
        Format::B2nd => verify_array(path, found.is_directory, threads),
        Format::Bloscpack => verify_container(path, reading.nthreads.max(1)),
        Format::Carray | Format::Ctable => verify_bcolz(path, threads),
        Format::Npy => verify_npy(path),
        #[cfg(feature = "zarr")]
        Format::Zarr => verify_zarr(path),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => verify_hdf5(path),
        Format::Npz => verify_npz(path),
        // Any bytes are valid.
        Format::Raw => Ok(Verification::default()),
    };
    let is_frame = matches!(found.format, Format::Frame | Format::B2nd) && !found.is_legacy;
    let mut verification = match verified {
        Err(error) if error.is_corruption() => {
            Verification { faults: vec![fault_of(&error)], ..Verification::default() }
        }
        // Otherwise the chunks need a codec or filter that is missing.
        Err(error) if is_frame && !found.is_directory && has_other_parameters(path)? => {
            let message =
                format!("the header of the frame has other parameters than the chunks: {error}");
            Verification { faults: vec![Fault::of(message)], ..Verification::default() }
        }
        other => other?,
    };
    let is_known_damaged = verification.has_checksums && verification.is_damaged();
    if is_frame && !found.is_directory && !is_known_damaged && !has_frame_magic(path)? {
        let message = "the magic bytes of the frame are damaged";
        verification.faults.push(Fault { position: Some(0), ..Fault::of(message) });
    }
    let note = summary::journal_note(path, found)?;
    verification.faults.extend(note.map(Fault::note));
    Ok(verification)
}

/// Converts an error of reading to a fault.
pub fn fault_of(error: &Error) -> Fault {
    match error {
        Error::Chunk { number, position, error } => Fault {
            chunk: u64::try_from(*number).ok(),
            position: *position,
            ..Fault::of(error.to_string())
        },
        Error::Bloscpack(bloscpack::Error::Container(error)) => {
            Fault { chunk: chunk_of(error), ..Fault::of(error.to_string()) }
        }
        other => Fault::of(other.to_string()),
    }
}

/// Returns the index of the chunk that caused the error.
fn chunk_of(error: &blpk::Error) -> Option<u64> {
    match error {
        blpk::Error::ChunkHeader { index, .. }
        | blpk::Error::ChunkSize { index, .. }
        | blpk::Error::ChunkData { index }
        | blpk::Error::Offset { index, .. }
        | blpk::Error::Checksum { what: blpk::Checked::Chunk(index), .. } => Some(*index),
        _ => None,
    }
}

fn verify_chunk(path: &Path, threads: i16) -> Result<Verification> {
    let mut verification = verify_schunk(schunk_of_chunk(path, threads)?)?;
    let bytes = read_regular(path)?;
    let cbytes = BasicHeader::parse(&bytes)?.cbytes;
    let trailing = bytes.len() as u64 - u64::try_from(cbytes).unwrap_or(0);
    if trailing > 0 {
        let position = Some(bytes.len() as u64 - trailing);
        verification.faults.push(Fault {
            position,
            ..Fault::note(format!("{trailing} unused bytes after the chunk"))
        });
    }
    Ok(verification)
}

fn verify_schunk(mut schunk: SChunk) -> Result<Verification> {
    let report = schunk.verify()?;
    let mut faults = Vec::new();
    if report.fingerprint == Fingerprint::Mismatch {
        faults
            .push(Fault::of("header, index or trailer do not match the fingerprint of the frame"));
    }
    if let Some(nbytes) = report.other_nbytes {
        let recorded = schunk.nbytes();
        faults.push(Fault::of(format!(
            "the header of the frame records {recorded} bytes of data, and the chunks have {nbytes}"
        )));
    }
    if let Some(typesize) = report.other_typesize
        && create::find(schunk.state()).is_err()
    {
        let recorded = schunk.typesize();
        faults.push(Fault::note(format!(
            "the header of the frame records items of {recorded} bytes, and all chunks have items of \
             {typesize}"
        )));
    }
    for (numbers, error) in &report.bad_chunks {
        let message = if *error == ferroblosc::Error::Data && report.compared > 0 {
            "the chunk does not match its checksum".to_owned()
        } else {
            error.reason().to_string()
        };
        faults.push(of_chunks(&schunk, numbers, message));
    }
    faults.extend(unverified(&schunk, &report));
    let placeholder = placeholder(schunk.state());
    if let Some(placeholder) = &placeholder {
        faults.push(Fault::note(format!("this is {placeholder}; its data are not in the file")));
    }
    for name in &report.bad_vlmetalayers {
        let name = String::from_utf8_lossy(name);
        faults.push(Fault::of(format!("the metalayer {name:?} cannot be read")));
    }
    Ok(Verification {
        chunks: u64::try_from(report.nchunks).ok(),
        compared: u64::try_from(report.compared).unwrap_or(0),
        has_checksums: report.fingerprint != Fingerprint::None,
        placeholder,
        faults,
    })
}

/// Returns the fault of a chunk, or of several equal ones.
fn of_chunks(schunk: &SChunk, numbers: &Range<i64>, message: String) -> Fault {
    let number = usize::try_from(numbers.start).unwrap_or(usize::MAX);
    let frame = schunk.state().frame();
    Fault {
        chunk: Some(number as u64),
        more: (numbers.end - numbers.start).unsigned_abs().saturating_sub(1),
        position: frame.and_then(|frame| frame.chunk_position(number)),
        ..Fault::of(message)
    }
}

/// Returns one fault per plugin for the chunks that need it, and one per affected metalayer.
fn unverified(schunk: &SChunk, report: &Report) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut plugins: Vec<&Plugin> = Vec::new();
    for (_, plugin) in &report.unverified_chunks {
        if !plugins.contains(&plugin) {
            plugins.push(plugin);
        }
    }
    for plugin in plugins {
        let of_plugin = report.unverified_chunks.iter();
        let of_plugin: Vec<&Range<i64>> =
            of_plugin.filter(|(_, needed)| needed == plugin).map(|(numbers, _)| numbers).collect();
        let Some(first) = of_plugin.first() else {
            continue;
        };
        let count: i64 = of_plugin.iter().map(|numbers| numbers.end - numbers.start).sum();
        let more = match count - 1 {
            0 => String::new(),
            1 => ", and so does one more chunk".to_owned(),
            more => format!(", and so do {more} more chunks"),
        };
        let message = format!("it needs {plugin}, which is not installed{more}");
        faults.push(Fault {
            needs: Some(plugin.clone()),
            more: 0,
            ..of_chunks(schunk, first, message)
        });
    }
    for (name, plugin) in &report.unverified_vlmetalayers {
        let name = String::from_utf8_lossy(name);
        faults.push(Fault {
            needs: Some(plugin.clone()),
            ..Fault::of(format!("the metalayer {name:?} needs {plugin}, which is not installed"))
        });
    }
    faults
}

/// Whether a super-chunk has the chunks of the array that its metalayer describes.
fn has_chunks_of_array(schunk: &SChunk) -> bool {
    let Ok((meta, geometry)) = create::find(schunk.state()) else {
        return false;
    };
    let typesize = create::true_typesize(schunk.state(), &meta, &geometry);
    let chunksize = geometry.chunksize(typesize.unwrap_or(schunk.typesize()));
    let has_size = chunksize.is_ok_and(|size| usize::try_from(schunk.chunksize()) == Ok(size));
    let is_known = schunk.chunksize() != VARIABLE && schunk.nchunks() > 0;
    schunk.nchunks() >= geometry.nchunks() && (has_size || !is_known)
}

fn verify_array(path: &Path, is_directory: bool, threads: i16) -> Result<Verification> {
    let schunk = open_schunk(path, is_directory, threads)?;
    let is_array = has_chunks_of_array(&schunk);
    let foreign = if is_array { foreign_chunks(schunk.state())? } else { Vec::new() };
    let fault = |chunk: ForeignChunk| Fault {
        is_note: chunk.is_readable,
        ..of_chunks(&schunk, &chunk.numbers, chunk.text)
    };
    let foreign: Vec<Fault> = foreign.into_iter().map(fault).collect();
    let mut verification = verify_schunk(schunk)?;
    verification.faults.splice(0..0, foreign);
    if !is_array {
        let message = "the metalayer of the array is invalid or does not match the chunks";
        verification.faults.insert(0, Fault::of(message));
    }
    Ok(verification)
}

fn verify_container(path: &Path, nthreads: usize) -> Result<Verification> {
    bloscpack::check_complete(path)?;
    let report = bloscpack::verify(path, nthreads)?;
    let mut faults: Vec<Fault> = report
        .faults
        .iter()
        .map(|error| {
            let chunk = chunk_of(error);
            let is_read = !matches!(error, blpk::Error::Checksum { .. });
            let missing = chunk.filter(|_| is_read).and_then(|chunk| missing_in(path, chunk));
            let number = chunk.and_then(|chunk| usize::try_from(chunk).ok());
            Fault {
                chunk,
                position: number.and_then(|number| report.positions.get(number).copied()),
                ..match missing {
                    Some(plugin) => Fault {
                        needs: Some(plugin.clone()),
                        ..Fault::of(format!("it needs {plugin}, which is not installed"))
                    },
                    None => Fault::of(error.to_string()),
                }
            }
        })
        .collect();
    if faults.is_empty() {
        let content = super::open_as(
            path,
            &Detected { format: Format::Bloscpack, is_directory: false, is_legacy: false },
            &Reading::default(),
        );
        if let Err(error) = content.map(drop)
            && error.is_corruption()
        {
            faults.push(fault_of(&error));
        }
    }
    if report.trailing > 0 {
        let message = format!("{} unused bytes after the last chunk", report.trailing);
        faults.push(Fault::note(message));
    }
    if report.without_offset > 0 {
        faults.push(Fault::note(format!("{} chunks have no offset", report.without_offset)));
    }
    Ok(Verification {
        chunks: Some(report.chunks),
        has_checksums: report.header.checksum != blpk::Checksum::None,
        placeholder: None,
        compared: match report.header.checksum {
            blpk::Checksum::None => 0,
            _ => report.chunks,
        },
        faults,
    })
}

/// Returns the missing plugin that a chunk of a container needs.
fn missing_in(path: &Path, chunk: u64) -> Option<Plugin> {
    let mut archive = blpk::Archive::open(NamedFile::open_regular(path).ok()?).ok()?;
    let mut stored = Vec::new();
    archive.read_stored(chunk, &mut stored).ok()?;
    missing_plugin(&ChunkHeader::parse(&stored).ok()?)
}

fn verify_bcolz(path: &Path, threads: i16) -> Result<Verification> {
    let options = Options { nthreads: threads.into(), ..Options::default() };
    let findings = bcolz::verify(path, &options)?;
    let faults = findings
        .iter()
        .map(|finding| Fault {
            path: Some(finding.path.clone()),
            is_note: finding.fault.is_note(),
            needs: match finding.fault {
                bcolz::Fault::Codec(format) => Some(Plugin::of_format(format)),
                _ => None,
            },
            ..Fault::of(finding.fault.to_string())
        })
        .collect();
    Ok(Verification { faults, ..Verification::default() })
}

/// Decodes all chunks of a Zarr array, or of all arrays of a group.
#[cfg(feature = "zarr")]
fn verify_zarr(path: &Path) -> Result<Verification> {
    let Location { path, key } = Location::of(path);
    let mut verification = Verification::default();
    let mut count = 0;
    for node in zarr::arrays_in(&path, &key.unwrap_or_default())? {
        let fault_in = |error: zarr::Error, chunk| {
            let error = Error::from(error);
            if error.is_corruption() {
                let path = Some(path.join(&node)).filter(|_| !node.is_empty());
                Ok(Fault { path, chunk, ..Fault::of(error.to_string()) })
            } else {
                Err(error)
            }
        };
        let mut array = match zarr::Array::open(&path, &node) {
            Ok(array) => array,
            Err(error) => {
                verification.faults.push(fault_in(error, None)?);
                continue;
            }
        };
        for number in 0..array.nchunks() {
            let index = array.chunk_index(number);
            let decoded = match array.stored_chunk(&index) {
                Ok(None) => continue,
                Ok(Some(stored)) => array.decode(&index, stored).map(drop),
                Err(error) => Err(error),
            };
            count += 1;
            if let Err(error) = decoded {
                verification.faults.push(fault_in(error, Some(number))?);
            }
        }
    }
    verification.chunks = Some(count);
    Ok(verification)
}

/// Reads all stored items of an HDF5 dataset, or of all datasets of a file or group.
#[cfg(feature = "hdf5")]
fn verify_hdf5(path: &Path) -> Result<Verification> {
    let Location { path, key } = Location::of(path);
    let file = super::source::open_file(&path)?;
    let mut verification = Verification::default();
    for name in hdf5::datasets(&file, &key.unwrap_or_default())? {
        let location = ferroblosc::io::paths::with_text(&path, &format!(":/{name}"));
        let read = hdf5::Dataset::open(&file, &name).map_err(Error::from);
        let read = read.and_then(|dataset| super::source::check_stored(&dataset));
        match read {
            Err(error) if error.is_corruption() => {
                verification.faults.push(Fault { path: Some(location), ..fault_of(&error) });
            }
            // A type without form in memory is not damage.
            Err(Error::Hdf5(hdf5::Error::Type { .. })) => continue,
            Err(error @ Error::Hdf5(hdf5::Error::Elsewhere { .. })) => {
                let note = Fault::note(error.to_string());
                verification.faults.push(Fault { path: Some(location), ..note });
                continue;
            }
            read => read?,
        }
        verification.compared += 1;
    }
    Ok(verification)
}

/// Verifies the requested array of a `.npz` file, or all arrays: CRC-32, headers and sizes.
fn verify_npz(path: &Path) -> Result<Verification> {
    let npz = Npz::open(path)?;
    let mut verification = Verification { has_checksums: true, ..Verification::default() };
    let members =
        if npz.has_key() { vec![npz.member()?] } else { npz.archive().members().iter().collect() };
    let mut names = HashSet::new();
    for member in members {
        let archive = npz.archive();
        let checked = archive
            .check_local_header(member)
            .and_then(|()| archive.for_each_piece(member, |_| Ok(())))
            .map_err(Error::from)
            .and_then(|()| npz.header(member));
        match checked {
            Err(error) if error.is_corruption() => verification.faults.push(Fault {
                path: Some(npz.archive().path().join(&member.name)),
                ..fault_of(&error)
            }),
            // Only the checksum can be compared.
            Err(Error::Bloscpack(bloscpack::Error::ObjectArray)) => {}
            checked => {
                let (info, header_len) = checked?;
                let end = header_len.saturating_add(info.nbytes()?);
                if member.size > end {
                    let trailing = member.size - end;
                    let text =
                        format!("{:?}: {trailing} unused bytes after the items", member.name);
                    verification.faults.push(Fault::note(text));
                }
            }
        }
        verification.compared += 1;
        if !names.insert(&member.name) {
            let text = format!("several members have the name {:?}", member.name);
            verification.faults.push(Fault::of(text));
        }
    }
    Ok(verification)
}

fn verify_npy(path: &Path) -> Result<Verification> {
    let mut file = NamedFile::open_regular(path)?;
    let info = read_npy_header(&mut file)?;
    let end = file.stream_position()?.saturating_add(info.nbytes()?);
    let actual = file.file().metadata()?.len();
    let mut verification = Verification::default();
    if actual < end {
        let expected = end;
        let error = Error::Truncated { expected, actual };
        verification.faults.push(fault_of(&error));
    } else if actual > end {
        let trailing = actual - end;
        verification.faults.push(Fault {
            position: Some(end),
            ..Fault::note(format!("{trailing} unused bytes after the items"))
        });
    }
    Ok(verification)
}
