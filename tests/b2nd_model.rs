//! Compares arrays with an in-memory model: random shapes and partitions (not necessarily
//! divisors), random slices, selections and resizes, on every kind of storage.

use ferroblosc::b2nd::create::Fill;
use ferroblosc::b2nd::{Array, Layout, meta};
use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};
use std::path::PathBuf;

/// A pseudo-random number generator with reproducible output.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 33) % end as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(50) as u8).collect()
    }
}

/// The items of an array in row-major order.
#[derive(Clone)]
struct Model {
    shape: Vec<usize>,
    width: usize,
    items: Vec<u8>,
}

impl Model {
    fn zeros(shape: &[usize], width: usize) -> Model {
        Model {
            shape: shape.to_vec(),
            width,
            items: vec![0; shape.iter().product::<usize>() * width],
        }
    }

    /// Returns the offset of an item, or `None` outside the shape.
    fn place(&self, index: &[usize]) -> Option<usize> {
        let is_inside = index.iter().zip(&self.shape).all(|(i, n)| i < n);
        let place = index.iter().zip(&self.shape).fold(0, |at, (i, n)| at * n + i);
        is_inside.then_some(place * self.width)
    }

    fn item(&self, index: &[usize]) -> Vec<u8> {
        match self.place(index) {
            Some(at) => self.items[at..at + self.width].to_vec(),
            None => vec![0; self.width],
        }
    }

    fn put(&mut self, index: &[usize], item: &[u8]) {
        if let Some(at) = self.place(index) {
            self.items[at..at + self.width].copy_from_slice(item);
        }
    }

    fn resized(&self, shape: &[usize]) -> Model {
        let mut other = Model::zeros(shape, self.width);
        for index in indices(shape) {
            other.put(&index, &self.item(&index));
        }
        other
    }
}

/// Returns all indices of an array of this shape in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |outer, &extent| {
        outer
            .iter()
            .flat_map(|index| (0..extent).map(move |i| [&index[..], &[i]].concat()))
            .collect()
    })
}

fn wide(numbers: &[usize]) -> Vec<i64> {
    numbers.iter().map(|&number| number as i64).collect()
}

/// Returns all kinds of storage, each with the path to remove afterwards.
fn storages(name: &str) -> Vec<(Storage, Option<PathBuf>)> {
    let path = |kind: &str| {
        let name = format!("ferroblosc-b2nd-{name}-{kind}-{}", std::process::id());
        std::env::temp_dir().join(name)
    };
    let (file, directory) = (path("file"), path("directory"));
    vec![
        (Storage::memory(), None),
        (Storage::frame(), None),
        (Storage::file(&file), Some(file)),
        (Storage::directory(&directory), Some(directory)),
    ]
}

fn remove(path: Option<&PathBuf>) {
    if let Some(path) = path {
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_dir_all(path);
    }
}

struct Shapes {
    shape: Vec<usize>,
    chunks: Vec<i32>,
    blocks: Vec<i32>,
    width: usize,
}

fn draw(random: &mut Random) -> Shapes {
    let ndim = random.below(7);
    let most = [1, 50, 17, 9, 6, 5, 4][ndim];
    let shape: Vec<usize> = (0..ndim).map(|_| 1 + random.below(most)).collect();
    let chunks: Vec<i32> = shape.iter().map(|&n| 1 + random.below(n + 1) as i32).collect();
    let blocks = chunks.iter().map(|&c| 1 + random.below(c as usize) as i32).collect();
    Shapes { shape, chunks, blocks, width: [1, 2, 4, 8, 12, 300][random.below(6)] }
}

fn create(random: &mut Random, storage: Storage, shapes: &Shapes) -> (Array, Model) {
    let mut model = Model::zeros(&shapes.shape, shapes.width);
    model.items = random.bytes(model.items.len());
    let shape = wide(&shapes.shape);
    let layout = Layout { shape: &shape, chunkshape: &shapes.chunks, blockshape: &shapes.blocks };
    let params = CParams::default()
        .typesize(shapes.width as i32)
        .level([0, 1, 5][random.below(3)])
        .threads(1 + random.below(2) as i16);
    let array = Array::from_item_bytes(storage, params, &layout, "|V", &model.items);
    (array.unwrap(), model)
}

/// Returns a random slice, which may be empty or exceed the shape.
fn slice(random: &mut Random, shape: &[usize]) -> (Vec<usize>, Vec<usize>) {
    shape
        .iter()
        .map(|&extent| {
            let (a, b) = (random.below(extent + 1), random.below(extent + 3));
            (a.min(b), a.max(b))
        })
        .unzip()
}

fn indices_between(start: &[usize], stop: &[usize]) -> Vec<Vec<usize>> {
    let extents: Vec<usize> = stop.iter().zip(start).map(|(b, a)| b - a).collect();
    let mut all = indices(&extents);
    for index in &mut all {
        index.iter_mut().zip(start).for_each(|(i, start)| *i += start);
    }
    all
}

/// Whether a slice contains items outside of the array.
fn is_outside(start: &[usize], stop: &[usize], shape: &[usize]) -> bool {
    let is_empty = start.iter().zip(stop).any(|(start, stop)| start == stop);
    !is_empty && stop.iter().zip(shape).any(|(stop, extent)| stop > extent)
}

/// Clips a slice to the array's shape.
fn cut(start: &[usize], stop: &mut [usize], shape: &[usize]) {
    for ((stop, start), extent) in stop.iter_mut().zip(start).zip(shape) {
        *stop = (*stop).min(*extent).max(*start);
    }
}

fn check_slices(random: &mut Random, array: &mut Array, model: &mut Model) {
    for _ in 0..4 {
        let (start, mut stop) = slice(random, &model.shape);
        if is_outside(&start, &stop, &model.shape) {
            let (from, to) = (wide(&start), wide(&stop));
            let len = indices_between(&start, &stop).len() * model.width;
            assert_eq!(array.get_slice(&from, &to), Err(Error::InvalidParam));
            let read = array.get_slice_into(&from, &to, &mut vec![1; len]);
            assert_eq!(read, Err(Error::InvalidParam));
            let written = array.set_slice(&from, &to, &vec![1; len]);
            assert_eq!(written, Err(Error::InvalidParam));
        }
        cut(&start, &mut stop, &model.shape);
        let all = indices_between(&start, &stop);
        let expected: Vec<u8> = all.iter().flat_map(|index| model.item(index)).collect();
        let found = array.get_slice(&wide(&start), &wide(&stop)).unwrap();
        assert_eq!(found, expected, "{:?} {start:?} {stop:?}", model.shape);
        let mut into = random.bytes(expected.len());
        array.get_slice_into(&wide(&start), &wide(&stop), &mut into).unwrap();
        assert_eq!(into, expected, "{:?} {start:?} {stop:?}", model.shape);
        into.push(0);
        let longer = array.get_slice_into(&wide(&start), &wide(&stop), &mut into);
        assert_eq!(longer, Err(Error::InvalidParam));
        let items = random.bytes(expected.len());
        array.set_slice(&wide(&start), &wide(&stop), &items).unwrap();
        for (index, item) in all.iter().zip(items.chunks(model.width)) {
            model.put(index, item);
        }
    }
    assert_eq!(array.items().unwrap(), model.items, "{:?}", model.shape);
}

#[test]
fn slices_match_the_model() {
    let mut random = Random(1);
    for _ in 0..60 {
        let shapes = draw(&mut random);
        for (storage, path) in storages("slices") {
            remove(path.as_ref());
            let (mut array, mut model) = create(&mut random, storage, &shapes);
            assert_eq!(array.items().unwrap(), model.items);
            check_slices(&mut random, &mut array, &mut model);
            remove(path.as_ref());
        }
    }
}

/// Creates an array in a frame in memory, processed by `nthreads` threads.
fn array_for(nthreads: i16, shapes: &Shapes) -> Array {
    let shape = wide(&shapes.shape);
    let layout = Layout { shape: &shape, chunkshape: &shapes.chunks, blockshape: &shapes.blocks };
    let params = CParams::default().typesize(shapes.width as i32).threads(nthreads);
    Array::zeros(Storage::frame(), params, &layout, "|V").unwrap()
}

#[test]
fn chunks_do_not_depend_on_the_number_of_threads() {
    let mut random = Random(5);
    for _ in 0..30 {
        let shapes = Shapes {
            shape: vec![23 + random.below(9), 29 + random.below(5)],
            chunks: vec![4 + random.below(3) as i32, 5],
            blocks: vec![2, 3],
            width: [1, 4, 300][random.below(3)],
        };
        let mut arrays = [1, 2, 5].map(|nthreads| array_for(nthreads, &shapes));
        for _ in 0..3 {
            let (start, mut stop) = slice(&mut random, &shapes.shape);
            cut(&start, &mut stop, &shapes.shape);
            let items = indices_between(&start, &stop).len() * shapes.width;
            let items = random.bytes(items);
            let picked: Vec<Vec<i64>> = (shapes.shape.iter())
                .map(|&n| (0..8).map(|_| random.below(n) as i64).collect())
                .collect();
            let lists: Vec<&[i64]> = picked.iter().map(Vec::as_slice).collect();
            let others = random.bytes(64 * shapes.width);
            let left = arrays.each_mut().map(|array| {
                array.set_slice(&wide(&start), &wide(&stop), &items).unwrap();
                array.set_orthogonal(&lists, &others).unwrap();
                {
                    let schunk = array.schunk();
                    let chunks: Vec<Vec<u8>> = (0..schunk.nchunks())
                        .map(|nchunk| schunk.chunk(nchunk).unwrap().to_vec())
                        .collect();
                    (array.get_orthogonal(&lists).unwrap(), chunks)
                }
            });
            assert!(left[0] == left[1] && left[0] == left[2], "{:?}", shapes.shape);
        }
    }
}

#[test]
fn a_failing_chunk_stops_the_write_after_the_preceding_chunks() {
    let every_chunk: Vec<i64> = (0..20).map(|chunk| chunk * 10).collect();
    let shapes = meta::serialize(&[200], &[10], &[5], Some(b"|u1"), 0).unwrap();
    let params = |blocksize| CParams::default().typesize(1).blocksize(blocksize);
    for nthreads in [1, 2, 5] {
        let mut schunk = SChunk::create(
            Storage::frame(),
            params(5).threads(nthreads),
            DParams::default().threads(nthreads),
        )
        .unwrap();
        schunk.add_metalayer("b2nd", &shapes).unwrap();
        for _ in 0..20 {
            schunk.append(&[1; 10]).unwrap();
        }
        // The blocks of this chunk differ from the array's.
        let mut other = Compressor::new(params(2).level(0)).unwrap();
        let other = other.compress_to_vec(&[1; 10]).unwrap();
        schunk.update_chunk(12, &other).unwrap();
        let mut array = Array::from_schunk(schunk).unwrap();
        let written = array.set_orthogonal(&[&every_chunk], &[9; 20]);
        assert_eq!(written, Err(Error::Failure));
        for chunk in 0..20 {
            let item = array.get_slice(&[chunk * 10], &[chunk * 10 + 1]);
            let expected = match chunk {
                0..12 => Ok(vec![9]),
                12 => Err(Error::Failure),
                _ => Ok(vec![1]),
            };
            assert_eq!(item, expected, "chunk {chunk}, {nthreads} threads");
        }
    }
}

#[test]
fn selections_match_the_model() {
    let mut random = Random(2);
    for _ in 0..80 {
        let shapes = draw(&mut random);
        if shapes.shape.is_empty() {
            continue;
        }
        let (mut array, mut model) = create(&mut random, Storage::memory(), &shapes);
        let total: usize = shapes.shape.iter().product();
        let numbers: Vec<i64> = (0..9).map(|_| random.below(total) as i64).collect();
        let expected: Vec<u8> = numbers
            .iter()
            .flat_map(|&at| model.items[at as usize * model.width..][..model.width].to_vec())
            .collect();
        assert_eq!(array.get_sparse(&numbers).unwrap(), expected);

        let picked: Vec<Vec<i64>> = (shapes.shape.iter())
            .map(|&n| (0..random.below(4)).map(|_| random.below(n) as i64).collect())
            .collect();
        let lists: Vec<&[i64]> = picked.iter().map(Vec::as_slice).collect();
        let counts: Vec<usize> = picked.iter().map(Vec::len).collect();
        let places: Vec<Vec<usize>> = indices(&counts)
            .iter()
            .map(|at| at.iter().zip(&picked).map(|(&i, list)| list[i] as usize).collect())
            .collect();
        let expected: Vec<u8> = places.iter().flat_map(|index| model.item(index)).collect();
        assert_eq!(array.get_orthogonal(&lists).unwrap(), expected);
        let items = random.bytes(expected.len());
        array.set_orthogonal(&lists, &items).unwrap();
        for (index, item) in places.iter().zip(items.chunks(model.width)) {
            model.put(index, item);
        }
        assert_eq!(array.items().unwrap(), model.items);
    }
}

#[test]
fn shrinking_and_growing_match_the_model() {
    let mut random = Random(3);
    for _ in 0..25 {
        let shapes = draw(&mut random);
        for (storage, path) in storages("grow") {
            remove(path.as_ref());
            let (mut array, mut model) = create(&mut random, storage.clone(), &shapes);
            for _ in 0..3 {
                // Shrinks by whole chunks only: items cut off inside a chunk would reappear.
                let shape: Vec<usize> = (model.shape.iter().zip(&shapes.chunks))
                    .map(|(&n, &c)| match random.below(3) {
                        0 => n / c as usize * c as usize,
                        1 => n,
                        _ => n + random.below(5),
                    })
                    .collect();
                array.resize(&wide(&shape), None).unwrap();
                model = model.resized(&shape);
                assert_eq!(array.items().unwrap(), model.items, "{shape:?}");
                check_slices(&mut random, &mut array, &mut model);
                if model.shape.is_empty() {
                    continue;
                }
                let axis = random.below(model.shape.len());
                let mut more = model.shape.clone();
                more[axis] = 1 + random.below(3);
                let items = random.bytes(more.iter().product::<usize>() * model.width);
                let appended = array.append(&items, axis as i8);
                let others: usize = (model.shape.iter().enumerate())
                    .filter(|&(dim, _)| dim != axis)
                    .map(|(_, &n)| n)
                    .product();
                if others == 0 {
                    assert_eq!(appended, Err(Error::InvalidParam));
                    continue;
                }
                appended.unwrap();
                let (mut start, mut grown) = (vec![0; more.len()], model.shape.clone());
                start[axis] = grown[axis];
                grown[axis] += more[axis];
                model = model.resized(&grown);
                let all = indices_between(&start, &grown);
                for (index, item) in all.iter().zip(items.chunks(model.width)) {
                    model.put(index, item);
                }
                assert_eq!(array.items().unwrap(), model.items);
            }
            drop(array);
            if path.is_some() {
                let array = Array::open(storage, DParams::default()).unwrap();
                assert_eq!(array.items().unwrap(), model.items);
            }
            remove(path.as_ref());
        }
    }
}

#[test]
fn copies_of_slices_have_the_same_items() -> Result<()> {
    let mut random = Random(4);
    for _ in 0..40 {
        let shapes = draw(&mut random);
        let (array, model) = create(&mut random, Storage::memory(), &shapes);
        let (start, mut stop) = slice(&mut random, &shapes.shape);
        cut(&start, &mut stop, &shapes.shape);
        let other: Vec<i32> = shapes.chunks.iter().map(|_| 1 + random.below(4) as i32).collect();
        let layout = Layout { shape: &[], chunkshape: &other, blockshape: &vec![1; other.len()] };
        let params = CParams::default().typesize(shapes.width as i32);
        let range = (&wide(&start)[..], &wide(&stop)[..]);
        let mut copy = array.copy_slice(Storage::frame(), params, &layout, range)?;
        let expected: Vec<u8> =
            indices_between(&start, &stop).iter().flat_map(|index| model.item(index)).collect();
        assert_eq!(copy.items()?, expected);
        let bytes = copy.to_bytes()?;
        let schunk = SChunk::from_bytes(&bytes, DParams::default())?;
        assert_eq!(Array::from_schunk(schunk)?.items()?, expected);
    }
    Ok(())
}

#[test]
fn views_and_special_items_have_the_expected_items() -> Result<()> {
    let params = || CParams::default().typesize(4);
    let layout = Layout { shape: &[5, 1, 7], chunkshape: &[4, 1, 4], blockshape: &[2, 1, 2] };
    let value = 7u32.to_le_bytes();
    let full = Array::create(Storage::memory(), params(), &layout, "<u4", Fill::Value(&value))?;
    assert_eq!(full.items()?, value.repeat(35));
    assert_eq!(full.squeeze()?.shape(), [5, 7]);
    assert_eq!(full.squeeze()?.get_slice(&[4, 6], &[5, 7])?, value);
    let more = full.expand_dims(&[true, false, false, false])?;
    assert_eq!(more.shape(), [1, 5, 1, 7]);
    assert_eq!(more.get_slice(&[0, 3, 0, 3], &[1, 5, 1, 5])?, value.repeat(4));
    let nothing = Fill::Special(Special::Uninit);
    let unwritten = Array::create(Storage::frame(), params(), &layout, "<u4", nothing)?;
    assert_eq!(unwritten.items()?, vec![0; 140]);
    let nans = Fill::Special(Special::Nan);
    let nans = Array::create(Storage::memory(), params(), &layout, "<f4", nans)?;
    let is_nan = |item: &[u8]| f32::from_le_bytes(item.try_into().unwrap()).is_nan();
    assert!(nans.items()?.chunks(4).all(is_nan));
    Ok(())
}

/// Returns all boxes of these extents, in items: each extent from 1 on.
fn boxes_within(most: &[usize]) -> Vec<Vec<usize>> {
    let one = vec![1; most.len()];
    let end: Vec<usize> = most.iter().map(|extent| extent + 1).collect();
    indices_between(&one, &end)
}

/// Every slice, the empty ones included, of every array with these extents at most, in every
/// partition into chunks and blocks.
#[test]
fn every_slice_of_every_small_array_is_read_and_written() -> Result<()> {
    let narrow = |extents: &[usize]| extents.iter().map(|&it| it as i32).collect::<Vec<i32>>();
    let mut slices = 0;
    for most in [&[7][..], &[3, 4], &[2, 2, 3]] {
        for shape in boxes_within(most) {
            for (chunk, block) in boxes_within(&shape).into_iter().flat_map(|chunk| {
                boxes_within(&chunk).into_iter().map(move |it| (chunk.clone(), it))
            }) {
                let (chunkshape, blockshape) = (narrow(&chunk), narrow(&block));
                let wide_shape = wide(&shape);
                let layout =
                    Layout { shape: &wide_shape, chunkshape: &chunkshape, blockshape: &blockshape };
                let params = CParams::default().typesize(1);
                let mut array = Array::zeros(Storage::memory(), params, &layout, "|u1")?;
                let mut model = Model::zeros(&shape, 1);
                let mut next = 0u8;
                let ends: Vec<usize> = shape.iter().map(|extent| extent + 1).collect();
                let origin = vec![0; shape.len()];
                for start in indices_between(&origin, &ends) {
                    for stop in indices_between(&start, &ends) {
                        let inside = indices_between(&start, &stop);
                        let values: Vec<u8> = inside
                            .iter()
                            .map(|_| {
                                next = next.wrapping_add(1);
                                next
                            })
                            .collect();
                        let (from, to) = (wide(&start), wide(&stop));
                        array.set_slice(&from, &to, &values)?;
                        for (index, value) in inside.iter().zip(&values) {
                            model.put(index, &[*value]);
                        }
                        assert_eq!(array.get_slice(&from, &to)?, values, "{layout:?} {from:?}");
                        slices += 1;
                    }
                }
                assert_eq!(array.items()?, model.items, "{layout:?}");
            }
        }
    }
    assert!(slices > 50_000, "{slices}");
    Ok(())
}
