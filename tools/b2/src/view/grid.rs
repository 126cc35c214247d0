//! The cells of a slice with two dimensions: items of arrays, fields of records, columns of tables,
//! objects, and bytes.
//!
//! Only the requested cells are read, at most [`MAX_BYTES`] at once. If a read fails, it is
//! repeated for parts of the cells, so that the cells around a damaged chunk are shown.

use crate::cat::array_or_bytes;
use crate::error::{Failure, Outcome};
use crate::field;
use crate::items;
use crate::plural::{counted, with_article};
use crate::store::{Target, shape_text, text_of};
use ferroblosc::Error;
use ferroblosc::b2nd::Array;
use ferroblosc::escape::escape;
use ferroblosc::schunk::SChunk;
use ferroblosc_formats::convert::{self, Source};
use ferroblosc_formats::numpy::{Dtype, Field, Kind};
use ferroblosc_formats::store::{Class, Objects, Store};
use ferroblosc_tools_common::size::human;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum number of bytes of items that are read at once.
const MAX_BYTES: u64 = 4 << 20;
/// The maximum number of bytes of an item that are shown as text.
const MAX_TEXT_BYTES: usize = 1 << 10;
/// The maximum number of characters of a cell.
const MAX_CHARACTERS: usize = 200;
/// The time after which failed reads are not repeated for smaller parts.
const PATIENCE: Duration = Duration::from_millis(300);
/// The number of bytes in a row of bytes.
const BYTES_PER_ROW: u64 = 16;
/// The maximum number of objects of an array of batches. Counting more would decompress them.
const MAX_OBJECTS: u64 = 100_000;

/// A text, or the reason why an item cannot be read. Both are escaped.
pub type Cell = Result<String, String>;

/// The cells of rows.
pub type Cells = Vec<Vec<Cell>>;

/// The readable data.
enum Content {
    Source(Box<dyn Source>),
    Array(Box<Array>),
    SChunk(Box<SChunk>),
    Table(Box<Store>, String),
    Objects(Box<Objects>),
}

/// The meaning of the columns.
enum Columns {
    /// The indices of a dimension.
    Axis(usize),
    /// The fields of records.
    Fields(Vec<Field>),
    /// The columns of a table.
    Names(Vec<String>),
    /// One column with this heading.
    Single(&'static str),
    /// Bytes: hexadecimal digits and characters.
    Bytes,
}

/// A slice with two dimensions of the data.
pub struct Grid {
    content: Content,
    dtype: Option<Dtype>,
    shape: Vec<u64>,
    /// The dimension of the rows; `None` if there is only one row.
    row_axis: Option<usize>,
    columns: Columns,
    /// The index of each dimension that is neither that of the rows nor that of the columns.
    fixed: Vec<u64>,
}

fn text_of_failure(failure: Failure) -> String {
    match failure {
        Failure::Error { text, .. } => escape(&text).into_owned(),
        Failure::Reported(_) | Failure::BrokenPipe => "unreadable".to_owned(),
    }
}

/// Returns a text of limited length.
fn limited(text: String) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the text of an item. Only the first bytes of a large one are shown.
fn item_text(dtype: &Dtype, bytes: &[u8]) -> String {
    let text = if bytes.len() <= MAX_TEXT_BYTES {
        items::text(dtype, bytes, None)
    } else {
        match dtype.kind() {
            Kind::Bytes | Kind::Unicode | Kind::Void => {
                items::text(dtype, &bytes[..MAX_TEXT_BYTES], None) + "…"
            }
            _ => format!("({} of {})", human(bytes.len() as u64), dtype.text()),
        }
    };
    limited(escape(&text).into_owned())
}

fn field_text(field: &Field, record: &[u8]) -> String {
    let count: u64 = field.shape.iter().product();
    let size = (field.dtype.itemsize() * count) as usize;
    if field.shape.is_empty() {
        let start = field.offset as usize;
        return item_text(&field.dtype, &record[start..start + size]);
    }
    if size > MAX_TEXT_BYTES {
        let lengths: Vec<String> = field.shape.iter().map(u64::to_string).collect();
        return format!("({} items of {})", lengths.join(" × "), field.dtype.text());
    }
    limited(escape(&items::of_field(field, record, None)).into_owned())
}

/// Returns a line of bytes: hexadecimal digits, and characters.
fn byte_cells(line: &[u8]) -> [String; 2] {
    let digits: Vec<String> = line.chunks(2).map(items::hex).collect();
    let visible = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '.',
    };
    [digits.join(" "), line.iter().map(visible).collect()]
}

impl Grid {
    fn new(content: Content, dtype: Option<Dtype>, shape: Vec<u64>, columns: Columns) -> Grid {
        let fixed = vec![0; shape.len()];
        let row_axis = match &columns {
            Columns::Axis(axis) => (0..*axis).next_back(),
            _ => shape.len().checked_sub(1),
        };
        Grid { content, dtype, shape, row_axis, columns, fixed }
    }

    fn of_items(content: Content, dtype: Dtype, shape: Vec<u64>) -> Grid {
        let columns = match (dtype.kind(), shape.len()) {
            (Kind::Record, _) => Columns::Fields(dtype.fields().to_vec()),
            (_, 0 | 1) => Columns::Single("value"),
            (_, ndim) => Columns::Axis(ndim - 1),
        };
        Grid::new(content, Some(dtype), shape, columns)
    }

    /// Opens data of any format except stores. `column` selects a column of a table.
    pub fn open(path: &Path, column: Option<&str>, nthreads: usize) -> Result<Grid, Failure> {
        let found = convert::detect(path)?;
        let source = field::open(path, &found, column, nthreads)?;
        let is_bytes = source.content().array.is_none();
        let info = array_or_bytes(source.as_ref())?;
        let content = Content::Source(source);
        if is_bytes {
            return Ok(Grid::new(content, None, info.shape, Columns::Bytes));
        }
        Ok(Grid::of_items(content, info.dtype, info.shape))
    }

    /// Opens an object in a store.
    pub fn open_object(path: &Path, key: &str) -> Result<Grid, Failure> {
        let store = Target::object(path, key).open()?;
        let node = store.node(key)?;
        match node.class {
            Class::NdArray => {
                let array = store.array(key)?;
                let shape: Vec<u64> =
                    array.shape().iter().map(|extent| extent.unsigned_abs()).collect();
                let itemsize = array.schunk().typesize().unsigned_abs();
                let text = node.dtype.unwrap_or_default();
                let parsed = Dtype::parse(&text).ok();
                let parsed = parsed.filter(|dtype| dtype.itemsize() == u64::from(itemsize));
                let dtype = match parsed {
                    Some(dtype) => dtype,
                    None => Dtype::parse(&format!("|V{itemsize}")).map_err(convert::Error::from)?,
                };
                Ok(Grid::of_items(Content::Array(Box::new(array)), dtype, shape))
            }
            Class::Table => {
                let table = store.table(key)?;
                let schema = table.schema();
                let names = schema.columns.iter().map(|column| column.name.clone());
                let names = names.chain(schema.computed.iter().map(|column| column.name.clone()));
                let (names, len) = (names.collect(), table.len());
                let content = Content::Table(Box::new(store), key.to_owned());
                Ok(Grid::new(content, None, vec![len], Columns::Names(names)))
            }
            Class::ObjectArray | Class::BatchArray | Class::ListArray => {
                let objects = store.objects(key)?;
                let len = objects.len_within(MAX_OBJECTS)?;
                let content = Content::Objects(Box::new(objects));
                Ok(Grid::new(content, None, vec![len], Columns::Single("object")))
            }
            Class::SChunk => {
                let schunk = store.leaf(key)?.into_schunk();
                let nbytes = schunk.nbytes().max(0).unsigned_abs();
                let content = Content::SChunk(Box::new(schunk));
                Ok(Grid::new(content, None, vec![nbytes], Columns::Bytes))
            }
            class => Err(Failure::new(format!("{} has no values", with_article(class.name())))),
        }
    }

    /// Returns the type and shape.
    pub fn title(&self) -> String {
        let shape: Vec<i64> =
            self.shape.iter().map(|&len| i64::try_from(len).unwrap_or(i64::MAX)).collect();
        let kind = match (&self.dtype, &self.columns) {
            (_, Columns::Fields(fields)) => counted(fields.len(), "field"),
            (Some(dtype), _) => dtype.text().to_owned(),
            (None, Columns::Names(names)) => counted(names.len(), "column"),
            (None, Columns::Bytes) => "bytes".to_owned(),
            (None, _) => "objects".to_owned(),
        };
        escape(&format!("{kind} {}", shape_text(&shape))).into_owned()
    }

    /// Returns the number of rows.
    pub fn nrows(&self) -> u64 {
        // A dimension without items in a part that is not shown empties all cells.
        if (0..self.shape.len()).any(|dim| self.is_fixed(dim) && self.shape[dim] == 0) {
            return 0;
        }
        let len = self.row_axis.map_or(1, |axis| self.shape[axis]);
        match self.columns {
            Columns::Bytes => len.div_ceil(BYTES_PER_ROW),
            _ => len,
        }
    }

    /// Returns the number of columns.
    pub fn ncolumns(&self) -> u64 {
        match &self.columns {
            Columns::Axis(axis) => self.shape[*axis],
            Columns::Fields(fields) => fields.len() as u64,
            Columns::Names(names) => names.len() as u64,
            Columns::Single(_) => 1,
            Columns::Bytes => 2,
        }
    }

    fn column_axis(&self) -> Option<usize> {
        match self.columns {
            Columns::Axis(axis) => Some(axis),
            _ => None,
        }
    }

    /// Whether a dimension has a fixed index.
    pub fn is_fixed(&self, dim: usize) -> bool {
        self.row_axis != Some(dim) && self.column_axis() != Some(dim)
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Returns the heading of a column.
    pub fn heading(&self, column: u64) -> String {
        match &self.columns {
            Columns::Axis(_) => column.to_string(),
            Columns::Fields(fields) => {
                let field = fields.get(column as usize);
                field.map_or(String::new(), |field| escape(&field.name).into_owned())
            }
            Columns::Names(names) => {
                let name = names.get(column as usize);
                name.map_or(String::new(), |name| escape(name).into_owned())
            }
            Columns::Single(heading) => (*heading).to_owned(),
            Columns::Bytes => if column == 0 { "bytes" } else { "characters" }.to_owned(),
        }
    }

    /// Returns the label of a row.
    pub fn label(&self, row: u64) -> String {
        match self.columns {
            Columns::Bytes => format!("{:08x}", row * BYTES_PER_ROW),
            _ => row.to_string(),
        }
    }

    /// Returns the index of each dimension, or an arrow for rows and columns. That of the dimension
    /// `marked` is in brackets.
    pub fn slice_text(&self, marked: Option<usize>) -> String {
        let entries: Vec<String> = (0..self.ndim())
            .map(|dim| {
                let text = if self.row_axis == Some(dim) {
                    "↓".to_owned()
                } else if self.column_axis() == Some(dim) {
                    "→".to_owned()
                } else {
                    self.fixed[dim].to_string()
                };
                if marked == Some(dim) { format!("[{text}]") } else { text }
            })
            .collect();
        entries.join(", ")
    }

    /// Returns the fixed dimension after `dim`, or before it, in a circle.
    pub fn next_fixed(&self, dim: Option<usize>, is_forward: bool) -> Option<usize> {
        let fixed: Vec<usize> = (0..self.ndim()).filter(|&dim| self.is_fixed(dim)).collect();
        let at = dim.and_then(|dim| fixed.iter().position(|&other| other == dim));
        let len = fixed.len();
        let next = match (at, is_forward) {
            (None, true) => 0,
            (None, false) => len.checked_sub(1)?,
            (Some(at), true) => (at + 1) % len,
            (Some(at), false) => (at + len - 1) % len,
        };
        fixed.get(next).copied()
    }

    /// Changes the index of a fixed dimension.
    pub fn shift(&mut self, dim: usize, by: i64) {
        if self.is_fixed(dim) {
            let last = self.shape[dim].saturating_sub(1);
            self.fixed[dim] = self.fixed[dim].saturating_add_signed(by).min(last);
        }
    }

    /// Exchanges rows and columns.
    pub fn transpose(&mut self) {
        if let (Some(row), Columns::Axis(column)) = (self.row_axis, &mut self.columns) {
            self.row_axis = Some(*column);
            *column = row;
        }
    }

    /// Shows the next dimension in the rows, or in the columns, that is not shown in the other.
    pub fn rotate(&mut self, of_rows: bool) {
        let (Some(row), ndim) = (self.row_axis, self.ndim()) else {
            return;
        };
        let column = self.column_axis();
        let from = if of_rows { row } else { column.unwrap_or(row) };
        let other = if of_rows { column } else { Some(row) };
        let next = (1..=ndim).map(|step| (from + step) % ndim).find(|&dim| other != Some(dim));
        match (next, &mut self.columns, of_rows) {
            (Some(next), _, true) => self.row_axis = Some(next),
            (Some(next), Columns::Axis(column), false) => *column = next,
            _ => {}
        }
    }

    /// Sets the indices of all dimensions, or of those of the rows and columns. Returns the row and
    /// the column; `None` if an index is out of range or there are too many or too few.
    pub fn go_to(&mut self, indices: &[u64]) -> Option<(u64, u64)> {
        if matches!(self.columns, Columns::Bytes) {
            let &[offset] = indices else {
                return None;
            };
            return (offset < self.shape[0]).then_some((offset / BYTES_PER_ROW, 0));
        }
        if indices.len() == self.ndim() && self.ndim() > 0 {
            if indices.iter().zip(&self.shape).any(|(index, len)| index >= len) {
                return None;
            }
            for (dim, &index) in indices.iter().enumerate() {
                if self.is_fixed(dim) {
                    self.fixed[dim] = index;
                }
            }
            let of = |axis: Option<usize>| axis.map_or(0, |axis| indices[axis]);
            return Some((of(self.row_axis), of(self.column_axis())));
        }
        match *indices {
            [row] if row < self.nrows() => Some((row, 0)),
            [row, column] if row < self.nrows() && column < self.ncolumns() => Some((row, column)),
            _ => None,
        }
    }

    /// Reads cells. The ranges must be in bounds.
    pub fn cells(&mut self, rows: Range<u64>, columns: Range<u64>) -> Cells {
        let deadline = Instant::now() + PATIENCE;
        let empty = vec![Ok(String::new()); (columns.end - columns.start) as usize];
        let mut cells = vec![empty; (rows.end - rows.start) as usize];
        if cells.is_empty() || cells[0].is_empty() {
            return cells;
        }
        let whole = (rows.clone(), columns.clone());
        match &self.columns {
            // A record is read as a whole, so all columns fail together.
            Columns::Fields(_) | Columns::Bytes => {
                self.fill(&whole, (rows, columns), false, deadline, &mut cells);
            }
            // Each column is stored by itself.
            Columns::Names(_) => {
                for column in columns {
                    let part = (rows.clone(), column..column + 1);
                    self.fill(&whole, part, false, deadline, &mut cells);
                }
            }
            Columns::Axis(_) | Columns::Single(_) => {
                self.fill(&whole, (rows, columns), true, deadline, &mut cells);
            }
        }
        cells
    }

    /// Fills a part of the cells of `whole`. If it cannot be read, reads its halves.
    fn fill(
        &mut self,
        whole: &(Range<u64>, Range<u64>),
        part: (Range<u64>, Range<u64>),
        splits_columns: bool,
        deadline: Instant,
        cells: &mut Cells,
    ) {
        let (rows, columns) = &part;
        let at = |row: u64, column: u64| {
            ((row - whole.0.start) as usize, (column - whole.1.start) as usize)
        };
        let failure = match self.read(rows.clone(), columns.clone()) {
            Ok(texts) => {
                for (row, texts) in rows.clone().zip(texts) {
                    for (column, text) in columns.clone().zip(texts) {
                        let (row, column) = at(row, column);
                        cells[row][column] = Ok(text);
                    }
                }
                return;
            }
            Err(failure) => failure,
        };
        let (height, width) = (rows.end - rows.start, columns.end - columns.start);
        let is_late = Instant::now() >= deadline;
        let halves = if height > 1 && !is_late && (height >= width || !splits_columns) {
            let middle = rows.start + height / 2;
            let halves = [rows.start..middle, middle..rows.end];
            halves.map(|rows| (rows, columns.clone()))
        } else if width > 1 && splits_columns && !is_late {
            let middle = columns.start + width / 2;
            let halves = [columns.start..middle, middle..columns.end];
            halves.map(|columns| (rows.clone(), columns))
        } else {
            let text = text_of_failure(failure);
            for row in rows.clone() {
                for column in columns.clone() {
                    let (row, column) = at(row, column);
                    cells[row][column] = Err(text.clone());
                }
            }
            return;
        };
        for half in halves {
            self.fill(whole, half, splits_columns, deadline, cells);
        }
    }

    /// Reads the texts of cells.
    fn read(&mut self, rows: Range<u64>, columns: Range<u64>) -> Result<Vec<Vec<String>>, Failure> {
        match (&self.columns, &self.content) {
            (Columns::Names(names), Content::Table(store, key)) => {
                let table = store.table(key)?;
                let mut texts = vec![Vec::new(); (rows.end - rows.start) as usize];
                for column in columns {
                    let name = names.get(column as usize).ok_or(Error::InvalidIndex)?;
                    let values = table.values(name, rows.clone())?;
                    for (texts, value) in texts.iter_mut().zip(&values) {
                        texts.push(limited(text_of(value)));
                    }
                }
                Ok(texts)
            }
            (_, Content::Objects(objects)) => {
                let values = objects.items(rows)?;
                Ok(values.iter().map(|value| vec![limited(text_of(value))]).collect())
            }
            (Columns::Bytes, _) => self.read_bytes(rows, &columns),
            _ => self.read_items(rows, columns),
        }
    }

    fn read_bytes(
        &mut self,
        rows: Range<u64>,
        columns: &Range<u64>,
    ) -> Result<Vec<Vec<String>>, Failure> {
        let start = rows.start * BYTES_PER_ROW;
        let stop = (rows.end * BYTES_PER_ROW).min(self.shape[0]);
        let mut bytes = vec![0; buffer_size(stop - start)?];
        match &mut self.content {
            Content::Source(source) => source.read(start, &mut bytes)?,
            Content::SChunk(schunk) => {
                let typesize = i64::from(schunk.typesize().max(1));
                let at = |byte: u64| i64::try_from(byte).map_err(|_| Error::InvalidIndex);
                // Items that are partly in the rows are read completely.
                let first = at(start)? / typesize;
                let last = (at(stop)? + typesize - 1) / typesize;
                let size = ((last - first) * typesize).unsigned_abs();
                let mut items = vec![0; buffer_size(size)?];
                schunk.get_slice(first, last, &mut items)?;
                let skip = (at(start)? - first * typesize).unsigned_abs() as usize;
                let len = bytes.len();
                bytes.copy_from_slice(&items[skip..skip + len]);
            }
            _ => return Err(Error::InvalidParam.into()),
        }
        let of_columns = |line: &[u8]| {
            let cells = byte_cells(line);
            cells[columns.start as usize..columns.end as usize].to_vec()
        };
        Ok(bytes.chunks(BYTES_PER_ROW as usize).map(of_columns).collect())
    }

    /// Reads the smallest box with the items of cells.
    fn read_items(
        &mut self,
        rows: Range<u64>,
        columns: Range<u64>,
    ) -> Result<Vec<Vec<String>>, Failure> {
        let Some(dtype) = self.dtype.clone() else {
            return Err(Error::InvalidParam.into());
        };
        let mut start = self.fixed.clone();
        let mut stop: Vec<u64> = start.iter().map(|index| index + 1).collect();
        if let Some(axis) = self.row_axis {
            (start[axis], stop[axis]) = (rows.start, rows.end);
        }
        let column_axis = self.column_axis();
        if let Some(axis) = column_axis {
            (start[axis], stop[axis]) = (columns.start, columns.end);
        }
        let wide = if column_axis.is_some() { columns.end - columns.start } else { 1 };
        let high = rows.end - rows.start;
        let itemsize = dtype.itemsize();
        let mut bytes = vec![0; buffer_size((wide * high).saturating_mul(itemsize))?];
        self.read_box(&start, &stop, &mut bytes)?;
        // The items are in C order.
        let is_transposed =
            matches!((self.row_axis, column_axis), (Some(row), Some(column)) if row > column);
        let item = |row: u64, column: u64| {
            let number = if is_transposed { column * high + row } else { row * wide + column };
            let at = (number * itemsize) as usize;
            &bytes[at..at + itemsize as usize]
        };
        let fields = match &self.columns {
            Columns::Fields(fields) => Some(fields),
            _ => None,
        };
        let texts = (0..high).map(|row| match fields {
            Some(fields) => {
                let shown = fields[columns.start as usize..columns.end as usize].iter();
                shown.map(|field| field_text(field, item(row, 0))).collect()
            }
            None => (0..wide).map(|column| item_text(&dtype, item(row, column))).collect(),
        });
        Ok(texts.collect())
    }

    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Outcome {
        match &mut self.content {
            Content::Source(source) => Ok(source.read_box(start, stop, dest)?),
            Content::Array(array) => {
                let signed = |indices: &[u64]| -> Result<Vec<i64>, Error> {
                    let all = indices.iter().map(|&index| i64::try_from(index));
                    all.collect::<Result<_, _>>().map_err(|_| Error::InvalidIndex)
                };
                let bytes = array.get_slice(&signed(start)?, &signed(stop)?)?;
                if bytes.len() != dest.len() {
                    return Err(Error::InvalidParam.into());
                }
                dest.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(Error::InvalidParam.into()),
        }
    }
}

/// Checks a number of bytes to read.
fn buffer_size(size: u64) -> Result<usize, Failure> {
    if size > MAX_BYTES {
        return Err(Failure::new(format!("too large to show: {}", human(size))));
    }
    Ok(size as usize)
}
