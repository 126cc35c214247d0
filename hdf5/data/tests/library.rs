//! Tests of libraries that are not usable. A library is loaded once in a process, so each test runs
//! itself as a child for each of them.

use ferroblosc_capi_testing::{c_compiler, run, scratch};
use ferroblosc_hdf5_data::{VARIABLE, version};
use std::path::PathBuf;
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
