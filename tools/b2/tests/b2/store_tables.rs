//! Tables in stores and in files of other formats.

use crate::common::TestDir;
use crate::store::{error_of, folder};
use ferroblosc_tools_testing::npy_header;

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
