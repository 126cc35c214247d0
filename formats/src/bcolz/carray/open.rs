//! Opens and creates arrays.

use std::path::Path;

use super::{Carray, CarraySpec, write_new};
use crate::bcolz::error::Result;
use crate::bcolz::mode::Mode;
use crate::bcolz::options::Options;
use crate::bcolz::root::{clear_root, create_object, lock_object};

impl Carray {
    /// Opens the carray at `root`. [`Mode::Write`] removes all rows.
    ///
    /// A column of a table can be opened for writing unless the table has a writer. Changing its
    /// length then makes the table unreadable until all columns have the same length again.
    ///
    /// # Errors
    /// [`Error::Busy`](crate::bcolz::Error::Busy) if the array, or a table that contains it, has a
    /// writer; [`Error`](crate::bcolz::Error).
    pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Carray> {
        let mut array = Carray::open_unlocked(root, mode, options)?;
        if mode != Mode::Read {
            let lock = lock_object(root, &options.store)?;
            // Another writer may have changed or replaced the files before the lock was acquired.
            array = Carray::open_unlocked(root, mode, options)?;
            array.lock = Some(lock);
        }
        if mode == Mode::Write {
            array.resize(0)?;
        }
        Ok(array)
    }

    /// Creates an empty carray at `root`, whose parent must exist. [`Mode::Write`] replaces an
    /// existing bcolz object. On failure, no new files are left.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::bcolz::Error::ReadOnly),
    /// [`Error::Exists`](crate::bcolz::Error::Exists),
    /// [`Error::NotOurs`](crate::bcolz::Error::NotOurs),
    /// [`Error::Busy`](crate::bcolz::Error::Busy);
    /// the errors of checking the spec, of writing and of opening.
    pub fn create(root: &Path, spec: &CarraySpec, mode: Mode, options: &Options) -> Result<Carray> {
        let described = spec.check()?;
        clear_root(root, mode, options)?;
        let (mut array, lock) = create_object(root, &options.store, || {
            write_new(root, &described, options)?;
            Carray::open_unlocked(root, Mode::Append, options)
        })?;
        array.lock = Some(lock);
        Ok(array)
    }
}
