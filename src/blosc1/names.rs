//! The codecs of Blosc 1.x by name and number, and the libraries that implement them.

use std::ffi::CStr;

use crate::codec::{self, LibraryInfo};

/// The names of all codecs.
pub const COMPRESSORS: &CStr = codec::BLOSC1_NAMES;

/// The names of all codecs of Blosc 1.x, in the order of their numbers.
const KNOWN_NAMES: [&CStr; 6] = [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"];
/// The names of their libraries, in the order of the formats.
const KNOWN_LIBRARIES: [&CStr; 5] = [c"BloscLZ", c"LZ4", c"Snappy", c"Zlib", c"Zstd"];

/// Returns the name of the codec with this number.
pub fn compcode_to_compname(compcode: i32) -> Option<&'static CStr> {
    codec::built_in(u8::try_from(compcode).ok()?).map(|codec| codec.name)
}

/// Returns the name of a codec of Blosc 1.x, also if this build does not have the codec.
pub fn known_compname(compcode: i32) -> Option<&'static CStr> {
    KNOWN_NAMES.get(usize::try_from(compcode).ok()?).copied()
}

/// Returns the number of the codec with this name, which is case-sensitive.
pub fn compname_to_compcode(name: &[u8]) -> Option<u8> {
    codec::blosc1_compcode(name)
}

/// Returns the library that implements the codec with this name.
pub fn library(compname: &[u8]) -> Option<LibraryInfo> {
    codec::built_in(compname_to_compcode(compname)?).map(LibraryInfo::of_blosc1)
}

/// Returns the name of the library that decodes streams of this format, also if this build does not
/// have the library.
pub(super) fn library_of_format(format: u8) -> Option<&'static CStr> {
    KNOWN_LIBRARIES.get(usize::from(format)).copied()
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_of_codecs_map_both_ways() {
        let names = COMPRESSORS.to_bytes().split(|&byte| byte == b',');
        for (code, name) in names.enumerate() {
            assert_eq!(compname_to_compcode(name), Some(code as u8));
            let back = compcode_to_compname(code as i32).unwrap();
            assert_eq!(back.to_bytes(), name);
            assert_eq!(known_compname(code as i32), Some(back));
            let library = library(name).unwrap();
            assert_eq!(library_of_format(library.code), Some(library.name));
        }
        for code in [-1, 6, 7, 32, 256, i32::MIN] {
            assert_eq!(compcode_to_compname(code), None);
            assert_eq!(known_compname(code), None);
        }
        for name in [&b""[..], b"LZ4", b"ndlz", b"snappy "] {
            assert_eq!(compname_to_compcode(name), None);
            assert_eq!(library(name), None);
        }
    }

    #[test]
    fn libraries_have_distinct_numbers() {
        let code_and_name = |name| library(name).map(|library| (library.code, library.name));
        assert_eq!(code_and_name(b"lz4hc"), Some((1, c"LZ4")));
        assert_eq!(code_and_name(b"snappy"), Some((2, c"Snappy")));
        assert_eq!(code_and_name(b"zlib"), Some((3, c"Zlib")));
        assert_eq!(code_and_name(b"zstd"), Some((4, c"Zstd")));
        let version = |name| library(name).map(|library| library.version);
        assert_eq!(version(b"blosclz"), Some(c"2.5.1"));
        assert_eq!(version(b"zlib"), Some(c"1.3.2"));
    }
}
