//! `convert`, `compress` and `decompress`: every pair of formats, pipes, and interrupted
//! conversions.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Returns a `.npy` file of version 1.
fn npy(descr: &str, shape: &str, fortran: bool, items: &[u8]) -> Vec<u8> {
    let mut bytes = npy_header(descr, shape, fortran);
    bytes.extend(items);
    bytes
}

/// Returns bytes that resemble measurements.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u64;
    (0..len)
        .map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if i % 4 == 0 { (state >> 56) as u8 } else { (i / 64) as u8 }
        })
        .collect()
}

/// Outputs: the name and the options.
const ARRAYS: [(&str, &str); 6] = [
    ("a.b2nd", ""),
    ("d.b2nd", "--directory"),
    ("f.b2frame", "--checksums --codec lz4 --level 9 --chunk-size 4K"),
    ("a.blp", ""),
    ("a.bcolz", ""),
    ("a.npy", ""),
];

#[test]
fn arrays_round_trip_between_every_pair_of_formats() {
    let shapes = [
        ("'<i4'", "(300, 17)", 300 * 17 * 4),
        ("'>f8'", "(3, 7, 50)", 3 * 7 * 50 * 8),
        ("'<U3'", "(40,)", 40 * 12),
        ("'|u1'", "(100000,)", 100_000),
        ("'<f8'", "(0, 4)", 0),
        ("'<M8[ns]'", "(11,)", 88),
    ];
    for (descr, shape, len) in shapes {
        let original = npy(descr, shape, false, &noise(len));
        for (first, options) in ARRAYS {
            let folder = TestDir::new();
            folder.write("in.npy", &original);
            folder.out(&format!("convert in.npy {first} {options}"));
            for (second, options) in ARRAYS {
                let second = format!("second-{second}");
                folder.out(&format!("convert {first} {second} {options}"));
                folder.out(&format!("convert {second} back.npy --force"));
                assert!(folder.read("back.npy") == original, "{descr}{shape}: {first} to {second}");
            }
            // No staging directory is left.
            assert!(
                folder.names().iter().all(|name| !name.starts_with('.')),
                "{:?}",
                folder.names()
            );
        }
    }
}

#[test]
fn records_round_trip_through_tables() {
    let descr = "[('a', '<i4'), ('b', '<f8', (2,)), ('c', '|S3')]";
    let original = npy(descr, "(500,)", false, &noise(500 * 23));
    let folder = TestDir::new();
    folder.write("in.npy", &original);
    for (first, options) in ARRAYS {
        folder.out(&format!("convert in.npy {first} {options}"));
        for (second, options) in ARRAYS {
            let second = format!("second-{second}");
            folder.out(&format!("convert {first} {second} {options} --force"));
            folder.out(&format!("convert {second} back.npy --force"));
            assert!(folder.read("back.npy") == original, "{first} to {second}");
        }
    }
    assert_eq!(folder.json("info --json a.bcolz")[0]["format"], "ctable");
    folder.out("convert a.bcolz b.npy --column b");
    let info = &folder.json("info --json b.npy")[0];
    assert_eq!(info["array"]["shape"], serde_json::json!([500, 2]));
    let result = folder.line("convert a.bcolz none.npy --column d");
    assert_eq!(result.status, 1);
    assert_eq!(result.err(), "b2: error: a.bcolz: there is no column \"d\"\n");
}

#[test]
fn bytes_round_trip_between_every_pair_of_formats() {
    let formats = [
        ("x.b2frame", "--level 9"),
        ("d.b2frame", "--directory --checksums --durable"),
        ("x.blosc1", "--codec lz4"),
        ("x.blosc2", "--codec zstd --filters bitshuffle"),
        ("x.blp", "--chunk-size 10K"),
        ("x.bin", ""),
    ];
    for len in [0, 1, 1000, 70_001] {
        let original = noise(len);
        let folder = TestDir::new();
        folder.write("in", &original);
        folder.out("compress in -t 4 --chunk-size 16K");
        for (first, options) in formats {
            folder.out(&format!("convert in.b2frame {first} {options}"));
            let first = if first == "x.bin" { "in.b2frame" } else { first };
            for (second, options) in formats {
                let second = format!("second-{second}");
                folder.out(&format!("convert {first} {second} {options} --force"));
                if second == "second-x.bin" {
                    assert!(folder.read(&second) == original, "{len}: {first}");
                    continue;
                }
                folder.out(&format!("decompress {second} back --force"));
                assert!(folder.read("back") == original, "{len}: {first} to {second}");
            }
        }
    }
}

#[test]
fn arrays_in_fortran_order_are_converted_to_c_order() {
    // Item (i, j, k) is 100 i + 10 j + k.
    let mut items = Vec::new();
    for k in 0..4u16 {
        for j in 0..3u16 {
            for i in 0..2u16 {
                items.extend((100 * i + 10 * j + k).to_le_bytes());
            }
        }
    }
    let folder = TestDir::new();
    folder.write("f.npy", &npy("'<u2'", "(2, 3, 4)", true, &items));
    folder.out("convert f.npy a.b2nd");
    assert_eq!(
        folder.out("cat a.b2nd -s 1,1:"),
        "1  1:  110  111  112  113\n1  2:  120  121  122  123\n"
    );
    assert_eq!(folder.out("cat f.npy -s 1,1:,2"), "1  1:  112\n1  2:  122\n");
}

#[test]
fn the_type_can_be_set_and_removed() {
    let folder = TestDir::new();
    let numbers: Vec<u8> = (0..6i32).flat_map(i32::to_le_bytes).collect();
    folder.write("n", &numbers);
    folder.out("compress n");
    folder.out("convert n.b2frame n.npy --dtype <i4");
    assert_eq!(folder.out("cat n.npy -s 4:"), "4:  4\n5:  5\n");
    let result = folder.line("convert n.npy n.blosc2");
    assert_eq!(result.status, 1);
    assert_eq!(
        result.err(),
        "b2: error: n.npy: the target format holds bytes alone, without the type and shape of an array\n\
         b2: hint: '--raw' converts the bytes without type and shape; b2nd supports most arrays, and .npy all\n"
    );
    folder.out("convert n.npy n.blosc2 --raw");
    assert_eq!(folder.line("decompress n.blosc2 -").stdout, numbers);
    let result = folder.line("convert n.b2frame m.npy --dtype <i8,");
    assert_eq!(result.status, 2);
    let result = folder.line("convert n.b2frame m.npy --dtype |S5");
    assert_eq!(
        result.err(),
        "b2: error: n.b2frame: 24 bytes are not a multiple of items of 5 bytes\n"
    );
}

#[test]
fn pipes_are_read_and_written() {
    let folder = TestDir::new();
    let data = noise(300_000);
    let packed = folder.line_with("compress -", &data);
    assert_eq!((packed.status, packed.err()), (0, ""));
    let back = folder.line_with("decompress -", &packed.stdout);
    assert_eq!((back.status, back.err()), (0, ""));
    assert!(back.stdout == data);
    let info = folder.line_with("info -", &packed.stdout);
    assert!(
        info.out().starts_with("standard input\n  format       super-chunk in a frame\n"),
        "{}",
        info.out()
    );
    assert_eq!(folder.line_with("verify -", &packed.stdout).status, 0);
    let npy = folder.line_with("convert - - --to npy", &packed.stdout);
    assert!(npy.stdout.ends_with(&data));
    // The reader may close the pipe early.
    folder.write("p.b2frame", &packed.stdout);
    for arguments in [&["cat", "p.b2frame"][..], &["decompress", "p.b2frame", "-"], &["man"]] {
        let mut child = folder.start(arguments);
        let mut first = [0; 10];
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut first).unwrap();
        drop(output);
        let result = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(result.stderr).unwrap(), "", "{arguments:?}");
        assert_eq!(result.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn existing_files_are_replaced_only_with_force() {
    let folder = TestDir::new();
    folder.write("in", b"some bytes");
    folder.write("out.b2frame", b"precious");
    let result = folder.line("compress in out.b2frame");
    assert_eq!(result.status, 1);
    assert_eq!(
        result.err(),
        "b2: error: out.b2frame: already exists\nb2: hint: '--force' replaces it\n"
    );
    assert_eq!(folder.read("out.b2frame"), b"precious");
    folder.out("compress in out.b2frame --force");
    // The output may be the input.
    folder.out("convert out.b2frame out.b2frame --level 0 --force");
    assert_eq!(folder.line("decompress out.b2frame -").stdout, b"some bytes");
    assert_eq!(folder.names(), ["in", "out.b2frame"]);
}

#[test]
fn signals_leave_no_files() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        for arguments in [
            &["compress", "-", "out.b2frame"][..],
            &["compress", "-", "out.b2frame", "--directory"],
        ] {
            let folder = TestDir::new();
            let mut child = folder.start(arguments);
            let mut input = child.stdin.take().unwrap();
            // The conversion creates its staging directory first.
            let begun = Instant::now();
            input.write_all(&noise(3 << 20)).unwrap();
            while folder.names().is_empty() {
                assert!(begun.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(5));
            }
            let id = i32::try_from(child.id()).unwrap();
            // SAFETY: `kill` accepts any process id. The child was not waited for, so its id is not
            // reused by another process.
            assert_eq!(unsafe { libc::kill(id, signal) }, 0);
            let status = child.wait().unwrap();
            drop(input);
            assert!(!status.success());
            assert_eq!(folder.names(), Vec::<String>::new(), "{arguments:?}");
        }
    }
}

#[test]
fn signals_that_are_ignored_from_the_start_do_not_end_the_program() {
    for (signal, name) in [(libc::SIGINT, "INT"), (libc::SIGHUP, "HUP")] {
        let folder = TestDir::new();
        let mut child = Command::new("env")
            .arg(format!("--ignore-signal={name}"))
            .args([env!("CARGO_BIN_EXE_b2"), "compress", "-", "out.b2frame"])
            .current_dir(folder.path(""))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let data = noise(3 << 20);
        let begun = Instant::now();
        input.write_all(&data).unwrap();
        // The program has installed its handlers when its staging directory exists.
        while folder.names().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = i32::try_from(child.id()).unwrap();
        // SAFETY: as in `signals_leave_no_files`.
        assert_eq!(unsafe { libc::kill(id, signal) }, 0);
        drop(input);
        assert!(child.wait().unwrap().success());
        assert!(folder.line("decompress out.b2frame -").stdout == data);
    }
}

#[test]
fn errors_of_damage_have_an_offset_and_leave_no_output() {
    let folder = TestDir::new();
    folder.write("in", &noise(200_000));
    folder.out("compress in --chunk-size 64K --checksums");
    let mut bytes = folder.read("in.b2frame");
    let chunks = folder.json("ls --json --chunks in.b2frame");
    let position = chunks[0]["chunks"][1]["position"].as_u64().unwrap() as usize;
    bytes[position + 1000] ^= 1;
    folder.write("in.b2frame", &bytes);
    for line in [
        "convert in.b2frame out.npy",
        "decompress in.b2frame out",
        "convert in.b2frame new.b2frame",
    ] {
        let result = folder.line(line);
        assert_eq!(result.status, 3, "{line}: {}", result.err());
        let location = format!("in.b2frame: chunk 1 at byte {position}: ");
        assert!(result.err().contains(&location), "{line}: {}", result.err());
        assert!(
            result.err().contains("b2: hint: 'b2 verify in.b2frame'"),
            "{line}: {}",
            result.err()
        );
    }
    assert_eq!(folder.names(), ["in", "in.b2frame"]);
}

/// Parses hexadecimal digits.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks_exact(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Returns a frame of one of the two older layouts: eight numbers, the metalayer `m` and the user
/// metadata `abc`. The first layout has no array of metalayers.
fn old_frame(has_array: bool) -> Vec<u8> {
    let (header_len, frame_len, content_at, array) =
        if has_array { ("6b", "0114", "63", "dc0001") } else { ("68", "0111", "60", "") };
    hex(&format!(
        "9da862326672616d6500 d2000000{header_len} cf000000000000{frame_len} a4 11005000
         d30000000000000020 d30000000000000040 d200000004 d200000020 d10001 d10001 c3
         d808 0000000000010000 0000000000000000
         93cd000e de0001 a16d d2000000{content_at} {array} c600000003 010203
         0501170420000000200000004000000000000000000100000000000000000000
         0100000002000000030000000400000005000000060000000700000008000000
         0501070808000000080000002800000000000000000100000000000000000000
         0000000000000000
         9400 c600000023
         0501070803000000010000002300000000000000000100000000000000000000616263
         ce00000041 d800 00000000000000000000000000000000"
    ))
}

#[test]
fn frames_of_both_older_layouts_are_read_and_rewritten() {
    let numbers: Vec<u8> = (1..9i32).flat_map(i32::to_le_bytes).collect();
    for has_array in [true, false] {
        let folder = TestDir::new();
        folder.write("old.b2frame", &old_frame(has_array));
        let old = &folder.json("info --json old.b2frame")[0];
        assert_eq!((&old["legacy"], &old["nbytes"]), (&true.into(), &32.into()), "{old:#}");
        assert!(folder.out("info old.b2frame").contains("in an older layout"));
        assert_eq!(folder.line("verify old.b2frame").status, 0);
        assert_eq!(folder.line("decompress old.b2frame -").stdout, numbers);
        for options in ["", "--directory", "--level 9"] {
            folder.out(&format!("convert old.b2frame new.b2frame --force {options}"));
            let new = &folder.json("info --json new.b2frame")[0];
            assert_eq!(new["legacy"], false);
            assert_eq!(folder.line("decompress new.b2frame -").stdout, numbers);
            if options != "--level 9" {
                assert_eq!(new["metalayers"], old["metalayers"]);
                assert_eq!(new["vlmetalayers"], old["vlmetalayers"]);
                assert_eq!(new["vlmetalayers"][0]["name"], "usermeta");
            }
        }
    }
}

#[test]
fn empty_arrays_can_have_the_longest_dimensions() {
    let folder = TestDir::new();
    let shape = "(0, 4611686018427387904, 4611686018427387904)";
    folder.write("empty.npy", &npy("'<f8'", shape, false, &[]));
    for (name, _) in ARRAYS {
        let result = folder.line(&format!("convert empty.npy {name} --force"));
        assert!(!result.err().contains("panicked"), "{name}: {}", result.err());
        if result.status == 0 {
            for line in ["info", "verify", "cat"] {
                let result = folder.line(&format!("{line} {name}"));
                assert_eq!((result.status, result.err()), (0, ""), "{line} {name}");
            }
        }
    }
}

mod attachments {
    //! Metalayers, attributes, metadata and fill values, from every format to every other.

    use crate::common::TestDir;
    use ferroblosc::chunk::{CParams, DParams};
    use ferroblosc::codec;
    use ferroblosc::filter::{self, Slot};
    use ferroblosc::schunk::{SChunk, Storage};
    use ferroblosc_formats::bcolz::{Carray, Ctable, Mode, Object, Options};
    use ferroblosc_formats::bloscpack::Value;

    const TARGETS: [&str; 8] =
        ["o.b2frame", "o.b2nd", "o.blp", "o.bcolz", "o.npy", "o.bin", "o.blosc1", "o.blosc2"];

    /// Writes a frame with both kinds of metalayers, bitshuffle and LZ4 at level 7.
    fn frame(folder: &TestDir) {
        let slots = [Slot { id: filter::id::BITSHUFFLE, meta: 0 }];
        let params = CParams::default().codec(codec::id::LZ4).level(7).filters(&slots).typesize(4);
        let storage = Storage::file(folder.path("x.b2frame"));
        let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        schunk.add_metalayer("fixed", b"\xa5metre").unwrap();
        schunk.add_metalayer("opaque", b"\xc4\x01a").unwrap();
        let numbers: Vec<u8> = (0..4000i32).flat_map(i32::to_le_bytes).collect();
        schunk.append(&numbers).unwrap();
        schunk.append(&numbers).unwrap();
        schunk.add_vlmetalayer("unit", b"\xa1m").unwrap();
        schunk.add_vlmetalayer("raw", b"\xff\xfe\xfd").unwrap();
        schunk.close().unwrap();
    }

    /// Returns the names of layers and attributes that `info` shows.
    fn names(folder: &TestDir, name: &str) -> Vec<String> {
        let info = folder.json(&format!("info --json {name}"));
        let mut found = Vec::new();
        for key in ["metalayers", "vlmetalayers"] {
            for layer in info[0][key].as_array().unwrap() {
                found.push(layer["name"].as_str().unwrap().to_owned());
            }
        }
        if let Some(entries) = info[0]["metadata"].as_object() {
            found.extend(entries.keys().cloned());
        }
        found
    }

    /// Checks that each of `things` is in the target or listed on standard error, which `--strict`
    /// makes an error.
    fn compare(folder: &TestDir, source: &str, things: &[&str]) {
        for options in ["", "--level 3", "--raw", "--chunk-size 4K"] {
            for target in TARGETS {
                let line = format!("convert {source} {target} --force {options}");
                let result = folder.line(&line);
                if result.status != 0 {
                    // The format does not support records, arrays or the option.
                    let texts = ["the target format holds", "not supported for"];
                    let is_expected = texts.iter().any(|text| result.err().contains(text));
                    assert!(is_expected, "{line}: {}", result.err());
                    continue;
                }
                let there = names(folder, target.replace(".bin", ".npy").as_str());
                let there = if target == "o.bin" { Vec::new() } else { there };
                let mut is_all = true;
                for thing in things {
                    let is_there = there.iter().any(|name| name == thing);
                    let is_named = result.err().contains(&format!("{thing:?}"));
                    assert!(is_there != is_named, "{line}: {thing}: {there:?} {}", result.err());
                    is_all &= is_there;
                }
                let is_quiet = result.err().is_empty();
                assert!(is_all || !is_quiet, "{line}");
                let strict = folder.line(&format!("{line} --strict"));
                assert_eq!(strict.status == 0, is_quiet, "{line}: {}", strict.err());
            }
        }
    }

    #[test]
    fn metalayers_are_kept_or_listed() {
        let folder = TestDir::new();
        frame(&folder);
        // `compare` reads the names of `o.npy` instead of `o.bin`, so the file must exist.
        folder.line("convert x.b2frame o.npy");
        compare(&folder, "x.b2frame", &["fixed", "opaque", "unit", "raw"]);
        folder.succeed("convert x.b2frame y.b2nd --dtype <i4");
        compare(&folder, "y.b2nd", &["fixed", "opaque", "unit", "raw"]);
        // A conversion to an array and then to a directory keeps the content.
        folder.succeed("convert y.b2nd z.b2nd --directory --chunk-size 4K");
        let schunk =
            SChunk::open(Storage::directory(folder.path("z.b2nd")), DParams::default()).unwrap();
        assert_eq!(schunk.metalayer("fixed").unwrap(), b"\xa5metre");
        assert_eq!(schunk.vlmetalayer("raw").unwrap(), b"\xff\xfe\xfd");
    }

    #[test]
    fn attributes_and_metadata_are_kept_or_listed() {
        let folder = TestDir::new();
        frame(&folder);
        folder.line("convert x.b2frame a.bcolz --dtype <i4");
        let mut array =
            Carray::open(&folder.path("a.bcolz"), Mode::Append, &Options::default()).unwrap();
        array.set_attr("scale", Value::parse(b"[1, 2.5, \"x\"]").unwrap()).unwrap();
        array.close().unwrap();
        folder.line("convert x.b2frame o.npy --force");
        compare(&folder, "a.bcolz", &["scale", "unit"]);
        folder.line("convert a.bcolz b.blp --raw");
        folder.line("convert a.bcolz c.blp");
        for name in ["b.blp", "c.blp"] {
            compare(&folder, name, &["scale", "unit"]);
        }
        // The value survives a round trip.
        for line in ["c.blp d.b2nd", "d.b2nd e.bcolz", "e.bcolz f.blp"] {
            folder.line(&format!("convert {line} --level 2"));
        }
        let info = folder.json("info --json f.blp");
        assert_eq!(info[0]["metadata"]["scale"].to_string(), "[1,2.5,\"x\"]");
    }

    #[test]
    fn fill_values_and_columns_are_kept_or_listed() {
        let folder = TestDir::new();
        let table = folder.fixture("bcolz/ct_mixed");
        let fill = folder.fixture("bcolz/dflt7");
        for (options, is_kept) in [
            ("o.bcolz --level 3", true),
            ("o.b2nd --level 3", true),
            ("o.blp --level 3", false),
            ("o.npy", false),
            ("o.bin", false),
        ] {
            let result = folder.line(&format!("convert {fill} {options} --force"));
            assert_eq!(result.status, 0, "{}", result.err());
            assert_eq!(
                result.err().contains("the fill value 7"),
                !is_kept,
                "{options}: {}",
                result.err()
            );
        }
        folder.line("convert o.b2nd p.bcolz");
        for name in ["o.bcolz", "p.bcolz"] {
            let array = Carray::open(&folder.path(name), Mode::Read, &Options::default()).unwrap();
            assert!(*array.dflt() == Value::from(7), "{name}");
        }
        folder.line(&format!("convert {table} t.bcolz"));
        let mut own =
            Ctable::open(&folder.path("t.bcolz"), Mode::Append, &Options::default()).unwrap();
        own.set_attr("author", Value::from("me")).unwrap();
        let name = own.names().next().unwrap().to_owned();
        let Object::Carray(column) = own.column(&name).unwrap() else {
            panic!("a column");
        };
        let root = column.root().to_owned();
        drop(own);
        let mut column = Carray::open(&root, Mode::Append, &Options::default()).unwrap();
        column.set_attr("unit", Value::from("s")).unwrap();
        column.close().unwrap();
        folder.line("convert t.bcolz u.bcolz --level 3");
        let copy = Ctable::open(&folder.path("u.bcolz"), Mode::Read, &Options::default()).unwrap();
        assert!(copy.attrs().get("author") == Some(&Value::from("me")));
        assert!(copy.column(&name).unwrap().attrs().get("unit") == Some(&Value::from("s")));
        let result = folder.line("convert t.bcolz v.b2nd");
        assert!(result.err().contains("the attribute \"unit\" of the column"), "{}", result.err());
        assert!(!result.err().contains("author"), "{}", result.err());
    }

    #[test]
    fn codec_parameters_are_kept_by_default() {
        let folder = TestDir::new();
        frame(&folder);
        let check = |name: &str| {
            let info = folder.json(&format!("info --json {name}"));
            assert_eq!(info[0]["codec"], "lz4", "{name}");
            assert_eq!(info[0]["filters"][0]["name"], "bitshuffle", "{name}");
            if !info[0]["level"].is_null() {
                assert_eq!(info[0]["level"], 7, "{name}");
            }
        };
        for line in [
            "x.b2frame a.b2nd --dtype <i4",
            "a.b2nd b.b2nd --chunk-size 2K",
            "a.b2nd c.bcolz",
            "c.bcolz d.b2nd",
            "c.bcolz e.blp",
            "a.b2nd f.blp",
            "x.b2frame g.b2frame --chunk-size 8K",
            "x.b2frame h.blosc2 --raw",
        ] {
            folder.line(&format!("convert {line}"));
            check(line.split(' ').nth(1).unwrap());
        }
        // A codec that bcolz lacks is listed.
        folder.line("convert x.b2frame i.b2frame --filters delta,shuffle");
        let result = folder.line("convert i.b2frame i.bcolz");
        assert!(
            result.err().contains("the codec parameters (lz4; filters: delta, shuffle)"),
            "{}",
            result.err()
        );
        folder.line("convert x.b2frame j.b2frame --level 9");
        let info = folder.json("info --json j.b2frame");
        assert_eq!((&info[0]["codec"], &info[0]["level"]), (&"lz4".into(), &9.into()));
    }
}

#[test]
fn numbers_without_a_header_become_arrays() {
    let folder = TestDir::new();
    let items: Vec<u8> = (0..6 * 5 * 7u16).flat_map(u16::to_le_bytes).collect();
    folder.write("in.raw", &items);
    let expected = npy("'<u2'", "(6, 5, 7)", false, &items);
    let settings = [
        ("", vec![6, 5, 7]),
        ("--chunks 2,3,4", vec![2, 3, 4]),
        ("--chunks 2,3,4 --blocks 1,3,2", vec![2, 3, 4]),
        ("--chunks 1,2,7", vec![1, 2, 7]),
        ("--chunks 6,5,2 --codec lz4", vec![6, 5, 2]),
        // Longer than the array.
        ("--chunks 8,9,9", vec![8, 9, 9]),
    ];
    for (options, chunks) in settings {
        folder.out(&format!("convert in.raw a.b2nd --dtype u2 --shape 6,5,7 --force {options}"));
        folder.out("convert a.b2nd back.npy --force");
        assert!(folder.read("back.npy") == expected, "{options}");
        let array = &folder.json("info --json a.b2nd")[0]["array"];
        assert_eq!(array["chunk_shape"], serde_json::json!(chunks), "{options}");
    }
    let array = &folder.json("info --json a.b2nd")[0]["array"];
    assert_eq!((&array["dtype"], &array["shape"]), (&"<u2".into(), &serde_json::json!([6, 5, 7])));
    // Without a shape there is one dimension; other formats hold the array, too.
    folder.out("convert in.raw flat.npy --dtype >u2");
    assert!(folder.read("flat.npy") == npy("'>u2'", "(210,)", false, &items));
    folder.out("convert in.raw a.blp --dtype u2 --shape 30,7");
    folder.out("convert a.blp back.npy --force");
    assert!(folder.read("back.npy") == npy("'<u2'", "(30, 7)", false, &items));
    // A given shape replaces that of an array.
    folder.out("convert flat.npy other.npy --dtype <i2 --shape 7,30");
    assert!(folder.read("other.npy") == npy("'<i2'", "(7, 30)", false, &items));
}

#[test]
fn numbers_in_fortran_order_become_arrays_in_c_order() {
    let folder = TestDir::new();
    let item = |i: u32, j: u32, k: u32| (100 * i + 10 * j + k).to_le_bytes();
    let mut fortran = Vec::new();
    let mut c = Vec::new();
    for k in 0..4 {
        for j in 0..3 {
            fortran.extend((0..2).flat_map(|i| item(i, j, k)));
        }
    }
    for i in 0..2 {
        for j in 0..3 {
            c.extend((0..4).flat_map(|k| item(i, j, k)));
        }
    }
    folder.write("in.raw", &fortran);
    for options in ["", "--chunks 2,2,2"] {
        folder.out(&format!(
            "convert in.raw a.b2nd --dtype u4 --shape 2,3,4 --order f --force {options}"
        ));
        folder.out("convert a.b2nd back.npy --force");
        assert!(folder.read("back.npy") == npy("'<u4'", "(2, 3, 4)", false, &c), "{options}");
    }
}

#[test]
fn bytes_that_resemble_a_known_format_are_converted_as_bytes() {
    let folder = TestDir::new();
    folder.write("in.npy", &npy("'<u2'", "(4,)", false, &[1, 0, 2, 0, 3, 0, 4, 0]));
    let len = folder.read("in.npy").len();
    folder.out("convert in.npy a.b2nd --from bin --dtype u1");
    let array = &folder.json("info --json a.b2nd")[0]["array"];
    assert_eq!(array["shape"], serde_json::json!([len]));
    folder.out("convert in.npy a.b2frame --from bin");
    folder.out("decompress a.b2frame back");
    assert!(folder.read("back") == folder.read("in.npy"));
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let folder = TestDir::new();
    folder.write("in.raw", &[0; 24]);
    folder.write("in.npy", &npy("'<u2'", "(2, 6)", false, &[0; 24]));
    let huge = "18446744073709551615,3";
    for (line, status, expected) in [
        ("in.raw a.b2nd", 1, "in.raw: the format is unknown\nb2: hint: '--dtype TYPE' and"),
        (
            "in.raw a.b2nd --dtype u2 --shape 4,4",
            1,
            "the shape needs 32 bytes, and the data have 24",
        ),
        (
            "in.raw a.b2nd --dtype u2 --shape 2,2",
            1,
            "the shape needs 8 bytes, and the data have 24",
        ),
        ("in.raw a.b2nd --dtype u2 --shape 0", 1, "the shape needs 0 bytes, and the data have 24"),
        (&format!("in.raw a.b2nd --dtype u2 --shape {huge}"), 1, "the shape is too large"),
        ("in.raw a.b2nd --dtype <U4", 1, "24 bytes are not a multiple of items of 16 bytes"),
        ("in.raw a.b2nd --shape 12", 2, "--dtype <TYPE>"),
        ("in.raw a.b2nd --dtype u2 --order F", 2, "--shape <LENGTHS>"),
        ("in.npy a.b2nd --chunks 2", 1, "different numbers of dimensions"),
        ("in.npy a.b2nd --chunks 2,0", 1, "lengths of chunks and blocks must be at least 1"),
        ("in.npy a.b2nd --chunks 2,2 --blocks 2,3", 1, "a block must not be longer than a chunk"),
        ("in.npy a.b2nd --chunks 99999999999,2", 1, "does not support arrays of this shape"),
        ("in.npy a.b2nd --chunks 2,2 --chunk-size 4K", 2, "cannot be used with"),
        ("in.npy a.blp --chunks 2,2", 1, "only arrays in frames have chunk and block shapes"),
        ("in.npy a.b2frame --raw --chunks 2,2", 1, "only arrays in frames have chunk"),
    ] {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, status, "{line}: {}", result.err());
        assert!(result.err().contains(expected), "{line}: {}", result.err());
        assert_eq!(folder.names(), ["in.npy", "in.raw"], "{line}");
    }
}

#[test]
fn files_of_unknown_size_are_read_to_their_end() {
    let folder = TestDir::new();
    // A regular file of the size 0.
    let name = "/proc/version";
    let Ok(expected) = std::fs::read(name) else {
        return;
    };
    folder.succeed(&format!("compress {name} a.b2frame"));
    folder.succeed(&format!("convert {name} b.b2frame --from bin"));
    folder.write("empty", b"");
    folder.succeed("compress empty c.b2frame");
    folder.succeed(&format!("append c.b2frame {name} --raw"));
    for frame in ["a.b2frame", "b.b2frame", "c.b2frame"] {
        assert!(folder.line(&format!("decompress {frame} -")).stdout == expected, "{frame}");
    }
}
