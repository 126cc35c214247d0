//! Directories of bcolz with arbitrary content: read, verified, changed and repaired.
//!
//! The input is a directory as one text (see [`files`]). It is stored on an in-memory disk.

use ferroblosc_fault::{Disk, Survival};
use ferroblosc_formats::bcolz::{self, Carray, Ctable, Finding, Mode, Object, Options, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::alloc::largest_during;
use crate::draw::Draw;
use crate::files;

/// The maximum uncompressed size of a chunk that is read or written, in bytes. Larger chunks are
/// slow and find nothing new.
const MAX_NBYTES: u64 = 1 << 20;
/// The maximum size of a single allocation for any directory, in bytes: codec states, tables, a
/// growth step.
const FIXED_ALLOCATION: usize = 24 << 20;
/// The path of the directory.
const ROOT: &str = "/a";
/// The lock file that a writer holds.
const LOCK: &str = "/a/.ferroblosc-lock";
/// The prefix of incomplete new files; the next writer removes leftover ones.
const NEW: &str = ".ferroblosc-new-";
/// The offset of the uncompressed size in a chunk file.
const NBYTES_AT: usize = 16 + 4;

/// Parses the files of a text, with paths in [`ROOT`].
fn files_in(text: &[u8]) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files::parse(text).into_iter();
    files.map(|(path, bytes)| (root().join(path), bytes)).collect()
}

/// Whether all chunks have a moderate uncompressed size.
fn is_moderate(files: &[(PathBuf, Vec<u8>)]) -> bool {
    let is_chunk = |path: &Path| path.extension().is_some_and(|extension| extension == "blp");
    let mut chunks = files.iter().filter(|(path, _)| is_chunk(path));
    chunks.all(|(_, bytes)| {
        let word = bytes.get(NBYTES_AT..).and_then(|rest| rest.first_chunk());
        word.is_none_or(|word| u64::from(u32::from_le_bytes(*word)) <= MAX_NBYTES)
    })
}

/// Checks a directory: reading returns an error or rows, consistently; successful changes are
/// visible; repairs fix what they report.
pub fn directory(text: &[u8]) {
    let files = files_in(text);
    if files.is_empty() || !is_moderate(&files) {
        return;
    }
    let disk = Disk::holding(files);
    let (_, largest) = largest_during(|| {
        let mut draw = Draw::new(text);
        read(&options(&disk), &mut draw);
        change(&disk.after_crash(Survival::All));
        repair(&disk.after_crash(Survival::All));
    });
    let justified = FIXED_ALLOCATION + 16 * text.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn options(disk: &Disk) -> Options {
    Options { store: Store::new(Arc::new(disk.clone())), ..Options::default() }
}

fn root() -> &'static Path {
    Path::new(ROOT)
}

fn is_right(found: &[Finding]) -> bool {
    found.iter().all(|finding| finding.fault.is_note())
}

/// Whether rows and chunks have a moderate size.
fn is_small(array: &Carray) -> bool {
    let chunk = array.chunklen().checked_mul(array.row_bytes());
    array.row_bytes() > 0 && chunk.is_some_and(|bytes| bytes <= MAX_NBYTES)
}

fn read(options: &Options, draw: &mut Draw) {
    let found = bcolz::verify(root(), options);
    let Ok(object) = bcolz::open(root(), Mode::Read, options) else {
        return;
    };
    let found = found.expect("opened directories can be read");
    let _ = object.attrs().to_value().to_spaced_json();
    match object {
        Object::Carray(mut array) => read_rows(&mut array, is_right(&found), draw),
        Object::Ctable(table) => {
            for name in table.names() {
                if let Ok(mut array) = Carray::open(&root().join(name), Mode::Read, options) {
                    read_rows(&mut array, is_right(&found), draw);
                }
            }
        }
    }
}

fn read_rows(array: &mut Carray, must_be_right: bool, draw: &mut Draw) {
    if !is_small(array) || array.is_empty() {
        return;
    }
    let most = (MAX_NBYTES / array.row_bytes()).min(array.len());
    let first = draw.below(usize::try_from(array.len()).unwrap_or(usize::MAX)) as u64;
    let rows = first..(first + most).min(array.len());
    let all = array.read(rows.clone());
    // Python objects are not rows.
    if must_be_right && !array.dtype().has_objects() {
        all.as_ref().expect("rows of an array without a fault");
    }
    let Ok(all) = all else { return };
    let size = array.row_bytes() as usize;
    for _ in 0..4 {
        let row = draw.below(all.len() / size);
        let one = array.read(rows.start + row as u64..rows.start + row as u64 + 1);
        let one = one.expect("a row of those read");
        assert!(one == all[row * size..(row + 1) * size], "another row");
    }
    let again = array.read(rows).expect("rows that were read");
    assert!(again == all, "other rows");
}

/// Appends, overwrites and truncates rows; successful changes must be visible.
fn change(disk: &Disk) {
    let options = options(disk);
    match bcolz::open(root(), Mode::Append, &options) {
        Ok(Object::Carray(array)) if is_small(&array) => change_array(*array, &options),
        Ok(Object::Ctable(table)) => change_table(table, &options),
        _ => {}
    }
}

fn change_array(mut array: Carray, options: &Options) {
    let (len, size) = (array.len(), array.row_bytes() as usize);
    let rows: Vec<u8> = (0..3 * size).map(|k| k as u8).collect();
    let is_float = array.cparams().quantize > 0;
    let done = array
        .append(&rows)
        .and_then(|()| array.set(len, &rows[size..2 * size]))
        .and_then(|()| array.trim(1));
    if done.and_then(|()| array.close()).is_err() {
        return;
    }
    let mut array = Carray::open(root(), Mode::Read, options).expect("it was just written");
    assert_eq!(array.len(), len + 2);
    let found = array.read(len..len + 2).expect("rows just written");
    // Quantized floats differ from the originals.
    assert!(is_float || found == rows[size..2 * size].repeat(2));
}

fn change_table(mut table: Ctable, options: &Options) {
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for name in &names {
        match table.column(name) {
            Ok(Object::Carray(array)) if is_small(array) => {
                rows.push(vec![7; array.row_bytes() as usize]);
            }
            _ => return,
        }
    }
    let len = table.len();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    let appended = table.append(&rows).is_ok();
    drop(table);
    let table = Ctable::open(root(), Mode::Read, options).expect("it was just open");
    assert_eq!(table.len(), len + u64::from(appended && !names.is_empty()));
}

/// Returns the number of files except the lock and incomplete ones.
fn kept(disk: &Disk) -> usize {
    let is_new = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(NEW))
    };
    let contents = disk.contents();
    let paths = contents.keys().map(PathBuf::as_path);
    paths.filter(|path| *path != Path::new(LOCK) && !is_new(path)).count()
}

/// Repairs the directory. The remaining faults must be those that a new verification finds; if
/// there are none, all rows must be readable.
fn repair(disk: &Disk) {
    let options = options(disk);
    let is_large = match bcolz::open(root(), Mode::Read, &options) {
        Ok(Object::Carray(array)) => !is_small(&array),
        _ => false,
    };
    // A repair would write a lost chunk completely, even if it is large.
    if is_large {
        return;
    }
    let before = kept(disk);
    let Ok(repaired) = bcolz::repair(root(), &options) else {
        return;
    };
    assert!(kept(disk) >= before, "a file is gone");
    let found = bcolz::verify(root(), &options).expect("it was just repaired");
    assert_eq!(found, repaired.remaining);
    let mut draw = Draw::new(ROOT.as_bytes());
    if is_right(&found) {
        read(&options, &mut draw);
    }
}
