//! `ls`.
//!
//! In a tree, a name is the last part of the path, indented by its depth.
//!
//! Chunks may be too many for the memory. As JSON, they are written as they are read. The width of
//! a column of the table depends on all rows: a file with many chunks is read twice, first for the
//! widths and then for the rows.

use crate::cli::LsArgs;
use crate::error::{self, Failure, Outcome};
use crate::info::for_each;
use crate::io::{Input, Stdout};
use crate::json::{self, ListWriter, ratio};
use crate::members;
use crate::plural::counted;
use crate::store::{self, Row, Target};
use crate::style::Style;
use crate::table::{Alignment, Table, short_dtype, tuple};
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{self, ChunkSummary, Detected, Summary};
use ferroblosc_tools_common::size::human;
use serde_json::json;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf, is_separator};

/// The size of the output buffer in bytes.
const BUFFER: usize = 64 << 10;
/// The maximum number of rows of chunks in memory.
const MAX_ROWS: usize = 10_000;

/// The rows of a listing.
struct Listing {
    args: LsOptions,
    table: Table,
    /// The output of the table.
    output: BufWriter<Stdout>,
    style: Style,
    /// The elements of the JSON list.
    json: Option<ListWriter<BufWriter<Stdout>>>,
    /// The number of directories around the current file, below the argument.
    depth: usize,
}

#[derive(Clone, Copy)]
struct LsOptions {
    chunks: bool,
    recursive: bool,
    tree: bool,
}

pub fn run(args: &LsArgs) -> Outcome {
    let options =
        LsOptions { chunks: args.chunks, recursive: args.recursive || args.tree, tree: args.tree };
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
    let buffered = || BufWriter::with_capacity(BUFFER, crate::io::stdout());
    let mut listing = Listing {
        args: options,
        table: Table::new(sides),
        output: buffered(),
        style: Style::stdout(),
        json: if args.json { Some(ListWriter::new(buffered())?) } else { None },
        depth: 0,
    };
    listing.table.add(heading.iter().map(|&text| text.to_owned()).collect());
    let listed = for_each(&args.paths, |input| listing.add_path(input));
    if matches!(listed, Err(Failure::BrokenPipe)) {
        return listed;
    }
    match listing.json.take() {
        Some(list) => list.finish()?,
        None => {
            listing.write_rows()?;
            listing.output.flush()?;
        }
    }
    listed
}

/// Returns the cells of a chunk of the file with this name.
fn cells_of(chunk: ChunkSummary, name: &str) -> Vec<String> {
    vec![
        chunk.number.to_string(),
        chunk.position.map_or("-".to_owned(), |at| at.to_string()),
        human(chunk.nbytes),
        human(chunk.cbytes),
        chunk.codec,
        if chunk.filters.is_empty() { "-".to_owned() } else { chunk.filters.join(",") },
        name.to_owned(),
    ]
}

impl Listing {
    /// Writes the rows of the table that are not written yet.
    fn write_rows(&mut self) -> io::Result<()> {
        let style = self.style;
        self.table.write(&mut self.output, |heading| style.faint(heading))
    }

    fn add_path(&mut self, input: &Input) -> Outcome {
        if let Some(target) = store::target_of(input).filter(|_| !self.args.chunks) {
            for row in store::rows(&target, self.args.recursive)? {
                self.add_object(row)?;
            }
            return Ok(());
        }
        match convert::detect(input.path()) {
            Ok(found) => self
                .add(input.path(), input.name(), &found)
                .map_err(|failure| failure.at(input.name())),
            Err(_) if store::target_of(input).is_some() => {
                let failure = Failure::new("the chunks of stores are not listed").at(input.name());
                let hint = "'b2 get' extracts an object, and 'b2 view' shows its chunks";
                Err(failure.with_hint(hint))
            }
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
            let mut fault = None;
            if let Some(target) = store::target(shown).filter(|_| !self.args.chunks) {
                match store::row(&target) {
                    Ok(row) => {
                        self.add_object(row)?;
                        if self.args.recursive {
                            self.add_objects(&target, shown)?;
                        }
                        continue;
                    }
                    Err(failure) => fault = Some(failure),
                }
            }
            match convert::detect(&path) {
                Ok(found) => match self.add(&path, shown, &found) {
                    Err(failure @ Failure::Error { .. }) => {
                        self.add_broken(shown, Some(found.format.name()), &failure)?;
                    }
                    added => added?,
                },
                // Links to directories may form circles.
                Err(_) if self.args.recursive && path.is_dir() && !path.is_symlink() => {
                    self.add_subfolder(&path, shown)?;
                }
                // A link without a target has no format, either.
                Err(convert::Error::Unknown) if fault.is_none() => {}
                Err(_) if !path.exists() => {}
                Err(error) => {
                    let format = members::is_store_name(&path).then_some("store");
                    self.add_broken(shown, format, &fault.unwrap_or_else(|| error.into()))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the objects of a store in a directory.
    fn add_objects(&mut self, target: &Target, shown: &Path) -> Outcome {
        self.depth += 1;
        let added = match store::rows(target, true) {
            Ok(rows) => rows.into_iter().try_for_each(|row| self.add_object(row)),
            Err(failure) => self.add_broken(shown, Some("store"), &failure),
        };
        self.depth -= 1;
        added
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
        let last = name.rsplit(is_separator).next().unwrap_or(name);
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
    fn add_object(&mut self, row: Row) -> Outcome {
        if let Some(list) = &mut self.json {
            return Ok(list.add(&row.json)?);
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
        Ok(())
    }

    /// Adds a file or directory that cannot be read, of an unknown format if it is `None`.
    fn add_broken(&mut self, name: &Path, format: Option<&str>, failure: &Failure) -> Outcome {
        let shown = name.display().to_string();
        let reason = match failure {
            Failure::Error { text, .. } => text.as_str(),
            Failure::Reported(_) | Failure::BrokenPipe => "",
        };
        let reason = reason.strip_prefix(&format!("{shown}: ")).unwrap_or(reason);
        if let Some(list) = &mut self.json {
            return Ok(list.add(&json!({"path": shown, "format": format, "error": reason}))?);
        }
        let dash = || "-".to_owned();
        let format = format.map_or_else(dash, str::to_owned);
        let content = format!("unreadable: {reason}");
        let shown = self.label(&shown);
        self.table.add(if self.args.chunks {
            vec![dash(), dash(), dash(), dash(), format, content, shown]
        } else {
            vec![format, dash(), dash(), dash(), content, shown]
        });
        Ok(())
    }

    fn add(&mut self, path: &Path, name: &Path, found: &Detected) -> Outcome {
        if self.args.chunks {
            return self.add_chunks(path, name, found);
        }
        let summary = convert::summarise(path, found)?;
        if let Some(list) = &mut self.json {
            list.add(&json::summary(name, &summary))?;
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
            (Some(info), 0) => {
                format!("{} {}", short_dtype(info.dtype.text()), tuple(&info.shape))
            }
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
        if let Some(list) = &mut self.json {
            return add_chunk_values(list, path, &shown, found);
        }
        let label = self.label(&shown);
        let before = self.table.len();
        let mut is_long = false;
        let listed = convert::each_chunk(path, found, &mut |chunk| {
            let cells = cells_of(chunk, &label);
            is_long |= self.table.unwritten() >= MAX_ROWS;
            if is_long {
                self.table.widen(&cells);
            } else {
                self.table.add(cells);
            }
            true
        });
        if !is_long {
            return Ok(listed?);
        }
        // The rows that were kept are among those that are read again.
        self.table.withdraw(before);
        let mut written = self.write_rows();
        let listed = convert::each_chunk(path, found, &mut |chunk| {
            self.table.add(cells_of(chunk, &label));
            if written.is_ok() {
                written = self.write_rows();
            }
            written.is_ok()
        });
        written?;
        Ok(listed?)
    }
}

/// Writes the object of a file with its chunks. The chunks before an unreadable one are listed.
fn add_chunk_values(
    list: &mut ListWriter<impl Write>,
    path: &Path,
    name: &str,
    found: &Detected,
) -> Outcome {
    let fields = [("path", name.into()), ("format", found.format.name().into())];
    list.begin_object(&fields, "chunks")?;
    let mut written = Ok(());
    let listed = convert::each_chunk(path, found, &mut |chunk| {
        written = list.add(&json::chunk(&chunk));
        written.is_ok()
    });
    written?;
    list.end_object()?;
    Ok(listed?)
}
