//! Makes the C headers under `include/` from the Rust sources of the skins.
//!
//! A header is a list of [`Piece`]s: text written by hand (guards, includes, macros, inline
//! functions, the `*_DEFAULTS` objects) and what cbindgen makes of Rust files (constants, types,
//! functions, with their documentation). [`HEADERS`] has the lists, [`generate`] cooks one.

mod doxygen;
mod recipes;

pub use recipes::{HEADERS, Header, Piece, TAGS};

use cbindgen::{Config, DocumentationStyle, ItemType, Language, Layout, Style};
use std::path::{Path, PathBuf};

/// Columns of a header.
const LINE_LENGTH: usize = 100;

/// The root of the project.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a header.
///
/// # Panics
/// When a file of a recipe is missing or cbindgen can't read it: the recipe is wrong then.
pub fn generate(root: &Path, header: &Header) -> String {
    let pieces: Vec<String> = header
        .pieces
        .iter()
        .map(|piece| cook(root, header, piece))
        .collect();
    tidy(&doxygen::with_commands(&pieces.join("\n")))
}

/// Comments of one line on one line, no blanks at the end of lines.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut tidied = String::new();
    let mut rest = lines.as_slice();
    while let Some((&line, after)) = rest.split_first() {
        match (line.strip_suffix("/**"), after) {
            (Some(indent), [comment, end, behind @ ..])
                if end.trim() == "*/" && line.len() + comment.len() < LINE_LENGTH =>
            {
                let comment = comment.trim_start().trim_start_matches("* ");
                tidied.push_str(&format!("{indent}/** {comment} */\n"));
                rest = behind;
            }
            _ => {
                tidied.push_str(line);
                tidied.push('\n');
                rest = after;
            }
        }
    }
    tidied
}

/// The text of one piece, ended by a newline.
fn cook(root: &Path, header: &Header, piece: &Piece) -> String {
    match piece {
        Piece::Text(file) => read(&root.join(header.texts).join(file)),
        Piece::Enums(files) => {
            let enums: Vec<String> = files
                .iter()
                .map(|file| enum_of(root, header, file))
                .collect();
            enums.join("\n")
        }
        Piece::Macros(files) => cbindgen(root, header, files, &[ItemType::Constants]),
        Piece::Types(files) => cbindgen(
            root,
            header,
            files,
            &[ItemType::Structs, ItemType::OpaqueItems, ItemType::Typedefs],
        ),
        Piece::Functions(files) => cbindgen(root, header, files, &[ItemType::Functions]),
    }
}

/// Gives opaque structs the tags of [`TAGS`]; cbindgen uses the name of the type as a tag.
fn with_tags(text: String) -> String {
    TAGS.iter().fold(text, |text, (name, tag)| {
        text.replace(&format!("struct {name} "), &format!("struct {tag} "))
    })
}

/// The constants of a Rust file as one `enum`, under the first paragraph of the file's comment.
///
/// cbindgen writes a constant as `#define NAME VALUE`; C-Blosc2 has enum constants, which don't
/// leak into the code of clients as macros do.
fn enum_of(root: &Path, header: &Header, file: &str) -> String {
    let source = read(&root.join(header.sources).join(file));
    let about: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//! "))
        .collect();
    let defines = cbindgen(root, header, &[file], &[ItemType::Constants]);
    let mut text = format!("/* {} */\nenum {{\n", about.join("\n * "));
    for line in defines.lines().filter(|line| !line.is_empty()) {
        let line = match line.strip_prefix("#define ") {
            Some(define) => {
                let (name, value) = define.split_once(' ').expect("a constant has a value");
                format!("{name} = {value},")
            }
            None => line.to_owned(),
        };
        text.push_str(&format!("  {line}\n"));
    }
    // C89 and C++98 compilers in pedantic mode refuse a comma behind the last constant.
    let last_comma = text.rfind(',').expect("an enum has constants");
    text.remove(last_comma);
    text.push_str("};\n");
    text
}

/// What cbindgen makes of the items of some kinds in some files.
fn cbindgen(root: &Path, header: &Header, files: &[&str], items: &[ItemType]) -> String {
    let mut config = Config {
        language: Language::C,
        style: Style::Both,
        documentation_style: DocumentationStyle::Doxy,
        no_includes: true,
        usize_is_size_t: true,
        line_length: LINE_LENGTH,
        ..Config::default()
    };
    config.export.item_types = items.to_vec();
    // cbindgen leaves out a type that no function of the same files uses, unless told.
    config.export.include = files
        .iter()
        .flat_map(|file| public_types(&read(&root.join(header.sources).join(file))))
        .collect();
    config
        .export
        .rename
        .insert("timespec".into(), "struct timespec".into());
    config.function.prefix = Some(header.export.into());
    config.function.args = Layout::Auto;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in files {
        builder = builder.with_src(root.join(header.sources).join(file));
    }
    let bindings = builder
        .generate()
        .unwrap_or_else(|error| panic!("cbindgen on {files:?}: {error}"));
    let mut text = Vec::new();
    bindings.write(&mut text);
    with_tags(String::from_utf8(text).expect("cbindgen writes UTF-8"))
}

/// The names of the public types a Rust file defines.
fn public_types(source: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| {
            line.strip_prefix("pub struct ")
                .or(line.strip_prefix("pub type "))
        })
        .filter_map(|rest| rest.split([' ', '=', ';', '<']).next())
        .map(str::to_owned)
        .collect()
}

/// A file's text.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("can't read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_headers_are_fresh() {
        let root = project_root();
        for header in HEADERS {
            let path = root.join("include").join(header.path);
            assert!(
                read(&path) == generate(&root, header),
                "{} is stale: run `cargo run -p ferroblosc-headers`",
                path.display()
            );
        }
    }
}
