//! Files of comma-separated values as arrays, in bounded memory.
//!
//! | file | content |
//! |---|---|
//! | `guess.rs` | the type of a column, from all its values |
//! | `cell.rs` | a value as an item of a dtype |
//! | `read.rs` | the records of a file, with their lines |
//! | `error.rs` | errors |
//!
//! A file is read twice: [`scan`] finds the types and the number of lines, and [`write_npy`]
//! converts the values.
//!
//! ```
//! use ferroblosc_formats::csv::{Options, scan, write_npy};
//!
//! let folder = std::env::temp_dir().join(format!("csv-doc-{}", std::process::id()));
//! # std::fs::create_dir(&folder).unwrap();
//! let path = folder.join("table.csv");
//! std::fs::write(&path, "day,price\n1,2.5\n2,\n").unwrap();
//! let table = scan(&path, &Options::default(), &mut |_bytes| {})?;
//! assert_eq!(table.info.shape, [2]);
//! assert_eq!(table.info.dtype.text(), "[('day', '<i8'), ('price', '<f8')]");
//! let mut items = Vec::new();
//! write_npy(&path, &table, &mut items, &mut |_bytes| {})?;
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), ferroblosc_formats::csv::Error>(())
//! ```

mod cell;
mod error;
mod guess;
mod read;

use std::io::Write;
use std::path::Path;

use crate::numpy::{ArrayInfo, Dtype, Kind, Literal, npy_header};
pub use error::{Error, Progress, Result};

use cell::{Cell, cells_of};
use guess::{Guess, Guessed};
use read::Records;

/// The maximum number of columns of a table of records.
const MAX_FIELDS: usize = 1 << 16;
/// The maximum size of all items in bytes, unless it is at most [`MAX_RATIO`] times the size of the
/// fields. A long field among many short ones would fill the disk with padding.
const MAX_PADDED: u64 = 16 << 30;
const MAX_RATIO: u64 = 16;
/// The size of a character of `U` in bytes.
const CHARACTER: u64 = 4;

/// Whether the first line contains the names of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// If its fields are different texts that are neither numbers nor Booleans.
    #[default]
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}

/// Options of reading.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The character between fields.
    pub delimiter: u8,
    /// Whether the first line contains the names of the columns.
    pub header: Header,
    /// The type of all values, or records with a scalar for each column. `None` finds the types.
    pub dtype: Option<Dtype>,
}

impl Default for Options {
    fn default() -> Options {
        Options { delimiter: b',', header: Header::Auto, dtype: None }
    }
}

/// The description of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// The type and shape: records in one dimension, or items in one or two.
    pub info: ArrayInfo,
    /// Whether the first line contains the names of the columns.
    pub has_header: bool,
    /// Whether each column has texts in UTF-8: those of the type `U`, and those of the type `S` in
    /// ASCII. With a type of the options none has.
    pub texts: Vec<bool>,
    /// Descriptions of the characters that the types do not keep: leading zeros of numbers.
    pub lost: Vec<String>,
    delimiter: u8,
    cells: Vec<Cell>,
    row_bytes: usize,
}

/// Finds the types of the columns and the number of lines.
///
/// # Errors
/// [`Error::Io`]; [`Error::Line`] for lines of different lengths, and columns of integers or
/// Booleans without a value in a line; [`Error::File`] for an empty file, and a dtype that does not
/// fit.
pub fn scan(path: &Path, options: &Options, progress: Progress<'_>) -> Result<Table> {
    let mut records = Records::open(path, options.delimiter)?;
    let mut first: Option<(u64, Vec<Vec<u8>>)> = None;
    let mut guesses: Vec<Guess> = Vec::new();
    let mut rows = 0_u64;
    while let Some((line, record)) = records.next(&mut *progress)? {
        if first.is_none() {
            first = Some((line, record.iter().map(<[u8]>::to_vec).collect()));
            guesses = vec![Guess::default(); record.len()];
            continue;
        }
        if options.dtype.is_none() {
            for (guess, field) in guesses.iter_mut().zip(record) {
                guess.add(field, line);
            }
        }
        rows += 1;
    }
    let (line, names) = first.ok_or_else(|| Error::File("the file has no lines".to_owned()))?;
    let has_header = match options.header {
        Header::Yes => true,
        Header::No => false,
        Header::Auto => rows > 0 && guess::is_header(&names),
    };
    if !has_header {
        for (guess, field) in guesses.iter_mut().zip(&names) {
            guess.add(field, line);
        }
        rows += 1;
    }
    let columns = names.len();
    let dtype = match &options.dtype {
        Some(dtype) => dtype.clone(),
        None => {
            let name = |number: usize| String::from_utf8_lossy(&names[number]).into_owned();
            dtype_of(&guesses, has_header.then_some(&name))?
        }
    };
    let invalid = |why: &str| Error::File(format!("the type {}: {why}", dtype.text()));
    let item_cells = cells_of(&dtype).map_err(|why| invalid(&why))?;
    let itemsize = usize::try_from(dtype.itemsize()).map_err(|_| invalid("it is too large"))?;
    let (shape, cells) = if dtype.kind() == Kind::Record {
        if item_cells.len() != columns {
            let count = item_cells.len();
            return Err(invalid(&format!(
                "it has {count} scalars, and the lines {columns} fields"
            )));
        }
        (vec![rows], item_cells)
    } else {
        let cells = (0..columns).flat_map(|column| {
            let offset = column * itemsize;
            item_cells.iter().map(move |cell| Cell { offset, ..cell.clone() })
        });
        let shape = if columns == 1 { vec![rows] } else { vec![rows, columns as u64] };
        (shape, cells.collect())
    };
    let row_bytes = if dtype.kind() == Kind::Record { itemsize } else { itemsize * columns };
    if options.dtype.is_none() {
        check_padding(&guesses, rows, row_bytes as u64)?;
    }
    let padded = guesses.iter().enumerate().filter_map(|(number, guess)| {
        let line = guess.padded().filter(|_| options.dtype.is_none())?;
        Some(format!("the leading zeros of numbers in column {} (line {line})", number + 1))
    });
    let lost = padded.collect();
    let texts = guesses.iter().map(|guess| options.dtype.is_none() && guess.is_text()).collect();
    let info = ArrayInfo { dtype, shape, fortran_order: false };
    let delimiter = options.delimiter;
    Ok(Table { info, has_header, texts, lost, delimiter, cells, row_bytes })
}

/// Checks the size of all items. `row_bytes` is that of a row in bytes.
fn check_padding(guesses: &[Guess], rows: u64, row_bytes: u64) -> Result<()> {
    let size = rows.saturating_mul(row_bytes);
    let given = guesses.iter().fold(0_u64, |sum, guess| sum.saturating_add(guess.total()));
    let longest = guesses.iter().enumerate().max_by_key(|(_, guess)| guess.longest().0);
    let Some((number, guess)) = longest else {
        return Ok(());
    };
    if size <= MAX_PADDED || size / MAX_RATIO <= given.saturating_mul(CHARACTER) {
        return Ok(());
    }
    let (bytes, line) = guess.longest();
    let reason = format!(
        "column {} has {bytes} bytes: with padding to this size, {rows} lines need {size} bytes; \
         is a quote missing?",
        number + 1
    );
    Err(Error::Line { line, reason })
}

/// Returns the dtype of all columns: that of each item of an array, or records. With `name`, the
/// first line contains the names.
fn dtype_of(guesses: &[Guess], name: Option<&dyn Fn(usize) -> String>) -> Result<Dtype> {
    let mut found = Vec::new();
    for (number, guess) in guesses.iter().enumerate() {
        found.push(guess.decide().map_err(|line| Error::Line {
            line,
            reason: format!(
                "column {} has no value, and its other values are {}",
                number + 1,
                guess.kind()
            ),
        })?);
    }
    let literal = match (name, Guessed::common(&found)) {
        (None, Some(common)) => Literal::Text(common.dtype()),
        (name, _) => {
            if found.len() > MAX_FIELDS {
                return Err(Error::File(format!("more than {MAX_FIELDS} columns of records")));
            }
            let mut fields: Vec<(String, String)> = Vec::new();
            let mut known = std::collections::HashSet::new();
            for (number, guessed) in found.iter().enumerate() {
                let given = name.map(|name| name(number)).filter(|name| !name.is_empty());
                let name = given.unwrap_or_else(|| format!("f{number}"));
                if !known.insert(name.clone()) {
                    return Err(Error::File(format!("two columns have the name {name:?}")));
                }
                fields.push((name, guessed.dtype()));
            }
            let field =
                |(name, dtype)| Literal::Tuple(vec![Literal::Text(name), Literal::Text(dtype)]);
            Literal::List(fields.into_iter().map(field).collect())
        }
    };
    Dtype::of(&literal).map_err(|error| Error::File(error.to_string()))
}

/// Writes the values as a `.npy` file.
///
/// # Errors
/// [`Error::Io`]; [`Error::Line`] for a value that is none of its type, and if the file changed
/// since [`scan`].
pub fn write_npy(
    path: &Path,
    table: &Table,
    output: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<()> {
    let header = npy_header(&table.info).map_err(|error| Error::File(error.to_string()))?;
    output.write_all(&header)?;
    let mut records = Records::open(path, table.delimiter)?;
    let mut row = vec![0; table.row_bytes];
    let mut left = table.info.shape[0];
    let mut is_first = table.has_header;
    while let Some((line, record)) = records.next(&mut *progress)? {
        if std::mem::take(&mut is_first) {
            continue;
        }
        let changed =
            || Error::Line { line, reason: "the file changed while it was read".to_owned() };
        left = left.checked_sub(1).ok_or_else(changed)?;
        if record.len() != table.cells.len() {
            return Err(changed());
        }
        for (number, (cell, field)) in table.cells.iter().zip(record).enumerate() {
            cell.encode(field, &mut row).map_err(|why| Error::Line {
                line,
                reason: format!("column {}: {why}", number + 1),
            })?;
        }
        output.write_all(&row)?;
    }
    if left == 0 {
        Ok(output.flush()?)
    } else {
        Err(Error::File("the file changed while it was read".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpy::read_npy_header;

    /// Reads a text. Returns the dtype, the shape and the items.
    fn read(
        text: &[u8],
        options: &Options,
    ) -> std::result::Result<(String, Vec<u64>, Vec<u8>), String> {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, text).unwrap();
        let table = scan(&path, options, &mut |_| {}).map_err(|error| error.to_string())?;
        let mut file = Vec::new();
        write_npy(&path, &table, &mut file, &mut |_| {}).map_err(|error| error.to_string())?;
        let mut rest = file.as_slice();
        let info = read_npy_header(&mut rest).unwrap();
        assert_eq!(info.nbytes().unwrap(), rest.len() as u64);
        Ok((info.dtype.text().to_owned(), info.shape, rest.to_vec()))
    }

    fn found(text: &str) -> (String, Vec<u64>) {
        let (dtype, shape, _) = read(text.as_bytes(), &Options::default()).unwrap();
        (dtype, shape)
    }

    fn error(text: &str) -> String {
        read(text.as_bytes(), &Options::default()).unwrap_err()
    }

    #[test]
    fn a_long_field_does_not_pad_many_lines() {
        let text =
            |lines: usize, len: usize| format!("{}{}\n", "x\n".repeat(lines), "y".repeat(len));
        let scanned = |text: &str| {
            let folder = crate::testing::tempdir();
            let path = folder.path().join("in.csv");
            std::fs::write(&path, text).unwrap();
            scan(&path, &Options::default(), &mut |_| {}).map_err(|error| error.to_string())
        };
        assert_eq!(
            scanned(&text(100_000, 200_000)).unwrap_err(),
            "line 100001: column 1 has 200000 bytes: with padding to this size, 100000 lines need \
             20000000000 bytes; is a quote missing?"
        );
        assert_eq!(scanned(&text(100_000, 2_000)).unwrap().row_bytes, 2_000);
        assert!(check_padding(&[], 1, 1).is_ok());
    }

    #[test]
    fn types_are_found_from_all_lines() {
        for (text, dtype, shape) in [
            ("1\n2\n3\n", "<i8", &[3][..]),
            ("1,2\r\n3,4\r\n", "<i8", &[2, 2]),
            ("1,2\n3,4.5", "<f8", &[2, 2]),
            ("18446744073709551615\n0\n", "<u8", &[2]),
            ("1.5\n\"\"\nnan\n-inf\n1e5", "<f8", &[5]),
            ("true\nFalse\n", "|b1", &[2]),
            ("a\nb\ncc\n", "[('a', '|S2')]", &[2]),
            ("1,x\n2,yy\n", "[('f0', '<i8'), ('f1', '|S2')]", &[2]),
            ("n,t\n1,é\n2,yyy\n", "[('n', '<i8'), ('t', '<U3')]", &[2]),
            ("\u{feff}a,b\n1,2\n", "[('a', '<i8'), ('b', '<i8')]", &[1]),
            ("a,b\n\"x, \"\"y\"\"\",2\n\"line\nbreak\",3\n", "[('a', '|S10'), ('b', '<i8')]", &[2]),
            ("9007199254740993,1\n1,2.5\n", "[('f0', '<i8'), ('f1', '<f8')]", &[2]),
            ("123456789012345678901\n1\n", "|S21", &[2]),
            ("18446744073709551615\n-1\n", "|S20", &[2]),
            ("1.5\n18446744073709551615\n", "|S20", &[2]),
            ("text\n", "|S4", &[1]),
            ("1.5\n1e400\n", "|S5", &[2]),
            ("-1e400\n.9e400\n", "|S6", &[2]),
            ("-inf\n+Infinity\n", "<f8", &[2]),
        ] {
            assert_eq!(found(text), (dtype.to_owned(), shape.to_vec()), "{text:?}");
        }
    }

    #[test]
    fn columns_of_texts_are_in_utf8() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("in.csv");
        std::fs::write(&path, b"a,b,c,d\nx,1,\xff,\xc3\xa9\nyy,2,z,\n").unwrap();
        let texts = |options: &Options| scan(&path, options, &mut |_| {}).unwrap().texts;
        assert_eq!(texts(&Options::default()), [true, false, false, true]);
        let dtype = Some(Dtype::parse("|S4").unwrap());
        assert_eq!(texts(&Options { dtype, ..Options::default() }), [false; 4]);
    }

    #[test]
    fn leading_zeros_of_numbers_are_lost() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("in.csv");
        for (text, columns) in [
            ("zip,n\n12,0\n00123,-0\n", &["1 (line 3)"][..]),
            ("1,-01.5\n2,0.5\n", &["2 (line 1)"]),
            ("007\n18446744073709551615\n", &["1 (line 1)"]),
            // Columns of text keep them.
            ("00,01\nx,99999999999999999999\n", &[]),
            ("0,0.0,0e1\n", &[]),
        ] {
            std::fs::write(&path, text).unwrap();
            let table = scan(&path, &Options::default(), &mut |_| {}).unwrap();
            let texts = columns
                .iter()
                .map(|column| format!("the leading zeros of numbers in column {column}"));
            assert_eq!(table.lost, texts.collect::<Vec<_>>(), "{text:?}");
            let dtype = Some(Dtype::parse("<f8").unwrap());
            let table = scan(&path, &Options { dtype, ..Options::default() }, &mut |_| {});
            assert_eq!(table.unwrap().lost, [""; 0]);
        }
    }

    #[test]
    fn records_have_as_many_fields_as_columns() {
        let names: Vec<String> = (0..MAX_FIELDS).map(|number| format!("column{number}")).collect();
        let values = vec!["1"; MAX_FIELDS];
        let (dtype, shape) = found(&format!("{}\n{}\n", names.join(","), values.join(",")));
        assert_eq!((Dtype::parse(&dtype).unwrap().fields().len(), shape), (MAX_FIELDS, vec![1]));
        let more = format!("{},x\n{},1\n", names.join(","), values.join(","));
        assert_eq!(error(&more), "more than 65536 columns of records");
    }

    #[test]
    fn values_are_converted() {
        let items = |text: &str, dtype: &str| {
            let dtype = Some(Dtype::parse(dtype).unwrap());
            read(text.as_bytes(), &Options { dtype, header: Header::No, ..Options::default() })
                .map(|(_, _, items)| items)
        };
        assert_eq!(items("1\n-2\n", "<i2").unwrap(), [1, 0, 254, 255]);
        assert_eq!(items("1, 2\n3,4\n", ">u2").unwrap(), [0, 1, 0, 2, 0, 3, 0, 4]);
        let named = Options { dtype: Some(Dtype::parse("<f4").unwrap()), ..Options::default() };
        assert_eq!(read(b"x\n1.5\n", &named).unwrap().2, 1.5_f32.to_le_bytes());
        assert_eq!(items("(1+2j)\n-1.5e3j\n3\n", "<c8").unwrap().len(), 24);
        assert_eq!(items("ab\nc\n", "|S3").unwrap(), *b"ab\0c\0\0");
        let record = "[('a', '|u1'), ('b', '|S2', (2,))]";
        assert_eq!(items("7,x,yz\n", record).unwrap(), *b"\x07x\0yz");
        for (text, dtype, reason) in [
            ("1\n300\n", "|u1", "line 2: column 1: \"300\" is not a value of the type |u1"),
            ("1\n\"\"\n", "<i4", "line 2: column 1: there is no value, and the type <i4 has none"),
            ("1\nx\n", "<f8", "line 2: column 1: \"x\" is not a value of the type <f8"),
            ("a\0b\na\0\n", "|S3", "line 2: column 1: NUL characters at the end would be lost"),
            ("a\0\n", "<U3", "line 1: column 1: NUL characters at the end would be lost"),
            ("toolong\n", "|S3", "line 1: column 1: \"toolong\" is not a value of the type |S3"),
            ("1,2\n", record, "it has 3 scalars, and the lines 2 fields"),
            ("1\n", "<M8[ns]", "the type <M8[ns]: times"),
        ] {
            let message = items(text, dtype).unwrap_err();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn faults_name_their_line() {
        assert_eq!(error(""), "the file has no lines");
        assert_eq!(error("a,b\n1,2\n3\n"), "line 3: it has 1 field, and the first line 2");
        assert_eq!(error("a,b\n1,\"x\n2,y\n"), "line 2: a quote in it is not closed");
        assert_eq!(error("a\n\"\n"), "line 2: a quote in it is not closed");
        assert_eq!(error("\"a\n1"), "line 1: a quote in it is not closed");
        assert_eq!(found("a,b\n1,\"x\"").1, [1]);
        // The last byte is the one that marks the end of the file while it is read.
        assert_eq!(found("1\n2\n\u{1}").1, [3]);
        assert_eq!(found("1\n2\n\u{1}\n\n").1, [3]);
        let reason = "line 3: column 1 has no value, and its other values are integers";
        assert_eq!(error("n,x\n1,2\n,3\n"), reason);
        let named = Options { header: Header::Yes, ..Options::default() };
        assert_eq!(read(b"a,a\n1,2\n", &named).unwrap_err(), "two columns have the name \"a\"");
    }

    #[test]
    fn random_bytes_are_an_array_or_an_error() {
        let mut state = 3_u64;
        let alphabet = b"0123456789.,,,\"\"\n\n\r-+eEnaN;x\xff\0 ";
        for len in 0..400 {
            let text: Vec<u8> = (0..len)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                })
                .collect();
            for header in [Header::Auto, Header::Yes, Header::No] {
                let _ = read(&text, &Options { header, ..Options::default() });
            }
        }
    }
}
