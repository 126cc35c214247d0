//! The `bool` of C, for parameters and fields that programs set.
//!
//! Compilers of other languages may store other bytes than 0 and 1: the logical values of Fortran's
//! `c_bool` are 0 and 255 in some compilers. Such a byte in Rust's `bool` is undefined behaviour.
//! The C libraries therefore receive a byte, and any value except 0 means true. The Rust crates of
//! `packaging/rust` have the type that `bindgen` makes of the headers, `bool`.

#[cfg(feature = "byte-bool")]
mod byte {
    /// A `bool` of C.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Flag(u8);

    /// Converts a `bool` of Rust.
    pub const fn flag(value: bool) -> Flag {
        Flag(value as u8)
    }

    /// Whether the value is true.
    pub const fn is_set(flag: Flag) -> bool {
        flag.0 != 0
    }
}

#[cfg(feature = "byte-bool")]
pub use byte::*;

#[cfg(not(feature = "byte-bool"))]
mod rust {
    /// A `bool` of C.
    pub type Flag = bool;

    /// Converts a `bool` of Rust.
    pub const fn flag(value: bool) -> Flag {
        value
    }

    /// Whether the value is true.
    pub const fn is_set(flag: Flag) -> bool {
        flag
    }
}

#[cfg(not(feature = "byte-bool"))]
pub use rust::*;

#[cfg(test)]
mod tests {
    #[cfg(feature = "byte-bool")]
    use super::*;
    use ferroblosc_capi_testing::project_root;
    use std::path::{Path, PathBuf};

    #[cfg(feature = "byte-bool")]
    #[test]
    fn every_byte_but_zero_is_true() {
        for byte in 0..=u8::MAX {
            // SAFETY: the type is a transparent struct of a byte.
            let flag: Flag = unsafe { std::mem::transmute(byte) };
            assert_eq!(is_set(flag), byte != 0);
        }
        assert!(is_set(flag(true)) && !is_set(flag(false)));
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    /// Results are written, so they may be `*mut bool`. Programs do not set `view`.
    #[test]
    fn programs_pass_no_bool_of_rust() {
        let mut flags = 0;
        for path in sources(&project_root().join("capi/blosc2/src")) {
            let mut is_interface = false;
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                is_interface |=
                    line == "#[repr(C)]" || line.starts_with("pub unsafe extern \"C\" fn");
                let line = line.trim_end_matches(',');
                let is_bool = line.ends_with(": bool") || line.ends_with("*const bool");
                let is_wrong = is_interface && is_bool && line != "    pub view: bool";
                assert!(!is_wrong, "{}: {line}", path.display());
                flags += usize::from(is_interface && line.ends_with("Flag"));
                is_interface &= line != "}" && !line.starts_with(')');
            }
        }
        assert!(flags >= 15, "{flags} parameters and fields");
    }
}
