//! Stores of python-blosc2.

use crate::common::{TestDir, ints};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::Storage;
use ferroblosc_tools_testing::npy_header;

/// Runs a command that fails with this exit status; returns its standard error.
fn error_of(folder: &TestDir, line: &str, status: i32) -> String {
    let failed = folder.line(line);
    assert_eq!((failed.status, failed.out()), (status, ""), "{}", failed.err());
    failed.err().to_owned()
}

/// Creates a directory with copies of the fixtures.
fn folder(names: &[&str]) -> TestDir {
    let folder = TestDir::new();
    for name in names {
        folder.fixture(&format!("stores/{name}"));
    }
    folder
}

#[test]
fn arrays_in_stores_are_printed_as_in_files() {
    let folder = folder(&["t_table.b2z"]);
    ints(&folder, "a.npy", &[3, 4], 0);
    let fields = npy_header("[('a', '<i2'), ('b', 'S2')]", "(2,)", false);
    folder.write("r.npy", &[&fields[..], &[1, 0, b'x', b'y', 2, 0, b'z', 0]].concat());
    folder.write("plain.bin", &[7; 20]);
    folder.out("put s.b2z /g/a a.npy");
    folder.out("put s.b2z /r r.npy");
    folder.out("compress plain.bin --typesize 1");
    folder.out("put s.b2z /t plain.bin.b2frame");
    let options = ["", " --csv", " --json", " --csv --no-index", " --precision 1", " --dtype |S2"];
    for command in ["cat", "head"] {
        for (object, file) in [("/g/a", "a.npy"), ("/r", "r.npy"), ("/t", "plain.bin.b2frame")] {
            for option in options {
                assert_eq!(
                    folder.out(&format!("{command} s.b2z:{object}{option}")),
                    folder.out(&format!("{command} {file}{option}")),
                    "{command} {object}{option}"
                );
            }
        }
    }
    for (object, file, rest) in [
        ("/g/a", "a.npy", "--slice ::-2,1"),
        ("/g/a", "a.npy", "--slice ...,3 --json"),
        ("/r", "r.npy", "--column a"),
        ("/r", "r.npy", "--raw"),
        ("/t", "plain.bin.b2frame", "--raw --slice 3:5"),
    ] {
        let of_file = folder.out(&format!("cat {file} {rest}"));
        assert_eq!(folder.out(&format!("cat s.b2z:{object} {rest}")), of_file, "{object} {rest}");
    }
    for rest in ["--slice 3", "--column x", "--dtype <i8 --slice 9", "--dtype S7"] {
        let of_file = folder.line(&format!("cat a.npy {rest}"));
        let of_object = folder.line(&format!("cat s.b2z:/g/a {rest}"));
        assert_eq!(of_object.status, of_file.status, "{rest}");
        assert_eq!(of_object.err(), of_file.err().replace("a.npy", "s.b2z:/g/a"), "{rest}");
    }
}

#[test]
fn texts_of_csv_files_are_texts_in_stores() {
    let folder = TestDir::new();
    folder.write("t.csv", "name,n\nAda,1\nBob,2\n".as_bytes());
    folder.out("convert t.csv t.b2z");
    let line = "{\"name\": \"Bob\", \"n\": 2}\n";
    assert_eq!(folder.out("cat t.b2z --where name=='Bob'"), line);
    folder.out("convert t.b2z back.csv");
    assert_eq!(folder.read("back.csv"), folder.read("t.csv"));
    // Latin-1 keeps its bytes.
    folder.write("l.csv", b"na.me,n\nJos\xe9,1\nBob,2\n");
    folder.out("convert l.csv l.b2z");
    folder.out("convert l.b2z l2.csv");
    assert_eq!(folder.read("l2.csv"), folder.read("l.csv"));
}

#[test]
fn leading_zeros_of_a_csv_file_are_not_lost_silently() {
    let folder = TestDir::new();
    folder.write("t.csv", b"zip,n\n10115,1\n01067,2\n");
    let warning = "not kept: the leading zeros of numbers in column 1 (line 3)";
    for output in ["t.b2z", "t.npy", "t.bcolz"] {
        let strict = folder.line(&format!("convert t.csv {output} --strict"));
        assert_eq!(strict.status, 1, "{output}");
        assert!(!folder.path(output).exists(), "{output}");
        let result = folder.line(&format!("convert t.csv {output}"));
        assert_eq!(result.status, 0, "{output}");
        assert!(result.err().contains(&format!("{output}: {warning}")), "{}", result.err());
    }
    let dtype = "--dtype [('zip','<U5'),('n','<i8')]";
    folder.out(&format!("convert t.csv texts.b2z {dtype} --strict"));
    folder.out("convert texts.b2z back.csv");
    assert_eq!(folder.read("back.csv"), folder.read("t.csv"));
}

#[test]
fn tables_in_stores_are_printed_as_csv() {
    let folder = folder(&["t_table.b2z", "c_nulls_mask.b2z", "a_object.b2f"]);
    let table = "t_table.b2z:/t2";
    assert_eq!(folder.out(&format!("cat {table} --csv")), "index,x,y\n0,1,1.5\n1,2,3.0\n");
    assert_eq!(folder.out(&format!("cat {table} --csv --no-index -c y")), "y\n1.5\n3.0\n");
    assert_eq!(folder.out(&format!("cat {table} --csv -c y,x --slice 1:")), "index,y,x\n1,3.0,2\n");
    // The numbers are those of the table.
    assert_eq!(folder.out(&format!("cat {table} --csv -w x>1")), "index,x,y\n1,2,3.0\n");
    assert_eq!(folder.out(&format!("cat {table} --csv -w x>1 -c x")), "index,x\n1,2\n");
    assert_eq!(folder.out(&format!("cat {table} --csv -w x>9")), "index,x,y\n");
    assert_eq!(
        folder.out("cat c_nulls_mask.b2z --csv"),
        "index,i,u,f,bo,s,by,ts,tx,nd\n0,1,2,0.5,true,a,x,10,t,\"[1.0, 2.0]\"\n\
         1,,,,,,,,,\n2,-5,254,-1.0,false,,,0,,\"[0.0, -1.0]\"\n"
    );
    folder.out("convert c_nulls_mask.b2z nulls.csv");
    assert_eq!(
        folder.out("cat c_nulls_mask.b2z --csv --no-index"),
        String::from_utf8_lossy(&folder.read("nulls.csv"))
    );
    assert_eq!(folder.out("head -l 2 a_object.b2f:/ --csv"), "index,value\n0,\n1,ins\n");
    assert_eq!(
        folder.out(&format!("cat {table} --precision 1")),
        "{\"x\": 1, \"y\": 2.0}\n{\"x\": 2, \"y\": 3.0}\n"
    );
    folder.write("t.csv", b"id,v\n1,1.5\n2,nan\n3,-inf\n");
    folder.out("convert t.csv t.b2z");
    assert_eq!(
        folder.out("cat t.b2z --json"),
        "{\"id\": 1, \"v\": 1.5}\n{\"id\": 2, \"v\": null}\n{\"id\": 3, \"v\": null}\n"
    );
    let error = error_of(&folder, &format!("cat {table} --dtype <f8"), 2);
    assert!(error.contains("--dtype is not supported for a CTable"), "{error}");
}

/// The temporary copy of standard input is not named in messages.
#[test]
fn stores_on_standard_input_have_its_name() {
    let folder = folder(&["t_table.b2z"]);
    ints(&folder, "a.npy", &[3, 4], 0);
    for store in ["s.b2z", "s.b2e"] {
        folder.out(&format!("put {store} /a a.npy"));
        folder.out(&format!("put {store} /b a.npy"));
    }
    let damaged = folder.read("s.b2z");
    folder.write("damaged.b2z", &damaged[..damaged.len() - 30]);
    for store in ["s.b2z", "s.b2e", "t_table.b2z", "damaged.b2z"] {
        for line in [
            "ls -",
            "ls - -r",
            "ls - --tree",
            "ls - --json",
            "ls - -r --json",
            "ls - --chunks",
            "info -",
            "info - --json",
            "info - --meta",
            "verify -",
            "verify - --json",
            "cat -",
            "cat - --json",
            "head -",
            "stats -",
            "meta list -",
            "meta get - x",
            "slice - 0 o.b2nd",
            "diff - a.npy",
            "diff a.npy -",
            "decompress - o",
            "convert - o.npy",
            "convert - o.b2d",
        ] {
            let result = folder.line_with(line, &folder.read(store));
            for text in [result.out(), result.err()] {
                assert!(!text.contains(".tmp"), "{line} < {store}: {text}");
            }
        }
    }
    let input = folder.read("s.b2z");
    let listed = folder.line_with("ls - -r --json", &input);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let paths: Vec<&str> =
        listed.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["standard input:/a", "standard input:/b"]);
    let described = folder.line_with("info - --json", &input);
    let described: serde_json::Value = serde_json::from_slice(&described.stdout).unwrap();
    assert_eq!(described[0]["path"], "standard input");
}

/// Returns the files of a directory that contain the records (1, 1.5) and (2, -2).
fn tables() -> (TestDir, Vec<&'static str>) {
    let folder = TestDir::new();
    folder.write("t.csv", b"n,x\n1,1.5\n2,-2\n");
    let files = vec![
        "t.csv", "t.npy", "t.b2nd", "d.b2nd", "t.b2z", "t.b2d", "t.bcolz", "t.npz", "t.zarr",
        "t.h5", "s.b2z:/r",
    ];
    folder.out("convert t.csv t.npy");
    for file in &files[2..10] {
        let options = if *file == "d.b2nd" { "--directory" } else { "" };
        folder.out(&format!("convert t.npy {file} {options}"));
    }
    folder.out("put s.b2z /r t.npy");
    (folder, files)
}

#[test]
fn columns_of_all_tables_are_converted() {
    let (folder, files) = tables();
    let mut expected = npy_header("'<f8'", "(2,)", false);
    expected.extend([1.5_f64, -2.0].into_iter().flat_map(f64::to_le_bytes));
    for file in &files {
        folder.out(&format!("convert {file} o.npy --column x --force"));
        assert!(folder.read("o.npy") == expected, "{file}");
        for output in ["o.b2nd", "o.blp", "o.bcolz", "o.npz", "o.zarr", "o.h5", "o.csv", "o.bin"] {
            let line = format!("convert {file} {output} --column x --force");
            let result = folder.line(&line);
            assert_eq!((result.status, result.err()), (0, ""), "{line}");
            if !matches!(output, "o.csv" | "o.bin") {
                assert_eq!(folder.line(&format!("diff {output} o.npy")).status, 0, "{line}");
            }
        }
        assert_eq!(folder.read("o.csv"), b"1.5\n-2.0\n", "{file}");
        let error = error_of(&folder, &format!("convert {file} none.npy --column y"), 1);
        assert!(error.contains('y') && error.contains(file), "{error}");
        assert!(!folder.exists("none.npy"));
    }
    for file in ["o.npy", "o.b2nd", "o.csv", "o.blp"] {
        let error = error_of(&folder, &format!("convert {file} none.npy --column x"), 1);
        assert!(error.contains("only tables have columns"), "{error}");
    }
    // The codec is that of the records; their metadata are not those of a column.
    folder.out("convert t.npy c.b2nd --codec zlib");
    folder.out("meta set c.b2nd note 5");
    let result = folder.line("convert c.b2nd k.b2nd --column x");
    assert_eq!(result.status, 0, "{}", result.err());
    assert!(
        result.err().contains("k.b2nd: not kept: the variable-length metalayer"),
        "{}",
        result.err()
    );
    assert_eq!(folder.json("info k.b2nd --json")[0]["codec"], "zlib");
    error_of(&folder, "convert c.b2nd strict.b2nd --column x --strict", 1);
    assert!(!folder.exists("strict.b2nd"));
}

#[test]
fn columns_of_all_tables_are_put_into_stores() {
    let (folder, _) = tables();
    folder.out("convert t.npy o.npy --column x");
    folder.out("put e.b2e /a o.npy");
    for file in ["t.npy", "t.b2nd", "d.b2nd", "t.bcolz", "t.npz", "t.zarr", "t.h5"] {
        folder.out(&format!("put new.b2z /x {file} --column x --force"));
        assert_eq!(folder.line("diff new.b2z:/x o.npy").status, 0, "{file}");
        let before = folder.read("new.b2z");
        let error = error_of(&folder, &format!("put new.b2z /y {file} --column none"), 1);
        assert!(error.contains("none"), "{error}");
        assert!(folder.read("new.b2z") == before, "{file}");
    }
    folder.out("convert o.npy f.b2frame");
    folder.out("convert o.npy o.b2nd");
    for file in ["o.npy", "o.b2nd", "f.b2frame", "e.b2e"] {
        let before = folder.read("new.b2z");
        let error = error_of(&folder, &format!("put new.b2z /y {file} --column x"), 1);
        assert!(error.contains("only tables have columns"), "{error}");
        assert!(folder.read("new.b2z") == before, "{file}");
    }
}

#[test]
fn rows_of_tables_are_selected_by_a_condition() {
    let folder = folder(&["t_table.b2z", "c_nulls_mask.b2z"]);
    folder.write("plain.bin", &[7; 100]);
    folder.out("compress plain.bin");
    let cat = |rest: &[&str]| {
        let result = folder.run(&[&["cat"], rest].concat());
        assert_eq!(result.status, 0, "{}", result.err());
        result.out().to_owned()
    };
    let table = "t_table.b2z:/t2";
    assert_eq!(cat(&[table, "--where", "x > 1 and y == 3"]), "{\"x\": 2, \"y\": 3.0}\n");
    assert_eq!(cat(&[table, "-w", "x > 1 or x < 0", "--column", "y"]), "3.0\n");
    assert_eq!(
        cat(&[table, "-w", "x > 0", "-c", "y,x", "--slice", "1:"]),
        "{\"y\": 3.0, \"x\": 2}\n"
    );
    assert_eq!(cat(&[table, "--column", "y, x", "--slice=0"]), "{\"y\": 1.5, \"x\": 1}\n");
    assert_eq!(cat(&[table, "--where", "x > 5"]), "");
    assert_eq!(cat(&["c_nulls_mask.b2z", "-w", "i is null", "-c", "i"]), "null\n");
    assert_eq!(folder.out(&format!("head -l 1 {table} --where x>0 --column x")), "1\n");
    for (line, status, text) in [
        (&[table, "-w", "x >"][..], 2, "--where: the condition is invalid at byte 3"),
        (&[table, "-w", "z > 1"], 1, "no column \"z\""),
        (&[table, "-w", "x == 'a'"], 1, "does not compare with a text"),
        (&[table, "-c", "x,z"], 1, "no column \"z\""),
        (&["t_table.b2z:/data/arr", "-w", "x > 1"], 1, "--where selects rows of tables"),
        (
            &["plain.bin.b2frame", "-w", "x > 1"],
            2,
            "--where is only supported for tables in stores",
        ),
    ] {
        let failed = folder.run(&[&["cat"], line].concat());
        assert_eq!((failed.status, failed.out()), (status, ""), "{line:?}: {}", failed.err());
        assert!(failed.err().contains(text), "{line:?}: {}", failed.err());
    }
}

#[test]
fn tables_are_converted_from_and_to_other_formats() {
    let folder = folder(&["c_nulls_mask.b2z", "c_list.b2z", "t_table.b2z"]);
    folder.write("in.csv", b"day,price,name\n1,2.5,x\n2,,\"y, z\"\n");
    for store in ["t.b2z", "t.b2d", "t.b2e"] {
        folder.succeed(&format!("convert in.csv {store}"));
        let rows = "{\"day\": 1, \"price\": 2.5, \"name\": b\"x\"}";
        let first = folder.out(&format!("head -l 1 {store} --column day,price"));
        assert_eq!(first, "{\"day\": 1, \"price\": 2.5}\n", "{rows}");
        folder.succeed(&format!("convert {store} out.csv --force"));
        let text = "day,price,name\n1,2.5,x\n2,NaN,\"y, z\"\n";
        assert_eq!(String::from_utf8(folder.read("out.csv")).unwrap(), text);
        folder.succeed(&format!("convert {store} out.npy --force"));
        folder.succeed("convert out.npy back.b2z --force");
        assert_eq!(folder.out("cat back.b2z"), folder.out(&format!("cat {store}")));
        assert!(folder.out(&format!("verify {store}")).contains(store));
    }
    // The table of a ctable of bcolz.
    let ctable = folder.fixture("bcolz/ct_append");
    folder.succeed(&format!("convert {ctable} ct.b2z"));
    folder.succeed(&format!("convert {ctable} ct.csv"));
    folder.succeed("convert ct.b2z ct2.csv");
    assert_eq!(folder.read("ct.csv"), folder.read("ct2.csv"));
    // Nulls and lists.
    folder.succeed("convert c_nulls_mask.b2z nulls.csv");
    assert!(folder.read("nulls.csv").starts_with(b"i,u,f,bo,s,by,ts,tx,nd\n"));
    assert!(error_of(&folder, "convert c_nulls_mask.b2z nulls.npy", 1).contains("has nulls"));
    assert!(!folder.exists("nulls.npy"));
    folder.succeed("convert t_table.b2z:/t2 t2.npy");
    assert_eq!(folder.out("cat t2.npy --csv --no-index"), "x,y\n1,1.5\n2,3.0\n");
    folder.succeed("convert c_list.b2z list.csv");
    assert!(folder.read("list.csv").starts_with(b"a,c\n\"[1"));
    // Options without a meaning, and inputs without columns.
    assert!(error_of(&folder, "convert in.csv x.b2z --codec lz4", 2).contains("--codec"));
    folder.write("plain.csv", b"1\n2\n");
    assert!(error_of(&folder, "convert plain.csv x.b2z", 1).contains("columns without names"));
    assert!(error_of(&folder, "convert in.csv t.b2z", 1).contains("exists"));
    assert!(!folder.exists("x.b2z"));
}

#[test]
fn stores_are_not_taken_apart_by_compress() {
    let folder = folder(&["c_crash.b2d", "t_table.b2z"]);
    std::fs::create_dir(folder.path("data")).unwrap();
    for name in ["c_crash.b2d", "t_table.b2z"] {
        std::fs::rename(folder.path(name), folder.path("data").join(name)).unwrap();
    }
    for line in ["compress -r --rm data", "compress -r --rm data/c_crash.b2d"] {
        let result = folder.line(line);
        assert_eq!((result.status, result.out()), (0, ""));
        assert!(result.err().contains("c_crash.b2d: is a store, skipped"), "{}", result.err());
    }
    assert!(folder.exists("data/t_table.b2z"));
    assert!(folder.exists("data/c_crash.b2d/embed.b2e"));
}

#[test]
fn the_objects_of_a_store_are_listed() {
    let folder = folder(&["t_table.b2z"]);
    let all = folder.out("ls -r t_table.b2z");
    let keys: Vec<&str> =
        all.lines().skip(1).map(|line| line.split_whitespace().last().unwrap()).collect();
    let expected = [
        "t_table.b2z:/data",
        "t_table.b2z:/data/arr",
        "t_table.b2z:/data/table",
        "t_table.b2z:/t2",
    ];
    assert_eq!(keys, expected, "{all}");
    assert!(all.contains("<i8 (5,)") && all.contains("2 rows, 2 columns"), "{all}");
    assert_eq!(folder.out("ls t_table.b2z").lines().count(), 3);
    assert_eq!(folder.out("ls t_table.b2z:/data").lines().count(), 3);
    // Stores are listed among other files.
    folder.write("n.bin", &[7; 100]);
    folder.out("compress n.bin");
    let both = folder.out("ls");
    assert!(both.contains("python-blosc2 tree store, zip") && both.contains("n.bin.b2frame"));
    assert_eq!(folder.out("verify t_table.b2z n.bin.b2frame").lines().count(), 2);
    assert_eq!(folder.json("info --json n.bin.b2frame t_table.b2z").as_array().unwrap().len(), 2);
    let listed = folder.json("ls -r --json t_table.b2z");
    assert_eq!(listed[1]["shape"], serde_json::json!([5]));
}

#[test]
fn stores_and_their_objects_are_described() {
    let folder = folder(&["t_table.b2z", "a_lazyexpr.b2nd"]);
    let text = folder.out("info t_table.b2z");
    assert!(text.contains("python-blosc2 tree store, zip"), "{text}");
    assert!(text.contains("2 CTable"), "{text}");
    let text = folder.out("info t_table.b2z:/t2");
    assert!(text.contains("rows         2 (2 stored)") && text.contains("float64"), "{text}");
    let text = folder.out("info a_lazyexpr.b2nd:/");
    assert!(text.contains("lazy expression") && text.contains("o0 + o1 * 2"), "{text}");
}

#[test]
fn values_are_printed_as_json() {
    let folder = folder(&[
        "t_table.b2z",
        "a_object.b2f",
        "a_lazyexpr.b2nd",
        "c_nulls_mask.b2z",
        "a_batch.b2b",
        "c_list_arrow.b2z",
        "e_nested.b2e",
    ]);
    assert_eq!(
        folder.out("cat t_table.b2z:/t2"),
        "{\"x\": 1, \"y\": 1.5}\n{\"x\": 2, \"y\": 3.0}\n"
    );
    assert_eq!(folder.out("cat t_table.b2z:/t2 --column y --slice=-1"), "3.0\n");
    assert_eq!(folder.out("head -l 2 t_table.b2z:/data/arr --no-index"), "0\n1\n");
    assert_eq!(folder.out("cat t_table.b2z:/data/arr --slice 3:"), "3:  3\n4:  4\n");
    assert_eq!(folder.out("cat a_object.b2f:/ --slice 1:3"), "\"ins\"\ntrue\n");
    assert_eq!(folder.out("cat c_nulls_mask.b2z --column i"), "1\nnull\n-5\n");
    let batches = folder.out("cat a_batch.b2b:/");
    let first: String = batches.split_inclusive('\n').take(2).collect();
    assert_eq!(folder.out("head -l 2 a_batch.b2b:/"), first);
    assert!(folder.out("ls a_batch.b2b:/").contains("batches, msgpack"));
    // One unreadable column does not prevent reading others.
    let error = error_of(&folder, "cat c_list_arrow.b2z", 1);
    assert!(error.contains("--column"), "{error}");
    let nested = folder.out("ls -r e_nested.b2e");
    let line = nested.lines().find(|line| line.contains("EmbedStore")).unwrap();
    let key = line.split_whitespace().last().unwrap();
    assert!(!error_of(&folder, &format!("cat {key}"), 1).contains("ls -r"));
    // A lazy expression has no values.
    assert!(error_of(&folder, "cat a_lazyexpr.b2nd:/", 1).contains("never evaluated"));
    assert!(error_of(&folder, "cat t_table.b2z:/none", 1).contains("no key"));
    assert!(error_of(&folder, "cat t_table.b2z:/data/arr --slice 9", 2).contains("out of range"));
    assert!(error_of(&folder, "cat t_table.b2z:/data/arr --slice=-9", 2).contains("out of range"));
    assert!(error_of(&folder, "cat t_table.b2z", 1).contains("ls -r"));
}

#[test]
fn damage_has_its_exit_status() {
    let folder = folder(&["t_table.b2z", "x_crc.b2z", "x_half.b2z", "a_batch_arrow.b2b"]);
    assert_eq!(folder.out("verify t_table.b2z"), "t_table.b2z: right\n");
    let damaged = folder.line("verify x_crc.b2z");
    assert_eq!(damaged.status, 3);
    assert!(String::from_utf8_lossy(&damaged.stdout).contains("CRC-32"));
    assert!(error_of(&folder, "verify x_half.b2z", 3).contains("truncated"));
    let partial = folder.line("verify a_batch_arrow.b2b:/");
    assert_eq!(partial.status, 1);
    let text = String::from_utf8_lossy(&partial.stdout);
    assert!(text.contains("not checked completely") && text.contains("not checked: "), "{text}");
}

/// The columns of a table have no checksums, apart from the CRC-32 of a zip file.
#[test]
fn damaged_tables_are_not_converted() {
    let folder = TestDir::new();
    let mut state = 1_u64;
    let numbers: Vec<u64> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state ^ (state >> 29)
    })
    .take(5000)
    .collect();
    let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    folder.write("t.csv", format!("n\n{lines}").as_bytes());
    folder.out("convert t.csv t.b2z");
    folder.out("convert t.b2z sound.npy");
    let sound = folder.out("cat t.b2z");
    let mut bytes = folder.read("t.b2z");
    let column = bytes.windows(12).position(|bytes| bytes == b"_cols/n.b2nd").unwrap();
    bytes[column + 20_000] ^= 1;
    folder.write("t.b2z", &bytes);
    // The values are readable, but one is wrong.
    let wrong = folder.out("cat t.b2z");
    let pairs = sound.lines().zip(wrong.lines());
    assert_eq!(pairs.filter(|(sound, wrong)| sound != wrong).count(), 1);
    for line in [
        "convert t.b2z o.csv",
        "convert t.b2z o.arrow",
        "convert t.b2z o.parquet",
        "convert t.b2z o.npy",
        "convert t.b2z o.bcolz",
        "convert t.b2z o.b2d",
        "stats t.b2z",
        "diff t.b2z t.b2z",
        "diff t.b2z sound.npy",
    ] {
        let failed = folder.line(line);
        assert_eq!(failed.status, 3, "{line}: {}", failed.err());
        assert!(failed.err().contains("its CRC-32 is"), "{line}: {}", failed.err());
    }
    assert!(!folder.path("o.csv").exists());
}

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

#[test]
fn damage_of_standard_input_has_a_hint_that_can_be_run() {
    let folder = made("s.b2z");
    folder.out("convert n.npy n.b2nd");
    let mut bytes = folder.read("n.b2nd");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    let failed = folder.line_with("cat -", &bytes);
    assert!(failed.err().contains("hint: 'b2 verify -' lists all faults"), "{}", failed.err());
    assert_eq!(folder.line_with("verify -", &bytes).status, 3);
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
fn a_part_of_a_row_of_gigabytes_is_read() {
    let folder = TestDir::new();
    let rows =
        Layout { shape: &[2, 1 << 31], chunkshape: &[1, 1 << 20], blockshape: &[1, 1 << 16] };
    let array = Array::zeros(Storage::frame(), CParams::default().typesize(1), &rows, "|u1");
    folder.write("a.b2nd", &array.unwrap().to_bytes().unwrap());
    assert_eq!(folder.out("cat --raw a.b2nd:/ --slice 1,-3:"), "\0\0\0");
    let error = error_of(&folder, "cat --json a.b2nd:/", 1);
    assert!(error.contains("--csv and --json print at most"), "{error}");
}

/// Creates a directory with an array `n.npy` of ten integers, and a store with it.
fn made(store: &str) -> TestDir {
    let folder = TestDir::new();
    let mut npy = npy_header("'<i4'", "(10,)", false);
    npy.extend((0..10i32).flat_map(i32::to_le_bytes));
    folder.write("n.npy", &npy);
    folder.succeed(&format!("put {store} /g/n n.npy"));
    folder
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
fn arrays_in_stores_are_inputs_of_all_commands_that_read_data() {
    for store in ["s.b2z", "s.b2d", "s.b2e"] {
        let folder = TestDir::new();
        ints(&folder, "a.npy", &[40, 50], 7);
        folder.succeed("convert a.npy a.b2nd");
        folder.succeed(&format!("put {store} /g/a a.b2nd"));
        let key = format!("{store}:/g/a");
        let stats = folder.out("stats a.b2nd --json").replace("a.b2nd", &key);
        let found = folder.out(&format!("stats {key} --json"));
        let without_format = |text: &str| {
            let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
            value[0].as_object_mut().unwrap().remove("format");
            value
        };
        assert_eq!(without_format(&found), without_format(&stats));
        for (command, output) in [
            ("slice IN 3:20:2,::-1 OUT", "slice.b2nd"),
            ("concat IN IN OUT --axis 1", "wide.b2nd"),
            ("decompress IN OUT", "raw"),
            ("plot IN :,3 --output OUT", "svg"),
            ("convert IN OUT", "csv"),
        ] {
            for (input, name) in [("a.b2nd", "expected"), (&*key, "found")] {
                let line = command.replace("IN", input);
                folder.succeed(&line.replace("OUT", &format!("{name}.{output}")));
            }
            let files = ["expected", "found"].map(|name| folder.read(&format!("{name}.{output}")));
            match output {
                // A plot has the name of the data as its title.
                "svg" => assert!(files[1].starts_with(b"<svg"), "{command}"),
                _ => assert!(files[0] == files[1], "{command}"),
            }
        }
        folder.succeed(&format!("append a.b2nd {key}"));
        folder.succeed("concat a.npy a.npy twice.b2nd");
        folder.out("diff a.b2nd twice.b2nd");
        folder.out(&format!("bench {key} --codecs lz4 --levels 1 --filters shuffle --json"));

        let before = folder.out(&format!("cat {key}"));
        for line in ["append IN a.npy", "resize IN 9,9", "compact IN", "recompress IN --in-place"] {
            let error = error_of(&folder, &line.replace("IN", &key), 1);
            assert!(error.contains("an object in a store is not changed in place"), "{error}");
            assert!(error.contains("'b2 get' copies it to a file"), "{error}");
        }
        assert_eq!(folder.out(&format!("cat {key}")), before);
        for command in ["stats IN", "decompress IN out.raw", "slice IN 1:2 out.b2nd"] {
            let line = command.replace("IN", &format!("{store}:/g"));
            let error = error_of(&folder, &line, 1);
            assert!(error.contains("a group has no items of one type"), "{error}");
        }
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

#[test]
fn tables_and_other_objects_of_stores_as_inputs() {
    let folder = folder(&["t_table.b2z", "t_lazy.b2z", "a_object.b2f"]);
    let json = folder.json("stats t_table.b2z:/t2 --column x --json");
    let column = &json[0]["columns"][0];
    assert_eq!((&column["min"], &column["max"]), (&1.into(), &2.into()));
    let error = error_of(&folder, "stats t_lazy.b2z:/lz", 1);
    assert!(error.contains("a lazy expression has no items of one type"), "{error}");
    let error = error_of(&folder, "slice t_lazy.b2z :3 out.b2nd", 1);
    assert!(error.contains("is a store, not an array"), "{error}");
    let error = error_of(&folder, "stats t_lazy.b2z:/none", 1);
    assert!(error.contains("t_lazy.b2z:/none: there is no key"), "{error}");
    // The bytes of a file are those of its frame, as before.
    folder.succeed("decompress a_object.b2f objects.raw");
    assert!(!folder.read("objects.raw").is_empty());
}
