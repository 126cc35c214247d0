//! Types of Arrow and kinds of columns.
//!
//! | Arrow | column |
//! |---|---|
//! | integers, Float32, Float64, Boolean | numbers, `bool` |
//! | Float16 | `float32` |
//! | Timestamp; Date32, Date64 | `timestamp`; in s, ms |
//! | Utf8, LargeUtf8, Utf8View | `utf8` |
//! | Binary, LargeBinary, BinaryView, FixedSizeBinary | `vlbytes` |
//! | Dictionary of texts | `dictionary` |
//! | Dictionary of other values | as the values |
//! | FixedSizeList of numbers or booleans, also nested | `ndarray` |
//! | List, LargeList, other FixedSizeList | `list` |
//! | Struct | `struct` |

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, TimeUnit};

use crate::bloscpack::Value as Json;
use crate::convert::records::escaped;
use crate::store::{Column, ColumnKind, ColumnSpec, Value};

/// Returns the description of the column for a field, or the reason why there is none.
pub fn spec_of(field: &Field) -> Result<ColumnSpec, String> {
    let name = escaped(field.name());
    let spec = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnSpec::utf8(&name),
        DataType::Dictionary(_, values) if is_text(values) => {
            ColumnSpec::dictionary(&name, field.dict_is_ordered().unwrap_or(false))
        }
        DataType::FixedSizeList(..) => match shape_of(field.data_type()) {
            Some((shape, dtype)) => ColumnSpec::array(&name, &shape, dtype),
            None => nested(&name, field.data_type())?,
        },
        data_type => nested(&name, data_type)?,
    };
    Ok(if field.is_nullable() { spec.nullable() } else { spec })
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Returns the shape and the dtype of nested lists of a fixed size.
fn shape_of(data_type: &DataType) -> Option<(Vec<u64>, &'static str)> {
    let DataType::FixedSizeList(item, len) = data_type else {
        return None;
    };
    let len = u64::try_from(*len).ok().filter(|&len| len > 0)?;
    if let Some((mut shape, dtype)) = shape_of(item.data_type()) {
        shape.insert(0, len);
        return Some((shape, dtype));
    }
    let dtype = match item.data_type() {
        DataType::Boolean => "|b1",
        DataType::Int8 => "|i1",
        DataType::Int16 => "<i2",
        DataType::Int32 => "<i4",
        DataType::Int64 => "<i8",
        DataType::UInt8 => "|u1",
        DataType::UInt16 => "<u2",
        DataType::UInt32 => "<u4",
        DataType::UInt64 => "<u8",
        DataType::Float32 => "<f4",
        DataType::Float64 => "<f8",
        _ => return None,
    };
    Some((vec![len], dtype))
}

/// Returns the description of values, also of those in lists and maps.
fn nested(name: &str, data_type: &DataType) -> Result<ColumnSpec, String> {
    let number = |kind: &str| Ok(ColumnSpec::number(name, kind));
    match data_type {
        DataType::Boolean => Ok(ColumnSpec::boolean(name)),
        DataType::Int8 => number("int8"),
        DataType::Int16 => number("int16"),
        DataType::Int32 => number("int32"),
        DataType::Int64 => number("int64"),
        DataType::UInt8 => number("uint8"),
        DataType::UInt16 => number("uint16"),
        DataType::UInt32 => number("uint32"),
        DataType::UInt64 => number("uint64"),
        DataType::Float16 | DataType::Float32 => number("float32"),
        DataType::Float64 => number("float64"),
        DataType::Timestamp(unit, timezone) => {
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            Ok(ColumnSpec::timestamp(name, unit, timezone.as_deref()))
        }
        DataType::Date32 => Ok(ColumnSpec::timestamp(name, "s", None)),
        DataType::Date64 => Ok(ColumnSpec::timestamp(name, "ms", None)),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(ColumnSpec::vlstring(name)),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => Ok(ColumnSpec::vlbytes(name)),
        DataType::Dictionary(_, values) => nested(name, values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Ok(ColumnSpec::list(name, item_of("", item)?))
        }
        DataType::Struct(fields) => {
            let fields: Result<Vec<ColumnSpec>, String> =
                fields.iter().map(|field| item_of(field.name(), field)).collect();
            Ok(ColumnSpec::structure(name, &fields?))
        }
        other => Err(format!("tables cannot store the Arrow type {other}; {}", advice_for(other))),
    }
}

/// Returns what to do with a column of a type that has no kind of column. python-blosc2 has none
/// either.
fn advice_for(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Null => "it has no values: remove it, or cast it to another type",
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => "cast it to texts, which keep all digits, or to numbers",
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) => {
            "cast it to integers, and store the unit in the name or an attribute of the column"
        }
        DataType::Interval(_) => "split it into integers: months, days, and parts of days",
        DataType::Map(..) => "convert it to lists of structs with a key and a value",
        DataType::ListView(_) | DataType::LargeListView(_) => "cast it to lists",
        DataType::RunEndEncoded(..) => "cast it to the type of its values",
        DataType::Union(..) => "split it into one column for each type",
        _ => "cast it to another type",
    }
}

/// Returns the description of the items of a list, or of a field of a map.
fn item_of(name: &str, field: &FieldRef) -> Result<ColumnSpec, String> {
    let spec = nested(name, field.data_type())?;
    Ok(if field.is_nullable() { spec.nullable_item() } else { spec })
}

/// Returns the field for a column, or the reason why there is none. If `has_seconds` is false,
/// times in seconds become times in milliseconds.
pub fn field_of(column: &Column, name: String, has_seconds: bool) -> Result<Field, String> {
    if let ColumnKind::Dictionary { .. } = column.kind {
        let is_ordered = column.json.get("ordered").is_some_and(Json::is_truthy);
        let (keys, values) = (Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let field = Field::new(name, DataType::Dictionary(keys, values), column.nullable);
        return Ok(field.with_dict_is_ordered(is_ordered));
    }
    Ok(Field::new(name, type_of(&column.json, has_seconds)?, column.nullable))
}

/// Whether a description contains times in seconds.
pub fn contains_seconds(json: &Json) -> bool {
    match (text(json, "kind"), json.get("fields")) {
        (Some("timestamp"), _) => text(json, "unit") == Some("s"),
        (Some("list"), _) => json.get("item").is_some_and(contains_seconds),
        (Some("struct"), Some(Json::List(fields))) => fields.iter().any(contains_seconds),
        _ => false,
    }
}

/// Converts times in seconds to milliseconds, in a value of a description.
pub fn to_milliseconds(json: &Json, value: &mut Value) -> Result<(), String> {
    match (text(json, "kind"), value) {
        // The smallest integer is not a time.
        (Some("timestamp"), Value::Int(ticks))
            if text(json, "unit") == Some("s") && *ticks != i64::MIN =>
        {
            let scaled = ticks.checked_mul(1000);
            *ticks = scaled.ok_or_else(|| format!("{ticks} s are too many milliseconds"))?;
        }
        (Some("list"), Value::List(items)) => {
            if let Some(json) = json.get("item") {
                items.iter_mut().try_for_each(|item| to_milliseconds(json, item))?;
            }
        }
        (Some("struct"), Value::Map(entries)) => {
            let Some(Json::List(fields)) = json.get("fields") else {
                return Ok(());
            };
            for field in fields {
                let entry =
                    entries.iter_mut().find(|(name, _)| name.as_str() == text(field, "name"));
                if let Some((_, value)) = entry {
                    to_milliseconds(field, value)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn text<'j>(json: &'j Json, key: &str) -> Option<&'j str> {
    match json.get(key) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

/// Returns the type of the values of a description in a schema.
fn type_of(json: &Json, has_seconds: bool) -> Result<DataType, String> {
    let kind = text(json, "kind").unwrap_or_default();
    let item = |json: &Json| -> Result<FieldRef, String> {
        Ok(Arc::new(Field::new("item", type_of(json, has_seconds)?, true)))
    };
    Ok(match kind {
        "bool" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        "timestamp" => {
            let unit = match text(json, "unit").unwrap_or("us") {
                "s" if has_seconds => TimeUnit::Second,
                "s" | "ms" => TimeUnit::Millisecond,
                "us" => TimeUnit::Microsecond,
                "ns" => TimeUnit::Nanosecond,
                other => return Err(format!("Arrow has no timestamps with the unit {other:?}")),
            };
            DataType::Timestamp(unit, text(json, "timezone").map(Arc::from))
        }
        "string" | "utf8" | "vlstring" | "dictionary" => DataType::Utf8,
        "bytes" | "vlbytes" => DataType::Binary,
        "list" => DataType::List(item(json.get("item").ok_or("the list has no type of items")?)?),
        "struct" => {
            let Some(Json::List(fields)) = json.get("fields") else {
                return Err("the map has no list of fields".to_owned());
            };
            let field = |json: &Json| {
                let name = text(json, "name").ok_or("a field has no name")?;
                Ok(Field::new(name, type_of(json, has_seconds)?, true))
            };
            DataType::Struct(fields.iter().map(field).collect::<Result<_, String>>()?)
        }
        "ndarray" => array_type(json)?,
        other => return Err(format!("columns of the kind {other:?} cannot be written to Arrow")),
    })
}

/// Returns the type of arrays: nested lists of a fixed size.
fn array_type(json: &Json) -> Result<DataType, String> {
    let dtype = text(json, "dtype_str").unwrap_or_default();
    let mut data_type = match dtype.trim_start_matches(['<', '>', '|', '=']) {
        "b1" | "bool" => DataType::Boolean,
        "i1" | "int8" => DataType::Int8,
        "i2" | "int16" => DataType::Int16,
        "i4" | "int32" => DataType::Int32,
        "i8" | "int64" => DataType::Int64,
        "u1" | "uint8" => DataType::UInt8,
        "u2" | "uint16" => DataType::UInt16,
        "u4" | "uint32" => DataType::UInt32,
        "u8" | "uint64" => DataType::UInt64,
        "f4" | "float32" => DataType::Float32,
        "f8" | "float64" => DataType::Float64,
        _ => return Err(format!("columns of the dtype {dtype:?} cannot be written to Arrow")),
    };
    let Some(Json::List(extents)) = json.get("item_shape") else {
        return Err("the arrays have no shape".to_owned());
    };
    for extent in extents.iter().rev() {
        let extent = match extent {
            Json::Int(digits) => digits.parse::<i32>().ok(),
            _ => None,
        };
        let extent = extent.ok_or("an extent of the arrays is too large for Arrow")?;
        data_type = DataType::FixedSizeList(Arc::new(Field::new("item", data_type, true)), extent);
    }
    Ok(data_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::IntervalUnit;

    #[test]
    fn types_that_no_column_has_are_refused_with_advice() {
        let item = || Arc::new(Field::new("item", DataType::Int32, true));
        let fields = vec![Field::new("key", DataType::Utf8, false), Field::clone(&item())];
        let entries = Field::new("entries", DataType::Struct(fields.into()), false);
        for (data_type, expected) in [
            (DataType::Null, "Null; it has no values: remove it"),
            (DataType::Decimal128(10, 2), "Decimal128(10, 2); cast it to texts"),
            (DataType::Decimal256(50, 2), "Decimal256(50, 2); cast it to texts"),
            (DataType::Time32(TimeUnit::Second), "Time32(s); cast it to integers"),
            (DataType::Duration(TimeUnit::Second), "Duration(s); cast it to integers"),
            (DataType::Interval(IntervalUnit::DayTime), "Interval(DayTime); split it into"),
            (DataType::Map(Arc::new(entries), false), "; convert it to lists of structs"),
            (DataType::ListView(item()), "; cast it to lists"),
            (DataType::List(Arc::new(Field::new("item", DataType::Null, true))), "Null; it has"),
        ] {
            let why = spec_of(&Field::new("c", data_type.clone(), true)).err().unwrap();
            assert!(why.starts_with("tables cannot store the Arrow type "), "{data_type}: {why}");
            assert!(why.contains(expected), "{data_type}: {why}");
        }
    }
}
