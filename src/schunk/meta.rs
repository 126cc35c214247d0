//! Metalayers: bytes with names, fixed ones in the header of a frame, those of variable length in its
//! trailer.

use super::describe::{describe_with, follow};
use super::state::{Layers, State};
use crate::chunk::{BasicHeader, CParams, Compressor, DParams, Decompressor, MAX_OVERHEAD};
use crate::frame::{Counters, Frame, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS};
use crate::{Buffer, Error, ErrorKind, Result, trace_error};

/// The number of a metalayer.
///
/// # Errors
/// [`Error::InvalidParam`] for a name that is too long, [`Error::NotFound`].
fn find<S: State + ?Sized>(s: &S, kind: Layers, name: &[u8]) -> Result<usize> {
    if name.len() > MAX_NAME_LEN {
        return Err(Error::InvalidParam);
    }
    let mut found = None;
    s.with_layers(kind, &mut |layers| {
        found = layers.iter().position(|&(other, _)| other == name);
    });
    found.ok_or(Error::NotFound)
}

fn count<S: State + ?Sized>(s: &S, kind: Layers) -> usize {
    let mut count = 0;
    s.with_layers(kind, &mut |layers| count = layers.len());
    count
}

/// A change of the list of metalayers of one kind.
#[derive(Clone, Copy)]
enum Edit<'a> {
    Add(&'a [u8], &'a [u8]),
    Set(usize, &'a [u8]),
    Remove(usize),
}

/// Which part of a frame a change of the metalayers writes.
#[derive(Clone, Copy)]
enum Part {
    Header,
    Empty,
    Trailer,
}

/// Writes the frame, if there is one, as if the metalayers were changed already.
fn write_frame<S: State + ?Sized>(
    s: &mut S,
    kind: Layers,
    edit: Edit<'_>,
    part: Part,
) -> Result<()> {
    if s.frame().is_none() {
        return Ok(());
    }
    let mut described = Err(Error::Failure);
    s.with_layers(Layers::Fixed, &mut |fixed| {
        s.with_layers(Layers::Variable, &mut |variable| {
            let mut layers = match kind {
                Layers::Fixed => fixed.to_vec(),
                Layers::Variable => variable.to_vec(),
            };
            match edit {
                Edit::Add(name, content) => layers.push((name, content)),
                Edit::Set(at, content) => layers[at].1 = content,
                Edit::Remove(at) => {
                    layers.remove(at);
                }
            }
            described = match kind {
                Layers::Fixed => describe_with(s, s.counters(), &layers, variable),
                Layers::Variable => describe_with(s, s.counters(), fixed, &layers),
            };
        });
    });
    let description = described?;
    let frame = s.frame_mut().ok_or(Error::InvalidParam)?;
    match part {
        Part::Header => frame.rewrite_header(&description),
        Part::Empty => frame.rewrite_empty(&description),
        Part::Trailer => {
            let cbytes = frame.rewrite_trailer(description)?;
            let counters = s.counters();
            s.set_counters(Counters { cbytes, ..counters });
            Ok(())
        }
    }
}

/// Adds a fixed metalayer; returns its number.
///
/// # Errors
/// [`Error::InvalidParam`] for a name that is too long or there already, for one more than
/// [`MAX_METALAYERS`], and in a frame that has chunks; those of the frame.
pub fn add<S: State + ?Sized>(s: &mut S, name: &[u8], content: &[u8]) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    match find(s, Layers::Fixed, name) {
        Err(error) if error == Error::NotFound => {}
        _ => return Err(Error::InvalidParam),
    }
    let number = count(s, Layers::Fixed);
    let has_chunks = s.frame().is_some() && s.counters().nchunks > 0;
    if number >= MAX_METALAYERS || has_chunks || i32::try_from(content.len()).is_err() {
        return Err(Error::InvalidParam);
    }
    let kept = Buffer::copy_of(content)?;
    write_frame(s, Layers::Fixed, Edit::Add(name, content), Part::Empty)?;
    s.add_layer(Layers::Fixed, name, kept)?;
    s.tick();
    Ok(number)
}

/// Overwrites the start of a fixed metalayer; returns its number. A content that is too long changes
/// nothing, which isn't an error.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] for a name that is too long; those of the frame.
pub fn update<S: State + ?Sized>(s: &mut S, name: &[u8], content: &[u8]) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    let number = find(s, Layers::Fixed, name)?;
    let mut whole = Vec::new();
    s.with_layers(Layers::Fixed, &mut |layers| {
        whole = layers[number].1.to_vec()
    });
    if content.len() > whole.len() {
        trace_error!(
            "a metalayer keeps its length of {} bytes: {} are too many",
            whole.len(),
            content.len()
        );
        return Ok(number);
    }
    whole[..content.len()].copy_from_slice(content);
    write_frame(s, Layers::Fixed, Edit::Set(number, &whole), Part::Header)?;
    s.edit_layer(number, &whole);
    s.tick();
    Ok(number)
}

/// The number of a variable-length metalayer, after the file had its say.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] for a name that is too long; those of the frame.
pub fn vl_find<S: State + ?Sized>(s: &S, name: &[u8]) -> Result<usize> {
    if name.len() > MAX_NAME_LEN {
        return Err(Error::InvalidParam);
    }
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    follow(s)?;
    find(s, Layers::Variable, name)
}

/// The chunk of a content.
fn compress_content(content: &[u8], params: CParams) -> Result<Buffer> {
    let room = content
        .len()
        .checked_add(MAX_OVERHEAD)
        .filter(|&room| i32::try_from(room).is_ok())
        .ok_or(Error::InvalidParam)?;
    let mut compressor =
        Compressor::new(params).map_err(|error| error.recast(ErrorKind::NullPointer))?;
    let mut chunk = Buffer::zeroed(room)?;
    let len = compressor.compress(content, &mut chunk)?;
    chunk.resize(len)?;
    chunk.shrink();
    Ok(chunk)
}

/// Adds a variable-length metalayer, compressed with these parameters; returns its number.
///
/// # Errors
/// [`Error::InvalidParam`] for a name that is too long or there already, for a content that is too long,
/// and for one more than [`MAX_VLMETALAYERS`]; [`Error::Failure`] for one more than [`MAX_METALAYERS`] in a
/// frame; those of compression and of the frame.
pub fn vl_add<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
    params: CParams,
) -> Result<usize> {
    vl_add_made(s, name, || compress_content(content, params))
}

/// Adds a variable-length metalayer by the chunk of its content, which need not be readable here.
///
/// # Errors
/// Those of [`vl_add`].
pub(super) fn vl_add_chunk<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    chunk: &[u8],
) -> Result<usize> {
    vl_add_made(s, name, || Buffer::copy_of(chunk))
}

fn vl_add_made<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    chunk: impl FnOnce() -> Result<Buffer>,
) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    match find(s, Layers::Variable, name) {
        Err(error) if error == Error::NotFound => {}
        _ => return Err(Error::InvalidParam),
    }
    let number = count(s, Layers::Variable);
    if number >= MAX_VLMETALAYERS {
        return Err(Error::InvalidParam);
    }
    // The reference reads a frame with more, but its next append destroys it.
    if s.frame().is_some() && number >= MAX_METALAYERS {
        return Err(Error::Failure);
    }
    let chunk = chunk()?;
    write_frame(s, Layers::Variable, Edit::Add(name, &chunk), Part::Trailer)?;
    s.add_layer(Layers::Variable, name, chunk)?;
    s.tick();
    Ok(number)
}

/// Gives a variable-length metalayer another content; returns its number.
///
/// # Errors
/// [`Error::NotFound`]; else as [`vl_add`].
pub fn vl_update<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
    params: CParams,
) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    let number = find(s, Layers::Variable, name)?;
    let chunk = compress_content(content, params)?;
    write_frame(
        s,
        Layers::Variable,
        Edit::Set(number, &chunk),
        Part::Trailer,
    )?;
    s.set_layer(number, chunk);
    s.tick();
    Ok(number)
}

/// Removes a variable-length metalayer; returns how many are left.
///
/// # Errors
/// [`Error::NotFound`]; those of the frame.
pub fn vl_delete<S: State + ?Sized>(s: &mut S, name: &[u8]) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    follow(s)?;
    let number = find(s, Layers::Variable, name)?;
    write_frame(s, Layers::Variable, Edit::Remove(number), Part::Trailer)?;
    s.remove_layer(number);
    s.tick();
    Ok(count(s, Layers::Variable))
}

/// The content of a variable-length metalayer, and its number.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] for a name that is too long; [`Error::Data`] when what is
/// stored is no chunk of its length; [`Error::ReadBuffer`] when it can't be decompressed;
/// [`Error::MemoryAlloc`]; those of the frame.
pub fn vl_get<S: State + ?Sized>(s: &S, name: &[u8]) -> Result<(usize, Buffer)> {
    let number = vl_find(s, name)?;
    // A codec of the program may ask for metalayers too.
    let mut chunk = Err(Error::Failure);
    s.with_layers(Layers::Variable, &mut |layers| {
        chunk = layers
            .get(number)
            .ok_or(Error::NotFound)
            .and_then(|&(_, chunk)| Buffer::copy_of(chunk));
    });
    Ok((number, decompress_content(&chunk?)?))
}

/// The content in a chunk. No callback of the super-chunk takes part.
pub(super) fn decompress_content(chunk: &[u8]) -> Result<Buffer> {
    let header = BasicHeader::parse(chunk).map_err(|error| error.recast(ErrorKind::Data))?;
    let nbytes = usize::try_from(header.nbytes).map_err(|_| Error::Data)?;
    if usize::try_from(header.cbytes) != Ok(chunk.len()) {
        return Err(Error::Data);
    }
    let mut content = Buffer::zeroed(nbytes)?;
    match Decompressor::new(DParams::default()).decompress(chunk, &mut content) {
        Ok(size) if size == nbytes => Ok(content),
        Err(error) if crate::plugin::may_be_missing(&error) => Err(error),
        _ => Err(Error::ReadBuffer),
    }
}
