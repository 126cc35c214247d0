//! `get`, `put` and `rm`, and `convert` and `repair` of stores of python-blosc2.

use crate::cli::{Cli, ConvertArgs, GetArgs, OutputFormat, PutArgs, RepairArgs, RmArgs};
use crate::error::{self, Failure, Outcome};
use crate::field;
use crate::io::{
    Input, Output, STDIO, refuse_directory_name, refuse_nesting, refuse_terminal, temporary_folder,
};
use crate::json;
use crate::names::check_frame_name;
use crate::options::{self, OutputKind};
use crate::paths;
use crate::plural::with_article;
use crate::settings;
use crate::state::state_of_all;
use crate::store::{self, Target, finding_json};
use crate::style::Style;
use crate::tables;
use ferroblosc::escape::escape;
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{self, Destination, Format, Reading, SourceOptions, Writing};
use ferroblosc_formats::store::{
    Class, ContainerKind, Converted, Error, NewLeaf, Severity, Store, StoreWriter, WriteOptions,
};
use ferroblosc_tools_common::staging::{Folder, Staged};
use ferroblosc_tools_common::status;
use serde_json::{Value as Json, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Returns the container of stores with this suffix.
fn container_of_name(path: &Path) -> Option<ContainerKind> {
    match path.extension()?.to_str()? {
        "b2z" => Some(ContainerKind::Zip),
        "b2d" => Some(ContainerKind::Directory),
        "b2e" => Some(ContainerKind::Frame),
        _ => None,
    }
}

/// Whether the name of a file has the suffix of stores.
pub fn is_store_name(path: &Path) -> bool {
    container_of_name(path).is_some()
}

/// Returns the container that `convert` writes; `None` if it writes no store.
fn container(args: &ConvertArgs) -> Option<ContainerKind> {
    match args.to {
        Some(OutputFormat::B2z) => Some(ContainerKind::Zip),
        Some(OutputFormat::B2d) => Some(ContainerKind::Directory),
        Some(OutputFormat::B2e) => Some(ContainerKind::Frame),
        Some(_) => None,
        None => container_of_name(&args.output),
    }
}

fn options(container: Option<ContainerKind>) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.container = container;
    options
}

/// Returns the options of the store that `convert` writes.
pub fn store_options(args: &ConvertArgs) -> Result<WriteOptions, Failure> {
    let mut options = options(container(args));
    let threshold = args.embed.as_deref().map(|text| settings::size("--embed", text));
    options.threshold = threshold.transpose()?;
    Ok(options)
}

/// Returns a store on the command line without a key.
fn whole_store(path: &Path) -> Result<Target, Failure> {
    match store::target(path) {
        Some(target) if target.key() == "/" && path.exists() => Ok(target),
        Some(_) => Err(Failure::usage("the key is a separate argument: STORE KEY")),
        None => Err(no_store(path)),
    }
}

/// Returns the error of a path that is not a store: the reason why it cannot be opened, if there is
/// one.
fn no_store(path: &Path) -> Failure {
    match std::fs::metadata(path) {
        // Opening a FIFO would wait.
        Ok(found) if found.is_file() || found.is_dir() => {}
        Ok(_) => return Failure::new("is not a store").at(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Failure::new("does not exist").at(path);
        }
        Err(error) => return named(error, ferroblosc::Error::FileOpen, "open", path).into(),
    }
    match std::fs::File::open(path) {
        Ok(_) => Failure::new("is not a store").at(path),
        Err(error) => named(error, ferroblosc::Error::FileOpen, "open", path).into(),
    }
}

/// Extracts an object or a group.
pub fn get(args: &GetArgs) -> Outcome {
    let target = whole_store(&args.store)?;
    refuse_nesting(target.path(), &args.key, &args.output)?;
    let store = target.open()?;
    let class = store.class(&args.key).map_err(|error| target.error(error))?;
    let is_store = matches!(class, Class::Group | Class::Table);
    if is_store && args.output == Path::new(STDIO) {
        return Err(Failure::usage("only single objects are written to standard output"));
    }
    if !is_store {
        refuse_directory_name(&args.output)?;
        check_frame_name(&args.output)?;
    }
    if args.output == Path::new(STDIO) {
        refuse_terminal(args.force)?;
    }
    let output = Output::new(&args.output, args.force)?;
    let extracted = store.extract(&args.key, output.path(), &options(None));
    let extracted = extracted.map_err(|error| output.error(target.error(error)))?;
    warn(&args.output, &extracted);
    output.commit()
}

fn warn(path: &Path, converted: &Converted) {
    for text in &converted.left_out {
        error::warn(&format!("{}: not kept: {text}", path.display()));
    }
}

/// Returns an error of a store that is changed.
fn error_of_store(path: &Path, error: Error) -> Failure {
    store::with_given_path(Failure::from(error), path).at(path)
}

/// Opens a store to change it, or creates it if its suffix is that of a store.
fn open_to_change(path: &Path, creates: bool) -> Result<StoreWriter, Failure> {
    let is_missing = path.symlink_metadata().is_err();
    let opened = if is_missing && creates {
        Store::create(path)
    } else if is_missing {
        return Err(Failure::new("does not exist").at(path));
    } else {
        Store::change(path)
    };
    opened.map_err(|error| error_of_store(path, error))
}

/// Adds the data of a file to a store.
pub fn put(args: &PutArgs, cli: &Cli) -> Outcome {
    let at_path = |error| error_of_store(&args.store, error);
    let mut writer = open_to_change(&args.store, true)?;
    let (leaf, _folder) = new_leaf(args, cli)?;
    let added =
        if args.force { writer.replace(&args.key, leaf) } else { writer.put(&args.key, leaf) };
    added.map_err(|error| {
        let exists = matches!(error, Error::KeyExists(_)) && !args.force;
        let failure = at_path(error);
        if exists { failure.with_hint("'--force' replaces it") } else { failure }
    })?;
    writer.commit().map_err(at_path)
}

/// Returns the leaf for the frame in a file. Damaged frames are an error: a store may have checksums
/// of its own, which must not certify them.
fn intact_leaf(input: &Input) -> Result<NewLeaf, Failure> {
    let leaf = NewLeaf::file(input.path()).and_then(|mut leaf| {
        leaf.verify(&input.name().to_string_lossy())?;
        Ok(leaf)
    });
    // The hints of errors of stores are about stores.
    leaf.map_err(|error| input.error(convert::Error::from(error)))
}

/// Returns the leaf for a file: an unchanged contiguous frame, data of other formats as an array,
/// if they have a type and a shape, or as a frame. The directory holds the file until the commit.
fn new_leaf(args: &PutArgs, cli: &Cli) -> Result<(NewLeaf, Option<Folder>), Failure> {
    let input = Input::new(&args.file)?;
    if store::target(input.path()).is_some_and(|target| target.key() == "/") {
        // Embed stores are frames.
        if Store::open(input.path()).is_ok_and(|store| store.container() == ContainerKind::Frame) {
            if args.column.is_some() {
                return Err(input.error(convert::Error::NoColumns));
            }
            return Ok((intact_leaf(&input)?, None));
        }
        let failure = Failure::new("a zip file or directory cannot be added to a store");
        return Err(input.error(failure.with_hint("'b2 get' extracts the objects in it")));
    }
    let mut found = input.detect()?;
    let (mut input, mut column, mut params) = (input, args.column.clone(), None);
    if let Some(name) = column.take_if(|_| found.format != Format::Ctable) {
        let field = field::extract(&input, &found, &name, (cli.nthreads(), cli.quiet))?;
        for lost in field.lost {
            error::warn(&format!("{}: not kept: {lost}", args.key));
        }
        (input, params) = (field.input, field.params);
        found = input.detect()?;
    }
    let is_frame = matches!(found.format, Format::Frame | Format::B2nd);
    let is_stdin = args.file == Path::new(STDIO);
    if is_frame && !found.is_directory && !found.is_legacy && !is_stdin {
        return Ok((intact_leaf(&input)?, None));
    }
    let folder = temporary_folder()?;
    let path = folder.path("leaf");
    let summary = convert::summarise(input.path(), &found).map_err(|error| input.error(error))?;
    let is_plain = match found.format {
        Format::Frame | Format::Blosc1 | Format::Blosc2 => true,
        _ => summary.array.is_none(),
    };
    let destination = if is_plain {
        Destination::Frame { directory: false }
    } else {
        Destination::B2nd { directory: false }
    };
    let mut reading = Reading::with_threads(cli.nthreads());
    reading.column.clone_from(&column);
    let mut writing = Writing::default();
    writing.compression = params;
    writing.checksums = true;
    writing.nthreads = cli.nthreads();
    let converted = convert::convert(
        (input.path(), &found),
        (&path, destination),
        (&reading, &SourceOptions::default()),
        &writing,
        &mut |_| {},
    );
    let converted = converted.map_err(|error| {
        let failure = input.error(error).of_target(&path, &crate::io::temporary_name(input.name()));
        match (found.format, column.is_some()) {
            (Format::Ctable, false) => failure.with_hint("select a column with '--column NAME'"),
            _ => failure,
        }
    })?;
    for lost in &converted.lost {
        error::warn(&format!("{}: not kept: {lost}", args.key));
    }
    let leaf = NewLeaf::file(&path).map_err(|error| input.error(error))?;
    Ok((leaf, Some(folder)))
}

/// Deletes objects and groups, all of them or none.
pub fn rm(args: &RmArgs) -> Outcome {
    let at_path = |error| error_of_store(&args.store, error);
    let mut writer = open_to_change(&args.store, false)?;
    args.keys.iter().try_for_each(|key| writer.delete(key)).map_err(at_path)?;
    writer.commit().map_err(at_path)
}

/// Whether `convert` writes a store.
pub fn is_store_output(args: &ConvertArgs) -> bool {
    container(args).is_some()
}

/// Runs `convert` if the input or the output is a store; returns the input with an extracted object
/// otherwise.
pub fn convert(args: &ConvertArgs, cli: &Cli) -> Result<Option<Input>, Failure> {
    let target = store::target(&args.input);
    let Some(container) = container(args) else {
        let Some(target) = target else {
            return Ok(Some(Input::new(&args.input)?));
        };
        return extracted(&target).map(Some);
    };
    let is_folder = args.input.is_dir() && convert::detect(&args.input).is_err();
    if target.is_none()
        && !is_folder
        && !args.all
        && tables::import(args, &options(Some(container)), cli)?
    {
        return Ok(None);
    }
    if args.output == Path::new(STDIO) {
        return Err(Failure::usage("stores are not written to standard output"));
    }
    let (store, key) = match &target {
        Some(target) => (target.open()?, target.key().to_owned()),
        // A directory of frames.
        None if is_folder => {
            let opened = Store::open(&args.input);
            (opened.map_err(|error| Failure::from(error).at(&args.input))?, "/".to_owned())
        }
        None => {
            if args.input != Path::new(STDIO) {
                fs::metadata(&args.input).map_err(|error| {
                    named(error, ferroblosc::Error::FileOpen, "open", &args.input)
                })?;
            }
            let failure = Failure::new("is neither a store nor a directory of frames");
            return Err(failure.at(&args.input).with_hint("'b2 put' adds a file to a store"));
        }
    };
    // The options are checked last, since their error assumes that the input is a store.
    options::check(args, OutputKind::CopiedStore(container))?;
    let at_input = |error: Error| Failure::from(error).at(&args.input);
    let class = store.class(&key).map_err(at_input)?;
    // The root of an embed store can be a key, too.
    let is_group = matches!(class, Class::Group | Class::Table) || (key == "/" && target.is_none());
    if key != "/" && !is_group {
        let failure = Failure::new(format!("{key} is a single object"));
        return Err(failure.at(&args.input).with_hint("'b2 get' and 'b2 put' copy it"));
    }
    let output = Output::new(&args.output, args.settings.force)?;
    let options = store_options(args)?;
    let converted = if key == "/" {
        store.convert(output.path(), &options)
    } else {
        store.extract(&key, output.path(), &options)
    };
    let converted = converted.map_err(|error| output.error(at_input(error)))?;
    if args.strict && !converted.left_out.is_empty() {
        let lost = converted.left_out.join("; ");
        let failure = Failure::new(format!("{}: not kept: {lost}", args.output.display()));
        return Err(failure.with_hint("without '--strict' it is omitted"));
    }
    warn(&args.output, &converted);
    output.commit()?;
    Ok(None)
}

/// Returns the error of a store where an array or a frame is expected.
pub fn is_a_store(target: &Target) -> Failure {
    let name = paths::argument(target.name());
    Failure::new("is a store, not an array or a frame")
        .with_hint(format!("'b2 ls -r {name}' lists its objects, and {name}:/KEY is one of them"))
}

/// Opens data to read. An array or frame in a store is extracted to a temporary file, and a table
/// is converted to records.
///
/// # Errors
/// If it is a store that is not a table, or an object without items of one type.
pub fn open_data(name: &Path) -> Result<Input, Failure> {
    let Some(target) = store::target(name) else {
        return Input::new(name);
    };
    let class = target.open()?.class(target.key()).map_err(|error| target.error(error))?;
    match class {
        Class::Table => extracted(&target),
        _ if target.is_whole_store() => Err(target.at(is_a_store(&target))),
        Class::NdArray | Class::SChunk => extracted(&target),
        _ => {
            let hint = match class {
                Class::Group => "'b2 ls -r' lists its objects",
                _ if class.has_values() => "'b2 cat' prints its values",
                _ => "open it with python-blosc2, and save the computed array",
            };
            let failure =
                Failure::new(format!("{} has no items of one type", with_article(class.name())));
            Err(target.at(failure).with_hint(hint))
        }
    }
}

/// Extracts an object of a store to a temporary file.
fn extracted(target: &Target) -> Result<Input, Failure> {
    let store = target.open_to_read_all()?;
    let class = store.class(target.key()).map_err(|error| target.error(error))?;
    let class_name = class.name();
    if class == Class::Table {
        return tables::as_records(target, &store);
    }
    if class == Class::Group || target.is_whole_store() {
        let failure =
            Failure::new(format!("{} is not converted to this format", with_article(class_name)));
        return Err(target.at(failure).with_hint(
            "STORE:/key is an object; a store can become another one: .b2z, .b2d or .b2e",
        ));
    }
    let folder = temporary_folder()?;
    let path = folder.path("object");
    store.extract(target.key(), &path, &options(None)).map_err(|error| target.error(error))?;
    Ok(Input::temporary(path, target.name(), folder))
}

/// A fault of a store.
struct Fault {
    json: Json,
    text: String,
    severity: Severity,
}

/// Verifies a store; one that cannot be opened has a single fault.
fn faults_of(target: &Target) -> Result<Vec<Fault>, Failure> {
    match Store::open(target.path()).and_then(|store| store.verify()) {
        Ok(findings) => Ok(findings
            .iter()
            .map(|finding| Fault {
                json: finding_json(finding),
                text: finding.to_string(),
                severity: finding.severity,
            })
            .collect()),
        Err(error) if error.is_corruption() => {
            let text = error.to_string();
            let json = json!({
                "path": target.name().to_string_lossy(), "chunk": null, "more": 0,
                "position": null, "what": text, "note": false, "checked": true, "needs": null,
            });
            Ok(vec![Fault { json, text, severity: Severity::Damage }])
        }
        Err(error) => Err(target.error(error)),
    }
}

fn outcome_of(faults: &[Fault]) -> Outcome {
    let has = |severity| faults.iter().any(|fault| fault.severity == severity);
    if has(Severity::Damage) {
        return Err(Failure::Reported(status::CORRUPT));
    }
    if has(Severity::Unchecked) {
        return Err(Failure::Reported(status::ERROR));
    }
    Ok(())
}

/// Returns the container of a store, by its content. One that cannot be opened is a directory or a
/// zip file, since frames are not salvaged.
fn container_of_store(path: &Path) -> ContainerKind {
    match Store::open(path) {
        Ok(store) => store.container(),
        Err(_) if path.is_dir() => ContainerKind::Directory,
        Err(_) => ContainerKind::Zip,
    }
}

/// Runs `repair` if the path is a store; `None` otherwise.
pub fn repair(args: &RepairArgs) -> Option<Outcome> {
    let target = store::target(&args.path)?;
    if target.key() != "/" {
        return Some(Err(Failure::usage("stores are repaired as a whole")));
    }
    Some(repair_store(&target, args))
}

fn repair_store(target: &Target, args: &RepairArgs) -> Outcome {
    let state = state_of_all(&args.path)?;
    let before = faults_of(target)?;
    let is_damaged = before.iter().any(|fault| fault.severity == Severity::Damage);
    if !is_damaged || !args.write {
        return print_plan(target, args, &before);
    }
    let path = args.path.as_path();
    let at_path = |error: std::io::Error| Failure::from(error).at(path);
    let mut staged = Staged::new(path).map_err(at_path)?;
    let repaired = Store::repair(path, staged.path(), &options(Some(container_of_store(path))))
        .map_err(|error| target.error(error).of_target(staged.path(), path))?;
    staged.sync().map_err(at_path)?;
    if state_of_all(path)? != state {
        return Err(Failure::new("was changed by another program and left unchanged").at(path));
    }
    let kept = staged.commit_beside().map_err(at_path)?;
    let name = kept.file_name().filter(|_| !path.is_symlink());
    let kept = name.map_or(kept.clone(), |name| path.with_file_name(name));
    let after = faults_of(target)?;
    if args.json {
        json::print(&json!({
            "path": target.name().to_string_lossy(),
            "written": true,
            "faults": after.iter().map(|fault| fault.json.clone()).collect::<Json>(),
            "mended": repaired.repaired,
            "lost": repaired.left_out,
            "kept": kept.to_string_lossy(),
        }))?;
        return outcome_of(&after);
    }
    let style = Style::stdout();
    let mut output = crate::io::stdout();
    let verdict = match outcome_of(&after) {
        Ok(()) => style.good("repaired"),
        Err(_) => style.bad("repaired partially"),
    };
    writeln!(output, "{}: {verdict}", style.bold(&escape(&target.name().to_string_lossy())))?;
    for line in &repaired.repaired {
        writeln!(output, "  repaired: {}", escape(line))?;
    }
    for line in &repaired.left_out {
        writeln!(output, "  lost: {}", escape(line))?;
    }
    for fault in after.iter().filter(|fault| fault.severity != Severity::Note) {
        writeln!(output, "  left: {}", escape(&fault.text))?;
    }
    writeln!(output, "  the old file is kept as {}", escape(&kept.display().to_string()))?;
    outcome_of(&after)
}

/// Returns a description of the repair of a fault.
fn plan(fault: &Fault) -> &'static str {
    match fault.severity {
        Severity::Note => "no repair is needed",
        Severity::Unchecked => "it is not changed, since it was not checked",
        _ => "the store would be written again; readable leaves are kept",
    }
}

fn print_plan(target: &Target, args: &RepairArgs, faults: &[Fault]) -> Outcome {
    let name = target.name().to_string_lossy();
    if args.json {
        let plans = faults.iter().map(|fault| {
            let mut value = fault.json.clone();
            value["plan"] = plan(fault).into();
            value
        });
        json::print(&json!({
            "path": name,
            "written": false,
            "faults": plans.collect::<Json>(),
            "mended": [],
            "lost": [],
            "kept": null,
        }))?;
        return outcome_of(faults);
    }
    let style = Style::stdout();
    let mut output = crate::io::stdout();
    let shown = escape(&name);
    if !faults.iter().any(|fault| fault.severity == Severity::Damage) {
        writeln!(output, "{}: {}", style.bold(&shown), style.good("nothing to repair"))?;
        return outcome_of(faults);
    }
    writeln!(output, "{}: {}", style.bold(&shown), style.bad("faults"))?;
    for fault in faults.iter().filter(|fault| fault.severity != Severity::Note) {
        writeln!(output, "  {}", escape(&fault.text))?;
        writeln!(output, "    {}", style.faint(plan(fault)))?;
    }
    let argument = paths::argument(target.name());
    let argument = escape(&argument);
    writeln!(output, "nothing was changed; 'b2 repair --write {argument}' repairs the store")?;
    outcome_of(faults)
}
