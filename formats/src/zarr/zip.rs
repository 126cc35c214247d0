//! Zip files of Zarr data from directories.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::error::{Error, Result};
use super::limits::MAX_DEPTH;
use super::storage::{CONSOLIDATED_V2, METADATA_V3, Storage};
use super::version::Version;
use crate::store::Error as StoreError;
use crate::store::zip::{Archive, Member, ZipWriter};
use ferroblosc::io::named::NamedFile;
use ferroblosc::os::files;

/// The size of the buffer of a zip file in bytes.
const FILE_BUFFER: usize = 256 << 10;

/// Returns the version of the root of Zarr data.
///
/// # Errors
/// The errors of [`Storage::open`].
pub fn version_of(path: &Path) -> Result<Version> {
    let is_new = Storage::open(path)?.has(METADATA_V3);
    Ok(if is_new { Version::V3 } else { Version::V2 })
}

/// Writes a zip file with the files below `folder`, and the members of the zip file `existing` that
/// are neither in the directory nor below the `replaced` paths, with its comment and the bytes before
/// its members. The file is durable on return.
///
/// # Errors
/// [`StoreError::Refused`] if other bytes of the zip file would be lost; the errors of reading and writing; an incomplete output may be left.
pub fn join_zip(
    existing: Option<&Path>,
    replaced: &[String],
    folder: &Path,
    output: &Path,
) -> Result<()> {
    let files = files_below(folder)?;
    let at_output = |error| StoreError::storage(output)(error);
    let archive = match existing {
        None => None,
        Some(path) => {
            let archive = Archive::open(path)?;
            let archive = archive.ok_or_else(|| Error::NotFound(path.display().to_string()))?;
            archive.check_listed()?;
            Some(archive)
        }
    };
    let file = NamedFile::create(output).map_err(at_output)?;
    let mut file = BufWriter::with_capacity(FILE_BUFFER, file);
    let mut start = 0;
    if let Some(archive) = &archive {
        archive.for_prefix(|piece| file.write_all(piece).map_err(at_output))?;
        start = archive.prefix_len();
    }
    let mut zip = ZipWriter::new(file, start);
    if let Some(archive) = &archive {
        zip.set_comment(archive.comment());
        let is_replaced = |name: &str| {
            let mut starts = name.match_indices('/').map(|(at, _)| &name[..at]);
            name.rsplit('/').next() == Some(CONSOLIDATED_V2)
                || files.contains(name)
                || starts.any(|start| replaced.iter().any(|key| key == start))
        };
        // Of several members of a name, the last one counts.
        let members = archive.members().iter().enumerate();
        let last: HashMap<&str, usize> =
            members.map(|(number, member)| (member.name.as_str(), number)).collect();
        for (number, member) in archive.members().iter().enumerate() {
            if last.get(member.name.as_str()) == Some(&number) && !is_replaced(&member.name) {
                copy_member(archive, member, &mut zip, output)?;
            }
        }
        archive.check_unchanged()?;
    }
    for name in &files {
        let path = folder.join(name);
        let at_path = |error| StoreError::storage(&path)(error);
        let mut source = NamedFile::open_regular(&path).map_err(at_path)?;
        let size = fs::metadata(&path).map_err(at_path)?.len();
        let fill = |member: &mut dyn Write| -> std::result::Result<(), StoreError> {
            io::copy(&mut source, member).map(drop).map_err(at_output)
        };
        zip.add_stream(name, size, fill, at_output)?;
    }
    let file = zip.finish().and_then(|file| file.into_inner().map_err(io::Error::from));
    let synced = file.and_then(|file| files::synced(file.file(), file.file().sync_all()));
    Ok(synced.map_err(at_output)?)
}

/// Copies a member; a compressed one is stored.
fn copy_member(
    archive: &Archive,
    member: &Member,
    zip: &mut ZipWriter<BufWriter<NamedFile>>,
    output: &Path,
) -> Result<()> {
    let at_output = |error| StoreError::storage(output)(error);
    let fill = |dest: &mut dyn Write| {
        archive.for_each_piece(member, |piece| dest.write_all(piece).map_err(at_output))
    };
    Ok(zip.add_with(archive.header_of(member)?, member.size, fill, at_output)?)
}

/// Returns the names of all files below a directory, sorted, with `/` between their parts.
fn files_below(folder: &Path) -> Result<BTreeSet<String>> {
    let mut files = BTreeSet::new();
    let mut pending = vec![(String::new(), 0)];
    while let Some((below, depth)) = pending.pop() {
        let path = folder.join(&below);
        for entry in fs::read_dir(&path).map_err(StoreError::storage(&path))? {
            let entry = entry.map_err(StoreError::storage(&path))?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| Error::Name(name.display().to_string()))?;
            let name = format!("{below}{name}");
            if entry.file_type().map_err(StoreError::storage(&path))?.is_dir() {
                if depth == 2 * MAX_DEPTH {
                    return Err(Error::Limit(format!("{} has too many levels", path.display())));
                }
                pending.push((format!("{name}/"), depth + 1));
            } else {
                files.insert(name);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_slashes_on_all_systems() {
        let folder = crate::testing::tempdir();
        fs::create_dir_all(folder.path().join("array").join("c").join("0")).unwrap();
        for parts in [&["zarr.json"][..], &["array", "zarr.json"], &["array", "c", "0", "1"]] {
            let path = parts.iter().fold(folder.path().to_owned(), |path, part| path.join(part));
            fs::write(path, b"").unwrap();
        }
        let names: Vec<String> = files_below(folder.path()).unwrap().into_iter().collect();
        assert_eq!(names, ["array/c/0/1", "array/zarr.json", "zarr.json"]);
    }

    #[test]
    fn parts_of_a_zip_file_that_are_no_members_are_kept_or_the_change_is_refused() {
        let folder = crate::testing::tempdir();
        let path = |name: &str| folder.path().join(name);
        let made = || {
            let mut bytes = b"start".to_vec();
            let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()), 0);
            zip.add("zarr.json", b"{}").unwrap();
            zip.add("old", b"data").unwrap();
            zip.set_comment(b"end");
            bytes.extend(zip.finish().unwrap().into_inner());
            bytes
        };
        fs::create_dir(path("tree")).unwrap();
        fs::write(path("tree/new"), b"more").unwrap();
        // The offset of the directory does not count the start.
        fs::write(path("a.zip"), made()).unwrap();
        join_zip(Some(&path("a.zip")), &[], &path("tree"), &path("b.zip")).unwrap();
        let bytes = fs::read(path("b.zip")).unwrap();
        assert!(bytes.starts_with(b"startPK\x03\x04") && bytes.ends_with(b"\x03\0end"));
        let archive = Archive::open(&path("b.zip")).unwrap().unwrap();
        let names: Vec<&str> = archive.members().iter().map(|member| &*member.name).collect();
        assert_eq!(names, ["zarr.json", "old", "new"]);
        for (member, content) in archive.members().iter().zip([&b"{}"[..], b"data", b"more"]) {
            archive.check_local_header(member).unwrap();
            assert_eq!(archive.read(member, 9).unwrap(), content);
        }
        let mut bytes = made();
        let at = bytes.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
        bytes.splice(at..at, *b"gap");
        let at = bytes.len() - 3 - 6;
        bytes[at] += 3;
        fs::write(path("c.zip"), &bytes).unwrap();
        let refused = join_zip(Some(&path("c.zip")), &[], &path("tree"), &path("d.zip"));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("which are in no member"), "{text}");
        assert!(!path("d.zip").exists());
    }
}
