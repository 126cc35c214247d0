//! `NOTICE` beside what Cargo links.

use std::collections::BTreeSet;
use std::process::Command;

/// The packages of what is installed.
const INSTALLED: [&str; 7] = [
    "ferroblosc-capi-blosc2",
    "ferroblosc-capi-blosc1",
    "ferroblosc-capi-ferroblosc",
    "ferroblosc-hdf5-blosc",
    "ferroblosc-hdf5-blosc2",
    "ferroblosc-b2",
    "ferroblosc-blpk",
];
/// C libraries that are compiled in.
const BUNDLED: [&str; 4] = ["LZ4", "ZFP", "zlib", "Zstandard"];

/// What a command that must succeed prints.
fn printed(command: &mut Command) -> String {
    let output = command.current_dir(super::root()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The crates of others that Cargo links, as name and version.
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

/// The entries of the list, as name and version.
fn listed() -> BTreeSet<String> {
    let notice = crate::text("NOTICE");
    let entries = notice.lines().filter_map(|line| line.strip_prefix("  "));
    let names = entries.filter_map(|entry| Some(entry.split_once(": ")?.0.to_owned()));
    names.collect()
}

#[test]
fn every_crate_that_is_linked_has_an_entry_and_no_other() {
    let is_crate = |entry: &String| {
        let name = entry.split(' ').next().unwrap();
        !BUNDLED.contains(&name) && name != "The"
    };
    let entries: BTreeSet<String> = listed().into_iter().filter(is_crate).collect();
    assert_eq!(entries, linked(), "scripts/notice.py > NOTICE mends it");
    assert!(entries.len() > 40, "{}", entries.len());
}

#[test]
fn every_library_in_c_has_an_entry() {
    let listed = listed();
    for name in BUNDLED {
        let starts = |entry: &String| entry.starts_with(&format!("{name} "));
        assert!(listed.iter().any(starts), "{name}");
    }
}

#[test]
fn the_notice_is_what_its_script_writes() {
    let written = printed(
        Command::new("python3")
            .arg("scripts/notice.py")
            .env("CARGO", env!("CARGO")),
    );
    assert_eq!(written, crate::text("NOTICE"));
}
