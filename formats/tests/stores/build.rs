//! Builders of zip files and frames, valid and invalid ones.

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::Store;
use std::path::PathBuf;

/// A member of a zip file to be written.
#[derive(Clone)]
pub struct Member {
    pub name: Vec<u8>,
    pub data: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    /// The recorded uncompressed size.
    pub size: u32,
    /// The recorded offset instead of the real one.
    pub offset: Option<u32>,
    /// The extra field of the directory.
    pub extra: Vec<u8>,
}

/// Returns a stored member.
pub fn stored(name: &str, data: &[u8]) -> Member {
    Member {
        name: name.as_bytes().to_vec(),
        data: data.to_vec(),
        method: 0,
        flags: 1 << 11,
        crc: zlib_rs::crc32::crc32(0, data),
        size: u32::try_from(data.len()).unwrap(),
        offset: None,
        extra: Vec::new(),
    }
}

/// Returns a deflated member.
pub fn deflated(name: &str, data: &[u8]) -> Member {
    let mut buffer = vec![0; data.len() + 1000];
    let mut engine = zlib_rs::Deflate::new(6, false, 15);
    engine.compress(data, &mut buffer, zlib_rs::DeflateFlush::Finish).unwrap();
    buffer.truncate(usize::try_from(engine.total_out()).unwrap());
    Member { method: 8, data: buffer, ..stored(name, data) }
}

/// Returns a zip file.
pub fn zip(members: &[Member]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let at = u32::try_from(bytes.len()).unwrap();
        let len = u32::try_from(member.data.len()).unwrap();
        let name_len = u16::try_from(member.name.len()).unwrap().to_le_bytes();
        let mut common = Vec::new();
        common.extend(20u16.to_le_bytes());
        common.extend(member.flags.to_le_bytes());
        common.extend(member.method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(member.crc.to_le_bytes());
        common.extend(len.to_le_bytes());
        common.extend(member.size.to_le_bytes());
        common.extend(name_len);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend([0, 0]);
        bytes.extend(&member.name);
        bytes.extend(&member.data);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&common);
        directory.extend(u16::try_from(member.extra.len()).unwrap().to_le_bytes());
        directory.extend([0; 10]);
        directory.extend(member.offset.unwrap_or(at).to_le_bytes());
        directory.extend(&member.name);
        directory.extend(&member.extra);
    }
    let count = u16::try_from(members.len()).unwrap().to_le_bytes();
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count,
        &count,
        &u32::try_from(directory.len()).unwrap().to_le_bytes(),
        &u32::try_from(bytes.len()).unwrap().to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    [bytes, directory, end].concat()
}

/// A directory that is removed at the end.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes a zip file and opens it.
    pub fn zip(&self, members: &[Member]) -> Store {
        Store::open(self.file("made.b2z", &zip(members))).unwrap()
    }
}

/// Encodes a MessagePack value.
pub fn pack(value: &rmpv::Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).unwrap();
    bytes
}

/// Returns a MessagePack map with string keys.
pub fn map(entries: Vec<(&str, rmpv::Value)>) -> rmpv::Value {
    rmpv::Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Returns a frame with fixed and variable metalayers and one chunk, if `data` is not empty.
pub fn frame(fixed: &[(&str, Vec<u8>)], variable: &[(&str, Vec<u8>)], data: &[u8]) -> Vec<u8> {
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    for (name, content) in fixed {
        schunk.add_metalayer(name, content).unwrap();
    }
    if !data.is_empty() {
        schunk.append(data).unwrap();
    }
    for (name, content) in variable {
        schunk.add_vlmetalayer(name, content).unwrap();
    }
    schunk.to_bytes().unwrap()
}

/// Returns the frame of a store with a tag and a map of keys.
pub fn embed(tag: &str, entries: rmpv::Value, data: &[u8]) -> Vec<u8> {
    let version = pack(&map(vec![("version", 1.into())]));
    let metadata = pack(&map(vec![("embed_map", entries), ("current_offset", data.len().into())]));
    frame(&[(tag, version)], &[("estore_metadata", metadata)], data)
}

/// Returns an empty `embed.b2e` of a tree.
pub fn empty_tree() -> Member {
    stored("embed.b2e", &embed("b2tree", map(Vec::new()), b""))
}

/// Returns the leaves of a store as stored members of a zip file, with `embed.b2e`.
pub fn members_of(store: &Store) -> Vec<Member> {
    let keys: Vec<String> = store.leaf_keys().map(str::to_owned).collect();
    let mut members: Vec<Member> = Vec::new();
    for key in keys {
        let bytes = store.leaf(&key).unwrap().into_schunk().to_bytes().unwrap();
        members.push(stored(&format!("{}.b2f", &key[1..]), &bytes));
    }
    members.push(empty_tree());
    members
}

/// Replaces a variable metalayer of a frame.
pub fn with_attribute(frame: &[u8], name: &str, value: &rmpv::Value) -> Vec<u8> {
    let mut schunk = SChunk::from_bytes(frame, DParams::default()).unwrap();
    schunk.update_vlmetalayer(name, &pack(value)).unwrap();
    schunk.to_bytes().unwrap()
}

/// Returns a table store whose schema is changed by `edit`.
pub fn with_schema(scratch: &Scratch, store: &Store, edit: impl Fn(&str) -> String) -> Store {
    let attrs = store.attrs("/_meta").unwrap_or_default();
    let leaf = store.leaf("/_meta").unwrap();
    let attrs = if attrs.entries.is_empty() { leaf.attrs() } else { attrs };
    let schema = edit(attrs.get("schema").unwrap().as_str().unwrap());
    let mut members = members_of(store);
    let meta = members.iter_mut().find(|member| member.name == b"_meta.b2f").unwrap();
    *meta = stored("_meta.b2f", &with_attribute(&meta.data, "schema", &schema.into()));
    scratch.zip(&members)
}
