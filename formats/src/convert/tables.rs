//! Converts ctables to directories with one b2nd frame per column and back.
//!
//! ```text
//! DIRECTORY/a.b2nd  DIRECTORY/b.b2nd    one column each
//! ```
//!
//! A metalayer of each frame records the order of the columns and the table's attributes. Without
//! it, the columns are in the order of their names.

use std::path::{Path, PathBuf};

use super::attrs::{TableDescription, pairs};
use super::b2nd::{Source, b2nd_to_carray, carray_to_b2nd, write_frame};
use super::bcolz::Target;
use super::error::{Error, Result};
use super::sink::Writing;
use crate::bcolz::{self, Ctable, Mode, Options};

/// The extension of frames.
const EXTENSION: &str = "b2nd";

/// Returns the path of a column's frame.
fn frame_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{EXTENSION}"))
}

/// Writes each column of the ctable at `root` to a frame `NAME.b2nd` in the new directory `folder`.
/// Attributes become metalayers.
///
/// # Errors
/// Returns an [`Error`], also if a column is a table. The incomplete output is removed.
pub fn ctable_to_b2nd(root: &Path, folder: &Path, options: &Options) -> Result<()> {
    let mut table = Ctable::open(root, Mode::Read, options)?;
    let names: Vec<String> = table.names().map(str::to_owned).collect();
    for name in &names {
        match table.column(name)? {
            bcolz::Object::Carray(array) if array.dtype().has_objects() => {
                return Err(bcolz::Error::Objects.into());
            }
            bcolz::Object::Carray(array) => array.attrs().check_decodable()?,
            bcolz::Object::Ctable(_) => return Err(Error::Layout),
        }
    }
    table.attrs().check_decodable()?;
    let description = TableDescription { attrs: pairs(table.attrs()), names: names.clone() };
    std::fs::create_dir(folder)?;
    let written = names.iter().try_for_each(|name| {
        let array = table.array(name)?;
        write_frame(
            array,
            &frame_of(folder, name),
            options,
            Some(description.clone()),
            &Writing::default(),
        )
    });
    if written.is_err() {
        // An error of the cleanup would hide the original error.
        let _ = std::fs::remove_dir_all(folder);
    }
    written
}

/// Returns the sorted names of the frames in a directory.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = PathBuf::from(entry?.file_name());
        if path.extension().is_some_and(|extension| extension == EXTENSION)
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether `path` is a directory of frames, and not a sparse frame.
pub fn is_table_of_frames(path: &Path) -> bool {
    path.is_dir() && names_in(path).is_ok_and(|names| !names.is_empty())
}

/// Creates a ctable at `root` from the frames in `folder`. Returns the column and name of each
/// metalayer that is not representable as an attribute.
///
/// # Errors
/// Returns [`Error::Columns`] if the frames are not exactly the recorded columns, or another
/// [`Error`]. The incomplete output is removed.
pub fn b2nd_to_ctable(
    folder: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<Vec<(String, String)>> {
    let mismatch = || Error::Columns(folder.to_owned());
    let found = names_in(folder)?;
    let first = found.first().ok_or_else(mismatch)?;
    let described = Source::open(&frame_of(folder, first), options)?.described;
    let description = described.table.unwrap_or_else(|| TableDescription {
        names: found.clone(),
        ..TableDescription::default()
    });
    let mut sorted = description.names.clone();
    sorted.sort_unstable();
    if sorted != found {
        return Err(mismatch());
    }
    let table = Ctable::create(root, &[], mode, options)?;
    let filled = fill(table, folder, &description, target, options);
    if filled.is_err() {
        let _ = bcolz::purge(root, options);
    }
    filled
}

/// Writes the bcolz object at `root` as b2nd frames with [`carray_to_b2nd`] or [`ctable_to_b2nd`].
///
/// # Errors
/// [`Error`]
pub fn bcolz_to_b2nd(root: &Path, output: &Path, options: &Options) -> Result<()> {
    match bcolz::open(root, Mode::Read, options)? {
        bcolz::Object::Carray(_) => carray_to_b2nd(root, output, options),
        bcolz::Object::Ctable(_) => ctable_to_b2nd(root, output, options),
    }
}

/// Creates a carray from a frame, or a ctable from a directory of frames, with [`b2nd_to_carray`]
/// or [`b2nd_to_ctable`]. Returns the number of metalayers that are not representable as
/// attributes.
///
/// # Errors
/// [`Error`]
pub fn b2nd_to_bcolz(
    input: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<usize> {
    Ok(if is_table_of_frames(input) {
        b2nd_to_ctable(input, root, target, mode, options)?.len()
    } else {
        b2nd_to_carray(input, root, target, mode, options)?.len()
    })
}

fn fill(
    mut table: Ctable,
    folder: &Path,
    description: &TableDescription,
    target: &Target,
    options: &Options,
) -> Result<Vec<(String, String)>> {
    let mut unmapped = Vec::new();
    for name in &description.names {
        let source = Source::open(&frame_of(folder, name), options)?;
        table.add_column(name, &source.spec(target), None, |array| {
            source.append_to(array)?;
            let mut attrs = source.described.attrs.iter();
            Ok::<_, Error>(attrs.try_for_each(|(name, value)| array.set_attr(name, value.clone()))?)
        })?;
        let layers = source.described.unmapped.into_iter();
        unmapped.extend(layers.map(|layer| (name.clone(), layer)));
    }
    for (name, value) in &description.attrs {
        table.set_attr(name, value.clone())?;
    }
    table.close()?;
    Ok(unmapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_tables_are_distinguished_in_both_directions() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let scratch = crate::testing::tempdir();
        let (target, options) = (Target::default(), Options::default());
        let array = ("i4_exact", root.join("tests/data/bcolz/i4_exact"), false);
        let table = ("ct_append", root.join("tests/data/bcolz/ct_append"), true);
        for (name, data, is_table) in [array, table] {
            let frames = scratch.path().join(format!("{name}.b2nd"));
            bcolz_to_b2nd(&data, &frames, &options).unwrap();
            assert_eq!(is_table_of_frames(&frames), is_table, "{name}");
            let root = scratch.path().join(name);
            let left = b2nd_to_bcolz(&frames, &root, &target, Mode::Append, &options).unwrap();
            assert_eq!(left, 0, "{name}");
            let before = bcolz::open(&data, Mode::Read, &options).unwrap();
            let after = bcolz::open(&root, Mode::Read, &options).unwrap();
            assert_eq!(after.len(), before.len(), "{name}");
            let made = matches!(after, bcolz::Object::Ctable(_));
            assert_eq!(made, is_table, "{name}");
        }
    }
}
