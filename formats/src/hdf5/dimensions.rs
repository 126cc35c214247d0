//! Names of dimensions, and the parameters of the filters.

use super::{Attribute, BLOSC, BLOSC2, Dataset, Filter, Result};
use ferroblosc::codec;
use ferroblosc::filter::{self, Slot};

/// The attribute with the names of dimensions, a list of texts, as in Zarr and xarray.
pub const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// The attribute with the labels of dimensions, as in HDF5's library of dimension scales.
pub const LABELS: &str = "DIMENSION_LABELS";

/// The slots of the filters' values.
mod slot {
    pub const LEVEL: usize = 4;
    pub const FILTER: usize = 5;
    pub const CODEC: usize = 6;
}

/// Returns the names of the dimensions: those of their scales, otherwise their labels. Returns none
/// unless all dimensions have a name.
///
/// # Errors
/// Errors of reading the attributes.
pub fn dimensions(dataset: &Dataset) -> Result<Vec<String>> {
    let scales: Option<Vec<String>> = dataset.scales()?.into_iter().collect();
    if let Some(names) = scales.filter(|names| !names.is_empty()) {
        return Ok(names);
    }
    let attributes = dataset.attributes()?;
    let labels = attributes.into_iter().find(|(name, _)| name == LABELS);
    let Some((_, Attribute::Texts(Some(_), texts))) = labels else {
        return Ok(Vec::new());
    };
    let names = texts.into_iter().map(|text| String::from_utf8(text).ok());
    let names: Option<Vec<String>> = names.collect();
    let is_complete = |names: &Vec<String>| {
        names.len() == dataset.shape().len() && names.iter().all(|name| !name.is_empty())
    };
    Ok(names.filter(is_complete).unwrap_or_default())
}

/// Returns the codec, the level and the filters of Blosc that a filter of HDF5 has, if this library
/// has the codec.
pub fn compression_of(filter: &Filter) -> Option<(u8, u8, Vec<Slot>)> {
    if !matches!(filter.id, BLOSC | BLOSC2) {
        return None;
    }
    let value = |slot: usize, default: u32| filter.values.get(slot).copied().unwrap_or(default);
    let codec = u8::try_from(value(slot::CODEC, 0)).ok().filter(|&id| codec::can_encode(id))?;
    let level = u8::try_from(value(slot::LEVEL, 5)).ok().filter(|&level| level <= 9)?;
    let id = match value(slot::FILTER, 1) {
        0 => None,
        1 => Some(filter::id::SHUFFLE),
        2 => Some(filter::id::BITSHUFFLE),
        3 if filter.id == BLOSC2 => Some(filter::id::DELTA),
        _ => return None,
    };
    Some((codec, level, id.map(|id| Slot { id, meta: 0 }).into_iter().collect()))
}

/// Returns the values of a filter of HDF5 for a codec, a level and filters of Blosc. They describe
/// the last filter only; each stored chunk contains its complete parameters.
pub fn values_of(codec: u8, level: u8, filters: &[Slot]) -> Vec<u32> {
    let filter = match filters.last().map(|slot| slot.id) {
        Some(filter::id::SHUFFLE) => 1,
        Some(filter::id::BITSHUFFLE) => 2,
        Some(filter::id::DELTA) => 3,
        _ => 0,
    };
    vec![0, 0, 0, 0, level.into(), filter, codec.into()]
}
