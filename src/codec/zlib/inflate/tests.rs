//! Comparisons with zlib-rs.

use super::table::MAX_CODEWORD;
use super::*;
use ::zlib_rs::{DeflateConfig, Inflate, InflateFlush, Method, ReturnCode, Status, Strategy};

/// Returns what zlib-rs reads from and produces for the blocks in `src`.
fn expected(src: &[u8], len: usize) -> Option<(usize, Vec<u8>)> {
    let mut inflate = Inflate::new(false, MAX_WINDOW_BITS);
    let mut dest = vec![0; len];
    let status = inflate.decompress(src, &mut dest, InflateFlush::Finish).ok()?;
    dest.truncate(inflate.total_out() as usize);
    (status == Status::StreamEnd).then_some((inflate.total_in() as usize, dest))
}

/// Checks the results for the blocks in `src`, with each kind of copies.
fn check(inflater: &mut Inflater, src: &[u8], len: usize) {
    let expected = expected(src, len);
    for slop in [0, 7, 200] {
        for is_portable in [false, true] {
            let mut dest = vec![0x55; len + slop];
            let found = if is_portable {
                inflater.blocks_with::<Portable>(src, &mut dest, len)
            } else {
                inflater.blocks(src, &mut dest, len)
            };
            let found = found.map(|(used, produced)| (used, dest[..produced].to_vec()));
            assert!(found == expected, "{src:02x?}, {len}: {found:?}, not {expected:?}");
        }
    }
}

/// Returns numbers that repeat after 2^64 calls.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    }
}

/// Returns data with literals, runs and matches at all distances.
fn data(next: &mut impl FnMut(usize) -> usize, len: usize) -> Vec<u8> {
    let mut data: Vec<u8> = Vec::new();
    while data.len() < len {
        let range = [2, 20, 256][next(3)];
        match next(4) {
            0 => data.extend((0..=next(60)).map(|_| next(range) as u8)),
            1 => data.extend(std::iter::repeat_n(next(range) as u8, next(700))),
            _ if data.is_empty() => {}
            kind => {
                let most = if kind == 2 { data.len().min(40) } else { data.len() };
                let distance = 1 + next(most);
                for _ in 0..next(300) {
                    data.push(data[data.len() - distance]);
                }
            }
        }
    }
    data.truncate(len);
    data
}

fn compressed(src: &[u8], level: i32, strategy: Strategy) -> Vec<u8> {
    let mut dest = vec![0; src.len() + src.len() / 8 + 100];
    let config =
        DeflateConfig { level, method: Method::Deflated, window_bits: 15, mem_level: 1, strategy };
    let (stream, code) = ::zlib_rs::compress_slice(&mut dest, src, config);
    assert_eq!(code, ReturnCode::Ok);
    stream.to_vec()
}

const STRATEGIES: [Strategy; 4] =
    [Strategy::Default, Strategy::Fixed, Strategy::HuffmanOnly, Strategy::Rle];

#[test]
fn streams_are_decoded_as_by_zlib() {
    let mut next = random();
    let mut inflater = Inflater::new();
    let rounds = if cfg!(miri) { 1 } else { 60 };
    for round in 0..rounds {
        let len = [0, 1, 300, 40_000][round % 4] + next(1000);
        let src = data(&mut next, len);
        for strategy in STRATEGIES {
            let stream = compressed(&src, [0, 1, 6, 9][next(4)], strategy);
            let mut dest = vec![0; len];
            assert_eq!(inflater.decode(&stream, &mut dest, len), Ok(len));
            assert!(dest == src);
            let body = &stream[HEADER_LEN..];
            check(&mut inflater, body, len);
            check(&mut inflater, body, len + 1);
            check(&mut inflater, body, len.saturating_sub(1));
            let end = next(body.len());
            check(&mut inflater, &body[..end], len);
        }
    }
}

#[test]
fn damaged_streams_are_decoded_as_by_zlib() {
    let mut next = random();
    let mut inflater = Inflater::new();
    let rounds = if cfg!(miri) { 8 } else { 30_000 };
    for _ in 0..rounds {
        let len = next(600);
        let src = data(&mut next, len);
        let mut stream = compressed(&src, [1, 9][next(2)], STRATEGIES[next(4)]);
        for _ in 0..=next(3) {
            let at = HEADER_LEN + next(stream.len() - HEADER_LEN);
            stream[at] = if next(2) == 0 { stream[at] ^ 1 << next(8) } else { next(256) as u8 };
        }
        check(&mut inflater, &stream[HEADER_LEN..], len + next(400));
    }
}

#[test]
fn any_bytes_are_decoded_as_by_zlib() {
    let mut next = random();
    let mut inflater = Inflater::new();
    let rounds = if cfg!(miri) { 20 } else { 60_000 };
    for _ in 0..rounds {
        let mut src: Vec<u8> = (0..next(200)).map(|_| next(256) as u8).collect();
        // The last block, of a random kind.
        if let Some(first) = src.first_mut() {
            *first = *first & 0xf8 | 1 | (next(3) as u8) << 1;
        }
        check(&mut inflater, &src, next(1000));
    }
}

#[test]
fn headers_and_checksums_are_checked() {
    let src = b"the data of a stream, of a stream";
    let stream = compressed(src, 6, Strategy::Default);
    let mut inflater = Inflater::new();
    let mut decode = |stream: &[u8]| {
        let mut dest = [0; 33];
        inflater.decode(stream, &mut dest, src.len()).map(|len| dest[..len].to_vec())
    };
    assert_eq!(decode(&stream).unwrap(), src);
    assert_eq!(decode(&[&stream[..], b"after the end"].concat()).unwrap(), src);
    for len in 0..stream.len() {
        assert_eq!(decode(&stream[..len]), Err(Error::Data), "{len}");
    }
    let changed = |at: usize, byte: u8| {
        let mut changed = stream.clone();
        changed[at] = byte;
        changed
    };
    // Another checksum; other check bits; another method; a window of 64 KiB; a dictionary.
    let last = stream.len() - 1;
    assert_eq!(decode(&changed(last, !stream[last])), Err(Error::Data));
    assert_eq!(decode(&changed(1, stream[1] ^ 1)), Err(Error::Data));
    for header in [[0x77, 0x1f_u8], [0x88, 0x1c], [0x78, 0x20]] {
        let check = u16::from_be_bytes(header) % 31;
        let header = (u16::from_be_bytes(header) + (31 - check) % 31).to_be_bytes();
        let stream = [&header, &stream[2..]].concat();
        assert_eq!(decode(&stream), Err(Error::Data), "{header:02x?}");
    }
    // A window of 256 bytes is no limit for distances, as in zlib.
    let header = (0x0800_u16 + 31 - 0x0800 % 31).to_be_bytes();
    assert_eq!(decode(&[&header, &stream[2..]].concat()).unwrap(), src);
}

#[test]
fn codes_are_complete_or_have_one_codeword_of_one_bit() {
    let mut table = LiteralTable::new();
    let mut build = |lengths: &[u8]| table.build(lengths, LITERAL_SYMBOLS);
    assert_eq!(build(&[0; 5]), Some(Completeness::Empty));
    assert_eq!(build(&[0, 1]), Some(Completeness::OneBit));
    assert_eq!(build(&[1, 1]), Some(Completeness::Complete));
    assert_eq!(build(&[2, 1, 2]), Some(Completeness::Complete));
    assert_eq!(build(&[0, 2]), None);
    assert_eq!(build(&[2, 2, 2]), None);
    assert_eq!(build(&[1, 1, 1]), None);
    assert_eq!(build(&[1, 2, 3, 3, 15]), None);
}

/// The numbers of entries are those of the worst codes. (Source: the program `enough` of zlib.)
#[test]
fn tables_hold_long_codewords() {
    let mut next = random();
    let mut literals = LiteralTable::new();
    let mut distances = DistanceTable::new();
    let rounds = if cfg!(miri) { 3 } else { 20_000 };
    for _ in 0..rounds {
        for symbols in [LITERALS, DISTANCES] {
            // Codewords are split until there is one for each symbol.
            let mut lengths = vec![1_u8, 1];
            while lengths.len() < symbols {
                let range = 1 + next(20);
                let at = lengths.len() - 1 - next(lengths.len().min(range));
                if usize::from(lengths[at]) < MAX_CODEWORD {
                    lengths[at] += 1;
                    lengths.push(lengths[at]);
                } else {
                    let shortest = (0..lengths.len()).min_by_key(|&at| lengths[at]).unwrap();
                    lengths[shortest] += 1;
                    lengths.push(lengths[shortest]);
                }
            }
            let built = if symbols == LITERALS {
                literals.build(&lengths, LITERAL_SYMBOLS)
            } else {
                distances.build(&lengths, DISTANCE_SYMBOLS)
            };
            assert_eq!(built, Some(Completeness::Complete));
        }
    }
}
