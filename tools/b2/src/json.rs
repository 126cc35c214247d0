//! JSON output. `docs/b2.schema.json` specifies it; `docs/b2.md` describes it.

use crate::error::Outcome;
use ferroblosc::escape::escape_json;
use ferroblosc::plugin::Plugin;
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::convert::{ChunkSummary, Fault, Summary, Verification};
use ferroblosc_formats::numpy::ArrayInfo;
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use std::path::Path;

/// Prints a value.
pub fn print(value: &Json) -> Outcome {
    let text = format!("{value:#}");
    Ok(writeln!(crate::io::stdout(), "{}", escape_json(&text))?)
}

/// A list that is written element by element. The output is that of [`print`](fn@print) for the
/// whole list.
pub struct ListWriter<W> {
    output: W,
    /// The open lists and objects: the closing bracket, and whether there are elements.
    open: Vec<(char, bool)>,
}

impl<W: Write> ListWriter<W> {
    /// Begins the list.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn new(output: W) -> io::Result<ListWriter<W>> {
        let mut list = ListWriter { output, open: Vec::new() };
        list.begin('[', ']')?;
        Ok(list)
    }

    fn begin(&mut self, bracket: char, end: char) -> io::Result<()> {
        self.open.push((end, false));
        write!(self.output, "{bracket}")
    }

    /// Closes the innermost list or object.
    fn end(&mut self) -> io::Result<()> {
        let Some((end, has_elements)) = self.open.pop() else {
            return Ok(());
        };
        if has_elements {
            self.new_line()?;
        }
        write!(self.output, "{end}")
    }

    fn new_line(&mut self) -> io::Result<()> {
        write!(self.output, "\n{}", "  ".repeat(self.open.len()))
    }

    /// Begins an element of the innermost list or object.
    fn separate(&mut self) -> io::Result<()> {
        if let Some((_, has_elements)) = self.open.last_mut()
            && std::mem::replace(has_elements, true)
        {
            write!(self.output, ",")?;
        }
        self.new_line()
    }

    fn write_key(&mut self, key: &str) -> io::Result<()> {
        self.separate()?;
        write!(self.output, "{}: ", escape_json(&Json::from(key).to_string()))
    }

    fn write_value(&mut self, value: &Json) -> io::Result<()> {
        // Line breaks in strings are escaped.
        let indented = format!("\n{}", "  ".repeat(self.open.len()));
        let text = format!("{value:#}").replace('\n', &indented);
        write!(self.output, "{}", escape_json(&text))
    }

    /// Adds an element to the innermost list.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn add(&mut self, value: &Json) -> io::Result<()> {
        self.separate()?;
        self.write_value(value)
    }

    /// Begins an element: an object with some fields and a last one, `key`, which is a list. The
    /// following elements belong to that list, up to [`ListWriter::end_object`].
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn begin_object(&mut self, fields: &[(&str, Json)], key: &str) -> io::Result<()> {
        self.separate()?;
        self.begin('{', '}')?;
        for (name, value) in fields {
            self.write_key(name)?;
            self.write_value(value)?;
        }
        self.write_key(key)?;
        self.begin('[', ']')
    }

    /// Ends the object of [`ListWriter::begin_object`].
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn end_object(&mut self) -> io::Result<()> {
        self.end()?;
        self.end()
    }

    /// Ends the list.
    ///
    /// # Errors
    /// Returns the errors of writing.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()?;
        writeln!(self.output)?;
        self.output.flush()
    }
}

/// Converts any value. A value that JSON does not support, such as a list with NaN, becomes a
/// string.
pub fn any_value(value: &Value) -> Json {
    let text = value.to_json();
    serde_json::from_str(&text).unwrap_or(text.into())
}

fn array(info: &ArrayInfo, summary: &Summary) -> Json {
    let partitions = summary.partitions.as_ref();
    json!({
        "dtype": info.dtype.text(),
        "shape": info.shape,
        "order": if info.fortran_order { "F" } else { "C" },
        "chunk_shape": partitions.map(|(chunks, _)| chunks),
        "block_shape": partitions.and_then(|(_, blocks)| blocks.as_ref()),
    })
}

/// Returns the compression ratio.
pub fn ratio(nbytes: u64, stored: u64) -> Option<f64> {
    (stored > 0).then(|| nbytes as f64 / stored as f64)
}

fn layers(layers: &[(String, u64)]) -> Json {
    let layers = layers.iter().map(|(name, nbytes)| json!({"name": name, "nbytes": nbytes}));
    layers.collect()
}

/// Adds the values of metalayers to their descriptions, which are in the same order.
pub fn add_values(layers: &mut Json, values: Vec<(String, Json)>) {
    for (layer, (_, value)) in layers.as_array_mut().into_iter().flatten().zip(values) {
        layer["value"] = value;
    }
}

/// Converts a description of a file.
pub fn summary(path: &Path, summary: &Summary) -> Json {
    let mut value = description(summary);
    value["path"] = path.to_string_lossy().into();
    value
}

fn description(summary: &Summary) -> Json {
    let filters = summary.filters.iter();
    let filters: Json = filters.map(|(name, meta)| json!({"name": name, "meta": meta})).collect();
    let columns = summary.columns.iter().map(|(name, column)| {
        let mut value = description(column);
        value["name"] = name.as_str().into();
        value
    });
    json!({
        "path": null,
        "name": null,
        "format": summary.found.format.name(),
        "directory": summary.found.is_directory,
        "legacy": summary.found.is_legacy,
        "nbytes": summary.nbytes,
        "stored_bytes": summary.stored,
        "ratio": ratio(summary.nbytes, summary.stored),
        "typesize": summary.typesize,
        "journal": summary.journal,
        "array": summary.array.as_ref().map(|info| array(info, summary)),
        "chunks": summary.nchunks.map(|count| json!({"count": count, "size": summary.chunksize})),
        "codec": summary.codec,
        "level": summary.level,
        "filters": filters,
        "checksum": summary.checksum,
        "metalayers": layers(&summary.metalayers),
        "vlmetalayers": layers(&summary.vlmetalayers),
        "metadata": summary.metadata.as_ref().map(any_value),
        "recipe": summary.placeholder,
        "error": summary.fault,
        "columns": columns.collect::<Json>(),
    })
}

/// Converts a chunk.
pub fn chunk(chunk: &ChunkSummary) -> Json {
    json!({
        "number": chunk.number,
        "position": chunk.position,
        "nbytes": chunk.nbytes,
        "cbytes": chunk.cbytes,
        "codec": chunk.codec,
        "filters": chunk.filters,
    })
}

/// Converts a missing plugin.
fn plugin(plugin: &Plugin) -> Json {
    json!({
        "kind": plugin.kind_name(),
        "id": plugin.id,
        "name": plugin.name,
        "advice": plugin.advice(),
    })
}

/// Converts a fault.
pub fn fault(fault: &Fault) -> Json {
    json!({
        "path": fault.path.as_ref().map(|path| path.to_string_lossy()),
        "chunk": fault.chunk,
        "more": fault.more,
        "position": fault.position,
        "what": fault.message,
        "note": fault.is_note,
        "needs": fault.needs.as_ref().map(plugin),
    })
}

/// Converts the result of a verification.
pub fn verification(path: &Path, format: &str, verification: &Verification) -> Json {
    json!({
        "path": path.to_string_lossy(),
        "format": format,
        "right": verification.is_intact(),
        "damaged": verification.is_damaged(),
        "has_checksums": verification.has_checksums,
        "chunks": verification.chunks,
        "compared_with_checksums": verification.compared,
        "faults": verification.faults.iter().map(fault).collect::<Json>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_written_by_element_is_that_of_the_whole() {
        let element = json!({"a": [1, {"b\n\u{202e}": []}], "c": {}, "d": "x\ny\u{9b}"});
        let fields = [("path", Json::from("p\u{1b}")), ("other", element.clone())];
        for (count, inner) in [(0, 0), (1, 0), (2, 1), (2, 3)] {
            let mut written = Vec::new();
            let mut list = ListWriter::new(&mut written).unwrap();
            let mut all = Vec::new();
            for _ in 0..count {
                list.add(&element).unwrap();
                list.begin_object(&fields, "chunks").unwrap();
                (0..inner).for_each(|_| list.add(&element).unwrap());
                list.end_object().unwrap();
                let chunks = vec![element.clone(); inner];
                let object = json!({"path": "p\u{1b}", "other": element, "chunks": chunks});
                all.extend([element.clone(), object]);
            }
            list.finish().unwrap();
            let whole = format!("{}\n", escape_json(&format!("{:#}", Json::from(all))));
            assert_eq!(String::from_utf8(written).unwrap(), whole);
        }
    }
}
