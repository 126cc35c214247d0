//! Every truncation and every change of a single byte of the published example chunks.
//!
//! Input and output end at an inaccessible page. The result is at most the size of the destination
//! or a negative code; it is the reference's code unless a decision row differs. Both libraries run
//! in children, so that a crash is only a result.

use std::collections::BTreeMap;

use ferroblosc_interop::data::digest;
use ferroblosc_interop::guard::Guarded;
use ferroblosc_interop::isolate::{self, Outcome, Values};
use ferroblosc_interop::library::{Library, c_len, ours, reference};

/// An example chunk.
struct Vector {
    name: &'static str,
    chunk: Vec<u8>,
}

impl Vector {
    fn nbytes(&self) -> usize {
        let field = self.chunk[4..8].try_into().expect("four bytes");
        u32::from_le_bytes(field) as usize
    }
}

fn vectors() -> Vec<Vector> {
    include_str!("../data/vectors.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut parts = line.split('|');
            let name = parts.next().expect("a name");
            let hex = parts.nth(1).expect("name, description, bytes");
            Vector { name, chunk: from_hex(hex) }
        })
        .collect()
}

fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex digits"))
        .collect()
}

/// A kind of damage to a chunk.
#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    Cut(usize),
    Byte(usize, u8),
}

impl Damage {
    fn all(chunk: &[u8]) -> Vec<Damage> {
        let cuts = (0..chunk.len()).map(Damage::Cut);
        let bytes = (0..chunk.len()).flat_map(|at| {
            (0..=255).filter(move |&byte| byte != chunk[at]).map(move |byte| Damage::Byte(at, byte))
        });
        std::iter::once(Damage::None).chain(cuts).chain(bytes).collect()
    }

    /// Returns the offset of the damage, without the value.
    fn location(self) -> String {
        match self {
            Damage::None => "whole".to_owned(),
            Damage::Cut(_) => "cut".to_owned(),
            Damage::Byte(at, _) => format!("byte {at:#x}"),
        }
    }

    fn apply(self, chunk: &[u8]) -> Vec<u8> {
        let mut bytes = chunk.to_vec();
        match self {
            Damage::None => {}
            Damage::Cut(len) => bytes.truncate(len),
            Damage::Byte(at, byte) => bytes[at] = byte,
        }
        bytes
    }
}

/// The meaning of each entry of [`Values`].
const MEANING: [&str; 8] = [
    "decompress_ctx",
    "bytes of decompress_ctx",
    "decompress",
    "bytes of decompress",
    "getitem_ctx, first item",
    "bytes of getitem_ctx",
    "getitem, from the middle",
    "bytes of getitem",
];

const FILL: u8 = 0xa5;

/// Makes all decoding calls on a damaged chunk, with `whole` as destination.
fn decode(library: &Library, chunk: &[u8], nbytes: usize, mut whole: impl AsMut<[u8]>) -> Values {
    let whole = whole.as_mut();
    let mut values = vec![0; MEANING.len()];
    // The typesize is read from the damaged chunk; a truncated chunk may not contain it.
    let typesize = chunk.get(3).copied().map_or(1, usize::from).max(1);
    let mut record = |call: usize, code: i32, dest: &[u8]| {
        assert!(
            code <= c_len(dest),
            "{} returns {code} for {} bytes",
            MEANING[2 * call],
            dest.len()
        );
        values[2 * call] = i64::from(code);
        values[2 * call + 1] = if code >= 0 { digest(dest) } else { 0 };
    };

    whole.fill(FILL);
    record(0, library.decompressor(1).decompress(chunk, whole), whole);

    whole.fill(FILL);
    // SAFETY: the lengths of both buffers are passed.
    let code = unsafe {
        (library.blosc2_decompress)(
            chunk.as_ptr().cast(),
            c_len(chunk),
            whole.as_mut_ptr().cast(),
            c_len(whole),
        )
    };
    record(1, code, whole);

    whole.fill(FILL);
    let first = typesize.min(nbytes);
    let start = nbytes - first;
    let dest = &mut whole[start..];
    record(2, library.decompressor(1).getitem(chunk, 0, 1, dest), dest);

    whole.fill(FILL);
    let items = nbytes / typesize;
    let (from, count) = (items / 2, items - items / 2);
    let dest = &mut whole[nbytes - count * typesize..];
    // SAFETY: the lengths of both buffers are passed.
    let code = unsafe {
        (library.blosc2_getitem)(
            chunk.as_ptr().cast(),
            c_len(chunk),
            from as i32,
            count as i32,
            dest.as_mut_ptr().cast(),
            c_len(dest),
        )
    };
    record(3, code, dest);
    values
}

fn decode_guarded(chunk: &[u8], nbytes: usize) -> Values {
    let chunk = Guarded::copy_of(chunk);
    let mut dest = Guarded::filled(nbytes, FILL);
    decode(ours(), &chunk, nbytes, &mut dest[..])
}

/// Decodes with the reference. Both buffers have slack, so that an overrun does not corrupt the
/// heap.
fn decode_with_slack(chunk: &[u8], nbytes: usize) -> Values {
    const SLACK: usize = 4096;
    // The reference's global context keeps filter parameters for the next chunk. With this variable
    // each call uses a new context.
    // SAFETY: two NUL-terminated strings, in a child with one thread.
    unsafe { libc::setenv(c"BLOSC_NOLOCK".as_ptr(), c"1".as_ptr(), 1) };
    let mut source = chunk.to_vec();
    source.resize(chunk.len() + SLACK, 0);
    let mut dest = vec![FILL; nbytes + SLACK];
    decode(reference(), &source[..chunk.len()], nbytes, &mut dest[..nbytes])
}

/// The kinds of differences between the libraries, each with its count and an example.
type Differences = BTreeMap<String, (usize, Damage)>;

#[test]
fn damaged_chunks_return_the_codes_of_the_reference() {
    ours();
    reference();
    let mut differences = Differences::new();
    let mut excused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total = 0;
    for vector in vectors() {
        let damages = Damage::all(&vector.chunk);
        total += damages.len();
        let run = |decoder: fn(&[u8], usize) -> Values| {
            isolate::each(damages.len(), |index| {
                Ok(decoder(&damages[index].apply(&vector.chunk), vector.nbytes()))
            })
        };
        let mine = run(decode_guarded);
        let theirs = run(decode_with_slack);
        for ((&damage, mine), theirs) in damages.iter().zip(&mine).zip(&theirs) {
            let Some(difference) = difference(mine, theirs) else {
                continue;
            };
            let row = match (mine, theirs) {
                (Outcome::Values(mine), Outcome::Values(theirs)) => {
                    explaining_row(&damage.apply(&vector.chunk), mine, theirs)
                }
                _ => None,
            };
            match row {
                Some(row) => *excused.entry(row).or_default() += 1,
                None => {
                    let name = format!("{} {}: {difference}", vector.name, damage.location());
                    differences.entry(name).or_insert((0, damage)).0 += 1;
                }
            }
        }
    }
    println!("{total} damaged chunks; intended differences, by row: {excused:?}");
    let list: String = differences
        .iter()
        .map(|(name, (count, example))| format!("  {name} ({count} times, as in {example:?})\n"))
        .collect();
    assert!(differences.is_empty(), "{} differences\n{list}", differences.len());
}

/// Describes the difference between the outcomes; any result is fine if the reference crashes.
fn difference(mine: &Outcome, theirs: &Outcome) -> Option<String> {
    let (mine, theirs) = match (mine, theirs) {
        (Outcome::Values(mine), Outcome::Values(theirs)) => (mine, theirs),
        (Outcome::Values(_), _) => return None,
        (mine, _) => return Some(format!("{mine:?}")),
    };
    let at = (0..mine.len()).find(|&at| mine[at] != theirs[at])?;
    let what = MEANING[at];
    Some(match at % 2 {
        0 => format!("{what}: {} instead of {}", mine[at], theirs[at]),
        _ => format!("{what} differ"),
    })
}

/// Returns the decision row that explains the difference, if there is one.
fn explaining_row(chunk: &[u8], mine: &[i64], theirs: &[i64]) -> Option<&'static str> {
    let header = Header::parse(chunk)?;
    let first = (0..mine.len()).find(|&at| mine[at] != theirs[at])?;
    let in_getitem = first >= 4;
    let both_refuse = first.is_multiple_of(2) && mine[first] < 0 && theirs[first] < 0;
    let refused = mine[first] == if header.vl { -11 } else { -3 };
    let rows = [
        // Harmless: the reference fills block by block and stops in the middle of a value.
        ("half values", header.special && header.ragged_special(chunk) && theirs[first] == -3),
        // Both fail, and the chunk has several errors.
        ("either code", both_refuse && header.vl && header.cbytes < chunk.len()),
        ("either code", both_refuse && header.lazy && header.dictionary),
        ("either code", both_refuse && header.filters.iter().any(|id| ARRAY_FILTERS.contains(id))),
        ("C9", header.nbytes < 0 && mine[first] == -11),
        ("C19", header.dictionary && (header.special || header.memcpyed)),
        ("C24", header.dictionary && in_getitem),
        ("C26", header.filters.contains(&DELTA) && in_getitem),
        ("C29", header.filters.contains(&DELTA) && header.vl),
        ("C4", header.regular() && header.ragged()),
        ("C40", header.version <= 2 && header.split()),
        ("C42", header.version <= 2 && header.flags & CODEC_BITS == SNAPPY),
        ("C43", matches!(header.version, 3 | 4) && header.vl),
        ("C45", header.special_value && in_getitem),
        ("C50", header.regular() && header.starts_inside_the_tables(chunk) && refused),
        ("C50", header.regular() && header.splits_unevenly() && refused),
    ];
    rows.into_iter().find(|&(_, applies)| applies).map(|(row, _)| row)
}

const DELTA: u8 = 3;
/// Filters for N-dimensional arrays, which fail for a chunk without a super-chunk.
const ARRAY_FILTERS: [u8; 2] = [32, 33];
/// The codec's bits in the flags byte.
const CODEC_BITS: u8 = 0xe0;
/// Snappy in these bits.
const SNAPPY: u8 = 2 << 5;

/// The header fields that the rows depend on.
struct Header {
    version: u8,
    flags: u8,
    typesize: usize,
    nbytes: i32,
    blocksize: usize,
    filters: Vec<u8>,
    dictionary: bool,
    special: bool,
    special_value: bool,
    vl: bool,
    lazy: bool,
    memcpyed: bool,
    cbytes: usize,
    len: usize,
}

impl Header {
    fn parse(chunk: &[u8]) -> Option<Header> {
        let field = |at: usize| {
            let bytes = chunk.get(at..at + 4)?.try_into().ok()?;
            Some(i32::from_le_bytes(bytes))
        };
        let flags = *chunk.get(2)?;
        let extended = flags & 0x05 == 0x05;
        let (nbytes, blocksize) = (field(4)?, field(8)?);
        let vl = extended && *chunk.get(30)? & 0x01 != 0;
        let flags_at_31 = if extended { *chunk.get(31)? } else { 0 };
        Some(Header {
            version: chunk[0],
            flags,
            typesize: usize::from(chunk[3]),
            nbytes,
            blocksize: usize::try_from(if vl { blocksize } else { blocksize.min(nbytes) })
                .unwrap_or(0),
            filters: if extended { chunk[16..22].to_vec() } else { Vec::new() },
            dictionary: flags_at_31 & 0x01 != 0,
            special: flags_at_31 & 0x70 != 0,
            special_value: flags_at_31 & 0x70 == 0x30,
            vl,
            lazy: flags_at_31 & 0x08 != 0,
            memcpyed: flags & 0x02 != 0,
            cbytes: usize::try_from(field(12)?).unwrap_or(0),
            len: if extended { 32 } else { 16 },
        })
    }

    /// Whether the chunk has blocks with streams and valid sizes.
    fn regular(&self) -> bool {
        !self.special && !self.memcpyed && self.typesize > 0 && self.blocksize > 0
    }

    fn split(&self) -> bool {
        self.flags & 0x10 == 0
    }

    /// Whether the block size contains an item, but is not a multiple of the item size.
    fn ragged(&self) -> bool {
        !self.vl && self.blocksize > self.typesize && !self.blocksize.is_multiple_of(self.typesize)
    }

    /// Whether the block size is not a multiple of the repeated value's size.
    fn ragged_special(&self, chunk: &[u8]) -> bool {
        let width = if self.special_value { chunk.len() - self.len } else { self.typesize };
        !self.blocksize.is_multiple_of(width)
    }

    fn splits_unevenly(&self) -> bool {
        !self.vl && self.split() && !self.blocksize.is_multiple_of(self.typesize)
    }

    /// Whether a block starts in the header, the block table or the dictionary.
    fn starts_inside_the_tables(&self, chunk: &[u8]) -> bool {
        let blocks =
            if self.vl { self.blocksize } else { (self.nbytes as usize).div_ceil(self.blocksize) };
        let table = self.len..self.len.saturating_add(blocks.saturating_mul(4)).min(chunk.len());
        let dictionary = chunk.get(table.end..table.end + 4).filter(|_| self.dictionary);
        let dictionary =
            dictionary.map_or(0, |size| 4 + usize::from(u16::from_le_bytes([size[0], size[1]])));
        chunk[table.clone()].chunks_exact(4).any(|start| {
            let start = u32::from_le_bytes(start.try_into().expect("four bytes")) as usize;
            start < table.end + dictionary
        })
    }
}
