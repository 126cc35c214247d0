//! Metalayers of arrays as values in MessagePack.

use super::array::Array;
use crate::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

impl Array {
    /// Returns the value of a fixed metalayer, like [`SChunk::metalayer_value`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::metalayer_value`].
    ///
    /// [`SChunk::metalayer_value`]: crate::schunk::SChunk::metalayer_value
    pub fn metalayer_value<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.schunk().metalayer_value(name)
    }

    /// Returns the value of a variable-length metalayer, like [`SChunk::vlmetalayer_value`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::vlmetalayer_value`].
    ///
    /// [`SChunk::vlmetalayer_value`]: crate::schunk::SChunk::vlmetalayer_value
    pub fn vlmetalayer_value<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.schunk().vlmetalayer_value(name)
    }

    /// Sets a variable-length metalayer to a value, like [`SChunk::set_vlmetalayer_value`].
    ///
    /// ```
    /// use ferroblosc::b2nd::Array;
    /// use ferroblosc::chunk::CParams;
    /// use ferroblosc::schunk::Storage;
    /// use std::collections::BTreeMap;
    ///
    /// let mut array = Array::full(Storage::memory(), CParams::default(), [10], 0.5f64)?;
    /// let axes = BTreeMap::from([("time", vec!["day", "hour"])]);
    /// array.set_vlmetalayer_value("axes", &axes)?;
    /// let read: BTreeMap<String, Vec<String>> = array.vlmetalayer_value("axes")?;
    /// assert_eq!(read["time"], ["day", "hour"]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - the errors of [`SChunk::set_vlmetalayer_value`].
    ///
    /// [`SChunk::set_vlmetalayer_value`]: crate::schunk::SChunk::set_vlmetalayer_value
    pub fn set_vlmetalayer_value<T: Serialize + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<()> {
        self.schunk_mut().set_vlmetalayer_value(name, value)
    }
}
