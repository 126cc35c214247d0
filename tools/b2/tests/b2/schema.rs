//! The output of `--json` conforms to `docs/b2.schema.json`.
//!
//! The validator supports the keywords that the schema uses. Other keywords are errors, so that
//! none is ignored.

use crate::common::TestDir;
use serde_json::Value;

struct Schema(Value);

impl Schema {
    fn new() -> Schema {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/b2.schema.json");
        Schema(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    }

    /// Returns the reason a value does not conform to a schema, or none.
    fn fault(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let schema = schema.as_object().unwrap();
        for (keyword, rule) in schema {
            let fault = match keyword.as_str() {
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.fault(&self.0["$defs"][name], value, at)
                }
                "type" => {
                    let types = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                    let is_one = types.iter().any(|kind| is_of(kind.as_str().unwrap(), value));
                    (!is_one).then(|| format!("{at}: {value} is not of {rule}"))
                }
                "enum" => {
                    let is_one = rule.as_array().unwrap().contains(value);
                    (!is_one).then(|| format!("{at}: {value} is none of {rule}"))
                }
                "anyOf" => {
                    let faults: Vec<Option<String>> = rule
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|schema| self.fault(schema, value, at))
                        .collect();
                    let is_one = faults.iter().any(Option::is_none);
                    (!is_one).then(|| format!("{at}: none of {faults:?}"))
                }
                "items" => {
                    let mut items = value.as_array().into_iter().flatten().enumerate();
                    items.find_map(|(i, item)| self.fault(rule, item, &format!("{at}[{i}]")))
                }
                "properties" => {
                    let mut rules = rule.as_object().unwrap().iter();
                    rules.find_map(|(name, rule)| {
                        self.fault(rule, value.get(name)?, &format!("{at}.{name}"))
                    })
                }
                "required" => {
                    let mut names = rule.as_array().unwrap().iter();
                    let missing = names.find(|name| value.get(name.as_str().unwrap()).is_none());
                    missing
                        .filter(|_| value.is_object())
                        .map(|name| format!("{at}: {name} is missing"))
                }
                "additionalProperties" => {
                    assert_eq!(rule, false);
                    let known = schema["properties"].as_object().unwrap();
                    let mut names = value.as_object().into_iter().flat_map(|object| object.keys());
                    names
                        .find(|name| !known.contains_key(*name))
                        .map(|name| format!("{at}: unknown name {name}"))
                }
                other => panic!("unsupported keyword {other}"),
            };
            if fault.is_some() {
                return fault;
            }
        }
        None
    }

    /// Checks the output of a command.
    fn check(&self, name: &str, value: &Value) {
        let schema = &self.0["$defs"][name];
        assert!(schema.is_object(), "{name}");
        if let Some(fault) = self.fault(schema, value, name) {
            panic!("{fault}");
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other}"),
    }
}

/// Creates a directory with a file of every format.
fn everything() -> TestDir {
    let folder = TestDir::new();
    folder.fixture("bcolz/ct_mixed");
    folder.fixture("bcolz/nd3");
    folder.fixture("bloscpack/np_struct.blp");
    folder.fixture("bloscpack/meta_zlib.blp");
    let numbers: Vec<u8> = (0..9000i32).flat_map(i32::to_le_bytes).collect();
    folder.write("n.bin", &numbers);
    folder.out("compress n.bin n.b2frame --checksums --chunk-size 8K -t 4");
    folder.out("convert n.b2frame n.b2nd --dtype <i4 --directory");
    folder.out("convert n.b2nd n.npy");
    folder.out("convert n.b2nd n.npz");
    folder.out("convert n.b2nd n.zarr");
    folder.out("convert n.b2frame n.blosc1");
    folder.out("convert n.b2frame n.blosc2");
    folder
}

#[test]
fn descriptions_conform_to_the_schema() {
    let schema = Schema::new();
    let folder = everything();
    let listed = folder.json("ls --json");
    let mut formats: Vec<&str> =
        listed.as_array().unwrap().iter().map(|entry| entry["format"].as_str().unwrap()).collect();
    formats.sort_unstable();
    formats.dedup();
    let expected = ["b2frame", "b2nd", "blosc1", "blosc2", "blp", "carray", "ctable", "npy"];
    assert_eq!(formats, [&expected[..], &["npz", "zarr"]].concat());
    schema.check("ls", &listed);
    schema.check("ls_chunks", &folder.json("ls --json --chunks"));
    for name in folder.names() {
        if name != "n.bin" {
            let found = folder.json(&format!("info --json {name}"));
            schema.check("info", &found);
            assert_eq!(found[0]["path"], name.as_str());
            schema.check("verify", &folder.json(&format!("verify --json {name}")));
            schema.check("info", &folder.json(&format!("info --meta --json {name}")));
            schema.check("stats", &folder.json(&format!("stats --json {name}")));
            schema.check("diff", &folder.json(&format!("diff --json {name} {name}")));
            schema.check("diff", &folder.json(&format!("diff --json {name} n.blosc1")));
            if !["n.npy", "n.npz", "n.blosc1", "n.blosc2"].contains(&name.as_str()) {
                schema.check("meta", &folder.json(&format!("meta list --json {name}")));
            }
        }
    }
    let array = &folder.json("info --json n.b2nd")[0];
    assert_eq!(array["array"]["dtype"], "<i4");
    assert_eq!(array["nbytes"], 36_000);
    assert_eq!(folder.json("info --json n.b2frame")[0]["checksum"], "xxh3");
    // Unreadable files are listed, too.
    let bytes = folder.read("n.b2frame");
    folder.write("cut.b2frame", &bytes[..bytes.len() / 2]);
    let listed = folder.json("ls --json");
    schema.check("ls", &listed);
    let mut entries = listed.as_array().unwrap().iter();
    let cut = entries.find(|entry| entry["path"] == "cut.b2frame").unwrap();
    assert!(cut["error"].is_string(), "{cut:#}");
}

#[test]
fn benchmarks_and_repairs_conform_to_the_schema() {
    let schema = Schema::new();
    let folder = everything();
    let figures = folder.json("bench n.npy --levels 1 --json --svg plot.svg");
    schema.check("bench", &figures);
    assert_eq!(figures["figures"].as_array().unwrap().len(), 15);
    assert_eq!(figures["typesize"], 4);
    let plot = String::from_utf8(folder.read("plot.svg")).unwrap();
    assert!(plot.starts_with("<svg ") && plot.ends_with("</svg>\n"));
    // A point for each measurement in both panels, and one for each codec.
    assert_eq!(plot.matches("<circle ").count(), 2 * 15 + 5);
    let bytes = folder.read("n.b2frame");
    folder.write("n.b2frame", &bytes[..bytes.len() / 2]);
    let plan = folder.json("repair --json n.b2frame");
    schema.check("repair", &plan);
    assert_eq!(plan["written"], false);
    let done = folder.json("repair --json --write n.b2frame");
    schema.check("repair", &done);
    assert_eq!((&done["written"], &done["kept"]), (&true.into(), &"n.b2frame.broken".into()));
}

#[test]
fn changes_conform_to_the_schema() {
    let schema = Schema::new();
    let folder = everything();
    schema.check("append", &folder.json("append n.b2nd n.b2nd n.blosc1 --json"));
    schema.check("append", &folder.json("append n.b2frame n.bin --json"));
    schema.check("resize", &folder.json("resize n.b2nd 30000 --json"));
    schema.check("concat", &folder.json("concat n.b2nd n.npy c.b2nd --json"));
    schema.check("concat", &folder.json("concat n.npy n.npy s.b2nd --stack --json"));
    schema.check("concat", &folder.json("concat n.b2frame n.blosc1 c.b2frame --json"));
    schema.check("slice", &folder.json("slice n.b2nd ::2 e.b2nd --json"));
    schema.check("recompress", &folder.json("recompress n.b2nd e.b2nd -o made --json"));
    schema.check("recompress", &folder.json("recompress n.b2frame --in-place --json"));
    schema.check("compact", &folder.json("compact n.b2frame n.b2nd --json"));
    assert!(folder.line("compact missing --json").out().starts_with("[]"));
}

#[test]
fn the_validator_rejects_invalid_values() {
    let schema = Schema::new();
    let folder = everything();
    let good = folder.json("verify --json n.b2frame");
    let rules = &schema.0["$defs"]["verify"];
    assert_eq!(schema.fault(rules, &good, ""), None);
    for (name, value) in [
        ("right", Value::from("yes")),
        ("chunks", Value::from(1.5)),
        ("format", Value::from("zip")),
        ("more", Value::Null),
    ] {
        let mut bad = good.clone();
        bad[0][name] = value;
        assert!(schema.fault(rules, &bad, "").is_some(), "{name}");
    }
    let mut bad = good.clone();
    bad[0].as_object_mut().unwrap().shift_remove("path");
    assert!(schema.fault(rules, &bad, "").is_some());
}

#[test]
fn descriptions_of_stores_conform_to_the_schema() {
    let schema = Schema::new();
    let folder = TestDir::new();
    for name in ["t_table.b2z", "t_lazy.b2z", "x_tmp_left.b2d", "e_c2ref.b2e", "x_crc.b2z"] {
        let name = folder.fixture(&format!("stores/{name}"));
        let described = folder.json(&format!("info --json {name}"));
        schema.check("info", &described);
        assert_eq!(described[0]["format"], "store");
        schema.check("ls", &folder.json(&format!("ls -r --json {name}")));
        schema.check("meta", &folder.json(&format!("meta list --json {name}:/")));
        let verified = folder.line(&format!("verify --json {name}"));
        schema.check("verify", &serde_json::from_slice(&verified.stdout).unwrap());
        let compared = folder.line(&format!("diff --json {name} {name}"));
        schema.check("diff_members", &serde_json::from_slice(&compared.stdout).unwrap());
    }
    folder.fixture("stores/x_half.b2z");
    let plan = folder.line("repair --json x_half.b2z");
    schema.check("repair", &serde_json::from_slice(&plan.stdout).unwrap());
    let done = folder.json("repair --json --write x_half.b2z");
    schema.check("repair", &done);
    assert_eq!((&done["written"], &done["kept"]), (&true.into(), &"x_half.b2z.broken".into()));
    let described = folder.json("info --json t_table.b2z:/t2");
    schema.check("info", &described);
    assert_eq!(
        (&described[0]["rows"], &described[0]["columns"][1]["name"]),
        (&2.into(), &"y".into())
    );
}
