//! Identifiers of HDF5 objects, closed on drop.

use crate::api::{Guard, Id, api};
use crate::error::{Error, Result};
use crate::stack::of_call;
use std::ffi::CString;

/// `H5P_DEFAULT`.
pub const DEFAULT: Id = 0;

/// An open object of HDF5: file, group, dataset, datatype, dataspace, attribute or property list.
#[derive(Debug)]
pub struct Handle(Id);

impl Handle {
    /// Returns the handle of a new identifier, or the error of the call that failed to make it.
    pub fn new(id: Id, guard: &Guard, action: impl Into<String>) -> Result<Handle> {
        if id < 0 { Err(of_call(api()?, guard, action)) } else { Ok(Handle(id)) }
    }

    /// Returns the identifier.
    pub fn id(&self) -> Id {
        self.0
    }

    /// Closes the object, which may write to its file.
    pub fn close(self, guard: &Guard, action: impl Into<String>) -> Result<()> {
        let api = api()?;
        let id = std::mem::ManuallyDrop::new(self).0;
        // SAFETY: the identifier is open, and its only owner is forgotten.
        check(unsafe { (api.H5Idec_ref)(id) }, guard, action).map(drop)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Ok(api) = api() {
            let _guard = Guard::new(api);
            // SAFETY: the identifier is open, and this is its only owner.
            unsafe { (api.H5Idec_ref)(self.0) };
        }
    }
}

/// Fails if a status is negative.
pub fn check(status: i32, guard: &Guard, action: impl Into<String>) -> Result<i32> {
    if status < 0 { Err(of_call(api()?, guard, action)) } else { Ok(status) }
}

/// Returns a name as a C string.
pub fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::NotFound(name.to_owned()))
}
