//! Creating arrays from parameters that are set one by one.

use super::array::Array;
use super::create::Fill;
use super::geometry::Geometry;
use super::items::itemsize;
use super::layout;
use crate::chunk::CParams;
use crate::item::{self, bytes_of};
use crate::schunk::Storage;
use crate::{Item, Result};

/// The parameters of a new array, set by name. [`Array::builder`] returns it.
///
/// Only the shape is required. By default the array is in memory ([`Storage::memory`]), has the
/// default [`CParams`], automatic chunks and blocks ([`Layout::auto`](super::Layout::auto)), and no
/// metalayers of its own. One of the `build_*` methods creates the array with its items.
///
/// ```
/// use ferroblosc::b2nd::Array;
/// use ferroblosc::chunk::CParams;
///
/// let items: Vec<f32> = (0..6000).map(|i| i as f32 / 4.0).collect();
/// let array = Array::builder([60, 100])
///     .chunkshape([20, 100])
///     .cparams(CParams::default().level(9))
///     .metalayer("units", b"metres")
///     .build_items(&items)?;
/// assert_eq!(array.geometry().chunkshape(), [20, 100]);
/// assert_eq!(array.metalayer("units").as_deref(), Some(&b"metres"[..]));
/// assert_eq!(array.get::<f32>((59, 98..))?, [1499.5, 1499.75]);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ArrayBuilder {
    shape: Vec<i64>,
    chunkshape: Option<Vec<i32>>,
    blockshape: Option<Vec<i32>>,
    storage: Storage,
    cparams: CParams,
    metalayers: Vec<(String, Vec<u8>)>,
}

impl Array {
    /// Returns a builder for an array with the given extents, in items.
    pub fn builder(shape: impl Into<Vec<i64>>) -> ArrayBuilder {
        ArrayBuilder {
            shape: shape.into(),
            chunkshape: None,
            blockshape: None,
            storage: Storage::memory(),
            cparams: CParams::default(),
            metalayers: Vec::new(),
        }
    }
}

impl ArrayBuilder {
    /// Sets the extents of a chunk, in items. By default a chunk consists of whole blocks, at most
    /// 2.5 MiB of them.
    pub fn chunkshape(mut self, chunkshape: impl Into<Vec<i32>>) -> ArrayBuilder {
        self.chunkshape = Some(chunkshape.into());
        self
    }

    /// Sets the extents of a block, in items. By default a block has at most 64 KiB.
    pub fn blockshape(mut self, blockshape: impl Into<Vec<i32>>) -> ArrayBuilder {
        self.blockshape = Some(blockshape.into());
        self
    }

    /// Sets the storage. A path must not exist.
    pub fn storage(mut self, storage: Storage) -> ArrayBuilder {
        self.storage = storage;
        self
    }

    /// Sets the compression parameters. The block size is replaced by that of the blocks, and for
    /// items of a Rust type the item size by that of the type.
    pub fn cparams(mut self, cparams: CParams) -> ArrayBuilder {
        self.cparams = cparams;
        self
    }

    /// Adds a fixed metalayer. Its length cannot change later, and fixed metalayers cannot be added
    /// to a frame with chunks.
    pub fn metalayer(mut self, name: &str, content: &[u8]) -> ArrayBuilder {
        self.metalayers.push((name.to_owned(), content.to_vec()));
        self
    }

    /// Adds a fixed metalayer that contains a value in MessagePack; structs become maps with their
    /// field names.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`](crate::Error::InvalidParam) if the value cannot be serialised.
    #[cfg(feature = "serde")]
    pub fn metalayer_value<T: serde::Serialize + ?Sized>(
        self,
        name: &str,
        value: &T,
    ) -> Result<ArrayBuilder> {
        let content = crate::schunk::values::encode(name, value)?;
        Ok(self.metalayer(name, &content))
    }

    /// Creates the array from a copy of `items`, in row-major order.
    ///
    /// # Errors
    /// - the errors of [`Array::from_items`];
    /// - [`Error::Failure`](crate::Error::Failure) if a metalayer cannot be added, for instance if
    ///   its name has more than 31 bytes or is used twice.
    pub fn build_items<T: Item>(mut self, items: &[T]) -> Result<Array> {
        self.cparams = self.cparams.typesize(itemsize::<T>()?);
        let geometry = self.geometry()?;
        item::check_len(items.len(), usize::try_from(geometry.nitems).ok(), "items")?;
        self.build_geometry_bytes(&geometry, &T::dtype(), bytes_of(items))
    }

    /// Creates the array from a copy of the bytes of its items, whose size is that of the
    /// compression parameters. `dtype` is their type in NumPy's notation.
    ///
    /// # Errors
    /// - the errors of [`Array::from_item_bytes`];
    /// - [`Error::Failure`](crate::Error::Failure) if a metalayer cannot be added.
    pub fn build_bytes(self, dtype: &str, items: &[u8]) -> Result<Array> {
        let geometry = self.geometry()?;
        self.build_geometry_bytes(&geometry, dtype, items)
    }

    /// Creates the array from a copy of an `ndarray` array or view in any memory order, which must
    /// have the shape of the builder.
    ///
    /// # Errors
    /// - the errors of [`Array::from_ndarray_with`];
    /// - [`Error::Failure`](crate::Error::Failure) if a metalayer cannot be added.
    #[cfg(feature = "ndarray")]
    pub fn build_ndarray<T: Item, D: ndarray::Dimension>(
        self,
        array: &ndarray::ArrayBase<impl ndarray::Data<Elem = T>, D>,
    ) -> Result<Array> {
        super::ndarray::check_shape(&self.shape, array.shape())?;
        super::ndarray::with_items(&array.view(), |items| self.build_items(items))
    }

    /// Creates an array whose items are all `value`, which needs no memory for each item.
    ///
    /// # Errors
    /// - the errors of [`Array::full`];
    /// - [`Error::Failure`](crate::Error::Failure) if a metalayer cannot be added.
    pub fn build_full<T: Item>(mut self, value: T) -> Result<Array> {
        self.cparams = self.cparams.typesize(itemsize::<T>()?);
        self.build_fill(&T::dtype(), Fill::Value(bytes_of(&[value])))
    }

    /// Creates an array of equal items, whose size is that of the compression parameters. `dtype`
    /// is their type in NumPy's notation.
    ///
    /// # Errors
    /// - the errors of [`Array::create`];
    /// - [`Error::Failure`](crate::Error::Failure) if a metalayer cannot be added.
    pub fn build_fill(self, dtype: &str, content: Fill<'_>) -> Result<Array> {
        let geometry = self.geometry()?;
        let layers = layers(&self.metalayers);
        Array::create_with(self.storage, self.cparams, &geometry, dtype, content, &layers)
    }

    fn build_geometry_bytes(self, geometry: &Geometry, dtype: &str, items: &[u8]) -> Result<Array> {
        let layers = layers(&self.metalayers);
        Array::from_bytes_with(self.storage, self.cparams, geometry, dtype, items, &layers)
    }

    fn geometry(&self) -> Result<Geometry> {
        let (chunkshape, blockshape) = (self.chunkshape.as_deref(), self.blockshape.as_deref());
        layout::complete(&self.shape, chunkshape, blockshape, self.cparams.typesize)
    }
}

fn layers(metalayers: &[(String, Vec<u8>)]) -> Vec<(&[u8], &[u8])> {
    metalayers.iter().map(|(name, content)| (name.as_bytes(), content.as_slice())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::DParams;
    use crate::{Error, codec};

    fn shapes(builder: ArrayBuilder) -> (Vec<i32>, Vec<i32>) {
        let array = builder.build_full(1.5f64).unwrap();
        let geometry = array.geometry();
        (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec())
    }

    #[test]
    fn missing_shapes_are_chosen() {
        let builder = || Array::builder([10_000, 3_000]);
        assert_eq!(shapes(builder()), (vec![632, 376], vec![79, 94]));
        // Blocks of at most 8192 items.
        let chunk = builder().chunkshape([1000, 100]);
        assert_eq!(shapes(chunk), (vec![1000, 100], vec![63, 100]));
        // Chunks of whole blocks, at most 262,144 items.
        let block = builder().blockshape([100, 10]);
        let (chunkshape, blockshape) = shapes(block);
        assert_eq!(blockshape, [100, 10]);
        assert_eq!((chunkshape[0] % 100, chunkshape[1] % 10), (0, 0));
        assert!((131_072..=262_144).contains(&(chunkshape[0] * chunkshape[1])), "{chunkshape:?}");
        let both = builder().blockshape([10, 20]).chunkshape([50, 70]);
        assert_eq!(shapes(both), (vec![50, 70], vec![10, 20]));
    }

    #[test]
    fn extreme_blocks_do_not_exceed_the_limit_of_chunks() {
        let builder = Array::builder([1_000_000, 1_000_000]).blockshape([1_000_000, 1]);
        let (chunkshape, _) = shapes(builder);
        assert_eq!(chunkshape, [1_000_000, 1]);
        let (chunkshape, _) = shapes(Array::builder([10]).blockshape([100]));
        assert_eq!(chunkshape, [10]);
        assert_eq!(shapes(Array::builder([])), (vec![], vec![]));
        assert_eq!(shapes(Array::builder([0, 7]).blockshape([3, 3])).1, [3, 3]);
    }

    #[test]
    fn invalid_shapes_are_errors_that_create_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.b2nd");
        let builder = || Array::builder([4, 4]).storage(Storage::file(&path));
        for builder in [
            builder().chunkshape([4]),
            builder().blockshape([2, 2, 2]),
            builder().blockshape([0, 2]),
            builder().chunkshape([-1, 2]),
            builder().chunkshape([i32::MAX, i32::MAX]).blockshape([2, -2]),
            Array::builder([-4, 4]).storage(Storage::file(&path)),
            Array::builder([i64::MAX, i64::MAX]).storage(Storage::file(&path)),
            Array::builder([1; 17]).storage(Storage::file(&path)),
        ] {
            assert!(builder.build_full(1u8).is_err());
            assert!(!path.exists());
        }
        assert_eq!(builder().build_items(&[1u8; 15]).err(), Some(Error::InvalidParam));
        assert_eq!(builder().build_bytes("|u1", &[1; 17]).err(), Some(Error::InvalidParam));
        assert!(!path.exists());
    }

    #[test]
    fn every_method_stores_the_metalayers() {
        let folder = tempfile::tempdir().unwrap();
        let storages = [
            Storage::memory(),
            Storage::frame(),
            Storage::file(folder.path().join("plain")),
            Storage::file(folder.path().join("durable")).durable(),
            Storage::directory(folder.path().join("directory")).checksums(),
        ];
        let items: Vec<u16> = (0..500).collect();
        for storage in storages {
            let array = Array::builder([10, 50])
                .storage(storage)
                .cparams(CParams::default().codec(codec::id::LZ4))
                .chunkshape([3, 20])
                .metalayer("first", b"1")
                .metalayer("second", b"22")
                .build_items(&items)
                .unwrap();
            let mut bytes = array.into_schunk();
            let copy =
                crate::schunk::SChunk::from_bytes(&bytes.to_bytes().unwrap(), DParams::default());
            let array = Array::from_schunk(copy.unwrap()).unwrap();
            assert_eq!(array.get::<u16>(..).unwrap(), items);
            assert_eq!(array.metalayer_names()[1..], ["first", "second"]);
            assert_eq!(array.metalayer("second").unwrap(), b"22");
        }
        let array = Array::builder([3]).metalayer("name", b"x").build_full(7i32).unwrap();
        assert_eq!(
            (array.metalayer("name").unwrap(), array.get::<i32>(2).unwrap()),
            (b"x".to_vec(), vec![7])
        );
        let params = CParams::default().typesize(1);
        let array = Array::builder([4]).cparams(params).metalayer("name", b"x");
        let array = array.build_bytes("|u1", &[1, 0, 2, 0]).unwrap();
        assert_eq!(
            (array.metalayer("name").unwrap(), array.get::<u8>(..).unwrap()),
            (b"x".to_vec(), vec![1, 0, 2, 0])
        );
    }

    #[test]
    fn invalid_metalayers_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.b2nd");
        let builder = || Array::builder([3]).storage(Storage::file(&path)).metalayer("name", b"x");
        for name in ["name", &"n".repeat(32), "b2nd"] {
            assert!(builder().metalayer(name, b"y").build_full(7i32).is_err());
            assert!(builder().metalayer(name, b"y").build_items(&[7i32; 3]).is_err());
            assert!(!path.exists(), "{name}");
        }
        builder().build_full(7i32).unwrap();
    }

    #[test]
    #[cfg(feature = "ndarray")]
    fn arrays_of_ndarray_must_have_the_shape() {
        let matrix = ndarray::array![[1i16, 2, 3], [4, 5, 6]];
        let array = Array::builder([3, 2]).metalayer("name", b"x").build_ndarray(&matrix.t());
        let array = array.unwrap();
        assert_eq!(array.get::<i16>(..).unwrap(), [1, 4, 2, 5, 3, 6]);
        assert_eq!(array.metalayer("name").unwrap(), b"x");
        let error = Array::builder([2, 3]).build_ndarray(&matrix.t()).err();
        assert_eq!(error, Some(Error::InvalidParam));
    }

    #[test]
    #[cfg(feature = "serde")]
    fn metalayers_are_values_in_messagepack() {
        let builder = Array::builder([2]).metalayer_value("gains", &[0.5, 2.0]).unwrap();
        let array = builder.build_full(0u8).unwrap();
        assert_eq!(array.metalayer_value::<Vec<f64>>("gains").unwrap(), [0.5, 2.0]);
    }
}
