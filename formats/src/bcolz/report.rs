//! Descriptions and findings as JSON values, for programs in other languages.

use std::path::Path;

use super::error::Result;
use super::repair::Repaired;
use super::verify::Finding;
use super::{Carray, Compression};
use crate::bloscpack::Value;

fn path_value(path: &Path) -> Value {
    Value::from(&*path.to_string_lossy())
}

impl Compression {
    /// Returns the JSON object of the parameters, as in bcolz files.
    pub fn to_value(&self) -> Value {
        Value::object([
            ("clevel", Value::from(u64::from(self.clevel))),
            ("shuffle", Value::from(u64::from(self.shuffle))),
            ("cname", Value::from(self.cname.as_str())),
            ("quantize", Value::from(u64::from(self.quantize))),
        ])
    }
}

impl Carray {
    /// Returns the description: `shape`, `dtype`, `itemsize`, `chunklen`, `expectedlen`, `nbytes`,
    /// `cbytes` (of the chunk files), `cparams` and `dflt`.
    ///
    /// # Errors
    /// The errors of [`Carray::stored_bytes`].
    pub fn to_value(&self) -> Result<Value> {
        let shape = self.shape().into_iter().map(Value::from).collect();
        Ok(Value::object([
            ("shape", Value::List(shape)),
            ("dtype", Value::from(self.dtype().text())),
            ("itemsize", Value::from(self.dtype().itemsize())),
            ("chunklen", Value::from(self.chunklen())),
            ("expectedlen", Value::from(self.expectedlen())),
            ("nbytes", Value::from(self.nbytes())),
            ("cbytes", Value::from(self.stored_bytes()?)),
            ("cparams", self.cparams().to_value()),
            ("dflt", self.dflt().clone()),
        ]))
    }
}

impl Finding {
    /// Returns the `path`, the description of the `fault`, and whether it is only a `note`.
    pub fn to_value(&self) -> Value {
        Value::object([
            ("path", path_value(&self.path)),
            ("fault", Value::from(self.fault.to_string().as_str())),
            ("note", Value::Bool(self.fault.is_note())),
        ])
    }

    /// Returns the JSON list of several findings.
    pub fn list(findings: &[Finding]) -> Value {
        Value::List(findings.iter().map(Finding::to_value).collect())
    }

    /// Returns the number of findings that are not notes.
    pub fn faults(findings: &[Finding]) -> usize {
        let faults = findings.iter().filter(|finding| !finding.fault.is_note());
        faults.count()
    }
}

impl Repaired {
    /// Returns the findings that are `mended` and `left`, and the `lost` rows: the `path` of an
    /// array and the range from `start` to `stop` (exclusive).
    pub fn to_value(&self) -> Value {
        let lost = self.lost.iter().map(|(path, rows)| {
            Value::object([
                ("path", path_value(path)),
                ("start", Value::from(rows.start)),
                ("stop", Value::from(rows.end)),
            ])
        });
        Value::object([
            ("mended", Finding::list(&self.repaired)),
            ("lost", Value::List(lost.collect())),
            ("left", Finding::list(&self.remaining)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::{Fault, Mode, Options};

    fn finding(path: &str, fault: Fault) -> Finding {
        Finding { path: path.into(), fault }
    }

    #[test]
    fn the_description_of_an_array_matches_its_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bcolz/i4_exact");
        let array = Carray::open(&root, Mode::Read, &Options::default()).unwrap();
        let expected = concat!(
            r#"{"shape": [4096], "dtype": "int32", "itemsize": 4, "chunklen": 1024, "#,
            r#""expectedlen": 4096, "nbytes": 16384, "cbytes": 1500, "#,
            r#""cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}, "dflt": 0}"#
        );
        assert_eq!(array.to_value().unwrap().to_spaced_json(), expected);
    }

    #[test]
    fn notes_are_listed_but_not_counted() {
        let findings =
            [finding("a/data/__7.blp", Fault::ExtraChunk), finding("a/__attrs__", Fault::Missing)];
        assert_eq!(Finding::faults(&findings), 1);
        assert_eq!(
            Finding::list(&findings).to_spaced_json(),
            concat!(
                r#"[{"path": "a/data/__7.blp", "fault": "the chunk has no rows in the array", "note": true}, "#,
                r#"{"path": "a/__attrs__", "fault": "it is missing", "note": false}]"#
            )
        );
        assert_eq!(Finding::list(&[]).to_spaced_json(), "[]");
    }

    #[test]
    fn a_repair_lists_repaired_lost_and_remaining_faults() {
        let repaired = Repaired {
            repaired: vec![finding("a/__attrs__", Fault::Missing)],
            lost: vec![("a".into(), 300..600)],
            remaining: Vec::new(),
        };
        assert_eq!(
            repaired.to_value().to_spaced_json(),
            concat!(
                r#"{"mended": [{"path": "a/__attrs__", "fault": "it is missing", "note": false}], "#,
                r#""lost": [{"path": "a", "start": 300, "stop": 600}], "left": []}"#
            )
        );
    }
}
