//! The installed files, and their use by clients with pkg-config and CMake.

mod common;

use common::{build_folder, library_folder, project_root, run, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs into an empty directory and renames it: the installation must be relocatable.
fn installed(name: &str) -> PathBuf {
    library_folder();
    let first = scratch(name).join("first");
    let prefix = scratch(name).join("prefix");
    for folder in [&first, &prefix] {
        let _ = fs::remove_dir_all(folder);
    }
    run(Command::new(project_root().join("scripts/install.sh"))
        .arg(build_folder())
        .arg(&first));
    fs::rename(&first, &prefix).expect("the tree can be moved");
    prefix
}

/// Whether a program needs the shared library.
fn is_shared(program: &Path) -> bool {
    let output = run(Command::new("readelf").arg("-d").arg(program));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    dynamic.contains("Shared library: [libblosc.so.1]")
}

#[test]
fn row_d10_the_tree_has_the_names_and_links_of_c_blosc() {
    let lib = installed("tree").join("lib");
    let link = |name: &str| fs::read_link(lib.join(name)).expect("a link");
    assert_eq!(link("libblosc.so"), Path::new("libblosc.so.1"));
    assert_eq!(link("libblosc.so.1"), Path::new("libblosc.so.1.21.6"));
    assert!(!lib.join("libblosc.so.1.21.6").is_symlink());
    for file in [
        "libblosc.a",
        "../include/blosc.h",
        "../include/blosc-export.h",
    ] {
        assert!(lib.join(file).is_file(), "{file}");
    }
}

#[test]
fn pkg_config_finds_both_libraries() {
    let prefix = installed("pkg-config");
    let pkg_config = |arguments: &[&str]| -> Vec<String> {
        let output = run(Command::new("pkg-config")
            .args(arguments)
            .arg("blosc")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
        let text = String::from_utf8(output.stdout).expect("text");
        text.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(pkg_config(&["--modversion"]), ["1.21.6"]);
    for variable in [
        "prefix",
        "exec_prefix",
        "libdir",
        "sharedlibdir",
        "includedir",
    ] {
        let folder = pkg_config(&[&format!("--variable={variable}")]);
        assert!(Path::new(&folder[0]).is_dir(), "{variable}");
    }
    let program = prefix.join("client");
    let compile = |flags: Vec<String>| {
        run(Command::new("cc")
            .arg(project_root().join("c-tests/blosc1/calls.c"))
            .arg("-o")
            .arg(&program)
            .args(flags));
    };
    compile(pkg_config(&["--cflags", "--libs"]));
    assert!(is_shared(&program));
    run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));

    fs::remove_file(prefix.join("lib/libblosc.so")).expect("the link was there");
    compile(pkg_config(&["--static", "--cflags", "--libs"]));
    assert!(!is_shared(&program));
    run(&mut Command::new(&program));
}

/// Builds the client of `c-tests/blosc1/cmake` against a tree; returns the program.
fn cmake_client(prefix: &Path, library: &str) -> PathBuf {
    let build = prefix.join("build").join(library.replace("::", "-"));
    run(Command::new("cmake")
        .arg("-S")
        .arg(project_root().join("c-tests/blosc1/cmake"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .arg(format!("-DLIBRARY={library}")));
    run(Command::new("cmake").arg("--build").arg(&build));
    build.join("client")
}

#[test]
fn cmake_links_the_shared_library_unless_there_is_only_the_static_one() {
    let prefix = installed("cmake");
    for (library, shared) in [
        ("Blosc::blosc", true),
        ("blosc_shared", true),
        ("blosc_static", false),
    ] {
        let program = cmake_client(&prefix, library);
        assert_eq!(is_shared(&program), shared, "{library}");
        run(&mut Command::new(program));
    }
    for name in ["libblosc.so", "libblosc.so.1", "libblosc.so.1.21.6"] {
        fs::remove_file(prefix.join("lib").join(name)).expect("the library was there");
    }
    fs::remove_dir_all(prefix.join("build")).expect("the builds were there");
    let program = cmake_client(&prefix, "Blosc::blosc");
    assert!(!is_shared(&program));
    run(&mut Command::new(program));
}
