//! Every public module of the crates has an example, which runs as a documentation test.

/// Returns the documented public modules of the crate with its sources in `folder`.
fn modules(folder: &str) -> Vec<String> {
    let library = crate::text(&format!("{folder}/lib.rs"));
    let lines: Vec<&str> = library.lines().collect();
    let is_hidden = |at: usize| at > 0 && lines[at - 1] == "#[doc(hidden)]";
    let module =
        |at: usize| Some(lines[at].strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
    let shown = (0..lines.len()).filter(|&at| !is_hidden(at));
    shown.filter_map(module).collect()
}

/// Returns the sources of a module: one file, or the files of a folder.
fn sources(folder: &str, module: &str) -> Vec<String> {
    let file = format!("{folder}/{module}.rs");
    if crate::root().join(&file).is_file() {
        return vec![crate::text(&file)];
    }
    let files = crate::files(&format!("{folder}/{module}"), ".rs");
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_public_module_has_an_example() {
    for (folder, at_least) in [("src", 12), ("formats/src", 4)] {
        let modules = modules(folder);
        assert!(modules.len() >= at_least, "{modules:?}");
        for module in modules {
            let has_example = sources(folder, &module).iter().any(|source| {
                source.lines().any(|line| ["//! ```", "/// ```"].contains(&line.trim()))
            });
            assert!(has_example, "{folder}/{module}");
        }
    }
}
