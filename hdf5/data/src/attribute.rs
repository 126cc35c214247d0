//! Attributes of datasets and groups.

use crate::api::{Guard, Id, api};
use crate::error::{Error, Result};
use crate::file::of_output;
use crate::handle::{DEFAULT, Handle, c_name, check};
use crate::shape::{self, extent};
use crate::types::{ItemType, Scalar};
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// The maximum size of an attribute that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// The size of an object reference in bytes.
const REFERENCE: usize = 8;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// Strings, with the shape; `None` for a dataspace without items.
    Texts(Option<Vec<u64>>, Vec<Vec<u8>>),
    /// Items in their form in memory, with the type and the shape.
    Items(ItemType, Option<Vec<u64>>, Vec<u8>),
    /// A value without a form in memory, with the description of its type.
    Unsupported(String),
}

/// Calls `f` with each string. NULL is an empty one.
pub fn each_text(texts: &[*mut c_char], f: &mut dyn FnMut(&[u8])) {
    for &text in texts {
        if text.is_null() {
            f(&[]);
        } else {
            // SAFETY: HDF5 returned this C string, which is not freed yet.
            f(unsafe { CStr::from_ptr(text) }.to_bytes());
        }
    }
}

/// The visitor of attributes, which records their names.
unsafe extern "C" fn record(
    _: Id,
    name: *const c_char,
    _: *const c_void,
    found: *mut c_void,
) -> c_int {
    // SAFETY: HDF5 passes a C string and the pointer of `all` to its local variable.
    let (name, found) = unsafe { (CStr::from_ptr(name), &mut *found.cast::<Vec<CString>>()) };
    found.push(name.to_owned());
    0
}

/// Returns all attributes of an object, in the order of their names.
pub fn all(object: &Handle) -> Result<Vec<(String, Attribute)>> {
    let api = api()?;
    let guard = Guard::new(api);
    let mut names: Vec<CString> = Vec::new();
    let visitor: unsafe extern "C" fn(Id, *const c_char, *const c_void, *mut c_void) -> c_int =
        record;
    let mut start = 0;
    // SAFETY: the object is open; the visitor has the type of `H5A_operator2_t`, and receives a
    // pointer to `names`. The index and the order are those of names.
    let status = unsafe {
        let data = (&raw mut names).cast();
        (api.H5Aiterate2)(object.id(), 0, 0, &raw mut start, visitor as *const c_void, data)
    };
    check(status, &guard, "list the attributes")?;
    let mut found = Vec::new();
    for name in names {
        let shown = name.to_string_lossy().into_owned();
        let value = read(object, &name, &guard)?;
        found.push((shown, value));
    }
    Ok(found)
}

/// Opens an attribute, its type and its dataspace.
pub fn open(object: &Handle, name: &CStr, guard: &Guard) -> Result<(Handle, Handle, Handle)> {
    let api = api()?;
    let action = || format!("read the attribute {:?}", name.to_string_lossy());
    // SAFETY: the object is open, and the name is a C string.
    unsafe {
        let id = (api.H5Aopen)(object.id(), name.as_ptr(), DEFAULT);
        let attribute = Handle::new(id, guard, action())?;
        let datatype = Handle::new((api.H5Aget_type)(attribute.id()), guard, action())?;
        let space = Handle::new((api.H5Aget_space)(attribute.id()), guard, action())?;
        Ok((attribute, datatype, space))
    }
}

/// Reads an attribute.
pub fn read(object: &Handle, name: &CStr, guard: &Guard) -> Result<Attribute> {
    let api = api()?;
    let action = || format!("read the attribute {:?}", name.to_string_lossy());
    let (attribute, datatype, space) = open(object, name, guard)?;
    let item = match ItemType::of(&datatype, guard)? {
        Ok(ItemType { scalar: Scalar::Reference, .. }) => {
            return Ok(Attribute::Unsupported("references to objects".to_owned()));
        }
        Ok(item) => item,
        Err(description) => return Ok(Attribute::Unsupported(description)),
    };
    let (shape, is_null) = extent(&space, guard)?;
    let is_text = matches!(item.scalar, Scalar::Text { .. });
    if is_null {
        let items = Attribute::Items(item, None, Vec::new());
        return Ok(if is_text { Attribute::Texts(None, Vec::new()) } else { items });
    }
    let count = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
    let bytes = count.and_then(|count| count.checked_mul(item.size() as u64));
    let Some(bytes) = bytes.filter(|&bytes| bytes <= MAX_BYTES) else {
        return Ok(Attribute::Unsupported(format!("more than {MAX_BYTES} bytes")));
    };
    let memory = item.datatype(guard)?;
    if !is_text {
        let mut items = vec![0_u8; bytes as usize];
        if bytes > 0 {
            // SAFETY: the buffer has the size of all items in the type of memory.
            let status =
                unsafe { (api.H5Aread)(attribute.id(), memory.id(), items.as_mut_ptr().cast()) };
            check(status, guard, action())?;
        }
        return Ok(Attribute::Items(item, Some(shape), items));
    }
    let mut texts: Vec<*mut c_char> = vec![std::ptr::null_mut(); count.unwrap_or(0) as usize];
    let mut values = Vec::new();
    if !texts.is_empty() {
        // SAFETY: the buffer has a pointer for each item, which are NULL or strings that HDF5
        // allocates.
        unsafe {
            let status = (api.H5Aread)(attribute.id(), memory.id(), texts.as_mut_ptr().cast());
            let status = check(status, guard, action());
            if status.is_ok() {
                each_text(&texts, &mut |text| values.push(text.to_vec()));
            }
            let dest = texts.as_mut_ptr().cast();
            (api.H5Dvlen_reclaim)(memory.id(), space.id(), DEFAULT, dest);
            status?;
        }
    }
    Ok(Attribute::Texts(Some(shape), values))
}

/// `hvl_t`: a sequence of variable length.
#[repr(C)]
#[derive(Clone, Copy)]
struct Sequence {
    len: usize,
    start: *mut c_void,
}

/// Returns the references to the dimension scales of each dimension, from the attribute
/// `DIMENSION_LIST`.
pub fn scales(object: &Handle) -> Result<Vec<Vec<[u8; REFERENCE]>>> {
    let api = api()?;
    let guard = Guard::new(api);
    let name = c"DIMENSION_LIST";
    // SAFETY: the object is open, and the name is a C string.
    if unsafe { (api.H5Aexists)(object.id(), name.as_ptr()) } <= 0 {
        return Ok(Vec::new());
    }
    let (attribute, datatype, space) = open(object, name, &guard)?;
    let (shape, _) = extent(&space, &guard)?;
    // SAFETY: the identifiers are open. The attribute is read only if it has the type of sequences
    // of object references, so that the buffer has the form that HDF5 writes.
    unsafe {
        let object_reference = api.variable(&guard, "H5T_STD_REF_OBJ_g")?;
        let base = (api.H5Tget_super)(datatype.id());
        let Ok(base) = Handle::new(base, &guard, "read the dimension scales") else {
            return Ok(Vec::new());
        };
        let is_sequence = (api.H5Tget_class)(datatype.id()) == 9
            && (api.H5Tequal)(base.id(), object_reference) > 0
            && (api.H5Tget_size)(datatype.id()) == size_of::<Sequence>();
        let &[len @ 1..=32] = shape.as_slice() else {
            return Ok(Vec::new());
        };
        if !is_sequence {
            return Ok(Vec::new());
        }
        let empty = Sequence { len: 0, start: std::ptr::null_mut() };
        let mut lists = vec![empty; len as usize];
        let dest: *mut c_void = lists.as_mut_ptr().cast();
        let status = (api.H5Aread)(attribute.id(), datatype.id(), dest);
        let status = check(status, &guard, "read the dimension scales");
        let references = |list: &Sequence| -> Vec<[u8; REFERENCE]> {
            let len = if list.start.is_null() { 0 } else { list.len };
            let start = list.start.cast::<[u8; REFERENCE]>();
            (0..len).map(|number| start.add(number).read_unaligned()).collect()
        };
        let found = status.map(|_| lists.iter().map(references).collect());
        (api.H5Dvlen_reclaim)(datatype.id(), space.id(), DEFAULT, dest);
        found
    }
}

/// Writes an attribute, which replaces one of the same name.
pub fn write(object: &Handle, name: &str, value: &Attribute) -> Result<()> {
    let api = api()?;
    let guard = Guard::new(api);
    let action = || format!("write the attribute {name:?}");
    let c_text = |bytes: &[u8]| {
        CString::new(bytes).map_err(|_| Error::Call {
            action: action(),
            reason: "a text contains NUL".to_owned(),
            is_open: false,
        })
    };
    let (item, shape) = match value {
        Attribute::Texts(shape, _) => (Scalar::Text { is_utf8: true }.into(), shape),
        Attribute::Items(item, shape, _) => (item.clone(), shape),
        Attribute::Unsupported(_) => return Ok(()),
    };
    let extents = shape.as_deref().unwrap_or(&[0]);
    let count = extents.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
    let has_size = match value {
        Attribute::Texts(_, texts) => count == Some(texts.len() as u64),
        Attribute::Items(_, _, items) => {
            let bytes = count.and_then(|count| count.checked_mul(item.size() as u64));
            item.is_plain() && bytes == Some(items.len() as u64)
        }
        Attribute::Unsupported(_) => true,
    };
    if !has_size {
        return Err(Error::Invalid(format!("the attribute {name:?} has another size")));
    }
    let c_texts = match value {
        Attribute::Texts(_, texts) => {
            texts.iter().map(|text| c_text(text)).collect::<Result<Vec<CString>>>()?
        }
        _ => Vec::new(),
    };
    let pointers: Vec<*const c_char> = c_texts.iter().map(|text| text.as_ptr()).collect();
    let datatype = item.datatype(&guard)?;
    let items: *const c_void = match value {
        _ if count == Some(0) => std::ptr::null(),
        Attribute::Items(_, _, items) => items.as_ptr().cast(),
        _ => pointers.as_ptr().cast(),
    };
    // SAFETY: `has_size` states that there are as many items as the shape has, and they have the
    // form of the type.
    unsafe { write_items(object, name, &datatype, shape.as_deref(), items) }
}

/// Removes an attribute, if there is one of this name.
pub fn remove(object: &Handle, name: &str) -> Result<()> {
    let api = api()?;
    let guard = Guard::new(api);
    let c_name = c_name(name)?;
    // SAFETY: the object is open, and the name is a C string.
    unsafe {
        if (api.H5Aexists)(object.id(), c_name.as_ptr()) > 0 {
            let status = (api.H5Adelete)(object.id(), c_name.as_ptr());
            check(status, &guard, format!("write the attribute {name:?}")).map_err(of_output)?;
        }
    }
    Ok(())
}

/// Writes an attribute of this type, which replaces one of the same name. Without a shape it has no
/// items; with null instead of items, none are written.
///
/// # Safety
/// `items` must be null, or point to the items of the shape in the form of the type.
pub unsafe fn write_items(
    object: &Handle,
    name: &str,
    datatype: &Handle,
    shape: Option<&[u64]>,
    items: *const c_void,
) -> Result<()> {
    let api = api()?;
    let guard = Guard::new(api);
    remove(object, name)?;
    let space = shape::space(shape, &guard)?;
    let action = || format!("write the attribute {name:?}");
    let c_name = c_name(name)?;
    // SAFETY: the identifiers are open, the name is a C string, and the caller guarantees the rest.
    unsafe {
        let id = (api.H5Acreate2)(
            object.id(),
            c_name.as_ptr(),
            datatype.id(),
            space.id(),
            DEFAULT,
            DEFAULT,
        );
        let attribute = Handle::new(id, &guard, action()).map_err(of_output)?;
        if !items.is_null() {
            let status = (api.H5Awrite)(attribute.id(), datatype.id(), items);
            check(status, &guard, action()).map_err(of_output)?;
        }
    }
    Ok(())
}
