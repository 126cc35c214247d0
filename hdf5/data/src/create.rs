//! Datasets that are written.

use crate::api::{Guard, api};
use crate::attribute::{self, Attribute};
use crate::dataset::Filter;
use crate::error::{Error, Result};
use crate::file::{File, Group, links, of_output};
use crate::handle::{DEFAULT, Handle, c_name, check};
use crate::shape;
use crate::types::ItemType;

/// The description of a new dataset.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The type of the items.
    pub item: ItemType,
    /// The shape in items. It is empty for one item.
    pub shape: Vec<u64>,
    /// The chunk shape, or `None` for a dataset without chunks.
    pub chunks: Option<Vec<u64>>,
    /// The filter of the chunks.
    pub filter: Option<Filter>,
    /// The fill value, an item, or `None` for zeros.
    pub fill: Option<Vec<u8>>,
}

/// A dataset that is written.
#[derive(Debug)]
pub struct NewDataset {
    handle: Handle,
    memory: Handle,
    spec: Spec,
}

impl NewDataset {
    /// Creates a dataset, and the groups that contain it.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::Call`].
    pub fn create(file: &File, path: &str, spec: Spec) -> Result<NewDataset> {
        NewDataset::create_in(file, path, spec).map_err(of_output)
    }

    fn create_in(file: &File, path: &str, spec: Spec) -> Result<NewDataset> {
        let api = api()?;
        let guard = Guard::new(api);
        let path = format!("/{}", path.trim_matches('/'));
        if file.exists(&path)? {
            return Err(Error::Exists(path));
        }
        if !spec.item.is_plain() {
            let description = "strings of variable length or references".to_owned();
            return Err(Error::Type { path, description });
        }
        let action = || format!("create the dataset {path:?}");
        let memory = spec.item.datatype(&guard)?;
        let space = shape::space(Some(&spec.shape), &guard)?;
        let class = api.variable(&guard, "H5P_CLS_DATASET_CREATE_ID_g")?;
        let (name, links) = (c_name(&path)?, links(&guard)?);
        // SAFETY: the class is that of property lists for datasets, the identifiers are open, and
        // the buffers have the passed lengths.
        let handle = unsafe {
            let list = Handle::new((api.H5Pcreate)(class), &guard, action())?;
            // Equal data result in equal files.
            check((api.H5Pset_obj_track_times)(list.id(), 0), &guard, action())?;
            if let Some(chunks) = &spec.chunks {
                if chunks.len() != spec.shape.len() {
                    return Err(Error::Invalid(format!("chunks of the shape {chunks:?}")));
                }
                let status = (api.H5Pset_chunk)(list.id(), chunks.len() as i32, chunks.as_ptr());
                check(status, &guard, action())?;
            }
            if let Some(Filter { id, values, .. }) = &spec.filter {
                let status = (api.H5Pset_filter)(list.id(), *id, 0, values.len(), values.as_ptr());
                check(status, &guard, action())?;
            }
            if let Some(fill) = spec.fill.as_ref().filter(|fill| fill.len() == spec.item.size()) {
                let fill = fill.as_ptr().cast();
                check((api.H5Pset_fill_value)(list.id(), memory.id(), fill), &guard, action())?;
            }
            let id = (api.H5Dcreate2)(
                file.handle.id(),
                name.as_ptr(),
                memory.id(),
                space.id(),
                links.id(),
                list.id(),
                DEFAULT,
            );
            Handle::new(id, &guard, action())?
        };
        Ok(NewDataset { handle, memory, spec })
    }

    /// Writes a chunk in its stored form.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this libhdf5 cannot write stored chunks; [`Error::Call`].
    pub fn write_chunk(&self, start: &[u64], stored: &[u8]) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        let write = api.write_chunk.ok_or_else(|| {
            Error::Unsupported("it has no function H5Dwrite_chunk, which 1.10.3 added".to_owned())
        })?;
        let chunks = self.spec.chunks.as_deref().unwrap_or_default();
        let is_start = chunks.len() == start.len()
            && !chunks.is_empty()
            && (start.iter().zip(chunks).zip(&self.spec.shape))
                .all(|((at, chunk), len)| at < len && at.is_multiple_of(*chunk));
        if !is_start {
            return Err(Error::Invalid(format!("there is no chunk at {start:?}")));
        }
        // SAFETY: the index has the length of the rank, and the buffer its length.
        let status = unsafe {
            let bytes = stored.as_ptr().cast();
            write(self.handle.id(), DEFAULT, 0, start.as_ptr(), stored.len(), bytes)
        };
        check(status, &guard, "write a chunk").map(drop).map_err(of_output)
    }

    /// Writes all items.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size differs; [`Error::Call`].
    pub fn write_all(&self, items: &[u8]) -> Result<()> {
        self.write_box(&vec![0; self.spec.shape.len()], &self.spec.shape, items)
    }

    /// Writes `count` items from index `start` in each dimension.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the size differs; [`Error::Call`].
    pub fn write_box(&self, start: &[u64], count: &[u64], items: &[u8]) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        let lengths = &self.spec.shape;
        let bytes = count
            .iter()
            .try_fold(self.spec.item.size() as u64, |bytes, &len| bytes.checked_mul(len));
        let is_inside = start.len() == lengths.len()
            && count.len() == lengths.len()
            && (0..lengths.len()).all(|dim| {
                start[dim].checked_add(count[dim]).is_some_and(|end| end <= lengths[dim])
            });
        if bytes != Some(items.len() as u64) || !is_inside {
            return Err(Error::Invalid("the items have another size".to_owned()));
        }
        if items.is_empty() {
            return Ok(());
        }
        let action = "write the items";
        // SAFETY: the identifiers are open, the slices have the length of the rank, and the buffer
        // contains the selected items.
        unsafe {
            let spaces = if lengths.is_empty() {
                None
            } else {
                let memory = shape::space(Some(count), &guard)?;
                let file = shape::space(Some(lengths), &guard)?;
                let none = std::ptr::null();
                let (start, count) = (start.as_ptr(), count.as_ptr());
                let status = (api.H5Sselect_hyperslab)(file.id(), 0, start, none, count, none);
                check(status, &guard, action)?;
                Some((memory, file))
            };
            let (memory, file) = spaces
                .as_ref()
                .map_or((DEFAULT, DEFAULT), |(memory, file)| (memory.id(), file.id()));
            let items = items.as_ptr().cast();
            let status =
                (api.H5Dwrite)(self.handle.id(), self.memory.id(), memory, file, DEFAULT, items);
            check(status, &guard, action).map(drop).map_err(of_output)
        }
    }

    /// Writes an attribute, which replaces one of the same name.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_attribute(&self, name: &str, value: &Attribute) -> Result<()> {
        attribute::write(&self.handle, name, value)
    }
}

impl Group {
    /// Writes an attribute, which replaces one of the same name.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn set_attribute(&self, name: &str, value: &Attribute) -> Result<()> {
        attribute::write(&self.handle, name, value)
    }
}
