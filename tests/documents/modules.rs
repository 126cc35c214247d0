//! Every public module of the crate has an example, which runs as a documentation test.

/// Returns the crate's documented public modules.
fn modules() -> Vec<String> {
    let library = crate::text("src/lib.rs");
    let lines: Vec<&str> = library.lines().collect();
    let is_hidden = |at: usize| at > 0 && lines[at - 1] == "#[doc(hidden)]";
    let module = |at: usize| {
        Some(
            lines[at]
                .strip_prefix("pub mod ")?
                .strip_suffix(';')?
                .to_owned(),
        )
    };
    let shown = (0..lines.len()).filter(|&at| !is_hidden(at));
    shown.filter_map(module).collect()
}

/// Returns the sources of a module: one file, or the files of a folder.
fn sources(module: &str) -> Vec<String> {
    let file = format!("src/{module}.rs");
    if crate::root().join(&file).is_file() {
        return vec![crate::text(&file)];
    }
    let files = crate::files(&format!("src/{module}"), ".rs");
    files
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn every_public_module_has_an_example() {
    let modules = modules();
    assert!(modules.len() >= 14, "{modules:?}");
    for module in modules {
        let has_example = sources(&module).iter().any(|source| {
            source
                .lines()
                .any(|line| ["//! ```", "/// ```"].contains(&line.trim()))
        });
        assert!(has_example, "{module}");
    }
}
