//! Dataspaces: the shapes of datasets and attributes.

use crate::api::{Guard, api};
use crate::error::{Error, Result};
use crate::handle::{Handle, check};

/// `H5S_SIMPLE` and `H5S_NULL`.
const SIMPLE: i32 = 1;
const NULL: i32 = 2;
/// The maximum number of dimensions.
const MAX_RANK: usize = 32;

/// Returns the shape of a dataspace, and whether it has neither items nor a shape.
pub fn extent(space: &Handle, guard: &Guard) -> Result<(Vec<u64>, bool)> {
    let api = api()?;
    // SAFETY: the dataspace is open, and the buffer has the length of the rank.
    unsafe {
        match (api.H5Sget_simple_extent_type)(space.id()) {
            NULL => return Ok((Vec::new(), true)),
            SIMPLE => {}
            _ => return Ok((Vec::new(), false)),
        }
        let rank = (api.H5Sget_simple_extent_ndims)(space.id());
        let rank = check(rank, guard, "read a shape")? as usize;
        if rank > MAX_RANK {
            return Err(Error::Invalid(format!("it has {rank} dimensions")));
        }
        let mut shape = vec![0; rank];
        let status =
            (api.H5Sget_simple_extent_dims)(space.id(), shape.as_mut_ptr(), std::ptr::null_mut());
        check(status, guard, "read a shape")?;
        Ok((shape, false))
    }
}

/// Creates the dataspace of a shape: one item if it is empty, and none for `None`.
pub fn space(shape: Option<&[u64]>, guard: &Guard) -> Result<Handle> {
    let api = api()?;
    // SAFETY: the classes exist (0 is `H5S_SCALAR`, 2 `H5S_NULL`); the shape has this length.
    let id = unsafe {
        match shape {
            None => (api.H5Screate)(2),
            Some([]) => (api.H5Screate)(0),
            Some(shape) => {
                (api.H5Screate_simple)(shape.len() as i32, shape.as_ptr(), std::ptr::null())
            }
        }
    };
    Handle::new(id, guard, "create a shape")
}
