//! The functions of the two built-in I/O backends, and paths: equal calls to both libraries.

use ferroblosc_interop::data::Random;
use ferroblosc_interop::ffi::StdioMmap;
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::storage::c_path;
use std::ffi::{CStr, c_void};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use tempfile::tempdir;

/// The maximum number of bytes in a step.
const CAPACITY: usize = 4096;

/// An operation on an open file.
#[derive(Debug)]
enum Step {
    Write(i64, i64, i64),
    Read(i64, i64, i64),
    Truncate(i64),
    Size,
}

/// Returns random steps on a file of about 8 KiB, some with invalid arguments.
fn steps(seed: u64, count: usize) -> Vec<Step> {
    let mut numbers = Random::new(seed);
    let mut step = |_| {
        let sizes = [0, 1, 1, 2, 7, 32, 100, -1];
        let size = sizes[numbers.below(sizes.len())];
        let nitems = numbers.below(CAPACITY / 100) as i64 - 1;
        let position = numbers.below(8200) as i64 - 8;
        match numbers.below(8) {
            0..3 => Step::Write(size, nitems, position),
            3..6 => Step::Read(size, nitems, position),
            6 => Step::Truncate(position),
            _ => Step::Size,
        }
    };
    (0..count).map(&mut step).collect()
}

/// The result of a step: a number, and the bytes read.
type CallResult = (i64, Vec<u8>);

/// Returns bytes to write, different in each step.
fn source(step: usize) -> Vec<u8> {
    (0..CAPACITY).map(|i| (i * 7 + step) as u8).collect()
}

/// Returns the number of bytes of the items read.
fn read_bytes(items: i64, size: i64) -> usize {
    usize::try_from(items * size).expect("reads return no negative counts")
}

#[test]
fn files_are_read_and_written_alike() {
    let dir = tempdir().unwrap();
    let work = |library: &Library| -> (Vec<CallResult>, Vec<u8>) {
        let path = dir.path().join(library.name);
        std::fs::write(&path, source(0)).unwrap();
        // SAFETY: the strings are NUL-terminated, the buffers are large enough for every step, and
        // the stream is closed only at the end.
        unsafe {
            let stream =
                (library.blosc2_stdio_open)(c_path(&path).as_ptr(), c"rb+".as_ptr(), null_mut());
            assert!(!stream.is_null());
            let mut results = Vec::new();
            for (number, step) in steps(1, 3000).iter().enumerate() {
                results.push(match *step {
                    Step::Write(size, nitems, position) => {
                        let bytes = source(number);
                        let start = bytes.as_ptr().cast();
                        (
                            (library.blosc2_stdio_write)(start, size, nitems, position, stream),
                            vec![],
                        )
                    }
                    Step::Read(size, nitems, position) => {
                        let mut bytes = vec![0u8; CAPACITY];
                        let mut pointer: *mut c_void = bytes.as_mut_ptr().cast();
                        let items = (library.blosc2_stdio_read)(
                            &mut pointer,
                            size,
                            nitems,
                            position,
                            stream,
                        );
                        bytes.truncate(read_bytes(items, size.max(0)));
                        (items, bytes)
                    }
                    Step::Truncate(size) => {
                        ((library.blosc2_stdio_truncate)(stream, size).into(), vec![])
                    }
                    Step::Size => ((library.blosc2_stdio_size)(stream), vec![]),
                });
            }
            assert_eq!((library.blosc2_stdio_close)(stream), 0);
            (results, std::fs::read(&path).unwrap())
        }
    };
    let (ours, theirs) = (work(ours()), work(reference()));
    for (number, step) in steps(1, 3000).iter().enumerate() {
        assert_eq!(ours.0[number], theirs.0[number], "step {number}: {step:?}");
    }
    assert_eq!(ours.1, theirs.1);
}

/// Returns the visible state of a mapping without addresses.
fn seen(map: &StdioMmap) -> (usize, usize, bool, bool, i64, i64) {
    (
        map.file_size,
        map.mapping_size,
        map.is_memory_only,
        map.mode.is_null(),
        map.access_flags,
        map.map_flags,
    )
}

/// Whether the reference performs the step on a mapping like on a file. It crashes when it writes
/// after the last page of a private mapping's file, reads an extended file after the end of its
/// mapping, or writes to a read-only mapping. It also keeps truncated bytes in a gap of a private
/// mapping.
fn reference_is_right(step: &Step, mode: &CStr, map: &StdioMmap) -> bool {
    let end = |size: i64, nitems: i64, position: i64| (position + size * nitems) as usize;
    match *step {
        Step::Write(..) if mode == c"r" => false,
        Step::Write(size, nitems, position) if mode == c"c" => {
            end(size, nitems, position) <= CAPACITY && position <= map.file_size as i64
        }
        Step::Truncate(len) => {
            let longest =
                if mode == c"r+" || mode == c"w+" { map.mapping_size } else { map.file_size };
            mode != c"r" && len <= longest as i64
        }
        _ => true,
    }
}

#[test]
fn mapped_files_are_read_and_written_alike() {
    for mode in [c"r", c"r+", c"w+", c"c"] {
        for initial in [10, 5000, 1 << 20] {
            let dir = tempdir().unwrap();
            let libraries = [ours(), reference()];
            let paths = libraries.map(|library| c_path(&dir.path().join(library.name)));
            let mut maps = [StdioMmap::new(mode, initial), StdioMmap::new(mode, initial)];
            for ((library, path), map) in libraries.iter().zip(&paths).zip(&mut maps) {
                std::fs::write(dir.path().join(library.name), source(0)).unwrap();
                let map: *mut StdioMmap = map;
                // SAFETY: a NUL-terminated string and a valid struct.
                let stream =
                    unsafe { (library.blosc2_stdio_mmap_open)(path.as_ptr(), null(), map.cast()) };
                assert_eq!(stream, map.cast());
            }
            for (number, step) in steps(2, 1000).iter().enumerate() {
                if !reference_is_right(step, mode, &maps[1]) {
                    continue;
                }
                let results: Vec<(CallResult, _)> = libraries
                    .iter()
                    .zip(&mut maps)
                    .map(|(library, map)| (map_step(library, map, step, number), seen(map)))
                    .collect();
                assert_eq!(results[0], results[1], "{mode:?} {initial} step {number}: {step:?}");
            }
            for (library, map) in libraries.iter().zip(&mut maps) {
                let map: *mut StdioMmap = map;
                // SAFETY: the struct is mapped, and the mapping is not used afterwards.
                let destroyed = unsafe { (library.blosc2_stdio_mmap_destroy)(map.cast()) };
                assert_eq!(destroyed, 0);
            }
            assert_eq!(seen(&maps[0]), seen(&maps[1]));
            let [one, other] =
                libraries.map(|library| std::fs::read(dir.path().join(library.name)).unwrap());
            assert!(one == other, "{mode:?} {initial}");
        }
    }
}

/// Performs a step on a mapping.
fn map_step(library: &Library, map: &mut StdioMmap, step: &Step, number: usize) -> CallResult {
    let stream: *mut c_void = (&raw mut *map).cast();
    // SAFETY: the struct is mapped, and the buffers are large enough for every step; the bytes read
    // are copied immediately.
    unsafe {
        match *step {
            Step::Write(size, nitems, position) => {
                let bytes = source(number);
                let start = bytes.as_ptr().cast();
                ((library.blosc2_stdio_mmap_write)(start, size, nitems, position, stream), vec![])
            }
            Step::Read(size, nitems, position) => {
                let mut pointer: *mut c_void = null_mut();
                let items =
                    (library.blosc2_stdio_mmap_read)(&mut pointer, size, nitems, position, stream);
                let bytes = if pointer.is_null() {
                    &[][..]
                } else {
                    std::slice::from_raw_parts(pointer.cast::<u8>(), read_bytes(items, size))
                };
                (items, bytes.to_vec())
            }
            Step::Truncate(size) => {
                ((library.blosc2_stdio_mmap_truncate)(stream, size).into(), vec![])
            }
            Step::Size => ((library.blosc2_stdio_mmap_size)(stream), vec![]),
        }
    }
}

#[test]
fn frames_are_removed_and_renamed_alike() {
    /// Lists all paths below a directory.
    fn listing(path: &Path, found: &mut Vec<String>) {
        let entries = std::fs::read_dir(path).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            found.push(format!("{name} {:?}", path.symlink_metadata().unwrap().file_type()));
            if path.is_dir() && !path.is_symlink() {
                listing(&path, found);
            }
        }
    }
    let work = |library: &Library| {
        let dir = tempdir().unwrap();
        for name in ["d", "e", "g", "kept"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        for name in
            ["d/f", "e/f", "e/.b2lock", "f", "f.b2lock", "g/f", "h", "h.b2lock", "kept/f", "x"]
        {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        symlink("../kept", dir.path().join("e/directory")).unwrap();
        symlink("../kept/f", dir.path().join("e/file")).unwrap();
        symlink("g", dir.path().join("link")).unwrap();
        symlink("nowhere", dir.path().join("dangling")).unwrap();
        let mut results = Vec::new();
        // SAFETY: NUL-terminated strings or NULL.
        unsafe {
            for name in ["f", "none", "kept/f"] {
                results.push((library.blosc2_remove_dir)(c_path(&dir.path().join(name)).as_ptr()));
            }
            results.push((library.blosc2_remove_dir)(c"".as_ptr()));
            for name in ["d", "e", "f", "link", "h", "dangling", "none", "x/y", "e/"] {
                results
                    .push((library.blosc2_remove_urlpath)(c_path(&dir.path().join(name)).as_ptr()));
            }
            results.push((library.blosc2_remove_urlpath)(c"".as_ptr()));
            results.push((library.blosc2_remove_urlpath)(null()));
            for (old, new) in
                [("x", "y"), ("x", "z"), ("y", "kept"), ("kept", "moved"), ("dangling", "z")]
            {
                let (old, new) = (c_path(&dir.path().join(old)), c_path(&dir.path().join(new)));
                results.push((library.blosc2_rename_urlpath)(old.as_ptr(), new.as_ptr()));
            }
            results.push((library.blosc2_rename_urlpath)(null(), c"x".as_ptr()));
            results.push((library.blosc2_rename_urlpath)(c"x".as_ptr(), null()));
        }
        let mut left = Vec::new();
        listing(&dir.path().join(""), &mut left);
        (results, left)
    };
    assert_eq!(work(ours()), work(reference()));
}
