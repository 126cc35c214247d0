//! Names of dimensions, and the parameters of the filters.

use super::{Attribute, BLOSC, BLOSC2, Dataset, Dimension, File, Filter, Result};
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

/// Attaches dimension scales to the dimensions of a dataset that has names of them
/// ([`DIMENSIONS`]). As in netCDF-4, the scale is the dataset of this name and length in the same
/// group, or a scale in a group that contains it; otherwise a dimension without values is created.
/// A dimension whose name another object has, has no scale.
///
/// # Errors
/// Errors of reading and writing the file.
pub fn attach_scales(file: &File, path: &str) -> Result<()> {
    let dataset = Dataset::open(file, path)?;
    let attributes = dataset.attributes()?;
    let shape = dataset.shape().to_vec();
    drop(dataset);
    let names = attributes.into_iter().find(|(name, _)| name == DIMENSIONS);
    let Some((_, Attribute::Texts(Some(lengths), names))) = names else {
        return Ok(());
    };
    if lengths != [shape.len() as u64] {
        return Ok(());
    }
    let own_name = path.rsplit('/').next().unwrap_or_default();
    for (dimension, (name, &len)) in names.iter().zip(&shape).enumerate() {
        let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_link_name(name)) else {
            continue;
        };
        if name == own_name {
            if shape.len() == 1 {
                file.make_scale(path)?;
            }
            continue;
        }
        attach(file, (path, dimension), name, len)?;
    }
    Ok(())
}

/// Attaches the scale of this name to a dimension of a dataset.
fn attach(file: &File, (path, dimension): (&str, usize), name: &str, len: u64) -> Result<()> {
    let group = path.rsplit_once('/').map_or("", |(group, _)| group);
    let in_group =
        |group: &str| if group.is_empty() { name.to_owned() } else { format!("{group}/{name}") };
    let scale = in_group(group);
    match file.can_be_scale(&scale, len)? {
        Some(true) => {
            file.make_scale(&scale)?;
            return file.attach_scale(path, dimension, &scale);
        }
        Some(false) => return Ok(()),
        None => {}
    }
    let mut above = group;
    while !above.is_empty() {
        above = above.rsplit_once('/').map_or("", |(above, _)| above);
        let scale = in_group(above);
        if file.is_scale(&scale)? && file.can_be_scale(&scale, len)? == Some(true) {
            return file.attach_scale(path, dimension, &scale);
        }
    }
    file.create_bare_dimension(&scale, len)?;
    file.attach_scale(path, dimension, &scale)
}

/// Whether a name is that of a link in a group.
fn is_link_name(name: &str) -> bool {
    !name.is_empty() && name != "." && !name.contains('/') && !name.contains('\0')
}

/// Attaches a new dataset to dimensions whose scale it replaces, if it has their length.
///
/// # Errors
/// Errors of reading and writing the file.
pub fn attach_to(file: &File, scale: &str, dimensions: &[Dimension]) -> Result<()> {
    for (path, dimension) in dimensions {
        let len = file.shape_of(path)?.get(*dimension).copied();
        let Some(len) = len else {
            continue;
        };
        if file.can_be_scale(scale, len)? == Some(true) {
            file.make_scale(scale)?;
            file.attach_scale(path, *dimension, scale)?;
        }
    }
    Ok(())
}

/// Removes a dataset that another one replaces. The dimensions whose scale it is, have a dimension
/// without values of the same name as their scale, until [`attach_to`] attaches the new dataset.
///
/// # Errors
/// Errors of reading and writing the file.
pub fn unlink(file: &File, path: &str) -> Result<()> {
    let dimensions = file.unlink_dataset(path)?;
    let Some((first, number)) = dimensions.first() else {
        return Ok(());
    };
    let len = file.shape_of(first)?.get(*number).copied().unwrap_or(0);
    file.create_bare_dimension(path, len)?;
    for (dataset, dimension) in &dimensions {
        if file.shape_of(dataset)?.get(*dimension) == Some(&len) {
            file.attach_scale(dataset, *dimension, path)?;
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::codec;

    #[test]
    fn parameters_of_filters_round_trip() {
        let filter = |id, values: Vec<u32>| Filter { id, name: String::new(), values };
        for ids in
            [&[][..], &[filter::id::SHUFFLE], &[filter::id::BITSHUFFLE], &[filter::id::DELTA]]
        {
            let slots: Vec<Slot> = ids.iter().map(|&id| Slot { id, meta: 0 }).collect();
            let values = values_of(codec::id::ZSTD, 7, &slots);
            let found = compression_of(&filter(BLOSC2, values.clone()));
            assert_eq!(found, Some((codec::id::ZSTD, 7, slots)), "{ids:?}");
            // Blosc 1.x has no delta filter.
            let is_old = ids != [filter::id::DELTA];
            assert_eq!(compression_of(&filter(BLOSC, values)).is_some(), is_old, "{ids:?}");
        }
        // Filters without a value are described by none.
        let truncated = [Slot { id: filter::id::TRUNC_PREC, meta: 9 }];
        assert_eq!(values_of(0, 1, &truncated)[slot::FILTER], 0);
        // Missing values have the defaults of the filter.
        let shuffle = vec![Slot { id: filter::id::SHUFFLE, meta: 0 }];
        assert_eq!(compression_of(&filter(BLOSC, Vec::new())), Some((0, 5, shuffle)));
        for values in
            [vec![0, 0, 0, 0, 10, 1, 0], vec![0, 0, 0, 0, 5, 4, 0], vec![0, 0, 0, 0, 5, 1, 300]]
        {
            assert_eq!(compression_of(&filter(BLOSC2, values.clone())), None, "{values:?}");
        }
        assert_eq!(compression_of(&filter(1, vec![0; 7])), None);
    }
}
