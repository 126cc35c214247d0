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
fn every_shared_object_tells_its_version_without_being_run() {
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
fn the_commands_tell_the_same_version() {
    library_folder();
    for (command, line) in [
        ("b2", format!("b2 {VERSION}\n")),
        ("blpk", format!("ferroblosc: '{VERSION}'")),
    ] {
        let output = run(Command::new(build_folder().join(command)).arg("--version"));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&line), "{said}");
    }
}

#[test]
fn files_of_the_project_name_the_same_version() {
    let says = |file: &str, what: String| {
        let text = std::fs::read_to_string(project_root().join(file)).unwrap();
        assert!(text.contains(&what), "{file}: {what}");
    };
    says("CHANGELOG.md", format!("\n## [{VERSION}] - "));
    says(
        "include/ferroblosc.h",
        format!("FERROBLOSC_VERSION_STRING \"{VERSION}\""),
    );
    says(
        "scripts/install.sh",
        format!("install_library ferroblosc {VERSION} 0 "),
    );
    says(
        "packaging/debian/changelog",
        format!("ferroblosc ({VERSION}) "),
    );
    says(
        "packaging/debian/libferroblosc0.list",
        format!("libferroblosc.so.{VERSION}"),
    );
}
