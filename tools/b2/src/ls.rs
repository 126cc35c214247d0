//! `ls`.
//!
//! In a tree, a name is the last part of the path, indented by its depth.

use crate::cli::LsArgs;
use crate::error::{self, Failure, Outcome};
use crate::info::for_each;
use crate::io::Input;
use crate::json::{self, ratio};
use crate::store::{self, Row};
use crate::style::Style;
use crate::table::{Alignment, Table, tuple};
use crate::words::counted;
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{self, Detected, Summary};
use ferroblosc_tools_common::size::human;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The rows of a listing.
struct Listing {
    args: LsOptions,
    table: Table,
    /// The number of directories around the current file, below the argument.
    depth: usize,
    values: Vec<Json>,
}

#[derive(Clone, Copy)]
struct LsOptions {
    chunks: bool,
    recursive: bool,
    tree: bool,
    json: bool,
}

pub fn run(args: &LsArgs) -> Outcome {
    let options = LsOptions {
        chunks: args.chunks,
        recursive: args.recursive || args.tree,
        tree: args.tree,
        json: args.json,
    };
    let (sides, heading): (&[Alignment], &[&str]) = if args.chunks {
        (
            &[
                Alignment::Right,
                Alignment::Right,
                Alignment::Right,
                Alignment::Right,
                Alignment::Left,
                Alignment::Left,
                Alignment::Left,
            ],
            &["chunk", "at byte", "data", "stored", "codec", "filters", "name"],
        )
    } else {
        (
            &[
                Alignment::Left,
                Alignment::Right,
                Alignment::Right,
                Alignment::Right,
                Alignment::Left,
                Alignment::Left,
            ],
            &["format", "data", "stored", "ratio", "content", "name"],
        )
    };
    let mut listing =
        Listing { args: options, table: Table::new(sides), depth: 0, values: Vec::new() };
    listing.table.add(heading.iter().map(|&text| text.to_owned()).collect());
    let listed = for_each(&args.paths, |input| listing.add_path(input));
    if args.json {
        json::print(&listing.values.into())?;
    } else {
        let style = Style::stdout();
        listing.table.write(&mut crate::io::stdout(), |heading| style.faint(heading))?;
    }
    listed
}

impl Listing {
    fn add_path(&mut self, input: &Input) -> Outcome {
        if let Some(target) = store::target_of(input).filter(|_| !self.args.chunks) {
            for row in store::rows(&target, self.args.recursive)? {
                self.add_object(row);
            }
            return Ok(());
        }
        match convert::detect(input.path()) {
            Ok(found) => self
                .add(input.path(), input.name(), &found)
                .map_err(|failure| failure.at(input.name())),
            Err(convert::Error::Unknown) if input.path().is_dir() => self.add_folder(input.path()),
            Err(error) => Err(input.error(error)),
        }
    }

    /// Adds the files of known formats in a directory, sorted by name. Unreadable ones are listed,
    /// too.
    fn add_folder(&mut self, folder: &Path) -> Outcome {
        let paths = std::fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        let mut paths: Vec<PathBuf> =
            paths.map_err(|error| named(error, ferroblosc::Error::FileRead, "read", folder))?;
        paths.sort();
        for path in paths {
            let shown = path.strip_prefix(".").unwrap_or(&path);
            if let Some(target) = store::target(shown).filter(|_| !self.args.chunks)
                && let Ok(row) = store::row(&target)
            {
                self.add_object(row);
                if self.args.recursive {
                    self.depth += 1;
                    let rows = store::rows(&target, true);
                    rows.unwrap_or_default().into_iter().for_each(|row| self.add_object(row));
                    self.depth -= 1;
                }
                continue;
            }
            match convert::detect(&path) {
                Ok(found) => match self.add(&path, shown, &found) {
                    Err(Failure::Error { text, .. }) => self.add_broken(shown, &found, &text),
                    added => added?,
                },
                // Links to directories may form circles.
                Err(_) if self.args.recursive && path.is_dir() && !path.is_symlink() => {
                    self.add_subfolder(&path, shown)?;
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Adds the files below a directory. One that cannot be read is reported and skipped.
    fn add_subfolder(&mut self, path: &Path, shown: &Path) -> Outcome {
        let before = self.table.len();
        if self.args.tree {
            let dash = || "-".to_owned();
            let name = self.label(&shown.display().to_string());
            let mut cells = vec!["directory".to_owned(), dash(), dash(), dash(), dash()];
            if self.args.chunks {
                cells.push(dash());
            }
            cells.push(name);
            self.table.add(cells);
        }
        self.depth += 1;
        let added = self.add_folder(path);
        self.depth -= 1;
        if self.args.tree && self.table.len() == before + 1 {
            self.table.truncate(before);
        }
        match added {
            Err(Failure::Error { text, .. }) => {
                error::warn(&text);
                Ok(())
            }
            added => added,
        }
    }

    /// Returns the name of a row: in a tree, its last part.
    fn label(&self, name: &str) -> String {
        if !self.args.tree || self.depth == 0 {
            return name.to_owned();
        }
        let last = name.rsplit('/').next().unwrap_or(name);
        format!("{}{last}", "  ".repeat(self.depth))
    }

    /// Returns the name of the row of an object of a store: in a tree, the last part of its key.
    fn object_label(&self, name: &str) -> String {
        match name.rsplit_once(":/") {
            Some((_, key)) if self.args.tree && self.depth > 0 => {
                let depth = self.depth + key.matches('/').count();
                let last = key.rsplit('/').next().unwrap_or(key);
                format!("{}{last}", "  ".repeat(depth))
            }
            _ => self.label(name),
        }
    }

    /// Adds a store, or an object of a store.
    fn add_object(&mut self, row: Row) {
        if self.args.json {
            self.values.push(row.json);
            return;
        }
        let size = |size: Option<i64>| size.map(|size| size.max(0).unsigned_abs());
        let (nbytes, stored) = (size(row.sizes.0), size(row.sizes.1));
        let ratio = nbytes.zip(stored).and_then(|(nbytes, stored)| ratio(nbytes, stored));
        let shown = |size: Option<u64>| size.map_or("-".to_owned(), human);
        self.table.add(vec![
            row.class.to_owned(),
            shown(nbytes),
            shown(stored),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            row.content,
            self.object_label(&row.name),
        ]);
    }

    fn add_broken(&mut self, name: &Path, found: &Detected, reason: &str) {
        let shown = name.display().to_string();
        let format = found.format.name();
        if self.args.json {
            self.values.push(json!({"path": shown, "format": format, "error": reason}));
            return;
        }
        let dash = || "-".to_owned();
        let content = format!("unreadable: {reason}");
        let shown = self.label(&shown);
        self.table.add(if self.args.chunks {
            vec![dash(), dash(), dash(), dash(), format.to_owned(), content, shown]
        } else {
            vec![format.to_owned(), dash(), dash(), dash(), content, shown]
        });
    }

    fn add(&mut self, path: &Path, name: &Path, found: &Detected) -> Outcome {
        if self.args.chunks {
            return self.add_chunks(path, name, found);
        }
        let summary = convert::summarise(path, found)?;
        if self.args.json {
            self.values.push(json::summary(name, &summary));
        } else {
            self.add_row(&name.display().to_string(), &summary);
            for (column, summary) in &summary.columns {
                self.add_row(&format!("{}:{column}", name.display()), summary);
            }
        }
        Ok(())
    }

    fn add_row(&mut self, name: &str, summary: &Summary) {
        let ratio = ratio(summary.nbytes, summary.stored);
        let content = match (&summary.array, summary.columns.len()) {
            _ if summary.placeholder.is_some() => summary.placeholder.clone().unwrap_or_default(),
            _ if summary.fault.is_some() => {
                format!("unreadable: {}", summary.fault.as_deref().unwrap_or_default())
            }
            (Some(info), 0) => format!("{} {}", info.dtype.text(), tuple(&info.shape)),
            (Some(info), columns) => {
                format!("{}, {}", counted(info.shape[0], "row"), counted(columns, "column"))
            }
            (None, 1..) => counted(summary.columns.len(), "array"),
            (None, 0) => format!("items of {}", human(summary.typesize)),
        };
        self.table.add(vec![
            summary.found.format.name().to_owned(),
            human(summary.nbytes),
            human(summary.stored),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            content,
            self.label(name),
        ]);
    }

    fn add_chunks(&mut self, path: &Path, name: &Path, found: &Detected) -> Outcome {
        let shown = name.display().to_string();
        let label = self.label(&shown);
        let mut chunks = Vec::new();
        let listed = convert::each_chunk(path, found, &mut |chunk| {
            if self.args.json {
                chunks.push(json::chunk(&chunk));
            } else {
                self.table.add(vec![
                    chunk.number.to_string(),
                    chunk.position.map_or("-".to_owned(), |at| at.to_string()),
                    human(chunk.nbytes),
                    human(chunk.cbytes),
                    chunk.codec,
                    if chunk.filters.is_empty() { "-".to_owned() } else { chunk.filters.join(",") },
                    label.clone(),
                ]);
            }
            true
        });
        if self.args.json {
            let format = found.format.name();
            self.values.push(json!({"path": shown, "format": format, "chunks": chunks}));
        }
        Ok(listed?)
    }
}
