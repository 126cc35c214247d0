//! Verification of a store: the container, all leaves and all values.

use super::class::Class;
use super::container::Container;
use super::embed::{self, Entry};
use super::error::{Error, Result};
use super::leaf::text_of_faults;
use super::limits::{Budget, MAX_NESTED_STORES};
use super::objects::Objects;
use super::open::{Root, Source, Store};
use super::report::Finding;
use ferroblosc::b2nd::verify::{ForeignChunk, foreign_chunks};

/// The maximum number of embed stores around a verified one.
const MAX_NESTED: usize = 16;

impl Store {
    /// Reads the whole store and returns its differences from a valid one: the findings of opening,
    /// checksums and headers of members, every chunk of every leaf, and every value of object
    /// arrays and tables.
    ///
    /// # Errors
    /// - [`Error::Storage`] if a file cannot be read.
    pub fn verify(&self) -> Result<Vec<Finding>> {
        self.verify_nested(0, &mut Budget::new(MAX_NESTED_STORES))
    }

    /// Verifies a store that is nested in `depth` others. `nested` is the number of nested stores
    /// that may still be opened.
    fn verify_nested(&self, depth: usize, nested: &mut Budget) -> Result<Vec<Finding>> {
        let mut findings = self.findings.clone();
        if let Container::Zip(archive) = &self.container {
            for member in archive.members() {
                let checked = archive.check_local_header(member).and_then(|()| {
                    if !member.is_stored() {
                        member.check_size(self.options.max_frame)?;
                    }
                    archive.check_content(member)
                });
                report(&member.name, checked, &mut findings)?;
            }
        }
        let keys: Vec<String> = self.leaf_keys().map(str::to_owned).collect();
        let mut verified = std::collections::HashMap::new();
        let embed = self.embed.as_ref();
        for key in keys {
            // A frame in an embed store is determined by its offset.
            if let Some(Source::Embedded(Entry::Frame { offset, length })) = self.leaves.get(&key) {
                if let Some(other) = verified.get(offset) {
                    let text = format!("the key has the same bytes as {other}");
                    findings.push(Finding::note(&key, text));
                    let len = embed
                        .map_or(Ok(0), |embed| embed::frame_len(&key, embed, *offset, *length));
                    report(&key, len.map(drop), &mut findings)?;
                    continue;
                }
                verified.insert(*offset, key.clone());
            }
            let checked = self.verify_leaf(&key, depth, nested, &mut findings);
            report(&key, checked, &mut findings)?;
        }
        for (key, root) in &self.roots {
            match root {
                Root::Table => match self.table(key) {
                    Ok(table) => table.verify(&mut findings),
                    Err(error) => report(key, Err(error), &mut findings)?,
                },
                Root::RemoteStore(_) | Root::Unknown(_) => {
                    let text = "the object has no values of its own, and is not verified";
                    findings.push(Finding::note(key, text));
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        findings.retain(|finding| seen.insert((finding.place.clone(), finding.text.clone())));
        Ok(findings)
    }

    fn verify_leaf(
        &self,
        key: &str,
        depth: usize,
        nested: &mut Budget,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let leaf = match self.leaf(key) {
            Ok(leaf) => leaf,
            Err(Error::NotData { class, .. }) => {
                findings.push(Finding::note(key, format!("{class}: not verified")));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if leaf.surplus() > 0 {
            let text = format!("{} bytes follow the frame", leaf.surplus());
            findings.push(Finding::note(key, text));
        }
        for (name, error) in leaf.attrs().damaged {
            findings.push(Finding::damage(key, format!("attribute {name:?}: {error}")));
        }
        let class = leaf.class();
        let mut leaf = leaf;
        // All chunks are decoded, also those whose values cannot be.
        let checked = leaf.verify()?;
        if checked > 0 {
            findings.push(Finding::damage(key, text_of_faults(checked)));
        }
        match class {
            Class::ObjectArray | Class::BatchArray | Class::ListArray => {
                let objects = Objects::open(leaf, &self.options)?;
                for number in 0..objects.nbatches() {
                    objects.batch(number)?;
                }
                if objects.nbatches() == 0 {
                    for number in 0..objects.len()? {
                        objects.items(number..number + 1)?;
                    }
                }
                return Ok(());
            }
            Class::EmbedStore if depth == MAX_NESTED => {
                let what = format!("{key}: embed stores are nested too deep");
                return Err(Error::Limit { what, limit: MAX_NESTED as u64 });
            }
            Class::EmbedStore => {
                let what = || format!("{key}: there are too many nested embed stores");
                nested.charge(Some(1), what)?;
                let store = self.nested(key)?;
                for finding in store.verify_nested(depth + 1, nested)? {
                    let place = format!("{key}:{}", finding.place);
                    findings.push(Finding { place, ..finding });
                }
            }
            Class::NdArray => {
                let array = leaf.into_array()?;
                let schunk = array.schunk();
                let size = array.geometry().chunksize(schunk.typesize()).ok();
                let is_equal = size == usize::try_from(schunk.chunksize()).ok();
                if schunk.nchunks() > 0 && !is_equal {
                    let text = "the size of the chunks differs from the shape of the chunks";
                    findings.push(Finding::damage(key, text));
                } else {
                    let foreign = foreign_chunks(schunk.state()).map_err(Error::frame(key))?;
                    for ForeignChunk { numbers, text, is_readable } in foreign {
                        let (first, last) = (numbers.start, numbers.end - 1);
                        let text = if first == last {
                            format!("chunk {first}: {text}")
                        } else {
                            format!("chunks {first} to {last}: {text}")
                        };
                        findings.push(if is_readable {
                            Finding::note(key, text)
                        } else {
                            Finding::damage(key, text)
                        });
                    }
                }
            }
            _ => {}
        }
        if !class.has_values() {
            findings.push(Finding::note(key, format!("{}: no values of its own", class.name())));
        }
        Ok(())
    }
}

/// Adds an error of damaged data, or the reason why data were not checked, to the findings; returns
/// errors of the storage.
fn report(place: &str, checked: Result<()>, findings: &mut Vec<Finding>) -> Result<()> {
    match checked {
        Ok(()) => Ok(()),
        Err(error @ Error::Storage { .. }) => Err(error),
        Err(error) => {
            findings.push(Finding::of_error(place, &error));
            Ok(())
        }
    }
}
