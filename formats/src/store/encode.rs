//! Encoding of values in MessagePack, with the conventions of `value.rs`.

use super::error::{Error, Result};
use super::limits::MAX_DEPTH;
use super::value::{
    EXT_ARRAY, EXT_COMPLEX, EXT_FRAME, EXT_REFERENCE, EXT_SET, ObjectsValue, TUPLE, Value,
};
use crate::numpy::{Dtype, Kind, Literal};

type Packed = std::result::Result<rmpv::Value, String>;

impl Value {
    /// Encodes the value in MessagePack: integers in their shortest form, floats with 64 bits.
    ///
    /// # Errors
    /// [`Error::Value`] for values that python-blosc2 cannot read back: maps with keys other than
    /// texts or bytes or with equal keys, lists and sets that start with the mark of tuples, arrays
    /// whose sizes disagree, values nested deeper than 64 levels, and [`Value::Raw`] inside others.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let value = convert(self, MAX_DEPTH).map_err(Error::Value)?;
        pack(&value)
    }
}

fn pack(value: &rmpv::Value) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).map_err(|_| Error::Memory)?;
    Ok(bytes)
}

fn convert(value: &Value, depth: usize) -> Packed {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
    };
    let list = |values: &[Value]| -> std::result::Result<Vec<rmpv::Value>, String> {
        if matches!(values.first(), Some(Value::Str(text)) if text == TUPLE) {
            return Err(format!("a list that starts with {TUPLE:?} would be read as a tuple"));
        }
        values.iter().map(|value| convert(value, depth)).collect()
    };
    Ok(match value {
        Value::Nil => rmpv::Value::Nil,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(number) => (*number).into(),
        Value::UInt(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Complex(re, im) => {
            rmpv::Value::Ext(EXT_COMPLEX, [re.to_be_bytes(), im.to_be_bytes()].concat())
        }
        Value::Str(text) => text.as_str().into(),
        Value::Bytes(bytes) => rmpv::Value::Binary(bytes.clone()),
        Value::List(values) => rmpv::Value::Array(list(values)?),
        Value::Tuple(values) => {
            let items = values.iter().map(|value| convert(value, depth));
            let mark = std::iter::once(Ok(TUPLE.into()));
            rmpv::Value::Array(mark.chain(items).collect::<std::result::Result<_, _>>()?)
        }
        Value::Set(values) => extension(EXT_SET, &rmpv::Value::Array(list(values)?))?,
        Value::Map(entries) => {
            let mut names = std::collections::HashSet::new();
            let mut packed = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let name = match key {
                    Value::Str(text) => (0, text.as_bytes()),
                    Value::Bytes(bytes) => (1, &bytes[..]),
                    _ => return Err("a key of a map is neither a text nor bytes".to_owned()),
                };
                if !names.insert(name) {
                    return Err("a map has equal keys".to_owned());
                }
                packed.push((convert(key, depth)?, convert(value, depth)?));
            }
            rmpv::Value::Map(packed)
        }
        Value::Array(array) => {
            let count = array.shape.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
            let size = count.and_then(|count| count.checked_mul(array.dtype.itemsize()));
            if size != Some(array.items.len() as u64) {
                return Err("the size of an array differs from its shape and dtype".to_owned());
            }
            let map = vec![
                ("dtype".into(), dtype(&array.dtype)),
                ("shape".into(), shape(&array.shape)),
                ("data".into(), rmpv::Value::Binary(array.items.clone())),
            ];
            extension(EXT_ARRAY, &rmpv::Value::Map(map))?
        }
        Value::Objects(objects) => {
            let ObjectsValue { values, shape: extents } = &**objects;
            let count = extents.iter().try_fold(1u64, |count, &len| count.checked_mul(len));
            if count != Some(values.len() as u64) {
                return Err("the size of an array of objects differs from its shape".to_owned());
            }
            let map = vec![
                ("values".into(), rmpv::Value::Array(list(values)?)),
                ("shape".into(), shape(extents)),
            ];
            extension(EXT_ARRAY, &rmpv::Value::Map(map))?
        }
        Value::Frame(bytes) => rmpv::Value::Ext(EXT_FRAME, bytes.clone()),
        Value::Reference(content) => extension(EXT_REFERENCE, &convert(content, depth)?)?,
        Value::Ext(code, bytes) => {
            if (EXT_FRAME..=EXT_ARRAY).contains(code) {
                return Err(format!("the extension {code} is reserved"));
            }
            rmpv::Value::Ext(*code, bytes.clone())
        }
        Value::Raw(_) => return Err("it is not a MessagePack value".to_owned()),
    })
}

fn extension(code: i8, content: &rmpv::Value) -> Packed {
    let bytes = pack(content).map_err(|error| error.to_string())?;
    Ok(rmpv::Value::Ext(code, bytes))
}

fn shape(extents: &[u64]) -> rmpv::Value {
    rmpv::Value::Array(extents.iter().map(|&extent| extent.into()).collect())
}

/// Returns the description of a dtype: a string, or a list of fields.
fn dtype(dtype: &Dtype) -> rmpv::Value {
    let (name, content) = match dtype.kind() {
        Kind::Record => ("descr", literal(&dtype.description())),
        _ => ("str", literal(&dtype.description())),
    };
    rmpv::Value::Map(vec![(name.into(), content)])
}

fn literal(value: &Literal) -> rmpv::Value {
    match value {
        Literal::Text(text) => text.as_str().into(),
        Literal::Int(number) => (*number).into(),
        Literal::Bool(truth) => (*truth).into(),
        Literal::List(items) => rmpv::Value::Array(items.iter().map(literal).collect()),
        Literal::Tuple(items) => {
            let items = items.iter().map(literal);
            rmpv::Value::Array(std::iter::once(TUPLE.into()).chain(items).collect())
        }
        Literal::Dict(entries) => {
            let entry = |(key, value): &(String, Literal)| (key.as_str().into(), literal(value));
            rmpv::Value::Map(entries.iter().map(entry).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::ArrayValue;
    use super::*;

    #[test]
    fn encoded_values_are_read_back() {
        let array = |text: &str, shape: Vec<u64>, items: Vec<u8>| {
            let dtype = Dtype::of(&Literal::parse(text).unwrap()).unwrap();
            Value::Array(Box::new(ArrayValue { dtype, shape, items }))
        };
        let text = |text: &str| Value::Str(text.to_owned());
        for value in [
            Value::Nil,
            Value::Int(-1),
            Value::Int(i64::MIN),
            Value::UInt(u64::MAX),
            Value::Float(0.5),
            Value::Complex(1.0, -2.0),
            text("é"),
            Value::Bytes(vec![1, 2]),
            Value::Tuple(vec![Value::Int(1), Value::Tuple(Vec::new())]),
            Value::Set(vec![Value::Int(3), text("a")]),
            Value::Map(vec![(text("a"), Value::List(vec![Value::Bool(true)]))]),
            array("'<i2'", vec![2, 1], vec![1, 0, 2, 0]),
            array("[('a', '<i4'), ('b', '<f8', (2,))]", vec![1], vec![7; 20]),
            Value::Objects(Box::new(ObjectsValue { values: vec![Value::Nil], shape: vec![1] })),
            Value::Frame(vec![1; 40]),
            Value::Reference(Box::new(Value::Map(Vec::new()))),
            Value::Ext(7, vec![1, 2, 3]),
        ] {
            assert_eq!(Value::decode(&value.encode().unwrap()), Some(value));
        }
        // The form of the reference.
        let encoded = array("[('a', '<i4')]", vec![0], Vec::new()).encode().unwrap();
        let wanted = b"\x83\xa5dtype\x81\xa5descr\x91\x93\xa9__tuple__\xa1a\xa3<i4\xa5shape\x91\0\xa4data\xc4\0";
        assert_eq!(&encoded[3..], wanted);
    }

    #[test]
    fn values_that_cannot_be_read_back_are_refused() {
        let mark = || Value::Str(TUPLE.to_owned());
        let mut deep = Value::Nil;
        for _ in 0..64 {
            deep = Value::List(vec![deep]);
        }
        for value in [
            Value::List(vec![mark()]),
            Value::Set(vec![mark()]),
            Value::Map(vec![(Value::Int(1), Value::Nil)]),
            Value::Map(vec![(mark(), Value::Nil), (mark(), Value::Nil)]),
            Value::List(vec![Value::Raw(Vec::new())]),
            Value::Ext(EXT_SET, Vec::new()),
            deep,
        ] {
            assert!(matches!(value.encode(), Err(Error::Value(_))), "{value:?}");
        }
    }
}
