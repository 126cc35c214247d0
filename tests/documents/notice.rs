//! Compares `NOTICE` with the crates that Cargo links.

use std::collections::BTreeSet;
use std::process::Command;

/// The packages of the installed libraries and programs.
const INSTALLED: [&str; 7] = [
    "ferroblosc-capi-blosc2",
    "ferroblosc-capi-blosc1",
    "ferroblosc-capi-ferroblosc",
    "ferroblosc-hdf5-blosc",
    "ferroblosc-hdf5-blosc2",
    "ferroblosc-b2",
    "ferroblosc-blpk",
];
/// The bundled C libraries.
const BUNDLED: [&str; 4] = ["LZ4", "ZFP", "zlib", "Zstandard"];

/// Runs a command, which must succeed, and returns its output.
fn printed(command: &mut Command) -> String {
    let output = command.current_dir(super::root()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the linked third-party crates as "name version".
fn linked() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--edges", "normal,no-proc-macro"]);
    cargo.args(["--prefix", "none", "--format", "{p}"]);
    cargo.args(INSTALLED.iter().flat_map(|name| ["--package", name]));
    let tree = printed(&mut cargo);
    let crates = tree.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split_whitespace().next()?;
        (!name.starts_with("ferroblosc")).then(|| format!("{name} {version}"))
    });
    crates.collect()
}

/// Returns the entries of the list as "name version".
fn listed() -> BTreeSet<String> {
    let notice = crate::text("NOTICE");
    // The texts of the licences follow the list, after a line of dashes.
    let list = notice.lines().take_while(|line| !line.starts_with("---"));
    let entries = list.filter_map(|line| line.strip_prefix("  "));
    let names = entries.filter_map(|entry| Some(entry.split_once(": ")?.0.to_owned()));
    names.collect()
}

#[test]
fn the_notice_lists_exactly_the_linked_crates() {
    let is_crate = |entry: &String| {
        let name = entry.split(' ').next().unwrap();
        !BUNDLED.contains(&name) && name != "The"
    };
    let entries: BTreeSet<String> = listed().into_iter().filter(is_crate).collect();
    assert_eq!(entries, linked(), "scripts/notice.py > NOTICE updates it");
    assert!(entries.len() > 40, "{}", entries.len());
}

#[test]
fn every_bundled_c_library_has_an_entry() {
    let listed = listed();
    for name in BUNDLED {
        let starts = |entry: &String| entry.starts_with(&format!("{name} "));
        assert!(listed.iter().any(starts), "{name}");
    }
}

#[test]
fn the_notice_equals_its_scripts_output() {
    let written =
        printed(Command::new("python3").arg("scripts/notice.py").env("CARGO", env!("CARGO")));
    assert_eq!(written, crate::text("NOTICE"));
}
