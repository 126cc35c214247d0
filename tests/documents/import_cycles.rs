//! No file imports a file of its crate that imports it, directly or through others.
//!
//! The imports of a file are the paths in its `use` declarations and in its code, outside of
//! `#[cfg(test)]`. A path is followed through re-exports to the file that defines the name, and the
//! re-exports of `mod.rs`, `lib.rs` and `main.rs` are no imports of these files. Calls of methods
//! are not followed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The directories whose crates are checked.
const CHECKED: [&str; 5] = ["src", "formats", "capi", "hdf5", "tools"];

/// Layers: groups of directories whose files may only use files of the same and of preceding
/// groups.
const LAYERS: [&[&[&str]]; 3] = [
    &[
        &["src/os/"],
        &["src/kernels/"],
        &["src/codec/", "src/filter/", "src/pool/", "src/io/"],
        &["src/chunk/"],
        &["src/frame/", "src/blosc1/"],
        &["src/schunk/"],
        &["src/b2nd/"],
    ],
    &[&["src/frame/format/"], &["src/frame/store/"], &["src/frame/ops/"]],
    &[
        &["formats/src/numpy/", "formats/src/blpk/", "formats/src/bloscpack/"],
        &[
            "formats/src/bcolz/",
            "formats/src/zarr/",
            "formats/src/store/",
            "formats/src/convert/",
            "formats/src/csv/",
            "formats/src/hdf5/",
        ],
    ],
];

/// The names of files whose re-exports are no imports.
const FACADES: [&str; 3] = ["/mod.rs", "/lib.rs", "/main.rs"];

type Path = Vec<String>;

#[derive(Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Imported names with their paths.
    names: BTreeMap<String, Path>,
    /// Paths of the modules whose names are all imported.
    globs: Vec<Path>,
    /// The paths that are imports.
    paths: BTreeSet<Path>,
}

#[derive(Default)]
struct Crate {
    modules: BTreeMap<Path, Module>,
    /// The modules that define exported macros.
    macros: BTreeMap<String, Path>,
}

/// Splits a source into names, `::` and other characters; drops comments and literals.
fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    let is = |at: usize, text: &str| {
        text.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let find = |from: usize, text: &str| {
        let found = (from..chars.len()).find(|&at| is(at, text));
        found.map_or(chars.len(), |at| at + text.chars().count())
    };
    let is_name = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    while at < chars.len() {
        if is(at, "//") {
            at = find(at, "\n");
        } else if is(at, "/*") {
            at = find(at, "*/");
        } else if is(at, "\"") {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if is(at, "'") {
            // A lifetime has no second quote.
            let close = if is(at + 1, "\\") { find(at + 3, "'") } else { at + 3 };
            at = if is(close - 1, "'") { close } else { at + 1 };
        } else if is_name(at) {
            let end = (at..).find(|&at| !is_name(at)).unwrap();
            let hashes = (end..).take_while(|&at| is(at, "#")).count();
            if ["r", "br"].contains(&&*chars[at..end].iter().collect::<String>())
                && is(end + hashes, "\"")
            {
                at = find(end + hashes + 1, &format!("\"{}", "#".repeat(hashes)));
                continue;
            }
            tokens.push(chars[at..end].iter().collect());
            at = end;
        } else if is(at, "::") {
            tokens.push("::".to_owned());
            at += 2;
        } else {
            if !chars[at].is_whitespace() {
                tokens.push(chars[at].to_string());
            }
            at += 1;
        }
    }
    tokens
}

/// Returns the index after the bracket that closes the one at `open`.
fn after_brackets(tokens: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match &**token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Returns the index after the item at `at`.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    let mut before_body = tokens[at..].iter().take_while(|token| *token != "{");
    let is_use = before_body.any(|token| token == "use");
    while at < tokens.len() {
        match &*tokens[at] {
            ";" => return at + 1,
            "{" if !is_use => return after_brackets(tokens, at),
            "(" | "[" | "{" => at = after_brackets(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Returns the paths of a `use` declaration with the names that they define.
fn use_paths(tokens: &[String], prefix: &Path, paths: &mut Vec<(Path, String)>) {
    let mut path = prefix.clone();
    let mut name = None;
    let mut at = 0;
    while at < tokens.len() {
        match &*tokens[at] {
            "{" => {
                let end = after_brackets(tokens, at);
                let mut depth = 0;
                let branches = tokens[at + 1..end - 1].split(|token| {
                    depth += i32::from(token == "{") - i32::from(token == "}");
                    depth == 0 && token == ","
                });
                for branch in branches.filter(|branch| !branch.is_empty()) {
                    use_paths(branch, &path, paths);
                }
                return;
            }
            "as" => {
                name = tokens.get(at + 1).cloned();
                break;
            }
            "::" => {}
            "self" if at > 0 || !prefix.is_empty() => {}
            segment => path.push(segment.to_owned()),
        }
        at += 1;
    }
    let last = path.last().cloned().unwrap_or_default();
    paths.push((path, name.unwrap_or(last)));
}

impl Crate {
    fn load(&mut self, path: &Path, file: &str) {
        let tokens = tokens(&crate::text(file));
        self.parse(path, file, &tokens);
    }

    fn parse(&mut self, path: &Path, file: &str, tokens: &[String]) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let token = |at: usize| tokens.get(at).map_or("", |token| token);
        let is_facade = FACADES.iter().any(|name| file.ends_with(name));
        let mut is_public = false;
        let mut at = 0;
        while at < tokens.len() {
            let previous = if at == 0 { "" } else { token(at - 1) };
            match token(at) {
                "#" if token(at + 1) == "[" => {
                    let end = after_brackets(tokens, at + 1);
                    let is_test = tokens[at..end]
                        .windows(3)
                        .any(|it| it == ["cfg", "(", "test"] || it == ["(", "test", ","])
                        && !tokens[at..end].iter().any(|it| it == "any");
                    at = if is_test { after_item(tokens, end) } else { end };
                    continue;
                }
                "pub" => {
                    is_public = true;
                    let end = at + 1;
                    at = if token(end) == "(" { after_brackets(tokens, end) } else { end };
                    continue;
                }
                "mod" if token(at + 2) == ";" => {
                    let child = [path.clone(), vec![token(at + 1).to_owned()]].concat();
                    module.children.insert(token(at + 1).to_owned());
                    let facade = FACADES.iter().find_map(|name| file.strip_suffix(name));
                    let folder = facade.unwrap_or(file.trim_end_matches(".rs"));
                    let short = format!("{folder}/{}.rs", token(at + 1));
                    let long = format!("{folder}/{}/mod.rs", token(at + 1));
                    let is_short = crate::root().join(&short).is_file();
                    self.load(&child, if is_short { &short } else { &long });
                    at += 2;
                }
                "mod" if token(at + 2) == "{" => {
                    let child = [path.clone(), vec![token(at + 1).to_owned()]].concat();
                    module.children.insert(token(at + 1).to_owned());
                    let end = after_brackets(tokens, at + 2);
                    self.parse(&child, file, &tokens[at + 3..end - 1]);
                    at = end;
                    continue;
                }
                "use" => {
                    let end = after_item(tokens, at);
                    let mut paths = Vec::new();
                    use_paths(&tokens[at + 1..end - 1], &Path::new(), &mut paths);
                    for (mut path, name) in paths {
                        if name == "*" {
                            path.pop();
                            module.globs.push(path.clone());
                        } else {
                            module.names.insert(name, path.clone());
                        }
                        if !(is_public && is_facade) {
                            module.paths.insert(path);
                        }
                    }
                    at = end;
                    is_public = false;
                    continue;
                }
                "macro_rules" => {
                    module.items.insert(token(at + 2).to_owned());
                    self.macros.insert(token(at + 2).to_owned(), path.clone());
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                    module.items.insert(token(at + 1).to_owned());
                }
                name if token(at + 1) == "::" && previous != "::" => {
                    let mut found = vec![name.to_owned()];
                    while token(at + 1) == "::" && token(at + 2).starts_with(char::is_alphabetic) {
                        found.push(token(at + 2).to_owned());
                        at += 2;
                    }
                    module.paths.insert(found);
                }
                _ => {}
            }
            is_public = false;
            at += 1;
        }
        self.modules.insert(path.clone(), module);
    }

    /// Returns the module that defines the name with this path in the module `from`; `None` for
    /// other crates and for names in scope.
    fn definer(&self, from: &Path, path: &[String], depth: usize) -> Option<&Path> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match &**first {
            "crate" => Path::new(),
            "self" => from.clone(),
            "super" => {
                let above = path.iter().take_while(|segment| *segment == "super").count();
                rest = &path[above..];
                from[..from.len().checked_sub(above)?].to_vec()
            }
            name if self.modules[from].children.contains(name) => {
                rest = path;
                from.clone()
            }
            name => {
                // A module that this one imports.
                let import = self.modules[from].names.get(name).filter(|_| depth > 0)?;
                return self.definer(from, &[import, rest].concat(), depth - 1);
            }
        };
        while let Some((name, after)) = rest.split_first() {
            let module = &self.modules[&at];
            if module.children.contains(name) {
                at.push(name.clone());
                rest = after;
                continue;
            }
            let joined = |path: &Path| [path, after].concat();
            if let Some(import) = module.names.get(name).filter(|_| depth > 0) {
                return self.definer(&at, &joined(import), depth - 1);
            }
            if !module.items.contains(name) {
                let in_glob = module.globs.iter().filter(|_| depth > 0).find_map(|glob| {
                    let target = self.definer(&at, glob, depth - 1)?;
                    let has = &self.modules[target];
                    let is_in = has.items.contains(name)
                        || has.children.contains(name)
                        || has.names.contains_key(name);
                    is_in.then(|| self.definer(&at, &[&glob[..], rest].concat(), depth - 1))?
                });
                let of_macro = self.macros.get(name).filter(|_| at.is_empty());
                if let Some(found) = in_glob.or(of_macro) {
                    return Some(found);
                }
            }
            break;
        }
        self.modules.get_key_value(&at).map(|(path, _)| path)
    }

    /// Returns the files that each file imports.
    fn imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let files = imports.entry(&module.file).or_default();
            let definers = module.paths.iter().filter_map(|used| self.definer(path, used, 8));
            files.extend(definers.map(|definer| &*self.modules[definer].file));
            files.remove(&*module.file);
        }
        imports
    }
}

/// Returns a shortest cycle of imports through `file`.
fn cycle<'a>(
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    file: &'a str,
) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut left = VecDeque::from([vec![file]]);
    while let Some(chain) = left.pop_front() {
        for &next in &imports[chain[chain.len() - 1]] {
            if next == file {
                return Some(chain);
            }
            if seen.insert(next) {
                left.push_back([&chain[..], &[next]].concat());
            }
        }
    }
    None
}

fn load(root: &str) -> Crate {
    let mut loaded = Crate::default();
    loaded.load(&Path::new(), root);
    loaded
}

/// Returns the checked crates.
fn crates() -> Vec<Crate> {
    let roots = CHECKED.iter().flat_map(|folder| {
        let files = [crate::files(folder, "lib.rs"), crate::files(folder, "main.rs")];
        files.into_iter().flatten()
    });
    let names = roots.map(|root| root.strip_prefix(crate::root()).unwrap().to_owned());
    let of_crates = names.filter(|root| root.parent().is_some_and(|src| src.ends_with("src")));
    of_crates.map(|root| load(root.to_str().unwrap())).collect()
}

/// Returns the files that each file of the crates imports.
fn all_imports(crates: &[Crate]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, used) in crates.iter().flat_map(Crate::imports) {
        all.entry(file).or_default().extend(used);
    }
    all
}

#[test]
fn no_file_imports_a_file_that_imports_it() {
    let crates = crates();
    assert!(crates.len() > 10, "{}", crates.len());
    let imports = all_imports(&crates);
    assert!(imports.len() > 400, "{}", imports.len());
    let cycles: BTreeSet<Vec<&str>> =
        imports.keys().filter_map(|file| cycle(&imports, file)).collect();
    assert!(cycles.is_empty(), "{cycles:#?}");
}

#[test]
fn files_use_only_their_own_and_lower_layers() {
    let crates = crates();
    let imports = all_imports(&crates);
    for layers in LAYERS {
        for folder in layers.iter().copied().flatten() {
            assert!(imports.keys().any(|file| file.starts_with(folder)), "{folder}");
        }
        let is_in = |file: &str, layer: &[&str]| layer.iter().any(|it| file.starts_with(it));
        let layer = |file: &str| layers.iter().position(|layer| is_in(file, layer));
        for (&file, used) in &imports {
            let above =
                used.iter().find(|used| layer(file).is_some_and(|own| layer(used) > Some(own)));
            assert_eq!(above, None, "imported by {file}");
        }
    }
}

#[test]
fn imports_are_followed_to_the_file_that_defines_the_name() {
    let library = load("src/lib.rs");
    let imports = library.imports();
    let of = |file: &str| &imports[file];
    // `crate::Error` and a macro, through `lib.rs`; names through `frame/mod.rs`.
    assert!(of("src/frame/store/files.rs").contains("src/error.rs"));
    assert!(of("src/frame/store/files.rs").contains("src/trace.rs"));
    assert!(of("src/schunk/chunks.rs").contains("src/frame/store/frame.rs"));
    // A path in code, and a module without `use`.
    assert!(of("src/frame/format/description.rs").contains("src/chunk/format/header.rs"));
    // Tests do not count.
    assert!(!of("src/frame/store/journal.rs").contains("src/schunk/schunk.rs"));
    assert!(!of("src/frame/mod.rs").contains("src/frame/ops/read.rs"));
    let mut circular = imports.clone();
    circular.get_mut("src/error.rs").unwrap().insert("src/frame/store/files.rs");
    assert!(cycle(&circular, "src/frame/store/files.rs").is_some());
}
