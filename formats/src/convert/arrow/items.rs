//! Numbers, booleans and times as items of a fixed size: the bytes of arrays of Arrow, and arrays
//! of the items of columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::store::Items;

/// Calls a macro with the primitive type for a [`DataType`] whose values are stored unchanged, and
/// with the dtype of its items; otherwise evaluates the last argument.
macro_rules! with_primitive {
    ($data_type:expr, $call:ident, $other:expr) => {
        match $data_type {
            DataType::Int8 => $call!(Int8Type, "|i1"),
            DataType::Int16 => $call!(Int16Type, "<i2"),
            DataType::Int32 => $call!(Int32Type, "<i4"),
            DataType::Int64 => $call!(Int64Type, "<i8"),
            DataType::UInt8 => $call!(UInt8Type, "|u1"),
            DataType::UInt16 => $call!(UInt16Type, "<u2"),
            DataType::UInt32 => $call!(UInt32Type, "<u4"),
            DataType::UInt64 => $call!(UInt64Type, "<u8"),
            DataType::Float32 => $call!(Float32Type, "<f4"),
            DataType::Float64 => $call!(Float64Type, "<f8"),
            DataType::Timestamp(TimeUnit::Second, _) => $call!(TimestampSecondType, "<i8"),
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                $call!(TimestampMillisecondType, "<i8")
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                $call!(TimestampMicrosecondType, "<i8")
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => $call!(TimestampNanosecondType, "<i8"),
            _ => $other,
        }
    };
}

/// Returns the items of an array in little-endian order, those of nulls with any value; `None` for
/// other types, and for arrays in rows that contain nulls.
pub fn bytes_of(array: &dyn Array) -> Option<Vec<u8>> {
    macro_rules! bytes {
        ($type:ty, $dtype:literal) => {{
            let numbers = array.as_primitive::<$type>().values();
            let mut bytes = Vec::with_capacity(size_of_val::<[_]>(numbers));
            numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            Some(bytes)
        }};
    }
    match array.data_type() {
        DataType::Boolean => Some(array.as_boolean().values().iter().map(u8::from).collect()),
        DataType::FixedSizeList(_, len) => {
            let list = array.as_fixed_size_list();
            let len = usize::try_from(*len).ok().filter(|&len| len > 0)?;
            let start = list.value_offset_at(0);
            let items = list.values().slice(start, len.checked_mul(array.len())?);
            if items.null_count() > 0 { None } else { bytes_of(&items) }
        }
        data_type => with_primitive!(data_type, bytes, None),
    }
}

/// Returns the array for items of this type; `None` for other types, and if the dtype of the items
/// is another one.
pub fn array_of(data_type: &DataType, items: &Items) -> Option<ArrayRef> {
    if !items.shape.is_empty() {
        return None;
    }
    let nulls = || {
        let valid = items.valid.as_ref().filter(|valid| valid.contains(&false));
        valid.map(|valid| NullBuffer::from(&valid[..]))
    };
    macro_rules! array {
        ($type:ty, $dtype:literal) => {{
            if items.dtype.text() != $dtype {
                return None;
            }
            type Native = <$type as ArrowPrimitiveType>::Native;
            let (chunks, _) = items.bytes.as_chunks();
            let numbers: Vec<Native> =
                chunks.iter().map(|&bytes| Native::from_le_bytes(bytes)).collect();
            let array = PrimitiveArray::<$type>::try_new(numbers.into(), nulls()).ok()?;
            Some(Arc::new(array.with_data_type(data_type.clone())))
        }};
    }
    match data_type {
        DataType::Boolean if items.dtype.text() == "|b1" => {
            let truths: BooleanBuffer = items.bytes.iter().map(|&byte| byte != 0).collect();
            Some(Arc::new(BooleanArray::new(truths, nulls())))
        }
        data_type => with_primitive!(data_type, array, None),
    }
}
