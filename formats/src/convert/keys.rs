//! The keys of the arrays in a container of several arrays.

use std::path::Path;

use super::detect::{Detected, Format};
use super::error::{Error, Result};
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use super::location::Location;
use super::npz::Npz;

/// Returns the keys of all arrays of a container of several arrays, or of those below the key of a
/// path.
///
/// # Errors
/// [`Error::NoKeys`] for other formats; the errors of reading the container.
pub fn keys(path: &Path, found: &Detected) -> Result<Vec<String>> {
    match found.format {
        Format::Npz => {
            let npz = Npz::open(path)?;
            if npz.has_key() {
                return Err(Error::NoKeys);
            }
            Ok(npz.arrays().map(|(key, _)| key.to_owned()).collect())
        }
        #[cfg(feature = "zarr")]
        Format::Zarr => {
            let Location { path, key } = Location::of(path);
            let keys = crate::zarr::arrays_in(&path, &key.unwrap_or_default())?;
            // The array at the root has no key.
            if keys.iter().any(String::is_empty) { Err(Error::NoKeys) } else { Ok(keys) }
        }
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => {
            let Location { path, key } = Location::of(path);
            let key = key.unwrap_or_default();
            let keys = crate::hdf5::datasets(&super::source::open_file(&path)?, &key)?;
            // A dataset contains no others.
            if keys == [key] { Err(Error::NoKeys) } else { Ok(keys) }
        }
        _ => Err(Error::NoKeys),
    }
}
