//! `info`, `ls`, `cat`, `head` and `verify` on stores of python-blosc2, and on the objects in them
//! (`STORE:/key`). Values are printed as JSON, one item or row in each line.

use crate::cli::Command;
use crate::error::{Failure, Outcome};
use crate::info::worse;
use crate::json;
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc::escape::{escape, escape_json};
use ferroblosc_formats::store::{
    self, Attrs, Class, ContainerKind, Error, Finding, Node, Options, Severity, Store, StoreKind,
    Value,
};
use ferroblosc_tools_common::size::{exact, human};
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
struct Target {
    name: PathBuf,
    path: PathBuf,
    key: String,
}

/// What `cat` and `head` print.
struct Request<'a> {
    column: Option<&'a str>,
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
            .then(|| "'b2 verify' lists all faults of a store; b2 cannot repair them".to_owned());
        Failure::Error { text: error.to_string(), hint, status, names_path: false }
    }
}

/// Runs a command if all its arguments are stores or objects in stores; `None` otherwise.
pub fn run(command: &Command) -> Option<Outcome> {
    let all = |paths: &[PathBuf]| paths.iter().map(|path| target(path)).collect::<Option<Vec<_>>>();
    Some(match command {
        Command::Info(args) => info(&all(&args.paths)?, args.json),
        Command::Ls(args) if !args.chunks => ls(&all(&args.paths)?, args.recursive, args.json),
        Command::Verify(args) => verify(&all(&args.paths)?, args.json),
        Command::Cat(args) => {
            let request = Request {
                column: args.column.as_deref(),
                slice: args.slice.as_deref(),
                lines: u64::MAX,
                raw: args.raw,
            };
            let target = target(&args.path)?;
            check_dtype(args.dtype.as_deref()).and_then(|()| cat(&target, &request))
        }
        Command::Head(args) => {
            let column = args.column.as_deref();
            let request = Request { column, slice: None, lines: args.lines, raw: false };
            let target = target(&args.path)?;
            check_dtype(args.dtype.as_deref()).and_then(|()| cat(&target, &request))
        }
        _ => return None,
    })
}

fn check_dtype(dtype: Option<&str>) -> Outcome {
    match dtype {
        None => Ok(()),
        Some(_) => Err(Failure::usage("--dtype is not supported for objects in stores")),
    }
}

/// Splits an argument into a store and a key; `None` if it is no store.
fn target(name: &Path) -> Option<Target> {
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
    let key = if key.len() > 1 { key.trim_end_matches('/') } else { key };
    found(path, if key.is_empty() { "/" } else { key })
}

impl Target {
    fn open(&self) -> Result<Store, Failure> {
        Store::open(&self.path).map_err(|error| self.error(error))
    }

    fn error(&self, error: Error) -> Failure {
        Failure::from(error).at(&self.name)
    }
}

/// Calls `f` for each target. With several targets, prints an error and continues.
fn for_each(targets: &[Target], mut f: impl FnMut(&Target) -> Outcome) -> Outcome {
    let mut worst = None;
    for target in targets {
        match f(target) {
            Ok(()) => {}
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(failure) if targets.len() == 1 => return Err(failure),
            Err(failure) => {
                let status = match &failure {
                    Failure::Error { status, .. } | Failure::Reported(status) => *status,
                    Failure::BrokenPipe => 0,
                };
                crate::error::report(&failure);
                worst = Some(worst.map_or(status, |worst| worse(worst, status)));
            }
        }
    }
    worst.map_or(Ok(()), |status| Err(Failure::Reported(status)))
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
fn text_of(value: &Value) -> String {
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

fn finding_json(finding: &Finding) -> Json {
    json!({
        "path": finding.place,
        "chunk": null,
        "position": null,
        "what": finding.text,
        "note": finding.severity == Severity::Note,
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

fn info(targets: &[Target], is_json: bool) -> Outcome {
    let mut values = Vec::new();
    let mut is_first = true;
    let result = for_each(targets, |target| {
        let store = target.open()?;
        let node = store.node(&target.key).map_err(|error| target.error(error))?;
        let attrs = store.attrs(&target.key);
        let described = store.description(&target.key).map_err(|error| target.error(error))?;
        let table = match node.class {
            Class::Table => Some(store.table(&target.key).map_err(|error| target.error(error))?),
            _ => None,
        };
        let nodes = match node.class {
            Class::Group => store.walk(&target.key).map_err(|error| target.error(error))?,
            _ => Vec::new(),
        };
        let attrs = attrs.map_err(|error| target.error(error))?;
        if is_json {
            let mut value = node_json(&target.path, &node);
            value["path"] = target.name.to_string_lossy().into();
            value["kind"] = kind_name(&store).into();
            value["container"] = container_name(&store).into();
            value["objects"] = nodes.len().into();
            value["attributes"] = attrs_json(&attrs);
            value["description"] = described.as_ref().map_or(Json::Null, json_of);
            value["rows"] = table.as_ref().map(store::Table::len).into();
            value["columns"] = table.as_ref().map_or(json!([]), columns_json);
            value["findings"] = store.findings().iter().map(finding_json).collect();
            values.push(value);
            return Ok(());
        }
        let mut output = std::io::stdout().lock();
        if !std::mem::take(&mut is_first) {
            writeln!(output)?;
        }
        writeln!(output, "{}", Style::stdout().bold(&escape(&target.name.to_string_lossy())))?;
        let mut lines = vec![("class", node.class.name().to_owned())];
        if target.key == "/" {
            let text =
                format!("python-blosc2 {} store, {}", kind_name(&store), container_name(&store));
            lines.insert(0, ("format", text));
        }
        lines.extend(node_lines(&node));
        if !nodes.is_empty() {
            lines.push(("objects", counts(&nodes)));
        }
        if let Some(table) = &table {
            lines.push(("rows", format!("{} ({} stored)", table.len(), table.stored_rows())));
        }
        if let Some(described) = &described {
            lines.push(("description", text_of(described)));
        }
        for (name, value) in &attrs.entries {
            lines.push(("attribute", format!("{name}: {}", text_of(value))));
        }
        for (name, error) in &attrs.damaged {
            lines.push(("attribute", format!("{name}: {error}")));
        }
        for finding in store.findings() {
            lines.push(("finding", finding.to_string()));
        }
        for (label, text) in lines {
            writeln!(output, "  {label:<12} {}", escape(&text))?;
        }
        if let Some(table) = &table {
            let mut listing = Table::new(&[Alignment::Left; 3]);
            listing.add(["  column", "kind", "nulls"].map(str::to_owned).to_vec());
            for column in columns_json(table).as_array().into_iter().flatten() {
                let text = |key: &str| column[key].as_str().unwrap_or_default().to_owned();
                let nulls = if column["nullable"] == true { "allowed" } else { "-" };
                listing.add(vec![format!("  {}", text("name")), text("kind"), nulls.to_owned()]);
            }
            listing.write(&mut output, |heading| Style::stdout().faint(heading))?;
        }
        Ok(())
    });
    if is_json {
        json::print(&values.into())?;
    }
    result
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

fn shape_text(shape: &[i64]) -> String {
    let extents: Vec<u64> = shape.iter().map(|extent| extent.unsigned_abs()).collect();
    crate::info::tuple(&extents)
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

fn ls(targets: &[Target], is_recursive: bool, is_json: bool) -> Outcome {
    let mut values = Vec::new();
    let mut listing = Table::new(&[
        Alignment::Left,
        Alignment::Right,
        Alignment::Right,
        Alignment::Left,
        Alignment::Left,
    ]);
    let heading = ["class", "data", "stored", "content", "key"];
    listing.add(heading.map(str::to_owned).to_vec());
    let result = for_each(targets, |target| {
        let store = target.open()?;
        let nodes = store.walk(&target.key).map_err(|error| target.error(error))?;
        let depth = if target.key == "/" { 1 } else { target.key.matches('/').count() + 1 };
        for node in nodes {
            let is_shown = is_recursive
                || node.key == target.key
                || node.key.matches('/').count() == depth
                // Dict stores and embed stores have no groups.
                || store.kind() != StoreKind::Tree;
            if !is_shown {
                continue;
            }
            if is_json {
                values.push(node_json(&target.path, &node));
                continue;
            }
            let size = |size: Option<i64>| {
                size.map_or("-".to_owned(), |size| human(size.max(0).unsigned_abs()))
            };
            let content = content(&store, &node);
            let key = format!("{}:{}", target.path.display(), node.key);
            let class = node.class.name().to_owned();
            listing.add(vec![class, size(node.nbytes), size(node.cbytes), content, key]);
        }
        Ok(())
    });
    if is_json {
        json::print(&values.into())?;
    } else {
        let style = Style::stdout();
        listing.write(&mut std::io::stdout().lock(), |heading| style.faint(heading))?;
    }
    result
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
            match store.objects(&node.key).and_then(|objects| objects.len()) {
                Ok(len) => format!("{len} items"),
                Err(Error::Unsupported { why, .. }) => why,
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

fn verify(targets: &[Target], is_json: bool) -> Outcome {
    let mut values = Vec::new();
    let mut is_any_damaged = false;
    let result = for_each(targets, |target| {
        let store = target.open()?;
        store.node(&target.key).map_err(|error| target.error(error))?;
        let mut findings = store.verify().map_err(|error| target.error(error))?;
        if target.key != "/" {
            // Findings about a column are at the key of its table, followed by its name.
            findings.retain(|finding| {
                let rest = finding.place.strip_prefix(&target.key);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ' ', ':']))
            });
        }
        let faults = findings.iter().filter(|finding| finding.severity == Severity::Damage).count();
        is_any_damaged |= faults > 0;
        let has_checksums = store.container() == ContainerKind::Zip;
        if is_json {
            values.push(json!({
                "path": target.name.to_string_lossy(),
                "format": "store",
                "right": faults == 0,
                "damaged": faults > 0,
                "has_checksums": has_checksums,
                "chunks": null,
                "compared_with_checksums": 0,
                "faults": findings.iter().map(finding_json).collect::<Json>(),
            }));
            return Ok(());
        }
        let style = Style::stdout();
        let verdict = match faults {
            0 if has_checksums => style.good("right"),
            0 => style.good("structure is sound"),
            1 => style.bad("1 fault"),
            faults => style.bad(&format!("{faults} faults")),
        };
        let mut output = std::io::stdout().lock();
        let name = target.name.to_string_lossy();
        writeln!(output, "{}: {verdict}", style.bold(&escape(&name)))?;
        for finding in &findings {
            let mark = if finding.severity == Severity::Note { "note: " } else { "" };
            writeln!(output, "  {mark}{}", escape(&finding.to_string()))?;
        }
        Ok(())
    });
    if is_json {
        json::print(&values.into())?;
    }
    result?;
    if is_any_damaged { Err(Failure::Reported(status::CORRUPT)) } else { Ok(()) }
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
        let index = index(text)?;
        if index >= len {
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
    let mut output = BufWriter::with_capacity(256 << 10, std::io::stdout().lock());
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
    let mut rows = range_of(request, table.len())?;
    while !rows.is_empty() {
        let end = rows.end.min(rows.start + MAX_ROWS);
        if let Some(column) = request.column {
            print_lines(output, &table.values(column, rows.start..end)?)?;
        } else {
            let names = table.schema().columns.iter().map(|column| column.name.as_str());
            let names: Vec<Value> = names.map(|name| Value::Str(name.to_owned())).collect();
            for row in table.rows(rows.start..end)? {
                let row = Value::Map(names.iter().cloned().zip(row).collect());
                print_lines(output, &[row])?;
            }
        }
        rows.start = end;
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
    let mut rows = range_of(request, objects.len()?)?;
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
            let values = store::array_values(&array, rows.start..end, &Options::default())?;
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
