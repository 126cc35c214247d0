//! The end of a change: the leaf with the schema, and the indexes.

use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};

use super::{TableChange, TableWriter, items, remove_entry, set_entry, text};
use crate::bloscpack::Value as Json;
use crate::store::error::{Error, Result};
use crate::store::keys;
use crate::store::new_leaf::NewLeaf;
use crate::store::open::{ContainerKind, Root};
use crate::store::table::META;
use crate::store::table::schema::Nulls;
use crate::store::tree::TABLE_KIND;
use crate::store::value::Value;
use crate::store::writer::cparams;

/// The attribute of `_meta` with the descriptions of indexes.
const INDEXES: &str = "index_catalog";
/// The attributes of `_meta` that count changes of values, and of live rows.
const VALUE_EPOCH: &str = "value_epoch";
const VISIBILITY_EPOCH: &str = "visibility_epoch";

impl TableWriter<'_> {
    /// Adds the changes to the writer of the store.
    ///
    /// Indexes are dropped if values, or the numbers of stored rows, changed: after `append`,
    /// `set`, `drop_column` and a `compact` that removed rows. They stay after `add_column`, and
    /// after `delete`, unless it deleted the last rows of a table with values of variable length:
    /// their stored rows are removed, if the table is not in a directory.
    ///
    /// # Errors
    /// - [`Error::Refused`] if an earlier change failed halfway; [`Error::Frame`];
    ///   [`Error::Memory`].
    pub fn finish(mut self) -> Result<TableChange> {
        self.flush()?;
        // python-blosc2 would reuse these rows without their values of variable length.
        if self.is_visibility_changed && !self.is_stepwise() && self.has_dead_end()? {
            self.trim()?;
        }
        let meta = self.meta()?;
        let changed = std::mem::take(&mut self.changed);
        for (key, leaf) in changed {
            self.writer.set_table_leaf(&key, leaf);
        }
        self.writer.set_table_leaf(&keys::join(&self.key, META), Some(meta));
        if self.is_new {
            self.writer.add_root(&self.key, Root::Table);
        }
        let stale = items(&self.json, "materialized_columns")
            .iter()
            .filter(|item| item.get("stale").is_some_and(Json::is_truthy))
            .filter_map(|item| text(item.get("name")?).map(str::to_owned));
        Ok(TableChange {
            rows: self.rows,
            dropped_indexes: self.dropped_indexes.iter().cloned().collect(),
            stale_columns: stale.collect(),
        })
    }

    /// Returns the leaf with the schema.
    fn meta(&mut self) -> Result<NewLeaf> {
        let key = keys::join(&self.key, META);
        let failed = |error| Error::frame(&key)(error);
        let mut schunk = if self.is_new {
            SChunk::create(Storage::frame(), cparams(), DParams::default())
        } else {
            SChunk::from_bytes(&self.view().frame(&key)?, DParams::default())
        }
        .map_err(failed)?;
        let names = schunk.vlmetalayer_names();
        let decoded = |name: &str| -> Result<Option<Value>> {
            if names.iter().any(|other| other == name) {
                crate::store::attrs::value(&key, &schunk, name)
            } else {
                Ok(None)
            }
        };
        let mut attrs: Vec<(&str, Value)> = Vec::new();
        let mut is_catalog_dropped = false;
        if self.is_new {
            attrs.push(("kind", Value::Str(TABLE_KIND.to_owned())));
            attrs.push(("version", Value::Int(1)));
        } else {
            let epochs = [
                (VALUE_EPOCH, self.are_values_changed),
                (VISIBILITY_EPOCH, self.is_visibility_changed),
            ];
            for (name, is_changed) in epochs {
                if is_changed {
                    let old = decoded(name)?.and_then(|value| value.as_u64()).unwrap_or(0);
                    let new = i64::try_from(old).unwrap_or(0).wrapping_add(1).max(0);
                    attrs.push((name, Value::Int(new)));
                }
            }
            if self.are_values_changed {
                // An invalid catalog is dropped as well.
                if let Ok(Some(Value::Map(entries))) = decoded(INDEXES) {
                    let columns = entries.iter().filter_map(|(name, _)| name.as_str());
                    self.dropped_indexes.extend(columns.map(str::to_owned));
                }
                is_catalog_dropped = names.iter().any(|name| name == INDEXES);
                let group = keys::join(&self.key, "_indexes");
                let below: Vec<String> = self
                    .writer
                    .leaf_keys()
                    .filter(|key| keys::is_below(key, &group))
                    .map(str::to_owned)
                    .collect();
                self.changed.extend(below.into_iter().map(|key| (key, None)));
                set_entry(&mut self.json, "summary_indexes_built", Json::Bool(false));
            }
        }
        let has_mask = self.schema.columns.iter().any(|column| matches!(column.nulls, Nulls::Mask));
        let nested = self.json.get("metadata").and_then(|metadata| metadata.get("nested"));
        let version = if has_mask {
            3
        } else if nested.is_some() {
            2
        } else {
            1u64
        };
        set_entry(&mut self.json, "version", Json::from(version));
        // In a directory, the number could be that of rows which an interrupted commit did not add;
        // without it, readers count.
        if self.writer.container() == ContainerKind::Directory {
            remove_entry(&mut self.json, "n_rows");
        } else {
            set_entry(&mut self.json, "n_rows", Json::from(self.rows));
        }
        attrs.push(("schema", Value::Str(self.json.to_spaced_json())));
        if is_catalog_dropped {
            schunk.delete_vlmetalayer(INDEXES).map_err(failed)?;
        }
        for (name, value) in attrs {
            let content = value.encode()?;
            if names.iter().any(|other| other == name) {
                schunk.update_vlmetalayer(name, &content).map_err(failed)?;
            } else {
                schunk.add_vlmetalayer(name, &content).map_err(failed)?;
            }
        }
        NewLeaf::frame(schunk.to_bytes().map_err(failed)?)
    }
}
