//! `convert --all`.
//!
//! To add arrays to a file, they are added to a copy of it, which then replaces the file.

use crate::cli::{Cli, ConvertArgs, OutputFormat};
use crate::container::{self, Kind, Member, Members};
use crate::convert::{convert_one, copy_hdf5, extension_of, form, is_hdf5, target};
use crate::error::{Failure, Outcome, report_lost};
use crate::io::{Input, Output, changed_meanwhile, refuse_nesting, temporary_folder};
use crate::members;
use crate::options::{self, Form, OutputKind};
use crate::store::target as store_target;
use ferroblosc::io::named::named;
use ferroblosc::os;
use ferroblosc_formats::convert::{self, Destination, Groups, Location};
use ferroblosc_formats::store::{ContainerKind, NewLeaf, Store};
use ferroblosc_formats::zarr::{self, Version};
use ferroblosc_tools_common::identity::Identity;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the paths of the files of all arrays in the directory.
fn files_of(keys: &[String], extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for key in keys {
        let is_valid = key.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !is_valid {
            let text = format!("the path of the array {key:?} is outside of the directory");
            return Err(Failure::new(text));
        }
        let file = format!("{key}.{extension}");
        if let Some(why) = os::files::fault_of_path(&file) {
            return Err(Failure::new(format!(
                "the array {key:?} has no valid name of a file: {why}"
            ))
            .with_hint("FILE:/NAME converts a single array"));
        }
        files.push(PathBuf::from(file));
    }
    // In this order, the paths below a path come directly after it.
    let mut sorted: Vec<&PathBuf> = files.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[1].starts_with(pair[0])) {
        Some(pair) => Err(collision(pair[0], pair[1])),
        None => Ok(files),
    }
}

/// Returns the error of two arrays that would have the same file, or a file and a directory.
fn collision(one: &Path, other: &Path) -> Failure {
    let text = format!("the names of two arrays collide as files: {one:?} and {other:?}");
    Failure::new(text).with_hint("FILE:/NAME converts a single array")
}

/// Converts all arrays of an input to files in a directory, or to one container.
pub fn run(args: &ConvertArgs, cli: &Cli) -> Outcome {
    let Location { path: container, key } = Location::of(&args.input);
    refuse_nesting(&container, key.as_deref().unwrap_or_default(), &args.output)?;
    let kind = Kind::of(args)?;
    if kind == Kind::Store && args.settings.directory {
        return Err(Failure::usage("--directory: a store contains its frames as files"));
    }
    let (path, name) = target(&args.output);
    if name.is_some() {
        return Err(container::not_a_container());
    }
    let input = Input::new(&args.input)?;
    if kind == Kind::Store && store_target(&args.input).is_some() {
        // A store is copied without changes, and without `--all`.
        return members::convert(args, cli).map(drop);
    }
    options::check(args, output_kind(kind, args, &path)?)?;
    let mut members = container::members(&input, args)?;
    let has_groups = !matches!(kind, Kind::Npz | Kind::Store);
    container::check_keys(&members.arrays, has_groups).map_err(|error| input.error(error))?;
    let keys = members.keys();
    let force = args.settings.force;
    let before = Identity::of_target(&path).ok();
    let permissions = fs::metadata(&path).ok();
    // The container may be replaced by another program while it is read.
    let reading = |failure: Failure| match &before {
        Some(before) if !Identity::of_target(&path).is_ok_and(|now| now.has_content_of(before)) => {
            changed_meanwhile(&path)
        }
        _ => failure,
    };
    let existing = Existing::find(kind, &path).map_err(reading)?;
    let mut output = Output::new(&path, force || existing.is_some())?;
    output = output.durable(args.settings.durable);
    if !output.is_staged() {
        return Err(container::not_a_container());
    }
    let shown = args.output.as_path();
    let mut lost = std::mem::take(&mut members.lost);
    if let Some(existing) = &existing {
        existing.check(&keys, &members.groups, force).map_err(|failure| failure.at(&path))?;
        lost.extend(members.groups.join(&existing.groups, &keys, force));
    }
    let none = Groups::default();
    let old_groups = existing.as_ref().map_or(&none, |existing| &existing.groups);
    match kind {
        Kind::Folder(format) => {
            let in_context = |failure: Failure| output.error(input.error(failure));
            convert_to_folder(&members.arrays, format, (output.path(), args), cli, &in_context)?;
            lost.extend(members.groups.descriptions(&keys));
        }
        Kind::Npz => {
            let in_context = |failure: Failure| output.error(input.error(failure));
            let folder = temporary_folder()?;
            let mut files = Vec::new();
            for (number, array) in members.arrays.iter().enumerate() {
                let file = folder.path(number.to_string());
                let to = (file.as_path(), shown, Form::Binary(Destination::Npy), None);
                convert_one((&array.path, &array.found), to, (args, cli), &in_context)?;
                files.push((array.key.clone(), file));
            }
            let written = convert::join_npz(&files, output.path());
            written.map_err(|error| in_context(error.into()))?;
            lost.extend(members.groups.descriptions(&keys));
        }
        Kind::Zarr(version) => {
            let in_context = |failure: Failure| output.error(input.error(failure));
            let written = write_zarr(&members, output.path(), version, (args, cli), &in_context);
            written.and_then(|()| {
                let groups = members.groups.write_zarr(output.path(), version, old_groups);
                groups.map_err(|error| in_context(error.into()))
            })?;
        }
        Kind::ZarrZip(version) => {
            let version = match &existing {
                Some(existing) => existing.version(args).map_err(|failure| failure.at(&path))?,
                None => version,
            };
            let in_context = |failure: Failure| output.error(input.error(failure));
            let folder = temporary_folder()?;
            let tree = folder.path("zarr");
            write_zarr(&members, &tree, version, (args, cli), &in_context)?;
            let old = existing.as_ref().map(|_| path.as_path());
            let groups = members.groups.write_zarr(&tree, version, old_groups);
            groups.map_err(|error| in_context(error.into()))?;
            let joined = zarr::join_zip(old, &keys, &tree, output.path());
            joined.map_err(|error| reading(in_context(convert::Error::from(error).into())))?;
            if let Some(permissions) = permissions.filter(|_| existing.is_some()) {
                output.copy_permissions(&permissions)?;
            }
        }
        Kind::Hdf5 => {
            if existing.is_some() {
                let names: Vec<&str> = keys.iter().map(String::as_str).collect();
                copy_hdf5(&path, &names, &mut output, force).map_err(reading)?;
            }
            let in_context = |failure: Failure| output.error(input.error(failure));
            let to = ConvertArgs { to: Some(OutputFormat::Hdf5), ..args.clone() };
            let destination = form(&to, &path)?;
            // Dimension scales are mostly in the outer groups.
            members.arrays.sort_by_key(|array| array.key.matches('/').count());
            for array in &members.arrays {
                let name = Some(array.key.clone());
                let to = (output.path(), shown, destination, name);
                convert_one((&array.path, &array.found), to, (args, cli), &in_context)?;
            }
            let written = members.groups.write_hdf5(output.path());
            lost.extend(written.map_err(|error| in_context(error.into()))?);
        }
        Kind::Store => {
            let in_context = |failure: Failure| output.error(input.error(failure));
            let folder = temporary_folder()?;
            let frames = folder.path("arrays");
            let to = (frames.as_path(), args);
            let format = OutputFormat::B2nd;
            let files = convert_to_folder(&members.arrays, format, to, cli, &in_context);
            let files = files.map_err(|failure| failure.of_target(&frames, &args.output))?;
            let written = write_store(&keys, &files, &members.groups, output.path(), args);
            lost.extend(written.map_err(in_context)?);
        }
    }
    report_lost(lost, shown, args.strict)?;
    match before.filter(|_| existing.is_some()) {
        Some(before) => output.commit_over(&before),
        None => output.commit(),
    }
}

/// Returns the output for which options are checked.
fn output_kind(kind: Kind, args: &ConvertArgs, path: &Path) -> Result<OutputKind, Failure> {
    let form_of = |to| form(&ConvertArgs { to: Some(to), ..args.clone() }, path);
    Ok(OutputKind::Data(match kind {
        Kind::Store => {
            let container = members::store_options(args)?.container;
            let container = container.unwrap_or(ContainerKind::Zip);
            return Ok(OutputKind::StoreOfArrays(container));
        }
        Kind::Folder(format) => form_of(format)?,
        Kind::Npz => form_of(OutputFormat::Npz)?,
        Kind::Zarr(Version::V2) | Kind::ZarrZip(Version::V2) => form_of(OutputFormat::Zarr2)?,
        Kind::Zarr(_) | Kind::ZarrZip(_) => form_of(OutputFormat::Zarr)?,
        Kind::Hdf5 => form_of(OutputFormat::Hdf5)?,
    }))
}

/// An existing container to which arrays are added.
struct Existing {
    arrays: Vec<String>,
    groups: Groups,
    /// The version of Zarr data.
    version: Option<Version>,
}

impl Existing {
    /// Returns the container at the path of the output, if arrays can be added to it.
    fn find(kind: Kind, path: &Path) -> Result<Option<Existing>, Failure> {
        let version = match kind {
            Kind::Hdf5 if is_hdf5(path) => None,
            Kind::ZarrZip(_) if path.is_file() => match convert::detect(path) {
                Ok(found) if found.format == convert::Format::Zarr => {
                    let version = zarr::version_of(path).map_err(convert::Error::from);
                    Some(version.map_err(|error| Failure::from(error).at(path))?)
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let at_path = |error: convert::Error| Failure::from(error).at(path);
        let found = convert::detect(path).map_err(at_path)?;
        let arrays = convert::keys(path, &found).map_err(at_path)?;
        let groups = Groups::read(path, &found, &arrays).map_err(at_path)?;
        Ok(Some(Existing { arrays, groups, version }))
    }

    /// Fails if an array or a group that is added has the path of an array, or an array that of a
    /// group. An array replaces an array if `force` is true.
    fn check(&self, keys: &[String], groups: &Groups, force: bool) -> Outcome {
        let is_array = |path: &str| self.arrays.iter().any(|known| known == path);
        for key in keys {
            if self.groups.groups.iter().any(|group| group.path == *key) {
                return Err(Failure::new(format!("{key:?} is a group")));
            }
            if is_array(key) && !force {
                let failure = Failure::new(format!("the array {key:?} already exists"));
                return Err(failure.with_hint("'--force' replaces it"));
            }
        }
        let parents = keys.iter().flat_map(|key| key.match_indices('/').map(|(at, _)| &key[..at]));
        let groups = groups.groups.iter().map(|group| group.path.as_str());
        match parents.chain(groups).find(|path| is_array(path)) {
            Some(path) => Err(Failure::new(format!("{path:?} is not a group"))),
            None => Ok(()),
        }
    }

    /// Returns the version of Zarr data, which must be the requested one.
    fn version(&self, args: &ConvertArgs) -> Result<Version, Failure> {
        let version = self.version.unwrap_or(Version::V3);
        let requested = match args.to {
            Some(OutputFormat::Zarr) => Version::V3,
            Some(OutputFormat::Zarr2) => Version::V2,
            _ => version,
        };
        if requested == version {
            return Ok(version);
        }
        let number = if version == Version::V2 { 2 } else { 3 };
        Err(Failure::usage(format!("the existing arrays have version {number} of Zarr")))
    }
}

/// Converts all arrays to a directory of Zarr data.
fn write_zarr(
    members: &Members,
    output: &Path,
    version: Version,
    (args, cli): (&ConvertArgs, &Cli),
    in_context: &dyn Fn(Failure) -> Failure,
) -> Outcome {
    let form = Form::Binary(Destination::Zarr { version, is_zip: false });
    for array in &members.arrays {
        let to = (output, args.output.as_path(), form, Some(array.key.clone()));
        convert_one((&array.path, &array.found), to, (args, cli), in_context)?;
    }
    Ok(())
}

/// Converts all arrays to files in a directory. Their paths are those of the arrays, with the
/// extension of the format. Returns the paths, relative to the directory.
fn convert_to_folder(
    arrays: &[Member],
    format: OutputFormat,
    (output, args): (&Path, &ConvertArgs),
    cli: &Cli,
    in_context: &dyn Fn(Failure) -> Failure,
) -> Result<Vec<PathBuf>, Failure> {
    let error = |error, path: &Path| {
        in_context(named(error, ferroblosc::Error::FileOpen, "create", path).into())
    };
    let keys: Vec<String> = arrays.iter().map(|array| array.key.clone()).collect();
    let files = files_of(&keys, extension_of(format)).map_err(in_context)?;
    fs::create_dir(output).map_err(|failed| error(failed, output))?;
    let args = ConvertArgs { to: Some(format), ..args.clone() };
    for (array, name) in arrays.iter().zip(&files) {
        let path = output.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|failed| error(failed, folder))?;
        }
        // Some file systems do not distinguish upper and lower case.
        if fs::symlink_metadata(&path).is_ok() {
            let lower = |path: &Path| path.to_string_lossy().to_lowercase();
            let is_other = |other: &&PathBuf| *other != name && lower(other) == lower(name);
            return Err(in_context(collision(files.iter().find(is_other).unwrap_or(name), name)));
        }
        let shown = args.output.join(name);
        let to = (path.as_path(), shown.as_path(), form(&args, &path)?, None);
        convert_one((&array.path, &array.found), to, (&args, cli), in_context)?;
    }
    Ok(files.iter().map(|name| output.join(name)).collect())
}

/// Writes frames, with the attributes of their groups, to a new store. Returns descriptions of the
/// attributes that it does not support.
fn write_store(
    keys: &[String],
    files: &[PathBuf],
    groups: &Groups,
    output: &Path,
    args: &ConvertArgs,
) -> Result<Vec<String>, Failure> {
    let mut writer = Store::create_with(output, &members::store_options(args)?)?;
    for (key, file) in keys.iter().zip(files) {
        writer.put(&format!("/{key}"), NewLeaf::file(file)?)?;
    }
    let lost = groups.write_store(&mut writer)?;
    writer.commit()?;
    Ok(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_inside_of_the_directory() {
        let files = |key: &str| files_of(&[key.to_owned()], "npy");
        assert_eq!(files("g/x").ok(), Some(vec![PathBuf::from("g/x.npy")]));
        for key in ["..", "../x", "g/../x", "", "/x"] {
            assert!(files(key).is_err(), "{key}");
        }
        for key in ["..\\x", "C:\\x", "C:x", "x:y", "nul", "g./x"] {
            assert_eq!(files(key).is_err(), cfg!(windows), "{key}");
        }
    }
}
