//! `info`.

use crate::cli::InfoArgs;
use crate::error::{Failure, Outcome, warn};
use crate::io::Input;
use crate::json::{self, ratio};
use crate::meta::{LayerValues, layer_values};
use crate::store::{self, Description};
use crate::style::Style;
use crate::table::{Alignment, Table, short_dtype, tuple};
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::{self, Format, Summary};
use ferroblosc_tools_common::size::{exact, human};
use ferroblosc_tools_common::status;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the more severe of two exit statuses. Corrupt data is the most severe.
pub fn worse(one: u8, other: u8) -> u8 {
    if one == status::CORRUPT || other == status::CORRUPT {
        status::CORRUPT
    } else {
        one.max(other)
    }
}

/// Calls `f` for each input. With several paths, prints an error and continues with the next path.
pub fn for_each(paths: &[PathBuf], mut f: impl FnMut(&Input) -> Outcome) -> Outcome {
    for_each_path(paths, |path| Input::new(path).and_then(|input| f(&input)))
}

/// Calls `f` for each path. With several paths, prints an error and continues with the next path.
pub fn for_each_path(paths: &[PathBuf], mut f: impl FnMut(&Path) -> Outcome) -> Outcome {
    let mut worst = None;
    for path in paths {
        match f(path) {
            Ok(()) => {}
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(failure) if paths.len() == 1 => return Err(failure),
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

pub fn run(args: &InfoArgs) -> Outcome {
    let mut values = Vec::new();
    let mut is_first = true;
    let mut skipped = 0;
    let result = for_each(&args.paths, |input| {
        if let Some(target) = store::target_of(input) {
            let described = Description::of(target)?;
            if args.json {
                values.push(described.to_json()?);
                return Ok(());
            }
            let mut output = crate::io::stdout();
            if !std::mem::take(&mut is_first) {
                writeln!(output)?;
            }
            return described.show(&mut output, Style::stdout());
        }
        let found = match convert::detect(input.path()) {
            Err(convert::Error::Unknown) if args.paths.len() > 1 => {
                skipped += 1;
                let shown = input.name().display();
                warn(&format!("{shown}: the format is unknown, skipped"));
                return Ok(());
            }
            found => found.map_err(|error| input.error(error))?,
        };
        let summary =
            convert::summarise(input.path(), &found).map_err(|error| input.error(error))?;
        let layers = if args.meta {
            let layers = layer_values(input.path(), &found);
            Some(layers.map_err(|failure| input.error(failure))?)
        } else {
            None
        };
        if args.json {
            let mut value = json::summary(input.name(), &summary);
            if let Some(layers) = layers {
                json::add_values(&mut value["metalayers"], layers.fixed);
                json::add_values(&mut value["vlmetalayers"], layers.variable);
            }
            values.push(value);
            return Ok(());
        }
        let mut output = crate::io::stdout();
        if !std::mem::take(&mut is_first) {
            writeln!(output)?;
        }
        let name = input.name().display().to_string();
        show(&mut output, Style::stdout(), &name, &summary, layers.as_ref())
    });
    if args.json {
        json::print(&values.into())?;
    }
    // Unknown files among others are not errors.
    if skipped == args.paths.len() { Err(Failure::Reported(status::ERROR)) } else { result }
}

/// Returns the lines about the sizes of data and files, and the compression ratio.
fn sizes(summary: &Summary) -> [(&'static str, String); 2] {
    let ratio = match ratio(summary.nbytes, summary.stored) {
        Some(ratio) if summary.nbytes > 0 => format!(", ratio {ratio:.2}"),
        _ => String::new(),
    };
    [("data", exact(summary.nbytes)), ("stored", exact(summary.stored) + &ratio)]
}

/// Writes the description of a file. `layers` are the values of its metalayers.
pub fn show(
    output: &mut impl Write,
    style: Style,
    name: &str,
    summary: &Summary,
    layers: Option<&LayerValues>,
) -> Result<(), Failure> {
    writeln!(output, "{}", style.bold(&escape(name)))?;
    let mut lines: Vec<(&str, String)> = Vec::new();
    let mut title = summary.found.format.title().to_owned();
    if summary.found.is_directory {
        title.push_str(", a directory");
    }
    if summary.found.is_legacy {
        title.push_str(", in an older layout ('b2 convert' rewrites it)");
    }
    lines.push(("format", title));
    if let Some(placeholder) = &summary.placeholder {
        lines.push(("data", format!("none: {placeholder}")));
    }
    if let Some(info) = &summary.array {
        let order = if info.fortran_order { ", Fortran order" } else { "" };
        lines.push(("type", info.dtype.text().to_owned()));
        lines.push(("shape", tuple(&info.shape) + order));
    }
    lines.extend(sizes(summary));
    if summary.array.is_none() && summary.columns.is_empty() {
        lines.push(("items", format!("of {}", human(summary.typesize))));
    }
    if let Some(count) = summary.nchunks {
        let size = match (summary.chunksize, &summary.partitions) {
            (Some(size), _) if count > 0 => format!(" of {}", human(size)),
            (None, None) if count > 1 && summary.columns.is_empty() => {
                " of different sizes".to_owned()
            }
            _ => String::new(),
        };
        lines.push(("chunks", format!("{count}{size}")));
    }
    match &summary.partitions {
        Some((chunks, Some(blocks))) => {
            lines.push((
                "partitions",
                format!("chunks {}, blocks {}", tuple(chunks), tuple(blocks)),
            ));
        }
        Some((chunks, None)) if summary.found.format == Format::Carray => {
            lines.push(("partitions", format!("chunks of {} rows", chunks[0])));
        }
        Some((chunks, None)) => lines.push(("partitions", format!("chunks {}", tuple(chunks)))),
        None => {}
    }
    if let Some(codec) = &summary.codec {
        let level = summary.level.map_or(String::new(), |level| format!(", level {level}"));
        lines.push(("codec", format!("{codec}{level}")));
        lines.push(("filters", filters(summary)));
    }
    if let Some(journal) = &summary.journal {
        lines.push(("journal", journal.clone()));
    }
    if let Some(checksum) = summary.checksum {
        lines.push(("checksums", checksum.to_owned()));
    }
    for (label, layers) in
        [("metalayers", &summary.metalayers), ("vlmetalayers", &summary.vlmetalayers)]
    {
        if !layers.is_empty() {
            let texts: Vec<String> = layers
                .iter()
                .map(|(name, nbytes)| format!("{name} ({})", human(*nbytes)))
                .collect();
            lines.push((label, texts.join(", ")));
        }
    }
    if let Some(metadata) = &summary.metadata {
        lines.push(("metadata", metadata.to_spaced_json()));
    }
    for (label, text) in lines {
        writeln!(output, "  {label:<12} {}", escape(&text))?;
        let values = match (label, layers) {
            ("metalayers", Some(layers)) => &layers.fixed[..],
            ("vlmetalayers", Some(layers)) => &layers.variable,
            _ => &[],
        };
        for (name, value) in values {
            writeln!(output, "    {}: {}", escape(name), escape(&value.to_string()))?;
        }
    }
    columns(output, style, summary)
}

fn filters(summary: &Summary) -> String {
    if summary.filters.is_empty() {
        return "none".to_owned();
    }
    let shown = summary.filters.iter().map(|(name, meta)| match meta {
        0 => name.clone(),
        meta => format!("{name}({meta})"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn columns(output: &mut impl Write, style: Style, summary: &Summary) -> Result<(), Failure> {
    if summary.columns.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Alignment::Left,
        Alignment::Left,
        Alignment::Left,
        Alignment::Right,
        Alignment::Right,
    ]);
    let kind = if summary.found.format.has_keys() { "  array" } else { "  column" };
    let heading = [kind, "type", "shape", "data", "stored"];
    table.add(heading.map(str::to_owned).to_vec());
    for (name, column) in &summary.columns {
        let (dtype, shape) = match &column.array {
            Some(info) => (short_dtype(info.dtype.text()), tuple(&info.shape)),
            None => {
                let fault = column.fault.as_ref().map(|fault| format!("unreadable: {fault}"));
                let title = column.found.format.title();
                (fault.map_or(title.to_owned(), |text| escape(&text).into_owned()), String::new())
            }
        };
        table.add(vec![
            format!("  {name}"),
            dtype,
            shape,
            human(column.nbytes),
            human(column.stored),
        ]);
    }
    Ok(table.write(output, |heading| style.faint(heading))?)
}
