//! `cat` and `head`: slices with steps, CSV, JSON, and fields of records.

use crate::common::TestDir;
use ferroblosc_tools_testing::npy_header;
use serde_json::{Value, json};

/// Item (i, j, k) is 100 i + 10 j + k, of shape (4, 5, 6).
fn cube() -> TestDir {
    let folder = TestDir::new();
    let mut npy = npy_header("'<i2'", "(4, 5, 6)", false);
    for i in 0..4i16 {
        for j in 0..5i16 {
            npy.extend((0..6i16).flat_map(|k| (100 * i + 10 * j + k).to_le_bytes()));
        }
    }
    folder.write("a.npy", &npy);
    folder.out("convert a.npy a.b2nd --chunk-size 64");
    folder
}

/// Records with a text, a float, a subarray and a nested record.
fn records() -> TestDir {
    let folder = TestDir::new();
    let descr =
        "[('id', '<i4'), ('v', '<f8'), ('n', '|S8'), ('p', '<i2', (2,)), ('c', [('x', '|b1')])]";
    let mut npy = npy_header(descr, "(3,)", false);
    for (i, v, n) in [
        (1i32, 2.5f64, &b"a,\"b\"\0\0\0"[..]),
        (2, f64::NAN, b"two\nline"),
        (3, 1.0 / 3.0, b"\0\0\0\0\0\0\0\0"),
    ] {
        npy.extend(i.to_le_bytes());
        npy.extend(v.to_le_bytes());
        npy.extend(n);
        npy.extend([10 * i as i16, -1].iter().flat_map(|p| p.to_le_bytes()));
        npy.push((i == 2).into());
    }
    folder.write("r.npy", &npy);
    folder.out("convert r.npy r.b2nd");
    folder.out("convert r.npy r.blp");
    folder
}

#[test]
fn slices_have_steps_and_ellipses() {
    let folder = cube();
    for name in ["a.npy", "a.b2nd"] {
        for (slice, expected) in [
            ("...,0", "0  0:    0\n0  1:   10\n0  2:   20\n0  3:   30\n0  4:   40\n"),
            ("1,...,::2", "1  0:  100  102  104\n1  1:  110  112  114\n"),
            ("::-3,4,4::-2", "3  4:  344  342  340\n0  4:   44   42   40\n"),
            ("3,::3,5", "3  0:  305\n3  3:  335\n"),
            ("0,0,7::-1", "0  0:  5  4  3  2  1  0\n"),
        ] {
            let out = folder.out(&format!("cat {name} --slice={slice}"));
            assert!(out.starts_with(expected), "{name} {slice}: {out}");
        }
        assert_eq!(folder.out(&format!("cat {name} -s 3:1")), "");
        // Raw bytes have the selected order.
        let raw = folder.line(&format!("cat {name} --raw -s=::-2,1,::-5"));
        let items: Vec<u8> =
            [315i16, 310, 115, 110].iter().flat_map(|item| item.to_le_bytes()).collect();
        assert_eq!(raw.stdout, items);
    }
    for slice in ["::0", "...,...", "0,0,0,0,...", "1:2:3:4"] {
        assert_eq!(folder.line(&format!("cat a.npy -s {slice}")).status, 2, "{slice}");
    }
    // Bytes have no steps, unless they have a type.
    folder.write("b", b"abcdef");
    folder.out("compress b");
    assert_eq!(folder.line("cat b.b2frame -s ::2").status, 2);
    assert_eq!(folder.line("cat b.b2frame -d |S1 -s ::2 --raw").stdout, b"ace");
}

#[test]
fn steps_across_buffers_select_the_same_items() {
    let folder = TestDir::new();
    // 12 MB, which are read in several buffers.
    let mut npy = npy_header("'<i4'", "(3000000,)", false);
    npy.extend((0..3_000_000i32).flat_map(i32::to_le_bytes));
    folder.write("long.npy", &npy);
    folder.out("convert long.npy long.b2nd");
    for (slice, items) in [
        ("::1000000", (0..3_000_000).step_by(1_000_000).collect::<Vec<i32>>()),
        ("::-700001", (0..3_000_000).rev().step_by(700_001).collect()),
        ("5::999", (5..3_000_000).step_by(999).collect()),
    ] {
        for name in ["long.npy", "long.b2nd"] {
            let raw = folder.line(&format!("cat {name} --raw -s={slice}")).stdout;
            let expected: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
            assert!(raw == expected, "{name} {slice}");
            let lines = folder.out(&format!("cat {name} --no-index --csv -s={slice}"));
            let found: Vec<i32> = lines.lines().map(|line| line.parse().unwrap()).collect();
            assert!(found == items, "{name} {slice}");
        }
    }
}

#[test]
fn arrays_are_printed_as_csv_and_json() {
    let folder = cube();
    assert_eq!(
        folder.out("cat a.b2nd --csv -s 1:3,4,1:4"),
        "index0,index1,1,2,3\n1,4,141,142,143\n2,4,241,242,243\n"
    );
    assert_eq!(folder.out("cat a.b2nd --csv --no-index -s 1:3,4,::5"), "140,145\n240,245\n");
    assert_eq!(
        folder.out("cat a.b2nd --json -s 1:3,4,::5"),
        "{\"index\":[1,4],\"values\":[140,145]}\n{\"index\":[2,4],\"values\":[240,245]}\n"
    );
    assert_eq!(folder.out("cat a.b2nd --json --no-index -s 1,4,::5"), "[140,145]\n");
    assert_eq!(folder.out("cat a.b2nd --no-index -s 0,:2,:3"), " 0   1   2\n10  11  12\n");
    assert_eq!(folder.out("cat a.b2nd --csv -s 0:0"), "index0,index1,0,1,2,3,4,5\n");
    assert_eq!(folder.out("head -l 1 a.b2nd --csv --no-index"), "0,1,2,3,4,5\n");
    folder.write("b", &[7, 8]);
    folder.out("compress b");
    assert_eq!(folder.out("cat b.b2frame --csv"), "index,value\n0,7\n1,8\n");
    assert_eq!(folder.out("cat b.b2frame --json --no-index"), "7\n8\n");
    for options in ["--csv --json", "--csv --raw", "--raw --no-index", "--precision 0"] {
        assert_eq!(folder.line(&format!("cat a.npy {options}")).status, 2, "{options}");
    }
}

#[test]
fn records_are_printed_as_csv_and_json() {
    let folder = records();
    folder.fixture("bcolz/ct_mixed");
    assert_eq!(
        folder.out("cat ct_mixed --csv --no-index -s :2"),
        "id,val,tag,pair[0],pair[1],even\n0,0.0,n0,0,1,True\n1,0.25,n1,2,3,False\n"
    );
    for name in ["r.npy", "r.b2nd", "r.blp"] {
        assert_eq!(
            folder.out(&format!("cat {name} --csv --precision 3 -s ::2")),
            "index,id,v,n,p[0],p[1],c.x\n0,1,2.5,\"a,\"\"b\"\"\",10,-1,False\n2,3,0.333,,30,-1,False\n"
        );
        let lines = folder.out(&format!("cat {name} --json"));
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        let second = json!({"id": 2, "v": null, "n": "two\nline", "p": [20, -1], "c": {"x": true}});
        assert_eq!(lines[1], second, "{name}");
    }
    let csv = folder.out("cat r.npy --csv --no-index -s 1");
    assert_eq!(csv, "id,v,n,p[0],p[1],c.x\n2,nan,\"two\nline\",20,-1,True\n");
}

#[test]
fn columns_of_records_are_selected() {
    let folder = records();
    for name in ["r.npy", "r.b2nd", "r.blp"] {
        assert_eq!(folder.out(&format!("cat {name} --column id")), "0:  1\n1:  2\n2:  3\n");
        assert_eq!(folder.out(&format!("cat {name} --column c/x -s -2")), "1:  True\n");
        assert_eq!(
            folder.out(&format!("cat {name} --column p -s=::-1,1:")),
            "2:  -1\n1:  -1\n0:  -1\n"
        );
        assert_eq!(folder.out(&format!("head {name} -l 1 --column p")), "0:  10  -1\n");
        let result = folder.line(&format!("cat {name} --column x"));
        assert_eq!(
            (result.status, result.err()),
            (
                1,
                &*format!(
                    "b2: error: {name}: there is no column \"x\"\n\
                     b2: hint: the columns are: id, v, n, p, c\n"
                )
            )
        );
    }
    let folder = cube();
    let result = folder.line("cat a.npy --column x");
    assert_eq!((result.status, result.err()), (1, "b2: error: a.npy: only tables have columns\n"));
}

#[test]
fn types_with_huge_fields_need_little_memory() {
    let folder = TestDir::new();
    let long = "(1000000000,)";
    for (name, descr, shape, len) in [
        ("a", &*format!("[('a', '<i4'), ('c', [('d', '|S0')], {long})]"), "(2,)", 8),
        ("b", &format!("[('a', '<i4'), ('c', '|S0', {long})]"), "(2,)", 8),
        ("c", "'<f8'", "(0, 4611686018427387904)", 0),
        ("d", &format!("[('a', '<i4'), ('c', [('d', '|i1')], {long})]"), "(0,)", 0),
        ("e", &format!("[('a', '<i4'), ('c', '|i1', {long})]"), "(0,)", 0),
    ] {
        let mut npy = npy_header(descr, shape, false);
        npy.resize(npy.len() + len, 1);
        folder.write(name, &npy);
        for line in ["cat", "cat --csv", "cat --json", "cat --column c", "head", "stats"] {
            let mut arguments: Vec<&str> = line.split(' ').collect();
            arguments.push(name);
            // Kibibytes of address space.
            let result = folder.limited("-v 4000000", &arguments);
            assert!([0, 1].contains(&result.status), "{arguments:?}: {}", result.err());
        }
        let result = folder.limited("-v 4000000", &["diff", name, name]);
        assert!([0, 2].contains(&result.status), "{name}: {}", result.err());
    }
    assert_eq!(folder.out("cat a --csv --no-index"), "a\n16843009\n16843009\n");
    let result = folder.line("cat c --csv");
    assert_eq!(result.status, 1);
    assert!(result.err().starts_with("b2: error: c: a line has "), "{}", result.err());
}

#[test]
fn long_lines_are_printed_as_a_whole() {
    let folder = TestDir::new();
    // A line has more than 4 MiB.
    let columns = 600_000;
    let mut npy = npy_header("'<f8'", &format!("(2, {columns})"), false);
    npy.extend((0..2 * columns).flat_map(|number| f64::from(number).to_le_bytes()));
    folder.write("a.npy", &npy);
    for (slice, first, count) in [("", 0, columns), (",::-2", columns - 1, columns / 2)] {
        let slice = format!("--slice :{slice}");
        let out = folder.out(&format!("cat a.npy --csv {slice}"));
        let widths: Vec<usize> = out.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths, [1 + count as usize; 3]);
        let out = folder.out(&format!("cat a.npy --json {slice}"));
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2);
        for (number, line) in lines.iter().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["index"], serde_json::json!([number]));
            let values = line["values"].as_array().unwrap();
            assert_eq!(values.len(), count as usize);
            let expected = f64::from(first) + number as f64 * f64::from(columns);
            assert_eq!(values[0].as_f64(), Some(expected));
        }
    }
    // Longer lines are an error, and use little memory.
    npy = npy_header("'|u1'", "(2, 5000000)", false);
    npy.resize(npy.len() + 10_000_000, 0);
    folder.write("long.npy", &npy);
    for form in ["--csv", "--csv --no-index", "--json"] {
        let result = folder.line(&format!("cat long.npy {form}"));
        assert_eq!((result.status, result.out()), (1, ""));
        let start = "b2: error: long.npy: a line has 5000000 items of 1 bytes";
        assert!(result.err().starts_with(start), "{}", result.err());
    }
    assert_eq!(folder.line("cat long.npy --raw").stdout.len(), 10_000_000);
}

#[test]
fn large_items_are_read_one_by_one() {
    let folder = TestDir::new();
    let npy = npy_header("'|V8000000'", "(100,)", false);
    folder.write("large.npy", &npy);
    let file = std::fs::File::options().write(true).open(folder.path("large.npy")).unwrap();
    file.set_len(npy.len() as u64 + 800_000_000).unwrap();
    // The address space is smaller than the data.
    let script = "ulimit -v 500000; exec \"$0\" cat --raw large.npy >/dev/null";
    let status = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_b2")])
        .current_dir(folder.path(""))
        .status()
        .unwrap();
    assert!(status.success());
}
