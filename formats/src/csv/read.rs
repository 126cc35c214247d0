//! The records of a file, with their lines.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use super::error::{Error, Progress, Result};
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use ferroblosc::io::named::NamedFile;

/// The maximum size of a record in bytes.
const MAX_RECORD: u64 = 64 << 20;
/// The start of a file in UTF-8, which some programs write.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The size of the buffers in bytes.
const BUFFER: usize = 256 << 10;

/// Returns a line to add after the last one. If a quote is not closed, it is part of the last
/// record.
fn end_line(delimiter: u8) -> &'static [u8] {
    if delimiter == 1 { b"\n\x02\n" } else { b"\n\x01\n" }
}

/// A file that counts the bytes that are read, and fails if a record exceeds its limit: a missing
/// quote would make the rest of the file one field.
struct Counted {
    file: BufReader<NamedFile>,
    /// The number of bytes read.
    total: Rc<Cell<u64>>,
    /// The number of bytes at the end of the last record.
    done: Rc<Cell<u64>>,
    /// The bytes at the start that are not a byte order mark.
    start: io::Cursor<Vec<u8>>,
    /// The rest of the line after the last one.
    end: &'static [u8],
}

impl Read for Counted {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.total.get() - self.done.get() > MAX_RECORD + 2 * BUFFER as u64 {
            let text = format!("a line has more than {MAX_RECORD} bytes; is a quote missing?");
            return Err(io::Error::other(TooLong(text)));
        }
        let count = match self.start.read(dest)? {
            0 => match self.file.read(dest)? {
                0 => return self.end.read(dest),
                count => count,
            },
            count => count,
        };
        self.total.set(self.total.get() + count as u64);
        Ok(count)
    }
}

/// The error of a record that exceeds its limit.
#[derive(Debug)]
struct TooLong(String);

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLong {}

/// An open file.
pub struct Records {
    reader: Reader<Counted>,
    record: ByteRecord,
    /// The record after it. The last one is the line `end`.
    ahead: ByteRecord,
    end: &'static [u8],
    is_ended: bool,
    /// The number of fields of the first record.
    fields: Option<usize>,
    total: Rc<Cell<u64>>,
    done: Rc<Cell<u64>>,
    reported: u64,
}

impl Records {
    /// Opens a file.
    pub fn open(path: &Path, delimiter: u8) -> Result<Records> {
        let mut file = BufReader::with_capacity(BUFFER, NamedFile::open_regular(path)?);
        let mut start = Vec::new();
        file.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut start)?;
        if start == BYTE_ORDER_MARK {
            start.clear();
        }
        let (total, done) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let end = end_line(delimiter);
        let counted = Counted {
            file,
            total: total.clone(),
            done: done.clone(),
            start: io::Cursor::new(start),
            end,
        };
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(BUFFER);
        let reader = builder.from_reader(counted);
        let (record, ahead) = (ByteRecord::new(), ByteRecord::new());
        let (is_ended, fields) = (false, None);
        let mut records =
            Records { reader, record, ahead, end, is_ended, fields, total, done, reported: 0 };
        records.is_ended = !records.read_ahead()?;
        Ok(records)
    }

    /// Returns the line and the fields of the next record. All have the same number of fields.
    pub fn next(&mut self, progress: Progress<'_>) -> Result<Option<(u64, &ByteRecord)>> {
        if self.is_ended {
            return Ok(None);
        }
        std::mem::swap(&mut self.record, &mut self.ahead);
        self.is_ended = !self.read_ahead()?;
        progress(self.total.get() - self.reported);
        self.reported = self.total.get();
        let line = self.record.position().map_or(1, csv::Position::line);
        if self.is_ended {
            let is_end = self.record.as_slice() == self.end.trim_ascii() && self.record.len() == 1;
            let reason = "a quote in it is not closed".to_owned();
            return if is_end { Ok(None) } else { Err(Error::Line { line, reason }) };
        }
        let (len, expected) = (self.record.len(), *self.fields.get_or_insert(self.record.len()));
        if len != expected {
            let plural = if len == 1 { "" } else { "s" };
            let reason = format!("it has {len} field{plural}, and the first line {expected}");
            return Err(Error::Line { line, reason });
        }
        Ok(Some((line, &self.record)))
    }

    /// Reads the next record ahead. Returns whether there is one.
    fn read_ahead(&mut self) -> Result<bool> {
        let line = self.reader.position().line();
        let read = self.reader.read_byte_record(&mut self.ahead);
        self.done.set(self.total.get());
        read.map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<TooLong>()) => {
                Error::Line { line, reason: error.to_string() }
            }
            ErrorKind::Io(error) => Error::Io(error),
            other => Error::File(format!("{other:?}")),
        })
    }
}
