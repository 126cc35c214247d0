//! Names, numbers and versions of the built-in and registered codecs.

use std::ffi::CStr;

use super::lookup::{built_in_named, info};
use super::registry::{self, VERSION, registered};
use super::{CodecInfo, TABLE, format};

/// The names of the built-in codecs that C-Blosc2 lists.
pub const BUILTIN_NAMES: &CStr = names(&NAMES);

/// The names of the codecs of Blosc 1.x.
pub(crate) const BLOSC1_NAMES: &CStr = names(&NAMES_BLOSC1);

const MAX_NAMES: usize = 256;
static NAMES: [u8; MAX_NAMES] = join_names(false);
static NAMES_BLOSC1: [u8; MAX_NAMES] = join_names(true);

const fn names(joined: &'static [u8; MAX_NAMES]) -> &'static CStr {
    match CStr::from_bytes_until_nul(joined) {
        Ok(names) => names,
        Err(_) => panic!("the names are longer than MAX_NAMES"),
    }
}

/// Returns the names of the built-in codecs, separated by commas and followed by zeros.
const fn join_names(for_blosc1: bool) -> [u8; MAX_NAMES] {
    let mut joined = [0; MAX_NAMES];
    let (mut row, mut len) = (0, 0);
    while row < TABLE.len() {
        let codec = &TABLE[row];
        row += 1;
        if !codec.is_built_in() || !codec.can_encode || codec.is_blosc1_only && !for_blosc1 {
            continue;
        }
        if len != 0 {
            joined[len] = b',';
            len += 1;
        }
        let name = codec.name.to_bytes();
        let mut i = 0;
        while i < name.len() {
            joined[len] = name[i];
            (len, i) = (len + 1, i + 1);
        }
    }
    joined
}

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

impl LibraryInfo {
    /// Returns the library that C-Blosc 1.x reports for a built-in codec.
    pub(crate) fn of_blosc1(codec: &CodecInfo) -> LibraryInfo {
        LibraryInfo {
            code: codec.format,
            name: codec.library,
            version: codec.blosc1_library_version,
        }
    }
}

/// Returns the compcode of the codec with this name, which is case-sensitive. If several registered
/// codecs share a name, the first registered one is returned.
pub fn compname_to_compcode(name: impl AsRef<[u8]>) -> Option<u8> {
    let name = name.as_ref();
    match blosc2_named(name) {
        Some(codec) => Some(codec.id),
        None => registry::find_by_name(name).map(|codec| codec.id()),
    }
}

/// Returns the compcode of the codec of Blosc 1.x with this name, which is case-sensitive.
pub(crate) fn blosc1_compcode(name: &[u8]) -> Option<u8> {
    built_in_named(name).map(|codec| codec.id)
}

/// Returns the name of the codec with this compcode.
pub fn compcode_to_compname(compcode: u8) -> Option<&'static CStr> {
    match built_in(compcode) {
        Some(codec) => (!codec.is_blosc1_only).then_some(codec.name),
        None => registered(compcode).map(|codec| codec.name()),
    }
}

/// Returns the library that implements the codec with this name.
pub fn library_info(name: impl AsRef<[u8]>) -> Option<LibraryInfo> {
    let name = name.as_ref();
    match blosc2_named(name) {
        Some(codec) => Some(LibraryInfo {
            code: codec.format,
            name: codec.library,
            version: codec.library_version,
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
pub(crate) fn wire_format(compcode: u8) -> Option<u8> {
    match built_in(compcode) {
        Some(codec) => Some(codec.format),
        None => registered(compcode).map(|_| format::USER),
    }
}

/// Returns the version byte of chunks written with this codec.
pub(crate) fn wire_version(compcode: u8) -> Option<u8> {
    match built_in(compcode) {
        Some(_) => Some(VERSION),
        None => registered(compcode).map(|codec| codec.version()),
    }
}

/// Returns the built-in codec with this compcode, if this build can compress with it.
pub(crate) fn built_in(compcode: u8) -> Option<&'static CodecInfo> {
    info(compcode).filter(|codec| codec.is_built_in() && codec.can_encode)
}

fn blosc2_named(name: &[u8]) -> Option<&'static CodecInfo> {
    built_in_named(name).filter(|codec| !codec.is_blosc1_only)
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::super::id;
    use super::*;

    #[test]
    fn builtin_names_and_codes_map_both_ways() {
        for (name, code) in
            [(c"blosclz", 0), (c"lz4", 1), (c"lz4hc", 2), (c"zlib", 4), (c"zstd", 5)]
        {
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
    fn the_lists_of_names_follow_the_table() {
        assert_eq!(BUILTIN_NAMES, c"blosclz,lz4,lz4hc,zlib,zstd");
        assert_eq!(BLOSC1_NAMES, c"blosclz,lz4,lz4hc,snappy,zlib,zstd");
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
