//! Directories written alternately by us and by bcolz-zipline, with the interpreter in
//! `FERROBLOSC_BCOLZ_PYTHON`.

use crate::common::{Scratch, iota, json, reader, rows, spec, writer};
use ferroblosc_formats::bcolz::{Carray, CarraySpec, Ctable, Mode, Options};
use std::path::Path;
use std::process::Command;

/// Runs a script with NumPy, bcolz and the path of an object.
fn python(script: &str, root: &Path) {
    let interpreter = std::env::var_os("FERROBLOSC_BCOLZ_PYTHON").expect("an interpreter");
    let script = format!("import sys, bcolz, numpy as np\nroot = sys.argv[1]\n{script}");
    let output = Command::new(interpreter).arg("-c").arg(script).arg(root).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
#[ignore = "needs bcolz-zipline"]
fn zipline_reads_and_appends_to_our_arrays() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    let options = Options::default();
    let mut array = Carray::create(&root, &spec("int64", 1000), Mode::Append, &options).unwrap();
    for (start, end) in [(0, 1), (1, 998), (998, 3001), (3001, 3500)] {
        array.append(&iota(start..end)).unwrap();
        array.flush().unwrap();
    }
    array.set(995, &iota(-10..0)).unwrap();
    array.trim(400).unwrap();
    array.set_attr("näme", json("{\"a\": [1, null, 2.5]}")).unwrap();
    array.close().unwrap();
    python(
        "a = bcolz.open(root, mode='a')
e = np.arange(3100); e[995:1005] = np.arange(-10, 0)
assert np.array_equal(a[:], e) and a.dtype == e.dtype and a.chunklen == 1000
assert a.attrs['näme'] == {'a': [1, None, 2.5]}
a.append(np.arange(3100, 3950)); a.flush()",
        &root,
    );
    assert_eq!(reader(&root).len(), 3950);
    for turn in 0..4_i64 {
        let len = 3950 + turn * 777;
        let mut array = writer(&root);
        array.append(&iota(len..len + 333)).unwrap();
        array.close().unwrap();
        let script = format!(
            "a = bcolz.open(root, mode='a'); n = len(a)
assert n == {len} + 333 and np.array_equal(a[1005:], np.arange(1005, n))
a.append(np.arange(n, n + 444)); a.flush()"
        );
        python(&script, &root);
    }
    assert_eq!(rows(&root)[1005 * 8..], iota(1005..3950 + 4 * 777));
}

#[test]
#[ignore = "needs bcolz-zipline"]
fn attributes_with_unpaired_surrogates_are_exchanged() {
    let scratch = Scratch::new();
    let root = scratch.path("a");
    python(
        r"a = bcolz.carray(np.arange(3), rootdir=root, mode='w')
a.attrs['x'] = '\ud800'; a.attrs['\udc00k'] = ['\ude00\ud83d']; a.flush()",
        &root,
    );
    writer(&root).set_attr("ours", json("1")).unwrap();
    python(
        r"a = bcolz.open(root, mode='r')
assert list(a.attrs) == [('x', '\ud800'), ('\udc00k', ['\ude00\ud83d']), ('ours', 1)]",
        &root,
    );
}

#[test]
#[ignore = "needs bcolz-zipline"]
fn types_and_shapes_match() {
    let scratch = Scratch::new();
    for (dtype, made) in [
        ("bool", "np.arange(500) % 2 == 0"),
        ("uint8", "np.arange(500).astype('u1')"),
        ("float16", "np.arange(500).astype('f2')"),
        (">i4", "np.arange(500).astype('>i4')"),
        ("|S5", "np.array([b'k%d' % k for k in range(500)], 'S5')"),
        ("<U4", "np.array(['é%d' % k for k in range(500)], 'U4')"),
        ("datetime64[s]", "np.arange(500).astype('M8[s]')"),
        ("timedelta64[s]", "np.arange(500).astype('m8[s]')"),
        ("complex128", "np.arange(500).astype('c16')"),
    ] {
        let items = scratch.path("items");
        python(&format!("({made}).tofile(root)"), &items);
        let root = scratch.path(&dtype.replace(['|', '<', '>'], "_"));
        let options = Options::default();
        let mut array = Carray::create(&root, &spec(dtype, 128), Mode::Append, &options).unwrap();
        array.append(&std::fs::read(&items).unwrap()).unwrap();
        array.close().unwrap();
        let script = format!(
            "a = bcolz.open(root, mode='r')[:]; e = {made}; assert a.dtype == e.dtype and np.array_equal(a, e)"
        );
        python(&script, &root);
    }
    let root = scratch.path("nd");
    let spec = CarraySpec { row_shape: vec![4, 3], ..spec("int64", 16) };
    let mut array = Carray::create(&root, &spec, Mode::Append, &Options::default()).unwrap();
    array.append(&iota(0..50 * 12)).unwrap();
    array.close().unwrap();
    python(
        "a = bcolz.open(root, mode='a')
assert np.array_equal(a[:], np.arange(600).reshape(50, 4, 3))
a.append(np.arange(600, 636).reshape(3, 4, 3)); a.resize(60); a.flush()",
        &root,
    );
    assert_eq!(rows(&root)[..53 * 96], iota(0..53 * 12));
    assert_eq!(reader(&root).shape(), [60, 4, 3]);
}

#[test]
#[ignore = "needs bcolz-zipline"]
fn tables_are_written_alternately() {
    let scratch = Scratch::new();
    let root = scratch.path("t");
    let columns = [("id", spec("int64", 100)), ("x", spec("int64", 33))];
    let mut table = Ctable::create(&root, &columns, Mode::Append, &Options::default()).unwrap();
    table.append(&[&iota(0..250), &iota(1000..1250)]).unwrap();
    table.rename_column("x", "price").unwrap();
    table.set_attr("day", json("\"2016-01-04\"")).unwrap();
    table.close().unwrap();
    python(
        "t = bcolz.open(root, mode='a')
assert t.names == ['id', 'price'] and t.attrs['day'] == '2016-01-04'
assert np.array_equal(t['price'][:], np.arange(1000, 1250))
t.append((np.arange(250, 400), np.arange(1250, 1400))); t.trim(10)
t.addcol(np.arange(390), name='z'); t.flush()",
        &root,
    );
    let mut table = Ctable::open(&root, Mode::Append, &Options::default()).unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["id", "price", "z"]);
    assert_eq!(table.read("price", 0..390).unwrap(), iota(1000..1390));
    table.append(&[&iota(0..5), &iota(0..5), &iota(0..5)]).unwrap();
    table.close().unwrap();
    python("t = bcolz.open(root, mode='r'); assert len(t) == 395 and t['z'][394] == 4", &root);
}
