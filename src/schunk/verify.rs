//! Reading all of a super-chunk to find what is wrong with it.

use super::chunks;
use super::meta::decompress_content;
use super::state::{Layers, State};
use crate::chunk::{BasicHeader, ChunkHeader, Special};
use crate::frame::checksum::{OF_SPECIAL, Seal, Table, of_metalayer};
use crate::plugin::{self, Plugin};
use crate::{Buffer, Error, Result, trace_error};

/// What was found in a super-chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Chunks there are.
    pub nchunks: i64,
    /// Chunks that were compared with a checksum.
    pub compared: i64,
    /// Chunks without a checksum that were decompressed.
    pub decompressed: i64,
    /// Chunks that can't be read, contradict their checksum, or can't be decompressed: their numbers, and
    /// why. [`Error::Data`] is a checksum's.
    pub bad_chunks: Vec<(i64, Error)>,
    /// Chunks without a checksum that need a plugin which is missing: nothing is known of their data.
    pub unjudged_chunks: Vec<(i64, Plugin)>,
    /// Names of variable-length metalayers that contradict their checksums or can't be decompressed.
    pub bad_vlmetalayers: Vec<Vec<u8>>,
    /// Names of variable-length metalayers that need a plugin which is missing.
    pub unjudged_vlmetalayers: Vec<(Vec<u8>, Plugin)>,
    /// What the fingerprint of the frame says of all that leads to the chunks.
    pub fingerprint: Fingerprint,
}

/// What a fingerprint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprint {
    /// There is none.
    None,
    /// Header, index, checksums and trailer are as they were written.
    Right,
    /// One of them is not.
    Wrong,
}

impl Report {
    /// How many things are wrong.
    pub fn faults(&self) -> usize {
        let around = usize::from(self.fingerprint == Fingerprint::Wrong);
        self.bad_chunks.len() + self.bad_vlmetalayers.len() + around
    }
}

/// Reads all chunks and metalayers. Chunks of which a checksum is known are compared with it, the others are
/// decompressed.
///
/// # Errors
/// Those of reading what leads to the chunks, and of the system; [`Error::MemoryAlloc`]. What is wrong with chunks is no error,
/// but in the report.
pub fn verify<S: State + ?Sized>(s: &mut S) -> Result<Report> {
    let seal = match s.frame_mut() {
        Some(frame) => frame.seal()?,
        None => Seal::Absent,
    };
    let nchunks = s.counters().nchunks;
    let (fingerprint, table) = match seal {
        Seal::Absent => (Fingerprint::None, None),
        Seal::Intact(table) => (Fingerprint::Right, table),
        Seal::Broken(table) => (Fingerprint::Wrong, table),
    };
    let table = table.unwrap_or_default();
    let mut report = Report {
        nchunks,
        compared: 0,
        decompressed: 0,
        bad_chunks: Vec::new(),
        unjudged_chunks: Vec::new(),
        unjudged_vlmetalayers: Vec::new(),
        bad_vlmetalayers: Vec::new(),
        fingerprint,
    };
    let has_sums = usize::try_from(nchunks) == Ok(table.chunks.len());
    let mut data = Buffer::new();
    for nchunk in 0..nchunks {
        let sum = match has_sums {
            true => table.chunks.get(nchunk as usize),
            false => None,
        };
        let looked_at = match sum {
            Some(&sum) if sum != OF_SPECIAL => {
                report.compared += 1;
                chunks::chunk(s, nchunk).map(drop)
            }
            _ => {
                report.decompressed += 1;
                decompress(s, nchunk, &mut data)
            }
        };
        if let Err(error) = looked_at {
            if error.is_of_system() {
                return Err(error);
            }
            if plugin::may_be_missing(&error)
                && let Ok(chunk) = chunks::chunk(s, nchunk)
                && let Some(plugin) = missing_in(&chunk)
            {
                report.unjudged_chunks.try_reserve(1)?;
                report.unjudged_chunks.push((nchunk, plugin));
                continue;
            }
            trace_error!("chunk {nchunk}: {error}");
            report.bad_chunks.try_reserve(1)?;
            report.bad_chunks.push((nchunk, error));
        }
    }
    look_at_vlmetalayers(s, &table, &mut report);
    Ok(report)
}

/// Returns the missing plugin that a chunk needs.
fn missing_in(chunk: &[u8]) -> Option<Plugin> {
    plugin::missing_in(&ChunkHeader::parse(chunk).ok()?)
}

fn decompress<S: State + ?Sized>(s: &S, nchunk: i64, data: &mut Buffer) -> Result<()> {
    let chunk = chunks::chunk(s, nchunk)?;
    let nbytes = BasicHeader::parse(&chunk)?.nbytes;
    // Of a chunk that is all one value the header says everything, and there may be terabytes of it.
    if is_one_value(&ChunkHeader::parse(&chunk)?) {
        return Ok(());
    }
    drop(chunk);
    data.resize(usize::try_from(nbytes).map_err(|_| Error::InvalidHeader)?)?;
    chunks::decompress(s, nchunk, data).map(drop)
}

fn is_one_value(header: &ChunkHeader) -> bool {
    !matches!(header.special, Special::None | Special::Unknown)
}

fn look_at_vlmetalayers<S: State + ?Sized>(s: &S, table: &Table, report: &mut Report) {
    s.with_layers(Layers::Variable, &mut |layers| {
        let has_sums = table.vlmetalayers.len() == layers.len();
        for (number, (name, chunk)) in layers.iter().enumerate() {
            let is_right = match has_sums {
                true => table.vlmetalayers[number] == of_metalayer(name, chunk),
                false => match decompress_content(chunk) {
                    Err(error) if plugin::may_be_missing(&error) => match missing_in(chunk) {
                        Some(plugin) => {
                            let unjudged = &mut report.unjudged_vlmetalayers;
                            unjudged.push((name.to_vec(), plugin));
                            true
                        }
                        None => false,
                    },
                    content => content.is_ok(),
                },
            };
            if !is_right {
                trace_error!("metalayer {}", String::from_utf8_lossy(name));
                report.bad_vlmetalayers.push(name.to_vec());
            }
        }
    });
}
