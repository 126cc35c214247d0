use super::*;
use crate::io::testing::{TempDir, contents};
use crate::io::{Backend, FileSystem, Identity, Mode, WriteGranularity};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn file_of(dir: &TempDir, bytes: &[u8]) -> Arc<dyn Stream> {
    std::fs::write(dir.join("f"), bytes).unwrap();
    let opened = FileSystem.open(&dir.join("f"), Mode::Update);
    Arc::from(opened.unwrap())
}

#[test]
fn a_staged_change_is_visible_and_written_when_applied() {
    let dir = TempDir::new("staged");
    let file = file_of(&dir, b"0123456789");
    let staged = Staged::new(Arc::clone(&file)).unwrap();
    staged.write_at(2, b"abc", WriteGranularity::Whole).unwrap();
    staged.write_at(0, b"xyz", WriteGranularity::Whole).unwrap();
    staged.write_at(4, b"CDE", WriteGranularity::Whole).unwrap();
    staged.write_at(9, b"!!!", WriteGranularity::Whole).unwrap();
    assert_eq!(contents(&staged), b"xyzbCDE78!!!");
    staged.truncate(10).unwrap();
    assert_eq!(staged.truncate(11), Err(Error::FileTruncate));
    assert_eq!(contents(&staged), b"xyzbCDE78!");
    assert_eq!(contents(&*file), b"0123456789");
    staged.apply(0).unwrap();
    assert_eq!(contents(&*file), b"xyzbCDE78!");
}

#[test]
fn every_intermediate_state_is_recognised_shown_and_restored() {
    let before = b"0123456789";
    for (after, cut) in [(&b"01AB4567CDEF"[..], 12), (b"01AB45", 6)] {
        let dir = TempDir::new("states");
        let file = file_of(&dir, before);
        let staged = Staged::new(Arc::clone(&file)).unwrap();
        staged.write_at(2, b"AB", WriteGranularity::Whole).unwrap();
        if cut > 10 {
            staged.write_at(8, b"CDEF", WriteGranularity::Whole).unwrap();
        } else {
            staged.truncate(cut).unwrap();
        }
        let image = Image::of_staged(&staged, 0, (10, 10)).unwrap();
        let bytes = image.encode().unwrap();
        assert_eq!(Image::decode(&bytes).unwrap().as_ref(), Some(&image));
        assert_eq!(image.relation(&*file), Ok(Relation::Before));
        for size in [10.min(cut), 10, 10.max(cut)] {
            let mut half = after.to_vec();
            half.resize(size.max(10) as usize, 0);
            half[2] = b'2';
            half[6..10].copy_from_slice(&before[6..]);
            half.truncate(size as usize);
            file.truncate(0).unwrap();
            file.write_at(0, &half, WriteGranularity::Whole).unwrap();
            assert_eq!(image.relation(&*file), Ok(Relation::Underway), "{half:?}");
            let shown = Restored::new(Arc::clone(&file), Arc::new(image.clone()));
            assert_eq!(contents(&shown), before);
            image.put_back(&*file).unwrap();
            assert_eq!(contents(&*file), before);
        }
        staged.apply(0).unwrap();
        assert_eq!(contents(&*file), after);
        assert_eq!(image.relation(&*file), Ok(Relation::After));
        for other in [&b"01xB456789"[..], b"x123456789", b"01234"] {
            file.truncate(0).unwrap();
            file.write_at(0, other, WriteGranularity::Whole).unwrap();
            assert_eq!(image.relation(&*file), Ok(Relation::Unrelated), "{other:?}");
        }
    }
}

#[test]
fn bytes_appended_by_another_program_stay() {
    let dir = TempDir::new("appended");
    let file = file_of(&dir, b"0123456789");
    let staged = Staged::new(Arc::clone(&file)).unwrap();
    staged.write_at(2, b"ABC", WriteGranularity::Whole).unwrap();
    let image = Image::of_staged(&staged, 0, (10, 10)).unwrap();
    file.write_at(2, b"A", WriteGranularity::Whole).unwrap();
    file.write_at(10, b"more", WriteGranularity::Whole).unwrap();
    assert_eq!(image.relation(&*file), Ok(Relation::Underway));
    image.put_back(&*file).unwrap();
    assert_eq!(contents(&*file), b"0123456789more");
}

#[test]
fn a_truncated_or_altered_journal_is_not_used() {
    let dir = TempDir::new("cut");
    let file = file_of(&dir, b"0123456789");
    let staged = Staged::new(file).unwrap();
    staged.write_at(2, b"AB", WriteGranularity::Whole).unwrap();
    staged.write_at(7, b"CDEF", WriteGranularity::Whole).unwrap();
    let bytes = Image::of_staged(&staged, 0, (10, 10)).unwrap().encode().unwrap();
    for len in 0..bytes.len() {
        assert_eq!(Image::decode(&bytes[..len]), Ok(None), "cut to {len}");
    }
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 0x10;
        assert_eq!(Image::decode(&altered), Ok(None), "altered at {at}");
    }
}

#[test]
fn a_head_without_the_final_checksum_is_not_a_journal() {
    let dir = TempDir::new("head");
    let file = file_of(&dir, b"0123456789");
    let image = Image::new(&*file, 0, (10, 10), (10, 10), Vec::new()).unwrap();
    let whole = image.encode().unwrap();
    assert_eq!(Image::decode(&whole), Ok(Some(image)));
    // Such a file ends with the checksum of all bytes before it, that of the head.
    for len in 96..whole.len() {
        let mut bytes = whole[..len].to_vec();
        bytes[64..72].copy_from_slice(&(len as u64).to_le_bytes());
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..88]);
        bytes[88..96].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(Image::decode(&bytes), Ok(None), "{len} bytes");
    }
}

#[test]
fn inconsistent_sizes_are_rejected() {
    let dir = TempDir::new("bounds");
    let file = file_of(&dir, b"0123456789");
    let record = |position: u64, before: &[u8], after: &[u8]| Record {
        position,
        before: before.to_vec(),
        after: Some(after.to_vec()),
    };
    for (size, records) in [
        // A file that would grow by bytes that are not recorded.
        ((5 << 40, 10), vec![record(0, b"01", b"AB")]),
        ((10, 10), vec![record(9, b"9", b"AB")]),
        ((10, 10), vec![record(2, b"2", b"AB")]),
        ((10, 10), vec![record(4, b"4", b"A"), record(4, b"4", b"A")]),
        ((10, 10), vec![record(u64::MAX, b"4", b"A")]),
    ] {
        let image =
            Image { inode: 0, created_ns: 0, start: 0, len: (10, 10), size, beside: 0, records };
        let bytes = image.encode().unwrap();
        assert_eq!(Image::decode(&bytes), Ok(None), "{image:?}");
    }
    drop(file);
}

#[test]
fn only_journals_are_discarded() {
    let journals: [&[u8]; 6] =
        [b"", b"B2J", b"B2JRNL02 and more", b"B2JRNL01 and more", b"blpkundo and more", &[0; 40]];
    let others: [&[u8]; 4] = [b"precious data", b"b2jrnl02", b"B2JRNL03", b"\0\0\0\0\0\0\0\x01"];
    for (content, is_kept) in journals
        .map(|content| (content, false))
        .into_iter()
        .chain(others.map(|content| (content, true)))
    {
        let dir = TempDir::new("discarded");
        file_of(&dir, b"frame");
        for suffix in [FRAME_SUFFIX, CONTAINER_SUFFIX] {
            let journal = path_of(&FileSystem, &dir.join("f"), suffix);
            std::fs::write(&journal, content).unwrap();
            discard_all(&dir.join("f"));
            assert_eq!(journal.exists(), is_kept, "{suffix}: {content:?}");
            if is_kept {
                assert_eq!(std::fs::read(&journal).unwrap(), content);
            }
        }
        assert_eq!(std::fs::read(dir.join("f")).unwrap(), b"frame");
    }
}

/// Returns a journal with these records, and valid checksums and sizes.
fn sealed(image: &Image, count: u64, records: &[u8]) -> Vec<u8> {
    let mut bytes = image.encode().unwrap()[..96].to_vec();
    bytes.extend(records);
    let len = bytes.len() as u64 + 8;
    bytes[64..72].copy_from_slice(&len.to_le_bytes());
    bytes[72..80].copy_from_slice(&count.to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..88]);
    bytes[88..96].copy_from_slice(&sum.to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(&bytes).to_le_bytes());
    bytes
}

#[test]
fn records_that_exceed_the_journal_are_not_used() {
    let dir = TempDir::new("records");
    let file = file_of(&dir, b"0123456789");
    let staged = Staged::new(file).unwrap();
    staged.write_at(2, b"AB", WriteGranularity::Whole).unwrap();
    let image = Image::of_staged(&staged, 0, (10, 10)).unwrap();
    let whole = image.encode().unwrap();
    let record = &whole[96..whole.len() - 8];
    assert_eq!(Image::decode(&sealed(&image, 1, record)), Ok(Some(image.clone())));
    let with = |at: usize, number: u64| {
        let mut changed = record.to_vec();
        changed[at..at + 8].copy_from_slice(&number.to_le_bytes());
        changed
    };
    for (count, records) in [
        // Fewer or more records than the head states, and a part of one.
        (2, record.to_vec()),
        (0, record.to_vec()),
        (u64::MAX, record.to_vec()),
        (1, [record, record].concat()),
        (1, record[..23].to_vec()),
        (1, record[..26].to_vec()),
        (1, record[..record.len() - 1].to_vec()),
        (1, Vec::new()),
        // The numbers of bytes before and after the change, and an unknown number.
        (1, with(8, 1000)),
        (1, with(8, u64::MAX)),
        (1, with(16, 1000)),
        (1, with(16, u64::MAX - 1)),
        (1, with(16, u64::MAX)),
        // The checksum of the record.
        (1, with(record.len() - 8, 0)),
    ] {
        assert_eq!(Image::decode(&sealed(&image, count, &records)), Ok(None), "{count}");
    }
    // The data would end after the file.
    let longer = Image { start: 1, ..image.clone() };
    assert_eq!(Image::decode(&sealed(&longer, 1, record)), Ok(None));
    let huge = Image { start: u64::MAX, ..image };
    assert_eq!(Image::decode(&sealed(&huge, 1, record)), Ok(None));
}

#[test]
fn a_change_of_unknown_result_is_before_or_underway() {
    let dir = TempDir::new("unknown");
    let file = file_of(&dir, b"0123456789");
    let records = vec![
        Record { position: 2, before: b"23".to_vec(), after: None },
        Record { position: 8, before: b"89".to_vec(), after: None },
    ];
    let image = Image::new(&*file, 0, (10, 10), (10, UNKNOWN), records).unwrap();
    let bytes = image.encode().unwrap();
    assert_eq!(Image::decode(&bytes).unwrap().as_ref(), Some(&image));
    for (content, relation) in [
        (&b"0123456789"[..], Relation::Before),
        (b"01xy456789", Relation::Underway),
        // The change may truncate its last record, and append.
        (b"01234567", Relation::Underway),
        (b"0123456789 and more", Relation::Underway),
        (b"0123", Relation::Unrelated),
        (b"0123x56789", Relation::Unrelated),
    ] {
        file.truncate(0).unwrap();
        file.write_at(0, content, WriteGranularity::Whole).unwrap();
        assert_eq!(image.relation(&*file), Ok(relation), "{content:?}");
        let shown = Restored::new(Arc::clone(&file), Arc::new(image.clone()));
        if relation == Relation::Underway {
            assert_eq!(contents(&shown), b"0123456789");
            image.put_back(&*file).unwrap();
            assert_eq!(contents(&*file), b"0123456789");
        }
    }
    // Another change than one of unknown result records its bytes.
    let known = Image { size: (10, 10), ..image };
    assert_eq!(Image::decode(&known.encode().unwrap()), Ok(None));
}

#[cfg(feature = "mmap")]
#[test]
fn a_restored_file_is_read_only_and_lends_unchanged_bytes() {
    let dir = TempDir::new("lent");
    let file = file_of(&dir, b"0123456789");
    let staged = Staged::new(Arc::clone(&file)).unwrap();
    staged.write_at(4, b"AB", WriteGranularity::Whole).unwrap();
    let image = Arc::new(Image::of_staged(&staged, 0, (10, 10)).unwrap());
    assert_eq!(staged.identity(), file.identity());
    assert_eq!(staged.attributes(), file.attributes());
    staged.sync().unwrap();
    let limit = staged.write_at(u64::MAX, b"x", WriteGranularity::Whole);
    assert_eq!(limit, Err(Error::FileWrite));
    assert_eq!(Box::new(staged).close(), Ok(()));
    let mapped = crate::io::mmap::Mmap::new(crate::io::mmap::MapMode::Read, 4096);
    let stream = mapped.open(&dir.join("f"), Mode::Read).unwrap();
    let shown = Restored::new(Arc::from(stream), image);
    for (position, len, is_lent) in [
        (0, 4, true),
        (6, 4, true),
        (0, 5, false),
        (5, 1, false),
        (6, 5, false),
        (u64::MAX, 1, false),
    ] {
        assert_eq!(shown.view(position, len).is_some(), is_lent, "{position} {len}");
    }
    assert_eq!(shown.write_at(0, b"x", WriteGranularity::Whole), Err(Error::FileWrite));
    assert_eq!(shown.truncate(0), Err(Error::FileTruncate));
    assert_eq!(shown.identity(), file.identity());
    assert_eq!(shown.attributes(), None, "a mapping has none");
    assert_eq!(Box::new(shown).close(), Ok(()));
}

#[test]
fn journals_of_older_formats_and_incomplete_ones_are_recognised() {
    let dir = TempDir::new("formats");
    let file = file_of(&dir, b"0123456789");
    let journal = dir.join("f.b2journal");
    let image = Image::new(&*file, 0, (10, 10), (10, 10), Vec::new()).unwrap();
    let whole = image.encode().unwrap();
    let mut longer = whole.clone();
    longer.push(0);
    // The head states more bytes than its sizes allow.
    let padded = sealed(&image, 0, &[0; 64]);
    let path = dir.join("f");
    let attributes = FileSystem.attributes(&path);
    for (bytes, reason) in [
        (&b"B2JRNL01 and more"[..], Reason::OldFormat),
        (b"blpkundo and more", Reason::OldFormat),
        (b"a diary", Reason::NotAJournal),
        (&whole[..95], Reason::Incomplete),
        (&longer, Reason::Incomplete),
        (&padded, Reason::Incomplete),
        (&whole, Reason::OtherFormat),
    ] {
        std::fs::write(&journal, bytes).unwrap();
        let found = inspect(&FileSystem, &journal, (&*file, attributes.as_ref()), |_| false);
        let (Found::Stale(found) | Found::Foreign(found)) = found.unwrap() else {
            panic!("{reason:?}");
        };
        assert_eq!(found, reason);
        assert!(!found.to_string().is_empty());
        let settled = recover(&FileSystem, &journal, (&*file, attributes.as_ref()), |_| false);
        let is_kept = matches!(reason, Reason::OldFormat | Reason::NotAJournal);
        let expected = if is_kept { Settled::Ignored(reason) } else { Settled::Done };
        assert_eq!(settled, Ok(expected), "{reason:?}");
        assert_eq!(journal.exists(), is_kept, "{reason:?}");
    }
    assert_eq!(contents(&*file), b"0123456789");
}

/// The file system, whose new files have the locks of readers at the first attempts to claim them.
struct Watched {
    attempts: usize,
}

struct WatchedFile {
    stream: Box<dyn Stream>,
    attempts: AtomicUsize,
}

impl Stream for WatchedFile {
    fn size(&self) -> Result<u64> {
        self.stream.size()
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        self.stream.read_at(position, dest)
    }

    fn write_at(&self, position: u64, bytes: &[u8], granularity: WriteGranularity) -> Result<()> {
        self.stream.write_at(position, bytes, granularity)
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.stream.truncate(len)
    }

    fn claim(&self) -> Result<bool> {
        let less = |left: usize| left.checked_sub(1);
        match self.attempts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(false),
            Err(_) => self.stream.claim(),
        }
    }

    fn identity(&self) -> Option<Identity> {
        self.stream.identity()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.stream.close()
    }
}

impl FileOps for Watched {
    fn identify(&self, path: &Path) -> Option<Identity> {
        FileSystem.identify(path)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
        let stream = FileSystem.create_new(path, private)?;
        Ok(Box::new(WatchedFile { stream, attempts: AtomicUsize::new(self.attempts) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        FileSystem.rename(from, to)
    }

    fn copy_permissions(&self, from: &Path, to: &Path) -> Result<()> {
        FileSystem.copy_permissions(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        FileSystem.remove(path)
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        FileSystem.make_directory(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        FileSystem.remove_directory(path)
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        FileSystem.sync_directory(directory)
    }
}

#[test]
fn a_reader_that_inspects_a_new_journal_delays_its_writer() {
    let dir = TempDir::new("watched");
    let (path, journal) = (dir.join("f"), dir.join("f.b2journal"));
    std::fs::write(&path, b"0123456789").unwrap();
    let stream = create(&Watched { attempts: 5 }, &journal, &path).unwrap();
    let reader = FileSystem.open_unfollowed(&journal, false).unwrap();
    assert_eq!(reader.is_claimed(), Ok(true));
    assert_eq!(create(&Watched { attempts: 0 }, &journal, &path).err(), Some(Error::FileOpen));
    drop((stream, reader));
    std::fs::remove_file(&journal).unwrap();
    // Another writer has claimed it.
    let created = create(&Watched { attempts: ATTEMPTS }, &journal, &path);
    assert_eq!(created.err(), Some(Error::Lock));
}

#[test]
fn a_journal_whose_permissions_cannot_be_set_is_removed() {
    let dir = TempDir::new("no-permissions");
    let journal = dir.join("f.b2journal");
    assert!(create(&FileSystem, &journal, &dir.join("missing")).is_err());
    assert!(!journal.exists());
}
