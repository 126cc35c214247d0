//! Codecs: the encoding of chunks.
//!
//! A chunk is encoded by a transposition, if there is one, and then by codecs of bytes in the order
//! of the list. (Source: the Zarr specifications 2 and 3, and numcodecs.)

use std::fmt;
use std::io::{ErrorKind, Read};

use super::dtype::{lengths, text, unsigned};
use super::limits::{MAX_CODECS, max_encoded};
use crate::bloscpack::Value;
use ferroblosc::blosc1::Engine;
use ferroblosc::chunk::BasicHeader;

/// A codec of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// A chunk of Blosc 1.x. The codec, the level and the shuffle are for writers only.
    Blosc {
        /// The name of the codec.
        cname: String,
        /// The level.
        level: u8,
        /// 0, 1 for bytes, 2 for bits, or `None` if it depends on the item size.
        shuffle: Option<u8>,
    },
    /// Zstandard frames.
    Zstd {
        /// The level.
        level: Option<u8>,
    },
    /// Members of gzip.
    Gzip {
        /// The level.
        level: Option<u8>,
    },
    /// A stream of zlib.
    Zlib {
        /// The level.
        level: Option<u8>,
    },
    /// The size in 32 bits, little-endian, and a block of LZ4.
    Lz4,
    /// The bytes, followed by their CRC-32C.
    Crc32c,
    /// Shuffled items of this size in bytes.
    Shuffle(usize),
}

/// A list of codecs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// The dimensions of the chunk in the order of the encoded chunk; `None` for C order.
    pub order: Option<Vec<usize>>,
    /// The codecs of bytes in the order of encoding.
    pub codecs: Vec<Codec>,
}

/// The reason why a chunk cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The chunk is damaged.
    Damaged(String),
    /// The allocation of memory failed.
    Memory,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Damaged(why) => f.write_str(why),
            Fault::Memory => f.write_str("out of memory"),
        }
    }
}

impl Codec {
    /// Returns the codec of a name with its parameters; `None` if the codec or the parameters are
    /// not supported. Names with the prefix `numcodecs.` are those of numcodecs in version 3.
    pub fn of(name: &str, configuration: Option<&Value>) -> Option<Codec> {
        let get = |key: &str| configuration.and_then(|configuration| configuration.get(key));
        let level = || get("level").or_else(|| get("clevel")).and_then(unsigned);
        let level = level().and_then(|level| u8::try_from(level).ok());
        Some(match name.strip_prefix("numcodecs.").unwrap_or(name) {
            "blosc" => Codec::Blosc {
                cname: get("cname").and_then(text).unwrap_or("lz4").to_owned(),
                level: level.unwrap_or(5).min(9),
                shuffle: match get("shuffle") {
                    Some(Value::Text(name)) => match name.as_str() {
                        "noshuffle" => Some(0),
                        "shuffle" => Some(1),
                        "bitshuffle" => Some(2),
                        _ => None,
                    },
                    Some(number) => {
                        unsigned(number).filter(|&number| number <= 2).map(|number| number as u8)
                    }
                    None => Some(1),
                },
            },
            "zstd" => Codec::Zstd { level },
            "gzip" => Codec::Gzip { level },
            "zlib" => Codec::Zlib { level },
            "lz4" => Codec::Lz4,
            // The checksum of numcodecs may be at the start.
            "crc32c" if get("location").is_none_or(|at| text(at) == Some("end")) => Codec::Crc32c,
            "shuffle" => {
                let size = get("elementsize").map_or(Some(4), unsigned)?;
                Codec::Shuffle(usize::try_from(size).ok().filter(|&size| size > 0)?)
            }
            _ => return None,
        })
    }

    /// Returns the name for descriptions.
    pub fn name(&self) -> &str {
        match self {
            Codec::Blosc { cname, .. } => cname,
            Codec::Zstd { .. } => "zstd",
            Codec::Gzip { .. } => "gzip",
            Codec::Zlib { .. } => "zlib",
            Codec::Lz4 => "lz4",
            Codec::Crc32c => "crc32c",
            Codec::Shuffle(_) => "shuffle",
        }
    }

    /// Returns the level for descriptions.
    pub fn level(&self) -> Option<u8> {
        match self {
            Codec::Blosc { level, .. } => Some(*level),
            Codec::Zstd { level } | Codec::Gzip { level } | Codec::Zlib { level } => *level,
            Codec::Lz4 | Codec::Crc32c | Codec::Shuffle(_) => None,
        }
    }

    /// Decodes bytes. The result has at most `limit` bytes.
    fn decode(&self, engine: &mut Engine, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>, Fault> {
        match self {
            Codec::Blosc { .. } => {
                let header = BasicHeader::parse(&bytes);
                let header = header.map_err(|_| fault("it is not a chunk of Blosc"))?;
                let len = usize::try_from(header.nbytes).map_err(|_| damaged())?;
                let mut decoded = zeros(len, limit)?;
                let read = engine.decompress(&bytes, 1, &mut decoded).map_err(|_| damaged())?;
                if read == len { Ok(decoded) } else { Err(damaged()) }
            }
            Codec::Zstd { .. } => {
                let decoder = zstd::Decoder::new(bytes.as_slice()).map_err(|_| damaged())?;
                read_all(decoder, limit)
            }
            Codec::Gzip { .. } => {
                read_all(flate2::bufread::MultiGzDecoder::new(bytes.as_slice()), limit)
            }
            Codec::Zlib { .. } => {
                read_all(flate2::bufread::ZlibDecoder::new(bytes.as_slice()), limit)
            }
            Codec::Lz4 => {
                let (size, block) = bytes.split_first_chunk().ok_or_else(damaged)?;
                let len = usize::try_from(u32::from_le_bytes(*size)).map_err(|_| damaged())?;
                let mut decoded = zeros(len, limit)?;
                let read = lz4_flex::block::decompress_into(block, &mut decoded);
                if read.is_ok_and(|read| read == len) { Ok(decoded) } else { Err(damaged()) }
            }
            Codec::Crc32c => {
                let mut bytes = bytes;
                let (content, crc) = bytes.split_last_chunk().ok_or_else(damaged)?;
                let (found, stored) = (crc32c::crc32c(content), u32::from_le_bytes(*crc));
                if found != stored {
                    return Err(fault(&format!(
                        "its CRC-32C is {found:08x}, not {stored:08x} as recorded"
                    )));
                }
                bytes.truncate(bytes.len() - size_of::<u32>());
                Ok(bytes)
            }
            Codec::Shuffle(size) => {
                let mut decoded = zeros(bytes.len(), limit)?;
                let count = bytes.len() / size;
                for (at, item) in decoded.chunks_exact_mut(*size).enumerate() {
                    for (plane, byte) in item.iter_mut().enumerate() {
                        *byte = bytes[plane * count + at];
                    }
                }
                // Bytes after the last whole item are not shuffled.
                decoded[count * size..].copy_from_slice(&bytes[count * size..]);
                Ok(decoded)
            }
        }
    }
}

fn fault(why: &str) -> Fault {
    Fault::Damaged(why.to_owned())
}

fn damaged() -> Fault {
    fault("its compressed data are damaged")
}

fn too_long() -> Fault {
    fault("its data are longer than the chunk shape")
}

/// Returns a buffer of `len` zeros, at most `limit`.
fn zeros(len: usize, limit: usize) -> Result<Vec<u8>, Fault> {
    if len > limit {
        return Err(too_long());
    }
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(len).map_err(|_| Fault::Memory)?;
    buffer.resize(len, 0);
    Ok(buffer)
}

/// Reads a decoder to its end, with memory in proportion to its output.
fn read_all(decoder: impl Read, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut decoded = Vec::new();
    let read = decoder.take(limit as u64 + 1).read_to_end(&mut decoded);
    read.map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => Fault::Memory,
        _ => damaged(),
    })?;
    if decoded.len() > limit { Err(too_long()) } else { Ok(decoded) }
}

impl Pipeline {
    /// Returns the codecs of bytes of a list of version 3, or the description of one that is not
    /// supported.
    pub fn codecs_of<'v>(
        list: impl IntoIterator<Item = (&'v str, Option<&'v Value>)>,
    ) -> Result<Vec<Codec>, String> {
        let mut codecs = Vec::new();
        for (name, configuration) in list {
            let codec = Codec::of(name, configuration);
            codecs.push(codec.ok_or_else(|| format!("the codec {name:?}"))?);
            if codecs.len() > MAX_CODECS {
                return Err(format!("a list of more than {MAX_CODECS} codecs"));
            }
        }
        Ok(codecs)
    }

    /// Sets the order of the dimensions, unless it is that of the chunk.
    ///
    /// Returns whether the order contains each dimension once.
    pub fn set_order(&mut self, order: &Value, ndim: usize) -> bool {
        let order: Option<Vec<usize>> = match order {
            Value::Text(name) if name == "C" => Some((0..ndim).collect()),
            Value::Text(name) if name == "F" => Some((0..ndim).rev().collect()),
            other => lengths(other).map(|order| {
                order.into_iter().map(|dim| usize::try_from(dim).unwrap_or(usize::MAX)).collect()
            }),
        };
        let Some(order) = order else {
            return false;
        };
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let is_valid = sorted.into_iter().eq(0..ndim);
        let is_identity = order.iter().copied().eq(0..ndim);
        self.order = (!is_identity).then_some(order);
        is_valid
    }

    /// Whether encoded chunks are chunks of Blosc of the items in C order.
    pub fn is_blosc(&self) -> bool {
        self.order.is_none() && matches!(self.codecs.as_slice(), [Codec::Blosc { .. }])
    }

    /// Decodes a chunk of this shape to its items in C order.
    ///
    /// # Errors
    /// The reason why it cannot be decoded.
    pub fn decode(
        &self,
        engine: &mut Engine,
        encoded: Vec<u8>,
        shape: (&[u64], usize),
    ) -> Result<Vec<u8>, String> {
        self.decode_chunk(engine, encoded, shape).map_err(|fault| fault.to_string())
    }

    /// Decodes a chunk of this shape to its items in C order.
    pub(super) fn decode_chunk(
        &self,
        engine: &mut Engine,
        encoded: Vec<u8>,
        (shape, itemsize): (&[u64], usize),
    ) -> Result<Vec<u8>, Fault> {
        let len = shape.iter().product::<u64>() as usize * itemsize;
        let mut bytes = encoded;
        for (at, codec) in self.codecs.iter().enumerate().rev() {
            // The output of all codecs but the first is an encoded chunk.
            let limit = if at == 0 { len } else { max_encoded(len) };
            bytes = codec.decode(engine, bytes, limit)?;
        }
        if bytes.len() != len {
            let why = format!("it has {} bytes of data instead of {len}", bytes.len());
            return Err(Fault::Damaged(why));
        }
        match &self.order {
            Some(order) => transposed(&bytes, shape, order, itemsize),
            None => Ok(bytes),
        }
    }
}

/// Returns items in C order. They are stored with the dimensions in another order.
fn transposed(
    bytes: &[u8],
    shape: &[u64],
    order: &[usize],
    itemsize: usize,
) -> Result<Vec<u8>, Fault> {
    let mut decoded = zeros(bytes.len(), bytes.len())?;
    // The distance in the stored chunk between neighbours in each dimension, in bytes.
    let mut strides = vec![0; shape.len()];
    let mut stride = itemsize;
    for &dim in order.iter().rev() {
        strides[dim] = stride;
        stride *= shape[dim] as usize;
    }
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    for item in decoded.chunks_exact_mut(itemsize) {
        item.copy_from_slice(&bytes[from..from + itemsize]);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            from += strides[dim];
            if index[dim] < shape[dim] {
                break;
            }
            from -= strides[dim] * shape[dim] as usize;
            index[dim] = 0;
        }
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(codec: &Codec, bytes: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
        codec.decode(&mut Engine::default(), bytes.to_vec(), limit)
    }

    #[test]
    fn transposed_chunks_are_decoded_to_c_order() {
        let shape = [2, 3, 4];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1], [0, 2, 1]] {
            // The item at (i, j, k) is 12 i + 4 j + k.
            let mut stored = Vec::new();
            for a in 0..shape[order[0]] {
                for b in 0..shape[order[1]] {
                    for c in 0..shape[order[2]] {
                        let mut index = [0; 3];
                        (index[order[0]], index[order[1]], index[order[2]]) = (a, b, c);
                        stored.extend([(12 * index[0] + 4 * index[1] + index[2]) as u8, 7]);
                    }
                }
            }
            let expected: Vec<u8> = (0..24).flat_map(|item| [item, 7]).collect();
            assert_eq!(transposed(&stored, &shape, &order, 2).unwrap(), expected, "{order:?}");
        }
        let order = |json: &str, ndim| {
            let mut pipeline = Pipeline::default();
            let is_valid = pipeline.set_order(&Value::parse(json.as_bytes()).unwrap(), ndim);
            (is_valid, pipeline.order)
        };
        assert_eq!(order("\"F\"", 2), (true, Some(vec![1, 0])));
        assert_eq!(order("[0, 1]", 2), (true, None));
        for invalid in ["[0, 0]", "[0]", "[0, 1, 2]", "[1, 2]", "7", "[-1, 0]", "\"K\""] {
            assert!(!order(invalid, 2).0, "{invalid}");
        }
    }

    #[test]
    fn outputs_are_limited_to_the_size_of_the_chunk() {
        let plain = vec![1; 10_000];
        let mut gzip = flate2::read::GzEncoder::new(&plain[..], flate2::Compression::fast());
        let mut zlib = flate2::read::ZlibEncoder::new(&plain[..], flate2::Compression::fast());
        let (mut gzipped, mut zlibbed) = (Vec::new(), Vec::new());
        gzip.read_to_end(&mut gzipped).unwrap();
        zlib.read_to_end(&mut zlibbed).unwrap();
        let block = lz4_flex::block::compress(&plain);
        for (codec, encoded) in [
            (Codec::Zstd { level: None }, zstd::encode_all(&plain[..], 1).unwrap()),
            (Codec::Gzip { level: None }, gzipped),
            (Codec::Zlib { level: None }, zlibbed),
            (Codec::Lz4, [&10_000_u32.to_le_bytes()[..], &block].concat()),
        ] {
            assert_eq!(decode(&codec, &encoded, 10_000).unwrap(), plain, "{codec:?}");
            assert_eq!(decode(&codec, &encoded, 9_999), Err(too_long()), "{codec:?}");
            for len in 0..encoded.len() {
                assert!(decode(&codec, &encoded[..len], 10_000) != Ok(plain.clone()), "{len}");
            }
        }
        // Two members, as parallel compressors write them.
        let mut gzip = flate2::read::GzEncoder::new(&b"ab"[..], flate2::Compression::fast());
        let mut one = Vec::new();
        gzip.read_to_end(&mut one).unwrap();
        let two = [one.clone(), one].concat();
        assert_eq!(decode(&Codec::Gzip { level: None }, &two, 4).unwrap(), b"abab");
    }

    #[test]
    fn checksums_and_shuffles_are_decoded() {
        // The check value of CRC-32C.
        let encoded = [&b"123456789"[..], &0xe306_9283_u32.to_le_bytes()].concat();
        assert_eq!(decode(&Codec::Crc32c, &encoded, 9).unwrap(), b"123456789");
        let mut changed = encoded;
        changed[0] ^= 1;
        assert!(decode(&Codec::Crc32c, &changed, 9).unwrap_err().to_string().contains("CRC-32C"));
        assert!(decode(&Codec::Crc32c, b"abc", 9).is_err());
        assert_eq!(decode(&Codec::Shuffle(2), b"acebdfx", 7).unwrap(), b"abcdefx");
        assert_eq!(decode(&Codec::Shuffle(100), b"abc", 7).unwrap(), b"abc");
        for bytes in [&b""[..], b"short", &[255; 40]] {
            let blosc = Codec::Blosc { cname: String::new(), level: 0, shuffle: None };
            assert!(decode(&blosc, bytes, 1000).is_err());
        }
    }

    /// A lack of memory must not be reported as damage.
    #[test]
    fn a_failed_allocation_is_no_damage() {
        struct NoMemory;
        impl Read for NoMemory {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(ErrorKind::OutOfMemory.into())
            }
        }
        assert_eq!(read_all(NoMemory, 10), Err(Fault::Memory));
        assert_eq!(zeros(isize::MAX as usize, usize::MAX), Err(Fault::Memory));
        assert_eq!(Fault::Memory.to_string(), "out of memory");
    }
}
