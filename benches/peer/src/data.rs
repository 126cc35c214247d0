//! The data sets: a few kinds of numbers and text, or a part of a file.

use ferroblosc_interop::data::{Content, Random};

/// Named bytes with an item size.
pub struct Set {
    /// Name in the tables.
    pub name: String,
    /// Bytes per item.
    pub typesize: usize,
    /// The data.
    pub bytes: Vec<u8>,
    floats: bool,
}

impl Set {
    /// Whether a pipeline makes sense for these items.
    pub fn suits(&self, pipeline: &str) -> bool {
        match pipeline {
            "trunc+shuffle" => self.floats,
            "none" | "bitshuffle" => true,
            _ => self.typesize > 1,
        }
    }
}

/// Sets of `len` bytes, always the same.
pub fn generated(len: usize) -> Vec<Set> {
    let mut random = Random::new(20);
    let set = |name: &str, typesize, floats, bytes: Vec<u8>| Set {
        name: name.to_owned(),
        typesize,
        bytes,
        floats,
    };
    vec![
        set("f64 walk", 8, true, Content::Walk.make(len, 8, 1)),
        set("f32 waves", 4, true, {
            items(len, |i| {
                let angle = i as f32 * 1e-3;
                (angle.sin() + 0.3 * (7.1 * angle).cos() + random.unit() as f32 * 1e-3)
                    .to_le_bytes()
            })
        }),
        set("i64 times", 8, false, {
            let mut time = 1_600_000_000_000_i64;
            items(len, |_| {
                time += 1000 + random.below(40) as i64;
                time.to_le_bytes()
            })
        }),
        set(
            "i32 counts",
            4,
            false,
            items(len, |_| (random.below(900) as i32).to_le_bytes()),
        ),
        set("u16 picture", 2, false, {
            items(len, |i| {
                let (x, y) = (i % 1024, i / 1024);
                ((x * 3 + y * 2 + random.below(24)) as u16).to_le_bytes()
            })
        }),
        set("records of 12", 12, false, {
            items(len, |i| {
                let mut record = [0; 12];
                record[..4].copy_from_slice(&(i as u32).to_le_bytes());
                record[4..8].copy_from_slice(&(random.unit() as f32).to_le_bytes());
                record[8] = random.below(5) as u8;
                record
            })
        }),
        set("text", 1, false, Content::Text.make(len, 1, 4)),
    ]
}

fn items<const N: usize>(len: usize, mut item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len.div_ceil(N)).flat_map(&mut item).collect();
    bytes.truncate(len);
    bytes
}

/// The first `len` bytes of `file:TYPESIZE:PATH`.
///
/// # Errors
/// What is wrong with the argument or the file.
pub fn from_file(argument: &str, len: usize) -> Result<Set, String> {
    let mut parts = argument.splitn(3, ':');
    let (kind, typesize, path) = (parts.next(), parts.next(), parts.next());
    let (Some("file"), Some(typesize), Some(path)) = (kind, typesize, path) else {
        return Err(format!("{argument}: not file:TYPESIZE:PATH"));
    };
    let typesize = typesize
        .parse()
        .map_err(|_| format!("{typesize}: no typesize"))?;
    let mut bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    bytes.truncate(len);
    let name = path.rsplit('/').next().unwrap_or(path).to_owned();
    Ok(Set {
        name,
        typesize,
        bytes,
        floats: false,
    })
}
