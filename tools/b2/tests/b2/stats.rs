//! `stats`: minimum, maximum, mean, standard deviation and histogram.

use crate::common::TestDir;
use ferroblosc_capi_testing::abi::compile;
use ferroblosc_tools_testing::npy_header;
use serde_json::{Value, json};

/// Writes an array as a `.npy` file.
fn write(folder: &TestDir, name: &str, descr: &str, shape: &str, items: &[u8]) {
    let mut npy = npy_header(descr, shape, false);
    npy.extend(items);
    folder.write(name, &npy);
}

fn column(folder: &TestDir, line: &str) -> Value {
    folder.json(&format!("stats --json {line}"))[0]["columns"][0].clone()
}

#[test]
fn floats_are_summarised() {
    let folder = TestDir::new();
    let values = [f64::NAN, f64::INFINITY, -1.0, 0.0, 4.0, -0.0];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    write(&folder, "a.npy", "'<f8'", "(2, 3)", &bytes);
    assert_eq!(
        folder.out("stats a.npy --bins 5"),
        "\
a.npy
  type         <f8
  shape        (2, 3)
  items        6
  NaN          1
  infinite     1
  zeros        2
  min          -1.0
  max          inf
  mean         0.75
  std          1.920286436967152
  -1.0 1 ####################
   0.0 2 ########################################
   1.0 0
   2.0 0
   3.0 1 ####################
"
    );
    let found = column(&folder, "a.npy --bins 2");
    assert_eq!(
        found,
        json!({
            "name": "", "dtype": "<f8", "items": 6, "nan": 1, "infinite": 1, "zeros": 2,
            "min": -1.0, "max": null, "mean": 0.75, "std": 1.920286436967152,
            "histogram": {"low": -1.0, "high": 4.0, "counts": [3, 1]}
        })
    );
    assert!(column(&folder, "a.npy --bins 0")["histogram"].is_null());
}

#[test]
fn unusual_data_are_summarised() {
    let folder = TestDir::new();
    write(&folder, "empty.npy", "'<f4'", "(0, 3)", &[]);
    let found = column(&folder, "empty.npy");
    assert_eq!(
        (&found["items"], &found["min"], &found["mean"]),
        (&json!(0), &json!(null), &json!(null))
    );
    assert!(folder.out("stats empty.npy").ends_with("zeros        0\n"));
    write(&folder, "nan.npy", "'<f4'", "()", &f32::NAN.to_le_bytes());
    assert_eq!(column(&folder, "nan.npy")["nan"], 1);
    let extremes = [f64::MIN, f64::MAX, 1.0];
    let bytes: Vec<u8> = extremes.iter().flat_map(|value| value.to_be_bytes()).collect();
    write(&folder, "wide.npy", "'>f8'", "(3,)", &bytes);
    assert_eq!(column(&folder, "wide.npy --bins 4")["histogram"]["counts"], json!([1, 0, 1, 1]));
    assert_eq!(folder.line("stats wide.npy").status, 0);
    let ints: Vec<u8> = [i64::MIN, i64::MAX, 0].iter().flat_map(|int| int.to_le_bytes()).collect();
    write(&folder, "ints.npy", "'<i8'", "(3,)", &ints);
    let found = column(&folder, "ints.npy --bins 2");
    assert_eq!((&found["min"], &found["max"]), (&json!(i64::MIN), &json!(i64::MAX)));
    assert_eq!(found["histogram"]["counts"], json!([1, 2]));
    let most: Vec<u8> = [u64::MAX; 3].iter().flat_map(|int| int.to_le_bytes()).collect();
    write(&folder, "most.npy", "'<u8'", "(3,)", &most);
    let found = column(&folder, "most.npy");
    assert_eq!((&found["min"], &found["std"]), (&json!(u64::MAX), &json!(0.0)));
    assert_eq!(found["histogram"]["counts"], json!([3]));
    write(&folder, "bool.npy", "'|b1'", "(3,)", &[1, 0, 1]);
    assert_eq!(column(&folder, "bool.npy")["histogram"]["counts"], json!([1, 2]));
    let days: Vec<u8> = [0i64, 2, i64::MIN].iter().flat_map(|day| day.to_le_bytes()).collect();
    write(&folder, "days.npy", "'<M8[D]'", "(3,)", &days);
    let shown = folder.out("stats days.npy");
    for line in [
        "NaT          1",
        "min          1970-01-01",
        "max          1970-01-03",
        "mean         1970-01-02",
    ] {
        assert!(shown.contains(&format!("\n  {line}\n")), "{shown}");
    }
    write(&folder, "text.npy", "'|S2'", "(2,)", b"abcd");
    assert_eq!(
        folder.out("stats text.npy"),
        "text.npy\n  type         |S2\n  shape        (2,)\n  items        2\n"
    );
}

#[test]
fn fields_and_columns_are_summarised() {
    let folder = TestDir::new();
    folder.fixture("bcolz/ct_mixed");
    let found = folder.json("stats --json ct_mixed");
    let columns = found[0]["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["id", "val", "tag", "pair", "even"]);
    assert_eq!((&columns[0]["min"], &columns[0]["max"]), (&json!(0), &json!(2999)));
    assert_eq!(columns[0]["mean"], json!(1499.5));
    assert_eq!((&columns[3]["items"], &columns[3]["max"]), (&json!(6000), &json!(5999)));
    assert_eq!(columns[4]["mean"], json!(0.5));
    assert!(columns[2]["min"].is_null());
    assert_eq!(column(&folder, "ct_mixed --column pair")["mean"], json!(2999.5));
    assert_eq!(folder.line("convert ct_mixed r.npy").status, 0);
    assert_eq!(column(&folder, "r.npy --column val")["mean"], columns[1]["mean"]);
    assert_eq!(folder.line("stats ct_mixed --column none").status, 1);
}

#[test]
fn the_result_does_not_depend_on_format_and_threads() {
    let folder = TestDir::new();
    let mut state = 1u64;
    let values = (0..1_500_000).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 * 1e-3
    });
    let values: Vec<f32> = values.collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    write(&folder, "a.npy", "'<f4'", "(1500, 1000)", &bytes);
    folder.out("convert a.npy a.b2nd");
    folder.out("convert a.npy a.blp --chunk-size 300K");
    folder.out("convert a.npy a.b2frame --raw");
    let expected = column(&folder, "a.npy -n 1");
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 1.5e6;
    assert!((expected["mean"].as_f64().unwrap() / mean - 1.0).abs() < 1e-12);
    let counts = expected["histogram"]["counts"].as_array().unwrap();
    assert_eq!(counts.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 1_500_000);
    for line in ["a.npy -n 3", "a.b2nd -n 1", "a.b2nd -n 4", "a.blp -n 2", "a.b2frame --dtype <f4"]
    {
        let mut found = column(&folder, line);
        for name in ["mean", "std"] {
            let (one, other) = (found[name].as_f64().unwrap(), expected[name].as_f64().unwrap());
            // Segments, which depend on the format, are rounded separately.
            assert!((one / other - 1.0).abs() < 1e-13, "{line} {name}");
            found[name] = expected[name].clone();
        }
        assert_eq!(found, expected, "{line}");
    }
    assert_eq!(column(&folder, "a.b2nd -n 1"), column(&folder, "a.b2nd -n 4"));
    let untyped = folder.out("stats a.b2frame");
    assert!(untyped.contains("type         |u1 (bytes; set their type with --dtype)"), "{untyped}");
}

#[test]
fn damage_is_an_error_and_does_not_stop_the_others() {
    let folder = TestDir::new();
    folder.write(
        "in",
        &(0..60_000u32)
            .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect::<Vec<u8>>(),
    );
    folder.out("compress in bad.b2frame --chunk-size 16K -t 4");
    folder.out("compress in good.b2frame");
    let chunks = folder.json("ls --json --chunks bad.b2frame");
    let mut bytes = folder.read("bad.b2frame");
    bytes[chunks[0]["chunks"][3]["position"].as_u64().unwrap() as usize + 100] ^= 1;
    folder.write("bad.b2frame", &bytes);
    let result = folder.line("stats bad.b2frame missing good.b2frame");
    assert_eq!(result.status, 3);
    assert!(
        result.err().starts_with("b2: error: bad.b2frame: chunk 3 at byte"),
        "{}",
        result.err()
    );
    assert!(result.err().contains("cannot open missing"), "{}", result.err());
    assert!(result.out().starts_with("good.b2frame\n"), "{}", result.out());
}

#[test]
fn the_mean_of_large_floats_is_finite() {
    let folder = TestDir::new();
    let bytes: Vec<u8> = [1.5e308f64; 8].iter().flat_map(|value| value.to_le_bytes()).collect();
    write(&folder, "a.npy", "'<f8'", "(8,)", &bytes);
    let found = column(&folder, "a.npy");
    assert_eq!((&found["mean"], &found["std"]), (&json!(1.5e308), &json!(0.0)));
}

/// The source of a library with which programs can start one thread only.
const ONE_THREAD: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*f)(void *), void *arg)
{
    static int started;
    return started++ ? EAGAIN : ((create *)dlsym(RTLD_NEXT, "pthread_create"))(thread, attr, f, arg);
}
"#;

#[test]
fn the_data_are_scanned_with_fewer_threads_than_wanted() {
    let folder = TestDir::new();
    let bytes: Vec<u8> = (0..1_000_000i32).flat_map(i32::to_le_bytes).collect();
    write(&folder, "a.npy", "'<i4'", "(1000000,)", &bytes);
    let expected = folder.out("stats a.npy -n 1");
    let library = compile(&folder.path(""), ONE_THREAD, &["-shared", "-fPIC"]);
    // The only thread waits for signals.
    let mut command = folder.command(&["stats", "a.npy", "-n", "4"]);
    let output = command.env("LD_PRELOAD", library).output().unwrap();
    assert_eq!(str::from_utf8(&output.stderr), Ok(""));
    assert_eq!(str::from_utf8(&output.stdout), Ok(expected.as_str()));
    assert!(output.status.success());
}

#[test]
fn fields_must_not_overlap() {
    let folder = TestDir::new();
    folder.write("r.bin", b"0123456789abcdef");
    folder.out("compress r.bin");
    let overlapping = "{'names':['a','b'],'formats':['<i4','<i2'],'offsets':[0,0],'itemsize':4}";
    for command in [
        &["stats", "r.bin.b2frame"][..],
        &["cat", "r.bin.b2frame"],
        &["convert", "r.bin.b2frame", "o.npy"],
        &["convert", "r.bin", "o.b2nd"],
    ] {
        let result = folder.run(&[command, &["--dtype", overlapping]].concat());
        let text = format!("fields of the dtype {overlapping} overlap");
        assert_eq!(result.status, 1, "{command:?}");
        assert!(result.err().contains(&text), "{command:?} {}", result.err());
        assert!(!folder.exists("o.npy") && !folder.exists("o.b2nd"));
    }
    // In any order.
    let sorted = "{'names':['b','a'],'formats':['<i2','<i4'],'offsets':[4,0],'itemsize':8}";
    let result = folder.run(&["stats", "r.bin.b2frame", "--json", "--dtype", sorted]);
    let value: serde_json::Value = serde_json::from_slice(&result.stdout).unwrap();
    assert_eq!(value[0]["shape"], json!([2]), "{value}");
    // Two fields of one name would be one member of a JSON object.
    let equal = "[('a','<i4'),('a','<i4')]";
    assert_eq!(folder.run(&["cat", "r.bin.b2frame", "--json", "--dtype", equal]).status, 2);
}

#[test]
fn the_mean_of_times_is_exact() {
    let folder = TestDir::new();
    let mut npy = npy_header("'<M8[ns]'", "(3,)", false);
    npy.extend([1_700_000_000_123_456_789_i64; 3].iter().flat_map(|time| time.to_le_bytes()));
    folder.write("times.npy", &npy);
    let printed = folder.out("stats times.npy --bins 0");
    for label in ["min", "max", "mean"] {
        let line = format!("  {label:<12} 2023-11-14T22:13:20.123456789\n");
        assert!(printed.contains(&line), "{printed}");
    }
}

#[test]
fn the_figures_of_the_largest_floats_are_finite() {
    let folder = TestDir::new();
    let items: Vec<u8> = [f64::MIN, f64::MAX].iter().flat_map(|item| item.to_le_bytes()).collect();
    write(&folder, "a.npy", "'<f8'", "(2,)", &items);
    let printed = folder.out("stats a.npy --bins 2");
    let bins: Vec<&str> = printed.lines().rev().take(2).collect();
    assert!(bins[1].starts_with("  -1.7976931348623157e308 1 #"), "{printed}");
    assert!(printed.contains("  std          1.7976931348623157e308\n"), "{printed}");
    // Several blocks of items: the first one has large items, the others have none.
    let mut items = vec![1e300_f64; 1 << 16];
    items.resize(1 << 17, -1.0);
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    write(&folder, "b.npy", "'<f8'", "(131072,)", &bytes);
    let std = column(&folder, "b.npy")["std"].as_f64().unwrap();
    assert!((std / 5e299 - 1.0).abs() < 1e-12, "{std}");
}
