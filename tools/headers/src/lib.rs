//! Generates the C headers under `include/` from the Rust sources of the C interfaces.
//!
//! A header is a list of [`Section`]s: handwritten text (guards, includes, macros, inline
//! functions, the `*_DEFAULTS` objects) and the output of cbindgen for Rust files (constants,
//! types, functions, with their documentation). [`HEADERS`] contains the lists; [`generate`]
//! generates a header.

#![forbid(unsafe_code)]

mod doxygen;
mod layout;

pub use layout::{HEADERS, Header, Section, TAGS};

use doxygen::LINE_LENGTH;

use cbindgen::{Config, DocumentationStyle, ItemType, Language, Layout, Style};
use std::path::{Path, PathBuf};

/// Returns the root directory of the project.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the text of a header.
///
/// # Panics
/// Panics if a file of the header is missing or cbindgen cannot parse it.
pub fn generate(root: &Path, header: &Header) -> String {
    let sections: Vec<String> =
        header.sections.iter().map(|section| render(root, header, section)).collect();
    tidy(&doxygen::with_commands(&sections.join("\n")))
}

/// Moves the delimiters of a comment with one line of text to that line, and removes trailing
/// blanks.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut tidied = String::new();
    let mut rest = lines.as_slice();
    while let Some((&line, after)) = rest.split_first() {
        match (line.strip_suffix("/**"), after) {
            (Some(indent), [comment, end, remaining @ ..])
                if end.trim() == "*/" && line.len() + comment.len() < LINE_LENGTH =>
            {
                let comment = comment.trim_start().trim_start_matches("* ");
                tidied.push_str(&format!("{indent}/** {comment} */\n"));
                rest = remaining;
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

/// Returns the text of a section, with a newline at the end.
fn render(root: &Path, header: &Header, section: &Section) -> String {
    match section {
        Section::Text(file) => read(&root.join(header.texts).join(file)),
        Section::Enums(files) => {
            let enums: Vec<String> = files.iter().map(|file| enum_of(root, header, file)).collect();
            enums.join("\n")
        }
        Section::Macros(files) => cbindgen(root, header, files, &[ItemType::Constants]),
        Section::Types(files) => cbindgen(
            root,
            header,
            files,
            &[ItemType::Structs, ItemType::OpaqueItems, ItemType::Typedefs],
        ),
        Section::Functions(files) => cbindgen(root, header, files, &[ItemType::Functions]),
    }
}

/// Sets the tags of opaque structs to those of [`TAGS`]; cbindgen uses the name of the type.
fn with_tags(text: String) -> String {
    TAGS.iter().fold(text, |text, (name, tag)| {
        text.replace(&format!("struct {name} "), &format!("struct {tag} "))
    })
}

/// Returns the constants of a Rust file as an `enum`, after the first paragraph of the file's
/// comment.
///
/// cbindgen writes a constant as `#define NAME VALUE`; C-Blosc2 has enum constants, which unlike
/// macros follow the scopes of C.
fn enum_of(root: &Path, header: &Header, file: &str) -> String {
    let source = read(&root.join(header.sources).join(file));
    let about: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//! ")).collect();
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
    // C89 and C++98 compilers in pedantic mode reject a comma after the last constant.
    let last_comma = text.rfind(',').expect("an enum has constants");
    text.remove(last_comma);
    text.push_str("};\n");
    text
}

/// Returns the output of cbindgen for the items of some kinds in some files.
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
    // By default, cbindgen omits types that no function of the same files uses.
    config.export.include = files
        .iter()
        .flat_map(|file| public_types(&read(&root.join(header.sources).join(file))))
        .collect();
    config.defines.insert("windows".into(), "_WIN32".into());
    config.export.rename.insert("timespec".into(), "struct timespec".into());
    config.export.rename.insert("Flag".into(), "bool".into());
    config.function.prefix = Some(header.export.into());
    config.function.args = Layout::Auto;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in files {
        builder = builder.with_src(root.join(header.sources).join(file));
    }
    let bindings =
        builder.generate().unwrap_or_else(|error| panic!("cbindgen on {files:?}: {error}"));
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).expect("cbindgen writes UTF-8");
    // cbindgen writes the semicolon of a conditional field after the condition.
    with_tags(text.replace("\n#endif\n  ;\n", ";\n#endif\n"))
}

/// Returns the names of the public types of a Rust file.
fn public_types(source: &str) -> Vec<String> {
    source
        .lines()
        .filter_map(|line| line.strip_prefix("pub struct ").or(line.strip_prefix("pub type ")))
        .filter_map(|rest| rest.split([' ', '=', ';', '<']).next())
        .map(str::to_owned)
        .collect()
}

/// Reads a file.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_headers_are_up_to_date() {
        let root = project_root();
        for header in HEADERS {
            let path = root.join("include").join(header.path);
            assert!(
                read(&path) == generate(&root, header),
                "{} is out of date: run `cargo run -p ferroblosc-headers`",
                path.display()
            );
        }
    }
}
