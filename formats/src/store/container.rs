//! Containers: where the leaves of a store are. A container lists its files, in a zip file or in a
//! directory, and maps them to keys.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::frame::has_magic;

use super::error::{Error, Result};
use super::frame::{self, Opened};
use super::keys::{self, EMBED_FILE, FileClass};
use super::limits::{MAX_MEMBERS, MAX_PARTS, Options};
use super::report::Finding;
use super::zip::Archive;

/// The number of bytes that show whether a file is a frame.
const PROBE_LEN: usize = 16;

/// The files of a store.
pub enum Container {
    /// A zip file.
    Zip(Arc<Archive>),
    /// A directory.
    Directory(PathBuf),
    /// One frame in a file, or in a directory with one file for each chunk.
    Frame(PathBuf),
    /// One frame in memory.
    Memory(Vec<u8>),
}

/// The file of a leaf in its container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileId {
    /// The number of a member of the zip file.
    Member(usize),
    /// The path of a file.
    Path(PathBuf),
    /// The only frame of the container.
    Only,
}

/// The files of a container by key.
#[derive(Default)]
pub struct Files {
    /// The leaves.
    pub leaves: BTreeMap<String, FileId>,
    /// The embed store.
    pub embed: Option<FileId>,
    /// The files whose key another file has, and members with unsafe names.
    pub hidden: Vec<FileId>,
    /// The names of files that are not leaves, and of empty directories of a zip file, which end
    /// with a slash. Temporary files of a directory are not listed.
    pub foreign: Vec<(String, FileId)>,
    /// Descriptions of other entries of a directory that are not read: links, special files, names
    /// that are not UTF-8, temporary files, and directories that are nested too deep.
    pub skipped: Vec<String>,
    /// Differences from valid containers.
    pub findings: Vec<Finding>,
}

impl Files {
    /// Adds a file with a valid name, whose first bytes `probe` returns.
    fn add(&mut self, name: &str, file: FileId, probe: impl FnOnce() -> Option<Vec<u8>>) {
        if name == EMBED_FILE {
            self.embed = Some(file);
            return;
        }
        match keys::class_of_file(name) {
            FileClass::Leaf => {}
            FileClass::Candidate if probe().is_some_and(|bytes| has_magic(&bytes)) => {
                let text = "a frame without the suffix of a leaf is treated as a leaf";
                self.findings.push(Finding::note(name, text));
            }
            FileClass::Candidate | FileClass::Ignored => {
                self.foreign.push((name.to_owned(), file));
                return;
            }
        }
        let key = keys::key_of_file(name);
        if let Some(hidden) = self.leaves.insert(key, file) {
            self.hidden.push(hidden);
            let text = "another file has the same key; the last one is used";
            self.findings.push(Finding::damage(name, text));
        }
    }
}

impl Container {
    /// Lists the files.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Limit`].
    pub fn files(&self) -> Result<Files> {
        let mut files = Files::default();
        match self {
            Container::Zip(archive) => list_members(archive, &mut files),
            Container::Directory(root) => list_directory(root, &mut files)?,
            Container::Frame(_) | Container::Memory(_) => {
                files.leaves.insert("/".to_owned(), FileId::Only);
            }
        }
        Ok(files)
    }

    /// Opens the frame of a leaf: in place, or a copy in memory if it is compressed.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::Member`], [`Error::Damaged`], [`Error::Frame`],
    /// [`Error::Limit`], [`Error::Memory`].
    pub fn open(&self, key: &str, file: &FileId, options: &Options) -> Result<Opened> {
        match (self, file) {
            (Container::Zip(archive), FileId::Member(number)) => {
                let member = &archive.members()[*number];
                if !member.is_stored() {
                    return frame::open_bytes(key, &archive.read(member, options.max_frame)?);
                }
                if options.check_crc {
                    archive.check_content(member)?;
                }
                let offset = archive.data_offset(member)?;
                frame::open_held(key, (archive.file(), archive.path()), offset, member.size)
            }
            (Container::Frame(path), FileId::Only) | (_, FileId::Path(path)) => {
                let metadata = fs::metadata(path).map_err(Error::storage(path))?;
                if metadata.is_dir() {
                    return open_sparse(key, path);
                }
                frame::open_at(key, path, 0, metadata.len())
            }
            (Container::Memory(bytes), FileId::Only) => frame::open_bytes(key, bytes),
            _ => Err(Error::NoSuchKey(key.to_owned())),
        }
    }
}

/// Opens a frame in a directory with one file for each chunk.
fn open_sparse(key: &str, path: &Path) -> Result<Opened> {
    let storage = ferroblosc::schunk::Storage::directory(path);
    let schunk = ferroblosc::schunk::SChunk::open(storage, ferroblosc::chunk::DParams::default());
    Ok(Opened { schunk: schunk.map_err(Error::frame(key))?, surplus: 0 })
}

fn list_members(archive: &Archive, files: &mut Files) {
    let mut names = HashSet::new();
    for (number, member) in archive.members().iter().enumerate() {
        if member.name.ends_with('/') && member.size == 0 {
            if keys::fault_of_name(member.name.trim_end_matches('/')).is_none() {
                files.foreign.push((member.name.clone(), FileId::Member(number)));
            }
            continue;
        }
        if let Some(why) = keys::fault_of_name(&member.name) {
            files.findings.push(Finding::damage(&member.name, format!("{why}; it is ignored")));
            files.hidden.push(FileId::Member(number));
            continue;
        }
        // Leaves of the same name have the same key, which is found when they are added.
        let is_leaf = keys::class_of_file(&member.name) == FileClass::Leaf;
        if !names.insert(&member.name) && !is_leaf {
            let text = if member.name == EMBED_FILE {
                "another member has the same name; the last one is used"
            } else {
                "another member has the same name"
            };
            files.findings.push(Finding::damage(&member.name, text));
        }
        files.add(&member.name, FileId::Member(number), || {
            // Compressed members without the suffix of a leaf are not inflated.
            let is_probed = member.is_stored() && member.size >= PROBE_LEN as u64;
            is_probed.then(|| archive.start_of(member, PROBE_LEN).ok())?
        });
        if !member.is_stored() {
            let text = "the member is compressed, and read into memory";
            files.findings.push(Finding::note(&member.name, text));
        }
    }
}

fn list_directory(root: &Path, files: &mut Files) -> Result<()> {
    let real_root = fs::canonicalize(root).map_err(Error::storage(root))?;
    let mut count = 0;
    let mut pending = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = pending.pop() {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&folder).map_err(Error::storage(&folder))? {
            entries.push(entry.map_err(Error::storage(&folder))?);
            count += 1;
            if count > MAX_MEMBERS {
                let what = format!("{}: there are too many files", root.display());
                return Err(Error::Limit { what, limit: MAX_MEMBERS });
            }
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let file_name = entry.file_name();
            let name = format!("{prefix}{}", file_name.to_string_lossy());
            if file_name.to_str().is_none() {
                files.findings.push(Finding::note(&name, "the name is not UTF-8; it is ignored"));
                files.skipped.push(format!("the name {name:?} is not UTF-8"));
                continue;
            }
            let kind = entry.file_type().map_err(Error::storage(&path))?;
            if kind.is_dir() {
                if depth < MAX_PARTS {
                    pending.push((path, format!("{name}/"), depth + 1));
                } else {
                    let text = "the directories are nested too deep; it is ignored";
                    files.findings.push(Finding::damage(&name, text));
                    files.skipped.push(format!("{name:?} is nested too deep"));
                }
                continue;
            }
            if kind.is_symlink() {
                let target = fs::canonicalize(&path).ok();
                let is_inside = target.is_some_and(|to| to.starts_with(&real_root) && to.is_file());
                if !is_inside {
                    let text =
                        "the target of the link is outside of the store, or missing; it is ignored";
                    files.findings.push(Finding::note(&name, text));
                    files.skipped.push(format!("the link {name:?} leads to no file in the store"));
                    continue;
                }
            } else if !kind.is_file() {
                files.skipped.push(format!("{name:?} is not a file"));
                continue;
            }
            if let Some(why) = keys::fault_of_name(&name) {
                files.findings.push(Finding::damage(&name, format!("{why}; it is ignored")));
                files.hidden.push(FileId::Path(path));
                continue;
            }
            if keys::is_temporary(&name) {
                files.skipped.push(format!("{name:?} is a temporary file or a lock"));
                continue;
            }
            files.add(&name, FileId::Path(path.clone()), || start_of_file(&path));
        }
    }
    Ok(())
}

fn start_of_file(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut start = vec![0; PROBE_LEN];
    fs::File::open(path).ok()?.read_exact(&mut start).ok()?;
    Some(start)
}

/// Whether a file starts like a frame.
pub fn is_frame(path: &Path) -> bool {
    start_of_file(path).is_some_and(|bytes| has_magic(&bytes))
}
