//! The state of the viewer and the keys that change it. Nothing here depends on the terminal.

use super::chunks::ChunkMap;
use super::grid::{Cells, Grid};
use super::tree::{Location, Tree, column_path, metadata, text_of};
use crate::error::Failure;
use crate::store;
use ferroblosc::escape::{escape, is_active};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time after which a search in cells stops.
const SEARCH_TIME: Duration = Duration::from_secs(1);
/// The number of rows that a search reads at once, and its maximum number of columns.
const SEARCH_ROWS: u64 = 64;
const SEARCH_COLUMNS: u64 = 64;
/// The maximum length of an input in characters.
const MAX_INPUT: usize = 200;

/// A page of the viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Tree,
    Data,
    Metadata,
    Chunks,
    Help,
}

/// An input line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompt {
    GoTo,
    Search,
}

/// The displayed part of the data of an entry.
pub struct Sheet {
    pub grid: Grid,
    pub row: u64,
    pub column: u64,
    pub top: u64,
    pub left: u64,
    /// The fixed dimension that `<` and `>` change.
    pub marked: Option<usize>,
    /// The cells that were read last, with their ranges. A change of the slice removes them.
    cache: Option<(Range<u64>, Range<u64>, Cells)>,
}

impl Sheet {
    fn new(grid: Grid) -> Sheet {
        let marked = grid.next_fixed(None, true);
        Sheet { grid, row: 0, column: 0, top: 0, left: 0, marked, cache: None }
    }

    /// Returns the cells of ranges, which must be in bounds.
    pub fn cells(&mut self, rows: Range<u64>, columns: Range<u64>) -> &Cells {
        let is_known =
            self.cache.as_ref().is_some_and(|cache| (&cache.0, &cache.1) == (&rows, &columns));
        if !is_known {
            self.cache = None;
        }
        let read = || (rows.clone(), columns.clone(), self.grid.cells(rows, columns));
        &self.cache.get_or_insert_with(read).2
    }

    fn step(&mut self, rows: i64, columns: i64) {
        let last_row = self.grid.nrows().saturating_sub(1);
        let last_column = self.grid.ncolumns().saturating_sub(1);
        self.row = self.row.saturating_add_signed(rows).min(last_row);
        self.column = self.column.saturating_add_signed(columns).min(last_column);
    }

    /// Changes the slice. The cursor stays in bounds.
    fn change(&mut self, change: impl FnOnce(&mut Grid)) {
        change(&mut self.grid);
        self.cache = None;
        if self.marked.is_none_or(|dim| !self.grid.is_fixed(dim)) {
            self.marked = self.grid.next_fixed(self.marked, true);
        }
        self.step(0, 0);
    }

    /// Moves the cursor to the next row with a cell that contains a text. Returns the result as a
    /// message, if there is no such row.
    fn find(&mut self, text: &str) -> Option<String> {
        let text = text.to_lowercase();
        let deadline = Instant::now() + SEARCH_TIME;
        let columns = self.left..self.grid.ncolumns().min(self.left + SEARCH_COLUMNS);
        let nrows = self.grid.nrows();
        let mut start = self.row + 1;
        while start < nrows {
            let stop = nrows.min(start + SEARCH_ROWS);
            let cells = self.grid.cells(start..stop, columns.clone());
            for (row, cells) in (start..).zip(&cells) {
                let contains = |cell: &Result<String, String>| {
                    cell.as_ref().is_ok_and(|cell| cell.to_lowercase().contains(&text))
                };
                if let Some(column) = cells.iter().position(contains) {
                    self.row = row;
                    self.column = self.left + column as u64;
                    return None;
                }
            }
            start = stop;
            if Instant::now() > deadline && start < nrows {
                self.row = start - 1;
                return Some(format!("not found up to row {}; 'n' continues", start - 1));
            }
        }
        Some(format!("not found in the rows from {}", self.row + 1))
    }
}

/// The state of the viewer.
pub struct App {
    pub tree: Tree,
    pub page: Page,
    /// The page before the help.
    before_help: Page,
    /// The entry of the pages except the tree, with its name.
    pub location: Location,
    pub name: String,
    pub sheet: Option<Sheet>,
    pub lines: Option<Vec<String>>,
    pub map: Option<ChunkMap>,
    /// The first displayed line and column of texts.
    pub scroll: (usize, usize),
    /// The selected cell of the chunk map.
    pub cell: usize,
    pub prompt: Option<Prompt>,
    pub input: String,
    searched: String,
    pub message: Option<String>,
    /// The height of the page, and the width of the chunk map, which the last drawing set.
    pub height: usize,
    pub map_width: usize,
    pub is_done: bool,
    nthreads: usize,
}

impl App {
    /// Opens a path: a group as a tree, data as a table.
    pub fn new(path: &Path, nthreads: usize) -> Result<App, Failure> {
        let tree = Tree::new(path)?;
        let location = tree.entries[0].location.clone();
        let name = tree.entries[0].name.clone();
        let mut app = App {
            tree,
            page: Page::Tree,
            before_help: Page::Tree,
            location,
            name,
            sheet: None,
            lines: None,
            map: None,
            scroll: (0, 0),
            cell: 0,
            prompt: None,
            input: String::new(),
            searched: String::new(),
            message: None,
            height: 1,
            map_width: 1,
            is_done: false,
            nthreads,
        };
        if !app.tree.current().is_group {
            app.enter();
        }
        Ok(app)
    }

    /// Opens the entry at the cursor of the tree.
    fn enter(&mut self) {
        self.select();
        if self.tree.current().has_items {
            self.show(Page::Data);
        } else if self.tree.current().is_group {
            let opened = if self.tree.current().is_open {
                self.tree.close();
                Ok(())
            } else {
                self.tree.open()
            };
            self.message = opened.err().map(|failure| escape(&text_of(failure)).into_owned());
        } else {
            self.show(Page::Metadata);
        }
    }

    /// Makes the entry at the cursor of the tree that of the other pages.
    fn select(&mut self) {
        let entry = self.tree.current();
        if self.location != entry.location {
            self.location = entry.location.clone();
            self.name.clone_from(&entry.name);
            self.sheet = None;
            self.lines = None;
            self.map = None;
            self.cell = 0;
        }
    }

    fn open_grid(&self) -> Result<Grid, Failure> {
        match &self.location {
            Location::Path(path) => match store::target(path) {
                Some(target) => Grid::open_object(target.path(), target.key()),
                None => Grid::open(path, None, self.nthreads),
            },
            Location::Column(table, name) => Grid::open(table, Some(name), self.nthreads),
            Location::Object(path, key) => Grid::open_object(path, key),
            Location::Keys(..) | Location::Note => Err(Failure::new("a group has no items")),
        }
    }

    fn chunk_map(&self) -> ChunkMap {
        match &self.location {
            Location::Path(path) => match store::target(path) {
                Some(target) => ChunkMap::of_object(target.path(), target.key()),
                None => ChunkMap::of_file(path),
            },
            Location::Column(table, name) => match column_path(table, name) {
                Ok(path) => ChunkMap::of_file(&path),
                Err(failure) => {
                    let note = Some(escape(&text_of(failure)).into_owned());
                    ChunkMap { chunks: Vec::new(), note }
                }
            },
            Location::Object(path, key) => ChunkMap::of_object(path, key),
            Location::Keys(..) | Location::Note => ChunkMap { chunks: Vec::new(), note: None },
        }
    }

    /// Shows a page of the selected entry. If it cannot be read, the page stays the same.
    fn show(&mut self, page: Page) {
        match page {
            Page::Data if self.sheet.is_none() => match self.open_grid() {
                Ok(grid) => self.sheet = Some(Sheet::new(grid)),
                Err(failure) => {
                    self.message = Some(escape(&text_of(failure)).into_owned());
                    return;
                }
            },
            Page::Metadata if self.lines.is_none() => self.lines = Some(metadata(&self.location)),
            Page::Chunks if self.map.is_none() => self.map = Some(self.chunk_map()),
            _ => {}
        }
        if page == Page::Help {
            self.before_help = self.page;
        }
        self.scroll = (0, 0);
        self.page = page;
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent) {
        if self.prompt.is_some() {
            self.edit(key.code);
            return;
        }
        self.message = None;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => self.is_done = true,
            KeyCode::Char('q') => self.is_done = true,
            KeyCode::Esc | KeyCode::Backspace => match self.page {
                Page::Tree => self.tree.close(),
                Page::Help => self.page = self.before_help,
                _ => self.page = Page::Tree,
            },
            KeyCode::Char('?') | KeyCode::F(1) if self.page != Page::Help => self.show(Page::Help),
            KeyCode::Char('?') | KeyCode::F(1) => self.page = self.before_help,
            _ if self.page == Page::Help => self.scroll_key(key.code, is_control),
            KeyCode::Char(c @ ('d' | 'm' | 'c')) if !is_control => {
                if self.page == Page::Tree {
                    self.select();
                }
                self.show(match c {
                    'd' => Page::Data,
                    'm' => Page::Metadata,
                    _ => Page::Chunks,
                });
            }
            KeyCode::Tab => {
                if self.page == Page::Tree {
                    self.select();
                }
                self.show(match self.page {
                    Page::Data => Page::Metadata,
                    Page::Metadata => Page::Chunks,
                    _ => Page::Data,
                });
            }
            KeyCode::Char('/') => self.ask(Prompt::Search),
            KeyCode::Char('n') if !self.searched.is_empty() => self.search(),
            KeyCode::Char('g') if matches!(self.page, Page::Data | Page::Chunks) => {
                self.ask(Prompt::GoTo);
            }
            code => match self.page {
                Page::Tree => self.tree_key(code, is_control),
                Page::Data => self.data_key(code, is_control),
                Page::Chunks => self.chunks_key(code, is_control),
                Page::Metadata | Page::Help => self.scroll_key(code, is_control),
            },
        }
    }

    fn ask(&mut self, prompt: Prompt) {
        self.input.clear();
        self.prompt = Some(prompt);
    }

    /// Adds text to the input line.
    pub fn paste(&mut self, text: &str) {
        if self.prompt.is_some() {
            let room = MAX_INPUT.saturating_sub(self.input.chars().count());
            self.input.extend(text.chars().filter(|&c| !is_active(c)).take(room));
        }
    }

    fn edit(&mut self, code: KeyCode) {
        match code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Backspace if self.input.is_empty() => self.prompt = None,
            KeyCode::Backspace => {
                self.input.pop();
            }
            KeyCode::Char(c) => self.paste(&c.to_string()),
            KeyCode::Enter => {
                let prompt = self.prompt.take();
                self.message = None;
                match prompt {
                    Some(Prompt::Search) if !self.input.is_empty() => {
                        self.searched.clone_from(&self.input);
                        self.search();
                    }
                    Some(Prompt::GoTo) => self.go_to(),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn search(&mut self) {
        let text = self.searched.clone();
        let shown = escape(&text);
        let not_found = || Some(format!("'{shown}' was not found"));
        self.message = match self.page {
            Page::Tree if self.tree.find(&text) => None,
            Page::Data => self.sheet.as_mut().and_then(|sheet| sheet.find(&text)),
            Page::Metadata => {
                let lower = text.to_lowercase();
                let lines = self.lines.as_deref().unwrap_or_default();
                let mut later = (self.scroll.0 + 1..lines.len()).chain(0..self.scroll.0 + 1);
                let found = later.find(|&at| {
                    lines.get(at).is_some_and(|line| line.to_lowercase().contains(&lower))
                });
                match found {
                    Some(at) => {
                        self.scroll.0 = at;
                        None
                    }
                    None => not_found(),
                }
            }
            _ => not_found(),
        };
    }

    fn go_to(&mut self) {
        let parsed: Result<Vec<u64>, _> =
            self.input.split([',', ' ']).filter(|text| !text.is_empty()).map(str::parse).collect();
        let shown = escape(&self.input).into_owned();
        let Ok(indices) = parsed else {
            self.message = Some(format!("'{shown}': indices are numbers, separated by commas"));
            return;
        };
        let out_of_range = Some(format!("'{shown}' is not an index of the data"));
        match self.page {
            Page::Data => {
                let Some(sheet) = &mut self.sheet else {
                    return;
                };
                let mut found = None;
                sheet.change(|grid| found = grid.go_to(&indices));
                match found {
                    Some((row, column)) => (sheet.row, sheet.column) = (row, column),
                    None => self.message = out_of_range,
                }
            }
            _ => {
                let map = self.map.as_ref().map(|map| map.groups(self.map_cells()));
                let holds = |first: u64, last: u64| matches!(*indices, [number] if (first..=last).contains(&number));
                let mut groups = map.iter().flatten();
                match groups.position(|group| holds(group.first, group.last)) {
                    Some(cell) => self.cell = cell,
                    None => self.message = out_of_range,
                }
            }
        }
    }

    fn tree_key(&mut self, code: KeyCode, is_control: bool) {
        match code {
            KeyCode::Enter => self.enter(),
            KeyCode::Right | KeyCode::Char('l' | '+') => {
                let opened = self.tree.open();
                self.message = opened.err().map(|failure| escape(&text_of(failure)).into_owned());
            }
            KeyCode::Left | KeyCode::Char('h' | '-') => self.tree.close(),
            code => {
                if let Some(by) = self.vertical(code, is_control) {
                    self.tree.step(by);
                }
            }
        }
    }

    /// Returns the number of rows by which a key moves.
    fn vertical(&self, code: KeyCode, is_control: bool) -> Option<i64> {
        let page = self.height.max(1) as i64;
        Some(match code {
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::PageUp => -page,
            KeyCode::PageDown | KeyCode::Char(' ') => page,
            KeyCode::Char('b') if is_control => -page,
            KeyCode::Char('f') if is_control => page,
            KeyCode::Home => i64::MIN,
            KeyCode::End | KeyCode::Char('G') => i64::MAX,
            _ => return None,
        })
    }

    fn data_key(&mut self, code: KeyCode, is_control: bool) {
        let vertical = self.vertical(code, is_control);
        let Some(sheet) = &mut self.sheet else {
            return;
        };
        match code {
            KeyCode::Left | KeyCode::Char('h') => sheet.step(0, -1),
            KeyCode::Right | KeyCode::Char('l') => sheet.step(0, 1),
            KeyCode::Char('0' | '^') => sheet.step(0, i64::MIN),
            KeyCode::Char('$') => sheet.step(0, i64::MAX),
            KeyCode::Char('[') => sheet.marked = sheet.grid.next_fixed(sheet.marked, false),
            KeyCode::Char(']') => sheet.marked = sheet.grid.next_fixed(sheet.marked, true),
            KeyCode::Char(c @ ('<' | '>' | '-' | '+' | '{' | '}')) => {
                let by = match c {
                    '<' | '-' => -1,
                    '{' => -10,
                    '}' => 10,
                    _ => 1,
                };
                if let Some(dim) = sheet.marked {
                    sheet.change(|grid| grid.shift(dim, by));
                }
            }
            KeyCode::Char('t') => sheet.change(Grid::transpose),
            KeyCode::Char('r') => sheet.change(|grid| grid.rotate(true)),
            KeyCode::Char('s') => sheet.change(|grid| grid.rotate(false)),
            _ => {
                if let Some(by) = vertical {
                    sheet.step(by, 0);
                }
            }
        }
    }

    /// Returns the number of cells of the chunk map.
    pub fn map_cells(&self) -> usize {
        (self.map_width * self.height).max(1)
    }

    fn chunks_key(&mut self, code: KeyCode, is_control: bool) {
        let width = self.map_width.max(1) as i64;
        let by = match code {
            KeyCode::Left | KeyCode::Char('h') => -1,
            KeyCode::Right | KeyCode::Char('l') => 1,
            code => match self.vertical(code, is_control) {
                Some(rows) => rows.saturating_mul(width),
                None => return,
            },
        };
        let count = self.map.as_ref().map_or(0, |map| map.groups(self.map_cells()).len());
        let by = isize::try_from(by).unwrap_or(if by < 0 { isize::MIN } else { isize::MAX });
        self.cell = self.cell.saturating_add_signed(by).min(count.saturating_sub(1));
    }

    fn scroll_key(&mut self, code: KeyCode, is_control: bool) {
        match code {
            KeyCode::Left | KeyCode::Char('h') => self.scroll.1 = self.scroll.1.saturating_sub(8),
            KeyCode::Right | KeyCode::Char('l') => self.scroll.1 += 8,
            code => {
                if let Some(by) = self.vertical(code, is_control) {
                    let by =
                        isize::try_from(by).unwrap_or(if by < 0 { isize::MIN } else { isize::MAX });
                    self.scroll.0 = self.scroll.0.saturating_add_signed(by);
                }
            }
        }
    }
}
