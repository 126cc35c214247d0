//! Opens and creates arrays.

use std::path::Path;

use super::{Carray, CarraySpec, write_new};
use crate::bcolz::error::Result;
use crate::bcolz::mode::Mode;
use crate::bcolz::options::Options;
use crate::bcolz::root::clear_root;

impl Carray {
    /// Opens the carray at `root`. [`Mode::Write`] removes all rows.
    ///
    /// # Errors
    /// [`Error`](crate::bcolz::Error)
    pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Carray> {
        let mut array = Carray::open_unlocked(root, mode, options)?;
        if mode != Mode::Read {
            let lock = options.store.lock(root)?;
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
    /// existing bcolz object.
    ///
    /// # Errors
    /// [`Error::ReadOnly`](crate::bcolz::Error::ReadOnly),
    /// [`Error::Exists`](crate::bcolz::Error::Exists),
    /// [`Error::NotOurs`](crate::bcolz::Error::NotOurs); the errors of checking the spec, of
    /// writing and of opening.
    pub fn create(root: &Path, spec: &CarraySpec, mode: Mode, options: &Options) -> Result<Carray> {
        let described = spec.check()?;
        clear_root(root, mode, options)?;
        write_new(root, &described, options)?;
        Carray::open(root, Mode::Append, options)
    }
}
