//! `convert --all`: all arrays of a container, a store or a directory become files in a directory,
//! or arrays in one container.

use crate::cli::{ConvertArgs, OutputFormat};
use crate::error::{Failure, Outcome};
use crate::io::{Input, STDIO, temporary_folder};
use crate::members;
use crate::store;
use ferroblosc::io::paths;
use ferroblosc_formats::convert::{self, Detected, Groups, Location};
use ferroblosc_formats::store::{Class, WriteOptions};
use ferroblosc_formats::zarr::Version;
use ferroblosc_tools_common::staging::Folder;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum depth of a directory of arrays.
const MAX_DEPTH: usize = 64;

/// An array to convert.
pub struct Member {
    /// The path in the container.
    pub key: String,
    /// The path to read.
    pub path: PathBuf,
    /// The format.
    pub found: Detected,
}

/// All arrays of an input.
pub struct Members {
    /// The arrays, with different keys.
    pub arrays: Vec<Member>,
    /// The groups, with their attributes.
    pub groups: Groups,
    /// Descriptions of everything that is not converted.
    pub lost: Vec<String>,
    /// The directory of the exported objects of a store.
    _folder: Option<Folder>,
}

/// The form of the output of `--all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory with a file of this format for each array.
    Folder(OutputFormat),
    /// A store of python-blosc2.
    Store,
    /// A `.npz` file.
    Npz,
    /// A Zarr group in a directory.
    Zarr(Version),
    /// A Zarr group in a zip file.
    ZarrZip(Version),
    /// An HDF5 file.
    Hdf5,
}

impl Members {
    /// Returns the keys of the arrays.
    pub fn keys(&self) -> Vec<String> {
        self.arrays.iter().map(|array| array.key.clone()).collect()
    }
}

impl Kind {
    /// Returns the form for the name of the output and `--to`.
    pub fn of(args: &ConvertArgs) -> Result<Kind, Failure> {
        let name = args.output.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_named = |extension: &str| name.ends_with(&format!(".{extension}"));
        if args.output == Path::new(STDIO) {
            return Err(not_a_container());
        }
        Ok(match args.to {
            None | Some(OutputFormat::B2z | OutputFormat::B2d | OutputFormat::B2e)
                if members::is_store_output(args) =>
            {
                Kind::Store
            }
            None | Some(OutputFormat::Npz) if is_named("npz") => Kind::Npz,
            None | Some(OutputFormat::Zarr) if is_named("zarr") => Kind::Zarr(Version::V3),
            Some(OutputFormat::Zarr2) if is_named("zarr") => Kind::Zarr(Version::V2),
            None | Some(OutputFormat::Zarr) if is_named("zarr.zip") => Kind::ZarrZip(Version::V3),
            Some(OutputFormat::Zarr2) if is_named("zarr.zip") => Kind::ZarrZip(Version::V2),
            None | Some(OutputFormat::Hdf5) if is_named("h5") || is_named("hdf5") => Kind::Hdf5,
            to => Kind::Folder(to.unwrap_or(OutputFormat::B2nd)),
        })
    }
}

/// Returns the error of an output that cannot be that of `--all`.
pub fn not_a_container() -> Failure {
    Failure::usage("--all: OUT is a directory or a container, without the name of an array")
}

/// Returns all arrays of an input.
pub fn members(input: &Input, args: &ConvertArgs) -> Result<Members, Failure> {
    if let Some(target) = store::target(&args.input) {
        return of_store(&target);
    }
    let at_input = |error: convert::Error| input.error(error);
    let found = match convert::detect(input.path()) {
        Err(convert::Error::Unknown) if input.path().is_dir() => return of_folder(input.path()),
        found => found.map_err(at_input)?,
    };
    let keys = convert::keys(input.path(), &found).map_err(at_input)?;
    let container = Location::of(input.path()).path;
    let member = |key: &String| Member {
        key: key.clone(),
        path: paths::with_text(&container, &format!(":/{key}")),
        found,
    };
    let arrays = keys.iter().map(member).collect();
    let mut groups = Groups::read(input.path(), &found, &keys).map_err(at_input)?;
    let lost = std::mem::take(&mut groups.lost);
    Ok(Members { arrays, groups, lost, _folder: None })
}

/// Returns the arrays of a store, which are extracted to a temporary directory.
fn of_store(target: &store::Target) -> Result<Members, Failure> {
    let opened = target.open()?;
    let folder = temporary_folder()?;
    let nodes = opened.walk(target.key()).map_err(|error| target.error(error))?;
    let groups = Groups::read_store(&opened, target.key());
    let mut groups = groups.map_err(|error| target.error(error))?;
    let mut lost = std::mem::take(&mut groups.lost);
    let mut arrays = Vec::new();
    for node in nodes.iter().filter(|node| node.class != Class::Group) {
        let key = node.key.trim_matches('/').to_owned();
        if !matches!(node.class, Class::NdArray | Class::SChunk) {
            lost.push(format!("\"/{key}\", which is a {}", node.class.name()));
            continue;
        }
        let path = folder.path(arrays.len().to_string());
        let extracted = opened.extract(&node.key, &path, &WriteOptions::default());
        extracted.map_err(|error| target.error(error))?;
        let found = convert::detect(&path).map_err(|error| target.at(error.into()))?;
        arrays.push(Member { key, path, found });
    }
    Ok(Members { arrays, groups, lost, _folder: Some(folder) })
}

/// Returns the arrays in a directory: the files and directories of known formats, whose keys are
/// their paths without the extension. Links are not followed.
fn of_folder(root: &Path) -> Result<Members, Failure> {
    let (mut arrays, mut lost) = (Vec::new(), Vec::new());
    for FoundFile { key, path, found, .. } in files(root)? {
        match found {
            Ok(found) if found.format.has_keys() => {
                lost.push(format!("{}, which contains several arrays", path.display()));
            }
            // The file of a store can be a frame.
            Ok(_) | Err(convert::Error::Unknown) if path.is_file() && store::is_whole(&path) => {
                lost.push(format!("{}, which is a store", path.display()));
            }
            Ok(found) => arrays.push(Member { key, path, found }),
            Err(convert::Error::Unknown) => {
                lost.push(format!("{}, whose format is unknown", path.display()));
            }
            Err(error) => return Err(Failure::from(error).at(&path)),
        }
    }
    if arrays.is_empty() {
        return Err(Failure::new("contains no arrays").at(root));
    }
    Ok(Members { arrays, groups: Groups::default(), lost, _folder: None })
}

/// A file in a directory of arrays, or a directory of a known format.
pub struct FoundFile {
    /// The path below the directory, without the extension.
    pub key: String,
    /// The path below the directory.
    pub name: String,
    /// The path to read.
    pub path: PathBuf,
    /// The format.
    pub found: convert::Result<Detected>,
}

/// Returns all files and directories of a known format, and files of other formats, below a
/// directory, sorted by name. Links are not followed.
///
/// # Errors
/// If a directory cannot be read, contains too many levels, or a name that is not UTF-8.
pub fn files(root: &Path) -> Result<Vec<FoundFile>, Failure> {
    let mut files = Vec::new();
    search(root, "", 0, &mut files)?;
    Ok(files)
}

fn search(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<FoundFile>) -> Outcome {
    let at_folder = |error: std::io::Error| Failure::from(error).at(folder);
    if depth == MAX_DEPTH {
        return Err(Failure::new(format!("has more than {MAX_DEPTH} levels")).at(folder));
    }
    let entries = fs::read_dir(folder).map_err(at_folder)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(at_folder)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(at_folder)?;
        if !(kind.is_file() || kind.is_dir()) {
            continue;
        }
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else {
            return Err(Failure::new("the name is not UTF-8").at(&path));
        };
        let found = convert::detect(&path);
        if kind.is_dir() && matches!(found, Err(convert::Error::Unknown)) {
            search(&path, &format!("{prefix}{name}/"), depth + 1, files)?;
            continue;
        }
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let (key, name) = (format!("{prefix}{stem}"), format!("{prefix}{name}"));
        files.push(FoundFile { key, name, path, found });
    }
    Ok(())
}

/// Fails if a key is not a path, or two keys are equal. If `has_groups`, no array is in another
/// one.
pub fn check_keys(arrays: &[Member], has_groups: bool) -> Outcome {
    for Member { key, .. } in arrays {
        let is_valid = key.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_valid {
            let text = format!("the path of the array {key:?} is outside of the directory");
            return Err(Failure::new(text));
        }
    }
    let mut sorted: Vec<&Path> = arrays.iter().map(|array| Path::new(&array.key)).collect();
    // In this order, the paths below a path come directly after it.
    sorted.sort();
    let collide =
        |pair: &&[&Path]| pair[0] == pair[1] || has_groups && pair[1].starts_with(pair[0]);
    match sorted.windows(2).find(collide) {
        Some(pair) => Err(Failure::new(format!(
            "the names of two arrays collide: {:?} and {:?}",
            pair[0], pair[1]
        ))
        .with_hint("FILE:/NAME converts a single array")),
        None => Ok(()),
    }
}
