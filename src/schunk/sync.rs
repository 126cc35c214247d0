//! Synchronisation with other writers, and serialisation.

use super::copy;
use super::describe::{describe, refresh_from_file};
use super::schunk_state::{SChunkState, THREADS_OF_COPIES};
use super::state::{Layers, State};
use crate::frame::{Counters, Description, Frame, Loaded, Metalayer};
use crate::{Buffer, Error, ErrorKind, Result};

/// Loads changes made to the file by other handles or processes; returns whether there were any.
/// Without locks, a file that is being written is left for a later call.
///
/// # Errors
/// [`Error::Lock`]; with locks also those of reading.
pub fn refresh<S: State + ?Sized>(s: &S) -> Result<bool> {
    let held = s.frame().map(Frame::lock_shared).transpose()?.flatten();
    match refresh_from_file(s) {
        Ok(is_new) => Ok(is_new),
        Err(error) if held.is_some() => Err(error),
        Err(_) => Ok(false),
    }
}

/// Like [`refresh`], but also compares the index and the metalayers, which can change without a
/// change of the header.
///
/// # Errors
/// Returns the same errors as [`refresh`].
pub fn refresh_all<S: State + ?Sized>(s: &S) -> Result<bool> {
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    if let Some(frame) = s.frame() {
        // A read error here recurs in the next call, which reports it.
        let _ = frame.compare_all(|loaded| has_metalayers(s, loaded));
    }
    refresh(s)
}

/// Whether the metalayers of a super-chunk equal those that were read from its file.
fn has_metalayers<S: State + ?Sized>(s: &S, loaded: &Loaded) -> bool {
    let has = |kind, wanted: &[Metalayer]| {
        let mut is_same = false;
        s.with_layers(kind, &mut |layers| {
            let wanted = wanted.iter().map(|layer| (&*layer.name, &*layer.content));
            is_same = layers.iter().copied().eq(wanted);
        });
        is_same
    };
    has(Layers::Fixed, &loaded.metalayers) && has(Layers::Variable, &loaded.vlmetalayers)
}

/// Returns the super-chunk as a contiguous frame.
///
/// # Errors
/// [`Error::SchunkCopy`] if the frame cannot be built.
pub fn serialize<S: State + ?Sized>(s: &S) -> Result<Buffer> {
    let result = (|| {
        let mut target = SChunkState::for_copy_of(s)?;
        copy::copy(s, &mut target, true)?;
        let mut frame = target.into_frame().ok_or(Error::Failure)?;
        let memory = frame.memory()?.ok_or(Error::Failure)?;
        Ok(std::mem::take(memory.to_mut()?))
    })();
    result.map_err(|error: Error| error.recast(ErrorKind::SchunkCopy))
}

/// Like [`serialize`] for a super-chunk that is a frame in memory, whose bytes are not copied.
///
/// # Errors
/// [`Error::InvalidParam`] for other super-chunks; [`Error::MemoryAlloc`].
pub(super) fn into_bytes(s: SChunkState) -> Result<Buffer> {
    let counters = Counters { blocksize: s.used().1, ..s.counters() };
    let description = Description { threads: THREADS_OF_COPIES, ..describe(&s, counters)? };
    let mut frame = s.into_frame().ok_or(Error::InvalidParam)?;
    frame.rewrite_header(&description)?;
    let memory = frame.memory()?.ok_or(Error::InvalidParam)?;
    Ok(std::mem::take(memory.to_mut()?))
}

#[cfg(test)]
mod tests {
    use super::serialize;
    use crate::Error;
    use crate::chunk::{CParams, DParams};
    use crate::schunk::{SChunk, Storage};
    use std::path::Path;

    fn create(path: &Path, typesize: i32, value: u8) -> SChunk {
        let params = CParams::default().typesize(typesize);
        let mut schunk = SChunk::create(Storage::file(path), params, DParams::default()).unwrap();
        schunk.append(&[value; 4000]).unwrap();
        schunk.append(&[value; 400]).unwrap();
        schunk
    }

    #[test]
    fn the_bytes_of_a_frame_are_those_of_a_serialized_super_chunk() {
        let data: Vec<u8> = (0..5_000u32).flat_map(u32::to_le_bytes).collect();
        let filled = |storage: Storage, chunks: &[&[u8]]| {
            let params = CParams::default().typesize(4);
            let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
            schunk.add_metalayer("fixed", b"content").unwrap();
            for chunk in chunks {
                schunk.append(chunk).unwrap();
            }
            schunk
        };
        let (all, zeros) = (&data[..], &[0; 4000][..]);
        for chunks in [&[][..], &[all], &[zeros], &[all, all, &all[..4000]]] {
            let expected = serialize(filled(Storage::memory(), chunks).state()).unwrap();
            let bytes = filled(Storage::frame(), chunks).into_buffer().unwrap();
            assert_eq!(bytes[..], expected[..]);
        }
        let separate =
            SChunk::create(Storage::memory(), CParams::default(), DParams::default()).unwrap();
        assert_eq!(separate.into_buffer().map(drop), Err(Error::InvalidParam));
    }

    #[test]
    fn a_file_with_another_item_size_is_not_changed_by_a_handle_of_the_file_it_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        for refreshes in [false, true] {
            let mut schunk = create(&path, 4, 1);
            create(&other, 8, 2).close().unwrap();
            let theirs = std::fs::read(&other).unwrap();
            std::fs::rename(&other, &path).unwrap();
            if refreshes {
                assert_eq!(schunk.refresh(), Ok(false));
            }
            for _ in 0..2 {
                let error = schunk.append(&[1; 400]).unwrap_err();
                assert_eq!(
                    (error.kind(), error.origin()),
                    (Error::ChunkAppend.kind(), Error::Data.kind(),)
                );
                assert_eq!(schunk.set_slice(0, 1, &[9; 4]), Err(Error::Failure));
                assert_eq!(schunk.add_vlmetalayer("name", b""), Err(Error::Data));
            }
            let error = schunk.decompress_to_vec(0).unwrap_err().to_string();
            assert!(error.contains("items of 8 bytes instead of 4"), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), theirs);
            // The handle is usable again with a file of its item size.
            create(&other, 4, 3).close().unwrap();
            std::fs::rename(&other, &path).unwrap();
            assert_eq!(schunk.decompress_to_vec(0).unwrap(), [3; 4000]);
            schunk.set_slice(0, 1, &[9; 4]).unwrap();
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn an_overridden_item_size_is_kept_if_the_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        let mut schunk = create(&path, 1, 1);
        schunk.set_typesize(8).unwrap();
        create(&other, 8, 2).close().unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(schunk.decompress_to_vec(0).unwrap(), [2; 4000]);
        create(&other, 1, 3).close().unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(schunk.decompress_to_vec(0), Err(Error::Data));
    }
}
