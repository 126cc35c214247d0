//! Everything stored with the data: metalayers, attributes, fill values and codec parameters.
//!
//! | source | has | in frames | in Bloscpack | in bcolz | in chunks, `.npy`, `.npz`, bytes |
//! |---|---|---|---|---|---|
//! | frame, b2nd | metalayers | metalayers | metadata ¹ | attributes ¹ | – |
//! | Bloscpack | metadata ² | vlmetalayers | metadata | attributes | – |
//! | carray, ctable | attributes | vlmetalayers | metadata | attributes | – |
//! | Zarr | attributes, fill value | vlmetalayers, `__bcolz__` | metadata | attributes, fill value | – |
//! | HDF5 | attributes, fill value, names of dimensions | vlmetalayers, `__bcolz__` | metadata | attributes, fill value | – |
//! | carray | fill value | metalayer `__bcolz__` | – | fill value | – |
//! | ctable | attributes and fill values of columns | – | – | those of columns | – |
//! | all | codec, level, filters | parameters | if supported | if supported | chunks only |
//!
//! ¹ If JSON has a representation of the value. ² Without the entries that describe an array.
//!
//! A conversion returns a list of everything that the target cannot hold.

use std::path::Path;

use super::attrs::{DESCRIPTION, Description, decode, pairs, undecodable};
use super::detect::{Detected, Format};
use super::error::Result;
#[cfg(feature = "hdf5")]
use super::sink::Hdf5Filter;
use super::sink::{Compression, Destination};
use super::source::{Reading, open_schunk, schunk_of_chunk};
use crate::bcolz::{self, Carray, Ctable, Mode, Object, Options};
use crate::bloscpack::{Metadata, Value};
use crate::blpk::Archive;
#[cfg(feature = "hdf5")]
use crate::hdf5;
use crate::numpy::{ArrayInfo, Dtype, Kind};
#[cfg(feature = "zarr")]
use crate::zarr::{self, Codec};
use ferroblosc::b2nd::meta::{NAME, OLD_NAME};
use ferroblosc::chunk::{ChunkHeader, SplitMode};
use ferroblosc::io::named::NamedFile;
use ferroblosc::schunk::{Layers, SChunk, State, meta};
use ferroblosc::{codec, filter};

/// The metadata keys that describe an array in a Bloscpack container.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];
/// The attribute that holds metadata that is not a JSON object.
const METADATA: &str = "metadata";

/// Everything stored with the data, apart from the data.
#[derive(Clone, Debug, Default)]
pub struct Attachments {
    /// Fixed metalayers of a frame, without the b2nd metalayer.
    pub metalayers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Variable-length metalayers.
    pub vlmetalayers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Attributes and metadata entries; for a frame, the ones decoded from its metalayers.
    pub attrs: Vec<(String, Value)>,
    /// The fill value, if it is not zero.
    pub dflt: Option<Value>,
    /// Attributes and fill values of a table's columns.
    pub columns: Vec<Column>,
    /// The compression parameters.
    pub compression: Option<Compression>,
    /// Descriptions of the items that cannot be read or that no target can hold.
    pub lost: Vec<String>,
    /// Names of the metalayers whose content has no JSON representation.
    opaque: Vec<String>,
    /// Names of the attributes of the table, if the frame was a column of one.
    table_attrs: Vec<String>,
}

/// Attributes and fill value of a table column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The attributes.
    pub attrs: Vec<(String, Value)>,
    /// The fill value, if it is not zero.
    pub dflt: Option<Value>,
}

fn quoted(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}

impl Attachments {
    /// Reads the attachments of the data at `path`.
    ///
    /// # Errors
    /// Returns the errors of reading the format.
    pub fn of(path: &Path, found: &Detected, reading: &Reading) -> Result<Attachments> {
        match found.format {
            Format::Frame | Format::B2nd => {
                Attachments::of_schunk(&open_schunk(path, found.is_directory, 1)?)
            }
            Format::Blosc1 | Format::Blosc2 => {
                let schunk = schunk_of_chunk(path, 1)?;
                Ok(Attachments {
                    compression: schunk.chunk(0).ok().and_then(|chunk| of_chunk(&chunk)),
                    ..Attachments::default()
                })
            }
            Format::Bloscpack => Attachments::of_container(path),
            Format::Carray => {
                let array = Carray::open(path, Mode::Read, &Options::default())?;
                Ok(Attachments::of_carray(&array))
            }
            Format::Ctable => {
                let table = Ctable::open(path, Mode::Read, &Options::default())?;
                match &reading.column {
                    Some(column) => Attachments::of_column(&table, column),
                    None => Attachments::of_table(&table),
                }
            }
            #[cfg(feature = "zarr")]
            Format::Zarr => Attachments::of_zarr(path),
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => Attachments::of_hdf5(path),
            Format::Npy | Format::Npz | Format::Raw => Ok(Attachments::default()),
        }
    }

    #[cfg(feature = "hdf5")]
    fn of_hdf5(path: &Path) -> Result<Attachments> {
        let (_file, dataset) = super::source::open_hdf5(path)?;
        let (mut attrs, mut lost) = hdf5::attributes_of(dataset.attributes())?;
        let names = hdf5::dimensions(&dataset)?;
        if !names.is_empty() && attrs.iter().all(|(name, _)| name != hdf5::DIMENSIONS) {
            let names = names.into_iter().map(Value::Text).collect();
            attrs.push((hdf5::DIMENSIONS.to_owned(), Value::List(names)));
        }
        let mut dflt = None;
        if let Some(fill) = dataset.fill_value()?.filter(|fill| fill.iter().any(|&b| b != 0)) {
            dflt = hdf5::fill_value(dataset.item(), &fill);
            if dflt.is_none() {
                lost.push("the fill value".to_owned());
            }
        }
        let compression = match dataset.filters() {
            [filter] => hdf5::compression_of(filter),
            _ => None,
        };
        let compression = compression.map(|(codec, level, filters)| Compression {
            codec,
            level,
            filters,
            ..Compression::default()
        });
        Ok(Attachments { attrs, lost, dflt, compression, ..Attachments::default() })
    }

    #[cfg(feature = "zarr")]
    fn of_zarr(path: &Path) -> Result<Attachments> {
        let array = super::source::open_zarr(path)?;
        let metadata = array.metadata();
        let mut found = Attachments {
            attrs: metadata.attrs.clone(),
            dflt: metadata.fill_value.clone(),
            ..Attachments::default()
        };
        if found.dflt.is_none() && !array.is_fill_zero() {
            found.lost.push("the fill value".to_owned());
        }
        if let Some(Codec::Blosc { cname, level, shuffle }) = array.compressor() {
            let shuffle = match shuffle {
                Some(0) => None,
                Some(2) => Some(filter::id::BITSHUFFLE),
                _ => Some(filter::id::SHUFFLE),
            };
            let codec = codec::compname_to_compcode(cname.as_bytes());
            found.compression =
                codec.filter(|&codec| codec::can_encode(codec)).map(|codec| Compression {
                    codec,
                    level: *level,
                    filters: shuffle.map(|id| filter::Slot { id, meta: 0 }).into_iter().collect(),
                    ..Compression::default()
                });
        }
        Ok(found)
    }

    fn of_schunk(schunk: &SChunk) -> Result<Attachments> {
        let mut found = Attachments::default();
        let is_b2nd = |name: &[u8]| name == NAME.as_bytes() || name == OLD_NAME.as_bytes();
        schunk.state().with_layers(Layers::Fixed, &mut |layers| {
            for (name, content) in layers.iter().filter(|(name, _)| !is_b2nd(name)) {
                found.metalayers.push((name.to_vec(), content.to_vec()));
            }
        });
        let mut names = Vec::new();
        schunk.state().with_layers(Layers::Variable, &mut |layers| {
            names = layers.iter().map(|(name, _)| name.to_vec()).collect();
        });
        for name in names {
            match meta::vl_get(schunk.state(), &name) {
                Ok((_, content)) => found.vlmetalayers.push((name, content.to_vec())),
                Err(error) => {
                    let name = quoted(&name);
                    found.lost.push(format!("the variable-length metalayer {name}: {error}"));
                }
            }
        }
        let mut described = Description::of_fixed(schunk);
        for (name, content) in &found.vlmetalayers {
            described.add(String::from_utf8_lossy(name).into_owned(), content);
        }
        found.attrs = described.attrs;
        found.dflt = described.dflt.filter(Value::is_truthy);
        let table_attrs = described.table.into_iter().flat_map(|table| table.attrs);
        found.table_attrs = table_attrs.map(|(name, _)| name).collect();
        found.opaque = described.unmapped;
        // Fixed metalayers hold values in the same encoding.
        for (name, content) in &found.metalayers {
            let text = String::from_utf8_lossy(name).into_owned();
            let is_new = found.attrs.iter().all(|(known, _)| *known != text);
            if let Some(value) = decode(content).filter(|_| is_new) {
                found.opaque.retain(|unmapped| *unmapped != text);
                found.attrs.push((text, value));
            }
        }
        let state = schunk.state();
        let params = state.recorded().params(state.counters().blocksize);
        let compression = Compression {
            codec: state.recorded().compcode,
            level: state.recorded().clevel,
            filters: used(&params.filters),
            codec_meta: params.compcode_meta,
            splitmode: params.splitmode,
            use_dict: params.use_dict,
            ..Compression::default()
        };
        found.set_compression(compression);
        Ok(found)
    }

    /// Sets the compression parameters if this library has the codec and the filters.
    fn set_compression(&mut self, compression: Compression) {
        let can_encode = codec::can_encode(compression.codec);
        let has_filters = compression.filters.iter();
        let has_filters = has_filters.map(|slot| slot.id).all(filter::is_available);
        if can_encode && has_filters {
            self.compression = Some(compression);
        } else {
            let name = super::codec_name(compression.codec);
            self.lost
                .push(format!("the codec parameters ({name}): a plugin for them is not installed"));
        }
    }

    fn of_container(path: &Path) -> Result<Attachments> {
        let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
        let metadata = archive.metadata().map(Metadata::of).transpose()?;
        let is_array = ArrayInfo::from_metadata(metadata.as_ref()).is_ok();
        let mut found = Attachments::default();
        match metadata.as_ref().and_then(Metadata::value) {
            Some(Value::Object(entries)) => {
                let is_kept = |name: &str| !is_array || !ARRAY_KEYS.contains(&name);
                let kept = entries.iter().filter(|(name, _)| is_kept(name));
                found.attrs = kept.cloned().collect();
            }
            Some(value) => found.attrs.push((METADATA.to_owned(), value.clone())),
            None if archive.metadata().is_some() => {
                found.lost.push("the metadata, which are not JSON".to_owned());
            }
            None => {}
        }
        let mut stored = Vec::new();
        if archive.nchunks()? > 0 && archive.read_stored(0, &mut stored).is_ok() {
            found.compression = of_chunk(&stored);
        }
        Ok(found)
    }

    fn of_carray(array: &Carray) -> Attachments {
        let mut found = Attachments {
            attrs: pairs(array.attrs()),
            dflt: fill_value(array),
            compression: of_cparams(array),
            lost: undecodable(array.attrs(), None),
            ..Attachments::default()
        };
        let digits = array.cparams().quantize;
        if digits != 0 {
            found.lost.push(format!("the number of significant digits ({digits})"));
        }
        found
    }

    fn of_column(table: &Ctable, column: &str) -> Result<Attachments> {
        let mut names = column.split('/');
        let mut object = table.column(names.next().unwrap_or_default())?;
        for name in names {
            match object {
                Object::Ctable(inner) => object = inner.column(name)?,
                Object::Carray(_) => break,
            }
        }
        Ok(match object {
            Object::Carray(array) => Attachments::of_carray(array),
            Object::Ctable(_) => Attachments::default(),
        })
    }

    fn of_table(table: &Ctable) -> Result<Attachments> {
        let mut found = Attachments {
            attrs: pairs(table.attrs()),
            lost: undecodable(table.attrs(), None),
            ..Attachments::default()
        };
        let mut compressions = Vec::new();
        for name in table.names() {
            if let Object::Carray(array) = table.column(name)? {
                compressions.push(of_cparams(array));
                found.lost.extend(undecodable(array.attrs(), Some(name)));
                found.columns.push(Column {
                    name: name.to_owned(),
                    attrs: pairs(array.attrs()),
                    dflt: fill_value(array),
                });
            }
        }
        if compressions.windows(2).all(|pair| pair[0] == pair[1]) {
            found.compression = compressions.pop().flatten();
        } else {
            let description = "the codec parameters, which differ from column to column";
            found.lost.push(description.to_owned());
        }
        Ok(found)
    }

    /// Returns the attributes and the fill value in the form that is written to a frame.
    pub fn described(&self) -> Description {
        Description { attrs: self.attrs.clone(), dflt: self.dflt.clone(), ..Description::default() }
    }

    /// Whether the source is a frame, whose metalayers are copied unchanged.
    pub fn has_layers(&self) -> bool {
        !self.metalayers.is_empty() || !self.vlmetalayers.is_empty()
    }

    /// Returns the metadata entries, without those that describe an array if `is_array`.
    pub fn metadata(&self, is_array: bool) -> Vec<(String, Value)> {
        let is_kept = |name: &str| !is_array || !ARRAY_KEYS.contains(&name);
        let kept = self.attrs.iter().filter(|(name, _)| is_kept(name));
        kept.cloned().collect()
    }

    /// Returns a description of each item that `destination` cannot hold.
    pub fn lost_in(&self, destination: Destination, is_array: bool) -> Vec<String> {
        let mut lost = self.lost.clone();
        if !matches!(destination, Destination::Frame { .. } | Destination::B2nd { .. }) {
            let attrs = self.table_attrs.iter();
            lost.extend(attrs.map(|name| format!("the attribute {name:?} of the table")));
        }
        let columns = self.columns.iter();
        match destination {
            Destination::Frame { .. } | Destination::B2nd { .. } => {
                columns.for_each(|column| column.list_lost(&mut lost));
            }
            #[cfg(feature = "hdf5")]
            Destination::Hdf5 { .. } => {
                lost.extend(self.opaque.iter().map(|name| {
                    format!("the metalayer {name:?}, whose content has no JSON representation")
                }));
                for (name, value) in &self.attrs {
                    if let Err(why) = hdf5::attribute_of(value) {
                        lost.push(format!("the attribute {name:?}, {why}"));
                    }
                }
                columns.for_each(|column| column.list_lost(&mut lost));
            }
            #[cfg(feature = "zarr")]
            Destination::Zarr { .. } => {
                lost.extend(self.opaque.iter().map(|name| {
                    format!("the metalayer {name:?}, whose content has no JSON representation")
                }));
                columns.for_each(|column| column.list_lost(&mut lost));
            }
            Destination::Bcolz => {
                lost.extend(self.opaque.iter().map(|name| {
                    format!("the metalayer {name:?}, whose content has no JSON representation")
                }));
            }
            Destination::Bloscpack => {
                lost.extend(self.opaque.iter().map(|name| {
                    format!("the metalayer {name:?}, whose content has no JSON representation")
                }));
                if is_array {
                    let attrs = self.attrs.iter().map(|(name, _)| name);
                    let reserved = attrs.filter(|name| ARRAY_KEYS.contains(&name.as_str()));
                    lost.extend(reserved.map(|name| format!("the attribute {name:?}")));
                }
                self.list_lost_fill_value(&mut lost);
                columns.for_each(|column| column.list_lost(&mut lost));
            }
            Destination::Blosc1
            | Destination::Blosc2
            | Destination::Npy
            | Destination::Npz
            | Destination::Plain => {
                let fixed = self.metalayers.iter();
                lost.extend(fixed.map(|(name, _)| format!("the metalayer {}", quoted(name))));
                // The entries of the description layer are listed one by one.
                let variable = self.vlmetalayers.iter().map(|(name, _)| name);
                let variable = variable.filter(|name| *name != DESCRIPTION.as_bytes());
                lost.extend(
                    variable.map(|name| format!("the variable-length metalayer {}", quoted(name))),
                );
                let is_layer = |name: &str| {
                    let mut layers = self.metalayers.iter().chain(&self.vlmetalayers);
                    layers.any(|(known, _)| known == name.as_bytes())
                };
                let attrs = self.attrs.iter().filter(|(name, _)| !is_layer(name));
                lost.extend(attrs.map(|(name, _)| format!("the attribute {name:?}")));
                self.list_lost_fill_value(&mut lost);
                columns.for_each(|column| column.list_lost(&mut lost));
            }
        }
        lost
    }

    /// Returns a description of each fill value that is no item of this dtype in `destination`.
    pub fn lost_fill_values(&self, destination: Destination, dtype: &Dtype) -> Vec<String> {
        let is_item = |dtype: &Dtype, value: &Value| match destination {
            Destination::Bcolz => bcolz::item_of(dtype, value).is_some(),
            // A fill value of characters would have to be converted.
            #[cfg(feature = "hdf5")]
            Destination::Hdf5 { .. } => {
                dtype.kind() != Kind::Unicode && hdf5::fill_item(dtype, value).is_some()
            }
            #[cfg(feature = "zarr")]
            Destination::Zarr { version, .. } => zarr::fill_in(dtype, value, version).is_some(),
            _ => true,
        };
        let of_dtype = format!("which is not one of the dtype {}", dtype.text());
        let mut lost = Vec::new();
        let is_table = destination == Destination::Bcolz && dtype.kind() == Kind::Record;
        let fields = if is_table { dtype.fields() } else { &[] };
        for field in fields {
            let column = self.columns.iter().find(|column| column.name == field.name);
            if let Some(dflt) = column.and_then(|column| column.dflt.as_ref())
                && !is_item(&field.dtype, dflt)
            {
                let (dflt, name) = (dflt.to_json(), &field.name);
                lost.push(format!("the fill value {dflt} of the column {name:?}, {of_dtype}"));
            }
        }
        let fits = |dflt: &Value| match dflt {
            // The fill value of a record has one value for each field.
            Value::List(fills) if is_table && fills.len() == fields.len() => {
                let mut fills = fields.iter().zip(fills);
                fills.all(|(field, fill)| is_item(&field.dtype, fill))
            }
            _ => !is_table && is_item(dtype, dflt),
        };
        if let Some(dflt) = self.dflt.as_ref().filter(|dflt| !fits(dflt)) {
            lost.push(format!("the fill value {}, {of_dtype}", dflt.to_json()));
        }
        lost
    }

    fn list_lost_fill_value(&self, lost: &mut Vec<String>) {
        if let Some(dflt) = &self.dflt {
            lost.push(format!("the fill value {}", dflt.to_json()));
        }
    }

    /// Returns the compression parameters if `destination` supports them; otherwise their
    /// description.
    pub fn compression_for(
        &self,
        destination: Destination,
    ) -> (Option<Compression>, Option<String>) {
        let Some(compression) = &self.compression else {
            return (None, None);
        };
        let is_old = match destination {
            Destination::Npy | Destination::Npz | Destination::Plain => return (None, None),
            #[cfg(feature = "hdf5")]
            Destination::Hdf5 { filter: None } => return (None, None),
            #[cfg(feature = "hdf5")]
            Destination::Hdf5 { filter: Some(filter) } => filter == Hdf5Filter::Blosc,
            Destination::Frame { .. } | Destination::B2nd { .. } | Destination::Blosc2 => false,
            #[cfg(feature = "zarr")]
            Destination::Zarr { .. } => true,
            Destination::Blosc1 | Destination::Bloscpack | Destination::Bcolz => true,
        };
        let has_codec = codec::is_built_in(compression.codec);
        #[cfg(feature = "hdf5")]
        let is_old = is_old || matches!(destination, Destination::Hdf5 { .. }) && !has_codec;
        if is_old && !(has_codec && compression.shuffle().is_ok()) {
            let name = super::codec_name(compression.codec);
            let filters = compression.filters.iter();
            let filters: Vec<String> = filters.map(|slot| super::filter_name(slot.id)).collect();
            let description =
                format!("the codec parameters ({name}; filters: {})", filters.join(", "));
            return (None, Some(description));
        }
        (Some(compression.clone()), None)
    }
}

impl Column {
    fn list_lost(&self, lost: &mut Vec<String>) {
        let column = &self.name;
        let attrs = self.attrs.iter();
        lost.extend(
            attrs.map(|(name, _)| format!("the attribute {name:?} of the column {column:?}")),
        );
        if let Some(dflt) = &self.dflt {
            lost.push(format!("the fill value {} of the column {column:?}", dflt.to_json()));
        }
    }
}

fn used(slots: &[filter::Slot]) -> Vec<filter::Slot> {
    let used = slots.iter().filter(|slot| slot.id != filter::id::NONE);
    used.copied().collect()
}

/// Returns the fill value of a carray, if it is not zero.
fn fill_value(array: &Carray) -> Option<Value> {
    let item = bcolz::item_of(array.dtype(), array.dflt())?;
    item.iter().any(|&byte| byte != 0).then(|| array.dflt().clone())
}

fn of_cparams(array: &Carray) -> Option<Compression> {
    let cparams = array.cparams();
    let shuffle = match cparams.shuffle {
        1 => Some(filter::id::SHUFFLE),
        2 => Some(filter::id::BITSHUFFLE),
        _ => None,
    };
    let filters = shuffle.map(|id| filter::Slot { id, meta: 0 });
    Some(Compression {
        codec: codec::compname_to_compcode(cparams.cname.as_bytes())?,
        level: cparams.clevel.min(9),
        filters: filters.into_iter().collect(),
        ..Compression::default()
    })
}

/// Returns the compression parameters of a chunk. A chunk does not record its level.
fn of_chunk(chunk: &[u8]) -> Option<Compression> {
    let header = ChunkHeader::parse(chunk).ok()?;
    if header.is_memcpyed() {
        return None;
    }
    let format = header.basic.format();
    let codec = if format == codec::format::USER {
        codec::implementation(header.udcodec).ok()?;
        header.udcodec
    } else {
        codec::info_of_format(format)?.id
    };
    let filters = used(&header.filters);
    let has_filters = filters.iter().all(|slot| filter::is_available(slot.id));
    has_filters.then_some(Compression {
        codec,
        filters,
        codec_meta: header.codec_meta,
        splitmode: SplitMode::FORWARD_COMPAT,
        ..Compression::default()
    })
}
