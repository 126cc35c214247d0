//! `meta`: the metadata of files, entry by entry.
//!
//! Entries are the fixed and variable-length metalayers of frames, whose contents are MessagePack
//! by convention, the attributes of bcolz and of stores, and the metadata of Bloscpack files.
//!
//! A variable-length metalayer is changed in place, durably. A fixed metalayer is in the header of a
//! frame, before the chunks; a change of its size rewrites the file.

use crate::cli::{
    Cli, LayerKind, MetaCommand, MetaDelArgs, MetaGetArgs, MetaListArgs, MetaSetArgs,
};
use crate::error::{Failure, Outcome};
use crate::inplace::{FrameToChange, detect_for_change, keep_other_files, other_files};
use crate::io::{Input, STDIN, STDIO};
use crate::json;
use crate::msgpack;
use crate::plural::with_article;
use crate::state::{FileState, is_frame, state_of};
use crate::store::{self, Target};
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc::Error;
use ferroblosc::b2nd::meta::{NAME, OLD_NAME};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::escape::escape;
use ferroblosc::frame::MAX_NAME_LEN;
use ferroblosc::io::named::{NamedFile, named};
use ferroblosc::schunk::{Layers, SChunk, State, Storage, meta};
use ferroblosc_formats::bcolz::{Attrs, Carray, Ctable, Mode, Object, Options};
use ferroblosc_formats::bloscpack::{Metadata, MetadataArgs, Value, update_metadata};
use ferroblosc_formats::blpk::Archive;
use ferroblosc_formats::convert::{self, Detected, Format, Location};
use ferroblosc_formats::hdf5;
use ferroblosc_formats::store::{Error as StoreError, Store, Value as Attr};
use ferroblosc_formats::zarr;
use ferroblosc_tools_common::progress::bar;
use ferroblosc_tools_common::size::human;
use ferroblosc_tools_common::staging::Staged;
use serde_json::{Value as Json, json};
use std::io::{Read, Write};
use std::path::Path;

/// The maximum number of characters of a value in a list.
const SHOWN: usize = 60;
/// The maximum size of a value in bytes.
const MAX_VALUE: u64 = i32::MAX as u64;
/// The entries of Bloscpack's metadata that describe an array.
const ARRAY_KEYS: [&str; 4] = ["dtype", "shape", "order", "container"];

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fixed,
    Variable,
    Attribute,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Fixed => "fixed",
            Kind::Variable => "variable",
            Kind::Attribute => "attribute",
        }
    }
}

/// The content of an entry.
enum Content {
    /// The bytes of a metalayer.
    Bytes(Vec<u8>),
    /// The value of an attribute.
    Value(Value),
    /// The reason why a metalayer or an attribute cannot be read.
    Unreadable(String),
}

/// An entry of the metadata.
pub struct Entry {
    kind: Kind,
    name: Vec<u8>,
    content: Content,
}

impl Entry {
    fn shown_name(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    /// Returns the value as JSON, or the reason it cannot be read.
    fn value(&self) -> Result<Json, &str> {
        match &self.content {
            Content::Bytes(bytes) => Ok(msgpack::to_json(bytes)),
            Content::Value(value) => Ok(json::any_value(value)),
            Content::Unreadable(reason) => Err(reason),
        }
    }

    fn nbytes(&self) -> Option<u64> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes.len() as u64),
            Content::Value(value) => Some(value.to_json().len() as u64),
            Content::Unreadable(_) => None,
        }
    }
}

/// The values of a frame's metalayers by name, for `info --meta`.
pub struct LayerValues {
    pub fixed: Vec<(String, Json)>,
    pub variable: Vec<(String, Json)>,
}

/// Reads the values of the metalayers of a frame. An unreadable value is null.
pub fn layer_values(path: &Path, found: &Detected) -> Result<LayerValues, Failure> {
    let mut values = LayerValues { fixed: Vec::new(), variable: Vec::new() };
    if matches!(found.format, Format::Frame | Format::B2nd) {
        for entry in entries(path, found, None)? {
            let value = entry.value().unwrap_or(Json::Null);
            match entry.kind {
                Kind::Fixed => values.fixed.push((entry.shown_name(), value)),
                _ => values.variable.push((entry.shown_name(), value)),
            }
        }
    }
    Ok(values)
}

fn open_frame(path: &Path, found: &Detected) -> Result<SChunk, Failure> {
    let storage = if found.is_directory { Storage::directory(path) } else { Storage::file(path) };
    Ok(SChunk::open(storage, DParams::default())?)
}

fn no_metadata(found: &Detected) -> Failure {
    Failure::new(format!("{} has no metadata", with_article(found.format.title())))
}

/// Returns the entry of an attribute.
fn attribute(name: &str, value: &Value) -> Entry {
    let content = Content::Value(value.clone());
    Entry { kind: Kind::Attribute, name: name.as_bytes().to_vec(), content }
}

/// Returns the entries of the attributes of bcolz.
fn bcolz_entries(attrs: &Attrs) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        attrs.iter().map(|(name, value)| attribute(name, value)).collect();
    entries.extend(attrs.undecodable().map(|name| Entry {
        kind: Kind::Attribute,
        name: name.as_bytes().to_vec(),
        content: Content::Unreadable("its JSON contains an unpaired surrogate".to_owned()),
    }));
    entries
}

/// Reads all entries.
fn entries(path: &Path, found: &Detected, column: Option<&str>) -> Result<Vec<Entry>, Failure> {
    if column.is_some() && found.format != Format::Ctable {
        return Err(convert::Error::NoColumns.into());
    }
    match found.format {
        Format::Frame | Format::B2nd => {
            let schunk = open_frame(path, found)?;
            let mut entries = Vec::new();
            schunk.state().with_layers(Layers::Fixed, &mut |layers| {
                entries.extend(layers.iter().map(|&(name, content)| Entry {
                    kind: Kind::Fixed,
                    name: name.to_vec(),
                    content: Content::Bytes(content.to_vec()),
                }));
            });
            let mut names = Vec::new();
            schunk.state().with_layers(Layers::Variable, &mut |layers| {
                names = layers.iter().map(|(name, _)| name.to_vec()).collect();
            });
            for name in names {
                let content = match meta::vl_get(schunk.state(), &name) {
                    Ok((_, content)) => Content::Bytes(content.to_vec()),
                    Err(error) => Content::Unreadable(error.to_string()),
                };
                entries.push(Entry { kind: Kind::Variable, name, content });
            }
            Ok(entries)
        }
        Format::Bloscpack => Ok(match container_metadata(path)?.1 {
            Some(Value::Object(entries)) => {
                entries.iter().map(|(name, value)| attribute(name, value)).collect()
            }
            Some(_) | None => Vec::new(),
        }),
        Format::Carray => {
            let array = Carray::open(path, Mode::Read, &Options::default())?;
            Ok(bcolz_entries(array.attrs()))
        }
        Format::Ctable => {
            let table = Ctable::open(path, Mode::Read, &Options::default())?;
            let attrs = match column {
                None => table.attrs(),
                Some(column) => match table.column(column)? {
                    Object::Carray(array) => array.attrs(),
                    Object::Ctable(table) => table.attrs(),
                },
            };
            Ok(bcolz_entries(attrs))
        }
        Format::Zarr => {
            let attachments = zarr_attributes(path)?;
            Ok(attachments.iter().map(|(name, value)| attribute(name, value)).collect())
        }
        Format::Hdf5 => {
            let attachments = hdf5_attributes(path)?;
            Ok(attachments.iter().map(|(name, value)| attribute(name, value)).collect())
        }
        // Blosc1, Blosc2, Npy, Npz and Raw.
        _ => Err(no_metadata(found)),
    }
}

/// Returns the attributes of a Zarr array or group.
fn zarr_attributes(path: &Path) -> Result<Vec<(String, Value)>, Failure> {
    let location = Location::of(path);
    let node = location.key.unwrap_or_default();
    Ok(zarr::attributes(&location.path, &node).map_err(convert::Error::from)?)
}

/// Returns the attributes of an HDF5 dataset or group.
fn hdf5_attributes(path: &Path) -> Result<Vec<(String, Value)>, Failure> {
    let location = Location::of(path);
    let key = location.key.unwrap_or_default();
    let read = || {
        let file = hdf5::File::open(&location.path)?;
        match file.node(&key)? {
            hdf5::Node::Group => hdf5::attributes_of(file.group(&key)?.attributes()),
            hdf5::Node::Dataset => {
                hdf5::attributes_of(hdf5::Dataset::open(&file, &key)?.attributes())
            }
        }
    };
    Ok(read().map_err(convert::Error::from)?.0)
}

/// Returns the arguments with which the metadata of a Bloscpack file were written, and their value.
fn container_metadata(path: &Path) -> Result<(MetadataArgs, Option<Value>), Failure> {
    let archive = Archive::open(NamedFile::open_regular(path)?)?;
    let Some(section) = archive.metadata() else {
        return Ok((MetadataArgs::default(), None));
    };
    let args = MetadataArgs {
        checksum: section.header.checksum,
        codec: section.header.codec,
        level: section.header.level.into(),
        ..MetadataArgs::default()
    };
    let metadata = Metadata::of(section)?;
    match metadata.value() {
        Some(value) => Ok((args, Some(value.clone()))),
        None => Err(Failure::new("the metadata are not JSON")),
    }
}

pub fn run(command: &MetaCommand, cli: &Cli) -> Outcome {
    match command {
        MetaCommand::List(args) => list(args),
        MetaCommand::Get(args) => get(args),
        MetaCommand::Set(args) => set(args, cli),
        MetaCommand::Del(args) => del(args, cli),
    }
}

/// Reads all entries of a file or of an object in a store.
fn read(input: &Input, column: Option<&str>) -> Result<Vec<Entry>, Failure> {
    if let Some(target) = store::target_of(input) {
        if column.is_some() {
            return Err(Failure::from(convert::Error::NoColumns));
        }
        return attributes(&target);
    }
    entries(input.path(), &input.detect()?, column)
}

/// Reads the attributes of an object in a store.
fn attributes(target: &Target) -> Result<Vec<Entry>, Failure> {
    let store = target.open()?;
    let attrs = store.attrs(target.key()).map_err(|error| target.error(error))?;
    let entry =
        |name: String, content| Entry { kind: Kind::Attribute, name: name.into_bytes(), content };
    let known = attrs.entries.into_iter().map(|(name, value)| {
        let content = match value {
            Attr::Raw(bytes) => Content::Bytes(bytes),
            // Values that cannot be written are converted directly.
            value => match value.encode() {
                Ok(bytes) => Content::Bytes(bytes),
                Err(_) => Content::Value(value.to_json()),
            },
        };
        entry(name, content)
    });
    let damaged = attrs.damaged.into_iter();
    let damaged = damaged.map(|(name, error)| entry(name, Content::Unreadable(error.to_string())));
    Ok(known.chain(damaged).collect())
}

/// Sets or removes an attribute of an object in a store.
fn change_in_store(
    target: &Target,
    name: &str,
    (column, kind): (Option<&str>, LayerKind),
    content: Option<Vec<u8>>,
) -> Outcome {
    if column.is_some() {
        return Err(target.at(Failure::from(convert::Error::NoColumns)));
    }
    if kind.fixed || kind.variable {
        return Err(Failure::usage("the objects of stores have attributes, no metalayers"));
    }
    let failed =
        |error: StoreError| target.at(store::with_given_path(Failure::from(error), target.path()));
    let mut writer = Store::change(target.path()).map_err(failed)?;
    match content {
        Some(content) => {
            let value = Attr::decode(&content).unwrap_or(Attr::Raw(content));
            writer.set_attr(target.key(), name, &value).map_err(failed)?;
        }
        None => {
            let entries = attributes(target)?;
            if entries.iter().all(|entry| entry.name != name.as_bytes()) {
                return Err(target.at(no_such_entry(&entries, name)));
            }
            writer.remove_attr(target.key(), name).map_err(failed)?;
        }
    }
    writer.commit().map_err(failed)
}

fn list(args: &MetaListArgs) -> Outcome {
    let input = Input::new(&args.path)?;
    let entries = read(&input, args.column.as_deref()).map_err(|failure| input.error(failure))?;
    if args.json {
        let listed = entries.iter().map(|entry| {
            json!({
                "kind": entry.kind.name(),
                "name": entry.shown_name(),
                "nbytes": entry.nbytes(),
                "value": entry.value().unwrap_or(Json::Null),
                "error": entry.value().err(),
            })
        });
        let path = input.name().to_string_lossy();
        return json::print(&json!({"path": path, "entries": listed.collect::<Json>()}));
    }
    let mut table =
        Table::new(&[Alignment::Left, Alignment::Left, Alignment::Right, Alignment::Left]);
    table.add(["kind", "name", "size", "value"].map(str::to_owned).to_vec());
    for entry in &entries {
        let value = match entry.value() {
            Ok(value) => shortened(&value),
            Err(reason) => format!("unreadable: {reason}"),
        };
        let size = entry.nbytes().map_or("-".to_owned(), human);
        table.add(vec![entry.kind.name().to_owned(), entry.shown_name(), size, value]);
    }
    let style = Style::stdout();
    Ok(table.write(&mut crate::io::stdout(), |heading| style.faint(heading))?)
}

/// Writes all entries of a path with their complete values as indented JSON.
pub fn write_values(output: &mut impl Write, path: &Path) -> Outcome {
    for entry in read(&Input::new(path)?, None)? {
        let name = entry.shown_name();
        writeln!(output, "{} {}:", entry.kind.name(), escape(&name))?;
        let text = match entry.value() {
            Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
            Err(reason) => format!("unreadable: {reason}"),
        };
        for line in text.lines() {
            writeln!(output, "  {}", escape(line))?;
        }
    }
    Ok(())
}

/// Returns a value in one line of limited length.
pub fn shortened(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl LayerKind {
    fn matches(self, kind: Kind) -> bool {
        match (self.fixed, self.variable) {
            (true, _) => kind == Kind::Fixed,
            (_, true) => kind == Kind::Variable,
            _ => true,
        }
    }
}

/// Returns the only entry with this name and kind, if there is one.
fn select<'e>(
    entries: &'e [Entry],
    name: &str,
    kind: LayerKind,
) -> Result<Option<&'e Entry>, Failure> {
    let is_selected = |entry: &&Entry| entry.name == name.as_bytes() && kind.matches(entry.kind);
    let mut selected = entries.iter().filter(is_selected);
    match (selected.next(), selected.next()) {
        (first, None) => Ok(first),
        _ => {
            Err(Failure::new(format!("there is a fixed and a variable-length metalayer '{name}'"))
                .with_hint("select one with '--fixed' or '--variable'"))
        }
    }
}

fn no_such_entry(entries: &[Entry], name: &str) -> Failure {
    let failure = Failure::new(format!("there is no metadata entry '{name}'"));
    let known: Vec<String> = entries.iter().map(Entry::shown_name).collect();
    if known.is_empty() {
        return failure.with_hint("the file has no metadata entries");
    }
    failure.with_hint(format!("the entries are: {}", known.join(", ")))
}

fn get(args: &MetaGetArgs) -> Outcome {
    let input = Input::new(&args.path)?;
    let at_path = |failure: Failure| input.error(failure);
    let entries = read(&input, args.column.as_deref()).map_err(at_path)?;
    let entry = select(&entries, &args.name, args.kind).map_err(at_path)?;
    let entry = entry.ok_or_else(|| at_path(no_such_entry(&entries, &args.name)))?;
    let value = entry.value().map_err(|reason| {
        input.error(Failure::new(format!("the metadata entry '{}': {reason}", args.name)))
    })?;
    let mut output = crate::io::stdout();
    if args.raw {
        let bytes = match (&entry.content, &value) {
            (Content::Bytes(bytes), _) => bytes.clone(),
            (_, Json::String(text)) => text.clone().into_bytes(),
            (_, value) => value.to_string().into_bytes(),
        };
        return Ok(output.write_all(&bytes)?);
    }
    drop(output);
    match &value {
        Json::String(text) if args.string => Ok(writeln!(crate::io::stdout(), "{text}")?),
        value => json::print(value),
    }
}

/// A value on the command line.
enum NewValue {
    Raw(Vec<u8>),
    Json(Json, String),
}

impl NewValue {
    fn of(args: &MetaSetArgs) -> Result<NewValue, Failure> {
        let mut bytes = Vec::new();
        if args.value == STDIO {
            let mut stdin = std::io::stdin().lock().take(MAX_VALUE + 1);
            stdin
                .read_to_end(&mut bytes)
                .map_err(|error| named(error, Error::FileRead, "read", Path::new(STDIN)))?;
            if bytes.len() as u64 > MAX_VALUE {
                return Err(Failure::new("a value has at most 2 GB"));
            }
        } else {
            bytes.extend_from_slice(args.value.as_bytes());
        }
        if args.raw {
            return Ok(NewValue::Raw(bytes));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::usage("the value is not UTF-8; '--raw' stores any bytes"))?;
        if args.string {
            let value = Json::String(text);
            let text = value.to_string();
            return Ok(NewValue::Json(value, text));
        }
        match serde_json::from_str(&text) {
            Ok(value) => Ok(NewValue::Json(value, text)),
            Err(error) => Err(Failure::usage(format!("the value is not JSON: {error}"))
                .replacing_hint("'--string' stores the value as a text")),
        }
    }

    /// Returns the content of a metalayer.
    fn content(self) -> Result<Vec<u8>, Failure> {
        match self {
            NewValue::Raw(bytes) => Ok(bytes),
            NewValue::Json(value, _) => msgpack::of_json(&value).map_err(Failure::usage),
        }
    }

    /// Returns the value of an attribute.
    fn attribute(self) -> Result<Value, Failure> {
        match self {
            NewValue::Raw(_) => Err(Failure::usage("--raw: attributes are JSON values")),
            NewValue::Json(_, text) => {
                Value::parse(text.as_bytes()).map_err(|error| Failure::usage(error.to_string()))
            }
        }
    }
}

/// Detects the format of a file to change.
fn detect_to_change(path: &Path, column: Option<&str>) -> Result<Detected, Failure> {
    let found = detect_for_change(path)?;
    if column.is_some() && found.format != Format::Ctable {
        return Err(Failure::from(convert::Error::NoColumns).at(path));
    }
    Ok(found)
}

/// Fails for the metalayer of an array and for invalid names.
fn check_layer_name(name: &str) -> Outcome {
    if name == NAME || name == OLD_NAME {
        return Err(Failure::new(format!("the metalayer '{name}' describes the array")));
    }
    if name.is_empty() || name.len() > MAX_NAME_LEN || name.contains('\0') {
        return Err(Failure::new(format!(
            "the name of a metalayer has 1 to {MAX_NAME_LEN} bytes, and no NUL"
        )));
    }
    Ok(())
}

fn set(args: &MetaSetArgs, cli: &Cli) -> Outcome {
    let path = args.path.as_path();
    if let Some(target) = store::target(path) {
        let content = NewValue::of(args)?.content()?;
        let selection = (args.column.as_deref(), args.kind);
        return change_in_store(&target, &args.name, selection, Some(content));
    }
    let found = detect_to_change(path, args.column.as_deref())?;
    let value = NewValue::of(args)?;
    let at_path = |failure: Failure| failure.at(path);
    if is_frame(&found) {
        check_layer_name(&args.name).map_err(at_path)?;
        let content = value.content()?;
        let target = FrameToChange::open_any(path)?;
        return set_layer(&target, args, &content, cli).map_err(|failure| target.error(failure));
    }
    if args.kind.fixed || args.kind.variable {
        return Err(at_path(Failure::usage("only frames have metalayers")));
    }
    let value = value.attribute()?;
    change_attribute(path, &found, args.column.as_deref(), &args.name, Some(value))
        .map(|_| ())
        .map_err(at_path)
}

fn set_layer(target: &FrameToChange, args: &MetaSetArgs, content: &[u8], cli: &Cli) -> Outcome {
    let (path, found) = (target.path(), target.found());
    let before = state_of(path, found)?;
    let entries = entries(path, found, None)?;
    let name = args.name.as_bytes();
    let kind = match select(&entries, &args.name, args.kind)? {
        Some(entry) => entry.kind,
        None if args.kind.fixed => Kind::Fixed,
        None => Kind::Variable,
    };
    let is_new = !entries.iter().any(|entry| entry.kind == kind && entry.name == name);
    if kind == Kind::Variable {
        let mut schunk = target.schunk(1)?;
        let state = schunk.state_mut();
        if is_new {
            meta::vl_add(state, name, content, CParams::default())?;
        } else {
            meta::vl_update(state, name, content, CParams::default())?;
        }
        return Ok(schunk.close()?);
    }
    let mut layers = fixed_layers(&entries);
    match layers.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) if old.len() == content.len() => {
            let mut schunk = target.schunk(1)?;
            meta::update(schunk.state_mut(), name, content)?;
            return Ok(schunk.close()?);
        }
        Some((_, old)) => *old = content.to_vec(),
        None => layers.push((name.to_vec(), content.to_vec())),
    }
    rewrite(path, (found, &before), &layers, cli)
}

fn fixed_layers(entries: &[Entry]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let fixed = entries.iter().filter(|entry| entry.kind == Kind::Fixed);
    fixed
        .filter_map(|entry| match &entry.content {
            Content::Bytes(bytes) => Some((entry.name.clone(), bytes.clone())),
            Content::Value(_) | Content::Unreadable(_) => None,
        })
        .collect()
}

/// Writes a frame again with other fixed metalayers, and replaces the old one, unless it was
/// changed since its files had the state `before`.
fn rewrite(
    path: &Path,
    (found, before): (&Detected, &FileState),
    layers: &[(Vec<u8>, Vec<u8>)],
    cli: &Cli,
) -> Outcome {
    other_files(path, found)?;
    let mut staged =
        Staged::new(path).map_err(|error| named(error, Error::FileOpen, "create", path))?;
    let bar = bar(!cli.quiet, None);
    let copied =
        convert::copy_with_metalayers((path, found), staged.path(), layers, &mut |bytes| {
            bar.inc(bytes);
        });
    bar.finish_and_clear();
    copied.map_err(|error| Failure::from(error).of_target(staged.path(), path))?;
    // Before the other files are added, which may belong to other programs.
    staged.sync()?;
    keep_other_files(path, found, staged.path())?;
    if state_of(path, found)? != *before {
        return Err(Failure::new("was changed by another program and left unchanged"));
    }
    Ok(staged.commit().map_err(|error| named(error, Error::FileWrite, "rename a file to", path))?)
}

/// Sets or removes an attribute. Returns whether it existed.
fn change_attribute(
    path: &Path,
    found: &Detected,
    column: Option<&str>,
    name: &str,
    value: Option<Value>,
) -> Result<bool, Failure> {
    let options = Options::default();
    match found.format {
        Format::Carray => {
            let mut array = Carray::open(path, Mode::Append, &options)?;
            Ok(match value {
                Some(value) => array.set_attr(name, value).map(|()| true)?,
                None => array.remove_attr(name)?,
            })
        }
        Format::Ctable => {
            let mut table = Ctable::open(path, Mode::Append, &options)?;
            Ok(match (column, value) {
                (None, Some(value)) => table.set_attr(name, value).map(|()| true)?,
                (None, None) => table.remove_attr(name)?,
                (Some(column), Some(value)) => {
                    table.set_column_attr(column, name, value).map(|()| true)?
                }
                (Some(column), None) => table.remove_column_attr(column, name)?,
            })
        }
        Format::Bloscpack => {
            let (args, old) = container_metadata(path)?;
            let Some(Value::Object(mut entries)) = old else {
                return Err(Failure::new("the file has no metadata that can be changed")
                    .with_hint("metadata are reserved when the file is created"));
            };
            let describes_array = entries.iter().any(|(key, value)| {
                key == "container" && matches!(value, Value::Text(text) if text == "numpy")
            });
            if describes_array && ARRAY_KEYS.contains(&name) {
                return Err(Failure::new(format!(
                    "the metadata entry '{name}' describes the array"
                )));
            }
            let at = entries.iter().position(|(key, _)| key == name);
            match (at, value) {
                (Some(at), Some(value)) if entries[at].1 == value => return Ok(true),
                (Some(at), Some(value)) => entries[at].1 = value,
                (None, Some(value)) => entries.push((name.to_owned(), value)),
                (Some(at), None) => drop(entries.remove(at)),
                (None, None) => return Ok(false),
            }
            update_metadata(path, &Value::Object(entries), &args)?;
            Ok(true)
        }
        Format::Zarr => Err(Failure::new("attributes of Zarr arrays cannot be changed")),
        Format::Hdf5 => Err(Failure::new("attributes of HDF5 files cannot be changed")),
        _ => Err(no_metadata(found)),
    }
}

fn del(args: &MetaDelArgs, cli: &Cli) -> Outcome {
    let path = args.path.as_path();
    if let Some(target) = store::target(path) {
        let selection = (args.column.as_deref(), args.kind);
        return change_in_store(&target, &args.name, selection, None);
    }
    let column = args.column.as_deref();
    let found = detect_to_change(path, column)?;
    let target = is_frame(&found).then(|| FrameToChange::open_any(path)).transpose()?;
    let path = target.as_ref().map_or(path, |target| target.path());
    let found = target.as_ref().map_or(&found, |target| target.found());
    let at_path = |failure: Failure| failure.of_target(path, &args.path).at(&args.path);
    let before = state_of(path, found).map_err(at_path)?;
    let entries = entries(path, found, column).map_err(at_path)?;
    let selected = select(&entries, &args.name, args.kind).map_err(at_path)?;
    let Some(entry) = selected else {
        return Err(at_path(no_such_entry(&entries, &args.name)));
    };
    match entry.kind {
        Kind::Attribute => {
            change_attribute(path, found, column, &args.name, None).map_err(at_path)?;
            Ok(())
        }
        Kind::Variable => {
            // Only frames have metalayers.
            let Some(target) = &target else {
                return Err(at_path(no_metadata(found)));
            };
            let mut schunk = target.schunk(1)?;
            let deleted = meta::vl_delete(schunk.state_mut(), &entry.name);
            deleted.and_then(|_| schunk.close()).map_err(|error| target.error(error))
        }
        Kind::Fixed => {
            check_layer_name(&args.name).map_err(at_path)?;
            let mut layers = fixed_layers(&entries);
            layers.retain(|(name, _)| *name != entry.name);
            rewrite(path, (found, &before), &layers, cli).map_err(at_path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use ferroblosc_tools_common::staging::Folder;

    #[test]
    fn a_frame_that_was_changed_meanwhile_is_kept() {
        let folder = Folder::temporary("b2-meta").unwrap();
        let cli = Cli::parse_from(["b2", "--quiet", "meta", "list", "x"]);
        for is_directory in [false, true] {
            let path = folder.path(format!("{is_directory}.b2frame"));
            let storage =
                if is_directory { Storage::directory(&path) } else { Storage::file(&path) };
            let params = CParams::default();
            let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
            schunk.append(&[1; 1000]).unwrap();
            schunk.close().unwrap();
            let found = convert::detect(&path).unwrap();
            let layers = [(b"layer".to_vec(), b"\x01".to_vec())];
            let before = state_of(&path, &found).unwrap();
            rewrite(&path, (&found, &before), &layers, &cli).unwrap();
            let before = state_of(&path, &found).unwrap();
            let mut schunk = open_frame(&path, &found).unwrap();
            schunk.append(&[2; 1000]).unwrap();
            schunk.close().unwrap();
            let result = rewrite(&path, (&found, &before), &[], &cli);
            assert!(
                matches!(result, Err(Failure::Error { text, .. }) if text.contains("was changed"))
            );
            let kept = entries(&path, &found, None).unwrap();
            assert_eq!(kept.len(), 1);
            assert_eq!(open_frame(&path, &found).unwrap().nchunks(), 2);
        }
    }
}
