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

/// Returns the shared libraries that a program needs.
fn needed(program: &Path) -> String {
    let output = run(Command::new("readelf").arg("-d").arg(program));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    dynamic
        .lines()
        .filter(|line| line.contains("NEEDED"))
        .collect()
}

#[test]
fn row_d10_the_tree_has_the_names_and_links_of_the_reference() {
    let lib = installed("tree").join("lib");
    let link = |name: &str| fs::read_link(lib.join(name)).expect("a link");
    assert_eq!(link("libblosc2.so"), Path::new("libblosc2.so.9"));
    assert_eq!(link("libblosc2.so.9"), Path::new("libblosc2.so.3.3.5"));
    assert!(!lib.join("libblosc2.so.3.3.5").is_symlink());
    for file in [
        "libblosc2.a",
        "pkgconfig/blosc2.pc",
        "cmake/Blosc2/Blosc2Config.cmake",
        "cmake/Blosc2/Blosc2ConfigVersion.cmake",
        "cmake/Blosc2/Blosc2Targets.cmake",
        "cmake/Blosc2/Blosc2Targets-release.cmake",
        "../include/blosc2.h",
        "../include/b2nd.h",
        "../include/blosc2/blosc2-export.h",
        "../include/blosc2/blosc2-common.h",
        "../include/blosc2/blosc2-stdio.h",
        "../include/blosc2/filters-registry.h",
        "../include/blosc2/codecs-registry.h",
        "../include/blosc2/tuners-registry.h",
    ] {
        let text = fs::read(lib.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            !text.windows(9).any(|window| window == b"@VERSION@"),
            "{file}"
        );
    }
}

#[test]
fn the_version_lines_have_the_form_that_build_scripts_match() {
    let header = fs::read_to_string(project_root().join("include/blosc2.h")).expect("the header");
    for (name, word, number) in [
        ("BLOSC2_VERSION_MAJOR", "major", "3"),
        ("BLOSC2_VERSION_MINOR", "minor", "3"),
        ("BLOSC2_VERSION_RELEASE", "tweaks", "5"),
    ] {
        let line = header
            .lines()
            .find(|line| line.contains(name) && line.contains(word))
            .unwrap_or_else(|| panic!("no line with {name} and {word}"));
        assert_eq!(line.split_whitespace().nth(2), Some(number), "{line}");
    }
}

#[test]
fn pkg_config_finds_both_libraries() {
    let prefix = installed("pkg-config");
    let pkg_config = |arguments: &[&str]| -> Vec<String> {
        let output = run(Command::new("pkg-config")
            .args(arguments)
            .arg("blosc2")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
        let text = String::from_utf8(output.stdout).expect("text");
        text.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(pkg_config(&["--modversion"]), ["3.3.5"]);
    run(Command::new("pkg-config")
        .args(["--exists", "blosc2 >= 3.3.0"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
    let includedir = pkg_config(&["--variable=includedir"]);
    assert!(Path::new(&includedir[0]).join("blosc2.h").exists());

    let source = project_root().join("examples/simple.c");
    let program = prefix.join("client");
    run(Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .args(pkg_config(&["--cflags", "--libs"])));
    assert!(needed(&program).contains("libblosc2.so.9"));
    run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));

    fs::remove_file(prefix.join("lib/libblosc2.so")).expect("the link was there");
    run(Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .args(pkg_config(&["--static", "--cflags", "--libs"])));
    assert!(!needed(&program).contains("blosc2"));
    run(&mut Command::new(&program));
}

/// Builds the client of `c-tests/cmake` against a tree; returns the program.
fn cmake_client(prefix: &Path, library: &str) -> PathBuf {
    let build = prefix.join("build").join(library.replace("::", "-"));
    run(Command::new("cmake")
        .arg("-S")
        .arg(project_root().join("c-tests/cmake"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
        .arg(format!("-DLIBRARY={library}")));
    run(Command::new("cmake").arg("--build").arg(&build));
    build.join("client")
}

#[test]
fn row_h8_cmake_links_the_shared_library_unless_there_is_only_the_static_one() {
    let prefix = installed("cmake");
    for (library, is_shared) in [
        ("Blosc2::blosc2", true),
        ("Blosc2::blosc2_shared", true),
        ("Blosc2::blosc2_static", false),
    ] {
        let program = cmake_client(&prefix, library);
        assert_eq!(
            needed(&program).contains("libblosc2.so.9"),
            is_shared,
            "{library}"
        );
        run(&mut Command::new(program));
    }
    for name in ["libblosc2.so", "libblosc2.so.9", "libblosc2.so.3.3.5"] {
        fs::remove_file(prefix.join("lib").join(name)).expect("the library was there");
    }
    fs::remove_dir_all(prefix.join("build")).expect("the builds were there");
    let program = cmake_client(&prefix, "Blosc2::blosc2");
    assert!(!needed(&program).contains("blosc2"));
    run(&mut Command::new(program));
}
