//! Every public module of the crates has an example, which runs as a documentation test. The tables
//! of files at the start of source files list all modules.

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

/// Returns the modules that a source file with a table of files declares, but does not list.
fn unlisted(source: &str) -> Vec<String> {
    let comment: Vec<&str> = source.lines().filter(|line| line.starts_with("//!")).collect();
    if !comment.iter().any(|line| line.starts_with("//! | file |")) {
        return Vec::new();
    }
    let lines: Vec<&str> = source.lines().collect();
    let is_test = |at: usize| at > 0 && lines[at - 1].starts_with("#[cfg(test)]");
    let module = |at: usize| {
        let line = lines[at].strip_prefix("pub ").unwrap_or(lines[at]);
        line.strip_prefix("mod ")?.strip_suffix(';')
    };
    let names = (0..lines.len()).filter(|&at| !is_test(at)).filter_map(module);
    let is_listed = |name: &str| {
        let forms = [".rs", "/", "/mod.rs", ""].map(|end| format!("`{name}{end}`"));
        comment.iter().any(|line| forms.iter().any(|form| line.contains(form)))
    };
    names.filter(|name| !is_listed(name)).map(str::to_owned).collect()
}

#[test]
fn tables_of_files_list_all_modules() {
    let with = |modules: &str| {
        unlisted(&format!("//! | file | content |\n//! | `a.rs`, `b/` | … |\n{modules}"))
    };
    assert_eq!(with("mod a;\npub mod b;\n#[cfg(test)]\nmod tests;\nmod c;\n"), ["c"]);
    let mut tables = 0;
    let mut found = Vec::new();
    for folder in ["src", "formats/src", "capi", "hdf5", "tools", "tests", "packaging/npm/src"] {
        for path in crate::files(folder, ".rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            tables += usize::from(source.contains("\n//! | file |"));
            found.extend(unlisted(&source).into_iter().map(|name| format!("{path:?}: {name}")));
        }
    }
    assert!(tables > 15, "{tables}");
    assert_eq!(found, Vec::<String>::new());
}
