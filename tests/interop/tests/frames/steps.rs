//! Calls on a super-chunk as values that apply to a handle of either library.

use ferroblosc_interop::schunk::{CallResult, Handle};

/// A chunk and its contents.
#[derive(Clone, Debug)]
pub struct Made {
    /// The chunk.
    pub chunk: Vec<u8>,
    /// The data; `None` if unspecified.
    pub data: Option<Vec<u8>>,
    /// The uncompressed size in bytes.
    pub nbytes: usize,
    /// Whether the chunk is zeros, NaNs or unspecified, which frames do not store.
    pub special: bool,
    /// Whether the blocks have variable length.
    pub vl: bool,
    /// Whether the header has 16 bytes.
    pub short_header: bool,
    /// Whether there is a dictionary.
    pub dictionary: bool,
}

/// A call; its indices may be out of range.
#[derive(Clone, Debug)]
pub enum Step {
    Append(Made, bool),
    Insert(i64, Made, bool),
    Update(i64, Made, bool),
    AppendBuffer(Made),
    Delete(i64),
    Reorder(Vec<i64>),
    FillSpecial(i64, i32, i32),
    SetSlice(i64, Vec<u8>),
    MetaUpdate(String, Vec<u8>),
    VlAdd(String, Vec<u8>),
    VlUpdate(String, Vec<u8>),
    VlDelete(String),
    Slice(i64, i64),
    Sparse(Vec<i64>),
    Decompress(i64, usize),
    Chunk(i64),
    Lazy(i64),
    DecompressLazily(i64, usize),
    VlBlock(i64, i32),
    VlGet(String),
    VlExists(String),
    Refresh,
}

impl Step {
    /// Makes the call.
    pub fn apply(&self, handle: &Handle, typesize: usize) -> CallResult {
        let code = match self {
            Step::Append(made, copy) => handle.append(&made.chunk, *copy),
            Step::Insert(at, made, copy) => handle.insert(*at, &made.chunk, *copy),
            Step::Update(at, made, copy) => handle.update(*at, &made.chunk, *copy),
            Step::AppendBuffer(made) => {
                let data = made.data.as_ref().expect("a buffer has data");
                handle.append_buffer(data)
            }
            Step::Delete(at) => handle.delete(*at),
            Step::Reorder(order) => handle.reorder(order),
            Step::FillSpecial(items, special, chunksize) => {
                handle.fill_special(*items, *special, *chunksize)
            }
            Step::SetSlice(start, data) => {
                handle.set_slice(*start, start + (data.len() / typesize) as i64, data)
            }
            Step::MetaUpdate(name, content) => handle.meta_update(name, content),
            Step::VlAdd(name, content) => handle.vlmeta_add(name, content),
            Step::VlUpdate(name, content) => handle.vlmeta_update(name, content),
            Step::VlDelete(name) => handle.vlmeta_delete(name),
            Step::VlExists(name) => handle.vlmeta_exists(name),
            Step::Refresh => handle.refresh(),
            Step::Slice(start, stop) => return handle.slice(*start, *stop, typesize),
            Step::Sparse(coordinates) => return handle.sparse(coordinates, typesize),
            Step::Decompress(at, capacity) => return handle.decompress(*at, *capacity),
            Step::Chunk(at) => return handle.chunk(*at),
            Step::Lazy(at) => return handle.lazy_chunk(*at),
            Step::DecompressLazily(at, capacity) => {
                return handle.decompress_lazily(*at, *capacity);
            }
            Step::VlBlock(at, block) => return handle.vl_block(*at, *block),
            Step::VlGet(name) => return handle.vlmeta(name),
        };
        (code, Vec::new())
    }

    /// Returns a short description for messages.
    pub fn brief(&self) -> String {
        let made = |made: &Made| {
            format!(
                "{} -> {}{}{}{}",
                made.nbytes,
                made.chunk.len(),
                if made.special { " special" } else { "" },
                if made.short_header { " short" } else { "" },
                if made.dictionary { " dictionary" } else { "" },
            )
        };
        match self {
            Step::Append(chunk, _) => format!("append {}", made(chunk)),
            Step::Insert(at, chunk, _) => format!("insert {at}: {}", made(chunk)),
            Step::Update(at, chunk, _) => format!("update {at}: {}", made(chunk)),
            Step::AppendBuffer(buffer) => format!("append buffer of {}", buffer.nbytes),
            Step::SetSlice(start, data) => format!("set slice at {start}, {} bytes", data.len()),
            Step::MetaUpdate(name, content) => format!("update meta {name}: {}", content.len()),
            Step::VlAdd(name, content) => format!("add vlmeta {name}: {}", content.len()),
            Step::VlUpdate(name, content) => format!("update vlmeta {name}: {}", content.len()),
            other => format!("{other:?}"),
        }
    }
}
