//! The schema of a table: a JSON text in the attribute `schema` of the leaf `_meta`.

use std::collections::{HashMap, HashSet};

use crate::bloscpack::Value as Json;
use crate::store::value::{Value, from_base64, trimmed};

/// The versions that are read.
const VERSIONS: [u64; 3] = [1, 2, 3];

/// The schema of a table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The version of the schema: 1, 2 or 3.
    pub version: u64,
    /// The stored columns, in order.
    pub columns: Vec<Column>,
    /// The computed columns, which have no stored values.
    pub computed: Vec<Computed>,
    /// The recorded number of live rows. It is not used.
    pub nrows: Option<u64>,
    /// The whole schema, including unknown keys.
    pub json: Json,
    /// The number of each stored column.
    numbers: HashMap<String, usize>,
}

/// The description of a stored column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// The name. Dots separate the parts of nested names, unless a backslash precedes them.
    pub name: String,
    /// The kind of the values.
    pub kind: ColumnKind,
    /// Whether the column can contain nulls.
    pub nullable: bool,
    /// Whether the column was computed from others that changed since.
    pub is_stale: bool,
    /// The description in the schema, including constraints and unknown keys.
    pub json: Json,
    pub(super) nulls: Nulls,
    /// The reason why the description is invalid, if it is.
    pub(super) fault: Option<String>,
}

/// The kind of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// Integers, floats or complex numbers: the name in the schema, such as `int64`. The dtype of
    /// the stored array determines the values.
    Number(String),
    /// Booleans.
    Bool,
    /// Times: ticks since 1970-01-01 in UTC.
    Timestamp {
        /// The unit: `s`, `ms`, `us` or `ns`.
        unit: String,
        /// The time zone for display.
        timezone: Option<String>,
    },
    /// Texts of a maximum length.
    String,
    /// Bytes of a maximum length.
    Bytes,
    /// Arrays of one shape; the extents are in items.
    Array(Vec<u64>),
    /// Texts in UTF-8, of any length.
    Utf8,
    /// Texts of any length, in batches.
    VlString,
    /// Bytes of any length, in batches.
    VlBytes,
    /// Python objects.
    Object,
    /// Maps with the same keys.
    Struct,
    /// Lists.
    List,
    /// Texts of a dictionary.
    Dictionary {
        /// The code of a null.
        null_code: i64,
    },
    /// A kind that is not known: its name.
    Unknown(String),
}

/// How nulls are recorded.
#[derive(Clone, Debug)]
pub enum Nulls {
    /// There are none, or the values contain them.
    None,
    /// A mask in addition to the values.
    Mask,
    /// This value.
    Sentinel(Value),
}

/// The description of a computed column. It is never evaluated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Computed {
    /// The name.
    pub name: String,
    /// The expression or the source of the function.
    pub expression: String,
    /// The description in the schema.
    pub json: Json,
}

impl Schema {
    /// Parses a schema. Returns the reason if it is invalid.
    pub(super) fn parse(text: &[u8]) -> Result<Schema, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        let version = match json.get("version") {
            None => 1,
            Some(version) => integer(version).ok_or("the version is not an integer")?,
        };
        if !VERSIONS.contains(&version) {
            return Err(format!("version {version} is not supported"));
        }
        let Some(Json::List(items)) = json.get("columns") else {
            return Err("there is no list of columns".to_owned());
        };
        let mut columns = Vec::new();
        let mut numbers = HashMap::new();
        let stale = stale_columns(&json);
        for item in items {
            let mut column = Column::parse(item)?;
            if numbers.insert(column.name.clone(), columns.len()).is_some() {
                return Err(format!("there are two columns {:?}", column.name));
            }
            column.is_stale = stale.contains(&*column.name);
            columns.push(column);
        }
        let computed = match json.get("computed_columns") {
            Some(Json::List(items)) => items.iter().filter_map(Computed::parse).collect(),
            _ => Vec::new(),
        };
        let nrows = json.get("n_rows").and_then(integer);
        Ok(Schema { version, columns, computed, nrows, json, numbers })
    }

    /// Returns the number of a stored column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

impl Column {
    pub(super) fn parse(json: &Json) -> Result<Column, String> {
        let text = |key| json.get(key).and_then(text);
        let name = text("name").filter(|name| !name.is_empty());
        let name = name.ok_or("a column has no name")?;
        let nullable = json.get("nullable").is_some_and(Json::is_truthy);
        let is_masked = text("null_storage") == Some("mask");
        let mut fault = None;
        let kind_name = text("kind").unwrap_or_default();
        if kind_name.is_empty() {
            fault = Some("it has no kind".to_owned());
        }
        let kind = ColumnKind::of(kind_name, json).unwrap_or_else(|| {
            fault = Some(format!("its description of kind {kind_name:?} is invalid"));
            ColumnKind::Unknown(kind_name.to_owned())
        });
        // Other nulls of these kinds are `nil`.
        let has_sentinel = !matches!(
            kind,
            ColumnKind::List
                | ColumnKind::Struct
                | ColumnKind::Object
                | ColumnKind::Dictionary { .. }
        );
        let nulls = match json.get("null_value") {
            _ if is_masked && !kind.contains_nulls() => Nulls::Mask,
            Some(value) if nullable && has_sentinel && *value != Json::Null => constant(value)
                .map_or_else(
                    || {
                        fault = Some("its null value is invalid".to_owned());
                        Nulls::None
                    },
                    Nulls::Sentinel,
                ),
            _ => Nulls::None,
        };
        let name = name.to_owned();
        Ok(Column { name, kind, nullable, is_stale: false, json: json.clone(), nulls, fault })
    }
}

impl ColumnKind {
    /// Whether the values are stored in an array of Python objects.
    pub(super) fn has_objects(&self) -> bool {
        matches!(
            self,
            ColumnKind::VlString
                | ColumnKind::VlBytes
                | ColumnKind::Object
                | ColumnKind::Struct
                | ColumnKind::List
        )
    }

    /// Whether nulls are values or codes, so that the column needs neither a mask nor a sentinel.
    pub(super) fn contains_nulls(&self) -> bool {
        self.has_objects() || matches!(self, ColumnKind::Dictionary { .. })
    }

    /// Whether the values are texts or byte strings, which `Table::texts` returns.
    pub fn has_texts(&self) -> bool {
        matches!(
            self,
            ColumnKind::String
                | ColumnKind::Bytes
                | ColumnKind::Utf8
                | ColumnKind::VlString
                | ColumnKind::VlBytes
                | ColumnKind::Dictionary { .. }
        )
    }

    fn of(name: &str, json: &Json) -> Option<ColumnKind> {
        Some(match name {
            "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64"
            | "float32" | "float64" | "complex64" | "complex128" => {
                ColumnKind::Number(name.to_owned())
            }
            "bool" => ColumnKind::Bool,
            "timestamp" => ColumnKind::Timestamp {
                unit: json.get("unit").and_then(text).unwrap_or("us").to_owned(),
                timezone: json.get("timezone").and_then(text).map(str::to_owned),
            },
            "string" => ColumnKind::String,
            "bytes" => ColumnKind::Bytes,
            "ndarray" => {
                let Some(Json::List(extents)) = json.get("item_shape") else {
                    return None;
                };
                ColumnKind::Array(extents.iter().map(integer).collect::<Option<_>>()?)
            }
            "utf8" => ColumnKind::Utf8,
            "vlstring" => ColumnKind::VlString,
            "vlbytes" => ColumnKind::VlBytes,
            "object" => ColumnKind::Object,
            "struct" => ColumnKind::Struct,
            "list" => ColumnKind::List,
            "dictionary" => {
                let null_code = match json.get("null_code") {
                    None | Some(Json::Null) => -1,
                    Some(Json::Int(digits)) => digits.parse().ok()?,
                    Some(_) => return None,
                };
                ColumnKind::Dictionary { null_code }
            }
            other => ColumnKind::Unknown(other.to_owned()),
        })
    }

    /// Returns the name in the schema.
    pub fn name(&self) -> &str {
        match self {
            ColumnKind::Number(name) | ColumnKind::Unknown(name) => name,
            ColumnKind::Bool => "bool",
            ColumnKind::Timestamp { .. } => "timestamp",
            ColumnKind::String => "string",
            ColumnKind::Bytes => "bytes",
            ColumnKind::Array(_) => "ndarray",
            ColumnKind::Utf8 => "utf8",
            ColumnKind::VlString => "vlstring",
            ColumnKind::VlBytes => "vlbytes",
            ColumnKind::Object => "object",
            ColumnKind::Struct => "struct",
            ColumnKind::List => "list",
            ColumnKind::Dictionary { .. } => "dictionary",
        }
    }
}

impl Computed {
    fn parse(json: &Json) -> Option<Computed> {
        let expression = json.get("expression").or_else(|| json.get("dsl_source"));
        Some(Computed {
            name: text(json.get("name")?)?.to_owned(),
            expression: expression.and_then(text).unwrap_or_default().to_owned(),
            json: json.clone(),
        })
    }
}

/// Returns the names of materialized columns whose sources changed.
fn stale_columns(json: &Json) -> HashSet<&str> {
    let Some(Json::List(items)) = json.get("materialized_columns") else {
        return HashSet::new();
    };
    let is_stale = |item: &&Json| item.get("stale").is_some_and(Json::is_truthy);
    items.iter().filter(is_stale).filter_map(|item| text(item.get("name")?)).collect()
}

fn text(json: &Json) -> Option<&str> {
    match json {
        Json::Text(text) => Some(text),
        _ => None,
    }
}

fn integer(json: &Json) -> Option<u64> {
    match json {
        Json::Int(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Converts the null value of a column.
pub(super) fn constant(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Int(digits) => match digits.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::UInt(digits.parse().ok()?),
        },
        Json::Float(number) => Value::Float(*number),
        // Fixed strings and bytes are compared without NULs at the end.
        Json::Text(text) => Value::Str(text.trim_end_matches('\0').to_owned()),
        Json::Object(_) if json.get("__bytes__").is_some() => {
            let bytes = from_base64(text(json.get("base64")?)?)?;
            Value::Bytes(trimmed(&bytes).to_vec())
        }
        _ => return None,
    })
}
