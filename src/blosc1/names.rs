//! The codecs of Blosc 1.x by name and number, and the libraries that implement them.

use std::ffi::CStr;

use crate::codec::{self, format, id};

/// The names of all codecs.
pub const COMPRESSORS: &CStr = c"blosclz,lz4,lz4hc,snappy,zlib,zstd";

/// A library that implements codecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// The number of the library, equal to the format of its streams.
    pub code: u8,
    /// The name.
    pub name: &'static CStr,
    /// The version whose streams are written.
    pub version: &'static CStr,
}

/// The libraries, indexed by number.
static LIBRARIES: [Library; 5] = [
    Library {
        code: format::BLOSCLZ,
        name: c"BloscLZ",
        version: c"2.5.1",
    },
    Library {
        code: format::LZ4,
        name: c"LZ4",
        version: c"1.10.0",
    },
    Library {
        code: format::SNAPPY,
        name: c"Snappy",
        version: c"unknown",
    },
    Library {
        code: format::ZLIB,
        name: c"Zlib",
        version: c"1.3.2",
    },
    Library {
        code: format::ZSTD,
        name: c"Zstd",
        version: c"1.5.7",
    },
];

/// Returns the name of the codec with this number.
pub fn compcode_to_compname(compcode: i32) -> Option<&'static CStr> {
    match u8::try_from(compcode).ok()? {
        id::SNAPPY => Some(c"snappy"),
        compcode if compcode < id::FIRST_REGISTERED => codec::compcode_to_compname(compcode),
        _ => None,
    }
}

/// Returns the number of the codec with this name, which is case-sensitive.
pub fn compname_to_compcode(name: &[u8]) -> Option<u8> {
    match name {
        b"snappy" => Some(id::SNAPPY),
        _ => codec::compname_to_compcode(name).filter(|&code| code < id::FIRST_REGISTERED),
    }
}

/// Returns the library that implements the codec with this name.
pub fn library(compname: &[u8]) -> Option<&'static Library> {
    library_of_format(codec::wire_format(compname_to_compcode(compname)?)?)
}

/// Returns the library that decodes streams of this format.
pub(super) fn library_of_format(format: u8) -> Option<&'static Library> {
    LIBRARIES.get(usize::from(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_of_codecs_map_both_ways() {
        let names = COMPRESSORS.to_bytes().split(|&byte| byte == b',');
        for (code, name) in names.enumerate() {
            assert_eq!(compname_to_compcode(name), Some(code as u8));
            let back = compcode_to_compname(code as i32).unwrap();
            assert_eq!(back.to_bytes(), name);
        }
        for code in [-1, 6, 7, 32, 256, i32::MIN] {
            assert_eq!(compcode_to_compname(code), None);
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
        for (index, library) in LIBRARIES.iter().enumerate() {
            assert_eq!(usize::from(library.code), index);
        }
    }
}
