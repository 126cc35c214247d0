//! `info`, `ls` and `verify` on stores of python-blosc2, and on the objects in them (`STORE:/key`).

use crate::error::{Failure, Outcome};
use crate::io::Input;
use crate::plural::counted;
use crate::style::Style;
use crate::table::{Alignment, Table, short_dtype, tuple};
use ferroblosc::escape::{escape, escape_json};
use ferroblosc_formats::convert;
use ferroblosc_formats::store::{
    self, Attrs, Class, ContainerKind, Error, Finding, Node, Severity, Store, StoreKind, Value,
};
use ferroblosc_tools_common::size::exact;
use ferroblosc_tools_common::status;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// An argument: a store, and a key in it.
pub struct Target {
    name: PathBuf,
    path: PathBuf,
    /// The name of the store in messages, which is not its path if it is a copy of standard input.
    store_name: PathBuf,
    key: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            error if error.is_corruption() => status::CORRUPT,
            error if error.code() == ferroblosc::Error::CodecSupport => status::MISSING_PLUGIN,
            _ => status::ERROR,
        };
        let hint = (status == status::CORRUPT).then(|| {
            "'b2 verify' lists all faults of a store, 'b2 repair' writes a sound copy".to_owned()
        });
        Failure::Error { text: error.to_string(), hint, status, names_path: false }
    }
}

/// Replaces the path of a store without links in an error by its path on the command line.
pub fn with_given_path(failure: Failure, path: &Path) -> Failure {
    match std::fs::canonicalize(path) {
        Ok(full) => failure.of_target(&full, path),
        Err(_) => failure,
    }
}

/// Splits an argument into a store and a key; `None` if it is not a store.
pub fn target(name: &Path) -> Option<Target> {
    let found = |path: &Path, key: &str| {
        let (name, path, key) = (name.to_owned(), path.to_owned(), key.to_owned());
        Some(Target { name, store_name: path.clone(), path, key })
    };
    if name.exists() {
        return store::is_store(name).then(|| found(name, "/"))?;
    }
    // The path is a frame, too: it is a store with a single object.
    let (path, key) = convert::Location::splits(name).find(|(path, _)| path.exists())?;
    // Arrays in containers of other formats.
    if convert::detect(path).is_ok_and(|found| found.format.has_keys()) {
        return None;
    }
    let key = key.trim_end_matches('/');
    found(path, if key.is_empty() { "/" } else { key })
}

/// Whether a path is a store.
pub fn is_whole(path: &Path) -> bool {
    store::is_store(path)
}

/// Returns the target of an input; `None` if it is not a store.
pub fn target_of(input: &Input) -> Option<Target> {
    let target = target(input.path())?;
    if input.name() == input.path() {
        return Some(target);
    }
    // A copy of standard input has no key.
    let name = input.name().to_owned();
    Some(Target { store_name: name.clone(), name, ..target })
}

impl Target {
    /// Returns the target of an object.
    pub fn object(store: &Path, key: &str) -> Target {
        let name = format!("{}:{key}", store.display()).into();
        let (path, store_name) = (store.to_owned(), store.to_owned());
        Target { name, path, store_name, key: key.to_owned() }
    }

    /// Returns the name on the command line.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the path of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the key of the object.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether the argument is a store without a key.
    pub fn is_whole_store(&self) -> bool {
        self.name == self.store_name
    }

    /// Opens the store.
    pub fn open(&self) -> Result<Store, Failure> {
        Store::open(&self.path).map_err(|error| self.error(error))
    }

    /// Opens the store to read whole leaves: the CRC-32 of those in a zip file are compared. The
    /// columns of tables have no other checksums.
    pub fn open_to_read_all(&self) -> Result<Store, Failure> {
        let mut options = store::Options::default();
        options.check_crc = true;
        Store::open_with(&self.path, &options).map_err(|error| self.error(error))
    }

    /// Returns an error with the name of the target.
    pub fn error(&self, error: Error) -> Failure {
        self.at(Failure::from(error))
    }

    /// Adds the name of the target to an error.
    pub fn at(&self, failure: Failure) -> Failure {
        failure.of_target(&self.path, &self.store_name).at(&self.name)
    }
}

fn kind_name(store: &Store) -> &'static str {
    match store.kind() {
        StoreKind::Tree => "tree",
        StoreKind::Dict => "dict",
        StoreKind::Embed => "embed",
        _ => "object",
    }
}

fn container_name(store: &Store) -> &'static str {
    match store.container() {
        ContainerKind::Zip => "zip",
        ContainerKind::Directory => "directory",
        _ => "frame",
    }
}

/// Returns a JSON text with escapes for control characters.
pub fn text_of(value: &Value) -> String {
    escape_json(&value.to_json().to_spaced_json()).into_owned()
}

/// Converts a value to JSON. A value that JSON does not support, such as a list with NaN, becomes a
/// string.
fn json_of(value: &Value) -> Json {
    let text = value.to_json().to_json();
    serde_json::from_str(&text).unwrap_or(text.into())
}

fn attrs_json(attrs: &Attrs) -> Json {
    let entries = attrs.entries.iter().map(|(name, value)| (name.clone(), json_of(value)));
    entries.collect::<serde_json::Map<_, _>>().into()
}

/// Converts a finding to JSON.
pub fn finding_json(finding: &Finding) -> Json {
    json!({
        "path": finding.place,
        "chunk": null,
        "more": 0,
        "position": null,
        "what": finding.text,
        "note": finding.severity == Severity::Note,
        "checked": finding.severity != Severity::Unchecked,
        "needs": null,
    })
}

fn node_json(name: &Path, node: &Node) -> Json {
    json!({
        "path": format!("{}:{}", name.display(), node.key),
        "format": "store",
        "class": node.class.name(),
        "dtype": node.dtype,
        "shape": node.shape,
        "nbytes": node.nbytes,
        "stored_bytes": node.cbytes,
        "error": node.fault.as_ref().map(Error::to_string),
    })
}

/// Returns the columns of a table: name, kind and whether there can be nulls.
fn columns_json(table: &store::Table<'_>) -> Json {
    let columns = table.schema().columns.iter().map(|column| {
        json!({"name": column.name, "kind": column.kind.name(), "nullable": column.nullable})
    });
    let computed = table
        .schema()
        .computed
        .iter()
        .map(|computed| json!({"name": computed.name, "kind": "computed", "nullable": false}));
    columns.chain(computed).collect()
}

/// A description of a store, or of an object in it.
pub struct Description {
    target: Target,
    node: Node,
    attrs: Attrs,
    description: Option<Value>,
    /// The objects below a group.
    nodes: Vec<Node>,
    store: Store,
}

impl Description {
    /// Describes a target.
    pub fn of(target: Target) -> Result<Description, Failure> {
        let store = target.open()?;
        let read = || {
            let node = store.node(&target.key)?;
            let nodes = match node.class {
                Class::Group => store.walk(&target.key)?,
                _ => Vec::new(),
            };
            let described = store.description(&target.key)?;
            Ok((node, nodes, described, store.attrs(&target.key).unwrap_or_default()))
        };
        let (node, nodes, description, attrs) = read().map_err(|error| target.error(error))?;
        Ok(Description { node, attrs, description, nodes, store, target })
    }

    fn table(&self) -> Result<Option<store::Table<'_>>, Failure> {
        if self.node.class != Class::Table {
            return Ok(None);
        }
        let table = self.store.table(&self.target.key);
        table.map(Some).map_err(|error| self.target.error(error))
    }

    /// Converts the description to JSON.
    pub fn to_json(&self) -> Result<Json, Failure> {
        let table = self.table()?;
        let mut value = node_json(&self.target.store_name, &self.node);
        value["path"] = self.target.name.to_string_lossy().into();
        value["kind"] = kind_name(&self.store).into();
        value["container"] = container_name(&self.store).into();
        value["objects"] = self.nodes.len().into();
        value["attributes"] = attrs_json(&self.attrs);
        value["description"] = self.description.as_ref().map_or(Json::Null, json_of);
        value["rows"] = table.as_ref().map(store::Table::len).into();
        value["columns"] = table.as_ref().map_or(json!([]), columns_json);
        value["findings"] = self.store.findings().iter().map(finding_json).collect();
        Ok(value)
    }

    /// Writes the description as text.
    pub fn show(&self, output: &mut impl Write, style: Style) -> Outcome {
        let table = self.table()?;
        writeln!(output, "{}", style.bold(&escape(&self.target.name.to_string_lossy())))?;
        let mut lines = vec![("class", self.node.class.name().to_owned())];
        if self.target.key == "/" {
            lines.insert(0, ("format", title(&self.store)));
        }
        lines.extend(node_lines(&self.node));
        if !self.nodes.is_empty() {
            lines.push(("objects", counts(&self.nodes)));
        }
        if let Some(table) = &table {
            lines.push(("rows", format!("{} ({} stored)", table.len(), table.stored_rows())));
        }
        if let Some(described) = &self.description {
            lines.push(("description", text_of(described)));
        }
        for (name, value) in &self.attrs.entries {
            lines.push(("attribute", format!("{name}: {}", text_of(value))));
        }
        for (name, error) in &self.attrs.damaged {
            lines.push(("attribute", format!("{name}: {error}")));
        }
        for finding in self.store.findings() {
            lines.push(("finding", finding.to_string()));
        }
        for (label, text) in lines {
            writeln!(output, "  {label:<12} {}", escape(&text))?;
        }
        let Some(table) = &table else {
            return Ok(());
        };
        let mut listing = Table::new(&[Alignment::Left; 3]);
        listing.add(["  column", "kind", "nulls"].map(str::to_owned).to_vec());
        for column in columns_json(table).as_array().into_iter().flatten() {
            let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
            let nulls = if column["nullable"] == true { "allowed" } else { "-" };
            listing.add(vec![format!("  {}", text("name")), text("kind"), nulls.to_owned()]);
        }
        Ok(listing.write(output, |heading| style.faint(heading))?)
    }
}

/// Returns the title of a store.
fn title(store: &Store) -> String {
    format!("python-blosc2 {} store, {}", kind_name(store), container_name(store))
}

fn node_lines(node: &Node) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(dtype) = &node.dtype {
        lines.push(("type", dtype.clone()));
    }
    if let Some(shape) = &node.shape {
        lines.push(("shape", shape_text(shape)));
    }
    if let Some(nbytes) = node.nbytes {
        lines.push(("data", exact(nbytes.max(0).unsigned_abs())));
    }
    if let Some(cbytes) = node.cbytes {
        lines.push(("stored", exact(cbytes.max(0).unsigned_abs())));
    }
    if let Some(fault) = &node.fault {
        lines.push(("error", fault.to_string()));
    }
    lines
}

pub fn shape_text(shape: &[i64]) -> String {
    let extents: Vec<u64> = shape.iter().map(|extent| extent.unsigned_abs()).collect();
    tuple(&extents)
}

/// Returns the number of objects of each class, in the order of their first object.
fn counts(nodes: &[Node]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for node in nodes {
        let name = node.class.name();
        match counts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let texts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    texts.join(", ")
}

/// A row of a listing: an object of a store.
pub struct Row {
    /// The store and the key.
    pub name: String,
    /// The class, or `store`.
    pub class: &'static str,
    /// The uncompressed and the compressed size, in bytes.
    pub sizes: (Option<i64>, Option<i64>),
    /// The type and shape, or the reason why the object is unreadable.
    pub content: String,
    /// The row as JSON.
    pub json: Json,
}

/// Returns the objects below a target, or the target itself if it is not a group.
pub fn rows(target: &Target, is_recursive: bool) -> Result<Vec<Row>, Failure> {
    let store = target.open()?;
    let nodes = store.walk(&target.key).map_err(|error| target.error(error))?;
    let depth = if target.key == "/" { 1 } else { target.key.matches('/').count() + 1 };
    // Dict stores and embed stores have no groups.
    let is_shown = |node: &&Node| {
        is_recursive
            || node.key == target.key
            || node.key.matches('/').count() == depth
            || store.kind() != StoreKind::Tree
    };
    let row = |node: &Node| Row {
        name: format!("{}:{}", target.store_name.display(), node.key),
        class: node.class.name(),
        sizes: (node.nbytes, node.cbytes),
        content: content(&store, node),
        json: node_json(&target.store_name, node),
    };
    Ok(nodes.iter().filter(is_shown).map(row).collect())
}

/// Returns the row of a whole store.
pub fn row(target: &Target) -> Result<Row, Failure> {
    let store = target.open()?;
    let node = store.node("/").map_err(|error| target.error(error))?;
    let mut json = node_json(&target.store_name, &node);
    json["path"] = target.name.to_string_lossy().into();
    let name = target.name.display().to_string();
    let sizes = (node.nbytes, node.cbytes);
    Ok(Row { name, class: "store", sizes, content: title(&store), json })
}

/// Returns the type and shape of an object, or the reason why it is unreadable.
fn content(store: &Store, node: &Node) -> String {
    if let Some(fault) = &node.fault {
        return format!("unreadable: {fault}");
    }
    match node.class {
        Class::Table => match store.table(&node.key) {
            Ok(table) => {
                let columns = counted(table.schema().columns.len(), "column");
                format!("{}, {columns}", counted(table.len(), "row"))
            }
            Err(error) => format!("unreadable: {error}"),
        },
        Class::ObjectArray | Class::BatchArray | Class::ListArray => {
            // Items of batches are counted by decompressing them.
            match store.objects(&node.key) {
                Ok(objects) if objects.is_batched() => {
                    format!("{} batches, {}", objects.nbatches(), objects.serializer())
                }
                Ok(objects) => match objects.len() {
                    Ok(len) => format!("{len} items"),
                    Err(error) => format!("unreadable: {error}"),
                },
                Err(error) => format!("unreadable: {error}"),
            }
        }
        _ => {
            let dtype = node.dtype.as_deref().map(short_dtype).unwrap_or_default();
            let shape = node.shape.as_deref().map(shape_text).unwrap_or_default();
            format!("{dtype} {shape}").trim().to_owned()
        }
    }
}

/// The findings of the verification of a store, or of an object in it.
pub struct Verified {
    target: Target,
    findings: Vec<Finding>,
    has_checksums: bool,
}

impl Verified {
    /// Verifies a target.
    pub fn of(target: Target) -> Result<Verified, Failure> {
        let store = target.open()?;
        let read = || store.node(&target.key).and_then(|_| store.verify());
        let mut findings = read().map_err(|error| target.error(error))?;
        if target.key != "/" {
            // Findings about a column are at the key of its table, followed by its name.
            findings.retain(|finding| {
                let rest = finding.place.strip_prefix(&target.key);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ' ', ':']))
            });
        }
        let has_checksums = store.container() == ContainerKind::Zip;
        Ok(Verified { target, findings, has_checksums })
    }

    fn faults(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Damage).count()
    }

    /// Whether values were not checked.
    fn is_partial(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Unchecked)
    }

    /// Returns the exit status, or `None` if all values were checked and there is no damage.
    pub fn status(&self) -> Option<u8> {
        match self.faults() {
            0 => self.is_partial().then_some(status::ERROR),
            _ => Some(status::CORRUPT),
        }
    }

    /// Converts the findings to JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "path": self.target.name.to_string_lossy(),
            "format": "store",
            "right": self.faults() == 0 && !self.is_partial(),
            "damaged": self.faults() > 0,
            "has_checksums": self.has_checksums,
            "chunks": null,
            "compared_with_checksums": 0,
            "faults": self.findings.iter().map(finding_json).collect::<Json>(),
        })
    }

    /// Writes the findings as text.
    pub fn show(&self, output: &mut impl Write) -> Outcome {
        let style = Style::stdout();
        let verdict = match self.faults() {
            0 if self.is_partial() => style.bad("not checked completely"),
            0 if self.has_checksums => style.good("right"),
            0 => style.good("the structure is valid"),
            1 => style.bad("1 fault"),
            faults => style.bad(&format!("{faults} faults")),
        };
        let name = self.target.name.to_string_lossy();
        writeln!(output, "{}: {verdict}", style.bold(&escape(&name)))?;
        for finding in &self.findings {
            let mark = match finding.severity {
                Severity::Note => "note: ",
                Severity::Unchecked => "not checked: ",
                _ => "",
            };
            writeln!(output, "  {mark}{}", escape(&finding.to_string()))?;
        }
        Ok(())
    }
}
