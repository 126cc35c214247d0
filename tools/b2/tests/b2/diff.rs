//! `diff`: comparisons between formats and types, tolerances, and the exit status.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;
use serde_json::json;

/// Writes an array as a `.npy` file.
fn write(folder: &TestDir, name: &str, descr: &str, shape: &str, items: &[u8]) {
    let mut npy = npy_header(descr, shape, false);
    npy.extend(items);
    folder.write(name, &npy);
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn the_same_data_are_equal_in_every_format() {
    let folder = TestDir::new();
    let bytes: Vec<u8> = (0..300_000i32).flat_map(i32::to_le_bytes).collect();
    write(&folder, "a.npy", "'<i4'", "(300, 1000)", &bytes);
    let names = ["a.npy", "a.b2nd", "d.b2nd", "a.blp", "a.bcolz"];
    for name in &names[1..] {
        let directory = if name.starts_with('d') { "--directory" } else { "" };
        folder.out(&format!("convert a.npy {name} --chunk-size 100K {directory}"));
    }
    folder.out("convert a.npy a.b2frame --raw");
    folder.out("convert a.npy a.blosc1 --raw");
    for one in names.iter().chain(&["a.b2frame", "a.blosc1"]) {
        for other in &names {
            // Data without a type are compared byte by byte.
            assert_eq!(folder.out(&format!("diff {one} {other}")), "", "{one} {other}");
        }
    }
    let packed = folder.read("a.b2nd");
    assert_eq!(folder.line_with("diff - a.npy", &packed).status, 0);
    assert_eq!(folder.line("diff - -").status, 2);
}

#[test]
fn differences_are_counted_and_the_first_is_shown() {
    let folder = TestDir::new();
    let mut numbers: Vec<i32> = (0..1_000_000).collect();
    let bytes = |numbers: &[i32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    write(&folder, "a.npy", "'<i4'", "(1000, 1000)", &bytes(&numbers));
    numbers[700_004] += 5;
    numbers[999_999] -= 7;
    write(&folder, "b.npy", "'<i4'", "(1000, 1000)", &bytes(&numbers));
    folder.out("convert b.npy b.b2nd --chunk-size 64K");
    for threads in [1, 3] {
        let result = folder.line(&format!("diff a.npy b.b2nd -n {threads}"));
        assert_eq!((result.status, result.err()), (1, ""));
        assert_eq!(
            result.out(),
            "\
a.npy b.b2nd: 2 of 1000000 items differ (0.000 %)
  first at (700, 4): 700004 and 700009
  largest difference: 7.0
"
        );
    }
    assert_eq!(
        folder.json("diff --json a.npy b.b2nd"),
        json!({
            "paths": ["a.npy", "b.b2nd"], "types": ["<i4", "<i4"],
            "shapes": [[1000, 1000], [1000, 1000]], "equal": false, "reason": "values",
            "compared": 1_000_000, "different": 2, "max_difference": 7.0,
            "first": {"index": [700, 4], "column": null, "values": ["700004", "700009"]}
        })
    );
    let result = folder.line("diff -s a.npy b.npy");
    assert_eq!((result.status, result.out(), result.err()), (1, "", ""));
    assert_eq!(folder.line("diff a.npy b.npy --tolerance 5").status, 1);
    assert_eq!(folder.out("diff a.npy b.npy --tolerance 7"), "");
}

#[test]
fn values_are_compared_across_types() {
    let folder = TestDir::new();
    let values = [1.5f32, f32::NAN, -0.0, f32::INFINITY];
    write(&folder, "f4.npy", "'<f4'", "(4,)", &floats(&values));
    let doubles: Vec<u8> =
        [1.5f64, f64::NAN, 0.0, f64::INFINITY].iter().flat_map(|v| v.to_be_bytes()).collect();
    write(&folder, "f8.npy", "'>f8'", "(4,)", &doubles);
    assert_eq!(folder.out("diff f4.npy f8.npy"), "");
    write(&folder, "near.npy", "'<f4'", "(4,)", &floats(&[1.501, f32::NAN, 0.0, f32::INFINITY]));
    assert_eq!(folder.line("diff f4.npy near.npy").status, 1);
    assert_eq!(folder.out("diff f4.npy near.npy --relative 1e-3"), "");
    write(&folder, "S.npy", "'|S3'", "(2,)", b"ab\0c\0\0");
    write(&folder, "long.npy", "'|S4'", "(2,)", b"ab\0\0c\0\0\0");
    assert_eq!(folder.out("diff S.npy long.npy"), "");
    let result = folder.line("diff S.npy f4.npy");
    assert_eq!((result.status, result.out()), (1, "S.npy f4.npy: the types differ: |S3 and <f4\n"));
    write(&folder, "row.npy", "'<f4'", "(1, 4)", &floats(&values));
    let result = folder.line("diff row.npy f4.npy");
    assert_eq!(
        (result.status, result.out()),
        (1, "row.npy f4.npy: the shapes differ: (1, 4) and (4,)\n")
    );
    write(&folder, "c.npy", "'<c8'", "(2,)", &floats(&[1.0, 2.0, 3.0, 4.0]));
    write(&folder, "d.npy", "'<c8'", "(2,)", &floats(&[1.0, 2.0, 3.0, 4.5]));
    let result = folder.line("diff c.npy d.npy");
    assert!(result.out().contains("first at (1,): (3.0+4.0j) and (3.0+4.5j)"), "{}", result.out());
}

#[test]
fn records_are_compared_by_fields() {
    let folder = TestDir::new();
    folder.fixture("bcolz/ct_mixed");
    assert_eq!(folder.line("convert ct_mixed r.npy").status, 0);
    assert_eq!(folder.out("diff ct_mixed r.npy"), "");
    let mut bytes = folder.read("r.npy");
    // The last record: the second item of `pair`, and `even`.
    let len = bytes.len();
    bytes[len - 3] ^= 1;
    bytes[len - 1] ^= 1;
    folder.write("r.npy", &bytes);
    let result = folder.line("diff ct_mixed r.npy");
    assert_eq!(result.status, 1);
    assert!(result.out().contains("1 of 3000 items differ"), "{}", result.out());
    assert!(
        result.out().contains("first at (2999,), column pair[1]: 5999 and 5998"),
        "{}",
        result.out()
    );
    assert_eq!(folder.out("diff ct_mixed r.npy --column id"), "");
    assert_eq!(folder.line("diff ct_mixed r.npy --column even").status, 1);
}

#[test]
fn times_are_compared_with_their_unit() {
    let folder = TestDir::new();
    for (name, unit, time) in [("s", "s", 5), ("ms", "ms", 5), ("nat", "s", i64::MIN)] {
        let descr = format!("[('t', '<M8[{unit}]')]");
        write(&folder, &format!("{name}.npy"), &descr, "(1,)", &time.to_le_bytes());
        folder.succeed(&format!("convert {name}.npy {name}.b2z"));
    }
    for extension in ["npy", "b2z"] {
        let result = folder.line(&format!("diff s.{extension} ms.{extension} --tolerance 1"));
        assert_eq!(result.status, 1);
        assert!(result.out().contains("the types differ"), "{}", result.out());
        for files in [["s", "nat"], ["nat", "s"]] {
            let [one, other] = files.map(|name| format!("{name}.{extension}"));
            let result = folder.line(&format!("diff {one} {other} --tolerance 1e30"));
            assert_eq!(result.status, 1, "{one} {other}");
            assert!(!result.out().contains("largest difference"), "{}", result.out());
        }
        assert_eq!(folder.out(&format!("diff nat.{extension} nat.{extension}")), "");
    }
    let result = folder.line("diff s.b2z ms.b2z");
    let text = "s.b2z ms.b2z: the types differ: table of t [s] and table of t [ms]\n";
    assert_eq!(result.out(), text);
}

#[test]
fn bytes_are_compared_to_the_end_of_the_shorter_data() {
    let folder = TestDir::new();
    folder.write("a", b"some text");
    folder.write("b", b"some test and more");
    folder.write("c", b"");
    for name in ["a", "b", "c"] {
        folder.out(&format!("compress {name}"));
    }
    let result = folder.line("diff a.b2frame b.b2frame");
    assert_eq!(result.status, 1);
    assert!(result.out().contains("the shapes differ: (9,) and (18,)\n"), "{}", result.out());
    assert!(result.out().contains("first at (7,): 120 and 115\n"), "{}", result.out());
    assert_eq!(folder.line("diff a.b2frame c.b2frame").status, 1);
    assert_eq!(folder.out("diff c.b2frame c.b2frame"), "");
    assert_eq!(folder.line("diff -s a.b2frame b.b2frame").status, 1);
}

#[test]
fn errors_are_not_differences() {
    let folder = TestDir::new();
    folder.write("a", &[7; 100_000]);
    folder.write(
        "n",
        &(0..60_000u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect::<Vec<u8>>(),
    );
    folder.out("compress a");
    folder.out("compress n --chunk-size 16K");
    for line in
        ["diff a.b2frame missing", "diff a a.b2frame", "diff a.b2frame a.b2frame --column x"]
    {
        assert_eq!(folder.line(line).status, 2, "{line}");
    }
    assert_eq!(folder.line("diff a.b2frame a.b2frame --tolerance -1").status, 2);
    assert_eq!(folder.line("diff a.b2frame a.b2frame --relative nan").status, 2);
    let mut bytes = folder.read("n.b2frame");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("bad.b2frame", &bytes);
    let result = folder.line("diff n.b2frame bad.b2frame");
    assert_eq!(result.status, 3, "{}", result.err());
    assert!(result.err().starts_with("b2: error: bad.b2frame: chunk "), "{}", result.err());
}

#[test]
fn different_texts_that_look_the_same_are_different() {
    let folder = TestDir::new();
    let wide = |text: &str| -> Vec<u8> {
        text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect()
    };
    write(&folder, "control.npy", "'<U6'", "(1,)", &[wide("\u{1b}"), vec![0; 20]].concat());
    write(&folder, "escaped.npy", "'<U6'", "(1,)", &wide("\\u{1b}"));
    let result = folder.line("diff control.npy escaped.npy");
    assert_eq!(result.status, 1);
    assert!(result.out().contains("first at (0,): 1b000000"), "{}", result.out());
    write(&folder, "int.npy", "'<i8'", "(1,)", &((1i64 << 53) + 1).to_le_bytes());
    write(&folder, "float.npy", "'<f8'", "(1,)", &((1i64 << 53) as f64).to_le_bytes());
    let found = folder.line("diff int.npy float.npy --json");
    assert_eq!(found.status, 1);
    let found: serde_json::Value = serde_json::from_str(found.out()).unwrap();
    assert_eq!(found["max_difference"], json!(1.0));
}
