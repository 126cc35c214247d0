//! Copies the readable leaves of a damaged store.
//!
//! No byte of a leaf is changed, and nothing is replaced with zeros. Leaves with damaged chunks or
//! a wrong CRC-32, and frames without a key, are copied to keys in the group `/lost`. If that is a
//! leaf or an object, the group is `/lost-1` and so on.

use std::path::Path;

use ferroblosc::frame::{FIXED_HEADER_LEN, has_magic};
use ferroblosc::io::open_regular;
use ferroblosc::schunk::SChunk;

use super::container::Container;
use super::embed::{self, Entry};
use super::error::{Error, Result};
use super::frame;
use super::keys::{self, EMBED_FILE};
use super::leaf;
use super::limits::Budget;
use super::new_leaf::NewLeaf;
use super::open::{ContainerKind, Source, Store, StoreKind};
use super::report::Severity;
use super::writer::{StoreWriter, WriteOptions, container_of};
use super::zip::Archive;

/// The group of leaves that are damaged or have no key; `/lost-1`, `/lost-2` … if it exists.
const LOST: &str = "/lost";
/// The largest number that is appended to a name in this group to make it unique.
const MAX_NAMES: u32 = 1000;
/// The maximum number of bytes that are copied to find frames in an embed store, as a multiple of
/// its data.
const MAX_PASSES: u64 = 16;
/// The start of a zip file.
const ZIP_MAGIC: &[u8; 4] = b"PK\x03\x04";

/// The result of a repair.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of leaves in the copy.
    pub leaves: usize,
    /// Descriptions of the repaired faults, and of the leaves copied to `/lost`.
    pub repaired: Vec<String>,
    /// Descriptions of the omitted leaves and attributes, with the reasons.
    pub left_out: Vec<String>,
}

impl Store {
    /// Writes a sound copy of a damaged store, with the container of the damaged one unless the
    /// options or the suffix of `target` determine another. The damaged store is not changed.
    ///
    /// The members of a zip file without a usable directory are found by their local headers, and
    /// the frames of an embed store without a usable map in its data.
    ///
    /// # Errors
    /// - [`Error::Refused`] for single frames and caches of remote stores;
    /// - [`Error::Unsound`] and the errors of [`Store::open_with`], if nothing is readable;
    /// - the errors of [`Store::create_with`] and [`StoreWriter::commit`].
    pub fn repair(
        path: impl AsRef<Path>,
        target: impl AsRef<Path>,
        options: &WriteOptions,
    ) -> Result<Repaired> {
        let (path, target) = (path.as_ref(), target.as_ref());
        let mut repaired = Repaired::default();
        let store = match Store::open_with(path, &options.limits) {
            Ok(store) => store,
            Err(error @ (Error::Zip { .. } | Error::NotAStore(_))) if is_zip(path) => {
                let (archive, lost) = Archive::salvage(path)?;
                repaired.repaired.push(format!("{error}; the members were found without it"));
                repaired.left_out.extend(lost);
                let container = Container::Zip(archive.into());
                Store::of_container(path.to_owned(), container, &options.limits)?
            }
            Err(error) => return Err(error),
        };
        let mut options = options.clone();
        if options.container.is_none() && container_of(target, &options).is_err() {
            options.container = Some(store.container());
        }
        let mut writer = store.begin_copy(target, &options)?;
        store.salvage(&mut writer, &mut repaired)?;
        repaired.leaves = writer.leaf_keys().count();
        if let (0, Some(lost)) = (repaired.leaves, repaired.left_out.first()) {
            let why = format!("nothing in it is readable: {lost}");
            return Err(Error::Unsound { path: path.to_owned(), why });
        }
        writer.commit()?;
        Ok(repaired)
    }

    /// Copies everything that is readable.
    fn salvage(&self, writer: &mut StoreWriter, repaired: &mut Repaired) -> Result<()> {
        let damage = self.findings.iter().filter(|finding| finding.severity == Severity::Damage);
        repaired.repaired.extend(damage.map(|finding| format!("found: {finding}")));
        self.copy_surroundings(writer, &mut repaired.left_out)?;
        if let Err(error) = self.check_embed() {
            repaired.repaired.push(format!("found: {error}; values in it can be wrong"));
            check_system(error)?;
        }
        let left_out = &mut repaired.left_out;
        let mut refuse = |name: &str, error: Error| {
            left_out.push(format!("{name}: {error}"));
            check_system(error)
        };
        writer.load_embed(self, &mut refuse)?;
        writer.load_foreign(self, &mut refuse)?;
        if writer.container == ContainerKind::Frame {
            let names = std::mem::take(&mut writer.foreign);
            left_out.extend(names.keys().map(|name| format!("{name:?} is not a leaf")));
        }
        left_out.extend(self.skipped.iter().cloned());
        for key in self.leaves.keys() {
            match self.fault_of_leaf(key) {
                Ok(None) => match writer
                    .check_copied_key(key)
                    .and_then(|()| writer.copy_leaf(self, key, key, true))
                {
                    Ok(()) => {}
                    Err(error @ (Error::Refused { .. } | Error::InvalidName { .. })) => {
                        self.move_to_lost(writer, key, &error.to_string(), repaired)?;
                    }
                    Err(error) => {
                        repaired.left_out.push(format!("{key}: {error}"));
                        check_system(error)?;
                    }
                },
                Ok(Some(fault)) => self.move_to_lost(writer, key, &fault, repaired)?,
                Err(error) => {
                    repaired.left_out.push(format!("{key}: {error}"));
                    check_system(error)?;
                }
            }
        }
        for file in &self.hidden {
            let name = self.name_of(file).unwrap_or_default();
            let found = self
                .file_content(&name, file, false)
                .and_then(|content| NewLeaf::of_content(&name, content));
            match found {
                Ok(leaf) => self.put_lost(writer, &name, leaf, "it is not used", repaired)?,
                Err(error) => {
                    repaired.left_out.push(format!("{name}: {error}"));
                    check_system(error)?;
                }
            }
        }
        self.salvage_embedded(writer, repaired)?;
        self.roots.keys().for_each(|key| writer.copy_root(self, key, key));
        Ok(())
    }

    /// Returns the reason why a leaf that can be opened is damaged.
    fn fault_of_leaf(&self, key: &str) -> Result<Option<String>> {
        if matches!(self.leaves.get(key), Some(Source::Embedded(Entry::Reference(_)))) {
            return Ok(None);
        }
        let mut leaf = self.leaf(key)?;
        let faults = leaf.verify()?;
        if faults > 0 {
            return Ok(Some(leaf::text_of_faults(faults)));
        }
        match self.content(key, true) {
            Ok(_) => Ok(None),
            Err(error @ Error::Member { .. }) => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Copies a leaf that cannot keep its key to the group `/lost`.
    fn move_to_lost(
        &self,
        writer: &mut StoreWriter,
        key: &str,
        why: &str,
        repaired: &mut Repaired,
    ) -> Result<()> {
        let found = self.content(key, false).and_then(|content| NewLeaf::of_content(key, content));
        match found {
            Ok(leaf) => self.put_lost(writer, key, leaf, why, repaired),
            Err(error) => {
                repaired.left_out.push(format!("{key}: {error}"));
                check_system(error)
            }
        }
    }

    /// Returns the group of lost leaves: the first one that is neither a leaf nor an object.
    fn lost_group(&self) -> String {
        let mut group = LOST.to_owned();
        let mut number = 0;
        while self.leaves.contains_key(&group) || self.roots.contains_key(&group) {
            number += 1;
            group = format!("{LOST}-{number}");
        }
        group
    }

    /// Adds a leaf to the group of lost leaves. The parts of its key are joined with dots, so that
    /// the leaves of a table do not become a table.
    fn put_lost(
        &self,
        writer: &mut StoreWriter,
        key: &str,
        leaf: NewLeaf,
        why: &str,
        repaired: &mut Repaired,
    ) -> Result<()> {
        let parts: Vec<&str> = key.split('/').filter(|part| !part.is_empty()).collect();
        let is_plain = |c: char| !c.is_control() && c != ':';
        let mut name: String = parts.join(".").chars().filter(|&c| is_plain(c)).collect();
        while name.len() > 200 {
            name.pop();
        }
        let group = self.lost_group();
        let mut target = format!("{group}/{name}");
        let mut number = 0;
        loop {
            match writer.check_copied_key(&target) {
                Ok(()) if !keys::is_reserved(&target) => break,
                Err(error) if number == MAX_NAMES => {
                    repaired.left_out.push(format!("{key}: {error}"));
                    return check_system(error);
                }
                _ => {}
            }
            number += 1;
            target = format!("{group}/{name}-{number}");
        }
        writer.set(&target, leaf);
        repaired.repaired.push(format!("{key} is kept as {target}: {why}"));
        Ok(())
    }

    /// Copies the frames in the data of an embed store with a damaged map that no entry has.
    fn salvage_embedded(&self, writer: &mut StoreWriter, repaired: &mut Repaired) -> Result<()> {
        let place = if self.kind == StoreKind::Embed { "/" } else { EMBED_FILE };
        let is_entry =
            |key: &str| matches!(self.leaves.get(key), Some(Source::Embedded(Entry::Damaged(_))));
        let has_damage = self.findings.iter().any(|finding| {
            finding.severity == Severity::Damage
                && (finding.place == place || is_entry(&finding.place))
        });
        let Some(schunk) = self.embed.as_ref().filter(|_| has_damage) else {
            return Ok(());
        };
        let data = match data_of(place, schunk, self.options.max_frame) {
            Ok(data) => data,
            Err(error) => {
                repaired.left_out.push(format!("{place}: {error}"));
                return check_system(error);
            }
        };
        let mut used: Vec<(u64, u64)> = Vec::new();
        for source in self.leaves.values() {
            if let Source::Embedded(Entry::Frame { offset, length }) = source {
                used.push((*offset, offset + length));
            }
        }
        used.sort_unstable();
        let mut used = used.into_iter().peekable();
        // The end of the entries that start before the current offset.
        let mut end = 0;
        let mut budget = Budget::new((data.len() as u64).saturating_mul(MAX_PASSES));
        let mut at = 0;
        while at + FIXED_HEADER_LEN <= data.len() {
            while let Some((_, to)) = used.next_if(|&(from, _)| from <= at as u64) {
                end = end.max(to);
            }
            if (at as u64) < end {
                at = usize::try_from(end).map_err(|_| Error::Memory)?;
                continue;
            }
            let bytes = &data[at..];
            let found = has_magic(bytes).then(|| frame::len(place, bytes, bytes.len() as u64));
            let Some(Ok(len)) = found else {
                at += 1;
                continue;
            };
            let len = usize::try_from(len).map_err(|_| Error::Memory)?;
            // Each attempt copies the bytes.
            let what = || format!("{place}: too many bytes look like frames");
            if let Err(error) = budget.charge(Some(len as u64), what) {
                repaired.left_out.push(error.to_string());
                return Ok(());
            }
            match NewLeaf::frame(bytes[..len].to_vec()) {
                Ok(leaf) => {
                    self.put_lost(writer, &at.to_string(), leaf, "it has no key", repaired)?;
                    at += len.max(1);
                }
                Err(_) => at += 1,
            }
        }
        Ok(())
    }
}

/// Whether a file starts like a zip file or, as other bytes can precede the members, has the suffix
/// of one.
fn is_zip(path: &Path) -> bool {
    use std::io::Read;
    if path.extension().is_some_and(|suffix| suffix == "b2z") {
        return true;
    }
    let mut start = [0; 4];
    let read = open_regular(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *ZIP_MAGIC
}

/// Returns the data of an embed store.
fn data_of(place: &str, schunk: &SChunk, limit: u64) -> Result<Vec<u8>> {
    let size = schunk.nbytes().max(0).unsigned_abs();
    if size > limit {
        return Err(Error::Limit { what: format!("{place}: {size} bytes"), limit });
    }
    embed::data(place, schunk, 0, size)
}

/// Returns errors of the system, which end the repair.
fn check_system(error: Error) -> Result<()> {
    match error {
        Error::Storage { .. } | Error::Memory | Error::Changed(_) => Err(error),
        _ => Ok(()),
    }
}
