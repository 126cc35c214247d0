//! Lookups in the table of built-in filters.

use super::{FilterInfo, TABLE};

/// Returns all built-in filters, in the order of their ids.
pub fn all() -> impl Iterator<Item = &'static FilterInfo> {
    TABLE.iter()
}

/// Returns the properties of the built-in filter with this id.
pub fn info(id: u8) -> Option<&'static FilterInfo> {
    TABLE.iter().find(|filter| filter.id == id)
}
