//! A parser for the Markdown that the documents use: fenced blocks, headings, tables, links.

use std::path::PathBuf;

/// A parsed document.
pub struct Document {
    /// The path relative to the root of the project.
    pub name: String,
    /// The lines outside of fenced blocks.
    pub prose: Vec<String>,
    /// The fenced blocks.
    pub blocks: Vec<Block>,
}

/// A fenced block.
pub struct Block {
    /// The fence's language; empty for diagrams.
    pub language: String,
    /// The lines between the fences.
    pub lines: Vec<String>,
}

/// Returns all documents of the project, without those in `vendor`.
pub fn documents() -> Vec<Document> {
    let all = crate::files("", ".md");
    let ours = |path: &PathBuf| {
        let path = path.strip_prefix(crate::root()).unwrap();
        !path.starts_with("vendor") && !path.starts_with("formats/tests/data")
    };
    all.into_iter().filter(ours).map(Document::of).collect()
}

/// Parses a document.
pub fn document(name: &str) -> Document {
    Document::of(crate::root().join(name))
}

impl Document {
    fn of(path: PathBuf) -> Document {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(crate::root()).unwrap();
        let mut document = Document {
            name: name.to_str().unwrap().to_owned(),
            prose: Vec::new(),
            blocks: Vec::new(),
        };
        let mut is_inside = false;
        for line in text.lines() {
            match line.trim_start().strip_prefix("```") {
                Some(_) if is_inside => is_inside = false,
                Some(language) => {
                    is_inside = true;
                    document
                        .blocks
                        .push(Block { language: language.to_owned(), lines: Vec::new() });
                }
                None if is_inside => {
                    let block = document.blocks.last_mut().unwrap();
                    block.lines.push(line.to_owned());
                }
                None => document.prose.push(line.to_owned()),
            }
        }
        assert!(!is_inside, "{}: a block without end", document.name);
        document
    }

    /// Returns the anchors of the headings: lower case, hyphens for spaces, no punctuation.
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.prose.iter().filter(|line| line.starts_with('#'));
        let anchor = |heading: &String| {
            let words = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
            words.chars().filter(kept).collect::<String>().replace(' ', "-")
        };
        headings.map(anchor).collect()
    }

    /// Returns the targets of the document's links, `[text](target)`.
    pub fn links(&self) -> Vec<&str> {
        let after = |line| -> Vec<&str> { str::split(line, "](").skip(1).collect() };
        let targets = self.prose.iter().flat_map(|line| after(line));
        targets.filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
    }

    /// Returns the table rows whose first cell satisfies `is_wanted`, as trimmed cells.
    pub fn rows(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Vec<&str>> {
        let rows = self.prose.iter().filter(|line| line.starts_with("| "));
        let cells = rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect());
        cells.filter(|row: &Vec<&str>| is_wanted(row[0])).collect()
    }
}
