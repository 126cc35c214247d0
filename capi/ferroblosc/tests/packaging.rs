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

/// Whether a program is linked with the shared library.
fn is_shared(program: &Path) -> bool {
    let output = run(Command::new("readelf").arg("-d").arg(program));
    let dynamic = String::from_utf8(output.stdout).expect("text");
    dynamic.contains("Shared library: [libferroblosc.so.0]")
}

#[test]
fn row_d12_the_tree_has_the_names_and_links() {
    let lib = installed("tree").join("lib");
    let link = |name: &str| fs::read_link(lib.join(name)).expect("a link");
    assert_eq!(link("libferroblosc.so"), Path::new("libferroblosc.so.0"));
    assert_eq!(
        link("libferroblosc.so.0"),
        Path::new("libferroblosc.so.0.1.0")
    );
    assert!(!lib.join("libferroblosc.so.0.1.0").is_symlink());
    for file in [
        "libferroblosc.a",
        "../include/ferroblosc.h",
        "../include/bcolz.h",
        "../include/bloscpack.h",
        "../include/ferroblosc-export.h",
    ] {
        assert!(lib.join(file).is_file(), "{file}");
    }
}

#[test]
fn the_programs_are_installed_with_what_helps_to_use_them() {
    let prefix = installed("programs");
    let output = run(Command::new(prefix.join("bin/blpk")).arg("--version"));
    assert!(
        output
            .stdout
            .starts_with(b"bloscpack: '0.16.0' ferroblosc: '0.1.0'")
    );
    for file in [
        "man/man1/blpk.1",
        "bash-completion/completions/blpk",
        "zsh/site-functions/_blpk",
        "fish/vendor_completions.d/blpk.fish",
    ] {
        let size = fs::metadata(prefix.join("share").join(file))
            .expect(file)
            .len();
        assert!(size > 1000, "{file}");
    }
}

#[test]
fn pkg_config_finds_both_libraries() {
    let prefix = installed("pkg-config");
    let pkg_config = |arguments: &[&str]| -> Vec<String> {
        let output = run(Command::new("pkg-config")
            .args(arguments)
            .arg("ferroblosc")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
        let text = String::from_utf8(output.stdout).expect("text");
        text.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(pkg_config(&["--modversion"]), ["0.1.0"]);
    for variable in ["prefix", "libdir", "includedir"] {
        let folder = pkg_config(&[&format!("--variable={variable}")]);
        assert!(Path::new(&folder[0]).is_dir(), "{variable}");
    }
    let program = prefix.join("client");
    let compile = |flags: Vec<String>| {
        run(Command::new("cc")
            .arg(project_root().join("c-tests/ferroblosc/util.c"))
            .arg("-o")
            .arg(&program)
            .args(flags));
    };
    compile(pkg_config(&["--cflags", "--libs"]));
    assert!(is_shared(&program));
    run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));

    fs::remove_file(prefix.join("lib/libferroblosc.so")).expect("the link was there");
    compile(pkg_config(&["--static", "--cflags", "--libs"]));
    assert!(!is_shared(&program));
    run(&mut Command::new(&program));
}

/// Builds the client of `c-tests/ferroblosc/cmake` against an installation; returns the program.
fn cmake_client(prefix: &Path, library: &str) -> PathBuf {
    let build = prefix.join("build").join(library.replace("::", "-"));
    run(Command::new("cmake")
        .arg("-S")
        .arg(project_root().join("c-tests/ferroblosc/cmake"))
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
        ("Ferroblosc::ferroblosc", true),
        ("Ferroblosc::ferroblosc_shared", true),
        ("Ferroblosc::ferroblosc_static", false),
    ] {
        let program = cmake_client(&prefix, library);
        assert_eq!(is_shared(&program), shared, "{library}");
        run(&mut Command::new(program));
    }
    for name in [
        "libferroblosc.so",
        "libferroblosc.so.0",
        "libferroblosc.so.0.1.0",
    ] {
        fs::remove_file(prefix.join("lib").join(name)).expect("the library was there");
    }
    fs::remove_dir_all(prefix.join("build")).expect("the builds were there");
    let program = cmake_client(&prefix, "Ferroblosc::ferroblosc");
    assert!(!is_shared(&program));
    run(&mut Command::new(program));
}
