//! The properties of a built-in filter, which form one row of the table in `filter/mod.rs`.
//!
//! The row is a constant in the filter's own file. All other code asks the row or the trait
//! [`Filter`] instead of comparing ids.

use super::interface::Filter;

/// The effect of a filter on the order of the bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Bytes stay at their offsets.
    Kept,
    /// Bytes of equal significance become contiguous.
    Bytes,
    /// Bits of equal significance become contiguous.
    Bits,
    /// Any other order.
    Other,
}

/// The properties of a built-in filter.
#[non_exhaustive]
pub struct FilterInfo {
    /// The id.
    pub id: u8,
    /// The name. Two filters may share a name if one replaces the other.
    pub name: &'static str,
    /// Whether the parameter must not be 0.
    pub needs_meta: bool,
    /// Whether another filter of the same name replaces this one.
    pub is_replaced: bool,
    /// Whether the result depends on the shape of the array.
    pub needs_shape: bool,
    /// Whether blocks depend on the first block of the chunk.
    pub needs_reference: bool,
    /// The order of the bytes after the filter.
    pub order: Order,
    pub(super) filter: &'static dyn Filter,
}

impl FilterInfo {
    /// Returns the row of a filter that has no parameter, depends on one block only and keeps the
    /// bytes at their offsets.
    pub(super) const fn new(id: u8, name: &'static str, filter: &'static dyn Filter) -> FilterInfo {
        FilterInfo {
            id,
            name,
            needs_meta: false,
            is_replaced: false,
            needs_shape: false,
            needs_reference: false,
            order: Order::Kept,
            filter,
        }
    }
}
