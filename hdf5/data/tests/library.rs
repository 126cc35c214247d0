//! Tests of libraries that are not usable. A library is loaded once in a process, so each test runs
//! itself as a child for each of them.

use ferroblosc_capi_testing::{c_compiler, run, scratch};
use ferroblosc_hdf5_data::{Dataset, File, ItemType, NewDataset, Scalar, Spec, VARIABLE, version};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in children.
const CHILD: &str = "FERROBLOSC_TEST_CHILD";

/// Returns the names of the functions that `api.rs` loads.
fn functions() -> Vec<&'static str> {
    let lines = include_str!("../src/api.rs").lines();
    let names = lines.filter_map(|line| line.strip_prefix("    H5")?.split_once(": fn("));
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    assert!(names.len() > 80 && names.contains(&"open"), "{names:?}");
    names
}

/// Builds a library of this version in which all functions succeed, except those that are missing
/// or fail.
fn library(name: &str, version: [u32; 3], missing: &str, failing: &str) -> PathBuf {
    let [major, minor, release] = version;
    let mut source = format!(
        "int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release) {{\n\
         *major = {major}, *minor = {minor}, *release = {release};\nreturn 0;\n}}\n"
    );
    let names = functions().into_iter().chain(["Literate", "Oget_info"]);
    for name in names.filter(|&name| name != missing && name != "get_libversion") {
        let status = if name == failing { -1 } else { 0 };
        source += &format!("int H5{name}(void) {{ return {status}; }}\n");
    }
    let folder = scratch("hdf5-data");
    let (source_path, path) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source_path, source).unwrap();
    run(c_compiler().args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source_path));
    path
}

#[test]
fn libraries_that_cannot_be_used_are_refused_with_the_reason() {
    if std::env::var_os(CHILD).is_some() {
        println!("[{:?}]", version().map_err(|error| error.to_string()));
        return;
    }
    let unusable = |reason: &str| format!("Err(\"libhdf5 cannot be used: {reason}\")");
    let of_version =
        |version: &str| unusable(&format!("it is version {version}, and must be 1.10 to 2.x"));
    for (path, expected) in [
        (library("usable", [1, 10, 0], "", ""), "Ok((1, 10, 0))".to_owned()),
        (library("new", [2, 9, 1], "", ""), "Ok((2, 9, 1))".to_owned()),
        (library("old", [1, 8, 23], "", ""), of_version("1.8.23")),
        (library("newer", [3, 0, 0], "", ""), of_version("3.0.0")),
        (library("other", [0, 10, 0], "", ""), of_version("0.10.0")),
        (library("lacking", [1, 14, 0], "Dread", ""), unusable("it has no function H5Dread")),
        (
            library("refusing", [1, 14, 0], "", "Zregister"),
            unusable("it rejects the filters of Blosc"),
        ),
    ] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let test = "libraries_that_cannot_be_used_are_refused_with_the_reason";
        child.args([test, "--exact", "--nocapture"]).env(CHILD, "1").env(VARIABLE, &path);
        let output = String::from_utf8(run(&mut child).stdout).unwrap();
        assert!(output.contains(&format!("[{expected}]")), "{}: {output}", path.display());
    }
}

/// Set in children: the number of the call that fails, see [`FAILING`].
const FAILURE: &str = "FERROBLOSC_TEST_FAILURE";

/// Functions of a library that change a file. The call of one of them with the number in
/// `FERROBLOSC_TEST_FAILURE`, counted from 1, fails.
const FAILING: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
static int fails(void) {
  static int calls = 0;
  const char *number = getenv("FERROBLOSC_TEST_FAILURE");
  return number != NULL && ++calls == atoi(number);
}
typedef int64_t (*create)(int64_t, const char *, int64_t, int64_t, int64_t, int64_t);
typedef int (*write)(int64_t, int64_t, const void *);
typedef int (*delete)(int64_t, const char *);
typedef int (*unlink)(int64_t, const char *, int64_t);
int64_t H5Acreate2(int64_t a, const char *name, int64_t b, int64_t c, int64_t d, int64_t e) {
  return fails() ? -1 : ((create)dlsym(RTLD_NEXT, "H5Acreate2"))(a, name, b, c, d, e);
}
int H5Awrite(int64_t a, int64_t b, const void *items) {
  return fails() ? -1 : ((write)dlsym(RTLD_NEXT, "H5Awrite"))(a, b, items);
}
int H5Adelete(int64_t a, const char *name) {
  return fails() ? -1 : ((delete)dlsym(RTLD_NEXT, "H5Adelete"))(a, name);
}
int H5Ldelete(int64_t a, const char *name, int64_t b) {
  return fails() ? -1 : ((unlink)dlsym(RTLD_NEXT, "H5Ldelete"))(a, name, b);
}
"#;

/// Builds [`FAILING`] for the libhdf5 of this process.
fn failing_library() -> PathBuf {
    version().expect("libhdf5 is installed");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libhdf5 = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let mut libhdf5 = libhdf5.filter(|path| path.contains("/libhdf5"));
    let libhdf5 = libhdf5.next().expect("libhdf5 is loaded");
    let folder = scratch("hdf5-data");
    let (source, path) = (folder.join("failing.c"), folder.join("failing.so"));
    std::fs::write(&source, FAILING).unwrap();
    let mut compiler = c_compiler();
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source);
    run(compiler.args(["-Wl,--no-as-needed", libhdf5, "-ldl"]));
    path
}

/// A dataset `d` with the scales `s` and `t`, which is also the scale of `e` and `f`.
fn with_scales(path: &Path) {
    let _ = std::fs::remove_file(path);
    let file = File::create(path).unwrap();
    let item = ItemType::from(Scalar::Int { size: 4, is_signed: true, is_big: false });
    for (name, shape) in [("d", [2, 2]), ("s", [2, 1]), ("t", [2, 1]), ("e", [2, 2]), ("f", [2, 2])]
    {
        let shape = shape.to_vec();
        let spec = Spec { item: item.clone(), shape, chunks: None, filter: None, fill: None };
        drop(NewDataset::create(&file, name, spec).unwrap());
    }
    for scale in ["s", "t", "d"] {
        file.make_scale(scale).unwrap();
    }
    for (dataset, dimension, scale) in
        [("d", 0, "s"), ("d", 1, "t"), ("e", 0, "d"), ("e", 1, "d"), ("f", 1, "d"), ("f", 0, "s")]
    {
        file.attach_scale(dataset, dimension, scale).unwrap();
    }
    file.close().unwrap();
}

/// Returns the names of the scales of a dataset.
fn scales_of(file: &File, name: &str) -> Vec<Option<String>> {
    Dataset::open(file, name).unwrap().scales().unwrap()
}

#[test]
fn a_dataset_that_cannot_be_removed_stays_attached() {
    let path = scratch("hdf5-data").join("attached.h5");
    if std::env::var_os(CHILD).is_some() {
        let file = File::open_to_change(&path).unwrap();
        let removed = file.unlink_dataset("d");
        println!("[{:?}]", removed.map_err(|error| error.to_string()));
        file.close().unwrap();
        return;
    }
    let library = failing_library();
    let names = |names: [Option<&str>; 2]| names.map(|name| name.map(str::to_owned)).to_vec();
    let mut number = 0;
    loop {
        number += 1;
        with_scales(&path);
        let mut child = Command::new(std::env::current_exe().unwrap());
        let test = "a_dataset_that_cannot_be_removed_stays_attached";
        child.args([test, "--exact", "--nocapture"]).env(CHILD, "1").env(VARIABLE, &library);
        let output = String::from_utf8(run(child.env(FAILURE, number.to_string())).stdout).unwrap();
        let file = File::open_to_change(&path).unwrap();
        if output.contains("[Ok(") {
            let dimensions = r#"[("e", 0), ("e", 1), ("f", 1)]"#;
            assert!(output.contains(dimensions), "{output}");
            assert_eq!(scales_of(&file, "e"), [None, None]);
            assert_eq!(scales_of(&file, "f"), names([Some("s"), None]));
            break;
        }
        assert!(output.contains("[Err("), "{output}");
        assert_eq!(scales_of(&file, "d"), names([Some("s"), Some("t")]), "call {number}");
        assert_eq!(scales_of(&file, "e"), names([Some("d"), Some("d")]), "call {number}");
        assert_eq!(scales_of(&file, "f"), names([Some("s"), Some("d")]), "call {number}");
        // The other side of each link is complete, too.
        let detached = file.unlink_dataset("d").unwrap();
        assert_eq!(detached.len(), 3, "call {number}");
        assert_eq!(file.unlink_dataset("s").unwrap(), [("f".to_owned(), 0)], "call {number}");
        assert_eq!(file.unlink_dataset("t").unwrap(), [], "call {number}");
    }
    assert!(number > 8, "{number} calls");
}
