//! The installed files, and their use by clients with pkg-config and CMake.

use ferroblosc_capi_testing::packaging::{Package, installed};
use ferroblosc_capi_testing::{build_folder, empty_folder, library_folder, project_root, run};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

const BLOSC2: Package = Package {
    name: "blosc2",
    files: ["libblosc2.so", "libblosc2.so.9", "libblosc2.so.3.3.5"],
    version: "3.3.5",
};

const CLIENT: &str = "c-tests/cmake";
const TARGETS: [&str; 3] = ["Blosc2::blosc2", "Blosc2::blosc2_shared", "Blosc2::blosc2_static"];

#[test]
fn row_d10_the_tree_has_the_names_and_links_of_the_reference() {
    BLOSC2.assert_files(
        &installed("files"),
        &[
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
        ],
    );
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
    let variables = ["prefix", "libdir", "includedir"];
    BLOSC2.assert_pkg_config(&variables, "examples/simple.c");
}

#[test]
fn row_h8_cmake_links_the_shared_library_unless_there_is_only_the_static_one() {
    BLOSC2.assert_cmake(CLIENT, TARGETS);
}

#[test]
fn cmake_finds_the_package_through_a_link_to_the_library_directory() {
    BLOSC2.assert_cmake_through_a_link(CLIENT, TARGETS);
}

#[test]
fn cmake_ignores_the_targets_of_an_earlier_installation_of_c_blosc2() {
    let prefix = installed("earlier");
    fs::write(
        prefix.join("lib/cmake/Blosc2/Blosc2Targets-debug.cmake"),
        "set_property(TARGET Blosc2::blosc2_shared APPEND PROPERTY IMPORTED_CONFIGURATIONS DEBUG)\n\
         set_target_properties(Blosc2::blosc2_shared PROPERTIES\n\
         IMPORTED_LOCATION_DEBUG \"${_IMPORT_PREFIX}/lib/libblosc2.so.2.10.0\")\n",
    )
    .expect("the directory is there");
    let options = ["-DCMAKE_BUILD_TYPE=Debug"];
    assert!(BLOSC2.builds_with_cmake(CLIENT, &prefix, TARGETS[1], &options));
}

#[test]
fn an_installation_replaces_links_and_not_the_files_of_other_packages() {
    library_folder();
    let prefix = empty_folder("links");
    let other = prefix.join("other");
    fs::write(&other, "theirs").expect("the directory is there");
    let links = [
        "include/blosc2.h",
        "lib/libblosc2.a",
        "lib/libblosc2.so",
        "lib/libblosc2.so.3.3.5",
        "lib/pkgconfig/blosc2.pc",
        "lib/cmake/Blosc2/Blosc2Config.cmake",
        "lib/cmake/Blosc2/Blosc2Targets.cmake",
    ]
    .map(|file| prefix.join(file));
    for link in &links {
        fs::create_dir_all(link.parent().expect("a directory")).expect("it can be made");
        symlink(&other, link).expect("the link is new");
    }
    run(Command::new(project_root().join("scripts/install.sh"))
        .arg(build_folder())
        .arg(&prefix)
        .env("INSTALL", "libraries"));
    assert_eq!(fs::read_to_string(&other).expect("it was written"), "theirs");
    for link in &links {
        assert_ne!(fs::canonicalize(link).expect("it is installed"), other, "{}", link.display());
    }
}

/// Returns the commands of `make install`, with arguments and with variables of cargo.
fn installation(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut make = Command::new("make");
    make.current_dir(project_root()).args(["--dry-run", "install", "PREFIX=/usr"]).args(arguments);
    // Those of the process that runs this test, which may be make.
    for variable in
        ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_TARGET", "DESTDIR", "MAKEFLAGS"]
    {
        make.env_remove(variable);
    }
    let output = run(make.envs(variables.iter().copied()));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn nothing_is_installed_without_a_build() {
    let (build, prefix) = (empty_folder("no-build"), empty_folder("nothing"));
    let output = Command::new(project_root().join("scripts/install.sh"))
        .args([&build, &prefix])
        .output()
        .expect("bash is there");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success() && errors.contains("no built libraries"), "{errors}");
    assert_eq!(fs::read_dir(&prefix).expect("the directory is there").count(), 0);
}

#[test]
fn make_installs_what_cargo_has_built() {
    for (variables, folder, build) in [
        (&[][..], "target", "target/release"),
        (&[("CARGO_TARGET_DIR", "/disk/rust")], "/disk/rust", "/disk/rust/release"),
        (&[("CARGO_BUILD_TARGET_DIR", "/disk")], "/disk", "/disk/release"),
        (&[("CARGO_BUILD_TARGET", "a-b-c")], "target", "target/a-b-c/release"),
    ] {
        let commands = installation(&[], variables);
        assert!(commands.contains(&format!("--target-dir \"{folder}\"")), "{commands}");
        assert!(commands.contains(&format!("install.sh \"{build}\" \"/usr\"")), "{commands}");
    }
}

#[test]
fn the_library_directory_must_be_in_the_prefix() {
    for libdir in ["/usr/lib", "../lib", "lib/../lib64", "./lib", "lib//64"] {
        let prefix = empty_folder("libdir");
        let output = Command::new(project_root().join("scripts/install.sh"))
            .arg(build_folder())
            .arg(&prefix)
            .env("LIBDIR", libdir)
            .output()
            .expect("bash is there");
        let errors = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success(), "{libdir}");
        assert!(errors.contains("relative to the prefix"), "{libdir}: {errors}");
        assert_eq!(fs::read_dir(&prefix).expect("the directory is there").count(), 0, "{libdir}");
    }
    // Other build systems have absolute directories.
    for (libdir, relative) in [("/usr/lib64", "lib64"), ("lib", "lib"), ("/opt/lib", "/opt/lib")] {
        let commands = installation(&[&format!("LIBDIR={libdir}")], &[]);
        assert_eq!(commands.matches(&format!("LIBDIR=\"{relative}\"")).count(), 2, "{commands}");
    }
}

#[test]
fn cmake_installs_in_an_absolute_library_directory() {
    for (libdir, relative) in [("/opt/it/lib64", "lib64"), ("lib/a-b", "lib/a-b")] {
        let build = empty_folder("top");
        run(Command::new("cmake")
            .arg("-S")
            .arg(project_root())
            .arg("-B")
            .arg(&build)
            .arg("-DCMAKE_INSTALL_PREFIX=/opt/it")
            .arg(format!("-DCMAKE_INSTALL_LIBDIR={libdir}")));
        let script =
            fs::read_to_string(build.join("cmake_install.cmake")).expect("cmake writes it");
        assert!(script.contains(&format!("\"LIBDIR={relative}\"")), "{script}");
    }
}

#[test]
fn cmake_ignores_a_target_triple_in_the_environment_of_cargo() {
    let folder = empty_folder("triple");
    let (cargo, build) = (folder.join("cargo"), folder.join("build"));
    // A shell writes the program: a file that this process writes is busy while it forks.
    let script = "#!/bin/sh\necho \"<$CARGO_BUILD_TARGET> $*\" > \"$0.log\"; exit 1\n";
    run(Command::new("sh")
        .args(["-c", "printf %s \"$1\" > \"$0\" && chmod +x \"$0\""])
        .arg(&cargo)
        .arg(script));
    run(Command::new("cmake")
        .arg("-S")
        .arg(project_root())
        .arg("-B")
        .arg(&build)
        .arg(format!("-DRust_CARGO={}", cargo.display())));
    let output = Command::new("cmake")
        .arg("--build")
        .arg(&build)
        .env("CARGO_BUILD_TARGET", "another")
        .output()
        .expect("cmake is there");
    assert!(!output.status.success());
    let called = fs::read_to_string(cargo.with_extension("log")).expect("cargo was called");
    assert!(called.starts_with("<> build --locked --profile release"), "{called}");
}
