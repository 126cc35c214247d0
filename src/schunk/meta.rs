//! Metalayers: named byte strings. Fixed ones are in the header of a frame, variable-length ones in
//! its trailer.

use super::describe::{describe_with, refresh_from_file};
use super::state::{Layers, State};
use crate::chunk::{BasicHeader, CParams, Compressor, DParams, Decompressor, MAX_OVERHEAD};
use crate::escape::escape;
use crate::frame::{Counters, Frame, MAX_METALAYERS, MAX_NAME_LEN, MAX_VLMETALAYERS};
use crate::{Buffer, Error, ErrorKind, Result, trace_error};
use std::borrow::Cow;

/// Returns the index of a metalayer.
///
/// # Errors
/// [`Error::InvalidParam`] if the name is too long, [`Error::NotFound`].
fn find<S: State + ?Sized>(s: &S, kind: Layers, name: &[u8]) -> Result<usize> {
    check_name(name)?;
    s.find_layer(kind, name).ok_or(Error::NotFound)
}

fn check_name(name: &[u8]) -> Result<()> {
    match name.len() {
        ..=MAX_NAME_LEN => Ok(()),
        len => Err(refuse(format!(
            "the name of the metalayer has {len} bytes, and at most {MAX_NAME_LEN} are possible"
        ))),
    }
}

#[cold]
fn refuse(text: impl Into<Cow<'static, str>>) -> Error {
    Error::InvalidParam.because(text)
}

/// Checks that no metalayer of this kind has this name yet.
fn check_new<S: State + ?Sized>(s: &S, kind: Layers, name: &[u8]) -> Result<()> {
    match find(s, kind, name) {
        Err(error) if error == Error::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(_) => {
            let name = String::from_utf8_lossy(name);
            Err(refuse(format!("there is a metalayer {} already", escape(&name))))
        }
    }
}

/// Checks that another metalayer of this kind fits, at most `most`.
fn check_count(kind: &str, number: usize, most: usize) -> Result<()> {
    if number < most {
        return Ok(());
    }
    Err(refuse(format!("there are {number} {kind} already, and at most {most} are possible")))
}

/// A change to the list of metalayers of one kind.
#[derive(Clone, Copy)]
enum Edit<'a> {
    Add(&'a [u8], &'a [u8]),
    Set(usize, &'a [u8]),
    Remove(usize),
}

/// The section of a frame that a change of metalayers rewrites.
#[derive(Clone, Copy)]
enum Section {
    Header,
    Empty,
    Trailer,
}

/// Writes the changed metalayers to the frame, if there is one, before they change in memory.
fn write_frame<S: State + ?Sized>(
    s: &mut S,
    kind: Layers,
    edit: Edit<'_>,
    section: Section,
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
    match section {
        Section::Header => frame.rewrite_header(&description),
        Section::Empty => frame.rewrite_empty(&description),
        Section::Trailer => {
            let cbytes = frame.rewrite_trailer(description)?;
            let counters = s.counters();
            s.set_counters(Counters { cbytes, ..counters });
            Ok(())
        }
    }
}

/// Adds a fixed metalayer; returns its index.
///
/// # Errors
/// [`Error::InvalidParam`] if the name is too long or exists already, if there are
/// [`MAX_METALAYERS`] already, and in a frame that has chunks; the errors of the frame.
pub fn add<S: State + ?Sized>(s: &mut S, name: &[u8], content: &[u8]) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    check_new(s, Layers::Fixed, name)?;
    let number = s.layer_count(Layers::Fixed);
    check_count("metalayers", number, MAX_METALAYERS)?;
    if s.frame().is_some() && s.counters().nchunks > 0 {
        return Err(refuse("a frame with chunks accepts no further fixed metalayers"));
    }
    if i32::try_from(content.len()).is_err() {
        return Err(refuse(format!("{} bytes are too long for a metalayer", content.len())));
    }
    let kept = Buffer::copy_of(content)?;
    write_frame(s, Layers::Fixed, Edit::Add(name, content), Section::Empty)?;
    s.add_layer(Layers::Fixed, name, kept)?;
    s.bump_version();
    Ok(number)
}

/// Overwrites the start of a fixed metalayer; returns its index. Content longer than the metalayer
/// changes nothing and is not an error, as in C-Blosc2.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] if the name is too long; the errors of the frame.
pub fn update<S: State + ?Sized>(s: &mut S, name: &[u8], content: &[u8]) -> Result<usize> {
    let (number, refused) = update_start(s, name, content)?;
    if let Some(error) = refused {
        trace_error!("{error}");
    }
    Ok(number)
}

/// Overwrites the start of a fixed metalayer.
///
/// # Errors
/// [`Error::InvalidParam`] if the content is longer than the metalayer; the errors of [`update`].
pub(super) fn update_within<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
) -> Result<()> {
    match update_start(s, name, content)? {
        (_, Some(error)) => Err(error),
        (_, None) => Ok(()),
    }
}

/// Overwrites the start of a fixed metalayer; returns its index, and an error if the content is
/// longer.
fn update_start<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
) -> Result<(usize, Option<Error>)> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    let number = find(s, Layers::Fixed, name)?;
    let mut whole = Ok(Buffer::new());
    s.with_layers(Layers::Fixed, &mut |layers| whole = Buffer::copy_of(layers[number].1));
    let mut whole = whole?;
    if content.len() > whole.len() {
        let error = refuse(format!(
            "{} bytes exceed the fixed length of the metalayer, {} bytes",
            content.len(),
            whole.len()
        ));
        return Ok((number, Some(error)));
    }
    whole[..content.len()].copy_from_slice(content);
    write_frame(s, Layers::Fixed, Edit::Set(number, &whole), Section::Header)?;
    s.edit_layer(number, &whole);
    s.bump_version();
    Ok((number, None))
}

/// Refreshes the super-chunk from its file and returns the index of a variable-length metalayer.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] if the name is too long; the errors of the frame.
pub fn vl_find<S: State + ?Sized>(s: &S, name: &[u8]) -> Result<usize> {
    check_name(name)?;
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    refresh_from_file(s)?;
    find(s, Layers::Variable, name)
}

/// Compresses the content of a metalayer into a chunk.
fn compress_content(content: &[u8], params: CParams) -> Result<Buffer> {
    let capacity = content
        .len()
        .checked_add(MAX_OVERHEAD)
        .filter(|&capacity| i32::try_from(capacity).is_ok())
        .ok_or_else(|| refuse("the content of the metalayer is too long for a chunk"))?;
    let mut compressor =
        Compressor::new(params).map_err(|error| error.recast(ErrorKind::NullPointer))?;
    let mut chunk = Buffer::zeroed(capacity)?;
    let len = compressor.compress(content, &mut chunk)?;
    chunk.resize(len)?;
    chunk.shrink();
    Ok(chunk)
}

/// Adds a variable-length metalayer, compressed with the given parameters; returns its index.
///
/// # Errors
/// [`Error::InvalidParam`] if the name is too long or exists already, if the content is too long,
/// and if there are [`MAX_VLMETALAYERS`] already; [`Error::Failure`] in a frame if there are
/// [`MAX_METALAYERS`] already; the errors of compression and of the frame.
pub fn vl_add<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
    params: CParams,
) -> Result<usize> {
    vl_add_made(s, name, || compress_content(content, params))
}

/// Adds a variable-length metalayer from a compressed chunk, which is not decompressed.
///
/// # Errors
/// Returns the errors of [`vl_add`].
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
    refresh_from_file(s)?;
    check_new(s, Layers::Variable, name)?;
    let number = s.layer_count(Layers::Variable);
    let checked = |most| check_count("variable-length metalayers", number, most);
    checked(MAX_VLMETALAYERS)?;
    // C-Blosc2 can read a frame with more, but its next append destroys the frame.
    if s.frame().is_some() {
        checked(MAX_METALAYERS).map_err(|error| error.recast(ErrorKind::Failure))?;
    }
    let chunk = chunk()?;
    write_frame(s, Layers::Variable, Edit::Add(name, &chunk), Section::Trailer)?;
    s.add_layer(Layers::Variable, name, chunk)?;
    s.bump_version();
    Ok(number)
}

/// Replaces the content of a variable-length metalayer; returns its index.
///
/// # Errors
/// [`Error::NotFound`]; otherwise as [`vl_add`].
pub fn vl_update<S: State + ?Sized>(
    s: &mut S,
    name: &[u8],
    content: &[u8],
    params: CParams,
) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    let number = find(s, Layers::Variable, name)?;
    let chunk = compress_content(content, params)?;
    write_frame(s, Layers::Variable, Edit::Set(number, &chunk), Section::Trailer)?;
    s.set_layer(number, chunk);
    s.bump_version();
    Ok(number)
}

/// Removes a variable-length metalayer; returns the number of those left.
///
/// # Errors
/// [`Error::NotFound`]; the errors of the frame.
pub fn vl_delete<S: State + ?Sized>(s: &mut S, name: &[u8]) -> Result<usize> {
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    refresh_from_file(s)?;
    let number = find(s, Layers::Variable, name)?;
    write_frame(s, Layers::Variable, Edit::Remove(number), Section::Trailer)?;
    s.remove_layer(number);
    s.bump_version();
    Ok(s.layer_count(Layers::Variable))
}

/// Returns the index and the content of a variable-length metalayer.
///
/// # Errors
/// [`Error::NotFound`], [`Error::InvalidParam`] if the name is too long; [`Error::Data`] if the
/// stored bytes are not one chunk of the recorded length; [`Error::ReadBuffer`] if the chunk cannot
/// be decompressed; [`Error::MemoryAlloc`]; the errors of the frame.
pub fn vl_get<S: State + ?Sized>(s: &S, name: &[u8]) -> Result<(usize, Buffer)> {
    vl_get_within(s, name, usize::MAX)
}

/// Like [`vl_get`], for content of at most `most` bytes.
///
/// # Errors
/// Returns the same errors as [`vl_get`]; [`Error::Data`] for longer content, which is not
/// decompressed.
pub(super) fn vl_get_within<S: State + ?Sized>(
    s: &S,
    name: &[u8],
    most: usize,
) -> Result<(usize, Buffer)> {
    let number = vl_find(s, name)?;
    // Copies the chunk first: a user-defined codec may access the metalayers during decompression.
    let mut chunk = Err(Error::Failure);
    s.with_layers(Layers::Variable, &mut |layers| {
        chunk = layers
            .get(number)
            .ok_or(Error::NotFound)
            .and_then(|&(_, chunk)| Buffer::copy_of(chunk));
    });
    let chunk = chunk?;
    let nbytes = BasicHeader::parse(&chunk).map_or(0, |header| header.nbytes);
    if usize::try_from(nbytes).is_ok_and(|nbytes| nbytes > most) {
        return Err(Error::Data.because(format!(
            "the content of the metalayer has {nbytes} bytes, and at most {most} are read"
        )));
    }
    Ok((number, decompress_content(&chunk)?))
}

/// Decompresses the content of a metalayer, without the super-chunk's callbacks.
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

#[cfg(test)]
mod tests {
    use crate::chunk::{CParams, DParams};
    use crate::schunk::{SChunk, Storage};
    use crate::{Error, Result};

    fn create(storage: Storage) -> SChunk {
        SChunk::create(storage, CParams::default(), DParams::default()).unwrap()
    }

    fn text<T: std::fmt::Debug>(result: Result<T>, kind: Error) -> String {
        let error = result.unwrap_err();
        assert_eq!(error, kind);
        error.to_string()
    }

    #[test]
    fn a_content_that_is_too_long_is_an_error_and_changes_nothing() {
        let mut schunk = create(Storage::frame());
        schunk.add_metalayer("version", &[1, 2, 3, 4]).unwrap();
        let error = text(schunk.update_metalayer("version", &[9; 5]), Error::InvalidParam);
        assert_eq!(error, "5 bytes exceed the fixed length of the metalayer, 4 bytes");
        assert_eq!(schunk.metalayer("version").unwrap(), [1, 2, 3, 4]);
        // The function that C programs use returns the number of the metalayer.
        assert_eq!(super::update(schunk.state_mut(), b"version", &[9; 5]), Ok(0));
        assert_eq!(schunk.metalayer("version").unwrap(), [1, 2, 3, 4]);
        schunk.update_metalayer("version", &[9, 8]).unwrap();
        assert_eq!(schunk.metalayer("version").unwrap(), [9, 8, 3, 4]);
    }

    #[test]
    fn errors_name_the_metalayer_and_the_cause() {
        let mut schunk = create(Storage::frame());
        schunk.add_metalayer("a", b"1").unwrap();
        schunk.add_vlmetalayer("b", b"2").unwrap();
        assert_eq!(
            (schunk.metalayer_names(), schunk.vlmetalayer_names()),
            (vec!["a".to_owned()], vec!["b".to_owned()])
        );
        for result in [schunk.add_metalayer("a", b""), schunk.add_vlmetalayer("b", b"")] {
            let error = text(result, Error::InvalidParam);
            assert!(error.starts_with("there is a metalayer "), "{error}");
        }
        for result in [
            schunk.update_metalayer("none", b""),
            schunk.update_vlmetalayer("none", b""),
            schunk.delete_vlmetalayer("none"),
            schunk.vlmetalayer("none").map(drop),
        ] {
            assert_eq!(text(result, Error::NotFound), "there is no metalayer none");
        }
        let long = "n".repeat(32);
        let error = text(schunk.add_metalayer(&long, b""), Error::InvalidParam);
        assert_eq!(error, "the name of the metalayer has 32 bytes, and at most 31 are possible");
        schunk.append(&[0; 100]).unwrap();
        let error = text(schunk.add_metalayer("late", b""), Error::InvalidParam);
        assert_eq!(error, "a frame with chunks accepts no further fixed metalayers");
    }

    #[test]
    fn errors_of_files_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("named.b2frame");
        let schunk = create(Storage::file(&path));
        let error = schunk.vlmetalayer("none").unwrap_err();
        assert_eq!(error.path(), Some(path.as_path()));
        let error = error.to_string();
        assert!(error.ends_with("named.b2frame: there is no metalayer none"), "{error}");
    }
}
