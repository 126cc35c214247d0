//! The drawing of the pages: a title, the page, and a line with the state or the keys.

use super::app::{App, Page, Prompt, Sheet};
use super::chunks::{Group, step};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum width of a column in characters.
const MAX_COLUMN: usize = 32;
/// The maximum width of a label of a row.
const MAX_LABEL: usize = 20;
/// The characters of the chunk map without colours, from low to high ratios.
const CHARACTERS: [char; 10] = ['.', ':', '-', '=', '+', 'x', 'o', '%', '#', '@'];
/// The colours of the chunk map (of 256), from low to high ratios: red to green.
const COLOURS: [u8; 10] = [160, 166, 172, 178, 184, 148, 112, 76, 40, 34];

/// The keys, for the help.
pub const HELP: &str = "\
Pages
  Enter          open a group, show the data of an entry
  d, m, c        data, metadata, chunk map
  Tab            next of these pages
  Esc            back to the tree; in the tree, close the group
  ?              this help
  q, Ctrl-C      quit

Movement
  arrows, hjkl   one step; in the tree, Right opens and Left closes
  PgUp, PgDn     one page; also Space
  Home, End      first and last row
  0, $           first and last column
  /, n           search a text, search again
  g              go to indices: ROW, ROW,COLUMN, or one for each dimension;
                 for bytes, to an offset; in the chunk map, to a chunk

Slices of arrays with three or more dimensions
  [, ]           select the dimension whose index changes
  <, >, {, }     change its index by 1, by 10
  r, s           show another dimension in the rows, in the columns
  t              exchange rows and columns

In the line of the slice, ↓ is the dimension of the rows, → that of the columns.
Only the visible items are decoded. Items that cannot be read are shown as '!',
with the reason below.
Chunk map: each cell is a chunk, or a group of chunks; its ratio is the size of
the data divided by the compressed size.";

/// The styles.
#[derive(Clone, Copy)]
pub struct Theme {
    /// Whether colours are used.
    pub has_colours: bool,
}

impl Theme {
    fn coloured(self, style: Style, colour: Color) -> Style {
        if self.has_colours { style.fg(colour) } else { style }
    }

    fn title(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn error(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Red)
    }

    fn heading(self) -> Style {
        self.coloured(Style::new().add_modifier(Modifier::BOLD), Color::Cyan)
    }
}

/// Draws a line of text, cut at the right edge.
fn line(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    if area.height > 0 && area.width > 0 {
        buffer.set_stringn(area.x, area.y, text, area.width.into(), style);
    }
}

/// Draws a line over the whole width.
fn bar(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    if area.height > 0 {
        buffer.set_style(Rect { height: 1, ..area }, style);
        line(buffer, area, text, style);
    }
}

/// Returns a text of at most `width` columns; the end of a longer one becomes `…`.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// Returns a row of an area.
fn row(area: Rect, number: usize) -> Rect {
    let y = area.y.saturating_add(u16::try_from(number).unwrap_or(u16::MAX));
    if y >= area.bottom() { Rect { height: 0, ..area } } else { Rect { y, height: 1, ..area } }
}

/// Draws the viewer.
pub fn draw(frame: &mut Frame<'_>, app: &mut App, theme: Theme) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.height < 3 || area.width < 8 {
        line(buffer, area, "too small", Style::new());
        return;
    }
    let page = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let bottom = row(area, usize::from(area.height) - 1);
    app.height = usize::from(page.height);
    let (title, state) = match app.page {
        Page::Tree => (tree_title(app), tree(buffer, page, app, theme)),
        Page::Data => {
            let title = app.sheet.as_ref().map_or(String::new(), |sheet| sheet.grid.title());
            let title = format!("{}  {title}", app.name);
            (title, data(buffer, page, app, theme))
        }
        Page::Metadata => {
            let lines = app.lines.take().unwrap_or_default();
            let state = text(buffer, page, &lines, &mut app.scroll);
            app.lines = Some(lines);
            (format!("{}  metadata", app.name), state)
        }
        Page::Chunks => (format!("{}  chunk map", app.name), chunks(buffer, page, app, theme)),
        Page::Help => {
            let lines: Vec<String> = HELP.lines().map(str::to_owned).collect();
            ("b2 view: keys".to_owned(), text(buffer, page, &lines, &mut app.scroll))
        }
    };
    bar(buffer, area, &cut(&format!(" {title}"), area.width.into()), theme.title());
    let prompt = match app.prompt {
        Some(Prompt::GoTo) => Some("go to: "),
        Some(Prompt::Search) => Some("search: "),
        None => None,
    };
    if let Some(prompt) = prompt {
        let room = usize::from(area.width).saturating_sub(prompt.len() + 1);
        // The end of a long input is visible.
        let skip = app.input.chars().count().saturating_sub(room);
        let shown: String = app.input.chars().skip(skip).collect();
        bar(buffer, bottom, &format!("{prompt}{shown}_"), Style::new());
    } else if let Some(message) = &app.message {
        line(buffer, bottom, &cut(message, area.width.into()), theme.error());
    } else {
        match state {
            State::Text(text) => {
                line(buffer, bottom, &cut(&text, area.width.into()), theme.faint());
            }
            State::Error(text) => {
                line(buffer, bottom, &cut(&text, area.width.into()), theme.error());
            }
        }
    }
}

/// The last line.
enum State {
    Text(String),
    Error(String),
}

fn tree_title(app: &App) -> String {
    let root = &app.tree.entries[0].name;
    format!("b2 view  {root}")
}

fn tree(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme) -> State {
    let height = usize::from(area.height);
    app.tree.prepare(height);
    let width = usize::from(area.width);
    let visible = app.tree.entries.iter().enumerate().skip(app.tree.top).take(height);
    for (number, (index, entry)) in visible.enumerate() {
        let area = row(area, number);
        let mark = match (entry.is_group, entry.is_open) {
            (true, true) => "- ",
            (true, false) => "+ ",
            (false, _) => "  ",
        };
        // Deep entries are still visible in a narrow terminal.
        let indent = (2 * entry.depth).min(width / 3);
        let detail = entry.detail.as_deref().unwrap_or_default();
        let name_width = (width * 3 / 5).max(width.saturating_sub(detail.width() + 1));
        let name = format!("{}{mark}{}", " ".repeat(indent), entry.name);
        let name = cut(&name, name_width);
        let style = if index == app.tree.cursor { theme.selected() } else { Style::new() };
        bar(buffer, area, &name, style);
        let detail = cut(detail, width.saturating_sub(name.width() + 2));
        let x = area.right().saturating_sub(u16::try_from(detail.width()).unwrap_or(u16::MAX));
        let is_bad = detail.starts_with("unreadable");
        let shown = if is_bad { theme.error() } else { theme.faint() };
        let shown = if index == app.tree.cursor { style } else { shown };
        line(buffer, Rect { x, width: area.right() - x, ..area }, &detail, shown);
    }
    State::Text("Enter open  d data  m metadata  c chunks  / search  ? help  q quit".to_owned())
}

/// Draws a text from the line and the column of `scroll`, which is limited to the text.
fn text(buffer: &mut Buffer, area: Rect, lines: &[String], scroll: &mut (usize, usize)) -> State {
    let height = usize::from(area.height);
    let widest = lines.iter().map(|line| line.width()).max().unwrap_or(0);
    scroll.0 = scroll.0.min(lines.len().saturating_sub(height));
    scroll.1 = scroll.1.min(widest.saturating_sub(usize::from(area.width)));
    for (number, text) in lines.iter().skip(scroll.0).take(height).enumerate() {
        let shown: String = text.chars().skip(scroll.1).collect();
        line(buffer, row(area, number), &cut(&shown, area.width.into()), Style::new());
    }
    let last = lines.len().min(scroll.0 + height);
    State::Text(format!("lines {}–{last} of {}  Esc back  ? help", scroll.0 + 1, lines.len()))
}

/// The columns of a table that are visible, with their widths.
fn visible_columns(sheet: &mut Sheet, rows: u64, width: usize) -> Vec<(u64, usize)> {
    let ncolumns = sheet.grid.ncolumns();
    let rows = sheet.top..(sheet.top + rows).min(sheet.grid.nrows());
    // Each column has at least one character and two blanks.
    let most = sheet.left.saturating_add(width.div_ceil(3) as u64).min(ncolumns);
    let columns = sheet.left..most;
    let headings: Vec<usize> =
        columns.clone().map(|column| sheet.grid.heading(column).width()).collect();
    let cells = sheet.cells(rows, columns.clone());
    let mut visible = Vec::new();
    let mut used = 0;
    for (number, column) in columns.enumerate() {
        let widths = cells.iter().map(|row| row[number].as_ref().map_or(1, |cell| cell.width()));
        let wide = widths.chain([headings[number], 1]).max().unwrap_or(1);
        let limit = if ncolumns <= 2 { width.max(1) } else { MAX_COLUMN };
        let wide = wide.min(limit);
        if used + 2 + wide > width && !visible.is_empty() {
            break;
        }
        visible.push((column, wide.min(width.saturating_sub(used + 2)).max(1)));
        used += 2 + wide;
    }
    visible
}

fn data(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme) -> State {
    let Some(sheet) = &mut app.sheet else {
        return State::Text(String::new());
    };
    let has_slice = sheet.grid.ndim() > 2;
    let heads = if has_slice { 2 } else { 1 };
    let height = usize::from(area.height).saturating_sub(heads);
    app.height = height;
    let (nrows, ncolumns) = (sheet.grid.nrows(), sheet.grid.ncolumns());
    if has_slice {
        let slice = sheet.grid.slice_text(sheet.marked);
        let text = format!("slice {slice}   [ ] dimension  < > index  r s t axes");
        line(buffer, area, &cut(&text, area.width.into()), theme.faint());
    }
    if nrows == 0 || ncolumns == 0 {
        line(buffer, row(area, heads), "no items", theme.faint());
        return State::Text("no items  Esc back  ? help".to_owned());
    }
    let rows = height.max(1) as u64;
    sheet.top = sheet.top.min(sheet.row).max((sheet.row + 1).saturating_sub(rows));
    // A larger page shows rows before the first one, instead of nothing after the last one.
    sheet.top = sheet.top.min(nrows.saturating_sub(rows));
    sheet.left = sheet.left.min(sheet.column);
    let last_row = (sheet.top + rows).min(nrows) - 1;
    let label = sheet.grid.label(last_row).width().min(MAX_LABEL);
    let width = usize::from(area.width).saturating_sub(label);
    let mut visible = visible_columns(sheet, rows, width);
    // Scrolls to the column of the cursor.
    while visible.last().is_some_and(|&(last, _)| last < sheet.column) {
        let missing = sheet.column - visible.last().map_or(0, |&(last, _)| last);
        sheet.left = (sheet.left + missing).min(sheet.column);
        visible = visible_columns(sheet, rows, width);
    }
    let columns = sheet.left..sheet.left.saturating_add(width.div_ceil(3) as u64).min(ncolumns);
    let (cursor_row, cursor_column, top) = (sheet.row, sheet.column, sheet.top);
    let headings: Vec<String> =
        visible.iter().map(|&(column, _)| sheet.grid.heading(column)).collect();
    let labels: Vec<String> = (top..=last_row).map(|row| sheet.grid.label(row)).collect();
    let cells = sheet.cells(top..last_row + 1, columns);
    let mut state = None;
    let mut x = area.x + u16::try_from(label).unwrap_or(0);
    for (number, text) in labels.iter().enumerate() {
        let text = format!("{:>label$}", cut(text, label));
        line(buffer, row(area, heads + number), &text, theme.faint());
    }
    for (number, (&(column, wide), heading)) in visible.iter().zip(&headings).enumerate() {
        let place = |row: Rect| Rect { x: x + 2, width: row.right().saturating_sub(x + 2), ..row };
        let aligned = |text: &str, is_left: bool| {
            let text = cut(text, wide);
            let blanks = " ".repeat(wide.saturating_sub(text.width()));
            if is_left { text + &blanks } else { blanks + &text }
        };
        line(buffer, place(row(area, heads - 1)), &aligned(heading, false), theme.heading());
        for (at, cells) in cells.iter().enumerate() {
            let is_selected = top + at as u64 == cursor_row && column == cursor_column;
            let (text, style) = match &cells[number] {
                // Numbers are aligned to the right.
                Ok(text) => {
                    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                    (aligned(text, !is_number), Style::new())
                }
                Err(_) => (aligned("!", false), theme.error()),
            };
            let style = if is_selected { style.patch(theme.selected()) } else { style };
            line(buffer, place(row(area, heads + at)), &text, style);
            if is_selected {
                let index = format!("row {cursor_row} of {nrows}, column {heading}");
                state = Some(match &cells[number] {
                    Ok(text) => State::Text(format!("{index}: {text}")),
                    Err(reason) => State::Error(format!("{index}: {reason}")),
                });
            }
        }
        x = x.saturating_add(2 + u16::try_from(wide).unwrap_or(0));
    }
    state.unwrap_or_else(|| State::Text(String::new()))
}

fn chunks(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme) -> State {
    const HEADS: usize = 2;
    let height = usize::from(area.height).saturating_sub(HEADS).max(1);
    app.height = height;
    app.map_width = usize::from(area.width);
    let most = app.map_cells();
    let Some(map) = &app.map else {
        return State::Text(String::new());
    };
    let groups = map.groups(most);
    app.cell = app.cell.min(groups.len().saturating_sub(1));
    let Some(current) = groups.get(app.cell) else {
        let text = map.note.clone().unwrap_or_else(|| "the format has no chunks".to_owned());
        line(buffer, area, &text, theme.faint());
        return State::Text("Esc back  ? help".to_owned());
    };
    let sum = |size: fn(&Group) -> u64| groups.iter().map(size).sum::<u64>();
    let total = Group {
        first: groups[0].first,
        last: groups[groups.len() - 1].last,
        nbytes: sum(|group| group.nbytes),
        cbytes: sum(|group| group.cbytes),
    };
    let mut text = total.text();
    if let Some(note) = &map.note {
        text = format!("{note}; {text}");
    }
    line(buffer, area, &cut(&text, area.width.into()), theme.faint());
    legend(buffer, row(area, 1), theme);
    for (number, group) in groups.iter().enumerate() {
        let (y, x) = (number / app.map_width, number % app.map_width);
        let Some(place) = buffer.cell_mut((
            area.x + u16::try_from(x).unwrap_or(0),
            area.y + u16::try_from(y + HEADS).unwrap_or(u16::MAX),
        )) else {
            continue;
        };
        let at = step(group.ratio(), CHARACTERS.len());
        place.set_char(CHARACTERS[at]);
        place.set_style(map_style(at, theme));
        if number == app.cell {
            place.set_style(theme.selected());
        }
    }
    State::Text(format!("{}  g go to  Esc back", current.text()))
}

fn map_style(at: usize, theme: Theme) -> Style {
    if theme.has_colours {
        Style::new().fg(Color::Black).bg(Color::Indexed(COLOURS[at]))
    } else {
        Style::new()
    }
}

/// Draws the steps of the ratios.
fn legend(buffer: &mut Buffer, area: Rect, theme: Theme) {
    line(buffer, area, "ratio 1 ", Style::new());
    for (at, character) in CHARACTERS.iter().enumerate() {
        let x = area.x + 8 + u16::try_from(at).unwrap_or(0);
        if x < area.right() {
            buffer.set_stringn(x, area.y, character.to_string(), 1, map_style(at, theme));
        }
    }
    let rest = Rect { x: area.x + 19, width: area.width.saturating_sub(19), ..area };
    line(buffer, rest, "100 and more", Style::new());
}
