//! Changes, copies and repairs of stores of python-blosc2.

use crate::common::{TestDir, ints};
use crate::store::{error_of, folder, made};
use ferroblosc_tools_testing::npy_header;

#[test]
fn errors_of_changes_name_the_store_once() {
    let folder = made("s.b2z");
    let mut npy = npy_header("'<u4'", "(10000,)", false);
    let mut state = 1_u32;
    npy.extend((0..10_000).flat_map(|_| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state ^ state >> 15).to_le_bytes()
    }));
    folder.write("noise.npy", &npy);
    folder.out("convert noise.npy noise.b2nd");
    let before = folder.read("s.b2z");
    let failed = folder.limited("-f 8", &["put", "s.b2z", "/noise", "noise.b2nd"]);
    let expected = "b2: error: cannot write to s.b2z: File too large";
    assert!(failed.status == 1 && failed.err().starts_with(expected), "{}", failed.err());
    assert!(folder.read("s.b2z") == before);
    // A directory without the embed store.
    folder.out("convert s.b2z s.b2d");
    std::fs::remove_file(folder.path("s.b2d/embed.b2e")).unwrap();
    for line in ["put s.b2d /new n.npy", "rm s.b2d /n"] {
        let error = error_of(&folder, line, 3);
        assert!(error.starts_with("b2: error: s.b2d: the store is damaged: embed.b2e"), "{error}");
    }
    // Errors of options come after those of the input.
    let error = error_of(&folder, "convert n.npy new.b2z --codec lz4", 1);
    assert!(error.contains("n.npy: is neither a store nor a directory"), "{error}");
    let error = error_of(&folder, "convert s.b2z new.b2z --codec lz4", 2);
    assert!(error.contains("--codec: stores are copied unchanged"), "{error}");
}

/// The CRC-32 of a new member must not certify damaged data.
#[test]
fn damaged_frames_are_not_added_to_stores() {
    let folder = made("s.b2z");
    folder.out("convert n.npy n.b2nd");
    let mut bytes = folder.read("n.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    folder.write("bad.b2nd", &bytes);
    folder.write("short.b2nd", &bytes[..middle]);
    assert_eq!(folder.line("verify bad.b2nd").status, 3);
    for store in ["s.b2z", "new.b2z", "new.b2d", "new.b2e"] {
        for (file, reason) in [("bad", "1 chunk or metalayer is damaged"), ("short", "bytes")] {
            for key in ["/g/new", "/g/n --force"] {
                let error = error_of(&folder, &format!("put {store} {key} {file}.b2nd"), 3);
                assert!(error.contains(&format!("error: {file}.b2nd: ")), "{error}");
                assert!(error.contains(reason), "{error}");
                assert!(error.contains(&format!("'b2 verify {file}.b2nd' lists")), "{error}");
            }
        }
        assert_eq!(folder.path(store).exists(), store == "s.b2z");
    }
    assert_eq!(folder.out("verify s.b2z"), "s.b2z: right\n");
    assert_eq!(folder.line("diff s.b2z:/g/n n.npy").status, 0);
}

#[test]
fn objects_are_added_copied_and_deleted() {
    for store in ["s.b2z", "s.b2d", "s.b2e"] {
        let folder = made(store);
        assert_eq!(folder.out(&format!("cat {store}:/g/n --slice 8:")), "8:  8\n9:  9\n");
        folder.write("t.txt", b"some text");
        folder.succeed("compress t.txt --quiet");
        folder.succeed(&format!("put {store} /t t.txt.b2frame"));
        assert_eq!(folder.out(&format!("cat --raw {store}:/t")), "some text");
        let error = error_of(&folder, &format!("put {store} /g/n t.txt.b2frame"), 1);
        assert!(error.contains("exists already") && error.contains("--force"), "{error}");
        folder.succeed(&format!("put {store} /g/n t.txt.b2frame --force"));
        // The output is the stored frame.
        folder.succeed(&format!("get {store} /t back.b2frame"));
        assert_eq!(folder.read("back.b2frame"), folder.read("t.txt.b2frame"));
        assert_eq!(folder.line(&format!("get {store} /t -")).stdout, folder.read("t.txt.b2frame"));
        assert!(error_of(&folder, &format!("get {store} /t back.b2frame"), 1).contains("--force"));
        folder.succeed(&format!("get {store} /t back.b2frame --force"));
        folder.out(&format!("verify {store}"));
        assert!(error_of(&folder, &format!("rm {store} /t /none"), 1).contains("no key \"/none\""));
        // An unset variable of the shell.
        let result = folder.run(&["rm", store, ""]);
        assert!(result.status == 1 && result.err().contains("no key \"\""), "{}", result.err());
        assert!(folder.out(&format!("ls -r {store}")).contains(":/t"));
        folder.succeed(&format!("rm {store} /t /g/n"));
        assert_eq!(folder.out(&format!("ls -r {store}")).lines().count(), 1);
        let left = folder.names();
        assert_eq!(left, ["back.b2frame", "n.npy", store, "t.txt", "t.txt.b2frame"]);
    }
}

#[test]
fn the_comment_of_a_zip_file_and_its_start_are_kept() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[3, 4], 0);
    folder.succeed("put s.b2z /g/a a.npy");
    let (start, comment) = (b"#!/usr/bin/env b2\n", b"of the station");
    let mut bytes = folder.read("s.b2z");
    let at = bytes.len() - 2;
    bytes[at] = comment.len() as u8;
    folder.write("s.b2z", &[&start[..], &bytes, comment].concat());
    for line in ["put s.b2z /b a.npy", "put s.b2z /b a.npy --force", "meta set s.b2z:/g unit 1"] {
        folder.succeed(line);
    }
    folder.succeed("rm s.b2z /g/a");
    folder.succeed("convert s.b2z t.b2z");
    for name in ["s.b2z", "t.b2z"] {
        let changed = folder.read(name);
        assert!(changed.starts_with(start) && changed.ends_with(comment), "{name}");
        folder.out(&format!("verify {name}"));
        assert!(folder.out(&format!("cat {name}:/b")) == folder.out("cat a.npy"));
    }
    let refused = error_of(&folder, "convert s.b2z d.b2d --strict", 1);
    assert!(
        refused.contains("not kept: the comment of the zip file; 18 bytes before"),
        "{refused}"
    );
    let converted = folder.line("convert s.b2z d.b2d");
    assert!(converted.err().contains("d.b2d: not kept: the comment of the zip file"));
    // Bytes between the members are not kept.
    let bytes = folder.read("t.b2z");
    let end = bytes.len() - comment.len() - 22;
    let directory = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
    let mut gap = [&bytes[..directory], b"junk", &bytes[directory..]].concat();
    let moved = u32::try_from(directory + 4).unwrap().to_le_bytes();
    gap[end + 4 + 16..end + 4 + 20].copy_from_slice(&moved);
    folder.write("t.b2z", &gap);
    for line in ["put t.b2z /c a.npy", "rm t.b2z /b", "meta set t.b2z:/ unit 1"] {
        let refused = error_of(&folder, line, 1);
        let text = format!("a change would lose the bytes from {directory} to {}", directory + 4);
        assert!(refused.contains(&text), "{line}: {refused}");
        assert_eq!(folder.read("t.b2z"), gap);
    }
    let converted = folder.line("convert t.b2z u.b2z");
    assert!(converted.status == 0 && converted.err().contains("not kept: the bytes from"));
    folder.succeed("put u.b2z /c a.npy");
}

#[test]
fn hostile_targets_and_keys_are_refused() {
    let folder = made("s.b2d");
    std::os::unix::fs::symlink(folder.path("s.b2d"), folder.path("link.b2d")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path("dangling.b2z")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path("fifo.b2z")).status();
    assert!(made.unwrap().success());
    folder.write("text.b2z", b"no store");
    for (store, reason) in [
        ("link.b2d", "'link.b2d' is a symbolic link, not a store"),
        ("dangling.b2z", "'dangling.b2z' is a symbolic link, not a store"),
        ("fifo.b2z", "'fifo.b2z' is a FIFO, a socket or a device, not a store"),
        ("text.b2z", "neither a store"),
        ("n.npy", "neither a store"),
        ("missing/s.b2z", "No such file or directory"),
        ("new.zip", ".b2z, .b2d or .b2e"),
    ] {
        let error = error_of(&folder, &format!("put {store} /x n.npy"), 1);
        assert!(error.contains(reason), "{store}: {error}");
    }
    assert_eq!(folder.read("text.b2z"), b"no store");
    // The reason why a path cannot be opened is named, also in 'get'.
    std::os::unix::fs::symlink("loop.b2z", folder.path("loop.b2z")).unwrap();
    for (store, reason) in [
        ("text.b2z", "text.b2z: is not a store"),
        ("fifo.b2z", "fifo.b2z: is not a store"),
        ("missing.b2z", "missing.b2z: does not exist"),
        ("n.npy/", "cannot open n.npy/: Not a directory"),
        ("loop.b2z", "cannot open loop.b2z: Too many levels of symbolic links"),
    ] {
        let error = error_of(&folder, &format!("get {store} /x out.b2nd"), 1);
        assert!(error.contains(reason), "{store}: {error}");
    }
    for key in ["/../evil", "x", "/", "/a//b", "/g", "/g/n/x", "/_meta", "/./a"] {
        error_of(&folder, &format!("put s.b2d {key} n.npy"), 1);
    }
    assert!(!folder.exists("evil.b2nd"));
    assert!(error_of(&folder, "rm missing.b2z /a", 1).contains("does not exist"));
    assert!(error_of(&folder, "put s.b2d /x s.b2d", 1).contains("cannot be added to a store"));
    assert!(error_of(&folder, "get s.b2d:/g /n out", 2).contains("STORE KEY"));
    assert!(error_of(&folder, "get s.b2d /g out", 1).contains(".b2z, .b2d or .b2e"));
    // A damaged store is not changed.
    let name = folder.fixture("stores/x_duplicate.b2z");
    let before = folder.read(&name);
    assert!(error_of(&folder, &format!("put {name} /x n.npy"), 3).contains("b2 repair"));
    assert_eq!(folder.read(&name), before);
}

#[test]
fn stores_are_converted_to_each_other_and_objects_to_files() {
    let folder = folder(&["t_table.b2z", "x_noembed.b2d"]);
    folder.succeed("convert t_table.b2z a.b2d");
    folder.succeed("convert a.b2d b.b2e");
    folder.succeed("convert b.b2e c --to b2z");
    folder.succeed("convert t_table.b2z d.b2z");
    assert_eq!(folder.read("c"), folder.read("d.b2z"));
    for store in ["a.b2d", "c", "d.b2z"] {
        assert_eq!(folder.out(&format!("verify {store}")).lines().count(), 1);
        assert_eq!(folder.out(&format!("cat {store}:/t2")), folder.out("cat t_table.b2z:/t2"));
    }
    folder.succeed("convert t_table.b2z:/data/arr arr.npy");
    assert_eq!(folder.out("cat arr.npy --no-index"), "0\n1\n2\n3\n4\n");
    folder.succeed("convert t_table.b2z:/t2 t2.b2z");
    assert_eq!(folder.out("cat t2.b2z"), folder.out("cat t_table.b2z:/t2"));
    folder.succeed("get t_table.b2z /data data.b2d");
    assert_eq!(folder.out("head -l 1 data.b2d:/arr"), "0:  0\n");
    folder.fixture("stores/d_embedded.b2z");
    folder.succeed("convert d_embedded.b2z kept.b2d");
    folder.succeed("convert d_embedded.b2z files.b2d --embed 0");
    assert!(!folder.exists("kept.b2d/a.b2nd") && folder.exists("files.b2d/a.b2nd"));
    assert!(error_of(&folder, "convert arr.npy x.b2nd --embed 0", 2).contains("only stores"));
    // A directory of frames.
    let line = folder.line("convert x_noembed.b2d e.b2z");
    assert_eq!(line.status, 0, "{}", line.err());
    assert!(line.err().contains("embed.b2e is missing"), "{}", line.err());
    assert!(error_of(&folder, "convert x_noembed.b2d f.b2z --strict", 1).contains("not kept"));
    folder.out("verify e.b2z");
    let error = error_of(&folder, "convert t_table.b2z:/data/arr x.b2z", 1);
    assert!(error.contains("single object"), "{error}");
    assert!(error_of(&folder, "convert t_table.b2z x.npy", 1).contains("STORE:/key"));
    assert!(error_of(&folder, "convert arr.npy x.b2z", 1).contains("b2 put"));
    assert!(error_of(&folder, "convert a.b2d x.b2z --level 3", 2).contains("copied unchanged"));
    assert!(error_of(&folder, "convert a.b2d d.b2z", 1).contains("--force"));
    folder.succeed("convert a.b2d d.b2z --force");
    folder.succeed("convert d.b2z a.b2d --force");
    assert_eq!(folder.out("cat a.b2d:/t2"), folder.out("cat t_table.b2z:/t2"));
}

#[test]
fn damaged_stores_are_repaired() {
    let folder =
        folder(&["x_half.b2z", "x_duplicate.b2z", "x_crc.b2z", "t_nested.b2z", "a_nd.b2nd"]);
    for name in ["x_half.b2z", "x_duplicate.b2z", "x_crc.b2z"] {
        let before = folder.read(name);
        let plan = folder.line(&format!("repair {name}"));
        assert_eq!(plan.status, 3);
        assert!(plan.out().contains("nothing was changed"), "{}", plan.out());
        assert_eq!(folder.read(name), before);
        let done = folder.line(&format!("repair --write {name}"));
        assert_eq!(done.status, 0, "{}{}", done.out(), done.err());
        assert!(done.out().contains(": repaired\n"), "{}", done.out());
        assert_eq!(folder.read(&format!("{name}.broken")), before);
        folder.out(&format!("verify {name}"));
        assert!(folder.out(&format!("repair {name}")).contains("nothing to repair"));
    }
    assert!(folder.out("ls -r x_crc.b2z").contains(":/lost/"));
    assert!(folder.out("repair --write t_nested.b2z").contains("nothing to repair"));
    assert!(!folder.exists("t_nested.b2z.broken"));
    assert!(error_of(&folder, "repair t_nested.b2z:/top", 2).contains("as a whole"));
}

#[test]
fn attributes_of_groups_and_objects_are_changed() {
    for store in ["s.b2z", "s.b2d"] {
        let folder = made(store);
        for key in ["/", "/g", "/g/n"] {
            folder.succeed(&format!("meta set {store}:{key} unit --string m"));
            folder.succeed(&format!("meta set {store}:{key} range [1,2.5]"));
            assert_eq!(folder.out(&format!("meta get {store}:{key} unit --string")), "m\n");
            let range = folder.json(&format!("meta get {store}:{key} range"));
            assert_eq!(range, serde_json::json!([1, 2.5]));
            folder.succeed(&format!("meta del {store}:{key} range"));
            let listed = folder.json(&format!("meta list --json {store}:{key}"));
            assert_eq!(listed["entries"].as_array().unwrap().len(), 1, "{listed}");
            assert_eq!(listed["entries"][0]["value"], "m");
            let error = error_of(&folder, &format!("meta del {store}:{key} range"), 1);
            assert!(error.contains("unit"), "{error}");
        }
        assert!(error_of(&folder, &format!("meta set {store}:/none a 1"), 1).contains("no key"));
        let error = error_of(&folder, &format!("meta set {store}:/g a 1 --fixed"), 2);
        assert!(error.contains("attributes"), "{error}");
        for number in 0..15 {
            folder.succeed(&format!("meta set {store}:/g n{number} {number}"));
        }
        let error = error_of(&folder, &format!("meta set {store}:/g last 1"), 1);
        assert!(error.contains("16"), "{error}");
        folder.out(&format!("verify {store}"));
    }
}

#[test]
fn a_container_is_not_replaced_by_one_of_its_arrays() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[4, 5], 7);
    folder.succeed("convert a.npy a.b2nd");
    // The names are those that each command accepts for its output.
    for name in ["s.b2nd", "s.svg", "s.raw"] {
        folder.succeed("put s.b2z /g/a a.b2nd --force");
        folder.succeed("put s.b2z /g/b a.b2nd --force");
        std::fs::rename(folder.path("s.b2z"), folder.path(name)).unwrap();
        let before = folder.read(name);
        let lines: &[&str] = match name {
            "s.b2nd" => &["slice IN 1:3 OUT --force", "concat IN IN OUT --force"],
            "s.svg" => &["plot IN :,1 --output OUT --force"],
            _ => &["decompress IN OUT --force"],
        };
        for line in lines {
            let line = line.replace("IN", &format!("{name}:/g/a")).replace("OUT", name);
            let error = error_of(&folder, &line, 1);
            assert!(error.contains("contains the input, and would be replaced"), "{error}");
            assert!(folder.read(name) == before, "{line}");
        }
    }
}
