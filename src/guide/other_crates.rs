//! Replace other crates: operations of `ndarray`, `zarrs`, `parquet` and `blosc2` side by side.
//!
//! # From `ndarray`
//!
//! | `ndarray` | here |
//! |---|---|
//! | `Array2::<f32>::zeros((3, 4))` | `Array::full(storage, params, [3, 4], 0f32)?` |
//! | `Array2::from_shape_vec((3, 4), items)?` | `Array::from_items(storage, params, [3, 4], &items)?` |
//! | `a.slice(s![1..3, ..])` | `a.get::<f32>((1..3, ..))?`, `a.get_ndarray::<f32>((1..3, ..))?` |
//! | `a.slice_mut(s![1, ..]).assign(&b)` | `a.set_ndarray((1, ..), &b)?` |
//! | `a[[1, 2]]` | `a.get::<f32>((1, 2))?[0]`; an index outside is an error |
//! | `a.push_row(row)?` | `a.append_items(&row, 0)?` |
//! | `a.select(Axis(0), &[5, 2])` | `a.get_orthogonal_items::<f32>(&[&[5, 2], &columns])?` |
//! | `a.exact_chunks((2, 2))` | `a.chunks::<f32>()?`, `a.blocks::<f32>()?` |
//! | `a.insert_axis(Axis(0))` | `a.expand_dims(&[true, false, false])?` |
//!
//! ```
//! use ferroblosc::b2nd::Array;
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//!
//! let items: Vec<f32> = (0..12).map(|i| i as f32).collect();
//! let mut a = Array::from_items(Storage::memory(), CParams::default(), [3, 4], &items)?;
//! assert_eq!(a.get::<f32>((1..3, 2..))?, [6.0, 7.0, 10.0, 11.0]);
//! assert_eq!(a.get::<f32>((1, 2))?[0], 6.0);
//! a.append_items(&[0.5f32; 4], 0)?;
//! assert_eq!(a.get_orthogonal_items::<f32>(&[&[3, 0], &[0, 1]])?, [0.5, 0.5, 0.0, 1.0]);
//! assert_eq!(a.expand_dims(&[true, false, false])?.shape(), [1, 4, 4]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! # From `zarrs`
//!
//! | `zarrs` | here |
//! |---|---|
//! | `FilesystemStore::new(path)?` | `Storage::directory(path)` or `Storage::file(path)` |
//! | `ArrayBuilder::new(shape, chunks, dtype, fill).build(…)?` | `Array::builder(shape).chunkshape(chunks).storage(storage).build_full(fill)?` |
//! | `Array::open(store, "/a")?` | `Array::open(storage, dparams)?` |
//! | `array.retrieve_array_subset(&subset)?` | `array.get::<f32>((0..2, 3..5))?` |
//! | `array.store_array_subset(&subset, items)?` | `array.set((0..2, 3..5), &items)?` |
//! | `array.retrieve_chunk(&[0, 1])?` | `array.chunks::<f32>()?` |
//! | `array.attributes_mut().insert(…)` | `array.set_vlmetalayer_value("name", &value)?` |
//! | `array.set_shape(shape)` | `array.resize(&shape, None)?` |
//!
//! The inner chunks of the sharding codec correspond to blocks. The crate `ferroblosc-formats`
//! reads, writes and converts Zarr arrays.
//!
//! # From `parquet`
//!
//! | `parquet` | here |
//! |---|---|
//! | `ArrowWriter::try_new(file, schema, …)?` | `Array::full(storage, params, [0], record)?` |
//! | `writer.write(&batch)?` | `array.append_items(&records, 0)?` or `append_iter` |
//! | a schema with fields | a record with `#[derive(Item)]` |
//! | `ParquetRecordBatchReaderBuilder` | `array.chunks::<Record>()?` |
//! | row groups | chunks |
//! | key-value metadata | metalayers |
//! | `RowSelection` | `array.get::<Record>(start..stop)?`, `get_sparse_items` |
//!
//! A record array stores rows. For access to single columns, store an array for each column.
//!
//! # From `blosc2` 0.2
//!
//! | `blosc2` | here |
//! |---|---|
//! | `Encoder::new(params)?.compress(&data)?` | `Compressor::new(params)?.compress_to_vec(&data)?` |
//! | `Decoder::new(params)?.decompress(&chunk)?` | `Decompressor::new(params).decompress_to_vec(&chunk)?` |
//! | `params.compressor(CompressAlgo::Zstd)` | `params.codec(codec::id::ZSTD)` |
//! | `params.clevel(9).typesize(4)?` | `params.level(9).typesize(4)` |
//! | `chunk.items(10..20)?` | `decompressor.getitem(&chunk, 10, 10, &mut items)?` |
//! | `SChunk::new(cparams, dparams)?` | `SChunk::create(Storage::memory(), cparams, dparams)?` |
//! | `SChunk::new_on_disk(path, …)?` | `SChunk::create(Storage::directory(path), …)?` |
//! | `SChunk::open(path)?` | `SChunk::open(Storage::file(path), dparams)?` |
//! | `schunk.append(&bytes)?` | `schunk.append(&bytes)?`, `schunk.append_items(&items)?` |
//! | `schunk.items(1..5)?` | `schunk.get::<f32>(1..5)?` |
//! | `schunk.set_items(1..5, &bytes)?` | `schunk.set(1..5, &items)?` |
//! | `Ndarray::from_ndarray(&array, &params)?` | `Array::from_ndarray(storage, params, &array)?` |
//! | `array.slice::<f32, Ix2>(&[0..2, 3..5])?` | `array.get_ndarray::<f32>([0..2, 3..5])?.into_dimensionality::<Ix2>()?` |
//! | `array.slice_items::<f32>(&[0..2, 3..5])?` | `array.get::<f32>([0..2, 3..5])?` |
//! | `array.set_slice_items(&[0..2, 3..5], &items)?` | `array.set([0..2, 3..5], &items)?` |
//! | `array.get::<f32>(&[1, 2])?` | `array.get::<f32>((1, 2))?[0]` |
//!
//! `libblosc2` is not needed, and parameters are passed by value.
