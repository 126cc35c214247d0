//! The native side of the test.
//!
//! usage: native write DIR SEEDS | native speed DIR
//!
//! `write` writes files to a directory: chunks and frames, the results that reading them must have,
//! and the chunks that compressing must have. `SEEDS` is the directory `fuzz` of this repository,
//! which has chunks and frames of other programs. A build with the feature `c` writes chunks of all
//! codecs. `speed` decompresses the large chunks and prints the speeds.
//!
//! Each line of the file `cases` has a function, its numbers, and the names of two files: the
//! source and the expected result. If the function must fail, the code follows instead of the
//! second name.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ferroblosc::chunk::{Compressor, HeaderForm};
use ferroblosc::codec::{self, id};
use ferroblosc::filter;
use ferroblosc_wasm::{Settings, compress, decompress, read_array, read_frame, write_frame};

type Any<T> = Result<T, Box<dyn Error>>;

/// The codecs whose chunks are read; C-Blosc2 cannot write Snappy.
const CODECS: [u8; 7] = [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::SNAPPY, id::ZLIB, id::ZSTD, id::NDLZ];
const FILTERS: [u8; 6] = [
    filter::id::NONE,
    filter::id::SHUFFLE,
    filter::id::BITSHUFFLE,
    filter::id::DELTA,
    filter::id::TRUNC_PREC,
    filter::id::BYTEDELTA,
];

/// The size of a large destination.
const DEST: usize = 1 << 20;
/// The size of the data whose speed is measured.
const LARGE: usize = 8 << 20;

/// Returns numbers that increase with some noise.
fn numbers(len: usize) -> Vec<u8> {
    let mut noise = 1_u32;
    let numbers = (0..).flat_map(|i: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (i * 3 + (noise >> 28)).to_le_bytes()
    });
    numbers.take(len).collect()
}

struct Cases {
    folder: PathBuf,
    lines: String,
    count: usize,
}

impl Cases {
    /// Writes a file and returns its name.
    fn file(&mut self, bytes: &[u8]) -> Any<String> {
        let name = format!("{:04}", self.count);
        self.count += 1;
        std::fs::write(self.folder.join(&name), bytes)?;
        Ok(name)
    }

    /// Adds a call of a function with the expected result.
    fn add(
        &mut self,
        function: &str,
        src: &str,
        result: ferroblosc::Result<usize>,
        dest: &[u8],
    ) -> Any<()> {
        let result = match result {
            Ok(len) => self.file(&dest[..len])?,
            Err(error) => error.code().to_string(),
        };
        writeln!(self.lines, "{function}\t{src}\t{result}")?;
        Ok(())
    }

    /// Adds the decompression of a chunk.
    fn chunk(&mut self, chunk: &[u8]) -> Any<()> {
        let mut dest = vec![0; DEST];
        let src = self.file(chunk)?;
        let result = decompress(chunk, &mut dest);
        self.add("decompress", &src, result, &dest)
    }
}

/// Returns the chunk of a codec, or `None` if this build cannot write it.
fn chunk(settings: Settings, data: &[u8], with_dict: bool) -> Option<Vec<u8>> {
    let mut params = settings.cparams().use_dict(with_dict);
    if settings.codec == id::SNAPPY {
        params.header = HeaderForm::Blosc1;
    }
    if !codec::can_encode(settings.codec) {
        return None;
    }
    // Blosc 1.x has no other filters than the two shuffles.
    let mut dest = vec![0; data.len() + 1000];
    let len = Compressor::new(params).and_then(|mut encoder| encoder.compress(data, &mut dest));
    dest.truncate(len.ok()?);
    Some(dest)
}

fn files(folder: PathBuf) -> Any<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|_| "a strange name")?;
        files.push((name, std::fs::read(entry.path())?));
    }
    files.sort();
    Ok(files)
}

fn write(folder: &Path, seeds: &Path) -> Any<()> {
    std::fs::create_dir_all(folder)?;
    let mut cases = Cases { folder: folder.to_owned(), lines: String::new(), count: 0 };
    for (_, seed) in files(seeds.join("seeds"))? {
        cases.chunk(&seed)?;
    }
    let mut dest = vec![0; DEST];
    let frames = files(seeds.join("seeds-frame"))?.into_iter();
    let arrays = files(seeds.join("seeds-array"))?.into_iter();
    for (name, seed) in frames.chain(arrays.filter(|(name, _)| name.starts_with("frame-"))) {
        let src = cases.file(&seed)?;
        let result = read_frame(&seed, &mut dest);
        cases.add("read_frame", &src, result, &dest)?;
        if name.starts_with("frame-") {
            let result = read_array(&seed, &mut dest);
            cases.add("read_array", &src, result, &dest)?;
        }
    }
    let data = numbers(200_001);
    for codec in CODECS {
        let mut count = 0;
        for (filter, typesize) in FILTERS.iter().flat_map(|&filter| [(filter, 4), (filter, 8)]) {
            for level in [1, 5, 9] {
                let settings = Settings { codec, level, filter, typesize };
                let data = &data[..data.len() - data.len() % typesize as usize];
                let chunks = [chunk(settings, data, false), chunk(settings, &data[..9000], true)];
                for chunk in chunks.into_iter().flatten() {
                    cases.chunk(&chunk)?;
                    count += 1;
                }
            }
        }
        if cfg!(feature = "c") && count == 0 && codec != id::NDLZ {
            return Err(format!("no chunk of the codec {codec}").into());
        }
    }
    // The codecs that have encoders in Rust: they write the same chunks in all builds.
    let src = cases.file(&data)?;
    for codec in [id::BLOSCLZ, id::LZ4, id::ZLIB] {
        for filter in FILTERS {
            for level in 0..=9 {
                let settings = Settings { codec, level, filter, typesize: 4 };
                let numbers = format!("\t{codec}\t{level}\t{filter}\t4");
                let result = compress(settings, &data, &mut dest);
                cases.add(&format!("compress{numbers}"), &src, result, &dest)?;
                if level == 5 {
                    let result = write_frame(settings, &data[..99_996], &mut dest);
                    let part = cases.file(&data[..99_996])?;
                    cases.add(&format!("write_frame{numbers}"), &part, result, &dest)?;
                }
            }
        }
    }
    for codec in CODECS {
        let settings = Settings { codec, level: 5, filter: filter::id::SHUFFLE, typesize: 4 };
        if let Some(chunk) = chunk(settings, &numbers(LARGE), false) {
            let name = cases.file(&chunk)?;
            writeln!(cases.lines, "speed\t{codec}\t{name}")?;
        }
    }
    std::fs::write(folder.join("cases"), cases.lines)?;
    Ok(())
}

/// Prints the decompression speed of each large chunk, the best of several calls.
fn speed(folder: &Path) -> Any<()> {
    let cases = std::fs::read_to_string(folder.join("cases"))?;
    let mut dest = vec![0; LARGE];
    for line in cases.lines() {
        let ["speed", codec, name] = line.split('\t').collect::<Vec<_>>()[..] else {
            continue;
        };
        let chunk = std::fs::read(folder.join(name))?;
        let mut best = Duration::MAX;
        for _ in 0..40 {
            let start = Instant::now();
            decompress(&chunk, &mut dest)?;
            best = best.min(start.elapsed());
        }
        println!("codec {codec}: {:.0} MB/s", LARGE as f64 / best.as_secs_f64() / 1e6);
    }
    Ok(())
}

fn main() -> Any<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", folder, seeds] => write(folder.as_ref(), seeds.as_ref()),
        ["speed", folder] => speed(folder.as_ref()),
        _ => Err("usage: native write DIR SEEDS | native speed DIR".into()),
    }
}
