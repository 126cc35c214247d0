//! CSV files as inputs and outputs of `convert`.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;

/// Returns a `.npy` file of version 1.
fn npy(descr: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let mut bytes = npy_header(descr, shape, false);
    bytes.extend(items);
    bytes
}

fn refused(folder: &TestDir, line: &str, status: i32) -> String {
    let result = folder.line(line);
    assert_eq!((result.status, result.out()), (status, ""), "{line}: {}", result.err());
    result.err().to_owned()
}

#[test]
fn arrays_and_records_round_trip() {
    let floats: Vec<u8> = [0.1, 1e300, -0.0, 5e-324, 3.0, f64::NAN, f64::INFINITY, 1.0 / 3.0]
        .into_iter()
        .flat_map(f64::to_le_bytes)
        .collect();
    let ints: Vec<u8> = (-50_i64..50).flat_map(|n| (n * n * n).to_le_bytes()).collect();
    let mut records = Vec::new();
    for number in 0..300_i64 {
        records.extend(number.to_le_bytes());
        records.extend((number as f64 / 7.0).to_le_bytes());
        let name = [&b"a,b"[..], b"\"q\"", b"x y", b"two\nl", b" z"][number as usize % 5];
        records.extend(name);
        records.extend(vec![0; 5 - name.len()]);
    }
    for (name, original) in [
        ("floats", npy("'<f8'", "(8,)", &floats)),
        ("matrix", npy("'<f8'", "(2, 4)", &floats)),
        ("ints", npy("'<i8'", "(20, 5)", &ints)),
        ("bools", npy("'|b1'", "(2, 3)", &[1, 0, 1, 1, 0, 0])),
        ("records", npy("[('n', '<i8'), ('x', '<f8'), ('t', '|S5')]", "(300,)", &records)),
    ] {
        let folder = TestDir::new();
        folder.write("in.npy", &original);
        folder.out("convert in.npy in.b2nd");
        folder.out("convert in.b2nd out.csv");
        folder.out("convert out.csv back.npy");
        assert!(folder.read("back.npy") == original, "{name}: {:?}", folder.read("out.csv"));
        if name != "records" {
            assert_eq!(
                folder.out("cat --csv --no-index in.npy").into_bytes(),
                folder.read("out.csv")
            );
        }
        assert_eq!(folder.names(), ["back.npy", "in.b2nd", "in.npy", "out.csv"]);
    }
}

#[test]
fn types_delimiters_and_headers_are_chosen() {
    let folder = TestDir::new();
    folder.write("t.csv", b"\xef\xbb\xbfday;price\r\n1;2,5\r\n2;\"3;x\"\r\n");
    folder.out("convert t.csv t.npy --delimiter ;");
    assert_eq!(folder.out("cat --csv --no-index t.npy"), "day,price\n1,\"2,5\"\n2,3;x\n");
    folder.write("t.tsv", b"1\t2\n3\t4\n");
    folder.out("convert t.tsv tab.npy --dtype <f4");
    assert_eq!(folder.out("cat --csv --no-index tab.npy"), "1.0,2.0\n3.0,4.0\n");
    folder.write("names", b"a,b\nc,d\n");
    folder.out("convert names two.npy --from csv --header no");
    assert_eq!(folder.out("cat --csv --no-index two.npy"), "a,b\nc,d\n");
    folder.out("convert names one.npy --from csv");
    assert_eq!(folder.out("cat --csv --no-index one.npy"), "a,b\nc,d\n");
    let piped = folder.line_with("convert - - --from csv --to csv", b"x,y\n1,\n2,2.5\n");
    assert_eq!((piped.status, piped.out()), (0, "x,y\n1,nan\n2,2.5\n"), "{}", piped.err());
    // A table of bcolz and a dataset of HDF5.
    folder.write("table.csv", b"n,x,t\n1,0.5,a\n2,,bb\n");
    folder.out("convert table.csv table.bcolz");
    folder.out("convert table.bcolz back.csv");
    assert_eq!(folder.read("back.csv"), b"n,x,t\n1,0.5,a\n2,nan,bb\n");
    folder.out("convert table.csv table.h5:/t");
    assert_eq!(folder.out("cat --csv --no-index table.h5:/t"), "n,x,t\n1,0.5,a\n2,nan,bb\n");
}

#[test]
fn faults_name_the_file_and_the_line() {
    let folder = TestDir::new();
    folder.write("ragged.csv", b"1,2\n3,4,5\n");
    folder.write("hole.csv", b"n,x\n1,2\n,3\n");
    folder.write("word.csv", b"1\n2\nthree\n");
    folder.write("empty.csv", b"");
    folder.write("in.npy", &npy("'<i4'", "(1, 1, 2)", &[0; 8]));
    for (line, status, reason) in [
        ("ragged.csv a.npy", 1, "ragged.csv: line 2: it has 3 fields, and the first line 2"),
        (
            "hole.csv a.npy",
            1,
            "hole.csv: line 3: column 1 has no value, and its other values are integers",
        ),
        (
            "word.csv a.npy --dtype <i4",
            1,
            "word.csv: line 3: column 1: \"three\" is not a value of the type <i4",
        ),
        ("empty.csv a.npy", 1, "empty.csv: the file has no lines"),
        ("word.csv a.npy --dtype <f8 --shape 3", 2, "--shape: the lines"),
        ("in.npy a.csv", 1, "arrays of one or two dimensions"),
        ("in.npy a.b2nd --header yes", 2, "--header: in.npy is not a CSV file"),
        ("word.csv a.npy --delimiter ab", 2, "it must be one ASCII character"),
    ] {
        let error = refused(&folder, &format!("convert {line}"), status);
        assert!(error.contains(reason), "{line}: {error}");
    }
    assert_eq!(folder.names(), ["empty.csv", "hole.csv", "in.npy", "ragged.csv", "word.csv"]);
}

#[test]
fn metadata_that_csv_lacks_are_listed() {
    let folder = TestDir::new();
    folder.write("in.csv", b"1\n2\n");
    folder.out("convert in.csv a.b2nd");
    folder.out("meta set a.b2nd unit \"m\"");
    let converted = folder.line("convert a.b2nd a.csv");
    assert_eq!((converted.status, converted.out()), (0, ""));
    assert!(converted.err().contains("a.csv: not kept: the variable-length metalayer \"unit\""));
    assert!(refused(&folder, "convert a.b2nd b.csv --strict", 1).contains("does not support"));
    assert!(!folder.exists("b.csv"));
}

#[test]
fn a_missing_quote_does_not_read_the_rest_into_memory() {
    let folder = TestDir::new();
    let mut text = b"a\n\"b\n".to_vec();
    text.resize(80 << 20, b'x');
    folder.write("in.csv", &text);
    let error = refused(&folder, "convert in.csv a.npy", 1);
    assert!(error.contains("line 2: a line has more than") && error.contains("quote"), "{error}");
}

#[test]
fn byte_strings_round_trip_whatever_their_encoding() {
    let folder = TestDir::new();
    let words = b"Z\xfcrich\\xfc\xff,\xfe\0\0\0\0\0\0\0";
    folder.write("in.npy", &npy("'|S10'", "(2,)", words));
    folder.out("convert in.npy out.csv");
    assert_eq!(folder.read("out.csv"), b"Z\xfcrich\\xfc\n\"\xff,\xfe\"\n");
    folder.out("convert out.csv back.npy --header no");
    assert!(folder.read("back.npy") == folder.read("in.npy"));
    // Standard output is a text.
    assert_eq!(folder.out("head in.npy --csv --no-index -l 1"), "Z\\xfcrich\\\\xfc\n");
}
