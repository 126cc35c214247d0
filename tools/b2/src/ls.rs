//! `ls`.

use crate::cli::LsArgs;
use crate::error::{Failure, Outcome};
use crate::info::for_each;
use crate::io::Input;
use crate::json::{self, ratio};
use crate::store::{self, Row};
use crate::style::Style;
use crate::table::{Alignment, Table, tuple};
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{self, Detected, Summary};
use ferroblosc_tools_common::size::human;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The rows of a listing.
struct Listing {
    args: LsOptions,
    table: Table,
    values: Vec<Json>,
}

#[derive(Clone, Copy)]
struct LsOptions {
    chunks: bool,
    recursive: bool,
    json: bool,
}

pub fn run(args: &LsArgs) -> Outcome {
    let options = LsOptions { chunks: args.chunks, recursive: args.recursive, json: args.json };
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
    let mut listing = Listing { args: options, table: Table::new(sides), values: Vec::new() };
    listing.table.add(heading.iter().map(|&text| text.to_owned()).collect());
    let listed = for_each(&args.paths, |input| listing.add_path(input));
    if args.json {
        json::print(&listing.values.into())?;
    } else {
        let style = Style::stdout();
        listing.table.write(&mut std::io::stdout().lock(), |heading| style.faint(heading))?;
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
                continue;
            }
            if let Ok(found) = convert::detect(&path)
                && let Err(failure) = self.add(&path, shown, &found)
            {
                match failure {
                    Failure::Error { text, .. } => self.add_broken(shown, &found, &text),
                    other => return Err(other),
                }
            }
        }
        Ok(())
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
            row.name,
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
            (Some(info), columns) => format!("{} rows, {columns} columns", info.shape[0]),
            (None, 1..) => format!("{} arrays", summary.columns.len()),
            (None, 0) => format!("items of {}", human(summary.typesize)),
        };
        self.table.add(vec![
            summary.found.format.name().to_owned(),
            human(summary.nbytes),
            human(summary.stored),
            ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            content,
            name.to_owned(),
        ]);
    }

    fn add_chunks(&mut self, path: &Path, name: &Path, found: &Detected) -> Outcome {
        let shown = name.display().to_string();
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
                    shown.clone(),
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
