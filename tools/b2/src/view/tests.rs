//! Pages drawn on a terminal in memory.

use super::app::{App, Page};
use super::screen::{Theme, draw};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, npy_header};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A viewer on a terminal in memory.
struct Viewer {
    app: App,
    terminal: Terminal<TestBackend>,
    theme: Theme,
}

impl Viewer {
    fn new(path: &Path, width: u16, height: u16) -> Viewer {
        let app = App::new(path, 1).unwrap();
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut viewer = Viewer { app, terminal, theme: Theme { has_colours: false } };
        viewer.draw();
        viewer
    }

    fn draw(&mut self) {
        self.terminal.draw(|frame| draw(frame, &mut self.app, self.theme)).unwrap();
    }

    fn code(&mut self, code: KeyCode) {
        self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
        self.draw();
    }

    /// Types characters; a line break is the key Enter.
    fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.code(if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) });
        }
    }

    fn lines(&self) -> Vec<String> {
        let buffer = self.terminal.backend().buffer();
        let width = usize::from(buffer.area.width);
        let rows = buffer.content.chunks(width);
        rows.map(|row| {
            let text: String = row.iter().map(|cell| cell.symbol()).collect();
            text.trim_end().to_owned()
        })
        .collect()
    }

    fn text(&self) -> String {
        self.lines().join("\n")
    }
}

/// A temporary directory.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }
}

fn header(dtype: &str, shape: &[u64]) -> Vec<u8> {
    let dtype = Dtype::parse(dtype).unwrap();
    npy_header(&ArrayInfo { dtype, shape: shape.to_vec(), fortran_order: false }).unwrap()
}

/// Writes an array of 32-bit integers that count from 0.
fn array(folder: &Folder, name: &str, shape: &[u64]) {
    let mut npy = header("<i4", shape);
    let count = shape.iter().product::<u64>() as i32;
    npy.extend((0..count).flat_map(i32::to_le_bytes));
    folder.write(name, &npy);
}

#[test]
fn a_slice_of_three_dimensions_is_a_table() {
    let folder = Folder::new();
    array(&folder, "a.npy", &[3, 40, 30]);
    let mut viewer = Viewer::new(&folder.path("a.npy"), 80, 24);
    let lines = viewer.lines();
    assert_eq!(lines.len(), 24);
    assert!(lines[0].ends_with("a.npy  <i4 (3, 40, 30)"), "{}", lines[0]);
    assert!(lines[1].starts_with("slice [0], ↓, →"), "{}", lines[1]);
    assert!(lines[2].starts_with("      0    1    2    3"), "{}", lines[2]);
    assert!(lines[3].starts_with(" 0    0    1    2    3"), "{}", lines[3]);
    assert!(lines[4].starts_with(" 1   30   31   32   33"), "{}", lines[4]);
    assert_eq!(lines[23], "row 0 of 40, column 0: 0");
    viewer.keys(">lj");
    assert!(viewer.lines()[1].starts_with("slice [1], ↓, →"));
    assert_eq!(viewer.lines()[23], "row 1 of 40, column 1: 1231");
    viewer.keys("t");
    assert!(viewer.lines()[1].starts_with("slice [1], →, ↓"), "{}", viewer.text());
    assert_eq!(viewer.lines()[23], "row 1 of 30, column 1: 1231");
    // Rows along the first dimension.
    viewer.keys("tr");
    assert!(viewer.lines()[1].contains("↓"), "{}", viewer.text());
    viewer.keys("g2,39,29\n");
    assert!(viewer.lines()[23].ends_with(": 3599"), "{}", viewer.text());
    viewer.keys("g3,0,0\n");
    assert_eq!(viewer.lines()[23], "'3,0,0' is not an index of the data");
    viewer.keys("gx\n");
    assert!(viewer.lines()[23].starts_with("'x': indices are numbers"));
}

#[test]
fn cursor_keys_scroll_to_the_ends() {
    let folder = Folder::new();
    array(&folder, "a.npy", &[1000, 300]);
    for (width, height) in [(80, 24), (40, 12), (300, 50), (41, 13)] {
        let mut viewer = Viewer::new(&folder.path("a.npy"), width, height);
        viewer.code(KeyCode::End);
        viewer.keys("$");
        let text = viewer.text();
        assert!(text.contains("row 999 of 1000, column 299: 29999"), "{text}");
        let lines = viewer.lines();
        assert!(lines[usize::from(height) - 2].trim_start().starts_with("999"), "{text}");
        assert!(lines[usize::from(height) - 2].ends_with("299999"), "{text}");
        viewer.code(KeyCode::Home);
        viewer.keys("0");
        assert!(viewer.lines()[2].trim_start().starts_with("0  "), "{}", viewer.text());
        assert!(viewer.text().contains("row 0 of 1000, column 0: 0"), "{}", viewer.text());
    }
}

#[test]
fn pages_fit_into_a_small_terminal() {
    let folder = Folder::new();
    array(&folder, "a.npy", &[4, 50, 60]);
    let mut viewer = Viewer::new(&folder.path("a.npy"), 40, 12);
    assert_eq!(viewer.lines().len(), 12);
    assert!(viewer.text().contains("slice [0], ↓, →"));
    assert!(viewer.lines()[10].starts_with("7  420  421"), "{}", viewer.text());
    viewer.keys("m");
    assert!(viewer.text().contains("  format       NumPy array file"), "{}", viewer.text());
    viewer.keys("?");
    assert!(viewer.text().contains("b2 view: keys"));
    viewer.keys("G");
    assert!(viewer.text().contains("data divided by"), "{}", viewer.text());
    viewer.keys("?c");
    assert!(viewer.text().contains("the format has no chunks"));
    for (width, height) in [(1, 1), (7, 2), (8, 3), (10, 4), (300, 3)] {
        viewer.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        for keys in ["d", "m", "c", "?", "?", "dg1\n", "/x"] {
            viewer.keys(keys);
        }
        viewer.code(KeyCode::Esc);
        viewer.code(KeyCode::Esc);
        viewer.draw();
    }
}

#[test]
fn a_directory_is_a_tree() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inner")).unwrap();
    array(&folder, "a.npy", &[4]);
    array(&folder, "inner/b.npy", &[2, 2]);
    folder.write("unknown", b"text");
    // Names on Windows contain no control characters.
    if cfg!(unix) {
        folder.write("bad\u{1b}[31m.npy", &header("<i4", &[3]));
    }
    let mut viewer = Viewer::new(&folder.path(""), 80, 24);
    let text = viewer.text();
    assert!(text.contains("\n    a.npy "), "{text}");
    assert!(text.contains("<i4 (4,)"), "{text}");
    assert_eq!(text.contains("bad\\u{1b}[31m.npy"), cfg!(unix), "{text}");
    assert!(text.contains("\n  + inner "), "{text}");
    assert!(!text.contains("unknown"), "{text}");
    viewer.keys("/inner\n\n");
    let text = viewer.text();
    assert!(text.contains("\n  - inner "), "{text}");
    assert!(text.contains("\n      b.npy "), "{text}");
    viewer.keys("j\n");
    assert!(viewer.text().contains("b.npy  <i4 (2, 2)"), "{}", viewer.text());
    assert!(viewer.lines()[2].starts_with("0  0  1"), "{}", viewer.text());
    viewer.code(KeyCode::Esc);
    viewer.keys("hh");
    assert!(!viewer.text().contains("b.npy"), "{}", viewer.text());
    viewer.keys("/nothing\n");
    assert!(viewer.text().contains("'nothing' was not found"));
    viewer.keys("q");
    assert!(viewer.app.is_done);
}

#[test]
fn damaged_items_are_marked_and_others_are_shown() {
    let folder = Folder::new();
    let mut npy = header("<i4", &[100]);
    npy.extend((0..100).flat_map(i32::to_le_bytes));
    folder.write("cut.npy", &npy);
    let mut viewer = Viewer::new(&folder.path("cut.npy"), 60, 20);
    // The file becomes shorter while it is open.
    folder.write("cut.npy", &npy[..npy.len() - 4 * 90]);
    viewer.code(KeyCode::Down);
    viewer.code(KeyCode::PageDown);
    viewer.code(KeyCode::Home);
    let text = viewer.text();
    assert!(text.contains("\n 9      9\n"), "{text}");
    assert!(text.contains("\n10      !\n"), "{text}");
    viewer.keys("g10\n");
    let last = viewer.lines().pop().unwrap();
    assert!(last.starts_with("row 10 of 100, column value: "), "{last}");
    assert_eq!(viewer.app.page, Page::Data);
}

#[test]
fn records_have_a_column_for_each_field() {
    let folder = Folder::new();
    let dtype = "[('id', '<i4'), ('name\\x1b', 'S4'), ('xy', '<f4', (2,))]";
    let mut npy = header(dtype, &[2]);
    for (id, name) in [(7, b"ab\x1b\0"), (8, b"\x07cde")] {
        npy.extend(i32::to_le_bytes(id));
        npy.extend(name);
        npy.extend([1.5_f32, 2.0].iter().flat_map(|number| number.to_le_bytes()));
    }
    folder.write("r.npy", &npy);
    let viewer = Viewer::new(&folder.path("r.npy"), 80, 24);
    let text = viewer.text();
    assert!(text.contains("3 fields (2,)"), "{text}");
    assert!(text.contains("ab\\x1b"), "{text}");
    assert!(text.contains("[1.5, 2.0]"), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
}

#[test]
fn a_search_finds_the_next_row_with_a_text() {
    let folder = Folder::new();
    array(&folder, "a.npy", &[5000]);
    let mut viewer = Viewer::new(&folder.path("a.npy"), 80, 24);
    viewer.keys("/432\n");
    assert!(viewer.text().contains("row 432 of 5000"), "{}", viewer.text());
    viewer.keys("n");
    assert!(viewer.text().contains("row 1432 of 5000"), "{}", viewer.text());
    viewer.keys("/none\n");
    assert!(viewer.text().contains("not found in the rows from 1433"), "{}", viewer.text());
}

#[test]
fn empty_arrays_and_scalars_are_shown() {
    let folder = Folder::new();
    array(&folder, "empty.npy", &[0, 3]);
    let mut viewer = Viewer::new(&folder.path("empty.npy"), 80, 24);
    assert!(viewer.text().contains("no items"));
    viewer.keys("jlt>g0\nG$");
    folder.write("scalar.npy", &[header("<i4", &[]), vec![9, 0, 0, 0]].concat());
    let viewer = Viewer::new(&folder.path("scalar.npy"), 80, 24);
    assert!(viewer.text().contains("row 0 of 1, column value: 9"), "{}", viewer.text());
}

#[test]
fn the_chunk_map_has_characters_or_colours_for_ratios() {
    let folder = Folder::new();
    let path = folder.path("c.b2frame");
    // Zeros, and bytes that do not compress, in alternating chunks.
    let mut state = 1_u64;
    let mut bytes = Vec::new();
    for chunk in 0..40 {
        for _ in 0..4096 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            bytes.push(if chunk % 2 == 0 { 0 } else { (state >> 56) as u8 });
        }
    }
    let mut writing = ferroblosc_formats::convert::Writing::default();
    writing.chunk_bytes = Some(4096);
    let mut reader = bytes.as_slice();
    ferroblosc_formats::convert::compress((&mut reader, None), 1, (&path, false), &writing)
        .unwrap();
    let mut viewer = Viewer::new(&path, 80, 24);
    assert!(viewer.text().contains("00000000  0000 0000"), "{}", viewer.text());
    viewer.keys("c");
    let lines = viewer.lines();
    assert_eq!(lines[3], "@.".repeat(20), "{}", viewer.text());
    assert!(lines[1].starts_with("chunks 0–39: 160.0 KiB"), "{}", lines[1]);
    viewer.keys("l");
    assert!(viewer.lines()[23].starts_with("chunk 1: 4.0 KiB → "), "{}", viewer.text());
    viewer.keys("g39\n");
    assert!(viewer.lines()[23].starts_with("chunk 39: "), "{}", viewer.text());
    let background = |viewer: &Viewer, x: u16| viewer.terminal.backend().buffer()[(x, 3)].bg;
    assert_eq!(background(&viewer, 0), ratatui::style::Color::Reset);
    viewer.theme.has_colours = true;
    viewer.draw();
    assert_ne!(background(&viewer, 0), background(&viewer, 1));
    assert_ne!(background(&viewer, 0), ratatui::style::Color::Reset);
    // In a small terminal, cells are groups.
    viewer.terminal = Terminal::new(TestBackend::new(10, 5)).unwrap();
    viewer.draw();
    viewer.keys("g3\n");
    assert!(viewer.lines()[4].starts_with("chunks 0–"), "{}", viewer.text());
}

#[test]
fn column_names_do_not_leave_the_table() {
    let table = Path::new("table");
    assert_eq!(super::tree::column_path(table, "a/b").unwrap(), Path::new("table/a/b"));
    for name in ["../x", "/etc", "a/../../b", "."] {
        assert!(super::tree::column_path(table, name).is_err(), "{name}");
    }
}

#[test]
fn unreadable_files_of_a_directory_are_listed() {
    let folder = Folder::new();
    array(&folder, "a.npy", &[3]);
    folder.write("b.npz", b"PK\x03\x04 truncated");
    folder.write("c.txt", b"text");
    let viewer = Viewer::new(&folder.path(""), 100, 12);
    let text = viewer.text();
    assert!(text.contains("a.npy") && !text.contains("c.txt"), "{text}");
    let line = text.lines().find(|line| line.contains("b.npz"));
    assert!(line.is_some_and(|line| line.contains("unreadable: ")), "{text}");
}
