//! Unusual metadata, storages and chunks of Zarr.

use std::path::{Path, PathBuf};

use super::storage::Part;
use super::*;
use crate::numpy::Dtype;
use crate::store::zip::{Archive, ZipWriter};
use crate::testing::Folder;
use ferroblosc::Error as Code;

/// Metadata of version 3 that are valid.
const V3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[2,3],"data_type":"int16",
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2]}},
    "chunk_key_encoding":{"name":"default"},"fill_value":0,"codecs":[{"name":"bytes"}]}"#;
/// Metadata of version 2 that are valid.
const V2: &str = r#"{"zarr_format":2,"shape":[2,3],"chunks":[2,2],"dtype":"<i2","order":"C",
    "fill_value":0,"filters":null,"compressor":null}"#;

impl Folder {
    /// Writes the file of this name, and opens the array.
    fn array(&self, name: &str, text: &str) -> Result<Array> {
        let _ = std::fs::remove_dir_all(self.path("a"));
        self.write(&format!("a/{name}"), text);
        Array::open(&self.path("a"), "")
    }
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

#[test]
fn metadata_that_are_invalid_or_not_supported_are_named() {
    let folder = Folder::new();
    let deep = format!("[{}1]", "1,".repeat(40));
    let codecs = r#"[{"name":"bytes"}]"#;
    let bytes = r#"{"name":"bytes"}"#;
    let shard = |index: &str, outer: &str, inner: &str| {
        format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[1,1],"codecs":{inner},
            "index_codecs":{index}}}}}{outer}]"#
        )
    };
    let many: String = vec![r#",{"name":"zstd"}"#; 17].concat();
    let transpose = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;
    let crc = r#"{"name":"crc32c"}"#;
    for (from, to, is_corruption, why) in [
        ("[2,3]", deep.as_str(), true, "different numbers of dimensions"),
        ("[2,2]", "[2,0]", true, "a chunk has no items"),
        ("[2,2]", "[60000,60000]", false, "a chunk of more than"),
        (r#""shape":[2,3]"#, r#""shape":7"#, true, "not a list of lengths"),
        (codecs, "7", true, "\"codecs\" is not a list"),
        (codecs, "[]", true, "there is no codec \"bytes\""),
        (codecs, "[7]", true, "the codec has no name"),
        (codecs, &format!("[{transpose},{transpose},{bytes}]"), false, "before \"bytes\""),
        (codecs, &format!("[{bytes},{bytes}]"), false, "the codec \"bytes\""),
        (codecs, &format!("[{bytes}{many}]"), false, "more than 16 codecs"),
        (codecs, r#"[{"name":"transpose"},{"name":"bytes"}]"#, true, "each dimension once"),
        (
            codecs,
            r#"[{"name":"transpose","configuration":{"order":[0,0]}},{"name":"bytes"}]"#,
            true,
            "each dimension once",
        ),
        (
            codecs,
            r#"[{"name":"bytes","configuration":{"endian":"middle"}}]"#,
            true,
            "neither \"little\" nor \"big\"",
        ),
        (
            codecs,
            r#"[{"name":"bytes"},{"name":"crc32c","configuration":{"location":"start"}}]"#,
            false,
            "the codec \"crc32c\"",
        ),
        (
            codecs,
            &shard(r#"[{"name":"bytes","configuration":{"endian":"big"}}]"#, "", codecs),
            false,
            "this encoding of the index",
        ),
        (
            codecs,
            &shard(
                r#"[{"name":"transpose","configuration":{"order":[2,1,0]}},{"name":"bytes"}]"#,
                "",
                codecs,
            ),
            false,
            "this encoding of the index",
        ),
        (
            codecs,
            &shard(&shard(codecs, "", codecs), "", codecs),
            false,
            "this encoding of the index",
        ),
        (codecs, &shard(codecs, &format!(",{crc}"), codecs), false, "a codec of whole shards"),
        (codecs, &shard(codecs, "", &shard(codecs, "", codecs)), false, "a shard in a shard"),
        (
            r#""fill_value":0"#,
            r#""fill_value":0,"storage_transformers":[{"name":"x"}]"#,
            false,
            "a storage transformer",
        ),
        (r#""fill_value":0,"#, "", true, "there is no \"fill_value\""),
        ("\"default\"", "\"other\"", false, "the key encoding \"other\""),
    ] {
        let error = folder.array("zarr.json", &replaced(V3, from, to)).err().expect(to);
        assert_eq!(error.is_corruption(), is_corruption, "{error}");
        assert!(error.to_string().contains(why), "{to}: {error}");
        assert_eq!(error.code(), if is_corruption { Code::Data } else { Code::InvalidParam });
    }
    for (from, to, is_corruption, why) in [
        ("\"C\"", "\"A\"", true, "the order is neither"),
        (r#""filters":null"#, r#""filters":7"#, true, "\"filters\" is not a list"),
        (r#""compressor":null"#, r#""compressor":{"level":1}"#, true, "a codec has no name"),
        (r#""compressor":null"#, r#""compressor":{"id":"x"}"#, false, "the codec \"x\""),
        ("[2,2]", "[2]", true, "different numbers of dimensions"),
        ("\"zarr_format\":2", "\"zarr_format\":1", false, "this version of the format"),
        ("<i2", "|O", false, "the dtype \"|O\""),
        (V2, "[]", true, "it is not a JSON object"),
        (V2, "{", true, ".zarray"),
    ] {
        let error = folder.array(".zarray", &replaced(V2, from, to)).err().expect(to);
        assert_eq!(error.is_corruption(), is_corruption, "{error}");
        assert!(error.to_string().contains(why), "{to}: {error}");
    }
    let many = [vec!["2"; 33].join(","), vec!["1"; 33].join(",")];
    let text = replaced(V2, "[2,3]", &format!("[{}]", many[0]));
    let text = replaced(&text, "[2,2]", &format!("[{}]", many[1]));
    let error = folder.array(".zarray", &text).err().unwrap();
    assert!(error.to_string().contains("more than 32 dimensions"), "{error}");
}

#[test]
fn metadata_may_have_short_forms() {
    let folder = Folder::new();
    let text = replaced(V3, r#"{"name":"bytes"}"#, r#""bytes""#);
    let array = folder.array("zarr.json", &text).unwrap();
    assert_eq!((array.nchunks(), array.key(&[0, 1]).as_str()), (2, "c/0/1"));
    let text = replaced(V3, r#"{"name":"default"}"#, r#""v2""#);
    assert_eq!(folder.array("zarr.json", &text).unwrap().key(&[0, 1]), "0.1");
    // Arrays without dimensions and without items.
    let scalar = replaced(&replaced(V2, "[2,3]", "[]"), "[2,2]", "[]");
    let array = folder.array(".zarray", &scalar).unwrap();
    assert_eq!((array.nchunks(), array.key(&[]).as_str()), (1, "0"));
    let empty = replaced(&replaced(V2, "[2,3]", "[0,3]"), "[2,2]", "[0,2]");
    let array = folder.array(".zarray", &empty).unwrap();
    assert_eq!((array.nchunks(), array.metadata().chunks.as_slice()), (0, &[1, 2][..]));
    // The names of the codecs, for descriptions.
    for (codec, name, level) in [
        (r#"{"id":"zstd","level":3}"#, "zstd", Some(3)),
        (r#"{"id":"gzip","level":1}"#, "gzip", Some(1)),
        (r#"{"id":"zlib"}"#, "zlib", None),
        (r#"{"id":"lz4","acceleration":1}"#, "lz4", None),
        (r#"{"id":"blosc","cname":"lz4hc","clevel":11,"shuffle":-1}"#, "lz4hc", Some(9)),
    ] {
        let compressor = format!("\"compressor\":{codec}");
        let text = replaced(V2, r#""compressor":null"#, &compressor);
        let array = folder.array(".zarray", &text).unwrap();
        let found = array.compressor().unwrap();
        assert_eq!((found.name(), found.level()), (name, level));
    }
    for (codec, name) in [(Codec::Crc32c, "crc32c"), (Codec::Shuffle(4), "shuffle")] {
        assert_eq!((codec.name(), codec.level()), (name, None));
    }
}

/// Returns a zip file with these members.
fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()), 0);
    for (name, bytes) in members {
        zip.add(name, bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Makes the only member of a zip file a deflated one, of stored blocks.
fn deflated(name: &str, bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).unwrap();
    let stream = [&[1][..], &len.to_le_bytes(), &(!len).to_le_bytes(), bytes].concat();
    let mut zip = zip_of(&[(name, &stream)]);
    let crc = zlib_rs::crc32::crc32(0, bytes).to_le_bytes();
    let size = u32::from(len).to_le_bytes();
    let directory = zip.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    for at in [8, directory + 10] {
        zip[at] = 8;
        zip[at + 6..at + 10].copy_from_slice(&crc);
        zip[at + 14..at + 18].copy_from_slice(&size);
    }
    zip
}

#[test]
fn values_and_their_parts_are_read_from_directories_and_zip_files() {
    let folder = Folder::new();
    let content = b"0123456789";
    folder.write("tree/g/x", content);
    folder.write("stored.zip", zip_of(&[("g/x", content)]));
    folder.write("deflated.zip", deflated("g/x", content));
    for name in ["tree", "stored.zip", "deflated.zip"] {
        let storage = Storage::open(&folder.path(name)).unwrap();
        assert!(storage.has("g/x") && !storage.has("g/y"), "{name}");
        assert_eq!(storage.get("g/x", 10).unwrap().as_deref(), Some(&content[..]), "{name}");
        assert_eq!(storage.get("g/y", 10).unwrap(), None);
        let limited = storage.get("g/x", 9);
        assert!(matches!(&limited, Err(Error::Limit(_))), "{name}: {limited:?}");
        assert_eq!(limited.unwrap_err().code(), Code::MemoryAlloc);
        for (part, expected) in [
            (Part::At { offset: 3, len: 4 }, Some(&b"3456"[..])),
            (Part::At { offset: 10, len: 0 }, Some(b"")),
            (Part::End(2), Some(b"89")),
            (Part::End(11), None),
            (Part::At { offset: 8, len: 3 }, None),
            (Part::At { offset: u64::MAX, len: 2 }, None),
        ] {
            let found = storage.get_part("g/x", part, 10);
            match expected {
                Some(bytes) => {
                    assert_eq!(found.unwrap().as_deref(), Some(bytes), "{name} {part:?}");
                }
                None => {
                    let is_chunk = matches!(&found, Err(Error::Chunk { .. }));
                    assert!(is_chunk && found.unwrap_err().is_corruption(), "{name} {part:?}");
                }
            }
        }
        assert_eq!(storage.get_part("g/y", Part::End(0), 10).unwrap(), None);
        let stored = storage.stored_bytes("g").unwrap();
        assert_eq!(stored, if name == "deflated.zip" { 15 } else { 10 }, "{name}");
        assert_eq!(storage.stored_bytes("").unwrap(), stored);
    }
    folder.write("file", content);
    let refused = Storage::open(&folder.path("file")).err().unwrap();
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    assert_eq!(refused.code(), Code::NotFound);
}

#[cfg(unix)]
#[test]
fn special_files_and_loops_are_errors() {
    let folder = Folder::new();
    folder.write("a/.zarray", V2);
    let root = folder.path("a");
    std::os::unix::fs::symlink("0.0", root.join("0.0")).unwrap();
    std::fs::create_dir(root.join("0.1")).unwrap();
    std::os::unix::fs::symlink("none", root.join("1.0")).unwrap();
    let storage = Storage::open(&root).unwrap();
    let looped = storage.get("0.0", 100).unwrap_err();
    assert!(matches!(looped, Error::Storage(_)) && !looped.is_corruption(), "{looped}");
    assert!(std::error::Error::source(&looped).is_some());
    assert!(storage.get("0.1", 100).is_err());
    assert!(matches!(storage.get("1.0", 100), Err(Error::Link(_))));
    assert_eq!(storage.get(".zarray/x", 100).unwrap(), None);
}

#[test]
fn names_of_chunks_are_known() {
    for name in ["c", "0", "12", "0.1", "c.0.1", "10.0.3"] {
        assert!(is_chunk_key(name), "{name}");
    }
    for name in ["", "cc", "c.", "c0", "0.", ".0", "0..1", "0x1", "-1", "a"] {
        assert!(!is_chunk_key(name), "{name}");
    }
}

#[test]
fn groups_and_damaged_arrays_are_listed() {
    let folder = Folder::new();
    folder.write("z/.zgroup", r#"{"zarr_format":2}"#);
    folder.write("z/.zattrs", r#"{"title":"x"}"#);
    folder.write("z/good/.zarray", V2);
    folder.write("z/bad/.zarray", "[]");
    folder.write("z/odd/.zarray", replaced(V2, "<i2", "|O"));
    folder.write("z/inner/.zgroup", r#"{"zarr_format":2}"#);
    folder.write("z/broken/.zgroup", "[");
    let path = folder.path("z");
    assert_eq!(arrays_in(&path, "").unwrap(), ["bad", "broken", "good", "odd"]);
    assert_eq!(groups_in(&path, "").unwrap(), ["", "inner"]);
    assert_eq!(arrays_in(&path, "good").unwrap(), ["good"]);
    assert!(groups_in(&path, "good").unwrap().is_empty());
    assert_eq!(attributes(&path, "").unwrap()[0].0, "title");
    assert!(attributes(&path, "good").unwrap().is_empty());
    for node in ["none", "..", "good/..", "/", "good//x"] {
        assert!(matches!(arrays_in(&path, node), Err(Error::NotFound(_))), "{node}");
    }
    let group = Array::open(&path, "inner").err().unwrap();
    assert!(group.to_string().contains("\"inner\" is a group, not an array"));
    // In a zip file the names of members can be anything.
    let members: [(&str, &[u8]); 5] = [
        (".zgroup", b"{}"),
        ("good/.zarray", V2.as_bytes()),
        ("../up/.zarray", V2.as_bytes()),
        ("/.zarray", V2.as_bytes()),
        ("good/x/.zarray", b"{}"),
    ];
    folder.write("z.zip", zip_of(&members));
    let path = folder.path("z.zip");
    assert_eq!(arrays_in(&path, "").unwrap(), ["good", "good/x"]);
    let archive = Archive::open(&path).unwrap().unwrap();
    assert_eq!(Storage::of_archive(archive).nodes("good").unwrap(), ["good/x"]);
}

#[test]
fn arrays_that_cannot_be_written_leave_nothing() {
    let folder = Folder::new();
    let spec = |dtype: &str, version| Spec {
        version,
        shape: vec![2],
        chunks: vec![2],
        dtype: Dtype::parse(dtype).unwrap(),
        fill_value: None,
        attrs: Vec::new(),
        compression: Compression { cname: "lz4".to_owned(), level: 5, shuffle: 0, blocksize: 0 },
    };
    let path = folder.path("out");
    let create = |node: &str, is_zip, spec: &Spec| {
        ArrayWriter::create(&path, is_zip, node, spec).map(|writer| writer.finish().unwrap())
    };
    for is_zip in [false, true] {
        for node in ["..", "a/../b", "/a", "a/", "a//b"] {
            let refused = create(node, is_zip, &spec("<i2", Version::V3)).unwrap_err();
            assert!(matches!(refused, Error::Name(_)), "{node}: {refused}");
        }
        let refused = create("", is_zip, &spec("<f16", Version::V3)).unwrap_err();
        assert!(refused.to_string().contains("does not support the dtype <f16"), "{refused}");
        assert_eq!(refused.code(), Code::InvalidParam);
    }
    assert!(!path.exists());
    for node in ["..", "/a"] {
        let refused = set_group_attributes(&path, node, Version::V2, &[]).unwrap_err();
        assert!(matches!(refused, Error::Name(_)), "{node}: {refused}");
    }
    assert!(!path.exists());
    create("g/a", false, &spec("<i2", Version::V3)).unwrap();
    let text = std::fs::read_to_string(path.join("g/a/zarr.json")).unwrap();
    assert!(text.contains("\"noshuffle\""), "{text}");
    // An array exists, is below an array, or is in a group that cannot be read.
    for node in ["g/a", "g/a/b"] {
        let refused = create(node, false, &spec("<i2", Version::V3)).unwrap_err();
        assert!(matches!(refused, Error::Name(_)), "{node}: {refused}");
    }
    std::fs::write(path.join("g/zarr.json"), "[]").unwrap();
    let refused = create("g/b", false, &spec("<i2", Version::V3)).unwrap_err();
    assert!(refused.is_corruption() && !path.join("g/b").exists(), "{refused}");
    let exists = create("", false, &spec("<i2", Version::V3)).unwrap_err();
    assert!(matches!(exists, Error::Storage(_)), "{exists}");
    let text = std::fs::read_to_string(path.join("g/a/zarr.json")).unwrap();
    assert!(text.contains("\"noshuffle\""), "{text}");
}

#[test]
fn directories_with_too_many_levels_do_not_become_a_zip_file() {
    let folder = Folder::new();
    let deep: PathBuf = (0..2 * limits::MAX_DEPTH + 2).map(|_| "d").collect();
    folder.write("tree/zarr.json", "{}");
    std::fs::create_dir_all(folder.path("tree").join(deep)).unwrap();
    let output = folder.path("out.zip");
    let refused = join_zip(None, &[], &folder.path("tree"), &output).unwrap_err();
    assert!(refused.to_string().contains("too many levels"), "{refused}");
    assert!(!Path::new(&output).exists());
}
