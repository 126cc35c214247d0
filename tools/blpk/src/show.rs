//! Headers and values as text and as JSON.

use crate::log::Logger;
use ferroblosc::chunk::BasicHeader;
use ferroblosc::codec;
use ferroblosc_formats::bloscpack::{Metadata, double_pretty_size};
use ferroblosc_formats::blpk::{Header, MetadataHeader, bytes_repr};
use ferroblosc_formats::numpy::text_repr;
use serde_json::json;

/// The maximum width of a shown value, in characters.
const WIDTH: usize = 90;
/// The text for an unknown number.
const UNKNOWN: &str = "-1";

/// Returns `True` or `False`.
pub fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn size(size: Option<u32>) -> String {
    size.map_or(UNKNOWN.to_owned(), |size| double_pretty_size(size.into()))
}

/// Formats a header, with a line for each field.
pub fn header(header: &Header) -> String {
    let nchunks = header.nchunks.map_or(UNKNOWN.to_owned(), |n| n.to_string());
    format!(
        "BloscpackHeader:
    format_version: {}
    offsets: {}
    metadata: {}
    checksum: '{}'
    typesize: {}
    chunk_size: {}
    last_chunk: {}
    nchunks: {nchunks}
    max_app_chunks: {}",
        header.version,
        truth(header.offsets),
        truth(header.metadata),
        header.checksum.name(),
        header.typesize,
        size(header.chunk_size),
        size(header.last_chunk),
        header.max_app_chunks,
    )
}

/// Formats the header of a metadata section, with a line for each field.
pub fn metadata_header(header: &MetadataHeader) -> String {
    let trimmed = |bytes: &[u8]| -> String {
        let end = bytes.iter().rposition(|&byte| byte != 0);
        bytes_repr(&bytes[..end.map_or(0, |at| at + 1)])
    };
    format!(
        "MetadataHeader:
    magic_format: {}
    meta_options: '{:08b}'
    meta_checksum: '{}'
    meta_codec: '{}'
    meta_level: {}
    meta_size: {}
    max_meta_size: {}
    meta_comp_size: {}
    user_codec: {}",
        trimmed(&header.magic_format),
        header.options,
        header.checksum.name(),
        header.codec.name(),
        header.level,
        double_pretty_size(header.size.into()),
        double_pretty_size(header.reserved.into()),
        double_pretty_size(header.stored.into()),
        trimmed(&header.user_codec),
    )
}

/// Formats metadata, possibly in several lines.
pub fn metadata(metadata: &Metadata) -> String {
    match metadata {
        Metadata::Value(value) => value.pretty(WIDTH),
        Metadata::Opaque { kind, bytes, error } => {
            let problem = match error {
                Some(error) => format!("cannot be read: {error}"),
                None => "are of an unknown kind".to_owned(),
            };
            format!("the '{}' bytes of {} {problem}", bytes.len(), bytes_repr(kind))
        }
    }
}

/// Formats the header of a chunk in one line.
pub fn chunk_header(header: &BasicHeader) -> String {
    format!(
        "OrderedDict([('version', {}), ('versionlz', {}), ('flags', {}), ('typesize', {}), ('nbytes', {}), ('blocksize', {}), ('ctbytes', {})])",
        header.version,
        header.versionlz,
        header.flags,
        header.typesize,
        header.nbytes,
        header.blocksize,
        header.cbytes,
    )
}

/// Returns the name of the codec in the flags of a chunk.
pub fn codec(header: &BasicHeader) -> String {
    let format = header.format();
    match codec::info_of_format(format) {
        Some(codec) => codec.name_str().to_owned(),
        None => format!("unknown ({format})"),
    }
}

/// Returns the flags of a chunk, by their names in Bloscpack.
fn flags(header: &BasicHeader) -> [(&'static str, bool); 4] {
    [
        ("byte_shuffle", header.flags & 0x01 != 0),
        ("pure_memcpy", header.flags & 0x02 != 0),
        ("bit_shuffle", header.flags & 0x04 != 0),
        // The raw bit. In chunks of C-Blosc 1.14 and later it means that blocks are not split.
        ("split_blocks", header.flags & 0x10 != 0),
    ]
}

/// Formats the flags of a chunk in one line.
pub fn chunk_flags(header: &BasicHeader) -> String {
    let flags = flags(header).map(|(name, value)| format!("('{name}', {}), ", truth(value)));
    format!("OrderedDict([{}('codec', {})])", flags.concat(), text_repr(&codec(header)))
}

/// Returns a header as JSON.
pub fn header_json(header: &Header) -> serde_json::Value {
    json!({
        "format_version": header.version,
        "offsets": header.offsets,
        "metadata": header.metadata,
        "checksum": header.checksum.name(),
        "typesize": header.typesize,
        "chunk_size": header.chunk_size,
        "last_chunk": header.last_chunk,
        "nchunks": header.nchunks,
        "max_app_chunks": header.max_app_chunks,
    })
}

/// Returns the header of a metadata section as JSON.
pub fn metadata_header_json(header: &MetadataHeader) -> serde_json::Value {
    json!({
        "magic_format": String::from_utf8_lossy(header.kind()),
        "meta_options": header.options,
        "meta_checksum": header.checksum.name(),
        "meta_codec": header.codec.name(),
        "meta_level": header.level,
        "meta_size": header.size,
        "max_meta_size": header.reserved,
        "meta_comp_size": header.stored,
    })
}

/// Returns the header of a chunk as JSON.
pub fn chunk_json(header: &BasicHeader) -> serde_json::Value {
    let mut value = json!({
        "version": header.version,
        "versionlz": header.versionlz,
        "typesize": header.typesize,
        "nbytes": header.nbytes,
        "blocksize": header.blocksize,
        "ctbytes": header.cbytes,
        "codec": codec(header),
    });
    for (name, flag) in flags(header) {
        value[name] = flag.into();
    }
    value
}

/// Returns metadata as JSON: a string if JSON does not support a value, such as NaN, and null if
/// they are of another format.
pub fn metadata_json(metadata: &Metadata) -> serde_json::Value {
    match metadata {
        Metadata::Value(value) => {
            let text = value.to_json();
            serde_json::from_str(&text).unwrap_or(text.into())
        }
        Metadata::Opaque { .. } => serde_json::Value::Null,
    }
}

/// Prints a value without a prefix.
pub fn print_json(value: &serde_json::Value) {
    crate::log::print(&format!("{value:#}\n"));
}

/// Prints the elapsed time, and the speed in uncompressed bytes per second.
pub fn elapsed(logger: &Logger, since: std::time::Instant, bytes: u64) {
    let seconds = since.elapsed().as_secs_f64();
    let speed = (bytes as f64 / seconds.max(1e-9)) as u64;
    let speed = ferroblosc_formats::bloscpack::pretty_size(speed);
    logger.verbose(&format!("elapsed time: {seconds:.3}s ({speed}/s)"));
}
