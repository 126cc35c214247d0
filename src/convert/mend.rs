//! Mending what can be mended, in one way for all formats.
//!
//! | format | what is mended |
//! |---|---|
//! | frame, b2nd | chunks that can't be read become zeros, metalayers that can't are left out; what leads to the chunks is written anew. A file whose index or trailer is lost: chunks are found by walking from one to the next |
//! | Bloscpack | a change that was interrupted is undone; chunks that can't be read become zeros, digests and offsets are written anew |
//! | bcolz | what [`crate::bcolz::repair`] mends, in its place |
//! | chunk, `.npy` | nothing: what is lost is nowhere else |
//!
//! What is mended is made anew beside the old one, which keeps its bytes.

use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::detect::{Detected, Format};
use super::error::{Error, Result};
use super::sink::{Writing, storage};
use super::source::open_schunk;
use crate::bcolz::{self, Options};
use crate::blosc1::{self, Engine};
use crate::bloscpack;
use crate::blpk::{self, Archive, Header, OFFSET_LENGTH};
use crate::chunk::{
    BasicHeader, CParams, ChunkHeader, DParams, EXTENDED_HEADER_LENGTH, SplitMode, special,
};
use crate::frame::checksum::Seal;
use crate::frame::{FIXED_HEADER_LEN, FrameHeader, Kind, metalayers};
use crate::io::named::NamedFile;
use crate::plugin;
use crate::schunk::copy::{copy_head, copy_vlmetalayer};
use crate::schunk::{Layers, SChunk, State, meta};

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    /// What was mended.
    pub mended: Vec<String>,
    /// What is lost.
    pub lost: Vec<String>,
}

/// Where something is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A whole one is made anew.
    Anew,
    /// In its place; what is replaced is kept beside it.
    InPlace,
    /// Not at all, for this reason.
    Not(&'static str),
}

/// How something of a format is mended.
pub fn way(path: &Path, found: &Detected) -> Way {
    match found.format {
        Format::Frame | Format::B2nd => Way::Anew,
        Format::Bloscpack if bloscpack::check_complete(path).is_err() => Way::InPlace,
        Format::Bloscpack => Way::Anew,
        Format::Carray | Format::Ctable => Way::InPlace,
        Format::Blosc1 | Format::Blosc2 => Way::Not("what a chunk has lost is nowhere else"),
        Format::Npy => Way::Not("what a .npy file has lost is nowhere else"),
    }
}

/// Mends what is at a path: makes a whole one at `output`, where nothing is yet, or mends it in its place, as
/// [`way`] says.
///
/// # Errors
/// [`Error::Beyond`] when too little is left; those of reading and writing.
pub fn mend(path: &Path, found: &Detected, output: &Path) -> Result<Mended> {
    match (found.format, way(path, found)) {
        (_, Way::Not(why)) => Err(Error::Beyond(why)),
        (Format::Bloscpack, Way::InPlace) => {
            let is_undone = bloscpack::recover(path)?;
            let mended =
                is_undone.then(|| "a change that was interrupted has been undone".to_owned());
            Ok(Mended {
                mended: mended.into_iter().collect(),
                lost: Vec::new(),
            })
        }
        (Format::Bloscpack, _) => mend_container(path, output),
        (Format::Carray | Format::Ctable, _) => mend_bcolz(path),
        _ => mend_frame(path, found, output),
    }
}

fn mend_bcolz(path: &Path) -> Result<Mended> {
    let repaired = bcolz::repair(path, &Options::default())?;
    let mended = repaired.mended.iter();
    let lost = repaired.lost.iter();
    Ok(Mended {
        mended: mended
            .map(|finding| format!("{}: {}", finding.path.display(), finding.fault))
            .collect(),
        lost: lost
            .map(|(path, rows)| format!("{}: rows {} to {}", path.display(), rows.start, rows.end))
            .collect(),
    })
}

fn mend_frame(path: &Path, found: &Detected, output: &Path) -> Result<Mended> {
    match open_schunk(path, found.is_directory, 1) {
        Ok(schunk) => copy_sound(schunk, found.is_directory, output),
        Err(_) if !found.is_directory && !found.is_legacy => walk(path, output),
        Err(error) => Err(error.into()),
    }
}

/// A super-chunk to put sound chunks into.
fn begin(output: &Path, directory: bool, params: CParams, checksums: bool) -> Result<SChunk> {
    let writing = Writing {
        checksums,
        ..Writing::default()
    };
    let storage = storage(output, directory, &writing);
    Ok(SChunk::create(storage, params, DParams::default())?)
}

/// A chunk of zeros.
fn zeros(params: &CParams, nbytes: i32) -> Result<Vec<u8>> {
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH];
    let len = special::zeros(params, nbytes, &mut chunk)?;
    chunk.truncate(len);
    Ok(chunk)
}

/// Copies the chunks of a frame that can be read.
fn copy_sound(mut schunk: SChunk, directory: bool, output: &Path) -> Result<Mended> {
    let mut mended = Mended::default();
    let report = schunk.verify()?;
    let seal = match schunk.state_mut().frame_mut() {
        Some(frame) => frame.seal()?,
        None => Seal::Absent,
    };
    let has_checksums = !matches!(seal, Seal::Absent);
    if matches!(seal, Seal::Broken(_)) {
        mended
            .mended
            .push("what leads to the chunks has its fingerprint again".to_owned());
    }
    let state = schunk.state();
    let params = state.recorded().params(state.counters().blocksize);
    let mut copy = begin(output, directory, params.clone(), has_checksums)?;
    copy_head(state, copy.state_mut())?;
    let chunksize = schunk.chunksize();
    let last = schunk.nchunks() - 1;
    for number in 0..=last {
        let is_bad = report.bad_chunks.iter().any(|(bad, _)| *bad == number);
        if !is_bad {
            copy.append_chunk(&schunk.chunk(number)?)?;
            continue;
        }
        let nbytes = match number == last {
            true => schunk.nbytes() - i64::from(chunksize) * last,
            false => chunksize.into(),
        };
        let nbytes = i32::try_from(nbytes)
            .ok()
            .filter(|&nbytes| nbytes > 0 && chunksize > 0);
        let nbytes = nbytes.ok_or(Error::Beyond("nothing tells how long the lost chunks were"))?;
        copy.append_chunk(&zeros(&params, nbytes)?)?;
        mended
            .lost
            .push(format!("chunk {number}: its {nbytes} bytes are zeros now"));
    }
    let mut copied = Ok(());
    schunk.state().with_layers(Layers::Variable, &mut |layers| {
        copied = layers.iter().try_for_each(|(name, chunk)| {
            if report.bad_vlmetalayers.iter().any(|bad| bad == name) {
                let name = String::from_utf8_lossy(name);
                mended.lost.push(format!("the metalayer {name:?}"));
                return Ok(());
            }
            copy_vlmetalayer(copy.state_mut(), name, chunk)
        });
    });
    copied?;
    copy.close()?;
    Ok(mended)
}

/// Finds the chunks of a frame that doesn't say where they are, from its header on. The copy has checksums, unless a
/// chunk needs a missing plugin: a checksum would say that its data are right.
fn walk(path: &Path, output: &Path) -> Result<Mended> {
    let (mended, is_judged) = walk_once(path, output, true)?;
    if is_judged {
        return Ok(mended);
    }
    std::fs::remove_file(output)?;
    Ok(walk_once(path, output, false)?.0)
}

/// Does the work of [`walk`]. The second result is whether all chunks could be decompressed.
fn walk_once(path: &Path, output: &Path, checksums: bool) -> Result<(Mended, bool)> {
    let too_little = Error::Beyond("not even the header of the frame can be read");
    let mut file = NamedFile::open_regular(path)?;
    let mut fixed = [0; FIXED_HEADER_LEN];
    file.read_exact(&mut fixed)?;
    let header = FrameHeader::parse(&fixed, Kind::Contiguous).map_err(|_| too_little)?;
    let len = file.file().metadata()?.len();
    let mut front = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    (&mut file)
        .take(header.header_len.into())
        .read_to_end(&mut front)?;
    let layers = metalayers::parse(&front).unwrap_or_default();
    let params = header.recorded.params(header.counters.blocksize);
    let chunksize = header.counters.chunksize;
    let mut copy = begin(output, false, params.clone(), checksums)?;
    let mut is_judged = true;
    for layer in &layers {
        meta::add(copy.state_mut(), &layer.name, &layer.content)?;
    }
    if chunksize > 0 {
        copy.set_chunksize(chunksize)?;
    }
    let mut decompressor = crate::chunk::Decompressor::default();
    let mut position = u64::from(header.header_len);
    let wanted = header.counters.nbytes;
    while position < len && copy.nbytes() < wanted {
        file.seek(SeekFrom::Start(position))?;
        let Some(chunk) = next_chunk(&mut file, len - position)? else {
            break;
        };
        let nbytes = BasicHeader::parse(&chunk)?.nbytes;
        let left = wanted - copy.nbytes();
        let fits = chunksize > 0 && i64::from(nbytes) == left.min(chunksize.into());
        let mut plain = vec![0; usize::try_from(nbytes).unwrap_or(0)];
        let read = decompressor.decompress(&chunk, &mut plain);
        // A chunk that needs a missing plugin can't be judged, and is kept.
        let is_unjudged = read.is_err() && needs_plugin(&chunk);
        if !fits || read.is_err() && !is_unjudged {
            break;
        }
        is_judged &= !is_unjudged;
        copy.append_chunk(&chunk)?;
        position += chunk.len() as u64;
    }
    let found = copy.nchunks();
    let mut mended = Mended {
        mended: vec![format!(
            "{found} chunks were found by walking from one to the next"
        )],
        lost: vec!["metalayers of variable length".to_owned()],
    };
    let first = copy.nbytes();
    while copy.nbytes() < wanted && chunksize > 0 {
        let nbytes = (wanted - copy.nbytes()).min(chunksize.into());
        copy.append_chunk(&zeros(&params, i32::try_from(nbytes).unwrap_or(chunksize))?)?;
    }
    if first < wanted {
        mended.lost.push(format!(
            "the data from byte {first} to {wanted} are zeros now"
        ));
    }
    copy.close()?;
    Ok((mended, is_judged))
}

/// Whether a chunk needs a plugin that is missing.
fn needs_plugin(chunk: &[u8]) -> bool {
    ChunkHeader::parse(chunk).is_ok_and(|header| plugin::missing_in(&header).is_some())
}

/// Reads the chunk that begins where the file stands, if one does and all of it is there.
fn next_chunk(file: &mut NamedFile, room: u64) -> Result<Option<Vec<u8>>> {
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    if room < head.len() as u64 {
        return Ok(None);
    }
    file.read_exact(&mut head)?;
    let Ok(header) = BasicHeader::parse(&head) else {
        return Ok(None);
    };
    let cbytes = u64::try_from(header.cbytes).unwrap_or(0);
    if cbytes < head.len() as u64 || cbytes > room {
        return Ok(None);
    }
    let mut chunk = head.to_vec();
    file.take(cbytes - head.len() as u64)
        .read_to_end(&mut chunk)?;
    Ok(Some(chunk))
}

/// Copies the chunks of a container that can be read, with digests and offsets of their own.
fn mend_container(path: &Path, output: &Path) -> Result<Mended> {
    let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
    let header = *archive.header();
    let nchunks = header
        .nchunks
        .ok_or(Error::Beyond("it does not tell how many chunks it has"))?;
    let section = archive.metadata().cloned();
    let mut writer = BufWriter::new(crate::io::named::NamedFile::create(output)?);
    let made = Header {
        max_app_chunks: header.max_app_chunks,
        ..header
    };
    let mut front = made.encode()?;
    if let Some(section) = &section {
        front.extend(section.encode()?);
    }
    writer.write_all(&front)?;
    let mut position = front.len() as u64;
    let entries = if header.offsets {
        made.entries().unwrap_or(0)
    } else {
        0
    };
    for _ in 0..entries {
        writer.write_all(&blpk::UNUSED_OFFSET.to_le_bytes())?;
    }
    position += entries * OFFSET_LENGTH;
    let mut mended = Mended::default();
    let mut offsets = Vec::new();
    let (mut stored, mut plain) = (Vec::new(), Vec::new());
    for number in 0..nchunks {
        let is_sound = archive.read_chunk(number, &mut plain).is_ok();
        let place = archive.read_stored(number, &mut stored);
        let is_kept = is_sound || place.is_ok() && needs_plugin(&stored);
        if let (true, Ok(place)) = (is_kept, place) {
            // Its digest is made anew.
            stored.truncate(place.chunk.cbytes as usize);
        } else {
            let nbytes = header.nbytes_of(number);
            let nbytes =
                nbytes.ok_or(Error::Beyond("nothing tells how long the lost chunks were"))?;
            stored = zeros_of_blosc1(nbytes, header.typesize)?;
            mended
                .lost
                .push(format!("chunk {number}: its {nbytes} bytes are zeros now"));
        }
        let digest = header.checksum.digest(&stored);
        writer.write_all(&stored)?;
        writer.write_all(&digest)?;
        offsets.push(position);
        position += (stored.len() + digest.len()) as u64;
    }
    if header.offsets {
        writer.seek(SeekFrom::Start(front.len() as u64))?;
        for offset in offsets {
            writer.write_all(&offset.to_le_bytes())?;
        }
        mended.mended.push("the offsets of the chunks".to_owned());
    }
    writer.flush()?;
    Ok(mended)
}

/// A chunk of zeros of Blosc 1.x.
fn zeros_of_blosc1(nbytes: u32, typesize: u8) -> Result<Vec<u8>> {
    let params = blosc1::Params {
        call: blosc1::Call {
            clevel: 5,
            shuffle: 1,
            typesize: typesize.max(1).into(),
        },
        compressor: Some(crate::codec::id::BLOSCLZ),
        blocksize: 0,
        splitmode: SplitMode::FORWARD_COMPAT,
        nthreads: 1,
    };
    let plain = vec![0; nbytes as usize];
    let mut chunk = vec![0; plain.len() + blosc1::HEADER_LENGTH];
    let compressed = Engine::default().compress(&params, &plain, &mut chunk);
    let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
    chunk.truncate(cbytes);
    Ok(chunk)
}
