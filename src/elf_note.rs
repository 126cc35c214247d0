//! An ELF note with the version, which can be read from a shared object without loading it.
//!
//! The functions of the libraries report the versions of C-Blosc and C-Blosc2. Ferroblosc's own
//! version is in this note: `readelf -p .note.ferroblosc libblosc2.so`, and on macOS
//! `otool -s __TEXT __ferroblosc libblosc2.dylib`. Lengths include the NUL terminators, but no
//! padding:
//!
//! ```text
//!  0        4        8        12            24
//! +--------+--------+--------+-------------+--------------------+
//! | 11     | length | 1      |"Ferroblosc" | "ferroblosc 0.1.0" |
//! +--------+--------+--------+-------------+--------------------+
//! ```

/// The name of the owner; each owner defines its own note types.
const OWNER: &[u8] = b"Ferroblosc\0";
/// The type of a version note.
const TYPE: u32 = 1;
const TEXT: &[u8] = concat!("ferroblosc ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();

/// Both texts are padded to multiples of 4 bytes.
const OWNER_PADDED: usize = OWNER.len().next_multiple_of(4);
const TEXT_PADDED: usize = TEXT.len().next_multiple_of(4);

/// The bytes of the note.
#[repr(C, align(4))]
pub struct Note {
    owner_length: u32,
    text_length: u32,
    kind: u32,
    owner: [u8; OWNER_PADDED],
    text: [u8; TEXT_PADDED],
}

impl Note {
    /// The note with the version of this crate.
    pub const VERSION: Note = Note {
        owner_length: OWNER.len() as u32,
        text_length: TEXT.len() as u32,
        kind: TYPE,
        owner: padded(OWNER),
        text: padded(TEXT),
    };
}

const fn padded<const LEN: usize>(bytes: &[u8]) -> [u8; LEN] {
    let mut padded = [0; LEN];
    let (start, _) = padded.split_at_mut(bytes.len());
    start.copy_from_slice(bytes);
    padded
}

/// Adds the note to the library of the invoking crate.
#[macro_export]
#[doc(hidden)]
macro_rules! version_note {
    () => {
        // SAFETY: linkers only collect the bytes of note sections.
        #[used]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".note.ferroblosc"))]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__TEXT,__ferroblosc"))]
        static VERSION_NOTE: $crate::elf_note::Note = $crate::elf_note::Note::VERSION;
    };
}
