//! Ferroblosc's version in all files that contain it.

use ferroblosc_capi_testing::{build_folder, library_folder, project_root, run};
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The installed shared objects.
const OBJECTS: [&str; 5] = ["blosc2", "blosc", "ferroblosc", "H5Zblosc", "H5Zblosc2"];

/// Returns the output of a tool for a shared object.
fn output_of(tool: &[&str], object: &str) -> String {
    library_folder();
    let output = run(Command::new(tool[0])
        .args(&tool[1..])
        .arg(build_folder().join(format!("lib{object}.so"))));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_shared_object_contains_its_version() {
    for object in OBJECTS {
        let line = format!("ferroblosc {VERSION}");
        let section = output_of(&["readelf", "-p", ".note.ferroblosc"], object);
        assert!(section.contains(&line), "{object}: {section}");
        let strings = output_of(&["strings"], object);
        assert!(strings.lines().any(|text| text == line), "{object}");
        let notes = output_of(&["readelf", "-nW"], object);
        assert!(notes.contains("Ferroblosc"), "{object}: {notes}");
    }
}

#[test]
fn the_commands_print_the_same_version() {
    library_folder();
    for (command, line) in
        [("b2", format!("b2 {VERSION}\n")), ("blpk", format!("ferroblosc: '{VERSION}'"))]
    {
        let output = run(Command::new(build_folder().join(command)).arg("--version"));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn files_of_the_project_name_the_same_version() {
    let version = VERSION;
    for (file, text) in [
        ("CHANGELOG.md", format!("\n## [{version}] - ")),
        ("README.md", format!("- Version {version}, ")),
        ("src/elf_note.rs", format!("\"ferroblosc {version}\"")),
        ("include/ferroblosc.h", format!("FERROBLOSC_VERSION_STRING \"{version}\"")),
        ("scripts/install.sh", format!("install_library ferroblosc {version} 0 ")),
        ("packaging/debian/changelog", format!("ferroblosc ({version}) ")),
        ("packaging/debian/libferroblosc0.list", format!("libferroblosc.so.{version}")),
        ("CMakeLists.txt", format!("project(Ferroblosc VERSION {version} ")),
        (
            "CMakeLists.txt",
            format!("ferroblosc_library(ferroblosc ferroblosc-capi-ferroblosc {version} 0)"),
        ),
        ("fortran/CMakeLists.txt", format!("project(BloscFortran VERSION {version} ")),
        ("fortran/fpm.toml", format!("\nversion = \"{version}\"\n")),
        ("fortran/tests/consumers/fpm/fpm.toml", format!("\nversion = \"{version}\"\n")),
        (
            "c-tests/ferroblosc/cmake/CMakeLists.txt",
            format!("if(NOT Ferroblosc_VERSION VERSION_EQUAL {version})"),
        ),
    ] {
        let content = std::fs::read_to_string(project_root().join(file)).unwrap();
        assert!(content.contains(&text), "{file}: {text}");
    }
}
