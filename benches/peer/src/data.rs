//! The data sets: numbers, records and text generated from fixed seeds, or the beginning of a file.

use crate::buffer::Buffer;
use ferroblosc_interop::data::{Content, Random};

/// A named data set.
pub struct Set {
    /// The name in the tables, without spaces.
    pub name: String,
    /// The item size in bytes.
    pub typesize: usize,
    pub bytes: Buffer,
    /// Whether items are floating-point numbers.
    pub floats: bool,
    /// Whether items are numbers or records of numbers, neither text nor constant nor random.
    pub numeric: bool,
    /// Whether the data is constant or incompressible.
    pub special: bool,
}

/// A generator of a set: name, item size in bytes, function.
type Maker = (&'static str, usize, fn(usize) -> Vec<u8>);

const FLOATS: [Maker; 6] = [
    ("f64-ramp", 8, |len| items(len, |i| (i as f64 * 0.001).to_le_bytes())),
    ("f64-prices", 8, |len| {
        let mut random = Random::new(3);
        let mut cents = 10_000.0;
        items(len, |_| {
            cents += (random.unit() - 0.5) * 40.0;
            (f64::round(cents) / 100.0).to_le_bytes()
        })
    }),
    ("f32-waves", 4, |len| {
        let mut random = Random::new(20);
        items(len, |i| {
            let angle = i as f32 * 1e-3;
            (angle.sin() + 0.3 * (7.1 * angle).cos() + random.unit() as f32 * 1e-3).to_le_bytes()
        })
    }),
    ("f64-walk", 8, |len| Content::Walk.make(len, 8, 1)),
    ("f64-field", 8, |len| {
        let mut random = Random::new(21);
        items(len, |i| (field(i) + random.unit() * 1e-6).to_le_bytes())
    }),
    ("f32-field", 4, |len| {
        let mut random = Random::new(22);
        items(len, |i| ((field(i) + random.unit() * 1e-3) as f32).to_le_bytes())
    }),
];

/// Returns an item of a smooth field with rows of 512 items: a sum of sine waves up to about 120.
fn field(index: usize) -> f64 {
    let (x, y) = ((index % 512) as f64, (index / 512) as f64);
    let waves = (x / 40.0).sin() * (y / 60.0).cos();
    100.0 * waves + 20.0 * ((x + 2.0 * y) / 17.0).sin() + 3.0 * (y / 5.0).cos()
}

const NUMBERS: [Maker; 5] = [
    ("i64-times", 8, |len| {
        let mut random = Random::new(5);
        let mut time = 1_600_000_000_000_i64;
        items(len, |_| {
            time += 1000 + random.below(40) as i64;
            time.to_le_bytes()
        })
    }),
    ("i32-counts", 4, |len| {
        let mut random = Random::new(6);
        items(len, |_| (random.below(900) as i32).to_le_bytes())
    }),
    ("u16-picture", 2, |len| {
        let mut random = Random::new(7);
        items(len, |i| {
            let (x, y) = (i % 1024, i / 1024);
            ((x * 3 + y * 2 + random.below(24)) as u16).to_le_bytes()
        })
    }),
    ("records-12", 12, |len| {
        let mut random = Random::new(8);
        items(len, |i| {
            let mut record = [0; 12];
            record[..4].copy_from_slice(&(i as u32).to_le_bytes());
            record[4..8].copy_from_slice(&(random.unit() as f32).to_le_bytes());
            record[8] = random.below(5) as u8;
            record
        })
    }),
    ("records-16", 16, |len| {
        let mut random = Random::new(9);
        let mut time = 1_700_000_000_u64;
        items(len, |_| {
            time += random.below(30) as u64;
            let mut record = [0; 16];
            record[..8].copy_from_slice(&time.to_le_bytes());
            record[8..12].copy_from_slice(&((random.below(4000) as f32) * 0.25).to_le_bytes());
            record[12..].copy_from_slice(&(random.below(6) as u32).to_le_bytes());
            record
        })
    }),
];

const OTHERS: [Maker; 3] = [
    ("records-7", 7, |len| {
        let mut random = Random::new(10);
        items(len, |i| {
            let mut record = [0; 7];
            record[..4].copy_from_slice(&(i as u32).to_le_bytes());
            record[4..6].copy_from_slice(&(random.below(600) as u16).to_le_bytes());
            record[6] = random.below(3) as u8;
            record
        })
    }),
    ("text", 1, |len| Content::Text.make(len, 1, 4)),
    ("labels", 1, |len| {
        let mut random = Random::new(11);
        let mut bytes = Vec::with_capacity(len + 400);
        while bytes.len() < len {
            let run = 20 + random.below(380);
            bytes.resize(bytes.len() + run, random.below(30) as u8);
        }
        bytes.truncate(len);
        bytes
    }),
];

const SPECIALS: [Maker; 3] = [
    ("zeros", 8, |len| vec![0; len]),
    ("constant", 4, |len| Content::ConstantItem.make(len, 4, 12)),
    ("random", 8, |len| Content::Random.make(len, 8, 13)),
];

/// Generates the sets whose names are `wanted`, with `len` bytes rounded down to whole items. The
/// content is deterministic.
pub fn generated(len: usize, wanted: impl Fn(&str) -> bool) -> Vec<Set> {
    let kinds: [(&[Maker], bool, bool, bool); 4] = [
        (&FLOATS, true, true, false),
        (&NUMBERS, false, true, false),
        (&OTHERS, false, false, false),
        (&SPECIALS, false, false, true),
    ];
    let mut sets = Vec::new();
    for (makers, floats, numeric, special) in kinds {
        for &(name, typesize, make) in makers {
            if wanted(name) {
                sets.push(Set {
                    name: name.to_owned(),
                    typesize,
                    bytes: Buffer::of(&make(len / typesize * typesize)),
                    floats,
                    numeric,
                    special,
                });
            }
        }
    }
    sets
}

fn items<const N: usize>(len: usize, mut item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.div_ceil(N)).flat_map(&mut item).collect();
    bytes.truncate(len);
    bytes
}

/// Reads the first `len` bytes, or all if there are fewer, of `file:TYPESIZE:PATH`.
///
/// # Errors
/// Returns the fault of the argument or the file.
pub fn from_file(argument: &str, len: usize) -> Result<Set, String> {
    let mut parts = argument.splitn(3, ':');
    let (kind, typesize, path) = (parts.next(), parts.next(), parts.next());
    let (Some("file"), Some(typesize), Some(path)) = (kind, typesize, path) else {
        return Err(format!("{argument}: not file:TYPESIZE:PATH"));
    };
    let typesize = typesize.parse().map_err(|_| format!("{typesize}: no typesize"))?;
    let mut bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    bytes.truncate(len);
    let name = path.rsplit('/').next().unwrap_or(path).replace(' ', "-");
    Ok(Set {
        name,
        typesize,
        bytes: Buffer::of(&bytes),
        floats: false,
        numeric: false,
        special: false,
    })
}
