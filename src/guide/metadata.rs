//! Store metadata.
//!
//! *Variable-length metalayers* are named byte strings that can be added, changed and removed at
//! any time. *Fixed metalayers* are added before the first chunk, and keep their length:
//! `SChunk::add_metalayer` adds one to a super-chunk, and
//! `Array::builder(shape).metalayer(name, content)` to a new array.
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let mut array = Array::full(Storage::memory(), CParams::default(), [365], 0.0f64)?;
//! array.add_vlmetalayer("unit", b"kelvin")?;
//! array.update_vlmetalayer("unit", b"degree Celsius")?;
//! assert_eq!(array.vlmetalayer("unit")?, b"degree Celsius");
//! assert_eq!(array.vlmetalayer_names(), ["unit"]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! With the feature `serde` metalayers are values in MessagePack, as in python-blosc2:
//! `set_vlmetalayer_value("origin", &value)` and `vlmetalayer_value::<Origin>("origin")`.
//!
//! Names have at most [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes.
