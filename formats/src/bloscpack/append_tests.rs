//! Tests that an append interrupted at any write can be rolled back.

use super::*;
use crate::bloscpack::pack_bytes_to_bytes;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A disk that fails permanently after some operations, like a terminated process. The failing
/// operation is performed partially.
struct Failing<'f> {
    file: &'f File,
    remaining: AtomicUsize,
}

impl Failing<'_> {
    fn step(&self) -> io::Result<bool> {
        match self.remaining.load(Ordering::Relaxed) {
            0 => Err(io::ErrorKind::Interrupted.into()),
            remaining => {
                self.remaining.store(remaining - 1, Ordering::Relaxed);
                Ok(remaining > 1)
            }
        }
    }
}

impl Disk for Failing<'_> {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let is_whole = self.step()?;
        let len = if is_whole { bytes.len() } else { bytes.len() / 2 };
        self.file.write_at(position, &bytes[..len])?;
        if is_whole { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.step()?;
        Disk::set_len(self.file, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.step()?;
        Ok(())
    }
}

fn random_bytes(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn an_append_interrupted_at_any_write_is_rolled_back() {
    let folder = std::env::temp_dir().join(format!("ferroblosc-append-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.blp");
    let data = random_bytes(4500);
    let pack_args =
        PackArgs { chunk_size: 1000, metadata: Some(Value::from("before")), ..PackArgs::default() };
    let before = pack_bytes_to_bytes(&data[..2500], &pack_args).unwrap();
    let args = AppendArgs { metadata: Some(Value::from("after")), ..AppendArgs::default() };
    let mut stops = 0;
    loop {
        std::fs::write(&path, &before).unwrap();
        let (file, was_interrupted) = journal::open(&path).unwrap();
        assert!(!was_interrupted);
        let disk = Failing { file: &file, remaining: AtomicUsize::new(stops) };
        let new = &data[2500..];
        let size = Some(new.len() as u64);
        let result = append_on(&file, &path, &disk, new, size, &args, &mut ());
        drop(file);
        if result.is_ok() {
            break;
        }
        // A partially written file must not be readable.
        let is_changed = std::fs::read(&path).unwrap() != before;
        let read = crate::bloscpack::unpack_bytes_from_file(&path, 1);
        match read {
            Ok((plain, _)) => assert!(!is_changed && plain == data[..2500]),
            Err(error) => assert!(is_changed && matches!(error, Error::Interrupted(_))),
        }
        // No journal remains beside a file that is unchanged.
        assert_eq!(journal::journal_path(&path).exists(), is_changed, "{stops} operations");
        assert_eq!(journal::recover(&path).unwrap(), is_changed, "{stops} operations");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{stops} operations");
        assert!(!journal::recover(&path).unwrap());
        stops += 1;
    }
    // Metadata, three chunks, offsets, header, length and sync are separate operations.
    assert!(stops >= 8, "{stops}");
    let (plain, unpacked) = crate::bloscpack::unpack_bytes_from_file(&path, 1).unwrap();
    assert_eq!(plain, data);
    assert_eq!(unpacked.metadata.unwrap().value(), Some(&Value::from("after")));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_invalid_journal_is_not_used() {
    let folder = std::env::temp_dir().join(format!("ferroblosc-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.blp");
    let container = pack_bytes_to_bytes(b"abc", &PackArgs::default()).unwrap();
    std::fs::write(&path, &container).unwrap();
    std::fs::write(journal::journal_path(&path), b"blpkundo and so on").unwrap();
    assert!(matches!(journal::recover(&path), Err(Error::Journal(_))));
    let appended = append(&path, &b"x"[..], Some(1), &AppendArgs::default(), &mut ());
    assert!(matches!(appended, Err(Error::Journal(_))));
    assert_eq!(std::fs::read(&path).unwrap(), container);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A reader that replaces a file while it is read.
#[cfg(unix)]
struct Replacing<'a> {
    from: &'a Path,
    to: &'a Path,
    left: usize,
}

#[cfg(unix)]
impl Read for Replacing<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.from.exists() {
            std::fs::rename(self.from, self.to)?;
        }
        let len = self.left.min(dest.len());
        dest[..len].fill(7);
        self.left -= len;
        Ok(len)
    }
}

/// The file of another program must have the appended data or be kept, and the caller must learn
/// that its data are in no file.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_during_an_append_is_kept() {
    let folder = crate::testing::tempdir();
    let at = |name: &str| folder.path().join(name);
    let (path, other, old) = (at("x.blp"), at("other"), at("old"));
    for before in [&b"abc"[..], b""] {
        let container = pack_bytes_to_bytes(before, &PackArgs::default()).unwrap();
        let replacing = pack_bytes_to_bytes(b"other data", &PackArgs::default()).unwrap();
        for size in [Some(20), None] {
            std::fs::write(&path, &container).unwrap();
            std::fs::write(&other, &replacing).unwrap();
            std::fs::hard_link(&path, &old).unwrap();
            let new = Replacing { from: &other, to: &path, left: 20 };
            let appended = append(&path, new, size, &AppendArgs::default(), &mut ());
            assert!(matches!(appended, Err(Error::Replaced(_))), "{appended:?}");
            assert_eq!(std::fs::read(&path).unwrap(), replacing);
            assert_eq!(std::fs::read(&old).unwrap(), container);
            std::fs::remove_file(&old).unwrap();
            let left = std::fs::read_dir(folder.path()).unwrap();
            let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["x.blp"]);
        }
    }
}
