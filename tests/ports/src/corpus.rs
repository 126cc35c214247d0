//! Files of all formats, which each target writes, and each other target verifies and changes.
//!
//! Values are known: those of an unchanged corpus, and those after [`change`].

use std::path::Path;

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, HeaderForm, Special};
use ferroblosc::codec::id as codec;
use ferroblosc::filter::{Slot, id as filter};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::bcolz::{Carray, CarraySpec, Mode, Options};
use ferroblosc_formats::bloscpack::{self, AppendArgs, PackArgs, Value};
use ferroblosc_formats::numpy::Dtype;

use crate::{Any, data};

/// The codecs of frames; each is used with another filter.
const FRAMES: [(&str, u8, &[u8]); 5] = [
    ("blosclz", codec::BLOSCLZ, &[filter::SHUFFLE]),
    ("lz4", codec::LZ4, &[filter::BITSHUFFLE]),
    ("lz4hc", codec::LZ4HC, &[filter::DELTA, filter::SHUFFLE]),
    ("zlib", codec::ZLIB, &[filter::SHUFFLE, filter::BYTEDELTA]),
    ("zstd", codec::ZSTD, &[]),
];
/// The size of a chunk in bytes, and that of the data, which has a shorter last chunk.
const CHUNK: usize = 20_000;
const SIZE: usize = 3 * CHUNK - 4000;
/// MessagePack: `[1, 300]`.
const CONTENT: [u8; 5] = [0x92, 0x01, 0xCD, 0x01, 0x2C];
const CHANGED_CONTENT: [u8; 5] = [0x92, 0x02, 0xCD, 0x02, 0x2C];
const SHAPE: [i64; 2] = [50, 40];
const CURVE: [i64; 2] = [64, 64];

/// Fails if a value is another one than expected.
fn expect<T: PartialEq + ?Sized>(name: &str, found: &T, expected: &T) -> Any<()> {
    if found == expected { Ok(()) } else { Err(format!("{name} is not what was written").into()) }
}

fn storage(folder: &Path, name: &str, is_sparse: bool) -> Storage {
    if is_sparse {
        Storage::directory(folder.join(format!("{name}.sparse")))
    } else {
        Storage::file(folder.join(format!("{name}.b2frame"))).checksums()
    }
}

/// Returns the bytes of the frames.
fn numbers(len: usize) -> Vec<u8> {
    data::numbers(len, u32::to_le_bytes)
}

/// Returns the items of the arrays in row-major order: of a new array, or of a changed one.
fn items(is_changed: bool) -> Vec<u8> {
    let rows = if is_changed { SHAPE[0] + 5 } else { SHAPE[0] };
    let value = |row: i64, column: i64| {
        let is_set = is_changed && row < 10 && column < 4;
        if row >= SHAPE[0] {
            -7
        } else if is_set {
            i32::MIN
        } else {
            (row * 1000 + column) as i32
        }
    };
    let index = (0..rows).flat_map(|row| (0..SHAPE[1]).map(move |column| (row, column)));
    index.flat_map(|(row, column)| value(row, column).to_le_bytes()).collect()
}

/// Writes the corpus to a new directory.
pub fn write(folder: &Path) -> Any<()> {
    std::fs::create_dir_all(folder)?;
    let data = numbers(SIZE);
    for (name, codec, filters) in FRAMES {
        let slots: Vec<Slot> = filters.iter().map(|&id| Slot { id, meta: 0 }).collect();
        for is_sparse in [false, true] {
            let params = CParams::default().codec(codec).typesize(4).filters(&slots).threads(2);
            let storage = storage(folder, name, is_sparse);
            let mut schunk = SChunk::create(storage, params, DParams::default())?;
            schunk.add_metalayer("fixed", &CONTENT)?;
            data.chunks(CHUNK).try_for_each(|part| schunk.append(part).map(drop))?;
            schunk.add_vlmetalayer("variable", &CONTENT)?;
        }
    }

    let layout = Layout { shape: &SHAPE, chunkshape: &[20, 16], blockshape: &[8, 7] };
    let params = CParams::default().codec(codec::ZSTD).typesize(4);
    let file = Storage::file(folder.join("array.b2nd"));
    Array::from_item_bytes(file, params, &layout, "<i4", &items(false))?;

    // The items have the byte order of this machine, which the dtype states.
    let layout = Layout { shape: &CURVE, chunkshape: &[32, 64], blockshape: &[16, 16] };
    let curve = data::curve(64 * 64);
    let file = |name: &str| Storage::file(folder.join(name));
    Array::from_items(file("native.b2nd"), CParams::default(), &layout, &curve)?;
    let mut params = CParams::default().codec(codec::ZFP_ACCURACY).filters(&[]);
    params.compcode_meta = -4_i8 as u8;
    Array::from_items(file("zfp.b2nd"), params, &layout, &curve)?;
    let params = CParams::default().typesize(8);
    let mut nans = SChunk::create(file("nans.b2frame"), params, DParams::default())?;
    nans.fill(1000, Special::Nan, 4000)?;

    let mut params = CParams::default().codec(codec::ZLIB).typesize(4);
    params.header = HeaderForm::Blosc1;
    let chunk = Compressor::new(params)?.compress_to_vec(&data)?;
    std::fs::write(folder.join("chunk.blosc1"), chunk)?;

    let metadata = Some(Value::parse(br#"{"answer": 42}"#)?);
    let args = PackArgs { chunk_size: 16_000, metadata, nthreads: 2, ..PackArgs::default() };
    bloscpack::pack_bytes_to_file(&data, &folder.join("numbers.blp"), &args)?;

    let spec = CarraySpec { chunklen: Some(512), ..CarraySpec::new(Dtype::parse("<i4")?) };
    let root = folder.join("carray");
    let mut carray = Carray::create(&root, &spec, Mode::Write, &Options::default())?;
    carray.append(&items(false))?;
    carray.close()?;
    Ok(())
}

/// Verifies a corpus that [`change`] has changed, or an unchanged one.
pub fn check(folder: &Path, is_changed: bool) -> Any<()> {
    let mut data = numbers(SIZE);
    let chunk = data.clone();
    let mut content = CONTENT;
    if is_changed {
        content = CHANGED_CONTENT;
        data[4 * 4990..4 * 5010].fill(0x5A);
        data.extend_from_slice(&data.clone()[..CHUNK - 8000]);
    }
    for (name, ..) in FRAMES {
        for is_sparse in [false, true] {
            let schunk =
                SChunk::open(storage(folder, name, is_sparse), DParams::default().threads(2))?;
            let name = format!("the frame {name} (sparse: {is_sparse})");
            let mut found = vec![0; schunk.nbytes() as usize];
            schunk.get_slice(0, schunk.nbytes() / 4, &mut found)?;
            expect(&name, &found, &data)?;
            let fixed = schunk.metalayer("fixed").ok_or("no metalayer")?;
            expect(&name, fixed.as_slice(), &content)?;
            expect(&name, schunk.vlmetalayer("variable")?.as_slice(), &content)?;
        }
    }

    let open = |name: &str| Array::open(Storage::file(folder.join(name)), DParams::default());
    let array = open("array.b2nd")?;
    expect("the array", &array.items()?, &items(is_changed))?;
    expect("the dtype", &array.dtype(), &Some("<i4"))?;

    let native = open("native.b2nd")?;
    let is_big_endian = native.dtype() == Some(">f8");
    let order = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("items have 8 bytes");
        if is_big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) }
    };
    let found: Vec<f64> = native.items()?.chunks(8).map(order).collect();
    expect("the array of native items", &found, &data::curve(64 * 64))?;

    // Codecs and special chunks of floats return those of this machine.
    let found = open("zfp.b2nd")?.items()?;
    for (bytes, expected) in found.chunks(8).zip(data::curve(64 * 64)) {
        let float = f64::from_ne_bytes(bytes.try_into()?);
        if (float - expected).abs() > 1e-4 {
            return Err(format!("ZFP returns {float} instead of {expected}").into());
        }
    }
    let nans = SChunk::open(Storage::file(folder.join("nans.b2frame")), DParams::default())?;
    let mut found = vec![0; nans.nbytes() as usize];
    nans.get_slice(0, 1000, &mut found)?;
    let is_nan = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().expect("8 bytes")).is_nan();
    expect("the frame of NaNs", &found.chunks(8).filter(|bytes| is_nan(bytes)).count(), &1000)?;

    let file = std::fs::read(folder.join("chunk.blosc1"))?;
    let found = Decompressor::new(DParams::default()).decompress_to_vec(&file)?;
    expect("the chunk of Blosc 1.x", &found, &chunk)?;

    let (found, unpacked) = bloscpack::unpack_bytes_from_file(&folder.join("numbers.blp"), 2)?;
    let mut packed = chunk.clone();
    if is_changed {
        packed.extend_from_slice(b"appended");
    }
    expect("the container of Bloscpack", &found, &packed)?;
    let metadata = unpacked.metadata.as_ref().and_then(|metadata| metadata.value()).cloned();
    expect("its metadata", &metadata, &Some(Value::parse(br#"{"answer": 42}"#)?))?;

    let mut carray = Carray::open(&folder.join("carray"), Mode::Read, &Options::default())?;
    let found = carray.read(0..carray.len())?;
    expect("the carray", &found, &items(is_changed))
}

/// Changes all files of an unchanged corpus that can be changed.
pub fn change(folder: &Path) -> Any<()> {
    for (name, ..) in FRAMES {
        for is_sparse in [false, true] {
            let mut schunk = SChunk::open(storage(folder, name, is_sparse), DParams::default())?;
            schunk.update_metalayer("fixed", &CHANGED_CONTENT)?;
            schunk.update_vlmetalayer("variable", &CHANGED_CONTENT)?;
            // A slice in two chunks, then the end of the short chunk and another one.
            schunk.set_slice(4990, 5010, &[0x5A; 80])?;
            let mut start = vec![0; CHUNK];
            schunk.get_slice(0, (CHUNK / 4) as i64, &mut start)?;
            // Chunks after a short one do not exist, so the short one is replaced.
            let mut last = vec![0; CHUNK - 4000];
            let nchunk = schunk.nchunks() - 1;
            schunk.decompress(nchunk, &mut last)?;
            last.extend_from_slice(&start[..4000]);
            let params = CParams::default().codec(codec::LZ4).typesize(4);
            let chunk = Compressor::new(params.clone())?.compress_to_vec(&last)?;
            schunk.update_chunk(nchunk, &chunk)?;
            let rest = &start[4000..CHUNK - 8000];
            schunk.append(rest)?;
        }
    }
    let open = |name: &str| Array::open(Storage::file(folder.join(name)), DParams::default());
    let mut array = open("array.b2nd")?;
    array.append(&(-7_i32).to_le_bytes().repeat(5 * SHAPE[1] as usize), 0)?;
    array.set_slice(&[0, 0], &[10, 4], &i32::MIN.to_le_bytes().repeat(40))?;

    let args = AppendArgs { nthreads: 2, ..AppendArgs::default() };
    let added: &[u8] = b"appended";
    let container = folder.join("numbers.blp");
    bloscpack::append(&container, added, Some(added.len() as u64), &args, &mut ())?;

    let mut carray = Carray::open(&folder.join("carray"), Mode::Append, &Options::default())?;
    carray.append(&(-7_i32).to_le_bytes().repeat(5 * SHAPE[1] as usize))?;
    for row in 0..10 {
        carray.set((row * SHAPE[1]) as u64, &i32::MIN.to_le_bytes().repeat(4))?;
    }
    carray.close()?;
    Ok(())
}
