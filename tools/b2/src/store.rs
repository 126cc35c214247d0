//! `info`, `ls`, `cat`, `head` and `verify` on stores of python-blosc2, and on the objects in them
//! (`STORE:/key`). Values are printed as JSON, one item or row in each line.

use crate::cli::{Command, TextArgs};
use crate::error::{Failure, Outcome};
use crate::io::Input;
use crate::style::Style;
use crate::table::{Alignment, Table, tuple};
use ferroblosc::escape::{escape, escape_json};
use ferroblosc_formats::convert;
use ferroblosc_formats::store::{
    self, Attrs, Class, ContainerKind, Error, Filter, Finding, Node, Options, QueryOptions,
    Severity, Store, StoreKind, Value,
};
use ferroblosc_tools_common::size::exact;
use ferroblosc_tools_common::status;
use serde_json::{Value as Json, json};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The maximum number of rows that are read at once.
const MAX_ROWS: u64 = 1 << 12;
/// The number of bytes of array items that are read at once, unless a row is larger.
const BUFFER_SIZE: u64 = 4 << 20;

/// An argument: a store, and a key in it.
pub struct Target {
    name: PathBuf,
    path: PathBuf,
    key: String,
}

/// What `cat` and `head` print.
struct Request<'a> {
    /// The columns, separated by commas.
    column: Option<&'a str>,
    /// The condition that the rows of a table satisfy.
    condition: Option<&'a str>,
    /// The rows as text, `START:STOP` or an index.
    slice: Option<&'a str>,
    /// The maximum number of rows.
    lines: u64,
    raw: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            error if error.is_corruption() => status::CORRUPT,
            error if error.code() == ferroblosc::Error::CodecSupport => status::MISSING_PLUGIN,
            _ => status::ERROR,
        };
        let hint = (status == status::CORRUPT)
            .then(|| "'b2 verify' lists all faults of a store, 'b2 repair' mends it".to_owned());
        Failure::Error { text: error.to_string(), hint, status, names_path: false }
    }
}

/// Runs `cat` or `head` if the argument is a store or an object in a store; `None` otherwise.
pub fn run(command: &Command) -> Option<Outcome> {
    let (path, dtype, text, request) = match command {
        Command::Cat(args) => {
            let request = Request {
                column: args.column.as_deref(),
                condition: args.condition.as_deref(),
                slice: args.slice.as_deref(),
                lines: u64::MAX,
                raw: args.raw,
            };
            (&args.path, &args.dtype, &args.text, request)
        }
        Command::Head(args) => {
            let column = args.column.as_deref();
            let condition = args.condition.as_deref();
            let request = Request { column, condition, slice: None, lines: args.lines, raw: false };
            (&args.path, &args.dtype, &args.text, request)
        }
        _ => return None,
    };
    let target = target(path)?;
    Some(check_options(dtype.as_deref(), text).and_then(|()| cat(&target, &request)))
}

/// Objects in stores are printed as JSON, one line for each row, with all digits and no indices.
fn check_options(dtype: Option<&str>, text: &TextArgs) -> Outcome {
    let refused = [
        ("--dtype", dtype.is_some()),
        ("--csv", text.csv),
        ("--precision", text.precision.is_some()),
    ];
    match refused.into_iter().find(|&(_, is_set)| is_set) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} is not supported for objects in stores")))
        }
    }
}

/// Splits an argument into a store and a key; `None` if it is no store.
pub fn target(name: &Path) -> Option<Target> {
    let found = |path: &Path, key: &str| {
        let (name, path, key) = (name.to_owned(), path.to_owned(), key.to_owned());
        Some(Target { name, path, key })
    };
    if name.exists() {
        return store::is_store(name).then(|| found(name, "/"))?;
    }
    let text = name.to_str()?;
    let splits = text.match_indices(":/").map(|(at, _)| (Path::new(&text[..at]), &text[at + 1..]));
    // The path is a frame, too: it is a store with a single object.
    let (path, key) = splits.into_iter().find(|(path, _)| path.exists())?;
    // Arrays in containers of other formats.
    if convert::detect(path).is_ok_and(|found| found.format.has_keys()) {
        return None;
    }
    let key = if key.len() > 1 { key.trim_end_matches('/') } else { key };
    found(path, if key.is_empty() { "/" } else { key })
}

/// Whether a path is a store.
pub fn is_whole(path: &Path) -> bool {
    store::is_store(path)
}

/// Returns the target of an input; `None` if it is no store.
pub fn target_of(input: &Input) -> Option<Target> {
    let target = target(input.path())?;
    Some(Target { name: input.name().to_owned(), ..target })
}

impl Target {
    /// Returns the target of an object.
    pub fn object(store: &Path, key: &str) -> Target {
        let name = format!("{}:{key}", store.display()).into();
        Target { name, path: store.to_owned(), key: key.to_owned() }
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
        self.name == self.path
    }

    /// Opens the store.
    pub fn open(&self) -> Result<Store, Failure> {
        Store::open(&self.path).map_err(|error| self.error(error))
    }

    /// Returns an error with the name of the target.
    pub fn error(&self, error: Error) -> Failure {
        self.at(Failure::from(error))
    }

    /// Adds the name of the target to an error.
    pub fn at(&self, failure: Failure) -> Failure {
        failure.at(&self.name)
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
        let mut value = node_json(&self.target.path, &self.node);
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

/// Returns the objects below a target, or the target itself if it is no group.
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
        name: format!("{}:{}", target.path.display(), node.key),
        class: node.class.name(),
        sizes: (node.nbytes, node.cbytes),
        content: content(&store, node),
        json: node_json(&target.path, node),
    };
    Ok(nodes.iter().filter(is_shown).map(row).collect())
}

/// Returns the row of a whole store.
pub fn row(target: &Target) -> Result<Row, Failure> {
    let store = target.open()?;
    let node = store.node("/").map_err(|error| target.error(error))?;
    let mut json = node_json(&target.path, &node);
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
                format!("{} rows, {} columns", table.len(), table.schema().columns.len())
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
            let dtype = node.dtype.clone().unwrap_or_default();
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
            0 => style.good("structure is sound"),
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

/// Returns the range of a slice of `len` rows.
fn range_of(request: &Request<'_>, len: u64) -> Result<Range<u64>, Failure> {
    let Some(text) = request.slice.filter(|text| !text.trim().is_empty()) else {
        return Ok(0..len.min(request.lines));
    };
    let invalid = || {
        Failure::usage(format!("--slice '{text}': in stores, it is START:STOP or an index of rows"))
    };
    let index = |text: &str| -> Result<u64, Failure> {
        let index: i64 = text.trim().parse().map_err(|_| invalid())?;
        Ok(match index {
            0.. => index.unsigned_abs(),
            _ => len.saturating_sub(index.unsigned_abs()),
        })
    };
    let Some((start, stop)) = text.split_once(':') else {
        let is_before = text
            .trim()
            .strip_prefix('-')
            .is_some_and(|text| text.parse::<u64>().is_ok_and(|index| index > len));
        let index = index(text)?;
        if index >= len || is_before {
            let text = format!("--slice '{text}': the index is out of range for {len} rows");
            return Err(Failure::usage(text));
        }
        return Ok(index..index + 1);
    };
    let bound = |text: &str, default| {
        if text.trim().is_empty() { Ok(default) } else { Ok(index(text)?.min(len)) }
    };
    let start = bound(start, 0)?;
    let stop: Result<u64, Failure> = bound(stop, len);
    Ok(start..stop?.max(start))
}

fn cat(target: &Target, request: &Request<'_>) -> Outcome {
    let store = target.open()?;
    let class = store.class(&target.key).map_err(|error| target.error(error))?;
    if request.column.is_some() && class != Class::Table {
        return Err(Failure::new("only tables have columns").at(&target.name));
    }
    if request.condition.is_some() && (class != Class::Table || request.raw) {
        return Err(Failure::new("--where selects rows of tables").at(&target.name));
    }
    let mut output = BufWriter::with_capacity(256 << 10, crate::io::stdout());
    let printed = match class {
        Class::Table if !request.raw => print_table(&mut output, &store, target, request),
        Class::NdArray => print_array(&mut output, &store, target, request),
        Class::ObjectArray | Class::BatchArray | Class::ListArray if !request.raw => {
            print_objects(&mut output, &store, target, request)
        }
        Class::SChunk if request.raw => print_bytes(&mut output, &store, target),
        Class::SChunk => {
            let text = "a super-chunk has no type";
            Err(Failure::new(text).with_hint("'--raw' prints its bytes"))
        }
        Class::Table | Class::ObjectArray | Class::BatchArray | Class::ListArray => {
            Err(Failure::new(format!("a {} has no raw bytes", class.name())))
        }
        Class::EmbedStore if target.key != "/" => {
            let hint = "b2 does not list the keys of embed stores in other stores";
            Err(Failure::new("an EmbedStore has no values").with_hint(hint))
        }
        Class::Group | Class::EmbedStore => {
            let hint = format!("'b2 ls -r {}' lists the keys", target.name.display());
            Err(Failure::new(format!("a {} has no values", class.name())).with_hint(hint))
        }
        Class::Damaged => match store.leaf(&target.key) {
            Err(error) => Err(error.into()),
            Ok(_) => Err(Failure::new("the leaf changed while it was read")),
        },
        _ => {
            let (key, class) = (target.key.clone(), class.name());
            Err(Error::NotData { key, class }.into())
        }
    };
    printed.map_err(|failure| failure.at(&target.name))?;
    Ok(output.flush()?)
}

fn print_lines(output: &mut impl Write, values: &[Value]) -> Outcome {
    for value in values {
        writeln!(output, "{}", text_of(value))?;
    }
    Ok(())
}

fn print_table(
    output: &mut impl Write,
    store: &Store,
    target: &Target,
    request: &Request<'_>,
) -> Outcome {
    let table = store.table(&target.key)?;
    let columns = columns_of(&table, request.column);
    let Some(condition) = request.condition else {
        let mut rows = range_of(request, table.len())?;
        while !rows.is_empty() {
            let end = rows.end.min(rows.start + MAX_ROWS);
            let part = rows.start..end;
            match &columns[..] {
                [] => print_rows(output, &names_of(&table), table.rows(part).map_err(unreadable)?)?,
                [column] => print_lines(output, &table.values(column, part)?)?,
                names => {
                    let values = names.iter().map(|name| table.values(name, part.clone()));
                    print_columns(output, names, values.collect::<store::Result<_>>()?)?;
                }
            }
            rows.start = end;
        }
        return Ok(());
    };
    let filter = Filter::parse(condition).map_err(|error| {
        let hint = "conditions are like 'a > 3 and (b == \"x\" or c is null)'";
        Failure::usage(format!("--where: {error}")).replacing_hint(hint)
    })?;
    let mut options = QueryOptions::default();
    options.limit = request.lines;
    let found = table.find(&filter, &options)?.rows;
    let rows = range_of(request, found.len() as u64)?;
    let at = |row: u64| usize::try_from(row).unwrap_or(usize::MAX);
    let names = if columns.is_empty() { names_of(&table) } else { columns };
    for part in found[at(rows.start)..at(rows.end)].chunks(at(MAX_ROWS)) {
        let values = names.iter().map(|name| table.pick(name, part));
        let mut values = values.collect::<store::Result<Vec<_>>>().map_err(unreadable)?;
        match (request.column, &names[..]) {
            (Some(_), [_]) => print_lines(output, &values.swap_remove(0))?,
            _ => print_columns(output, &names, values)?,
        }
    }
    Ok(())
}

fn unreadable(error: Error) -> Failure {
    let hint = "'--column NAME' prints one column, also if others are unreadable";
    Failure::from(error).with_hint(hint)
}

/// Returns the names in a list of columns; none without a list.
fn columns_of(table: &store::Table<'_>, list: Option<&str>) -> Vec<String> {
    match list {
        None => Vec::new(),
        // The name of a column can contain commas.
        Some(name) if table.schema().position(name).is_some() => vec![name.to_owned()],
        Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
    }
}

/// Returns the names of the stored columns.
fn names_of(table: &store::Table<'_>) -> Vec<String> {
    table.schema().columns.iter().map(|column| column.name.clone()).collect()
}

/// Prints the values of columns, one row in each line.
fn print_columns(output: &mut impl Write, names: &[String], columns: Vec<Vec<Value>>) -> Outcome {
    let rows = columns.first().map_or(0, Vec::len);
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let row = |_| columns.iter_mut().filter_map(Iterator::next).collect();
    print_rows(output, names, (0..rows).map(row))
}

fn print_rows(
    output: &mut impl Write,
    names: &[String],
    rows: impl IntoIterator<Item = Vec<Value>>,
) -> Outcome {
    let names: Vec<Value> = names.iter().map(|name| Value::Str(name.clone())).collect();
    for row in rows {
        print_lines(output, &[Value::Map(names.iter().cloned().zip(row).collect())])?;
    }
    Ok(())
}

fn print_objects(
    output: &mut impl Write,
    store: &Store,
    target: &Target,
    request: &Request<'_>,
) -> Outcome {
    let objects = store.objects(&target.key)?;
    let len = match request.slice {
        Some(_) => objects.len()?,
        None => objects.len_within(request.lines)?,
    };
    let mut rows = range_of(request, len)?;
    while !rows.is_empty() {
        let end = rows.end.min(rows.start + MAX_ROWS);
        print_lines(output, &objects.items(rows.start..end)?)?;
        rows.start = end;
    }
    Ok(())
}

fn print_array(
    output: &mut impl Write,
    store: &Store,
    target: &Target,
    request: &Request<'_>,
) -> Outcome {
    let array = store.array(&target.key)?;
    let shape = array.shape();
    let len = shape.first().map_or(1, |extent| extent.unsigned_abs());
    let mut rows = range_of(request, len)?;
    let typesize = u64::from(array.schunk().typesize().unsigned_abs());
    let row_size = shape
        .iter()
        .skip(1)
        .fold(typesize, |size, extent| size.saturating_mul(extent.unsigned_abs()));
    let limit = Options::default().max_message;
    if row_size > limit {
        let what = format!("{}: a row has {row_size} bytes", target.key);
        return Err(Error::Limit { what, limit }.into());
    }
    let step = (BUFFER_SIZE / row_size.max(1)).max(1);
    while !rows.is_empty() {
        let end = rows.end.min(rows.start.saturating_add(step));
        if request.raw {
            let mut start = vec![0; shape.len()];
            let mut stop = shape.clone();
            if let (Some(first), Some(last)) = (start.first_mut(), stop.first_mut()) {
                let at = |row: u64| i64::try_from(row).map_err(|_| ferroblosc::Error::MemoryAlloc);
                (*first, *last) = (at(rows.start)?, at(end)?);
            }
            output.write_all(&array.get_slice(&start, &stop)?)?;
        } else {
            let values =
                store::array_values(&target.key, &array, rows.start..end, &Options::default())?;
            print_lines(output, &values)?;
        }
        rows.start = end;
    }
    Ok(())
}

fn print_bytes(output: &mut impl Write, store: &Store, target: &Target) -> Outcome {
    let leaf = store.leaf(&target.key)?;
    let schunk = leaf.schunk();
    for nchunk in 0..schunk.nchunks() {
        let chunk = schunk.chunk(nchunk)?;
        let size = ferroblosc::chunk::sizes(&chunk)?.nbytes;
        let size = usize::try_from(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
        bytes.resize(size, 0);
        let filled = schunk.decompress(nchunk, &mut bytes)?;
        output.write_all(&bytes[..filled])?;
    }
    Ok(())
}
