//! Datatypes, and their form in memory.
//!
//! Items in memory have the layout of NumPy's dtypes, in the byte order of the file. Records are
//! packed. Enumerations are their integers, except the one that h5py writes for Booleans.

use crate::api::{Api, Guard, Id, api};
use crate::error::Result;
use crate::handle::{Handle, c_name, check};
use crate::stack::of_call;
use std::ffi::{CStr, c_char};

/// `H5T_class_t`.
mod class {
    pub const INTEGER: i32 = 0;
    pub const FLOAT: i32 = 1;
    pub const TIME: i32 = 2;
    pub const STRING: i32 = 3;
    pub const BITFIELD: i32 = 4;
    pub const OPAQUE: i32 = 5;
    pub const COMPOUND: i32 = 6;
    pub const REFERENCE: i32 = 7;
    pub const ENUM: i32 = 8;
    pub const VLEN: i32 = 9;
    pub const ARRAY: i32 = 10;
    pub const COMPLEX: i32 = 11;
}

/// `H5T_ORDER_BE`.
const BIG_ENDIAN: i32 = 1;
/// `H5T_STR_NULLPAD`.
const NULL_PADDED: i32 = 1;
/// `H5T_CSET_UTF8`.
const UTF8: i32 = 1;
/// `H5T_VARIABLE`.
pub const VARIABLE_SIZE: usize = usize::MAX;
/// The maximum nesting depth of types.
const MAX_DEPTH: usize = 32;
/// The maximum size of an item in bytes.
const MAX_ITEM: usize = i32::MAX as usize;
/// The fields of half floats: positions and sizes of sign, exponent, mantissa; the bias.
const HALF: ([usize; 5], usize) = ([15, 10, 5, 0, 10], 15);

/// A type of an item without a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A byte that is 0 or 1, in the file the enumeration of h5py.
    Bool,
    /// An integer.
    Int {
        /// The size in bytes: 1, 2, 4 or 8.
        size: usize,
        /// Whether it is signed.
        is_signed: bool,
        /// Whether it is big-endian.
        is_big: bool,
    },
    /// A field of bits, an unsigned integer in memory.
    Bits {
        /// The size in bytes: 1, 2, 4 or 8.
        size: usize,
        /// Whether it is big-endian.
        is_big: bool,
    },
    /// A floating-point number of IEEE 754.
    Float {
        /// The size in bytes: 2, 4 or 8.
        size: usize,
        /// Whether it is big-endian.
        is_big: bool,
    },
    /// A complex number, in the file a record of `r` and `i`.
    Complex {
        /// The size of both parts in bytes: 8 or 16.
        size: usize,
        /// Whether it is big-endian.
        is_big: bool,
    },
    /// Bytes, padded with NUL.
    Bytes {
        /// The size in bytes.
        size: usize,
        /// Whether the characters are UTF-8.
        is_utf8: bool,
    },
    /// Opaque bytes.
    Opaque {
        /// The size in bytes.
        size: usize,
        /// The description of the bytes, such as `NUMPY:<M8[ns]` by h5py. HDF5 reads items only as
        /// those with the same tag.
        tag: String,
    },
    /// A record of fields.
    Record {
        /// The fields.
        fields: Vec<Field>,
        /// The size in bytes.
        size: usize,
    },
    /// A string of variable length, only as a type of a dataset or an attribute.
    Text {
        /// Whether the characters are UTF-8.
        is_utf8: bool,
    },
    /// A reference to an object, only as a type of an attribute.
    Reference,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The offset in the record in bytes.
    pub offset: usize,
    /// The type.
    pub item: ItemType,
}

/// A type of an item: an array of scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemType {
    /// The type of each scalar.
    pub scalar: Scalar,
    /// The shape; empty for one scalar.
    pub shape: Vec<u64>,
    /// The number of dimensions of each array if arrays are nested, the outermost first; otherwise
    /// empty. The shape has the extents of all of them. HDF5 converts only between arrays with the
    /// same nesting.
    pub ranks: Vec<usize>,
}

impl From<Scalar> for ItemType {
    fn from(scalar: Scalar) -> ItemType {
        ItemType { scalar, shape: Vec::new(), ranks: Vec::new() }
    }
}

impl Scalar {
    /// Returns the size in memory in bytes.
    pub fn size(&self) -> usize {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { size, .. }
            | Scalar::Bits { size, .. }
            | Scalar::Float { size, .. }
            | Scalar::Complex { size, .. }
            | Scalar::Bytes { size, .. }
            | Scalar::Opaque { size, .. }
            | Scalar::Record { size, .. } => *size,
            Scalar::Text { .. } | Scalar::Reference => size_of::<usize>(),
        }
    }
}

impl ItemType {
    /// Returns the size in memory in bytes.
    pub fn size(&self) -> usize {
        let count = self.shape.iter().fold(1_usize, |count, &len| {
            count.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX))
        });
        self.scalar.size().saturating_mul(count)
    }

    /// Whether items in memory contain no pointers and no references.
    pub(crate) fn is_plain(&self) -> bool {
        match &self.scalar {
            Scalar::Text { .. } | Scalar::Reference => false,
            Scalar::Record { fields, .. } => fields.iter().all(|field| field.item.is_plain()),
            _ => true,
        }
    }

    /// Returns the type of a datatype of HDF5, or the description of a type that has no form in
    /// memory.
    pub(crate) fn of(
        datatype: &Handle,
        guard: &Guard,
    ) -> Result<std::result::Result<ItemType, String>> {
        Reader { api: api()?, guard }.item(datatype.id(), 0)
    }

    /// Returns the datatype of this form in memory, which is also the one that is written to files.
    pub(crate) fn datatype(&self, guard: &Guard) -> Result<Handle> {
        let api = api()?;
        let mut made = scalar_type(api, guard, &self.scalar)?;
        let one = [self.shape.len()];
        let ranks = if self.ranks.is_empty() { &one } else { self.ranks.as_slice() };
        let mut shape = self.shape.as_slice();
        // The innermost array first.
        for &rank in ranks.iter().rev().filter(|&&rank| rank > 0) {
            let extents;
            (shape, extents) = shape.split_at(shape.len().saturating_sub(rank));
            // SAFETY: the array has this number of extents.
            let array = unsafe {
                (api.H5Tarray_create2)(made.id(), extents.len() as u32, extents.as_ptr())
            };
            made = Handle::new(array, guard, "create the type of an array")?;
        }
        Ok(made)
    }
}

fn letters(is_big: bool) -> &'static str {
    if is_big { "BE" } else { "LE" }
}

/// Returns a copy of a predefined type.
fn predefined(api: &Api, guard: &Guard, name: &str) -> Result<Handle> {
    let id = api.variable(guard, name)?;
    // SAFETY: the variable is the identifier of a datatype.
    Handle::new(unsafe { (api.H5Tcopy)(id) }, guard, "copy a type")
}

fn scalar_type(api: &Api, guard: &Guard, scalar: &Scalar) -> Result<Handle> {
    let failed = "create a type";
    match scalar {
        Scalar::Bool => {
            let base = predefined(api, guard, "H5T_STD_I8LE_g")?;
            // SAFETY: the base is an integer of one byte, and so are the values.
            unsafe {
                let made = Handle::new((api.H5Tenum_create)(base.id()), guard, failed)?;
                for (name, value) in [(c"FALSE", 0_i8), (c"TRUE", 1)] {
                    let value = (&raw const value).cast();
                    let status = (api.H5Tenum_insert)(made.id(), name.as_ptr(), value);
                    check(status, guard, failed)?;
                }
                Ok(made)
            }
        }
        Scalar::Int { size, is_signed, is_big } => {
            let sign = if *is_signed { 'I' } else { 'U' };
            let order = letters(*is_big);
            predefined(api, guard, &format!("H5T_STD_{sign}{}{order}_g", size * 8))
        }
        Scalar::Bits { size, is_big } => {
            predefined(api, guard, &format!("H5T_STD_B{}{}_g", size * 8, letters(*is_big)))
        }
        Scalar::Float { size: 2, is_big } => {
            let half = predefined(api, guard, &format!("H5T_IEEE_F32{}_g", letters(*is_big)))?;
            let ([sign, exponent, exponent_size, mantissa, mantissa_size], bias) = HALF;
            // SAFETY: the type is a floating-point number, and the fields are inside of it.
            unsafe {
                let fields = (api.H5Tset_fields)(
                    half.id(),
                    sign,
                    exponent,
                    exponent_size,
                    mantissa,
                    mantissa_size,
                );
                check(fields, guard, failed)?;
                check((api.H5Tset_size)(half.id(), 2), guard, failed)?;
                check((api.H5Tset_ebias)(half.id(), bias), guard, failed)?;
            }
            Ok(half)
        }
        Scalar::Float { size, is_big } => {
            predefined(api, guard, &format!("H5T_IEEE_F{}{}_g", size * 8, letters(*is_big)))
        }
        Scalar::Complex { size, is_big } => {
            let part = ItemType::from(Scalar::Float { size: size / 2, is_big: *is_big });
            let field =
                |name: &str, offset| Field { name: name.to_owned(), offset, item: part.clone() };
            let fields = vec![field("r", 0), field("i", size / 2)];
            scalar_type(api, guard, &Scalar::Record { fields, size: *size })
        }
        Scalar::Bytes { size, is_utf8 } => {
            let text = predefined(api, guard, "H5T_C_S1_g")?;
            // SAFETY: the type is a string.
            unsafe {
                check((api.H5Tset_size)(text.id(), *size), guard, failed)?;
                check((api.H5Tset_strpad)(text.id(), NULL_PADDED), guard, failed)?;
                check((api.H5Tset_cset)(text.id(), i32::from(*is_utf8)), guard, failed)?;
            }
            Ok(text)
        }
        Scalar::Opaque { size, tag } => {
            // SAFETY: the class exists, and the tag is a C string.
            unsafe {
                let made = (api.H5Tcreate)(class::OPAQUE, *size);
                let made = Handle::new(made, guard, failed)?;
                let tag = c_name(tag)?;
                check((api.H5Tset_tag)(made.id(), tag.as_ptr()), guard, failed)?;
                Ok(made)
            }
        }
        Scalar::Record { fields, size } => {
            // SAFETY: the class exists.
            let made = unsafe { (api.H5Tcreate)(class::COMPOUND, *size) };
            let made = Handle::new(made, guard, failed)?;
            for Field { name, offset, item } in fields {
                let (field, name) = (item.datatype(guard)?, c_name(name)?);
                // SAFETY: the identifiers are those of types, and the name is a C string. HDF5
                // refuses a field outside of the record.
                let status =
                    unsafe { (api.H5Tinsert)(made.id(), name.as_ptr(), *offset, field.id()) };
                check(status, guard, failed)?;
            }
            Ok(made)
        }
        Scalar::Text { is_utf8 } => {
            let text = predefined(api, guard, "H5T_C_S1_g")?;
            // SAFETY: the type is a string.
            unsafe {
                check((api.H5Tset_size)(text.id(), VARIABLE_SIZE), guard, failed)?;
                check((api.H5Tset_cset)(text.id(), i32::from(*is_utf8)), guard, failed)?;
            }
            Ok(text)
        }
        Scalar::Reference => predefined(api, guard, "H5T_STD_REF_OBJ_g"),
    }
}

/// The result of a type: an error of HDF5, or the description of a type without form in memory.
type Described<T> = Result<std::result::Result<T, String>>;

/// Returns early with a description.
macro_rules! described {
    ($made:expr) => {
        match $made? {
            Ok(made) => made,
            Err(description) => return Ok(Err(description)),
        }
    };
}

/// A reader of datatypes.
struct Reader<'a> {
    api: &'a Api,
    guard: &'a Guard<'a>,
}

impl Reader<'_> {
    fn failed<T>(&self) -> Result<T> {
        Err(of_call(self.api, self.guard, "read a type"))
    }

    /// Returns the item type of a datatype.
    fn item(&self, id: Id, depth: usize) -> Described<ItemType> {
        if depth == MAX_DEPTH {
            return Ok(Err(format!("a type of more than {MAX_DEPTH} levels")));
        }
        // SAFETY: the identifier is that of a datatype.
        if unsafe { (self.api.H5Tget_class)(id) } != class::ARRAY {
            return Ok(Ok(described!(self.scalar(id, depth)).into()));
        }
        // SAFETY: as above; the buffer has the length that HDF5 writes.
        let (shape, base) = unsafe {
            let rank = (self.api.H5Tget_array_ndims)(id);
            let Ok(rank @ 1..=32) = usize::try_from(rank) else {
                return self.failed();
            };
            let mut shape = vec![0; rank];
            if (self.api.H5Tget_array_dims2)(id, shape.as_mut_ptr()) < 0 {
                return self.failed();
            }
            (shape, (self.api.H5Tget_super)(id))
        };
        let base = Handle::new(base, self.guard, "read a type")?;
        let inner = described!(self.item(base.id(), depth + 1));
        let ranks = match inner.ranks.as_slice() {
            [] if inner.shape.is_empty() => Vec::new(),
            [] => vec![shape.len(), inner.shape.len()],
            ranks => [&[shape.len()], ranks].concat(),
        };
        let item = ItemType { scalar: inner.scalar, shape: [shape, inner.shape].concat(), ranks };
        if !item.is_plain() {
            return Ok(Err("arrays of strings of variable length or of references".to_owned()));
        }
        Ok(if item.size() <= MAX_ITEM { Ok(item) } else { Err("items of 2 GB or more".to_owned()) })
    }

    fn scalar(&self, id: Id, depth: usize) -> Described<Scalar> {
        let api = self.api;
        // SAFETY: the identifier is that of a datatype.
        let (kind, size, order) =
            unsafe { ((api.H5Tget_class)(id), (api.H5Tget_size)(id), (api.H5Tget_order)(id)) };
        let is_big = order == BIG_ENDIAN;
        let is_integer = matches!(size, 1 | 2 | 4 | 8);
        if size == 0 {
            return self.failed();
        }
        if size > MAX_ITEM {
            return Ok(Err("items of 2 GB or more".to_owned()));
        }
        let made = match kind {
            class::INTEGER | class::BITFIELD if !is_integer => {
                Err(format!("integers of {size} bytes"))
            }
            class::INTEGER => {
                // SAFETY: the type is an integer.
                let is_signed = unsafe { (api.H5Tget_sign)(id) } == 1;
                Ok(Scalar::Int { size, is_signed, is_big: is_big && size > 1 })
            }
            class::BITFIELD => Ok(Scalar::Bits { size, is_big: is_big && size > 1 }),
            class::FLOAT => self.float(id, size, is_big),
            class::STRING => {
                // SAFETY: the type is a string.
                let (is_variable, cset) =
                    unsafe { ((api.H5Tis_variable_str)(id), (api.H5Tget_cset)(id)) };
                let is_utf8 = cset == UTF8;
                Ok(if is_variable > 0 {
                    Scalar::Text { is_utf8 }
                } else {
                    Scalar::Bytes { size, is_utf8 }
                })
            }
            class::OPAQUE => {
                // SAFETY: the type is opaque.
                let tag = unsafe { (api.H5Tget_tag)(id) };
                let tag = self.utf8(tag);
                tag.map(|tag| Scalar::Opaque { size, tag })
                    .ok_or_else(|| "opaque items whose tag is not UTF-8".to_owned())
            }
            class::COMPOUND => return self.compound(id, depth),
            class::ENUM => return self.enumeration(id, depth),
            class::COMPLEX => {
                // SAFETY: the type is a complex number, with a base.
                let base = unsafe { (api.H5Tget_super)(id) };
                let base = Handle::new(base, self.guard, "read a type")?;
                match described!(self.scalar(base.id(), depth + 1)) {
                    Scalar::Float { size: 4 | 8, is_big } => Ok(Scalar::Complex { size, is_big }),
                    _ => Err("complex numbers other than of floats of 4 or 8 bytes".to_owned()),
                }
            }
            class::REFERENCE => {
                let object = api.variable(self.guard, "H5T_STD_REF_OBJ_g")?;
                // SAFETY: both are datatypes.
                if unsafe { (api.H5Tequal)(id, object) } > 0 {
                    Ok(Scalar::Reference)
                } else {
                    Err("references".to_owned())
                }
            }
            class::TIME => Err("the type time".to_owned()),
            class::VLEN => Err("sequences of variable length".to_owned()),
            other => Err(format!("an unknown type of class {other}")),
        };
        Ok(made)
    }

    fn float(&self, id: Id, size: usize, is_big: bool) -> std::result::Result<Scalar, String> {
        let mut fields = [0; 5];
        let [sign, exponent, exponent_size, mantissa, mantissa_size] = &mut fields;
        let api = self.api;
        // SAFETY: the type is a floating-point number, and the outputs have the types written.
        let (status, bias, precision) = unsafe {
            let status = (api.H5Tget_fields)(
                id,
                &raw mut *sign,
                &raw mut *exponent,
                &raw mut *exponent_size,
                &raw mut *mantissa,
                &raw mut *mantissa_size,
            );
            (status, (api.H5Tget_ebias)(id), (api.H5Tget_precision)(id))
        };
        let expected = match size {
            2 => HALF,
            4 => ([31, 23, 8, 0, 23], 127),
            8 => ([63, 52, 11, 0, 52], 1023),
            _ => return Err(format!("floating-point numbers of {size} bytes")),
        };
        if status < 0 || (fields, bias) != expected || precision != size * 8 {
            return Err(format!("floating-point numbers of {size} bytes that are not IEEE 754"));
        }
        Ok(Scalar::Float { size, is_big })
    }

    fn compound(&self, id: Id, depth: usize) -> Described<Scalar> {
        let api = self.api;
        // SAFETY: the type is a record.
        let count = unsafe { (api.H5Tget_nmembers)(id) };
        let Ok(count) = u32::try_from(count) else {
            return self.failed();
        };
        let mut fields: Vec<Field> = Vec::new();
        let mut offset = 0;
        for number in 0..count {
            // SAFETY: the record has a member of this number.
            let (name, member) = unsafe {
                ((api.H5Tget_member_name)(id, number), (api.H5Tget_member_type)(id, number))
            };
            let name = self.utf8(name);
            let member = Handle::new(member, self.guard, "read a type")?;
            // HDF5 finds the fields of a record in memory by their names.
            let Some(name) = name else {
                return Ok(Err("records with a field whose name is not UTF-8".to_owned()));
            };
            let item = described!(self.item(member.id(), depth + 1));
            if !item.is_plain() {
                return Ok(Err(format!(
                    "records with a field {name:?} of strings of variable length or of references"
                )));
            }
            let size = item.size();
            fields.push(Field { name, offset, item });
            offset = offset.saturating_add(size);
        }
        if offset > MAX_ITEM {
            return Ok(Err("items of 2 GB or more".to_owned()));
        }
        if let [real, imaginary] = fields.as_slice()
            && (real.name.as_str(), imaginary.name.as_str()) == ("r", "i")
            && real.item == imaginary.item
            && real.item.shape.is_empty()
            && let Scalar::Float { size: size @ (4 | 8), is_big } = real.item.scalar
        {
            return Ok(Ok(Scalar::Complex { size: 2 * size, is_big }));
        }
        Ok(Ok(Scalar::Record { fields, size: offset }))
    }

    fn enumeration(&self, id: Id, depth: usize) -> Described<Scalar> {
        let api = self.api;
        // SAFETY: the type is an enumeration, which has a base.
        let (count, base) = unsafe { ((api.H5Tget_nmembers)(id), (api.H5Tget_super)(id)) };
        let base = Handle::new(base, self.guard, "read a type")?;
        let integer = described!(self.scalar(base.id(), depth + 1));
        if integer.size() == 1 && count == 2 {
            let mut values = Vec::new();
            for number in 0..2 {
                let mut value = [0_u8; 8];
                // SAFETY: the enumeration has the member, and the buffer has its size.
                let (status, name) = unsafe {
                    let value = value.as_mut_ptr().cast();
                    (
                        (api.H5Tget_member_value)(id, number, value),
                        (api.H5Tget_member_name)(id, number),
                    )
                };
                let name = self.text(name);
                if status < 0 {
                    return self.failed();
                }
                values.push((name, value[0]));
            }
            values.sort();
            if values == [("FALSE".to_owned(), 0), ("TRUE".to_owned(), 1)] {
                return Ok(Ok(Scalar::Bool));
            }
        }
        Ok(Ok(integer))
    }

    /// Returns a text of HDF5, which is freed.
    fn text(&self, text: *mut c_char) -> String {
        String::from_utf8_lossy(&self.bytes(text)).into_owned()
    }

    /// Returns a text of HDF5, which is freed, or `None` if it is not UTF-8.
    fn utf8(&self, text: *mut c_char) -> Option<String> {
        String::from_utf8(self.bytes(text)).ok()
    }

    fn bytes(&self, text: *mut c_char) -> Vec<u8> {
        if text.is_null() {
            return Vec::new();
        }
        // SAFETY: HDF5 returned this C string, which the caller frees.
        unsafe {
            let copy = CStr::from_ptr(text).to_bytes().to_vec();
            (self.api.H5free_memory)(text.cast());
            copy
        }
    }
}
