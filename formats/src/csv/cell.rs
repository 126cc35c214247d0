//! A value as an item of a dtype.

use super::guess::{boolean, complex, is_missing, trimmed};
use crate::bcolz::item_of;
use crate::bloscpack::Value;
use crate::numpy::{Dtype, Kind};

/// The maximum number of characters of a field in messages.
const MAX_SHOWN: usize = 40;

/// A scalar of a row.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The type.
    pub dtype: Dtype,
    /// The offset in the row in bytes.
    pub offset: usize,
}

/// Returns the scalars of an item, or the reason why CSV has no values for them.
pub fn cells_of(dtype: &Dtype) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    collect(dtype, 0, &mut cells)?;
    Ok(cells)
}

fn collect(dtype: &Dtype, offset: u64, cells: &mut Vec<Cell>) -> Result<(), String> {
    match dtype.kind() {
        Kind::Record => {
            for field in dtype.fields() {
                let count = field.count().ok_or("it is too large")?;
                for number in 0..count {
                    let at = offset + field.offset + number * field.dtype.itemsize();
                    collect(&field.dtype, at, cells)?;
                }
            }
            return Ok(());
        }
        Kind::Datetime | Kind::Timedelta => return Err("times are not read from CSV".to_owned()),
        Kind::Object | Kind::Void => return Err("it has no values in CSV".to_owned()),
        Kind::Float if dtype.itemsize() > 8 => return Err("long floats are not read".to_owned()),
        Kind::Complex if dtype.itemsize() > 16 => return Err("long floats are not read".to_owned()),
        _ if dtype.itemsize() == 0 => return Err("it has no bytes".to_owned()),
        _ => {}
    }
    let offset = usize::try_from(offset).map_err(|_| "it is too large")?;
    cells.push(Cell { dtype: dtype.clone(), offset });
    Ok(())
}

impl Cell {
    /// Writes the item of a field to a row, or returns the reason why it has none.
    pub fn encode(&self, field: &[u8], row: &mut [u8]) -> Result<(), String> {
        let dtype = &self.dtype;
        let dest = &mut row[self.offset..self.offset + dtype.itemsize() as usize];
        let kind = dtype.kind();
        if matches!(kind, Kind::Bytes | Kind::Unicode) && field.last() == Some(&0) {
            return Err("NUL characters at the end would be lost".to_owned());
        }
        if kind == Kind::Bytes {
            if field.len() > dest.len() {
                return Err(self.invalid(field));
            }
            dest.fill(0);
            dest[..field.len()].copy_from_slice(field);
            return Ok(());
        }
        let has_value = !is_missing(field);
        let text = trimmed(field);
        let value = match kind {
            Kind::Unicode => {
                std::str::from_utf8(field).ok().map(|text| Value::Text(text.to_owned()))
            }
            Kind::Float if !has_value => Some(Value::Float(f64::NAN)),
            Kind::Complex if !has_value => return self.pair((f64::NAN, f64::NAN), dest),
            _ if !has_value => {
                return Err(format!("there is no value, and the type {} has none", dtype.text()));
            }
            Kind::Bool => boolean(field).map(Value::Bool),
            Kind::Int | Kind::Uint => {
                let number = text.and_then(|text| text.parse::<i128>().ok());
                number.map(|number| Value::Int(number.to_string()))
            }
            Kind::Complex => {
                let parts = text.and_then(complex).ok_or_else(|| self.invalid(field))?;
                return self.pair(parts, dest);
            }
            _ => text.and_then(|text| text.parse().ok()).map(Value::Float),
        };
        let item = value.and_then(|value| item_of(dtype, &value));
        let item = item.filter(|item| item.len() == dest.len());
        dest.copy_from_slice(&item.ok_or_else(|| self.invalid(field))?);
        Ok(())
    }

    /// Writes a complex number.
    fn pair(&self, (real, imaginary): (f64, f64), dest: &mut [u8]) -> Result<(), String> {
        let (first, second) = dest.split_at_mut(self.dtype.itemsize() as usize / 2);
        for (number, part) in [(real, first), (imaginary, second)] {
            match part.len() {
                4 => part.copy_from_slice(&(number as f32).to_le_bytes()),
                _ => part.copy_from_slice(&number.to_le_bytes()),
            }
            if self.dtype.is_big_endian() {
                part.reverse();
            }
        }
        Ok(())
    }

    fn invalid(&self, field: &[u8]) -> String {
        let text: String = String::from_utf8_lossy(field).chars().take(MAX_SHOWN).collect();
        format!("{text:?} is not a value of the type {}", self.dtype.text())
    }
}
