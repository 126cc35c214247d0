//! Commits: writing the state of a writer to its container.
//!
//! | container | steps |
//! |---|---|
//! | zip file, frame | a new file is written beside the old one and renamed over it |
//! | new directory | it is created under a temporary name and renamed |
//! | directory | each new leaf is written beside the directory and renamed into it; then `embed.b2e`; then old files are removed |
//!
//! Everything that can be checked is checked before the first step.

use std::collections::{HashMap, HashSet};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ferroblosc::chunk::DParams;
use ferroblosc::io::{FileKind, FileOps, FileSystem, Stream, WriteGranularity};
use ferroblosc::os::files;
use ferroblosc::schunk::{SChunk, Storage, meta};

use super::attrs::{self, MAP};
use super::container::{Container, FileId};
use super::content::Content;
use super::embed::ENTRIES;
use super::error::{Error, Result};
use super::keys::{self, EMBED_FILE};
use super::open::{ContainerKind, Root, Source, StoreKind};
use super::staging::{Target, kind_text};
use super::value::Value;
use super::writer::{self, Held, StoreWriter};
use super::zip::{Header, ZipWriter};

/// The size of the chunks of an embed store, in bytes: that of python-blosc2, and a larger one for
/// more data than `LARGE_SIZE`.
const CHUNK_SIZE: usize = 1 << 13;
const LARGE_CHUNK_SIZE: usize = 1 << 20;
const LARGE_SIZE: u64 = 8 << 20;

/// A step of the change of a directory, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Leaves that are in no table.
    Plain,
    /// New leaves of tables.
    NewLeaf,
    /// The schemas of tables.
    Schema,
    /// The bytes of texts, and dictionaries.
    Texts,
    /// Values.
    Values,
    /// Masks of nulls.
    Nulls,
    /// Masks of live rows.
    LiveRows,
}

/// Writes to a stream from a position on.
struct StreamWriter<'s> {
    stream: &'s dyn Stream,
    at: u64,
}

impl Write for StreamWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write_at(self.at, bytes, WriteGranularity::Bytes);
        written.map_err(io::Error::other)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for StreamWriter<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.at)
    }
}

/// Checks that a name in a directory is that of one file on this system. On Windows, names such as
/// `..\x` and `C:x` would lead out of the directory.
fn check_name(name: &str) -> Result<()> {
    match files::fault_of_path(name) {
        None => Ok(()),
        Some(why) => Err(Error::InvalidName { name: name.to_owned(), why: why.to_owned() }),
    }
}

/// Converts an error of a [`StreamWriter`].
fn file_error(path: &Path, error: io::Error) -> Error {
    match error.downcast::<ferroblosc::Error>() {
        Ok(error) => Error::file(path)(error),
        Err(error) => Error::storage(path)(error),
    }
}

impl StoreWriter {
    /// Writes the store, which is complete under its name afterwards, and on the disk.
    ///
    /// A zip file or frame is replaced as a whole: after an error or an interruption it is the old
    /// one or the new one. A change of a directory consists of one step for each leaf. After an
    /// interruption each leaf is the old or the new one, and a deleted one may still exist.
    ///
    /// # Errors
    /// - [`Error::Exists`] if the path of a new store, or of a new file in a directory, exists,
    ///   also as a link;
    /// - [`Error::FileType`] if a file that is replaced, or a directory, is a link;
    /// - [`Error::Changed`] if another program changed the file of the store, or in a directory
    ///   `embed.b2e` or a leaf that is replaced or deleted. It is checked directly before each
    ///   step; earlier steps of a change of a directory stay;
    /// - [`Error::Member`] if the CRC-32 of a member differs;
    /// - [`Error::Storage`]; [`Error::Limit`]; [`Error::Memory`].
    pub fn commit(self) -> Result<()> {
        match (self.container, &self.old) {
            (ContainerKind::Zip, _) => self.commit_zip(),
            (ContainerKind::Directory, None) => self.create_directory(),
            (ContainerKind::Directory, Some(_)) => self.change_directory(),
            (ContainerKind::Frame, _) => {
                let embed = Content::from(self.embed_frame()?);
                let (path, target) = (self.path.as_path(), self.begin()?);
                self.files.put_content(path, path, target, &embed, || self.check_unchanged())
            }
        }
    }

    /// Checks that the file of the store can be created or replaced.
    fn begin(&self) -> Result<Target> {
        if self.old.is_none() {
            self.files.check_free(&self.path)?;
            return Ok(Target::New);
        }
        self.check_unchanged()?;
        Ok(Target::Existing)
    }

    /// Checks that the main file of a store that is changed is the one that was opened.
    ///
    /// # Errors
    /// [`Error::Changed`]
    fn check_unchanged(&self) -> Result<()> {
        if self.old.is_none() {
            return Ok(());
        }
        let path = writer::main_file(&self.path, self.container);
        if FileSystem.attributes(&path) == self.identity {
            return Ok(());
        }
        Err(Error::Changed(path))
    }

    /// Returns the leaves in files with their names. Unchanged files are whole, also if bytes follow
    /// the frame.
    fn files(&self) -> Result<Vec<(String, Content)>> {
        let mut files = Vec::new();
        for (key, item) in &self.items {
            let Some(name) = &item.name else {
                continue;
            };
            let content = match (&item.held, &self.old) {
                (Held::Old, Some(old)) => match old.leaves.get(key) {
                    Some(Source::File(file)) => old.whole_file(file, true),
                    _ => self.content(key),
                },
                _ => self.content(key),
            };
            files.push((name.clone(), content?));
        }
        Ok(files)
    }

    fn commit_zip(&self) -> Result<()> {
        let mut files = self.files()?;
        // The order of the reference, and by name.
        files.sort_by(|one, other| {
            other.1.len().cmp(&one.1.len()).then_with(|| one.0.cmp(&other.0))
        });
        files.extend(self.foreign.iter().map(|(name, content)| (name.clone(), content.clone())));
        files.push((EMBED_FILE.to_owned(), self.embed_content()?));
        let mut names = HashSet::new();
        if let Some((name, _)) = files.iter().find(|(name, _)| !names.insert(name.as_str())) {
            return Err(Error::refused(name.clone(), "two members would have this name"));
        }
        let mut headers = self.kept_headers()?;
        let fill = |stream: &dyn Stream| {
            let failed = |error| file_error(&self.path, error);
            let mut writer = StreamWriter { stream, at: 0 };
            if let Some(prefix) = &self.prefix {
                prefix.visit(&mut |bytes| writer.write_all(bytes).map_err(failed))?;
            }
            let start = writer.at;
            let mut zip = ZipWriter::new(writer, start);
            zip.set_comment(&self.comment);
            for (name, content) in &files {
                let fill = |member: &mut dyn Write| {
                    content.visit(&mut |bytes| member.write_all(bytes).map_err(failed))
                };
                let header = headers.remove(name).unwrap_or_else(|| Header::new(name));
                zip.add_with(header, content.len(), fill, failed)?;
            }
            zip.finish().map(drop).map_err(failed)
        };
        let (path, target) = (self.path.as_path(), self.begin()?);
        self.files.put(path, path, target, fill, || self.check_unchanged())
    }

    /// Returns the headers of the members of a zip file that do not change, by name.
    fn kept_headers(&self) -> Result<HashMap<String, Header>> {
        let mut headers = HashMap::new();
        let Some(old) = &self.old else { return Ok(headers) };
        let Container::Zip(archive) = &old.container else { return Ok(headers) };
        let is_kept =
            |key: &str| self.items.get(key).is_some_and(|item| matches!(item.held, Held::Old));
        let files = old.leaves.iter().filter_map(|(key, source)| match source {
            Source::File(file) if is_kept(key) => Some(file),
            _ => None,
        });
        let foreign = old.foreign.iter().map(|(_, file)| file);
        let embed = old.embed_file.iter().filter(|_| !self.is_embed_changed);
        for file in files.chain(foreign).chain(embed) {
            if let FileId::Member(number) = file {
                let member = &archive.members()[*number];
                headers.insert(member.name.clone(), archive.header_of(member)?);
            }
        }
        Ok(headers)
    }

    fn create_directory(&self) -> Result<()> {
        let mut files = self.files()?;
        files.extend(self.foreign.iter().map(|(name, content)| (name.clone(), content.clone())));
        files.push((EMBED_FILE.to_owned(), self.embed_content()?));
        files.iter().try_for_each(|(name, _)| check_name(name))?;
        self.files.check_free(&self.path)?;
        self.files.create_directory(&self.path, &files)
    }

    fn change_directory(&self) -> Result<()> {
        let root = self.path.as_path();
        // Everything is read and checked before the first change.
        let mut written: Vec<(&str, Target, Content, Step)> = Vec::new();
        let mut kept = std::collections::BTreeSet::new();
        for (key, item) in &self.items {
            let Some(name) = &item.name else {
                continue;
            };
            kept.insert(name.as_str());
            if let Held::New(content) = &item.held {
                check_name(name)?;
                let is_old = self.leaf_files.contains_key(name);
                let target = if is_old { Target::Existing } else { Target::New };
                self.check_file(root, name, target)?;
                self.check_leaf(name)?;
                if content.len() == 0 {
                    return Err(Error::damaged(key, "the frame is empty"));
                }
                written.push((name, target, content.clone(), self.step(key)));
            }
        }
        written.sort_by_key(|(_, _, _, step)| *step);
        let is_deleted = |name: &&String| !kept.contains(name.as_str());
        let deleted: Vec<&String> = self.leaf_files.keys().filter(is_deleted).collect();
        deleted.iter().try_for_each(|name| self.check_leaf(name))?;
        let embed = if self.is_embed_changed { Some(self.embed_content()?) } else { None };
        let embed_path = root.join(EMBED_FILE);
        self.check_file(root, EMBED_FILE, Target::Existing)?;
        self.check_unchanged()?;
        for (name, target, content, _) in &written {
            self.files.make_folders(root, name)?;
            let check = || self.check_leaf(name);
            self.files.put_content(root, &root.join(name), *target, content, check)?;
        }
        if let Some(embed) = embed {
            let check = || self.check_unchanged();
            self.files.put_content(root, &embed_path, Target::Existing, &embed, check)?;
        }
        for name in deleted {
            self.check_leaf(name)?;
            self.files.remove(root, name)?;
        }
        Ok(())
    }

    /// Returns the step in which the file of a leaf is written. After each step tables have all
    /// their old rows, and no index that does not match them: new leaves are not used by the old
    /// schema, the new schema has no indexes, texts and dictionaries grow before the offsets and
    /// codes that use them, and the rows become live last.
    fn step(&self, key: &str) -> Step {
        let is_in_table = self
            .root_above(key)
            .is_some_and(|root| matches!(self.roots.get(root), Some(Root::Table)));
        if !is_in_table {
            return Step::Plain;
        }
        let last = key.rsplit('/').next().unwrap_or(key);
        let is_new = self.old.as_ref().is_some_and(|old| !old.leaves.contains_key(key));
        match last {
            keys::TABLE_META => Step::Schema,
            _ if is_new => Step::NewLeaf,
            "_valid_rows" => Step::LiveRows,
            _ if last.ends_with(".utf8") || last.ends_with("_dict") => Step::Texts,
            _ if last.ends_with(".notnull") => Step::Nulls,
            _ => Step::Values,
        }
    }

    /// Checks that the file of a leaf in the directory is the one that was there when the writer
    /// was opened. A new file is not checked.
    ///
    /// # Errors
    /// [`Error::Changed`]
    fn check_leaf(&self, name: &str) -> Result<()> {
        let path = self.path.join(name);
        match self.leaf_files.get(name) {
            Some(before) if FileSystem.attributes(&path) != *before => Err(Error::Changed(path)),
            _ => Ok(()),
        }
    }

    /// Checks the path of a file in the directory: a new one is free, an old one is regular, and no
    /// directory is a link.
    fn check_file(&self, root: &Path, name: &str, target: Target) -> Result<()> {
        self.files.check_folders(root, name)?;
        let path: PathBuf = root.join(name);
        match (target, self.files.kind(&path)?) {
            (Target::New, None) | (Target::Existing, Some(FileKind::Regular)) => Ok(()),
            (Target::Existing, None) => Err(Error::Changed(path)),
            (Target::New, Some(kind)) => Err(Error::Exists { path, kind: kind_text(kind) }),
            (Target::Existing, Some(kind)) => {
                let (kind, wanted) = (kind_text(kind), kind_text(FileKind::Regular));
                Err(Error::FileType { path, kind, wanted })
            }
        }
    }

    /// Returns `embed.b2e` after the changes.
    fn embed_content(&self) -> Result<Content> {
        if !self.is_embed_changed
            && let Some(store) = &self.old
            && let Some(file) = &store.embed_file
        {
            return store.whole_file(file, true);
        }
        if let Some(old) = &self.old {
            old.check_embed()?;
        }
        Ok(self.embed_frame()?.into())
    }

    /// Returns the frame of the embed store: the embedded leaves in the order of their keys,
    /// without holes.
    pub(super) fn embed_frame(&self) -> Result<Vec<u8>> {
        let place = EMBED_FILE;
        let text = |text: &str| Value::Str(text.to_owned());
        let mut entries = Vec::new();
        let mut contents = Vec::new();
        let mut offset = 0u64;
        for (key, item) in self.items.iter().filter(|(_, item)| item.name.is_none()) {
            if let Held::Reference(entry) = &item.held {
                entries.push((text(key), entry.clone()));
                continue;
            }
            let content = self.content(key)?;
            let number = |number: u64| i64::try_from(number).map_err(|_| Error::Memory);
            let entry = vec![
                (text("offset"), Value::Int(number(offset)?)),
                (text("length"), Value::Int(number(content.len())?)),
            ];
            offset = offset.checked_add(content.len()).ok_or(Error::Memory)?;
            entries.push((text(key), Value::Map(entry)));
            contents.push(content);
        }
        let tag = match self.kind {
            StoreKind::Tree => "b2tree",
            StoreKind::Dict => "b2dict",
            _ => "b2embed",
        };
        let failed = |error| Error::frame(place)(error);
        let chunk_size = if offset > LARGE_SIZE { LARGE_CHUNK_SIZE } else { CHUNK_SIZE };
        let created = SChunk::create(Storage::frame(), writer::cparams(), DParams::default());
        let mut schunk = created.map_err(failed)?;
        let version = Value::Map(vec![(text("version"), Value::Int(1))]);
        schunk.add_metalayer(tag, &version.encode()?).map_err(failed)?;
        for (name, content) in &self.metalayers {
            meta::add(schunk.state_mut(), name, content).map_err(failed)?;
        }
        schunk.set_chunksize(i32::try_from(chunk_size).unwrap_or(i32::MAX)).map_err(failed)?;
        let mut pending: Vec<u8> = Vec::with_capacity(chunk_size);
        for content in contents {
            content.visit(&mut |mut bytes| {
                while !bytes.is_empty() {
                    let (now, rest) = bytes.split_at(bytes.len().min(chunk_size - pending.len()));
                    pending.extend_from_slice(now);
                    bytes = rest;
                    if pending.len() == chunk_size {
                        schunk.append(&pending).map_err(failed)?;
                        pending.clear();
                    }
                }
                Ok(())
            })?;
        }
        if !pending.is_empty() {
            schunk.append(&pending).map_err(failed)?;
        }
        let end = i64::try_from(offset).map_err(|_| Error::Memory)?;
        let map = Value::Map(vec![
            (text(ENTRIES), Value::Map(entries)),
            (text("current_offset"), Value::Int(end)),
        ]);
        let own = std::iter::once((MAP.to_owned(), map.encode()?));
        for (name, content) in own.chain(self.attrs_with_registry()?) {
            attrs::check_content(place, &name, &content)?;
            schunk.add_vlmetalayer(&name, &content).map_err(failed)?;
        }
        schunk.to_bytes().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{NewLeaf, Store, WriteOptions};
    use ferroblosc::chunk::CParams;

    /// Keys whose files, on Windows, would be outside of the directory, would not be listed, would
    /// be devices, or would get another name.
    const KEYS: [&str; 7] = ["/..\\x", "/C:\\x", "/C:x", "/x:y", "/g./x", "/nul", "/g/aux"];

    fn leaf(byte: u8) -> NewLeaf {
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.append(&[byte; 100]).unwrap();
        NewLeaf::schunk(&schunk).unwrap()
    }

    fn check(path: &Path, key: &str, committed: Result<()>) {
        if cfg!(windows) {
            let is_refused = matches!(committed, Err(Error::InvalidName { .. }));
            assert!(is_refused, "{key}: {committed:?}");
        } else {
            committed.unwrap();
            assert!(Store::open(path).unwrap().leaf_keys().any(|found| found == key), "{key}");
        }
    }

    #[test]
    fn leaves_in_groups_are_replaced_in_all_containers() {
        let folder = crate::testing::tempdir();
        // wine cannot replace files that are open, as zip files and frames are.
        let names = ["s.b2d", "s.b2z", "s.b2e"];
        for name in &names[..if cfg!(windows) { 1 } else { 3 }] {
            let path = folder.path().join(name);
            let mut writer = Store::create(&path).unwrap();
            writer.put("/g/h/x", leaf(1)).unwrap();
            writer.put("/g/y", leaf(1)).unwrap();
            writer.commit().unwrap();
            let mut writer = Store::change(&path).unwrap();
            writer.replace("/g/h/x", leaf(2)).unwrap();
            writer.delete("/g/y").unwrap();
            writer.commit().unwrap();
            let copy = folder.path().join(format!("copy-of-{name}.b2z"));
            let options = WriteOptions::default();
            Store::open(&path).unwrap().convert(&copy, &options).unwrap();
            for path in [path, copy] {
                let store = Store::open(&path).unwrap();
                assert!(store.leaf_keys().eq(["/g/h/x"]), "{}", path.display());
                let leaf = store.leaf("/g/h/x").unwrap();
                assert_eq!(leaf.schunk().decompress_to_vec(0).unwrap(), [2; 100]);
            }
        }
    }

    #[test]
    fn keys_that_are_no_names_of_files_are_not_written_to_directories() {
        let folder = crate::testing::tempdir();
        let at = |name: &str| folder.path().join(name);
        for key in KEYS {
            let [zip, made, changed, copied] =
                ["s.b2z", "made.b2d", "changed.b2d", "copied.b2d"].map(at);
            let mut writer = Store::create(&zip).unwrap();
            writer.put(key, leaf(1)).unwrap();
            writer.commit().unwrap();
            let mut writer = Store::create(&made).unwrap();
            writer.put(key, leaf(1)).unwrap();
            check(&made, key, writer.commit());
            let mut writer = Store::create(&changed).unwrap();
            writer.put("/old", leaf(1)).unwrap();
            writer.commit().unwrap();
            let mut writer = Store::change(&changed).unwrap();
            writer.put("/first", leaf(2)).unwrap();
            writer.put(key, leaf(2)).unwrap();
            check(&changed, key, writer.commit());
            let opened = Store::open(&zip).unwrap();
            let converted = opened.convert(&copied, &WriteOptions::default());
            check(&copied, key, converted.map(drop));
            if cfg!(windows) {
                assert!(Store::open(&changed).unwrap().leaf_keys().eq(["/old"]));
                drop(opened);
                let names = std::fs::read_dir(folder.path()).unwrap();
                let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
                names.sort();
                assert_eq!(names, ["changed.b2d", "s.b2z"], "{key}");
            } else {
                std::fs::remove_dir_all(&made).unwrap();
                std::fs::remove_dir_all(&copied).unwrap();
            }
            std::fs::remove_dir_all(&changed).unwrap();
            std::fs::remove_file(&zip).unwrap();
        }
    }
}
