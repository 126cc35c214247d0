//! The inputs and outputs of `compress`.
//!
//! The outputs are known before anything is written. Directories are searched without following
//! links. Files with the extension of frames are skipped, and so are directories of a known format,
//! such as frame directories and bcolz: their files are parts of one array. If inputs are removed,
//! compressed files of a known format are skipped, too.

use crate::cli::CompressArgs;
use crate::error::Failure;
use crate::io::STDIO;
use ferroblosc::Error;
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{self, Detected, Format};
use ferroblosc_formats::store;
use ferroblosc_tools_common::os::{self, Special};
use std::ffi::OsString;
use std::path::{Path, PathBuf, is_separator};

/// The extension of compressed files.
pub const EXTENSION: &str = ".b2frame";
/// Another extension of frames.
const OTHER_EXTENSION: &str = ".cframe";

/// A file to compress.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    /// The file, or `-`.
    pub input: PathBuf,
    /// The frame, or `-`.
    pub output: PathBuf,
    /// Whether the directories of the output are created.
    pub makes_parents: bool,
}

/// Whether the name of a file is that of a frame.
pub fn is_compressed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(EXTENSION) || name.ends_with(OTHER_EXTENSION)
}

/// Appends the extension of frames.
fn with_extension(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(EXTENSION);
    name.into()
}

/// Whether `-o PATH` names a directory for the outputs. A frame may be a directory, too.
fn is_folder(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    let ends_with_slash = last.is_some_and(|&byte| is_separator(char::from(byte)));
    ends_with_slash || path.is_dir() && convert::detect(path).is_err()
}

/// Whether the second of two paths is the output: it is new, or a frame by its name or its content,
/// or neither a file nor a directory.
fn is_output(path: &Path) -> bool {
    let is_new = path.symlink_metadata().is_err();
    let is_stream = path.exists() && !path.is_file() && !path.is_dir();
    let is_frame = || convert::detect(path).is_ok_and(|found| found.format == Format::Frame);
    path == Path::new(STDIO) || is_compressed(path) || is_new || is_stream || is_frame()
}

/// Returns the files to compress. An entry is an error if its input cannot be compressed.
pub fn jobs(args: &CompressArgs) -> Result<Vec<Result<Job, Failure>>, Failure> {
    let job = |input: &Path, output: PathBuf, makes_parents| {
        Ok(Job { input: input.to_owned(), output, makes_parents })
    };
    if let ([input, output], None, false) = (&args.paths[..], &args.output, args.recursive)
        && is_output(output)
    {
        return Ok(vec![job(input, output.clone(), false)]);
    }
    if let ([input], false) = (&args.paths[..], args.recursive) {
        let output = match &args.output {
            Some(folder) if is_folder(folder) && input != Path::new(STDIO) => {
                return Ok(vec![job(input, in_folder(folder, Path::new(""), input), true)]);
            }
            Some(output) => output.clone(),
            None if input == Path::new(STDIO) => input.clone(),
            None => {
                refuse_device(input)?;
                with_extension(input)
            }
        };
        return Ok(vec![job(input, output, false)]);
    }
    if args.output.as_deref() == Some(Path::new(STDIO)) {
        return Err(Failure::usage("several frames cannot be written to standard output"));
    }
    let folder = args.output.as_deref();
    if let Some(folder) = folder
        && folder.exists()
        && !folder.is_dir()
    {
        let shown = folder.display();
        return Err(Failure::usage(format!(
            "-o {shown}: is not a directory, and there are several files"
        )));
    }
    let mut jobs = Vec::new();
    for path in &args.paths {
        if path == Path::new(STDIO) {
            return Err(Failure::usage("standard input cannot be one of several files"));
        }
        if args.recursive && path.is_dir() {
            walk(path, folder, args.rm, &mut jobs);
        } else if is_compressed(path) {
            let shown = path.display();
            crate::error::warn(&format!("{shown}: has the extension of a frame, skipped"));
        } else {
            jobs.push(match folder {
                Some(folder) => job(path, in_folder(folder, Path::new(""), path), true),
                None => refuse_device(path).and_then(|()| job(path, with_extension(path), false)),
            });
        }
    }
    Ok(jobs)
}

/// Fails for a character device: its frame would be a file in the directory of devices, and it may
/// have no end.
fn refuse_device(input: &Path) -> Result<(), Failure> {
    if os::special(input) != Some(Special::CharDevice) {
        return Ok(());
    }
    Err(Failure::new("is a device").at(input).with_hint("name the output: IN OUT"))
}

/// Returns the output in a directory of outputs. `below` is the path of the file's directory.
fn in_folder(folder: &Path, below: &Path, input: &Path) -> PathBuf {
    folder.join(below).join(with_extension(Path::new(input.file_name().unwrap_or_default())))
}

/// Whether a file or directory below a searched directory is skipped because of its format, with a
/// warning.
///
/// # Errors
/// If a file that decides on the format cannot be read.
fn is_skipped(path: &Path) -> Result<bool, Failure> {
    if store::is_store(path) {
        crate::error::warn(&format!("{}: is a store, skipped", path.display()));
        return Ok(true);
    }
    match convert::detect(path) {
        Ok(Detected { format: Format::Npy | Format::Npz, .. }) | Err(convert::Error::Unknown) => {
            Ok(false)
        }
        // A damaged zip file is not of a known format.
        Err(convert::Error::Store(error)) if error.is_corruption() => Ok(false),
        Ok(found) => {
            let (shown, title) = (path.display(), found.format.title());
            crate::error::warn(&format!("{shown}: is a {title}, skipped"));
            Ok(true)
        }
        Err(error) => Err(Failure::from(error).at(path)),
    }
}

/// Adds all files below a directory, sorted by name. With a directory of outputs, their relative
/// paths begin with the name of the searched directory. `removes_inputs` is true for `--rm`.
fn walk(
    root: &Path,
    folder: Option<&Path>,
    removes_inputs: bool,
    jobs: &mut Vec<Result<Job, Failure>>,
) {
    let top = PathBuf::from(root.file_name().unwrap_or_default());
    // Directories that are not searched yet: the path, and the relative path of its outputs.
    let mut pending = vec![(root.to_owned(), top)];
    while let Some((path, below)) = pending.pop() {
        match is_skipped(&path) {
            Ok(false) => {}
            Ok(true) => continue,
            Err(failure) => {
                jobs.push(Err(failure));
                continue;
            }
        }
        let entries = std::fs::read_dir(&path).and_then(|entries| {
            let entries = entries.map(|entry| {
                let entry = entry?;
                Ok((entry.file_name(), entry.file_type()?))
            });
            entries.collect::<std::io::Result<Vec<(OsString, std::fs::FileType)>>>()
        });
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let error = named(error, Error::FileRead, "read", &path);
                jobs.push(Err(Failure::from(error)));
                continue;
            }
        };
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        let mut folders = Vec::new();
        for (name, kind) in entries {
            let entry = path.join(&name);
            if kind.is_dir() {
                folders.push((entry, below.join(&name)));
            } else if kind.is_file() && !is_compressed(&entry) {
                match removes_inputs.then(|| is_skipped(&entry)).transpose() {
                    Ok(Some(true)) => continue,
                    Ok(_) => {}
                    Err(failure) => {
                        jobs.push(Err(failure));
                        continue;
                    }
                }
                let output = match folder {
                    Some(folder) => in_folder(folder, &below, &entry),
                    None => with_extension(&entry),
                };
                jobs.push(Ok(Job { input: entry, output, makes_parents: folder.is_some() }));
            }
        }
        pending.extend(folders.into_iter().rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_ends_with_a_separator_is_a_directory() {
        assert!(is_folder(Path::new("missing/")));
        assert_eq!(is_folder(Path::new(r"missing\")), cfg!(windows));
        assert!(!is_folder(Path::new("missing")) && !is_folder(Path::new("")));
    }
}
