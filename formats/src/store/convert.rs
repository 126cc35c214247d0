//! Copies of stores in other containers, and of their leaves in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::class::Class;
use super::container::Container;
use super::error::{Error, Result};
use super::keys::{self, EMBED_FILE};
use super::open::{ContainerKind, Source, Store, StoreKind};
use super::report::Severity;
use super::staging::{Files, Target};
use super::writer::{StoreWriter, WriteOptions};
use super::zip;

/// The result of a conversion.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Converted {
    /// The number of copied leaves.
    pub leaves: usize,
    /// Descriptions of the files and attributes that were not copied, with the reasons. All leaves
    /// are copied.
    pub left_out: Vec<String>,
}

impl Store {
    /// Returns the kind that a copy of the whole store has in a zip file or directory.
    pub(super) fn kind_of_copy(&self) -> StoreKind {
        match self.kind {
            StoreKind::Tree => StoreKind::Tree,
            StoreKind::Dict => StoreKind::Dict,
            // A tree has no key that is a leaf and a group.
            _ => {
                let is_leaf =
                    |key: Option<&str>| key.is_some_and(|key| self.leaves.contains_key(key));
                let has_conflict = self.leaves.keys().any(|key| {
                    let mut group = keys::parent(key);
                    while let Some(above) = group.filter(|key| !is_leaf(Some(key))) {
                        group = keys::parent(above);
                    }
                    is_leaf(group)
                });
                if has_conflict { StoreKind::Dict } else { StoreKind::Tree }
            }
        }
    }

    /// Whether embedded leaves stay embedded in copies.
    fn keeps_tiers(&self, options: &WriteOptions) -> bool {
        options.threshold.is_none() && self.container() != ContainerKind::Frame
    }

    /// Copies the whole store to another container, without recompression. Embedded leaves stay
    /// embedded, unless the source is an embed store or the options have a threshold. The kind of
    /// the source determines that of the copy; a copy of an embed store is a tree if possible.
    ///
    /// A directory of frames without `embed.b2e` is accepted as a source.
    ///
    /// # Errors
    /// - [`Error::Unsound`] if opening found other damage, and [`Error::Member`] if the two headers
    ///   of a member differ; [`Store::repair`] copies such stores;
    /// - [`Error::Refused`] for single frames and caches of remote stores;
    /// - the errors of [`Store::create_with`], [`StoreWriter::copy_from`] and
    ///   [`StoreWriter::commit`].
    pub fn convert(&self, target: impl AsRef<Path>, options: &WriteOptions) -> Result<Converted> {
        let is_folder = self.embed_file.is_none() && self.container() != ContainerKind::Frame;
        let is_missing = |place: &str| is_folder && place == EMBED_FILE;
        let damage = self
            .findings
            .iter()
            .find(|finding| finding.severity == Severity::Damage && !is_missing(&finding.place));
        if let Some(finding) = damage {
            return Err(Error::Unsound { path: self.path.clone(), why: finding.to_string() });
        }
        self.check_headers()?;
        let mut writer = self.begin_copy(target.as_ref(), options)?;
        let mut converted = Converted::default();
        self.check_embed()?;
        self.copy_surroundings(&mut writer, &mut converted.left_out)?;
        writer.load_embed(self, &mut |_, error| Err(error))?;
        writer.load_foreign(self, &mut |_, error| Err(error))?;
        converted.left_out.extend(self.skipped.iter().cloned());
        if writer.container == ContainerKind::Frame {
            let foreign = std::mem::take(&mut writer.foreign);
            let names = foreign.keys().map(|name| format!("{name:?} is not a leaf"));
            converted.left_out.extend(names);
        }
        if is_folder {
            let text = "embed.b2e is missing: values that were embedded in it are lost";
            converted.left_out.push(text.to_owned());
        }
        converted.leaves = writer.copy_keys(self, "/", "/")?;
        writer.commit()?;
        Ok(converted)
    }

    /// Copies the comment of a zip file and the bytes before its first member, if the copy is a zip
    /// file. Adds descriptions of lost bytes to `left_out`.
    pub(super) fn copy_surroundings(
        &self,
        writer: &mut StoreWriter,
        left_out: &mut Vec<String>,
    ) -> Result<()> {
        let Container::Zip(archive) = &self.container else {
            return Ok(());
        };
        if writer.container == ContainerKind::Zip {
            writer.load_surroundings(archive);
        } else {
            if !archive.comment().is_empty() {
                left_out.push("the comment of the zip file".to_owned());
            }
            match archive.prefix_len() {
                0 => {}
                len => left_out.push(format!("{len} bytes before the members of the zip file")),
            }
        }
        left_out.extend(archive.unlisted()?.iter().map(zip::lost_text));
        Ok(())
    }

    /// Begins a copy of the whole store.
    pub(super) fn begin_copy(&self, target: &Path, options: &WriteOptions) -> Result<StoreWriter> {
        let place = || self.path.display().to_string();
        if self.kind == StoreKind::Object {
            return Err(Error::refused(place(), "it is a single frame, not a store"));
        }
        if self.is_cache {
            return Err(Error::refused(place(), "it is a cache of a remote store"));
        }
        let options = WriteOptions { kind: self.kind_of_copy(), ..options.clone() };
        let mut writer = Store::create_with(target, &options)?;
        writer.keeps_tiers = self.keeps_tiers(&options);
        Ok(writer)
    }

    /// Copies a leaf to a file with its frame, or a group or an object of several leaves to a new
    /// store, whose root it becomes.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`]; [`Error::Exists`] if there is anything at the path;
    /// - [`Error::Member`] if the CRC-32 of a member differs;
    /// - the errors of [`Store::leaf`] and [`Store::convert`].
    pub fn extract(
        &self,
        key: &str,
        target: impl AsRef<Path>,
        options: &WriteOptions,
    ) -> Result<Converted> {
        let target: PathBuf = target.as_ref().components().collect();
        match self.class(key)? {
            Class::Group | Class::Table if key == "/" => return self.convert(&target, options),
            Class::Group | Class::Table => {}
            _ => {
                let files = Files::new(Arc::clone(&options.backend));
                files.check_free(&target)?;
                if matches!(self.leaves.get(key), Some(Source::Embedded(_))) {
                    self.check_embed()?;
                }
                let content = self.content(key, true)?;
                files.put_content(&target, &target, Target::New, &content, || Ok(()))?;
                return Ok(Converted { leaves: 1, left_out: Vec::new() });
            }
        }
        let options = WriteOptions { kind: StoreKind::Tree, ..options.clone() };
        let mut writer = Store::create_with(&target, &options)?;
        writer.keeps_tiers = self.keeps_tiers(&options);
        let leaves = writer.copy_from(self, key, "/")?;
        writer.commit()?;
        Ok(Converted { leaves, left_out: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NewLeaf;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::schunk::{SChunk, Storage};

    /// A zip file has a CRC-32 of each leaf, which must not certify damaged data.
    #[test]
    fn damaged_leaves_are_not_added_to_zip_files() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        let items: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
        schunk.append(&items).unwrap();
        let chunk = schunk.chunk(0).unwrap().to_vec();
        for (name, threshold) in [("files.b2d", 0), ("embedded.b2d", 1 << 20)] {
            let options = WriteOptions { threshold: Some(threshold), ..WriteOptions::default() };
            let mut writer = Store::create_with(path(name), &options).unwrap();
            let mut bytes = schunk.to_bytes().unwrap();
            // The offset of the first block.
            let at = bytes.windows(chunk.len()).position(|bytes| bytes == chunk).unwrap() + 32;
            bytes[at..at + 4].fill(0x7f);
            let mut zip = Store::create(path("copy.b2z")).unwrap();
            let leaf = NewLeaf::frame(bytes.clone()).unwrap();
            for added in [zip.put("/leaf", leaf.clone()), zip.replace("/leaf", leaf)] {
                assert!(matches!(added, Err(Error::Damaged { .. })), "{added:?}");
            }
            drop(zip);
            writer.put("/group/leaf", NewLeaf::frame(bytes).unwrap()).unwrap();
            writer.commit().unwrap();
            let store = Store::open(path(name)).unwrap();
            let copied = store.convert(path("copy.b2z"), &WriteOptions::default());
            assert!(matches!(copied, Err(Error::Damaged { .. })), "{name}: {copied:?}");
            let copied = store.extract("/group", path("copy.b2z"), &WriteOptions::default());
            assert!(matches!(copied, Err(Error::Damaged { .. })), "{name}: {copied:?}");
            assert!(!path("copy.b2z").exists());
            let copy = path(&format!("copy-of-{name}"));
            assert_eq!(store.convert(copy, &WriteOptions::default()).unwrap().leaves, 1);
        }
    }
}
