//! The version in an ELF note, so that a shared object tells it without being run.
//!
//! The libraries report the versions of C-Blosc and C-Blosc2, and export nothing else; this is where Ferroblosc's own
//! stands in them: `readelf -p .note.ferroblosc libblosc2.so`.
//!
//! ```text
//!  0        4        8        12            24
//! +--------+--------+--------+-------------+--------------------+
//! | 11     | length | 1      |"Ferroblosc" | "ferroblosc 0.1.0" |     lengths count the NULs at the ends, and no
//! +--------+--------+--------+-------------+--------------------+     zeros behind them
//! ```

/// Who defines the kinds of notes.
const OWNER: &[u8] = b"Ferroblosc\0";
/// The kind of a note with a version.
const KIND: u32 = 1;
const TEXT: &[u8] = concat!("ferroblosc ", env!("CARGO_PKG_VERSION"), "\0").as_bytes();

/// Both texts take whole words.
const OWNER_ROOM: usize = OWNER.len().next_multiple_of(4);
const TEXT_ROOM: usize = TEXT.len().next_multiple_of(4);

/// The bytes of the note.
#[repr(C, align(4))]
pub struct Note {
    owner_length: u32,
    text_length: u32,
    kind: u32,
    owner: [u8; OWNER_ROOM],
    text: [u8; TEXT_ROOM],
}

impl Note {
    /// The version of this crate.
    pub const VERSION: Note = Note {
        owner_length: OWNER.len() as u32,
        text_length: TEXT.len() as u32,
        kind: KIND,
        owner: filled(OWNER),
        text: filled(TEXT),
    };
}

/// Bytes with zeros behind them.
const fn filled<const ROOM: usize>(bytes: &[u8]) -> [u8; ROOM] {
    let mut room = [0; ROOM];
    let (start, _) = room.split_at_mut(bytes.len());
    start.copy_from_slice(bytes);
    room
}

/// Puts the note into the library of the crate where this stands.
#[macro_export]
#[doc(hidden)]
macro_rules! version_note {
    () => {
        // SAFETY: linkers collect notes in sections of such names, and take nothing else from them than bytes.
        #[used]
        #[unsafe(link_section = ".note.ferroblosc")]
        static VERSION_NOTE: $crate::note::Note = $crate::note::Note::VERSION;
    };
}
