//! The class of an object, which the fixed metalayers of its frame determine.

use ferroblosc::schunk::SChunk;

use super::value::Value;

/// The fixed metalayers of stores.
pub(super) const STORE_TAGS: [&str; 4] = [REMOTE_STORE, "b2tree", "b2dict", "b2embed"];
pub(super) const REMOTE_STORE: &str = "b2remote_store";
pub(super) const PROXY: &str = "proxy-source";
pub(super) const RECIPE: &str = "b2o";
pub(super) const OLD_RECIPE: &str = "LazyArray";
pub(super) const LISTS: &str = "listarray";
/// The metalayer of the values of a column of a table, in addition to that of batches.
pub(super) const SCALARS: &str = "ctable_varlen_scalar";
pub(super) const OBJECTS: &str = "vlarray";
pub(super) const BATCHES: &str = "batcharray";

/// The class of an object in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Class {
    /// A group: an inner node of the tree, without data.
    Group,
    /// A table (CTable).
    Table,
    /// An array (NDArray).
    NdArray,
    /// A super-chunk without a more specific class.
    SChunk,
    /// An array of Python objects, one in each chunk.
    ObjectArray,
    /// An array of batches of Python objects, one batch in each chunk.
    BatchArray,
    /// An array of lists.
    ListArray,
    /// An embed store.
    EmbedStore,
    /// A lazy expression: a text and references to its operands. It has no values.
    LazyExpression,
    /// A user-defined function: its source and references to its operands. It has no values.
    LazyUdf,
    /// A reference to a remote array. It has no values.
    RemoteArray,
    /// A cache of another array. Only chunks that were fetched are valid.
    Proxy,
    /// A reference to an array of a Caterva2 server (C2Array). It has no values.
    Reference,
    /// A reference to a remote store. It has no values.
    RemoteStore,
    /// An object of an unknown kind.
    Unknown,
    /// A leaf that cannot be opened.
    Damaged,
}

impl Class {
    /// Returns the name of the class, such as `NDArray`.
    pub fn name(self) -> &'static str {
        match self {
            Class::Group => "group",
            Class::Table => "CTable",
            Class::NdArray => "NDArray",
            Class::SChunk => "SChunk",
            Class::ObjectArray => "ObjectArray",
            Class::BatchArray => "BatchArray",
            Class::ListArray => "ListArray",
            Class::EmbedStore => "EmbedStore",
            Class::LazyExpression => "lazy expression",
            Class::LazyUdf => "lazy UDF",
            Class::RemoteArray => "remote array",
            Class::Proxy => "proxy",
            Class::Reference => "C2Array reference",
            Class::RemoteStore => "remote store",
            Class::Unknown => "unknown object",
            Class::Damaged => "damaged leaf",
        }
    }

    /// Whether the object has values of its own. Proxies do not, because their chunks are valid
    /// only after they were fetched.
    pub fn has_values(self) -> bool {
        !matches!(
            self,
            Class::Group
                | Class::LazyExpression
                | Class::LazyUdf
                | Class::RemoteArray
                | Class::Proxy
                | Class::Reference
                | Class::RemoteStore
                | Class::Unknown
                | Class::Damaged
        )
    }

    /// Returns the class of a frame.
    pub(super) fn of(schunk: &SChunk) -> Class {
        let has = |name| schunk.metalayer(name).is_some();
        if STORE_TAGS.iter().any(|tag| has(tag)) {
            Class::EmbedStore
        } else if has(PROXY) {
            Class::Proxy
        } else if let Some(content) = schunk.metalayer(RECIPE) {
            let content = Value::decode(&content);
            match content.as_ref().and_then(|map| map.get("kind")?.as_str()) {
                Some("lazyexpr") => Class::LazyExpression,
                Some("lazyudf") => Class::LazyUdf,
                Some("remote_array") => Class::RemoteArray,
                _ => Class::Unknown,
            }
        } else if has(LISTS) {
            Class::ListArray
        } else if has(OBJECTS) {
            Class::ObjectArray
        } else if has(BATCHES) {
            Class::BatchArray
        } else if let Some(content) = schunk.metalayer(OLD_RECIPE) {
            match Value::decode(&content) {
                Some(Value::Int(1)) => Class::LazyUdf,
                _ => Class::LazyExpression,
            }
        } else if has(ferroblosc::b2nd::meta::NAME) || has(ferroblosc::b2nd::meta::OLD_NAME) {
            Class::NdArray
        } else {
            Class::SChunk
        }
    }
}
