//! Metalayers as values in MessagePack.

use super::meta;
use super::schunk::SChunk;
use super::state::{Layers, State as _};
use crate::escape::escape;
use crate::frame::Frame;
use crate::{Error, Result};
use rmp_serde::{Deserializer, decode};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// The depth of nested values that is read.
const MAX_DEPTH: usize = 128;
/// The size of a variable-length metalayer that is read as a value, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// Serialises the value of a metalayer. Structs become maps with the names of their fields.
///
/// # Errors
/// [`Error::InvalidParam`] if it cannot be serialised.
pub(crate) fn encode<T: Serialize + ?Sized>(name: &str, value: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|error| {
        let text = format!("the value of the metalayer {} cannot be written", escape(name));
        Error::InvalidParam.because(text).caused_by(error)
    })
}

/// Deserialises a value that fills `content`.
fn decode<T: DeserializeOwned>(name: &str, content: &[u8]) -> Result<T> {
    let refused = |error: decode::Error| {
        let kind = std::any::type_name::<T>();
        let text = format!("the metalayer {} is not a {kind} in MessagePack", escape(name));
        Error::Data.because(text).caused_by(error)
    };
    let mut deserializer = Deserializer::from_read_ref(content);
    deserializer.set_max_depth(MAX_DEPTH);
    let value = T::deserialize(&mut deserializer).map_err(refused)?;
    // At the end there is no further marker.
    match IgnoredAny::deserialize(&mut deserializer) {
        Err(decode::Error::InvalidMarkerRead(_)) => Ok(value),
        _ => {
            let text = format!("the metalayer {} has bytes after its value", escape(name));
            Err(Error::Data.because(text))
        }
    }
}

impl SChunk {
    /// Adds a fixed metalayer with a value in MessagePack, like [`SChunk::add_metalayer`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the value cannot be serialised;
    /// - the errors of [`SChunk::add_metalayer`].
    pub fn add_metalayer_value<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<()> {
        self.add_metalayer(name, &encode(name, value)?)
    }

    /// Replaces the value of a fixed metalayer, in MessagePack. Its size cannot change: values with
    /// integers of a varying size or with strings may not fit.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the value cannot be serialised, or has another size;
    /// - the errors of [`SChunk::update_metalayer`].
    pub fn update_metalayer_value<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<()> {
        let content = encode(name, value)?;
        let held = self.state().frame().map(Frame::lock_call).transpose()?.flatten();
        self.refresh()?;
        if let Some(old) = self.metalayer(name)
            && old.len() != content.len()
        {
            let text = format!(
                "the value of the metalayer {} has {} bytes in MessagePack, and the metalayer {}",
                escape(name),
                content.len(),
                old.len()
            );
            return Err(self.located(Error::InvalidParam.because(text)));
        }
        let updated = self.update_metalayer(name, &content);
        drop(held);
        updated
    }

    /// Returns the value of a fixed metalayer in MessagePack, at the last refresh.
    ///
    /// The content is untrusted: values nest at most 128 deep, and the memory for them is in
    /// proportion to the size of the metalayer.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such metalayer;
    /// - [`Error::Data`] if the content is not exactly one value of this type.
    pub fn metalayer_value<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let content = self.metalayer(name).ok_or(Error::NotFound);
        let content = content.map_err(|error| self.of_metalayer(name, error))?;
        decode(name, &content).map_err(|error| self.located(error))
    }

    /// Sets a variable-length metalayer to a value in MessagePack; adds the metalayer if there is
    /// none of this name. Structs become maps with the names of their fields, which Python reads as
    /// dictionaries.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// struct Origin {
    ///     instrument: String,
    ///     gains: Vec<f64>,
    /// }
    ///
    /// let mut schunk = SChunk::create(Storage::memory(), CParams::default(), DParams::default())?;
    /// let origin = Origin { instrument: "camera".to_owned(), gains: vec![0.5, 2.0] };
    /// schunk.set_vlmetalayer_value("origin", &origin)?;
    /// assert_eq!(schunk.vlmetalayer_value::<Origin>("origin")?, origin);
    /// let error = schunk.vlmetalayer_value::<u32>("origin").unwrap_err();
    /// assert!(error.to_string().starts_with("the metalayer origin is not a u32 in MessagePack"));
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the value cannot be serialised;
    /// - the errors of [`SChunk::add_vlmetalayer`] and [`SChunk::update_vlmetalayer`].
    pub fn set_vlmetalayer_value<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<()> {
        let content = encode(name, value)?;
        // With a lock, no other handle adds the metalayer between the two calls.
        let held = self.state().frame().map(Frame::lock_call).transpose()?.flatten();
        self.refresh()?;
        let mut has_name = false;
        self.state().with_layers(Layers::Variable, &mut |layers| {
            has_name = layers.iter().any(|&(other, _)| other == name.as_bytes());
        });
        let set = if has_name {
            self.update_vlmetalayer(name, &content)
        } else {
            self.add_vlmetalayer(name, &content)
        };
        drop(held);
        set
    }

    /// Returns the value of a variable-length metalayer in MessagePack, after loading changes by
    /// other handles or processes.
    ///
    /// The content is untrusted: it has at most 256 MiB, values nest at most 128 deep, and the
    /// memory for them is in proportion to the size of the content.
    ///
    /// # Errors
    /// - [`Error::Data`] if the content is not exactly one value of this type, or too long;
    /// - the errors of [`SChunk::vlmetalayer`].
    pub fn vlmetalayer_value<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let content = meta::vl_get_within(self.state(), name.as_bytes(), MAX_BYTES);
        let (_, content) = content.map_err(|error| self.of_metalayer(name, error))?;
        decode(name, &content).map_err(|error| self.located(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor, DParams};
    use crate::schunk::Storage;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Point {
        x: i32,
        y: Option<f64>,
    }

    #[derive(Debug, Deserialize)]
    struct Nested {
        #[expect(dead_code, reason = "only parsed")]
        inner: Option<Box<Nested>>,
    }

    fn create(storage: Storage) -> SChunk {
        SChunk::create(storage, CParams::default(), DParams::default()).unwrap()
    }

    fn text<T: std::fmt::Debug>(result: Result<T>, kind: Error) -> String {
        let error = result.unwrap_err();
        assert_eq!(error, kind);
        error.to_string()
    }

    #[test]
    fn values_are_messagepack_maps() {
        let mut schunk = create(Storage::frame());
        let point = Point { x: 7, y: None };
        schunk.add_metalayer_value("point", &point).unwrap();
        assert_eq!(schunk.metalayer("point").unwrap(), b"\x82\xa1x\x07\xa1y\xc0");
        assert_eq!(schunk.metalayer_value::<Point>("point").unwrap(), point);
        let point = Point { x: 9, ..point };
        schunk.update_metalayer_value("point", &point).unwrap();
        assert_eq!(schunk.metalayer_value::<Point>("point").unwrap(), point);
        let longer = Point { x: 9, y: Some(0.5) };
        let error = text(schunk.update_metalayer_value("point", &longer), Error::InvalidParam);
        assert_eq!(
            error,
            "the value of the metalayer point has 15 bytes in MessagePack, and the metalayer 7"
        );
        assert_eq!(schunk.metalayer_value::<Point>("point").unwrap(), point);
        for missing in [
            schunk.metalayer_value::<Point>("none").map(drop),
            schunk.update_metalayer_value("none", &1),
            schunk.vlmetalayer_value::<Point>("none").map(drop),
        ] {
            assert_eq!(text(missing, Error::NotFound), "there is no metalayer none");
        }
    }

    #[test]
    fn variable_length_values_are_added_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::file(folder.path().join("values.b2frame")).locking();
        let mut schunk = create(storage.clone());
        schunk.set_vlmetalayer_value("names", &["a", "b"]).unwrap();
        schunk.set_vlmetalayer_value("names", &vec!["a"; 1000]).unwrap();
        assert_eq!(schunk.vlmetalayer_names(), ["names"]);
        let other = SChunk::open(storage, DParams::default()).unwrap();
        assert_eq!(other.vlmetalayer_value::<Vec<String>>("names").unwrap(), vec!["a"; 1000]);
        let error = other.vlmetalayer_value::<BTreeMap<String, u8>>("names").unwrap_err();
        assert_eq!(error, Error::Data);
        assert!(error.path().is_some());
    }

    #[test]
    fn hostile_content_is_refused_with_little_memory() {
        let mut schunk = create(Storage::memory());
        for (name, content, reason) in [
            // An array, a map, a text and a byte string with 4 billion entries.
            ("array", &b"\xdd\xff\xff\xff\xff\x01"[..], "is not"),
            ("map", b"\xdf\xff\xff\xff\xff\x01", "is not"),
            ("text", b"\xdb\xff\xff\xff\xffx", "is not"),
            ("bytes", b"\xc6\xff\xff\xff\xffx", "is not"),
            ("empty", b"", "is not"),
            ("reserved", b"\xc1", "is not"),
            ("two", b"\x92\x01\x02\x03", "has bytes after its value"),
        ] {
            schunk.add_vlmetalayer(name, content).unwrap();
            let error = text(schunk.vlmetalayer_value::<Vec<u64>>(name), Error::Data);
            assert!(error.starts_with(&format!("the metalayer {name} {reason}")), "{error}");
        }
        for name in ["text", "bytes"] {
            text(schunk.vlmetalayer_value::<String>(name), Error::Data);
        }
        let deep = b"\x81\xa5inner".repeat(100_000);
        schunk.add_vlmetalayer("deep", &deep).unwrap();
        text(schunk.vlmetalayer_value::<Nested>("deep"), Error::Data);
        text(schunk.vlmetalayer_value::<IgnoredAny>("deep"), Error::Data);
    }

    #[test]
    fn a_small_chunk_of_many_zeros_is_refused() {
        let mut schunk = create(Storage::memory());
        let mut compressor = Compressor::new(CParams::default()).unwrap();
        let mut chunk = compressor.compress_to_vec(&[0; 1000]).unwrap();
        assert_eq!(chunk.len(), 32);
        // Sizes of the data and of the blocks.
        for at in [4, 8] {
            chunk[at..at + 4].copy_from_slice(&(MAX_BYTES as u32 + 1).to_le_bytes());
        }
        meta::vl_add_chunk(schunk.state_mut(), b"zeros", &chunk).unwrap();
        let error = text(schunk.vlmetalayer_value::<Vec<u8>>("zeros"), Error::Data);
        assert_eq!(
            error,
            "the content of the metalayer has 268435457 bytes, and at most 268435456 are read"
        );
    }
}
