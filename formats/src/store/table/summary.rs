//! Minimum and maximum of the values in segments of consecutive rows of a column: those that the
//! table stores, and those that were computed while the column was read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::compare::{Number, each_number, extrema};
use super::filter::Comparison;
use crate::numpy::{Dtype, Kind};
use crate::store::attrs;
use crate::store::keys::{self, column_path};
use crate::store::leaf::Leaves;
use crate::store::value::Value;

/// The number of rows of the segments whose extrema are computed.
const SEGMENT: u64 = 1 << 14;
/// The maximum size of the stored extrema of a column, in bytes.
const MAX_SIZE: u64 = 256 << 20;
/// The marks of a stored segment: without extrema; with NaN.
const NO_EXTREMA: u8 = 1;
const HAS_NAN: u8 = 2;

/// The extrema of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Extrema {
    /// The minimum and the maximum; `None` if all values are NaN or null.
    bounds: Option<(Number, Number)>,
    has_nan: bool,
}

impl Extrema {
    /// Whether a value can compare with a constant.
    pub fn can_hold(&self, comparison: Comparison, constant: Number) -> bool {
        if self.has_nan && comparison == Comparison::Ne {
            return true;
        }
        self.bounds.is_some_and(|(min, max)| comparison.can_hold(min, max, constant))
    }

    fn of(dtype: &Dtype, bytes: &[u8]) -> Extrema {
        let (bounds, has_nan) = extrema(dtype, bytes);
        Extrema { bounds, has_nan }
    }
}

/// The extrema of segments of a column.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of rows in each stored segment, and their extrema.
    stored: Option<(u64, Vec<Extrema>)>,
    computed: Mutex<HashMap<u64, Extrema>>,
}

impl Summary {
    /// Reads the extrema of a column of `rows` stored rows. Those that are stale, or do not match
    /// the column, are not used.
    pub fn open(
        store: &dyn Leaves,
        table: &str,
        column: &str,
        (dtype, rows): (&Dtype, u64),
    ) -> Summary {
        let stored = read(store, table, column, dtype, rows);
        Summary { stored, computed: Mutex::default() }
    }

    /// Whether the value of a stored row can compare with a constant. Returns the row after the
    /// last one of its segment, too.
    pub fn can_hold(&self, row: u64, comparison: Comparison, constant: Number) -> (bool, u64) {
        if let Some((len, segments)) = &self.stored {
            let segment = row / len;
            let found = usize::try_from(segment).ok().and_then(|at| segments.get(at));
            if let Some(extrema) = found {
                return (
                    extrema.can_hold(comparison, constant),
                    (segment + 1).saturating_mul(*len),
                );
            }
        }
        let segment = row / SEGMENT;
        let computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        let can = computed.get(&segment);
        let can = can.is_none_or(|extrema| extrema.can_hold(comparison, constant));
        (can, (segment + 1) * SEGMENT)
    }

    /// Computes the extrema of the segments that are in `bytes`, the items of the rows from `start`
    /// on.
    pub fn record(&self, dtype: &Dtype, start: u64, bytes: &[u8]) {
        let size = dtype.itemsize().max(1);
        if self.stored.is_some() {
            return;
        }
        let rows = bytes.len() as u64 / size;
        let mut segment = start.div_ceil(SEGMENT);
        while (segment + 1) * SEGMENT <= start + rows {
            let is_known = {
                let computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
                computed.contains_key(&segment)
            };
            let at = (segment * SEGMENT - start) * size;
            let range = usize::try_from(at).ok().zip(usize::try_from(SEGMENT * size).ok());
            let items = range.and_then(|(at, len)| bytes.get(at..at + len));
            if let (false, Some(items)) = (is_known, items) {
                let extrema = Extrema::of(dtype, items);
                let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
                computed.insert(segment, extrema);
            }
            segment += 1;
        }
    }
}

/// Reads the stored extrema; `None` if there are none that can be used.
fn read(
    store: &dyn Leaves,
    table: &str,
    column: &str,
    dtype: &Dtype,
    rows: u64,
) -> Option<(u64, Vec<Extrema>)> {
    let path = keys::join(table, keys::TABLE_META);
    let meta = store.leaf(&path).ok()?;
    let number = |name: &str| match attrs::value(&path, meta.schunk(), name) {
        Ok(None) => Some(0),
        Ok(Some(value)) => value.as_u64(),
        Err(_) => None,
    };
    let catalog = attrs::value(&path, meta.schunk(), "index_catalog").ok()??;
    let index = catalog.get(column)?;
    let is_current = index.get("stale") == Some(&Value::Bool(false))
        && index.get("built_value_epoch").and_then(Value::as_u64) == number("value_epoch");
    let shape = match index.get("shape")? {
        Value::Tuple(extents) | Value::List(extents) => extents.clone(),
        _ => return None,
    };
    let is_whole = shape.len() == 1 && shape[0].as_u64() == Some(rows);
    let is_same = index.get("dtype").and_then(Value::as_str) == Some(dtype.text());
    if !(is_current && is_whole && is_same) {
        return None;
    }
    let segment_len = index.get("levels")?.get("block")?.get("segment_len")?.as_u64()?;
    if segment_len == 0 {
        return None;
    }
    let key = keys::join(table, &format!("_indexes/{}/summary.block", column_path(column)));
    let array = store.leaf(&key).ok()?.into_array().ok()?;
    let record = Dtype::parse(array.dtype()?).ok()?;
    let size = dtype.itemsize();
    let fields = record.fields();
    let is_expected = record.kind() == Kind::Record
        && record.itemsize() == 2 * size + 1
        && fields.len() == 3
        && fields[..2].iter().all(|field| field.dtype.kind() == dtype.kind())
        && fields[..2].iter().all(|field| field.dtype.itemsize() == size)
        && fields[..2].iter().all(|field| field.dtype.is_big_endian() == dtype.is_big_endian());
    let count = rows.div_ceil(segment_len);
    let is_complete = array.shape().len() == 1 && u64::try_from(array.shape()[0]) == Ok(count);
    if !is_expected || !is_complete || count.checked_mul(record.itemsize())? > MAX_SIZE {
        return None;
    }
    let bytes = array.items().ok()?;
    let size = usize::try_from(size).ok()?;
    let segments = bytes.chunks_exact(2 * size + 1).map(|record| {
        let flags = record[2 * size];
        let mut bounds = Vec::new();
        each_number(dtype, &record[..2 * size], |number| bounds.push(number));
        let bounds = match bounds[..] {
            [min, max] if flags & NO_EXTREMA == 0 => Some((min, max)),
            _ => None,
        };
        Extrema { bounds, has_nan: flags & HAS_NAN != 0 || bounds.is_none() }
    });
    Some((segment_len, segments.collect()))
}
