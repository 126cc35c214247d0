//! Names, numbers and versions of the built-in and registered codecs.

use std::ffi::CStr;

use super::builtin::{BUILTIN_VERSION, Builtin, TABLE};
use super::registry::{self, registered};
use super::{format, id};

/// The names of the built-in codecs that C-Blosc2 lists.
pub const BUILTIN_NAMES: &CStr = c"blosclz,lz4,lz4hc,zlib,zstd";

/// The library that implements a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryInfo {
    /// The number of the library: the format of a built-in codec, the registered number of any
    /// other.
    pub code: u8,
    /// The library's name.
    pub name: &'static CStr,
    /// The library's version, `unknown` for registered codecs.
    pub version: &'static CStr,
}

/// Returns the compcode of the codec with this name, which is case-sensitive. If several registered
/// codecs share a name, the first registered one is returned.
pub fn compname_to_compcode(name: impl AsRef<[u8]>) -> Option<u8> {
    let name = name.as_ref();
    match builtin_named(name) {
        Some(row) => Some(row.compcode),
        None => registry::find_by_name(name).map(|codec| codec.id()),
    }
}

/// Returns the name of the codec with this compcode.
pub fn compcode_to_compname(compcode: u8) -> Option<&'static CStr> {
    match builtin(compcode) {
        Some(row) => row.name,
        None => registered(compcode).map(|codec| codec.name()),
    }
}

/// Returns the library that implements the codec with this name.
pub fn library_info(name: impl AsRef<[u8]>) -> Option<LibraryInfo> {
    let name = name.as_ref();
    match builtin_named(name) {
        Some(row) => Some(LibraryInfo {
            code: row.format,
            name: row.library,
            version: row.library_version,
        }),
        None => registry::find_by_name(name).map(|codec| LibraryInfo {
            code: codec.complib(),
            name: codec.name(),
            version: c"unknown",
        }),
    }
}

/// Returns the format number of chunks written with this codec, or `None` if it cannot be used for
/// writing.
pub fn wire_format(compcode: u8) -> Option<u8> {
    match builtin(compcode) {
        Some(row) => Some(row.format),
        None => registered(compcode).map(|_| format::USER),
    }
}

/// Returns the version byte of chunks written with this codec.
pub fn wire_version(compcode: u8) -> Option<u8> {
    match builtin(compcode) {
        Some(_) => Some(BUILTIN_VERSION),
        None => registered(compcode).map(|codec| codec.version()),
    }
}

fn builtin(compcode: u8) -> Option<&'static Builtin> {
    if compcode >= id::FIRST_REGISTERED {
        return None;
    }
    TABLE.iter().find(|row| row.compcode == compcode)
}

fn builtin_named(name: &[u8]) -> Option<&'static Builtin> {
    TABLE
        .iter()
        .find(|row| row.name.is_some_and(|known| known.to_bytes() == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_names_and_codes_map_both_ways() {
        for (name, code) in [
            (c"blosclz", 0),
            (c"lz4", 1),
            (c"lz4hc", 2),
            (c"zlib", 4),
            (c"zstd", 5),
        ] {
            assert_eq!(compname_to_compcode(name.to_bytes()), Some(code));
            assert_eq!(compcode_to_compname(code), Some(name));
            assert_eq!(wire_version(code), Some(1));
        }
        assert_eq!(wire_format(id::LZ4HC), Some(format::LZ4));
        assert_eq!(wire_format(id::ZSTD), Some(format::ZSTD));
    }

    #[test]
    fn row_c15_plugin_names_are_known_without_init() {
        for (name, code) in [
            ("ndlz", 32),
            ("zfp_acc", 33),
            ("zfp_prec", 34),
            ("zfp_rate", 35),
            ("openhtj2k", 36),
            ("grok", 37),
            ("openzl", 38),
            ("j2k", 39),
            ("htj2k", 40),
        ] {
            assert_eq!(compname_to_compcode(name), Some(code));
            let back = compcode_to_compname(code).expect("a name");
            assert_eq!(back.to_bytes(), name.as_bytes());
            assert_eq!(wire_format(code), Some(format::USER));
            let library = library_info(name).expect("a library");
            assert_eq!((library.code, library.version), (code, c"unknown"));
            assert_eq!(library.name.to_bytes(), name.as_bytes());
        }
    }

    #[test]
    fn row_c42_the_name_snappy_is_unknown() {
        assert_eq!(compname_to_compcode("snappy"), None);
        assert_eq!(compcode_to_compname(id::SNAPPY), None);
        assert_eq!(library_info("snappy"), None);
    }

    #[test]
    fn row_c12_an_unknown_name_has_no_library() {
        assert_eq!(library_info("no such codec"), None);
        assert_eq!(library_info(""), None);
        assert_eq!(compname_to_compcode("LZ4"), None);
        for code in [6, 7, 31, 41, 159] {
            assert_eq!(compcode_to_compname(code), None);
            assert_eq!(wire_format(code), None);
        }
    }

    #[test]
    fn libraries_report_the_versions_of_the_reference() {
        let info = |name| {
            let library = library_info(name).expect("a library");
            (library.code, library.name, library.version)
        };
        assert_eq!(info("blosclz"), (0, c"BloscLZ", c"2.5.3"));
        assert_eq!(info("lz4"), (1, c"LZ4", c"1.10.0"));
        assert_eq!(info("lz4hc"), (1, c"LZ4", c"1.10.0"));
        assert_eq!(info("zlib"), (3, c"Zlib", c"2.3.3"));
        assert_eq!(info("zstd"), (4, c"Zstd", c"1.5.7"));
    }
}
