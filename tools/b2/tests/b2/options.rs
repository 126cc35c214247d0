//! Each option of `convert` with each form of output has an effect, or is an error.

use crate::common::{TestDir, ints};
use ferroblosc_tools_testing::npy_header;
use std::path::Path;

/// The options, with values that differ from the defaults.
const OPTIONS: [&str; 22] = [
    "--column a",
    "--dtype <f4",
    "--raw",
    "--dtype <i4 --shape 25,4000",
    "--dtype <i4 --shape 25,4000 --order F",
    "--from bin",
    "--delimiter ;",
    "--header no",
    "--chunks 1000",
    "--blocks 100",
    "--codec zlib",
    "--level 9",
    "--filters bitshuffle",
    "--auto=size",
    "--block-size 4K",
    "--chunk-size 64K",
    "--checksums",
    "--no-checksums",
    "--durable",
    "--directory",
    "--hdf5-filter none",
    "--embed 1M",
];

/// Options that do not change the bytes of frames: the default, and the order of writing.
const WITHOUT_TRACE: [&str; 2] = ["--checksums", "--durable"];

/// Returns the files of an output, with their contents.
fn content(path: &Path) -> Vec<(String, Vec<u8>)> {
    if !path.is_dir() {
        return vec![(String::new(), std::fs::read(path).unwrap())];
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let inner = content(&entry.path()).into_iter();
        found.extend(inner.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
    }
    found.sort();
    found
}

/// Converts with each option. Returns the options that were ignored. Frames are a part of the
/// output if `is_frame`.
fn ignored(folder: &TestDir, (line, output): (&str, &str), is_frame: bool) -> Vec<String> {
    folder.succeed(&format!("-q convert {line}"));
    let expected = content(&folder.path(output));
    let remove = || {
        let path = folder.path(output);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.unwrap();
    };
    remove();
    let mut ignored = Vec::new();
    for option in OPTIONS {
        let result = folder.line(&format!("-q convert {line} {option}"));
        if result.status != 0 {
            assert!(matches!(result.status, 1 | 2), "{line} {option}: {}", result.err());
            assert!(result.err().contains("error: "), "{line} {option}: {}", result.err());
            assert!(!folder.exists(output), "{line} {option}");
            continue;
        }
        let found = content(&folder.path(output));
        remove();
        // The type of plain bytes does not matter.
        let is_type_of_bytes =
            output.ends_with(".bin") && (option.starts_with("--dtype") || option == "--raw");
        let has_no_trace = is_frame && WITHOUT_TRACE.contains(&option) || is_type_of_bytes;
        if found == expected && !has_no_trace {
            ignored.push(format!("{line} {option}"));
        }
    }
    ignored
}

fn array(folder: &TestDir, name: &str) {
    let mut npy = npy_header("'<i4'", "(100000,)", false);
    npy.extend((0..100_000i32).flat_map(|number| (number % 1009 * 77 % 509).to_le_bytes()));
    folder.write(name, &npy);
}

#[test]
fn options_for_an_array_have_an_effect_or_are_refused() {
    let folder = TestDir::new();
    array(&folder, "a.npy");
    let mut all = Vec::new();
    for (output, options) in [
        ("o.b2frame", ""),
        ("o.b2nd", ""),
        ("o.blp", ""),
        ("o.bcolz", ""),
        ("o.npy", ""),
        ("o.npz", ""),
        ("o.zarr", ""),
        ("o.zarr.zip", ""),
        ("o.h5", ""),
        ("o.csv", ""),
        ("o.blosc1", "--raw"),
        ("o.blosc2", "--raw"),
        ("o.bin", ""),
    ] {
        let is_frame = output.starts_with("o.b2");
        all.extend(ignored(&folder, (&format!("a.npy {output} {options}"), output), is_frame));
    }
    assert_eq!(all, [""; 0]);
}

#[test]
fn options_for_all_arrays_have_an_effect_or_are_refused() {
    let folder = TestDir::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    array(&folder, "in/a.npy");
    let mut all = Vec::new();
    for (output, options) in [
        ("o", ""),
        ("o", "--to npy"),
        ("o", "--to bcolz"),
        ("o", "--to csv"),
        ("o.npz", ""),
        ("o.zarr", ""),
        ("o.zarr.zip", ""),
        ("o.h5", ""),
        ("o.b2z", ""),
        ("o.b2d", ""),
        ("o.b2e", ""),
    ] {
        let is_frame = options.is_empty() && (output == "o" || output.starts_with("o.b2"));
        all.extend(ignored(&folder, (&format!("--all in {output} {options}"), output), is_frame));
    }
    assert_eq!(all, [""; 0]);
}

#[test]
fn options_for_stores_and_tables_have_an_effect_or_are_refused() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[1000], 0);
    folder.succeed("put s.b2z /a a.npy");
    let mut npy = npy_header("[('a', '<i4'), ('b', '<f8')]", "(2,)", false);
    npy.extend([0; 24]);
    folder.write("rec.npy", &npy);
    folder.succeed("convert rec.npy t.b2z");
    folder.write("t.csv", b"a;b\n1;2\n");
    for (line, output) in [
        ("s.b2z o.b2z", "o.b2z"),
        ("s.b2z o.b2d", "o.b2d"),
        ("s.b2z o.b2e", "o.b2e"),
        ("rec.npy o.b2z", "o.b2z"),
        ("t.csv o.b2z --delimiter ;", "o.b2z"),
        ("t.b2z o.csv", "o.csv"),
        ("t.b2z o.arrow", "o.arrow"),
        ("t.b2z o.parquet", "o.parquet"),
    ] {
        assert_eq!(ignored(&folder, (line, output), false), [""; 0]);
    }
    // The errors name the option.
    for (line, text) in [
        ("t.b2z o.csv --delimiter ;", "--delimiter: not supported for tables in stores"),
        ("s.b2z o.b2z --no-checksums", "--no-checksums: stores are copied unchanged"),
        ("rec.npy o.b2z --auto", "--auto: not supported for tables in stores"),
        ("a.npy o.npy --level 9", "--level: not supported for .npy files"),
        ("a.npy o.csv --chunks 10", "--chunks: not supported for CSV files"),
        ("a.npy o.npy --embed 1M", "--embed: only stores have embedded leaves"),
        ("--all . o.npz --from csv", "--from: not supported with --all"),
        ("--all . o.b2z --durable", "--durable: not supported for stores"),
    ] {
        let result = folder.line(&format!("convert {line}"));
        assert_eq!(result.status, 2, "{line}: {}", result.err());
        assert!(result.err().contains(text), "{line}: {}", result.err());
    }
}

#[test]
fn recompress_refuses_shapes_of_impossible_extents() {
    let folder = TestDir::new();
    ints(&folder, "a.npy", &[6, 5], 0);
    folder.out("convert a.npy a.b2nd");
    for (options, text) in [
        ("--chunks 99999999999,5", "--chunks: an extent must be at most 2147483647"),
        ("--blocks 2,99999999999", "--blocks: an extent must be at most 2147483647"),
        ("--chunks 2,5 --blocks 3,5", "--blocks: a block must not be longer than a chunk"),
    ] {
        let result = folder.line(&format!("recompress a.b2nd -o o.b2nd {options}"));
        assert_eq!(result.status, 2, "{options}: {}", result.err());
        assert!(result.err().contains(text), "{}", result.err());
    }
}
