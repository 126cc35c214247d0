//! Descriptions of new columns.

use super::schema::{Column, ColumnKind};
use crate::bloscpack::Value as Json;
use crate::numpy::Dtype;
use crate::store::error::{Error, Result};
use crate::store::objects_writer::BATCH_ROWS;
use crate::store::value::{Value, base64};

/// The names of the kinds of numbers.
const NUMBERS: [&str; 12] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
];
/// The code of nulls in columns of dictionaries.
const NULL_CODE: i64 = -1;

/// The description of a column of a new table, or of a new column of a table.
///
/// ```
/// use ferroblosc_formats::store::{ColumnSpec, Value};
///
/// let columns = [
///     ColumnSpec::number("id", "int64").at_least(0),
///     ColumnSpec::utf8("name").nullable(),
///     ColumnSpec::list("marks", ColumnSpec::number("", "float64")),
///     ColumnSpec::number("weight", "float32").default_value(&Value::Float(1.0))?,
/// ];
/// assert_eq!(columns[1].name(), "name");
/// # Ok::<(), ferroblosc_formats::store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    /// The name and the other entries of the schema.
    json: Vec<(String, Json)>,
    /// Whether nulls are recorded in a mask.
    has_mask: bool,
}

fn int(number: i64) -> Json {
    Json::Int(number.to_string())
}

impl ColumnSpec {
    fn new(name: &str, kind: &str, has_mask: bool) -> ColumnSpec {
        let json =
            vec![("name".to_owned(), Json::from(name)), ("kind".to_owned(), Json::from(kind))];
        ColumnSpec { json, has_mask }
    }

    /// Sets an entry of the schema.
    fn with(mut self, key: &str, value: Json) -> ColumnSpec {
        match self.json.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => *old = value,
            None => self.json.push((key.to_owned(), value)),
        }
        self
    }

    fn batched(self) -> ColumnSpec {
        self.with("nullable", Json::Bool(false))
            .with("serializer", "msgpack".into())
            .with("batch_rows", Json::from(BATCH_ROWS as u64))
    }

    /// Returns a column of numbers of a kind: `int8` to `int64`, `uint8` to `uint64`, `float32`,
    /// `float64`, `complex64` or `complex128`.
    pub fn number(name: &str, kind: &str) -> ColumnSpec {
        ColumnSpec::new(name, kind, true)
    }

    /// Returns a column of booleans.
    pub fn boolean(name: &str) -> ColumnSpec {
        ColumnSpec::new(name, "bool", true)
    }

    /// Returns a column of times in ticks of a unit since 1970-01-01 in UTC: `s`, `ms`, `us` or
    /// `ns`. The time zone is for display.
    pub fn timestamp(name: &str, unit: &str, timezone: Option<&str>) -> ColumnSpec {
        let spec = ColumnSpec::new(name, "timestamp", true).with("unit", unit.into());
        match timezone {
            Some(timezone) => spec.with("timezone", timezone.into()),
            None => spec,
        }
    }

    /// Returns a column of texts of at most `max_length` characters, each with four bytes.
    pub fn string(name: &str, max_length: u32) -> ColumnSpec {
        ColumnSpec::new(name, "string", true).with("max_length", int(max_length.into()))
    }

    /// Returns a column of at most `max_length` bytes in each row.
    pub fn bytes(name: &str, max_length: u32) -> ColumnSpec {
        ColumnSpec::new(name, "bytes", true).with("max_length", int(max_length.into()))
    }

    /// Returns a column of arrays of one shape and dtype, such as `<f8`.
    pub fn array(name: &str, shape: &[u64], dtype: &str) -> ColumnSpec {
        let shape = shape.iter().map(|&extent| Json::from(extent)).collect();
        ColumnSpec::new(name, "ndarray", true)
            .with("item_shape", Json::List(shape))
            .with("dtype_str", dtype.into())
    }

    /// Returns a column of texts of any length, stored in UTF-8 one after the other.
    pub fn utf8(name: &str) -> ColumnSpec {
        ColumnSpec::new(name, "utf8", true)
    }

    /// Returns a column of texts of any length, stored in batches.
    pub fn vlstring(name: &str) -> ColumnSpec {
        ColumnSpec::new(name, "vlstring", false).batched()
    }

    /// Returns a column of bytes of any length, stored in batches.
    pub fn vlbytes(name: &str) -> ColumnSpec {
        ColumnSpec::new(name, "vlbytes", false).batched()
    }

    /// Returns a column of values of any type.
    pub fn object(name: &str) -> ColumnSpec {
        ColumnSpec::new(name, "object", false).batched()
    }

    /// Returns a column of maps with these keys. Of a field, its name, kind and limits are used.
    pub fn structure(name: &str, fields: &[ColumnSpec]) -> ColumnSpec {
        let fields = fields.iter().map(|field| Json::Object(field.json.clone())).collect();
        ColumnSpec::new(name, "struct", false)
            .with("fields", Json::List(fields))
            .with("nullable", Json::Bool(false))
    }

    /// Returns a column of lists. Of the item, its kind and limits are used.
    pub fn list(name: &str, item: ColumnSpec) -> ColumnSpec {
        let item = item.json.into_iter().filter(|(key, _)| key != "name").collect();
        ColumnSpec::new(name, "list", false)
            .with("item", Json::Object(item))
            .with("nullable", Json::Bool(false))
            .with("storage", "batch".into())
            .with("serializer", "msgpack".into())
            .with("batch_rows", Json::from(BATCH_ROWS as u64))
    }

    /// Returns a column of texts with few different ones: each row has the number of its text in
    /// a dictionary. If `is_ordered`, the order of the dictionary has a meaning.
    pub fn dictionary(name: &str, is_ordered: bool) -> ColumnSpec {
        let value = ColumnSpec::vlstring("").json.into_iter().filter(|(key, _)| key != "name");
        let index = Json::object([("kind", "int32".into())]);
        ColumnSpec::new(name, "dictionary", false)
            .with("index_type", index)
            .with("value_type", Json::Object(value.collect()))
            .with("ordered", Json::Bool(is_ordered))
            .with("nullable", Json::Bool(false))
            .with("null_code", int(NULL_CODE))
    }

    /// Returns the description of a column of another table, with another name.
    pub fn like(column: &Column, name: &str) -> ColumnSpec {
        let json = match &column.json {
            Json::Object(entries) => entries.clone(),
            _ => Vec::new(),
        };
        ColumnSpec { json, has_mask: false }.with("name", name.into())
    }

    /// The column can contain nulls.
    pub fn nullable(self) -> ColumnSpec {
        let has_mask = self.has_mask;
        let spec = self.with("nullable", Json::Bool(true));
        if has_mask { spec.with("null_storage", "mask".into()) } else { spec }
    }

    /// As [`ColumnSpec::nullable`], for the items of a list and the fields of a map, which have no
    /// mask.
    #[cfg(feature = "arrow")]
    pub(crate) fn nullable_item(self) -> ColumnSpec {
        self.with("nullable", Json::Bool(true))
    }

    /// Sets the minimum of numbers.
    pub fn at_least(self, minimum: i64) -> ColumnSpec {
        self.with("ge", int(minimum))
    }

    /// Sets the maximum of numbers.
    pub fn at_most(self, maximum: i64) -> ColumnSpec {
        self.with("le", int(maximum))
    }

    /// Sets the value of rows that are appended without one.
    ///
    /// # Errors
    /// - [`Error::Value`] for other values than numbers, booleans, texts and bytes.
    pub fn default_value(self, value: &Value) -> Result<ColumnSpec> {
        let json = match value {
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Str(_) => {
                value.to_json()
            }
            Value::Complex(re, im) => Json::object([
                ("__complex__", Json::Bool(true)),
                ("real", Json::Float(*re)),
                ("imag", Json::Float(*im)),
            ]),
            Value::Bytes(bytes) => Json::object([
                ("__bytes__", Json::Bool(true)),
                ("base64", Json::Text(base64(bytes))),
            ]),
            _ => return Err(Error::Value("a default value is a scalar".to_owned())),
        };
        Ok(self.with("default", json))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self.json.iter().find(|(key, _)| key == "name") {
            Some((_, Json::Text(name))) => name,
            _ => "",
        }
    }

    /// Returns the description in the schema, and its meaning.
    ///
    /// # Errors
    /// - [`Error::InvalidName`]; [`Error::Column`] for invalid kinds and parameters.
    pub(super) fn column(&self) -> Result<Column> {
        let name = self.name().to_owned();
        check_name(&name)?;
        let invalid = |why: String| Error::Column { name: name.clone(), why };
        let column = Column::parse(&Json::Object(self.json.clone())).map_err(invalid)?;
        if let Some(why) = &column.fault {
            return Err(invalid(why.clone()));
        }
        let fault = match &column.kind {
            ColumnKind::Unknown(kind) => Some(format!("{kind:?} is not a kind of columns")),
            ColumnKind::Number(kind) if !NUMBERS.contains(&kind.as_str()) => {
                Some(format!("{kind:?} is not a kind of numbers"))
            }
            ColumnKind::Timestamp { unit, .. }
                if !matches!(unit.as_str(), "s" | "ms" | "us" | "ns") =>
            {
                Some(format!("{unit:?} is not a unit of times"))
            }
            ColumnKind::Array(extents) => array_fault(extents, &column.json),
            ColumnKind::String | ColumnKind::Bytes
                if !matches!(super::column::max_length(&column), Some(1..)) =>
            {
                Some("its maximum length is not at least 1".to_owned())
            }
            _ => None,
        };
        match fault {
            Some(why) => Err(invalid(why)),
            None => Ok(column),
        }
    }
}

fn array_fault(extents: &[u64], json: &Json) -> Option<String> {
    let Some(Json::Text(text)) = json.get("dtype_str") else {
        return Some("the dtype of its items is missing".to_owned());
    };
    if !Dtype::parse(text).is_ok_and(|dtype| dtype.kind().is_plain() && dtype.itemsize() > 0) {
        return Some(format!("the dtype {text:?} is not supported"));
    }
    let is_valid = !extents.is_empty() && extents.iter().all(|&extent| extent > 0);
    (!is_valid).then(|| "the extents of its items are not at least 1".to_owned())
}

/// Checks the name of a new column.
///
/// # Errors
/// [`Error::InvalidName`]
pub(super) fn check_name(name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.starts_with('_') {
        "the names of columns do not start with '_'"
    } else if name.contains(['\0', '\n', '\r', '\t']) {
        "it contains a control character"
    } else if name.ends_with('\\') && !name.ends_with("\\\\") {
        "it ends with a single backslash"
    } else {
        return Ok(());
    };
    Err(Error::InvalidName { name: name.to_owned(), why: why.to_owned() })
}
