//! Tests that open and read truncated and corrupted frames.
//!
//! A frame in memory ends at an inaccessible page. For every corruption, reading must return a
//! documented error or data that were written, and must stay within the memory limit of the child
//! process that runs these tests.

use super::schunk::SChunk;
use super::{Storage, chunks};
use crate::chunk::{CParams, Compressor, DParams, Special, special};
use crate::frame::{Frame, Memory};
use crate::io::View;
use crate::io::testing::TempDir;
use crate::testing::GuardedBuf;
use crate::{Error, Result, codec};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::ptr::NonNull;

const CHUNK: usize = 400;
/// Memory that a child may allocate beyond its initial size, in bytes. The frames and chunks of
/// these tests have a few hundred bytes.
#[cfg(unix)]
const ALLOWANCE: libc::rlim_t = 64 << 20;
/// Environment variable that marks the child process with limited memory.
#[cfg(unix)]
const CHILD: &str = "FERROBLOSC_HOSTILE_CHILD";

/// Returns ascending numbers.
fn ramp(first: i32, len: usize) -> Vec<u8> {
    (first..).flat_map(i32::to_le_bytes).take(len).collect::<Vec<u8>>()
}

/// Fills a frame with chunks of one size, some of them special, and metalayers of both kinds.
fn with_everything(mut schunk: SChunk) -> SChunk {
    schunk.add_metalayer("first", b"of a fixed length").unwrap();
    schunk.add_metalayer("second", b"").unwrap();
    for i in 0..3 {
        schunk.append(&ramp(i * 1000, CHUNK)).unwrap();
        schunk.append(&[0; CHUNK]).unwrap();
    }
    schunk.append(&ramp(77, 100)).unwrap();
    schunk.add_vlmetalayer("text", b"one text, and the same text").unwrap();
    schunk.add_vlmetalayer("empty", b"").unwrap();
    schunk
}

/// Fills a frame with chunks of different sizes, enough for a compressed index.
fn with_many_sizes(mut schunk: SChunk) -> SChunk {
    for i in 0..40 {
        let len = CHUNK - 4 * (i as usize % 3);
        schunk.append(&ramp(i, len)).unwrap();
    }
    schunk.append(&[0; 40]).unwrap();
    schunk
}

/// Fills a frame with chunks of variable-length blocks.
fn with_vl_blocks(mut schunk: SChunk) -> SChunk {
    let mut dest = [0; 200];
    let blocks: [&[u8]; 3] = [b"hello", b"wonderful", b"x"];
    let params = CParams::default().typesize(1);
    let len = Compressor::new(params).unwrap().vl_compress(&blocks, &mut dest).unwrap();
    schunk.append_chunk(&dest[..len]).unwrap();
    schunk.append_chunk(&dest[..len]).unwrap();
    schunk
}

/// Fills a frame with one value.
fn filled(mut schunk: SChunk) -> SChunk {
    schunk.fill(1025, Special::Nan, CHUNK as i32).unwrap();
    schunk
}

const SAMPLES: [fn(SChunk) -> SChunk; 4] =
    [with_everything, with_many_sizes, with_vl_blocks, filled];

fn empty(storage: Storage) -> SChunk {
    let params = CParams::default().typesize(4).codec(codec::id::LZ4);
    SChunk::create(storage, params, DParams::default()).unwrap()
}

/// Returns the ranges of a frame before and after its chunks.
fn around_chunks(frame: &[u8], sparse: bool) -> [Range<usize>; 2] {
    let header_len = u32::from_be_bytes(frame[11..15].try_into().unwrap()) as usize;
    let cbytes = u64::from_be_bytes(frame[39..47].try_into().unwrap()) as usize;
    let data = if sparse { 0 } else { cbytes };
    [0..header_len, header_len + data..frame.len()]
}

/// Returns the decompressed content of each chunk.
fn contents(schunk: &SChunk) -> Vec<Vec<u8>> {
    let mut dest = [0; 2 * CHUNK];
    (0..schunk.nchunks())
        .filter_map(|i| {
            let len = schunk.decompress(i, &mut dest).ok()?;
            Some(dest[..len].to_vec())
        })
        .collect()
}

/// Reads a super-chunk through every read function; `known` are the contents that were written.
fn walk(schunk: &SChunk, known: &[Vec<u8>]) -> Result<()> {
    let mut dest = vec![0xEE; 2 * CHUNK];
    let mut first_error = Ok(());
    let mut note = |result: Result<()>| {
        if let Err(error) = result {
            assert_ne!(error, Error::MemoryAlloc, "allocated beyond the limit");
            if first_error.is_ok() {
                first_error = Err(error);
            }
        }
    };
    for i in 0..schunk.nchunks().min(60) {
        note(schunk.chunk(i).map(drop));
        note(chunks::lazy_chunk(schunk.state(), i).map(drop));
        note(schunk.vl_block(i, 1).map(drop));
        match schunk.decompress(i, &mut dest) {
            Ok(len) => {
                let data = &dest[..len];
                let is_uniform = data.chunks(4).all(|item| data.starts_with(item));
                let was_written = known.iter().any(|chunk| chunk == data);
                assert!(was_written || is_uniform, "chunk {i} is {data:x?}");
            }
            Err(error) => note(Err(error)),
        }
    }
    let nitems = schunk.nbytes() / i64::from(schunk.typesize().max(1));
    for (start, stop) in [(0, 1), (99, 102), (nitems - 1, nitems), (0, nitems)] {
        let len = (stop - start).saturating_mul(i64::from(schunk.typesize()));
        if let Ok(len @ 0..4096) = usize::try_from(len) {
            note(schunk.get_slice(start, stop, &mut vec![0; len]));
        }
    }
    note(schunk.get_sparse(&[0, nitems - 1, 50], &mut [0; 12]));
    for name in schunk.vlmetalayer_names() {
        // The size of a run of one byte is not bounded by the size of its chunk.
        let _ = schunk.vlmetalayer(&name);
    }
    let _ = schunk.metalayer("first");
    first_error
}

/// Opens the frame in memory, without a copy, and reads it.
fn read_from_memory(frame: &GuardedBuf, known: &[Vec<u8>]) -> Result<()> {
    let start = NonNull::from(&frame[..]).cast();
    // SAFETY: the buffer outlives the super-chunk and is not written while it exists.
    let memory = unsafe { Memory::lent(View::new(start, frame.len())) };
    let schunk = SChunk::of_frame(Frame::from_memory(memory)?, DParams::default())?;
    walk(&schunk, known)
}

fn read_from(storage: &Storage, known: &[Vec<u8>]) -> Result<()> {
    walk(&SChunk::open(storage.clone(), DParams::default())?, known)
}

/// Returns the corruptions of a byte: each bit flipped, and extreme values.
fn others(byte: u8) -> impl Iterator<Item = u8> {
    (0..8)
        .map(move |bit| byte ^ 1 << bit)
        .chain([0x00, 0x01, 0x7F, 0x80, 0xFF])
        .filter(move |&other| other != byte)
}

/// Returns true: the memory of a process is not limited here.
#[cfg(not(unix))]
fn in_child_with_little_memory(_name: &str) -> bool {
    true
}

/// Runs a test of this file in a child process with limited memory; returns true in the child.
#[cfg(unix)]
fn in_child_with_little_memory(name: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: libc::rlim_t = pages.split(' ').next().unwrap().parse().unwrap();
        let limit = pages * 4096 + ALLOWANCE;
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: the pointer refers to an initialised struct, which the call only reads.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        return true;
    }
    let path = module_path!().split_once("::").unwrap().1;
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{path}::{name}"), "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

#[test]
fn row_d11_row_f15_corrupted_frames_in_memory_give_errors_or_correct_data() {
    if !in_child_with_little_memory(
        "row_d11_row_f15_corrupted_frames_in_memory_give_errors_or_correct_data",
    ) {
        return;
    }
    for sample in SAMPLES {
        let mut schunk = sample(empty(Storage::frame()));
        let frame = schunk.to_bytes().unwrap();
        let known = contents(&schunk);
        let whole = GuardedBuf::copy_of(&frame);
        assert!(known.len() as i64 == schunk.nchunks());
        for len in 0..frame.len() {
            let cut = GuardedBuf::copy_of(&frame[..len]);
            assert!(read_from_memory(&cut, &known).is_err(), "{len} bytes");
        }
        let mut broken = whole;
        let mut refused = 0;
        for at in around_chunks(&frame, false).into_iter().flatten() {
            for byte in others(frame[at]) {
                broken[at] = byte;
                refused += usize::from(read_from_memory(&broken, &known).is_err());
            }
            broken[at] = frame[at];
        }
        assert!(refused > frame.len() / 8, "only {refused} corruptions were refused");
    }
}

#[test]
fn row_f15_a_repeated_value_index_is_not_expanded() {
    if !in_child_with_little_memory("row_f15_a_repeated_value_index_is_not_expanded") {
        return;
    }
    const NBYTES: i32 = 0x7000_0000;
    let frame = with_many_sizes(empty(Storage::frame())).to_bytes().unwrap();
    let around = around_chunks(&frame, false);
    let index_at = around[1].start;
    let index_len = i32::from_le_bytes(frame[index_at + 12..][..4].try_into().unwrap());
    let trailer = &frame[index_at + index_len as usize..];
    let params = CParams::default().typesize(8);
    let mut zeros = [0; 32];
    special::zeros(&params, NBYTES, &mut zeros).unwrap();
    let mut nans = [0; 32];
    special::nans(&params, NBYTES, &mut nans).unwrap();
    let mut pairs = [0; 48];
    let pair = [[0; 8], [1; 8]].concat();
    special::repeatval(&params.typesize(16), NBYTES, &pair, &mut pairs).unwrap();
    for (index, opens) in [(&zeros[..], true), (&nans[..], false), (&pairs[..], false)] {
        let mut hostile = [&frame[..index_at], index, trailer].concat();
        let frame_len = hostile.len() as u64;
        hostile[16..24].copy_from_slice(&frame_len.to_be_bytes());
        // Every chunk then has the content of the first one.
        let _ = read_from_memory(&GuardedBuf::copy_of(&hostile), &[ramp(0, CHUNK)]);
        match SChunk::from_bytes(&hostile, DParams::default()) {
            Ok(schunk) => assert!(opens && schunk.nchunks() == i64::from(NBYTES / 8)),
            Err(error) => assert!(!opens && error == Error::InvalidHeader),
        }
    }
}

/// Calls `check` with the length after each truncation of a file by one byte, and leaves an empty
/// file.
fn cut(file: &mut File, mut check: impl FnMut(usize)) {
    for len in (0..file.metadata().unwrap().len()).rev() {
        file.set_len(len).unwrap();
        check(len as usize);
    }
}

fn put(file: &mut File, at: usize, bytes: &[u8]) {
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(bytes).unwrap();
}

/// Corrupts each byte of a frame's file outside the chunks, and truncates the file at each length.
///
/// The file is changed in place: some file systems write a file to the disk if it is truncated and
/// written again.
fn damage_file(path: &Path, storage: &Storage, known: &[Vec<u8>], sparse: bool) {
    let frame = std::fs::read(path).unwrap();
    let mut file = File::options().write(true).open(path).unwrap();
    cut(&mut file, |len| assert!(read_from(storage, known).is_err(), "{len} bytes"));
    put(&mut file, 0, &frame);
    let mut refused = 0;
    for at in around_chunks(&frame, sparse).into_iter().flatten() {
        for byte in others(frame[at]) {
            put(&mut file, at, &[byte]);
            refused += usize::from(read_from(storage, known).is_err());
        }
        put(&mut file, at, &frame[at..=at]);
    }
    assert!(refused > frame.len() / 8, "only {refused} corruptions were refused");
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ferroblosc-{name}-{}", std::process::id()))
}

#[test]
fn row_d11_row_f15_corrupted_files_give_errors_or_correct_data() {
    if !in_child_with_little_memory("row_d11_row_f15_corrupted_files_give_errors_or_correct_data") {
        return;
    }
    for (i, sample) in SAMPLES.into_iter().enumerate() {
        let path = scratch(&format!("hostile-file-{i}"));
        let storage = Storage::file(&path);
        let known = contents(&sample(empty(storage.clone())));
        damage_file(&path, &storage, &known, false);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn row_d11_row_f15_corrupted_directories_give_errors_or_correct_data() {
    if !in_child_with_little_memory(
        "row_d11_row_f15_corrupted_directories_give_errors_or_correct_data",
    ) {
        return;
    }
    for (i, sample) in SAMPLES.into_iter().enumerate() {
        let path = scratch(&format!("hostile-directory-{i}"));
        let storage = Storage::directory(&path);
        let known = contents(&sample(empty(storage.clone())));
        damage_file(&path.join("chunks.b2frame"), &storage, &known, true);
        if let Ok(mut file) = File::options().write(true).open(path.join("00000000.chunk")) {
            cut(&mut file, |len| assert!(read_from(&storage, &known).is_err(), "{len} bytes"));
        }
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn row_f38_a_chunk_without_data_in_a_frame_of_full_chunks_is_an_error() {
    let mut schunk = empty(Storage::frame());
    for first in 0..3 {
        let data: Vec<u8> = (0..CHUNK).map(|at| (first + at / 100) as u8).collect();
        schunk.append(&data).unwrap();
    }
    let mut frame = schunk.to_bytes().unwrap().clone();
    let chunk = schunk.chunk(1).unwrap().to_vec();
    assert!(chunk.len() < CHUNK);
    let at = frame.windows(chunk.len()).position(|bytes| bytes == chunk).unwrap();
    // The size of the data in the header.
    frame[at + 4..at + 8].fill(0);
    let reading = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let mut dest = [1; CHUNK];
    let error = reading.decompress(1, &mut dest).unwrap_err();
    assert!(error.to_string().contains("declares no data"), "{error}");
    assert_eq!(reading.decompress(0, &mut dest), Ok(CHUNK));
    assert_eq!(reading.decompress(2, &mut dest), Ok(CHUNK));
}

#[test]
fn a_stored_chunk_that_is_marked_as_lazy_is_an_error() {
    let check = |storage: Storage, path: &Path, number: i64| {
        let mut schunk = empty(storage.clone());
        for first in 0..3 {
            let noise = (0..CHUNK).map(|at| (first + at * at * at / 7) as u8);
            schunk.append(&noise.collect::<Vec<u8>>()).unwrap();
        }
        let chunk = schunk.chunk(number).unwrap().to_vec();
        drop(schunk);
        let mut bytes = std::fs::read(path).unwrap();
        let at = bytes.windows(chunk.len()).position(|bytes| bytes == chunk).unwrap();
        // The second flags byte. As a lazy chunk it would end with a position in the file.
        bytes[at + 31] |= 8;
        std::fs::write(path, &bytes).unwrap();
        let reading = SChunk::open(storage, DParams::default()).unwrap();
        let mut dest = [1; CHUNK];
        for other in (0..3).filter(|&other| other != number) {
            assert_eq!(reading.decompress(other, &mut dest), Ok(CHUNK));
        }
        let errors = [
            reading.decompress(number, &mut dest).unwrap_err(),
            reading.chunk(number).unwrap_err(),
            chunks::lazy_chunk(reading.state(), number).unwrap_err(),
        ];
        assert!(errors.iter().all(|error| *error == Error::InvalidHeader), "{errors:?}");
        let memory = SChunk::from_bytes(&bytes, DParams::default());
        if let Ok(reading) = memory {
            assert_eq!(reading.decompress(number, &mut dest), Err(Error::InvalidHeader));
        }
    };
    let folder = TempDir::new("lazy");
    let path = folder.join("file");
    check(Storage::file(&path), &path, 1);
    let path = folder.join("directory");
    check(Storage::directory(&path), &path.join("00000001.chunk"), 1);
}

#[test]
fn row_f41_the_error_of_a_truncated_chunk_file_names_it() {
    let folder = TempDir::new("truncated");
    let path = folder.join("directory");
    let mut schunk = empty(Storage::directory(&path));
    for first in 0..3 {
        let noise = (0..CHUNK).map(|at| (first + at * at * at / 7) as u8);
        schunk.append(&noise.collect::<Vec<u8>>()).unwrap();
    }
    let name = path.join("00000001.chunk");
    let file = File::options().write(true).open(&name).unwrap();
    for len in (0..file.metadata().unwrap().len()).rev() {
        file.set_len(len).unwrap();
        let reading = SChunk::open(Storage::directory(&path), DParams::default()).unwrap();
        let error = chunks::lazy_chunk(reading.state(), 1).unwrap_err();
        assert_eq!(error, Error::FileRead, "{len}");
        let text = error.to_string();
        assert!(text.contains("the file is shorter than its header records"), "{len}: {text}");
        assert!(text.contains("00000001.chunk"), "{len}: {text}");
        assert!(reading.decompress(1, &mut [0; CHUNK]).is_err(), "{len}");
    }
}

/// The flags of all chunks are those of the first one.
#[test]
fn chunks_after_a_damaged_first_one_are_read() {
    let folder = TempDir::new("first");
    for has_blocks in [false, true] {
        let fill = |schunk: SChunk| {
            if has_blocks { with_vl_blocks(schunk) } else { with_many_sizes(schunk) }
        };
        let path = folder.join(if has_blocks { "vl" } else { "file" });
        let expected = contents(&fill(empty(Storage::file(&path))));
        let bytes = std::fs::read(&path).unwrap();
        let directory = folder.join(if has_blocks { "vl-directory" } else { "directory" });
        drop(fill(empty(Storage::directory(&directory))));
        let first = std::fs::read(directory.join("00000000.chunk")).unwrap();
        let at = bytes.windows(first.len()).position(|bytes| bytes == first).unwrap();
        let check = |storage: Storage| {
            let reading = SChunk::open(storage, DParams::default()).unwrap();
            assert!(reading.chunk(0).is_err());
            let nchunks = reading.nchunks();
            assert_eq!(nchunks, expected.len() as i64);
            for (nchunk, expected) in (1..nchunks).zip(&expected[1..]) {
                if has_blocks {
                    assert!(reading.vl_block(nchunk, 0).is_ok(), "{nchunk}");
                } else {
                    assert_eq!(reading.decompress_to_vec(nchunk).unwrap(), *expected, "{nchunk}");
                }
            }
        };
        let mut damaged = bytes.clone();
        damaged[at..at + 16].fill(0xff);
        std::fs::write(&path, &damaged).unwrap();
        check(Storage::file(&path));
        std::fs::remove_file(directory.join("00000000.chunk")).unwrap();
        check(Storage::directory(&directory));
    }
}

/// Returns the error of opening a file with this content, as text without the path.
fn reason(path: &Path, content: &[u8]) -> (crate::ErrorKind, bool, String) {
    std::fs::write(path, content).unwrap();
    let error = SChunk::open(Storage::file(path), DParams::default()).err().unwrap();
    assert_eq!(error.path(), Some(path));
    let text = error.to_string().replace(&format!("{}: ", path.display()), "");
    (error.kind(), error.is_corruption(), text)
}

#[test]
fn errors_distinguish_other_files_and_truncated_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let other: [&[u8]; 8] = [
        b"",
        b"hello",
        b"a text that is longer than the header of a frame, with 87 bytes, and then a few more of them",
        &[0; 200],
        &[0xff; 200],
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }        \
          \n............",
        b"{\"json\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]}",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    ];
    for content in other {
        let (kind, is_corruption, text) = reason(&path, content);
        assert_eq!(kind, crate::ErrorKind::InvalidHeader);
        assert!(is_corruption);
        assert_eq!(text, "the file is not a Blosc2 frame");
        let error = SChunk::from_bytes(content, DParams::default()).err().unwrap();
        assert_eq!(error, Error::InvalidHeader);
        assert_eq!(error.to_string(), "the bytes are not a Blosc2 frame");
    }
    let storage = Storage::frame();
    let created = SChunk::create(storage, CParams::default().typesize(4), DParams::default());
    let frame = with_everything(created.unwrap()).to_bytes().unwrap();
    let len = frame.len();
    for cut in [10, 40, 86, 87, 200, len / 2, len - 1] {
        let (kind, is_corruption, text) = reason(&path, &frame[..cut]);
        assert_eq!(kind, crate::ErrorKind::InvalidHeader);
        assert!(is_corruption);
        let expected = match cut {
            87.. => format!("the file has {cut} bytes, but its header records {len}"),
            _ => format!("the file has {cut} bytes, and a header has 87"),
        };
        assert_eq!(text, expected);
    }
    let text = SChunk::from_bytes(&frame[..len - 1], DParams::default()).err().unwrap();
    let expected = format!("the frame has {} bytes, but its header records {len}", len - 1);
    assert_eq!(text.to_string(), expected);
}

#[test]
fn an_error_names_the_file_that_is_not_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.b2frame");
    let storage = Storage::file(&path);
    SChunk::create(storage.clone(), CParams::default(), DParams::default()).unwrap();
    let error = crate::b2nd::Array::open(storage, DParams::default()).err().unwrap();
    assert_eq!(error, Error::MetalayerNotFound);
    let expected = format!("{}: not an array: there is no metalayer b2nd", path.display());
    assert_eq!(error.to_string(), expected);
}
