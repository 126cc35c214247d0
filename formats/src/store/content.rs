//! The stored bytes of leaves and other files, to be copied without decoding them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::chunk::DParams;
use ferroblosc::frame::FIXED_HEADER_LEN;
use ferroblosc::io::{FileSystem, Identity, journal, open_regular, stream_of_borrowed};
use ferroblosc::os::files;
use ferroblosc::schunk::{SChunk, Storage, serialize};

use super::class::Class;
use super::container::{Container, FileId};
use super::embed::{self, Entry};
use super::error::{Error, Result};
use super::frame;
use super::leaf::Leaf;
use super::open::{Source, Store};
use super::zip::Archive;

/// The size of the buffer to copy files, in bytes.
const BUFFER_SIZE: usize = 1 << 20;

/// The bytes of a frame or of another file.
#[derive(Clone, Debug)]
pub enum Content {
    /// Bytes in memory.
    Bytes(Arc<Vec<u8>>),
    /// A range of an open file.
    Range { file: Arc<File>, path: PathBuf, offset: u64, len: u64 },
    /// The first bytes of a file, and its state when they were examined.
    Path { path: PathBuf, len: u64, state: FileState },
    /// The first bytes of a compressed member of a zip file, which are inflated whenever they are
    /// read. It has at most `limit` bytes.
    Member { archive: Arc<Archive>, number: usize, len: u64, limit: u64 },
}

/// The identity, the size and the time of the last change of a file; `None` if they are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState(Option<(Identity, u64, i128)>);

impl FileState {
    fn of(file: &File, path: &Path) -> FileState {
        let found = stream_of_borrowed(file, path).attributes();
        FileState(found.map(|found| (found.identity, found.size, found.modified)))
    }

    /// Checks that this is the state of a file.
    ///
    /// # Errors
    /// [`Error::Storage`]
    fn check(&self, file: &File, path: &Path) -> Result<()> {
        if FileState::of(file, path) == *self {
            return Ok(());
        }
        let changed = ferroblosc::Error::FileRead.because("the file was changed in the meantime");
        Err(Error::file(path)(changed))
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        Content::Bytes(Arc::new(bytes))
    }
}

impl Content {
    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Range { len, .. }
            | Content::Path { len, .. }
            | Content::Member { len, .. } => *len,
        }
    }

    /// Calls `each` with consecutive parts of the bytes.
    ///
    /// # Errors
    /// [`Error::Storage`]; the errors of `each`.
    pub fn visit(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let opened;
        let mut expected = None;
        let (file, path, offset, len) = match self {
            Content::Bytes(bytes) => return each(bytes),
            Content::Range { file, path, offset, len } => (&**file, path, *offset, *len),
            Content::Path { path, len, state } => {
                opened = open_regular(path).map_err(Error::storage(path))?;
                state.check(&opened, path)?;
                expected = Some(state);
                (&opened, path, 0, *len)
            }
            Content::Member { archive, number, len, .. } => {
                let mut left = *len;
                return archive.for_each_piece(&archive.members()[*number], |piece| {
                    let size = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                    left -= size as u64;
                    if size == 0 { Ok(()) } else { each(&piece[..size]) }
                });
            }
        };
        let size = usize::try_from(len).unwrap_or(usize::MAX).min(BUFFER_SIZE);
        let mut buffer = vec![0; size];
        let mut at = 0;
        while at < len {
            let rest = usize::try_from(len - at).unwrap_or(usize::MAX).min(BUFFER_SIZE);
            let bytes = &mut buffer[..rest];
            files::read_exact_at(file, offset + at, bytes).map_err(Error::storage(path))?;
            each(bytes)?;
            at += rest as u64;
        }
        expected.map_or(Ok(()), |state| state.check(file, path))
    }

    /// Returns all bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] for more than `limit` bytes; [`Error::Storage`]; [`Error::Memory`].
    pub fn read(&self, key: &str, limit: u64) -> Result<Vec<u8>> {
        let len = self.len();
        if len > limit {
            return Err(Error::Limit { what: format!("{key}: {len} bytes"), limit });
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(len).map_err(|_| Error::Memory)?)?;
        self.visit(&mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Opens the frame.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Damaged`] if it is not a contiguous frame; [`Error::Frame`].
    pub fn open(&self, key: &str) -> Result<Leaf> {
        let opened = match self {
            Content::Bytes(bytes) => frame::open_bytes(key, bytes)?,
            Content::Range { file, path, offset, len } => {
                frame::open_held(key, (Arc::clone(file), path), *offset, *len)?
            }
            Content::Path { path, len, .. } => frame::open_at(key, path, 0, *len)?,
            Content::Member { limit, .. } => frame::open_bytes(key, &self.read(key, *limit)?)?,
        };
        Ok(Leaf::new(key, opened))
    }

    /// Returns the frame in a regular file, and nothing that follows it.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Damaged`] if it is not a contiguous frame; [`Error::Frame`].
    pub fn of_file(key: &str, path: &Path) -> Result<Content> {
        let file = open_regular(path).map_err(Error::storage(path))?;
        let journal = journal::path_of(&FileSystem, path, journal::FRAME_SUFFIX);
        if journal.symlink_metadata().is_ok() {
            // The bytes in the file can be those of an interrupted change.
            let opened = SChunk::open(Storage::file(path), DParams::default());
            return of_schunk(key, &opened.map_err(Error::frame(key))?);
        }
        let state = FileState::of(&file, path);
        let available = file.metadata().map_err(Error::storage(path))?.len();
        let len = frame_len(key, &file, path, 0, available)?;
        Ok(Content::Path { path: path.to_owned(), len, state })
    }
}

/// Returns a super-chunk as a contiguous frame.
///
/// # Errors
/// [`Error::Frame`]; [`Error::Memory`].
pub fn of_schunk(key: &str, schunk: &SChunk) -> Result<Content> {
    let bytes = serialize(schunk.state()).map_err(Error::frame(key))?;
    Ok(bytes.to_vec().into())
}

fn frame_len(key: &str, file: &File, path: &Path, offset: u64, available: u64) -> Result<u64> {
    let mut start = [0; FIXED_HEADER_LEN];
    let readable = usize::try_from(available).unwrap_or(usize::MAX).min(FIXED_HEADER_LEN);
    files::read_exact_at(file, offset, &mut start[..readable]).map_err(Error::storage(path))?;
    frame::len(key, &start[..readable], available)
}

impl Store {
    /// Returns the frame of a leaf. If `is_strict`, the CRC-32 of a member is compared.
    ///
    /// # Errors
    /// The errors of [`Store::leaf`]; [`Error::NotData`] for references.
    pub(super) fn content(&self, key: &str, is_strict: bool) -> Result<Content> {
        let not_data = |class: Class| Error::NotData { key: key.to_owned(), class: class.name() };
        match self.leaves.get(key) {
            None => Err(Error::NoSuchKey(key.to_owned())),
            Some(_) if self.is_cache => Err(not_data(Class::RemoteStore)),
            Some(Source::File(file)) => self.file_content(key, file, is_strict),
            Some(Source::Embedded(Entry::Frame { offset, length })) => {
                let schunk = self.embed.as_ref().ok_or_else(|| Error::NoSuchKey(key.to_owned()))?;
                let limit = self.options.max_frame;
                Ok(embed::read(key, schunk, *offset, *length, limit)?.into())
            }
            Some(Source::Embedded(Entry::Reference(_))) => Err(not_data(Class::Reference)),
            Some(Source::Embedded(Entry::Damaged(why))) => Err(Error::damaged(key, why.clone())),
        }
    }

    /// Returns the frame in a file of the container.
    ///
    /// # Errors
    /// The errors of [`Store::leaf`].
    pub(super) fn file_content(&self, key: &str, id: &FileId, is_strict: bool) -> Result<Content> {
        match (&self.container, id) {
            (Container::Zip(_), FileId::Member(_)) => match self.whole_file(id, is_strict)? {
                Content::Range { file, path, offset, len } => {
                    let len = frame_len(key, &file, &path, offset, len)?;
                    Ok(Content::Range { file, path, offset, len })
                }
                Content::Member { archive, number, len, limit } => {
                    let start = archive.prefix(&archive.members()[number], FIXED_HEADER_LEN)?;
                    let len = frame::len(key, &start, len)?;
                    Ok(Content::Member { archive, number, len, limit })
                }
                other => Ok(other),
            },
            (Container::Memory(bytes), FileId::Only) => {
                let len = frame::len(key, bytes, bytes.len() as u64)?;
                Ok(bytes[..usize::try_from(len).map_err(|_| Error::Memory)?].to_vec().into())
            }
            (Container::Frame(path), FileId::Only) if path.is_dir() => {
                of_schunk(key, self.leaf(key)?.schunk())
            }
            (Container::Frame(path), FileId::Only) | (_, FileId::Path(path)) => {
                Content::of_file(key, path)
            }
            _ => Err(Error::NoSuchKey(key.to_owned())),
        }
    }

    /// Compares the CRC-32 of `embed.b2e` in a zip file. Embedded leaves have none of their own.
    ///
    /// # Errors
    /// [`Error::Member`]; [`Error::Storage`].
    pub(super) fn check_embed(&self) -> Result<()> {
        match (&self.container, &self.embed_file) {
            (Container::Zip(archive), Some(FileId::Member(number))) => {
                archive.check_content(&archive.members()[*number])
            }
            _ => Ok(()),
        }
    }

    /// Returns the whole content of a file of the container. Compressed members are not kept in
    /// memory, as there can be many.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Member`], [`Error::Limit`], [`Error::Memory`].
    pub(super) fn whole_file(&self, id: &FileId, is_strict: bool) -> Result<Content> {
        match (&self.container, id) {
            (Container::Zip(archive), FileId::Member(number)) => {
                let member = &archive.members()[*number];
                if !member.is_stored() {
                    let limit = self.options.max_frame;
                    member.check_size(limit)?;
                    archive.check_content(member)?;
                    let (archive, number, len) = (Arc::clone(archive), *number, member.size);
                    return Ok(Content::Member { archive, number, len, limit });
                }
                if is_strict {
                    archive.check_content(member)?;
                }
                Ok(Content::Range {
                    file: archive.file(),
                    path: archive.path().to_owned(),
                    offset: archive.data_offset(member)?,
                    len: member.size,
                })
            }
            (_, FileId::Path(path)) => {
                let file = open_regular(path).map_err(Error::storage(path))?;
                let state = FileState::of(&file, path);
                let len = file.metadata().map_err(Error::storage(path))?.len();
                Ok(Content::Path { path: path.clone(), len, state })
            }
            _ => Err(Error::NotAStore(self.path.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Options;

    #[test]
    fn compressed_members_are_not_kept_in_memory() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("tests/data/stores/x_deflated.b2z");
        let store = Store::open(&path).unwrap();
        let mut count = 0;
        for key in store.leaf_keys() {
            let content = store.content(key, true).unwrap();
            let Content::Member { len, .. } = &content else { continue };
            let bytes = content.read(key, *len).unwrap();
            assert_eq!(bytes, store.frame(key).unwrap());
            // The first bytes only, and an opened leaf.
            let Content::Member { archive, number, limit, .. } = content.clone() else { panic!() };
            let start = Content::Member { archive, number, len: 9, limit };
            assert_eq!(start.read(key, 9).unwrap(), bytes[..9]);
            assert_eq!(content.open(key).unwrap().class(), store.leaf(key).unwrap().class());
            count += 1;
        }
        assert!(count > 0);
        // Larger ones than the limit are refused before they are inflated.
        let options = Options { max_frame: 100, ..Options::default() };
        let store = Store::open_with(&path, &options).unwrap();
        let refused = store.leaf_keys().map(|key| store.content(key, true));
        let refused = refused.filter(|content| matches!(content, Err(Error::Limit { .. })));
        assert_eq!(refused.count(), count);
    }
}
