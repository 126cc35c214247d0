//! Messages: spellings of sizes and names, and the hints of errors.

use crate::common::{TestDir, ints};

#[test]
fn sizes_are_accepted_in_all_common_forms() {
    let folder = TestDir::new();
    folder.write("a", &[1; 100_000]);
    for text in ["64K", "64k", "64KB", "64kb", "64KiB", "65536", "0.0625M", "64_000"] {
        folder.out(&format!("compress a a.b2frame -t 1 --force --chunk-size {text}"));
        let chunks = folder.json("info --json a.b2frame")[0]["chunks"].clone();
        let size = if text == "64_000" { 64_000 } else { 65_536 };
        assert_eq!(chunks["size"], size, "{text}");
    }
    for (options, reason) in [
        ("--chunk-size 1Q", "--chunk-size 1Q: the unit 'Q' is unknown; the units are "),
        ("--chunk-size x", "--chunk-size x: a size is a number with an optional unit"),
        ("--chunk-size=-1", "--chunk-size -1: a size cannot be negative"),
        ("--chunk-size 0", "--chunk-size 0: must be at least 1 byte"),
        ("--chunk-size 3G", "--chunk-size 3G: must be at most 2147483615 bytes ('max')"),
        ("--block-size 99G", "--block-size 99G: must be at most 2147483647 bytes"),
    ] {
        let result = folder.line(&format!("compress a new {options}"));
        assert_eq!(result.status, 2, "{options}");
        let begin = format!("b2: error: {reason}");
        assert!(result.err().starts_with(&begin), "{options}: {}", result.err());
        assert!(!folder.exists("new"));
    }
}

#[test]
fn names_of_codecs_filters_and_formats_may_be_in_any_case() {
    let folder = TestDir::new();
    folder.write("a", b"content");
    folder.out("compress a -C ZSTD --filters BitShuffle,SHUFFLE -t 4");
    let info = folder.json("info --json a.b2frame")[0].clone();
    assert_eq!(info["codec"], "zstd");
    assert_eq!(info["filters"][0]["name"], "bitshuffle");
    folder.out("convert a.b2frame a --force --to Blosc2 -C Lz4");
    folder.out("convert a.b2frame a.BIN");
    assert_eq!(folder.read("a.BIN"), b"content");
    assert_eq!(folder.line("compress a -C gzip").status, 2);
}

#[test]
fn errors_of_unknown_extensions_list_the_known_ones() {
    let folder = TestDir::new();
    folder.write("a", b"content");
    folder.out("compress a");
    for (name, reason) in [
        ("b.foo", "b.foo: the extension '.foo' is unknown"),
        ("b", "b: the name has no extension"),
        ("-", "standard output has no extension"),
    ] {
        let result = folder.line(&format!("convert a.b2frame {name}"));
        assert_eq!(result.status, 2);
        assert!(
            result.err().starts_with(&format!("b2: error: {reason}\n")),
            "{name}: {}",
            result.err()
        );
        for known in [".b2frame", ".b2nd", ".npy", ".blp", ".bcolz", "--to FORMAT"] {
            assert!(result.err().contains(known), "{name}: {known}");
        }
    }
    let result = folder.line("decompress a");
    assert_eq!(
        (result.status, result.err().lines().next().unwrap()),
        (
            2,
            "b2: error: a: the name ends with none of .b2frame, .cframe, .blp, .blosc, .blosc1, .blosc2"
        )
    );
    folder.out("convert a.b2frame c.blp");
    folder.out("decompress c.blp");
    assert_eq!(folder.read("c"), b"content");
    // The path is named, even if its name is a part of the message.
    folder.write("s", b"content");
    let result = folder.line("repair s");
    assert!(result.err().starts_with("b2: error: s: the format is unknown\n"), "{}", result.err());
    let result = folder.line("cat a.b2frame -d f44");
    assert_eq!(
        (result.status, result.err().lines().next().unwrap()),
        (2, "b2: error: --dtype: the dtype 'f44' is not understood")
    );
    let result = folder.run(&["cat", "a.b2frame", "-d", "('<i4', (2,))"]);
    assert_eq!(result.status, 2);
    assert!(result.err().contains("b2: hint: write the type of one item, such as '<i4'; only"));
}

#[test]
fn outputs_that_are_files_cannot_have_the_names_of_directories() {
    let folder = TestDir::new();
    folder.write("raw", &[b'x'; 4000]);
    folder.out("convert raw a.b2nd --dtype <i4");
    folder.out("compress raw a.b2frame");
    std::fs::create_dir(folder.path("d")).unwrap();
    for output in ["new/", "new.svg/", "a.b2nd/", "d/"] {
        for line in [
            format!("convert raw {output} --to b2nd --dtype <i4 --force"),
            format!("convert raw {output} --to npy --dtype <i4"),
            format!("decompress a.b2frame {output}"),
            format!("slice a.b2nd 0:5 {output}"),
            format!("concat a.b2nd a.b2nd {output}"),
            format!("plot a.b2nd 0:5 -o {output}"),
        ] {
            if line.starts_with("plot") && output != "new.svg/" {
                continue;
            }
            let result = folder.line(&line);
            let text = format!("b2: error: {output}: the slash at the end names a directory, and");
            assert!(result.status == 1 && result.err().starts_with(&text), "{}", result.err());
        }
    }
    assert_eq!(folder.names(), ["a.b2frame", "a.b2nd", "d", "raw"]);
    folder.out("convert a.b2nd new.bcolz/");
    folder.out("convert a.b2nd sparse.b2nd/ --directory");
    assert!(folder.path("new.bcolz/meta").is_dir() && folder.path("sparse.b2nd").is_dir());
}

#[test]
fn info_skips_unknown_files_among_others() {
    let folder = TestDir::new();
    folder.write("a", b"content");
    folder.out("compress a z.b2frame");
    std::fs::create_dir(folder.path("d")).unwrap();
    let result = folder.line("info a d z.b2frame");
    assert_eq!(result.status, 0);
    assert!(result.out().starts_with("z.b2frame\n"));
    assert_eq!(
        result.err(),
        "b2: warning: a: the format is unknown, skipped\n\
         b2: warning: d: the format is unknown, skipped\n"
    );
    assert_eq!(folder.json("info --json a z.b2frame d").as_array().unwrap().len(), 1);
    // An error is not skipped, and neither are unknown files alone.
    let result = folder.line("info missing z.b2frame");
    assert_eq!(result.status, 1);
    assert!(result.out().starts_with("z.b2frame\n"));
    assert_eq!(folder.line("info a d").status, 1);
    assert_eq!(folder.line("info a").status, 1);
}

#[test]
fn names_of_the_maximum_length_are_written() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[10], 0);
    // A staging directory has the start of the name, whose 200th byte is within a character.
    let stem = "\u{e4}".repeat(124);
    for name in [format!("xx{stem}.b2nd"), format!("xxx{stem}.npy")] {
        assert_eq!(name.len(), 255);
        for arguments in [
            &["convert", "a.npy", &name][..],
            &["convert", "a.npy", &name, "--force"],
            &["info", &name],
            &["verify", &name],
            &["diff", "a.npy", &name],
        ] {
            let result = folder.run(arguments);
            assert_eq!((result.status, result.err()), (0, ""), "{arguments:?}");
        }
    }
    let name = format!("xx{stem}.b2nd");
    let result = folder.run(&["append", &name, "a.npy"]);
    assert_eq!((result.status, result.err()), (0, ""));
    let result = folder.run(&["recompress", &name, "--codec", "lz4", "--force", "-o", &name]);
    assert_eq!(result.status, 0, "{}", result.err());
    assert_eq!(folder.names().len(), 3, "{:?}", folder.names());
}

/// `verify` and `repair` have no keys of other containers than stores.
#[test]
fn hints_for_damaged_arrays_name_their_file() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[2, 3], 0);
    folder.succeed("convert a.npy z.npz");
    let mut bytes = folder.read("z.npz");
    let end = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    bytes[end - 1] ^= 1;
    folder.write("z.npz", &bytes);
    let result = folder.line("cat z.npz:/arr_0");
    assert_eq!(result.status, 3);
    assert!(result.err().contains("'b2 verify z.npz' lists"), "{}", result.err());
    assert!(result.err().contains("'b2 repair z.npz' shows"), "{}", result.err());
    assert_eq!(folder.line("verify z.npz").status, 3);
}

#[test]
fn paths_in_commands_are_written_for_a_shell() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[40, 5], 7);
    let succeed = |arguments: &[&str]| assert_eq!(folder.run(arguments).status, 0, "{arguments:?}");
    let name = |file: &str| format!("it's {file}; $HOME");
    let (damaged, plain, store, directory) =
        (name("bad"), name("plain"), name("store"), name("directory"));
    succeed(&["convert", "a.npy", &damaged, "--to", "b2nd"]);
    let mut bytes = folder.read(&damaged);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write(&damaged, &bytes);
    succeed(&["convert", "a.npy", &plain, "--to", "b2nd", "--no-checksums"]);
    folder.out("put s.b2z /a a.npy");
    std::fs::rename(folder.path("s.b2z"), folder.path(&store)).unwrap();
    std::fs::create_dir(folder.path(&directory)).unwrap();
    for (arguments, command) in [
        (&["repair", &damaged][..], "'b2 repair --write it\\'s\\ bad\\;\\ \\$HOME' repairs"),
        (&["cat", &damaged], "'b2 verify it\\'s\\ bad\\;\\ \\$HOME' lists"),
        (&["cat", &damaged], "'b2 repair it\\'s\\ bad\\;\\ \\$HOME' shows"),
        (&["verify", &plain], "'b2 convert it\\'s\\ plain\\;\\ \\$HOME NEW.b2frame' makes"),
        (&["decompress", &store, "out"], "'b2 ls -r it\\'s\\ store\\;\\ \\$HOME' lists"),
        (&["cat", &store], "'b2 ls -r it\\'s\\ store\\;\\ \\$HOME' lists"),
        (&["compress", &directory], "'tar c it\\'s\\ directory\\;\\ \\$HOME | b2 compress"),
    ] {
        let result = folder.run(arguments);
        let printed = [result.out(), result.err()].concat();
        assert!(printed.contains(command), "{arguments:?}: {printed}");
    }
    // Paths like options, and standard input.
    std::fs::rename(folder.path(&plain), folder.path("--plain")).unwrap();
    let shown = folder.run(&["verify", "--", "--plain"]);
    assert!(shown.out().contains("'b2 convert ./--plain NEW.b2frame'"), "{}", shown.out());
    let shown = folder.line_with("verify -", &folder.read("--plain"));
    assert!(shown.out().contains("'b2 convert - NEW.b2frame'"), "{}", shown.out());
}
