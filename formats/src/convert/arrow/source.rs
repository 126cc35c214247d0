//! Files of Arrow IPC and Parquet as inputs.
//!
//! [`Source`] counts the bytes that are read, and keeps the first error of the system. Before the
//! crate `arrow-ipc` reads a file, the sizes in its messages are checked: the crate allocates
//! memory for them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arrow_ipc::{Message, MessageHeader, root_as_footer, root_as_message};
use bytes::Bytes;
use ferroblosc::io::ReadAt;
use ferroblosc::io::named::{NamedFile, in_io};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::failures::damaged;
use crate::convert::error::{Error, Result};
use crate::store;

/// The size of the buffer of sequential reads, in bytes.
const BUFFER: usize = 8 << 10;
/// The maximum ratio of compression: a block of Zstd with 4 bytes has up to 128 KiB.
const MAX_RATIO: u64 = 1 << 15;
/// The first bytes of the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// A file, and a position in it. Clones share the file, but not the position.
#[derive(Clone)]
pub struct Source {
    shared: Arc<Shared>,
    position: u64,
}

struct Shared {
    file: File,
    path: PathBuf,
    len: u64,
    read: AtomicU64,
    error: Mutex<Option<io::Error>>,
}

impl Source {
    /// Opens a regular file.
    pub fn open(path: &Path) -> io::Result<Source> {
        let file = NamedFile::open_regular(path)?.into_file();
        let len = file.metadata()?.len();
        let (read, error) = (AtomicU64::new(0), Mutex::new(None));
        let shared = Shared { file, path: path.to_owned(), len, read, error };
        Ok(Source { shared: Arc::new(shared), position: 0 })
    }

    /// Returns the size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.shared.len
    }

    /// Returns the number of bytes that all clones have read.
    pub fn total_read(&self) -> u64 {
        self.shared.read.load(Ordering::Relaxed)
    }

    /// Returns the first error of reading, once.
    pub fn failure(&self) -> Option<io::Error> {
        self.shared.error.lock().ok()?.take()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> io::Result<usize> {
        match self.shared.file.read_at(position, dest) {
            Ok(len) => {
                self.shared.read.fetch_add(len as u64, Ordering::Relaxed);
                Ok(len)
            }
            Err(error) => {
                let error = error.at(&self.shared.path);
                if let Ok(mut first) = self.shared.error.lock() {
                    first.get_or_insert_with(|| in_io(error.clone()));
                }
                Err(in_io(error))
            }
        }
    }

    /// Returns a range of the file.
    ///
    /// # Errors
    /// [`Error::Arrow`] if the range is not in the file; the errors of reading.
    pub fn bytes(&self, start: u64, len: u64) -> Result<Vec<u8>> {
        if start.checked_add(len).is_none_or(|end| end > self.len()) {
            return Err(damaged("the file is truncated"));
        }
        let mut bytes = Vec::new();
        let len = usize::try_from(len).map_err(|_| store::Error::Memory)?;
        bytes.try_reserve_exact(len).map_err(store::Error::from)?;
        bytes.resize(len, 0);
        if self.read_at(start, &mut bytes)? < len {
            return Err(damaged("the file is truncated"));
        }
        Ok(bytes)
    }

    /// Whether the first message is a schema.
    pub fn starts_with_schema(&self) -> bool {
        let message = self.message(0);
        let Ok(Some((metadata, _))) = message else {
            return false;
        };
        root_as_message(&metadata).is_ok_and(|one| one.header_type() == MessageHeader::Schema)
    }

    /// Returns the metadata of the message at an offset, and the offset of its body; `None` at the
    /// end of the stream.
    fn message(&self, offset: u64) -> Result<Option<(Vec<u8>, u64)>> {
        let start = self.bytes(offset, 4)?;
        let has_mark = start == CONTINUATION;
        let prefix = if has_mark { 8 } else { 4 };
        let len = if has_mark { self.bytes(offset + 4, 4)? } else { start };
        let len = i32::from_le_bytes(len.try_into().unwrap_or_default());
        let len = u64::try_from(len).map_err(|_| damaged("the size of a message is negative"))?;
        if len == 0 {
            return Ok(None);
        }
        let start = offset + prefix;
        Ok(Some((self.bytes(start, len)?, start + len)))
    }

    /// Checks the messages of a stream of Arrow IPC.
    pub fn check_stream(&self) -> Result<()> {
        let mut offset = 0;
        // A stream can end without a mark.
        while offset < self.len() {
            let Some((metadata, body)) = self.message(offset)? else {
                break;
            };
            offset = self.check_message(&metadata, body)?;
        }
        Ok(())
    }

    /// Checks the messages of an Arrow IPC file. It ends with the footer, its length in 4 bytes and
    /// `ARROW1`.
    pub fn check_file(&self) -> Result<()> {
        let Some(end) = self.len().checked_sub(10) else {
            return Err(damaged("the file is truncated"));
        };
        let tail = self.bytes(end, 10)?;
        if !tail.ends_with(b"ARROW1") {
            return Err(damaged("the file is truncated or damaged: it does not end with ARROW1"));
        }
        let len = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        let len = u64::try_from(len).ok().filter(|&len| len <= end);
        let len = len.ok_or_else(|| damaged("the footer is larger than the file"))?;
        let footer = self.bytes(end - len, len)?;
        let footer = root_as_footer(&footer);
        let footer = footer.map_err(|error| damaged(format!("the footer is damaged: {error}")))?;
        let blocks = [footer.dictionaries(), footer.recordBatches()];
        for block in blocks.into_iter().flatten().flatten() {
            let sizes = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
            let [offset, metadata, body] = sizes.map(u64::try_from);
            let (Ok(offset), Ok(metadata), Ok(body)) = (offset, metadata, body) else {
                return Err(damaged("a size in the footer is negative"));
            };
            let sum = offset.checked_add(metadata).and_then(|start| start.checked_add(body));
            if sum.is_none_or(|sum| sum > self.len()) {
                return Err(damaged("a size in the footer is larger than the file"));
            }
            let bytes = self.bytes(offset, metadata)?;
            let prefix = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
            let Some(message) = bytes.get(prefix..) else {
                return Err(damaged("a message is too short"));
            };
            self.check_message(message, offset + metadata)?;
        }
        Ok(())
    }

    /// Checks the sizes in a message. Returns the end of its body.
    fn check_message(&self, metadata: &[u8], body: u64) -> Result<u64> {
        let message = root_as_message(metadata);
        let message = message.map_err(|error| damaged(format!("a message is damaged: {error}")))?;
        let end = u64::try_from(message.bodyLength()).ok().and_then(|len| body.checked_add(len));
        let Some(end) = end.filter(|&end| end <= self.len()) else {
            return Err(damaged("the file is truncated"));
        };
        self.check_buffers(&message, body, end)?;
        Ok(end)
    }

    /// Checks the sizes of compressed buffers. The first 8 bytes of a buffer are its size without
    /// compression.
    fn check_buffers(&self, message: &Message<'_>, body: u64, end: u64) -> Result<()> {
        let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
        let Some(batch) = message.header_as_record_batch().or(dictionary) else {
            return Ok(());
        };
        let (Some(_), Some(buffers)) = (batch.compression(), batch.buffers()) else {
            return Ok(());
        };
        for buffer in buffers {
            let start = u64::try_from(buffer.offset()).ok().and_then(|at| body.checked_add(at));
            let len = u64::try_from(buffer.length()).ok();
            let (Some(start), Some(len)) = (start, len) else {
                return Err(damaged("the range of a buffer is negative"));
            };
            if start.checked_add(len).is_none_or(|last| last > end) {
                return Err(damaged("a buffer is not in the body of its message"));
            }
            if len < 8 {
                continue;
            }
            let size = self.bytes(start, 8)?;
            // -1 is a buffer that is not compressed.
            let size = i64::from_le_bytes(size.try_into().unwrap_or_default());
            let Ok(size) = u64::try_from(size) else {
                continue;
            };
            if size > len.saturating_mul(MAX_RATIO) {
                return Err(damaged(format!("a buffer of {len} bytes has a size of {size} bytes")));
            }
            let mut probe: Vec<u8> = Vec::new();
            let size = usize::try_from(size).map_err(|_| store::Error::Memory)?;
            probe.try_reserve_exact(size).map_err(store::Error::from)?;
        }
        Ok(())
    }
}

impl Read for Source {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let len = self.read_at(self.position, dest)?;
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for Source {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let position = match target {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.len().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.shared.len
    }
}

impl ChunkReader for Source {
    type T = BufReader<Source>;

    fn get_read(&self, start: u64) -> ParquetResult<BufReader<Source>> {
        let source = Source { position: start, ..self.clone() };
        Ok(BufReader::with_capacity(BUFFER, source))
    }

    fn get_bytes(&self, start: u64, len: usize) -> ParquetResult<Bytes> {
        self.bytes(start, len as u64).map(Bytes::from).map_err(|error| match error {
            Error::Arrow { why, .. } => ParquetError::EOF(why),
            error => ParquetError::External(error.to_string().into()),
        })
    }
}
