//! The constants and the structs of `b2store.h`.

use std::ffi::c_int;

/// A group: an inner node of the tree, without data.
pub const B2STORE_GROUP: c_int = 0;
/// A table (CTable); see b2store_open_table().
pub const B2STORE_TABLE: c_int = 1;
/// An array (NDArray); see b2store_open_array().
pub const B2STORE_ARRAY: c_int = 2;
/// A super-chunk; see b2store_open_schunk().
pub const B2STORE_SCHUNK: c_int = 3;
/// An array of Python objects, one in each chunk; see b2store_open_objects().
pub const B2STORE_OBJECT_ARRAY: c_int = 4;
/// An array of batches of Python objects; see b2store_open_objects().
pub const B2STORE_BATCH_ARRAY: c_int = 5;
/// An array of lists; see b2store_open_objects().
pub const B2STORE_LIST_ARRAY: c_int = 6;
/// An embed store; see b2store_open_nested().
pub const B2STORE_EMBED_STORE: c_int = 7;
/// A lazy expression. It has no values, and is never evaluated.
pub const B2STORE_LAZY_EXPRESSION: c_int = 8;
/// A user-defined function. It has no values, and is never executed.
pub const B2STORE_LAZY_UDF: c_int = 9;
/// A reference to a remote array. It has no values, and nothing is fetched.
pub const B2STORE_REMOTE_ARRAY: c_int = 10;
/// A cache of another array. Its values are not read, because some may be missing.
pub const B2STORE_PROXY: c_int = 11;
/// A reference to an array of a server. It has no values, and nothing is fetched.
pub const B2STORE_REFERENCE: c_int = 12;
/// A reference to a remote store. It has no values, and nothing is fetched.
pub const B2STORE_REMOTE_STORE: c_int = 13;
/// An object of an unknown kind.
pub const B2STORE_UNKNOWN: c_int = 14;
/// A leaf that cannot be opened. Opening it fails with the reason.
pub const B2STORE_DAMAGED: c_int = 15;

/// Values are JSON texts, which end with a NUL that does not count. Bytes are base64 texts, complex
/// numbers and tuples are lists, and NaN and Infinity are numbers, as in Python.
pub const B2STORE_JSON: c_int = 0;
/// Values are in MessagePack, with python-blosc2's extensions. Maps whose keys are neither texts
/// nor bytes are errors.
pub const B2STORE_MSGPACK: c_int = 1;

/// The maximum number of dimensions of an array, B2ND_MAX_DIM.
pub const B2STORE_MAX_DIM: usize = 16;

/// The description of an object or a group.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct b2store_info {
    /// The uncompressed size in bytes; -1 for groups, tables, objects without values and damaged
    /// leaves.
    pub nbytes: i64,
    /// The compressed size in bytes; -1 as `nbytes`.
    pub cbytes: i64,
    /// The extents of an array in items, `ndim` numbers.
    pub shape: [i64; B2STORE_MAX_DIM],
    /// The kind, such as B2STORE_ARRAY.
    pub kind: i32,
    /// The number of dimensions; -1 for an object without a shape.
    pub ndim: i32,
}
